//! Templates in the syntax of Python's `str.format`: `{name}`, `{name[key][0]}`, `{name!r}`, `{name:.2f}`, and `{{` for a
//! brace.

use std::fmt;
use std::ops::Range;

use errorbar_core::python_text::{json_text, str_repr};
use errorbar_core::{Error, Result};
use serde_json::Value as Json;

use super::format_spec::FormatSpec;
use crate::template::{FieldSyntax, ParsedTemplate};

/// A template that has been read.
pub(super) type FormatTemplate = ParsedTemplate<Placeholder>;

/// A name in braces.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Placeholder {
    /// What stands in the braces.
    source: String,
    /// The name.
    pub(super) name: String,
    /// The keys and places behind it.
    path: Vec<String>,
    /// Whether strings are shown with quotes: `!r`.
    repr: bool,
    /// How the value is laid out.
    layout: Option<FormatSpec>,
}

/// Reads a template.
///
/// # Errors
/// Braces that do not match, and what is not supported of the syntax.
pub(super) fn parse(template: &str) -> Result<FormatTemplate> {
    ParsedTemplate::parse(template, &mut PythonFormat)
}

/// The fields of Python's `str.format`.
struct PythonFormat;

impl FieldSyntax for PythonFormat {
    type Field = Placeholder;
    type Error = Error;

    fn field(&mut self, inside: &str, _: Range<usize>) -> Result<Option<Placeholder>> {
        Placeholder::parse(inside).map(Some)
    }

    fn lone_brace(&mut self, rest: &str, _: usize) -> Result<()> {
        Err(alone(rest))
    }
}

impl Placeholder {
    fn parse(field: &str) -> Result<Self> {
        let refused = |problem: &str| {
            Error::custom(format!(
                "the template has {{{field}}}: {problem}; braces that should stay are written {{{{ and }}}}"
            ))
        };
        let keys = field.find('[').unwrap_or(field.len());
        let (path, conversion) = match field.rfind(']').filter(|end| *end > keys) {
            Some(end) => field.split_at(end + 1),
            None => field.split_at(field.find(['!', ':']).unwrap_or(field.len())),
        };
        let (conversion, layout) = match conversion.split_once(':') {
            Some((conversion, layout)) => (conversion, Some(layout).filter(|layout| !layout.is_empty())),
            None => (conversion, None),
        };
        let repr = match conversion {
            "" | "!s" => false,
            "!r" => true,
            _ => return Err(refused("behind a name come keys in square brackets, and perhaps !r or !s")),
        };
        let read = |layout| {
            FormatSpec::parse(layout).ok_or_else(|| {
                refused(
                    "behind a colon come side, width and digits, as in >8, .2f, .1% and ,d, and nothing else",
                )
            })
        };
        let layout = layout.map(read).transpose()?;
        let (name, mut keys) = path.split_at(path.find('[').unwrap_or(path.len()));
        if name.is_empty() || name.bytes().all(|b| b.is_ascii_digit()) {
            return Err(refused("that is no name"));
        }
        if name.contains('.') {
            return Err(refused("what is inside of metadata is written in square brackets: {name[key]}"));
        }
        if name.contains('{') {
            return Err(refused("a name has no braces"));
        }
        let mut path = Vec::new();
        while !keys.is_empty() {
            let key = keys.strip_prefix('[').and_then(|keys| keys.split_once(']'));
            let (key, rest) = key.filter(|(key, _)| !key.is_empty()).ok_or_else(|| {
                refused("keys are written each in square brackets of its own: {name[key][0]}")
            })?;
            path.push(key.to_owned());
            keys = rest;
        }
        Ok(Placeholder { source: field.to_owned(), name: name.to_owned(), path, repr, layout })
    }

    /// The part of a value that the keys lead to.
    pub(super) fn part_of<'v>(&self, value: &'v Json) -> Option<&'v Json> {
        self.path.iter().try_fold(value, |value, key| match value {
            Json::Array(items) => items.get(key.parse::<usize>().ok()?),
            value => value.get(key),
        })
    }

    /// A value as a string, the way Python shows it; nothing if it cannot be laid out like that.
    pub(super) fn text_of(&self, value: &Json) -> Option<String> {
        let text = match value {
            Json::String(text) if self.repr => str_repr(text),
            value => json_text(value),
        };
        match &self.layout {
            None => Some(text),
            Some(layout) if self.repr => layout.apply(&Json::from(text)),
            Some(layout) => layout.apply(value),
        }
    }
}

impl fmt::Display for Placeholder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{{{}}}", self.source)
    }
}

/// A brace without its partner.
fn alone(tail: &str) -> Error {
    let shown: String = tail.chars().take(30).collect();
    Error::custom(format!(
        "the template has a brace without its partner at {shown:?}; braces that should stay are written {{{{ and }}}}"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn filled(template: &str) -> String {
        let values = json!({
            "n": {"k": ["x", [2]], "k.j": 1}, "half": 0.5, "none": null, "text": "it", "my-key": true, " a ": "{text}",
        });
        let text_of = |field: &Placeholder, _: &str| {
            Ok(field.text_of(field.part_of(&values[&field.name]).unwrap()).unwrap())
        };
        parse(template).unwrap().fill(text_of).unwrap()
    }

    // The right-hand sides are those of Python's `str.format`.
    #[test]
    fn templates_are_filled_as_python_does() {
        for (template, text) in [
            ("{n[k][0]}|{n[k][1][0]}|{n[k.j]}|{n[k]}", "x|2|1|['x', [2]]"),
            ("{half}|{half!r}|{none}|{text}|{text!r}|{text!s}", "0.5|0.5|None|it|'it'|it"),
            ("{half:.2f}|{text:>4}|{text!r:>5}|{n[k][0]:^3}|{none:}", "0.50|  it| 'it'| x |None"),
            ("{my-key}{ a }", "True{text}"),
            ("{{text}} {{{text}}}", "{text} {it}"),
            ("ünï", "ünï"),
        ] {
            assert_eq!(filled(template), text, "{template}");
        }
    }

    #[test]
    fn what_cannot_be_read_is_refused() {
        let layout =
            "behind a colon come side, width and digits, as in >8, .2f, .1% and ,d, and nothing else";
        for (template, problem) in [
            ("a } b", "a brace without its partner at \"} b\""),
            ("a { b", "a brace without its partner at \"{ b\""),
            ("{}", "{}: that is no name"),
            ("{0}", "{0}: that is no name"),
            ("{a.b}", "{a.b}: what is inside of metadata is written in square brackets: {name[key]}"),
            ("{a:.2e}", &format!("{{a:.2e}}: {layout}")),
            ("{a[k]:{b}}", &format!("{{a[k]:{{b}}: {layout}")),
            ("{a!x}", "{a!x}: behind a name come keys in square brackets, and perhaps !r or !s"),
            ("{a[k]b}", "{a[k]b}: behind a name come keys in square brackets, and perhaps !r or !s"),
            ("{a[]}", "{a[]}: keys are written each in square brackets of its own: {name[key][0]}"),
            ("{a {b}", "{a {b}: a name has no braces"),
        ] {
            let expected =
                format!("the template has {problem}; braces that should stay are written {{{{ and }}}}");
            assert_eq!(parse(template).unwrap_err(), Error::Custom(expected));
        }
    }
}
