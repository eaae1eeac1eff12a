//! What random figures are made from: a seed, and a bound on the work.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::error::{Error, Result};

/// The seed of random figures, and how many values they may draw, all of them together.
#[derive(Clone, Debug, Default)]
pub(crate) struct Random {
    pub(crate) seed: u64,
    draws_left: Option<Arc<AtomicU64>>,
}

impl Random {
    pub(crate) fn new(seed: u64, max_draws: Option<u64>) -> Self {
        Random { seed, draws_left: max_draws.map(|max| Arc::new(AtomicU64::new(max))) }
    }

    /// Takes the draws of one figure: as many resamples, each of as many values.
    ///
    /// # Errors
    /// There are not as many left.
    pub(crate) fn take_draws(&self, metric: &str, resamples: usize, values: usize) -> Result<()> {
        let Some(left) = &self.draws_left else { return Ok(()) };
        let draws = (resamples as u64).saturating_mul(values as u64);
        let taken = left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(draws));
        taken.map(|_| ()).map_err(|left| Error::Argument {
            target: metric.to_owned(),
            argument: "num_samples".to_owned(),
            problem: format!(
                "draws {draws} values ({resamples} resamples of {values} scores), and {left} are left of what random \
                 figures may draw; lower it"
            ),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn draws_are_taken_out_of_one_budget() {
        let random = Random::new(7, Some(1000));
        let same = random.clone();
        random.take_draws("m", 10, 60).unwrap();
        let error = same.take_draws("m", 10, 41).unwrap_err().to_string();
        assert!(
            error.contains("`num_samples` draws 410 values") && error.contains("400 are left"),
            "{error}"
        );
        same.take_draws("m", 10, 40).unwrap();
        assert!(random.take_draws("m", usize::MAX, usize::MAX).is_err());
        Random::new(7, None).take_draws("m", usize::MAX, usize::MAX).unwrap();
    }
}
