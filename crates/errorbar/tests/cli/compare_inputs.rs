//! Inputs of `errorbar compare` and `power` that cannot be what is meant, or are so in another form: each message names
//! the place and the way out.

use std::fs;

use crate::Folder;
use crate::eval::Logs;

const ZEROS_AND_ONES: &str = "id,score\nq1,1\nq2,0\nq3,1\nq4,0\n";

/// What a command reports, and its exit code.
fn reported(folder: &Folder, args: &[&str]) -> (Option<i32>, String) {
    let output = folder.run(args);
    (output.status.code(), String::from_utf8(output.stderr).unwrap())
}

/// A name without an extension was taken for a table without one.
#[test]
fn a_file_that_does_not_exist_is_reported_as_such() {
    let folder = Folder::new(&[("base.csv", ZEROS_AND_ONES), ("notes", "some text\n")]);
    for args in [
        &["compare", "nosuch", "base.csv"][..],
        &["score", "nosuch"],
        &["power", "--difference", "0.1", "--from", "nosuch"],
    ] {
        let (code, text) = reported(&folder, args);
        assert_eq!(code, Some(2));
        assert!(text.contains("nosuch: cannot open the file: No such file or directory"), "{text}");
        assert!(text.contains("`latest`, @1"), "{text}");
    }
    let (_, text) = reported(&folder, &["score", "notes"]);
    assert!(text.contains("neither the name nor the content says what kind of table this is"), "{text}");
}

#[test]
fn scales_that_differ_are_warned_about() {
    let percent = "id,score\nq1,95\nq2,20\nq3,60\nq4,70\n";
    let ratings = "id,score\nq1,1\nq2,5\nq3,3\nq4,4\n";
    let ones = "id,score\nq1,1\nq2,1\nq3,1\nq4,1\n";
    let folder = Folder::new(&[
        ("base.csv", ZEROS_AND_ONES),
        ("percent.csv", percent),
        ("ratings.csv", ratings),
        ("ones.csv", ones),
    ]);
    let warning =
        "the scores of base are 0 to 1, those of percent 20 to 95: they seem to have different scales";
    let (code, text) = reported(&folder, &["compare", "base.csv", "percent.csv"]);
    assert!(code == Some(0) && text.contains(warning) && text.contains("--range LO HI"), "{text}");
    for args in [
        &["compare", "base.csv", "percent.csv", "--range", "0", "100"][..],
        &["compare", "ones.csv", "ratings.csv"],
        &["compare", "percent.csv", "ratings.csv"],
    ] {
        let (_, text) = reported(&folder, args);
        assert!(!text.contains("different scales"), "{text}");
    }
}

#[test]
fn a_cell_that_is_no_score_is_found() {
    for cell in ["maybe", "88%", "\"0,5\""] {
        let bad = format!("id,score\nq1,1\n\nq2,{cell}\nq3,1\n");
        let folder = Folder::new(&[("base.csv", "id,score\nq1,1\nq2,0\nq3,1\n"), ("bad.csv", &bad)]);
        for args in [&["compare", "base.csv", "bad.csv"][..], &["score", "bad.csv"]] {
            let (code, text) = reported(&folder, args);
            assert_eq!(code, Some(2));
            assert!(text.contains("the first is in line 4, sample \"q2\""), "{text}");
        }
    }
    // A cell of several lines: those of the file are counted.
    let bad = "id,score,note\nq1,1,\"two\nlines\"\nq2,maybe,\n";
    let folder = Folder::new(&[("bad.csv", bad)]);
    let (_, text) = reported(&folder, &["score", "bad.csv"]);
    assert!(text.contains("the first is in line 4, sample \"q2\""), "{text}");
}

