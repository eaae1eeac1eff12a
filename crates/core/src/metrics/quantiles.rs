//! `median` and `quantile`, with errors and intervals; `count`, `sum`, `min` and `max`, without.

use crate::metrics::prelude::*;
use errorbar_stats::descriptive::quantile_linear;
use errorbar_stats::distributions::{beta_cdf, binomial_cdf, binomial_pmf, binomial_survival};
use errorbar_stats::exact::{common_exponent, tally};

/// The middle score, or the mean of the two middle ones.
///
/// The interval lies between two order statistics, by the binomial distribution; it is undefined where the scores are too
/// few for the level. The error is that of a resampled median. With clusters, or with epochs that are not reduced, both
/// come from resampling.
///
/// # Formula
/// ```text
/// x₍₍ₙ₊₁₎/₂₎ for odd n, (x₍ₙ/₂₎ + x₍ₙ/₂₊₁₎)/2 for even n
/// ```
///
/// # When
/// A few extreme scores, such as times or lengths, would rule a mean. Of right and wrong answers it says little.
///
/// # Example
/// ```console
/// $ printf '%s\n' id,score 1,0.2 2,0.4 3,0.4 4,0.7 5,0.8 6,0.9 > marks.csv
/// $ errorbar score marks.csv --metric 'median'
/// marks.csv · 6 rows
///
/// score · 6 scored
///                                     0                                       1
///   median  0.55 ± 0.16 [0.20, 0.90]          ├─────────────●─────────────┤      only 6 scores
///
/// ± one standard error (bootstrap) · [95 % interval: order_statistics] · ├─●─┤ the interval
/// ```
///
/// # See also
/// `quantile`, `mean`, `geometric_mean`
///
/// # Source
/// Error: Maritz & Jarrett 1978, "A note on estimating the variance of the sample median", JASA 73(361).
#[derive(Clone, Debug, Default, Params)]
#[params(crate = crate, name = "median")]
pub struct Median {
    /// How values become numbers.
    #[param(default = Conversion::default())]
    to_float: Option<Conversion>,
}

impl Metric for Median {
    metric_flags! { self:
        metadata_keys = MetadataKeys::NONE, score_parts = Value, role = Location, resample_cost = 1
    }

    fn depends_on_ids(&self, is_resampled: bool) -> bool {
        is_resampled
    }

    fn compute(&self, scores: &Scores<'_>) -> Result<MetricValue> {
        estimate_of(Self::NAME, scores, &self.to_float_or_default(), 0.5)
    }
}

/// The q-quantile of the scores, by linear interpolation between order statistics (Hyndman and Fan's type 7, numpy's
/// default).
///
/// The interval lies between two order statistics, by the binomial distribution; it is undefined where the scores are too
/// few for the level. The error is that of a resampled quantile. With clusters, or with epochs that are not reduced, both
/// come from resampling.
///
/// # Formula
/// ```text
/// h = q·(n−1): x₍ₕ₊₁₎, interpolated between the two nearest
/// ```
///
/// # When
/// The tail matters: the worst tenth of scores, the slowest answers.
///
/// # Example
/// ```console
/// $ printf '%s\n' id,score 1,0.2 2,0.4 3,0.4 4,0.7 5,0.8 6,0.9 > marks.csv
/// $ errorbar score marks.csv --metric 'quantile(0.9)'
/// marks.csv · 6 rows
///
/// score · 6 scored
///                          0                   1
///   quantile  0.85 ± 0.10                 ├─●─┤   only 6 scores · q=0.9 ·
///                                                 no interval: n = 6 reaches 46.86 %
///
/// ± one standard error (bootstrap) · ├─●─┤ value ± error
/// ```
///
/// # See also
/// `median`, `min`, `max`
///
/// # Source
/// Hyndman & Fan 1996, "Sample quantiles in statistical packages", type 7.
#[derive(Clone, Debug, Params)]
#[params(crate = crate, name = "quantile")]
pub struct Quantile {
    /// The share of the scores below it, between 0 and 1 (both excluded).
    #[param(check = check_share)]
    q: f64,
    /// How values become numbers.
    #[param(default = Conversion::default())]
    to_float: Option<Conversion>,
}

