//! Metrics without per-sample numbers: the same resamples for both sides.

use errorbar_core::metrics::{accuracy, brier, frequency, mean, median};
use errorbar_core::{
    Direction, ErrorPlan, IntervalMethod, Plan, Result, Score, ScoreColumns, Scores, metric_fn, metrics,
};
use errorbar_inference::{ComparisonOptions, Gate, GateOutcome, TestMethod};

use super::{CLUSTERS, GRADED, OTHER_GRADED, by_mean, close, clustered, columns, interval, only, report};

/// A mean that does not declare itself to be one.
fn plain_mean(scores: &Scores<'_>) -> Result<f64> {
    Ok(scores.floats().iter().sum::<f64>() / scores.len() as f64)
}

/// The paired bootstrap of a mean is the error of the mean of differences, but for the factor √(24/25).
#[test]
fn a_custom_metric_is_resampled_in_pairs() {
    let plan = Plan::new().metrics(metrics![metric_fn("m", plain_mean)]);
    let comparison = only(&columns(&GRADED), &columns(&OTHER_GRADED), &plan);
    close(comparison.difference.number().unwrap(), -0.0252);
    let expected = 0.030414470240331327 * (24.0_f64 / 25.0).sqrt();
    // 10,000 resamples: a standard deviation to 0.7 %.
    let found = comparison.difference.stderr().unwrap();
    assert!((found / expected - 1.0).abs() < 0.03, "{found} {expected}");
    let interval = comparison.difference.interval.as_ref().unwrap();
    assert_eq!(interval.method, IntervalMethod::Bootstrap);
    assert_eq!(comparison.test.as_ref().unwrap().method, TestMethod::Bootstrap);
    let exact = only(&columns(&GRADED), &columns(&OTHER_GRADED), &by_mean());
    assert!((comparison.variance_removed.unwrap() - exact.variance_removed.unwrap()).abs() < 0.02);
    assert!((comparison.test.unwrap().p_value - 0.4).abs() < 0.05);
    assert_eq!((comparison.wins, comparison.n), (None, 25));
}

#[test]
fn clusters_are_resampled_whole() {
    let plan = Plan::new().metrics(metrics![metric_fn("m", plain_mean), mean()]);
    let mut errors = ErrorPlan::new().cluster("passage");
    errors.draws = Some(2000);
    let plan = plan.errors(errors);
    let (base, other) = (clustered(&GRADED, &CLUSTERS), clustered(&OTHER_GRADED, &CLUSTERS));
    let rows = report(&base, &other, &plan, &ComparisonOptions::default()).comparisons;
    let error = rows[0].difference.error.as_ref().unwrap();
    assert_eq!(
        (error.clusters.as_slice(), rows[0].cluster.as_slice()),
        (&[7][..], &["passage".to_owned()][..])
    );
    let cr2 = rows[1].difference.stderr().unwrap();
    assert!(error.se > 0.6 * cr2 && error.se < 1.1 * cr2, "{} {cr2}", error.se);
}

/// Equal sides have no difference in any resample: resamples are shared.
#[test]
fn resamples_are_shared() {
    let plan = Plan::new().metrics(metrics![median()]);
    let scores: Vec<f64> = (0..25).map(|at| f64::from(at * 7 % 25) / 4.0).collect();
    let shifted: Vec<f64> = scores.iter().map(|score| score + 1.0).collect();
    let comparison = only(&columns(&scores), &columns(&shifted), &plan);
    close(comparison.difference.number().unwrap(), 1.0);
    // Each resample has the same difference, so resamples show no error.
    assert!(comparison.difference.error.is_err());
    let graded = only(&columns(&GRADED), &columns(&OTHER_GRADED), &plan);
    let (lower, upper) = interval(&graded);
    assert!(lower <= 0.0 && upper >= 0.0, "{lower} {upper}");
}

/// The same figures at any number of threads.
#[test]
fn threads_change_nothing() {
    let mut errors = ErrorPlan::new();
    errors.draws = Some(500);
    let plan = Plan::new().metrics(metrics![median(), metric_fn("m", plain_mean)]).errors(errors);
    let (base, other) = (columns(&GRADED.repeat(20)), columns(&OTHER_GRADED.repeat(20)));
    let all = format!("{:?}", report(&base, &other, &plan, &ComparisonOptions::default()));
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    let one = pool.install(|| format!("{:?}", report(&base, &other, &plan, &ComparisonOptions::default())));
    assert_eq!(all, one);
}

/// Right with 0.9 and 0.6, wrong with 0.2: the other side is surer of what it has right, so its loss is lower.
#[test]
fn a_loss_is_better_if_it_is_lower() {
    let side = |sure: f64| {
        let mut columns = ScoreColumns::new(["s"]);
        for id in 0..40 {
            let (score, confidence) =
                if id % 4 == 0 { (0.0, 0.2) } else { (1.0, sure - 0.001 * f64::from(id)) };
            let row = columns.push(format!("q{id}"), 1).metadata("confidence", confidence);
            row.score("s", Score::new(score)).unwrap();
        }
        columns
    };
    let plan = Plan::new().metrics(metrics![brier(), accuracy(), frequency().normalize(true)]);
    let (base, other) = (side(0.6), side(0.9));
    let mut options = ComparisonOptions::default();
    options.gate = Some(Gate::NotWorse);
    let report = report(&base, &other, &plan, &options);
    let of = |metric: &str| report.comparisons.iter().find(|one| one.metric.starts_with(metric)).unwrap();
    let loss = of("brier");
    assert!(loss.difference.number().unwrap() < 0.0);
    assert_eq!((loss.direction, loss.gate), (Direction::Lower, Some(GateOutcome::Passed)));
    assert_eq!(of("accuracy").direction, Direction::Higher);
    assert_eq!((of("frequency").direction, of("frequency").gate), (Direction::Neither, None));
}
