//! `errorbar log show`, handles of logs and `eval --show` as users meet them.

use std::fs;
use std::path::Path;

use crate::eval::Logs;
use crate::log::{OTHER, QUIZ, folder};
use crate::{check, check_text, errorbar, transcript, workspace};

#[test]
fn samples_are_shown() {
    let files = [("quiz.json", QUIZ)];
    check("show", &files, &["log", "show", "quiz.json"]);
    check(
        "show_messages",
        &files,
        &["log", "show", "quiz.json", "--sample", "q1", "--messages", "--epoch", "1"],
    );
    check("show_scorer", &files, &["log", "show", "quiz.json", "--scorer", "judge", "--limit", "1"]);
    check("show_json", &files, &["log", "show", "quiz.json", "--sample", "q1", "--messages", "-f", "json"]);
    check("show_markdown", &files, &["log", "show", "quiz.json", "--limit", "1", "-f", "markdown"]);
    check("show_color", &files, &["log", "show", "quiz.json", "--color", "always"]);
}

#[test]
fn only_what_is_looked_for_is_shown() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("quiz.json"), QUIZ).unwrap();
    let shown = |args: &[&str]| {
        let args = [&["log", "show", "quiz.json", "-f", "json"], args].concat();
        let output = errorbar(folder.path(), &args).output().unwrap();
        assert!(output.status.success(), "{}", transcript(&args, &output));
        let samples: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        let name =
            |sample: &serde_json::Value| format!("{}:{}", sample["id"], sample["epoch"]).replace('"', "");
        samples.as_array().unwrap().iter().map(name).collect::<Vec<_>>()
    };
    let all = ["3:1", "q1:1", "q2:1", "q1:2", "q2:2"];
    assert_eq!(shown(&[]), all);
    assert_eq!(shown(&["--wrong"]), ["q1:2"]);
    assert_eq!(shown(&["--below", "0.6"]), ["q1:1", "q1:2"], "a value of a map counts");
    assert_eq!(shown(&["--below", "0.6", "--scorer", "match"]), ["q1:2"]);
    assert_eq!(shown(&["--errors"]), ["3:1"]);
    // A value of a map that is unscored, an unscored answer, and a scorer without a score.
    assert_eq!(shown(&["--unscored"]), ["q1:1", "q2:1"]);
    assert_eq!(shown(&["--unscored", "--scorer", "match"]), ["q2:1"]);
    assert_eq!(shown(&["--wrong", "--errors"]), ["3:1", "q1:2"]);
    assert_eq!(shown(&["--reason", "no_answer"]), ["q2:1"]);
    assert_eq!(shown(&["--reason", "error", "--reason", "missing"]), ["3:1", "q2:1"]);
    assert_eq!(shown(&["--reason", "token_limit"]), ["3:1"]);
    assert_eq!(shown(&["--where", "topic=sums"]), ["q1:1", "q1:2"]);
    assert_eq!(shown(&["--where", "topic=sums", "--where", "size.rows=3"]), ["q1:1"]);
    assert_eq!(shown(&["--where", "topic!=sums", "--epoch", "1"]), ["3:1", "q2:1"]);
    assert_eq!(shown(&["--sample", "q2", "--sample", "3"]), ["3:1", "q2:1", "q2:2"]);
    assert_eq!(shown(&["--limit", "2"]), all[..2]);
    assert_eq!(shown(&["--wrong", "--where", "topic=words"]), [""; 0]);
}

