//! The events of a sample: their shapes, and what they take.

use std::sync::Arc;
use std::time::Duration;

use errorbar_core::chat::{CacheAccess, Event, EventKind, ModelCall, SampleEvents, ScoreEvent, SpanKind};
use errorbar_core::{Metadata, Score};
use errorbar_log::eval::*;
use indexmap::IndexMap;
use serde_json::{Value as Json, json};

use crate::eval::support::*;

fn event(micros: u64, span: Option<u32>, kind: EventKind) -> Event {
    let at = Duration::from_micros(micros);
    Event { at, working: at / 2, span, kind }
}

fn call(input: &[(usize, usize)], answer: std::result::Result<ModelOutput, String>) -> ModelCall {
    ModelCall {
        model: "mockllm/model".to_owned(),
        role: None,
        input: input.iter().map(|(start, end)| *start..*end).collect(),
        config: Arc::new(Metadata::from_iter([("temperature".to_owned(), json!(0.5))])),
        answer,
        retries: 0,
        cache: None,
        completed: Duration::from_micros(1_500_000),
        working_time: Duration::from_millis(250),
    }
}

fn begin(kind: SpanKind, name: &str, parent: Option<u32>) -> EventKind {
    EventKind::SpanBegin { kind, name: Arc::from(name), parent }
}

fn sample_events(messages: Vec<Message>, events: Vec<Event>) -> SampleEvents {
    SampleEvents { started: Duration::from_micros(1_794_816_144_688_168), events, messages }
}

/// The sample with its events, as it stands in a log.
fn written(sample: &Sample, sample_events: &SampleEvents) -> Json {
    sample.record(|record| {
        let record = SampleRecord { events: Some(sample_events), ..record.clone() };
        serde_json::from_slice(&record.to_json()).unwrap()
    })
}

#[test]
fn events_have_the_shapes_of_the_format() {
    let sample = Sample::new("q1", 1, Score::new("C"));
    let failed = ModelCall { retries: 0, ..call(&[(0, 1)], Err("503 \"busy\"".to_owned())) };
    let answered = ModelCall {
        role: Some("grader".to_owned()),
        retries: 1,
        cache: Some(CacheAccess::Read),
        ..call(&[(0, 1), (2, 3)], Ok(ModelOutput::from_text("mockllm/model", "42")))
    };
    let usage = IndexMap::from([("mockllm/model".to_owned(), Usage::new(3, 0))]);
    let score = ScoreEvent {
        scorer: "match".to_owned(),
        args: Arc::new(Metadata::from_iter([("location".to_owned(), json!("end"))])),
        score: Score::new("C").answer("42"),
        model_usage: usage,
        role_usage: IndexMap::new(),
    };
    let events = vec![
        event(1, Some(0), begin(SpanKind::Solvers, "solvers", None)),
        event(2, Some(1), begin(SpanKind::Solver, "gen\"", Some(0))),
        event(3, Some(1), EventKind::ModelCall(Box::new(failed))),
        event(4, Some(1), EventKind::ModelCall(Box::new(answered))),
        event(5, Some(1), EventKind::SpanEnd),
        event(
            6,
            Some(0),
            EventKind::Limit { kind: "time".to_owned(), limit: 2.5, reason: "late".to_owned() },
        ),
        event(7, Some(0), EventKind::Score(Box::new(score))),
        event(8, None, EventKind::Error { message: "broken".to_owned() }),
    ];
    let messages = vec![Message::user("a"), Message::user("b"), Message::assistant("c")];
    let json = written(&sample, &sample_events(messages, events));
    let head = |number: usize, micros: u64, span: Option<&str>, event: &str| {
        let mut head = json!({"uuid": format!("fKHgN4TvfSmZErx5-{number}"),
            "timestamp": format!("2026-11-16T08:02:24.{:06}+00:00", 688_168 + micros),
            "working_start": (micros / 2) as f64 / 1e6, "event": event});
        if let Some(span) = span {
            head["span_id"] = json!(format!("fKHgN4TvfSmZErx5-{span}"));
        }
        head
    };
    let with = |mut head: Json, fields: Json| {
        head.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        head
    };
    let message = |content: &str| json!({"content": content, "source": "generate", "role": "assistant", "model": "mockllm/model"});
    let output = |content: &str| {
        json!({"model": "mockllm/model", "choices": [{"message": message(content), "stop_reason": "stop"}],
            "completion": content})
    };
    let called = json!({"model": "mockllm/model", "input": [], "tools": [], "tool_choice": "none",
        "config": {"temperature": 0.5}, "completed": "2026-11-16T08:02:26.188168+00:00", "working_time": 0.25});
    let events = [
        with(
            head(0, 1, Some("s0"), "span_begin"),
            json!({"id": "fKHgN4TvfSmZErx5-s0", "type": "solvers", "name": "solvers"}),
        ),
        with(
            head(1, 2, Some("s1"), "span_begin"),
            json!({"id": "fKHgN4TvfSmZErx5-s1", "parent_id": "fKHgN4TvfSmZErx5-s0", "type": "solver", "name": "gen\""}),
        ),
        with(
            with(head(2, 3, Some("s1"), "model"), called.clone()),
            json!({"input_refs": [[0, 1]], "output": output(""), "error": "503 \"busy\""}),
        ),
        with(
            with(head(3, 4, Some("s1"), "model"), called),
            json!({"role": "grader", "input_refs": [[0, 1], [2, 3]], "output": output("42"), "retries": 1, "cache": "read"}),
        ),
        with(head(4, 5, Some("s1"), "span_end"), json!({"id": "fKHgN4TvfSmZErx5-s1"})),
        with(
            head(5, 6, Some("s0"), "sample_limit"),
            json!({"type": "time", "message": "late", "limit": 2.5}),
        ),
        with(
            head(6, 7, Some("s0"), "score"),
            json!({"score": {"value": "C", "answer": "42", "history": []}, "target": "42", "intermediate": false,
                "scorer": "match", "scorer_args": {"location": "end"},
                "model_usage": {"mockllm/model": {"input_tokens": 3, "output_tokens": 0, "total_tokens": 3}}}),
        ),
        with(
            head(7, 8, None, "error"),
            json!({"error": {"message": "broken", "traceback": "", "traceback_ansi": ""}}),
        ),
    ];
    for (found, expected) in json["events"].as_array().unwrap().iter().zip(&events) {
        assert_eq!(found, expected);
    }
    assert_eq!(json["events"].as_array().unwrap().len(), events.len());
    let pool = json!([{"content": "a", "role": "user"}, {"content": "b", "role": "user"}, {"content": "c", "role": "assistant"}]);
    assert_eq!(json["events_data"], json!({"messages": pool, "calls": []}));
}

