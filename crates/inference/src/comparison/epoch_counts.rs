//! Have the sides as many scored epochs, where what they are reduced to depends on it?

use std::collections::BTreeSet;

use super::ComparisonWarning;
use super::pair::{SidePair, depends, unequal_epochs};
use super::pairing::Pairing;
use super::side::{Block, Side};
use crate::error::ComparisonError;

/// One in so many epochs may lack its counterpart: what few of them change is far less than a difference of models.
const ONE_IN: u64 = 10;

/// Samples, and which group they are, in words; empty for all.
type NamedSamples = (String, Pairing);

impl SidePair<'_> {
    /// Refuses sides whose samples have different numbers of scored epochs, be it in one group only: the reducer favors the
    /// side that has more of them. A stray epoch is a warning.
    pub(super) fn check_scored_epochs(
        &self,
        blocks: [&Block<'_>; 2],
        common: &[u32],
        warnings: &mut Vec<ComparisonWarning>,
    ) -> Result<(), ComparisonError> {
        if self.options.unpaired {
            return self.check_mean_epochs(blocks);
        }
        let [base, other] = blocks;
        let all = Pairing::new(base, other, common);
        let in_groups = self.groups(base, &all, &[self.base, self.other]);
        let of_samples = |pairing: &Pairing| {
            let epochs = |sample: &u32| (*sample, blocks.map(|block| block.scored_epochs(*sample)));
            PairedEpochs::of(pairing.samples.iter().map(epochs))
        };
        let of_all = of_samples(&all);
        let (of_base, of_other) = (self.base.name, self.other.name);
        for (group, pairing) in std::iter::once((String::new(), all)).chain(in_groups) {
            let epochs = of_samples(&pairing);
            if let Some((sample, [base_epochs, other_epochs])) =
                epochs.example.filter(|_| !epochs.are_comparable())
            {
                let (PairedEpochs { pairs, unequal, .. }, sample) = (epochs, self.base.id(sample));
                let text = format!(
                    "{unequal} of {pairs} samples{group} have different numbers of scored epochs (sample {sample:?}: \
                     {of_base} {base_epochs}, {of_other} {other_epochs})"
                );
                return Err(unequal_epochs(&text, base));
            }
        }
        let PairedEpochs { pairs, unequal, .. } = of_all;
        let warning = ComparisonWarning::other(format!(
            "{unequal} of {pairs} samples have different numbers of scored epochs in {of_base} and {of_other}, and {}",
            depends(base)
        ));
        if unequal > 0 && !warnings.contains(&warning) {
            warnings.push(warning);
        }
        Ok(())
    }

    /// Without pairs the means are compared.
    fn check_mean_epochs(&self, blocks: [&Block<'_>; 2]) -> Result<(), ComparisonError> {
        let [base, other] = blocks;
        let (of_base, of_other) = (Pairing::of_side(self.base, base), Pairing::of_side(self.other, other));
        let mut others = self.groups(other, &of_other, &[self.other]);
        let in_groups =
            self.groups(base, &of_base, &[self.base]).into_iter().filter_map(|(group, pairing)| {
                let at = others.iter().position(|(name, _)| *name == group)?;
                Some((group, pairing, others.swap_remove(at).1))
            });
        for (group, of_base, of_other) in std::iter::once((String::new(), of_base, of_other)).chain(in_groups)
        {
            let [base_epochs, other_epochs] =
                [(base, &of_base), (other, &of_other)].map(|(block, pairing)| mean_epochs(block, pairing));
            if !are_comparable_means([base_epochs, other_epochs]) {
                let (of_base, of_other) = (self.base.name, self.other.name);
                let text = format!(
                    "samples{group} have {base_epochs:.1} scored epochs in {of_base} and {other_epochs:.1} in {of_other} \
                     on average"
                );
                return Err(unequal_epochs(&text, base));
            }
        }
        Ok(())
    }

    /// The samples by each key that figures are compared by.
    fn groups(&self, block: &Block<'_>, pairing: &Pairing, sides: &[&Side<'_>]) -> Vec<NamedSamples> {
        let of_metrics = block.metrics.iter().filter_map(|metric| metric.group_key());
        let keys: BTreeSet<&str> = self.options.by.as_deref().into_iter().chain(of_metrics).collect();
        let mut all = Vec::new();
        for key in keys {
            // A sample without the key is an error of the figures.
            for (name, pairing) in pairing.by_group(key, sides).unwrap_or_default() {
                all.push((format!(" with `{key}` {name}"), pairing));
            }
        }
        all
    }
}

