//! What is noted on a figure.

use crate::projected::edges_support::*;

#[test]
fn intervals_note_how_they_were_made() {
    let rows = [("1", 1, "a"), ("2", 0, "a"), ("3", 1, "b"), ("4", 0, "c")];
    let columns = columns(rows.map(|(id, value, g)| (id, 1, Some(value), json!(g))));
    let bootstrap = || ci().method(IntervalMethod::Bootstrap).level(0.5).num_samples(10).seed(3);
    let results =
        reduced(&columns, metrics![ci(), bootstrap().cluster("g"), ci_wilson().cluster("g"), ci_wilson()]);
    let metrics = &block(&results).metrics;
    assert_eq!((note(&metrics["lower"], "level"), note(&metrics["upper"], "df")), (json!(0.95), json!(3)));
    let drawn = &metrics["lower2"];
    assert_eq!(
        [note(drawn, "level"), note(drawn, "seed"), note(drawn, "clusters")],
        [json!(0.5), json!(3), json!(3)]
    );
    assert!(drawn.params.get("seed").is_none() && drawn.params.get("cluster").is_some());
    let wilson = &metrics["lower3"];
    assert_eq!([note(wilson, "level"), note(wilson, "df")], [json!(0.95), json!(2)]);
    assert!(note(wilson, "effective_n").as_f64().unwrap() <= 4.0);
    assert_eq!(note(&metrics["lower4"], "level"), json!(0.95));
}

#[test]
fn an_interval_of_one_cluster_or_one_sample_is_undefined() {
    let one_cluster = simple([("a", 1), ("b", 0)]);
    let one = simple([("a", 1)]);
    for method in [IntervalMethod::T, IntervalMethod::Bootstrap] {
        let interval = || ci().method(method).num_samples(10);
        let results = reduced(&one_cluster, metrics![interval().cluster("g")]);
        let lower = &block(&results).metrics["lower"];
        assert_eq!(lower.undefined_reason(), Some("clusters < 2"), "{method:?}");
        assert_eq!(note(lower, "df"), json!(null));
        let results = reduced(&one, metrics![interval(), interval().cluster("g")]);
        for key in ["lower", "lower2"] {
            let entry = &block(&results).metrics[key];
            assert_eq!((entry.value, entry.undefined_reason()), (1.0, Some("n < 2")), "{method:?}");
        }
    }
}

#[test]
fn a_seed_of_ones_own_comes_before_that_of_the_plan() {
    let columns = simple([("a", 0.1), ("b", 0.7), ("c", 0.4), ("d", 0.9)]);
    let drawn = |metric: errorbar_core::metrics::Ci, seed: u64, reducers: Reducers| {
        let plan = Plan::new().metrics(metrics![metric]).seed(seed).reducers(reducers);
        results(&columns, &plan).unwrap().scores[0].metrics["lower"].value
    };
    let bootstrap = || ci().method(IntervalMethod::Bootstrap).num_samples(30);
    for reducers in [Reducers::Implicit, Reducers::Disabled] {
        let wanted = drawn(bootstrap(), 7, reducers.clone());
        assert_eq!(drawn(bootstrap().seed(7), 1, reducers.clone()), wanted);
        assert_ne!(drawn(bootstrap(), 1, reducers), wanted);
    }
}

#[test]
fn the_seed_of_the_plan_reaches_metrics_by_key() {
    let columns = scored(
        [("a", 0.1), ("b", 0.7), ("c", 0.4), ("d", 0.9)]
            .map(|(id, v)| (id, Score::new(Value::map([("k", v)])))),
    );
    let plan = Plan::new().metrics(by_key([("k", vec![Arc::new(bootstrap_stderr())])])).seed(5);
    let results = results(&columns, &plan).unwrap();
    assert_eq!(note(&block(&results).metrics["bootstrap_stderr"], "seed"), json!(5));
}

#[test]
fn wilson_touches_the_ends_exactly() {
    for n in 1..300usize {
        let rows = |value: i64| (0..n).map(move |_| value);
        for value in [0, 1] {
            let mut columns = ScoreColumns::new(["s"]);
            for (id, value) in rows(value).enumerate() {
                columns.push(id.to_string(), 1).score("s", Score::new(value)).unwrap();
            }
            let set = ScoreSet::unreduced(&columns, "s").unwrap();
            let computed = ci_wilson().compute(&set.scores()).unwrap();
            let interval = computed.estimate().unwrap().interval.as_ref().unwrap();
            let end = if value == 0 { interval.lower } else { interval.upper };
            assert_eq!(end, value as f64, "{n}");
        }
    }
}

