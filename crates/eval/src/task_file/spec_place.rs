//! Where the parts of a spec stand in its text.
//!
//! A spec remembers no places, because it may come from a log. This walks over a text that is known to be one
//! and finds its calls and their arguments.

use std::ops::Range;

use errorbar_core::spec::split_k_suffix;

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
