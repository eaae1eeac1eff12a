//! Specs on the command line: built, or an error with the place marked.

use std::ops::Range;

use errorbar_core::spec::{MetricsSpec, Spec, SpecErrorKind, reducer_of_papers, split_k_suffix};
use errorbar_core::{Error, MetricItem, Metrics, Order, Plan, Reducers, Registry};
use errorbar_eval::AnyScorer;

use super::Context;
use super::error_args::ErrorArgs;
use crate::diagnostic::{Diagnostic, DiagnosticKind, Diagnostics, all};
use crate::snippet::Snippet;

const METRIC: &str = "--metric";
const REDUCER: &str = "--reducer";
const WITH: &str = "--with";

/// What the options give in place of the metrics and reducers of a task or a log.
pub(crate) struct PlanOverrides {
    pub(crate) metrics: Option<Metrics>,
    pub(crate) reducers: Option<Reducers>,
    order: Order,
}

impl PlanOverrides {
    /// Builds what `--metric`, `--reducer` and `--no-reduce` name, or fails with everything that is wrong with them.
    pub(crate) fn new(
        metrics: &[String],
        reducers: &[String],
        no_reduce: bool,
        context: &Context<'_>,
    ) -> Result<Self, Diagnostics> {
        let registry = context.registry.importing();
        let metric = |text: &str| registry.metrics(&text.parse()?);
        let reducer = |text: &str| registry.reducers(&text.parse()?);
        let mut diagnostics = Diagnostics::default();
        let metrics = diagnostics.collect(build(METRIC, metrics, context, metric));
        let reducers = diagnostics.collect(build(REDUCER, reducers, context, reducer));
        let (Some(metrics), Some(reducers)) = (metrics, reducers) else { return Err(diagnostics) };
        let reducers = reducers.concat();
        let reducers = match reducers.is_empty() {
            _ if no_reduce => Some(Reducers::Disabled),
            true => None,
            false => Some(Reducers::explicit(reducers)),
        };
        Ok(PlanOverrides { metrics: as_one(metrics), reducers, order: Order::default() })
    }

    /// The same with results in this order.
    pub(crate) fn in_order(self, order: Order) -> Self {
        PlanOverrides { order, ..self }
    }

    /// The plan of a log or a table with everything that the options give.
    pub(crate) fn apply(&self, mut plan: Plan, seed: Option<u64>, errors: &ErrorArgs) -> Plan {
        if let Some(metrics) = &self.metrics {
            plan.task_metrics = Some(metrics.clone());
            // What the user requests is computed, however long it takes.
            plan.max_draws = None;
        }
        if let Some(reducers) = &self.reducers {
            plan.reducers = reducers.clone();
            plan.scorer_reducers.clear();
        }
        if let Some(seed) = seed {
            plan.seed = seed;
        }
        if errors.requests_draws() {
            plan.max_draws = None;
        }
        plan.errors = errors.over(&plan.errors);
        plan.order = self.order;
        plan
    }
}

/// Builds the scorers that `--with` names, or fails with everything that is wrong with them.
pub(crate) fn scorers(texts: &[String], context: &Context<'_>) -> Result<Vec<AnyScorer>, Diagnostics> {
    let registry = context.registry.importing();
    build(WITH, texts, context, |text| registry.build(&text.parse()?))
}

/// The metrics of all options as one list; a map that stands alone stays a map.
fn as_one(mut metrics: Vec<Metrics>) -> Option<Metrics> {
    if metrics.len() < 2 {
        return metrics.pop();
    }
    let items = metrics.into_iter().flat_map(|metrics| match metrics {
        Metrics::List(items) => items,
        Metrics::Map(map) => vec![MetricItem::Map(map)],
    });
    Some(Metrics::List(items.collect()))
}

/// What each of the texts of an option names.
fn build<T>(
    option: &str,
    texts: &[String],
    context: &Context<'_>,
    build: impl Fn(&str) -> errorbar_core::Result<T>,
) -> Result<Vec<T>, Diagnostics> {
    all(texts
        .iter()
        .map(|text| build(text).map_err(|error| diagnostic(option, text, &error, context).into())))
}

