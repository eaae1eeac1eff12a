//! Tables as people have them: which column is what, what cells mean, and refusals with the option to type.

use crate::check;

fn one(name: &str, content: &str, options: &[&str]) {
    let arguments: Vec<&str> = ["score", "t.csv"].into_iter().chain(options.iter().copied()).collect();
    check(name, &[("t.csv", content)], &arguments);
}

const TESTS: &str = "question_id,attempt,model,passed\nq1,1,a,PASS\nq1,2,a,FAIL\nq2,1,a,PASS\nq2,2,a,n/a\n";

#[test]
fn columns_by_common_names() {
    one("columns_spelled", TESTS, &[]);
    one("columns_two_scores", "ID,resolved,acc\n1,true,1\n2,false,0\n", &[]);
    one("columns_two_ids", "task_id,doc_id,score\n1,5,1\n2,6,0\n", &[]);
    one("columns_gold_answer", "question_id,correct,prediction\n1,A,B\n2,C,C\n", &[]);
    one("columns_count", "question_id,passed,total\n1,3,5\n2,5,5\n", &[]);
    one("columns_no_epoch", "id,score\n1,3\n", &["--epoch-column", "run"]);
    one("columns_epochs_without_ids", "prompt,epoch,score\na,1,1\na,2,0\n", &[]);
    one("columns_models", "id,model,score\n1,x,1\n1,y,0\n2,x,1\n2,y,1\n", &[]);
    one("columns_two_ids_one_repeats", "id,question_id,score\n1,a,1\n1,b,0\n", &[]);
    one("columns_models_pooled", "id,model,score\n1,x,1\n2,x,0\n3,y,1\n", &[]);
    one("columns_epochs_as_floats", "id,epoch,score\n1,1.0,1\n1,2.0,0\n2,1.0,1\n", &[]);
    one("columns_by_model", "id,model,score\n1,x,1\n1,y,0\n2,x,1\n2,y,1\n", &["--by", "model"]);
}

#[test]
fn rows_without_ids_are_never_paired() {
    let (a, b) = (("a.csv", "prompt,score\nx,1\ny,0\n"), ("b.csv", "prompt,score\ny,1\nx,1\n"));
    check("columns_numbered", &[a], &["score", "a.csv"]);
    check("columns_numbered_pairs", &[a, b], &["compare", "a.csv", "b.csv"]);
    check("columns_numbered_unpaired", &[a, b], &["compare", "a.csv", "b.csv", "--unpaired"]);
}

#[test]
fn ids_that_may_be_row_numbers() {
    let (a, b) = (("a.csv", "id,score\n1,1\n2,0\n3,1\n"), ("b.csv", "id,score\n1,1\n2,1\n3,1\n"));
    check("columns_row_numbers", &[a, b], &["compare", "a.csv", "b.csv"]);
    check("columns_row_numbers_named", &[a, b], &["compare", "a.csv", "b.csv", "--id-column", "id"]);
}

#[test]
fn cells_without_a_meaning() {
    let graded = "id,score\n1,good\n2,bad\n3,good\n";
    one("cells_two_words", graded, &[]);
    one("cells_named", graded, &["--correct", "good", "--incorrect", "bad"]);
    one("cells_unnamed", graded, &["--correct", "good"]);
    one("cells_third_word", "id,score\n1,PASS\n2,FAIL\n3,ERROR\n", &[]);
    let fractions = "id,score\n1,7/10\n2,3/10\n";
    one("cells_fractions", fractions, &[]);
    one("cells_scaled", fractions, &["--scale", "10"]);
    one("cells_off_scale", "id,score\n1,7\n2,12\n", &["--scale", "10"]);
    one("cells_mixed_percent", "id,score\n1,28%\n2,0.3\n", &[]);
    one("cells_labels", TESTS, &["--metric", "accuracy", "--metric", "frequency"]);
    one("cells_na", "id,score\n1,1\n2,-99\n", &["--na", "-99"]);
}

#[test]
fn explained() {
    one("explain", TESTS, &["--explain"]);
    one("explain_json", TESTS, &["--explain", "--format", "json"]);
    one("explain_repeated", "id,model,score\n1,x,1\n1,y,0\n", &["--explain"]);
    one("explain_no_score", "id,gpt,label\n1,x,1\n2,y,0\n", &["--explain"]);
    one("explain_epochs_from_0", "id,epoch,score\nq1,0,1\nq1,1,0\nq2,0,1\n", &["--explain"]);
    one("explain_log", "id,log,score\nq1,a.txt,1\nq2,b.txt,0\n", &["--explain"]);
    one("explain_numbered", "prompt,score\nx,1\ny,0.5\n", &["--explain"]);
    check(
        "explain_mapping",
        &[("t.csv", TESTS), ("m.toml", "score_colum = \"a\"\n")],
        &["score", "t.csv", "--mapping", "m.toml"],
    );
}
