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
    let sorted = |names: &mut dyn Iterator<Item = String>| {
        let mut names: Vec<String> = names.collect();
        names.sort_unstable();
        names.dedup();
        names
    };
    let metric = |spec: &&str| registry.metric(&spec.parse().unwrap()).unwrap().spec().name;
    let reducer = |spec: &&str| registry.reducer(&spec.parse().unwrap()).unwrap().spec().name;
    assert_eq!(
        sorted(&mut METRICS.iter().map(metric)),
        sorted(&mut registry.list_metrics().map(|entry| entry.name.clone()))
    );
    assert_eq!(
        sorted(&mut REDUCERS.iter().map(reducer)),
        sorted(&mut registry.list_reducers().map(|entry| entry.name.clone()))
    );
}

/// A set of samples with everything in it, of which many look the same; and the same in three parts.
struct Everything {
    all: ScoreColumns,
    parts: [ScoreColumns; 3],
}

impl Everything {
    fn new(shape: Shape) -> Self {
        let samples: Vec<u32> =
            (0..36).map(|at: u32| (at % 9).wrapping_mul(0x85eb_ca6b).rotate_left(at % 2)).collect();
        let part = |number: usize| columns(shape, &samples, |sample| sample * sample / 3 % 3 == number);
        Everything { all: columns(shape, &samples, |_| true), parts: [0, 1, 2].map(part) }
    }
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

/// Whether merging has its laws under a plan, through bytes, and parts give what one machine gives, all of it to the last
/// bit.
fn check(metrics: &str, reducers: Option<&[&str]>, errors: &str, samples: &Everything) {
    let plan = plan(metrics, reducers, errors);
    let about = || format!("{metrics} {reducers:?} {errors}");
    let bytes = |columns: &ScoreColumns| Partial::of(columns, &plan).unwrap().to_bytes().unwrap();
    let sent = |bytes: &[u8]| Partial::from_bytes(bytes, &plan).unwrap();
    let parts = samples.parts.each_ref().map(bytes);
    let [a, b, c] = parts.each_ref().map(|part| part.as_slice());
    let all = bytes(&samples.all);
    let merged = |parts: [Partial<'static>; 2]| parts.into_iter().reduce(|a, b| a.merge(b).unwrap()).unwrap();
    let left = merged([merged([sent(a), sent(b)]), sent(c)]).to_bytes().unwrap();
    let right = merged([merged([sent(c), sent(b)]), sent(a)]).to_bytes().unwrap();
    assert!(left == all, "parts, and the whole: {}", about());
    assert!(right == all, "another order: {}", about());
    let none = bytes(&ScoreColumns::default());
    assert!(merged([sent(&all), sent(&none)]).to_bytes().unwrap() == all, "nothing: {}", about());
    assert!(merged([sent(&none), sent(&all)]).to_bytes().unwrap() == all, "nothing: {}", about());
    assert_eq!(shown(sent(&left).finish()), whole(&samples.all, &plan), "{}", about());
}

fn check_all(shape: Shape) {
    let columns = Everything::new(shape);
    assert!(entries(&columns.all) < columns.all.first_rows().len() / 2, "samples that look the same");
    assert!(columns.parts.iter().all(|part| part.len() > 9), "all parts have samples");
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
fn counted_infinite_numbers_give_what_one_machine_gives() {
    check_all(Shape::Infinite);
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
