//! A sample as people read it: the question, the answer, the verdicts and the conversation.
//!
//! What a metric needs is a [`StoredSample`](super::StoredSample); this is what a person needs to agree with it or
//! not. One transcript is held at a time. The conversation and the attachments that it refers to, most of the bytes
//! of a log, are read only for the samples that are [completed](Transcripts::complete).

mod message;
mod parts;
mod reader;

use errorbar_core::{Metadata, SampleId, Score};
use indexmap::IndexMap;
use jiter::{Jiter, Peek};
use serde_json::Value as Json;

use super::error::{LogErrorKind, Result};
use super::json::{FieldSelection, Selection};
use super::stored::{NAMELESS, SOME_SCORER};
use super::wire::decode::{self, any, count, fields, metadata, number, sample_id, scores, text};

pub use message::{MessagePart, TranscriptMessage};
pub use reader::Transcripts;

/// One sample in one epoch, with everything that people want to see of it.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Transcript {
    /// The sample.
    pub id: SampleId,
    /// The epoch, from 1.
    pub epoch: u32,
    /// The question; a string is one message of the user.
    pub input: Vec<TranscriptMessage>,
    /// The answers to choose from.
    pub choices: Vec<String>,
    /// What the answer should be; any of these will do.
    pub target: Vec<String>,
    /// The model's last answer.
    pub answer: Option<String>,
    /// Why the model stopped there: `stop`, `max_tokens`, …
    pub stop_reason: Option<String>,
    /// Why the model gave no answer.
    pub output_error: Option<String>,
    /// The scores by scorer, in their order.
    pub scores: IndexMap<String, Score>,
    /// The metadata.
    pub metadata: Metadata,
    /// What ended it, if that was an error.
    pub error: Option<String>,
    /// Where that error was, in lines.
    pub traceback: Option<String>,
    /// Which limit ended it, if one did: `token`, `time` and so on.
    pub limit: Option<String>,
    /// What that limit was set to.
    pub limit_value: Option<f64>,
    /// Seconds in all.
    pub total_time: Option<f64>,
    /// The tokens of all models.
    pub tokens: Option<u64>,
    /// How many messages the conversation has, if that is known without reading it.
    pub message_count: Option<u64>,
    /// The conversation, if it was to be read.
    pub messages: Vec<TranscriptMessage>,
    /// Where it is in the log.
    at: usize,
}

/// What is read of every sample.
fn wanted() -> Vec<(&'static str, Selection)> {
    use Selection::{All, Count, Fields, FieldsOfEach, FieldsOfItems};
    const STOP: FieldSelection = &[("stop_reason", All)];
    const OUTPUT: FieldSelection = &[("completion", All), ("error", All), ("choices", FieldsOfItems(STOP))];
    let mut wanted: Vec<_> =
        ["id", "epoch", "input", "choices", "target", "scores", "score", "metadata", "total_time"]
            .into_iter()
            .map(|name| (name, All))
            .collect();
    wanted.push(("output", Fields(OUTPUT)));
    wanted.push(("error", Fields(&[("message", All), ("traceback", All)])));
    wanted.push(("limit", Fields(&[("type", All), ("limit", All)])));
    wanted.push(("model_usage", FieldsOfEach(&[("total_tokens", All)])));
    wanted.push(("messages", Count));
    wanted
}

impl Transcript {
    /// Reads what a skimmer kept of a sample, or all of it.
    fn from_json(bytes: &[u8]) -> Result<Self> {
        let (mut id, mut epoch) = (None, None);
        let mut transcript = Transcript::default();
        let read = decode::root_fields(bytes, |key, json, peek| {
            match key {
                "id" => id = Some(sample_id(json, peek)?),
                "epoch" => epoch = Some(decode::epoch(json, peek)?),
                _ => transcript.field(key, json, peek)?,
            }
            Ok(())
        });
        read.map_err(|error| match &id {
            Some(id) => error.of_sample(id),
            None => error,
        })?;
        transcript.id = id.ok_or(LogErrorKind::Missing("id"))?;
        transcript.epoch = epoch.ok_or(LogErrorKind::Missing("epoch"))?;
        Ok(transcript)
    }

    /// A sample that is about to be written, with its conversation.
    pub(super) fn of_record(json: &[u8]) -> Result<Self> {
        Transcript::from_json(json)
    }

