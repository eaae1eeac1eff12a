//! Recorded results against recomputed ones.

use std::f64::consts::{PI, SQRT_2};
use std::fmt;

use errorbar_core::stats::normal_quantile;
use errorbar_core::{Block, Entry, Metadata, Results};

use super::recorded::{RecordedBlock, RecordedMetric, RecordedResults};

/// How far two computations of one figure may be apart, relative to it.
const RELATIVE: f64 = 1e-9;
/// And where the figure is nothing but rounding: in all, and relative to the largest figure of its block.
const ABSOLUTE: f64 = 1e-12;
const ROUNDING: f64 = 1e-15;
/// How many standard errors of the resampling two random figures may be apart.
const MONTE_CARLO: f64 = 5.0;
/// How many resamples are drawn if nothing is said, and at which level an interval is.
const DEFAULT_DRAWS: f64 = 1000.0;
const DEFAULT_LEVEL: f64 = 0.95;

/// Something that a log records and that comes out otherwise.
#[derive(Clone, Debug, PartialEq)]
pub struct Difference {
    /// Where: the block, as people read it. Nothing for what concerns the whole.
    pub block: Option<String>,
    /// What.
    pub kind: DifferenceKind,
}

/// What is different.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum DifferenceKind {
    /// A figure.
    Value {
        /// The key of the metric.
        metric: String,
        /// In the log.
        recorded: f64,
        /// Now.
        recomputed: f64,
    },
    /// A count of samples.
    Count {
        /// Of which.
        what: &'static str,
        /// In the log.
        recorded: u64,
        /// Now.
        recomputed: u64,
    },
    /// A figure that only the log has; with the reason, if it failed.
    NotRecomputed {
        /// The key of the metric.
        metric: String,
        /// Why.
        error: Option<String>,
    },
    /// A figure that the log has not.
    NotRecorded {
        /// The key of the metric.
        metric: String,
    },
    /// A block that only the log has.
    BlockNotRecomputed,
    /// A block that the log has not.
    BlockNotRecorded,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        use DifferenceKind as Kind;
        if let Some(block) = &self.block {
            write!(f, "{block} · ")?;
        }
        match &self.kind {
            Kind::Value { metric, recorded, recomputed } => {
                write!(f, "{metric}: recorded {recorded}, recomputed {recomputed}")
            }
            Kind::Count { what, recorded, recomputed } => {
                write!(f, "{what}: recorded {recorded}, recomputed {recomputed}")
            }
            Kind::NotRecomputed { metric, error: None } => write!(f, "{metric}: recorded, not recomputed"),
            Kind::NotRecomputed { metric, error: Some(error) } => {
                write!(f, "{metric}: recorded, not recomputed: {error}")
            }
            Kind::NotRecorded { metric } => write!(f, "{metric}: recomputed, not recorded"),
            Kind::BlockNotRecomputed => write!(f, "recorded, not recomputed"),
            Kind::BlockNotRecorded => write!(f, "recomputed, not recorded"),
        }
    }
}

/// Every difference between what a log records and what was recomputed; none if all is well.
///
/// Figures agree to nine digits; not-a-number equals itself. A random figure must be the same if its recorded
/// seed is ours, else lie within its resampling error.
///
/// ```
/// use errorbar_core::{Plan, Score, ScoreColumns, results};
/// use errorbar_log::eval::{RecordedResults, compare};
/// let mut columns = ScoreColumns::new(["match"]);
/// columns.push("q1", 1).score("match", Score::new("C"))?;
/// let results = results(&columns, &Plan::new())?;
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
        // Very old logs do not say how many.
        if old != new && old != 0 {
            let kind = DifferenceKind::Count { what, recorded: old, recomputed: new };
            differences.push(Difference { block: None, kind });
        }
    }
    // Blocks of one name are compared in their order.
    let mut left: Vec<&Block> = recomputed.scores.iter().collect();
    for old in &recorded.scores {
        let same =
            |new: &&Block| new.name == old.name && new.scorer == old.scorer && new.reducer == old.reducer;
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
        block: Some(title(&new.name, &new.scorer, new.reducer.as_deref())),
        kind: DifferenceKind::BlockNotRecorded,
    }));
    differences
}

fn title(name: &str, scorer: &str, reducer: Option<&str>) -> String {
    let of = if name == scorer { String::new() } else { format!(" of {scorer}") };
    let reducer = reducer.map(|reducer| format!(" ({reducer})")).unwrap_or_default();
    format!("{name}{of}{reducer}")
}

