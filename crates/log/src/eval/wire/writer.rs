//! JSON as logs hold it: strict, but for the bare `NaN` and `Infinity` of Python, which `serde_json` will
//! not write. Everything that cannot hold one goes through `serde_json`.

use errorbar_core::{Leaf, Score, Value};
use serde::Serialize;

/// The value of a score, with `NaN` and `Infinity` bare.
pub(crate) fn score_json(value: &Value) -> String {
    let bytes = JsonWriter::bytes_of(|json| json.score_value(value));
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Writes JSON, a piece at a time.
#[derive(Debug, Default)]
pub(in crate::eval) struct JsonWriter {
    pub(super) bytes: Vec<u8>,
    /// Whether a comma is due before the next item.
    comma: bool,
}

impl JsonWriter {
    /// The bytes that `write` writes.
    pub(in crate::eval) fn bytes_of(write: impl FnOnce(&mut Self)) -> Vec<u8> {
        Self::bytes_with(0, write)
    }

    /// The same, with a capacity of this number of bytes from the start.
    pub(in crate::eval) fn bytes_with(capacity: usize, write: impl FnOnce(&mut Self)) -> Vec<u8> {
        let mut json = JsonWriter { bytes: Vec::with_capacity(capacity), comma: false };
        write(&mut json);
        json.bytes
    }

    /// The bytes of an object, filled by `fill`.
    pub(in crate::eval) fn object_bytes(fill: impl FnOnce(&mut Self)) -> Vec<u8> {
        Self::bytes_of(|json| json.object(fill))
    }

    /// An object, filled by `fill`.
    pub(in crate::eval) fn object(&mut self, fill: impl FnOnce(&mut Self)) {
        self.enclosed(b'{', b'}', fill);
    }

    /// A list, filled by `fill`.
    pub(in crate::eval) fn array(&mut self, fill: impl FnOnce(&mut Self)) {
        self.enclosed(b'[', b']', fill);
    }

    fn enclosed(&mut self, open: u8, close: u8, fill: impl FnOnce(&mut Self)) {
        self.item();
        self.bytes.push(open);
        self.comma = false;
        fill(self);
        self.bytes.push(close);
        self.comma = true;
    }

    /// Starts an item: a comma, if one came before it.
    pub(super) fn item(&mut self) {
        if self.comma {
            self.bytes.push(b',');
        }
        self.comma = true;
    }

    /// A key; its value must follow.
    pub(in crate::eval) fn key(&mut self, key: &str) -> &mut Self {
        self.text(key);
        self.bytes.push(b':');
        self.comma = false;
        self
    }

    /// Any value that holds no number which is not finite (one that does becomes null).
    pub(in crate::eval) fn value(&mut self, value: &(impl Serialize + ?Sized)) {
        self.item();
        let start = self.bytes.len();
        // Our own types serialise and memory does not fail; should one not, null keeps the file readable.
        if serde_json::to_writer(&mut self.bytes, value).is_err() {
            self.bytes.truncate(start);
            self.bytes.extend_from_slice(b"null");
        }
    }

    /// A string. The same as [`value`](Self::value), and quicker for those without anything to escape: nearly all.
    pub(in crate::eval) fn text(&mut self, text: &str) {
        let is_plain = |byte: u8| byte >= b' ' && byte != b'"' && byte != b'\\';
        // No early exit, so that many bytes are looked at together.
        if !text.bytes().fold(true, |all, byte| all & is_plain(byte)) {
            return self.value(text);
        }
        self.item();
        self.bytes.push(b'"');
        self.bytes.extend_from_slice(text.as_bytes());
        self.bytes.push(b'"');
    }

    /// JSON as it is.
    pub(in crate::eval) fn raw(&mut self, json: &[u8]) {
        self.item();
        self.bytes.extend_from_slice(json);
    }

    /// A key with its value.
    pub(in crate::eval) fn field(&mut self, key: &str, value: &(impl Serialize + ?Sized)) {
        self.key(key).value(value);
    }

    /// A key with its value, if there is one.
    pub(in crate::eval) fn optional(&mut self, key: &str, value: Option<&(impl Serialize + ?Sized)>) {
        if let Some(value) = value {
            self.field(key, value);
        }
    }

    /// Any float.
    pub(in crate::eval) fn float(&mut self, value: f64) {
        let bare: &[u8] = match value {
            f64::INFINITY => b"Infinity",
            f64::NEG_INFINITY => b"-Infinity",
            _ if value.is_nan() => b"NaN",
            _ => return self.value(&value),
        };
        self.item();
        self.bytes.extend_from_slice(bare);
    }

    /// The value of a score.
    pub(in crate::eval) fn score_value(&mut self, value: &Value) {
        match value {
            Value::Unscored => self.float(f64::NAN),
            Value::Bool(b) => self.value(b),
            Value::Int(i) => self.value(i),
            Value::Float(f) => self.float(*f),
            Value::Str(s) => self.value(s.as_ref()),
            Value::List(items) => self.array(|json| items.iter().for_each(|leaf| json.leaf(leaf))),
            Value::Map(map) => {
                self.object(|json| map.iter().for_each(|(key, leaf)| json.key(key).leaf(leaf)));
            }
        }
    }

    fn leaf(&mut self, leaf: &Leaf) {
        match leaf {
            Leaf::Unscored => self.float(f64::NAN),
            Leaf::Null => self.value(&()),
            Leaf::Bool(b) => self.value(b),
            Leaf::Int(i) => self.value(i),
            Leaf::Float(f) => self.float(*f),
            Leaf::Str(s) => self.value(s.as_ref()),
        }
    }

    /// A score; `sample` is for reductions, which name the sample in it.
    pub(in crate::eval) fn score(&mut self, score: &Score, sample: Option<&(impl Serialize + ?Sized)>) {
        self.object(|json| {
            json.key("value").score_value(&score.value);
            json.optional("answer", score.answer.as_ref());
            json.optional("explanation", score.explanation.as_ref());
            json.optional("reason", score.reason.as_ref());
            json.optional("metadata", score.metadata.as_ref());
            json.field("history", &score.history);
            json.optional("sample_id", sample);
        });
    }

    /// Scores by scorer.
    pub(in crate::eval) fn scores<'s>(&mut self, scores: impl IntoIterator<Item = (&'s str, &'s Score)>) {
        self.object(|json| {
            for (scorer, score) in scores {
                json.key(scorer).score(score, None::<&()>);
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(value: impl Into<Value>) -> String {
        String::from_utf8(JsonWriter::bytes_of(|json| json.score_value(&value.into()))).unwrap()
    }

    #[test]
    fn numbers_that_are_not_finite_are_bare() {
        assert_eq!(written(f64::NAN), "NaN");
        assert_eq!(written(f64::INFINITY), "Infinity");
        assert_eq!(written(f64::NEG_INFINITY), "-Infinity");
        assert_eq!(written(Value::map([("a", Leaf::Unscored), ("b", Leaf::Null)])), r#"{"a":NaN,"b":null}"#);
        assert_eq!(written(Value::list([0.5, f64::NAN])), "[0.5,NaN]");
    }

    #[test]
    fn texts_cannot_break_out() {
        assert_eq!(written("\"},\n\u{1}\u{2028}é"), "\"\\\"},\\n\\u0001\u{2028}é\"");
        let key = Value::map([("k\"\\", 1)]);
        assert_eq!(written(key), r#"{"k\"\\":1}"#);
    }

    #[test]
    fn commas_stand_between_items_only() {
        let bytes = JsonWriter::bytes_of(|json| {
            json.array(|json| {
                json.object(|json| json.field("a", &1));
                json.object(|_| ());
                json.value("x");
            });
        });
        assert_eq!(bytes, br#"[{"a":1},{},"x"]"#);
    }
}
