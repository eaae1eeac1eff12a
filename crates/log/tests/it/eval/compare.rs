//! Recorded results against recomputed ones.

use errorbar_core::metrics::{accuracy, bootstrap_stderr, ci, grouped, mean, stderr};
use errorbar_core::{IntervalMethod, Plan, Registry, Results, Score, ScoreColumns, metrics};
use errorbar_log::eval::*;

fn computed(seed: u64) -> Results {
    let mut columns = ScoreColumns::new(["match"]);
    for id in 0..60 {
        columns.push(id.to_string(), 1).score("match", Score::new(f64::from(id % 7) / 7.0)).unwrap();
    }
    let bootstrap_ci = ci().method(IntervalMethod::Bootstrap);
    let metrics = metrics![accuracy(), stderr(), bootstrap_stderr(), bootstrap_ci];
    Plan::new().scorer("match", metrics).seed(seed).evaluate(&columns).unwrap().results
}

fn texts(recorded: &RecordedResults, recomputed: &Results) -> Vec<String> {
    compare(recorded, recomputed).iter().map(ToString::to_string).collect()
}

#[test]
fn every_kind_of_difference_is_reported() {
    let new = computed(0);
    let mut old = RecordedResults::from(&new);
    assert_eq!(texts(&old, &new), [""; 0]);
    old.total_samples = 61;
    let block = &mut old.scores[0];
    block.unscored_samples = Some(1);
    block.metrics["accuracy"].value += 1e-6;
    block.metrics["stderr"].value *= 1.0 + 1e-12;
    let mut extra = block.metrics["stderr"].clone();
    extra.value = f64::NAN;
    block.metrics.insert("their".to_owned(), extra);
    block.metrics.shift_remove("lower");
    let mut other = block.clone();
    other.name = "key".to_owned();
    other.reducer = Some("mode".to_owned());
    old.scores.push(other);
    let found = texts(&old, &new);
    assert_eq!(found[0], "total samples: recorded 61, recomputed 60");
    assert_eq!(found[1], "match · unscored samples: recorded 1, recomputed 0");
    assert!(found[2].starts_with("match · accuracy: recorded 0.4"), "{found:?}");
    assert_eq!(found[3], "match · their: recorded, not recomputed");
    assert_eq!(found[4], "match · lower: recomputed, not recorded");
    assert_eq!(found[5], "key of match (mode) · recorded, not recomputed");
    assert_eq!(found.len(), 6);

    let mut none = RecordedResults::default();
    (none.total_samples, none.completed_samples) = (60, 60);
    assert_eq!(texts(&none, &new), ["match · recomputed, not recorded"]);
}

#[test]
fn a_block_without_figures_is_one_if_it_counts_samples() {
    let new = computed(0);
    let mut old = RecordedResults::from(&new);
    let mut other = RecordedBlock::default();
    (other.name, other.scorer) = ("gone".to_owned(), "gone".to_owned());
    old.scores.push(other.clone());
    assert_eq!(texts(&old, &new), [""; 0]);
    other.scored_samples = Some(2);
    old.scores.push(other);
    assert_eq!(texts(&old, &new), ["gone · recorded, not recomputed"]);
}

#[test]
fn not_a_number_equals_itself_only() {
    let new = {
        let columns = ScoreColumns::new(["match"]);
        Plan::new().scorer("match", metrics![mean()]).evaluate(&columns).unwrap().results
    };
    let mut old = RecordedResults::from(&new);
    assert!(old.scores[0].metrics["mean"].value.is_nan());
    assert_eq!(texts(&old, &new), [""; 0]);
    old.scores[0].metrics["mean"].value = 0.0;
    assert_eq!(texts(&old, &new), ["match · mean: recorded 0, recomputed NaN"]);
}

#[test]
fn random_figures_may_differ_by_their_resampling_error_if_the_seed_does() {
    let new = computed(1);
    for seed in 2..40 {
        let old = RecordedResults::from(&computed(seed));
        assert_ne!(
            old.scores[0].metrics["bootstrap_stderr"].value,
            RecordedResults::from(&new).scores[0].metrics["bootstrap_stderr"].value
        );
        assert_eq!(texts(&old, &new), [""; 0], "seed {seed}");
        // The same figures under our own seed are wrong.
        let mut ours = old.clone();
        for metric in ours.scores[0].metrics.values_mut() {
            if let Some(metadata) = &mut metric.metadata {
                metadata.insert("seed".to_owned(), 1.into());
            }
        }
        assert!(texts(&ours, &new).iter().any(|text| text.starts_with("match · bootstrap_stderr")));
    }
    // And no seed excuses anything.
    let mut far = RecordedResults::from(&computed(2));
    far.scores[0].metrics["bootstrap_stderr"].value *= 1.5;
    let width = far.scores[0].metrics["upper"].value - far.scores[0].metrics["lower"].value;
    far.scores[0].metrics["lower"].value -= width;
    assert_eq!(texts(&far, &new).len(), 2, "{:?}", texts(&far, &new));
}

/// The reference gives a name that several groups have to the last of them.
#[test]
fn groups_that_share_a_name_are_not_checkable() {
    let mut columns = ScoreColumns::new(["match"]);
    for (id, (group, score)) in [("a", 1), ("a", 0), ("bb", 0), ("bb", 0)].into_iter().enumerate() {
        columns.push(id.to_string(), 1).metadata("g", group).score("match", Score::new(score)).unwrap();
    }
    let named = |template: &str| metrics![accuracy(), grouped(accuracy(), "g").name_template(template)];
    let registry = Registry::built_in();
    let verified = |name: &str, change: &dyn Fn(&mut RecordedBlock)| {
        let plan = Plan::new().scorer("match", named("{group_name}"));
        let mut recorded = RecordedResults::from(&plan.evaluate(&columns).unwrap().results);
        change(&mut recorded.scores[0]);
        let mut scorer = ScorerInfo::new("match");
        scorer.metrics = Some(metrics_to_log(&named(name), &registry));
        let mut eval = EvalInfo::new("quiz", "mockllm/model");
        eval.scorers = Some(vec![scorer]);
        let start = StartRecord::new(eval, PlanRecord::default());
        let header = Header::started(start).status(Status::Success).results(recorded);
        Verifier::new(&header, &registry).unwrap().verify(&columns).unwrap()
    };
    assert_eq!(verified("{group_name}", &|_| ()).counts().agree, 4);
    for (template, name) in [("x", "x"), ("all", "all")] {
        let found = verified(template, &|block| {
            block.metrics.shift_remove("a");
            let mut last = block.metrics.shift_remove("bb").unwrap();
            last.name = name.to_owned();
            if name != "all" {
                block.metrics.insert(name.to_owned(), last);
            }
        });
        assert_eq!(found.differences().collect::<Vec<_>>(), [] as [&Check; 0], "{template}");
        let codes: Vec<&str> = found
            .checks
            .iter()
            .filter_map(|check| match &check.outcome {
                CheckOutcome::NotCheckable(reason) => Some(reason.code()),
                _ => None,
            })
            .collect();
        assert_eq!(codes, vec!["shared_group_name"; if name == "all" { 1 } else { 2 }], "{template}");
        assert_eq!(found.counts().agree, 1, "{template}");
    }
}