    fn field(&mut self, key: &str, json: &mut Jiter<'_>, peek: Peek) -> Result<()> {
        match key {
            "input" => self.input = message::input(&any(json, peek)?),
            "choices" => self.choices = texts(&any(json, peek)?),
            "target" => self.target = texts(&any(json, peek)?),
            "scores" => self.scores = scores(json, peek)?,
            // Very old logs have one score without the name of its scorer.
            "score" if peek == Peek::Object && self.scores.is_empty() => {
                self.scores.insert(NAMELESS.to_owned(), decode::score(SOME_SCORER, json, peek)?);
            }
            "metadata" => self.metadata = metadata(key, json, peek)?.unwrap_or_default(),
            "output" => self.read_output(&any(json, peek)?),
            "error" if peek == Peek::Object => {
                self.error = Some(String::new());
                fields(json, |key, json, peek| {
                    match key {
                        "message" => {
                            self.error = Some(text("error.message", json, peek)?.unwrap_or_default())
                        }
                        "traceback" => self.traceback = text("error.traceback", json, peek)?,
                        _ => json.known_skip(peek)?,
                    }
                    Ok(())
                })?;
            }
            "error" => self.error = text(key, json, peek)?,
            "limit" if peek == Peek::Object => {
                self.limit = Some(String::new());
                fields(json, |key, json, peek| {
                    match key {
                        "type" => self.limit = Some(text("limit.type", json, peek)?.unwrap_or_default()),
                        "limit" => self.limit_value = number("limit.limit", json, peek)?,
                        _ => json.known_skip(peek)?,
                    }
                    Ok(())
                })?;
            }
            "limit" => self.limit = text(key, json, peek)?,
            "total_time" => self.total_time = number(key, json, peek)?,
            "model_usage" => self.tokens = tokens(&any(json, peek)?),
            "messages" if peek == Peek::Array => {
                self.messages = message::messages(&any(json, peek)?);
                self.message_count = Some(self.messages.len() as u64);
            }
            "messages" => self.message_count = count(key, json, peek)?,
            _ => json.known_skip(peek)?,
        }
        Ok(())
    }

    fn read_output(&mut self, output: &Json) {
        let text = |value: Option<&Json>| value.and_then(Json::as_str).map(str::to_owned);
        self.answer = text(output.get("completion"));
        self.output_error = text(output.get("error"));
        self.stop_reason = text(output.get("choices").and_then(|choices| choices.get(0)?.get("stop_reason")));
    }

    /// Every string that may stand for an attachment.
    fn texts_mut(&mut self) -> impl Iterator<Item = &mut String> {
        let messages = self.input.iter_mut().chain(&mut self.messages);
        let of_messages = messages.flat_map(|message| &mut message.parts).flat_map(MessagePart::texts_mut);
        let of_scores =
            self.scores.values_mut().flat_map(|score| score.answer.iter_mut().chain(&mut score.explanation));
        let own = self.choices.iter_mut().chain(&mut self.target).chain(&mut self.answer);
        of_messages.chain(of_scores).chain(own)
    }
}

/// A string, or a list of them; what is not a string is shown as JSON.
fn texts(json: &Json) -> Vec<String> {
    let text = |item: &Json| item.as_str().map_or_else(|| item.to_string(), str::to_owned);
    match json {
        Json::Null => Vec::new(),
        Json::Array(items) => items.iter().map(text).collect(),
        one => vec![text(one)],
    }
}

/// The tokens of all models together.
fn tokens(usage: &Json) -> Option<u64> {
    let models = usage.as_object().filter(|models| !models.is_empty())?;
    let tokens = models.values().filter_map(|usage| usage.get("total_tokens")?.as_u64());
    Some(tokens.fold(0, u64::saturating_add))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_is_read_with_all_that_it_has() {
        let json = br#"{"id": 7, "epoch": 2, "input": "6 x 7?", "choices": ["41", "42"], "target": ["B", "b"],
            "messages": [{"role": "user", "content": "6 x 7?"}], "output": {"completion": "42", "error": null,
            "choices": [{"message": {}, "stop_reason": "max_tokens"}]}, "scores": {"m": {"value": NaN, "reason": "refusal"}},
            "metadata": {"k": 1}, "error": {"message": "boom", "traceback": "line 1"}, "limit": {"type": "token", "limit": 9},
            "model_usage": {"a": {"total_tokens": 3}, "b": {"total_tokens": 4}}, "total_time": 1.5, "unknown": [1]}"#;
        let read = Transcript::from_json(json).unwrap();
        assert_eq!((read.id, read.epoch), (SampleId::Int(7), 2));
        assert_eq!(read.target, ["B", "b"]);
        assert_eq!(read.choices, ["41", "42"]);
        assert_eq!(read.answer.as_deref(), Some("42"));
        assert_eq!(read.stop_reason.as_deref(), Some("max_tokens"));
        assert_eq!(read.scores["m"].reason.as_deref(), Some("refusal"));
        assert_eq!((read.error.as_deref(), read.traceback.as_deref()), (Some("boom"), Some("line 1")));
        assert_eq!((read.limit.as_deref(), read.limit_value), (Some("token"), Some(9.0)));
        assert_eq!((read.tokens, read.total_time, read.message_count), (Some(7), Some(1.5), Some(1)));
        assert_eq!((read.input.len(), read.messages.len()), (1, 1));
    }

    #[test]
    fn old_forms_are_read_too() {
        let json =
            br#"{"epoch": 1, "id": "a", "error": "boom", "limit": "time", "choices": null, "target": "x",
            "score": {"value": 1}, "messages": 12}"#;
        let read = Transcript::from_json(json).unwrap();
        assert_eq!((read.error.as_deref(), read.limit.as_deref()), (Some("boom"), Some("time")));
        assert_eq!(read.message_count, Some(12));
        assert_eq!((read.scores.len(), read.tokens), (1, None));
        for json in [r#"{"id": "a"}"#, r#"{"epoch": 1}"#, r#"{"id": "a", "epoch": 1, "error": [1]}"#, "[]"] {
            assert!(Transcript::from_json(json.as_bytes()).is_err(), "{json}");
        }
    }
}
