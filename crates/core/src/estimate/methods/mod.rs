//! The methods of intervals, a file for each kind. A new one is a function and a line in [`ends`].

pub(super) mod binomial;
pub(super) mod bootstrap;
pub(crate) mod wilson;

use super::clustered::ClusteredScores;
use super::independent::IndependentScores;
use super::kind::Extent;
use super::{Defined, Interval, ScoreKind, StdError, Undefined};
use crate::error_plan::{ErrorPlan, IntervalMethod, IntervalSide};
use errorbar_stats::distributions::t_quantile;

/// What an interval of a mean is computed from.
pub(super) struct IntervalInput<'a> {
    pub(super) n: u64,
    pub(super) mean: f64,
    pub(super) error: &'a Defined<StdError>,
    /// The scores are independent, and the error is s/√n.
    pub(super) independent: bool,
    /// What all scores are, of which these may be a group.
    pub(super) kind: ScoreKind,
    pub(super) extent: Option<Extent>,
    pub(super) sample: DrawSource<'a>,
    pub(super) plan: &'a ErrorPlan,
    /// The share of the population that has a score, 0 if there is none; the error allows for it already.
    pub(super) sampled: f64,
    pub(super) seed: u64,
}

/// What can be resampled.
pub(super) enum DrawSource<'a> {
    None,
    Scores(&'a IndependentScores),
    Clusters(&'a ClusteredScores),
}

/// The two ends that a method gives; an end that is no bound of a one-sided interval may be infinite.
pub(super) struct Ends {
    pub(super) lower: f64,
    pub(super) upper: f64,
    /// The degrees of freedom of the quantile, where it has any.
    pub(super) df: Option<f64>,
}

impl Ends {
    fn new(lower: f64, upper: f64) -> Self {
        Ends { lower, upper, df: None }
    }
}

/// Both ends, each with this confidence: 0.975 for those of a two-sided interval of level 0.95, 0.95 for a bound.
fn ends(input: &IntervalInput<'_>, method: IntervalMethod, confidence: f64) -> Defined<Ends> {
    match method {
        IntervalMethod::Wilson => wilson::ends(input, confidence),
        IntervalMethod::ModifiedWilson => binomial::modified_wilson(input, confidence),
        IntervalMethod::T => by_t(input, confidence),
        IntervalMethod::Bootstrap => bootstrap::percentile(input, confidence),
        IntervalMethod::Bca => bootstrap::bca(input, confidence),
        IntervalMethod::BootstrapT => bootstrap::studentised(input, confidence),
        IntervalMethod::Exact => bootstrap::exact(input, confidence),
        IntervalMethod::ClopperPearson => binomial::clopper_pearson(input, confidence),
        IntervalMethod::Jeffreys => binomial::jeffreys(input, confidence),
        IntervalMethod::Beta(prior) => binomial::beta(input, prior, confidence),
        IntervalMethod::Wild(weights) => bootstrap::wild(input, weights, confidence),
        IntervalMethod::Logit
        | IntervalMethod::OrderStatistics
        | IntervalMethod::EmpiricalBayes
        | IntervalMethod::Betting
        | IntervalMethod::BonettPrice
        | IntervalMethod::Newcombe
        | IntervalMethod::Custom => Err(Undefined::NotAvailable),
    }
}

/// x̄ ± t·se.
fn by_t(input: &IntervalInput<'_>, confidence: f64) -> Defined<Ends> {
    let error = input.spread()?;
    let margin = t_quantile(confidence, error.df) * error.se;
    Ok(Ends { lower: input.mean - margin, upper: input.mean + margin, df: Some(error.df) })
}

/// The interval of a method: two ends, or one where the plan wants a bound.
pub(super) fn interval(input: &IntervalInput<'_>, method: IntervalMethod) -> Defined<Interval> {
    let (level, side) = (input.plan.level(), input.plan.side());
    side.check_level(level).map_err(Undefined::Other)?;
    let mut ends = ends(input, method, side.confidence_of_ends(level))?;
    if method.is_resampled() {
        // Resamples know nothing of the population. What they leave out is a part of the variance, whatever its shape.
        let shrunk = |end: f64| input.mean + (1.0 - input.sampled).sqrt() * (end - input.mean);
        if input.sampled > 0.0 {
            (ends.lower, ends.upper) = (shrunk(ends.lower), shrunk(ends.upper));
        }
    }
    let is_bound = |end: f64, open: IntervalSide| end.is_finite() || side == open;
    if !(is_bound(ends.lower, IntervalSide::Upper) && is_bound(ends.upper, IntervalSide::Lower)) {
        return Err(Undefined::Overflow);
    }
    let interval = Interval::new(ends.lower, ends.upper, level, method).with_df(ends.df);
    Ok(interval.one_sided(side, input.range().ok()))
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
        let (least, greatest) = self.extent.map_or((self.mean, self.mean), |e| (e.least, e.greatest));
        let outside = || format!("a score lies outside the range {low} to {high}");
        self.plan.range_of(least, greatest).ok_or_else(outside)
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
    pub(super) fn spread(&self) -> Defined<&StdError> {
        match self.error {
            Ok(error) if error.se == 0.0 => Err(Undefined::NoSpread { n: self.n }),
            Ok(error) => Ok(error),
            Err(reason) => Err(reason.clone()),
        }
    }
}
