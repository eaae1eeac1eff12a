//! Recorded results against recomputed ones.

use std::f64::consts::{PI, SQRT_2};
use std::fmt;

use errorbar_core::Draws;
use errorbar_core::stats::normal_quantile;
use errorbar_core::{MetricValue, Results, Role};
use serde_json::Value as Json;

use super::recorded::{RecordedBlock, RecordedMetric, RecordedResults};
use crate::inspect::{Figure, FigurePart, ProjectedBlock, Projection};

/// How far two computations of one figure may be apart, relative to it.
const RELATIVE: f64 = 1e-9;
/// And where the figure is nothing but rounding: in all, and relative to the largest figure of its block.
const ABSOLUTE: f64 = 1e-12;
const ROUNDING: f64 = 1e-15;
/// How many standard errors of the resampling two random figures may be apart.
const MONTE_CARLO: f64 = 5.0;

/// A recorded figure or count that differs from the recomputed one.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Difference {
    /// Where: the block, as people read it. Nothing for what concerns the whole.
    pub block: Option<String>,
    /// What.
    pub kind: DifferenceKind,
}

/// What is different.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum DifferenceKind {
    /// A figure.
    #[error("{metric}: recorded {recorded}, recomputed {recomputed}")]
    Value {
        /// The key of the metric.
        metric: String,
        /// In the log.
        recorded: f64,
        /// Now.
        recomputed: f64,
    },
    /// A count of samples.
    #[error("{what}: recorded {recorded}, recomputed {recomputed}")]
    Count {
        /// Of which.
        what: &'static str,
        /// In the log.
        recorded: u64,
        /// Now.
        recomputed: u64,
    },
    /// A figure that only the log has; with the reason, if it failed.
    #[error("{metric}: recorded, not recomputed{}", error.as_ref().map(|error| format!(": {error}")).unwrap_or_default())]
    NotRecomputed {
        /// The key of the metric.
        metric: String,
        /// Why.
        error: Option<String>,
    },
    /// A figure that the log has not.
    #[error("{metric}: recomputed, not recorded")]
    NotRecorded {
        /// The key of the metric.
        metric: String,
    },
    /// A block that only the log has.
    #[error("recorded, not recomputed")]
    BlockNotRecomputed,
    /// A block that the log has not.
    #[error("recomputed, not recorded")]
    BlockNotRecorded,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(block) = &self.block {
            write!(f, "{block} · ")?;
        }
        self.kind.fmt(f)
    }
}

/// Every difference between what a log records and what was recomputed; none if all is well.
///
/// Figures agree to nine digits; not-a-number equals itself. A random figure must be the same if its recorded
/// seed is ours, else lie within its resampling error.
///
/// ```
/// use errorbar_core::{Plan, Score, ScoreColumns};
/// use errorbar_log::eval::{RecordedResults, compare};
/// let mut columns = ScoreColumns::new(["match"]);
/// columns.push("q1", 1).score("match", Score::new("C"))?;
/// let results = Plan::new().evaluate(&columns)?.results;
/// let mut recorded = RecordedResults::from(&results);
/// recorded.scores[0].metrics["accuracy"].value = 0.5;
/// assert_eq!(compare(&recorded, &results)[0].to_string(), "match · accuracy: recorded 0.5, recomputed 1");
/// # Ok::<(), errorbar_core::Error>(())
/// ```
pub fn compare(recorded: &RecordedResults, recomputed: &Results) -> Vec<Difference> {
    let mut differences = Vec::new();
    for (what, old, new) in [
        ("total samples", recorded.total_samples, recomputed.total_samples as u64),
        ("completed samples", recorded.completed_samples, recomputed.completed_samples as u64),
    ] {
        // Very old logs do not record the number.
        if old != new && old != 0 {
            let kind = DifferenceKind::Count { what, recorded: old, recomputed: new };
            differences.push(Difference { block: None, kind });
        }
    }
    // Blocks of one name are compared in their order.
    let projection = Projection::new(recomputed);
    let mut left: Vec<&ProjectedBlock<'_>> = projection.blocks.iter().collect();
    for old in &recorded.scores {
        let same = |new: &&ProjectedBlock<'_>| {
            let new = new.score;
            new.name() == old.name && new.scorer == old.scorer && new.reducer == old.reducer
        };
        let title = title(&old.name, &old.scorer, old.reducer.as_deref());
        match left.iter().position(same) {
            Some(at) => {
                let kinds = compare_block(old, left.remove(at));
                differences
                    .extend(kinds.into_iter().map(|kind| Difference { block: Some(title.clone()), kind }));
            }
            None => {
                differences.push(Difference { block: Some(title), kind: DifferenceKind::BlockNotRecomputed });
            }
        }
    }
    differences.extend(left.into_iter().map(|new| Difference {
        block: Some(title(new.score.name(), &new.score.scorer, new.score.reducer.as_deref())),
        kind: DifferenceKind::BlockNotRecorded,
    }));
    differences
}

fn title(name: &str, scorer: &str, reducer: Option<&str>) -> String {
    let of = if name == scorer { String::new() } else { format!(" of {scorer}") };
    let reducer = reducer.map(|reducer| format!(" ({reducer})")).unwrap_or_default();
    format!("{name}{of}{reducer}")
}

fn compare_block(old: &RecordedBlock, new: &ProjectedBlock<'_>) -> Vec<DifferenceKind> {
    let mut kinds = Vec::new();
    let counts = &new.score.counts;
    for (what, recorded, recomputed) in [
        ("scored samples", old.scored_samples, counts.scored as u64),
        ("unscored samples", old.unscored_samples, counts.unscored as u64),
    ] {
        if let Some(recorded) = recorded.filter(|recorded| *recorded != recomputed) {
            kinds.push(DifferenceKind::Count { what, recorded, recomputed });
        }
    }
    let finite = old.metrics.values().map(|metric| metric.value.abs()).filter(|value| value.is_finite());
    let rounding = ABSOLUTE.max(ROUNDING * finite.fold(0.0, f64::max));
    for (key, metric) in &old.metrics {
        let metric_key = || key.clone();
        match new.entries.get(key) {
            Some(entry) => {
                let recomputed = entry.figure.number();
                let is_same = agree(metric.value, recomputed, rounding)
                    || agree_but_for_the_seed(key, metric, &entry.figure, old, new);
                if !is_same {
                    let recorded = metric.value;
                    kinds.push(DifferenceKind::Value { metric: metric_key(), recorded, recomputed });
                }
            }
            None => {
                // A group has no package, a name has.
                let is_of = |failed: &str| match &metric.group {
                    Some(group) => without_package(failed) == without_package(group),
                    None => failed == metric.name,
                };
                let failure = new.score.failures.iter().find(|failure| is_of(&failure.metric));
                let error = failure.map(|failure| failure.error.to_string());
                kinds.push(DifferenceKind::NotRecomputed { metric: metric_key(), error });
            }
        }
    }
    let extra = new.entries.keys().filter(|key| !old.metrics.contains_key(*key));
    kinds.extend(extra.map(|key| DifferenceKind::NotRecorded { metric: key.clone() }));
    kinds
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
            let tail = (1.0 - interval.level) / 2.0;
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
            _ => None,
        }
    }
    let is_drawn = matches!(figure.result.role, Role::ErrorOf | Role::IntervalOf);
    let own = figure.estimate.and_then(|estimate| estimate.draws);
    let of_groups = || figure.is_mean_of_groups.then(|| first(&figure.result.value)).flatten();
    own.or_else(of_groups).filter(|_| is_drawn)
}

fn without_package(name: &str) -> &str {
    name.rsplit('/').next().unwrap_or(name)
}
