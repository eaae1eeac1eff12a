//! Logs that are changed or read with care: `score --write`, `log edit-score`, `log convert`, `--strict` and the like.

use crate::{Folder, check};

/// Two scorers, two epochs, and a claim that contradicts the samples.
const LOG: &str = r#"{"version": 2, "status": "success",
 "eval": {"created": "2026-11-15T02:39:22+00:00", "task": "quiz", "model": "mock/x", "dataset": {}, "config": {"epochs": 2},
          "scorers": [{"name": "match", "metrics": [{"name": "inspect_ai/accuracy", "options": {}}]},
                      {"name": "judge", "metrics": [{"name": "inspect_ai/mean", "options": {}}]}], "own": [1.50, NaN]},
 "results": {"total_samples": 4, "completed_samples": 4, "scores": [
   {"name": "match", "scorer": "match", "params": {}, "metrics": {"accuracy": {"name": "accuracy", "value": 0.9, "params": {}}}},
   {"name": "judge", "scorer": "judge", "params": {}, "metrics": {"mean": {"name": "mean", "value": 0.5, "params": {}}}}]},
 "samples": [
  {"id": "q1", "epoch": 1, "messages": [{"n": NaN}], "scores": {"match": {"value": "C"}, "judge": {"value": 1}}},
  {"id": "q2", "epoch": 1, "scores": {"match": {"value": "I", "answer": "x"}, "judge": {"value": 0}}},
  {"id": "q1", "epoch": 2, "scores": {"match": {"value": "C"}, "judge": {"value": 0.5}}},
  {"id": "q2", "epoch": 2, "scores": {"match": {"value": "I"}, "judge": {"value": 0.5}}}
 ]}"#;

