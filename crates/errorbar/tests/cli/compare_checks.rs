//! What `errorbar compare` and `power` check before they match samples by id, and what their outputs say about it.

use std::fs;

use serde_json::Value as Json;

use crate::eval::Logs;
use crate::{Folder, workspace};

/// What a command reports, and its exit code.
fn reported(folder: &Folder, args: &[&str]) -> (Option<i32>, String) {
    let output = folder.run(args);
    (output.status.code(), String::from_utf8(output.stderr).unwrap())
}

/// A row for each number, with cells that depend on it.
fn rows(header: &str, numbers: std::ops::Range<usize>, cells: impl Fn(usize) -> String) -> String {
    let rows: String = numbers.map(|at| format!("{at},{}\n", cells(at))).collect();
    format!("id,{header}\n{rows}")
}

/// They were matched, with a warning that JSON did not have.
#[test]
fn row_numbers_are_no_ids() {
    let score = |at: usize, by: usize| u8::from(!at.is_multiple_of(by));
    let epochs = |by: usize| -> String {
        let of_epoch =
            |epoch: usize| (1..9).map(move |at| format!("{at},{epoch},{}\n", score(at + epoch, by)));
        std::iter::once("id,epoch,score\n".to_owned()).chain((1..3).flat_map(of_epoch)).collect()
    };
    let folder = Folder::new(&[
        ("a.csv", &rows("score", 1..9, |at| score(at, 3).to_string())),
        ("b.csv", &rows("score", 1..9, |at| score(at, 2).to_string())),
        ("more.csv", &rows("score", 1..12, |at| score(at, 2).to_string())),
        ("zero.csv", &rows("score", 0..8, |at| score(at, 3).to_string())),
        ("later.csv", &rows("score", 4..12, |at| score(at, 3).to_string())),
        ("numbered.csv", &rows("score,input", 1..9, |at| format!("{},q{at}", score(at, 3)))),
        ("a_epochs.csv", &epochs(3)),
        ("b_epochs.csv", &epochs(2)),
        // What all samples have confirms nothing.
        ("a_same.csv", &rows("score,target", 1..9, |at| format!("{},1", score(at, 3)))),
        ("b_same.csv", &rows("score,target", 1..9, |at| format!("{},1", score(at, 2)))),
    ]);
    for tables in [
        ["a.csv", "b.csv"],
        ["a.csv", "more.csv"],
        ["zero.csv", "a.csv"],
        ["a.csv", "numbered.csv"],
        ["a_epochs.csv", "b_epochs.csv"],
        ["a_same.csv", "b_same.csv"],
    ] {
        let (code, text) = reported(&folder, &[&["compare"], &tables[..]].concat());
        assert_eq!(code, Some(2), "{tables:?}: {text}");
        assert!(text.contains("are row numbers, and nothing shows that"), "{text}");
        assert!(text.contains("--trust-ids") && text.contains("--unpaired"), "both ways out: {text}");
        for way_out in ["--trust-ids", "--unpaired"] {
            let (code, text) = reported(&folder, &[&["compare", way_out, "-q"], &tables[..]].concat());
            assert_eq!(
                (code, text.contains("row numbers")),
                (Some(0), false),
                "{way_out} {tables:?}: {text}"
            );
        }
    }
    // These ids are not the places of rows.
    assert_eq!(reported(&folder, &["compare", "later.csv", "a.csv"]).0, Some(0));
    // The parts of one table repeat their ids.
    let of_model = |model: &str, by: usize| -> String {
        (1..9).map(|at| format!("{at},{model},{}\n", score(at, by))).collect()
    };
    let models = format!("id,model,score\n{}{}", of_model("wren", 2), of_model("owl", 3));
    fs::write(folder.path().join("models.csv"), models).unwrap();
    let (code, text) = reported(&folder, &["compare", "models.csv", "--by", "model"]);
    assert_eq!((code, text.as_str()), (Some(0), ""));
    let (code, text) = reported(&folder, &["power", "--from", "a.csv", "b.csv", "--difference", "0.1"]);
    assert!(code == Some(2) && text.contains("are row numbers"), "{text}");
    let plan = ["power", "--from", "a.csv", "b.csv", "--difference", "0.1"];
    for way_out in ["--trust-ids", "--unpaired"] {
        let (code, text) = reported(&folder, &[&plan[..], &[way_out]].concat());
        assert_eq!(code, Some(0), "{way_out}: {text}");
    }
}

