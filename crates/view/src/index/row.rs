//! The row of a log.

use std::fmt::Write as _;

use errorbar_log::eval::LogSummary;
use errorbar_report::svg::{IntervalSize, IntervalStyle, Scale, Series, breakable, escape, grid, interval};
use errorbar_report::{RunIdentity, run_names};

use super::figures::{self, value, why_no_error};
use super::{grouped, shortened};
use crate::catalog::{FigureTitle, ListedLog, LogEntry, RunState};

/// What the rows of a task share.
pub(super) struct GroupContext<'g> {
    pub(super) scale: &'g Scale,
    /// The figure of the heading.
    pub(super) main: Option<FigureTitle<'g>>,
    pub(super) decimals: usize,
}

pub(super) fn push(page: &mut String, entry: &LogEntry, summary: &ListedLog, group: &GroupContext<'_>) {
    let estimate = summary.figure.as_ref().map(|figure| &figure.estimate);
    let number = estimate.and_then(|estimate| estimate.number());
    let model = shortened(&summary.log.model);
    let name = run_name(entry, summary);
    // What its page calls it, and what the name leaves out.
    let before = match model.strip_suffix(&name) {
        Some(before) => before.trim_end_matches('/'),
        None => &model,
    };
    let id = entry.id;
    let search =
        format!("{} {} {} {}", summary.log.task, model, summary.state.name(), entry.name).to_lowercase();
    let text = |number: Option<f64>| number.map(|number| number.to_string()).unwrap_or_default();
    let _ = write!(
        page,
        "<tr role=\"row\" data-id=\"{id}\" data-q=\"{}\" data-status=\"{}\" data-v=\"{}\" data-tokens=\"{}\" data-cost=\"{}\" \
         data-date=\"{}\" data-task=\"{}\" data-name=\"{}\">",
        escape(&shortened(&search)),
        summary.state.name(),
        text(number),
        text(summary.tokens.map(|tokens| tokens as f64)),
        text(summary.cost),
        escape(&shortened(&summary.sort_time())),
        escape(&shortened(&summary.log.task)),
        escape(&name)
    );
    let disabled = match (number, &summary.no_figure) {
        (Some(_), _) => "",
        (None, Some(_)) => " disabled title=\"nothing to compare: no figure over all samples\"",
        (None, None) => " disabled title=\"nothing to compare: no score\"",
    };
    let _ = write!(
        page,
        "<td role=\"cell\" class=\"ck\"><input type=\"checkbox\" name=\"log\" value=\"{id}\" aria-label=\"choose {} to compare\"\
         {disabled}></td><td role=\"cell\" class=\"mod\"><a href=\"logs/{id}/\" title=\"{}\"><b dir=\"auto\">{}</b>",
        escape(&model),
        escape(&entry.name),
        breakable(&name)
    );
    if !before.is_empty() {
        let _ = write!(page, "<small dir=\"auto\">{}</small>", escape(before));
    }
    for why in remarks(summary, group) {
        let _ = write!(page, "<span class=\"why\" dir=\"auto\">{}</span>", escape(&shortened(&why)));
    }
    let shown = match &summary.no_figure {
        Some(_) => "<span class=\"undef\">no figure</span>".to_owned(),
        None => value(estimate, group.decimals),
    };
    let style = IntervalStyle::new(Series::NEUTRAL, IntervalSize::Table);
    // What is not of all samples is not final.
    let style = if summary.state == RunState::Done { style } else { style.running() };
    let drawn = estimate.map(|estimate| interval(group.scale, estimate, &style));
    let _ = writeln!(
        page,
        "</a></td><td role=\"cell\" class=\"va num\">{}</td><td role=\"cell\" class=\"pl\"><svg class=\"iv\" width=\"100%\" \
         aria-hidden=\"true\" focusable=\"false\">{}{}</svg></td><td role=\"cell\" class=\"n num scored\">{}</td>\
         <td role=\"cell\" class=\"st\">{}</td><td role=\"cell\" class=\"tk num\">{}</td><td role=\"cell\" class=\"co num\">{}</td>\
         <td role=\"cell\" class=\"da num\">{}</td></tr>",
        shown,
        grid(group.scale, None),
        drawn.unwrap_or_default(),
        scored(summary),
        state(summary.state),
        summary.tokens.map_or_else(|| "–".to_owned(), short_count),
        summary.cost.map_or_else(|| "–".to_owned(), |cost| format!("{cost:.4}")),
        time(&summary.log.created)
    );
}

/// What a log is called, on its page as well.
pub(super) fn run_name(entry: &LogEntry, summary: &ListedLog) -> String {
    let names = run_names(&[RunIdentity::new(&summary.log.model, &entry.path)]);
    shortened(names.first().map_or("", String::as_str))
}

