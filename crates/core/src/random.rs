//! What random figures are made from: a seed, and a bound on the work.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::error::{Error, Result, thousands};
use crate::metric::Metric;
use crate::spec::ToSpec;

/// The values that all intervals of a set of estimates may draw together where the user has not requested resampling.
const AUTO_DRAWS: u64 = 100_000_000;

/// A resample takes at least as long as it takes to draw this number of values.
pub(crate) const LEAST_COST: u64 = 100;
/// What a resample takes if a figure such as a median is computed from it, in values that are drawn and summed: for
/// itself, and for each of its values. A budget of a log above [`AUTO_DRAWS`] times this lets it have the default resamples
/// that its run had.
const FIGURE_COST: u64 = 600;
const FIGURE_COST_OF_VALUE: u64 = 19;

/// The cost of a resample of as many values if a figure such as a median is computed from it, in values drawn.
pub(crate) fn figure_cost(values: u64) -> u64 {
    values.saturating_mul(FIGURE_COST_OF_VALUE).saturating_add(FIGURE_COST)
}

/// The cost of a resample of as many values from which a metric computes this number of figures, in values drawn.
pub fn resample_cost(metric: &dyn Metric, values: u64, figures: u64) -> u64 {
    let figures = figures.max(1).saturating_mul(FIGURE_COST);
    let values = values.saturating_mul(FIGURE_COST_OF_VALUE);
    values.saturating_add(figures).saturating_mul(metric.resample_cost())
}

/// The seed of random figures, and how many values they may draw, all of them together.
#[derive(Clone, Debug)]
pub struct Random {
    pub(crate) seed: u64,
    draws_left: Option<Arc<AtomicU64>>,
    /// The values that the interval of one estimate may draw, if the plan has a limit; and if resampling was not
    /// requested. No counters: which of a thousand groups get a random interval must not depend on the order in which
    /// they are computed.
    interval_draws: Option<u64>,
    auto_draws: u64,
}

impl Default for Random {
    fn default() -> Self {
        Random::new(0, None)
    }
}

impl Random {
    /// With a seed, and a limit of the values that requested figures may draw together; no limit if unset.
    pub fn new(seed: u64, max_draws: Option<u64>) -> Self {
        let draws_left = max_draws.map(|max| Arc::new(AtomicU64::new(max)));
        let auto_draws = max_draws.map_or(AUTO_DRAWS, |max| max.min(AUTO_DRAWS));
        Random { seed, draws_left, interval_draws: max_draws, auto_draws }
    }

    /// The same for each of a number of estimates that share what intervals may draw: groups, metrics, scorers.
    #[must_use]
    pub fn among(&self, estimates: usize) -> Self {
        let share = |draws: u64| draws / estimates.max(1) as u64;
        Random {
            auto_draws: share(self.auto_draws),
            interval_draws: self.interval_draws.map(share),
            ..self.clone()
        }
    }

    /// Whether an estimate may draw as many resamples, each of as many values, without a request.
    pub fn allows_draws(&self, resamples: u64, values: u64) -> bool {
        resamples.saturating_mul(values) <= self.auto_draws
    }

    /// The number of resamples, each of as many values and at this cost, that an estimate may draw without a request:
    /// those wanted, or fewer where that would take too long.
    pub fn affordable_draws(&self, wanted: u64, values: u64, cost: u64) -> u64 {
        let affordable = self.interval_draws.map_or(u64::MAX, |most| most / cost.max(1));
        wanted.min(self.auto_draws / values.max(1)).min(affordable)
    }

    /// Whether an estimate may draw as many resamples, each at this cost, for the requested interval.
    ///
    /// # Errors
    /// A phrase with the number that it may draw.
    pub(crate) fn check_draws(&self, resamples: u64, cost: u64) -> std::result::Result<(), String> {
        let cost = cost.max(LEAST_COST);
        let draws = resamples.saturating_mul(cost);
        match self.interval_draws {
            Some(most) if draws > most => {
                Err(format!("needs {} random draws; {} are allowed", thousands(draws), thousands(most)))
            }
            _ => Ok(()),
        }
    }

    /// Takes the draws of one figure: as many resamples, each at this cost in values drawn.
    ///
    /// # Errors
    /// There are not as many left.
    pub(crate) fn take_draws(&self, metric: &impl ToSpec, resamples: usize, cost: u64) -> Result<()> {
        let Some(left) = &self.draws_left else { return Ok(()) };
        let cost = cost.max(LEAST_COST);
        let draws = (resamples as u64).saturating_mul(cost);
        let taken = left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(draws));
        taken.map(|_| ()).map_err(|left| Error::TooManyDraws { spec: Box::new(metric.spec()), draws, left })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::{bootstrap_stderr, krippendorff_alpha};

    #[test]
    fn draws_are_taken_out_of_one_budget() {
        let (random, metric) = (Random::new(7, Some(1_000_000)), bootstrap_stderr());
        let same = random.clone();
        random.take_draws(&metric, 3, 200_000).unwrap();
        let error = same.take_draws(&metric, 2, 201_000).unwrap_err();
        assert_eq!(error.to_string(), "bootstrap_stderr: needs 402,000 random draws; 400,000 are left");
        same.take_draws(&metric, 2, 200_000).unwrap();
        assert!(random.take_draws(&metric, usize::MAX, u64::MAX).is_err());
        Random::new(7, None).take_draws(&metric, usize::MAX, u64::MAX).unwrap();
    }

    /// The stream of a resample has to be set up, however few values it draws.
    #[test]
    fn small_resamples_are_not_free() {
        let (random, metric) = (Random::new(7, Some(1_000_000)), bootstrap_stderr());
        assert!(random.take_draws(&metric, 10_001, 2).is_err());
        assert!(random.check_draws(10_001, 2).is_err());
        random.check_draws(10_000, 2).unwrap();
        random.take_draws(&metric, 10_000, 2).unwrap();
    }

    /// A log that takes fewer resamples than the run that wrote it would have other figures.
    #[test]
    fn a_log_may_draw_the_default_resamples_of_a_median() {
        let (run, log) = (Random::new(7, None), Random::new(7, Some(2_000_000_000)));
        for n in [1, 100, 9_999, 10_000, 10_001, 123_456, 50_000_000] {
            for share in [1, 3, 40] {
                let draws = |random: &Random| random.among(share).affordable_draws(10_000, n, figure_cost(n));
                assert_eq!(draws(&run), draws(&log), "{n} values, {share} estimates");
            }
        }
        // What takes longer has fewer, and the user may wait.
        let cost = resample_cost(&krippendorff_alpha(), 3_000, 1);
        assert_eq!(run.affordable_draws(10_000, 3_000, cost), 10_000);
        assert_eq!(log.affordable_draws(10_000, 3_000, cost), 1_736);
    }

    #[test]
    fn digits_in_groups() {
        let texts = [0, 999, 1_000, 123_456, 2_000_000_000].map(thousands);
        assert_eq!(texts, ["0", "999", "1,000", "123,456", "2,000,000,000"]);
    }
}
