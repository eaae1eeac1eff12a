//! Files that commands write: folders that are converted, tables that are replaced or not, schemas, modes and owners.

use std::fs;
use std::io::Read;
use std::path::Path;
use std::process::{Output, Stdio};

use errorbar_test_support::TestFolder;

use crate::{check_text, errorbar, transcript, workspace};

pub(crate) const LOG: &str = r#"{"version": 2, "status": "success",
 "eval": {"created": "2026-11-15T02:39:22+00:00", "task": "quiz", "model": "mock/x", "dataset": {"sample_ids": ["z", "a"]}, "config": {},
          "scorers": [{"name": "match", "metrics": [{"name": "accuracy"}, {"name": "grouped", "options":
            {"metric": {"type": "metric", "name": "accuracy", "params": {}}, "group_key": "topic"}}]}]},
 "plan": {"name": "plan", "steps": [], "config": {}},
 "results": {"total_samples": 2, "completed_samples": 2, "scores": [{"name": "match", "scorer": "match", "params": {},
   "metrics": {"accuracy": {"name": "accuracy", "value": 0.75, "params": {}}}}]},
 "samples": [
  {"id": "a", "epoch": 1, "input": "?", "target": "!", "scores": {"match": {"value": "C"}}, "metadata": {"topic": "art"}},
  {"id": "z", "epoch": 1, "input": "??", "target": "!", "scores": {"match": {"value": "I"}}, "metadata": {"topic": "law"}}]}"#;

struct Files(tempfile::TempDir);

