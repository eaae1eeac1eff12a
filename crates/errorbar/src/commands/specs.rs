//! Specs off the command line: built, or refused with the place marked.

use errorbar_core::spec::{MetricsSpec, Spec, SpecErrorKind, reducer_of_papers, split_k_suffix};
use errorbar_core::{Error, MetricItem, Metrics, Reducers, Registry};

use super::Context;
use crate::message;

const METRIC: &str = "--metric";
const REDUCER: &str = "--reducer";

/// What the options ask for in place of what a task or a log says.
pub(crate) struct PlanOverrides {
    pub(crate) metrics: Option<Metrics>,
    pub(crate) reducers: Option<Reducers>,
}

/// What `--metric`, `--reducer` and `--no-reduce` ask for; nothing if one of them is wrong, which then was told.
pub(crate) fn overrides(
    metric_texts: &[String],
    reducer_texts: &[String],
    no_reduce: bool,
    context: &Context<'_>,
) -> Option<PlanOverrides> {
    // Both before either is given up, so that one run tells everything.
    let metrics = metrics(metric_texts, context);
    let reducers = reducers(reducer_texts, context);
    let (metrics, reducers) = (metrics?, reducers?);
    let reducers = match reducers {
        _ if no_reduce => Some(Reducers::Disabled),
        reducers => (!reducer_texts.is_empty()).then_some(reducers),
    };
    Some(PlanOverrides { metrics: (!metric_texts.is_empty()).then_some(metrics), reducers })
}

/// The metrics of all `--metric` options as one list; a map that stands alone stays a map. Every
/// option that is wrong is told; nothing is returned then.
fn metrics(texts: &[String], context: &Context<'_>) -> Option<Metrics> {
    let build = |text: &String| {
        let spec = text.parse::<MetricsSpec>().map_err(Error::from);
        let built = spec.and_then(|spec| context.registry.metrics(&spec));
        built.map_err(|error| refuse(METRIC, text, &error, context)).ok()
    };
    let mut built = all(texts.iter().map(build))?;
    if built.len() == 1 {
        return built.pop();
    }
    let items = built.into_iter().flat_map(|metrics| match metrics {
        Metrics::List(items) => items,
        Metrics::Map(map) => vec![MetricItem::Map(map)],
    });
    Some(Metrics::List(items.collect()))
}

/// The reducers of all `--reducer` options; every one that is wrong is told.
fn reducers(texts: &[String], context: &Context<'_>) -> Option<Reducers> {
    let build = |text: &String| {
        let spec = text.parse().map_err(Error::from);
        let built = spec.and_then(|spec| context.registry.reducer(&spec));
        built.map_err(|error| refuse(REDUCER, text, &error, context)).ok()
    };
    all(texts.iter().map(build)).map(Reducers::explicit)
}

/// All of them, or nothing; unlike `collect`, it goes on behind the first that is missing.
fn all<T>(items: impl Iterator<Item = Option<T>>) -> Option<Vec<T>> {
    let items: Vec<Option<T>> = items.collect();
    items.into_iter().collect()
}

/// Says what is wrong with a spec, where, and what would be right.
fn refuse(option: &str, text: &str, error: &Error, context: &Context<'_>) {
    let plural = format!("{}s", option.trim_start_matches('-'));
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
    message::error(problem);
    mark(option, text, error);
    if let Some(advice) = mistaken(option, text, error, context.registry).or(advice) {
        message::hint(advice);
    }
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

/// Shows the option with marks under the part that is meant, or under all of it.
fn mark(option: &str, text: &str, error: &Error) {
    const LONGEST: usize = 120;
    if let Error::Spec(error) = error
        && let Some(snippet) = error.snippet()
        && let Some((line, caret)) = snippet.split_once('\n')
    {
        let indent = " ".repeat(option.len() + 1);
        return message::snippet(&format!("{option} {line}"), &format!("{indent}{caret}"));
    }
    if text.chars().count() > LONGEST || text.chars().any(char::is_control) {
        return;
    }
    let (start, length) = place(text, error).unwrap_or((0, text.len()));
    let before = text.get(..start).unwrap_or_default().chars().count();
    let marked = text.get(start..start + length).unwrap_or_default().chars().count();
    let marks = format!("{}{}", " ".repeat(option.len() + 1 + before), "^".repeat(marked.max(1)));
    message::snippet(&format!("{option} {text}"), &marks);
}

/// Where in the text the name stands that an error is about, outside of quotes.
fn place(text: &str, error: &Error) -> Option<(usize, usize)> {
    let argument = |name: &str, target: &str| word(text, name).or_else(|| word(text, target));
    match error {
        Error::UnknownName { name, .. } => word(text, name),
        Error::Argument { target, argument: name, .. } => argument(name, target),
        Error::Spec(error) => match error.kind() {
            SpecErrorKind::UnknownArgument { argument: name, spec, .. }
            | SpecErrorKind::ArgumentGivenTwice { argument: name, spec, .. } => argument(name, spec),
            SpecErrorKind::TooManyArguments { spec, .. } => word(text, spec),
            _ => None,
        },
        _ => None,
    }
}

/// The first place of a whole word outside of quotes: its start and length in bytes.
fn word(text: &str, wanted: &str) -> Option<(usize, usize)> {
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
                    return Some((at, wanted.len()));
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
        assert_eq!(word("grouped(acc, 'x')", "acc"), Some((8, 3)));
        assert_eq!(word("grouped(accuracy, \"acc\")", "acc"), None);
        assert_eq!(word("my_acc(acc=1)", "acc"), Some((7, 3)));
        assert_eq!(word("", "acc"), None);
    }
}
