//! `ci_wilson`: the Wilson score interval for a proportion.

use super::level::{DEFAULT_LEVEL, check_level};
use super::summary::{Computation, Figure, SummaryMetric, SummaryPart, SummaryState};
use crate::error::{Error, Result};
use crate::error_plan::{Estimation, IntervalMethod};
use crate::estimate::{Estimate, Interval, Undefined, wilson};
use crate::evaluation::Role;
use crate::registry::Params;
use crate::value::Conversion;
use errorbar_stats::distributions::{normal_quantile, t_quantile};

/// Wilson interval (lower, upper) for the mean of scores in [0, 1]; accurate at small n, unlike x̄ ± t·se.
///
/// # Formula
/// ```text
/// (p + z²/2n ± z·√(p(1−p)/n + z²/4n²)) / (1 + z²/n)
/// with clusters: n = p(1−p)/SE², at most the number of scores, and t(G−1) for z
/// ```
///
/// # When
/// The interval of a share as a figure of its own, as logs record it. It holds its level from the first few samples
/// on, also near 0 and 1.
///
/// # Example
/// ```console
/// $ printf '%s\n' id,subject,score 1,law,C 2,law,I 3,law,C 4,art,C 5,art,C 6,art,I > exam.csv
/// $ errorbar score exam.csv --metric 'ci_wilson(level=0.9)'
/// exam.csv · 6 rows
///
/// score · 6 scored
///                                 0                                       1
///   ci_wilson  0.67 [0.35, 0.88]                ├────────────●────────┤      only 6 scores · level=0.9
///
/// [90 % interval: wilson] · ├─●─┤ the interval
/// ```
///
/// # See also
/// `ci`, `accuracy`, `stderr`
///
/// # Source
/// Wilson 1927, "Probable inference, the law of succession, and statistical inference".
#[derive(Clone, Debug, Default, Params)]
#[params(crate = crate, name = "ci_wilson", reference)]
pub struct CiWilson {
    /// The confidence level.
    #[param(default = DEFAULT_LEVEL, check = check_level)]
    level: Option<f64>,
    /// How values become numbers.
    #[param(default = Conversion::default())]
    to_float: Option<Conversion>,
    /// The metadata key that samples of one cluster share.
    cluster: Option<String>,
}

/// Wilson's interval; with clusters on the effective n of the reference, never more than there are scores.
fn by_wilson(state: &SummaryState, part: &SummaryPart<'_>) -> Result<Estimate> {
    let summary = part.summary;
    let (n, level) = (summary.n(), state.errors.level());
    let upper_tail = 0.5 + level / 2.0;
    let mut estimate = Estimate::of(summary.mean().ok_or(Undefined::NoScores));
    let interval = |(lower, upper): (f64, f64), df: Option<f64>| {
        Interval::new(lower, upper, level, IntervalMethod::Wilson).with_df(df)
    };
    let (Some(clusters), [key]) = (summary.clusters(), state.errors.cluster.as_slice()) else {
        let of = |mean: f64| interval(wilson(mean, n as f64, normal_quantile(upper_tail)), None);
        estimate.interval = estimate.value.clone().map(of);
        return Ok(estimate);
    };
    let g = clusters.len();
    let Some(error) = clusters.stderr() else {
        let (metric, key) = (CiWilson::NAME.to_owned(), key.clone());
        return Err(Error::TooFewClusters { metric, key, clusters: g });
    };
    let (p, variance) = (summary.mean().unwrap_or(0.0), error * error);
    let spread = p * (1.0 - p);
    // The number of independent samples that would give this error, never more than there are.
    let effective = if spread > 0.0 && variance > 0.0 { (spread / variance).min(n as f64) } else { n as f64 };
    let df = (g - 1) as f64;
    estimate.interval = Ok(interval(wilson(p, effective, t_quantile(upper_tail, df)), Some(df)));
    estimate.notes.clusters = Some(g as u64);
    estimate.notes.effective_n = Some(effective);
    Ok(estimate)
}

impl SummaryMetric for CiWilson {
    fn figure(&self) -> Figure<'_> {
        Figure { role: Role::IntervalOf, to_float: &self.to_float, cluster: self.cluster.as_ref() }
    }

    fn computation(&self, estimation: &Estimation) -> Computation<Self> {
        let mut errors = self.figure().reference_errors();
        errors.level = Some(self.level_or_default());
        Computation::by_state(self, errors, estimation, by_wilson).of_proportions()
    }
}