fn check_share(q: &f64) -> Result<(), String> {
    match q {
        q if *q > 0.0 && *q < 1.0 => Ok(()),
        0.0 => Err("must lie between 0 and 1 (both excluded); the smallest score is min()".to_owned()),
        1.0 => Err("must lie between 0 and 1 (both excluded); the largest score is max()".to_owned()),
        q => Err(format!("must lie between 0 and 1 (both excluded), found {q}; for 90 % write 0.9")),
    }
}

impl Metric for Quantile {
    metric_flags! { self:
        metadata_keys = MetadataKeys::NONE, score_parts = Value, role = Location, resample_cost = 1
    }

    fn depends_on_ids(&self, is_resampled: bool) -> bool {
        is_resampled
    }

    fn compute(&self, scores: &Scores<'_>) -> Result<MetricValue> {
        self.check()?;
        estimate_of(Self::NAME, scores, &self.to_float_or_default(), self.q)
    }
}

/// The q-quantile of the scores, by linear interpolation between order statistics.
fn estimate_of(metric: &str, scores: &Scores<'_>, conversion: &Conversion, q: f64) -> Result<MetricValue> {
    let floats = scores.finite(metric, conversion, <[f64]>::to_vec)?;
    let mut sorted = floats.clone();
    sorted.sort_unstable_by(f64::total_cmp);
    let value = match sorted.first() {
        None => Err(Undefined::NoScores),
        Some(_) => Ok(quantile_linear(&sorted, q)),
    };
    let estimation = scores.estimation();
    let plan = &estimation.errors;
    // A population is something that only resamples have.
    let is_resampled =
        has_units(plan, estimation.by_sample) || plan.wants_resamples() || plan.population.is_some();
    let Some(value) = value.clone().ok().filter(|_| !is_resampled && !estimation.value_only) else {
        let prepare = |units: &ScoreUnits| weighted_quantile(units, &floats, q);
        return resampled_estimate(metric, scores, value, prepare).map(Into::into);
    };
    let mut estimate = Estimate::new(value);
    (estimate.n, estimate.absent) = (scores.len() as u64, scores.absent() as u64);
    estimate.error = error(&sorted, q);
    match interval(&sorted, q, plan) {
        Ok((interval, reason)) => {
            estimate.interval = Ok(interval);
            estimate.notes.reason = Some(reason);
            estimate.notes.is_caution = !matches!(
                plan.interval,
                IntervalChoice::Auto | IntervalChoice::Method(IntervalMethod::OrderStatistics)
            );
        }
        Err(reason) => estimate.interval = Err(reason),
    }
    Ok(estimate.into())
}

/// Whether scores belong together, so that formulas of independent ones are wrong.
fn has_units(plan: &ErrorPlan, by_sample: bool) -> bool {
    plan.method != Some(ErrorMethod::Iid) && (by_sample || !plan.cluster.is_empty())
}

/// The quantile of a resample, from how often each unit is in it.
fn weighted_quantile(
    units: &ScoreUnits,
    floats: &[f64],
    q: f64,
) -> impl Fn(&[u32]) -> Option<f64> + Sync + use<> {
    let mut rows: Vec<(f64, u32)> = floats.iter().copied().zip(units.of_positions()).collect();
    rows.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    move |counts| {
        let count = |unit: u32| counts.get(unit as usize).copied().unwrap_or(0) as usize;
        let n: usize = rows.iter().map(|(_, unit)| count(*unit)).sum();
        let position = n.checked_sub(1)? as f64 * q;
        let below = position as usize; // rounds down
        let (mut seen, mut low) = (0, None);
        for (value, unit) in &rows {
            seen += count(*unit);
            if low.is_none() && seen > below {
                low = Some(*value);
            }
            if seen > (below + 1).min(n - 1) {
                return low.map(|low| quantile_linear(&[low, *value], position - below as f64));
            }
        }
        None
    }
}

