//! The plan that a log records, to compute its results again; and the record of a plan.

use std::collections::HashSet;
use std::sync::Arc;

use errorbar_core::engine::unique_names;
use errorbar_core::spec::{Arg, MetricItem as ItemSpec, MetricsSpec, SEED, Spec, without_own_package};
use errorbar_core::{
    Error, ErrorPlan, IndexMap, Metric, MetricItem, MetricMap, Metrics, Plan, Reducer, Reducers, Registry,
    ScorerPlan,
};
use serde_json::{Map, Value as Json, json};

use super::error::{LogErrorKind, Result};
use super::header::{EvalInfo, Header};
use super::log_summary::recorded_early_stop;
use super::unavailable::Unavailable;
use crate::inspect::{IMPLIED_REDUCER, has_groups, is_grouped, metric_name, scorer_metrics};
use crate::recorded::RecordedBlock;

/// The package under which logs know the built-in metrics.
const BUILT_IN: &str = "inspect_ai";
/// The package of those that only errorbar has.
const OWN: &str = "errorbar";
/// The arguments that hold a conversion, which is a function and has no representation in a log.
const CONVERSIONS: [&str; 2] = ["to_float", VALUE_TO_FLOAT];
const VALUE_TO_FLOAT: &str = "value_to_float";

/// The conversion that stands in for one that cannot be known, to find the names of figures; no figure is shown. Leaving
/// the argument out would not do: there are metrics that do not convert by default.
const DEFAULT_CONVERSION: &str = VALUE_TO_FLOAT;

