//! What errorbar brings: the metrics, reducers and conversions of a registry, and under which names logs record them: as the
//! reference's own where it has the same, else as ours.

use std::borrow::Cow;

use crate::error::Result;
use crate::registry::{Entry, MetricEntry, ReducerEntry, Registry};
use crate::spec::{OWN_PACKAGE, Spec, split_k_suffix};
use crate::value::{Conversion, ValueToFloat};
use crate::{metrics, reducers};

impl Default for Registry {
    fn default() -> Self {
        Registry::built_in()
    }
}

impl Registry {
    /// What the engine brings, and nothing else.
    pub fn built_in() -> Self {
        let mut registry = Registry::empty();
        registry.add_built_in(metrics::ENTRIES);
        registry.add_built_in(reducers::ENTRIES);
        registry.add_built_in(&[Entry::<Conversion>::of::<ValueToFloat>()]);
        registry
    }

    /// What the engine brings and what `#[metric]` and `#[reducer]` define in the program.
    pub fn collected() -> Result<Self> {
        let mut registry = Registry::built_in();
        registry.add_all(inventory::iter::<MetricEntry>.into_iter().collect())?;
        registry.add_all(inventory::iter::<ReducerEntry>.into_iter().collect())?;
        Ok(registry)
    }

    /// The name that a log has for a reducer that results call by this one: with our package where the reference has no such
    /// reducer.
    ///
    /// ```
    /// use errorbar_core::Registry;
    ///
    /// assert_eq!(Registry::recorded_reducer("pass_at_2"), "pass_at_2");
    /// assert_eq!(Registry::recorded_reducer("best_of_2"), "errorbar/best_of_2");
    /// assert_eq!(Registry::recorded_reducer("g_pass(k=4, j=2)"), "errorbar/g_pass(k=4, j=2)");
    /// ```
    pub fn recorded_reducer(name: &str) -> Cow<'_, str> {
        let word = name.split_once('(').map_or(name, |(word, _)| word);
        let bare = split_k_suffix(word).map_or(word, |(bare, _)| bare);
        let is_own = |name: &str| {
            reducers::ENTRIES.iter().any(|entry| entry.name == name && entry.is_own(&Spec::new(name)))
        };
        if is_own(word) || is_own(bare) {
            return Cow::Owned(format!("{OWN_PACKAGE}/{name}"));
        }
        Cow::Borrowed(name)
    }
}

impl Spec {
    /// Whether errorbar brings a metric of this name, and the reference has none that takes these arguments. Each entry
    /// declares it, with its arguments.
    ///
    /// ```
    /// use errorbar_core::spec::Spec;
    ///
    /// let is_own = |text: &str| text.parse::<Spec>().is_ok_and(|spec| spec.is_own_metric());
    /// assert!(is_own("ci(method=\"bca\")") && is_own("consistency") && !is_own("a_custom_one"));
    /// assert!(!is_own("ci(0.9, \"bootstrap\")"));
    /// assert!(is_own("krippendorff_alpha(\"ratio\")") && !is_own("krippendorff_alpha(\"ordinal\")"));
    /// assert!(is_own("grouped(mean(), \"topic\", shrink=true)") && !is_own("grouped(mean(), \"topic\")"));
    /// ```
    pub fn is_own_metric(&self) -> bool {
        let mut entries = metrics::ENTRIES.iter();
        entries.find(|entry| entry.name == self.name).is_some_and(|entry| entry.is_own(self))
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
