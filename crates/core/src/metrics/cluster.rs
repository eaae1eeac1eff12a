//! Scores by cluster: what clustered errors and intervals are made of.

use std::ops::AddAssign;

use hashbrown::HashMap;
use rayon::prelude::*;
use serde_json::Value as Json;

use crate::columns::Numbers;
use crate::error::{Error, Result};
use crate::python_text::json_text;
use crate::scores::Scores;
use crate::stats::{ClusterTotal, ExactSum, root_of_squares};
use crate::value::{Leaf, LeafKey};

/// Who belongs together. Numbers compare across types: 1, 1.0 and true are one cluster, "1" is another.
/// Null, lists and maps are no cluster.
fn cluster_id(json: &Json) -> Option<LeafKey> {
    if let Some(big) = json.as_u64().filter(|big| i64::try_from(*big).is_err()) {
        return Some(LeafKey::Big(big));
    }
    let leaf = Leaf::from_json(json).ok()?;
    LeafKey::new(leaf.view()).filter(|key| *key != LeafKey::Null)
}

/// Scores that are multiples of 2^-10 are summed as integers.
const GRID: f64 = 1024.0;
/// The largest of them. Four billion rows of it, 2^52 steps, are still exact in an `f64`.
const LARGEST: f64 = 1024.0;

/// A score in steps of the grid, if it is on it.
#[inline]
fn on_grid(value: f64) -> Option<i64> {
    if value.abs() > LARGEST {
        return None;
    }
    let steps = value * GRID;
    let whole = steps as i64;
    (whole as f64 == steps).then_some(whole)
}

/// A score in steps of 2^-64, as which every number from 2^-12 up to the largest can be written, and many
/// smaller ones. Four billion rows of the largest fit.
#[inline]
fn on_fine_grid(value: f64) -> Option<i128> {
    if value.is_nan() || value.abs() > LARGEST {
        return None;
    }
    let bits = value.to_bits();
    let exponent = (bits >> 52 & 0x7ff) as i32;
    let fraction = i128::from(bits & ((1 << 52) - 1));
    if exponent == 0 {
        return (fraction == 0).then_some(0);
    }
    let mantissa = fraction | 1 << 52;
    // The last bit of the mantissa counts 2^(exponent − 1075).
    let shift = exponent - 1075 + 64;
    let steps = if shift >= 0 {
        mantissa << shift
    } else if mantissa.trailing_zeros() >= shift.unsigned_abs() {
        mantissa >> -shift
    } else {
        return None;
    };
    Some(if value < 0.0 { -steps } else { steps })
}

/// The scores of one distinct metadata value: how many, their sum in steps of a grid, and the place of
/// the first.
#[derive(Clone, Copy, Debug)]
struct GridTotal<S> {
    steps: S,
    n: u32,
    first: u32,
}

/// How many scores a thread adds up at a time.
const PART: usize = 1 << 16;

/// What a thread has added up: a total per distinct metadata value, and the scores that are on no grid,
/// which those totals count but do not sum.
struct PartTotals<S, N> {
    totals: Vec<GridTotal<S>>,
    off_grid: Vec<(u32, N)>,
}

impl<S: AddAssign + Copy + Default, N: Copy> PartTotals<S, N> {
    fn none(distinct: usize) -> Self {
        let none = GridTotal { steps: S::default(), n: 0, first: u32::MAX };
        PartTotals { totals: vec![none; distinct], off_grid: Vec::new() }
    }

    /// Takes in scores, of which the first is at `start`; nothing if many of them are on no grid.
    fn add(
        mut self,
        start: usize,
        codes: &[u32],
        numbers: &[N],
        steps_of: impl Fn(N) -> Option<S>,
    ) -> Option<Self> {
        let most_off_grid = self.off_grid.len() + codes.len() / 16;
        for (at, (&code, &number)) in codes.iter().zip(numbers).enumerate() {
            let total = self.totals.get_mut(code as usize)?;
            if total.n == 0 {
                total.first = (start + at) as u32;
            }
            total.n += 1;
            match steps_of(number) {
                Some(steps) => total.steps += steps,
                None if self.off_grid.len() == most_off_grid => return None,
                None => self.off_grid.push((code, number)),
            }
        }
        Some(self)
    }

