//! Gaps, order and repeats of rows, and what is recorded with a score.

use crate::projected::edges_support::*;

#[test]
fn a_duplicate_is_found_before_a_sample_that_is_only_out_of_order() {
    let rows = [("a", 1), ("a", 1), ("b", 2), ("b", 1)].map(|(id, epoch)| (id, epoch, Some(1), json!("x")));
    let error = results(&columns(rows), &Plan::new()).unwrap_err();
    assert_eq!(error, Error::DuplicateEpoch { sample: "a".to_owned(), epoch: 1 });
}

#[test]
fn the_largest_number_of_epochs_is_reported() {
    let rows = [("a", 1), ("b", 1), ("b", 2), ("b", 3), ("c", 1)];
    let three = columns(rows.map(|(id, epoch)| (id, epoch, Some(1), json!("x"))));
    assert_eq!(block(&reduced(&three, metrics![mean()])).epochs, 3);
    assert_eq!(block(&reduced(&ScoreColumns::new(["s"]), metrics![mean()])).epochs, 0);
}

#[test]
fn samples_stand_in_the_order_of_the_first_row_that_the_scorer_scored() {
    let rows = [("a", 2, Some(1)), ("b", 1, Some(1)), ("a", 1, Some(1)), ("c", 1, None), ("c", 2, Some(1))];
    let gaps = columns(rows.map(|(id, epoch, value)| (id, epoch, value, json!(id))));
    let results = reduced(&gaps, metrics![grouped(mean(), "g").all(All::None)]);
    let groups: Vec<&str> = block(&results).metrics.keys().map(String::as_str).collect();
    assert_eq!(groups, ["a", "b", "c"]);
    let ids: Vec<String> = results.reductions[0].iter(&gaps).map(|(id, _)| id.to_string()).collect();
    assert_eq!(ids, ["a", "b", "c"]);
    // Here the first row of `c` is a gap, so that `d` comes before it.
    let rows = [("c", 1, None), ("d", 1, Some(1)), ("c", 2, Some(1))];
    let late = columns(rows.map(|(id, epoch, value)| (id, epoch, value, json!(id))));
    let results = reduced(&late, metrics![mean()]);
    let ids: Vec<String> = results.reductions[0].iter(&late).map(|(id, _)| id.to_string()).collect();
    assert_eq!(ids, ["d", "c"]);
}

#[test]
fn trailing_gaps_are_missing() {
    let rows = [("a", Some(1)), ("b", Some(0)), ("c", None)].map(|(id, v)| (id, 1, v, json!("x")));
    for results in
        [reduced(&columns(rows.clone()), metrics![mean()]), unreduced(&columns(rows), metrics![mean()])]
    {
        let block = block(&results);
        assert_eq!((block.scored_samples, block.unscored_samples, block.missing_samples), (2, 0, 1));
        assert_eq!(note(&block.metrics["mean"], "absent"), json!(1));
        assert_eq!(note(&block.metrics["mean"], "best"), json!(2.0 / 3.0));
    }
}

#[test]
fn missing_epochs_do_not_count_for_a_vote() {
    let rows = [("q", 1, Some("C")), ("q", 2, None), ("q", 3, None), ("r", 1, Some("C"))];
    let gaps = columns(rows.map(|(id, epoch, value)| (id, epoch, value, json!("x"))));
    let results = by(&gaps, reducers::majority(), metrics![accuracy()]);
    assert_eq!(block(&results).metrics["accuracy"].value, 1.0);
    let panels: Vec<Json> = results.reductions[0]
        .iter(&gaps)
        .map(|(_, score)| score.metadata.unwrap()["panel"].clone())
        .collect();
    assert_eq!((&panels[0]["votes"], &panels[0]["size"]), (&json!(["C"]), &json!(1)));
    assert_eq!(panels[1]["votes"], json!(["C"]));
}

