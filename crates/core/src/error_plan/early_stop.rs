//! How a run was stopped early.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use super::{ErrorPlan, IntervalChoice};
use errorbar_stats::sequential::random_order;

/// How a run was stopped early: which of its samples it took, in a random order. Estimates of means are then those of a
/// [`ConfidenceSequence`](errorbar_stats::sequential::ConfidenceSequence).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EarlyStop {
    pub(crate) samples: u64,
    pub(crate) population: u64,
    /// The position of each sample in the random order.
    pub(crate) positions: HashMap<String, u32>,
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