/// The standard error of a resampled quantile, without drawing any: that of infinitely many resamples (Maritz and Jarrett, "A
/// note on estimating the variance of the sample median", JASA 73, 1978, also for the mean of two order statistics).
///
/// The quantile is X + f·D, X the k-th score of a resample and D its distance to the next. Var = (1−f)·Var X + f·Var(X + D) −
/// f(1−f)·Var D, and X and X + D are order statistics.
fn error(sorted: &[f64], q: f64) -> Defined<StdError> {
    let n = sorted.len() as u64;
    if n < 2 {
        return Err(Undefined::TooFewScores { n });
    }
    let position = (n - 1) as f64 * q;
    let (k, f) = (position as u64 + 1, position - libm::floor(position)); // rounds down
    // In units of the largest score: squares neither vanish nor overflow.
    let exponent = common_exponent(sorted.iter().copied());
    let mut seen = 0;
    let steps: Vec<Step> = tally(sorted)
        .into_iter()
        .map(|(value, count)| {
            seen += count;
            Step { value: libm::scalbn(value, -exponent), share: seen as f64 / n as f64 }
        })
        .collect();
    // A value that no resample ever has another one than has no error, but a spread of 1e-46.
    let is_certain = is_certain_rank(&steps, k, n) && (f == 0.0 || is_certain_rank(&steps, k + 1, n));
    if is_certain && steps.len() > 1 {
        return Err(Undefined::Other("the same in all resamples".to_owned()));
    }
    let mut variance = (1.0 - f) * variance_of_rank(&steps, k, n);
    if f > 0.0 {
        variance += f * variance_of_rank(&steps, k + 1, n) - f * (1.0 - f) * variance_of_gap(&steps, k, n);
    }
    let se = if steps.len() == 1 { 0.0 } else { libm::scalbn(variance.max(0.0).sqrt(), exponent) };
    if !se.is_finite() {
        return Err(Undefined::Overflow);
    }
    Ok(StdError::new(se, ErrorMethod::Bootstrap).with_df((n - 1) as f64))
}

/// A distinct score, and the share of the scores up to it.
struct Step {
    value: f64,
    share: f64,
}

/// The distinct scores with the chance that the k-th of n scores of a resample is it: at most a score it is with the
/// probability I(share; k, n−k+1).
fn chances_of_rank(steps: &[Step], k: u64, n: u64) -> impl Iterator<Item = (f64, f64)> {
    let mut before = 0.0;
    steps.iter().map(move |step| {
        let up_to = beta_cdf(step.share, k as f64, (n - k + 1) as f64);
        (step.value, up_to - std::mem::replace(&mut before, up_to))
    })
}

/// Whether the k-th of n scores of a resample is always the same, but in one of a trillion.
fn is_certain_rank(steps: &[Step], k: u64, n: u64) -> bool {
    chances_of_rank(steps, k, n).any(|(_, chance)| chance > 1.0 - 1e-12)
}

/// The variance of the k-th of n scores of a resample.
fn variance_of_rank(steps: &[Step], k: u64, n: u64) -> f64 {
    let weighted: Vec<(f64, f64)> = chances_of_rank(steps, k, n).collect();
    let moment = |power: &dyn Fn(f64) -> f64| {
        let mut sum = ExactSum::new();
        weighted.iter().for_each(|(value, weight)| sum.add_product(power(*value), *weight));
        sum.to_f64()
    };
    let mean = moment(&|value| value);
    moment(&|value| (value - mean) * (value - mean))
}

/// The variance of the distance from the k-th to the next of n scores of a resample. A gap between two scores is in it if
/// exactly k are below; two gaps are if k are below the lower one and none between them.
fn variance_of_gap(steps: &[Step], k: u64, n: u64) -> f64 {
    let (mut mean, mut square) = (ExactSum::new(), ExactSum::new());
    // Σ gap · P(it and this one), over the gaps before this one.
    let mut before = 0.0;
    for pair in steps.windows(2) {
        let [low, high] = pair else { continue };
        let (gap, chance) = (high.value - low.value, binomial_pmf(k, n, low.share));
        mean.add_product(gap, chance);
        square.add(gap * gap * chance + 2.0 * gap * before);
        let none_between = libm::exp((n - k) as f64 * libm::log((1.0 - high.share) / (1.0 - low.share)));
        before = if high.share < 1.0 { none_between * (before + gap * chance) } else { 0.0 };
    }
    let mean = mean.to_f64();
    square.to_f64() - mean * mean
}

