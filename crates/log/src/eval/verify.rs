//! Are the figures that a log records those of its samples?
//!
//! A figure agrees, differs, or cannot be checked, for a reason that has a type: an alarm that is none makes people ignore
//! the next one. So the plan is not taken from the header alone. Every recorded block is recomputed under the reducer that
//! it names, whatever the header names now, because re-scoring replaces the one and keeps the other (`plan/reducers.rs`).

mod agreement;
mod block;
mod outcome;

use std::collections::HashSet;

use errorbar_core::engine::unique_names;
use errorbar_core::{Plan, Reducers, Registry, Results, ScoreColumns};

use self::block::{BlockCheck, LeftOut};
pub use self::outcome::{
    Check, CheckCounts, CheckOutcome, Difference, DifferenceKind, NotCheckable, Verification, VerifyOutcome,
};
use super::error::{LogErrorKind, Result};
use super::header::{Header, Status};
use super::plan::{LogWarning, RecordedPlan, ReducerConversion, reducer, version_before_computed_metrics};
use crate::inspect::{ProjectedBlock, Projection, is_same_reducer};
use crate::recorded::{RecordedBlock, RecordedMetric, RecordedResults};

/// Checks the figures that a log records.
///
/// ```
/// use errorbar_core::{Plan, Registry, Score, ScoreColumns};
/// use errorbar_log::eval::*;
/// let mut columns = ScoreColumns::new(["match"]);
/// columns.push("q1", 1).score("match", Score::new("C"))?;
/// let mut recorded = RecordedResults::from(&Plan::new().evaluate(&columns)?.results);
/// recorded.scores[0].metrics["accuracy"].value = 0.5;
/// let start = StartRecord::new(EvalInfo::new("quiz", "mockllm/model"), PlanRecord::default());
/// let header = Header::started(start).status(Status::Success).results(recorded);
/// let verification = Verifier::new(&header, &Registry::built_in())?.verify(&columns)?;
/// let difference = verification.differences().next().unwrap();
/// assert_eq!(difference.to_string(), "match · accuracy: recorded 0.5, recomputed 1");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Verifier<'h> {
    header: &'h Header,
    recorded: RecordedPlan,
    /// The reducers of recorded blocks that are not registered.
    custom_reducers: HashSet<&'h str>,
    conversions: Vec<ReducerConversion>,
}

impl<'h> Verifier<'h> {
    /// Finds out what to compute for the log that has this header.
    ///
    /// # Errors
    /// A log that records more metrics than any evaluation has.
    pub fn new(header: &'h Header, registry: &Registry) -> Result<Self> {
        let recorded = RecordedPlan::new(header, registry)?;
        let blocks = header.results.iter().flat_map(|results| &results.scores);
        let names: HashSet<&str> = blocks.filter_map(|block| block.reducer.as_deref()).collect();
        let custom_reducers = names.into_iter().filter(|name| reducer(name, registry).is_err()).collect();
        Ok(Verifier { header, recorded, custom_reducers, conversions: Vec::new() })
    }

    /// The conversions of reducers that the log does not record; see [`ReducerConversion::find`].
    #[must_use]
    pub fn conversions(mut self, conversions: Vec<ReducerConversion>) -> Self {
        self.conversions = conversions;
        self
    }

    /// What of the recorded plan cannot be built.
    pub fn warnings(&self) -> &[LogWarning] {
        &self.recorded.warnings
    }

    /// The plan that the log records, each scorer under the reducers of its blocks; the metadata and the parts of scores
    /// that it needs are all that has to be read.
    pub fn plan(&self) -> &Plan {
        &self.recorded.plan
    }

