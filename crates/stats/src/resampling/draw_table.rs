//! Discrete distributions as tables that turn one random word into one outcome.
//!
//! A table gives each outcome its share of the 2^64 words. It is built with additions, multiplications and divisions only, which
//! IEEE 754 rounds the same way everywhere, so that the same word means the same outcome on every platform; samplers that
//! reject by way of a logarithm cannot promise that. The shares are right to about 1e-15 of the whole, which no
//! feasible number of draws could tell from exact.

/// A distribution over consecutive integers (or cells), drawn by inversion.
#[derive(Clone, Debug)]
pub(super) struct DrawTable {
    /// The outcome of the first entry.
    first: u64,
    /// Entry i belongs to the words above `last[i − 1]` up to and including `last[i]`; the final entry is `u64::MAX`.
    last: Vec<u64>,
    /// Where to begin the search, by the leading bits of the word (Chen & Asau's guide table).
    guide: Vec<u32>,
    shift: u32,
}

/// Weights below this share of the largest one have no word of their own.
const NEGLIGIBLE: f64 = 1.0 / (1_u128 << 64) as f64;

const TWO_64: f64 = (1_u128 << 64) as f64;

impl DrawTable {
    /// The number of successes in `n` draws with replacement from `n` things of which `successes` are one: Binomial(n, p).
    /// Needs 0 < successes < n.
    pub(super) fn binomial(n: u64, successes: u64) -> Self {
        let (size, yes, no) = (n as f64, successes as f64, (n - successes) as f64);
        // The mode is ⌊(n + 1)p⌋, which is `successes` when p = successes/n < 1.
        let up = |k: f64| (size - k) * yes / ((k + 1.0) * no);
        let down = |k: f64| k * no / ((size - k + 1.0) * yes);
        Self::unimodal(successes, up, down)
    }

    /// Poisson with an integral mean above 0.
    pub(super) fn poisson(mean: u64) -> Self {
        let mu = mean as f64;
        Self::unimodal(mean, |k| mu / (k + 1.0), |k| k / mu)
    }

    /// One of several cells, each with a chance in proportion to its size. Needs at least one size, all above 0.
    pub(super) fn weighted(sizes: &[u64]) -> Self {
        let weights: Vec<f64> = sizes.iter().map(|&size| size as f64).collect();
        let largest =
            weights.iter().enumerate().fold((0, 0.0), |best, (i, &w)| if w > best.1 { (i, w) } else { best });
        Self::from_weights(0, &weights, largest.0)
    }

    /// Follows the ratios of neighbouring probabilities outwards from the mode until they no longer count. `up(k)` is
    /// P(k + 1)/P(k), `down(k)` is P(k − 1)/P(k); each becomes 0 at the end of the support.
    fn unimodal(mode: u64, up: impl Fn(f64) -> f64, down: impl Fn(f64) -> f64) -> Self {
        let walk = |ratio: &dyn Fn(f64) -> f64, direction: f64| {
            let mut weights = Vec::new();
            let (mut k, mut weight) = (mode as f64, 1.0);
            loop {
                weight *= ratio(k);
                k += direction;
                if weight < NEGLIGIBLE {
                    return weights;
                }
                weights.push(weight);
            }
        };
        let mut weights = walk(&down, -1.0);
        let below = weights.len();
        weights.reverse();
        weights.push(1.0);
        weights.extend(walk(&up, 1.0));
        Self::from_weights(mode - below as u64, &weights, below)
    }

    /// Shares out the words; rounding's leftovers, a few thousand of 2^64, go to the most probable entry.
    fn from_weights(first: u64, weights: &[f64], mode: usize) -> Self {
        let total: f64 = weights.iter().sum();
        let unit = TWO_64 / total;
        let mut shares: Vec<u64> = weights.iter().map(|weight| (weight * unit) as u64).collect();
        let given: u128 = shares.iter().map(|&share| u128::from(share)).sum();
        let leftover = (1_i128 << 64) - given as i128;
        if let Some(share) = shares.get_mut(mode) {
            // The share of a single entry would be 2^64 itself, one more than fits; `last` is set below in any case.
            *share = share.wrapping_add(leftover as u64);
        }
        let mut end = 0_u64;
        let mut last: Vec<u64> = shares
            .iter()
            .map(|&share| {
                end = end.wrapping_add(share);
                end.wrapping_sub(1)
            })
            .collect();
        // Entries without a share: at the start their bound has wrapped around, at the end it repeats.
        let empty = shares.iter().take_while(|&&share| share == 0).count();
        let skipped = if empty == shares.len() { mode } else { empty };
        last.drain(..skipped);
        while last.len() > 1 && last.get(last.len() - 2) == Some(&u64::MAX) {
            last.pop();
        }
        if let Some(end) = last.last_mut() {
            *end = u64::MAX;
        }
        let (guide, shift) = guide(&last);
        Self { first: first + skipped as u64, last, guide, shift }
    }

