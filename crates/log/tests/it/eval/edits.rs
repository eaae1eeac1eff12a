//! Scores that are added or changed in all their parts, by one process after the other.

use std::path::Path;
use std::thread;
use std::time::Duration;

use errorbar_core::{Metadata, MetadataKeys, Registry, Score, Value};
use errorbar_log::eval::*;
use errorbar_test_support::assert_matches;
use serde_json::{Value as Json, json};

use crate::eval::support::*;

fn log_at(folder: &Path) -> std::path::PathBuf {
    let path = folder.join("log.eval");
    let samples = [Sample::new("a", 1, Score::new("C")), Sample::errored("b", 1, "out of luck")];
    write_finished(&path, &samples);
    path
}

fn edit(sample: &str, scorer: &str) -> ScoreEdit {
    ScoreEdit {
        sample: sample.to_owned(),
        scorer: scorer.to_owned(),
        author: "ann".to_owned(),
        timestamp: "2026-11-15T10:00:00Z".to_owned(),
        ..ScoreEdit::default()
    }
}

/// Edits, recomputes, writes.
fn apply(path: &Path, edit: &ScoreEdit) -> Result<()> {
    let lock = LogLock::wait(path, Duration::from_secs(60))?;
    let log = EvalLog::open(path)?;
    let header = log.header()?;
    let mut revision = log.revise()?;
    let edited = revision.edit_score(edit)?;
    let (plan, _) = plan_from_header(&header, &Registry::built_in())?;
    let scores = log.scores(&header, &ScoreOptions::new(MetadataKeys::NONE).edited(&edited))?;
    revision.set_results(&plan.evaluate(&scores.columns).unwrap(), &scores.columns)?;
    revision.write_back_locked(&lock).map(drop)
}

fn sample(path: &Path, id: &str) -> Json {
    let mut json = Vec::new();
    assert!(EvalLog::open(path).unwrap().copy_sample(id, 1, &mut json).unwrap());
    serde_json::from_slice(&json).unwrap()
}

#[test]
fn a_score_is_added_with_its_parts_and_its_history() {
    let folder = tempfile::tempdir().unwrap();
    let path = log_at(folder.path());
    let metadata = Metadata::from_iter([("checked".to_owned(), json!([1, {"by": "ann"}]))]);
    let new = ScoreEdit {
        is_new: true,
        value: Some(Value::from(0.5)),
        answer: Some("forty-\"two\"".to_owned()),
        metadata: Some(metadata),
        ..edit("a", "human")
    };
    apply(&path, &new).unwrap();
    let sample = sample(&path, "a");
    let provenance = json!({"timestamp": "2026-11-15T10:00:00Z", "author": "ann", "metadata": {}});
    let history = json!([{"value": 0.5, "answer": "forty-\"two\"", "explanation": "UNCHANGED", "reason": "UNCHANGED",
        "metadata": {"checked": [1, {"by": "ann"}]}, "provenance": provenance}]);
    let score = json!({"value": 0.5, "answer": "forty-\"two\"", "metadata": {"checked": [1, {"by": "ann"}]},
        "history": history});
    assert_eq!(sample["scores"]["human"], score);
    assert_eq!(sample["scores"]["match"]["value"], "C", "the other one stays");
    let event = sample["events"].as_array().unwrap().last().unwrap();
    assert_eq!((&event["event"], &event["score_name"]), (&json!("score_edit"), &json!("human")));
    assert_eq!(event["edit"], history[0]);
    assert_eq!(event["uuid"].as_str().map(str::len), Some(32));

    let log = EvalLog::open(&path).unwrap();
    let results = log.header().unwrap().results.unwrap();
    let names: Vec<&str> = results.scores.iter().map(|block| block.scorer.as_str()).collect();
    assert_eq!(names, ["match", "human"]);
    assert_eq!(results.scores[1].metrics["accuracy"].value, 0.5);
    // Again, and where there was no score at all.
    assert_matches!(apply(&path, &new).unwrap_err().kind(), LogErrorKind::HasScore { scorer } if scorer == "human");
    apply(&path, &ScoreEdit { sample: "b".to_owned(), ..new }).unwrap();
    assert_eq!(self::sample(&path, "b")["scores"]["human"]["value"], 0.5);
}

