//! A sample on its way into a log.

use std::io::Write;

use errorbar_core::chat::{Input, Message, ModelOutput, SampleEvents, Targets, Usage};
use errorbar_core::{Metadata, MetadataKeys, SampleId, Score, ScoreParts, Value};
use indexmap::IndexMap;
use jiter::{Jiter, Peek};
use serde::Serialize;
use serde_json::Value as Json;

use super::chunks::SampleExtent;
use super::container::SUMMARIES;
use super::error::{LogError, LogErrorKind, Result};
use super::header::EvalError;
use super::json::{FieldSelection, Selection};
use super::wire::{
    self, EventWriter, InitialSample, JsonWriter, count, fields, metadata, number, part, sample_id, scores,
    text, typed,
};
use super::zip::{Encoder, Member, StreamedMember};

/// A limit that ended a sample.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct SampleLimit {
    /// Which: `context`, `time`, `working`, `message`, `token`, `turn`, `cost`, `operator` or `custom`.
    #[serde(rename = "type")]
    pub kind: String,
    /// What it was set to.
    pub limit: f64,
    /// Why it was reached.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

impl SampleLimit {
    /// A limit of this kind, and why it was reached.
    pub fn new(kind: impl Into<String>, limit: f64, reason: impl Into<Option<String>>) -> Self {
        SampleLimit { kind: kind.into(), limit, reason: reason.into() }
    }
}

/// One sample in one epoch, as it is written. All but its id is borrowed: the runner keeps what it has.
///
/// ```
/// use errorbar_core::Score;
/// use errorbar_core::chat::{Input, ModelOutput};
/// use errorbar_log::eval::{SampleId, SampleRecord};
/// let (input, output) = (Input::from("6 × 7?"), ModelOutput::from_text("mockllm/model", "42"));
/// let scores = [("match".to_owned(), Score::new("C"))];
/// let record = SampleRecord::new(&SampleId::from("q1"), 1);
/// let record = SampleRecord { input: Some(&input), output: Some(&output), scores: &scores, ..record };
/// assert_eq!(record.member_name(), "samples/q1_epoch_1.json");
/// ```
#[derive(Clone, Debug, Default)]
pub struct SampleRecord<'a> {
    /// The sample.
    pub id: SampleId,
    /// The epoch, from 1.
    pub epoch: u32,
    /// The input.
    pub input: Option<&'a Input>,
    /// The answers to choose from.
    pub choices: Option<&'a [String]>,
    /// What the answer should be.
    pub target: Option<&'a Targets>,
    /// The conversation.
    pub messages: &'a [Message],
    /// The last output of the model.
    pub output: Option<&'a ModelOutput>,
    /// The scores, by scorer and in their order; none for a sample that was not scored.
    pub scores: &'a [(String, Score)],
    /// The metadata of the sample.
    pub metadata: Option<&'a Metadata>,
    /// The values that solvers store.
    pub store: Option<&'a Metadata>,
    /// The tokens of each model.
    pub model_usage: Option<&'a IndexMap<String, Usage>>,
    /// The tokens used by models in a role, by role.
    pub role_usage: Option<&'a IndexMap<String, Usage>>,
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
    /// The error that ended it.
    pub error: Option<&'a EvalError>,
    /// The limit that ended it.
    pub limit: Option<&'a SampleLimit>,
    /// What happened while it ran.
    pub events: Option<&'a SampleEvents>,
    /// The metadata of the sample before it ran, for its events, if that is not what it is now.
    pub initial_metadata: Option<&'a Metadata>,
}

