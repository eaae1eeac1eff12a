//! What random numbers are for, all in one list: figures of one seed must not share them by accident.

pub(crate) const MEANS: u32 = 1;
pub(crate) const CLUSTERED_MEANS: u32 = 2;
pub(crate) const STUDENTISED_MEANS: u32 = 3;
pub(crate) const STUDENTISED_CLUSTERED_MEANS: u32 = 4;
pub(crate) const WILD_WEIGHTS: u32 = 5;
/// Resamples of whole units.
pub(crate) const UNITS: u32 = 6;
/// Samples drawn from a population whose mean is known.
pub(crate) const SIMULATIONS: u32 = 7;
/// Seeds of the resamples within those simulations.
pub(crate) const SIMULATED_RESAMPLES: u32 = 8;
/// The random order of the samples of a run. Logs record its seed.
pub(crate) const SAMPLE_ORDER: u32 = 64;
