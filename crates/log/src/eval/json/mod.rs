//! JSON in pieces, as it comes off a decompressor: nothing here builds a tree, or needs a whole record.
//!
//! Most of a log is transcripts, and no metric needs them. [`outline`] finds where the fields of an object
//! and the items of a list begin and end; [`skim`] copies the requested fields and skips the others;
//! [`validate`] checks every byte, for those who ask for it. A parser that must see a whole value to skip it
//! would need memory for the largest of them.

use std::borrow::Cow;
use std::ops::Range;

use OutlineState as State;

use super::error::{LogError, LogErrorKind, Result};
pub(super) use skim::{FieldSelection, Selection, Skimmer};
pub(super) use validate::Validator;
pub(crate) use validate::validate;

mod skim;
mod validate;

// Where the parts of an object or a list begin and end.
//
// What is inside a part is followed by its quotes and brackets only; whether it is JSON beyond that is for
// its reader, or for the [validator](super::validate).

/// What to do with the parts as they come.
pub(crate) trait PartVisitor {
    /// A part begins with this byte, at this offset. The key is decoded, but not checked to be UTF-8; in a list it is
    /// empty.
    fn begin(&mut self, key: &[u8], first: u8, at: u64) -> Result<Descent>;

    /// The next bytes of a part that was not entered.
    fn bytes(&mut self, _bytes: &[u8]) -> Result<()> {
        Ok(())
    }

    /// A part that was not entered ended before this offset.
    fn end(&mut self, at: u64) -> Result<()>;

    /// A part that was entered ended before this offset.
    fn leave(&mut self, _at: u64) -> Result<()> {
        Ok(())
    }
}

/// How a part is visited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Descent {
    /// As bytes.
    Whole,
    /// Its fields or items become parts. For an object or a list only.
    Enter,
}

/// The longest key; beyond twice this it is refused.
const MAX_KEY: usize = 1 << 20;

/// What may come next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum OutlineState {
    /// The opening bracket.
    Open,
    /// The first key or item, or the closing bracket.
    FirstOrClose,
    /// A key, after a comma.
    Key,
    InKey,
    Colon,
    Value,
    InValue,
    /// A comma or the closing bracket.
    CommaOrClose,
    Done,
}

/// Goes through an object or a list and reports its parts.
#[derive(Debug)]
pub(crate) struct Outline {
    /// The opening bracket of the whole.
    root: u8,
    /// The brackets that are open.
    open: Vec<u8>,
    state: State,
    value: ValueEnd,
    /// The last key as it is written, without its quotes.
    key: Vec<u8>,
    /// The offset of the next byte in the whole.
    at: u64,
}

impl Outline {
    /// The fields of an object.
    pub(crate) fn of_object() -> Self {
        Outline::new(b'{')
    }

    /// The items of a list.
    pub(crate) fn of_list() -> Self {
        Outline::new(b'[')
    }

    fn new(root: u8) -> Self {
        let (state, value) = (State::Open, ValueEnd::default());
        Outline { root, open: Vec::new(), state, value, key: Vec::new(), at: 0 }
    }

    /// Visits the parts of a complete JSON document.
    pub(crate) fn visit(mut self, json: &[u8], parts: &mut impl PartVisitor) -> Result<()> {
        self.push(json, parts)?;
        self.finish()
    }

    /// Takes the next bytes.
    pub(crate) fn push(&mut self, mut bytes: &[u8], parts: &mut impl PartVisitor) -> Result<()> {
        while let Some(&byte) = bytes.first() {
            let taken = match self.state {
                State::InKey => self.take_key(bytes)?,
                State::InValue => self.take_value(bytes, parts)?,
                _ if byte.is_ascii_whitespace() => 1,
                State::Value => self.begin_value(byte, parts)?,
                State::FirstOrClose if !self.is_in_object() && byte != b']' => {
                    self.begin_value(byte, parts)?
                }
                _ => {
                    self.state = self.step(byte, parts)?;
                    1
                }
            };
            self.at += taken as u64;
            bytes = bytes.get(taken..).unwrap_or_default();
        }
        Ok(())
    }

