//! The end of a run: results, header, log.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;

use errorbar_core::{IndexMap, Metadata, Reducer, Results};
use errorbar_log::eval::{
    EvalError, EvalLog, Header, LogWriter, Reductions, STOPPED_EARLY, Stats, Status, StoppedEarly,
    StoredSample, convert,
};
use errorbar_log::inspect::project;
use tokio::sync::oneshot;

use super::collector::Collector;
use super::execute::{SampleQueue, start_workers};
use super::models::{RecordedServer, recorded_servers};
use super::options::LogFormat;
use super::prepare::PreparedTask;
use super::record::now;
use super::stop::{CancelToken, Observer, StopReason};
use super::stopping::{StopMonitor, StopPlan};
use crate::{Error, ModelErrorKind, Result, Usage};

/// A run that has ended, and how.
#[derive(Debug)]
#[non_exhaustive]
pub struct FinishedRun {
    /// How it ended.
    pub status: Status,
    /// Why it ended before its end, if it did.
    pub stopped: Option<StopReason>,
    /// What came out, over the samples that were done.
    pub results: Option<Results>,
    /// A reducer for which every score from 1 on is a success, and the highest score, if that is more.
    pub beyond_threshold: Option<(Arc<dyn Reducer>, f64)>,
    /// Why there are no results.
    pub results_error: Option<errorbar_core::Error>,
    /// Why the log is not what it should be: the rest of it could not be written, or it was removed.
    pub log_error: Option<Error>,
    /// The log.
    pub log: PathBuf,
    /// The archive that the run can be resumed from; a JSON log has none beside it if nothing is left to do.
    pub archive: PathBuf,
    /// The task's name.
    pub task: String,
    /// The model's name.
    pub model: String,
    /// Samples times epochs.
    pub total: usize,
    /// Those that are in the log.
    pub done: usize,
    /// Those of them that an earlier run had done.
    pub resumed: usize,
    /// Those that failed.
    pub failed: usize,
    /// Those that a limit ended, and that were judged as they were, by its kind: `token`, `time`, `cost`.
    pub limits: BTreeMap<String, usize>,
    /// The tokens used, by model.
    pub usage: IndexMap<String, Usage>,
    /// The model, if it graded its own answers.
    pub self_graded: Option<String>,
    /// Why the rules that stop the run early could not be looked at to the end.
    pub stop_problem: Option<String>,
    /// The rules that could have stopped the run early.
    pub stop_rules: Vec<String>,
    /// The servers that the log names, which are to be given again when the run is resumed.
    pub servers: Vec<RecordedServer>,
    /// The file of the task, which is to be given again if it is in another folder.
    pub task_file: Option<PathBuf>,
    /// The arguments that were passed to the task of the file, of which strings are to be given again.
    pub passed_args: Metadata,
}

impl FinishedRun {
    /// A run of which an earlier one has done everything.
    pub(super) fn complete(prepared: &PreparedTask) -> Self {
        let total = prepared.total();
        FinishedRun {
            status: Status::Success,
            stopped: None,
            results: None,
            beyond_threshold: None,
            results_error: None,
            log_error: None,
            log: prepared.log_path.clone(),
            archive: prepared.log_path.clone(),
            task: prepared.name.clone(),
            model: prepared.model_name().to_owned(),
            total,
            done: total,
            resumed: total,
            failed: 0,
            limits: BTreeMap::new(),
            usage: IndexMap::new(),
            self_graded: errorbar_log::eval::self_graded(&prepared.start.eval),
            stop_problem: None,
            stop_rules: prepared.stopping.as_ref().map(StopPlan::texts).unwrap_or_default(),
            servers: recorded_servers(&prepared.start.eval),
            task_file: prepared.task.origin.file.clone(),
            passed_args: prepared.task.origin.passed.clone(),
        }
    }

    /// How many samples a limit ended.
    pub fn limited(&self) -> usize {
        self.limits.values().sum()
    }
}

