//! The examples of entries are run, and print what the documentation says.
//!
//! With `UPDATE_REFERENCE=1` the doc comments get what they print; run it twice, since the page is compiled from them.

use std::path::{Path, PathBuf};
use std::process::Command;

use errorbar::eval::built_in_registry;

use crate::documented;

/// The folders of the entries.
const SOURCES: [&str; 4] = ["core/src/metrics", "core/src/reducers", "eval/src/scorers", "eval/src/solvers"];

/// The commands of an example, run one after the other in an empty folder, with what they print.
fn run(example: &str) -> String {
    let folder = tempfile::tempdir().unwrap();
    let program = Path::new(env!("CARGO_BIN_EXE_errorbar"));
    let path = format!("{}:{}", program.parent().unwrap().display(), std::env::var("PATH").unwrap());
    let mut printed = Vec::new();
    for command in example.lines().filter_map(|line| line.strip_prefix("$ ")) {
        let mut shell = Command::new("bash");
        shell.args(["-c", &format!("{command} 2>&1")]).current_dir(folder.path()).env("PATH", &path);
        for variable in ["ERRORBAR_LOG_DIR", "ERRORBAR_CACHE_DIR", "LC_ALL", "LC_CTYPE", "LANG"] {
            shell.env_remove(variable);
        }
        let output = shell.output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(output.status.success(), "$ {command}\n{text}");
        printed.push(format!("$ {command}"));
        printed.extend(text.lines().map(|line| without_name(line.trim_end())));
    }
    printed.join("\n").trim_end().to_owned()
}

/// A line without the time and the id in the name of a log.
fn without_name(line: &str) -> String {
    match line.split_once(".eval") {
        Some((name, rest)) if name.starts_with("logs/") => format!("logs/….eval{rest}"),
        _ => line.to_owned(),
    }
}

/// An example as it stands in a doc comment.
fn in_source(example: &str, indent: &str) -> String {
    let lines = example.lines().map(|line| format!("{indent}/// {line}").trim_end().to_owned() + "\n");
    format!("{indent}/// ```console\n{}{indent}/// ```\n", lines.collect::<String>())
}

fn rewrite(example: &str, printed: &str) {
    let crates = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("..");
    for folder in SOURCES.iter().map(|folder| crates.join(folder)) {
        for file in std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
            let Ok(text) = std::fs::read_to_string(&file) else { continue };
            let renewed = ["", "    "].iter().fold(text.clone(), |text, indent| {
                text.replace(&in_source(example, indent), &in_source(printed, indent))
            });
            if renewed != text {
                std::fs::write(&file, renewed).unwrap();
            }
        }
    }
}

#[test]
fn every_example_prints_what_it_shows() {
    let registry = built_in_registry();
    let entries = documented(&registry);
    let problems = std::sync::Mutex::new(Vec::new());
    let found = &problems;
    std::thread::scope(|scope| {
        for part in entries.chunks(entries.len().div_ceil(4)) {
            scope.spawn(move || {
                for (kind, entry) in part {
                    let (example, printed) = (entry.sections.example, run(entry.sections.example));
                    if example != printed {
                        let what =
                            format!("the {kind} {} shows\n{example}\nand prints\n{printed}", entry.name);
                        found.lock().unwrap().push((what, example, printed));
                    }
                }
            });
        }
    });
    let problems = problems.into_inner().unwrap();
    if std::env::var_os("UPDATE_REFERENCE").is_some() {
        problems.iter().for_each(|(_, example, printed)| rewrite(example, printed));
        return;
    }
    let what: Vec<&str> = problems.iter().map(|(what, ..)| what.as_str()).collect();
    assert!(
        what.is_empty(),
        "run with UPDATE_REFERENCE=1, twice, and look at the difference\n{}",
        what.join("\n\n")
    );
}
