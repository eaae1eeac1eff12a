//! Every sample from the hardest to the easiest, shaded by the mean of its epochs.

use errorbar_core::{EpochSpread, EpochStrip, StripColumn};

use super::area::{Drawing, px};
use super::text::{fitted, score, visible, whole};
use super::{Plot, PlotPart, RunMarks};
use crate::listing::{Listing, ListingCell};
use crate::number::grouped;
use crate::svg::Series;

/// The most samples that have a column each.
const MOST_COLUMNS: usize = 600;
const STRIP: f64 = 26.0;

/// The epochs of samples, for one run or several.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct EpochsPlot<'a> {
    /// The runs, in the order of their colours.
    pub runs: Vec<(String, &'a EpochSpread)>,
    /// Their marks; by position if unset.
    pub marks: RunMarks,
}

/// What shades are of.
struct Shading {
    range: (f64, f64),
    /// Whether columns are means of several samples.
    is_binned: bool,
}

impl Shading {
    /// The class of a mean.
    fn class(&self, mean: f64) -> &'static str {
        let (low, high) = self.range;
        let share = if high > low { (mean - low) / (high - low) } else { 1.0 };
        const ALMOST: f64 = 1e-9;
        match share {
            share if self.is_binned => match share {
                share if share < 0.25 => "s0",
                share if share < 0.5 => "s1",
                share if share < 0.75 => "s2",
                _ => "s3",
            },
            share if share <= ALMOST => "s0",
            share if share >= 1.0 - ALMOST => "s3",
            share if share < 0.5 - ALMOST => "s1",
            _ => "s2",
        }
    }

    /// What each class means, the lowest first, as markup.
    fn legend(&self) -> [String; 4] {
        let (low, high) = self.range;
        let at = |share: f64| score(((low + (high - low) * share) * 1e9).round() / 1e9);
        match self.is_binned {
            true => [
                format!("&lt; {}", at(0.25)),
                format!("&lt; {}", at(0.5)),
                format!("&lt; {}", at(0.75)),
                format!("≥ {}", at(0.75)),
            ],
            false => [at(0.0), format!("&lt; {}", at(0.5)), format!("≥ {}", at(0.5)), at(1.0)],
        }
    }
}