/// A column that both tables have confirms the pairs, whichever columns they have besides.
#[test]
fn a_column_of_questions_confirms_row_numbers() {
    for column in ["input", "question", "prompt", "problem", "text", "target"] {
        let table = |more: &str, by: usize, change: usize| {
            let changed = |at: usize| if at == change { "!" } else { "" };
            rows(&format!("score,{column}{more}"), 1..9, |at| {
                let more = if more.is_empty() { "" } else { ",x" };
                format!("{},text {at}{}{more}", u8::from(!at.is_multiple_of(by)), changed(at))
            })
        };
        let folder = Folder::new(&[
            ("a.csv", &table("", 2, 0)),
            ("b.csv", &table("", 3, 0)),
            ("more.csv", &table(",reference", 3, 0)),
            ("other.csv", &table("", 3, 4)),
        ]);
        for other in ["b.csv", "more.csv"] {
            let (code, text) = reported(&folder, &["compare", "a.csv", other]);
            assert_eq!((code, text.as_str()), (Some(0), ""), "{column}");
        }
        for command in [&["compare", "a.csv", "other.csv"][..], &["power", "--from", "a.csv", "other.csv"]] {
            let (code, text) = reported(&folder, command);
            assert_eq!(code, Some(2), "{column}: {text}");
            assert!(text.contains(&format!("sample 4 has another {column} on each side")), "{text}");
            assert!(text.contains("\"text 4!\"") && text.contains("--trust-ids"), "{text}");
        }
    }
    // The columns that both have are those that are checked.
    let folder = Folder::new(&[
        ("a.csv", "id,score,input,target\nx,1,What?,1\ny,0,Where?,2\nz,1,When?,3\n"),
        ("b.csv", "id,score,input\nx,1,What?\ny,0,Where to?\nz,0,When?\n"),
    ]);
    let (code, text) = reported(&folder, &["compare", "a.csv", "b.csv"]);
    assert!(code == Some(2) && text.contains("sample y has another input"), "{text}");
}

/// Logs whose samples are numbered, as tables.
#[test]
fn exported_logs_are_compared() {
    let (logs, folder) = (Logs::new(), Folder::new(&[]));
    let sample = |at: u32| {
        let target = if at.is_multiple_of(3) { "no" } else { "yes" };
        format!("{{\"id\": {at}, \"input\": \"{at}?\", \"target\": \"{target}\"}}\n")
    };
    fs::write(folder.path().join("d.jsonl"), (1..13).map(sample).collect::<String>()).unwrap();
    let task = "dataset = 'd.jsonl'\nscorer = 'match()'\n";
    fs::write(folder.path().join("quiz.toml"), task).unwrap();
    for answer in ["yes", "no"] {
        let model = format!("mock/{answer}");
        assert!(logs.run(folder.path(), &["eval", "quiz.toml", "--model", &model, "-q"]).status.success());
    }
    for (at, file) in logs.files().iter().enumerate() {
        let table = format!("{at}.csv");
        let args = ["log", "export", file.to_str().unwrap(), "-o", &table];
        assert!(logs.run(folder.path(), &args).status.success());
    }
    let (code, text) = reported(&folder, &["compare", "0.csv", "1.csv"]);
    assert_eq!(code, Some(0), "{text}");
    let files: Vec<String> = logs.files().iter().map(|file| file.display().to_string()).collect();
    assert!(logs.run(folder.path(), &["compare", &files[0], &files[1]]).status.success());
}

