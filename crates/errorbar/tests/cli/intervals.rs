//! Every method of an interval, bounds, and parts of a population.

use crate::check;

/// Zeros and ones, and scores from 1 to 5; the first half of the questions is on one topic.
fn table() -> String {
    let mut table = "id,right,stars,topic\n".to_owned();
    for at in 0..24 {
        let (right, stars) = (u8::from(at % 4 != 1), [5, 5, 4, 2, 5, 1][at % 6]);
        table += &format!("q{at},{right},{stars},{}\n", ["x", "y"][at / 12]);
    }
    table
}

fn with(name: &str, score: &str, options: &[&str]) {
    let args = ["score", "t.csv", "--score", score, "--quiet"];
    let args: Vec<&str> = args.iter().chain(options).copied().collect();
    check(&format!("intervals_{name}"), &[("t.csv", &table())], &args);
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

#[test]
fn bounds() {
    with("upper", "right", &["--side", "upper"]);
    with("lower", "stars", &["--side", "lower", "--interval", "t"]);
    with("lower_json", "stars", &["--side", "lower", "--interval", "t", "--format", "json"]);
    with("lower_latex", "stars", &["--side", "lower", "--interval", "t", "--format", "latex"]);
    with("ascii", "stars", &["--side", "lower", "--interval", "t", "--ascii"]);
    let none = (0..30).fold("id,score\n".to_owned(), |table, at| format!("{table}{at},0\n"));
    check("intervals_none", &[("t.csv", &none)], &["score", "t.csv", "--side", "upper", "--format", "csv"]);
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
