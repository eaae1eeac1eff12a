//! The short form of a sample, for lists of them. Texts are cut and large metadata is left out, so nothing is
//! computed from a summary; the value of a score is whole all the same.

use errorbar_core::{Metadata, SampleId, Score};
use indexmap::IndexMap;
use serde_json::Value as Json;

use super::message::{Input, Message, Targets};
use super::output::Usage;
use super::sample::SampleRecord;
use super::stored::StoredSample;
use super::wire::JsonWriter;

/// How many characters of an input or a target are kept.
const LONG: usize = 5 * 1024;
/// How many characters of any other text, or bytes of a structure, are kept.
const SHORT: usize = 1024;
/// What stands where a text was cut.
const CUT: &str = "...";

/// What a summary is made of, whether the sample is being written or was read.
#[derive(Debug)]
pub(super) struct SampleSummary<'a> {
    id: &'a SampleId,
    epoch: u32,
    input: &'a Input,
    choices: Option<&'a [String]>,
    target: &'a Targets,
    metadata: &'a Metadata,
    scores: Vec<(&'a str, &'a Score)>,
    model_usage: &'a IndexMap<String, Usage>,
    role_usage: &'a IndexMap<String, Usage>,
    started_at: Option<&'a str>,
    completed_at: Option<&'a str>,
    total_time: Option<f64>,
    working_time: Option<f64>,
    uuid: Option<&'a str>,
    error: Option<&'a str>,
    limit: Option<&'a str>,
    message_count: u64,
}

impl<'a> From<&'a SampleRecord<'a>> for SampleSummary<'a> {
    fn from(record: &'a SampleRecord<'a>) -> Self {
        SampleSummary {
            id: record.id,
            epoch: record.epoch,
            input: record.input,
            choices: record.choices,
            target: record.target,
            metadata: record.metadata,
            scores: record.scores.iter().map(|(scorer, score)| (scorer.as_str(), score)).collect(),
            model_usage: record.model_usage,
            role_usage: record.role_usage,
            started_at: record.started_at,
            completed_at: record.completed_at,
            total_time: record.total_time,
            working_time: record.working_time,
            uuid: record.uuid,
            error: record.error.map(|error| error.message.as_str()),
            limit: record.limit.map(|limit| limit.kind.as_str()),
            message_count: record.messages.len() as u64,
        }
    }
}

impl<'a> From<&'a StoredSample> for SampleSummary<'a> {
    fn from(sample: &'a StoredSample) -> Self {
        SampleSummary {
            id: &sample.id,
            epoch: sample.epoch,
            input: &sample.input,
            choices: sample.choices.as_deref(),
            target: &sample.target,
            metadata: &sample.metadata,
            scores: sample.scores.iter().map(|(scorer, score)| (scorer.as_str(), score)).collect(),
            model_usage: &sample.model_usage,
            role_usage: &sample.role_usage,
            started_at: sample.started_at.as_deref(),
            completed_at: sample.completed_at.as_deref(),
            total_time: sample.total_time,
            working_time: sample.working_time,
            uuid: sample.uuid.as_deref(),
            error: sample.error.as_deref(),
            limit: sample.limit.as_deref(),
            message_count: sample.message_count,
        }
    }
}

impl SampleSummary<'_> {
    /// The summary as JSON, on one line.
    pub(super) fn to_json(&self) -> Vec<u8> {
        let mut json = JsonWriter::new();
        json.object(|json| {
            json.field("id", self.id);
            json.field("epoch", &self.epoch);
            json.field("input", &thin_input(self.input));
            json.optional("choices", self.choices.as_ref());
            json.field("target", &thin_targets(self.target));
            json.field("metadata", &thin_metadata(self.metadata));
            if !self.scores.is_empty() {
                let thin: Vec<(&str, Score)> =
                    self.scores.iter().map(|(s, score)| (*s, thin_score(score))).collect();
                json.key("scores").scores(thin.iter().map(|(scorer, score)| (*scorer, score)));
            }
            json.field("model_usage", self.model_usage);
            json.field("role_usage", self.role_usage);
            json.optional("started_at", self.started_at.as_ref());
            json.optional("completed_at", self.completed_at.as_ref());
            json.optional("total_time", self.total_time.as_ref());
            json.optional("working_time", self.working_time.as_ref());
            json.optional("uuid", self.uuid.as_ref());
            json.optional("error", self.error.as_ref());
            json.optional("limit", self.limit.as_ref());
            json.field("retries", &0);
            json.field("completed", &true);
            json.field("message_count", &self.message_count);
        });
        json.into_bytes()
    }
}

fn thin_input(input: &Input) -> Input {
    match input {
        Input::Text(text) => Input::Text(cut(text, LONG)),
        Input::Messages(messages) => {
            let thin =
                |message: &Message| Message { content: cut(&message.content, LONG), ..message.clone() };
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
