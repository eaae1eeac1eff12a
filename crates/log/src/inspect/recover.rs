//! Rows with their errors, from what a log records.

use errorbar_core::{Bounds, ErrorMethod, Estimate, Interval, IntervalMethod, Side, StdError, Undefined};
use serde_json::Value as Json;

use super::{estimates, pairing};
use crate::eval::{RecordedBlock, RecordedMetric, RecordedResults};

/// A number that a log records, with its error and its interval.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct RecordedRow {
    /// The position of its block in [`RecordedResults::scores`].
    pub block: usize,
    /// The scorer.
    pub scorer: String,
    /// The name of the block: the scorer, or the key of a map-valued score.
    pub score: String,
    /// The reducer, unless it is the implied mean or there is none.
    pub reducer: Option<String>,
    /// The key of the entry.
    pub key: String,
    /// The name of the entry: the metric, or the group, the key or the position within it.
    pub name: String,
    /// What it is a figure of: the key of a metric that gives one number, the name of one that gives several, and of a
    /// metric by group the one within it.
    pub metric: String,
    /// The name of the innermost metric, which says what kind of figure it is: `mean`, for one of `aggregate` too.
    pub innermost: String,
    /// The field of map-valued scores, for a metric of one of them.
    pub field: Option<String>,
    /// The group, the key or the position, where the metric gives several numbers; an interval is one.
    pub part: Option<String>,
    /// Whether it is over all groups of a metric by group.
    pub is_aggregate: bool,
    /// The metric, for entries of one that gives several.
    pub group: Option<String>,
    /// The metadata key, for entries of a metric by group.
    pub group_key: Option<String>,
    /// The number; none if it is undefined.
    pub value: Option<f64>,
    /// Why it is undefined, if recorded.
    pub undefined: Option<String>,
    /// The standard error.
    pub stderr: Option<f64>,
    /// Whether the standard error is 0 because all scores are equal, and is no evidence.
    pub degenerate: bool,
    /// The interval.
    pub interval: Option<RecordedInterval>,
    /// The number of scores, if recorded.
    pub n: Option<u64>,
    /// How many samples have no score, and what the number would be with them, if recorded.
    pub absent: Option<(u64, Bounds)>,
}

/// An interval that a log records.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct RecordedInterval {
    /// The lower end.
    pub lower: f64,
    /// The upper end.
    pub upper: f64,
    /// Which of the ends are bounds; the other is that of the range of scores, or infinite.
    pub side: Side,
    /// The confidence level, if recorded.
    pub level: Option<f64>,
    /// How it was made, if recorded.
    pub method: Option<String>,
}

/// The rows of recorded results. Errors and intervals are in the rows that they belong to: by what our logs record beside
/// each number, in other logs by the names and arguments of metrics.
///
/// ```
/// use errorbar_log::eval::{RecordedBlock, RecordedMetric, RecordedResults};
/// use errorbar_log::inspect::recover;
/// let mut block = RecordedBlock::default();
/// block.scorer = "match".into();
/// for (name, value) in [("accuracy", 0.75), ("stderr", 0.25)] {
///     block.metrics.insert(name.into(), RecordedMetric::new(name, value));
/// }
/// let mut recorded = RecordedResults::default();
/// recorded.scores.push(block);
/// let rows = recover(&recorded);
/// assert_eq!(rows.len(), 1);
/// assert_eq!((rows[0].value, rows[0].stderr), (Some(0.75), Some(0.25)));
/// ```
pub fn recover(recorded: &RecordedResults) -> Vec<RecordedRow> {
    recorded.scores.iter().enumerate().flat_map(|(at, block)| block_rows(at, block)).collect()
}

/// Whether estimates are beside the numbers, as our logs have them.
pub(super) fn has_estimates(block: &RecordedBlock) -> bool {
    // A note of that name in another's log need not be ours.
    let is_ours = |note: &Json| note.is_null() || note.get("n").is_some_and(Json::is_u64);
    block.metrics.values().any(|metric| note(metric, estimates::KEY).is_some_and(is_ours))
}

pub(super) fn block_rows(at: usize, block: &RecordedBlock) -> Vec<RecordedRow> {
    if has_estimates(block) {
        block.metrics.iter().filter_map(|(key, metric)| own_row(at, block, key, metric)).collect()
    } else {
        pairing::rows(at, block)
    }
}

