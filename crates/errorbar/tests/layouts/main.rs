//! Tables as people have them, each a made-up file in `files/`: `layouts.toml` says what `errorbar score` makes of it.
//!
//! Either the right number, or a refusal whose hint names the option that helps; with that option, the right number.
//! Never a wrong number.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test's helper may fail as the test may"
)]

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde::Deserialize;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Layouts {
    layout: Vec<Layout>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Layout {
    /// The file, in `files/`.
    file: String,
    /// Who has it, or what is odd about it.
    about: String,
    /// Options that are given from the start.
    #[serde(default)]
    args: Vec<String>,
    /// What comes out, if the table is read.
    #[serde(default)]
    expect: Vec<Expected>,
    /// What the message of a refusal has.
    refused: Option<String>,
    /// What its hint has: the option, or what to do if no option helps.
    hint: Option<String>,
    /// The hint followed: options to be added.
    #[serde(default)]
    then: Vec<String>,
}

#[derive(Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
struct Expected {
    scorer: String,
    value: f64,
    n: u64,
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/layouts/files")
}

fn layouts() -> Vec<Layout> {
    let text = std::fs::read_to_string(folder().with_file_name("layouts.toml")).unwrap();
    toml::from_str::<Layouts>(&text).unwrap().layout
}

struct Outcome {
    code: Option<i32>,
    figures: Vec<Expected>,
    message: String,
}

/// Runs `errorbar score FILE ARGS`; the file `-` is given at the standard input.
fn score(file: &str, args: &[String], stdin: Option<&Path>) -> Outcome {
    let mut command = Command::new(env!("CARGO_BIN_EXE_errorbar"));
    command.current_dir(folder()).args(["score", file, "--format", "csv", "--color", "never"]).args(args);
    let stdin = stdin.map_or(Stdio::null(), |path| std::fs::File::open(path).unwrap().into());
    let output = command.stdin(stdin).output().unwrap();
    let mut figures = Vec::new();
    for row in csv::Reader::from_reader(output.stdout.as_slice()).deserialize() {
        let row: std::collections::HashMap<String, String> = row.unwrap();
        if matches!(row["metric"].as_str(), "accuracy" | "mean") {
            figures.push(Expected {
                scorer: row["scorer"].clone(),
                value: row["value"].parse().unwrap_or(f64::NAN),
                n: row["n"].parse().unwrap_or(0),
            });
        }
    }
    let message = String::from_utf8(output.stderr).unwrap();
    Outcome { code: output.status.code(), figures, message }
}

/// What is wrong with a layout, if something is.
fn problem(layout: &Layout) -> Option<String> {
    let mut outcome = score(&layout.file, &layout.args, None);
    if let Some(refused) = &layout.refused {
        let hint = layout.hint.as_deref().unwrap_or("hint:");
        if outcome.code != Some(2) || !outcome.figures.is_empty() {
            return Some(format!("not refused: {:?} {}", outcome.code, outcome.message));
        }
        let (text, hints) = outcome.message.split_once("hint:").unwrap_or((&outcome.message, ""));
        if !text.contains(refused.as_str()) || !hints.contains(hint) {
            return Some(format!("refused with other words: {}", outcome.message));
        }
        if layout.then.is_empty() {
            return layout.expect.first().map(|_| "no option leads to what is expected".to_owned());
        }
        outcome = score(&layout.file, &[layout.args.as_slice(), &layout.then].concat(), None);
    }
    let is_right = outcome.code == Some(0)
        && outcome.figures.len() == layout.expect.len()
        && outcome.figures.iter().zip(&layout.expect).all(|(found, wanted)| {
            found.scorer == wanted.scorer && found.n == wanted.n && (found.value - wanted.value).abs() < 1e-12
        });
    (!is_right).then(|| format!("{:?} {:?}\n{}", outcome.code, outcome.figures, outcome.message))
}

#[test]
fn each_gives_the_right_number_or_a_refusal_with_the_option() {
    let problems: Vec<String> = layouts()
        .iter()
        .filter_map(|layout| Some(format!("{} ({}): {}", layout.file, layout.about, problem(layout)?)))
        .collect();
    assert!(problems.is_empty(), "{} wrong:\n\n{}", problems.len(), problems.join("\n\n"));
}

/// Words of hints that name options which lead to no number by themselves.
const NO_OPTION: [&str; 1] = ["--scale 4"];

#[test]
fn options_of_hints_are_followed() {
    let is_followed = |layout: &Layout| {
        let names_option = layout.hint.as_deref().is_some_and(|hint| hint.starts_with("--"));
        !names_option
            || !layout.then.is_empty()
            || layout.hint.as_deref().is_some_and(|hint| NO_OPTION.contains(&hint))
    };
    let missing: Vec<String> =
        layouts().into_iter().filter(|layout| !is_followed(layout)).map(|layout| layout.file).collect();
    assert!(missing.is_empty(), "refusals whose option is not tried: {missing:?}");
}

#[test]
fn every_file_has_an_expectation() {
    let found: BTreeSet<String> = std::fs::read_dir(folder())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    let listed: BTreeSet<String> = layouts().into_iter().map(|layout| layout.file).collect();
    assert_eq!(found, listed);
    assert!(listed.len() >= 30);
}

#[test]
fn the_standard_input_is_read_as_the_file_is() {
    for layout in layouts() {
        if layout.refused.is_some() || layout.file.ends_with(".md") {
            continue;
        }
        let outcome = score("-", &layout.args, Some(&folder().join(&layout.file)));
        let found: Vec<(&str, u64)> =
            outcome.figures.iter().map(|found| (found.scorer.as_str(), found.n)).collect();
        let wanted: Vec<(&str, u64)> =
            layout.expect.iter().map(|wanted| (wanted.scorer.as_str(), wanted.n)).collect();
        assert_eq!(found, wanted, "{}: {}", layout.file, outcome.message);
    }
}
