//! The page with the list of logs. It stands without script; `assets/index.js` sorts, filters, chooses and follows changes.

use std::path::Path;
use std::sync::LazyLock;
use std::time::Duration;

use errorbar_core::{Estimate, IndexMap, Undefined};
use errorbar_log::eval::LogSummary;
use errorbar_report::html::{NumberColumn, counted, date_parts};
use errorbar_report::svg::{
    IntervalSize, IntervalStyle, Scale, Series, axis, brand, breakable, defs, grid, interval, percent,
    visible,
};
use errorbar_report::{EstimateText, RunIdentity, assets, grouped, most_frequent, run_names, start};
use maud::{Markup, PreEscaped, html};

use crate::catalog::{Figure, FigureTitle, ListedLog, LogEntry, Progress, RunState, Snapshot};

/// The script of the list.
const SCRIPT: &str = include_str!("../assets/index.js");

/// The stylesheet: that of reports, and what only the list has.
static STYLE: LazyLock<String> =
    LazyLock::new(|| format!("{}{}", assets::style(), include_str!("../assets/index.css")));

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

/// The list as a page.
pub(crate) fn page(snapshot: &Snapshot, folder: &Path, command: &str) -> String {
    let ended = snapshot.logs.iter().filter(|entry| !entry.is_running());
    let groups = by_task(ended.filter_map(|entry| Some((&**entry, entry.summary.as_ref().ok()?))).collect());
    let logs: usize = groups.values().map(Vec::len).sum();
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
    let listed =
        (logs > 0).then(|| format!("{} of {}", counted(logs as u64, "log"), counted(tasks as u64, "task")));
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
fn by_task(mut logs: Vec<Shown<'_>>) -> IndexMap<&str, Vec<Shown<'_>>> {
    logs.sort_by_cached_key(|(entry, summary)| std::cmp::Reverse((summary.sort_time(), entry.name.clone())));
    let mut groups: IndexMap<&str, Vec<Shown<'_>>> = IndexMap::new();
    for (entry, summary) in logs {
        groups.entry(&summary.log.task).or_default().push((entry, summary));
    }
    groups
}

fn list(snapshot: &Snapshot, groups: &IndexMap<&str, Vec<Shown<'_>>>) -> Markup {
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
                @for (task, logs) in groups { (task_rows(task, logs)) }
                @if !unreadable.is_empty() {
                    tbody role="rowgroup" {
                        tr.grp role="row" { th scope="rowgroup" role="rowheader" { "Cannot be read" } }
                        @for (entry, reason) in unreadable { (unreadable_row(entry, reason)) }
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

fn task_rows(task: &str, logs: &[Shown<'_>]) -> Markup {
    let figures = || logs.iter().filter_map(|(_, summary)| summary.figure.as_ref());
    let titles: Vec<&FigureTitle> = figures().map(|figure| &figure.title).collect();
    let main = most_frequent(&titles);
    // One scale for the figures of one kind; the others are drawn on it as well, and named in their rows.
    let of_main = figures().filter(|figure| Some(&figure.title) == main).map(|figure| &figure.estimate);
    let scale = Scale::of(of_main);
    // One without an error has more decimals than it deserves, and stands by itself.
    let with_errors = figures().map(|figure| &figure.estimate);
    let with_errors = with_errors.filter(|estimate| EstimateText::from(*estimate).stderr().is_some());
    let context = GroupContext { scale: &scale, main, column: NumberColumn::of(with_errors, false) };
    html! {
        tbody role="rowgroup" {
            tr.grp role="row" {
                th scope="rowgroup" role="rowheader" {
                    span dir="auto" { (breakable(&shortened(task))) }
                    small {
                        @if let Some(title) = &main {
                            @let (before, scorer, after) = title.parts();
                            (shortened(&before)) code { (shortened(scorer)) } (shortened(&after)) ", "
                        }
                        (counted(logs.len() as u64, "log"))
                    }
                }
                th.pl role="presentation" { (axis(&scale, None)) }
            }
            @for (entry, summary) in logs { (row(entry, summary, &context)) }
        }
    }
}

/// A name or a message that may have any length.
fn shortened(text: &str) -> String {
    start(text, 240)
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
                @if estimate.is_some() { (value(estimate, &NumberColumn::of([], false))) " " span.note { "so far" } }
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
                span { "started " (time(&summary.log.created)) }
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

// The row of a log.

/// What the rows of a task share.
pub(super) struct GroupContext<'g> {
    pub(super) scale: &'g Scale,
    /// The figure of the heading.
    pub(super) main: Option<&'g FigureTitle>,
    pub(super) column: NumberColumn,
}

pub(super) fn row(entry: &LogEntry, summary: &ListedLog, group: &GroupContext<'_>) -> Markup {
    let estimate = summary.figure.as_ref().map(|figure| &figure.estimate);
    let number = estimate.and_then(|estimate| estimate.number());
    let model = shortened(&summary.log.model);
    let name = run_name(entry, summary);
    // What its page calls it, and what the name leaves out.
    let before = match model.strip_suffix(&name) {
        Some(before) => before.trim_end_matches('/'),
        None => &model,
    };
    let state = summary.state;
    let search = format!("{} {} {} {}", summary.log.task, model, state.name(), entry.name).to_lowercase();
    let text = |number: Option<f64>| number.map(|number| number.to_string()).unwrap_or_default();
    let disabled = match (number, &summary.no_figure) {
        (Some(_), _) => None,
        (None, Some(_)) => Some("nothing to compare: no figure over all samples"),
        (None, None) => Some("nothing to compare: no score"),
    };
    let series = Series { is_partial: state != RunState::Done, ..Series::NEUTRAL };
    let style = IntervalStyle::new(series, IntervalSize::Table);
    html! {
        tr role="row" data-id=(entry.id) data-q=(shortened(&search)) data-status=(state.name()) data-v=(text(number))
            data-tokens=(text(summary.tokens.map(|tokens| tokens as f64))) data-cost=(text(summary.cost))
            data-date=(shortened(&summary.sort_time())) data-task=(shortened(&summary.log.task)) data-name=(name) {
            td role="cell" class="ck" {
                input type="checkbox" name="log" value=(entry.id) aria-label={ "choose " (model) " to compare" }
                    disabled[disabled.is_some()] title=[disabled];
            }
            td role="cell" class="mod" {
                a href={ "logs/" (entry.id) "/" } title=(entry.name) {
                    b dir="auto" { (breakable(&name)) }
                    @if !before.is_empty() { small dir="auto" { (before) } }
                    @for why in remarks(summary, group) { span.why dir="auto" { (shortened(&why)) } }
                }
            }
            td role="cell" class="va num" {
                @if summary.no_figure.is_some() { span.undef { "no figure" } } @else { (value(estimate, &group.column)) }
            }
            td role="cell" class="pl" {
                svg.iv width="100%" aria-hidden="true" focusable="false" {
                    (grid(group.scale, None))
                    @if let Some(estimate) = estimate { (interval(group.scale, estimate, &style)) }
                }
            }
            td role="cell" class="n num scored" { (scored(summary)) }
            td role="cell" class="st" {
                @if matches!(state, RunState::Done | RunState::Running) { span class="st0 ok" { (state.name()) } }
                @else { (warning(state.name())) }
            }
            td role="cell" class="tk num" { (summary.tokens.map_or_else(|| "–".to_owned(), short_count)) }
            td role="cell" class="co num" { (summary.cost.map_or_else(|| "–".to_owned(), |cost| format!("{cost:.4}"))) }
            td role="cell" class="da num" { (time(&summary.log.created)) }
        }
    }
}

/// What a log is called, on its page as well.
pub(super) fn run_name(entry: &LogEntry, summary: &ListedLog) -> String {
    let names = run_names(&[RunIdentity::new(&summary.log.model, &entry.path)]);
    shortened(names.first().map_or("", String::as_str))
}

/// A file that cannot be read as a log.
pub(super) fn unreadable_row(entry: &LogEntry, reason: &str) -> Markup {
    let name = shortened(&entry.name);
    let search = format!("{name} unreadable {reason}").to_lowercase();
    html! {
        tr.bad role="row" data-id=(entry.id) data-q=(shortened(&search)) data-status="unreadable" data-v="" data-tokens=""
            data-cost="" data-date="" data-task="" data-name=(name) {
            td role="cell" class="ck" {}
            td role="cell" class="mod wide" {
                b dir="auto" { (breakable(&name)) } span.why dir="auto" { (shortened(reason)) }
            }
            td role="cell" class="st" { (warning("unreadable")) }
        }
    }
}

/// What is to be known about the figure or the run.
fn remarks(summary: &ListedLog, group: &GroupContext<'_>) -> Vec<String> {
    let mut remarks = Vec::new();
    if let Some(figure) = &summary.figure {
        if group.main.is_some_and(|main| *main != figure.title) {
            remarks.push(figure.title.to_string());
        }
        remarks.extend(why_no_error(figure));
        if summary.log.error.is_none()
            && let Err(reason) = &figure.estimate.value
        {
            remarks.push(why_no_value(figure).unwrap_or_else(|| format!("undefined: {reason}")));
        }
    }
    remarks.extend(summary.no_figure.clone());
    match (&summary.log.error, summary.log.completed) {
        (Some(error), 0) => remarks.push(format!("{error}; nothing was scored")),
        (Some(error), _) => remarks.push(error.clone()),
        (None, _) => {}
    }
    if summary.log.stopped_early.is_some() {
        remarks.push("stopped early by a rule".to_owned());
    }
    remarks
}

/// `144 × 3`, `120 of 144` with the absent ones, `78 of 432`.
fn scored(summary: &ListedLog) -> Markup {
    let LogSummary { completed, total, epochs, .. } = &summary.log;
    let estimate = summary.figure.as_ref().map(|figure| &figure.estimate);
    let estimate = estimate.filter(|estimate| estimate.absent > 0 && summary.state == RunState::Done);
    let is_whole = total.is_some_and(|total| *completed == total || summary.log.stopped_early.is_some());
    html! {
        @if let Some(estimate) = estimate {
            (grouped(estimate.n)) " of " (grouped(estimate.n + estimate.absent))
            small { (grouped(estimate.absent)) " absent" }
        } @else if is_whole && *epochs > 1 {
            (grouped(completed / epochs)) " × " (epochs)
        } @else {
            (grouped(*completed))
            @if let Some(total) = total.filter(|_| !is_whole) { " of " (grouped(total)) }
        }
    }
}

fn warning(word: &str) -> Markup {
    html! {
        span class="st0 bad" { svg viewBox="0 0 14 14" aria-hidden="true" { use href="#warn" {} } (word) }
    }
}

/// `941`, `47.1k`, `2.3M`
fn short_count(number: u64) -> String {
    let scaled = |divisor: f64, unit: &str| {
        let number = number as f64 / divisor;
        if number < 100.0 { format!("{number:.1}{unit}") } else { format!("{number:.0}{unit}") }
    };
    match number {
        0..1_000 => number.to_string(),
        1_000..1_000_000 => scaled(1e3, "k"),
        1_000_000..1_000_000_000 => scaled(1e6, "M"),
        _ => scaled(1e9, "G"),
    }
}

/// `15 Nov 2026, 19:38` as the log has it; anything else is shown as it is.
pub(super) fn time(created: &str) -> Markup {
    html! {
        @if let Some((day, month, year, clock)) = date_parts(created) {
            time datetime=(shortened(created)) {
                (day) " " (month.chars().take(3).collect::<String>()) span.yr { " " (year) } ", " (clock)
            }
        } @else {
            (created.chars().take(16).collect::<String>())
        }
    }
}

// Numbers with their errors.

/// `0.847 ± 0.026` as markup, its decimals under those of others; `± ?` if there is no error.
fn value(estimate: Option<&Estimate>, column: &NumberColumn) -> Markup {
    match estimate.filter(|estimate| estimate.number().is_some()) {
        Some(estimate) => column.estimate(estimate),
        None => html! { span.undef { "undefined" } },
    }
}

/// Why a number has no error; none if it has one, or an interval.
pub(super) fn why_no_error(figure: &Figure) -> Option<String> {
    let Figure { estimate, is_recorded, .. } = figure;
    estimate.number()?;
    let is_degenerate = estimate.error.as_ref().is_ok_and(|error| error.degenerate);
    match (&estimate.error, &estimate.interval) {
        (Ok(_), _) if !is_degenerate => None,
        (Ok(_), _) if estimate.n == 0 => Some("no spread in the scores".to_owned()),
        (Ok(_), _) => Some(format!("no spread in {} scores", estimate.n)),
        (Err(_), Ok(interval)) => {
            let text = EstimateText::from(estimate).interval_text();
            Some(format!("{} interval {text}, no standard error", errorbar_report::percent(interval.level)))
        }
        (Err(Undefined::NotAvailable), _) if *is_recorded => Some("the log records no error".to_owned()),
        (Err(Undefined::NotAvailable), _) => Some("no error of this figure".to_owned()),
        (Err(reason), _) => Some(format!("error undefined: {reason}")),
    }
}

/// What a log records in place of a number, if it records an interval alone.
pub(super) fn why_no_value(figure: &Figure) -> Option<String> {
    let interval = figure.estimate.interval.as_ref().ok().filter(|_| figure.is_recorded)?;
    let end = |end: f64| EstimateText::new(end).to_string().replacen('-', "\u{2212}", 1);
    let ends = [interval.lower, interval.upper].map(end);
    Some(format!(
        "{} interval {}; the log records no estimate",
        errorbar_report::percent(interval.level),
        ends.join(" … ")
    ))
}

#[cfg(test)]
mod tests {
    use errorbar_report::svg::escape;

    use super::*;
    use crate::catalog::FigureTitle;

    #[test]
    fn times_and_counts_are_short() {
        assert!(
            time("2026-11-05T19:38:31+00:00")
                .0
                .ends_with(">5 Nov<span class=\"yr\"> 2026</span>, 19:38</time>")
        );
        for odd in ["", "soon", "2026-13-01T10:00", "2026-11-05T", "<b>T<i>"] {
            assert_eq!(time(odd).0, escape(odd), "{odd}");
        }
        assert_eq!(time(&"x".repeat(1000)).0.len(), 16, "a text of any length");
        let counts = [(0, "0"), (999, "999"), (47_055, "47.1k"), (999_999, "1000k"), (2_340_000, "2.3M")];
        for (number, text) in counts {
            assert_eq!(short_count(number), text);
        }
    }

    #[test]
    fn decimals_stand_under_decimals_and_what_is_unknown_is_not_zero() {
        let precise = Estimate::new(0.8472).with_stderr(0.0255);
        let vague = Estimate::new(0.33).with_stderr(0.31);
        let column = NumberColumn::of([&precise], false);
        let value = |estimate: Option<&Estimate>| value(estimate, &column);
        assert_eq!(
            value(Some(&precise)).0,
            "<span class=\"num pmv\"><b class=\"v0\">0.847</b><i>±</i><span class=\"e0\">0.025</span></span>"
        );
        assert!(
            value(Some(&vague)).0.contains("<b class=\"v0 p1\">0.33</b><i>±</i><span class=\"e0 p1\">0.31")
        );
        assert!(
            value(Some(&Estimate::new(-0.5)))
                .0
                .contains("<b class=\"v0\">\u{2212}0.5</b><i>±</i><span class=\"q0\">?")
        );
        assert!(value(None).0.contains("undefined"));
        let equal = Estimate::new(1.0).with_stderr(0.0).with_n(7);
        assert!(value(Some(&equal)).0.contains("<b class=\"v0\">1</b><i>±</i><span class=\"q0\">?"));
        let why = |estimate: &Estimate, is_recorded: bool| {
            let [metric, scorer] = ["accuracy", "choice"].map(str::to_owned);
            let title = FigureTitle { metric, reducer: None, scorer, part: None };
            why_no_error(&Figure { title, estimate: estimate.clone(), is_recorded })
        };
        assert_eq!(why(&equal, true).as_deref(), Some("no spread in 7 scores"));
        assert_eq!(why(&precise, true), None);
        // What is not recorded may exist all the same.
        assert_eq!(why(&Estimate::new(0.5), true).as_deref(), Some("the log records no error"));
        assert_eq!(why(&Estimate::new(0.5), false).as_deref(), Some("no error of this figure"));
    }
}
