//! The short form of a sample, for lists of them. Strings are truncated and large metadata is omitted, so nothing is
//! computed from a summary; the value of a score is whole all the same.

use std::io::Write;

use errorbar_core::chat::{Input, Message, Targets};
use errorbar_core::{Metadata, SampleId, Score};
use serde_json::Value as Json;

use super::error::{LogErrorKind, Result};
use super::members::SUMMARIES;
use super::sample::CommonFields;
use super::stored::StoredSample;
use super::wire::JsonWriter;
use super::zip::{Encoder, Member, StreamedMember};

/// How many characters of an input or a target are stored.
const LONG: usize = 5 * 1024;
/// How many characters of any other string, or bytes of a structure, are stored.
const SHORT: usize = 1024;
/// What marks a truncated string.
const CUT: &str = "...";

impl CommonFields<'_> {
    /// The short form of a sample as JSON, on one line.
    pub(super) fn summary_json<'s>(
        &self,
        key: (&SampleId, u32),
        scores: impl Iterator<Item = (&'s str, &'s Score)>,
        error: Option<&str>,
        limit: Option<&str>,
        message_count: u64,
    ) -> Vec<u8> {
        JsonWriter::object_bytes(|json| {
            let input = self.input.map(thin_input).unwrap_or_default();
            let target = self.target.map(thin_targets).unwrap_or_default();
            self.write_question(json, key, &input, &target);
            json.field("metadata", &self.metadata.map(thin_metadata).unwrap_or_default());
            let thin: Vec<(&str, Score)> =
                scores.map(|(scorer, score)| (scorer, thin_score(score))).collect();
            if !thin.is_empty() {
                json.key("scores").scores(thin.iter().map(|(scorer, score)| (*scorer, score)));
            }
            self.write_usage_and_times(json);
            json.optional("error", error);
            json.optional("limit", limit);
            json.field("retries", &0);
            json.field("completed", &true);
            json.field("message_count", &message_count);
        })
    }
}

impl StoredSample {
    /// The short form of the sample as JSON, on one line.
    pub(super) fn summary_json(&self) -> Vec<u8> {
        let common = CommonFields {
            input: Some(&self.input),
            choices: self.choices.as_deref(),
            target: Some(&self.target),
            metadata: Some(&self.metadata),
            model_usage: Some(&self.model_usage),
            role_usage: Some(&self.role_usage),
            started_at: self.started_at.as_deref(),
            completed_at: self.completed_at.as_deref(),
            total_time: self.total_time,
            working_time: self.working_time,
            uuid: self.uuid.as_deref(),
        };
        let scores = self.scores.iter().map(|(scorer, score)| (scorer.as_str(), score));
        let key = (&self.id, self.epoch);
        common.summary_json(key, scores, self.error.as_deref(), self.limit.as_deref(), self.message_count)
    }
}

/// The list of all summaries, compressed as it grows.
pub(super) struct SummaryList<'e> {
    member: StreamedMember<'e>,
    is_empty: bool,
}

impl<'e> SummaryList<'e> {
    pub(super) fn new(encoder: &'e mut Encoder) -> Self {
        SummaryList { member: StreamedMember::new(encoder), is_empty: true }
    }

    pub(super) fn push(&mut self, summary: &[u8]) -> Result<()> {
        self.write(if self.is_empty { b"[" } else { b"," })?;
        self.is_empty = false;
        self.write(summary)
    }

    pub(super) fn finish(mut self) -> Result<Member> {
        self.write(if self.is_empty { b"[]" } else { b"]" })?;
        self.member.finish(SUMMARIES)
    }

    fn write(&mut self, bytes: &[u8]) -> Result<()> {
        Ok(self.member.write_all(bytes).map_err(LogErrorKind::Compress)?)
    }
}

fn thin_input(input: &Input) -> Input {
    match input {
        Input::Text(text) => Input::Text(cut(text, LONG)),
        Input::Messages(messages) => {
            let thin = |message: &Message| {
                let mut message = message.clone();
                message.content = cut(&message.content, LONG);
                message
            };
            Input::Messages(messages.iter().map(thin).collect())
        }
    }
}

fn thin_targets(target: &Targets) -> Targets {
    match target {
        Targets::One(text) => Targets::One(cut(text, LONG)),
        Targets::Many(texts) => Targets::Many(texts.iter().map(|text| cut(text, LONG)).collect()),
    }
}

fn thin_score(score: &Score) -> Score {
    let short = |text: &Option<String>| text.as_ref().map(|text| shorten(text));
    Score {
        value: score.value.clone(),
        answer: short(&score.answer),
        explanation: short(&score.explanation),
        reason: short(&score.reason),
        metadata: score.metadata.as_ref().map(thin_metadata),
        history: Vec::new(),
    }
}

fn thin_metadata(metadata: &Metadata) -> Metadata {
    let thin = |value: &Json| match value {
        Json::String(text) => Json::from(shorten(text)),
        Json::Array(_) | Json::Object(_) if value.to_string().len() > SHORT => {
            Json::from("left out of the summary: more than 1k")
        }
        other => other.clone(),
    };
    metadata.iter().map(|(key, value)| (key.clone(), thin(value))).collect()
}

/// The first characters, as they are.
fn cut(text: &str, characters: usize) -> String {
    match text.char_indices().nth(characters) {
        Some((end, _)) => format!("{}{CUT}", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}

/// The first words, with single blanks between them.
fn shorten(text: &str) -> String {
    let mut short = String::new();
    let mut characters = 0;
    for word in text.split_whitespace() {
        let length = word.chars().count();
        if characters + 1 + length > SHORT {
            // A single word that is too long is cut within.
            return if short.is_empty() { cut(word, SHORT) } else { short + CUT };
        }
        if !short.is_empty() {
            short.push(' ');
        }
        short.push_str(word);
        characters += 1 + length;
    }
    short
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_cut_at_words_and_structures_left_out() {
        assert_eq!(shorten("  a \n b\t"), "a b");
        let long = shorten(&"word ".repeat(1000));
        assert!(long.ends_with("word...") && long.chars().count() <= SHORT + CUT.len(), "{}", long.len());
        assert_eq!(shorten(&"ü".repeat(5000)).chars().count(), SHORT + 3);
        assert_eq!(cut(&"ü".repeat(6000), LONG).chars().count(), LONG + 3);
        let metadata = thin_metadata(&Metadata::from_iter([
            ("list".to_owned(), Json::from(vec![1; 2000])),
            ("short".to_owned(), Json::from(vec![1])),
            ("null".to_owned(), Json::Null),
        ]));
        assert!(metadata["list"].is_string());
        assert_eq!((&metadata["short"], &metadata["null"]), (&Json::from(vec![1]), &Json::Null));
    }
}
