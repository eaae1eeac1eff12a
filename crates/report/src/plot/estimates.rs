//! One figure of several runs, on one scale.

use errorbar_core::Estimate;

use super::rows::{Row, Rows};
use super::text::{
    estimate_list, estimate_row, figure, interval_text, row_text, short, short_difference, visible,
};
use super::{Plot, PlotPart, RunMarks};
use crate::chance::ChanceLevel;
use crate::listing::Listing;
use crate::svg::{IntervalSize, Scale};

/// The estimate of one run.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct NamedEstimate {
    /// The run, by its shortest unambiguous name.
    pub name: String,
    /// Its estimate.
    pub estimate: Estimate,
}

impl NamedEstimate {
    /// An estimate and its name.
    pub fn new(name: impl Into<String>, estimate: Estimate) -> Self {
        NamedEstimate { name: name.into(), estimate }
    }
}

/// One figure of several runs, the best first.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Estimates {
    /// What the figure is.
    pub metric: String,
    /// The runs, in the order of their colours.
    pub runs: Vec<NamedEstimate>,
    /// Whether lower figures are better.
    pub lower_is_better: bool,
    /// A line to compare with: the score of guessing.
    pub chance: Option<ChanceLevel>,
    /// Their marks; by position if unset.
    pub marks: RunMarks,
    /// Whether these are differences, whose scale has 0 and signs.
    pub are_differences: bool,
}

impl Estimates {
    /// These runs, higher figures being better.
    pub fn new(metric: impl Into<String>, runs: Vec<NamedEstimate>) -> Self {
        let (metric, marks) = (metric.into(), RunMarks::default());
        Estimates { metric, runs, lower_is_better: false, chance: None, marks, are_differences: false }
    }

    /// Draws it.
    pub fn draw(&self) -> Plot {
        let count = self.runs.len();
        let mut order: Vec<(usize, &NamedEstimate)> = self.runs.iter().enumerate().collect();
        let merit = |run: &NamedEstimate| {
            let value = run.estimate.number().filter(|value| !value.is_nan());
            value.map_or(f64::NEG_INFINITY, |value| if self.lower_is_better { -value } else { value })
        };
        order.sort_by(|(_, a), (_, b)| merit(b).total_cmp(&merit(a)));
        let row = |(at, run): &(usize, &NamedEstimate)| {
            let written = |text: String| self.marks.figure(&run.name, text);
            let (text, brief) = match self.are_differences {
                true => (short_difference(&run.estimate), short_difference(&run.estimate)),
                false => (row_text(&run.estimate, true), short(&run.estimate)),
            };
            let (text, brief) = (written(text), written(brief));
            Row::new(&run.name, &run.estimate, self.marks.series(&run.name, *at, count), text, brief)
        };
        let size = if count > 12 { IntervalSize::Forest } else { IntervalSize::Table };
        let estimates = self.runs.iter().map(|run| &run.estimate);
        let scale =
            if self.are_differences { Scale::of_differences(estimates) } else { Scale::of(estimates) };
        let rows = Rows {
            scale,
            reference: self.chance.map(ChanceLevel::reference),
            rows: order.iter().map(row).collect(),
            ties: Vec::new(),
            size,
        };
        let words = |(_, run): &(usize, &NamedEstimate)| {
            let absent = run.estimate.absent;
            let absent = if absent > 0 { format!(", {absent} absent") } else { String::new() };
            let n = run.estimate.n;
            let figure = self.marks.figure(&run.name, figure(&run.estimate));
            format!("{}: {figure}, n {n}{absent}", visible(&run.name))
        };
        let label = format!("{}. {}", self.metric, order.iter().map(words).collect::<Vec<_>>().join("; "));
        let label = label + &chance_words(self.chance);
        let mut table = Listing::new(["run", &self.metric, "interval", "n", "absent"].map(str::to_owned));
        for (_, run) in &order {
            table.push([
                run.name.clone(),
                self.marks.figure(&run.name, short(&run.estimate)),
                interval_text(&run.estimate),
                run.estimate.n.to_string(),
                run.estimate.absent.to_string(),
            ]);
        }
        let mut data = estimate_list(["run", "metric"], ["absent"]);
        for (_, run) in &order {
            let named = [run.name.clone().into(), self.metric.clone().into()];
            data.push(estimate_row(named, &run.estimate, [run.estimate.absent.into()]));
        }
        let caption = caption(self.runs.iter().map(|run| &run.estimate), self.chance);
        self.marks.explain(plot_of_rows(&rows, label, table).with_data(data).with_caption(caption))
    }
}

/// Rows as a plot, in both forms.
pub(super) fn plot_of_rows(rows: &Rows, label: String, table: Listing) -> Plot {
    let ((narrow, narrow_height), (wide, wide_height)) = (rows.narrow(), rows.wide());
    let page = PlotPart::new(narrow, narrow_height, label.clone());
    Plot::of_rows(page, PlotPart::new(wide, wide_height, label), table)
}

/// The level of guessing at the end of a text alternative.
pub(super) fn chance_words(chance: Option<ChanceLevel>) -> String {
    chance.map(|chance| format!(". {}: {}", chance.label(), chance.meaning())).unwrap_or_default()
}

/// What the parts of intervals mean, and the line of guessing.
pub(super) fn caption<'a>(
    estimates: impl Iterator<Item = &'a Estimate>,
    chance: Option<ChanceLevel>,
) -> String {
    let (mut level, mut has_error, mut has_bounds, mut is_undefined) = (None, false, false, false);
    for estimate in estimates {
        level = level.or(estimate.interval.as_ref().ok().map(|interval| interval.level));
        has_error |= estimate.stderr().is_some_and(|se| se > 0.0);
        has_bounds |= estimate.bounds.is_some();
        is_undefined |= estimate.value.is_err();
    }
    let level = level.map(|level| format!("line: {} interval", percentage(level)));
    let parts = [
        level,
        has_error.then(|| "box: ± 1 standard error".to_owned()),
        Some("mark: estimate".to_owned()),
        has_bounds.then(|| "dotted: with the absent samples, worst to best".to_owned()),
        is_undefined.then(|| "dashed ring: no figure".to_owned()),
        chance.map(|chance| format!("dashed line: {}", chance.meaning())),
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join(" · ")
}

/// A level as people write it: `95 %`.
pub(super) fn percentage(level: f64) -> String {
    format!("{} %", crate::number::plain((level * 1e6).round() / 1e4))
}
