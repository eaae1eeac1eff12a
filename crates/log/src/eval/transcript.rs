//! A sample as people read it: the question, the answer, the verdicts and the conversation.
//!
//! What a metric needs is a [`StoredSample`](super::StoredSample); this is what a person needs to agree with it or
//! not. One transcript is held at a time. The conversation and the attachments that it refers to, most of the bytes
//! of a log, are read only for the samples that are [completed](Transcripts::complete).

use std::ops::Range;

use errorbar_core::{Metadata, SampleId, Score};
use indexmap::IndexMap;
use jiter::{Jiter, Peek};
use serde_json::Value as Json;

use super::SampleRecord;
use super::chunks::SampleExtent;
use super::container::{Container, SUMMARIES};
use super::error::Result;
use super::json::{FieldSelection, Selection};
use super::reader::{EvalLog, RecordReader};
use super::sample::{NAMELESS, SOME_SCORER, record_fields, strings};
use super::scores::DatasetOrder;
use super::wire::{self, any, count, metadata, number, scores, text};

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
        let mut transcript = Transcript::default();
        (transcript.id, transcript.epoch) =
            record_fields(bytes, |key, json, peek| transcript.field(key, json, peek))?;
        Ok(transcript)
    }

    fn field(&mut self, key: &str, json: &mut Jiter<'_>, peek: Peek) -> Result<()> {
        match key {
            "input" => self.input = input_messages(&any(json, peek)?),
            "choices" => self.choices = texts(&any(json, peek)?),
            "target" => self.target = texts(&any(json, peek)?),
            "scores" => self.scores = scores(json, peek)?,
            // Very old logs have one score without the name of its scorer.
            "score" if peek == Peek::Object && self.scores.is_empty() => {
                self.scores.insert(NAMELESS.to_owned(), wire::score(SOME_SCORER, json, peek)?);
            }
            "metadata" => self.metadata = metadata(key, json, peek)?.unwrap_or_default(),
            "output" => self.read_output(&any(json, peek)?),
            "error" if peek == Peek::Object => {
                let error = any(json, peek)?;
                self.error = Some(text_in(&error, "message").unwrap_or_default());
                self.traceback = text_in(&error, "traceback");
            }
            "error" => self.error = text(key, json, peek)?,
            "limit" if peek == Peek::Object => {
                let limit = any(json, peek)?;
                self.limit = Some(text_in(&limit, "type").unwrap_or_default());
                self.limit_value = limit.get("limit").and_then(Json::as_f64);
            }
            "limit" => self.limit = text(key, json, peek)?,
            "total_time" => self.total_time = number(key, json, peek)?,
            "model_usage" => self.tokens = tokens(&any(json, peek)?),
            "messages" if peek == Peek::Array => {
                self.messages = read_messages(&any(json, peek)?);
                self.message_count = Some(self.messages.len() as u64);
            }
            "messages" => self.message_count = count(key, json, peek)?,
            _ => json.known_skip(peek)?,
        }
        Ok(())
    }

    fn read_output(&mut self, output: &Json) {
        self.answer = text_in(output, "completion");
        self.output_error = text_in(output, "error");
        let first = output.get("choices").and_then(|choices| choices.get(0));
        self.stop_reason = first.and_then(|choice| text_in(choice, "stop_reason"));
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

/// The string in a field.
fn text_in(json: &Json, key: &str) -> Option<String> {
    json.get(key).and_then(Json::as_str).map(str::to_owned)
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

// Messages as people read them: strings, and words for everything else.

/// A message of a conversation.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct TranscriptMessage {
    /// The author, as the log names it: `system`, `user`, `assistant`, `tool`.
    pub role: String,
    /// The model or the tool that wrote it.
    pub author: Option<String>,
    /// What it says and does, in order.
    pub parts: Vec<MessagePart>,
}

/// A part of a message.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum MessagePart {
    /// A string.
    Text(String),
    /// What the model wrote before its answer.
    Reasoning(String),
    /// A call of a tool.
    ToolCall {
        /// The tool.
        function: String,
        /// Its arguments.
        arguments: Json,
    },
    /// An error of a tool, or of a call.
    Error(String),
    /// Something that is not text, by its kind: `image`, `audio`, …
    Media(String),
}

