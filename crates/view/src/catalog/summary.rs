//! What a list shows of a log.

use std::collections::BTreeMap;
use std::path::Path;

use errorbar_core::chat::Usage;
use errorbar_core::{Estimate, EstimateRow, Registry};
use errorbar_log::eval::{
    EvalLog, Header, LogError, LogLimits, ScoreOptions, Stats, Status, StoppedEarly, plan_from_header,
};
use errorbar_log::inspect::{RecordedRow, recovered_headline};
use errorbar_report::headline;
use jiff::Timestamp;

/// The most that is held of one log for the list. Several are read at a time.
const LIMITS: LogLimits = LogLimits {
    max_decompressed: 16 << 30,
    max_ratio: 100,
    max_record: 16 << 20,
    max_memory: Some(64 << 20),
};

/// How a run stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum RunState {
    /// Samples are being added.
    Running,
    /// It reached its end.
    Done,
    /// The user stopped it.
    Cancelled,
    /// An error ended it.
    Failed,
    /// It has no end, and nobody writes to it.
    Interrupted,
}

impl RunState {
    pub(crate) const ALL: [RunState; 5] =
        [RunState::Running, RunState::Done, RunState::Cancelled, RunState::Failed, RunState::Interrupted];

    pub(crate) fn name(self) -> &'static str {
        match self {
            RunState::Running => "running",
            RunState::Done => "done",
            RunState::Cancelled => "cancelled",
            RunState::Failed => "error",
            RunState::Interrupted => "interrupted",
        }
    }
}

/// What a list shows of a log.
#[derive(Clone, Debug)]
pub(crate) struct LogSummary {
    pub(crate) task: String,
    pub(crate) model: String,
    pub(crate) created: String,
    pub(crate) state: RunState,
    /// Why it ended early.
    pub(crate) error: Option<String>,
    /// The figure to show first.
    pub(crate) figure: Option<Figure>,
    /// Samples times epochs without an error.
    pub(crate) completed: u64,
    /// Samples times epochs that were planned, or that there are.
    pub(crate) total: Option<u64>,
    pub(crate) epochs: u64,
    /// A rule stopped the run: fewer samples than planned are no shortcoming.
    pub(crate) stopped_early: bool,
    pub(crate) tokens: Option<u64>,
    pub(crate) cost: Option<f64>,
    /// How far it is, if it is in progress.
    pub(crate) progress: Option<Progress>,
}

/// A number, and which it is.
#[derive(Clone, Debug)]
pub(crate) struct Figure {
    /// `accuracy`, or `grouped physics`.
    pub(crate) metric: String,
    pub(crate) scorer: String,
    pub(crate) reducer: Option<String>,
    pub(crate) estimate: Estimate,
}

/// How far a run is.
#[derive(Clone, Debug, Default)]
pub(crate) struct Progress {
    /// Samples times epochs in the log.
    pub(crate) done: u64,
    pub(crate) total: Option<u64>,
    pub(crate) errored: u64,
    /// The samples of each epoch that are in the log.
    pub(crate) by_epoch: Vec<(u32, u64)>,
    /// Why there is no estimate.
    pub(crate) problem: Option<String>,
}

impl LogSummary {
    /// Reads what is recorded; of a run in progress, or one that was killed, the scores as well. `is_recent` says whether the
    /// file was written to a moment ago.
    pub(super) fn read(path: &Path, is_recent: bool, registry: &Registry) -> Result<Self, String> {
        let log = EvalLog::open_with(path, LIMITS).map_err(reason)?;
        let header = log.short_header().map_err(reason)?;
        let state = match header.status {
            Status::Success => RunState::Done,
            Status::Cancelled => RunState::Cancelled,
            Status::Error => RunState::Failed,
            Status::Started if is_recent || log.lock_holder().is_some() => RunState::Running,
            Status::Started => RunState::Interrupted,
        };
        let mut summary = LogSummary::of_header(header, &log, state);
        if summary.figure.is_none() && matches!(state, RunState::Running | RunState::Interrupted) {
            summary.read_scores(&log, registry);
        }
        Ok(summary)
    }

