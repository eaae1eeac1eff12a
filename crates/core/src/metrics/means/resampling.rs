//! What the metrics that draw resamples have in common.

use crate::metrics::prelude::*;
use crate::spec::ToSpec;
use errorbar_stats::resampling::ResampledMeans;

/// The number of resamples if none is given.
pub(super) const DEFAULT_NUM_SAMPLES: Count<usize> = Count(1000);

/// Replicates are numbered by 32 bits, and far fewer are ever useful.
const MAX_NUM_SAMPLES: usize = 100_000_000;
/// Quantiles are of means that are all held.
const MAX_HELD: usize = 10_000_000;

/// What is wrong with a number of resamples: none would make the figure a silent zero.
pub(super) fn check_num_samples(count: &Count<usize>) -> Result<(), String> {
    check_count(count, MAX_NUM_SAMPLES)
}

/// What is wrong with a number of resamples that are all held.
pub(super) fn check_held_samples(count: &Count<usize>) -> Result<(), String> {
    check_count(count, MAX_HELD)
}

fn check_count(Count(count): &Count<usize>, most: usize) -> Result<(), String> {
    match (1..=most).contains(count) {
        true => Ok(()),
        false => Err(format!("must lie between 1 and {most}, found {count}")),
    }
}

/// The bits of a seed that count: specs have signed integers.
pub(super) fn seed_bits(seed: u64) -> u64 {
    seed & i64::MAX.cast_unsigned()
}

/// The resamples of a metric: the seed is that of the metric, or of the plan.
pub(super) fn draws(scores: &Scores<'_>, count: usize, seed: Option<u64>) -> Draws {
    Draws { seed: seed.unwrap_or(scores.seed()), count: count as u64 }
}

/// Takes as many means of resamples from those that a plan allows.
pub(super) fn take_means(
    metric: &impl ToSpec,
    scores: &Scores<'_>,
    means: &ResampledMeans,
    draws: Draws,
) -> Result<()> {
    // A value that is drawn takes half a nanosecond; equal ones are counted.
    let cost = (2 * means.cost()).min(scores.len() as u64);
    scores.take_draws(metric, draws.count as usize, cost)
}
