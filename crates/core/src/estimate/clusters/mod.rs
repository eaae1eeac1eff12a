//! Scores by cluster: what clustered errors and intervals are made of.

mod spanning;
mod totals;
mod variance;

pub(super) use spanning::{ClusteredGroup, spanning_error, spans};
pub(crate) use variance::ClusterCorrection;
pub(super) use variance::{bell_mccaffrey_of_weights, degrees_of_freedom};

use std::collections::HashMap;
use std::hash::Hash;

use foldhash::fast::RandomState;
use indexmap::IndexMap;
use serde_json::Value as Json;

use self::totals::totals;
use super::bytes::{Encode, count, put_count};
use crate::error::{Error, Result};
use crate::naming::Interner;
use crate::python_text::json_text;
use crate::scores::Scores;
use crate::value::{Leaf, LeafKey};
use errorbar_stats::exact::ExactSum;
use errorbar_stats::resampling::ClusterTotal;

/// Who belongs together. Numbers compare across types: 1, 1.0 and true are one cluster, "1" is another.
/// Null, lists and maps are no cluster.
fn cluster_id(json: &Json) -> Option<LeafKey> {
    if let Some(big) = json.as_u64().filter(|big| i64::try_from(*big).is_err()) {
        return Some(LeafKey::Big(big));
    }
    let leaf = Leaf::from_json(json).ok()?;
    LeafKey::new(leaf.view()).filter(|key| *key != LeafKey::Null)
}

/// Whether a metadata value can be a cluster id.
pub(crate) fn is_cluster_id(json: &Json) -> bool {
    cluster_id(json).is_some()
}

/// The cluster id of a metadata value; the sample at a position has it.
pub(crate) fn identify(
    metric: &str,
    key: &str,
    json: Option<&Json>,
    scores: &Scores<'_>,
    at: usize,
) -> Result<LeafKey> {
    let json = json.unwrap_or(&Json::Null);
    cluster_id(json).ok_or_else(|| Error::ClusterId {
        metric: metric.to_owned(),
        key: key.to_owned(),
        sample: scores.sample_id(at).to_owned(),
        found: describe(json),
    })
}

/// The clusters of scores by a metadata key.
#[derive(Clone, Debug, Default)]
pub struct RowClusters {
    /// The ids of the clusters, in order of first appearance.
    pub(crate) ids: Interner<LeafKey>,
    /// The cluster of the score at each position: a number of those ids.
    pub of_positions: Vec<u32>,
}

impl RowClusters {
    /// Every distinct value of the key is looked at once.
    ///
    /// # Errors
    /// The first sample without the key, or with a value that is no cluster id.
    pub fn by_key(metric: &str, key: &str, scores: &Scores<'_>) -> Result<Self> {
        RowClusters::of_some(metric, key, scores, 0..scores.len())
    }

    /// The same for some of the scores, given by their positions: as many clusters, in that order. A label of a hundred
    /// thousand has few of them.
    ///
    /// # Errors
    /// As above.
    pub(crate) fn of_some(
        metric: &str,
        key: &str,
        scores: &Scores<'_>,
        positions: impl ExactSizeIterator<Item = usize>,
    ) -> Result<Self> {
        let column = scores.key(metric, key);
        let codes = scores.codes(&column)?;
        let mut clusters = RowClusters::default();
        let mut known = CodeClusters::new(column.distinct(), positions.len());
        for at in positions {
            let Some(code) = codes.get(at) else { continue };
            let cluster = match known.get(*code) {
                Some(cluster) => cluster,
                None => {
                    let id = identify(metric, key, column.value(*code as usize), scores, at)?;
                    let cluster = clusters.ids.intern(id);
                    known.insert(*code, cluster);
                    cluster
                }
            };
            clusters.of_positions.push(cluster);
        }
        Ok(clusters)
    }

