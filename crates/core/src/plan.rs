//! What is to be computed: scorers with their metrics, reducers, a seed.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::sync::Arc;

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json, json};

use crate::columns::ScoreColumns;
use crate::error::{Error, Result};
use crate::error_plan::{ErrorMethod, ErrorPlan};
use crate::inputs::{MetadataKeys, Raters, ScoreParts};
use crate::metadata::Metadata;
use crate::metric::{Metric, MetricItem, MetricMap, Metrics};
use crate::naming::Order;
use crate::reducer::Reducer;
use crate::registry::Registry;
use crate::spec::{MetricsSpec, Spec};
use crate::value::{LeafRef, ValueRef};

/// Reducers to apply one after the other; without any, epochs are not reduced.
///
/// ```
/// use errorbar_core::reducers::{at_least, mode};
/// use errorbar_core::{Plan, reducers};
///
/// let plan = Plan::new().reducers(reducers![at_least(2), mode()]);
/// assert_eq!(plan.reducers.log_names().unwrap(), ["at_least_2", "mode"]);
/// assert!(reducers![].log_names().unwrap().is_empty());
/// ```
#[macro_export]
macro_rules! reducers {
    ($($reducer:expr),* $(,)?) => {
        $crate::Reducers::explicit(
            ::std::vec![$(::std::sync::Arc::new($reducer) as ::std::sync::Arc<dyn $crate::Reducer>),*],
        )
    };
}

/// How the epochs of a sample become one score.
#[derive(Clone, Debug, Default)]
pub enum Reducers {
    /// The default: by `mean`, which results then do not name.
    #[default]
    Implicit,
    /// Not at all: metrics see every epoch.
    Disabled,
    /// By each of these, one after the other.
    Explicit(Vec<Arc<dyn Reducer>>),
}

impl Reducers {
    /// These reducers; an empty list disables reduction.
    pub fn explicit(reducers: Vec<Arc<dyn Reducer>>) -> Self {
        if reducers.is_empty() { Reducers::Disabled } else { Reducers::Explicit(reducers) }
    }

    /// Their names as logs record them: none for the default, an empty list if reduction is disabled.
    pub fn log_names(&self) -> Option<Vec<String>> {
        match self {
            Reducers::Implicit => None,
            Reducers::Disabled => Some(Vec::new()),
            Reducers::Explicit(list) => {
                let name =
                    |reducer: &Arc<dyn Reducer>| Registry::recorded_reducer(&reducer.log_name()).into_owned();
                Some(list.iter().map(name).collect())
            }
        }
    }

    /// Refuses a reducer that needs more epochs than a run will have.
    pub fn check(&self, epochs: u32) -> Result<()> {
        let Reducers::Explicit(reducers) = self else { return Ok(()) };
        reducers.iter().try_for_each(|reducer| reducer.check())?;
        match reducers.iter().find_map(|r| r.needs_epochs().filter(|k| *k > epochs.into()).map(|k| (r, k))) {
            None => Ok(()),
            Some((reducer, k)) => Err(Error::TooFewEpochs { reducer: reducer.log_name(), k, epochs }),
        }
    }
}

/// A reducer, built or still by name.
#[derive(Clone, Debug)]
pub enum ReducerChoice {
    /// A spec such as `at_least_2`, to be looked up.
    Text(String),
    /// A reducer itself.
    Built(Arc<dyn Reducer>),
}

impl ReducerChoice {
    /// The reducer itself.
    ///
    /// # Errors
    /// A string that names none.
    pub fn build(&self, registry: &Registry) -> Result<Arc<dyn Reducer>> {
        match self {
            ReducerChoice::Text(text) => registry.reducer(&text.parse::<Spec>()?),
            ReducerChoice::Built(reducer) => Ok(Arc::clone(reducer)),
        }
    }

    /// The reducers: several if the spec has a range.
    fn build_all(&self, registry: &Registry) -> Result<Vec<Arc<dyn Reducer>>> {
        match self {
            ReducerChoice::Text(text) => registry.reducers(&text.parse::<Spec>()?),
            ReducerChoice::Built(reducer) => Ok(vec![Arc::clone(reducer)]),
        }
    }
}

impl From<&str> for ReducerChoice {
    fn from(spec: &str) -> Self {
        ReducerChoice::Text(spec.to_owned())
    }
}
impl From<String> for ReducerChoice {
    fn from(spec: String) -> Self {
        ReducerChoice::Text(spec)
    }
}
impl<R: Reducer + 'static> From<R> for ReducerChoice {
    fn from(reducer: R) -> Self {
        ReducerChoice::Built(Arc::new(reducer))
    }
}

