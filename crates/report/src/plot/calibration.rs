//! Confidence against accuracy, a panel for each run.

use errorbar_core::{CalibrationBin, CalibrationCurve};

use super::area::{Drawing, Vertical, px};
use super::estimates::percentage;
use super::text::{estimate_list, estimate_row, figure, score, short_or_unknown, visible};
use super::{Plot, PlotPart, RunMarks};
use crate::listing::Listing;
use crate::svg::{Scale, Series, percent};

const TOP: f64 = 32.0;
const BOTTOM: f64 = 236.0;
/// The height of the bars that count answers.
const COUNTS: f64 = 26.0;
const HEIGHT: u32 = 310;
const LEFT: f64 = 12.0;
const WIDE: f64 = 84.0;

/// How far confidence can be trusted, for one run or several.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct CalibrationPlot<'a> {
    /// The runs, in the order of their colours.
    pub runs: Vec<(String, &'a CalibrationCurve)>,
    /// Their marks; by position if unset.
    pub marks: RunMarks,
}

impl<'a> CalibrationPlot<'a> {
    /// These runs.
    pub fn new(runs: Vec<(String, &'a CalibrationCurve)>) -> Self {
        CalibrationPlot { runs, marks: RunMarks::default() }
    }

    /// Draws it.
    pub fn draw(&self) -> Plot {
        let titles = ["run", "confidence", "mean confidence", "accuracy", "n"];
        let mut table = Listing::new(titles.map(str::to_owned));
        let most = self.runs.iter().flat_map(|(_, curve)| &curve.bins).map(|bin| bin.accuracy.n).max();
        let mut parts = Vec::new();
        for (at, (name, curve)) in self.runs.iter().enumerate() {
            let series = self.marks.series(name, at, self.runs.len());
            let words = |bin: &CalibrationBin| {
                format!("at {:.2} {}, n {}", bin.confidence, figure(&bin.accuracy), bin.accuracy.n)
            };
            let words: Vec<String> = curve.bins.iter().map(words).collect();
            for bin in &curve.bins {
                table.push([
                    name.clone(),
                    format!("{} to {}", score(bin.lower), score(bin.upper)),
                    format!("{:.3}", bin.confidence),
                    figure(&bin.accuracy),
                    bin.accuracy.n.to_string(),
                ]);
            }
            let label = format!(
                "{}: accuracy by confidence, {}; mean distance {}",
                visible(name),
                words.join("; "),
                self.marks.figure(name, figure(&curve.error))
            );
            let part = PlotPart::new(panel(curve, series, most.unwrap_or(1)), HEIGHT, label);
            let note = format!("ECE {}", short_or_unknown(&curve.error));
            parts.push(part.named(series, name, self.marks.figure(name, note)));
        }
        let label = parts.iter().map(|part| part.label.as_str()).collect::<Vec<_>>().join(". ");
        let bins = self.runs.iter().flat_map(|(_, curve)| &curve.bins);
        let level = bins.filter_map(|bin| bin.accuracy.interval.as_ref().ok()).map(|i| i.level).next();
        let line = level.map(|level| format!("line: {} interval · ", percentage(level))).unwrap_or_default();
        let columns = parts.len().min(2);
        let mut data = estimate_list(["run", "from", "to", "confidence"], []);
        for (name, curve) in &self.runs {
            for bin in &curve.bins {
                let named = [name.clone().into(), bin.lower.into(), bin.upper.into(), bin.confidence.into()];
                data.push(estimate_row(named, &bin.accuracy, []));
            }
        }
        let plot = Plot::of_parts(parts, columns, label, table).with_data(data).with_caption(format!(
            "mark: accuracy of the answers in a bin of confidence · {line}dashed: as accurate as confident\nbars: number \
             of answers · ECE: mean distance between confidence and accuracy"
        ));
        self.marks.explain(plot)
    }
}

fn panel(curve: &CalibrationCurve, series: Series, most: u64) -> String {
    let mut drawing = Drawing::default();
    let vertical = Vertical { scale: Scale::unit(), top: TOP, bottom: BOTTOM };
    vertical.lines(&mut drawing);
    let x = |confidence: f64| LEFT + WIDE * confidence.clamp(0.0, 1.0);
    drawing.put(format_args!(
        "<line class=\"gl ref\" x1=\"{}\" x2=\"{}\" y1=\"{BOTTOM}\" y2=\"{TOP}\"/>",
        percent(x(0.0)),
        percent(x(1.0))
    ));
    let base = BOTTOM + 8.0 + COUNTS;
    drawing.put(format_args!("<g class=\"{}\">", series.class));
    for bin in &curve.bins {
        let height = COUNTS * bin.accuracy.n as f64 / most.max(1) as f64;
        let (from, to) = (x(bin.lower), x(bin.upper));
        drawing.put(format_args!(
            "<rect class=\"colm\" x=\"{}\" width=\"{}\" y=\"{}\" height=\"{}\"/>",
            percent(from + 0.3),
            percent((to - from - 0.6).max(0.4)),
            px(base - height.max(1.0)),
            px(height.max(1.0))
        ));
    }
    drawing.put(format_args!("</g>"));
    drawing.put(format_args!(
        "<line class=\"baseline\" x1=\"{}\" x2=\"{}\" y1=\"{base}\" y2=\"{base}\"/>",
        percent(x(0.0)),
        percent(x(1.0))
    ));
    for tick in Scale::unit().ticks() {
        drawing.put(format_args!(
            "<text class=\"tick\" x=\"{}\" y=\"{}\">{tick}</text>",
            percent(x(*tick)),
            px(base + 16.0)
        ));
    }
    drawing.put(format_args!(
        "<text class=\"tick r\" x=\"{}\" y=\"{}\">confidence</text><text class=\"tick l\" x=\"0\" y=\"12\">accuracy</text>",
        percent(x(1.0)),
        px(base + 33.0)
    ));
    for bin in &curve.bins {
        vertical.interval(&mut drawing, &bin.accuracy, series, x(bin.confidence));
    }
    drawing.0
}
