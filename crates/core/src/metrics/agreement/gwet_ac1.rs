//! `gwet_ac1`: how far raters agree beyond chance, also where one label prevails.

use super::{LabelOrder, Profiles, RaterComparison, RaterNames, Weights, no_figure};
use crate::metrics::prelude::*;

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
        let order = LabelOrder { metric: Self::NAME, order: self.order.as_deref() };
        let (categories, places) = order.places(scores, &items, self.weights)?;
        let profiles = items.profiles(&categories, false);
        let ac = Ac::new(&profiles, self.weights, &places);
        let counts = profiles.counts();
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
                let placed = counts.into_iter().map(|(code, count)| (place(code), count));
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
