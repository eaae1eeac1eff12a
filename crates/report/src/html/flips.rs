//! Where two runs part: samples by the scores of both.

use errorbar_core::Direction;
use errorbar_inference::CrossTable;
use maud::{Markup, html};

use super::cells::counted;
use super::task::{Task, TaskComparison};
use crate::comparison::Pair;
use crate::number::{grouped, plain};
use crate::text::percent_encoded;

/// The most matrices that are shown.
const MOST: usize = 6;

/// A matrix for each pair whose scores are few different ones.
pub(super) fn matrices(task: &Task<'_>, comparison: &TaskComparison, has_samples: bool) -> Markup {
    let mut pairs: Vec<(Pair<'_>, &CrossTable)> = comparison
        .pairs
        .comparisons
        .iter()
        .filter_map(|c| Some((Pair::of(c), c.cross_table.as_ref()?)))
        .collect();
    let all = pairs.len();
    if all > MOST {
        sort_by_distance(&mut pairs, |(pair, _)| pair);
        pairs.truncate(MOST);
    }
    if pairs.is_empty() {
        return Markup::default();
    }
    html! {
        h3.h3 { "Where they part" }
        p.note {
            "Samples by the score of each run. Off the diagonal one run is ahead, in its colour."
            @if all > MOST {
                " These are the " (MOST) " pairs that differ most, of " (all) "; " (all - MOST) " are not shown."
            }
            @if has_samples { " " span.noprint { "A number opens its samples below." } }
        }
        div.mats { @for (pair, table) in &pairs { (matrix(task, pair, table, has_samples)) } }
    }
}

/// Those that can be told apart first, then those that differ most.
pub(super) fn sort_by_distance<'c, T>(pairs: &mut [T], pair: impl Fn(&T) -> &Pair<'c>) {
    let distance = |pair: &Pair<'_>| pair.comparison.difference.number().map_or(0.0, f64::abs);
    pairs.sort_by(|a, b| {
        let (a, b) = (pair(a), pair(b));
        b.is_decided.cmp(&a.is_decided).then(distance(b).total_cmp(&distance(a)))
    });
}

fn matrix(task: &Task<'_>, pair: &Pair<'_>, table: &CrossTable, has_samples: bool) -> Markup {
    let (ahead, behind) = (task.series(pair.ahead), task.series(pair.behind));
    let size = table.scores.len();
    let labels = labels(&table.scores);
    // Counts are by the base, then by the other side; rows are of the run that is ahead.
    let cell = |of_ahead: usize, of_behind: usize| {
        let (base, other) = if pair.is_as_computed { (of_behind, of_ahead) } else { (of_ahead, of_behind) };
        table.counts.get(base).and_then(|row| row.get(other)).copied().unwrap_or(0)
    };
    let is_lower_better = pair.comparison.direction == Direction::Lower;
    let label = |at: usize| labels.get(at).map_or("", String::as_str);
    let (ahead_name, behind_name) = (pair.ahead, pair.behind);
    let region = format!("{ahead_name} against {behind_name}{}", task.in_words());
    // The best scores are on top and at the right.
    let ascending: Vec<usize> = if is_lower_better { (0..size).rev().collect() } else { (0..size).collect() };
    let square = |row: usize, column: usize| {
        let number = cell(row, column);
        let better = if is_lower_better { row < column } else { row > column };
        let class = match (row == column, better) {
            (true, _) => "tie",
            (false, true) => ahead.class,
            (false, false) => behind.class,
        };
        let shade = match number {
            0 => "z",
            1..=4 => "q1",
            5..=11 => "q2",
            12..=24 => "q3",
            _ => "q4",
        };
        let samples = counted(number, "sample");
        let words = format!("{samples}: {ahead_name} {}, {behind_name} {}", label(row), label(column));
        html! {
            td.(class).(shade) {
                @if number == 0 { span { "0" } }
                @else if has_samples { a href=(link(pair, table, row, column)) aria-label=(words) { (grouped(number)) } }
                @else { span title=(words) { (grouped(number)) } }
            }
        }
    };
    html! {
        figure.keep {
            div.wide role="region" aria-label=(region) tabindex="0" {
                table.mat {
                    caption.vh { "Samples by score, " (ahead_name) " against " (behind_name) }
                    tbody {
                        @for (line, row) in ascending.iter().rev().enumerate() {
                            tr {
                                @if line == 0 {
                                    th.axn.side rowspan=(size) scope="rowgroup" { span title=(ahead_name) { (ahead_name) } }
                                }
                                th scope="row" { (label(*row)) }
                                @for column in &ascending { (square(*row, *column)) }
                            }
                        }
                    }
                    tfoot {
                        tr {
                            td.corner {}
                            td.corner {}
                            @for column in &ascending { th scope="col" { (label(*column)) } }
                        }
                        tr {
                            td.corner colspan="2" {}
                            th.axn colspan=(size) scope="colgroup" { span title=(behind_name) { (behind_name) } }
                        }
                    }
                }
            }
            @if let Some((better, equal, worse)) = pair.outcomes() {
                // Of many runs all have one mark, and only names tell them apart.
                @let class = if ahead == behind { "any" } else { "vh" };
                figcaption.mcap {
                    "ahead on " (ahead.dot()) span.(class) { (ahead_name) " " } (grouped(better)) ", "
                    (behind.dot()) span.(class) { (behind_name) " " } (grouped(worse)) "; equal on " (grouped(equal))
                }
            }
        }
    }
}

/// The link to the samples of a cell: the score of each run.
fn link(pair: &Pair<'_>, table: &CrossTable, row: usize, column: usize) -> String {
    let score = |at: usize| table.scores.get(at).map(|score| score.to_string()).unwrap_or_default();
    let part = |name: &str, at: usize| format!("{}:{}", encode(name), encode(&score(at)));
    format!("#samples?a={}&b={}", part(pair.ahead, row), part(pair.behind, column))
}

/// The text in a query.
pub(super) fn encode(text: &str) -> String {
    percent_encoded(text, b"-._~")
}

/// Scores as they are written: shares of a few epochs as fractions.
fn labels(scores: &[f64]) -> Vec<String> {
    let is_whole = |number: f64| (number - number.round()).abs() < 1e-6;
    let is_unit = scores.iter().all(|score| (0.0..=1.0).contains(score));
    let denominator = (1..=10_u32).find(|d| scores.iter().all(|score| is_whole(score * f64::from(*d))));
    match denominator.filter(|d| is_unit && *d > 1) {
        Some(d) => scores.iter().map(|score| format!("{}/{d}", (score * f64::from(d)).round())).collect(),
        None => scores.iter().map(|score| super::cells::minus(&plain(*score))).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_of_epochs_are_fractions() {
        assert_eq!(labels(&[0.0, 1.0 / 3.0, 2.0 / 3.0, 1.0]), ["0/3", "1/3", "2/3", "3/3"]);
        assert_eq!(labels(&[0.0, 1.0]), ["0", "1"]);
        assert_eq!(labels(&[-1.0, 2.5]), ["−1", "2.5"]);
    }

    #[test]
    fn names_do_not_leave_their_place_in_a_link() {
        assert_eq!(encode("a&b=c:\"<é"), "a%26b%3Dc%3A%22%3C%C3%A9");
    }
}
