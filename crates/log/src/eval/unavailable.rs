//! A metric that a log records and that cannot be computed from it: its figures are undefined, with the reason.
//!
//! It has its place among the other metrics, so that their figures have the names and numbers that the log has for them,
//! and where the log records its figures, the reasons say them.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use errorbar_core::spec::{Arg, Spec};
use errorbar_core::{
    EpochReducer, Estimate, FigureNames, IndexMap, Metadata, MetadataKeys, Metric, MetricItem, MetricMap,
    MetricValue, Metrics, Plan, Raters, Reducer, Reducers, RequiredKey, Role, Score, ScoreColumns,
    ScoreParts, Scores, ToSpec, Undefined, Value, Wants,
};
use errorbar_files::json_value::score_json;
use serde_json::Value as Json;

use super::error::Result;
use super::header::Header;
use super::plan::{LogWarning, without_package};
use super::reader::EvalLog;
use super::scores::{RecordedReduction, recorded_reductions};
use crate::inspect::metric_name;
use crate::recorded::RecordedBlock;

/// The most recorded figures that a reason names.
const NAMED: usize = 4;

/// A metric whose figures cannot be computed.
#[derive(Debug)]
pub(super) struct Unavailable {
    /// As it is recorded.
    spec: Spec,
    params: Metadata,
    /// The same metric with the default conversion in place of one that is known by its name only: its figures have the
    /// same names.
    built: Option<Arc<dyn Metric>>,
    /// The metric within it, as it is recorded.
    inner: Option<Box<Unavailable>>,
    /// Whether only the aggregate over groups is undefined.
    is_aggregate_only: bool,
    reason: String,
    recorded: RecordedFigures,
}

/// What the blocks of a log record of a metric.
#[derive(Debug, Default)]
struct RecordedFigures {
    /// The figures of each name, each with the block that it is in.
    by_name: IndexMap<String, Vec<(String, f64)>>,
    /// Whether there is one figure, which has the name of the metric.
    is_one: bool,
    /// Whether they have positions and no names.
    is_list: bool,
}

impl RecordedFigures {
    /// The figures of a metric with these arguments, of one scorer or of all.
    fn of(header: &Header, scorer: Option<&str>, spec: &Spec, params: &Metadata) -> Self {
        let blocks = header.results.iter().flat_map(|results| &results.scores);
        let blocks: Vec<&RecordedBlock> =
            blocks.filter(|block| scorer.is_none_or(|scorer| block.scorer == scorer)).collect();
        // Old logs do not record arguments.
        let with_params = RecordedFigures::in_blocks(&blocks, spec, Some(params));
        match with_params.by_name.is_empty() {
            true => RecordedFigures::in_blocks(&blocks, spec, None),
            false => with_params,
        }
    }

    fn in_blocks(blocks: &[&RecordedBlock], spec: &Spec, params: Option<&Metadata>) -> Self {
        let mut found = RecordedFigures::default();
        let names: HashSet<(&str, &str)> =
            blocks.iter().map(|block| (block.name.as_str(), block.scorer.as_str())).collect();
        for block in blocks {
            let of_metric = block.metrics.iter().filter(|(_, figure)| {
                without_package(metric_name(figure)) == spec.name
                    && params.is_none_or(|params| figure.params == *params)
            });
            for (key, figure) in of_metric {
                let is_one = figure.group.is_none() && without_package(&figure.name) == spec.name;
                found.is_one |= is_one;
                found.is_list |= figure.group.is_some() && *key == format!("{}-{}", spec.name, figure.name);
                let name = if is_one { String::new() } else { figure.name.clone() };
                let title = match (&block.reducer, names.len()) {
                    (None, _) => block.name.clone(),
                    (Some(reducer), 1) => reducer.clone(),
                    (Some(reducer), _) => format!("{} by {reducer}", block.name),
                };
                found.by_name.entry(name).or_default().push((title, figure.value));
            }
        }
        found
    }

