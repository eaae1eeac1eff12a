//! The metrics of one scorer under one reducer.

use std::sync::Arc;

use indexmap::{IndexMap, IndexSet};

use crate::columns::ValueColumn;
use crate::error::{Error, Result};
use crate::error_plan::IntervalMethod;
use crate::estimate::{ERRORS, Estimate, Interval, Undefined, check_clusters};
use crate::evaluation::{Failure, MetricResult, MetricValue, Results, Role, ScoreResult, Warning};
use crate::metric::{Metric, MetricItem, MetricMap, Metrics};
use crate::scores::{ScoreSet, Scores};
use crate::spec::Spec;
use crate::value::{Leaf, ValueRef};

/// The scores that metrics see, and which metrics these are.
pub struct VisitedBlock<'a> {
    /// The name of the scorer.
    pub scorer: &'a str,
    /// The reducer, unless it is the implied mean or there is none.
    pub reducer: Option<&'a str>,
    /// Whether the metrics see every epoch by itself.
    pub is_unreduced: bool,
    /// The key of map-valued scores.
    pub field: Option<&'a str>,
    /// The scores.
    pub scores: &'a Scores<'a>,
    /// The metrics over them.
    pub metrics: Vec<&'a Arc<dyn Metric>>,
}

/// Gets the scores in place of their metrics.
pub(crate) type BlockVisitor<'a> = dyn Fn(&VisitedBlock<'_>) + 'a;

/// What all results of a view have in common.
pub(super) struct ViewContext<'a> {
    pub(super) visitor: Option<&'a BlockVisitor<'a>>,
    /// A result without field and metrics.
    pub(super) template: ScoreResult,
}

/// Adds the results that the metrics ask for: plain ones for a list, one set per key for each map.
pub(super) fn score_results(
    set: &ScoreSet<'_>,
    metrics: &Metrics,
    context: &ViewContext<'_>,
    results: &mut Results,
) -> Result<()> {
    match metrics {
        Metrics::Map(map) => by_key(set, map, context, results),
        Metrics::List(items) => {
            results.scores.push(plain_result(set, metrics.whole(), context));
            for item in items {
                if let MetricItem::Map(map) = item {
                    by_key(set, map, context, results)?;
                }
            }
            Ok(())
        }
    }
}

impl ViewContext<'_> {
    /// Adds the metrics over scores, or shows the scores to the visitor.
    fn add_metrics<'m>(
        &self,
        result: &mut ScoreResult,
        metrics: impl Iterator<Item = &'m Arc<dyn Metric>>,
        scores: &Scores<'_>,
    ) {
        let Some(visit) = self.visitor else {
            metrics.for_each(|metric| add(result, metric.as_ref(), scores));
            return add_cluster_problem(result, scores);
        };
        visit(&VisitedBlock {
            scorer: &result.scorer,
            reducer: result.reducer.as_deref(),
            is_unreduced: result.unreduced,
            field: result.field.as_deref(),
            scores,
            metrics: metrics.collect(),
        });
    }

    fn result(&self, field: Option<&str>, scored: usize, unscored: usize) -> ScoreResult {
        let mut result = ScoreResult { field: field.map(str::to_owned), ..self.template.clone() };
        (result.counts.scored, result.counts.unscored) = (scored, unscored);
        result
    }
}

fn plain_result<'m>(
    set: &ScoreSet<'_>,
    metrics: impl Iterator<Item = &'m Arc<dyn Metric>>,
    context: &ViewContext<'_>,
) -> ScoreResult {
    let (rows, unscored) = set.scored_rows();
    let scores = Scores::new(set, rows);
    let mut result = context.result(None, scores.len(), unscored);
    context.add_metrics(&mut result, metrics, &scores);
    result.counts.unconvertible += most_unconvertible(set);
    result
}

/// Adds that samples cannot be clustered as the plan requires. The numbers stand, without their errors.
fn add_cluster_problem(result: &mut ScoreResult, scores: &Scores<'_>) {
    let has_errors = |metric: &MetricResult| matches!(metric.role, Role::Location | Role::Share);
    if result.metrics.iter().any(has_errors)
        && let Err(error) = check_clusters(scores)
    {
        result.failures.push(Failure { metric: ERRORS.to_owned(), error });
    }
}

