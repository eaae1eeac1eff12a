//! A score: a scorer's judgement of one answer, with its reasons.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, de};
use serde_json::Value as Json;

use crate::error::Result;
use crate::metadata::Metadata;
use crate::value::Value;

/// A score and all that is recorded with it.
///
/// ```
/// use errorbar_core::Score;
/// let score = Score::new("C").answer("red").explanation("the colour matches");
/// assert_eq!(score.to_f64(), 1.0);
/// assert!(score.as_f64().is_err(), "strict: a grade is not a number");
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Score {
    /// The value, or [`Value::Unscored`].
    pub value: Value,
    /// The answer that was scored.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer: Option<String>,
    /// Why the score is what it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub explanation: Option<String>,
    /// Machine-readable: `invalid_response_format`, `refusal`, `no_response`, `grader_failed`,
    /// `scoring_failed` or a custom word.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Anything else the scorer wants to keep.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metadata: Option<Metadata>,
    /// Earlier values, when the score was edited.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub history: Vec<Json>,
}

impl Score {
    /// A score of this value, with nothing else recorded.
    pub fn new(value: impl Into<Value>) -> Self {
        Score {
            value: value.into(),
            answer: None,
            explanation: None,
            reason: None,
            metadata: None,
            history: Vec::new(),
        }
    }

    /// An answer that could not be scored, and why.
    pub fn unscored(reason: impl Into<String>) -> Self {
        Score { reason: Some(reason.into()), ..Score::new(Value::Unscored) }
    }

    /// Records the answer.
    #[must_use]
    pub fn answer(mut self, answer: impl Into<String>) -> Self {
        self.answer = Some(answer.into());
        self
    }

    /// Records the explanation.
    #[must_use]
    pub fn explanation(mut self, explanation: impl Into<String>) -> Self {
        self.explanation = Some(explanation.into());
        self
    }

    /// Records the reason.
    #[must_use]
    pub fn reason(mut self, reason: impl Into<String>) -> Self {
        self.reason = Some(reason.into());
        self
    }

    /// Adds one entry of metadata.
    #[must_use]
    pub fn metadata(mut self, key: impl Into<String>, value: impl Into<Json>) -> Self {
        self.metadata.get_or_insert_default().insert(key.into(), value.into());
        self
    }

    /// Old logs carry the reason as `metadata.unscored_reason`: lift it, leaving the metadata as it is.
    #[must_use]
    pub fn lift_reason(mut self) -> Self {
        if self.reason.is_none() {
            let old = self.metadata.as_ref().and_then(|m| m.get("unscored_reason"));
            self.reason = old.and_then(Json::as_str).map(str::to_owned);
        }
        self
    }

    /// Whether the answer could not be scored.
    pub fn is_unscored(&self) -> bool {
        self.value.is_unscored()
    }

    /// See [`Value::as_f64`].
    pub fn as_f64(&self) -> Result<f64> {
        self.value.as_f64()
    }

    /// See [`Value::as_i64`].
    pub fn as_i64(&self) -> Result<i64> {
        self.value.as_i64()
    }

    /// See [`Value::as_bool`].
    pub fn as_bool(&self) -> Result<bool> {
        self.value.as_bool()
    }

    /// See [`Value::as_text`].
    pub fn as_text(&self) -> Result<String> {
        self.value.as_text()
    }

    /// See [`Value::to_f64`].
    pub fn to_f64(&self) -> f64 {
        self.value.to_f64()
    }
}

/// One row as a custom metric sees it: the whole score, and the sample it belongs to.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct SampleScore {
    /// The score.
    pub score: Score,
    /// The sample's id, as a string.
    pub sample_id: String,
    /// The sample's metadata: the keys that the plan requests.
    pub sample_metadata: Metadata,
    /// The scorer's name.
    pub scorer: String,
}

// The id of a sample: an integer or a string, and the two are not the same in a log.

/// The id of a sample, as datasets and logs write it.
///
/// ```
/// use errorbar_core::SampleId;
/// assert_eq!(SampleId::from(7).to_string(), "7");
/// assert_eq!(SampleId::from(7).sort_key(), "00000000000000000007");
/// assert_ne!(SampleId::from(7), SampleId::from("7"));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(untagged)]
pub enum SampleId {
    /// An integer.
    Int(i64),
    /// A string.
    Str(#[serde(deserialize_with = "text_of_id")] String),
}

/// A string, or the digits of an integer beyond `i64`.
fn text_of_id<'de, D: Deserializer<'de>>(from: D) -> Result<String, D::Error> {
    let json = Json::deserialize(from)?;
    match json {
        Json::String(id) => Ok(id),
        json if json.is_u64() => Ok(json.to_string()),
        _ => Err(de::Error::custom("an id is an integer or a string")),
    }
}

impl SampleId {
    /// What samples of one epoch are sorted by when a log is read again: the string, integers padded with
    /// zeros to 20 places.
    pub fn sort_key(&self) -> String {
        match self {
            SampleId::Int(id) => format!("{id:020}"),
            SampleId::Str(id) => id.clone(),
        }
    }
}

impl Default for SampleId {
    fn default() -> Self {
        SampleId::Int(0)
    }
}

impl fmt::Display for SampleId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SampleId::Int(id) => id.fmt(f),
            SampleId::Str(id) => id.fmt(f),
        }
    }
}

impl From<i64> for SampleId {
    fn from(id: i64) -> Self {
        SampleId::Int(id)
    }
}
impl From<&str> for SampleId {
    fn from(id: &str) -> Self {
        SampleId::Str(id.to_owned())
    }
}
impl From<String> for SampleId {
    fn from(id: String) -> Self {
        SampleId::Str(id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reason_of_old_logs_is_lifted() {
        assert!(Score::unscored("refusal").to_f64().is_nan(), "never a silent zero");
        let old = Score::new(Value::Unscored).metadata("unscored_reason", "refusal").lift_reason();
        assert_eq!(old.reason.as_deref(), Some("refusal"));
        assert!(old.metadata.unwrap().contains_key("unscored_reason"));
        let newer = Score::unscored("no_response").metadata("unscored_reason", "refusal").lift_reason();
        assert_eq!(newer.reason.as_deref(), Some("no_response"));
    }
}