/// What a reader of recomputed results should know about what the log records.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum LogWarning {
    /// A metric that is not registered: its figures are undefined.
    #[error("the metric `{metric}` {} is not registered: its figures are undefined", of(scorer))]
    Unregistered {
        /// The metric, as the log names it.
        metric: String,
        /// The scorer, unless the task records it.
        scorer: Option<String>,
        /// The name nearest to it, if it is in our own package.
        nearest: Option<String>,
    },
    /// A metric that cannot be built: its figures are undefined.
    #[error("the metric `{metric}` {} cannot be built, so its figures are undefined: {error}", of(scorer))]
    Unusable {
        /// The metric, as the log names it.
        metric: String,
        /// The scorer, unless the task records it.
        scorer: Option<String>,
        /// Why.
        error: Error,
    },
    /// A conversion is recorded by a name only, so the figures that depend on it are undefined.
    #[error("{0}: its figures are undefined")]
    ConversionByName(NamedConversion),
    /// A reducer was given a conversion that is not recorded: the reduced scores in the log are not those of the default
    /// one, so the figures of the scorer are undefined.
    #[error(
        "the log does not record the conversion of the reducer {reducer} of the scorer `{scorer}` (the reduced scores in it \
         are not those of the default one): its figures are undefined"
    )]
    ReducerConversion {
        /// The scorer.
        scorer: String,
        /// The reducer.
        reducer: String,
    },
    /// How errors are computed cannot be understood; the default takes its place.
    #[error(
        "`errors` of the log's configuration cannot be read, so errors are computed by default: {problem}"
    )]
    ErrorPlan {
        /// Why.
        problem: String,
    },
    /// How the run was stopped early cannot be understood, so that intervals do not allow for it.
    #[error(
        "`stopped_early` of the log's configuration cannot be read, so that intervals do not allow for it: {problem}"
    )]
    EarlyStop {
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

/// A conversion that is recorded by a name only.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{argument}` of the metric `{metric}` is recorded by a name only ({recorded})")]
#[non_exhaustive]
pub struct NamedConversion {
    /// The metric.
    pub metric: String,
    /// The argument.
    pub argument: String,
    /// What the log records.
    pub recorded: String,
}

impl LogWarning {
    /// The scorer whose metrics it is about, unless these are of the task.
    pub(super) fn scorer(&self) -> Option<&str> {
        match self {
            LogWarning::Unregistered { scorer, .. }
            | LogWarning::Unusable { scorer, .. }
            | LogWarning::Unreadable { scorer, .. } => scorer.as_deref(),
            _ => None,
        }
    }

    /// Whether it is about how errors and intervals are computed, and not about a metric.
    pub fn is_of_errors(&self) -> bool {
        matches!(
            self,
            LogWarning::ErrorPlan { .. }
                | LogWarning::EarlyStop { .. }
                | LogWarning::ReducerConversion { .. }
        )
    }
}

fn of(scorer: &Option<String>) -> String {
    scorer.as_ref().map_or("of the task".to_owned(), |scorer| format!("of the scorer `{scorer}`"))
}

/// The plan that a log records: scorers with their metrics, the metrics of the task, reducers, how errors are computed,
/// and the seed of random figures where one is recorded. A scorer whose recorded results have other reducers than the
/// header, or were not reduced, keeps its own: the header names those of the last scoring.
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
/// assert_eq!(plan.scorers[0].metrics.iter().count(), 2, "the figure of the other is undefined");
/// assert!(matches!(&warnings[0], LogWarning::Unregistered { metric, .. } if metric == "my/own"));
/// # Ok::<(), LogError>(())
/// ```
pub fn plan_from_header(header: &Header, registry: &Registry) -> Result<(Plan, Vec<LogWarning>)> {
    let RecordedPlan { plan, warnings, unknown_reducers, .. } = RecordedPlan::new(header, registry)?;
    match unknown_reducers.into_iter().next() {
        Some((_, error)) => Err(LogErrorKind::Core(error).into()),
        None => Ok((plan, warnings)),
    }
}

/// The plan that a log records, and what of it cannot be built.
#[derive(Debug)]
pub(super) struct RecordedPlan {
    /// With the reducers that are registered.
    pub(super) plan: Plan,
    pub(super) warnings: Vec<LogWarning>,
    /// Reducers that are not registered, by name.
    pub(super) unknown_reducers: Vec<(String, Error)>,
    /// The scorers whose metrics only the results have, by name.
    pub(super) by_name: HashSet<String>,
}

impl RecordedPlan {
    pub(super) fn new(header: &Header, registry: &Registry) -> Result<Self> {
        let mut builder = PlanBuilder {
            registry,
            header,
            // Of a log without scorers there is nothing whose figures could be undefined.
            keeps_unavailable: header.eval.scorers.is_some() || header.results.is_some(),
            warnings: Vec::new(),
            figures: MetricCounter::new(header),
            is_of_reference: is_of_reference(&header.eval),
        };
        let (mut plan, mut by_name) = (Plan::new(), HashSet::new());
        // The metrics of the task are recorded with every scorer too. Where those of a scorer were changed,
        // they count, and a scorer without any has no results.
        let scorers = || header.eval.scorers.iter().flatten();
        let names = unique_names(scorers().map(|scorer| scorer.name.as_str()));
        let task_metrics = header.eval.metrics.as_ref().filter(|metrics| !metrics.is_null());
        let is_changed = task_metrics.is_some_and(|task| {
            scorers().any(|scorer| scorer.metrics.as_ref().is_some_and(|metrics| metrics != task))
                && !task_metrics_were_computed(header, task)
        });
        if let Some(metrics) = task_metrics.filter(|_| !is_changed) {
            plan.task_metrics = builder.metrics(metrics, None)?;
        }
        for (scorer, name) in scorers().zip(&names) {
            let metrics = match (&plan.task_metrics, &scorer.metrics) {
                // One warning about each of them is enough.
                (Some(metrics), _) => {
                    builder.figures.add(metrics.iter().count())?;
                    metrics.clone()
                }
                (None, Some(metrics)) => {
                    builder.metrics(metrics, Some(name))?.unwrap_or(Metrics::List(Vec::new()))
                }
                (None, None) if is_changed => Metrics::List(Vec::new()),
                (None, None) => match metrics_by_name(header, name, registry) {
                    Some(metrics) => {
                        by_name.insert(name.clone());
                        builder.metrics_by_name(&metrics, name)?
                    }
                    // Nothing is recorded, so the engine chooses as it does for scores found without a scorer.
                    None => continue,
                },
            };
            // A scorer without metrics is work as well.
            builder.figures.add(1)?;
            let params = scorer.options.clone().unwrap_or_default();
            plan.scorers.push(ScorerPlan { name: scorer.name.clone(), metrics, params });
        }
        for block in scorers_with_results(header).into_iter().filter(|block| !names.contains(&block.scorer)) {
            let Some(metrics) = metrics_by_name(header, &block.scorer, registry) else { continue };
            let metrics = builder.metrics_by_name(&metrics, &block.scorer)?;
            builder.figures.add(1)?;
            by_name.insert(block.scorer.clone());
            let (name, params) = (block.scorer.clone(), block.params.clone());
            plan.scorers.push(ScorerPlan { name, metrics, params });
            // The others have them each.
            plan.task_metrics = None;
        }
        let unknown_reducers = set_reducers(&mut plan, header, registry);
        plan.scorer_reducers = scorer_reducers(&plan.reducers, header, registry);
        builder.figures.add_scorers(&plan)?;
        plan.headline = header.eval.headline_request();
        plan.seed = recorded_seed(header).unwrap_or(plan.seed);
        plan.max_draws = Some(MAX_DRAWS);
        plan.default_metrics = scorer_metrics();
        match recorded_errors(&header.eval) {
            Ok(errors) => plan.errors = errors,
            Err(problem) => builder.warnings.push(LogWarning::ErrorPlan { problem }),
        }
        match recorded_early_stop(&header.eval) {
            Ok(stop) => plan.errors.early_stop = stop.map(Arc::new),
            Err(problem) => builder.warnings.push(LogWarning::EarlyStop { problem }),
        }
        Ok(RecordedPlan { plan, warnings: builder.warnings, unknown_reducers, by_name })
    }
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
        self.add_figures(metrics.saturating_mul(self.reducers))
    }

    /// Counts the metrics of scorers under reducers of their own.
    fn add_scorers(&mut self, plan: &Plan) -> Result<()> {
        let names = unique_names(plan.scorers.iter().map(|scorer| scorer.name.as_str()));
        names.iter().zip(&plan.scorers).try_for_each(|(name, scorer)| {
            let reducers = plan.scorer_reducers.get(name).and_then(Reducers::log_names);
            self.add_figures(reducers.map_or(0, |names| scorer.metrics.iter().count() * names.len()))
        })
    }

    fn add_figures(&mut self, figures: usize) -> Result<()> {
        self.count = self.count.saturating_add(figures);
        match self.count > MAX_METRICS {
            true => Err(LogErrorKind::TooMany { what: "metrics", limit: MAX_METRICS }.into()),
            false => Ok(()),
        }
    }
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
pub fn recorded_errors(eval: &EvalInfo) -> Result<ErrorPlan, String> {
    match eval.config.extra.get(ERRORS) {
        None | Some(Json::Null) => Ok(ErrorPlan::new()),
        Some(recorded) => ErrorPlan::from_json(recorded),
    }
}

struct PlanBuilder<'a> {
    registry: &'a Registry,
    header: &'a Header,
    /// Whether a metric that cannot be computed has undefined figures, and is not skipped.
    keeps_unavailable: bool,
    warnings: Vec<LogWarning>,
    figures: MetricCounter,
    /// The reference names the package of every built-in metric, so a name alone is that of a custom one.
    is_of_reference: bool,
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

    /// Metrics of a scorer that only its results have.
    fn metrics_by_name(&mut self, metrics: &Json, scorer: &str) -> Result<Metrics> {
        Ok(self.metrics(metrics, Some(scorer))?.unwrap_or(Metrics::List(Vec::new())))
    }

    fn map(&mut self, map: errorbar_core::spec::MetricMap, scorer: Option<&str>) -> MetricMap {
        map.into_iter()
            .map(|(glob, specs)| {
                (glob, specs.into_iter().filter_map(|spec| self.metric(spec, scorer)).collect())
            })
            .collect()
    }

    fn metric(&mut self, recorded: Spec, scorer: Option<&str>) -> Option<Arc<dyn Metric>> {
        let mut spec = recorded.clone();
        let mut unknown = Vec::new();
        self.read_conversions(&mut spec, 0, &mut unknown);
        let metric = spec.qualified_name().into_owned();
        let of_scorer = scorer.map(str::to_owned);
        let is_built_in =
            || self.registry.list_metrics().any(|listing| listing.built_in && listing.name == spec.name);
        if self.is_of_reference && spec.package.is_none() && is_built_in() {
            self.warnings.push(LogWarning::Unregistered { metric, scorer: of_scorer, nearest: None });
            return self.unavailable(recorded, scorer, "not registered".to_owned());
        }
        match self.registry.metric(&spec) {
            Ok(built) => self.converted(built, recorded, scorer, unknown),
            Err(Error::UnknownName { kind: "metric", name, nearest }) if name == spec.log_name() => {
                // For a metric of another package, a name of ours is no help.
                let is_own = without_own_package(&name) != name;
                let nearest = nearest.filter(|_| is_own);
                self.warnings.push(LogWarning::Unregistered { metric, scorer: of_scorer, nearest });
                self.unavailable(recorded, scorer, "not registered".to_owned())
            }
            Err(error) => {
                let reason = error.to_string();
                self.warnings.push(LogWarning::Unusable { metric, scorer: of_scorer, error });
                self.unavailable(recorded, scorer, reason)
            }
        }
    }

    /// A metric, unless its figures depend on a conversion that is known by its name only.
    fn converted(
        &mut self,
        built: Arc<dyn Metric>,
        recorded: Spec,
        scorer: Option<&str>,
        unknown: Vec<(usize, NamedConversion)>,
    ) -> Option<Arc<dyn Metric>> {
        // That of groups is for the mean over them.
        let is_of_aggregate = |(depth, unknown): &(usize, NamedConversion)| {
            *depth == 0 && unknown.argument == VALUE_TO_FLOAT && is_grouped(&recorded)
        };
        let is_aggregate_only = unknown.iter().all(is_of_aggregate);
        let is_over_groups = || matches!(recorded.kwargs.get("all"), Some(Arg::Str(all)) if all == "groups");
        let Some((_, first)) = unknown.first().filter(|_| !is_aggregate_only || is_over_groups()) else {
            return Some(built);
        };
        let reason = format!("`{}` is recorded by a name only ({})", first.argument, first.recorded);
        self.warnings.extend(unknown.into_iter().map(|(_, unknown)| LogWarning::ConversionByName(unknown)));
        let unavailable = || {
            let metric = Unavailable::new(self.header, scorer, recorded, reason);
            Arc::new(metric.built(built, is_aggregate_only)) as Arc<dyn Metric>
        };
        self.keeps_unavailable.then(unavailable)
    }

    /// A metric that cannot be computed.
    fn unavailable(&self, spec: Spec, scorer: Option<&str>, reason: String) -> Option<Arc<dyn Metric>> {
        let unavailable = || Arc::new(Unavailable::new(self.header, scorer, spec, reason)) as Arc<dyn Metric>;
        self.keeps_unavailable.then(unavailable)
    }

    /// We record conversions as the string of their spec, others by some name: these are collected, with the number of
    /// metrics that theirs is nested in.
    fn read_conversions(&self, spec: &mut Spec, depth: usize, unknown: &mut Vec<(usize, NamedConversion)>) {
        let metric = spec.log_name().into_owned();
        for (name, arg) in &mut spec.kwargs {
            if !CONVERSIONS.contains(&name.as_str()) {
                if let Arg::Spec(nested) = arg {
                    self.read_conversions(nested, depth + 1, unknown);
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
            if known.is_none() {
                let (metric, argument) = (metric.clone(), name.clone());
                unknown.push((depth, NamedConversion { metric, argument, recorded }));
            }
            *arg = Arg::Spec(known.unwrap_or_else(|| Spec::new(DEFAULT_CONVERSION)));
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
        let listing = registry.list_metrics().find(|listing| listing.name == spec.name);
        if let (None, Some(listing)) = (&spec.package, listing.filter(|listing| listing.built_in)) {
            spec.package = Some(if listing.is_own(&spec) { OWN } else { BUILT_IN }.to_owned());
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

// What the results of a log show about its plan, where the header does not record it or records something else.
//
// Versions of the reference differ in that: the first ones record no scorers at all, re-scoring adds blocks of scorers
// that the header does not have, and up to 0.3.139 the metrics of a task stand beside those of the scorers, though only
// the task's were computed.

/// The first version that records with every scorer the metrics that were computed, that computes something where reduction
/// is disabled, and that treats unscored samples as we do. (Found with 0.3.120 and 0.3.140.)
const COMPUTED_METRICS: [u32; 3] = [0, 3, 140];

/// Whether the reference wrote a log.
fn is_of_reference(eval: &EvalInfo) -> bool {
    eval.packages.contains_key(BUILT_IN) && !eval.packages.contains_key(OWN)
}

/// The version of the reference that wrote a log, if it is one that records other metrics with scorers than it computed.
pub(crate) fn version_before_computed_metrics(eval: &EvalInfo) -> Option<&str> {
    let version = eval.packages.get(BUILT_IN).filter(|_| is_of_reference(eval))?;
    let mut numbers = version.split('.').map(|part| part.parse().unwrap_or(0));
    let numbers: [u32; 3] = [(); 3].map(|()| numbers.next().unwrap_or(0));
    (numbers < COMPUTED_METRICS).then_some(version)
}

fn blocks(header: &Header) -> &[RecordedBlock] {
    header.results.as_ref().map_or(&[], |results| results.scores.as_slice())
}

/// Whether the metrics of the task were computed, where those of a scorer are recorded and are others: whichever has more
/// of the recorded figures, else what the version of the reference did.
fn task_metrics_were_computed(header: &Header, task: &Json) -> bool {
    let figures = blocks(header).iter().flat_map(|block| block.metrics.values());
    let recorded: HashSet<&str> = figures.map(|figure| without_package(metric_name(figure))).collect();
    let hits = |metrics: &Json| {
        let mut names = HashSet::new();
        collect_names(metrics, &mut names);
        recorded.intersection(&names).count()
    };
    let of_scorers = header.eval.scorers.iter().flatten().filter_map(|scorer| scorer.metrics.as_ref());
    let (of_task, of_scorers) = (hits(task), of_scorers.map(hits).max().unwrap_or(0));
    of_task > of_scorers || of_task == of_scorers && version_before_computed_metrics(&header.eval).is_some()
}

/// The names of logged metrics, without packages.
fn collect_names<'a>(metrics: &'a Json, names: &mut HashSet<&'a str>) {
    match metrics {
        Json::Array(items) => items.iter().for_each(|item| collect_names(item, names)),
        Json::Object(fields) => match fields.get("name") {
            Some(Json::String(name)) => drop(names.insert(without_package(name))),
            _ => fields.values().for_each(|items| collect_names(items, names)),
        },
        _ => {}
    }
}

/// The scorers that have results, in their order, and the arguments of each.
fn scorers_with_results(header: &Header) -> Vec<&RecordedBlock> {
    let mut seen = HashSet::new();
    blocks(header).iter().filter(|block| seen.insert(block.scorer.as_str())).collect()
}

/// The metrics of a scorer as logs record them, by the names and arguments of its figures; none if it has no block.
///
/// A name is that of the built-in metric, if there is one: before 0.3.62 nothing else is recorded.
fn metrics_by_name(header: &Header, scorer: &str, registry: &Registry) -> Option<Json> {
    let (mut list, mut by_key) = (Vec::new(), Map::new());
    let mut has_block = false;
    for block in blocks(header).iter().filter(|block| block.scorer == scorer) {
        has_block = true;
        if block.name != scorer {
            // The blocks of other reducers have the same metrics.
            by_key.entry(block.name.clone()).or_insert_with(|| Json::Array(calls(block, registry)));
        } else if list.is_empty() {
            list = calls(block, registry);
        }
    }
    if list.is_empty() && !by_key.is_empty() {
        return Some(Json::Object(by_key));
    }
    if !by_key.is_empty() {
        list.push(Json::Object(by_key));
    }
    has_block.then_some(Json::Array(list))
}

/// The metrics of a block. A metric of several figures, which are recorded one after the other, is one.
fn calls(block: &RecordedBlock, registry: &Registry) -> Vec<Json> {
    let mut calls: Vec<Json> = Vec::new();
    for figure in block.metrics.values() {
        let name = metric_name(figure);
        let is_built_in = registry.list_metrics().any(|listing| listing.built_in && listing.name == name);
        let name = if is_built_in { format!("{BUILT_IN}/{name}") } else { name.to_owned() };
        let call = json!({"name": name, "options": figure.params});
        let is_one_of_several = figure.group.is_some() || has_groups(figure);
        if !is_one_of_several || calls.last() != Some(&call) {
            calls.push(call);
        }
    }
    calls
}

/// A name without the package in front of it.
pub(crate) fn without_package(name: &str) -> &str {
    name.rsplit('/').next().unwrap_or(name)
}

// How a log says that epochs were reduced.
//
// The header names the reducers of the last scoring. Scoring again with `append` leaves the blocks of earlier scorers as
// they were, so the blocks of a scorer decide: which reducers they name, and, where they name none, how many scores they
// are of.

/// A reducer by the name that logs have for it.
pub(crate) fn reducer(name: &str, registry: &Registry) -> Result<Arc<dyn Reducer>, Error> {
    registry.reducer(&name.parse::<Spec>().map_err(Error::from)?)
}

/// Sets the reducers that are registered; the others are returned.
pub(super) fn set_reducers(plan: &mut Plan, header: &Header, registry: &Registry) -> Vec<(String, Error)> {
    let mut unknown = Vec::new();
    let Some(names) = &header.eval.config.epochs_reducer else { return unknown };
    // Up to 0.3.240 the reference records the implied mean by name, but not with the results of the first scorer.
    let blocks = || header.results.iter().flat_map(|results| &results.scores);
    if matches!(names.as_slice(), [name] if name == IMPLIED_REDUCER)
        && blocks().any(|block| block.reducer.is_none())
    {
        return unknown;
    }
    let mut known = Vec::with_capacity(names.len());
    for name in names {
        match reducer(name, registry) {
            Ok(reducer) => known.push(reducer),
            Err(error) => unknown.push((name.clone(), error)),
        }
    }
    // Without any that is known, the default is better than none, which would be no reduction at all.
    if !known.is_empty() || names.is_empty() {
        plan.reducers = Reducers::explicit(known);
    }
    unknown
}

/// The reducers of scorers whose recorded results have others than the header.
fn scorer_reducers(planned: &Reducers, header: &Header, registry: &Registry) -> IndexMap<String, Reducers> {
    let mut scorers: IndexMap<&str, Vec<&RecordedBlock>> = IndexMap::new();
    for block in header.results.iter().flat_map(|results| &results.scores) {
        scorers.entry(&block.scorer).or_default().push(block);
    }
    let last = scorers.keys().next_back().copied();
    let own = |(scorer, blocks): (&str, Vec<&RecordedBlock>)| {
        let mut names: Vec<&str> = Vec::new();
        for name in blocks.iter().filter_map(|block| block.reducer.as_deref()) {
            if !names.contains(&name) {
                names.push(name);
            }
        }
        let built: Vec<_> = names.iter().filter_map(|name| reducer(name, registry).ok()).collect();
        let own = match names.is_empty() {
            true => unnamed(planned, header, &blocks),
            // What cannot be built is computed as the header has it.
            false if built.is_empty() => return None,
            false => Reducers::Explicit(built),
        };
        is_other(&own, planned, Some(scorer) == last).then(|| (scorer.to_owned(), own))
    };
    scorers.into_iter().filter_map(own).collect()
}

/// Whether a scorer was scored under other reducers than those of the header.
fn is_other(own: &Reducers, planned: &Reducers, is_last: bool) -> bool {
    let names = |reducers: &Reducers| match reducers {
        Reducers::Implicit => vec![IMPLIED_REDUCER.to_owned()],
        reducers => reducers.log_names().unwrap_or_default(),
    };
    // The mean that is named and the implied one are the same figure; each is shown as it is recorded.
    if matches!((own, planned), (Reducers::Explicit(_), Reducers::Implicit)) {
        return true;
    }
    let (own, planned) = (names(own), names(planned));
    if own.len() == planned.len() {
        // In another order, another one is first.
        return own != planned;
    }
    // The header names the reducers of the last scorer, so that one of its blocks is missing.
    let is_within = own.iter().all(|name| planned.contains(name));
    !(is_last && is_within && !own.is_empty())
}

/// Whether a block has a score for every epoch of a sample, and not one for the sample.
pub(crate) fn is_unreduced(header: &Header, block: &RecordedBlock) -> bool {
    let planned = match header.eval.config.epochs_reducer.as_deref() {
        Some([]) => Reducers::Disabled,
        _ => Reducers::Implicit,
    };
    let several = header.eval.config.epochs.is_some_and(|epochs| epochs > 1);
    several && block.reducer.is_none() && matches!(unnamed(&planned, header, &[block]), Reducers::Disabled)
}

/// How the blocks of a scorer were reduced that name no reducer: by the implied mean, or not at all. Then they have a
/// score for every epoch.
fn unnamed(planned: &Reducers, header: &Header, blocks: &[&RecordedBlock]) -> Reducers {
    let epochs = u64::from(header.eval.config.epochs.unwrap_or(1));
    let results = header.results.as_ref();
    let scores =
        blocks.iter().filter_map(|block| Some(block.scored_samples? + block.unscored_samples.unwrap_or(0)));
    let (Some(results), Some(scores), 2..) = (results, scores.max(), epochs) else {
        return match planned {
            Reducers::Disabled => Reducers::Disabled,
            _ => Reducers::Implicit,
        };
    };
    let ids = header.eval.dataset.sample_ids.as_ref().map(|ids| ids.len() as u64);
    let samples = ids.unwrap_or(results.total_samples / epochs);
    // If most epochs have failed, there may be fewer of them than samples.
    let is_every_epoch = scores > samples || scores == results.completed_samples;
    match planned {
        Reducers::Implicit if scores <= samples => Reducers::Implicit,
        _ if is_every_epoch => Reducers::Disabled,
        _ => Reducers::Implicit,
    }
}
