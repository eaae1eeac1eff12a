//! The ideal bootstrap of a mean: all means that resampling can give, with their probabilities, without drawing any.
//!
//! 1. Two distinct values: the number of the larger one is binomial.
//! 2. Values with a common step: the distribution of a sum of n of them is the n-th convolution power of that of one, which
//!    is a power of its Fourier transform. Only the part of the lattice that the sum can reach with a probability above
//!    10^-15 is needed, about 2·√(69·n)·σ points: what lies beyond wraps around and is too small to matter.
//! 3. A few other values: all ways to draw n of them, of which there are C(n + d − 1, n), each with its multinomial
//!    probability.

use std::f64::consts::PI;

use super::means::ClusterTotal;
use crate::exact::ExactSum;

/// The largest number of means.
const MAX_MEANS: usize = 1 << 20;
/// The largest number of steps between the least and the greatest value.
const MAX_STEPS: f64 = 1e6;
/// Probabilities below this, all together, are left out.
const NEGLIGIBLE: f64 = 1e-15;
/// −ln of it.
const LOG_NEGLIGIBLE: f64 = 34.6;
/// Sums of probabilities are off by no more than this.
const ROUNDING: f64 = 1e-12;

/// What is resampled as a whole: a score or a cluster of scores, as often as it occurs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ResamplingUnit {
    total: ClusterTotal,
    count: u64,
}

impl ResamplingUnit {
    /// A value that occurs `count` times.
    pub fn score(value: f64, count: u64) -> Self {
        ResamplingUnit { total: ClusterTotal::new(1, (value, 0.0)), count }
    }

    /// A cluster, drawn with all its observations.
    pub fn cluster(total: &ClusterTotal) -> Self {
        ResamplingUnit { total: *total, count: 1 }
    }
}

/// Why there is no ideal distribution: the values have no common step, and there are too many ways to draw them.
const NO_STEP: &str = "exact is for scores with a common step, such as 0, ½ and 1, or very few scores";
/// The values have a common step, and their sums too many values.
const TOO_MANY_SUMS: &str =
    "exact is for scores with few steps between the lowest and the highest, or very few scores";
/// Clusters of several sizes, and too many ways to draw them.
const UNEQUAL_CLUSTERS: &str = "exact is for clusters of one size, or very few clusters";
/// There is nothing to resample, or a sum is beyond the largest float.
const NOT_FINITE: &str = "overflow";

/// All means of resamples in ascending order, with their probabilities.
#[derive(Clone, Debug, PartialEq)]
pub struct IdealMeans(Vec<(f64, f64)>);

impl IdealMeans {
    /// The distribution of the mean of as many units as there are, drawn with replacement.
    ///
    /// # Errors
    /// A phrase that says what it is for, if there are too many means.
    pub fn of(things: Vec<ResamplingUnit>) -> Result<Self, &'static str> {
        let (units, mean) = DistinctUnit::all(things)?;
        let n: u64 = units.iter().map(|unit| unit.count).sum();
        let is_equal = units.windows(2).all(|pair| matches!(pair, [a, b] if a.size == b.size));
        let means = match units.as_slice() {
            [only] => vec![(only.mean, 1.0)],
            [low, high] if is_equal => binomial(low, high, n),
            several if is_equal => match lattice(several, n) {
                Err(problem) => enumerated(several, n, mean).ok_or(problem)?,
                Ok(means) => means,
            },
            several => enumerated(several, n, mean).ok_or(UNEQUAL_CLUSTERS)?,
        };
        Ok(IdealMeans(means))
    }

    /// Whether there are no means, which cannot be.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The number of means.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// The smallest mean with a probability of at least `q` at or below it.
    pub fn quantile(&self, q: f64) -> f64 {
        let mut below = 0.0;
        let reached = |(_, probability): &&(f64, f64)| {
            below += probability;
            below >= q - ROUNDING
        };
        self.0.iter().find(reached).or(self.0.last()).map_or(f64::NAN, |(mean, _)| *mean)
    }

    /// The standard deviation: the ideal bootstrap error.
    pub fn standard_deviation(&self) -> f64 {
        let mean: f64 = self.0.iter().map(|(mean, probability)| mean * probability).sum();
        let squares: f64 = self.0.iter().map(|(m, probability)| (m - mean) * (m - mean) * probability).sum();
        squares.sqrt()
    }
}

