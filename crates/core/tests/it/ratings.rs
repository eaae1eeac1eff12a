//! What metrics see of other raters: scorers, fields, metadata; and for whom a figure of several is computed.

use errorbar_core::metrics::{accuracy, cohen_kappa, ppi};
use errorbar_core::{
    Error, Estimate, LeafRef, MetricValue, Plan, Registry, Results, Score, ScoreColumns, ScoreSet, Scores,
    Undefined, Value, metric_fn, metrics, reducers,
};

/// A judge, a human who has not seen everything, and a reviewer's label in the metadata.
fn columns() -> ScoreColumns {
    let mut columns = ScoreColumns::new(["judge", "human"]);
    let rows = [("a", 1, Some(1), "1"), ("b", 1, Some(0), "0"), ("c", 0, None, "0"), ("d", 0, Some(0), "1")];
    for (id, judge, human, review) in rows {
        let row = columns.push(id, 1).metadata("review", review).score("judge", Score::new(judge)).unwrap();
        if let Some(human) = human {
            row.score("human", Score::new(human)).unwrap();
        }
    }
    columns
}

fn estimate(results: &Results, scorer: &str, metric: &str) -> Estimate {
    let block = results.scores.iter().filter(|block| block.scorer == scorer);
    let found = block.flat_map(|block| &block.metrics).find(|result| result.spec.name == metric);
    found.unwrap_or_else(|| panic!("{scorer} {metric}: {results:?}")).value.estimate().unwrap().clone()
}

fn failure(results: &Results) -> &Error {
    &results.scores.iter().flat_map(|block| &block.failures).next().expect("a failure").error
}

#[test]
fn a_name_is_a_scorer_a_field_or_a_key() {
    let columns = columns();
    let set = ScoreSet::unreduced(&columns, "judge").unwrap();
    let scores = set.scores();
    let all = |name: &str| {
        let ratings = scores.ratings(name).unwrap();
        (0..scores.len()).map(|at| ratings.get(at).map(LeafRef::text)).collect::<Vec<_>>()
    };
    let human = [Some("1"), Some("0"), None, Some("0")].map(|text| text.map(str::to_owned));
    assert_eq!(all("human"), human);
    assert_eq!(all("scorer.human"), human);
    let review = ["1", "0", "0", "1"].map(|text| Some(text.to_owned()));
    assert_eq!(all("review"), review);
    assert_eq!(all("metadata.review"), review);
}

#[test]
fn unknown_and_ambiguous_names() {
    let mut columns = columns();
    let unknown = |columns: &ScoreColumns, name: &str| {
        ScoreSet::unreduced(columns, "judge").unwrap().scores().ratings(name).unwrap_err()
    };
    let error = unknown(&columns, "humam");
    assert_eq!(
        error.to_string(),
        "`humam` is no scorer, no field of map-valued scores and no metadata key; did you mean `human`?; scorers: \
         judge, human; metadata keys: review"
    );
    assert!(matches!(error, Error::UnknownRater { nearest: Some(near), .. } if near == "human"));
    columns.row_mut(0).unwrap().metadata("human", 1);
    let error = unknown(&columns, "human");
    assert_eq!(
        error.to_string(),
        "`human` is both the scorer `human` and the metadata key `human`; write \"scorer.human\" or \"metadata.human\""
    );
}

