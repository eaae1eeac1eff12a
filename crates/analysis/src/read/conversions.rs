//! How the metrics and reducers of a plan read values as numbers.

use std::sync::Arc;

use errorbar_core::spec::{Arg, Spec};
use errorbar_core::{Conversion, Metric, Plan, Reducers, Registry};

/// The conversion of the reducer of this name.
pub(super) fn conversions_of_reducer(name: &str, reducers: &Reducers) -> Vec<Conversion> {
    let Reducers::Explicit(reducers) = reducers else { return vec![Conversion::default()] };
    let reducer = reducers.iter().find(|reducer| reducer.log_name() == name || reducer.spec().name == name);
    let conversion = reducer.and_then(|reducer| reducer.by_epoch()).and_then(|reducer| reducer.conversion());
    vec![conversion.cloned().unwrap_or_default()]
}

/// The metrics of a scorer.
pub(super) fn metrics_of<'p>(scorer: &str, plan: &'p Plan) -> impl Iterator<Item = &'p Arc<dyn Metric>> {
    let metrics = plan.task_metrics.as_ref().or_else(|| plan.default_metrics.get(scorer));
    metrics.into_iter().flat_map(|metrics| metrics.iter())
}

/// The conversions of the metrics of a scorer: those of what they are about, and those that are named in their arguments.
/// A metric that converts nothing has none.
pub(super) fn conversions_of_metrics(scorer: &str, plan: &Plan, registry: &Registry) -> Vec<Conversion> {
    let mut found = Vec::new();
    for metric in metrics_of(scorer, plan) {
        match metric.subject() {
            // The outermost one reads the values themselves.
            Some(subject) => found.push(subject.conversions.first().cloned().unwrap_or_default()),
            None => collect_conversions(&metric.spec(), registry, &mut found),
        }
    }
    if found.is_empty() {
        found.push(Conversion::default());
    }
    found
}

fn collect_conversions(spec: &Spec, registry: &Registry, found: &mut Vec<Conversion>) {
    for nested in spec.args.iter().chain(spec.kwargs.values()) {
        if let Arg::Spec(nested) = nested {
            match registry.conversion(nested) {
                Ok(conversion) => found.push(conversion),
                Err(_) => collect_conversions(nested, registry, found),
            }
        }
    }
}
