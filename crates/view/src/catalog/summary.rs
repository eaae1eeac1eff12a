//! What a list shows of a log.

use std::collections::BTreeMap;

use errorbar_core::chat::Usage;
use errorbar_core::{Estimate, EstimateRow, NoHeadline, Registry};
use errorbar_log::eval::{
    EvalLog, LogLimits, LogSummary, ScoreOptions, Stats, Status, compare, plan_from_header,
};
use errorbar_log::inspect::recorded_name;
use jiff::Timestamp;

use super::reason;

/// The most that is held of one log for the list. Several are read at a time.
pub(super) const LIMITS: LogLimits = LogLimits {
    max_decompressed: 16 << 30,
    max_ratio: 100,
    max_record: 16 << 20,
    max_memory: Some(64 << 20),
};

/// A file with no more bytes than this is read for a figure that its header does not have as a whole.
const SMALL: u64 = 1 << 20;

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
            RunState::Interrupted => "not finished",
        }
    }
}

/// A log in the list.
#[derive(Clone, Debug)]
pub(crate) struct ListedLog {
    /// What its header says; the results are taken out.
    pub(crate) log: LogSummary,
    pub(crate) state: RunState,
    /// The figure to show first.
    pub(crate) figure: Option<Figure>,
    /// Why there is none, though the log records results.
    pub(crate) no_figure: Option<String>,
    pub(crate) tokens: Option<u64>,
    pub(crate) cost: Option<f64>,
    /// How far it is, if it is in progress.
    pub(crate) progress: Option<Progress>,
}

/// A number, and which it is.
#[derive(Clone, Debug)]
pub(crate) struct Figure {
    pub(crate) title: FigureTitle,
    pub(crate) estimate: Estimate,
    /// Whether it is what the header records, which may be less than could be computed.
    pub(crate) is_recorded: bool,
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

impl ListedLog {
    /// Reads what is recorded; of a run in progress, or one that was killed, the scores as well. `is_written` says whether
    /// a log without an end is written to.
    pub(super) fn read(
        log: &EvalLog,
        is_written: impl Fn() -> bool,
        registry: &Registry,
    ) -> Result<Self, String> {
        let summary = LogSummary::read(log).map_err(reason)?;
        let state = match summary.status {
            Status::Success => RunState::Done,
            Status::Cancelled => RunState::Cancelled,
            Status::Error => RunState::Failed,
            // The lock ends with the process, whatever ends that; a run elsewhere, or of another program, has none.
            Status::Started if is_written() => RunState::Running,
            Status::Started => RunState::Interrupted,
        };
        let mut summary = ListedLog::new(summary, state);
        if summary.figure.is_none() && matches!(state, RunState::Running | RunState::Interrupted) {
            summary.read_scores(log, registry);
        } else if summary.is_short_of_report() && log.file_stamp().0 <= SMALL {
            // Where it fails, what is recorded is the best that there is.
            let _ = summary.estimate(log, registry, &mut Progress::default());
        }
        Ok(summary)
    }

    /// Whether the report may have more than the header: no rule stopped the run, whose figures have no error, and the figure
    /// is none, or has none.
    fn is_short_of_report(&self) -> bool {
        let is_short = match &self.figure {
            Some(figure) => !figure.is_complete(),
            None => self.no_figure.is_none() && self.log.completed > 0,
        };
        is_short && self.log.stopped_early.is_none()
    }

    fn new(mut log: LogSummary, state: RunState) -> Self {
        let (tokens, cost) = usage(&log.stats);
        let results = log.results.take();
        let (figure, no_figure) = match results.as_ref().map(|results| results.headline_row()) {
            Some(Ok(row)) => (Some(Figure::recorded(&row)), None),
            Some(Err(reason)) => (None, Some(reason.to_string())),
            None => (None, None),
        };
        ListedLog { log, state, figure, no_figure, tokens, cost, progress: None }
    }

    /// The estimate over the samples that are there.
    fn read_scores(&mut self, log: &EvalLog, registry: &Registry) {
        let mut progress =
            Progress { done: log.sample_count() as u64, total: self.log.total, ..Progress::default() };
        if progress.done > 0 {
            let found = self.estimate(log, registry, &mut progress);
            progress.problem = found.err();
        }
        match self.state {
            RunState::Running => self.progress = Some(progress),
            _ => self.log.error = self.log.error.take().or(progress.problem),
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
        if matches!(self.state, RunState::Running | RunState::Interrupted) {
            let mut by_epoch: BTreeMap<u32, u64> = BTreeMap::new();
            (0..columns.len()).for_each(|row| *by_epoch.entry(columns.epoch(row)).or_default() += 1);
            (progress.by_epoch, progress.errored) =
                (by_epoch.into_iter().collect(), columns.errored() as u64);
            self.log.completed = progress.done.saturating_sub(progress.errored);
        }
        let results = plan.evaluate(&columns).map_err(|error| error.to_string())?.results;
        // Figures of custom metrics are those of the log, whatever is computed without them.
        if header.results.as_ref().is_some_and(|recorded| !compare(recorded, &results).is_empty()) {
            return Err("the log records other figures than those that follow from its samples".to_owned());
        }
        let row = results.headline_row();
        self.no_figure = row.as_ref().err().and_then(NoHeadline::in_words);
        self.figure = row.ok().map(|row| Figure::of_estimate(&row));
        Ok(())
    }
}

impl Figure {
    fn recorded(row: &EstimateRow<'_>) -> Self {
        let figure = Figure::of_estimate(row);
        let title = FigureTitle { metric: recorded_name(row).to_owned(), ..figure.title };
        Figure { title, is_recorded: true, ..figure }
    }

    fn of_estimate(row: &EstimateRow<'_>) -> Self {
        let place = row.index.map(|index| index.to_string());
        let title = FigureTitle {
            metric: row.metric.to_owned(),
            reducer: row.reducer.map(str::to_owned),
            scorer: row.field.unwrap_or(row.scorer).to_owned(),
            part: row.label.or(row.key).map(str::to_owned).or(place),
        };
        Figure { title, estimate: row.estimate.clone().into_owned(), is_recorded: false }
    }

    /// Whether it is a number with an error that says something.
    fn is_complete(&self) -> bool {
        let has_error = self.estimate.error.as_ref().is_ok_and(|error| !error.degenerate);
        self.estimate.value.is_ok() && has_error
    }
}

/// What makes figures of several logs the same figure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FigureTitle {
    pub(crate) metric: String,
    pub(crate) reducer: Option<String>,
    pub(crate) scorer: String,
    /// The group, the key or the position, of a metric that gives several numbers.
    pub(crate) part: Option<String>,
}

impl FigureTitle {
    /// What stands before the scorer, the scorer, and what follows it.
    pub(crate) fn parts(&self) -> (String, &str, String) {
        let reducer =
            self.reducer.as_ref().map(|reducer| format!(", reduced by {reducer}")).unwrap_or_default();
        let part = self.part.as_ref().map(|part| format!(", {part}")).unwrap_or_default();
        (format!("{} of ", self.metric), &self.scorer, reducer + &part)
    }
}

impl std::fmt::Display for FigureTitle {
    /// `accuracy of choice`, `accuracy of choice, reduced by pass_at_2, physics`
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (before, scorer, after) = self.parts();
        write!(f, "{before}{scorer}{after}")
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

impl ListedLog {
    /// When the run was made, for sorting; the text of the log if it is no time.
    pub(crate) fn sort_time(&self) -> String {
        let time: Option<Timestamp> = self.log.created.parse().ok();
        time.map_or_else(|| self.log.created.clone(), |time| time.to_string())
    }
}
