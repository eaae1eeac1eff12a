//! `score LOG --with SCORER`: stored outputs scored again.

use std::fs;

use crate::Folder;

/// A log of a model that no provider opens, with a sample that failed.
const LOG: &str = r#"{"version": 2, "status": "success",
 "eval": {"created": "2026-11-15T02:39:22+00:00", "task": "quiz", "model": "nowhere/model", "dataset": {}, "config": {"epochs": 1},
          "scorers": [{"name": "includes", "options": {}, "metrics": [{"name": "inspect_ai/accuracy", "options": {}}]}]},
 "results": {"total_samples": 4, "completed_samples": 3, "scores": [
   {"name": "includes", "scorer": "includes", "scored_samples": 3, "unscored_samples": 0, "params": {},
    "metrics": {"accuracy": {"name": "accuracy", "value": 0.6666666666666666, "params": {}}}}]},
 "samples": [
  {"id": "q1", "epoch": 1, "input": "6 × 7?", "target": "42", "messages": [], "output": {"completion": "It is 42.", "choices": []},
   "scores": {"includes": {"value": "C"}}, "events": []},
  {"id": "q2", "epoch": 1, "input": "6 + 7?", "target": "13", "messages": [], "output": {"completion": "13", "choices": []},
   "scores": {"includes": {"value": "C"}}, "events": []},
  {"id": "q3", "epoch": 1, "input": "6 - 7?", "target": "-1", "messages": [], "output": {"completion": "1?", "choices": []},
   "scores": {"includes": {"value": "I"}}, "events": []},
  {"id": "q4", "epoch": 1, "input": "6 / 7?", "target": "0.857", "messages": [], "output": {}, "error": {"message": "cut off"},
   "events": []}
 ]}"#;

#[test]
fn new_scores_are_shown_and_written_only_when_that_is_requested() {
    let folder = Folder::new(&[("run.json", LOG)]);
    folder.check("rescore_shown", &["score", "run.json", "--with", "exact()", "--with", "includes()"]);
    assert_eq!((folder.text("run.json").as_str(), folder.files()), (LOG, 1));
    folder
        .check("rescore_copy", &["score", "run.json", "--with", "includes()", "--append", "-o", "copy.json"]);
    assert_eq!(folder.text("run.json"), LOG);
    assert_eq!(folder.run(&["verify", "--strict", "copy.json"]).status.code(), Some(0));
    folder.check("rescore_copy_exists", &["score", "run.json", "--with", "f1()", "-o", "copy.json"]);
    folder.check("rescore_write", &["score", "run.json", "--with", "f1()", "--overwrite", "--write"]);
    assert_eq!(folder.run(&["verify", "run.json"]).status.code(), Some(0));
    folder.check("rescore_written", &["score", "run.json", "copy.json"]);
    assert_eq!(folder.files(), 2);
}

#[test]
fn graders_have_a_role() {
    let folder = Folder::new(&[("run.json", LOG)]);
    folder.check("rescore_no_grader", &["score", "run.json", "--with", "model_graded_qa()"]);
    let grader = ["--model-role", "grader=mock/GRADE: C"];
    folder.check(
        "rescore_graded",
        &[&["score", "run.json", "--with", "model_graded_qa()", "--write"][..], &grader].concat(),
    );
    folder.check("rescore_role_unused", &[&["score", "run.json", "--with", "exact()"][..], &grader].concat());
    // A grader that has no answer for one of the samples.
    let before = folder.text("run.json");
    folder.check(
        "rescore_grader_fails",
        &[
            "score",
            "run.json",
            "--with",
            "model_graded_qa()",
            "--write",
            "--model-role",
            r#"grader=mock/{"q1": "GRADE: C", "q2": "GRADE: C", "q3": "GRADE: I"}"#,
        ],
    );
    assert_eq!((folder.text("run.json"), folder.files()), (before, 1));
}

#[test]
fn what_cannot_be_scored_is_reported() {
    let folder = Folder::new(&[("run.json", LOG)]);
    folder.check("rescore_unknown_scorer", &["score", "run.json", "--with", "include()"]);
    folder.check("rescore_refused", &["score", "run.json", "--with", "choice()"]);
    let no_samples = LOG.split("\"samples\"").next().unwrap().to_owned() + "\"samples\": []}";
    for (name, content) in [
        ("scores.csv", "id,score\nq1,1\n"),
        ("none.json", no_samples.as_str()),
        ("other.json", "[1, 2]"),
        ("torn.eval", "PK\u{3}\u{4}"),
    ] {
        fs::write(folder.path().join(name), content).unwrap();
        let args = ["score", name, "--with", "exact()", "--write"];
        folder.check(&format!("rescore_{}", name.split('.').next().unwrap()), &args);
        assert_eq!(folder.text(name), content);
    }
    let both = ["score", "run.json", "--with", "exact()", "--append", "--overwrite"];
    assert_eq!(folder.run(&both).status.code(), Some(2));
    assert_eq!(folder.run(&["score", "run.json", "--append"]).status.code(), Some(2));
}

#[test]
fn a_log_that_another_process_writes_is_left_alone() {
    let folder = Folder::new(&[("run.json", LOG)]);
    let file = fs::File::open(folder.path().join("run.json")).unwrap();
    file.lock().unwrap();
    let output = folder.run(&["score", "run.json", "--with", "exact()", "-o", "copy.json"]);
    assert_eq!(output.status.code(), Some(0), "reading needs no lock");
    fs::copy(folder.path().join("copy.json"), folder.path().join("busy.json")).unwrap();
    let busy = fs::File::open(folder.path().join("busy.json")).unwrap();
    busy.lock().unwrap();
    let before = folder.text("busy.json");
    let output = folder.run(&["score", "run.json", "--with", "exact()", "-o", "busy.json", "--force"]);
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(folder.text("busy.json"), before);
}
