//! The finding, in two sentences: the estimates, and what the corrected tests support. Never more than those.

use errorbar_core::{Estimate, IntervalSide};
use maud::{Markup, html};

use super::PageRun;
use super::cells::{counted, inline, minus};
use super::figures::FigureCell;
use super::task::{Task, TaskComparison};
use crate::comparison::{Pair, p_text, two_digits};
use crate::number::percent;
use crate::svg::name_length;

/// What follows the first ± of a lead.
pub(super) const ERROR_NAME: &str = " (one standard error)";
/// The most runs that are named.
const MOST_NAMED: usize = 4;

/// What the runs of a task show.
pub(super) fn sentences(task: &Task<'_>) -> Markup {
    let Some(figure) = &task.figures.headline else {
        let none = task.runs.iter().find_map(|(run, _)| run.report.results.headline_row().err()?.in_words());
        return match none {
            Some(none) => html! { "There are figures " (none) "." },
            None => html! { "There is no figure to show." },
        };
    };
    // Figures of several scorers may have the same name.
    let has_several = task.figures.others.iter().any(|other| other.key.scorer != figure.key.scorer);
    let by = if has_several { format!(" by {}", figure.key.scorer) } else { String::new() };
    let title = format!("{}{by}", figure.key.title());
    let order = task.order();
    let cell_at = |at: &usize| figure.cells.get(*at).and_then(Option::as_ref);
    let first_error =
        order.iter().copied().find(|at| cell_at(at).is_some_and(|cell| has_error(&cell.estimate)));
    let value = |at: usize, run: &PageRun<'_>, cell: Option<&FigureCell>| {
        let Some(cell) = cell else { return html! { "no figure" } };
        html! {
            (inline(&cell.estimate))
            @if first_error == Some(at) { (ERROR_NAME) }
            // A run without its end has no figure yet but that of the samples that it has.
            @if run.is_partial() && cell.estimate.value.is_ok() { " so far" }
        }
    };
    let cells: Vec<(Markup, Option<&FigureCell>, Markup)> = order
        .iter()
        .filter_map(|at| {
            let (run, _) = task.runs.get(*at)?;
            let cell = figure.cells.get(*at)?.as_ref();
            Some((bold(&run.name), cell, value(*at, run, cell)))
        })
        .collect();
    html! {
        @match cells.as_slice() {
            [] => {}
            [(name, Some(cell), value)] if cell.estimate.value.is_err() => { (name) " has no " (title) ": " (value) "." }
            [(name, cell, value)] => {
                (name) " has " (article(&title)) " " (title) " of " (value)
                @if let Some(cell) = cell { (single(&cell.estimate)) }
                "."
            }
            [(first, _, value), others @ ..] => {
                (first) " has " (article(&title)) " " (title) " of " (value)
                @for (name, _, value) in others.iter().take(MOST_NAMED - 1) { ", " (name) " " (value) }
                @if others.len() > MOST_NAMED - 1 { ", and " (others.len() - (MOST_NAMED - 1)) " more" }
                "."
            }
        }
        @if let Some(comparison) = task.comparison.as_ref().filter(|_| !cells.is_empty()) { " " (compared(comparison)) }
    }
}

/// What follows the only figure: its interval, and what it is over.
fn single(estimate: &Estimate) -> Markup {
    let text = crate::EstimateText::from(estimate).interval_text();
    let interval = estimate.interval.as_ref().ok();
    let interval = interval.filter(|_| !text.is_empty() && estimate.value.is_ok());
    let text = minus(&text).replace(['[', ']'], "").replace(", ", " to ");
    let clusters = estimate.error.as_ref().ok().and_then(|error| error.clusters.first().copied());
    html! {
        @if let Some(interval) = interval {
            @let (what, text) = match interval.side {
                IntervalSide::Lower => ("lower bound", text.trim_start_matches(['≥', ' '])),
                IntervalSide::Upper => ("upper bound", text.trim_start_matches(['≤', ' '])),
                _ => ("interval", text.as_str()),
            };
            "; the " (percent(interval.level)) " " (what) " is " span.nw { (text) }
        }
        @if estimate.n > 0 {
            ", over " (counted(estimate.n, "sample"))
            @if let Some(clusters) = clusters { " in " (counted(clusters, "cluster")) }
        }
    }
}

/// Whether a figure has an error that is shown.
pub(super) fn has_error(estimate: &Estimate) -> bool {
    estimate.value.is_ok() && estimate.error.as_ref().is_ok_and(|error| !error.degenerate)
}

