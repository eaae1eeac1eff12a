//! Completions in a real bash: what it does with a command line, our script and our program.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::errorbar;

/// Calls the function of the script as bash does, with the words that bash makes of the line and the part that it replaces.
const CALL: &str = r#"
source ./script
COMP_LINE=$1 COMP_POINT=${#1} COMP_TYPE=9; current=$2; shift 2
COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
_errorbar_complete errorbar "$current"
((${#COMPREPLY[@]})) && printf '%s\n' "${COMPREPLY[@]}"
true
"#;

fn complete(folder: &Path, line: &str, words: &[&str], current: &str) -> Vec<String> {
    let script = errorbar(folder, &["completions", "bash"]).output().unwrap().stdout;
    fs::write(folder.join("script"), script).unwrap();
    let program = Path::new(env!("CARGO_BIN_EXE_errorbar")).parent().unwrap().display();
    let path = format!("{program}:{}", std::env::var("PATH").unwrap());
    let mut bash = Command::new("bash");
    bash.args(["--norc", "-c", CALL, "bash", line, current])
        .args(words)
        .current_dir(folder)
        .env("PATH", path);
    bash.env("ERRORBAR_LOG_DIR", folder.join("logs"));
    let output = bash.output().unwrap();
    assert!(output.status.success(), "{line}: {}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(String::from_utf8_lossy(&output.stderr), "", "{line}");
    String::from_utf8(output.stdout).unwrap().lines().map(str::to_owned).collect()
}

fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
    write("tasks.toml", "[task.one]\n[task.two]\n");
    write("two words.csv", "id,score\n1,1\n");
    fs::create_dir(folder.path().join("logs")).unwrap();
    for (hour, model) in [("05", "openai/heron"), ("06", "openai/wren"), ("07", "x; touch pwned")] {
        let created = format!("2026-11-15T{hour}:00:00+00:00");
        let log = serde_json::json!({"version": 2, "status": "success", "eval": {"created": created, "task": "t",
            "model": model, "dataset": {}, "config": {}}, "samples": []});
        let name = format!("logs/2026-11-15T{hour}-00-00+00-00_t_{hour}.json");
        fs::write(folder.path().join(name), log.to_string()).unwrap();
    }
    folder
}

#[test]
fn bash_completes_what_the_program_knows() {
    let folder = folder();
    let complete = |line: &str, words: &[&str], current: &str| complete(folder.path(), line, words, current);
    assert_eq!(complete("errorbar cov", &["errorbar", "cov"], "cov"), ["coverage"]);
    let metric = complete("errorbar score -m kripp", &["errorbar", "score", "-m", "kripp"], "kripp");
    assert_eq!(metric, ["krippendorff_alpha"]);
    // A word in quotes that is not closed.
    let spec = complete(
        "errorbar score -m 'grouped(acc",
        &["errorbar", "score", "-m", "'grouped(acc"],
        "grouped(acc",
    );
    assert_eq!(spec, ["grouped(accuracy"]);
    // Bash splits at `=` and `@`, and replaces what is behind the one and from the other on.
    let words = ["errorbar", "score", "--reducer", "=", "pass_a"];
    assert_eq!(complete("errorbar score --reducer=pass_a", &words, "pass_a"), ["pass_at"]);
    let words = ["errorbar", "eval", "tasks.toml", "@", "t"];
    assert_eq!(complete("errorbar eval tasks.toml@t", &words, "@t"), ["@two"]);
    assert_eq!(complete("errorbar verify @", &["errorbar", "verify", "@"], "@"), ["@1", "@2", "@3"]);
    assert_eq!(complete("errorbar score two", &["errorbar", "score", "two"], "two"), ["two\\ words.csv"]);
    let none = ["errorbar", "score", "--score-column", "x"];
    assert_eq!(complete("errorbar score --score-column x", &none, "x"), [""; 0]);
}

#[test]
fn models_of_logs_are_completed_but_for_what_a_shell_would_run() {
    let folder = folder();
    let words = ["errorbar", "eval", "tasks.toml", "--model", ""];
    let found = complete(folder.path(), "errorbar eval tasks.toml --model ", &words, "");
    assert_eq!(found, ["openai/wren", "openai/heron", "replay/", "mock/", "openai/"]);
}
