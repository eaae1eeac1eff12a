//! What the corrections of a judge have in common: its scores beside the human labels of some samples, and errors from
//! influence values.

use crate::error::{Error, Result};
use crate::estimate::{
    Cr, ErrorMethod, ErrorPlan, Estimate, Interval, IntervalChoice, IntervalMethod, Maybe, ScoreKind,
    ScoreUnits, StdError, Undefined, estimate_from, resampled_estimate,
};
use crate::interner::Interner;
use crate::ratings::Ratings;
use crate::scores::Scores;
use crate::stats::ExactSum;
use crate::value::{Conversion, LeafRef, ValueRef};

/// The scores of a judge, and what a human says of the same samples.
pub(super) struct JudgedScores {
    metric: &'static str,
    /// By position: the judge's score, and the label if there is one.
    pub(super) rows: Vec<(f64, Option<f64>)>,
}

impl JudgedScores {
    /// Reads both as numbers.
    ///
    /// # Errors
    /// An unknown rater, an infinite score, or a label that is no number.
    pub(super) fn read(
        metric: &'static str,
        scores: &Scores<'_>,
        human: &str,
        conversion: &Conversion,
    ) -> Result<Self> {
        let labels = scores.ratings(human)?;
        labels.check_other()?;
        let judged = scores.finite(metric, conversion, |numbers| numbers.to_floats().into_owned())?;
        let row = |(at, judged): (usize, f64)| {
            let label = labels.get(at).map(|leaf| number(&labels, leaf, scores.sample_id(at), conversion));
            Ok((judged, label.transpose()?))
        };
        let rows = judged.into_iter().enumerate().map(row).collect::<Result<_>>()?;
        Ok(JudgedScores { metric, rows })
    }

    /// The number of samples with a label.
    pub(super) fn labelled(&self) -> usize {
        self.rows.iter().filter(|(_, label)| label.is_some()).count()
    }

    /// The mean of the judge's scores, which is what there is without a correction.
    pub(super) fn naive(&self) -> Option<f64> {
        mean(self.rows.iter().map(|(judged, _)| (*judged, 1)))
    }

    /// What judged scores and labels are.
    fn kind(&self) -> ScoreKind {
        let is_within = |number: &f64| (0.0..=1.0).contains(number);
        let all = self.rows.iter().flat_map(|(judged, label)| [Some(*judged), *label]).flatten();
        if all.into_iter().all(|number| is_within(&number)) { ScoreKind::Unit } else { ScoreKind::Unbounded }
    }

    /// The estimate of a corrected mean. Its error comes from influence values: in closed form for independent samples, and
    /// with those of a cluster (or of a sample's epochs) added up for others; or from resamples of `figure`, which gets how
    /// often each position is drawn, if the plan wants those.
    ///
    /// # Errors
    /// Those of reading scores.
    pub(super) fn estimate(
        &self,
        scores: &Scores<'_>,
        corrected: Maybe<Corrected>,
        figure: impl Fn(&[u32]) -> Option<f64> + Sync,
    ) -> Result<Estimate> {
        let corrected = match corrected {
            Ok(corrected) => corrected,
            Err(reason) => return Ok(Estimate::undefined(reason).with_n(scores.len() as u64)),
        };
        let plan = &scores.estimation().errors;
        let by_resampling = matches!(plan.method, Some(ErrorMethod::Bootstrap | ErrorMethod::Jackknife));
        if by_resampling || plan.interval.is_drawn() {
            let estimate = resampled_estimate(self.metric, scores, Ok(corrected.value), |units| {
                let unit_of = units.of_positions();
                move |draws: &[u32]| {
                    let times = |unit: &u32| draws.get(*unit as usize).copied().unwrap_or(0);
                    figure(&unit_of.iter().map(times).collect::<Vec<u32>>())
                }
            })?;
            return Ok(self.within_range(estimate, plan));
        }
        let error = self.error(scores, &corrected)?;
        // The variance of a corrected mean has nothing to do with m(1 − m), so the default is t, cut to the range.
        let interval = match plan.interval {
            IntervalChoice::Auto => IntervalChoice::Method(IntervalMethod::T),
            chosen => chosen,
        };
        let plan = ErrorPlan { interval, ..plan.clone() };
        let n = self.labelled() as u64;
        let estimate = estimate_from(corrected.value, error, n, &plan, self.kind());
        Ok(self.within_range(estimate, &plan).with_n(scores.len() as u64))
    }

    /// The estimate with its interval cut to the range of scores.
    fn within_range(&self, mut estimate: Estimate, plan: &ErrorPlan) -> Estimate {
        let range = plan.range.or((self.kind() == ScoreKind::Unit).then_some((0.0, 1.0)));
        let (Some((low, high)), Ok(interval)) = (range, &mut estimate.interval) else { return estimate };
        let Interval { lower, upper, .. } = *interval;
        if upper <= low || lower >= high {
            let problem = format!("from {lower:.3} to {upper:.3}, outside the range of scores");
            estimate.interval = Err(Undefined::Other(problem));
        } else {
            (interval.lower, interval.upper) = (lower.max(low), upper.min(high));
        }
        estimate
    }

