//! A JSON value of a log, and the two strings that Python writes for it.
//!
//! Frames show lists and maps as strings. `serde_json` has no place for the bare `NaN` of a log and rounds long integers,
//! so a value is held as it was written.

use std::fmt::Write;

use errorbar_core::python_text::{float_repr, str_repr};
use jiter::{Jiter, Peek};

use crate::eval::error::{LogErrorKind, Result};
use crate::eval::wire;

/// How deep values may be nested; the parser's own limit does not see our recursion.
const MAX_DEPTH: usize = 100;

/// A JSON value.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Node {
    Null,
    Bool(bool),
    Int(i64),
    /// An integer beyond `i64`, as it is written.
    Long(String),
    Float(f64),
    Text(String),
    List(Vec<Node>),
    Map(Vec<(String, Node)>),
}

impl Node {
    /// Reads the value that starts here.
    pub(super) fn read(json: &mut Jiter<'_>, peek: Peek) -> Result<Node> {
        Node::nested(json, peek, MAX_DEPTH)
    }

    /// Reads a document.
    pub(super) fn parse(bytes: &[u8]) -> Result<Node> {
        let mut json = wire::parser(bytes);
        let peek = json.peek()?;
        let node = Node::read(&mut json, peek)?;
        json.finish()?;
        Ok(node)
    }

    fn nested(json: &mut Jiter<'_>, peek: Peek, depth: usize) -> Result<Node> {
        let Some(depth) = depth.checked_sub(1) else {
            let at = json.current_index() as u64;
            return Err(LogErrorKind::Json { problem: "values are nested too deeply".to_owned(), at }.into());
        };
        Ok(match peek {
            Peek::Null => {
                json.known_null()?;
                Node::Null
            }
            Peek::True | Peek::False => Node::Bool(json.known_bool(peek)?),
            Peek::String => Node::Text(json.known_str()?.to_owned()),
            Peek::Array => {
                let mut items = Vec::new();
                let mut next = json.known_array()?;
                while let Some(peek) = next {
                    items.push(Node::nested(json, peek, depth)?);
                    next = json.array_step()?;
                }
                Node::List(items)
            }
            Peek::Object => {
                let mut map = Vec::new();
                wire::fields(json, |key, json, peek| {
                    map.push((key.to_owned(), Node::nested(json, peek, depth)?));
                    Ok(())
                })?;
                Node::Map(map)
            }
            _ => number(json.known_number_bytes(peek)?),
        })
    }

    /// A map of those of these fields that are there.
    pub(super) fn object<'k>(fields: impl IntoIterator<Item = (&'k str, Option<Node>)>) -> Node {
        let field = |(name, value): (&str, Option<Node>)| Some((name.to_owned(), value?));
        Node::Map(fields.into_iter().filter_map(field).collect())
    }

    /// A field of a map; none if it is absent or null. Of several the last one counts.
    pub(super) fn get(&self, key: &str) -> Option<&Node> {
        self.field(key).filter(|value| **value != Node::Null)
    }

    /// The same, also if it is null.
    pub(super) fn field(&self, key: &str) -> Option<&Node> {
        self.as_map().iter().rev().find(|(name, _)| name == key).map(|(_, value)| value)
    }

    /// The string in a field of a map.
    pub(super) fn text(&self, key: &str) -> Option<&str> {
        self.get(key).and_then(Node::as_text)
    }

    /// The items in a field of a map.
    pub(super) fn list(&self, key: &str) -> &[Node] {
        self.get(key).map(Node::as_list).unwrap_or_default()
    }

    /// The fields in a field of a map.
    pub(super) fn map(&self, key: &str) -> &[(String, Node)] {
        self.get(key).map(Node::as_map).unwrap_or_default()
    }

    /// What a path of fields leads to.
    pub(super) fn at(&self, path: &[&str]) -> Option<&Node> {
        path.iter().try_fold(self, |node, key| node.get(key))
    }

    pub(super) fn as_text(&self) -> Option<&str> {
        if let Node::Text(text) = self { Some(text) } else { None }
    }

    pub(super) fn as_list(&self) -> &[Node] {
        if let Node::List(items) = self { items } else { &[] }
    }

    pub(super) fn as_map(&self) -> &[(String, Node)] {
        if let Node::Map(map) = self { map } else { &[] }
    }

    /// A number as a float, as a field of that type reads it.
    pub(super) fn into_float(self) -> Node {
        match self {
            Node::Int(int) => Node::Float(int as f64),
            Node::Long(digits) => Node::Float(digits.parse().unwrap_or(f64::NAN)),
            other => other,
        }
    }

    /// The value as Python's `json.dumps` writes it.
    pub(super) fn json_text(&self) -> String {
        let mut out = String::new();
        self.push(&mut out, true);
        out
    }

    /// The value as Python's `str()` writes it.
    pub(super) fn python_text(&self) -> String {
        let mut out = String::new();
        match self {
            Node::Text(text) => out.push_str(text),
            other => other.push(&mut out, false),
        }
        out
    }

    fn push(&self, out: &mut String, is_json: bool) {
        let push_text = |out: &mut String, text: &str| match is_json {
            true => push_json_text(out, text),
            false => out.push_str(&str_repr(text)),
        };
        match self {
            Node::Null => out.push_str(if is_json { "null" } else { "None" }),
            Node::Bool(true) => out.push_str(if is_json { "true" } else { "True" }),
            Node::Bool(false) => out.push_str(if is_json { "false" } else { "False" }),
            Node::Int(value) => out.push_str(&value.to_string()),
            Node::Long(digits) => out.push_str(digits),
            Node::Float(value) if is_json && value.is_nan() => out.push_str("NaN"),
            Node::Float(f64::INFINITY) if is_json => out.push_str("Infinity"),
            Node::Float(f64::NEG_INFINITY) if is_json => out.push_str("-Infinity"),
            Node::Float(value) => out.push_str(&float_repr(*value)),
            Node::Text(text) => push_text(out, text),
            Node::List(items) => {
                out.push('[');
                for (at, item) in items.iter().enumerate() {
                    out.push_str(if at > 0 { ", " } else { "" });
                    item.push(out, is_json);
                }
                out.push(']');
            }
            Node::Map(map) => {
                out.push('{');
                for (at, (key, value)) in map.iter().enumerate() {
                    out.push_str(if at > 0 { ", " } else { "" });
                    push_text(out, key);
                    out.push_str(": ");
                    value.push(out, is_json);
                }
                out.push('}');
            }
        }
    }
}