/// What the corrected tests of all pairs support.
pub(super) fn compared(comparison: &TaskComparison) -> Markup {
    let pairs: Vec<Pair<'_>> = comparison.pairs.comparisons.iter().map(Pair::of).collect();
    let is_paired = pairs.first().is_some_and(|pair| pair.comparison.is_paired);
    let is_unmatched = comparison.is_unmatched();
    let on = match (is_paired, is_unmatched, pairs.as_slice()) {
        (true, true, [pair]) => format!("On the {} that both have", counted(pair.comparison.n, "sample")),
        (true, true, _) => "On the samples that two runs share".to_owned(),
        (true, false, _) => "On the same samples".to_owned(),
        (false, ..) => "On different samples".to_owned(),
    };
    // What has no difference was not compared.
    let (pairs, undefined): (Vec<Pair<'_>>, Vec<Pair<'_>>) =
        pairs.into_iter().partition(|pair| pair.difference().value.is_ok());
    if let ([], [first, ..]) = (pairs.as_slice(), undefined.as_slice()) {
        return html! { "They are not compared: the difference is " (inline(&first.difference())) "." };
    }
    if let ([pair], []) = (pairs.as_slice(), undefined.as_slice()) {
        return one_pair(&on, pair);
    }
    html! {
        (several_pairs(&on, comparison, &pairs, undefined.is_empty()))
        @match undefined.len() {
            0 => {}
            1 => { " 1 pair is not compared, as its difference is undefined." }
            count => { " " (count) " pairs are not compared, as their differences are undefined." }
        }
    }
}

fn one_pair(on: &str, pair: &Pair<'_>) -> Markup {
    let p = pair.p().map_or_else(|| "unknown".to_owned(), p_text);
    let relation = if p.starts_with('<') { "" } else { "= " };
    html! {
        (on) " "
        @if pair.is_decided { (bold(pair.ahead)) " is ahead by " }
        @else { "they cannot be told apart: the difference is " }
        (inline(&pair.difference())) " (" span.nw { "p " (relation) (p) } ")"
        @if let (false, Ok(mde)) = (pair.is_decided, &pair.comparison.mde) {
            ", and " (two_digits(*mde)) " is the least that would have been found 4 times in 5"
        }
        "."
    }
}

fn several_pairs(on: &str, comparison: &TaskComparison, pairs: &[Pair<'_>], are_all: bool) -> Markup {
    const MOST: usize = 3;
    let decided: Vec<&Pair<'_>> = pairs.iter().filter(|pair| pair.is_decided).collect();
    let largest = decided.iter().filter_map(|pair| pair.p()).fold(0.0_f64, f64::max);
    let bound = p_text(largest);
    let bound = if bound.starts_with('<') { bound } else { format!("≤ {bound}") };
    let bound = html! { "(" span.nw { "Holm’s p " (bound) } ")" };
    let sides = &comparison.pairs.sides;
    let is_all = comparison.pairs.options.all_pairs;
    html! {
        (on) " "
        @match (decided.len(), pairs.len()) {
            (0, _) if is_all => { "no two of them can be told apart." }
            (0, _) => {
                "none of them can be told apart from " (sides.first().map(String::as_str).unwrap_or_default())
                ", with which they are compared."
            }
            (all, of) if all == of && is_all && are_all => {
                "all " @if sides.len() == 3 { "three" } @else { (sides.len()) } " can be told apart " (bound) "."
            }
            (some, of) => {
                (some) " of " (of) " pairs" @if !is_all { " that were compared" } " can be told apart: "
                @for (at, pair) in decided.iter().take(MOST).enumerate() {
                    @if at > 0 { ", " }
                    (unbroken(pair.ahead)) " from " (unbroken(pair.behind))
                }
                @if some > MOST { " and " (some - MOST) " more" }
                " " (bound) "."
            }
        }
    }
}

/// The name of a run; a long one may be broken.
fn bold(name: &str) -> Markup {
    html! { b { (unbroken(name)) } }
}

fn unbroken(name: &str) -> Markup {
    match name_length(name) {
        " long" => html! { (name) },
        _ => html! { span.nw { (name) } },
    }
}

fn article(word: &str) -> &'static str {
    if word.starts_with(['a', 'e', 'i', 'o', 'u', 'A', 'E', 'I', 'O', 'U']) { "an" } else { "a" }
}