/// The base chose them: 10 clusters one way around, 8 the other.
#[test]
fn clusters_and_groups_are_the_same_on_both_sides() {
    let table = |size: usize, by: usize| {
        let rows =
            (0..50).map(|at: usize| format!("q{at},{},{}\n", u8::from(!at.is_multiple_of(by)), at / size));
        format!("id,score,part\n{}", rows.collect::<String>())
    };
    let folder = Folder::new(&[
        ("five.csv", &table(5, 3)),
        ("seven.csv", &table(7, 4)),
        ("same.csv", &table(5, 4).replace(",1\n", ",1.0\n")),
        ("without.csv", &table(5, 4).replace("part", "other")),
    ]);
    let grouped = ["--metric", "grouped(accuracy, 'part')"];
    for options in [&["--cluster", "part"][..], &["--by", "part"], &grouped] {
        for (tables, values) in [
            (["five.csv", "seven.csv"], "1 in five and 0 in seven"),
            (["seven.csv", "five.csv"], "0 in seven and 1 in five"),
        ] {
            let (code, text) =
                reported(&folder, &[&["compare", "--trust-ids"], &tables[..], options].concat());
            assert_eq!(code, Some(2), "{options:?}: {text}");
            assert!(text.contains(&format!("`part` of sample \"q5\" is {values}")), "{text}");
            assert!(text.contains("hint: ") && text.contains("--unpaired"), "{text}");
        }
        let (code, text) = reported(&folder, &[&["compare", "five.csv", "same.csv"], options].concat());
        assert_eq!(code, Some(0), "1 and 1.0 are the same: {text}");
    }
    let (code, text) = reported(&folder, &["compare", "five.csv", "without.csv", "--cluster", "part"]);
    assert_eq!(code, Some(0), "one side is enough: {text}");
    let plan = ["power", "--difference", "0.1", "--cluster", "part", "--from", "five.csv"];
    let (code, text) = reported(&folder, &[&plan[..], &["seven.csv"]].concat());
    assert!(code == Some(2) && text.contains("`part` of sample \"q5\" is 1"), "{text}");
    assert_eq!(reported(&folder, &[&plan[..], &["same.csv"]].concat()).0, Some(0));
}

/// A plan took any two logs whose ids agree.
#[test]
fn a_plan_takes_two_runs_of_the_same_samples() {
    let logs = Logs::new();
    let run = |name: &str, question: &str, model: &str| {
        let sample = |at: u32| {
            let target = if at.is_multiple_of(3) { "no" } else { "yes" };
            format!("{{\"id\": \"q{at}\", \"input\": \"{question} {at}?\", \"target\": \"{target}\"}}\n")
        };
        let folder = Folder::new(&[("d.jsonl", &(0..12).map(sample).collect::<String>())]);
        let task =
            format!("name = '{name}'\ndataset = 'd.jsonl'\nscorer = 'match()'\nmodel = 'mock/{model}'\n");
        fs::write(folder.path().join("task.toml"), task).unwrap();
        let before = logs.files();
        assert!(logs.run(folder.path(), &["eval", "task.toml", "-q"]).status.success());
        let new = logs.files().into_iter().find(|file| !before.contains(file)).unwrap();
        new.to_str().unwrap().to_owned()
    };
    let base = run("quiz", "What is", "yes");
    let same = run("quiz", "What is", "no");
    let reworded = run("quiz", "How much is", "no");
    let other_task = run("riddle", "What is", "no");
    let plan = |other: &str, more: &[&str]| {
        let args = [&["power", "--difference", "0.1", "--from", &base, other], more].concat();
        let output = logs.run(&workspace(), &args);
        (output.status.code(), String::from_utf8(output.stderr).unwrap())
    };
    assert_eq!(plan(&same, &[]), (Some(0), String::new()));
    let (code, text) = plan(&reworded, &[]);
    assert_eq!(code, Some(2), "{text}");
    assert!(text.contains("sample q0 has another input on each side (and 11 more)"), "{text}");
    assert!(text.contains("\"What is 0?\"") && text.contains("--trust-ids"), "{text}");
    let (code, text) = plan(&other_task, &[]);
    assert_eq!(code, Some(2), "{text}");
    assert!(
        text.contains("`quiz`") && text.contains("`riddle`") && text.contains("--ignore-tasks"),
        "{text}"
    );
    for (other, way_out) in [
        (&reworded, "--trust-ids"),
        (&reworded, "--unpaired"),
        (&other_task, "--ignore-tasks"),
        (&other_task, "--unpaired"),
    ] {
        assert_eq!(plan(other, &[way_out]).0, Some(0), "{way_out}");
    }
}

/// Two models on three questions, of which two changed.
fn changed() -> Folder {
    let long = "What is the name of ".to_owned() + &"a very ".repeat(40) + "old town?";
    let table = |scores: [u8; 4], answer: &str| {
        format!(
            "id,score,input,answer\na,{},{long},{answer} 1\nb,{},Where?,{answer}_2\nc,{},When?,{answer} 3\nd,{},Who?,{answer} 4\n",
            scores[0], scores[1], scores[2], scores[3]
        )
    };
    Folder::new(&[("base.csv", &table([1, 0, 1, 1], "red")), ("other.csv", &table([0, 1, 1, 1], "blue"))])
}

