//! Pairs of numbers.

use errorbar_core::metrics::mean;
use errorbar_core::{
    Conversion, Direction, ErrorPlan, IntervalMethod, Metric, MetricValue, Plan, Reducers, Result, Score,
    ScoreColumns, Scores, Spec, ToSpec, Undefined, metrics,
};
use errorbar_inference::{
    ComparisonOptions, ComparisonWarning, Flips, Gate, GateOutcome, PowerDesign, PowerPlan, TestMethod,
};

use super::{
    BASE, CLUSTERS, GRADED, OTHER, OTHER_GRADED, by_accuracy, by_mean, close, clustered, columns, interval,
    only, p_value, report,
};

#[test]
fn zeros_and_ones() {
    let comparison = only(&columns(&BASE), &columns(&OTHER), &by_accuracy());
    assert_eq!((comparison.base.as_str(), comparison.other.as_str()), ("a", "b"));
    assert_eq!((comparison.scorer.as_str(), comparison.metric.as_str()), ("s", "accuracy"));
    assert!(comparison.is_paired);
    assert_eq!((comparison.n, comparison.only_base, comparison.only_other), (12, 0, 0));
    assert_eq!((comparison.wins, comparison.losses, comparison.ties), (Some(3), Some(1), Some(8)));
    close(comparison.base_estimate.number().unwrap(), 8.0 / 12.0);
    close(comparison.other_estimate.number().unwrap(), 10.0 / 12.0);
    close(comparison.difference.number().unwrap(), 1.0 / 6.0);
    close(comparison.difference.stderr().unwrap(), 0.16666666666666669);
    let (lower, upper) = interval(&comparison);
    close(lower, -0.19180071822675793);
    close(upper, 0.4775150039410436);
    assert_eq!(comparison.difference.interval.as_ref().unwrap().method, IntervalMethod::BonettPrice);
    let flips = comparison.flips.unwrap();
    let table = (flips.both_right, flips.only_base_right, flips.only_other_right, flips.both_wrong);
    assert_eq!(table, (7, 1, 3, 1));
    close(flips.p_exact, 0.625);
    close(flips.p_mid, 0.375);
    assert_eq!(
        (comparison.test.as_ref().unwrap().method, p_value(&comparison)),
        (TestMethod::McNemarMid, flips.p_mid)
    );
    close(comparison.correlation.unwrap(), 0.158113883008419);
    close(comparison.variance_removed.unwrap(), 0.15384615384615385);
    let mde = comparison.mde.unwrap();
    assert!((mde - 0.4968479442507818).abs() < 1e-9, "{mde}");
}

#[test]
fn graded_scores() {
    let comparison = only(&columns(&GRADED), &columns(&OTHER_GRADED), &by_mean());
    close(comparison.difference.number().unwrap(), -0.0252);
    close(comparison.difference.stderr().unwrap(), 0.030414470240331327);
    let (lower, upper) = interval(&comparison);
    close(lower, -0.08797238138169806);
    close(upper, 0.037572381381698064);
    assert_eq!(comparison.test.as_ref().unwrap().method, TestMethod::T);
    close(p_value(&comparison), 0.4155216105054915);
    close(comparison.correlation.clone().unwrap(), 0.8898238043766139);
    assert!((comparison.mde.clone().unwrap() - 0.08881430910709895).abs() < 1e-9);
    assert_eq!((comparison.wins, comparison.losses, comparison.ties), (Some(14), Some(10), Some(1)));
    assert!(comparison.flips.is_none());
    // SE² = SE_A² + SE_B² − 2·r·SE_A·SE_B.
    let se = |estimate: &errorbar_core::Estimate| estimate.stderr().unwrap();
    let (a, b) = (se(&comparison.base_estimate), se(&comparison.other_estimate));
    let r = comparison.correlation.unwrap();
    close(se(&comparison.difference).powi(2), a * a + b * b - 2.0 * r * a * b);
    close(comparison.variance_removed.unwrap(), 2.0 * r * a * b / (a * a + b * b));
}

