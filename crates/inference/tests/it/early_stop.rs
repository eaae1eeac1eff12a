//! Estimates of runs that were stopped early.

use std::sync::Arc;

use errorbar_core::metrics::{accuracy, ci, grouped, median, stderr};
use errorbar_core::{
    EarlyStop, ErrorPlan, Estimate, IntervalMethod, IntervalSide, Metrics, Plan, Results, Score,
    ScoreColumns, Undefined, metrics,
};
use errorbar_inference::{ComparedScores, ComparisonOptions, ComparisonWarning, compare};
use errorbar_stats::sequential::random_order;

const POPULATION: u32 = 200;
const TAKEN: u32 = 80;
const SEED: u64 = 3;

/// The score of a sample: 1 for 70 of a hundred.
fn score(sample: u32) -> f64 {
    f64::from(u8::from(sample * 37 % 100 < 70))
}

/// The samples that the run took, in the order of the dataset.
fn taken() -> Vec<u32> {
    let mut taken = random_order(POPULATION, SEED)[..TAKEN as usize].to_vec();
    taken.sort_unstable();
    taken
}

fn columns(score: impl Fn(u32) -> Score) -> ScoreColumns {
    let mut columns = ScoreColumns::new(["s"]);
    for sample in taken() {
        let row = columns.push(format!("q{sample}"), 1).metadata("parity", sample % 2);
        row.score("s", score(sample)).unwrap();
    }
    columns
}

fn plan(metrics: Metrics) -> Plan {
    let ids = (0..POPULATION).map(|sample| format!("q{sample}"));
    let mut errors = ErrorPlan::new();
    errors.early_stop = Some(Arc::new(EarlyStop::new(ids, SEED, TAKEN.into()).unwrap()));
    Plan::new().scorer("s", metrics).errors(errors)
}

fn results(plan: &Plan, columns: &ScoreColumns) -> Results {
    plan.evaluate(columns).unwrap().results
}

fn of_accuracy(plan: &Plan, columns: &ScoreColumns) -> Estimate {
    results(plan, columns).estimate("accuracy").unwrap()
}

/// The ends that a sequence has over the scores in the random order.
fn expected(score: impl Fn(u32) -> (f64, f64)) -> (f64, f64) {
    let mut sequence =
        errorbar_stats::sequential::ConfidenceSequence::new(POPULATION.into(), (0.0, 1.0), 0.95).unwrap();
    for sample in &random_order(POPULATION, SEED)[..TAKEN as usize] {
        let (least, greatest) = score(*sample);
        sequence.push_between(least, greatest).unwrap();
    }
    sequence.interval()
}

#[test]
fn the_estimate_is_that_of_the_sequence() {
    let estimate = of_accuracy(&plan(metrics![accuracy()]), &columns(|sample| Score::new(score(sample))));
    let mean = taken().into_iter().map(score).sum::<f64>() / f64::from(TAKEN);
    assert_eq!((estimate.number(), estimate.n), (Some(mean), u64::from(TAKEN)));
    let interval = estimate.interval.unwrap();
    assert_eq!(interval.method, IntervalMethod::Betting);
    assert_eq!((interval.lower, interval.upper), expected(|sample| (score(sample), score(sample))));
    assert_eq!(estimate.error, Err(Undefined::StoppedEarly));
    let note = "stopped early after 80 of 200 samples, interval of the mean of all 200";
    assert_eq!(estimate.notes.early_stop.as_deref(), Some(note));
}

#[test]
fn absent_samples_are_bounds() {
    let is_absent = |sample: u32| sample.is_multiple_of(10);
    let columns = columns(|sample| match is_absent(sample) {
        true => Score::unscored("refusal"),
        false => Score::new(score(sample)),
    });
    let interval = of_accuracy(&plan(metrics![accuracy()]), &columns).interval.unwrap();
    let bounds = |sample| if is_absent(sample) { (0.0, 1.0) } else { (score(sample), score(sample)) };
    assert_eq!((interval.lower, interval.upper), expected(bounds));
}