impl SampleRecord<'_> {
    /// The record of a sample, with nothing else in it yet.
    pub fn new(id: &SampleId, epoch: u32) -> Self {
        SampleRecord { id: id.clone(), epoch, ..SampleRecord::default() }
    }

    /// The name of the sample's member. The id stands in it as it is, so it cannot be read back from it.
    pub fn member_name(&self) -> String {
        member_name(&self.id, self.epoch)
    }

    /// The sample as JSON. Not-a-number is written bare, as the reference writes it.
    pub fn to_json(&self) -> Vec<u8> {
        let empty = Metadata::new();
        let (input, target) = (&Input::default(), &Targets::default());
        let (input, target) = (self.input.unwrap_or(input), self.target.unwrap_or(target));
        let initial = InitialSample {
            id: &self.id,
            input,
            choices: self.choices,
            target,
            metadata: self.initial_metadata.or(self.metadata).unwrap_or(&empty),
            model: self.output.map_or("", |output| &output.model),
        };
        let uuid = self.uuid.unwrap_or_default();
        let mut events = self.events.map(|recorded| EventWriter::new(recorded, initial, uuid));
        // Most samples are smaller; room that grows is copied each time.
        let room = if events.is_some() { 8192 } else { 2048 };
        JsonWriter::bytes_with(room, |json| {
            json.object(|json| {
                self.write_question(json, input, target);
                json.field("messages", self.messages);
                json.field("output", self.output.unwrap_or(&ModelOutput::default()));
                if !self.scores.is_empty() {
                    json.key("scores").scores(self.scores.iter().map(|(scorer, score)| (scorer, score)));
                }
                json.field("metadata", self.metadata.unwrap_or(&empty));
                json.field("store", self.store.unwrap_or(&empty));
                match &mut events {
                    Some(events) => events.write_events(json.key("events")),
                    None => json.field("events", &[(); 0]),
                }
                self.write_usage_and_times(json);
                json.optional("error", self.error);
                match &mut events {
                    Some(events) => {
                        events.write_data(json.key("events_data"));
                        events.write_attachments(json.key("attachments"));
                    }
                    None => json.field("attachments", &empty),
                }
                json.optional("limit", self.limit);
            })
        })
    }

    /// The short form of the sample as JSON.
    pub(super) fn summary_json(&self) -> Vec<u8> {
        let scores = self.scores.iter().map(|(scorer, score)| (scorer, score));
        let error = self.error.map(|error| error.message.as_str());
        let limit = self.limit.map(|limit| limit.kind.as_str());
        self.summary_with(scores, error, limit, self.messages.len() as u64)
    }

    /// From the id to the target; input and target may be shortened.
    fn write_question(&self, json: &mut JsonWriter, input: &Input, target: &Targets) {
        json.field("id", &self.id);
        json.field("epoch", &self.epoch);
        json.field("input", input);
        json.optional("choices", self.choices.as_ref());
        json.field("target", target);
    }

    /// From the usage to the UUID.
    fn write_usage_and_times(&self, json: &mut JsonWriter) {
        let empty = IndexMap::new();
        json.field("model_usage", self.model_usage.unwrap_or(&empty));
        json.field("role_usage", self.role_usage.unwrap_or(&empty));
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

// A sample as it is read from a log: what metrics and summaries need. Messages and events, most of the
// bytes, are counted or skipped but never built.

/// What to read of each sample; the rest is skipped.
///
/// ```
/// use errorbar_core::MetadataKeys;
/// use errorbar_log::eval::SampleFields;
/// let only_scores = SampleFields::scores(MetadataKeys::one("category"));
/// assert!(!only_scores.texts);
/// ```
#[derive(Clone, Debug)]
pub struct SampleFields {
    /// Input, choices and target.
    pub texts: bool,
    /// Choices and target without the input. Long ones may be references to other parts of the log.
    pub choices: bool,
    /// Usage, times, the number of messages and the like.
    pub details: bool,
    /// The text of the output.
    pub completion: bool,
    /// What scorers judge: the conversation, the output and the store; of scores their names only. References to
    /// attachments are resolved.
    pub answers: bool,
    /// Which metadata of the sample.
    pub metadata: MetadataKeys,
    /// Which parts of its scores.
    pub scores: ScoreParts,
}

impl SampleFields {
    /// Everything that a [`StoredSample`] can hold, but for the output.
    pub fn all() -> Self {
        let metadata = MetadataKeys::All;
        SampleFields { texts: true, details: true, ..SampleFields::scores(metadata) }
    }

    /// Scores and this metadata, without input, choices and target.
    pub fn scores(metadata: MetadataKeys) -> Self {
        let (texts, choices, details, completion, answers) = (false, false, false, false, false);
        SampleFields { texts, choices, details, completion, answers, metadata, scores: ScoreParts::All }
    }

    /// A sample as scorers judge it: the question, the conversation and the output.
    pub fn answers() -> Self {
        SampleFields { texts: true, answers: true, ..SampleFields::scores(MetadataKeys::All) }
    }

    setters! {
        /// Only these parts of the scores: answers and explanations may be long.
        score_parts: ScoreParts => scores;
    }

    pub(super) fn wants_metadata(&self) -> bool {
        self.metadata != MetadataKeys::NONE
    }

    /// How much of a sample in several members these fields are in: messages and long strings are not in its record.
    pub(super) fn extent(&self) -> SampleExtent {
        match self.texts || self.details || self.completion || self.answers {
            true => SampleExtent::Conversation,
            false => SampleExtent::Record,
        }
    }

    /// The fields to read, and what of them.
    pub(super) fn wanted(&self) -> Vec<(&'static str, Selection)> {
        // A reason that an old log has among the metadata is lifted.
        const OLD_REASON: Selection = Selection::Fields(&[("unscored_reason", Selection::All)]);
        const VALUE: FieldSelection =
            &[("value", Selection::All), ("reason", Selection::All), ("metadata", OLD_REASON)];
        const METADATA: FieldSelection =
            &[("value", Selection::All), ("reason", Selection::All), ("metadata", Selection::All)];
        let (scores, score) = match self.scores {
            _ if self.answers => (Selection::FieldsOfEach(&[]), Selection::Fields(&[])),
            ScoreParts::Value => (Selection::FieldsOfEach(VALUE), Selection::Fields(VALUE)),
            ScoreParts::Metadata => (Selection::FieldsOfEach(METADATA), Selection::Fields(METADATA)),
            ScoreParts::All => (Selection::All, Selection::All),
        };
        const OUTPUT: FieldSelection = &[("choices", Selection::All), ("completion", Selection::All)];
        const DETAILS: [&str; 7] =
            ["model_usage", "role_usage", "started_at", "completed_at", "total_time", "working_time", "uuid"];
        let parts: [(bool, &[&'static str], Selection); 11] = [
            (true, &["id", "epoch"], Selection::All),
            (true, &["scores"], scores),
            (true, &["score"], score),
            (true, &["error"], Selection::Fields(&[("message", Selection::All)])),
            (true, &["limit"], Selection::Fields(&[("type", Selection::All)])),
            (self.texts, &["input"], Selection::All),
            (self.texts || self.choices, &["choices", "target"], Selection::All),
            (self.details, &DETAILS, Selection::All),
            (self.details, &["messages"], Selection::Count),
            (self.answers, &["messages", "output", "store"], Selection::All),
            (self.completion && !self.answers, &["output"], Selection::Fields(OUTPUT)),
        ];
        let parts = parts.into_iter().filter(|(is_wanted, ..)| *is_wanted);
        let wanted = parts.flat_map(|(_, names, selection)| names.iter().map(move |name| (*name, selection)));
        let metadata = self.wants_metadata().then_some(("metadata", Selection::All));
        wanted.chain(metadata).collect()
    }
}

/// Stands for the scorer of a score in a very old log, which does not name it; no scorer has such a name.
pub(super) const NAMELESS: &str = "\0";
/// Its default name.
pub(super) const SOME_SCORER: &str = "score";

/// One sample in one epoch, as it was read.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct StoredSample {
    /// The sample.
    pub id: SampleId,
    /// The epoch, from 1.
    pub epoch: u32,
    /// The input; empty if it was not to be read.
    pub input: Input,
    /// The messages of the input as the log has them, if they hold more than their texts: images, calls of tools.
    pub input_json: Option<Json>,
    /// The answers to choose from.
    pub choices: Option<Vec<String>>,
    /// What the answer should be; empty if it was not to be read.
    pub target: Targets,
    /// The text of the output; none if there is no output, or it was not to be read.
    pub completion: Option<String>,
    /// The conversation, if it was to be read.
    pub messages: Vec<Message>,
    /// The last output of the model; empty if it has none, or it was not to be read.
    pub output: ModelOutput,
    /// The values that solvers store, if they were to be read.
    pub store: Metadata,
    /// The scores by scorer, in their order.
    pub scores: IndexMap<String, Score>,
    /// The metadata that was to be read.
    pub metadata: Metadata,
    /// What ended it, if that was an error.
    pub error: Option<String>,
    /// Which limit ended it, if one did.
    pub limit: Option<String>,
    /// The tokens of each model.
    pub model_usage: IndexMap<String, Usage>,
    /// The tokens used by models in a role, by role.
    pub role_usage: IndexMap<String, Usage>,
    /// How many messages the conversation has.
    pub message_count: u64,
    /// When it started.
    pub started_at: Option<String>,
    /// When it ended.
    pub completed_at: Option<String>,
    /// Seconds in all.
    pub total_time: Option<f64>,
    /// Seconds less those spent waiting.
    pub working_time: Option<f64>,
    /// Unique for this sample in this epoch of this run.
    pub uuid: Option<String>,
}

impl StoredSample {
    /// Reads a sample from its JSON, of which a skimmer has taken what is wanted: long lists are counts.
    pub(super) fn from_json(bytes: &[u8], wanted: &SampleFields) -> Result<Self> {
        SampleDecoder::read(bytes, wanted)?.build()
    }

    /// Takes the metadata out of a separate record.
    pub(super) fn read_metadata(&mut self, bytes: &[u8], keys: &MetadataKeys) -> Result<()> {
        let mut json = wire::parser(bytes);
        let peek = json.peek()?;
        self.metadata = wanted_metadata(&mut json, peek, keys)?;
        Ok(json.finish()?)
    }
}

/// A sample of which the parts that may refer to attachments are not built yet.
pub(super) struct SampleDecoder<'w> {
    wanted: &'w SampleFields,
    sample: StoredSample,
    input: Json,
    messages: Json,
    output: Json,
}

impl<'w> SampleDecoder<'w> {
    pub(super) fn read(bytes: &[u8], wanted: &'w SampleFields) -> Result<Self> {
        let sample = StoredSample::default();
        let mut decoder =
            SampleDecoder { wanted, sample, input: Json::Null, messages: Json::Null, output: Json::Null };
        let (id, epoch) = record_fields(bytes, |key, json, peek| decoder.field(key, json, peek))?;
        (decoder.sample.id, decoder.sample.epoch) = (id, epoch);
        Ok(decoder)
    }

    fn field(&mut self, key: &str, json: &mut Jiter<'_>, peek: Peek) -> Result<()> {
        let (sample, wanted) = (&mut self.sample, self.wanted);
        match key {
            "input" => self.input = wire::any(json, peek)?,
            "messages" if wanted.answers => self.messages = wire::any(json, peek)?,
            "output" => self.output = wire::any(json, peek)?,
            "choices" => sample.choices = typed("choices", json, peek)?,
            "target" => sample.target = typed("target", json, peek)?,
            "scores" if wanted.answers => {
                let scores = metadata(key, json, peek)?.unwrap_or_default();
                sample.scores =
                    scores.into_iter().map(|(scorer, _)| (scorer, Score::new(Value::Unscored))).collect();
            }
            "scores" => sample.scores = scores(json, peek)?,
            // Very old logs have one score without the name of its scorer.
            "score" if peek == Peek::Object && sample.scores.is_empty() => {
                let score = match wanted.answers {
                    true => json.known_skip(peek).map(|()| Score::new(Value::Unscored))?,
                    false => wire::score(SOME_SCORER, json, peek)?,
                };
                sample.scores.insert(NAMELESS.to_owned(), score);
            }
            "metadata" => sample.metadata = wanted_metadata(json, peek, &wanted.metadata)?,
            "store" => sample.store = metadata(key, json, peek)?.unwrap_or_default(),
            "error" => sample.error = text_or_field(key, "message", json, peek)?,
            "limit" => sample.limit = text_or_field(key, "type", json, peek)?,
            "model_usage" => sample.model_usage = usage("model_usage", json, peek)?,
            "role_usage" => sample.role_usage = usage("role_usage", json, peek)?,
            "messages" => sample.message_count = count(key, json, peek)?.unwrap_or_default(),
            "started_at" => sample.started_at = text(key, json, peek)?,
            "completed_at" => sample.completed_at = text(key, json, peek)?,
            "total_time" => sample.total_time = number(key, json, peek)?,
            "working_time" => sample.working_time = number(key, json, peek)?,
            "uuid" => sample.uuid = text(key, json, peek)?,
            _ => json.known_skip(peek)?,
        }
        Ok(())
    }

    /// The strings that may stand for attachments.
    pub(super) fn texts_mut(&mut self) -> Vec<&mut String> {
        let mut texts = Vec::new();
        if self.wanted.answers {
            [&mut self.input, &mut self.messages, &mut self.output]
                .into_iter()
                .for_each(|part| strings(part, &mut texts));
        }
        texts
    }

    pub(super) fn build(self) -> Result<StoredSample> {
        let SampleDecoder { wanted, mut sample, input, messages, output } = self;
        let id = sample.id.clone();
        let build = || {
            if !input.is_null() {
                sample.input_json = holds_more_than_texts(&input).then(|| input.clone());
                sample.input = part("input", input)?;
            }
            sample.messages = part::<Option<_>>("messages", messages)?.unwrap_or_default();
            let Some(mut output) = part::<Option<ModelOutput>>("output", output)? else { return Ok(sample) };
            let first = output.choices.first().map(|choice| choice.message.content.clone());
            match wanted.answers {
                true => {
                    if output.completion.is_empty() {
                        output.completion = first.unwrap_or_default();
                    }
                    sample.output = output;
                }
                false => {
                    sample.completion = Some(output.completion).filter(|text| !text.is_empty()).or(first)
                }
            }
            Ok(sample)
        };
        build().map_err(|error: LogError| error.of_sample(id))
    }
}

/// Id and epoch of a record; each of its other fields is given to `field`.
pub(super) fn record_fields(
    bytes: &[u8],
    mut field: impl FnMut(&str, &mut Jiter<'_>, Peek) -> Result<()>,
) -> Result<(SampleId, u32)> {
    let (mut id, mut epoch) = (None, None);
    let read = wire::root_fields(bytes, |key, json, peek| {
        match key {
            "id" => id = Some(sample_id(json, peek)?),
            "epoch" => epoch = Some(wire::epoch(json, peek)?),
            _ => field(key, json, peek)?,
        }
        Ok(())
    });
    read.map_err(|error| match &id {
        Some(id) => error.of_sample(id),
        None => error,
    })?;
    Ok((id.ok_or(LogErrorKind::Missing("id"))?, epoch.ok_or(LogErrorKind::Missing("epoch"))?))
}

/// All strings of a JSON value.
pub(super) fn strings<'a>(json: &'a mut Json, found: &mut Vec<&'a mut String>) {
    match json {
        Json::String(text) => found.push(text),
        Json::Array(items) => items.iter_mut().for_each(|item| strings(item, found)),
        Json::Object(map) => map.values_mut().for_each(|value| strings(value, found)),
        _ => {}
    }
}

/// Id and epoch, if they stand among the first bytes of a sample.
pub(super) fn id_and_epoch(head: &[u8]) -> Option<(SampleId, u32)> {
    let mut json = wire::parser(head);
    let mut key = json.next_object().ok()?.map(str::to_owned);
    let (mut id, mut epoch) = (None, None);
    while let Some(name) = key {
        let peek = json.peek().ok()?;
        match name.as_str() {
            "id" => id = Some(sample_id(&mut json, peek).ok()?),
            "epoch" => epoch = Some(wire::epoch(&mut json, peek).ok()?),
            _ => json.known_skip(peek).ok()?,
        }
        if let (Some(id), Some(epoch)) = (&id, epoch) {
            // A number at the very end of the head might continue beyond it.
            return (json.current_index() < head.len()).then(|| (id.clone(), epoch));
        }
        key = json.next_key().ok()?.map(str::to_owned);
    }
    None
}

fn wanted_metadata(json: &mut Jiter<'_>, peek: Peek, keys: &MetadataKeys) -> Result<Metadata> {
    if matches!(keys, MetadataKeys::All) || peek != Peek::Object {
        return Ok(metadata("metadata", json, peek)?.unwrap_or_default());
    }
    let mut found = Metadata::new();
    fields(json, |key, json, peek| {
        if keys.contains(key) {
            found.insert(key.to_owned(), wire::any(json, peek)?);
        } else {
            json.known_skip(peek)?;
        }
        Ok(())
    })?;
    Ok(found)
}

/// The string in a field of an object, or the string that old logs have in place of the object. An object without the
/// field has an empty one.
pub(super) fn text_or_field(
    name: &str,
    field: &str,
    json: &mut Jiter<'_>,
    peek: Peek,
) -> Result<Option<String>> {
    if peek != Peek::Object {
        return text(name, json, peek);
    }
    let mut found = None;
    fields(json, |key, json, peek| match key == field {
        true => text(&format!("{name}.{field}"), json, peek).map(|text| found = text),
        false => Ok(json.known_skip(peek)?),
    })?;
    Ok(Some(found.unwrap_or_default()))
}

/// Whether messages have a content in parts, or keys that are not read.
fn holds_more_than_texts(input: &Json) -> bool {
    const READ: [&str; 5] = ["id", "content", "source", "role", "model"];
    let holds_more = |message: &Json| {
        let mut fields = message.as_object().into_iter().flatten();
        fields.any(|(key, value)| match value {
            Json::Null => false,
            value => !READ.contains(&key.as_str()) || !value.is_string(),
        })
    };
    input.as_array().is_some_and(|messages| messages.iter().any(holds_more))
}

/// The tokens of each model or role; null is none.
fn usage(name: &'static str, json: &mut Jiter<'_>, peek: Peek) -> Result<IndexMap<String, Usage>> {
    Ok(typed::<Option<_>>(name, json, peek)?.unwrap_or_default())
}

// The short form of a sample, for lists of them. Strings are truncated and large metadata is omitted, so nothing is
// computed from a summary; the value of a score is whole all the same.

/// How many characters of an input or a target are stored.
const LONG: usize = 5 * 1024;
/// How many characters of any other string, or bytes of a structure, are stored.
const SHORT: usize = 1024;
/// What marks a truncated string.
const CUT: &str = "...";

impl SampleRecord<'_> {
    /// The short form of a sample as JSON, on one line, with these parts of it.
    fn summary_with<'s>(
        &self,
        scores: impl Iterator<Item = (&'s String, &'s Score)>,
        error: Option<&str>,
        limit: Option<&str>,
        message_count: u64,
    ) -> Vec<u8> {
        JsonWriter::object_bytes(|json| {
            let input = self.input.map(thin_input).unwrap_or_default();
            let target = self.target.map(thin_targets).unwrap_or_default();
            self.write_question(json, &input, &target);
            json.field("metadata", &self.metadata.map(thin_metadata).unwrap_or_default());
            let thin: Vec<(&String, Score)> =
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
        let record = SampleRecord {
            id: self.id.clone(),
            epoch: self.epoch,
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
            ..SampleRecord::default()
        };
        let (error, limit) = (self.error.as_deref(), self.limit.as_deref());
        record.summary_with(self.scores.iter(), error, limit, self.message_count)
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

pub(super) fn thin_score(score: &Score) -> Score {
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
mod stored_tests {
    use super::*;

    #[test]
    fn a_head_gives_the_key_or_nothing() {
        for sample in [r#"{"id":12,"epoch":345,"x":1}"#, r#"{"x":[{}],"epoch":345,"id":12}"#] {
            for length in 0..=sample.len() {
                let key = id_and_epoch(&sample.as_bytes()[..length]);
                assert!(key.is_none() || key == Some((SampleId::Int(12), 345)), "{key:?} at {length}");
            }
            assert!(id_and_epoch(sample.as_bytes()).is_some());
        }
    }
    #[test]
    fn messages_are_kept_whole_if_they_hold_more_than_texts() {
        let of = |input: &str| {
            let wanted = SampleFields { texts: true, ..SampleFields::scores(MetadataKeys::All) };
            let json = format!(r#"{{"id":1,"epoch":1,"input":{input}}}"#);
            StoredSample::from_json(json.as_bytes(), &wanted).unwrap().input_json
        };
        for whole in [
            r#"[{"role":"user","content":[{"type":"text","text":"a"},{"type":"image","image":"x.png"}]}]"#,
            r#"[{"role":"assistant","content":"","tool_calls":[{"id":"1","function":"add","arguments":{}}]}]"#,
            r#"[{"role":"user","content":"a"},{"role":"tool","content":"4","tool_call_id":"1"}]"#,
        ] {
            assert_eq!(of(whole), Some(serde_json::from_str(whole).unwrap()), "{whole}");
        }
        for texts in [
            r#""a""#,
            r#"[{"id":"1","role":"user","content":"a","source":"input"}]"#,
            r#"[{"role":"assistant","content":"a","model":"m","tool_calls":null}]"#,
        ] {
            assert_eq!(of(texts), None, "{texts}");
        }
    }
}

#[cfg(test)]
mod summary_tests {
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

#[cfg(test)]
mod answers_tests {
    use super::*;

    fn answered(json: &[u8]) -> Result<StoredSample> {
        StoredSample::from_json(json, &SampleFields::answers())
    }

    #[test]
    fn strings_that_may_stand_for_attachments_are_those_of_the_conversation() {
        let sample = br#"{"id":1,"epoch":1,"input":"attachment://a","messages":[{"role":"user","content":
            [{"type":"text","text":"tc://b"}]}],"output":{"choices":[{"message":{"role":"assistant",
            "content":"attachment://none"}}]}}"#;
        let wanted = SampleFields::answers();
        let mut decoder = SampleDecoder::read(sample, &wanted).unwrap();
        for text in decoder.texts_mut() {
            match text.as_str() {
                "attachment://a" => *text = "long".to_owned(),
                "tc://b" => *text = "longer".to_owned(),
                _ => {}
            }
        }
        let sample = decoder.build().unwrap();
        assert_eq!(sample.input, Input::from("long"));
        assert_eq!(sample.messages, [Message::user("longer")]);
        assert_eq!(sample.output.completion, "attachment://none");
    }

    #[test]
    fn what_is_absent_is_empty() {
        let sample = answered(br#"{"id":"a","epoch":2,"output":null,"messages":null,"store":null}"#).unwrap();
        assert_eq!((sample.epoch, sample.output), (2, ModelOutput::default()));
        assert!(answered(br#"{"id":"a"}"#).is_err());
        let error = answered(br#"{"id":"a","epoch":1,"messages":7}"#).unwrap_err();
        assert!(matches!(error.kind(), LogErrorKind::Part { part: "messages", .. }));
    }
}
