//! The rules by which a run is stopped early, checked before it starts.

use std::collections::HashMap;
use std::path::Path;

use errorbar_core::{Plan, SampleValue, ScoreColumns};
use errorbar_inference::{MeanFigure, RuleMeasure, StopRule};
use errorbar_log::eval::{EvalLog, SampleFields};

use crate::{AnyScorer, Error, NamedSample, Result, StopRuleProblem};

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
        let of_scorer = scorers.get(figure.position()).and_then(|scorer| scorer.range());
        let scorer = || figure.scorer().to_owned();
        let (low, high) = match (figure.range(), of_scorer) {
            (Some(range), _) | (None, Some(range @ (0.0, 1.0))) => range,
            // The log records the range of the plan, and estimates are computed from the log.
            (None, Some((low, high))) => {
                return Err(refuse(StopRuleProblem::RangeNotPlanned { scorer: scorer(), low, high }));
            }
            (None, None) => return Err(refuse(StopRuleProblem::UnknownRange { scorer: scorer() })),
        };
        if u32::try_from(samples.len()).is_err() {
            return Err(refuse(StopRuleProblem::TooManySamples { samples: samples.len() }));
        }
        if let RuleMeasure::Decided { value, .. } = rule.measure
            && !(low..=high).contains(&value)
        {
            return Err(refuse(StopRuleProblem::Outside { value, low, high }));
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
    let log = EvalLog::open(path).map_err(StopRuleProblem::Log)?;
    let scorers = log.header().map_err(StopRuleProblem::Log)?.eval.scorers.unwrap_or_default();
    let numbers: HashMap<String, usize> =
        samples.iter().enumerate().map(|(number, (id, _))| (id.to_string(), number)).collect();
    let mut columns = ScoreColumns::new([figure.scorer()]);
    let mut found: Vec<String> = scorers.into_iter().map(|scorer| scorer.name).collect();
    let mut has_scores = false;
    let fields = SampleFields { details: false, ..SampleFields::all() };
    for stored in log.samples_with(fields).map_err(StopRuleProblem::Log)? {
        let stored = stored.map_err(StopRuleProblem::Log)?;
        let id = stored.id.to_string();
        let Some((_, sample)) = numbers.get(&id).and_then(|number| samples.get(*number)) else { continue };
        let choices = stored.choices.unwrap_or_default();
        let is_same = stored.input == sample.input
            && choices == sample.choices
            && stored.target == *sample.target.targets();
        if !is_same {
            return Err(StopRuleProblem::OtherQuestion { log: path.to_owned(), sample: id });
        }
        let mut row = columns.push(id, stored.epoch);
        if stored.error.is_some() {
            row = row.errored();
        }
        for (scorer, score) in stored.scores {
            if scorer == figure.scorer() {
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
        found.retain(|scorer| scorer != figure.scorer());
        return Err(StopRuleProblem::NoScorer {
            log: path.to_owned(),
            scorer: figure.scorer().to_owned(),
            found,
        });
    }
    let missing = by_number.iter().filter(|value| value.is_none()).count();
    let first = by_number.iter().position(Option::is_none).and_then(|number| samples.get(number));
    if let Some((id, _)) = first {
        let (sample, planned) = (id.to_string(), samples.len());
        return Err(StopRuleProblem::MissingSamples {
            log: path.to_owned(),
            count: missing,
            planned,
            sample,
        });
    }
    Ok(by_number.into_iter().flatten().collect())
}

fn unusable(log: &Path, error: errorbar_core::Error) -> StopRuleProblem {
    StopRuleProblem::Scores { log: log.to_owned(), error: Box::new(error) }
}
