//! The JSON shapes of a sample's events.
//!
//! There are a dozen even for a sample that one call answers, so what they have in common is written as bytes: as much
//! text as the rest of the sample, in a fraction of its time. Ids are numbers behind a part of the sample's id: they
//! need no randomness and compress to nearly nothing.

use std::ops::Range;

use errorbar_core::chat::{
    Event, EventKind, Input, Message, MessageRole, MessageSource, ModelCall, ModelOutput, SampleEvents,
    ScoreEvent, SpanNumber, Targets, Usage,
};
use errorbar_core::{Metadata, SampleId};
use indexmap::IndexMap;

use super::header::EvalError;
use super::wire::{JsonWriter, seconds, timestamp};

/// How much of the sample's id stands in the ids of its events.
const ID_PREFIX: usize = 16;

/// Writes the events of one sample.
#[derive(Debug)]
pub(crate) struct EventWriter<'a> {
    recorded: &'a SampleEvents,
    sample: InitialSample<'a>,
    prefix: String,
    calls: CallWriter<'a>,
}

/// A sample before it ran.
#[derive(Clone, Copy, Debug)]
pub(crate) struct InitialSample<'a> {
    pub(crate) id: &'a SampleId,
    pub(crate) input: &'a Input,
    pub(crate) choices: Option<&'a [String]>,
    pub(crate) target: &'a Targets,
    pub(crate) metadata: &'a Metadata,
    /// The model that is evaluated.
    pub(crate) model: &'a str,
}

impl<'a> EventWriter<'a> {
    pub(crate) fn new(recorded: &'a SampleEvents, sample: InitialSample<'a>, uuid: &str) -> Self {
        let prefix = uuid.chars().filter(char::is_ascii_alphanumeric).take(ID_PREFIX).collect();
        let calls = CallWriter::new(recorded, InputForm::References);
        EventWriter { recorded, sample, prefix, calls }
    }

    /// The list of events.
    pub(crate) fn write_events(&mut self, json: &mut JsonWriter) {
        let events = &self.recorded.events;
        json.array(|json| {
            for (number, event) in events.iter().enumerate() {
                self.write_event(json, number, event);
            }
        });
    }

    /// The messages that calls refer to.
    pub(crate) fn write_data(&mut self, json: &mut JsonWriter) {
        let messages = &self.recorded.messages;
        json.object(|json| {
            json.key("messages")
                .array(|json| messages.iter().for_each(|m| self.calls.write_message(json, m)));
            json.key("calls").array(|_| ());
        });
    }

    /// The long strings of what was written so far.
    pub(crate) fn write_attachments(&self, json: &mut JsonWriter) {
        self.calls.write_attachments(json);
    }