    fn of_header(header: Header, log: &EvalLog, state: RunState) -> Self {
        let Header { eval, results, stats, error, .. } = header;
        let epochs = u64::from(eval.config.epochs.unwrap_or(1)).max(1);
        let stopped_early = StoppedEarly::recorded(&eval).ok().flatten().is_some();
        let samples = eval.dataset.sample_ids.as_ref().map(|ids| ids.len() as u64).or(eval.dataset.samples);
        let planned = samples.map(|samples| samples.saturating_mul(epochs));
        let (completed, total) = match &results {
            Some(results) if state == RunState::Done => {
                (results.completed_samples, Some(results.total_samples))
            }
            Some(results) => (results.completed_samples, planned.or(Some(results.total_samples))),
            None => (log.sample_count() as u64, planned),
        };
        let (tokens, cost) = usage(&stats);
        LogSummary {
            figure: results.as_ref().and_then(recovered_headline).map(Figure::of_row),
            task: eval.task,
            model: eval.model,
            created: eval.created,
            state,
            error: error.map(|error| error.message),
            completed,
            total,
            epochs,
            stopped_early,
            tokens,
            cost,
            progress: None,
        }
    }

    /// The estimate over the samples that are there.
    fn read_scores(&mut self, log: &EvalLog, registry: &Registry) {
        let mut progress =
            Progress { done: log.sample_count() as u64, total: self.total, ..Progress::default() };
        if progress.done > 0 {
            let found = self.estimate(log, registry, &mut progress);
            progress.problem = found.err();
        }
        match self.state {
            RunState::Running => self.progress = Some(progress),
            _ => self.error = self.error.take().or(progress.problem),
        }
    }

    fn estimate(
        &mut self,
        log: &EvalLog,
        registry: &Registry,
        progress: &mut Progress,
    ) -> Result<(), String> {
        let header = log.header().map_err(reason)?;
        let (plan, _) = plan_from_header(&header, registry).map_err(reason)?;
        let options = ScoreOptions::new(plan.metadata_keys()).score_parts(plan.score_parts());
        let columns = log.scores(&header, &options.skip_bad_samples(true)).map_err(reason)?.columns;
        let mut by_epoch: BTreeMap<u32, u64> = BTreeMap::new();
        (0..columns.len()).for_each(|row| *by_epoch.entry(columns.epoch(row)).or_default() += 1);
        (progress.by_epoch, progress.errored) = (by_epoch.into_iter().collect(), columns.errored() as u64);
        self.completed = progress.done.saturating_sub(progress.errored);
        let results = plan.evaluate(&columns).map_err(|error| error.to_string())?.results;
        self.figure = headline(&results).map(|row| Figure::of_estimate(&row));
        Ok(())
    }
}

/// What is wrong with a log, without its path.
fn reason(error: LogError) -> String {
    match error.member() {
        Some(member) => format!("{member}: {}", error.kind()),
        None => error.kind().to_string(),
    }
}

impl Figure {
    fn of_row(row: RecordedRow) -> Self {
        let estimate = row.estimate();
        // The ends of an interval by itself are the figure of the metric that gave them.
        let metric = match (&row.group, row.value.is_none() && row.interval.is_some()) {
            (Some(group), true) => group.clone(),
            (Some(group), false) => format!("{group} {}", row.key),
            (None, _) => row.key,
        };
        Figure { metric, scorer: row.score, reducer: row.reducer, estimate }
    }

    fn of_estimate(row: &EstimateRow<'_>) -> Self {
        let part = row.label.or(row.key).map(|part| format!(" {part}")).unwrap_or_default();
        Figure {
            metric: format!("{}{part}", row.metric),
            scorer: row.field.unwrap_or(row.scorer).to_owned(),
            reducer: row.reducer.map(str::to_owned),
            estimate: row.estimate.clone().into_owned(),
        }
    }

    /// The metric, and what it is of.
    pub(crate) fn title(&self) -> (String, &str) {
        let metric = match &self.reducer {
            Some(reducer) => format!("{} [{reducer}]", self.metric),
            None => self.metric.clone(),
        };
        (metric, &self.scorer)
    }
}

/// The tokens and the cost of all models, as far as they are recorded.
fn usage(stats: &Stats) -> (Option<u64>, Option<f64>) {
    let used = || stats.model_usage.values();
    let tokens = used().map(|usage: &Usage| usage.total_tokens).fold(0, u64::saturating_add);
    let costs: Vec<f64> = used().filter_map(|usage| usage.total_cost).collect();
    let cost = (!costs.is_empty()).then(|| costs.iter().sum());
    ((tokens > 0).then_some(tokens), cost)
}

impl LogSummary {
    /// When the run was made, for sorting; the text of the log if it is no time.
    pub(crate) fn sort_time(&self) -> String {
        let time: Option<Timestamp> = self.created.parse().ok();
        time.map_or_else(|| self.created.clone(), |time| time.to_string())
    }
}
