//! Tables that `--by` splits: what each part has for itself, and epochs that are not reduced.

use serde_json::Value as Json;

use crate::{Folder, check};

/// Questions of the models `many`, which was run five times, and `once`.
fn unequal(is_shared: bool) -> [String; 3] {
    let score = |at: usize, epoch: usize| u8::from((at * 7 + epoch * 3) % 11 < 5);
    let (mut of_many, mut of_once) = (String::new(), String::new());
    for at in 0..20 {
        for epoch in 1..=5 {
            of_many += &format!("q{at},many,{epoch},{}\n", score(at, epoch));
        }
        let id = if is_shared { at } else { at + 20 };
        of_once += &format!("q{id},once,1,{}\n", score(at, 2));
    }
    let header = "id,model,epoch,score\n";
    [format!("{header}{of_many}{of_once}"), format!("{header}{of_many}"), format!("{header}{of_once}")]
}

/// 20 questions with 5 epochs each, 45 of 100 answers right.
fn repeated() -> String {
    let right = [vec![5; 2], vec![4; 6], vec![3; 2], vec![2; 2], vec![1], vec![0; 7]].concat();
    let rows = right.iter().enumerate().flat_map(|(at, right)| {
        (1..=5).map(move |epoch| format!("q{at},{epoch},{}\n", u8::from(epoch <= *right)))
    });
    format!("id,epoch,score\n{}", rows.collect::<String>())
}

fn reports(folder: &Folder, args: &[&str]) -> Vec<Json> {
    let output = folder.run(&[args, &["--format", "json"]].concat());
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

fn estimates(folder: &Folder, args: &[&str]) -> Vec<Json> {
    let reports = reports(folder, args);
    reports.iter().flat_map(|report| report["estimates"].as_array().unwrap().clone()).collect()
}

/// Epochs that a part was not to have are not absent from it.
#[test]
fn epochs_are_those_of_the_part() {
    let [both, ..] = unequal(true);
    let folder = Folder::new(&[("t.csv", &both)]);
    let rows = estimates(&folder, &["score", "t.csv", "--by", "model", "-m", "accuracy"]);
    assert_eq!(rows.len(), 2);
    for row in &rows {
        assert!(
            row["absent"] == 0 && row["partly_absent"].is_null() && row["bound_worst"].is_null(),
            "{row}"
        );
    }
    folder.check("parts_epochs", &["score", "t.csv", "--by", "model"]);
}

/// The sides of one table are refused as those of two are.
#[test]
fn epochs_are_those_of_the_side() {
    let [both, many, once] = unequal(true);
    let folder = Folder::new(&[("t.csv", &both), ("many.csv", &many), ("once.csv", &once)]);
    let errors = |args: &[&str]| {
        let output = folder.run(&[&["compare"], args].concat());
        (output.status.code(), String::from_utf8(output.stderr).unwrap())
    };
    for reducer in ["max", "at_least_1"] {
        let by = errors(&["t.csv", "--by", "model", "--reducer", reducer]);
        assert_eq!(by, errors(&["many.csv", "once.csv", "--reducer", reducer]));
        assert_eq!(by.0, Some(2));
        assert!(by.1.contains("the numbers of epochs differ (many: 5, once: 1)"), "{}", by.1);
    }
    let (code, note) = errors(&["t.csv", "--by", "model"]);
    assert_eq!((code, note), errors(&["many.csv", "once.csv"]));
}

/// A part of several models has none, as a table of several has none.
#[test]
fn a_part_of_several_models_has_no_model() {
    let rows = |model: fn(usize) -> &'static str| -> String {
        let row = |at: usize| {
            let topic = if at < 10 { "law" } else { "art" };
            format!("q{at},{topic},{},{}\n", model(at), at % 2)
        };
        format!("id,topic,model,score\n{}", (0..20).map(row).collect::<String>())
    };
    let folder = Folder::new(&[
        ("mixed.csv", &rows(|at| ["m1", "m2"][at % 2])),
        ("own.csv", &rows(|at| ["m1", "m2"][at / 10])),
        ("late.csv", &rows(|at| if at == 19 { "m2" } else { "m1" })),
    ]);
    let models = |table: &str| -> Vec<Json> {
        let args = ["score", table, "--by", "topic"];
        reports(&folder, &args).iter().map(|report| report["model"].clone()).collect()
    };
    assert_eq!(models("mixed.csv"), [Json::Null, Json::Null]);
    assert_eq!(models("own.csv"), ["m1", "m2"]);
    assert_eq!(models("late.csv"), [Json::from("m1"), Json::Null]);
    folder.check("parts_mixed_models", &["score", "mixed.csv", "--by", "topic"]);
    folder.check("parts_own_models", &["score", "own.csv", "--by", "topic"]);
}

