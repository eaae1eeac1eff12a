//! Runs killed at random moments, and resumed: nothing that was reported is lost, nothing is there twice, and the
//! results are those of a run that was not killed.
//!
//! A few rounds with the other tests; `ERRORBAR_KILL_ROUNDS=100 cargo test --release -p errorbar --test kill` for more.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic, reason = "tests")]

use std::collections::HashSet;
use std::fmt::Write as _;
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::SystemTime;

use errorbar_log::eval::EvalLog;
use errorbar_stats::random::Stream;
use serde_json::Value as Json;

const SAMPLES: usize = 600;
const EPOCHS: usize = 2;
const ROUNDS: usize = 6;

/// A task whose samples are right or wrong by a pattern, over two epochs, with clusters and a random figure.
fn write_task(folder: &Path) -> PathBuf {
    let (mut dataset, mut outputs) = (String::new(), String::new());
    for n in 0..SAMPLES {
        let id = format!("q/{n} \\\"é\\\"");
        writeln!(
            dataset,
            r#"{{"id": "{id}", "input": "{n}?", "target": "{n}", "metadata": {{"c": "{}"}}}}"#,
            n % 17
        )
        .unwrap();
        for epoch in 1..=EPOCHS {
            let answer = if (n * 7 + epoch * 3) % 5 < 3 { n } else { n + 1 };
            writeln!(outputs, r#"{{"id": "{id}", "epoch": {epoch}, "output": "It is {answer}"}}"#).unwrap();
        }
    }
    fs::write(folder.join("dataset.jsonl"), dataset).unwrap();
    fs::write(folder.join("outputs.jsonl"), outputs).unwrap();
    let task = folder.join("killed.toml");
    let text = format!(
        "dataset = {{ path = \"dataset.jsonl\" }}\nscorer = \"match()\"\nmodel = \"replay/outputs.jsonl\"\n\
         metrics = [\"accuracy\", \"stderr(cluster='c')\", \"bootstrap_stderr(num_samples=50, seed=3)\"]\n\
         epochs = {{ count = {EPOCHS}, reducers = [\"mean\", \"mode\", \"pass_at_2\"] }}\n"
    );
    fs::write(&task, text).unwrap();
    task
}

fn errorbar() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_errorbar"));
    command.args(["eval", "--progress-every", "0.000001", "--format", "json"]);
    command
}

/// Starts a run and kills it once it has reported a number of samples; 0 is at once. The highest number that it reported,
/// unless it is through by then.
fn run_and_kill(mut command: Command, after: usize) -> usize {
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let mut reported = 0;
    if after == 0 {
        child.kill().unwrap();
    }
    for line in BufReader::new(child.stderr.take().unwrap()).split(b'\n') {
        // `killed: 123/1200 · …`; the last line may be cut off.
        let line = String::from_utf8_lossy(&line.unwrap()).into_owned();
        let count = line.strip_prefix("killed: ").and_then(|rest| rest.split_once('/')?.0.parse().ok());
        reported = reported.max(count.unwrap_or(0));
        if reported >= after {
            child.kill().unwrap();
        }
    }
    child.wait().unwrap();
    reported
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    entries.map(|entry| entry.unwrap().path()).collect()
}

/// The logs in a folder. A run that was killed leaves its lock file beside its log.
fn logs(folder: &Path) -> Vec<PathBuf> {
    files(folder).into_iter().filter(|path| path.extension().is_some_and(|form| form == "eval")).collect()
}

/// The samples in a log, each once.
fn samples(log: &Path) -> usize {
    // Killed before the record of the start was there: nothing was reported yet, and nothing is lost.
    let Ok(log) = EvalLog::open(log) else { return 0 };
    let keys: Vec<(String, u32)> =
        log.samples().unwrap().map(|sample| sample.unwrap()).map(|s| (s.id.to_string(), s.epoch)).collect();
    assert_eq!(keys.iter().collect::<HashSet<_>>().len(), keys.len(), "a sample is there twice");
    keys.len()
}

fn results(output: &std::process::Output) -> Json {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let reports: Json = serde_json::from_slice(&output.stdout).unwrap();
    reports[0]["results"].clone()
}

#[test]
fn killed_runs_lose_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let task = write_task(folder.path());
    let whole = errorbar().arg(&task).arg("--log-dir").arg(folder.path().join("whole")).output().unwrap();
    let expected = results(&whole);
    assert_eq!(expected["completed_samples"], SAMPLES * EPOCHS);

    let rounds = std::env::var("ERRORBAR_KILL_ROUNDS").map_or(ROUNDS, |rounds| rounds.parse().unwrap());
    let seed = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap().as_nanos() as u64;
    println!("seed {seed}");
    let mut random = Stream::new(seed, 0, 0);
    let (mut kills, mut in_between, mut round) = (0, 0, 0);
    while round < rounds {
        let logs_of_round = folder.path().join(format!("kill{kills}"));
        // Every tenth at once; the others when some of the samples that are left are done.
        let mut moment = |there: usize| {
            let left = SAMPLES * EPOCHS - there;
            let at = random.next_u32() as usize % (left + left / 9).max(1);
            if at > left { 0 } else { there + at }
        };
        let mut start = errorbar();
        start.arg(&task).arg("--log-dir").arg(&logs_of_round);
        let mut reported = run_and_kill(start, moment(0));
        kills += 1;
        // Killed before there was anything to resume: nothing was reported, and this is no round.
        let Some(log) = logs(&logs_of_round).pop() else {
            assert_eq!(reported, 0, "reported without a log");
            continue;
        };
        if EvalLog::open(&log).is_err() {
            assert_eq!(reported, 0, "reported, but the log cannot be read");
            continue;
        }
        round += 1;
        // Killed again while it is being resumed, once or twice.
        for _ in 0..1 + round % 2 {
            let there = samples(&log);
            assert!(
                there >= reported,
                "round {round}: {reported} samples were reported, {there} are in the log"
            );
            in_between += usize::from(there > 0 && there < SAMPLES * EPOCHS);
            let mut again = errorbar();
            again.arg(&task).arg("--resume").arg(&log);
            reported = run_and_kill(again, moment(there)).max(there);
            kills += 1;
        }
        let there = samples(&log);
        assert!(there >= reported, "round {round}: {reported} samples were reported, {there} are in the log");
        let last = errorbar().arg(&task).arg("--resume").arg(&log).output().unwrap();
        assert_eq!(results(&last), expected, "round {round}");
        assert_eq!(
            files(&logs_of_round),
            std::slice::from_ref(&log),
            "round {round}: the lock is gone with the run"
        );
        assert_eq!(samples(&log), SAMPLES * EPOCHS);
        assert_eq!(logs(&logs_of_round).len(), 1, "a run has one log");
    }
    println!(
        "{rounds} runs resumed, {kills} kills, {in_between} of them with a part of the samples in the log"
    );
    assert!(rounds < 20 || in_between > rounds / 10, "the kills came too early or too late to show anything");
}
