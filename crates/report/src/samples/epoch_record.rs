//! One sample in one epoch of one run, with its texts cut to what a page shows.

use errorbar_core::{LeafRef, Metadata, Score, ScoreColumns, ValueToFloat};
use errorbar_log::eval::{MessagePart, Transcript, TranscriptMessage};
use serde::Serialize;
use serde_json::Value as Json;

use super::{Outcome, OutcomeVerdict};
use crate::text::start;
use crate::transcript::{Verdict, grading, leaves};

/// The number of characters of a metadata value that are shown.
const METADATA_LIMIT: usize = 2_000;

/// The columns of a table that are a sample's question, the first that has one.
const INPUTS: [&str; 5] = ["input", "question", "prompt", "problem", "text"];
/// The columns that are shown at a place of their own.
const TEXTS: [&str; 3] = ["target", "answer", "explanation"];

/// What the epochs of a sample share: the question and what is known about it.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct SampleTexts {
    /// The question; one without a role is plain text.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) input: Vec<PageMessage>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) choices: Vec<LongText>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) target: Vec<LongText>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) metadata: Vec<(String, LongText)>,
}

/// What happened to a sample in one epoch.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct EpochRecord {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) answer: Option<LongText>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) scores: Vec<ScoreRecord>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tokens: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    seconds: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) error: Option<LongText>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) limit: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    stop_reason: Option<String>,
    /// The question, where it is not that of the sample.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) input: Option<Vec<PageMessage>>,
    /// The number of messages of the conversation.
    #[serde(skip_serializing_if = "Option::is_none")]
    message_count: Option<u64>,
    #[serde(skip)]
    pub(super) messages: Vec<PageMessage>,
}

/// A score and why it is what it is.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub(super) struct ScoreRecord {
    pub(super) scorer: String,
    /// By field, for a map or a list.
    #[serde(skip)]
    pub(super) outcomes: Vec<(Option<String>, Outcome)>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) answer: Option<LongText>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) explanation: Option<LongText>,
    /// The explanation is the answer, word for word.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    repeats_answer: bool,
    /// What a grader was sent and what it wrote.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) grading: Vec<PageMessage>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) metadata: Vec<(String, LongText)>,
}

/// A message of a conversation.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub(super) struct PageMessage {
    pub(super) role: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    author: Option<String>,
    pub(super) parts: Vec<PagePart>,
}

/// A part of a message: what it is, and its text.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct PagePart {
    /// `text`, `reasoning`, `call`, `error`, `media`.
    kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    pub(super) text: LongText,
}

impl From<&TranscriptMessage> for PageMessage {
    fn from(message: &TranscriptMessage) -> Self {
        let parts = message.parts.iter().map(PagePart::from).collect();
        PageMessage { role: message.role.clone(), author: message.author.clone(), parts }
    }
}

impl From<&MessagePart> for PagePart {
    fn from(part: &MessagePart) -> Self {
        let (kind, name, text) = match part {
            MessagePart::Text(text) => ("text", None, text.as_str().into()),
            MessagePart::Reasoning(text) => ("reasoning", None, text.as_str().into()),
            MessagePart::ToolCall { function, arguments } => {
                ("call", Some(function.clone()), LongText::from(arguments.to_string().as_str()))
            }
            MessagePart::Error(text) => ("error", None, text.as_str().into()),
            MessagePart::Media(kind) => ("media", None, kind.as_str().into()),
            // A kind that is added to logs later.
            _ => ("media", None, "?".into()),
        };
        PagePart { kind, name, text }
    }
}

impl PageMessage {
    /// The parts that are text, joined by line ends.
    pub(super) fn text(&self) -> String {
        let texts = self.parts.iter().filter(|part| part.kind == "text").map(|part| part.text.head());
        texts.collect::<Vec<_>>().join("\n")
    }
}

impl SampleTexts {
    /// The texts of a sample of a log.
    pub fn from_transcript(transcript: &Transcript) -> Self {
        let texts = |texts: &[String]| texts.iter().map(|text| text.as_str().into()).collect();
        SampleTexts {
            input: transcript.input.iter().map(PageMessage::from).collect(),
            choices: texts(&transcript.choices),
            target: texts(&transcript.target),
            metadata: metadata_texts(transcript.metadata.iter()),
        }
    }

