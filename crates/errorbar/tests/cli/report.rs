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
        (
            vec!["report", "scores.csv", by[0], by[1], "-o", "r.html", "--max-size", "1K"],
            "without any sample",
        ),
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

/// Rows with their answers: a label each, right in all but every fifth.
fn labelled() -> String {
    let rows = (0..40).map(|at| {
        let target = ["A", "B", "C", "D"][at % 4];
        let answer = if at % 5 == 0 { "A" } else { target };
        format!("q{at},Question {at}?,{target},{answer},{}\n", u8::from(answer == target))
    });
    format!("id,question,target,answer,score\n{}", rows.collect::<String>())
}

/// A score that says what is right is no label.
#[test]
fn the_answer_is_the_predicted_label() {
    let free: String = (0..20).map(|at| format!("q{at},the secret {at},{}\n", at % 2)).collect();
    let free = format!("id,target,score\n{free}");
    let folder = Folder::new(&[("t.csv", &labelled()), ("free.csv", &free)]);
    let (code, text) = reported(&folder, &["report", "t.csv", "-o", "t.html"]);
    assert_eq!(code, Some(0), "{text}");
    let html = page(&folder, "t.html");
    assert!(sections(&html).contains(&"labels"), "{:?}", sections(&html));
    // 8 of 40 answers are A by force, 2 of which are right.
    assert!(html.contains("0.850 ± 0.057"), "{html}");
    let (code, text) = reported(&folder, &["report", "free.csv", "-o", "free.html"]);
    assert_eq!(code, Some(0), "{text}");
    assert!(!sections(&page(&folder, "free.html")).contains(&"labels"), "a verdict is no label");
    let drawn = folder.run(&["plot", "confusion", "free.csv", "-o", "c.svg"]);
    let text = String::from_utf8(drawn.stderr).unwrap();
    assert_eq!(drawn.status.code(), Some(2), "{text}");
    assert!(text.contains("nothing says which label was predicted") && text.contains("`answer`"), "{text}");
    let drawn = folder.run(&["plot", "confusion", "t.csv"]);
    assert!(String::from_utf8(drawn.stdout).unwrap().contains("0.850 ± 0.057"));
}

/// What `--no-samples` promises: no question, target or answer is in the page.
#[test]
fn a_page_without_samples_has_no_texts() {
    let rows: String = (0..40)
        .map(|at| {
            format!(
                "q{at},Secret question {at},the secret answer {},secret reply,because secret,{}\n",
                at % 4,
                at % 2
            )
        })
        .collect();
    let table = format!("id,input,target,answer,explanation,score\n{rows}");
    let folder = Folder::new(&[("t.csv", &table), ("l.csv", &labelled())]);
    let (code, text) = reported(&folder, &["report", "t.csv", "-o", "t.html", "--no-samples"]);
    assert_eq!(code, Some(0), "{text}");
    assert!(!page(&folder, "t.html").to_lowercase().contains("secret"));
    let (code, _) = reported(&folder, &["report", "l.csv", "-o", "l.html", "--no-samples"]);
    let html = page(&folder, "l.html");
    assert!(code == Some(0) && !html.contains("Question ") && !sections(&html).contains(&"labels"));
}

/// Confidence is shown where it is, though no metric asks for it: a column of a table, the metadata of scores of a log.
#[test]
fn calibration_is_shown_where_there_is_confidence() {
    let rows = (0..30).map(|id| format!("q{id},{},0.{}\n", id % 3 % 2, id % 10)).collect::<String>();
    let folder = Folder::new(&[("scores.csv", &format!("id,score,confidence\n{rows}"))]);
    let (code, text) = reported(&folder, &["report", "scores.csv", "-o", "r.html"]);
    assert_eq!(code, Some(0), "{text}");
    let html = page(&folder, "r.html");
    assert!(sections(&html).contains(&"calibration"), "{:?}", sections(&html));
    // A measurement is no group of samples.
    assert!(!sections(&html).contains(&"groups") && !html.contains("any confidence"));
    let sample = |id: u32| {
        let grade = if id % 3 == 1 { "C" } else { "I" };
        format!(
            r#"{{"id": {id}, "epoch": 1, "scores": {{"match": {{"value": "{grade}", "metadata": {{"confidence": 0.{}}}}}}}}}"#,
            id % 10
        )
    };
    let samples = (0..30).map(sample).collect::<Vec<_>>().join(",");
    let log = format!(
        r#"{{"version": 2, "status": "success", "eval": {{"created": "2026-11-15T02:39:22+00:00", "task": "quiz",
         "model": "mock/x", "dataset": {{}}, "config": {{}},
         "scorers": [{{"name": "match", "metrics": [{{"name": "accuracy"}}]}}]}}, "samples": [{samples}]}}"#
    );
    let folder = Folder::new(&[("run.json", &log)]);
    let (code, text) = reported(&folder, &["report", "run.json", "-o", "r.html", "--no-samples"]);
    assert_eq!(code, Some(0), "{text}");
    let html = page(&folder, "r.html");
    assert!(sections(&html).contains(&"calibration"), "{:?}", sections(&html));
}

