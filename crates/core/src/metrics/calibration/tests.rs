//! Calibration by hand, and what it does with input that it cannot use.

use crate::metrics::{auprc, auroc, brier, brier_decomposition, ece, ece_debiased, log_loss};
use crate::{
    Error, ErrorMethod, ErrorPlan, Estimate, IntervalMethod, Metadata, Metric, MetricValue, Plan, Score,
    ScoreColumns, ScoreSet, Undefined,
};

/// Confidence in the metadata of scores, and whether the answer was right.
fn columns(rows: &[(f64, f64)]) -> ScoreColumns {
    let mut columns = ScoreColumns::new(["s"]);
    for (at, (confidence, outcome)) in rows.iter().enumerate() {
        let mut score = Score::new(*outcome);
        score.metadata = Some(Metadata::from_iter([("confidence".to_owned(), (*confidence).into())]));
        columns.push(format!("q{at}"), 1).score("s", score).unwrap();
    }
    columns
}

fn compute(metric: &dyn Metric, columns: &ScoreColumns) -> crate::Result<MetricValue> {
    metric.compute(&ScoreSet::unreduced(columns, "s")?.scores())
}

fn estimate(metric: &dyn Metric, rows: &[(f64, f64)]) -> Estimate {
    compute(metric, &columns(rows)).unwrap().estimate().unwrap().clone()
}

fn assert_close(actual: Option<f64>, expected: f64) {
    let actual = actual.expect("a number");
    assert!((actual - expected).abs() < 1e-13, "{actual} is not {expected}");
}

const FOUR: [(f64, f64); 4] = [(0.9, 1.0), (0.8, 0.0), (0.6, 1.0), (0.3, 0.0)];

#[test]
fn brier_is_a_mean_with_its_error() {
    // Squares: 0.01, 0.64, 0.16, 0.09; mean 0.225.
    let brier = estimate(&brier(), &FOUR);
    assert_close(brier.number(), 0.225);
    let squares: [f64; 4] = [0.01, 0.64, 0.16, 0.09];
    let variance = squares.iter().map(|square| (square - 0.225).powi(2)).sum::<f64>() / 3.0;
    assert_close(brier.stderr(), (variance / 4.0).sqrt());
    assert!(brier.interval.is_ok() && brier.bounds.is_none());
}

#[test]
fn log_loss_bounds_certainty_and_counts_it() {
    let plain = estimate(&log_loss(), &FOUR);
    let expected = -(0.9_f64.ln() + 0.2_f64.ln() + 0.6_f64.ln() + 0.7_f64.ln()) / 4.0;
    assert_close(plain.number(), expected);
    assert!(plain.notes.custom.is_empty());
    let certain = estimate(&log_loss(), &[(1.0, 1.0), (0.0, 0.0), (1.0, 0.0), (0.0, 1.0)]);
    // Two are right for sure, and two wrong for sure: −ln 2⁻⁵² = 36.04.
    assert_close(certain.number(), 52.0 * std::f64::consts::LN_2 / 2.0);
    assert_eq!(certain.notes.custom["clipped_predictions"], 2);
}

#[test]
fn ece_and_its_curve() {
    // Bins of width ½: {0.3: wrong}, {0.6, 0.8, 0.9: two of three right}. ¼·0.3 + ¾·|2/3 − 2.3/3| = 0.075 + 0.075
    let ece = estimate(&ece().bins(2_usize), &FOUR);
    assert_close(ece.number(), 0.15);
    let curve = ece.notes.custom["bins"].as_array().unwrap().clone();
    assert_eq!(curve.len(), 2);
    assert_eq!((&curve[0]["n"], &curve[1]["n"]), (&1.into(), &3.into()));
    assert_close(curve[1]["accuracy"].as_f64(), 2.0 / 3.0);
    // Wilson of 0 of 1.
    assert_close(curve[0]["upper"].as_f64(), 0.793_450_685_622_762_7);
}

#[test]
fn ece_debiased_subtracts_what_chance_gives() {
    // One bin, d = 0: E|N(0, s²)| = s·√(2/π) with s² = ¼/4.
    let rows = [(0.5, 1.0), (0.5, 0.0), (0.5, 1.0), (0.5, 0.0)];
    let estimate = estimate(&ece_debiased().bins(1_usize), &rows);
    assert_close(estimate.number(), -0.25 * (2.0 / std::f64::consts::PI).sqrt());
}