/// One reducer or several: what [`Epochs::new`] takes.
pub trait IntoReducers {
    /// The reducers as a list.
    fn into_reducers(self) -> Vec<ReducerChoice>;
}

impl<C: Into<ReducerChoice>> IntoReducers for C {
    fn into_reducers(self) -> Vec<ReducerChoice> {
        vec![self.into()]
    }
}
impl<C: Into<ReducerChoice>, const N: usize> IntoReducers for [C; N] {
    fn into_reducers(self) -> Vec<ReducerChoice> {
        self.into_iter().map(Into::into).collect()
    }
}
impl<C: Into<ReducerChoice>> IntoReducers for Vec<C> {
    fn into_reducers(self) -> Vec<ReducerChoice> {
        self.into_iter().map(Into::into).collect()
    }
}

/// How often each sample is run, and how its scores are reduced.
///
/// ```
/// use errorbar_core::{Epochs, Error, Registry, reducers};
/// let registry = Registry::built_in();
/// Epochs::new(5, "mode").reducers(&registry)?;
/// Epochs::new(5, ["at_least_2", "at_least_5"]).reducers(&registry)?;
/// Epochs::new(5, "pass_at(1..5)").reducers(&registry)?;
/// Epochs::new(5, reducers::pass_at(2).value(0.5)).reducers(&registry)?;
/// let error = Epochs::new(2, "at_least_5").reducers(&registry).unwrap_err();
/// assert!(matches!(error, Error::TooFewEpochs { k: 5, epochs: 2, .. }));
/// # Ok::<(), errorbar_core::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Epochs {
    count: u32,
    reducers: Option<Vec<ReducerChoice>>,
}

impl Epochs {
    /// This number of epochs, reduced by these.
    pub fn new(count: u32, reducers: impl IntoReducers) -> Self {
        Epochs { count, reducers: Some(reducers.into_reducers()) }
    }

    /// This number of epochs, reduced by the mean.
    pub fn count(count: u32) -> Self {
        Epochs { count, reducers: None }
    }

    /// The same reducers over another number of epochs.
    #[must_use]
    pub fn with_count(mut self, count: u32) -> Self {
        self.count = count;
        self
    }

    /// The number of epochs.
    pub fn epochs(&self) -> u32 {
        self.count
    }

    /// The reducers, built and checked against the number of epochs.
    pub fn reducers(&self, registry: &Registry) -> Result<Reducers> {
        let Some(choices) = &self.reducers else { return Ok(Reducers::Implicit) };
        let built = choices.iter().map(|choice| choice.build_all(registry)).collect::<Result<Vec<_>>>()?;
        let reducers = Reducers::explicit(built.concat());
        reducers.check(self.count)?;
        Ok(reducers)
    }
}

impl From<u32> for Epochs {
    fn from(count: u32) -> Self {
        Epochs::count(count)
    }
}

/// A scorer and its metrics.
#[derive(Clone, Debug)]
pub struct ScorerPlan {
    /// The scorer's name.
    pub name: String,
    /// Its own metrics.
    pub metrics: Metrics,
    /// Its arguments, for the record.
    pub params: Metadata,
}

/// What is to be computed.
///
/// ```
/// use errorbar_core::metrics::{accuracy, mean, stderr};
/// use errorbar_core::{Epochs, MetadataKeys, Plan, Registry, metrics};
///
/// let plan = Plan::new()
///     .scorer("match", metrics![accuracy(), stderr().cluster("passage")])
///     .scorer("f1", metrics![mean()])
///     .reducers(Epochs::new(5, ["mean", "pass_at_2"]).reducers(&Registry::built_in())?)
///     .seed(7);
/// assert_eq!(plan.metadata_keys(), MetadataKeys::one("passage"));
/// # Ok::<(), errorbar_core::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Plan {
    /// The scorers, in order. Two of one name become `name` and `name1`.
    pub scorers: Vec<ScorerPlan>,
    /// Metrics that replace those of every scorer.
    pub task_metrics: Option<Metrics>,
    /// How epochs are reduced.
    pub reducers: Reducers,
    /// The seed of random figures.
    pub seed: u64,
    /// The number of values that random figures may draw, all of them together; no limit if unset. What takes longer than
    /// drawing its values, such as a median of each resample, counts as more. A plan that comes
    /// from a file of others can ask for years of work in a few bytes.
    pub max_draws: Option<u64>,
    /// Which figure to show first; the first one if unset.
    pub headline: Option<HeadlineRequest>,
    /// How errors and intervals are computed.
    pub errors: ErrorPlan,
    /// The metrics of scorers that are found in the scores but not planned, by name; accuracy and stderr for any other.
    pub default_metrics: IndexMap<String, Metrics>,
    /// The scorers to compute figures for; all if there is none. Metrics can still read the scores of others.
    pub only: Vec<String>,
    /// How the epochs of some scorers are reduced, by the names of their scores, if not as those of all others: scores
    /// that are added to a log later may have other reducers.
    pub scorer_reducers: IndexMap<String, Reducers>,
    /// In which order results list what they find.
    pub order: Order,
}

