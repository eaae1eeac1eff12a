//! From specs to text that reads back as the same spec.

use std::fmt::{self, Display, Formatter, Write};

use super::names::is_plain;
use super::{Arg, MetricItem, MetricMap, MetricsSpec, Spec};
use crate::python_text::is_printable;

/// Without arguments, the bare name; the parentheses appear where the spec is itself an argument.
impl Display for Spec {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        if self.args.is_empty() && self.kwargs.is_empty() { write_name(f, self) } else { write_call(f, self) }
    }
}

impl Display for Arg {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Null => f.write_str("null"),
            Self::Bool(value) => write!(f, "{value}"),
            Self::Int(value) => write!(f, "{value}"),
            // Debug, for it always writes a point or an exponent: without, 1.0 would return as an integer.
            Self::Float(value) => write!(f, "{value:?}"),
            Self::Str(value) => write_quoted(f, value, '"'),
            Self::List(items) => {
                f.write_char('[')?;
                write_separated(f, items, |f, item| write!(f, "{item}"))?;
                f.write_char(']')
            }
            Self::Map(entries) => write_map(f, entries, |f, item| write!(f, "{item}")),
            Self::Range(first, last) => write!(f, "{first}..{last}"),
            Self::Spec(spec) => write_call(f, spec),
        }
    }
}

impl Display for MetricsSpec {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Map(map) => write_metric_map(f, map),
            Self::List(items) => {
                f.write_char('[')?;
                write_separated(f, items, |f, item| match item {
                    MetricItem::Metric(spec) => write_call(f, spec),
                    MetricItem::Map(map) => write_metric_map(f, map),
                })?;
                f.write_char(']')
            }
        }
    }
}

fn write_metric_map(f: &mut Formatter<'_>, map: &MetricMap) -> fmt::Result {
    write_map(f, map, |f, specs| {
        f.write_char('[')?;
        write_separated(f, specs, write_call)?;
        f.write_char(']')
    })
}

fn write_call(f: &mut Formatter<'_>, spec: &Spec) -> fmt::Result {
    write_name(f, spec)?;
    f.write_char('(')?;
    write_separated(f, &spec.args, |f, value| write!(f, "{value}"))?;
    if !spec.args.is_empty() && !spec.kwargs.is_empty() {
        f.write_str(", ")?;
    }
    write_separated(f, &spec.kwargs, |f, (name, value)| {
        write_word(f, name)?;
        write!(f, "={value}")
    })?;
    f.write_char(')')
}

fn write_name(f: &mut Formatter<'_>, spec: &Spec) -> fmt::Result {
    if let Some(package) = &spec.package {
        write_word(f, package)?;
        f.write_char('/')?;
    }
    match spec.name.split_once(':') {
        Some((module, name)) if spec.package.is_none() && is_plain(module) && is_plain(name) => {
            f.write_str(&spec.name)
        }
        _ => write_word(f, &spec.name),
    }
}

pub(crate) fn write_word(f: &mut Formatter<'_>, word: &str) -> fmt::Result {
    if is_plain(word) { f.write_str(word) } else { write_quoted(f, word, '`') }
}

/// Escapes whatever a terminal or a reader's eye could stumble over, in a notation Python and JSON know too.
pub(crate) fn write_quoted(f: &mut Formatter<'_>, text: &str, quote: char) -> fmt::Result {
    f.write_char(quote)?;
    for c in text.chars() {
        match c {
            '\n' => f.write_str("\\n")?,
            '\r' => f.write_str("\\r")?,
            '\t' => f.write_str("\\t")?,
            c if c == quote || c == '\\' => write!(f, "\\{c}")?,
            c if is_printable(c) => f.write_char(c)?,
            c if c <= '\u{ffff}' => write!(f, "\\u{:04x}", u32::from(c))?,
            c => write!(f, "\\U{:08x}", u32::from(c))?,
        }
    }
    f.write_char(quote)
}

fn write_map<'a, T: 'a>(
    f: &mut Formatter<'_>,
    entries: impl IntoIterator<Item = (&'a String, &'a T)>,
    mut write_value: impl FnMut(&mut Formatter<'_>, &T) -> fmt::Result,
) -> fmt::Result {
    f.write_char('{')?;
    write_separated(f, entries, |f, (key, value)| {
        write_quoted(f, key, '"')?;
        f.write_str(": ")?;
        write_value(f, value)
    })?;
    f.write_char('}')
}

fn write_separated<T>(
    f: &mut Formatter<'_>,
    items: impl IntoIterator<Item = T>,
    mut write_item: impl FnMut(&mut Formatter<'_>, T) -> fmt::Result,
) -> fmt::Result {
    for (i, item) in items.into_iter().enumerate() {
        if i > 0 {
            f.write_str(", ")?;
        }
        write_item(f, item)?;
    }
    Ok(())
}
