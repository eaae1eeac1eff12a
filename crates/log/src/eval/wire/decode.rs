//! Reading records off a parser that takes the bare `NaN` of Python, without a tree for what is not wanted.

use errorbar_core::{Metadata, SampleId, Score, Value};
use errorbar_files::json_value::{self, Scalar};
use indexmap::IndexMap;
use jiter::{Jiter, JiterError, Peek};
use serde::de::DeserializeOwned;
use serde_json::Value as Json;

use crate::eval::error::{LogError, LogErrorKind, Result};

impl From<JiterError> for LogError {
    fn from(error: JiterError) -> Self {
        LogErrorKind::Json { problem: error.error_type.to_string(), at: error.index as u64 }.into()
    }
}

/// A parser over a member.
pub(in crate::eval) fn parser(bytes: &[u8]) -> Jiter<'_> {
    Jiter::new(bytes).with_allow_inf_nan()
}

/// Calls `field` for every field of the object that starts here; it must take the value.
pub(in crate::eval) fn fields(
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
pub(in crate::eval) fn root_fields(
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

pub(in crate::eval) fn unexpected(field: &str, found: Peek, expected: &'static str) -> LogError {
    let (field, found) = (field.to_owned(), json_value::kind(found).to_owned());
    LogErrorKind::Field { field, found, expected }.into()
}

/// A string; null is none.
pub(in crate::eval) fn text(field: &str, json: &mut Jiter<'_>, peek: Peek) -> Result<Option<String>> {
    match peek {
        Peek::String => Ok(Some(json.known_str()?.to_owned())),
        Peek::Null => Ok(json.known_null().map(|()| None)?),
        other => Err(unexpected(field, other, "a string")),
    }
}

/// A number; null is none.
pub(in crate::eval) fn number(field: &str, json: &mut Jiter<'_>, peek: Peek) -> Result<Option<f64>> {
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
pub(in crate::eval) fn count(field: &str, json: &mut Jiter<'_>, peek: Peek) -> Result<Option<u64>> {
    match json_value::scalar(json, peek)? {
        Some(Scalar::Int(int)) if int >= 0 => Ok(Some(int.unsigned_abs())),
        Some(Scalar::Big(int)) => Ok(Some(int)),
        Some(Scalar::Null) => Ok(None),
        _ => Err(unexpected(field, peek, "a count")),
    }
}

/// The items of the list that starts here.
pub(in crate::eval) fn list<T>(
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
pub(in crate::eval) fn sample_id(json: &mut Jiter<'_>, peek: Peek) -> Result<SampleId> {
    let id = json_value::scalar(json, peek)?.and_then(|scalar| scalar.id());
    id.ok_or_else(|| unexpected("id", peek, "an integer or a string"))
}

/// The epoch of a sample.
pub(in crate::eval) fn epoch(json: &mut Jiter<'_>, peek: Peek) -> Result<u32> {
    let epoch = count("epoch", json, peek)?.and_then(|epoch| u32::try_from(epoch).ok());
    epoch.ok_or_else(|| unexpected("epoch", peek, "a count below 2³²"))
}

/// Anything at all, as a tree.
pub(in crate::eval) fn any(json: &mut Jiter<'_>, peek: Peek) -> Result<Json> {
    Ok(json_value::any(json, peek)?)
}

/// A part that `serde` knows how to read.
pub(in crate::eval) fn typed<T: DeserializeOwned>(
    part: &'static str,
    json: &mut Jiter<'_>,
    peek: Peek,
) -> Result<T> {
    self::part(part, any(json, peek)?)
}

/// The same of a part that is a tree already.
pub(in crate::eval) fn part<T: DeserializeOwned>(part: &'static str, json: Json) -> Result<T> {
    serde_json::from_value(json)
        .map_err(|error| LogErrorKind::Part { part, problem: error.to_string() }.into())
}

/// A map of anything; null is none.
pub(in crate::eval) fn metadata(field: &str, json: &mut Jiter<'_>, peek: Peek) -> Result<Option<Metadata>> {
    match any(json, peek)? {
        Json::Object(map) => Ok(Some(map.into())),
        Json::Null => Ok(None),
        _ => Err(unexpected(field, peek, "an object")),
    }
}

/// The most scorers of a sample or a log: every one of them is a column over all samples.
pub const MAX_SCORERS: usize = 1_000;

/// The scores of a sample by scorer; null is none.
pub(in crate::eval) fn scores(json: &mut Jiter<'_>, peek: Peek) -> Result<IndexMap<String, Score>> {
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
pub(in crate::eval) fn score(scorer: &str, json: &mut Jiter<'_>, peek: Peek) -> Result<Score> {
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
