//! The plan that a log records, to compute its results again; and the record of a plan.

use std::sync::Arc;

use errorbar_core::metrics::{mean, perplexity_per_seq, perplexity_per_token, stderr};
use errorbar_core::spec::{Arg, MetricItem as ItemSpec, MetricsSpec, SEED, Spec, without_own_package};
use errorbar_core::{
    Error, ErrorPlan, HeadlineRequest, IndexMap, Metric, MetricItem, MetricMap, Metrics, Plan, Reducers,
    Registry, ScorerPlan, metrics,
};
use serde_json::{Value as Json, json};

use super::error::{LogErrorKind, Result};
use super::header::{EvalInfo, Header};

/// The package under which logs know the built-in metrics.
const BUILT_IN: &str = "inspect_ai";
/// The arguments that hold a conversion, which is a function and has no representation in a log.
const CONVERSIONS: [&str; 2] = ["to_float", "value_to_float"];

/// The conversion that stands in for one that cannot be known. Leaving the argument out would not do: there
/// are metrics that do not convert by default.
const DEFAULT_CONVERSION: &str = "value_to_float";

/// What a reader of recomputed results should know about what the log records.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum LogWarning {
    /// A metric that is not registered is skipped.
    #[error("the metric `{metric}` {} is not registered and is skipped", of(scorer))]
    Unregistered {
        /// The metric, as the log names it.
        metric: String,
        /// The scorer, unless the task records it.
        scorer: Option<String>,
        /// The name nearest to it, if it is in our own package.
        nearest: Option<String>,
    },
    /// A metric that cannot be built is skipped.
    #[error("the metric `{metric}` {} is skipped: {error}", of(scorer))]
    Unusable {
        /// The metric, as the log names it.
        metric: String,
        /// The scorer, unless the task records it.
        scorer: Option<String>,
        /// Why.
        error: Error,
    },
    /// A conversion is recorded by a name only, so the default one takes its place.
    #[error(
        "`{argument}` of the metric `{metric}` is recorded by a name only ({recorded}): the default conversion takes its \
         place"
    )]
    ConversionByName {
        /// The metric.
        metric: String,
        /// The argument.
        argument: String,
        /// What the log records.
        recorded: String,
    },
    /// How errors are computed cannot be understood; the default takes its place.
    #[error(
        "`errors` of the log's configuration cannot be read, so errors are computed by default: {problem}"
    )]
    ErrorPlan {
        /// Why.
        problem: String,
    },
    /// The metrics of a scorer or the task cannot be understood and are skipped.
    #[error("the metrics {} are skipped: {problem}", of(scorer))]
    Unreadable {
        /// The scorer, unless the task records them.
        scorer: Option<String>,
        /// Why.
        problem: String,
    },
}

fn of(scorer: &Option<String>) -> String {
    scorer.as_ref().map_or("of the task".to_owned(), |scorer| format!("of the scorer `{scorer}`"))
}

/// The plan that a log records: scorers with their metrics, the metrics of the task, reducers, how errors are computed,
/// and the seed of random figures where one is recorded.
///
/// # Errors
/// A reducer that is not registered, as nothing computed without it would mean what the log records.
///
/// ```
/// use errorbar_core::Registry;
/// use errorbar_log::eval::*;
/// use serde_json::json;
/// let mut scorer = ScorerInfo::new("match");
/// scorer.metrics = Some(json!([{"name": "inspect_ai/accuracy", "options": {}}, {"name": "my/own", "options": {}}]));
/// let mut eval = EvalInfo::new("quiz", "mockllm/model");
/// eval.scorers = Some(vec![scorer]);
/// let header = Header::started(StartRecord::new(eval, PlanRecord::default()));
/// let (plan, warnings) = plan_from_header(&header, &Registry::built_in())?;
/// assert_eq!(plan.scorers[0].metrics.iter().count(), 1);
/// assert!(matches!(&warnings[0], LogWarning::Unregistered { metric, .. } if metric == "my/own"));
/// # Ok::<(), LogError>(())
/// ```
pub fn plan_from_header(header: &Header, registry: &Registry) -> Result<(Plan, Vec<LogWarning>)> {
    let mut builder = PlanBuilder { registry, warnings: Vec::new(), figures: MetricCounter::new(header) };
    let mut plan = Plan::new();
    // The metrics of the task are recorded with every scorer too. Where those of a scorer were changed,
    // they count, and a scorer without any has no results.
    let scorers = || header.eval.scorers.iter().flatten();
    let task_metrics = header.eval.metrics.as_ref().filter(|metrics| !metrics.is_null());
    let is_changed = task_metrics.is_some()
        && scorers().any(|scorer| scorer.metrics.is_some() && scorer.metrics.as_ref() != task_metrics);
    if let Some(metrics) = task_metrics.filter(|_| !is_changed) {
        plan.task_metrics = builder.metrics(metrics, None)?;
    }
    for scorer in scorers() {
        let metrics = match (&plan.task_metrics, &scorer.metrics) {
            // One warning about each of them is enough.
            (Some(metrics), _) => {
                builder.figures.add(metrics.iter().count())?;
                metrics.clone()
            }
            (None, Some(metrics)) => {
                builder.metrics(metrics, Some(&scorer.name))?.unwrap_or(Metrics::List(Vec::new()))
            }
            (None, None) if is_changed => Metrics::List(Vec::new()),
            // Nothing is recorded, so the engine chooses as it does for scores found without a scorer.
            (None, None) => continue,
        };
        // A scorer without metrics is work as well.
        builder.figures.add(1)?;
        let params = scorer.options.clone().unwrap_or_default();
        plan.scorers.push(ScorerPlan { name: scorer.name.clone(), metrics, params });
    }
    plan.reducers = match &header.eval.config.epochs_reducer {
        None => Reducers::Implicit,
        Some(names) => {
            let reducer = |name: &String| registry.reducer(&name.parse::<Spec>().map_err(Error::from)?);
            Reducers::explicit(
                names
                    .iter()
                    .map(reducer)
                    .collect::<std::result::Result<_, _>>()
                    .map_err(LogErrorKind::Core)?,
            )
        }
    };
    plan.headline = headline(header);
    plan.seed = recorded_seed(header).unwrap_or(plan.seed);
    plan.max_draws = Some(MAX_DRAWS);
    plan.default_metrics = scorer_metrics();
    match recorded_errors(&header.eval) {
        Ok(errors) => plan.errors = errors,
        Err(problem) => builder.warnings.push(LogWarning::ErrorPlan { problem }),
    }
    Ok((plan, builder.warnings))
}

