//! Shares of clustered scores: how often each cluster has each category.

use std::collections::HashMap;

use super::clusters::{bell_mccaffrey, identify};
use super::{Cr, ErrorMethod, Estimation, Maybe, StdError, SummaryKey, Undefined};
use crate::error::Result;
use crate::interner::Interner;
use crate::scores::Scores;
use crate::stats::ExactSum;
use crate::value::LeafKey;

/// The categories of clustered scores; empty if scores are independent.
#[derive(Clone, Debug, Default)]
pub(crate) struct ShareClusters {
    clusters: Interner<LeafKey>,
    /// The cluster and the category of each score: eight bytes, where a table for each cluster would take hundreds.
    scores: Vec<(u32, u32)>,
    problem: Option<String>,
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
                        Err(error) if error.is_about_clusters() => {
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
            let id = identify("frequency", key, column.value(*code as usize), scores, at)?;
            self.add(id, *category);
        }
        Ok(())
    }

    fn add(&mut self, id: LeafKey, category: usize) {
        self.scores.push((self.clusters.intern(id), category as u32));
    }

    /// Takes in all that another has seen; `own` are our numbers of its categories.
    pub(crate) fn merge(&mut self, other: ShareClusters, own: &[usize]) {
        self.problem = self.problem.take().or(other.problem);
        let clusters: Vec<u32> = other.clusters.iter().map(|id| self.clusters.intern(id.clone())).collect();
        let known = |(cluster, category): (u32, u32)| {
            Some((*clusters.get(cluster as usize)?, *own.get(category as usize)? as u32))
        };
        self.scores.extend(other.scores.into_iter().filter_map(known));
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
        let mut sizes = vec![0_u64; self.clusters.len()];
        for (cluster, _) in &self.scores {
            if let Some(size) = sizes.get_mut(*cluster as usize) {
                *size += 1;
            }
        }
        let n = self.scores.len() as u64;
        let total = n as f64;
        let weight = |size: u64| {
            let others = (n - size) as f64;
            match correction {
                Cr::Cr0 => 1.0 / (total * total),
                Cr::Cr1 => g as f64 / (g.saturating_sub(1) as f64) / (total * total),
                Cr::Cr2 => 1.0 / (total * others),
                Cr::Cr3 => 1.0 / (others * others),
            }
        };
        let mut without = ExactSum::new();
        for size in &sizes {
            without.add(weight(*size) * (*size as f64) * (*size as f64));
        }
        let mut scores = self.scores.clone();
        scores.sort_unstable();
        let mut with: HashMap<u32, [ExactSum; 2], foldhash::fast::RandomState> = HashMap::default();
        for run in scores.chunk_by(|a, b| a == b) {
            let Some(&(cluster, category)) = run.first() else { continue };
            let size = sizes.get(cluster as usize).copied().unwrap_or_default();
            let (weight, size, count) = (weight(size), size as f64, run.len() as f64);
            // (c − n·p)² − (n·p)² = c² − 2·c·n·p
            let [square, product] = with.entry(category).or_insert([ExactSum::new(), ExactSum::new()]);
            square.add(weight * count * count);
            product.add(weight * 2.0 * count * size);
        }
        let with = with.into_iter().map(|(at, [square, product])| (at, (square.to_f64(), product.to_f64())));
        let df = match correction {
            Cr::Cr0 | Cr::Cr1 => g.saturating_sub(1) as f64,
            Cr::Cr2 | Cr::Cr3 => bell_mccaffrey(sizes.iter().copied()),
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
    with: HashMap<u32, (f64, f64), foldhash::fast::RandomState>,
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
        let (square, product) = self.with.get(&(category as u32)).copied().unwrap_or_default();
        let variance = square - product * share + self.without * share * share;
        // Nothing but rounding is left where all clusters have the same share.
        let is_rounding = variance <= 1e-15 * square.max(self.without * share * share);
        let se = if is_rounding { 0.0 } else { variance.sqrt() };
        let error = StdError::new(se, ErrorMethod::Cluster(self.correction));
        Ok(error.with_df(self.df).with_clusters(vec![self.g]))
    }
}
