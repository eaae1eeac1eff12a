//! Every sample gets an id, and no two the same.

use std::hash::BuildHasher;
use std::sync::Arc;

use hashbrown::{DefaultHashBuilder, HashTable};

use super::NamedSample;
use super::error::{DatasetError, RecordLocation};
use crate::{Input, MessageRole, Sample, SampleId};

/// A sample and where it was read. It is shared from the start: to move a million of them takes their memory twice.
pub(super) type LocatedSample = (RecordLocation, Arc<Sample>);

/// Samples with their ids; those without one are numbered by their place. The ids and places of those that are not
/// text alone are added to the list.
///
/// # Errors
/// Two samples of one id.
pub(super) fn with_ids(
    samples: Vec<LocatedSample>,
    not_text: &mut Vec<(String, RecordLocation)>,
) -> Result<Arc<[NamedSample]>, DatasetError> {
    let hasher = DefaultHashBuilder::default();
    // Places in the list, by the text of the id: the texts themselves would take as much memory as small samples.
    let mut seen: HashTable<u32> = HashTable::with_capacity(samples.len());
    let mut named: Vec<NamedSample> = Vec::with_capacity(samples.len());
    for (at, (place, sample)) in samples.iter().enumerate() {
        let id = sample.id.clone().unwrap_or_else(|| SampleId::Int(at as i64 + 1));
        let text = id.to_string();
        if beside_text(&sample.input).is_some() {
            not_text.push((text.clone(), place.clone()));
        }
        let is_same = |other: &u32| named.get(*other as usize).is_some_and(|(id, _)| has_text(id, &text));
        if let Some(&first) = seen.find(hasher.hash_one(&text), is_same) {
            let first = first as usize;
            let place =
                |at: usize| samples.get(at).map_or(RecordLocation::NOWHERE, |(place, _)| place.clone());
            let was_numbered = named.get(first).is_some_and(|(_, sample)| sample.id.is_none());
            return Err(DatasetError::DuplicateId {
                id: text,
                first: (first + 1, place(first)),
                second: (at + 1, place(at)),
                numbered: sample.id.is_none() || was_numbered,
            });
        }
        let hash = |at: &u32| named.get(*at as usize).map_or(0, |(id, _)| hasher.hash_one(id.to_string()));
        seen.insert_unique(hasher.hash_one(&text), at as u32, hash);
        named.push((id, sample.clone()));
    }
    drop((samples, seen));
    Ok(named.into())
}

/// The first message that is not text alone, by its number from 1, and what it is.
pub(super) fn beside_text(input: &Input) -> Option<(usize, String)> {
    let Input::Messages(messages) = input else { return None };
    (1..).zip(messages).find_map(|(number, message)| match message.omitted.as_slice() {
        [] if message.role == MessageRole::Tool => Some((number, "is the answer of a tool".to_owned())),
        [] => None,
        parts => {
            let parts: Vec<String> = parts.iter().map(|part| in_words(part)).collect();
            Some((number, format!("contains {}", parts.join(" and "))))
        }
    })
}

/// A kind of what messages hold beside text, or the key that it is under.
fn in_words(part: &str) -> String {
    match part {
        "image" | "image_url" | "input_image" => "an image",
        "audio" | "input_audio" => "audio",
        "video" => "a video",
        "document" => "a document",
        "tool_calls" | "tool_use" => "tool calls",
        "function_call" => "a function call",
        "reasoning" | "reasoning_content" | "thinking" => "reasoning",
        "error" => "the error of a tool",
        part if part.contains(' ') => part,
        part => return format!("`{part}`"),
    }
    .to_owned()
}

/// Whether an id is written like this: the number 1 and the string "1" are the same id.
fn has_text(id: &SampleId, text: &str) -> bool {
    match id {
        SampleId::Str(id) => id == text,
        other => other.to_string() == text,
    }
}
