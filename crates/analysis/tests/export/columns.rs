//! Exports: the columns, wide tables, and tables of several logs.

use std::fs;

use errorbar_analysis::export::*;
use errorbar_log::eval::*;
use errorbar_table::{TableErrorKind, TableLocation, TableOptions, read_table, read_tables};
use serde_json::{Value as Json, json};

use crate::{SAMPLES, csv_rows, exported, json_log};

/// A sample with everything that is not a score.
const DETAILED: &str = r#"{"id": "d", "epoch": 1, "input": "6 × 7?", "target": ["42", "forty-two"],
    "output": {"model": "m", "choices": [{"message": {"role": "assistant", "content": "It is 42."}, "stop_reason": "stop"}],
        "completion": "It is 42."},
    "scores": {"match": {"value": "P", "answer": "42"}, "judge": {"value": "excellent"}},
    "model_usage": {"m": {"input_tokens": 5, "output_tokens": 3, "total_tokens": 8}, "g": {"input_tokens": 1, "output_tokens": 1, "total_tokens": 2}},
    "started_at": "2026-11-15T02:39:22+00:00", "completed_at": "2026-11-15T02:39:24+00:00",
    "total_time": 2.0, "working_time": 1.5, "limit": {"type": "time", "limit": 2}, "metadata": {"input": "own"}}"#;

#[test]
fn a_sample_is_exported_with_all_that_is_known_of_it() {
    let folder = tempfile::tempdir().unwrap();
    let bare = r#"{"id": "e", "epoch": 1, "input": [{"role": "user", "content": "?"}], "target": "x", "scores": {}}"#;
    let old = r#"{"id": "f", "epoch": 1, "scores": {}, "output": {"choices": [{"message": {"role": "assistant", "content": "old"}}]}}"#;
    let log = json_log(folder.path(), "a.json", &[DETAILED, bare, old]);
    let (text, _) = exported(&[log], ExportOptions::default(), ExportFormat::JsonLines);
    let rows: Vec<Json> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(
        rows[0],
        json!({
            "task": "quiz", "model": "mock/x", "id": "d", "epoch": 1, "scorer": "match", "value": "P", "answer": "42",
            "explanation": null, "reason": null, "error": null, "limit": "time", "number": 0.5, "input": "6 × 7?",
            "target": ["42", "forty-two"], "output": "It is 42.", "started_at": "2026-11-15T02:39:22+00:00",
            "completed_at": "2026-11-15T02:39:24+00:00", "total_time": 2.0, "working_time": 1.5, "input_tokens": 6,
            "output_tokens": 4, "total_tokens": 10, "metadata.input": "own",
        })
    );
    // What metrics count as 0, because it has no meaning as a number, is no 0 here.
    assert!(rows[1].get("number").is_none() && rows[1]["value"] == "excellent");
    assert_eq!(rows[2]["input"], json!([{"content": "?", "role": "user"}]));
    assert_eq!((&rows[2]["output"], &rows[2]["total_tokens"]), (&Json::Null, &Json::Null));
    assert_eq!(rows[3]["output"], "old");
}

/// Messages are whole: what is no text is a part of the question.
#[test]
fn inputs_keep_what_is_no_text() {
    let folder = tempfile::tempdir().unwrap();
    let input = json!([
        {"role": "user", "content": [{"type": "text", "text": "What?"}, {"type": "image", "image": "data:image/png;base64,iVBO"}]},
        {"role": "assistant", "content": "", "tool_calls": [{"id": "1", "function": "add", "arguments": {"a": 1}}]},
        {"role": "tool", "content": "4", "tool_call_id": "1", "function": "add"},
    ]);
    let sample = json!({"id": 1, "epoch": 1, "input": input, "target": "x", "scores": {}}).to_string();
    let log = json_log(folder.path(), "a.json", &[&sample]);
    let (text, _) = exported(&[log], ExportOptions::default(), ExportFormat::JsonLines);
    let row: Json = serde_json::from_str(text.lines().next().unwrap()).unwrap();
    assert_eq!(row["input"], input);
}

#[test]
fn numbers_are_those_of_the_metrics() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.json");
    let metrics = r#"[{"name": "accuracy", "options": {"to_float": {"type": "value_to_float", "name": "value_to_float",
        "params": {"correct": "right", "incorrect": "wrong"}}}}]"#;
    fs::write(
        &path,
        format!(
            r#"{{"version": 2, "status": "success", "eval": {{"task": "t", "model": "m", "dataset": {{}}, "config": {{}},
            "scorers": [{{"name": "match", "metrics": {metrics}}}]}},
            "samples": [{{"id": 1, "epoch": 1, "scores": {{"match": {{"value": "right"}}}}}},
                        {{"id": 2, "epoch": 1, "scores": {{"match": {{"value": NaN}}}}}}]}}"#
        ),
    )
    .unwrap();
    let header = EvalLog::open(&path).unwrap().header().unwrap();
    let (plan, _) = plan_from_header(&header, &errorbar_core::Registry::built_in()).unwrap();
    let is_built = plan.scorers[0].metrics.iter().next().is_some();
    let options = ExportOptions::default().columns(["number"]);
    let (text, _) = exported(&[path], options, ExportFormat::Csv);
    assert_eq!(text, if is_built { "number\n1.0\nNaN\n" } else { "number\n\"\"\nNaN\n" });
}