/// The number of values that the random figures of a log may draw together: a second or two of work.
const MAX_DRAWS: u64 = 2_000_000_000;
/// The most metrics, over all scorers and reducers, that a log may record. Those who evaluate models record dozens.
pub const MAX_METRICS: usize = 10_000;

/// Counts the metrics that a log records.
struct MetricCounter {
    reducers: usize,
    count: usize,
}

impl MetricCounter {
    fn new(header: &Header) -> Self {
        let reducers = header.eval.config.epochs_reducer.as_ref().map_or(1, Vec::len);
        MetricCounter { reducers: reducers.max(1), count: 0 }
    }

    fn add(&mut self, metrics: usize) -> Result<()> {
        self.count = self.count.saturating_add(metrics.saturating_mul(self.reducers));
        match self.count > MAX_METRICS {
            true => Err(LogErrorKind::TooMany { what: "metrics", limit: MAX_METRICS }.into()),
            false => Ok(()),
        }
    }
}

fn headline(header: &Header) -> Option<HeadlineRequest> {
    let wanted = header.eval.extra.get("headline_metric")?.as_object()?;
    let get = |key: &str| wanted.get(key).and_then(Json::as_str).map(str::to_owned);
    Some(HeadlineRequest {
        scorer: get("scorer"),
        score: get("score"),
        metric: get("metric"),
        reducer: get("reducer"),
    })
}

/// The seed of the run; a metric with its own seed has it beside its options.
fn recorded_seed(header: &Header) -> Option<u64> {
    header.eval.config.extra.get("seed")?.as_u64()
}

/// Where the options of a run record how errors are computed.
pub const ERRORS: &str = "errors";

/// How a log records that errors are computed; the default if it does not.
///
/// # Errors
/// A sentence on what is invalid about it.
pub fn recorded_errors(eval: &EvalInfo) -> std::result::Result<ErrorPlan, String> {
    match eval.config.extra.get(ERRORS) {
        None | Some(Json::Null) => Ok(ErrorPlan::new()),
        Some(recorded) => ErrorPlan::from_json(recorded),
    }
}

/// The metrics that scorers of the reference bring, by the name of the scorer, where they are not accuracy and stderr:
/// for scores whose scorer is not recorded.
///
/// ```
/// assert_eq!(errorbar_log::eval::scorer_metrics()["f1"].iter().count(), 2);
/// ```
pub fn scorer_metrics() -> IndexMap<String, Metrics> {
    let means = || metrics![mean(), stderr()];
    let perplexities = || metrics![perplexity_per_token(), perplexity_per_seq()];
    let of_scorers: [(&str, Metrics); 4] = [
        ("exact", means()),
        ("f1", means()),
        ("perplexity", perplexities()),
        ("target_perplexity", perplexities()),
    ];
    of_scorers.into_iter().map(|(scorer, metrics)| (scorer.to_owned(), metrics)).collect()
}

struct PlanBuilder<'a> {
    registry: &'a Registry,
    warnings: Vec<LogWarning>,
    figures: MetricCounter,
}

