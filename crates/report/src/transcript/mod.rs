//! Samples for people to read: question, target, answer, verdicts, and why.
//!
//! What is shown is decided here once, as [sections](section::Section): a label and paragraphs. The formats only lay
//! them out.

mod json;
mod markdown;
mod section;
mod terminal;
mod verdict;

#[cfg(test)]
mod tests;

pub use verdict::Verdict;
pub(crate) use verdict::{grading, leaves};

/// What of a sample is shown.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct TranscriptView {
    /// Only the verdicts of these scorers; of all if there is none.
    pub scorers: Vec<String>,
    /// The scorers of the log: one of them that a sample has no score of is named.
    pub expected: Vec<String>,
    /// The whole conversation in place of question and answer, and what graders were asked.
    pub conversation: bool,
    /// Long texts are shown whole.
    pub whole: bool,
    /// The epoch is named even where it is the first.
    pub epochs: bool,
}

impl TranscriptView {
    /// Question, target, answer and all verdicts; long texts are cut.
    pub fn new() -> Self {
        TranscriptView::default()
    }

    /// Only the verdicts of these scorers; of all if there is none.
    #[must_use]
    pub fn scorers(mut self, scorers: impl IntoIterator<Item = String>) -> Self {
        self.scorers = scorers.into_iter().collect();
        self
    }

    /// The scorers of the log: one of them that a sample has no score of is named.
    #[must_use]
    pub fn expected(mut self, scorers: impl IntoIterator<Item = String>) -> Self {
        self.expected = scorers.into_iter().collect();
        self
    }

    /// Whether the whole conversation is shown in place of question and answer, and what graders were asked.
    #[must_use]
    pub fn conversation(mut self, conversation: bool) -> Self {
        self.conversation = conversation;
        self
    }

    /// Whether long texts are shown whole.
    #[must_use]
    pub fn whole(mut self, whole: bool) -> Self {
        self.whole = whole;
        self
    }

    /// Whether the epoch is named even where it is the first.
    #[must_use]
    pub fn epochs(mut self, epochs: bool) -> Self {
        self.epochs = epochs;
        self
    }

    fn shows(&self, scorer: &str) -> bool {
        self.scorers.is_empty() || self.scorers.iter().any(|shown| shown == scorer)
    }
}
