//! `errorbar compare`: what is compared with what, and what cannot be.

use std::fs;
use std::path::Path;
use std::process::Output;

use crate::eval::Logs;
use crate::{Folder, check, workspace};

/// Scores by id, a row each.
fn table(scores: &[(&str, u32)]) -> String {
    let row = |(id, score): &(&str, u32)| format!("{id},{score},{}\n", &id[..1]);
    format!("id,score,category\n{}", scores.iter().map(row).collect::<String>())
}

const BASE: [(&str, u32); 6] = [("a1", 1), ("a2", 0), ("a3", 0), ("b1", 1), ("b2", 0), ("b3", 1)];
const OTHER: [(&str, u32); 6] = [("a1", 1), ("a2", 1), ("a3", 1), ("b1", 1), ("b2", 1), ("b3", 0)];

/// The models wren, finch and owl, over the same six questions.
fn models() -> String {
    let row = |(model, at): (&str, usize)| {
        let (id, score) = if model == "wren" { BASE[at] } else { OTHER[at] };
        let score = if model == "owl" { 1 } else { score };
        format!("{id},{model},{score},{},question {id},{model}'s answer\n", &id[..1])
    };
    let rows = ["wren", "finch", "owl"].into_iter().flat_map(|model| (0..6).map(move |at| (model, at)));
    format!("id,model,score,category,input,answer\n{}", rows.map(row).collect::<String>())
}

/// What was compared: a line for each comparison, without the figures of which there are tests elsewhere.
fn compared(output: &Output) -> Vec<String> {
    let text = String::from_utf8(output.stdout.clone()).unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let mut lines = text.lines().map(|line| line.split(',').collect::<Vec<_>>());
    let names = lines.next().unwrap();
    let at = |name: &str| names.iter().position(|known| *known == name).unwrap();
    let line = |cells: Vec<&str>| {
        let cell = |name: &str| cells[at(name)];
        let key = if cell("group_key").is_empty() { String::new() } else { format!(" {}", cell("group")) };
        let task = if cell("task").is_empty() { String::new() } else { format!(" {}:", cell("task")) };
        let paired = if cell("paired") == "true" { "" } else { " unpaired" };
        format!(
            "{} → {}{task} {} {}{key}: n {} + {} + {}, {:.3}{paired}",
            cell("base"),
            cell("other"),
            cell("scorer"),
            cell("metric"),
            cell("n"),
            cell("only_base"),
            cell("only_other"),
            cell("difference").parse::<f64>().unwrap_or(f64::NAN),
        )
    };
    lines.map(line).collect()
}

fn compare(folder: &Folder, args: &[&str]) -> Vec<String> {
    let args: Vec<&str> = ["compare"].iter().chain(args).chain(&["--format", "csv"]).copied().collect();
    compared(&folder.run(&args))
}

fn tables() -> Folder {
    Folder::new(&[("base.csv", &table(&BASE)), ("other.csv", &table(&OTHER)), ("models.csv", &models())])
}

#[test]
fn tables_are_matched_by_id() {
    let folder = tables();
    assert_eq!(
        compare(&folder, &["base.csv", "other.csv"]),
        ["base → other score accuracy: n 6 + 0 + 0, 0.333"]
    );
    // The order of rows is of no importance, and epochs are reduced before samples are matched.
    let mut rows: Vec<String> = OTHER.iter().rev().map(|(id, score)| format!("{id},1,{score}\n")).collect();
    rows.extend(OTHER.iter().map(|(id, _)| format!("{id},2,1\n")));
    fs::write(folder.path().join("epochs.csv"), format!("id,epoch,score\n{}", rows.concat())).unwrap();
    assert_eq!(
        compare(&folder, &["base.csv", "epochs.csv"]),
        ["base → epochs score accuracy: n 6 + 0 + 0, 0.417"]
    );
    // What only one side has is counted.
    let fewer = table(&[("a2", 1), ("a3", 1), ("b1", 0), ("c1", 1), ("c2", 1), ("c3", 0)]);
    fs::write(folder.path().join("fewer.csv"), fewer).unwrap();
    assert_eq!(
        compare(&folder, &["base.csv", "fewer.csv"]),
        ["base → fewer score accuracy: n 3 + 3 + 3, 0.333"]
    );
    folder.check(
        "compare_unmatched",
        &["compare", "base.csv", "fewer.csv", "--unmatched=2", "-f", "csv", "-o", "x"],
    );
}

