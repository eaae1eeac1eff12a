//! `errorbar log` as users meet it: lists, dumps and exports of logs.

use std::fs;

use crate::eval::Logs;
use crate::{check, check_text, errorbar, transcript, workspace};

/// A log that has all: two scorers, two epochs, an unscored answer, an error, metadata of every kind, a headline.
pub(crate) const QUIZ: &str = r#"{"version": 2, "status": "success",
 "eval": {"created": "2026-11-15T02:39:22+00:00", "task": "quiz", "model": "mock/x", "dataset": {}, "config": {"epochs": 2},
          "scorers": [{"name": "match", "metrics": [{"name": "accuracy"}, {"name": "stderr"}]},
                      {"name": "judge", "metrics": [{"name": "mean"}]}], "unknown_to_us": {"kept": 1.50}},
 "plan": {"name": "plan", "steps": [], "config": {}},
 "results": {"total_samples": 5, "completed_samples": 4, "scores": [
   {"name": "judge", "scorer": "judge", "params": {}, "metrics": {"mean": {"name": "mean", "value": NaN, "params": {}}}},
   {"name": "match", "scorer": "match", "params": {}, "metrics": {
     "accuracy": {"name": "accuracy", "value": 0.741935, "params": {}},
     "stderr": {"name": "stderr", "value": 0.0614, "params": {}}}}],
   "headline": {"scorer": "match", "score": "match", "metric": "accuracy"}},
 "stats": {},
 "samples": [
  {"id": "q1", "epoch": 1, "input": "?", "target": "!", "messages": [{"role": "user", "content": "?"}], "events": [{"event": "x", "n": NaN}],
   "scores": {"match": {"value": "C", "answer": "a, \"b\"", "explanation": "two\nlines"}, "judge": {"value": {"style": 0.5, "tone": NaN}}},
   "metadata": {"topic": "sums", "id": "own", "size": {"rows": 3, "tags": ["x", 1]}}},
  {"id": "q2", "epoch": 1, "scores": {"match": {"value": NaN, "reason": "no_answer"}}, "metadata": {"topic": "words"}},
  {"id": 3, "epoch": 1, "error": {"message": "boom", "traceback": "", "traceback_ansi": ""}, "limit": {"type": "token", "limit": 9}},
  {"id": "q1", "epoch": 2, "scores": {"match": {"value": "I"}, "judge": {"value": 1}}, "metadata": {"topic": "sums"}},
  {"id": "q2", "epoch": 2, "scores": {"match": {"value": "C"}, "judge": {"value": true}}, "metadata": {"topic": "words"}}
 ]}"#;

/// A run that ended by an error before it had results.
const FAILED: &str = r#"{"version": 2, "status": "error",
 "eval": {"created": "2026-11-14T23:00:01+00:00", "task": "words", "model": "mock/y", "dataset": {"samples": 10}, "config": {"epochs": 3}},
 "samples": [{"id": 1, "epoch": 1}, {"id": 2, "epoch": 1}], "error": {"message": "no", "traceback": "", "traceback_ansi": ""}}"#;

/// A run without a headline whose first figure is one of several, and which does not state how much it had to do.
pub(crate) const OTHER: &str = r#"{"version": 2, "status": "cancelled",
 "eval": {"created": "yesterday", "task": "groups", "model": "m", "dataset": {}, "config": {}},
 "results": {"total_samples": 7, "completed_samples": 7, "scores": [{"name": "s", "scorer": "s", "params": {}, "metrics": {
   "lower": {"name": "lower", "group": "ci", "value": 0.25, "params": {}}, "upper": {"name": "upper", "group": "ci", "value": 0.5, "params": {}}}}]},
 "samples": []}"#;

pub(crate) fn folder() -> Vec<(&'static str, &'static str)> {
    vec![
        ("b.json", QUIZ),
        ("a.json", FAILED),
        ("c.json", OTHER),
        ("settings.json", "{\"a\": 1}"),
        ("notes.txt", "x"),
    ]
}

#[test]
fn a_folder_is_listed() {
    for (name, format) in [
        ("log_list", "table"),
        ("log_list_json", "json"),
        ("log_list_csv", "csv"),
        ("log_list_markdown", "markdown"),
    ] {
        check(name, &folder(), &["log", "list", ".", "--format", format]);
    }
}

#[test]
fn a_list_is_filtered_and_the_handles_stay() {
    check("log_list_filtered", &folder(), &["log", "list", ".", "--task", "WORD", "--model", "mock"]);
    check("log_list_status", &folder(), &["log", "list", ".", "--status", "cancelled", "--limit", "1"]);
    check("log_list_limit", &folder(), &["log", "list", ".", "--limit", "2", "-f", "csv"]);
    check("log_list_no_match", &folder(), &["log", "list", ".", "--task", "no", "--status", "success"]);
    check("log_list_no_match_json", &folder(), &["log", "list", ".", "--task", "no", "-f", "json"]);
}

