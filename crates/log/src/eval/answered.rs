//! A sample as scorers judge it: the question, the conversation and the output, without the events.

use std::sync::Arc;

use errorbar_core::chat::{Input, Message, ModelOutput, SampleEvents, Targets};
use errorbar_core::{Metadata, SampleId, Score};
use jiter::{Jiter, Peek};
use serde_json::Value as Json;

use super::container::Container;
use super::error::{LogErrorKind, Result};
use super::json::{Selection, Skimmer};
use super::limits;
use super::reader::EvalLog;
use super::sample::{id_and_epoch, text_or_field};
use super::wire::{self, any, metadata, part, sample_id};
use super::zip::Decompressor;

/// One sample in one epoch, with all that a scorer may look at.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct AnsweredSample {
    /// The sample.
    pub id: SampleId,
    /// The epoch, from 1.
    pub epoch: u32,
    /// The input.
    pub input: Input,
    /// The answers to choose from; none unless it is a multiple-choice question.
    pub choices: Vec<String>,
    /// What the answer should be.
    pub target: Targets,
    /// The conversation.
    pub messages: Vec<Message>,
    /// The last output of the model; empty if it has none.
    pub output: ModelOutput,
    /// The metadata of the sample.
    pub metadata: Metadata,
    /// The values that solvers store.
    pub store: Metadata,
    /// The scorers whose scores it has.
    pub scorers: Vec<String>,
    /// What ended it, if that was an error.
    pub error: Option<String>,
    /// Which limit ended it, if one did.
    pub limit: Option<String>,
}

/// Reads samples with their conversations, by index. One per thread.
///
/// ```
/// # use errorbar_log::eval::*;
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("quiz.eval");
/// # let start = StartRecord::new(EvalInfo::default(), PlanRecord::default());
/// # let mut writer = LogWriter::create(&path, &start)?;
/// # let (id, output) = (SampleId::from("q1"), ModelOutput::from_text("mock/model", "42"));
/// # writer.append_sample(&SampleRecord::new(&id, 1).output(&output))?;
/// # writer.finish(&Header::started(start), &Reductions::none())?;
/// let log = EvalLog::open(&path)?;
/// assert_eq!(log.answers().read(0)?.output.completion, "42");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct AnswerReader<'a> {
    log: &'a EvalLog,
    decompressor: Decompressor,
    skimmer: Skimmer,
    /// For the few samples that refer to their attachments.
    attachments: Skimmer,
}

/// The fields that are read.
fn wanted() -> Vec<(&'static str, Selection)> {
    use Selection::{All, Fields, FieldsOfEach};
    let mut wanted: Vec<_> =
        ["id", "epoch", "input", "choices", "target", "messages", "output", "metadata", "store"]
            .into_iter()
            .map(|field| (field, All))
            .collect();
    // Only the names of scores are of interest.
    wanted.extend([("scores", FieldsOfEach(&[])), ("score", Fields(&[]))]);
    wanted.push(("error", Fields(&[("message", All)])));
    wanted.push(("limit", Fields(&[("type", All)])));
    wanted
}

impl EvalLog {
    /// Reads samples as scorers judge them.
    pub fn answers(&self) -> AnswerReader<'_> {
        let Container { limits, memory, .. } = &self.container;
        let skimmer = |fields| Skimmer::new(fields, limits.max_record, Arc::clone(memory));
        AnswerReader {
            log: self,
            decompressor: self.container.decompressor(),
            skimmer: skimmer(wanted()),
            attachments: skimmer(vec![("attachments", Selection::All)]),
        }
    }

    /// Counts scores that are held until all samples are scored.
    ///
    /// # Errors
    /// More than may be held of the log.
    pub fn hold_scores<'s>(&self, scores: impl IntoIterator<Item = &'s Score>) -> Result<()> {
        let bytes = scores.into_iter().map(limits::of_score).sum();
        self.container.memory.take(bytes).map_err(|error| error.at(self.path()))
    }

    /// Counts what happened while samples were scored, which is held until the log is written.
    ///
    /// # Errors
    /// More than may be held of the log.
    pub fn hold_events(&self, events: &SampleEvents) -> Result<()> {
        let bytes = limits::of_events(events);
        self.container.memory.take(bytes).map_err(|error| error.at(self.path()))
    }
}