    /// The texts of a row of a table, which has them under the names that tables use.
    pub fn from_row(columns: &ScoreColumns, row: usize) -> Self {
        let metadata = columns.metadata_row(row);
        let input = cell(&metadata, &INPUTS);
        let asked = INPUTS.into_iter().find(|key| metadata.get(key).is_some_and(|value| !value.is_null()));
        let target = cell(&metadata, &["target"]);
        let part = |text: String| PagePart { kind: "text", name: None, text: text.as_str().into() };
        let message =
            |text: String| PageMessage { role: "user".to_owned(), author: None, parts: vec![part(text)] };
        SampleTexts {
            input: input.map(message).into_iter().collect(),
            choices: Vec::new(),
            target: target.iter().map(|text| text.as_str().into()).collect(),
            // What is shown elsewhere is not repeated.
            metadata: metadata_texts(
                metadata
                    .iter()
                    .filter(|(key, _)| Some(key.as_str()) != asked && !TEXTS.contains(&key.as_str())),
            ),
        }
    }

    /// What was asked, as plain text.
    pub(super) fn question(&self) -> String {
        let user = self.input.iter().rfind(|message| message.role == "user");
        user.or(self.input.last()).map(PageMessage::text).unwrap_or_default()
    }
}

impl EpochRecord {
    /// A sample of a log. Scorers that are expected and absent are counted as such.
    pub fn from_transcript(transcript: &Transcript) -> Self {
        let has_choices = !transcript.choices.is_empty();
        let scores = transcript.scores.iter().map(|(scorer, score)| {
            ScoreRecord::new(scorer, score, has_choices, transcript.answer.as_deref())
        });
        let error = transcript.error.as_deref().or(transcript.output_error.as_deref());
        EpochRecord {
            answer: transcript.answer.as_deref().map(LongText::from),
            scores: scores.collect(),
            tokens: transcript.tokens,
            seconds: transcript.total_time,
            error: error.map(|error| if error.is_empty() { "failed" } else { error }.into()),
            limit: transcript.limit.clone(),
            stop_reason: transcript.stop_reason.clone().filter(|reason| reason != "stop"),
            input: None,
            message_count: transcript.message_count,
            messages: transcript.messages.iter().map(PageMessage::from).collect(),
        }
    }

    /// A row of a table, or of a log of which only the scores were read.
    pub fn from_row(columns: &ScoreColumns, row: usize) -> Self {
        let metadata = columns.metadata_row(row);
        let of_scores: Vec<(&str, Score)> =
            columns.scorer_names().filter_map(|name| Some((name, columns.score(row, name)?))).collect();
        // A table has no other answer than the one that was scored.
        let scored = || of_scores.iter().find_map(|(_, score)| score.answer.clone());
        let answer = cell(&metadata, &["answer", "output", "completion", "response"]).or_else(scored);
        let mut scores: Vec<ScoreRecord> = of_scores
            .iter()
            .map(|(scorer, score)| ScoreRecord::new(scorer, score, false, answer.as_deref()))
            .collect();
        if let Some(explanation) = cell(&metadata, &["explanation"])
            && let [first, ..] = scores.as_mut_slice()
            && first.explanation.is_none()
        {
            first.explanation = Some(LongText::from(explanation.as_str()));
        }
        let answer = answer.as_deref().map(LongText::from);
        let error = columns.is_errored(row).then(|| "failed".into());
        EpochRecord { answer, scores, error, ..EpochRecord::default() }
    }

    /// The outcomes by scorer and field.
    pub(super) fn outcomes(&self) -> impl Iterator<Item = (&str, Option<&str>, &Outcome)> {
        self.scores.iter().flat_map(|score| {
            let outcomes = score.outcomes.iter();
            outcomes.map(|(field, outcome)| (score.scorer.as_str(), field.as_deref(), outcome))
        })
    }

