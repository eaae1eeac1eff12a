//! Are the figures that a log records those of its samples?
//!
//! A figure agrees, differs, or cannot be checked, for a reason that has a type: an alarm that is none makes people ignore
//! the next one. So the plan is not taken from the header alone. Every recorded block is recomputed under the reducer that
//! it names, whatever the header names now, because re-scoring replaces the one and keeps the other (`plan.rs`).

use std::collections::HashSet;
use std::f64::consts::{PI, SQRT_2};

use errorbar_core::engine::unique_names;
use errorbar_core::{
    Draws, Error, IntervalSide, MetricValue, Plan, Reducers, Registry, Results, Role, ScoreColumns, Undefined,
};
use errorbar_stats::distributions::normal_quantile;
use serde_json::Value as Json;

use super::error::{LogErrorKind, Result};
use super::header::{Header, Status};
use super::outcome::{Check, CheckOutcome, DifferenceKind, NotCheckable, Verification};
use super::plan::{
    LogWarning, NamedConversion, RecordedPlan, reducer, version_before_computed_metrics, without_package,
};
use super::unavailable::ReducerConversion;
use crate::inspect::{
    Figure, FigurePart, ProjectedBlock, ProjectedEntry, Projection, is_same_reducer, metric_name,
};
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
            .map(|new| block_not_recorded(&new))
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
pub fn compare(recorded: &RecordedResults, recomputed: &Results) -> Vec<Check> {
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
    checks.extend(pairs.left.iter().map(block_not_recorded));
    Verification { checks, reason: None }.differences().cloned().collect()
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
    differing.map(|(what, old, new)| count_check(what, old, new, Check::of_log)).collect()
}

/// That a number of samples is another one.
fn count_check(
    what: &'static str,
    recorded: u64,
    recomputed: u64,
    check: impl Fn(CheckOutcome) -> Check,
) -> Check {
    let (recorded, recomputed) = (Some(recorded as f64), Some(recomputed as f64));
    Check { recorded, recomputed, ..check(CheckOutcome::Differs(DifferenceKind::Count(what))) }
}

/// That a recomputed block is not in the log.
fn block_not_recorded(new: &ProjectedBlock<'_>) -> Check {
    let block = (new.score.scorer.as_str(), new.score.name(), new.score.reducer.as_deref());
    Check::of_block(block, CheckOutcome::Differs(DifferenceKind::BlockNotRecorded))
}

/// A check of a recorded block.
fn check_of(block: &RecordedBlock, outcome: CheckOutcome) -> Check {
    Check::of_block((&block.scorer, &block.name, block.reducer.as_deref()), outcome)
}

/// A check of each of its figures, none of which was recomputed.
fn figure_checks(block: &RecordedBlock, outcome: impl Fn(&RecordedMetric) -> CheckOutcome) -> Vec<Check> {
    let check = |(key, figure): (&String, &RecordedMetric)| {
        let (metric, recorded) = (Some(key.clone()), Some(figure.value));
        Check { metric, recorded, ..check_of(block, outcome(figure)) }
    };
    block.metrics.iter().map(check).collect()
}

/// The figures of a block that cannot be checked.
fn unchecked(block: &RecordedBlock, reason: &NotCheckable) -> Vec<Check> {
    figure_checks(block, |_| CheckOutcome::NotCheckable(reason.clone()))
}

// The figures of one block.

/// What of the metrics of a scorer cannot be computed, as the warnings say that concern it, or all scorers.
#[derive(Debug, Default)]
struct LeftOut<'w>(Vec<&'w LogWarning>);

impl<'w> LeftOut<'w> {
    fn new(warnings: &'w [LogWarning], of_scorer: &str) -> Self {
        let is_ours = |warning: &&LogWarning| warning.scorer().is_none_or(|scorer| scorer == of_scorer);
        LeftOut(warnings.iter().filter(is_ours).collect())
    }

