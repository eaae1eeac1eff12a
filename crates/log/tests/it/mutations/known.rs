//! What random changes have found, one by one.

use crate::eval::support::{START, written};
use crate::mutations::log::{any_log, header, sample};
use errorbar_core::{MetadataKeys, Value};
use errorbar_log::eval::*;
use errorbar_test_support::zip::Zip;

const HEADER: &[u8] =
    br#"{"version":2,"status":"success","eval":{"task":"t","model":"m","config":{}},"plan":{}}"#;
const SAMPLE: &[u8] = br#"{"id":1,"epoch":1,"scores":{"s":{"value":1}}}"#;

/// A directory that is not believed when a log is opened must not be copied when it is written again: what was appended
/// behind a torn member made the new log impossible to open.
#[test]
fn a_wrong_directory_is_not_written_again() {
    let zip = Zip::new().stored("_journal/start.json", START).stored("samples/1_epoch_1.json", SAMPLE);
    let mut bytes = zip.stored("header.json", HEADER).bytes();
    let names: Vec<usize> = (0..bytes.len()).filter(|at| bytes[*at..].starts_with(b"header.json")).collect();
    let [local, listed] = names[..] else { panic!("{names:?}") };
    bytes[listed] ^= 1;
    let torn = {
        let mut bytes = bytes.clone();
        bytes[local + 40] ^= 1;
        bytes
    };
    for (bytes, has_header) in [(bytes, true), (torn, false)] {
        let (folder, path) = written(&bytes);
        let log = EvalLog::open(&path).unwrap();
        assert!(log.was_recovered() && log.has_header() == has_header);
        let edit = ScoreEdit {
            sample: "1".to_owned(),
            epoch: None,
            scorer: "s".to_owned(),
            value: Some(Value::from(0)),
            author: "ann".to_owned(),
            reason: None,
            timestamp: "2026-11-15T09:20:38Z".to_owned(),
            ..ScoreEdit::default()
        };
        let mut revision = log.revise().unwrap();
        revision.edit_score(&edit).unwrap();
        let new = folder.path().join("new.eval");
        revision.write_to(&new).unwrap();
        let new = EvalLog::open(&new).unwrap();
        assert!(!new.was_recovered());
        assert_eq!(
            new.score_columns(&MetadataKeys::NONE).unwrap().score(0, "s").unwrap().value,
            Value::from(0)
        );
    }
}

/// Records go into a JSON log as they are, so those that are no JSON would make it impossible to open.
#[test]
fn what_is_no_json_is_not_converted() {
    let cut = br#"{"id":1,"epoch":1,"messages":[{"#;
    let bracket = br#"{"id":1,"epoch":1,"events":[1,2}],"scores":{"s":{"value":1}}}"#;
    let reductions = br#"[{"scorer":"s"}"#;
    for (name, json) in [
        ("samples/1_epoch_1.json", &cut[..]),
        ("samples/1_epoch_1.json", bracket),
        ("reductions.json", reductions),
        ("header.json", br#"{"version":2,"eval":{"task":"t"},"stats":{"#),
        ("header.json", br#"{"version":2,"eval":{"task":"t"},"stats":,}"#),
    ] {
        let zip = Zip::new().stored("_journal/start.json", START).stored("samples/2_epoch_1.json", SAMPLE);
        let (folder, path) = written(&zip.stored(name, json).bytes());
        let new = folder.path().join("new.json");
        let error = convert(&EvalLog::open(&path).unwrap(), &new);
        let error = error.err().unwrap_or_else(|| panic!("{name} was converted: {:?}", EvalLog::open(&new)));
        assert_eq!((error.path(), error.member()), (Some(path.as_path()), Some(name)), "{error}");
    }
}

/// The first field of an object has no comma before it.
#[test]
fn a_header_without_fields_is_converted_or_refused() {
    let zip = Zip::new().stored("_journal/start.json", START).stored("samples/1_epoch_1.json", SAMPLE);
    any_log("log.eval", &zip.stored("header.json", b"{ }").bytes());
}

/// Two samples of one id and epoch would be one member.
#[test]
fn samples_of_one_name_are_not_lost_by_conversion() {
    any_log("log.json", br#"{"eval":{"task":"t"},"samples":[{"id":1,"epoch":1,"scores":{"s":{"value":1}}},{"id":"1","epoch":1,"scores":{"s":{"value":0}}}]}"#);
    sample(br#"{"id":2,"epoch":1,"scores":{"match":{"value":"I"}}}"#);
}

/// A score of a very old sample, which does not name its scorer, keeps the name that it was given when results are written.
#[test]
fn new_results_do_not_give_a_score_to_another_scorer() {
    sample(br#"{"id":3,"epoch":1,"score":{"value":"I"}}"#);
}

/// Names and texts of a log are in messages as they can be printed: an error is one line, and plays with no terminal.
#[test]
fn no_control_characters_of_a_log_are_in_its_errors() {
    sample(br#"{"id":1,"epoch":1,"scores":{"a\u001b[31m\nb":5}}"#);
    sample(br#"{"id":1,"epoch":1,"scores":{"a\u001b[31m\nb":{"value":[[]]}}}"#);
    header(br#"{"eval":{"task":"t"},"status":"\u001b[31m\n"}"#);
    header(br#"{"eval":{"task":"t","config":{"epochs_reducer":["\u001b[31m\n"]}}}"#);
    header(br#"{"eval":{"task":"t"},"results":{"scores":[{"name":"a","metrics":{"\u001b[31m\n":{"value":"x"}}}]}}"#);
}
