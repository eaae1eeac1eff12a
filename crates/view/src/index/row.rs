//! The row of a log.

use errorbar_core::{Estimate, Undefined};
use errorbar_log::eval::LogSummary;
use errorbar_report::svg::{IntervalSize, IntervalStyle, Scale, Series, breakable, grid, interval};
use errorbar_report::{EstimateText, RunIdentity, grouped, run_names};
use maud::{Markup, html};

use super::shortened;
use crate::catalog::{Figure, FigureTitle, ListedLog, LogEntry, RunState};

/// What the rows of a task share.
pub(super) struct GroupContext<'g> {
    pub(super) scale: &'g Scale,
    /// The figure of the heading.
    pub(super) main: Option<&'g FigureTitle>,
    pub(super) decimals: usize,
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
                @if summary.no_figure.is_some() { span.undef { "no figure" } } @else { (value(estimate, group.decimals)) }
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
pub(super) fn unreadable(entry: &LogEntry, reason: &str) -> Markup {
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
    const MONTHS: [&str; 12] =
        ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let parsed = || {
        let (date, clock) = created.split_once('T')?;
        let mut parts = date.split('-');
        let (year, month, day) = (parts.next()?, parts.next()?, parts.next()?);
        let month = MONTHS.get(month.parse::<usize>().ok()?.checked_sub(1)?)?;
        let (year, day): (u32, u32) = (year.parse().ok()?, day.parse().ok()?);
        let clock = clock.get(..5).filter(|clock| clock.as_bytes().get(2) == Some(&b':'))?;
        Some((day, month, year, clock))
    };
    html! {
        @if let Some((day, month, year, clock)) = parsed() {
            time datetime=(shortened(created)) { (day) " " (month) span.yr { " " (year) } ", " (clock) }
        } @else {
            (created.chars().take(16).collect::<String>())
        }
    }
}

// Numbers with their errors.

/// The most decimals that numbers are aligned by.
const ALIGNED: usize = 3;

/// The decimals of the most precise figure of some logs. One without an error has more than it deserves, and stands by
/// itself.
pub(super) fn widest<'s>(logs: impl Iterator<Item = &'s ListedLog>) -> usize {
    let text = |summary: &ListedLog| {
        let (value, error) = parts(&summary.figure.as_ref()?.estimate);
        error.map(|_| value)
    };
    logs.filter_map(text).map(|value| decimals(&value)).max().unwrap_or(0)
}

/// `0.847 ± 0.026` as markup, its decimals under those of others; `± ?` if there is no error.
pub(super) fn value(estimate: Option<&Estimate>, widest: usize) -> Markup {
    let Some(estimate) = estimate.filter(|estimate| estimate.number().is_some()) else {
        return html! { span.undef { "undefined" } };
    };
    let (value, error) = parts(estimate);
    let pad = widest.saturating_sub(decimals(&value)).min(ALIGNED);
    let pad = if pad > 0 && error.is_some() { format!(" p{pad}") } else { String::new() };
    html! {
        span.num.pmv {
            b class={ "v0" (pad) } { (minus(&value)) }
            i { "±" }
            @if let Some(error) = error { span class={ "e0" (pad) } { (error) } } @else { span.q0 { "?" } }
        }
    }
}

/// The value and its error.
fn parts(estimate: &Estimate) -> (String, Option<String>) {
    let text = EstimateText::from(estimate).short();
    match text.split_once(" ± ") {
        Some((value, error)) => (value.to_owned(), Some(error.to_owned())),
        None => (text, None),
    }
}

fn decimals(number: &str) -> usize {
    let digits = number.split_once('.').map_or("", |(_, digits)| digits);
    digits.bytes().take_while(u8::is_ascii_digit).count()
}

fn minus(number: &str) -> String {
    number.replacen('-', "\u{2212}", 1)
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
            Some(format!("{} interval {text}, no standard error", level(interval.level)))
        }
        (Err(Undefined::NotAvailable), _) if *is_recorded => Some("the log records no error".to_owned()),
        (Err(Undefined::NotAvailable), _) => Some("no error of this figure".to_owned()),
        (Err(reason), _) => Some(format!("error undefined: {reason}")),
    }
}

/// What a log records in place of a number, if it records an interval alone.
pub(super) fn why_no_value(figure: &Figure) -> Option<String> {
    let interval = figure.estimate.interval.as_ref().ok().filter(|_| figure.is_recorded)?;
    let ends = [interval.lower, interval.upper].map(|end| minus(&EstimateText::new(end).to_string()));
    Some(format!("{} interval {}; the log records no estimate", level(interval.level), ends.join(" … ")))
}

/// `95 %`
fn level(level: f64) -> String {
    let text = format!("{:.1}", level * 100.0);
    format!("{} %", text.trim_end_matches(".0"))
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
        assert_eq!(
            value(Some(&precise), 3).0,
            "<span class=\"num pmv\"><b class=\"v0\">0.847</b><i>±</i><span class=\"e0\">0.025</span></span>"
        );
        assert!(
            value(Some(&vague), 3)
                .0
                .contains("<b class=\"v0 p1\">0.33</b><i>±</i><span class=\"e0 p1\">0.31")
        );
        assert!(
            value(Some(&Estimate::new(-0.5)), 3)
                .0
                .contains("<b class=\"v0\">\u{2212}0.5</b><i>±</i><span class=\"q0\">?")
        );
        assert!(value(None, 3).0.contains("undefined"));
        let equal = Estimate::new(1.0).with_stderr(0.0).with_n(7);
        assert!(value(Some(&equal), 3).0.contains("<b class=\"v0\">1</b><i>±</i><span class=\"q0\">?"));
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