#[test]
fn one_table_is_split_by_a_column() {
    let folder = tables();
    let finch = "finch score accuracy: n 6 + 0 + 0, 0.333";
    let owl = "owl score accuracy: n 6 + 0 + 0, 0.500";
    let by_model = ["models.csv", "--by", "model"];
    assert_eq!(compare(&folder, &by_model), [format!("wren → {finch}"), format!("wren → {owl}")]);
    let with = |more: &[&str]| {
        let args: Vec<&str> = by_model.iter().chain(more).copied().collect();
        compare(&folder, &args)
    };
    assert_eq!(
        with(&["--base", "owl"]),
        ["owl → wren score accuracy: n 6 + 0 + 0, -0.500", "owl → finch score accuracy: n 6 + 0 + 0, -0.167"]
    );
    assert_eq!(with(&["--all-pairs"]).len(), 3);
    // A second key names the groups.
    let by_group = with(&["--by", "category"]);
    assert!(by_group.contains(&"wren → owl score accuracy a: n 3 + 0 + 0, 0.667".to_owned()), "{by_group:?}");
    // The same rows in other formats, and in the long form.
    let to_json = |line: &str| {
        let cells: Vec<&str> = line.split(',').collect();
        format!("{{\"id\": \"{}\", \"model\": \"{}\", \"score\": {}}}\n", cells[0], cells[1], cells[2])
    };
    fs::write(folder.path().join("m.jsonl"), models().lines().skip(1).map(to_json).collect::<String>())
        .unwrap();
    assert_eq!(compare(&folder, &["m.jsonl", "--by", "model"]), with(&[]));
    let to_long = |line: &str| {
        let cells: Vec<&str> = line.split(',').collect();
        format!("{},{},match,{}\n", cells[0], cells[1], cells[2])
    };
    let long: String = models().lines().skip(1).map(to_long).collect();
    fs::write(folder.path().join("long.csv"), format!("id,model,scorer,value\n{long}")).unwrap();
    let long = compare(&folder, &["long.csv", "--by", "model"]);
    assert_eq!(long, with(&[]).iter().map(|line| line.replace(" score ", " match ")).collect::<Vec<_>>());
}

/// A table of several models and tasks has a comparison for each task.
#[test]
fn one_table_of_several_tasks() {
    let of_task = |task: &str, scores: &[(&str, u32)], model: &str| -> String {
        scores.iter().map(|(id, score)| format!("{id},{task},{model},{score}\n")).collect()
    };
    let rows = [
        of_task("sums", &BASE, "wren"),
        of_task("sums", &OTHER, "owl"),
        of_task("maps", &OTHER, "wren"),
        of_task("maps", &BASE, "owl"),
        of_task("lonely", &BASE, "owl"),
    ];
    let folder = Folder::new(&[("t.csv", &format!("id,task,model,score\n{}", rows.concat()))]);
    let comparisons = compare(&folder, &["t.csv", "--by", "model"]);
    let expected = [
        "wren → owl sums: score accuracy: n 6 + 0 + 0, 0.333",
        "wren → owl maps: score accuracy: n 6 + 0 + 0, -0.333",
    ];
    assert_eq!(
        comparisons.iter().filter(|line| expected.contains(&line.as_str())).count(),
        2,
        "{comparisons:?}"
    );
    let output = folder.run(&["compare", "t.csv", "--by", "model"]);
    let errors = String::from_utf8(output.stderr).unwrap();
    assert_eq!(errors, "warning: task `lonely` is left out: only owl has it\n");
}

#[test]
fn scorers_of_one_table() {
    let rows: String = BASE.iter().zip(OTHER).map(|((id, a), (_, b))| format!("{id},{a},{b}\n")).collect();
    let long: String =
        BASE.iter().zip(OTHER).map(|((id, a), (_, b))| format!("{id},x,{a}\n{id},y,{b}\n")).collect();
    let folder = Folder::new(&[
        ("wide.csv", &format!("id,x,y\n{rows}")),
        ("long.csv", &format!("id,scorer,value\n{long}")),
    ]);
    for table in ["wide.csv", "long.csv"] {
        assert_eq!(
            compare(&folder, &[table, "--scorers", "x", "y"]),
            ["x → y score accuracy: n 6 + 0 + 0, 0.333"],
            "{table}"
        );
    }
    folder.check("compare_unknown_scorer", &["compare", "long.csv", "--scorers", "x", "z"]);
    folder.check("compare_unknown_column", &["compare", "wide.csv", "--scorers", "x", "z"]);
}