impl Files {
    fn new(files: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in files {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        Files(folder)
    }

    fn path(&self, name: &str) -> std::path::PathBuf {
        self.0.path().join(name)
    }

    fn run(&self, args: &[&str]) -> Output {
        errorbar(self.0.path(), args).output().unwrap()
    }

    fn code(&self, args: &[&str]) -> Option<i32> {
        self.run(args).status.code()
    }

    fn check(&self, name: &str, args: &[&str]) {
        check_text(name, &transcript(args, &self.run(args)));
    }

    fn names(&self, folder: &str) -> Vec<String> {
        fn collect(path: &Path, root: &Path, names: &mut Vec<String>) {
            for entry in fs::read_dir(path).unwrap() {
                let path = entry.unwrap().path();
                match path.is_dir() {
                    true => collect(&path, root, names),
                    false => names.push(path.strip_prefix(root).unwrap().display().to_string()),
                }
            }
        }
        let (mut names, root) = (Vec::new(), self.path(folder));
        collect(&root, &root, &mut names);
        names.sort();
        names
    }
}

#[test]
fn a_folder_is_converted_there_and_back() {
    let files = Files::new(&[
        ("logs/a.json", LOG),
        ("logs/sub/b.json", LOG),
        ("logs/settings.json", "{}"),
        ("logs/notes.txt", "x"),
        ("logs/.hidden/c.json", LOG),
    ]);
    files.check("convert_folder", &["log", "convert", "logs", "--to", "eval", "-o", "evals"]);
    assert_eq!(files.names("evals"), ["a.eval", "sub/b.eval"]);
    files.check("convert_folder_again", &["log", "convert", "logs", "--to", "eval", "-o", "evals"]);
    assert_eq!(files.code(&["log", "convert", "logs", "--to", "eval", "-o", "evals", "--force"]), Some(0));
    assert_eq!(files.code(&["log", "convert", "evals", "--to", "json", "-o", "back/deep"]), Some(0));
    assert_eq!(files.names("back/deep"), ["a.json", "sub/b.json"]);
    let same = |name: &str| {
        let samples = files.run(&["log", "dump", name, "--samples"]).stdout;
        assert!(!samples.is_empty());
        samples
    };
    assert_eq!(same("logs/sub/b.json"), same("back/deep/sub/b.json"));
    assert_eq!(same("logs/sub/b.json"), same("evals/sub/b.eval"));
}

#[test]
fn a_folder_is_converted_within_itself() {
    let files = Files::new(&[("logs/a.json", LOG), ("logs/b.json", LOG)]);
    assert_eq!(files.code(&["log", "convert", "logs", "--to", "eval", "-o", "logs/evals"]), Some(0));
    // What the first conversion wrote is no log to convert.
    let args = ["log", "convert", "logs", "--to", "eval", "-o", "logs/evals", "--force"];
    assert_eq!(files.code(&args), Some(0));
    assert_eq!(files.names("logs"), ["a.json", "b.json", "evals/a.eval", "evals/b.eval"]);
    files.check("convert_in_place", &["log", "convert", "logs", "--to", "json", "-o", "logs"]);
    // Each of these is beside its other format now, and both would have one name.
    files.check("convert_collision", &["log", "convert", "logs/evals", "--to", "eval", "-o", "new"]);
    assert!(!files.path("new").exists());
}

#[test]
fn conversions_that_cannot_be() {
    let files = Files::new(&[
        ("logs/a.json", LOG),
        ("logs/fake.eval", "no log"),
        ("logs/torn.json", &LOG[..400]),
        ("empty/notes.txt", ""),
        ("file", ""),
    ]);
    files.check("convert_folder_without_format", &["log", "convert", "logs", "-o", "x"]);
    files.check("convert_folder_onto_file", &["log", "convert", "logs", "--to", "json", "-o", "file"]);
    files.check("convert_empty_folder", &["log", "convert", "empty", "--to", "json", "-o", "x"]);
    files.check("convert_missing", &["log", "convert", "nothing", "--to", "json", "-o", "x"]);
    files.check("convert_some", &["log", "convert", "logs", "--to", "json", "-o", "x"]);
    assert_eq!(files.names("x"), ["a.json"]);
    files.check("convert_onto_folder", &["log", "convert", "logs/a.json", "-o", "empty.json/", "--force"]);
    fs::create_dir(files.path("folder.json")).unwrap();
    files.check(
        "convert_onto_folder_name",
        &["log", "convert", "logs/a.json", "-o", "folder.json", "--force"],
    );
}

#[test]
fn a_table_is_replaced_only_if_that_is_wanted() {
    let files = Files::new(&[("a.json", LOG), ("out.csv", "mine")]);
    files.check("export_exists", &["log", "export", "a.json", "-o", "out.csv"]);
    assert_eq!(fs::read_to_string(files.path("out.csv")).unwrap(), "mine");
    assert_eq!(files.code(&["log", "export", "a.json", "-o", "out.csv", "--force"]), Some(0));
    assert!(fs::read_to_string(files.path("out.csv")).unwrap().starts_with("task,"));
    assert_eq!(files.code(&["log", "export", "a.json", "-o", "/dev/null"]), Some(0));
    files.check("export_onto_folder", &["log", "export", "a.json", "-o", ".", "--force"]);
    files.check("export_unknown_column", &["log", "export", "a.json", "--columns", "id,topc"]);
    files.check("export_columns", &["log", "export", "a.json", "--columns", "id,number,input,metadata"]);
    files.check("export_wide", &["log", "export", "a.json", "--wide", "--no-texts"]);
}

#[test]
fn a_table_of_several_logs_gives_several_results() {
    let other = LOG.replace("mock/x", "mock/y").replace("\"value\": \"I\"", "\"value\": \"C\"");
    let files = Files::new(&[("logs/a.json", LOG), ("logs/b.json", &other)]);
    for name in ["t.csv", "t.jsonl", "t.parquet"] {
        assert_eq!(files.code(&["log", "export", "logs", "-o", name]), Some(0));
        let output = files.run(&["score", name, "--format", "csv", "--metric", "accuracy"]);
        let text = String::from_utf8(output.stdout).unwrap().replace(name, "TABLE");
        check_text("score_table_of_logs", &text);
    }
    assert_eq!(files.code(&["log", "export", "logs", "-o", "wide.csv", "--wide"]), Some(0));
    files.check("score_wide_table_of_logs", &["score", "wide.csv", "--score-column", "match"]);
}

#[test]
fn groups_have_the_order_of_the_dataset() {
    let files = Files::new(&[("a.json", LOG)]);
    let output = files.run(&["score", "a.json", "--format", "json"]);
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let metrics = json[0]["results"]["scores"][0]["metrics"].as_object().unwrap();
    assert_eq!(metrics.keys().collect::<Vec<_>>(), ["accuracy", "law", "art", "all"]);
}

#[test]
fn a_closed_pipe_does_not_change_the_verdict() {
    let files = Files::new(&[("a.json", LOG)]);
    for (args, code) in [(&["verify", "a.json"][..], 1), (&["verify", "a.json", "missing.eval"], 2)] {
        let mut command = errorbar(files.0.path(), args);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        drop(child.stdout.take());
        let mut said = String::new();
        child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
        assert_eq!(child.wait().unwrap().code(), Some(code), "{args:?}: {said}");
        assert_eq!(said.contains("missing.eval"), code == 2, "{said}");
    }
}

#[test]
fn a_cut_off_directory_is_seen() {
    let files = Files::new(&[("a.json", LOG)]);
    assert_eq!(files.code(&["log", "convert", "a.json", "-o", "a.eval"]), Some(0));
    assert_eq!(files.code(&["score", "a.eval", "--strict"]), Some(0));
    let bytes = fs::read(files.path("a.eval")).unwrap();
    fs::write(files.path("a.eval"), &bytes[..bytes.len() - 10]).unwrap();
    assert_eq!(files.code(&["score", "a.eval"]), Some(0));
    files.check("strict_cut_directory", &["score", "a.eval", "--strict"]);
}

#[test]
fn schemas_describe_what_is_printed() {
    let files = Files::new(&[]);
    let schema = |what: &str| {
        let output = files.run(&["log", "schema", "--of", what]);
        let schema = serde_json::from_slice(&output.stdout).unwrap();
        jsonschema::draft202012::new(&schema).unwrap()
    };
    let valid = |schema: &jsonschema::Validator, json: &[u8]| {
        let text = String::from_utf8(json.to_vec()).unwrap().replace(":NaN", ":null");
        let json: serde_json::Value = serde_json::from_str(&text).unwrap();
        let problems: Vec<String> =
            schema.iter_errors(&json).map(|error| format!("{}: {error}", error.instance_path())).collect();
        assert!(problems.is_empty(), "{problems:#?}");
    };
    let folder = TestFolder::new();
    let logs = folder.path().join("logs");
    for task in ["examples/sums/sums.toml", "examples/almanac/almanac.toml"] {
        let args = ["eval", task, "--log-format", "json", "--format", "json"];
        let output = errorbar(&workspace(), &args).env("ERRORBAR_LOG_DIR", &logs).output().unwrap();
        valid(&schema("results"), &output.stdout);
    }
    let (log, sample) = (schema("log"), schema("sample"));
    for entry in fs::read_dir(&logs).unwrap() {
        let path = entry.unwrap().path();
        valid(&log, &fs::read(&path).unwrap());
        let dumped = files.run(&["log", "dump", path.to_str().unwrap(), "--samples"]).stdout;
        for line in dumped.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
            valid(&sample, line);
        }
    }
    valid(&log, LOG.as_bytes());
    for wrong in [
        "{}",
        "[]",
        "{\"version\": 3, \"status\": \"success\", \"eval\": {\"task\": \"t\", \"model\": \"m\"}}",
    ] {
        assert!(!log.is_valid(&serde_json::from_str(wrong).unwrap()), "{wrong}");
    }
    assert_eq!(files.code(&["log", "schema", "--of", "nothing"]), Some(2));
}

#[cfg(unix)]
#[test]
fn results_in_a_log_keep_its_mode_and_links() {
    use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
    let files = Files::new(&[("real/a.json", LOG)]);
    let (path, link) = (files.path("real/a.json"), files.path("link.json"));
    fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
    symlink(&path, &link).unwrap();
    // As a killed process leaves it.
    fs::write(files.path("real/a.json.errorbar-0.new"), "half").unwrap();
    assert_eq!(files.code(&["score", "link.json", "--write"]), Some(0));
    assert_eq!(fs::metadata(&path).unwrap().mode() & 0o777, 0o640);
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    assert_eq!(files.names("real"), ["a.json"]);
    assert_eq!(files.code(&["verify", "link.json"]), Some(0));
}