    /// Figures of these names.
    fn value(&self, undefined: &dyn Fn(&str) -> Estimate) -> MetricValue {
        if self.is_one || self.by_name.is_empty() {
            return MetricValue::One(undefined(""));
        }
        if self.is_list {
            return MetricValue::List(self.by_name.keys().map(|name| Some(undefined(name))).collect());
        }
        MetricValue::Map(self.by_name.keys().map(|name| (name.clone(), Some(undefined(name)))).collect())
    }

    /// The recorded figures of a name, as people read them.
    fn text(&self, name: &str) -> Option<String> {
        // A metric that is there twice has the same figure twice.
        let mut figures: Vec<&(String, f64)> = Vec::new();
        for figure in self.by_name.get(name)? {
            if !figures.contains(&figure) {
                figures.push(figure);
            }
        }
        let titles: HashSet<&str> = figures.iter().map(|(title, _)| title.as_str()).collect();
        // Others in one block: which of them is meant is not known.
        if titles.len() < figures.len() {
            return None;
        }
        match figures.as_slice() {
            [(_, value)] => Some(number(*value)),
            figures => {
                let named =
                    figures.iter().take(NAMED).map(|(title, value)| format!("{} ({title})", number(*value)));
                let more = if figures.len() > NAMED { ", …" } else { "" };
                Some(named.collect::<Vec<_>>().join(", ") + more)
            }
        }
    }
}

/// The arguments of a metric as logs record them.
fn logged_params(spec: &Spec) -> Metadata {
    let params = spec.to_log().get("options").and_then(Json::as_object).cloned();
    Metadata::from(params.unwrap_or_default())
}

/// A number with six digits.
fn number(value: f64) -> String {
    format!("{value:.5e}").parse::<f64>().unwrap_or(value).to_string()
}

impl Unavailable {
    /// A metric of a scorer, or of the task.
    pub(super) fn new(header: &Header, scorer: Option<&str>, spec: Spec, reason: String) -> Self {
        let metric = Unavailable::unrecorded(spec, reason);
        let recorded = RecordedFigures::of(header, scorer, &metric.spec, &metric.params);
        Unavailable { recorded, ..metric }
    }

    /// The same of which no figures are recorded.
    fn unrecorded(spec: Spec, reason: String) -> Self {
        let (params, recorded) = (logged_params(&spec), RecordedFigures::default());
        Unavailable { spec, params, built: None, inner: None, is_aggregate_only: false, reason, recorded }
    }

    /// The metric with another conversion, whose figures have the same names.
    pub(super) fn built(self, metric: Arc<dyn Metric>, is_aggregate_only: bool) -> Self {
        let inner = metric.inner().filter(|_| !is_aggregate_only).and_then(|inner| {
            let name = inner.spec().name;
            self.spec.args.iter().chain(self.spec.kwargs.values()).find_map(|arg| match arg {
                Arg::Spec(nested) if nested.name == name => Some(nested.clone()),
                _ => None,
            })
        });
        let inner = inner.map(|spec| Box::new(Unavailable::unrecorded(spec, self.reason.clone())));
        Unavailable { built: Some(metric), inner, is_aggregate_only, ..self }
    }

    fn undefined(&self, name: &str) -> Estimate {
        let recorded = self.recorded.text(name).map(|text| format!("; the log records {text}"));
        Estimate::undefined(Undefined::Other(format!("{}{}", self.reason, recorded.unwrap_or_default())))
    }

