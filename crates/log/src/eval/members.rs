//! The names of the members of a log.

/// What is known when a run starts.
pub(super) const START: &str = "_journal/start.json";
/// What is known when it has ended.
pub(super) const HEADER: &str = "header.json";
/// A short form of every sample.
pub(super) const SUMMARIES: &str = "summaries.json";
/// One score per sample, for each scorer and reducer.
pub(super) const REDUCTIONS: &str = "reductions.json";
/// Where samples are.
pub(super) const SAMPLES: &str = "samples/";

/// The short forms that were written with one flush.
pub(super) fn journal_summaries(number: usize) -> String {
    format!("_journal/summaries/{number}.json")
}

/// Whether a member is a journal of short forms.
pub(super) fn is_journal_summaries(name: &str) -> bool {
    name.starts_with("_journal/summaries/")
}

/// Whether a member is made of the samples when a run ends.
pub(super) fn is_derived(name: &str) -> bool {
    matches!(name, HEADER | SUMMARIES | REDUCTIONS)
}
