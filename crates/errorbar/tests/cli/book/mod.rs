//! The README and the book are true: every command on a page is run, in order, and prints what the page shows below it.
//!
//! `UPDATE_BOOK=1 cargo test -p errorbar --test cli book` writes the real outputs into the pages. The rules for pages:
//!
//! - ` ```console `: lines `$ command`, each with its output, or without any. `…` alone in a line stands for lines that are
//!   left out, within a line for characters. A command ends with exit code 0, unless the block has `exit=N` (it is that of
//!   its last command) or the next command is `echo $?`. Blocks with `no-run` are counted: there may be ten.
//! - ` ```csv file=results.csv ` (or another language) is written before the commands below it run.
//! - ` ```toml ` without a file is a part of a task file, and is checked as such.
//! - Pages start in a folder of their own, which has copies of `examples/` and `benchmarks/`.
//! - An option in backticks exists, and belongs to the command that it is written with.

mod console;
mod options;
mod page;

use std::fmt::Write as _;
use std::path::Path;

use console::{Shown, commands, is_output, rewritten, run};
use page::{Block, Page};

use crate::{errorbar, workspace};

const NO_RUN: &str = "no-run";
const MOST_NO_RUN: usize = 10;
/// Made from the registry by the test `reference`, which runs its commands.
const REFERENCE: &str = "docs/reference.md";
const TEST_COMMAND: &str = "cargo test --workspace";

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let (from, to) = (entry.as_ref().unwrap().path(), to.join(entry.unwrap().file_name()));
        if from.is_dir() {
            copy(&from, &to);
        } else {
            std::fs::copy(from, to).unwrap();
        }
    }
}

/// A folder with the binary under its name, to be first in `PATH`.
fn bin(folder: &Path) {
    std::fs::create_dir_all(folder).unwrap();
    let name = folder.join(format!("errorbar{}", std::env::consts::EXE_SUFFIX));
    std::fs::hard_link(env!("CARGO_BIN_EXE_errorbar"), &name)
        .or_else(|_| std::fs::copy(env!("CARGO_BIN_EXE_errorbar"), &name).map(drop))
        .unwrap();
}

/// What is wrong with a page; its outputs written anew, if asked for.
fn check(page: &Page, update: bool) -> Result<(), String> {
    let folder = tempfile::tempdir().unwrap();
    let bin_folder = tempfile::tempdir().unwrap();
    for name in ["examples", "benchmarks"] {
        copy(&workspace().join(name), &folder.path().join(name));
    }
    bin(bin_folder.path());
    let mut problems = String::new();
    let mut lines: Vec<String> = Vec::new();
    let mut copied = 0;
    for block in &page.blocks {
        if let Some(name) = block.value("file") {
            let path = folder.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, page.text(block)).unwrap();
        } else if block.language == "toml" {
            problems += &check_part(page, block, folder.path()).err().unwrap_or_default();
        }
        if block.language != "console" || block.has(NO_RUN) {
            continue;
        }
        let shown = commands(page, block);
        let mut code = 0;
        for (at, Shown { command, at: line, from, to }) in shown.iter().enumerate() {
            let place = page.place(*line);
            let (exit, output) = run(folder.path(), bin_folder.path(), code, command);
            let is_asked = shown.get(at + 1).is_some_and(|next| next.command == "echo $?");
            let expected = block.value("exit").filter(|_| at + 1 == shown.len()).unwrap_or("0");
            if exit.to_string() != expected && !is_asked {
                write!(problems, "\n{place}: {command}\nends with {exit}:\n{}\n", output.join("\n")).unwrap();
            }
            code = exit;
            let page_shows = &page.lines[*from..*to];
            if from == to || is_output(page_shows, &output) {
                continue;
            }
            lines.extend_from_slice(&page.lines[copied..*from]);
            lines.extend(rewritten(page_shows, &output));
            // The empty line between a command's output and the next command.
            lines.extend(page_shows.iter().rev().take_while(|line| line.is_empty()).cloned());
            copied = *to;
            if !update {
                write!(problems, "\n{place}: {command}\nprints\n{}\n", output.join("\n")).unwrap();
            }
        }
    }
    lines.extend_from_slice(&page.lines[copied..]);
    if update && copied > 0 {
        std::fs::write(workspace().join(&page.name), lines.join("\n") + "\n").unwrap();
    }
    if problems.is_empty() { Ok(()) } else { Err(problems) }
}