    /// Checks the figures against the scores of the samples.
    ///
    /// # Errors
    /// Scores from which nothing can be computed, for instance if a sample is there twice.
    pub fn verify(&self, columns: &ScoreColumns) -> Result<Verification> {
        let Some(recorded) = &self.header.results else {
            return Ok(Verification::not_checkable(match self.header.status {
                Status::Success if columns.is_empty() => NotCheckable::NoSamples,
                Status::Success => NotCheckable::NotScored,
                status => NotCheckable::NoResults { status },
            }));
        };
        if let Some(reason) = self.reason_of_all(recorded, columns) {
            let checks = recorded.scores.iter().flat_map(|block| unchecked(block, &reason)).collect();
            return Ok(Verification { checks, reason: Some(reason) });
        }
        let results = self.recorded.plan.evaluate(columns).map_err(LogErrorKind::Core)?.results;
        if let Some(reason) = self.reason_of_none(recorded, &results) {
            return Ok(Verification::not_checkable(reason));
        }
        let mut pairs = Pairs::new(&results);
        let absent = recorded_absent(self.header, recorded, columns);
        let mut checks = count_checks(recorded, &results, absent);
        // Blocks of one name are compared in their order.
        for block in &recorded.scores {
            // Beside any reducers, metrics that want every epoch have a block without one.
            if let Some(new) = pairs.take_unreduced(block) {
                checks.extend(self.check_block(block, Some(&new)));
                continue;
            }
            checks.extend(
                match block.reducer.as_deref().filter(|name| self.custom_reducers.contains(name)) {
                    Some(reducer) => {
                        unchecked(block, &NotCheckable::CustomReducer { reducer: reducer.to_owned() })
                    }
                    None => {
                        let new = pairs.take(block);
                        match self.conversion_of(block) {
                            Some(reason) => unchecked(block, &reason),
                            None => self.check_block(block, new.as_ref()),
                        }
                    }
                },
            );
        }
        checks.extend(self.not_recorded(recorded, pairs.left));
        let has_figures = recorded.scores.iter().any(|block| !block.metrics.is_empty());
        Ok(Verification { checks, reason: (!has_figures).then_some(NotCheckable::NoFigures) })
    }

    /// Why nothing in the log can be checked, if so.
    fn reason_of_all(&self, recorded: &RecordedResults, columns: &ScoreColumns) -> Option<NotCheckable> {
        // Very old logs do not record how many there were.
        let was_empty = recorded.total_samples == 0 && self.header.eval.dataset.samples == Some(0);
        (columns.is_empty() && !was_empty).then_some(NotCheckable::NoSamples)
    }

    /// Why the log records nothing to check, if so.
    fn reason_of_none(&self, recorded: &RecordedResults, results: &Results) -> Option<NotCheckable> {
        if !recorded.scores.is_empty() {
            return None;
        }
        match results.scores.iter().all(|block| block.counts.scored + block.counts.unscored == 0) {
            true => Some(NotCheckable::NotScored),
            // These versions compute nothing if reduction is disabled, and do not record that it is.
            false => version_before_computed_metrics(&self.header.eval).map(|_| NotCheckable::NoFigures),
        }
    }

    fn conversion_of(&self, block: &RecordedBlock) -> Option<NotCheckable> {
        let is_it = |one: &&ReducerConversion| {
            one.scorer == block.scorer && block.reducer.as_deref() == Some(one.reducer.as_str())
        };
        let found = self.conversions.iter().find(is_it)?;
        Some(NotCheckable::ReducerConversion { reducer: found.reducer.clone() })
    }

    fn check_block(&self, block: &RecordedBlock, new: Option<&ProjectedBlock<'_>>) -> Vec<Check> {
        let left_out = LeftOut::new(&self.recorded.warnings, &block.scorer);
        let is_by_name = self.recorded.by_name.contains(&block.scorer);
        let old_version = version_before_computed_metrics(&self.header.eval);
        match new {
            Some(new) => BlockCheck { old: block, new, left_out, is_by_name, old_version }.checks(),
            None => left_out.missing(block, is_by_name),
        }
    }

