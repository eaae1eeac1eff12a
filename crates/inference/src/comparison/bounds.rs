//! What a difference would be if samples without a score had one.

use super::pairing::Pairing;
use super::side::Block;
use errorbar_core::Bounds;
use errorbar_core::engine::EpochInfo;
use errorbar_stats::exact::ExactSum;

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
