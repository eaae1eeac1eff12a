//! The order of three or more runs, as far as the data support one.
//!
//! Few runs with short names are in a line, with lines under those that cannot be told apart; others are in a column, with
//! letters for the same.

use std::fmt::Write as _;

use errorbar_inference::{Rank, Ranking};

use super::task::{GroupComparison, Task, TaskComparison, run_name};
use crate::svg::{breakable, escape, percent};
use crate::tie_lines::{TieLine, tie_lines};

/// The most relations that are put into words.
const MOST_SAID: usize = 6;
/// The most runs that are in a line, and the most characters of their names together.
const MOST_IN_LINE: usize = 5;
const LONGEST_LINE: usize = 60;

/// The rankings over all samples and within groups.
pub(super) fn table(task: &Task<'_>, comparison: &TaskComparison) -> String {
    let Some(all) = &comparison.ranking else { return String::new() };
    let alpha = crate::number::plain(((1.0 - all.level) * 1e9).round() / 1e9);
    let pairs = all.ranks.len() * all.ranks.len().saturating_sub(1) / 2;
    let width: usize = all.ranks.iter().map(|rank| rank.side.chars().count()).sum();
    let is_line = all.ranks.len() <= MOST_IN_LINE && width <= LONGEST_LINE;
    let (what, within) = if is_line { ("line joins", "row") } else { ("letter is shared by", "column") };
    let note = format!(
        "In order of the estimate. A {what} runs that cannot be told apart (Holm’s p ≥ {alpha} for the {pairs} pairs of the \
         {within}); the number is the range of ranks that the same tests leave."
    );
    let shown =
        if is_line { lines(task, all, &comparison.groups) } else { columns(task, all, &comparison.groups) };
    format!(
        "<h3 class=\"h3\">Ranking</h3><p class=\"note\">{note}</p><div class=\"wide\" role=\"region\" \
         aria-label=\"Ranking{}, scrolls sideways\" tabindex=\"0\">{shown}</div>",
        task.in_words()
    )
}

/// The groups that have a ranking; with their key if there are several keys.
fn labelled(groups: &[GroupComparison]) -> impl Iterator<Item = (String, &Ranking)> {
    let has_several = groups.iter().any(|group| Some(&group.by) != groups.first().map(|g| &g.by));
    groups.iter().filter_map(move |group| {
        let by = if has_several { format!("<small>{}</small> ", escape(&group.by)) } else { String::new() };
        let label = format!("{by}<span class=\"any clamp\" dir=\"auto\">{}</span>", breakable(&group.group));
        Some((label, group.ranking.as_ref()?))
    })
}

/// A row for all samples and for each group, the runs from left to right.
fn lines(task: &Task<'_>, all: &Ranking, groups: &[GroupComparison]) -> String {
    let mut html = format!(
        "<table class=\"t rank k{}\"><thead><tr><th scope=\"col\">samples</th><th scope=\"col\">rank</th><th \
         scope=\"col\">what can be said</th></tr></thead><tbody>",
        all.ranks.len()
    );
    html += &line("<b>all</b>", task, all);
    for (label, ranking) in labelled(groups) {
        html += &line(&label, task, ranking);
    }
    html + "</tbody></table>"
}

fn line(label: &str, task: &Task<'_>, ranking: &Ranking) -> String {
    let mut html = format!("<tr><th scope=\"row\">{label}</th><td class=\"order\"><ol>");
    for rank in &ranking.ranks {
        let name = run_name(&rank.side, task.series(&rank.side));
        let _ = write!(html, "<li><small>{}</small> {name}</li>", rank.range_text());
    }
    let _ = write!(
        html,
        "</ol>{}</td><td class=\"say\">{}</td></tr>",
        ties(&ranking.ranks),
        said(&ranking.ranks)
    );
    html
}

