//! Commands of a page and the output below them: run, compared, or written anew.

use std::path::Path;
use std::process::Command;

use super::page::{Block, Page};

/// Stands for any number of lines if it is alone in one, else for any characters.
const LEFT_OUT: &str = "…";
/// When everything in the book happened.
const DATE: &str = "2026-01-31";
const TIME: &str = "09:00";

/// A command, and what the page shows below it: lines of the page.
pub(super) struct Shown {
    pub(super) command: String,
    pub(super) at: usize,
    pub(super) from: usize,
    pub(super) to: usize,
}

/// The commands of a console block: `$ command`, continued after a backslash, then its output.
pub(super) fn commands(page: &Page, block: &Block) -> Vec<Shown> {
    let mut shown: Vec<Shown> = Vec::new();
    let mut is_continued = false;
    for at in block.from..block.to {
        let line = &page.lines[at];
        match (line.strip_prefix("$ "), shown.last_mut()) {
            (Some(command), _) => {
                shown.push(Shown { command: command.to_owned(), at, from: at + 1, to: at + 1 });
            }
            (None, Some(last)) if is_continued => {
                last.command += &format!("\n{line}");
                (last.from, last.to) = (at + 1, at + 1);
            }
            (None, Some(last)) => {
                last.to = at + 1;
                continue;
            }
            (None, None) => panic!("{}: a console block begins with `$ `", page.place(at)),
        }
        is_continued = line.ends_with('\\');
    }
    shown
}

