//! How much is held of the texts of samples: long ones are left out as they come, in the order in which they are left out
//! of a page that may not be larger.

use serde::Serialize;

use super::epoch_record::{PageMessage, ScoreRecord};
use super::long_text::LongText;
use super::{AlignedSample, EpochRecord, Omission, SampleSet, SampleTexts};

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
            set.samples.values_mut().for_each(|sample| sample.omit(omission));
            self.held = set.samples.values().map(AlignedSample::text_bytes).sum();
            if omission != Omission::Messages || set.has_messages {
                set.omissions.retain(|known| !matches!(known, Omission::LongTexts { .. }));
                set.omissions.push(omission);
            }
            set.has_messages = false;
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

/// How long the JSON of a value is.
fn json_bytes(value: &impl Serialize) -> usize {
    struct Counter(usize);

    impl std::io::Write for Counter {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0 += bytes.len();
            Ok(bytes.len())
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    let mut counter = Counter(0);
    // What cannot be written is not written later either.
    let _ = serde_json::to_writer(&mut counter, value);
    counter.0
}