#[test]
fn fields_of_maps_and_of_other_scorers() {
    let mut columns = ScoreColumns::new(["grader", "expert"]);
    for (id, judge, human) in
        [("a", "good", "good"), ("b", "bad", "bad"), ("c", "good", "bad"), ("d", "bad", "bad")]
    {
        let both = Value::map([("judge", judge), ("human", human)]);
        let expert = Value::map([("human", human)]);
        let row = columns.push(id, 1).score("grader", Score::new(both)).unwrap();
        row.score("expert", Score::new(expert)).unwrap();
    }
    // p_o = 3/4, p_e = (2·1 + 2·3)/16 = 1/2.
    let kappa = |metrics| {
        let results = Plan::new().metrics(metrics).evaluate(&columns).unwrap().results;
        let estimates = results.scores.iter().filter(|block| block.scorer == "grader");
        let estimates: Vec<Estimate> =
            estimates.flat_map(|block| &block.metrics).map(|m| m.value.estimate().unwrap().clone()).collect();
        assert_eq!(estimates.len(), 1, "{results:?}");
        estimates[0].number()
    };
    assert_eq!(kappa(metrics![cohen_kappa("judge").b("human")]), Some(0.5));
    assert_eq!(kappa(metrics![{"judge": [cohen_kappa("field.human")]}]), Some(0.5));
    assert_eq!(kappa(metrics![{"judge": [cohen_kappa("expert.human")]}]), Some(0.5));
    assert_eq!(kappa(metrics![{"judge": [cohen_kappa("human")]}]), Some(0.5));
}

#[test]
fn a_figure_that_names_all_raters_is_computed_once() {
    let columns = columns();
    let plan = Plan::new().metrics(metrics![accuracy(), cohen_kappa("human").b("judge"), ppi("human")]);
    let results = plan.evaluate(&columns).unwrap().results;
    let of = |name: &str| {
        let with = |block: &&errorbar_core::ScoreResult| block.metrics.iter().any(|m| m.spec.name == name);
        results.scores.iter().filter(with).map(|block| block.scorer.as_str()).collect::<Vec<_>>()
    };
    assert_eq!(of("accuracy"), ["judge", "human"]);
    assert_eq!(of("cohen_kappa"), ["human"]);
    assert_eq!(of("ppi"), ["judge"], "no rater is compared with itself");
    // Three pairs, (1, 1), (1, 0), (0, 0): p_o = 2/3, p_e = (2·1 + 1·2)/9.
    let kappa = estimate(&results, "human", "cohen_kappa");
    assert!((kappa.number().unwrap() - 0.4).abs() < 1e-15);
    assert_eq!(kappa.n, 3);
    assert_eq!(kappa.notes.custom["rated_by_one"], 1);

    // Given to one scorer alone, it is computed there.
    let own = Plan::new().scorer("judge", metrics![cohen_kappa("human").b("judge")]);
    let results = own.evaluate(&columns).unwrap().results;
    estimate(&results, "judge", "cohen_kappa");
    let itself = Plan::new().scorer("judge", metrics![ppi("judge")]).evaluate(&columns).unwrap().results;
    assert!(matches!(failure(&itself), Error::Custom(_)));
}

#[test]
fn others_are_reduced_in_the_same_way() {
    let mut columns = ScoreColumns::new(["judge", "human"]);
    // The human saw only the second epoch of a, and nothing of c.
    let rows = [
        ("a", 1, 1, None),
        ("a", 2, 0, Some(1)),
        ("b", 1, 1, Some(0)),
        ("b", 2, 1, Some(1)),
        ("c", 1, 0, None),
    ];
    for (id, epoch, judge, human) in rows {
        let row = columns.push(id, epoch).score("judge", Score::new(judge)).unwrap();
        if let Some(human) = human {
            row.score("human", Score::new(human)).unwrap();
        }
    }
    let of = |plan: Plan| {
        let pairs = metric_fn("pairs", |scores: &Scores<'_>| {
            let human = scores.ratings("human")?;
            let number = |leaf: LeafRef<'_>| leaf.number().unwrap();
            let pair = |at: usize| Some(human.get(at).map(number)? * 10.0 + scores.floats()[at]);
            Ok((0..scores.len()).filter_map(pair).sum::<f64>())
        });
        let plan = plan.scorer("judge", metrics![pairs]);
        estimate(&plan.evaluate(&columns).unwrap().results, "judge", "pairs").number()
    };
    // Means: a is 0.5 and 1, b is 1 and 0.5.
    assert_eq!(of(Plan::new()), Some(10.5 + 6.0));
    assert_eq!(of(Plan::new().reducers(reducers![errorbar_core::reducers::max()])), Some(11.0 + 11.0));
    assert_eq!(of(Plan::new().reducers(reducers![])), Some(10.0 + 1.0 + 11.0));
}