impl<'a> EpochsPlot<'a> {
    /// These runs.
    pub fn new(runs: Vec<(String, &'a EpochSpread)>) -> Self {
        EpochsPlot { runs, marks: RunMarks::default() }
    }

    /// Draws it.
    pub fn draw(&self) -> Plot {
        let spreads: Vec<&EpochSpread> = self.runs.iter().map(|(_, run)| *run).collect();
        let strip = EpochStrip::new(&spreads, MOST_COLUMNS);
        let (low, high) = strip.range.unwrap_or((0.0, 1.0));
        let range = if low >= 0.0 && high <= 1.0 { (0.0, 1.0) } else { (low, high) };
        let shading = Shading { range, is_binned: strip.columns.len() < strip.samples };
        let mut drawing = Drawing::default();
        let mut y = legend(&mut drawing, &shading);
        let mut words = Vec::new();
        let mut table =
            Listing::new(["run", "samples", "epochs", "with different scores"].map(str::to_owned));
        for (at, (name, run)) in self.runs.iter().enumerate() {
            let series = self.marks.series(name, at, self.runs.len());
            let varying = format!(
                "varies on {} of {}",
                grouped(run.varying() as u64),
                grouped(run.samples.len() as u64)
            );
            let varying = self.marks.figure(name, varying);
            drawing.put(format_args!(
                "<g class=\"{}\"><use class=\"mk\" href=\"#{}\" x=\"6\" y=\"{}\"/></g><text class=\"lab\" x=\"17\" \
                 y=\"{}\">{}{}</text><text class=\"lab s\" text-anchor=\"end\" x=\"100%\" y=\"{}\">{varying}</text>",
                series.class,
                series.mark.large(),
                px(y + 9.5),
                px(y + 14.0),
                fitted(name, 20),
                whole(name, 20),
                px(y + 14.0)
            ));
            y += 21.0;
            columns(&mut drawing, &strip.columns, at, series, &shading, y);
            y += STRIP + 10.0;
            let spread = format!(
                "{}: {} samples, up to {} epochs, {} with different scores",
                visible(name),
                run.samples.len(),
                run.epochs(),
                run.varying()
            );
            words.push(self.marks.figure(name, spread));
            table.push([
                name.clone(),
                run.samples.len().to_string(),
                run.epochs().to_string(),
                run.varying().to_string(),
            ]);
        }
        let (left, right) =
            if self.runs.len() > 1 { ("hardest for all", "easiest") } else { ("hardest", "easiest") };
        drawing.put(format_args!(
            "<text class=\"tick l\" x=\"0\" y=\"{0}\">{left}</text><text class=\"tick\" x=\"50%\" y=\"{0}\">{1} \
             samples</text><text class=\"tick r\" x=\"100%\" y=\"{0}\">{right}</text>",
            px(y + 6.0),
            grouped(strip.samples as u64)
        ));
        let label = format!("Samples from the hardest to the easiest. {}", words.join("; "));
        let part = PlotPart::new(drawing.0, (y + 12.0).ceil() as u32, label.clone());
        let each = match shading.is_binned {
            true => format!(
                "a column is the mean of about {} samples",
                strip.samples / strip.columns.len().max(1)
            ),
            false => "a column is a sample".to_owned(),
        };
        let is_absent = strip.columns.iter().any(|column| column.means.contains(&None));
        let absent = if is_absent { " · blank: no score" } else { "" };
        let mut data = Listing::new(["run", "sample", "samples", "mean"]);
        for column in &strip.columns {
            for ((name, _), mean) in self.runs.iter().zip(&column.means) {
                data.push([
                    name.clone().into(),
                    ListingCell::from(column.id.as_str()),
                    column.samples.into(),
                    (*mean).into(),
                ]);
            }
        }
        let plot = Plot::of_parts(vec![part], 1, label, table)
            .with_data(data)
            .with_caption(format!("{each}, shaded by the mean of its epochs{absent}"));
        self.marks.explain(plot)
    }
}

/// The shades and what they mean, and where it ends.
fn legend(drawing: &mut Drawing, shading: &Shading) -> f64 {
    drawing.put(format_args!("<g class=\"m0\">"));
    for (at, text) in shading.legend().iter().enumerate() {
        // Four at equal distances fit into any width.
        let (x, class) = (at * 25, ["s0", "s1", "s2", "s3"].get(at).copied().unwrap_or_default());
        drawing.put(format_args!(
            "<svg x=\"{x}%\" y=\"0\" width=\"25%\" height=\"16\" overflow=\"visible\"><rect class=\"{class}\" y=\"1\" \
             width=\"12\" height=\"12\"/><text class=\"tick l\" x=\"17\" y=\"11.5\">{text}</text></svg>"
        ));
    }
    drawing.put(format_args!("</g>"));
    28.0
}

fn columns(
    drawing: &mut Drawing,
    columns: &[StripColumn],
    run: usize,
    series: Series,
    shading: &Shading,
    y: f64,
) {
    drawing.put(format_args!(
        "<svg class=\"{}\" x=\"0\" y=\"{}\" width=\"100%\" height=\"{STRIP}\" viewBox=\"0 0 {} 1\" \
         preserveAspectRatio=\"none\" shape-rendering=\"crispEdges\">",
        series.class,
        px(y),
        columns.len().max(1)
    ));
    let class =
        |column: &StripColumn| column.means.get(run).copied().flatten().map(|mean| shading.class(mean));
    let mut x = 0;
    for same in columns.chunk_by(|a, b| class(a) == class(b)) {
        if let Some(class) = same.first().and_then(class) {
            drawing.put(format_args!(
                "<rect class=\"{class}\" x=\"{x}\" width=\"{}\" height=\"1\"/>",
                same.len()
            ));
        }
        x += same.len();
    }
    drawing.put(format_args!("</svg>"));
}
