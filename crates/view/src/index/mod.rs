//! The page with the list of logs. It stands without script; `assets/index.js` sorts, filters, chooses and follows changes.

mod figures;
mod row;
mod run;

use std::fmt::Write as _;
use std::path::Path;
use std::sync::LazyLock;

use errorbar_report::svg::{Scale, axis, breakable, defs, escape};
use errorbar_report::{assets, stylesheet};

use crate::catalog::{Figure, FigureTitle, ListedLog, LogEntry, RunState, Snapshot};

/// The script of the list.
const SCRIPT: &str = include_str!("../../assets/index.js");

/// The stylesheet: that of reports, and what only the list has.
static STYLE: LazyLock<String> =
    LazyLock::new(|| format!("{}{}", stylesheet::style(), include_str!("../../assets/index.css")));

static POLICY: LazyLock<String> = LazyLock::new(|| {
    format!(
        "default-src 'none'; style-src {}; script-src {}; connect-src 'self'; form-action 'self'; base-uri 'none'; \
         frame-ancestors 'none'",
        assets::policy_source(&STYLE),
        assets::policy_source(SCRIPT)
    )
});

/// The content security policy of the list.
pub(crate) fn policy() -> &'static str {
    &POLICY
}

/// A log that could be read, with what it holds.
type Shown<'s> = (&'s LogEntry, &'s ListedLog);

/// The logs of a task.
struct TaskGroup<'s> {
    task: &'s str,
    logs: Vec<Shown<'s>>,
}

/// The list as a page.
pub(crate) fn page(snapshot: &Snapshot, folder: &Path, command: &str) -> String {
    let readable = |entry: &&'_ _| -> bool {
        let entry: &std::sync::Arc<LogEntry> = entry;
        entry.summary.is_ok() && !entry.is_running()
    };
    let shown: Vec<Shown<'_>> = snapshot
        .logs
        .iter()
        .filter(readable)
        .filter_map(|entry| Some((&**entry, entry.summary.as_ref().ok()?)))
        .collect();
    let groups = by_task(shown);
    let counts = LogCounts {
        logs: groups.iter().map(|group| group.logs.len()).sum(),
        tasks: groups.len(),
        running: snapshot.logs.iter().filter(|entry| entry.is_running()).count(),
        unreadable: snapshot.logs.iter().filter(|entry| entry.summary.is_err()).count(),
    };
    let mut body = String::new();
    let _ = write!(
        body,
        "<div class=\"top\"><h1>Logs</h1><p>{}</p></div>\n<div id=\"running\">{}</div>\n",
        summary_line(&counts),
        running(snapshot)
    );
    for problem in &snapshot.problems {
        let _ = write!(body, "<p class=\"note\">{}</p>", escape(problem));
    }
    if snapshot.logs.is_empty() {
        let _ = write!(
            body,
            "<div class=\"empty\" id=\"nologs\">No logs in {} yet.<br><code>{}</code></div>",
            escape(&folder.display().to_string()),
            escape(command)
        );
    } else if counts.logs + counts.unreadable > 0 {
        // A run in progress alone is no list that could be searched.
        push_list(&mut body, snapshot, &groups);
    }
    let crumbs =
        format!("<span class=\"crumbs\" dir=\"auto\">{}</span>", escape(&folder.display().to_string()));
    let lists = snapshot.list_version;
    document(&crumbs, &format!("<main class=\"wrap\" id=\"main\" data-list=\"{lists}\">{body}</main>"), true)
}

/// The runs in progress.
pub(crate) fn running(snapshot: &Snapshot) -> String {
    let running = snapshot.logs.iter().filter(|entry| entry.is_running());
    running.filter_map(|entry| Some(run::section(entry, entry.summary.as_ref().ok()?))).collect()
}

/// A page that says what is wrong, and its policy.
pub(crate) fn problem_page(text: &str) -> (String, String) {
    let policy = format!(
        "default-src 'none'; style-src {}; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
        assets::policy_source(&STYLE)
    );
    let main = format!(
        "<main class=\"wrap\" id=\"main\"><div class=\"top\"><h1>Not shown</h1></div><p class=\"any\" dir=\"auto\">{}</p></main>",
        escape(text)
    );
    (policy, document("", &main, false))
}