/// CR2 with the degrees of freedom of Bell and McCaffrey, on the differences.
#[test]
fn clusters() {
    let (base, other) = (clustered(&GRADED, &CLUSTERS), clustered(&OTHER_GRADED, &CLUSTERS));
    let comparison = only(&base, &other, &by_mean().errors(ErrorPlan::new().cluster("passage")));
    let error = comparison.difference.error.as_ref().unwrap();
    close(error.se, 0.01512095058525363);
    close(error.df, 5.097731912093256);
    assert_eq!(error.clusters, [7]);
    let (lower, upper) = interval(&comparison);
    // scipy's quantile of t has ten digits here.
    assert!((lower + 0.06384656907798664).abs() < 1e-9 && (upper - 0.013446569077986636).abs() < 1e-9);
    assert_eq!(comparison.test.as_ref().unwrap().method, TestMethod::T);
    close(p_value(&comparison), 0.1553561545752255);
    // Signs of whole clusters: 20 of 128.
    assert_eq!(comparison.p_sign_flip, Some(0.15625));
    assert_eq!(comparison.cluster, ["passage"]);
}

/// Clusters of which only the other side knows.
#[test]
fn clusters_of_the_other_side() {
    let plan = by_mean().errors(ErrorPlan::new().cluster("passage"));
    let comparison = only(&columns(&GRADED), &clustered(&OTHER_GRADED, &CLUSTERS), &plan);
    close(comparison.difference.stderr().unwrap(), 0.01512095058525363);
    // A key that one sample lacks on both sides: the number stands.
    let mut incomplete = columns(&[]);
    for (id, score) in OTHER_GRADED.iter().enumerate() {
        let row = incomplete.push(format!("q{id}"), 1);
        let row = if id == 7 { row } else { row.metadata("passage", CLUSTERS[id]) };
        row.score("s", Score::new(*score)).unwrap();
    }
    let comparison = only(&columns(&GRADED), &incomplete, &plan);
    close(comparison.difference.number().unwrap(), -0.0252);
    assert!(matches!(comparison.difference.error, Err(Undefined::Other(_))));
    assert!(comparison.test.is_err());
}

/// One cluster for each sample changes nothing but the method; equal clusters make fewer samples.
#[test]
fn binary_clusters() {
    let plan = by_accuracy().errors(ErrorPlan::new().cluster("passage"));
    let ids: Vec<u32> = (0..12).collect();
    let comparison = only(&clustered(&BASE, &ids), &clustered(&OTHER, &ids), &plan);
    let interval = comparison.difference.interval.as_ref().unwrap();
    assert_eq!((interval.method, interval.df), (IntervalMethod::BonettPrice, Some(11.0)));
    // Bonett and Price at n = 12, with the quantile 2.200985 of t in place of 1.959964: wins 3, losses 1.
    let half = 2.200985160082949 * ((6.0 / 14.0 - 4.0 / 196.0) / 14.0_f64).sqrt();
    assert!((interval.upper - (2.0 / 14.0 + half)).abs() < 1e-9, "{interval:?}");
    assert_eq!(comparison.test.as_ref().unwrap().method, TestMethod::T);
    // Each sample four times is four times as many samples, and the same clusters: wins 12, losses 4 of 48. The variance of
    // the mean is v/11, that of independent samples v/47.
    let repeat = |scores: &[f64]| scores.repeat(4);
    let clusters = ids.repeat(4);
    let repeated = only(&clustered(&repeat(&BASE), &clusters), &clustered(&repeat(&OTHER), &clusters), &plan);
    let again = repeated.difference.interval.as_ref().unwrap();
    let variance = (18.0 / 50.0 - 0.16 * 0.16) / 50.0 * 47.0 / 11.0_f64;
    let half = 2.200985160082949 * variance.sqrt();
    assert!((again.upper - (0.16 + half)).abs() < 1e-9, "{again:?}");
    close(p_value(&repeated), p_value(&comparison));
    // Without a flip a cluster is a pair: ± t·√(2/50/50·48/12).
    let none = only(&clustered(&[1.0; 48], &clusters), &clustered(&[1.0; 48], &clusters), &plan);
    let (lower, upper) = super::interval(&none);
    assert!(
        (upper - 2.200985160082949 * 0.0032_f64.sqrt()).abs() < 1e-9 && lower == -upper,
        "{lower} {upper}"
    );
}

