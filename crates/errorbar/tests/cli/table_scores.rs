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

#[test]
fn percentages_beside_numbers() {
    let mixed = "id,score\n1,80%\n2,50\n3,60\n";
    check("percent_missing", &[("t.csv", mixed)], &["score", "t.csv", "--unconvertible", "missing"]);
    let parts = "id,model,score\n1,a,80%\n2,a,60%\n1,b,0.5\n2,b,0.7\n";
    check("percent_parts", &[("t.csv", parts)], &["score", "t.csv", "--by", "model"]);
}

#[test]
fn cells_that_are_named() {
    let none = [("t.csv", "id,score\n1,yes\n2,no\n3,None\n4,None\n")];
    let names = ["--correct", "yes", "--incorrect", "no", "--incorrect", "None"];
    let args: Vec<&str> = ["score", "t.csv", "--format", "csv"].iter().chain(&names).copied().collect();
    check("named_none", &none, &args);
    check("named_twice", &none, &["score", "t.csv", "--correct", "001", "--incorrect", "1"]);
    let both = [none[0], ("m.toml", "scale = 10\ncorrect = \"yes\"\n")];
    check("named_and_scale", &both, &["score", "t.csv", "--mapping", "m.toml"]);
}

#[test]
fn labels_within_lists() {
    let lists = [["a", "a"], ["a", "b"], ["b", "b"], ["c", "b"]];
    let rows = |epochs: usize| {
        let row = |(at, labels)| {
            format!("{{\"id\":{},\"epoch\":{},\"score\":{labels:?}}}\n", at / epochs, at % epochs)
        };
        lists.iter().enumerate().map(row).collect::<String>()
    };
    let args = ["score", "t.jsonl", "--metric", "krippendorff_alpha", "--format", "csv"];
    check("labels_in_lists", &[("t.jsonl", &rows(1))], &args);
    check("labels_in_lists_epochs", &[("t.jsonl", &rows(2))], &args);
    check("lists_of_words", &[("t.jsonl", &rows(1))], &["score", "t.jsonl"]);
    check("lists_of_numbers", &[("t.jsonl", "{\"id\":1,\"score\":[1,0]}\n")], &["score", "t.jsonl"]);
}

#[test]
fn hints_lead_to_an_answer() {
    for (name, cells) in [
        ("hint_thousands", ["\"1,234\"", "950", "12"]),
        ("hint_amounts", ["$5.00", "$3.00", "$5.00"]),
        ("hint_dates", ["2024-01-01", "1", "0"]),
        ("hint_pass_fail_letters", ["P", "F", "P"]),
        ("hint_missing_spellings", ["1", "?", "."]),
        ("hint_missing_and_usual", ["NA", "#DIV/0!", "0.5"]),
        ("hint_word_beside_numbers", ["1", "0", "timeout"]),
        ("hint_infinite", ["1", "0", "inf"]),
    ] {
        let rows: String = cells.iter().enumerate().map(|(at, cell)| format!("{at},{cell}\n")).collect();
        check(name, &[("t.csv", &format!("id,score\n{rows}"))], &["score", "t.csv"]);
    }
    let explained = "{\"id\":1,\"score\":{\"value\":1,\"explanation\":\"x\"}}\n\
                     {\"id\":2,\"score\":{\"value\":0,\"explanation\":\"y\"}}\n";
    check("hint_explained_maps", &[("t.jsonl", explained)], &["score", "t.jsonl"]);
    let by_key = ["score", "t.jsonl", "--no-reduce", "--metric", "{\"value\": [mean(), stderr()]}"];
    check("explained_maps_by_key", &[("t.jsonl", explained)], &by_key);
    let infinite = [("t.csv", "id,score\n1,1\n2,0\n3,inf\n")];
    check("infinite_is_missing", &infinite, &["score", "t.csv", "--na", "inf", "--format", "csv"]);
}

#[test]
fn a_saved_mapping_is_not_replaced() {
    let folder = crate::Folder::new(&[("t.csv", "id,score\n1,1\n2,0\n"), ("m.toml", "by = \"model\"\n")]);
    folder.check("mapping_exists", &["score", "t.csv", "--save-mapping", "m.toml"]);
    assert_eq!(folder.text("m.toml"), "by = \"model\"\n");
    for _ in 0..2 {
        let saved = folder.run(&["score", "t.csv", "--save-mapping", "new.toml"]);
        assert_eq!(saved.status.code(), Some(0));
    }
}