    /// The sample of each score is its cluster.
    pub fn by_sample(scores: &Scores<'_>, positions: impl Iterator<Item = usize>) -> Self {
        let mut clusters = RowClusters::default();
        for at in positions {
            let id = LeafKey::Text(scores.sample_id(at).to_owned());
            let cluster = clusters.ids.intern(id);
            clusters.of_positions.push(cluster);
        }
        clusters
    }
}

/// The clusters of the codes that were met: a table of all codes, unless there are many more of them than scores.
enum CodeClusters {
    Table(Vec<u32>),
    Few(HashMap<u32, u32, RandomState>),
}

impl CodeClusters {
    /// Stands for a code that was not met.
    const UNKNOWN: u32 = u32::MAX;

    fn new(distinct: usize, scores: usize) -> Self {
        match distinct / 4 > scores {
            true => CodeClusters::Few(HashMap::default()),
            false => CodeClusters::Table(vec![CodeClusters::UNKNOWN; distinct]),
        }
    }

    fn get(&self, code: u32) -> Option<u32> {
        match self {
            CodeClusters::Table(clusters) => {
                clusters.get(code as usize).copied().filter(|cluster| *cluster != CodeClusters::UNKNOWN)
            }
            CodeClusters::Few(clusters) => clusters.get(&code).copied(),
        }
    }

    fn insert(&mut self, code: u32, cluster: u32) {
        match self {
            CodeClusters::Table(clusters) => {
                clusters.get_mut(code as usize).into_iter().for_each(|slot| *slot = cluster);
            }
            CodeClusters::Few(clusters) => {
                clusters.insert(code, cluster);
            }
        }
    }
}

/// Whether all scores have a cluster by every key of the plan. A key that a metric named is checked by that metric.
///
/// # Errors
/// The first sample that has none.
pub(crate) fn check(scores: &Scores<'_>) -> Result<()> {
    let estimation = scores.estimation();
    for key in estimation.errors.cluster.iter().filter(|_| !estimation.implied_cluster) {
        // Every distinct value once; which score has which cluster does not matter here.
        let column = scores.key(ERRORS, key);
        let codes = scores.codes(&column)?;
        let mut is_checked = vec![false; column.distinct()];
        for (at, code) in codes.iter().enumerate() {
            if let Some(checked) = is_checked.get_mut(*code as usize).filter(|checked| !**checked) {
                identify(ERRORS, key, column.value(*code as usize), scores, at)?;
                *checked = true;
            }
        }
    }
    Ok(())
}

/// The name in errors for what requests clusters if no metric does.
pub(crate) const ERRORS: &str = "errors";

fn describe(json: &Json) -> String {
    match json {
        Json::Null => "null".to_owned(),
        other => json_text(other).chars().take(60).collect(),
    }
}

/// One cluster: how many scores, and their exact sum.
#[derive(Clone, Debug, Default, PartialEq)]
struct Cluster {
    n: u64,
    sum: ExactSum,
}

/// All clusters seen so far, by their id.
#[derive(Clone, Debug)]
pub(crate) struct Clusters<Id = LeafKey>(IndexMap<Id, Cluster, RandomState>);

impl<Id> Default for Clusters<Id> {
    fn default() -> Self {
        Clusters(IndexMap::default())
    }
}

impl Clusters {
    /// Takes in scores, clustered by a metadata key.
    pub(crate) fn update(
        &mut self,
        metric: &str,
        key: &str,
        scores: &Scores<'_>,
        numbers: &[f64],
    ) -> Result<()> {
        let column = scores.key(metric, key);
        let codes = scores.codes(&column)?;
        self.add(&codes, column.distinct(), numbers, &|code, at| {
            identify(metric, key, column.value(code), scores, at)
        })
    }

    /// Adds a cluster of its own, which has the number of those before it as its id.
    pub(super) fn push(&mut self, n: u64, sum: ExactSum) {
        self.0.insert(LeafKey::Int(self.0.len() as i64), Cluster { n, sum });
    }
}

