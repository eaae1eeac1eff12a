//! How the runs of a plot are drawn: with the mark and the colour that they have elsewhere, and never as final before they
//! have reached their end.

use super::Plot;
use crate::listing::Listing;
use crate::svg::Series;

/// The mark of each run, by name; a run without one has that of its position.
#[derive(Clone, Debug, Default)]
pub struct RunMarks(Vec<(String, Series)>);

impl RunMarks {
    /// These marks.
    pub fn new(marks: impl IntoIterator<Item = (String, Series)>) -> Self {
        RunMarks(marks.into_iter().collect())
    }

    fn get(&self, run: &str) -> Option<Series> {
        self.0.iter().find(|(name, _)| name == run).map(|(_, series)| *series)
    }

    pub(super) fn series(&self, run: &str, position: usize, count: usize) -> Series {
        self.get(run).unwrap_or_else(|| Series::of(position, count))
    }

    pub(super) fn is_partial(&self, run: &str) -> bool {
        self.get(run).is_some_and(|series| series.is_partial)
    }

    /// The text of a figure of a run, which says if it is not final.
    pub(super) fn figure(&self, run: &str, text: String) -> String {
        if self.is_partial(run) { format!("{text} so far") } else { text }
    }

    /// The plot with what hollow marks mean, and with a column of its data for the runs that have them.
    pub(super) fn explain(&self, mut plot: Plot) -> Plot {
        if !self.0.iter().any(|(_, series)| series.is_partial) {
            return plot;
        }
        plot.caption = format!(
            "{}\nhollow, so far: the run has not reached its end, and the samples that finished first may be easier than \
             the rest",
            plot.caption
        );
        let partial: Vec<String> =
            (0..plot.data.rows().len()).map(|row| self.is_partial_row(&plot.data, row).to_string()).collect();
        plot.data.add_column("partial", partial);
        plot
    }

    /// Whether a row of data is of such a run, or of a difference from it.
    fn is_partial_row(&self, data: &Listing, row: usize) -> bool {
        let named = data.titles().iter().zip(data.rows().get(row).into_iter().flatten());
        let mut runs = named.filter(|(title, _)| matches!(title.as_str(), "run" | "minus"));
        runs.any(|(_, cell)| self.is_partial(cell.text()))
    }
}