/// A sample is one pair, however many epochs it has.
#[test]
fn epochs_are_reduced_first() {
    let epochs = |scores: &[f64]| {
        let mut columns = ScoreColumns::new(["s"]);
        for epoch in 1..=4 {
            for (id, score) in scores.iter().enumerate() {
                columns.push(format!("q{id}"), epoch).score("s", Score::new(*score)).unwrap();
            }
        }
        columns
    };
    let once = only(&columns(&GRADED), &columns(&OTHER_GRADED), &by_mean());
    for plan in [by_mean(), by_mean().reducers(Reducers::Disabled)] {
        let four_times = only(&epochs(&GRADED), &epochs(&OTHER_GRADED), &plan);
        assert_eq!(four_times.n, 25);
        close(four_times.difference.stderr().unwrap(), once.difference.stderr().unwrap());
        close(p_value(&four_times), p_value(&once));
    }
    let report = report(&columns(&GRADED), &epochs(&OTHER_GRADED), &by_mean(), &ComparisonOptions::default());
    let warning = ComparisonWarning::other(
        "the numbers of epochs differ (a: 1, b: 4); each sample is reduced to one score first",
    );
    assert_eq!(report.warnings, [warning]);
    close(p_value(&report.comparisons[0]), p_value(&once));
}

/// Few samples are tested by flipping signs: of ½, ¼, ½ and ¼ only all plus and all minus are as extreme.
#[test]
fn few_samples() {
    let comparison =
        only(&columns(&[0.0, 0.25, 0.5, 0.0, 0.5]), &columns(&[0.5, 0.5, 1.0, 0.25, 0.5]), &by_mean());
    assert_eq!(comparison.test.as_ref().unwrap().method, TestMethod::SignFlip);
    assert_eq!((p_value(&comparison), comparison.p_sign_flip), (0.125, Some(0.125)));
}

#[test]
fn equal_differences_have_no_p_of_zero() {
    let (low, high) = (columns(&[0.25; 8]), columns(&[0.5; 8]));
    let comparison = only(&low, &high, &by_mean());
    assert_eq!(comparison.test.as_ref().unwrap().method, TestMethod::SignFlip);
    assert_eq!(p_value(&comparison), 1.0 / 128.0);
    assert!(comparison.difference.error.as_ref().unwrap().degenerate);
    // Wilson on ¼ of −1 to 1, n = 8, t(7) = 2.3646: the share 0.625 has the ends 0.2588 and 0.8883.
    let (lower, upper) = interval(&comparison);
    assert!((lower + 0.4823).abs() < 1e-4 && (upper - 0.7766).abs() < 1e-4, "{lower} {upper}");
    assert!(matches!(comparison.correlation, Err(Undefined::Other(_))));
    assert_eq!(comparison.mde, Err(Undefined::NoSpread { n: 8 }));
    let same = only(&low, &columns(&[0.25; 8]), &by_mean());
    assert_eq!((p_value(&same), same.ties), (1.0, Some(8)));
    // Zeros and ones without a flip: an interval all the same.
    let right = only(&columns(&[1.0; 30]), &columns(&[1.0; 30]), &by_accuracy());
    let (lower, upper) = interval(&right);
    assert!(lower < -0.05 && upper > 0.05 && upper < 0.2, "{lower} {upper}");
    assert_eq!(p_value(&right), 1.0);
    assert!(right.mde.unwrap() > 0.05);
    let all_won = only(&columns(&[0.0; 5]), &columns(&[1.0; 5]), &by_accuracy());
    assert_eq!(p_value(&all_won), 1.0 / 16.0);
    assert_eq!(all_won.flips.unwrap().p_exact, 1.0 / 16.0);
}

/// The options of errors apply to the difference.
#[test]
fn the_plan_decides_level_and_method() {
    let mut errors = ErrorPlan::new();
    errors.level = Some(0.9);
    errors.interval = "t".parse().unwrap();
    let comparison = only(&columns(&BASE), &columns(&OTHER), &by_accuracy().errors(errors));
    let interval = comparison.difference.interval.as_ref().unwrap();
    assert_eq!((interval.level, interval.method), (0.9, IntervalMethod::T));
    // 1/6 ± 1.795885·1/6
    assert!((interval.upper - (1.0 + 1.7958848187036696) / 6.0).abs() < 1e-12);
    let mut errors = ErrorPlan::new();
    errors.interval = "wilson".parse().unwrap();
    let comparison = only(&columns(&BASE), &columns(&OTHER), &by_accuracy().errors(errors));
    let difference = &comparison.difference;
    assert_eq!(difference.interval.as_ref().unwrap().method, IntervalMethod::BonettPrice);
    assert!(difference.notes.is_caution);
    let mut errors = ErrorPlan::new();
    errors.interval = "bootstrap".parse().unwrap();
    let comparison = only(&columns(&GRADED), &columns(&OTHER_GRADED), &by_mean().errors(errors));
    assert_eq!(comparison.difference.interval.as_ref().unwrap().method, IntervalMethod::Bootstrap);
}

