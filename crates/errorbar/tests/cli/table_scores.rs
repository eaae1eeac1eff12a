//! Tables of scores that are not grades or numbers between 0 and 1.

use crate::check;

const GRADES: (&str, &str) = ("t.csv", "id,score\nq1,good\nq2,bad\nq3,good\nq4,C\nq5,so-so\nq6,\nq7,NaN\n");

fn score(name: &str, options: &[&str]) {
    let args: Vec<&str> = ["score", "t.csv"].iter().chain(options).copied().collect();
    check(name, &[GRADES], &args);
}

#[test]
fn cells_that_are_no_scores_are_an_error() {
    score("no_scores", &[]);
    score("no_scores_metric", &["--reducer", "mode", "--metric", "accuracy"]);
    let many: String = (0..30).map(|n| format!("q{n},grade {}{}\n", n % 9, "x".repeat(n % 9 * 8))).collect();
    check("no_scores_many", &[("t.csv", &format!("id,score\n{many}"))], &["score", "t.csv"]);
    let maps = "{\"id\": 1, \"score\": {\"a\": 1}}\n{\"id\": 2, \"score\": {\"a\": 0}}\n";
    check("no_scores_maps", &[("t.jsonl", maps)], &["score", "t.jsonl"]);
    let parts = "{\"id\": 1, \"score\": {\"a\": \"good\"}}\n{\"id\": 2, \"score\": {\"a\": 0}}\n";
    let by_key = ["score", "t.jsonl", "--metric", "{\"a\": [mean()]}"];
    check("no_scores_parts", &[("t.jsonl", parts)], &by_key);
    // As in logs a null within a map is no unscored value; other than there it is not counted as 0.
    let null = "{\"id\": 1, \"score\": {\"a\": null}}\n{\"id\": 2, \"score\": {\"a\": 0}}\n";
    check("no_scores_null", &[("t.jsonl", null)], &by_key);
    check("scores_nan_parts", &[("t.jsonl", &null.replace("null", "NaN"))], &by_key);
    check(
        "no_scores_columns",
        &[("t.csv", "id,a,b\n1,x,1\n2,0,y\n")],
        &["score", "t.csv", "--score-column", "a", "--score-column", "b"],
    );
}

#[test]
fn a_table_without_a_score_has_no_answer() {
    check("nothing_scored", &[("t.csv", "id,score\nq1,\nq2,NaN\n")], &["score", "t.csv"]);
}

#[test]
fn an_option_sets_what_they_are() {
    score("no_scores_zero", &["--unconvertible", "zero"]);
    score("no_scores_missing", &["--unconvertible", "missing"]);
    score("no_scores_what", &["--unconvertible", "nothing"]);
    let grades =
        "mean(value_to_float=value_to_float(correct=\"good\", incorrect=\"bad\", partial=\"so-so\"))";
    // C is none of the grades then.
    score("no_scores_named", &["--reducer", grades]);
    score("no_scores_named_missing", &["--reducer", grades, "--unconvertible", "missing"]);
}

#[test]
fn metrics_of_labels_take_any_text() {
    score("labels_frequency", &["--metric", "frequency", "--format", "csv"]);
    // What one metric reads as grades and another as labels is missing only if it is no grade.
    let grades = "accuracy(to_float=value_to_float(correct=\"good\", incorrect=\"bad\", partial=\"so-so\"))";
    let both =
        ["--reducer", "mode", "--metric", grades, "--metric", "frequency", "--unconvertible", "missing"];
    score("labels_and_grades", &both);
}

#[test]
fn scores_beyond_0_and_1_have_a_mean() {
    let points = "id,score\nq1,7\nq2,10\nq3,4\n";
    check("points_mean", &[("t.csv", points)], &["score", "t.csv", "--format", "csv"]);
    check("points_accuracy", &[("t.csv", points)], &["score", "t.csv", "-m", "accuracy", "--format", "csv"]);
    let both = "id,a,b,f1\nq1,1,7,0.5\nq2,0,10,1\n";
    let columns = ["--score-column", "a", "--score-column", "b", "--score-column", "f1", "--format", "csv"];
    let args: Vec<&str> = ["score", "t.csv"].iter().chain(&columns).copied().collect();
    check("points_columns", &[("t.csv", both)], &args);
    let f1 = "id,f1\nq1,0.5\nq2,1\n";
    check("f1_column", &[("t.csv", f1)], &["score", "t.csv", "--score-column", "f1", "--format", "csv"]);
}
