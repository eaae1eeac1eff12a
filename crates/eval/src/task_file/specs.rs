//! Specs in strings of the file: built, or reported with the very place that is wrong.

use std::ops::Range;
use std::sync::Arc;

use errorbar_core::registry::{EntryInfo, EntryKind};
use errorbar_core::spec::{MetricsSpec, Spec, SpecError, SpecErrorKind, reducer_of_papers, split_k_suffix};
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

/// A name and its arguments in the text of a spec.
#[derive(Debug)]
pub(super) struct SpecCall<'t> {
    /// The name as it is written, with its package and without backquotes.
    name: &'t str,
    pub(super) name_place: Range<usize>,
    arguments: Vec<SpecArgument<'t>>,
}

#[derive(Debug)]
struct SpecArgument<'t> {
    keyword: Option<(&'t str, Range<usize>)>,
    value_place: Range<usize>,
    calls: Vec<SpecCall<'t>>,
}

/// The calls of a text that is a spec, or a list or map of specs: those that stand in no other one.
pub(super) fn calls(text: &str) -> Vec<SpecCall<'_>> {
    SpecWalker { text, at: 0 }.value().1
}

impl<'t> SpecCall<'t> {
    /// Whether it is called so: with its package, without that of the reference, or without the number behind it.
    pub(super) fn goes_by(&self, name: &str) -> bool {
        let short = self.name.strip_prefix("inspect_ai/").unwrap_or(self.name);
        self.name == name || short == name || self.is_shorthand_for(name)
    }

    /// Whether this is `name_2`.
    pub(super) fn is_shorthand_for(&self, name: &str) -> bool {
        let short = self.name.strip_prefix("inspect_ai/").unwrap_or(self.name);
        split_k_suffix(short).is_some_and(|(base, _)| base == name)
    }

    /// Itself, and all calls within it.
    pub(super) fn all(&self) -> Vec<&SpecCall<'t>> {
        let inner = self.arguments.iter().flat_map(|argument| &argument.calls).flat_map(SpecCall::all);
        std::iter::once(self).chain(inner).collect()
    }

    /// The keyword itself.
    pub(super) fn keyword(&self, name: &str) -> Option<Range<usize>> {
        let mut keywords = self.arguments.iter().filter_map(|argument| argument.keyword.as_ref());
        keywords.find(|(keyword, _)| *keyword == name).map(|(_, place)| place.clone())
    }

    /// The value that was passed by this name.
    pub(super) fn value_of(&self, name: &str) -> Option<Range<usize>> {
        let is_it = |argument: &&SpecArgument<'_>| {
            argument.keyword.as_ref().is_some_and(|(keyword, _)| *keyword == name)
        };
        self.arguments.iter().find(is_it).map(|argument| argument.value_place.clone())
    }

    /// The positional argument of this number, from 0.
    pub(super) fn positional(&self, at: usize) -> Option<Range<usize>> {
        let mut positional = self.arguments.iter().filter(|argument| argument.keyword.is_none());
        positional.nth(at).map(|argument| argument.value_place.clone())
    }
}

/// A place in the text. The text is a spec, so nothing is checked here; what it does not expect, it steps over.
struct SpecWalker<'t> {
    text: &'t str,
    at: usize,
}

