//! Scores that belong together: by one metadata key, by two, or by sample.

use super::bytes::{Encode, MAX_COUNT, byte, invalid};
use super::cluster_error::{ErrorFigure, one_way};
use super::clusters::{ClusteredGroup, Clusters, identify, spanning_error, spans};
use super::independent::IndependentScores;
use super::kind::Extent;
use crate::error::Result;
use crate::error_plan::ErrorPlan;
use crate::naming::Interner;
use crate::random::Random;
use crate::scores::Scores;
use crate::value::LeafKey;
use errorbar_stats::exact::Moments;

/// What clustered scores are summed up to.
#[derive(Clone, Debug)]
pub struct ClusteredScores {
    /// Of all scores, for the error that there would be without clusters.
    pub(super) moments: Moments,
    pub(super) extent: Extent,
    ways: Clustering,
}

/// The ways of clustering.
#[derive(Clone, Debug)]
enum Clustering {
    One(Clusters),
    Two(Box<TwoWayClusters>),
}

/// Clusters by one key, by another, and by both at once.
#[derive(Clone, Debug, Default)]
struct TwoWayClusters {
    first: Clusters,
    second: Clusters,
    both: Clusters<(LeafKey, LeafKey)>,
}

impl ClusteredScores {
    /// For this number of cluster keys; none is clustering by sample.
    pub(super) fn new(keys: usize) -> Self {
        let ways =
            if keys < 2 { Clustering::One(Clusters::default()) } else { Clustering::Two(Box::default()) };
        ClusteredScores { moments: Moments::new(), extent: Extent::NONE, ways }
    }

    /// Clusters of one way, without the scores behind them: each has only the moments and the ends of its scores.
    pub(super) fn from_parts<'p>(parts: impl Iterator<Item = (&'p Moments, Extent)>) -> Self {
        let (mut moments, mut extent, mut clusters) = (Moments::new(), Extent::NONE, Clusters::default());
        for (of_cluster, ends) in parts {
            moments.merge(of_cluster);
            extent = extent.and(ends);
            clusters.push(of_cluster.count(), of_cluster.sum().clone());
        }
        ClusteredScores { moments, extent, ways: Clustering::One(clusters) }
    }

    pub(super) fn update(
        &mut self,
        metric: &str,
        plan: &ErrorPlan,
        scores: &Scores<'_>,
        numbers: &[f64],
    ) -> Result<()> {
        match (&mut self.ways, plan.cluster.as_slice()) {
            (Clustering::One(clusters), []) => by_sample(clusters, scores, numbers)?,
            (Clustering::One(clusters), [key]) => clusters.update(metric, key, scores, numbers)?,
            (Clustering::Two(ways), [first, second]) => {
                ways.first.update(metric, first, scores, numbers)?;
                ways.second.update(metric, second, scores, numbers)?;
                by_two(&mut ways.both, [first, second], metric, scores, numbers)?;
            }
            _ => return Err(invalid("it is for another number of cluster keys")),
        }
        self.moments.extend(numbers);
        self.extent = self.extent.and(Extent::of(numbers));
        Ok(())
    }

    pub(super) fn merge(&mut self, other: &ClusteredScores) -> Result<()> {
        if self.moments.count() + other.moments.count() > MAX_COUNT {
            return Err(invalid("a count beyond 2^53"));
        }
        match (&mut self.ways, &other.ways) {
            (Clustering::One(to), Clustering::One(from)) => to.merge(from),
            (Clustering::Two(to), Clustering::Two(from)) => {
                to.first.merge(&from.first);
                to.second.merge(&from.second);
                to.both.merge(&from.both);
            }
            _ => return Err(invalid("summaries of different plans cannot be merged")),
        }
        self.moments.merge(&other.moments);
        self.extent = self.extent.and(other.extent);
        Ok(())
    }

    pub(super) fn write(&self, out: &mut Vec<u8>) {
        self.moments.put(out);
        self.extent.put(out);
        match &self.ways {
            Clustering::One(clusters) => {
                out.push(1);
                clusters.write(out);
            }
            Clustering::Two(ways) => {
                out.push(2);
                ways.first.write(out);
                ways.second.write(out);
                ways.both.write(out);
            }
        }
    }

    pub(super) fn read(bytes: &mut &[u8]) -> Result<Self> {
        let (moments, extent) = (Moments::get(bytes)?, Extent::get(bytes)?);
        let ways = match byte(bytes)? {
            1 => Clustering::One(Clusters::read(bytes)?),
            2 => Clustering::Two(Box::new(TwoWayClusters {
                first: Clusters::read(bytes)?,
                second: Clusters::read(bytes)?,
                both: Clusters::read(bytes)?,
            })),
            _ => return Err(invalid("an unknown number of cluster keys")),
        };
        let fits = match &ways {
            Clustering::One(clusters) => fits(clusters, &moments),
            Clustering::Two(ways) => {
                fits(&ways.first, &moments) && fits(&ways.second, &moments) && fits(&ways.both, &moments)
            }
        };
        if !fits || !extent.fits(&moments) {
            return Err(invalid("clusters that do not add up to the scores"));
        }
        Ok(ClusteredScores { moments, extent, ways })
    }

    /// The same scores without their clusters; their values are not known any more.
    pub(super) fn to_plain(&self) -> IndependentScores {
        IndependentScores::without_values(self.moments.clone(), self.extent)
    }

    /// The first way of clustering, for a bootstrap; `None` if there are two.
    pub(super) fn single(&self) -> Option<&Clusters> {
        match &self.ways {
            Clustering::One(clusters) => Some(clusters),
            Clustering::Two(_) => None,
        }
    }

    /// The share of the scores that the largest cluster has.
    pub(super) fn largest_share(&self) -> f64 {
        let largest = match &self.ways {
            Clustering::One(clusters) => clusters.largest(),
            Clustering::Two(ways) => ways.first.largest().max(ways.second.largest()),
        };
        largest as f64 / self.moments.count().max(1) as f64
    }

    /// The standard error, and what is to be known about it.
    pub(super) fn error(&self, plan: &ErrorPlan, random: &Random) -> ErrorFigure {
        let method = plan.clustered_method();
        match &self.ways {
            Clustering::One(clusters) => {
                let figure = one_way(clusters, method, plan.draws(), random);
                ErrorFigure::one_way(method, figure, clusters.len() as u64)
            }
            Clustering::Two(ways) => {
                let TwoWayClusters { first, second, both } = ways.as_ref();
                // One after the other: an error that does not exist costs no draws of the others.
                let figures = one_way(first, method, plan.draws(), random).and_then(|first| {
                    let second = one_way(second, method, plan.draws(), random)?;
                    Ok([first, second, one_way(both, method, plan.draws(), random)?])
                });
                ErrorFigure::two_way(method, figures, [first.len() as u64, second.len() as u64])
            }
        }
    }
}