/// Logs of the almanac by these models.
fn almanac(models: &[&str]) -> Logs {
    let logs = Logs::new();
    for model in models {
        let model = format!("replay/examples/almanac/outputs/{model}.jsonl");
        let run = logs.run(&workspace(), &["eval", "examples/almanac/almanac.toml", "--model", &model]);
        assert!(run.status.success());
    }
    logs
}

fn compare_logs(logs: &Logs, args: &[&str]) -> Vec<String> {
    let args: Vec<&str> = ["compare"].iter().chain(args).chain(&["--format", "csv"]).copied().collect();
    compared(&logs.run(&workspace(), &args))
}

#[test]
fn a_folder_of_logs() {
    let logs = almanac(&["heron", "magpie", "wren"]);
    let folder = logs.path().to_str().unwrap();
    let expected = [
        "wren → heron almanac: choice accuracy: n 144 + 0 + 0, 0.299",
        "wren → magpie almanac: choice accuracy: n 144 + 0 + 0, 0.229",
    ];
    let mut found = compare_logs(&logs, &[folder, "--base", "wren", "--metric", "accuracy"]);
    found.sort();
    assert_eq!(found, expected);
    // A log that is named is also in the folder, and is the base. Which of them is the latest is left open: all three are of
    // one second.
    let latest = compare_logs(&logs, &["latest", folder, "--metric", "accuracy"]);
    let bases: Vec<&str> = latest.iter().filter_map(|line| Some(line.split_once(" → ")?.0)).collect();
    assert!(matches!(bases.as_slice(), [one, two] if one == two), "{latest:?}");
    // Groups by a key that the metrics do not need.
    let groups = compare_logs(&logs, &[folder, "--base", "wren", "--metric", "accuracy", "--by", "category"]);
    assert!(
        groups.iter().any(|line| line.starts_with("wren → heron almanac: choice accuracy sport: n 24 ")),
        "{groups:?}"
    );
    logs.check("compare_no_base", &workspace(), &["compare", folder, "--base", "hern"]);
}

#[test]
fn logs_of_one_model_are_called_by_their_files() {
    let logs = almanac(&["heron"]);
    let (log, copy) = (logs.only(), logs.path().join("sub/copy.eval"));
    fs::create_dir(copy.parent().unwrap()).unwrap();
    fs::copy(&log, &copy).unwrap();
    fs::rename(&log, logs.path().join("first.eval")).unwrap();
    let paths = [logs.path().join("first.eval"), copy.clone()].map(|path| path.to_str().unwrap().to_owned());
    let args = ["compare", &paths[0], &paths[1], "--metric", "accuracy", "--format", "csv"];
    let output = logs.run(&workspace(), &args);
    assert_eq!(compared(&output), ["first → copy almanac: choice accuracy: n 144 + 0 + 0, 0.000"]);
    let warning = String::from_utf8(output.stderr).unwrap();
    assert!(warning.contains("first and copy are logs of the same run"), "{warning}");
    // Folders are sides too.
    fs::create_dir(logs.path().join("before")).unwrap();
    fs::rename(&paths[0], logs.path().join("before/x.eval")).unwrap();
    let folders = ["before", "sub"].map(|name| logs.path().join(name).to_str().unwrap().to_owned());
    let found = compare_logs(&logs, &[&folders[0], &folders[1], "--metric", "accuracy"]);
    assert_eq!(found, ["before → sub almanac: choice accuracy: n 144 + 0 + 0, 0.000"]);
}

#[test]
fn parts_of_a_log_are_unpaired() {
    let logs = almanac(&["heron"]);
    let log = logs.only();
    let log = log.to_str().unwrap();
    let args = ["compare", log, "--by", "category", "--metric", "accuracy"];
    logs.check("compare_parts_of_a_log", &workspace(), &args);
    let found = compare_logs(&logs, &[log, "--by", "category", "--metric", "accuracy", "--unpaired"]);
    assert_eq!(found.len(), 5);
    assert!(found.iter().all(|line| line.ends_with(" unpaired")), "{found:?}");
    logs.check("compare_parts_no_key", &workspace(), &["compare", log, "--by", "colour"]);
    logs.check("compare_one_log", &workspace(), &["compare", log]);
    logs.check("compare_log_twice", &workspace(), &["compare", log, log]);
}

/// A task of two questions, of which some part may be changed, run into this folder.
fn quiz(logs: &Logs, name: &str, csv: &str, more: &str) -> String {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("q.csv"), csv).unwrap();
    let task =
        format!("name = \"{name}\"\ndataset = \"q.csv\"\nscorer = \"match()\"\nmodel = \"mock/42\"\n{more}");
    fs::write(folder.path().join("task.toml"), task).unwrap();
    let before = logs.files();
    let run = logs.run(folder.path(), &["eval", "task.toml"]);
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    let new = logs.files().into_iter().find(|file| !before.contains(file)).unwrap();
    new.to_str().unwrap().to_owned()
}

