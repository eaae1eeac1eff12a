//! Plans as text, so that they can travel to other machines; and what of the scores a plan can see there.

use std::sync::Arc;

use indexmap::IndexMap;
use serde_json::{Map, Value as Json, json};

use crate::error::{Error, Result};
use crate::error_plan::ErrorPlan;
use crate::inputs::{MetadataKeys, ScoreParts};
use crate::metadata::Metadata;
use crate::metric::{Metric, Metrics};
use crate::order::Order;
use crate::plan::{HeadlineRequest, Plan, Reducers, ScorerPlan};
use crate::reducer::Reducer;
use crate::registry::Registry;
use crate::spec::{self, MetricsSpec, Spec};

/// The fields of the text, in the order in which they are written.
const FIELDS: [&str; 11] = [
    "scorers",
    "metrics",
    "reducers",
    "seed",
    "max_draws",
    "headline",
    "errors",
    "default_metrics",
    "only",
    "scorer_reducers",
    "order",
];

impl Plan {
    /// The plan as text: JSON with the specs of its metrics and reducers, in which what is unset is left out. Equal plans
    /// have equal texts.
    ///
    /// ```
    /// use errorbar_core::metrics::{accuracy, stderr};
    /// use errorbar_core::{Plan, Registry, metrics, reducers, reducers::pass_at};
    ///
    /// let plan = Plan::new().metrics(metrics![accuracy(), stderr()]).reducers(reducers![pass_at(2)]).seed(7);
    /// let text = plan.to_text()?;
    /// assert_eq!(text, r#"{"metrics":["accuracy","stderr"],"reducers":["pass_at(k=2)"],"seed":7}"#);
    /// let same = Plan::from_text(&text, &Registry::built_in())?;
    /// assert_eq!(same.to_text()?, text);
    /// # Ok::<(), errorbar_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// The plan of a run that was stopped early: its intervals need the ids of all samples of the run.
    pub fn to_text(&self) -> Result<String> {
        if self.errors.early_stop.is_some() {
            return Err(Error::custom(
                "the plan of a run that was stopped early cannot be sent to other machines, because its intervals depend \
                 on the order of all samples; compute it on one machine",
            ));
        }
        let mut text = Map::new();
        let mut set = |key: &str, value: Json, is_set: bool| {
            if is_set {
                text.insert(key.to_owned(), value);
            }
        };
        let scorers: Vec<Json> = self.scorers.iter().map(scorer_json).collect();
        set("scorers", scorers.into(), !self.scorers.is_empty());
        set("metrics", self.task_metrics.as_ref().map(metrics_json).into(), self.task_metrics.is_some());
        set("reducers", reducers_json(&self.reducers), !matches!(self.reducers, Reducers::Implicit));
        set("seed", self.seed.into(), self.seed != 0);
        set("max_draws", self.max_draws.into(), self.max_draws.is_some());
        set("headline", self.headline.as_ref().map(headline_json).into(), self.headline.is_some());
        set("errors", self.errors.to_json(), !self.errors.is_default());
        let of_name = sorted(&self.default_metrics, metrics_json);
        set("default_metrics", of_name, !self.default_metrics.is_empty());
        set("only", json!(self.only), !self.only.is_empty());
        let of_name = sorted(&self.scorer_reducers, reducers_json);
        set("scorer_reducers", of_name, !self.scorer_reducers.is_empty());
        set("order", self.order.name().into(), self.order != Order::default());
        Ok(Json::Object(text).to_string())
    }