    /// The same figures, undefined.
    fn undefine(&self, value: MetricValue, label: Option<&str>, is_interval: bool) -> MetricValue {
        let named = |name: &str| match label {
            Some(label) => self.undefined(&format!("{label}_{name}")),
            None => self.undefined(name),
        };
        match value {
            MetricValue::One(_) if is_interval => {
                let ends = ["lower", "upper"].map(|end| (end.to_owned(), Some(named(end))));
                MetricValue::Map(ends.into_iter().collect())
            }
            MetricValue::One(_) => MetricValue::One(self.undefined(label.unwrap_or_default())),
            MetricValue::Map(map) => {
                let entry = |(key, estimate): (String, Option<Estimate>)| {
                    let undefined = estimate.map(|_| named(&key));
                    (key, undefined)
                };
                MetricValue::Map(map.into_iter().map(entry).collect())
            }
            MetricValue::List(list) => {
                let entry = |(at, estimate): (usize, Option<Estimate>)| {
                    estimate.map(|_| named(&(at + 1).to_string()))
                };
                MetricValue::List(list.into_iter().enumerate().map(entry).collect())
            }
            MetricValue::Groups(mut groups) => {
                let undefine = |label: &str, value: &mut MetricValue| {
                    let old =
                        std::mem::replace(value, MetricValue::One(Estimate::undefined(Undefined::NoScores)));
                    *value = self.undefine(old, Some(label), is_interval);
                };
                if !self.is_aggregate_only {
                    groups.groups.iter_mut().for_each(|group| undefine(&group.label, &mut group.value));
                }
                if let Some(all) = &mut groups.all {
                    undefine(&all.label, &mut all.value);
                }
                MetricValue::Groups(groups)
            }
        }
    }
}

impl ToSpec for Unavailable {
    fn spec(&self) -> Spec {
        self.spec.clone()
    }
}

impl Metric for Unavailable {
    fn compute(&self, scores: &Scores<'_>) -> errorbar_core::Result<MetricValue> {
        match &self.built {
            Some(built) => {
                let is_interval = built.role() == Role::IntervalOf;
                Ok(self.undefine(built.compute(scores)?, None, is_interval))
            }
            None => Ok(self.recorded.value(&|name| self.undefined(name))),
        }
    }

    fn params(&self) -> Metadata {
        self.params.clone()
    }

    fn inner(&self) -> Option<&dyn Metric> {
        match &self.inner {
            Some(inner) => Some(inner.as_ref()),
            None => self.built.as_ref().and_then(|built| built.inner()),
        }
    }

    /// An error or an interval of an unknown conversion is about no number that is shown.
    fn role(&self) -> Role {
        match &self.built {
            Some(built) if self.is_aggregate_only => built.role(),
            _ => Role::Other,
        }
    }

    fn wants(&self) -> Wants {
        self.built.as_ref().map_or(Wants::Auto, |built| built.wants())
    }

    fn needs_epochs(&self) -> bool {
        self.built.as_ref().is_some_and(|built| built.needs_epochs())
    }

    fn metadata_keys(&self) -> MetadataKeys {
        self.built.as_ref().map_or(MetadataKeys::NONE, |built| built.metadata_keys())
    }

    fn score_parts(&self) -> ScoreParts {
        self.built.as_ref().map_or(ScoreParts::Value, |built| built.score_parts())
    }

    fn reads_labels(&self) -> bool {
        self.built.as_ref().is_some_and(|built| built.reads_labels())
    }

    fn subject(&self) -> Option<errorbar_core::Subject> {
        self.built.as_ref().filter(|_| self.is_aggregate_only)?.subject()
    }

    fn cluster(&self) -> Option<&str> {
        self.built.as_ref()?.cluster()
    }

    fn group_key(&self) -> Option<&str> {
        self.built.as_ref()?.group_key()
    }

    fn required_keys(&self) -> Vec<RequiredKey> {
        self.built.as_ref().map(|built| built.required_keys()).unwrap_or_default()
    }

    fn figure_names(&self) -> FigureNames {
        self.built.as_ref().map_or(FigureNames::OfScores, |built| built.figure_names())
    }

    fn raters(&self) -> Raters {
        self.built.as_ref().map(|built| built.raters()).unwrap_or_default()
    }

    fn depends_on_ids(&self, is_resampled: bool) -> bool {
        self.built.as_ref().is_some_and(|built| built.depends_on_ids(is_resampled))
    }
}

// Was a reducer given a conversion that the log does not record?
//
// `mean_score(value_to_float=half)` is logged as `mean`. Its figures do not follow from the scores of the samples, but the
// reduced scores that the log records tell: they are others than those of the default conversion, in every sample that
// has a certain value. A score that was changed in one sample is not such a case, and remains a difference.

/// How many samples have to differ for the same value: fewer are rather samples that were changed.
const SAMPLES: usize = 2;

