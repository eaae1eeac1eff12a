//! The chance that at least one, or that every one, of k attempts succeeds.

use std::sync::Arc;

use indexmap::IndexMap;

use super::{ScoreName, is_about_location};
use crate::columns::ScoreColumns;
use crate::error::Result;
use crate::estimate::Estimate;
use crate::evaluation::{EstimateRow, Results, Role};
use crate::plan::{Plan, Reducers};
use crate::reducer::Reducer;
use crate::reducers::{pass_at, pass_k};

/// The most numbers of attempts that a curve has a point for each of.
const MOST_POINTS: u64 = 32;

/// pass@k and pass^k for k from 1 to the number of epochs.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct PassCurve {
    /// Which scores. The reducers are those of the curve.
    pub name: ScoreName,
    /// The points, k ascending.
    pub points: Vec<PassPoint>,
}

/// The chances over k attempts.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct PassPoint {
    /// The number of attempts.
    pub k: u64,
    /// That at least one succeeds: pass@k.
    pub any: Estimate,
    /// That all succeed: pass^k.
    pub all: Estimate,
}

impl PassPoint {
    /// The chances over k attempts, of at least one success and of nothing but successes.
    pub fn new(k: u64, any: Estimate, all: Estimate) -> Self {
        PassPoint { k, any, all }
    }
}

impl PassCurve {
    /// A curve with its points.
    pub fn new(name: ScoreName, points: Vec<PassPoint>) -> Self {
        PassCurve { name, points }
    }
}

/// The numbers of attempts that a curve has points for: all, or with many epochs 1, 2, 5, 10, … and the last.
fn attempts(epochs: u64) -> Vec<u64> {
    if epochs <= MOST_POINTS {
        return (1..=epochs).collect();
    }
    let decades = std::iter::successors(Some(1_u64), |decade| decade.checked_mul(10));
    let steps = decades.flat_map(|decade| [1, 2, 5].map(|step| decade.saturating_mul(step)));
    steps.take_while(|k| *k < epochs).chain([epochs]).collect()
}

impl Plan {
    /// The curves of pass@k and pass^k, for each scorer and key with a location; an epoch is a success from `threshold`
    /// on. The points are what the reducers `pass_at` and `pass_k` give. There is none with fewer than two epochs.
    ///
    /// # Errors
    /// As in [`Plan::evaluate`].
    pub fn pass_curves(&self, columns: &ScoreColumns, threshold: f64) -> Result<Vec<PassCurve>> {
        let ks = attempts(columns.sample_index().max_rows() as u64);
        if ks.len() < 2 {
            return Ok(Vec::new());
        }
        let mut plan = self.with_metrics(is_about_location);
        let any = |k: &u64| Arc::new(pass_at(*k).value(threshold)) as Arc<dyn Reducer>;
        let all = |k: &u64| Arc::new(pass_k(*k).value(threshold)) as Arc<dyn Reducer>;
        let reducers: Vec<Arc<dyn Reducer>> = ks.iter().map(any).chain(ks.iter().map(all)).collect();
        let names: Vec<String> = reducers.iter().map(|reducer| reducer.log_name()).collect();
        (plan.reducers, plan.scorer_reducers) = (Reducers::Explicit(reducers), IndexMap::new());
        let results = plan.evaluate(columns)?.results;
        Ok(curves(&results, &ks, &names))
    }
}

/// A metric, and its estimate under each reducer.
type OfReducers = (String, Vec<Option<Estimate>>);