/// Checks a part of a task file, completed by what every task has, beside the files of the page.
fn check_part(page: &Page, block: &Block, folder: &Path) -> Result<(), String> {
    let text = page.text(block);
    let place = page.place(block.from);
    let part: toml::Table = text.parse().map_err(|error| format!("\n{place}: {error}\n"))?;
    let mut task = String::new();
    for (key, line) in
        [("dataset", "dataset = { path = 'data.csv' }\n"), ("scorer", "scorer = 'includes()'\n")]
    {
        if !part.contains_key(key) {
            task += line;
        }
    }
    std::fs::write(folder.join("part.toml"), task + &text).unwrap();
    let output = errorbar(folder, &["list", "tasks", "part.toml"]).output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    // A file that is skipped has a note, and no task.
    if output.status.success() && errors.is_empty() {
        return Ok(());
    }
    Err(format!("\n{place}: this is no part of a task file:\n{errors}\n"))
}

#[test]
fn every_command_prints_what_the_book_shows() {
    let update = std::env::var_os("UPDATE_BOOK").is_some();
    let pages = Page::all();
    assert!(pages.len() > 20, "the pages are elsewhere");
    let next = std::sync::atomic::AtomicUsize::new(0);
    let work = || {
        let mut problems = String::new();
        while let Some(page) = pages.get(next.fetch_add(1, std::sync::atomic::Ordering::Relaxed)) {
            if page.name != REFERENCE {
                problems += &check(page, update).err().unwrap_or_default();
            }
        }
        problems
    };
    let problems: String = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..4).map(|_| scope.spawn(work)).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    assert!(problems.is_empty(), "{problems}\nUPDATE_BOOK=1 writes the outputs into the pages");
}

#[test]
fn ten_blocks_at_most_are_not_run() {
    let pages = Page::all();
    let blocks = || pages.iter().flat_map(|page| page.blocks.iter().map(move |block| (page, block)));
    let skipped: Vec<String> =
        blocks().filter(|(_, block)| block.has(NO_RUN)).map(|(page, block)| page.place(block.from)).collect();
    assert!(skipped.len() <= MOST_NO_RUN, "{} blocks: {skipped:?}", skipped.len());
    for (page, block) in blocks() {
        let place = page.place(block.from);
        let is_shell =
            ["sh", "bash", "shell", "zsh", "console,"].iter().any(|name| block.language.starts_with(name));
        assert!(!is_shell, "{place}: write commands as ```console, so that they are run");
        let knows = |word: &String| word == NO_RUN || word.starts_with("file=") || word.starts_with("exit=");
        assert!(block.words.iter().all(knows), "{place}: what is {:?}?", block.words);
    }
    for page in &pages {
        for (at, line) in page.prose() {
            let is_command = line.starts_with("    errorbar ") || line.starts_with("    $ ");
            assert!(!is_command, "{}: write commands as ```console, so that they are run", page.place(at));
        }
    }
}

/// Rust on a page is compiled only if the crate's doc tests have the page.
#[test]
fn rust_on_a_page_is_a_doc_test() {
    let doc_tests = std::fs::read_to_string(workspace().join("crates/errorbar/src/lib.rs")).unwrap();
    for page in Page::all() {
        let has_rust = page.blocks.iter().any(|block| block.language.starts_with("rust"));
        let is_tested = doc_tests.contains(&format!("include_str!(\"../../../{}\")", page.name));
        assert_eq!(has_rust, is_tested, "{}", page.name);
    }
}

/// A page that nobody links to is in no table of contents.
#[test]
fn every_page_is_in_the_summary() {
    let summary = std::fs::read_to_string(workspace().join("docs/SUMMARY.md")).unwrap();
    for page in Page::all() {
        let Some(name) = page.name.strip_prefix("docs/").filter(|name| *name != "SUMMARY.md") else {
            continue;
        };
        assert!(summary.contains(&format!("]({name})")), "docs/SUMMARY.md has no {name}");
    }
}

#[test]
fn the_readme_runs_the_main_job_first_and_tests_as_ci_does() {
    let readme = Page::read("README.md");
    let console: Vec<&Block> = readme.blocks.iter().filter(|block| block.language == "console").collect();
    let first: Vec<String> = console
        .iter()
        .flat_map(|block| commands(&readme, block))
        .map(|shown| shown.command)
        .take(2)
        .collect();
    assert!(first[0].starts_with("cargo run --release -- eval "), "{first:?}");
    assert_eq!(first[1], TEST_COMMAND);
    assert!(std::fs::read_to_string(workspace().join(".ci/run")).unwrap().contains(TEST_COMMAND));
}
