//! The order of three or more runs, as far as the data support one.
//!
//! Few runs with short names are in a line, with lines under those that cannot be told apart; others are in a column, with
//! letters for the same.

use errorbar_inference::{Rank, Ranking};
use maud::{Markup, html};

use super::task::{GroupComparison, Task, TaskComparison, run_name};
use crate::plot::{TieLine, tie_lines};
use crate::svg::{breakable, percent};

/// The most relations that are put into words.
const MOST_SAID: usize = 6;
/// The most runs that are in a line, and the most characters of their names together.
const MOST_IN_LINE: usize = 5;
const LONGEST_LINE: usize = 60;

/// The rankings over all samples and within groups.
pub(super) fn table(task: &Task<'_>, comparison: &TaskComparison) -> Markup {
    let Some(all) = &comparison.ranking else { return Markup::default() };
    let alpha = crate::number::plain(((1.0 - all.level) * 1e9).round() / 1e9);
    let pairs = all.ranks.len() * all.ranks.len().saturating_sub(1) / 2;
    let width: usize = all.ranks.iter().map(|rank| rank.side.chars().count()).sum();
    let is_line = all.ranks.len() <= MOST_IN_LINE && width <= LONGEST_LINE;
    let (what, within) = if is_line { ("line joins", "row") } else { ("letter is shared by", "column") };
    let label = format!("Ranking{}, scrolls sideways", task.in_words());
    html! {
        h3.h3 { "Ranking" }
        p.note {
            "In order of the estimate. A " (what) " runs that cannot be told apart (Holm’s p ≥ " (alpha) " for the "
            (pairs) " pairs of the " (within) "); the number is the range of ranks that the same tests leave."
        }
        div.wide role="region" aria-label=(label) tabindex="0" {
            @if is_line { (lines(task, all, &comparison.groups)) } @else { (columns(task, all, &comparison.groups)) }
        }
    }
}

/// The groups that have a ranking; with their key if there are several keys.
fn labelled(groups: &[GroupComparison]) -> impl Iterator<Item = (Markup, &Ranking)> {
    let has_several = groups.iter().any(|group| Some(&group.by) != groups.first().map(|g| &g.by));
    groups.iter().filter_map(move |group| {
        let label = html! {
            @if has_several { small { (group.by) } " " }
            span class="any clamp" dir="auto" { (breakable(&group.group)) }
        };
        Some((label, group.ranking.as_ref()?))
    })
}

/// A row for all samples and for each group, the runs from left to right.
fn lines(task: &Task<'_>, all: &Ranking, groups: &[GroupComparison]) -> Markup {
    html! {
        table class={ "t rank k" (all.ranks.len()) } {
            thead {
                tr {
                    th scope="col" { "samples" }
                    th scope="col" { "rank" }
                    th scope="col" { "what can be said" }
                }
            }
            tbody {
                (line(&html! { b { "all" } }, task, all))
                @for (label, ranking) in labelled(groups) { (line(&label, task, ranking)) }
            }
        }
    }
}

fn line(label: &Markup, task: &Task<'_>, ranking: &Ranking) -> Markup {
    html! {
        tr {
            th scope="row" { (label) }
            td.order {
                ol {
                    @for rank in &ranking.ranks {
                        li { small { (rank.range_text()) } " " (run_name(&rank.side, task.series(&rank.side))) }
                    }
                }
                (ties(&ranking.ranks))
            }
            td.say { (relations(&ranking.ranks)) }
        }
    }
}

/// A line under the runs that share a letter; runs that overlap are on different levels, and a run in between that is not
/// of them has a thin line.
fn ties(ranks: &[Rank]) -> Markup {
    let count = ranks.len().max(1) as f64;
    let lines = tie_lines(ranks);
    let levels = lines.iter().map(|line| line.level + 1).max().unwrap_or(0);
    let stroke = |class: &str, first: usize, last: usize, level: usize| {
        let from = percent(100.0 * first as f64 / count + 1.0);
        let to = percent(100.0 * (last + 1) as f64 / count - 2.0);
        let y = 2 + 5 * level;
        html! { line.(class) x1=(from) x2=(to) y1=(y) y2=(y) {} }
    };
    html! {
        svg.ties height=(5 + 5 * levels) aria-hidden="true" focusable="false" {
            @for TieLine { level, stretches } in &lines {
                @if let [(first, _), .., (_, last)] = stretches.as_slice() { (stroke("tiegap", *first, *last, *level)) }
                @for (first, last) in stretches { (stroke("tieline", *first, *last, *level)) }
            }
        }
    }
}