    /// The plan of a text, with metrics and reducers of a registry.
    ///
    /// # Errors
    /// A sentence that names the field and what was expected, and specs that the registry does not know.
    pub fn from_text(text: &str, registry: &Registry) -> Result<Self> {
        let json: Json = serde_json::from_str(text)
            .map_err(|error| Error::custom(format!("the text of a plan must be JSON: {error}")))?;
        let fields = object(&json, "the plan")?;
        if let Some(unknown) = fields.keys().find(|key| !FIELDS.contains(&key.as_str())) {
            let known = FIELDS.join(", ");
            return Err(Error::custom(format!(
                "the plan has an unknown field `{unknown}`; the fields are {known}"
            )));
        }
        let field = |key: &str| fields.get(key);
        let whole = |key: &str| {
            let number = |json: &Json| json.as_u64().ok_or_else(|| expected(key, "a whole number", json));
            field(key).map(number).transpose()
        };
        let mut plan = Plan::new();
        if let Some(scorers) = field("scorers") {
            let scorers = scorers.as_array().ok_or_else(|| expected("scorers", "a list", scorers))?;
            plan.scorers = scorers.iter().map(|json| scorer(json, registry)).collect::<Result<_>>()?;
        }
        plan.task_metrics = field("metrics").map(|json| metrics(json, registry)).transpose()?;
        if let Some(json) = field("reducers") {
            plan.reducers = reducers(json, registry)?;
        }
        plan.seed = whole("seed")?.unwrap_or(0);
        plan.max_draws = whole("max_draws")?;
        plan.headline = field("headline").map(headline).transpose()?;
        if let Some(json) = field("errors") {
            plan.errors = ErrorPlan::from_json(json)
                .map_err(|problem| Error::custom(format!("`errors`: {problem}")))?;
        }
        plan.default_metrics = by_name(field("default_metrics"), |json| metrics(json, registry))?;
        plan.only = field("only").map(|json| texts("only", json)).transpose()?.unwrap_or_default();
        plan.scorer_reducers = by_name(field("scorer_reducers"), |json| reducers(json, registry))?;
        if let Some(json) = field("order") {
            let name = json.as_str().ok_or_else(|| expected("order", "a string", json))?;
            plan.order = name.parse().map_err(|problem| Error::custom(format!("`order`: {problem}")))?;
        }
        Ok(plan)
    }

    /// What distinguishes the plan from others: a hash of its text that is the same everywhere.
    ///
    /// # Errors
    /// As [`Plan::to_text`].
    pub(crate) fn fingerprint(&self) -> Result<[u8; 16]> {
        let mut fingerprint = [0; 16];
        let hash = blake3::hash(self.to_text()?.as_bytes());
        fingerprint.iter_mut().zip(hash.as_bytes()).for_each(|(own, byte)| *own = *byte);
        Ok(fingerprint)
    }

    /// Every metric that the plan may compute.
    fn computed_metrics(&self) -> Vec<&Arc<dyn Metric>> {
        let lists: Vec<&Metrics> = match &self.task_metrics {
            Some(metrics) => vec![metrics],
            None => {
                let of_scorers = self.scorers.iter().map(|scorer| &scorer.metrics);
                of_scorers.chain(self.default_metrics.values()).collect()
            }
        };
        lists.into_iter().flat_map(Metrics::iter).collect()
    }

    /// Every reducer that the plan names.
    fn named_reducers(&self) -> impl Iterator<Item = &Arc<dyn Reducer>> {
        self.all_reducers().flat_map(|reducers| match reducers {
            Reducers::Explicit(list) => list.as_slice(),
            _ => &[],
        })
    }

    /// The metadata of samples that figures may depend on.
    pub(crate) fn visible_metadata(&self) -> MetadataKeys {
        let of_metrics = self.computed_metrics().into_iter().map(|metric| metric.metadata_keys());
        of_metrics.fold(self.metadata_keys(), MetadataKeys::and)
    }

    /// The parts of scores that figures may depend on.
    pub(crate) fn visible_parts(&self) -> ScoreParts {
        let of_metrics = self.computed_metrics().into_iter().map(|metric| metric.score_parts());
        of_metrics.fold(self.score_parts(), ScoreParts::max)
    }

    /// Whether figures depend on the ids of samples and not only on what scores and metadata they have. Then
    /// [partial results](crate::Partial) keep all ids; otherwise samples that look the same are counted together.
    pub fn depends_on_ids(&self) -> bool {
        let is_unreduced = self.all_reducers().any(|reducers| matches!(reducers, Reducers::Disabled));
        let is_custom = self.named_reducers().any(|reducer| reducer.by_epoch().is_none());
        let errors = &self.errors;
        let is_resampled = is_unreduced
            || errors.wants_resamples()
            || errors.wants_left_out()
            // Of a quantile, for instance.
            || errors.population.is_some();
        let depends = |metric: &Arc<dyn Metric>| metric.depends_on_ids(is_resampled);
        is_custom || errors.early_stop.is_some() || self.computed_metrics().into_iter().any(depends)
    }
}

fn specs(metrics: &Metrics) -> MetricsSpec {
    let map = |map: &crate::MetricMap| -> spec::MetricMap {
        let specs = |metrics: &Vec<Arc<dyn Metric>>| metrics.iter().map(|metric| metric.spec()).collect();
        map.iter().map(|(pattern, metrics)| (pattern.clone(), specs(metrics))).collect()
    };
    match metrics {
        Metrics::Map(patterns) => MetricsSpec::Map(map(patterns)),
        Metrics::List(items) => MetricsSpec::List(
            items
                .iter()
                .map(|item| match item {
                    crate::MetricItem::Metric(metric) => spec::MetricItem::Metric(metric.spec()),
                    crate::MetricItem::Map(patterns) => spec::MetricItem::Map(map(patterns)),
                })
                .collect(),
        ),
    }
}

