//! Plots: one kind, one file.
//!
//! A kind is a function that makes a [`Plot`] of figures that core has computed; one with options is a struct with a method
//! `draw`. Nothing here computes a statistic. A plot has two forms: parts for a page, which stretch with it and have their colours from its
//! stylesheet, and a file that stands alone ([`Plot::standalone`]). Both have the figures in words, and [`Plot::table`] has
//! the same as numbers.
//!
//! ```
//! use errorbar_core::Estimate;
//! use errorbar_report::plot::{Estimates, NamedEstimate};
//!
//! let heron = Estimate::new(0.8472).with_stderr(0.0256).with_interval(0.7958, 0.8986, 0.95).with_n(144);
//! let runs = vec![NamedEstimate { name: "heron".to_owned(), estimate: heron }];
//! let plot = Estimates { metric: "accuracy".to_owned(), runs, ..Estimates::default() }.draw();
//! assert_eq!(plot.label, "accuracy. heron: 0.847 ± 0.026 [0.796, 0.899], n 144");
//! assert!(plot.standalone("almanac").starts_with("<svg xmlns=\"http://www.w3.org/2000/svg\""));
//! ```

mod calibration;
mod confusion;
mod cost;
mod distribution;
mod epochs;
mod estimates;
mod forest;
mod pairs;
mod pass;
mod present;
mod ranking;
mod rows;
mod standalone;
mod text;
mod vertical;

#[cfg(test)]
mod tests;

pub use calibration::calibration;
pub use confusion::confusion;
pub use cost::{CostAxis, CostPoint, cost};
pub use distribution::distribution;
pub use epochs::epochs;
pub use estimates::{Estimates, NamedEstimate};
pub use forest::{Forest, ForestGroup};
pub use pairs::pairs;
pub use pass::pass;
pub use ranking::ranking;
pub(crate) use rows::{TieLine, tie_lines};

use maud::{Markup, PreEscaped, html};

use crate::listing::Listing;
use crate::svg::{self, Series, name_length};
use text::visible;

/// A plot, drawn.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Plot {
    /// What a page shows, one below the other or side by side.
    pub parts: Vec<PlotPart>,
    /// The figures in words: the text alternative.
    pub label: String,
    /// The figures as a table for people.
    pub table: Listing,
    /// What is drawn as data: one number to a column, at full precision.
    pub data: Listing,
    /// What a reader should know: what a mark, a line or a shade means.
    pub caption: String,
    /// What a file shows.
    file: FileLayout,
}

/// How the parts are laid out in a file.
#[derive(Clone, Debug)]
struct FileLayout {
    parts: Vec<PlotPart>,
    columns: usize,
}

/// A drawing that stretches to the width that it gets.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct PlotPart {
    /// What it is called, with its mark; a plot with one part has no name for it.
    pub name: Option<(Series, String)>,
    /// What is to be known about it, in a few words.
    pub note: String,
    /// The elements of the drawing, without the `<svg>` around them. Horizontal positions are percentages.
    pub body: String,
    /// The height in pixels.
    pub height: u32,
    /// Its figures in words.
    pub label: String,
}

impl PlotPart {
    fn new(body: String, height: u32, label: String) -> Self {
        PlotPart { name: None, note: String::new(), body, height, label }
    }

    fn with_note(self, note: String) -> Self {
        PlotPart { note, ..self }
    }

    /// The drawing for a page, with the marks of [`defs`](crate::svg::defs) somewhere in it.
    pub fn svg(&self) -> Markup {
        html! {
            svg.iv width="100%" height=(self.height) role="img" aria-label=(svg::visible(&self.label)) {
                (PreEscaped(&self.body))
            }
        }
    }
}

impl Plot {
    /// A plot of parts that are the same in a page and in a file, there in this number of columns; its figures as a table for
    /// people and as data; what a reader should know.
    fn new(
        parts: Vec<PlotPart>,
        columns: usize,
        (table, data): (Listing, Listing),
        caption: String,
        marks: &RunMarks,
    ) -> Self {
        let file = FileLayout { parts: parts.clone(), columns };
        let label = parts.iter().map(|part| part.label.as_str()).collect::<Vec<_>>().join(". ");
        marks.explain(Plot { parts, label, table, data, caption, file })
    }

    /// The plot for a page: its drawings, and the same as numbers behind a summary.
    pub fn to_html(&self) -> Markup {
        html! {
            div.panels.plot {
                @for part in &self.parts {
                    figure.keep {
                        @if let Some((series, name)) = &part.name {
                            figcaption {
                                span class={ "name " (series.class) (name_length(name)) } {
                                    (series.dot()) span.any { (visible(name)) }
                                }
                                small { (svg::visible(&part.note)) }
                            }
                        }
                        (part.svg())
                    }
                }
            }
            (self.numbers())
        }
    }

    /// The same as numbers, behind a summary.
    pub fn numbers(&self) -> Markup {
        html! {
            details {
                summary { "The same as numbers" }
                table.t {
                    thead { tr { @for title in self.table.titles() { th scope="col" { (title) } } } }
                    tbody {
                        @for row in self.table.texts() { tr { @for cell in row { td { (visible(&cell)) } } } }
                    }
                }
            }
        }
    }
}

/// A panel for each run, under its name.
fn panels<T>(
    runs: &[(String, T)],
    marks: &RunMarks,
    mut panel: impl FnMut(&str, &T, Series) -> PlotPart,
) -> Vec<PlotPart> {
    let panel = |(at, (name, run)): (usize, &(String, T))| {
        let series = marks.series(name, at, runs.len());
        PlotPart { name: Some((series, name.clone())), ..panel(name, run, series) }
    };
    runs.iter().enumerate().map(panel).collect()
}

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

    fn series(&self, run: &str, position: usize, count: usize) -> Series {
        self.get(run).unwrap_or_else(|| Series::of(position, count))
    }

    fn is_partial(&self, run: &str) -> bool {
        self.get(run).is_some_and(|series| series.is_partial)
    }

    /// The text of a figure of a run, which says if it is not final.
    fn figure(&self, run: &str, text: String) -> String {
        if self.is_partial(run) { format!("{text} so far") } else { text }
    }

    /// The plot with what hollow marks mean, and with a column of its data for the runs that have them.
    fn explain(&self, mut plot: Plot) -> Plot {
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