impl PlanBuilder<'_> {
    fn metrics(&mut self, logged: &Json, scorer: Option<&str>) -> Result<Option<Metrics>> {
        if logged.is_null() {
            return Ok(None);
        }
        let specs = MetricsSpec::from_log_json(logged);
        if let Ok(specs) = &specs {
            self.figures.add(specs.iter().count())?;
        }
        Ok(match specs {
            Ok(MetricsSpec::Map(map)) => Some(Metrics::Map(self.map(map, scorer))),
            Ok(MetricsSpec::List(items)) => {
                let item = |item| match item {
                    ItemSpec::Metric(spec) => self.metric(spec, scorer).map(MetricItem::Metric),
                    ItemSpec::Map(map) => Some(MetricItem::Map(self.map(map, scorer))),
                };
                Some(Metrics::List(items.into_iter().filter_map(item).collect()))
            }
            Err(error) => {
                let scorer = scorer.map(str::to_owned);
                self.warnings.push(LogWarning::Unreadable { scorer, problem: error.to_string() });
                None
            }
        })
    }

    fn map(&mut self, map: errorbar_core::spec::MetricMap, scorer: Option<&str>) -> MetricMap {
        map.into_iter()
            .map(|(glob, specs)| {
                (glob, specs.into_iter().filter_map(|spec| self.metric(spec, scorer)).collect())
            })
            .collect()
    }

    fn metric(&mut self, mut spec: Spec, scorer: Option<&str>) -> Option<Arc<dyn Metric>> {
        self.read_conversions(&mut spec);
        let metric = spec.qualified_name().into_owned();
        let scorer = scorer.map(str::to_owned);
        match self.registry.metric(&spec) {
            Ok(metric) => return Some(metric),
            Err(Error::UnknownName { kind: "metric", name, nearest }) if name == spec.log_name() => {
                // For a metric of another package, a name of ours is no help.
                let is_own = without_own_package(&name) != name;
                let nearest = nearest.filter(|_| is_own);
                self.warnings.push(LogWarning::Unregistered { metric, scorer, nearest });
            }
            Err(error) => self.warnings.push(LogWarning::Unusable { metric, scorer, error }),
        }
        None
    }

    /// We record conversions as the string of their spec, others by some name. Nested metrics
    /// have them too.
    fn read_conversions(&mut self, spec: &mut Spec) {
        let metric = spec.log_name().into_owned();
        for (name, arg) in &mut spec.kwargs {
            if !CONVERSIONS.contains(&name.as_str()) {
                if let Arg::Spec(nested) = arg {
                    self.read_conversions(nested);
                }
                continue;
            }
            let (written, recorded) = match &*arg {
                Arg::Null => continue,
                Arg::Str(text) => (text.parse::<Spec>().ok(), text.clone()),
                Arg::Spec(spec) => (Some(spec.clone()), spec.to_string()),
                other => (None, other.kind().to_owned()),
            };
            let known = written.filter(|spec| self.registry.conversion(spec).is_ok());
            let default = || {
                let (metric, argument) = (metric.clone(), name.clone());
                self.warnings.push(LogWarning::ConversionByName { metric, argument, recorded });
                Spec::new(DEFAULT_CONVERSION)
            };
            *arg = Arg::Spec(known.unwrap_or_else(default));
        }
    }
}

/// Metrics as logs record them: a list of `{name, options}` with maps among them, or one map. The registry
/// knows which are built in and go by the package of the reference.
///
/// ```
/// use errorbar_core::metrics::{accuracy, stderr};
/// use errorbar_core::{Registry, metrics};
/// use serde_json::json;
/// let logged = errorbar_log::eval::metrics_to_log(
///     &metrics![accuracy(), {"a*": [stderr().cluster("id")]}],
///     &Registry::built_in(),
/// );
/// assert_eq!(logged, json!([
///     {"name": "inspect_ai/accuracy", "options": {}},
///     {"a*": [{"name": "inspect_ai/stderr", "options": {"cluster": "id"}}]},
/// ]));
/// ```
pub fn metrics_to_log(metrics: &Metrics, registry: &Registry) -> Json {
    let metric = |metric: &Arc<dyn Metric>| {
        let mut spec = metric.spec();
        let is_built_in =
            || registry.list_metrics().any(|listing| listing.built_in && listing.name == spec.name);
        if spec.package.is_none() && is_built_in() {
            spec.package = Some(BUILT_IN.to_owned());
        }
        let mut logged = json!({"name": spec.qualified_name(), "options": metric.params()});
        // Not among the options, where the reference would refuse it.
        if let (Some(seed), Some(logged)) = (spec.kwargs.get(SEED), logged.as_object_mut()) {
            logged.insert(SEED.to_owned(), seed.to_log_json(SEED));
        }
        logged
    };
    let map = |map: &MetricMap| -> Json {
        map.iter()
            .map(|(glob, metrics)| (glob.clone(), metrics.iter().map(metric).collect::<Json>()))
            .collect()
    };
    match metrics {
        Metrics::Map(patterns) => map(patterns),
        Metrics::List(items) => items
            .iter()
            .map(|item| match item {
                MetricItem::Metric(one) => metric(one),
                MetricItem::Map(patterns) => map(patterns),
            })
            .collect(),
    }
}