#[test]
fn answer_explanation_and_metadata_change_without_the_value() {
    let folder = tempfile::tempdir().unwrap();
    let path = log_at(folder.path());
    let long = "because ".repeat(1000);
    let changes = [
        ScoreEdit { answer: Some("42".to_owned()), ..edit("a", "match") },
        ScoreEdit {
            explanation: Some(long.clone()),
            reason: Some("read again".to_owned()),
            ..edit("a", "match")
        },
        ScoreEdit { metadata: Some(Metadata::new()), ..edit("a", "match") },
    ];
    changes.iter().for_each(|change| apply(&path, change).unwrap());
    let score = &sample(&path, "a")["scores"]["match"];
    assert_eq!((&score["value"], &score["answer"]), (&json!("C"), &json!("42")));
    assert_eq!((&score["explanation"], &score["metadata"]), (&json!(long), &json!({})));
    let history = score["history"].as_array().unwrap();
    assert_eq!(history.len(), 4);
    assert_eq!((&history[1]["value"], &history[1]["answer"]), (&json!("UNCHANGED"), &json!("42")));
    assert_eq!(history[2]["provenance"]["reason"], "read again");
    assert_eq!(history[1]["provenance"].get("reason"), None);
    let summary = &summaries(&path)[0]["scores"]["match"];
    assert_eq!((&summary["value"], &summary["answer"]), (&json!("C"), &json!("42")));
    let explanation = summary["explanation"].as_str().unwrap();
    assert!(explanation.len() < 1100 && explanation.ends_with("because..."), "{explanation}");
}

#[test]
fn what_is_no_edit_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = log_at(folder.path());
    let before = std::fs::read(&path).unwrap();
    let refused = |edit: ScoreEdit| apply(&path, &edit).unwrap_err();
    assert_matches!(refused(edit("a", "match")).kind(), LogErrorKind::NoChange);
    assert_matches!(refused(ScoreEdit { is_new: true, ..edit("a", "human") }).kind(), LogErrorKind::NoValue);
    let unchanged = || Some("UNCHANGED".to_owned());
    for (part, edit) in [
        ("value", ScoreEdit { value: Some(Value::from("UNCHANGED")), ..edit("a", "match") }),
        ("answer", ScoreEdit { answer: unchanged(), ..edit("a", "match") }),
        ("explanation", ScoreEdit { explanation: unchanged(), ..edit("a", "match") }),
    ] {
        assert_matches!(refused(edit).kind(), LogErrorKind::ReservedText { part: found } if *found == part);
    }
    assert_eq!(std::fs::read(&path).unwrap(), before);
}

#[test]
fn edits_at_the_same_time_are_all_there_in_the_end() {
    let folder = tempfile::tempdir().unwrap();
    let path = log_at(folder.path());
    thread::scope(|scope| {
        for number in 0..8 {
            let path = &path;
            scope.spawn(move || {
                let value = Some(Value::from(number));
                apply(path, &ScoreEdit { is_new: true, value, ..edit("a", &format!("human{number}")) })
                    .unwrap();
            });
        }
    });
    assert_eq!(sample(&path, "a")["scores"].as_object().unwrap().len(), 9);
}

#[test]
fn a_lock_that_is_not_given_up_is_waited_for_and_named() {
    let folder = tempfile::tempdir().unwrap();
    let path = log_at(folder.path());
    let held = LogLock::wait(&path, Duration::ZERO).unwrap();
    let error = LogLock::wait(&path, Duration::from_millis(60)).unwrap_err();
    assert_matches!(error.kind(), LogErrorKind::LockTimeout { holder, .. }
        if holder.as_ref().is_none_or(|holder| holder.pid == std::process::id()));
    drop(held);
    LogLock::wait(&path, Duration::ZERO).unwrap();
    // A run that is in progress is not waited for.
    let path = folder.path().join("running.eval");
    let _writer = LogWriter::create(&path, &start()).unwrap();
    let error = LogLock::wait(&path, Duration::from_secs(3600)).unwrap_err();
    assert_matches!(error.kind(), LogErrorKind::Unfinished);
    let error = LogLock::wait(&folder.path().join("missing.eval"), Duration::ZERO).unwrap_err();
    assert_matches!(error.kind(), LogErrorKind::Open(_));
}

#[test]
fn the_lock_of_another_log_does_not_count() {
    let folder = tempfile::tempdir().unwrap();
    let path = log_at(folder.path());
    let other = folder.path().join("other.eval");
    write_finished(&other, &[Sample::new("a", 1, Score::new("C"))]);
    let lock = LogLock::wait(&other, Duration::ZERO).unwrap();
    let log = EvalLog::open(&path).unwrap();
    let error = log.revise().unwrap().write_back_locked(&lock).unwrap_err();
    assert_matches!(error.kind(), LogErrorKind::Replaced);
}

#[test]
fn only_values_of_scores_are_values() {
    for text in
        ["null", "", "  ", "[1, [2]]", r#"{"a": [1]}"#, r#"{"a": {"b": 1}}"#, "[null]", "[1", "{", "{1: 2}"]
    {
        assert!(score_value(text).is_err(), "{text}");
    }
    for (text, value) in [
        ("C", Value::from("C")),
        (" nan ", Value::Unscored),
        ("NaN", Value::Unscored),
        ("-1e3", Value::from(-1000.0)),
        ("true", Value::from(true)),
        ("\"1\"", Value::from("1")),
        (r#"{"a": null, "b": 1}"#, Value::map([("a", errorbar_core::Leaf::Null), ("b", 1.into())])),
    ] {
        assert_eq!(score_value(text), Ok(value), "{text}");
    }
}