#[test]
fn the_parts_of_the_brier_score_sum_to_it() {
    let rows = [(0.05, 0.0), (0.12, 1.0), (0.31, 0.0), (0.37, 0.0), (0.62, 1.0), (0.91, 1.0), (0.99, 0.0)];
    let value = compute(&brier_decomposition().bins(3_usize), &columns(&rows)).unwrap();
    let part = |name: &str| value.get(name).unwrap().number().unwrap();
    let sum = part("reliability") - part("resolution") + part("uncertainty") + part("within_bins");
    assert_close(Some(sum), estimate(&brier(), &rows).number().unwrap());
    assert_close(Some(part("uncertainty")), 3.0 / 7.0 * 4.0 / 7.0);
    assert!(part("within_bins").abs() > 1e-6);
    // Equal confidences within each bin leave nothing.
    let equal = [(0.2, 0.0), (0.2, 1.0), (0.9, 1.0), (0.9, 1.0)];
    let value = compute(&brier_decomposition(), &columns(&equal)).unwrap();
    assert_eq!(value.get("within_bins").unwrap().number(), Some(0.0));
    assert!(value.get("reliability").unwrap().interval.is_ok());
}

#[test]
fn one_answer_in_each_bin_leaves_no_rounding() {
    let value = compute(&brier_decomposition().bins(2_usize), &columns(&[(0.9, 1.0), (0.2, 0.0)])).unwrap();
    let within = value.get("within_bins").unwrap();
    assert_eq!(within.number(), Some(0.0));
    assert!(matches!(
        (&within.error, &within.interval),
        (Err(Undefined::Other(_)), Err(Undefined::Other(_)))
    ));
}

#[test]
fn auroc_without_a_spread_has_no_error() {
    let ties = estimate(&auroc(), &[1.0, 0.0, 1.0, 0.0, 1.0].map(|outcome| (0.5, outcome)));
    assert_eq!(ties.number(), Some(0.5));
    assert_eq!(ties.error, Err(Undefined::NoSpread { n: 5 }));
    assert_eq!(ties.interval, Err(Undefined::NoSpread { n: 5 }));
    let mut clusters = ScoreColumns::new(["s"]);
    for cluster in 0..4 {
        for (at, (confidence, outcome)) in
            [(0.9, 1.0), (0.1, 0.0), (0.95, 0.0), (0.4, 1.0)].into_iter().enumerate()
        {
            let mut score = Score::new(outcome);
            score.metadata = Some(Metadata::from_iter([("confidence".to_owned(), confidence.into())]));
            let row = clusters.push(format!("{cluster} {at}"), 1).metadata("g", cluster);
            row.score("s", score).unwrap();
        }
    }
    let plan = Plan::new().metrics(crate::metrics![auroc()]).errors(ErrorPlan::new().cluster("g"));
    let alike = plan.evaluate(&clusters).unwrap().results.estimate("auroc").unwrap();
    assert_eq!(alike.number(), Some(0.5));
    let reason = Undefined::Other("no spread between clusters".to_owned());
    assert_eq!((alike.error, alike.interval), (Err(reason.clone()), Err(reason)));
}

#[test]
fn auroc_by_pairs() {
    // Of (0.9, 0.6) × (0.8, 0.3): 3 of 4 pairs; with a tie 3½ of 4 … DeLong by hand: V₁₀ = 1, ½; V₀₁ = ½, 1.
    let area = estimate(&auroc(), &FOUR);
    assert_close(area.number(), 0.75);
    assert_close(area.stderr(), (0.125_f64 / 2.0 + 0.125 / 2.0).sqrt());
    assert_eq!(area.error.unwrap().method, ErrorMethod::DeLong);
    let interval = area.interval.unwrap();
    assert_eq!(interval.method, IntervalMethod::Logit);
    assert!(0.0 < interval.lower && interval.lower < 0.75 && 0.75 < interval.upper && interval.upper < 1.0);
    let tied = estimate(&auroc(), &[(0.5, 1.0), (0.5, 0.0), (0.5, 1.0), (0.5, 0.0)]);
    assert_eq!(tied.number(), Some(0.5));
}

