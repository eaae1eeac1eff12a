//! Which numbers of a log of the reference belong together: a mean and its error, an interval and its mean.
//!
//! Such a log has nothing but names and arguments. ScoreBasis are only paired when they are about the same scores: read by
//! the same conversion, of the same field, and for groups over the same key. An error that belongs to something else
//! would be worse than none.

use std::collections::HashMap;

use errorbar_core::Side;
use errorbar_core::spec::without_own_package;
use serde_json::Value as Json;

use super::recover::{RecordedInterval, RecordedRow, note, part_of_interval};
use crate::eval::{RecordedBlock, RecordedMetric};

/// The level of an interval of the reference that names none.
const DEFAULT_LEVEL: f64 = 0.95;

/// The rows of a block, errors and intervals in the rows of the means that they belong to.
pub(super) fn rows(at: usize, block: &RecordedBlock) -> Vec<RecordedRow> {
    let entries: Vec<(&str, &RecordedMetric)> =
        block.metrics.iter().map(|(key, metric)| (key.as_str(), metric)).collect();
    let mut rows: Vec<(RecordedRow, EntrySubject<'_>)> = Vec::new();
    let mut parts = Vec::new();
    let mut rest = entries.as_slice();
    while let [(key, metric), after @ ..] = rest {
        rest = after;
        let mut row = RecordedRow::new(at, block, key, metric);
        let upper = after.first().and_then(|(_, next)| Some((*next, interval_prefix(metric, next)?)));
        let upper =
            upper.filter(|(_, prefix)| EntrySubject::of(metric, prefix.trim_end_matches('_')).is_interval());
        if let Some((upper, prefix)) = upper {
            rest = after.get(1..).unwrap_or_default();
            let subject = EntrySubject::of(metric, prefix.trim_end_matches('_'));
            row.interval = interval(&row, &subject, metric, upper);
            row.value = None;
            row.part = part_of_interval(metric);
            parts.push((rows.len(), subject));
        } else {
            let subject = EntrySubject::of(metric, &metric.name);
            row.stderr = own_error(metric);
            row.degenerate = row.stderr == Some(0.0);
            if subject.is_error() {
                parts.push((rows.len(), subject));
            }
        }
        let subject = EntrySubject::of(metric, &metric.name);
        rows.push((row, subject));
    }
    let mut centres: HashMap<ScoreBasis<'_>, Vec<usize>> = HashMap::new();
    for (position, (_, subject)) in rows.iter().enumerate() {
        if subject.is_centre() && !subject.is_mean_of_groups {
            centres.entry(subject.numbers).or_default().push(position);
        }
    }
    let mut folded = vec![false; rows.len()];
    for (position, subject) in parts.iter().filter(|(_, subject)| !subject.is_mean_of_groups) {
        let Some((part, _)) = rows.get(*position).cloned() else { continue };
        for centre in centres.get(&subject.numbers).into_iter().flatten() {
            let Some((row, has)) = rows.get_mut(*centre).map(|(row, of)| (row, &mut of.has)) else {
                continue;
            };
            let has = if subject.is_error() { &mut has.error } else { &mut has.interval };
            if *has {
                continue;
            }
            *has = true;
            if subject.is_error() {
                row.stderr = part.value.filter(|error| error.is_finite() && !is_unknown(*error, row.n));
                row.degenerate = row.stderr == Some(0.0);
            } else {
                row.interval.clone_from(&part.interval);
            }
            folded.get_mut(*position).into_iter().for_each(|folded| *folded = true);
        }
    }
    rows.into_iter().zip(folded).filter(|(_, folded)| !folded).map(|((row, _), _)| row).collect()
}

/// Whether a metric is a mean of scores, by its name.
pub(super) fn is_mean(metric: &str) -> bool {
    let metric = without_own_package(metric.strip_prefix("inspect_ai/").unwrap_or(metric));
    matches!(metric, "accuracy" | "mean")
}

/// Whether a metric is a share of the scores, by its name.
pub(super) fn is_share(metric: &str) -> bool {
    without_own_package(metric.strip_prefix("inspect_ai/").unwrap_or(metric)) == "frequency"
}

/// Whether a metric is the standard error of a mean, by its name.
pub(super) fn is_error(metric: &str) -> bool {
    let metric = without_own_package(metric.strip_prefix("inspect_ai/").unwrap_or(metric));
    matches!(metric, "stderr" | "bootstrap_stderr")
}

/// What a number is about.
#[derive(Clone, Copy, Debug)]
struct EntrySubject<'a> {
    metric: &'a str,
    numbers: ScoreBasis<'a>,
    is_mean_of_groups: bool,
    has: PairedParts,
}

