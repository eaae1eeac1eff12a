//! The blocks of one scorer under one reducer.

use std::sync::Arc;

use indexmap::{IndexMap, IndexSet};

use super::{Block, Entry, Failure, Results, Warning, glob};
use crate::columns::ValueColumn;
use crate::error::{Error, Result};
use crate::metric::{Figure, Metric, MetricValue};
use crate::naming::TakenNames;
use crate::plan::{MetricItem, MetricMap, Metrics};
use crate::score::Metadata;
use crate::scores::{ScoreSet, Scores};
use crate::value::{Leaf, ValueRef};

/// What all blocks of a view have in common.
pub(super) struct BlockContext<'a> {
    pub(super) scorer: &'a str,
    pub(super) reducer: Option<String>,
    pub(super) params: &'a Metadata,
    pub(super) missing: usize,
    pub(super) errored: usize,
    pub(super) epochs: usize,
    pub(super) unreduced: bool,
    pub(super) unscored_epochs: usize,
    pub(super) missing_epochs: usize,
    /// What the reducer had no meaning for.
    pub(super) unconvertible: usize,
}

/// Adds the blocks that the metrics ask for: a plain one for a list, one per key for each map.
pub(super) fn blocks(
    set: &ScoreSet<'_>,
    metrics: &Metrics,
    context: &BlockContext<'_>,
    results: &mut Results,
) -> Result<()> {
    match metrics {
        Metrics::Map(map) => by_key(set, map, context, results),
        Metrics::List(items) => {
            let plain = items.iter().filter_map(|item| match item {
                MetricItem::Metric(metric) => Some(metric),
                MetricItem::Map(_) => None,
            });
            results.scores.push(plain_block(set, plain, context));
            for item in items {
                if let MetricItem::Map(map) = item {
                    by_key(set, map, context, results)?;
                }
            }
            Ok(())
        }
    }
}

impl BlockContext<'_> {
    fn block(&self, name: &str, scored: usize, unscored: usize) -> Block {
        Block {
            name: name.to_owned(),
            scorer: self.scorer.to_owned(),
            reducer: self.reducer.clone(),
            scored_samples: scored,
            unscored_samples: unscored,
            missing_samples: self.missing,
            errored_samples: self.errored,
            epochs: self.epochs,
            unreduced: self.unreduced,
            unscored_epochs: self.unscored_epochs,
            missing_epochs: self.missing_epochs,
            unconvertible: self.unconvertible,
            params: self.params.clone(),
            metrics: IndexMap::new(),
            failures: Vec::new(),
        }
    }
}

fn plain_block<'m>(
    set: &ScoreSet<'_>,
    metrics: impl Iterator<Item = &'m Arc<dyn Metric>>,
    context: &BlockContext<'_>,
) -> Block {
    let (rows, unscored) = set.scored_rows();
    let scores = Scores::new(set, rows);
    let mut block = context.block(context.scorer, scores.len(), unscored);
    let mut taken = TakenNames::default();
    for metric in metrics {
        match evaluate(metric.as_ref(), &scores) {
            Ok(value) => add_plain(&mut block, &mut taken, metric.as_ref(), value),
            Err(error) => block.failures.push(failure(metric.as_ref(), error)),
        }
    }
    block.unconvertible += most_unconvertible(set);
    block
}

/// Metrics may read the values by different conversions; the worst of them counts.
fn most_unconvertible(set: &ScoreSet<'_>) -> usize {
    set.unconvertible().into_iter().map(|(count, _)| count).max().unwrap_or(0)
}

/// The value of a metric; over nothing, a map that it returns all the same, or one not-a-number.
fn evaluate(metric: &dyn Metric, scores: &Scores<'_>) -> Result<MetricValue> {
    let value = guarded(metric, scores);
    if scores.is_empty() {
        return Ok(match value {
            Ok(MetricValue::Map(map)) if !map.is_empty() => MetricValue::Map(map),
            _ => Figure::undefined(f64::NAN, "n = 0").into(),
        });
    }
    value
}

