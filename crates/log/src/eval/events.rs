//! The JSON shapes of a sample's events.
//!
//! There are a dozen even for a sample that one call answers, so what they have in common is written as bytes: as much
//! text as the rest of the sample, in a fraction of its time. Ids are numbers behind a part of the sample's id: they
//! need no randomness and compress to nearly nothing.

use std::borrow::Cow;

use errorbar_core::chat::{
    Event, EventKind, Input, Message, MessageSource, ModelCall, ModelOutput, SampleEvents, ScoreEvent,
    SpanNumber, Targets,
};
use errorbar_core::{Metadata, SampleId};
use indexmap::IndexMap;

use super::header::EvalError;
use super::wire::{JsonWriter, seconds, timestamp};

/// A list without items.
const EMPTY: [(); 0] = [];
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
        let messages = self.calls.messages(&self.recorded.messages);
        json.object(|json| {
            json.field("messages", &messages);
            json.field("calls", &EMPTY);
        });
    }

    /// The long strings of what was written so far.
    pub(crate) fn write_attachments(&self, json: &mut JsonWriter) {
        self.calls.attachments.write(json);
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
        let input = match input {
            Input::Text(text) => Input::Text(self.calls.text(text).into_owned()),
            Input::Messages(messages) => Input::Messages(self.calls.messages(messages)),
        };
        json.key("sample").object(|json| {
            json.field("input", &input);
            json.optional("choices", choices);
            json.field("target", target);
            json.field("id", id);
            if !metadata.is_empty() {
                json.field("metadata", metadata);
            }
        });
        let mut messages = match input {
            Input::Text(text) => vec![Message::user(text)],
            Input::Messages(messages) => messages,
        };
        messages.iter_mut().for_each(|message| message.source = Some(MessageSource::Input));
        json.key("state").object(|json| {
            json.field("messages", &messages);
            json.field("tools", &EMPTY);
            json.field("tool_choice", &());
            json.key("store").object(|_| ());
            json.key("output").object(|json| {
                json.field("model", model);
                json.field("choices", &EMPTY);
                json.field("completion", "");
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
            if !usage.is_empty() {
                json.field(key, usage);
            }
        }
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

    /// A string, or a reference to it if it is long.
    fn text(&mut self, text: &'a str) -> Cow<'a, str> {
        match self.input {
            InputForm::References => self.attachments.reference(text),
            InputForm::Inline => Cow::Borrowed(text),
        }
    }

    /// A message with such a string.
    fn message(&mut self, message: &'a Message) -> Message {
        let Message { id, content, source, role, model, .. } = message;
        let mut short = Message::new(*role, self.text(content));
        (short.id, short.source, short.model) = (id.clone(), *source, model.clone());
        short
    }

    fn messages(&mut self, messages: &'a [Message]) -> Vec<Message> {
        messages.iter().map(|message| self.message(message)).collect()
    }

    pub(crate) fn write_call(&mut self, json: &mut JsonWriter, call: &'a ModelCall) {
        let ModelCall { model, role, input, config, answer, retries, cache, completed, working_time } = call;
        json.field("model", model);
        json.optional("role", role.as_ref());
        match self.input {
            InputForm::Inline => {
                let messages = self.recorded.messages.as_slice();
                let sent = input.iter().filter_map(|range| messages.get(range.clone()));
                json.field("input", &sent.flatten().collect::<Vec<_>>());
            }
            InputForm::References => {
                let refs: Vec<[usize; 2]> = input.iter().map(|range| [range.start, range.end]).collect();
                json.field("input", &EMPTY);
                json.field("input_refs", &refs);
            }
        }
        json.field("tools", &EMPTY);
        json.field("tool_choice", "none");
        json.field("config", &**config);
        match answer {
            // Readers do not look for references in the completion.
            Ok(output) => {
                let mut short = output.clone();
                for (choice, whole) in short.choices.iter_mut().zip(&output.choices) {
                    choice.message = self.message(&whole.message);
                }
                json.field("output", &short);
            }
            // An empty answer stands in place of one.
            Err(_) => json.field("output", &ModelOutput::from_text(model.as_str(), "")),
        }
        if *retries > 0 {
            json.field("retries", retries);
        }
        json.optional("error", answer.as_ref().err());
        json.optional("cache", cache.map(|cache| cache.name()));
        let (at, working) =
            (timestamp(self.recorded.started.saturating_add(*completed)), seconds(*working_time));
        json.put(format_args!(r#","completed":"{at}","working_time":{working}"#));
    }
}

// Long strings of events, stored once per sample.

/// Strings of more characters than this are stored apart, as the reference does.
const INLINE: usize = 100;

/// The long strings of a sample's events, by their hash.
#[derive(Debug, Default)]
pub(crate) struct Attachments<'a>(IndexMap<u128, &'a str>);

impl<'a> Attachments<'a> {
    /// The string, or a reference to it if it is long.
    fn reference(&mut self, text: &'a str) -> Cow<'a, str> {
        if !is_long(text) {
            return Cow::Borrowed(text);
        }
        let hash = murmur3(text.as_bytes());
        // The hash is easy to forge: another string of the same hash is stored inline.
        match *self.0.entry(hash).or_insert(text) == text {
            true => Cow::Owned(format!("attachment://{hash:032x}")),
            false => Cow::Borrowed(text),
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
        assert_eq!(attachments.reference(&short), short);
        let reference = attachments.reference(&long);
        assert!(reference.starts_with("attachment://") && reference.len() == 32 + 13, "{reference}");
        assert_eq!(attachments.reference(&long), reference);
        assert_eq!(attachments.0.len(), 1);
    }

    #[test]
    fn a_string_whose_hash_is_taken_stays_inline() {
        let long = "x".repeat(200);
        let mut attachments = Attachments(IndexMap::from([(murmur3(long.as_bytes()), "another")]));
        assert_eq!(attachments.reference(&long), long);
    }
}
