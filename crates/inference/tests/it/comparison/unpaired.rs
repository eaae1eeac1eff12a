//! Sides with different samples.

use errorbar_core::{ErrorPlan, IntervalMethod, Plan, Score, ScoreColumns, Undefined};
use errorbar_inference::{Comparison, ComparisonOptions, Gate, GateOutcome, TestMethod};

use super::{
    GRADED, OTHER_GRADED, by_accuracy, by_mean, close, clustered, columns, interval, only, p_value, report,
};

fn unpaired(base: &ScoreColumns, other: &ScoreColumns, plan: &Plan) -> Comparison {
    let mut options = ComparisonOptions::default();
    options.unpaired = true;
    let mut report = report(base, other, plan, &options);
    assert_eq!((report.comparisons.len(), report.warnings.len()), (1, 0));
    report.comparisons.remove(0)
}

fn ones_of(ones: usize, n: usize) -> ScoreColumns {
    columns(&(0..n).map(|at| if at < ones { 1.0 } else { 0.0 }).collect::<Vec<_>>())
}

/// Newcombe's 56/70 − 48/80: 0.0524 to 0.3339.
#[test]
fn shares() {
    let comparison = unpaired(&ones_of(48, 80), &ones_of(56, 70), &by_accuracy());
    assert!(!comparison.is_paired);
    assert_eq!((comparison.n, comparison.wins, comparison.flips), (150, None, None));
    close(comparison.difference.number().unwrap(), 0.2);
    let (lower, upper) = interval(&comparison);
    assert!((lower - 0.0524).abs() < 5e-5 && (upper - 0.3339).abs() < 5e-5, "{lower} {upper}");
    assert_eq!(comparison.difference.interval.as_ref().unwrap().method, IntervalMethod::Newcombe);
    assert_eq!(comparison.test.as_ref().unwrap().method, TestMethod::Newcombe);
    let p = p_value(&comparison);
    assert!(p > 0.001 && p < 0.05, "{p}");
    assert!(matches!(comparison.correlation, Err(Undefined::Other(_))));
}

#[test]
fn graded_scores() {
    let comparison = unpaired(&columns(&GRADED[..10]), &columns(&OTHER_GRADED), &by_mean());
    assert_eq!(comparison.test.as_ref().unwrap().method, TestMethod::Welch);
    close(p_value(&comparison), 0.7805641750859742);
    let (lower, upper) = interval(&comparison);
    close(lower, -0.23471214573343235);
    close(upper, 0.3071121457334325);
    close(comparison.difference.error.as_ref().unwrap().df, 15.953486091702503);
}

/// Clusters widen Wilson's intervals, and so Newcombe's.
#[test]
fn clustered_shares() {
    let clustered = |ones: usize, n: usize| {
        let mut columns = ScoreColumns::new(["s"]);
        for at in 0..n {
            let score = Score::new(if at < ones { 1.0 } else { 0.0 });
            columns.push(format!("q{at}"), 1).metadata("passage", at / 5).score("s", score).unwrap();
        }
        columns
    };
    let plain = unpaired(&ones_of(48, 80), &ones_of(56, 70), &by_accuracy());
    let plan = by_accuracy().errors(ErrorPlan::new().cluster("passage"));
    let comparison = unpaired(&clustered(48, 80), &clustered(56, 70), &plan);
    assert_eq!(comparison.difference.interval.as_ref().unwrap().method, IntervalMethod::Newcombe);
    assert_eq!(comparison.test.as_ref().unwrap().method, TestMethod::Newcombe);
    let width = |one: &Comparison| interval(one).1 - interval(one).0;
    assert!(width(&comparison) > 1.5 * width(&plain), "{} {}", width(&comparison), width(&plain));
}

/// The test of equivalence, the test of no difference and the interval that is shown say the same: for shares that Welch's test
/// judges otherwise, clustered and not. Each margin is a little beside an end of the interval.
#[test]
fn tests_of_shares_agree_with_the_interval() {
    let clusters: Vec<u32> = (0..100).collect();
    let with = |columns: [&ScoreColumns; 2], cluster: bool, gate: Gate| {
        let mut errors = ErrorPlan::new();
        errors.level = Some(Gate::level(Gate::ALPHA));
        let errors = if cluster { errors.cluster("passage") } else { errors };
        let mut options = ComparisonOptions::default();
        (options.unpaired, options.gate) = (true, Some(gate));
        let [base, other] = columns;
        report(base, other, &by_accuracy().errors(errors), &options).comparisons.remove(0)
    };
    for (base, other) in [((3, 20), (1, 25)), ((19, 20), (25, 25)), ((12, 40), (11, 30)), ((0, 15), (0, 12))]
    {
        for is_clustered in [false, true] {
            let side = |(ones, n): (usize, usize)| {
                let scores: Vec<f64> = (0..n).map(|at| f64::from(u8::from(at < ones))).collect();
                let cluster: Vec<u32> = clusters.iter().map(|at| at / 3).collect();
                clustered(&scores, &cluster[..n])
            };
            let (base, other) = (side(base), side(other));
            let of = |margin: f64| with([&base, &other], is_clustered, Gate::Equivalent(margin));
            let (lower, upper) = interval(&of(0.5));
            let reach = lower.abs().max(upper.abs());
            for (margin, outcome) in
                [(reach * 0.999, GateOutcome::Undecided), (reach * 1.001, GateOutcome::Passed)]
            {
                let comparison = of(margin);
                let p = comparison.p_tost.unwrap();
                assert_eq!(comparison.gate, Some(outcome), "{lower} {upper} {margin}");
                assert_eq!(p < Gate::ALPHA, outcome == GateOutcome::Passed, "{lower} {upper} {margin} {p}");
            }
            let p = p_value(&of(0.5));
            assert_eq!(p < 2.0 * Gate::ALPHA, lower > 0.0 || upper < 0.0, "{lower} {upper} {p}");
        }
    }
}

/// Few graded scores at both ends of the range: Student's t would go beyond a difference of 1.
#[test]
fn intervals_end_where_differences_do() {
    let (base, other) = (columns(&[0.0, 0.0, 0.5]), columns(&[1.0, 1.0, 0.25]));
    let (lower, upper) = interval(&unpaired(&base, &other, &by_mean()));
    assert!(lower > -1.0 && upper == 1.0, "{lower} {upper}");
    let (lower, upper) = interval(&only(&base, &other, &by_mean()));
    assert_eq!((lower, upper), (-1.0, 1.0));
    let mut errors = ErrorPlan::new();
    errors.range = Some((0.0, 4.0));
    let (lower, upper) = interval(&only(&base, &other, &by_mean().errors(errors)));
    assert!(lower < -1.0 && upper > 1.0 && upper < 4.0, "{lower} {upper}");
}
