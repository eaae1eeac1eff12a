//! Stopping a run early: its samples are taken in a random order, and the rules are looked at over the longest prefix of
//! that order which is finished.
//!
//! Whatever finishes first would be biased: where wrong answers take longer, right ones come first. A prefix of an order
//! that was drawn before is not. When a rule holds, no further sample starts, and those that have started finish: the
//! sequence is valid at any time, so they are part of the estimate, and the samples of the log are a prefix again.

use std::cmp::Ordering;
use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use errorbar_core::{EarlyStop, Plan, SampleValue, ScoreColumns};
use errorbar_inference::{MeanFigure, RuleMeasure, StopRule};
use errorbar_log::eval::{EvalLog, SampleFields};
use errorbar_stats::sequential::{ConfidenceSequence, SequenceError, random_order};

use crate::{AnyScorer, Error, NamedSample, Result, StopRuleProblem};

/// The rules of a run, and the order of its samples.
#[derive(Clone, Debug)]
pub(super) struct StopPlan {
    pub(super) rules: Vec<PlannedRule>,
    pub(super) seed: u64,
    level: f64,
    /// The number of the sample at each position.
    order: Vec<u32>,
    /// The position of each sample.
    positions: Vec<u32>,
}

impl StopPlan {
    /// Checks all rules; none for a run without rules.
    pub(super) fn new(
        rules: &[StopRule],
        plan: &Plan,
        epochs: u32,
        scorers: &[AnyScorer],
        samples: &[NamedSample],
    ) -> Result<Option<Self>, Vec<Error>> {
        if rules.is_empty() {
            return Ok(None);
        }
        let (mut planned, mut problems) = (Vec::new(), Vec::new());
        for rule in rules {
            match PlannedRule::new(rule, plan, epochs, scorers, samples) {
                Ok(rule) => planned.push(rule),
                Err(problem) => problems.push(problem),
            }
        }
        if !problems.is_empty() {
            return Err(problems);
        }
        let order = random_order(u32::try_from(samples.len()).unwrap_or(u32::MAX), plan.seed);
        let mut positions = vec![0; order.len()];
        for (position, sample) in (0..).zip(&order) {
            if let Some(place) = positions.get_mut(*sample as usize) {
                *place = position;
            }
        }
        Ok(Some(StopPlan { rules: planned, seed: plan.seed, level: plan.errors.level(), order, positions }))
    }

    /// The position of a sample in the random order.
    pub(super) fn position(&self, sample: usize) -> u32 {
        self.positions.get(sample).copied().unwrap_or(u32::MAX)
    }

    /// The rules, as logs record them.
    pub(super) fn texts(&self) -> Vec<String> {
        self.rules.iter().map(|rule| rule.rule.to_string()).collect()
    }

    /// How estimates allow for a stop after the first samples of the order.
    pub(super) fn early_stop(&self, samples: &[NamedSample], taken: usize) -> Result<Arc<EarlyStop>, String> {
        EarlyStop::new(samples.iter().map(|(id, _)| id.to_string()), self.seed, taken as u64).map(Arc::new)
    }
}

/// How far a confidence sequence is.
#[derive(Clone, Debug, PartialEq)]
pub struct SequenceProgress {
    /// The rule that it is for.
    pub rule: StopRule,
    /// The metric; that of a difference to another log has the same name.
    pub metric: String,
    /// The mean of the samples so far: the first ones of the random order.
    pub value: Option<f64>,
    /// The lower end of the interval.
    pub lower: f64,
    /// The upper end.
    pub upper: f64,
    /// On which side of the value of the rule the mean of the benchmark is; none if it may be the value, or there is no value.
    pub side: Option<Ordering>,
    /// The number of samples so far.
    pub samples: u64,
    /// The number of samples of the benchmark.
    pub population: u64,
}