#[test]
fn a_list_tells_what_it_cannot_read_and_lists_the_others() {
    let files =
        [("a.json", QUIZ), ("cut.json", &QUIZ[..900]), ("fake.eval", "no log"), ("settings.json", "{}")];
    check("log_list_broken", &files, &["log", "list", "."]);
    check("log_list_named", &files, &["log", "list", "settings.json", "missing.eval", "a.js*"]);
    check("log_list_nothing", &[("notes.txt", "")], &["log", "list", "."]);
}

#[test]
fn names_in_logs_cannot_play_with_the_terminal() {
    let evil = OTHER.replace("groups", "\\u001b[31mred|\\u202e").replace("\"lower\":", "\"\\u0007\":");
    check("log_list_evil", &[("evil.json", &evil)], &["log", "list", "evil.json"]);
    check("log_list_evil_markdown", &[("evil.json", &evil)], &["log", "list", "evil.json", "-f", "markdown"]);
    let samples = QUIZ.replace("\"q1\"", "\"q1\\u001b[31m\"");
    check("log_dump_evil", &[("evil.json", &samples)], &["log", "dump", "evil.json", "--sample", "q1[31m"]);
    let evil = QUIZ.replace("judge", "\\u001b[31mjudge");
    check("log_export_evil", &[("evil.json", &evil)], &["log", "export", "evil.json", "--scorer", "judge"]);
}

#[test]
fn a_list_is_ascii_where_there_is_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("a.json"), QUIZ).unwrap();
    let output = errorbar(folder.path(), &["log", "list", "a.json"]).env("LC_ALL", "C").output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.is_ascii() && text.contains("accuracy 0.742 +/- 0.061"), "{text}");
}

#[test]
fn scores_are_exported() {
    let files = [("quiz.json", QUIZ)];
    check("log_export_csv", &files, &["log", "export", "quiz.json"]);
    check("log_export_jsonl", &files, &["log", "export", "quiz.json", "--to", "jsonl"]);
    check("log_export_scorer", &files, &["log", "export", "quiz.json", "--scorer", "judge", "--no-texts"]);
    check("log_export_several", &folder(), &["log", "export", ".", "--no-texts", "--to", "jsonl", "-q"]);
}

#[test]
fn exports_that_cannot_be() {
    let files = [("quiz.json", QUIZ), ("fake.eval", "no log"), ("cut.json", &QUIZ[..900])];
    check("log_export_unknown_scorer", &files, &["log", "export", "quiz.json", "--scorer", "jugde"]);
    check("log_export_no_log", &files, &["log", "export", "quiz.json", "fake.eval"]);
    check("log_export_cut", &files, &["log", "export", "cut.json"]);
    check("log_export_missing", &files, &["log", "export", "missing.eval", "-o", "out.csv"]);
    check("log_export_unwritable", &files, &["log", "export", "quiz.json", "-o", "no/such/out.csv"]);
    check("log_export_onto_itself", &files, &["log", "export", "quiz.json", "-o", "quiz.json", "--force"]);
    check("log_export_parquet_to_stdout", &files, &["log", "export", "quiz.json", "--to", "parquet"]);
}

#[test]
fn the_name_of_the_output_decides_what_is_written() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("quiz.json"), QUIZ).unwrap();
    let export = |output: &str, more: &[&str]| {
        let args = [&["log", "export", "quiz.json", "-q", "-o", output], more].concat();
        let output = errorbar(folder.path(), &args).output().unwrap();
        assert!(output.status.success() && output.stdout.is_empty(), "{}", transcript(&args, &output));
    };
    let starts_with = |name: &str, start: &str| {
        let bytes = fs::read(folder.path().join(name)).unwrap();
        assert!(bytes.starts_with(start.as_bytes()), "{name}: {}", String::from_utf8_lossy(&bytes));
    };
    for (name, start) in
        [("a.csv", "task,model"), ("a.jsonl", "{\"task\":"), ("a.parquet", "PAR1"), ("a.dat", "task,model")]
    {
        export(name, &[]);
        starts_with(name, start);
    }
    export("b.csv", &["--to", "jsonl"]);
    starts_with("b.csv", "{\"task\":");
}

#[test]
fn what_models_answer_reaches_a_pipe_unchanged() {
    let folder = tempfile::tempdir().unwrap();
    let answer = "a\\u001b[31mred\\u009b";
    fs::write(folder.path().join("quiz.json"), QUIZ.replace("a, \\\"b\\\"", answer)).unwrap();
    let output = errorbar(folder.path(), &["log", "export", "quiz.json"]).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains(",a\u{1b}[31mred\u{9b},"), "{text:?}");
}

