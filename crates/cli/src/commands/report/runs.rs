//! One run of the page: evaluated, with what its log records.

use std::collections::HashSet;
use std::sync::Arc;

use errorbar_analysis::{ErrorRequest, LogSource, Provenance, Side, cluster_failures, too_few_epochs};
use errorbar_core::{Plan, ScoreColumns};
use errorbar_log::eval::LogError;
use errorbar_report::html::{PageRun, RunFacts};
use errorbar_report::samples::{LogContents, SampleSetBuilder};
use errorbar_report::{ChanceLevel, Report};

use crate::commands::logs;
use crate::diagnostic::{Diagnostic, Diagnostics};

/// A run with what the page refers to.
pub(super) struct Run {
    name: String,
    report: Report,
    columns: ScoreColumns,
    plan: Plan,
    facts: RunFacts,
    /// The log, of which the samples are read; none for a table and for a part of a log.
    log: Option<Arc<LogSource>>,
}

impl Run {
    /// Evaluates an input.
    pub(super) fn new(
        side: Side,
        errors: &ErrorRequest,
        diagnostics: &mut Diagnostics,
    ) -> Result<Self, Diagnostics> {
        let Side { name, task, run, .. } = side;
        let title = run.title();
        let known = if errors.clusters.is_empty() { Vec::new() } else { run.known_keys() };
        let about = |diagnostic: Diagnostic| diagnostic.about(run.identity.path.display());
        let mut results = match run.recorded() {
            Some(recorded) => recorded.clone(),
            None => run.plan.evaluate(&run.scores).map_err(|error| about(error.into()))?.results,
        };
        let unclustered = cluster_failures(&title, &known, &mut results, errors);
        if !unclustered.is_empty() {
            return Err(unclustered);
        }
        diagnostics.extend(too_few_epochs(&results, &run.plan).map(about));
        let path = &run.identity.path;
        let mut facts = run.log().map(|source| logs::run_facts(path, &source.header)).unwrap_or_default();
        facts.file = path.display().to_string();
        facts.chance = ChanceLevel::of_rows(&run.scores, &run.choice_counts());
        let mut report = run.report(results);
        report.log = path.display().to_string();
        report.task = task.or(report.task);
        let log = match &run.provenance {
            Provenance::Log(source) => Some(Arc::clone(source)),
            _ => None,
        };
        Ok(Run { name, report, columns: run.scores, plan: run.plan, facts, log })
    }

    /// Adds its samples to those of the page: all, or those with these ids.
    pub(super) fn add_samples(
        &self,
        samples: &mut SampleSetBuilder,
        listed: Option<&HashSet<&str>>,
    ) -> Result<(), LogError> {
        let is_listed = |id: &str| listed.is_none_or(|listed| listed.contains(id));
        match &self.log {
            Some(source) => {
                samples.add_log(&self.name, &source.log, LogContents::Messages, |id, _| match listed {
                    None => true,
                    Some(_) => is_listed(&id.to_string()),
                })
            }
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
