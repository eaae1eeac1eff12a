//! `cohen_kappa`: how far two raters agree, beyond chance.

use super::{LabelOrder, Profiles, RaterComparison, RaterNames, Weights, no_figure};
use crate::metrics::prelude::*;

/// Agreement of two raters beyond chance (Cohen's κ), with a bootstrap interval; works on unreduced scores.
///
/// Raters are scorers, fields of map-valued scores, or metadata keys. Samples that only one of them rated are left out.
///
/// # Formula
/// ```text
/// κ = 1 − Σ o·d / Σ e·d
/// o the share of samples in each cell, e that of independent raters, d the disagreement of its labels
/// ```
///
/// # When
/// Two raters, such as a grader and a person, both of whom rated every sample.
///
/// # Example
/// ```console
/// $ printf '%s\n' id,score,human 1,1,1 2,1,1 3,0,0 4,1,0 5,0,0 6,1,1 7,0,1 8,0,0 > rated.csv
/// $ errorbar score rated.csv --metric 'cohen_kappa("human")'
/// rated.csv · 8 rows
///
/// score · 8 scored
///                                           -0.3                1
///   cohen_kappa  0.50 ± 0.32 [-0.23, 1.00]   ├──────────●───────┤
///       only 8 scores · human · 4 undefined resamples · agreement 0.75
///
/// ± one standard error (bootstrap) · [95 % interval: bootstrap] · ├─●─┤ the interval
/// ```
///
/// # See also
/// `krippendorff_alpha`, `fleiss_kappa`, `gwet_ac1`, `ppi`
///
/// # Source
/// Cohen 1960, "A coefficient of agreement for nominal scales"; Cohen 1968 for weights.
#[derive(Clone, Debug, Params)]
#[params(crate = crate, name = "cohen_kappa", check = Self::check_raters)]
pub struct CohenKappa {
    /// A rater; the other one is the scorer itself if there is no `b`.
    a: String,
    /// The other rater.
    b: Option<String>,
    /// How much labels that differ disagree: equally if unset, by their distance ("linear"), or by its square
    /// ("quadratic").
    weights: Option<Weights>,
    /// The labels, the lowest first: what distances are counted in. If unset, labels are numbers or grades.
    order: Option<Vec<Leaf>>,
    /// How ratings become numbers before they are compared; they are compared as they are if unset.
    to_float: Option<Conversion>,
}

impl CohenKappa {
    fn check_raters(&self) -> Result<()> {
        let names = RaterNames([Some(&self.a), self.b.as_ref()].into_iter().flatten().cloned().collect());
        names.check().map_err(|problem| Self::refuse("b", problem))
    }

    fn names(&self) -> Vec<String> {
        [Some(&self.a), self.b.as_ref()].into_iter().flatten().cloned().collect()
    }
}

impl Metric for CohenKappa {
    metric_flags! { self:
        metadata_keys = self.raters().metadata_keys(), score_parts = Value,
        reads_labels = self.to_float.is_none(), wants = Unreduced,
        raters = RaterNames::raters(Some(&RaterNames(self.names()))), resample_cost = 12
    }

    fn compute(&self, scores: &Scores<'_>) -> Result<MetricValue> {
        let names = self.names();
        let comparison =
            RaterComparison { metric: Self::NAME, raters: Some(&names), to_float: self.to_float.as_ref() };
        let (items, single) = comparison.items(scores)?.with(|ratings| ratings == 2);
        let order = LabelOrder { metric: Self::NAME, order: self.order.as_deref() };
        let (categories, places) = order.places(scores, &items, self.weights)?;
        let profiles = items.profiles(&categories, true);
        let kappa = Kappa::new(&profiles, self.weights, places);
        let counts = profiles.counts();
        let value = kappa.figure(&counts).ok_or_else(|| no_figure(items.len(), items.categories().len()));
        let agreement = kappa.agreement(&counts);
        let estimate = items.estimate(Self::NAME, scores, value, &profiles, |counts| kappa.figure(counts))?;
        let estimate = estimate.note_some("agreement", agreement);
        Ok(estimate.note_some("rated_by_one", (single > 0).then_some(single)).into())
    }
}

/// Cohen 1960 and 1968: κ = 1 − Σ o·d / Σ e·d, o the share of items in each cell, e that of independent raters, and d how
/// much the labels of the cell disagree; without weights 1 where they differ.
struct Kappa<'p> {
    profiles: &'p Profiles,
    weights: Option<Weights>,
    /// The place of each category.
    places: Vec<f64>,
    /// The categories by their place.
    by_place: Vec<usize>,
    /// The disagreement in each profile.
    disagreement: Vec<f64>,
}

