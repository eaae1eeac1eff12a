//! What estimates are made with: how errors are computed, and the seed.

use super::{ErrorMethod, ErrorPlan};
use crate::order::Order;
use crate::random::Random;

/// How errors are computed, and the seed of random figures.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Estimation {
    /// How errors and intervals are computed.
    pub errors: ErrorPlan,
    /// Whether scores of one sample belong together: they are unreduced, and samples repeat.
    pub by_sample: bool,
    /// Whether only values count: the scores are one of many resamples, or the caller wants numbers alone, so that errors
    /// and intervals would not be looked at. A metric that draws resamples itself must not do so then.
    pub value_only: bool,
    /// Whether the cluster key is not of the plan but of one of the metrics.
    pub(crate) implied_cluster: bool,
    /// In which order groups and categories are listed.
    pub(crate) order: Order,
    /// What random figures are made from.
    pub random: Random,
}

impl Estimation {
    /// Errors of this plan, random figures from this seed.
    pub fn new(errors: ErrorPlan, seed: u64) -> Self {
        Estimation {
            errors,
            by_sample: false,
            value_only: false,
            implied_cluster: false,
            order: Order::default(),
            random: Random::new(seed, None),
        }
    }

    /// The seed of random figures.
    pub fn seed(&self) -> u64 {
        self.random.seed
    }
}

/// Which summary a plan needs: two plans with the same key can share one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SummaryKey {
    /// Of moments.
    Moments,
    /// Of counts of values.
    Tally,
    /// Of the sums of each sample.
    BySample,
    /// Of the sums of clusters by these keys.
    Clusters(Vec<String>),
}

impl SummaryKey {
    /// What a plan needs.
    pub fn of(errors: &ErrorPlan, by_sample: bool) -> Self {
        let is_resampled = errors.interval.is_resampled();
        match errors.method {
            Some(ErrorMethod::Iid) if is_resampled => SummaryKey::Tally,
            Some(ErrorMethod::Iid) => SummaryKey::Moments,
            _ if !errors.cluster.is_empty() => SummaryKey::Clusters(errors.cluster.clone()),
            _ if by_sample => SummaryKey::BySample,
            _ if is_resampled => SummaryKey::Tally,
            _ => SummaryKey::Moments,
        }
    }
}
