//! The wild cluster bootstrap of a mean, with the null hypothesis imposed, turned into an interval.
//!
//! Of a hypothesis μ the clusters have the deviations U_g = S_g − n_g·μ. Each resample gives them random weights v_g, whose mean is
//! 0 and whose variance is 1, and its statistic is T(v) = Σ v_g U_g over the root of its clustered variance, Σ (v_g U_g −
//! n_g·Σ v U/n)². The weights 1 give the statistic of the data; the p-value is the share of resamples with a |T(v)| at
//! least as large; the interval has all μ whose p-value is above 1 − level. Cameron, Gelbach & Miller, "Bootstrap-based improvements for
//! inference with clustered errors", 2008; Webb, "Reworking wild bootstrap-based inference for clustered errors", 2014.
//!
//! T(v)² is a ratio of quadratics in μ, whose coefficients are a few sums over the clusters. They are computed once per resample,
//! and a p-value then costs a few operations per resample, however many clusters there are.

use rayon::iter::{IndexedParallelIterator, IntoParallelIterator, ParallelIterator};
use rayon::slice::ParallelSlice;

use super::means::ClusterTotal;
use crate::exact::root_of_squares;
use crate::random::Stream;
use crate::random::Xoshiro;
use crate::random::purpose::WILD_WEIGHTS;

