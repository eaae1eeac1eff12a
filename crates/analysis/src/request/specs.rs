//! What is asked for in place of recorded metrics, reducers and error plans; specs are built, or refused with the part that
//! is wrong marked.

use std::ops::Range;

use errorbar_core::spec::{MetricsSpec, Spec, SpecErrorKind, SpecPlace, reducer_of_papers, split_k_suffix};
use errorbar_core::{Error, MetricItem, Metrics, Order, Plan, Reducers, Registry};
use errorbar_log::inspect::scorer_metrics;

use super::errors::check_clusters;
use super::{ErrorRequest, GateRequest};
use crate::diagnostic::{Diagnostic, DiagnosticKind, Diagnostics, Snippet, all};
use crate::text;
use crate::text::Opt;
use crate::text::Text;

/// What is asked for in place of what a task or a log records, and of the defaults of a table.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct PlanChanges {
    /// The metrics.
    pub metrics: Option<Metrics>,
    /// The reducers.
    pub reducers: Option<Reducers>,
    /// The order of groups, shares and scorers.
    pub order: Order,
    /// The seed of random numbers.
    pub seed: Option<u64>,
    /// How errors and intervals are computed.
    pub errors: ErrorRequest,
    /// A gate, which sets the level of intervals.
    pub gate: GateRequest,
}

impl PlanChanges {
    /// Builds metrics and reducers, or fails with everything that is wrong with them.
    ///
    /// # Errors
    /// Specs that cannot be built.
    pub fn new(
        metrics: &[String],
        reducers: &[String],
        no_reduce: bool,
        specs: Specs<'_>,
    ) -> Result<Self, Diagnostics> {
        let registry = specs.registry.importing();
        let metric = |text: &str| registry.metrics(&text.parse()?);
        let reducer = |text: &str| registry.reducers(&text.parse()?);
        let mut diagnostics = Diagnostics::default();
        let metrics = diagnostics.collect(specs.build(Opt::Metric, metrics, metric));
        let reducers = diagnostics.collect(specs.build(Opt::Reducer, reducers, reducer));
        let (Some(metrics), Some(reducers)) = (metrics, reducers) else { return Err(diagnostics) };
        let reducers = reducers.concat();
        let reducers = match reducers.is_empty() {
            _ if no_reduce => Some(Reducers::Disabled),
            true => None,
            false => Some(Reducers::explicit(reducers)),
        };
        Ok(PlanChanges { metrics: as_one(metrics), reducers, ..PlanChanges::default() })
    }

    /// The same with these errors and intervals, which are checked.
    ///
    /// # Errors
    /// [`ErrorRequest::check`].
    pub fn errors(mut self, errors: &ErrorRequest) -> Result<Self, Diagnostics> {
        errors.check()?;
        self.errors.clone_from(errors);
        Ok(self)
    }

    /// The same with this seed.
    #[must_use]
    pub fn seed(self, seed: Option<u64>) -> Self {
        PlanChanges { seed, ..self }
    }

    /// The plan of a table: the metrics that scorers have of their own, with everything that is asked for.
    ///
    /// # Errors
    /// A method for clusters without a key to cluster by.
    pub(crate) fn plan_of_table(&self) -> Result<Plan, Diagnostic> {
        let mut plan = Plan::new();
        plan.default_metrics = scorer_metrics();
        let plan = self.apply(plan);
        check_clusters(&plan)?;
        Ok(plan)
    }

    /// The plan of a log or a table with everything that is asked for.
    pub fn apply(&self, mut plan: Plan) -> Plan {
        if let Some(metrics) = &self.metrics {
            plan.task_metrics = Some(metrics.clone());
            // What the user requests is computed, however long it takes.
            plan.max_draws = None;
        }
        if let Some(reducers) = &self.reducers {
            plan.reducers = reducers.clone();
            plan.scorer_reducers.clear();
        }
        plan.seed = self.seed.unwrap_or(plan.seed);
        if self.errors.requests_draws() {
            plan.max_draws = None;
        }
        plan.errors = self.errors.over(&plan.errors);
        self.gate.apply(&mut plan.errors);
        plan.order = self.order;
        plan
    }
}

/// What specs are built with.
#[derive(Clone, Copy, Debug)]
pub struct Specs<'a> {
    /// The metrics, reducers and scorers that there are.
    pub registry: &'a Registry,
    /// The name of the program, for hints.
    pub program: &'a str,
}