impl SequenceProgress {
    /// Whether the rule holds.
    pub fn holds(&self) -> bool {
        match self.rule.measure {
            RuleMeasure::Width { below, .. } => self.upper - self.lower < below,
            RuleMeasure::Decided { .. } => self.side.is_some(),
            RuleMeasure::BetterThan { .. } => self.side == Some(Ordering::Greater),
            RuleMeasure::WorseThan { .. } => self.side == Some(Ordering::Less),
            _ => false,
        }
    }

    /// Why the rule holds, in words: `width(accuracy) 0.039 < 0.04`.
    pub fn reason(&self) -> String {
        let SequenceProgress { rule, metric, lower, upper, .. } = self;
        match &rule.measure {
            RuleMeasure::Width { metric, below } => {
                format!("width({metric}) {} < {below}", below_limit(upper - lower, *below))
            }
            RuleMeasure::Decided { metric, value } => {
                let side = if self.side == Some(Ordering::Greater) { "above" } else { "below" };
                format!("{metric} is {side} {value}: {lower:.3} to {upper:.3}")
            }
            measure @ (RuleMeasure::BetterThan { log, .. } | RuleMeasure::WorseThan { log, .. }) => {
                let than = if matches!(measure, RuleMeasure::BetterThan { .. }) { "better" } else { "worse" };
                format!("{than} than {log}: the difference in {metric} is {lower:.3} to {upper:.3}")
            }
            _ => rule.to_string(),
        }
    }
}

/// The value that a rule decides about.
fn watched(measure: &RuleMeasure) -> Option<f64> {
    match measure {
        RuleMeasure::Decided { value, .. } => Some(*value),
        RuleMeasure::BetterThan { .. } | RuleMeasure::WorseThan { .. } => Some(0.0),
        _ => None,
    }
}

/// A number that is below a limit, with as many digits as show it.
fn below_limit(number: f64, limit: f64) -> String {
    let decimals = limit.to_string().split_once('.').map_or(0, |(_, decimals)| decimals.len());
    let least = (decimals + 1).max(3);
    let texts = (least..least + 12).map(|digits| format!("{number:.digits$}"));
    let shows = |text: &String| text.parse::<f64>().is_ok_and(|shown| shown < limit);
    texts.into_iter().find(shows).unwrap_or_else(|| number.to_string())
}

/// A rule, and the sequence over the prefix for it.
#[derive(Debug)]
struct RuleSequence {
    rule: PlannedRule,
    sequence: ConfidenceSequence,
    /// The samples with a number, and their sum.
    known: u64,
    sum: f64,
}

impl RuleSequence {
    fn progress(&self) -> SequenceProgress {
        let RuleSequence { rule, sequence, known, sum } = self;
        let (lower, upper) = sequence.bounds();
        SequenceProgress {
            rule: rule.rule.clone(),
            metric: rule.figure.name.clone(),
            value: (*known > 0).then(|| sum / *known as f64),
            lower,
            upper,
            side: watched(&rule.rule.measure).and_then(|value| sequence.side_of(value)),
            samples: sequence.taken(),
            population: sequence.population(),
        }
    }
}

/// Looks at the rules while a run is in progress.
#[derive(Debug)]
pub(super) struct StopMonitor {
    plan: StopPlan,
    /// The epochs of each sample that are not finished.
    open: Vec<u32>,
    /// The samples at the start of the order that are finished and taken in.
    prefix: usize,
    /// The position of the last sample of which an epoch is in the log.
    last: Option<u32>,
    sequences: Vec<RuleSequence>,
    /// The rule that held first.
    held: Option<usize>,
    /// Why the rules cannot be looked at any more.
    problem: Option<String>,
}

impl StopMonitor {
    pub(super) fn new(plan: &StopPlan, epochs: u32) -> Result<Self, SequenceError> {
        let population = plan.order.len() as u64;
        let mut sequences = Vec::with_capacity(plan.rules.len());
        for rule in plan.rules.iter().cloned() {
            let mut sequence = ConfidenceSequence::new(population, rule.range, plan.level)?;
            watched(&rule.rule.measure).into_iter().for_each(|value| sequence.watch(value));
            sequences.push(RuleSequence { rule, sequence, known: 0, sum: 0.0 });
        }
        Ok(StopMonitor {
            plan: plan.clone(),
            open: vec![epochs; plan.order.len()],
            prefix: 0,
            last: None,
            sequences,
            held: None,
            problem: None,
        })
    }