impl MessagePart {
    /// The strings that may stand for an attachment.
    fn texts_mut(&mut self) -> Vec<&mut String> {
        match self {
            MessagePart::Text(text) | MessagePart::Reasoning(text) | MessagePart::Error(text) => vec![text],
            MessagePart::ToolCall { arguments, .. } => {
                let mut texts = Vec::new();
                strings(arguments, &mut texts);
                texts
            }
            MessagePart::Media(_) => Vec::new(),
        }
    }
}

impl TranscriptMessage {
    /// A message of this role with this text.
    pub fn new(role: impl Into<String>, text: impl Into<String>) -> Self {
        let parts = vec![MessagePart::Text(text.into())];
        TranscriptMessage { role: role.into(), author: None, parts }
    }

    /// Reads a message as logs have it; none if it is no message.
    ///
    /// ```
    /// use errorbar_log::eval::{MessagePart, TranscriptMessage};
    /// let message = serde_json::json!({"role": "assistant", "content": [{"type": "text", "text": "Look:"}, {"type": "image"}]});
    /// let message = TranscriptMessage::from_json(&message).unwrap();
    /// assert_eq!(message.parts, [MessagePart::Text("Look:".into()), MessagePart::Media("image".into())]);
    /// ```
    pub fn from_json(json: &Json) -> Option<Self> {
        let role = text_in(json, "role")?;
        let mut parts = Vec::new();
        match json.get("content") {
            Some(Json::String(content)) if !content.is_empty() => {
                parts.push(MessagePart::Text(content.clone()))
            }
            Some(Json::Array(content)) => content.iter().for_each(|part| add_content(part, &mut parts)),
            _ => {}
        }
        for call in json.get("tool_calls").and_then(Json::as_array).into_iter().flatten() {
            let function = call.get("function").and_then(Json::as_str).unwrap_or("?").to_owned();
            let arguments = call.get("arguments").cloned().unwrap_or_default();
            parts.push(MessagePart::ToolCall { function, arguments });
            parts.extend(text_in(call, "parse_error").map(MessagePart::Error));
        }
        let error = json.get("error").and_then(|error| error.get("message").unwrap_or(error).as_str());
        parts.extend(error.map(|error| MessagePart::Error(error.to_owned())));
        Some(TranscriptMessage {
            role,
            author: text_in(json, "function").or_else(|| text_in(json, "model")),
            parts,
        })
    }

    /// Its text alone, the parts joined by line ends.
    pub fn text(&self) -> String {
        let texts = self.parts.iter().filter_map(|part| match part {
            MessagePart::Text(text) => Some(text.as_str()),
            _ => None,
        });
        texts.collect::<Vec<_>>().join("\n")
    }
}

/// A part of the content of a message.
fn add_content(part: &Json, parts: &mut Vec<MessagePart>) {
    if let Some(text) = part.as_str() {
        return parts.push(MessagePart::Text(text.to_owned()));
    }
    let text = |key: &str| text_in(part, key).filter(|text| !text.is_empty());
    match part.get("type").and_then(Json::as_str) {
        Some("text") => parts.extend(text("text").map(MessagePart::Text)),
        Some("reasoning") => {
            let is_redacted = part.get("redacted").and_then(Json::as_bool) == Some(true);
            let reasoning = text("reasoning").filter(|_| !is_redacted).or_else(|| text("summary"));
            parts.push(MessagePart::Reasoning(reasoning.unwrap_or_else(|| "(redacted)".to_owned())));
        }
        // A tool that the server of the model has called.
        Some("tool_use") => {
            let function = text("name").unwrap_or_else(|| "?".to_owned());
            let arguments = part.get("arguments").cloned().unwrap_or_default();
            parts.push(MessagePart::ToolCall { function, arguments });
            parts.extend(text("result").map(MessagePart::Text));
            parts.extend(text("error").map(MessagePart::Error));
        }
        Some(kind) => parts.push(MessagePart::Media(kind.to_owned())),
        None => {}
    }
}

