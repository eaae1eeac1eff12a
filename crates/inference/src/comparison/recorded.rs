//! Sides of which only figures are known: their logs have no samples.

use std::borrow::Cow;

use super::Comparison;
use super::paired::detectable_difference;
use super::side::{IMPLIED, Side};
use super::unpaired::{unpaired, welch};
use crate::error::ComparisonError;
use crate::error::Result;
use errorbar_core::{Direction, Estimate, EstimateRow, Results, Role, Undefined};

/// The differences of the figures that both sides have, from their recorded errors; nothing else is known where one of
/// them has none.
pub(super) fn compare(base: &Side<'_>, other: &Side<'_>, task: Option<&str>) -> Result<Vec<Comparison>> {
    let (of_base, of_other) = (results(base)?, results(other)?);
    let rows = of_other.rows();
    let compared = of_base.rows().into_iter().filter(|row| row.role == Role::Location).filter_map(|row| {
        let found = rows.iter().find(|other| key(other) == key(&row) && has_same_reducer(other, &row))?;
        let mut comparison = Comparison::new(base.name, other.name, row.scorer, row.metric);
        comparison.task = task.map(str::to_owned);
        comparison.reducer = row.reducer.map(str::to_owned);
        comparison.field = row.field.map(str::to_owned);
        // The mean of the groups is called what the log calls it.
        let group = row.group.or(row.label).zip(row.group_key);
        (comparison.group, comparison.group_key) =
            group.map(|(group, key)| (group.to_owned(), key.to_owned())).unzip();
        (comparison.role, comparison.direction) = (row.role, Direction::Higher);
        comparison.is_paired = false;
        let [of_base, of_other] = [&row, found].map(|row| with_df(row.estimate.as_ref()));
        comparison.n = of_base.n + of_other.n;
        let mut difference = welch(&mut comparison, &of_base, &of_other, &base.plan.errors);
        difference.n = comparison.n;
        if difference.interval.is_ok() {
            difference.notes.reason = Some("recorded errors: t (Welch, unpaired)".to_owned());
        }
        comparison.mde = detectable_difference(&difference);
        (comparison.correlation, comparison.variance_removed) = (Err(unpaired()), Err(unpaired()));
        (comparison.base_estimate, comparison.other_estimate, comparison.difference) =
            (of_base, of_other, difference);
        Some(comparison)
    });
    let compared: Vec<Comparison> = compared.collect();
    if compared.is_empty() {
        fn metrics<'r>(rows: &'r [EstimateRow<'_>]) -> Vec<(String, Option<&'r str>)> {
            rows.iter().map(|row| (row.metric.to_owned(), row.reducer)).collect()
        }
        let base_rows = of_base.rows();
        let (of_base, of_other) = ((base.name, metrics(&base_rows)), (other.name, metrics(&rows)));
        return Err(ComparisonError::no_common_metric(of_base, of_other, true).into());
    }
    Ok(compared)
}

/// The figures of a side.
fn results<'s>(side: &Side<'s>) -> Result<Cow<'s, Results>> {
    match side.recorded {
        Some(recorded) => Ok(Cow::Borrowed(recorded)),
        None => Ok(Cow::Owned(side.plan.evaluate(side.columns)?.results)),
    }
}

/// What two figures have in common that are compared.
fn key<'r>(row: &'r EstimateRow<'_>) -> impl PartialEq + 'r {
    let metric = (row.scorer, row.field, row.metric);
    (metric, row.group_key, row.group, row.is_mean_of_groups(), row.key, row.index)
}

/// Whether two figures are of scores that were reduced alike. The mean that is named is the implied one.
fn has_same_reducer(a: &EstimateRow<'_>, b: &EstimateRow<'_>) -> bool {
    let is_reduced = !a.unreduced && !b.unreduced;
    a.reducer == b.reducer || is_reduced && a.reducer.unwrap_or(&IMPLIED) == b.reducer.unwrap_or(&IMPLIED)
}

/// An estimate whose error has degrees of freedom: those of independent samples, if none are known. Where there is no
/// error, the log has none.
fn with_df(estimate: &Estimate) -> Estimate {
    let mut estimate = estimate.clone();
    if estimate.error == Err(Undefined::NotAvailable) {
        estimate.error = Err(Undefined::Other("the log records no error".to_owned()));
    }
    if let Ok(error) = &mut estimate.error
        && error.df.is_infinite()
        && estimate.n > 1
    {
        error.df = (estimate.n - 1) as f64;
    }
    estimate
}
