//! What `eval --resume` takes from a log alone: never a task file from elsewhere, a program or the name of a file.
#![cfg(unix)]

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Output;

use errorbar_log::eval::{EvalInfo, LogWriter, PlanRecord, StartRecord};

use crate::errorbar;
use crate::eval::Logs;

/// A task in a folder below that runs a program, of whose samples the first is recorded.
fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("sub")).unwrap();
    let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
    let sample = |n: u32| format!("{{\"id\": \"q{n}\", \"input\": \"{n}?\", \"target\": \"yes\"}}\n");
    write("sub/d.jsonl", &(1..=2).map(sample).collect::<String>());
    write(
        "sub/score.sh",
        "touch ran\nwhile read -r line; do echo \"$line\" | sed 's/.*\"seq\": *\\([0-9]*\\).*/{\"seq\": \\1, \"value\": 1}/'; done\n",
    );
    write(
        "sub/t.toml",
        "dataset = 'd.jsonl'\nmodel = 'replay/o.jsonl'\nscorer = 'command([\"sh\", \"score.sh\"])'\n",
    );
    write("sub/o.jsonl", "{\"id\": \"q1\", \"output\": \"yes\"}\n");
    folder
}

/// Records the other output, and forgets that the program ran.
fn complete(folder: &Path) {
    let outputs = "{\"id\": \"q1\", \"output\": \"yes\"}\n{\"id\": \"q2\", \"output\": \"no\"}\n";
    fs::write(folder.join("o.jsonl"), outputs).unwrap();
    fs::remove_file(folder.join("ran")).unwrap();
}

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

/// The words of the command that a message proposes.
fn proposed(text: &str) -> Vec<String> {
    let command = text.split("`errorbar ").nth(1).unwrap_or_else(|| panic!("{text}"));
    command.split('`').next().unwrap().split(' ').map(|word| word.replace('\'', "")).collect()
}

fn run(logs: &Logs, folder: &Path, args: &[String]) -> Output {
    logs.run(folder, &args.iter().map(String::as_str).collect::<Vec<_>>())
}

#[test]
fn a_task_file_from_elsewhere_is_named_by_the_user() {
    let (logs, folder) = (Logs::new(), folder());
    let started = logs.run(folder.path(), &["eval", "sub/t.toml"]);
    complete(&folder.path().join("sub"));
    let log = logs.only().display().to_string();
    for args in [&["eval", "--resume", &log][..], &["eval", "--resume", "latest"]] {
        let refused = logs.run(folder.path(), args);
        let text = stderr(&refused);
        assert_eq!(refused.status.code(), Some(2), "{text}");
        assert!(text.contains("the log alone names the task file sub/t.toml"), "{text}");
        assert_eq!(proposed(&text)[..], ["eval", "sub/t.toml", "--resume", &log]);
    }
    assert!(!folder.path().join("sub/ran").exists());
    // What the first run proposed works, and so does the hint: it is the same.
    assert_eq!(proposed(&stderr(&started))[..], ["eval", "sub/t.toml", "--resume", &log]);
    let resumed = run(&logs, folder.path(), &proposed(&stderr(&started)));
    let text = stderr(&resumed);
    assert!(resumed.status.success() && text.contains("2 samples, 1 of them done before"), "{text}");
    let named = text.find("resumed with the task file sub/t.toml").unwrap_or_else(|| panic!("{text}"));
    let program = text.find("t: runs the program `sh score.sh`").unwrap_or_else(|| panic!("{text}"));
    assert!(named < program && program < text.find("t: 2 samples").unwrap(), "{text}");
}

#[test]
fn an_absolute_path_is_named_by_the_user_too() {
    let (logs, folder) = (Logs::new(), folder());
    let task = folder.path().join("sub/t.toml").display().to_string();
    logs.run(folder.path(), &["eval", &task]);
    let refused = logs.run(&folder.path().join("sub"), &["eval", "--resume", "latest"]);
    assert_eq!(refused.status.code(), Some(2), "{}", stderr(&refused));
    assert_eq!(proposed(&stderr(&refused))[1], task);
}

