//! What the estimates of a run that was stopped early are computed from.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use errorbar_stats::sequential::{ConfidenceSequence, random_order};

use super::{ErrorPlan, Interval, IntervalChoice, IntervalMethod, Side};
use crate::columns::Numbers;
use crate::scores::Scores;

/// How a run was stopped early: which of its samples it took, in a random order. Estimates of means are then those of a
/// [`ConfidenceSequence`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EarlyStop {
    samples: u64,
    population: u64,
    /// The position of each sample in the random order.
    positions: HashMap<String, u32>,
}

impl EarlyStop {
    /// A run that was to take the samples of these ids in the random order of a seed, and took the first ones.
    ///
    /// # Errors
    /// A sentence on numbers that do not fit together, and on an id that is there twice.
    pub fn new<I: Into<String>>(
        ids: impl IntoIterator<Item = I>,
        seed: u64,
        samples: u64,
    ) -> Result<Self, String> {
        let ids: Vec<String> = ids.into_iter().map(Into::into).collect();
        let population = ids.len() as u64;
        if !(1..=population).contains(&samples) {
            return Err(format!("{samples} samples cannot be the first of {population}"));
        }
        let count = u32::try_from(population).map_err(|_| format!("{population} samples are too many"))?;
        let mut positions = vec![0; ids.len()];
        for (position, sample) in (0..count).zip(random_order(count, seed)) {
            if let Some(place) = positions.get_mut(sample as usize) {
                *place = position;
            }
        }
        let mut by_id = HashMap::with_capacity(ids.len());
        for (id, position) in ids.into_iter().zip(positions) {
            match by_id.entry(id) {
                Entry::Vacant(entry) => entry.insert(position),
                Entry::Occupied(entry) => return Err(format!("the sample {:?} is there twice", entry.key())),
            };
        }
        Ok(EarlyStop { samples, population, positions: by_id })
    }

    /// The number of samples that the run took.
    pub fn samples(&self) -> u64 {
        self.samples
    }

    /// The number of samples of the benchmark.
    pub fn population(&self) -> u64 {
        self.population
    }

    /// What a reader of the estimate should know.
    pub(crate) fn note(&self) -> String {
        let EarlyStop { samples, population, .. } = self;
        format!(
            "stopped early after {samples} of {population} samples, interval of the mean of all {population}"
        )
    }
}

impl ErrorPlan {
    /// The early stop that intervals of means allow for, unless another interval is wanted.
    pub(crate) fn sequence(&self) -> Option<&EarlyStop> {
        let is_wanted = self.interval == IntervalChoice::Auto && self.population.is_none();
        self.early_stop.as_deref().filter(|_| is_wanted)
    }
}

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
    pub fn at(at: usize, scores: &Scores<'_>, numbers: Numbers<'_>, has_gaps: bool) -> Self {
        let gaps = scores.epoch_gaps();
        match gaps.and_then(|gaps| gaps.get(&(scores.column_row(at) as u32))) {
            None => SampleValue::known(numbers.get(at)),
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
    pub(crate) fn update(
        &mut self,
        stop: &EarlyStop,
        scores: &Scores<'_>,
        numbers: Numbers<'_>,
        has_gaps: bool,
    ) {
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
            Side::TwoSided => ConfidenceSequence::new(stop.population, range, errors.level()),
            Side::Lower => ConfidenceSequence::lower_bound(stop.population, range, errors.level()),
            Side::Upper => ConfidenceSequence::upper_bound(stop.population, range, errors.level()),
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
