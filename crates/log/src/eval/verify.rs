//! Are the figures that a log records those of its samples?
//!
//! A figure agrees, differs, or cannot be checked, for a reason that has a type: an alarm that is none makes people ignore
//! the next one. So the plan is not taken from the header alone. Every recorded block is recomputed under the reducer that
//! it names, whatever the header names now, because re-scoring replaces the one and keeps the other.

mod agreement;
mod block;
mod outcome;

use std::collections::HashSet;

use errorbar_core::{Plan, Reducers, Registry, Results, ScoreColumns, ScoreParts, unique_names};

use self::block::{BlockCheck, LeftOut};
pub use self::outcome::{
    Check, CheckCounts, CheckOutcome, Difference, DifferenceKind, NotCheckable, Verification, VerifyOutcome,
};
use super::error::{LogErrorKind, Result};
use super::header::{Header, Status};
use super::plan::{
    LogWarning, MEAN, RecordedPlan, is_same_reducer, reducer, version_before_computed_metrics,
};
use super::recorded::{RecordedBlock, RecordedMetric, RecordedResults};
use crate::inspect::{ProjectedBlock, Projection};

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
    /// The reducers of recorded blocks that the header does not name.
    others: Vec<OtherReducer>,
}

/// A reducer that a recorded block has and the header does not name.
#[derive(Debug)]
struct OtherReducer {
    /// None for the implied mean, or for no reduction at all.
    name: Option<String>,
    /// None if it is not registered.
    plan: Option<Plan>,
}

impl<'h> Verifier<'h> {
    /// Finds out what to compute for the log that has this header.
    ///
    /// # Errors
    /// A log that records more metrics than any evaluation has.
    pub fn new(header: &'h Header, registry: &Registry) -> Result<Self> {
        let recorded = RecordedPlan::new(header, registry)?;
        let mut verifier = Verifier { header, recorded, others: Vec::new() };
        for block in verifier.blocks() {
            let name = block.reducer.as_deref();
            let is_known = verifier.others.iter().any(|other| other.name.as_deref() == name);
            if is_known || verifier.is_planned(name) {
                continue;
            }
            let reducers = match name {
                None => Some(Reducers::Implicit),
                Some(name) => reducer(name, registry).ok().map(|one| Reducers::explicit(vec![one])),
            };
            let plan = reducers.map(|reducers| verifier.recorded.plan.clone().reducers(reducers));
            verifier.others.push(OtherReducer { name: name.map(str::to_owned), plan });
        }
        Ok(verifier)
    }

    /// What of the recorded plan cannot be built.
    pub fn warnings(&self) -> &[LogWarning] {
        &self.recorded.warnings
    }

    /// The plan that the header records; the metadata that its metrics need is all that has to be read.
    pub fn plan(&self) -> &Plan {
        &self.recorded.plan
    }

    /// The parts of scores that have to be read.
    pub fn score_parts(&self) -> ScoreParts {
        let others = self.others.iter().filter_map(|other| other.plan.as_ref());
        others.map(Plan::score_parts).fold(self.recorded.plan.score_parts(), ScoreParts::max)
    }

