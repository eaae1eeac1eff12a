//! `errorbar eval --stop-when` as users meet it, and what later commands make of the log.

use std::fs;
use std::path::Path;

use serde_json::Value as Json;

use crate::errorbar;
use crate::eval::Logs;

/// A task of 300 samples; `yes` is right for 70 of a hundred.
fn folder(more: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let target = |n: u32| if n * 37 % 100 < 70 { "yes" } else { "no" };
    let sample = |n: u32| {
        let (target, part) = (target(n), n % 2);
        format!("{{\"id\": \"q{n}\", \"input\": \"{n}?\", \"target\": \"{target}\", \"part\": {part}}}\n")
    };
    fs::write(folder.path().join("d.jsonl"), (0..300).map(sample).collect::<String>()).unwrap();
    let task = format!(
        "dataset = {{ path = 'd.jsonl', metadata = ['part'] }}\nscorer = 'match()'\nmodel = 'mock/yes'\n{more}"
    );
    fs::write(folder.path().join("quiz.toml"), task).unwrap();
    folder
}

/// One sample at a time: how many have started when the rule holds is otherwise a matter of chance.
const EVAL: [&str; 4] = ["eval", "quiz.toml", "--max-samples", "1"];

fn eval<'a>(more: &[&'a str]) -> Vec<&'a str> {
    [&EVAL[..], more].concat()
}

#[test]
fn a_stopped_run_has_its_interval_in_every_output() {
    let (logs, folder) = (Logs::new(), folder(""));
    let by_part = ["-m", "accuracy", "-m", "stderr", "-m", "grouped(accuracy, 'part')"];
    let args = eval(&[&["--stop-when", "width(accuracy) < 0.2"][..], &by_part].concat());
    logs.check("stop_when_width", folder.path(), &args);
    let log = logs.only();
    let log = log.to_str().unwrap();
    logs.check("stop_when_scored", folder.path(), &["score", log]);
    let scored = logs.run(folder.path(), &["score", log, "--format", "json"]);
    let scored: Json = serde_json::from_slice(&scored.stdout).unwrap();
    let stop = &scored[0]["early_stop"];
    assert_eq!((&stop["rule"], &stop["planned"]), (&"width(accuracy) < 0.2".into(), &300.into()), "{stop}");
    assert_eq!(stop["samples"], scored[0]["results"]["completed_samples"]);
    assert!(stop["reason"].is_string(), "{stop}");
    logs.check("stop_when_scored_csv", folder.path(), &["score", log, "--format", "csv"]);
    logs.check("stop_when_scored_markdown", folder.path(), &["score", log, "--format", "markdown"]);
    logs.check("stop_when_verified", folder.path(), &["verify", log]);
    let listed = logs.run(folder.path(), &["log", "list", log, "--format", "json"]);
    let listed: Json = serde_json::from_slice(&listed.stdout).unwrap();
    let (first, headline) = (&listed[0], &listed[0]["headline"]);
    assert_eq!((&first["status"], &first["total_samples"]), (&"success".into(), &300.into()));
    assert!(headline["lower"].as_f64() < headline["value"].as_f64(), "{listed}");
    let shown = logs.run(folder.path(), &["log", "list", log]);
    let shown = String::from_utf8(shown.stdout).unwrap();
    assert!(shown.contains("/300  accuracy 0.") && shown.contains(" [0."), "{shown}");
    let shown = logs.run(folder.path(), &["log", "show", log, "--limit", "1"]);
    let shown = String::from_utf8(shown.stdout).unwrap();
    let shown = shown.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(shown.contains("of 300 samples by width(accuracy) < 0.2 at 20"), "{shown}");
    // It continues to the full set.
    logs.check("stop_when_resumed", folder.path(), &["eval", "--resume", log]);
}

#[test]
fn a_run_stops_when_it_is_decided() {
    let (logs, folder) = (Logs::new(), folder("stop_when = 'decided(accuracy, 0.5)'\n"));
    logs.check("stop_when_decided", folder.path(), &eval(&[]));
    let never = logs.run(folder.path(), &eval(&["--stop-when", "never", "--format", "json", "-q"]));
    let never: Json = serde_json::from_slice(&never.stdout).unwrap();
    assert_eq!(never[0]["results"]["completed_samples"], 300);
}

#[test]
fn a_rule_that_never_held_is_noted() {
    let (logs, folder) = (Logs::new(), folder(""));
    let output = logs.run(folder.path(), &eval(&["--stop-when", "width(accuracy) < 0.001"]));
    let text = String::from_utf8(output.stderr).unwrap();
    let note = "not stopped early: width(accuracy) < 0.001 did not hold before the end";
    assert!(output.status.success() && text.contains(note), "{text}");
}

#[test]
fn a_run_stops_when_it_is_better_than_a_log() {
    let (logs, folder) = (Logs::new(), folder(""));
    logs.run(folder.path(), &["eval", "quiz.toml", "--model", "mock/no"]);
    logs.check("stop_when_better", folder.path(), &eval(&["--stop-when", "better_than(latest)"]));
}

