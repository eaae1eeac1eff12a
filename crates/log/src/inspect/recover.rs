//! Results from what a log records: names, numbers and notes.

use std::collections::{HashMap, HashSet};

use errorbar_core::spec::without_own_package;
use errorbar_core::{
    AggregateBasis, Bounds, ErrorMethod, Estimate, EstimateRow, Group, Groups, Headline, HeadlineRequest,
    Interval, IntervalMethod, IntervalSide, MetricResult, MetricValue, Results, Role, ScoreResult, Spec,
    StdError, Undefined,
};
use serde_json::Value as Json;

use super::figures::{is_error, is_mean, is_same_reducer, is_share, picks_option, without_package};
use super::projection;
use crate::recorded::{RecordedBlock, RecordedMetric, RecordedResults};

/// The level of an interval whose level no log records.
pub(super) const DEFAULT_LEVEL: f64 = 0.95;

/// The figures that a log records as results, each with the error and the interval that belong to it: by what our logs
/// record beside each number, in other logs by the names and arguments of metrics. Nothing is computed.
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
/// let results = recover(&recorded);
/// assert_eq!(results.rows().len(), 1);
/// let accuracy = results.estimate("accuracy")?;
/// assert_eq!((accuracy.number(), accuracy.stderr()), (Some(0.75), Some(0.25)));
/// # Ok::<(), errorbar_core::Error>(())
/// ```
pub fn recover(recorded: &RecordedResults) -> Results {
    let mut results = Results::default();
    (results.total_samples, results.completed_samples) =
        (count(recorded.total_samples), count(recorded.completed_samples));
    results.scores = recorded.scores.iter().map(score).collect();
    results
}

/// Sets which of the recovered figures is shown first: the one that the task requests, or the log records.
///
/// A log of either side records a headline, but where the task names none it is merely the first entry: the first group of
/// a metric by group, or a standard deviation before the accuracy. So the recorded one counts only where somebody chose it.
/// An error that is the headline becomes a figure by itself, also if it belongs to another.
pub fn set_headline(results: &mut Results, recorded: &RecordedResults, requested: Option<&HeadlineRequest>) {
    results.headline = requested.cloned();
    let requested = requested.and_then(|requested| requested.metric.as_deref());
    let Some((at, block, headline)) = chosen_headline(recorded, requested) else { return };
    results.headline = Some(HeadlineRequest {
        scorer: Some(headline.scorer.clone()),
        score: Some(headline.score.clone()),
        metric: Some(headline.metric.clone()),
        reducer: headline.reducer.clone(),
    });
    let is_it = |row: &EstimateRow<'_>| row.estimate.notes.log_key.as_ref() == Some(&headline.metric);
    if !results.rows_of(at).iter().any(is_it)
        && let Some((key, entry)) = block.metrics.get_key_value(&headline.metric)
        && let Some(score) = results.scores.get_mut(at)
    {
        score.metrics.extend(metric(vec![RecordedEntry::new(block, key, entry)]));
    }
}

/// What a log calls a recovered figure that is the only one of its metric: `accuracy1`; else the metric within it.
pub fn recorded_name<'r>(row: &'r EstimateRow<'_>) -> &'r str {
    let is_of_field = row.result.subject.is_some();
    let is_only = row.label.is_none() && row.key.is_none() && row.role != Role::IntervalOf && !is_of_field;
    row.estimate.notes.log_key.as_deref().filter(|_| is_only).unwrap_or(row.metric)
}

/// Whether estimates are beside the numbers, as our logs have them.
pub(crate) fn has_estimates(block: &RecordedBlock) -> bool {
    // A note of that name in another's log need not be ours.
    let is_ours = |note: &Json| note.is_null() || note.get("n").is_some_and(Json::is_u64);
    block.metrics.values().any(|metric| note(metric, projection::KEY).is_some_and(is_ours))
}

fn count(count: u64) -> usize {
    usize::try_from(count).unwrap_or(usize::MAX)
}