    fn blocks(&self) -> &'h [RecordedBlock] {
        self.header.results.as_ref().map_or(&[], |results| results.scores.as_slice())
    }

    /// Whether the plan has this reducer.
    fn is_planned(&self, name: Option<&str>) -> bool {
        match self.recorded.plan.reducers.log_names() {
            Some(names) if names.is_empty() => name.is_none(),
            Some(names) => names.iter().any(|planned| is_same_reducer(Some(planned), name)),
            None => name.is_none_or(|name| name == MEAN) && self.recorded.unknown_reducers.is_empty(),
        }
    }

    /// Checks the figures against the scores of the samples.
    ///
    /// # Errors
    /// Scores from which nothing can be computed, for instance if a sample is there twice.
    pub fn verify(&self, columns: &ScoreColumns) -> Result<Verification> {
        let Some(recorded) = &self.header.results else {
            return Ok(Verification::not_checkable(match self.header.status {
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
        let mut checks = count_checks(recorded, &results);
        // Blocks of one name are compared in their order.
        let is_planned = |block: &RecordedBlock| self.is_planned(block.reducer.as_deref());
        let others = self.evaluate_others(columns, recorded)?;
        let others: Vec<Option<Projection<'_>>> =
            others.iter().map(|results| results.as_ref().map(Projection::new)).collect();
        for block in &recorded.scores {
            // Beside any reducers, metrics that want every epoch have a block without one.
            if let Some(new) = pairs.take_unreduced(block) {
                checks.extend(self.check_block(block, Some(&new)));
                continue;
            }
            let mut other = self.others.iter().zip(&others).filter(|(other, _)| other.name == block.reducer);
            checks.extend(match other.next().filter(|_| !is_planned(block)) {
                None => self.check_block(block, pairs.take(block).as_ref()),
                Some((_, Some(projection))) => self.check_block(block, find(projection, block)),
                Some((_, None)) => {
                    let reducer = block.reducer.clone().unwrap_or_default();
                    unchecked(block, &NotCheckable::CustomReducer { reducer })
                }
            });
        }
        checks.extend(self.not_recorded(recorded, pairs.left));
        let has_figures = recorded.scores.iter().any(|block| !block.metrics.is_empty());
        Ok(Verification { checks, reason: (!has_figures).then_some(NotCheckable::NoFigures) })
    }

    /// Why nothing in the log can be checked, if so.
    fn reason_of_all(&self, recorded: &RecordedResults, columns: &ScoreColumns) -> Option<NotCheckable> {
        let eval = &self.header.eval;
        if columns.is_empty() && (recorded.total_samples > 0 || eval.dataset.samples.is_some_and(|n| n > 0)) {
            return Some(NotCheckable::NoSamples);
        }
        None
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

    /// The results under each of the other reducers; none where it is not registered.
    fn evaluate_others(
        &self,
        columns: &ScoreColumns,
        recorded: &RecordedResults,
    ) -> Result<Vec<Option<Results>>> {
        let evaluate = |plan: &Plan| plan.evaluate(columns).map(|evaluation| evaluation.results);
        let other = |other: &OtherReducer| {
            let Some(plan) = &other.plan else { return Ok(None) };
            let results = evaluate(plan)?;
            // No reducer is recorded for the implied mean, and if there was no reduction, which then has more scores.
            let projection = Projection::new(&results);
            let is_unreduced = |block: &&RecordedBlock| {
                let counts = find(&projection, block).map(|new| new.score.counts.scored as u64);
                block.scored_samples.zip(counts).is_some_and(|(old, new)| old > new)
            };
            let mut of_other = recorded.scores.iter().filter(|block| block.reducer == other.name);
            if other.name.is_none() && of_other.any(|block| is_unreduced(&block)) {
                return evaluate(&plan.clone().reducers(Reducers::Disabled)).map(Some);
            }
            Ok(Some(results))
        };
        let results: std::result::Result<_, errorbar_core::Error> = self.others.iter().map(other).collect();
        Ok(results.map_err(LogErrorKind::Core)?)
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
        // Or it left those of a scorer as they were, under reducers that are no longer those of the header.
        let has_other_reducers = |scorer: &str| {
            let mut blocks = recorded.scores.iter().filter(|block| block.scorer == scorer);
            let unknown = &self.recorded.unknown_reducers;
            let is_named =
                |name: &Option<String>| unknown.iter().any(|(known, _)| name.as_ref() == Some(known));
            blocks.any(|block| !self.is_planned(block.reducer.as_deref()) && !is_named(&block.reducer))
        };
        let is_of_custom_reducers = !self.recorded.unknown_reducers.is_empty()
            && matches!(self.recorded.plan.reducers, Reducers::Implicit);
        left.into_iter()
            .filter(|new| !is_rescored && !is_of_custom_reducers && !has_other_reducers(&new.score.scorer))
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
    let mut checks = count_checks(recorded, recomputed);
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

/// The recomputed block of a scorer and a key, where there is one reducer only.
fn find<'p, 'r>(projection: &'p Projection<'r>, old: &RecordedBlock) -> Option<&'p ProjectedBlock<'r>> {
    projection.blocks.iter().find(|new| is_of(new, old))
}

fn is_of(new: &ProjectedBlock<'_>, old: &RecordedBlock) -> bool {
    new.score.name() == old.name && new.score.scorer == old.scorer
}

/// What is different about the numbers of samples of the whole.
fn count_checks(recorded: &RecordedResults, recomputed: &Results) -> Vec<Check> {
    let counts = [
        ("total samples", recorded.total_samples, recomputed.total_samples as u64),
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