impl PreparedTask {
    /// Runs the task and writes its log. `cancel` ends it early.
    ///
    /// # Errors
    /// A log that cannot be written. Samples that fail are no error: they are recorded.
    pub async fn run(self, observer: Arc<dyn Observer>, cancel: CancelToken) -> Result<FinishedRun> {
        let writer = LogWriter::create(&self.log_path, &self.start)?;
        self.run_into(writer, Vec::new(), observer, cancel).await
    }

    /// Runs what `resumed` does not hold.
    pub(super) async fn run_into(
        self,
        writer: LogWriter,
        resumed: Vec<(usize, StoredSample)>,
        observer: Arc<dyn Observer>,
        cancel: CancelToken,
    ) -> Result<FinishedRun> {
        let prepared = Arc::new(self);
        // Too many failures end this run, and no other that the caller may cancel with it.
        let cancel = cancel.child();
        let started_at = now();
        let mut collector =
            Collector::new(Arc::clone(&prepared), writer, Arc::clone(&observer), cancel.clone())
                .map_err(|error| Error::other(format!("errors: {error}")))?;
        for (index, sample) in resumed {
            collector.keep(index, sample);
        }
        let (todo, total) = (collector.todo(), prepared.total());
        observer.started(
            &prepared.name,
            prepared.model_name(),
            &prepared.log_path,
            total,
            total.saturating_sub(todo.len()),
        );
        let queue = Arc::new(SampleQueue::new(todo));
        collector.take_from(&queue);
        let receiver = start_workers(&prepared, &queue, &cancel, observer.wants_transcripts());
        // Its own thread, because writing blocks.
        let (sender, collected) = oneshot::channel();
        // If the receiver was dropped, the result is dropped too.
        thread::spawn(move || drop(sender.send(collector.collect(receiver))));
        let Ok(collected) = collected.await else {
            return Err(Error::other(
                "the thread that writes the log has panicked; this is a bug in errorbar",
            ));
        };
        observer.ended();
        conclude(&prepared, collected, cancel.reason(), started_at)
    }

    /// The log in the wanted format, once it is written.
    pub(super) fn log_in_its_form(&self, is_complete: bool) -> Result<PathBuf> {
        match self.options.log_format {
            LogFormat::Eval => Ok(self.log_path.clone()),
            LogFormat::Json => as_json(&self.log_path, is_complete),
        }
    }
}

