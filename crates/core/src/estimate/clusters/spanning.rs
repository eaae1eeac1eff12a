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