impl<'p> Kappa<'p> {
    fn new(profiles: &'p Profiles, weights: Option<Weights>, places: Vec<f64>) -> Self {
        let place = |code: u32| places.get(code as usize).copied().unwrap_or(0.0);
        let disagreement = profiles.list.iter().map(|profile| match (profile.as_slice(), weights) {
            ([a, b], None) => f64::from(u8::from(a != b)),
            ([a, b], Some(weights)) => weights.disagreement(place(*a), place(*b)),
            _ => 0.0,
        });
        let disagreement = disagreement.collect();
        let mut by_place: Vec<usize> = (0..places.len()).collect();
        let of = |category: usize| places.get(category).copied().unwrap_or(0.0);
        by_place.sort_by(|a, b| of(*a).total_cmp(&of(*b)));
        Kappa { profiles, weights, places, by_place, disagreement }
    }

    /// The share of items whose labels are the same.
    fn agreement(&self, counts: &[u64]) -> Option<f64> {
        let same =
            self.profiles.list.iter().zip(counts).filter(|(profile, _)| profile.first() == profile.last());
        let (same, n): (u64, u64) = (same.map(|(_, count)| count).sum(), counts.iter().sum());
        (n > 0).then(|| same as f64 / n as f64)
    }

    fn figure(&self, counts: &[u64]) -> Option<f64> {
        let n: u64 = counts.iter().sum();
        if n == 0 {
            return None;
        }
        let (mut first, mut second) = (vec![0_u64; self.places.len()], vec![0_u64; self.places.len()]);
        let mut observed = 0.0;
        for ((profile, count), disagreement) in self.profiles.list.iter().zip(counts).zip(&self.disagreement)
        {
            let [a, b] = profile.as_slice() else { continue };
            if let (Some(a), Some(b)) = (first.get_mut(*a as usize), second.get_mut(*b as usize)) {
                *a += count;
                *b += count;
            }
            observed += *count as f64 * disagreement;
        }
        let expected = self.expected(&first, &second, n);
        (expected > 0.0).then(|| 1.0 - observed / n as f64 / expected)
    }

    /// The mean disagreement of independent raters with these counts of labels.
    fn expected(&self, first: &[u64], second: &[u64], n: u64) -> f64 {
        let total = n as f64;
        let all = || {
            self.by_place.iter().map(|category| {
                let of = |counts: &[u64]| counts.get(*category).copied().unwrap_or(0);
                (self.places.get(*category).copied().unwrap_or(0.0), of(first), of(second))
            })
        };
        match self.weights {
            None => {
                let same: u128 = all().map(|(_, a, b)| u128::from(a) * u128::from(b)).sum();
                (u128::from(n) * u128::from(n) - same) as f64 / (total * total)
            }
            // E|X − Y| = ∫ F(1 − G) + G(1 − F): from place to place both are constant.
            Some(Weights::Linear) => {
                let (mut below, mut before, mut expected) = ((0_u64, 0_u64), 0.0, 0.0);
                for (place, a, b) in all() {
                    let (f, g) = (below.0 as f64 / total, below.1 as f64 / total);
                    expected += (place - before) * (f * (1.0 - g) + g * (1.0 - f));
                    below = (below.0 + a, below.1 + b);
                    before = place;
                }
                expected
            }
            // E(X − Y)² = (E X − E Y)² + Var X + Var Y, the variances without cancellation.
            Some(Weights::Quadratic) => {
                let mean = |of: fn((f64, u64, u64)) -> (f64, u64)| {
                    all().map(of).map(|(place, count)| place * count as f64).sum::<f64>() / total
                };
                let (x, y) = (mean(|(place, a, _)| (place, a)), mean(|(place, _, b)| (place, b)));
                let spread = all().map(|(place, a, b)| {
                    a as f64 * (place - x) * (place - x) + b as f64 * (place - y) * (place - y)
                });
                let expected = (x - y) * (x - y) + spread.sum::<f64>() / total;
                // Rounding of the means of one place must not look like a spread.
                let used = all().filter(|(_, a, b)| a + b > 0).map(|(place, _, _)| place);
                let (low, high) = used.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), place| {
                    (low.min(place), high.max(place))
                });
                if low < high { expected } else { 0.0 }
            }
        }
    }
}