/// A distinct thing.
#[derive(Clone, Copy, Debug)]
struct DistinctUnit {
    /// Its own mean.
    mean: f64,
    /// Its sum, less that of as many means of all.
    deviation: f64,
    size: f64,
    count: u64,
}

impl DistinctUnit {
    /// The distinct things in ascending order, and the mean of all.
    fn all(things: Vec<ResamplingUnit>) -> Result<(Vec<DistinctUnit>, f64), &'static str> {
        let (mut sum, mut n) = (ExactSum::new(), 0);
        for ResamplingUnit { total, count } in &things {
            sum.add_times(total.sum.0, *count);
            sum.add_times(total.sum.1, *count);
            n += total.size * count;
        }
        let mean = sum.divide(n.max(1));
        let unit = |ResamplingUnit { total, count }: &ResamplingUnit| {
            let size = total.size as f64;
            let own = (total.sum.0 + total.sum.1) / size;
            DistinctUnit { mean: own, deviation: total.deviation(mean), size, count: *count }
        };
        let mut units: Vec<DistinctUnit> = things.iter().map(unit).collect();
        if !mean.is_finite() || units.is_empty() || units.iter().any(|unit| !unit.deviation.is_finite()) {
            return Err(NOT_FINITE);
        }
        units.sort_unstable_by(|a, b| a.deviation.total_cmp(&b.deviation).then(a.size.total_cmp(&b.size)));
        units.dedup_by(|next, kept| {
            let is_same = next.deviation == kept.deviation && next.size == kept.size;
            kept.count += if is_same { next.count } else { 0 };
            is_same
        });
        Ok((units, mean))
    }
}

/// Of two things of one size: the number of the larger one is binomial.
fn binomial(low: &DistinctUnit, high: &DistinctUnit, n: u64) -> Vec<(f64, f64)> {
    let odds = high.count as f64 / low.count as f64;
    // Outwards from the mode, which is the mean: the share of the larger one is a whole number of n-ths.
    let mode = high.count;
    let step = |k: u64| (n - k) as f64 / (k + 1) as f64 * odds;
    let mut weights = std::collections::VecDeque::from([1.0]);
    let (mut first, mut last) = (mode, mode);
    let mut weight = 1.0;
    while first > 0 && weight > NEGLIGIBLE * 1e-6 {
        weight /= step(first - 1);
        first -= 1;
        weights.push_front(weight);
    }
    weight = 1.0;
    while last < n && weight > NEGLIGIBLE * 1e-6 {
        weight *= step(last);
        last += 1;
        weights.push_back(weight);
    }
    let total: f64 = weights.iter().sum();
    let mean = |k: u64| between(low, high, k as f64 / n as f64);
    (first..).zip(weights).map(|(k, weight)| (mean(k), weight / total)).collect()
}

/// The mean of two things of one size, of which the larger one has this share; its ends are reached exactly.
fn between(low: &DistinctUnit, high: &DistinctUnit, share: f64) -> f64 {
    if share == 1.0 { high.mean } else { (low.mean + (high.mean - low.mean) * share).min(high.mean) }
}