/// The headline that a log records, and its block; none if it is merely the first entry and not requested.
fn chosen_headline<'r>(
    recorded: &'r RecordedResults,
    requested: Option<&str>,
) -> Option<(usize, &'r RecordedBlock, &'r Headline)> {
    let headline = recorded.headline.as_ref()?;
    let is_it = |block: &RecordedBlock| {
        block.scorer == headline.scorer
            && block.name == headline.score
            && block.reducer == headline.reducer
            && block.metrics.contains_key(&headline.metric)
    };
    let at = recorded.scores.iter().position(is_it)?;
    let block = recorded.scores.get(at)?;
    let first = recorded.scores.iter().position(|block| !block.metrics.is_empty());
    let is_first = first == Some(at) && block.metrics.keys().next() == Some(&headline.metric);
    (!is_first || requested == Some(&headline.metric)).then_some((at, block, headline))
}

/// The figures of a block.
fn score(block: &RecordedBlock) -> ScoreResult {
    let mut score = ScoreResult::default();
    score.scorer.clone_from(&block.scorer);
    score.reducer.clone_from(&block.reducer);
    score.field = (block.name != block.scorer).then(|| block.name.clone());
    score.picks_option = picks_option(&block.scorer);
    score.keeps_expectation = is_same_reducer(block.reducer.as_deref(), None);
    (score.counts.scored, score.counts.unscored) =
        (count(block.scored_samples.unwrap_or(0)), count(block.unscored_samples.unwrap_or(0)));
    score.params.clone_from(&block.params);
    let entries: Vec<_> = match has_estimates(block) {
        true => block.metrics.iter().filter_map(|(key, metric)| own_entry(block, key, metric)).collect(),
        false => entries(block),
    };
    let mut metrics: Vec<Vec<RecordedEntry<'_>>> = Vec::new();
    let mut parts = HashSet::new();
    for entry in entries {
        let is_new = |last: &RecordedEntry<'_>| entry.continues(last) && parts.insert(entry.part.clone());
        match metrics.last_mut().filter(|entries| entries.last().is_some_and(is_new)) {
            Some(entries) => entries.push(entry),
            None => {
                parts = HashSet::from([entry.part.clone()]);
                metrics.push(vec![entry]);
            }
        }
    }
    score.metrics = metrics.into_iter().filter_map(metric).collect();
    score
}

/// The metric of these entries.
fn metric(entries: Vec<RecordedEntry<'_>>) -> Option<MetricResult> {
    let first = entries.first()?;
    let has_error =
        |estimate: &Estimate| estimate.value.is_ok() && (estimate.error.is_ok() || estimate.interval.is_ok());
    let innermost = first.innermost();
    let role = match () {
        () if is_mean(innermost) => Role::Location,
        () if is_share(innermost) => Role::Share,
        () if is_error(innermost) => Role::ErrorOf,
        () if first.is_interval => Role::IntervalOf,
        // A number with an error lies among the scores, whatever it is called.
        () if entries.iter().any(|entry| has_error(&entry.estimate)) => Role::Location,
        () => Role::Other,
    };
    let name = without_package(innermost).to_owned();
    let field = of_field(first.metric);
    let is_mean = is_mean(innermost);
    let value = value(entries)?;
    let mut result = MetricResult::new(Spec::new(name), role, value);
    result.is_plain_mean = is_mean;
    // An error that is left belongs to no other figure, so it has no subject.
    if let Some((field, _)) = field.filter(|_| role != Role::ErrorOf) {
        result.subject.get_or_insert_default().field = Some(field.to_owned());
    }
    Some(result)
}

