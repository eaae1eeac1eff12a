//! Shares of clustered scores: how often each cluster has each category.

use hashbrown::HashMap;

use super::clusters::{bell_mccaffrey, identify};
use super::{Cr, ErrorMethod, Estimation, Maybe, StdError, SummaryKey, Undefined};
use crate::error::Result;
use crate::scores::Scores;
use crate::stats::ExactSum;
use crate::value::LeafKey;

/// The categories of clustered scores; empty if scores are independent.
#[derive(Clone, Debug, Default)]
pub(crate) struct ShareClusters {
    index: HashMap<LeafKey, usize, foldhash::fast::RandomState>,
    clusters: Vec<ShareCluster>,
    problem: Option<String>,
}

/// One cluster: its scores, and how many of them are in each category that it has.
#[derive(Clone, Debug, Default)]
struct ShareCluster {
    n: u64,
    counts: HashMap<usize, u64, foldhash::fast::RandomState>,
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
            SummaryKey::BySample => {
                for (at, category) in categories.iter().enumerate() {
                    self.add(LeafKey::Text(scores.sample_id(at).to_owned()), *category);
                }
            }
            SummaryKey::Clusters(keys) => match keys.as_slice() {
                [key] => {
                    let added = self.add_by_key(key, scores, categories);
                    match added {
                        Err(error) if estimation.implied_cluster && error.is_about_clusters() => {
                            self.problem = Some(error.to_string());
                        }
                        added => added?,
                    }
                }
                _ => self.problem = Some("shares have no error with two ways of clustering".to_owned()),
            },
        }
        Ok(())
    }

    fn add_by_key(&mut self, key: &str, scores: &Scores<'_>, categories: &[usize]) -> Result<()> {
        let column = scores.key("frequency", key);
        let codes = scores.codes(&column)?;
        for (at, (code, category)) in codes.iter().zip(categories).enumerate() {
            let id = identify("frequency", key, column.values().get(*code as usize), scores, at)?;
            self.add(id, *category);
        }
        Ok(())
    }

    fn cluster(&mut self, id: LeafKey) -> Option<&mut ShareCluster> {
        let clusters = &mut self.clusters;
        let number = *self.index.entry(id).or_insert_with(|| {
            clusters.push(ShareCluster::default());
            clusters.len() - 1
        });
        clusters.get_mut(number)
    }

    fn add(&mut self, id: LeafKey, category: usize) {
        if let Some(cluster) = self.cluster(id) {
            cluster.n += 1;
            *cluster.counts.entry(category).or_insert(0) += 1;
        }
    }

    /// Takes in all that another has seen; `own` are our numbers of its categories.
    pub(crate) fn merge(&mut self, other: ShareClusters, own: &[usize]) {
        self.problem = self.problem.take().or(other.problem);
        for (id, number) in other.index {
            let Some(from) = other.clusters.get(number) else { continue };
            let Some(cluster) = self.cluster(id) else { continue };
            cluster.n += from.n;
            for (category, count) in &from.counts {
                if let Some(category) = own.get(*category) {
                    *cluster.counts.entry(*category).or_insert(0) += count;
                }
            }
        }
    }

    /// What the errors of all categories are made of; none if scores are independent.
    ///
    /// The variance of a share p is Σ w_g (c_g − n_g·p)² over the clusters. Most clusters lack most categories, so it is
    /// taken as p² Σ w_g n_g² and, for the clusters that have the category, what differs from that.
    pub(crate) fn variances(&self, correction: Cr) -> Option<ShareVariances> {
        let g = self.clusters.len() as u64;
        if g == 0 && self.problem.is_none() {
            return None;
        }
        let n: u64 = self.clusters.iter().map(|cluster| cluster.n).sum();
        let total = n as f64;
        let weight = |cluster: &ShareCluster| {
            let others = n.saturating_sub(cluster.n) as f64;
            match correction {
                Cr::Cr0 => 1.0 / (total * total),
                Cr::Cr1 => g as f64 / (g.saturating_sub(1) as f64) / (total * total),
                Cr::Cr2 => 1.0 / (total * others),
                Cr::Cr3 => 1.0 / (others * others),
            }
        };
        let mut without = ExactSum::new();
        let mut with: HashMap<usize, [ExactSum; 2], foldhash::fast::RandomState> = HashMap::default();
        for cluster in &self.clusters {
            let (weight, size) = (weight(cluster), cluster.n as f64);
            without.add(weight * size * size);
            for (category, count) in &cluster.counts {
                let count = *count as f64;
                // (c − n·p)² − (n·p)² = c² − 2·c·n·p
                let [square, product] = with.entry(*category).or_insert([ExactSum::new(), ExactSum::new()]);
                square.add(weight * count * count);
                product.add(weight * 2.0 * count * size);
            }
        }
        let with = with.into_iter().map(|(at, [square, product])| (at, (square.to_f64(), product.to_f64())));
        let df = match correction {
            Cr::Cr0 | Cr::Cr1 => g.saturating_sub(1) as f64,
            Cr::Cr2 | Cr::Cr3 => bell_mccaffrey(self.clusters.iter().map(|cluster| cluster.n)),
        };
        let problem = match (&self.problem, g) {
            (Some(problem), _) => Some(Undefined::Other(problem.clone())),
            (None, 0..=1) => Some(Undefined::TooFewClusters { clusters: g }),
            _ => None,
        };
        Some(ShareVariances { without: without.to_f64(), with: with.collect(), df, g, correction, problem })
    }
}

/// What the errors of shares are made of.
pub(crate) struct ShareVariances {
    without: f64,
    with: HashMap<usize, (f64, f64), foldhash::fast::RandomState>,
    df: f64,
    g: u64,
    correction: Cr,
    problem: Option<Undefined>,
}

impl ShareVariances {
    /// The error of a category's share.
    pub(crate) fn error(&self, category: usize, share: f64) -> Maybe<StdError> {
        if let Some(problem) = &self.problem {
            return Err(problem.clone());
        }
        let (square, product) = self.with.get(&category).copied().unwrap_or_default();
        let variance = square - product * share + self.without * share * share;
        // Nothing but rounding is left where all clusters have the same share.
        let is_rounding = variance <= 1e-15 * square.max(self.without * share * share);
        let se = if is_rounding { 0.0 } else { variance.sqrt() };
        Ok(StdError {
            se,
            method: ErrorMethod::Cluster(self.correction),
            df: self.df,
            clusters: vec![self.g],
            degenerate: se == 0.0,
        })
    }
}
