//! Programs that score, as users meet them: the example, what is wrong with a task, and which variables they get.
#![cfg(unix)]

use std::fs;

use crate::eval::Logs;
use crate::{check, errorbar, workspace};

const DATASET: (&str, &str) = ("d.jsonl", "{\"id\": 1, \"input\": \"1?\", \"target\": \"1\"}\n");

fn task(scorer: &str) -> String {
    format!(
        "dataset = {{ path = \"d.jsonl\" }}\nmodel = \"mock/1\"\nfail_on_error = true\nscorer = '{scorer}'\n"
    )
}

#[test]
fn a_comparison_without_any_target_is_refused() {
    let task = task("includes()").replace("\"d.jsonl\"", "\"d.jsonl\", target = \"missing\"");
    let rows = "{\"id\": 1, \"input\": \"1?\", \"answer\": \"1\", \"missing\": \"\"}\n";
    check("eval_no_target", &[("d.jsonl", rows), ("t.toml", &task)], &["eval", "t.toml"]);
}

#[test]
fn mistakes_are_shown_at_their_place() {
    let files = |scorer: &str| [DATASET.1.to_owned(), task(scorer)];
    for (name, scorer) in [
        ("command_not_there", r#"command(["no-such-program-anywhere", "score.py"])"#),
        ("command_as_a_string", r#"command("sh score.sh")"#),
        ("command_restarts", r#"command(["sh"], max_restart=3)"#),
    ] {
        let [dataset, task] = files(scorer);
        check(name, &[("d.jsonl", &dataset), ("t.toml", &task)], &["eval", "t.toml"]);
    }
}

#[test]
fn lines_of_stderr_stand_apart_and_similar_failures_are_not_repeated() {
    let (logs, folder) = (Logs::new(), tempfile::tempdir().unwrap());
    let rows: String =
        (1..=6).map(|n| format!("{{\"id\": {n}, \"input\": \"?\", \"target\": \"1\"}}\n")).collect();
    fs::write(folder.path().join(DATASET.0), rows).unwrap();
    let run = |script: &str| {
        fs::write(folder.path().join("score.sh"), script).unwrap();
        let task = task(r#"command(["sh", "score.sh"])"#).replace("fail_on_error = true\n", "");
        fs::write(folder.path().join("t.toml"), task).unwrap();
        let output = errorbar(folder.path(), &["eval", "t.toml", "--max-samples", "1"])
            .env("ERRORBAR_LOG_DIR", logs.path())
            .output()
            .unwrap();
        String::from_utf8(output.stderr).unwrap()
    };
    let crashed = run("read -r line; printf 'Traceback:\\n  gone wrong\\n' >&2; exit 3");
    assert!(
        crashed.contains("\n  last lines of its stderr:\n    Traceback:\n      gone wrong\n"),
        "{crashed}"
    );
    assert!(!crashed.contains('\u{fffd}'), "{crashed}");
    let differing = run(
        "n=0; while read -r line; do n=$((n+1)); echo \"{\\\"seq\\\": $n, \\\"error\\\": \\\"no $n\\\"}\"; done",
    );
    assert_eq!(differing.matches("reports: no ").count(), 2, "{differing}");
    assert!(differing.contains("4 more samples failed for the same reasons"), "{differing}");
}

/// The value of a score of a run in this environment.
fn value(scorer: &str, script: &str) -> String {
    let (logs, folder) = (Logs::new(), tempfile::tempdir().unwrap());
    fs::write(folder.path().join(DATASET.0), DATASET.1).unwrap();
    fs::write(folder.path().join("score.sh"), script).unwrap();
    fs::write(folder.path().join("t.toml"), task(scorer)).unwrap();
    let output = errorbar(folder.path(), &["eval", "t.toml", "--metric", "frequency", "--format", "json"])
        .env("ERRORBAR_LOG_DIR", logs.path())
        .envs([("SCORER_SETTING", "seen"), ("DB_PASS", "hidden"), ("JWT", "hidden")])
        .envs([("VIRTUAL_ENV", "/venv"), ("LC_TIME", "C")])
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let stdout = String::from_utf8(output.stdout).unwrap();
    let reports: serde_json::Value = serde_json::from_str(&stdout).unwrap();
    let metrics = reports[0]["results"]["scores"][0]["metrics"].as_object().unwrap();
    metrics.keys().cloned().collect::<Vec<_>>().join(", ")
}

#[test]
fn only_listed_variables_reach_a_program() {
    let script = r#"while read -r line; do s=$(echo "$line" | sed 's/.*"seq":\([0-9]*\).*/\1/')
echo "{\"seq\": $s, \"value\": \"${SCORER_SETTING:-unset} ${DB_PASS:-unset} ${JWT:-unset} $VIRTUAL_ENV $LC_TIME\"}"; done"#;
    let plain = value(r#"command(["sh", "score.sh"])"#, script);
    assert!(plain.contains("unset unset unset /venv C"), "{plain}");
    let named = value(r#"command(["sh", "score.sh"], env=["DB_PASS"])"#, script);
    assert!(named.contains("unset hidden unset /venv C"), "{named}");
}

#[test]
fn the_page_shows_the_script_of_the_example() {
    let read = |path: &str| fs::read_to_string(workspace().join(path)).unwrap();
    let (page, script) = (read("docs/command-scorer.md"), read("examples/words/score.py"));
    let code = script.split_once("\n\n").unwrap().1;
    assert!(page.contains(&format!("```python file=score.py\n{code}```")), "{code}");
    let line =
        read("examples/words/words.toml").lines().find(|line| line.starts_with("scorer")).unwrap().to_owned();
    assert!(page.contains(&line), "{line}");
}