/// A row of a log that records estimates; none for a number that is a part of another estimate.
fn own_row(at: usize, block: &RecordedBlock, key: &str, metric: &RecordedMetric) -> Option<RecordedRow> {
    let row = RecordedRow::new(at, block, key, metric);
    let estimate = match note(metric, estimates::KEY) {
        Some(Json::Null) => return None,
        Some(estimate) => estimate,
        None => return Some(row),
    };
    let number = |key: &str| estimate.get(key).and_then(Json::as_f64);
    // An entry may be called so without being the end of an interval.
    let is_end = metric.name.ends_with("lower") && number("lower").is_none_or(|lower| lower == metric.value);
    let side =
        estimate.get("side").and_then(Json::as_str).and_then(|side| side.parse().ok()).unwrap_or_default();
    // An end that is no bound is absent if it is infinite.
    let end = |key: &str, open: Side, infinite: f64| number(key).or((side == open).then_some(infinite));
    let ends = end("lower", Side::Upper, f64::NEG_INFINITY).zip(end("upper", Side::Lower, f64::INFINITY));
    let ends = ends.filter(|(lower, upper)| lower.is_finite() || upper.is_finite());
    let interval = ends.map(|(lower, upper)| RecordedInterval {
        lower,
        upper,
        side,
        level: number("level"),
        method: estimate.get("method").and_then(Json::as_str).map(str::to_owned),
    });
    let part = if is_end { part_of_interval(metric) } else { row.part.clone() };
    Some(RecordedRow {
        part,
        // The number is that of the entry; only an interval by itself has it beside.
        value: if is_end { number("value") } else { row.value },
        stderr: number("stderr"),
        degenerate: estimate.get("degenerate").and_then(Json::as_bool).unwrap_or(false),
        interval,
        n: estimate.get("n").and_then(Json::as_u64),
        ..row
    })
}

/// The group or the key that the ends of an interval are of.
pub(super) fn part_of_interval(lower: &RecordedMetric) -> Option<String> {
    let part = lower.name.strip_suffix("lower")?.trim_end_matches('_');
    (!part.is_empty()).then(|| part.to_owned())
}

/// The name of the metric within one by group.
fn grouped_metric(metric: &RecordedMetric) -> Option<&str> {
    let name = metric.params.get("metric")?.get("name")?.as_str()?;
    Some(name.rsplit('/').next().unwrap_or(name))
}

/// The field of a metric of one field of map-valued scores, and the name of the metric within it.
fn of_field(metric: &RecordedMetric) -> Option<(&str, &str)> {
    let field = metric.params.get("key")?.as_str()?;
    let name = metric.params.get("agg")?.get("name")?.as_str()?;
    Some((field, name.rsplit('/').next().unwrap_or(name)))
}

/// Whether an entry is over all groups. Those of groups record how many scores they have.
fn is_aggregate(metric: &RecordedMetric) -> bool {
    let label = metric.params.get("all_label").and_then(Json::as_str).unwrap_or("all");
    let has_aggregate = metric.params.get("all").and_then(Json::as_bool) != Some(false);
    let rest = metric.name.strip_prefix(label);
    let is_named_so = rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('_'));
    metric.params.contains_key("group_key") && has_aggregate && is_named_so && note(metric, "n").is_none()
}

pub(super) fn note<'m>(metric: &'m RecordedMetric, key: &str) -> Option<&'m Json> {
    metric.metadata.as_ref()?.get(key)
}

