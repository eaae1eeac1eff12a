//! What an error or interval of a mean is computed from.

use std::sync::Arc;

use super::auto;
use super::bytes::{byte, invalid};
use super::clustered::{ClusteredScores, error_of_groups};
use super::clusters::Clusters;
use super::independent::{IndependentScores, ValueRetention};
use super::kind::Extent;
use super::methods::bootstrap::exact_means;
use super::methods::{DrawSource, IntervalInput};
use super::{Defined, ErrorFigure, Estimate, EstimateNotes, ScoreKind, StdError, Undefined};
use crate::error::Result;
use crate::error_plan::{ErrorMethod, ErrorPlan, SummaryKey};
use crate::random::Random;
use crate::scores::Scores;
use crate::value::Conversion;
use errorbar_stats::exact::{ExactSum, Moments};

/// What an error or interval of a mean is computed from. Merges exactly, in any order and split; has canonical bytes.
///
/// The plan picks the variant once, and only summaries of one plan merge.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Summary {
    /// Independent scores: n, Σx, Σx².
    Moments(IndependentScores),
    /// Scores by cluster: n and Σx of each.
    Clusters(ClusteredScores),
    /// Independent scores with their distinct values, for a bootstrap.
    Tally(IndependentScores),
}

impl Summary {
    /// The variant that a plan needs. `by_sample`: the scores are unreduced with repeated ids, so without a cluster key the
    /// epochs of a sample are one cluster.
    pub fn for_plan(plan: &ErrorPlan, by_sample: bool) -> Summary {
        match SummaryKey::of(plan, by_sample) {
            SummaryKey::Clusters(keys) => Summary::Clusters(ClusteredScores::new(keys.len())),
            SummaryKey::BySample => Summary::Clusters(ClusteredScores::new(0)),
            SummaryKey::Tally => Summary::Tally(IndependentScores::new(ValueRetention::UpToLimit)),
            SummaryKey::Moments => Summary::Moments(IndependentScores::new(ValueRetention::WhileFew)),
        }
    }

    /// Takes in scores as a conversion reads them.
    ///
    /// # Errors
    /// An infinite score, or a sample without a cluster id.
    pub fn add(
        &mut self,
        metric: &str,
        plan: &ErrorPlan,
        scores: &Scores<'_>,
        conversion: &Conversion,
    ) -> Result<()> {
        scores.finite(metric, conversion, |numbers| self.update(metric, plan, scores, numbers))?
    }

    /// Takes in scores. `scores` has the cluster keys and sample ids, `numbers` the values in row order.
    pub fn update(
        &mut self,
        metric: &str,
        plan: &ErrorPlan,
        scores: &Scores<'_>,
        numbers: &[f64],
    ) -> Result<()> {
        match self {
            Summary::Moments(plain) | Summary::Tally(plain) => {
                plain.update(numbers);
                Ok(())
            }
            Summary::Clusters(clustered) => clustered.update(metric, plan, scores, numbers),
        }
    }

    /// Takes in all that another has seen.
    ///
    /// # Errors
    /// The other is of another plan, or there are more than 2^53 scores.
    pub fn merge(&mut self, other: &Summary) -> Result<()> {
        match (self, other) {
            (Summary::Moments(to), Summary::Moments(from)) => to.merge(from),
            (Summary::Clusters(to), Summary::Clusters(from)) => to.merge(from),
            (Summary::Tally(to), Summary::Tally(from)) => to.merge(from),
            _ => Err(invalid("summaries of different plans cannot be merged")),
        }
    }

    /// Appends its bytes: the same for equal summaries, however they came about.
    pub fn write(&self, out: &mut Vec<u8>) {
        match self {
            Summary::Moments(plain) => {
                out.push(1);
                plain.write(out);
            }
            Summary::Clusters(clustered) => {
                out.push(2);
                clustered.write(out);
            }
            Summary::Tally(plain) => {
                out.push(3);
                plain.write(out);
            }
        }
    }

    /// Takes the bytes of a summary off the front.
    ///
    /// # Errors
    /// The bytes are no summary.
    pub fn read(bytes: &mut &[u8]) -> Result<Summary> {
        Ok(match byte(bytes)? {
            1 => Summary::Moments(IndependentScores::read(ValueRetention::WhileFew, bytes)?),
            2 => Summary::Clusters(ClusteredScores::read(bytes)?),
            3 => Summary::Tally(IndependentScores::read(ValueRetention::UpToLimit, bytes)?),
            _ => return Err(invalid("an unknown type")),
        })
    }

