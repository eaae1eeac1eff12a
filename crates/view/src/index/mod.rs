//! The page with the list of logs. It stands without script; `assets/index.js` sorts, filters, chooses and follows changes.

mod row;

use std::path::Path;
use std::sync::LazyLock;
use std::time::Duration;

use errorbar_report::svg::{
    IntervalSize, IntervalStyle, Scale, Series, axis, brand, breakable, defs, grid, interval, percent,
    visible,
};
use errorbar_report::{assets, grouped, most_frequent};
use maud::{Markup, PreEscaped, html};
use row::{value, why_no_error};

use crate::catalog::{FigureTitle, ListedLog, LogEntry, Progress, RunState, Snapshot};

/// The script of the list.
const SCRIPT: &str = include_str!("../../assets/index.js");

/// The stylesheet: that of reports, and what only the list has.
static STYLE: LazyLock<String> =
    LazyLock::new(|| format!("{}{}", assets::style(), include_str!("../../assets/index.css")));

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
    let logs: usize = groups.iter().map(|group| group.logs.len()).sum();
    let running = snapshot.logs.iter().filter(|entry| entry.is_running()).count();
    let unreadable = snapshot.logs.iter().filter(|entry| entry.summary.is_err()).count();
    let folder = folder.display().to_string();
    let main = html! {
        main.wrap id="main" data-list=(snapshot.list_version) {
            div.top { h1 { "Logs" } p { (summary_line(logs, groups.len(), running, unreadable)) } }
            div id="running" { (running_sections(snapshot)) }
            @for problem in &snapshot.problems { p.note { (problem) } }
            @if snapshot.logs.is_empty() {
                div.empty id="nologs" { "No logs in " (folder) " yet." br; code { (command) } }
            } @else if logs + unreadable > 0 {
                // A run in progress alone is no list that could be searched.
                (list(snapshot, &groups))
            }
        }
    };
    document(&html! { span.crumbs dir="auto" { (folder) } }, &main, true)
}

/// The runs in progress.
pub(crate) fn running(snapshot: &Snapshot) -> String {
    visible(&running_sections(snapshot).0).into_owned()
}

fn running_sections(snapshot: &Snapshot) -> Markup {
    html! {
        @for entry in snapshot.logs.iter().filter(|entry| entry.is_running()) {
            @if let Ok(summary) = &entry.summary { (section(entry, summary)) }
        }
    }
}

/// A page that says what is wrong, and its policy.
pub(crate) fn problem_page(text: &str) -> (String, String) {
    let policy = format!(
        "default-src 'none'; style-src {}; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
        assets::policy_source(&STYLE)
    );
    let main = html! {
        main.wrap id="main" { div.top { h1 { "Not shown" } } p.any dir="auto" { (text) } }
    };
    (policy, document(&Markup::default(), &main, false))
}

fn document(crumbs: &Markup, main: &Markup, has_script: bool) -> String {
    let body = html! {
        svg.vh width="0" height="0" aria-hidden="true" focusable="false" { (defs()) }
        a.skip href="#main" { "Skip to the logs" }
        header.bar {
            div.in {
                a.brand href=(if has_script { "./" } else { "" }) { (brand()) "errorbar" }
                (crumbs)
                span.push {}
                span.note id="lost" role="status" {}
                @if has_script { button.btn type="button" id="theme" hidden {} }
            }
        }
        (main)
    };
    let page = html! {
        (PreEscaped("<!doctype html>"))
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width,initial-scale=1";
                meta name="referrer" content="no-referrer";
                title { "Logs: errorbar" }
                style { (PreEscaped(&*STYLE)) }
            }
            body {
                // What is invisible in names is shown here, so that no place can forget it.
                (PreEscaped(visible(&body.0)))
                @if has_script { script type="module" { (PreEscaped(SCRIPT)) } }
            }
        }
    };
    page.into_string() + "\n"
}