const QUIZ: &str = "id,input,target\nq1,What is six times seven?,42\nq2,And eight?,43\nq3,And nine?,54\n";

fn logs_check(logs: &Logs, name: &str, args: &[&str]) {
    // Sides of one model are called by their files, whose names are long.
    let output = logs.run(Path::new("."), args);
    let mut text = logs.mask(&crate::transcript(args, &output));
    let mut stems: Vec<String> =
        logs.files().iter().map(|file| file.file_stem().unwrap().to_str().unwrap().to_owned()).collect();
    // One may be the start of another.
    stems.sort_by_key(|stem| std::cmp::Reverse(stem.len()));
    stems.iter().for_each(|stem| text = text.replace(stem, "LOG"));
    // The time alone is enough if the runs are not of the same second.
    stems.iter().for_each(|stem| text = text.replace(stem.split('_').next().unwrap(), "LOG"));
    crate::check_text(name, &text);
}

#[test]
fn the_same_id_must_be_the_same_question() {
    let logs = Logs::new();
    let base = quiz(&logs, "quiz", QUIZ, "");
    let target = quiz(&logs, "quiz", &QUIZ.replace("54", "63"), "");
    let input = quiz(&logs, "quiz", &QUIZ.replace("eight", "eighty").replace("nine", "ninety"), "");
    logs_check(&logs, "compare_other_target", &["compare", &base, &target]);
    logs_check(&logs, "compare_other_input", &["compare", &base, &input]);
    let trusted = compare_logs(&logs, &[&base, &input, "--trust-ids", "--metric", "accuracy"]);
    assert_eq!(trusted.len(), 1);
    assert!(trusted[0].ends_with("match accuracy: n 3 + 0 + 0, 0.000"), "{trusted:?}");
    let unpaired = compare_logs(&logs, &[&base, &input, "--unpaired", "--metric", "accuracy"]);
    assert!(unpaired[0].ends_with("unpaired"), "{unpaired:?}");
    let tables = Folder::new(&[
        ("a.csv", "id,score,input\nx,1,What?\ny,0,Where?\nz,1,When?\n"),
        ("b.csv", "id,score,input\nx,1,What?\ny,0,Where to?\nz,0,When?\n"),
        ("c.csv", "id,score,target\nx,1,1\ny,0,2\nz,0,3\n"),
    ]);
    tables.check("compare_other_input_table", &["compare", "a.csv", "b.csv"]);
    // Nothing is known about what both ask.
    assert_eq!(compare(&tables, &["a.csv", "c.csv"]).len(), 1);
}

#[test]
fn other_tasks() {
    let logs = Logs::new();
    let base = quiz(&logs, "quiz", QUIZ, "");
    let other = quiz(&logs, "riddle", QUIZ, "");
    logs_check(&logs, "compare_other_task", &["compare", &base, &other]);
    assert_eq!(compare_logs(&logs, &[&base, &other, "--ignore-tasks", "--metric", "accuracy"]).len(), 1);
}

#[test]
fn other_scorers() {
    let logs = Logs::new();
    let base = quiz(&logs, "quiz", QUIZ, "");
    let other = quiz(&logs, "quiz", QUIZ, "").replace(".eval", "-2.eval");
    let rescored =
        logs.run(Path::new("."), &["score", "latest", "--with", "includes()", "--overwrite", "-o", &other]);
    assert!(rescored.status.success());
    logs_check(&logs, "compare_other_scorer", &["compare", &base, &other]);
    check(
        "compare_other_column",
        &[("a.csv", "id,score\nx,1\ny,0\n"), ("b.csv", "id,value\nx,1\ny,0\n")],
        &["compare", "a.csv", "b.csv"],
    );
}

