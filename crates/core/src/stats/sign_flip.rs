//! The sign-flip permutation test of paired differences: if neither side is better, each difference is as likely as its
//! negative.
//!
//! The p-value is the share of the 2^n sign patterns whose sum is at least as far from 0 as the observed one; ties count as
//! extreme. With A the sum of the magnitudes that have one of the two signs, and m the smaller of the observed sums of the positive and of the
//! negative differences, that share is 2·P(A ≤ m), because the distribution of A is symmetric. So only sums up to m matter.
//!
//! Differences of scores mostly are multiples of a step: ½, a point of a scale, 1/epochs. Then P(A ≤ m) follows from the
//! counts of sums in units of the step, one difference after the other. Few differences without a step are enumerated: the
//! sorted sums of the two halves meet in the middle.

use rayon::iter::{IntoParallelIterator, ParallelIterator};

use super::exact::ExactSum;
use super::mcnemar::{mcnemar_exact, power_of_half};
use super::philox::Stream;
use super::purpose::SIGN_FLIPS;

/// The exact two-sided p-value: none if it would take too long (about a tenth of a second), or if a difference is not finite.
///
/// Differences of zero change no sum and do not count; 1 if there are no others. Sums that differ by rounding are equal.
///
/// ```
/// # use errorbar_core::stats::sign_flip_exact;
/// // Only all plus and all minus are as extreme: 2 of 2^4.
/// assert_eq!(sign_flip_exact(&[0.5, 0.25, 0.0, 0.5, 0.25]), Some(0.125));
/// ```
pub fn sign_flip_exact(differences: &[f64]) -> Option<f64> {
    let flips = Flips::new(differences)?;
    if flips.magnitudes.is_empty() || flips.smaller_side >= flips.larger_side {
        return Some(1.0);
    }
    if let Some((multiples, fewer)) = flips.multiples() {
        if let Some(p) = by_counts(multiples, fewer, flips.wins, flips.losses) {
            return Some(p);
        }
    }
    (flips.magnitudes.len() <= MOST_ENUMERATED).then(|| flips.enumerated())
}

