//! When two computations of a figure are the same.

use std::f64::consts::{PI, SQRT_2};

use errorbar_core::Draws;
use errorbar_core::{IntervalSide, MetricValue, Role};
use errorbar_stats::distributions::normal_quantile;
use serde_json::Value as Json;

use crate::inspect::{Figure, FigurePart, ProjectedBlock};
use crate::recorded::{RecordedBlock, RecordedMetric};

/// How far two computations of one figure may be apart, relative to it.
const RELATIVE: f64 = 1e-9;
/// And where the figure is nothing but rounding: in all, and relative to the largest figure of its block.
const ABSOLUTE: f64 = 1e-12;
const ROUNDING: f64 = 1e-15;
/// How many standard errors of the resampling two random figures may be apart.
const MONTE_CARLO: f64 = 5.0;

/// A recorded block and a recomputed one, to compare their figures.
pub(super) struct Agreement<'a> {
    block: &'a RecordedBlock,
    recomputed: &'a ProjectedBlock<'a>,
    rounding: f64,
}

impl<'a> Agreement<'a> {
    pub(super) fn new(block: &'a RecordedBlock, recomputed: &'a ProjectedBlock<'a>) -> Self {
        let finite =
            block.metrics.values().map(|metric| metric.value.abs()).filter(|value| value.is_finite());
        let rounding = ABSOLUTE.max(ROUNDING * finite.fold(0.0, f64::max));
        Agreement { block, recomputed, rounding }
    }

    /// Whether a recorded figure is the recomputed one that has this key.
    pub(super) fn holds(&self, old: &RecordedMetric, key: &str, new: &Figure<'_>) -> bool {
        agree(old.value, new.number(), self.rounding)
            || agree_but_for_the_seed(key, old, new, self.block, self.recomputed)
    }
}

fn agree(old: f64, new: f64, rounding: f64) -> bool {
    old == new
        || old.is_nan() && new.is_nan()
        || (old - new).abs() <= (RELATIVE * old.abs().max(new.abs())).max(rounding)
}

/// Whether two draws of a random figure, under different seeds, are as near as draws are.
fn agree_but_for_the_seed(
    key: &str,
    old: &RecordedMetric,
    new: &Figure<'_>,
    block: &RecordedBlock,
    recomputed: &ProjectedBlock<'_>,
) -> bool {
    let Some(draws) = draws(new) else { return false };
    let seed = old.metadata.as_ref().and_then(|notes| notes.get("seed")).and_then(Json::as_u64);
    if seed == Some(draws.seed) {
        return false;
    }
    let value = new.number();
    let (apart, size) = ((old.value - value).abs(), old.value.abs().max(value.abs()));
    let count = (draws.count as f64).max(1.0);
    match new.part {
        // The standard deviation of an estimated standard deviation is σ/√(2B); both of the two are drawn.
        FigurePart::Value | FigurePart::Entry => apart <= MONTE_CARLO * SQRT_2 * size / (2.0 * count).sqrt(),
        FigurePart::Lower | FigurePart::Upper => {
            // The spread of the means, off the width of the interval.
            let other = other_end(key, new, recomputed).and_then(|other| block.metrics.get(other));
            let width = other.map_or(size, |other| (other.value - old.value).abs());
            let interval = new.estimate.and_then(|estimate| estimate.interval.as_ref().ok());
            let Some(interval) = interval else { return false };
            let tail = match interval.side {
                IntervalSide::TwoSided => (1.0 - interval.level) / 2.0,
                _ => 1.0 - interval.level,
            };
            let z = normal_quantile(1.0 - tail);
            // A sample quantile has the standard deviation √(p(1−p)/B) / density, in units of the spread.
            let density = (-z * z / 2.0).exp() / (2.0 * PI).sqrt();
            let error = (tail * (1.0 - tail) / count).sqrt() / density * width / (2.0 * z);
            // Means of few values lie apart, and a quantile may be the one or the next of them.
            let scored = recomputed.score.counts.scored.max(1) as f64;
            apart <= MONTE_CARLO * SQRT_2 * error + width / scored
        }
    }
}

/// The key of the other end of an interval.
fn other_end<'p>(key: &str, figure: &Figure<'_>, block: &'p ProjectedBlock<'_>) -> Option<&'p str> {
    // The two ends stand one after the other.
    let at = block.entries.get_index_of(key)?;
    let at = if figure.part == FigurePart::Lower { at.checked_add(1)? } else { at.checked_sub(1)? };
    let (other, entry) = block.entries.get_index(at)?;
    let is_end = matches!(entry.figure.part, FigurePart::Lower | FigurePart::Upper)
        && entry.figure.part != figure.part;
    is_end.then_some(other)
}

/// What makes an error or an interval random: its own draws, or for an aggregate those of the groups.
fn draws(figure: &Figure<'_>) -> Option<Draws> {
    fn first(value: &MetricValue) -> Option<Draws> {
        match value {
            MetricValue::One(estimate) => estimate.draws,
            MetricValue::Map(map) => map.values().flatten().find_map(|estimate| estimate.draws),
            MetricValue::List(list) => list.iter().flatten().find_map(|estimate| estimate.draws),
            MetricValue::Groups(groups) => groups.groups.iter().find_map(|group| first(&group.value)),
        }
    }
    let is_drawn = matches!(figure.result.role, Role::ErrorOf | Role::IntervalOf);
    let own = figure.estimate.and_then(|estimate| estimate.draws);
    let of_groups = || figure.is_mean_of_groups.then(|| first(&figure.result.value)).flatten();
    own.or_else(of_groups).filter(|_| is_drawn)
}