/// A file that cannot be read as a log.
pub(super) fn push_unreadable(page: &mut String, entry: &LogEntry, reason: &str) {
    let (name, id) = (shortened(&entry.name), entry.id);
    let search = format!("{name} unreadable {reason}").to_lowercase();
    let _ = writeln!(
        page,
        "<tr role=\"row\" class=\"bad\" data-id=\"{id}\" data-q=\"{}\" data-status=\"unreadable\" data-v=\"\" data-tokens=\"\" data-cost=\"\" \
         data-date=\"\" data-task=\"\" data-name=\"{}\"><td role=\"cell\" class=\"ck\"></td><td role=\"cell\" class=\"mod wide\">\
         <b dir=\"auto\">{}</b><span class=\"why\" dir=\"auto\">{}</span></td><td role=\"cell\" class=\"st\">{}</td></tr>",
        escape(&shortened(&search)),
        escape(&name),
        breakable(&name),
        escape(&shortened(reason)),
        warning("unreadable")
    );
}

/// What is to be known about the figure or the run.
fn remarks(summary: &ListedLog, group: &GroupContext<'_>) -> Vec<String> {
    let mut remarks = Vec::new();
    if let Some(figure) = &summary.figure {
        let title = figure.title();
        if group.main.is_some_and(|main| main != title) {
            remarks.push(title.to_string());
        }
        remarks.extend(why_no_error(figure));
        if summary.log.error.is_none()
            && let Err(reason) = &figure.estimate.value
        {
            remarks.push(figures::why_no_value(figure).unwrap_or_else(|| format!("undefined: {reason}")));
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
fn scored(summary: &ListedLog) -> String {
    let LogSummary { completed, total, epochs, .. } = &summary.log;
    let estimate = summary.figure.as_ref().map(|figure| &figure.estimate);
    if let Some(estimate) = estimate.filter(|estimate| estimate.absent > 0 && summary.state == RunState::Done)
    {
        let (n, absent) = (estimate.n, estimate.absent);
        return format!("{} of {}<small>{} absent</small>", grouped(n), grouped(n + absent), grouped(absent));
    }
    match total {
        Some(total) if completed == total || summary.log.stopped_early.is_some() => {
            let samples = completed / (*epochs).max(1);
            if *epochs > 1 { format!("{} × {epochs}", grouped(samples)) } else { grouped(*completed) }
        }
        Some(total) => format!("{} of {}", grouped(*completed), grouped(*total)),
        None => grouped(*completed),
    }
}

fn state(state: RunState) -> String {
    match state {
        RunState::Done | RunState::Running => format!("<span class=\"st0 ok\">{}</span>", state.name()),
        _ => warning(state.name()),
    }
}

fn warning(word: &str) -> String {
    format!(
        "<span class=\"st0 bad\"><svg viewBox=\"0 0 14 14\" aria-hidden=\"true\"><use href=\"#warn\"/></svg>{word}</span>"
    )
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
pub(super) fn time(created: &str) -> String {
    const MONTHS: [&str; 12] =
        ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let parsed = || {
        let (date, clock) = created.split_once('T')?;
        let mut parts = date.split('-');
        let (year, month, day) = (parts.next()?, parts.next()?, parts.next()?);
        let month = MONTHS.get(month.parse::<usize>().ok()?.checked_sub(1)?)?;
        let (year, day): (u32, u32) = (year.parse().ok()?, day.parse().ok()?);
        let clock = clock.get(..5).filter(|clock| clock.as_bytes().get(2) == Some(&b':'))?;
        let clock = escape(clock);
        Some(format!("{day} {month}<span class=\"yr\"> {year}</span>, {clock}"))
    };
    match parsed() {
        Some(text) => format!("<time datetime=\"{}\">{text}</time>", escape(&shortened(created))),
        None => escape(&created.chars().take(16).collect::<String>()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_and_counts_are_short() {
        assert!(
            time("2026-11-05T19:38:31+00:00")
                .ends_with(">5 Nov<span class=\"yr\"> 2026</span>, 19:38</time>")
        );
        for odd in ["", "soon", "2026-13-01T10:00", "2026-11-05T", "<b>T<i>"] {
            assert_eq!(time(odd), escape(odd), "{odd}");
        }
        assert_eq!(time(&"x".repeat(1000)).len(), 16, "a text of any length");
        let counts = [(0, "0"), (999, "999"), (47_055, "47.1k"), (999_999, "1000k"), (2_340_000, "2.3M")];
        for (number, text) in counts {
            assert_eq!(short_count(number), text);
        }
    }
}