#[test]
fn groups_and_only_some_scorers() {
    let mut columns = ScoreColumns::new(["judge", "human"]);
    for at in 0..12 {
        let topic = if at < 6 { "x" } else { "y" };
        let row = columns.push(at.to_string(), 1).metadata("topic", topic);
        let row = row.score("judge", Score::new(i64::from(at % 2 == 0))).unwrap();
        row.score("human", Score::new(i64::from(at % 3 == 0))).unwrap();
    }
    let registry = Registry::built_in();
    let grouped =
        registry.metric(&r#"grouped(cohen_kappa("judge", "human"), "topic")"#.parse().unwrap()).unwrap();
    let mut plan = Plan::new().metrics([grouped].into_iter().collect());
    plan.only = vec!["judge".to_owned()];
    assert_eq!(plan.raters().names, ["judge", "human"]);
    let results = plan.evaluate(&columns).unwrap().results;
    assert_eq!(results.scores.len(), 1);
    let MetricValue::Groups(groups) = &results.scores[0].metrics[0].value else { panic!() };
    let kappas = groups.groups.iter().map(|group| group.value.number());
    // Both groups: judge 1 0 1 0 1 0, human 1 0 0 1 0 0. p_o = 1/2, p_e = (3·2 + 3·4)/36.
    assert_eq!(kappas.collect::<Vec<_>>(), [Some(0.0), Some(0.0)]);
    assert!(groups.groups[0].value.estimate().unwrap().interval.is_ok());
}

#[test]
fn what_cannot_be_compared_has_a_reason() {
    let value = |metric: &str, pairs: &[(Option<&str>, Option<&str>)]| {
        let mut columns = ScoreColumns::new(["a", "b"]);
        for (at, (a, b)) in pairs.iter().enumerate() {
            let mut row = columns.push(at.to_string(), 1);
            for (scorer, label) in [("a", a), ("b", b)] {
                if let Some(label) = label {
                    row = row.score(scorer, Score::new(*label)).unwrap();
                }
            }
        }
        let metric = Registry::built_in().metric(&metric.parse().unwrap()).unwrap();
        let results = Plan::new().metrics([metric].into_iter().collect()).evaluate(&columns).unwrap().results;
        results.scores[0].metrics[0].value.estimate().unwrap().clone()
    };
    let other = |text: &str| Err(Undefined::Other(text.to_owned()));
    for metric in ["cohen_kappa('a', 'b')", "gwet_ac1(['a', 'b'])", "fleiss_kappa(['a', 'b'])"] {
        let never = value(metric, &[(Some("x"), None), (None, Some("y")), (Some("y"), None)]);
        assert_eq!(never.value, other("no sample with two ratings"), "{metric}");
        let one = value(metric, &[(Some("x"), Some("x")); 3]);
        assert_eq!(one.value, other("only one label occurs, so all agree by chance"), "{metric}");
        let perfect = value(
            metric,
            &[[(Some("x"), Some("x"))].repeat(20), [(Some("y"), Some("y"))].repeat(20)].concat(),
        );
        assert_eq!(perfect.number(), Some(1.0), "{metric}");
        assert!(matches!(perfect.error, Err(Undefined::Other(_))), "{metric}: {:?}", perfect.error);
        assert!(matches!(perfect.interval, Err(Undefined::Other(_))), "{metric}");
        // Order, types and numbers in strings do not matter.
        let few = [(Some("1"), Some("1.0")), (Some("true"), Some("0")), (Some("0"), Some("false"))];
        let forward = value(metric, &few);
        let backward = value(metric, &few.iter().rev().copied().collect::<Vec<_>>());
        assert_eq!(forward.value, backward.value);
        assert!(forward.value.is_ok());
    }
}
