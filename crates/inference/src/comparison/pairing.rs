//! Which samples of two blocks are compared, in which groups, by which scores, and what absent ones could change.

use errorbar_core::engine::{EpochInfo, Interner};
use errorbar_core::python_text::json_text;
use errorbar_core::{Bounds, Scores};
use errorbar_stats::exact::ExactSum;

use super::side::{Block, Side};
use crate::error::Result;

/// The samples that both sides have.
#[derive(Clone, Debug, Default)]
pub(super) struct Pairing {
    /// Those with a score on both sides, in the order of the base.
    pub(super) samples: Vec<u32>,
    /// Those without, on one side at least.
    pub(super) absent: Vec<u32>,
}

impl Pairing {
    pub(super) fn new(base: &Block<'_>, other: &Block<'_>, common: &[u32]) -> Self {
        let (samples, absent) =
            common.iter().copied().partition(|sample| base.has(*sample) && other.has(*sample));
        Pairing { samples, absent }
    }

    /// All samples with a score in any case: those of a side that is compared without pairs.
    pub(super) fn of_side(side: &Side<'_>, block: &Block<'_>) -> Self {
        let (samples, absent) = side.samples.iter().copied().partition(|sample| block.has(*sample));
        Pairing { samples, absent }
    }

    /// The scores of one side; absent are the samples that it has no score of itself.
    pub(super) fn scores<'b>(&self, side: &Side<'_>, block: &'b Block<'_>) -> Scores<'b> {
        let positions = self.samples.iter().flat_map(|sample| block.positions(*sample)).copied().collect();
        let absent = self.absent.iter().filter(|sample| !block.has(**sample));
        let absent = absent.filter_map(|sample| side.first_row(*sample)).collect();
        block.scores().subset(positions, absent)
    }

    /// The samples by the value of a metadata key, in order of first appearance: the name of each group, and its samples.
    /// The sides are asked one after the other.
    ///
    /// # Errors
    /// A sample without the key.
    pub(super) fn by_group(&self, key: &str, sides: &[&Side<'_>]) -> Result<Vec<(String, Pairing)>> {
        let columns: Vec<_> =
            sides.iter().filter_map(|side| Some((side, side.columns.metadata_column(key)?))).collect();
        let mut names: Interner<String> = Interner::default();
        let mut groups: Vec<Pairing> = Vec::new();
        let is_scored = self.samples.iter().map(|sample| (sample, true));
        for (sample, is_scored) in is_scored.chain(self.absent.iter().map(|sample| (sample, false))) {
            let value = columns.iter().find_map(|(side, column)| {
                let code = column.code(side.first_row(*sample)? as usize)?;
                column.value(code as usize)
            });
            let Some(value) = value else {
                let Some(side) = sides.first() else { return Ok(Vec::new()) };
                return Err(side.missing_key("the comparison by group", key, side.id(*sample)).into());
            };
            let group = names.intern(json_text(value)) as usize;
            if groups.len() <= group {
                groups.resize_with(group + 1, Pairing::default);
            }
            if let Some(group) = groups.get_mut(group) {
                let samples = if is_scored { &mut group.samples } else { &mut group.absent };
                samples.push(*sample);
            }
        }
        Ok(names.iter().cloned().zip(groups).collect())
    }
}

/// One side of the pairs: its numbers, and where absent scores and epochs are known from.
pub(super) struct BoundedSide<'p> {
    pub(super) block: &'p Block<'p>,
    /// The numbers of the samples with a score on both sides.
    pub(super) numbers: &'p [f64],
    /// The epochs behind the numbers, if those are the scores themselves.
    pub(super) epochs: Option<&'p EpochInfo>,
}

impl BoundedSide<'_> {
    /// What the score of a sample might be: the least, the largest, and the one if absent is 0; and whether an epoch is
    /// absent.
    fn of_pair(&self, at: usize, sample: u32) -> ([f64; 3], bool) {
        let number = self.numbers.get(at).copied().unwrap_or(0.0);
        match self.gaps(sample) {
            Some(filled) => (*filled, true),
            None => ([number; 3], false),
        }
    }

    fn gaps(&self, sample: u32) -> Option<&[f64; 3]> {
        let epochs = self.epochs.filter(|epochs| !epochs.gaps.is_empty())?;
        let row = self.block.row_of(sample)?;
        epochs.gaps.get(&row)
    }
}

