//! Several tasks: in a file, in a folder, with several models; arguments; what was complete before.

use std::fs;
use std::path::Path;

use crate::eval::Logs;
use crate::{check_text, errorbar, transcript};

/// A folder of tasks: two in one file, one in a folder below, and a TOML file that is none.
fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir_all(folder.path().join("tasks/more")).unwrap();
    let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
    let rows = |subject: &str, count: usize| {
        let row = |n: usize| format!("{subject}{n},What is {n}?,{}\n", n % 3);
        format!("id,question,answer\n{}", (1..=count).map(row).collect::<String>())
    };
    write("tasks/law.csv", &rows("law", 12));
    write("tasks/logic.csv", &rows("logic", 9));
    write(
        "tasks/quiz.toml",
        r#"scorer = "includes()"
model = "mock/1"
dataset = { input = "question", target = "answer" }

[args]
limit = 12
style = { default = "brief", choices = ["brief", "long"], doc = "How to answer." }

[task.law]
solver = ["system_message('Be ${style}.')", "generate()"]
dataset = { path = "law.csv", limit = "${limit}" }

[task.logic]
dataset = { path = "logic.csv" }
"#,
    );
    write(
        "tasks/more/math.toml",
        "scorer = 'exact()'\nmodel = 'mock/2'\ndataset = { path = '../law.csv', input = 'question', target = 'answer' }\n",
    );
    write("tasks/settings.toml", "[package]\nname = 'x'\n");
    folder
}

fn check(name: &str, folder: &Path, args: &[&str]) {
    let output = errorbar(folder, args).output().unwrap();
    check_text(name, &transcript(args, &output));
}

#[test]
fn tasks_of_a_folder_are_listed() {
    let folder = folder();
    check("tasks_list", folder.path(), &["list", "tasks", "tasks"]);
    check("tasks_list_one", folder.path(), &["list", "tasks", "tasks/quiz.toml@logic"]);
    check("tasks_list_unknown", folder.path(), &["list", "tasks", "tasks/quiz.toml@logik"]);
    check("tasks_list_json", folder.path(), &["list", "tasks", "tasks/quiz.toml", "--format", "json"]);
    fs::write(folder.path().join("tasks/broken.toml"), "scorer = 'exact()\nsovler = 1\n").unwrap();
    fs::write(folder.path().join("tasks/misspelt.toml"), "scorer = 'choic()'\ndataset = 'law.csv'\n")
        .unwrap();
    check("tasks_list_broken", folder.path(), &["list", "tasks", "tasks", "nowhere.toml"]);
    check("tasks_list_none", folder.path(), &["list", "tasks"]);
    check("tasks_list_metrics", folder.path(), &["list", "metrics", "tasks"]);
}

#[test]
fn arguments_and_names_of_tasks() {
    let (folder, logs) = (folder(), Logs::new());
    let file = "tasks/quiz.toml@law";
    logs.check(
        "tasks_one",
        folder.path(),
        &["eval", file, "-T", "limit=3", "-T", "style=long", "--show", "--max-samples", "1"],
    );
    for (name, args) in [
        ("tasks_unknown_name", &["eval", "tasks/quiz.toml@lwa"][..]),
        ("tasks_unknown_argument", &["eval", file, "-T", "styl=long"]),
        ("tasks_wrong_value", &["eval", file, "-T", "limit=all"]),
        ("tasks_wrong_choice", &["eval", file, "-T", "style=wide"]),
        ("tasks_no_arguments", &["eval", "tasks/more/math.toml", "-T", "limit=3"]),
        ("tasks_unknown_to_all", &["eval", "tasks", "-T", "limt=3"]),
        ("tasks_no_value", &["eval", "tasks", "-T", "limit"]),
        ("tasks_argument_twice", &["eval", file, "-T", "limit=3", "-T", "limit=4"]),
    ] {
        logs.check(name, folder.path(), args);
    }
}