/// The interval between the two order statistics that leave out at most α/2 each, and what it reaches. The number of
/// scores below the quantile is binomial, whatever their distribution; with ties it covers more.
fn interval(sorted: &[f64], q: f64, plan: &ErrorPlan) -> Defined<(Interval, String)> {
    let n = sorted.len() as u64;
    let range = match (sorted.first(), sorted.last()) {
        _ if n < 2 => return Err(Undefined::TooFewScores { n }),
        (Some(first), Some(last)) if first == last => return Err(Undefined::NoSpread { n }),
        // Scores between 0 and 1 may be some of others that are not.
        (Some(first), Some(last)) => plan.range.and(plan.range_of(*first, *last)),
        _ => None,
    };
    let (level, side) = (plan.level(), plan.side());
    let tail = 1.0 - side.confidence_of_ends(level);
    let (mut lower, mut upper) = (lower_rank(n, q, tail), upper_rank(n, q, tail));
    if side == IntervalSide::TwoSided {
        // One tail may be too long for the scores that there are: the other one gets what is left.
        let left = |missed: f64| (1.0 - level - missed).max(0.0);
        match (lower, upper) {
            (Some(_), None) => {
                upper = Some(n);
                lower = lower_rank(n, q, left(missed_above(n, n, q)));
            }
            (None, Some(_)) => {
                lower = Some(1);
                upper = upper_rank(n, q, left(missed_below(1, n, q)));
            }
            _ => {}
        }
    }
    let most = |misses: f64| Undefined::Other(format!("n = {n} reaches {} %", percent(1.0 - misses)));
    let too_few = || {
        let missed = [missed_below(1, n, q), missed_above(n, n, q)];
        match side {
            IntervalSide::TwoSided => most(missed[0] + missed[1]),
            IntervalSide::Lower => most(missed[0]),
            IntervalSide::Upper => most(missed[1]),
        }
    };
    let (l, u) = match side {
        IntervalSide::TwoSided => (lower.ok_or_else(too_few)?, upper.ok_or_else(too_few)?),
        IntervalSide::Lower => (lower.ok_or_else(too_few)?, n),
        IntervalSide::Upper => (1, upper.ok_or_else(too_few)?),
    };
    let at = |rank: u64| sorted.get((rank as usize).saturating_sub(1)).copied().ok_or(Undefined::NoScores);
    let interval =
        Interval::new(at(l)?, at(u)?, level, IntervalMethod::OrderStatistics).one_sided(side, range);
    let (below, above) = (missed_below(l, n, q), missed_above(u, n, q));
    let reason = match side {
        IntervalSide::TwoSided => format!("scores {l} and {u} of {n}: {} %", percent(1.0 - below - above)),
        IntervalSide::Lower => format!("score {l} of {n}: {} %", percent(1.0 - below)),
        IntervalSide::Upper => format!("score {u} of {n}: {} %", percent(1.0 - above)),
    };
    Ok((interval, reason))
}

/// The probability that the quantile lies below the score of this rank: fewer than as many scores are below it.
fn missed_below(rank: u64, n: u64, q: f64) -> f64 {
    rank.checked_sub(1).map_or(0.0, |fewer| binomial_cdf(fewer, n, q))
}

/// The probability that the quantile lies above the score of this rank.
fn missed_above(rank: u64, n: u64, q: f64) -> f64 {
    rank.checked_sub(1).map_or(1.0, |fewer| binomial_survival(fewer, n, q))
}

/// The largest rank that misses at most `tail` below.
fn lower_rank(n: u64, q: f64, tail: f64) -> Option<u64> {
    last_rank(n, |rank| missed_below(rank, n, q) <= tail)
}