    fn is_in_object(&self) -> bool {
        self.open.last() == Some(&b'{')
    }

    /// A byte between the parts.
    fn step(&mut self, byte: u8, parts: &mut impl PartVisitor) -> Result<State> {
        let is_object = self.is_in_object();
        let close = if is_object { b'}' } else { b']' };
        Ok(match (self.state, byte) {
            (State::Open, b) if b == self.root => {
                self.open.push(b);
                State::FirstOrClose
            }
            (State::FirstOrClose | State::CommaOrClose, b) if b == close => {
                self.open.pop();
                if self.open.is_empty() {
                    return Ok(State::Done);
                }
                parts.leave(self.at + 1)?;
                State::CommaOrClose
            }
            (State::FirstOrClose | State::Key, b'"') => {
                self.key.clear();
                State::InKey
            }
            (State::Colon, b':') => State::Value,
            (State::CommaOrClose, b',') if is_object => State::Key,
            (State::CommaOrClose, b',') => State::Value,
            (state, _) => return Err(self.unexpected(state)),
        })
    }

    /// Returns how many bytes were taken: none, or an opening bracket.
    fn begin_value(&mut self, byte: u8, parts: &mut impl PartVisitor) -> Result<usize> {
        if matches!(byte, b',' | b':' | b'}' | b']') {
            return Err(self.unexpected(State::Value));
        }
        let key = if self.is_in_object() { self.plain_key()? } else { Cow::Borrowed(&[][..]) };
        match parts.begin(&key, byte, self.at)? {
            Descent::Enter => {
                self.open.push(byte);
                self.state = State::FirstOrClose;
                Ok(1)
            }
            Descent::Whole => {
                self.value = ValueEnd::default();
                self.state = State::InValue;
                Ok(0)
            }
        }
    }

    fn take_value(&mut self, bytes: &[u8], parts: &mut impl PartVisitor) -> Result<usize> {
        let (taken, is_over) = self.value.take(bytes);
        parts.bytes(bytes.get(..taken).unwrap_or_default())?;
        if is_over {
            self.state = State::CommaOrClose;
            parts.end(self.at + taken as u64)?;
        }
        Ok(taken)
    }

    fn take_key(&mut self, bytes: &[u8]) -> Result<usize> {
        if self.key.len() + bytes.len().min(MAX_KEY) > 2 * MAX_KEY {
            return Err(self.error("a key is too long"));
        }
        // An escape is two bytes at least; the second may come with the next piece.
        let is_escaped = |key: &[u8]| key.iter().rev().take_while(|byte| **byte == b'\\').count() % 2 == 1;
        let mut taken = 0;
        loop {
            let rest = bytes.get(taken..).unwrap_or_default();
            let Some(quote) = memchr::memchr(b'"', rest) else {
                self.key.extend_from_slice(rest.get(..MAX_KEY).unwrap_or(rest));
                return Ok(taken + rest.len().min(MAX_KEY));
            };
            self.key.extend_from_slice(rest.get(..quote).unwrap_or_default());
            taken += quote + 1;
            if !is_escaped(&self.key) {
                self.state = State::Colon;
                return Ok(taken);
            }
            self.key.push(b'"');
        }
    }