#[test]
fn a_wide_table_has_columns_for_each_scorer() {
    let folder = tempfile::tempdir().unwrap();
    let log = json_log(folder.path(), "a.json", &SAMPLES);
    let options = ExportOptions::default().wide(true).columns([
        "id",
        "epoch",
        "value",
        "match.answer",
        "number",
        "topic",
    ]);
    let (text, written) = exported(std::slice::from_ref(&log), options, ExportFormat::Csv);
    assert_eq!(written.rows, 6);
    let rows = csv_rows(&text);
    assert_eq!(
        rows[0],
        ["id", "epoch", "match", "judge", "match.answer", "match.number", "judge.number", "topic"]
    );
    assert_eq!(rows[1], ["1", "1", "C", "0.5", "a, \"b\"\nc", "1.0", "0.5", "sums"]);
    assert_eq!(rows[3], ["4", "1", "", "", "", "", "", ""]);
    // Everything, and of one scorer alone.
    let options = ExportOptions::default().wide(true).scorers(["judge"]).texts(false);
    let export = Export::of([&log], options).unwrap();
    let names: Vec<&str> = export.columns().collect();
    assert_eq!(
        names[..8],
        ["task", "model", "id", "epoch", "judge", "judge.reason", "judge.number", "error"]
    );
}

#[test]
fn columns_of_scorers_and_metadata_do_not_share_a_name() {
    let folder = tempfile::tempdir().unwrap();
    let sample = r#"{"id": 1, "epoch": 1, "scores": {"id": {"value": 1}, "s": {"value": 0}}, "metadata": {"s": "x", "s.answer": "y"}}"#;
    let log = json_log(folder.path(), "a.json", &[sample]);
    let export = Export::of([&log], ExportOptions::default().wide(true)).unwrap();
    let mut names: Vec<&str> = export.columns().collect();
    for name in ["id", "id_2", "s", "metadata.s", "s.answer", "metadata.s.answer"] {
        assert!(names.contains(&name), "{name}: {names:?}");
    }
    let count = names.len();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), count);
}

#[test]
fn a_column_that_does_not_exist_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let log = json_log(folder.path(), "a.json", &SAMPLES);
    let error = Export::of([&log], ExportOptions::default().columns(["id", "topc"])).unwrap_err();
    assert!(error.to_string().starts_with("there is no column `topc`; the columns are "), "{error}");
    assert_eq!(error.hint().unwrap().to_string(), "did you mean `topic`?");
    // All of the metadata, also where there is none; nothing twice.
    let none = json_log(folder.path(), "b.json", &[r#"{"id": 1, "epoch": 1, "scores": {}}"#]);
    let export = Export::of([&none], ExportOptions::default().columns(["id", "metadata", "id"])).unwrap();
    assert_eq!(export.columns().collect::<Vec<_>>(), ["id"]);
}

#[test]
fn tables_of_several_logs_are_read_as_several() {
    let folder = tempfile::tempdir().unwrap();
    let logs =
        [json_log(folder.path(), "a.json", &SAMPLES), json_log(folder.path(), "b.json", &SAMPLES[3..])];
    let formats = [
        ("t.csv", ExportFormat::Csv),
        ("t.jsonl", ExportFormat::JsonLines),
        #[cfg(feature = "parquet")]
        ("t.parquet", ExportFormat::Parquet),
    ];
    for (name, format) in formats {
        let path = folder.path().join(name);
        let options = TableOptions::new().metadata(errorbar_core::MetadataKeys::NONE);
        for wide in [false, true] {
            let export = Export::of(&logs, ExportOptions::default().wide(wide)).unwrap();
            export.save(format, &path).unwrap();
            let options = if wide { options.clone().score_columns(["match"]) } else { options.clone() };
            let tables = read_tables(&path, &options).unwrap();
            let read: Vec<(Option<&str>, Option<&str>, usize)> = tables
                .iter()
                .map(|table| {
                    let log = table.log.as_deref().and_then(|log| log.rsplit('/').next());
                    (log, table.model.as_deref(), table.columns.len())
                })
                .collect();
            // With a row for each epoch that another sample of the log has.
            let expected = [(Some("a.json"), Some("mock/x"), 8), (Some("b.json"), Some("mock/x"), 6)];
            assert_eq!(read, expected, "{name}, wide: {wide}");
            assert!(tables[0].columns.score(0, "match").is_some(), "{name}, wide: {wide}");
        }
        // One log is one table, which knows its task.
        Export::of(&logs[..1], ExportOptions::default()).unwrap().save(format, &path).unwrap();
        let tables = read_tables(&path, &options).unwrap();
        assert_eq!(tables.len(), 1);
        assert_eq!((tables[0].log.as_deref(), tables[0].task.as_deref()), (None, Some("quiz")));
    }
}

#[test]
fn a_score_that_comes_twice_is_found_in_its_log() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.csv");
    let rows = ["a,1,s,C", "b,1,s,C", "a,2,s,C", "b,2,s,C", "b,1,s,I"];
    fs::write(&path, format!("log,id,scorer,value\n{}\n", rows.join("\n"))).unwrap();
    let error = read_tables(&path, &TableOptions::new()).unwrap_err();
    let TableErrorKind::DuplicateRow { first: TableLocation::Line(first), .. } = error.kind() else {
        panic!("{error}")
    };
    assert_eq!(*first, 3, "the second row, below the header");
    // Read as one table, the logs are metadata, and a sample comes twice.
    assert!(read_table(&path, &TableOptions::new()).is_err());
}
