//! Runs that did not reach their end: their figures are those so far, and no plot shows them as final.

use super::Plot;
use crate::listing::Listing;
use crate::svg::Series;

/// The runs of a plot that are in progress or ended before their end, by name.
#[derive(Clone, Debug, Default)]
pub struct PartialRuns(Vec<String>);

impl PartialRuns {
    /// The runs of these names.
    pub fn new(names: impl IntoIterator<Item = String>) -> Self {
        PartialRuns(names.into_iter().collect())
    }

    pub(super) fn contains(&self, run: &str) -> bool {
        self.0.iter().any(|name| name == run)
    }

    /// How a run is drawn: hollow and dashed if it has not reached its end.
    pub(super) fn series(&self, run: &str, position: usize, count: usize) -> Series {
        Series { is_partial: self.contains(run), ..Series::of(position, count) }
    }

    /// The text of a figure of a run, which says that it is not final.
    pub(super) fn figure(&self, run: &str, text: String) -> String {
        if self.contains(run) { format!("{text} so far") } else { text }
    }

    /// The plot with what hollow marks mean, and with a column of its tables that names the runs.
    pub(super) fn explain(&self, mut plot: Plot) -> Plot {
        if self.0.is_empty() {
            return plot;
        }
        plot.caption = format!(
            "{}\nhollow, so far: the run has not reached its end, and the samples that finished first may be easier than the rest",
            plot.caption
        );
        let is_partial = |table: &Listing, row: usize| {
            let named = table.titles().iter().zip(table.rows().get(row).into_iter().flatten());
            named
                .filter(|(title, _)| matches!(title.as_str(), "run" | "minus"))
                .any(|(_, cell)| self.contains(cell.text()))
        };
        let rows: Vec<bool> = (0..plot.data.rows().len()).map(|row| is_partial(&plot.data, row)).collect();
        plot.data.add_column("partial", rows.into_iter().map(|is_partial| is_partial.to_string()));
        plot
    }
}
