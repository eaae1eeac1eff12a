//! Independent scores: their moments, and their distinct values as far as a bootstrap needs them.

use super::bytes::{Encode, MAX_COUNT, byte, count, invalid, put_count};
use super::kind::Extent;
use crate::error::Result;
use errorbar_stats::exact::{Moments, tally};

/// Below this number of scores, `auto` looks at their skewness.
pub(super) const FEW: u64 = 50;

/// The largest number of distinct values that are retained for an interval that resamples.
pub(super) const MAX_DISTINCT: usize = 1_000_000;

/// How long the distinct values are retained.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ValueRetention {
    /// As long as there are fewer than [`FEW`] scores.
    WhileFew,
    /// As long as there are at most [`MAX_DISTINCT`] of them.
    UpToLimit,
}

impl ValueRetention {
    /// Whether the values of `n` scores are retained, `distinct` of them. Both numbers only grow, so it does not matter
    /// in which order and in which parts the scores come.
    fn keeps(self, n: u64, distinct: usize) -> bool {
        match self {
            ValueRetention::WhileFew => n < FEW,
            ValueRetention::UpToLimit => distinct <= MAX_DISTINCT,
        }
    }
}

/// What independent scores are summed up to.
#[derive(Clone, Debug, PartialEq)]
pub struct IndependentScores {
    pub(super) moments: Moments,
    pub(super) extent: Extent,
    /// Distinct values with their counts, ascending; dropped for good when there are too many.
    pub(super) values: Option<Vec<(f64, u64)>>,
    keep: ValueRetention,
}

impl IndependentScores {
    pub(super) fn new(keep: ValueRetention) -> Self {
        IndependentScores { moments: Moments::new(), extent: Extent::NONE, values: Some(Vec::new()), keep }
    }

    /// As many zeros and ones.
    pub(super) fn of_zeros_and_ones(zeros: u64, ones: u64) -> Self {
        let mut scores = IndependentScores::new(ValueRetention::UpToLimit);
        let values: Vec<(f64, u64)> =
            [(0.0, zeros), (1.0, ones)].into_iter().filter(|(_, n)| *n > 0).collect();
        values.iter().for_each(|(value, times)| scores.moments.push_times(*value, *times));
        let ends: Vec<f64> = values.iter().map(|(value, _)| *value).collect();
        scores.extent = Extent::of(&ends);
        scores.values = Some(values);
        scores
    }

    /// Scores whose values are not retained.
    pub(super) fn without_values(moments: Moments, extent: Extent) -> Self {
        IndependentScores { moments, extent, values: None, keep: ValueRetention::WhileFew }
    }

    pub(super) fn update(&mut self, numbers: &[f64]) {
        self.moments.extend(numbers);
        self.extent = self.extent.and(Extent::of(numbers));
        self.keep_values(|| tally(numbers));
    }

    /// Takes in scores that are given as values, ascending, with how often each occurs.
    pub(super) fn add_values(&mut self, values: Vec<(f64, u64)>) {
        values.iter().for_each(|(value, times)| self.moments.push_times(*value, *times));
        let floats: Vec<f64> = values.iter().map(|(value, _)| *value).collect();
        self.extent = self.extent.and(Extent::of(&floats));
        self.keep_values(|| values);
    }

    /// Keeps the values of more scores, already counted in the moments, or none any longer.
    fn keep_values(&mut self, more: impl FnOnce() -> Vec<(f64, u64)>) {
        let n = self.moments.count();
        let Some(values) = self.values.take().filter(|values| self.keep.keeps(n, values.len())) else {
            return;
        };
        self.values = Some(merged(values, more())).filter(|values| self.keep.keeps(n, values.len()));
    }

    pub(super) fn merge(&mut self, other: &IndependentScores) -> Result<()> {
        if self.keep != other.keep {
            return Err(invalid("summaries of different plans cannot be merged"));
        }
        if self.moments.count() + other.moments.count() > MAX_COUNT {
            return Err(invalid("a count beyond 2^53"));
        }
        self.moments.merge(&other.moments);
        self.extent = self.extent.and(other.extent);
        match &other.values {
            Some(values) => self.keep_values(|| values.clone()),
            None => self.values = None,
        }
        Ok(())
    }

