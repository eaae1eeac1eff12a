//! The details of a sample: texts, answers, scores and why they are what they are.

use serde::Serialize;
use serde_json::{Value as Json, json};

use super::epoch_record::{EpochRecord, PageMessage, ScoreRecord};
use super::long_text::LongText;
use super::{AlignedSample, SampleSet, SampleTexts};

/// A sample with everything but its conversations.
#[derive(Serialize)]
pub(super) struct SampleDetail<'a> {
    #[serde(flatten)]
    texts: &'a SampleTexts,
    /// Per run, per epoch.
    runs: &'a [Vec<Option<EpochRecord>>],
}

/// The conversations of a sample: per run, per epoch.
#[derive(Serialize)]
pub(super) struct SampleMessages<'a> {
    runs: Vec<Vec<Option<&'a [PageMessage]>>>,
}

impl AlignedSample {
    pub(super) fn detail(&self) -> SampleDetail<'_> {
        SampleDetail { texts: &self.texts, runs: &self.records }
    }

    pub(super) fn messages(&self) -> SampleMessages<'_> {
        SampleMessages {
            runs: self.records.iter().map(|records| records.iter().map(messages).collect()).collect(),
        }
    }

    /// The same without what scorers wrote.
    pub(super) fn drop_explanations(&mut self) {
        for score in self.scores_mut() {
            score.explanation = None;
            score.grading = Vec::new();
            score.metadata = Vec::new();
        }
    }

    /// The same with long texts cut.
    pub(super) fn shorten(&mut self, limit: usize) {
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
}

fn messages(record: &Option<EpochRecord>) -> Option<&[PageMessage]> {
    record.as_ref().map(|record| record.messages.as_slice())
}

impl SampleSet {
    /// Everything about one sample, as a server sends it: `detail`, and `messages` if they were read.
    pub fn sample_json(&self, id: &str) -> Option<Json> {
        let sample = self.samples.get(id)?;
        let messages = self.has_messages.then(|| sample.messages());
        Some(json!({ "detail": sample.detail(), "messages": messages }))
    }
}
