//! "Reducing Epochs" and "Built-in Reducers"

use crate::data::{Question, choose, mean, of_each, stderr};
use crate::harness::{Log, assert_near, keys, metric, run_both};

/// Checks that the block of this reducer has accuracy and error of what `of` makes of each question.
fn check(log: &Log, reducer: Option<&str>, of: impl Fn(&Question) -> f64) {
    let blocks = &log.results().scores;
    let block = blocks.iter().find(|block| block.reducer.as_deref() == reducer).expect("a block");
    assert_eq!((block.name.as_str(), block.scorer.as_str()), ("choice", "choice"));
    assert_eq!((block.scored_samples, block.unscored_samples), (Some(24), Some(0)));
    assert_eq!(keys(block), ["accuracy", "stderr"]);
    let reduced = of_each(of);
    assert_near(metric(block, "accuracy").value, mean(&reduced));
    assert_near(metric(block, "stderr").value, stderr(&reduced));
}

fn at_least(k: u32) -> impl Fn(&Question) -> f64 {
    move |question| f64::from(u8::from(question.count() >= k))
}

#[test]
fn the_mean_is_the_default() {
    for log in run_both("gpqa_epochs") {
        assert_eq!((log.sample_count(), log.results().total_samples), (120, 120));
        assert_eq!(log.reducers(), [None], "it is not named");
        assert_eq!(log.header.eval.config.epochs_reducer, None);
        check(&log, None, |question| f64::from(question.count()) / 5.0);
    }
}

#[test]
fn the_most_common_score_counts() {
    for log in run_both("gpqa_mode") {
        assert_eq!(log.sample_count(), 120);
        assert_eq!(log.reducers(), [Some("mode")]);
        assert_eq!(log.header.eval.config.epochs, Some(5));
        // Of five grades, one is the most common if it has three.
        check(&log, Some("mode"), at_least(3));
    }
}

#[test]
fn several_reducers_give_a_block_each() {
    for log in run_both("gpqa_at_least") {
        assert_eq!(log.reducers(), [Some("at_least_2"), Some("at_least_5")]);
        let recorded = log.header.eval.config.epochs_reducer.as_deref().expect("reducers");
        assert_eq!(recorded, ["at_least_2", "at_least_5"]);
        check(&log, Some("at_least_2"), at_least(2));
        check(&log, Some("at_least_5"), at_least(5));
    }
}

#[test]
fn every_built_in_reducer() {
    for log in run_both("gpqa_reducers") {
        let names = ["mean", "median", "mode", "max", "pass_at_2", "pass_k_2", "at_least_2"];
        assert_eq!(log.reducers(), names.map(Some));
        check(&log, Some("mean"), |question| f64::from(question.count()) / 5.0);
        check(&log, Some("median"), at_least(3));
        check(&log, Some("mode"), at_least(3));
        check(&log, Some("max"), at_least(1));
        // 1 − C(n − c, k)/C(n, k) and C(c, k)/C(n, k) with n = 5 epochs, c correct ones, k = 2.
        check(&log, Some("pass_at_2"), |question| 1.0 - choose(5 - question.count(), 2) / choose(5, 2));
        check(&log, Some("pass_k_2"), |question| choose(question.count(), 2) / choose(5, 2));
        check(&log, Some("at_least_2"), at_least(2));
    }
}

/// "populate the fields answer and explanation only if their value is equal across all epochs"
#[test]
fn answers_survive_where_all_epochs_agree() {
    for log in run_both("gpqa_mode") {
        let reductions = log.reductions();
        let samples = reductions[0]["samples"].as_array().expect("samples");
        // To question 1 all five recorded answers are B; to question 10 they differ.
        let of = |id: u64| samples.iter().find(|sample| sample["sample_id"] == id).expect("a sample");
        assert_eq!(of(1)["answer"], "B");
        assert!(of(10).get("answer").is_none_or(serde_json::Value::is_null), "{}", of(10));
    }
}
