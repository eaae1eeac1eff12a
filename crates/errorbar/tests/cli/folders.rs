//! Folders of logs: what in them is no log, and what cannot be used.

use crate::Folder;
use crate::files::LOG;

/// A log with results whose samples were not recorded.
fn without_samples() -> String {
    let (header, _) = LOG.split_once("\"samples\": [").unwrap();
    format!("{header}\"samples\": []}}")
}

/// A folder as the reference's sets of evaluations leave it: a manifest of all headers, and what was to be run.
fn evaluation_set() -> Folder {
    let manifest = format!("{{\"run.json\": {}}}", without_samples());
    let tasks = r#"{"eval_set_id": "x", "tasks": [{"name": "quiz", "model": "mock/x"}]}"#;
    let files =
        [("run.json", LOG), ("logs.json", &manifest), ("eval-set.json", tasks), (".eval-set-id", "x")];
    Folder::new(&files)
}

#[test]
fn a_manifest_is_no_log() {
    let folder = evaluation_set();
    for args in [
        &["score", "."][..],
        &["score", "./latest"],
        &["verify", "."],
        &["log", "list", "."],
        &["log", "export", "."],
        &["report", ".", "-o", "page.html"],
        &["plot", "estimates", ".", "-o", "plot.svg"],
    ] {
        let output = folder.run(args);
        let text = String::from_utf8_lossy(&output.stderr);
        assert!(!text.contains("logs.json") && !text.contains("skipped"), "{args:?}: {text}");
        // The recorded figure of that log is made up.
        let expected = if args[0] == "verify" { 1 } else { 0 };
        assert_eq!(output.status.code(), Some(expected), "{args:?}: {text}");
    }
    folder.check("folder_manifest_named", &["score", "logs.json"]);
}

/// A log, one that is cut off and one without samples or results.
fn mixed() -> Folder {
    let unstarted =
        r#"{"version": 2, "status": "started", "eval": {"task": "quiz", "model": "mock/x"}, "samples": []}"#;
    Folder::new(&[("a.json", LOG), ("cut.json", &LOG[..700]), ("none.json", unstarted)])
}

#[test]
fn a_folder_is_read_as_far_as_it_goes() {
    let folder = mixed();
    for (name, args) in [
        ("folder_mixed_score", &["score", ".", "--metric", "accuracy", "--format", "markdown"][..]),
        ("folder_mixed_list", &["log", "list", "."]),
        ("folder_mixed_export", &["log", "export", ".", "--columns", "id,scorer"]),
        ("folder_mixed_verify", &["verify", "."]),
        ("folder_mixed_verify_checked", &["verify", ".", "--require-checked"]),
        ("folder_mixed_report", &["report", ".", "-o", "page.html", "--no-samples"]),
    ] {
        folder.check(name, args);
    }
    assert!(folder.text("page.html").starts_with("<!doctype html>"));
    let output = folder.run(&["score", ".", "--with", "match()"]);
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(text.contains("skipped 2 of 3 logs: ./cut.json") && output.status.code() == Some(0), "{text}");
}

#[test]
fn a_log_that_is_named_must_be_usable() {
    let folder = mixed();
    for args in [
        &["score", "a.json", "cut.json"][..],
        &["score", ".", "cut.json"],
        &["log", "list", "a.json", "cut.json"],
        &["log", "export", "a.json", "cut.json"],
        &["report", "a.json", "none.json", "-o", "page.html"],
    ] {
        let output = folder.run(args);
        let text = String::from_utf8_lossy(&output.stderr);
        assert!(text.contains("error: ") && output.status.code() == Some(2), "{args:?}: {text}");
    }
}

#[test]
fn a_folder_with_nothing_to_use_is_an_error() {
    let folder = mixed();
    std::fs::remove_file(folder.path().join("a.json")).unwrap();
    std::fs::remove_file(folder.path().join("none.json")).unwrap();
    for command in ["score", "verify", "compare"] {
        let output = folder.run(&[command, "."]);
        let text = String::from_utf8_lossy(&output.stderr);
        assert!(
            text.starts_with("error: ./cut.json") && output.status.code() == Some(2),
            "{command}: {text}"
        );
    }
}

