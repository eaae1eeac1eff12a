//! Requests as Rust, Python and the command line build them, and what comes of them.
#![allow(clippy::unwrap_used, reason = "tests")]

use std::path::{Path, PathBuf};

use errorbar_analysis::{
    Analysis, CompareRequest, Diagnostic, Outcome, PowerRequest, ScoreRequest, Surface, request_from_json,
};
use errorbar_core::metrics::mean;
use errorbar_core::{MetadataKeys, Plan, Registry, Results, metrics};
use errorbar_table::{ScoreTable, TableOptions, read_tables};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

/// Files of these contents, in a folder.
fn files<const N: usize>(contents: [(&str, &str); N]) -> (tempfile::TempDir, [PathBuf; N]) {
    let folder = tempfile::tempdir().unwrap();
    let paths = contents.map(|(name, text)| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        path
    });
    (folder, paths)
}

fn request<T: DeserializeOwned>(fields: Value) -> T {
    request_from_json(&fields.to_string()).unwrap()
}

fn hints<'d>(diagnostics: impl IntoIterator<Item = &'d Diagnostic>, surface: Surface) -> Vec<String> {
    diagnostics.into_iter().filter_map(|one| one.on(surface).1).collect()
}

/// `PASS`, `28%` and `NA` counted 0 where a table was read without the command.
#[test]
fn cells_have_their_meaning() {
    let (_folder, paths) =
        files([("a.csv", "id,score\nq1,PASS\nq2,FAIL\nq3,NA\n"), ("b.csv", "id,score\nq1,28%\nq2,72%\n")]);
    let registry = Registry::built_in();
    let answer = Analysis::new(&registry).score(&paths, &ScoreRequest::default());
    assert_eq!(answer.outcome, Outcome::Done, "{:?}", answer.diagnostics);
    let values: Vec<(Option<f64>, u64)> = answer
        .value
        .unwrap()
        .iter()
        .map(|report| report.results.estimate("accuracy").unwrap().clone())
        .map(|accuracy| (accuracy.number(), accuracy.n))
        .collect();
    assert_eq!(values, [(Some(0.5), 2), (Some(0.5), 2)]);
    // Every committed layout is read the same by the library alone: the same numbers, or the same refusal.
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../errorbar/tests/layouts/files");
    let (mut read, mut refused) = (0, 0);
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let answer = Analysis::new(&registry).score(std::slice::from_ref(&path), &ScoreRequest::default());
        let reports = answer.value.unwrap_or_default();
        let theirs: Vec<Means> = reports.iter().map(|report| means_of(&report.results)).collect();
        match means_by_library(&path) {
            Ok(ours) => {
                read += 1;
                assert_eq!(ours, theirs, "{}", path.display());
            }
            Err(problem) => {
                refused += 1;
                let messages: Vec<String> =
                    answer.diagnostics.iter().map(|one| one.text.to_string()).collect();
                assert!(messages.contains(&problem), "{}: {problem}\n{messages:?}", path.display());
            }
        }
    }
    assert!(read > 60 && refused > 40, "{read} {refused}");
}

/// The mean of each scorer, and the number of its scores.
type Means = Vec<(String, Option<f64>, u64)>;

fn means_of(results: &Results) -> Means {
    let is_mean = |metric: &str| matches!(metric, "accuracy" | "mean");
    let rows = results.rows().into_iter().filter(|row| is_mean(row.metric));
    rows.map(|row| (row.scorer.to_owned(), row.estimate.number(), row.estimate.n)).collect()
}

/// What a Rust program makes of a table without this crate; what is wrong with it in words.
fn means_by_library(path: &Path) -> Result<Vec<Means>, String> {
    let options = TableOptions::new().number_rows(true).metadata(MetadataKeys::NONE);
    let tables = read_tables(path, &options).map_err(|error| error.problem())?;
    let plan = Plan::new().metrics(metrics![mean()]);
    let evaluate = |table: &ScoreTable| Ok(means_of(&plan.evaluate(&table.columns).unwrap().results));
    tables.iter().map(evaluate).collect()
}

