//! Confidence against accuracy, a panel for each run.

use errorbar_core::CalibrationCurve;

use super::text::{estimate_list, estimate_row, figure, level, score, short_or_unknown, visible};
use super::vertical::Vertical;
use super::{Plot, PlotPart, RunMarks, panels};
use crate::listing::Listing;
use crate::svg::{Drawing, Scale, Series, percent, px};

const TOP: f64 = 32.0;
const BOTTOM: f64 = 236.0;
/// The height of the bars that count answers.
const COUNTS: f64 = 26.0;
const HEIGHT: u32 = 310;
const LEFT: f64 = 12.0;
const WIDE: f64 = 84.0;

/// How far confidence can be trusted, for one run or several, in the order of their colours.
pub fn calibration(runs: &[(String, CalibrationCurve)], marks: &RunMarks) -> Plot {
    let mut table = Listing::new(["run", "confidence", "mean confidence", "accuracy", "n"]);
    let mut data = estimate_list(["run", "from", "to", "confidence"], []);
    let most = runs.iter().flat_map(|(_, curve)| &curve.bins).map(|bin| bin.accuracy.n).max();
    let parts = panels(runs, marks, |name, curve, series| {
        let mut words = Vec::new();
        for bin in &curve.bins {
            let (accuracy, n) = (figure(&bin.accuracy), bin.accuracy.n.to_string());
            words.push(format!("at {:.2} {accuracy}, n {n}", bin.confidence));
            let ends = format!("{} to {}", score(bin.lower), score(bin.upper));
            table.push([name.to_owned(), ends, format!("{:.3}", bin.confidence), accuracy, n]);
            let named = [name.into(), bin.lower.into(), bin.upper.into(), bin.confidence.into()];
            data.push(estimate_row(named, &bin.accuracy, []));
        }
        let error = marks.figure(name, figure(&curve.error));
        let label = format!(
            "{}: accuracy by confidence, {}; mean distance {error}",
            visible(name),
            words.join("; "),
        );
        let note = marks.figure(name, format!("ECE {}", short_or_unknown(&curve.error)));
        PlotPart::new(panel(curve, series, most.unwrap_or(1)), HEIGHT, label).with_note(note)
    });
    let line = level(runs.iter().flat_map(|(_, curve)| &curve.bins).map(|bin| &bin.accuracy));
    let line = line.map(|level| format!("line: {level} · ")).unwrap_or_default();
    let caption = format!(
        "mark: accuracy of the answers in a bin of confidence · {line}dashed: as accurate as confident\nbars: number \
         of answers · ECE: mean distance between confidence and accuracy"
    );
    let columns = parts.len().min(2);
    Plot::new(parts, columns, (table, data), caption, marks)
}

fn panel(curve: &CalibrationCurve, series: Series, most: u64) -> String {
    let mut drawing = Drawing::default();
    let vertical = Vertical { scale: Scale::unit(), top: TOP, bottom: BOTTOM };
    vertical.lines(&mut drawing);
    let x = |confidence: f64| LEFT + WIDE * confidence.clamp(0.0, 1.0);
    let across = || [0.0, 1.0].map(|end| percent(x(end)));
    drawing.line("gl ref", across(), [BOTTOM, TOP]);
    let base = BOTTOM + 8.0 + COUNTS;
    drawing.group(series.class, |drawing| {
        for bin in &curve.bins {
            let height = (COUNTS * bin.accuracy.n as f64 / most.max(1) as f64).max(1.0);
            let (from, to) = (x(bin.lower), x(bin.upper));
            drawing.column(percent(from + 0.3), percent((to - from - 0.6).max(0.4)), base - height, height);
        }
    });
    drawing.line("baseline", across(), [base, base]);
    for tick in Scale::unit().ticks() {
        drawing.text("tick", percent(x(*tick)), px(base + 16.0), &tick.to_string());
    }
    drawing.text("tick r", percent(x(1.0)), px(base + 33.0), "confidence");
    drawing.text("tick l", "0", "12", "accuracy");
    for bin in &curve.bins {
        vertical.interval(&mut drawing, &bin.accuracy, series, x(bin.confidence));
    }
    drawing.0
}
