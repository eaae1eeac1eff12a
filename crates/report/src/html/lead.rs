//! The finding, in two sentences: the estimates, and what the corrected tests support. Never more than those.

use errorbar_core::{Estimate, Side};
use errorbar_inference::ComparisonWarning;

use super::PageRun;
use super::cells::{counted, inline};
use super::figures::FigureCell;
use super::task::{Pair, Task, TaskComparison};
use crate::comparison::{p_text, two_digits};
use crate::number::percent;
use crate::svg::{escape, name_length};

/// What follows the first ± of a lead.
pub(super) const ERROR_NAME: &str = " (one standard error)";
/// The most runs that are named.
const MOST_NAMED: usize = 4;

/// What the runs of a task show.
pub(super) fn sentences(task: &Task<'_>) -> String {
    let Some(figure) = &task.figures.headline else {
        let none = task.runs.iter().find_map(|(run, _)| run.report.results.headline_row().err()?.in_words());
        return match none {
            Some(none) => format!("There are figures {}.", escape(&none)),
            None => "There is no figure to show.".to_owned(),
        };
    };
    // Figures of several scorers may have the same name.
    let has_several = task.figures.others.iter().any(|other| other.key.scorer != figure.key.scorer);
    let by = if has_several { format!(" by {}", figure.key.scorer) } else { String::new() };
    let title = escape(&format!("{}{by}", figure.key.title()));
    let order = task.order();
    let cell_at = |at: &usize| figure.cells.get(*at).and_then(Option::as_ref);
    let first_error =
        order.iter().copied().find(|at| cell_at(at).is_some_and(|cell| has_error(&cell.estimate)));
    // A run without its end has no figure yet but that of the samples that it has.
    let value = |at: usize, run: &PageRun<'_>, cell: Option<&FigureCell>| {
        let what = if first_error == Some(at) { ERROR_NAME } else { "" };
        let so_far = if run.is_partial() && cell.is_some_and(|cell| cell.estimate.value.is_ok()) {
            " so far"
        } else {
            ""
        };
        cell.map_or_else(|| "no figure".to_owned(), |cell| inline(&cell.estimate) + what + so_far)
    };
    let cells: Vec<(String, Option<&FigureCell>, String)> = order
        .iter()
        .filter_map(|at| {
            let (run, _) = task.runs.get(*at)?;
            let cell = figure.cells.get(*at)?.as_ref();
            Some((bold(&run.name), cell, value(*at, run, cell)))
        })
        .collect();
    let mut text = match cells.as_slice() {
        [] => return String::new(),
        [(name, Some(cell), value)] if cell.estimate.value.is_err() => {
            format!("{name} has no {title}: {value}.")
        }
        [(name, cell, value)] => {
            let first = format!("{name} has {} {title} of {value}", article(&title));
            format!("{first}{}.", cell.map(|cell| single(&cell.estimate)).unwrap_or_default())
        }
        [(first, _, value), others @ ..] => {
            let shown = others.iter().take(MOST_NAMED - 1);
            let named: Vec<String> = shown.map(|(name, _, value)| format!("{name} {value}")).collect();
            let more = others.len().saturating_sub(MOST_NAMED - 1);
            let more = if more > 0 { format!(", and {more} more") } else { String::new() };
            format!("{first} has {} {title} of {value}, {}{more}.", article(&title), named.join(", "))
        }
    };
    if let Some(comparison) = &task.comparison {
        text = format!("{text} {}", compared(comparison));
    }
    text
}

/// What follows the only figure: its interval, and what it is over.
fn single(estimate: &Estimate) -> String {
    let text = crate::EstimateText::from(estimate).interval_text();
    let interval = estimate.interval.as_ref().ok();
    let interval = interval.filter(|_| !text.is_empty() && estimate.value.is_ok()).map(|interval| {
        let text = super::cells::minus(&text).replace(['[', ']'], "").replace(", ", " to ");
        let (what, text) = match interval.side {
            Side::Lower => ("lower bound", text.trim_start_matches(['≥', ' '])),
            Side::Upper => ("upper bound", text.trim_start_matches(['≤', ' '])),
            _ => ("interval", text.as_str()),
        };
        let level = percent(interval.level);
        format!("; the {level} {what} is <span class=\"nw\">{}</span>", escape(text))
    });
    let clusters = estimate.error.as_ref().ok().and_then(|error| error.clusters.first().copied());
    let clusters = clusters.map(|clusters| format!(" in {}", counted(clusters, "cluster")));
    let over = format!(", over {}{}", counted(estimate.n, "sample"), clusters.unwrap_or_default());
    interval.unwrap_or_default() + if estimate.n > 0 { &over } else { "" }
}

