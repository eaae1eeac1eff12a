//! What is written comes back.

use errorbar_core::{Leaf, Metadata, MetadataKeys, Plan, Score, Value};
use errorbar_log::eval::*;
use serde_json::json;

use crate::eval::support::*;

fn all_kinds_of_scores() -> Vec<Score> {
    vec![
        Score::new("C").answer("red").explanation("it \"matches\"\n").reason("custom"),
        Score::new(3),
        Score::new(0.1),
        Score::new(-0.0),
        Score::new(1e300),
        Score::new(true),
        Score::new(f64::INFINITY),
        Score::new(f64::NEG_INFINITY),
        Score::unscored("refusal"),
        Score::new(Value::Unscored),
        Score::new("NaN"),
        Score::new(Value::list([Leaf::Float(0.5), Leaf::Unscored, Leaf::Str("x".into()), Leaf::Bool(true)])),
        Score::new(Value::map([
            ("a\"b", Leaf::Null),
            ("nan", Leaf::Unscored),
            ("inf", Leaf::Float(f64::INFINITY)),
            ("int", Leaf::Int(i64::MIN)),
        ])),
        Score { history: vec![json!({"value": 1, "provenance": null})], ..Score::new(1) }
            .metadata("k", json!({"deep": [null, 1.5]})),
    ]
}

#[test]
fn every_kind_of_score() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log.eval");
    let scores = all_kinds_of_scores();
    let samples: Vec<Sample> =
        (0_i64..).zip(&scores).map(|(id, score)| Sample::new(id, 1, score.clone())).collect();
    let mut writer = LogWriter::create(&path, &start()).unwrap();
    for sample in &samples {
        sample.record(|record| writer.append_sample(record)).unwrap();
    }
    let header = Header::started(start());
    writer.finish(&header, &Reductions::none()).unwrap();

    let log = EvalLog::open(&path).unwrap();
    assert!(!log.was_recovered());
    assert_eq!(log.header().unwrap(), header);
    for (sample, score) in log.samples().unwrap().zip(&scores) {
        let read = sample.unwrap();
        assert_eq!(read.scores.get("match"), Some(score));
        let sign = |score: &Score| score.as_f64().map(f64::is_sign_negative).ok();
        assert_eq!(sign(&read.scores["match"]), sign(score));
    }
}

#[test]
fn every_kind_of_id() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log.eval");
    let ids: Vec<SampleId> = vec![
        10.into(),
        9.into(),
        (-1).into(),
        "a/b/../c".into(),
        "x_epoch_1.json".into(),
        "ünïcode ✓".into(),
        "quo\"te's \\ back".into(),
        "line\nend\ttab".into(),
        "".into(),
        "i".repeat(3000).into(),
    ];
    let samples: Vec<Sample> = ids.iter().map(|id| Sample::new(id.clone(), 1, Score::new("C"))).collect();
    write_finished(&path, &samples);
    let log = EvalLog::open(&path).unwrap();
    assert!(!log.was_recovered());
    let read: Vec<SampleId> = log.samples().unwrap().map(|sample| sample.unwrap().id).collect();
    let mut sorted = ids.clone();
    sorted.sort_by_key(SampleId::sort_key);
    assert_eq!(read, sorted);
    assert_eq!(log.score_columns(&MetadataKeys::All).unwrap().len(), ids.len());
    let reductions = String::from_utf8(read_member(&path, "reductions.json")).unwrap();
    assert!(reductions.contains("\"sample_id\":10") && reductions.contains("\"sample_id\":\"a/b/../c\""));
}

