//! One figure of several runs, on one scale.

use errorbar_core::Estimate;

use super::rows::{Row, Rows};
use super::text::{
    estimate_list, estimate_row, figure, interval_text, level, row_text, short, short_difference, visible,
};
use super::{Plot, RunMarks};
use crate::chance::ChanceLevel;
use crate::listing::Listing;
use crate::svg::{IntervalSize, Scale};

/// The estimate of one run.
#[derive(Clone, Debug)]
pub struct NamedEstimate {
    /// The run, by its shortest unambiguous name.
    pub name: String,
    /// Its estimate.
    pub estimate: Estimate,
}

/// One figure of several runs, the best first.
#[derive(Clone, Debug, Default)]
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
    /// Draws it.
    pub fn draw(&self) -> Plot {
        let Estimates { metric, marks, .. } = self;
        let count = self.runs.len();
        let mut order: Vec<(usize, &NamedEstimate)> = self.runs.iter().enumerate().collect();
        let merit = |run: &NamedEstimate| {
            let value = run.estimate.number().filter(|value| !value.is_nan());
            value.map_or(f64::NEG_INFINITY, |value| if self.lower_is_better { -value } else { value })
        };
        order.sort_by(|(_, a), (_, b)| merit(b).total_cmp(&merit(a)));
        let mut rows = Vec::new();
        let mut words = Vec::new();
        let mut table = Listing::new(["run", metric, "interval", "n", "absent"]);
        let mut data = estimate_list(["run", "metric"], ["absent"]);
        for (at, NamedEstimate { name, estimate }) in &order {
            let written = |text: String| marks.figure(name, text);
            let (n, absent) = (estimate.n, estimate.absent);
            let (text, brief) = match self.are_differences {
                true => (short_difference(estimate), short_difference(estimate)),
                false => (row_text(estimate, true), short(estimate)),
            };
            rows.push(Row::new(
                name,
                estimate,
                marks.series(name, *at, count),
                written(text),
                written(brief),
            ));
            let missing = if absent > 0 { format!(", {absent} absent") } else { String::new() };
            words.push(format!("{}: {}, n {n}{missing}", visible(name), written(figure(estimate))));
            let figures =
                [written(short(estimate)), interval_text(estimate), n.to_string(), absent.to_string()];
            table.push([name.clone()].into_iter().chain(figures));
            data.push(estimate_row(
                [name.as_str().into(), metric.as_str().into()],
                estimate,
                [absent.into()],
            ));
        }
        let estimates = || self.runs.iter().map(|run| &run.estimate);
        let rows = Rows {
            scale: if self.are_differences {
                Scale::of_differences(estimates())
            } else {
                Scale::of(estimates())
            },
            reference: self.chance.map(ChanceLevel::reference),
            rows,
            ties: Vec::new(),
            size: if count > 12 { IntervalSize::Forest } else { IntervalSize::Table },
        };
        let label = format!("{metric}. {}{}", words.join("; "), chance_words(self.chance));
        rows.plot(label, (table, data), caption(estimates(), self.chance), marks)
    }
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
    let estimates: Vec<&Estimate> = estimates.collect();
    let any = |is: fn(&Estimate) -> bool| estimates.iter().any(|estimate| is(estimate));
    let parts = [
        level(estimates.iter().copied()).map(|level| format!("line: {level}")),
        any(|one| one.stderr().is_some_and(|se| se > 0.0)).then(|| "box: ± 1 standard error".to_owned()),
        Some("mark: estimate".to_owned()),
        any(|one| one.bounds.is_some()).then(|| "dotted: with the absent samples, worst to best".to_owned()),
        any(|one| one.value.is_err()).then(|| "dashed ring: no figure".to_owned()),
        chance.map(|chance| format!("dashed line: {}", chance.meaning())),
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join(" · ")
}
