//! Resampling of whole units, for figures that are not means: the bootstrap and the jackknife.
//!
//! A unit is what is independent of the rest: a sample with all its epochs, or a cluster of samples. A resample is how
//! often each unit is in it. Resample b of a seed is the same on any number of threads and whatever the number of resamples.

use std::ops::Range;

use super::means::replicates;
use crate::descriptive::standard_deviation;
use crate::distributions::{normal_cdf, normal_quantile};
use crate::exact::ExactSum;
use crate::exact::Moments;
use crate::random::Stream;
use crate::random::Xoshiro;
use crate::random::purpose::UNITS;

/// About how many nanoseconds it takes to draw a unit.
const UNIT_COST: u64 = 20;

/// The figures of `draws` resamples of as many units as there are, drawn with replacement.
///
/// `figure` gets how often each unit is drawn. A resample where it is undefined is left out: `draws` less the length of
/// what is returned are undefined.
pub fn resampled_figures(
    units: usize,
    draws: usize,
    seed: u64,
    figure: impl Fn(&[u32]) -> Option<f64> + Sync,
) -> Vec<f64> {
    resampled(units, draws, seed, figure).into_iter().flatten().filter(|figure| !figure.is_nan()).collect()
}

/// The moments of the same figures, of which a part is held at a time.
pub fn resampled_moments(
    units: usize,
    draws: usize,
    seed: u64,
    figure: impl Fn(&[u32]) -> Option<f64> + Sync,
) -> Moments {
    const PART: usize = 1 << 16;
    let mut moments = Moments::new();
    for first in (0..draws).step_by(PART) {
        let part = in_range(units, first..draws.min(first + PART), seed, &figure);
        let defined = part.into_iter().flatten().filter(|figure| !figure.is_nan());
        moments.extend(&defined.collect::<Vec<_>>());
    }
    moments
}

/// The same for figures of any type, one for each resample.
pub fn resampled<T: Send>(
    units: usize,
    draws: usize,
    seed: u64,
    figure: impl Fn(&[u32]) -> T + Sync,
) -> Vec<T> {
    in_range(units, 0..draws, seed, figure)
}

/// The figures of those resamples whose numbers are in a range.
fn in_range<T: Send>(
    units: usize,
    draws: Range<usize>,
    seed: u64,
    figure: impl Fn(&[u32]) -> T + Sync,
) -> Vec<T> {
    replicates(UNIT_COST * units as u64, draws, |counts: &mut Vec<u32>, draw| {
        draw_counts(counts, units, Stream::new(seed, UNITS, draw));
        figure(counts)
    })
}

/// The same for several figures: a row of this width for each resample, one after the other. Where a row has fewer
/// figures, the others are not a number.
pub fn resampled_rows(
    units: usize,
    draws: usize,
    seed: u64,
    width: usize,
    figures: impl Fn(&[u32]) -> Vec<f64> + Sync,
) -> Vec<f64> {
    in_rows(width, resampled(units, draws, seed, figures))
}

/// Several figures with each unit left out in turn: a row of this width for each unit.
pub fn left_out_rows(units: usize, width: usize, figures: impl Fn(&[u32]) -> Vec<f64> + Sync) -> Vec<f64> {
    let rows = replicates(UNIT_COST * units as u64, 0..units, |counts: &mut Vec<u32>, unit| {
        counts.clear();
        counts.resize(units, 1);
        if let Some(count) = counts.get_mut(unit as usize) {
            *count = 0;
        }
        figures(counts)
    });
    in_rows(width, rows)
}

fn in_rows(width: usize, rows: Vec<Vec<f64>>) -> Vec<f64> {
    let row = |row: Vec<f64>| row.into_iter().chain(std::iter::repeat(f64::NAN)).take(width);
    rows.into_iter().flat_map(row).collect()
}