    /// Count, sum and sum of squares.
    pub fn moments(&self) -> &Moments {
        match self {
            Summary::Moments(plain) | Summary::Tally(plain) => &plain.moments,
            Summary::Clusters(clustered) => &clustered.moments,
        }
    }

    fn extent(&self) -> Extent {
        match self {
            Summary::Moments(plain) | Summary::Tally(plain) => plain.extent,
            Summary::Clusters(clustered) => clustered.extent,
        }
    }

    /// The number of scores.
    pub fn n(&self) -> u64 {
        self.moments().count()
    }

    /// The mean, if there is a score.
    pub fn mean(&self) -> Option<f64> {
        self.moments().mean()
    }

    /// The exact sum of the scores.
    pub fn sum(&self) -> ExactSum {
        self.moments().sum().clone()
    }

    /// What these scores are. Those of no score are [`ScoreKind::Binary`], which weakens nothing.
    pub fn kind(&self) -> ScoreKind {
        self.extent().kind()
    }

    /// The estimate of the mean: value, error, interval, notes.
    ///
    /// `whole` is what all scores of the scorer and reducer are, of which these may be a group.
    pub fn estimate(&self, plan: &ErrorPlan, whole: ScoreKind, random: &Random) -> Estimate {
        self.estimate_among(plan, whole, self.n(), random)
    }

    /// The same for a group of `all` scores.
    pub fn estimate_among(&self, plan: &ErrorPlan, whole: ScoreKind, all: u64, random: &Random) -> Estimate {
        let alone = self.mean_alone();
        let Ok(mean) = alone.value else { return alone };
        let mut figure = self.error(plan, random);
        let exact = figure.error.clone();
        if let Ok(error) = &mut figure.error
            && error.degenerate
        {
            // No interval comes from rounding.
            error.se = 0.0;
        }
        let sampled = self.sampled(plan, all);
        let error = finite_population(figure.error.clone(), &sampled);
        let input = IntervalInput {
            n: self.n(),
            mean,
            error: &error,
            independent: !matches!(self, Summary::Clusters(_)),
            kind: whole.and(self.kind()),
            extent: Some(self.extent()),
            sample: self.draw_source(),
            plan,
            sampled: sampled.clone().unwrap_or_default(),
            seed: random.seed,
        };
        let mut estimate = auto::estimate(&input, random);
        if let Err(reason) = sampled {
            estimate.interval = Err(reason);
            (estimate.draws, estimate.notes) = (None, EstimateNotes::default());
        }
        match self {
            Summary::Clusters(clustered) => {
                let share = clustered.largest_share();
                figure.annotate(&mut estimate, clustered.moments.stderr(), Some(share));
            }
            Summary::Moments(plain) | Summary::Tally(plain) => {
                let is_other = plan.independent_method() != ErrorMethod::Iid;
                let iid = plain.moments.stderr().filter(|_| is_other);
                figure.annotate(&mut estimate, iid, None);
            }
        }
        estimate.error = finite_population(exact, &self.sampled(plan, all));
        estimate.notes.population = plan.population.filter(|_| estimate.error.is_ok());
        estimate
    }

    /// The mean without an error and an interval.
    pub(crate) fn mean_alone(&self) -> Estimate {
        match self.mean() {
            None => Estimate::undefined(Undefined::NoScores),
            Some(mean) if !mean.is_finite() => Estimate::undefined(Undefined::Overflow).with_n(self.n()),
            Some(mean) => Estimate::new(mean).with_n(self.n()),
        }
    }