    /// The key without escapes.
    fn plain_key(&self) -> Result<Cow<'_, [u8]>> {
        if memchr::memchr(b'\\', &self.key).is_none() {
            return Ok(Cow::Borrowed(&self.key));
        }
        let quoted = [b"\"", self.key.as_slice(), b"\""].concat();
        let key = serde_json::from_slice::<String>(&quoted);
        Ok(Cow::Owned(key.map_err(|_| self.error("a key is not a string"))?.into_bytes()))
    }

    /// Nothing follows.
    pub(crate) fn finish(&self) -> Result<()> {
        match self.state {
            State::Done => Ok(()),
            State::InValue | State::CommaOrClose if !self.key.is_empty() => {
                let key = crate::eval::error::visible(&String::from_utf8_lossy(&self.key));
                Err(self.error(format!("it ends within {key}")))
            }
            _ => Err(self.error("it ends too early")),
        }
    }

    fn unexpected(&self, state: State) -> LogError {
        self.error(match state {
            State::Open if self.root == b'{' => "an object should start",
            State::Open => "a list should start",
            State::FirstOrClose | State::Key => "a key should start",
            State::Colon => "a colon should follow the key",
            State::Value | State::InKey | State::InValue => "a value should start",
            State::CommaOrClose => "a comma or the end should follow the value",
            State::Done => "nothing should follow",
        })
    }

    fn error(&self, problem: impl Into<String>) -> LogError {
        LogErrorKind::Json { problem: problem.into(), at: self.at }.into()
    }
}

/// Finds the end of a value by its quotes and brackets.
#[derive(Debug, Default)]
struct ValueEnd {
    /// How many brackets are open.
    depth: u64,
    kind: ValueKind,
    in_text: bool,
    /// Whether the string so far ends with an odd number of backslashes.
    is_escaped: bool,
}

#[derive(Debug, Default, PartialEq, Eq)]
enum ValueKind {
    #[default]
    Unknown,
    /// A string, a list or an object: it ends with its own character.
    Enclosed,
    /// A number or a word: it ends where something else begins.
    Bare,
}

impl ValueEnd {
    /// How many of these bytes belong to the value, and whether it ends with them.
    fn take(&mut self, bytes: &[u8]) -> (usize, bool) {
        if self.kind == ValueKind::Unknown {
            let is_enclosed = matches!(bytes.first(), Some(b'"' | b'{' | b'['));
            self.kind = if is_enclosed { ValueKind::Enclosed } else { ValueKind::Bare };
        }
        if self.kind == ValueKind::Bare {
            let is_end = |byte: &u8| matches!(byte, b',' | b'}' | b']') || byte.is_ascii_whitespace();
            return match bytes.iter().position(is_end) {
                Some(end) => (end, true),
                None => (bytes.len(), false),
            };
        }
        let mut rest = bytes;
        loop {
            if self.in_text {
                match self.text_end(rest) {
                    Some(after) => rest = after,
                    None => return (bytes.len(), false),
                }
                self.in_text = false;
                if self.depth == 0 {
                    return (bytes.len() - rest.len(), true);
                }
            }
            // Nearly always the next string follows at once: its value, or another key.
            if let [b':' | b',', b'"', after @ ..] = rest {
                rest = after;
                self.in_text = true;
                self.is_escaped = false;
                continue;
            }
            let mut between = rest.iter();
            loop {
                match between.next() {
                    Some(b'"') => break,
                    Some(b'{' | b'[') => self.depth += 1,
                    Some(b'}' | b']') => {
                        self.depth = self.depth.saturating_sub(1);
                        if self.depth == 0 {
                            return (bytes.len() - between.as_slice().len(), true);
                        }
                    }
                    Some(_) => {}
                    None => return (bytes.len(), false),
                }
            }
            rest = between.as_slice();
            self.in_text = true;
            self.is_escaped = false;
        }
    }

    /// What follows the quote that ends the string. Searching for quotes alone and looking back for backslashes is
    /// faster than stopping at every escape, of which transcripts are full.
    fn text_end<'b>(&mut self, mut rest: &'b [u8]) -> Option<&'b [u8]> {
        loop {
            let found = memchr::memchr(b'"', rest);
            let (before, after) = rest.split_at(found.unwrap_or(rest.len()));
            let is_escaped = match before.last() {
                None => self.is_escaped,
                Some(b'\\') => {
                    let backslashes = before.iter().rev().take_while(|byte| **byte == b'\\').count();
                    let carried = backslashes == before.len() && self.is_escaped;
                    (backslashes % 2 == 1) != carried
                }
                Some(_) => false,
            };
            if found.is_none() {
                self.is_escaped = is_escaped;
                return None;
            }
            rest = after.get(1..).unwrap_or_default();
            if !is_escaped {
                return Some(rest);
            }
            self.is_escaped = false;
        }
    }
}

