//! Shares of clustered scores: how often each cluster has each category.

use std::collections::HashMap;

use super::cluster_error::{ErrorFigure, WayError, drawn};
use super::clusters::{ClusterCorrection, RowClusters, degrees_of_freedom};
use super::{Defined, Undefined};
use crate::error::Result;
use crate::error_plan::{ClusterVariance, ErrorMethod, ErrorPlan, Estimation, SummaryKey};
use crate::naming::Interner;
use crate::random::Random;
use crate::scores::Scores;
use crate::value::LeafKey;
use errorbar_stats::exact::ExactSum;
use errorbar_stats::resampling::ClusterTotal;

/// The categories of clustered scores; empty if scores are independent.
#[derive(Clone, Debug, Default)]
pub(crate) struct ShareClusters {
    clusters: Interner<LeafKey>,
    /// The cluster and the category of each score: eight bytes, where a table for each cluster would take hundreds.
    scores: Vec<(u32, u32)>,
    second: SecondWay,
    problem: Option<String>,
}

/// The other way of clustering, if there are two: the cluster of each score.
#[derive(Clone, Debug, Default)]
struct SecondWay {
    clusters: Interner<LeafKey>,
    scores: Vec<u32>,
}

impl ShareClusters {
    /// Takes in scores, given their categories.
    pub(crate) fn update(
        &mut self,
        estimation: &Estimation,
        scores: &Scores<'_>,
        categories: &[usize],
    ) -> Result<()> {
        match SummaryKey::of(&estimation.errors, estimation.by_sample) {
            SummaryKey::Moments | SummaryKey::Tally => {}
            SummaryKey::BySample => self.add(RowClusters::by_sample(scores, 0..scores.len()), categories),
            SummaryKey::Clusters(keys) => match self.add_by_keys(&keys, scores, categories) {
                Err(error) if error.is_about_clusters() => self.problem = Some(error.to_string()),
                added => added?,
            },
        }
        Ok(())
    }

    fn add_by_keys(&mut self, keys: &[String], scores: &Scores<'_>, categories: &[usize]) -> Result<()> {
        let clusters = |key: &String| RowClusters::by_key("frequency", key, scores);
        let first = keys.first().map(clusters).transpose()?.unwrap_or_default();
        // Before anything is added: a problem of the second key must not leave the two ways of different lengths.
        let second = keys.get(1).map(clusters).transpose()?.unwrap_or_default();
        self.add(first, categories);
        let own = interned(&second.ids, &mut self.second.clusters);
        self.second.scores.extend(second.of_positions.iter().filter_map(|id| own.get(*id as usize)));
        Ok(())
    }

    fn add(&mut self, clusters: RowClusters, categories: &[usize]) {
        let own = interned(&clusters.ids, &mut self.clusters);
        let known = |(id, category): (&u32, &usize)| Some((*own.get(*id as usize)?, *category as u32));
        self.scores.extend(clusters.of_positions.iter().zip(categories).filter_map(known));
    }

    /// Takes in all that another has seen; `own` are our numbers of its categories.
    pub(crate) fn merge(&mut self, other: ShareClusters, own: &[usize]) {
        self.problem = self.problem.take().or(other.problem);
        let clusters = interned(&other.clusters, &mut self.clusters);
        let known = |(cluster, category): (u32, u32)| {
            Some((*clusters.get(cluster as usize)?, *own.get(category as usize)? as u32))
        };
        self.scores.extend(other.scores.into_iter().filter_map(known));
        let clusters = interned(&other.second.clusters, &mut self.second.clusters);
        let known = |cluster: u32| clusters.get(cluster as usize).copied();
        self.second.scores.extend(other.second.scores.into_iter().filter_map(known));
    }

    /// What the errors of all categories are made of; none if scores are independent.
    pub(crate) fn variances(&self, errors: &ErrorPlan, random: &Random) -> Option<ShareVariances> {
        if self.clusters.is_empty() && self.problem.is_none() {
            return None;
        }
        let method = errors.clustered_method();
        let way = |scores: &[(u32, u32)], g: usize| WayVariances::new(scores, g, method);
        let mut ways = vec![way(&self.scores, self.clusters.len())];
        if !self.second.scores.is_empty() {
            let categories = || self.scores.iter().map(|(_, category)| *category);
            let second: Vec<(u32, u32)> = self.second.scores.iter().copied().zip(categories()).collect();
            ways.push(way(&second, self.second.clusters.len()));
            let mut pairs: Interner<(u32, u32)> = Interner::default();
            let firsts = self.scores.iter().map(|(first, _)| *first);
            let both = firsts.zip(self.second.scores.iter().copied()).map(|pair| pairs.intern(pair));
            let both: Vec<(u32, u32)> = both.collect::<Vec<u32>>().into_iter().zip(categories()).collect();
            ways.push(way(&both, pairs.len()));
        }
        let categories = ways.first().map_or(1, |way| way.with.len());
        Some(ShareVariances {
            ways,
            method,
            draws: errors.draws(),
            random: random.among(categories),
            problem: self.problem.clone().map(Undefined::Other),
        })
    }
}

/// The numbers that ids have among others, to which they are added.
fn interned(ids: &Interner<LeafKey>, all: &mut Interner<LeafKey>) -> Vec<u32> {
    ids.iter().map(|id| all.intern(id.clone())).collect()
}

