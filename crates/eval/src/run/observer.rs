//! Who watches a run.

use std::path::Path;

use errorbar_log::eval::Transcript;

use super::running::RunningFigures;
use super::stopping::SequenceProgress;

/// How far a run is.
#[derive(Debug)]
#[non_exhaustive]
pub struct Progress<'a> {
    /// Samples times epochs whose records are in the log, failed ones among them.
    pub done: usize,
    /// Those of them that an earlier run has done, if it is resumed.
    pub resumed: usize,
    /// Those that failed.
    pub failed: usize,
    /// All there are to do.
    pub total: usize,
    /// The figures so far.
    pub running: &'a mut RunningFigures,
    /// How far the confidence sequence is that may stop the run early.
    pub sequence: Option<SequenceProgress>,
}

/// Watches a run. Every method has an empty default.
pub trait Observer: Send + Sync {
    /// The run begins: the task, its model, the log, how many samples times epochs there are, and how many of them an
    /// earlier run has done.
    fn started(&self, _task: &str, _model: &str, _log: &Path, _total: usize, _resumed: usize) {}

    /// A sample is done: its record is in the log. Called for each, from one thread.
    fn sample_done(&self, _progress: Progress<'_>) {}

    /// A sample failed; `sample_done` follows.
    fn sample_failed(&self, _sample: &str, _epoch: u32, _problem: &str) {}

    /// A sample that is in the log, as people read it; `sample_done` follows. Called for each if it
    /// [wants](Observer::wants_transcripts) them, from one thread.
    fn sample_transcript(&self, _transcript: &Transcript) {}

    /// Whether it wants samples as people read them, which takes some time for each.
    fn wants_transcripts(&self) -> bool {
        false
    }

    /// Whether it will request the figures of a run in progress, which takes some memory.
    fn wants_figures(&self) -> bool {
        false
    }

    /// The run has ended; results are being computed.
    fn ended(&self) {}
}

/// Watches nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct Quiet;

impl Observer for Quiet {}