#[test]
fn a_task_file_of_this_folder_is_run_if_the_log_has_its_digest() {
    let (logs, folder) = (Logs::new(), folder());
    let sub = folder.path().join("sub");
    let started = logs.run(&sub, &["eval", "t.toml"]);
    let log = logs.only().display().to_string();
    assert_eq!(proposed(&stderr(&started))[..], ["eval", "--resume", &log]);
    complete(&sub);
    let task = fs::read_to_string(sub.join("t.toml")).unwrap();

    fs::write(sub.join("t.toml"), format!("{task}# changed\n")).unwrap();
    let changed = logs.run(&sub, &["eval", "--resume", &log]);
    let text = stderr(&changed);
    assert!(text.contains("which has changed since the run was started"), "{text}");
    assert_eq!(proposed(&text)[..], ["eval", "t.toml", "--resume", &log]);
    assert!(!text.contains("resumed with"), "{text}");

    fs::rename(sub.join("t.toml"), folder.path().join("t.toml")).unwrap();
    fs::write(folder.path().join("t.toml"), &task).unwrap();
    symlink("../t.toml", sub.join("t.toml")).unwrap();
    let link = logs.run(&sub, &["eval", "--resume", &log]);
    assert!(stderr(&link).contains("which is not in this folder"), "{}", stderr(&link));
    assert!(!sub.join("ran").exists());

    fs::remove_file(sub.join("t.toml")).unwrap();
    fs::write(sub.join("t.toml"), &task).unwrap();
    // Also with -q: the log alone names both.
    let resumed = logs.run(&sub, &["eval", "-q", "--resume", &log]);
    let text = stderr(&resumed);
    assert!(resumed.status.success() && sub.join("ran").exists(), "{text}");
    assert!(text.contains("resumed with the task file t.toml"), "{text}");
    assert!(text.contains("runs the program `sh score.sh`"), "{text}");
}

#[test]
fn a_log_without_a_digest_names_no_task_file() {
    let (logs, folder) = (Logs::new(), folder());
    let sub = folder.path().join("sub");
    let mut eval = EvalInfo::new("t", "replay/o.jsonl");
    eval.task_file = Some("t.toml".to_owned());
    let log = logs.path().join("a.eval");
    drop(LogWriter::create(&log, &StartRecord::new(eval, PlanRecord::default())).unwrap());
    let refused = logs.run(&sub, &["eval", "--resume", "latest"]);
    let text = stderr(&refused);
    assert_eq!(refused.status.code(), Some(2), "{text}");
    assert!(text.contains("the log alone names the task file t.toml, without a digest of it"), "{text}");
    assert_eq!(proposed(&text)[..], ["eval", "t.toml", "--resume", log.to_str().unwrap()]);
}

#[test]
fn a_string_argument_is_given_by_the_user() {
    let (logs, folder) = (Logs::new(), folder());
    let sub = folder.path().join("sub");
    let task = fs::read_to_string(sub.join("t.toml")).unwrap().replace("score.sh", "${script}");
    fs::write(sub.join("t.toml"), format!("{task}args = {{ script = 'none.sh', count = 1 }}\n")).unwrap();
    let started = logs.run(&sub, &["eval", "t.toml", "-T", "script=score.sh", "-T", "count=2"]);
    complete(&sub);
    let log = logs.only().display().to_string();
    let refused = logs.run(&sub, &["eval", "--resume", &log]);
    let text = stderr(&refused);
    assert!(text.contains("the log alone gives the task the argument script = \"score.sh\""), "{text}");
    assert_eq!(proposed(&text)[..], ["eval", "t.toml", "-T", "script=score.sh", "--resume", &log]);
    let other = logs.run(&sub, &["eval", "-T", "script=d.jsonl", "--resume", &log]);
    assert!(stderr(&other).contains("task arguments"), "{}", stderr(&other));
    assert!(!sub.join("ran").exists());
    let resumed = run(&logs, &sub, &proposed(&stderr(&started)));
    assert!(resumed.status.success() && sub.join("ran").exists(), "{}", stderr(&resumed));
}

