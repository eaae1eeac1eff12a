//! Several runs in order, with the places that the data support.

use errorbar_inference::{Rank, Ranking};

use super::estimates::caption;
use super::rows::{Row, Rows, tie_lines};
use super::text::{estimate_list, estimate_row, figure, interval_text, row_text, short, visible};
use super::{Plot, RunMarks};
use crate::listing::Listing;
use crate::svg::{IntervalSize, Scale};

/// The most runs that are drawn large.
const LARGE: usize = 12;

/// Several runs in order; a line joins those that the data do not distinguish. `runs` are in the order of their colours.
pub fn ranking(ranking: &Ranking, runs: &[String], marks: &RunMarks) -> Plot {
    let Ranking { ranks, metric, .. } = ranking;
    let mut rows = Vec::new();
    let mut words = Vec::new();
    let mut table = Listing::new(["place", "run", metric, "interval", "tie groups"]);
    let mut data = estimate_list(["ranks", "run", "metric"], ["tie groups"]);
    for rank in ranks {
        let Rank { side, estimate, tie_groups, .. } = rank;
        let place = rank.range_text();
        let at = runs.iter().position(|run| run == side).unwrap_or(usize::MAX);
        let series = marks.series(side, at, runs.len());
        let written = |text: String| marks.figure(side, text);
        let (text, brief) = (written(row_text(estimate, true)), written(short(estimate)));
        rows.push(Row { prefix: place.clone(), ..Row::new(side, estimate, series, text, brief.clone()) });
        words.push(format!("{} place {place}, {}", visible(side), written(figure(estimate))));
        let named = [place.as_str().into(), side.as_str().into(), metric.as_str().into()];
        data.push(estimate_row(named, estimate, [tie_groups.as_str().into()]));
        table.push([place, side.clone(), brief, interval_text(estimate), tie_groups.clone()]);
    }
    let estimates = || ranks.iter().map(|rank| &rank.estimate);
    let rows = Rows {
        scale: Scale::of(estimates()),
        reference: None,
        rows,
        ties: tie_lines(ranks),
        size: if ranks.len() > LARGE { IntervalSize::Forest } else { IntervalSize::Table },
    };
    let label = format!("Ranking by {metric} of {} samples. {}", ranking.n, words.join("; "));
    let alpha = crate::number::plain(((1.0 - ranking.level) * 1e9).round() / 1e9);
    let caption = format!(
        "{}\nupright line: these runs cannot be told apart (Holm’s p ≥ {alpha} for all pairs) · numbers: the ranks that the \
         same tests leave",
        caption(estimates(), None),
    );
    rows.plot(label, (table, data), caption, marks)
}
