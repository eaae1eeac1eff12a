//! What a line of progress says, and how much of it fits.

use std::time::Duration;

use errorbar_eval::SequenceProgress;
use errorbar_inference::RuleMeasure;
use errorbar_report::clean;

use super::SampleCounts;
use crate::output::Stream;

/// The interval that may stop the run: `accuracy 0.712 [0.681, 0.744], width 0.063 of 0.04`.
pub(super) fn sequence_text(sequence: &SequenceProgress) -> String {
    let SequenceProgress { rule, metric, value, lower, upper, .. } = sequence;
    let metric = clean(metric);
    let value = value.map(|value| format!(" {value:.3}")).unwrap_or_default();
    let interval = format!("{value} [{lower:.3}, {upper:.3}]");
    match &rule.measure {
        RuleMeasure::Width { below, .. } => {
            format!("{metric}{interval}, width {:.3} of {below}", upper - lower)
        }
        RuleMeasure::Decided { value, .. } => format!("{metric}{interval} against {value}"),
        _ => format!("difference in {metric}{interval}"),
    }
}

/// How wide the terminal is.
pub(super) fn columns() -> usize {
    Stream::Stderr.columns().unwrap_or(80)
}

/// How much of the line the bar takes, the blank behind it included; on a narrow terminal the words matter more.
pub(super) fn bar_width() -> usize {
    if columns() >= 100 { 25 } else { 0 }
}

/// A part of the line.
#[derive(Clone, Debug)]
pub(super) struct LinePart {
    pub(super) text: String,
    /// Where there is no space for all, those of the lowest rank stay.
    pub(super) rank: usize,
}

/// As many parts as fit, each whole, in their order.
pub(super) fn fitting(parts: &[LinePart], available: usize) -> String {
    let mut by_rank: Vec<usize> = (0..parts.len()).collect();
    by_rank.sort_by_key(|at| parts.get(*at).map(|part| part.rank));
    let (mut used, mut is_shown) = (0, vec![false; parts.len()]);
    for at in by_rank {
        let (Some(part), Some(shown)) = (parts.get(at), is_shown.get_mut(at)) else { continue };
        used += SEPARATOR.chars().count() + errorbar_report::width(&part.text);
        if used > available {
            break;
        }
        *shown = true;
    }
    let shown = parts.iter().zip(is_shown).filter(|(_, shown)| *shown);
    shown.map(|(part, _)| format!("{SEPARATOR}{}", part.text)).collect()
}

/// What is between two parts.
const SEPARATOR: &str = " · ";

/// Rate, time left, failures and figures.
pub(super) fn parts(counts: &SampleCounts, elapsed: Duration, figures: &[String]) -> Vec<LinePart> {
    pace(counts, elapsed).into_iter().chain(results(counts, figures)).collect()
}

/// Rate and time left, once a sample is done.
fn pace(counts: &SampleCounts, elapsed: Duration) -> Vec<LinePart> {
    let ran = counts.done.saturating_sub(counts.resumed);
    if ran == 0 {
        return Vec::new();
    }
    let rate = ran as f64 / elapsed.as_secs_f64().max(1e-9);
    let to_do = counts.total.saturating_sub(counts.done);
    let left = Duration::from_secs_f64((to_do as f64 / rate.max(1e-9)).min(1e9));
    let part = |rank: usize, text: String| LinePart { text, rank };
    vec![part(3, format!("{}/s", short(rate))), part(2, format!("{} left", time(left)))]
}

/// Failures and figures. The first figure is what a run is watched for.
pub(super) fn results(counts: &SampleCounts, figures: &[String]) -> Vec<LinePart> {
    let part = |rank: usize, text: String| LinePart { text, rank };
    let failed = (counts.failed > 0).then(|| part(0, format!("{} failed", counts.failed)));
    let rank = |at: usize| if at == 0 { 1 } else { 3 + at };
    let figures = figures.iter().enumerate().map(|(at, figure)| part(rank(at), figure.clone()));
    failed.into_iter().chain(figures).collect()
}

fn short(rate: f64) -> String {
    if rate >= 10.0 { format!("{rate:.0}") } else { format!("{rate:.1}") }
}

fn time(left: Duration) -> String {
    let seconds = left.as_secs();
    match seconds {
        0..60 => format!("{seconds} s"),
        60..3600 => format!("{} min {} s", seconds / 60, seconds % 60),
        _ => format!("{} h {} min", seconds / 3600, seconds % 3600 / 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_whole_or_not_there() {
        let counts = SampleCounts { done: 24, resumed: 0, failed: 2, total: 60 };
        let figures = ["accuracy 0.500", "f1 0.400"].map(str::to_owned);
        let line = |available| fitting(&parts(&counts, Duration::from_secs(2), &figures), available);
        assert_eq!(line(usize::MAX), " · 12/s · 3 s left · 2 failed · accuracy 0.500 · f1 0.400");
        // The rate goes first, the figure that the run is watched for stays.
        assert_eq!(line(46), " · 12/s · 3 s left · 2 failed · accuracy 0.500");
        assert_eq!(line(40), " · 3 s left · 2 failed · accuracy 0.500");
        assert_eq!(line(30), " · 2 failed · accuracy 0.500");
        assert_eq!(line(3), "");
        // Before the first sample is done nobody knows the rate.
        let none = SampleCounts { done: 5, resumed: 5, failed: 0, total: 60 };
        assert_eq!(fitting(&parts(&none, Duration::from_secs(2), &[]), usize::MAX), "");
    }

    #[test]
    fn the_interval_that_may_stop_the_run_is_shown() {
        let shown = |rule: &str| {
            let mut progress = SequenceProgress::new(rule.parse().unwrap(), "accuracy");
            (progress.value, progress.lower, progress.upper) = (Some(0.7125), 0.6811, 0.7439);
            sequence_text(&progress)
        };
        assert_eq!(shown("width(accuracy) < 0.04"), "accuracy 0.713 [0.681, 0.744], width 0.063 of 0.04");
        assert_eq!(shown("decided(accuracy, 0.5)"), "accuracy 0.713 [0.681, 0.744] against 0.5");
        assert_eq!(shown("better_than(a.eval)"), "difference in accuracy 0.713 [0.681, 0.744]");
    }

    #[test]
    fn times_are_short() {
        assert_eq!(time(Duration::from_secs(59)), "59 s");
        assert_eq!(time(Duration::from_secs(61)), "1 min 1 s");
        assert_eq!(time(Duration::from_secs(7265)), "2 h 1 min");
    }
}