/// A gate reads the interval, and equivalence has a p-value that agrees with it.
#[test]
fn gates() {
    let mut options = ComparisonOptions::default();
    options.gate = Some(Gate::Equivalent(0.1));
    let mut errors = ErrorPlan::new();
    errors.level = Some(0.9);
    let plan = by_mean().errors(errors);
    let report = report(&columns(&GRADED), &columns(&OTHER_GRADED), &plan, &options);
    let comparison = &report.comparisons[0];
    // scipy: t.sf((0.1 − 0.0252)/0.030414…, 24)
    assert!((comparison.p_tost.unwrap() - 0.010754480582236).abs() < 1e-12, "{:?}", comparison.p_tost);
    assert_eq!(comparison.gate, Some(GateOutcome::Passed));
}

/// Samples are matched by id, in any order.
#[test]
fn order_does_not_matter() {
    let shuffled = |scores: &[f64]| {
        let mut columns = ScoreColumns::new(["s"]);
        for at in 0..scores.len() {
            let id = at * 7 % scores.len();
            columns.push(format!("q{id}"), 1).score("s", Score::new(scores[id])).unwrap();
        }
        columns
    };
    let plan: Plan = by_mean();
    let straight = only(&columns(&GRADED), &columns(&OTHER_GRADED), &plan);
    let mixed = only(&columns(&GRADED), &shuffled(&OTHER_GRADED), &plan);
    assert_eq!(straight.difference, mixed.difference);
    let mixed = only(&shuffled(&GRADED), &columns(&OTHER_GRADED), &plan);
    assert_eq!(straight.difference, mixed.difference);
    assert_eq!(straight.correlation, mixed.correlation);
}

/// Without a difference of the sides their differences are symmetric, so a few skewed ones are no reason for another interval
/// than that of the test.
#[test]
fn few_skewed_differences_have_a_t_interval() {
    let base = [0.5; 20];
    let mut other = base;
    other[..4].copy_from_slice(&[0.0, 0.0, 0.5, 0.0]);
    let comparison = only(&columns(&base), &columns(&other), &by_mean());
    let interval = comparison.difference.interval.as_ref().unwrap();
    assert_eq!(interval.method, IntervalMethod::T);
    // −0.075 ± t(0.975; 19)·√(3·0.25 − 20·0.075²)/√(19·20)
    close(interval.lower, -0.160_727_965_234_918_92);
}

/// 0.3 − 0.1 and 0.9 − 0.7 differ in the last place only.
#[test]
fn differences_that_are_equal_but_for_rounding() {
    let shifted = |scores: &[f64], by: f64| -> Vec<f64> { scores.iter().map(|x| x + by).collect() };
    let two = only(&columns(&[0.1, 0.7]), &columns(&[0.3, 0.9]), &by_mean());
    let exact = only(&columns(&[0.25, 0.5]), &columns(&[0.5, 0.75]), &by_mean());
    let width = |comparison: &errorbar_inference::Comparison| {
        let (lower, upper) = interval(comparison);
        upper - lower
    };
    assert!(width(&two) > 1.0, "{:?}", two.difference);
    close(two.difference.number().unwrap(), 0.2);
    assert_eq!(two.difference.stderr(), Some(0.0));
    assert_eq!((p_value(&two), two.mde.clone().ok()), (0.5, None));
    assert_eq!(p_value(&exact), 0.5);
    let plan = by_mean();
    let sides = [columns(&[0.1, 0.7]), columns(&[0.3, 0.9])];
    let mut options = ComparisonOptions::default();
    options.gate = Some(Gate::MinDifference(0.1));
    let gated = report(&sides[0], &sides[1], &plan, &options);
    assert_eq!(gated.comparisons[0].gate, Some(GateOutcome::Undecided));

    let tenths: Vec<f64> = (0..20).map(|i| f64::from(i % 9) / 10.0).collect();
    let many = only(&columns(&tenths), &columns(&shifted(&tenths, 0.1)), &by_mean());
    assert_eq!(many.difference.stderr(), Some(0.0));
    close(p_value(&many), 2.0 * 0.5_f64.powi(20));
    // What adds up to nothing is a tie.
    let ties = only(&columns(&[0.3, 0.6, 0.3]), &columns(&[0.1 + 0.2, 0.6, 0.3]), &by_mean());
    assert_eq!((ties.wins, ties.losses, ties.ties), (Some(0), Some(0), Some(3)));
    // By cluster and by group.
    let clusters: Vec<u32> = (0..20).map(|i| i / 4).collect();
    let other = clustered(&shifted(&tenths, 0.1), &clusters);
    let plan = by_mean().errors(ErrorPlan::new().cluster("passage"));
    let by_cluster = only(&clustered(&tenths, &clusters), &other, &plan);
    assert_eq!((by_cluster.difference.stderr(), p_value(&by_cluster)), (Some(0.0), 0.0625));
}