fn document(crumbs: &str, main: &str, has_script: bool) -> String {
    let style = &*STYLE;
    let script =
        if has_script { format!("<script type=\"module\">{SCRIPT}</script>\n") } else { String::new() };
    let theme =
        if has_script { "<button class=\"btn\" type=\"button\" id=\"theme\" hidden></button>" } else { "" };
    let defs = defs();
    let home = if has_script { "./" } else { "" };
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n\
         <meta name=\"referrer\" content=\"no-referrer\">\n<title>Logs: errorbar</title>\n<style>{style}</style>\n</head>\n<body>\n\
         <svg class=\"vh\" width=\"0\" height=\"0\" aria-hidden=\"true\" focusable=\"false\">{defs}</svg>\n\
         <a class=\"skip\" href=\"#main\">Skip to the logs</a>\n\
         <header class=\"bar\"><div class=\"in\"><a class=\"brand\" href=\"{home}\"><svg viewBox=\"0 0 30 14\" aria-hidden=\"true\" \
         focusable=\"false\"><path d=\"M1 2V12M29 2V12M1 7H29\" fill=\"none\" stroke=\"currentColor\" stroke-width=\"1.75\"/>\
         <circle cx=\"15\" cy=\"7\" r=\"4\" fill=\"currentColor\"/></svg>errorbar</a>{crumbs}<span class=\"push\"></span>\
         <span class=\"note\" id=\"lost\" role=\"status\"></span>{theme}</div></header>\n{main}\n{script}</body>\n</html>\n"
    )
}

/// How many logs a folder has.
struct LogCounts {
    logs: usize,
    tasks: usize,
    running: usize,
    unreadable: usize,
}

/// `13 logs of 5 tasks, 1 running, 1 unreadable.`, and what the drawings mean.
fn summary_line(counts: &LogCounts) -> String {
    let LogCounts { logs, tasks, running, unreadable } = counts;
    let listed = (*logs > 0).then(|| format!("{} of {}", counted(*logs, "log"), counted(*tasks, "task")));
    let running = (*running > 0).then(|| format!("{} running", grouped(*running as u64)));
    let unreadable = (*unreadable > 0).then(|| format!("{} unreadable", grouped(*unreadable as u64)));
    let counts: Vec<String> = [listed, running, unreadable].into_iter().flatten().collect();
    if counts.is_empty() {
        return String::new();
    }
    let counts = counts.join(", ");
    format!(
        "{counts}. A line is the interval, a box ± 1 standard error, a hollow mark an estimate whose error is not known or \
         not final."
    )
}

