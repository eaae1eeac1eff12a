//! What reaches a terminal: the program's own colours, and nothing that a file could make the terminal obey. Through a pipe
//! data stays as it is. The terminal is a pseudo-terminal, so the program sees what it would see for a user.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::Read;
use std::path::Path;
use std::process::{Command, Stdio};

use rustix::fs::{Mode, OFlags};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{OptionalActions, Winsize, tcgetattr, tcsetattr, tcsetwinsize};
use serde_json::{Value as Json, json};

use crate::errorbar;

/// A name that would change the title of the window, ring the bell, hide what follows, colour it as the program never
/// does and by a C1 control, and turn its direction. `pwned` shows that it was written at all.
const HOSTILE: &str = "\u{1b}]0;pwned\u{7}\u{1b}[8m\u{1b}[35m\u{9b}31m\u{202e}\u{2066}\u{61c}x";

/// Runs the command with standard output and standard error on a terminal; what it has written there.
fn on_terminal(command: Command) -> String {
    on_terminal_of(120, command).0
}

/// The same on a terminal of this width, with the exit code.
pub(crate) fn on_terminal_of(columns: u16, command: Command) -> (String, Option<i32>) {
    on_terminal_like("xterm-256color", columns, command)
}

/// The same on a terminal of this kind.
fn on_terminal_like(kind: &str, columns: u16, mut command: Command) -> (String, Option<i32>) {
    let terminal = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&terminal).unwrap();
    unlockpt(&terminal).unwrap();
    let name = ptsname(&terminal, Vec::new()).unwrap();
    let side = rustix::fs::open(name, OFlags::RDWR | OFlags::NOCTTY, Mode::empty()).unwrap();
    // Else the terminal puts carriage returns in front of line feeds, which then could be anyone's.
    let mut modes = tcgetattr(&side).unwrap();
    modes.make_raw();
    tcsetattr(&side, OptionalActions::Now, &modes).unwrap();
    tcsetwinsize(&side, Winsize { ws_row: 50, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 }).unwrap();
    command.env("TERM", kind).env("COLORTERM", "truecolor").stdin(Stdio::null());
    command.stdout(side.try_clone().unwrap()).stderr(side);
    let mut child = command.spawn().unwrap();
    // The terminal is at its end when no process has its other side open.
    drop(command);
    let mut written = Vec::new();
    let mut buffer = [0; 4096];
    let mut terminal = File::from(terminal);
    // At the end it gives an error on Linux, and nothing elsewhere.
    while let Ok(count @ 1..) = terminal.read(&mut buffer) {
        written.extend_from_slice(&buffer[..count]);
    }
    let code = child.wait().unwrap().code();
    (String::from_utf8(written).unwrap(), code)
}

/// The text without the sequences that the program itself writes: styles, and those that move the line of progress.
fn without_own_sequences(text: &str) -> String {
    let mut text = text.to_owned();
    // Reset, bold, dimmed, underlined; the colours of tables, messages, snippets and help.
    for style in [
        "0", "1", "2", "4", "31", "32", "33", "36", "91", "92", "93", "94", "96", "1;31", "1;32", "1;33",
        "1;36",
    ] {
        text = text.replace(&format!("\u{1b}[{style}m"), "");
    }
    // Progress clears lines and moves among them.
    text = text.replace("\u{1b}[2K", "").replace('\r', "");
    for lines in 1..=9 {
        text = text.replace(&format!("\u{1b}[{lines}A"), "").replace(&format!("\u{1b}[{lines}B"), "");
    }
    text
}

/// What of a file has reached the terminal as it is. The name must have been written, or the test proves nothing.
fn problem(written: &str) -> Option<String> {
    if !written.contains("pwned") {
        return Some(format!("the name is not there: {written:?}"));
    }
    let foreign = without_own_sequences(written);
    let is_raw = |c: char| is_obeyed(c) && !matches!(c, '\n' | '\t');
    foreign.contains(is_raw).then(|| format!("{foreign:?}"))
}