    fn write_event(&mut self, json: &mut JsonWriter, number: usize, event: &'a Event) {
        self.put_start(json, number, event);
        match &event.kind {
            EventKind::SpanBegin { kind, name, parent } => {
                self.put_span(json, r#""span_begin","id":""#, event.span.unwrap_or_default());
                if let Some(parent) = parent {
                    self.put_span(json, r#","parent_id":""#, *parent);
                }
                json.key("type").text(kind.name());
                json.key("name").text(name);
            }
            EventKind::SpanEnd => {
                self.put_span(json, r#""span_end","id":""#, event.span.unwrap_or_default());
            }
            EventKind::SampleInit => {
                json.put(format_args!(r#""sample_init""#));
                self.write_init(json);
            }
            EventKind::ModelCall(call) => {
                json.put(format_args!(r#""model""#));
                self.calls.write_call(json, call);
            }
            EventKind::Score(score) => {
                json.put(format_args!(r#""score""#));
                self.write_score(json, score);
            }
            EventKind::Limit { kind, limit, reason } => {
                json.put(format_args!(r#""sample_limit""#));
                json.key("type").text(kind);
                json.key("message").text(reason);
                json.key("limit").float(*limit);
            }
            EventKind::Error { message } => {
                json.put(format_args!(r#""error""#));
                json.field("error", &EvalError::new(message.as_str()));
            }
            // An event that is not written would be missed without a trace.
            other => {
                json.put(format_args!(r#""info""#));
                json.key("source").text("errorbar");
                json.key("data").text(&format!("{other:?}"));
            }
        }
        json.put(format_args!("}}"));
    }

    /// What every event begins with, up to its kind.
    fn put_start(&self, json: &mut JsonWriter, number: usize, event: &Event) {
        json.item();
        json.put(format_args!(r#"{{"uuid":"{}-{number}""#, self.prefix));
        if let Some(span) = event.span {
            self.put_span(json, r#","span_id":""#, span);
        }
        let (at, working) =
            (timestamp(self.recorded.started.saturating_add(event.at)), seconds(event.working));
        json.put(format_args!(r#","timestamp":"{at}","working_start":{working},"event":"#));
    }

    /// The id of a span, behind the key that begins its string.
    fn put_span(&self, json: &mut JsonWriter, key: &str, span: SpanNumber) {
        json.put(format_args!(r#"{key}{}-s{span}""#, self.prefix));
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
            json.field("target", target);
            json.field("id", id);
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
        json.field("target", self.sample.target);
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
        json.field(key, usage);
    }
}

// The JSON shape of a call of a model.

/// Where the messages of a call, and long strings, are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum InputForm {
    /// In lists of the sample, each once.
    References,
    /// In the call: the lists of a sample that was written before stay as they are.
    Inline,
}

/// Writes the calls of one sample.
#[derive(Debug)]
pub(crate) struct CallWriter<'a> {
    recorded: &'a SampleEvents,
    input: InputForm,
    attachments: Attachments<'a>,
}

impl<'a> CallWriter<'a> {
    pub(crate) fn new(recorded: &'a SampleEvents, input: InputForm) -> Self {
        CallWriter { recorded, input, attachments: Attachments::default() }
    }

    /// The long strings of what was written so far.
    pub(super) fn write_attachments(&self, json: &mut JsonWriter) {
        self.attachments.write(json);
    }

    /// A string, or a reference to it if it is long.
    fn write_text(&mut self, json: &mut JsonWriter, text: &'a str) {
        match self.input {
            InputForm::References => self.attachments.write_text(json, text),
            InputForm::Inline => json.text(text),
        }
    }

    pub(crate) fn write_call(&mut self, json: &mut JsonWriter, call: &'a ModelCall) {
        let ModelCall { model, role, input, config, answer, retries, cache, completed, working_time } = call;
        json.key("model").text(model);
        if let Some(role) = role {
            json.key("role").text(role);
        }
        let sent: &[Range<usize>] = match self.input {
            InputForm::Inline => input,
            InputForm::References => &[],
        };
        let messages = self.recorded.messages.as_slice();
        json.key("input").array(|json| {
            let sent = sent.iter().filter_map(|range| messages.get(range.clone()));
            sent.flatten().for_each(|message| self.write_message(json, message));
        });
        if self.input == InputForm::References {
            json.key("input_refs").array(|json| {
                let pair =
                    |json: &mut JsonWriter, range: &Range<usize>| json.value(&[range.start, range.end]);
                input.iter().for_each(|range| pair(json, range));
            });
        }
        json.key("tools").array(|_| ());
        json.key("tool_choice").text("none");
        json.field("config", &**config);
        json.key("output");
        match answer {
            Ok(output) => self.write_output(json, output),
            Err(_) => write_no_output(json, model),
        }
        if *retries > 0 {
            json.field("retries", retries);
        }
        if let Err(problem) = answer {
            json.key("error").text(problem);
        }
        if let Some(cache) = cache {
            json.key("cache").text(cache.name());
        }
        let (at, working) =
            (timestamp(self.recorded.started.saturating_add(*completed)), seconds(*working_time));
        json.put(format_args!(r#","completed":"{at}","working_time":{working}"#));
    }

    fn write_output(&mut self, json: &mut JsonWriter, output: &'a ModelOutput) {
        let ModelOutput { model, choices, completion, usage, time, metadata, error, .. } = output;
        json.object(|json| {
            json.key("model").text(model);
            json.key("choices").array(|json| {
                for choice in choices {
                    json.object(|json| {
                        self.write_message(json.key("message"), &choice.message);
                        json.key("stop_reason").text(&choice.stop_reason);
                        json.optional("logprobs", choice.logprobs.as_ref());
                    });
                }
            });
            // Readers do not look for references here.
            json.key("completion").text(completion);
            json.optional("usage", usage.as_ref());
            json.optional("time", time.as_ref());
            json.optional("metadata", metadata.as_ref());
            json.optional("error", error.as_ref());
        });
    }

    fn write_message(&mut self, json: &mut JsonWriter, message: &'a Message) {
        let Message { id, content, source, role, model, .. } = message;
        self.write_parts(json, (id.as_deref(), *source, model.as_deref()), *role, content);
    }

    fn write_parts(
        &mut self,
        json: &mut JsonWriter,
        (id, source, model): (Option<&str>, Option<MessageSource>, Option<&str>),
        role: MessageRole,
        content: &'a str,
    ) {
        json.object(|json| {
            if let Some(id) = id {
                json.key("id").text(id);
            }
            self.write_text(json.key("content"), content);
            if let Some(source) = source {
                json.key("source").text(source.name());
            }
            json.key("role").text(role.name());
            if let Some(model) = model {
                json.key("model").text(model);
            }
        });
    }
}

/// What stands in place of an answer where there is none: an empty one.
fn write_no_output(json: &mut JsonWriter, model: &str) {
    json.object(|json| {
        json.key("model").text(model);
        json.key("choices").array(|json| {
            json.object(|json| {
                json.key("message").object(|json| {
                    json.key("content").text("");
                    json.key("source").text(MessageSource::Generate.name());
                    json.key("role").text(MessageRole::Assistant.name());
                    json.key("model").text(model);
                });
                json.key("stop_reason").text("stop");
            });
        });
        json.key("completion").text("");
    });
}

// Long strings of events, stored once per sample.

/// Strings of more characters than this are stored apart, as the reference does.
const INLINE: usize = 100;

/// The long strings of a sample's events, by their hash.
#[derive(Debug, Default)]
pub(crate) struct Attachments<'a>(IndexMap<u128, &'a str>);

impl<'a> Attachments<'a> {
    /// Writes a string, or a reference to it if it is long.
    fn write_text(&mut self, json: &mut JsonWriter, text: &'a str) {
        if !is_long(text) {
            return json.text(text);
        }
        let hash = murmur3(text.as_bytes());
        // The hash is easy to forge: another string of the same hash is stored inline.
        if *self.0.entry(hash).or_insert(text) == text {
            json.text(&format!("attachment://{hash:032x}"));
        } else {
            json.text(text);
        }
    }

    /// Writes all that were referred to.
    pub(crate) fn write(&self, json: &mut JsonWriter) {
        json.object(|json| {
            for (hash, text) in &self.0 {
                json.key(&format!("{hash:032x}")).text(text);
            }
        });
    }
}

fn is_long(text: &str) -> bool {
    // A character has up to four bytes; few strings need counting.
    match text.len() {
        0..=INLINE => false,
        length if length > 4 * INLINE => true,
        _ => text.chars().count() > INLINE,
    }
}

/// MurmurHash3 for 64-bit machines, 128 bits, seed 0, by Austin Appleby: what the reference names attachments by, so that
/// it finds its own names when it writes a log of ours again. The first half is the upper one.
pub(crate) fn murmur3(bytes: &[u8]) -> u128 {
    const C1: u64 = 0x87c3_7b91_1142_53d5;
    const C2: u64 = 0x4cf5_ad43_2745_937f;
    let mix1 = |k: u64| k.wrapping_mul(C1).rotate_left(31).wrapping_mul(C2);
    let mix2 = |k: u64| k.wrapping_mul(C2).rotate_left(33).wrapping_mul(C1);
    let (mut h1, mut h2) = (0_u64, 0_u64);
    let (blocks, tail) = bytes.as_chunks::<16>();
    for block in blocks {
        let (k1, k2) = halves(block);
        h1 = (h1 ^ mix1(k1)).rotate_left(27).wrapping_add(h2).wrapping_mul(5).wrapping_add(0x52dc_e729);
        h2 = (h2 ^ mix2(k2)).rotate_left(31).wrapping_add(h1).wrapping_mul(5).wrapping_add(0x3849_5ab5);
    }
    // A tail that ends early is filled with zeros, which mix to zero.
    let mut rest = [0; 16];
    rest.iter_mut().zip(tail).for_each(|(to, from)| *to = *from);
    let (k1, k2) = halves(&rest);
    let length = bytes.len() as u64;
    h1 ^= mix1(k1) ^ length;
    h2 ^= mix2(k2) ^ length;
    h1 = h1.wrapping_add(h2);
    h2 = h2.wrapping_add(h1);
    h1 = avalanche(h1);
    h2 = avalanche(h2);
    h1 = h1.wrapping_add(h2);
    h2 = h2.wrapping_add(h1);
    u128::from(h1) << 64 | u128::from(h2)
}

fn halves(block: &[u8; 16]) -> (u64, u64) {
    let both = u128::from_le_bytes(*block);
    (both as u64, (both >> 64) as u64)
}

fn avalanche(mut k: u64) -> u64 {
    k = (k ^ k >> 33).wrapping_mul(0xff51_afd7_ed55_8ccd);
    k = (k ^ k >> 33).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    k ^ k >> 33
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_are_those_of_the_reference() {
        // Made with mm3_hash of inspect_ai 0.3.285.
        for (text, hash) in HASHES {
            assert_eq!(format!("{:032x}", murmur3(text.repeat(40).as_bytes())), hash, "{text}");
        }
        // A tail of every length.
        assert_eq!(murmur3(b""), 0);
        let all: Vec<u128> =
            (1..=33).map(|length| murmur3(&b"0123456789abcdef0123456789abcdef0"[..length])).collect();
        assert_eq!(
            format!("{:032x}", all.iter().fold(0, |sum, hash| sum ^ hash)),
            "8bfca460c63ee766bcbe6cdca706d581"
        );
    }

    /// Each string forty times, and its hash.
    const HASHES: [(&str, &str); 6] = [
        ("a", "32a6cead6b7128db69761b69791778f4"),
        ("abc", "efd42a090af244ab452f159edd7c5b66"),
        ("Grüße, ", "0db61cff362554fae50825a00ea9b18c"),
        ("eight by", "58f3b8fc6d672f74c0dd95ad780ebb15"),
        ("0123456789abcde", "7f7583132f3a5808fbd005d76617cd16"),
        ("0123456789abcdef", "6e6e9e1e7a87e8d74f809633e46482ee"),
    ];

    #[test]
    fn only_long_strings_are_stored_apart_and_each_once() {
        let (short, long) = ("é".repeat(100), "é".repeat(101));
        let mut attachments = Attachments::default();
        let mut write =
            |text| String::from_utf8(JsonWriter::bytes_of(|json| attachments.write_text(json, text)));
        assert_eq!(write(&short).unwrap(), format!("\"{short}\""));
        let reference = write(&long).unwrap();
        assert!(reference.starts_with("\"attachment://") && reference.len() == 32 + 15, "{reference}");
        assert_eq!(write(&long).unwrap(), reference);
        assert_eq!(attachments.0.len(), 1);
    }

    #[test]
    fn a_string_whose_hash_is_taken_stays_inline() {
        let long = "x".repeat(200);
        let mut attachments = Attachments(IndexMap::from([(murmur3(long.as_bytes()), "another")]));
        let bytes = JsonWriter::bytes_of(|json| attachments.write_text(json, &long));
        assert_eq!(bytes, format!("\"{long}\"").into_bytes());
    }
}
