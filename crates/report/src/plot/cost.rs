//! What runs cost against what they score.

use errorbar_core::Estimate;

use super::area::{Drawing, Vertical, px};
use super::estimates::percentage;
use super::text::{estimate_list, estimate_row, figure, fitted, interval_text, short, visible, whole};
use super::{Plot, PlotPart, RunMarks};
use crate::listing::Listing;
use crate::number::grouped;
use crate::svg::{Scale, percent, tick_text};

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
#[non_exhaustive]
pub struct CostPoint {
    /// Its name.
    pub name: String,
    /// What it cost; none if that is unknown, and then it is not drawn.
    pub cost: Option<f64>,
    /// What it scored.
    pub estimate: Estimate,
}

impl CostPoint {
    /// A run with its cost and its score.
    pub fn new(name: impl Into<String>, cost: Option<f64>, estimate: Estimate) -> Self {
        CostPoint { name: name.into(), cost, estimate }
    }
}

/// What runs cost against what they score.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct CostPlot {
    /// What the score is.
    pub metric: String,
    /// What is paid.
    pub axis: CostAxis,
    /// The runs, in the order of their colours.
    pub runs: Vec<CostPoint>,
    /// Their marks; by position if unset.
    pub marks: RunMarks,
}

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

    /// Positions and names of ticks.
    fn ticks(&self) -> Vec<(f64, String)> {
        let whole = self.scale.ticks().iter().filter(|tick| !self.is_log || tick.fract() == 0.0);
        whole
            .map(|tick| {
                let cost = if self.is_log { 10_f64.powf(*tick) } else { *tick };
                (self.x(cost), tick_text(cost, false))
            })
            .collect()
    }
}

impl CostPlot {
    /// These runs.
    pub fn new(metric: impl Into<String>, axis: CostAxis, runs: Vec<CostPoint>) -> Self {
        CostPlot { metric: metric.into(), axis, runs, marks: RunMarks::default() }
    }

    /// Draws it.
    pub fn draw(&self) -> Plot {
        let costs: Vec<f64> = self
            .runs
            .iter()
            .filter_map(|run| run.cost)
            .filter(|cost| cost.is_finite() && *cost >= 0.0)
            .collect();
        let horizontal = Horizontal::new(&costs);
        let scale = Scale::of(self.runs.iter().map(|run| &run.estimate));
        let vertical = Vertical { scale, top: TOP, bottom: BOTTOM };
        let mut drawing = Drawing::default();
        vertical.lines(&mut drawing);
        for (x, text) in horizontal.ticks() {
            drawing.put(format_args!(
                "<line class=\"gl\" x1=\"{0}\" x2=\"{0}\" y1=\"{BOTTOM}\" y2=\"{1}\"/><text class=\"tick\" x=\"{0}\" \
                 y=\"{2}\">{text}</text>",
                percent(x),
                px(BOTTOM + 5.0),
                px(BOTTOM + 19.0)
            ));
        }
        drawing.put(format_args!(
            "<text class=\"tick r\" x=\"100%\" y=\"{}\">{}{}</text>",
            px(BOTTOM + 37.0),
            self.axis.name(),
            if horizontal.is_log { ", logarithmic" } else { "" }
        ));
        self.points(&mut drawing, &horizontal, &vertical);
        let cost =
            |run: &CostPoint| run.cost.map_or_else(|| "unknown".to_owned(), |cost| self.axis.text(cost));
        let words = |run: &CostPoint| {
            let figure = self.marks.figure(&run.name, figure(&run.estimate));
            format!("{}: {}, {figure}", visible(&run.name), cost(run))
        };
        let words: Vec<String> = self.runs.iter().map(words).collect();
        let label = format!("{} against {}. {}", self.metric, self.axis.name(), words.join("; "));
        let mut table = Listing::new(["run", self.axis.name(), &self.metric, "interval"].map(str::to_owned));
        for run in &self.runs {
            let brief = self.marks.figure(&run.name, short(&run.estimate));
            table.push([run.name.clone(), cost(run), brief, interval_text(&run.estimate)]);
        }
        let unknown =
            self.runs.iter().filter(|run| run.cost.is_none() || run.estimate.value.is_err()).count();
        let unknown = match unknown {
            0 => String::new(),
            unknown => format!(" · not drawn: {unknown} without cost or score"),
        };
        let level = self.runs.iter().find_map(|run| run.estimate.interval.as_ref().ok()).map(|i| i.level);
        let line = level.map(|level| format!(" · line: {} interval", percentage(level))).unwrap_or_default();
        let listed =
            if self.runs.len() > MOST_NAMES { self.runs.len().div_ceil(2) as u32 * 17 + 8 } else { 0 };
        let part = PlotPart::new(drawing.0, HEIGHT + listed, label.clone());
        let mut data = estimate_list(["run", self.axis.name(), "metric"], []);
        for run in &self.runs {
            let named = [run.name.clone().into(), run.cost.into(), self.metric.clone().into()];
            data.push(estimate_row(named, &run.estimate, []));
        }
        let caption = format!("{} upwards, {} to the right{line}{unknown}", self.metric, self.axis.name());
        self.marks.explain(Plot::of_parts(vec![part], 1, label, table).with_data(data).with_caption(caption))
    }

