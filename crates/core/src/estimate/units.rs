//! What is independent of the rest among scores: a sample with all its epochs, or a cluster of samples.

use super::clusters::RowClusters;
use super::{Defined, Undefined};
use crate::error::{Error, Result};
use crate::naming::Interner;
use crate::scores::Scores;
use crate::value::LeafKey;

/// The units of scores, in a canonical order: by sample id, or by cluster. Those that resample draw whole units.
#[derive(Clone, Debug)]
pub struct ScoreUnits {
    /// The positions of the scores, unit after unit; within a unit by sample id and epoch.
    positions: Vec<u32>,
    /// Where each unit ends.
    ends: Vec<u32>,
    /// The number of samples.
    samples: usize,
    is_clustered: bool,
}

impl ScoreUnits {
    /// The units by these cluster keys; samples if there is none.
    ///
    /// # Errors
    /// A sample without the key or with a value that is no cluster id, or two keys: resampling the clusters of one would
    /// take those of the other apart.
    pub fn of(metric: &str, scores: &Scores<'_>, keys: &[String]) -> Result<Self> {
        let at = |position: usize| (scores.sample_id(position), scores.epoch(position), position as u32);
        let mut rows: Vec<(&str, u32, u32)> = (0..scores.len()).map(at).collect();
        let is_sorted = rows.is_sorted();
        match keys {
            [] => {
                if !is_sorted {
                    rows.sort_unstable();
                }
                let chunks = rows.chunk_by(|a, b| a.0 == b.0);
                let ends = ends(chunks.map(<[_]>::len));
                let positions = rows.into_iter().map(|(_, _, position)| position).collect();
                let samples = ends.len();
                Ok(ScoreUnits { positions, ends, samples, is_clustered: false })
            }
            [key] => {
                let RowClusters { ids, of_positions } = RowClusters::by_key(metric, key, scores)?;
                let mut members: Vec<(u32, (&str, u32, u32))> = of_positions.into_iter().zip(rows).collect();
                let ranks = ranks(&ids);
                let rank = |id: u32| ranks.get(id as usize).copied().unwrap_or(u32::MAX);
                members.sort_unstable_by_key(|(id, row)| (rank(*id), *row));
                let ends = ends(members.chunk_by(|a, b| a.0 == b.0).map(<[_]>::len));
                let samples = members.chunk_by(|(a, row), (b, next)| a == b && row.0 == next.0).count();
                let positions = members.into_iter().map(|(_, row)| row.2).collect();
                Ok(ScoreUnits { positions, ends, samples, is_clustered: true })
            }
            _ => Err(Error::undefined(metric, "no bootstrap with two cluster keys")),
        }
    }

    /// The units of the plan of the scores. A cluster key that does not fit is a reason why there is no error: the number
    /// stands.
    ///
    /// # Errors
    /// Anything else.
    pub fn of_plan(metric: &str, scores: &Scores<'_>) -> Result<Defined<Self>> {
        ScoreUnits::of_keys(metric, scores, &scores.estimation().errors.cluster)
    }

    /// The same for other keys.
    ///
    /// # Errors
    /// As above.
    pub fn of_keys(metric: &str, scores: &Scores<'_>, keys: &[String]) -> Result<Defined<Self>> {
        match ScoreUnits::of(metric, scores, keys) {
            Ok(units) => Ok(Ok(units)),
            Err(error) if error.is_about_clusters() => Ok(Err(Undefined::Other(error.to_string()))),
            Err(Error::Undefined { problem, .. }) => Ok(Err(Undefined::Other(problem))),
            Err(error) => Err(error),
        }
    }

    /// The same units with other positions, which `map` adds for those of each unit.
    pub fn mapped(&self, map: impl Fn(&[u32], &mut Vec<u32>)) -> Self {
        let (mut positions, mut ends) = (Vec::with_capacity(self.positions.len()), Vec::new());
        for unit in self.iter() {
            map(unit, &mut positions);
            ends.push(positions.len() as u32);
        }
        ScoreUnits { positions, ends, samples: self.samples, is_clustered: self.is_clustered }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The number of units.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// The number of samples.
    pub fn samples(&self) -> usize {
        self.samples
    }

    /// Whether the units are clusters of samples.
    pub fn is_clustered(&self) -> bool {
        self.is_clustered
    }

    /// The positions of the scores of each unit.
    pub fn iter(&self) -> impl Iterator<Item = &[u32]> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        let part = |(start, end): (u32, &u32)| self.positions.get(start as usize..*end as usize);
        starts.zip(&self.ends).map(move |range| part(range).unwrap_or_default())
    }

    /// The unit of each position.
    pub fn of_positions(&self) -> Vec<u32> {
        let mut units = vec![0; self.positions.len()];
        for (unit, positions) in self.iter().enumerate() {
            for position in positions {
                if let Some(slot) = units.get_mut(*position as usize) {
                    *slot = unit as u32;
                }
            }
        }
        units
    }
}

/// Where parts of these lengths end.
fn ends(lengths: impl Iterator<Item = usize>) -> Vec<u32> {
    let add = |end: &mut u32, length: usize| {
        *end += length as u32;
        Some(*end)
    };
    lengths.scan(0, add).collect()
}

/// The rank of each id among all.
fn ranks(ids: &Interner<LeafKey>) -> Vec<u32> {
    let mut order: Vec<usize> = (0..ids.len()).collect();
    order.sort_unstable_by_key(|id| ids.get(*id));
    let mut ranks = vec![0; order.len()];
    for (rank, id) in order.into_iter().enumerate() {
        if let Some(slot) = ranks.get_mut(id) {
            *slot = rank as u32;
        }
    }
    ranks
}
