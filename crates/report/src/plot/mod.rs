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

mod panels;
mod rows;
mod standalone;
#[cfg(test)]
mod tests;
mod vertical;

use errorbar_core::Estimate;
use maud::{Markup, PreEscaped, html};

use crate::figure::EstimateText;
use crate::record::{Listing, ListingCell};
use crate::svg::{self, Series, escape, name_length};
use crate::text::{grouped, percent, start, truncate_middle};

pub use panels::{confusion, distribution, epochs, pairs};
pub use rows::{Estimates, Forest, ForestGroup, NamedEstimate, ranking};
pub(crate) use rows::{TieLine, tie_lines};
pub use vertical::{CostAxis, CostPoint, calibration, cost, pass};

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
    /// The parts as a file has them, and in how many columns.
    file: (Vec<PlotPart>, usize),
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
        let file = (parts.clone(), columns);
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

// Names and numbers as they are written in plots.

/// The most characters of a name that are looked at.
const LONGEST: usize = 200;

/// A name from anyone with nothing invisible in it, no longer than a line or two.
pub(super) fn visible(text: &str) -> String {
    svg::visible(&start(text, LONGEST)).into_owned()
}

/// A name for an element of a drawing, cut in the middle to a number of characters.
pub(super) fn fitted(text: &str, to: usize) -> String {
    escape(&truncate_middle(&visible(text), to, "…"))
}

/// A `<title>` with the whole name, if it is cut.
pub(super) fn whole(text: &str, to: usize) -> String {
    let shown = visible(text);
    match crate::text::width(&shown) > to {
        true => format!("<title>{}</title>", escape(&shown)),
        false => String::new(),
    }
}

/// The columns of an estimate among data.
const ESTIMATE: [&str; 5] = ["value", "stderr", "lower", "upper", "n"];

/// A list of estimates as data: these columns, those of an estimate, then these.
pub(super) fn estimate_list<const B: usize, const A: usize>(before: [&str; B], after: [&str; A]) -> Listing {
    Listing::new(before.into_iter().chain(ESTIMATE).chain(after))
}

/// A row of data: these cells, those of the estimate (its number, error, interval and n; blank where there is none), then
/// these.
pub(super) fn estimate_row<const B: usize, const A: usize>(
    before: [ListingCell; B],
    estimate: &Estimate,
    after: [ListingCell; A],
) -> Vec<ListingCell> {
    let interval = estimate.interval.as_ref().ok();
    let end = |end: f64| Some(end).filter(|end| end.is_finite());
    let cells: [ListingCell; 5] = [
        estimate.number().into(),
        estimate.error.as_ref().ok().map(|error| error.se).into(),
        interval.and_then(|interval| end(interval.lower)).into(),
        interval.and_then(|interval| end(interval.upper)).into(),
        estimate.n.into(),
    ];
    before.into_iter().chain(cells).chain(after).collect()
}

/// The level of the first interval that there is: `95 % interval`.
pub(super) fn level<'a>(estimates: impl IntoIterator<Item = &'a Estimate>) -> Option<String> {
    let interval = estimates.into_iter().find_map(|estimate| estimate.interval.as_ref().ok())?;
    Some(format!("{} interval", percent(interval.level)))
}

/// An estimate: `0.847 ± 0.026 [0.796, 0.899]`.
pub(super) fn figure(estimate: &Estimate) -> String {
    minus(&EstimateText::from(estimate).to_string())
}

/// The same without the interval: `0.847 ± 0.026`.
pub(super) fn short(estimate: &Estimate) -> String {
    minus(&EstimateText::from(estimate).short())
}

/// The same, with `± ?` where no error can be estimated: `0.847 ± 0.026`, `0 ± ?`.
pub(super) fn short_or_unknown(estimate: &Estimate) -> String {
    let unknown = if crate::notes::no_error(estimate).is_some() { " ± ?" } else { "" };
    short(estimate) + unknown
}

