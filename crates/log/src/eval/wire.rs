//! The JSON of a log: how its values are written and read.
//!
//! [`JsonWriter`] writes records, and functions over a [parser] read them.

use std::time::Duration;

use errorbar_core::{Metadata, SampleId, Score, Value};
use errorbar_files::json_value::{self, Scalar};
use indexmap::IndexMap;
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
    pub(super) bytes: Vec<u8>,
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
    if peek != Peek::Object {
        return Err(unexpected("the record", peek, "an object"));
    }
    fields(&mut json, field)?;
    Ok(json.finish()?)
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
    match peek {
        Peek::Null => json.known_null()?,
        Peek::Object => fields(json, |scorer, json, peek| {
            if scores.len() == MAX_SCORERS {
                return Err(LogErrorKind::TooMany { what: "scorers", limit: MAX_SCORERS }.into());
            }
            scores.insert(scorer.to_owned(), score(scorer, json, peek)?);
            Ok(())
        })?,
        other => return Err(unexpected("scores", other, "an object")),
    }
    Ok(scores)
}

/// One score; a reason that an old log has among the metadata is lifted.
pub(crate) fn score(scorer: &str, json: &mut Jiter<'_>, peek: Peek) -> Result<Score> {
    if peek != Peek::Object {
        return Err(unexpected(&format!("scores.{scorer}"), peek, "an object"));
    }
    let mut score = Score::new(Value::Unscored);
    let mut has_value = false;
    fields(json, |key, json, peek| {
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

const DAY: u64 = 86_400;

/// A time since the Unix epoch, by RFC 3339 with microseconds, in UTC.
///
/// ```
/// use std::time::Duration;
/// use errorbar_log::eval::timestamp;
/// assert_eq!(timestamp(Duration::from_micros(1_794_816_144_688_168)), "2026-11-16T08:02:24.688168+00:00");
/// ```
pub fn timestamp(since_epoch: Duration) -> String {
    let mut bytes = Vec::with_capacity(32);
    TimeWriter::default().put(&mut bytes, since_epoch);
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Writes times. Most events of a sample are within one second, whose date and time are computed once.
#[derive(Debug, Default)]
pub(super) struct TimeWriter {
    second: Option<u64>,
    /// The date and time of it, up to the point.
    text: Vec<u8>,
}

impl TimeWriter {
    /// Appends a time; one beyond the year 9999 is the last of it.
    pub(super) fn put(&mut self, bytes: &mut Vec<u8>, since_epoch: Duration) {
        const LAST: Duration = Duration::new(253_402_300_799, 999_999_000);
        let time = since_epoch.min(LAST);
        if self.second != Some(time.as_secs()) {
            self.second = Some(time.as_secs());
            self.text.clear();
            put_second(&mut self.text, time.as_secs());
        }
        bytes.extend_from_slice(&self.text);
        put_digits(bytes, u64::from(time.subsec_micros()), 6);
        bytes.extend_from_slice(b"+00:00");
    }
}

/// Appends the date and time of a second, with a point behind it.
fn put_second(bytes: &mut Vec<u8>, second: u64) {
    let (days, second) = (second / DAY, second % DAY);
    let (year, month, day) = date(days);
    let parts = [
        (b'-', year, 4),
        (b'-', month, 2),
        (b'T', day, 2),
        (b':', second / 3_600, 2),
        (b':', second / 60 % 60, 2),
        (b'.', second % 60, 2),
    ];
    for (behind, number, digits) in parts {
        put_digits(bytes, number, digits);
        bytes.push(behind);
    }
}

/// The date of a day since 1970: year, month and day. Years are counted from March, so that the leap day is the last of
/// one (Howard Hinnant, `civil_from_days`).
fn date(days: u64) -> (u64, u64, u64) {
    const ERA: u64 = 146_097;
    let days = days + 719_468;
    let (era, of_era) = (days / ERA, days % ERA);
    let year = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let from_march = (5 * of_year + 2) / 153;
    let day = of_year - (153 * from_march + 2) / 5 + 1;
    let month = if from_march < 10 { from_march + 3 } else { from_march - 9 };
    (era * 400 + year + u64::from(month <= 2), month, day)
}

/// Appends the digits of a number, at least this number of them.
pub(super) fn put_digits(bytes: &mut Vec<u8>, mut number: u64, at_least: usize) {
    let start = bytes.len();
    while number > 0 || bytes.len() - start < at_least {
        bytes.push(b'0' + (number % 10) as u8);
        number /= 10;
    }
    if let Some(digits) = bytes.get_mut(start..) {
        digits.reverse();
    }
}

/// Appends seconds, to the microsecond.
pub(super) fn put_seconds(bytes: &mut Vec<u8>, time: Duration) {
    put_digits(bytes, time.as_secs(), 1);
    bytes.push(b'.');
    put_digits(bytes, u64::from(time.subsec_micros()), 6);
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
    fn days_follow_one_another() {
        assert_eq!(date(0), (1970, 1, 1));
        let is_leap =
            |year: u64| year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
        let mut expected = (1970, 1, 1);
        for days in 0..400_000 {
            assert_eq!(date(days), expected, "day {days}");
            let (year, month, day) = expected;
            let length = match month {
                2 => 28 + u64::from(is_leap(year)),
                4 | 6 | 9 | 11 => 30,
                _ => 31,
            };
            expected = match (day == length, month) {
                (false, _) => (year, month, day + 1),
                (true, 12) => (year + 1, 1, 1),
                (true, _) => (year, month + 1, 1),
            };
        }
    }

    #[test]
    fn times_are_those_of_rfc_3339() {
        assert_eq!(timestamp(Duration::ZERO), "1970-01-01T00:00:00.000000+00:00");
        assert_eq!(timestamp(Duration::from_secs(86_399)), "1970-01-01T23:59:59.000000+00:00");
        assert_eq!(timestamp(Duration::MAX), "9999-12-31T23:59:59.999999+00:00");
        let (mut times, mut bytes) = (TimeWriter::default(), Vec::new());
        for millis in [1_999, 1_000, 2_000, 1_001] {
            times.put(&mut bytes, Duration::from_millis(millis));
        }
        let seconds = ["01.999000", "01.000000", "02.000000", "01.001000"];
        let expected: String = seconds.map(|second| format!("1970-01-01T00:00:{second}+00:00")).concat();
        assert_eq!(String::from_utf8(bytes).unwrap(), expected);
    }

    #[test]
    fn digits_are_those_of_the_number() {
        let text = |number, at_least| {
            let mut bytes = Vec::new();
            put_digits(&mut bytes, number, at_least);
            String::from_utf8(bytes).unwrap()
        };
        assert_eq!([text(0, 1), text(7, 6), text(u64::MAX, 1)], ["0", "000007", "18446744073709551615"]);
    }
}