// A JSON document with one value replaced and every other byte unchanged.

/// Puts a value at the end of a path of keys; objects on the way are made where there is none.
pub(crate) fn set(json: &[u8], path: &[&str], value: &[u8]) -> Result<Vec<u8>> {
    let Some((key, rest)) = path.split_first() else { return Ok(value.to_vec()) };
    let Some(range) = field(json, key)? else { return Ok(appended(json, key, &nested(rest, value))) };
    let old = json.get(range.clone()).unwrap_or_default();
    // A null has no fields; the new value replaces it.
    let new = if old == b"null" { nested(rest, value) } else { set(old, rest, value)? };
    Ok(replaced(json, range, &new))
}

/// The document with a range of it replaced.
pub(crate) fn replaced(json: &[u8], range: Range<usize>, new: &[u8]) -> Vec<u8> {
    let (before, after) = (json.get(..range.start), json.get(range.end..));
    [before.unwrap_or_default(), new, after.unwrap_or_default()].concat()
}

/// Where the value of a field is; of several with one name the last counts.
pub(super) fn field(json: &[u8], key: &str) -> Result<Option<Range<usize>>> {
    Ok(fields(json)?.into_iter().rfind(|(name, _)| name == key).map(|(_, range)| range))
}

/// The value of a field.
pub(super) fn value<'j>(json: &'j [u8], key: &str) -> Result<Option<&'j [u8]>> {
    Ok(field(json, key)?.and_then(|range| json.get(range)))
}

/// The fields of an object, and where their values are.
pub(super) fn fields(object: &[u8]) -> Result<Vec<(String, Range<usize>)>> {
    let mut parts = Parts::default();
    Outline::of_object().visit(object, &mut parts)?;
    Ok(parts.0)
}

/// Where the items of a list are. A null is a list without any.
pub(super) fn items(json: &[u8]) -> Result<Vec<Range<usize>>> {
    let mut parts = Parts::default();
    if json.trim_ascii() != b"null" {
        Outline::of_list().visit(json, &mut parts)?;
    }
    Ok(parts.0.into_iter().map(|(_, range)| range).collect())
}

/// A list with one item more.
pub(crate) fn pushed(list: &[u8], item: &[u8]) -> Result<Vec<u8>> {
    let comma: &[u8] = if items(list)?.is_empty() { b"" } else { b"," };
    let end = list.iter().rposition(|byte| *byte == b']').unwrap_or(list.len());
    Ok(replaced(list, end..end, &[comma, item].concat()))
}

/// A value within objects of one field each.
fn nested(path: &[&str], value: &[u8]) -> Vec<u8> {
    path.iter().rev().fold(value.to_vec(), |value, key| appended(b"{}", key, &value))
}

/// An object with one field more.
fn appended(object: &[u8], key: &str, value: &[u8]) -> Vec<u8> {
    let end = object.iter().rposition(|byte| *byte == b'}').unwrap_or(object.len());
    let is_empty = object.get(..end).is_some_and(|inside| inside.trim_ascii_end().ends_with(b"{"));
    let key = serde_json::Value::from(key).to_string();
    let field = [if is_empty { "" } else { "," }.as_bytes(), key.as_bytes(), b":", value].concat();
    replaced(object, end..end, &field)
}

/// Collects parts with their keys, which items have none of.
#[derive(Default)]
struct Parts(Vec<(String, Range<usize>)>);

impl PartVisitor for Parts {
    fn begin(&mut self, key: &[u8], _first: u8, at: u64) -> Result<Descent> {
        let at = usize::try_from(at).unwrap_or(usize::MAX);
        self.0.push((String::from_utf8_lossy(key).into_owned(), at..at));
        Ok(Descent::Whole)
    }