/// The smallest rank that misses at most `tail` above.
fn upper_rank(n: u64, q: f64, tail: f64) -> Option<u64> {
    last_rank(n, |rank| missed_above(n + 1 - rank, n, q) <= tail).map(|rank| n + 1 - rank)
}

/// The last of the ranks from 1 to n that hold, where all that hold come first.
fn last_rank(n: u64, holds: impl Fn(u64) -> bool) -> Option<u64> {
    let (mut held, mut failed) = (0, n + 1);
    while failed - held > 1 {
        let middle = held + (failed - held) / 2;
        if holds(middle) { held = middle } else { failed = middle }
    }
    (held > 0).then_some(held)
}

/// A share in percent, without a trailing row of nines: 93.75, 99.8.
fn percent(share: f64) -> String {
    let rounded = format!("{:.2}", 100.0 * share);
    rounded.trim_end_matches('0').trim_end_matches('.').to_owned()
}

const OF_EXTREMES: &str = "an extreme has no standard error; take a quantile";

/// A figure of these scores, which has no error for this reason.
fn described(scores: &Scores<'_>, value: Defined<f64>, reason: &str) -> MetricValue {
    let (n, absent) = (scores.len() as u64, scores.absent() as u64);
    let reason = Undefined::Other(reason.to_owned());
    Estimate::of(value).without_error(&reason).counted(n, absent).into()
}