    /// An epoch of a sample is in the log; one that is to be run again is not finished.
    pub(super) fn recorded(&mut self, sample: usize, is_finished: bool) {
        self.last = self.last.max(Some(self.plan.position(sample)));
        if let Some(open) = self.open.get_mut(sample).filter(|_| is_finished) {
            *open = open.saturating_sub(1);
        }
    }

    /// The next sample of the order, if all its epochs are finished.
    pub(super) fn next_finished(&self) -> Option<usize> {
        let sample = *self.plan.order.get(self.prefix)? as usize;
        (self.problem.is_none() && self.open.get(sample) == Some(&0)).then_some(sample)
    }

    /// Takes in the next sample of the order: `columns` hold its epochs.
    pub(super) fn take(&mut self, sample: usize, columns: errorbar_core::Result<ScoreColumns>) {
        self.prefix += 1;
        let taken =
            columns.map_err(|error| error.to_string()).and_then(|columns| self.push(sample, &columns));
        if let Err(problem) = taken {
            self.problem = Some(problem);
            return;
        }
        if self.held.is_none() {
            self.held = self.sequences.iter().position(|rule| rule.progress().holds());
        }
    }

    fn push(&mut self, sample: usize, columns: &ScoreColumns) -> Result<(), String> {
        for RuleSequence { rule, sequence, known, sum } in &mut self.sequences {
            let values = rule.figure.sample_values(columns).map_err(|error| error.to_string())?;
            let value = values.into_iter().next().map(|(_, value)| value).unwrap_or_default();
            let (least, greatest) = rule.bounds(sample, value);
            sequence.push_between(least, greatest).map_err(|error| error.to_string())?;
            if least == greatest {
                *known += 1;
                *sum += least;
            }
        }
        Ok(())
    }

    /// How far the sequence of the first rule is.
    pub(super) fn progress(&self) -> Option<SequenceProgress> {
        self.sequences.first().filter(|_| self.problem.is_none()).map(RuleSequence::progress)
    }

    /// Whether a rule holds.
    pub(super) fn is_held(&self) -> bool {
        self.held.is_some()
    }

    /// Whether the run must take a sample before it stops: one that has been recorded stands behind it.
    pub(super) fn is_needed(&self, sample: usize, started: Option<usize>) -> bool {
        let started = started.map(|sample| self.plan.position(sample));
        Some(self.plan.position(sample)) <= self.last.max(started)
    }

    /// Why the rules could not be looked at to the end.
    pub(super) fn problem(&self) -> Option<&str> {
        self.problem.as_deref()
    }

    /// What held, and over how many samples: with the exact interval of all of them. None if no rule holds, or samples
    /// are in the log that do not belong to the prefix.
    pub(super) fn conclusion(&self) -> Option<SequenceProgress> {
        let rule = self.sequences.get(self.held?)?;
        if self.last.map(|last| last as usize + 1) != Some(self.prefix) || self.problem.is_some() {
            return None;
        }
        let (progress, (lower, upper)) = (rule.progress(), rule.sequence.interval());
        // What a watched value shows is not lost to the last digit of a bisection.
        Some(SequenceProgress {
            lower: lower.max(progress.lower),
            upper: upper.min(progress.upper),
            ..progress
        })
    }
}

// The rules by which a run is stopped early, checked before it starts.

/// A rule that can be looked at.
#[derive(Clone, Debug)]
pub(super) struct PlannedRule {
    pub(super) rule: StopRule,
    pub(super) figure: MeanFigure,
    /// The range of what each sample contributes.
    pub(super) range: (f64, f64),
    /// What each sample contributed in the log that is compared with, by its number; empty without one.
    pub(super) other: Vec<SampleValue>,
    /// The range of scores.
    pub(super) score_range: (f64, f64),
}

