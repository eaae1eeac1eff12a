//! The figures of a metric over scores: what two sides are compared by.

use crate::error::Result;
use errorbar_core::engine::evaluate_metric;
use errorbar_core::{
    AggregateBasis, Estimate, GroupContext, Groups, Metric, MetricValue, Role, ScoreKind, Scores, Undefined,
};

/// Which of the figures of a metric it is.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct FigureName {
    /// Its name or position among several.
    pub(super) key: Option<String>,
    pub(super) group_key: Option<String>,
    /// The group; none with a group key is the mean over groups.
    pub(super) group: Option<String>,
}

/// All figures of a metric over scores.
///
/// # Errors
/// Those of the metric.
pub(super) fn figures(metric: &dyn Metric, scores: &Scores<'_>) -> Result<Vec<(FigureName, Estimate)>> {
    let (_, value) = evaluate_metric(metric, scores)?;
    let mut figures = Vec::new();
    flatten(value, &FigureName::default(), &mut figures);
    Ok(figures)
}

/// The numbers of some figures in a resample; not a number where one is undefined.
pub(super) fn numbers(metric: &dyn Metric, scores: &Scores<'_>, names: &[FigureName]) -> Vec<f64> {
    if let [only] = names
        && *only == FigureName::default()
    {
        let value = metric.compute(scores).ok();
        return vec![value.and_then(|value| value.number()).unwrap_or(f64::NAN)];
    }
    let mut found = Vec::new();
    if let Ok(value) = metric.compute(scores) {
        flatten(value, &FigureName::default(), &mut found);
    }
    // Resamples mostly have the same figures in the same order: then each is the next one.
    let mut next = 0;
    let number = |name: &FigureName| {
        let is_named = |(own, _): &&(FigureName, Estimate)| own == name;
        let at = match found.get(next).filter(is_named) {
            Some(_) => Some(next),
            None => found.iter().position(|(own, _)| own == name),
        };
        next = at.map_or(next, |at| at + 1);
        at.and_then(|at| found.get(at)).and_then(|(_, estimate)| estimate.number()).unwrap_or(f64::NAN)
    };
    names.iter().map(number).collect()
}

fn flatten(value: MetricValue, name: &FigureName, out: &mut Vec<(FigureName, Estimate)>) {
    let keyed = |key: String| FigureName { key: Some(key), ..name.clone() };
    match value {
        MetricValue::One(estimate) => out.push((name.clone(), estimate)),
        MetricValue::Map(map) => {
            let present = map.into_iter().filter_map(|(key, estimate)| Some((keyed(key), estimate?)));
            out.extend(present);
        }
        MetricValue::List(list) => {
            let list = list.into_iter().enumerate();
            out.extend(list.filter_map(|(at, estimate)| Some((keyed(at.to_string()), estimate?))));
        }
        MetricValue::Groups(groups) => flatten_groups(groups, name, out),
    }
}

fn flatten_groups(groups: Groups, name: &FigureName, out: &mut Vec<(FigureName, Estimate)>) {
    let Groups { key, groups, all, .. } = groups;
    // Groups within groups have the keys and the values of both.
    let joined = |outer: &Option<String>, own: &str| match outer {
        Some(outer) => format!("{outer}, {own}"),
        None => own.to_owned(),
    };
    let group_key = Some(joined(&name.group_key, &key));
    for group in groups {
        let group_name = Some(joined(&name.group, &group.name));
        let name = FigureName { group_key: group_key.clone(), group: group_name, ..name.clone() };
        flatten(group.value, &name, out);
    }
    if let Some(all) = all {
        let name = match all.over {
            AggregateBasis::Samples => name.clone(),
            _ => FigureName { group_key, ..name.clone() },
        };
        flatten(*all.value, &name, out);
    }
}

/// The figure of a metric that has one, over a group of all scores.
///
/// # Errors
/// Those of the metric.
pub(super) fn figure_of_group(
    metric: &dyn Metric,
    scores: &Scores<'_>,
    whole: GroupContext,
) -> Result<Estimate> {
    let value = match metric.state(scores.estimation()).filter(|_| !scores.is_empty()) {
        Some(mut state) => {
            state.update(scores)?;
            state.finish(whole)?
        }
        None => evaluate_metric(metric, scores)?.1,
    };
    Ok(match value {
        MetricValue::One(estimate) => estimate,
        _ => Estimate::undefined(Undefined::NotAvailable),
    })
}

/// The same as if the run had not been stopped early: a confidence sequence has no standard error, which differences are
/// computed from.
///
/// # Errors
/// Those of the metric.
pub(super) fn figure_without_stop(
    metric: &dyn Metric,
    scores: &Scores<'_>,
    whole: GroupContext,
) -> Result<Option<Estimate>> {
    let estimation = scores.estimation();
    if estimation.errors.early_stop.is_none() || scores.is_empty() {
        return Ok(None);
    }
    let mut ordinary = estimation.clone();
    ordinary.errors.early_stop = None;
    let Some(mut state) = metric.state(&ordinary) else { return Ok(None) };
    state.update(scores)?;
    Ok(match state.finish(whole)? {
        MetricValue::One(estimate) => Some(estimate),
        _ => None,
    })
}

/// What all scores are, of which there may be groups.
pub(super) fn kind_of(metric: &dyn Metric, scores: &Scores<'_>) -> Result<Option<ScoreKind>> {
    let Some(mut state) = metric.state(scores.estimation()) else { return Ok(None) };
    state.update(scores)?;
    Ok(state.kind())
}

/// Whether a metric is a figure of its own: errors and intervals of others are in the rows of those.
pub(super) fn is_compared(metric: &dyn Metric) -> bool {
    !matches!(metric.role(), Role::ErrorOf | Role::IntervalOf)
}