#[test]
fn each_table_may_have_its_own_column_of_ids() {
    let lines = "{\"question\": \"q1\", \"score\": 1}\n{\"question\": \"q2\", \"score\": 1}\n";
    let folder = Folder::new(&[
        ("base.csv", ZEROS_AND_ONES),
        ("other.csv", &ZEROS_AND_ONES.replace("id,", "question_id,").replace("q4,0", "q4,1")),
        ("lines.jsonl", lines),
    ]);
    let found = folder.run(&["compare", "base.csv", "other.csv", "--format", "csv"]);
    assert!(found.status.success(), "a common spelling: {}", String::from_utf8_lossy(&found.stderr));
    let (code, text) = reported(&folder, &["compare", "base.csv", "lines.jsonl"]);
    assert_eq!(code, Some(2));
    assert!(text.contains("lines.jsonl: no column identifies the samples"), "{text}");
    assert!(text.contains("--id-column") && text.contains("--unpaired"), "{text}");
    let ids =
        ["--id-column", "id", "--id-column", "question_id", "--id-column", "question", "--format", "csv"];
    for other in ["other.csv", "lines.jsonl"] {
        let output = folder.run(&[&["compare", "base.csv", other][..], &ids].concat());
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
}

/// Row numbers are as good where samples are not matched.
#[test]
fn unpaired_tables_need_no_ids() {
    let lines = "{\"score\": 1}\n{\"score\": 1}\n{\"score\": 0}\n";
    let by_model = "model,score\nwren,1\nwren,0\nwren,1\nfinch,1\nfinch,1\nfinch,0\n";
    let folder = Folder::new(&[
        ("base.csv", "score,note\n1,\"a, b\"\n0,\n1,\n0,\n"),
        ("other.csv", "score\n1\n1\n1\n"),
        ("lines.jsonl", lines),
        ("models.csv", by_model),
    ]);
    let differences = |args: &[&str]| {
        let output = folder.run(&[&["compare"][..], args, &["--unpaired", "--format", "json"]].concat());
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        report["comparisons"][0]["difference"].as_f64().unwrap()
    };
    assert_eq!(differences(&["base.csv", "other.csv"]), 0.5);
    assert!((differences(&["base.csv", "lines.jsonl"]) - (2.0 / 3.0 - 0.5)).abs() < 1e-12);
    assert_eq!(differences(&["models.csv", "--by", "model"]), 0.0);
    let (code, text) = reported(&folder, &["compare", "base.csv", "other.csv"]);
    assert!(code == Some(2) && text.contains("no column identifies the samples"), "{text}");
    assert!(text.contains("--id-column") && text.contains("--unpaired"), "{text}");
}

#[test]
fn a_score_that_is_infinite_is_the_error() {
    let folder = Folder::new(&[
        ("base.csv", "id,score\nq1,1\nq2,2\nq3,3\n"),
        ("infinite.csv", "id,score\nq1,1\nq2,inf\nq3,3\n"),
    ]);
    let (code, text) = reported(&folder, &["compare", "base.csv", "infinite.csv"]);
    assert_eq!(code, Some(2));
    assert!(text.contains("infinite.csv: ") && text.contains("q2"), "{text}");
    assert!(!text.contains("no metric in common"), "{text}");
}

#[test]
fn a_reducer_that_needs_more_epochs_names_them() {
    let epochs = "id,epoch,score\nq1,1,1\nq1,2,0\nq2,1,1\nq2,2,1\nq3,1,0\nq3,2,1\n";
    let folder = Folder::new(&[("one.csv", ZEROS_AND_ONES), ("two.csv", epochs)]);
    let (code, text) = reported(&folder, &["compare", "two.csv", "one.csv", "--reducer", "pass_at_2"]);
    assert_eq!(code, Some(2));
    assert!(text.contains("one.csv: ") && text.contains("1 epoch"), "{text}");
}

/// A task with metadata, run by two models.
fn runs(models: &[&str]) -> (Logs, Folder) {
    let row = |at: u32| {
        format!(
            "{{\"id\": \"q{at}\", \"input\": \"{at}?\", \"target\": \"{}\", \"topic\": \"{}\"}}\n",
            if at.is_multiple_of(3) { "no" } else { "yes" },
            if at.is_multiple_of(2) { "art" } else { "law" },
        )
    };
    let folder = Folder::new(&[("d.jsonl", &(0..12).map(row).collect::<String>())]);
    let task =
        "dataset = { path = 'd.jsonl', metadata = ['topic'] }\nscorer = 'match()'\nmodel = 'mock/yes'\n";
    fs::write(folder.path().join("quiz.toml"), task).unwrap();
    let logs = Logs::new();
    for model in models {
        assert!(logs.run(folder.path(), &["eval", "quiz.toml", "--model", model, "-q"]).status.success());
    }
    (logs, folder)
}

#[test]
fn a_key_that_logs_do_not_have_is_named_with_those_that_they_have() {
    let (logs, folder) = runs(&["mock/yes", "mock/no"]);
    let files: Vec<String> = logs.files().iter().map(|file| file.display().to_string()).collect();
    for args in
        [&["compare", &files[0], &files[1], "--by", "nosuch"][..], &["compare", &files[0], "--by", "nosuch"]]
    {
        let output = logs.run(folder.path(), args);
        let text = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2));
        assert!(text.contains(&format!("{}: there is no metadata key `nosuch`", files[0])), "{text}");
        assert!(text.contains("hint: name a metadata key with --by: topic"), "{text}");
    }
}

