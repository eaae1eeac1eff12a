//! The JSON of a log: how its values are written and read.
//!
//! [`JsonWriter`] writes records, and functions over a [parser] read them.

use std::io::Write;
use std::time::Duration;

use errorbar_core::{Metadata, SampleId, Score, Value};
use errorbar_files::json_value::{self, Scalar};
use indexmap::IndexMap;
use jiff::SignedDuration;
use jiff::civil::date;
use jiter::{Jiter, JiterError, Peek};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value as Json;

use super::error::{LogError, LogErrorKind, Result};
pub(super) use super::events::{CallWriter, EventWriter, InitialSample, InputForm, murmur3};

// JSON as logs hold it: strict, but for the bare `NaN` and `Infinity` of Python, which `serde_json` will
// not write. Everything that cannot hold one goes through `serde_json`.

/// Writes JSON, a piece at a time.
#[derive(Debug, Default)]
pub(crate) struct JsonWriter {
    bytes: Vec<u8>,
    /// Whether a comma is due before the next item.
    comma: bool,
}

impl JsonWriter {
    /// The bytes that `write` writes.
    pub(crate) fn bytes_of(write: impl FnOnce(&mut Self)) -> Vec<u8> {
        Self::bytes_with(0, write)
    }

    /// The same, with a capacity of this number of bytes from the start.
    pub(crate) fn bytes_with(capacity: usize, write: impl FnOnce(&mut Self)) -> Vec<u8> {
        let mut json = JsonWriter { bytes: Vec::with_capacity(capacity), comma: false };
        write(&mut json);
        json.bytes
    }

    /// The bytes of an object, filled by `fill`.
    pub(crate) fn object_bytes(fill: impl FnOnce(&mut Self)) -> Vec<u8> {
        Self::bytes_of(|json| json.object(fill))
    }

    /// An object, filled by `fill`.
    pub(crate) fn object(&mut self, fill: impl FnOnce(&mut Self)) {
        self.enclosed(b'{', b'}', fill);
    }

