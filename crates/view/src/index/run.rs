//! A run in progress.

use std::time::Duration;

use errorbar_report::grouped;
use errorbar_report::svg::{
    IntervalSize, IntervalStyle, Scale, Series, axis, breakable, grid, interval, percent,
};
use maud::{Markup, html};

use super::figures::{value, why_no_error};
use super::{row, shortened};
use crate::catalog::{ListedLog, LogEntry, Progress};

/// The section of a run, with its estimate over the samples that finished first.
pub(super) fn section(entry: &LogEntry, summary: &ListedLog) -> Markup {
    let Some(progress) = &summary.progress else { return Markup::default() };
    let id = entry.id;
    let figure = summary.figure.as_ref();
    let estimate = figure.map(|figure| &figure.estimate);
    let scale = Scale::of(estimate);
    let style = IntervalStyle::new(Series::NEUTRAL, IntervalSize::Table).running();
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
