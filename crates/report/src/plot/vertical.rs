//! What plots with a vertical scale share.

use errorbar_core::{CalibrationCurve, Estimate, PassCurve};

use super::{
    Plot, PlotPart, RunMarks, estimate_list, estimate_row, figure, fitted, interval_text, level, panels,
    score, short, short_or_unknown, visible, whole,
};
use crate::record::{Listing, ListingCell};
use crate::svg::{Drawing, Scale, Series, ends, percent, px, tick_text};
use crate::text::grouped;

/// A number on a vertical axis of pixels.
pub(super) struct Vertical {
    pub(super) scale: Scale,
    pub(super) top: f64,
    pub(super) bottom: f64,
}

impl Vertical {
    /// Where a number is, no further than the ends.
    pub(super) fn y(&self, number: f64) -> f64 {
        self.bottom - (self.bottom - self.top) * self.scale.within(number) / 100.0
    }

    /// Lines with their numbers above them at the left, so that the drawing needs no margin of a fixed width.
    pub(super) fn lines(&self, drawing: &mut Drawing) {
        for tick in &self.scale.ticks {
            let y = px(self.y(*tick));
            drawing.line("gl", ["0", "100%"], [&y, &y]);
            drawing.text("tick l", "0", px(self.y(*tick) - 3.0), &self.scale.label(*tick));
        }
    }

    /// An estimate as an upright interval with a mark, at a horizontal position in percent.
    pub(super) fn interval(&self, drawing: &mut Drawing, estimate: &Estimate, series: Series, x: f64) {
        let Some(value) = estimate.number().filter(|value| value.is_finite()) else { return };
        let x = percent(x);
        let ends = ends(estimate, value);
        drawing.group(series.class, |drawing| {
            if let Some((lower, upper)) = ends {
                let [from, to] = [lower, upper].map(|end| px(self.y(end.unwrap_or(value))));
                let class = if series.is_partial { "ci far" } else { "ci" };
                drawing.line(class, [&x, &x], [&from, &to]);
                let caps = [(lower, &from, "M-4-4L0 0L4-4"), (upper, &to, "M-4 4L0 0L4 4")];
                for (end, y, beyond) in
                    caps.into_iter().filter_map(|(end, y, beyond)| Some((end?, y, beyond)))
                {
                    if end != value {
                        let is_beyond = !(-1e-6..=100.0 + 1e-6).contains(&self.scale.position(end));
                        let path = if is_beyond { beyond } else { "M-3.5 0H3.5" };
                        drawing.nested(&x, y, &format!("<path class=\"cap\" d=\"{path}\"/>"));
                    }
                }
            }
            let has_error = ends.is_some() || estimate.stderr().is_some_and(|se| se > 0.0);
            let hollow = if series.is_partial || !has_error { " hollow" } else { "" };
            let (id, y) = (series.mark.1, px(self.y(value)));
            drawing.put(format_args!("<use class=\"mk{hollow}\" href=\"#{id}\" x=\"{x}\" y=\"{y}\"/>"));
        });
    }
}

/// Heights for labels at about these heights, none nearer to another than `gap`; between the ends if there is room.
pub(super) fn apart(wanted: &[f64], gap: f64, (top, bottom): (f64, f64)) -> Vec<f64> {
    let mut order: Vec<usize> = (0..wanted.len()).collect();
    let at = |index: usize| wanted.get(index).copied().unwrap_or(0.0);
    order.sort_by(|a, b| at(*a).total_cmp(&at(*b)));
    let mut placed = vec![0.0; wanted.len()];
    let mut last = f64::NEG_INFINITY;
    for index in &order {
        last = at(*index).max(last + gap).max(top);
        if let Some(slot) = placed.get_mut(*index) {
            *slot = last;
        }
    }
    let mut next = f64::INFINITY;
    for index in order.iter().rev() {
        if let Some(slot) = placed.get_mut(*index) {
            *slot = slot.min(next - gap).min(bottom);
            next = *slot;
        }
    }
    placed
}

// Confidence against accuracy, a panel for each run.

const CALIBRATION_TOP: f64 = 32.0;
const CALIBRATION_BOTTOM: f64 = 236.0;
/// The height of the bars that count answers.
const COUNTS: f64 = 26.0;
const CALIBRATION_HEIGHT: u32 = 310;
const CALIBRATION_LEFT: f64 = 12.0;
const CALIBRATION_WIDE: f64 = 84.0;

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
        let body = calibration_panel(curve, series, most.unwrap_or(1));
        PlotPart { note, ..PlotPart::new(body, CALIBRATION_HEIGHT, label) }
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

