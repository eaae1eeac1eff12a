//! Samples in a page: JSON, compressed, in script elements that no browser runs.

use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt::Write as _;
use std::io::Write as _;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use errorbar_core::IndexMap;
use flate2::Compression;
use flate2::write::DeflateEncoder;
use maud::{Markup, PreEscaped, html};
use serde::Serialize;
use serde_json::{Value as Json, json};

use super::epoch_record::{LongText, PageMessage, ScoreRecord};
use super::{AlignedSample, EpochRecord, Outcome, OutcomeVerdict, SampleRun, SampleSet, SampleTexts};
use crate::text::counted;

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
        let mut set = Cow::Borrowed(self);
        let mut encoded = set.encoded()?;
        for omission in OMISSIONS {
            if encoded.size() <= max_bytes {
                break;
            }
            if set.to_mut().omit(omission) {
                encoded = set.encoded()?;
            }
        }
        match encoded.size() {
            smallest if smallest > max_bytes => Err(EncodeError::TooLarge { smallest, max_bytes }),
            _ => Ok(encoded),
        }
    }

    fn encoded(&self) -> Result<EncodedSamples, EncodeError> {
        let details = self.chunks(serde_json::to_vec)?;
        let messages = match self.has_messages {
            true => self.chunks(|sample| serde_json::to_vec(&sample.messages()))?,
            false => Chunks::default(),
        };
        let mut index = self.index_json();
        let chunks = json!({ "details": details.starts, "messages": messages.starts });
        index.as_object_mut().map(|fields| fields.insert("chunks".to_owned(), chunks));
        let index = deflated(&serde_json::to_vec(&index)?)?;
        Ok(EncodedSamples { index, details, messages, omissions: self.omissions.clone() })
    }

    /// Leaves something out of all samples; false if it was left out already.
    fn omit(&mut self, omission: Omission) -> bool {
        let is_cut = |to: usize| matches!(omission, Omission::LongTexts { limit } if to <= limit);
        let is_omitted = match omission {
            Omission::Messages => !self.has_messages,
            _ => self
                .omissions
                .iter()
                .any(|known| matches!(known, Omission::LongTexts { limit } if is_cut(*limit))),
        };
        if is_omitted {
            return false;
        }
        self.samples.values_mut().for_each(|sample| sample.omit(omission));
        self.has_messages &= omission != Omission::Messages;
        self.omissions.retain(|known| *known != omission && !matches!(known, Omission::LongTexts { .. }));
        self.omissions.push(omission);
        true
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

// The JSON of samples: the index of all, and everything about one.

/// The number that says how the JSON is laid out.
const VERSION: u32 = 1;

impl Outcome {
    fn without_value(verdict: OutcomeVerdict) -> Self {
        Outcome { verdict, value: None, number: None, reason: None }
    }
}

/// Gives every sample the numbers of its outcomes.
pub(super) fn add_outcomes(set: &mut SampleSet) {
    let mut known: HashMap<String, u32> = HashMap::new();
    let mut outcomes = Vec::new();
    let mut code = |outcome: &Outcome| {
        let Outcome { verdict, value, number, reason } = outcome;
        let key = format!("{verdict:?}\0{value:?}\0{number:?}\0{reason:?}");
        *known.entry(key).or_insert_with(|| {
            outcomes.push(outcome.clone());
            u32::try_from(outcomes.len() - 1).unwrap_or(u32::MAX)
        })
    };
    let (errored, absent) = (OutcomeVerdict::Errored, OutcomeVerdict::Absent);
    for sample in set.samples.values_mut() {
        let mut cells = Vec::new();
        for column in &set.columns {
            for record in sample.records.iter().flatten() {
                let of_scorer = record.iter().flat_map(EpochRecord::outcomes);
                let mut found = of_scorer.filter(|(scorer, field, _)| {
                    // What a scorer says without fields is about all of them.
                    *scorer == column.scorer && (field.is_none() || *field == column.field.as_deref())
                });
                cells.push(match (found.next(), record) {
                    (Some((_, _, outcome)), _) => code(outcome),
                    (None, Some(record)) if record.error.is_some() => code(&Outcome::without_value(errored)),
                    (None, _) => code(&Outcome::without_value(absent)),
                });
            }
        }
        sample.cells = cells;
    }
    set.outcomes = outcomes;
}

impl SampleSet {
    /// The index as JSON; its fields are documented in `assets/types.js`.
    pub fn index_json(&self) -> Json {
        let mut answers: IndexMap<String, ()> = IndexMap::new();
        let (mut limits, mut answers_of_samples) = (Vec::new(), Vec::new());
        for (at, sample) in self.samples.values().enumerate() {
            let found = sample.records.iter().flatten().map(|record| {
                let answer = record.as_ref()?.short_answer()?;
                Some(answers.insert_full(answer, ()).0)
            });
            answers_of_samples.push(found.collect::<Vec<_>>());
            for (run, (SampleRun { epochs, .. }, records)) in
                self.runs.iter().zip(&sample.records).enumerate()
            {
                for (epoch, record) in epochs.iter().zip(records) {
                    let limit = record.as_ref().and_then(|record| record.limit.as_ref());
                    limits
                        .extend(limit.map(
                            |limit| json!({ "sample": at, "run": run, "epoch": epoch, "limit": limit }),
                        ));
                }
            }
        }
        let samples = || self.samples.values();
        json!({
            "version": VERSION,
            "tasks": self.has_tasks,
            "runs": self.runs,
            "columns": self.columns,
            "outcomes": self.outcomes,
            "groups": self.groups,
            "answers": answers.keys().collect::<Vec<_>>(),
            "limits": limits,
            "omissions": self.omissions.iter().map(ToString::to_string).collect::<Vec<_>>(),
            // Columns over samples.
            "samples": {
                "id": self.ids().collect::<Vec<_>>(),
                "preview": samples().map(|sample| &sample.preview).collect::<Vec<_>>(),
                // Score columns × runs × epochs of the run, an index into `outcomes`.
                "cells": samples().map(|sample| &sample.cells).collect::<Vec<_>>(),
                // Of each group key, an index into its values.
                "groups": samples().map(|sample| &sample.groups).collect::<Vec<_>>(),
                // Runs × epochs, an index into `answers`.
                "answers": answers_of_samples,
            },
        })
    }

    /// Everything about one sample, as a server sends it: `detail`, and `messages` if they were read.
    pub fn sample_json(&self, id: &str) -> Option<Json> {
        let sample = self.samples.get(id)?;
        let messages = self.has_messages.then(|| sample.messages());
        Some(json!({ "detail": sample, "messages": messages }))
    }
}

/// The conversations of a sample: per run, per epoch.
#[derive(Serialize)]
pub(super) struct SampleMessages<'a> {
    runs: Vec<Vec<Option<&'a [PageMessage]>>>,
}

