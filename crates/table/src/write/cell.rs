//! One cell of a table that is written, as a string and as JSON.

use std::borrow::Cow;

use errorbar_core::{Leaf, SampleId, Value};
use errorbar_files::json_value::score_json;
use serde_json::Value as Json;

/// What stands in a row under a column.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ExportCell<'a> {
    /// The sample has no such thing.
    Missing,
    /// The sample has null there.
    Null,
    /// A string.
    Text(&'a str),
    /// The number of an epoch.
    Epoch(u32),
    /// The id of a sample.
    Id(&'a SampleId),
    /// The value of a score.
    Score(&'a Value),
    /// Metadata.
    Json(&'a Json),
    /// A number, which may not be finite.
    Number(f64),
    /// A count.
    Count(u64),
}

impl<'a> ExportCell<'a> {
    /// A string, or null.
    pub fn text_or_null(text: Option<&'a str>) -> Self {
        text.map_or(ExportCell::Null, ExportCell::Text)
    }

    /// The cell as a string: scalars as they are, lists and maps as JSON, in which `NaN` and `Infinity` stay bare.
    /// Nothing if nothing is there.
    pub(super) fn text(self) -> Option<Cow<'a, str>> {
        Some(match self {
            ExportCell::Missing | ExportCell::Null | ExportCell::Json(Json::Null) => return None,
            ExportCell::Text(text) => Cow::Borrowed(text),
            ExportCell::Json(Json::String(text)) => Cow::Borrowed(text),
            ExportCell::Id(SampleId::Str(id)) => Cow::Borrowed(id),
            ExportCell::Score(Value::Str(text)) => Cow::Borrowed(text),
            ExportCell::Epoch(epoch) => Cow::Owned(epoch.to_string()),
            ExportCell::Id(id) => Cow::Owned(id.to_string()),
            ExportCell::Json(json) => Cow::Owned(json.to_string()),
            ExportCell::Score(value) => Cow::Owned(score_json(value)),
            ExportCell::Number(number) => Cow::Owned(score_json(&Value::Float(number))),
            ExportCell::Count(count) => Cow::Owned(count.to_string()),
        })
    }

    /// Writes the cell as strict JSON: null for a number that is not finite.
    pub(super) fn write_json(self, out: &mut String) {
        match self {
            ExportCell::Missing | ExportCell::Null => out.push_str("null"),
            ExportCell::Text(text) => write_text(text, out),
            ExportCell::Epoch(epoch) => out.push_str(&epoch.to_string()),
            ExportCell::Id(SampleId::Str(id)) => write_text(id, out),
            ExportCell::Id(SampleId::Int(id)) => out.push_str(&id.to_string()),
            ExportCell::Json(json) => out.push_str(&json.to_string()),
            ExportCell::Number(number) => out.push_str(&Json::from(number).to_string()),
            ExportCell::Count(count) => out.push_str(&count.to_string()),
            ExportCell::Score(value) => out.push_str(&value.to_json().to_string()),
        }
    }

    /// Whether strict JSON has null for a number within this list or map: read again, that is not a number
    /// that is unscored.
    pub fn loses_inside(self) -> bool {
        let lost =
            |leaf: &Leaf| matches!(leaf, Leaf::Unscored) || matches!(leaf, Leaf::Float(f) if !f.is_finite());
        match self {
            ExportCell::Score(Value::List(items)) => items.iter().any(lost),
            ExportCell::Score(Value::Map(map)) => map.values().any(lost),
            _ => false,
        }
    }
}

/// Writes a string as JSON.
pub(super) fn write_text(text: &str, out: &mut String) {
    // `Value` prints a string without an error to handle; the copy is that of one string.
    out.push_str(&Json::from(text).to_string());
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn both(value: Value) -> (String, String) {
        let mut json = String::new();
        ExportCell::Score(&value).write_json(&mut json);
        (ExportCell::Score(&value).text().unwrap().into_owned(), json)
    }

    #[test]
    fn scores_as_text_and_as_json() {
        let cases = [
            (Value::from("C"), "C", "\"C\""),
            (Value::Int(1), "1", "1"),
            (Value::Float(1.0), "1.0", "1.0"),
            (Value::Float(0.5), "0.5", "0.5"),
            (Value::Float(f64::NEG_INFINITY), "-Infinity", "null"),
            (Value::Bool(true), "true", "true"),
            (Value::Unscored, "NaN", "null"),
            (Value::list([1.0, f64::NAN]), "[1.0,NaN]", "[1.0,null]"),
            (
                Value::map([("a\"", Leaf::from("x\n")), ("b", Leaf::Null), ("c", Leaf::Unscored)]),
                r#"{"a\"":"x\n","b":null,"c":NaN}"#,
                r#"{"a\"":"x\n","b":null,"c":null}"#,
            ),
        ];
        for (value, text, json) in cases {
            assert_eq!(both(value), (text.to_owned(), json.to_owned()));
        }
    }

    #[test]
    fn what_is_lost_in_json_is_known() {
        let lost = |value: Value| ExportCell::Score(&value).loses_inside();
        assert!(lost(Value::list([f64::NAN])) && lost(Value::map([("a", f64::INFINITY)])));
        assert!(!lost(Value::Unscored), "null reads as unscored again");
        assert!(!lost(Value::map([("a", Leaf::Null)])));
    }

    #[test]
    fn metadata_as_text() {
        let text = |json: Json| ExportCell::Json(&json).text().map(Cow::into_owned);
        assert_eq!(text(json!("a,\"b")).as_deref(), Some("a,\"b"));
        assert_eq!(text(json!([1, "x", null])).as_deref(), Some("[1,\"x\",null]"));
        assert_eq!(text(json!({})).as_deref(), Some("{}"));
        assert_eq!(text(json!(false)).as_deref(), Some("false"));
        assert_eq!(text(json!(null)), None);
    }
}