fn calibration_panel(curve: &CalibrationCurve, series: Series, most: u64) -> String {
    let mut drawing = Drawing::default();
    let vertical = Vertical { scale: Scale::unit(), top: CALIBRATION_TOP, bottom: CALIBRATION_BOTTOM };
    vertical.lines(&mut drawing);
    let x = |confidence: f64| CALIBRATION_LEFT + CALIBRATION_WIDE * confidence.clamp(0.0, 1.0);
    let across = || [0.0, 1.0].map(|end| percent(x(end)));
    drawing.line("gl ref", across(), [CALIBRATION_BOTTOM, CALIBRATION_TOP]);
    let base = CALIBRATION_BOTTOM + 8.0 + COUNTS;
    drawing.group(series.class, |drawing| {
        for bin in &curve.bins {
            let height = (COUNTS * bin.accuracy.n as f64 / most.max(1) as f64).max(1.0);
            let (from, to) = (x(bin.lower), x(bin.upper));
            drawing.column(percent(from + 0.3), percent((to - from - 0.6).max(0.4)), base - height, height);
        }
    });
    drawing.line("baseline", across(), [base, base]);
    for tick in &Scale::unit().ticks {
        drawing.text("tick", percent(x(*tick)), px(base + 16.0), &tick.to_string());
    }
    drawing.text("tick r", percent(x(1.0)), px(base + 33.0), "confidence");
    drawing.text("tick l", "0", "12", "accuracy");
    for bin in &curve.bins {
        vertical.interval(&mut drawing, &bin.accuracy, series, x(bin.confidence));
    }
    drawing.0
}

// pass@k and pass^k with their bands, a panel for each run.