#[test]
fn every_figure_without_scores_has_a_note() {
    let empty = ScoreColumns::new(["s"]);
    let set = ScoreSet::unreduced(&empty, "s").unwrap();
    let reason = |metric: &dyn Metric| match metric.compute(&set.scores()).unwrap() {
        MetricValue::One(estimate) => estimate.value.err().map(|reason| reason.to_string()),
        MetricValue::Map(map) => Some(map[0].as_ref()?.value.as_ref().err()?.to_string()),
        MetricValue::Groups(groups) => {
            let all = groups.all?.value;
            Some(all.estimate()?.value.as_ref().err()?.to_string())
        }
        _ => None,
    };
    let frequency = frequency().categories(["C"]);
    let metrics: [&dyn Metric; 7] =
        [&accuracy(), &mean(), &bootstrap_stderr(), &ci(), &ci_wilson(), &frequency, &grouped(mean(), "g")];
    for metric in metrics {
        assert_eq!(reason(metric).as_deref(), Some("n = 0"), "{metric:?}");
    }
    assert_eq!(reason(&krippendorff_alpha()).as_deref(), Some("no sample with two ratings"));
    // The aggregate is there even if the metric itself refuses to be computed over nothing.
    let results = reduced(&empty, metrics![grouped(ci_wilson().cluster("g"), "g")]);
    assert_eq!(block(&results).metrics.keys().collect::<Vec<_>>(), ["all"]);
    let skipped = scored([("a", Score::new(Value::map([("x", 1)])))]);
    let results = unreduced(&skipped, metrics![aggregate("k", mean()).on_missing(OnMissing::Skip)]);
    assert_eq!(block(&results).metrics["aggregate"].undefined_reason(), Some("n = 0"));
}

#[test]
fn agreement_notes_what_it_left_out() {
    let list = |items: Vec<Leaf>| Score::new(Value::List(items));
    let columns = scored([
        ("a", list(vec!["x".into(), "x".into()])),
        ("b", list(vec!["x".into(), Leaf::Null])),
        ("c", list(vec!["y".into()])),
        ("d", list(vec!["y".into(), "y".into(), Leaf::Unscored])),
    ]);
    let results = unreduced(&columns, metrics![krippendorff_alpha()]);
    let alpha = &block(&results).metrics["krippendorff_alpha"];
    assert_eq!(alpha.value, 1.0);
    assert_eq!((note(alpha, "units"), note(alpha, "skipped_samples")), (json!(2), json!(2)));
    let all = unreduced(&scored([("a", list(vec![1.into(), 2.into()]))]), metrics![krippendorff_alpha()]);
    assert_eq!(note(&block(&all).metrics["krippendorff_alpha"], "skipped_samples"), json!(null));
}

#[test]
fn perplexity_notes_missing_metadata() {
    let complete = Score::new(1).metadata("num_tokens", 2).metadata("sum_log_probs", -2.0);
    let columns =
        scored([("a", complete), ("b", Score::new(1).metadata("num_tokens", 2)), ("c", Score::new(1))]);
    let metrics: [&dyn Metric; 2] = [&perplexity_per_token(), &perplexity_per_seq()];
    for metric in metrics {
        let set = ScoreSet::unreduced(&columns, "s").unwrap();
        let MetricValue::One(estimate) = metric.compute(&set.scores()).unwrap() else {
            unreachable!("one number")
        };
        assert!((estimate.number().unwrap() - 1f64.exp()).abs() < 1e-15);
        assert_eq!(estimate.notes.custom["missing_metadata"], json!(2));
    }
}

#[test]
fn a_huge_offset_does_not_touch_a_clustered_error() {
    // S_a = 1e16 + 1, S_b = 1e16 + 2, x̄ = S/4: deviations ∓1/2, so √((1/4 + 1/4)·2)/4 = 1/4.
    let rows = [("1", 1e16, "a"), ("2", 1.0, "a"), ("3", 1e16, "b"), ("4", 2.0, "b")];
    let columns = columns(rows.map(|(id, value, g)| (id, 1, Some(value), json!(g))));
    assert_eq!(block(&reduced(&columns, metrics![stderr().cluster("g")])).metrics["stderr"].value, 0.25);
}
