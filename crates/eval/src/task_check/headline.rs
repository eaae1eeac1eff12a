//! Whether the results of a task will have its headline.

use errorbar_core::spec::{Arg, Spec, without_own_package};
use errorbar_core::{HeadlineRequest, MetricItem, Metrics, Reducers, unique_names};

use super::TaskProblem;
use crate::AnyScorer;

/// The metrics that give one number, under their own name. Groups, categories and maps have names that depend on scores.
const PLAIN: [&str; 8] =
    ["accuracy", "mean", "std", "var", "stderr", "bootstrap_stderr", "perplexity", "krippendorff_alpha"];

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
        let name = |item: &errorbar_core::MetricItem| {
            let errorbar_core::MetricItem::Metric(metric) = item else { return None };
            let name = metric.spec().log_name().into_owned();
            PLAIN.contains(&name.as_str()).then_some(name)
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

/// Whether the names of all figures follow from metadata alone: plain metrics, and groups of them.
pub(crate) fn are_named_without_scores(metrics: &Metrics) -> bool {
    let is_plain = |spec: &Spec| PLAIN.contains(&&*spec.log_name());
    let is_named = |item: &MetricItem| match item {
        MetricItem::Metric(metric) => {
            let spec = metric.spec();
            // Whether it is written with its name or without.
            let inner = spec.args.first().or_else(|| spec.kwargs.get("metric"));
            is_plain(&spec)
                || spec.log_name() == "grouped" && matches!(inner, Some(Arg::Spec(inner)) if is_plain(inner))
        }
        _ => false,
    };
    matches!(metrics, Metrics::List(items) if items.iter().all(is_named))
}

/// Whether a name is that of this metric: also with its arguments, or with the number of a second one of that name.
pub(crate) fn is_called(name: &str, known: &str) -> bool {
    let bare = name.split('(').next().unwrap_or_default();
    bare.strip_prefix(known).is_some_and(|rest| rest.chars().all(|c| c.is_ascii_digit()))
}
