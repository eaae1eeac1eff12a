//! Under which name logs record what errorbar brings: as the reference's own where it has the same, else as ours.

use std::borrow::Cow;

use super::{Arg, OWN_PACKAGE, Spec, split_k_suffix};

/// The metrics that the reference has.
const METRICS: [&str; 14] = [
    "accuracy",
    "mean",
    "var",
    "std",
    "stderr",
    "bootstrap_stderr",
    "ci",
    "ci_wilson",
    "grouped",
    "aggregate",
    "frequency",
    "krippendorff_alpha",
    "perplexity_per_token",
    "perplexity_per_seq",
];

/// The reducers that the reference has.
const REDUCERS: [&str; 9] =
    ["mean", "median", "mode", "max", "pass_at", "pass_k", "at_least", "majority", "collect"];

/// Whether errorbar brings a metric of this name, and the reference has none.
///
/// ```
/// use errorbar_core::spec::is_own_metric;
///
/// assert!(is_own_metric("variance_components"));
/// assert!(!is_own_metric("accuracy"));
/// assert!(!is_own_metric("a_custom_one"));
/// ```
pub fn is_own_metric(name: &str) -> bool {
    !METRICS.contains(&name) && crate::metrics::ENTRIES.iter().any(|entry| entry.name == name)
}

/// Whether errorbar brings a reducer of this name, and the reference has none.
pub(crate) fn is_own_reducer(name: &str) -> bool {
    !REDUCERS.contains(&name) && crate::reducers::ENTRIES.iter().any(|entry| entry.name == name)
}

/// Arguments that the reference's `grouped` does not have.
const GROUPED_ARGUMENTS: [&str; 3] = ["weights", "simultaneous", "shrink"];

/// The methods of the reference's `ci`.
const CI_METHODS: [&str; 2] = ["t", "bootstrap"];
/// The levels of the reference's `krippendorff_alpha`.
const ALPHA_LEVELS: [&str; 3] = ["nominal", "ordinal", "interval"];

impl Spec {
    /// Whether errorbar brings a metric of this name, and the reference has none that takes these arguments.
    ///
    /// ```
    /// use errorbar_core::spec::Spec;
    ///
    /// let is_own = |text: &str| text.parse::<Spec>().is_ok_and(|spec| spec.is_own_metric());
    /// assert!(is_own("ci(method=\"bca\")") && is_own("consistency"));
    /// assert!(!is_own("ci(0.9, \"bootstrap\")"));
    /// assert!(is_own("krippendorff_alpha(\"ratio\")") && !is_own("krippendorff_alpha(\"ordinal\")"));
    /// assert!(is_own("grouped(mean(), \"topic\", shrink=true)") && !is_own("grouped(mean(), \"topic\")"));
    /// ```
    pub fn is_own_metric(&self) -> bool {
        match self.name.as_str() {
            "ci" => self.is_own_ci(),
            "krippendorff_alpha" => self.is_own_alpha(),
            "grouped" => GROUPED_ARGUMENTS.iter().any(|argument| self.kwargs.contains_key(*argument)),
            name => is_own_metric(name),
        }
    }

    fn is_own_alpha(&self) -> bool {
        let level = self.kwargs.get("level").or(self.args.first()).filter(|level| **level != Arg::Null);
        let is_other = |level: &Arg| !level.as_str().is_some_and(|name| ALPHA_LEVELS.contains(&name));
        let raters = self.kwargs.get("raters").or(self.args.get(2)).filter(|raters| **raters != Arg::Null);
        raters.is_some() || level.is_some_and(is_other)
    }

    fn is_own_ci(&self) -> bool {
        let method = self.kwargs.get("method").or(self.args.get(1)).filter(|method| **method != Arg::Null);
        let is_other = |method: &Arg| !method.as_str().is_some_and(|name| CI_METHODS.contains(&name));
        self.kwargs.contains_key("side") || method.is_some_and(is_other)
    }

    /// The name that a log has for the metric: [`Spec::log_name`], with our package where the reference has no such
    /// metric.
    ///
    /// ```
    /// use errorbar_core::spec::Spec;
    ///
    /// assert_eq!(Spec::new("stderr").recorded_name(), "stderr");
    /// assert_eq!(Spec::new("consistency").recorded_name(), "errorbar/consistency");
    /// ```
    pub fn recorded_name(&self) -> Cow<'_, str> {
        match self.package {
            None if self.is_own_metric() => Cow::Owned(format!("{OWN_PACKAGE}/{}", self.name)),
            _ => self.log_name(),
        }
    }
}

/// The name that a log has for a reducer that results call by this one: with our package where the reference has no such
/// reducer.
///
/// ```
/// use errorbar_core::spec::recorded_reducer;
///
/// assert_eq!(recorded_reducer("pass_at_2"), "pass_at_2");
/// assert_eq!(recorded_reducer("best_of_2"), "errorbar/best_of_2");
/// assert_eq!(recorded_reducer("g_pass(k=4, j=2)"), "errorbar/g_pass(k=4, j=2)");
/// ```
pub fn recorded_reducer(name: &str) -> Cow<'_, str> {
    let word = name.split_once('(').map_or(name, |(word, _)| word);
    let bare = split_k_suffix(word).map_or(word, |(bare, _)| bare);
    if is_own_reducer(word) || is_own_reducer(bare) {
        return Cow::Owned(format!("{OWN_PACKAGE}/{name}"));
    }
    Cow::Borrowed(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_that_the_reference_has_is_there() {
        let metrics: Vec<&str> = crate::metrics::ENTRIES.iter().map(|entry| entry.name).collect();
        assert!(METRICS.iter().all(|name| metrics.contains(name)), "{metrics:?}");
        let reducers: Vec<&str> = crate::reducers::ENTRIES.iter().map(|entry| entry.name).collect();
        assert!(REDUCERS.iter().all(|name| reducers.contains(name)), "{reducers:?}");
    }
}
