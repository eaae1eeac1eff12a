//! Going on with a log.

use std::fs::{self, OpenOptions};

use errorbar_core::{MetadataKeys, Score};
use errorbar_log::eval::*;
use serde_json::json;

use crate::eval::support::*;

#[test]
fn after_the_process_was_killed_in_the_middle_of_a_sample() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log.eval");
    let samples: Vec<Sample> = (1..=40_i64).map(|id| Sample::new(id, 1, Score::new("C"))).collect();
    write_unfinished(&path, &samples[..30]);
    let whole = fs::metadata(&path).unwrap().len();
    OpenOptions::new().write(true).open(&path).unwrap().set_len(whole - 100).unwrap();

    let (mut writer, recovered) = LogWriter::resume(&path).unwrap();
    assert!(recovered.header.is_none());
    assert_eq!(recovered.start, start());
    let done = recovered.samples.len();
    assert!(done == 29 || done == 30, "{done}");
    for sample in &samples[done..] {
        sample.record(|record| writer.append_sample(record)).unwrap();
    }
    finish(writer);
    let log = EvalLog::open(&path).unwrap();
    assert!(!log.was_recovered());
    assert_eq!(keys(&log).len(), 40);
    let mut ids: Vec<i64> = summaries(&path).iter().map(|summary| summary["id"].as_i64().unwrap()).collect();
    ids.sort_unstable();
    assert_eq!(ids, (1..=40).collect::<Vec<_>>());
}

#[test]
fn an_errored_sample_is_run_again() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log.eval");
    let first = [
        Sample::new(1, 1, Score::new("C")),
        Sample::errored(2, 1, "no network"),
        Sample::new(3, 1, Score::new("I")),
    ];
    write_finished(&path, &first);
    let (mut writer, recovered) = LogWriter::resume(&path).unwrap();
    assert_eq!(recovered.header.unwrap().status, Status::Success);
    let errored: Vec<&SampleId> =
        recovered.samples.iter().filter(|sample| sample.error.is_some()).map(|sample| &sample.id).collect();
    assert_eq!(errored, [&SampleId::Int(2)]);
    // The old results must not be taken for those of the resumed run.
    assert_eq!(EvalLog::open(&path).unwrap().header().unwrap().status, Status::Started);

    Sample::new(2, 1, Score::new("C")).record(|record| writer.append_sample(record)).unwrap();
    finish(writer);
    let log = EvalLog::open(&path).unwrap();
    let columns = log.score_columns(&MetadataKeys::NONE).unwrap();
    assert_eq!((columns.len(), columns.errored()), (3, 0));
    let summaries = summaries(&path);
    assert_eq!(summaries.len(), 3);
    assert!(summaries.iter().all(|summary| summary.get("error").is_none()));
    assert_eq!(log.header().unwrap().results.unwrap().completed_samples, 3);
}

#[test]
fn an_errored_sample_is_run_again_within_one_run() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log.eval");
    let mut samples: Vec<Sample> = (1..=30_i64).map(|id| Sample::errored(id, 1, "boom")).collect();
    samples.extend((1..=30_i64).map(|id| Sample::new(id, 1, Score::new("C"))));
    write_finished(&path, &samples);
    let summaries = summaries(&path);
    assert_eq!(summaries.len(), 30);
    assert!(summaries.iter().all(|summary| summary.get("error").is_none()));
}

#[test]
fn a_finished_log_is_resumed_and_ended_without_a_change() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log.eval");
    let samples: Vec<Sample> = (1..=30_i64).map(|id| Sample::new(id, 1, Score::new("C"))).collect();
    write_finished(&path, &samples);
    let before = EvalLog::open(&path).unwrap();
    let (read, header) =
        (before.samples().unwrap().collect::<Result<Vec<_>>>().unwrap(), before.header().unwrap());
    let size = fs::metadata(&path).unwrap().len();
    for _ in 0..3 {
        let (writer, recovered) = LogWriter::resume(&path).unwrap();
        assert_eq!(recovered.samples.len(), 30);
        finish(writer);
    }
    let after = EvalLog::open(&path).unwrap();
    assert_eq!(after.samples().unwrap().collect::<Result<Vec<_>>>().unwrap(), read);
    assert_eq!(after.header().unwrap(), header);
    assert_eq!(summaries(&path).len(), 30);
    assert!(fs::metadata(&path).unwrap().len() < 2 * size, "a log does not grow by being resumed");
}

#[test]
fn summaries_are_the_same_whether_written_or_rebuilt() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log.eval");
    let mut long = Sample::new("long", 1, Score::new(0.5).explanation("word ".repeat(3000)));
    long.input = Input::from("ü".repeat(10_000));
    long.metadata.insert("list".to_owned(), json!(vec![1; 3000]));
    write_finished(
        &path,
        &[long, Sample::errored(1, 2, "boom"), Sample::new(1, 1, Score::unscored("refusal"))],
    );
    let written = summaries(&path);
    assert!(written[0]["input"].as_str().unwrap().len() < 12_000);
    assert!(written[0]["scores"]["match"]["explanation"].as_str().unwrap().len() < 1100);
    let (writer, _) = LogWriter::resume(&path).unwrap();
    finish(writer);
    assert_eq!(summaries(&path), written);
}

#[test]
fn a_log_without_a_record_of_its_start_has_one_when_it_is_resumed() {
    let header = br#"{"version":2,"status":"error","eval":{"task":"t","model":"m","config":{}},"plan":{}}"#;
    let sample = br#"{"id":1,"epoch":1,"scores":{"s":{"value":1}}}"#;
    let zip = errorbar_test_support::zip::Zip::new()
        .stored("samples/1_epoch_1.json", sample)
        .stored("header.json", header);
    let (_folder, path) = written(&zip.bytes());
    let (writer, recovered) = LogWriter::resume(&path).unwrap();
    assert_eq!(recovered.start.eval.task, "t");
    // Killed here, before anything else is written.
    drop(writer);
    let log = EvalLog::open(&path).unwrap();
    assert_eq!((log.header().unwrap().eval.task.as_str(), log.sample_count()), ("t", 1));
}