/// The bounds of other minus base, and the number of pairs with absent epochs; none if nothing is absent.
///
/// `number_of` gives the number of a sample that only one of the sides has a score of.
pub(super) fn bounds(
    sides: [&BoundedSide<'_>; 2],
    pairing: &Pairing,
    (low, high): (f64, f64),
    number_of: impl Fn(usize, u32) -> Option<f64>,
) -> Option<(Bounds, u64)> {
    let [base, other] = sides;
    let mut sums: [ExactSum; 3] = Default::default();
    let mut partly = 0;
    let mut add = |base: [f64; 3], other: [f64; 3]| {
        let ([base_low, base_high, base_wrong], [low, high, wrong]) = (base, other);
        let pairs = [(low, base_high), (high, base_low), (wrong, base_wrong)];
        for (sum, (other, base)) in sums.iter_mut().zip(pairs) {
            sum.add(other);
            sum.add(-base);
        }
    };
    for (at, sample) in pairing.samples.iter().enumerate() {
        let (of_base, has_gap) = base.of_pair(at, *sample);
        let (of_other, other_has_gap) = other.of_pair(at, *sample);
        partly += u64::from(has_gap || other_has_gap);
        add(of_base, of_other);
    }
    for sample in &pairing.absent {
        let of = |at: usize, side: &BoundedSide<'_>| match (side.gaps(*sample), number_of(at, *sample)) {
            (Some(filled), _) => *filled,
            (None, Some(number)) => [number; 3],
            (None, None) => [low, high, 0.0],
        };
        add(of(0, base), of(1, other));
    }
    if partly == 0 && pairing.absent.is_empty() {
        return None;
    }
    let n = (pairing.samples.len() + pairing.absent.len()) as u64;
    let [worst, best, wrong] = sums.map(|sum| sum.divide(n.max(1)));
    Some((Bounds::new(worst, best, wrong), partly))
}

/// The most different scores that a table has; more would not be read.
const MOST_SCORES: usize = 6;

/// Pairs counted by the score of both sides, where there are few different ones.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct CrossTable {
    /// The different scores of both sides, ascending.
    pub scores: Vec<f64>,
    /// The number of pairs, by the score of the base, then by that of the other side.
    pub counts: Vec<Vec<u64>>,
}

impl CrossTable {
    /// The pairs; none if there are too many different scores, or one that is not finite.
    pub(super) fn of(base: &[f64], other: &[f64]) -> Option<Self> {
        let mut scores: Vec<f64> = Vec::new();
        for score in base.iter().chain(other) {
            if !score.is_finite() {
                return None;
            }
            // Means of the same epochs in another order may differ in the last bit.
            if !scores.iter().any(|known| is_same(*known, *score)) {
                scores.push(*score);
            }
            if scores.len() > MOST_SCORES {
                return None;
            }
        }
        scores.sort_unstable_by(f64::total_cmp);
        let mut counts = vec![vec![0; scores.len()]; scores.len()];
        let place = |score: f64| scores.iter().position(|known| is_same(*known, score));
        for (base, other) in base.iter().zip(other) {
            let (row, column) = (place(*base)?, place(*other)?);
            *counts.get_mut(row)?.get_mut(column)? += 1;
        }
        Some(CrossTable { scores, counts })
    }
}

fn is_same(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-9 * (1.0 + a.abs())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_are_counted_by_both_scores() {
        let third = 1.0 / 3.0;
        let table = CrossTable::of(&[0.0, third, 1.0, 1.0], &[0.0, 1.0, third + 1e-16, 1.0]).unwrap();
        assert_eq!(table.scores, [0.0, third, 1.0]);
        assert_eq!(table.counts, [[1, 0, 0], [0, 0, 1], [0, 1, 1]]);
    }

    #[test]
    fn many_scores_are_no_table() {
        let many: Vec<f64> = (0..7).map(f64::from).collect();
        assert_eq!(CrossTable::of(&many, &many), None);
        assert_eq!(CrossTable::of(&[f64::NAN], &[1.0]), None);
    }
}