fn compare_block(old: &RecordedBlock, new: &Block) -> Vec<DifferenceKind> {
    let mut kinds = Vec::new();
    for (what, recorded, recomputed) in [
        ("scored samples", old.scored_samples, new.scored_samples as u64),
        ("unscored samples", old.unscored_samples, new.unscored_samples as u64),
    ] {
        if let Some(recorded) = recorded.filter(|recorded| *recorded != recomputed) {
            kinds.push(DifferenceKind::Count { what, recorded, recomputed });
        }
    }
    let finite = old.metrics.values().map(|metric| metric.value.abs()).filter(|value| value.is_finite());
    let rounding = ABSOLUTE.max(ROUNDING * finite.fold(0.0, f64::max));
    for (key, metric) in &old.metrics {
        let metric_key = || key.clone();
        match new.metrics.get(key) {
            Some(entry) if agree(key, metric, entry, old, new.scored_samples, rounding) => {}
            Some(entry) => kinds.push(DifferenceKind::Value {
                metric: metric_key(),
                recorded: metric.value,
                recomputed: entry.value,
            }),
            None => {
                // A group has no package, a name has.
                let is_of = |failed: &str| match &metric.group {
                    Some(group) => without_package(failed) == without_package(group),
                    None => failed == metric.name,
                };
                let failure = new.failures.iter().find(|failure| is_of(&failure.metric));
                let error = failure.map(|failure| failure.error.to_string());
                kinds.push(DifferenceKind::NotRecomputed { metric: metric_key(), error });
            }
        }
    }
    let extra = new.metrics.keys().filter(|key| !old.metrics.contains_key(*key));
    kinds.extend(extra.map(|key| DifferenceKind::NotRecorded { metric: key.clone() }));
    kinds
}

fn agree(
    key: &str,
    old: &RecordedMetric,
    new: &Entry,
    block: &RecordedBlock,
    scored: usize,
    rounding: f64,
) -> bool {
    let (a, b) = (old.value, new.value);
    if a == b || a.is_nan() && b.is_nan() {
        return true;
    }
    let apart = (a - b).abs();
    if apart <= (RELATIVE * a.abs().max(b.abs())).max(rounding) {
        return true;
    }
    let seed = |notes: &Option<Metadata>| notes.as_ref().and_then(|notes| notes.get("seed").cloned());
    match (seed(&old.metadata), seed(&new.metadata)) {
        (Some(old), Some(new)) if old == new => false,
        _ => match Random::of(old) {
            None => false,
            Some(random) => apart <= random.tolerance(key, old, new, block, scored),
        },
    }
}

fn without_package(name: &str) -> &str {
    name.rsplit('/').next().unwrap_or(name)
}

/// A figure that is drawn.
enum Random {
    /// The standard deviation of resampled means.
    StandardError { draws: f64 },
    /// A quantile of resampled means.
    Bound { draws: f64, level: f64 },
}

impl Random {
    fn of(metric: &RecordedMetric) -> Option<Self> {
        Self::of_call(metric.group.as_ref().unwrap_or(&metric.name), &metric.params)
    }

    fn of_call(name: &str, params: &Metadata) -> Option<Self> {
        let number =
            |key: &str, default: f64| params.get(key).and_then(|value| value.as_f64()).unwrap_or(default);
        let draws = number("num_samples", DEFAULT_DRAWS).max(1.0);
        match without_package(name) {
            "bootstrap_stderr" => Some(Random::StandardError { draws }),
            "ci" if params.get("method").is_some_and(|method| method == "bootstrap") => {
                Some(Random::Bound { draws, level: number("level", DEFAULT_LEVEL) })
            }
            // A metric within another one, by group say.
            _ => {
                let inner = params.get("metric")?.as_object()?;
                Self::of_call(inner.get("name")?.as_str()?, inner.get("params")?.as_object()?)
            }
        }
    }

    /// How far two draws of the figure may be apart.
    fn tolerance(
        &self,
        key: &str,
        old: &RecordedMetric,
        new: &Entry,
        block: &RecordedBlock,
        scored: usize,
    ) -> f64 {
        let size = old.value.abs().max(new.value.abs());
        match self {
            // The standard deviation of an estimated standard deviation is σ/√(2B); both of the two are drawn.
            Random::StandardError { draws } => MONTE_CARLO * SQRT_2 * size / (2.0 * draws).sqrt(),
            Random::Bound { draws, level } => {
                // The spread of the means, off the width of the interval.
                let other = [("lower", "upper"), ("upper", "lower")]
                    .iter()
                    .find_map(|(this, other)| Some(format!("{}{other}", key.strip_suffix(this)?)));
                let width = other
                    .and_then(|other| block.metrics.get(&other))
                    .map_or(size, |other| (other.value - old.value).abs());
                let tail = (1.0 - level) / 2.0;
                let z = normal_quantile(1.0 - tail);
                // A sample quantile has the standard deviation √(p(1−p)/B) / density, in units of the spread.
                let density = (-z * z / 2.0).exp() / (2.0 * PI).sqrt();
                let error = (tail * (1.0 - tail) / draws).sqrt() / density * width / (2.0 * z);
                // Means of few values lie apart, and a quantile may be the one or the next of them.
                MONTE_CARLO * SQRT_2 * error + width / scored.max(1) as f64
            }
        }
    }
}