/// Adds a metric, or its failure.
fn add(result: &mut ScoreResult, metric: &dyn Metric, scores: &Scores<'_>) {
    match evaluate(metric, scores) {
        Ok((role, value)) => result.metrics.push(MetricResult {
            spec: metric.spec(),
            params: metric.params(),
            metric: innermost(metric).log_name().into_owned(),
            inner: innermost(metric),
            cluster: metric.cluster().map(str::to_owned),
            role,
            subject: metric.subject(),
            is_plain_mean: metric.is_plain_mean(),
            value,
        }),
        Err(error) => {
            result.failures.push(Failure { metric: metric.spec().log_name().into_owned(), error });
        }
    }
}

/// The metric that is applied in the end.
pub fn innermost(metric: &dyn Metric) -> Spec {
    match metric.inner() {
        Some(inner) => innermost(inner),
        None => metric.spec(),
    }
}

/// Metrics may read the values by different conversions; the worst of them counts.
fn most_unconvertible(set: &ScoreSet<'_>) -> usize {
    set.unconvertible().into_iter().map(|(count, _)| count).max().unwrap_or(0)
}

/// The value of a metric and its role; over no score several figures that it returns all the same, or one that is
/// undefined.
pub fn evaluate(metric: &dyn Metric, scores: &Scores<'_>) -> Result<(Role, MetricValue)> {
    let (role, n) = (metric.role(), scores.len() as u64);
    let mut value = guarded(metric, scores);
    if scores.estimation().errors.early_stop.is_some() {
        let cautioned = |mut estimate: Estimate| {
            let is_blind = |interval: &Interval| interval.method != IntervalMethod::Betting;
            if estimate.interval.as_ref().is_ok_and(is_blind) {
                let note = || "the interval does not allow for the early stop".to_owned();
                estimate.notes.early_stop.get_or_insert_with(note);
            }
            estimate
        };
        value = value.map(|value| value.map(cautioned));
    }
    if !scores.is_empty() {
        // A custom metric does not count its scores.
        let absent = scores.absent() as u64;
        let counted = |mut estimate: Estimate| {
            if estimate.n == 0 && estimate.value.is_ok() {
                estimate.n = n;
            }
            if estimate.n == n && estimate.absent == 0 {
                estimate.absent = absent;
            }
            estimate
        };
        return value.map(|value| (role, if is_counted(&value) { value } else { value.map(counted) }));
    }
    Ok(match value {
        Ok(MetricValue::Map(map)) if !map.is_empty() => (role, MetricValue::Map(map)),
        Ok(MetricValue::Groups(groups)) if groups.all.is_some() || !groups.groups.is_empty() => {
            (role, MetricValue::Groups(groups))
        }
        Ok(MetricValue::One(estimate)) if estimate.value.is_err() => (role, MetricValue::One(estimate)),
        _ => {
            let mut estimate = Estimate::undefined(Undefined::NoScores);
            estimate.absent = scores.absent() as u64;
            (Role::Other, estimate.into())
        }
    })
}

/// Groups without a score have none on purpose.
fn is_counted(value: &MetricValue) -> bool {
    matches!(value, MetricValue::Groups(_))
}

/// A custom metric may panic; then it fails like any other, and the rest stands.
fn guarded(metric: &dyn Metric, scores: &Scores<'_>) -> Result<MetricValue> {
    let computed = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| metric.compute(scores)));
    computed.unwrap_or_else(|panic| {
        let message = panic.downcast_ref::<String>().map(String::as_str);
        let message =
            message.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("without a message");
        Err(Error::undefined(metric.spec().log_name(), format!("the metric panicked: {message}")))
    })
}

