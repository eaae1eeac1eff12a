//! Means over groups: weights, clusters that span groups, simultaneous intervals, shrinkage.

use errorbar_core::metrics::{
    All, GroupWeights, Grouped, accuracy, bootstrap, filtered, grouped, mean, median, quantile, std, stderr,
};
use errorbar_core::{
    Error, ErrorMethod, ErrorPlan, Estimate, IntervalMethod, Metric, MetricValue, Plan, Registry, Score,
    ScoreColumns, ScoreSet, Scores, Undefined, metric_fn, metrics,
};
use errorbar_test_support::assert_matches;
use errorbar_test_support::published::assert_close;

/// A score, its group `g`, its cluster `c` and a weight `w`.
type Row = (f64, &'static str, i64, f64);

fn columns(rows: &[Row]) -> ScoreColumns {
    let mut columns = ScoreColumns::new(["s"]);
    for (at, (score, group, cluster, weight)) in rows.iter().enumerate() {
        let row = columns.push(at.to_string(), 1).metadata("g", *group).metadata("c", *cluster);
        row.metadata("w", *weight).score("s", Score::new(*score)).unwrap();
    }
    columns
}

/// Twelve scores in three groups; the four clusters span them.
const SPANNING: [Row; 12] = [
    (1.0, "a", 0, 1.0),
    (0.0, "a", 0, 1.0),
    (1.0, "a", 1, 1.0),
    (1.0, "a", 2, 1.0),
    (0.0, "b", 0, 2.0),
    (1.0, "b", 1, 2.0),
    (0.0, "b", 2, 2.0),
    (1.0, "c", 1, 3.0),
    (1.0, "c", 3, 3.0),
    (0.0, "c", 3, 3.0),
    (0.0, "c", 0, 3.0),
    (1.0, "c", 2, 3.0),
];

fn macro_mean() -> Grouped {
    grouped(mean(), "g").all(All::Groups)
}

fn computed(rows: &[Row], metric: Grouped, errors: &str) -> MetricValue {
    let columns = columns(rows);
    let plan = Plan::new().metrics(metrics![metric]).errors(errors.parse().unwrap());
    let results = plan.evaluate(&columns).unwrap().results;
    assert_eq!(results.scores[0].failures, []);
    results.scores[0].metrics[0].value.clone()
}

fn all(value: &MetricValue) -> &Estimate {
    value.get("all").unwrap()
}

fn failure(rows: &[Row], metric: Grouped) -> Error {
    let plan = Plan::new().metrics(metrics![metric]);
    let results = plan.evaluate(&columns(rows)).unwrap().results;
    results.scores[0].failures[0].error.clone()
}

#[test]
fn the_error_of_a_mean_of_groups_is_not_the_mean_of_errors() {
    // {1, 1, 4} has the error 1 and {2, 6} the error 2: √(1 + 4)/2.
    let rows =
        [1.0, 1.0, 4.0].map(|x| (x, "a", 0, 1.0)).into_iter().chain([2.0, 6.0].map(|x| (x, "b", 0, 1.0)));
    let value = computed(&rows.collect::<Vec<_>>(), macro_mean(), "{}");
    assert_eq!(all(&value).number(), Some(3.0));
    assert_close(all(&value).stderr().unwrap(), 1.118033988749895, 1e-15);
    assert_eq!(all(&value).error.as_ref().unwrap().method, ErrorMethod::Macro);
}

/// Figures of a regression on group dummies, by statsmodels (CR0) and by matrices.
#[test]
fn clusters_that_span_groups_bring_their_covariance() {
    let weights = || GroupWeights::from([("a", 1.0), ("b", 2.0), ("c", 3.0)]);
    for (metric, mean, figures, df) in [
        (
            macro_mean(),
            0.5611111111111111,
            [0.17075736040266978, 0.19717361598918268, 0.2085161698318577, 0.22225694173219465],
            2.4903798980306044,
        ),
        (
            macro_mean().weights(weights()),
            0.5361111111111111,
            [0.17311956339608958, 0.1999012530574456, 0.20659477239700996, 0.2147080274163894],
            2.9393979137623014,
        ),
    ] {
        for (method, expected) in ["CR0", "CR1", "CR2", "jackknife"].into_iter().zip(figures) {
            let errors = format!(r#"{{"cluster": "c", "method": "{method}"}}"#);
            let value = computed(&SPANNING, metric.clone(), &errors);
            let estimate = all(&value);
            assert_close(estimate.number().unwrap(), mean, 1e-14);
            assert_close(estimate.stderr().unwrap(), expected, 1e-13);
            let error = estimate.error.as_ref().unwrap();
            assert_eq!((error.method, error.clusters.as_slice()), (ErrorMethod::Macro, [4].as_slice()));
            assert_close(error.df, if matches!(method, "CR0" | "CR1") { 3.0 } else { df }, 1e-12);
            assert!(estimate.notes.clusters_span_groups);
        }
    }
    // Exact: all 4⁴ resamples of the clusters, but for those that leave a group without a score.
    let value =
        computed(&SPANNING, macro_mean(), r#"{"cluster": "c", "method": "bootstrap", "draws": 40000}"#);
    let estimate = all(&value);
    assert_eq!(estimate.draws.map(|draws| draws.count), Some(40_000));
    assert!((estimate.stderr().unwrap() - BOOTSTRAP).abs() < 0.005, "{:?}", estimate.stderr());
}

/// By numpy.
const BOOTSTRAP: f64 = 0.17831810840301576;

/// Clusters within groups: the groups are independent, and the errors of groups are all there is.
#[test]
fn clusters_within_groups_do_not() {
    let mut rows = SPANNING;
    rows.iter_mut().for_each(|row| row.2 += 10 * i64::from(row.1.as_bytes()[0]));
    let value = computed(&rows, macro_mean(), r#"{"cluster": "c"}"#);
    let square = |group: &str| value.get(group).unwrap().stderr().unwrap().powi(2);
    let expected = (square("a") + square("b") + square("c")).sqrt() / 3.0;
    assert_close(all(&value).stderr().unwrap(), expected, 1e-14);
    assert!(!all(&value).notes.custom.contains_key("clusters"));
}

#[test]
fn weights_are_named_or_in_metadata() {
    let named = macro_mean().weights([("a", 2.0), ("b", 4.0), ("c", 6.0)]);
    let by_name = computed(&SPANNING, named, "{}");
    let by_key = computed(&SPANNING, macro_mean().weights("w"), "{}");
    assert_eq!(all(&by_name).number(), all(&by_key).number());
    // (1·3/4 + 2·1/3 + 3·3/5)/6; the errors are ¼, ⅓ and √(0.3/5).
    assert_close(all(&by_key).number().unwrap(), (0.75 + 2.0 / 3.0 + 1.8) / 6.0, 1e-15);
    let expected = (0.0625_f64 + 4.0 / 9.0 + 9.0 * 0.06).sqrt() / 6.0;
    assert_close(all(&by_key).stderr().unwrap(), expected, 1e-14);
    assert_close(all(&by_name).stderr().unwrap(), expected, 1e-14);
    // A group without weight does not count, and need not have an error.
    let value = computed(
        &[SPANNING[0], SPANNING[2], SPANNING[4]],
        macro_mean().weights([("a", 1.0), ("b", 0.0)]),
        "{}",
    );
    assert_eq!((all(&value).number(), all(&value).stderr()), (Some(1.0), Some(0.0)));
}

#[test]
fn weights_that_make_no_sense_are_refused() {
    let registry = Registry::built_in();
    for spec in [
        r#"grouped(mean(), "g", weights={"a": 1})"#,
        r#"grouped(mean(), "g", all="groups", weights={"a": -1})"#,
        r#"grouped(mean(), "g", all="groups", weights={"a": 0})"#,
        r#"grouped(mean(), "g", all="groups", weights={"a": "much"})"#,
        r#"grouped(mean(), "g", all="groups", weights=3)"#,
        r#"grouped(stderr(), "g", simultaneous=true)"#,
        r#"grouped(std(), "g", simultaneous=true)"#,
        r#"grouped(grouped(mean(), "c"), "g", simultaneous=true)"#,
        r#"grouped(stderr(), "g", shrink=true)"#,
    ] {
        let error = registry.metric(&spec.parse().unwrap()).unwrap_err();
        assert!(matches!(error, Error::Argument { .. }), "{spec}: {error}");
    }
    assert!(matches!(failure(&SPANNING, macro_mean().weights([("a", 1.0)])), Error::Undefined { .. }));
    assert!(matches!(failure(&SPANNING, macro_mean().weights("other")), Error::MissingKey { .. }));
    let mut rows = SPANNING;
    rows[3].3 = 5.0;
    let error = failure(&rows, macro_mean().weights("w"));
    assert_eq!(
        error.to_string(),
        "grouped: the samples \"0\" and \"3\" of the group \"a\" have different weights; a group has one weight"
    );
}

#[test]
fn a_group_of_one_score_leaves_the_mean_without_an_error() {
    let value = computed(&SPANNING[..5], macro_mean(), "{}");
    let reason = Undefined::Other("a group has only one score".to_owned());
    assert_eq!(all(&value).error, Err(reason));
    assert_eq!(all(&value).number(), Some(0.375));
}

/// Each of three intervals at 0.95^(1/3): 98.3048 %.
#[test]
fn simultaneous_intervals_are_wider() {
    let together = computed(&SPANNING, macro_mean().simultaneous(true), "{}");
    let alone = computed(&SPANNING, macro_mean(), r#"{"level": 0.9830475724915585}"#);
    for group in ["a", "b", "c"] {
        let (got, expected) = (together.get(group).unwrap(), alone.get(group).unwrap());
        let (got_interval, expected) = (got.interval.as_ref().unwrap(), expected.interval.as_ref().unwrap());
        assert_close(got_interval.lower, expected.lower, 1e-12);
        assert_close(got_interval.upper, expected.upper, 1e-12);
        assert_eq!(got_interval.level, 0.95);
        assert_eq!(got.notes.custom["interval"], "simultaneous over 3 groups (Šidák, each 98.3048 %)");
    }
    // The mean of the groups is one figure.
    let plain = computed(&SPANNING, macro_mean(), "{}");
    assert_eq!(all(&together).interval, all(&plain).interval);
    let bounds = computed(&SPANNING, macro_mean().simultaneous(true), r#"{"side": "upper"}"#);
    let alone = computed(&SPANNING, macro_mean(), r#"{"side": "upper", "level": 0.98333333333333333}"#);
    let upper = |value: &MetricValue| value.get("b").unwrap().interval.as_ref().unwrap().upper;
    assert_close(upper(&bounds), upper(&alone), 1e-12);
}

/// Metrics that are not computed from a summary: the same metric under a plan of that level.
#[test]
fn simultaneous_intervals_of_any_metric() {
    let rows: Vec<Row> = (0..40)
        .map(|at| (f64::from(at * at % 37) + 0.5, if at % 2 == 0 { "a" } else { "b" }, i64::from(at), 1.0))
        .collect();
    let level = 0.95_f64.sqrt();
    let alone = format!(r#"{{"level": {level}}}"#);
    for (metric, method) in [
        (grouped(median(), "g"), IntervalMethod::OrderStatistics),
        (grouped(quantile(0.25), "g"), IntervalMethod::OrderStatistics),
        (grouped(bootstrap(std()).num_samples(500_usize), "g"), IntervalMethod::Bootstrap),
    ] {
        let together = computed(&rows, metric.clone().simultaneous(true), "{}");
        let (alone, plain) = (computed(&rows, metric.clone(), &alone), computed(&rows, metric, "{}"));
        for group in ["a", "b"] {
            let of = |value: &MetricValue| value.get(group).unwrap().interval.clone().unwrap();
            let (got, expected, plain) = (of(&together), of(&alone), of(&plain));
            assert_eq!((got.lower, got.upper, got.level), (expected.lower, expected.upper, 0.95));
            assert_eq!(got.method, method);
            assert!(got.upper - got.lower >= plain.upper - plain.lower);
        }
    }
    // Five scores reach 93.75 % with the median: no interval, rather than one of another method.
    let few = computed(&rows[..10], grouped(median(), "g").simultaneous(true), "{}");
    assert_matches!(&few.get("a").unwrap().interval, Err(Undefined::Other(_)));
    assert!(
        Registry::built_in().metric(&r#"grouped(auroc(), "g", simultaneous=true)"#.parse().unwrap()).is_ok()
    );
}

/// A metric with an error and no interval of its own: that of its error. The range of scores is none of it.
#[test]
fn simultaneous_intervals_of_custom_metrics() {
    let rows: Vec<Row> = (0..8).map(|at| (1.0, if at < 4 { "a" } else { "b" }, 0, 1.0)).collect();
    let bound = |side: &str, range: &str| {
        let errors = format!(r#"{{"side": "{side}"{range}}}"#);
        let total = |scores: &Scores<'_>| Ok(Estimate::new(scores.len() as f64).with_stderr(0.5));
        let value = computed(&rows, grouped(metric_fn("total", total), "g").simultaneous(true), &errors);
        value.get("a").unwrap().interval.clone().unwrap()
    };
    // Bonferroni: 0.975 each, so 4 ± 1.96 · 0.5.
    let (upper, lower) = (bound("upper", r#", "range": [0, 1]"#), bound("lower", r#", "range": [0, 1]"#));
    assert_close(upper.upper, 4.0 + 0.5 * 1.959963984540054, 1e-12);
    assert_eq!((upper.lower, lower.upper), (f64::NEG_INFINITY, f64::INFINITY));
    assert_eq!((upper, lower), (bound("upper", ""), bound("lower", "")));
}

/// Four groups of four scores, one of them all right: its variance is that of the others.
#[test]
fn shrunken_groups_are_closer_to_each_other() {
    let means = [("a", 1), ("b", 2), ("c", 4), ("d", 3)];
    let rows = means
        .into_iter()
        .flat_map(|(group, right)| (0..4).map(move |at| (f64::from(u8::from(at < right)), group, 0, 1.0)));
    let rows: Vec<Row> = rows.collect();
    let raw = computed(&rows, macro_mean(), "{}");
    let shrunken = computed(&rows, macro_mean().shrink(true), "{}");
    // s² is 1/16, 1/12, the mean of all others 5/72, and 1/16; Σ (y − μ)²/s² = 5.3 is above 3, so τ² is not 0.
    for (group, right) in means {
        let (raw, shrunken) = (raw.get(group).unwrap(), shrunken.get(group).unwrap());
        let (from, to) = (raw.number().unwrap(), shrunken.number().unwrap());
        assert_eq!(from, f64::from(right) / 4.0);
        assert_eq!(shrunken.notes.custom["raw"], from);
        let share = shrunken.notes.custom["shrunken_by"].as_f64().unwrap();
        assert!(share > 0.0 && share < 1.0, "{share}");
        assert!((to - 0.62).abs() < (from - 0.62).abs(), "{group}: {from} to {to}");
        let interval = shrunken.interval.as_ref().unwrap();
        assert!(interval.lower < to && to < interval.upper && interval.upper <= 1.0 && interval.lower >= 0.0);
        assert_eq!(shrunken.n, 4);
    }
    // No error that is 0, though all scores of the group are equal.
    assert_eq!(raw.get("c").unwrap().stderr(), Some(0.0));
    assert!(shrunken.get("c").unwrap().stderr().unwrap() > 0.1);
    assert_eq!(all(&raw), all(&shrunken));
    let notes = |value: &MetricValue, group: &str| value.get(group).unwrap().notes.clone();
    assert!(notes(&shrunken, "a").custom.contains_key("raw_stderr"));
    assert!(!notes(&shrunken, "c").custom.contains_key("raw_stderr"), "0 says nothing");
    // The interval has its own name, and says that it is not the one of the plan.
    assert_eq!(shrunken.get("a").unwrap().interval.as_ref().unwrap().method.name(), "empirical_bayes");
    assert!(!notes(&shrunken, "a").is_caution);
    let other = notes(&computed(&rows, macro_mean().shrink(true), r#"{"interval": "bca"}"#), "a");
    assert!(other.is_caution && other.reason.unwrap().starts_with("empirical_bayes in place of bca"));
    // Two groups cannot tell how much groups differ.
    let two = computed(&rows[..8], macro_mean().shrink(true), "{}");
    assert_eq!(two.get("a").unwrap().number(), Some(0.25));
    assert_eq!(two.get("a").unwrap().notes.custom["shrinkage"], "not done: it takes 3 groups with errors");
}

/// How far a group is shrunken depends on its error, also where only numbers are wanted.
#[test]
fn numbers_alone_are_those_that_have_errors() {
    let columns = columns(&SPANNING);
    for (metric, has_error) in [(macro_mean(), false), (macro_mean().shrink(true), true)] {
        let set = || ScoreSet::unreduced(&columns, "s").unwrap();
        let whole = metric.compute(&set().scores()).unwrap();
        let alone = metric.compute(&set().values_only().scores()).unwrap();
        for group in ["a", "b", "c", "all"] {
            assert_eq!(alone.get(group).unwrap().number(), whole.get(group).unwrap().number(), "{group}");
        }
        assert!(whole.get("a").unwrap().error.is_ok());
        assert_eq!(alone.get("a").unwrap().error.is_ok(), has_error);
    }
    let nothing = ScoreColumns::new(["s"]);
    let set = ScoreSet::unreduced(&nothing, "s").unwrap().values_only();
    assert_eq!(mean().compute(&set.scores()).unwrap().estimate().unwrap().value, Err(Undefined::NoScores));
}

/// Quantiles lie among the scores too.
#[test]
fn shrunken_medians_stay_within_the_scores() {
    let right = [("a", 2), ("b", 3), ("c", 5), ("d", 4)];
    let rows = right
        .into_iter()
        .flat_map(|(group, right)| (0..6).map(move |at| (if at < right { 1.0 } else { 0.1 }, group, 0, 1.0)));
    let rows: Vec<Row> = rows.collect();
    let value = computed(&rows, grouped(median(), "g").shrink(true), "{}");
    for group in ["a", "b", "c", "d"] {
        let interval = value.get(group).unwrap().interval.as_ref().unwrap();
        assert_eq!(interval.method, IntervalMethod::EmpiricalBayes);
        assert!(interval.lower >= 0.0 && interval.upper <= 1.0, "{group}: {interval:?}");
    }
}

/// A range that scores lie outside of bounds nothing.
#[test]
fn shrunken_groups_outside_the_range() {
    let row = |at: i32| (f64::from(18 + at), ["a", "b", "c"][at as usize % 3], 0, 1.0);
    let rows: Vec<Row> = (0..13).map(row).collect();
    for (side, is_open) in [("two-sided", false), ("lower", true)] {
        let errors = format!(r#"{{"range": [0, 10], "side": "{side}"}}"#);
        let shrunken = computed(&rows, macro_mean().shrink(true), &errors);
        for group in ["a", "b", "c"] {
            let estimate = shrunken.get(group).unwrap();
            let (value, interval) = (estimate.number().unwrap(), estimate.interval.as_ref().unwrap());
            assert!(interval.lower < value && value < interval.upper, "{interval:?}");
            assert_eq!(interval.upper == f64::INFINITY, is_open, "{interval:?}");
        }
    }
}

/// Numbers whose squares no float has: the groups stay as they are.
#[test]
fn groups_that_cannot_be_shrunken() {
    let row = |at: i32| (f64::from(at % 5), ["a", "b", "c"][at as usize % 3], 0, 1.0);
    let mut far: Vec<Row> = (0..12).map(row).collect();
    far.push((1e300, "d", 0, 1.0));
    let small: Vec<Row> = (0..12).map(row).map(|(score, g, c, w)| (score * 1e-201, g, c, w)).collect();
    for rows in [far, small] {
        let (raw, shrunken) =
            (computed(&rows, macro_mean(), "{}"), computed(&rows, macro_mean().shrink(true), "{}"));
        for group in ["a", "b", "c"] {
            let (raw, shrunken) = (raw.get(group).unwrap(), shrunken.get(group).unwrap());
            assert_eq!((&shrunken.value, &shrunken.error), (&raw.value, &raw.error));
            assert!(shrunken.notes.custom["shrinkage"].as_str().unwrap().starts_with("not done"));
        }
    }
}

/// A condition takes a part of the samples, as a group does: both have the share of a population that all have.
#[test]
fn samples_of_a_condition_have_the_share_of_the_whole() {
    let row = |at: i64| ((at % 7 % 2) as f64, if at < 10 { "a" } else { "b" }, 0, 1.0);
    let columns = columns(&(0..30).map(row).collect::<Vec<Row>>());
    let plan = Plan::new().metrics(metrics![grouped(mean(), "g"), filtered(mean(), "g=a")]);
    let with = |errors: &str| {
        let results = plan.clone().errors(errors.parse().unwrap()).evaluate(&columns).unwrap().results;
        let errors =
            results.rows().into_iter().filter(|row| row.group == Some("a")).map(|row| row.estimate.stderr());
        errors.collect::<Option<Vec<f64>>>().unwrap()
    };
    let (all, some) = (with("{}"), with(r#"{"population": 60}"#));
    assert_eq!((some.len(), some[0]), (2, some[1]));
    assert_close(some[0], all[0] * 0.5_f64.sqrt(), 1e-15);
}

#[test]
fn the_order_of_scores_is_that_of_groups_and_nothing_else() {
    let metric = macro_mean().weights("w").simultaneous(true).shrink(true);
    let of = |rows: &[Row]| {
        let columns = columns(rows);
        let set = ScoreSet::unreduced(&columns, "s").unwrap().with_errors(ErrorPlan::new().cluster("c"));
        metric.compute(&set.scores())
    };
    let whole = of(&SPANNING).unwrap();
    let mut reversed = SPANNING;
    reversed.reverse();
    let backwards = of(&reversed).unwrap();
    for group in ["a", "b", "c", "all"] {
        assert_eq!(backwards.get(group), whole.get(group));
    }
    let mut other = SPANNING;
    other[1].3 += 1.0;
    assert!(of(&other).is_err(), "a group has one weight");
}

/// What the reference has is recorded as its own; with an argument of ours it is ours.
#[test]
fn arguments_of_ours_make_it_ours() {
    use errorbar_core::ToSpec;
    assert_eq!(grouped(accuracy(), "g").spec().recorded_name(), "grouped");
    let spec = macro_mean().weights([("a", 1.0)]).spec();
    assert_eq!(spec.recorded_name(), "errorbar/grouped");
    assert_eq!(Registry::built_in().metric(&spec).unwrap().spec(), spec);
    assert_eq!(spec.to_string().parse(), Ok(spec));
    assert!(grouped(stderr(), "g").spec().to_string().contains("stderr"));
}