/// Whether a terminal obeys the character. Written out here once more, so that the test does not believe the code that it
/// is about.
fn is_obeyed(c: char) -> bool {
    let bidi = ['\u{61c}', '\u{200e}', '\u{200f}'].contains(&c)
        || ('\u{202a}'..='\u{202e}').contains(&c)
        || ('\u{2066}'..='\u{2069}').contains(&c);
    (c as u32) < 0x20 || (0x7f..0xa0).contains(&(c as u32)) || bidi
}

/// A log with the name in every place that has one.
fn log() -> Json {
    let metric = |name: &str, options: Json| json!({"name": name, "options": options});
    let figure = |name: &str, value: f64| json!({"name": name, "value": value, "params": {}});
    let sample = |id: String, group: &str, value: &str| {
        json!({
            "id": id, "epoch": 1, "input": HOSTILE, "target": HOSTILE, "messages": [],
            "metadata": {(HOSTILE): group, "passage": 1},
            "scores": {(HOSTILE): {"value": value, "answer": HOSTILE, "explanation": HOSTILE}},
        })
    };
    let inner = json!({"type": "metric", "name": "mean", "params": {}});
    json!({
        "version": 2, "status": "success",
        "eval": {
            "created": HOSTILE, "task": HOSTILE, "model": HOSTILE, "dataset": {}, "config": {},
            "scorers": [{"name": HOSTILE, "metrics": [
                metric("inspect_ai/grouped", json!({"metric": inner, "group_key": HOSTILE})),
                metric("inspect_ai/mean", json!({})),
                metric("inspect_ai/stderr", json!({"cluster": format!("{HOSTILE} that is not there")})),
                metric(&format!("their/{HOSTILE}"), json!({})),
            ]}],
        },
        "plan": {"name": "plan", "steps": [], "config": {}},
        "results": {"total_samples": 2, "completed_samples": 2, "scores": [{
            "name": HOSTILE, "scorer": HOSTILE, "params": {},
            "metrics": {(HOSTILE): figure(HOSTILE, 0.5), "mean": figure("mean", 0.25)},
        }]},
        "stats": {},
        "samples": [sample(format!("{HOSTILE}1"), HOSTILE, "C"), sample("q2".to_owned(), "plain", "I")],
    })
}

/// A folder of hostile files; their names are hostile too.
fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
    write(&format!("{HOSTILE}.json"), &log().to_string());
    write("log.json", &log().to_string());
    write(&format!("{HOSTILE}.csv"), &format!("id,score,{HOSTILE}\nq1,1,{HOSTILE}\nq2,0,plain\n"));
    write("bad.csv", &format!("id,score\nq1,{HOSTILE}\n{HOSTILE},0\n{HOSTILE},1\n"));
    write("twice.csv", &format!("id,score\n{HOSTILE},0\n{HOSTILE},1\n"));
    write("cut.json", &log().to_string()[..700]);
    write("fake.eval", "no log");
    let quoted = json!(HOSTILE).to_string().replace('\u{9b}', "\\u009b");
    let answers = format!("{{\"id\": {quoted}, \"output\": {quoted}}}\n");
    write("answers.jsonl", &answers);
    write(
        "questions.jsonl",
        &format!(
            "{{\"id\": {quoted}, \"input\": {quoted}, \"target\": {quoted}}}\n{{\"id\": \"q2\", \"input\": {quoted}, \"target\": \"x\"}}\n"
        ),
    );
    write(
        "quiz.toml",
        &format!("name = {quoted}\ndataset = {{ path = \"questions.jsonl\" }}\nscorer = \"includes()\"\n"),
    );
    write(
        &format!("{HOSTILE}.toml"),
        &format!("name = 'a'\ndataset = {{ path = {quoted} }}\nscorer = {quoted}\nsolvr = 5\n{quoted} = 1\n"),
    );
    write("raw.toml", &format!("name = 'a{HOSTILE}'\nscorer = 'b'\n"));
    folder
}

fn command(folder: &Path, args: &[&str]) -> Command {
    let mut command = errorbar(folder, args);
    // A pager that passes everything on, as `less -R` does with escape sequences.
    command.env("PAGER", "sed -e n");
    command.env("ERRORBAR_LOG_DIR", folder.join("runs")).env("ERRORBAR_CACHE_DIR", folder.join(HOSTILE));
    command
}

