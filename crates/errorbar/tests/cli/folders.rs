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
