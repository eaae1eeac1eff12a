//! Which interval there is, and what there is in place of one.

use errorbar_core::{
    Error, ErrorPlan, Estimate, IntervalMethod, Random, Score, ScoreColumns, ScoreKind, ScoreSet, Summary,
    Undefined,
};
use errorbar_test_support::assert_matches;
use serde_json::{Value as Json, json};

use super::{
    assert_close, assert_interval, binary, clustered, estimate, of, plan, rows, summary, try_summary,
};

fn method(estimate: &Estimate) -> IntervalMethod {
    estimate.interval.as_ref().unwrap().method
}

#[test]
fn no_score_and_one_score() {
    let none = of(&ErrorPlan::new(), &[]);
    assert_eq!(none.value, Err(Undefined::NoScores));
    assert_eq!((none.error, none.interval), (Err(Undefined::NoScores), Err(Undefined::NoScores)));
    let too_few = Undefined::TooFewScores { n: 1 };
    for value in [0.25, 17.0] {
        for interval in ["auto", "t", "bootstrap", "bootstrap_t"] {
            let one = of(&plan(&format!(r#"{{"interval": "{interval}"}}"#)), &[value]);
            assert_eq!((one.value, one.n), (Ok(value), 1));
            assert_eq!(one.error, Err(too_few.clone()));
            assert_eq!(one.interval, Err(too_few.clone()), "{value} {interval}");
            assert_eq!(one.notes.reason, None);
        }
    }
}

#[test]
fn one_cluster() {
    for interval in ["auto", "wilson", "t", "bootstrap", "bootstrap_t"] {
        let one = clustered(&format!(r#"{{"interval": "{interval}"}}"#), &binary(1, 3), &[5, 5, 5]);
        let reason = Undefined::TooFewClusters { clusters: 1 };
        assert_close(one.value.unwrap(), 1.0 / 3.0, 1e-15);
        assert_eq!((one.error, one.interval), (Err(reason.clone()), Err(reason)), "{interval}");
    }
}

#[test]
fn equal_scores_have_no_spread() {
    // Of unknown range: nothing is known.
    for interval in ["auto", "t", "bootstrap", "bootstrap_t"] {
        let plan = plan(&format!(r#"{{"interval": "{interval}"}}"#));
        let same = of(&plan, &[3.5; 4]);
        let error = same.error.unwrap();
        assert!(error.se == 0.0 && error.degenerate && error.df == 3.0);
        assert_eq!(same.interval, Err(Undefined::NoSpread { n: 4 }));
    }
    // Within 0 and 1: what n supports. Wilson with t(9) = 2.262157162798205 on n = 10 at p = ½ is
    // ½ ± ½·t/√(10 + t²).
    let same = of(&ErrorPlan::new(), &[0.5; 10]);
    let margin = 0.5 * 2.262157162798205 / (10.0 + 2.262157162798205_f64.powi(2)).sqrt();
    assert_interval(&same, 0.5 - margin, 0.5 + margin, 1e-13);
    assert_eq!(same.notes.effective_n, Some(10.0));
    // By cluster: what their number supports. At p = 1 the lower end is G/(G + t²), t(5) = 2.570581835636314.
    let ids: Vec<i64> = (0..30).map(|at| at / 5).collect();
    let same = clustered("{}", &[1.0; 30], &ids);
    assert_interval(&same, 6.0 / (6.0 + 2.570581835636314_f64.powi(2)), 1.0, 1e-12);
    assert!(same.error.unwrap().degenerate);
    assert_eq!((same.notes.effective_n, same.notes.design_effect), (Some(6.0), None));
    // Clusters that do not differ, though their scores do.
    let alike = clustered("{}", &[0.0, 1.0, 0.0, 1.0], &[1, 1, 2, 2]);
    assert!(alike.error.unwrap().degenerate);
    assert_eq!(alike.notes.effective_n, Some(2.0));
    assert_eq!(
        clustered(r#"{"interval": "t"}"#, &[0.0, 1.0, 0.0, 1.0], &[1, 1, 2, 2]).interval,
        Err(Undefined::NoSpread { n: 4 })
    );
}

#[test]
fn zeros_and_ones_have_at_most_their_number_and_at_least_one() {
    // Every cluster has one right answer of two or three: a variance far below that of independent answers.
    let values = [0.0, 1.0, 0.0, 1.0, 0.0, 1.0, 0.0, 1.0, 0.0];
    let ids = [0, 0, 1, 1, 2, 2, 3, 3, 3];
    let capped = clustered("{}", &values, &ids);
    let reason = |estimate: &Estimate| estimate.notes.reason.clone().unwrap();
    assert!(reason(&capped).starts_with("auto: wilson on effective n 9.0"), "{:?}", capped.notes);
    assert!(capped.notes.design_effect.unwrap() < 0.5);
    assert_close(capped.notes.effective_n.unwrap(), 9.0 / capped.notes.design_effect.unwrap(), 1e-14);
    // The same spread about another value: graded scores have no cap.
    let graded: Vec<f64> = values.iter().map(|x| 0.25 + x / 2.0).collect();
    let graded = clustered("{}", &graded, &ids);
    assert!(!reason(&graded).starts_with("auto: wilson on effective n 9.0"), "{:?}", graded.notes);
    // Two clusters, one all wrong and one all right: V = 1/4 + 1/4 by CR3, n* = ¼/½ and thus 1.
    let apart = clustered(r#"{"method": "CR3"}"#, &[0.0, 0.0, 1.0, 1.0], &[1, 1, 2, 2]);
    assert_close(apart.stderr().unwrap(), 0.5_f64.sqrt(), 1e-15);
    assert_eq!(reason(&apart), "auto: wilson on effective n 1.0");
    // The variance of four independent scores is 1/12.
    assert_close(apart.notes.effective_n.unwrap(), 4.0 / 6.0, 1e-14);
}

/// A group of zeros and ones among graded scores is graded; the plan's range and the scores outside of it.
#[test]
fn the_whole_decides_what_scores_are() {
    let rows = rows(&binary(3, 8), &[] as &[i64], &[] as &[i64]);
    let default = ErrorPlan::new();
    let group = summary(&default, &rows);
    let random = Random::default();
    let alone = group.estimate(&default, ScoreKind::Binary, &random);
    let among_graded = group.estimate(&default, ScoreKind::Unit, &random);
    assert_eq!(alone.interval.clone().unwrap().df, None);
    assert_eq!(among_graded.interval.clone().unwrap().df, Some(7.0));
    // n* = m(1−m)/V = n − 1 for zeros and ones.
    assert_close(among_graded.notes.effective_n.unwrap(), 7.0, 1e-14);
    let among_all = group.estimate(&default, ScoreKind::Unbounded, &random);
    assert_eq!(method(&among_all), IntervalMethod::T);
    assert_eq!(among_all.notes.reason.as_deref(), Some("auto: t (range unknown)"));
    // The declared kind of the whole cannot make these scores more than they are.
    let graded = summary(&default, &super::rows(&[0.5, 0.25, 7.0], &[] as &[i64], &[] as &[i64]));
    assert_eq!(method(&graded.estimate(&default, ScoreKind::Binary, &random)), IntervalMethod::T);
}

#[test]
fn a_range_of_the_plan() {
    let ten = plan(r#"{"range": [0, 10]}"#);
    let values = [7.0, 10.0, 8.5, 9.0, 2.0, 10.0, 10.0];
    let scaled = of(&ten, &values);
    let unit = of(&ErrorPlan::new(), &values.map(|x| x / 10.0));
    let (scaled, unit) = (scaled.interval.unwrap(), unit.interval.unwrap());
    assert_close(scaled.lower, 10.0 * unit.lower, 1e-14);
    assert_close(scaled.upper, 10.0 * unit.upper, 1e-14);
    // At an end of the range the interval ends there exactly.
    let best = of(&plan(r#"{"range": [-0.1, 0.3]}"#), &[0.3; 5]).interval.unwrap();
    assert!(best.upper == 0.3 && best.lower > -0.1 && best.lower < 0.3);
    let outside = of(&ten, &[7.0, 10.5, 8.5]);
    assert_eq!(method(&outside), IntervalMethod::T);
    assert_eq!(outside.notes.reason.as_deref(), Some("auto: t (a score lies outside the range 0 to 10)"));
    // The same of scores that are few and skewed.
    let skewed = of(&plan(r#"{"range": [0, 2]}"#), &[1.0, 1.1, 1.2, 1.3, 1.4, 1.0, 9.0, 1.2]);
    assert_eq!(method(&skewed), IntervalMethod::BootstrapT);
    let reason = "auto: bootstrap_t (a score lies outside the range 0 to 2; skewed, n < 50)";
    assert_eq!((skewed.notes.reason.as_deref(), skewed.notes.is_caution), (Some(reason), true));
    // Zeros and ones on a scale to 10 are not binary there.
    let low = of(&ten, &binary(3, 8));
    assert_eq!(low.interval.clone().unwrap().df, Some(7.0));
    assert!(low.notes.effective_n.unwrap() > 8.0);
    let same = of(&plan(r#"{"range": [0, 1]}"#), &binary(3, 8));
    assert_eq!(same.interval, of(&ErrorPlan::new(), &binary(3, 8)).interval);
}

#[test]
fn methods_by_name() {
    let t = of(&plan(r#"{"interval": "t", "level": 0.9}"#), &binary(3, 8));
    // t(7) = 1.8945786050900062 for 90 %; s/√n = √(3/8·5/8/7).
    let margin = 1.8945786050900062 * (15.0 / 64.0 / 7.0_f64).sqrt();
    assert_interval(&t, 0.375 - margin, 0.375 + margin, 1e-13);
    assert_eq!((t.interval.unwrap().level, t.notes.reason), (0.9, None));
    let wilson = of(&plan(r#"{"interval": "wilson"}"#), &[0.0, 7.0, 3.0]);
    assert_eq!(
        wilson.interval.unwrap_err().to_string(),
        "wilson needs scores with a known range: range unknown"
    );
    let both = plan(r#"{"interval": "bootstrap", "cluster": ["a", "b"]}"#);
    let two = estimate(&both, &rows(&[1.0, 2.0, 4.0, 8.0], &[1, 1, 2, 2], &[1, 2, 1, 2]));
    assert!(two.error.is_ok());
    assert_eq!(two.interval.unwrap_err().to_string(), "no bootstrap with two cluster keys");
    // A correction of clusters without a key: every sample is its own.
    let none = of(&plan(r#"{"method": "CR2"}"#), &[1.0, 2.0, 4.0]);
    assert_eq!(none.error.unwrap().method.name(), "iid");
}

#[test]
fn draws_have_a_limit() {
    let plan = plan(r#"{"interval": "bootstrap", "draws": 1000}"#);
    let values = [1.0, 2.0, 4.0, 8.0];
    let summary = summary(&plan, &rows(&values, &[] as &[i64], &[] as &[i64]));
    // As often as one likes: the limit is that of each, so that their order does not matter.
    let random = Random::new(7, Some(100_000));
    let estimates: Vec<Estimate> =
        (0..3).map(|_| summary.estimate(&plan, ScoreKind::Unbounded, &random)).collect();
    assert!(estimates[0] == estimates[1] && estimates[1] == estimates[2]);
    assert!(estimates[0].interval.is_ok());
    let refused = summary.estimate(&plan, ScoreKind::Unbounded, &Random::new(7, Some(99_999)));
    assert_eq!(
        refused.interval.clone().unwrap_err().to_string(),
        "needs 100,000 random draws; 99,999 are allowed"
    );
    assert!(refused.error.is_ok() && refused.draws.is_none());
    // The wild bootstrap compares each resample with many hypotheses, and holds it.
    let wild: ErrorPlan = self::plan(r#"{"interval": "wild", "draws": 1000}"#);
    let values: Vec<f64> = (0..50).map(f64::from).collect();
    let wild_of = |most| {
        let summary = super::summary(&wild, &rows(&values, &[] as &[i64], &[] as &[i64]));
        summary.estimate(&wild, ScoreKind::Unbounded, &Random::new(7, Some(most))).interval
    };
    assert!(wild_of(1_400_000).is_ok());
    assert_eq!(
        wild_of(1_399_999).unwrap_err().to_string(),
        "needs 1,400,000 random draws; 1,399,999 are allowed"
    );
    // One without spread takes none.
    let same = super::summary(&plan, &rows(&[3.0; 4], &[] as &[i64], &[] as &[i64]));
    assert_eq!(
        same.estimate(&plan, ScoreKind::Unbounded, &random).interval,
        Err(Undefined::NoSpread { n: 4 })
    );
    assert!(summary.estimate(&plan, ScoreKind::Unbounded, &random).interval.is_ok());
}

#[test]
fn skewed_scores_in_any_order_and_with_another_seed() {
    let mut values: Vec<f64> = (0..20).map(|k| 1.3_f64.powi(k)).collect();
    let default = ErrorPlan::new();
    let first = of(&default, &values);
    assert_eq!(method(&first), IntervalMethod::BootstrapT);
    values.reverse();
    values.swap(3, 11);
    assert_eq!(of(&default, &values), first);
    let summary = summary(&default, &rows(&values, &[] as &[i64], &[] as &[i64]));
    let other = summary.estimate(&default, ScoreKind::Unbounded, &Random::new(8, None));
    assert_ne!(other.interval, first.interval);
    // Not skewed, not few.
    let even: Vec<f64> = (0..20).map(f64::from).collect();
    assert_eq!(method(&of(&default, &even)), IntervalMethod::T);
    let many: Vec<f64> = (0..50).map(|k| 1.3_f64.powi(k)).collect();
    assert_eq!(method(&of(&default, &many)), IntervalMethod::T);
    assert_eq!(method(&of(&default, &many[..49])), IntervalMethod::BootstrapT);
    // A third of the resamples of nine zeros and a 17 is all zeros: no t statistic.
    let mut rare = [0.0; 10];
    rare[4] = 17.0;
    let rare = of(&default, &rare);
    assert_eq!(method(&rare), IntervalMethod::T);
    let reason = rare.notes.reason.unwrap();
    assert!(reason.contains("too many resamples without spread"), "{reason}");
    assert_eq!(rare.draws, None);
}

#[test]
fn huge_and_tiny_scores() {
    for scale in [1e300, 1e-300, 1e-320] {
        let values = [1.0, 2.0, 4.0, 6.0].map(|x| x * scale);
        let mean = of(&ErrorPlan::new(), &values);
        let plain = of(&ErrorPlan::new(), &[1.0, 2.0, 4.0, 6.0]);
        let within = if scale < 1e-310 { 1e-2 } else { 1e-12 };
        assert_close(mean.stderr().unwrap() / scale, plain.stderr().unwrap(), within);
        let by_two = clustered(r#"{"interval": "t"}"#, &values, &[1, 1, 2, 2]);
        let expected = clustered(r#"{"interval": "t"}"#, &[1.0, 2.0, 4.0, 6.0], &[1, 1, 2, 2]);
        assert_close(by_two.stderr().unwrap() / scale, expected.stderr().unwrap(), within);
        for interval in ["bootstrap", "bootstrap_t", "t"] {
            let plan = plan(&format!(r#"{{"interval": "{interval}"}}"#));
            let _ = clustered(&plan.to_string(), &values, &[1, 1, 2, 2]);
            let _ = of(&plan, &values);
        }
    }
    // The margin is beyond the largest number, the error is not.
    let wide = of(&plan(r#"{"interval": "t"}"#), &[1.7e308, -1.7e308]);
    assert!(wide.error.is_ok());
    assert_eq!(wide.interval, Err(Undefined::Overflow));
    // The sums of clusters are beyond it as well.
    let sums = clustered(r#"{"interval": "t"}"#, &[1.7e308, 1.7e308, -1.7e308, -1.7e308], &[1, 1, 2, 2]);
    assert!(sums.stderr().is_none_or(f64::is_finite), "{sums:?}");
    assert!(sums.interval.is_err());
}

#[test]
fn cluster_ids_that_are_none_name_sample_and_key() {
    let both = ErrorPlan::new().cluster("a").cluster("b");
    for missing in [Json::Null, json!([1]), json!({"x": 1})] {
        let mut rows = rows(&[1.0, 2.0, 3.0], &[1, 2, 3], &[1, 2, 3]);
        rows[1].b = missing.clone();
        assert_matches!(
            try_summary(&both, &rows).unwrap_err(),
            Error::MissingKey { key, sample, .. } | Error::ClusterId { key, sample, .. } if key == "b" && sample == "1"
        );
    }
    let mut columns = ScoreColumns::new(["s"]);
    columns.push("q1", 1).metadata("a", 1).score("s", Score::new(1.0)).unwrap();
    columns.push("q2", 1).score("s", Score::new(0.0)).unwrap();
    let set = ScoreSet::unreduced(&columns, "s").unwrap();
    let plan = ErrorPlan::new().cluster("a");
    assert_matches!(
        Summary::of("accuracy", &plan, false, &set.scores(), &[1.0, 0.0]).unwrap_err(),
        Error::MissingKey { metric, key, sample, .. } if metric == "accuracy" && key == "a" && sample == "q2"
    );
}
