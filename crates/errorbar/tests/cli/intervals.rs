//! Every method of an interval, bounds, and parts of a population.

use crate::{check, errorbar, transcript, workspace};

/// 24 questions, half of them on each of two topics.
fn table(scores: &[u8]) -> String {
    let rows = (0..24).map(|at| format!("q{at},{},{}\n", scores[at % scores.len()], ["x", "y"][at / 12]));
    std::iter::once("id,score,topic\n".to_owned()).chain(rows).collect()
}

fn with(name: &str, kind: &str, options: &[&str]) {
    let table = if kind == "right" { table(&[1, 0, 1, 1]) } else { table(&[5, 5, 4, 2, 5, 1]) };
    let args: Vec<&str> = ["score", "t.csv", "--quiet"].iter().chain(options).copied().collect();
    check(&format!("intervals_{name}"), &[("t.csv", &table)], &args);
}

#[test]
fn methods() {
    for method in ["clopper_pearson", "jeffreys"] {
        with(method, "right", &["--interval", method]);
    }
    with("beta", "right", &["--interval", "beta(prior=[2, 3])", "--format", "csv"]);
    with("bca", "stars", &["--interval", "bca"]);
    with("exact", "stars", &["--interval", "exact", "--format", "csv"]);
    with("not_for_grades", "stars", &["--interval", "clopper_pearson"]);
    let grouped = ["--metric", "grouped(accuracy(), \"topic\", all=\"groups\")", "--interval", "bca"];
    with("groups", "right", &grouped);
}

/// The row has the reason, and the hint names the option.
#[test]
fn wilson_needs_a_range() {
    let stars = table(&[5, 5, 4, 2, 5, 1]);
    check("intervals_no_range", &[("t.csv", &stars)], &["score", "t.csv", "--interval", "wilson"]);
    let ranged = ["score", "t.csv", "--interval", "wilson", "--range", "1", "5"];
    check("intervals_range", &[("t.csv", &stars)], &ranged);
}

#[test]
fn bounds() {
    with("upper", "right", &["--side", "upper"]);
    with("lower", "stars", &["--side", "lower", "--interval", "t"]);
    with("lower_json", "stars", &["--side", "lower", "--interval", "t", "--format", "json"]);
    with("lower_latex", "stars", &["--side", "lower", "--interval", "t", "--format", "latex"]);
    let none = (0..30).fold("id,score\n".to_owned(), |table, at| format!("{table}{at},0\n"));
    check("intervals_none", &[("t.csv", &none)], &["score", "t.csv", "--side", "upper", "--format", "csv"]);
}

#[test]
fn bounds_are_ascii_where_there_is_nothing_else() {
    let args = ["score", "examples/quiz.csv", "--side", "lower", "--quiet"];
    let output = errorbar(&workspace(), &args).env("LC_ALL", "C").output().unwrap();
    let text = transcript(&args, &output);
    assert!(text.is_ascii() && text.contains(" >= 0."), "{text}");
}

#[test]
fn populations() {
    with("population", "right", &["--population", "96"]);
    with("population_all", "right", &["--population", "24"]);
    with("population_less", "right", &["--population", "23"]);
    with("population_groups", "right", &["--population", "96", "--metric", "grouped(accuracy(), \"topic\")"]);
}

#[test]
fn of_a_metric() {
    let metrics = ["--metric", "accuracy", "--metric", "ci(method=\"clopper_pearson\", side=\"upper\")"];
    with("ci", "right", &metrics);
    with("ci_unknown", "right", &["--metric", "ci(method=\"wald\")"]);
    with("ci_prior", "right", &["--metric", "ci(method=\"beta(prior=[1])\")"]);
}

#[test]
fn wrong_options() {
    with("wrong_prior", "right", &["--interval", "beta(prior=[0, 1])"]);
    with("wrong_method", "right", &["--interval", "wald"]);
    with("wrong_argument", "right", &["--interval", "t(3)"]);
    with("wrong_side", "right", &["--side", "above"]);
    with("wrong_population", "right", &["--population", "0"]);
    with("wrong_level", "right", &["--level", "1"]);
}