/// A column `task` is no other `--by`.
#[test]
fn tasks_split_parts_only_if_they_share_ids() {
    let table = |is_shared: bool| {
        let row = |at: usize| {
            let (topic, task) = (["law", "art"][at % 2], ["sums", "maps"][at / 2 % 2]);
            let id = if is_shared { at / 4 } else { at };
            format!("q{id},{topic},{task},{}\n", at % 3 % 2)
        };
        format!("id,topic,task,score\n{}", (0..24).map(row).collect::<String>())
    };
    let (unique, shared) = (table(false), table(true));
    check(
        "parts_tasks_unique",
        &[("t.csv", &unique)],
        &["score", "t.csv", "--by", "topic", "-m", "accuracy"],
    );
    check(
        "parts_tasks_shared",
        &[("t.csv", &shared)],
        &["score", "t.csv", "--by", "topic", "-m", "accuracy"],
    );
}

/// The error of rows is that of questions, whatever metrics are wanted beside it.
#[test]
fn the_error_of_unreduced_epochs_is_of_questions() {
    let folder = Folder::new(&[("t.csv", &repeated())]);
    let reduced = estimates(&folder, &["score", "t.csv", "-m", "accuracy"]);
    let se = reduced[0]["stderr"].as_f64().unwrap();
    assert!((se - 0.0869).abs() < 1e-4, "{se}");
    for metrics in [&["accuracy"][..], &["accuracy", "stderr"], &["accuracy", "bootstrap_stderr", "ci"]] {
        let metrics = metrics.iter().flat_map(|metric| ["-m", *metric]);
        let args: Vec<&str> = ["score", "t.csv", "--no-reduce"].into_iter().chain(metrics).collect();
        let rows = estimates(&folder, &args);
        let row = &rows[0];
        assert!((row["stderr"].as_f64().unwrap() - se).abs() < 1e-12, "{row}");
        assert_eq!((&row["error_method"], &row["clusters"]), (&Json::from("CR2"), &Json::from(20)));
        assert_eq!(rows.len(), 1, "{args:?}");
    }
    folder.check("parts_unreduced", &["score", "t.csv", "--no-reduce"]);
    // The metric itself is the reference's: √(0.45 · 0.55 / 99).
    let recorded = reports(&folder, &["score", "t.csv", "--no-reduce"]);
    let recorded = recorded[0]["results"]["scores"][0]["metrics"]["stderr"]["value"].as_f64().unwrap();
    assert!((recorded - 0.05).abs() < 1e-12, "{recorded}");
}

#[test]
fn a_requirement_reads_the_error_of_questions() {
    let folder = Folder::new(&[("t.csv", &repeated())]);
    let code = |requirement: &str| {
        folder.run(&["score", "t.csv", "--no-reduce", "--require", requirement]).status.code()
    };
    assert_eq!(code("stderr(accuracy) < 0.06"), Some(1));
    assert_eq!(code("stderr(accuracy) < 0.09"), Some(0));
}

/// Five answers to one question have no error that is about questions.
#[test]
fn epochs_of_one_question_have_no_error() {
    let rows: String = (1..=5).map(|epoch| format!("q,{epoch},{}\n", epoch % 2)).collect();
    let folder = Folder::new(&[("t.csv", &format!("id,epoch,score\n{rows}"))]);
    let rows = estimates(&folder, &["score", "t.csv", "--no-reduce"]);
    assert!(rows[0]["stderr"].is_null(), "{}", rows[0]);
    let rows = estimates(&folder, &["score", "t.csv", "--no-reduce", "-m", "accuracy", "-m", "frequency"]);
    assert!(rows.iter().all(|row| row["stderr"].is_null()), "{rows:?}");
}