    /// What can be resampled.
    fn draw_source(&self) -> DrawSource<'_> {
        match self {
            Summary::Moments(plain) | Summary::Tally(plain) => DrawSource::Scores(plain),
            Summary::Clusters(clustered) => DrawSource::Clusters(clustered),
        }
    }

    /// The number of means that an `exact` interval is computed from; none if it has no such interval.
    pub fn exact_means(&self) -> Option<u64> {
        exact_means(&self.draw_source()).ok().map(|means| means.len() as u64)
    }

    /// The same scores without their clusters.
    pub(crate) fn to_moments(&self) -> Summary {
        match self {
            Summary::Clusters(clustered) => Summary::Moments(clustered.to_plain()),
            other => other.clone(),
        }
    }

    /// The range of the plan, or 0 to 1, if all scores are within.
    pub(crate) fn range(&self, plan: &ErrorPlan) -> Option<(f64, f64)> {
        let extent = self.extent();
        plan.range_of(extent.least, extent.greatest)
    }

    /// The clusters, if there is one way of clustering.
    pub(crate) fn clusters(&self) -> Option<&Clusters> {
        match self {
            Summary::Clusters(clustered) => clustered.single(),
            Summary::Moments(_) | Summary::Tally(_) => None,
        }
    }

    /// The standard error of the mean. One that is drawn has the seed 0.
    pub fn std_error(&self, plan: &ErrorPlan) -> Defined<StdError> {
        if self.n() == 0 {
            return Err(Undefined::NoScores);
        }
        finite_population(self.error(plan, &Random::default()).error, &self.sampled(plan, self.n()))
    }

    /// The share of the population that has scores. Groups have the share of the whole: how the population divides into
    /// groups is unknown. Unreduced epochs are not samples of the population, their samples are.
    fn sampled(&self, plan: &ErrorPlan, all: u64) -> Defined<f64> {
        let samples = match self {
            Summary::Clusters(clustered) if plan.cluster.is_empty() => {
                let samples = clustered.single().map_or(self.n(), |clusters| clusters.len() as u64);
                samples as f64 * (all as f64 / self.n().max(1) as f64)
            }
            _ => all as f64,
        };
        plan.sampled(samples)
    }

    /// The standard error of the mean, and what is to be known about it.
    fn error(&self, plan: &ErrorPlan, random: &Random) -> ErrorFigure {
        let mut figure = match self {
            Summary::Moments(plain) | Summary::Tally(plain) => {
                ErrorFigure::new(independent_error(&plain.moments, plan.independent_method()))
            }
            Summary::Clusters(clustered) => clustered.error(plan, random),
        };
        if let Ok(error) = &mut figure.error {
            // 0.3, 0.3 and 0.1 + 0.2 have no spread: what there is, is rounding.
            error.degenerate |= self.extent().is_point();
        }
        figure
    }
}

impl Scores<'_> {
    /// What errors of the mean are computed from; of all scores it is computed once.
    pub(crate) fn summary(
        &self,
        metric: &str,
        conversion: &Conversion,
        errors: &ErrorPlan,
    ) -> Result<Arc<Summary>> {
        let by_sample = self.estimation().by_sample;
        self.shared(conversion, SummaryKey::of(errors, by_sample), || {
            let mut summary = Summary::for_plan(errors, by_sample);
            summary.add(metric, errors, self, conversion)?;
            Ok(summary)
        })
    }
}

/// The standard error of the weighted mean of groups, and what is to be known about it, if clusters span groups: then the
/// groups are not independent, and what each cluster contributes to all of them is added up. The weights add up to 1.
pub fn error_across_groups(
    groups: &[(&Summary, f64)],
    plan: &ErrorPlan,
    random: &Random,
) -> Option<ErrorFigure> {
    let mut of_groups = Vec::with_capacity(groups.len());
    for (summary, weight) in groups {
        let Summary::Clusters(clustered) = summary else { return None };
        of_groups.push((clustered, *weight));
    }
    let mut figure = error_of_groups(&of_groups, plan, random)?;
    let n: u64 = groups.iter().map(|(summary, _)| summary.n()).sum();
    figure.error = finite_population(figure.error, &plan.sampled(n as f64));
    if let Ok(error) = &mut figure.error {
        error.method = ErrorMethod::Macro;
    }
    Some(figure)
}

/// The standard error of the mean of independent scores. The jackknife is s/√n as well. Of the bootstrap it is the one
/// of infinitely many resamples, √(Σ(x − x̄)²)/n: drawing some would add nothing but noise.
fn independent_error(moments: &Moments, method: ErrorMethod) -> Defined<StdError> {
    let n = moments.count();
    let mut se = moments.stderr().ok_or(Undefined::TooFewScores { n })?;
    if method == ErrorMethod::Bootstrap {
        se *= ((n - 1) as f64 / n as f64).sqrt();
    }
    if !se.is_finite() {
        return Err(Undefined::Overflow);
    }
    Ok(StdError::new(se, method).with_df((n - 1) as f64))
}

