//! pass@k and pass^k with their bands, a panel for each run.

use errorbar_core::{Estimate, PassCurve, PassPoint};

use super::area::{Drawing, Vertical, apart, px};
use super::estimates::percentage;
use super::text::{estimate_list, estimate_row, figure, short_or_unknown, visible};
use super::{Plot, PlotPart, RunMarks};
use crate::listing::{Listing, ListingCell};
use crate::svg::{Scale, Series, percent};

const TOP: f64 = 16.0;
const BOTTOM: f64 = 190.0;
const HEIGHT: u32 = 214;
/// Where k is 1 and where it is largest, in percent; the rest of the width is for labels.
const LEFT: f64 = 13.0;
const RIGHT: f64 = 60.0;
/// Over this number of points only the ends have marks.
const MOST_MARKS: usize = 8;

/// The chances of success over several attempts, for one run or several.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct PassPlot<'a> {
    /// The runs, in the order of their colours.
    pub runs: Vec<(String, &'a PassCurve)>,
    /// Their marks; by position if unset.
    pub marks: RunMarks,
}

impl<'a> PassPlot<'a> {
    /// These runs.
    pub fn new(runs: Vec<(String, &'a PassCurve)>) -> Self {
        PassPlot { runs, marks: RunMarks::default() }
    }

    /// Draws it.
    pub fn draw(&self) -> Plot {
        let mut table = Listing::new(["run", "k", "pass@k", "pass^k", "n"].map(str::to_owned));
        let mut parts = Vec::new();
        for (at, (name, curve)) in self.runs.iter().enumerate() {
            let series = self.marks.series(name, at, self.runs.len());
            let words = |point: &PassPoint| {
                format!("k {}: pass@k {}, pass^k {}", point.k, figure(&point.any), figure(&point.all))
            };
            let words: Vec<String> = curve.points.iter().map(words).collect();
            for point in &curve.points {
                table.push([
                    name.clone(),
                    point.k.to_string(),
                    figure(&point.any),
                    figure(&point.all),
                    point.any.n.to_string(),
                ]);
            }
            let label = self.marks.figure(name, format!("{}: {}", visible(name), words.join("; ")));
            let n = curve.points.first().map_or(0, |point| point.any.n);
            let part = PlotPart::new(panel(curve, series), HEIGHT, label);
            parts.push(part.named(series, name, self.marks.figure(name, format!("{n} samples"))));
        }
        let label = parts.iter().map(|part| part.label.as_str()).collect::<Vec<_>>().join(". ");
        let estimates = self.runs.iter().flat_map(|(_, curve)| &curve.points).map(|point| &point.any);
        let level = estimates.filter_map(|estimate| estimate.interval.as_ref().ok()).map(|i| i.level).next();
        let band = level.map(|level| format!(" · band: {} interval", percentage(level))).unwrap_or_default();
        let columns = parts.len().min(2);
        let mut data = estimate_list(["run", "k", "figure"], []);
        for (name, curve) in &self.runs {
            for point in &curve.points {
                for (figure, estimate) in [("pass@k", &point.any), ("pass^k", &point.all)] {
                    let named = [name.clone().into(), ListingCell::from(point.k), figure.into()];
                    data.push(estimate_row(named, estimate, []));
                }
            }
        }
        let plot = Plot::of_parts(parts, columns, label, table).with_data(data).with_caption(format!(
            "pass@k, solid: at least one of k attempts succeeds · pass^k, dashed: all k succeed{band}"
        ));
        self.marks.explain(plot)
    }
}

fn panel(curve: &PassCurve, series: Series) -> String {
    let mut drawing = Drawing::default();
    let vertical = Vertical { scale: Scale::unit(), top: TOP, bottom: BOTTOM };
    // Fewer lines than a row of a table has ticks.
    for tick in [0.0, 0.25, 0.5, 0.75, 1.0] {
        let y = vertical.y(tick);
        drawing.put(format_args!(
            "<line class=\"gl\" x1=\"0\" x2=\"{}\" y1=\"{1}\" y2=\"{1}\"/><text class=\"tick l\" x=\"0\" y=\"{2}\">{tick}</text>",
            percent(RIGHT + 3.0),
            px(y),
            px(y - 3.0)
        ));
    }
    let most = curve.points.last().map_or(1, |point| point.k).max(2);
    let x = |k: u64| LEFT + (RIGHT - LEFT) * (k - 1) as f64 / (most - 1) as f64;
    let mut last = f64::NEG_INFINITY;
    for point in &curve.points {
        let at = x(point.k);
        let is_end = point.k == most;
        // The last one has its number in any case.
        if is_end || at - last >= 8.0 && (x(most) - at >= 8.0 || point.k == 1) {
            let text = if point.k == 1 { "k = 1".to_owned() } else { point.k.to_string() };
            drawing.put(format_args!(
                "<text class=\"tick\" x=\"{}\" y=\"{}\">{text}</text>",
                percent(at),
                px(BOTTOM + 18.0)
            ));
            last = at;
        }
    }
    drawing.put(format_args!(
        "<g class=\"{}\"><svg viewBox=\"0 0 100 {HEIGHT}\" preserveAspectRatio=\"none\" x=\"0\" y=\"0\" width=\"100%\" \
         height=\"{HEIGHT}\">",
        series.class
    ));
    let any: Vec<(f64, &Estimate)> = curve.points.iter().map(|point| (x(point.k), &point.any)).collect();
    let all: Vec<(f64, &Estimate)> = curve.points.iter().map(|point| (x(point.k), &point.all)).collect();
    for (points, class) in [(&any, "curve"), (&all, "curve k")] {
        band(&mut drawing, points, &vertical);
        line(&mut drawing, points, class, &vertical);
    }
    drawing.put(format_args!("</svg>"));
    let count = curve.points.len();
    for (points, hollow) in [(&any, ""), (&all, " hollow")] {
        for (at, (x, estimate)) in points.iter().enumerate() {
            let is_marked = count <= MOST_MARKS || at == 0 || at + 1 == count;
            // Both curves begin at one point.
            let is_shared = at == 0 && !hollow.is_empty();
            if let Some(value) = estimate.number().filter(|_| is_marked && !is_shared) {
                drawing.put(format_args!(
                    "<use class=\"mk{hollow}\" href=\"#{}\" x=\"{}\" y=\"{}\"/>",
                    series.mark.small(),
                    percent(*x),
                    px(vertical.y(value))
                ));
            }
        }
    }
    drawing.put(format_args!("</g>"));
    labels(&mut drawing, curve, &vertical);
    drawing.0
}

/// What the curves are called, at their right ends.
fn labels(drawing: &mut Drawing, curve: &PassCurve, vertical: &Vertical) {
    let Some(last) = curve.points.last() else { return };
    let ends = [(format!("pass@{}", last.k), &last.any), (format!("pass^{}", last.k), &last.all)];
    let wanted =
        ends.each_ref().map(|(_, estimate)| estimate.number().map_or(BOTTOM, |value| vertical.y(value)));
    let placed = apart(&wanted, 34.0, (TOP, BOTTOM));
    for ((name, estimate), y) in ends.iter().zip(placed) {
        drawing.put(format_args!(
            "<text class=\"lab\" x=\"{0}\" y=\"{1}\">{name}</text><text class=\"lab s\" x=\"{0}\" y=\"{2}\">{3}</text>",
            percent(RIGHT + 4.0),
            px(y - 1.0),
            px(y + 14.0),
            short_or_unknown(estimate)
        ));
    }
}

/// The intervals of neighbouring points, joined; a point without an interval interrupts it.
fn band(drawing: &mut Drawing, points: &[(f64, &Estimate)], vertical: &Vertical) {
    let ends = |(x, estimate): &(f64, &Estimate)| {
        let interval = estimate.interval.as_ref().ok()?;
        Some((*x, vertical.y(interval.lower), vertical.y(interval.upper)))
    };
    for known in points.chunk_by(|a, b| ends(a).is_some() && ends(b).is_some()) {
        let known: Vec<(f64, f64, f64)> = known.iter().filter_map(ends).collect();
        if known.len() < 2 {
            continue;
        }
        let there = known.iter().map(|(x, lower, _)| format!("{x:.2},{}", px(*lower)));
        let back = known.iter().rev().map(|(x, _, upper)| format!("{x:.2},{}", px(*upper)));
        let corners: Vec<String> = there.chain(back).collect();
        drawing.put(format_args!("<polygon class=\"band\" points=\"{}\"/>", corners.join(" ")));
    }
}

fn line(drawing: &mut Drawing, points: &[(f64, &Estimate)], class: &str, vertical: &Vertical) {
    for known in points.chunk_by(|(_, a), (_, b)| a.number().is_some() && b.number().is_some()) {
        let corner =
            |(x, estimate): &(f64, &Estimate)| Some(format!("{x:.2},{}", px(vertical.y(estimate.number()?))));
        let corners: Vec<String> = known.iter().filter_map(corner).collect();
        if corners.len() > 1 {
            drawing.put(format_args!("<polyline class=\"{class}\" points=\"{}\"/>", corners.join(" ")));
        }
    }
}
