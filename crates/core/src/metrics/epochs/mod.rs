//! The epochs of samples, for metrics over unreduced scores that look at each sample by itself.

mod consistency;
mod variance_components;

pub use consistency::*;
pub use variance_components::*;

use std::collections::HashSet;

use super::mean;
use crate::metrics::prelude::*;

/// The positions of the scored epochs of each sample, samples in order of first appearance.
pub struct SampleEpochs {
    samples: Vec<Vec<u32>>,
    /// The number of samples without any scored epoch.
    unscored: usize,
}

impl SampleEpochs {
    /// Those of unreduced scores.
    pub fn of(scores: &Scores<'_>) -> Self {
        let mut samples: IndexMap<&str, Vec<u32>> = IndexMap::new();
        for at in 0..scores.len() {
            samples.entry(scores.sample_id(at)).or_default().push(at as u32);
        }
        let columns = scores.set().columns;
        let absent = scores.absent_rows().iter().map(|row| columns.id(*row as usize));
        let unscored: HashSet<&str> = absent.filter(|id| !samples.contains_key(id)).collect();
        SampleEpochs { unscored: unscored.len(), samples: samples.into_values().collect() }
    }

    /// The number of samples with a scored epoch.
    fn len(&self) -> usize {
        self.samples.len()
    }

    /// The positions of each sample's epochs.
    pub fn iter(&self) -> impl Iterator<Item = &[u32]> {
        self.samples.iter().map(Vec::as_slice)
    }

    /// How many samples have how many epochs, if not all have the same number: `3 × 2, 47 × 4`, three
    /// samples with two epochs and 47 with four.
    fn unequal(&self) -> Option<String> {
        let mut counts: std::collections::BTreeMap<usize, usize> = std::collections::BTreeMap::new();
        self.samples.iter().for_each(|epochs| *counts.entry(epochs.len()).or_default() += 1);
        let texts = counts.iter().map(|(epochs, samples)| format!("{samples} × {epochs}"));
        (counts.len() > 1).then(|| texts.collect::<Vec<_>>().join(", "))
    }

    /// The mean of one number for each sample, with the error and the interval of the plan, of which `change_plan`
    /// changes what does not fit; samples without a number are counted as absent.
    fn mean(
        &self,
        scores: &Scores<'_>,
        change_plan: fn(&mut ErrorPlan),
        number: impl Fn(&[u32]) -> Option<f64>,
    ) -> Result<Estimate> {
        let (mut positions, mut values) = (Vec::with_capacity(self.len()), Vec::with_capacity(self.len()));
        for epochs in self.iter() {
            if let (Some(number), Some(first)) = (number(epochs), epochs.first()) {
                positions.push(*first as usize);
                values.push(number);
            }
        }
        let absent = self.unscored + self.len() - values.len();
        let mut set = scores.derive(positions.into_iter(), ValueColumn::from_floats(values));
        // One score for each sample from here on.
        set.estimation.by_sample = false;
        set.absent = Vec::new();
        change_plan(&mut set.estimation.errors);
        Ok(Estimate { absent: absent as u64, ..mean().compute(&set.scores())?.into_estimate() })
    }
}
