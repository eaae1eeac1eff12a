//! The interval of a mean as a figure of its own: `ci`, `ci_wilson`.

use super::{
    DEFAULT_NUM_SAMPLES, Figure, SummaryFigure, SummaryMetric, SummaryPart, check_held_samples, draws,
    seed_bits, take_means,
};
use crate::estimate::{Summary, wilson};
use crate::metrics::prelude::*;
use errorbar_stats::descriptive::quantile_linear;
use errorbar_stats::distributions::{normal_quantile, t_quantile};
use errorbar_stats::resampling::ResampledMeans;

/// The level of an interval for which none is given.
const DEFAULT_LEVEL: f64 = 0.95;

/// What is wrong with a level.
fn check_level(level: &f64) -> Result<(), String> {
    if *level > 0.0 && *level < 1.0 {
        return Ok(());
    }
    Err(format!("must lie between 0 and 1 (both excluded), found {level}; for 95 % write level=0.95"))
}

/// The method of [`ci`]: for `t` and `bootstrap` that of the reference.
impl ArgType for IntervalMethod {
    const EXPECTED: &'static str = "a method such as \"t\", \"bca\" or \"beta(prior=[1, 1])\"";

    fn from_arg(arg: &Arg, _: &Registry) -> Result<Self, ArgProblem> {
        let method = match arg {
            Arg::Str(text) => text.parse::<IntervalMethod>(),
            Arg::Spec(spec) => IntervalMethod::from_spec(spec),
            _ => return Err(ArgProblem::Expected(Self::EXPECTED)),
        };
        // There is no `auto` here: the metric says what it computes.
        method.map_err(|problem| match problem.strip_prefix("expected one of auto, ") {
            Some(rest) => ArgProblem::Wrong(format!("must be one of {rest}")),
            None => ArgProblem::Wrong(format!("is invalid: {problem}")),
        })
    }

    fn to_arg(&self) -> Arg {
        Arg::Str(self.to_string())
    }
}

/// Confidence interval for the mean (lower, upper), by t, by percentile bootstrap, or by another method.
///
/// Other methods are `wilson`, `modified_wilson`, `clopper_pearson`, `jeffreys`, `beta(prior=[a, b])`, `bca`, `bootstrap_t`, `exact` and `wild`.
/// The reference does not have them, so logs record the metric as `errorbar/ci` then.
///
/// # Formula
/// ```text
/// t:         x̄ ± t(n−1)·SE, with clusters t(G−1)
/// bootstrap: quantiles of the means of resamples
/// ```
///
/// # When
/// The interval as a figure of its own, as logs record it. For right and wrong answers, and for few samples,
/// `ci_wilson` holds its level and t does not; by default every mean has such an interval already.
///
/// # Example
/// ```console
/// $ printf '%s\n' id,score 1,0.2 2,0.4 3,0.4 4,0.7 5,0.8 6,0.9 > marks.csv
/// $ errorbar score marks.csv --metric mean --metric 'ci(0.9, method="bca")'
/// marks.csv · 6 rows
///
/// score · 6 scored
///                                   0                                       1
///   mean  0.57 ± 0.11 [0.40, 0.73]                  ├──────●──────┤            only 6 scores
///
/// ± one standard error · [90 % interval: bca] · ├─●─┤ the interval
/// ```
///
/// # See also
/// `ci_wilson`, `stderr`, `bootstrap`
///
/// # Source
/// BCa: Efron 1987, "Better bootstrap confidence intervals". Clopper & Pearson 1934. Jeffreys: Brown, Cai & DasGupta
/// 2001, "Interval estimation for a binomial proportion".
#[derive(Clone, Debug, Default, Params)]
#[params(crate = crate, name = "ci", reference)]
pub struct Ci {
    /// The confidence level.
    #[param(default = DEFAULT_LEVEL, check = check_level)]
    level: Option<f64>,
    /// How the interval is computed.
    #[param(default = IntervalMethod::T, reference = ["t", "bootstrap"])]
    method: Option<IntervalMethod>,
    /// The number of resamples of the bootstrap; 10000 for the other methods that draw, if unset.
    #[param(default = DEFAULT_NUM_SAMPLES, from = usize, map = Count, check = check_held_samples)]
    num_samples: Option<Count<usize>>,
    /// How values become numbers.
    #[param(default = Conversion::default())]
    to_float: Option<Conversion>,
    /// The metadata key that samples of one cluster share.
    cluster: Option<String>,
    /// The seed of the bootstrap; that of the plan if unset.
    #[param(map = seed_bits)]
    seed: Option<u64>,
    /// Which ends are bounds: both, or one, which has the whole level.
    #[param(default = IntervalSide::TwoSided, own)]
    side: Option<IntervalSide>,
}

