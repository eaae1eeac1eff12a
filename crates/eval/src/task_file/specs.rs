//! Specs in strings of the file: built, or reported with the very place that is wrong.

use std::ops::Range;
use std::sync::Arc;

use errorbar_core::registry::{EntryInfo, EntryKind};
use errorbar_core::spec::{MetricsSpec, Spec, SpecError, SpecErrorKind, reducer_of_papers, split_k_suffix};
use errorbar_core::{Conversion, Error, Metric, Reducer, Registry, Result};

use super::section::did_you_mean;
use super::spec_place::{SpecCall, calls};
use super::syntax::quoted;
use super::text::TomlString;
use crate::{AnyScorer, AnySolver};

/// What is built from the text of one spec; `None` if that failed, which is then reported.
pub(super) fn build<T: EntryKind>(
    text: &TomlString<'_>,
    build: impl FnOnce(&Registry, &Spec) -> Result<T>,
) -> Option<T> {
    build_as(text, T::KIND, build)
}

/// What is built from the text of one spec of a kind that may stand for several entries.
pub(super) fn build_as<T>(
    text: &TomlString<'_>,
    kind: &str,
    build: impl FnOnce(&Registry, &Spec) -> Result<T>,
) -> Option<T> {
    let registry = text.file.registry;
    let built = text.value.parse::<Spec>().map_err(Error::from).and_then(|spec| build(registry, &spec));
    built.map_err(|error| report(text, kind, &error)).ok()
}

/// Reports what is wrong with a spec of this kind.
pub(super) fn report(text: &TomlString<'_>, kind: &str, error: &Error) {
    let registry = text.file.registry;
    let (message, hint) = match error {
        Error::UnknownName { kind: wanted, name, nearest } => {
            let hint = of_another_kind(wanted, name, registry).or_else(|| did_you_mean(nearest.as_deref()));
            (format!("unknown {wanted} `{name}`"), hint.or_else(|| all_names(wanted, registry)))
        }
        Error::Spec(wrong) => {
            let hint = as_papers_write_it(text.value).or_else(|| several(text.value));
            let hint = hint.filter(|_| wrong.text() == Some(text.value));
            (wrong.kind().to_string(), hint.or_else(|| wrong.hint().map(str::to_owned)))
        }
        Error::OutsideFolder(path) => {
            return text.file.mistakes.add_outside(place(text, kind, error), error.to_string(), path);
        }
        other => (other.to_string(), None),
    };
    text.file.mistakes.add(place(text, kind, error), message, hint);
}

/// Where in the file the part of the spec stands that the error is about.
fn place(text: &TomlString<'_>, kind: &str, error: &Error) -> Range<usize> {
    let part = match error {
        Error::Spec(error) => match error.span() {
            Some(span) if error.text() == Some(text.value) => Some(span),
            // Of a text within the spec, as scorers take the names of reducers.
            Some(_) => None,
            None => place_of_argument(text.value, error),
        },
        Error::UnknownName { kind: wanted, name, .. } => {
            let roots = calls(text.value);
            let is_it = |call: &&SpecCall<'_>| call.goes_by(name);
            // `mean(to_float=mean())`: the conversion is the inner one.
            let outer = roots.iter().find(is_it).filter(|_| *wanted == kind);
            let inner = || roots.iter().flat_map(|root| root.all().into_iter().skip(1)).find(is_it);
            let found = outer.or_else(inner).or_else(|| roots.iter().find(is_it));
            let in_quotes = || text.value.find(name.as_str()).map(|at| at..at + name.len());
            found.map(|call| call.name_place.clone()).or_else(in_quotes)
        }
        Error::Argument { target, argument, .. } => {
            let roots = calls(text.value);
            let call = roots.iter().flat_map(SpecCall::all).find(|call| call.goes_by(target));
            call.map(|call| {
                let position = position(target, argument, text.file.registry);
                let shift = usize::from(call.is_shorthand_for(target));
                let positional = position.and_then(|at| call.positional(at.checked_sub(shift)?));
                call.value_of(argument).or(positional).unwrap_or_else(|| call.name_place.clone())
            })
        }
        _ => None,
    };
    part.map_or_else(|| text.span.clone(), |part| text.place(part))
}

/// Arguments that a spec does not take.
fn place_of_argument(text: &str, error: &SpecError) -> Option<Range<usize>> {
    let roots = calls(text);
    let all: Vec<&SpecCall<'_>> = roots.iter().flat_map(SpecCall::all).collect();
    let named = |name: &str| all.iter().filter(|call| call.goes_by(name)).copied().collect::<Vec<_>>();
    match error.kind() {
        SpecErrorKind::UnknownArgument { spec, argument, .. }
        | SpecErrorKind::ArgumentGivenTwice { spec, argument, .. } => {
            named(spec).into_iter().find_map(|call| call.keyword(argument))
        }
        SpecErrorKind::TooManyArguments { spec, parameters, .. } => {
            let shift = |call: &SpecCall<'_>| usize::from(call.is_shorthand_for(spec));
            let named = named(spec).into_iter();
            let extra = |call: &SpecCall<'_>| call.positional(parameters.len().checked_sub(shift(call))?);
            named.map(extra).find(Option::is_some).flatten()
        }
        _ => None,
    }
}