#[test]
fn what_cannot_be_compared() {
    let files: [(&str, &str); 6] = [
        ("a.csv", "id,score\nx,1\ny,0\nz,1\n"),
        ("other.csv", "id,score\np,1\nq,0\nr,1\n"),
        ("one.csv", "id,score\nx,0\nq,0\n"),
        ("rows.csv", "question,score\nwhat,0\nwho,0\n"),
        ("models.csv", "id,model,score\nx,wren,1\nx,owl,0\ny,,1\n"),
        ("text.csv", "id,score\nx,good\ny,bad\nz,good\n"),
    ];
    let folder = Folder::new(&files);
    for (name, args) in [
        ("compare_no_common_sample", ["a.csv", "other.csv"].as_slice()),
        ("compare_one_sample", &["a.csv", "one.csv"]),
        ("compare_no_id", &["a.csv", "rows.csv"]),
        ("compare_one_table", &["a.csv"]),
        ("compare_table_twice", &["a.csv", "./a.csv"]),
        ("compare_repeated_ids", &["models.csv"]),
        ("compare_no_column", &["models.csv", "--by", "modell"]),
        ("compare_by_id", &["models.csv", "--by", "id"]),
        ("compare_empty_cell", &["models.csv", "--by", "model"]),
        ("compare_no_group", &["a.csv", "other.csv", "--by", "category", "--unpaired"]),
        ("compare_too_many_keys", &["a.csv", "other.csv", "--by", "x", "--by", "y"]),
        ("compare_text", &["a.csv", "text.csv"]),
        ("compare_missing_file", &["a.csv", "nothing.csv"]),
        ("compare_metric", &["a.csv", "other.csv", "--metric", "acuracy"]),
        ("compare_exists", &["a.csv", "other.csv", "-o", "text.csv"]),
        ("compare_flips_number", &["a.csv", "other.csv", "--flips=many"]),
    ] {
        let args: Vec<&str> = ["compare"].iter().chain(args).copied().collect();
        folder.check(name, &args);
    }
    // A column of another name identifies the samples.
    fs::write(folder.path().join("named.csv"), "question,score\nwhat,1\nwho,0\n").unwrap();
    let named = compare(&folder, &["rows.csv", "named.csv", "--id-column", "question"]);
    assert_eq!(named, ["rows → named score accuracy: n 2 + 0 + 0, 0.500"]);
}

#[test]
fn flips_have_input_and_answers() {
    let folder = tables();
    let output = folder.run(&["compare", "models.csv", "--by", "model", "--flips=1", "--format", "json"]);
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let flips = json["flips"].as_array().unwrap();
    assert_eq!(flips.len(), 2, "one of each comparison");
    assert_eq!(json["changed_samples"], 7, "of all that changed");
    let first = &flips[0];
    for (key, value) in [
        ("id", "a2"),
        ("input", "question a2"),
        ("base_answer", "wren's answer"),
        ("other_answer", "finch's answer"),
        ("base", "wren"),
        ("other", "finch"),
        ("scorer", "score"),
    ] {
        assert_eq!(first[key], value, "{key}");
    }
    assert_eq!((&first["base_score"], &first["other_score"]), (&0.0.into(), &1.0.into()));
    let notes = String::from_utf8(output.stderr).unwrap();
    assert!(notes.contains("4 samples of wren and finch changed by score, of which 1 is listed"), "{notes}");
    let all = folder.run(&["compare", "models.csv", "--by", "model", "--flips=all", "--format", "json"]);
    let all: serde_json::Value = serde_json::from_slice(&all.stdout).unwrap();
    assert_eq!(all["flips"].as_array().unwrap().len(), 4 + 3);
    // Of a log they are read again.
    let logs = almanac(&["heron", "wren"]);
    let args = ["compare", logs.path().to_str().unwrap(), "--flips=1", "--format", "json", "--base", "wren"];
    let output = logs.run(&workspace(), &args);
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let flip = &json["flips"][0];
    assert_eq!((flip["id"].as_str(), flip["base_answer"].as_str()), (Some("geo-1-a"), Some("A")));
    assert!(flip["input"].as_str().unwrap().starts_with("The island of Velmora"), "{flip}");
    assert!(flip["other_answer"].as_str().is_some(), "the output, if there is no answer: {flip}");
}

#[test]
fn the_output_file_decides_the_format() {
    let folder = tables();
    for (file, part) in [
        ("c.json", "\"comparisons\""),
        ("c.csv", "base,other"),
        ("c.md", "|---|"),
        ("c.tex", "\\begin{tabular}"),
        ("c.txt", "base → other"),
    ] {
        let output = folder.run(&["compare", "base.csv", "other.csv", "-o", file]);
        assert!(output.status.success() && output.stdout.is_empty());
        assert_eq!(String::from_utf8(output.stderr).unwrap(), format!("the comparison is in {file}\n"));
        let text = folder.text(file);
        assert!(text.contains(part), "{file}: {text}");
    }
    let args = ["compare", "base.csv", "other.csv", "-o", "c.csv", "--force", "--format", "json"];
    assert!(folder.run(&args).status.success());
    assert!(folder.text("c.csv").starts_with('{'));
}
