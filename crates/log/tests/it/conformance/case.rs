//! A case: built and run.

use std::sync::Arc;

use errorbar_core::spec::{MetricsSpec, Spec};
use errorbar_core::{
    Error, Evaluation, HeadlineRequest, Leaf, Metric, MetricValue, Metrics, Plan, Reducers, Registry, Score,
    ScoreColumns, Scores, Value, Wants, metric_fn,
};
use errorbar_log::eval::RecordedResults;
use errorbar_log::inspect::project;
use errorbar_test_support::conformance::ReferenceCase;
use indexmap::IndexMap;
use serde_json::{Map, Value as Json};

/// What ours made of a case.
pub(crate) enum Outcome {
    /// Refused when metrics and reducers were built.
    BuildError(Error),
    /// Refused when results were computed.
    ComputeError(Error),
    Results(Box<Computed>),
}

/// What was computed, and how a log records it.
pub(crate) struct Computed {
    pub(crate) columns: ScoreColumns,
    pub(crate) evaluation: Evaluation,
    pub(crate) recorded: RecordedResults,
}

impl Computed {
    /// The metrics that failed.
    pub(crate) fn failures(&self) -> impl Iterator<Item = &errorbar_core::Failure> {
        self.evaluation.results.scores.iter().flat_map(|score| &score.failures)
    }
}

pub(crate) fn run(case: &ReferenceCase) -> Outcome {
    let columns = columns(case);
    let plan = match plan(case) {
        Ok(plan) => plan,
        Err(error) => return Outcome::BuildError(error),
    };
    match plan.evaluate(&columns) {
        Ok(evaluation) => {
            let recorded = project(&evaluation.results);
            Outcome::Results(Box::new(Computed { columns, evaluation, recorded }))
        }
        Err(error) => Outcome::ComputeError(error),
    }
}