/// A reducer that was given a conversion which the log does not record.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ReducerConversion {
    /// The scorer.
    pub scorer: String,
    /// The name of the reducer.
    pub reducer: String,
}

impl ReducerConversion {
    /// Those of the reducers of a plan whose reduced scores in the log are not of the default conversion.
    ///
    /// # Errors
    /// The log cannot be read.
    pub fn find(log: &EvalLog, header: &Header, plan: &Plan, columns: &ScoreColumns) -> Result<Vec<Self>> {
        // Of a single epoch there is nothing to reduce.
        let Some(planned) = header.eval.config.epochs.filter(|epochs| *epochs > 1) else {
            return Ok(Vec::new());
        };
        let mut rows: HashMap<&str, Vec<usize>> = HashMap::new();
        (0..columns.len()).for_each(|row| rows.entry(columns.id(row)).or_default().push(row));
        let mut found = Vec::new();
        for RecordedReduction { scorer, reducer, values } in recorded_reductions(log)? {
            let Some(name) = reducer else { continue };
            let Reducers::Explicit(reducers) = plan.reducers_of(&scorer) else { continue };
            let Some(reducer) = reducers.iter().find(|reducer| reducer.log_name() == name) else { continue };
            let epochs_of = |id: &str| -> Vec<Score> {
                let rows = rows.get(id).into_iter().flatten();
                rows.filter_map(|row| columns.score(*row, &scorer)).collect()
            };
            let samples = values.iter().map(|(id, value)| (epochs_of(&id.to_string()), value));
            // Of those that were not read, nothing is known.
            let samples = samples.filter(|(epochs, _)| epochs.len() >= planned as usize);
            if is_other_conversion(reducer.as_ref(), samples) {
                found.push(ReducerConversion { scorer, reducer: name });
            }
        }
        Ok(found)
    }

    /// Makes the figures of these scorers undefined in a plan, with the reason.
    pub fn undefine(
        conversions: Vec<Self>,
        header: &Header,
        plan: &mut Plan,
        columns: &ScoreColumns,
    ) -> Vec<LogWarning> {
        for conversion in &conversions {
            conversion.undefine_scorer(header, plan, columns);
        }
        let warning = |Self { scorer, reducer }| LogWarning::ReducerConversion { scorer, reducer };
        conversions.into_iter().map(warning).collect()
    }

    fn undefine_scorer(&self, header: &Header, plan: &mut Plan, columns: &ScoreColumns) {
        let of_task = plan.task_metrics.take();
        // What holds for the task, holds for each scorer from now on.
        if let Some(metrics) = &of_task {
            plan.scorers.iter_mut().for_each(|scorer| scorer.metrics = metrics.clone());
            let names = columns.scorer_names().map(|name| (name.to_owned(), metrics.clone()));
            plan.default_metrics.extend(names);
        }
        let reason = format!("the log does not record the conversion of the reducer {}", self.reducer);
        let undefined = |metric: &Arc<dyn Metric>| {
            let unavailable = Unavailable::new(header, Some(&self.scorer), metric.spec(), reason.clone());
            Arc::new(unavailable.built(Arc::clone(metric), false)) as Arc<dyn Metric>
        };
        let names =
            errorbar_core::engine::unique_names(plan.scorers.iter().map(|scorer| scorer.name.as_str()));
        match plan.scorers.iter_mut().zip(names).find(|(_, name)| *name == self.scorer) {
            Some((scorer, _)) => scorer.metrics = each(&scorer.metrics, undefined),
            None => {
                let accuracy = || {
                    let (accuracy, stderr) =
                        (errorbar_core::metrics::accuracy(), errorbar_core::metrics::stderr());
                    errorbar_core::metrics![accuracy, stderr]
                };
                let own = plan.default_metrics.entry(self.scorer.clone()).or_insert_with(accuracy);
                *own = each(own, undefined);
            }
        }
    }
}

