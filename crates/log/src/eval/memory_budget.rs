//! The memory that is held of a log, counted so that it has a bound.

use std::sync::atomic::{AtomicU64, Ordering};

use errorbar_core::chat::{Event, EventKind, Message, ModelOutput, SampleEvents};
use errorbar_core::{Leaf, SampleId, Score, Value};
use serde_json::Value as Json;

use super::error::{LogErrorKind, Result};
use super::stored::StoredSample;

/// A JSON value of one byte, as a tree: the value itself, the unused half of a list that has grown, and its share
/// of a map.
const NODE: u64 = 160;

/// A number of bytes that may be held, shared by all threads that read a log.
#[derive(Debug)]
pub(super) struct MemoryBudget {
    limit: u64,
    used: AtomicU64,
}

impl MemoryBudget {
    pub(super) fn new(limit: u64) -> Self {
        MemoryBudget { limit, used: AtomicU64::new(0) }
    }

    pub(super) fn limit(&self) -> u64 {
        self.limit
    }

    /// Takes bytes out of the budget.
    ///
    /// # Errors
    /// There are not as many left.
    pub(super) fn take(&self, bytes: u64) -> Result<()> {
        let before = self.used.fetch_add(bytes, Ordering::Relaxed);
        if before.saturating_add(bytes) > self.limit {
            self.give_back(bytes);
            return Err(LogErrorKind::TooMuchMemory { limit: self.limit }.into());
        }
        Ok(())
    }

    /// Returns bytes that [`MemoryBudget::take`] took.
    pub(super) fn give_back(&self, bytes: u64) {
        self.used.fetch_sub(bytes, Ordering::Relaxed);
    }

    /// Refuses a JSON document that would take more memory as a tree than is left. A document of many tiny values takes
    /// fifty times its size.
    pub(super) fn check_tree(&self, json: &[u8]) -> Result<()> {
        const SMALL: usize = 1 << 20;
        if json.len() < SMALL {
            return Ok(());
        }
        let bytes = (json.len() as u64).saturating_add(values_in(json).saturating_mul(NODE));
        self.take(bytes)?;
        self.give_back(bytes);
        Ok(())
    }
}

/// The number of values in a JSON document, at least.
fn values_in(json: &[u8]) -> u64 {
    let (mut count, mut rest) = (1, json);
    let count_between =
        |bytes: &[u8]| bytes.iter().filter(|b| matches!(b, b',' | b'[' | b'{')).count() as u64;
    while let Some(quote) = memchr::memchr(b'"', rest) {
        let (between, text) = rest.split_at(quote);
        count += count_between(between);
        rest = after_text(text.get(1..).unwrap_or_default());
    }
    count + count_between(rest)
}

/// What follows the quote that ends a string.
fn after_text(mut rest: &[u8]) -> &[u8] {
    while let Some(at) = memchr::memchr2(b'"', b'\\', rest) {
        let is_end = rest.get(at) == Some(&b'"');
        rest = rest.get(at + if is_end { 1 } else { 2 }..).unwrap_or_default();
        if is_end {
            return rest;
        }
    }
    &[]
}

/// The memory of a sample, about.
pub(super) fn of_sample(sample: &StoredSample) -> u64 {
    let error = sample.error.as_ref().map_or(0, |error| error.len() as u64);
    size_of::<StoredSample>() as u64 + behind_sample(sample) + error
}

/// The memory behind id, metadata and scores of a sample, about.
pub(super) fn behind_sample(sample: &StoredSample) -> u64 {
    let metadata = sample.metadata.iter().map(of_field).sum::<u64>();
    let score = |(scorer, score): (&String, &Score)| scorer.len() as u64 + NODE + of_score(score);
    let scores = sample.scores.iter().map(score).sum::<u64>();
    let id = match &sample.id {
        SampleId::Int(_) => 0,
        SampleId::Str(id) => id.len() as u64,
    };
    id + metadata + scores
}

/// The memory behind a score, about.
pub(super) fn of_score(score: &Score) -> u64 {
    let text = |text: &Option<String>| text.as_ref().map_or(0, |text| text.len() as u64);
    let metadata = score.metadata.iter().flatten().map(of_field).sum::<u64>();
    let history = score.history.iter().map(of_json).sum::<u64>();
    of_value(&score.value)
        + text(&score.answer)
        + text(&score.explanation)
        + text(&score.reason)
        + metadata
        + history
}

/// The memory of what happened while a sample was scored, about.
pub(super) fn of_events(events: &SampleEvents) -> u64 {
    let message = |message: &Message| (size_of::<Message>() + message.content.len()) as u64;
    let output = |output: &ModelOutput| {
        let choices = output.choices.iter().map(|choice| message(&choice.message)).sum::<u64>();
        let metadata = output.metadata.iter().flatten().map(of_field).sum::<u64>();
        choices + output.completion.len() as u64 + metadata
    };
    let event = |event: &Event| {
        size_of::<Event>() as u64
            + match &event.kind {
                EventKind::ModelCall(call) => {
                    NODE + match &call.answer {
                        Ok(answer) => output(answer),
                        Err(problem) => problem.len() as u64,
                    }
                }
                _ => 0,
            }
    };
    events.messages.iter().map(message).sum::<u64>() + events.events.iter().map(event).sum::<u64>()
}

fn of_value(value: &Value) -> u64 {
    const ITEM: u64 = 64;
    match value {
        Value::List(items) => items.iter().map(|leaf| ITEM + of_leaf(leaf)).sum(),
        Value::Map(map) => map.iter().map(|(key, leaf)| ITEM + key.len() as u64 + of_leaf(leaf)).sum(),
        Value::Str(text) => text.len() as u64,
        _ => 0,
    }
}

fn of_leaf(leaf: &Leaf) -> u64 {
    match leaf {
        Leaf::Str(text) => text.len() as u64,
        _ => 0,
    }
}

/// The memory of a field of a JSON object, about.
fn of_field((key, value): (&String, &Json)) -> u64 {
    key.len() as u64 + of_json(value)
}

fn of_json(value: &Json) -> u64 {
    NODE + match value {
        Json::String(text) => text.len() as u64,
        Json::Array(items) => items.iter().map(of_json).sum(),
        Json::Object(map) => map.iter().map(of_field).sum(),
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_counted_outside_of_strings() {
        for (json, count) in [
            ("1", 1),
            ("[]", 2),
            ("[1,2]", 3),
            (r#"{"a":1,"b":[{}]}"#, 5),
            (r#"["[,{\",[","\\",",]"]"#, 4),
            (r#"["unfinished,\"#, 2),
        ] {
            assert_eq!(values_in(json.as_bytes()), count, "{json}");
        }
    }

    #[test]
    fn a_budget_is_shared_and_never_passed() {
        let memory = MemoryBudget::new(100);
        memory.take(60).unwrap();
        assert!(matches!(memory.take(41).unwrap_err().kind(), LogErrorKind::TooMuchMemory { limit: 100 }));
        memory.take(40).unwrap();
        memory.give_back(100);
        memory.take(100).unwrap();
    }

    #[test]
    fn a_tree_of_tiny_values_is_refused_before_it_is_built() {
        let memory = MemoryBudget::new(64 << 20);
        let lists = format!("[{}[]]", "[],".repeat(1 << 20));
        assert!(memory.check_tree(lists.as_bytes()).is_err());
        // A string of the same length is cheap.
        memory.check_tree(format!("[\"{}\"]", "[],".repeat(1 << 20)).as_bytes()).unwrap();
        memory.take(64 << 20).unwrap();
    }
}
