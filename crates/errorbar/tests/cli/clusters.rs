//! Clustered errors by every method, and the hint for a key that nothing is clustered by.

use crate::eval::Logs;
use crate::{check, errorbar};

/// Questions on eight passages, of two to nine questions; the topic has nothing to do with the scores.
fn table() -> String {
    let sizes = [2, 9, 4, 3, 6, 2, 5, 7];
    let shares = [1, 2, 4, 0, 5, 0, 5, 1];
    let mut table = "id,score,passage,topic\n".to_owned();
    let mut id = 0;
    for (passage, (size, correct)) in sizes.iter().zip(shares).enumerate() {
        for at in 0..*size {
            let score = u8::from(at < correct);
            table += &format!("q{id},{score},p{passage},{}\n", ["x", "y"][id % 2]);
            id += 1;
        }
    }
    table
}

fn with(name: &str, options: &[&str]) {
    let args: Vec<&str> = ["score", "t.csv"].iter().chain(options).copied().collect();
    check(name, &[("t.csv", &table())], &args);
}

#[test]
fn a_key_that_is_not_used_is_hinted_at_with_its_figure() {
    with("clusters_hint", &[]);
    with("clusters_hint_csv", &["--format", "csv"]);
    // The user has decided, or asks about the values themselves.
    with("clusters_used", &["--cluster", "passage"]);
    with("clusters_iid", &["--errors", "iid", "--format", "csv"]);
    with("clusters_grouped", &["--metric", "grouped(accuracy(), \"passage\")", "--format", "csv"]);
    with("clusters_quiet", &["--quiet", "--format", "csv"]);
}

#[test]
fn the_hint_is_given_once_and_quotes_the_key() {
    let table = table().replace("passage", "it's a key");
    check("clusters_hint_once", &[("t.csv", &table), ("u.csv", &table)], &["score", "t.csv", "u.csv"]);
}

#[test]
fn methods_of_clustered_errors() {
    with("clusters_jackknife", &["--cluster", "passage", "--errors", "jackknife"]);
    with("clusters_bootstrap", &["--cluster", "passage", "--errors", "BOOTSTRAP", "--seed", "3"]);
    with("clusters_two_ways", &["--cluster", "passage", "--cluster", "topic", "--errors", "jackknife"]);
    with("clusters_wild", &["--cluster", "passage", "--interval", "wild"]);
    with("clusters_wild_two_ways", &["--cluster", "passage", "--cluster", "topic", "--interval", "wild"]);
    with("clusters_of_shares", &["--metric", "frequency", "--cluster", "passage", "--cluster", "topic"]);
    with("clusters_of_iid_bootstrap", &["--errors", "bootstrap", "--format", "csv", "--quiet"]);
}

#[test]
fn few_clusters() {
    let table = "id,score,passage\nq1,1,a\nq2,0,a\nq3,1,b\nq4,1,b\n";
    check(
        "clusters_two",
        &[("t.csv", table)],
        &["score", "t.csv", "--cluster", "passage", "--interval", "wild"],
    );
    let one = table.replace(",b", ",a");
    for (name, method) in [("clusters_one_jackknife", "jackknife"), ("clusters_one_bootstrap", "bootstrap")] {
        check(name, &[("t.csv", &one)], &["score", "t.csv", "--cluster", "passage", "--errors", method]);
    }
    let null = table.replace("q3,1,b", "q3,1,");
    check(
        "clusters_no_id",
        &[("t.csv", &null)],
        &["score", "t.csv", "--cluster", "passage", "--errors", "jackknife"],
    );
}

/// The hint must not make anything fail that does not fail without it.
#[test]
fn a_file_that_cannot_be_read_for_the_hint_has_none() {
    let folder = tempfile::tempdir().unwrap();
    // 2 MB of notes, and a limit that the scores alone fit in.
    let notes = (0..2000).map(|row| format!("q{row},{},{}\n", row % 2, format!("{row} ").repeat(200)));
    std::fs::write(folder.path().join("t.csv"), "id,score,notes\n".to_owned() + &notes.collect::<String>())
        .unwrap();
    let run = |args: &[&str]| {
        let output = errorbar(folder.path(), args).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stderr).unwrap()
    };
    assert_eq!(run(&["score", "t.csv", "--max-memory", "1M", "--format", "csv"]), "");
}

/// A run whose samples all get the answer 1, which is right for half of the passages.
#[test]
fn a_run_and_its_log_are_hinted_at_too() {
    let folder = tempfile::tempdir().unwrap();
    let sample = |id: usize| {
        let passage = id / 3;
        format!(
            "{{\"id\": {id}, \"input\": \"?\", \"target\": \"{}\", \"metadata\": {{\"passage\": \"p{passage}\", \"note\": [\"n\"]}}}}\n",
            1 + passage % 2
        )
    };
    std::fs::write(folder.path().join("d.jsonl"), (0..24).map(sample).collect::<String>()).unwrap();
    let task = "dataset = { path = \"d.jsonl\" }\nscorer = \"match()\"\nmodel = \"mock/1\"\n";
    std::fs::write(folder.path().join("t.toml"), task).unwrap();
    let logs = Logs::new();
    logs.check("clusters_hint_eval", folder.path(), &["eval", "t.toml"]);
    let log = logs.only().display().to_string();
    let stderr = |args: &[&str]| {
        let output = errorbar(folder.path(), args).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stderr).unwrap()
    };
    let hint = "hint: if they belong together, add --cluster passage (";
    assert_eq!(stderr(&["score", &log, "--format", "json"]).matches(hint).count(), 1);
    assert_eq!(stderr(&["score", &log, "--cluster", "passage"]), "");
}