/// What a table has for a question is not compared with the input of a log; that was not said.
#[test]
fn a_log_and_a_table_are_matched_by_id_alone() {
    let (logs, folder) = runs(&["mock/yes"]);
    let rows: String = (0..12).map(|at| format!("q{at},{}\n", at % 2)).collect();
    fs::write(folder.path().join("table.csv"), format!("id,match\n{rows}")).unwrap();
    let log = logs.only().display().to_string();
    let note = "samples are matched by id alone";
    for (args, is_noted) in [
        (&["compare", &log, "table.csv"][..], true),
        (&["compare", "table.csv", &log], true),
        (&["compare", &log, "table.csv", "--trust-ids"], false),
        (&["compare", &log, "table.csv", "--unpaired"], false),
    ] {
        let args = [args, &["--score-column", "match"]].concat();
        let output = logs.run(folder.path(), &args);
        let text = String::from_utf8(output.stderr).unwrap();
        assert_eq!((output.status.code(), text.contains(note)), (Some(0), is_noted), "{args:?}: {text}");
    }
}

/// The base depended on random ids.
#[test]
fn logs_of_the_same_second_are_in_the_order_of_their_models() {
    let (logs, folder) = runs(&["mock/yes", "mock/no"]);
    let of_model = |model: &str| {
        let found = logs.files().into_iter().find(|file| {
            let header = logs.run(folder.path(), &["log", "dump", file.to_str().unwrap()]);
            String::from_utf8(header.stdout).unwrap().contains(&format!("\"model\": \"mock/{model}\""))
        });
        found.unwrap()
    };
    for (yes, no) in [("aaa", "bbb"), ("bbb", "aaa")] {
        let same = tempfile::tempdir().unwrap();
        for (model, id) in [("yes", yes), ("no", no)] {
            let name = format!("2026-01-01T00-00-00+00-00_quiz_{id}.eval");
            fs::copy(of_model(model), same.path().join(name)).unwrap();
        }
        let output = logs.run(folder.path(), &["compare", same.path().to_str().unwrap(), "--format", "json"]);
        let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(report["comparisons"][0]["base"], "mock/no", "{report}");
    }
}

#[test]
fn tables_of_several_models_for_a_plan() {
    let row = |model: &str| (0..8).map(|at| format!("q{at},{model},{}\n", at % 3 / 2)).collect::<String>();
    let of = |models: &[&str]| {
        format!("id,model,score\n{}", models.iter().map(|model| row(model)).collect::<String>())
    };
    let folder = Folder::new(&[("three.csv", &of(&["wren", "finch", "owl"]))]);
    let power = ["power", "--difference", "0.1", "--from", "three.csv"];
    let (code, text) = reported(&folder, &power);
    assert_eq!(code, Some(2));
    assert!(text.contains("name the column that tells them apart with --by"), "{text}");
    let (code, text) = reported(&folder, &[&power[..], &["--by", "model"]].concat());
    assert_eq!(code, Some(2));
    assert!(text.contains("make a table with the rows of two of them"), "{text}");
}

/// As `score` does.
#[test]
fn a_key_that_nothing_is_clustered_by_is_noted() {
    let row = |at: usize, shift: usize| {
        let passage = at / 5;
        format!("q{at},{},p{passage}\n", u8::from(!(passage + shift).is_multiple_of(3)))
    };
    let table = |shift: usize| {
        let rows: String = (0..60).map(|at| row(at, shift)).collect();
        format!("id,score,passage\n{rows}")
    };
    let folder = Folder::new(&[("base.csv", &table(0)), ("other.csv", &table(1))]);
    let (_, text) = reported(&folder, &["compare", "base.csv", "other.csv"]);
    assert!(text.contains("samples with the same `passage` score alike"), "{text}");
    let (_, text) = reported(&folder, &["compare", "base.csv", "other.csv", "--cluster", "passage"]);
    assert!(!text.contains("score alike"), "{text}");
}