/// How often each unit is drawn.
fn draw_counts(counts: &mut Vec<u32>, units: usize, stream: Stream) {
    counts.clear();
    counts.resize(units, 0);
    let mut random = Xoshiro::from_stream(stream);
    for _ in 0..units {
        // The high half of the product: among 2^64 words no unit is favoured by more than one.
        let unit = (u128::from(random.next_u64()) * units as u128) >> 64;
        if let Some(count) = counts.get_mut(unit as usize) {
            *count += 1;
        }
    }
}

/// The standard error of the jackknife: √((n−1)/n · Σ(θᵢ − θ̄)²) of the figures with one unit left out each; none of fewer
/// than two.
pub fn jackknife_error(left_out: &[f64]) -> Option<f64> {
    if left_out.len() < 2 {
        return None;
    }
    // √((n−1)/n · n · σ²), σ with the divisor n.
    Some(((left_out.len() - 1) as f64).sqrt() * standard_deviation(left_out))
}

/// The shares at which the BCa interval takes its quantiles, for those of the percentile interval; none if all resamples
/// lie on one side of the figure, or if leaving a unit out changes nothing.
///
/// Efron, "Better bootstrap confidence intervals", JASA 82, 1987: α* = Φ(z₀ + (z₀ + z)/(1 − a(z₀ + z))). Resamples equal to the
/// figure count half, which matters with ties.
pub fn bca_shares(value: f64, figures: &[f64], left_out: &[f64], shares: [f64; 2]) -> Option<[f64; 2]> {
    bca_shares_of(value, figures, acceleration(left_out)?, shares)
}

/// The same with a known acceleration.
pub fn bca_shares_of(value: f64, figures: &[f64], acceleration: f64, shares: [f64; 2]) -> Option<[f64; 2]> {
    // Sums of the same values in another order differ in their last bits.
    let (least, greatest) =
        figures.iter().fold((value, value), |(low, high), figure| (low.min(*figure), high.max(*figure)));
    let rounding = 1e-12 * (greatest - least);
    let below = figures.iter().filter(|figure| **figure < value - rounding).count() as f64;
    let equal = figures.iter().filter(|figure| (**figure - value).abs() <= rounding).count() as f64;
    bca_shares_at((below + equal / 2.0) / figures.len() as f64, acceleration, shares)
}

/// The same for this share of resamples below the figure, those equal to it counted half.
pub(super) fn bca_shares_at(below: f64, acceleration: f64, shares: [f64; 2]) -> Option<[f64; 2]> {
    let bias = normal_quantile(below);
    if !bias.is_finite() {
        return None;
    }
    let share = |share: f64| {
        let z = bias + normal_quantile(share);
        let shrink = 1.0 - acceleration * z;
        // Beyond the pole the order of shares would turn around.
        (shrink > 0.0).then(|| normal_cdf(bias + z / shrink))
    };
    let [low, high] = shares.map(share);
    Some([low.filter(|low| low.is_finite())?, high.filter(|high| high.is_finite())?])
}