    fn merge(mut self, mut other: Self) -> Self {
        for (total, other) in self.totals.iter_mut().zip(&other.totals) {
            total.steps += other.steps;
            total.n += other.n;
            total.first = total.first.min(other.first);
        }
        self.off_grid.append(&mut other.off_grid);
        self
    }
}

/// The scores added up by distinct metadata value, on all threads. Nothing if many are on no grid.
fn grid_totals<N, S>(
    codes: &[u32],
    numbers: &[N],
    distinct: usize,
    steps_of: impl Fn(N) -> Option<S> + Sync,
) -> Option<PartTotals<S, N>>
where
    N: Copy + Send + Sync,
    S: AddAssign + Copy + Default + Send,
{
    let none = || PartTotals::none(distinct);
    if codes.len() <= PART {
        return none().add(0, codes, numbers, steps_of);
    }
    // A thread that takes few scores has as many totals as one that takes many.
    let least = (4 * distinct).div_ceil(PART).max(1);
    let parts = codes.par_chunks(PART).zip(numbers.par_chunks(PART)).enumerate().with_min_len(least);
    parts
        .try_fold(none, |totals, (part, (codes, numbers))| totals.add(part * PART, codes, numbers, &steps_of))
        .try_reduce(none, |totals, other| Some(totals.merge(other)))
}

/// The scores of one distinct metadata value: its code, how many there are, their sum, and the place of
/// the first.
struct CodeTotal {
    code: usize,
    n: u64,
    sum: ExactSum,
    first: usize,
}

/// The scores added up by distinct metadata value, in the order in which those first occur. Nothing if many
/// are on no grid, or if most values occur but once or twice, where this does not pay.
fn totals(codes: &[u32], numbers: Numbers<'_>, distinct: usize) -> Option<Vec<CodeTotal>> {
    fn exact<S>(found: Vec<GridTotal<S>>, sum: impl Fn(S) -> ExactSum) -> Vec<CodeTotal> {
        let exact = |(code, GridTotal { steps, n, first })| CodeTotal {
            code,
            n: u64::from(n),
            sum: sum(steps),
            first: first as usize,
        };
        found.into_iter().enumerate().map(exact).collect()
    }
    if distinct > codes.len() / 4 || u32::try_from(codes.len()).is_err() {
        return None;
    }
    let mut totals = match numbers {
        Numbers::Bytes(bytes) => {
            let found = grid_totals(codes, bytes, distinct, |byte| Some(i64::from(byte)))?;
            exact(found.totals, |whole| sum_of(whole as f64))
        }
        Numbers::Floats(floats) => {
            let found = grid_totals(codes, floats, distinct, on_fine_grid)?;
            let mut totals = exact(found.totals, of_fine_steps);
            for (code, float) in found.off_grid {
                if let Some(total) = totals.get_mut(code as usize) {
                    total.sum.add(float);
                }
            }
            totals
        }
    };
    totals.retain(|total| total.n > 0);
    totals.sort_unstable_by_key(|total| total.first);
    Some(totals)
}

fn sum_of(value: f64) -> ExactSum {
    let mut sum = ExactSum::new();
    sum.add(value);
    sum
}

/// A sum of steps of the fine grid, taken apart into pieces that a float holds.
fn of_fine_steps(steps: i128) -> ExactSum {
    let mut sum = ExactSum::new();
    let sign = if steps < 0 { -1.0 } else { 1.0 };
    let mut scale = sign / (1_u128 << 64) as f64;
    let mut rest = steps.unsigned_abs();
    while rest != 0 {
        sum.add((rest as u32) as f64 * scale);
        rest >>= 32;
        scale *= (1_u64 << 32) as f64;
    }
    sum
}

/// One cluster: how many scores, and their exact sum.
#[derive(Clone, Debug, Default)]
pub(super) struct Cluster {
    pub(super) n: u64,
    pub(super) sum: ExactSum,
}

/// All clusters seen so far.
#[derive(Clone, Debug, Default)]
pub(super) struct Clusters {
    index: HashMap<LeafKey, usize, foldhash::fast::RandomState>,
    clusters: Vec<Cluster>,
}