#[test]
fn what_is_wrong_with_a_rule_is_pointed_at() {
    let (logs, quiz) = (Logs::new(), folder(""));
    let check = |name: &str, rule: &str| logs.check(name, quiz.path(), &eval(&["--stop-when", rule]));
    check("stop_when_not_a_rule", "width(accuracy) > 0.1");
    check("stop_when_unknown", "until(accuracy, 3)");
    check("stop_when_unknown_metric", "width(acuracy) < 0.1");
    check("stop_when_no_mean", "width(stderr) < 0.1");
    check("stop_when_no_log", "better_than(none.eval)");
    check("stop_when_outside", "decided(accuracy, 50)");
    let args = eval(&["--stop-when", "width(accuracy) < 0.1", "--epochs", "2", "--no-reduce"]);
    logs.check("stop_when_unreduced", quiz.path(), &args);
    assert_eq!(logs.files().len(), 0, "nothing has run");
    let wrong = folder("stop_when = ['width(accuracy) < 0.1', 'width(accuracy) < wide']\n");
    logs.check("stop_when_in_a_file", wrong.path(), &EVAL);
}

#[test]
fn scores_of_an_unknown_range_cannot_stop_a_run() {
    let (logs, folder) = (Logs::new(), folder(""));
    let score = |n: u32| format!("q{n},{}\n", n % 11);
    let table: String = "id,score\n".to_owned() + &(0..300).map(score).collect::<String>();
    fs::write(folder.path().join("s.csv"), table).unwrap();
    let task = "dataset = 'd.jsonl'\nscorer = \"precomputed('s.csv', 'score')\"\nmodel = 'mock/yes'\nmetrics = ['mean()']\n";
    fs::write(folder.path().join("quiz.toml"), task).unwrap();
    logs.check("stop_when_no_range", folder.path(), &eval(&["--stop-when", "width(mean) < 2"]));
    logs.check(
        "stop_when_range",
        folder.path(),
        &eval(&["--stop-when", "width(mean) < 2", "--range", "0", "10"]),
    );
}

/// A log whose record of the stop is absurd is scored as any other, with a warning; one whose rule is no rule cannot be
/// resumed without another.
#[test]
fn absurd_records_are_reported() {
    let (logs, folder) = (Logs::new(), folder(""));
    let converted = |record: &str| {
        let args = eval(&["--stop-when", "width(accuracy) < 0.2", "--log-format", "json", "-q"]);
        let own = Logs::new();
        own.run(folder.path(), &args);
        let log = own.files().into_iter().find(|path| path.extension().unwrap() == "json").unwrap();
        let mut json: Json = serde_json::from_slice(&fs::read(log).unwrap()).unwrap();
        json["eval"]["config"]["stopped_early"] = serde_json::from_str(record).unwrap();
        let path = logs.path().join("absurd.json");
        fs::write(&path, serde_json::to_vec(&json).unwrap()).unwrap();
        path
    };
    let score = |path: &Path| {
        let output = errorbar(folder.path(), &["score", path.to_str().unwrap()]).output().unwrap();
        assert!(output.status.success());
        String::from_utf8(output.stderr).unwrap()
    };
    let warned = score(&converted(r#"{"samples": 1e99, "seed": 0}"#));
    assert!(warned.contains("`stopped_early` of the log's configuration cannot be read"), "{warned}");
    let warned = score(&converted(r#"{"samples": 299, "seed": 0}"#));
    assert!(!warned.contains("cannot be read"), "{warned}");
}

/// The gate reads the ordinary interval, and only the table said that it does not allow for the stop.
#[test]
fn a_gate_on_a_stopped_run_has_its_caution() {
    let (logs, folder) = (Logs::new(), folder(""));
    logs.run(folder.path(), &["eval", "quiz.toml", "-q"]);
    let base = logs.only();
    logs.run(
        folder.path(),
        &eval(&["--model", "mock/no", "--stop-when", "width(accuracy) < 0.3", "-q", "-m", "accuracy"]),
    );
    let stopped = logs.files().into_iter().find(|file| *file != base).unwrap();
    let files = [&base, &stopped].map(|file| file.to_str().unwrap());
    let caution = "the interval does not allow for the early stop of mock/no";
    for (gate, code) in [(&["--fail-if-worse"][..], 1), (&["--margin", "0.9"], 0), (&["--margin", "0.4"], 1)]
    {
        let args =
            [&["compare", files[0], files[1], "--metric", "accuracy", "--format", "csv"], gate].concat();
        let output = logs.run(folder.path(), &args);
        let text = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(code), "{gate:?}: {text}");
        let line = text.lines().find(|line| line.contains("gate \"")).unwrap_or_default();
        assert!(line.contains(caution), "{gate:?}: {text}");
    }
    // A sequence has no standard error to explain.
    for format in ["markdown", "latex"] {
        let output = logs.run(folder.path(), &["score", files[1], "--format", format]);
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(text.contains("betting") && !text.contains("one standard error"), "{format}: {text}");
    }
}