/// A log of this model in which no sample has a score.
fn unscored(model: &str) -> String {
    let log = LOG.replace("mock/x", model).replace(r#""scores": {"match": {"value": "C"}}, "#, "");
    let (header, samples) = log.split_once("\"results\"").unwrap();
    let (_, samples) = samples.split_once("\"samples\"").unwrap();
    format!("{header}\"samples\"{}", samples.replace(r#""scores": {"match": {"value": "I"}}, "#, ""))
}

/// One log without scores costs no comparison of the others.
#[test]
fn a_log_without_scores_is_left_out_of_comparisons() {
    let (good, other, none) =
        (LOG.replace("mock/x", "mock/a"), LOG.replace("mock/x", "mock/b"), unscored("mock/c"));
    let folder = Folder::new(&[("a.json", &good), ("b.json", &other), ("c.json", &none)]);
    folder.check("folder_unscored_compare", &["compare", "."]);
    folder.check("folder_unscored_named", &["compare", "a.json", "c.json"]);
    let output = folder.run(&["report", ".", "-o", "page.html"]);
    assert_eq!(output.status.code(), Some(0));
    let page = folder.text("page.html");
    assert!(!page.contains("The runs are not compared") && page.contains("data-base="));
}

/// `@1` is what the list shows first.
#[test]
fn handles_number_what_the_list_shows() {
    let (old, new) = ("2026-11-15T05-30-00+00-00_t_1.json", "2026-11-16T05-30-00+00-00_t_2.json");
    let folder = Folder::new(&[(old, LOG), (new, LOG), ("2026-11-17T05-30-00+00-00_t_3.eval", "")]);
    folder.check("handles_skip", &["log", "list", ".", "--format", "csv"]);
    for (handle, name) in [("./latest", new), ("./@1", new), ("./@2", old)] {
        let output = folder.run(&["score", handle]);
        assert!(String::from_utf8_lossy(&output.stdout).contains(name), "{handle}");
    }
    folder.check("handles_beyond", &["score", "./@3"]);
    for name in [old, new] {
        std::fs::remove_file(folder.path().join(name)).unwrap();
    }
    folder.check("handles_empty_log", &["score", "./latest"]);
}

/// What the shell names is refused with its reason, and a pattern skips it as a folder does.
#[test]
fn manifests_are_no_logs_by_pattern_and_name() {
    let folder = evaluation_set();
    for pattern in ["*", "./*.json"] {
        for command in ["score", "verify"] {
            let output = folder.run(&[command, pattern]);
            let text = String::from_utf8_lossy(&output.stderr);
            assert!(!text.contains("manifest") && !text.contains("error"), "{command} {pattern}: {text}");
        }
    }
    for (name, command) in [
        ("logs.json", "verify"),
        ("eval-set.json", "score"),
        (".eval-set-id", "score"),
        ("logs.json", "compare"),
    ] {
        let output = folder.run(&[command, name, "run.json"]);
        let text = String::from_utf8_lossy(&output.stderr);
        let expected = format!("error: {name}: this is a manifest of Inspect's eval_set, not a log\nhint: ");
        assert!(text.contains(&expected) && output.status.code() == Some(2), "{command} {name}: {text}");
    }
}

/// A hint is no way round: nothing of a log that is cut off can be skipped.
#[test]
fn a_log_that_is_cut_off_has_no_samples_to_skip() {
    let folder = mixed();
    for args in [&["score", "cut.json"][..], &["verify", "cut.json"]] {
        let output = folder.run(args);
        let text = String::from_utf8_lossy(&output.stderr);
        assert!(text.contains("not valid JSON") && !text.contains("--skip-bad-samples"), "{text}");
    }
    // One sample can be.
    let bad = LOG.replace(r#""scores": {"match": {"value": "I"}}"#, r#""scores": {"match": {"value": I}}"#);
    let folder = Folder::new(&[("bad.json", &bad)]);
    let output = folder.run(&["score", "bad.json"]);
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(text.contains("--skip-bad-samples"), "{text}");
    assert_eq!(folder.run(&["score", "bad.json", "--skip-bad-samples"]).status.code(), Some(0));
}