/// What the errors of shares are made of.
pub(crate) struct ShareVariances {
    /// One way of clustering; or two, and both at once.
    ways: Vec<WayVariances>,
    method: ErrorMethod,
    draws: u32,
    random: Random,
    problem: Option<Undefined>,
}

/// What the errors of shares are made of, for one way of clustering.
///
/// The variance of a share p is Σ w_g (c_g − n_g·p)² over the clusters. Most clusters lack most categories, so it is
/// taken as p² Σ w_g n_g² and, for the clusters that have the category, what differs from that.
struct WayVariances {
    sizes: Vec<u64>,
    without: f64,
    with: HashMap<u32, CategoryCounts, foldhash::fast::RandomState>,
    df: f64,
    /// The bootstrap has no other closed form than that of clusters of one size.
    is_drawn: bool,
}

/// One category in the clusters that have it.
#[derive(Default)]
struct CategoryCounts {
    square: ExactSum,
    product: ExactSum,
    /// Cluster and count, only if resamples are drawn.
    counts: Vec<(u32, u64)>,
}

impl WayVariances {
    /// Of scores with their clusters and categories.
    fn new(scores: &[(u32, u32)], g: usize, method: ErrorMethod) -> Self {
        let mut sizes = vec![0_u64; g];
        for (cluster, _) in scores {
            if let Some(size) = sizes.get_mut(*cluster as usize) {
                *size += 1;
            }
        }
        let n = scores.len() as u64;
        // The bootstrap of clusters of one size is CR0; of others it is drawn.
        let correction = ClusterCorrection::of_method(method, g)
            .unwrap_or_else(|| ClusterCorrection::new(ClusterVariance::Cr0, g));
        let weight = |size: u64| correction.weight(n as f64, (n - size) as f64);
        let is_drawn =
            method == ErrorMethod::Bootstrap && sizes.iter().any(|size| Some(size) != sizes.first());
        let mut without = ExactSum::new();
        for size in &sizes {
            without.add(weight(*size) * (*size as f64) * (*size as f64));
        }
        let mut scores = scores.to_vec();
        scores.sort_unstable();
        let mut with: HashMap<u32, CategoryCounts, foldhash::fast::RandomState> = HashMap::default();
        for run in scores.chunk_by(|a, b| a == b) {
            let Some(&(cluster, category)) = run.first() else { continue };
            let size = sizes.get(cluster as usize).copied().unwrap_or_default();
            let (weight, size, count) = (weight(size), size as f64, run.len() as f64);
            // (c − n·p)² − (n·p)² = c² − 2·c·n·p
            let of_category = with.entry(category).or_default();
            of_category.square.add(weight * count * count);
            of_category.product.add(weight * 2.0 * count * size);
            if is_drawn {
                of_category.counts.push((cluster, run.len() as u64));
            }
        }
        let df = degrees_of_freedom(method, sizes.iter().copied());
        WayVariances { sizes, without: without.to_f64(), with, df, is_drawn }
    }

    fn error(&self, category: usize, share: f64, draws: u32, random: &Random) -> Defined<WayError> {
        let clusters = self.sizes.len() as u64;
        if clusters < 2 {
            return Err(Undefined::TooFewClusters { clusters });
        }
        let of_category = self.with.get(&(category as u32));
        if self.is_drawn {
            let mut totals: Vec<ClusterTotal> =
                self.sizes.iter().map(|size| ClusterTotal::new(*size, (0.0, 0.0))).collect();
            for (cluster, count) in of_category.into_iter().flat_map(|found| &found.counts) {
                if let Some(total) = totals.get_mut(*cluster as usize) {
                    total.sum.0 = *count as f64;
                }
            }
            let (se, draws) = drawn(&totals, draws, random)?;
            return Ok(WayError { se, df: self.df, draws: Some(draws) });
        }
        let (square, product) =
            of_category.map(|found| (found.square.to_f64(), found.product.to_f64())).unwrap_or_default();
        let variance = square - product * share + self.without * share * share;
        // Nothing but rounding is left where all clusters have the same share.
        let is_rounding = variance <= 1e-15 * square.max(self.without * share * share);
        let se = if is_rounding { 0.0 } else { variance.sqrt() };
        Ok(WayError { se, df: self.df, draws: None })
    }
}

impl ShareVariances {
    /// The error of a category's share.
    pub(crate) fn error(&self, category: usize, share: f64) -> ErrorFigure {
        if let Some(problem) = &self.problem {
            return ErrorFigure::new(Err(problem.clone()));
        }
        let error = |way: usize| {
            let way = self.ways.get(way).ok_or(Undefined::NoScores)?;
            way.error(category, share, self.draws, &self.random)
        };
        let clusters = |way: usize| self.ways.get(way).map_or(0, |way| way.sizes.len() as u64);
        ErrorFigure::by_ways(self.method, self.ways.len(), error, clusters)
    }

    /// The share of the scores that the largest cluster has.
    pub(crate) fn largest_share(&self) -> f64 {
        // Both at once are smaller than each.
        let largest = self.ways.iter().flat_map(|way| &way.sizes).max().copied().unwrap_or(0);
        let n: u64 = self.ways.first().map_or(0, |way| way.sizes.iter().sum());
        largest as f64 / n.max(1) as f64
    }
}
