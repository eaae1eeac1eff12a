//! Scores by cluster: what clustered errors and intervals are made of.

mod grid;
mod variance;

pub(super) use variance::bell_mccaffrey;

use std::hash::Hash;

use hashbrown::HashMap;
use serde_json::Value as Json;

use self::grid::{GRID, on_grid, totals};
use super::bytes::{Encode, count, put_count};
use crate::columns::Numbers;
use crate::error::{Error, Result};
use crate::python_text::json_text;
use crate::scores::Scores;
use crate::stats::{ClusterTotal, ExactSum};
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

/// The cluster id of a metadata value; the sample at a position has it.
pub(super) fn identify(
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

/// Whether all scores have a cluster by every key of the plan. A key that a metric named is checked by that metric.
///
/// # Errors
/// The first sample that has none.
pub(crate) fn check(scores: &Scores<'_>) -> Result<()> {
    let estimation = scores.estimation();
    for key in estimation.errors.cluster.iter().filter(|_| !estimation.implied_cluster) {
        let column = scores.key(ERRORS, key);
        let codes = scores.codes(&column)?;
        let mut is_checked = vec![false; column.values().len()];
        for (at, code) in codes.iter().enumerate() {
            if let Some(checked) = is_checked.get_mut(*code as usize).filter(|checked| !**checked) {
                identify(ERRORS, key, column.values().get(*code as usize), scores, at)?;
                *checked = true;
            }
        }
    }
    Ok(())
}

/// Who asks for clusters if no metric does.
pub(crate) const ERRORS: &str = "errors";

fn describe(json: &Json) -> String {
    match json {
        Json::Null => "null".to_owned(),
        other => json_text(other).chars().take(60).collect(),
    }
}

/// Codes in order of first appearance, and the original ones by the new.
fn renumbered(codes: &[u32]) -> (Vec<u32>, Vec<u32>) {
    let mut known: HashMap<u32, u32, foldhash::fast::RandomState> = HashMap::default();
    let mut used = Vec::new();
    let number = |code: &u32| {
        *known.entry(*code).or_insert_with(|| {
            used.push(*code);
            used.len() as u32 - 1
        })
    };
    (codes.iter().map(number).collect(), used)
}

/// One cluster: how many scores, and their exact sum.
#[derive(Clone, Debug, Default, PartialEq)]
struct Cluster {
    n: u64,
    sum: ExactSum,
}

/// All clusters seen so far, by their id.
#[derive(Clone, Debug)]
pub(crate) struct Clusters<Id = LeafKey> {
    index: HashMap<Id, usize, foldhash::fast::RandomState>,
    clusters: Vec<Cluster>,
}

impl<Id> Default for Clusters<Id> {
    fn default() -> Self {
        Clusters { index: HashMap::default(), clusters: Vec::new() }
    }
}

impl Clusters {
    /// Takes in scores, clustered by a metadata key.
    pub(crate) fn update(
        &mut self,
        metric: &str,
        key: &str,
        scores: &Scores<'_>,
        numbers: Numbers<'_>,
    ) -> Result<()> {
        let column = scores.key(metric, key);
        let codes = scores.codes(&column)?;
        let values = column.values();
        self.add(&codes, values.len(), numbers, &|code, at| {
            identify(metric, key, values.get(code), scores, at)
        })
    }
}

impl<Id: Clone + Eq + Hash> Clusters<Id> {
    /// Takes in scores, each with a code below `distinct`. `identify` has the id of a code and the position of a score
    /// with it.
    pub(super) fn add(
        &mut self,
        codes: &[u32],
        distinct: usize,
        numbers: Numbers<'_>,
        identify: &dyn Fn(usize, usize) -> Result<Id>,
    ) -> Result<()> {
        // A small group of many clusters: a table of all codes would take longer than the scores.
        if distinct / 4 > codes.len() {
            let (codes, used) = renumbered(codes);
            let original = |code: usize| used.get(code).map_or(usize::MAX, |code| *code as usize);
            return self.add(&codes, used.len(), numbers, &|code, at| identify(original(code), at));
        }
        if let Some(totals) = totals(codes, numbers, distinct) {
            for total in totals {
                let number = self.number(identify(total.code, total.first)?);
                if let Some(cluster) = self.clusters.get_mut(number) {
                    cluster.n += total.n;
                    cluster.sum.merge(&total.sum);
                }
            }
            return Ok(());
        }
        // The cluster of each code, worked out when it is first met.
        let mut known: Vec<Option<usize>> = vec![None; distinct];
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

    fn number(&mut self, id: Id) -> usize {
        let clusters = &mut self.clusters;
        *self.index.entry(id).or_insert_with(|| {
            clusters.push(Cluster::default());
            clusters.len() - 1
        })
    }

    /// Takes in all that another has seen.
    pub(crate) fn merge(&mut self, other: &Clusters<Id>) {
        for (id, &number) in &other.index {
            let own = self.number(id.clone());
            if let (Some(to), Some(from)) = (self.clusters.get_mut(own), other.clusters.get(number)) {
                to.n += from.n;
                to.sum.merge(&from.sum);
            }
        }
    }

    /// The number of clusters, G.
    pub(crate) fn len(&self) -> usize {
        self.clusters.len()
    }

    /// The number of scores.
    pub(crate) fn n(&self) -> u64 {
        self.clusters.iter().map(|c| c.n).sum()
    }

    /// The number of scores, also of clusters that came from elsewhere and may be too many.
    pub(super) fn checked_n(&self) -> Option<u64> {
        self.clusters.iter().try_fold(0_u64, |n, cluster| n.checked_add(cluster.n))
    }

    /// The number of scores of the largest cluster.
    pub(crate) fn largest(&self) -> u64 {
        self.clusters.iter().map(|c| c.n).max().unwrap_or(0)
    }

    /// Size and sum of each cluster, for resampling whole clusters.
    pub(crate) fn totals(&self) -> Vec<ClusterTotal> {
        self.clusters.iter().map(|c| ClusterTotal { size: c.n, sum: c.sum.to_double_double() }).collect()
    }

    /// The exact sum of all scores.
    pub(crate) fn total(&self) -> ExactSum {
        let mut total = ExactSum::new();
        self.clusters.iter().for_each(|c| total.merge(&c.sum));
        total
    }
}

impl<Id: Clone + Eq + Hash + Ord + Encode> Clusters<Id> {
    /// Canonical bytes: the clusters in the order of their ids.
    pub(super) fn write(&self, out: &mut Vec<u8>) {
        let mut ids: Vec<(&Id, usize)> = self.index.iter().map(|(id, number)| (id, *number)).collect();
        ids.sort_unstable();
        put_count(ids.len() as u64, out);
        for (id, number) in ids {
            id.put(out);
            if let Some(cluster) = self.clusters.get(number) {
                put_count(cluster.n, out);
                cluster.sum.put(out);
            }
        }
    }

    /// Reads what [`Clusters::write`] has written.
    pub(super) fn read(bytes: &mut &[u8]) -> Result<Self> {
        let mut all = Clusters::default();
        let mut before: Option<Id> = None;
        // Nothing is set aside for the number of clusters that the bytes claim: each is read first.
        for _ in 0..count(bytes)? {
            let id = Id::get(bytes)?;
            if before.as_ref().is_some_and(|before| *before >= id) {
                return Err(Error::custom("summary: clusters are not in order"));
            }
            let n = count(bytes)?;
            if n == 0 {
                return Err(Error::custom("summary: a cluster without scores"));
            }
            let sum = ExactSum::get(bytes)?;
            all.index.insert(id.clone(), all.clusters.len());
            all.clusters.push(Cluster { n, sum });
            before = Some(id);
        }
        Ok(all)
    }
}
