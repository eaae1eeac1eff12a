//! What random numbers are for, in one list: figures of one seed must not share them by accident. Numbers below 1,000 are
//! reserved for it.

/// Resampled means of values.
pub const MEANS: u32 = 1;
/// Resampled means of whole clusters.
pub const CLUSTERED_MEANS: u32 = 2;
/// Studentised means of values.
pub const STUDENTISED_MEANS: u32 = 3;
/// Studentised means of whole clusters.
pub const STUDENTISED_CLUSTERED_MEANS: u32 = 4;
/// Weights of the wild bootstrap.
pub const WILD_WEIGHTS: u32 = 5;
/// Resamples of whole units.
pub const UNITS: u32 = 6;
/// Samples drawn from a population whose mean is known.
pub const SIMULATIONS: u32 = 7;
/// Seeds of the resamples within those simulations.
pub const SIMULATED_RESAMPLES: u32 = 8;
/// A random order of items.
pub const SAMPLE_ORDER: u32 = 64;