impl Clusters {
    /// Takes in scores, clustered by a metadata key.
    pub(super) fn update(
        &mut self,
        metric: &str,
        key: &str,
        scores: &Scores<'_>,
        numbers: Numbers<'_>,
    ) -> Result<()> {
        let column = scores.key(metric, key);
        let codes = scores.codes(&column)?;
        let identify = |code: usize, at: usize| {
            let json = column.values().get(code).unwrap_or(&Json::Null);
            cluster_id(json).ok_or_else(|| Error::ClusterId {
                metric: metric.to_owned(),
                key: key.to_owned(),
                sample: scores.sample_id(at).to_owned(),
                found: describe(json),
            })
        };
        if let Some(totals) = totals(&codes, numbers, column.values().len()) {
            for total in totals {
                let number = self.number(identify(total.code, total.first)?);
                if let Some(cluster) = self.clusters.get_mut(number) {
                    cluster.n += total.n;
                    cluster.sum.merge(&total.sum);
                }
            }
            return Ok(());
        }
        // The cluster of each distinct metadata value, worked out when it is first met.
        let mut known: Vec<Option<usize>> = vec![None; column.values().len()];
        // What plain integers hold exactly: most scores are 0, 1, ½ or the like.
        let mut simple: Vec<(u64, i64)> = vec![(0, 0); self.clusters.len()];
        for (at, (&code, &value)) in codes.iter().zip(numbers.to_floats().iter()).enumerate() {
            let number = match known.get(code as usize) {
                Some(Some(number)) => *number,
                _ => {
                    let number = self.number(identify(code as usize, at)?);
                    if let Some(slot) = known.get_mut(code as usize) {
                        *slot = Some(number);
                    }
                    number
                }
            };
            if let Some(steps) = on_grid(value) {
                if number >= simple.len() {
                    simple.resize(number + 1, (0, 0));
                }
                if let Some((n, sum)) = simple.get_mut(number) {
                    *n += 1;
                    *sum += steps;
                }
            } else if let Some(cluster) = self.clusters.get_mut(number) {
                cluster.n += 1;
                cluster.sum.add(value);
            }
        }
        for (cluster, (n, sum)) in self.clusters.iter_mut().zip(simple) {
            cluster.n += n;
            cluster.sum.add(sum as f64 / GRID);
        }
        Ok(())
    }

    fn number(&mut self, id: LeafKey) -> usize {
        let clusters = &mut self.clusters;
        *self.index.entry(id).or_insert_with(|| {
            clusters.push(Cluster::default());
            clusters.len() - 1
        })
    }

    /// Takes in all that another has seen.
    pub(super) fn merge(&mut self, other: &Clusters) {
        for (id, &number) in &other.index {
            let own = self.number(id.clone());
            if let (Some(to), Some(from)) = (self.clusters.get_mut(own), other.clusters.get(number)) {
                to.n += from.n;
                to.sum.merge(&from.sum);
            }
        }
    }

    /// The number of clusters, G.
    pub(super) fn len(&self) -> usize {
        self.clusters.len()
    }

    /// The number of scores.
    pub(super) fn n(&self) -> u64 {
        self.clusters.iter().map(|c| c.n).sum()
    }

    /// Size and sum of each cluster, for resampling whole clusters.
    pub(super) fn totals(&self) -> Vec<ClusterTotal> {
        self.clusters.iter().map(|c| ClusterTotal { size: c.n, sum: c.sum.to_double_double() }).collect()
    }

    /// The mean of all scores.
    pub(super) fn mean(&self) -> f64 {
        self.total().divide(self.n().max(1))
    }

    fn total(&self) -> ExactSum {
        let mut total = ExactSum::new();
        self.clusters.iter().for_each(|c| total.merge(&c.sum));
        total
    }

