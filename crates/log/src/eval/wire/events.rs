//! The JSON shapes of a sample's events.
//!
//! There are a dozen even for a sample that one call answers, so what they have in common is written as bytes: as much
//! text as the rest of the sample, in a fraction of its time. Ids are numbers behind a part of the sample's id: they
//! need no randomness and compress to nearly nothing.

use errorbar_core::chat::{
    Event, EventKind, Input, Message, MessageRole, MessageSource, SampleEvents, ScoreEvent, SpanNumber,
    Targets, Usage,
};
use errorbar_core::{Metadata, SampleId};
use indexmap::IndexMap;

use super::calls::{CallWriter, InputForm};
use super::chat::Wire;
use super::time::{TimeWriter, put_digits, put_seconds};
use super::writer::JsonWriter;
use crate::eval::header::EvalError;

/// How much of the sample's id stands in the ids of its events.
const ID_PREFIX: usize = 16;

/// Writes the events of one sample.
#[derive(Debug)]
pub(in crate::eval) struct EventWriter<'a> {
    recorded: &'a SampleEvents,
    sample: InitialSample<'a>,
    prefix: String,
    calls: CallWriter<'a>,
    times: TimeWriter,
}

/// A sample before it ran.
#[derive(Clone, Copy, Debug)]
pub(in crate::eval) struct InitialSample<'a> {
    pub(in crate::eval) id: &'a SampleId,
    pub(in crate::eval) input: &'a Input,
    pub(in crate::eval) choices: Option<&'a [String]>,
    pub(in crate::eval) target: &'a Targets,
    pub(in crate::eval) metadata: &'a Metadata,
    /// The model that is evaluated.
    pub(in crate::eval) model: &'a str,
}

impl<'a> EventWriter<'a> {
    pub(in crate::eval) fn new(recorded: &'a SampleEvents, sample: InitialSample<'a>, uuid: &str) -> Self {
        let prefix = uuid.chars().filter(char::is_ascii_alphanumeric).take(ID_PREFIX).collect();
        let calls = CallWriter::new(recorded, InputForm::References);
        EventWriter { recorded, sample, prefix, calls, times: TimeWriter::default() }
    }

    /// The list of events.
    pub(in crate::eval) fn write_events(&mut self, json: &mut JsonWriter) {
        let events = &self.recorded.events;
        json.array(|json| {
            for (number, event) in events.iter().enumerate() {
                self.write_event(json, number, event);
            }
        });
    }

    /// The messages that calls refer to.
    pub(in crate::eval) fn write_data(&mut self, json: &mut JsonWriter) {
        let messages = &self.recorded.messages;
        json.object(|json| {
            json.key("messages")
                .array(|json| messages.iter().for_each(|m| self.calls.write_message(json, m)));
            json.key("calls").array(|_| ());
        });
    }

    /// The long strings of what was written so far.
    pub(in crate::eval) fn write_attachments(&self, json: &mut JsonWriter) {
        self.calls.write_attachments(json);
    }