/// The proposed command ended with "is outside of the folder of the task file".
#[test]
fn the_proposed_command_has_the_allowed_paths() {
    let (logs, folder) = (Logs::new(), folder());
    fs::write(folder.path().join("--brief.txt"), "Be brief.").unwrap();
    let task = fs::read_to_string(folder.path().join("sub/t.toml")).unwrap();
    let template = "solver = [\"system_message('../--brief.txt')\", 'generate']\n";
    fs::write(folder.path().join("sub/t.toml"), format!("{task}{template}")).unwrap();
    let started = logs.run(folder.path(), &["eval", "sub/t.toml", "--allow-path=--brief.txt"]);
    complete(&folder.path().join("sub"));
    let command = proposed(&stderr(&started));
    assert_eq!(command[..4], ["eval", "sub/t.toml", "--allow-path", "./--brief.txt"]);
    let resumed = run(&logs, folder.path(), &command);
    assert!(resumed.status.success(), "{}", stderr(&resumed));
    let nothing = logs.run(folder.path(), &["eval", "sub/t.toml", "--allow-path", "nothere"]);
    let text = stderr(&nothing);
    assert_eq!(nothing.status.code(), Some(2), "{text}");
    assert!(text.contains("nothere: --allow-path: no such file or folder"), "{text}");
}

#[test]
fn lists_of_numbers_are_taken_from_the_log() {
    let (logs, folder) = (Logs::new(), folder());
    let sub = folder.path().join("sub");
    let task = fs::read_to_string(sub.join("t.toml")).unwrap();
    let args = "args = { counts = [1] }\nmetadata = { counts = '${counts}' }\n";
    fs::write(sub.join("t.toml"), format!("{task}{args}")).unwrap();
    let started = logs.run(&sub, &["eval", "t.toml", "-T", "counts=2,3"]);
    let log = logs.only().display().to_string();
    assert_eq!(proposed(&stderr(&started))[..], ["eval", "--resume", &log], "{}", stderr(&started));
    complete(&sub);
    let resumed = logs.run(&sub, &["eval", "--resume", &log]);
    assert!(resumed.status.success(), "{}", stderr(&resumed));
}

#[test]
fn templates_stay_in_the_folder_of_the_task_file_unless_allowed() {
    let (logs, folder) = (Logs::new(), folder());
    fs::write(folder.path().join("secret.txt"), "Be brief.").unwrap();
    fs::write(folder.path().join("sub/own.txt"), "Be brief.").unwrap();
    symlink("../secret.txt", folder.path().join("sub/link.txt")).unwrap();
    let evaluate = |template: &str, options: &[&str]| {
        let task = format!(
            "dataset = 'd.jsonl'\nmodel = 'mock/yes'\nscorer = 'match'\nsolver = [\"system_message('{template}')\", 'generate']\n"
        );
        fs::write(folder.path().join("sub/s.toml"), task).unwrap();
        logs.run(folder.path(), &[&["eval", "sub/s.toml"], options].concat())
    };
    let secret = folder.path().join("secret.txt").display().to_string();
    for template in [&secret, "../secret.txt", "link.txt"] {
        let refused = evaluate(template, &[]);
        let text = stderr(&refused);
        assert_eq!(refused.status.code(), Some(2), "{text}");
        assert!(text.contains("is outside of the folder of the task file"), "{text}");
        let option = text.split("--allow-path ").nth(1).unwrap().lines().next().unwrap();
        assert!(evaluate(template, &["--allow-path", option]).status.success(), "{text}");
        assert!(evaluate(template, &["--allow-path", "."]).status.success(), "a folder");
    }
    assert!(evaluate("own.txt", &[]).status.success());
    assert!(evaluate("No file at all.", &[]).status.success());
    let listed = errorbar(folder.path(), &["list", "tasks", "sub/s.toml"]).output().unwrap();
    assert!(listed.status.success(), "a list sends nothing");
}

#[test]
fn datasets_of_a_task_that_only_a_log_names_stay_in_its_folder() {
    let (logs, folder) = (Logs::new(), folder());
    let sub = folder.path().join("sub");
    fs::rename(sub.join("d.jsonl"), folder.path().join("d.jsonl")).unwrap();
    let task = fs::read_to_string(sub.join("t.toml")).unwrap().replace("'d.jsonl'", "'../d.jsonl'");
    fs::write(sub.join("t.toml"), task).unwrap();
    logs.run(&sub, &["eval", "t.toml"]);
    complete(&sub);
    let refused = logs.run(&sub, &["eval", "--resume", "latest"]);
    let text = stderr(&refused);
    assert!(text.contains("--allow-path ../d.jsonl") && !sub.join("ran").exists(), "{text}");
    let allowed = logs.run(&sub, &["eval", "--resume", "latest", "--allow-path", "../d.jsonl"]);
    assert!(allowed.status.success(), "{}", stderr(&allowed));
}
