//! Agreement beyond chance: `cohen_kappa`, `fleiss_kappa`, `gwet_ac1`.

use super::{Profiles, RaterComparison, RaterNames, Weights, no_figure};
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
        RaterNames(self.names()).check().map_err(|problem| Self::refuse("b", problem))
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
        let (categories, places) = comparison.places(scores, &items, self.order.as_deref(), self.weights)?;
        let profiles = items.profiles(&categories, true);
        let kappa = CohenFigure::new(&profiles, self.weights, places);
        let counts = profiles.counts(|_| 1);
        let value = kappa.figure(&counts).ok_or_else(|| no_figure(items.len(), items.categories().len()));
        let agreement = kappa.agreement(&counts);
        let estimate = items.estimate(Self::NAME, scores, value, &profiles, |counts| kappa.figure(counts))?;
        let estimate = estimate.note_some("agreement", agreement);
        Ok(estimate.note_some("rated_by_one", (single > 0).then_some(single)).into())
    }
}

/// Cohen 1960 and 1968: κ = 1 − Σ o·d / Σ e·d, o the share of items in each cell, e that of independent raters, and d how
/// much the labels of the cell disagree; without weights 1 where they differ.
struct CohenFigure<'p> {
    profiles: &'p Profiles,
    weights: Option<Weights>,
    /// The place of each category.
    places: Vec<f64>,
    /// The categories by their place.
    by_place: Vec<usize>,
    /// The disagreement in each profile.
    disagreement: Vec<f64>,
}

impl<'p> CohenFigure<'p> {
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
        CohenFigure { profiles, weights, places, by_place, disagreement }
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
        let kappa = FleissFigure::new(&profiles, categories.len(), number as u64);
        let value =
            kappa.figure(&profiles.counts(|_| 1)).ok_or_else(|| no_figure(items.len(), categories.len()));
        let estimate = items.estimate(Self::NAME, scores, value, &profiles, |counts| kappa.figure(counts))?;
        let estimate = estimate.note("ratings_per_sample", number);
        Ok(estimate.note_some("left_out_samples", (others > 0).then_some(others)).into())
    }
}

/// Fleiss 1971: (P̄ − Σ p²)/(1 − Σ p²), P̄ the mean share of pairs of ratings of an item that agree, p the share of each
/// label among all ratings.
struct FleissFigure<'p> {
    profiles: &'p Profiles,
    categories: usize,
    ratings: u64,
    /// The number of ordered pairs of ratings that agree, in each profile.
    agreeing: Vec<u64>,
}

