//! Plans as text.

use super::*;
use errorbar_core::metrics::{accuracy, mean};
use errorbar_core::{EarlyStop, HeadlineRequest, Metadata, metric_fn, metrics, reducers};
use std::sync::Arc;

#[test]
fn every_part_of_a_plan_comes_back() {
    let mut plan = plan(
        r#"[accuracy(), grouped(mean(), "g", all="groups"), {"a*": [mean(to_float=value_to_float(correct="y"))]}]"#,
        Some(&["at_least_2", "pass_at(k=3, value=0.5)"]),
        r#"{"cluster": ["c", "d"], "method": "CR2", "interval": "t", "level": 0.9, "range": [0, 5]}"#,
    );
    plan.max_draws = Some(1000);
    plan.headline = Some(HeadlineRequest { metric: Some("mean".into()), ..HeadlineRequest::default() });
    plan.default_metrics.insert("z".into(), metrics![mean()]);
    plan.default_metrics.insert("f".into(), metrics![{"*": [accuracy()]}]);
    plan.only = vec!["s".into()];
    plan.scorer_reducers.insert("s".into(), Reducers::Disabled);
    plan.scorer_reducers.insert("r".into(), Reducers::Implicit);
    plan.order = Order::Key;
    plan.scorers = Plan::new().scorer("s", metrics![mean()]).scorer("s", metrics![]).scorers;
    plan.scorers[0].params = Metadata::new().with("ignore_case", true);
    let text = plan.to_text().unwrap();
    let again = Plan::from_text(&text, &Registry::built_in()).unwrap();
    assert_eq!(
        format!("{again:?}"),
        format!("{:?}", {
            plan.default_metrics.sort_keys();
            plan.scorer_reducers.sort_keys();
            plan.clone()
        })
    );
    assert_eq!(again.to_text().unwrap(), text);
    assert_eq!(Plan::new().to_text().unwrap(), "{}");
    assert_eq!(Plan::new().reducers(reducers![]).to_text().unwrap(), r#"{"reducers":[]}"#);
    assert_eq!(
        format!("{:?}", Plan::from_text("{}", &Registry::built_in()).unwrap()),
        format!("{:?}", Plan::new())
    );
}

#[test]
fn bad_texts_are_refused_with_the_field() {
    let registry = Registry::built_in();
    let refused = |text: &str| Plan::from_text(text, &registry).unwrap_err().to_string();
    for (text, problem) in [
        ("accuracy", "must be JSON"),
        ("[]", "the plan must be a map, found []"),
        (
            r#"{"metric": []}"#,
            "`metric` of the plan: unknown field `metric`, expected one of `scorers`, `metrics`",
        ),
        (r#"{"metrics": ["acuracy"]}"#, "did you mean `accuracy`?"),
        (r#"{"reducers": ["men"]}"#, "unknown reducer `men`"),
        (r#"{"reducers": 3}"#, "`reducers` of the plan: invalid type: integer `3`, expected a sequence"),
        (r#"{"seed": -1}"#, "`seed` of the plan: invalid value: integer `-1`, expected u64"),
        (r#"{"errors": {"level": 95}}"#, "for 95 % write 0.95"),
        (r#"{"order": "id"}"#, "`order` of the plan: unknown variant `id`, expected `appearance` or `key`"),
        (r#"{"scorers": [{"names": "x"}]}"#, "unknown field `names`"),
        (r#"{"headline": {"metrics": "x"}}"#, "`headline` of the plan: unknown field `metrics`"),
        (
            r#"{"default_metrics": []}"#,
            "`default_metrics` of the plan: invalid type: sequence, expected a map",
        ),
    ] {
        assert!(refused(text).contains(problem), "{text}: {}", refused(text));
    }
}

#[test]
fn custom_entries_are_looked_up_by_name() {
    let custom = || metric_fn("best", |scores: &errorbar_core::Scores<'_>| Ok(scores.len() as f64));
    let plan = Plan::new().metrics(metrics![custom()]);
    let text = plan.to_text().unwrap();
    assert!(Plan::from_text(&text, &Registry::built_in()).is_err());
    let mut registry = Registry::built_in();
    registry.add_metric_object(Arc::new(custom()), "").unwrap();
    assert_eq!(Plan::from_text(&text, &registry).unwrap().to_text().unwrap(), text);
    assert!(plan.depends_on_ids(), "it may read them");
}

#[test]
fn the_plan_of_an_early_stop_stays_where_it_is() {
    let mut plan = Plan::new();
    plan.errors.early_stop = Some(Arc::new(EarlyStop::new(["a", "b"], 1, 1).unwrap()));
    assert!(plan.to_text().unwrap_err().to_string().contains("compute it on one machine"));
    assert!(plan.depends_on_ids());
}

#[test]
fn groups_categories_and_scorers_are_listed_by_name() {
    let mut columns = ScoreColumns::new(["z", "a"]);
    for (id, group, label) in [("3", "m", "y"), ("1", "k", "z"), ("2", "b", "x")] {
        let row = columns.push(id, 1).metadata("g", group);
        row.score("z", Score::new(label)).unwrap().score("a", Score::new(1)).unwrap();
    }
    let plan = plan("[grouped(count(), \"g\"), frequency([\"w\", \"y\"])]", Some(&["mode"]), "{}");
    let names = |order: Order| {
        let results = plan.clone().order(order).evaluate(&columns).unwrap().results;
        let rows = results.rows();
        rows.iter()
            .filter(|row| row.scorer == "z")
            .map(|row| row.label.or(row.key).unwrap_or("all").to_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!(names(Order::Appearance), ["m", "k", "b", "all", "w", "y", "z", "x"]);
    assert_eq!(names(Order::Key), ["b", "k", "m", "all", "w", "y", "x", "z"]);
    let results = plan.order(Order::Key).evaluate(&columns).unwrap().results;
    let scorers: Vec<&str> = results.scores.iter().map(|score| score.scorer.as_str()).collect();
    assert_eq!(scorers, ["a", "a", "z", "z"]);
}
