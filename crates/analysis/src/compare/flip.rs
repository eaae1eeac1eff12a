//! A sample whose score changed.

use errorbar_core::SampleId;
use serde::{Serialize, Serializer};
use serde_json::Value as Json;

/// A sample whose score is another on the other side.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Flip {
    /// Its id.
    #[serde(serialize_with = "id")]
    pub id: SampleId,
    /// The input, where it is known.
    pub input: Option<String>,
    /// The answer of the base, where it is known.
    pub base_answer: Option<String>,
    /// The answer of the other side.
    pub other_answer: Option<String>,
    /// The score of the base.
    pub base_score: Json,
    /// The score of the other side.
    pub other_score: Json,
    /// The scorer.
    pub scorer: String,
    /// The key of map-valued scores.
    pub field: Option<String>,
    /// The base.
    pub base: String,
    /// The other side.
    pub other: String,
    /// The task, if there are several.
    pub task: Option<String>,
}

impl Flip {
    /// A sample with both scores; what else is known about it can be set.
    pub fn new(id: impl Into<SampleId>, base_score: impl Into<Json>, other_score: impl Into<Json>) -> Self {
        Flip {
            id: id.into(),
            input: None,
            base_answer: None,
            other_answer: None,
            base_score: base_score.into(),
            other_score: other_score.into(),
            scorer: String::new(),
            field: None,
            base: String::new(),
            other: String::new(),
            task: None,
        }
    }

    /// Names the sides and the scorer.
    #[must_use]
    pub fn of(mut self, scorer: &str, base: &str, other: &str) -> Self {
        (self.scorer, self.base, self.other) = (scorer.to_owned(), base.to_owned(), other.to_owned());
        self
    }

    /// Sets the input.
    #[must_use]
    pub fn input(mut self, input: impl Into<String>) -> Self {
        self.input = Some(input.into());
        self
    }

    /// Sets both answers, where they are known.
    #[must_use]
    pub fn answers(mut self, base: Option<String>, other: Option<String>) -> Self {
        (self.base_answer, self.other_answer) = (base, other);
        self
    }
}

/// An integer stays one.
fn id<S: Serializer>(id: &SampleId, serializer: S) -> Result<S::Ok, S::Error> {
    match id {
        SampleId::Int(id) => serializer.serialize_i64(*id),
        SampleId::Str(id) => serializer.serialize_str(id),
    }
}