#[test]
fn a_hint_is_spelled_as_users_of_each_surface_write_it() {
    let (_folder, paths) = files([("a.csv", "id,verdict\nq1,good\nq2,bad\nq3,good\n")]);
    let registry = Registry::built_in();
    let analysis = Analysis::new(&registry);
    let refused = analysis.score(&paths, &ScoreRequest::default());
    assert_eq!((refused.outcome, refused.value.map(|reports| reports.len())), (Outcome::InputError, Some(0)));
    let shown = |surface| hints(refused.diagnostics.iter(), surface).remove(0);
    let command_line = shown(Surface::CommandLine);
    assert!(command_line.contains("--correct good --incorrect bad"), "{command_line}");
    let python = shown(Surface::Python);
    assert!(python.contains("correct=\"good\", incorrect=\"bad\""), "{python}");
    // Followed, it works.
    let named: ScoreRequest = request(json!({"correct": "good", "incorrect": ["bad"]}));
    let reports = analysis.score(&paths, &named).value.unwrap();
    assert_eq!(reports.first().unwrap().results.estimate("accuracy").unwrap().number(), Some(2.0 / 3.0));
}

#[test]
fn the_outcome_of_a_comparison_is_that_of_its_gate() {
    let rows = |right: usize| {
        let row = |n: usize| format!("q{n},{}\n", u8::from(n < right));
        format!("id,score\n{}", (0..100).map(row).collect::<String>())
    };
    let (_folder, paths) = files([("a.csv", &rows(80)), ("b.csv", &rows(50))]);
    let registry = Registry::built_in();
    let analysis = Analysis::new(&registry);
    let outcome = |fields: Value| analysis.compare(&paths, &request::<CompareRequest>(fields)).outcome;
    assert_eq!(outcome(json!({})), Outcome::Done);
    assert_eq!(outcome(json!({"fail_if_worse": true})), Outcome::Negative);
    assert_eq!(outcome(json!({"margin": 0.5})), Outcome::Done);
    assert_eq!(outcome(json!({"margin": 0.05})), Outcome::Negative);
    assert_eq!(outcome(json!({"margin": 0.5, "fail_if_worse": true})), Outcome::InputError);
    assert_eq!(outcome(json!({"decisive": true})), Outcome::InputError);
    // There is no better and worse of it, and the command exits with 2.
    assert_eq!(outcome(json!({"fail_if_worse": true, "metrics": "std"})), Outcome::InputError);
}

#[test]
fn values_of_another_type_name_their_field() {
    let problem =
        |fields: Value| request_from_json::<PowerRequest>(&fields.to_string()).unwrap_err().text.to_string();
    assert!(
        problem(json!({"sd": 0.4, "samples": "many"})).starts_with("samples=\"many\": expected a number")
    );
    assert!(problem(json!({"unpaired": 3})).starts_with("unpaired=3: invalid type"));
    assert!(request_from_json::<PowerRequest>("[]").is_err());
    let planned: PowerRequest = request(json!({"difference": 0.03, "sd": 0.3333}));
    let registry = Registry::built_in();
    let plans = Analysis::new(&registry).power(&planned).value.unwrap();
    assert_eq!(plans.rows.first().and_then(|row| row.samples), Some(971));
}

/// What one surface builds, another one reads.
#[test]
fn requests_are_values() {
    let asked: CompareRequest = request(json!({
        "by": "model", "compare_scorers": ["a", "b"], "correction": "holm", "flips": true, "metrics": "accuracy",
        "cluster": ["g"], "scale": 10, "na": "?", "delimiter": "tab", "max_memory": "2G", "interval": "t",
    }));
    let text = serde_json::to_string(&asked).unwrap();
    assert_eq!(request_from_json::<CompareRequest>(&text).unwrap(), asked);
    assert_eq!((asked.tables.scale.as_slice(), asked.tables.delimiter), ([10.0].as_slice(), Some('\t')));
}
