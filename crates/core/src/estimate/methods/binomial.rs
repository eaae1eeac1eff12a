//! Intervals of a share from the binomial distribution: Clopper and Pearson's, and credible intervals of beta priors.
//!
//! They are for zeros and ones. If those are not independent, x successes of n become x* = p·n* of the effective n* (Korn &
//! Graubard, "Confidence intervals for proportions with small expected number of positive counts estimated from survey data",
//! Survey Methodology 24, 1998): n* = p(1−p)/V · (t_{n−1}/t_{df})², at most n, with the variance V and its degrees of freedom.

use super::wilson::{is_plain, wilson};
use super::{Ends, IntervalInput};
use crate::error_plan::{BetaPrior, IntervalMethod};
use crate::estimate::{Defined, ScoreKind, Undefined};
use errorbar_stats::distributions::{beta_quantile, beta_survival_quantile, normal_quantile, t_quantile};

/// Jeffreys' prior.
const JEFFREYS: BetaPrior = BetaPrior { a: 0.5, b: 0.5 };

/// Wilson's interval of as many trials as would have this variance. Their number allows for the degrees of freedom, so that
/// the quantile is the normal one.
pub(super) fn modified_wilson(input: &IntervalInput<'_>, confidence: f64) -> Defined<Ends> {
    let trials = trials(input, IntervalMethod::ModifiedWilson, confidence)?;
    let n = trials.successes + trials.failures;
    let (lower, upper) = wilson(trials.successes / n, n, normal_quantile(confidence));
    Ok(Ends { lower, upper, df: trials.df })
}

/// Clopper & Pearson, "The use of confidence or fiducial limits illustrated in the case of the binomial", 1934: quantiles of
/// Beta(x, n−x+1) and Beta(x+1, n−x); 0 at no success, 1 at no failure.
pub(super) fn clopper_pearson(input: &IntervalInput<'_>, confidence: f64) -> Defined<Ends> {
    let Trials { successes: x, failures: y, df } = trials(input, IntervalMethod::ClopperPearson, confidence)?;
    let lower = if x == 0.0 { 0.0 } else { beta_quantile(1.0 - confidence, x, y + 1.0) };
    let upper = if y == 0.0 { 1.0 } else { beta_survival_quantile(1.0 - confidence, x + 1.0, y) };
    Ok(Ends { lower, upper, df })
}

/// Equal-tailed, with Brown, Cai & DasGupta's ends ("Interval estimation for a binomial proportion", 2001): 0 at no success, 1
/// at no failure.
pub(super) fn jeffreys(input: &IntervalInput<'_>, confidence: f64) -> Defined<Ends> {
    let trials = trials(input, IntervalMethod::Jeffreys, confidence)?;
    let mut ends = trials.credible(JEFFREYS, confidence);
    if trials.successes == 0.0 {
        ends.lower = 0.0;
    }
    if trials.failures == 0.0 {
        ends.upper = 1.0;
    }
    Ok(ends)
}

/// The equal-tailed credible interval of a beta prior.
pub(super) fn beta(input: &IntervalInput<'_>, prior: BetaPrior, confidence: f64) -> Defined<Ends> {
    Ok(trials(input, IntervalMethod::Beta(prior), confidence)?.credible(prior, confidence))
}

/// Independent zeros and ones, or as many as would have this variance.
struct Trials {
    successes: f64,
    failures: f64,
    /// The degrees of freedom of the variance, if they are not independent.
    df: Option<f64>,
}

impl Trials {
    fn new(share: f64, n: f64, df: Option<f64>) -> Self {
        Trials { successes: share * n, failures: (1.0 - share) * n, df }
    }

    fn credible(&self, prior: BetaPrior, confidence: f64) -> Ends {
        let (a, b) = (prior.a + self.successes, prior.b + self.failures);
        let (lower, upper) =
            (beta_quantile(1.0 - confidence, a, b), beta_survival_quantile(1.0 - confidence, a, b));
        Ends { lower, upper, df: self.df }
    }
}

fn trials(input: &IntervalInput<'_>, method: IntervalMethod, confidence: f64) -> Defined<Trials> {
    let n = input.n as f64;
    if !input.is_binary() {
        let name = method.name();
        return Err(Undefined::Other(match (input.kind, input.plan.range) {
            (ScoreKind::Binary, Some((low, high))) => {
                format!("{name} is for scores of 0 and 1, not for a range of {low} to {high}")
            }
            _ => format!(
                "{name} is for scores of 0 and 1, and there are others; wilson, t and bca are for those"
            ),
        }));
    }
    // Sampling without replacement leaves a part of the variance out.
    let most = n / (1.0 - input.sampled);
    if is_plain(input) {
        let successes = (input.mean * n).round();
        if input.sampled > 0.0 {
            return Ok(Trials::new(successes / n, most, None));
        }
        return Ok(Trials { successes, failures: n - successes, df: None });
    }
    let error = input.error.as_ref().map_err(Clone::clone)?;
    let (p, df) = (input.mean.clamp(0.0, 1.0), Some(error.df));
    let spread = p * (1.0 - p);
    if !(error.se > 0.0 && spread > 0.0) {
        return Ok(Trials::new(p, input.units() as f64 / (1.0 - input.sampled), df));
    }
    let adjusted = t_quantile(confidence, (n - 1.0).max(1.0)) / t_quantile(confidence, error.df);
    // Both quantiles are 0 at the median.
    let adjusted = if adjusted.is_finite() { adjusted } else { 1.0 };
    Ok(Trials::new(p, (spread / error.se / error.se * adjusted * adjusted).clamp(1.0, most), df))
}

/// The number of independent scores that it is computed from, if they are not independent themselves.
pub(in crate::estimate) fn effective_n(input: &IntervalInput<'_>, method: IntervalMethod) -> Option<f64> {
    let confidence = input.plan.side().confidence_of_ends(input.plan.level());
    let trials = trials(input, method, confidence).ok()?;
    Some(trials.successes + trials.failures)
}