#[test]
fn every_format_that_takes_flips_lists_them() {
    let folder = changed();
    let compare = ["compare", "base.csv", "other.csv", "--flips=1"];
    for format in [&["--format", "csv"][..], &["-o", "x.csv"]] {
        let (code, text) = reported(&folder, &[&compare[..], format].concat());
        assert_eq!(code, Some(2), "{text}");
        assert!(text.contains("--flips") && text.contains("--format json"), "{text}");
        assert!(!folder.path().join("x.csv").exists());
    }
    let output = folder.run(&[&compare[..], &["--format", "latex"]].concat());
    let text = String::from_utf8(output.stdout).unwrap();
    for part in ["What is the name of a very", "red 1", "blue 1"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert!(!text.contains("old town") && !text.contains("Where?"), "one of them, shortened: {text}");
    let output = folder.run(&["compare", "base.csv", "other.csv", "--flips", "--format", "latex"]);
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("Where?") && text.contains("red\\_2"), "{text}");
}

#[test]
fn a_scorer_is_not_compared_with_itself() {
    let folder = Folder::new(&[("t.csv", "id,x,y\na,1,0\nb,0,0\nc,1,1\n")]);
    for scorers in [&["x", "x"][..], &["x", "y", "x"]] {
        let (code, text) = reported(&folder, &[&["compare", "t.csv", "--scorers"], scorers].concat());
        assert_eq!(code, Some(2), "{text}");
        assert!(text.contains("scorer `x` is given twice") && text.contains("--scorers"), "{text}");
    }
}

fn json(folder: &Folder, args: &[&str]) -> Json {
    let output = folder.run(&[&["compare", "--format", "json"], args].concat());
    serde_json::from_slice(&output.stdout).unwrap()
}

/// The test that is named has its p-value under its name.
#[test]
fn the_test_of_pairs_without_a_flip_is_theirs() {
    let table = |scores: &dyn Fn(usize) -> f64| {
        let rows = (0..80).map(|at| format!("q{at},{},{}\n", scores(at), at));
        format!("id,score,cl\n{}", rows.collect::<String>())
    };
    let folder = Folder::new(&[
        ("some.csv", &table(&|at| (at % 2) as f64)),
        ("copy.csv", &table(&|at| (at % 2) as f64)),
        ("ones.csv", &table(&|_| 1.0)),
        ("zeros.csv", &table(&|_| 0.0)),
        ("high.csv", &table(&|at| (at % 7) as f64 + 3.0)),
        ("low.csv", &table(&|at| (at % 7) as f64 + 2.0)),
    ]);
    for (tables, test, key) in [
        (&["some.csv", "copy.csv"][..], "mcnemar_mid", "p_mcnemar_mid"),
        (&["zeros.csv", "ones.csv"], "sign_flip", "p_sign_flip"),
        (&["low.csv", "high.csv"], "sign_flip", "p_sign_flip"),
        (&["some.csv", "copy.csv", "--cluster", "cl"], "sign_flip", "p_sign_flip"),
    ] {
        let report = json(&folder, tables);
        let one = &report["comparisons"][0];
        assert_eq!(one["test"], test, "{tables:?}");
        assert_eq!(one["p_value"], one[key], "{tables:?}");
    }
}

#[test]
fn the_name_of_the_output_must_say_its_format() {
    let folder = changed();
    let compare = ["compare", "base.csv", "other.csv", "-o"];
    let (code, text) = reported(&folder, &[&compare[..], &["x.png"]].concat());
    assert_eq!(code, Some(2), "{text}");
    assert!(text.contains("x.png: ") && text.contains("--format") && text.contains(".md"), "{text}");
    assert!(!folder.path().join("x.png").exists());
    for named in [&["x.png", "--format", "csv"][..], &["x.txt"], &["plain"]] {
        let (code, text) = reported(&folder, &[&compare[..], named].concat());
        assert_eq!(code, Some(0), "{text}");
    }
}

