//! Several runs in order, with the places that the data support.

use errorbar_inference::{Rank, Ranking};

use super::estimates::{caption, plot_of_rows};
use super::rows::{Row, Rows, tie_lines};
use super::text::{estimate_list, estimate_row, figure, interval_text, row_text, short, visible};
use super::{Plot, RunMarks};
use crate::listing::Listing;
use crate::svg::{IntervalSize, Scale};

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
    /// Their marks; by position if unset.
    pub marks: RunMarks,
}

impl<'a> RankingPlot<'a> {
    /// A ranking of runs.
    pub fn new(ranking: &'a Ranking, runs: &'a [String]) -> Self {
        RankingPlot { ranking, runs, marks: RunMarks::default() }
    }

    /// Draws it.
    pub fn draw(&self) -> Plot {
        let ranks = &self.ranking.ranks;
        let row = |rank: &Rank| {
            let at = self.runs.iter().position(|run| *run == rank.side).unwrap_or(usize::MAX);
            let series = self.marks.series(&rank.side, at, self.runs.len());
            let written = |text: String| self.marks.figure(&rank.side, text);
            let (text, brief) = (written(row_text(&rank.estimate, true)), written(short(&rank.estimate)));
            let mut row = Row::new(&rank.side, &rank.estimate, series, text, brief);
            row.prefix = rank.range_text();
            row
        };
        let rows = Rows {
            scale: Scale::of(ranks.iter().map(|rank| &rank.estimate)),
            reference: None,
            rows: ranks.iter().map(row).collect(),
            ties: tie_lines(ranks),
            size: if ranks.len() > LARGE { IntervalSize::Forest } else { IntervalSize::Table },
        };
        let metric = &self.ranking.metric;
        let words = |rank: &Rank| {
            let figure = self.marks.figure(&rank.side, figure(&rank.estimate));
            format!("{} place {}, {figure}", visible(&rank.side), rank.range_text())
        };
        let label = format!(
            "Ranking by {metric} of {} samples. {}",
            self.ranking.n,
            ranks.iter().map(words).collect::<Vec<_>>().join("; ")
        );
        let mut table = Listing::new(["place", "run", metric, "interval", "tie groups"].map(str::to_owned));
        for rank in ranks {
            table.push([
                rank.range_text(),
                rank.side.clone(),
                self.marks.figure(&rank.side, short(&rank.estimate)),
                interval_text(&rank.estimate),
                rank.tie_groups.clone(),
            ]);
        }
        let alpha = crate::number::plain(((1.0 - self.ranking.level) * 1e9).round() / 1e9);
        let caption = format!(
            "{}\nupright line: these runs cannot be told apart (Holm’s p ≥ {alpha} for all pairs) · numbers: the ranks that the \
             same tests leave",
            caption(ranks.iter().map(|rank| &rank.estimate), None),
        );
        let mut data = estimate_list(["ranks", "run", "metric"], ["tie groups"]);
        for rank in ranks {
            let named = [rank.range_text().into(), rank.side.clone().into(), metric.clone().into()];
            data.push(estimate_row(named, &rank.estimate, [rank.tie_groups.clone().into()]));
        }
        self.marks.explain(plot_of_rows(&rows, label, table).with_data(data).with_caption(caption))
    }
}
