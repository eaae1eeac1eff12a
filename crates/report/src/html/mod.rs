//! A report as one page of HTML that needs nothing else: no network, no other file, no script for its figures and tables.

use errorbar_core::{Plan, ScoreColumns};

use crate::Report;

/// What a page is made of.
#[derive(Debug, Clone, Default)]
pub struct Page<'a> {
    /// The heading; the task if it is empty.
    pub title: String,
    /// The runs, in the order of their colours.
    pub runs: Vec<PageRun<'a>>,
    /// The data of the sample browser, as markup; none leaves it out.
    pub samples: Option<String>,
}

/// One log, one table, or a part of one.
#[derive(Debug, Clone)]
pub struct PageRun<'a> {
    /// The shortest name that is unambiguous among the runs of its task.
    pub name: String,
    /// Its results, and what is to be known about the run.
    pub report: &'a Report,
    /// The scores that they are of.
    pub columns: &'a ScoreColumns,
    /// How they were computed.
    pub plan: &'a Plan,
    /// What a log records besides.
    pub facts: RunFacts,
}

/// What a log records about its run, as far as it is known; all empty for a table.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct RunFacts {
    /// The file.
    pub file: String,
    /// When the run was made, by RFC 3339.
    pub created: Option<String>,
    /// The version of errorbar, or the package that made the log.
    pub version: Option<String>,
    /// The version of the task.
    pub task_version: Option<String>,
    /// `success`, `cancelled`, `error`, `started`.
    pub status: Option<String>,
    /// Tokens read and written by the model.
    pub tokens: Option<u64>,
    /// What the run cost, in US dollars.
    pub cost: Option<f64>,
    /// How long it took, in seconds.
    pub seconds: Option<f64>,
}