/// What stands in the row of an estimate: `0.847 ± 0.026 · n 144`, `1 ± ? · no spread in 3 scores`. The number of scores is
/// left out where the heading of the row has it.
pub(super) fn row_text(estimate: &Estimate, has_n: bool) -> String {
    let n = (has_n && estimate.value.is_ok()).then(|| format!("n {}", grouped(estimate.n)));
    let absent = (estimate.absent > 0).then(|| format!("{} absent", grouped(estimate.absent)));
    let reason = crate::notes::no_error(estimate);
    let n = n.filter(|_| !reason.as_ref().is_some_and(|reason| reason.contains("score")));
    let parts = [Some(short_or_unknown(estimate)), n, reason, absent];
    parts.into_iter().flatten().collect::<Vec<_>>().join(" · ")
}

/// The interval alone.
pub(super) fn interval_text(estimate: &Estimate) -> String {
    minus(&EstimateText::from(estimate).interval_text())
}

/// A difference, with its sign.
pub(super) fn difference(estimate: &Estimate) -> String {
    minus(&EstimateText::from(estimate).signed().to_string())
}

/// The same without the interval.
pub(super) fn short_difference(estimate: &Estimate) -> String {
    minus(&EstimateText::from(estimate).signed().short())
}

/// A real minus sign before numbers, not within `1e-7`.
fn minus(text: &str) -> String {
    let mut written = String::with_capacity(text.len());
    let mut before = ' ';
    for c in text.chars() {
        written.push(if c == '-' && matches!(before, ' ' | '[') { '\u{2212}' } else { c });
        before = c;
    }
    written
}

/// A score as it is counted: a fraction if it is the mean of few epochs, `2/3`, else a number.
pub(super) fn score(number: f64) -> String {
    if number.fract() == 0.0 && number.abs() < 1e9 {
        return minus(&format!("{number}"));
    }
    // A number that few decimals hold is easier to read than a fraction.
    let is_decimal = (number * 1e4 - (number * 1e4).round()).abs() < 1e-9;
    for of in (3..=12_u32).filter(|_| !is_decimal) {
        let top = number * f64::from(of);
        if (top - top.round()).abs() < 1e-9 && number.abs() < 1.0 {
            return minus(&format!("{}/{of}", top.round()));
        }
    }
    minus(&crate::text::plain(number))
}

#[cfg(test)]
mod text_tests {
    use super::*;

    #[test]
    fn numbers_read_well() {
        assert_eq!(
            (grouped(7), grouped(1296), grouped(10_000_000)),
            ("7".into(), "1,296".into(), "10,000,000".into())
        );
        assert_eq!([2.0 / 3.0, 0.25, 0.5, -1.0].map(score), ["2/3", "0.25", "0.5", "−1"]);
        let estimate = Estimate::new(-0.36).with_stderr(0.05).with_interval(-0.46, -0.26, 0.95);
        assert_eq!(figure(&estimate), "−0.360 ± 0.050 [−0.460, −0.260]");
        assert_eq!(minus("0.5 ± 1.2e-12"), "0.5 ± 1.2e-12");
    }

    #[test]
    fn a_row_has_its_number_of_scores_or_why_there_is_no_error() {
        let estimate = Estimate::new(0.8472).with_stderr(0.0256).with_n(1440);
        assert_eq!(row_text(&estimate, true), "0.847 ± 0.026 · n 1,440");
        assert_eq!(row_text(&estimate, false), "0.847 ± 0.026");
        let equal = Estimate::new(1.0).with_stderr(0.0).with_n(3);
        assert_eq!(row_text(&equal, true), "1 ± ? · no spread in 3 scores");
        let mut few = Estimate::new(0.5).with_n(1);
        assert_eq!(row_text(&few, true), "0.5 ± ? · only 1 score");
        few.absent = 2;
        assert_eq!(row_text(&few, true), "0.5 ± ? · only 1 score · 2 absent");
        let none = Estimate::undefined(errorbar_core::Undefined::NoScores);
        assert_eq!(row_text(&none, true), "no scores");
    }

    #[test]
    fn hostile_names_are_shown_and_shortened() {
        assert_eq!(fitted("<script>", 20), "&lt;script&gt;");
        assert_eq!(fitted("a\u{202e}b", 20), "a‹U+202E›b");
        assert!(visible(&"x".repeat(10_000)).chars().count() <= LONGEST + 1);
        assert!(fitted(&"<".repeat(10_000), 10).len() < 60);
        assert_eq!(visible("a\u{ffff}"), "a‹U+FFFF›", "no character of XML");
    }
}