/// Of things of one size with a common step.
fn lattice(units: &[DistinctUnit], n: u64) -> Result<Vec<(f64, f64)>, &'static str> {
    let (Some(least), Some(greatest)) = (units.first(), units.last()) else {
        return Err(NOT_FINITE);
    };
    let range = greatest.deviation - least.deviation;
    let step =
        common_step(units.iter().map(|unit| unit.deviation - least.deviation), range).ok_or(NO_STEP)?;
    let draws = n as f64;
    let places: Vec<(u64, f64)> = units
        .iter()
        .map(|unit| (((unit.deviation - least.deviation) / step).round() as u64, unit.count as f64 / draws))
        .collect();
    let steps = (range / step).round();
    let mean: f64 = places.iter().map(|(place, share)| *place as f64 * share).sum();
    let square = |place: u64| (place as f64 - mean) * (place as f64 - mean);
    let variance: f64 = places.iter().map(|(place, share)| square(*place) * share).sum();
    // Bernstein's inequality: beyond this distance from its mean the sum has a negligible probability.
    let reach = LOG_NEGLIGIBLE * steps / 3.0;
    let reach = reach + (reach * reach + 2.0 * LOG_NEGLIGIBLE * draws * variance).sqrt();
    let most = draws * steps;
    let first = (mean * draws - reach).floor().max(0.0);
    let last = (mean * draws + reach).ceil().min(most);
    let needed = last - first + 1.0;
    if needed > MAX_MEANS as f64 {
        return Err(TOO_MANY_SUMS);
    }
    let (first, needed) = (first as u64, needed as usize);
    let size = needed.next_power_of_two();
    // A place modulo the size is the same place: what would overlap is negligible.
    let place = |sum: u64| (sum % size as u64) as usize;
    let mut values: Vec<Complex> = vec![(0.0, 0.0); size];
    for (at, share) in places {
        if let Some(value) = values.get_mut(place(at)) {
            value.0 += share;
        }
    }
    transform(&mut values, false);
    values.iter_mut().for_each(|value| *value = power(*value, n));
    transform(&mut values, true);
    let sums = (first..).take(needed);
    let probability = |sum: u64| values.get(place(sum)).map_or(0.0, |value| value.0.max(0.0));
    Ok(sums.map(|sum| (between(least, greatest, sum as f64 / most), probability(sum))).collect())
}

/// The largest step of which all distances are multiples, but for rounding; `None` if it is below a millionth of the
/// range.
fn common_step(distances: impl Iterator<Item = f64> + Clone, range: f64) -> Option<f64> {
    /// Rounding of distances, in units of the range.
    const TOLERANCE: f64 = 1e-10;
    let tolerance = TOLERANCE * range;
    let mut step = range;
    for distance in distances.clone() {
        // Euclid's algorithm; what is nearly a whole step is one.
        let (mut a, mut b) = (distance, step);
        while a > tolerance {
            let rest = b % a;
            (a, b) = (if a - rest <= tolerance { 0.0 } else { rest }, a);
        }
        if range / b > MAX_STEPS {
            return None;
        }
        // A whole part of the range again: an error of the step would grow with the multiples of the next distances.
        step = range / (range / b).round();
    }
    let is_multiple = |distance: f64| (distance / step - (distance / step).round()).abs() < 1e-4;
    distances.clone().all(is_multiple).then_some(step)
}

/// Of any things, if there are few ways to draw them: each way with its multinomial probability.
fn enumerated(units: &[DistinctUnit], n: u64, mean: f64) -> Option<Vec<(f64, f64)>> {
    // C(n + d − 1, d − 1), which only grows on the way.
    let mut ways = 1.0;
    for at in 1..units.len() as u64 {
        ways *= (n + at) as f64 / at as f64;
        if ways > MAX_MEANS as f64 {
            return None;
        }
    }
    let mut logs = Vec::with_capacity(n as usize + 1);
    let mut log = 0.0;
    for k in 0..=n {
        log += if k > 0 { libm::log(k as f64) } else { 0.0 };
        logs.push(log);
    }
    let means = Vec::with_capacity(ways as usize);
    let mut all = Enumeration { units, factorials: &logs, draws: n as f64, means };
    all.visit(0, n, DrawnUnits { weight: logs.last().copied().unwrap_or(0.0), sum: 0.0, size: 0.0 });
    let mut means = all.means;
    means.iter_mut().for_each(|(deviation, _)| *deviation += mean);
    means.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
    Some(means)
}

/// What has been drawn of the first units.
#[derive(Clone, Copy)]
struct DrawnUnits {
    /// The logarithm of its probability.
    weight: f64,
    sum: f64,
    size: f64,
}

struct Enumeration<'a> {
    units: &'a [DistinctUnit],
    /// ln k! for each k.
    factorials: &'a [f64],
    draws: f64,
    means: Vec<(f64, f64)>,
}