    /// Metrics that are not registered or cannot be built, with the reasons.
    fn metrics(&self) -> impl Iterator<Item = (&'w str, NotCheckable)> {
        self.0.iter().copied().filter_map(|warning| match warning {
            LogWarning::Unregistered { metric, .. } => {
                Some((metric.as_str(), NotCheckable::CustomMetric { metric: metric.clone() }))
            }
            LogWarning::Unusable { metric, error, .. } => {
                let (name, metric, error) = (metric.as_str(), metric.clone(), error.clone());
                Some((name, NotCheckable::UnusableMetric { metric, error }))
            }
            _ => None,
        })
    }

    /// The metric of this name.
    fn metric(&self, name: &str, is_by_name: bool) -> Option<NotCheckable> {
        let (_, reason) =
            self.metrics().find(|(metric, _)| without_package(metric) == without_package(name))?;
        Some(match reason {
            NotCheckable::CustomMetric { .. } if is_by_name => {
                NotCheckable::MetricNotRecorded { figure: name.to_owned() }
            }
            reason => reason,
        })
    }

    /// The metric of a figure that has the name of none. Older logs do not record which metric one of several figures is
    /// of: a custom one that has no figure of its own name.
    fn nameless(&self, figure: &RecordedMetric, block: &RecordedBlock) -> Option<NotCheckable> {
        if figure.group.is_some() {
            return None;
        }
        let has_own_figure = |name: &str| {
            block.metrics.values().any(|figure| without_package(&figure.name) == without_package(name))
        };
        let unreadable = || {
            self.0.iter().rev().find_map(|warning| match warning {
                LogWarning::Unreadable { problem, .. } => {
                    Some(NotCheckable::UnreadableMetrics { problem: problem.clone() })
                }
                _ => None,
            })
        };
        let nameless = self.metrics().find(|(metric, _)| !has_own_figure(metric));
        nameless.map(|(_, reason)| reason).or_else(unreadable)
    }

    /// The figures of a block that was not recomputed: those of metrics that cannot be, and others, which differ. A block
    /// that records nothing but its scorer has nothing to recompute.
    fn missing(&self, block: &RecordedBlock, is_by_name: bool) -> Vec<Check> {
        let missing = || CheckOutcome::Differs(DifferenceKind::BlockNotRecomputed);
        let has_counts = block.scored_samples.is_some() || block.unscored_samples.is_some();
        if block.metrics.is_empty() && has_counts {
            return vec![check_of(block, missing())];
        }
        figure_checks(block, |figure| {
            let reason = self.metric(metric_name(figure), is_by_name);
            let reason = reason.or_else(|| self.nameless(figure, block));
            reason.map_or_else(missing, CheckOutcome::NotCheckable)
        })
    }

    /// The conversions that are known by name only, of any scorer.
    fn conversions(&self) -> impl Iterator<Item = &'w NamedConversion> {
        self.0.iter().copied().filter_map(|warning| match warning {
            LogWarning::ConversionByName(conversion) => Some(conversion),
            _ => None,
        })
    }

    /// Whether an entry is undefined because of a conversion that is not known.
    fn is_unavailable(&self, entry: &ProjectedEntry<'_>) -> bool {
        self.conversions().next().is_some() && is_unavailable(entry)
    }

    /// The conversion that is among the arguments of a figure.
    fn conversion(&self, figure: &RecordedMetric) -> Option<NotCheckable> {
        let has = |NamedConversion { argument, recorded, .. }: &&NamedConversion| {
            figure.params.iter().any(|(key, value)| has_argument(key, value, argument, recorded))
        };
        self.conversions().find(has).map(|conversion| conversion.clone().into())
    }
}

/// Whether an argument, or one of a metric within it, is the one that is recorded by this name.
fn has_argument(key: &str, value: &Json, argument: &str, recorded: &str) -> bool {
    let is_it = key == argument
        && match value {
            Json::String(name) => name == recorded,
            Json::Null => false,
            _ => true,
        };
    let within = || {
        let fields = value.as_object().into_iter().flatten();
        fields.into_iter().any(|(key, value)| has_argument(key, value, argument, recorded))
    };
    is_it || within()
}

