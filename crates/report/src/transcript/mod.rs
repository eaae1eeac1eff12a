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

/// What of a sample is shown: by default question, target, answer and all verdicts, with long texts cut.
#[derive(Clone, Debug, Default)]
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
    fn shows(&self, scorer: &str) -> bool {
        self.scorers.is_empty() || self.scorers.iter().any(|shown| shown == scorer)
    }
}
