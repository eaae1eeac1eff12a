//! A sample whose score changed.

use errorbar_core::SampleId;
use serde::{Serialize, Serializer};
use serde_json::Value as Json;

use crate::number::plain;
use crate::table::TextTable;
use crate::text::truncate;

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

impl Flip {
    /// `C → I`.
    pub(crate) fn scores(&self) -> String {
        format!("{} → {}", score(&self.base_score), score(&self.other_score))
    }
}

/// A score as people read it.
fn score(score: &Json) -> String {
    match score {
        Json::Null => "absent".to_owned(),
        Json::String(grade) => grade.clone(),
        other => other.as_f64().map_or_else(|| other.to_string(), plain),
    }
}

/// A text on one line, blanks and line breaks as one blank each.
pub(crate) fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The start of a text, on one line, for a cell of a table.
fn shortened(text: &str) -> String {
    const MOST: usize = 120;
    truncate(&one_line(text), MOST, "…")
}

/// How many samples changed, and how many of them are listed.
pub(crate) fn title(listed: usize, changed: usize) -> String {
    match changed {
        0 => "no sample changed".to_owned(),
        changed if listed < changed => format!("{listed} of {changed} samples that changed"),
        1 => "1 sample changed".to_owned(),
        changed => format!("{changed} samples changed"),
    }
}

/// The samples by sides, scorer and task, under a heading each.
pub(crate) fn by_pair(flips: &[Flip]) -> Vec<(String, Vec<&Flip>)> {
    let mut pairs: Vec<(String, Vec<&Flip>)> = Vec::new();
    for flip in flips {
        let scorer = match &flip.field {
            Some(field) => format!("{}: {field}", flip.scorer),
            None => flip.scorer.clone(),
        };
        let parts = [Some(format!("{} → {}", flip.base, flip.other)), Some(scorer), flip.task.clone()];
        let parts: Vec<String> = parts.into_iter().flatten().filter(|part| !part.is_empty()).collect();
        let heading = parts.join(" · ");
        match pairs.iter_mut().find(|(known, _)| *known == heading) {
            Some((_, flips)) => flips.push(flip),
            None => pairs.push((heading, vec![flip])),
        }
    }
    pairs
}

/// The same as tables, each with this many samples at most.
pub(crate) fn tables(flips: &[Flip], most: usize) -> Vec<TextTable> {
    let cut = |text: &Option<String>| text.as_deref().map(shortened).unwrap_or_default();
    let row = |flip: &&Flip| {
        let (base, other) = (cut(&flip.base_answer), cut(&flip.other_answer));
        vec![flip.id.to_string(), flip.scores(), cut(&flip.input), base, other]
    };
    let table = |(name, flips): (String, Vec<&Flip>)| TextTable {
        name,
        titles: ["id", "score", "input", "base", "other"].map(str::to_owned).to_vec(),
        rows: flips.iter().take(most).map(row).collect(),
        ..TextTable::default()
    };
    by_pair(flips).into_iter().map(table).collect()
}