#[test]
fn nothing_that_a_file_holds_reaches_the_terminal_raw() {
    let folder = folder();
    let (csv, json, toml) = (format!("{HOSTILE}.csv"), format!("{HOSTILE}.json"), format!("{HOSTILE}.toml"));
    let grouped = format!("grouped(mean(), {:?})", "KEY").replace("\"KEY\"", &json!(HOSTILE).to_string());
    let missing = format!("{HOSTILE} is missing.eval");
    let runs: Vec<Vec<&str>> = vec![
        vec!["score", &csv],
        vec!["score", &csv, "-m", &grouped],
        vec!["score", &csv, "-m", &grouped, "-f", "csv"],
        vec!["score", &csv, "-m", &grouped, "-f", "json"],
        vec!["score", &csv, "-m", &grouped, "-f", "markdown"],
        vec!["score", &csv, "-m", "stderr(cluster='no')"],
        vec!["score", &csv, "-m", HOSTILE],
        vec!["score", &csv, "-r", HOSTILE],
        vec!["score", &csv, "--score-column", HOSTILE],
        vec!["score", &csv, "--score-column", "no"],
        vec!["score", "bad.csv"],
        vec!["score", "twice.csv"],
        vec!["score", "log.json"],
        vec!["score", &json],
        vec!["score", &json, "-f", "csv"],
        vec!["score", &json, "-f", "json"],
        vec!["score", &json, "-f", "markdown"],
        vec!["score", &json, "--scorer", "no"],
        vec!["score", &json, "-m", "mean", "-o", &csv],
        vec!["score", &missing],
        vec!["score", "cut.json", &missing],
        vec!["verify", "log.json"],
        vec!["verify", &json, "fake.eval"],
        vec!["log", "list", "log.json"],
        vec!["log", "list", "."],
        vec!["log", "list", ".", "-f", "csv"],
        vec!["log", "list", ".", "-f", "json"],
        vec!["log", "list", ".", "-f", "markdown"],
        vec!["log", "list", HOSTILE],
        vec!["log", "dump", "log.json"],
        vec!["log", "dump", "log.json", "--raw"],
        vec!["log", "dump", "log.json", "--samples"],
        vec!["log", "dump", "log.json", "--sample", "no"],
        vec!["log", "dump", &json, "--sample", HOSTILE],
        vec!["log", "show", "log.json"],
        vec!["log", "show", "log.json", "--no-pager", "--full", "--messages"],
        vec!["log", "show", &json, "-f", "markdown"],
        vec!["log", "show", &json, "-f", "json"],
        vec!["log", "show", &json, "--scorer", "no"],
        vec!["log", "show", &json, "--where", "passage=2"],
        vec!["log", "show", &json, "--where", "no=2"],
        vec!["log", "show", &json, "--reason", "no"],
        vec!["log", "export", &json],
        vec!["log", "export", &json, "--to", "jsonl"],
        vec!["log", "export", &json, "--scorer", "no"],
        vec!["log", "convert", &json, "-o", &csv],
        vec![
            "log",
            "edit-score",
            &json,
            "--sample",
            "no",
            "--scorer",
            "no",
            "--value",
            "C",
            "--author",
            "a",
            "--reason",
            "r",
        ],
        vec!["eval", "quiz.toml", "--model", "replay/answers.jsonl"],
        vec!["eval", "quiz.toml", "--model", "replay/answers.jsonl", "-f", "csv"],
        vec!["eval", "quiz.toml", "--model", "replay/answers.jsonl", "--show"],
        vec!["eval", "quiz.toml", "--model", "replay/answers.jsonl", "--model", "mock/x", "-f", "markdown"],
        vec!["eval", "quiz.toml", "--model", HOSTILE],
        vec!["eval", &toml],
        vec!["eval", "raw.toml"],
        vec!["eval", HOSTILE],
        vec!["eval", "--resume", &missing],
        vec!["cache", "path"],
        vec!["cache", "list"],
        vec!["cache", "clear", "--all"],
        // What clap itself writes.
        vec!["score", &csv, "--format", HOSTILE],
        vec!["score", &csv, "--seed", HOSTILE],
        vec![HOSTILE],
        vec!["cache", "path", "--help"],
    ];
    let mut raw = Vec::new();
    for args in &runs {
        let what = format!("{args:?}");
        // All problems in one report: together they show where they come from.
        raw.extend(
            problem(&on_terminal(command(folder.path(), args))).map(|problem| format!("{what}: {problem}")),
        );
    }
    assert!(raw.is_empty(), "{} of {} commands:\n{}", raw.len(), runs.len(), raw.join("\n"));
}