#[test]
fn unscored_epochs_count_for_a_vote() {
    let rows = [("q", 1, Value::from("C")), ("q", 2, Value::Unscored), ("q", 3, Value::Unscored)];
    let columns = columns(rows.map(|(id, epoch, value)| (id, epoch, Some(value), json!("x"))));
    assert_eq!(block(&by(&columns, reducers::majority(), metrics![accuracy()])).unscored_samples, 1);
    let map = |value: Leaf| Value::map([("k", value)]);
    let rows = [("q", 1, map("C".into())), ("q", 2, map(Leaf::Unscored)), ("q", 3, map(Leaf::Unscored))];
    let nested = all_scored(rows);
    let results = by(&nested, reducers::majority(), by_key([("k", vec![Arc::new(accuracy())])]));
    assert_eq!((block(&results).scored_samples, block(&results).unscored_samples), (0, 1));
}

#[test]
fn not_a_number_is_unscored_however_it_was_written() {
    assert!(Value::Float(f64::NAN).is_unscored());
    assert!(Leaf::Float(f64::NAN).view().is_unscored());
    let written = Score { value: Value::Float(f64::NAN), ..Score::new(0) };
    let results = unreduced(&scored([("a", written), ("b", Score::new(1))]), metrics![mean()]);
    assert_eq!((block(&results).scored_samples, block(&results).unscored_samples), (1, 1));
    assert_eq!(block(&results).metrics["mean"].value, 1.0);
}

