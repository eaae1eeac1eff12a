//! The command as users meet it: stdout, stderr and exit code of the built binary, as snapshots.
//!
//! `INSTA_UPDATE=always cargo test -p errorbar --test cli` writes them anew; then read the difference.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test's helper may fail as the test may"
)]

mod any_metric;
mod bad_input;
mod bad_tables;
mod bad_tasks;
mod benchmarks;
mod book;
mod cache;
mod calibration;
mod clusters;
mod command_scorer;
mod compare;
mod compare_checks;
mod compare_inputs;
#[cfg(unix)]
mod completions;
mod coverage;
mod early_stopping;
mod epochs;
mod errors;
mod eval;
mod files;
mod folders;
mod formats;
mod fuzz_seeds;
mod gates;
mod help;
mod hostile_names;
mod interrupt;
mod intervals;
mod judges;
mod list;
mod log;
mod pipes;
mod plot;
mod power;
mod recorded;
mod report;
mod requirements;
mod rescore;
mod resume;
mod resume_trust;
mod rewrite;
mod score;
mod show;
mod table_columns;
mod table_hints;
mod table_parts;
mod table_scores;
mod task_sets;
#[cfg(unix)]
mod terminal;
mod verify;
#[cfg(feature = "view")]
mod view;
mod written_files;

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// The binary, in an environment without settings for terminals.
fn errorbar(folder: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_errorbar"));
    command.current_dir(folder).args(args);
    for name in [
        "ERRORBAR_CACHE_DIR",
        "ERRORBAR_LOG_DIR",
        "ERRORBAR_PAGER",
        "PAGER",
        "LESS",
        "OPENAI_API_KEY",
        "OPENAI_BASE_URL",
        "NO_COLOR",
        "CLICOLOR",
        "CLICOLOR_FORCE",
        "LC_ALL",
        "LC_CTYPE",
        "COLUMNS",
    ] {
        command.env_remove(name);
    }
    command.env("LANG", "C.UTF-8").env("TERM", "dumb");
    command
}

/// Where `examples/` is.
fn workspace() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// What a run gave, in one text.
fn transcript(args: &[&str], output: &Output) -> String {
    let quoted = |arg: &&str| {
        let plain = arg.chars().all(|c| c.is_alphanumeric() || "-_./=,".contains(c));
        match arg {
            _ if plain => (*arg).to_owned(),
            _ if arg.contains('\'') => format!("\"{arg}\""),
            _ => format!("'{arg}'"),
        }
    };
    let command: Vec<String> = args.iter().map(quoted).collect();
    format!(
        "$ errorbar {}\nexit code: {}\n----- stdout -----\n{}----- stderr -----\n{}",
        command.join(" "),
        output.status.code().unwrap_or(-1),
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr),
    )
}

/// Runs the command where the examples are, and compares with the snapshot.
fn check_examples(name: &str, args: &[&str]) {
    let output = errorbar(&workspace(), args).output().unwrap();
    check_text(name, &transcript(args, &output));
}

/// Runs the command in a folder with these files, and compares with the snapshot.
fn check(name: &str, files: &[(&str, &str)], args: &[&str]) {
    Folder::new(files).check(name, args);
}

/// A folder with files, in which commands run one after the other.
struct Folder(tempfile::TempDir);

impl Folder {
    fn new(files: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        for (name, content) in files {
            std::fs::write(folder.path().join(name), content).unwrap();
        }
        Folder(folder)
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    fn run(&self, args: &[&str]) -> Output {
        errorbar(self.path(), args).output().unwrap()
    }

    /// Runs a command, and compares with the snapshot.
    fn check(&self, name: &str, args: &[&str]) {
        check_text(name, &transcript(args, &self.run(args)));
    }

    fn text(&self, name: &str) -> String {
        std::fs::read_to_string(self.path().join(name)).unwrap()
    }

    /// The number of files in it.
    fn files(&self) -> usize {
        std::fs::read_dir(self.path()).unwrap().count()
    }
}

/// The same without the memory of this machine, which hints name.
fn without_memory(text: &str) -> String {
    const START: &str = "(this machine has ";
    let mut parts = text.split(START);
    let mut shown = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        shown += START;
        shown += "…";
        shown += part.trim_start_matches(|c: char| c.is_ascii_digit());
    }
    shown
}

/// Compares with the snapshot, which has pictures of control characters in their place: people look at it on a terminal.
fn check_text(name: &str, text: &str) {
    let picture = |c: char| match c {
        '\n' | '\t' => c.to_string(),
        '\0'..=' ' => char::from_u32(0x2400 + u32::from(c)).filter(|_| c != ' ').unwrap_or(c).to_string(),
        '\u{7f}'..='\u{9f}' | '\u{202a}'..='\u{202e}' => c.escape_unicode().to_string(),
        _ => c.to_string(),
    };
    let text: String = text.chars().map(picture).collect();
    let text = without_memory(&text);
    insta::with_settings!({ prepend_module_to_snapshot => false, omit_expression => true }, {
        insta::assert_snapshot!(name, text);
    });
}