    /// A list, filled by `fill`.
    pub(crate) fn array(&mut self, fill: impl FnOnce(&mut Self)) {
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

    /// Adds characters as they are, which follow from what the caller wrote before.
    pub(super) fn put(&mut self, text: std::fmt::Arguments<'_>) {
        // Writing to memory cannot fail.
        let _ = self.bytes.write_fmt(text);
    }

    /// Starts an item: a comma, if one came before it.
    pub(super) fn item(&mut self) {
        if self.comma {
            self.bytes.push(b',');
        }
        self.comma = true;
    }

    /// A key; its value must follow.
    pub(crate) fn key(&mut self, key: &str) -> &mut Self {
        self.text(key);
        self.bytes.push(b':');
        self.comma = false;
        self
    }

    /// Any value that holds no number which is not finite (one that does becomes null).
    pub(crate) fn value(&mut self, value: &(impl Serialize + ?Sized)) {
        self.item();
        json_value::write_json(value, &mut self.bytes);
    }

    /// A string. The same as [`value`](Self::value), and quicker for those without anything to escape: nearly all.
    pub(crate) fn text(&mut self, text: &str) {
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
    pub(crate) fn raw(&mut self, json: &[u8]) {
        self.item();
        self.bytes.extend_from_slice(json);
    }

    /// A key with its value.
    pub(crate) fn field(&mut self, key: &str, value: &(impl Serialize + ?Sized)) {
        self.key(key).value(value);
    }

    /// A key with its value, if there is one.
    pub(crate) fn optional(&mut self, key: &str, value: Option<&(impl Serialize + ?Sized)>) {
        if let Some(value) = value {
            self.field(key, value);
        }
    }

    /// Any float.
    pub(crate) fn float(&mut self, value: f64) {
        self.item();
        json_value::write_float(value, &mut self.bytes);
    }

    /// The value of a score.
    pub(crate) fn score_value(&mut self, value: &Value) {
        self.item();
        json_value::write_score(value, &mut self.bytes);
    }

    /// A score; `sample` is for reductions, which name the sample in it.
    pub(crate) fn score(&mut self, score: &Score, sample: Option<&(impl Serialize + ?Sized)>) {
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
    pub(crate) fn scores<'s>(&mut self, scores: impl IntoIterator<Item = (&'s String, &'s Score)>) {
        self.object(|json| {
            for (scorer, score) in scores {
                json.key(scorer).score(score, None::<&()>);
            }
        });
    }
}

// Reading records off a parser that takes the bare `NaN` of Python, without a tree for what is not wanted.

impl From<JiterError> for LogError {
    fn from(error: JiterError) -> Self {
        LogErrorKind::Json { problem: error.error_type.to_string(), at: error.index as u64 }.into()
    }
}

/// A parser over a member.
pub(crate) fn parser(bytes: &[u8]) -> Jiter<'_> {
    Jiter::new(bytes).with_allow_inf_nan()
}

/// Calls `field` for every field of the object that starts here; it must take the value.
pub(crate) fn fields(
    json: &mut Jiter<'_>,
    mut field: impl FnMut(&str, &mut Jiter<'_>, Peek) -> Result<()>,
) -> Result<()> {
    // The parser lends the key only until the next call.
    let mut name = String::new();
    let Some(key) = json.known_object()? else { return Ok(()) };
    name.push_str(key);
    loop {
        let peek = json.peek()?;
        field(&name, json, peek)?;
        let Some(key) = json.next_key()? else { return Ok(()) };
        name.clear();
        name.push_str(key);
    }
}

/// The object at the root of a member.
pub(crate) fn root_fields(
    bytes: &[u8],
    field: impl FnMut(&str, &mut Jiter<'_>, Peek) -> Result<()>,
) -> Result<()> {
    let mut json = parser(bytes);
    let peek = json.peek()?;
    object("the record", &mut json, peek, field)?;
    Ok(json.finish()?)
}

/// Calls `field` for every field of what must be an object.
pub(crate) fn object(
    name: &str,
    json: &mut Jiter<'_>,
    peek: Peek,
    field: impl FnMut(&str, &mut Jiter<'_>, Peek) -> Result<()>,
) -> Result<()> {
    match peek {
        Peek::Object => fields(json, field),
        other => Err(unexpected(name, other, "an object")),
    }
}

pub(crate) fn unexpected(field: &str, found: Peek, expected: &'static str) -> LogError {
    let (field, found) = (field.to_owned(), json_value::kind(found).to_owned());
    LogErrorKind::Field { field, found, expected }.into()
}

/// A string; null is none.
pub(crate) fn text(field: &str, json: &mut Jiter<'_>, peek: Peek) -> Result<Option<String>> {
    match peek {
        Peek::String => Ok(Some(json.known_str()?.to_owned())),
        Peek::Null => Ok(json.known_null().map(|()| None)?),
        other => Err(unexpected(field, other, "a string")),
    }
}

/// A number; null is none.
pub(crate) fn number(field: &str, json: &mut Jiter<'_>, peek: Peek) -> Result<Option<f64>> {
    match json_value::scalar(json, peek)? {
        Some(Scalar::Int(int)) => Ok(Some(int as f64)),
        Some(Scalar::Big(int)) => Ok(Some(int as f64)),
        Some(Scalar::Float(float)) => Ok(Some(float)),
        Some(Scalar::Digits(digits)) => Ok(Some(Scalar::rounded(digits))),
        Some(Scalar::Null) => Ok(None),
        _ => Err(unexpected(field, peek, "a number")),
    }
}

/// A count; null is none.
pub(crate) fn count(field: &str, json: &mut Jiter<'_>, peek: Peek) -> Result<Option<u64>> {
    match json_value::scalar(json, peek)? {
        Some(Scalar::Int(int)) if int >= 0 => Ok(Some(int.unsigned_abs())),
        Some(Scalar::Big(int)) => Ok(Some(int)),
        Some(Scalar::Null) => Ok(None),
        _ => Err(unexpected(field, peek, "a count")),
    }
}

/// The items of the list that starts here.
pub(crate) fn list<T>(
    name: &str,
    json: &mut Jiter<'_>,
    peek: Peek,
    item: impl Fn(&mut Jiter<'_>, Peek) -> Result<T>,
) -> Result<Vec<T>> {
    if peek != Peek::Array {
        return Err(unexpected(name, peek, "a list"));
    }
    let mut items = Vec::new();
    let mut next = json.known_array()?;
    while let Some(peek) = next {
        items.push(item(json, peek)?);
        next = json.array_step()?;
    }
    Ok(items)
}

/// The id of a sample.
pub(crate) fn sample_id(json: &mut Jiter<'_>, peek: Peek) -> Result<SampleId> {
    let id = json_value::scalar(json, peek)?.and_then(|scalar| scalar.id());
    id.ok_or_else(|| unexpected("id", peek, "an integer or a string"))
}

/// The epoch of a sample.
pub(crate) fn epoch(json: &mut Jiter<'_>, peek: Peek) -> Result<u32> {
    let epoch = count("epoch", json, peek)?.and_then(|epoch| u32::try_from(epoch).ok());
    epoch.ok_or_else(|| unexpected("epoch", peek, "a count below 2³²"))
}

/// Anything at all, as a tree.
pub(crate) fn any(json: &mut Jiter<'_>, peek: Peek) -> Result<Json> {
    Ok(json_value::any(json, peek)?)
}

/// A part that `serde` knows how to read.
pub(crate) fn typed<T: DeserializeOwned>(part: &'static str, json: &mut Jiter<'_>, peek: Peek) -> Result<T> {
    self::part(part, any(json, peek)?)
}

/// The same of a part that is a tree already.
pub(crate) fn part<T: DeserializeOwned>(part: &'static str, json: Json) -> Result<T> {
    serde_json::from_value(json)
        .map_err(|error| LogErrorKind::Part { part, problem: error.to_string() }.into())
}

/// A map of anything; null is none.
pub(crate) fn metadata(field: &str, json: &mut Jiter<'_>, peek: Peek) -> Result<Option<Metadata>> {
    match any(json, peek)? {
        Json::Object(map) => Ok(Some(map.into())),
        Json::Null => Ok(None),
        _ => Err(unexpected(field, peek, "an object")),
    }
}

/// The most scorers of a sample or a log: every one of them is a column over all samples.
pub const MAX_SCORERS: usize = 1_000;

/// The scores of a sample by scorer; null is none.
pub(crate) fn scores(json: &mut Jiter<'_>, peek: Peek) -> Result<IndexMap<String, Score>> {
    let mut scores = IndexMap::new();
    if peek == Peek::Null {
        json.known_null()?;
        return Ok(scores);
    }
    object("scores", json, peek, |scorer, json, peek| {
        if scores.len() == MAX_SCORERS {
            return Err(LogErrorKind::TooMany { what: "scorers", limit: MAX_SCORERS }.into());
        }
        scores.insert(scorer.to_owned(), score(scorer, json, peek)?);
        Ok(())
    })?;
    Ok(scores)
}

/// One score; a reason that an old log has among the metadata is lifted.
pub(crate) fn score(scorer: &str, json: &mut Jiter<'_>, peek: Peek) -> Result<Score> {
    let mut score = Score::new(Value::Unscored);
    let mut has_value = false;
    object(&format!("scores.{scorer}"), json, peek, |key, json, peek| {
        match key {
            "value" => {
                score.value = json_value::score(json, peek)?.map_err(|found| LogErrorKind::Field {
                    field: format!("scores.{scorer}.value"),
                    found: format!("a list or map that holds {found}"),
                    expected: "a scalar, or a list or map of scalars",
                })?;
                has_value = true;
            }
            "answer" => score.answer = text("answer", json, peek)?,
            "explanation" => score.explanation = text("explanation", json, peek)?,
            "reason" => score.reason = text("reason", json, peek)?,
            "metadata" => score.metadata = metadata("metadata", json, peek)?,
            "history" => {
                if let Json::Array(history) = any(json, peek)? {
                    score.history = history;
                }
            }
            _ => json.known_skip(peek)?,
        }
        Ok(())
    })?;
    if !has_value {
        return Err(LogErrorKind::Missing("value").into());
    }
    Ok(score.lift_reason())
}

// Times as logs write them. By hand, because a log has dozens per sample and general formatting takes longer than the
// rest of an event.

/// A time since the Unix epoch, by RFC 3339 with microseconds, in UTC; one beyond the year 9999 is the last of it.
///
/// ```
/// use std::time::Duration;
/// use errorbar_log::eval::timestamp;
/// assert_eq!(timestamp(Duration::from_micros(1_794_816_144_688_168)), "2026-11-16T08:02:24.688168+00:00");
/// ```
pub fn timestamp(since_epoch: Duration) -> String {
    const LAST: Duration = Duration::new(253_402_300_799, 999_999_000);
    let since_epoch = since_epoch.min(LAST);
    let since_epoch =
        SignedDuration::new(since_epoch.as_secs().cast_signed(), since_epoch.subsec_micros() as i32 * 1_000);
    format!("{:.6}+00:00", date(1970, 1, 1).at(0, 0, 0, 0).saturating_add(since_epoch))
}

/// Seconds, to the microsecond.
pub(super) fn seconds(time: Duration) -> String {
    format!("{}.{:06}", time.as_secs(), time.subsec_micros())
}

#[cfg(test)]
mod writer_tests {
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

#[cfg(test)]
mod time_tests {
    use super::*;

    #[test]
    fn times_are_those_of_rfc_3339() {
        assert_eq!(timestamp(Duration::ZERO), "1970-01-01T00:00:00.000000+00:00");
        assert_eq!(timestamp(Duration::from_secs(86_399)), "1970-01-01T23:59:59.000000+00:00");
        assert_eq!(timestamp(Duration::MAX), "9999-12-31T23:59:59.999999+00:00");
        for (millis, second) in [(1_999, "01.999000"), (1_000, "01.000000"), (951_782_400_000, "00.000000")] {
            assert!(timestamp(Duration::from_millis(millis)).ends_with(&format!(":{second}+00:00")));
        }
        assert!(timestamp(Duration::from_secs(951_782_400)).starts_with("2000-02-29T00:00:00"));
        assert_eq!(seconds(Duration::new(7, 42_999)), "7.000042");
    }
}
