//! Coverage simulated from scores, against what it is in exact arithmetic.

use errorbar_core::metrics::{accuracy, mean};
use errorbar_core::{Error, ErrorPlan, Plan, Reducers, Score, ScoreColumns, ScoreKind, Value, metrics};
use errorbar_inference::{Coverage, CoverageFigures, CoverageOptions, NoCoverage, simulate_coverage};

use super::{binary, ends, graded, holds, log_factorials, of_clusters};

/// A column of scores, each with the cluster `c`.
fn columns(scores: impl IntoIterator<Item = (f64, i64)>) -> ScoreColumns {
    let mut columns = ScoreColumns::new(["s"]);
    for (id, (score, cluster)) in scores.into_iter().enumerate() {
        columns.push(id.to_string(), 1).metadata("c", cluster).score("s", Score::new(score)).unwrap();
    }
    columns
}

fn independent(scores: &[f64]) -> ScoreColumns {
    columns(scores.iter().map(|score| (*score, 0)))
}

fn simulated(plan: &Plan, columns: &ScoreColumns, simulations: u32) -> Result<Coverage, NoCoverage> {
    let options = CoverageOptions { simulations: Some(simulations), ..CoverageOptions::default() };
    let report = simulate_coverage(plan, columns, options).unwrap();
    assert_eq!(report.scores.len(), 1);
    report.scores.into_iter().next().unwrap().coverage
}

fn figures<'c>(coverage: &'c Coverage, method: &str) -> &'c CoverageFigures {
    let of_method = coverage.methods.iter().find(|one| one.method.to_string() == method).unwrap();
    of_method.figures.as_ref().unwrap()
}

fn plan(errors: &str) -> Plan {
    Plan::new().errors(errors.parse().unwrap()).seed(3)
}

#[track_caller]
fn assert_near(figures: &CoverageFigures, exact: f64) {
    let off = (figures.coverage - exact) / figures.coverage_error;
    assert!(off.abs() < 5.0, "{} ± {}, exact {exact}", figures.coverage, figures.coverage_error);
    let parts = figures.coverage + figures.below + figures.above + figures.undefined;
    assert!((parts - 1.0).abs() < 1e-12);
}