impl ErrorPlan {
    /// The share of the population that this number of its samples is; 0 without a population.
    ///
    /// # Errors
    /// There are more of them than the population has, or all of them, so that there is nothing to estimate.
    pub(crate) fn sampled(&self, samples: f64) -> Defined<f64> {
        let Some(population) = self.population else { return Ok(0.0) };
        let reason = match samples - population as f64 {
            0.0 => format!(
                "all {population} samples of the population have scores, so nothing is left to estimate"
            ),
            more if more > 0.0 => {
                format!("the population has {population} samples, and {samples:.0} have scores")
            }
            _ => return Ok(samples / population as f64),
        };
        Err(Undefined::Other(reason))
    }
}

/// The error of a sample without replacement from a population: ×√(1 − n/N).
pub(crate) fn finite_population(error: Defined<StdError>, sampled: &Defined<f64>) -> Defined<StdError> {
    let (error, sampled) = (error?, sampled.clone()?);
    Ok(StdError { se: error.se * (1.0 - sampled).sqrt(), ..error })
}

/// An estimate of a mean whose variance is known otherwise: macro means of groups, shares from counts. The interval comes
/// from value, error, n and kind; methods that resample do not exist for it. The error allows for a population already.
pub fn estimate_from(
    value: f64,
    error: Defined<StdError>,
    n: u64,
    plan: &ErrorPlan,
    whole: ScoreKind,
) -> Estimate {
    let known = KnownError { value, error, n, whole, sampled: plan.sampled(n as f64), zeros_and_ones: None };
    known.estimate(plan, &Random::default())
}

/// The estimate of a share of `n` scores, out of `all` if they are a group, whose error does not allow for a population
/// yet.
pub(crate) fn estimate_of_share(
    count: u64,
    n: u64,
    error: Defined<StdError>,
    all: u64,
    plan: &ErrorPlan,
    random: &Random,
) -> Estimate {
    let clusters = error.as_ref().ok().and_then(|error| error.clusters.first());
    // Unreduced epochs are clustered by sample, and the population is one of samples.
    let samples = clusters.filter(|_| plan.cluster.is_empty()).map_or(n, |samples| *samples);
    let sampled = plan.sampled(samples as f64 * (all as f64 / n.max(1) as f64));
    let error = finite_population(error, &sampled);
    let counts = plan.interval.is_resampled().then(|| IndependentScores::of_zeros_and_ones(n - count, count));
    let value = count as f64 / n as f64;
    let known = KnownError { value, error, n, whole: ScoreKind::Binary, sampled, zeros_and_ones: counts };
    known.estimate(plan, random)
}

/// A mean and its error.
struct KnownError {
    value: f64,
    error: Defined<StdError>,
    n: u64,
    whole: ScoreKind,
    sampled: Defined<f64>,
    /// What to resample if the scores are independent.
    zeros_and_ones: Option<IndependentScores>,
}

impl KnownError {
    fn estimate(self, plan: &ErrorPlan, random: &Random) -> Estimate {
        let KnownError { value, error, n, whole, sampled, zeros_and_ones } = self;
        if n == 0 {
            return Estimate::undefined(Undefined::NoScores);
        }
        if !value.is_finite() {
            return Estimate::undefined(Undefined::Overflow).with_n(n);
        }
        let sampled = match sampled {
            Ok(sampled) => sampled,
            Err(reason) => return Estimate::new(value).with_n(n).without_error(&reason),
        };
        let error = match error {
            Ok(error) if !error.se.is_finite() => Err(Undefined::Overflow),
            error => error,
        };
        let independent = match &error {
            Ok(error) => {
                let of_samples = matches!(
                    error.method,
                    ErrorMethod::Iid | ErrorMethod::Jackknife | ErrorMethod::Bootstrap
                );
                of_samples && error.clusters.is_empty()
            }
            Err(reason) => *reason == Undefined::TooFewScores { n: 1 } && n == 1,
        };
        let counts = zeros_and_ones.as_ref().filter(|_| independent);
        let input = IntervalInput {
            n,
            mean: value,
            error: &error,
            independent,
            kind: whole,
            extent: None,
            sample: counts.map_or(DrawSource::None, DrawSource::Scores),
            plan,
            sampled,
            seed: random.seed,
        };
        auto::estimate(&input, random)
    }
}