/// The messages of a list; what is no message is skipped.
fn read_messages(json: &Json) -> Vec<TranscriptMessage> {
    json.as_array()
        .map(|items| items.iter().filter_map(TranscriptMessage::from_json).collect())
        .unwrap_or_default()
}

/// The input of a sample: a string, or a conversation.
fn input_messages(json: &Json) -> Vec<TranscriptMessage> {
    match json {
        Json::String(text) => vec![TranscriptMessage::new("user", text)],
        list => read_messages(list),
    }
}

// Reading transcripts, one at a time.

/// The transcripts of a log, one after the other.
#[derive(Debug)]
pub struct Transcripts<'a> {
    records: RecordReader<'a>,
    order: std::vec::IntoIter<usize>,
}

impl EvalLog {
    fn transcripts_in(&self, order: Vec<usize>) -> Transcripts<'_> {
        let records = RecordReader::new(self, wanted(), most_bytes(&self.container));
        Transcripts { records, order: order.into_iter() }
    }

    /// The transcripts of the samples of some ids and epochs, by epoch and then in the order of the dataset, each
    /// without its conversation; see [`Transcripts::complete`].
    pub fn transcripts(
        &self,
        is_wanted: impl Fn(&SampleId, u32) -> bool + Sync + Send,
    ) -> Result<Transcripts<'_>> {
        Ok(self.transcripts_in(self.sample_order_of(is_wanted)?))
    }

    /// The transcripts of some places in the file, up to [`EvalLog::sample_count`], in the order of the file: to read all
    /// samples in parts, without looking at the others first.
    pub fn transcripts_at(&self, places: Range<usize>) -> Transcripts<'_> {
        self.transcripts_in((places.start..places.end.min(self.sample_count())).collect())
    }

    /// The transcripts of all epochs of one sample.
    pub fn transcripts_of(&self, id: &str) -> Result<Transcripts<'_>> {
        let places = self.places_of(id)?;
        Ok(self.transcripts_in(places.into_iter().map(|(_, at)| at).collect()))
    }

    /// The samples as the list at the end of a log has them, in the order of [`EvalLog::transcripts`]: without answers, and
    /// long strings are cut. None if the log has no such list, or one of other samples than it holds.
    ///
    /// The list is a second copy: it is for looking at, and no figure is computed from it.
    pub fn summaries(&self) -> Result<Option<Vec<Transcript>>> {
        let Some(json) = self.raw(SUMMARIES)?.filter(|_| !self.is_json()) else { return Ok(None) };
        let mut list =
            self.summary_list(&json).map_err(|error| error.in_member(SUMMARIES).at(self.path()))?;
        if list.len() != self.sample_count() {
            return Ok(None);
        }
        let header = self.header().ok();
        let order = DatasetOrder::new(header.as_ref());
        list.sort_by_cached_key(|summary| order.key(&summary.id, summary.epoch));
        Ok(Some(list))
    }

    fn summary_list(&self, bytes: &[u8]) -> Result<Vec<Transcript>> {
        let mut json = wire::parser(bytes);
        let mut list = Vec::new();
        let mut item = json.next_array()?;
        while let Some(peek) = item {
            let start = json.current_index();
            json.known_skip(peek)?;
            let mut summary = Transcript::from_json(json.slice_to_current(start))?;
            self.name_scorer(&mut summary.scores);
            list.push(summary);
            item = json.array_step()?;
        }
        json.finish()?;
        Ok(list)
    }
}

impl SampleRecord<'_> {
    /// The sample as people read it, with its conversation.
    ///
    /// # Errors
    /// A record that could not be read back.
    pub fn transcript(&self) -> Result<Transcript> {
        Transcript::from_json(&self.to_json())
    }
}

/// The most that is held of a sample, of its conversation, or of its attachments. Each is held several times on its way
/// to the reader: as JSON, as a tree, as strings, in lines.
fn most_bytes(container: &Container) -> u64 {
    const COPIES: u64 = 4;
    container.limits.max_record.min(container.memory.limit() / COPIES)
}

