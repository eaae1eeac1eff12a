//! Tables that cannot be used. The other tables of the command still are.

use crate::check;

fn one(name: &str, file: &str, content: &str) {
    check(name, &[(file, content)], &["score", file]);
}

#[test]
fn no_score_column() {
    one("no_score_column", "t.csv", "id,points,topic\nq1,3,law\n");
    let table = [("t.csv", "id,points\nq1,3\n")];
    check("no_such_score_column", &table, &["score", "t.csv", "--score-column", "pionts"]);
    check(
        "score_column_twice",
        &table,
        &["score", "t.csv", "--score-column", "points", "--score-column", "points"],
    );
    one("no_id_column", "t.csv", "name,score\nq1,3\n");
}

#[test]
fn rows_that_do_not_fit() {
    one("short_row", "t.csv", "id,score,topic\nq1,1,law\nq2,0\n");
    one("long_row", "t.csv", "id,score\nq1,1\nq2,0,5\n");
    one("unclosed_quote", "t.csv", "id,score\nq1,1\n\"q2,0\nq3,1\n");
    one("bad_epoch", "t.csv", "id,epoch,score\nq1,one,1\n");
    one("duplicate_epoch", "t.csv", "id,epoch,score\nq1,1,1\nq2,1,1\nq1,1,0\n");
    one("bad_json", "t.jsonl", "{\"id\": \"q1\", \"score\": 1}\n{\"id\": \"q2\", \"score\": }\n");
    one("nested_score", "t.jsonl", "{\"id\": \"q1\", \"score\": {\"a\": [1]}}\n");
    one("empty", "t.csv", "");
}

#[test]
fn files_that_are_no_tables() {
    check("missing_file", &[], &["score", "nowhere.csv"]);
    one("unknown_extension", "t.xlsx", "");
    one("eval_log", "run.eval", "");
    one("json_log", "run.json", "{}");
}

#[test]
fn the_other_tables_are_still_scored() {
    let tables = [("good.csv", "id,score\nq1,1\nq2,0\n"), ("bad.csv", "id\nq1\n")];
    check("one_bad_table", &tables, &["score", "bad.csv", "good.csv", "nowhere.csv"]);
}

#[test]
fn limits_have_options() {
    let rows: String = (0..20_000).map(|n| format!("sample{n},1,x\n")).collect();
    let table = [("t.csv", &*format!("id,score,topic\n{rows}"))];
    check("table_memory", &table, &["score", "t.csv", "--max-memory", "100k"]);
    check("table_columns", &table, &["score", "t.csv", "--max-columns", "2"]);
    let long = format!("{{\"id\": 1, \"score\": 1, \"x\": \"{}\"}}\n", "y".repeat(5000));
    check("table_line", &[("t.jsonl", &long)], &["score", "t.jsonl", "--max-line", "4k"]);
    check("table_limit_no_size", &table, &["score", "t.csv", "--max-memory", "much"]);
}
