//! One run of the page: evaluated, with what its log records.

use std::collections::HashSet;

use errorbar_core::{Plan, ScoreColumns};
use errorbar_log::eval::{EvalLog, LogError};
use errorbar_report::Report;
use errorbar_report::html::{PageRun, RunFacts};
use errorbar_report::samples::{LogContents, SampleSetBuilder};

use crate::commands::error_args::ErrorArgs;
use crate::commands::findings::cluster_failures;
use crate::commands::inputs::read::Input;
use crate::commands::inputs::sides::Side;
use crate::commands::logs;
use crate::commands::score::too_few_epochs;
use crate::diagnostic::{Diagnostic, Diagnostics};

/// A run with what the page refers to.
pub(super) struct Run {
    name: String,
    report: Report,
    columns: ScoreColumns,
    plan: Plan,
    facts: RunFacts,
    /// The log, of which the samples are read; none for a table and for a part of a log.
    log: Option<EvalLog>,
}

impl Run {
    /// Evaluates an input.
    pub(super) fn new(
        side: Side,
        errors: &ErrorArgs,
        diagnostics: &mut Diagnostics,
    ) -> Result<Self, Diagnostics> {
        let Side { name, task, input } = side;
        let (title, known) =
            (input.title(), if errors.has_clusters() { input.known_keys() } else { Vec::new() });
        let Input {
            path, columns, recorded, plan, chance, record, model, rows, log, task: full_task, ..
        } = input;
        let is_recorded = recorded.is_some();
        let about = |diagnostic: Diagnostic| diagnostic.about(path.display());
        let mut results = match recorded {
            Some(recorded) => recorded,
            None => plan.evaluate(&columns).map_err(|error| about(error.into()))?.results,
        };
        let unclustered = cluster_failures(&title, &known, &mut results, errors);
        if !unclustered.is_empty() {
            return Err(unclustered);
        }
        diagnostics.extend(too_few_epochs(&results, &plan).map(about));
        let mut facts =
            record.as_ref().map(|record| logs::run_facts(&path, &record.header)).unwrap_or_default();
        facts.file = path.display().to_string();
        facts.chance = chance;
        let mut report = match record {
            Some(record) => logs::report(&path, &record.header, (record.skipped, record.limits), results),
            None => Report::new(path.display().to_string(), results),
        };
        (report.rows, report.recorded) = (rows, is_recorded);
        report.task = task.or(full_task);
        report.model = model;
        Ok(Run { name, report, columns, plan, facts, log })
    }

    /// Adds its samples to those of the page: all, or those with these ids.
    pub(super) fn add_samples(
        &self,
        samples: &mut SampleSetBuilder,
        listed: Option<&HashSet<&str>>,
    ) -> Result<(), LogError> {
        let is_listed = |id: &str| listed.is_none_or(|listed| listed.contains(id));
        match &self.log {
            Some(log) => samples.add_log(&self.name, log, LogContents::Messages, |id, _| match listed {
                None => true,
                Some(_) => is_listed(&id.to_string()),
            }),
            None => {
                samples.add_rows(&self.name, &self.columns, is_listed);
                Ok(())
            }
        }
    }

    /// The largest number of epochs of a sample.
    pub(super) fn epochs(&self) -> usize {
        self.columns.sample_index().max_rows()
    }

    /// The ids of its rows.
    pub(super) fn ids(&self) -> impl Iterator<Item = &str> {
        (0..self.columns.len()).map(|row| self.columns.id(row))
    }

    /// The task, if it is known.
    pub(super) fn task(&self) -> Option<&str> {
        self.report.task.as_deref()
    }

    /// The metadata keys that were read.
    pub(super) fn metadata_keys(&self) -> impl Iterator<Item = &str> {
        self.columns.metadata_keys()
    }

    /// What the page shows.
    pub(super) fn of_page(&self) -> PageRun<'_> {
        PageRun {
            name: self.name.clone(),
            report: &self.report,
            columns: &self.columns,
            plan: &self.plan,
            facts: self.facts.clone(),
        }
    }
}
