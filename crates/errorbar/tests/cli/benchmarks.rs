//! The benchmarks of `benchmarks/` on their made-up samples: scores and metrics are those that the reference's
//! implementation gives for the same rows and outputs. `conformance/benchmarks` compares their prompts too.

use std::path::PathBuf;

use serde_json::Value as Json;

use super::{errorbar, workspace};

/// The task of each file, and its arguments: nothing is shuffled, as in the reference's run.
const BENCHMARKS: [(&str, &[&str]); 10] = [
    ("arc.toml", &[]),
    ("boolq.toml", &[]),
    ("drop.toml", &[]),
    ("gpqa.toml", &["-T", "path=sample/files/gpqa_diamond.csv", "-T", "shuffle=false"]),
    ("gsm8k.toml", &[]),
    ("hellaswag.toml", &[]),
    ("mmlu.toml", &[]),
    ("squad.toml", &[]),
    ("truthfulqa.toml@mc1", &["-T", "shuffle=false"]),
    ("winogrande.toml", &[]),
];

fn folder() -> PathBuf {
    workspace().join("benchmarks")
}

/// Runs a benchmark with recorded outputs, and gives the header and the samples of its log.
fn run(task: &str, args: &[&str], expected: &Json) -> (Json, Vec<Json>) {
    let scratch = tempfile::tempdir().unwrap();
    let line =
        |sample: &Json| serde_json::json!({"id": sample["id"], "output": sample["output"]}).to_string();
    let lines: Vec<String> = expected["samples"].as_array().unwrap().iter().map(line).collect();
    let outputs = scratch.path().join("outputs.jsonl");
    std::fs::write(&outputs, lines.join("\n")).unwrap();
    let model = format!("replay/{}", outputs.display());
    let logs = scratch.path().join("logs");
    let mut command = errorbar(&folder(), &["eval", task, "--model", &model, "--epochs", "1"]);
    command.args(args).arg("--log-dir").arg(&logs).env("HF_HUB_CACHE", folder().join("sample"));
    let ended = command.output().unwrap();
    assert!(ended.status.success(), "{task}: {}", String::from_utf8_lossy(&ended.stderr));
    let mut written = std::fs::read_dir(&logs).unwrap();
    let log = written.next().unwrap().unwrap().path();
    let dump = |what: &str| {
        let dumped = errorbar(&folder(), &["log", "dump", what]).arg(&log).output().unwrap();
        String::from_utf8(dumped.stdout).unwrap()
    };
    let samples = dump("--samples").lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    (serde_json::from_str(&dump("--header")).unwrap(), samples)
}

fn is_same(found: &Json, wanted: &Json) -> bool {
    match (found.as_f64(), wanted.as_f64()) {
        (Some(found), Some(wanted)) => (found - wanted).abs() <= 1e-12,
        _ => found == wanted,
    }
}

#[test]
fn samples_of_benchmarks_are_scored_as_in_the_reference() {
    let path = workspace().join("conformance/benchmarks/expected.json");
    let all: Json = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    for (task, args) in BENCHMARKS {
        let expected = &all[task.split('.').next().unwrap()];
        let (header, samples) = run(task, args, expected);
        let wanted = expected["samples"].as_array().unwrap();
        assert_eq!(samples.len(), wanted.len(), "{task}");
        for (sample, wanted) in samples.iter().zip(wanted) {
            let about = format!("{task}, sample {}, output {}", wanted["id"], wanted["output"]);
            assert_eq!(sample["id"], wanted["id"], "{about}");
            for (scorer, score) in wanted["scores"].as_object().unwrap() {
                let found = &sample["scores"][scorer];
                assert!(is_same(&found["value"], &score["value"]), "{about}: {found}, not {score}");
                assert_eq!(found["answer"], score["answer"], "{about}");
            }
        }
        let results = header["results"]["scores"].as_array().unwrap();
        for (found, wanted) in results.iter().zip(expected["results"].as_array().unwrap()) {
            for (metric, value) in wanted["metrics"].as_object().unwrap() {
                let found = &found["metrics"][metric]["value"];
                assert!(is_same(found, value), "{task}: {metric} {found}, not {value}");
            }
        }
    }
}

#[test]
fn the_samples_run_as_a_set() {
    let logs = tempfile::tempdir().unwrap();
    let args =
        ["eval", "benchmarks", "-T", "path=sample/files/gpqa_diamond.csv", "--model", "mock/ANSWER: A"];
    let mut command = errorbar(&workspace(), &args);
    command.arg("--log-dir").arg(logs.path()).env("HF_HUB_CACHE", folder().join("sample"));
    let ended = command.output().unwrap();
    let (shown, stderr) = (String::from_utf8_lossy(&ended.stdout), String::from_utf8_lossy(&ended.stderr));
    assert!(ended.status.success(), "{stderr}");
    assert!(shown.contains("truthfulqa_mc1") && shown.contains("gpqa"), "{shown}");
}

#[test]
fn every_benchmark_is_in_the_list() {
    let files = std::fs::read_dir(folder()).unwrap().map(|entry| entry.unwrap().file_name());
    let tasks = files.filter(|name| name.to_string_lossy().ends_with(".toml")).count();
    assert_eq!(tasks, BENCHMARKS.len());
}