/// The curves in the results of one reducer after the other.
fn curves(results: &Results, ks: &[u64], names: &[String]) -> Vec<PassCurve> {
    let is_whole = |row: &EstimateRow<'_>| {
        row.role == Role::Location && row.group_key.is_none() && row.key.is_none() && row.index.is_none()
    };
    // By scorer, field and metric: the estimate of each reducer.
    let mut found: IndexMap<(String, Option<String>), OfReducers> = IndexMap::new();
    for row in results.rows().into_iter().filter(is_whole) {
        let Some(at) = names.iter().position(|name| row.reducer == Some(name)) else { continue };
        let metric = row.result.spec.log_name().into_owned();
        let key = (row.scorer.to_owned(), row.field.map(str::to_owned));
        let (name, estimates) = found.entry(key).or_insert_with(|| (metric.clone(), vec![None; names.len()]));
        if let Some(slot) = estimates.get_mut(at).filter(|slot| slot.is_none() && *name == metric) {
            *slot = Some(row.estimate.into_owned());
        }
    }
    let curve = |((scorer, field), (metric, estimates)): ((String, Option<String>), OfReducers)| {
        let (any, all) = estimates.split_at_checked(ks.len())?;
        let points = ks.iter().zip(any.iter().zip(all));
        let point = |(k, (any, all)): (&u64, (&Option<Estimate>, &Option<Estimate>))| {
            Some(PassPoint::new(*k, any.clone()?, all.clone()?))
        };
        let name = ScoreName { scorer, reducer: None, field, metric };
        Some(PassCurve::new(name, points.filter_map(point).collect()))
    };
    found.into_iter().filter_map(curve).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::{accuracy, ci_wilson, grouped, stderr};
    use crate::{Registry, Score, metrics};

    fn columns(epochs: u32) -> ScoreColumns {
        let mut columns = ScoreColumns::new(["s"]);
        for id in 0..12_u32 {
            for epoch in 1..=epochs {
                let grade = if (id * 7 + epoch * 5) % 11 < 6 { "C" } else { "I" };
                let row = columns.push(id.to_string(), epoch).metadata("topic", format!("t{}", id % 3));
                row.score("s", Score::new(grade)).unwrap();
            }
        }
        columns
    }

    #[test]
    fn a_point_is_what_the_reducer_gives() {
        let columns = columns(4);
        let metrics = metrics![accuracy(), stderr().cluster("topic"), grouped(accuracy(), "topic")];
        let plan = Plan::new().metrics(metrics);
        let curves = plan.pass_curves(&columns, 1.0).unwrap();
        assert_eq!(curves.len(), 1);
        assert_eq!(curves[0].points.iter().map(|point| point.k).collect::<Vec<_>>(), [1, 2, 3, 4]);
        let registry = Registry::built_in();
        for point in &curves[0].points {
            for (name, estimate) in [("pass_at", &point.any), ("pass_k", &point.all)] {
                let spec = format!("{name}_{}", point.k).parse().unwrap();
                let reducer = registry.reducer(&spec).unwrap();
                let plan = plan.clone().reducers(Reducers::Explicit(vec![reducer]));
                let results = plan.evaluate(&columns).unwrap().results;
                let rows = results.rows();
                assert_eq!(*rows[0].estimate, *estimate, "{name} {}", point.k);
            }
        }
        let first = &curves[0].points[0];
        assert_eq!(first.any, first.all, "one attempt is one attempt");
        let last = &curves[0].points[3];
        assert!(last.any.number() > last.all.number());
    }

    #[test]
    fn an_interval_metric_belongs_to_the_points_too() {
        let plan = Plan::new().metrics(metrics![accuracy(), ci_wilson()]);
        let columns = columns(2);
        let curve = plan.pass_curves(&columns, 1.0).unwrap().remove(0);
        let plan = plan.reducers(crate::reducers![pass_at(2)]);
        let results = plan.evaluate(&columns).unwrap().results;
        assert_eq!(curve.points[1].any, *results.rows()[0].estimate);
    }

    #[test]
    fn one_epoch_has_no_curve_and_many_have_few_points() {
        assert_eq!(Plan::new().pass_curves(&columns(1), 1.0).unwrap(), []);
        assert_eq!(attempts(3), [1, 2, 3]);
        assert_eq!(attempts(100), [1, 2, 5, 10, 20, 50, 100]);
    }
}