    /// The clustered standard error of the mean with the small-sample factor (CR1):
    /// √( Σ_g (S_g − n_g·x̄)² · G/(G−1) ) / n; `None` for fewer than two clusters.
    ///
    /// n·S_g − n_g·S is taken from the exact sums, so neither a huge offset nor the order of the
    /// scores can change the result.
    pub(super) fn stderr(&self) -> Option<f64> {
        let g = self.len();
        if g < 2 {
            return None;
        }
        let n = self.n();
        let (total_high, total_low) = self.total().to_double_double();
        let deviation = |cluster: &Cluster| {
            let (high, low) = cluster.sum.to_double_double();
            let mut deviation = ExactSum::new();
            deviation.add_times(high, n);
            deviation.add_times(low, n);
            deviation.add_times(-total_high, cluster.n);
            deviation.add_times(-total_low, cluster.n);
            deviation.divide(n)
        };
        let deviations: Vec<f64> = self.clusters.iter().map(deviation).collect();
        let factor = g as f64 / (g - 1) as f64;
        Some(root_of_squares(&deviations, factor) / n as f64)
    }
}

fn describe(json: &Json) -> String {
    match json {
        Json::Null => "null".to_owned(),
        other => json_text(other).chars().take(60).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn totals_of_parts_are_those_of_the_whole_in_order_of_appearance() {
        let rows = 3 * PART + 5;
        // Code 0 is never met, and 6 only in the last part.
        let code = |row: usize| if row > 3 * PART { 6 } else { 5 - (row * row % 5) as u32 };
        let codes: Vec<u32> = (0..rows).map(code).collect();
        let floats: Vec<f64> = (0..rows).map(|row| (row % 9) as f64 / 8.0 - 0.5).collect();
        let mut expected: Vec<(usize, f64, u32, u32)> = Vec::new();
        for (row, (code, float)) in codes.iter().zip(&floats).enumerate() {
            match expected.iter_mut().find(|(known, ..)| *known == *code as usize) {
                Some((_, sum, n, _)) => (*sum, *n) = (*sum + float, *n + 1),
                None => expected.push((*code as usize, *float, 1, row as u32)),
            }
        }
        for rows in [rows, 40] {
            let found = totals(&codes[..rows], Numbers::Floats(&floats[..rows]), 7).unwrap();
            assert!(found.is_sorted_by_key(|total| total.first));
            assert_eq!(found.iter().map(|total| total.n as usize).sum::<usize>(), rows);
            if rows > PART {
                let found: Vec<_> =
                    found.iter().map(|t| (t.code, t.sum.to_f64(), t.n as u32, t.first as u32)).collect();
                assert_eq!(found, expected);
            }
        }
        assert!(totals(&codes[..20], Numbers::Floats(&floats[..20]), 7).is_none(), "too few rows");
    }

    #[test]
    fn every_grid_gives_the_exact_sum() {
        let bytes: Vec<u8> = (0..100).map(|row| (row * 7 % 256) as u8).collect();
        let coarse: Vec<f64> = bytes.iter().map(|byte| f64::from(*byte)).collect();
        let fine: Vec<f64> = (0..100).map(|row| f64::from(row - 50) / 5.0 + 1e-3).collect();
        let codes: Vec<u32> = (0..100).map(|row| row % 3).collect();
        let check = |numbers: Numbers<'_>, floats: &[f64]| {
            let found = totals(&codes, numbers, 3).unwrap();
            assert_eq!(found.len(), 3);
            for total in found {
                let mut sum = ExactSum::new();
                codes
                    .iter()
                    .zip(floats)
                    .filter(|(c, _)| **c as usize == total.code)
                    .for_each(|(_, f)| sum.add(*f));
                assert!(total.sum == sum, "code {}", total.code);
            }
        };
        check(Numbers::Bytes(&bytes), &coarse);
        check(Numbers::Floats(&coarse), &coarse);
        check(Numbers::Floats(&fine), &fine);
        // A few that are on no grid, and many.
        let off = [1e-30, 2000.0, f64::MIN_POSITIVE / 2.0, -1e300];
        let mut floats = fine.clone();
        floats[50..54].copy_from_slice(&off);
        check(Numbers::Floats(&floats), &floats);
        floats[60..64].copy_from_slice(&off);
        assert!(totals(&codes, Numbers::Floats(&floats), 3).is_none());
        assert_eq!(on_fine_grid(f64::NAN), None);
        let small = 2f64.powi(-60);
        assert_eq!(
            [0.0, -0.0, small, -small, 1024.0].map(on_fine_grid).map(Option::unwrap),
            [0, 0, 16, -16, 1 << 74]
        );
    }
}
