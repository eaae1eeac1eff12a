//! Which error and which interval stand in the row of an estimate.

use errorbar_core::metrics::{
    All, accuracy, aggregate, bootstrap_stderr, ci, ci_wilson, frequency, grouped, mean, std, stderr,
};
use errorbar_core::{
    ClusterVariance, Error, ErrorMethod, ErrorPlan, Estimate, EstimateRow, Evaluation, Interval,
    IntervalMethod, MetricValue, Metrics, Plan, Reducers, Score, ScoreColumns, Undefined, Value, metric_fn,
    metrics, value_to_float,
};
use errorbar_test_support::assert_matches;

/// Eight scores of the scorer `s` in four clusters `c` and two groups `g`.
fn columns<V: Into<Value> + Copy>(scores: [V; 8]) -> ScoreColumns {
    let mut columns = ScoreColumns::new(["s"]);
    for (at, score) in scores.into_iter().enumerate() {
        let row = columns.push(at.to_string(), 1).metadata("c", (at / 2).to_string());
        row.metadata("g", if at < 4 { "a" } else { "b" }).score("s", Score::new(score)).unwrap();
    }
    columns
}

const GRADES: [i64; 8] = [1, 1, 0, 0, 1, 0, 1, 1];

fn evaluated(columns: &ScoreColumns, metrics: Metrics, errors: ErrorPlan) -> Evaluation {
    Plan::new().metrics(metrics).errors(errors).evaluate(columns).unwrap()
}

fn of_grades(metrics: Metrics) -> Evaluation {
    evaluated(&columns(GRADES), metrics, ErrorPlan::new())
}

fn method(row: &EstimateRow<'_>) -> ErrorMethod {
    row.estimate.error.as_ref().unwrap().method
}

