//! Results and lists for papers, and the order of groups.

use crate::eval::Logs;
use crate::{check, check_examples};

const TABLE: (&str, &str) =
    ("t.csv", "id,score,topic\n1,0,m\n2,1,m\n3,1,b_10\n4,1,b_10\n5,1,b_10\n6,0,b_10\n7,0,a\n8,0,a\n9,1,a\n");

fn score(name: &str, options: &[&str]) {
    let args = ["score", "t.csv", "-m", "accuracy", "-m", "grouped(accuracy(), 'topic')"];
    let args: Vec<&str> = args.iter().chain(options).copied().collect();
    check(name, &[TABLE], &args);
}

#[test]
fn groups_in_any_order() {
    for sort in ["value", "name", "n", "none"] {
        score(&format!("sort_{sort}"), &["--sort", sort]);
    }
    score("sort_markdown", &["--sort", "name", "--format", "markdown"]);
    score("sort_what", &["--sort", "size"]);
}

/// In key order, results do not depend on the order of rows.
#[test]
fn results_by_key() {
    score("order_key", &["--order", "key"]);
    score("order_what", &["--order", "id"]);
    let folder = tempfile::tempdir().unwrap();
    let (name, table) = TABLE;
    let mut lines: Vec<&str> = table.lines().collect();
    let json = |lines: &[&str], order: &str| {
        std::fs::write(folder.path().join(name), lines.join("\n")).unwrap();
        let metrics = ["-m", "frequency", "-m", "grouped(accuracy(), 'topic')"];
        let args = ["score", name, "--format", "json", "--quiet", "--order", order];
        let args: Vec<&str> = args.into_iter().chain(metrics).collect();
        let output = crate::errorbar(folder.path(), &args).output().unwrap();
        assert!(output.status.success());
        String::from_utf8(output.stdout).unwrap()
    };
    let (by_key, by_appearance) = (json(&lines, "key"), json(&lines, "appearance"));
    lines[1..].reverse();
    assert_eq!(json(&lines, "key"), by_key);
    assert_ne!(json(&lines, "appearance"), by_appearance);
}

#[test]
fn latex() {
    score("latex_score", &["--format", "latex", "--sort", "value"]);
    check_examples("latex_list", &["list", "conversions", "--format", "latex"]);
    let logs = Logs::new();
    let folder = tempfile::tempdir().unwrap();
    let task = "dataset = { path = \"d.jsonl\" }\nscorer = \"match()\"\nname = \"quiz_1\"\n";
    std::fs::write(folder.path().join("t.toml"), task).unwrap();
    let lines = "{\"input\": \"1?\", \"target\": \"1\"}\n{\"input\": \"2?\", \"target\": \"2\"}\n";
    std::fs::write(folder.path().join("d.jsonl"), lines).unwrap();
    let args = ["eval", "t.toml", "--model", "mock/1", "--model", "mock/2", "--format", "latex", "--quiet"];
    logs.check("latex_eval", folder.path(), &args);
}

/// A model that grades its own answers is named.
#[test]
fn a_model_that_grades_itself() {
    let folder = tempfile::tempdir().unwrap();
    let task =
        "dataset = { path = \"d.jsonl\" }\nscorer = \"model_graded_qa()\"\nmodel = \"mock/GRADE: C\"\n";
    std::fs::write(folder.path().join("t.toml"), task).unwrap();
    std::fs::write(folder.path().join("d.jsonl"), "{\"input\": \"1?\", \"target\": \"1\"}\n").unwrap();
    let logs = Logs::new();
    logs.check("self_graded", folder.path(), &["eval", "t.toml"]);
    let log = logs.only();
    let score = |format: &str| {
        let output = logs.run(folder.path(), &["score", log.to_str().unwrap(), "--format", format]);
        String::from_utf8(output.stdout).unwrap()
    };
    assert!(score("json").contains("\"self_graded\": \"mock/GRADE: C\""), "{}", score("json"));
    assert!(score("table").contains("graded by the model itself"), "{}", score("table"));
    let graded = Logs::new();
    let args = ["eval", "t.toml", "--model-role", "grader=mock/GRADE: I", "--format", "json"];
    let output = graded.run(folder.path(), &args);
    assert!(!String::from_utf8(output.stdout).unwrap().contains("self_graded"));
}
