//! Samples in a page: JSON, compressed, in script elements that no browser runs.

use std::fmt::Write as _;
use std::io::Write as _;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use flate2::Compression;
use flate2::write::DeflateEncoder;
use serde::Serialize;
use serde_json::json;

use super::text_budget::OMISSIONS;
use super::{AlignedSample, SampleSet};
use crate::number::counted;

/// The samples of a chunk: opening one sample inflates few others, and neighbours share words.
const CHUNK_SAMPLES: usize = 200;
/// The bytes of JSON that end a chunk earlier.
const CHUNK_BYTES: usize = 1 << 20;
/// What was left out so that samples fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Omission {
    /// The samples behind the first ones of each task.
    Samples {
        /// How many are listed.
        listed: usize,
    },
    /// The conversations.
    Messages,
    /// The explanations of scorers and what graders wrote.
    Explanations,
    /// The middle of texts with more characters than this.
    LongTexts {
        /// The characters that are left.
        limit: usize,
    },
}

impl std::fmt::Display for Omission {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Omission::Samples { listed } => {
                write!(f, "only the first {} are listed", counted(*listed as u64, "sample"))
            }
            Omission::Messages => f.write_str("messages are left out"),
            Omission::Explanations => f.write_str("explanations of scorers are left out"),
            Omission::LongTexts { limit } => write!(f, "texts are cut to {limit} characters"),
        }
    }
}

/// Samples that cannot be written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EncodeError {
    /// What is left when everything that can be left out is left out is too large.
    #[error(
        "samples take {smallest} bytes without messages, explanations and long texts; at most {max_bytes} are allowed"
    )]
    TooLarge {
        /// The least that they take.
        smallest: usize,
        /// The most that was allowed.
        max_bytes: usize,
    },
    /// JSON that cannot be written.
    #[error("samples cannot be encoded")]
    Json(#[from] serde_json::Error),
    /// Compression failed.
    #[error("samples cannot be compressed")]
    Compression(#[from] std::io::Error),
}

/// Samples as the page has them: base64 of raw deflate of JSON.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct EncodedSamples {
    index: String,
    details: Chunks,
    messages: Chunks,
    /// What was left out.
    pub omissions: Vec<Omission>,
}

/// Chunks of samples, and where each starts.
#[derive(Clone, Debug, Default)]
struct Chunks {
    starts: Vec<usize>,
    encoded: Vec<String>,
}

impl SampleSet {
    /// The samples as the page has them, in at most this number of bytes of script elements if one is given. What has to be
    /// left out to fit is left out: messages first, then explanations,
    /// then the middle of long texts.
    ///
    /// # Errors
    /// Samples that do not fit even so.
    pub fn encode(&self, max_bytes: Option<usize>) -> Result<EncodedSamples, EncodeError> {
        let max_bytes = max_bytes.unwrap_or(usize::MAX);
        let mut omissions = self.omissions.clone();
        let messages = match self.has_messages {
            true => self.chunks(|sample| serde_json::to_vec(&sample.messages()))?,
            false => Chunks::default(),
        };
        let mut encoded = self.encoded(messages, &omissions)?;
        let mut smaller: Option<SampleSet> = None;
        for omission in OMISSIONS {
            if encoded.size() <= max_bytes {
                break;
            }
            match omission {
                Omission::Messages if !self.has_messages => continue,
                Omission::Messages => {
                    omissions.push(omission);
                    let index = self.encoded_index(&encoded.details, &Chunks::default(), &omissions)?;
                    encoded = EncodedSamples { index, messages: Chunks::default(), ..encoded };
                    continue;
                }
                Omission::LongTexts { limit } => {
                    // Some are cut further already.
                    let is_cut = |one: &Omission| matches!(one, Omission::LongTexts { limit: known } if *known <= limit);
                    if omissions.iter().any(is_cut) {
                        continue;
                    }
                    omissions.retain(|known| !matches!(known, Omission::LongTexts { .. }));
                    omissions.push(omission);
                }
                _ if !omissions.contains(&omission) => omissions.push(omission),
                _ => {}
            }
            let smaller = smaller.get_or_insert_with(|| self.clone());
            smaller.samples.values_mut().for_each(|sample| sample.omit(omission));
            encoded = smaller.encoded(Chunks::default(), &omissions)?;
        }
        encoded.omissions = omissions;
        match encoded.size() {
            smallest if smallest > max_bytes => Err(EncodeError::TooLarge { smallest, max_bytes }),
            _ => Ok(encoded),
        }
    }