/// What is wrong with a spec, where, and what would be right.
fn diagnostic(option: &str, text: &str, error: &Error, context: &Context<'_>) -> Diagnostic {
    let plural = match option {
        WITH => "scorers".to_owned(),
        option => format!("{}s", option.trim_start_matches('-')),
    };
    let list = format!("`{} list {plural}` shows names and arguments", context.program);
    let (problem, advice) = match error {
        Error::UnknownName { kind, name, nearest } => {
            let nearest = nearest.as_ref().map(|nearest| format!("did you mean `{nearest}`?"));
            (format!("unknown {kind} `{name}`"), Some(nearest.unwrap_or(list)))
        }
        Error::Spec(error) => {
            let of_arguments = matches!(
                error.kind(),
                SpecErrorKind::UnknownArgument { .. } | SpecErrorKind::TooManyArguments { .. }
            );
            (error.to_string(), error.hint().map(str::to_owned).or(of_arguments.then_some(list)))
        }
        other => (other.to_string(), None),
    };
    Diagnostic::error(problem)
        .of_kind(DiagnosticKind::Spec)
        .snippet(Snippet::of_argument(option, text, span(text, error)))
        .hint_if(mistaken(option, text, error, context.registry).or(advice))
}

/// What was meant, for mistakes that are easily made: a reducer as a metric or the other way round, a
/// reducer as papers write it, several specs in one option.
fn mistaken(option: &str, text: &str, error: &Error, registry: &Registry) -> Option<String> {
    match error {
        Error::UnknownName { kind: "metric", name, .. } => {
            let bare = split_k_suffix(name).map_or(name.as_str(), |(bare, _)| bare);
            let is_reducer = registry.list_reducers().any(|r| r.name == *name || r.name == bare);
            is_reducer.then(|| format!("`{name}` is a reducer: {REDUCER} {name}"))
        }
        Error::UnknownName { kind: "reducer", name, .. } => {
            let is_metric = registry.list_metrics().any(|metric| metric.name == *name);
            is_metric.then(|| format!("`{name}` is a metric: {METRIC} {name}"))
        }
        Error::Spec(_) => as_papers_write_it(text).or_else(|| several(option, text)),
        _ => None,
    }
}

/// `pass@2` and `pass^2`, in our words.
fn as_papers_write_it(text: &str) -> Option<String> {
    let (name, k) = reducer_of_papers(text)?;
    Some(match k {
        Some(k) => format!("write {REDUCER} {name}_{k}"),
        None => format!("write the number too: {REDUCER} {name}_2"),
    })
}

/// Several specs in one option, which would be right in several.
fn several(option: &str, text: &str) -> Option<String> {
    let listed = format!("[{text}]").parse::<MetricsSpec>().ok()?;
    let MetricsSpec::List(items) = &listed else { return None };
    let all_plain = listed.iter().count() == items.len() && items.len() > 1;
    let written = |spec: &Spec| {
        let spec = spec.to_string();
        let spec = spec.strip_suffix("()").unwrap_or(&spec);
        let is_word = spec.chars().all(|c| c.is_alphanumeric() || c == '_');
        if is_word { format!("{option} {spec}") } else { format!("{option} '{spec}'") }
    };
    let options: Vec<String> = listed.iter().map(written).collect();
    all_plain.then(|| format!("repeat the option: {}", options.join(" ")))
}

/// The part of the text that an error is about: where parsing stopped, the name that is wrong, or all of it.
fn span(text: &str, error: &Error) -> Range<usize> {
    let named = |name: &str, target: &str| word(text, name).or_else(|| word(text, target));
    let span = match error {
        Error::UnknownName { name, .. } => word(text, name),
        Error::Argument { target, argument, .. } => named(argument, target),
        Error::Spec(error) => match error.kind() {
            SpecErrorKind::UnknownArgument { argument, spec, .. }
            | SpecErrorKind::ArgumentGivenTwice { argument, spec, .. } => named(argument, spec),
            SpecErrorKind::TooManyArguments { spec, .. } => word(text, spec),
            _ => error.span(),
        },
        _ => None,
    };
    span.unwrap_or(0..text.len())
}

/// The first place of a whole word outside of quotes.
fn word(text: &str, wanted: &str) -> Option<Range<usize>> {
    let is_inside = |c: char| c.is_alphanumeric() || matches!(c, '_' | '/' | '-' | '.');
    let mut quote = None;
    let mut before = None;
    for (at, c) in text.char_indices() {
        match quote {
            Some(open) if c == open => quote = None,
            Some(_) => {}
            None if matches!(c, '"' | '\'') => quote = Some(c),
            None => {
                let rest = text.get(at..).unwrap_or_default();
                let ends = rest.strip_prefix(wanted).is_some_and(|rest| !rest.starts_with(is_inside));
                if ends && !before.is_some_and(is_inside) {
                    return Some(at..at + wanted.len());
                }
            }
        }
        before = Some(c);
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_found_whole_and_outside_of_quotes() {
        assert_eq!(word("grouped(acc, 'x')", "acc"), Some(8..11));
        assert_eq!(word("grouped(accuracy, \"acc\")", "acc"), None);
        assert_eq!(word("my_acc(acc=1)", "acc"), Some(7..10));
        assert_eq!(word("", "acc"), None);
    }
}
