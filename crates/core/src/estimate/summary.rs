//! What an error or interval of a mean is computed from: a summary of scores.

use std::sync::Arc;

use rayon::prelude::*;

use super::clusters::ErrorFigure;
use super::clusters::{ClusteredScores, Clusters, error_of_groups};
use super::intervals::{self, DrawSource, IntervalInput, exact_means};
use super::{Defined, Estimate, EstimateNotes, StdError, Undefined};
use crate::error::{Error, Result};
use crate::error_plan::{ErrorMethod, ErrorPlan, SummaryKey};
use crate::random::Random;
use crate::scores::{ScoreKind, Scores};
use crate::value::Conversion;
use errorbar_stats::exact::{ExactSum, Moments, tally};

/// Whether numbers from `least` to `greatest` are equal but for rounding, if they come from numbers of up to `largest`.
pub fn is_rounding(least: f64, greatest: f64, largest: f64) -> bool {
    // A few units in the last place: a reducer and a subtraction round once or twice each.
    greatest - least <= 8.0 * f64::EPSILON * largest && largest.is_finite()
}

/// The smallest and the largest of some scores, and whether all are 0 or 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Extent {
    pub(super) least: f64,
    pub(super) greatest: f64,
    pub(super) binary: bool,
}

/// Integers up to this number, 2⁵³, are exact.
const MAX_INTEGER: f64 = 9_007_199_254_740_992.0;
/// Scores that a thread takes at once.
const PART: usize = 1 << 15;
/// Independent comparisons, so that one need not wait for another.
const LANES: usize = 8;

impl Extent {
    /// Whether the scores are equal but for rounding. Integers are not rounded.
    pub(super) fn is_point(self) -> bool {
        let largest = self.least.abs().max(self.greatest.abs());
        let are_integers =
            largest <= MAX_INTEGER && self.least.fract() == 0.0 && self.greatest.fract() == 0.0;
        if are_integers {
            self.least == self.greatest
        } else {
            is_rounding(self.least, self.greatest, largest)
        }
    }

    /// That of no score.
    pub(super) const NONE: Extent =
        Extent { least: f64::INFINITY, greatest: f64::NEG_INFINITY, binary: true };

    pub(super) fn of(numbers: &[f64]) -> Extent {
        match numbers.len() < 2 * PART {
            true => Extent::of_part(numbers),
            false => numbers.par_chunks(PART).map(Extent::of_part).reduce(|| Extent::NONE, Extent::and),
        }
    }

    fn of_part(numbers: &[f64]) -> Extent {
        let (mut least, mut greatest) = ([f64::INFINITY; LANES], [f64::NEG_INFINITY; LANES]);
        let mut others = [false; LANES];
        for part in numbers.chunks(LANES) {
            let lanes = least.iter_mut().zip(&mut greatest).zip(&mut others);
            for (((least, greatest), other), &x) in lanes.zip(part) {
                *least = if x < *least { x } else { *least };
                *greatest = if x > *greatest { x } else { *greatest };
                *other |= x != 0.0 && x != 1.0;
            }
        }
        let least = least.into_iter().fold(f64::INFINITY, f64::min);
        let greatest = greatest.into_iter().fold(f64::NEG_INFINITY, f64::max);
        // Of the two zeros one, whichever came first.
        Extent { least: least + 0.0, greatest: greatest + 0.0, binary: others == [false; LANES] }
    }

    /// That of the scores of both.
    pub(super) fn and(self, other: Extent) -> Extent {
        Extent {
            least: if other.least < self.least { other.least } else { self.least },
            greatest: if other.greatest > self.greatest { other.greatest } else { self.greatest },
            binary: self.binary & other.binary,
        }
    }

    pub(super) fn kind(&self) -> ScoreKind {
        if self.binary {
            ScoreKind::Binary
        } else if self.least >= 0.0 && self.greatest <= 1.0 {
            ScoreKind::Unit
        } else {
            ScoreKind::Unbounded
        }
    }
}

/// Below this number of scores, `auto` looks at their skewness.
pub(super) const FEW: u64 = 50;

/// The largest number of distinct values that are retained for an interval that resamples.
pub(super) const MAX_DISTINCT: usize = 1_000_000;

/// What independent scores are summed up to.
#[derive(Clone, Debug)]
pub struct IndependentScores {
    moments: Moments,
    extent: Extent,
    /// Distinct values with their counts, ascending, for methods that need them: with an interval that resamples up to
    /// [`MAX_DISTINCT`] values, else those of fewer than [`FEW`] scores.
    pub(super) values: Option<Vec<(f64, u64)>>,
}

impl IndependentScores {
    /// Numbers in any order.
    fn of_numbers(numbers: &[f64], is_resampled: bool) -> Self {
        let mut moments = Moments::new();
        moments.extend(numbers);
        let values = is_resampled || moments.count() < FEW;
        let values = values.then(|| tally(numbers)).filter(|values| values.len() <= MAX_DISTINCT);
        IndependentScores { moments, extent: Extent::of(numbers), values }
    }