/// The standard error of the weighted mean of groups, if a cluster spans groups: then they are not independent. The weights
/// add up to 1.
pub(super) fn error_of_groups(
    groups: &[(&ClusteredScores, f64)],
    plan: &ErrorPlan,
    random: &Random,
) -> Option<ErrorFigure> {
    let (method, draws) = (plan.clustered_method(), plan.draws());
    let (mut one, mut two) = (Vec::new(), Vec::new());
    for (scores, weight) in groups {
        match &scores.ways {
            Clustering::One(clusters) => one.push(group(clusters, *weight)),
            Clustering::Two(ways) => two.push((ways.as_ref(), *weight)),
        }
    }
    if two.is_empty() {
        return spans(&one).then(|| match spanning_error(&one, method, draws, random) {
            Ok((way, clusters)) => ErrorFigure::one_way(method, Ok(way), clusters),
            Err(reason) => ErrorFigure::new(Err(reason)),
        });
    }
    let first: Vec<_> = two.iter().map(|(ways, weight)| group(&ways.first, *weight)).collect();
    let second: Vec<_> = two.iter().map(|(ways, weight)| group(&ways.second, *weight)).collect();
    if !spans(&first) && !spans(&second) {
        return None;
    }
    let both: Vec<_> = two.iter().map(|(ways, weight)| group(&ways.both, *weight)).collect();
    let errors = spanning_error(&first, method, draws, random).and_then(|(first, a)| {
        let (second, b) = spanning_error(&second, method, draws, random)?;
        Ok(([first, second, spanning_error(&both, method, draws, random)?.0], [a, b]))
    });
    Some(match errors {
        Ok((ways, clusters)) => ErrorFigure::two_way(method, Ok(ways), clusters),
        Err(reason) => ErrorFigure::new(Err(reason)),
    })
}

fn group<Id>(clusters: &Clusters<Id>, weight: f64) -> ClusteredGroup<'_, Id> {
    ClusteredGroup { clusters, weight }
}

/// Whether clusters add up to the scores.
fn fits<Id: Clone + Eq + std::hash::Hash>(clusters: &Clusters<Id>, moments: &Moments) -> bool {
    clusters.checked_n() == Some(moments.count()) && clusters.total() == *moments.sum()
}

/// Clusters scores by the id of their sample.
fn by_sample(clusters: &mut Clusters, scores: &Scores<'_>, numbers: &[f64]) -> Result<()> {
    let mut ids: Interner<&str> = Interner::default();
    let mut codes: Vec<u32> = Vec::with_capacity(scores.len());
    for at in 0..scores.len() {
        let id = scores.sample_id(at);
        // Epochs of a sample follow each other, or all samples come again in the same order: then nothing is hashed.
        let last = codes.last().copied().unwrap_or(0);
        let next = if last as usize + 1 < ids.len() { last + 1 } else { 0 };
        let guess = [last, next].into_iter().find(|code| ids.get(*code as usize) == Some(&id));
        codes.push(guess.unwrap_or_else(|| ids.intern(id)));
    }
    clusters.add(&codes, ids.len(), numbers, &|code, _| {
        Ok(LeafKey::Text(ids.get(code).copied().unwrap_or_default().to_owned()))
    })
}

/// Clusters scores by two metadata keys at once.
fn by_two(
    clusters: &mut Clusters<(LeafKey, LeafKey)>,
    keys: [&String; 2],
    metric: &str,
    scores: &Scores<'_>,
    numbers: &[f64],
) -> Result<()> {
    let columns = keys.map(|key| scores.key(metric, key));
    let (first, second) = (scores.codes(&columns[0])?, scores.codes(&columns[1])?);
    let mut pairs: Interner<(u32, u32)> = Interner::default();
    let pairs_of_rows = first.iter().copied().zip(second.iter().copied());
    let codes: Vec<u32> = pairs_of_rows.map(|pair| pairs.intern(pair)).collect();
    clusters.add(&codes, pairs.len(), numbers, &|code, at| {
        let (a, b) = pairs.get(code).copied().unwrap_or_default();
        let id = |way: usize, code: u32| {
            let (key, column) = (keys.get(way), columns.get(way));
            let json = column.and_then(|column| column.value(code as usize));
            identify(metric, key.map_or("", |key| key.as_str()), json, scores, at)
        };
        Ok((id(0, a)?, id(1, b)?))
    })
}