/// The results of a map of metrics: one per key that some pattern matches.
fn by_key(
    set: &ScoreSet<'_>,
    map: &MetricMap,
    context: &ViewContext<'_>,
    results: &mut Results,
) -> Result<()> {
    let (rows, unscored) = set.scored_rows();
    let scores = Scores::new(set, rows);
    for (key, KeyMetrics { pattern, metrics }) in matched_keys(&scores, map, context, &mut results.warnings)?
    {
        let column = field_column(&scores, &context.template.scorer, &key, pattern)?;
        let mut values = scores.derive(0..scores.len(), column);
        let (rows, unscored_here) = values.scored_rows();
        if unscored_here > 0 {
            let unscored = (0..values.values.len()).filter(|row| values.values.is_scored(*row) != Some(true));
            let unscored: Vec<u32> = unscored.map(|row| values.sample_row(row) as u32).collect();
            values.absent.extend(unscored);
        }
        values.epochs = super::views::epoch_info(set, Some(&key));
        let of_key = Scores::new(&values, rows);
        let mut result = context.result(Some(&key), of_key.len(), unscored + unscored_here);
        context.add_metrics(&mut result, metrics.into_iter(), &of_key);
        result.counts.unconvertible += most_unconvertible(&values);
        results.scores.push(result);
        results.warnings.extend(super::views::unconvertible_warnings(&values, Some(&key)));
    }
    Ok(())
}

/// The most keys of a map-valued score that have their own metrics: each is a block of results.
const MAX_KEYS: usize = 10_000;

/// The metrics for one key, and the first pattern that matched it.
struct KeyMetrics<'m> {
    pattern: &'m str,
    metrics: Vec<&'m Arc<dyn Metric>>,
}

/// The keys that the patterns match, in pattern order, then key order. A metric name is applied once
/// per key. Without any scored score the patterns themselves are the keys.
fn matched_keys<'m>(
    scores: &Scores<'_>,
    map: &'m MetricMap,
    context: &ViewContext<'_>,
    warnings: &mut Vec<Warning>,
) -> Result<IndexMap<String, KeyMetrics<'m>>> {
    let mut keys: Option<IndexSet<&str>> = None;
    let mut late: IndexSet<&str> = IndexSet::new();
    for at in 0..scores.len() {
        match scores.value(at) {
            ValueRef::Map(fields) => {
                let of_score = fields.keys().map(AsRef::as_ref);
                let Some(known) = &keys else {
                    keys = Some(of_score.collect());
                    continue;
                };
                for key in of_score.filter(|key| !known.contains(key)) {
                    if late.insert(key) && map.keys().any(|pattern| glob_matches(pattern, key)) {
                        let (scorer, sample) =
                            (context.template.scorer.clone(), scores.sample_id(at).to_owned());
                        warnings.push(Warning::LateKey { scorer, key: key.to_owned(), sample });
                    }
                }
            }
            other => {
                let wanted = "metrics given as a map {pattern: [metrics]} need map-valued scores; for scalars give a \
                              plain list of metrics";
                let metrics = format!("metrics by key of `{}`", context.template.scorer);
                return Err(Error::shape(metrics, scores.sample_id(at), other.describe(), wanted));
            }
        }
    }
    if let Some(count) = keys.as_ref().map(IndexSet::len).filter(|count| *count > MAX_KEYS) {
        return Err(Error::custom(format!(
            "metrics by key of `{}`: the score of sample `{}` has {count} keys, and at most {MAX_KEYS} are computed; \
             name plain metrics, or metrics for fewer keys",
            context.template.scorer,
            scores.sample_id(0)
        )));
    }
    let mut matched: IndexMap<String, KeyMetrics<'m>> = IndexMap::new();
    for (pattern, metrics) in map {
        let of_pattern: Vec<&str> = match &keys {
            Some(keys) => keys.iter().copied().filter(|key| glob_matches(pattern, key)).collect(),
            None => vec![pattern],
        };
        if of_pattern.is_empty() {
            warnings.push(Warning::NoMatch {
                scorer: context.template.scorer.clone(),
                pattern: pattern.clone(),
                keys: keys.iter().flatten().take(12).map(|key| (*key).to_owned()).collect(),
            });
        }
        for key in of_pattern {
            let entry =
                matched.entry(key.to_owned()).or_insert_with(|| KeyMetrics { pattern, metrics: Vec::new() });
            for metric in metrics {
                let name = metric.spec().qualified_name().into_owned();
                if !entry.metrics.iter().any(|m| m.spec().qualified_name() == name) {
                    entry.metrics.push(metric);
                }
            }
        }
    }
    Ok(matched)
}