/// `13 logs of 5 tasks, 1 running, 1 unreadable.`, and what the drawings mean.
fn summary_line(logs: usize, tasks: usize, running: usize, unreadable: usize) -> String {
    let listed = (logs > 0).then(|| format!("{} of {}", counted(logs, "log"), counted(tasks, "task")));
    let running = (running > 0).then(|| format!("{} running", grouped(running as u64)));
    let unreadable = (unreadable > 0).then(|| format!("{} unreadable", grouped(unreadable as u64)));
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

fn list(snapshot: &Snapshot, groups: &[TaskGroup<'_>]) -> Markup {
    let unreadable: Vec<(&LogEntry, &String)> =
        snapshot.logs.iter().filter_map(|entry| Some((&**entry, entry.summary.as_ref().err()?))).collect();
    html! {
        form method="get" action="compare" id="compare" {
            div.tools.noprint role="search" id="tools" hidden {
                input type="search" id="q" placeholder="Search task, model, status" aria-label="Search logs"
                    autocomplete="off" spellcheck="false";
                select id="fs" aria-label="Status" {
                    option value="" { "any status" }
                    @for state in RunState::ALL.iter().filter(|state| **state != RunState::Running) {
                        option { (state.name()) }
                    }
                    option { "unreadable" }
                }
                span.count id="count" role="status" {}
            }
            table.lt id="logs" role="table" aria-label="Logs" {
                thead role="rowgroup" {
                    tr role="row" {
                        th role="columnheader" scope="col" class="ck" { span.vh { "compare" } }
                        th role="columnheader" scope="col" class="mod" aria-sort="none" data-by="name" { "model" }
                        th role="columnheader" scope="col" class="va num" aria-sort="none" data-by="v" { "estimate ± error" }
                        th role="columnheader" scope="col" class="pl" { span.vh { "drawn" } }
                        th role="columnheader" scope="col" class="n num" { "scored" }
                        th role="columnheader" scope="col" class="st" { "status" }
                        th role="columnheader" scope="col" class="tk num" aria-sort="none" data-by="tokens" { "tokens" }
                        th role="columnheader" scope="col" class="co num" aria-sort="none" data-by="cost" { "cost" }
                        th role="columnheader" scope="col" class="da num" aria-sort="descending" data-by="date" { "started" }
                    }
                }
                @for group in groups { (task_rows(group)) }
                @if !unreadable.is_empty() {
                    tbody role="rowgroup" {
                        tr.grp role="row" { th scope="rowgroup" role="rowheader" { "Cannot be read" } }
                        @for (entry, reason) in unreadable { (row::unreadable(entry, reason)) }
                    }
                }
            }
            div.empty id="none" hidden {
                "No log fits. " button.btn type="button" id="clear" { "Clear the filters" }
            }
            div.tray id="tray" role="region" aria-label="Comparison" {
                span id="chosen" { "Choose logs of one task." }
                span.push {}
                button.btn type="reset" id="unsel" { "Clear" }
                button.btn.go type="submit" id="go" { "Compare" }
            }
        }
    }
}

fn task_rows(group: &TaskGroup<'_>) -> Markup {
    let figures = || group.logs.iter().filter_map(|(_, summary)| summary.figure.as_ref());
    let titles: Vec<&FigureTitle> = figures().map(|figure| &figure.title).collect();
    let main = most_frequent(&titles);
    // One scale for the figures of one kind; the others are drawn on it as well, and named in their rows.
    let of_main = figures().filter(|figure| Some(&figure.title) == main).map(|figure| &figure.estimate);
    let scale = Scale::of(of_main);
    let decimals = row::widest(group.logs.iter().map(|(_, summary)| *summary));
    let context = row::GroupContext { scale: &scale, main, decimals };
    html! {
        tbody role="rowgroup" {
            tr.grp role="row" {
                th scope="rowgroup" role="rowheader" {
                    span dir="auto" { (breakable(&shortened(group.task))) }
                    small {
                        @if let Some(title) = &main {
                            @let (before, scorer, after) = title.parts();
                            (shortened(&before)) code { (shortened(scorer)) } (shortened(&after)) ", "
                        }
                        (counted(group.logs.len(), "log"))
                    }
                }
                th.pl role="presentation" { (axis(&scale, None)) }
            }
            @for (entry, summary) in &group.logs { (row::row(entry, summary, &context)) }
        }
    }
}

fn counted(count: usize, noun: &str) -> String {
    format!("{} {noun}{}", grouped(count as u64), if count == 1 { "" } else { "s" })
}

/// A name or a message that may have any length.
fn shortened(text: &str) -> String {
    const LONGEST: usize = 240;
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}

// A run in progress.

/// The section of a run, with its estimate over the samples that finished first.
pub(super) fn section(entry: &LogEntry, summary: &ListedLog) -> Markup {
    let Some(progress) = &summary.progress else { return Markup::default() };
    let id = entry.id;
    let figure = summary.figure.as_ref();
    let estimate = figure.map(|figure| &figure.estimate);
    let scale = Scale::of(estimate);
    let style = IntervalStyle::new(Series { is_partial: true, ..Series::NEUTRAL }, IntervalSize::Table);
    let mut notes = Vec::new();
    if let Some(figure) = figure {
        notes.push(figure.title.to_string());
        notes.push("of the samples that finished first, which may be easier than the rest".to_owned());
        notes.extend(why_no_error(figure));
    }
    notes.extend(summary.no_figure.clone());
    notes.extend(progress.problem.iter().map(|problem| shortened(problem)));
    html! {
        section.live data-id=(id) aria-labelledby={ "h-live-" (id) } {
            h2 id={ "h-live-" (id) } {
                span.pulse aria-hidden="true" {}
                a href={ "logs/" (id) "/" } dir="auto" title=(entry.name) { (breakable(&shortened(&summary.log.task))) }
                " " span.mono dir="auto" { (breakable(&shortened(&summary.log.model))) }
                span.note { "running" }
            }
            p.now {
                @if estimate.is_some() { (value(estimate, 0)) " " span.note { "so far" } }
                @else { span.note { "no estimate yet" } }
            }
            div.ivbox {
                (axis(&scale, None))
                svg.iv width="100%" aria-hidden="true" focusable="false" {
                    (grid(&scale, None))
                    @if let Some(estimate) = estimate { (interval(&scale, estimate, &style)) }
                }
            }
            (progress_bar(entry, summary, progress))
            p.note dir="auto" { (notes.join("; ")) }
        }
    }
}

fn progress_bar(entry: &LogEntry, summary: &ListedLog, progress: &Progress) -> Markup {
    let Progress { done, total, errored, by_epoch, .. } = progress;
    let samples = total.map(|total| total / summary.log.epochs.max(1));
    let epoch = |(epoch, count): &(u32, u64)| match samples {
        Some(samples) if samples == *count => format!("{epoch} done"),
        Some(samples) => format!("{epoch}: {} of {}", grouped(*count), grouped(samples)),
        None => format!("{epoch}: {}", grouped(*count)),
    };
    html! {
        div.prog {
            @if let Some(total) = total.filter(|total| *total > 0) {
                svg role="progressbar" aria-valuemin="0" aria-valuemax=(total) aria-valuenow=(done) aria-label="answers" {
                    rect.empty width="100%" height="6" {}
                    rect.full width=(percent((100.0 * *done as f64 / total as f64).min(100.0))) height="6" {}
                    @for cut in 1..summary.log.epochs.min(20) {
                        @let at = percent(100.0 * cut as f64 / summary.log.epochs as f64);
                        line.cut x1=(at) x2=(at) y1="0" y2="6" {}
                    }
                }
            }
            p {
                span { (grouped(*done)) @if let Some(total) = total { " of " (grouped(*total)) } " answers" }
                @if summary.log.epochs > 1 && by_epoch.len() <= 8 {
                    span { "epoch " (by_epoch.iter().map(epoch).collect::<Vec<_>>().join(", ")) }
                }
                @if let Some(left) = entry.time_left() { span { "about " (duration(left)) " left" } }
                span { "started " (row::time(&summary.log.created)) }
                span.push { (grouped(*errored)) " errored" }
            }
        }
    }
}

/// `19 s`, `12 min`, `3 h 20 min`
fn duration(time: Duration) -> String {
    let seconds = time.as_secs();
    match seconds {
        0..100 => format!("{seconds} s"),
        100..6_000 => format!("{} min", (seconds + 30) / 60),
        _ => format!("{} h {} min", seconds / 3600, seconds % 3600 / 60),
    }
}