/// A row for each run, a column for all samples and for each group.
fn columns(task: &Task<'_>, all: &Ranking, groups: &[GroupComparison]) -> Markup {
    let of_groups: Vec<(Markup, &Ranking)> = labelled(groups).collect();
    html! {
        table.t.ranks {
            thead {
                tr {
                    th scope="col" { (super::estimates::run_word(task)) }
                    th scope="col" { "all" }
                    @for (label, _) in &of_groups { th scope="col" { span.clip { (label) } } }
                }
            }
            tbody {
                @for rank in &all.ranks {
                    tr {
                        th scope="row" { (run_name(&rank.side, task.series(&rank.side))) }
                        (place(Some(rank)))
                        @for (_, ranking) in &of_groups {
                            (place(ranking.ranks.iter().find(|other| other.side == rank.side)))
                        }
                    }
                }
            }
        }
    }
}

fn place(rank: Option<&Rank>) -> Markup {
    html! {
        td {
            @match rank {
                Some(rank) => span.nw {
                    (rank.range_text()) " " small { (rank.tie_letters().collect::<Vec<_>>().join(" ")) }
                },
                None => span.dim { "–" },
            }
        }
    }
}

/// What the tests support, in words.
fn relations(ranks: &[Rank]) -> Markup {
    if ranks.iter().any(|rank| rank.tie_groups.is_empty()) {
        return html! { "see the ranges" };
    }
    let differ =
        |a: &Rank, b: &Rank| !a.tie_letters().any(|letter| b.tie_letters().any(|other| other == letter));
    let pairs: Vec<(&Rank, &Rank)> = ranks
        .iter()
        .enumerate()
        .flat_map(|(at, a)| ranks.iter().skip(at + 1).filter(move |b| differ(a, b)).map(move |b| (a, b)))
        .collect();
    let name = |rank: &Rank| html! { span.any { (rank.side) } };
    let is_order = ranks.len() > 1 && pairs.len() == ranks.len() * (ranks.len() - 1) / 2;
    html! {
        @if is_order {
            @for (at, rank) in ranks.iter().enumerate() { @if at > 0 { " > " } (name(rank)) }
        } @else if pairs.is_empty() {
            "nothing can be told apart"
        } @else {
            @for (at, (a, b)) in pairs.iter().take(MOST_SAID).enumerate() {
                @if at > 0 { ", " }
                (name(a)) " > " (name(b))
            }
            @if pairs.len() > MOST_SAID { " and " (pairs.len() - MOST_SAID) " more" }
        }
    }
}

#[cfg(test)]
mod tests {
    use errorbar_core::Estimate;

    use super::*;

    fn said(ranks: &[Rank]) -> String {
        relations(ranks).into_string()
    }

    fn rank(side: &str, letters: &str) -> Rank {
        Rank::new(side, Estimate::new(0.5), 1, (1, 3), letters)
    }

    #[test]
    fn words_claim_no_more_than_the_letters() {
        assert_eq!(said(&[rank("a", "a"), rank("b", "a")]), "nothing can be told apart");
        let text = said(&[rank("a", "a"), rank("b", "ab"), rank("<c>", "b")]);
        assert_eq!(text, "<span class=\"any\">a</span> &gt; <span class=\"any\">&lt;c&gt;</span>");
        let text = said(&[rank("a", "a"), rank("b", "b"), rank("c", "c")]);
        assert_eq!(text.matches("&gt;").count(), 2, "{text}");
        // Neighbours differ, the ends do not: that is no order of three.
        let text = said(&[rank("a", "a"), rank("b", "b"), rank("c", "a")]);
        assert!(text.contains(", ") && text.matches("&gt;").count() == 2, "{text}");
        assert_eq!(said(&[rank("a", ""), rank("b", "")]), "see the ranges", "too many groups to name");
        // `a2` is another group than `a`.
        assert_ne!(said(&[rank("a", "a"), rank("b", "a2")]), "nothing can be told apart");
    }

    #[test]
    fn lines_that_overlap_have_levels() {
        let drawn = ties(&[rank("a", "a"), rank("b", "ab"), rank("c", "b")]).0;
        assert!(drawn.contains("y1=\"2\"") && drawn.contains("y1=\"7\""), "{drawn}");
        let apart = ties(&[rank("a", "a"), rank("b", "a"), rank("c", "b"), rank("d", "b")]).0;
        assert!(!apart.contains("y1=\"7\"") && apart.matches("<line").count() == 2, "{apart}");
    }

    /// A run between two that cannot be told apart, from which both can: a line under all three would deny that.
    #[test]
    fn a_line_does_not_join_what_is_told_apart() {
        let drawn = ties(&[rank("a", "a"), rank("b", "b"), rank("c", "a")]).0;
        assert_eq!((drawn.matches("tieline").count(), drawn.matches("tiegap").count()), (2, 1), "{drawn}");
    }
}