fn value(mut entries: Vec<RecordedEntry<'_>>) -> Option<MetricValue> {
    let Some(key) = entries.first()?.group_key().map(str::to_owned) else {
        return Some(match entries.first()?.part {
            Some(_) => MetricValue::Map(
                entries
                    .into_iter()
                    .map(|entry| (entry.part.unwrap_or_default(), Some(entry.estimate)))
                    .collect(),
            ),
            None => MetricValue::One(entries.pop()?.estimate),
        });
    };
    let all = entries.pop_if(|entry| entry.is_aggregate());
    let label = |entry: &RecordedEntry<'_>| entry.part.clone().unwrap_or_default();
    let group = |entry: RecordedEntry<'_>| Group::new(label(&entry), entry.n.unwrap_or(0), entry.estimate);
    let of_all = all.map(|all| (label(&all), all.estimate));
    let groups = Groups::new(key, entries.into_iter().map(group).collect());
    Some(MetricValue::Groups(match of_all {
        Some((label, estimate)) => groups.with_all(label, AggregateBasis::Samples, estimate),
        None => groups,
    }))
}

/// An entry of a block as an estimate, as far as the log records it: no degrees of freedom and clusters.
#[derive(Clone, Debug)]
struct RecordedEntry<'r> {
    pub(super) metric: &'r RecordedMetric,
    /// The group, the key or the position, where the metric gives several numbers; an interval is one.
    pub(super) part: Option<String>,
    /// Whether it is an interval by itself.
    pub(super) is_interval: bool,
    /// The number of scores, if recorded.
    pub(super) n: Option<u64>,
    pub(super) estimate: Estimate,
}

impl<'r> RecordedEntry<'r> {
    /// An entry with nothing but the number.
    pub(super) fn new(block: &RecordedBlock, key: &str, metric: &'r RecordedMetric) -> Self {
        let mut estimate = match note(metric, "undefined").and_then(Json::as_str) {
            Some(reason) => Estimate::undefined(Undefined::Other(reason.to_owned())),
            None if metric.value.is_nan() => Estimate::undefined(Undefined::NotAvailable),
            None => Estimate::new(metric.value),
        };
        let number = |key: &str| note(metric, key).and_then(Json::as_f64);
        let bounds = || Some(Bounds::new(number("worst")?, number("best")?, number("absent_as_wrong")?));
        if let Some((absent, bounds)) = note(metric, "absent").and_then(Json::as_u64).zip(bounds()) {
            (estimate.absent, estimate.bounds) = (absent, Some(bounds));
        }
        estimate.notes.log_key = Some(key.to_owned());
        let part = metric.group.as_ref().map(|_| metric.name.clone());
        let entry = RecordedEntry { metric, part, is_interval: false, n: None, estimate };
        let is_of_group = entry.group_key().is_some();
        let n = if is_of_group { note(metric, "n").and_then(Json::as_u64) } else { block.scored_samples };
        entry.with_n(n)
    }

    fn with_n(mut self, n: Option<u64>) -> Self {
        (self.n, self.estimate.n) = (n, n.unwrap_or(0));
        self
    }

    /// The entry as an interval by itself, with this number in it.
    fn into_interval(mut self, value: Option<f64>) -> Self {
        let part = self.metric.name.strip_suffix("lower").map(|part| part.trim_end_matches('_').to_owned());
        self.part = part.filter(|part| !part.is_empty());
        self.is_interval = true;
        self.estimate.value = match (value, self.estimate.value) {
            (Some(value), _) => Ok(value),
            (None, Err(reason)) => Err(reason),
            (None, Ok(_)) => Err(Undefined::NotAvailable),
        };
        self
    }

