//! What intervals for a mean are made of: the moments of the scores, or their sums by cluster.

use super::cluster::Clusters;
use crate::columns::Numbers;
use crate::error::Result;
use crate::scores::Scores;
use crate::stats::Moments;
use crate::value::Conversion;

/// The scores seen so far, as far as an interval for their mean needs them.
#[derive(Clone, Debug)]
pub(super) struct Spread {
    metric: &'static str,
    conversion: Conversion,
    seen: Seen,
}

#[derive(Clone, Debug)]
pub(super) enum Seen {
    Plain(Moments),
    Clustered(String, Clusters),
}

impl Spread {
    pub(super) fn new(metric: &'static str, conversion: Conversion, cluster: Option<&String>) -> Self {
        let seen = match cluster {
            None => Seen::Plain(Moments::default()),
            Some(key) => Seen::Clustered(key.clone(), Clusters::default()),
        };
        Spread { metric, conversion, seen }
    }

    /// Takes in scores that pass a check.
    pub(super) fn update(
        &mut self,
        scores: &Scores<'_>,
        check: impl FnOnce(Numbers<'_>) -> Result<()>,
    ) -> Result<()> {
        let Spread { metric, conversion, seen } = self;
        scores.finite(metric, conversion, |numbers| {
            check(numbers)?;
            match seen {
                Seen::Plain(moments) => numbers.add_to(moments),
                Seen::Clustered(key, clusters) => clusters.update(metric, key, scores, numbers)?,
            }
            Ok(())
        })?
    }

    /// Takes in all that another has seen.
    pub(super) fn merge(&mut self, other: &Spread) {
        match (&mut self.seen, &other.seen) {
            (Seen::Plain(to), Seen::Plain(from)) => to.merge(from),
            (Seen::Clustered(_, to), Seen::Clustered(_, from)) => to.merge(from),
            // The same metric has the same cluster key, so this does not arise.
            _ => {}
        }
    }

    pub(super) fn seen(&self) -> &Seen {
        &self.seen
    }
}