/// Epochs without a score are bounds of their own: 1 of two is 0.5 at worst.
#[test]
fn absent_epochs_are_bounds() {
    let mut columns = columns(|sample| Score::new(score(sample)));
    for sample in taken() {
        let second =
            if sample.is_multiple_of(10) { Score::unscored("refusal") } else { Score::new(score(sample)) };
        columns.push(format!("q{sample}"), 2).score("s", second).unwrap();
    }
    let interval = of_accuracy(&plan(metrics![accuracy()]), &columns).interval.unwrap();
    let bounds = |sample: u32| match sample.is_multiple_of(10) {
        true => (score(sample) / 2.0, score(sample) / 2.0 + 0.5),
        false => (score(sample), score(sample)),
    };
    assert_eq!((interval.lower, interval.upper), expected(bounds));
}

#[test]
fn requested_errors_fold_into_the_row_and_other_figures_are_cautioned() {
    let columns = columns(|sample| Score::new(score(sample)));
    let metrics = metrics![accuracy(), stderr(), ci(), grouped(accuracy(), "parity"), median()];
    let results = results(&plan(metrics), &columns);
    let rows = results.rows();
    let methods: Vec<(&str, Option<&str>, Option<IntervalMethod>)> = rows
        .iter()
        .map(|row| {
            (row.metric, row.group, row.estimate.interval.as_ref().ok().map(|interval| interval.method))
        })
        .collect();
    assert_eq!(methods[0], ("accuracy", None, Some(IntervalMethod::Betting)));
    assert_eq!(rows[0].estimate.stderr(), None);
    for row in &rows[1..] {
        let method = row.estimate.interval.as_ref().unwrap().method;
        let whole = row.group.is_none() && row.metric == "accuracy";
        assert_eq!(method == IntervalMethod::Betting, whole, "{methods:?}");
        assert!(row.estimate.notes.early_stop.is_some(), "{row:?}");
    }
    assert!(!methods.iter().any(|(metric, ..)| ["stderr", "ci"].contains(metric)), "{methods:?}");
}

/// A group that all samples so far belong to is not the benchmark: the others may be of another group. The interval was that of
/// the benchmark's mean.
#[test]
fn a_group_of_all_samples_so_far_is_a_group() {
    let mut columns = ScoreColumns::new(["s"]);
    for sample in taken() {
        let row = columns.push(format!("q{sample}"), 1).metadata("kind", "early");
        row.score("s", Score::new(score(sample))).unwrap();
    }
    let results = results(&plan(metrics![accuracy(), grouped(accuracy(), "kind")]), &columns);
    let method = |row: &errorbar_core::EstimateRow<'_>| row.estimate.interval.as_ref().unwrap().method;
    let rows = results.rows();
    let groups: Vec<_> = rows.iter().filter(|row| row.group.is_some()).map(method).collect();
    assert_eq!(
        (method(&rows[0]), groups.as_slice()),
        (IntervalMethod::Betting, &[IntervalMethod::Wilson][..])
    );
    let (plan, mut options) = (plan(metrics![accuracy()]), ComparisonOptions::default());
    options.by = Some("kind".to_owned());
    let other = {
        let mut other = ScoreColumns::new(["s"]);
        for sample in 0..POPULATION {
            let row = other.push(format!("q{sample}"), 1).metadata("kind", "early");
            row.score("s", Score::new(score(sample + 1))).unwrap();
        }
        other
    };
    let whole = Plan::new().scorer("s", metrics![accuracy()]);
    for unpaired in [false, true] {
        options.unpaired = unpaired;
        let side = ComparedScores::new;
        let report = compare(&[side("a", &columns, &plan), side("b", &other, &whole)], &options).unwrap();
        let method = |at: usize| report.comparisons[at].base_estimate.interval.as_ref().unwrap().method;
        assert_eq!((method(0), method(1)), (IntervalMethod::Betting, IntervalMethod::Wilson), "{unpaired}");
    }
}

