//! Runs that end early: interrupted by the user, or because the disk is full. Finished samples are stored,
//! and the run can resume.
#![cfg(unix)]

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Output, Stdio};

use serde_json::Value as Json;

use crate::errorbar;
use crate::eval::Logs;

/// A task with this number of samples, all of them right.
fn write_task(folder: &Path, samples: usize) {
    let line = |n: usize| format!("{{\"id\": {n}, \"input\": \"{n}?\", \"target\": \"yes\"}}\n");
    fs::write(folder.join("d.jsonl"), (0..samples).map(line).collect::<String>()).unwrap();
    let task = "dataset = { path = \"d.jsonl\" }\nscorer = \"match()\"\nmodel = \"mock/yes\"\n";
    fs::write(folder.join("t.toml"), task).unwrap();
}

fn completed(output: &Output) -> u64 {
    let reports: Json = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(reports[0]["results"]["scores"][0]["metrics"]["accuracy"]["value"], 1.0);
    reports[0]["results"]["completed_samples"].as_u64().unwrap()
}

fn resume(logs: &Logs, folder: &Path) -> Output {
    logs.run(folder, &["eval", "--resume", logs.only().to_str().unwrap(), "--format", "json"])
}

#[test]
fn an_interrupted_run_ends_with_results_over_what_is_done() {
    interrupted_by("-INT");
}

#[test]
fn a_lost_terminal_interrupts_a_run_too() {
    interrupted_by("-HUP");
}

#[test]
fn a_run_that_is_to_outlive_its_terminal_does() {
    const SAMPLES: usize = 3_000;
    let (logs, folder) = (Logs::new(), tempfile::tempdir().unwrap());
    write_task(folder.path(), SAMPLES);
    // As `nohup` starts it.
    let script = "trap '' HUP; exec \"$0\" \"$@\"";
    let mut child = Command::new("sh")
        .args(["-c", script, env!("CARGO_BIN_EXE_errorbar"), "eval", "t.toml", "--max-samples", "1"])
        .args(["--progress-every", "0.01", "--format", "json"])
        .current_dir(folder.path())
        .env("ERRORBAR_LOG_DIR", logs.path())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stderr = BufReader::new(child.stderr.take().unwrap()).lines();
    stderr.by_ref().map(Result::unwrap).find(|line| line.contains("/3000 ·")).unwrap();
    assert!(Command::new("kill").args(["-HUP", &child.id().to_string()]).status().unwrap().success());
    let rest: Vec<String> = stderr.map(Result::unwrap).collect();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{rest:?}");
    assert_eq!(completed(&output), SAMPLES as u64);
}

/// Sends a signal to a run, which ends with what is done and can be resumed.
fn interrupted_by(signal: &str) {
    const SAMPLES: usize = 30_000;
    let (logs, folder) = (Logs::new(), tempfile::tempdir().unwrap());
    write_task(folder.path(), SAMPLES);
    let args = ["eval", "t.toml", "--max-samples", "1", "--progress-every", "0.01", "--format", "json"];
    let mut child = errorbar(folder.path(), &args)
        .env("ERRORBAR_LOG_DIR", logs.path())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stderr = BufReader::new(child.stderr.take().unwrap()).lines();
    // The first line names what is run, the second the progress.
    let line = stderr.by_ref().map(Result::unwrap).find(|line| line.contains("/30000 ·")).unwrap();
    assert!(line.contains("accuracy 1.000"), "{line}");
    let id = child.id().to_string();
    assert!(Command::new("kill").args([signal, &id]).status().unwrap().success());
    let rest: Vec<String> = stderr.map(Result::unwrap).collect();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(1), "{rest:?}");
    let done = completed(&output);
    assert!((1..SAMPLES as u64).contains(&done), "{done}");
    let note = "cancelled; computing the results over what is done (again to end at once)";
    assert!(rest.iter().any(|line| line == note), "{rest:?}");
    let warning = format!(
        "warning: t: cancelled after {done} of 30000 samples; resume it with `errorbar eval --resume {}`",
        logs.only().display()
    );
    assert_eq!(rest.last(), Some(&warning));

    let resumed = resume(&logs, folder.path());
    assert!(resumed.status.success());
    assert_eq!(completed(&resumed), SAMPLES as u64);
}

#[test]
fn a_full_disk_ends_the_run_and_loses_nothing() {
    let (logs, folder) = (Logs::new(), tempfile::tempdir().unwrap());
    write_task(folder.path(), 2_000);
    // Files may have 300 blocks of 512 bytes; beyond that a write fails as it does on a full disk.
    let script = "trap '' XFSZ; ulimit -f 300; exec \"$0\" \"$@\"";
    let output = Command::new("sh")
        .args(["-c", script, env!("CARGO_BIN_EXE_errorbar"), "eval", "t.toml", "--quiet"])
        .current_dir(folder.path())
        .env("ERRORBAR_LOG_DIR", logs.path())
        .output()
        .unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{stderr}");
    let log = logs.only().display().to_string();
    let (place, reported) =
        stderr.split_once("`: cannot write to the log: File too large (os error 27); ").expect(&stderr);
    assert!(place.starts_with(&format!("error: t: {log}: `samples/")), "{stderr}");
    let end = format!(
        " of 2000 samples are in it\nhint: check the disk: what was recorded before is safe; resume it with `errorbar eval --resume {log}`\n"
    );
    let reported: usize = reported.strip_suffix(&end).expect(&stderr).parse().unwrap();
    let held = errorbar_log::eval::EvalLog::open(logs.only()).unwrap().sample_count();
    assert!(reported > 0 && held >= reported, "{reported} reported, {held} in the log");

    let resumed = resume(&logs, folder.path());
    assert!(resumed.status.success(), "{}", String::from_utf8_lossy(&resumed.stderr));
    assert_eq!(completed(&resumed), 2_000);
}