impl PlannedRule {
    /// Checks a rule against the plan of a run.
    pub(super) fn new(
        rule: &StopRule,
        plan: &Plan,
        epochs: u32,
        scorers: &[AnyScorer],
        samples: &[NamedSample],
    ) -> Result<Self> {
        let refuse =
            |problem: StopRuleProblem| Error::StopRule { rule: rule.to_string(), problem: problem.into() };
        let figure = MeanFigure::of_plan(plan, rule.measure.metric(), epochs)
            .map_err(|problem| refuse(problem.into()))?;
        let of_scorer = scorers.get(figure.position).and_then(|scorer| scorer.range());
        let scorer = || figure.scorer.clone();
        let (low, high) = match (figure.range, of_scorer) {
            (Some(range), _) | (None, Some(range @ (0.0, 1.0))) => range,
            // The log records the range of the plan, and estimates are computed from the log.
            (None, Some((low, high))) => {
                return Err(refuse(StopRuleProblem::RangeNotPlanned { scorer: scorer(), low, high }));
            }
            (None, None) => return Err(refuse(StopRuleProblem::UnknownRange { scorer: scorer() })),
        };
        if u32::try_from(samples.len()).is_err() {
            return Err(refuse(StopRuleProblem::Other(format!(
                "there are more samples than a random order can have: {}",
                samples.len()
            ))));
        }
        if let RuleMeasure::Decided { value, .. } = rule.measure
            && !(low..=high).contains(&value)
        {
            return Err(refuse(StopRuleProblem::Other(format!(
                "{value} lies outside the range of the scores, {low} to {high}, so it is decided before the run"
            ))));
        }
        let (range, other) = match rule.measure.log() {
            None => ((low, high), Vec::new()),
            Some(log) => {
                let other = values_of(Path::new(log), &figure, samples).map_err(refuse)?;
                ((low - high, high - low), other)
            }
        };
        Ok(PlannedRule { rule: rule.clone(), figure, range, other, score_range: (low, high) })
    }

    /// Between which numbers a sample lies: its score, or its difference to the other log.
    pub(super) fn bounds(&self, sample: usize, value: SampleValue) -> (f64, f64) {
        let (low, high) = self.score_range;
        let (least, greatest) = (value.least.unwrap_or(low), value.greatest.unwrap_or(high));
        match self.other.get(sample) {
            None => (least, greatest),
            Some(other) => (least - other.greatest.unwrap_or(high), greatest - other.least.unwrap_or(low)),
        }
    }
}

/// What each sample contributes to the mean in a log, in the order of the samples.
fn values_of(
    path: &Path,
    figure: &MeanFigure,
    samples: &[NamedSample],
) -> Result<Vec<SampleValue>, StopRuleProblem> {
    let log = EvalLog::open(path)?;
    let scorers = log.header()?.eval.scorers.unwrap_or_default();
    let numbers: HashMap<String, usize> =
        samples.iter().enumerate().map(|(number, (id, _))| (id.to_string(), number)).collect();
    let mut columns = ScoreColumns::new([figure.scorer.as_str()]);
    let mut found: Vec<String> = scorers.into_iter().map(|scorer| scorer.name).collect();
    let mut has_scores = false;
    let fields = SampleFields { details: false, ..SampleFields::all() };
    for stored in log.samples_with(fields)? {
        let stored = stored?;
        let id = stored.id.to_string();
        let Some((_, sample)) = numbers.get(&id).and_then(|number| samples.get(*number)) else { continue };
        if !sample.is_question_of(&stored) {
            return Err(StopRuleProblem::OtherQuestion(format!(
                "the sample {id:?} has another input, other choices or another target in {}",
                path.display()
            )));
        }
        let mut row = columns.push(id, stored.epoch);
        if stored.error.is_some() {
            row = row.errored();
        }
        for (scorer, score) in stored.scores {
            if scorer == figure.scorer {
                has_scores = true;
                row = row.score(&scorer, score).map_err(|error| unusable(path, error))?;
            } else if !found.contains(&scorer) {
                found.push(scorer);
            }
        }
    }
    let values = figure.sample_values(&columns).map_err(|error| unusable(path, error))?;
    let mut by_number: Vec<Option<SampleValue>> = vec![None; samples.len()];
    for (id, value) in values {
        if let Some(place) = numbers.get(&id).and_then(|number| by_number.get_mut(*number)) {
            *place = Some(value);
        }
    }
    if !has_scores && !columns.is_empty() {
        found.retain(|scorer| *scorer != figure.scorer);
        return Err(StopRuleProblem::Other(format!(
            "{} has no scores by `{}`; it has scores by: {}",
            path.display(),
            figure.scorer,
            found.join(", ")
        )));
    }
    let missing = by_number.iter().filter(|value| value.is_none()).count();
    let first = by_number.iter().position(Option::is_none).and_then(|number| samples.get(number));
    if let Some((id, _)) = first {
        return Err(StopRuleProblem::MissingSamples(format!(
            "{} lacks {missing} of the {} samples of the run, such as {:?}",
            path.display(),
            samples.len(),
            id.to_string()
        )));
    }
    Ok(by_number.into_iter().flatten().collect())
}