/// Logs by task, the newest first; the task of the newest comes first.
fn by_task(mut logs: Vec<Shown<'_>>) -> Vec<TaskGroup<'_>> {
    logs.sort_by_cached_key(|(entry, summary)| std::cmp::Reverse((summary.sort_time(), entry.name.clone())));
    let mut groups: Vec<TaskGroup<'_>> = Vec::new();
    for log in logs {
        let (_, summary) = log;
        match groups.iter_mut().find(|group| group.task == summary.log.task) {
            Some(group) => group.logs.push(log),
            None => groups.push(TaskGroup { task: &summary.log.task, logs: vec![log] }),
        }
    }
    groups
}

const COLUMNS: &str = "<thead role=\"rowgroup\"><tr role=\"row\">\
<th role=\"columnheader\" scope=\"col\" class=\"ck\"><span class=\"vh\">compare</span></th>\
<th role=\"columnheader\" scope=\"col\" class=\"mod\" aria-sort=\"none\" data-by=\"name\">model</th>\
<th role=\"columnheader\" scope=\"col\" class=\"va num\" aria-sort=\"none\" data-by=\"v\">estimate ± error</th>\
<th role=\"columnheader\" scope=\"col\" class=\"pl\"><span class=\"vh\">drawn</span></th>\
<th role=\"columnheader\" scope=\"col\" class=\"n num\">scored</th>\
<th role=\"columnheader\" scope=\"col\" class=\"st\">status</th>\
<th role=\"columnheader\" scope=\"col\" class=\"tk num\" aria-sort=\"none\" data-by=\"tokens\">tokens</th>\
<th role=\"columnheader\" scope=\"col\" class=\"co num\" aria-sort=\"none\" data-by=\"cost\">cost</th>\
<th role=\"columnheader\" scope=\"col\" class=\"da num\" aria-sort=\"descending\" data-by=\"date\">started</th></tr></thead>";

fn push_list(page: &mut String, snapshot: &Snapshot, groups: &[TaskGroup<'_>]) {
    let options: String = RunState::ALL
        .iter()
        .filter(|state| **state != RunState::Running)
        .map(|state| format!("<option>{}</option>", state.name()))
        .collect();
    let _ = write!(
        page,
        "<form method=\"get\" action=\"compare\" id=\"compare\">\n\
         <div class=\"tools noprint\" role=\"search\" id=\"tools\" hidden><input type=\"search\" id=\"q\" \
         placeholder=\"Search task, model, status\" aria-label=\"Search logs\" autocomplete=\"off\" spellcheck=\"false\">\
         <select id=\"fs\" aria-label=\"Status\"><option value=\"\">any status</option>{options}<option>unreadable</option></select>\
         <span class=\"count\" id=\"count\" role=\"status\"></span></div>\n\
         <table class=\"lt\" id=\"logs\" role=\"table\" aria-label=\"Logs\">{COLUMNS}"
    );
    groups.iter().for_each(|group| push_group(page, group));
    let unreadable: Vec<(&LogEntry, &String)> =
        snapshot.logs.iter().filter_map(|entry| Some((&**entry, entry.summary.as_ref().err()?))).collect();
    if !unreadable.is_empty() {
        page.push_str(
            "<tbody role=\"rowgroup\"><tr class=\"grp\" role=\"row\"><th scope=\"rowgroup\" role=\"rowheader\">Cannot be read</th></tr>",
        );
        unreadable.iter().for_each(|(entry, reason)| row::push_unreadable(page, entry, reason));
        page.push_str("</tbody>");
    }
    page.push_str(
        "</table>\n<div class=\"empty\" id=\"none\" hidden>No log fits. <button class=\"btn\" type=\"button\" id=\"clear\">Clear the \
         filters</button></div>\n\
         <div class=\"tray\" id=\"tray\" role=\"region\" aria-label=\"Comparison\"><span id=\"chosen\">Choose logs of one task.</span>\
         <span class=\"push\"></span><button class=\"btn\" type=\"reset\" id=\"unsel\">Clear</button>\
         <button class=\"btn go\" type=\"submit\" id=\"go\">Compare</button></div>\n</form>",
    );
}

fn push_group(page: &mut String, group: &TaskGroup<'_>) {
    let figures = || group.logs.iter().filter_map(|(_, summary)| summary.figure.as_ref());
    let main = most_common(figures().map(Figure::title));
    // One scale for the figures of one kind; the others are drawn on it as well, and named in their rows.
    let of_main = figures().filter(|figure| Some(figure.title()) == main).map(|figure| &figure.estimate);
    let scale = Scale::of(of_main);
    let about = match &main {
        Some(title) => format!("{}, ", title_html(title)),
        None => String::new(),
    };
    let _ = write!(
        page,
        "<tbody role=\"rowgroup\"><tr class=\"grp\" role=\"row\"><th scope=\"rowgroup\" role=\"rowheader\"><span dir=\"auto\">{}</span>\
         <small>{about}{}</small></th><th class=\"pl\" role=\"presentation\">{}</th></tr>",
        breakable(&shortened(group.task)),
        counted(group.logs.len(), "log"),
        axis(&scale, None)
    );
    let decimals = figures::widest(group.logs.iter().map(|(_, summary)| *summary));
    for (entry, summary) in &group.logs {
        row::push(page, entry, summary, &row::GroupContext { scale: &scale, main, decimals });
    }
    page.push_str("</tbody>");
}

/// A title of a figure with the scorer as code.
fn title_html(title: &FigureTitle<'_>) -> String {
    let (before, scorer, after) = title.parts();
    let [before, scorer, after] = [&before, scorer, &after].map(|text| escape(&shortened(text)));
    format!("{before}<code>{scorer}</code>{after}")
}

fn most_common<T: PartialEq>(items: impl Iterator<Item = T>) -> Option<T> {
    let mut counts: Vec<(T, usize)> = Vec::new();
    for item in items {
        match counts.iter_mut().find(|(known, _)| *known == item) {
            Some((_, count)) => *count += 1,
            None => counts.push((item, 1)),
        }
    }
    // The first of those that are as frequent.
    let best = counts.iter().map(|(_, count)| *count).max()?;
    counts.into_iter().find(|(_, count)| *count == best).map(|(item, _)| item)
}

fn counted(count: usize, noun: &str) -> String {
    format!("{} {noun}{}", grouped(count as u64), if count == 1 { "" } else { "s" })
}

/// `47,055`
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A name or a message that may have any length.
fn shortened(text: &str) -> String {
    const LONGEST: usize = 240;
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}
