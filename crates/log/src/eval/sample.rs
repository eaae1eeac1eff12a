//! A sample on its way into a log.

use errorbar_core::chat::{Input, Message, ModelOutput, Targets, Usage};
use errorbar_core::{Metadata, SampleId, Score};
use indexmap::IndexMap;

use super::header::EvalError;
use super::wire::{JsonWriter, Wire};

/// A limit that ended a sample.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct SampleLimit {
    /// Which: `context`, `time`, `working`, `message`, `token`, `turn`, `cost`, `operator` or `custom`.
    pub kind: String,
    /// What it was set to.
    pub limit: f64,
    /// Why it was reached.
    pub reason: Option<String>,
}

impl SampleLimit {
    /// A limit of this kind, and why it was reached.
    pub fn new(kind: impl Into<String>, limit: f64, reason: impl Into<Option<String>>) -> Self {
        SampleLimit { kind: kind.into(), limit, reason: reason.into() }
    }
}

/// One sample in one epoch, as it is written. All borrowed: the runner keeps what it has.
///
/// ```
/// use errorbar_core::Score;
/// use errorbar_core::chat::{Input, ModelOutput};
/// use errorbar_log::eval::{SampleId, SampleRecord};
/// let (id, input, output) = (SampleId::from("q1"), Input::from("6 × 7?"), ModelOutput::from_text("mockllm/model", "42"));
/// let scores = [("match".to_owned(), Score::new("C"))];
/// let record = SampleRecord::new(&id, 1).input(&input).output(&output).scores(&scores);
/// assert_eq!(record.member_name(), "samples/q1_epoch_1.json");
/// ```
#[derive(Clone, Copy, Debug)]
pub struct SampleRecord<'a> {
    id: &'a SampleId,
    epoch: u32,
    common: CommonFields<'a>,
    messages: &'a [Message],
    output: Option<&'a ModelOutput>,
    scores: &'a [(String, Score)],
    store: Option<&'a Metadata>,
    error: Option<&'a EvalError>,
    limit: Option<&'a SampleLimit>,
}

/// What a sample and its summary have in common.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct CommonFields<'a> {
    pub(super) input: Option<&'a Input>,
    pub(super) choices: Option<&'a [String]>,
    pub(super) target: Option<&'a Targets>,
    pub(super) metadata: Option<&'a Metadata>,
    pub(super) model_usage: Option<&'a IndexMap<String, Usage>>,
    pub(super) role_usage: Option<&'a IndexMap<String, Usage>>,
    pub(super) started_at: Option<&'a str>,
    pub(super) completed_at: Option<&'a str>,
    pub(super) total_time: Option<f64>,
    pub(super) working_time: Option<f64>,
    pub(super) uuid: Option<&'a str>,
}

impl<'a> SampleRecord<'a> {
    /// A sample in an epoch, counted from 1, with everything else empty.
    pub fn new(id: &'a SampleId, epoch: u32) -> Self {
        let (common, messages, scores) = (CommonFields::default(), &[], &[]);
        SampleRecord {
            id,
            epoch,
            common,
            messages,
            output: None,
            scores,
            store: None,
            error: None,
            limit: None,
        }
    }

    setters! {
        /// The input.
        input: &'a Input => common.input;
        /// The answers to choose from.
        choices: impl Into<Option<&'a [String]>> => common.choices;
        /// What the answer should be.
        target: &'a Targets => common.target;
        /// The conversation.
        messages: &'a [Message] => messages;
        /// The last output of the model.
        output: &'a ModelOutput => output;
        /// The scores, by scorer and in their order; none for a sample that was not scored.
        scores: &'a [(String, Score)] => scores;
        /// The metadata of the sample.
        metadata: &'a Metadata => common.metadata;
        /// The values that solvers store.
        store: &'a Metadata => store;
        /// The tokens of each model.
        model_usage: &'a IndexMap<String, Usage> => common.model_usage;
        /// The tokens used by models in a role, by role.
        role_usage: &'a IndexMap<String, Usage> => common.role_usage;
        /// When it started, by RFC 3339.
        started_at: &'a str => common.started_at;
        /// When it ended, by RFC 3339.
        completed_at: &'a str => common.completed_at;
        /// Seconds in all.
        total_time: f64 => common.total_time;
        /// Seconds less those spent waiting.
        working_time: f64 => common.working_time;
        /// Unique for this sample in this epoch of this run.
        uuid: &'a str => common.uuid;
        /// The error that ended it.
        error: impl Into<Option<&'a EvalError>> => error;
        /// The limit that ended it.
        limit: impl Into<Option<&'a SampleLimit>> => limit;
    }