    fn error(&self, scores: &Scores<'_>, corrected: &Corrected) -> Result<Maybe<StdError>> {
        let estimation = scores.estimation();
        let keys = &estimation.errors.cluster;
        let is_iid = estimation.errors.method == Some(ErrorMethod::Iid);
        if is_iid || keys.is_empty() && !estimation.by_sample {
            let se = corrected.variance.sqrt();
            return Ok(Ok(StdError::new(se, ErrorMethod::Delta).with_df(corrected.df(self.parts(None)))));
        }
        let mut ways = Vec::new();
        for keys in if keys.is_empty() { vec![&keys[..]] } else { keys.chunks(1).collect() } {
            match ScoreUnits::of_keys(self.metric, scores, keys)? {
                Ok(units) => ways.push(units.of_positions()),
                Err(reason) => return Ok(Err(reason)),
            }
        }
        Ok(self.clustered(&ways, corrected))
    }

    /// The error with clusters: Σ_g (Σ_{i∈g} ψ_i)² · G/(G−1), ψ the influence values; of two ways of clustering their sum
    /// less that of the clusters of both.
    fn clustered(&self, ways: &[Vec<u32>], corrected: &Corrected) -> Maybe<StdError> {
        let (mut variance, mut df, mut clusters) = (0.0, f64::INFINITY, Vec::new());
        for units in ways {
            variance += cluster_variance(units, &corrected.influence)?;
            df = df.min(corrected.df(self.parts(Some(units))));
            clusters.push(distinct(units));
        }
        if let [first, second] = ways {
            let mut pairs: Interner<(u32, u32)> = Interner::default();
            let both: Vec<u32> = first.iter().zip(second).map(|(a, b)| pairs.intern((*a, *b))).collect();
            variance -= cluster_variance(&both, &corrected.influence)?;
        }
        if variance.is_nan() || variance <= 0.0 {
            return Err(Undefined::Other(
                "the variance of two ways of clustering is not positive".to_owned(),
            ));
        }
        let error = StdError::new(variance.sqrt(), ErrorMethod::Cluster(Cr::Cr1)).with_df(df);
        Ok(error.with_clusters(clusters))
    }

    /// The number of units with labels, and of those without: samples, or clusters.
    fn parts(&self, units: Option<&Vec<u32>>) -> [u64; 2] {
        let of = |wanted: bool| {
            let rows = self.rows.iter().enumerate().filter(|(_, (_, label))| label.is_some() == wanted);
            match units {
                None => rows.count() as u64,
                Some(units) => {
                    distinct(&rows.filter_map(|(at, _)| units.get(at).copied()).collect::<Vec<_>>())
                }
            }
        };
        [of(true), of(false)]
    }
}

/// A corrected mean and what its error is made of.
#[derive(Debug)]
pub(super) struct Corrected {
    pub(super) value: f64,
    /// The influence of each position on it: how far its score moves the figure.
    pub(super) influence: Vec<f64>,
    /// The variance for independent samples.
    pub(super) variance: f64,
    /// The parts of the variance that come from samples with labels, and from those without.
    pub(super) parts: [f64; 2],
}

impl Corrected {
    /// The degrees of freedom of Welch and Satterthwaite, for parts of these numbers of units.
    fn df(&self, units: [u64; 2]) -> f64 {
        let total: f64 = self.parts.iter().sum();
        let part = |(variance, units): (&f64, u64)| match units {
            0 => 0.0,
            units => variance * variance / (units as f64 - 1.0).max(1.0),
        };
        let divisor: f64 = self.parts.iter().zip(units).map(part).sum();
        if divisor > 0.0 { total * total / divisor } else { f64::INFINITY }
    }
}

fn number(labels: &Ratings<'_>, leaf: LeafRef<'_>, sample: &str, conversion: &Conversion) -> Result<f64> {
    let number = conversion.convert_leaf(leaf);
    if number.convertible && number.value.is_finite() {
        return Ok(number.value);
    }
    Err(Error::Rating {
        rater: labels.name().to_owned(),
        sample: sample.to_owned(),
        found: ValueRef::Leaf(leaf).describe(),
        wanted: "labels must be numbers or grades; define others with to_float=value_to_float(correct=…, incorrect=…)"
            .to_owned(),
    })
}

/// Σ_g (Σ_{i∈g} ψ_i)² · G/(G−1).
fn cluster_variance(units: &[u32], influence: &[f64]) -> Maybe<f64> {
    let count = units.iter().max().map_or(0, |most| *most as usize + 1);
    let mut sums = vec![ExactSum::new(); count];
    for (unit, value) in units.iter().zip(influence) {
        if let Some(sum) = sums.get_mut(*unit as usize) {
            sum.add(*value);
        }
    }
    let g = distinct(units);
    if g < 2 {
        return Err(Undefined::TooFewClusters { clusters: g });
    }
    let mut squares = ExactSum::new();
    for sum in sums {
        let sum = sum.to_f64();
        squares.add(sum * sum);
    }
    Ok(squares.to_f64() * g as f64 / (g - 1) as f64)
}

fn distinct(units: &[u32]) -> u64 {
    let mut units = units.to_vec();
    units.sort_unstable();
    units.dedup();
    units.len() as u64
}

/// The mean of numbers, each as often as it is counted.
pub(super) fn mean(numbers: impl Iterator<Item = (f64, u64)>) -> Option<f64> {
    let (mut sum, mut n) = (ExactSum::new(), 0);
    for (number, times) in numbers.filter(|(_, times)| *times > 0) {
        sum.add_times(number, times);
        n += times;
    }
    (n > 0).then(|| sum.divide(n))
}

/// A sum of numbers, each as often as it is counted.
pub(super) fn sum(numbers: impl Iterator<Item = (f64, u64)>) -> f64 {
    let mut sum = ExactSum::new();
    numbers.for_each(|(number, times)| sum.add_times(number, times));
    sum.to_f64()
}