impl<'p> FleissFigure<'p> {
    fn new(profiles: &'p Profiles, categories: usize, ratings: u64) -> Self {
        let pairs = |same: &[u32]| (same.len() * (same.len() - 1)) as u64;
        // Codes are in order, so equal ones are next to each other.
        let agreeing = |profile: &Vec<u32>| profile.chunk_by(|a, b| a == b).map(pairs).sum();
        FleissFigure { profiles, categories, ratings, agreeing: profiles.list.iter().map(agreeing).collect() }
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

/// Agreement beyond chance that stays meaningful where one label prevails (Gwet's AC1; AC2 with weights), with a bootstrap
/// interval; works on unreduced scores.
///
/// Samples may have different numbers of ratings.
///
/// # Formula
/// ```text
/// AC1 = (p_a − p_e) / (1 − p_e), p_e = Σ π(1−π) / (q−1)
/// p_a the mean share of pairs that agree, π the share of each of the q labels
/// ```
///
/// # When
/// One label prevails, and κ is low although raters nearly always agree.
///
/// # Example
/// ```console
/// $ printf '%s\n' id,score,human 1,1,1 2,1,1 3,0,0 4,1,0 5,0,0 6,1,1 7,0,1 8,0,0 > rated.csv
/// $ errorbar score rated.csv --metric 'gwet_ac1("human")'
/// rated.csv · 8 rows
///
/// score · 8 scored
///                                        0                   1
///   gwet_ac1  0.50 ± 0.29 [-0.10, 1.00]  ──────────●─────────┤  only 8 scores · raters=["human"] ·
///                                                               agreement 0.75
///
/// ± one standard error (bootstrap) · [95 % interval: bootstrap] · ├─●─┤ the interval
/// ```
///
/// # See also
/// `cohen_kappa`, `fleiss_kappa`, `krippendorff_alpha`
///
/// # Source
/// Gwet 2008, "Computing inter-rater reliability and its variance in the presence of high agreement".
#[derive(Clone, Debug, Default, Params)]
#[params(crate = crate, name = "gwet_ac1")]
pub struct GwetAc1 {
    /// The raters: scorers, fields of map-valued scores, or metadata keys. One name is compared with the scorer itself; if
    /// unset, each score is a list of ratings.
    #[param(from = Vec<String>, map = RaterNames, check = RaterNames::check)]
    raters: Option<RaterNames>,
    /// How much labels that differ disagree: equally if unset, by their distance ("linear"), or by its square
    /// ("quadratic").
    weights: Option<Weights>,
    /// All labels that there are, the lowest first; if unset, those that occur, which are numbers or grades where weights
    /// need an order.
    order: Option<Vec<Leaf>>,
    /// How ratings become numbers before they are compared; they are compared as they are if unset.
    to_float: Option<Conversion>,
}

impl Metric for GwetAc1 {
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
        let (categories, places) = comparison.places(scores, &items, self.order.as_deref(), self.weights)?;
        let profiles = items.profiles(&categories, false);
        let ac = Ac::new(&profiles, self.weights, &places);
        let counts = profiles.counts(|_| 1);
        let compared = ac.compared(&counts);
        let single = items.len() as u64 - compared;
        let value = ac.figure(&counts).ok_or_else(|| no_figure(compared as usize, categories.len()));
        let mut estimate =
            items.estimate(Self::NAME, scores, value, &profiles, |counts| ac.figure(counts))?;
        estimate.n = compared;
        let estimate = estimate.note_some("agreement", ac.agreement(&counts));
        Ok(estimate.note_some("rated_by_one", (single > 0).then_some(single)).into())
    }
}

/// Gwet 2008 and 2014: (p_a − p_e)/(1 − p_e). p_a is the mean over items with two ratings of the weighted share of pairs that
/// agree; p_e = T/(q(q−1)) · Σ π(1−π) over the q labels, π the mean share of a label among the ratings of an item and T the
/// sum of all weights, which is q without weights.
struct Ac {
    /// For each profile, the weighted share of pairs of ratings that agree; none of a single rating.
    agreement: Vec<Option<f64>>,
    /// For each profile, its labels with their shares.
    shares: Vec<Vec<(u32, f64)>>,
    labels: usize,
    /// T/(q(q−1)).
    factor: f64,
}

impl Ac {
    fn new(profiles: &Profiles, weights: Option<Weights>, places: &[f64]) -> Self {
        let place = |code: u32| places.get(code as usize).copied().unwrap_or(0.0);
        let counted = |profile: &Vec<u32>| -> Vec<(u32, f64)> {
            let label = |same: &[u32]| same.first().map(|code| (*code, same.len() as f64));
            profile.chunk_by(|a, b| a == b).filter_map(label).collect()
        };
        let disagreement = |counts: Vec<(u32, f64)>, all: f64| match weights {
            None => all * all - counts.iter().map(|(_, count)| count * count).sum::<f64>(),
            Some(weights) => {
                let placed = counts.into_iter().map(|(code, count)| (count, place(code)));
                weights.disagreement_of_pairs(placed.collect())
            }
        };
        let agreement = |profile: &Vec<u32>| {
            let ratings = profile.len() as f64;
            (profile.len() > 1)
                .then(|| 1.0 - disagreement(counted(profile), ratings) / (ratings * (ratings - 1.0)))
        };
        let shares = |profile: &Vec<u32>| {
            let ratings = profile.len() as f64;
            counted(profile).into_iter().map(|(code, count)| (code, count / ratings)).collect()
        };
        let (labels, q) = (places.len(), places.len() as f64);
        let once = (0..labels as u32).map(|code| (code, 1.0)).collect();
        let total = q * q - disagreement(once, q);
        Ac {
            agreement: profiles.list.iter().map(agreement).collect(),
            shares: profiles.list.iter().map(shares).collect(),
            labels,
            factor: total / (q * (q - 1.0)),
        }
    }

    /// The number of items with two ratings.
    fn compared(&self, counts: &[u64]) -> u64 {
        self.agreement
            .iter()
            .zip(counts)
            .filter(|(agreement, _)| agreement.is_some())
            .map(|(_, count)| count)
            .sum()
    }

    /// The mean agreement of items with two ratings.
    fn agreement(&self, counts: &[u64]) -> Option<f64> {
        let n = self.compared(counts);
        let all =
            self.agreement.iter().zip(counts).filter_map(|(share, count)| Some(*count as f64 * (*share)?));
        (n > 0).then(|| all.sum::<f64>() / n as f64)
    }

    fn figure(&self, counts: &[u64]) -> Option<f64> {
        let observed = self.agreement(counts).filter(|_| self.labels > 1)?;
        let n = counts.iter().sum::<u64>() as f64;
        let mut shares = vec![0.0; self.labels];
        for (profile, count) in self.shares.iter().zip(counts) {
            for (code, share) in profile {
                if let Some(slot) = shares.get_mut(*code as usize) {
                    *slot += *count as f64 * share;
                }
            }
        }
        let chance: f64 = shares.iter().map(|share| share / n).map(|share| share * (1.0 - share)).sum();
        let by_chance = self.factor * chance;
        (by_chance < 1.0).then(|| (observed - by_chance) / (1.0 - by_chance))
    }
}
