//! Specs in strings of the file: built, or reported with the very place that is wrong.

use std::ops::Range;
use std::sync::Arc;

use errorbar_core::registry::{EntryInfo, EntryKind};
use errorbar_core::spec::{
    MetricsSpec, Spec, SpecError, SpecErrorKind, SpecPlace, reducer_of_papers, split_k_suffix,
};
use errorbar_core::{Conversion, Error, Metric, Reducer, Registry, Result};

use super::mistake::quoted;
use super::section::{TomlString, did_you_mean};
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
            let calls = calls(text.value);
            let mut found = calls.iter().filter(|call| call.goes_by(name));
            // `mean(to_float=mean())`: the conversion is the inner one.
            let wanted = found.clone().find(|call| call.place.is_outer == (*wanted == kind));
            let in_quotes = || text.value.find(name.as_str()).map(|at| at..at + name.len());
            wanted.or_else(|| found.next()).map(|call| call.place.name.clone()).or_else(in_quotes)
        }
        Error::Argument { target, argument, .. } => {
            let calls = calls(text.value);
            calls.iter().find(|call| call.goes_by(target)).map(|call| {
                let position = position(target, argument, text.file.registry);
                let by_position = position.and_then(|at| call.positional(at, target));
                let by_name = call.keyword(argument).map(|(_, value)| value);
                by_name.or(by_position).unwrap_or_else(|| call.place.name.clone())
            })
        }
        _ => None,
    };
    part.map_or_else(|| text.span.clone(), |part| text.place(part))
}

/// Arguments that a spec does not take.
fn place_of_argument(text: &str, error: &SpecError) -> Option<Range<usize>> {
    let calls = calls(text);
    match error.kind() {
        SpecErrorKind::UnknownArgument { spec, argument, .. }
        | SpecErrorKind::ArgumentGivenTwice { spec, argument, .. } => {
            let mut named = calls.iter().filter(|call| call.goes_by(spec));
            named.find_map(|call| call.keyword(argument)).map(|(keyword, _)| keyword)
        }
        SpecErrorKind::TooManyArguments { spec, parameters, .. } => {
            let mut named = calls.iter().filter(|call| call.goes_by(spec));
            named.find_map(|call| call.positional(parameters.len(), spec))
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

/// A spec in a text, with the name that it is written under: with its package, without backquotes.
#[derive(Debug)]
struct SpecCall<'t> {
    text: &'t str,
    name: &'t str,
    place: SpecPlace,
}

/// The specs of a text, each before those in it.
fn calls(text: &str) -> Vec<SpecCall<'_>> {
    let call = |place: SpecPlace| {
        let name = text.get(place.name.clone()).unwrap_or_default().trim_matches('`');
        SpecCall { text, name, place }
    };
    SpecPlace::all(text).into_iter().map(call).collect()
}

impl SpecCall<'_> {
    /// Whether it is called so: with its package, without that of the reference, or without the number behind it.
    fn goes_by(&self, name: &str) -> bool {
        self.name == name || self.short_name() == name || self.is_shorthand_for(name)
    }

    fn short_name(&self) -> &str {
        self.name.strip_prefix("inspect_ai/").unwrap_or(self.name)
    }

    /// Whether this is `name_2`.
    fn is_shorthand_for(&self, name: &str) -> bool {
        split_k_suffix(self.short_name()).is_some_and(|(base, _)| base == name)
    }

    /// The keyword of this name, and its value.
    fn keyword(&self, name: &str) -> Option<(Range<usize>, Range<usize>)> {
        self.place.arguments.iter().find_map(|(keyword, value)| {
            let keyword = keyword.clone().filter(|place| self.text.get(place.clone()) == Some(name))?;
            Some((keyword, value.clone()))
        })
    }

    /// The positional argument of this number, from 0, if the spec is taken for one of this name: `name_2` has its first
    /// argument in the name.
    fn positional(&self, at: usize, name: &str) -> Option<Range<usize>> {
        let at = at.checked_sub(usize::from(self.is_shorthand_for(name)))?;
        let mut positional = self.place.arguments.iter().filter(|(keyword, _)| keyword.is_none());
        positional.nth(at).map(|(_, value)| value.clone())
    }
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
        build(&TomlString { value: spec, span: 10..text.len(), file: &file }, |registry, spec| {
            registry.metric(spec)
        });
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
        let string = TomlString { value: &text[11..text.len() - 1], span: 10..text.len(), file: &file };
        let place = |kind: &'static str, wanted: &'static str| {
            let error = Error::UnknownName { kind: wanted, name: "mean".to_owned(), nearest: None };
            place(&string, kind, &error)
        };
        assert_eq!(place("metric", "conversion"), 25..29, "the inner one");
        assert_eq!(place("metric", "metric"), 11..15, "the outer one");
    }
}

#[cfg(test)]
mod spec_place_tests {
    use super::*;

    const SPEC: &str =
        r#"grouped( mean(to_float = value_to_float(correct="a)b\"")) , 'x, y', all=[1, -2.5], m={"k": std})"#;

    fn names(text: &str) -> Vec<&str> {
        calls(text).iter().map(|call| call.name).collect()
    }

    #[test]
    fn calls_within_calls() {
        let calls = calls(SPEC);
        assert_eq!(names(SPEC), ["grouped", "mean", "value_to_float", "std"]);
        let root = &calls[0];
        let positional = |at: usize| root.positional(at, "grouped");
        assert_eq!(&SPEC[positional(0).unwrap()], r#"mean(to_float = value_to_float(correct="a)b\""))"#);
        assert_eq!(&SPEC[positional(1).unwrap()], "'x, y'");
        assert_eq!(&SPEC[root.keyword("all").unwrap().1], "[1, -2.5]");
        assert_eq!(&SPEC[root.keyword("m").unwrap().0], "m");
        assert_eq!(positional(2), None);
    }

    #[test]
    fn raw_strings_are_values() {
        const RAW: &str = r#"f(r'a\'(b', p = R"\\")"#;
        let calls = calls(RAW);
        assert_eq!(&RAW[calls[0].positional(0, "f").unwrap()], r"r'a\'(b'");
        assert_eq!(&RAW[calls[0].keyword("p").unwrap().1], r#"R"\\""#);
        assert_eq!(names("f(r , g(1))"), ["f", "r", "g"]);
        assert_eq!(super::calls("f(r , g(1))")[0].positional(0, "f"), Some(2..3));
    }

    #[test]
    fn lists_and_maps_of_specs() {
        let outer = |text| -> Vec<&str> {
            calls(text).iter().filter(|call| call.place.is_outer).map(|call| call.name).collect()
        };
        assert_eq!(
            outer("[a, b(x(1)), {'c*': [d, `e f`()], 'g': inspect_ai/h}]"),
            ["a", "b", "d", "e f", "inspect_ai/h"]
        );
        assert_eq!(outer(" at_least_2 "), ["at_least_2"]);
        assert!(calls("at_least_2")[0].goes_by("at_least"));
        assert!(calls("inspect_ai/mean")[0].goes_by("mean"));
    }

    #[test]
    fn another_text_has_none() {
        for text in
            ["", "(", "a(", "a(b", "[", "{]", "'", "a(=)", "a(,,)", "\\", "a(b=,c", "}", "[}", "a)b", "é(é=é"]
        {
            assert!(calls(text).is_empty(), "{text}");
        }
    }
}
