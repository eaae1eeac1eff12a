//! A sample on its way into a log.

use errorbar_core::{Metadata, SampleId, Score};
use indexmap::IndexMap;
use serde::{Deserialize, Serialize};

use super::header::EvalError;
use super::message::{Input, Message, Targets};
use super::output::{ModelOutput, Usage};
use super::wire::JsonWriter;

/// A limit that ended a sample.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SampleLimit {
    /// Which: `context`, `time`, `working`, `message`, `token`, `turn`, `cost`, `operator` or `custom`.
    #[serde(rename = "type")]
    pub kind: String,
    /// What it was set to.
    pub limit: f64,
    /// Why it struck.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// One sample in one epoch, as it is written. All borrowed: the runner keeps what it has.
#[derive(Clone, Copy, Debug)]
pub struct SampleRecord<'a> {
    /// The sample.
    pub id: &'a SampleId,
    /// The epoch, from 1.
    pub epoch: u32,
    /// What was asked.
    pub input: &'a Input,
    /// The answers to choose from.
    pub choices: Option<&'a [String]>,
    /// What the answer should be.
    pub target: &'a Targets,
    /// The conversation.
    pub messages: &'a [Message],
    /// What the model returned last.
    pub output: &'a ModelOutput,
    /// The scores, by scorer and in their order; none for a sample that was not scored.
    pub scores: &'a [(String, Score)],
    /// The metadata of the sample.
    pub metadata: &'a Metadata,
    /// What solvers keep.
    pub store: &'a Metadata,
    /// The tokens of each model.
    pub model_usage: &'a IndexMap<String, Usage>,
    /// The tokens used by models in a role, by role.
    pub role_usage: &'a IndexMap<String, Usage>,
    /// When it started, by RFC 3339.
    pub started_at: Option<&'a str>,
    /// When it ended, by RFC 3339.
    pub completed_at: Option<&'a str>,
    /// Seconds in all.
    pub total_time: Option<f64>,
    /// Seconds less those spent waiting.
    pub working_time: Option<f64>,
    /// Unique for this sample in this epoch of this run.
    pub uuid: Option<&'a str>,
    /// What ended it.
    pub error: Option<&'a EvalError>,
    /// The limit that ended it.
    pub limit: Option<&'a SampleLimit>,
}

impl SampleRecord<'_> {
    /// The name of the sample's member. The id stands in it as it is, so it cannot be read back from it.
    pub fn member_name(&self) -> String {
        member_name(self.id, self.epoch)
    }

    /// The sample as JSON. Not-a-number is written bare, as the reference writes it.
    pub fn to_json(&self) -> Vec<u8> {
        let mut json = JsonWriter::new();
        json.object(|json| {
            json.field("id", self.id);
            json.field("epoch", &self.epoch);
            json.field("input", self.input);
            json.optional("choices", self.choices.as_ref());
            json.field("target", self.target);
            json.field("messages", self.messages);
            json.field("output", self.output);
            if !self.scores.is_empty() {
                json.key("scores").scores(self.scores.iter().map(|(scorer, score)| (scorer.as_str(), score)));
            }
            json.field("metadata", self.metadata);
            json.field("store", self.store);
            json.field("events", &[(); 0]);
            json.field("model_usage", self.model_usage);
            json.field("role_usage", self.role_usage);
            json.optional("started_at", self.started_at.as_ref());
            json.optional("completed_at", self.completed_at.as_ref());
            json.optional("total_time", self.total_time.as_ref());
            json.optional("working_time", self.working_time.as_ref());
            json.optional("uuid", self.uuid.as_ref());
            json.optional("error", self.error);
            json.field("attachments", &Metadata::new());
            json.optional("limit", self.limit);
        });
        json.into_bytes()
    }
}

/// The name of a sample's member.
pub(super) fn member_name(id: &SampleId, epoch: u32) -> String {
    format!("samples/{id}_epoch_{epoch}.json")
}