#[test]
fn auroc_of_perfect_ranks_has_an_interval() {
    let rows: Vec<(f64, f64)> =
        (0..20).map(|at| (f64::from(at) / 20.0, f64::from(u8::from(at >= 10)))).collect();
    let area = estimate(&auroc(), &rows);
    assert_eq!(area.number(), Some(1.0));
    assert!(matches!(area.error, Err(Undefined::Other(_))));
    let interval = area.interval.unwrap();
    assert_eq!(interval.upper, 1.0);
    // (1 − θ)² = z²·θ(1 − θ)·[1 + 9·((1 − θ)/(2 − θ) + θ/(1 + θ))]/100 at the lower end.
    let theta = interval.lower;
    let spread = 1.0 + 9.0 * ((1.0 - theta) / (2.0 - theta) + theta / (1.0 + theta));
    let z: f64 = 1.959_963_984_540_054;
    assert!(((1.0 - theta) - z * z * theta * spread / 100.0).abs() < 1e-12, "{theta}");
    assert!(area.notes.is_caution);
    let mirrored: Vec<(f64, f64)> =
        rows.iter().map(|(confidence, outcome)| (*confidence, 1.0 - outcome)).collect();
    let interval = estimate(&auroc(), &mirrored).interval.unwrap();
    assert!((interval.upper - (1.0 - theta)).abs() < 1e-12 && interval.lower == 0.0);
}

#[test]
fn auprc_is_the_average_precision() {
    // In descending order right, wrong, right, wrong: ½·1 + ½·⅔.
    assert_close(estimate(&auprc(), &FOUR).number(), 5.0 / 6.0);
}

#[test]
fn one_class_has_a_reason() {
    let right = [(0.2, 1.0), (0.7, 1.0)];
    for metric in [&auroc() as &dyn Metric, &auprc()] {
        let undefined = estimate(metric, &right);
        assert!(
            matches!(&undefined.value, Err(Undefined::Other(reason)) if reason.starts_with("all 2 answers are right"))
        );
        assert_eq!(undefined.n, 2);
    }
    assert!(estimate(&ece(), &right).value.is_ok());
    assert_eq!(estimate(&ece(), &[]).value, Err(Undefined::NoScores));
    assert_eq!(estimate(&brier(), &[]).value, Err(Undefined::NoScores));
}

fn every_metric() -> Vec<Box<dyn Metric>> {
    vec![
        Box::new(brier()),
        Box::new(brier_decomposition()),
        Box::new(log_loss()),
        Box::new(ece()),
        Box::new(ece_debiased()),
        Box::new(auroc()),
        Box::new(auprc()),
    ]
}

#[test]
fn input_that_is_no_prediction_is_an_error() {
    for metric in every_metric() {
        let error = |rows: &[(f64, f64)]| compute(metric.as_ref(), &columns(rows)).unwrap_err();
        assert!(error(&[(0.5, 1.0), (0.5, 0.5)]).to_string().contains("the score of sample \"q1\" is"));
        let percentage = error(&[(0.5, 1.0), (80.0, 0.0)]).to_string();
        assert!(percentage.ends_with("from 0 to 1, so divide percentages by 100"), "{percentage}");
        assert!(error(&[(-0.1, 1.0)]).to_string().ends_with("it must be a number from 0 to 1"));
        let mut bare = columns(&FOUR);
        bare.push("q9", 1).score("s", Score::new(1.0)).unwrap();
        let missing = compute(metric.as_ref(), &bare).unwrap_err();
        assert!(matches!(missing, Error::MissingConfidence { sample, .. } if sample == "q9"));
    }
    let mut percent = ScoreColumns::new(["s"]);
    percent.push("q1", 1).metadata("confidence", "80%").score("s", Score::new("C")).unwrap();
    let error = compute(&brier(), &percent).unwrap_err();
    assert_eq!(
        error.to_string(),
        "brier: the confidence of sample \"q1\" (metadata key `confidence`) is 80%; it must be a number from 0 to 1, so \
         divide percentages by 100"
    );
}