/// A recorded block and the recomputed one.
struct BlockCheck<'a> {
    pub(super) old: &'a RecordedBlock,
    pub(super) new: &'a ProjectedBlock<'a>,
    left_out: LeftOut<'a>,
    /// Whether the metrics are known by the names of figures only.
    pub(super) is_by_name: bool,
    /// The version of the reference, if it is one that treats unscored samples otherwise.
    old_version: Option<&'a str>,
}

impl BlockCheck<'_> {
    /// The figures, then what is different about the numbers of samples.
    pub(super) fn checks(&self) -> Vec<Check> {
        let agreement = Agreement::new(self.old, self.new);
        let mut checks: Vec<Check> = self.counts();
        for (key, figure) in &self.old.metrics {
            let entry = self.new.entries.get(key).filter(|entry| is_same_metric(figure, entry));
            let outcome = self.figure(&agreement, key, figure, entry);
            let recomputed = entry.map(|entry| entry.figure.number());
            let recorded = Some(figure.value);
            checks.push(Check {
                metric: Some(key.clone()),
                recorded,
                recomputed: recomputed.filter(|_| !matches!(outcome, CheckOutcome::NotCheckable(_))),
                is_by_name: self.is_by_name,
                ..self.check(outcome)
            });
        }
        let extra = self.new.entries.iter().filter(|(key, entry)| {
            !self.old.metrics.get(*key).is_some_and(|figure| is_same_metric(figure, entry))
        });
        for (key, entry) in extra {
            // A custom metric of the same name may have shifted the numbers behind keys, and what cannot be computed need not
            // be recorded.
            let is_known = self.left_out.metric(&entry.figure.result.spec.name, false).is_none();
            if is_known && !self.left_out.is_unavailable(entry) {
                checks.push(Check {
                    metric: Some(key.clone()),
                    recomputed: Some(entry.figure.number()),
                    ..self.check(CheckOutcome::Differs(DifferenceKind::Figure))
                });
            }
        }
        checks
    }

    fn check(&self, outcome: CheckOutcome) -> Check {
        check_of(self.old, outcome)
    }

    /// The version that computed these figures otherwise, because there are unscored samples.
    fn otherwise(&self) -> Option<NotCheckable> {
        let counts = &self.new.score.counts;
        let version = self.old_version.filter(|_| counts.unscored + counts.unscored_epochs > 0)?.to_owned();
        Some(NotCheckable::OldUnscored { version })
    }

    fn counts(&self) -> Vec<Check> {
        if self.otherwise().is_some() {
            return Vec::new();
        }
        let counts = &self.new.score.counts;
        let counts = [
            ("scored samples", self.old.scored_samples, counts.scored as u64),
            ("unscored samples", self.old.unscored_samples, counts.unscored as u64),
        ];
        let differing = counts.into_iter().filter_map(|(what, recorded, recomputed)| {
            let recorded = recorded.filter(|recorded| *recorded != recomputed)?;
            Some(count_check(what, recorded, recomputed, |outcome| self.check(outcome)))
        });
        differing.collect()
    }

    fn figure(
        &self,
        agreement: &Agreement<'_>,
        key: &str,
        figure: &RecordedMetric,
        entry: Option<&ProjectedEntry<'_>>,
    ) -> CheckOutcome {
        let is_computed = |entry: &&ProjectedEntry<'_>| !is_unavailable(entry);
        let reason = self.reason(figure, entry);
        // What is undefined because it cannot be computed does not agree with what is not a number.
        let entry_to_compare = entry.filter(|entry| reason.is_none() || is_computed(entry));
        if entry_to_compare.is_some_and(|entry| agreement.holds(figure, key, &entry.figure)) {
            return CheckOutcome::Agrees;
        }
        if let Some(reason) = reason {
            // Where a custom metric has the name of a built-in one, keys do not show which is which.
            let namesakes = self.new.entries.iter().filter(|(_, other)| other.name == figure.name);
            let mut namesakes = namesakes.filter(|(_, other)| is_computed(other));
            return match namesakes.any(|(key, other)| agreement.holds(figure, key, &other.figure)) {
                true => CheckOutcome::Agrees,
                false => CheckOutcome::NotCheckable(reason),
            };
        }
        let error = self.failure(figure).filter(|_| entry.is_none());
        let failed = |error: &Error| DifferenceKind::Failed(error.to_string());
        CheckOutcome::Differs(error.map_or(DifferenceKind::Figure, failed))
    }

    /// Why a figure that does not agree cannot be checked, if so.
    fn reason(&self, figure: &RecordedMetric, entry: Option<&ProjectedEntry<'_>>) -> Option<NotCheckable> {
        let metric = metric_name(figure);
        if let Some(reason) = self.left_out.metric(metric, self.is_by_name) {
            return Some(reason);
        }
        match entry {
            Some(entry) if is_unavailable(entry) => {
                return self.left_out.conversion(figure).or_else(|| self.otherwise());
            }
            Some(_) => return self.otherwise(),
            None => {}
        }
        let is_known = self.new.score.metrics.iter().any(|known| known.spec.name == without_package(metric));
        match self.failure(figure) {
            Some(error @ Error::SharedGroupName(_)) => {
                return Some(NotCheckable::SharedGroupName { error: error.clone() });
            }
            Some(_) => return None,
            None if is_known => return None,
            None => {}
        }
        self.left_out.nameless(figure, self.old)
    }

    /// Why the metric of a figure failed now, if it did.
    fn failure(&self, figure: &RecordedMetric) -> Option<&Error> {
        // A group has no package, a name has.
        let is_of = |failed: &str| match &figure.group {
            Some(group) => without_package(failed) == without_package(group),
            None => failed == figure.name,
        };
        let failure = self.new.score.failures.iter().find(|failure| is_of(&failure.metric));
        failure.map(|failure| &failure.error)
    }
}