/// Nine runs, each a little better than the one before.
fn nine() -> String {
    let rows = (0..9).flat_map(|model| {
        (0..60).map(move |id| {
            let score = u8::from(id * 7 % 60 < 12 + 5 * model);
            format!("q{id},m{model},{score},t{}\n", id % 3)
        })
    });
    format!("id,model,score,topic\n{}", rows.collect::<String>())
}

/// Every pair is tested, of many runs too, and the flips shown are those of the pairs that differ most.
#[test]
fn all_pairs_of_many_runs_are_tested() {
    let folder = Folder::new(&[("t.csv", &nine())]);
    let args = ["report", "t.csv", "--by", "model", "--group", "topic", "-o", "r.html"];
    let (code, text) = reported(&folder, &args);
    assert_eq!(code, Some(0), "{text}");
    let html = page(&folder, "r.html");
    assert!(html.contains(" of 36 pairs can be told apart"), "the lead");
    assert!(html.contains("Holm’s method for 36 pairs"), "the introduction");
    assert!(html.contains("These are the 6 pairs that differ most, of 36; 30 are not shown."));
    assert!(html.contains("aria-label=\"m8 against m0\""), "the pair that differs most");
    assert!(html.contains("told apart</small>"), "a word where all have one colour");
    assert!(html.contains("Every two runs, scrolls sideways"), "the matrix");
    // The figures by group are those of `grouped`, over all samples too.
    let metric = "grouped(accuracy(), 'topic')";
    let scored = folder.run(&["score", "t.csv", "--by", "model", "--format", "json", "-m", metric]);
    let scored: serde_json::Value = serde_json::from_slice(&scored.stdout).unwrap();
    let mut compared = 0;
    for report in scored["reports"].as_array().or_else(|| scored.as_array()).unwrap() {
        for estimate in report["estimates"].as_array().unwrap() {
            let attributes = ["value", "stderr", "lower", "upper"].map(|name| {
                estimate[name].as_f64().map(|number| format!("data-{name}=\"{number}\"")).unwrap_or_default()
            });
            assert!(html.contains(attributes.join(" ").trim()), "{attributes:?}");
            compared += 1;
        }
    }
    assert_eq!(compared, 9 * 4);
}

/// Runs that share some samples are not said to have the same.
#[test]
fn samples_without_a_partner_are_not_the_same_samples() {
    let rows = |count: usize| (0..count).map(|id| format!("q{id},{}\n", id % 3 % 2)).collect::<String>();
    let table = |count: usize| format!("id,score\n{}", rows(count));
    let folder = Folder::new(&[("a.csv", &table(30)), ("b.csv", &table(120))]);
    let (code, text) = reported(&folder, &["report", "a.csv", "b.csv", "-o", "r.html"]);
    assert_eq!(code, Some(0), "{text}");
    let html = page(&folder, "r.html");
    assert!(!html.contains("The runs have the same samples"));
    assert!(
        html.contains("over the 30 samples that two runs share")
            && html.contains("On the 30 samples that both have")
    );
    assert!(html.contains("30 to 120 in a run") && html.contains("150 in 2 runs<"));
}

/// As `score` has it: a key that no sample has is no way to cluster.
#[test]
fn an_unknown_cluster_key_is_an_error() {
    let folder = Folder::new(&[("t.csv", TABLE)]);
    for command in [&["report"][..], &["plot", "estimates"]] {
        let output = if command.len() == 1 { "r.html" } else { "r.svg" };
        let rest = ["t.csv", "--by", "model", "--cluster", "topik", "-o", output];
        let args: Vec<&str> = command.iter().copied().chain(rest).collect();
        let (code, text) = reported(&folder, &args);
        assert_eq!(code, Some(2), "{args:?}: {text}");
        assert!(text.contains("no metadata key `topik`") && text.contains("--cluster"), "{text}");
        assert!(!folder.path().join(output).exists());
    }
}

/// A page that cannot be small enough says how small it can be; one that can is made.
#[test]
fn a_size_is_kept_to() {
    let folder = Folder::new(&[("t.csv", &nine())]);
    let report = |size: &str| {
        reported(
            &folder,
            &["report", "t.csv", "--by", "model", "-o", "r.html", "--force", "--max-size", size],
        )
    };
    let (code, text) = report("30K");
    assert_eq!(code, Some(2), "{text}");
    assert!(text.contains("without any sample") && !text.contains("--no-samples"), "{text}");
    let (code, _) = reported(&folder, &["report", "t.csv", "--by", "model", "-o", "n.html", "--no-samples"]);
    let bytes = page(&folder, "n.html").len() + 100;
    let (size, (of_page, text)) = (bytes, report(&bytes.to_string()));
    assert_eq!((code, of_page), (Some(0), Some(0)), "{text}");
    assert!(text.contains("all samples are left out") && page(&folder, "r.html").len() <= size, "{text}");
}

