//! The methods of intervals, one file each. A new one is a file and a line in the list.

mod bootstrap;
mod bootstrap_t;
mod t;
pub(crate) mod wilson;

use super::clustered::ClusteredScores;
use super::independent::IndependentScores;
use super::kind::Extent;
use super::{ErrorPlan, Interval, IntervalMethod, Maybe, ScoreKind, StdError, Undefined};

/// What an interval of a mean is computed from.
pub(super) struct IntervalInput<'a> {
    pub(super) n: u64,
    pub(super) mean: f64,
    pub(super) error: &'a Maybe<StdError>,
    /// The scores are independent, and the error is s/√n.
    pub(super) independent: bool,
    /// What all scores are, of which these may be a group.
    pub(super) kind: ScoreKind,
    pub(super) extent: Option<Extent>,
    pub(super) sample: DrawSource<'a>,
    pub(super) plan: &'a ErrorPlan,
    pub(super) seed: u64,
}

/// What can be resampled.
pub(super) enum DrawSource<'a> {
    None,
    Scores(&'a IndependentScores),
    Clusters(&'a ClusteredScores),
}

/// One method of an interval.
pub(super) struct IntervalFormula {
    pub(super) name: IntervalMethod,
    pub(super) interval: fn(&IntervalInput<'_>, f64) -> Maybe<Interval>,
}

/// All methods.
pub(super) const METHODS: &[&IntervalFormula] =
    &[&wilson::METHOD, &t::METHOD, &bootstrap::METHOD, &bootstrap_t::METHOD];

impl IntervalFormula {
    pub(super) fn named(name: IntervalMethod) -> Option<&'static IntervalFormula> {
        METHODS.iter().copied().find(|method| method.name == name)
    }
}

impl IntervalInput<'_> {
    /// The range of scores: that of the plan, or 0 to 1 if all scores are within. The error is why there is none.
    pub(super) fn range(&self) -> Result<(f64, f64), String> {
        let Some((low, high)) = self.plan.range else {
            return match self.kind {
                ScoreKind::Binary | ScoreKind::Unit => Ok((0.0, 1.0)),
                ScoreKind::Unbounded => Err("range unknown".to_owned()),
            };
        };
        let within = |x: f64| (low..=high).contains(&x);
        let inside = self.extent.map_or(within(self.mean), |e| within(e.least) && within(e.greatest));
        if inside { Ok((low, high)) } else { Err(format!("a score lies outside the range {low} to {high}")) }
    }

    /// Whether all scores are 0 or 1, and the range is that, too.
    pub(super) fn is_binary(&self) -> bool {
        self.kind == ScoreKind::Binary && matches!(self.plan.range, None | Some((0.0, 1.0)))
    }

    /// The number of clusters, the smaller one if there are two ways; n for independent scores.
    pub(super) fn units(&self) -> u64 {
        let clusters = self.error.as_ref().ok().and_then(|error| error.clusters.iter().min());
        clusters.copied().unwrap_or(self.n)
    }

    /// The standard error of scores that differ.
    pub(super) fn spread(&self) -> Maybe<&StdError> {
        match self.error {
            Ok(error) if error.se == 0.0 => Err(Undefined::NoSpread { n: self.n }),
            Ok(error) => Ok(error),
            Err(reason) => Err(reason.clone()),
        }
    }
}

/// An interval whose ends are numbers.
fn finite(lower: f64, upper: f64, level: f64, method: IntervalMethod, df: Option<f64>) -> Maybe<Interval> {
    if lower.is_finite() && upper.is_finite() {
        Ok(Interval { lower, upper, level, method, df })
    } else {
        Err(Undefined::Overflow)
    }
}