impl Iterator for Transcripts<'_> {
    type Item = Result<Transcript>;

    fn next(&mut self) -> Option<Self::Item> {
        let at = self.order.next()?;
        Some(self.read(at).map_err(|error| self.records.in_sample(at, error)))
    }
    fn size_hint(&self) -> (usize, Option<usize>) {
        self.order.size_hint()
    }
}

impl ExactSizeIterator for Transcripts<'_> {}

impl Transcripts<'_> {
    fn read(&mut self, at: usize) -> Result<Transcript> {
        let mut transcript =
            self.records.read(at, SampleExtent::Conversation, &mut |_| Ok(()), Transcript::from_json)?;
        transcript.at = at;
        self.records.log.name_scorer(&mut transcript.scores);
        Ok(transcript)
    }

    /// Reads the conversation of a transcript of this log, if that is wanted, and the attachments that its strings
    /// stand for. One that is not in the log stays as it is.
    ///
    /// # Errors
    /// A conversation or attachments that cannot be read, or are beyond the limits.
    pub fn complete(&mut self, transcript: &mut Transcript, with_messages: bool) -> Result<()> {
        let at = transcript.at;
        let completed = match with_messages {
            true => self.messages(at).map(|messages| transcript.messages = messages),
            false => Ok(()),
        };
        let completed = completed.and_then(|()| self.records.resolve(at, transcript.texts_mut().collect()));
        completed.map_err(|error| self.records.in_sample(at, error))
    }

    /// The conversation of a sample.
    fn messages(&mut self, at: usize) -> Result<Vec<TranscriptMessage>> {
        use Selection::{All, FieldsOfItems};
        const MESSAGE: FieldSelection = &[
            ("role", All),
            ("content", All),
            ("tool_calls", All),
            ("function", All),
            ("error", All),
            ("model", All),
        ];
        let mut messages = Vec::new();
        let only = vec![("messages", FieldsOfItems(MESSAGE))];
        let mut reader = RecordReader::new(self.records.log, only, self.records.limit);
        reader.read(at, SampleExtent::Conversation, &mut |_| Ok(()), |json| {
            wire::root_fields(json, |_, json, peek| {
                messages = read_messages(&any(json, peek)?);
                Ok(())
            })
        })?;
        Ok(messages)
    }
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

#[cfg(test)]
mod message_tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_is_no_text_is_named() {
        let message = json!({"role": "assistant", "model": "m", "content": [
            "plain", {"type": "reasoning", "reasoning": "r"}, {"type": "reasoning", "reasoning": "x", "redacted": true},
            {"type": "audio", "audio": "…"}, {"type": "tool_use", "name": "search", "arguments": "{}", "result": "found"}, 5],
            "tool_calls": [{"function": "bash", "arguments": {"cmd": "ls"}, "parse_error": "no"}]});
        let message = TranscriptMessage::from_json(&message).unwrap();
        assert_eq!((message.role.as_str(), message.author.as_deref()), ("assistant", Some("m")));
        let text = |text: &str| MessagePart::Text(text.to_owned());
        let call = |function: &str, arguments: Json| MessagePart::ToolCall {
            function: function.to_owned(),
            arguments,
        };
        assert_eq!(
            message.parts,
            [
                text("plain"),
                MessagePart::Reasoning("r".to_owned()),
                MessagePart::Reasoning("(redacted)".to_owned()),
                MessagePart::Media("audio".to_owned()),
                call("search", json!("{}")),
                text("found"),
                call("bash", json!({"cmd": "ls"})),
                MessagePart::Error("no".to_owned()),
            ]
        );
        assert_eq!(message.text(), "plain\nfound");
        let tool = json!({"role": "tool", "function": "bash", "content": "", "error": {"type": "timeout", "message": "late"}});
        let tool = TranscriptMessage::from_json(&tool).unwrap();
        assert_eq!(
            (tool.author.as_deref(), tool.parts),
            (Some("bash"), vec![MessagePart::Error("late".to_owned())])
        );
        assert_eq!(TranscriptMessage::from_json(&json!({"content": "x"})), None);
        assert_eq!(read_messages(&json!("x")), []);
    }
}

