//! `errorbar eval` as users meet it: the examples, what is printed, what is in the log folder.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;

use crate::{check_text, errorbar, transcript, workspace};

/// A folder for logs, and what happened to it.
pub(crate) struct Logs(tempfile::TempDir);

impl Logs {
    pub(crate) fn new() -> Self {
        Logs(tempfile::tempdir().unwrap())
    }

    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }

    /// The logs, by name.
    pub(crate) fn files(&self) -> Vec<PathBuf> {
        let mut files: Vec<PathBuf> =
            fs::read_dir(self.path()).unwrap().map(|entry| entry.unwrap().path()).collect();
        files.sort();
        files
    }

    /// The only log.
    pub(crate) fn only(&self) -> PathBuf {
        let files = self.files();
        assert_eq!(files.len(), 1, "{files:?}");
        files.into_iter().next().unwrap()
    }

    /// Runs the command with its logs here.
    pub(crate) fn run(&self, folder: &Path, args: &[&str]) -> Output {
        errorbar(folder, args).env("ERRORBAR_LOG_DIR", self.path()).output().unwrap()
    }

    /// The text with what differs from run to run masked: the folder, the times and ids in names of logs.
    pub(crate) fn mask(&self, text: &str) -> String {
        let mut text = text.replace(&self.path().display().to_string(), "LOGS");
        for file in self.files() {
            let name = file.file_name().unwrap().to_str().unwrap().to_owned();
            let task = name.split('_').rev().nth(1).unwrap_or_default().to_owned();
            let extension = file.extension().unwrap_or_default().to_str().unwrap().to_owned();
            text = text.replace(&name, &format!("TIME_{task}_ID.{extension}"));
        }
        text
    }

    /// Runs the command with its logs here, and compares with the snapshot.
    pub(crate) fn check(&self, name: &str, folder: &Path, args: &[&str]) {
        let output = self.run(folder, args);
        check_text(name, &self.mask(&transcript(args, &output)));
    }
}

#[test]
fn the_almanac() {
    let logs = Logs::new();
    logs.check("eval_almanac", &workspace(), &["eval", "examples/almanac/almanac.toml"]);
    assert!(logs.only().extension().unwrap() == "eval");
}

#[test]
fn the_almanac_by_three_models() {
    for model in ["heron", "magpie", "wren"] {
        let logs = Logs::new();
        let model = format!("replay/examples/almanac/outputs/{model}.jsonl");
        let args = [
            "eval",
            "examples/almanac/almanac.toml",
            "--model",
            &model,
            "--epochs",
            "3",
            "-r",
            "mean",
            "-r",
            "mode",
            "-m",
            "accuracy",
            "-m",
            "stderr(cluster='passage')",
            "--format",
            "markdown",
        ];
        logs.check(&format!("eval_almanac_{}", &model[32..36]), &workspace(), &args);
    }
}

#[test]
fn sums_over_epochs_with_several_reducers() {
    let logs = Logs::new();
    logs.check("eval_sums", &workspace(), &["eval", "examples/sums/sums.toml"]);
}

#[test]
fn several_tasks_and_options() {
    let logs = Logs::new();
    let args = [
        "eval",
        "examples/sums/sums.toml",
        "examples/almanac/almanac.toml",
        "--limit",
        "8",
        "--format",
        "csv",
        "--seed",
        "4",
        "-m",
        "mean",
        "-m",
        "bootstrap_stderr(num_samples=100)",
        "--no-reduce",
        "--max-samples",
        "3",
    ];
    logs.check("eval_several", &workspace(), &args);
    assert_eq!(logs.files().len(), 2);
}

/// The columns log, task and model of each row of a CSV.
fn origins(csv: &[u8]) -> Vec<[String; 3]> {
    let mut rows = csv::Reader::from_reader(csv);
    let header = rows.headers().unwrap().clone();
    let places = ["log", "task", "model"].map(|name| header.iter().position(|title| title == name).unwrap());
    rows.records().map(|row| places.map(|at| row.as_ref().unwrap()[at].to_owned())).collect()
}

#[test]
fn every_row_of_a_csv_names_its_log_task_and_model() {
    let logs = Logs::new();
    let args = ["eval", "examples/sums/sums.toml", "--model", "mock/a", "--model", "mock/b", "-m", "mean"];
    let csv = ["--quiet", "--format", "csv"];
    let evaluated = origins(&logs.run(&workspace(), &[&args[..], &csv].concat()).stdout);
    let files = logs.files();
    let scored = [&["score"], &files.iter().map(|path| path.to_str().unwrap()).collect::<Vec<_>>()[..], &csv];
    let scored = origins(&logs.run(&workspace(), &scored.concat()).stdout);
    for rows in [&evaluated, &scored] {
        let mut found: Vec<[String; 3]> = rows.clone();
        found.sort();
        found.dedup();
        let [[log, task, model], [other, same, another]] = found.as_slice() else { panic!("{found:?}") };
        assert!(log != other && files.contains(&PathBuf::from(log)), "{log} {other}");
        assert_eq!((task.as_str(), same.as_str()), ("sums", "sums"));
        let mut models = [model.as_str(), another.as_str()];
        models.sort();
        assert_eq!(models, ["mock/a", "mock/b"]);
    }
    let sorted = |mut rows: Vec<[String; 3]>| {
        rows.sort();
        rows
    };
    assert_eq!(sorted(evaluated), sorted(scored));
}

