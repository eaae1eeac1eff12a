//! The sign-flip permutation test of paired differences: if neither side is better, each difference is as likely as its
//! negative.
//!
//! The p-value is the share of the 2^n sign patterns whose sum is at least as far from 0 as the observed one; ties count as
//! extreme. Let A be the sum of the magnitudes of the positive differences of a random pattern, and m the smaller one of the
//! observed sums of the positive and of the negative magnitudes. A is distributed symmetrically, so the share is 2·P(A ≤ m),
//! and only sums up to m matter.
//!
//! Differences of scores mostly are multiples of a step: ½, a point of a scale, 1/epochs. Then P(A ≤ m) follows from the
//! counts of sums in units of the step, one difference after the other. Few differences without a step are enumerated: the
//! sorted sums of the two halves meet in the middle.

use super::mcnemar::{mcnemar_exact, power_of_half};
use crate::exact::ExactSum;

/// The exact two-sided p-value: none if it would take long (more than a tenth of a second), or if a difference is not
/// finite.
///
/// Differences of zero change no sum and do not count; 1 if there are no others. Sums that differ by rounding are equal.
///
/// ```
/// # use errorbar_stats::differences::sign_flip_exact;
/// // Only all plus and all minus are as extreme: 2 of 2^4.
/// assert_eq!(sign_flip_exact(&[0.5, 0.25, 0.0, 0.5, 0.25]), Some(0.125));
/// ```
pub fn sign_flip_exact(differences: &[f64]) -> Option<f64> {
    let sides = Sides::new(differences)?;
    if sides.are_equal() {
        return Some(1.0);
    }
    sides.by_counts().or_else(|| sides.by_enumeration())
}

/// Sums closer than this share of the sum of all magnitudes are equal: differences such as 0.3 − 0.2 and 0.2 − 0.1 are, but
/// for their rounding.
const ROUNDING: f64 = 1e-11;

/// How far a difference may be from a multiple of the step, as a share of the largest difference.
const OFF_STEP: f64 = 1e-10;

/// The most steps in the largest difference. Beyond it a step means little, and counting takes long.
const MOST_STEPS: u32 = 10_000;

/// Differences without a step that are enumerated at most: each half has 2^18 sums.
const MOST_ENUMERATED: usize = 36;

/// Additions of the counting at most.
const MOST_ADDITIONS: u64 = 100_000_000;

/// The magnitudes of the positive and of the negative differences; zeros are in neither.
struct Sides {
    /// Those with the smaller sum.
    smaller: Vec<f64>,
    larger: Vec<f64>,
    smaller_sum: f64,
    larger_sum: f64,
}

impl Sides {
    fn new(differences: &[f64]) -> Option<Self> {
        let (mut smaller, mut larger) = (Vec::new(), Vec::new());
        for difference in differences {
            if !difference.is_finite() {
                return None;
            }
            if *difference > 0.0 {
                larger.push(*difference);
            } else if *difference < 0.0 {
                smaller.push(-difference);
            }
        }
        let sum = |magnitudes: &[f64]| {
            let mut sum = ExactSum::new();
            sum.extend(magnitudes);
            sum.to_f64()
        };
        let (mut smaller_sum, mut larger_sum) = (sum(&smaller), sum(&larger));
        if smaller_sum > larger_sum {
            std::mem::swap(&mut smaller, &mut larger);
            std::mem::swap(&mut smaller_sum, &mut larger_sum);
        }
        (smaller_sum + larger_sum).is_finite().then_some(Sides { smaller, larger, smaller_sum, larger_sum })
    }

    /// Whether the observed sum is 0, so that every pattern is as extreme.
    fn are_equal(&self) -> bool {
        self.larger_sum - self.smaller_sum <= ROUNDING * (self.larger_sum + self.smaller_sum)
    }

    fn all(&self) -> impl Iterator<Item = f64> {
        self.smaller.iter().chain(&self.larger).copied()
    }