/// Which figure to show first: the first that matches every field that is set.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct HeadlineRequest {
    /// The scorer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scorer: Option<String>,
    /// The name of the block.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub score: Option<String>,
    /// The key of the metric.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub metric: Option<String>,
    /// The reducer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reducer: Option<String>,
}

impl std::fmt::Display for HeadlineRequest {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let parts = [
            ("scorer", &self.scorer),
            ("score", &self.score),
            ("metric", &self.metric),
            ("reducer", &self.reducer),
        ];
        let parts = parts.iter().filter_map(|(name, value)| Some(format!("{name} {:?}", value.as_ref()?)));
        write!(f, "{}", parts.collect::<Vec<_>>().join(", "))
    }
}

impl Plan {
    /// A plan with nothing in it: scorers found in the scores get accuracy and stderr.
    pub fn new() -> Self {
        Plan::default()
    }

    /// Adds a scorer with its metrics.
    #[must_use]
    pub fn scorer(mut self, name: impl Into<String>, metrics: Metrics) -> Self {
        self.scorers.push(ScorerPlan { name: name.into(), metrics, params: Metadata::new() });
        self
    }

    /// Replaces the metrics of every scorer.
    #[must_use]
    pub fn metrics(mut self, metrics: Metrics) -> Self {
        self.task_metrics = Some(metrics);
        self
    }

    /// The plan for these scores with a figure also by the groups of a metadata key: `grouped` of the first metric of each
    /// scorer that is wanted. What is decided over all scores of a scorer is decided so for the groups.
    #[must_use]
    pub fn with_groups(
        &self,
        columns: &ScoreColumns,
        key: &str,
        is_wanted: impl Fn(&dyn Metric) -> bool,
    ) -> Self {
        let is_wanted =
            |metric: &&Arc<dyn Metric>| metric.group_key().is_none() && is_wanted(metric.as_ref());
        let grouped = |metric: &Arc<dyn Metric>| -> Arc<dyn Metric> {
            Arc::new(crate::metrics::grouped(Arc::clone(metric), key))
        };
        // Other groups of the same figure come later.
        let add_to_map = |map: &mut MetricMap| {
            for own in map.values_mut() {
                let first = own.iter().find(is_wanted).map(&grouped);
                own.splice(0..0, first);
            }
        };
        let add = |metrics: &mut Metrics| {
            let first = metrics.whole().find(is_wanted).map(&grouped).map(MetricItem::Metric);
            match metrics {
                Metrics::Map(map) => add_to_map(map),
                Metrics::List(items) => {
                    items.iter_mut().for_each(|item| match item {
                        MetricItem::Metric(_) => {}
                        MetricItem::Map(map) => add_to_map(map),
                    });
                    items.splice(0..0, first);
                }
            }
        };
        let mut plan = self.clone();
        if let Some(metrics) = &mut plan.task_metrics {
            add(metrics);
            return plan;
        }
        plan.scorers.iter_mut().for_each(|scorer| add(&mut scorer.metrics));
        let is_planned = |name: &str| self.scorers.iter().any(|scorer| scorer.name == name);
        for scorer in columns.scorer_names().filter(|name| !is_planned(name)) {
            let default = || crate::metrics![crate::metrics::accuracy(), crate::metrics::stderr()];
            add(plan.default_metrics.entry(scorer.to_owned()).or_insert_with(default));
        }
        plan
    }

    /// Sets how epochs are reduced.
    #[must_use]
    pub fn reducers(mut self, reducers: Reducers) -> Self {
        self.reducers = reducers;
        self
    }

