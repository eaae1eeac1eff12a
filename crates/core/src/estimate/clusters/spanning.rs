//! The variance of a weighted mean of groups whose clusters span groups, so that the groups are not independent.
//!
//! The mean of groups is a contrast of the coefficients of a regression on group dummies, and the cluster-robust variance of
//! that is a sum over clusters of what each contributes to all groups (Bell & McCaffrey, "Bias reduction in standard errors
//! for linear regression with multi-stage samples", 2002). With n_cg scores of cluster c in group g and D_cg the sum of
//! their deviations from the mean of the group, cluster c contributes ψ_c = Σ_g w_g·D_cg·f_cg, and the variance is Σ ψ_c².
//! The block of the hat matrix of a cluster in a group has the eigenvalue n_cg/n_g along the ones, so f_cg is 1/n_g for
//! CR0, 1/√(n_g(n_g − n_cg)) for CR2 and 1/(n_g − n_cg) for CR3 and the jackknife.

use std::collections::HashMap;

use foldhash::fast::RandomState;
use indexmap::IndexMap;
use rayon::prelude::*;

use super::{Cluster, ClusterCorrection, ClusterId, Clusters, WayError};
use crate::error_plan::ErrorMethod;
use crate::estimate::{Defined, Draws, Undefined};
use crate::random::Random;
use errorbar_stats::exact::{ExactSum, root_of_squares};
use errorbar_stats::resampling::resampled_moments;

/// A group: its clusters and its weight in the mean.
pub(super) struct ClusteredGroup<'a> {
    pub(super) clusters: &'a Clusters,
    pub(super) weight: f64,
}

/// A part of a cluster that is in one group.
struct ClusterPart<'a> {
    group: usize,
    cluster: &'a Cluster,
    deviation: f64,
}