    pub(super) fn id(&self) -> &'a SampleId {
        self.id
    }

    /// The name of the sample's member. The id stands in it as it is, so it cannot be read back from it.
    pub fn member_name(&self) -> String {
        member_name(self.id, self.epoch)
    }

    /// The sample as JSON. Not-a-number is written bare, as the reference writes it.
    pub fn to_json(&self) -> Vec<u8> {
        let empty = Metadata::new();
        JsonWriter::object_bytes(|json| {
            let (input, target) = (Input::default(), Targets::default());
            let (input, target) =
                (self.common.input.unwrap_or(&input), self.common.target.unwrap_or(&target));
            self.common.write_question(json, (self.id, self.epoch), input, target);
            json.key("messages").array(|json| self.messages.iter().for_each(|m| json.value(&Wire(m))));
            json.field("output", &Wire(self.output.unwrap_or(&ModelOutput::default())));
            if !self.scores.is_empty() {
                json.key("scores").scores(self.scores.iter().map(|(scorer, score)| (scorer.as_str(), score)));
            }
            json.field("metadata", self.common.metadata.unwrap_or(&empty));
            json.field("store", self.store.unwrap_or(&empty));
            json.field("events", &[(); 0]);
            self.common.write_usage_and_times(json);
            json.optional("error", self.error);
            json.field("attachments", &empty);
            if let Some(limit) = self.limit {
                json.key("limit").object(|json| {
                    json.field("type", &limit.kind);
                    json.field("limit", &limit.limit);
                    json.optional("reason", limit.reason.as_ref());
                });
            }
        })
    }

    /// The short form of the sample as JSON.
    pub(super) fn summary_json(&self) -> Vec<u8> {
        let scores = self.scores.iter().map(|(scorer, score)| (scorer.as_str(), score));
        let error = self.error.map(|error| error.message.as_str());
        let limit = self.limit.map(|limit| limit.kind.as_str());
        self.common.summary_json((self.id, self.epoch), scores, error, limit, self.messages.len() as u64)
    }
}

impl CommonFields<'_> {
    /// From the id to the target; input and target may be shortened.
    pub(super) fn write_question(
        &self,
        json: &mut JsonWriter,
        (id, epoch): (&SampleId, u32),
        input: &Input,
        target: &Targets,
    ) {
        json.field("id", &Wire(id));
        json.field("epoch", &epoch);
        json.field("input", &Wire(input));
        json.optional("choices", self.choices.as_ref());
        json.field("target", &Wire(target));
    }

    /// From the usage to the UUID.
    pub(super) fn write_usage_and_times(&self, json: &mut JsonWriter) {
        let empty = IndexMap::new();
        json.field("model_usage", &Wire(self.model_usage.unwrap_or(&empty)));
        json.field("role_usage", &Wire(self.role_usage.unwrap_or(&empty)));
        json.optional("started_at", self.started_at.as_ref());
        json.optional("completed_at", self.completed_at.as_ref());
        json.optional("total_time", self.total_time.as_ref());
        json.optional("working_time", self.working_time.as_ref());
        json.optional("uuid", self.uuid.as_ref());
    }
}

/// The name of a sample's member.
pub(super) fn member_name(id: &SampleId, epoch: u32) -> String {
    format!("samples/{id}_epoch_{epoch}.json")
}