#[cfg(test)]
mod reader_tests {
    use errorbar_core::{Metadata, MetadataKeys, Plan, Score};

    use super::*;
    use crate::eval::{
        EvalInfo, Header, LogWriter, PlanRecord, RecordedResults, Reductions, StartRecord, Status, compare,
    };

    /// A log of these samples that has ended.
    fn log(folder: &std::path::Path, samples: &[(&str, u32, &str)]) -> EvalLog {
        let path = folder.join("quiz.eval");
        let start = StartRecord::new(EvalInfo::new("quiz", "m"), PlanRecord::default());
        let mut writer = LogWriter::create(&path, &start).unwrap();
        for (id, epoch, grade) in samples {
            let (id, scores) = (SampleId::from(*id), [("match".to_owned(), Score::new(*grade))]);
            let metadata = Metadata::from_iter([("topic".to_owned(), "sums".into())]);
            writer
                .append_sample(&SampleRecord {
                    scores: &scores,
                    metadata: Some(&metadata),
                    ..SampleRecord::new(&id, *epoch)
                })
                .unwrap();
        }
        let columns = EvalLog::open(&path).unwrap().score_columns(&MetadataKeys::All).unwrap();
        let results = Plan::new().evaluate(&columns).unwrap().results;
        let header = Header::started(start).status(Status::Success).results(RecordedResults::from(&results));
        writer.finish(&header, &Reductions::none()).unwrap();
        EvalLog::open(&path).unwrap()
    }

    const SAMPLES: [(&str, u32, &str); 5] =
        [("b", 1, "C"), ("a", 2, "I"), ("a", 1, "C"), ("a_epoch_1", 1, "I"), ("x/../y", 1, "C")];

    #[test]
    fn one_sample_is_found_with_all_its_epochs() {
        let folder = tempfile::tempdir().unwrap();
        let log = log(folder.path(), &SAMPLES);
        let epochs = |id: &str| -> Vec<(String, u32)> {
            let found = log.transcripts_of(id).unwrap().map(Result::unwrap);
            found.map(|transcript| (transcript.id.to_string(), transcript.epoch)).collect()
        };
        assert_eq!(epochs("a"), [("a".to_owned(), 1), ("a".to_owned(), 2)]);
        assert_eq!(epochs("a_epoch_1"), [("a_epoch_1".to_owned(), 1)]);
        assert_eq!(epochs("x/../y"), [("x/../y".to_owned(), 1)]);
        assert_eq!(epochs("nobody"), []);
    }

    #[test]
    fn summaries_list_the_samples_in_their_order_and_give_the_same_figures() {
        let folder = tempfile::tempdir().unwrap();
        let log = log(folder.path(), &SAMPLES);
        let key = |transcript: &Transcript| (transcript.id.to_string(), transcript.epoch);
        let whole: Vec<_> =
            log.transcripts(|_, _| true).unwrap().map(|transcript| key(&transcript.unwrap())).collect();
        let summaries = log.summaries().unwrap().unwrap();
        assert_eq!(summaries.iter().map(key).collect::<Vec<_>>(), whole);
        let header = log.header().unwrap();
        let scores = log.summary_scores(&header, &MetadataKeys::one("topic")).unwrap().unwrap();
        let results = Plan::new().evaluate(&scores.columns).unwrap().results;
        assert!(compare(header.results.as_ref().unwrap(), &results).is_empty());
        assert_eq!(results.estimate("accuracy").unwrap().number(), Some(0.625), "(1 + 0.5 + 0 + 1) / 4");
    }

    #[test]
    fn a_run_in_progress_has_no_summaries() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("quiz.eval");
        let start = StartRecord::new(EvalInfo::new("quiz", "m"), PlanRecord::default());
        let mut writer = LogWriter::create(&path, &start).unwrap();
        let scores = [("match".to_owned(), Score::new("C"))];
        writer
            .append_sample(&SampleRecord { scores: &scores, ..SampleRecord::new(&SampleId::from("q"), 1) })
            .unwrap();
        assert_eq!(EvalLog::open(&path).unwrap().summaries().unwrap(), None);
        drop(writer);
    }
}
