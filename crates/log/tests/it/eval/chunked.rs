//! Samples that are in several members, as newer versions of the reference can write them.

use errorbar_core::metrics::mean;
use errorbar_core::{MetadataKeys, Plan, Score, ScoreColumns, metrics};
use errorbar_log::eval::*;
use errorbar_test_support::assert_matches;
use errorbar_test_support::zip::Zip;
use serde_json::{Value as Json, json};

use crate::eval::support::{written, zip};

const RECORD: &str = r#"{"id":"q","epoch":1,"input":[{"role":"user","content":"attachment://1"}],"target":"4",
    "scores":{"s":{"value":"C"}},"store":{"note":"attachment://9"},"message_refs":[[3,4],[0,2]]}"#;

/// A log with one sample whose lists are in chunks of two.
fn chunked(record: &str) -> Zip {
    zip()
        .stored("samples/q_epoch_1/sample.json", record.as_bytes())
        .stored("samples/q_epoch_1/metadata.json", br#"{"topic":"sums"}"#)
        .stored("samples/q_epoch_1/skeleton.json", b"{}")
        .stored("samples/q_epoch_1/messages/2.json", br#"[{"m":2}, {"m":3,"content":"attachment://0"}]"#)
        .stored("samples/q_epoch_1/messages/0.json", br#" [{"m":0},{"m":1}]"#)
        .stored("samples/q_epoch_1/events/stats.json", b"{}")
        .stored("samples/q_epoch_1/events/uuids.json", b"[]")
        .stored("samples/q_epoch_1/events/0.json", br#"[{"e":0},{"e":"attachment://0"}]"#)
        .stored("samples/q_epoch_1/events/2.json", br#"[{"e":2}]"#)
        .stored("samples/q_epoch_1/calls/0.json", b"[{\"c\":0}]")
        .stored("samples/q_epoch_1/attachments/0.json", br#"["long \"one\""]"#)
        .stored("samples/q_epoch_1/attachments/1.json", br#"["long two"]"#)
}

/// The sample of a log as `log dump` gives it.
fn sample(path: &std::path::Path) -> Result<Json> {
    let mut json = Vec::new();
    assert!(EvalLog::open(path)?.copy_sample("q", 1, &mut json)?);
    Ok(serde_json::from_slice(&json).unwrap())
}

#[test]
fn a_sample_is_put_together() {
    let (folder, path) = written(&chunked(RECORD).bytes());
    let whole = json!({
        "id": "q",
        "epoch": 1,
        "input": [{"role": "user", "content": "long two"}],
        "target": "4",
        "scores": {"s": {"value": "C"}},
        "store": {"note": "attachment://9"},
        "metadata": {"topic": "sums"},
        "messages": [{"m": 3, "content": "long \"one\""}, {"m": 0}, {"m": 1}],
        "events": [{"e": 0}, {"e": "attachment://0"}, {"e": 2}],
        "events_data": {
            "messages": [{"m": 0}, {"m": 1}, {"m": 2}, {"m": 3, "content": "attachment://0"}],
            "calls": [{"c": 0}],
        },
        "attachments": {"0": "long \"one\"", "1": "long two"},
    });
    assert_eq!(sample(&path).unwrap(), whole);
    let log = EvalLog::open(&path).unwrap();
    assert!(log.check().is_ok());
    for name in ["log.json", "log.eval"] {
        let to = folder.path().join("to").join(name);
        std::fs::create_dir_all(to.parent().unwrap()).unwrap();
        convert(&log, &to).unwrap();
        assert_eq!(sample(&to).unwrap(), whole, "{name}");
    }
}

#[test]
fn new_scores_make_it_one_record() {
    let (folder, path) = written(&chunked(RECORD).bytes());
    let log = EvalLog::open(&path).unwrap();
    let mut columns = ScoreColumns::new(["new"]);
    columns.push("q", 1).score("new", Score::new(0.5)).unwrap();
    let plan = Plan::new().scorer("new", metrics![mean()]);
    let scorers = [NewScorer { name: "new".to_owned(), info: ScorerInfo::new("new".to_owned()) }];
    let (timestamp, id) = ("2026-11-16T08:00:00+00:00".to_owned(), "scoring".to_owned());
    let (action, scorers, rows) = (ScoreAction::Append, &scorers, &[0]);
    let new = NewScores { action, scorers, columns: &columns, rows, timestamp, id, events: &[] };
    let mut revision = log.revise().unwrap();
    revision.set_scores(new, &plan.evaluate(&columns).unwrap()).unwrap();
    let to = folder.path().join("scored.eval");
    revision.write_to(&to).unwrap();

    let log = EvalLog::open(&to).unwrap();
    assert_eq!((log.sample_count(), log.check().is_ok()), (1, true));
    let (before, mut after) = (sample(&path).unwrap(), sample(&to).unwrap());
    assert_eq!(after["scores"], json!({"s": {"value": "C"}, "new": {"value": 0.5, "history": []}}));
    let events = after["events"].as_array().unwrap().clone();
    assert_eq!(events.len(), 3 + 5);
    (after["scores"], after["events"]) = (before["scores"].clone(), events[..3].into());
    assert_eq!(after, before);
}

#[test]
fn what_is_read_of_a_sample_is_complete() {
    let (_folder, path) = written(&chunked(RECORD).bytes());
    let log = EvalLog::open(&path).unwrap();
    let read = log.samples().unwrap().next().unwrap().unwrap();
    assert_eq!(read.message_count, 3);
    assert_eq!(read.metadata["topic"], "sums");
    assert_matches!(&read.input, Input::Messages(messages) if messages[0].content == "long two");
    let columns = log.score_columns(&MetadataKeys::one("topic")).unwrap();
    assert_eq!(columns.len(), 1);
}

#[test]
fn a_part_that_is_missing_or_unknown_is_an_error() {
    let missing_message = RECORD.replace("[3,4]", "[3,5]");
    let (_folder, path) = written(&chunked(&missing_message).bytes());
    assert_matches!(sample(&path).unwrap_err().kind(), LogErrorKind::Damaged(_));

    let no_refs = RECORD.replace("message_refs", "other_refs");
    let (_folder, path) = written(&chunked(&no_refs).bytes());
    assert_matches!(sample(&path).unwrap_err().kind(), LogErrorKind::Missing("message_refs"));

    let wrong_refs = RECORD.replace("[[3,4],[0,2]]", "[3,4]");
    let (_folder, path) = written(&chunked(&wrong_refs).bytes());
    assert_matches!(sample(&path).unwrap_err().kind(), LogErrorKind::Field { .. });

    let gap = chunked(RECORD).stored("samples/q_epoch_1/events/9.json", b"[{}]");
    let (_folder, path) = written(&gap.bytes());
    let error = sample(&path).unwrap_err();
    assert_eq!(error.member(), Some("samples/q_epoch_1/events/9.json"));
    assert_matches!(error.kind(), LogErrorKind::Damaged(_));

    let future = chunked(RECORD).stored("samples/q_epoch_1/store/0.json", b"[{}]");
    let (folder, path) = written(&future.bytes());
    let log = EvalLog::open(&path).unwrap();
    let error = convert(&log, &folder.path().join("to.json")).unwrap_err();
    assert_matches!(error.kind(), LogErrorKind::UnknownPart);
    assert!(!folder.path().join("to.json").exists());
    // The scores do not need it.
    assert!(log.score_columns(&MetadataKeys::NONE).is_ok());
}

#[test]
fn references_cannot_stand_for_any_amount() {
    let refs = vec!["[0,2]"; 100_000].join(",");
    let record = RECORD.replace("[3,4],[0,2]", &refs);
    let long = format!("[{{\"m\":\"{}\"}},{{}}]", "x".repeat(10_000));
    let zip = zip()
        .stored("samples/q_epoch_1/sample.json", record.as_bytes())
        .stored("samples/q_epoch_1/messages/0.json", long.as_bytes());
    let (_folder, path) = written(&zip.bytes());
    assert_matches!(sample(&path).unwrap_err().kind(), LogErrorKind::Damaged(_));
}