#[test]
fn what_is_not_there_is_reported_with_what_is() {
    let files =
        [("quiz.json", QUIZ), ("empty.json", OTHER), ("fake.eval", "no log"), ("cut.json", &QUIZ[..900])];
    let look = |name: &str, args: &[&str]| {
        check(name, &files, &[&["log", "show"], args].concat());
    };
    look("show_no_value", &["quiz.json", "--where", "topic=sumz"]);
    look("show_no_key", &["quiz.json", "--where", "topik=sums", "--reason", "no_answr"]);
    look("show_all_have_it", &["quiz.json", "--where", "other!=x", "--where", "topic=words", "--wrong"]);
    look("show_none_wrong", &["quiz.json", "--wrong", "--errors", "--sample", "q2"]);
    look("show_no_scorer", &["quiz.json", "--scorer", "jugde"]);
    look("show_no_sample", &["quiz.json", "--sample", "q9"]);
    look("show_no_epoch", &["quiz.json", "--sample", "q2", "--epoch", "7"]);
    look("show_no_epoch_at_all", &["quiz.json", "--epoch", "7"]);
    look("show_no_samples", &["empty.json"]);
    look("show_no_log", &["fake.eval"]);
    look("show_cut", &["cut.json"]);
    look("show_missing", &["missing.eval"]);
    look("show_no_condition", &["quiz.json", "--where", "topic"]);
}

#[test]
fn a_sample_that_cannot_be_read_does_not_hide_the_others() {
    let bad = QUIZ.replace("\"match\": {\"value\": \"I\"}", "\"match\": {\"value\": [[1]]}");
    check("show_bad_sample", &[("bad.json", &bad)], &["log", "show", "bad.json", "--where", "topic=sums"]);
}

#[test]
fn logs_have_handles() {
    let temporary = tempfile::tempdir().unwrap();
    let logs = temporary.path().join("logs");
    fs::create_dir(&logs).unwrap();
    for (name, text) in folder() {
        fs::write(logs.join(name), text).unwrap();
    }
    let run = |args: &[&str]| errorbar(temporary.path(), args).output().unwrap();
    let both = |args: &[&str]| transcript(args, &run(args));
    // A file of that name is reached by a path alone.
    fs::write(temporary.path().join("latest"), "no log").unwrap();
    check_text("handles_list", &both(&["log", "list"]));
    check_text("handles_list_of_folder", &both(&["log", "list", "logs/"]));
    for args in [
        vec!["score", "@2"],
        vec!["verify", "@2"],
        vec!["log", "show", "@2"],
        vec!["log", "dump", "@2"],
        vec!["log", "export", "@2"],
        vec!["log", "convert", "@2", "-o", "new.eval"],
        vec!["log", "list", "@2"],
        vec!["log", "show", "logs/@2"],
    ] {
        let output = run(&args);
        let written =
            String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
        let is_resolved = written.contains("b.json") || output.status.success();
        assert!(!written.contains('@') && is_resolved, "{}", transcript(&args, &output));
    }
    check_text("handles_latest_is_a_file", &both(&["log", "show", "./latest"]));
    check_text("handles_too_few", &both(&["score", "@9", "@2", "@0"]));
    check_text("handles_resume", &both(&["eval", "--resume", "@9"]));
    check_text("handles_resume_folder", &both(&["eval", "--resume", "latest", "--log-dir", "no/such"]));
    fs::remove_dir_all(&logs).unwrap();
    check_text("handles_no_folder", &both(&["log", "show", "latest"]));
}

#[test]
fn the_conversation_of_a_run_is_shown() {
    let logs = Logs::new();
    logs.check(
        "eval_show",
        &workspace(),
        &["eval", "examples/almanac/almanac.toml", "--limit", "1", "--show"],
    );
    // Data stays by itself.
    let args = ["eval", "examples/almanac/almanac.toml", "--limit", "2", "--show", "-q", "-f", "json"];
    let output = logs.run(&workspace(), &args);
    let results: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(results[0]["task"], "almanac");
    let shown = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(shown.matches("── geo-1-").count(), 2, "{shown}");
    assert_eq!(shown.matches("\nassistant ").count(), 2, "{shown}");
}