/// Which argument, from 0, has this name.
fn position(target: &str, argument: &str, registry: &Registry) -> Option<usize> {
    let named = |(_, listing): &(&str, &EntryInfo)| listing.name == target;
    let at =
        |(_, listing): (&str, &EntryInfo)| listing.params.iter().position(|param| param.name == argument);
    listings(registry).filter(named).find_map(at)
}

/// Everything that specs can name, with its kind.
fn listings(registry: &Registry) -> impl Iterator<Item = (&'static str, &EntryInfo)> {
    fn of<T: EntryKind>(registry: &Registry) -> impl Iterator<Item = (&'static str, &EntryInfo)> {
        registry.list::<T>().map(|listing| (T::KIND, listing))
    }
    of::<AnySolver>(registry)
        .chain(of::<AnyScorer>(registry))
        .chain(of::<Arc<dyn Metric>>(registry))
        .chain(of::<Arc<dyn Reducer>>(registry))
        .chain(of::<Conversion>(registry))
}

/// A scorer among the metrics, a reducer among the scorers, and so on.
fn of_another_kind(wanted: &str, name: &str, registry: &Registry) -> Option<String> {
    let goes_by = |kind: &str, listing: &EntryInfo| {
        let bare = split_k_suffix(name).filter(|_| kind == "reducer").map(|(bare, _)| bare);
        listing.name == name || bare == Some(listing.name.as_str())
    };
    let (kind, _) = listings(registry).find(|(kind, listing)| *kind != wanted && goes_by(kind, listing))?;
    let home = match kind {
        "metric" => "; it belongs to `metrics`",
        "reducer" => "; it belongs to `epochs`, as in { count = 5, reducers = […] }",
        "solver" => "; it belongs to `solver`",
        "scorer" => "; it belongs to `scorer`",
        _ => "",
    };
    Some(format!("`{name}` is a {kind}{home}"))
}

fn all_names(kind: &str, registry: &Registry) -> Option<String> {
    let names = listings(registry).filter(|(of, _)| *of == kind).map(|(_, listing)| listing.name.as_str());
    let names: Vec<&str> = names.collect();
    (!names.is_empty()).then(|| format!("{kind}s are: {}", names.join(", ")))
}

/// `pass@2` and `pass^2`, in our words.
fn as_papers_write_it(text: &str) -> Option<String> {
    let (name, k) = reducer_of_papers(text)?;
    Some(format!("write {name}_{}", k?))
}

/// Several specs in one string, which would be right in a list.
fn several(text: &str) -> Option<String> {
    let listed = format!("[{text}]").parse::<MetricsSpec>().ok()?;
    let MetricsSpec::List(items) = &listed else { return None };
    let specs: Vec<String> = listed.iter().map(|spec| quoted(&spec.to_string())).collect();
    (specs.len() == items.len() && specs.len() > 1).then(|| format!("write a list: [{}]", specs.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::super::mistake::Mistakes;
    use super::super::section::TaskFile;
    use super::*;
    use crate::built_in_registry;

    /// What is wrong with the metric, and the part of it that is pointed at.
    fn wrong(spec: &str) -> (String, String) {
        let text = format!("metrics = '''{spec}'''");
        let registry = built_in_registry();
        let file = TaskFile {
            text: &text,
            registry: &registry,
            mistakes: Mistakes::default(),
            limit: None,
            is_of_log: false,
        };
        build(&TomlString::new(&file, 10..text.len(), spec), |registry, spec| registry.metric(spec));
        let [mistake] = file.mistakes.in_order(&text).try_into().unwrap();
        (mistake.message, text[mistake.span].to_owned())
    }

    #[test]
    fn the_very_part_is_pointed_at() {
        let at = |spec: &str| wrong(spec).1;
        assert_eq!(at("grouped(acuracy(), 'acuracy')"), "acuracy");
        assert_eq!(at("mean(to_float=mean())"), "mean");
        assert_eq!(wrong("mean(to_float=mean())").0, "unknown conversion `mean`");
        assert_eq!(at("grouped(stderr(clutser='x'), 'clutser')"), "clutser");
        assert_eq!(at("stderr(cluster=5)"), "5");
        assert_eq!(at("ci('high')"), "'high'");
        assert_eq!(at("accuracy(value_to_float(), 2, 3)"), "2");
        assert_eq!(at("grouped(accuracy())"), "grouped");
        assert_eq!(at("stderr(cluster=)"), ")");
        assert_eq!(at("stderr(cluster='x' all)"), "all");
        assert_eq!(at("stderr(cluster=\"x)"), "\"");
        assert_eq!(at("stderr("), "'");
    }

    #[test]
    fn of_two_of_one_name_the_wrong_one_is_meant() {
        let text = "metrics = 'mean(to_float=mean())'";
        let registry = built_in_registry();
        let file = TaskFile {
            text,
            registry: &registry,
            mistakes: Mistakes::default(),
            limit: None,
            is_of_log: false,
        };
        let string = TomlString::new(&file, 10..text.len(), &text[11..text.len() - 1]);
        let place = |kind: &'static str, wanted: &'static str| {
            let error = Error::UnknownName { kind: wanted, name: "mean".to_owned(), nearest: None };
            place(&string, kind, &error)
        };
        assert_eq!(place("metric", "conversion"), 25..29, "the inner one");
        assert_eq!(place("metric", "metric"), 11..15, "the outer one");
    }
}
