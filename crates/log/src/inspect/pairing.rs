//! Which numbers of a log of the reference belong together: a mean and its error, an interval and its mean.
//!
//! Such a log has nothing but names and arguments. ScoreBasis are only paired when they are about the same scores: read by
//! the same conversion, of the same field, and for groups over the same key. An error that belongs to something else
//! would be worse than none.

use std::collections::HashMap;

use errorbar_core::spec::without_own_package;
use errorbar_core::{ErrorMethod, Interval, IntervalMethod, StdError, Undefined};
use serde_json::Value as Json;

use super::names::{is_error, is_mean};
use super::recover::{DEFAULT_LEVEL, RecordedEntry, note};
use crate::recorded::{RecordedBlock, RecordedMetric};

/// The entries of a block, errors and intervals in those of the means that they belong to.
pub(super) fn entries(block: &RecordedBlock) -> Vec<RecordedEntry<'_>> {
    let recorded: Vec<(&str, &RecordedMetric)> =
        block.metrics.iter().map(|(key, metric)| (key.as_str(), metric)).collect();
    let mut entries: Vec<(RecordedEntry<'_>, EntrySubject<'_>)> = Vec::new();
    let mut parts = Vec::new();
    let mut rest = recorded.as_slice();
    while let [(key, metric), after @ ..] = rest {
        rest = after;
        let mut entry = RecordedEntry::new(block, key, metric);
        let upper = after.first().and_then(|(_, next)| Some((*next, interval_prefix(metric, next)?)));
        let upper =
            upper.filter(|(_, prefix)| EntrySubject::of(metric, prefix.trim_end_matches('_')).is_interval());
        if let Some((upper, prefix)) = upper {
            rest = after.get(1..).unwrap_or_default();
            let interval = interval(&entry, metric, upper);
            entry = entry.into_interval(None);
            entry.estimate.interval = interval.ok_or(Undefined::NotAvailable);
            parts.push((entries.len(), EntrySubject::of(metric, prefix.trim_end_matches('_'))));
        } else {
            entry.estimate.error = standard_error(own_error(metric));
            let subject = EntrySubject::of(metric, &metric.name);
            if subject.is_error() {
                parts.push((entries.len(), subject));
            }
        }
        entries.push((entry, EntrySubject::of(metric, &metric.name)));
    }
    let mut centres: HashMap<ScoreBasis<'_>, Vec<usize>> = HashMap::new();
    for (position, (_, subject)) in entries.iter().enumerate() {
        if subject.is_centre() && !subject.is_mean_of_groups {
            centres.entry(subject.numbers).or_default().push(position);
        }
    }
    let mut folded = vec![false; entries.len()];
    for (position, subject) in parts.iter().filter(|(_, subject)| !subject.is_mean_of_groups) {
        let Some((part, _)) = entries.get(*position).cloned() else { continue };
        for centre in centres.get(&subject.numbers).into_iter().flatten() {
            let Some((entry, has)) = entries.get_mut(*centre).map(|(entry, of)| (entry, &mut of.has)) else {
                continue;
            };
            let has = if subject.is_error() { &mut has.error } else { &mut has.interval };
            if *has {
                continue;
            }
            *has = true;
            if subject.is_error() {
                let error = part.estimate.number().filter(|error| error.is_finite());
                entry.estimate.error = standard_error(error.filter(|error| !is_unknown(*error, entry.n)));
            } else {
                entry.estimate.interval.clone_from(&part.estimate.interval);
            }
            folded.get_mut(*position).into_iter().for_each(|folded| *folded = true);
        }
    }
    entries.into_iter().zip(folded).filter(|(_, folded)| !folded).map(|((entry, _), _)| entry).collect()
}

fn standard_error(se: Option<f64>) -> Result<StdError, Undefined> {
    se.map(|se| StdError::new(se, ErrorMethod::Custom)).ok_or(Undefined::NotAvailable)
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
fn interval(entry: &RecordedEntry<'_>, lower: &RecordedMetric, upper: &RecordedMetric) -> Option<Interval> {
    let level = note(lower, "level").or_else(|| inner_argument(lower, "level")).and_then(Json::as_f64);
    let is_defined = note(entry.metric, "undefined").is_none() && lower.value < upper.value;
    let level = level.unwrap_or(DEFAULT_LEVEL);
    is_defined.then(|| Interval::new(lower.value, upper.value, level, IntervalMethod::Custom))
}

/// An argument of the metric, or of the one within it.
fn inner_argument<'m>(metric: &'m RecordedMetric, name: &str) -> Option<&'m Json> {
    let inner = || metric.params.get("metric").and_then(call)?.1.get(name);
    metric.params.get(name).or_else(inner)
}