impl RecordedRow {
    /// A row with nothing but the number.
    pub(super) fn new(at: usize, block: &RecordedBlock, key: &str, metric: &RecordedMetric) -> Self {
        let undefined = note(metric, "undefined").and_then(Json::as_str).map(str::to_owned);
        let is_defined = undefined.is_none() && !metric.value.is_nan();
        let group_key = metric.params.get("group_key").and_then(Json::as_str).map(str::to_owned);
        let within = group_key.as_ref().and_then(|_| grouped_metric(metric));
        let (field, inner) = of_field(metric).unzip();
        let innermost = within.or(inner).or(metric.group.as_deref()).unwrap_or(&metric.name).to_owned();
        let of_group = note(metric, "n").and_then(Json::as_u64);
        let number = |key: &str| note(metric, key).and_then(Json::as_f64);
        let bounds = || Some(Bounds::new(number("worst")?, number("best")?, number("absent_as_wrong")?));
        RecordedRow {
            block: at,
            scorer: block.scorer.clone(),
            score: block.name.clone(),
            reducer: block.reducer.clone(),
            key: key.to_owned(),
            name: metric.name.clone(),
            metric: within.or(metric.group.as_deref()).unwrap_or(key).to_owned(),
            innermost,
            field: field.map(str::to_owned),
            part: metric.group.as_ref().map(|_| metric.name.clone()),
            is_aggregate: is_aggregate(metric),
            group: metric.group.clone(),
            value: is_defined.then_some(metric.value),
            undefined,
            stderr: None,
            degenerate: false,
            interval: None,
            n: if group_key.is_some() { of_group } else { block.scored_samples },
            group_key,
            absent: note(metric, "absent").and_then(Json::as_u64).zip(bounds()),
        }
    }

    /// What the figure is called: `accuracy`, `accuracy physics`, `frequency C`, `mean of f1`.
    pub fn title(&self) -> String {
        match (&self.part, &self.field) {
            (None, Some(field)) => format!("{} of {field}", self.innermost),
            (Some(part), _) => format!("{} {part}", self.metric),
            (None, None) => self.metric.clone(),
        }
    }

    /// The row as an estimate, as far as the log records it: no degrees of freedom, clusters and notes.
    pub fn estimate(&self) -> Estimate {
        /// The level of intervals whose level no log records.
        const LEVEL: f64 = 0.95;
        let mut estimate = match (self.value, &self.undefined) {
            (Some(value), _) => Estimate::new(value),
            (None, Some(reason)) => Estimate::undefined(Undefined::Other(reason.clone())),
            (None, None) => Estimate::undefined(Undefined::NotAvailable),
        };
        estimate.n = self.n.unwrap_or(0);
        if let Some(se) = self.stderr {
            let mut error = StdError::new(se, ErrorMethod::Custom);
            error.degenerate |= self.degenerate;
            estimate.error = Ok(error);
        }
        if let Some(interval) = &self.interval {
            let RecordedInterval { lower, upper, side, level, method } = interval;
            let method = method.as_ref().and_then(|method| method.parse().ok());
            let method = method.unwrap_or(IntervalMethod::Custom);
            let mut interval = Interval::new(*lower, *upper, level.unwrap_or(LEVEL), method);
            interval.side = *side;
            estimate.interval = Ok(interval);
        }
        if let Some((absent, bounds)) = self.absent {
            (estimate.absent, estimate.bounds) = (absent, Some(bounds));
        }
        estimate
    }
}

#[cfg(test)]
mod tests {
    use errorbar_core::{Plan, Score, ScoreColumns};

    use super::*;

    #[test]
    fn a_recorded_row_is_the_estimate_that_was_recorded() {
        let mut columns = ScoreColumns::new(["match"]);
        for (at, grade) in ["C", "C", "I", "C", "I", "C"].into_iter().enumerate() {
            columns.push(format!("q{at}"), 1).score("match", Score::new(grade)).unwrap();
        }
        // Six have a score, and one has none.
        columns.push("absent", 1);
        let results = Plan::new().evaluate(&columns).unwrap().results;
        let computed = results.estimate("accuracy").unwrap();
        let row = recover(&RecordedResults::from(&results)).remove(0);
        let recovered = row.estimate();
        assert_eq!(recovered.value, computed.value);
        assert_eq!((recovered.stderr(), recovered.n), (computed.stderr(), computed.n));
        let ends = |estimate: &Estimate| {
            estimate.interval.as_ref().map(|interval| (interval.lower, interval.upper, interval.level)).ok()
        };
        assert_eq!(ends(&recovered), ends(&computed));
        assert_eq!((recovered.bounds, recovered.absent), (computed.bounds, computed.absent));
        assert_eq!(recovered.absent, 1);
    }

    #[test]
    fn what_is_unknown_is_undefined() {
        let mut block = RecordedBlock::default();
        block.metrics.insert("x".into(), RecordedMetric::new("x", f64::NAN));
        let row = RecordedRow::new(0, &block, "x", &RecordedMetric::new("x", f64::NAN));
        assert!(row.estimate().value.is_err() && row.estimate().error.is_err());
    }
}
