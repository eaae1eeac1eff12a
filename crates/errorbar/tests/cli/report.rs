//! `errorbar report`: the page of logs and tables, and what cannot be one.

use std::fs;

use crate::{Folder, workspace};

const TABLE: &str = "id,model,score,topic\n\
    q1,heron,1,law\nq2,heron,1,law\nq3,heron,0,logic\nq4,heron,1,logic\nq5,heron,1,law\nq6,heron,0,logic\n\
    q1,wren,0,law\nq2,wren,1,law\nq3,wren,0,logic\nq4,wren,0,logic\nq5,wren,1,law\nq6,wren,0,logic\n";

/// What a command reports, and its exit code.
fn reported(folder: &Folder, args: &[&str]) -> (Option<i32>, String) {
    let output = folder.run(args);
    assert!(output.stdout.is_empty(), "a report writes nothing to stdout");
    (output.status.code(), String::from_utf8(output.stderr).unwrap())
}

fn page(folder: &Folder, name: &str) -> String {
    fs::read_to_string(folder.path().join(name)).unwrap()
}

/// The anchors of the sections, in order.
fn sections(html: &str) -> Vec<&str> {
    html.split("<section ").skip(1).filter_map(|rest| rest.split("id=\"").nth(1)?.split('"').next()).collect()
}

#[test]
fn a_table_is_a_page() {
    let folder = Folder::new(&[("scores.csv", TABLE)]);
    let args =
        ["report", "scores.csv", "--by", "model", "--group", "topic", "-o", "r.html", "--title", "Mine"];
    let (code, text) = reported(&folder, &args);
    assert_eq!(code, Some(0), "{text}");
    assert!(text.contains("the report is in r.html ("), "{text}");
    let html = page(&folder, "r.html");
    assert_eq!(sections(&html), ["top", "estimates", "groups", "comparison", "distribution", "samples"]);
    assert!(html.contains("<title>Mine: errorbar report</title>"));
    assert!(html.contains("data-run=\"heron\"") && html.contains("data-group=\"logic\""));
    // Nothing is fetched: the only address is the name of a namespace.
    let html = html.replace("http://www.w3.org/2000/svg", "");
    assert!(!html.contains("http://") && !html.contains("https://"), "a page needs no network");
}

/// The figures of the page are those that `score` has for programs.
#[test]
fn figures_are_those_of_score() {
    let folder = Folder::new(&[("scores.csv", TABLE)]);
    let scored = folder.run(&["score", "scores.csv", "--by", "model", "--format", "json"]);
    let scored: serde_json::Value = serde_json::from_slice(&scored.stdout).unwrap();
    let (code, text) =
        reported(&folder, &["report", "scores.csv", "--by", "model", "-o", "r.html", "--no-samples"]);
    assert_eq!(code, Some(0), "{text}");
    let html = page(&folder, "r.html");
    let mut compared = 0;
    for report in scored["reports"].as_array().or_else(|| scored.as_array()).unwrap() {
        for estimate in report["estimates"].as_array().unwrap() {
            let attributes = ["value", "stderr", "lower", "upper"]
                .map(|name| format!("data-{name}=\"{}\"", estimate[name].as_f64().unwrap()));
            assert!(html.contains(&attributes.join(" ")), "{attributes:?}");
            compared += 1;
        }
    }
    assert_eq!(compared, 2);
    assert!(!html.contains("id=\"samples\"") && !html.contains("id=\"samples-index\""));
}

#[test]
fn what_cannot_be_a_page_is_reported() {
    let folder = Folder::new(&[("scores.csv", TABLE), ("old.html", "mine"), ("notes.eval", "no log")]);
    let by = ["--by", "model"];
    for (args, expected) in [
        (vec!["report", "-o", "r.html"], "<FILE>"),
        (vec!["report", "scores.csv"], "--output <FILE>"),
        (vec!["report", "nosuch.eval", "-o", "r.html"], "nosuch.eval: cannot open the file"),
        (vec!["report", "notes.eval", "-o", "r.html"], "notes.eval"),
        (vec!["report", "scores.csv", by[0], by[1], "-o", "old.html"], "old.html: the file exists already"),
        (vec!["report", "scores.csv", by[0], by[1], "-o", "no/r.html"], "no/r.html: cannot write"),
        (
            vec!["report", "scores.csv", by[0], by[1], "--group", "topik", "-o", "r.html"],
            "did you mean --group topic?",
        ),
        (vec!["report", "scores.csv", by[0], by[1], "-o", "r.html", "--max-size", "1K"], "--no-samples"),
        (vec!["report", "scores.csv", by[0], by[1], "-o", "r.html", "-m", "nosuch()"], "nosuch"),
    ] {
        let (code, text) = reported(&folder, &args);
        assert_eq!(code, Some(2), "{args:?}: {text}");
        assert!(text.contains(expected), "{args:?}: {text}");
        assert!(!folder.path().join("r.html").exists(), "{args:?}");
    }
    assert_eq!(page(&folder, "old.html"), "mine", "nothing is replaced");
    let (code, _) =
        reported(&folder, &["report", "scores.csv", "--by", "model", "-o", "old.html", "--force"]);
    assert_eq!((code, page(&folder, "old.html").starts_with("<!doctype html>")), (Some(0), true));
}

#[test]
fn rows_without_ids_are_shown_and_not_compared() {
    let folder = Folder::new(&[("a.csv", "score\n1\n0\n1\n"), ("b.csv", "score\n0\n0\n1\n")]);
    let (code, text) = reported(&folder, &["report", "a.csv", "b.csv", "-o", "r.html"]);
    assert_eq!(code, Some(0), "{text}");
    let html = page(&folder, "r.html");
    assert!(html.contains("The runs are not compared."), "{text}");
    assert!(!sections(&html).contains(&"comparison"));
}

#[test]
fn logs_of_several_models_are_compared() {
    let folder = Folder::new(&[]);
    let task = workspace().join("examples/almanac/almanac.toml");
    for model in ["heron", "wren"] {
        let outputs = workspace().join(format!("examples/almanac/outputs/{model}.jsonl"));
        let model = format!("replay/{}", outputs.display());
        let output = folder.run(&[
            "eval",
            task.to_str().unwrap(),
            "--model",
            &model,
            "--limit",
            "30",
            "--log-dir",
            "logs",
            "-q",
        ]);
        assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    }
    let (code, text) = reported(&folder, &["report", "logs", "-o", "r.html"]);
    assert_eq!(code, Some(0), "{text}");
    let html = page(&folder, "r.html");
    assert_eq!(sections(&html)[..4], ["top", "estimates", "groups", "comparison"]);
    assert!(html.contains("<h1 id=\"h-top\" class=\"any\" dir=\"auto\">almanac</h1>"), "{text}");
    assert!(html.contains("id=\"samples-index\"") && html.contains("Where they part"));
}