#[test]
fn of_zeros_and_ones_it_is_the_binomial_sum() {
    let scores: Vec<f64> = (0..40).map(|at| f64::from(u8::from(at < 36))).collect();
    let coverage = simulated(&plan(r#"{"draws": 100}"#), &independent(&scores), 4_000).unwrap();
    assert_eq!((coverage.n, coverage.clusters, coverage.mean, coverage.level), (40, None, 0.9, 0.95));
    for method in ["wilson", "t"] {
        let intervals = binary::intervals(method, 40);
        assert_near(figures(&coverage, method), binary::coverage(&intervals, 0.9));
        let chances = binary::binomial(40, 0.9);
        let (mut width, mut defined) = (0.0, 0.0);
        for (chance, (lower, upper)) in
            chances.iter().zip(&intervals).filter_map(|(p, ends)| Some((p, (*ends)?)))
        {
            (width, defined) = (width + chance * (upper - lower), defined + chance);
        }
        let got = figures(&coverage, method);
        let off = (got.width.unwrap() - width / defined) / got.width_error.unwrap();
        assert!(off.abs() < 5.0, "{method}: {got:?}, exact {}", width / defined);
        assert!((got.undefined - (1.0 - defined)).abs() < 0.01);
    }
    // `auto` is Wilson here, in every simulation.
    assert_eq!(figures(&coverage, "auto"), figures(&coverage, "wilson"));
    assert!(figures(&coverage, "t").undefined > 0.0 && figures(&coverage, "wilson").undefined == 0.0);
    // No interval of t lies on the wrong side as often as on the other: it is symmetric, the scores are not.
    let t = figures(&coverage, "t");
    assert!(t.above > 2.0 * t.below, "{t:?}");
}

/// With one set of resamples for all simulations its noise, some 3 % of the width, would not even out.
#[test]
fn every_simulation_draws_its_own_resamples() {
    let scores: Vec<f64> = (0..100).map(|at| f64::from(at).sqrt()).collect();
    let coverage =
        simulated(&plan(r#"{"draws": 1000, "range": [0, 10]}"#), &independent(&scores), 300).unwrap();
    let width = |method: &str| figures(&coverage, method).width.unwrap();
    // √(99/100) of the standard error, and the quantile of the normal distribution in place of t's.
    let ratio = width("bootstrap") / width("t");
    assert!((ratio / (0.99_f64.sqrt() * 1.959_964 / 1.984_217) - 1.0).abs() < 0.008, "{ratio}");
}

/// Five clusters of five kinds: 126 outcomes, each with its chance.
#[test]
fn of_clusters_it_is_the_sum_over_draws_of_whole_clusters() {
    let clusters: [&[f64]; 5] = [&[1.0, 1.0, 1.0, 0.0], &[0.0, 0.0], &[1.0, 1.0], &[0.0, 1.0, 0.0], &[1.0]];
    let scores =
        clusters.iter().zip(0..).flat_map(|(scores, at)| scores.iter().map(move |score| (*score, at)));
    let coverage = simulated(&plan(r#"{"cluster": "c", "draws": 100}"#), &columns(scores), 8_000).unwrap();
    let truth = 7.0 / 12.0;
    assert_eq!((coverage.n, coverage.clusters, coverage.mean), (12, Some(5), truth));
    let log = log_factorials(5);
    for method in ["auto", "t"] {
        let plan: ErrorPlan = format!(r#"{{"interval": "{method}"}}"#).parse().unwrap();
        let (mut covered, mut undefined) = (0.0, 0.0);
        graded::for_counts(5, 4, &mut |counts| {
            let chance =
                (log[5] - counts.iter().map(|count| log[*count]).sum::<f64>() - 5.0 * 5_f64.ln()).exp();
            let drawn = counts.iter().zip(&clusters).flat_map(|(count, scores)| vec![*scores; *count]);
            let drawn: Vec<Vec<(f64, u64)>> =
                drawn.map(|scores| scores.iter().map(|score| (*score, 1)).collect()).collect();
            let ends = ends(&of_clusters(&drawn), &plan, ScoreKind::Binary);
            covered += if holds(ends, truth) { chance } else { 0.0 };
            undefined += if ends.is_none() { chance } else { 0.0 };
        });
        let got = figures(&coverage, method);
        assert_near(got, covered);
        assert!((got.undefined - undefined).abs() < 0.02, "{method}: {} {undefined}", got.undefined);
    }
}

#[test]
fn neither_order_nor_threads_matter() {
    let scores = [0.1, 0.25, 0.5, 0.5, 0.75, 1.0, 0.3, 0.9];
    let mut reversed = scores;
    reversed.reverse();
    let few_draws = plan(r#"{"draws": 100}"#);
    let simulate = |scores: &[f64]| simulated(&few_draws, &independent(scores), 300).unwrap();
    let (first, second) = (simulate(&scores), simulate(&reversed));
    assert_eq!(first, second);
    for threads in [1, 3] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        assert_eq!(first, pool.install(|| simulate(&scores)));
    }
    let other_seed = simulated(&Plan::new().seed(4), &independent(&scores), 300).unwrap();
    assert_ne!(figures(&first, "t").width, figures(&other_seed, "t").width);
}

/// Epochs are reduced first; if they are not, all epochs of a sample are drawn together.
#[test]
fn a_sample_is_drawn_with_its_epochs() {
    let mut columns = ScoreColumns::new(["s"]);
    for sample in 0..8 {
        for epoch in 1..=3 {
            let score = f64::from(u8::from((sample * 3 + epoch) % 4 < 2));
            columns.push(sample.to_string(), epoch).score("s", Score::new(score)).unwrap();
        }
    }
    let reduced = simulated(&Plan::new(), &columns, 200).unwrap();
    assert_eq!((reduced.n, reduced.clusters), (8, None));
    let unreduced = simulated(&Plan::new().reducers(Reducers::Disabled), &columns, 200).unwrap();
    assert_eq!((unreduced.n, unreduced.clusters), (24, Some(8)));
    assert_eq!(reduced.mean, unreduced.mean);
}

#[test]
fn maps_are_simulated_key_by_key() {
    let mut columns = ScoreColumns::new(["s"]);
    for id in 0..6 {
        let map = Value::map([("a", f64::from(id)), ("b", 1.0)]);
        columns.push(id.to_string(), 1).score("s", Score::new(map)).unwrap();
    }
    let report = simulate_coverage(
        &Plan::new(),
        &columns,
        CoverageOptions { simulations: Some(50), ..CoverageOptions::default() },
    )
    .unwrap();
    let [a, b] = report.scores.as_slice() else { panic!("{report:?}") };
    assert_eq!((a.field.as_deref(), b.field.as_deref()), (Some("a"), Some("b")));
    assert_eq!(a.coverage.as_ref().unwrap().mean, 2.5);
    let text = b.coverage.as_ref().unwrap_err().to_string();
    assert_eq!(text, "all 6 scores are 1, so they do not show how scores vary");
    // Beside a metric of whole scores, each key is still that of its own scores.
    let mixed = Plan::new().metrics(metrics![accuracy(), {"b": [mean()]}, {"a": [mean()]}]);
    let options = CoverageOptions { simulations: Some(50), ..CoverageOptions::default() };
    let report = simulate_coverage(&mixed, &columns, options).unwrap();
    let found = report.scores.iter().map(|one| (one.field.as_deref(), one.coverage.is_ok()));
    assert_eq!(found.collect::<Vec<_>>(), [(Some("b"), false), (Some("a"), true)]);
}

#[test]
fn scores_that_cannot_tell_are_refused() {
    let refused = |plan: &Plan, columns: &ScoreColumns| simulated(plan, columns, 50).unwrap_err();
    let by_cluster = plan(r#"{"cluster": "c"}"#);
    let equal = refused(&Plan::new(), &independent(&[0.5; 9]));
    assert_eq!(equal.to_string(), "all 9 scores are 0.5, so they do not show how scores vary");
    let few = refused(&Plan::new(), &independent(&[0.0, 1.0, 0.0, 1.0]));
    assert_eq!(few.to_string(), "4 scores are too few to draw from: it takes 5");
    let alternating =
        |clusters: i64| columns((0..40).map(|at| (f64::from(at % 2), i64::from(at / 2) % clusters)));
    let few = refused(&by_cluster, &alternating(4));
    assert_eq!(few, NoCoverage::TooFewClusters(4));
    assert_eq!(few.to_string(), "4 clusters are too few to draw from: it takes 5");
    let equal = refused(&by_cluster, &alternating(10)).to_string();
    assert_eq!(equal, "all 10 clusters have the same scores, so they do not show how clusters vary");
    let two_ways = plan(r#"{"cluster": ["c", "d"]}"#);
    assert_eq!(refused(&two_ways, &alternating(10)), NoCoverage::TwoWays);
    let absent = refused(&plan(r#"{"cluster": "other"}"#), &alternating(10));
    assert!(matches!(absent, NoCoverage::Scores(Error::MissingKey { .. })), "{absent:?}");
    let mut nothing = ScoreColumns::new(["s"]);
    nothing.push("q1", 1).score("s", Score::unscored("refusal")).unwrap();
    assert_eq!(refused(&Plan::new(), &nothing).to_string(), "there is no score");
}

/// What does not apply has its reason; the others stand.
#[test]
fn a_method_that_does_not_apply_has_its_reason() {
    let coverage = simulated(&Plan::new(), &independent(&[-1.0, 3.0, 2.5, 7.0, 4.0, 1.5]), 50).unwrap();
    let wilson = coverage.methods.iter().find(|one| one.method.to_string() == "wilson").unwrap();
    assert!(wilson.figures.as_ref().unwrap_err().to_string().contains("known range"));
    assert_eq!(figures(&coverage, "t").simulations, 50);
}
