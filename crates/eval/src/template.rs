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

/// A value of metadata or of the store as a string in a prompt.
pub(crate) fn text_of(value: &Json) -> Cow<'_, str> {
    match value {
        Json::String(text) => Cow::Borrowed(text),
        other => Cow::Owned(json_text(other)),
    }
}

/// The first of these maps that has the name.
pub(crate) fn lookup<'m>(name: &str, maps: [&'m Metadata; 2]) -> Option<Cow<'m, str>> {
    maps.into_iter().find_map(|map| map.get(name)).map(text_of)
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