#[test]
fn a_run_without_any_grade_is_no_success() {
    let folder = tempfile::tempdir().unwrap();
    let dataset = "{\"input\": \"1 + 1?\", \"target\": \"2\"}\n{\"input\": \"1 + 2?\", \"target\": \"3\"}\n";
    fs::write(folder.path().join("sums.jsonl"), dataset).unwrap();
    let write = |scorer: &str| {
        let task = format!("dataset = \"sums.jsonl\"\nscorer = {scorer}\nmodel = \"mock/2\"\n");
        fs::write(folder.path().join("sums.toml"), task).unwrap();
    };
    let eval = |grader: &str| {
        let logs = Logs::new();
        let args = ["eval", "sums.toml", "--quiet", "--model-role", grader];
        let text = logs.mask(&transcript(&args, &logs.run(folder.path(), &args)));
        logs.only();
        text
    };
    write("\"model_graded_qa()\"");
    check_text("eval_no_grade", &eval("grader=mock/I would not know."));
    let mixed = r#"["model_graded_qa()", "precomputed('none.csv')"]"#;
    fs::write(folder.path().join("none.csv"), "id,score\n1,\n2,\n").unwrap();
    write(mixed);
    check_text("eval_no_grade_of_two", &eval("grader=mock/I would not know."));
    write("\"model_graded_qa()\"");
    // One grade is a figure, and so is that of another scorer.
    check_text("eval_one_grade", &eval(r#"grader=mock/{"1": "GRADE: C", "2": "no"}"#));
    write("[\"model_graded_qa()\", \"includes()\"]");
    check_text("eval_grades_of_one_of_two", &eval("grader=mock/I would not know."));
}

#[test]
fn chosen_samples_as_json_with_a_json_log() {
    let logs = Logs::new();
    let args = [
        "eval",
        "examples/almanac/almanac.toml",
        "--sample-id",
        "geo-1-a,geo-1-b",
        "--sample-id",
        "geo-2-c",
        "--quiet",
        "--format",
        "json",
        "--log-format",
        "json",
        "-m",
        "accuracy",
    ];
    let output = logs.run(&workspace(), &args);
    let reports: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(reports[0]["results"]["total_samples"], 3);
    assert_eq!(reports[0]["task"], "almanac");
    assert!(output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
    let log: serde_json::Value = serde_json::from_slice(&fs::read(logs.only()).unwrap()).unwrap();
    assert_eq!(log["eval"]["config"]["sample_id"], serde_json::json!(["geo-1-a", "geo-1-b", "geo-2-c"]));
    assert_eq!(log["samples"].as_array().unwrap().len(), 3);
}

/// A task of four questions, two of which the recorded outputs do not have.
pub(crate) fn quiz(folder: &Path, lines: &str) {
    let dataset = "id,question,answer\nq1,1 + 1?,2\nq2,2 + 2?,4\nq3,3 + 3?,6\nq4,4 + 4?,8\n";
    fs::write(folder.join("quiz.csv"), dataset).unwrap();
    let outputs = "{\"id\": \"q1\", \"output\": \"2\"}\n{\"id\": \"q4\", \"output\": \"It is 9\"}\n";
    fs::write(folder.join("outputs.jsonl"), outputs).unwrap();
    let task = format!(
        "dataset = {{ path = \"quiz.csv\", input = \"question\", target = \"answer\" }}\nscorer = \"match()\"\n\
         model = \"replay/outputs.jsonl\"\n{lines}"
    );
    fs::write(folder.join("quiz.toml"), task).unwrap();
}

#[test]
fn samples_that_fail_are_reported_and_counted_and_can_be_run_again() {
    let (logs, folder) = (Logs::new(), tempfile::tempdir().unwrap());
    quiz(folder.path(), "");
    logs.check("eval_failures", folder.path(), &["eval", "quiz.toml", "--max-samples", "1"]);
    let log = logs.only();
    let outputs = "{\"id\": \"q2\", \"output\": \"4\"}\n{\"id\": \"q3\", \"output\": \"6\"}\n";
    let old = fs::read_to_string(folder.path().join("outputs.jsonl")).unwrap();
    fs::write(folder.path().join("outputs.jsonl"), old + outputs).unwrap();
    let resumed = logs.run(folder.path(), &["eval", "--resume", log.to_str().unwrap(), "--format", "json"]);
    let reports: serde_json::Value = serde_json::from_slice(&resumed.stdout).unwrap();
    assert_eq!(reports[0]["results"]["completed_samples"], 4);
    assert_eq!(reports[0]["results"]["scores"][0]["metrics"]["accuracy"]["value"], 0.75);
    let verified = logs.run(folder.path(), &["verify", log.to_str().unwrap()]);
    assert!(verified.status.success());
}

#[test]
fn the_first_failure_ends_the_run_if_set() {
    let (logs, folder) = (Logs::new(), tempfile::tempdir().unwrap());
    quiz(folder.path(), "");
    let args = ["eval", "quiz.toml", "--max-samples", "1", "--fail-on-error"];
    logs.check("eval_fail_on_error", folder.path(), &args);
}

#[test]
fn one_task_that_is_ended_by_failures_does_not_end_the_next() {
    let (logs, folder) = (Logs::new(), tempfile::tempdir().unwrap());
    quiz(folder.path(), "");
    let args = ["eval", "quiz.toml", "quiz.toml", "--fail-on-error", "--max-samples", "1"];
    let output = logs.run(folder.path(), &args);
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(logs.files().len(), 2);
}

#[test]
fn a_json_log_of_a_run_with_failures_has_the_archive_beside_it() {
    let (logs, folder) = (Logs::new(), tempfile::tempdir().unwrap());
    quiz(folder.path(), "");
    let output = logs.run(folder.path(), &["eval", "quiz.toml", "--log-format", "json"]);
    let stderr = String::from_utf8_lossy(&output.stderr);
    let extensions: Vec<String> =
        logs.files().iter().map(|file| file.extension().unwrap().display().to_string()).collect();
    assert_eq!(extensions, ["eval", "json"]);
    let archive = logs.files().into_iter().next().unwrap();
    let warning = format!(
        "warning: quiz: 2 of 4 samples failed and are not in the figures; resume it with `errorbar eval --resume {}` to \
         run them again",
        archive.display()
    );
    assert_eq!(stderr.lines().last(), Some(warning.as_str()), "{stderr}");
    let again = logs.run(folder.path(), &["eval", "--resume", archive.to_str().unwrap()]);
    assert_eq!(again.status.code(), Some(0), "{}", String::from_utf8_lossy(&again.stderr));
}

#[test]
fn several_models_run_side_by_side() {
    let (folder, logs) = (tempfile::tempdir().unwrap(), Logs::new());
    quiz(folder.path(), "");
    // One of them has no answer to a question.
    let args =
        ["eval", "quiz.toml", "--model", "mock/blue", "--model", "mock/{\"q1\": \"red\", \"q2\": \"blue\"}"];
    let output = logs.run(folder.path(), &args);
    let mut lines: Vec<String> = logs.mask(&transcript(&args, &output)).lines().map(str::to_owned).collect();
    // Which of them begins first, and which sample fails first, is a matter of chance.
    for kind in [" samples with ", ": sample \"q"] {
        let at = lines.iter().position(|line| line.contains(kind)).unwrap();
        let count = lines.iter().filter(|line| line.contains(kind)).count();
        lines[at..at + count].sort();
    }
    check_text("several_models", &lines.join("\n"));
    assert_eq!(logs.files().len(), 2);
}

#[test]
fn what_is_wrong_with_models_is_reported_before_the_run() {
    let (folder, logs) = (tempfile::tempdir().unwrap(), Logs::new());
    quiz(folder.path(), "");
    fs::write(folder.path().join("prices.toml"), "[\"mock/blue\"]\ninput = \"cheap\"\n").unwrap();
    fs::write(folder.path().join("few.toml"), "[\"mock/red\"]\ninput = 1\n").unwrap();
    let cases: [(&str, &[&str]); 7] = [
        ("no_key_of_role", &["--model-role", "grader=openai/x"]),
        ("bad_temperature", &["--temperature", "-1"]),
        ("bad_extra_body", &["--extra-body", "{\"messages\": []}"]),
        ("bad_role", &["--model-role", "grader=opnai/x"]),
        ("unknown_role", &["--role-base-url", "grader=http://localhost/v1"]),
        ("bad_prices", &["--cost-limit", "1", "--prices", "prices.toml"]),
        ("no_price", &["--cost-limit", "1", "--prices", "few.toml"]),
    ];
    for (name, options) in cases {
        let args = [&["eval", "quiz.toml", "--model", "mock/blue"], options].concat();
        logs.check(&format!("models_{name}"), folder.path(), &args);
        assert!(logs.files().is_empty(), "{name}");
    }
}