/// What a row has from other entries.
#[derive(Clone, Copy, Debug, Default)]
struct PairedParts {
    error: bool,
    interval: bool,
}

/// The scores that numbers have to share to belong together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct ScoreBasis<'a> {
    to_float: Option<&'a Json>,
    /// The field of map-valued scores, how it is read, and what stands for an absent one.
    field: Option<(&'a Json, Option<&'a Json>, Option<&'a Json>)>,
    /// The key of the groups, and which of them.
    group: Option<(&'a Json, &'a str)>,
}

impl<'a> EntrySubject<'a> {
    /// What an entry is about; `group` is the name of its group, if it has one.
    fn of(entry: &'a RecordedMetric, group: &'a str) -> Self {
        let mut metric = entry.group.as_deref().unwrap_or(&entry.name);
        let mut params = entry.params.as_object();
        let mut numbers = ScoreBasis { to_float: None, field: None, group: None };
        if let Some((key, (name, inner))) = params.get("group_key").zip(params.get("metric").and_then(call)) {
            (metric, params) = (name, inner);
            numbers.group = Some((key, group));
        }
        if let Some((key, (name, inner))) = params.get("key").zip(params.get("agg").and_then(call)) {
            numbers.field = Some((key, params.get("to_float"), params.get("on_missing")));
            (metric, params) = (name, inner);
        }
        numbers.to_float = params.get("to_float");
        EntrySubject {
            metric: without_own_package(metric.strip_prefix("inspect_ai/").unwrap_or(metric)),
            numbers,
            is_mean_of_groups: is_mean_of_groups(entry, group),
            has: PairedParts::default(),
        }
    }

    fn is_centre(&self) -> bool {
        is_mean(self.metric)
    }

    fn is_interval(&self) -> bool {
        matches!(self.metric, "ci" | "ci_wilson")
    }

    fn is_error(&self) -> bool {
        is_error(self.metric)
    }
}

/// The name and the arguments of a metric within another.
fn call(metric: &Json) -> Option<(&str, &serde_json::Map<String, Json>)> {
    Some((metric.get("name")?.as_str()?, metric.get("params")?.as_object()?))
}

/// Whether a number is the plain mean over groups, whose error is not the mean of their errors.
fn is_mean_of_groups(entry: &RecordedMetric, group: &str) -> bool {
    let label = entry.params.get("all_label").and_then(Json::as_str).unwrap_or("all");
    let over_groups = entry.params.get("all").and_then(Json::as_str) == Some("groups");
    over_groups && group == label && entry.params.contains_key("group_key")
}

/// The error that a number carries itself, as the mean over groups does.
fn own_error(entry: &RecordedMetric) -> Option<f64> {
    note(entry, "stderr")?.as_f64().filter(|error| error.is_finite())
}

/// A zero of fewer than two scores stands for an error that is not known.
fn is_unknown(error: f64, n: Option<u64>) -> bool {
    error == 0.0 && n.is_some_and(|n| n < 2)
}

/// What stands before `lower` and `upper` in the names of two entries that are the ends of one interval.
fn interval_prefix<'e>(lower: &'e RecordedMetric, upper: &RecordedMetric) -> Option<&'e str> {
    let prefix = lower.name.strip_suffix("lower")?;
    let is_pair = upper.name.strip_suffix("upper") == Some(prefix)
        && (prefix.is_empty() || prefix.ends_with('_'))
        && lower.group == upper.group
        && lower.params == upper.params;
    is_pair.then_some(prefix)
}

/// The interval between two ends; one without a width is that of too few scores, or of equal ones, and is no evidence.
fn interval(
    row: &RecordedRow,
    subject: &EntrySubject<'_>,
    lower: &RecordedMetric,
    upper: &RecordedMetric,
) -> Option<RecordedInterval> {
    let level = note(lower, "level").or_else(|| inner_argument(lower, "level")).and_then(Json::as_f64);
    let level = level.or_else(|| subject.is_interval().then_some(DEFAULT_LEVEL));
    let is_defined = row.undefined.is_none() && lower.value < upper.value;
    let (lower, upper) = (lower.value, upper.value);
    is_defined.then_some(RecordedInterval { lower, upper, side: Side::TwoSided, level, method: None })
}

/// An argument of the metric, or of the one within it.
fn inner_argument<'m>(metric: &'m RecordedMetric, name: &str) -> Option<&'m Json> {
    let inner = || metric.params.get("metric").and_then(call)?.1.get(name);
    metric.params.get(name).or_else(inner)
}