#[test]
fn progress_and_failures_of_samples_are_clean() {
    let folder = folder();
    // The second sample has no answer recorded, which is reported above the line of progress.
    let args = ["eval", "quiz.toml", "--model", "replay/answers.jsonl"];
    let written = on_terminal(command(folder.path(), &args));
    assert_eq!(problem(&written), None);
    assert!(written.contains("2 samples") && written.contains("\r\u{1b}[2K"), "{written:?}");
}

/// What a terminal of this width shows, whenever something begins a line anew: lines that are too long are continued in the
/// next row.
fn screens(written: &str, columns: usize) -> BTreeSet<Vec<String>> {
    let (mut rows, mut row, mut column, mut seen) = (vec![Vec::new()], 0, 0, BTreeSet::new());
    let texts =
        |rows: &[Vec<char>]| rows.iter().map(|row| row.iter().collect::<String>()).collect::<Vec<_>>();
    let written = without_styles(written);
    let mut rest = written.as_str();
    while let Some(c) = rest.chars().next() {
        let mut length = c.len_utf8();
        match c {
            '\u{1b}' => {
                let end = rest.find(|c: char| c.is_ascii_alphabetic()).unwrap();
                let count: usize = rest[2..end].parse().unwrap_or(1);
                match rest.as_bytes()[end] {
                    b'A' => row -= count.min(row),
                    b'B' => row += count,
                    _ => rows[row].clear(),
                }
                length = end + 1;
            }
            '\r' => {
                seen.insert(texts(&rows));
                column = 0;
            }
            '\n' => (row, column) = (row + 1, 0),
            c => {
                if column == columns {
                    (row, column) = (row + 1, 0);
                }
                rows.resize(rows.len().max(row + 1), Vec::new());
                let length = rows[row].len().max(column + 1);
                rows[row].resize(length, ' ');
                rows[row][column] = c;
                column += 1;
            }
        }
        rows.resize(rows.len().max(row + 1), Vec::new());
        rest = &rest[length..];
    }
    seen.insert(texts(&rows));
    seen
}

/// The text without colours.
fn without_styles(text: &str) -> String {
    let mut parts = text.split("\u{1b}[");
    let mut plain = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        match part.find(|c: char| c.is_ascii_alphabetic()) {
            Some(end) if part[end..].starts_with('m') => plain += &part[end + 1..],
            _ => plain += &format!("\u{1b}[{part}"),
        }
    }
    plain
}

#[test]
fn several_models_have_a_line_each() {
    let folder = tempfile::tempdir().unwrap();
    let line = |n: usize| format!("{{\"id\": {n}, \"input\": \"{n}?\", \"target\": \"yes\"}}\n");
    fs::write(folder.path().join("d.jsonl"), (0..400).map(line).collect::<String>()).unwrap();
    for name in ["a", "b"] {
        fs::write(folder.path().join(format!("{name}.toml")), "dataset = 'd.jsonl'\nscorer = 'match()'\n")
            .unwrap();
    }
    let args = ["eval", ".", "--model", "mock/yes", "--model", "mock/no", "--max-samples", "1"];
    let written = on_terminal(command(folder.path(), &args));
    let screens = screens(&written, 120);
    let shows = |row: &String, model: &str| row.trim_start().starts_with(model) && row.contains("/400");
    let together = |rows: &Vec<String>| {
        let at = rows.iter().position(|row| shows(row, "mock/yes"));
        at.is_some_and(|at| rows.get(at + 1).is_some_and(|row| shows(row, "mock/no")))
    };
    assert!(screens.iter().any(together), "{screens:?}");
    let has_figure =
        |rows: &Vec<String>| rows.iter().any(|row| shows(row, "mock/yes") && row.contains("accuracy 1.000"));
    assert!(screens.iter().any(has_figure), "{screens:?}");
    assert!(screens.iter().any(|rows| rows.iter().any(|row| row.starts_with("[2/2] b"))), "{screens:?}");
    // Nobody can know the time left before the first sample is done.
    assert!(!written.contains("0.0/s"), "{written:?}");
    // At the end only notes and results are left.
    let last = screens.iter().max_by_key(|rows| rows.len()).unwrap();
    assert!(!last.iter().any(|row| shows(row, "mock/yes")), "{last:?}");
}