/// The test of pairs from a known population allows for it, as the interval does.
#[test]
fn a_population_corrects_the_test() {
    let mut errors = ErrorPlan::new();
    errors.population = Some(14);
    let of = |plan: &Plan| only(&columns(&BASE), &columns(&OTHER), plan);
    let (plain, known) = (of(&by_accuracy()), of(&by_accuracy().errors(errors.clone())));
    // × √(1 − 12/14).
    close(known.difference.stderr().unwrap(), plain.difference.stderr().unwrap() * (2.0_f64 / 14.0).sqrt());
    assert_eq!(known.test.as_ref().unwrap().method, TestMethod::T);
    assert!(interval(&known).0 > 0.0 && p_value(&known) < 0.05, "{known:?}");
    let few = |plan: &Plan| only(&columns(&GRADED[..12]), &columns(&OTHER_GRADED[..12]), plan);
    assert_eq!(few(&by_mean()).test.unwrap().method, TestMethod::SignFlip);
    assert_eq!(few(&by_mean().errors(errors.clone())).test.unwrap().method, TestMethod::T);
    // All of the population is known.
    errors.population = Some(12);
    assert!(of(&by_accuracy().errors(errors)).test.is_err());
}

/// As in a plan for as many discordant pairs; nothing beyond the largest difference that there is.
#[test]
fn the_detectable_difference_is_that_of_the_test() {
    for (n, discordant) in [(12, 4), (60, 2), (60, 0), (144, 44)] {
        let base = vec![0.0; n];
        let mut other = base.clone();
        other[..discordant].fill(1.0);
        let comparison = only(&columns(&base), &columns(&other), &by_accuracy());
        let flips = Flips::Discordant(discordant as f64 / n as f64);
        let planned = PowerPlan::new(PowerDesign::Pairs(flips)).difference(n as u64, 1, 0.8).unwrap();
        assert_eq!(comparison.mde, Ok(planned), "{discordant} of {n}");
    }
    let reason = |n: u64| Err(Undefined::Other(format!("no difference is detectable with {n} pairs")));
    let two = only(&columns(&[0.0, 1.0]), &columns(&[1.0, 1.0]), &by_accuracy());
    assert_eq!(two.mde, reason(2));
    let graded = only(&columns(&[0.0, 0.9, 0.4]), &columns(&[0.9, 0.1, 0.5]), &by_mean());
    assert_eq!(graded.mde, reason(3));
    // Nothing is known of numbers beyond 0 to 1.
    let wide = only(&columns(&[0.0, 9.0, 4.0]), &columns(&[9.0, 1.0, 5.0]), &by_mean());
    assert!(wide.mde.is_ok_and(|mde| mde > 9.0));
}

/// A mean of losses.
#[derive(Debug)]
struct Loss;

impl ToSpec for Loss {
    fn spec(&self) -> Spec {
        Spec::new("loss")
    }
}

impl Metric for Loss {
    fn compute(&self, scores: &Scores<'_>) -> Result<MetricValue> {
        mean().compute(scores)
    }

    fn direction(&self) -> Direction {
        Direction::Lower
    }

    fn mean_of(&self) -> Option<Conversion> {
        Some(Conversion::default())
    }
}

/// The other side is higher three times and lower once, which is a win of a loss.
#[test]
fn a_sample_with_a_lower_loss_is_won() {
    let comparison = only(&columns(&BASE), &columns(&OTHER), &Plan::new().metrics(metrics![Loss]));
    assert_eq!((comparison.wins, comparison.losses, comparison.ties), (Some(1), Some(3), Some(8)));
    close(comparison.difference.number().unwrap(), 2.0 / 12.0);
}