    /// The metadata key, for entries of a metric by group.
    fn group_key(&self) -> Option<&'r str> {
        self.metric.params.get("group_key").and_then(Json::as_str)
    }

    /// The name of the metric that is applied in the end, which says what kind of figure it is.
    fn innermost(&self) -> &'r str {
        let within = self.group_key().and_then(|_| grouped_metric(self.metric));
        let of_field = of_field(self.metric).map(|(_, inner)| inner);
        within.or(of_field).or(self.metric.group.as_deref()).unwrap_or(&self.metric.name)
    }

    /// Whether it is over all groups. Those of groups record how many scores they have.
    fn is_aggregate(&self) -> bool {
        let params = &self.metric.params;
        let label = params.get("all_label").and_then(Json::as_str).unwrap_or("all");
        let has_aggregate = params.get("all").and_then(Json::as_bool) != Some(false);
        let rest = self.metric.name.strip_prefix(label);
        let is_named_so = rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('_'));
        params.contains_key("group_key") && has_aggregate && is_named_so && note(self.metric, "n").is_none()
    }

    /// Whether it may be one more figure of the metric of the entry before it.
    fn continues(&self, last: &RecordedEntry<'_>) -> bool {
        let is_of_several = self.metric.group.is_some() && self.part.is_some() && last.part.is_some();
        is_of_several
            && last.metric.group == self.metric.group
            && last.group_key() == self.group_key()
            && last.innermost() == self.innermost()
            && !last.is_aggregate()
    }
}

/// An entry of a log that records estimates; none for a number that is a part of another estimate.
fn own_entry<'r>(block: &RecordedBlock, key: &str, metric: &'r RecordedMetric) -> Option<RecordedEntry<'r>> {
    let entry = RecordedEntry::new(block, key, metric);
    let recorded = match note(metric, projection::KEY) {
        Some(Json::Null) => return None,
        Some(recorded) => recorded,
        None => return Some(entry),
    };
    let number = |key: &str| recorded.get(key).and_then(Json::as_f64);
    let text = |key: &str| recorded.get(key).and_then(Json::as_str);
    // An entry may be called so without being the end of an interval.
    let is_end = metric.name.ends_with("lower") && number("lower").is_none_or(|lower| lower == metric.value);
    // The number is that of the entry; only an interval by itself has it beside.
    let entry = if is_end { entry.into_interval(number("value")) } else { entry };
    let mut entry = entry.with_n(recorded.get("n").and_then(Json::as_u64));
    let side: IntervalSide = text("side").and_then(|side| side.parse().ok()).unwrap_or_default();
    // An end that is no bound is absent if it is infinite.
    let end =
        |key: &str, open: IntervalSide, infinite: f64| number(key).or((side == open).then_some(infinite));
    let ends = end("lower", IntervalSide::Upper, f64::NEG_INFINITY).zip(end(
        "upper",
        IntervalSide::Lower,
        f64::INFINITY,
    ));
    if let Some((lower, upper)) = ends.filter(|(lower, upper)| lower.is_finite() || upper.is_finite()) {
        let method = text("method").and_then(|method| method.parse().ok()).unwrap_or(IntervalMethod::Custom);
        let mut interval = Interval::new(lower, upper, number("level").unwrap_or(DEFAULT_LEVEL), method);
        interval.side = side;
        entry.estimate.interval = Ok(interval);
    }
    if let Some(se) = number("stderr") {
        let mut error = StdError::new(se, ErrorMethod::Custom);
        error.degenerate |= recorded.get("degenerate").and_then(Json::as_bool).unwrap_or(false);
        entry.estimate.error = Ok(error);
    }
    Some(entry)
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

pub(super) fn note<'m>(metric: &'m RecordedMetric, key: &str) -> Option<&'m Json> {
    metric.metadata.as_ref()?.get(key)
}

// Which numbers of a log of the reference belong together: a mean and its error, an interval and its mean.
//
// Such a log has nothing but names and arguments. ScoreBasis are only paired when they are about the same scores: read by
// the same conversion, of the same field, and for groups over the same key. An error that belongs to something else
// would be worse than none.