    fn points(&self, drawing: &mut Drawing, horizontal: &Horizontal, vertical: &Vertical) {
        let known: Vec<(usize, &CostPoint, f64, f64)> = self
            .runs
            .iter()
            .enumerate()
            .filter_map(|(at, run)| {
                let cost = run.cost.filter(|cost| cost.is_finite() && *cost >= 0.0)?;
                let value = run.estimate.number().filter(|value| value.is_finite())?;
                Some((at, run, horizontal.x(cost), vertical.y(value)))
            })
            .collect();
        for (at, run, x, _) in &known {
            let series = self.marks.series(&run.name, *at, self.runs.len());
            vertical.interval(drawing, &run.estimate, series, *x);
        }
        self.names(drawing, &known);
    }

    /// Names beside the points; of many runs numbers, and the names below.
    fn names(&self, drawing: &mut Drawing, known: &[(usize, &CostPoint, f64, f64)]) {
        let are_many = self.runs.len() > MOST_NAMES;
        let mut order: Vec<&(usize, &CostPoint, f64, f64)> = known.iter().collect();
        order.sort_by(|a, b| a.3.total_cmp(&b.3).then(a.2.total_cmp(&b.2)));
        let mut taken: Vec<(f64, f64, f64)> = Vec::new();
        for (number, (_, run, x, y)) in order.iter().enumerate() {
            let is_left = *x > LEFT + WIDE * 0.6;
            let text = if are_many { (number + 1).to_string() } else { fitted(&run.name, 22) };
            // In percent of a drawing of 400 pixels.
            let wide = if are_many {
                6.0
            } else {
                4.0 + 1.8 * crate::text::width(&visible(&run.name)).min(22) as f64
            };
            let (from, to) = if is_left { (x - wide, *x) } else { (*x, x + wide) };
            let mut at = y + 4.0;
            let is_taken = |at: f64, taken: &[(f64, f64, f64)]| {
                taken
                    .iter()
                    .any(|(left, right, other)| from < *right && *left < to && (other - at).abs() < 13.0)
            };
            while is_taken(at, &taken) && at < BOTTOM + 8.0 {
                at += 3.0;
            }
            taken.push((from, to, at));
            let (anchor, shift) = if is_left { ("end", -9) } else { ("start", 9) };
            drawing.put(format_args!(
                "<svg x=\"{}\" y=\"{}\" overflow=\"visible\"><text class=\"lab\" text-anchor=\"{anchor}\" \
                 x=\"{shift}\">{text}{}</text></svg>",
                percent(*x),
                px(at),
                if are_many {
                    format!("<title>{}</title>", fitted(&run.name, 200))
                } else {
                    whole(&run.name, 22)
                }
            ));
        }
        if are_many {
            let half = order.len().div_ceil(2);
            for (number, (_, run, _, _)) in order.iter().enumerate() {
                let (x, row) = if number < half { (0.0, number) } else { (50.0, number - half) };
                drawing.put(format_args!(
                    "<text class=\"lab s\" x=\"{}\" y=\"{}\">{} {}</text>",
                    percent(x),
                    px(f64::from(HEIGHT) + 14.0 + 17.0 * row as f64),
                    number + 1,
                    fitted(&run.name, 22)
                ));
            }
        }
    }
}