/// A number as it is written: what has only digits is an integer.
fn number(digits: &[u8]) -> Node {
    let text = str::from_utf8(digits).unwrap_or_default();
    if let Ok(int) = text.parse() {
        return Node::Int(int);
    }
    match text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-') {
        true => Node::Long(text.to_owned()),
        // The parser has checked the form; what is left is a float, `NaN` or `Infinity`.
        false => Node::Float(text.parse().unwrap_or(f64::NAN)),
    }
}

/// A string in quotes, with ASCII characters alone.
fn push_json_text(out: &mut String, text: &str) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            ' '..='~' => out.push(c),
            _ => {
                for unit in c.encode_utf16(&mut [0; 2]) {
                    // Writing to a string cannot fail.
                    let _ = write!(out, "\\u{unit:04x}");
                }
            }
        }
    }
    out.push('"');
}

#[cfg(test)]
mod tests {
    use super::*;

    // The second and third columns were printed by CPython 3.11.
    #[rustfmt::skip] // a table
    const TEXTS: &[(&str, &str, &str)] = &[
        ("null", "null", "None"),
        ("[true,false]", "[true, false]", "[True, False]"),
        ("{\"a\":NaN,\"b\":[Infinity,-Infinity]}", "{\"a\": NaN, \"b\": [Infinity, -Infinity]}", "{'a': nan, 'b': [inf, -inf]}"),
        ("[1.0,1e20,1E-7,-0.0,12345678901234567890,-12345678901234567890]",
         "[1.0, 1e+20, 1e-07, -0.0, 12345678901234567890, -12345678901234567890]",
         "[1.0, 1e+20, 1e-07, -0.0, 12345678901234567890, -12345678901234567890]"),
        ("[\"é\\n\\u2028\\ud83c\\udf89\\u007f\\b\\f\\r\\t\\\"\\\\/\"]",
         "[\"\\u00e9\\n\\u2028\\ud83c\\udf89\\u007f\\b\\f\\r\\t\\\"\\\\/\"]",
         "['é\\n\\u2028🎉\\x7f\\x08\\x0c\\r\\t\"\\\\/']"),
        ("{\"it's\":{},\"k\":[]}", "{\"it's\": {}, \"k\": []}", "{\"it's\": {}, 'k': []}"),
        ("\"a'b\"", "\"a'b\"", "a'b"),
    ];

    #[test]
    fn values_read_like_python() {
        for (json, dumped, text) in TEXTS {
            let node = Node::parse(json.as_bytes()).unwrap();
            assert_eq!(node.json_text(), *dumped);
            assert_eq!(node.python_text(), *text);
        }
    }

    #[test]
    fn a_null_field_is_an_absent_one_and_the_last_counts() {
        let node = Node::parse(br#"{"a":{"b":1,"c":null},"a":{"b":2}}"#).unwrap();
        assert_eq!(node.at(&["a", "b"]), Some(&Node::Int(2)));
        assert_eq!(node.at(&["a", "c"]), None);
        assert_eq!(node.at(&["a", "b", "c"]), None);
        assert_eq!(Node::parse(b"7").unwrap().into_float(), Node::Float(7.0));
    }

    #[test]
    fn what_is_no_json_is_an_error() {
        for text in ["", "{", "[1,]", "tru", "\"\\ud800\""] {
            assert!(Node::parse(text.as_bytes()).is_err(), "{text}");
        }
        let deep = "[".repeat(500) + &"]".repeat(500);
        let error = Node::parse(deep.as_bytes()).unwrap_err();
        assert!(error.to_string().contains("nested too deeply"), "{error}");
    }
}
