//! What is known of an entry by the name that a log records.

use errorbar_core::metrics::{mean, perplexity_per_seq, perplexity_per_token, stderr};
use errorbar_core::spec::{Spec, without_own_package};
use errorbar_core::{IndexMap, Metrics, metrics};

use crate::recorded::RecordedMetric;

/// The reducer that is implied where none is named.
pub(crate) const IMPLIED_REDUCER: &str = "mean";
/// The metric by group.
const GROUPED: &str = "grouped";

/// Where the `metadata` of a scorer records that it [picks an option](picks_option), if its name does not say so.
pub const PICKS_OPTION: &str = "picks_option";

/// Whether a scorer of this name compares the option that was picked among several with the right one. The others of
/// the reference compare texts.
///
/// ```
/// assert!(errorbar_log::inspect::picks_option("choice") && !errorbar_log::inspect::picks_option("match"));
/// ```
pub fn picks_option(scorer: &str) -> bool {
    scorer == "choice"
}

/// The metrics that scorers of the reference bring, by the name of the scorer, where they are not accuracy and stderr:
/// for scores whose scorer is not recorded.
///
/// ```
/// assert_eq!(errorbar_log::inspect::scorer_metrics()["f1"].iter().count(), 2);
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

/// Whether two names mean the same reducer; none is the implied one.
pub(crate) fn is_same_reducer(a: Option<&str>, b: Option<&str>) -> bool {
    a.unwrap_or(IMPLIED_REDUCER) == b.unwrap_or(IMPLIED_REDUCER)
}

/// Whether a recorded metric is one by group.
pub(crate) fn is_grouped(metric: &Spec) -> bool {
    metric.name == GROUPED
}

/// The metric that a figure is of. Figures of groups have no other sign of it than their arguments in older logs.
pub(crate) fn metric_name(figure: &RecordedMetric) -> &str {
    match &figure.group {
        Some(group) => group,
        None if has_groups(figure) => GROUPED,
        None => &figure.name,
    }
}

/// Whether a figure is of a metric by group.
pub(crate) fn has_groups(figure: &RecordedMetric) -> bool {
    figure.params.contains_key("group_key") && figure.params.contains_key("metric")
}

/// Whether a metric is a mean of scores.
pub(super) fn is_mean(metric: &str) -> bool {
    matches!(without_package(metric), "accuracy" | "mean")
}

/// Whether a metric is a share of the scores.
pub(super) fn is_share(metric: &str) -> bool {
    without_package(metric) == "frequency"
}

/// Whether a metric is the standard error of a mean.
pub(super) fn is_error(metric: &str) -> bool {
    matches!(without_package(metric), "stderr" | "bootstrap_stderr")
}

/// The name of a metric of the reference or of ours, without the package.
pub(super) fn without_package(metric: &str) -> &str {
    without_own_package(metric.strip_prefix("inspect_ai/").unwrap_or(metric))
}
