//! What a list shows of a log, off its header.

use errorbar_core::{Estimate, Results, Undefined};

use super::StoppedEarly;
use super::error::Result;
use super::header::{Header, Stats, Status};
use super::plan::is_unreduced;
use super::reader::EvalLog;
use crate::inspect::{has_estimates, recover, set_headline};
use crate::recorded::{RecordedBlock, RecordedResults};

/// What a list shows of a log. Only the header is read, never a sample.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct LogSummary {
    /// The name of the task.
    pub task: String,
    /// The model.
    pub model: String,
    /// When the run was made, as the log has it.
    pub created: String,
    /// How the run ended.
    pub status: Status,
    /// Why the run ended early.
    pub error: Option<String>,
    /// Samples times epochs without an error; of a run without results, those that it has saved.
    pub completed: u64,
    /// Samples times epochs; of a run that did not reach its end, those that were planned.
    pub total: Option<u64>,
    /// The number of epochs.
    pub epochs: u64,
    /// The samples times epochs that were planned, if a rule stopped the run: fewer are no shortcoming.
    pub stopped_early: Option<u64>,
    /// Times and tokens of the run.
    pub stats: Stats,
    /// The figures that the header records, with the headline that the task names.
    pub results: Option<Results>,
}

impl LogSummary {
    /// What the header of a log says.
    pub fn read(log: &EvalLog) -> Result<Self> {
        let header = log.short_header()?;
        let results = recovered(&header);
        let Header { eval, status, results: recorded, stats, error, .. } = header;
        let epochs = u64::from(eval.config.epochs.unwrap_or(1)).max(1);
        let stopped_early = StoppedEarly::recorded(&eval).ok().flatten();
        let samples = eval.dataset.sample_ids.as_ref().map(|ids| ids.len() as u64).or(eval.dataset.samples);
        let planned = samples.map(|samples| samples.saturating_mul(epochs));
        let (completed, total) = match &recorded {
            Some(results) if status == Status::Success => {
                (results.completed_samples, Some(results.total_samples))
            }
            Some(results) => (results.completed_samples, planned.or(Some(results.total_samples))),
            None => (log.sample_count() as u64, planned),
        };
        Ok(LogSummary {
            task: eval.task,
            model: eval.model,
            created: eval.created,
            status,
            error: error.map(|error| error.message),
            completed,
            total,
            epochs,
            stopped_early: stopped_early.map(|stopped| stopped.planned.saturating_mul(epochs)),
            stats,
            results,
        })
    }
}

/// The figures of a header. The error that the reference records of unreduced epochs takes them as independent, so it is
/// not the one of the figure.
fn recovered(header: &Header) -> Option<Results> {
    let recorded = header.results.as_ref()?;
    let mut results = recover(recorded);
    set_headline(&mut results, recorded, header.eval.headline_request().as_ref());
    let without_error = |mut estimate: Estimate| {
        (estimate.error, estimate.interval) = (Err(Undefined::NotAvailable), Err(Undefined::NotAvailable));
        estimate
    };
    for (score, block) in results.scores.iter_mut().zip(&recorded.scores) {
        if !has_estimates(block) && is_unreduced(header, block) {
            for metric in &mut score.metrics {
                metric.value = metric.value.clone().map(without_error);
            }
        }
    }
    Some(results)
}

impl Header {
    /// Results of the figures that the log records, each with the error and the interval that are recorded with it; none if
    /// it records none. Nothing is computed. Older logs do not record how many scores a figure is of: it is taken for the
    /// number of samples that the header has, and 0 where that is not known, either.
    pub fn recorded_figures(&self) -> Option<Results> {
        let mut recorded = self.results.as_ref().filter(|recorded| !recorded.scores.is_empty())?.clone();
        let scores = self.score_count(&recorded);
        let is_unknown =
            |block: &&mut RecordedBlock| block.scored_samples.is_none() && block.unscored_samples.is_none();
        recorded.scores.iter_mut().filter(is_unknown).for_each(|block| block.scored_samples = scores);
        Some(recover(&recorded))
    }

    /// The number of scores of a block that records none: one for each sample, or for each epoch if these are not reduced.
    fn score_count(&self, recorded: &RecordedResults) -> Option<u64> {
        let eval = &self.eval;
        let epochs = u64::from(eval.config.epochs.unwrap_or(1)).max(1);
        let run = Some(recorded.total_samples / epochs).filter(|samples| *samples > 0);
        let dataset = eval.dataset.samples.filter(|samples| *samples > 0);
        // The dataset may have more samples than were run.
        let samples = match (eval.dataset.sample_ids.as_ref(), run, dataset) {
            (Some(ids), ..) => Some(ids.len() as u64),
            (None, Some(run), Some(dataset)) => Some(run.min(dataset)),
            (None, run, dataset) => run.or(dataset),
        };
        let is_unreduced = eval.config.epochs_reducer.as_ref().is_some_and(Vec::is_empty);
        samples.map(|samples| if is_unreduced { samples.saturating_mul(epochs) } else { samples })
    }
}