#[test]
fn a_repeat_needs_two_scores() {
    let wants = metric_fn("one_each", |scores: &Scores<'_>| Ok(scores.len())).wants(Wants::Reduced);
    let rows = [("a", 1, Some(1)), ("b", 1, Some(1)), ("a", 2, None)];
    let gaps = columns(rows.map(|(id, epoch, value)| (id, epoch, value, json!("x"))));
    assert_eq!(block(&unreduced(&gaps, metrics![wants])).metrics["one_each"].value, 2.0);
    let wants = metric_fn("one_each", |scores: &Scores<'_>| Ok(scores.len())).wants(Wants::Reduced);
    let rows = [("a", 1), ("a", 2), ("b", 1), ("b", 2)];
    let twice = columns(rows.map(|(id, epoch)| (id, epoch, Some(1), json!("x"))));
    let plan = Plan::new().metrics(metrics![wants]).reducers(Reducers::Disabled);
    assert_matches!(
        results(&twice, &plan).unwrap_err(),
        Error::Custom(text) if text.starts_with("one_each needs one score per sample") && text.contains("sample \"a\"")
    );
}

#[test]
fn what_is_recorded_besides_the_value_reaches_custom_metrics() {
    let history = Score { history: vec![json!(0)], ..Score::new(1) };
    let columns = scored([
        ("h", history),
        ("e", Score::new(1).explanation("why")),
        ("r", Score::new(1).reason("because")),
        ("a", Score::new(1).answer("red")),
        ("n", Score::new(1)),
    ]);
    let (metric, seen) = spy();
    unreduced(&columns, metrics![metric]);
    let seen = seen.lock().unwrap();
    assert_eq!(seen[0].score.history, [json!(0)]);
    assert_eq!(seen[1].score.explanation.as_deref(), Some("why"));
    assert_eq!(seen[2].score.reason.as_deref(), Some("because"));
    assert_eq!(seen[3].score.answer.as_deref(), Some("red"));
    assert_eq!(seen[4].score, Score::new(1));
}

#[test]
fn reduced_rows_know_their_sample() {
    let mut columns = ScoreColumns::new(["s"]);
    for (id, epoch, g) in [("a", 1, "one"), ("a", 2, "later"), ("b", 1, "two"), ("b", 2, "later")] {
        columns.push(id, epoch).metadata("g", g).score("s", Score::new(1)).unwrap();
    }
    let (metric, seen) = spy();
    reduced(&columns, metrics![metric]);
    let seen: Vec<(String, Json)> =
        seen.lock().unwrap().iter().map(|s| (s.sample_id.clone(), s.sample_metadata["g"].clone())).collect();
    assert_eq!(seen, [("a".to_owned(), json!("one")), ("b".to_owned(), json!("two"))]);
}

#[test]
fn fields_by_key_keep_answer_and_sample() {
    let map = |value: i64| Value::map([("k", value)]);
    let columns = scored([
        ("u", Score::unscored("refusal").answer("none")),
        ("a", Score::new(map(1)).answer("red")),
        ("b", Score::new(map(2)).answer("blue")),
    ]);
    let (metric, seen) = spy();
    unreduced(&columns, by_key([("k", vec![Arc::new(metric)])]));
    let seen: Vec<(String, Option<String>)> =
        seen.lock().unwrap().iter().map(|s| (s.sample_id.clone(), s.score.answer.clone())).collect();
    assert_eq!(seen, [("a".to_owned(), Some("red".to_owned())), ("b".to_owned(), Some("blue".to_owned()))]);
}

#[test]
fn iteration_knows_how_much_is_left() {
    let columns = simple([("a", 1), ("b", 2), ("c", 3)]);
    let set = ScoreSet::unreduced(&columns, "s").unwrap();
    let scores = set.scores();
    let mut rows = (&scores).into_iter();
    assert_eq!(rows.len(), 3);
    rows.next();
    assert_eq!(rows.len(), 2);
    assert!(scores.get(3).is_none());
}

#[test]
fn only_epochs_with_a_score_decide_what_is_kept() {
    let mut columns = ScoreColumns::new(["s"]);
    columns.push("a", 1).score("s", Score::new(1).answer("red").explanation("x")).unwrap();
    columns.push("a", 2);
    columns.push("a", 3).score("s", Score::new(0).answer("red").explanation("y")).unwrap();
    let results = by(&columns, reducers::max(), metrics![mean()]);
    let (_, score) = results.reductions[0].iter(&columns).next().unwrap();
    assert_eq!((score.answer.as_deref(), score.explanation), (Some("red"), None));
}

#[test]
fn the_sample_of_a_reduced_score_is_that_of_its_first_scored_epoch() {
    for nested in [false, true] {
        let value = |v: i64| if nested { Value::map([("k", v)]) } else { Value::from(v) };
        let mut columns = ScoreColumns::new(["s"]);
        columns.push("a", 1).metadata("g", "gap");
        columns.push("a", 2).metadata("g", "second").score("s", Score::new(value(1))).unwrap();
        columns.push("a", 3).metadata("g", "third").score("s", Score::new(value(1))).unwrap();
        let (metric, seen) = spy();
        reduced(&columns, metrics![metric]);
        assert_eq!(seen.lock().unwrap()[0].sample_metadata["g"], json!("second"));
    }
}

/// Places of ids are counted in chunks of 64 KB: ids that end right before, at and behind such a place, and
/// one that is longer by itself.
#[test]
fn ids_of_any_length_are_distinguished() {
    const EDGE: usize = 1 << 16;
    for first in [EDGE - 2, EDGE - 1, EDGE, EDGE + 1, 70_000] {
        let mut ids =
            vec!["a".repeat(first), "b".to_owned(), "c".to_owned(), "d".repeat(70_000), "e".to_owned()];
        ids.extend((0..20_000).map(|number| format!("sample {number}")));
        for shuffled in [false, true] {
            if shuffled {
                ids.reverse();
            }
            let mut columns = ScoreColumns::new(["s"]);
            for epoch in 1..=2 {
                for (at, id) in ids.iter().enumerate() {
                    columns.push(id, epoch).score("s", Score::new((at % 2) as i64)).unwrap();
                }
            }
            assert!(ids.iter().enumerate().all(|(row, id)| columns.id(row) == id), "{first}");
            assert_eq!(columns.repeated_row(), None, "{first}");
            let results = results(&columns, &Plan::new()).unwrap();
            assert_eq!(results.scores[0].scored_samples, ids.len(), "{first}");
            columns.push(&ids[1], 2);
            assert_eq!(columns.repeated_row(), Some((2 * ids.len(), ids.len() + 1)), "{first}");
        }
    }
}
