//! The rules by which a run is stopped early, checked before it starts.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use errorbar_core::{Plan, SampleValue, ScoreColumns};
use errorbar_inference::{FigureProblem, MeanFigure, RuleMeasure, StopRule};
use errorbar_log::eval::{EvalLog, LogError, SampleFields};

use crate::{AnyScorer, Error, NamedSample, Result};

/// Why a run cannot be stopped by a rule.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StopRuleProblem {
    /// What it names is no mean that a confidence sequence can be about.
    #[error(transparent)]
    Figure(#[from] FigureProblem),
    /// The range of the scores is not known, without which there is no bound on what the other samples could change.
    #[error(
        "the range of the scores by `{scorer}` is not known, and a run can be stopped early only by the mean of scores \
         whose lowest and highest value are"
    )]
    UnknownRange {
        /// The scorer.
        scorer: String,
    },
    /// A value that no mean of such scores can have.
    #[error("{value} lies outside the range of the scores, {low} to {high}, so it is decided before the run")]
    Outside {
        /// The value.
        value: f64,
        /// The lowest score.
        low: f64,
        /// The highest.
        high: f64,
    },
    /// The log cannot be read.
    #[error("{0}")]
    Log(#[source] LogError),
    /// The range of scores is not 0 to 1, and the plan does not have it.
    #[error(
        "scores by `{scorer}` lie between {low} and {high}, and the plan of errors does not have that range"
    )]
    RangeNotPlanned {
        /// The scorer.
        scorer: String,
        /// The lowest score.
        low: f64,
        /// The highest score.
        high: f64,
    },
    /// The log has no scores by the scorer.
    #[error("{} has no scores by `{scorer}`; it has scores by: {}", log.display(), found.join(", "))]
    NoScorer {
        /// The log.
        log: PathBuf,
        /// The scorer.
        scorer: String,
        /// Those that it has.
        found: Vec<String>,
    },
    /// Samples that the log does not have.
    #[error("{} lacks {count} of the {planned} samples of the run, such as {sample:?}", log.display())]
    MissingSamples {
        /// The log.
        log: PathBuf,
        /// How many.
        count: usize,
        /// Of how many.
        planned: usize,
        /// One of them.
        sample: String,
    },
    /// A sample that is another question in the log.
    #[error("the sample {sample:?} has another input, other choices or another target in {}", log.display())]
    OtherQuestion {
        /// The log.
        log: PathBuf,
        /// The sample.
        sample: String,
    },
    /// The scores of the log cannot be reduced.
    #[error("{}: {error}", log.display())]
    Scores {
        /// The log.
        log: PathBuf,
        /// Why.
        error: Box<errorbar_core::Error>,
    },
    /// More samples than an order can have.
    #[error("there are more samples than a random order can have: {samples}")]
    TooManySamples {
        /// How many.
        samples: usize,
    },
}

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