/// The weights: those above 0; each is drawn with either sign.
#[derive(Clone, Copy, Debug)]
pub struct WeightPoints(&'static [f64]);

impl WeightPoints {
    /// Webb's six points, ±√½, ±1, ±√1½.
    pub const WEBB: WeightPoints =
        WeightPoints(&[std::f64::consts::FRAC_1_SQRT_2, 1.0, 1.224_744_871_391_589]);
    /// ±1.
    pub const RADEMACHER: WeightPoints = WeightPoints(&[1.0]);

    /// The number of points.
    fn points(self) -> u64 {
        2 * self.0.len() as u64
    }

    /// The weight of a digit below the number of points.
    fn weight(self, digit: u64) -> f64 {
        let magnitude = self.0.get((digit / 2) as usize).copied().unwrap_or(1.0);
        if digit.is_multiple_of(2) { magnitude } else { -magnitude }
    }

    /// The greatest number of clusters whose resamples are all computed: 6^6 of Webb's weights, 2^12 of ±1.
    pub fn most_enumerated(self) -> usize {
        if self.0.len() == 1 { 12 } else { 6 }
    }

    /// How many digits a random word has, and the first word of which a digit would be likelier than another.
    fn digits(self) -> (u32, u64) {
        if self.0.len() == 1 {
            // Of 2^63 both digits are equally likely.
            return (63, 1 << 63);
        }
        let all = 6_u64.pow(20);
        (20, u64::MAX / all * all)
    }
}

/// A cluster: n_g·x̄ less than its sum, and its size, in units that make both about 1.
#[derive(Clone, Copy)]
struct Deviation {
    sum: f64,
    size: f64,
}

/// The sums of a resample that give its statistic for every hypothesis.
#[derive(Clone, Copy, Default)]
struct Resample {
    /// Σ v·D, Σ v·n, Σ v·n·D, Σ v·n².
    linear: [f64; 4],
    /// Σ v²·D², Σ v²·n·D, Σ v²·n².
    quadratic: [f64; 3],
}

impl Resample {
    #[inline]
    fn add(&mut self, weight: f64, cluster: Deviation) {
        let Deviation { sum, size } = cluster;
        let square = weight * weight;
        let [a, b, c, e] = &mut self.linear;
        *a += weight * sum;
        *b += weight * size;
        *c += weight * size * sum;
        *e += weight * size * size;
        let [d2, nd, n2] = &mut self.quadratic;
        *d2 += square * sum * sum;
        *nd += square * size * sum;
        *n2 += square * size * size;
    }
}

/// All resamples of a wild cluster bootstrap.
pub struct WildBootstrap {
    mean: f64,
    /// The distance of a hypothesis from the mean that counts as 1.
    unit: f64,
    /// Σ n_g, Σ n_g² and Σ D_g² in the units of the clusters.
    size: f64,
    sizes_squared: f64,
    scatter: f64,
    /// Those whose weights differ.
    resamples: Vec<Resample>,
    /// The resamples whose weights are all the same: their statistic is that of the data, whatever the hypothesis.
    constant: u64,
    total: u64,
}

impl WildBootstrap {
    /// With as many resamples if there are too many clusters to compute all of them. `None` if there are fewer than two
    /// clusters, if they do not differ, or if they are beyond a float.
    pub fn new(clusters: &[ClusterTotal], weights: WeightPoints, draws: usize, seed: u64) -> Option<Self> {
        let g = clusters.len() as f64;
        let (mean, n) = ClusterTotal::mean_of(clusters);
        let deviations: Vec<f64> = clusters.iter().map(|cluster| cluster.deviation(mean)).collect();
        let root = root_of_squares(&deviations, 1.0 / g.max(1.0));
        if !(clusters.len() > 1 && root > 0.0 && root.is_finite() && mean.is_finite()) {
            return None;
        }
        let size_unit = n as f64 / g;
        let scaled = clusters.iter().zip(&deviations);
        let mut things: Vec<Deviation> = scaled
            .map(|(cluster, sum)| Deviation { sum: sum / root, size: cluster.size as f64 / size_unit })
            .collect();
        // In an order that does not depend on that in which clusters were seen.
        things.sort_unstable_by(|a, b| a.sum.total_cmp(&b.sum).then(a.size.total_cmp(&b.size)));
        let mut bootstrap = WildBootstrap {
            mean,
            unit: root / size_unit,
            size: things.iter().map(|thing| thing.size).sum(),
            sizes_squared: things.iter().map(|thing| thing.size * thing.size).sum(),
            scatter: things.iter().map(|thing| thing.sum * thing.sum).sum(),
            resamples: Vec::new(),
            constant: 0,
            total: 0,
        };
        if things.len() <= weights.most_enumerated() {
            bootstrap.enumerate(&things, weights);
        } else {
            bootstrap.draw(&things, weights, draws, seed);
        }
        Some(bootstrap)
    }

    /// All weights, but for the sign of the first one: a resample and its mirror image have the same |T|.
    fn enumerate(&mut self, clusters: &[Deviation], weights: WeightPoints) {
        let points = weights.points();
        let others = points.pow(clusters.len() as u32 - 1);
        self.total = points / 2 * others;
        for number in 0..self.total {
            let mut resample = Resample::default();
            let (mut rest, mut is_constant) = (number % others, true);
            let first = 2 * (number / others);
            for (at, cluster) in clusters.iter().enumerate() {
                let digit = if at == 0 {
                    first
                } else {
                    let digit = rest % points;
                    rest /= points;
                    digit
                };
                is_constant &= digit == first;
                resample.add(weights.weight(digit), *cluster);
            }
            if is_constant { self.constant += 1 } else { self.resamples.push(resample) }
        }
    }

    /// Random weights. The data itself counts as one more resample, so that no p-value is 0.
    fn draw(&mut self, clusters: &[Deviation], weights: WeightPoints, draws: usize, seed: u64) {
        let table: Vec<f64> = (0..weights.points()).map(|digit| weights.weight(digit)).collect();
        let (digits, end) = weights.digits();
        let points = weights.points();
        let one = |draw: usize| {
            let mut random = Xoshiro::from_stream(Stream::new(seed, WILD_WEIGHTS, draw as u64));
            let mut resample = Resample::default();
            let (mut first, mut is_constant) = (None, true);
            for some in clusters.chunks(digits as usize) {
                let mut word = random.next_u64();
                while word >= end {
                    word = random.next_u64();
                }
                for cluster in some {
                    let digit = word % points;
                    word /= points;
                    is_constant &= *first.get_or_insert(digit) == digit;
                    resample.add(table.get(digit as usize).copied().unwrap_or(1.0), *cluster);
                }
            }
            (!is_constant).then_some(resample)
        };
        let least = (1 << 16) / clusters.len().max(1);
        let found: Vec<Option<Resample>> =
            (0..draws).into_par_iter().with_min_len(least.max(1)).map(one).collect();
        self.total = draws as u64 + 1;
        self.constant = 1 + found.iter().filter(|resample| resample.is_none()).count() as u64;
        self.resamples = found.into_iter().flatten().collect();
    }

    /// The p-value that a hypothesis far away has: no level above 1 less this has an interval.
    pub fn least_p(&self) -> f64 {
        self.constant as f64 / self.total as f64
    }

    /// The p-value of a hypothesis at this distance from the mean, in units.
    fn p(&self, distance: f64) -> f64 {
        // Rounding must not decide whether a statistic is as large as that of the data.
        const ROUNDING: f64 = 1e-12;
        let &WildBootstrap { size, sizes_squared, scatter, .. } = self;
        let observed = size * size * distance * distance;
        let is_extreme = |resample: &&Resample| {
            let [a, b, c, e] = resample.linear;
            let [d2, nd, n2] = resample.quadratic;
            let sum = a - b * distance;
            let share = sum / size;
            let squares = d2 + distance * (n2 * distance - 2.0 * nd);
            let variance = squares + share * (share * sizes_squared - 2.0 * (c - e * distance));
            sum * sum * scatter >= observed * variance * (1.0 - ROUNDING)
        };
        let counts = self.resamples.par_chunks(1 << 13);
        let extreme: usize = counts.map(|part| part.iter().filter(is_extreme).count()).sum();
        (self.constant + extreme as u64) as f64 / self.total as f64
    }

    /// The two hypotheses below and above the mean from which on p-values are at most `p`. `None` if the p-values stay
    /// above it.
    pub fn ends(&self, p: f64) -> Option<(f64, f64)> {
        if self.least_p() > p {
            return None;
        }
        let lower = self.end(p, -1.0)?;
        let upper = self.end(p, 1.0)?;
        Some((self.mean + lower * self.unit, self.mean + upper * self.unit))
    }

    fn end(&self, p: f64, direction: f64) -> Option<f64> {
        // About one standard error.
        let mut outside = direction / (self.size - 1.0).max(1.0).sqrt();
        let mut inside = 0.0;
        while self.p(outside) > p {
            (inside, outside) = (outside, 2.0 * outside);
            if outside.abs() > 1e12 {
                return None;
            }
        }
        loop {
            let middle = 0.5 * (inside + outside);
            if middle == inside || middle == outside {
                return Some(middle);
            }
            if self.p(middle) > p { inside = middle } else { outside = middle }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_have_mean_0_and_variance_1() {
        for weights in [WeightPoints::WEBB, WeightPoints::RADEMACHER] {
            let all: Vec<f64> = (0..weights.points()).map(|digit| weights.weight(digit)).collect();
            assert_eq!(all.iter().sum::<f64>(), 0.0);
            let variance = all.iter().map(|v| v * v).sum::<f64>() / all.len() as f64;
            assert!((variance - 1.0).abs() < 1e-15, "{variance}");
            let (digits, end) = weights.digits();
            assert_eq!(end % weights.points().pow(digits), 0);
        }
    }
}