    fn encoded(&self, messages: Chunks, omissions: &[Omission]) -> Result<EncodedSamples, EncodeError> {
        let details = self.chunks(|sample| serde_json::to_vec(&sample.detail()))?;
        let index = self.encoded_index(&details, &messages, omissions)?;
        Ok(EncodedSamples { index, details, messages, omissions: Vec::new() })
    }

    fn encoded_index(
        &self,
        details: &Chunks,
        messages: &Chunks,
        omissions: &[Omission],
    ) -> Result<String, EncodeError> {
        let mut index = self.index_json();
        if let Some(fields) = index.as_object_mut() {
            let chunks = json!({ "details": details.starts, "messages": messages.starts });
            fields.insert("chunks".to_owned(), chunks);
            let words: Vec<String> = omissions.iter().map(Omission::to_string).collect();
            fields.insert("omissions".to_owned(), json!(words));
        }
        Ok(deflated(&serde_json::to_vec(&index)?)?)
    }

    fn chunks(
        &self,
        json: impl Fn(&AlignedSample) -> serde_json::Result<Vec<u8>>,
    ) -> Result<Chunks, EncodeError> {
        let mut chunks = Chunks::default();
        let (mut chunk, mut count) = (Vec::new(), 0);
        for (at, sample) in self.samples.values().enumerate() {
            if count == 0 {
                chunks.starts.push(at);
            }
            chunk.push(if count == 0 { b'[' } else { b',' });
            chunk.extend(json(sample)?);
            count += 1;
            if count == CHUNK_SAMPLES || chunk.len() >= CHUNK_BYTES || at + 1 == self.len() {
                chunk.push(b']');
                chunks.encoded.push(deflated(&chunk)?);
                chunk.clear();
                count = 0;
            }
        }
        Ok(chunks)
    }
}

fn deflated(bytes: &[u8]) -> std::io::Result<String> {
    let mut encoder = DeflateEncoder::new(Vec::new(), Compression::new(6));
    encoder.write_all(bytes)?;
    Ok(STANDARD.encode(encoder.finish()?))
}

impl EncodedSamples {
    /// The bytes that they take in a page.
    pub fn size(&self) -> usize {
        const ELEMENT: usize = 60;
        self.elements().map(|(_, _, text)| text.len() + ELEMENT).sum()
    }

    /// The script elements, which hold nothing but base64: whatever a log says cannot end one.
    pub fn to_html(&self) -> String {
        let mut html = String::with_capacity(self.size());
        for (name, number, text) in self.elements() {
            let number = number.map(|number| format!("-{number}")).unwrap_or_default();
            // Writing to memory does not fail.
            let _ =
                writeln!(html, "<script type=\"text/plain\" id=\"samples-{name}{number}\">{text}</script>");
        }
        html
    }

    fn elements(&self) -> impl Iterator<Item = (&'static str, Option<usize>, &str)> {
        let details = self.details.encoded.iter().enumerate();
        let messages = self.messages.encoded.iter().enumerate();
        std::iter::once(("index", None, self.index.as_str()))
            .chain(details.map(|(at, text)| ("details", Some(at), text.as_str())))
            .chain(messages.map(|(at, text)| ("messages", Some(at), text.as_str())))
    }
}
