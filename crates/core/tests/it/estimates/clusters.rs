//! Clustered errors by the jackknife and the bootstrap, two ways of clustering, shares: against figures that others
//! printed, and against numpy.

use errorbar_core::metrics::{All, frequency, grouped, mean};
use errorbar_core::{
    ErrorMethod, ErrorPlan, Estimate, IntervalMethod, MetricValue, Plan, Results, Score, ScoreColumns,
    StdError, Undefined, metrics,
};
use errorbar_test_support::published::Schools;

use super::figures::{BINARY, DF, GRADED, OTHER, UNBOUNDED, clusters};
use super::{assert_close, clustered, estimate, of, plan, rows};

fn by(method: &str, values: &[f64]) -> Estimate {
    clustered(&format!(r#"{{"method": "{method}", "draws": 100000}}"#), values, &clusters())
}

/// R's `survey` prints 26.335 for the replicate weights JK1 of apiclus1, with a finite population of 757 clusters.
#[test]
fn the_jackknife_of_schools() {
    let Schools { scores, districts } = Schools::read();
    let schools = clustered(r#"{"method": "jackknife"}"#, &scores, &districts);
    let error = schools.error.unwrap();
    assert_close(error.se, 26.599713722098787, 1e-14);
    assert_close(error.df, 7.504411337967325, 1e-14);
    assert_eq!((error.method, error.clusters), (ErrorMethod::Jackknife, vec![15]));
    let printed = Schools::of_finite_population(error.se);
    assert!((printed - Schools::PRINTED_JACKKNIFE).abs() < 0.0005, "{printed}");
    // n over the design effect, where no interval has an effective n of its own.
    let effect = schools.notes.design_effect.unwrap();
    assert_close(schools.notes.effective_n.unwrap(), 183.0 / effect, 1e-14);
}

/// The reference's test of its clustered error: CR1 is 0.645.
#[test]
fn twenty_numbers_in_four_clusters() {
    let values: Vec<f64> = (0..20).map(f64::from).collect();
    let ids: Vec<i64> = (0..20).map(|at| at % 4).collect();
    for (method, se) in [
        ("CR0", 0.5590169943749475),
        ("CR1", 0.6454972243679028),
        ("CR2", 0.6454972243679028),
        ("CR3", 0.7453559924999299),
        ("jackknife", 0.6454972243679028),
        ("bootstrap", 0.5590169943749475),
    ] {
        let mean = clustered(&format!(r#"{{"method": "{method}"}}"#), &values, &ids);
        let error = mean.error.unwrap();
        assert_close(error.se, se, 1e-14);
        assert_close(error.df, 3.0, 1e-14);
        // Clusters of one size need no resamples.
        assert_eq!(mean.draws, None);
        // Clusters that are more alike than samples: the error stays, with a note.
        assert!(mean.notes.design_effect.unwrap() < 1.0);
        let reason = mean.notes.reason.unwrap();
        assert!(reason.ends_with("; the clustered error is below that of independent scores"), "{reason}");
        assert!(!mean.notes.is_caution);
    }
}

/// Leaving out one cluster at a time, in numpy; and all 6,435 resamples of the eight clusters, with their chances.
#[test]
fn brute_force() {
    let binary: Vec<f64> = BINARY.iter().map(|x| f64::from(*x)).collect();
    for (values, jackknife, bootstrap) in [
        (&binary[..], 0.12151490480380601, 0.12097737520410377),
        (&GRADED, 0.11165677639715761, 0.10053579959185462),
        (&UNBOUNDED, 1.454639115611199, 1.3706059188637394),
    ] {
        let error = by("jackknife", values).error.unwrap();
        assert_close(error.se, jackknife, 1e-12);
        assert_close(error.df, DF, 1e-12);
        // 100,000 draws: a relative error of 1/√(2·100,000) = 0.22 %, for kurtosis 3.
        let drawn = by("bootstrap", values);
        let error = drawn.error.unwrap();
        assert_close(error.se, bootstrap, 0.012);
        assert_eq!((error.df, error.method.name(), error.clusters), (7.0, "bootstrap", vec![8]));
        let draws = drawn.draws.unwrap();
        assert_eq!((draws.seed, draws.count), (7, 100_000));
    }
    // The interval that `auto` takes has the degrees of freedom of the error.
    assert_eq!(by("bootstrap", &UNBOUNDED).interval.unwrap().df, Some(7.0));
}

#[test]
fn independent_scores() {
    // Σ(x − x̄)² of 1, 2, 4 is 14/3: √(14/3)/3 = 0.720, the ideal bootstrap; s/√n = √(7/9).
    let bootstrap = of(&plan(r#"{"method": "bootstrap"}"#), &[1.0, 2.0, 4.0]);
    assert_close(bootstrap.stderr().unwrap(), 0.7200822998230956, 1e-15);
    assert_eq!((bootstrap.draws, bootstrap.error.unwrap().df), (None, 2.0));
    let jackknife = of(&plan(r#"{"method": "jackknife"}"#), &[1.0, 2.0, 4.0]);
    assert_close(jackknife.stderr().unwrap(), (7.0_f64 / 9.0).sqrt(), 1e-15);
    assert_eq!(jackknife.error.unwrap().method, ErrorMethod::Jackknife);
    assert_eq!(jackknife.notes.design_effect, None);
    // Zeros and ones keep Wilson's own interval.
    let shares = [1.0, 0.0, 1.0, 1.0];
    let wilson = of(&ErrorPlan::new(), &shares).interval;
    for method in ["jackknife", "bootstrap"] {
        assert_eq!(of(&plan(&format!(r#"{{"method": "{method}"}}"#)), &shares).interval, wilson);
    }
    for method in ["jackknife", "bootstrap"] {
        let one = of(&plan(&format!(r#"{{"method": "{method}"}}"#)), &[1.0]);
        assert_eq!(one.error, Err(Undefined::TooFewScores { n: 1 }));
        let alone = clustered(&format!(r#"{{"method": "{method}"}}"#), &[1.0, 2.0], &[3, 3]);
        assert_eq!(alone.error, Err(Undefined::TooFewClusters { clusters: 1 }));
        let same = clustered(&format!(r#"{{"method": "{method}"}}"#), &[2.0; 6], &[0, 0, 0, 1, 2, 2]);
        let error = same.error.unwrap();
        assert!(error.se == 0.0 && error.degenerate);
        assert_eq!(same.interval, Err(Undefined::NoSpread { n: 6 }));
    }
}

/// V_a + V_b − V_ab, each by leaving out one at a time, or by a million resamples in numpy.
#[test]
fn two_ways() {
    let error = |method: &str| {
        let plan = plan(&format!(r#"{{"method": "{method}", "cluster": ["a", "b"], "draws": 100000}}"#));
        let mean = estimate(&plan, &rows(&UNBOUNDED, &clusters(), &OTHER));
        (mean.error.unwrap(), mean.draws)
    };
    let (jackknife, draws) = error("jackknife");
    assert_close(jackknife.se, 1.4800005472184914, 1e-12);
    assert_close(jackknife.df, 3.670042333052027, 1e-12);
    assert_eq!((jackknife.clusters, draws), (vec![8, 5], None));
    let (bootstrap, draws) = error("bootstrap");
    assert_close(bootstrap.se, 1.3401883143246265, 0.02);
    assert_eq!((bootstrap.df, draws.map(|draws| draws.count)), (4.0, Some(100_000)));
}

/// Categories 0, 1 and 2 by the fourth part of a graded score, and the clusters of both ways.
fn categories() -> ScoreColumns {
    let mut columns = ScoreColumns::new(["s"]);
    for (at, ((score, a), b)) in GRADED.iter().zip(clusters()).zip(OTHER).enumerate() {
        let category = (score * 4.0) as i64 % 3;
        // No cluster spans the halves: they are independent.
        let half = if a < 4 { "first" } else { "second" };
        let row = columns.push(at.to_string(), 1).metadata("a", a).metadata("b", b).metadata("half", half);
        row.score("s", Score::new(category)).unwrap();
    }
    columns
}

fn results(errors: &str, metrics: errorbar_core::Metrics) -> Results {
    Plan::new().metrics(metrics).errors(plan(errors)).seed(7).evaluate(&categories()).unwrap().results
}

fn shares(errors: &str) -> Vec<Estimate> {
    let results = results(errors, metrics![frequency().categories(["0", "1", "2", "3"])]);
    match &results.scores[0].metrics[0].value {
        MetricValue::Map(map) => map.values().flatten().cloned().collect(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn shares_by_every_method() {
    let two = shares(r#"{"cluster": ["a", "b"]}"#);
    for (share, se) in two.iter().zip([0.17449007308237646, 0.09288258806309727, 0.07696740696108874]) {
        let error = share.error.clone().unwrap();
        assert_close(error.se, se, 1e-12);
        assert_close(error.df, 3.670042333052027, 1e-12);
        assert_eq!((error.method.name(), error.clusters), ("CR2", vec![8, 5]));
        assert_eq!(share.notes.largest_cluster_share, Some(12.0 / 38.0));
        let iid = (share.value.clone().unwrap() * (1.0 - share.value.clone().unwrap()) / 37.0).sqrt();
        assert_close(share.notes.design_effect.unwrap(), (se / iid) * (se / iid), 1e-12);
    }
    let jackknife = shares(r#"{"cluster": "a", "method": "jackknife"}"#);
    for (share, se) in jackknife.iter().zip([0.17410988937739771, 0.11046265984946084, 0.08063146688410301]) {
        assert_close(share.stderr().unwrap(), se, 1e-12);
        assert_eq!(share.draws, None);
    }
    let bootstrap = shares(r#"{"cluster": "a", "method": "bootstrap", "draws": 100000}"#);
    for (share, se) in bootstrap.iter().zip([0.15207477535419017, 0.10513642395014469, 0.07007235480635168]) {
        assert_close(share.stderr().unwrap(), se, 0.012);
        assert_eq!(share.draws.unwrap().count, 100_000);
    }
    // A category that never occurs has no spread, whatever the method.
    for plan in [r#"{"cluster": ["a", "b"]}"#, r#"{"cluster": "a", "method": "bootstrap"}"#] {
        let absent = shares(plan).pop().unwrap();
        assert!(absent.error.unwrap().degenerate);
        assert_eq!(absent.interval.unwrap().method, IntervalMethod::Wilson);
    }
    // Independent: √(p(1−p)/n) by the bootstrap, √(p(1−p)/(n−1)) otherwise.
    let p: f64 = 15.0 / 38.0;
    let of = |method: &str| shares(&format!(r#"{{"method": "{method}"}}"#))[0].clone();
    assert_close(of("bootstrap").stderr().unwrap(), (p * (1.0 - p) / 38.0).sqrt(), 1e-14);
    assert_close(of("jackknife").stderr().unwrap(), (p * (1.0 - p) / 37.0).sqrt(), 1e-14);
    assert_eq!(of("bootstrap").interval, of("iid").interval);
}

/// The mean of groups has the errors of the groups, whatever their method.
#[test]
fn groups_by_every_method() {
    for method in ["jackknife", "bootstrap", "CR1"] {
        let errors = format!(r#"{{"cluster": "a", "method": "{method}"}}"#);
        let results = results(&errors, metrics![grouped(mean(), "half").all(All::Groups)]);
        let MetricValue::Groups(groups) = &results.scores[0].metrics[0].value else { panic!("no groups") };
        let one = |value: &MetricValue| match value {
            MetricValue::One(estimate) => estimate.clone(),
            other => panic!("{other:?}"),
        };
        let of_groups: Vec<Estimate> = groups.groups.iter().map(|group| one(&group.value)).collect();
        let all = one(&groups.all.as_ref().unwrap().value);
        let errors: Vec<StdError> = of_groups.iter().map(|group| group.error.clone().unwrap()).collect();
        assert!(errors.iter().all(|error| error.method.name() == method && error.clusters.len() == 1));
        let expected = (errors[0].se.powi(2) + errors[1].se.powi(2)).sqrt() / 2.0;
        assert_close(all.stderr().unwrap(), expected, 1e-14);
        assert_eq!(all.draws.is_some(), method == "bootstrap");
    }
}

fn ends(estimate: &Estimate) -> (f64, f64) {
    let interval = estimate.interval.clone().unwrap();
    (interval.lower, interval.upper)
}

#[track_caller]
fn assert_ends(estimate: &Estimate, expected: [f64; 2], relative: f64) {
    let (lower, upper) = ends(estimate);
    assert_close(lower, expected[0], relative);
    assert_close(upper, expected[1], relative);
}

/// All weights of five clusters, 6^5 and 2^5, and p-values inverted by bisection, in numpy.
#[test]
fn wild_clusters() {
    let binary: Vec<f64> = BINARY.iter().map(|x| f64::from(*x)).collect();
    let wild = |method: &str, level: f64, values: &[f64], ids: &[i64]| {
        let method = serde_json::Value::from(method);
        clustered(&format!(r#"{{"interval": {method}, "level": {level}, "draws": 100000}}"#), values, ids)
    };
    for (values, webb, webb_90, rademacher_90, eight) in [
        (
            &UNBOUNDED[..],
            [6.595999999964304, 10.386730450625269],
            [6.651198079300045, 10.06881083902529],
            [6.595999999992458, 10.453000000009055],
            [2.82077096875817, 10.939880940569711],
        ),
        (
            &GRADED,
            [0.363584506046036, 0.6051274198323218],
            [0.37491464415987363, 0.5835624070339527],
            [0.3677777777772808, 0.6100000000004793],
            [0.1241259795730682, 0.7066982350672073],
        ),
        (
            &binary,
            [0.40168456083607085, 0.6321101227048473],
            [0.41870741599823447, 0.6068071404509716],
            [0.39999999999964847, 0.6250000000005045],
            [0.16846460846709232, 1.0000000000064486],
        ),
    ] {
        let mean = wild("wild", 0.95, values, &OTHER);
        assert_ends(&mean, webb, 1e-9);
        // All of them: nothing is random.
        assert_eq!(mean.draws, None);
        assert_ends(&wild("wild", 0.9, values, &OTHER), webb_90, 1e-9);
        // At least 2 of 32 resamples have the statistic of the data.
        let five = wild("wild(weights=\"rademacher\")", 0.95, values, &OTHER);
        let Err(Undefined::Other(reason)) = five.interval else { panic!("{five:?}") };
        assert!(reason.contains("at least 0.06 with 5 clusters"), "{reason}");
        assert_ends(&wild("wild(weights=\"rademacher\")", 0.9, values, &OTHER), rademacher_90, 1e-9);
        assert_ends(&wild("wild(weights=\"rademacher\")", 0.95, values, &clusters()), eight, 1e-9);
    }
    // 6^8 weights in numpy, 100,000 of them here.
    let drawn = wild("wild", 0.95, &UNBOUNDED, &clusters());
    assert_ends(&drawn, [3.117163540739762, 10.946145417113053], 0.01);
    assert_eq!(drawn.draws.unwrap().count, 100_000);
    assert_eq!(drawn.error.unwrap().method.name(), "CR2");
}

#[test]
fn wild_samples_and_bounds() {
    let wild = plan(r#"{"interval": "wild"}"#);
    assert_ends(&of(&wild, &[1.0, 2.0, 4.0, 3.0, 7.5]), [0.8642315047705926, 7.360022496775561], 1e-9);
    // Three samples: 6 of 216 is below 5 %, and of two samples 6 of 36 is not.
    assert_ends(&of(&wild, &[1.0, 2.0, 4.0]), [-12.02160937670014, 16.89222051682396], 1e-9);
    assert!(matches!(of(&wild, &[1.0, 2.0]).interval, Err(Undefined::Other(_))));
    assert_eq!(of(&wild, &[2.0; 9]).interval, Err(Undefined::NoSpread { n: 9 }));
    // A bound of 97.5 % is an end of 95 %.
    let values = [1.0, 2.0, 4.0, 3.0, 7.5];
    let upper = of(&plan(r#"{"interval": "wild", "level": 0.975, "side": "upper"}"#), &values);
    assert_close(ends(&upper).1, 7.360022496775561, 1e-9);
    // Two ways of clustering, and a great offset.
    let two = plan(r#"{"interval": "wild", "cluster": ["a", "b"]}"#);
    let reason = estimate(&two, &rows(&UNBOUNDED, &clusters(), &OTHER)).interval.unwrap_err();
    assert!(matches!(&reason, Undefined::Other(text) if text.contains("two cluster keys")), "{reason}");
    let far = values.map(|x| x * 2f64.powi(-10) + 1024.0);
    let (lower, upper) = ends(&of(&wild, &far));
    assert_close((upper - lower) * 2f64.powi(10), 7.360022496775561 - 0.8642315047705926, 1e-6);
}

/// Nothing but the seed and the scores decides: not the number of threads, and not the order of the rows.
#[test]
fn random_figures_are_reproducible() {
    let values: Vec<f64> = (0..3000).map(|at| (f64::from(at) * 0.618_033_988_749_894_9).fract()).collect();
    let ids: Vec<i64> = (0..3000).map(|at| (f64::from(at).sqrt() * 9.0) as i64).collect();
    let mut reversed = rows(&values, &ids, &[] as &[i64]);
    reversed.reverse();
    for text in [
        r#"{"method": "bootstrap", "interval": "wild", "cluster": "a", "draws": 2000}"#,
        r#"{"method": "jackknife", "interval": "bca", "cluster": "a", "draws": 2000}"#,
    ] {
        let plan = plan(text);
        let on = |threads: usize, rows: &[super::Row]| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| estimate(&plan, rows))
        };
        let one = on(1, &rows(&values, &ids, &[] as &[i64]));
        assert_eq!(one, on(3, &rows(&values, &ids, &[] as &[i64])));
        assert_eq!(one, on(2, &reversed));
        assert!(one.interval.is_ok() && one.draws.is_some());
    }
}

#[test]
fn more_clusters_than_the_wild_bootstrap_takes() {
    let values: Vec<f64> = (0..100_001).map(|at| f64::from(at % 977)).collect();
    let many = of(&plan(r#"{"interval": "wild"}"#), &values);
    assert_eq!(many.interval.unwrap().method, IntervalMethod::T);
    assert!(many.notes.is_caution);
    let reason = many.notes.reason.unwrap();
    assert!(reason.contains("t in place of wild: more than 100000 samples or clusters"), "{reason}");
}

/// Sixteen passages of three samples: `passage` and `chapter` are alike, `topic` is not; `line` is unique, `lone` nearly
/// so, `page` is a number and `half` has two values.
fn passages() -> ScoreColumns {
    let mut columns = ScoreColumns::new(["s"]);
    for at in 0..48_usize {
        let passage = at / 3;
        let text = format!("p{passage}");
        let row = columns.push(at.to_string(), 1).metadata("passage", text.as_str());
        let row = row.metadata("topic", format!("t{}", at % 9)).metadata("page", passage);
        let row = row.metadata("half", if passage % 2 == 0 { "even" } else { "odd" });
        let row = row.metadata("chapter", format!("c{}", passage % 8)).metadata("line", format!("l{at}"));
        let row = row.metadata("lone", if at < 7 { "none".to_owned() } else { format!("l{at}") });
        let row = row.metadata("list", serde_json::json!([passage]));
        let row = if at > 0 { row.metadata("partial", text) } else { row };
        row.score("s", Score::new((passage % 2) as f64)).unwrap();
    }
    columns
}

#[test]
fn a_key_that_samples_should_be_clustered_by() {
    let columns = passages();
    let found = Plan::new().unused_cluster(&columns).unwrap();
    // Of the two keys the finer one; lists, gaps, single values, numbers and halves are none.
    assert_eq!((found.key.as_str(), found.clusters), ("passage", 16));
    assert_eq!((found.scorer.as_str(), found.metric.as_str()), ("s", "accuracy"));
    // p = ½ of 48: √(¼/47). Cluster sums ±1.5 of 16 clusters: √(16/15 · 16·2.25/48²).
    assert_close(found.stderr, (0.25_f64 / 47.0).sqrt(), 1e-14);
    assert_close(found.clustered_stderr, (1.0_f64 / 60.0).sqrt(), 1e-14);
    assert_close(found.design_effect, (1.0 / 60.0) / (0.25 / 47.0), 1e-13);
    // Used keys, and plans that have decided.
    let with = |errors: &str, metrics: errorbar_core::Metrics| {
        let found = Plan::new().metrics(metrics).errors(plan(errors)).unused_cluster(&columns);
        found.map(|found| found.key)
    };
    assert_eq!(with("{}", metrics![mean()]).as_deref(), Some("passage"));
    assert_eq!(with(r#"{"method": "jackknife"}"#, metrics![mean()]).as_deref(), Some("passage"));
    let by_passage = metrics![mean(), grouped(mean(), "passage")];
    assert_eq!(with("{}", by_passage).as_deref(), Some("chapter"));
    assert_eq!(with(r#"{"cluster": "topic"}"#, metrics![mean()]), None);
    assert_eq!(with(r#"{"method": "iid"}"#, metrics![mean()]), None);
    let clustered = metrics![mean(), errorbar_core::metrics::stderr().cluster("topic")];
    assert_eq!(with("{}", clustered), None);
    // There is no mean that could be clustered.
    assert_eq!(with("{}", metrics![frequency()]), None);
    assert_eq!(Plan::new().unused_cluster(&ScoreColumns::new(["s"])), None);
}