/// Runs of the same four samples.
fn many(runs: usize) -> String {
    let rows = (0..runs).flat_map(|run| (0..4).map(move |id| format!("q{id},m{run},{}\n", (run >> id) % 2)));
    format!("id,model,score\n{}", rows.collect::<String>())
}

/// The work for all pairs, and a matrix of them, grow with the square.
#[test]
fn many_runs_are_compared_with_the_first_alone() {
    let folder = Folder::new(&[("few.csv", &many(30)), ("many.csv", &many(31)), ("most.csv", &many(201))]);
    let report = |table: &str, option: &str| {
        let args = ["report", table, "--by", "model", "-o", "r.html", "--force", option];
        let (code, text) = reported(&folder, &args);
        (code, text, page(&folder, "r.html"))
    };
    let pairs = |html: &str| html.matches("data-base=").count();
    let (code, text, html) = report("few.csv", "--no-samples");
    assert_eq!((code, pairs(&html), text.contains("alone")), (Some(0), 435, false), "{text}");
    assert!(html.contains("Every two runs"));
    let (code, text, html) = report("many.csv", "--no-samples");
    assert_eq!((code, pairs(&html)), (Some(0), 30), "{text}");
    assert!(text.contains("31 runs: each is compared with m0 alone\nhint: --all-pairs"), "{text}");
    assert!(
        html.contains("With 31 runs, each is compared with m0 alone.") && !html.contains("Every two runs")
    );
    let (code, text, html) = report("many.csv", "--all-pairs");
    assert_eq!((code, pairs(&html), text.contains("alone")), (Some(0), 465, false), "{text}");
    let (code, text, _) = report("most.csv", "--all-pairs");
    assert_eq!(code, Some(2), "{text}");
    assert!(text.contains("200") && text.contains("omit --all-pairs"), "{text}");
}

/// Of many pairs those that differ most have a row, and samples that few runs share have no table by runs.
#[test]
fn a_page_of_many_runs_is_bounded() {
    let own = (0..2_100).flat_map(|run| (0..2).map(move |id| format!("q{run}-{id},m{run},{id}\n")));
    let own = format!("id,model,score\n{}", own.collect::<String>());
    let folder = Folder::new(&[("many.csv", &many(600)), ("own.csv", &own)]);
    let (code, text) = reported(&folder, &["report", "many.csv", "--by", "model", "-o", "r.html"]);
    assert_eq!(code, Some(0), "{text}");
    let html = page(&folder, "r.html");
    assert_eq!(html.matches("data-base=").count(), 500);
    assert!(html.contains("The 500 pairs of 599 that differ most"));
    assert!(html.contains("id=\"samples-index\""), "all runs have them");
    let (code, text) = reported(&folder, &["report", "own.csv", "--by", "model", "-o", "r.html", "--force"]);
    assert_eq!(code, Some(0), "{text}");
    assert!(text.contains("all samples are left out: the runs have too few of them in common"), "{text}");
    let html = page(&folder, "r.html");
    assert!(!html.contains("id=\"samples-index\"") && html.matches("<li>").count() < 400, "{}", html.len());
}

#[test]
fn a_page_shows_the_first_of_many_groups() {
    let rows: String = (0..8_000).map(|at| format!("q{at},g{at},{}\n", at % 2)).collect();
    let folder = Folder::new(&[("t.csv", &format!("id,topic,score\n{rows}"))]);
    let (code, text) =
        reported(&folder, &["report", "t.csv", "--group", "topic", "-o", "r.html", "--no-samples"]);
    assert_eq!(code, Some(0), "{text}");
    let html = page(&folder, "r.html");
    assert!(html.contains("These are the first 7,000 groups by topic, of 8,000."), "{}", html.len());
    assert!(html.contains("data-group=\"g6999\"") && !html.contains("data-group=\"g7000\""));
    assert!(html.len() < 12_000_000, "{}", html.len());
}

/// A page lists as many samples as it can hold, and says so.
#[test]
fn a_page_lists_the_first_of_many_samples() {
    let rows: String = (0..100_002).map(|at| format!("q{at},{}\n", at % 2)).collect();
    let folder = Folder::new(&[("t.csv", &format!("id,score\n{rows}"))]);
    let (code, text) = reported(&folder, &["report", "t.csv", "-o", "r.html"]);
    assert_eq!(code, Some(0), "{text}");
    assert!(text.contains("only the first 100000 samples are listed"), "{text}");
    assert!(page(&folder, "r.html").contains("id=\"samples-index\""));
}
