//! What the metrics that draw resamples have in common.

use crate::args::Count;
use crate::error::Result;
use crate::estimate::Draws;
use crate::scores::Scores;

/// The number of resamples if none is given.
pub(super) const DEFAULT_NUM_SAMPLES: Count<usize> = Count(1000);

/// Replicates are numbered by 32 bits, and far fewer are ever useful.
const MAX_NUM_SAMPLES: usize = 100_000_000;

/// What is wrong with a number of resamples: none would make the figure a silent zero.
pub(super) fn check_num_samples(Count(count): &Count<usize>) -> Result<(), String> {
    if (1..=MAX_NUM_SAMPLES).contains(count) {
        return Ok(());
    }
    Err(format!("must lie between 1 and {MAX_NUM_SAMPLES}, found {count}"))
}

/// The bits of a seed that count: specs have signed integers.
pub(super) fn seed_bits(seed: u64) -> u64 {
    seed & i64::MAX.cast_unsigned()
}

/// Takes `count` resamples from those that a plan allows. The seed is that of the metric, or of the plan.
pub(super) fn draws(metric: &str, scores: &Scores<'_>, count: usize, seed: Option<u64>) -> Result<Draws> {
    scores.take_draws(metric, count)?;
    Ok(Draws { seed: seed.unwrap_or(scores.seed()), count: count as u64 })
}
