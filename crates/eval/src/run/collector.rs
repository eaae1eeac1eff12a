//! The one thread that writes the log, counts and reports to the observer.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::{Duration, Instant};

use errorbar_core::{Metadata, Score, ScoreColumns};
use errorbar_log::eval::{LogError, LogWriter, StoredSample};
use errorbar_stats::sequential::SequenceError;

use super::execute::{Delivery, SampleOutcome, SampleQueue};
use super::prepare::PreparedTask;
use super::running::RunningFigures;
use super::stop::{CancelToken, Observer, Progress, StopReason};
use super::stopping::StopMonitor;
use crate::model::{FatalError, SampleUsage};

/// How often to look whether the run is stopped when no sample comes.
const LOOK_UP: Duration = Duration::from_millis(50);
/// How long samples that cannot be cancelled, because they block their thread, are waited for after a stop.
const GRACE: Duration = Duration::from_secs(1);

/// How often to look whether the log still has its name.
const CHECK_PLACE: Duration = Duration::from_secs(1);

/// What is known of a sample that is in the log.
#[derive(Debug)]
struct SampleSlot {
    scores: Vec<(String, Score)>,
    /// The metadata, if the solver changed it.
    metadata: Option<Metadata>,
    outcome: SlotStatus,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SlotStatus {
    Succeeded,
    Failed,
    /// Failed in an earlier run, and is to be run again in this one.
    FailedBefore,
}

impl SampleSlot {
    fn failed_before(&self) -> bool {
        self.outcome == SlotStatus::FailedBefore
    }
}

/// Writes, counts and reports.
pub(super) struct Collector {
    prepared: Arc<PreparedTask>,
    observer: Arc<dyn Observer>,
    cancel: CancelToken,
    running: RunningFigures,
    /// Looks at the rules that stop the run early after each sample, those of an earlier run included.
    pub(super) monitor: Option<StopMonitor>,
    queue: Option<Arc<SampleQueue>>,
    pub(super) writer: LogWriter,
    slots: Vec<Option<SampleSlot>>,
    pub(super) done: usize,
    pub(super) resumed: usize,
    pub(super) failed: usize,
    /// Those that a limit ended, and that were judged as they were, by its kind.
    pub(super) limits: BTreeMap<String, usize>,
    pub(super) used: SampleUsage,
    pub(super) log_error: Option<LogError>,
}

impl Collector {
    pub(super) fn new(
        prepared: Arc<PreparedTask>,
        writer: LogWriter,
        observer: Arc<dyn Observer>,
        cancel: CancelToken,
    ) -> Result<Self, SequenceError> {
        let monitor = prepared.stopping.as_ref().map(|plan| StopMonitor::new(plan, prepared.epochs));
        Ok(Collector {
            running: RunningFigures::new(&prepared.plan, prepared.empty_columns(), observer.wants_figures()),
            monitor: monitor.transpose()?,
            queue: None,
            slots: std::iter::repeat_with(|| None).take(prepared.total()).collect(),
            prepared,
            observer,
            cancel,
            writer,
            done: 0,
            resumed: 0,
            failed: 0,
            limits: BTreeMap::new(),
            used: SampleUsage::default(),
            log_error: None,
        })
    }

    /// The queue that is closed when a rule holds; at once if one does already.
    pub(super) fn take_from(&mut self, queue: &Arc<SampleQueue>) {
        self.queue = Some(Arc::clone(queue));
        self.close_if_held();
    }

    fn close_if_held(&self) {
        let count = self.prepared.samples.len().max(1);
        if let (Some(queue), Some(monitor)) = (&self.queue, self.monitor.as_ref().filter(|m| m.is_held())) {
            let sample = |index: usize| index % count;
            queue.close(|index, started| monitor.is_needed(sample(index), started.map(sample)));
        }
    }