    fn end(&mut self, at: u64) -> Result<()> {
        if let Some((_, range)) = self.0.last_mut() {
            range.end = usize::try_from(at).unwrap_or(usize::MAX);
        }
        Ok(())
    }
}

#[cfg(test)]
mod outline_tests {
    use super::*;

    /// Records the parts.
    #[derive(Default)]
    struct PartRecorder(Vec<(String, u64, Vec<u8>, u64)>);

    impl PartVisitor for PartRecorder {
        fn begin(&mut self, key: &[u8], first: u8, at: u64) -> Result<Descent> {
            self.0.push((String::from_utf8(key.to_owned()).unwrap(), at, Vec::new(), 0));
            let is_entered = key.starts_with(b"enter") && matches!(first, b'{' | b'[');
            Ok(if is_entered { Descent::Enter } else { Descent::Whole })
        }
        fn bytes(&mut self, bytes: &[u8]) -> Result<()> {
            self.0.last_mut().unwrap().2.extend_from_slice(bytes);
            Ok(())
        }
        fn end(&mut self, at: u64) -> Result<()> {
            self.0.last_mut().unwrap().3 = at;
            Ok(())
        }
        fn leave(&mut self, at: u64) -> Result<()> {
            self.0.push(("left".to_owned(), at, Vec::new(), at));
            Ok(())
        }
    }

    /// The parts, seen through pieces of this size.
    fn seen(text: &str, is_list: bool, piece: usize) -> Result<Vec<(String, String)>> {
        let mut parts = PartRecorder::default();
        let mut outline = if is_list { Outline::of_list() } else { Outline::of_object() };
        for piece in text.as_bytes().chunks(piece) {
            outline.push(piece, &mut parts)?;
        }
        outline.finish()?;
        for (_, start, bytes, end) in parts.0.iter().filter(|(.., end)| *end > 0) {
            assert_eq!(&text.as_bytes()[*start as usize..*end as usize], bytes);
        }
        Ok(parts.0.into_iter().map(|(key, _, bytes, _)| (key, String::from_utf8(bytes).unwrap())).collect())
    }