    /// What was recomputed and is not in the log, unless re-scoring explains that.
    fn not_recorded(&self, recorded: &RecordedResults, left: Vec<ProjectedBlock<'_>>) -> Vec<Check> {
        let names = self.header.eval.scorers.as_ref().map(|scorers| {
            unique_names(scorers.iter().map(|scorer| scorer.name.as_str()))
                .into_iter()
                .collect::<HashSet<_>>()
        });
        // Scoring anew replaced the results of the scorers that the header names, up to 0.3.139 even where it appended.
        let is_rescored = names
            .as_ref()
            .is_some_and(|names| recorded.scores.iter().any(|block| !names.contains(&block.scorer)));
        // Or all that a scorer has is of custom reducers, which the header need not name any more.
        let is_of_custom_reducers = |scorer: &str| {
            let unknown = &self.recorded.unknown_reducers;
            let is_named = |name: &str| unknown.iter().any(|(known, _)| known == name);
            let mut blocks = recorded.scores.iter().filter(|block| block.scorer == scorer);
            blocks.any(|block| {
                let custom = block.reducer.as_deref().filter(|name| self.custom_reducers.contains(name));
                custom.is_some_and(|name| !is_named(name))
            })
        };
        let has_custom_reducers_only = !self.recorded.unknown_reducers.is_empty()
            && matches!(self.recorded.plan.reducers, Reducers::Implicit);
        left.into_iter()
            .filter(|new| {
                !is_rescored && !has_custom_reducers_only && !is_of_custom_reducers(&new.score.scorer)
            })
            .map(|new| {
                let outcome = CheckOutcome::Differs(DifferenceKind::BlockNotRecorded);
                Check::of_block(&new.score.scorer, new.score.name(), new.score.reducer.as_deref(), outcome)
            })
            .collect()
    }
}

/// Every difference between what a log records and what was recomputed; none if all is well. Nothing about the log is
/// known but its results, so what cannot be recomputed differs; see [`Verifier`].
///
/// Figures agree to nine digits; not-a-number equals itself. A random figure must be the same if its recorded
/// seed is ours, else lie within its resampling error.
///
/// ```
/// use errorbar_core::{Plan, Score, ScoreColumns};
/// use errorbar_log::eval::{RecordedResults, compare};
/// let mut columns = ScoreColumns::new(["match"]);
/// columns.push("q1", 1).score("match", Score::new("C"))?;
/// let results = Plan::new().evaluate(&columns)?.results;
/// let mut recorded = RecordedResults::from(&results);
/// recorded.scores[0].metrics["accuracy"].value = 0.5;
/// assert_eq!(compare(&recorded, &results)[0].to_string(), "match · accuracy: recorded 0.5, recomputed 1");
/// # Ok::<(), errorbar_core::Error>(())
/// ```
pub fn compare(recorded: &RecordedResults, recomputed: &Results) -> Vec<Difference> {
    let mut pairs = Pairs::new(recomputed);
    // Which samples there are is not known here.
    let stopped = recorded.early_stops().collect::<HashSet<_>>().len() as u64;
    let absent = stopped.min(recorded.total_samples.saturating_sub(recomputed.total_samples as u64));
    let mut checks = count_checks(recorded, recomputed, absent);
    for old in &recorded.scores {
        checks.extend(match pairs.take(old) {
            Some(new) => {
                let left_out = LeftOut::default();
                BlockCheck { old, new: &new, left_out, is_by_name: false, old_version: None }.checks()
            }
            None => LeftOut::default().missing(old, false),
        });
    }
    checks.extend(pairs.left.into_iter().map(|new| {
        let outcome = CheckOutcome::Differs(DifferenceKind::BlockNotRecorded);
        Check::of_block(&new.score.scorer, new.score.name(), new.score.reducer.as_deref(), outcome)
    }));
    Verification { checks, reason: None }.differences().collect()
}

/// The recomputed blocks that no recorded one was found for yet.
struct Pairs<'r> {
    left: Vec<ProjectedBlock<'r>>,
}

impl<'r> Pairs<'r> {
    fn new(results: &'r Results) -> Self {
        Pairs { left: Projection::new(results).blocks }
    }

