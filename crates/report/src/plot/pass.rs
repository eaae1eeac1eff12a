//! pass@k and pass^k with their bands, a panel for each run.

use errorbar_core::{Estimate, PassCurve};

use super::text::{estimate_list, estimate_row, figure, level, short_or_unknown, visible};
use super::vertical::{Vertical, apart};
use super::{Plot, PlotPart, RunMarks, panels};
use crate::listing::{Listing, ListingCell};
use crate::svg::{Drawing, Scale, Series, percent, px};

const TOP: f64 = 16.0;
const BOTTOM: f64 = 190.0;
const HEIGHT: u32 = 214;
/// Where k is 1 and where it is largest, in percent; the rest of the width is for labels.
const LEFT: f64 = 13.0;
const RIGHT: f64 = 60.0;
/// Over this number of points only the ends have marks.
const MOST_MARKS: usize = 8;

/// The chances of success over several attempts, for one run or several, in the order of their colours.
pub fn pass(runs: &[(String, PassCurve)], marks: &RunMarks) -> Plot {
    let mut table = Listing::new(["run", "k", "pass@k", "pass^k", "n"]);
    let mut data = estimate_list(["run", "k", "figure"], []);
    let parts = panels(runs, marks, |name, curve, series| {
        let mut words = Vec::new();
        for point in &curve.points {
            let (k, any, all) = (point.k.to_string(), figure(&point.any), figure(&point.all));
            words.push(format!("k {k}: pass@k {any}, pass^k {all}"));
            table.push([name.to_owned(), k, any, all, point.any.n.to_string()]);
            for (figure, estimate) in [("pass@k", &point.any), ("pass^k", &point.all)] {
                let named = [name.into(), ListingCell::from(point.k), figure.into()];
                data.push(estimate_row(named, estimate, []));
            }
        }
        let label = marks.figure(name, format!("{}: {}", visible(name), words.join("; ")));
        let n = curve.points.first().map_or(0, |point| point.any.n);
        let note = marks.figure(name, format!("{n} samples"));
        PlotPart::new(panel(curve, series), HEIGHT, label).with_note(note)
    });
    let band = level(runs.iter().flat_map(|(_, curve)| &curve.points).map(|point| &point.any));
    let band = band.map(|level| format!(" · band: {level}")).unwrap_or_default();
    let caption =
        format!("pass@k, solid: at least one of k attempts succeeds · pass^k, dashed: all k succeed{band}");
    let columns = parts.len().min(2);
    Plot::new(parts, columns, (table, data), caption, marks)
}

fn panel(curve: &PassCurve, series: Series) -> String {
    let mut drawing = Drawing::default();
    let vertical = Vertical { scale: Scale::unit(), top: TOP, bottom: BOTTOM };
    // Fewer lines than a row of a table has ticks.
    for tick in [0.0, 0.25, 0.5, 0.75, 1.0] {
        let y = vertical.y(tick);
        drawing.line("gl", ["0", &percent(RIGHT + 3.0)], [px(y), px(y)]);
        drawing.text("tick l", "0", px(y - 3.0), &tick.to_string());
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
            drawing.text("tick", percent(at), px(BOTTOM + 18.0), &text);
            last = at;
        }
    }
    let any: Vec<(f64, &Estimate)> = curve.points.iter().map(|point| (x(point.k), &point.any)).collect();
    let all: Vec<(f64, &Estimate)> = curve.points.iter().map(|point| (x(point.k), &point.all)).collect();
    drawing.group(series.class, |drawing| {
        drawing.put(format_args!(
            "<svg viewBox=\"0 0 100 {HEIGHT}\" preserveAspectRatio=\"none\" x=\"0\" y=\"0\" width=\"100%\" \
             height=\"{HEIGHT}\">"
        ));
        for (points, class) in [(&any, "curve"), (&all, "curve k")] {
            band(drawing, points, &vertical);
            line(drawing, points, class, &vertical);
        }
        drawing.0.push_str("</svg>");
        let count = curve.points.len();
        for (points, hollow) in [(&any, ""), (&all, " hollow")] {
            for (at, (x, estimate)) in points.iter().enumerate() {
                let is_marked = count <= MOST_MARKS || at == 0 || at + 1 == count;
                // Both curves begin at one point.
                let is_shared = at == 0 && !hollow.is_empty();
                if let Some(value) = estimate.number().filter(|_| is_marked && !is_shared) {
                    let (id, x, y) = (series.mark.small(), percent(*x), px(vertical.y(value)));
                    drawing
                        .put(format_args!("<use class=\"mk{hollow}\" href=\"#{id}\" x=\"{x}\" y=\"{y}\"/>"));
                }
            }
        }
    });
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
        let x = percent(RIGHT + 4.0);
        drawing.text("lab", &x, px(y - 1.0), name);
        drawing.text("lab s", &x, px(y + 14.0), &short_or_unknown(estimate));
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
