//! JSON as logs hold it: strict, but for the bare `NaN` and `Infinity` of Python, which `serde_json` will
//! not write. Everything that cannot hold one goes through `serde_json`.

use errorbar_core::{Score, Value};
use errorbar_files::json_value;
use serde::Serialize;

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
        json_value::write_json(value, &mut self.bytes);
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
        self.item();
        json_value::write_float(value, &mut self.bytes);
    }

    /// The value of a score.
    pub(in crate::eval) fn score_value(&mut self, value: &Value) {
        self.item();
        json_value::write_score(value, &mut self.bytes);
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
