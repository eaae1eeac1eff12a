//! Several runs in order, with the places that the data support.

use errorbar_core::{Rank, Ranking};

use super::Plot;
use super::estimates::{caption, percentage, plot_of_rows};
use super::rows::{Row, Rows};
use super::words::{figure, interval_text, short, visible};
use crate::listing::Listing;
use crate::svg::{IntervalSize, Scale, Series};

/// The most runs that are drawn large.
const LARGE: usize = 12;

/// Several runs in order; a line joins those that the data do not distinguish.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct RankingPlot<'a> {
    /// The ranking.
    pub ranking: &'a Ranking,
    /// The runs, in the order of their colours.
    pub runs: &'a [String],
}

/// The places of a run: `1–2`.
fn places(rank: &Rank) -> String {
    match rank.interval {
        (best, worst) if best == worst => best.to_string(),
        (best, worst) => format!("{best}–{worst}"),
    }
}

impl<'a> RankingPlot<'a> {
    /// A ranking of runs.
    pub fn new(ranking: &'a Ranking, runs: &'a [String]) -> Self {
        RankingPlot { ranking, runs }
    }

    /// Draws it.
    pub fn draw(&self) -> Plot {
        let ranks = &self.ranking.ranks;
        // A letter of one run joins nothing.
        let mut letters: Vec<char> = ranks.iter().flat_map(|rank| rank.tie_groups.chars()).collect();
        letters.sort_unstable();
        letters.dedup();
        letters.retain(|letter| ranks.iter().filter(|rank| rank.tie_groups.contains(*letter)).count() > 1);
        let row = |rank: &Rank| {
            let at = self.runs.iter().position(|run| *run == rank.side).unwrap_or(usize::MAX);
            let series = Series::of(at, self.runs.len());
            let mut row =
                Row::new(&rank.side, &rank.estimate, series, short(&rank.estimate), short(&rank.estimate));
            row.prefix = places(rank);
            row.ties = (0..letters.len())
                .filter(|level| letters.get(*level).is_some_and(|letter| rank.tie_groups.contains(*letter)))
                .collect();
            row
        };
        let rows = Rows {
            scale: Scale::of(ranks.iter().map(|rank| &rank.estimate)),
            reference: None,
            rows: ranks.iter().map(row).collect(),
            size: if ranks.len() > LARGE { IntervalSize::Forest } else { IntervalSize::Table },
        };
        let metric = &self.ranking.metric;
        let words = |rank: &Rank| {
            format!("{} place {}, {}", visible(&rank.side), places(rank), figure(&rank.estimate))
        };
        let label = format!(
            "Ranking by {metric} of {} samples. {}",
            self.ranking.n,
            ranks.iter().map(words).collect::<Vec<_>>().join("; ")
        );
        let mut table = Listing::new(["place", "run", metric, "interval", "tie groups"].map(str::to_owned));
        for rank in ranks {
            table.push([
                places(rank),
                rank.side.clone(),
                short(&rank.estimate),
                interval_text(&rank.estimate),
                rank.tie_groups.clone(),
            ]);
        }
        let caption = format!(
            "{}\nplaces: {} interval of the rank · upright line: the data do not distinguish these runs (Holm)",
            caption(ranks.iter().map(|rank| &rank.estimate)),
            percentage(self.ranking.level)
        );
        plot_of_rows(&rows, label, table).with_caption(caption)
    }
}
