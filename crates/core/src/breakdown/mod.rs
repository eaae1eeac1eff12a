//! What estimates are made of, for those who want to see more than a number: the scores behind a mean, the epochs of
//! each sample, chances over several attempts, bins of confidence, labels against labels.
//!
//! Everything here is a count, or an [`Estimate`](crate::Estimate) with the error and the interval of the plan; the
//! figures are those that the plan itself gives for the same question, because they come from the same engine.

mod calibration;
mod confusion;
mod distribution;
mod epochs;
mod pass;

pub use calibration::{CalibrationBin, CalibrationCurve};
pub use confusion::{Confusion, ConfusionLabel};
pub use distribution::{Distribution, DistributionBin};
pub use epochs::{EpochSpread, EpochStrip, SampleSpread, StripColumn};
pub use pass::{PassCurve, PassPoint};

use std::cell::RefCell;

use crate::columns::ScoreColumns;
use crate::error::Result;
use crate::error_plan::ErrorMethod;
use crate::evaluation::{EstimateRow, Results, Role};
use crate::inputs::Wants;
use crate::metric::{Metric, Metrics};
use crate::plan::Plan;
use crate::results::VisitedBlock;

/// Which scores a breakdown is of.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ScoreName {
    /// The scorer.
    pub scorer: String,
    /// The reducer, unless it is the implied mean or there is none.
    pub reducer: Option<String>,
    /// The key of map-valued scores.
    pub field: Option<String>,
    /// The metric whose numbers they are.
    pub metric: String,
}

impl ScoreName {
    fn of(block: &VisitedBlock<'_>, metric: &dyn Metric) -> Self {
        ScoreName {
            scorer: block.scorer.to_owned(),
            reducer: block.reducer.map(str::to_owned),
            field: block.field.map(str::to_owned),
            metric: metric.spec().log_name().into_owned(),
        }
    }
}

/// Whether a metric is one figure over all samples that lies among the scores.
fn is_location(metric: &dyn Metric) -> bool {
    metric.role() == Role::Location && metric.group_key().is_none()
}

/// The numbers that the first location of some scores is the mean of, one for each score.
fn numbers<'b>(block: &'b VisitedBlock<'_>) -> Option<(&'b dyn Metric, Result<Vec<f64>>)> {
    let locations = block.metrics.iter().map(|metric| metric.as_ref()).filter(|metric| is_location(*metric));
    let numbers = locations.filter_map(|metric| Some((metric, metric.sample_numbers(block.scores)?)));
    numbers.into_iter().find(|(_, numbers)| match numbers {
        Ok(numbers) => numbers.len() == block.scores.len(),
        Err(_) => true,
    })
}

/// The row of a location over all samples.
fn row_of<'r>(results: &'r Results, name: &ScoreName) -> Option<EstimateRow<'r>> {
    let is_of = |row: &EstimateRow<'_>| {
        let is_same = row.scorer == name.scorer
            && row.reducer == name.reducer.as_deref()
            && row.field == name.field.as_deref();
        let is_whole = row.group_key.is_none() && row.key.is_none() && row.index.is_none();
        is_same && is_whole && row.result.spec.log_name() == name.metric
    };
    results.rows().into_iter().find(is_of)
}

/// What is made of each block of scores that a plan evaluates.
fn collect<T>(
    plan: &Plan,
    columns: &ScoreColumns,
    of_block: impl Fn(&VisitedBlock<'_>) -> Option<Result<T>>,
) -> Result<Vec<T>> {
    let found: RefCell<Vec<Result<T>>> = RefCell::default();
    plan.visit_scores(columns, &|block| found.borrow_mut().extend(of_block(block)))?;
    found.into_inner().into_iter().collect()
}

/// The plan with other metrics, their errors clustered as those of its own are: figures of the same answers side by side
/// have the same error.
fn replacing_metrics(plan: &Plan, metrics: Metrics) -> Plan {
    let key = plan.own_metrics().find_map(|metric| metric.cluster().map(str::to_owned));
    let mut plan = plan.clone().metrics(metrics);
    let errors = &mut plan.errors;
    if errors.cluster.is_empty() && errors.method != Some(ErrorMethod::Iid) {
        errors.cluster.extend(key);
    }
    plan
}

/// Whether a metric is a location over all samples, or the error or the interval of one.
fn is_about_location(metric: &dyn Metric) -> bool {
    let is_wanted = matches!(metric.role(), Role::Location | Role::ErrorOf | Role::IntervalOf);
    is_wanted && metric.group_key().is_none() && metric.wants() != Wants::Unreduced
}
