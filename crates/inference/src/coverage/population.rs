//! What is drawn: scores, or whole clusters of them.

use super::NoCoverage;
use errorbar_core::engine::{RowClusters, SummaryKey, UnitScores};
use errorbar_core::{Conversion, ErrorPlan, Result, ScoreKind, Scores, Summary};
use errorbar_stats::exact::tally;
use errorbar_stats::random::{Stream, purpose};

/// The least number of scores or clusters: fewer do not show how they vary.
const LEAST: u64 = 5;

/// Values with how often each occurs.
type Tally = Vec<(f64, u64)>;

/// What is drawn: units of a few kinds, those of one kind with the same scores.
pub(super) struct Population {
    kinds: Kinds,
    /// The kind of each unit, ascending: the order of the scores does not matter.
    units: Vec<u32>,
    pub(super) n: u64,
    pub(super) mean: f64,
    /// What all scores are.
    pub(super) kind: ScoreKind,
}

/// The kinds of units.
enum Kinds {
    /// Single scores, by value, ascending.
    Scores(Vec<f64>),
    Clusters(Vec<UnitScores>),
}

impl Population {
    pub(super) fn of(scores: &Scores<'_>) -> Result<Population, NoCoverage> {
        let estimation = scores.estimation();
        if scores.is_empty() {
            return Err(NoCoverage::NoScores);
        }
        let numbers = scores.finite(NAME, &Conversion::default(), <[f64]>::to_vec);
        let numbers = numbers?;
        let all = tally(&numbers);
        if let [(value, n)] = all.as_slice() {
            return Err(NoCoverage::NoSpread { n: *n, value: *value });
        }
        let whole = Summary::from_values(&ErrorPlan::new(), &all)?;
        let (n, kind) = (numbers.len() as u64, whole.kind());
        let mean = whole.mean().unwrap_or(f64::NAN);
        let clusters = match SummaryKey::of(&estimation.errors, estimation.by_sample) {
            SummaryKey::Moments | SummaryKey::Tally => None,
            SummaryKey::BySample => Some(RowClusters::by_sample(scores, 0..scores.len()).of_positions),
            SummaryKey::Clusters(keys) => match keys.as_slice() {
                [key] => Some(RowClusters::by_key(NAME, key, scores)?.of_positions),
                _ => return Err(NoCoverage::TwoWays),
            },
        };
        let (kinds, units) = match clusters {
            None => single(all),
            Some(clusters) => whole_clusters(&numbers, &clusters),
        };
        let population = Population { kinds, units, n, mean, kind };
        population.check()?;
        Ok(population)
    }

    fn check(&self) -> Result<(), NoCoverage> {
        let (found, clustered) = (self.units.len() as u64, self.clusters().is_some());
        if found < LEAST {
            return Err(NoCoverage::TooFew { found, least: LEAST, clustered });
        }
        match &self.kinds {
            Kinds::Clusters(kinds) if kinds.len() < 2 => Err(NoCoverage::EqualClusters { clusters: found }),
            _ => Ok(()),
        }
    }

    /// The number of clusters, if it is those that are drawn.
    pub(super) fn clusters(&self) -> Option<u64> {
        matches!(self.kinds, Kinds::Clusters(_)).then_some(self.units.len() as u64)
    }

    /// The number of units.
    pub(super) fn len(&self) -> u64 {
        self.units.len() as u64
    }

    /// The number of kinds of units.
    pub(super) fn kinds(&self) -> usize {
        match &self.kinds {
            Kinds::Scores(values) => values.len(),
            Kinds::Clusters(units) => units.len(),
        }
    }

    /// How often each kind occurs in the population itself.
    pub(super) fn counts(&self) -> Vec<u32> {
        self.count(self.units.iter().copied())
    }

    /// How often each kind is drawn in a simulation: as many units as there are, with replacement.
    pub(super) fn draw(&self, seed: u64, simulation: u64) -> Vec<u32> {
        let mut random = Stream::new(seed, purpose::SIMULATIONS, simulation);
        // The high half of a product: as even as 2^64 words can be.
        let at = |word: u64| ((u128::from(word) * self.units.len() as u128) >> 64) as usize;
        self.count((0..self.units.len()).filter_map(|_| self.units.get(at(random.next_u64())).copied()))
    }

    fn count(&self, drawn: impl Iterator<Item = u32>) -> Vec<u32> {
        let mut counts = vec![0; self.kinds()];
        for kind in drawn {
            if let Some(count) = counts.get_mut(kind as usize) {
                *count += 1;
            }
        }
        counts
    }

    /// What an estimate of drawn units is made from under a plan.
    pub(super) fn summary(&self, plan: &ErrorPlan, counts: &[u32]) -> Result<Summary> {
        match &self.kinds {
            Kinds::Scores(values) => {
                let drawn = values.iter().zip(counts).filter(|(_, count)| **count > 0);
                Summary::of_sorted(plan, drawn.map(|(value, count)| (*value, u64::from(*count))).collect())
            }
            Kinds::Clusters(units) => {
                let drawn = units.iter().zip(counts);
                Ok(Summary::of_units(
                    drawn.flat_map(|(unit, count)| std::iter::repeat_n(unit, *count as usize)),
                ))
            }
        }
    }
}

/// The name in errors for what reads the scores.
const NAME: &str = "coverage";

/// Every score by itself.
fn single(all: Tally) -> (Kinds, Vec<u32>) {
    let mut units = Vec::new();
    for (kind, (_, count)) in all.iter().enumerate() {
        units.extend(std::iter::repeat_n(kind as u32, *count as usize));
    }
    (Kinds::Scores(all.into_iter().map(|(value, _)| value).collect()), units)
}

/// Clusters, those with the same scores as one kind.
fn whole_clusters(numbers: &[f64], clusters: &[u32]) -> (Kinds, Vec<u32>) {
    let distinct = clusters.iter().max().map_or(0, |most| *most as usize + 1);
    let mut scores: Vec<Vec<f64>> = vec![Vec::new(); distinct];
    for (number, cluster) in numbers.iter().zip(clusters) {
        if let Some(scores) = scores.get_mut(*cluster as usize) {
            scores.push(*number);
        }
    }
    let mut tallies: Vec<Tally> = scores.iter().map(|scores| tally(scores)).collect();
    let order = |a: &Tally, b: &Tally| {
        let bits = |tally: &Tally| tally.iter().map(|(value, n)| (value.to_bits(), *n)).collect::<Vec<_>>();
        bits(a).cmp(&bits(b))
    };
    tallies.sort_by(order);
    let (mut kinds, mut units) = (Vec::new(), Vec::with_capacity(tallies.len()));
    for same in tallies.chunk_by(|a, b| a == b) {
        units.extend(std::iter::repeat_n(kinds.len() as u32, same.len()));
        kinds.extend(same.first().map(|tally| UnitScores::new(tally)));
    }
    (Kinds::Clusters(kinds), units)
}