const PASS_TOP: f64 = 16.0;
const PASS_BOTTOM: f64 = 190.0;
const PASS_HEIGHT: u32 = 214;
/// Where k is 1 and where it is largest, in percent; the rest of the width is for labels.
const PASS_LEFT: f64 = 13.0;
const PASS_RIGHT: f64 = 60.0;
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
        PlotPart { note, ..PlotPart::new(panel(curve, series), PASS_HEIGHT, label) }
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
    let vertical = Vertical { scale: Scale::unit(), top: PASS_TOP, bottom: PASS_BOTTOM };
    // Fewer lines than a row of a table has ticks.
    for tick in [0.0, 0.25, 0.5, 0.75, 1.0] {
        let y = vertical.y(tick);
        drawing.line("gl", ["0", &percent(PASS_RIGHT + 3.0)], [px(y), px(y)]);
        drawing.text("tick l", "0", px(y - 3.0), &tick.to_string());
    }
    let most = curve.points.last().map_or(1, |point| point.k).max(2);
    let x = |k: u64| PASS_LEFT + (PASS_RIGHT - PASS_LEFT) * (k - 1) as f64 / (most - 1) as f64;
    let mut last = f64::NEG_INFINITY;
    for point in &curve.points {
        let at = x(point.k);
        let is_end = point.k == most;
        // The last one has its number in any case.
        if is_end || at - last >= 8.0 && (x(most) - at >= 8.0 || point.k == 1) {
            let text = if point.k == 1 { "k = 1".to_owned() } else { point.k.to_string() };
            drawing.text("tick", percent(at), px(PASS_BOTTOM + 18.0), &text);
            last = at;
        }
    }
    let any: Vec<(f64, &Estimate)> = curve.points.iter().map(|point| (x(point.k), &point.any)).collect();
    let all: Vec<(f64, &Estimate)> = curve.points.iter().map(|point| (x(point.k), &point.all)).collect();
    drawing.group(series.class, |drawing| {
        drawing.put(format_args!(
            "<svg viewBox=\"0 0 100 {PASS_HEIGHT}\" preserveAspectRatio=\"none\" x=\"0\" y=\"0\" width=\"100%\" \
             height=\"{PASS_HEIGHT}\">"
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
                        let (id, x, y) = (series.mark.1, percent(*x), px(vertical.y(value)));
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
        ends.each_ref().map(|(_, estimate)| estimate.number().map_or(PASS_BOTTOM, |value| vertical.y(value)));
    let placed = apart(&wanted, 34.0, (PASS_TOP, PASS_BOTTOM));
    for ((name, estimate), y) in ends.iter().zip(placed) {
        let x = percent(PASS_RIGHT + 4.0);
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

// What runs cost against what they score.

const COST_TOP: f64 = 18.0;
const COST_BOTTOM: f64 = 260.0;
const COST_HEIGHT: u32 = 304;
const COST_LEFT: f64 = 10.0;
const COST_WIDE: f64 = 80.0;
/// From this ratio of the highest to the lowest cost on, the axis is logarithmic.
const WIDE_RANGE: f64 = 20.0;
/// The most runs with their names beside the points.
const MOST_NAMES: usize = 12;

/// What is paid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CostAxis {
    /// Tokens of all models, read and written.
    Tokens,
    /// US dollars.
    Dollars,
}

impl CostAxis {
    fn name(self) -> &'static str {
        match self {
            CostAxis::Tokens => "tokens",
            CostAxis::Dollars => "US dollars",
        }
    }

    fn text(self, number: f64) -> String {
        match self {
            CostAxis::Tokens => format!("{} tokens", grouped(number.round() as u64)),
            CostAxis::Dollars if number < 0.01 => format!("${}", crate::text::plain(number)),
            CostAxis::Dollars => format!("${number:.2}"),
        }
    }
}

/// One run.
#[derive(Clone, Debug)]
pub struct CostPoint {
    /// Its name.
    pub name: String,
    /// What it cost; none if that is unknown, and then it is not drawn.
    pub cost: Option<f64>,
    /// What it scored.
    pub estimate: Estimate,
}

/// A point that is drawn: its run's position, the run, and where it is.
type Placed<'a> = (usize, &'a CostPoint, f64, f64);

/// The horizontal axis.
struct Horizontal {
    scale: Scale,
    is_log: bool,
}

impl Horizontal {
    fn new(costs: &[f64]) -> Self {
        let (low, high) = costs
            .iter()
            .fold((f64::INFINITY, 0.0), |(low, high): (f64, f64), cost| (low.min(*cost), high.max(*cost)));
        let is_log = low > 0.0 && high / low >= WIDE_RANGE;
        let from_zero = low <= 0.0 || high >= 2.0 * low || high <= low;
        let scale = match is_log {
            true => Scale::around([low.log10().floor(), high.log10().ceil()]),
            false => Scale::around(costs.iter().copied().chain(from_zero.then_some(0.0))),
        };
        Horizontal { scale, is_log }
    }

    fn x(&self, cost: f64) -> f64 {
        COST_LEFT + COST_WIDE * self.scale.within(if self.is_log { cost.log10() } else { cost }) / 100.0
    }

    fn ticks(&self, drawing: &mut Drawing) {
        for tick in self.scale.ticks.iter().filter(|tick| !self.is_log || tick.fract() == 0.0) {
            let cost = if self.is_log { 10_f64.powf(*tick) } else { *tick };
            let x = percent(self.x(cost));
            drawing.line("gl", [&x, &x], [px(COST_BOTTOM), px(COST_BOTTOM + 5.0)]);
            drawing.text("tick", x, px(COST_BOTTOM + 19.0), &tick_text(cost, false));
        }
    }
}

/// What runs, in the order of their colours, cost against what they score by a metric.
pub fn cost(metric: &str, axis: CostAxis, runs: &[CostPoint], marks: &RunMarks) -> Plot {
    let is_cost = |cost: &f64| cost.is_finite() && *cost >= 0.0;
    let costs: Vec<f64> = runs.iter().filter_map(|run| run.cost).filter(is_cost).collect();
    let horizontal = Horizontal::new(&costs);
    let scale = Scale::of(runs.iter().map(|run| &run.estimate));
    let vertical = Vertical { scale, top: COST_TOP, bottom: COST_BOTTOM };
    let mut drawing = Drawing::default();
    vertical.lines(&mut drawing);
    horizontal.ticks(&mut drawing);
    let logarithmic = if horizontal.is_log { ", logarithmic" } else { "" };
    drawing.text("tick r", "100%", px(COST_BOTTOM + 37.0), &format!("{}{logarithmic}", axis.name()));
    let mut placed: Vec<Placed<'_>> = Vec::new();
    for (at, run) in runs.iter().enumerate() {
        let value = run.estimate.number().filter(|value| value.is_finite());
        let place = run.cost.filter(is_cost).zip(value);
        placed.extend(place.map(|(cost, value)| (at, run, horizontal.x(cost), vertical.y(value))));
    }
    for (at, run, x, _) in &placed {
        vertical.interval(&mut drawing, &run.estimate, marks.series(&run.name, *at, runs.len()), *x);
    }
    names(&mut drawing, placed, runs.len() > MOST_NAMES);

    let mut table = Listing::new(["run", axis.name(), metric, "interval"]);
    let mut data = estimate_list(["run", axis.name(), "metric"], []);
    let mut words = Vec::new();
    for CostPoint { name, cost, estimate } in runs {
        let paid = cost.map_or_else(|| "unknown".to_owned(), |cost| axis.text(cost));
        words.push(format!("{}: {paid}, {}", visible(name), marks.figure(name, figure(estimate))));
        let brief = marks.figure(name, short(estimate));
        table.push([name.clone(), paid, brief, interval_text(estimate)]);
        data.push(estimate_row([name.as_str().into(), (*cost).into(), metric.into()], estimate, []));
    }
    let label = format!("{metric} against {}. {}", axis.name(), words.join("; "));
    let unknown = runs.iter().filter(|run| run.cost.is_none() || run.estimate.value.is_err()).count();
    let unknown = match unknown {
        0 => String::new(),
        unknown => format!(" · not drawn: {unknown} without cost or score"),
    };
    let line = level(runs.iter().map(|run| &run.estimate));
    let line = line.map(|level| format!(" · line: {level}")).unwrap_or_default();
    let listed = if runs.len() > MOST_NAMES { runs.len().div_ceil(2) as u32 * 17 + 8 } else { 0 };
    let caption = format!("{metric} upwards, {} to the right{line}{unknown}", axis.name());
    let part = PlotPart::new(drawing.0, COST_HEIGHT + listed, label);
    Plot::new(vec![part], 1, (table, data), caption, marks)
}

/// Names beside the points; of many runs numbers, and the names below.
fn names(drawing: &mut Drawing, mut placed: Vec<Placed<'_>>, are_many: bool) {
    placed.sort_by(|a, b| a.3.total_cmp(&b.3).then(a.2.total_cmp(&b.2)));
    let mut taken: Vec<(f64, f64, f64)> = Vec::new();
    let half = placed.len().div_ceil(2);
    for (number, (_, run, x, y)) in placed.iter().enumerate() {
        let is_left = *x > COST_LEFT + COST_WIDE * 0.6;
        let (text, title) = match are_many {
            true => ((number + 1).to_string(), format!("<title>{}</title>", fitted(&run.name, 200))),
            false => (fitted(&run.name, 22), whole(&run.name, 22)),
        };
        // In percent of a drawing of 400 pixels.
        let length = crate::text::width(&visible(&run.name)).min(22);
        let wide = if are_many { 6.0 } else { 4.0 + 1.8 * length as f64 };
        let (from, to) = if is_left { (x - wide, *x) } else { (*x, x + wide) };
        let mut at = y + 4.0;
        let is_taken = |at: f64, taken: &[(f64, f64, f64)]| {
            taken.iter().any(|(left, right, other)| from < *right && *left < to && (other - at).abs() < 13.0)
        };
        while is_taken(at, &taken) && at < COST_BOTTOM + 8.0 {
            at += 3.0;
        }
        taken.push((from, to, at));
        let (anchor, shift) = if is_left { ("end", -9) } else { ("start", 9) };
        let text = format!("<text class=\"lab\" text-anchor=\"{anchor}\" x=\"{shift}\">{text}{title}</text>");
        drawing.nested(percent(*x), px(at), &text);
    }
    for (number, (_, run, ..)) in placed.iter().enumerate().filter(|_| are_many) {
        let (x, row) = if number < half { (0.0, number) } else { (50.0, number - half) };
        let y = px(f64::from(COST_HEIGHT) + 14.0 + 17.0 * row as f64);
        drawing.text("lab s", percent(x), y, &format!("{} {}", number + 1, fitted(&run.name, 22)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_do_not_overlap() {
        assert_eq!(apart(&[10.0, 12.0, 80.0], 14.0, (0.0, 100.0)), [10.0, 24.0, 80.0]);
        assert_eq!(apart(&[99.0, 98.0], 14.0, (0.0, 100.0)), [100.0, 86.0]);
        assert_eq!(apart(&[], 14.0, (0.0, 100.0)), [0.0; 0]);
    }

    #[test]
    fn an_upright_interval_beyond_the_scale_has_a_chevron() {
        let vertical = Vertical { scale: Scale::unit(), top: 0.0, bottom: 100.0 };
        let mut drawing = Drawing::default();
        let estimate = Estimate::new(0.9).with_stderr(0.1).with_interval(0.7, 1.1, 0.95);
        vertical.interval(&mut drawing, &estimate, Series::of(0, 1), 50.0);
        assert!(drawing.0.contains("y=\"0\" overflow=\"visible\"><path class=\"cap\" d=\"M-4 4L0 0L4 4\""));
        assert!(drawing.0.contains("y=\"30\" overflow=\"visible\"><path class=\"cap\" d=\"M-3.5 0H3.5\""));
        let mut alone = Drawing::default();
        vertical.interval(&mut alone, &Estimate::new(0.5), Series::of(0, 1), 50.0);
        assert!(alone.0.contains("mk hollow") && !alone.0.contains("class=\"ci\""));
        let mut none = Drawing::default();
        let undefined = Estimate::undefined(errorbar_core::Undefined::NoScores);
        vertical.interval(&mut none, &undefined, Series::of(0, 1), 50.0);
        assert_eq!(none.0, "", "an unknown is not drawn as 0");
    }
}