#[test]
fn a_run_that_was_killed_is_shown() {
    let logs = Logs::new();
    logs.run(&workspace(), &["eval", "examples/almanac/almanac.toml", "--limit", "3"]);
    let log = logs.only();
    let bytes = fs::read(&log).unwrap();
    let end = bytes.windows(14).position(|window| window == b"summaries.json").unwrap() - 30;
    fs::write(&log, &bytes[..end]).unwrap();
    logs.check("show_killed", &workspace(), &["log", "show", "latest", "--limit", "1"]);
}

#[cfg(unix)]
mod on_terminal {
    use super::*;
    use crate::terminal::on_terminal_of;

    /// What the command writes to a terminal of this width, with this pager.
    fn paged(folder: &Path, columns: u16, pager: &str, args: &[&str]) -> (String, Option<i32>) {
        let mut command = errorbar(folder, args);
        command.env("PAGER", pager);
        on_terminal_of(columns, command)
    }

    fn quiz() -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("quiz.json"), QUIZ).unwrap();
        folder
    }

    #[test]
    fn samples_go_through_the_pager() {
        let folder = quiz();
        let show = ["log", "show", "quiz.json"];
        let (text, code) = paged(folder.path(), 60, "sed -e s/^/paged:/", &show);
        assert_eq!(code, Some(0));
        assert!(text.lines().all(|line| line.starts_with("paged:")), "{text}");
        check_text("show_paged_60", &text);
        // None of these is a pager.
        for (pager, args) in
            [("", &show[..]), ("cat", &show), ("false", &[&show[..], &["--no-pager"]].concat())]
        {
            let (text, code) = paged(folder.path(), 60, pager, args);
            assert!(code == Some(0) && text.contains("q1") && !text.contains("paged:"), "{pager}: {text}");
        }
        let mut dumb = errorbar(folder.path(), &show);
        dumb.env("PAGER", "sed -e s/^/paged:/");
        let output = dumb.output().unwrap();
        assert!(!String::from_utf8_lossy(&output.stdout).contains("paged:"), "a pipe has no pager");
    }

    #[test]
    fn a_pager_that_is_closed_early_is_no_error() {
        let folder = tempfile::tempdir().unwrap();
        let sample = |n: usize| {
            format!(r#"{{"id": {n}, "epoch": 1, "input": "{}", "target": "x"}}"#, "word ".repeat(500))
        };
        let samples: Vec<String> = (0..500).map(sample).collect();
        let log = format!(
            r#"{{"version": 2, "status": "success", "eval": {{"task": "t", "model": "m"}}, "samples": [{}]}}"#,
            samples.join(",")
        );
        fs::write(folder.path().join("quiz.json"), log).unwrap();
        let (text, code) = paged(folder.path(), 80, "head -n 2", &["log", "show", "quiz.json"]);
        assert_eq!((text.lines().count(), code), (2, Some(0)), "{text}");
        let (text, code) = paged(folder.path(), 80, "no-such-pager", &["log", "show", "quiz.json"]);
        assert!(code == Some(2) && text.contains("the pager `no-such-pager` cannot be started"), "{text}");
    }

    #[test]
    fn a_list_fits_the_terminal() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["2026-11-15T02-39-22+00-00_quiz_1f0c21d68fd221f47d09e48f2d7c4a5ade.json", "other.json"] {
            let log = QUIZ.replace("\"mock/x\"", "\"openai/a-model-with-a-long-name-2026-11-15\"");
            fs::write(
                folder.path().join(name),
                log.replace("0.741935", if name == "other.json" { "NaN" } else { "0.741935" }),
            )
            .unwrap();
        }
        let mut all = String::new();
        for columns in [40, 60, 80, 100, 120, 200] {
            let (text, code) = paged(folder.path(), columns, "cat", &["log", "list", "."]);
            assert_eq!(code, Some(0));
            let plain = text.replace("\u{1b}[1m", "").replace("\u{1b}[0m", "");
            assert!(
                plain.lines().all(|line| line.chars().count() <= usize::from(columns)),
                "{columns}:\n{text}"
            );
            all += &format!("{columns}:\n{plain}");
        }
        check_text("log_list_widths", &all);
    }
}
