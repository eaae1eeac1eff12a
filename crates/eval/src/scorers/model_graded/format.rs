//! Templates in the syntax of Python's `str.format`: `{name}`, `{name[key][0]}`, `{name!r}`, `{name:.2f}`, and `{{` for a
//! brace.

use std::borrow::Cow;
use std::fmt;
use std::sync::LazyLock;

use errorbar_core::python_text::{json_text, str_repr};
use errorbar_core::{Error, Result};
use fancy_regex::Regex;
use serde_json::Value as Json;

use crate::template::{Braces, ParsedTemplate, closing_brace};

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
    ParsedTemplate::parse(template, closing_brace, |braces| match braces {
        Braces::Pair(inside, _) => Placeholder::parse(inside).map(Some),
        Braces::Alone(rest, _) => {
            let shown: String = rest.chars().take(30).collect();
            Err(Error::custom(format!(
                "the template has a brace without its partner at {shown:?}; braces that should stay are written {{{{ and }}}}"
            )))
        }
    })
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

// What stands behind the colon of `{name:>8.2f}`: width, side, digits.

/// Wider than any prompt needs, and no way to fill the memory.
const WIDEST: usize = 1000;

/// How a value is laid out: `[[fill]align][0][width][,][.precision][type]`, with `<`, `>`, `^` for the side and `s`,
/// `d`, `f`, `%` for the type.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct FormatSpec {
    fill: Option<char>,
    align: Option<char>,
    zeros: bool,
    width: usize,
    commas: bool,
    precision: Option<usize>,
    kind: Option<char>,
}

impl FormatSpec {
    /// Reads a layout; nothing if it is none that is supported.
    pub(super) fn parse(text: &str) -> Option<Self> {
        static LAYOUT: LazyLock<fancy_regex::Result<Regex>> = LazyLock::new(|| {
            Regex::new(r"(?s)\A(?:(.)?([<>^]))?(0)?([0-9]+)?(,)?(?:\.([0-9]+))?([sdf%])?\z")
        });
        let found = LAYOUT.as_ref().ok()?.captures(text).ok()??;
        let character = |group| found.get(group)?.as_str().chars().next();
        let number = |group| found.get(group).map(|digits| digits.as_str().parse::<usize>()).transpose();
        let (width, precision) = (number(4).ok()?.unwrap_or(0), number(6).ok()?);
        (width.max(precision.unwrap_or(0)) <= WIDEST).then_some(FormatSpec {
            fill: character(1),
            align: character(2),
            zeros: found.get(3).is_some(),
            width,
            commas: found.get(5).is_some(),
            precision,
            kind: character(7),
        })
    }

    /// The value laid out; nothing if a value of its type cannot be.
    pub(super) fn apply(&self, value: &Json) -> Option<String> {
        let (text, default_side) = match value {
            Json::String(text) => (self.text(text)?, '<'),
            Json::Bool(truth) => (self.number(&Json::from(u8::from(*truth)))?, '>'),
            Json::Number(_) => (self.number(value)?, '>'),
            Json::Null | Json::Array(_) | Json::Object(_) => return None,
        };
        let missing = self.width.saturating_sub(text.chars().count());
        let fill = self.fill.unwrap_or(if self.zeros { '0' } else { ' ' });
        let pad = |n: usize| std::iter::repeat_n(fill, n).collect::<String>();
        // Zeros go between the sign and the digits.
        if self.zeros && self.align.is_none() && !value.is_string() {
            let digits = text.trim_start_matches('-');
            let sign = if digits.len() < text.len() { "-" } else { "" };
            return Some(format!("{sign}{}{digits}", pad(missing)));
        }
        Some(match self.align.unwrap_or(default_side) {
            '<' => text + &pad(missing),
            '^' => format!("{}{text}{}", pad(missing / 2), pad(missing - missing / 2)),
            _ => pad(missing) + &text,
        })
    }

    fn text(&self, text: &str) -> Option<String> {
        let is_of_text = !self.commas && self.kind.is_none_or(|kind| kind == 's');
        is_of_text.then(|| text.chars().take(self.precision.unwrap_or(usize::MAX)).collect())
    }

    fn number(&self, value: &Json) -> Option<String> {
        let is_whole = value.is_i64() || value.is_u64();
        let decimals = self.precision.unwrap_or(6);
        let text = match self.kind {
            Some('f') => format!("{:.decimals$}", value.as_f64()?),
            Some('%') => format!("{:.decimals$}%", value.as_f64()? * 100.0),
            Some('d') | None if is_whole && self.precision.is_none() => value.to_string(),
            // Which digits a precision alone leaves is another matter.
            None if self.precision.is_none() => json_text(value),
            _ => return None,
        };
        // Commas and zeros together go between each other.
        match self.commas {
            false => Some(text),
            true => (!self.zeros).then(|| with_commas(&text)),
        }
    }
}

/// With a comma before each three digits of the whole part.
fn with_commas(text: &str) -> String {
    let (whole, rest) = text.split_at(text.find(['.', '%', 'e']).unwrap_or(text.len()));
    let digits = whole.trim_start_matches('-');
    let sign = whole.strip_suffix(digits).unwrap_or_default();
    let groups: Vec<Cow<'_, str>> = digits.as_bytes().rchunks(3).rev().map(String::from_utf8_lossy).collect();
    format!("{sign}{}{rest}", groups.join(","))
}

#[cfg(test)]
mod format_tests {
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

#[cfg(test)]
mod format_spec_tests {
    use super::*;
    use serde_json::json;

    // The right-hand sides were printed by Python's `format`.
    #[test]
    fn values_are_laid_out_as_python_does() {
        for (value, layout, text) in [
            (json!(1.5), ".2f", "1.50"),
            (json!(0.125), ".2f", "0.12"),
            (json!(2), "f", "2.000000"),
            (json!(-2.5), "08.2f", "-0002.50"),
            (json!(1234), "d", "1234"),
            (json!(1234), ",", "1,234"),
            (json!(-123456), ",d", "-123,456"),
            (json!(1234567.891), ",.1f", "1,234,567.9"),
            (json!(1234), "06d", "001234"),
            (json!(7), ">4", "   7"),
            (json!(7), "4", "   7"),
            (json!(7), "*^5", "**7**"),
            (json!(0.123), ".1%", "12.3%"),
            (json!(0.5), "", "0.5"),
            (json!(true), "3", "  1"),
            (json!("abcdef"), ".3", "abc"),
            (json!("abcdef"), "^9", " abcdef  "),
            (json!("abcdef"), "*<8s", "abcdef**"),
            (json!("é"), ">3", "  é"),
            (json!("a"), "03", "a00"),
        ] {
            let laid_out = FormatSpec::parse(layout).unwrap().apply(&value);
            assert_eq!(laid_out.as_deref(), Some(text), "{value} by {layout:?}");
        }
    }

    #[test]
    fn what_is_not_supported_is_refused_and_not_guessed() {
        for layout in ["x", ".2e", "+d", ".", "99999", ".99999f", ".2ff", "{width}"] {
            assert_eq!(FormatSpec::parse(layout), None, "{layout}");
        }
        for (value, layout) in [
            (json!("text"), ".2f"),
            (json!("text"), ","),
            (json!(1.5), "d"),
            (json!(1.5), ".2"),
            (json!(3), ".1d"),
            (json!(3), "s"),
            (json!(3), "08,d"),
            (json!(null), ">5"),
            (json!([1]), ">5"),
        ] {
            assert_eq!(FormatSpec::parse(layout).unwrap().apply(&value), None, "{value} by {layout:?}");
        }
    }
}