#[test]
fn confidence_of_the_score_comes_before_that_of_the_sample() {
    let mut columns = ScoreColumns::new(["s"]);
    let mut with = Score::new("C");
    with.metadata = Some(Metadata::from_iter([("sure".to_owned(), 1.0.into())]));
    columns.push("q1", 1).metadata("sure", 0.5).score("s", with).unwrap();
    columns.push("q2", 1).metadata("sure", "0.5").score("s", Score::new("I")).unwrap();
    let value = compute(&brier().confidence("sure"), &columns).unwrap();
    assert_close(value.estimate().unwrap().number(), 0.125);
}

#[test]
fn epochs_are_predictions_of_one_unit() {
    let mut columns = ScoreColumns::new(["s"]);
    for (at, (confidence, outcome)) in FOUR.iter().cycle().take(24).enumerate() {
        let mut score = Score::new(*outcome);
        let noise = at as f64 / 1000.0;
        score.metadata = Some(Metadata::from_iter([("confidence".to_owned(), (confidence - noise).into())]));
        columns.push(format!("q{}", at / 3), at as u32 % 3 + 1).score("s", score).unwrap();
    }
    let plan = Plan::new().metrics(crate::metrics![brier(), auroc(), ece()]);
    let results = plan.evaluate(&columns).unwrap().results;
    for name in ["brier", "auroc", "ece"] {
        assert_eq!(results.estimate(name).unwrap().n, 24, "{name}");
    }
    let brier = results.estimate("brier").unwrap().error.unwrap();
    assert_eq!(brier.clusters, [8]);
    let area = results.estimate("auroc").unwrap().error.unwrap();
    assert_eq!((area.method, area.clusters), (ErrorMethod::Cluster(crate::ClusterVariance::Cr1), vec![8]));
}

#[test]
fn groups_see_every_epoch() {
    let mut columns = ScoreColumns::new(["s"]);
    for (at, (confidence, outcome)) in FOUR.iter().cycle().take(12).enumerate() {
        let row = columns.push(format!("q{}", at / 2), at as u32 % 2 + 1);
        row.metadata("confidence", *confidence)
            .metadata("topic", if at < 6 { "a" } else { "b" })
            .score("s", Score::new(*outcome))
            .unwrap();
    }
    let by_topic = crate::metrics::grouped(brier(), "topic");
    let results = Plan::new().metrics(crate::metrics![by_topic]).evaluate(&columns).unwrap().results;
    let MetricValue::Groups(groups) = &results.scores[0].metrics[0].value else { panic!("no groups") };
    let sizes: Vec<u64> = groups.groups.iter().map(|group| group.value.estimate().unwrap().n).collect();
    assert_eq!(sizes, [6, 6]);
}

#[test]
fn order_does_not_matter() {
    let rows: Vec<(f64, f64)> =
        (0..60).map(|at| (f64::from(at * 37 % 61) / 61.0, f64::from(u8::from(at * 29 % 31 > 14)))).collect();
    let forward = columns(&rows);
    let mut backward = ScoreColumns::new(["s"]);
    for (at, (confidence, outcome)) in rows.iter().enumerate().rev() {
        let mut score = Score::new(*outcome);
        score.metadata = Some(Metadata::from_iter([("confidence".to_owned(), (*confidence).into())]));
        backward.push(format!("q{at}"), 1).score("s", score).unwrap();
    }
    for metric in every_metric() {
        assert_eq!(
            compute(metric.as_ref(), &forward).unwrap(),
            compute(metric.as_ref(), &backward).unwrap(),
            "{metric:?}"
        );
    }
}

#[test]
fn the_range_of_scores_is_not_that_of_losses() {
    let rows: Vec<(f64, f64)> = FOUR.iter().cycle().take(10).copied().chain([(1.0, 0.0)]).collect();
    let errors = ErrorPlan { range: Some((0.0, 1.0)), ..ErrorPlan::new() };
    for metric in [&brier() as &dyn Metric, &log_loss()] {
        let columns = columns(&rows);
        let set = ScoreSet::unreduced(&columns, "s").unwrap().with_errors(errors.clone());
        assert!(metric.compute(&set.scores()).unwrap().estimate().unwrap().interval.is_ok());
    }
}