impl AnswerReader<'_> {
    /// The sample at an index, below [`EvalLog::sample_count`].
    pub fn read(&mut self, at: usize) -> Result<AnsweredSample> {
        self.decode(at)
            .map_err(|error| error.in_member(&self.log.container.sample_name(at)).at(self.log.path()))
    }

    fn decode(&mut self, at: usize) -> Result<AnsweredSample> {
        let container = &self.log.container;
        let skimmer = &mut self.skimmer;
        skimmer.reset();
        let taken = container.sample_pieces(&mut self.decompressor, at, &mut |piece| skimmer.push(piece));
        // The id stands first, so what was read before an error identifies the sample.
        taken.map_err(|error| match id_and_epoch(skimmer.so_far()) {
            Some((id, _)) => error.of_sample(id),
            None => error,
        })?;
        let mut fields = SampleTexts::read(skimmer.finish()?).map_err(|error| skimmer.relocate(error))?;
        if fields.has_references() {
            let attachments = &mut self.attachments;
            attachments.reset();
            container.sample_pieces(&mut self.decompressor, at, &mut |piece| attachments.push(piece))?;
            fields.resolve(attachments.finish()?)?;
        }
        let id = fields.sample.id.clone();
        let mut sample = fields.build().map_err(|error| error.of_sample(id))?;
        if sample.scorers.iter().any(String::is_empty) {
            // The only score of a very old log does not name its scorer.
            sample.scorers = vec![self.log.old_scorer().to_owned()];
        }
        Ok(sample)
    }
}

/// A sample of which the parts that may refer to attachments are not built yet.
#[derive(Default)]
struct SampleTexts {
    sample: AnsweredSample,
    input: Json,
    messages: Json,
    output: Json,
}

/// What a string starts with that stands for an attachment; the second is that of old logs.
const REFERENCES: [&str; 2] = ["attachment://", "tc://"];

impl SampleTexts {
    fn read(bytes: &[u8]) -> Result<Self> {
        let mut texts = SampleTexts::default();
        let (mut id, mut epoch) = (None, None);
        let read = wire::root_fields(bytes, |key, json, peek| {
            match key {
                "id" => id = Some(sample_id(json, peek)?),
                "epoch" => epoch = Some(wire::epoch(json, peek)?),
                _ => texts.field(key, json, peek)?,
            }
            Ok(())
        });
        read.map_err(|error| match &id {
            Some(id) => error.of_sample(id),
            None => error,
        })?;
        texts.sample.id = id.ok_or(LogErrorKind::Missing("id"))?;
        texts.sample.epoch = epoch.ok_or(LogErrorKind::Missing("epoch"))?;
        Ok(texts)
    }

    fn field(&mut self, key: &str, json: &mut Jiter<'_>, peek: Peek) -> Result<()> {
        let sample = &mut self.sample;
        match key {
            "input" => self.input = any(json, peek)?,
            "messages" => self.messages = any(json, peek)?,
            "output" => self.output = any(json, peek)?,
            "choices" => {
                sample.choices = wire::typed::<Option<_>>("choices", json, peek)?.unwrap_or_default();
            }
            "target" => sample.target = wire::typed("target", json, peek)?,
            "metadata" => sample.metadata = metadata(key, json, peek)?.unwrap_or_default(),
            "store" => sample.store = metadata(key, json, peek)?.unwrap_or_default(),
            "scores" => {
                let scores = metadata(key, json, peek)?.unwrap_or_default();
                sample.scorers = scores.keys().cloned().collect();
            }
            "score" if peek == Peek::Object && sample.scorers.is_empty() => {
                sample.scorers.push(String::new());
                json.known_skip(peek)?;
            }
            "error" => sample.error = text_or_field(key, "message", json, peek)?,
            "limit" => sample.limit = text_or_field(key, "type", json, peek)?,
            _ => json.known_skip(peek)?,
        }
        Ok(())
    }