/// Whether an entry is undefined for a reason that does not follow from the number of scores: the log does not record
/// enough to compute it, or the metric has no figure for these scores.
fn is_unavailable(entry: &ProjectedEntry<'_>) -> bool {
    entry.figure.estimate.is_some_and(|estimate| matches!(estimate.value, Err(Undefined::Other(_))))
}

/// Whether a figure can be of the same metric as a recomputed one of the same key. Older logs do not record the metric.
fn is_same_metric(figure: &RecordedMetric, entry: &ProjectedEntry<'_>) -> bool {
    match (&figure.group, &entry.group) {
        (Some(old), Some(new)) => without_package(old) == without_package(new),
        (Some(_), None) => false,
        (None, _) => true,
    }
}

// When two computations of a figure are the same.

/// How far two computations of one figure may be apart, relative to it.
const RELATIVE: f64 = 1e-9;
/// And where the figure is nothing but rounding: in all, and relative to the largest figure of its block.
const ABSOLUTE: f64 = 1e-12;
const ROUNDING: f64 = 1e-15;
/// How many standard errors of the resampling two random figures may be apart.
const MONTE_CARLO: f64 = 5.0;

/// A recorded block and a recomputed one, to compare their figures.
struct Agreement<'a> {
    block: &'a RecordedBlock,
    recomputed: &'a ProjectedBlock<'a>,
    rounding: f64,
}

impl<'a> Agreement<'a> {
    pub(super) fn new(block: &'a RecordedBlock, recomputed: &'a ProjectedBlock<'a>) -> Self {
        let finite =
            block.metrics.values().map(|metric| metric.value.abs()).filter(|value| value.is_finite());
        let rounding = ABSOLUTE.max(ROUNDING * finite.fold(0.0, f64::max));
        Agreement { block, recomputed, rounding }
    }

    /// Whether a recorded figure is the recomputed one that has this key.
    pub(super) fn holds(&self, old: &RecordedMetric, key: &str, new: &Figure<'_>) -> bool {
        agree(old.value, new.number(), self.rounding)
            || agree_but_for_the_seed(key, old, new, self.block, self.recomputed)
    }
}