impl AlignedSample {
    pub(super) fn messages(&self) -> SampleMessages<'_> {
        SampleMessages {
            runs: self.records.iter().map(|records| records.iter().map(messages).collect()).collect(),
        }
    }
}

fn messages(record: &Option<EpochRecord>) -> Option<&[PageMessage]> {
    record.as_ref().map(|record| record.messages.as_slice())
}

// How much is held of the texts of samples: long ones are left out as they come, in the order in which they are left out
// of a page that may not be larger.

/// What is left out, one after the other.
pub(super) const OMISSIONS: [Omission; 5] = [
    Omission::Messages,
    Omission::Explanations,
    Omission::LongTexts { limit: 2_000 },
    Omission::LongTexts { limit: 400 },
    Omission::LongTexts { limit: 100 },
];

/// The bytes that texts may have.
#[derive(Debug)]
pub(super) struct TextBudget {
    most: usize,
    held: usize,
    /// How many of the omissions are made.
    omitted: usize,
}

impl Default for TextBudget {
    /// Without bounds.
    fn default() -> Self {
        TextBudget::new(usize::MAX)
    }
}

impl TextBudget {
    /// This number of bytes, as JSON.
    pub(super) fn new(most: usize) -> Self {
        TextBudget { most, held: 0, omitted: 0 }
    }

