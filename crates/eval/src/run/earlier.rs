//! Runs that were made before, so that a set of evaluations is continued where it was interrupted.

use std::path::Path;

use errorbar_log::eval::{EvalLog, LogLimits, STOP_WHEN, STOPPED_EARLY, Status, StoppedEarly};
use serde_json::json;

use super::conclude::FinishedRun;
use super::observer::Observer;
use super::prepare::PreparedTask;
use super::resume::{ResumableLog, open};
use super::stop::StopReason;
use crate::{Error, Result, TaskChange};

/// What a log is to a run that is about to start.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum EarlierRun {
    /// The log of another run: another task, model, number of samples or epochs.
    Other,
    /// A run of this task as it was before it changed.
    Changed(TaskChange),
    /// This run, interrupted or with samples that failed. It can be resumed.
    Incomplete,
    /// This run, with all its samples.
    Complete,
}

/// Reads what a log records about its run, to see whether it is that of another one. A JSON log can be too.
///
/// # Errors
/// A file that is no log, or one of another program.
pub fn open_earlier(path: &Path, limits: LogLimits) -> Result<ResumableLog> {
    open(path, limits).map(|(_, log)| log)
}

impl PreparedTask {
    /// What a log is to this run: the same if task, version, arguments, model, samples, solvers, scorers and epochs are.
    ///
    /// # Errors
    /// A log that cannot be read.
    pub fn earlier_run(&self, log: &ResumableLog) -> Result<EarlierRun> {
        let (own, logged) = (&self.start.eval, &log.eval);
        let is_same = own.task == logged.task
            && own.task_version == logged.task_version
            && own.model == logged.model
            && own.task_args == logged.task_args
            && own.config.epochs == logged.config.epochs
            && own.config.epochs_reducer == logged.config.epochs_reducer
            && own.config.extra.get("seed") == logged.config.extra.get("seed")
            && own.dataset.sample_ids == logged.dataset.sample_ids;
        if !is_same {
            return Ok(EarlierRun::Other);
        }
        let opened = EvalLog::open_with(&log.path, log.limits)?;
        let header = opened.header()?;
        let parts = self.changed_parts(&header.eval, &header.plan);
        if !parts.is_empty() {
            let task = self.name.clone();
            return Ok(EarlierRun::Changed(TaskChange::Parts { task, parts }));
        }
        let succeeded = match self.check_questions(&opened) {
            Ok(succeeded) => succeeded,
            Err(Error::ChangedTask { change, .. }) => return Ok(EarlierRun::Changed(change)),
            Err(error) => return Err(error),
        };
        let config = &logged.config.extra;
        let has_reached_end = match config.contains_key(STOPPED_EARLY) {
            // Only the same rules would have stopped this one.
            true => {
                let rules = self.stopping.as_ref().map(|stopping| json!(stopping.texts()));
                rules.as_ref() == config.get(STOP_WHEN)
            }
            false => succeeded == self.total(),
        };
        if header.status == Status::Success && has_reached_end {
            return Ok(EarlierRun::Complete);
        }
        // What cannot be resumed: samples in the order of the dataset, for a rule that wants a random one.
        let is_in_order = self.stopping.is_none() || config.contains_key(STOP_WHEN);
        Ok(if is_in_order && !opened.is_json() { EarlierRun::Incomplete } else { EarlierRun::Other })
    }

    /// The results of this run from the log of an earlier one that is [complete](EarlierRun::Complete). Nothing is run or
    /// written.
    ///
    /// # Errors
    /// A log that cannot be read, or whose results cannot be computed.
    pub fn skip(mut self, log: &ResumableLog, observer: &dyn Observer) -> Result<FinishedRun> {
        let opened = EvalLog::open_with(&log.path, log.limits)?;
        self.log_path.clone_from(&log.path);
        let unknown = |problem: String| Error::UnknownRecord {
            path: log.path.clone(),
            what: "why the run stopped",
            problem,
        };
        let recorded = StoppedEarly::recorded(&log.eval).map_err(unknown)?;
        let mut stopped = None;
        if let (Some(recorded), Some(stopping)) = (recorded, &self.stopping) {
            let samples = usize::try_from(recorded.samples).unwrap_or(usize::MAX);
            let early_stop = stopping.early_stop(&self.samples, samples);
            self.plan.errors.early_stop = Some(early_stop.map_err(unknown)?);
            let StoppedEarly { rule, reason, .. } = recorded;
            let planned = self.samples.len();
            stopped = Some(StopReason::RuleHeld { rule, reason, samples, planned });
        }
        let finished = self.stored(&opened, observer)?;
        observer.ended();
        Ok(FinishedRun { stopped, ..finished })
    }
}
