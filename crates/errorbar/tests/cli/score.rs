//! `errorbar score` when all is well.

use crate::{check, check_examples, check_text, errorbar, transcript, workspace};

/// The first command of `examples/README.md`: groups with their own error bars.
const GROUPS: [&str; 12] = [
    "score",
    "examples/quiz.csv",
    "--metric",
    "accuracy",
    "--metric",
    "stderr(cluster=\"passage\")",
    "--metric",
    "ci(cluster=\"passage\")",
    "--metric",
    "grouped(accuracy(), \"category\")",
    "--metric",
    "grouped(stderr(cluster=\"passage\"), \"category\")",
];

fn groups_as(format: &'static str) -> Vec<&'static str> {
    GROUPS.into_iter().chain(["--format", format]).collect()
}

/// A log of another program: five samples, of which limits ended four, one of them with an error.
const LIMITED: &str = r#"{"version": 2, "status": "success",
 "eval": {"created": "2026-11-15T02:39:22+00:00", "task": "quiz", "model": "mock/x", "dataset": {}, "config": {},
          "scorers": [{"name": "match", "metrics": [{"name": "accuracy"}]}]},
 "samples": [
  {"id": 1, "epoch": 1, "scores": {"match": {"value": "C"}}, "limit": {"type": "token", "limit": 9}},
  {"id": 2, "epoch": 1, "scores": {"match": {"value": "I"}}, "limit": {"type": "message", "limit": 3}},
  {"id": 3, "epoch": 1, "scores": {"match": {"value": "C"}}, "limit": {"type": "token", "limit": 9}},
  {"id": 4, "epoch": 1, "scores": {"match": {"value": "C"}}},
  {"id": 5, "epoch": 1, "scores": {}, "limit": {"type": "token", "limit": 9}, "error": {"message": "boom"}}
 ]}"#;

#[test]
fn limits_that_samples_met_stand_beside_the_figures() {
    for format in ["table", "json", "markdown"] {
        let args = ["score", "run.json", "--format", format];
        check(&format!("limits_{format}"), &[("run.json", LIMITED)], &args);
    }
}

#[test]
fn the_first_command() {
    let metrics =
        ["accuracy", "stderr(cluster=\"passage\")", "ci_wilson", "grouped(accuracy(), \"category\")"];
    let options = metrics.iter().flat_map(|metric| ["--metric", metric]);
    let args: Vec<&str> = ["score", "examples/quiz.csv"].into_iter().chain(options).collect();
    check_examples("first_command", &args);
    check_examples("groups_with_errors", &GROUPS);
}

#[test]
fn every_format() {
    check_examples("groups_json", &groups_as("json"));
    check_examples("groups_csv", &groups_as("csv"));
    check_examples("groups_markdown", &groups_as("markdown"));
}

#[test]
fn json_is_strict_and_has_the_promised_keys() {
    let output = errorbar(&workspace(), &["score", "examples/quiz.csv", "-r", "pass_at_9", "-f", "json"]);
    let output = { output }.output().unwrap();
    let logs: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(logs[0]["log"], "examples/quiz.csv");
    assert!(logs[0]["task"].is_null() && logs[0]["model"].is_null());
    let results = &logs[0]["results"];
    assert_eq!(results["total_samples"], 108);
    assert_eq!(results["completed_samples"], 108);
    let block = &results["scores"][0];
    for key in ["name", "scorer", "reducer", "scored_samples", "unscored_samples", "params", "metrics"] {
        assert!(block.get(key).is_some(), "{key}");
    }
    let accuracy = &block["metrics"]["accuracy"];
    for key in ["name", "group", "value", "params", "metadata"] {
        assert!(accuracy.get(key).is_some(), "{key}");
    }
    assert!(accuracy["value"].is_null(), "NaN is null: {accuracy}");
}

#[test]
fn the_default_is_accuracy_and_stderr() {
    check_examples("defaults", &["score", "examples/quiz.csv"]);
}

#[test]
fn reducers_give_a_block_each() {
    check_examples("reducers", &["score", "examples/quiz.csv", "-r", "at_least_2", "-r", "pass_k(k=3)"]);
    check_examples("no_reduce", &["score", "examples/quiz.csv", "--no-reduce"]);
}

#[test]
fn everything_at_once() {
    let metrics = [
        "accuracy",
        "stderr",
        "stderr(cluster=\"passage\")",
        "bootstrap_stderr(num_samples=200)",
        "ci(level=0.9, method=\"bootstrap\", seed=7)",
        "ci_wilson(cluster=\"passage\")",
        "std",
        "grouped(mean(), \"category\", all=\"groups\", name_template=\"in {group_name}\")",
        "grouped(stderr(), \"category\", name_template=\"in {group_name}\")",
        "grouped(ci(), \"category\", all=false)",
        "frequency",
    ];
    let options = metrics.iter().flat_map(|metric| ["-m", metric]);
    let args: Vec<&str> = ["score", "examples/quiz.csv", "--seed", "3"].into_iter().chain(options).collect();
    check_examples("everything", &args);
}

#[test]
fn metrics_by_key() {
    check_examples("by_key", &["score", "examples/graded.jsonl", "-m", "{'*': [mean(), stderr(), ci()]}"]);
    check_examples(
        "by_key_and_aggregate",
        &[
            "score",
            "examples/graded.jsonl",
            "-m",
            "aggregate('style', mean(), on_missing='skip')",
            "-m",
            "{'al*': [accuracy(), grouped(accuracy(), 'topic')]}",
        ],
    );
}

