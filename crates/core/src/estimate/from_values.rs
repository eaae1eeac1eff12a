//! Summaries of scores that are given as values with counts instead of as rows: what simulations are made of.

use super::Summary;
use super::bytes::invalid;
use super::clustered::ClusteredScores;
use super::kind::Extent;
use crate::error::Result;
use crate::error_plan::ErrorPlan;
use errorbar_stats::exact::Moments;

/// Scores that stay together: their moments and their ends are all that a clustered error is made of.
#[derive(Clone, Debug)]
pub struct UnitScores {
    moments: Moments,
    extent: Extent,
}

impl UnitScores {
    /// Scores given as values with how often each occurs.
    pub fn new(values: &[(f64, u64)]) -> Self {
        let mut moments = Moments::new();
        values.iter().for_each(|(value, times)| moments.push_times(*value, *times));
        let present = values.iter().filter(|(_, times)| *times > 0);
        let floats: Vec<f64> = present.map(|(value, _)| value + 0.0).collect();
        UnitScores { moments, extent: Extent::of(&floats) }
    }
}

impl Summary {
    /// Independent scores, given as values with how often each occurs.
    ///
    /// ```
    /// use errorbar_core::{ErrorPlan, Random, ScoreKind, Summary};
    ///
    /// let plan = ErrorPlan::new();
    /// let summary = Summary::from_values(&plan, &[(0.0, 2), (1.0, 8)])?;
    /// let interval = summary.estimate(&plan, ScoreKind::Binary, &Random::default()).interval?;
    /// assert!((interval.lower - 0.4902).abs() < 5e-5 && (interval.upper - 0.9433).abs() < 5e-5);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// A value that is not finite, or a plan with clusters.
    pub fn from_values(plan: &ErrorPlan, values: &[(f64, u64)]) -> Result<Summary> {
        check(values)?;
        let mut values: Vec<(f64, u64)> = values
            .iter()
            .filter(|(_, times)| *times > 0)
            .map(|(value, times)| (value + 0.0, *times))
            .collect();
        values.sort_unstable_by(|(a, _), (b, _)| a.total_cmp(b));
        values.dedup_by(|(value, times), (kept, total)| {
            let is_same = value == kept;
            *total += if is_same { *times } else { 0 };
            is_same
        });
        Summary::of_sorted(plan, values)
    }

    /// The same for finite values that are distinct and ascending, each with a count above 0.
    pub fn of_sorted(plan: &ErrorPlan, values: Vec<(f64, u64)>) -> Result<Summary> {
        let mut summary = Summary::for_plan(plan, false);
        match &mut summary {
            Summary::Moments(plain) | Summary::Tally(plain) => plain.add_values(values),
            Summary::Clusters(_) => return Err(invalid("the plan has clusters, and the values have none")),
        }
        Ok(summary)
    }

    /// Scores by cluster, each cluster given as values with how often each occurs in it.
    ///
    /// # Errors
    /// A value that is not finite, or a cluster without scores.
    pub fn from_clusters<C: AsRef<[(f64, u64)]>>(clusters: &[C]) -> Result<Summary> {
        for cluster in clusters {
            check(cluster.as_ref())?;
            if cluster.as_ref().iter().all(|(_, times)| *times == 0) {
                return Err(invalid("a cluster without scores"));
            }
        }
        let units: Vec<UnitScores> =
            clusters.iter().map(|cluster| UnitScores::new(cluster.as_ref())).collect();
        Ok(Summary::of_units(units.iter()))
    }

    /// The same for units that were made before; none of them is empty.
    pub fn of_units<'u>(units: impl Iterator<Item = &'u UnitScores>) -> Summary {
        Summary::Clusters(ClusteredScores::from_parts(units.map(|unit| (&unit.moments, unit.extent))))
    }
}

fn check(values: &[(f64, u64)]) -> Result<()> {
    match values.iter().all(|(value, _)| value.is_finite()) {
        true => Ok(()),
        false => Err(invalid("a value that is not finite")),
    }
}