    #[test]
    fn parts_that_are_entered_have_parts_themselves() {
        let text =
            r#"{"a":{"x":1},"enter":[ {"y":[2]} , 3,"\"]"],"enter it":{"b":4,"enter":{},"c":[]},"enter":5}"#;
        let expected = [
            ("a", r#"{"x":1}"#),
            ("enter", ""),
            ("", r#"{"y":[2]}"#),
            ("", "3"),
            ("", r#""\"]""#),
            ("left", ""),
            ("enter it", ""),
            ("b", "4"),
            ("enter", ""),
            ("left", ""),
            ("c", "[]"),
            ("left", ""),
            ("enter", "5"),
        ];
        let expected = expected.map(|(key, value)| (key.to_owned(), value.to_owned()));
        for piece in 1..=text.len() {
            assert_eq!(seen(text, false, piece).unwrap(), expected, "pieces of {piece}");
        }
        for text in [r#"{"enter":[1 2]}"#, r#"{"enter":{"a" 1}}"#, r#"{"enter":[1}}"#, r#"{"enter":{"a":1]}"#]
        {
            assert!(seen(text, false, 2).is_err(), "{text}");
        }
    }

    #[test]
    fn fields_are_found_through_pieces_of_any_size() {
        let text = r#" {"id": 12 , "a\"b\\": "x\\\"]}", "l\u0069st":[{"}":"]\\"},[1,"\""]], "n":NaN,"o":{},"e":"\\"} "#;
        let expected = [
            ("id", "12"),
            (r#"a"b\"#, r#""x\\\"]}""#),
            ("list", r#"[{"}":"]\\"},[1,"\""]]"#),
            ("n", "NaN"),
            ("o", "{}"),
            ("e", r#""\\""#),
        ];
        let expected: Vec<(String, String)> =
            expected.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
        for piece in 1..=text.len() {
            assert_eq!(seen(text, false, piece).unwrap(), expected, "pieces of {piece}");
        }
        // An odd number of backslashes before a quote in a key; and an escape that is cut in two, in the string
        // before an empty one.
        let text = r#"{"a\\\"b":["x\n","",["y\\",""]],"c":1}"#;
        let expected = [(r#"a\"b"#, r#"["x\n","",["y\\",""]]"#), ("c", "1")];
        let expected = expected.map(|(key, value)| (key.to_owned(), value.to_owned()));
        for piece in 1..=text.len() {
            assert_eq!(seen(text, false, piece).unwrap(), expected, "pieces of {piece}");
        }
    }

    #[test]
    fn items_are_found_through_pieces_of_any_size() {
        let text = r#"[{"a":[1]} , 2,"x,]", null]"#;
        for piece in 1..=text.len() {
            let items: Vec<String> =
                seen(text, true, piece).unwrap().into_iter().map(|item| item.1).collect();
            assert_eq!(items, [r#"{"a":[1]}"#, "2", r#""x,]""#, "null"], "pieces of {piece}");
        }
        assert_eq!(seen(" [ ] ", true, 2).unwrap(), []);
    }

    #[test]
    fn what_is_not_an_object_is_refused_with_its_place() {
        for (text, problem) in [
            ("", "it ends too early"),
            ("[", "an object should start"),
            ("{", "it ends too early"),
            (r#"{"a":1"#, "it ends within `a`"),
            (r#"{"a":[1}"#, "it ends within `a`"),
            (r#"{"a" 1}"#, "a colon should follow the key"),
            (r#"{"a":}"#, "a value should start"),
            (r#"{"a":1 2}"#, "a comma or the end should follow the value"),
            (r#"{"a":1,}"#, "a key should start"),
            (r#"{} x"#, "nothing should follow"),
            (r#"{"\q":1}"#, "a key is not a string"),
        ] {
            let error = seen(text, false, 1).unwrap_err();
            assert!(
                matches!(error.kind(), LogErrorKind::Json { problem: p, .. } if p == problem),
                "{text}: {error}"
            );
        }
        for text in ["{}", "null", "[1 2]", "[1,]", "[,1]"] {
            assert!(seen(text, true, 3).is_err(), "{text}");
        }
    }
}

#[cfg(test)]
mod splice_tests {
    use super::*;

    fn set_in(json: &str, path: &[&str], value: &str) -> String {
        String::from_utf8(set(json.as_bytes(), path, value.as_bytes()).unwrap()).unwrap()
    }

    #[test]
    fn only_the_place_changes() {
        let json = "{ \"a\" : [1, NaN],\n \"b\": {\"c\": null , \"d\":1e400}, \"b2\":0 }\n";
        assert_eq!(set_in(json, &["a"], "7"), json.replace("[1, NaN]", "7"));
        assert_eq!(set_in(json, &["b", "d"], "{}"), json.replace("1e400", "{}"));
        assert_eq!(set_in(json, &["b", "c", "x"], "1"), json.replace("null", "{\"x\":1}"));
        assert_eq!(set_in(json, &["b", "e", "f"], "1"), json.replace("1e400}", "1e400,\"e\":{\"f\":1}}"));
        assert_eq!(set_in("{}", &["x\""], "1"), r#"{"x\"":1}"#);
        assert_eq!(set_in("{ }", &["x"], "1"), r#"{ "x":1}"#);
        assert_eq!(set_in(r#"{"a":1,"a":2}"#, &["a"], "3"), r#"{"a":1,"a":3}"#);
    }

    #[test]
    fn items_are_where_they_are() {
        let json = b" [ {\"a\":[]} , 2 ]";
        let items: Vec<&[u8]> = items(json).unwrap().into_iter().map(|range| &json[range]).collect();
        assert_eq!(items, [&b"{\"a\":[]}"[..], b"2"]);
        assert!(set(b"[1]", &["a"], b"1").is_err());
    }
}
