//! Was a reducer given a conversion that the log does not record?
//!
//! `mean_score(value_to_float=half)` is logged as `mean`. Its figures do not follow from the scores of the samples, but the
//! reduced scores that the log records tell: they are others than those of the default conversion, in every sample that
//! has a certain value. A score that was changed in one sample is not such a case, and remains a difference.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use errorbar_core::{
    EpochReducer, Metric, MetricItem, MetricMap, Metrics, Plan, Reducer, Reducers, Score, ScoreColumns, Value,
};
use errorbar_files::json_value::score_json;
use serde_json::Value as Json;

use super::LogWarning;
use super::unavailable::Unavailable;
use crate::eval::error::Result;
use crate::eval::header::Header;
use crate::eval::reader::EvalLog;
use crate::eval::reductions::{RecordedReduction, recorded_reductions};

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