#[test]
fn the_first_state_is_that_of_the_dataset() {
    let mut sample = Sample::new(7, 1, Score::new("C"));
    sample.choices = Some(vec!["x".to_owned()]);
    let init = sample_events(Vec::new(), vec![event(0, None, EventKind::SampleInit)]);
    let before = Metadata::from_iter([("category".to_owned(), json!("as it was"))]);
    let json: Json = sample.record(|record| {
        let record = SampleRecord { events: Some(&init), initial_metadata: Some(&before), ..record.clone() };
        serde_json::from_slice(&record.to_json()).unwrap()
    });
    let event = &json["events"][0];
    assert_eq!(
        event["sample"],
        json!({"input": "What is \"it\"?\n", "choices": ["x"], "target": "42", "id": 7,
        "metadata": {"category": "as it was"}})
    );
    let message = json!({"content": "What is \"it\"?\n", "source": "input", "role": "user"});
    assert_eq!(event["state"]["messages"], json!([message]));
    assert_eq!(json["metadata"]["category"], "physics");
    sample.input = Input::Messages(vec![Message::system("s"), Message::user("u")]);
    let json = written(&sample, &init);
    assert_eq!(json["events"][0]["sample"]["input"][1], json!({"content": "u", "role": "user"}));
    assert_eq!(
        json["events"][0]["state"]["messages"][1],
        json!({"content": "u", "source": "input", "role": "user"})
    );
}

#[test]
fn long_strings_of_events_are_stored_once() {
    let long = "a long question, ".repeat(50);
    let mut sample = Sample::new(1, 1, Score::new("C"));
    sample.input = Input::from(long.as_str());
    let output = ModelOutput::from_text("mockllm/model", long.as_str());
    let calls =
        (0..20).map(|n| event(n, None, EventKind::ModelCall(Box::new(call(&[(0, 1)], Ok(output.clone()))))));
    let events = std::iter::once(event(0, None, EventKind::SampleInit)).chain(calls).collect();
    let json = written(&sample, &sample_events(vec![Message::user(long.as_str())], events));
    let attachments = json["attachments"].as_object().unwrap();
    assert_eq!(attachments.len(), 1);
    let (hash, text) = attachments.iter().next().unwrap();
    assert_eq!((hash.len(), text), (32, &json!(long)));
    let reference = json!(format!("attachment://{hash}"));
    assert_eq!(json["events_data"]["messages"][0]["content"], reference);
    assert_eq!(json["events"][0]["sample"]["input"], reference);
    assert_eq!(json["events"][0]["state"]["messages"][0]["content"], reference);
    assert_eq!(json["events"][1]["output"]["choices"][0]["message"]["content"], reference);
    // Where readers do not look for references there is none.
    assert_eq!(json["events"][1]["output"]["completion"], json!(long));
    assert_eq!(json["input"], json!(long));
}

#[test]
fn samples_with_events_are_read_resumed_and_never_dense() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log.eval");
    let sample = Sample::new(1, 1, Score::new("C"));
    let output = ModelOutput::from_text("mockllm/model", "x".repeat(10_000));
    let calls =
        (0..500).map(|n| event(n, None, EventKind::ModelCall(Box::new(call(&[(0, 1)], Ok(output.clone()))))));
    let sample_events = sample_events(vec![Message::user("a")], calls.collect());
    let mut writer = LogWriter::create(&path, &start()).unwrap();
    sample.record(|record| {
        let record = SampleRecord { events: Some(&sample_events), ..record.clone() };
        writer.append_sample(&record).unwrap();
    });
    drop(writer);
    let (writer, resumed) = LogWriter::resume(&path).unwrap();
    assert_eq!(resumed.samples.len(), 1);
    drop(writer);
    let log = EvalLog::open(&path).unwrap();
    log.check().unwrap();
    let stored = log.samples().unwrap().next().unwrap().unwrap();
    assert_eq!(stored.scores["match"].value, "C".into());
}
