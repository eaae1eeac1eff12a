//! A JSON document with one value replaced and every other byte unchanged.

use std::ops::Range;

use super::outline::{Descent, Outline, PartVisitor};
use crate::eval::error::Result;

/// Puts a value at the end of a path of keys; objects on the way are made where there is none.
pub(in crate::eval) fn set(json: &[u8], path: &[&str], value: &[u8]) -> Result<Vec<u8>> {
    let Some((key, rest)) = path.split_first() else { return Ok(value.to_vec()) };
    let Some(range) = field(json, key)? else { return Ok(appended(json, key, &nested(rest, value))) };
    let old = json.get(range.clone()).unwrap_or_default();
    // A null has no fields; the new value replaces it.
    let new = if old == b"null" { nested(rest, value) } else { set(old, rest, value)? };
    Ok(replaced(json, range, &new))
}

/// The document with a range of it replaced.
pub(in crate::eval) fn replaced(json: &[u8], range: Range<usize>, new: &[u8]) -> Vec<u8> {
    let (before, after) = (json.get(..range.start), json.get(range.end..));
    [before.unwrap_or_default(), new, after.unwrap_or_default()].concat()
}

/// Where the value of a field is; of several with one name the last counts.
pub(in crate::eval) fn field(json: &[u8], key: &str) -> Result<Option<Range<usize>>> {
    let mut found = Ranges { key: Some(key), is_selected: false, ranges: Vec::new() };
    Outline::of_object().visit(json, &mut found)?;
    Ok(found.ranges.pop())
}

/// The value of a field.
pub(in crate::eval) fn value<'j>(json: &'j [u8], key: &str) -> Result<Option<&'j [u8]>> {
    Ok(field(json, key)?.and_then(|range| json.get(range)))
}

/// Where the items of a list are. A null is a list without any.
pub(in crate::eval) fn items(json: &[u8]) -> Result<Vec<Range<usize>>> {
    let mut found = Ranges { key: None, is_selected: false, ranges: Vec::new() };
    if json.trim_ascii() != b"null" {
        Outline::of_list().visit(json, &mut found)?;
    }
    Ok(found.ranges)
}

/// A list with one item more.
pub(in crate::eval) fn pushed(list: &[u8], item: &[u8]) -> Result<Vec<u8>> {
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

struct Ranges<'k> {
    /// The field to look for; every part if there is none.
    key: Option<&'k str>,
    is_selected: bool,
    ranges: Vec<Range<usize>>,
}

impl PartVisitor for Ranges<'_> {
    fn begin(&mut self, key: &[u8], _first: u8, at: u64) -> Result<Descent> {
        self.is_selected = self.key.is_none_or(|selected| selected.as_bytes() == key);
        if self.is_selected {
            let at = usize::try_from(at).unwrap_or(usize::MAX);
            self.ranges.push(at..at);
        }
        Ok(Descent::Whole)
    }

    fn end(&mut self, at: u64) -> Result<()> {
        if let Some(range) = self.ranges.last_mut().filter(|_| self.is_selected) {
            range.end = usize::try_from(at).unwrap_or(usize::MAX);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
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