    fn has_references(&self) -> bool {
        [&self.input, &self.messages, &self.output].into_iter().any(refers)
    }

    /// Puts the attachments into their places.
    fn resolve(&mut self, bytes: &[u8]) -> Result<()> {
        let mut attachments = Metadata::new();
        wire::root_fields(bytes, |key, json, peek| {
            attachments = metadata(key, json, peek)?.unwrap_or_default();
            Ok(())
        })?;
        for part in [&mut self.input, &mut self.messages, &mut self.output] {
            resolve(part, &attachments);
        }
        Ok(())
    }

    fn build(mut self) -> Result<AnsweredSample> {
        let mut sample = self.sample;
        if !self.input.is_null() {
            sample.input = part("input", self.input.take())?;
        }
        if let Some(messages) = part("messages", self.messages.take())? {
            sample.messages = messages;
        }
        if let Some(output) = part("output", self.output.take())? {
            sample.output = output;
        }
        let ModelOutput { completion, choices, .. } = &mut sample.output;
        if let Some(first) = choices.first().filter(|_| completion.is_empty()) {
            completion.clone_from(&first.message.content);
        }
        Ok(sample)
    }
}

/// The name of the attachment that a string stands for.
fn reference(text: &str) -> Option<&str> {
    REFERENCES.iter().find_map(|prefix| text.strip_prefix(prefix))
}

fn refers(json: &Json) -> bool {
    match json {
        Json::String(text) => reference(text).is_some(),
        Json::Array(items) => items.iter().any(refers),
        Json::Object(fields) => fields.values().any(refers),
        _ => false,
    }
}

fn resolve(json: &mut Json, attachments: &Metadata) {
    match json {
        Json::String(text) => {
            if let Some(content) = reference(text).and_then(|name| attachments.get(name)?.as_str()) {
                *text = content.to_owned();
            }
        }
        Json::Array(items) => items.iter_mut().for_each(|item| resolve(item, attachments)),
        Json::Object(fields) => fields.values_mut().for_each(|field| resolve(field, attachments)),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attachments_stand_where_they_are_named() {
        let sample = br#"{"id":1,"epoch":1,"input":"attachment://a","messages":[{"role":"user","content":
            [{"type":"text","text":"tc://b"}]}],"output":{"choices":[{"message":{"role":"assistant",
            "content":"attachment://none"}}]}}"#;
        let mut texts = SampleTexts::read(sample).unwrap();
        assert!(texts.has_references());
        texts.resolve(br#"{"attachments":{"a":"long","b":"longer"}}"#).unwrap();
        let sample = texts.build().unwrap();
        assert_eq!(sample.input, Input::from("long"));
        assert_eq!(sample.messages, [Message::user("longer")]);
        // One that is missing stays as it is.
        assert_eq!(sample.output.completion, "attachment://none");
    }

    #[test]
    fn what_is_absent_is_empty() {
        let sample = SampleTexts::read(br#"{"id":"a","epoch":2,"output":null,"messages":null,"store":null}"#);
        let sample = sample.unwrap().build().unwrap();
        assert_eq!((sample.epoch, sample.output), (2, ModelOutput::default()));
        assert!(SampleTexts::read(br#"{"id":"a"}"#).is_err());
        let broken = SampleTexts::read(br#"{"id":"a","epoch":1,"messages":7}"#).unwrap();
        assert!(matches!(broken.build().unwrap_err().kind(), LogErrorKind::Part { part: "messages", .. }));
    }
}