/// Σd³ / (6·(Σd²)^(3/2)), d = θ̄ − θᵢ.
pub fn acceleration(left_out: &[f64]) -> Option<f64> {
    let mut sum = ExactSum::new();
    sum.extend(left_out);
    let mean = sum.divide((left_out.len() as u64).max(1));
    let deviations: Vec<f64> = left_out.iter().map(|figure| mean - figure).collect();
    // In units of the largest: cubes neither vanish nor overflow.
    let largest = deviations.iter().map(|d| d.abs()).fold(0.0, f64::max);
    if !(largest > 0.0 && largest.is_finite()) {
        return None;
    }
    let (mut squares, mut cubes) = (ExactSum::new(), ExactSum::new());
    for deviation in deviations {
        let d = deviation / largest;
        squares.add(d * d);
        cubes.add(d * d * d);
    }
    let squares = squares.to_f64();
    Some(cubes.to_f64() / (6.0 * squares * squares.sqrt()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mean(values: &[f64], counts: &[u32]) -> Option<f64> {
        let n: u32 = counts.iter().sum();
        let sum: f64 = values.iter().zip(counts).map(|(value, count)| value * f64::from(*count)).sum();
        (n > 0).then(|| sum / f64::from(n))
    }

    /// Efron & Tibshirani's treated mice, whose ideal bootstrap error of the mean is √(Σ(x−x̄)²)/n = 23.3635…
    const MICE: [f64; 7] = [94.0, 197.0, 16.0, 38.0, 99.0, 141.0, 23.0];

    #[test]
    fn the_error_is_that_of_the_ideal_bootstrap() {
        let figures = resampled_figures(7, 40_000, 3, |counts| mean(&MICE, counts));
        assert_eq!(figures.len(), 40_000);
        // A standard deviation over 40,000 resamples has an error of 1/√80,000, or 0.35 %.
        let error = standard_deviation(&figures);
        assert!((error / 23.3635 - 1.0).abs() < 0.0175, "{error}");
    }

    #[test]
    fn the_median_of_the_mice() {
        let median = |counts: &[u32]| {
            let mut values: Vec<f64> = Vec::new();
            for (value, count) in MICE.iter().zip(counts) {
                values.extend(std::iter::repeat_n(*value, *count as usize));
            }
            values.sort_unstable_by(f64::total_cmp);
            values.get(3).copied()
        };
        let error = standard_deviation(&resampled_figures(7, 40_000, 3, median));
        // Published: 37.83, by enumeration.
        assert!((error / 37.83 - 1.0).abs() < 0.0175, "{error}");
    }

    #[test]
    fn a_resample_does_not_depend_on_threads_or_on_how_many_there_are() {
        let all = resampled(300, 400, 9, <[u32]>::to_vec);
        let few = resampled(300, 3, 9, <[u32]>::to_vec);
        assert_eq!(all[..3], few[..]);
        assert!(all.iter().all(|counts| counts.iter().sum::<u32>() == 300));
        let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
        assert_eq!(pool.install(|| resampled(300, 400, 9, <[u32]>::to_vec)), all);
        assert_ne!(resampled(300, 3, 10, <[u32]>::to_vec), few);
    }

    #[test]
    fn rows_of_figures_are_those_of_the_resamples() {
        for units in [3, 300] {
            let figures = |counts: &[u32]| vec![f64::from(counts[0]), f64::from(counts[1])];
            let rows = resampled_rows(units, 400, 9, 3, figures);
            let expected = resampled(units, 400, 9, figures);
            assert_eq!(rows.len(), 1200);
            for (row, expected) in rows.chunks(3).zip(expected) {
                assert_eq!((row[..2].to_vec(), row[2].is_nan()), (expected, true));
            }
        }
        assert!(resampled_rows(3, 400, 9, 0, |_| Vec::new()).is_empty());
    }

    #[test]
    fn undefined_resamples_are_dropped() {
        let one_third = |counts: &[u32]| (counts[0] > 0).then_some(f64::from(counts[0]) / 3.0);
        let (figures, moments) =
            (resampled_figures(2, 70_000, 0, one_third), resampled_moments(2, 70_000, 0, one_third));
        let mut held = Moments::new();
        held.extend(&figures);
        assert_eq!(moments, held, "those that are not held");
        let figures = resampled_figures(2, 1000, 0, |counts| (counts[0] > 0).then_some(1.0));
        // A quarter of them misses the first unit; 5 standard deviations are 68.
        assert!((1000 - figures.len()).abs_diff(250) < 68, "{}", figures.len());
    }

    #[test]
    fn the_jackknife_of_a_mean_is_its_standard_error() {
        let left_out = left_out_rows(7, 1, |counts| mean(&MICE, counts).into_iter().collect());
        // s/√n = 66.766…/√7
        assert!((jackknife_error(&left_out).unwrap() - 25.235489533052238).abs() < 1e-12);
        assert!(left_out_rows(1, 1, |counts| mean(&MICE, counts).into_iter().collect())[0].is_nan());
    }
}
