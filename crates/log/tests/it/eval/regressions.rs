//! What a review found: logs that lost something, or named the wrong thing.

use std::fs;
use std::path::Path;

use errorbar_core::{Error, MetadataKeys, Plan, Score};
use errorbar_log::eval::*;
use errorbar_test_support::assert_matches;
use serde_json::Value as Json;

use crate::eval::support::*;
use errorbar_test_support::zip::{Zip, deflated};

fn rescored(log: &EvalLog) -> Revision<'_> {
    let scores = log.scores(&log.header().unwrap(), &ScoreOptions::new(MetadataKeys::NONE)).unwrap();
    let computed = Plan::new().evaluate(&scores.columns).unwrap();
    let mut revision = log.revise().unwrap();
    revision.set_results(&computed, &scores.columns).unwrap();
    revision
}

fn edit(sample: &str) -> ScoreEdit {
    ScoreEdit {
        sample: sample.to_owned(),
        epoch: Some(1),
        scorer: "match".to_owned(),
        value: "C".into(),
        author: "ann".to_owned(),
        reason: None,
        timestamp: "2026-11-15T10:00:00Z".to_owned(),
    }
}

fn json_log(path: &Path, eval: &str, samples: &str) {
    fs::write(path, format!(r#"{{"version":2,"eval":{{"task":"t"{eval}}},"samples":[{samples}]}}"#)).unwrap();
}

#[test]
fn a_log_that_was_resumed_meanwhile_is_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log.eval");
    write_finished(&path, &[Sample::new(1, 1, Score::new("C"))]);
    let log = EvalLog::open(&path).unwrap();
    let revision = rescored(&log);
    let (mut writer, _) = LogWriter::resume(&path).unwrap();
    Sample::new(2, 1, Score::new("C")).record(|record| writer.append_sample(record)).unwrap();
    finish(writer);
    assert!(matches!(revision.write_back().unwrap_err().kind(), LogErrorKind::Replaced));
    assert_eq!(EvalLog::open(&path).unwrap().sample_count(), 2);
}

#[test]
fn a_json_log_that_was_written_over_meanwhile_is_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log.json");
    json_log(&path, "", r#"{"id":1,"epoch":1,"scores":{"s":{"value":1}}}"#);
    let log = EvalLog::open(&path).unwrap();
    let revision = rescored(&log);
    json_log(&path, r#","model":"another""#, r#"{"id":1,"epoch":1,"scores":{"s":{"value":1}}}"#);
    let _ = revision.write_back();
    EvalLog::open(&path).unwrap().check().unwrap();
}

#[test]
fn an_edit_where_events_are_null_leaves_a_log_that_can_be_read() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log.json");
    json_log(&path, "", r#"{"id":"a","epoch":1,"scores":{"match":{"value":"I"}},"events":null}"#);
    let log = EvalLog::open(&path).unwrap();
    let mut revision = log.revise().unwrap();
    if revision.edit_score(&edit("a")).is_ok() {
        revision.write_back().unwrap();
    }
    EvalLog::open(&path).unwrap().check().unwrap();
}

#[test]
fn two_edits_in_one_revision_are_both_there() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log.eval");
    write_finished(&path, &[Sample::new("a", 1, Score::new("I")), Sample::new("b", 1, Score::new("I"))]);
    let log = EvalLog::open(&path).unwrap();
    let mut revision = log.revise().unwrap();
    revision.edit_score(&edit("a")).unwrap();
    revision.edit_score(&edit("b")).unwrap();
    revision.write_back().unwrap();
    for summary in summaries(&path) {
        assert_eq!(summary["scores"]["match"]["value"], "C");
    }
}

#[test]
fn a_scorer_may_be_called_score() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log.json");
    let samples = r#"{"id":1,"epoch":1,"scores":{"match":{"value":1}}},{"id":2,"epoch":1,"scores":{"score":{"value":0}}}"#;
    json_log(&path, "", samples);
    rescored(&EvalLog::open(&path).unwrap()).write_back().unwrap();
    let log = EvalLog::open(&path).unwrap();
    let read = log.scores(&log.header().unwrap(), &ScoreOptions::new(MetadataKeys::NONE)).unwrap();
    assert_eq!(read.scorers, ["match", "score"]);
}