    /// Sets the seed of random figures.
    #[must_use]
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// Sets how errors and intervals are computed.
    #[must_use]
    pub fn errors(mut self, errors: ErrorPlan) -> Self {
        self.errors = errors;
        self
    }

    /// Sets in which order results list what they find.
    #[must_use]
    pub fn order(mut self, order: Order) -> Self {
        self.order = order;
        self
    }

    /// The method of clustered errors that the plan names without anything to cluster by. Metrics may name a key, and
    /// epochs that are not reduced are clustered by sample.
    pub fn method_without_clusters(&self) -> Option<ErrorMethod> {
        let method = self.errors.method.filter(|method| matches!(method, ErrorMethod::Cluster(_)))?;
        let has_clusters = |metric: &Arc<dyn Metric>| {
            metric.cluster().is_some() || metric.wants() == crate::Wants::Unreduced
        };
        let is_missing = self.errors.cluster.is_empty()
            && !matches!(self.reducers, Reducers::Disabled)
            && !self.own_metrics().any(has_clusters);
        is_missing.then_some(method)
    }

    /// How the epochs of a scorer are reduced.
    pub fn reducers_of(&self, scorer: &str) -> &Reducers {
        self.scorer_reducers.get(scorer).unwrap_or(&self.reducers)
    }

    /// All reducers of the plan.
    pub fn all_reducers(&self) -> impl Iterator<Item = &Reducers> {
        std::iter::once(&self.reducers).chain(self.scorer_reducers.values())
    }

    /// A reducer for which every score from 1 on is a success, if a score is higher, and the highest of them.
    ///
    /// ```
    /// use errorbar_core::{Plan, Score, ScoreColumns, reducers};
    /// let mut columns = ScoreColumns::new(["judge"]);
    /// columns.push("q1", 1).score("judge", Score::new(7))?;
    /// let plan = Plan::new().reducers(reducers![reducers::pass_at(2)]);
    /// assert_eq!(plan.beyond_threshold(&columns).map(|(_, highest)| highest), Some(7.0));
    /// let plan = Plan::new().reducers(reducers![reducers::pass_at(2).value(5.0)]);
    /// assert!(plan.beyond_threshold(&columns).is_none());
    /// # Ok::<(), errorbar_core::Error>(())
    /// ```
    pub fn beyond_threshold(&self, columns: &ScoreColumns) -> Option<(&Arc<dyn Reducer>, f64)> {
        let is_default = |reducer: &&Arc<dyn Reducer>| {
            reducer.by_epoch().is_some_and(|reducer| reducer.default_threshold().is_some())
        };
        let reducer = self.named_reducers().find(is_default)?;
        Some((reducer, columns.highest_number().filter(|highest| *highest > 1.0)?))
    }

