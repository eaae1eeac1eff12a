//! Every sample from the hardest to the easiest, shaded by the mean of its epochs.

use errorbar_core::{EpochSpread, EpochStrip, StripColumn};

use super::text::{fitted, score, visible, whole};
use super::{Plot, PlotPart, RunMarks};
use crate::listing::{Listing, ListingCell};
use crate::number::grouped;
use crate::svg::{Drawing, Series, px};

/// The most samples that have a column each.
const MOST_COLUMNS: usize = 600;
const STRIP: f64 = 26.0;

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

/// The epochs of samples, for one run or several, in the order of their colours.
pub fn epochs(runs: &[(String, EpochSpread)], marks: &RunMarks) -> Plot {
    let spreads: Vec<&EpochSpread> = runs.iter().map(|(_, run)| run).collect();
    let strip = EpochStrip::new(&spreads, MOST_COLUMNS);
    let (low, high) = strip.range.unwrap_or((0.0, 1.0));
    let range = if low >= 0.0 && high <= 1.0 { (0.0, 1.0) } else { (low, high) };
    let shading = Shading { range, is_binned: strip.columns.len() < strip.samples };
    let mut drawing = Drawing::default();
    let mut y = legend(&mut drawing, &shading);
    let mut words = Vec::new();
    let mut table = Listing::new(["run", "samples", "epochs", "with different scores"]);
    for (at, (name, run)) in runs.iter().enumerate() {
        let series = marks.series(name, at, runs.len());
        let (samples, varying, epochs) = (run.samples.len(), run.varying(), run.epochs());
        drawing.mark(series, 6, px(y + 9.5));
        drawing.text("lab", 17, px(y + 14.0), &(fitted(name, 20) + &whole(name, 20)));
        let varies = format!("varies on {} of {}", grouped(varying as u64), grouped(samples as u64));
        drawing.text_at_end("100%", px(y + 14.0), &marks.figure(name, varies));
        y += 21.0;
        columns(&mut drawing, &strip.columns, at, series, &shading, y);
        y += STRIP + 10.0;
        let spread = format!(
            "{}: {samples} samples, up to {epochs} epochs, {varying} with different scores",
            visible(name)
        );
        words.push(marks.figure(name, spread));
        table.push([name.clone(), samples.to_string(), epochs.to_string(), varying.to_string()]);
    }
    let left = if runs.len() > 1 { "hardest for all" } else { "hardest" };
    drawing.text("tick l", "0", px(y + 6.0), left);
    drawing.text("tick", "50%", px(y + 6.0), &format!("{} samples", grouped(strip.samples as u64)));
    drawing.text("tick r", "100%", px(y + 6.0), "easiest");
    let label = format!("Samples from the hardest to the easiest. {}", words.join("; "));
    let each = match shading.is_binned {
        true => {
            format!("a column is the mean of about {} samples", strip.samples / strip.columns.len().max(1))
        }
        false => "a column is a sample".to_owned(),
    };
    let is_absent = strip.columns.iter().any(|column| column.means.contains(&None));
    let absent = if is_absent { " · blank: no score" } else { "" };
    let mut data = Listing::new(["run", "sample", "samples", "mean"]);
    for column in &strip.columns {
        for ((name, _), mean) in runs.iter().zip(&column.means) {
            let sample = ListingCell::from(column.id.as_str());
            data.push([name.as_str().into(), sample, column.samples.into(), (*mean).into()]);
        }
    }
    let caption = format!("{each}, shaded by the mean of its epochs{absent}");
    let part = PlotPart::new(drawing.0, (y + 12.0).ceil() as u32, label);
    Plot::new(vec![part], 1, (table, data), caption, marks)
}

/// The shades and what they mean, and where it ends.
fn legend(drawing: &mut Drawing, shading: &Shading) -> f64 {
    drawing.group("m0", |drawing| {
        for (at, (text, class)) in shading.legend().iter().zip(["s0", "s1", "s2", "s3"]).enumerate() {
            let shade = format!(
                "<rect class=\"{class}\" y=\"1\" width=\"12\" height=\"12\"/><text class=\"tick l\" x=\"17\" \
                 y=\"11.5\">{text}</text>"
            );
            // Four at equal distances fit into any width.
            drawing.strip(&format!("{}%", at * 25), 0, "25%", 16, &shade);
        }
    });
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
            let width = same.len();
            drawing.put(format_args!("<rect class=\"{class}\" x=\"{x}\" width=\"{width}\" height=\"1\"/>"));
        }
        x += same.len();
    }
    drawing.put(format_args!("</svg>"));
}