fn unusable(log: &Path, error: errorbar_core::Error) -> StopRuleProblem {
    StopRuleProblem::Other(format!("{}: {error}", log.display()))
}

#[cfg(test)]
mod tests {
    use errorbar_core::metrics::accuracy;
    use errorbar_core::{Score, metrics};

    use super::*;
    use crate::scorers::includes;
    use crate::{Sample, SampleId};

    const SAMPLES: usize = 1000;

    /// 70 of a hundred samples are right.
    fn is_right(sample: usize) -> bool {
        sample * 37 % 100 < 70
    }

    fn plan(rule: &str, seed: u64) -> StopPlan {
        let mut plan = Plan::new().scorer("includes", metrics![accuracy()]);
        plan.seed = seed;
        let samples: Vec<NamedSample> =
            (0..SAMPLES).map(|at| (SampleId::from(at.to_string()), Arc::new(Sample::new("?")))).collect();
        let scorers = [includes().into()];
        StopPlan::new(&[rule.parse().unwrap()], &plan, 1, &scorers, &samples).unwrap().unwrap()
    }

    fn take_finished(monitor: &mut StopMonitor) {
        while let Some(sample) = monitor.next_finished() {
            let mut columns = ScoreColumns::new(["includes"]);
            columns.push(sample.to_string(), 1).score("includes", Score::new(is_right(sample))).unwrap();
            monitor.take(sample, Ok(columns));
        }
    }

    /// The share of right answers among the first that finish, and among those of the finished prefix, where 32 samples
    /// run at once and a wrong answer takes five times as long.
    fn shares(seed: u64) -> (f64, f64) {
        const LOOK_AFTER: usize = 130;
        let plan = plan("width(accuracy) < 0.001", seed);
        let mut monitor = StopMonitor::new(&plan, 1).unwrap();
        let mut waiting = plan.order.iter().map(|sample| *sample as usize);
        // When each of the running samples ends.
        let mut running: Vec<(u32, usize)> = Vec::new();
        let (mut now, mut right) = (0, 0);
        for _ in 0..LOOK_AFTER {
            while running.len() < 32 {
                let sample = waiting.next().unwrap();
                // Not all at once: each takes a little more or less.
                let takes = if is_right(sample) { 10 } else { 50 } + sample as u32 % 7;
                running.push((now + takes, sample));
            }
            let (at, _) = running.iter().enumerate().min_by_key(|(_, run)| **run).unwrap();
            let (end, sample) = running.swap_remove(at);
            now = end;
            right += usize::from(is_right(sample));
            monitor.recorded(sample, true);
        }
        take_finished(&mut monitor);
        (right as f64 / LOOK_AFTER as f64, monitor.progress().unwrap().value.unwrap())
    }