/// A metric of one's own may panic; then it fails like any other, and the rest stands.
fn guarded(metric: &dyn Metric, scores: &Scores<'_>) -> Result<MetricValue> {
    let computed = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| metric.compute(scores)));
    computed.unwrap_or_else(|panic| {
        let message = panic.downcast_ref::<String>().map(String::as_str);
        let message =
            message.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("without a message");
        let metric = metric.spec().log_name().into_owned();
        Err(Error::Undefined { metric, problem: format!("the metric panicked: {message}") })
    })
}

fn failure(metric: &dyn Metric, error: Error) -> Failure {
    Failure { metric: metric.spec().log_name().into_owned(), error }
}

/// A figure of a metric, and which of its several it is.
enum Part {
    Only,
    Key(String),
    Place(usize),
}

/// The figures of a metric; those that it left out are not among them.
fn parts(value: MetricValue) -> Vec<(Part, Figure)> {
    match value {
        MetricValue::Number(figure) => vec![(Part::Only, figure)],
        MetricValue::Map(map) => map.into_iter().filter_map(|(key, f)| Some((Part::Key(key), f?))).collect(),
        MetricValue::List(list) => {
            list.into_iter().enumerate().filter_map(|(at, f)| Some((Part::Place(at), f?))).collect()
        }
    }
}

/// Entries of a plain block: keyed by name, numbered where a key is taken; places count from 1.
fn add_plain(block: &mut Block, taken: &mut TakenNames, metric: &dyn Metric, value: MetricValue) {
    let (spec, params) = (metric.spec(), metric.params());
    let log_name = spec.log_name().into_owned();
    for (part, figure) in parts(value) {
        let (key, name, group) = match part {
            Part::Only => (spec.name.clone(), log_name.clone(), None),
            // The group has no package, though the name of a single figure has.
            Part::Key(key) => (key.clone(), key, Some(spec.name.clone())),
            Part::Place(at) => {
                (format!("{}-{}", spec.name, at + 1), (at + 1).to_string(), Some(spec.name.clone()))
            }
        };
        block.metrics.insert(taken.take(&key, 2), entry(name, group, figure, &params));
    }
}

fn entry(name: String, group: Option<String>, figure: Figure, params: &Metadata) -> Entry {
    let metadata = (!figure.notes.is_empty()).then_some(figure.notes);
    Entry { name, group, value: figure.value, params: params.clone(), metadata }
}

/// The blocks of a map of metrics: one per key that some pattern matches.
fn by_key(
    set: &ScoreSet<'_>,
    map: &MetricMap,
    context: &BlockContext<'_>,
    results: &mut Results,
) -> Result<()> {
    let (rows, unscored) = set.scored_rows();
    let scores = Scores::new(set, rows);
    for (key, Matched { pattern, metrics }) in matched_keys(&scores, map, context, &mut results.warnings)? {
        let field = Field { context, key: &key, pattern };
        let column = field.column(&scores)?;
        let mut values = scores.derive(0..scores.len(), column);
        let (rows, unscored_here) = values.scored_rows();
        values.absent = context.missing + unscored + unscored_here;
        let of_key = Scores::new(&values, rows);
        let mut block = context.block(&key, of_key.len(), unscored + unscored_here);
        for metric in metrics {
            match evaluate(metric.as_ref(), &of_key) {
                Ok(value) => add_by_key(&mut block, metric.as_ref(), value),
                Err(error) => block.failures.push(failure(metric.as_ref(), error)),
            }
        }
        block.unconvertible += most_unconvertible(&values);
        results.scores.push(block);
        results.warnings.extend(super::views::unconvertible_warnings(&values, Some(&key)));
    }
    Ok(())
}