#[test]
fn records_are_dumped() {
    let files = [("quiz.json", QUIZ)];
    check("log_dump_header", &files, &["log", "dump", "quiz.json"]);
    check("log_dump_samples", &files, &["log", "dump", "quiz.json", "--samples"]);
    check("log_dump_sample", &files, &["log", "dump", "quiz.json", "--sample", "q1"]);
    check("log_dump_epoch", &files, &["log", "dump", "quiz.json", "--sample", "q1", "--epoch", "2", "--raw"]);
    check("log_dump_number", &files, &["log", "dump", "quiz.json", "--sample", "3"]);
}

#[test]
fn a_dump_does_not_grow_with_the_depth_of_a_log() {
    // Each level has two items, which would be indented by the depth: 8 kB would give 32 MB.
    let nested = format!("{}0{}", "[1,".repeat(2_000), "]".repeat(2_000));
    let deep = format!(
        r#"{{"version":2,"status":"success","eval":{{"task":"t","model":"m","x":{nested}}},"plan":{{}},
        "samples":[{{"id":"q1","epoch":1,"scores":{{}},"metadata":{{"x":{nested}}}}}]}}"#
    );
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("deep.json"), &deep).unwrap();
    for args in [&["log", "dump", "deep.json"][..], &["log", "dump", "deep.json", "--sample", "q1"]] {
        let output = errorbar(folder.path(), args).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        assert!(output.stdout.len() < 100_000, "{} bytes", output.stdout.len());
        let compact: Vec<u8> = output.stdout.into_iter().filter(|byte| !byte.is_ascii_whitespace()).collect();
        assert!(String::from_utf8(compact).unwrap().contains(&nested));
    }
}

#[test]
fn dumps_that_cannot_be() {
    let files = [("quiz.json", QUIZ), ("empty.json", OTHER), ("fake.eval", "no log")];
    check("log_dump_no_sample", &files, &["log", "dump", "quiz.json", "--sample", "q9"]);
    check("log_dump_no_likeness", &files, &["log", "dump", "quiz.json", "--sample", "passage-7"]);
    check("log_dump_no_epoch", &files, &["log", "dump", "quiz.json", "--sample", "q2", "--epoch", "3"]);
    check("log_dump_empty", &files, &["log", "dump", "empty.json", "--sample", "q1"]);
    check("log_dump_no_log", &files, &["log", "dump", "fake.eval"]);
    check("log_dump_two_at_once", &files, &["log", "dump", "quiz.json", "--samples", "--sample", "q1"]);
}

#[test]
fn an_archive_that_was_written_here_is_listed_dumped_and_exported() {
    let logs = Logs::new();
    logs.run(&workspace(), &["eval", "examples/sums/sums.toml", "--limit", "2"]);
    let log = logs.only();
    let log = log.to_str().unwrap();
    // Without a name, the folder that runs write to.
    let listed = logs.run(&workspace(), &["log", "list", "-f", "json"]);
    let listed: serde_json::Value = serde_json::from_slice(&listed.stdout).unwrap();
    assert_eq!(listed[0]["task"], "sums");
    assert_eq!(listed[0]["completed_samples"], 10);
    assert_eq!(listed[0]["headline"]["metric"], "mean");
    let columns = "task,model,id,epoch,scorer,value,number,input,target,output,limit,metadata";
    logs.check("log_export_archive", &workspace(), &["log", "export", log, "--columns", columns]);
    let header = logs.run(&workspace(), &["log", "dump", log]);
    let header: serde_json::Value = serde_json::from_slice(&header.stdout).unwrap();
    assert_eq!(header["eval"]["task"], "sums");

    // As a killed process leaves it.
    let bytes = fs::read(log).unwrap();
    let end = bytes.windows(14).position(|window| window == b"summaries.json").unwrap() - 30;
    fs::write(log, &bytes[..end]).unwrap();
    let mask = |output: &str| {
        output.replace(&listed[0]["created"].as_str().unwrap()[..16].replace('T', " "), "TODAY, AT A TIME")
    };
    let args = ["log", "list", log];
    check_text("log_list_interrupted", &mask(&logs.mask(&transcript(&args, &logs.run(&workspace(), &args)))));
    let exported = logs.run(&workspace(), &["log", "export", log]);
    let warning = |what: &str| format!("warning: {log}: the run is in progress or was interrupted; {what}\n");
    let stderr = String::from_utf8_lossy(&exported.stderr);
    assert_eq!(stderr, warning("these are the samples that it has saved"));
    assert!(exported.status.success());
    let dumped = logs.run(&workspace(), &["log", "dump", log]);
    let stderr = String::from_utf8_lossy(&dumped.stderr);
    assert_eq!(stderr, warning("this is what was recorded at its start"));
    assert!(dumped.status.success());
}