#[test]
fn every_field_of_a_sample() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log.eval");
    let conversation = vec![Message::system("Be brief."), Message::user("2 + 2?")];
    let limit = SampleLimit::new("token", 100.0, None);
    let sample = Sample {
        input: conversation.clone().into(),
        target: vec!["4".to_owned(), "four".to_owned()].into(),
        choices: Some(vec!["3".to_owned(), "4".to_owned()]),
        limit: Some(limit),
        error: Some(EvalError::new("it broke")),
        metadata: Metadata::from_iter([
            ("category".to_owned(), json!("m")),
            ("other".to_owned(), json!(null)),
        ]),
        ..Sample::new("q", 7, Score::new("C"))
    };
    write_finished(&path, std::slice::from_ref(&sample));
    let log = EvalLog::open(&path).unwrap();
    let read = log.samples().unwrap().next().unwrap().unwrap();
    assert_eq!((read.id, read.epoch), ("q".into(), 7));
    assert_eq!(read.input, Input::Messages(conversation));
    assert_eq!((read.target, read.choices), (sample.target.clone(), sample.choices.clone()));
    assert_eq!(read.metadata, sample.metadata);
    assert_eq!((read.error.as_deref(), read.limit.as_deref()), (Some("it broke"), Some("token")));
    assert_eq!(read.model_usage, sample.usage);
    assert_eq!((read.message_count, read.total_time, read.working_time), (2, Some(0.5), Some(0.25)));
    assert_eq!(read.uuid.as_deref(), Some("fKHgN4TvfSmZErx5QU363A"));

    let fields = SampleFields::scores(MetadataKeys::one("other"));
    let projected = log.samples_with(fields).unwrap().next().unwrap().unwrap();
    assert_eq!(projected.metadata, Metadata::from_iter([("other".to_owned(), json!(null))]));
    assert_eq!(projected.input, Input::default());
}

#[test]
fn results_and_columns() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("deep/er/log.eval");
    let samples = [
        Sample::new("b", 2, Score::new("I")),
        Sample::new("b", 1, Score::new("C")),
        Sample::new(2, 1, Score::unscored("refusal")),
        Sample::new(10, 1, Score::new("C")),
        Sample::errored("a", 1, "boom"),
    ];
    write_finished(&path, &samples);
    let log = EvalLog::open(&path).unwrap();
    let wanted =
        [("10", 1), ("2", 1), ("a", 1), ("b", 1), ("b", 2)].map(|(id, epoch)| (id.to_owned(), epoch));
    let mut sorted = keys(&log);
    // Integers are padded, so 2 stands before 10, and both before letters.
    assert_eq!(sorted[0].0, "2");
    sorted.sort();
    assert_eq!(sorted, wanted);
    let columns = log.score_columns(&MetadataKeys::one("category")).unwrap();
    assert_eq!((columns.len(), columns.errored()), (5, 1));
    let results = Plan::new().evaluate(&columns).unwrap().results;
    let block = &results.scores[0];
    assert_eq!((block.counts.scored, block.counts.unscored, block.counts.missing), (2, 1, 1));
    let header = log.header().unwrap();
    assert_eq!(header.status, Status::Success);
    let recorded = header.results.unwrap();
    assert_eq!(compare(&recorded, &results), []);
    assert_eq!(recorded.scores[0].metadata.as_ref().unwrap()["missing_samples"], json!(1));
    let summaries = summaries(&path);
    assert_eq!(summaries.len(), 5);
    assert_eq!(summaries[4]["error"], json!("boom"));
}

#[test]
fn a_metric_that_is_not_a_number_is_recorded_as_such() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log.eval");
    write_finished(&path, &[Sample::new(1, 1, Score::unscored("refusal"))]);
    let json = String::from_utf8(read_member(&path, "header.json")).unwrap();
    assert!(json.contains("\"value\":NaN"), "{json}");
    let header = EvalLog::open(&path).unwrap().header().unwrap();
    assert!(header.results.unwrap().scores[0].metrics["accuracy"].value.is_nan());
}

#[test]
fn scorers_that_no_header_knows_come_last() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log.eval");
    let mut second = Sample::new(2, 1, Score::new("C"));
    second.scores.insert(0, ("late".to_owned(), Score::new(1)));
    write_finished(&path, &[Sample::new(1, 1, Score::new("C")), second]);
    let columns = EvalLog::open(&path).unwrap().score_columns(&MetadataKeys::NONE).unwrap();
    assert_eq!(columns.scorer_names().collect::<Vec<_>>(), ["match", "late"]);
}

#[test]
fn unknown_fields_survive() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log.eval");
    let mut start = start();
    start.eval.extra.insert("revision".to_owned(), json!({"type": "git", "commit": "abc"}));
    start.eval.config.extra.insert("token_limit".to_owned(), json!(5));
    let mut header = Header::started(start.clone()).status(Status::Error).error(EvalError::new("x"));
    header.extra.insert("tags".to_owned(), json!(["a"]));
    let writer = LogWriter::create(&path, &start).unwrap();
    assert_eq!(EvalLog::open(&path).unwrap().header().unwrap(), Header::started(start));
    writer.finish(&header, &Reductions::none()).unwrap();
    assert_eq!(EvalLog::open(&path).unwrap().header().unwrap(), header);
}
