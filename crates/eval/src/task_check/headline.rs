//! Whether the results of a task will have its headline.

use errorbar_core::engine::unique_names;
use errorbar_core::spec::without_own_package;
use errorbar_core::{FigureNames, HeadlineRequest, MetricItem, Metrics, Reducers};

use super::TaskProblem;
use crate::AnyScorer;

/// What the names of a headline can refer to; what is not known is not checked.
pub(crate) struct HeadlineParts<'t> {
    pub(crate) scorers: &'t [AnyScorer],
    /// The names of metrics, where each has one.
    pub(crate) metrics: Option<Vec<String>>,
    pub(crate) reducers: Option<&'t Reducers>,
}

/// The names that no result will have.
pub(crate) fn check(wanted: &HeadlineRequest, parts: &HeadlineParts<'_>) -> Vec<TaskProblem> {
    let mut found = Vec::new();
    let mut look = |part: &'static str, name: &Option<String>, known: Option<Vec<String>>| {
        let (Some(name), Some(known)) = (name, known) else { return };
        if !known.iter().any(|known| known == name || (part == "metric" && is_called(name, known))) {
            found.push(TaskProblem::UnknownHeadline { part, name: name.clone(), known });
        }
    };
    let names: Vec<String> =
        parts.scorers.iter().map(|scorer| scorer.spec().log_name().into_owned()).collect();
    look("scorer", &wanted.scorer, Some(unique_names(names.iter().map(String::as_str))));
    look("metric", &wanted.metric, parts.metrics.clone());
    let own = |name: String| without_own_package(&name).to_owned();
    let reducers = parts.reducers.map(|reducers| reducers.log_names().unwrap_or_default());
    let reducers = reducers.map(|names| names.into_iter().map(own).collect());
    look("reducer", &wanted.reducer, reducers);
    found
}

/// The names of the metrics, if each of them has one.
pub(crate) fn metric_names<'s>(
    metrics: Option<&Metrics>,
    mut scorers: impl Iterator<Item = &'s AnyScorer>,
) -> Option<Vec<String>> {
    let names = |metrics: &Metrics| -> Option<Vec<String>> {
        let Metrics::List(items) = metrics else { return None };
        let name = |item: &MetricItem| {
            let MetricItem::Metric(metric) = item else { return None };
            let has_own = metric.figure_names() == FigureNames::OfMetric;
            has_own.then(|| metric.spec().log_name().into_owned())
        };
        items.iter().map(name).collect()
    };
    match metrics {
        Some(metrics) => names(metrics),
        None => {
            scorers.try_fold(Vec::new(), |known, scorer| Some([known, names(&scorer.metrics())?].concat()))
        }
    }
}

/// Whether scores have no part in the names of any figure.
pub(crate) fn are_named_without_scores(metrics: &Metrics) -> bool {
    let is_named = |item: &MetricItem| match item {
        MetricItem::Metric(metric) => metric.figure_names() != FigureNames::OfScores,
        _ => false,
    };
    matches!(metrics, Metrics::List(items) if items.iter().all(is_named))
}

/// Whether a name is that of this metric: also with its arguments, or with the number of a second one of that name.
pub(crate) fn is_called(name: &str, known: &str) -> bool {
    let bare = name.split('(').next().unwrap_or_default();
    bare.strip_prefix(known).is_some_and(|rest| rest.chars().all(|c| c.is_ascii_digit()))
}