/// The entries of a block, errors and intervals in those of the means that they belong to.
fn entries(block: &RecordedBlock) -> Vec<RecordedEntry<'_>> {
    let recorded: Vec<(&str, &RecordedMetric)> =
        block.metrics.iter().map(|(key, metric)| (key.as_str(), metric)).collect();
    let mut pairs: Vec<PairedEntry<'_>> = Vec::new();
    let mut rest = recorded.as_slice();
    while let [(key, metric), after @ ..] = rest {
        rest = after;
        let mut entry = RecordedEntry::new(block, key, metric);
        let upper = after.first().and_then(|(_, next)| Some((*next, interval_prefix(metric, next)?)));
        let upper =
            upper.map(|(upper, prefix)| (upper, EntrySubject::of(metric, prefix.trim_end_matches('_'))));
        let subject = match upper.filter(|(_, subject)| subject.is_interval()) {
            Some((upper, subject)) => {
                rest = after.get(1..).unwrap_or_default();
                let interval = interval(&entry, metric, upper);
                entry = entry.into_interval(None);
                entry.estimate.interval = interval.ok_or(Undefined::NotAvailable);
                subject
            }
            None => {
                entry.estimate.error = standard_error(own_error(metric));
                EntrySubject::of(metric, &metric.name)
            }
        };
        pairs.push(PairedEntry { entry, subject, has_error: false, has_interval: false, is_folded: false });
    }
    let mut centres: HashMap<ScoreBasis<'_>, Vec<usize>> = HashMap::new();
    for (position, PairedEntry { subject, .. }) in pairs.iter().enumerate() {
        if is_mean(subject.metric) && !subject.is_mean_of_groups {
            centres.entry(subject.numbers).or_default().push(position);
        }
    }
    for position in 0..pairs.len() {
        let Some(PairedEntry { entry: part, subject, .. }) = pairs.get(position) else { continue };
        let is_error = subject.is_error();
        if !(is_error || part.is_interval) || subject.is_mean_of_groups {
            continue;
        }
        let (estimate, numbers) = (part.estimate.clone(), subject.numbers);
        for centre in centres.get(&numbers).into_iter().flatten() {
            let Some(PairedEntry { entry, has_error, has_interval, .. }) = pairs.get_mut(*centre) else {
                continue;
            };
            if std::mem::replace(if is_error { has_error } else { has_interval }, true) {
                continue;
            }
            if is_error {
                let error = estimate.number().filter(|error| error.is_finite());
                entry.estimate.error = standard_error(error.filter(|error| !is_unknown(*error, entry.n)));
            } else {
                entry.estimate.interval.clone_from(&estimate.interval);
            }
            pairs.get_mut(position).into_iter().for_each(|part| part.is_folded = true);
        }
    }
    pairs.into_iter().filter(|pair| !pair.is_folded).map(|pair| pair.entry).collect()
}

/// An entry, and which other entries belong to it.
struct PairedEntry<'r> {
    entry: RecordedEntry<'r>,
    subject: EntrySubject<'r>,
    has_error: bool,
    has_interval: bool,
    /// Whether it is shown with another.
    is_folded: bool,
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
        let mut params = &*entry.params;
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
        }
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
        let recovered = recover(&RecordedResults::from(&results)).rows().remove(0).estimate.into_owned();
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
        let mut recorded = RecordedResults::default();
        recorded.scores.push(block);
        let results = recover(&recorded);
        let [row] = results.rows().try_into().unwrap();
        assert!(row.estimate.value.is_err() && row.estimate.error.is_err());
    }

    #[test]
    fn a_metric_that_is_recorded_twice_has_its_figures_twice() {
        let mut block = RecordedBlock::default();
        for (key, name) in [("C", "C"), ("I", "I"), ("C2", "C"), ("I2", "I")] {
            let mut metric = RecordedMetric::new(name, 0.5);
            metric.group = Some("frequency".to_owned());
            block.metrics.insert(key.to_owned(), metric);
        }
        let mut recorded = RecordedResults::default();
        recorded.scores.push(block);
        let results = recover(&recorded);
        let keys: Vec<Option<String>> =
            results.rows().iter().map(|row| row.estimate.notes.log_key.clone()).collect();
        assert_eq!(keys, ["C", "I", "C2", "I2"].map(|key| Some(key.to_owned())));
    }
}
