//! What the tests are written with.

pub(crate) use std::sync::{Arc, Mutex};

pub(crate) use crate::projected::recorded::{Block, Entry, Results, results};
pub(crate) use errorbar_core::metrics::{
    All, Level, OnMissing, accuracy, aggregate, bootstrap_stderr, ci, ci_wilson, frequency, grouped,
    krippendorff_alpha, mean, perplexity_per_seq, perplexity_per_token, stderr,
};
pub(crate) use errorbar_core::{
    Conversion, Error, Estimate, HeadlineRequest, IndexMap, IntervalMethod, Leaf, LeafRef, MetadataKeys,
    Metric, MetricItem, MetricMap, MetricValue, Metrics, Plan, Reducer, Reducers, Registry, SampleScore,
    Score, ScoreColumns, ScoreSet, Scores, Value, Wants, Warning, metric_fn, metrics, reducer_fn, reducers,
    value_to_float,
};
pub(crate) use errorbar_test_support::assert_matches;
pub(crate) use serde_json::{Value as Json, json};

/// Columns of one scorer `s`; `None` is a sample without a score.
pub(crate) fn columns<V: Into<Value>>(
    rows: impl IntoIterator<Item = (&'static str, u32, Option<V>, Json)>,
) -> ScoreColumns {
    let mut columns = ScoreColumns::new(["s"]);
    for (id, epoch, value, group) in rows {
        let mut row = columns.push(id, epoch);
        if !group.is_null() {
            row = row.metadata("g", group);
        }
        if let Some(value) = value {
            row.score("s", Score::new(value)).unwrap();
        }
    }
    columns
}

/// One epoch each, all scored.
pub(crate) fn simple<V: Into<Value>>(rows: impl IntoIterator<Item = (&'static str, V)>) -> ScoreColumns {
    columns(rows.into_iter().map(|(id, value)| (id, 1, Some(value), json!("a"))))
}

pub(crate) fn scored(rows: impl IntoIterator<Item = (&'static str, Score)>) -> ScoreColumns {
    let mut columns = ScoreColumns::new(["s"]);
    for (id, score) in rows {
        columns.push(id, 1).score("s", score).unwrap();
    }
    columns
}

pub(crate) fn reduced(columns: &ScoreColumns, metrics: Metrics) -> Results {
    results(columns, &Plan::new().metrics(metrics)).unwrap()
}

pub(crate) fn unreduced(columns: &ScoreColumns, metrics: Metrics) -> Results {
    results(columns, &Plan::new().metrics(metrics).reducers(Reducers::Disabled)).unwrap()
}

pub(crate) fn by(columns: &ScoreColumns, reducer: impl Reducer + 'static, metrics: Metrics) -> Results {
    let reducers = Reducers::explicit(vec![Arc::new(reducer)]);
    results(columns, &Plan::new().metrics(metrics).reducers(reducers)).unwrap()
}

pub(crate) fn built(spec: &str) -> Metrics {
    Registry::built_in().metrics(&spec.parse().unwrap()).unwrap()
}

pub(crate) fn by_key<const N: usize>(pairs: [(&str, Vec<Arc<dyn Metric>>); N]) -> Metrics {
    Metrics::Map(MetricMap::from(pairs.map(|(pattern, metrics)| (pattern.to_owned(), metrics))))
}

pub(crate) fn block(results: &Results) -> &Block {
    &results.scores[0]
}

pub(crate) fn note(entry: &Entry, key: &str) -> Json {
    entry.metadata.as_ref().and_then(|m| m.get(key)).cloned().unwrap_or_default()
}

/// The failure of the first metric of the first block.
pub(crate) fn failure(results: &Results) -> Error {
    block(results).failures[0].error.clone()
}

/// The only warning: values that count as 0. How many, and the sample of the first.
pub(crate) fn unconvertible(results: &Results) -> (usize, String) {
    match results.warnings.as_slice() {
        [Warning::Unconvertible { count, sample, .. }] => (*count, sample.clone()),
        others => panic!("{others:?}"),
    }
}

/// A metric that keeps every row it is given.
pub(crate) fn spy() -> (impl Metric + 'static, Arc<Mutex<Vec<SampleScore>>>) {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let keep = Arc::clone(&seen);
    let metric = metric_fn("spy", move |scores: &Scores<'_>| {
        keep.lock().unwrap().extend(scores);
        Ok(scores.len())
    });
    (metric, seen)
}

pub(crate) fn all_scored<const N: usize>(rows: [(&'static str, u32, Value); N]) -> ScoreColumns {
    columns(rows.map(|(id, epoch, value)| (id, epoch, Some(value), json!("x"))))
}

pub(crate) fn built_one(spec: &str) -> Arc<dyn Metric> {
    Arc::clone(built(spec).iter().next().unwrap())
}
