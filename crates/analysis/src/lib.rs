//! Scores of logs and tables in, answers out.
//!
//! A source (a path, a handle, a table in memory) is read into [`Run`]s by one reader, whatever is asked; a request says
//! what is wanted, as a plain value; an [`Answer`] has the result and everything that there is to report, with hints as
//! data. The command line, Python and Rust build the same requests and show the same answers, each in its own words. The
//! alternative, the command line as the interface of all others, made each of them parse what another one had written.
//!
//! ```
//! use errorbar_analysis::setters::*;
//! use errorbar_analysis::{Analysis, ScoreRequest};
//! use errorbar_core::Registry;
//!
//! # let folder = tempfile::tempdir()?;
//! # let path = folder.path().join("scores.csv");
//! std::fs::write(&path, "id,verdict\nq1,PASS\nq2,FAIL\nq3,PASS\n")?;
//! let registry = Registry::built_in();
//! let request = ScoreRequest::default().score_columns(["verdict"]).level(0.9);
//! let answer = Analysis::new(&registry).score(&[path], &request);
//! let report = &answer.value.unwrap_or_default()[0];
//! assert_eq!(report.results.estimate("accuracy")?.number(), Some(2.0 / 3.0));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![forbid(unsafe_code)]

mod compare;
mod coverage;
mod diagnostic;
pub mod export;
pub mod files;
pub mod hints;
mod power;
mod read;
mod request;
mod run;
mod score;
pub mod shell;
mod source;
mod text;
mod verify;

/// The setters that several requests have: what errors, tables, logs and gates need.
pub mod setters {
    pub use crate::power::{BudgetRequestSetters, PilotRequestSetters, SpreadRequestSetters};
    pub use crate::request::errors::{ErrorRequestSetters, GateRequestSetters};
    pub use crate::request::tables::TableRequestSetters;
    pub use crate::request::{LimitRequestSetters, ReadRequestSetters};
}

use std::fmt;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use errorbar_core::Registry;
use errorbar_log::eval::is_log_file;
use errorbar_table::{MemoryTables, TableMapping};

pub use compare::{
    Alignment, CompareRequest, Comparisons, Flip, ListedCount, ListedFlips, Side, SideRequest, Sides,
    named_sides, short_task, text_of,
};
pub use coverage::{CoverageBlock, CoverageRequest};
pub use diagnostic::{
    Diagnostic, DiagnosticKind, Diagnostics, Outcome, Place, Severity, Snippet, SnippetOrigin, all,
};
pub use power::{Counts, PlannedDesign, PlannedGoal, PlannedRow, Plans, PowerRequest, Values};
pub use read::{
    CONFIDENCE, Files, RunRequest, beyond_threshold_problem, has_scored_confidence, partial_run, read_log,
    recovered, report_of_run, status_of_unfinished, unknown_scorer, unused_cluster_of_run,
};
pub use request::errors::check_clusters;
#[cfg(feature = "clap")]
pub use request::one_of;
pub use request::{
    ByteSize, ErrorRequest, GateRequest, LimitRequest, OneOrMany, PlanChanges, ReadRequest, Specs,
    TableRequest, UnconvertiblePolicy, request_from_json,
};
pub use run::{
    Identity, LogSource, PartialRun, Provenance, QUESTION, Report, Run, RunIdentity, StoppedRun, TARGET,
    TableSource, fitting_names, run_names,
};
pub use score::{
    DistributedScore, ScoreRequest, WriteBack, cluster_failures, findings, findings_with, metric_failure,
    too_few_epochs, with_findings,
};
pub use source::{
    DEFAULT_LOG_DIR, InputFiles, LOG_DIR, expand, expand_folder, expand_with, log_dir, newest_first, resolve,
    resolve_in, resolve_model,
};
pub use text::{Opt, OptionUse, Surface, Text};
pub use text::{counted, short, significant};
pub use verify::{LogVerification, VerifyRequest};

/// What came of a request.
#[derive(Debug)]
pub struct Answer<T> {
    /// The result; none if nothing of it could be had.
    pub value: Option<T>,
    /// Everything that there is to report.
    pub diagnostics: Diagnostics,
    /// How it came out: what the exit code of the command says.
    pub outcome: Outcome,
}

impl<T> Answer<T> {
    /// A result with what there is to report.
    pub fn new(value: T, diagnostics: Diagnostics) -> Self {
        let outcome = diagnostics.outcome();
        Answer { value: Some(value), diagnostics, outcome }
    }

    /// No result, and why.
    pub fn failed(diagnostics: Diagnostics) -> Self {
        let outcome = diagnostics.outcome();
        Answer { value: None, diagnostics, outcome }
    }

    fn of(result: Result<(T, Diagnostics), Diagnostics>) -> Self {
        match result {
            Ok((value, diagnostics)) => Answer::new(value, diagnostics),
            Err(diagnostics) => Answer::failed(diagnostics),
        }
    }
}

/// Receives the progress of reading samples; by default it is ignored.
pub trait Progress: Sync {
    /// More samples are to be read.
    fn expect(&self, _samples: usize) {}

    /// One of them was read.
    fn step(&self) {}

    /// Whether anybody looks.
    fn is_shown(&self) -> bool {
        false
    }
}

impl Progress for () {}

/// What requests are answered with: metrics, tables in memory, and who looks at the progress.
#[non_exhaustive]
pub struct Analysis<'a> {
    /// The metrics, reducers and scorers.
    pub registry: &'a Registry,
    /// Tables in memory, which sources name as they would name files.
    pub tables: MemoryTables,
    /// Who looks at the progress.
    pub progress: &'a dyn Progress,
    /// The name of the program, for hints.
    pub program: &'a str,
    /// Whether there are hints that take some more reading, such as keys that nothing is clustered by.
    pub has_hints: bool,
    /// Of several tables, the mapping of the first is saved.
    is_mapping_saved: AtomicBool,
}

impl fmt::Debug for Analysis<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Analysis").field("tables", &self.tables).finish_non_exhaustive()
    }
}

impl<'a> Analysis<'a> {
    /// With these metrics, reducers and scorers.
    pub fn new(registry: &'a Registry) -> Self {
        Analysis {
            registry,
            tables: MemoryTables::default(),
            progress: &(),
            program: "errorbar",
            has_hints: false,
            is_mapping_saved: AtomicBool::new(false),
        }
    }

    /// With these tables, which sources name as they would name files.
    #[must_use]
    pub fn tables(self, tables: MemoryTables) -> Self {
        Analysis { tables, ..self }
    }

    /// What specs are built with.
    pub fn specs(&self) -> Specs<'a> {
        Specs { registry: self.registry, program: self.program }
    }

    /// Whether a path is that of a log, and not the name of a table in memory.
    pub fn is_log(&self, path: &Path) -> bool {
        !self.tables.contains(path) && is_log_file(path)
    }

    /// Saves how the first of several tables was read, if that is asked for. Returns a note with the path.
    ///
    /// # Errors
    /// A file that cannot be written or must not be replaced.
    pub fn save_mapping(
        &self,
        request: &TableRequest,
        mapping: &TableMapping,
    ) -> Result<Option<Diagnostic>, Diagnostic> {
        match request.save_mapping.is_some() && !self.is_mapping_saved.swap(true, Ordering::Relaxed) {
            true => request.save(mapping),
            false => Ok(None),
        }
    }
}