impl<'t> SpecWalker<'t> {
    fn rest(&self) -> &'t str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn peek(&mut self) -> Option<char> {
        self.at = self.text.len() - self.rest().trim_start().len();
        self.rest().chars().next()
    }

    fn bump(&mut self) {
        self.at += self.rest().chars().next().map_or(0, char::len_utf8);
    }

    fn eat(&mut self, wanted: char) -> bool {
        let found = self.peek() == Some(wanted);
        if found {
            self.bump();
        }
        found
    }

    fn value(&mut self) -> (Range<usize>, Vec<SpecCall<'t>>) {
        let first = self.peek();
        let start = self.at;
        let mut calls = Vec::new();
        match first {
            Some('"' | '\'') => self.quoted(),
            // A raw string.
            Some('r' | 'R') if self.rest().get(1..).is_some_and(|rest| rest.starts_with(['"', '\''])) => {
                self.bump();
                self.quoted();
            }
            Some('[' | '{') => {
                self.bump();
                while self.peek().is_some_and(|c| !matches!(c, ']' | '}')) {
                    calls.extend(self.value().1);
                    while self.eat(',') || self.eat(':') {}
                }
                self.bump();
            }
            Some(c) if c.is_alphabetic() || matches!(c, '_' | '`') => calls.extend(self.call()),
            _ => {
                self.bump();
                let end = self.rest().find([',', ')', ']', '}', ':', ' ', '\t', '\r', '\n']);
                self.at += end.unwrap_or(self.rest().len());
            }
        }
        (start..self.at, calls)
    }

    /// From one quote to the next of its kind.
    fn quoted(&mut self) {
        let quote = self.rest().chars().next();
        self.bump();
        while let Some(c) = self.rest().chars().next() {
            self.bump();
            match c {
                c if Some(c) == quote => return,
                '\\' => self.bump(),
                _ => {}
            }
        }
    }

    /// A word, plain or in backquotes.
    fn word(&mut self) -> &'t str {
        let start = self.at;
        if self.rest().starts_with('`') {
            self.quoted();
        } else {
            let rest = self.rest();
            self.at += rest.find(|c| !is_word(c)).unwrap_or(rest.len());
        }
        self.text.get(start..self.at).unwrap_or_default().trim_matches('`')
    }

    fn call(&mut self) -> Option<SpecCall<'t>> {
        let start = self.at;
        let mut name = self.word();
        if self.rest().starts_with('/') {
            self.bump();
            self.word();
            name = self.text.get(start..self.at)?;
        }
        let name_place = start..self.at;
        let mut arguments = Vec::new();
        if self.eat('(') {
            while self.peek().is_some_and(|c| c != ')') {
                arguments.push(self.argument());
                self.eat(',');
            }
            self.bump();
        } else {
            self.at = name_place.end;
        }
        let is_literal = matches!(name, "true" | "True" | "false" | "False" | "null" | "None");
        (!is_literal).then_some(SpecCall { name, name_place, arguments })
    }

    fn argument(&mut self) -> SpecArgument<'t> {
        let start = self.at;
        let word = self.word();
        let end = self.at;
        if !word.is_empty() && self.eat('=') {
            let (value_place, calls) = self.value();
            return SpecArgument { keyword: Some((word, start..end)), value_place, calls };
        }
        self.at = start;
        let (value_place, calls) = self.value();
        SpecArgument { keyword: None, value_place, calls }
    }
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '`')
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

#[cfg(test)]
mod spec_place_tests {
    use super::*;

    const SPEC: &str =
        r#"grouped( mean(to_float = value_to_float(correct="a)b\"")) , 'x, y', all=[1, -2.5], m={"k": std})"#;

    #[test]
    fn calls_within_calls() {
        let calls = calls(SPEC);
        let [root] = calls.as_slice() else { panic!("{calls:?}") };
        let names: Vec<&str> = root.all().iter().map(|call| call.name).collect();
        assert_eq!(names, ["grouped", "mean", "value_to_float", "std"]);
        assert_eq!(&SPEC[root.positional(0).unwrap()], r#"mean(to_float = value_to_float(correct="a)b\""))"#);
        assert_eq!(&SPEC[root.positional(1).unwrap()], "'x, y'");
        assert_eq!(&SPEC[root.value_of("all").unwrap()], "[1, -2.5]");
        assert_eq!(&SPEC[root.keyword("m").unwrap()], "m");
        assert_eq!(root.positional(2), None);
    }

    #[test]
    fn raw_strings_are_values() {
        const RAW: &str = r#"f(r'a\'(b', p = R"\\", r, g(1))"#;
        let calls = calls(RAW);
        let names: Vec<&str> = calls[0].all().iter().map(|call| call.name).collect();
        assert_eq!(names, ["f", "r", "g"]);
        assert_eq!(&RAW[calls[0].positional(0).unwrap()], r"r'a\'(b'");
        assert_eq!(&RAW[calls[0].value_of("p").unwrap()], r#"R"\\""#);
    }

    #[test]
    fn lists_and_maps_of_specs() {
        let names = |text: &'static str| -> Vec<&str> { calls(text).iter().map(|call| call.name).collect() };
        assert_eq!(
            names("[a, b(1), {'c*': [d, `e f`()], 'g': inspect_ai/h}]"),
            ["a", "b", "d", "e f", "inspect_ai/h"]
        );
        assert_eq!(names(" at_least_2 "), ["at_least_2"]);
        assert!(calls("at_least_2")[0].goes_by("at_least"));
        assert!(calls("inspect_ai/mean")[0].goes_by("mean"));
    }

    #[test]
    fn whatever_the_text_the_walk_ends() {
        for text in
            ["", "(", "a(", "a(b", "[", "{]", "'", "a(=)", "a(,,)", "\\", "a(b=,c", "}", "[}", "a)b", "é(é=é"]
        {
            calls(text);
        }
    }
}