    /// The first block of unreduced scores that has all the figures of a recorded one without a reducer.
    fn take_unreduced(&mut self, old: &RecordedBlock) -> Option<ProjectedBlock<'r>> {
        let has_all = |new: &ProjectedBlock<'_>| old.metrics.keys().all(|key| new.entries.contains_key(key));
        let is_it = |new: &ProjectedBlock<'_>| new.score.unreduced && is_of(new, old) && has_all(new);
        let may_be = old.reducer.is_none() && !old.metrics.is_empty();
        let at = self.left.iter().position(is_it).filter(|_| may_be)?;
        Some(self.left.remove(at))
    }

    /// The first block that is the same as a recorded one.
    fn take(&mut self, old: &RecordedBlock) -> Option<ProjectedBlock<'r>> {
        let is_exact = |new: &ProjectedBlock<'_>| new.reducer() == old.reducer;
        // Older versions name the implied mean here and do not there.
        let is_mean = |new: &ProjectedBlock<'_>| {
            !new.score.unreduced && is_same_reducer(new.reducer().as_deref(), old.reducer.as_deref())
        };
        let find = |is_same: &dyn Fn(&ProjectedBlock<'_>) -> bool| {
            self.left.iter().position(|new| is_of(new, old) && is_same(new))
        };
        let at = find(&is_exact).or_else(|| find(&is_mean))?;
        Some(self.left.remove(at))
    }
}

fn is_of(new: &ProjectedBlock<'_>, old: &RecordedBlock) -> bool {
    new.score.name() == old.name && new.score.scorer == old.scorer
}

/// The number of samples that the total counts and that are not in the log, as it says itself: those that early stopping
/// names, those that a run was ended without, and those of shards that are not merged yet.
fn recorded_absent(header: &Header, recorded: &RecordedResults, columns: &ScoreColumns) -> u64 {
    let present = columns.len() as u64;
    let others = recorded.total_samples.saturating_sub(present);
    // Scoring again with `overwrite` counts the samples of the log, and leaves the summary of early stopping.
    if others == 0 {
        return 0;
    }
    if recorded.logged_samples.is_some_and(|logged| logged <= present) {
        return others;
    }
    let merged = header.eval.merged_samples().filter(|_| header.status != Status::Success);
    if merged == Some(present) {
        return others;
    }
    let mut stopped: HashSet<(String, u32)> = recorded.early_stops().collect();
    if !stopped.is_empty() {
        for row in 0..columns.len() {
            stopped.remove(&(columns.id(row).to_owned(), columns.epoch(row)));
        }
    }
    stopped.len() as u64
}

/// What is different about the numbers of samples of the whole, of which this number is not in the log.
fn count_checks(recorded: &RecordedResults, recomputed: &Results, absent: u64) -> Vec<Check> {
    let counts = [
        ("total samples", recorded.total_samples, recomputed.total_samples as u64 + absent),
        ("completed samples", recorded.completed_samples, recomputed.completed_samples as u64),
    ];
    // Very old logs do not record the number.
    let differing = counts.into_iter().filter(|(_, old, new)| old != new && *old != 0);
    let check = |(what, recorded, recomputed)| Check {
        scorer: None,
        score: None,
        reducer: None,
        metric: None,
        recorded: Some(recorded as f64),
        recomputed: Some(recomputed as f64),
        is_by_name: false,
        outcome: CheckOutcome::Differs(DifferenceKind::Count { what, recorded, recomputed }),
    };
    differing.map(check).collect()
}

/// The figures of a block that cannot be checked.
fn unchecked(block: &RecordedBlock, reason: &NotCheckable) -> Vec<Check> {
    let figure = |(key, figure): (&String, &RecordedMetric)| {
        let outcome = CheckOutcome::NotCheckable(reason.clone());
        Check {
            metric: Some(key.clone()),
            recorded: Some(figure.value),
            ..Check::of_block(&block.scorer, &block.name, block.reducer.as_deref(), outcome)
        }
    };
    block.metrics.iter().map(figure).collect()
}