/// Whether a cluster has scores in two groups.
pub(super) fn spans(groups: &[ClusteredGroup<'_>]) -> bool {
    let mut seen: IndexMap<&ClusterId, (), RandomState> = IndexMap::default();
    groups.iter().flat_map(|group| group.clusters.0.keys()).any(|id| seen.insert(id, ()).is_some())
}

/// The standard error of the weighted mean, its degrees of freedom, and the number of clusters.
pub(super) fn spanning_error(
    groups: &[ClusteredGroup<'_>],
    method: ErrorMethod,
    draws: u32,
    random: &Random,
) -> Defined<WayError> {
    let mut parts: IndexMap<&ClusterId, Vec<ClusterPart<'_>>, RandomState> = IndexMap::default();
    for (at, group) in groups.iter().enumerate() {
        let deviations = group.clusters.deviations(|_| 1.0);
        for ((id, cluster), deviation) in group.clusters.0.iter().zip(deviations) {
            parts.entry(id).or_default().push(ClusterPart { group: at, cluster, deviation });
        }
    }
    let g = parts.len() as u64;
    if g < 2 {
        return Err(Undefined::TooFewClusters { clusters: g });
    }
    let sizes: Vec<(f64, f64)> =
        groups.iter().map(|group| (group.clusters.n() as f64, group.weight)).collect();
    let size = |part: &ClusterPart<'_>| sizes.get(part.group).copied().unwrap_or((1.0, 0.0));
    let others = |part: &ClusterPart<'_>| size(part).0 - part.cluster.n as f64;
    if parts.values().flatten().any(|part| others(part) == 0.0) {
        return Err(Undefined::Other("a group has only one cluster".to_owned()));
    }
    let Some(correction) = ClusterCorrection::of_method(method, parts.len()) else {
        // In the order of their ids, whatever that of the scores was.
        parts.sort_unstable_keys();
        let parts: Vec<&Vec<ClusterPart<'_>>> = parts.values().collect();
        let weights: Vec<f64> = groups.iter().map(|group| group.weight).collect();
        return drawn(&parts, &weights, draws, random);
    };
    let contribution = |of_cluster: &Vec<ClusterPart<'_>>| {
        let mut sum = ExactSum::new();
        for part in of_cluster {
            let (n, weight) = size(part);
            sum.add(weight * part.deviation / correction.divisor(n, others(part)));
        }
        sum.to_f64()
    };
    let contributions: Vec<f64> = parts.values().map(contribution).collect();
    let se = root_of_squares(&contributions, correction.factor());
    let df = match correction.is_by_size() {
        false => (g - 1) as f64,
        true => degrees_of_freedom(parts.values(), &size),
    };
    if se.is_finite() { Ok(WayError { se, df, draws: None, clusters: g }) } else { Err(Undefined::Overflow) }
}

/// The standard deviation of the weighted means of resampled clusters.
fn drawn(
    clusters: &[&Vec<ClusterPart<'_>>],
    weights: &[f64],
    draws: u32,
    random: &Random,
) -> Defined<WayError> {
    let (units, count) = (clusters.len(), u64::from(draws));
    random.check_draws(count, units as u64).map_err(Undefined::Other)?;
    // A resample in which a group has no score has no mean of groups.
    let figure = |counts: &[u32]| {
        let mut sums = vec![(0.0, 0.0); weights.len()];
        for (parts, count) in clusters.iter().zip(counts).filter(|(_, count)| **count > 0) {
            for part in parts.iter() {
                let (sum, n) = sums.get_mut(part.group)?;
                *sum += f64::from(*count) * part.deviation;
                *n += f64::from(*count) * part.cluster.n as f64;
            }
        }
        // Of deviations from the means of groups, which differ from the scores by a constant.
        let mut mean = ExactSum::new();
        for ((sum, n), weight) in sums.iter().zip(weights) {
            mean.add((*n > 0.0).then_some(weight * sum / n)?);
        }
        Some(mean.to_f64())
    };
    let figures = resampled_moments(units, draws as usize, random.seed, figure);
    if 2 * figures.count() < count {
        return Err(Undefined::Other("most resamples of clusters leave a group without a score".to_owned()));
    }
    let se = figures.population_std().unwrap_or(f64::NAN);
    let draws = Some(Draws::new(random.seed, count));
    Ok(WayError { se, df: (units - 1) as f64, draws, clusters: units as u64 })
}

/// Satterthwaite's degrees of freedom of CR2 for independent scores of equal variance, (tr P)² / tr P². With
/// u_cg = w_g·n_cg/√(n_g(n_g − n_cg)), P_cd = Σ_g (δ_cd·u_cg²/n_cg − u_cg·u_dg/n_g). It has a row for each cluster, and is
/// never written out: tr P² comes from sums over clusters and, with a_cg = u_cg/√n_g, from ‖AAᵀ‖² = ‖AᵀA‖², over the pairs
/// of clusters or of groups, whichever are fewer.
fn degrees_of_freedom<'p, 'c: 'p>(
    clusters: impl Iterator<Item = &'p Vec<ClusterPart<'c>>>,
    size: &dyn Fn(&ClusterPart<'c>) -> (f64, f64),
) -> f64 {
    let (mut trace, mut squares) = (ExactSum::new(), ExactSum::new());
    let (mut by_cluster, mut by_group): (Vec<Row>, Vec<Row>) = (Vec::new(), Vec::new());
    for (cluster, parts) in clusters.enumerate() {
        let (mut diagonal, mut within) = (ExactSum::new(), ExactSum::new());
        let mut row = Vec::with_capacity(parts.len());
        for part in parts {
            let ((n, weight), own) = (size(part), part.cluster.n as f64);
            let u = weight * own / (n.sqrt() * (n - own).sqrt());
            diagonal.add(u * u / own);
            within.add(u * u / n);
            let a = u / n.sqrt();
            row.push((part.group, a));
            if by_group.len() <= part.group {
                by_group.resize_with(part.group + 1, Vec::new);
            }
            if let Some(group) = by_group.get_mut(part.group) {
                group.push((cluster, a));
            }
        }
        let (diagonal, within) = (diagonal.to_f64(), within.to_f64());
        trace.add(diagonal - within);
        squares.add(diagonal * diagonal - 2.0 * diagonal * within);
        by_cluster.push(row);
    }
    let pairs = |rows: &[Row]| rows.iter().map(|row| row.len().saturating_mul(row.len())).sum::<usize>();
    let rows = if pairs(&by_cluster) <= pairs(&by_group) { by_cluster } else { by_group };
    // Exact sums: the order of groups is that in which they were seen, and that of pairs is that of a hash map.
    for (pair, product) in products(&rows) {
        let product = product.to_f64();
        let times = if pair.0 == pair.1 { 1.0 } else { 2.0 };
        squares.add(times * product * product);
    }
    let trace = trace.to_f64();
    trace * trace / squares.to_f64()
}

/// The entries of a row of a sparse matrix that are not 0, with their columns.
type Row = Vec<(usize, f64)>;

/// The products of the columns of a sparse matrix that share a row; each pair once, the smaller column first.
fn products(rows: &[Row]) -> HashMap<(usize, usize), ExactSum, RandomState> {
    let mut products: HashMap<(usize, usize), ExactSum, RandomState> = HashMap::default();
    for row in rows {
        for (at, (first, a)) in row.iter().enumerate() {
            for (second, b) in row.iter().take(at + 1) {
                let pair = (*first.min(second), *first.max(second));
                products.entry(pair).or_default().add(a * b);
            }
        }
    }
    products
}

/// The scores of one code: how many, the position of the first, and their exact sum.
#[derive(Clone, Debug, Default)]
pub(super) struct CodeTotal<S = ExactSum> {
    pub(super) code: usize,
    pub(super) n: u64,
    pub(super) first: usize,
    pub(super) sum: S,
}

/// What scores add up to while they are read: small whole numbers as floats, which makes 1,000,000 rows of a table with
/// clusters 10 % faster, other numbers exactly.
trait PartialSum: Clone + Default + Send + Sync {
    fn add(&mut self, number: f64);
    fn merge(&mut self, other: &Self);
    fn into_exact(self) -> ExactSum;
}

impl PartialSum for f64 {
    #[inline]
    fn add(&mut self, number: f64) {
        *self += number;
    }

    fn merge(&mut self, other: &Self) {
        *self += other;
    }

    fn into_exact(self) -> ExactSum {
        let mut sum = ExactSum::new();
        sum.add(self);
        sum
    }
}

impl PartialSum for ExactSum {
    #[inline]
    fn add(&mut self, number: f64) {
        ExactSum::add(self, number);
    }

    fn merge(&mut self, other: &Self) {
        ExactSum::merge(self, other);
    }

    fn into_exact(self) -> ExactSum {
        self
    }
}

/// Scores that a thread takes at once.
const PART: usize = 1 << 16;

/// The totals of the codes that occur, in order of first appearance. Codes are below `distinct`.
pub(super) fn totals(codes: &[u32], numbers: &[f64], distinct: usize) -> Vec<CodeTotal> {
    // Floats add such numbers exactly: rows are fewer than 2^32, and whole numbers below 2^53 have a float each.
    let is_small = |number: &f64| (0.0..=255.0).contains(number) && number.fract() == 0.0;
    match numbers.iter().fold(true, |all, number| all & is_small(number)) {
        true => totals_of::<f64>(codes, numbers, distinct),
        false => totals_of::<ExactSum>(codes, numbers, distinct),
    }
}

fn totals_of<S: PartialSum>(codes: &[u32], numbers: &[f64], distinct: usize) -> Vec<CodeTotal> {
    let none = || vec![CodeTotal::<S>::default(); distinct];
    let add = |mut totals: Vec<CodeTotal<S>>, (part, (codes, numbers)): (usize, (&[u32], &[f64]))| {
        for (at, (&code, &number)) in (part * PART..).zip(codes.iter().zip(numbers)) {
            if let Some(total) = totals.get_mut(code as usize) {
                if total.n == 0 {
                    (total.code, total.first) = (code as usize, at);
                }
                total.n += 1;
                total.sum.add(number);
            }
        }
        totals
    };
    let totals = if codes.len() <= PART {
        add(none(), (0, (codes, numbers)))
    } else {
        // A thread that takes few scores has as many totals as one that takes many.
        let least = (4 * distinct).div_ceil(PART).max(1);
        let parts = codes.par_chunks(PART).zip(numbers.par_chunks(PART)).enumerate().with_min_len(least);
        parts.fold(none, add).reduce_with(merged).unwrap_or_default()
    };
    let of_code =
        |t: CodeTotal<S>| CodeTotal { code: t.code, n: t.n, first: t.first, sum: t.sum.into_exact() };
    let mut totals: Vec<CodeTotal> = totals.into_iter().filter(|total| total.n > 0).map(of_code).collect();
    totals.sort_unstable_by_key(|total| total.first);
    totals
}

/// The totals of two parts, of which the first comes first.
fn merged<S: PartialSum>(mut totals: Vec<CodeTotal<S>>, later: Vec<CodeTotal<S>>) -> Vec<CodeTotal<S>> {
    for (total, later) in totals.iter_mut().zip(later) {
        if total.n == 0 {
            *total = later;
        } else {
            total.n += later.n;
            total.sum.merge(&later.sum);
        }
    }
    totals
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
        for rows in [rows, 40] {
            let mut expected: Vec<(usize, f64, u64, usize)> = Vec::new();
            for (row, (code, float)) in codes.iter().zip(&floats).take(rows).enumerate() {
                match expected.iter_mut().find(|(known, ..)| *known == *code as usize) {
                    Some((_, sum, n, _)) => (*sum, *n) = (*sum + float, *n + 1),
                    None => expected.push((*code as usize, *float, 1, row)),
                }
            }
            let found = totals(&codes[..rows], &floats[..rows], 7);
            let found: Vec<_> = found.iter().map(|t| (t.code, t.sum.to_f64(), t.n, t.first)).collect();
            assert_eq!(found, expected);
        }
        // Small whole numbers, and the same ones beside another.
        let mut floats: Vec<f64> = (0..rows).map(|row| (row * 7 % 256) as f64).collect();
        let small = totals(&codes, &floats, 7);
        floats.push(0.5);
        let others = totals(&codes, &floats, 7);
        let all = |found: Vec<CodeTotal>| {
            found.into_iter().map(|t| (t.code, t.sum, t.n, t.first)).collect::<Vec<_>>()
        };
        assert_eq!(all(small), all(others));
    }
}