#[test]
fn several_tables_and_columns() {
    let tables = [
        ("a.csv", "id,judge,human\nq1,1,1\nq2,0,1\nq3,1,1\n"),
        ("b.jsonl", "{\"id\": 1, \"judge\": 2.5, \"human\": 7}\n{\"id\": 2, \"judge\": 3.5, \"human\": 9}\n"),
    ];
    let args = ["score", "a.csv", "b.jsonl", "--score-column", "judge", "--score-column", "human"];
    check("several", &tables, &args);
}

#[test]
fn an_unknown_figure_is_never_a_zero() {
    let table = [("one.csv", "id,score,group\nq1,1,a\n")];
    let metrics =
        ["accuracy", "stderr", "std", "ci", "stderr(cluster=\"group\")", "grouped(stderr(), \"group\")"];
    let options = metrics.iter().flat_map(|metric| ["-m", metric]);
    let args: Vec<&str> = ["score", "one.csv"].into_iter().chain(options).collect();
    check("undefined_at_one", &table, &args);
    let as_csv: Vec<&str> = args.iter().copied().chain(["-f", "csv"]).collect();
    check("undefined_at_one_csv", &table, &as_csv);
    check(
        "undefined_at_none",
        &[("none.csv", "id,score\n")],
        &["score", "none.csv", "-m", "accuracy", "-m", "ci"],
    );
}

#[test]
fn other_scales_and_long_names() {
    let rows: String = (1..=40)
        .map(|i| {
            format!(
                "q{i},{},{}\n",
                i % 7 * 10,
                ["a very long name of a group that does not fit", "短い"][i % 2]
            )
        })
        .collect();
    let table = [("points.csv", format!("id,score,who\n{rows}"))];
    let table = table.each_ref().map(|(name, text)| (*name, text.as_str()));
    check(
        "points",
        &table,
        &[
            "score",
            "points.csv",
            "-m",
            "mean",
            "-m",
            "stderr",
            "-m",
            "grouped(mean(), 'who')",
            "-m",
            "grouped(stderr(), 'who')",
        ],
    );
}

#[test]
fn values_without_a_meaning_are_counted() {
    let table = [("words.csv", "id,score\nq1,C\nq2,maybe\nq3,I\nq4,perhaps\n")];
    check("unconvertible", &table, &["score", "words.csv", "--unconvertible", "zero"]);
    check("unconvertible_quiet", &table, &["score", "words.csv", "--unconvertible", "zero", "--quiet"]);
}

#[test]
fn names_cannot_play_with_the_terminal() {
    let table = [("evil.jsonl", "{\"id\":\"q\",\"score\":1,\"g\":\"\\u001b[31mred\\nline|pipe\"}\n")];
    check("evil", &table, &["score", "evil.jsonl", "-m", "grouped(mean(), 'g')"]);
    check("evil_markdown", &table, &["score", "evil.jsonl", "-m", "grouped(mean(), 'g')", "-f", "markdown"]);
}

#[test]
fn colour_only_when_requested() {
    let args = ["score", "examples/quiz.csv", "--color", "always"];
    let output = errorbar(&workspace(), &args).output().unwrap();
    let text = transcript(&args, &output);
    assert!(text.contains("\u{1b}[1m"), "{text}");
    check_text("color", &text.replace('\u{1b}', "␛"));
    for args in [vec!["score", "examples/quiz.csv"], vec!["score", "examples/quiz.csv", "--color", "never"]] {
        let output = errorbar(&workspace(), &args).env("CLICOLOR_FORCE", "").output().unwrap();
        assert!(!output.stdout.contains(&0x1b), "{args:?}");
    }
}

#[test]
fn terminals_without_unicode_get_ascii() {
    let output = errorbar(&workspace(), &GROUPS).env("LC_ALL", "C").output().unwrap();
    let text = transcript(&GROUPS, &output);
    assert!(text.is_ascii(), "{text}");
    check_text("ascii", &text);
}

/// Weights, simultaneous intervals and shrinkage of groups; a group without a weight.
#[test]
fn groups_with_weights_together_and_shrunken() {
    for (name, arguments) in [
        ("groups_weights", r#"all="groups", weights={"biology": 2, "history": 1, "physics": 1}"#),
        ("groups_simultaneous", r#"simultaneous=true"#),
        ("groups_shrunken", r#"all="groups", shrink=true"#),
        ("groups_no_weight", r#"all="groups", weights={"biology": 2}"#),
        ("groups_weights_of_samples", r#"weights={"biology": 2}"#),
    ] {
        let metric = format!(r#"grouped(accuracy(), "category", {arguments})"#);
        check_examples(name, &["score", "examples/quiz.csv", "-m", &metric]);
    }
    // Two categories share each passage here, so the mean over them is not that of independent groups.
    let rows =
        |at: u32| format!("q{at},{},{},p{}\n", at * 7 % 3 % 2, ["law", "art"][at as usize % 2], at / 4);
    let table = format!("id,score,topic,passage\n{}", (0..24).map(rows).collect::<String>());
    let metric = r#"grouped(accuracy(), "topic", all="groups")"#;
    check("groups_spanned", &[("t.csv", &table)], &["score", "t.csv", "-m", metric, "--cluster", "passage"]);
}
