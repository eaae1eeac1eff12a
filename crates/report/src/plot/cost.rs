//! What runs cost against what they score.

use errorbar_core::Estimate;

use super::text::{estimate_list, estimate_row, figure, fitted, interval_text, level, short, visible, whole};
use super::vertical::Vertical;
use super::{Plot, PlotPart, RunMarks};
use crate::listing::Listing;
use crate::number::grouped;
use crate::svg::{Drawing, Scale, percent, px, tick_text};

const TOP: f64 = 18.0;
const BOTTOM: f64 = 260.0;
const HEIGHT: u32 = 304;
const LEFT: f64 = 10.0;
const WIDE: f64 = 80.0;
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
            CostAxis::Dollars if number < 0.01 => format!("${}", crate::number::plain(number)),
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
        match low > 0.0 && high / low >= WIDE_RANGE {
            true => {
                let (low, high) = (low.log10().floor(), high.log10().ceil());
                Horizontal { scale: Scale::around([low, high]), is_log: true }
            }
            // Costs that hardly differ are far from 0, and would lie on each other.
            false if low > 0.0 && high < 2.0 * low && high > low => {
                Horizontal { scale: Scale::around(costs.iter().copied()), is_log: false }
            }
            false => Horizontal { scale: Scale::around(costs.iter().copied().chain([0.0])), is_log: false },
        }
    }

    fn x(&self, cost: f64) -> f64 {
        LEFT + WIDE * self.scale.within(if self.is_log { cost.log10() } else { cost }) / 100.0
    }

    fn ticks(&self, drawing: &mut Drawing) {
        for tick in self.scale.ticks().iter().filter(|tick| !self.is_log || tick.fract() == 0.0) {
            let cost = if self.is_log { 10_f64.powf(*tick) } else { *tick };
            let x = percent(self.x(cost));
            drawing.line("gl", [&x, &x], [px(BOTTOM), px(BOTTOM + 5.0)]);
            drawing.text("tick", x, px(BOTTOM + 19.0), &tick_text(cost, false));
        }
    }
}

/// What runs, in the order of their colours, cost against what they score by a metric.
pub fn cost(metric: &str, axis: CostAxis, runs: &[CostPoint], marks: &RunMarks) -> Plot {
    let is_cost = |cost: &f64| cost.is_finite() && *cost >= 0.0;
    let costs: Vec<f64> = runs.iter().filter_map(|run| run.cost).filter(is_cost).collect();
    let horizontal = Horizontal::new(&costs);
    let scale = Scale::of(runs.iter().map(|run| &run.estimate));
    let vertical = Vertical { scale, top: TOP, bottom: BOTTOM };
    let mut drawing = Drawing::default();
    vertical.lines(&mut drawing);
    horizontal.ticks(&mut drawing);
    let logarithmic = if horizontal.is_log { ", logarithmic" } else { "" };
    drawing.text("tick r", "100%", px(BOTTOM + 37.0), &format!("{}{logarithmic}", axis.name()));
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
    let part = PlotPart::new(drawing.0, HEIGHT + listed, label);
    Plot::new(vec![part], 1, (table, data), caption, marks)
}

/// Names beside the points; of many runs numbers, and the names below.
fn names(drawing: &mut Drawing, mut placed: Vec<Placed<'_>>, are_many: bool) {
    placed.sort_by(|a, b| a.3.total_cmp(&b.3).then(a.2.total_cmp(&b.2)));
    let mut taken: Vec<(f64, f64, f64)> = Vec::new();
    let half = placed.len().div_ceil(2);
    for (number, (_, run, x, y)) in placed.iter().enumerate() {
        let is_left = *x > LEFT + WIDE * 0.6;
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
        while is_taken(at, &taken) && at < BOTTOM + 8.0 {
            at += 3.0;
        }
        taken.push((from, to, at));
        let (anchor, shift) = if is_left { ("end", -9) } else { ("start", 9) };
        let text = format!("<text class=\"lab\" text-anchor=\"{anchor}\" x=\"{shift}\">{text}{title}</text>");
        drawing.nested(percent(*x), px(at), &text);
    }
    for (number, (_, run, ..)) in placed.iter().enumerate().filter(|_| are_many) {
        let (x, row) = if number < half { (0.0, number) } else { (50.0, number - half) };
        let y = px(f64::from(HEIGHT) + 14.0 + 17.0 * row as f64);
        drawing.text("lab s", percent(x), y, &format!("{} {}", number + 1, fitted(&run.name, 22)));
    }
}
