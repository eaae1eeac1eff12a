//! What people look at: results as terminal tables, markdown, CSV and JSON.
//!
//! One format, one file, one trait ([`Render`]). The formats for people ([`Table`], [`Markdown`]) share
//! the rows of `rows.rs`, which decide what stands beside what; the formats for machines ([`Json`],
//! [`Csv`]) write the results as they are. Nothing here computes a statistic, and nothing knows whether
//! it writes to a terminal: colour and width are said by the caller. Names may hold anything. A [`Table`] is for
//! terminals, so it is [`clean`]; every other format keeps names as they are, as they may be read again, and
//! whoever shows one of them on a terminal cleans it on the way there.
//!
//! ```
//! use errorbar_core::{Plan, Score, ScoreColumns, results};
//! use errorbar_report::{Render, Report, Table};
//!
//! let mut columns = ScoreColumns::new(["match"]);
//! for (id, grade) in [("q1", "C"), ("q2", "I"), ("q3", "C"), ("q4", "C")] {
//!     columns.push(id, 1).score("match", Score::new(grade))?;
//! }
//! let report = Report::new("quiz.csv", results(&columns, &Plan::new())?);
//! let text = Table::default().to_text(&[report]);
//! assert!(text.contains("accuracy  0.75 ± 0.25"), "{text}");
//! # Ok::<(), errorbar_core::Error>(())
//! ```
#![forbid(unsafe_code)]

mod bar;
mod csv;
mod headline;
mod json;
mod layout;
mod markdown;
mod number;
mod pairs;
mod rows;
mod side_by_side;
mod table;
mod text;

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::io;

use errorbar_core::Results;

pub use csv::Csv;
pub use headline::Figure;
pub use json::Json;
pub use markdown::{Markdown, escape as escape_markdown};
pub use side_by_side::SideBySide;
pub use table::Table;
pub use text::{REPLACEMENT, clean, is_unsafe, width, wrap};

/// The results of one log or table, and where they come from.
#[derive(Debug, Clone)]
pub struct Report {
    /// The path, as it was given.
    pub log: String,
    /// The task, where it is known.
    pub task: Option<String>,
    /// The model, where it is known.
    pub model: Option<String>,
    /// How the run ended, if it did not reach its end.
    pub unfinished: Option<Unfinished>,
    /// How many samples times epochs could not be read and are in no figure.
    pub skipped: usize,
    /// How many samples times epochs a limit ended and were judged as they were, by its kind: `token`, `time` and so on.
    pub limits: BTreeMap<String, usize>,
    /// The results.
    pub results: Results,
}

impl Report {
    /// The results of a table, which knows neither task nor model.
    pub fn new(log: impl Into<String>, results: Results) -> Self {
        Report {
            log: log.into(),
            task: None,
            model: None,
            unfinished: None,
            skipped: 0,
            limits: BTreeMap::new(),
            results,
        }
    }

    /// The same of a task and a model.
    #[must_use]
    pub fn of_run(mut self, task: impl Into<String>, model: impl Into<String>) -> Self {
        self.task = Some(task.into());
        self.model = Some(model.into());
        self
    }

    /// Says that the run did not reach its end.
    #[must_use]
    pub fn unfinished(mut self, unfinished: Option<Unfinished>) -> Self {
        self.unfinished = unfinished;
        self
    }

    /// Says how many samples could not be read.
    #[must_use]
    pub fn skipped(mut self, skipped: usize) -> Self {
        self.skipped = skipped;
        self
    }

    /// Says how many samples a limit ended, by its kind.
    #[must_use]
    pub fn limits(mut self, limits: BTreeMap<String, usize>) -> Self {
        self.limits = limits;
        self
    }

    /// The same for people.
    pub(crate) fn limits_met(&self) -> impl Iterator<Item = String> {
        self.limits.iter().map(|(kind, count)| format!("{count} met the {kind} limit"))
    }
}

/// A run that did not reach its end: its results are over a part of the samples.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unfinished {
    /// How it ended: `cancelled`, `error`, or `started` if nobody knows.
    pub status: String,
    /// How many samples times epochs it should have had, where that is known.
    pub planned: Option<usize>,
}

/// A format that results can be written in.
pub trait Render {
    /// Writes the results of several logs or tables, in order.
    fn render(&self, reports: &[Report], out: &mut dyn io::Write) -> io::Result<()>;

    /// The same as a text.
    fn to_text(&self, reports: &[Report]) -> String {
        let mut bytes = Vec::new();
        // Writing to memory does not fail; what a format refuses to write is simply not there.
        let _ = self.render(reports, &mut bytes);
        String::from_utf8_lossy(&bytes).into_owned()
    }
}