impl<Id: Clone + Eq + Hash> Clusters<Id> {
    /// Takes in scores, each with a code below `distinct`. `identify` has the id of a code and the position of a score
    /// with it.
    pub(super) fn add(
        &mut self,
        codes: &[u32],
        distinct: usize,
        numbers: &[f64],
        identify: &dyn Fn(usize, usize) -> Result<Id>,
    ) -> Result<()> {
        // A small group of many clusters: a table of all codes would take longer than the scores.
        if distinct / 4 > codes.len() {
            let mut used = Interner::default();
            let codes: Vec<u32> = codes.iter().map(|code| used.intern(*code)).collect();
            let original = |code: usize| used.get(code).map_or(usize::MAX, |code| *code as usize);
            return self.add(&codes, used.len(), numbers, &|code, at| identify(original(code), at));
        }
        for total in totals(codes, numbers, distinct) {
            self.put(identify(total.code, total.first)?, Cluster { n: total.n, sum: total.sum });
        }
        Ok(())
    }

    /// Adds to a cluster.
    fn put(&mut self, id: Id, part: Cluster) {
        let cluster = self.0.entry(id).or_default();
        cluster.n += part.n;
        cluster.sum.merge(&part.sum);
    }

    /// Takes in all that another has seen.
    pub(crate) fn merge(&mut self, other: &Clusters<Id>) {
        other.0.iter().for_each(|(id, cluster)| self.put(id.clone(), cluster.clone()));
    }

    /// The number of clusters, G.
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// The number of scores.
    pub(crate) fn n(&self) -> u64 {
        self.0.values().map(|c| c.n).sum()
    }

    /// The number of scores, also of clusters that came from elsewhere and may be too many.
    pub(super) fn checked_n(&self) -> Option<u64> {
        self.0.values().try_fold(0_u64, |n, cluster| n.checked_add(cluster.n))
    }

    /// The number of scores of the largest cluster.
    pub(crate) fn largest(&self) -> u64 {
        self.0.values().map(|c| c.n).max().unwrap_or(0)
    }

    /// Size and sum of each cluster, for resampling whole clusters.
    pub(crate) fn totals(&self) -> Vec<ClusterTotal> {
        self.0.values().map(|c| ClusterTotal::new(c.n, c.sum.to_double_double())).collect()
    }

    /// The exact sum of all scores.
    pub(crate) fn total(&self) -> ExactSum {
        let mut total = ExactSum::new();
        self.0.values().for_each(|c| total.merge(&c.sum));
        total
    }
}

impl<Id: Clone + Eq + Hash + Ord + Encode> Clusters<Id> {
    /// Canonical bytes: the clusters in the order of their ids.
    pub(super) fn write(&self, out: &mut Vec<u8>) {
        let mut clusters: Vec<(&Id, &Cluster)> = self.0.iter().collect();
        clusters.sort_unstable_by_key(|(id, _)| *id);
        put_count(clusters.len() as u64, out);
        for (id, cluster) in clusters {
            id.put(out);
            put_count(cluster.n, out);
            cluster.sum.put(out);
        }
    }

    /// Reads what [`Clusters::write`] has written.
    pub(super) fn read(bytes: &mut &[u8]) -> Result<Self> {
        let mut all = Clusters::default();
        // Nothing is set aside for the number of clusters that the bytes claim: each is read first.
        for _ in 0..count(bytes)? {
            let id = Id::get(bytes)?;
            if all.0.last().is_some_and(|(before, _): (&Id, _)| *before >= id) {
                return Err(Error::custom("summary: clusters are not in order"));
            }
            let n = count(bytes)?;
            if n == 0 {
                return Err(Error::custom("summary: a cluster without scores"));
            }
            let sum = ExactSum::get(bytes)?;
            all.0.insert(id, Cluster { n, sum });
        }
        Ok(all)
    }
}