    fn omitted(&self) -> &'static [Omission] {
        OMISSIONS.get(..self.omitted).unwrap_or_default()
    }

    /// Whether conversations are still held.
    pub(super) fn has_messages(&self) -> bool {
        self.omitted == 0
    }

    /// Whether it does not suffice, whatever is left out.
    pub(super) fn is_exceeded(&self) -> bool {
        self.held > self.most
    }

    /// Counts a sample, without what is left out of all.
    pub(super) fn take(&mut self, texts: SampleTexts, record: EpochRecord) -> (SampleTexts, EpochRecord) {
        if self.most == usize::MAX {
            return (texts, record);
        }
        let mut sample =
            AlignedSample { texts, records: vec![vec![Some(record)]], ..AlignedSample::default() };
        self.omitted().iter().for_each(|omission| sample.omit(*omission));
        self.held += sample.text_bytes();
        let record = sample.records.pop().and_then(|mut records| records.pop()).flatten();
        (sample.texts, record.unwrap_or_default())
    }

    /// Leaves more out of samples until they fit.
    pub(super) fn fit(&mut self, set: &mut SampleSet) {
        while self.is_exceeded()
            && let Some(omission) = OMISSIONS.get(self.omitted).copied()
        {
            self.omitted += 1;
            set.omit(omission);
            self.held = set.samples.values().map(AlignedSample::text_bytes).sum();
        }
    }
}

impl AlignedSample {
    pub(super) fn omit(&mut self, omission: Omission) {
        match omission {
            Omission::Messages => {
                let records = self.records.iter_mut().flatten().flatten();
                records.for_each(|record| record.messages = Vec::new());
            }
            Omission::Explanations => self.drop_explanations(),
            Omission::LongTexts { limit } => self.shorten(limit),
            Omission::Samples { .. } => {}
        }
    }

    /// The same without what scorers wrote.
    fn drop_explanations(&mut self) {
        for score in self.scores_mut() {
            score.explanation = None;
            score.grading = Vec::new();
            score.metadata = Vec::new();
        }
    }

    /// The same with long texts cut.
    fn shorten(&mut self, limit: usize) {
        let cut = |text: &mut LongText| *text = text.shorten(limit);
        let cut_parts = |messages: &mut Vec<PageMessage>| {
            messages.iter_mut().flat_map(|message| &mut message.parts).for_each(|part| cut(&mut part.text));
        };
        cut_parts(&mut self.texts.input);
        self.texts.choices.iter_mut().chain(&mut self.texts.target).for_each(cut);
        self.texts.metadata.iter_mut().for_each(|(_, value)| cut(value));
        for record in self.records.iter_mut().flatten().flatten() {
            record.answer.iter_mut().chain(&mut record.error).for_each(cut);
            record.input.iter_mut().for_each(cut_parts);
        }
        for score in self.scores_mut() {
            score.answer.iter_mut().for_each(cut);
        }
    }

    fn scores_mut(&mut self) -> impl Iterator<Item = &mut ScoreRecord> {
        self.records.iter_mut().flatten().flatten().flat_map(|record| &mut record.scores)
    }

    /// The bytes of its texts as JSON.
    fn text_bytes(&self) -> usize {
        let records = self.records.iter().flatten().flatten();
        let of_records = records.map(|record| json_bytes(record) + json_bytes(&record.messages));
        json_bytes(&self.texts) + of_records.sum::<usize>()
    }
}

/// How long the JSON of a value is. What cannot be written is not written later either.
fn json_bytes(value: &impl Serialize) -> usize {
    serde_json::to_vec(value).map_or(0, |json| json.len())
}

// The controls of the sample browser, as markup; `assets/browser.js` fills them.