#[test]
fn a_conversion_loses_no_sample() {
    let folder = tempfile::tempdir().unwrap();
    let (json, eval) = (folder.path().join("log.json"), folder.path().join("log.eval"));
    let sample = |id: &str| format!(r#"{{"id":{id},"epoch":1,"scores":{{}}}}"#);
    for ids in [["7", "\"7\""], ["\"a\"", "\"a\""]] {
        json_log(&json, "", &ids.map(sample).join(","));
        // Refused or preserved, but not lost.
        if convert(&EvalLog::open(&json).unwrap(), &eval).is_ok() {
            assert_eq!(EvalLog::open(&eval).unwrap().sample_count(), 2, "{ids:?}");
        }
    }
}

#[test]
fn a_conversion_of_a_bad_sample_is_no_success() {
    let start = br#"{"version":2,"eval":{"task":"t"},"plan":{}}"#;
    let zip = Zip::new().stored("_journal/start.json", start);
    let zip = zip.stored("samples/1_epoch_1.json", br#"{"id":1,"epoch":1,"scores":"#);
    let folder = tempfile::tempdir().unwrap();
    let (path, json) = (folder.path().join("log.eval"), folder.path().join("log.json"));
    fs::write(&path, zip.bytes()).unwrap();
    if convert(&EvalLog::open(&path).unwrap(), &json).is_ok() {
        EvalLog::open(&json).unwrap();
    }
}

#[test]
fn ids_in_reductions_are_those_of_the_samples() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log.json");
    let sample = |id: &str| format!(r#"{{"id":{id},"epoch":1,"scores":{{"s":{{"value":1}}}}}}"#);
    json_log(&path, "", &["1", "\"01\""].map(sample).join(","));
    rescored(&EvalLog::open(&path).unwrap()).write_back().unwrap();
    let log: Json = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    let ids: Vec<&Json> =
        log["reductions"][0]["samples"].as_array().unwrap().iter().map(|s| &s["sample_id"]).collect();
    assert_eq!(ids, [&Json::from(1), &Json::from("01")]);
}

#[test]
fn an_integer_and_a_string_that_read_the_same_are_refused_by_both_their_names() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log.json");
    let error = |ids: [&str; 2]| {
        let sample = |id: &str| format!(r#"{{"id":{id},"epoch":1,"scores":{{"s":{{"value":1}}}}}}"#);
        json_log(&path, "", &ids.map(sample).join(","));
        let log = EvalLog::open(&path).unwrap();
        let columns = log.score_columns(&MetadataKeys::NONE).unwrap();
        Plan::new().evaluate(&columns).unwrap_err()
    };
    let sample = || "7".to_owned();
    for ids in [["7", "\"7\""], ["\"7\"", "7"]] {
        assert_eq!(error(ids), Error::MixedIds { sample: sample(), epoch: 1 });
    }
    for ids in [["7", "7"], ["\"7\"", "\"7\""]] {
        assert_eq!(error(ids), Error::DuplicateEpoch { sample: sample(), epoch: 1 });
    }
}

#[test]
fn a_new_member_is_compressed_as_the_others() {
    let header = br#"{"version":2,"status":"success","eval":{"task":"t"},"plan":{}}"#;
    let sample = br#"{"id":1,"epoch":1,"scores":{"s":{"value":1}}}"#;
    let zip = Zip::new().member("samples/1_epoch_1.json", 8, &deflated(sample), sample).member(
        "header.json",
        8,
        &deflated(header),
        header,
    );
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log.eval");
    fs::write(&path, zip.bytes()).unwrap();
    rescored(&EvalLog::open(&path).unwrap()).write_back().unwrap();
    let bytes = fs::read(&path).unwrap();
    let at = bytes.windows(15).rposition(|window| window == b"reductions.json").unwrap() - 46;
    assert_eq!(bytes[at + 10], 8);
}

#[test]
fn a_log_that_was_extracted_and_archived_again_is_read() {
    let start = br#"{"version":2,"eval":{"task":"t"},"plan":{}}"#;
    let sample = br#"{"id":1,"epoch":1,"scores":{"s":{"value":1}}}"#;
    let zip = Zip::new()
        .stored("_journal/", b"")
        .stored("_journal/start.json", start)
        .stored("samples/", b"")
        .stored("samples/1_epoch_1.json", sample);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log.eval");
    fs::write(&path, zip.bytes()).unwrap();
    let log = EvalLog::open(&path).unwrap();
    assert_eq!(log.score_columns(&MetadataKeys::NONE).unwrap().len(), 1);
    log.check().unwrap();
}

#[test]
fn a_member_that_is_kept_is_whole_even_if_another_lies_in_it() {
    let header = br#"{"version":2,"status":"success","eval":{"task":"t"},"plan":{}}"#;
    // The header as a member, within the content of another one.
    let inner = Zip::new().stored("header.json", header).bytes();
    let end = inner.windows(4).position(|window| window == b"PK\x01\x02").unwrap();
    let sample = br#"{"id":1,"epoch":1,"scores":{"s":{"value":1}}}"#;
    let zip = Zip::new()
        .stored("samples/1_epoch_1.json", sample)
        .stored("_journal/other.json", &[b"\"", &inner[..end], b"\""].concat())
        .stored("header.json", header);
    let mut bytes = zip.bytes();
    let places: Vec<usize> = (0..bytes.len()).filter(|at| bytes[*at..].starts_with(b"header.json")).collect();
    let (inside, listed) = (places[0] - 30, places[2] - 46);
    bytes[listed + 42..listed + 46].copy_from_slice(&(inside as u32).to_le_bytes());
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log.eval");
    fs::write(&path, bytes).unwrap();
    // Refused or preserved, but not cut.
    let Ok(log) = EvalLog::open(&path) else { return };
    if rescored(&log).write_back().is_ok() {
        let error = EvalLog::open(&path).unwrap().check().unwrap_err();
        assert!(!matches!(error.kind(), LogErrorKind::Damaged(_)), "{error}");
    }
}

#[test]
fn a_log_does_not_take_its_own_place_nor_that_of_one_being_written() {
    let folder = tempfile::tempdir().unwrap();
    let (path, other) = (folder.path().join("log.eval"), folder.path().join("other.eval"));
    write_finished(&path, &[Sample::new(1, 1, Score::new("C"))]);
    let before = fs::read(&path).unwrap();
    let log = EvalLog::open(&path).unwrap();
    for error in [log.revise().unwrap().write_to(&path).unwrap_err(), convert(&log, &path).unwrap_err()] {
        assert!(matches!(error.kind(), LogErrorKind::Itself), "{error}");
    }
    assert_eq!(fs::read(&path).unwrap(), before);
    let _writer = LogWriter::create(&other, &start()).unwrap();
    for error in [log.revise().unwrap().write_to(&other).unwrap_err(), convert(&log, &other).unwrap_err()] {
        assert!(matches!(error.kind(), LogErrorKind::Locked), "{error}");
    }
}

#[test]
fn a_key_has_a_limit() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log.json");
    let log = |length: usize| format!(r#"{{"eval":{{"task":"t"}},"{}":1,"samples":[]}}"#, "k".repeat(length));
    fs::write(&path, log(100_000)).unwrap();
    assert!(EvalLog::open(&path).is_ok());
    fs::write(&path, log(8 << 20)).unwrap();
    assert_matches!(EvalLog::open(&path).unwrap_err().kind(), LogErrorKind::Json { .. });
}

/// A run that was killed leaves nothing whole behind its torn end, and no header least of all.
#[test]
fn a_finished_log_with_a_damaged_sample_is_not_one_that_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log.eval");
    write_finished(&path, &[Sample::new(1, 1, Score::new("C"))]);
    let bytes = fs::read(&path).unwrap();
    let name = b"samples/1_epoch_1.json";
    let at = bytes.windows(name.len()).position(|window| window == name).unwrap() + name.len() + 5;
    fs::write(&path, [&bytes[..at], b"xyz", &bytes[at..]].concat()).unwrap();
    let error = EvalLog::open(&path).unwrap_err();
    let entry = at - name.len() - 5 - 30;
    assert_damaged(&error, &path, None, &format!("the entry at byte {entry} is not whole"));
}