#[test]
fn results_are_put_into_a_log_or_a_copy() {
    let folder = Folder::new(&[("run.json", LOG)]);
    assert_eq!(folder.run(&["verify", "run.json"]).status.code(), Some(1));
    folder.check("write_copy", &["score", "run.json", "-o", "copy.json"]);
    assert_eq!(folder.text("run.json"), LOG);
    assert_eq!(folder.run(&["verify", "copy.json"]).status.code(), Some(0));
    folder.check("write_over", &["score", "run.json", "-o", "copy.json"]);
    assert_eq!(folder.run(&["score", "run.json", "-o", "copy.json", "--force"]).status.code(), Some(0));
    folder.check("write_other_form", &["score", "run.json", "-o", "copy.eval"]);

    let args = ["score", "run.json", "--reducer", "max", "--metric", "mean", "--metric", "stderr", "--write"];
    assert_eq!(folder.run(&args).status.code(), Some(0));
    folder.check("write_verified", &["verify", "run.json", "--strict"]);
    let text = folder.text("run.json");
    assert!(text.contains(r#""own": [1.50, NaN]"#) && text.contains(r#""epochs_reducer":["max"]"#), "{text}");
    folder.check("write_again", &["score", "run.json", "--format", "csv"]);
}

#[test]
fn nothing_is_written_that_would_lose_something() {
    let unknown = LOG.replace("inspect_ai/mean", "their/own");
    let folder = Folder::new(&[("run.json", &unknown), ("t.csv", "id,score\na,1\n")]);
    folder.check("write_unknown_metric", &["score", "run.json", "--write"]);
    assert_eq!(folder.text("run.json"), unknown);
    assert_eq!(folder.run(&["score", "run.json", "--write", "--metric", "mean"]).status.code(), Some(0));
    folder.check("write_table", &["score", "t.csv", "--write"]);
    folder.check("write_two_to_one", &["score", "run.json", "t.csv", "-o", "x.json"]);
    folder.check("write_some_scorers", &["score", "run.json", "--scorer", "match", "--write"]);
    folder.check("write_nowhere", &["score", "run.json", "--metric", "mean", "-o", "no/such/folder.json"]);
}

#[test]
fn only_some_scorers() {
    check("scorer_one", &[("run.json", LOG)], &["score", "run.json", "--scorer", "judge"]);
    check("scorer_unknown", &[("run.json", LOG)], &["score", "run.json", "--scorer", "jugde"]);
    let table = "id,scorer,value\na,x,1\na,y,0\nb,x,0\nb,y,1\n";
    check("scorer_of_a_table", &[("t.csv", table)], &["score", "t.csv", "--scorer", "y", "--format", "csv"]);
}

#[test]
fn folders_and_patterns() {
    let files = [("a.json", LOG), ("b.json", LOG), ("settings.json", "{}"), ("t.csv", "id,score\na,1\n")];
    check("score_folder", &files, &["score", ".", "--scorer", "match", "--format", "csv"]);
    check("score_pattern", &files, &["score", "[ab].json", "--scorer", "match", "--format", "csv"]);
    check("verify_folder", &files, &["verify", "."]);
    check("pattern_of_nothing", &files, &["score", "*.eval"]);
}

#[test]
fn bad_samples_are_named_or_left_out() {
    let bad = LOG.replace(r#""judge": {"value": 0.5}}},"#, r#""judge": {"value": 0.5,}}},"#);
    check("bad_sample", &[("run.json", &bad)], &["score", "run.json"]);
    check("bad_sample_skipped", &[("run.json", &bad)], &["score", "run.json", "--skip-bad-samples"]);
    let args = ["score", "run.json", "--skip-bad-samples", "--format", "json"];
    let output = Folder::new(&[("run.json", &bad)]).run(&args);
    assert!(String::from_utf8(output.stdout).unwrap().contains("\"skipped_samples\": 1"));
    let hidden = LOG.replace(r#"[{"n": NaN}]"#, r#"[{"n": nope}]"#);
    let folder = Folder::new(&[("run.json", &hidden)]);
    assert_eq!(folder.run(&["score", "run.json"]).status.code(), Some(0));
    folder.check("strict", &["score", "run.json", "--strict"]);
    folder.check("too_large_record", &["score", "run.json", "--max-record", "100"]);
    folder.check("bad_size", &["score", "run.json", "--max-record", "much"]);
}

#[test]
fn a_score_is_edited_on_the_record() {
    let folder = Folder::new(&[("run.json", LOG)]);
    let edit = |sample, epoch, scorer, value| {
        let mut args = vec!["log", "edit-score", "run.json", "--sample", sample];
        if let Some(epoch) = epoch {
            args.extend(["--epoch", epoch]);
        }
        args.extend(["--scorer", scorer, "--value", value, "--author", "ann", "--reason", "a typo"]);
        args
    };
    folder.check("edit_score", &edit("q2", Some("1"), "match", "C"));
    assert_eq!(folder.run(&["verify", "run.json"]).status.code(), Some(0));
    let text = folder.text("run.json");
    assert!(text.contains(r#""history":[{"value":"I","answer":"x","metadata":{}},{"value":"C","#), "{text}");
    assert!(text.contains(r#""author":"ann","reason":"a typo""#), "{text}");
    folder.check("edit_which_epoch", &edit("q2", None, "match", "C"));
    folder.check("edit_no_sample", &edit("q3", None, "match", "C"));
    folder.check("edit_no_scorer", &edit("q2", Some("1"), "mtach", "C"));
    folder.check("edit_no_value", &edit("q2", Some("1"), "match", "[[1]]"));
    folder.check("edit_refused_by_a_metric", &edit("q2", Some("1"), "judge", "Infinity"));
    assert_eq!(folder.text("run.json"), text, "what is refused changes nothing");
}

#[test]
fn a_score_is_added_and_its_parts_are_changed() {
    let folder = Folder::new(&[("run.json", LOG), ("table.csv", "id,score\n1,1\n")]);
    let edit = |log, scorer, more: &[&'static str]| {
        let mut args = vec!["log", "edit-score", log, "--sample", "q2", "--epoch", "1", "--scorer", scorer];
        args.extend(more);
        args
    };
    folder.check("edit_adds", &edit("run.json", "human", &["--add", "--value", "0.5", "--author", "ann"]));
    assert_eq!(folder.run(&["verify", "run.json"]).status.code(), Some(0));
    let parts = ["--explanation", "read again", "--metadata", r#"{"by": [1]}"#, "--author", "ann"];
    folder.check("edit_parts", &edit("run.json", "match", &parts));
    let text = folder.text("run.json");
    assert!(text.contains(r#""explanation":"read again","metadata":{"by":[1]}"#), "{text}");
    folder
        .check("edit_adds_twice", &edit("run.json", "human", &["--add", "--value", "1", "--author", "ann"]));
    folder.check("edit_nothing", &edit("run.json", "match", &["--author", "ann"]));
    folder.check("edit_banana", &edit("run.json", "match", &["--value", "banana", "--author", "ann"]));
    folder.check("edit_null", &edit("run.json", "match", &["--value", "[1, null]", "--author", "ann"]));
    folder.check("edit_bad_metadata", &edit("run.json", "match", &["--metadata", "[1]", "--author", "ann"]));
    folder.check("edit_reserved", &edit("run.json", "match", &["--answer", "UNCHANGED", "--author", "ann"]));
    folder.check("edit_no_log", &edit("table.csv", "match", &["--value", "C", "--author", "ann"]));
    folder.check("edit_missing_log", &edit("none.eval", "match", &["--value", "C", "--author", "ann"]));
    assert_eq!(folder.text("run.json"), text, "what is refused changes nothing");
    let any = edit("run.json", "match", &["--value", "banana", "--any-value", "--author", "ann"]);
    assert_eq!(folder.run(&any).status.code(), Some(0));
}

/// Marks the first answer to the second question as correct.
fn edit_q2(more: &[&'static str]) -> Vec<&'static str> {
    let edit = "log edit-score run.json --sample q2 --epoch 1 --scorer match --value C";
    edit.split(' ').chain(more.iter().copied()).collect()
}

#[test]
fn a_log_that_another_process_has_is_waited_for() {
    let folder = Folder::new(&[("run.json", LOG)]);
    let held =
        std::fs::File::options().read(true).write(true).open(folder.0.path().join("run.json")).unwrap();
    held.try_lock().unwrap();
    let edit = edit_q2(&[]);
    let output = folder.run(&edit_q2(&["--lock-timeout", "0.1"]));
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(
        !cfg!(target_os = "linux") || said.contains(&format!("process {}", std::process::id())),
        "{said}"
    );
    assert_eq!(folder.text("run.json"), LOG);
    drop(held);
    assert_eq!(folder.run(&edit).status.code(), Some(0));
}

#[test]
fn a_log_is_converted_there_and_back() {
    let folder = Folder::new(&[("run.json", LOG)]);
    folder.check("convert", &["log", "convert", "run.json", "-o", "run.eval"]);
    assert_eq!(folder.run(&["log", "convert", "run.eval", "-o", "back.json"]).status.code(), Some(0));
    let figures = |name: &str| {
        let output = folder.run(&["score", name, "--format", "csv"]);
        String::from_utf8(output.stdout).unwrap().replace(name, "LOG")
    };
    assert_eq!(figures("run.json"), figures("run.eval"));
    assert_eq!(figures("run.json"), figures("back.json"));
    folder.check("convert_exists", &["log", "convert", "run.json", "-o", "run.eval"]);
    folder.check("convert_to_what", &["log", "convert", "run.json", "-o", "run.txt"]);
    folder.check("convert_no_log", &["log", "convert", "missing.eval", "-o", "x.json"]);
}

#[test]
fn a_metric_that_fails_is_not_written() {
    let folder = Folder::new(&[("run.json", LOG)]);
    let args = ["score", "run.json", "--metric", "mean", "--metric", "stderr(cluster=\"nope\")", "--write"];
    folder.check("write_failed_metric", &args);
    assert_eq!(folder.text("run.json"), LOG);
}

#[test]
fn an_edit_that_would_lose_a_metric_is_refused() {
    let unknown = LOG.replace("inspect_ai/mean", "their/own");
    let folder = Folder::new(&[("run.json", &unknown)]);
    folder.check("edit_would_lose_a_metric", &edit_q2(&["--author", "ann", "--reason", "a typo"]));
    assert_eq!(folder.text("run.json"), unknown);
}

#[test]
fn of_two_scorers_with_one_name_the_second_can_be_selected() {
    let twice = LOG
        .replace("\"judge\": {", "\"match1\": {")
        .replace("{\"name\": \"judge\", \"metrics\"", "{\"name\": \"match\", \"metrics\"");
    let folder = Folder::new(&[("run.json", &twice)]);
    let output = folder.run(&["score", "run.json", "--scorer", "match1", "--format", "csv"]);
    let text = String::from_utf8_lossy(&output.stdout);
    let lines: Vec<&str> = text.lines().skip(1).collect();
    assert!(lines.len() == 1 && lines[0].contains(",match1,,false,,mean,mean,,,,,0.5,"), "{text}");
}
