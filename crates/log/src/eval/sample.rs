//! A sample on its way into a log.

use std::io::Write;

use errorbar_core::chat::{Input, Message, ModelOutput, SampleEvents, Targets, Usage};
use errorbar_core::{Metadata, MetadataKeys, SampleId, Score, ScoreParts};
use indexmap::IndexMap;
use jiter::{Jiter, Peek};
use serde_json::Value as Json;

use super::chunks::SampleExtent;
use super::container::SUMMARIES;
use super::error::{LogErrorKind, Result};
use super::header::EvalError;
use super::json::{FieldSelection, Selection};
use super::wire::{
    self, EventWriter, InitialSample, JsonWriter, count, fields, metadata, number, part, sample_id, scores,
    text, typed,
};
use super::zip::{Encoder, Member, StreamedMember};

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
    events: Option<&'a SampleEvents>,
    initial_metadata: Option<&'a Metadata>,
}

/// What a sample and its summary have in common.
#[derive(Clone, Copy, Debug, Default)]
struct CommonFields<'a> {
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
            events: None,
            initial_metadata: None,
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
        /// What happened while it ran.
        events: impl Into<Option<&'a SampleEvents>> => events;
        /// The metadata of the sample before it ran, for its events, if that is not what it is now.
        initial_metadata: &'a Metadata => initial_metadata;
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
        let (input, target) = (Input::default(), Targets::default());
        let (input, target) = (self.common.input.unwrap_or(&input), self.common.target.unwrap_or(&target));
        let initial = InitialSample {
            id: self.id,
            input,
            choices: self.common.choices,
            target,
            metadata: self.initial_metadata.or(self.common.metadata).unwrap_or(&empty),
            model: self.output.map_or("", |output| &output.model),
        };
        let uuid = self.common.uuid.unwrap_or_default();
        let mut events = self.events.map(|recorded| EventWriter::new(recorded, initial, uuid));
        // Most samples are smaller; room that grows is copied each time.
        let room = if events.is_some() { 8192 } else { 2048 };
        JsonWriter::bytes_with(room, |json| {
            json.object(|json| {
                self.common.write_question(json, (self.id, self.epoch), input, target);
                json.key("messages").array(|json| self.messages.iter().for_each(|m| json.value(m)));
                json.field("output", self.output.unwrap_or(&ModelOutput::default()));
                if !self.scores.is_empty() {
                    json.key("scores")
                        .scores(self.scores.iter().map(|(scorer, score)| (scorer.as_str(), score)));
                }
                json.field("metadata", self.common.metadata.unwrap_or(&empty));
                json.field("store", self.store.unwrap_or(&empty));
                match &mut events {
                    Some(events) => events.write_events(json.key("events")),
                    None => json.field("events", &[(); 0]),
                }
                self.common.write_usage_and_times(json);
                json.optional("error", self.error);
                match &mut events {
                    Some(events) => {
                        events.write_data(json.key("events_data"));
                        events.write_attachments(json.key("attachments"));
                    }
                    None => json.field("attachments", &empty),
                }
                if let Some(limit) = self.limit {
                    json.key("limit").object(|json| {
                        json.field("type", &limit.kind);
                        json.field("limit", &limit.limit);
                        json.optional("reason", limit.reason.as_ref());
                    });
                }
            })
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
    fn write_question(
        &self,
        json: &mut JsonWriter,
        (id, epoch): (&SampleId, u32),
        input: &Input,
        target: &Targets,
    ) {
        json.field("id", id);
        json.field("epoch", &epoch);
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
        let (texts, choices, details, completion) = (false, false, false, false);
        SampleFields { texts, choices, details, completion, metadata, scores: ScoreParts::All }
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
        match self.texts || self.details || self.completion {
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
            ScoreParts::Value => (Selection::FieldsOfEach(VALUE), Selection::Fields(VALUE)),
            ScoreParts::Metadata => (Selection::FieldsOfEach(METADATA), Selection::Fields(METADATA)),
            ScoreParts::All => (Selection::All, Selection::All),
        };
        let all =
            |names: &[&'static str]| names.iter().map(|name| (*name, Selection::All)).collect::<Vec<_>>();
        let mut wanted = all(&["id", "epoch"]);
        wanted.extend([("scores", scores), ("score", score)]);
        wanted.push(("error", Selection::Fields(&[("message", Selection::All)])));
        wanted.push(("limit", Selection::Fields(&[("type", Selection::All)])));
        if self.texts {
            wanted.extend(all(&["input"]));
        }
        if self.texts || self.choices {
            wanted.extend(all(&["choices", "target"]));
        }
        if self.details {
            wanted.extend(all(&["model_usage", "role_usage", "started_at", "completed_at"]));
            wanted.extend(all(&["total_time", "working_time", "uuid"]));
            wanted.push(("messages", Selection::Count));
        }
        if self.completion {
            wanted.push((
                "output",
                Selection::Fields(&[("choices", Selection::All), ("completion", Selection::All)]),
            ));
        }
        if self.wants_metadata() {
            wanted.push(("metadata", Selection::All));
        }
        wanted
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
        let (mut id, mut epoch) = (None, None);
        let mut sample = StoredSample::default();
        let read = wire::root_fields(bytes, |key, json, peek| {
            match key {
                "id" => id = Some(sample_id(json, peek)?),
                "epoch" => epoch = Some(wire::epoch(json, peek)?),
                _ => sample.field(key, json, peek, wanted)?,
            }
            Ok(())
        });
        read.map_err(|error| match &id {
            Some(id) => error.of_sample(id),
            None => error,
        })?;
        sample.id = id.ok_or(LogErrorKind::Missing("id"))?;
        sample.epoch = epoch.ok_or(LogErrorKind::Missing("epoch"))?;
        Ok(sample)
    }

    /// Gives the score of a very old log the name of its scorer.
    pub(super) fn name_nameless(mut self, name: impl FnOnce() -> String) -> Self {
        if let Some(score) = self.scores.shift_remove(NAMELESS) {
            self.scores.insert(name(), score);
        }
        self
    }

    /// Takes the metadata out of a separate record.
    pub(super) fn read_metadata(&mut self, bytes: &[u8], keys: &MetadataKeys) -> Result<()> {
        let mut json = wire::parser(bytes);
        let peek = json.peek()?;
        self.metadata = wanted_metadata(&mut json, peek, keys)?;
        Ok(json.finish()?)
    }

    fn field(&mut self, key: &str, json: &mut Jiter<'_>, peek: Peek, wanted: &SampleFields) -> Result<()> {
        match key {
            "input" if wanted.texts => {
                let input: Json = typed("input", json, peek)?;
                self.input_json = holds_more_than_texts(&input).then(|| input.clone());
                self.input = part("input", input)?;
            }
            "choices" if wanted.texts || wanted.choices => self.choices = typed("choices", json, peek)?,
            "target" if wanted.texts || wanted.choices => self.target = typed("target", json, peek)?,
            "output" if wanted.completion => self.completion = completion(json, peek)?,
            "scores" => self.scores = scores(json, peek)?,
            // Very old logs have one score without the name of its scorer.
            "score" if peek == Peek::Object && self.scores.is_empty() => {
                self.scores.insert(NAMELESS.to_owned(), wire::score(SOME_SCORER, json, peek)?);
            }
            "metadata" => self.metadata = wanted_metadata(json, peek, &wanted.metadata)?,
            "error" => self.error = text_or_field(key, "message", json, peek)?,
            "limit" => self.limit = text_or_field(key, "type", json, peek)?,
            "model_usage" => self.model_usage = usage("model_usage", json, peek)?,
            "role_usage" => self.role_usage = usage("role_usage", json, peek)?,
            "messages" => self.message_count = count(key, json, peek)?.unwrap_or_default(),
            "started_at" => self.started_at = text(key, json, peek)?,
            "completed_at" => self.completed_at = text(key, json, peek)?,
            "total_time" => self.total_time = number(key, json, peek)?,
            "working_time" => self.working_time = number(key, json, peek)?,
            "uuid" => self.uuid = text(key, json, peek)?,
            _ => json.known_skip(peek)?,
        }
        Ok(())
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

/// The text of an output: that of its first answer, where it is not recorded by itself.
fn completion(json: &mut Jiter<'_>, peek: Peek) -> Result<Option<String>> {
    let Some(output) = typed::<Option<ModelOutput>>("output", json, peek)? else {
        return Ok(None);
    };
    let first = output.choices.into_iter().next().map(|choice| choice.message.content);
    Ok(Some(output.completion).filter(|text| !text.is_empty()).or(first))
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