    /// The outcome that a random word stands for.
    #[inline]
    #[expect(
        clippy::indexing_slicing,
        reason = "the guide has an entry for every value of the leading bits, and the final bound is u64::MAX"
    )]
    pub(super) fn draw(&self, word: u64) -> u64 {
        let mut entry = self.guide[(word >> self.shift) as usize] as usize;
        while word > self.last[entry] {
            entry += 1;
        }
        self.first + entry as u64
    }
}

/// For each value of the leading bits, the entry of the smallest word that begins with them; and the shift that leaves them.
fn guide(last: &[u64]) -> (Vec<u32>, u32) {
    let bits = (2 * last.len()).next_power_of_two().ilog2().clamp(10, 16);
    let shift = 64 - bits;
    let mut entry = 0;
    let starts = (0..1_u64 << bits).map(|prefix| {
        let ahead = last.iter().skip(entry);
        entry += ahead.take_while(|&&end| end < prefix << shift).count();
        entry as u32
    });
    (starts.collect(), shift)
}

#[cfg(test)]
mod tests {
    use super::DrawTable;

    impl DrawTable {
        /// The probability of every entry, with its outcome.
        fn probabilities(&self) -> Vec<(u64, f64)> {
            let mut before = 0;
            let share = |end: u64, before: u64| (end - before) as f64 / 2_f64.powi(64);
            self.last
                .iter()
                .enumerate()
                .map(|(i, &end)| {
                    let row = (self.first + i as u64, share(end, before));
                    before = end;
                    row
                })
                .collect()
        }
    }

    #[test]
    fn binomial_probabilities_are_the_textbook_s() {
        // C(4, k)·0.25^k·0.75^(4−k) = 81, 108, 54, 12, 1 of 256.
        let table = DrawTable::binomial(4, 1).probabilities();
        let expected = [81.0, 108.0, 54.0, 12.0, 1.0].map(|x| x / 256.0);
        assert_eq!(table.len(), 5);
        for ((k, actual), (i, expected)) in table.iter().zip(expected.iter().enumerate()) {
            assert_eq!(*k, i as u64);
            assert!((actual - expected).abs() < 1e-15, "{k}: {actual}");
        }
    }

    #[test]
    fn poisson_probabilities_are_the_textbook_s() {
        // e^-3·3^k/k!
        let table = DrawTable::poisson(3).probabilities();
        let mut expected = (-3.0_f64).exp();
        for (k, actual) in table {
            assert!((actual - expected).abs() < 1e-15, "{k}: {actual}");
            expected *= 3.0 / (k + 1) as f64;
        }
    }

    #[test]
    fn wide_tables_have_the_right_mean_and_variance() {
        // Binomial(10^5, 0.37): mean 37000, variance 37000·0.63 = 23310. Poisson(256): both 256.
        let cases = [
            (DrawTable::binomial(100_000, 37_000), 37_000.0, 23_310.0),
            (DrawTable::poisson(256), 256.0, 256.0),
        ];
        for (table, mean, variance) in cases {
            let rows = table.probabilities();
            let m: f64 = rows.iter().map(|(k, p)| *k as f64 * p).sum();
            let v: f64 = rows.iter().map(|(k, p)| (*k as f64 - mean).powi(2) * p).sum();
            assert!((m / mean - 1.0).abs() < 1e-12, "{m}");
            assert!((v / variance - 1.0).abs() < 1e-11, "{v}");
        }
    }

    #[test]
    fn every_word_finds_the_entry_whose_range_holds_it() {
        let tables = [
            DrawTable::binomial(1000, 3),
            DrawTable::binomial(2, 1),
            DrawTable::poisson(1),
            DrawTable::poisson(70_000),
            DrawTable::weighted(&[5]),
            DrawTable::weighted(&[1, 1_000_000, 1]),
        ];
        for table in tables {
            assert_eq!(table.last.last(), Some(&u64::MAX));
            assert!(table.last.is_sorted_by(|a, b| a < b));
            for (i, &end) in table.last.iter().enumerate() {
                assert_eq!(table.draw(end), table.first + i as u64);
                if end < u64::MAX {
                    assert_eq!(table.draw(end + 1), table.first + i as u64 + 1);
                }
            }
            assert_eq!(table.draw(0), table.first);
        }
    }

    #[test]
    fn weights_are_proportions() {
        // Halves and quarters of 2^64 are exact.
        let table = DrawTable::weighted(&[1, 2, 1]);
        assert_eq!(table.last, [(1 << 62) - 1, (3 << 62) - 1, u64::MAX]);
    }
}
