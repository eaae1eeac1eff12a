//! Stopping a run early: its samples are taken in a random order, and the rules are looked at over the longest prefix of
//! that order which is finished.
//!
//! Whatever finishes first would be biased: where wrong answers take longer, right ones come first. A prefix of an order
//! that was drawn before is not. When a rule holds, no further sample starts, and those that have started finish: the
//! sequence is valid at any time, so they are part of the estimate, and the samples of the log are a prefix again.

use std::sync::Arc;

use errorbar_core::{
    ConfidenceSequence, EarlyStop, Plan, RuleMeasure, ScoreColumns, SequenceError, Side, StopRule,
    random_order,
};

use super::stop_rules::PlannedRule;
use crate::{AnyScorer, Error, NamedSample};

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
#[non_exhaustive]
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
            RuleMeasure::Decided { value, .. } => value <= self.lower || self.upper <= value,
            RuleMeasure::BetterThan { .. } => 0.0 <= self.lower && self.lower < self.upper,
            RuleMeasure::WorseThan { .. } => self.upper <= 0.0 && self.lower < self.upper,
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
            RuleMeasure::Decided { metric, value } if value <= lower => {
                format!("{metric} is above {value}: {lower:.3} to {upper:.3}")
            }
            RuleMeasure::Decided { metric, value } => {
                format!("{metric} is below {value}: {lower:.3} to {upper:.3}")
            }
            RuleMeasure::BetterThan { log, .. } => {
                format!("better than {log}: the difference in {metric} is {lower:.3} to {upper:.3}")
            }
            RuleMeasure::WorseThan { log, .. } => {
                format!("worse than {log}: the difference in {metric} is {lower:.3} to {upper:.3}")
            }
            _ => rule.to_string(),
        }
    }
}

/// A number that is below a limit, with as many digits as show it.
fn below_limit(number: f64, limit: f64) -> String {
    let decimals = limit.to_string().split_once('.').map_or(0, |(_, decimals)| decimals.len());
    let texts = (decimals + 1..decimals + 12).map(|digits| format!("{number:.digits$}"));
    let shows = |text: &String| text.parse::<f64>().is_ok_and(|shown| shown < limit);
    texts.into_iter().find(shows).unwrap_or_else(|| number.to_string())
}

/// A sequence over the prefix, for one rule.
#[derive(Debug)]
struct RuleSequence {
    sequence: ConfidenceSequence,
    /// The samples with a number, and their sum.
    known: u64,
    sum: f64,
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
        for rule in &plan.rules {
            let mut sequence = ConfidenceSequence::new(population, rule.range, plan.level, Side::TwoSided)?;
            match rule.rule.measure {
                RuleMeasure::Decided { value, .. } => sequence.watch(value),
                RuleMeasure::BetterThan { .. } | RuleMeasure::WorseThan { .. } => sequence.watch(0.0),
                _ => {}
            }
            sequences.push(RuleSequence { sequence, known: 0, sum: 0.0 });
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
            self.held =
                (0..self.sequences.len()).find(|rule| self.look(*rule).is_some_and(|look| look.holds()));
        }
    }

    fn push(&mut self, sample: usize, columns: &ScoreColumns) -> Result<(), String> {
        for (rule, state) in self.plan.rules.iter().zip(&mut self.sequences) {
            let values = rule.figure.sample_values(columns).map_err(|error| error.to_string())?;
            let value = values.into_iter().next().map(|(_, value)| value).unwrap_or_default();
            let (least, greatest) = rule.bounds(sample, value);
            state.sequence.push_between(least, greatest).map_err(|error| error.to_string())?;
            if let Some(number) = (least == greatest).then_some(least) {
                state.known += 1;
                state.sum += number;
            }
        }
        Ok(())
    }

    fn look(&self, rule: usize) -> Option<SequenceProgress> {
        let (planned, state) = (self.plan.rules.get(rule)?, self.sequences.get(rule)?);
        let (lower, upper) = state.sequence.bounds();
        Some(SequenceProgress {
            rule: planned.rule.clone(),
            metric: planned.figure.name().to_owned(),
            value: (state.known > 0).then(|| state.sum / state.known as f64),
            lower,
            upper,
            samples: state.sequence.taken(),
            population: state.sequence.population(),
        })
    }

    /// How far the sequence of the first rule is.
    pub(super) fn progress(&self) -> Option<SequenceProgress> {
        self.look(0).filter(|_| self.problem.is_none())
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
        let rule = self.held?;
        if self.last.map(|last| last as usize + 1) != Some(self.prefix) || self.problem.is_some() {
            return None;
        }
        let look = self.look(rule)?;
        let interval = self.sequences.get(rule)?.sequence.interval();
        // What a watched value shows is not lost to the last digit of a bisection.
        Some(SequenceProgress {
            lower: interval.lower.max(look.lower),
            upper: interval.upper.min(look.upper),
            ..look
        })
    }
}