    /// Takes in the samples by which the finished prefix has grown, and looks at the rules.
    fn look(&mut self, index: usize, is_finished: bool) {
        let count = self.prepared.samples.len().max(1);
        let Some(monitor) = &mut self.monitor else { return };
        let was_held = monitor.is_held();
        monitor.recorded(index % count, is_finished);
        while let Some(sample) = monitor.next_finished() {
            let indices = (0..self.prepared.epochs as usize).map(|epoch| epoch * count + sample);
            let rows = indices.filter_map(|index| Some((index, self.slots.get(index)?.as_ref()?)));
            let mut columns = self.prepared.empty_columns();
            let filled = rows.map(|(index, slot)| {
                let failed = slot.outcome != SlotStatus::Succeeded;
                let scores = slot.scores.iter().cloned();
                self.prepared.push_row(&mut columns, index, slot.metadata.as_ref(), scores, failed)
            });
            let filled = filled.collect::<errorbar_core::Result<()>>();
            monitor.take(sample, filled.map(|()| columns));
        }
        if !was_held {
            self.close_if_held();
        }
    }

    /// Takes over a sample that an earlier run has done. One that failed will be run again, and counts as what it is
    /// in the log until then.
    pub(super) fn keep(&mut self, index: usize, sample: StoredSample) {
        if sample.error.is_some() {
            let metadata = Some(sample.metadata);
            let slot = SampleSlot { scores: Vec::new(), metadata, outcome: SlotStatus::FailedBefore };
            if let Some(place) = self.slots.get_mut(index) {
                *place = Some(slot);
            }
            self.look(index, false);
            return;
        }
        self.used.add(&SampleUsage {
            by_model: sample.model_usage,
            by_role: sample.role_usage,
            ..SampleUsage::default()
        });
        self.count_limit(sample.limit);
        let scores: Vec<(String, Score)> = sample.scores.into_iter().collect();
        self.fill(index, scores, sample.metadata, SlotStatus::Succeeded);
        self.resumed += 1;
    }

    /// Which samples are still to be run.
    pub(super) fn todo(&self) -> Vec<usize> {
        let is_open = |slot: &Option<SampleSlot>| slot.as_ref().is_none_or(SampleSlot::failed_before);
        let slots = self.slots.iter().enumerate();
        let mut todo: Vec<usize> = slots.filter(|(_, slot)| is_open(slot)).map(|(index, _)| index).collect();
        if let Some(stopping) = &self.prepared.stopping {
            // All epochs of a sample, one after the other: the prefix grows by whole samples.
            let count = self.prepared.samples.len().max(1);
            todo.sort_by_key(|index| (stopping.position(index % count), *index));
        }
        todo
    }

    /// Collects until the workers are done or a reason to stop has come up.
    pub(super) fn collect(mut self, receiver: mpsc::Receiver<Delivery>) -> Self {
        let mut stopped_at = None;
        let started = Instant::now();
        let mut checked = started;
        loop {
            if checked.elapsed() >= CHECK_PLACE {
                checked = Instant::now();
                if let Err(error) = self.writer.check_place() {
                    self.fail_log(error);
                    break;
                }
            }
            if let Some(limit) = self.prepared.passed_limit(started.elapsed()) {
                self.cancel.stop(StopReason::LimitReached { limit });
            }
            let Delivery { done, counted } = match receiver.recv_timeout(LOOK_UP) {
                Ok(ran) => ran,
                Err(RecvTimeoutError::Disconnected) => break,
                Err(RecvTimeoutError::Timeout) => {
                    if self.cancel.is_stopped()
                        && stopped_at.get_or_insert_with(Instant::now).elapsed() > GRACE
                    {
                        break;
                    }
                    continue;
                }
            };
            let taken = done.and_then(|done| self.take(done));
            // A worker that was cancelled does not listen any more.
            let _ = counted.send(());
            if let Err(error) = taken {
                self.fail_log(error);
                // What workers still hand over cannot be written, and so is not done.
                break;
            }
        }
        self
    }

    fn fail_log(&mut self, error: LogError) {
        self.log_error = Some(error);
        self.cancel.stop(StopReason::LogFailed);
    }

    fn take(&mut self, done: SampleOutcome) -> Result<(), LogError> {
        let SampleOutcome { index, encoded, scores, metadata, problem, limit, used, refusal, transcript } =
            done;
        self.used.add(&used);
        if let Some(FatalError { model, error }) = refusal {
            // The sample stays out of the log: nothing is wrong with it, and it is run when the run is resumed.
            let (kind, problem) = (error.kind(), error.to_string());
            self.cancel.stop(StopReason::ModelFailed { kind, model, problem });
            return Ok(());
        }
        self.writer.append_encoded(encoded)?;
        self.count_limit(limit.filter(|_| problem.is_none()).map(|limit| limit.kind));
        let outcome = if problem.is_some() { SlotStatus::Failed } else { SlotStatus::Succeeded };
        self.fill(index, scores, metadata, outcome);
        if let Some(problem) = &problem {
            self.fail(index, problem);
        }
        if let Some(transcript) = &transcript {
            self.observer.sample_transcript(transcript);
        }
        self.observer.sample_done(Progress {
            done: self.done,
            resumed: self.resumed,
            failed: self.failed,
            total: self.prepared.total(),
            running: &mut self.running,
            sequence: self.monitor.as_ref().and_then(StopMonitor::progress),
        });
        Ok(())
    }