    fn write_event(&mut self, json: &mut JsonWriter, number: usize, event: &'a Event) {
        self.put_start(json, number, event);
        match &event.kind {
            EventKind::SpanBegin { kind, name, parent } => {
                self.put_span(&mut json.bytes, br#""span_begin","id":""#, event.span.unwrap_or_default());
                if let Some(parent) = parent {
                    self.put_span(&mut json.bytes, br#","parent_id":""#, *parent);
                }
                json.key("type").text(kind.name());
                json.key("name").text(name);
            }
            EventKind::SpanEnd => {
                self.put_span(&mut json.bytes, br#""span_end","id":""#, event.span.unwrap_or_default());
            }
            EventKind::SampleInit => {
                json.bytes.extend_from_slice(br#""sample_init""#);
                self.write_init(json);
            }
            EventKind::ModelCall(call) => {
                json.bytes.extend_from_slice(br#""model""#);
                self.calls.write_call(json, call);
            }
            EventKind::Score(score) => {
                json.bytes.extend_from_slice(br#""score""#);
                self.write_score(json, score);
            }
            EventKind::Limit { kind, limit, reason } => {
                json.bytes.extend_from_slice(br#""sample_limit""#);
                json.key("type").text(kind);
                json.key("message").text(reason);
                json.key("limit").float(*limit);
            }
            EventKind::Error { message } => {
                json.bytes.extend_from_slice(br#""error""#);
                json.field("error", &EvalError::new(message.as_str()));
            }
            // An event that is not written would be missed without a trace.
            other => {
                json.bytes.extend_from_slice(br#""info""#);
                json.key("source").text("errorbar");
                json.key("data").text(&format!("{other:?}"));
            }
        }
        json.bytes.push(b'}');
    }

    /// What every event begins with, up to its kind.
    fn put_start(&mut self, json: &mut JsonWriter, number: usize, event: &Event) {
        json.item();
        let bytes = &mut json.bytes;
        bytes.extend_from_slice(br#"{"uuid":""#);
        bytes.extend_from_slice(self.prefix.as_bytes());
        bytes.push(b'-');
        put_digits(bytes, number as u64, 1);
        bytes.push(b'"');
        if let Some(span) = event.span {
            self.put_span(bytes, br#","span_id":""#, span);
        }
        bytes.extend_from_slice(br#","timestamp":""#);
        self.times.put(bytes, self.recorded.started.saturating_add(event.at));
        bytes.extend_from_slice(br#"","working_start":"#);
        put_seconds(bytes, event.working);
        bytes.extend_from_slice(br#","event":"#);
    }

    /// The id of a span, behind the key that begins its string.
    fn put_span(&self, bytes: &mut Vec<u8>, key: &[u8], span: SpanNumber) {
        bytes.extend_from_slice(key);
        bytes.extend_from_slice(self.prefix.as_bytes());
        bytes.extend_from_slice(b"-s");
        put_digits(bytes, u64::from(span), 1);
        bytes.push(b'"');
    }

    /// The sample, and the state that its solvers start from.
    fn write_init(&mut self, json: &mut JsonWriter) {
        let InitialSample { id, input, choices, target, metadata, model } = self.sample;
        json.key("sample").object(|json| {
            match input {
                Input::Text(text) => self.calls.write_text(json.key("input"), text),
                Input::Messages(messages) => {
                    json.key("input")
                        .array(|json| messages.iter().for_each(|m| self.calls.write_message(json, m)));
                }
            }
            json.optional("choices", choices);
            json.field("target", &Wire(target));
            json.field("id", &Wire(id));
            if !metadata.is_empty() {
                json.field("metadata", metadata);
            }
        });
        json.key("state").object(|json| {
            json.key("messages").array(|json| {
                let input_message = (None, Some(MessageSource::Input), None);
                match input {
                    Input::Text(text) => {
                        self.calls.write_parts(json, input_message, MessageRole::User, text);
                    }
                    Input::Messages(messages) => messages.iter().for_each(|message| {
                        let Message { id, content, role, model, .. } = message;
                        let parts = (id.as_deref(), Some(MessageSource::Input), model.as_deref());
                        self.calls.write_parts(json, parts, *role, content);
                    }),
                }
            });
            json.key("tools").array(|_| ());
            json.field("tool_choice", &());
            json.key("store").object(|_| ());
            json.key("output").object(|json| {
                json.key("model").text(model);
                json.key("choices").array(|_| ());
                json.key("completion").text("");
            });
            json.field("completed", &false);
            json.field("metadata", metadata);
        });
    }

    fn write_score(&self, json: &mut JsonWriter, event: &ScoreEvent) {
        json.key("score").score(&event.score, None::<&()>);
        json.field("target", &Wire(self.sample.target));
        json.field("intermediate", &false);
        json.key("scorer").text(&event.scorer);
        json.field("scorer_args", &*event.args);
        for (key, usage) in [("model_usage", &event.model_usage), ("role_usage", &event.role_usage)] {
            write_usage(json, key, usage);
        }
    }
}

fn write_usage(json: &mut JsonWriter, key: &str, usage: &IndexMap<String, Usage>) {
    if !usage.is_empty() {
        json.field(key, &Wire(usage));
    }
}