#[test]
fn another_interval_can_be_requested() {
    let columns = columns(|sample| Score::new(score(sample)));
    let with = |json: &str| {
        let plan = plan(metrics![accuracy()]);
        let wanted: ErrorPlan = json.parse().unwrap();
        let plan = Plan { errors: wanted.or(&plan.errors), ..plan };
        of_accuracy(&plan, &columns)
    };
    let wilson = with(r#"{"interval": "wilson"}"#);
    assert_eq!(wilson.interval.unwrap().method, IntervalMethod::Wilson);
    assert!(wilson.error.is_ok() && wilson.notes.early_stop.is_some());
    let wide = with(r#"{"level": 0.99}"#).interval.unwrap();
    let narrow = with(r#"{"level": 0.8}"#).interval.unwrap();
    assert_eq!((wide.method, narrow.method), (IntervalMethod::Betting, IntervalMethod::Betting));
    assert!(wide.lower < narrow.lower && narrow.upper < wide.upper);
    let bound = with(r#"{"side": "lower"}"#).interval.unwrap();
    assert_eq!((bound.side, bound.upper), (IntervalSide::Lower, 1.0));
}

/// Where there is no sequence the interval is the ordinary one, with a note.
#[test]
fn scores_that_are_no_sequence_have_a_caution() {
    let plan = plan(metrics![accuracy()]);
    let unbounded = of_accuracy(&plan, &columns(|sample| Score::new(7.0 * score(sample))));
    assert_ne!(unbounded.interval.as_ref().unwrap().method, IntervalMethod::Betting);
    assert!(unbounded.notes.early_stop.is_some());
    let mut more = columns(|sample| Score::new(score(sample)));
    more.push("stranger", 1).score("s", Score::new(1)).unwrap();
    let stranger = of_accuracy(&plan, &more);
    assert_ne!(stranger.interval.unwrap().method, IntervalMethod::Betting);
    let reason = stranger.notes.early_stop.unwrap();
    assert!(reason.contains("\"stranger\" is none of those"), "{reason}");
    let mut fewer = ScoreColumns::new(["s"]);
    fewer.push(format!("q{}", taken()[0]), 1).score("s", Score::new(1)).unwrap();
    assert!(
        of_accuracy(&plan, &fewer).notes.early_stop.unwrap().contains("took 80 samples, and there are 1")
    );
}

#[test]
fn stops_that_cannot_be_are_refused() {
    let new = |ids: &[&str], samples| EarlyStop::new(ids.iter().copied(), 0, samples);
    assert_eq!(new(&["a", "b"], 0), Err("0 samples cannot be the first of 2".to_owned()));
    assert_eq!(new(&["a", "b"], 3), Err("3 samples cannot be the first of 2".to_owned()));
    assert_eq!(new(&["a", "a"], 1), Err("the sample \"a\" is there twice".to_owned()));
    assert_eq!(new(&["a", "b"], 2).unwrap().population(), 2);
}

/// The difference has an interval, of the ordinary errors, and a caution.
#[test]
fn a_comparison_names_the_early_stop() {
    let (stopped, whole) = (plan(metrics![accuracy()]), Plan::new().metrics(metrics![accuracy()]));
    let base = columns(|sample| Score::new(score(sample)));
    let other = columns(|sample| Score::new(score(sample + 1)));
    let compared = |base_plan: &Plan, other_plan: &Plan, options: &ComparisonOptions| {
        let side = ComparedScores::new;
        compare(&[side("old", &base, base_plan), side("new", &other, other_plan)], options).unwrap()
    };
    let mut options = ComparisonOptions::default();
    for unpaired in [false, true] {
        options.unpaired = unpaired;
        let ordinary = &compared(&whole, &whole, &options).comparisons[0];
        assert_eq!(ordinary.difference.notes.early_stop, None);
        let report = compared(&whole, &stopped, &options);
        let warning = ComparisonWarning::other(
            "new was stopped early, and intervals and tests of differences do not allow for that",
        );
        assert_eq!(report.warnings, [warning]);
        let comparison = &report.comparisons[0];
        let note = "the interval does not allow for the early stop of new";
        assert_eq!(comparison.difference.notes.early_stop.as_deref(), Some(note));
        assert_eq!(comparison.difference.interval, ordinary.difference.interval);
        assert_eq!(comparison.variance_removed, ordinary.variance_removed);
        assert_eq!(comparison.test, ordinary.test);
        assert!(comparison.other_estimate.error.is_err());
    }
    let both = compared(&stopped, &stopped, &ComparisonOptions::default());
    assert_eq!(both.warnings.len(), 2);
    let note = both.comparisons[0].difference.notes.early_stop.clone().unwrap();
    assert!(note.ends_with("of old and new"), "{note}");
}