/// Other metrics in the same structure.
fn each(metrics: &Metrics, change: impl Fn(&Arc<dyn Metric>) -> Arc<dyn Metric>) -> Metrics {
    let of_map = |map: &MetricMap| -> MetricMap {
        map.iter().map(|(glob, metrics)| (glob.clone(), metrics.iter().map(&change).collect())).collect()
    };
    match metrics {
        Metrics::Map(map) => Metrics::Map(of_map(map)),
        Metrics::List(items) => {
            let item = |item: &MetricItem| match item {
                MetricItem::Metric(metric) => MetricItem::Metric(change(metric)),
                MetricItem::Map(map) => MetricItem::Map(of_map(map)),
            };
            Metrics::List(items.iter().map(item).collect())
        }
    }
}

/// Whether reduced scores, each with its epochs, are those of another conversion.
fn is_other_conversion<'v>(
    reducer: &dyn Reducer,
    samples: impl Iterator<Item = (Vec<Score>, &'v Value)>,
) -> bool {
    let Some(by_epoch) = reducer.by_epoch() else { return false };
    let Some(conversion) = by_epoch.conversion() else { return false };
    let takes_all = has_part_of_each(by_epoch);
    // The values of which samples show that their number is that of the default conversion.
    let mut known: HashSet<String> = HashSet::new();
    let mut differing: HashMap<String, usize> = HashMap::new();
    for (epochs, recorded) in samples {
        let Ok(reduced) = reducer.reduce(&epochs) else { continue };
        let scored = || epochs.iter().map(|score| &score.value).filter(|value| !value.is_unscored());
        let keys: BTreeSet<String> = scored().map(key).collect();
        // Versions differ in whether a grade is reduced to a grade or to its number.
        let number = |value: &Value| Some(conversion.convert(value.view())).filter(|one| one.convertible);
        let is_equal = number(&reduced.value).is_some_and(|one| Some(one) == number(recorded))
            || is_same(&reduced.value.to_json(), &recorded.to_json());
        if !is_equal {
            keys.into_iter().for_each(|key| *differing.entry(key).or_default() += 1);
        } else if takes_all
            || keys.len() == 1 && scored().all(|value| conversion.convert(value.view()).convertible)
        {
            known.extend(keys);
        }
    }
    differing.into_iter().any(|(key, samples)| samples >= SAMPLES && !known.contains(&key))
}

/// Whether every epoch is a part of the reduced value, as in a mean; in others it may not matter.
fn has_part_of_each(reducer: &dyn EpochReducer) -> bool {
    reducer.variance_of_epochs(&[0.0, 1.0]).is_some()
}

/// What is converted alike: a grade by itself, but numbers by one rule, which says nothing about 0.
fn key(value: &Value) -> String {
    match value {
        Value::Int(0) => "0".to_owned(),
        Value::Float(0.0) => "0".to_owned(),
        Value::Int(_) | Value::Float(_) => "number".to_owned(),
        value => score_json(value),
    }
}

/// Whether two values are equal, numbers but for rounding.
fn is_same(a: &Json, b: &Json) -> bool {
    let number =
        |json: &Json| json.as_f64().or_else(|| json.as_bool().map(|is_true| f64::from(u8::from(is_true))));
    match (a, b) {
        (Json::Array(a), Json::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| is_same(a, b)),
        (Json::Object(a), Json::Object(b)) => {
            a.len() == b.len() && a.iter().all(|(key, a)| b.get(key).is_some_and(|b| is_same(a, b)))
        }
        _ => match (number(a), number(b)) {
            (Some(a), Some(b)) => (a - b).abs() <= 1e-9 * a.abs().max(1.0),
            _ => a == b,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_metric_that_is_there_twice_has_one_recorded_figure() {
        let figures = |values: [f64; 2]| {
            let of_block = values.map(|value| ("s".to_owned(), value)).to_vec();
            RecordedFigures { by_name: [("a".to_owned(), of_block)].into(), is_one: false, is_list: false }
        };
        assert_eq!(figures([0.25, 0.25]).text("a").as_deref(), Some("0.25"));
        assert_eq!(figures([0.25, 0.5]).text("a"), None, "which of them is meant is not known");
    }
}
