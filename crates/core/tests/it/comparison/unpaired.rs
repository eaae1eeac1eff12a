//! Sides with different samples.

use errorbar_core::{
    Comparison, ComparisonOptions, ErrorPlan, IntervalMethod, Plan, Score, ScoreColumns, TestMethod,
    Undefined,
};

use super::{GRADED, OTHER_GRADED, by_accuracy, by_mean, close, columns, interval, p_value, report};

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
    assert_eq!(comparison.test.as_ref().unwrap().method, TestMethod::Welch);
    let width = |one: &Comparison| interval(one).1 - interval(one).0;
    assert!(width(&comparison) > 1.5 * width(&plain), "{} {}", width(&comparison), width(&plain));
}
