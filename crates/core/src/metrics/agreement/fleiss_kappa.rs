//! `fleiss_kappa`: how far several raters agree, beyond chance.

use super::{Profiles, RaterComparison, RaterNames, no_figure};
use crate::metrics::prelude::*;

/// Agreement of several raters beyond chance (Fleiss' κ), with a bootstrap interval; works on unreduced scores.
///
/// Every sample needs the same number of ratings: those with another number are left out and counted.
///
/// # Formula
/// ```text
/// κ = (P̄ − Σp²) / (1 − Σp²)
/// P̄ the mean share of pairs of ratings that agree, p the share of each label
/// ```
///
/// # When
/// The same number of ratings for every sample, not always by the same raters.
///
/// # Example
/// ```console
/// $ printf '%s\n' id,score,ben,cleo 1,a,a,a 2,b,b,a 3,b,b,b 4,a,a,a 5,b,a,b 6,a,a,a > raters.csv
/// $ errorbar score raters.csv --metric 'fleiss_kappa(["score", "ben", "cleo"])'
/// raters.csv · 6 rows
///
/// score · 6 scored
///                                            -0.2                1
///   fleiss_kappa  0.53 ± 0.27 [-0.13, 1.00]   ├──────────●───────┤
///       only 6 scores · raters=["score", "ben", "cleo"] · 156 undefined resamples ·
///       ratings per sample 3
///
/// ± one standard error (bootstrap) · [95 % interval: bootstrap] · ├─●─┤ the interval
/// ```
///
/// # See also
/// `krippendorff_alpha`, `cohen_kappa`, `gwet_ac1`
///
/// # Source
/// Fleiss 1971, "Measuring nominal scale agreement among many raters".
#[derive(Clone, Debug, Default, Params)]
#[params(crate = crate, name = "fleiss_kappa")]
pub struct FleissKappa {
    /// The raters: scorers, fields of map-valued scores, or metadata keys. One name is compared with the scorer itself; if
    /// unset, each score is a list of ratings.
    #[param(from = Vec<String>, map = RaterNames, check = RaterNames::check)]
    raters: Option<RaterNames>,
    /// How ratings become numbers before they are compared; they are compared as they are if unset.
    to_float: Option<Conversion>,
}

impl Metric for FleissKappa {
    metric_flags! { self:
        metadata_keys = self.raters().metadata_keys(), score_parts = Value,
        reads_labels = self.to_float.is_none(), wants = Unreduced,
        raters = RaterNames::raters(self.raters.as_ref()), resample_cost = 12
    }

    fn compute(&self, scores: &Scores<'_>) -> Result<MetricValue> {
        let names = self.raters.as_ref().map(|RaterNames(names)| names.as_slice());
        let comparison =
            RaterComparison { metric: Self::NAME, raters: names, to_float: self.to_float.as_ref() };
        let items = comparison.items(scores)?;
        let number = match names {
            Some(names) => names.len().max(2),
            None => items.usual_number().unwrap_or(2),
        };
        let (items, others) = items.with(|ratings| ratings == number);
        let categories = items.categories();
        let profiles = items.profiles(&categories, false);
        let kappa = Kappa::new(&profiles, categories.len(), number as u64);
        let value = kappa.figure(&profiles.counts()).ok_or_else(|| no_figure(items.len(), categories.len()));
        let estimate = items.estimate(Self::NAME, scores, value, &profiles, |counts| kappa.figure(counts))?;
        let estimate = estimate.note("ratings_per_sample", number);
        Ok(estimate.note_some("left_out_samples", (others > 0).then_some(others)).into())
    }
}

/// Fleiss 1971: (P̄ − Σ p²)/(1 − Σ p²), P̄ the mean share of pairs of ratings of an item that agree, p the share of each
/// label among all ratings.
struct Kappa<'p> {
    profiles: &'p Profiles,
    categories: usize,
    ratings: u64,
    /// The number of ordered pairs of ratings that agree, in each profile.
    agreeing: Vec<u64>,
}

impl<'p> Kappa<'p> {
    fn new(profiles: &'p Profiles, categories: usize, ratings: u64) -> Self {
        let pairs = |same: &[u32]| (same.len() * (same.len() - 1)) as u64;
        // Codes are in order, so equal ones are next to each other.
        let agreeing = |profile: &Vec<u32>| profile.chunk_by(|a, b| a == b).map(pairs).sum();
        Kappa { profiles, categories, ratings, agreeing: profiles.list.iter().map(agreeing).collect() }
    }

    fn figure(&self, counts: &[u64]) -> Option<f64> {
        let n: u64 = counts.iter().sum();
        let mut labels = vec![0_u64; self.categories];
        for (profile, count) in self.profiles.list.iter().zip(counts) {
            for code in profile {
                if let Some(label) = labels.get_mut(*code as usize) {
                    *label += count;
                }
            }
        }
        let all: u64 = labels.iter().sum();
        let same: u128 = labels.iter().map(|count| u128::from(*count) * u128::from(*count)).sum();
        let differing = u128::from(all) * u128::from(all) - same;
        if n == 0 || differing == 0 {
            return None;
        }
        let agreeing: u64 = self.agreeing.iter().zip(counts).map(|(pairs, count)| pairs * count).sum();
        let observed = agreeing as f64 / (n * self.ratings * (self.ratings - 1)) as f64;
        let by_chance_not = differing as f64 / (all as f64 * all as f64);
        Some(1.0 - (1.0 - observed) / by_chance_not)
    }
}