fn metrics_json(metrics: &Metrics) -> Json {
    json!(specs(metrics))
}

fn metrics(json: &Json, registry: &Registry) -> Result<Metrics> {
    registry.metrics(&MetricsSpec::from_log_json(json)?)
}

/// Null for the implied mean, an empty list if epochs are not reduced.
fn reducers_json(reducers: &Reducers) -> Json {
    match reducers {
        Reducers::Implicit => Json::Null,
        Reducers::Disabled => Json::Array(Vec::new()),
        Reducers::Explicit(list) => {
            list.iter().map(|reducer| Json::from(reducer.spec().to_string())).collect()
        }
    }
}

fn reducers(json: &Json, registry: &Registry) -> Result<Reducers> {
    if json.is_null() {
        return Ok(Reducers::Implicit);
    }
    let built = texts("reducers", json)?.into_iter().map(|text| registry.reducer(&text.parse::<Spec>()?));
    Ok(Reducers::explicit(built.collect::<Result<_>>()?))
}

fn scorer_json(scorer: &ScorerPlan) -> Json {
    let ScorerPlan { name, metrics, params } = scorer;
    let mut json = Map::new();
    json.insert("name".to_owned(), name.as_str().into());
    json.insert("metrics".to_owned(), metrics_json(metrics));
    if !params.is_empty() {
        json.insert("params".to_owned(), params.clone().into());
    }
    Json::Object(json)
}

fn scorer(json: &Json, registry: &Registry) -> Result<ScorerPlan> {
    let mut scorer =
        ScorerPlan { name: String::new(), metrics: Metrics::List(Vec::new()), params: Metadata::new() };
    for (key, value) in object(json, "a scorer")? {
        match key.as_str() {
            "name" => {
                value.as_str().ok_or_else(|| expected(key, "a string", value))?.clone_into(&mut scorer.name)
            }
            "metrics" => scorer.metrics = metrics(value, registry)?,
            "params" => scorer.params = object(value, "`params`")?.clone().into(),
            _ => return Err(Error::custom(format!("a scorer has an unknown field `{key}`"))),
        }
    }
    Ok(scorer)
}

fn headline_json(headline: &HeadlineRequest) -> Json {
    let HeadlineRequest { scorer, score, metric, reducer } = headline;
    let parts = [("scorer", scorer), ("score", score), ("metric", metric), ("reducer", reducer)];
    let set =
        parts.into_iter().filter_map(|(key, part)| Some((key.to_owned(), Json::from(part.as_deref()?))));
    Json::Object(set.collect())
}

fn headline(json: &Json) -> Result<HeadlineRequest> {
    let mut headline = HeadlineRequest::default();
    for (key, value) in object(json, "`headline`")? {
        let part = match key.as_str() {
            "scorer" => &mut headline.scorer,
            "score" => &mut headline.score,
            "metric" => &mut headline.metric,
            "reducer" => &mut headline.reducer,
            _ => return Err(Error::custom(format!("`headline` has an unknown field `{key}`"))),
        };
        *part = Some(value.as_str().ok_or_else(|| expected(key, "a string", value))?.to_owned());
    }
    Ok(headline)
}

/// By name, in the order of names: the plan does not depend on another one.
fn sorted<T>(map: &IndexMap<String, T>, json: impl Fn(&T) -> Json) -> Json {
    let mut names: Vec<&String> = map.keys().collect();
    names.sort_unstable();
    let entry = |name: &String| Some((name.clone(), json(map.get(name)?)));
    Json::Object(names.into_iter().filter_map(entry).collect())
}

fn by_name<T>(json: Option<&Json>, read: impl Fn(&Json) -> Result<T>) -> Result<IndexMap<String, T>> {
    let Some(json) = json else { return Ok(IndexMap::new()) };
    object(json, "a part of the plan")?.iter().map(|(name, json)| Ok((name.clone(), read(json)?))).collect()
}

fn object<'j>(json: &'j Json, what: &str) -> Result<&'j Map<String, Json>> {
    json.as_object().ok_or_else(|| Error::custom(format!("{what} must be a map, found {json}")))
}

fn texts(key: &str, json: &Json) -> Result<Vec<String>> {
    let text = |json: &Json| json.as_str().map(str::to_owned);
    let list = json.as_array().and_then(|list| list.iter().map(text).collect::<Option<Vec<String>>>());
    list.ok_or_else(|| expected(key, "a list of strings", json))
}

fn expected(key: &str, what: &str, found: &Json) -> Error {
    Error::custom(format!("`{key}` of the plan: expected {what}, found {found}"))
}