fn agree(old: f64, new: f64, rounding: f64) -> bool {
    old == new
        || old.is_nan() && new.is_nan()
        || (old - new).abs() <= (RELATIVE * old.abs().max(new.abs())).max(rounding)
}

/// Whether two draws of a random figure, under different seeds, are as near as draws are.
fn agree_but_for_the_seed(
    key: &str,
    old: &RecordedMetric,
    new: &Figure<'_>,
    block: &RecordedBlock,
    recomputed: &ProjectedBlock<'_>,
) -> bool {
    let Some(draws) = draws(new) else { return false };
    let seed = old.metadata.as_ref().and_then(|notes| notes.get("seed")).and_then(Json::as_u64);
    if seed == Some(draws.seed) {
        return false;
    }
    let value = new.number();
    let (apart, size) = ((old.value - value).abs(), old.value.abs().max(value.abs()));
    let count = (draws.count as f64).max(1.0);
    match new.part {
        // The standard deviation of an estimated standard deviation is σ/√(2B); both of the two are drawn.
        FigurePart::Value | FigurePart::Entry => apart <= MONTE_CARLO * SQRT_2 * size / (2.0 * count).sqrt(),
        FigurePart::Lower | FigurePart::Upper => {
            // The spread of the means, off the width of the interval.
            let other = other_end(key, new, recomputed).and_then(|other| block.metrics.get(other));
            let width = other.map_or(size, |other| (other.value - old.value).abs());
            let interval = new.estimate.and_then(|estimate| estimate.interval.as_ref().ok());
            let Some(interval) = interval else { return false };
            let tail = match interval.side {
                IntervalSide::TwoSided => (1.0 - interval.level) / 2.0,
                _ => 1.0 - interval.level,
            };
            let z = normal_quantile(1.0 - tail);
            // A sample quantile has the standard deviation √(p(1−p)/B) / density, in units of the spread.
            let density = (-z * z / 2.0).exp() / (2.0 * PI).sqrt();
            let error = (tail * (1.0 - tail) / count).sqrt() / density * width / (2.0 * z);
            // Means of few values lie apart, and a quantile may be the one or the next of them.
            let scored = recomputed.score.counts.scored.max(1) as f64;
            apart <= MONTE_CARLO * SQRT_2 * error + width / scored
        }
    }
}

/// The key of the other end of an interval.
fn other_end<'p>(key: &str, figure: &Figure<'_>, block: &'p ProjectedBlock<'_>) -> Option<&'p str> {
    // The two ends stand one after the other.
    let at = block.entries.get_index_of(key)?;
    let at = if figure.part == FigurePart::Lower { at.checked_add(1)? } else { at.checked_sub(1)? };
    let (other, entry) = block.entries.get_index(at)?;
    let is_end = matches!(entry.figure.part, FigurePart::Lower | FigurePart::Upper)
        && entry.figure.part != figure.part;
    is_end.then_some(other)
}

/// What makes an error or an interval random: its own draws, or for an aggregate those of the groups.
fn draws(figure: &Figure<'_>) -> Option<Draws> {
    fn first(value: &MetricValue) -> Option<Draws> {
        match value {
            MetricValue::One(estimate) => estimate.draws,
            MetricValue::Map(map) => map.values().flatten().find_map(|estimate| estimate.draws),
            MetricValue::List(list) => list.iter().flatten().find_map(|estimate| estimate.draws),
            MetricValue::Groups(groups) => groups.groups.iter().find_map(|group| first(&group.value)),
        }
    }
    let is_drawn = matches!(figure.result.role, Role::ErrorOf | Role::IntervalOf);
    let own = figure.estimate.and_then(|estimate| estimate.draws);
    let of_groups = || figure.is_mean_of_groups.then(|| first(&figure.result.value)).flatten();
    own.or_else(of_groups).filter(|_| is_drawn)
}