#[test]
fn a_dumb_terminal_gets_lines() {
    let folder = tempfile::tempdir().unwrap();
    let line = |n: usize| format!("{{\"id\": {n}, \"input\": \"{n}?\", \"target\": \"yes\"}}\n");
    fs::write(folder.path().join("d.jsonl"), (0..500).map(line).collect::<String>()).unwrap();
    let task = "dataset = 'd.jsonl'\nscorer = 'match()'\nmodel = 'mock/yes'\n";
    fs::write(folder.path().join("t.toml"), task).unwrap();
    let args = ["eval", "t.toml", "--max-samples", "1", "--progress-every", "0.001"];
    let written = on_terminal_like("dumb", 120, command(folder.path(), &args)).0;
    assert!(written.contains("/500 · "), "{written:?}");
    assert!(!written.contains("\r") && !written.contains("\u{1b}[2K"), "{written:?}");
    assert!(on_terminal(command(folder.path(), &args)).contains("\r\u{1b}[2K"));
}

#[test]
fn the_colours_of_the_program_survive() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("t.csv"), "id,score\nq1,1\nq2,0\n").unwrap();
    fs::write(folder.path().join("t.toml"), "name = 'a'\nsolvr = 5\n").unwrap();
    fs::write(folder.path().join("log.json"), log().to_string().replace("pwned", "")).unwrap();
    let on = |args: &[&str]| on_terminal(errorbar(folder.path(), args));
    let table = on(&["score", "t.csv"]);
    assert!(table.contains("\u{1b}[1mt.csv\u{1b}[0m") && table.contains("\u{1b}[36m"), "{table:?}");
    assert!(on(&["list", "metrics"]).contains("\u{1b}[1mMetrics\u{1b}[0m"));
    assert!(on(&["log", "list", "log.json"]).contains("\u{1b}[1mcreated"));
    let message = on(&["score", "missing.csv"]);
    assert!(message.contains("\u{1b}[1m\u{1b}[31merror\u{1b}[0m: missing.csv"), "{message:?}");
    assert!(on(&["score", "t.csv", "-m", "acuracy"]).contains("\u{1b}[31m"), "marks under the mistake");
    for args in [&["eval", "t.toml"][..], &["--help"], &["score"], &["score", "t.csv", "--format", "x"]] {
        assert!(on(args).contains("\u{1b}["), "{args:?}: {:?}", on(args));
    }
    for args in [&["score", "t.csv"][..], &["--help"], &["eval", "t.toml"]] {
        let mut command = errorbar(folder.path(), args);
        command.env("NO_COLOR", "1");
        let written = on_terminal(command);
        assert!(!written.contains("\u{1b}[1m") && !written.contains("\u{1b}[31m"), "{written:?}");
    }
}