    /// The same, to change them.
    pub(super) fn outcomes_mut(&mut self) -> impl Iterator<Item = (&str, Option<&str>, &mut Outcome)> {
        self.scores.iter_mut().flat_map(|score| {
            let (scorer, outcomes) = (score.scorer.as_str(), score.outcomes.iter_mut());
            outcomes.map(move |(field, outcome)| (scorer, field.as_deref(), outcome))
        })
    }

    /// What was scored, in short: the answer that a scorer found, else the model's.
    pub(super) fn short_answer(&self) -> Option<String> {
        const LENGTH: usize = 48;
        let found = self.scores.iter().find_map(|score| score.answer.as_ref()).or(self.answer.as_ref())?;
        let line = found.head().lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
        Some(start(line, LENGTH))
    }
}

impl ScoreRecord {
    fn new(scorer: &str, score: &Score, has_choices: bool, completion: Option<&str>) -> Self {
        let answer = score.answer.as_deref();
        let outcomes = leaves(&score.value).map(|(field, leaf)| (field, outcome(score, leaf, has_choices)));
        let is_repeated = |text: &str| {
            let text = text.trim();
            !text.is_empty()
                && (Some(text) == completion.map(str::trim) || Some(text) == answer.map(str::trim))
        };
        let explanation = score.explanation.as_deref();
        let metadata = score.metadata.iter().flat_map(|metadata| metadata.iter());
        ScoreRecord {
            scorer: scorer.to_owned(),
            outcomes: outcomes.collect(),
            answer: answer.map(LongText::from),
            explanation: explanation.filter(|text| !is_repeated(text)).map(LongText::from),
            repeats_answer: explanation.is_some_and(is_repeated),
            grading: grading(score).iter().map(PageMessage::from).collect(),
            metadata: metadata_texts(metadata.filter(|(key, _)| key.as_str() != "grading")),
        }
    }
}

/// What a value of a score says.
fn outcome(score: &Score, leaf: LeafRef<'_>, has_choices: bool) -> Outcome {
    let converted = ValueToFloat::default().convert_leaf(leaf);
    let number = Some(converted.value).filter(|number| converted.convertible && number.is_finite());
    let reason = score.reason.clone();
    let is_unparsed = matches!(leaf, LeafRef::Str("N"))
        || matches!(reason.as_deref(), Some("no_response" | "invalid_response_format"))
        // A scorer of choices records the one that it found.
        || (has_choices && score.answer.as_deref().is_none_or(|answer| answer.trim().is_empty()));
    let verdict = match Verdict::of(leaf) {
        Verdict::Right => OutcomeVerdict::Right,
        Verdict::Partial => OutcomeVerdict::Partial,
        Verdict::Wrong if is_unparsed => OutcomeVerdict::NoAnswer,
        Verdict::Wrong => OutcomeVerdict::Wrong,
        Verdict::Unscored => OutcomeVerdict::Unscored,
        Verdict::Other => OutcomeVerdict::Other,
    };
    let value = match leaf {
        LeafRef::Unscored | LeafRef::Null => None,
        LeafRef::Float(number) => Some(crate::text::plain(number)),
        other => Some(LongText::new(other.text(), 80).head().to_owned()),
    };
    Outcome { verdict, value, number: number.filter(|_| verdict != OutcomeVerdict::Unscored), reason }
}

/// The first of these keys that has a value, as text.
fn cell(metadata: &Metadata, keys: &[&str]) -> Option<String> {
    let value = keys.iter().find_map(|key| metadata.get(key).filter(|value| !value.is_null()))?;
    Some(json_text(value))
}

fn json_text(value: &Json) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn metadata_texts<'a>(metadata: impl Iterator<Item = (&'a String, &'a Json)>) -> Vec<(String, LongText)> {
    let shown = metadata.filter(|(_, value)| !value.is_null());
    shown.map(|(key, value)| (key.clone(), LongText::new(json_text(value), METADATA_LIMIT))).collect()
}

// Texts of any length, cut for display, and the line that tells a question from others.

/// The number of characters of a text that are shown. An answer of ten megabytes would stop the page.
pub const TEXT_LIMIT: usize = 20_000;