    /// The magnitudes as multiples of a common step: the largest one that divides all of them, but for rounding.
    fn multiples(&self) -> Option<Multiples> {
        let largest = self.all().fold(0.0, f64::max);
        let mut distinct: Vec<f64> = self.all().map(|magnitude| magnitude / largest).collect();
        distinct.sort_unstable_by(f64::total_cmp);
        distinct.dedup_by(|next, kept| *next - *kept <= OFF_STEP);
        if distinct.len() > MOST_STEPS as usize {
            return None;
        }
        let steps = (1..=MOST_STEPS).map(f64::from).find(|steps| {
            distinct.iter().all(|share| {
                let multiple = share * steps;
                // A step above twice a difference would make it zero.
                multiple >= 0.5 && (multiple - libm::round(multiple)).abs() <= OFF_STEP * steps
            })
        })?;
        let in_steps = |magnitudes: &[f64]| {
            let multiple = |magnitude: &f64| libm::round(magnitude / largest * steps) as u32;
            magnitudes.iter().map(multiple).collect()
        };
        Some(Multiples { smaller: in_steps(&self.smaller), larger: in_steps(&self.larger) })
    }

    fn by_counts(&self) -> Option<f64> {
        self.multiples()?.by_counts()
    }

    /// Counts the patterns whose sum is at most that of the smaller side.
    fn by_enumeration(&self) -> Option<f64> {
        let magnitudes: Vec<f64> = self.all().collect();
        if magnitudes.len() > MOST_ENUMERATED {
            return None;
        }
        let (first, second) = magnitudes.split_at(magnitudes.len() / 2);
        let (first, second) = (sorted_sums(first), sorted_sums(second));
        let bound = self.smaller_sum + ROUNDING * (self.smaller_sum + self.larger_sum);
        let mut count = 0_u64;
        let mut below = second.len();
        for sum in &first {
            while below > 0 && second.get(below - 1).is_some_and(|other| sum + other > bound) {
                below -= 1;
            }
            count += below as u64;
        }
        Some((2.0 * count as f64 * power_of_half(magnitudes.len() as u64)).min(1.0))
    }
}

/// The sums of all subsets, the smallest first.
fn sorted_sums(values: &[f64]) -> Vec<f64> {
    let mut sums = vec![0.0];
    for value in values {
        let mut merged = Vec::with_capacity(2 * sums.len());
        // The largest sum has the value in it, so none without it is left over.
        let mut without = sums.iter().copied().peekable();
        for with in sums.iter().map(|sum| sum + value) {
            while let Some(sum) = without.next_if(|sum| *sum <= with) {
                merged.push(sum);
            }
            merged.push(with);
        }
        sums = merged;
    }
    sums
}

/// The magnitudes of both sides in units of the step.
struct Multiples {
    smaller: Vec<u32>,
    larger: Vec<u32>,
}

impl Multiples {
    fn of_all(&self) -> impl Iterator<Item = u32> {
        self.smaller.iter().chain(&self.larger).copied()
    }

    fn smaller_sum(&self) -> u64 {
        self.smaller.iter().copied().map(u64::from).sum()
    }

    /// 2·P(A ≤ m), A the sum of a random subset. None if that takes too many additions.
    fn by_counts(&self) -> Option<f64> {
        let mut multiples: Vec<u32> = self.of_all().collect();
        multiples.sort_unstable();
        if multiples.first() == multiples.last() {
            return Some(mcnemar_exact(self.larger.len() as u64, self.smaller.len() as u64));
        }
        let smaller_sum = self.smaller_sum();
        if smaller_sum.saturating_mul(multiples.len() as u64) > MOST_ADDITIONS {
            return None;
        }
        // The probabilities of the sums 0 to m. Nothing is subtracted, so the smallest have all their digits too.
        let size = usize::try_from(smaller_sum).ok()? + 1;
        let mut before = vec![0.0_f64; size];
        let mut after = before.clone();
        *before.first_mut()? = 1.0;
        let mut reached = 0;
        for multiple in multiples {
            // From the smallest on, so that few sums are reached at first.
            reached = (reached + multiple as usize).min(size - 1);
            add_multiple(before.get(..=reached)?, after.get_mut(..=reached)?, multiple as usize);
            std::mem::swap(&mut before, &mut after);
        }
        let mut all = ExactSum::new();
        all.extend(&before);
        Some((2.0 * all.to_f64()).min(1.0))
    }
}

/// Each sum s is reached from s without the multiple, or from s − multiple with it.
fn add_multiple(before: &[f64], after: &mut [f64], multiple: usize) {
    let (low, high) = after.split_at_mut(multiple.min(before.len()));
    for (share, without) in low.iter_mut().zip(before) {
        *share = 0.5 * without;
    }
    for ((share, without), with) in high.iter_mut().zip(before.iter().skip(multiple)).zip(before) {
        *share = 0.5 * (without + with);
    }
}
