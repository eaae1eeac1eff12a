//! The results of one run, with what is known of it.

use std::collections::BTreeMap;

use errorbar_core::Results;
use serde::Serialize;

/// The results of one log or table, and where they come from.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct Report {
    /// The path, as it was given.
    pub log: String,
    /// The number of rows of a table as it is in the file, where that is not the number of samples and epochs.
    pub rows: Option<usize>,
    /// The task, where it is known.
    pub task: Option<String>,
    /// The model, where it is known.
    pub model: Option<String>,
    /// How the run ended, if it did not reach its end.
    pub partial_run: Option<PartialRun>,
    /// How many samples times epochs could not be read and are in no figure.
    pub skipped: usize,
    /// How many samples times epochs a limit ended and were judged as they were, by its kind: `token`, `time` and so on.
    pub limits: BTreeMap<String, usize>,
    /// The rule that stopped the run early, if one did.
    pub early_stop: Option<StoppedRun>,
    /// The model that graded its own answers, if it did.
    pub self_graded: Option<String>,
    /// Whether the results are those of an earlier run, which was complete.
    pub earlier_run: bool,
    /// Whether the figures are those that the log records, because it has no samples.
    pub recorded: bool,
    /// The results.
    pub results: Results,
}

impl Report {
    /// The results of a table, which knows neither task nor model.
    pub fn new(log: impl Into<String>, results: Results) -> Self {
        Report { log: log.into(), results, ..Report::default() }
    }

    /// The same of a task and a model.
    #[must_use]
    pub fn of_run(mut self, task: impl Into<String>, model: impl Into<String>) -> Self {
        self.task = Some(task.into());
        self.model = Some(model.into());
        self
    }
}

/// A run that did not reach its end: its results are over a part of the samples.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PartialRun {
    /// How it ended: `cancelled`, `error`, or `started` if that is unknown.
    pub status: String,
    /// How many samples times epochs it should have had, where that is known.
    pub planned: Option<usize>,
}

/// A run that a rule stopped early: its estimates are for all the samples that were planned.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct StoppedRun {
    /// The rule that held.
    pub rule: String,
    /// Why it held, in words.
    pub reason: String,
    /// The number of samples that the run took.
    pub samples: u64,
    /// The number of samples that were planned.
    pub planned: u64,
}