    /// A reducer that takes no score of a scorer for a success, because all are below its default threshold and some are
    /// not 0; the scorer, and the highest score.
    ///
    /// ```
    /// use errorbar_core::{Plan, Score, ScoreColumns, reducers};
    /// let mut columns = ScoreColumns::new(["judge"]);
    /// columns.push("q1", 1).score("judge", Score::new(0.7))?;
    /// columns.push("q2", 1).score("judge", Score::new(0))?;
    /// let plan = Plan::new().reducers(reducers![reducers::pass_at(2)]);
    /// let (_, scorer, highest) = plan.below_threshold(&columns).unwrap();
    /// assert_eq!((scorer, highest), ("judge", 0.7));
    /// columns.push("q3", 1).score("judge", Score::new("C"))?;
    /// assert!(plan.below_threshold(&columns).is_none());
    /// # Ok::<(), errorbar_core::Error>(())
    /// ```
    pub fn below_threshold<'a>(
        &'a self,
        columns: &'a ScoreColumns,
    ) -> Option<(&'a Arc<dyn Reducer>, &'a str, f64)> {
        let is_wanted = |name: &&str| self.only.is_empty() || self.only.iter().any(|wanted| wanted == name);
        columns.scorer_names().filter(is_wanted).find_map(|name| {
            let Reducers::Explicit(reducers) = self.reducers_of(name) else { return None };
            let (reducer, threshold, conversion) = reducers.iter().find_map(|reducer| {
                let by_epoch = reducer.by_epoch()?;
                Some((reducer, by_epoch.default_threshold()?, by_epoch.conversion()?))
            })?;
            let values = columns.scorer(name)?.values();
            let mut highest = f64::NEG_INFINITY;
            let is_below = |leaf: LeafRef<'_>| {
                let number = conversion.convert_leaf(leaf);
                if number.convertible {
                    highest = highest.max(number.value);
                }
                highest < threshold
            };
            let leaves = (0..values.len()).filter_map(|row| values.get(row)).flat_map(ValueRef::leaves);
            let all_below = leaves.into_iter().all(is_below);
            (all_below && highest.is_finite() && highest != 0.0).then_some((reducer, name, highest))
        })
    }

    /// With only those of its metrics that pass.
    pub(crate) fn with_metrics(&self, passes: impl Fn(&dyn Metric) -> bool) -> Plan {
        let filtered = |metrics: &Metrics| metrics.filter(|metric: &Arc<dyn Metric>| passes(metric.as_ref()));
        let mut plan = self.clone();
        plan.task_metrics = plan.task_metrics.as_ref().map(filtered);
        plan.scorers.iter_mut().for_each(|scorer| scorer.metrics = filtered(&scorer.metrics));
        plan.default_metrics.values_mut().for_each(|metrics| *metrics = filtered(metrics));
        plan
    }

    /// The metrics that it computes, unless scorers have their own defaults.
    pub(crate) fn own_metrics(&self) -> impl Iterator<Item = &Arc<dyn Metric>> {
        let of_scorers = self.scorers.iter().filter(|_| self.task_metrics.is_none());
        self.task_metrics.iter().chain(of_scorers.map(|scorer| &scorer.metrics)).flat_map(Metrics::iter)
    }

    /// The sample metadata keys that must be read for this plan.
    pub fn metadata_keys(&self) -> MetadataKeys {
        let of_metrics = self.own_metrics().map(|metric| metric.metadata_keys());
        let keys = of_metrics.fold(MetadataKeys::NONE, MetadataKeys::and);
        keys.and(MetadataKeys::Only(self.errors.cluster.clone()))
    }

    /// The raters that metrics name: a reader of only some scorers reads these, too.
    pub fn raters(&self) -> Raters {
        Raters::beside(self.own_metrics().flat_map(|metric| metric.raters().names))
    }

    /// The parts of scores that must be read for the figures of this plan. Reduced scores as such, which logs record
    /// too, have all parts.
    pub fn score_parts(&self) -> ScoreParts {
        // A reducer of scalars sees nothing but values; any other sees whole scores.
        let by_reducers = match self.named_reducers().any(|reducer| reducer.by_epoch().is_none()) {
            true => ScoreParts::All,
            false => ScoreParts::Value,
        };
        let by_metrics = self.own_metrics().map(|metric| metric.score_parts()).max();
        by_reducers.max(by_metrics.unwrap_or(ScoreParts::Value))
    }
}

// Plans as text, so that they can travel to other machines; and what of the scores a plan can see there.

/// A plan as text: what is set of it, with its metrics and reducers as specs. What depends on names is in their order.
#[derive(Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct PlanText {
    scorers: Vec<ScorerText>,
    metrics: Option<MetricsSpec>,
    reducers: ReducersText,
    seed: u64,
    max_draws: Option<u64>,
    headline: Option<HeadlineRequest>,
    errors: Map<String, Json>,
    default_metrics: BTreeMap<String, MetricsSpec>,
    only: Vec<String>,
    scorer_reducers: BTreeMap<String, ReducersText>,
    order: Order,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct ScorerText {
    name: String,
    metrics: MetricsSpec,
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    params: Map<String, Json>,
}

/// Null for the implied mean, an empty list if epochs are not reduced.
type ReducersText = Option<Vec<Spec>>;

fn metrics_text(metrics: &Metrics) -> MetricsSpec {
    let Ok(specs) = metrics.try_map(|metric| Ok::<_, Infallible>(metric.spec()));
    specs
}

fn reducers_text(reducers: &Reducers) -> ReducersText {
    match reducers {
        Reducers::Implicit => None,
        Reducers::Disabled => Some(Vec::new()),
        Reducers::Explicit(list) => Some(list.iter().map(|reducer| reducer.spec()).collect()),
    }
}

