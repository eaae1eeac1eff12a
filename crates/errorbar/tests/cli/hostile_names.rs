//! Names of anybody, in the formats that people paste elsewhere: they are text there, and nothing else.

use std::fs;

use crate::errorbar;

/// What GitHub, a terminal, LaTeX or a spreadsheet would make more of.
const NAMES: [&str; 8] = [
    "@octocat",
    "fixes #12 and GH-7",
    "https://evil.example www.evil.example",
    "me@evil.example",
    "$x$ and $y$",
    "a\u{1b}[8mb\u{7}\u{0}",
    "\u{202e}\u{2066}\u{fffe}",
    "=HYPERLINK(1)",
];

/// A table with a group of each name, and a log with the same.
fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let (mut table, mut samples) = ("id,score,topic\n".to_owned(), Vec::new());
    for (at, name) in NAMES.iter().enumerate() {
        table += &format!("q{at},{},\"{name}\"\n", at % 2);
        samples.push(serde_json::json!({"id": *name, "epoch": 1, "input": *name, "target": "x",
            "scores": {"match": {"value": if at % 2 == 0 { "C" } else { "I" }, "answer": *name}}, "metadata": {"topic": *name}}));
    }
    let log = serde_json::json!({"version": 2, "status": "success", "samples": samples,
        "eval": {"created": "2026-11-15T02:39:22+00:00", "task": NAMES[1], "model": NAMES[0], "dataset": {}, "config": {},
                 "scorers": [{"name": "match", "metrics": [{"name": "accuracy"}]}]},
        "plan": {"name": "plan", "steps": [], "config": {}}});
    fs::write(folder.path().join("me@evil.example $x$ $y$.csv"), table).unwrap();
    fs::write(folder.path().join("log.json"), log.to_string()).unwrap();
    let model = |name: &str| format!("\"model\":\"{name}\"");
    let other = log.to_string().replace(&model(NAMES[0]), &model(NAMES[4]));
    let other = other.replacen("\"value\":\"C\"", "\"value\":\"I\"", 2);
    fs::write(folder.path().join("other.json"), other).unwrap();
    folder
}

fn output(folder: &tempfile::TempDir, args: &[&str]) -> String {
    let output = errorbar(folder.path(), args).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{args:?} {output:?}");
    String::from_utf8(output.stdout).unwrap()
}

const TABLE: &str = "me@evil.example $x$ $y$.csv";
const GROUPED: &str = "grouped(accuracy(), \"topic\")";

#[test]
fn markdown_and_latex_have_names_as_text_through_a_pipe() {
    let folder = folder();
    for args in [
        &["score", TABLE, "--metric", GROUPED][..],
        &["score", "log.json", "--metric", GROUPED],
        &["score", TABLE, "--explain"],
        &["coverage", TABLE, "--simulations", "20"],
        &["compare", "log.json", "other.json", "--by", "topic", "--flips"],
        &["log", "list", "."],
        &["log", "show", "log.json"],
    ] {
        let markdown = output(&folder, &[args, &["--format", "markdown"]].concat());
        // What stands in a block of code is text already.
        let outside: Vec<&str> = markdown.split("```").step_by(2).collect();
        let outside = outside.concat();
        for alive in ["@octocat", "#12", "GH-7", "https://", "www.evil", "@evil", " $x$", "[$x$"] {
            assert!(!outside.contains(alive), "{args:?}: {alive} in {markdown}");
        }
        let is_unsafe = |c: char| errorbar_report::is_unsafe(c) && c != '\n';
        assert!(!markdown.contains(is_unsafe), "{args:?}: {markdown:?}");
        if args[1] != "show" {
            let latex = output(&folder, &[args, &["--format", "latex"]].concat());
            assert!(!latex.contains(is_unsafe), "{args:?}: {latex:?}");
        }
    }
}

#[test]
fn csv_is_exact_and_csv_safe_has_no_formula() {
    let folder = folder();
    let args = ["score", TABLE, "--metric", GROUPED, "--format"];
    let (exact, safe) = (
        output(&folder, &[&args[..], &["csv"]].concat()),
        output(&folder, &[&args[..], &["csv-safe"]].concat()),
    );
    assert!(exact.contains(",=HYPERLINK(1),") && exact.contains("a\u{1b}[8mb\u{7}\u{0}"), "{exact:?}");
    assert!(safe.contains(",'=HYPERLINK(1),") && safe.contains(",'@octocat,"), "{safe}");
    assert_eq!(exact.lines().count(), safe.lines().count());
    let args = ["log", "export", "log.json", "--to"];
    let (exact, safe) = (
        output(&folder, &[&args[..], &["csv"]].concat()),
        output(&folder, &[&args[..], &["csv-safe"]].concat()),
    );
    assert!(exact.contains(",=HYPERLINK(1),") && exact.contains(",@octocat,"), "{exact:?}");
    assert!(safe.contains(",'=HYPERLINK(1),") && safe.contains(",'@octocat,"), "{safe}");
    assert!(!safe.contains(",=") && !safe.contains(",@"), "{safe}");
}
