//! `errorbar eval --resume` as users meet it: several logs, damaged ones, those of other programs.

use std::fs;
use std::path::Path;

use serde_json::Value as Json;

use crate::eval::Logs;

/// A task of three samples whose outputs are recorded in two files, each without the last of them.
fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
    let sample = |n: u32| format!("{{\"id\": \"q{n}\", \"input\": \"{n}?\", \"target\": \"yes\"}}\n");
    write("d.jsonl", &(1..=3).map(sample).collect::<String>());
    write("t.toml", "dataset = 'd.jsonl'\nscorer = 'match()'\n");
    record(folder.path(), 2);
    folder
}

fn record(folder: &Path, samples: u32) {
    for (name, answer) in [("a.jsonl", "yes"), ("b.jsonl", "no")] {
        let output = |n: u32| format!("{{\"id\": \"q{n}\", \"output\": \"{answer}\"}}\n");
        fs::write(folder.join(name), (1..=samples).map(output).collect::<String>()).unwrap();
    }
}

fn completed(stdout: &[u8]) -> Vec<u64> {
    let reports: Json = serde_json::from_slice(stdout).unwrap();
    let reports = reports.as_array().unwrap().iter();
    reports.map(|report| report["results"]["completed_samples"].as_u64().unwrap()).collect()
}

#[test]
fn several_logs_are_resumed_side_by_side() {
    let (logs, folder) = (Logs::new(), folder());
    let both = ["eval", "t.toml", "--model", "replay/a.jsonl", "--model", "replay/b.jsonl", "-f", "json"];
    assert_eq!(completed(&logs.run(folder.path(), &both).stdout), [2, 2]);
    record(folder.path(), 3);
    let files = logs.files();
    let [first, second] = [0, 1].map(|at| files[at].to_str().unwrap());
    logs.check("resume_twice", folder.path(), &["eval", "--resume", first, first]);
    logs.check("resume_one_is_missing", folder.path(), &["eval", "--resume", first, "none.eval", "no.eval"]);
    let resumed = logs.run(folder.path(), &["eval", "--resume", first, second, "t.toml", "-f", "json"]);
    assert_eq!(completed(&resumed.stdout), [3, 3], "{}", String::from_utf8_lossy(&resumed.stderr));
    assert!(resumed.status.success());
}

#[test]
fn a_damaged_sample_is_run_again_if_it_is_given_up() {
    let (logs, folder) = (Logs::new(), folder());
    record(folder.path(), 3);
    logs.run(folder.path(), &["eval", "t.toml", "--model", "replay/a.jsonl"]);
    let log = logs.only();
    let mut bytes = fs::read(&log).unwrap();
    let name = b"samples/q2_epoch_1.json";
    let at = bytes.windows(name.len()).position(|window| window == name).unwrap() + name.len() + 20;
    bytes[at] ^= 1;
    fs::write(&log, &bytes).unwrap();
    let log = log.to_str().unwrap();
    logs.check("resume_damaged", folder.path(), &["eval", "--resume", log]);
    logs.check("resume_given_up", folder.path(), &["eval", "--resume", log, "--skip-bad-samples"]);
    assert_eq!(fs::read(format!("{log}.damaged")).unwrap(), bytes, "the log as it was");
    logs.check("resume_not_damaged", folder.path(), &["eval", "--resume", log, "--skip-bad-samples"]);
}

#[test]
fn limits_count_anew_and_can_be_lifted() {
    let (logs, folder) = (Logs::new(), folder());
    let limited = ["eval", "t.toml", "--model", "replay/a.jsonl", "--run-token-limit", "1000"];
    logs.run(folder.path(), &limited);
    record(folder.path(), 3);
    let log = logs.only();
    let log = log.to_str().unwrap();
    let note = |args: &[&str]| {
        let output = logs.run(folder.path(), &[&["eval", "--resume", log], args].concat());
        String::from_utf8_lossy(&output.stderr).contains("count from 0 again: 1,000 tokens")
    };
    assert!(note(&[]));
    assert!(!note(&["--run-token-limit", "none"]));
}

#[test]
fn a_log_of_another_program_is_refused_in_one_line() {
    let (logs, folder) = (Logs::new(), folder());
    let log = serde_json::json!({
        "version": 2, "status": "cancelled", "plan": {}, "samples": [],
        "eval": {
            "created": "2026-01-01T00:00:00+00:00", "task": "t", "dataset": {}, "model": "m", "config": {},
            "packages": {"inspect_ai": "0.3.285"},
        },
    });
    fs::write(folder.path().join("inspect.json"), log.to_string()).unwrap();
    logs.check("resume_foreign", folder.path(), &["eval", "--resume", "inspect.json"]);
}