/// A line under the runs that share a letter; runs that overlap are on different levels, and a run in between that is not
/// of them has a thin line.
fn ties(ranks: &[Rank]) -> String {
    let count = ranks.len().max(1) as f64;
    let lines = tie_lines(ranks);
    let levels = lines.iter().map(|line| line.level + 1).max().unwrap_or(0);
    let mut drawn = String::new();
    let mut put = |class: &str, first: usize, last: usize, level: usize| {
        let (from, to) = (100.0 * first as f64 / count + 1.0, 100.0 * (last + 1) as f64 / count - 2.0);
        let y = 2 + 5 * level;
        let _ = write!(
            drawn,
            "<line class=\"{class}\" x1=\"{}\" x2=\"{}\" y1=\"{y}\" y2=\"{y}\"/>",
            percent(from),
            percent(to)
        );
    };
    for TieLine { level, stretches } in &lines {
        if let [(first, _), .., (_, last)] = stretches.as_slice() {
            put("tiegap", *first, *last, *level);
        }
        stretches.iter().for_each(|(first, last)| put("tieline", *first, *last, *level));
    }
    format!(
        "<svg class=\"ties\" height=\"{}\" aria-hidden=\"true\" focusable=\"false\">{drawn}</svg>",
        5 + 5 * levels
    )
}

/// A row for each run, a column for all samples and for each group.
fn columns(task: &Task<'_>, all: &Ranking, groups: &[GroupComparison]) -> String {
    let of_groups: Vec<(String, &Ranking)> = labelled(groups).collect();
    let mut html = format!(
        "<table class=\"t ranks\"><thead><tr><th scope=\"col\">{}</th><th scope=\"col\">all</th>",
        super::estimates::run_word(task)
    );
    for (label, _) in &of_groups {
        let _ = write!(html, "<th scope=\"col\"><span class=\"clip\">{label}</span></th>");
    }
    html += "</tr></thead><tbody>";
    for rank in &all.ranks {
        let name = run_name(&rank.side, task.series(&rank.side));
        let _ = write!(html, "<tr><th scope=\"row\">{name}</th>{}", place(Some(rank)));
        for (_, ranking) in &of_groups {
            html += &place(ranking.ranks.iter().find(|other| other.side == rank.side));
        }
        html += "</tr>";
    }
    html + "</tbody></table>"
}

fn place(rank: Option<&Rank>) -> String {
    match rank {
        Some(rank) => {
            let letters = rank.tie_letters().collect::<Vec<_>>().join(" ");
            format!("<td><span class=\"nw\">{} <small>{letters}</small></span></td>", rank.range_text())
        }
        None => "<td><span class=\"dim\">–</span></td>".to_owned(),
    }
}

/// What the tests support, in words.
fn said(ranks: &[Rank]) -> String {
    if ranks.iter().any(|rank| rank.tie_groups.is_empty()) {
        return "see the ranges".to_owned();
    }
    let differ =
        |a: &Rank, b: &Rank| !a.tie_letters().any(|letter| b.tie_letters().any(|other| other == letter));
    let name = |rank: &Rank| format!("<span class=\"any\">{}</span>", escape(&rank.side));
    let pairs: Vec<(&Rank, &Rank)> = ranks
        .iter()
        .enumerate()
        .flat_map(|(at, a)| ranks.iter().skip(at + 1).filter(move |b| differ(a, b)).map(move |b| (a, b)))
        .collect();
    if ranks.len() > 1 && pairs.len() == ranks.len() * (ranks.len() - 1) / 2 {
        return ranks.iter().map(name).collect::<Vec<_>>().join(" &gt; ");
    }
    let words: Vec<String> = pairs.iter().map(|(a, b)| format!("{} &gt; {}", name(a), name(b))).collect();
    match words.len() {
        0 => "nothing can be told apart".to_owned(),
        few if few <= MOST_SAID => words.join(", "),
        many => {
            let shown: Vec<String> = words.into_iter().take(MOST_SAID).collect();
            format!("{} and {} more", shown.join(", "), many - MOST_SAID)
        }
    }
}

#[cfg(test)]
mod tests {
    use errorbar_core::Estimate;

    use super::*;

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
        let drawn = ties(&[rank("a", "a"), rank("b", "ab"), rank("c", "b")]);
        assert!(drawn.contains("y1=\"2\"") && drawn.contains("y1=\"7\""), "{drawn}");
        let apart = ties(&[rank("a", "a"), rank("b", "a"), rank("c", "b"), rank("d", "b")]);
        assert!(!apart.contains("y1=\"7\"") && apart.matches("<line").count() == 2, "{apart}");
    }

    /// A run between two that cannot be told apart, from which both can: a line under all three would deny that.
    #[test]
    fn a_line_does_not_join_what_is_told_apart() {
        let drawn = ties(&[rank("a", "a"), rank("b", "b"), rank("c", "a")]);
        assert_eq!((drawn.matches("tieline").count(), drawn.matches("tiegap").count()), (2, 1), "{drawn}");
    }
}