/// The same questions of the scorers `many`, with five epochs, and `once`, with one: as columns and as rows of a scorer.
fn unequal_scorers() -> [(&'static str, String); 3] {
    let score = |at: usize, epoch: usize| u8::from((at * 7 + epoch * 3) % 11 < 5);
    let (mut wide, mut lines) = ("id,epoch,many,once\n".to_owned(), String::new());
    let (mut many, mut once) = (String::new(), String::new());
    for at in 0..20 {
        for epoch in 1..=5 {
            let (a, b) = (score(at, epoch), score(at, epoch + 1));
            many += &format!("q{at},{epoch},many,{a}\n");
            if epoch == 1 {
                once += &format!("q{at},1,once,{b}\n");
                wide += &format!("q{at},1,{a},{b}\n");
                lines += &format!("{{\"id\": \"q{at}\", \"epoch\": 1, \"many\": {a}, \"once\": {b}}}\n");
            } else {
                wide += &format!("q{at},{epoch},{a},\n");
                lines += &format!("{{\"id\": \"q{at}\", \"epoch\": {epoch}, \"many\": {a}}}\n");
            }
        }
    }
    [("wide.csv", wide), ("long.csv", format!("id,epoch,scorer,score\n{many}{once}")), ("lines.jsonl", lines)]
}

/// A scorer that was run once is compared with one that was run five times as two files would be.
#[test]
fn epochs_are_those_of_the_scorer() {
    let tables = unequal_scorers();
    let tables: Vec<(&str, &str)> = tables.iter().map(|(name, text)| (*name, text.as_str())).collect();
    let folder = Folder::new(&tables);
    let mut shown = Vec::new();
    for (table, _) in &tables {
        let compare = |rest: &[&str]| {
            let output = folder.run(&[&["compare", table, "--scorers", "many", "once"], rest].concat());
            (output.status.code(), String::from_utf8([output.stdout, output.stderr].concat()).unwrap())
        };
        for reducer in ["max", "at_least_1"] {
            let (code, error) = compare(&["--reducer", reducer]);
            assert_eq!(code, Some(2), "{table} {error}");
            assert!(error.contains("the numbers of epochs differ (many: 5, once: 1)"), "{error}");
        }
        let (code, note) = compare(&[]);
        assert!(
            code == Some(0) && note.contains("the numbers of epochs differ (many: 5, once: 1)"),
            "{note}"
        );
        let (_, error) = compare(&["--reducer", "pass_at_2"]);
        assert!(
            error.contains("`once` in") && error.contains("k = 2 is more than the 1 epoch of the run"),
            "{table}: {error}"
        );
        let columns: &[&str] = match *table {
            "long.csv" => &[],
            _ => &["--score-column", "many", "--score-column", "once"],
        };
        let score = |rest: &[&str]| estimates(&folder, &[&["score", table], columns, rest].concat());
        for row in score(&["-m", "accuracy"]) {
            assert!(row["absent"] == 0 && row["bound_worst"].is_null(), "{table} {row}");
        }
        let unreduced = score(&["-m", "accuracy", "--no-reduce"]);
        assert!(unreduced.iter().all(|row| row["absent"] == 0), "{table} {unreduced:?}");
        shown.push(score(&[]));
    }
    assert!(shown.iter().all(|report| *report == shown[0]));
    folder.check("scorer_epochs", &["score", "long.csv"]);
}

/// Of two tables with several scorers, those of one name are compared by their own epochs.
#[test]
fn epochs_are_those_of_each_scorer_of_a_side() {
    let rows = |once: u32| {
        let cells = (0..60).map(|at| {
            let (id, epoch) = (at / 3, at % 3 + 1);
            let last = if epoch <= once { (at % 5 % 2).to_string() } else { String::new() };
            format!("q{id},{epoch},{},{last}\n", at % 7 % 2)
        });
        format!("id,epoch,judge,human\n{}", cells.collect::<String>())
    };
    let folder = Folder::new(&[("one.csv", &rows(1)), ("same.csv", &rows(1)), ("all.csv", &rows(3))]);
    let columns = ["--score-column", "judge", "--score-column", "human", "--reducer", "max"];
    let compare = |other: &str| {
        let output = folder.run(&[&["compare", "one.csv", other][..], &columns].concat());
        (output.status.code(), String::from_utf8(output.stderr).unwrap())
    };
    assert_eq!(compare("same.csv").0, Some(0));
    let (code, error) = compare("all.csv");
    assert!(code == Some(2) && error.contains("the numbers of epochs differ (one: 1, all: 3)"), "{error}");
}

#[test]
fn sides_of_other_tasks_are_named_by_their_parts() {
    let table = "id,model,task,score\n1,m1,t1,1\n2,m1,t1,0\n3,m2,t2,1\n4,m2,t2,0\n";
    let folder = Folder::new(&[("t.csv", table)]);
    let error = String::from_utf8(folder.run(&["compare", "t.csv", "--by", "model"]).stderr).unwrap();
    assert!(error.contains("t.csv: m1 is of `t1`, t.csv: m2 is of `t2`"), "{error}");
}

#[test]
fn what_is_given_is_not_proposed() {
    let rows = "1,m1,1\n1,m1,0\n1,m2,1\n2,m1,1\n";
    let folder = Folder::new(&[("t.csv", &format!("id,model,score\n{rows}"))]);
    let output = folder.run(&["compare", "t.csv", "--by", "model"]);
    let error = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.code() == Some(2) && error.contains("already on line 2"), "{error}");
    assert!(error.contains("--epoch-column") && !error.contains("--by"), "{error}");
}

#[test]
fn a_table_is_not_split_by_its_scorers() {
    let folder = Folder::new(&[("t.csv", "id,scorer,score\n1,a,1\n1,b,0\n2,a,0\n2,b,1\n")]);
    for command in ["score", "compare"] {
        let error = String::from_utf8(folder.run(&[command, "t.csv", "--by", "scorer"]).stderr).unwrap();
        assert!(error.contains("cannot be split by its column `scorer`"), "{error}");
        assert!(error.contains("--scorers A B"), "{error}");
    }
    assert_eq!(folder.run(&["compare", "t.csv", "--scorers", "a", "b"]).status.code(), Some(0));
    let named = ["score", "t.csv", "--by", "scorer", "--score-column", "score"];
    assert_eq!(folder.run(&named).status.code(), Some(0));
}