fn by_name<'p, T, U>(map: &'p IndexMap<String, T>, text: impl Fn(&'p T) -> U) -> BTreeMap<String, U> {
    map.iter().map(|(name, value)| (name.clone(), text(value))).collect()
}

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
        let scorer = |ScorerPlan { name, metrics, params }: &ScorerPlan| ScorerText {
            name: name.clone(),
            metrics: metrics_text(metrics),
            params: (**params).clone(),
        };
        let Json::Object(errors) = self.errors.to_json() else {
            return Err(Error::custom("errors are no map"));
        };
        let text = PlanText {
            scorers: self.scorers.iter().map(scorer).collect(),
            metrics: self.task_metrics.as_ref().map(metrics_text),
            reducers: reducers_text(&self.reducers),
            seed: self.seed,
            max_draws: self.max_draws,
            headline: self.headline.clone(),
            errors,
            default_metrics: by_name(&self.default_metrics, metrics_text),
            only: self.only.clone(),
            scorer_reducers: by_name(&self.scorer_reducers, reducers_text),
            order: self.order,
        };
        let unset = json!(PlanText::default());
        let mut text = json!(text);
        if let Json::Object(fields) = &mut text {
            fields.retain(|key, value| unset.get(key) != Some(value));
        }
        Ok(text.to_string())
    }

    /// The plan of a text, with metrics and reducers of a registry.
    ///
    /// # Errors
    /// A sentence that names the field and what was expected, and specs that the registry does not know.
    pub fn from_text(text: &str, registry: &Registry) -> Result<Self> {
        let fields = match serde_json::from_str(text) {
            Ok(Json::Object(fields)) => fields,
            Ok(other) => return Err(Error::custom(format!("the plan must be a map, found {other}"))),
            Err(error) => {
                return Err(Error::custom(format!("the text of a plan must be JSON: {error}")));
            }
        };
        let read = |fields: Map<String, Json>| serde_json::from_value::<PlanText>(fields.into());
        for (key, value) in &fields {
            read(Map::from_iter([(key.clone(), value.clone())]))
                .map_err(|problem| Error::custom(format!("`{key}` of the plan: {problem}")))?;
        }
        let mut headline = fields.get("headline").and_then(Json::as_object).into_iter().flat_map(Map::keys);
        let parts = ["scorer", "score", "metric", "reducer"];
        if let Some(unknown) = headline.find(|key| !parts.contains(&key.as_str())) {
            return Err(Error::custom(format!("`headline` of the plan: unknown field `{unknown}`")));
        }
        let text = read(fields).map_err(|problem| Error::custom(problem.to_string()))?;
        let metrics = |specs: MetricsSpec| registry.metrics(&specs);
        let reducers = |specs: ReducersText| {
            let Some(specs) = specs else { return Ok(Reducers::Implicit) };
            let built = specs.iter().map(|spec| registry.reducer(spec));
            built.collect::<Result<_>>().map(Reducers::explicit)
        };
        let scorer = |ScorerText { name, metrics, params }: ScorerText| {
            Ok(ScorerPlan { name, metrics: registry.metrics(&metrics)?, params: params.into() })
        };
        let default_metrics = text.default_metrics.into_iter();
        let scorer_reducers = text.scorer_reducers.into_iter();
        Ok(Plan {
            scorers: text.scorers.into_iter().map(scorer).collect::<Result<_>>()?,
            task_metrics: text.metrics.map(metrics).transpose()?,
            reducers: reducers(text.reducers)?,
            seed: text.seed,
            max_draws: text.max_draws,
            headline: text.headline,
            errors: ErrorPlan::from_json(&text.errors.into())
                .map_err(|problem| Error::custom(format!("`errors`: {problem}")))?,
            default_metrics: default_metrics
                .map(|(name, specs)| Ok((name, metrics(specs)?)))
                .collect::<Result<_>>()?,
            only: text.only,
            scorer_reducers: scorer_reducers
                .map(|(name, specs)| Ok((name, reducers(specs)?)))
                .collect::<Result<_>>()?,
            order: text.order,
        })
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
    pub(crate) fn computed_metrics(&self) -> impl Iterator<Item = &Arc<dyn Metric>> {
        let of_others = self.default_metrics.values().filter(|_| self.task_metrics.is_none());
        self.own_metrics().chain(of_others.flat_map(Metrics::iter))
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
        let of_metrics = self.computed_metrics().map(|metric| metric.metadata_keys());
        of_metrics.fold(self.metadata_keys(), MetadataKeys::and)
    }

    /// The parts of scores that figures may depend on.
    pub(crate) fn visible_parts(&self) -> ScoreParts {
        let of_metrics = self.computed_metrics().map(|metric| metric.score_parts());
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
        is_custom || errors.early_stop.is_some() || self.computed_metrics().any(depends)
    }
}