    pub(super) fn write(&self, out: &mut Vec<u8>) {
        self.moments.put(out);
        self.extent.put(out);
        let Some(values) = &self.values else { return out.push(0) };
        out.push(1);
        put_count(values.len() as u64, out);
        for (value, times) in values {
            value.put(out);
            put_count(*times, out);
        }
    }

    pub(super) fn read(keep: ValueRetention, bytes: &mut &[u8]) -> Result<Self> {
        let mut plain = IndependentScores::new(keep);
        plain.moments = Moments::get(bytes)?;
        plain.extent = Extent::get(bytes)?;
        let n = plain.moments.count();
        plain.values = match byte(bytes)? {
            0 => None,
            1 => Some(read_values(bytes)?),
            _ => return Err(invalid("a flag that is neither 0 nor 1")),
        };
        let fits = match (&plain.values, keep) {
            (Some(values), _) => keep.keeps(n, values.len()) && plain.is_of(values),
            (None, ValueRetention::WhileFew) => !keep.keeps(n, 0),
            (None, ValueRetention::UpToLimit) => n > MAX_DISTINCT as u64,
        };
        if !fits || !plain.extent.fits(&plain.moments) {
            return Err(invalid("sums that are not those of the values"));
        }
        Ok(plain)
    }

    /// Whether sums and ends are those of these values.
    fn is_of(&self, values: &[(f64, u64)]) -> bool {
        let Some(total) = values.iter().try_fold(0_u64, |total, (_, times)| total.checked_add(*times)) else {
            return false;
        };
        let mut moments = Moments::new();
        if total == self.moments.count() {
            values.iter().for_each(|(value, times)| moments.push_times(*value, *times));
        }
        let floats: Vec<f64> = values.iter().map(|(value, _)| *value).collect();
        moments == self.moments && self.extent == Extent::of(&floats)
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

fn read_values(bytes: &mut &[u8]) -> Result<Vec<(f64, u64)>> {
    let mut values: Vec<(f64, u64)> = Vec::new();
    for _ in 0..count(bytes)? {
        let (value, times) = (f64::get(bytes)?, count(bytes)?);
        let ascends = values.last().is_none_or(|(before, _)| *before < value);
        let negative_zero = value == 0.0 && value.is_sign_negative();
        if !value.is_finite() || negative_zero || !ascends || times == 0 {
            return Err(invalid("values that are not in order"));
        }
        values.push((value, times));
    }
    Ok(values)
}

/// Two ascending lists of values with counts as one.
fn merged(left: Vec<(f64, u64)>, right: Vec<(f64, u64)>) -> Vec<(f64, u64)> {
    if left.is_empty() {
        return right;
    }
    let mut all: Vec<(f64, u64)> = Vec::with_capacity(left.len() + right.len());
    let (mut left, mut right) = (left.into_iter().peekable(), right.into_iter().peekable());
    loop {
        let next = match (left.peek(), right.peek()) {
            (Some((a, _)), Some((b, _))) if a.total_cmp(b).is_le() => left.next(),
            (Some(_), None) => left.next(),
            (_, Some(_)) => right.next(),
            (None, None) => return all,
        };
        let Some((value, times)) = next else { return all };
        match all.last_mut() {
            Some((last, count)) if last.to_bits() == value.to_bits() => *count += times,
            _ => all.push((value, times)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Pébay, "Formulas for robust, one-pass parallel computation of covariances and arbitrary-order statistical moments",
    /// 2008: of 1, 2, 4, 8 and 3, 9, 27 merged, the mean is 54/7, M₂ 3412/7 and M₃ 319968/49.
    #[test]
    fn merged_scores_have_the_moments_of_the_whole() {
        let of = |values: &[f64]| {
            let mut scores = IndependentScores::new(ValueRetention::UpToLimit);
            scores.update(values);
            scores
        };
        let mut merged = of(&[1.0, 2.0, 4.0, 8.0]);
        merged.merge(&of(&[3.0, 9.0, 27.0])).unwrap();
        assert_eq!(merged.moments.mean(), Some(54.0 / 7.0));
        let m2 = 3412.0 / 7.0;
        assert!((merged.moments.variance().unwrap() / (m2 / 6.0) - 1.0).abs() < 1e-15);
        let skewness = (319_968.0 / 49.0 / 7.0) / ((m2 / 7.0) * (m2 / 7.0_f64).sqrt());
        assert!((merged.skewness().unwrap() / skewness - 1.0).abs() < 1e-14);
    }
}