/// What scores have under a key that matched a pattern, as a column of its own.
fn field_column(scores: &Scores<'_>, scorer: &str, key: &str, pattern: &str) -> Result<ValueColumn> {
    let mut column = ValueColumn::default();
    for at in 0..scores.len() {
        let leaf = match scores.value(at) {
            ValueRef::Map(fields) => fields.get(key),
            _ => None,
        };
        let leaf: &Leaf = leaf.ok_or_else(|| {
            let sample = scores.sample_id(at);
            Error::custom(format!(
                "the score of sample {sample:?} by `{scorer}` has no key {key:?}, which the pattern {pattern:?} matched in the first map-valued score; give it a value or NaN, or narrow the pattern"
            ))
        })?;
        column.push_leaf(leaf.clone());
    }
    Ok(column)
}

/// Whether the pattern matches the whole string: `*` any characters, `?` one, `[a-z]` and `[!a-z]`
/// one of a set. An unclosed `[` stands for itself.
fn glob_matches(pattern: &str, text: &str) -> bool {
    let pattern: Vec<char> = pattern.chars().collect();
    let text: Vec<char> = text.chars().collect();
    // Where to resume after a star that matched too little: it matches one more character each time.
    let mut retry: Option<(usize, usize)> = None;
    let (mut p, mut t) = (0, 0);
    loop {
        let step = match (pattern.get(p), text.get(t)) {
            (Some('*'), _) => {
                retry = Some((p + 1, t));
                p += 1;
                continue;
            }
            (None, None) => return true,
            (Some('?'), Some(_)) => Some(1),
            (Some('['), Some(c)) => match set(pattern.get(p + 1..).unwrap_or_default()) {
                Some((members, length)) => contains(members, *c).then_some(length + 1),
                None => (*c == '[').then_some(1),
            },
            (Some(a), Some(b)) => (a == b).then_some(1),
            _ => None,
        };
        match (step, retry) {
            (Some(length), _) => {
                p += length;
                t += 1;
            }
            (None, Some((after_star, from))) if from < text.len() => {
                retry = Some((after_star, from + 1));
                p = after_star;
                t = from + 1;
            }
            (None, _) => return false,
        }
    }
}

/// The members of a set and how many characters it takes up to and with the `]`. A `]` right at the
/// beginning is a member.
fn set(rest: &[char]) -> Option<(&[char], usize)> {
    let negated = usize::from(rest.first() == Some(&'!'));
    let close = rest.iter().skip(negated + 1).position(|c| *c == ']')? + negated + 1;
    Some((rest.get(..close)?, close + 1))
}

fn contains(members: &[char], c: char) -> bool {
    let (negated, members) = match members.split_first() {
        Some(('!', rest)) => (true, rest),
        _ => (false, members),
    };
    let mut found = false;
    let mut at = 0;
    while let Some(first) = members.get(at) {
        match (members.get(at + 1), members.get(at + 2)) {
            (Some('-'), Some(last)) => {
                found |= (*first..=*last).contains(&c);
                at += 3;
            }
            _ => {
                found |= *first == c;
                at += 1;
            }
        }
    }
    found != negated
}

#[cfg(test)]
mod tests {
    use super::glob_matches;

    #[test]
    fn globs() {
        for (pattern, text) in [
            ("alpha", "alpha"),
            ("al*", "alpha"),
            ("*", ""),
            ("*a", "alpha"),
            ("a*p*a", "alpha"),
            ("a?pha", "alpha"),
            ("[a-c]x", "bx"),
            ("[!a-c]x", "dx"),
            ("[]]", "]"),
            ("[!]]", "a"),
            ("[!]a]", "b"),
            ("[", "["),
            ("a/*", "a/b/c"),
            ("*.*", ".x"),
            ("ä?", "äö"),
        ] {
            assert!(glob_matches(pattern, text), "{pattern} {text}");
        }
        for (pattern, text) in [
            ("Al*", "alpha"),
            ("a", "ab"),
            ("?", ""),
            ("[a-c]", "d"),
            ("[!a]", "a"),
            ("[!]]", "]"),
            ("[", "a"),
            ("a*b", "abc"),
            ("", "a"),
        ] {
            assert!(!glob_matches(pattern, text), "{pattern} {text}");
        }
    }

    #[test]
    fn many_stars_stay_quick() {
        assert!(!glob_matches(&"*a".repeat(40), &"a".repeat(39)));
    }
}