impl Specs<'_> {
    /// What each of the texts of an option names.
    ///
    /// # Errors
    /// Everything that is wrong with them.
    pub fn build<T>(
        &self,
        option: Opt,
        texts: &[String],
        build: impl Fn(&str) -> errorbar_core::Result<T>,
    ) -> Result<Vec<T>, Diagnostics> {
        all(texts
            .iter()
            .map(|text| build(text).map_err(|error| self.diagnostic(option, text, &error).into())))
    }

    /// What is wrong with a spec, where, and what would be right.
    fn diagnostic(&self, option: Opt, text: &str, error: &Error) -> Diagnostic {
        let plural = match option {
            Opt::With => "scorers".to_owned(),
            option => format!("{}s", option.flag().trim_start_matches('-')),
        };
        let list = format!("`{} list {plural}` shows names and arguments", self.program);
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
            .marked(Snippet::of_option(option, text, span(text, error)))
            .hint_if(mistaken(option, text, error, self.registry).or(advice.map(Text::from)))
    }
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

/// What was meant, for mistakes that are easily made: a reducer as a metric or the other way round, a
/// reducer as papers write it, several specs in one option.
fn mistaken(option: Opt, text: &str, error: &Error, registry: &Registry) -> Option<Text> {
    match error {
        Error::UnknownName { kind: "metric", name, .. } => {
            let bare = split_k_suffix(name).map_or(name.as_str(), |(bare, _)| bare);
            let is_reducer = registry.list_reducers().any(|r| r.name == *name || r.name == bare);
            is_reducer.then(|| text!("`{}` is a reducer: {}", name, Opt::Reducer.set(name)))
        }
        Error::UnknownName { kind: "reducer", name, .. } => {
            let is_metric = registry.list_metrics().any(|metric| metric.name == *name);
            is_metric.then(|| text!("`{}` is a metric: {}", name, Opt::Metric.set(name)))
        }
        Error::Spec(_) => as_papers_write_it(text).or_else(|| several(option, text)),
        _ => None,
    }
}

/// `pass@2` and `pass^2`, in our words.
fn as_papers_write_it(text: &str) -> Option<Text> {
    let (name, k) = reducer_of_papers(text)?;
    Some(match k {
        Some(k) => text!("write {}", Opt::Reducer.set(format!("{name}_{k}"))),
        None => text!("write the number too: {}", Opt::Reducer.set(format!("{name}_2"))),
    })
}

/// Several specs in one option, which would be right in several.
fn several(option: Opt, text: &str) -> Option<Text> {
    let listed = format!("[{text}]").parse::<MetricsSpec>().ok()?;
    let MetricsSpec::List(items) = &listed else { return None };
    let all_plain = listed.iter().count() == items.len() && items.len() > 1;
    let written = |spec: &Spec| {
        let spec = spec.to_string();
        spec.strip_suffix("()").unwrap_or(&spec).to_owned()
    };
    all_plain.then(|| text!("repeat the option: {}", option.set_all(listed.iter().map(written))))
}

/// The part of the text that an error is about: where parsing stopped, the name that is wrong, or all of it.
fn span(text: &str, error: &Error) -> Range<usize> {
    let places = SpecPlace::all(text);
    let written = |place: &Range<usize>| text.get(place.clone()).unwrap_or_default();
    let named = |name: &str| {
        let goes_by = |written: &str| {
            let short = written.strip_prefix("inspect_ai/").unwrap_or(written);
            [written, short].contains(&name) || split_k_suffix(short).is_some_and(|(base, _)| base == name)
        };
        places.iter().map(|place| place.name.clone()).find(|place| goes_by(written(place)))
    };
    let keyword = |name: &str| {
        let arguments = places.iter().flat_map(|place| &place.arguments);
        arguments.filter_map(|(keyword, _)| keyword.clone()).find(|keyword| written(keyword) == name)
    };
    let span = match error {
        Error::UnknownName { name, .. } => named(name),
        Error::Argument { target, argument, .. } => keyword(argument).or_else(|| named(target)),
        Error::Spec(error) => match error.kind() {
            SpecErrorKind::UnknownArgument { argument, spec, .. }
            | SpecErrorKind::ArgumentGivenTwice { argument, spec, .. } => {
                keyword(argument).or_else(|| named(spec))
            }
            SpecErrorKind::TooManyArguments { spec, .. } => named(spec),
            _ => error.span(),
        },
        _ => None,
    };
    span.unwrap_or(0..text.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found_whole_and_outside_of_quotes() {
        let unknown = |text: &str| {
            span(text, &Error::UnknownName { kind: "metric", name: "acc".to_owned(), nearest: None })
        };
        assert_eq!(unknown("grouped(acc, 'x')"), 8..11);
        assert_eq!(unknown("grouped(accuracy, \"acc\")"), 0..24);
        assert_eq!(unknown(""), 0..0);
        let (target, argument, problem) = ("my_acc".to_owned(), "acc".to_owned(), String::new());
        assert_eq!(span("my_acc(acc=1)", &Error::Argument { target, argument, problem }), 7..10);
    }
}