/// The mean number of scored epochs.
fn mean_epochs(block: &Block<'_>, pairing: &Pairing) -> f64 {
    let epochs: u64 = pairing.samples.iter().map(|sample| u64::from(block.scored_epochs(*sample))).sum();
    epochs as f64 / pairing.samples.len().max(1) as f64
}

/// Whether samples have about as many epochs; a side without samples is compared with nothing.
fn are_comparable_means([base, other]: [f64; 2]) -> bool {
    base.min(other) == 0.0 || (base - other).abs() * ONE_IN as f64 <= base.max(other)
}

/// The epochs of pairs.
#[derive(Debug, Default)]
struct PairedEpochs {
    /// The pairs.
    pairs: u64,
    /// Those of them whose sides have different numbers of epochs.
    unequal: u64,
    /// The one that differs most: the sample, and the epochs of each side.
    example: Option<(u32, [u32; 2])>,
    /// The epochs of the larger side of each pair.
    epochs: u64,
    /// Those of them that the smaller side lacks.
    lacking: u64,
}

impl PairedEpochs {
    /// Adds samples with the scored epochs of both sides. Without one on each a sample is no pair.
    fn of(samples: impl Iterator<Item = (u32, [u32; 2])>) -> Self {
        let mut paired = PairedEpochs::default();
        let mut largest = 0;
        for (sample, [base, other]) in samples.filter(|(_, epochs)| !epochs.contains(&0)) {
            let lacking = base.abs_diff(other);
            paired.pairs += 1;
            paired.unequal += u64::from(lacking > 0);
            paired.epochs += u64::from(base.max(other));
            paired.lacking += u64::from(lacking);
            if lacking > largest {
                largest = lacking;
                paired.example = Some((sample, [base, other]));
            }
        }
        paired
    }

    /// Whether the sides can be compared in spite of the epochs that one of them lacks: a stray one, or few of many.
    fn are_comparable(&self) -> bool {
        self.lacking <= 1 || self.lacking * ONE_IN <= self.epochs
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(epochs: &[[u32; 2]]) -> PairedEpochs {
        PairedEpochs::of((0..).zip(epochs.iter().copied()))
    }

    #[test]
    fn a_stray_epoch_is_no_reason_to_refuse() {
        let stray = of(&[[2, 2], [2, 1]]);
        assert!(stray.are_comparable());
        assert_eq!((stray.pairs, stray.unequal, stray.example), (2, 1, Some((1, [2, 1]))));
        assert!(!of(&[[2, 1], [2, 1]]).are_comparable());
        // 2 of 20 epochs; 3 of 20.
        assert!(of(&[[5, 5], [5, 4], [4, 5], [5, 5]]).are_comparable());
        assert!(!of(&[[5, 5], [5, 4], [3, 5], [5, 5]]).are_comparable());
        assert!(!of(&[[5, 1], [1, 5]]).are_comparable(), "as many in all, but not of a sample");
        let absent = of(&[[5, 5], [0, 5]]);
        assert!(absent.are_comparable());
        assert_eq!((absent.pairs, absent.unequal), (1, 0), "without an epoch there is no pair");
    }

    #[test]
    fn means_of_samples_that_are_not_pairs() {
        assert!(are_comparable_means([5.0, 4.5]));
        assert!(!are_comparable_means([5.0, 4.4]));
        assert!(!are_comparable_means([4.8, 1.2]));
        assert!(are_comparable_means([0.0, 5.0]));
    }
}