pub(crate) fn plan(case: &ReferenceCase) -> Result<Plan, Error> {
    let registry = registry();
    let mut plan = Plan::new();
    // Of the scorers that the reference has, those with their own metrics.
    for (names, metrics) in [
        (["exact", "f1"], r#"["mean", "stderr"]"#),
        (["perplexity", "target_perplexity"], r#"["perplexity_per_token", "perplexity_per_seq"]"#),
    ] {
        let metrics = self::metrics(&registry, &serde_json::from_str(metrics).unwrap())?;
        plan.default_metrics.extend(names.map(|name| (name.to_owned(), metrics.clone())));
    }
    for scorer in case.json["scorers"].as_array().unwrap() {
        plan = plan.scorer(scorer["name"].as_str().unwrap(), metrics(&registry, &scorer["metrics"])?);
    }
    if !case.json["task_metrics"].is_null() {
        plan = plan.metrics(metrics(&registry, &case.json["task_metrics"])?);
    }
    if let Some(reducers) = case.json["reducers"].as_array() {
        let build = |spec: &Json| registry.reducer(&spec.as_str().unwrap().parse::<Spec>()?);
        plan = plan.reducers(Reducers::explicit(reducers.iter().map(build).collect::<Result<_, Error>>()?));
    }
    if let Some(wanted) = case.json.get("headline") {
        let text = |key: &str| wanted.get(key).and_then(Json::as_str).map(str::to_owned);
        plan.headline = Some(HeadlineRequest {
            scorer: text("scorer"),
            score: text("score"),
            metric: text("metric"),
            reducer: text("reducer"),
        });
    }
    Ok(plan)
}

pub(crate) fn columns(case: &ReferenceCase) -> ScoreColumns {
    let samples = case.json["samples"].as_array().unwrap();
    // Scorers in order of appearance: those without a plan come in that order.
    let mut scorers: Vec<&str> = Vec::new();
    for sample in samples {
        for name in sample["scores"].as_object().unwrap().keys() {
            if !scorers.contains(&name.as_str()) {
                scorers.push(name);
            }
        }
    }
    let mut columns = ScoreColumns::new(scorers);
    for sample in samples {
        let epoch = u32::try_from(sample["epoch"].as_u64().unwrap()).unwrap();
        let mut row = columns.push(sample["id"].as_str().unwrap(), epoch);
        if let Some(metadata) = sample.get("metadata").and_then(Json::as_object) {
            let metadata = plain(metadata);
            row = row.metadata_all(metadata.iter().map(|(k, v)| (k.as_str(), v)));
        }
        for (name, score) in sample["scores"].as_object().unwrap() {
            row = row.score(name, read_score(score)).unwrap();
        }
    }
    columns
}

fn read_score(json: &Json) -> Score {
    let text = |key: &str| json.get(key).and_then(Json::as_str).map(str::to_owned);
    let mut score = Score::new(value(&json["value"]));
    score.answer = text("answer");
    score.explanation = text("explanation");
    score.reason = text("reason");
    score.metadata = json.get("metadata").and_then(Json::as_object).map(|map| plain(map).into());
    score.lift_reason()
}

fn metrics(registry: &Registry, json: &Json) -> Result<Metrics, Error> {
    let spec: MetricsSpec = serde_json::from_value(json.clone()).map_err(|e| Error::custom(e.to_string()))?;
    registry.metrics(&spec)
}

/// A float that JSON cannot write, as the cases write it.
pub(crate) fn special(json: &Json) -> Option<f64> {
    json.get("$float")?.as_str()?.parse().ok()
}

pub(crate) fn value(json: &Json) -> Value {
    match json {
        _ if special(json).is_some() => Value::from(special(json).unwrap()),
        Json::Array(items) => Value::List(items.iter().map(leaf).collect()),
        Json::Object(map) => Value::map(map.iter().map(|(k, v)| (k.as_str(), leaf(v)))),
        scalar => Value::from(leaf(scalar)),
    }
}

pub(crate) fn leaf(json: &Json) -> Leaf {
    special(json).map_or_else(|| Leaf::from_json(json).unwrap(), Leaf::from)
}

/// Metadata is JSON in our types: a not-a-number reads as null, as it does from a log.
fn plain(map: &Map<String, Json>) -> Map<String, Json> {
    fn plain_value(json: &Json) -> Json {
        match json {
            _ if special(json).is_some() => Json::Null,
            Json::Array(items) => items.iter().map(plain_value).collect(),
            Json::Object(map) => Json::Object(plain(map)),
            other => other.clone(),
        }
    }
    map.iter().map(|(k, v)| (k.clone(), plain_value(v))).collect()
}

/// The built-in registry and the custom metrics that the generator defines on its side too.
pub(crate) fn registry() -> Registry {
    let count = |scores: &Scores<'_>| Ok(scores.len());
    let floats =
        |scores: &Scores<'_>| scores.into_iter().map(|s| s.score.as_f64()).collect::<Result<Vec<_>, _>>();
    let custom: [Arc<dyn Metric>; 6] = [
        Arc::new(metric_fn("conf_map", move |scores: &Scores<'_>| {
            let floats = floats(scores)?;
            let bound = |pick: fn(f64, f64) -> f64| floats.iter().copied().reduce(pick);
            Ok(MetricValue::from(IndexMap::from([
                ("low".to_owned(), bound(f64::min)),
                ("high".to_owned(), bound(f64::max)),
                ("none".to_owned(), None),
            ])))
        })),
        Arc::new(metric_fn("conf_list", move |scores: &Scores<'_>| {
            let floats = floats(scores)?;
            Ok(vec![Some(floats.iter().sum()), None, Some(floats.len() as f64)])
        })),
        Arc::new(metric_fn("conf_count", count)),
        Arc::new(metric_fn("conf_reduced", count).wants(Wants::Reduced)),
        Arc::new(metric_fn("conf_unreduced", count).wants(Wants::Unreduced)),
        Arc::new(metric_fn("conf/qualified", count)),
    ];
    let mut registry = Registry::built_in();
    for metric in custom {
        registry.add_metric_object(metric, "").unwrap();
    }
    registry
}
