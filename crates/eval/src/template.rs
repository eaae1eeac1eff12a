//! Strings with `{names}` to be filled in.

use std::borrow::Cow;

use errorbar_core::python_text::json_text;
use errorbar_core::{Error, Metadata, Result};
use serde_json::Value as Json;

/// The longest string that a template gives, about.
const LONGEST: usize = 8 << 20;

/// Fills in the names that are known; what is not a known name in braces stays as it is. `{{` and `}}` stand
/// for the braces themselves.
///
/// A question may contain braces itself (code, JSON, LaTeX): what is filled in is never looked at again.
///
/// # Errors
/// A string longer than any prompt: a template that names the prompt twice doubles it, and so does the next.
pub(crate) fn fill<'t>(template: &'t str, known: impl Fn(&str) -> Option<Cow<'t, str>>) -> Result<String> {
    let mut out = String::with_capacity(template.len());
    let mut rest = template;
    while let Some(at) = rest.find(['{', '}']) {
        if out.len() > LONGEST {
            return Err(Error::custom(format!(
                "the template gives a string of more than {} MB; fill in less",
                LONGEST >> 20
            )));
        }
        let (before, tail) = rest.split_at(at);
        out.push_str(before);
        if let Some(tail) = tail.strip_prefix("{{") {
            out.push('{');
            rest = tail;
        } else if let Some(tail) = tail.strip_prefix("}}") {
            out.push('}');
            rest = tail;
        } else if let Some((name, tail)) = tail.strip_prefix('{').and_then(|inner| inner.split_once('}'))
            && let Some(text) = known(name)
        {
            out.push_str(&text);
            rest = tail;
        } else {
            let mut chars = tail.chars();
            out.extend(chars.next());
            rest = chars.as_str();
        }
    }
    out.push_str(rest);
    Ok(out)
}

/// The names in braces that [`fill`] would look up and that are meant as such, as far as one can tell: words, and not
/// in braces of LaTeX or of a shell, which follow a letter, a sign or other such braces: `\frac{a}{b}`, `x_{i}`, `${x}`.
pub(crate) fn placeholders(template: &str) -> Vec<&str> {
    let mut names = Vec::new();
    let mut rest = template;
    // The character before the rest, and whether it closes braces that are no placeholder.
    let (mut before, mut closes_other) = (None, false);
    while let Some(c) = rest.chars().next() {
        let doubled = ["{{", "}}"].into_iter().find(|braces| rest.starts_with(braces));
        let inner = rest.strip_prefix('{').filter(|_| doubled.is_none());
        let braced = inner.and_then(|inner| inner.split_once('}'));
        let length = match (doubled, braced) {
            (Some(braces), _) => braces.len(),
            (None, Some((name, _))) if is_word(name) => {
                let follows = |c: char| c.is_alphanumeric() || "_^\\$#&%@".contains(c);
                closes_other = before.is_some_and(follows) || (before == Some('}') && closes_other);
                if !closes_other {
                    names.push(name);
                }
                name.len() + 2
            }
            _ => c.len_utf8(),
        };
        let (taken, tail) = rest.split_at_checked(length).unwrap_or((rest, ""));
        (before, rest) = (taken.chars().last(), tail);
    }
    names
}

fn is_word(name: &str) -> bool {
    let mut chars = name.chars();
    let starts = chars.next().is_some_and(|c| c.is_alphabetic() || c == '_');
    starts && chars.all(|c| c.is_alphanumeric() || c == '_')
}

/// A value of metadata or of the store as a string in a prompt.
pub(crate) fn text_of(value: &Json) -> Cow<'_, str> {
    match value {
        Json::String(text) => Cow::Borrowed(text),
        other => Cow::Owned(json_text(other)),
    }
}

/// The first of these maps that has the name.
pub(crate) fn lookup<'m, const N: usize>(name: &str, maps: [&'m Metadata; N]) -> Option<Cow<'m, str>> {
    maps.into_iter().find_map(|map| map.get(name)).map(text_of)
}

/// The same for templates in which a name without a value stays as it is: null is none.
pub(crate) fn lookup_set<'m, const N: usize>(name: &str, maps: [&'m Metadata; N]) -> Option<Cow<'m, str>> {
    maps.into_iter().find_map(|map| map.get(name)).filter(|value| !value.is_null()).map(text_of)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filled(template: &str) -> String {
        fill(template, |name| match name {
            "prompt" => Some(Cow::Borrowed("{prompt} {category}")),
            "category" => Some(Cow::Borrowed("physics")),
            _ => None,
        })
        .unwrap()
    }

    #[test]
    fn a_filled_template_has_a_limit() {
        let long = "x".repeat(LONGEST / 2);
        let known = |_: &str| Some(Cow::Borrowed(long.as_str()));
        assert!(fill("{a}{a}", known).is_ok());
        let problem = "the template gives a string of more than 8 MB; fill in less";
        assert_eq!(fill("{a}{a}{a}{a}", known), Err(Error::custom(problem)));
    }

    #[test]
    fn placeholders_are_words_in_braces() {
        assert_eq!(placeholders("{a}{b_1}: {c}. ({d}) \"{e}\""), ["a", "b_1", "c", "d", "e"]);
        assert_eq!(placeholders("{{a}} {{{b}}} {} {1} { c } {d e} {f:.2f} {g[h]} {"), ["b"]);
        assert_eq!(placeholders(r"\boxed{a} \frac{b}{c} x_{i} e^{k} ${home}{d} {e}"), ["e"]);
        assert_eq!(placeholders(r#"{"key": {value}} ü{ä}"#), ["value"]);
    }

    #[test]
    fn known_names_are_filled_in_once() {
        assert_eq!(filled("[{category}] {prompt}"), "[physics] {prompt} {category}");
    }

    #[test]
    fn other_braces_stay() {
        assert_eq!(filled("{unknown} {} { x } {category"), "{unknown} {} { x } {category");
        assert_eq!(filled(r#"{{"a": {category}}}"#), r#"{"a": physics}"#);
        assert_eq!(filled(r"\frac{1}{2} ünï"), r"\frac{1}{2} ünï");
    }
}