    fn fail(&mut self, index: usize, problem: &str) {
        let Some((id, _, epoch)) = self.prepared.item(index) else { return };
        let sample = id.to_string();
        self.observer.sample_failed(&sample, epoch, problem);
        let (failed, total) = (self.failed, self.prepared.total());
        if self.prepared.fail_on_error.is_reached(failed, total) {
            let problem = problem.to_owned();
            self.cancel.stop(StopReason::TooManyErrors { failed, total, sample, problem });
        }
    }

    fn fill(&mut self, index: usize, scores: Vec<(String, Score)>, metadata: Metadata, outcome: SlotStatus) {
        let Some((_, sample, _)) = self.prepared.item(index) else { return };
        let failed = outcome == SlotStatus::Failed;
        if !failed && self.running.is_wanted {
            // Only the value counts here. A scorer is declared and scores once, so nothing can be refused.
            let values =
                scores.iter().map(|(scorer, score)| (scorer.clone(), Score::new(score.value.clone())));
            let columns = &mut self.running.columns;
            let _ = self.prepared.push_row(columns, index, Some(&metadata), values, false);
        }
        self.done += 1;
        self.failed += usize::from(failed);
        let metadata = (metadata != sample.metadata).then_some(metadata);
        if let Some(slot) = self.slots.get_mut(index) {
            *slot = Some(SampleSlot { scores, metadata, outcome });
        }
        self.look(index, true);
    }

    fn count_limit(&mut self, kind: Option<String>) {
        if let Some(kind) = kind {
            *self.limits.entry(kind).or_default() += 1;
        }
    }

    /// Samples that failed in an earlier run and were not reached in this one.
    pub(super) fn not_retried(&self) -> usize {
        self.slots.iter().flatten().filter(|slot| slot.failed_before()).count()
    }

    /// The scores in dataset order within each epoch, whatever the order of completion was.
    pub(super) fn columns(&mut self, prepared: &PreparedTask) -> errorbar_core::Result<ScoreColumns> {
        let mut columns = prepared.empty_columns();
        for (index, slot) in std::mem::take(&mut self.slots).into_iter().enumerate() {
            let Some(SampleSlot { scores, metadata, outcome }) = slot else { continue };
            let failed = outcome != SlotStatus::Succeeded;
            prepared.push_row(&mut columns, index, metadata.as_ref(), scores, failed)?;
        }
        Ok(columns)
    }
}

impl PreparedTask {
    /// Columns for the scorers of the task, without a row.
    pub(super) fn empty_columns(&self) -> ScoreColumns {
        let mut columns = ScoreColumns::new(self.scorers.iter().map(|(name, _)| name.as_str()));
        let picking = self.scorers.iter().filter(|(_, scorer)| scorer.picks_option());
        picking.for_each(|(name, _)| columns.set_picks_option(name));
        columns
    }

    /// Adds the sample of this number; its metadata is that of the dataset if none is given.
    pub(super) fn push_row(
        &self,
        columns: &mut ScoreColumns,
        index: usize,
        metadata: Option<&Metadata>,
        scores: impl IntoIterator<Item = (String, Score)>,
        failed: bool,
    ) -> errorbar_core::Result<()> {
        let Some((id, sample, epoch)) = self.item(index) else { return Ok(()) };
        let keys = self.plan.metadata_keys();
        let entries = metadata.unwrap_or(&sample.metadata).iter().filter(|(key, _)| keys.contains(key));
        let mut row =
            columns.push_sample(id, epoch).metadata_all(entries.map(|(key, value)| (key.as_str(), value)));
        if failed {
            row = row.errored();
        }
        for (scorer, score) in scores {
            row = row.score(&scorer, score)?;
        }
        Ok(())
    }
}