fn conclude(
    prepared: &PreparedTask,
    mut collected: Collector,
    stopped: Option<StopReason>,
    started_at: String,
) -> Result<FinishedRun> {
    let (done, resumed, failed, total) =
        (collected.done, collected.resumed, collected.failed, prepared.total());
    // In the log they are, if only as failures.
    let (done, failed) = (done + collected.not_retried(), failed + collected.not_retried());
    let log_error = collected.log_error.take().map(Error::from);
    let columns = collected.columns(prepared)?;
    // Whatever else ends a run leaves gaps in the order of its samples.
    let held = collected.monitor.as_ref().and_then(StopMonitor::conclusion);
    let held = held.filter(|_| stopped.is_none() && done < total);
    let (mut plan, mut start) = (prepared.plan.clone(), prepared.start.clone());
    let mut stopped = stopped;
    if let (Some(held), Some(stopping)) = (held, &prepared.stopping) {
        let samples = usize::try_from(held.samples).unwrap_or(usize::MAX);
        let early_stop = stopping.early_stop(&prepared.samples, samples);
        plan.errors.early_stop =
            Some(early_stop.map_err(|problem| Error::other(format!("errors: {problem}")))?);
        let (rule, reason) = (held.rule.to_string(), held.reason());
        let taken = (held.samples, held.population);
        let record = StoppedEarly::new(rule.clone(), reason.clone(), taken, stopping.seed, now());
        start.eval.config.extra.insert(STOPPED_EARLY.to_owned(), record.to_json());
        stopped = Some(StopReason::RuleHeld { rule, reason, samples, planned: prepared.samples.len() });
    }
    let (evaluation, results_error) = match plan.evaluate(&columns) {
        Ok(mut evaluation) => {
            evaluation.results.name_metadata_keys(prepared.metadata_keys().iter().map(String::as_str));
            (Some(evaluation), None)
        }
        Err(error) => (None, Some(error)),
    };
    let beyond_threshold =
        plan.beyond_threshold(&columns).map(|(reducer, highest)| (Arc::clone(reducer), highest));
    // A stop that came when everything was done already changes nothing.
    let stopped =
        stopped.filter(|stop| collected.done < total || matches!(stop, StopReason::TooManyErrors { .. }));
    let (status, problem) = match (&stopped, &results_error) {
        (Some(StopReason::TooManyErrors { failed, sample, problem, .. }), _) => {
            (Status::Error, Some(format!("{failed} sample(s) failed, the last {sample:?}: {problem}")))
        }
        (Some(StopReason::ModelFailed { kind, model, problem }), _) => {
            let failure = match kind {
                ModelErrorKind::Unreachable => format!("the server of {model} has never answered: {problem}"),
                ModelErrorKind::Untrusted => format!("the server of {model} is not trusted: {problem}"),
                _ => format!("{model} refuses the key: {problem}"),
            };
            (Status::Error, Some(failure))
        }
        (Some(StopReason::LogFailed), _) => (Status::Error, None),
        (Some(StopReason::RuleHeld { .. }), None) => (Status::Success, None),
        (Some(StopReason::RuleHeld { .. }), Some(error)) => (Status::Error, Some(error.to_string())),
        (Some(_), _) => (Status::Cancelled, None),
        (None, Some(error)) => (Status::Error, Some(error.to_string())),
        (None, None) => (Status::Success, None),
    };
    let stop_problem = collected.monitor.as_ref().and_then(|monitor| monitor.problem()).map(str::to_owned);
    let usage = std::mem::take(&mut collected.used.by_model);
    let mut stats = Stats::default();
    (stats.started_at, stats.completed_at) = (started_at, now());
    (stats.model_usage, stats.role_usage) = (usage.clone(), collected.used.by_role);
    let header = Header::started(start)
        .status(status)
        .results(evaluation.as_ref().map(|evaluation| project(&evaluation.results)))
        .stats(stats)
        .error(problem.map(EvalError::new));
    let reductions = match &evaluation {
        Some(evaluation) => Reductions::of(&evaluation.reductions, &columns),
        None => Reductions::default(),
    };
    let is_complete = stopped.is_none() && failed == 0;
    // Nothing that is wrong with the log costs the results.
    let written = match log_error {
        Some(error) => Err(error),
        None => collected.writer.finish(&header, &reductions).map_err(Error::from),
    };
    let written = written.and_then(|()| prepared.log_in_its_form(is_complete));
    let (log, log_error) = match written {
        Ok(path) => (path, None),
        Err(error) => (prepared.log_path.clone(), Some(error)),
    };
    Ok(FinishedRun {
        status: if log_error.is_some() { Status::Error } else { status },
        stopped,
        results: evaluation.map(|evaluation| evaluation.results),
        beyond_threshold,
        results_error,
        log_error,
        log,
        done,
        resumed,
        failed,
        limits: collected.limits,
        stop_problem,
        usage,
        ..FinishedRun::complete(prepared)
    })
}

/// Converts the log to JSON. The archive is removed, unless the run can be resumed.
fn as_json(archive: &Path, is_complete: bool) -> Result<PathBuf> {
    let json = archive.with_extension("json");
    convert(&EvalLog::open(archive)?, &json)?;
    if !is_complete {
        return Ok(json);
    }
    std::fs::remove_file(archive)
        .map_err(|error| Error::other(format!("cannot remove {}: {error}", archive.display())))?;
    Ok(json)
}
