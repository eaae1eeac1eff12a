//! What the estimates of a run that was stopped early are computed from.

use super::Interval;
use crate::error_plan::{EarlyStop, ErrorPlan, IntervalMethod, IntervalSide};
use crate::scores::Scores;
use errorbar_stats::sequential::ConfidenceSequence;

/// What a sample contributes to a mean: a number, or two between which it must lie. None is the end of the range.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct SampleValue {
    /// The least that it may be.
    pub least: Option<f64>,
    /// The greatest.
    pub greatest: Option<f64>,
}

impl SampleValue {
    /// A number.
    pub fn known(number: f64) -> Self {
        SampleValue { least: Some(number), greatest: Some(number) }
    }

    /// Something between two numbers.
    pub fn between(least: f64, greatest: f64) -> Self {
        SampleValue { least: Some(least), greatest: Some(greatest) }
    }

    /// The number of the score at a position; bounds if epochs of the sample have no score. `has_gaps`: what is known of
    /// absent epochs is about these numbers.
    pub fn at(at: usize, scores: &Scores<'_>, numbers: &[f64], has_gaps: bool) -> Self {
        let gaps = scores.epoch_gaps();
        match gaps.and_then(|gaps| gaps.get(&(scores.column_row(at) as u32))) {
            None => SampleValue::known(numbers.get(at).copied().unwrap_or(f64::NAN)),
            Some([worst, best, _]) if has_gaps => SampleValue::between(*worst, *best),
            Some(_) => SampleValue::default(),
        }
    }

    /// The number, if it is one.
    pub fn number(&self) -> Option<f64> {
        self.least.filter(|_| self.least == self.greatest)
    }
}

/// The scores of a run that was stopped early, by their positions in the random order.
#[derive(Clone, Debug, Default)]
pub(crate) struct OrderedScores {
    /// The position of each, and what it contributes.
    scores: Vec<(u32, SampleValue)>,
    /// A sample that the run did not plan.
    stranger: Option<String>,
}

impl OrderedScores {
    /// Takes in scores. `has_gaps`: what is known of absent epochs is about these numbers.
    pub(crate) fn update(&mut self, stop: &EarlyStop, scores: &Scores<'_>, numbers: &[f64], has_gaps: bool) {
        for at in 0..scores.len() {
            let id = scores.sample_id(at);
            let Some(position) = stop.positions.get(id) else {
                self.stranger.get_or_insert_with(|| id.to_owned());
                continue;
            };
            self.scores.push((*position, SampleValue::at(at, scores, numbers, has_gaps)));
        }
    }

    pub(crate) fn merge(&mut self, other: Self) {
        self.scores.extend(other.scores);
        self.stranger = self.stranger.take().or(other.stranger);
    }

    /// The interval of the sequence, with as many absent samples.
    ///
    /// # Errors
    /// A sentence on why there is none.
    pub(crate) fn interval(
        &self,
        stop: &EarlyStop,
        errors: &ErrorPlan,
        range: (f64, f64),
        absent: u64,
    ) -> Result<Interval, String> {
        if let Some(id) = &self.stranger {
            return Err(format!("the sample {id:?} is none of those that the run planned"));
        }
        let found = self.scores.len() as u64 + absent;
        if found != stop.samples {
            return Err(format!("the run took {} samples, and there are {found}", stop.samples));
        }
        let (low, high) = range;
        let mut by_position = vec![(low, high); usize::try_from(stop.samples).unwrap_or_default()];
        for (position, value) in &self.scores {
            let Some(place) = by_position.get_mut(*position as usize) else {
                return Err("the samples are not the first ones of the recorded order".to_owned());
            };
            *place = (value.least.unwrap_or(low), value.greatest.unwrap_or(high));
        }
        let sequence = match errors.side() {
            IntervalSide::TwoSided => ConfidenceSequence::new(stop.population, range, errors.level()),
            IntervalSide::Lower => ConfidenceSequence::lower_bound(stop.population, range, errors.level()),
            IntervalSide::Upper => ConfidenceSequence::upper_bound(stop.population, range, errors.level()),
        };
        let mut sequence = sequence.map_err(|error| error.to_string())?;
        for (least, greatest) in by_position {
            sequence.push_between(least, greatest).map_err(|error| error.to_string())?;
        }
        let (lower, upper) = sequence.interval();
        let interval = Interval::new(lower, upper, errors.level(), IntervalMethod::Betting);
        Ok(interval.one_sided(errors.side(), Some(range)))
    }
}