/// The verdicts in the order of the key, the class of their squares, and what they mean.
const KEY: [(OutcomeVerdict, &str, &str); 8] = [
    (OutcomeVerdict::Right, "C", "right"),
    (OutcomeVerdict::Partial, "P", "partly right"),
    (OutcomeVerdict::Wrong, "I", "wrong"),
    (OutcomeVerdict::NoAnswer, "N", "no answer found, counts as wrong"),
    (OutcomeVerdict::Other, "O", "other value"),
    (OutcomeVerdict::Unscored, "U", "unscored"),
    (OutcomeVerdict::Errored, "E", "errored"),
    (OutcomeVerdict::Absent, "A", "absent"),
];

impl SampleSet {
    /// What the squares of these samples mean, for the heading of the section.
    pub fn key_html(&self) -> String {
        key(|verdict| self.outcomes.iter().any(|outcome| outcome.verdict == verdict))
    }
}

/// What squares mean, where the samples are not known yet.
pub fn whole_key_html() -> String {
    key(|_| true)
}

fn key(is_used: impl Fn(OutcomeVerdict) -> bool) -> String {
    let used = KEY.iter().filter(|(verdict, ..)| is_used(*verdict));
    html! { p.key.m0 { @for (_, class, words) in used { span { i class={ "v " (class) } {} (words) } } } }
        .into_string()
}

/// The browser without its data, for the section `samples` of a page, or of one whose server has the samples.
pub fn section_html(is_served: bool) -> Markup {
    let origin = if is_served { "server" } else { "page" };
    PreEscaped(SECTION.replace("{origin}", origin).replace('\n', ""))
}

const SECTION: &str = r##"<div class="br noprint" id="br" data-origin="{origin}" hidden>
<div class="ctl"><input type="search" id="q" placeholder="Search id, text, answers" aria-label="Search samples" autocomplete="off" spellcheck="false">
<select id="fshow" aria-label="Show"></select>
<select id="fsort" aria-label="Order"></select>
<button class="btn" type="button" id="fmore" aria-expanded="false" aria-controls="fpanel">Filters</button>
<button class="btn" type="button" id="fpair" hidden></button>
<button class="btn" type="button" id="fclear" hidden>Clear</button>
<span class="count" id="count" role="status"></span>
<button class="btn" type="button" id="fcsv">CSV</button></div>
<div class="ctl more" id="fpanel" role="group" aria-label="More filters" hidden></div>
<p class="note omit" id="omit" hidden></p>
<div class="panes"><div class="list" id="list" role="listbox" tabindex="0" aria-label="Samples"></div><div class="det" id="det" role="region" aria-label="Sample" tabindex="-1"></div></div>
<div class="hints" id="hints"><span><kbd>↑</kbd><kbd>↓</kbd> or <kbd>j</kbd><kbd>k</kbd> sample</span><span><kbd>/</kbd> search</span><span><kbd>d</kbd> next disagreement</span><span><kbd>m</kbd> messages</span><button class="btn" type="button" id="keysopen"><kbd>?</kbd> all keys</button></div></div>
<noscript><p class="note">Without scripts the samples are not shown; all figures above are.</p></noscript>
<dialog id="keys" aria-labelledby="h-keys"><h3 id="h-keys">Keys</h3><table><tbody>
<tr><th scope="row"><kbd>↑</kbd> <kbd>↓</kbd> <kbd>j</kbd> <kbd>k</kbd></th><td>previous, next sample</td></tr>
<tr><th scope="row"><kbd>Home</kbd> <kbd>End</kbd></th><td>first, last sample</td></tr>
<tr><th scope="row"><kbd>/</kbd></th><td>search</td></tr>
<tr><th scope="row"><kbd>d</kbd></th><td>next sample on which models or epochs disagree</td></tr>
<tr><th scope="row"><kbd>m</kbd></th><td>open or close messages</td></tr>
<tr><th scope="row"><kbd>Esc</kbd></th><td>clear the filters</td></tr>
<tr><th scope="row"><kbd>?</kbd></th><td>this list</td></tr></tbody></table>
<p class="note"><label><input type="checkbox" id="keyson" checked> single letters are keys</label></p><p><button class="btn" type="button" id="keysx">Close</button></p></dialog>
"##;