impl SummaryMetric for Ci {
    fn figure(&self) -> Figure<'_> {
        Figure { role: Role::IntervalOf, to_float: &self.to_float, cluster: self.cluster.as_ref() }
    }

    fn of_summary(&self, _: &Estimation) -> Option<SummaryFigure> {
        let mut errors = self.figure().reference_errors();
        (errors.level, errors.side) = (Some(self.level_or_default()), self.side);
        match self.method_or_default() {
            IntervalMethod::Bootstrap => None,
            IntervalMethod::T => Some(SummaryFigure::new(self, errors, by_t)),
            method => {
                errors.interval = IntervalChoice::Method(method);
                errors.draws = self.num_samples.and_then(|Count(count)| u32::try_from(count).ok());
                if self.cluster.is_some() {
                    // What the reference has no number for is by our default.
                    errors.method = None;
                }
                Some(SummaryFigure { seed: self.seed, ..SummaryFigure::new(self, errors, by_method) })
            }
        }
    }

    fn resample(&self, scores: &Scores<'_>) -> Result<Estimate> {
        let (Count(count), level) = (self.num_samples_or_default(), self.level_or_default());
        let side = self.side_or_default();
        let draws = draws(scores, count, self.seed);
        let (conversion, errors) = (self.figure().conversion(), self.figure().reference_errors());
        let summary = scores.summary(Self::NAME, &conversion, &errors)?;
        let mut estimate = Estimate::of(summary.mean().ok_or(Undefined::NoScores));
        (estimate.n, estimate.absent) = (summary.n(), scores.absent() as u64);
        estimate.notes.clusters = summary.clusters().map(|clusters| clusters.len() as u64);
        estimate.interval = match (side.check_level(level), too_few(&summary)) {
            (Err(reason), _) => Err(Undefined::Other(reason)),
            (Ok(()), Some(reason)) => Err(reason),
            (Ok(()), None) => {
                let means = match summary.clusters() {
                    Some(clusters) => ResampledMeans::of_clusters(&clusters.totals()),
                    None => scores.finite(Self::NAME, &conversion, ResampledMeans::of)?,
                };
                let mut means = match means {
                    Some(means) => {
                        take_means(self, scores, &means, draws)?;
                        means.all(count, draws.seed)
                    }
                    None => Vec::new(),
                };
                means.sort_unstable_by(f64::total_cmp);
                let tail = if side == IntervalSide::TwoSided { (1.0 - level) / 2.0 } else { 1.0 - level };
                let (lower, upper) = (quantile_linear(&means, tail), quantile_linear(&means, 1.0 - tail));
                let interval = Interval::new(lower, upper, level, IntervalMethod::Bootstrap);
                Ok(interval.one_sided(side, known_range(&summary)))
            }
        };
        estimate.draws = Some(draws);
        Ok(estimate)
    }
}

/// By a method that the reference does not have.
fn by_method(part: &SummaryPart) -> Result<Estimate> {
    let mut estimate = part.estimate();
    estimate.notes.clusters = part.summary.clusters().map(|clusters| clusters.len() as u64);
    estimate.error = Err(Undefined::NotAvailable);
    Ok(estimate)
}

/// The range of scores, as far as they show it.
fn known_range(summary: &Summary) -> Option<(f64, f64)> {
    (summary.kind() != ScoreKind::Unbounded).then_some((0.0, 1.0))
}

/// Why there is no interval, if there is none.
fn too_few(summary: &Summary) -> Option<Undefined> {
    match (summary.n(), summary.clusters().map(|clusters| clusters.len() as u64)) {
        (0, _) => Some(Undefined::NoScores),
        (1, _) => Some(Undefined::TooFewScores { n: 1 }),
        (_, Some(clusters @ 0..=1)) => Some(Undefined::TooFewClusters { clusters }),
        _ => None,
    }
}

/// x̄ ± t·se, with n−1 degrees of freedom, or one less than there are clusters.
fn by_t(part: &SummaryPart) -> Result<Estimate> {
    let mut estimate = Estimate::of(part.summary.mean().ok_or(Undefined::NoScores));
    estimate.notes.clusters = part.summary.clusters().map(|clusters| clusters.len() as u64);
    estimate.interval = interval_by_t(&part.summary, &part.errors);
    Ok(estimate)
}

fn interval_by_t(summary: &Summary, errors: &ErrorPlan) -> Defined<Interval> {
    if let Some(reason) = too_few(summary) {
        return Err(reason);
    }
    let mean = summary.mean().ok_or(Undefined::NoScores)?;
    let (error, level) = (summary.std_error(errors)?, errors.level());
    let units = summary.clusters().map_or(summary.n(), |clusters| clusters.len() as u64);
    let df = (units - 1) as f64;
    let side = errors.side();
    side.check_level(level).map_err(Undefined::Other)?;
    let quantile = t_quantile(side.confidence_of_ends(level), df);
    let margin = if error.se > 0.0 { quantile * error.se } else { 0.0 };
    let interval = Interval::new(mean - margin, mean + margin, level, IntervalMethod::T).with_df(Some(df));
    Ok(interval.one_sided(side, known_range(summary)))
}

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
fn by_wilson(SummaryPart { summary, errors, .. }: &SummaryPart) -> Result<Estimate> {
    let (n, level) = (summary.n(), errors.level());
    let upper_tail = 0.5 + level / 2.0;
    let mut estimate = Estimate::of(summary.mean().ok_or(Undefined::NoScores));
    let interval = |(lower, upper): (f64, f64), df: Option<f64>| {
        Interval::new(lower, upper, level, IntervalMethod::Wilson).with_df(df)
    };
    let (Some(clusters), [key]) = (summary.clusters(), errors.cluster.as_slice()) else {
        let of = |mean: f64| interval(wilson(mean, n as f64, normal_quantile(upper_tail)), None);
        estimate.interval = estimate.value.clone().map(of);
        return Ok(estimate);
    };
    let g = clusters.len();
    let Some(error) = clusters.stderr() else {
        let problem = format!("{g} cluster(s) in metadata key `{key}`; an interval needs at least two");
        return Err(Error::undefined(CiWilson::NAME, problem));
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

    fn of_summary(&self, _: &Estimation) -> Option<SummaryFigure> {
        let mut errors = self.figure().reference_errors();
        errors.level = Some(self.level_or_default());
        let figure = SummaryFigure::new(self, errors, by_wilson);
        Some(SummaryFigure { proportions_only: true, ..figure })
    }
}