/// Whether a figure has an error that is shown.
pub(super) fn has_error(estimate: &Estimate) -> bool {
    estimate.value.is_ok() && estimate.error.as_ref().is_ok_and(|error| !error.degenerate)
}

/// What the corrected tests of all pairs support.
pub(super) fn compared(comparison: &TaskComparison) -> String {
    let pairs: Vec<Pair<'_>> = comparison.pairs.comparisons.iter().map(Pair::of).collect();
    let is_paired = pairs.first().is_some_and(|pair| pair.comparison.is_paired);
    let is_unmatched = comparison
        .pairs
        .warnings
        .iter()
        .any(|warning| matches!(warning, ComparisonWarning::Unmatched { .. }));
    let on = match (is_paired, is_unmatched, pairs.as_slice()) {
        (true, true, [pair]) => format!("On the {} that both have", counted(pair.comparison.n, "sample")),
        (true, true, _) => "On the samples that two runs share".to_owned(),
        (true, false, _) => "On the same samples".to_owned(),
        (false, ..) => "On different samples".to_owned(),
    };
    let p = |pair: &Pair<'_>| {
        let text = pair.p().map(p_text).unwrap_or_else(|| "unknown".to_owned());
        let relation = if text.starts_with('<') { "" } else { "= " };
        format!("<span class=\"nw\">p {relation}{}</span>", escape(&text))
    };
    // What has no difference was not compared.
    let (compared, undefined): (Vec<Pair<'_>>, Vec<Pair<'_>>) =
        pairs.into_iter().partition(|pair| pair.difference().value.is_ok());
    let pairs = compared;
    let uncompared = match (undefined.as_slice(), undefined.len()) {
        ([], _) => String::new(),
        ([first, ..], _) if pairs.is_empty() => {
            return format!("They are not compared: the difference is {}.", inline(&first.difference()));
        }
        (_, 1) => " 1 pair is not compared, as its difference is undefined.".to_owned(),
        (_, count) => format!(" {count} pairs are not compared, as their differences are undefined."),
    };
    let decided: Vec<&Pair<'_>> = pairs.iter().filter(|pair| pair.is_decided).collect();
    if let ([pair], []) = (pairs.as_slice(), undefined.as_slice()) {
        let difference = inline(&pair.difference());
        return match (pair.is_decided, &pair.comparison.mde) {
            (true, _) => {
                format!("{on} {} is ahead by {difference} ({}).", bold(pair.ahead), p(pair))
            }
            (false, Ok(mde)) => format!(
                "{on} they cannot be told apart: the difference is {difference} ({}), and {} is the least that would have \
                 been found 4 times in 5.",
                p(pair),
                two_digits(*mde)
            ),
            (false, Err(_)) => {
                format!("{on} they cannot be told apart: the difference is {difference} ({}).", p(pair))
            }
        };
    }
    let largest = decided.iter().filter_map(|pair| pair.p()).fold(0.0_f64, f64::max);
    let bound = p_text(largest);
    let bound = if bound.starts_with('<') { bound } else { format!("≤ {bound}") };
    let bound = format!("<span class=\"nw\">Holm’s p {}</span>", escape(&bound));
    let is_all = comparison.pairs.options.all_pairs;
    let found = match (decided.len(), pairs.len()) {
        (0, _) if is_all => format!("{on} no two of them can be told apart."),
        (0, _) => {
            let base = comparison.pairs.sides.first().map(String::as_str).unwrap_or_default();
            format!(
                "{on} none of them can be told apart from {}, with which they are compared.",
                escape(base)
            )
        }
        (all, of) if all == of && is_all && undefined.is_empty() => {
            let count = comparison.pairs.sides.len();
            let count = if count == 3 { "three".to_owned() } else { count.to_string() };
            format!("{on} all {count} can be told apart ({bound}).")
        }
        (some, of) => {
            let named: Vec<String> = decided
                .iter()
                .take(3)
                .map(|pair| format!("{} from {}", unbroken(pair.ahead), unbroken(pair.behind)))
                .collect();
            let more = some.saturating_sub(3);
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            let all = if is_all { String::new() } else { " that were compared".to_owned() };
            format!("{on} {some} of {of} pairs{all} can be told apart: {}{more} ({bound}).", named.join(", "))
        }
    };
    found + &uncompared
}

/// The name of a run; a long one may be broken.
fn bold(name: &str) -> String {
    format!("<b>{}</b>", unbroken(name))
}

fn unbroken(name: &str) -> String {
    match name_length(name) {
        " long" => escape(name),
        _ => format!("<span class=\"nw\">{}</span>", escape(name)),
    }
}

fn article(word: &str) -> &'static str {
    if word.starts_with(['a', 'e', 'i', 'o', 'u', 'A', 'E', 'I', 'O', 'U']) { "an" } else { "a" }
}
