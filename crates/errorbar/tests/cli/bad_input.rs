//! Metrics and reducers that cannot be had, or not for these scores: the message names the file, the
//! sample, the key and the way out, and the other metrics are still shown.

use crate::check;

const TABLE: [(&str, &str); 1] = [(
    "t.csv",
    "id,epoch,score,topic,passage\nq1,1,1,law,p1\nq1,2,0,law,p1\nq2,1,1,tax,p2\nq2,2,1,tax,p2\nq3,1,0,law,p3\nq3,2,1,law,p3\n",
)];

fn with_metrics(name: &str, files: &[(&str, &str)], metrics: &[&str]) {
    let (table, _) = files.first().unwrap();
    let options = metrics.iter().flat_map(|metric| ["-m", metric]);
    let args: Vec<&str> = ["score", table].into_iter().chain(options).collect();
    check(name, files, &args);
}

#[test]
fn wrong_specs_are_all_reported_before_a_file_is_opened() {
    check(
        "bad_specs",
        &[],
        &[
            "score",
            "not-opened.csv",
            "-m",
            "acuracy",
            "-m",
            "grouped(acuracy(), \"acuracy\")",
            "-m",
            "zzz()",
            "-m",
            "stderr(clster=\"passage\")",
            "-m",
            "stderr(cluster=passage)",
            "-m",
            "ci(level=95)",
            "-m",
            "ci(level=0)",
            "-m",
            "mean(to_float]",
            "-m",
            "{\"a\": [men()]}",
            "-r",
            "at_least_0",
            "-r",
            "pass_at(k=-1)",
            "-r",
            "modes",
        ],
    );
}

#[test]
fn mistakes_that_are_easily_made() {
    let metrics = ["pass_at_2", "mode", "accuracy,stderr", "mean, stderr(cluster=\"passage\")"];
    let reducers = ["pass@2", "pass^3", "pass@k", "accuracy", "mode,max"];
    let options = metrics.iter().flat_map(|m| ["-m", m]).chain(reducers.iter().flat_map(|r| ["-r", r]));
    let args: Vec<&str> = ["score", "not-opened.csv"].into_iter().chain(options).collect();
    check("mistaken_specs", &[], &args);
}

#[test]
fn nothing_to_compute() {
    with_metrics("no_metrics", &TABLE, &["{}"]);
    let maps = [("t.jsonl", "{\"id\":\"q1\",\"score\":{\"a\":1}}\n{\"id\":\"q2\",\"score\":{\"a\":0}}\n")];
    with_metrics("no_key_matches", &maps, &["{\"x*\": [mean()]}"]);
}

#[test]
fn reduction_on_and_off() {
    check("reducer_and_no_reduce", &TABLE, &["score", "t.csv", "-r", "mode", "--no-reduce"]);
}

#[test]
fn k_above_the_epochs() {
    check("k_above_epochs", &TABLE, &["score", "t.csv", "-r", "pass_at_5", "-r", "at_least_3"]);
}

#[test]
fn missing_group_key() {
    with_metrics("missing_group_key", &TABLE, &["accuracy", "grouped(accuracy(), \"topc\")"]);
    let partly = [("t.jsonl", "{\"id\":1,\"score\":1,\"g\":\"a\"}\n{\"id\":2,\"score\":1}\n")];
    with_metrics("group_key_missing_in_one", &partly, &["accuracy", "grouped(accuracy(), \"g\")"]);
}

#[test]
fn missing_cluster_id() {
    let table = [("t.csv", "id,score,passage\nq1,1,p1\nq2,0,\nq3,1,p2\n")];
    with_metrics("missing_cluster_id", &table, &["accuracy", "stderr(cluster=\"passage\")"]);
}

#[test]
fn colliding_groups() {
    let table = [("t.csv", "id,score,topic\nq1,1,law\nq2,0,all\nq3,1,tax\n")];
    with_metrics("group_called_all", &table, &["accuracy", "grouped(accuracy(), \"topic\")"]);
    with_metrics(
        "template_without_group",
        &TABLE,
        &["accuracy", "grouped(accuracy(), \"topic\", name_template=\"x\")"],
    );
    with_metrics("template_unknown", &TABLE, &["grouped(accuracy(), \"topic\", name_template=\"{group}\")"]);
}

#[test]
fn metrics_by_key_of_plain_scores() {
    with_metrics("by_key_of_scalars", &TABLE, &["{\"a*\": [mean()]}"]);
}

#[test]
fn keys_that_differ() {
    let epochs = [(
        "t.jsonl",
        "{\"id\":\"q1\",\"epoch\":1,\"score\":{\"a\":1}}\n{\"id\":\"q1\",\"epoch\":2,\"score\":{\"b\":1}}\n",
    )];
    with_metrics("keys_differ_across_epochs", &epochs, &["{\"a\": [mean()]}"]);
    let samples =
        [("t.jsonl", "{\"id\":\"q1\",\"score\":{\"a\":1,\"b\":1}}\n{\"id\":\"q2\",\"score\":{\"b\":1}}\n")];
    with_metrics("key_missing_in_one", &samples, &["{\"*\": [mean()]}"]);
}

#[test]
fn an_infinite_score_fails_its_metrics_only() {
    let table = [("t.csv", "id,score,n\nq1,1,1\nq2,inf,1\nq3,0,2\n")];
    let args =
        ["score", "t.csv", "--score-column", "score", "--score-column", "n", "-m", "mean", "-m", "frequency"];
    check("infinite", &table, &args);
    check("infinite_json", &table, &["score", "t.csv", "-m", "mean", "-m", "frequency", "-f", "json"]);
    check("infinite_csv", &table, &["score", "t.csv", "-m", "mean", "-m", "frequency", "-f", "csv"]);
}

#[test]
fn scores_outside_the_unit_interval() {
    let table = [("t.csv", "id,score\nq1,1\nq2,7\n")];
    with_metrics("wilson_outside", &table, &["mean", "ci_wilson"]);
}