/// The metric of a figure that describes numbers.
macro_rules! described_metric {
    ($(#[$doc:meta])* $type:ident, $name:literal, $reason:expr, $read:expr) => {
        $(#[$doc])*
        #[derive(Clone, Debug, Default, $crate::Params)]
        #[params(crate = $crate, name = $name)]
        pub struct $type {
            /// How values become numbers.
            #[param(default = $crate::Conversion::default())]
            to_float: Option<$crate::Conversion>,
        }

        impl Metric for $type {
            metric_flags! { self:
                metadata_keys = MetadataKeys::NONE, depends_on_ids = false, score_parts = Value,
                resample_cost = 1
            }

            fn compute(&self, scores: &Scores<'_>) -> Result<MetricValue> {
                let read: fn(&[f64]) -> Defined<f64> = $read;
                let read = |numbers: &[f64]| match numbers {
                    [] => Err(Undefined::NoScores),
                    numbers => read(numbers),
                };
                let value = scores.finite(Self::NAME, &self.to_float_or_default(), read)?;
                Ok(described(scores, value, $reason))
            }
        }
    };
}

/// The number of scores; unscored samples do not count. It has no error.
///
/// # Formula
/// ```text
/// n
/// ```
///
/// # When
/// Counts beside other figures, as of groups: `grouped(count(), "subject")`.
///
/// # Example
/// ```console
/// $ printf '%s\n' id,subject,score 1,law,C 2,law,I 3,law,C 4,art,C 5,art,C 6,art,I > exam.csv
/// $ errorbar score exam.csv --metric 'grouped(count(), "subject")'
/// exam.csv · 6 rows
///
/// score · 6 scored
///   count by subject  n 3 each · no error: a count of these scores, not an estimate
///     law  3
///     art  3
///     all  6  no error: a count of these scores, not an estimate
/// ```
///
/// # See also
/// `sum`, `frequency`
///
/// # Source
/// Defined by errorbar; inspect_ai has no such metric.
#[derive(Clone, Debug, Default, Params)]
#[params(crate = crate, name = "count")]
pub struct CountScores;

impl Metric for CountScores {
    metric_flags! { self:
        metadata_keys = MetadataKeys::NONE, depends_on_ids = false, score_parts = Value, resample_cost = 1
    }

    fn compute(&self, scores: &Scores<'_>) -> Result<MetricValue> {
        Ok(described(scores, Ok(scores.len() as f64), "a count of these scores, not an estimate"))
    }
}

described_metric!(
    /// The sum of the scores. It has no error; a mean has one.
    ///
    /// # Formula
    /// ```text
    /// Σx
    /// ```
    ///
    /// # When
    /// Points or costs add up to a total.
    ///
    /// # Example
    /// ```console
    /// $ printf '%s\n' id,score 1,0.2 2,0.4 3,0.4 4,0.7 5,0.8 6,0.9 > marks.csv
    /// $ errorbar score marks.csv --metric 'sum'
    /// marks.csv · 6 rows
    ///
    /// score · 6 scored
    ///   sum  3.4  no error: a total of these scores, not an estimate; take the mean
    /// ```
    ///
    /// # See also
    /// `mean`, `count`
    ///
    /// # Source
    /// Defined by errorbar; inspect_ai has no such metric.
    Sum,
    "sum",
    "a total of these scores, not an estimate; take the mean",
    |numbers| {
        let mut sum = ExactSum::new();
        sum.extend(numbers);
        Ok(sum.to_f64()).and_then(|sum| if sum.is_finite() { Ok(sum) } else { Err(Undefined::Overflow) })
    }
);

described_metric!(
    /// The smallest score. An extreme has no error; a quantile has one.
    ///
    /// # Formula
    /// ```text
    /// min x
    /// ```
    ///
    /// # When
    /// The worst case that was seen. It falls with every sample more, so compare only runs of the same samples.
    ///
    /// # Example
    /// ```console
    /// $ printf '%s\n' id,score 1,0.2 2,0.4 3,0.4 4,0.7 5,0.8 6,0.9 > marks.csv
    /// $ errorbar score marks.csv --metric 'min'
    /// marks.csv · 6 rows
    ///
    /// score · 6 scored
    ///   min  0.2  no error: an extreme has no standard error; take a quantile
    /// ```
    ///
    /// # See also
    /// `max`, `quantile`
    ///
    /// # Source
    /// Defined by errorbar; inspect_ai has no such metric.
    Min,
    "min",
    OF_EXTREMES,
    // Of the two zeros one, whichever came first.
    |numbers| Ok(numbers.iter().copied().fold(f64::INFINITY, f64::min) + 0.0)
);

described_metric!(
    /// The largest score. An extreme has no error; a quantile has one.
    ///
    /// # Formula
    /// ```text
    /// max x
    /// ```
    ///
    /// # When
    /// The best case that was seen. It rises with every sample more, so compare only runs of the same samples.
    ///
    /// # Example
    /// ```console
    /// $ printf '%s\n' id,score 1,0.2 2,0.4 3,0.4 4,0.7 5,0.8 6,0.9 > marks.csv
    /// $ errorbar score marks.csv --metric 'max'
    /// marks.csv · 6 rows
    ///
    /// score · 6 scored
    ///   max  0.9  no error: an extreme has no standard error; take a quantile
    /// ```
    ///
    /// # See also
    /// `min`, `quantile`
    ///
    /// # Source
    /// Defined by errorbar; inspect_ai has no such metric.
    Max,
    "max",
    OF_EXTREMES,
    |numbers| Ok(numbers.iter().copied().fold(f64::NEG_INFINITY, f64::max) + 0.0)
);

#[cfg(test)]
mod tests {
    use super::*;

    const MICE: [f64; 7] = [16.0, 23.0, 38.0, 94.0, 99.0, 141.0, 197.0];

    /// Efron and Tibshirani's treated mice: the ideal bootstrap error of the median is 37.83.
    #[test]
    fn the_error_of_a_median_is_that_of_the_ideal_bootstrap() {
        let se = error(&MICE, 0.5).unwrap().se;
        assert!((se - 37.83).abs() < 0.005, "{se}");
    }

    /// All resamples of few scores, ties among them, at ranks and between ranks.
    #[test]
    fn the_error_is_that_of_all_resamples() {
        for scores in [&[1.0, 2.0][..], &[1.0, 2.0, 4.0, 4.0, 9.0], &[-3.0, 0.5, 0.5, 7.0, 8.0, 20.0]] {
            let n = scores.len();
            for q in [0.05, 0.25, 0.5, 0.6, 0.9, 0.99] {
                let (mut sum, mut squares, count) = (0.0, 0.0, n.pow(n as u32));
                for draw in 0..count {
                    let mut resample: Vec<f64> =
                        (0..n).map(|at| scores[draw / n.pow(at as u32) % n]).collect();
                    resample.sort_unstable_by(f64::total_cmp);
                    let value = quantile_linear(&resample, q);
                    (sum, squares) = (sum + value, squares + value * value);
                }
                let mean = sum / count as f64;
                let expected = (squares / count as f64 - mean * mean).sqrt();
                let se = error(scores, q).unwrap().se;
                assert!((se - expected).abs() < 1e-9, "{scores:?} {q}: {se} {expected}");
                // Neither vanishes nor overflows.
                let large: Vec<f64> = scores.iter().map(|score| score * 2_f64.powi(600)).collect();
                assert_eq!(error(&large, q).unwrap().se, se * 2_f64.powi(600));
            }
        }
    }

    /// 360 of 400 are 1: their median was 1 ± 5e-46. Of 30 some resample may have another.
    #[test]
    fn a_median_that_never_changes_has_no_error() {
        let scores = |wrong: usize, n: usize| {
            let mut scores = vec![0.0; wrong];
            scores.resize(n, 1.0);
            scores
        };
        let same = Err(Undefined::Other("the same in all resamples".to_owned()));
        assert_eq!(error(&scores(40, 400), 0.5), same);
        assert_eq!(error(&scores(40, 401), 0.5), same);
        assert!(error(&scores(6, 30), 0.5).unwrap().se > 1e-4);
        // Far scores do not matter.
        let mut far = MICE.to_vec();
        far.push(1e12);
        far.extend([40.0; 5]);
        far.sort_unstable_by(f64::total_cmp);
        assert!(error(&far, 0.5).unwrap().se > 1.0);
    }

    #[test]
    fn order_statistics_by_the_binomial() {
        let scores: Vec<f64> = (1..=20).map(f64::from).collect();
        let (interval, reason) = interval(&scores, 0.5, &ErrorPlan::new()).unwrap();
        // Conover, "Practical Nonparametric Statistics", table A3: ranks 6 and 15 of 20, 95.86 %.
        assert_eq!((interval.lower, interval.upper), (6.0, 15.0));
        assert_eq!(reason, "scores 6 and 15 of 20: 95.86 %");
    }

    #[test]
    fn too_few_scores_for_a_level() {
        let five = [1.0, 2.0, 3.0, 4.0, 5.0];
        let reason = interval(&five, 0.5, &ErrorPlan::new()).unwrap_err();
        assert_eq!(reason, Undefined::Other("n = 5 reaches 93.75 %".to_owned()));
        let six = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0];
        assert_eq!(interval(&six, 0.5, &ErrorPlan::new()).unwrap().0.upper, 6.0);
        let lower = ErrorPlan { side: Some(IntervalSide::Lower), ..ErrorPlan::new() };
        // One tail needs fewer: 1 − 2⁻⁵ = 96.875 %.
        assert_eq!(interval(&five, 0.5, &lower).unwrap().0.lower, 1.0);
    }

    #[test]
    fn a_range_that_a_score_lies_outside_of_is_no_bound() {
        let scores: Vec<f64> = (18..=30).map(f64::from).collect();
        let upper = |range| {
            let plan = ErrorPlan { side: Some(IntervalSide::Lower), range: Some(range), ..ErrorPlan::new() };
            interval(&scores, 0.5, &plan).unwrap().0.upper
        };
        assert_eq!((upper((0.0, 10.0)), upper((0.0, 30.0))), (f64::INFINITY, 30.0));
    }

    /// 0.9³⁰ = 4.24 % is too much for one of two equal tails of 2.5 %, and not for 5 % in all.
    #[test]
    fn a_tail_that_is_too_long_takes_from_the_other() {
        let scores: Vec<f64> = (1..=30).map(f64::from).collect();
        let (interval, _) = interval(&scores, 0.9, &ErrorPlan::new()).unwrap();
        assert_eq!(interval.upper, 30.0);
        let missed = missed_below(interval.lower as u64, 30, 0.9) + missed_above(30, 30, 0.9);
        assert!(
            missed <= 0.05 && missed + missed_below(interval.lower as u64 + 1, 30, 0.9) > 0.05,
            "{missed}"
        );
    }
}
