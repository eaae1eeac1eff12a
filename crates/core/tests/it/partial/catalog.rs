//! Every metric under every reducer.

use super::*;

/// Every metric of the registry, some with several arguments.
const METRICS: &[&str] = &[
    "accuracy()",
    "mean()",
    "var()",
    "std()",
    "stderr()",
    "stderr(cluster=\"c\")",
    "bootstrap_stderr(num_samples=50)",
    "ci()",
    "ci(cluster=\"c\")",
    "ci(method=\"bootstrap\", num_samples=50)",
    "ci(method=\"bootstrap_t\", num_samples=100)",
    "ci_wilson()",
    "grouped(accuracy(), \"g\")",
    "grouped(mean(), \"g\", all=\"groups\", simultaneous=true)",
    "grouped(median(), \"g\", all=false, shrink=true)",
    "grouped(frequency(), \"g\")",
    "grouped(grouped(mean(), \"c\"), \"g\")",
    "aggregate(\"a\", mean(), on_missing=\"skip\")",
    "frequency()",
    "frequency([\"no\", \"C\"], normalize=false)",
    "krippendorff_alpha()",
    "perplexity_per_token()",
    "perplexity_per_seq()",
    "bootstrap(accuracy(), num_samples=100)",
    "where(accuracy(), \"g=x\")",
    "median()",
    "quantile(0.9)",
    "count()",
    "sum()",
    "min()",
    "max()",
    "geometric_mean()",
    "weighted_mean(\"w\")",
    "precision(\"human\", average=\"none\")",
    "recall(\"human\", average=\"macro\")",
    "f1_score(\"human\", label=\"1\")",
    "variance_components()",
    "consistency()",
    "cohen_kappa(\"human\")",
    "fleiss_kappa()",
    "gwet_ac1()",
    "ppi(\"human\")",
    "rogan_gladen(\"human\")",
    "brier()",
    "brier_decomposition()",
    "log_loss()",
    "ece()",
    "ece_debiased()",
    "auroc()",
    "auprc()",
];

const REDUCERS: &[&str] = &[
    "mean",
    "median",
    "mode",
    "max",
    "pass_at_2",
    "pass_k_2",
    "at_least_1",
    "majority",
    "collect",
    "g_pass(2, 1)",
    "best_of_2",
];

#[test]
fn the_catalog_has_every_entry_of_the_registry() {
    let registry = Registry::built_in();
    let is_there = |all: &[&str], name: &str| {
        all.iter()
            .any(|spec| spec.strip_prefix(name).is_some_and(|rest| !rest.starts_with(char::is_alphabetic)))
    };
    for entry in registry.list_metrics() {
        assert!(is_there(METRICS, &entry.name), "{}", entry.name);
    }
    for entry in registry.list_reducers() {
        assert!(is_there(REDUCERS, &entry.name), "{}", entry.name);
    }
}

/// A set of samples with everything in it, of which many look the same.
fn everything(shape: Shape) -> ScoreColumns {
    let samples: Vec<u32> =
        (0..36).map(|at: u32| (at % 9).wrapping_mul(0x85eb_ca6b).rotate_left(at % 2)).collect();
    columns(shape, &samples, |_| true)
}

/// The number of samples that look different to a plan that sees their scores: in the bytes, behind the names.
fn entries(columns: &ScoreColumns) -> usize {
    let bytes = Partial::of(columns, &plan("[mean()]", None, "{}")).unwrap().to_bytes().unwrap();
    let keys =
        ["c", "confidence", "g", "rare", "unused", "w"].iter().filter(|key| columns.distinct_values(key) > 0);
    let names: usize = keys.map(|key| key.len() + 1).sum();
    let at = 8 + 16 + 1 + 1 + "human".len() + 1 + "s".len() + 1 + 1 + names;
    usize::from(bytes[at])
}

/// Whether counted samples give what one machine gives, and that all of them.
fn check(metrics: &str, reducers: Option<&[&str]>, errors: &str, columns: &ScoreColumns) {
    let plan = plan(metrics, reducers, errors);
    let counted = Partial::of(columns, &plan).unwrap().into_owned().and_then(Partial::finish);
    assert_eq!(shown(counted), whole(columns, &plan), "{metrics} {reducers:?} {errors}");
}

fn check_all(shape: Shape) {
    let columns = everything(shape);
    assert!(entries(&columns) < columns.first_rows().len() / 2, "samples that look the same");
    for metric in METRICS {
        for metrics in [format!("[{metric}]"), format!("{{\"*\": [{metric}]}}")] {
            let is_by_key = metrics.starts_with('{');
            if is_by_key && shape != Shape::Maps {
                continue;
            }
            for errors in [r#"{"draws": 100}"#, r#"{"draws": 100, "cluster": "c"}"#] {
                check(&metrics, None, errors, &columns);
                check(&metrics, Some(&[]), errors, &columns);
            }
            for errors in [r#"{"draws": 100, "method": "bootstrap"}"#, r#"{"draws": 100, "population": 500}"#]
            {
                check(&metrics, None, errors, &columns);
            }
            for reducer in REDUCERS {
                check(&metrics, Some(&[reducer]), r#"{"draws": 100}"#, &columns);
            }
        }
    }
}

#[test]
fn counted_grades_give_what_one_machine_gives() {
    check_all(Shape::Grades);
}

#[test]
fn counted_numbers_give_what_one_machine_gives() {
    check_all(Shape::Numbers);
}

#[test]
fn counted_labels_give_what_one_machine_gives() {
    check_all(Shape::Labels);
}

#[test]
fn counted_maps_give_what_one_machine_gives() {
    check_all(Shape::Maps);
}

#[test]
fn counted_lists_give_what_one_machine_gives() {
    check_all(Shape::Lists);
}

#[test]
fn counted_scores_of_all_shapes_give_what_one_machine_gives() {
    check_all(Shape::Mixed);
}

/// Where figures do not depend on ids, samples that look the same are one entry: else this test of all would be empty.
#[test]
fn most_figures_do_not_depend_on_ids() {
    let depends = |metric: &&&str| plan(metric, None, "{}").depends_on_ids();
    let (with, without): (Vec<&&str>, Vec<&&str>) = METRICS.iter().partition(depends);
    assert!(without.len() >= 30 && without.contains(&&"grouped(accuracy(), \"g\")"), "{without:?}");
    assert!(with.contains(&&"bootstrap(accuracy(), num_samples=100)"), "{with:?}");
    assert!(plan("median()", None, r#"{"interval": "bca"}"#).depends_on_ids());
    assert!(plan("median()", Some(&[]), "{}").depends_on_ids());
    assert!(!plan("accuracy()", Some(&[]), r#"{"method": "bootstrap"}"#).depends_on_ids());
}