/// Runs a command as a shell would, with `$?` of the one before; gives its exit code and what a terminal shows.
pub(super) fn run(folder: &Path, bin: &Path, before: i32, command: &str) -> (i32, Vec<String>) {
    // How the README runs it before it is installed.
    let command = command.replace("cargo run --release -- ", "errorbar ");
    let path = std::env::var("PATH").unwrap_or_default();
    let mut shell = Command::new("sh");
    shell.args(["-c", &format!("exec 2>&1\n(exit {before})\n{command}")]).current_dir(folder);
    shell.env("PATH", format!("{}:{path}", bin.display())).env("LANG", "C.UTF-8").env("TERM", "dumb");
    shell.env("HOME", folder).env("XDG_CACHE_HOME", folder.join(".cache"));
    for name in [
        "ERRORBAR_LOG_DIR",
        "ERRORBAR_PAGER",
        "PAGER",
        "OPENAI_API_KEY",
        "OPENAI_BASE_URL",
        "COLUMNS",
        "ERRORBAR_CACHE_DIR",
    ]
    .into_iter()
    .chain(["NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "LC_ALL", "LC_CTYPE", "HF_HUB_CACHE", "HF_HOME"])
    {
        shell.env_remove(name);
    }
    let output = shell.output().unwrap();
    // Logs are in the order of their seconds, and a reader takes longer than one.
    if command.contains("errorbar eval") {
        let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
        std::thread::sleep(std::time::Duration::from_secs(since.as_secs() + 1) - since);
    }
    let text = String::from_utf8(output.stdout).unwrap().replace(folder.to_str().unwrap(), "~");
    let mut lines: Vec<String> =
        text.lines().map(|line| without_times(&without_seconds(line.trim_end()))).collect();
    while lines.last().is_some_and(String::is_empty) {
        lines.pop();
    }
    (output.status.code().unwrap_or(-1), lines)
}

/// The heading of a sample without the seconds that it took, which a busy machine adds: `── q1 · 2 messages ────`.
fn without_seconds(line: &str) -> String {
    let Some((head, rule)) = line.strip_suffix('─').and_then(|line| line.rsplit_once(' ')) else {
        return line.to_owned();
    };
    let seconds = head.strip_suffix(" s").and_then(|head| head.rsplit_once(" · "));
    match seconds.filter(|(_, seconds)| line.starts_with("── ") && seconds.parse::<f64>().is_ok()) {
        Some((head, seconds)) => {
            format!("{head} {rule}{}", "─".repeat(seconds.chars().count() + " ·  s".chars().count() + 1))
        }
        None => line.to_owned(),
    }
}

fn is_left_out(line: &str) -> bool {
    line.trim() == LEFT_OUT
}

/// Whether the output is what the page shows, but for what it leaves out.
pub(super) fn is_output(shown: &[String], output: &[String]) -> bool {
    let end = shown.iter().rposition(|line| !line.is_empty()).map_or(0, |last| last + 1);
    matches(&shown[..end], output)
}

fn matches(shown: &[String], output: &[String]) -> bool {
    match (shown, output) {
        ([], output) => output.is_empty(),
        ([first, rest @ ..], output) if is_left_out(first) => {
            (0..=output.len()).any(|from| matches(rest, &output[from..]))
        }
        ([first, rest @ ..], [line, output @ ..]) => is_line(first.trim_end(), line) && matches(rest, output),
        (_, []) => false,
    }
}

/// Whether a line is the one that is shown, in which `…` may stand for any characters.
fn is_line(shown: &str, line: &str) -> bool {
    let Some((head, rest)) = shown.split_once(LEFT_OUT) else { return shown == line };
    let Some(line) = line.strip_prefix(head) else { return false };
    line.char_indices().map(|(at, _)| at).chain([line.len()]).any(|at| is_line(rest, &line[at..]))
}

/// The output as a page shows it: what the page leaves out stays so, where that can be found again.
pub(super) fn rewritten(shown: &[String], output: &[String]) -> Vec<String> {
    let lines = output.to_vec();
    let parts: Vec<&[String]> = shown.split(|line| is_left_out(line)).collect();
    let [head, between @ .., tail] = parts.as_slice() else { return lines };
    let mark = shown.iter().find(|line| is_left_out(line)).cloned().unwrap_or_default();
    let (mut from, to) = (head.len().min(lines.len()), lines.len().saturating_sub(tail.len()));
    let mut written = lines[..from].to_vec();
    for part in between {
        // The place at which most lines begin with the word that they began with.
        let first = |line: &String| line.split_whitespace().next().map(str::to_owned);
        let alike = |at: &usize| {
            part.iter().zip(&lines[*at..]).filter(|(a, b)| !a.is_empty() && first(a) == first(b)).count()
        };
        let Some(at) = (from..=to.saturating_sub(part.len())).rev().max_by_key(alike) else { continue };
        written.push(mark.clone());
        written.extend_from_slice(&lines[at..at + part.len()]);
        from = at + part.len();
    }
    if from < to {
        written.push(mark);
    }
    written.extend_from_slice(&lines[to.max(from)..]);
    written
}

/// A line without what no other run has: the names of logs have `…` in place of time and id, and times are one time.
fn without_times(line: &str) -> String {
    let mut words: Vec<String> = line.split(' ').map(without_id).collect();
    for at in 0..words.len() {
        if is_date(&words[at]) && words[at].len() == DATE.len() {
            DATE.clone_into(&mut words[at]);
            if let Some(time) =
                words.get_mut(at + 1).filter(|time| time.len() == TIME.len() && time.contains(':'))
            {
                TIME.clone_into(time);
            }
        }
    }
    words.join(" ")
}

/// Whether a word begins with a date: `2026-11-17`.
fn is_date(word: &str) -> bool {
    let mut parts = word.split('-').map(|part| part.parse::<u32>().ok());
    matches!((parts.next(), parts.next(), parts.next()), (Some(Some(2000..)), Some(Some(_)), Some(_)))
}

/// `logs/2026-11-17T02-59-06+00-00_almanac_639557c2040a4dbdac9a80d8d8690038.eval` as `logs/…_almanac_….eval`.
fn without_id(word: &str) -> String {
    let (folder, name) = word.rsplit_once('/').map_or(("", word), |(folder, name)| (folder, name));
    let Some((time, rest)) = name.split_once('_').filter(|(time, _)| is_date(time) && time.contains('T'))
    else {
        return word.to_owned();
    };
    let (task, id) = rest.rsplit_once('_').unwrap_or((rest, time));
    let end = id.find('.').map_or("", |dot| &id[dot..]);
    let slash = if folder.is_empty() { "" } else { "/" };
    format!("{folder}{slash}{LEFT_OUT}_{task}_{LEFT_OUT}{end}")
}

#[test]
fn what_is_left_out_is_any_lines_and_any_characters() {
    let lines = |text: &str| text.lines().map(str::to_owned).collect::<Vec<_>>();
    let output = lines("a\nb 12 s\nc\nd");
    for shown in ["a\nb 12 s\nc\nd", "a\n  …\nd", "…\nd", "a\nb … s\n…", "a\n…\nb 12 s\nc\nd\n"] {
        assert!(is_output(&lines(shown), &output), "{shown}");
    }
    for shown in ["a\nb 12 s\nc", "a\n…\nc", "b 12 s\nc\nd", "a\nb … h\n…", "a\nb 12 s\n\nc\nd"] {
        assert!(!is_output(&lines(shown), &output), "{shown}");
    }
}

#[test]
fn what_is_written_anew_leaves_out_what_was_left_out() {
    let lines = |text: &str| text.lines().map(str::to_owned).collect::<Vec<_>>();
    let output = lines("title 2\none 1\ntwo 2\nthree 3\nfour 4\nend");
    let written = rewritten(&lines("title 1\n…\nthree 9\n…\nend"), &output);
    assert_eq!(written, lines("title 2\n…\nthree 3\n…\nend"));
    assert!(is_output(&written, &output));
    let log = "logs/2026-11-17T02-59-06+00-00_almanac_639557c2040a4dbdac9a80d8d8690038.eval";
    assert_eq!(
        without_times(&format!("@1  2026-11-17 02:59  {log}.")),
        "@1  2026-01-31 09:00  logs/…_almanac_….eval."
    );
    assert_eq!(without_seconds("── q1 · 2 messages · 0.1 s ────"), "── q1 · 2 messages ────────────");
    assert_eq!(without_seconds("── q1 · 2 messages ────"), "── q1 · 2 messages ────");
}
