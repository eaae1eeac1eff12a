//! The order of three or more runs, as far as the data support one.

use std::fmt::Write as _;

use errorbar_core::{Rank, Ranking};

use super::task::{Task, TaskComparison, run_name};
use crate::number::percent as level_text;
use crate::svg::{breakable, escape, percent};

/// The most relations that are put into words.
const MOST_SAID: usize = 6;

/// The rankings over all samples and within groups.
pub(super) fn table(task: &Task<'_>, comparison: &TaskComparison) -> String {
    let Some(all) = &comparison.ranking else { return String::new() };
    let level = level_text(all.level);
    let alpha = crate::number::plain(((1.0 - all.level) * 1e9).round() / 1e9);
    let mut html = format!(
        "<h3 class=\"h3\">Ranking</h3><p class=\"note\">In order of the estimate. A line joins runs that cannot be told apart \
         (Holm’s p ≥ {alpha} within the row); the number is the {level} interval of the rank.</p><div class=\"wide\" \
         role=\"region\" aria-label=\"Ranking, scrolls sideways\" tabindex=\"0\"><table class=\"t rank k{}\"><thead><tr><th \
         scope=\"col\">samples</th><th scope=\"col\">rank</th><th scope=\"col\">what can be said</th></tr></thead><tbody>",
        all.ranks.len()
    );
    html += &row("<b>all</b>", task, all);
    let has_several =
        comparison.groups.iter().any(|group| Some(&group.by) != comparison.groups.first().map(|g| &g.by));
    for group in &comparison.groups {
        let Some(ranking) = &group.ranking else { continue };
        let by = if has_several { format!("<small>{}</small> ", escape(&group.by)) } else { String::new() };
        html += &row(
            &format!("{by}<span class=\"any\" dir=\"auto\">{}</span>", breakable(&group.group)),
            task,
            ranking,
        );
    }
    html + "</tbody></table></div>"
}

fn row(label: &str, task: &Task<'_>, ranking: &Ranking) -> String {
    let mut html = format!("<tr><th scope=\"row\">{label}</th><td class=\"order\"><ol>");
    for rank in &ranking.ranks {
        let (best, worst) = rank.interval;
        let range = if best == worst { best.to_string() } else { format!("{best}–{worst}") };
        let _ =
            write!(html, "<li><small>{range}</small> {}</li>", run_name(&rank.side, task.series(&rank.side)));
    }
    let _ = write!(
        html,
        "</ol>{}</td><td class=\"say\">{}</td></tr>",
        ties(&ranking.ranks),
        said(&ranking.ranks)
    );
    html
}

/// A line under each run of neighbours that share a letter; runs that overlap are on different levels.
fn ties(ranks: &[Rank]) -> String {
    let mut letters: Vec<char> = ranks.iter().flat_map(|rank| rank.tie_groups.chars()).collect();
    letters.sort_unstable();
    letters.dedup();
    let count = ranks.len().max(1) as f64;
    let mut lines = String::new();
    let (mut end_of_level, mut levels) = (Vec::<usize>::new(), 0);
    for letter in letters {
        let places: Vec<usize> = (0..ranks.len())
            .filter(|at| ranks.get(*at).is_some_and(|r| r.tie_groups.contains(letter)))
            .collect();
        let (Some(first), Some(last)) = (places.first(), places.last()) else { continue };
        if first == last {
            continue;
        }
        let level = end_of_level.iter().position(|end| end < first).unwrap_or_else(|| {
            end_of_level.push(0);
            end_of_level.len() - 1
        });
        if let Some(end) = end_of_level.get_mut(level) {
            *end = *last;
        }
        levels = levels.max(level + 1);
        let (from, to) = (100.0 * *first as f64 / count + 1.0, 100.0 * (*last + 1) as f64 / count - 2.0);
        let y = 2 + 5 * level;
        let _ = write!(
            lines,
            "<line class=\"tieline\" x1=\"{}\" x2=\"{}\" y1=\"{y}\" y2=\"{y}\"/>",
            percent(from),
            percent(to)
        );
    }
    format!(
        "<svg class=\"ties\" height=\"{}\" aria-hidden=\"true\" focusable=\"false\">{lines}</svg>",
        5 + 5 * levels
    )
}

/// What the tests support, in words.
fn said(ranks: &[Rank]) -> String {
    let differ = |a: &Rank, b: &Rank| {
        !a.tie_groups.is_empty()
            && !b.tie_groups.is_empty()
            && !a.tie_groups.chars().any(|c| b.tie_groups.contains(c))
    };
    let name = |rank: &Rank| format!("<span class=\"any\">{}</span>", escape(&rank.side));
    if ranks.len() > 1 && ranks.windows(2).all(|pair| matches!(pair, [a, b] if differ(a, b))) {
        return ranks.iter().map(name).collect::<Vec<_>>().join(" &gt; ");
    }
    let pairs: Vec<String> = ranks
        .iter()
        .enumerate()
        .flat_map(|(at, a)| ranks.iter().skip(at + 1).filter(move |b| differ(a, b)).map(move |b| (a, b)))
        .map(|(a, b)| format!("{} &gt; {}", name(a), name(b)))
        .collect();
    match pairs.len() {
        0 => "nothing can be told apart".to_owned(),
        few if few <= MOST_SAID => pairs.join(", "),
        many => {
            let shown: Vec<String> = pairs.into_iter().take(MOST_SAID).collect();
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
        assert_eq!(
            said(&[rank("a", ""), rank("b", "")]),
            "nothing can be told apart",
            "too many groups to name"
        );
    }

    #[test]
    fn lines_that_overlap_have_levels() {
        let drawn = ties(&[rank("a", "a"), rank("b", "ab"), rank("c", "b")]);
        assert!(drawn.contains("y1=\"2\"") && drawn.contains("y1=\"7\""), "{drawn}");
        let apart = ties(&[rank("a", "a"), rank("b", "a"), rank("c", "b"), rank("d", "b")]);
        assert!(!apart.contains("y1=\"7\"") && apart.matches("<line").count() == 2, "{apart}");
    }
}
