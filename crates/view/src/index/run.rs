//! A run in progress.

use std::fmt::Write as _;
use std::time::Duration;

use errorbar_report::svg::{
    IntervalSize, IntervalStyle, Scale, Series, axis, breakable, escape, grid, interval, percent,
};

use super::figures::{value, why_no_error};
use super::{grouped, row, shortened};
use crate::catalog::{ListedLog, LogEntry, Progress};

/// The section of a run, with its estimate over the samples that finished first.
pub(super) fn section(entry: &LogEntry, summary: &ListedLog) -> String {
    let Some(progress) = &summary.progress else { return String::new() };
    let id = entry.id;
    let figure = summary.figure.as_ref();
    let estimate = figure.map(|figure| &figure.estimate);
    let shown = match estimate {
        Some(estimate) => format!("{} <span class=\"note\">so far</span>", value(Some(estimate), 0)),
        None => "<span class=\"note\">no estimate yet</span>".to_owned(),
    };
    let mut html = format!(
        "<section class=\"live\" data-id=\"{id}\" aria-labelledby=\"h-live-{id}\"><h2 id=\"h-live-{id}\"><span class=\"pulse\" \
         aria-hidden=\"true\"></span><a href=\"logs/{id}/\" dir=\"auto\" title=\"{}\">{}</a> <span class=\"mono\" dir=\"auto\">{}</span>\
         <span class=\"note\">running</span></h2>\n<p class=\"now\">{shown}</p>",
        escape(&entry.name),
        breakable(&shortened(&summary.log.task)),
        breakable(&shortened(&summary.log.model))
    );
    let scale = Scale::of(estimate);
    let style = IntervalStyle::new(Series::NEUTRAL, IntervalSize::Table).running();
    let drawn = estimate.map(|estimate| interval(&scale, estimate, &style)).unwrap_or_default();
    let _ = writeln!(
        html,
        "<div class=\"ivbox\">{}<svg class=\"iv\" width=\"100%\" aria-hidden=\"true\" focusable=\"false\">{}{drawn}</svg></div>",
        axis(&scale, None),
        grid(&scale, None)
    );
    push_progress(&mut html, entry, summary, progress);
    let mut notes = Vec::new();
    if let Some(figure) = figure {
        notes.push(figure.title().to_string());
        notes.push("of the samples that finished first, which may be easier than the rest".to_owned());
        notes.extend(why_no_error(figure));
    }
    notes.extend(summary.no_figure.clone());
    notes.extend(progress.problem.iter().map(|problem| shortened(problem)));
    let _ = writeln!(html, "<p class=\"note\" dir=\"auto\">{}</p></section>", escape(&notes.join("; ")));
    html
}

fn push_progress(html: &mut String, entry: &LogEntry, summary: &ListedLog, progress: &Progress) {
    let Progress { done, total, errored, by_epoch, .. } = progress;
    html.push_str("<div class=\"prog\">");
    if let Some(total) = total.filter(|total| *total > 0) {
        let share = percent((100.0 * *done as f64 / total as f64).min(100.0));
        let _ = write!(
            html,
            "<svg role=\"progressbar\" aria-valuemin=\"0\" aria-valuemax=\"{total}\" aria-valuenow=\"{done}\" \
             aria-label=\"answers\"><rect class=\"empty\" width=\"100%\" height=\"6\"/><rect class=\"full\" width=\"{share}\" height=\"6\"/>"
        );
        for cut in 1..summary.log.epochs.min(20) {
            let at = percent(100.0 * cut as f64 / summary.log.epochs as f64);
            let _ = write!(html, "<line class=\"cut\" x1=\"{at}\" x2=\"{at}\" y1=\"0\" y2=\"6\"/>");
        }
        html.push_str("</svg>");
    }
    let of = total.map(|total| format!(" of {}", grouped(total))).unwrap_or_default();
    let _ = write!(html, "<p><span>{}{of} answers</span>", grouped(*done));
    if summary.log.epochs > 1 && by_epoch.len() <= 8 {
        let samples = total.map(|total| total / summary.log.epochs);
        let epoch = |(epoch, count): &(u32, u64)| match samples {
            Some(samples) if samples == *count => format!("{epoch} done"),
            Some(samples) => format!("{epoch}: {} of {}", grouped(*count), grouped(samples)),
            None => format!("{epoch}: {}", grouped(*count)),
        };
        let epochs: Vec<String> = by_epoch.iter().map(epoch).collect();
        let _ = write!(html, "<span>epoch {}</span>", epochs.join(", "));
    }
    if let Some(left) = entry.time_left() {
        let _ = write!(html, "<span>about {} left</span>", duration(left));
    }
    let started = row::time(&summary.log.created);
    let _ = writeln!(
        html,
        "<span>started {started}</span><span class=\"push\">{} errored</span></p></div>",
        grouped(*errored)
    );
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