/// As the option takes it, so that the line can be typed in again.
#[test]
fn the_spread_within_samples_is_that_of_one_model() {
    let table = |shift: usize| {
        let rows = (0..40).flat_map(|at| {
            (1..=4).map(move |epoch| {
                format!("q{at},{epoch},{}\n", u8::from((at * 7 + epoch * 5 + shift) % 11 > 4))
            })
        });
        format!("id,epoch,score\n{}", rows.collect::<String>())
    };
    let folder = Folder::new(&[("a.csv", &table(0)), ("b.csv", &table(2))]);
    let samples = |args: &[&str]| -> Json {
        let output = folder
            .run(&[&["power", "--difference", "0.05", "--epochs", "2", "--format", "json"], args].concat());
        let row: Json = serde_json::from_slice(&output.stdout).unwrap();
        row["samples"].clone()
    };
    let output = folder.run(&["power", "--from", "a.csv", "b.csv", "--difference", "0.05"]);
    let text = String::from_utf8(output.stdout).unwrap();
    let parts: Vec<&str> = text.lines().next().unwrap().split_whitespace().collect();
    let after = |word: &str| parts[parts.iter().position(|part| *part == word).unwrap() - 1];
    let (between, within) = (after("between"), after("within"));
    let again = samples(&["--sd", between, "--sd-within", within]).as_f64().unwrap();
    let from = samples(&["--from", "a.csv", "b.csv"]).as_f64().unwrap();
    assert!((again / from - 1.0).abs() < 0.02, "{again} and {from} of {text}");
}

#[test]
fn the_only_task_has_its_name() {
    let logs = Logs::new();
    for model in ["heron", "wren"] {
        let model = format!("replay/examples/almanac/outputs/{model}.jsonl");
        logs.run(&workspace(), &["eval", "examples/almanac/almanac.toml", "--model", &model, "-q"]);
    }
    let folder = logs.path().to_str().unwrap();
    let args = ["compare", folder, "--metric", "accuracy", "--format", "json"];
    let report: Json = serde_json::from_slice(&logs.run(&workspace(), &args).stdout).unwrap();
    assert_eq!(report["comparisons"][0]["task"], "almanac");
    // The mean over tasks has none.
    let of_task = |task: &str, model: &str, by: usize| -> String {
        (0..9).map(|at| format!("q{at},{task},{model},{}\n", u8::from(at % by != 0))).collect()
    };
    let several = ["sums", "maps"].map(|task| of_task(task, "wren", 2) + &of_task(task, "owl", 3)).concat();
    let one = of_task("sums", "wren", 2) + &of_task("sums", "owl", 3);
    let header = "id,task,model,score\n";
    let tables = Folder::new(&[
        ("several.csv", &format!("{header}{several}")),
        ("one.csv", &format!("{header}{one}")),
    ]);
    let tasks = |table: &str| -> Vec<Json> {
        let report = json(&tables, &[table, "--by", "model"]);
        report["comparisons"].as_array().unwrap().iter().map(|one| one["task"].clone()).collect()
    };
    assert_eq!(tasks("several.csv"), [Json::from("sums"), Json::from("maps"), Json::Null]);
    assert_eq!(tasks("one.csv"), [Json::from("sums")]);
}

/// 1 ± 1.6e-101 is no error.
#[test]
fn an_error_that_is_rounding_is_none() {
    let scores: String = (0..400).map(|at| format!("q{at},{}\n", u8::from(at % 10 != 0))).collect();
    let folder = Folder::new(&[("t.csv", &format!("id,score\n{scores}"))]);
    let output = folder.run(&["score", "t.csv", "--metric", "median"]);
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success() && !text.contains("e-"), "{text}");
}

/// A gate reads one end of the interval, and the table's figure is of a two-sided test.
#[test]
fn what_can_be_detected_says_by_which_test() {
    let table = |wrong: usize| {
        let rows: String =
            (0..60).map(|at| format!("q{at},{}\n", u8::from((at * 7) % 60 >= wrong))).collect();
        format!("id,score\n{rows}")
    };
    let folder = Folder::new(&[("base.csv", &table(20)), ("other.csv", &table(22))]);
    let output = folder.run(&["compare", "base.csv", "other.csv", "--fail-if-worse", "--format", "markdown"]);
    let (table, hint) =
        (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
    assert!(table.contains("could have detected") && table.contains("two-sided at 5 %"), "{table}");
    assert!(hint.contains("in 8 of 10 cases") && hint.contains("one-sided"), "{hint}");
}