/// A text of which the middle may be cut out.
///
/// ```
/// use errorbar_report::samples::LongText;
/// let text = LongText::new("a".repeat(1000) + "end", 100);
/// let json = serde_json::to_value(&text)?;
/// assert_eq!((json["length"].as_u64(), json["tail"].as_str().map(|tail| tail.ends_with("end"))), (Some(1003), Some(true)));
/// assert_eq!(serde_json::to_value(&LongText::new("short", 100))?, "short");
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum LongText {
    /// All of it.
    Whole(String),
    /// Both ends.
    Cut {
        /// The start.
        head: String,
        /// What is left of the end.
        tail: String,
        /// The characters that the whole text has.
        length: usize,
    },
}

impl LongText {
    /// A text with at most this number of characters: the start, and a tenth of them from the end.
    pub fn new(text: impl Into<String>, limit: usize) -> Self {
        let text = text.into();
        // No text has more characters than bytes.
        let length = if text.len() <= limit { 0 } else { text.chars().count() };
        if length <= limit {
            return LongText::Whole(text);
        }
        let end = limit / 10;
        let head = text.chars().take(limit - end).collect();
        LongText::Cut { head, tail: text.chars().skip(length - end).collect(), length }
    }

    /// The same with at most this number of characters; the length stays that of the whole text.
    #[must_use]
    pub fn shorten(&self, limit: usize) -> Self {
        match (self, LongText::new(self.head(), limit)) {
            (LongText::Whole(_), shorter) => shorter,
            (LongText::Cut { length, .. }, LongText::Whole(head)) => {
                LongText::Cut { head, tail: String::new(), length: *length }
            }
            (LongText::Cut { length, .. }, LongText::Cut { head, tail, .. }) => {
                LongText::Cut { head, tail, length: *length }
            }
        }
    }

    /// Its start.
    pub fn head(&self) -> &str {
        match self {
            LongText::Whole(text) | LongText::Cut { head: text, .. } => text,
        }
    }

    /// Whether something was cut out.
    pub fn is_cut(&self) -> bool {
        matches!(self, LongText::Cut { .. })
    }
}

impl From<&str> for LongText {
    fn from(text: &str) -> Self {
        LongText::new(text, TEXT_LIMIT)
    }
}

/// The number of characters of a preview.
const PREVIEW_LENGTH: usize = 120;

/// One line of a text: of several, the last one that asks something, because a passage often stands before its question;
/// else the first.
pub(super) fn preview(text: &str) -> String {
    // Of a very long text only both ends are looked at.
    const LOOKED_AT: usize = 20_000;
    let end = text.floor_char_boundary(LOOKED_AT.min(text.len()));
    let behind = text.ceil_char_boundary(text.len().saturating_sub(LOOKED_AT));
    let last = text.get(behind..).unwrap_or_default().lines().rev().map(str::trim);
    let question = last.filter(|line| !line.is_empty()).take(12).find(|line| line.ends_with('?'));
    let mut first =
        text.get(..end).unwrap_or_default().lines().map(str::trim).filter(|line| !line.is_empty());
    start(question.or_else(|| first.next()).unwrap_or_default(), PREVIEW_LENGTH)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_are_counted_and_not_bytes() {
        let text = "é".repeat(100);
        assert!(!LongText::new(text.clone(), 100).is_cut());
        let cut = LongText::new(text, 50);
        assert_eq!(serde_json::to_value(&cut).unwrap()["length"], 100);
        assert_eq!(cut.head().chars().count(), 45);
    }

    #[test]
    fn a_text_that_is_shortened_twice_keeps_its_whole_length() {
        let json = serde_json::to_value(LongText::new("x".repeat(500), 200).shorten(50)).unwrap();
        assert_eq!(json["length"], 500);
        assert_eq!(json["head"].as_str().unwrap().len(), 45);
    }

    #[test]
    fn a_question_after_a_passage_is_found() {
        assert_eq!(preview("The lake is green.\n\nWhat makes it green?\n\n"), "What makes it green?");
        assert_eq!(preview("What is it?\nA) one\nB) two"), "What is it?");
        assert_eq!(preview("\n Add 2 and 2.\nAnswer:"), "Add 2 and 2.");
        assert_eq!(preview(""), "");
        assert_eq!(preview(&"é".repeat(30_000)).chars().count(), 121);
    }
}