/// The p-value from random sign patterns: (r + 1)/(draws + 1), r of them at least as extreme as the observed one.
///
/// Counting the observed pattern keeps the test valid at any number of draws. The same seed gives the same p-value, on any
/// number of threads. None if a difference is not finite.
pub fn sign_flip_monte_carlo(differences: &[f64], draws: u64, seed: u64) -> Option<f64> {
    let flips = Flips::new(differences)?;
    if flips.magnitudes.is_empty() || flips.smaller_side >= flips.larger_side {
        return Some(1.0);
    }
    let magnitudes = match flips.multiples() {
        // In whole numbers, whose sums are exact.
        Some((multiples, _)) => multiples.into_iter().map(f64::from).collect(),
        None => flips.magnitudes.clone(),
    };
    let total: f64 = magnitudes.iter().sum();
    let bound = total * (flips.smaller_side / (flips.smaller_side + flips.larger_side)) + ROUNDING * total;
    let extreme = (0..draws)
        .into_par_iter()
        .filter(|draw| {
            let mut stream = Stream::new(seed, SIGN_FLIPS, *draw);
            let mut sum = 0.0;
            for block in magnitudes.chunks(64) {
                let signs = stream.next_u64();
                for (index, magnitude) in block.iter().enumerate() {
                    sum += if signs >> index & 1 == 1 { *magnitude } else { 0.0 };
                }
            }
            sum <= bound || total - sum <= bound
        })
        .count();
    Some((extreme as f64 + 1.0) / (draws as f64 + 1.0))
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

/// Additions in the counting at most.
const MOST_ADDITIONS: u64 = 60_000_000;

/// The differences without zeros.
struct Flips {
    magnitudes: Vec<f64>,
    /// Those above and below zero.
    wins: u64,
    losses: u64,
    /// Whether the sum of all is below zero.
    is_negative: bool,
    signs: Vec<bool>,
    /// The smaller and the larger one of the sums of positive and of negative differences.
    smaller_side: f64,
    larger_side: f64,
}

impl Flips {
    fn new(differences: &[f64]) -> Option<Self> {
        if differences.iter().any(|difference| !difference.is_finite()) {
            return None;
        }
        let kept = || differences.iter().filter(|difference| **difference != 0.0);
        let side = |is_positive: bool| {
            let mut sum = ExactSum::new();
            for difference in kept().filter(|difference| (**difference > 0.0) == is_positive) {
                sum.add(difference.abs());
            }
            sum.to_f64()
        };
        let (positive, negative) = (side(true), side(false));
        if !(positive + negative).is_finite() {
            return None;
        }
        let signs: Vec<bool> = kept().map(|difference| *difference > 0.0).collect();
        let wins = signs.iter().filter(|is_positive| **is_positive).count();
        Some(Flips {
            magnitudes: kept().map(|difference| difference.abs()).collect(),
            wins: wins as u64,
            losses: (signs.len() - wins) as u64,
            is_negative: negative > positive,
            signs,
            smaller_side: positive.min(negative),
            larger_side: positive.max(negative),
        })
    }

    /// The magnitudes as multiples of a common step, and the smaller side's sum of them.
    fn multiples(&self) -> Option<(Vec<u32>, u64)> {
        let largest = self.magnitudes.iter().copied().fold(0.0, f64::max);
        let steps = (1..=MOST_STEPS).find(|steps| {
            self.magnitudes.iter().all(|magnitude| {
                let multiple = magnitude / largest * f64::from(*steps);
                (multiple - libm::round(multiple)).abs() <= OFF_STEP * f64::from(*steps) && multiple >= 0.5
            })
        })?;
        let multiples: Vec<u32> = self
            .magnitudes
            .iter()
            .map(|magnitude| libm::round(magnitude / largest * f64::from(steps)) as u32)
            .collect();
        let fewer = multiples
            .iter()
            .zip(&self.signs)
            .filter(|(_, is_positive)| **is_positive == self.is_negative)
            .map(|(multiple, _)| u64::from(*multiple))
            .sum();
        Some((multiples, fewer))
    }

    /// Counts the patterns with a sum of at most m from the sorted sums of two halves.
    fn enumerated(&self) -> f64 {
        let (first, second) = self.magnitudes.split_at(self.magnitudes.len() / 2);
        let (first, second) = (sorted_sums(first), sorted_sums(second));
        let bound = self.smaller_side + ROUNDING * (self.smaller_side + self.larger_side);
        let mut count = 0_u64;
        let mut below = second.len();
        for sum in &first {
            while below > 0 && second.get(below - 1).is_some_and(|other| sum + other > bound) {
                below -= 1;
            }
            count += below as u64;
        }
        let share = count as f64 * power_of_half(self.magnitudes.len() as u64 - 1);
        share.min(1.0)
    }
}

/// The sums of all subsets, the smallest first.
fn sorted_sums(values: &[f64]) -> Vec<f64> {
    let mut sums = vec![0.0];
    for value in values {
        let mut merged = Vec::with_capacity(2 * sums.len());
        let (mut without, mut with) = (sums.iter().copied().peekable(), sums.iter().peekable());
        while let Some(raised) = with.peek().map(|sum| **sum + value) {
            match without.next_if(|sum| *sum <= raised) {
                Some(sum) => merged.push(sum),
                None => {
                    merged.push(raised);
                    with.next();
                }
            }
        }
        sums = merged;
    }
    sums
}

/// 2·P(A ≤ `fewer`), A the sum of a random subset of the multiples. None if it takes too many additions.
fn by_counts(mut multiples: Vec<u32>, fewer: u64, wins: u64, losses: u64) -> Option<f64> {
    multiples.sort_unstable();
    if multiples.first() == multiples.last() {
        return Some(mcnemar_exact(wins, losses));
    }
    if multiples.iter().map(|multiple| u64::from(*multiple)).sum::<u64>() == 2 * fewer {
        return Some(1.0);
    }
    if fewer.saturating_mul(multiples.len() as u64) > MOST_ADDITIONS {
        return None;
    }
    // The probabilities of the sums 0 to `fewer`. Nothing is subtracted, so even the smallest are exact but for rounding.
    let mut shares = vec![0.0_f64; usize::try_from(fewer).ok()? + 1];
    if let Some(zero) = shares.first_mut() {
        *zero = 1.0;
    }
    let mut reached = 0;
    for multiple in multiples {
        let multiple = multiple as usize;
        reached = (reached + multiple).min(shares.len() - 1);
        add_multiple(shares.get_mut(..=reached)?, multiple);
    }
    let mut all = ExactSum::new();
    all.extend(&shares);
    Some((2.0 * all.to_f64()).min(1.0))
}

/// Each sum s is reached from s without the multiple, or from s − multiple with it.
fn add_multiple(shares: &mut [f64], multiple: usize) {
    for sum in (0..shares.len()).rev() {
        let from = sum.checked_sub(multiple).and_then(|from| shares.get(from)).copied().unwrap_or(0.0);
        if let Some(share) = shares.get_mut(sum) {
            *share = 0.5 * (*share + from);
        }
    }
}