    #[test]
    fn what_finishes_first_is_biased_and_the_prefix_is_not() {
        const RUNS: u64 = 60;
        let (mut first, mut prefix) = (0.0, 0.0);
        for seed in 0..RUNS {
            let (finished, taken) = shares(seed);
            first += finished / RUNS as f64;
            prefix += taken / RUNS as f64;
        }
        assert!(first > 0.755, "{first:.3} of those that finish first, where 0.7 is true");
        assert!((prefix - 0.7).abs() < 0.02, "{prefix:.3} of the prefix");
    }

    #[test]
    fn a_sample_that_is_not_finished_holds_the_prefix_back() {
        let plan = plan("width(accuracy) < 0.2", 1);
        let mut monitor = StopMonitor::new(&plan, 1).unwrap();
        let order: Vec<usize> = plan.order.iter().map(|sample| *sample as usize).collect();
        for sample in &order[1..400] {
            monitor.recorded(*sample, true);
            take_finished(&mut monitor);
        }
        assert_eq!((monitor.prefix, monitor.is_held()), (0, false));
        monitor.recorded(order[0], true);
        take_finished(&mut monitor);
        assert_eq!((monitor.prefix, monitor.is_held()), (400, true));
        let conclusion = monitor.conclusion().unwrap();
        assert_eq!(conclusion.samples, 400);
        assert!(conclusion.upper - conclusion.lower < 0.2);
        // With one behind a gap, the samples of the log are no prefix.
        monitor.recorded(order[500], true);
        assert!(monitor.conclusion().is_none());
        assert!(monitor.is_needed(order[450], None) && !monitor.is_needed(order[501], None));
        assert!(monitor.is_needed(order[501], Some(order[501])));
    }

    /// Exactly half of the samples are right, and the last one to come is the only one that is open: the scores so far add up
    /// to half already, which is what the mean may be.
    #[test]
    fn a_value_that_the_mean_may_have_is_not_excluded() {
        let mut sequence = ConfidenceSequence::new(20, (0.0, 1.0), 0.95).unwrap();
        sequence.watch(0.5);
        for at in 0..19 {
            sequence.push(f64::from(u8::from(at % 2 == 0))).unwrap();
        }
        assert_eq!((sequence.bounds(), sequence.side_of(0.5)), ((0.5, 0.55), None));
        sequence.push(1.0).unwrap();
        assert_eq!(sequence.side_of(0.5), Some(Ordering::Greater));
    }

    #[test]
    fn reasons_show_that_the_rule_holds() {
        let reason = |rule: &str, lower: f64, upper: f64| {
            let rule: StopRule = rule.parse().unwrap();
            let side = Some(if lower > 0.5 || upper < 0.3 { Ordering::Greater } else { Ordering::Less });
            let (metric, samples, population) = ("accuracy".to_owned(), 9, 99);
            let progress =
                SequenceProgress { rule, metric, value: None, lower, upper, side, samples, population };
            assert!(progress.holds());
            progress.reason()
        };
        assert_eq!(reason("width(accuracy) < 0.04", 0.661, 0.7), "width(accuracy) 0.039 < 0.04");
        assert_eq!(reason("width(accuracy) < 0.04", 0.66004, 0.7), "width(accuracy) 0.03996 < 0.04");
        assert_eq!(reason("width(accuracy) < 2", 0.5, 2.25), "width(accuracy) 1.750 < 2");
        assert_eq!(reason("decided(accuracy, 0.5)", 0.51, 0.7), "accuracy is above 0.5: 0.510 to 0.700");
        assert_eq!(reason("decided(accuracy, 0.5)", 0.1, 0.4), "accuracy is below 0.5: 0.100 to 0.400");
        let better = "better than a.eval: the difference in accuracy is 0.010 to 0.200";
        assert_eq!(reason("better_than(a.eval)", 0.01, 0.2), better);
    }
}