impl Enumeration<'_> {
    /// Draws all numbers of each unit from this one on; as many draws are left.
    fn visit(&mut self, at: usize, left: u64, drawn: DrawnUnits) {
        let Some(unit) = self.units.get(at) else { return };
        let is_last = at + 1 == self.units.len();
        let log_share = libm::log(unit.count as f64 / self.draws);
        for k in if is_last { left..=left } else { 0..=left } {
            let times = k as f64;
            let factorial = self.factorials.get(k as usize).copied().unwrap_or(0.0);
            let next = DrawnUnits {
                weight: drawn.weight + times * log_share - factorial,
                sum: drawn.sum + times * unit.deviation,
                size: drawn.size + times * unit.size,
            };
            if is_last {
                self.means.push((next.sum / next.size, libm::exp(next.weight)));
            } else {
                self.visit(at + 1, left - k, next);
            }
        }
    }
}

// The discrete Fourier transform, for powers of distributions on a lattice.

/// A complex number.
pub(super) type Complex = (f64, f64);

pub(super) fn times(a: Complex, b: Complex) -> Complex {
    (a.0 * b.0 - a.1 * b.1, a.0 * b.1 + a.1 * b.0)
}

/// A power by repeated squaring.
pub(super) fn power(mut base: Complex, mut exponent: u64) -> Complex {
    let mut result = (1.0, 0.0);
    while exponent > 0 {
        if exponent % 2 == 1 {
            result = times(result, base);
        }
        base = times(base, base);
        exponent /= 2;
    }
    result
}