#[test]
fn a_task_of_a_file_is_resumed_with_its_arguments() {
    let (folder, logs) = (folder(), Logs::new());
    let output = logs.run(folder.path(), &["eval", "tasks/quiz.toml@law", "-T", "limit=3", "-q"]);
    assert!(output.status.success());
    let log = logs.only().display().to_string();
    let output = logs.run(&folder.path().join("tasks"), &["eval", "quiz.toml", "--resume", &log]);
    let text = String::from_utf8(output.stderr).unwrap();
    let done = text.contains("law: 3 samples, 3 of them done before");
    assert!(output.status.success() && done, "the log knows which of the tasks it is of: {text}");
}

#[test]
fn a_set_is_continued_where_it_was_interrupted() {
    let (folder, logs) = (folder(), Logs::new());
    // Of one sample nothing was recorded, so it fails.
    let line = |n: usize| format!("{{\"id\": \"law{n}\", \"output\": \"1\"}}\n");
    let outputs = folder.path().join("outputs.jsonl");
    fs::write(&outputs, (1..=11).map(line).collect::<String>()).unwrap();
    let args = ["eval", "tasks/quiz.toml@law", "--model", "replay/outputs.jsonl", "--skip-complete"];
    logs.check("set_with_failures", folder.path(), &args);
    fs::write(&outputs, (1..=12).map(line).collect::<String>()).unwrap();
    logs.check("set_resumed", folder.path(), &args);
    logs.check("set_first", folder.path(), &["eval", "tasks", "--model", "mock/1", "--skip-complete"]);
    assert_eq!(logs.files().len(), 4);
    let set = ["eval", "tasks", "--model", "mock/1", "--model", "mock/2", "--skip-complete"];
    logs.check("set_again", folder.path(), &set);
    assert_eq!(logs.files().len(), 7);
    logs.check("set_complete", folder.path(), &[&set[..], &["--format", "markdown"]].concat());
    let output = logs.run(folder.path(), &[&set[..], &["--format", "json", "-q"]].concat());
    let reports: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let earlier = reports.as_array().unwrap().iter().map(|report| report["earlier_run"].as_bool());
    assert_eq!(earlier.collect::<Vec<_>>(), [Some(true); 6]);
    // Another limit is another run, and so is another version of the questions.
    fs::write(folder.path().join("tasks/logic.csv"), "id,question,answer\nlogic1,What is 2?,2\n").unwrap();
    logs.check("set_changed", folder.path(), &[&set[..], &["-T", "limit=5"]].concat());
}

#[test]
fn a_requirement_holds_for_all_runs_of_a_set() {
    let (folder, logs) = (folder(), Logs::new());
    let args = ["eval", "tasks/quiz.toml", "-q", "--require", "accuracy >= 0.9", "--format", "csv"];
    let output = logs.run(folder.path(), &args);
    assert_eq!(output.status.code(), Some(1), "the worst wins");
    // A run that cannot be is an error of the whole call, before anything runs.
    let before = logs.files().len();
    fs::write(folder.path().join("tasks/broken.toml"), "scorer = 'exact()'\ndataset = 'none.csv'\n").unwrap();
    let output = logs.run(folder.path(), &["eval", "tasks", "-q"]);
    assert_eq!((output.status.code(), logs.files().len()), (Some(2), before));
}

#[test]
fn tasks_of_one_name_are_told_apart() {
    let (folder, logs) = (folder(), Logs::new());
    fs::copy(folder.path().join("tasks/more/math.toml"), folder.path().join("tasks/more/b.toml")).unwrap();
    fs::write(
        folder.path().join("tasks/math.toml"),
        "scorer = 'exact()'\nmodel = 'mock/1'\ndataset = { path = 'law.csv', input = 'question', target = 'answer' }\n",
    )
    .unwrap();
    let output = logs.run(folder.path(), &["eval", "tasks/math.toml", "tasks/more/math.toml", "-q"]);
    let text = String::from_utf8(output.stdout).unwrap();
    let set = &text[text.find("all runs").unwrap()..];
    assert!(set.contains("tasks/math.toml") && set.contains("tasks/more/math.toml"), "{set}");
}