/// Entries of a block by key: keyed by the metric's log name, the last one of a key standing; places
/// count from 0.
fn add_by_key(block: &mut Block, metric: &dyn Metric, value: MetricValue) {
    let (spec, params) = (metric.spec(), metric.params());
    let log_name = spec.log_name().into_owned();
    for (part, figure) in parts(value) {
        let (key, name, group) = match part {
            Part::Only => (log_name.clone(), log_name.clone(), None),
            Part::Key(key) => (format!("{log_name}_{key}"), key, Some(spec.name.clone())),
            Part::Place(at) => (format!("{log_name}_{at}"), at.to_string(), Some(spec.name.clone())),
        };
        block.metrics.insert(key, entry(name, group, figure, &params));
    }
}

/// The metrics for one key, and the first pattern that matched it.
/// The most keys of a map-valued score that have metrics of their own: each is a block of results.
const MAX_KEYS: usize = 10_000;

struct Matched<'m> {
    pattern: &'m str,
    metrics: Vec<&'m Arc<dyn Metric>>,
}

/// The keys that the patterns match, in pattern order, then key order. A metric name is applied once
/// per key. Without any scored score the patterns themselves are the keys.
fn matched_keys<'m>(
    scores: &Scores<'_>,
    map: &'m MetricMap,
    context: &BlockContext<'_>,
    warnings: &mut Vec<Warning>,
) -> Result<IndexMap<String, Matched<'m>>> {
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
                    if late.insert(key) && map.keys().any(|pattern| glob::matches(pattern, key)) {
                        let (scorer, sample) = (context.scorer.to_owned(), scores.sample_id(at).to_owned());
                        warnings.push(Warning::LateKey { scorer, key: key.to_owned(), sample });
                    }
                }
            }
            other => {
                return Err(Error::Shape {
                    metric: format!("metrics by key of `{}`", context.scorer),
                    sample: scores.sample_id(at).to_owned(),
                    found: other.describe(),
                    wanted: "metrics given as a map {pattern: [metrics]} need map-valued scores; \
                             for scalars give a plain list of metrics"
                        .to_owned(),
                });
            }
        }
    }
    if let Some(count) = keys.as_ref().map(IndexSet::len).filter(|count| *count > MAX_KEYS) {
        return Err(Error::custom(format!(
            "metrics by key of `{}`: the score of sample `{}` has {count} keys, and at most {MAX_KEYS} are computed; \
             name plain metrics, or metrics for fewer keys",
            context.scorer,
            scores.sample_id(0)
        )));
    }
    let mut matched: IndexMap<String, Matched<'m>> = IndexMap::new();
    for (pattern, metrics) in map {
        let of_pattern: Vec<&str> = match &keys {
            Some(keys) => keys.iter().copied().filter(|key| glob::matches(pattern, key)).collect(),
            None => vec![pattern],
        };
        if of_pattern.is_empty() {
            warnings.push(Warning::NoMatch {
                scorer: context.scorer.to_owned(),
                pattern: pattern.clone(),
                keys: keys.iter().flatten().take(12).map(|key| (*key).to_owned()).collect(),
            });
        }
        for key in of_pattern {
            let entry =
                matched.entry(key.to_owned()).or_insert_with(|| Matched { pattern, metrics: Vec::new() });
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

/// One key of map-valued scores.
struct Field<'a> {
    context: &'a BlockContext<'a>,
    key: &'a str,
    pattern: &'a str,
}

impl Field<'_> {
    fn column(&self, scores: &Scores<'_>) -> Result<ValueColumn> {
        let mut column = ValueColumn::default();
        for at in 0..scores.len() {
            let leaf = match scores.value(at) {
                ValueRef::Map(fields) => fields.get(self.key),
                _ => None,
            };
            let leaf: &Leaf = leaf.ok_or_else(|| Error::MissingField {
                scorer: self.context.scorer.to_owned(),
                sample: scores.sample_id(at).to_owned(),
                key: self.key.to_owned(),
                pattern: self.pattern.to_owned(),
            })?;
            column.push_leaf(leaf.clone());
        }
        Ok(column)
    }
}