/// Σ_j x_j e^(−2πijk/N) for each k, in place; with `inverse` e^(+2πijk/N) and divided by N. N must be a power of two.
///
/// Cooley and Tukey, 1965. Sines come from libm, so the result has the same bits on every platform.
#[expect(clippy::indexing_slicing, reason = "all indices are below the length, a power of two")]
pub(super) fn transform(values: &mut [Complex], inverse: bool) {
    let n = values.len();
    if n < 2 {
        return;
    }
    let bits = n.trailing_zeros();
    for at in 0..n {
        let reversed = at.reverse_bits() >> (usize::BITS - bits);
        if at < reversed {
            values.swap(at, reversed);
        }
    }
    let sign = if inverse { 1.0 } else { -1.0 };
    let roots: Vec<Complex> = (0..n / 2)
        .map(|k| {
            let (sin, cos) = libm::sincos(2.0 * PI * k as f64 / n as f64);
            (cos, sign * sin)
        })
        .collect();
    let mut half = 1;
    while half < n {
        let stride = n / (2 * half);
        for block in values.chunks_exact_mut(2 * half) {
            let (low, high) = block.split_at_mut(half);
            for (k, (a, b)) in low.iter_mut().zip(high).enumerate() {
                let turned = times(*b, roots[k * stride]);
                *b = (a.0 - turned.0, a.1 - turned.1);
                *a = (a.0 + turned.0, a.1 + turned.1);
            }
        }
        half *= 2;
    }
    if inverse {
        for value in values {
            *value = (value.0 / n as f64, value.1 / n as f64);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exact::tally;
    use crate::resampling::acceleration;
    use crate::resampling::units::bca_shares_at;

    /// Efron & Tibshirani, "An Introduction to the Bootstrap", 1993, table 2.1: survival of the treated mice.
    const MICE: [f64; 7] = [94.0, 197.0, 16.0, 38.0, 99.0, 141.0, 23.0];

    fn things(values: &[f64]) -> Vec<ResamplingUnit> {
        tally(values).iter().map(|(value, count)| ResamplingUnit::score(*value, *count)).collect()
    }

    fn ideal(values: &[f64]) -> IdealMeans {
        IdealMeans::of(things(values)).unwrap()
    }

    fn enumeration(values: &[f64]) -> IdealMeans {
        let (units, mean) = DistinctUnit::all(things(values)).unwrap();
        IdealMeans(enumerated(&units, values.len() as u64, mean).unwrap())
    }

    #[test]
    fn the_mice_by_both_ways() {
        let mice = enumeration(&MICE);
        assert_eq!(mice.0.len(), 1716, "C(13, 6) compositions");
        for means in [&mice, &ideal(&MICE)] {
            // Published: 23.36. √(Σ(x − x̄)²)/7 = 23.3635234372996.
            assert!((means.standard_deviation() - 23.3635234372996).abs() < 1e-9);
            assert!((means.quantile(0.025) - 43.42857142857143).abs() < 1e-12);
            assert!((means.quantile(0.975) - 134.42857142857142).abs() < 1e-12);
            assert!((means.0.iter().map(|(_, p)| p).sum::<f64>() - 1.0).abs() < 1e-13);
        }
    }

    #[test]
    fn decimals_have_a_common_step() {
        // All multiples of 1/10^digits that Knuth's multiplicative hash picks, 0 and 1 among them.
        for digits in [1_u32, 2, 3, 4] {
            let most = 10_u64.pow(digits);
            let picked = (0..50_u64).map(|at| at * 2_654_435_761 % (most + 1)).chain([0, most]);
            let values: Vec<f64> = picked.map(|step| step as f64 / most as f64).collect();
            let (units, _) = DistinctUnit::all(things(&values)).unwrap();
            let least = units[0].deviation;
            let range = units.last().unwrap().deviation - least;
            let step = common_step(units.iter().map(|unit| unit.deviation - least), range);
            let times = step.unwrap_or_else(|| panic!("{digits} digits")) * most as f64;
            assert!((times - times.round()).abs() < 1e-9, "{digits} digits: {times}");
        }
    }

    #[test]
    fn bca_of_the_mice() {
        let mice = ideal(&MICE);
        let mean = MICE.iter().sum::<f64>() / 7.0;
        let share = |is: &dyn Fn(f64) -> bool| -> f64 {
            mice.0.iter().filter(|(m, _)| is(*m)).map(|(_, probability)| probability).sum()
        };
        let below = share(&|m| m < mean - 1e-9) + 0.5 * share(&|m| (m - mean).abs() <= 1e-9);
        assert!((crate::distributions::normal_quantile(below) - 0.03066260013264859).abs() < 1e-9);
        let left_out: Vec<f64> = MICE.iter().map(|x| (7.0 * mean - x) / 6.0).collect();
        let acceleration = acceleration(&left_out).unwrap();
        assert!((acceleration - 0.02912058126280391).abs() < 1e-12);
        let [low, high] = bca_shares_at(below, acceleration, [0.025, 0.975]).unwrap();
        assert!((mice.quantile(low) - 46.285714285714285).abs() < 1e-12);
        assert!((mice.quantile(high) - 138.28571428571428).abs() < 1e-12);
    }

    #[test]
    fn three_scores() {
        // √((1.333² + 0.333² + 1.667²)/9), over 27 resamples.
        for means in [enumeration(&[1.0, 2.0, 4.0]), ideal(&[1.0, 2.0, 4.0])] {
            assert!((means.standard_deviation() - 0.7200822998230956).abs() < 1e-14);
        }
    }

    #[test]
    fn zeros_and_ones_are_binomial() {
        // C(4, k)·0.25^k·0.75^(4−k) = 81, 108, 54, 12, 1 of 256.
        let means = ideal(&[0.0, 1.0, 0.0, 0.0]);
        let expected = [81.0, 108.0, 54.0, 12.0, 1.0].map(|x| x / 256.0);
        for ((mean, probability), (k, expected)) in means.0.iter().zip(expected.iter().enumerate()) {
            assert_eq!(*mean, k as f64 / 4.0);
            assert!((probability - expected).abs() < 1e-15);
        }
        assert_eq!(means.0.len(), 5);
        assert_eq!((means.quantile(81.0 / 256.0), means.quantile(82.0 / 256.0)), (0.0, 0.25));
        assert_eq!((means.quantile(0.0), means.quantile(1.0)), (0.0, 1.0));
    }

    #[test]
    fn lattices_agree_with_enumeration() {
        let likert: Vec<f64> = (0..20).map(|at| f64::from([5, 5, 4, 2, 1][at % 5])).collect();
        let thirds: Vec<f64> = (0..25).map(|at| f64::from(at % 4) / 3.0).collect();
        let tenths: Vec<f64> = [0.1, 0.3, 0.7, 0.3, 0.1, 0.1, 0.1, 0.1].map(|x| x + 1000.0).to_vec();
        for values in [likert, thirds, tenths] {
            let (exact, listed) = (ideal(&values), enumeration(&values));
            assert!(exact.0.len() <= listed.0.len(), "{}", exact.0.len());
            for q in [0.001, 0.025, 0.1, 0.5, 0.9, 0.975, 0.999] {
                assert!((exact.quantile(q) - listed.quantile(q)).abs() < 1e-9, "{q}");
            }
            assert!((exact.standard_deviation() - listed.standard_deviation()).abs() < 1e-12);
        }
    }

    #[test]
    fn many_scores_need_a_part_of_the_lattice() {
        let values: Vec<f64> = (0..100_000).map(|at| f64::from((at * 7) % 5)).collect();
        let means = ideal(&values);
        assert!(means.0.len() < 20_000, "{}", means.0.len());
        // √2/√100,000; the rest is what the tails leave out.
        assert!((means.standard_deviation() / (2.0_f64 / 100_000.0).sqrt() - 1.0).abs() < 1e-9);
        let normal = crate::distributions::normal_quantile(0.975) * (2.0_f64 / 100_000.0).sqrt();
        assert!((means.quantile(0.975) - 2.0 - normal).abs() < 2e-5);
    }

    #[test]
    fn what_has_no_ideal_distribution() {
        let roots: Vec<f64> = (1..60).map(|at| f64::from(at).sqrt()).collect();
        assert_eq!(IdealMeans::of(things(&roots)), Err(NO_STEP));
        let mut wide: Vec<f64> = (0..2000).map(|at| f64::from(at % 7)).collect();
        wide[0] = 500_000.0;
        assert_eq!(IdealMeans::of(things(&wide)), Err(TOO_MANY_SUMS));
        assert_eq!(IdealMeans::of(Vec::new()), Err(NOT_FINITE));
        assert_eq!(ideal(&[3.0, 3.0]).0, [(3.0, 1.0)]);
        // Few of them can be listed, whatever they are.
        assert!(IdealMeans::of(things(&roots[..8])).is_ok());
    }

    #[test]
    fn clusters() {
        let cluster = |size, sum| ResamplingUnit::cluster(&ClusterTotal { size, sum: (sum, 0.0) });
        // Of one size: means ½, 1 and 0 of three clusters.
        let equal = IdealMeans::of(vec![cluster(2, 1.0), cluster(2, 2.0), cluster(2, 0.0)]).unwrap();
        assert!((equal.standard_deviation() - (0.5_f64 / 9.0).sqrt()).abs() < 1e-14);
        // 1/1 and 0/3: both of the first 1, both of the second 0, one of each ¼.
        let unequal = IdealMeans::of(vec![cluster(1, 1.0), cluster(3, 0.0)]).unwrap();
        let close =
            |(m, p): (f64, f64), (em, ep): (f64, f64)| (m - em).abs() < 1e-15 && (p - ep).abs() < 1e-15;
        assert!(
            close(unequal.0[0], (0.0, 0.25))
                && close(unequal.0[1], (0.25, 0.5))
                && close(unequal.0[2], (1.0, 0.25))
        );
        let many: Vec<ResamplingUnit> = (1..40).map(|at| cluster(at, f64::from(at as u32).sqrt())).collect();
        assert_eq!(IdealMeans::of(many), Err(UNEQUAL_CLUSTERS));
    }
}

#[cfg(test)]
mod fourier_tests {
    use super::*;

    #[test]
    fn a_transform_is_the_sum_that_it_stands_for_and_comes_back() {
        let values: Vec<Complex> = (0..16).map(|at| (f64::from(at * at % 7), f64::from(at % 3))).collect();
        let mut transformed = values.clone();
        transform(&mut transformed, false);
        for (k, found) in transformed.iter().enumerate() {
            let mut sum = (0.0, 0.0);
            for (j, value) in values.iter().enumerate() {
                let angle = -2.0 * PI * (j * k) as f64 / 16.0;
                let term = times(*value, (angle.cos(), angle.sin()));
                sum = (sum.0 + term.0, sum.1 + term.1);
            }
            assert!((sum.0 - found.0).abs() < 1e-12 && (sum.1 - found.1).abs() < 1e-12, "{k}");
        }
        transform(&mut transformed, true);
        for (before, after) in values.iter().zip(&transformed) {
            assert!((before.0 - after.0).abs() < 1e-14 && (before.1 - after.1).abs() < 1e-14);
        }
        let mut one = [(3.0, 4.0)];
        transform(&mut one, false);
        assert_eq!(
            (one[0], power((0.0, 1.0), 3), power((2.0, 0.0), 10)),
            ((3.0, 4.0), (0.0, -1.0), (1024.0, 0.0))
        );
    }
}