/// What the command writes to a pipe.
fn through_a_pipe(folder: &Path, args: &[&str]) -> String {
    let output = command(folder, args).output().unwrap();
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn through_a_pipe_and_in_a_file_data_is_as_it_is() {
    let folder = folder();
    let (csv, json) = (format!("{HOSTILE}.csv"), format!("{HOSTILE}.json"));
    let key = json!(HOSTILE).to_string();
    let grouped = format!("grouped(mean(), {key})");
    let scored = through_a_pipe(folder.path(), &["score", &csv, "-m", &grouped, "-f", "csv"]);
    let mut reader = csv::Reader::from_reader(scored.as_bytes());
    let titles = reader.headers().unwrap().clone();
    let column = |title: &str| titles.iter().position(|found| found == title).unwrap();
    let records: Vec<csv::StringRecord> = reader.records().map(Result::unwrap).collect();
    let of = |record: &csv::StringRecord, title: &str| record[column(title)].to_owned();
    assert_eq!((of(&records[0], "log"), of(&records[0], "group_key")), (csv.clone(), HOSTILE.to_owned()));
    let groups: Vec<String> = records.iter().map(|record| of(record, "group")).collect();
    assert_eq!(groups, [HOSTILE, "plain", ""]);
    for args in [
        vec!["score", &json, "-f", "csv"],
        vec!["log", "list", &json, "-f", "csv"],
        vec!["log", "export", &json],
        vec!["cache", "path"],
    ] {
        let written = through_a_pipe(folder.path(), &args);
        assert!(written.contains(HOSTILE), "{args:?}: {written:?}");
    }
    // Markdown is for people: brackets are escaped, and what a terminal would obey is replaced.
    for args in [
        vec!["score", &json, "-f", "markdown"],
        vec!["log", "list", &json, "-f", "markdown"],
        vec!["log", "show", &json, "-f", "markdown"],
    ] {
        let written = through_a_pipe(folder.path(), &args);
        let escaped = errorbar_report::escape_markdown(HOSTILE);
        assert!(!written.contains(|c| errorbar_report::is_unsafe(c) && c != '\n'), "{args:?}: {written:?}");
        assert!(written.contains(&escaped), "{args:?}: {written:?}");
    }
    let parsed: Json =
        serde_json::from_str(&through_a_pipe(folder.path(), &["score", &json, "-f", "json"])).unwrap();
    assert_eq!(parsed[0]["task"], HOSTILE);
    let lines = through_a_pipe(folder.path(), &["log", "export", &json, "--to", "jsonl"]);
    let line: Json = serde_json::from_str(lines.lines().next().unwrap()).unwrap();
    assert_eq!(line["task"], HOSTILE);

    let exported = through_a_pipe(folder.path(), &["log", "export", &json]);
    // A file that is named is written as it is even by a command on a terminal.
    on_terminal(command(folder.path(), &["log", "export", &json, "-o", "out.csv"]));
    assert_eq!(fs::read_to_string(folder.path().join("out.csv")).unwrap(), exported);
}

#[test]
fn groups_that_differ_in_control_characters_stay_apart_in_data() {
    let folder = tempfile::tempdir().unwrap();
    let groups = ["A", "\u{1b}[31mA", "\u{1b}]0;t\u{7}A", "A\u{1b}[0m", "\u{9b}31mA", "\u{202e}A"];
    let rows: String = groups.iter().enumerate().map(|(at, g)| format!("q{at},1,{g}\n")).collect();
    fs::write(folder.path().join("t.csv"), format!("id,score,g\n{rows}")).unwrap();
    for format in ["csv", "markdown", "json"] {
        for color in ["auto", "always", "never"] {
            let args =
                ["score", "t.csv", "-m", "grouped(mean(), 'g', all=false)", "-f", format, "--color", color];
            let written = through_a_pipe(folder.path(), &args);
            if format == "json" {
                let json: Json = serde_json::from_str(&written).unwrap();
                let found = json[0]["results"]["scores"][0]["metrics"].as_object().unwrap();
                assert_eq!(found.keys().collect::<Vec<_>>(), groups);
                continue;
            }
            let lines: BTreeSet<&str> = written.lines().filter(|line| line.contains('A')).collect();
            assert_eq!(lines.len(), groups.len(), "{written:?}");
        }
    }
}

/// The test runs itself as a program with a metric that panics, because there is none in ours.
#[test]
fn messages_of_panics_are_clean() {
    const IS_CHILD: &str = "ERRORBAR_TEST_PANIC";
    if std::env::var_os(IS_CHILD).is_some() {
        let metric = errorbar::metric_fn("bad", |_| -> errorbar::Result<f64> { panic!("{HOSTILE}") });
        errorbar::App::new().metric(metric, "Panics.").run(["errorbar", "score", "t.csv", "-m", "bad"]);
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("t.csv"), "id,score\nq1,1\n").unwrap();
    let mut command = Command::new(std::env::current_exe().unwrap());
    let name = "terminal::messages_of_panics_are_clean";
    command.args(["--exact", name, "--nocapture", "--color", "never"]);
    command.env(IS_CHILD, "1").current_dir(folder.path());
    let written = on_terminal(command);
    assert_eq!(problem(&written), None);
    assert!(written.contains("panicked at") && written.contains("the metric panicked"), "{written:?}");
}