fn names<'r>(rows: &'r [EstimateRow<'_>]) -> Vec<&'r str> {
    rows.iter().map(|row| row.metric).collect()
}

fn interval(estimate: &Estimate) -> &Interval {
    estimate.interval.as_ref().unwrap()
}

#[test]
fn a_location_brings_its_own_error_bar() {
    let evaluation = of_grades(metrics![accuracy()]);
    let rows = evaluation.results.rows();
    assert_eq!(names(&rows), ["accuracy"]);
    let estimate = &rows[0].estimate;
    // 5 of 8: s² = 8/7 · 5/8 · 3/8, so the error is √(15/56/8).
    assert!((estimate.stderr().unwrap() - (15.0f64 / 56.0 / 8.0).sqrt()).abs() < 1e-16);
    assert_eq!((method(&rows[0]), estimate.error.as_ref().unwrap().df), (ErrorMethod::Iid, 7.0));
    // Wilson for 5 of 8 with z = 1.959964: 0.3057, 0.8632.
    let Interval { lower, upper, level, method, .. } = interval(estimate);
    assert_eq!((format!("{lower:.4}"), format!("{upper:.4}")), ("0.3057".into(), "0.8632".into()));
    assert_eq!((*level, *method), (0.95, IntervalMethod::Wilson));
}

#[test]
fn an_error_of_the_metrics_beats_that_of_the_plan() {
    let evaluation = of_grades(metrics![accuracy(), stderr().cluster("c"), ci().level(0.9)]);
    let rows = evaluation.results.rows();
    assert_eq!(names(&rows), ["accuracy"], "error and interval are in the row");
    assert_eq!(method(&rows[0]), ErrorMethod::Cluster(ClusterVariance::Cr1));
    assert_eq!(rows[0].estimate.error.as_ref().unwrap().clusters, [4]);
    assert_eq!(rows[0].error_metric.unwrap().spec.to_string(), r#"stderr(cluster="c")"#);
    let shown = interval(&rows[0].estimate);
    assert_eq!((shown.level, shown.method, shown.df), (0.9, IntervalMethod::T, Some(7.0)));
    // Without an interval among the metrics the plan fills it in, on the clusters of the error.
    let evaluation = of_grades(metrics![accuracy(), stderr().cluster("c")]);
    let rows = evaluation.results.rows();
    let estimate = &rows[0].estimate;
    assert_eq!(interval(estimate).method, IntervalMethod::Wilson);
    assert!(estimate.notes.effective_n.unwrap() < 8.0, "{:?}", estimate.notes);
    assert_eq!(interval(estimate).df, Some(3.0), "four clusters of one size");
}

#[test]
fn of_several_errors_the_first_is_in_the_row() {
    let evaluation = of_grades(metrics![accuracy(), stderr(), bootstrap_stderr(), stderr().cluster("c")]);
    let rows = evaluation.results.rows();
    assert_eq!(names(&rows), ["accuracy", "bootstrap_stderr", "stderr"]);
    assert_eq!(method(&rows[0]), ErrorMethod::Iid);
    assert_eq!(rows[1].estimate.error, Err(Undefined::NotAvailable), "the error of an error");
    assert!(rows[2].estimate.number().unwrap() > 0.0);
}

#[test]
fn options_win_in_the_row_and_lose_nothing() {
    let metrics = metrics![accuracy(), stderr(), ci_wilson()];
    let evaluation = evaluated(&columns(GRADES), metrics.clone(), ErrorPlan::new().cluster("c"));
    let rows = evaluation.results.rows();
    assert_eq!(names(&rows), ["accuracy"], "stderr and ci_wilson are rows of their own");
    assert_eq!(method(&rows[0]), ErrorMethod::Cluster(ClusterVariance::Cr2));
    let specific = metrics![accuracy(), stderr().cluster("g"), ci_wilson().level(0.8)];
    let evaluation = evaluated(&columns(GRADES), specific, ErrorPlan::new().cluster("c"));
    assert_eq!(names(&evaluation.results.rows()), ["accuracy", "stderr", "ci_wilson"]);
    let mut level = ErrorPlan::new();
    level.level = Some(0.8);
    let evaluation = evaluated(&columns(GRADES), metrics, level);
    let rows = evaluation.results.rows();
    assert_eq!(names(&rows), ["accuracy"]);
    assert_eq!(rows[0].error_metric.unwrap().metric, "stderr", "a level says nothing about the error");
    assert_eq!(interval(&rows[0].estimate).level, 0.8);
}

#[test]
fn errors_of_other_numbers_stay_apart() {
    let graded = value_to_float().correct(0);
    let evaluation = of_grades(metrics![mean(), stderr().to_float(graded.clone()), std()]);
    let rows = evaluation.results.rows();
    assert_eq!(names(&rows), ["mean", "stderr", "std"]);
    assert_eq!(method(&rows[0]), ErrorMethod::Iid);
    let evaluation = of_grades(metrics![mean().to_float(graded.clone()), stderr().to_float(graded)]);
    assert_eq!(names(&evaluation.results.rows()), ["mean"]);
    // A field of maps is another number than the map.
    let mut fields = ScoreColumns::new(["s"]);
    for (id, value) in [("1", 0.5), ("2", 0.25), ("3", 1.0)] {
        let map = Value::map([("x", value), ("y", 0.0)]);
        fields.push(id, 1).score("s", Score::new(map)).unwrap();
    }
    let metrics = metrics![aggregate("x", mean()), aggregate("y", stderr()), aggregate("x", stderr())];
    let evaluation = evaluated(&fields, metrics, ErrorPlan::new());
    let rows = evaluation.results.rows();
    assert_eq!(names(&rows), ["mean", "stderr"]);
    assert_eq!((rows[0].field, rows[1].field), (Some("x"), Some("y")));
    assert_eq!(rows[0].error_metric.unwrap().spec.name, "aggregate");
}

#[test]
fn groups_have_their_errors_and_the_mean_of_groups_its_own() {
    let evaluation =
        of_grades(metrics![grouped(accuracy(), "g"), grouped(stderr().cluster("c"), "g"), stderr()]);
    let rows = evaluation.results.rows();
    let of: Vec<(Option<&str>, ErrorMethod)> = rows[..3].iter().map(|row| (row.group, method(row))).collect();
    let clustered = ErrorMethod::Cluster(ClusterVariance::Cr1);
    // The error of all samples is there twice, in two ways; the first is in the row, the other has its own row.
    assert_eq!(of, [(Some("a"), clustered), (Some("b"), clustered), (None, clustered)]);
    assert_eq!(names(&rows)[3..], ["stderr"]);
    // In the same way, it is there once.
    let evaluation = of_grades(metrics![accuracy(), stderr(), grouped(stderr(), "g")]);
    let rows = evaluation.results.rows();
    let groups: Vec<_> = rows.iter().map(|row| (row.metric, row.group)).collect();
    assert_eq!(groups, [("accuracy", None), ("stderr", Some("a")), ("stderr", Some("b"))]);

    let metrics =
        metrics![grouped(accuracy(), "g").all(All::Groups), grouped(stderr(), "g").all(All::Groups)];
    let evaluation = of_grades(metrics);
    let rows = evaluation.results.rows();
    // √(SE_a² + SE_b²)/2 with SE² = 1/12 and 1/16; the mean of the two errors is no error of the mean.
    let of_groups = &rows[2];
    assert!(of_groups.is_mean_of_groups() && method(of_groups) == ErrorMethod::Macro);
    assert!((of_groups.estimate.stderr().unwrap() - (1.0f64 / 12.0 + 1.0 / 16.0).sqrt() / 2.0).abs() < 1e-15);
    assert_eq!((names(&rows)[3], rows.len()), ("stderr", 4));
}

#[test]
fn groups_without_a_score_are_there() {
    let mut columns = columns(GRADES);
    columns.push("8", 1).metadata("g", "c").metadata("c", "4").errored();
    columns.push("9", 1).metadata("g", "a").metadata("c", "4").errored();
    let evaluation =
        evaluated(&columns, metrics![grouped(accuracy(), "g").all(All::Groups)], ErrorPlan::new());
    let rows = evaluation.results.rows();
    let of = |row: &EstimateRow<'_>| (row.group.map(str::to_owned), row.estimate.n, row.estimate.absent);
    let name = |name: &str| Some(name.to_owned());
    let all: Vec<_> = rows.iter().map(of).collect();
    // The bounds of the mean count the group without a score, and so do its absent samples.
    assert_eq!(all, [(name("a"), 4, 1), (name("b"), 4, 0), (name("c"), 0, 1), (None, 8, 2)]);
    assert_eq!(rows[2].estimate.value, Err(Undefined::NoScores));
    assert_eq!(rows[3].estimate.number(), Some(0.625), "the mean of the two that have scores");
    // Two of four right; with the absent one wrong 2/5, right 3/5.
    let bounds = rows[0].estimate.bounds.unwrap();
    assert_eq!((bounds.worst, bounds.best, bounds.absent_as_wrong), (0.4, 0.6, 0.4));
}

#[test]
fn whether_scores_are_binary_depends_on_all_of_them() {
    // The group a has nothing but zeros and ones, but the scorer gives halves as well.
    let graded = columns([1.0, 1.0, 0.0, 1.0, 0.5, 0.5, 1.0, 0.5]);
    let evaluation = evaluated(&graded, metrics![grouped(mean(), "g")], ErrorPlan::new());
    let rows = evaluation.results.rows();
    assert_eq!(interval(&rows[0].estimate).df, Some(3.0), "on the effective n, with t");
    let evaluation = of_grades(metrics![grouped(mean(), "g")]);
    assert_eq!(interval(&evaluation.results.rows()[0].estimate).df, None, "plain, with z");
}

#[test]
fn epochs_of_a_sample_belong_together_unless_they_are_reduced() {
    let mut columns = ScoreColumns::new(["s"]);
    for (id, value) in [("1", "A"), ("2", "A"), ("3", "B"), ("4", "A")] {
        for epoch in 1..=3 {
            columns.push(id, epoch).score("s", Score::new(value)).unwrap();
        }
    }
    let plan = Plan::new().metrics(metrics![frequency()]);
    let evaluation = plan.evaluate(&columns).unwrap();
    let rows = evaluation.results.rows();
    let error = rows[0].estimate.error.as_ref().unwrap();
    // Four samples of one answer each: 3/4 with the error of four independent answers, √(3/16/3).
    assert_eq!((rows[0].key, rows[0].estimate.n, error.clusters.as_slice()), (Some("A"), 12, [4].as_slice()));
    assert!((error.se - 0.25).abs() < 1e-15, "{error:?}");
    assert!((rows[1].estimate.stderr().unwrap() - 0.25).abs() < 1e-15, "the other share");

    let to_float = value_to_float().correct("A").incorrect("B");
    let unreduced = metrics![mean().to_float(to_float.clone())];
    let plan = Plan::new().metrics(unreduced).reducers(Reducers::Disabled);
    let evaluation = plan.evaluate(&columns).unwrap();
    let estimate = evaluation.results.estimate("mean").unwrap();
    assert!((estimate.stderr().unwrap() - 0.25).abs() < 1e-15, "{estimate:?}");
    // The metric stderr keeps its number.
    let metrics = metrics![mean().to_float(to_float.clone()), stderr().to_float(to_float)];
    let plan = Plan::new().metrics(metrics).reducers(Reducers::Disabled);
    let evaluation = plan.evaluate(&columns).unwrap();
    let estimate = evaluation.results.estimate("mean").unwrap();
    assert_eq!(estimate.error.unwrap().method, ErrorMethod::Cluster(ClusterVariance::Cr2));
    let [_, stderr] = evaluation.results.scores[0].metrics.as_slice() else { panic!() };
    let MetricValue::One(estimate) = &stderr.value else { panic!() };
    assert!((estimate.number().unwrap() - (3.0f64 / 16.0 / 11.0).sqrt()).abs() < 1e-15, "{estimate:?}");
}

/// A cluster key that a metric names itself is not lost among the epochs.
#[test]
fn the_error_of_unreduced_epochs_is_clustered() {
    let mut columns = ScoreColumns::new(["s"]);
    for at in 0..12 {
        let row = columns.push((at / 3).to_string(), at % 3 + 1).metadata("c", (at / 6).to_string());
        row.metadata("g", "a").score("s", Score::new(at % 5 < 2)).unwrap();
    }
    let shown = |metrics: Metrics, reducers: Reducers| {
        let evaluation = Plan::new().metrics(metrics).reducers(reducers).evaluate(&columns).unwrap();
        let rows = evaluation.results.rows();
        let error = rows[0].estimate.error.as_ref().unwrap();
        (rows.len(), error.method, error.clusters.clone(), interval(&rows[0].estimate).method)
    };
    let by_sample = (1, ErrorMethod::Cluster(ClusterVariance::Cr2), vec![4], IntervalMethod::Wilson);
    for metrics in [
        metrics![accuracy(), stderr()],
        metrics![accuracy(), ci()],
        metrics![accuracy(), bootstrap_stderr()],
        metrics![grouped(accuracy(), "g").all(All::None), grouped(stderr(), "g").all(All::None)],
    ] {
        assert_eq!(shown(metrics, Reducers::Disabled), by_sample);
    }
    let (rows, method, clusters, _) = shown(metrics![accuracy(), stderr().cluster("c")], Reducers::Disabled);
    assert_eq!((rows, method, clusters), (1, ErrorMethod::Cluster(ClusterVariance::Cr1), vec![2]));
    // By itself it is what it is, and says so.
    let evaluation = Plan::new().metrics(metrics![stderr()]).reducers(Reducers::Disabled).evaluate(&columns);
    let evaluation = evaluation.unwrap();
    let [row] = evaluation.results.rows().try_into().unwrap();
    assert_eq!(row.estimate.notes.reason.as_deref(), Some("takes epochs as independent"));
    // Reduced epochs are one score of their sample.
    assert_eq!(shown(metrics![accuracy(), stderr()], Reducers::default()).1, ErrorMethod::Iid);
}

#[test]
fn clusters_that_another_metric_requests_do_not_fail_a_mean() {
    let mut columns = columns(GRADES);
    columns.push("8", 1).metadata("g", "b").score("s", Score::new(1)).unwrap();
    let evaluation = evaluated(&columns, metrics![accuracy(), stderr().cluster("c")], ErrorPlan::new());
    let score = &evaluation.results.scores[0];
    assert_eq!(score.failures[0].metric, "stderr");
    let estimate = evaluation.results.estimate("accuracy").unwrap();
    assert_eq!(estimate.number(), Some(6.0 / 9.0));
    let stderr = &score.failures[0].error;
    let missing = |metric: &str| Error::MissingKey {
        metric: metric.to_owned(),
        key: "c".to_owned(),
        sample: "8".to_owned(),
        known: vec!["c".to_owned(), "g".to_owned()],
    };
    assert_eq!(*stderr, missing("stderr"));
    assert_eq!(estimate.error.unwrap_err().to_string(), missing("accuracy").to_string());
    // Asked for by the plan, they are an error, and the mean stands all the same: logs record it.
    let evaluation = evaluated(&columns, metrics![accuracy()], ErrorPlan::new().cluster("c"));
    let failure = &evaluation.results.scores[0].failures[0];
    assert_eq!(failure.metric, "errors");
    assert_matches!(failure.error, Error::MissingKey { key, sample, .. } if key == "c" && sample == "8");
    assert_eq!(evaluation.results.estimate("accuracy").unwrap().number(), Some(6.0 / 9.0));
}

/// A metric of two scorers is not the first one's in silence.
#[test]
fn an_estimate_of_several_scorers_is_named_with_its_scorer() {
    let mut columns = ScoreColumns::new(["first", "second"]);
    for (id, first, second) in [("a", 1.0, 0.0), ("b", 1.0, 1.0)] {
        let mut row = columns.push(id, 1);
        row = row.score("first", Score::new(first)).unwrap();
        row.score("second", Score::new(second)).unwrap();
    }
    let results = Plan::new().metrics(metrics![accuracy()]).evaluate(&columns).unwrap().results;
    let candidates = vec!["first/accuracy".to_owned(), "second/accuracy".to_owned()];
    let ambiguous = errorbar_core::Error::AmbiguousMetric { metric: "accuracy".to_owned(), candidates };
    assert_eq!(results.estimate("accuracy").unwrap_err(), ambiguous);
    assert_eq!(results.estimate("second/accuracy").unwrap().number(), Some(0.5));
}

#[test]
fn custom_metrics_return_a_number_or_an_estimate() {
    let number = metric_fn("number", |_: &errorbar_core::Scores<'_>| Ok(0.5));
    let estimate = metric_fn("estimate", |scores: &errorbar_core::Scores<'_>| {
        Ok(Estimate::new(0.5).with_stderr(0.1).with_interval(0.3, 0.7, 0.9).with_n(scores.len() as u64))
    });
    let evaluation = of_grades(metrics![number, estimate]);
    let number = evaluation.results.estimate("number").unwrap();
    assert_eq!((number.n, number.error), (8, Err(Undefined::NotAvailable)));
    let estimate = evaluation.results.estimate("estimate").unwrap();
    assert_eq!((estimate.stderr(), estimate.interval.unwrap().level), (Some(0.1), 0.9));
    let unknown = evaluation.results.estimate("numbr").unwrap_err();
    let (metric, nearest) = ("numbr".to_owned(), Some("number".to_owned()));
    let known = vec!["number".to_owned(), "estimate".to_owned()];
    assert_eq!(unknown, errorbar_core::Error::UnknownMetric { metric, nearest, known });
    assert_eq!(
        unknown.to_string(),
        "no estimate of `numbr`; there are estimates of: number, estimate; did you mean `number`?"
    );
}

#[test]
fn equal_scores_have_no_spread() {
    let evaluation = evaluated(&columns([1; 8]), metrics![accuracy()], ErrorPlan::new());
    let estimate = evaluation.results.estimate("accuracy").unwrap();
    assert!(estimate.error.as_ref().unwrap().degenerate);
    // Wilson for 8 of 8: from 1/(1 + z²/8) on.
    assert_eq!(
        (format!("{:.4}", interval(&estimate).lower), interval(&estimate).upper),
        ("0.6756".into(), 1.0)
    );
    // An interval without width is not informative, and neither is one of a single score.
    let evaluation = evaluated(&columns([1; 8]), metrics![accuracy(), ci(), stderr()], ErrorPlan::new());
    let rows = evaluation.results.rows();
    assert_eq!((names(&rows), interval(&rows[0].estimate)), (vec!["accuracy"], interval(&estimate)));
    let mut one = ScoreColumns::new(["s"]);
    one.push("1", 1).score("s", Score::new(1)).unwrap();
    let evaluation = evaluated(&one, metrics![accuracy(), ci()], ErrorPlan::new());
    let rows = evaluation.results.rows();
    assert_eq!((rows.len(), format!("{:.3}", interval(&rows[0].estimate).lower)), (1, "0.207".into()));
    let evaluation = evaluated(&columns([7; 8]), metrics![mean()], ErrorPlan::new());
    let estimate = evaluation.results.estimate("mean").unwrap();
    assert_eq!(estimate.interval, Err(Undefined::NoSpread { n: 8 }), "the range is unknown");
}

/// There is one way to compute the error of scores that are almost equal, and it is exact.
#[test]
fn the_error_of_a_small_spread_does_not_depend_on_other_metrics() {
    let third = 0.1 + 0.2;
    for (scores, expected) in [
        (vec![1e15, 1e15 + 1.0], 0.5),
        (vec![1e15, 1e15 + 0.125], 0.0625),
        (vec![0.3, third], (third - 0.3) / 2.0),
        (vec![0.3, 0.3], 0.0),
    ] {
        let mut columns = ScoreColumns::new(["s"]);
        for (at, score) in scores.iter().enumerate() {
            columns.push(at.to_string(), 1).score("s", Score::new(*score)).unwrap();
        }
        let of = |metrics: Metrics| {
            let evaluation = evaluated(&columns, metrics, ErrorPlan::new());
            let estimate = evaluation.results.estimate("mean").unwrap();
            (estimate.error, estimate.interval)
        };
        let (error, interval) = of(metrics![mean()]);
        let se = error.as_ref().unwrap().se;
        assert!((se - expected).abs() <= expected * 1e-15, "{scores:?}: {se}");
        assert_eq!(of(metrics![mean(), stderr()]), (error.clone(), interval), "{scores:?}");
        assert_eq!(of(metrics![stderr(), mean(), ci()]).0, error, "{scores:?}");
        // What lies within a few roundings is no reason for an interval without width.
        let has_spread = scores[0] == 1e15 && expected == 0.5;
        assert_eq!(error.unwrap().degenerate, !has_spread, "{scores:?}");
    }
}

#[test]
fn shares_have_their_own_range() {
    let mut errors = ErrorPlan::new();
    errors.range = Some((0.0, 10.0));
    let evaluation = evaluated(&columns([9, 9, 9, 9, 9, 9, 9, 1]), metrics![frequency()], errors);
    let rows = evaluation.results.rows();
    let ends = interval(&rows[0].estimate);
    assert!(ends.lower > 0.4 && ends.upper <= 1.0, "{ends:?}");
}

#[test]
fn the_order_of_groups_changes_no_bit_of_their_mean() {
    let sizes = [3, 5, 7, 11];
    let of = |order: [usize; 4]| {
        let mut columns = ScoreColumns::new(["s"]);
        for group in order {
            for at in 0..sizes[group] {
                let row = columns.push(format!("{group}-{at}"), 1).metadata("g", group);
                row.score("s", Score::new(((at * 7 + group) % 5) as f64 / 4.0)).unwrap();
            }
        }
        let metrics = metrics![grouped(mean(), "g").all(All::Groups)];
        let evaluation = evaluated(&columns, metrics, ErrorPlan::new());
        let rows = evaluation.results.rows();
        let all = rows.iter().find(|row| row.is_mean_of_groups()).unwrap();
        format!("{:?}", all.estimate)
    };
    let first = of([0, 1, 2, 3]);
    for order in [[3, 2, 1, 0], [1, 3, 0, 2], [2, 0, 3, 1]] {
        assert_eq!(of(order), first);
    }
}

#[test]
fn custom_metrics_by_group_count_their_scores() {
    let best = metric_fn("best", |scores: &errorbar_core::Scores<'_>| {
        Ok(scores.floats().into_iter().fold(0.0, f64::max))
    });
    let evaluation = of_grades(metrics![grouped(best, "g").all(All::Groups)]);
    let n: Vec<u64> = evaluation.results.rows().iter().map(|row| row.estimate.n).collect();
    assert_eq!(n, [4, 4, 8]);
}

#[test]
fn absent_samples_are_counted_in_their_groups_whatever_the_order_of_epochs() {
    let mut columns = ScoreColumns::new(["s"]);
    let rows = [("a", 1, None, "x"), ("b", 1, Some(f64::NAN), "y"), ("c", 1, Some(1.0), "y")];
    let later = [("a", 2, Some(0.0), "x"), ("b", 2, Some(f64::NAN), "y"), ("c", 2, Some(1.0), "y")];
    for (id, epoch, score, group) in rows.into_iter().chain(later) {
        let row = columns.push(id, epoch).metadata("g", group);
        if let Some(score) = score {
            row.score("s", Score::new(Value::from(score))).unwrap();
        }
    }
    let evaluation = evaluated(&columns, metrics![grouped(mean(), "g")], ErrorPlan::new());
    let counts: Vec<_> =
        evaluation.results.rows().iter().map(|row| (row.estimate.n, row.estimate.absent)).collect();
    // b has no score in any epoch.
    assert_eq!(counts, [(1, 1), (1, 0), (2, 1)], "y, x and all, in the order of their first scores");
}

#[test]
fn groups_are_listed_even_if_nothing_is_scored() {
    let mut columns = ScoreColumns::new(["s"]);
    for (id, group) in [("a", "x"), ("b", "y"), ("c", "y")] {
        columns.push(id, 1).metadata("g", group).errored();
    }
    for all in [All::Samples, All::Groups, All::None] {
        let evaluation = evaluated(&columns, metrics![grouped(mean(), "g").all(all)], ErrorPlan::new());
        let rows = evaluation.results.rows();
        let absent: Vec<_> = rows.iter().map(|row| (row.group, row.estimate.absent)).collect();
        let groups = [(Some("x"), 1), (Some("y"), 2), (None, 3)];
        assert_eq!(absent, groups[..if all == All::None { 2 } else { 3 }]);
    }
}