    /// Values, ascending, with how often each occurs.
    fn of_values(values: Vec<(f64, u64)>, is_resampled: bool) -> Self {
        let mut moments = Moments::new();
        values.iter().for_each(|(value, times)| moments.push_times(*value, *times));
        let floats: Vec<f64> = values.iter().map(|(value, _)| *value).collect();
        let is_kept = if is_resampled { values.len() <= MAX_DISTINCT } else { moments.count() < FEW };
        IndependentScores { moments, extent: Extent::of(&floats), values: Some(values).filter(|_| is_kept) }
    }

    /// The skewness g₁ = m₃/m₂^(3/2) of few scores, 0 if they do not differ.
    pub(super) fn skewness(&self) -> Option<f64> {
        let values = self.values.as_ref()?;
        let (mean, std) = (self.moments.mean()?, self.moments.population_std()?);
        if !(std > 0.0 && std.is_finite()) {
            return Some(0.0);
        }
        // Halves: a difference of the largest numbers would overflow.
        let z = |value: f64| (0.5 * value - 0.5 * mean) / (0.5 * std);
        let cube = |z: f64| z * z * z;
        let cubes = values.iter().map(|(value, times)| cube(z(*value)) * *times as f64);
        Some(cubes.sum::<f64>() / self.moments.count() as f64)
    }
}

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

/// What an error or interval of a mean is computed from. The plan picks the variant.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Summary {
    /// Independent scores: n, Σx, Σx², with their distinct values as far as a bootstrap needs them.
    Independent(IndependentScores),
    /// Scores by cluster: n and Σx of each.
    Clusters(ClusteredScores),
}

impl Summary {
    /// Of scores as a plan needs them. `scores` has the cluster keys and sample ids, `numbers` the values in row order.
    /// `by_sample`: the scores are unreduced with repeated ids, so without a cluster key the epochs of a sample are one
    /// cluster.
    ///
    /// # Errors
    /// A sample without a cluster id.
    pub fn of(
        metric: &str,
        plan: &ErrorPlan,
        by_sample: bool,
        scores: &Scores<'_>,
        numbers: &[f64],
    ) -> Result<Summary> {
        Ok(match SummaryKey::of(plan, by_sample) {
            SummaryKey::Clusters(keys) => {
                Summary::Clusters(ClusteredScores::of(metric, &keys, scores, numbers)?)
            }
            SummaryKey::BySample => Summary::Clusters(ClusteredScores::of(metric, &[], scores, numbers)?),
            key => Summary::Independent(IndependentScores::of_numbers(numbers, key == SummaryKey::Tally)),
        })
    }

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
        if values.iter().any(|(value, _)| !value.is_finite()) {
            return Err(Error::custom("summary: a value that is not finite"));
        }
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
        if matches!(SummaryKey::of(plan, false), SummaryKey::Clusters(_)) {
            return Err(Error::custom("summary: the plan has clusters, and the values have none"));
        }
        Ok(Summary::Independent(IndependentScores::of_values(values, plan.interval.is_resampled())))
    }

    /// Scores by cluster, each cluster given as values with how often each occurs in it; none is empty.
    pub fn of_units<'u>(units: impl Iterator<Item = &'u UnitScores>) -> Summary {
        Summary::Clusters(ClusteredScores::from_parts(units.map(|unit| (&unit.moments, unit.extent))))
    }

    /// Count, sum and sum of squares.
    pub fn moments(&self) -> &Moments {
        match self {
            Summary::Independent(plain) => &plain.moments,
            Summary::Clusters(clustered) => &clustered.moments,
        }
    }

    fn extent(&self) -> Extent {
        match self {
            Summary::Independent(plain) => plain.extent,
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
        let mut estimate = intervals::estimate(&input, random);
        if let Err(reason) = sampled {
            estimate.interval = Err(reason);
            (estimate.draws, estimate.notes) = (None, EstimateNotes::default());
        }
        match self {
            Summary::Clusters(clustered) => {
                let share = clustered.largest_share();
                figure.annotate(&mut estimate, clustered.moments.stderr(), Some(share));
            }
            Summary::Independent(plain) => {
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
            Summary::Independent(plain) => DrawSource::Scores(plain),
            Summary::Clusters(clustered) => DrawSource::Clusters(clustered),
        }
    }

    /// The number of means that an `exact` interval is computed from; none if it has no such interval.
    pub fn exact_means(&self) -> Option<u64> {
        exact_means(&self.draw_source()).ok().map(|means| means.len() as u64)
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
            Summary::Independent(_) => None,
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
            Summary::Independent(plain) => {
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
            self.finite(metric, conversion, |numbers| Summary::of(metric, errors, by_sample, self, numbers))?
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
    let counts = plan.interval.is_resampled().then(|| {
        let values = [(0.0, n - count), (1.0, count)].into_iter().filter(|(_, times)| *times > 0);
        IndependentScores::of_values(values.collect(), true)
    });
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
        intervals::estimate(&input, random)
    }
}
