//! Drawing n things out of n, with replacement, without drawing n indices out of n.
//!
//! The things are laid out in strata. A stratum is either a long run of equal things, or a block of up to 256 different ones. Then
//!
//! 1. how many of the n draws fall into each stratum is multinomial. Independent Poisson counts, one per stratum and with the stratum's size
//!    as mean, are multinomial given their total M. They are drawn until M is n or a little less, and the n − M draws that are
//!    missing are put into strata one by one. The decision looks at M only, so the result is exactly multinomial;
//! 2. draws from a run are a multiplication;
//! 3. draws from a block of 256 take one random byte each, and its 2 KB stay in the nearest cache.
//!
//! A plain index per draw needs a 32-bit word, a multiplication with a rejection test, and a load from anywhere in the data. With
//! 100,000 values that took 1.2 ns per draw against 0.4 ns for this, and with a million values, beyond the second cache, 2.5 ns.

use crate::random::{Stream, Xoshiro};

/// Things in a full block: as many as a random byte can tell apart.
const BLOCK: usize = 256;

/// The things to draw from; each has `K` numbers that are summed over the draws.
///
/// The layout follows from the order in which runs are given, and the random words from the layout: a canonical order of
/// the runs makes the result independent of the order of the data.
pub(super) struct Population<const K: usize> {
    size: u64,
    strata: Vec<Stratum<K>>,
    /// One table of Poisson counts per size of stratum that occurs.
    tables: Vec<DrawTable>,
    /// The stratum of a single draw.
    single: DrawTable,
    /// The number of draws, m, that may be missing from a set of Poisson counts. The total of a set of c strata is off by √n or so: a narrow
    /// margin costs more sets, in proportion to c·√n/m, and a wide one more single draws. The two balance near √(8·c·√n).
    margin: u64,
}

struct Stratum<const K: usize> {
    content: Content<K>,
    /// Index of the table of this stratum's counts.
    table: usize,
}

enum Content<const K: usize> {
    Run([f64; K]),
    /// Filled up with zeros; only the first `usize` things are ever drawn.
    Block(Box<[[f64; K]; BLOCK]>, usize),
}

impl<const K: usize> Population<K> {
    /// Lays out runs of equal things, each with its length. The runs must not be empty altogether.
    pub(super) fn new(runs: impl Iterator<Item = ([f64; K], u64)>) -> Self {
        let mut long_runs = Vec::new();
        let mut loose = Vec::new();
        for (thing, count) in runs {
            if count >= BLOCK as u64 {
                long_runs.push((Content::Run(thing), count));
            } else {
                loose.extend(std::iter::repeat_n(thing, count as usize));
            }
        }
        let blocks = loose.chunks(BLOCK).map(|things| {
            let mut block = Box::new([[0.0; K]; BLOCK]);
            for (slot, thing) in block.iter_mut().zip(things) {
                *slot = *thing;
            }
            let size = things.len();
            (Content::Block(block, size), size as u64)
        });
        let contents: Vec<_> = long_runs.into_iter().chain(blocks).collect();
        let sizes: Vec<u64> = contents.iter().map(|(_, size)| *size).collect();

        let mut table_sizes = sizes.clone();
        table_sizes.sort_unstable();
        table_sizes.dedup();
        let strata = contents.into_iter().map(|(content, size)| Stratum {
            content,
            table: table_sizes.partition_point(|&other| other < size),
        });
        let size: u64 = sizes.iter().sum();
        Self {
            size,
            margin: (8 * sizes.len() as u64 * size.isqrt()).isqrt(),
            strata: strata.collect(),
            tables: table_sizes.iter().map(|&size| DrawTable::poisson(size)).collect(),
            single: DrawTable::weighted(&sizes),
        }
    }

    /// About how many nanoseconds a replicate takes, to decide whether threads are worth waking.
    pub(super) fn cost(&self) -> u64 {
        let drawn: usize = self
            .strata
            .iter()
            .map(|stratum| match &stratum.content {
                Content::Run(_) => 0,
                Content::Block(_, size) => *size,
            })
            .sum();
        drawn as u64 / 2 + 10 * self.strata.len() as u64 + 4 * self.margin
    }

    /// The sums over `size` draws from the random numbers of a stream. `counts` is scratch space.
    pub(super) fn sums(&self, stream: Stream, counts: &mut Vec<u64>) -> [f64; K] {
        self.replicate(&mut Xoshiro::from_stream(stream), counts)
    }

    fn replicate(&self, random: &mut Xoshiro, counts: &mut Vec<u64>) -> [f64; K] {
        self.draw_counts(random, counts);
        let mut total = [0.0; K];
        for (stratum, &count) in self.strata.iter().zip(counts.iter()) {
            let sums = match &stratum.content {
                Content::Run(thing) => thing.map(|number| number * count as f64),
                Content::Block(block, BLOCK) => sum_drawn(block, count, || full_indices(random)),
                Content::Block(block, size) => sum_drawn(block, count, || indices_below(*size as u8, random)),
            };
            add(&mut total, &sums);
        }
        total
    }

    /// The number of draws that fall into each stratum.
    fn draw_counts(&self, random: &mut Xoshiro, counts: &mut Vec<u64>) {
        if self.strata.len() == 1 {
            counts.clear();
            counts.push(self.size);
            return;
        }
        let missing = loop {
            counts.clear();
            counts.extend(self.strata.iter().map(|stratum| {
                let table = self.tables.get(stratum.table);
                table.map_or(0, |table| table.draw(random.next_u64()))
            }));
            let missing = self.size.checked_sub(counts.iter().sum());
            if let Some(missing) = missing.filter(|&missing| missing <= self.margin) {
                break missing;
            }
        };
        // On a copy, which the compiler can keep in registers.
        let mut words = random.clone();
        for _ in 0..missing {
            let stratum = self.single.draw(words.next_u64()) as usize;
            if let Some(count) = counts.get_mut(stratum) {
                *count += 1;
            }
        }
        *random = words;
    }
}

#[inline]
fn add<const K: usize>(total: &mut [f64; K], part: &[f64; K]) {
    for (sum, number) in total.iter_mut().zip(part) {
        *sum += number;
    }
}

/// A byte of randomness each, as many as a word has.
fn full_indices(random: &mut Xoshiro) -> [u8; 8] {
    random.next_u64().to_le_bytes()
}

/// Indices below `size` < 256, two bytes of randomness each.
///
/// Multiply-shift with rejection (Lemire, "Fast random integer generation in an interval", ACM TOMACS 29, 2019): the first
/// 2^16 mod `size` remainders would favour some indices. A word with such a remainder in any of its quarters is dropped whole,
/// which keeps the loop straight and the quarters of the other words independent.
fn indices_below(size: u8, random: &mut Xoshiro) -> [u8; 4] {
    let size = u32::from(size.max(1));
    let rejected = (1 << 16) % size;
    loop {
        let word = random.next_u64();
        let products = [0, 16, 32, 48].map(|shift| (word >> shift) as u32 % (1 << 16) * size);
        if products.iter().all(|product| product % (1 << 16) >= rejected) {
            return products.map(|product| (product >> 16) as u8);
        }
    }
}

/// Sums `count` things of a block, drawn several at a time. Their sums are independent, so that additions need not wait for
/// each other.
#[expect(clippy::indexing_slicing, reason = "a byte cannot exceed an array of 256")]
fn sum_drawn<const K: usize, const N: usize>(
    block: &[[f64; K]; BLOCK],
    count: u64,
    mut next: impl FnMut() -> [u8; N],
) -> [f64; K] {
    let mut lanes = [[0.0; K]; N];
    for _ in 0..count / N as u64 {
        for (lane, index) in lanes.iter_mut().zip(next()) {
            add(lane, &block[usize::from(index)]);
        }
    }
    let rest = (count % N as u64) as usize;
    for (lane, index) in lanes.iter_mut().zip(next()).take(rest) {
        add(lane, &block[usize::from(index)]);
    }
    let mut total = [0.0; K];
    lanes.iter().for_each(|lane| add(&mut total, lane));
    total
}

// Discrete distributions as tables that turn one random word into one outcome.
//
// A table gives each outcome its share of the 2^64 words. It is built with additions, multiplications and divisions only, which
// IEEE 754 rounds the same way everywhere, so that the same word means the same outcome on every platform; samplers that
// reject by way of a logarithm cannot promise that. The shares are right to about 1e-15 of the whole, which no
// feasible number of draws could tell from exact.

/// A distribution over consecutive integers (or cells), drawn by inversion.
#[derive(Clone, Debug)]
pub(super) struct DrawTable {
    /// The outcome of the first entry.
    first: u64,
    /// Entry i belongs to the words above `last[i − 1]` up to and including `last[i]`; the final entry is `u64::MAX`.
    last: Vec<u64>,
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
        Self { first: first + skipped as u64, last }
    }

    /// The outcome that a random word stands for.
    #[inline]
    pub(super) fn draw(&self, word: u64) -> u64 {
        self.first + self.last.partition_point(|end| *end < word) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::Population;
    use crate::random::Stream;

    #[test]
    fn every_replicate_draws_as_many_as_there_are() {
        // A thing that is 1 counts the draws: one block, a part of one, runs, and all of them together.
        let layouts: [&[u64]; 5] =
            [&[1; 256], &[1; 9], &[300, 5000, 256], &[1; 1000], &[700, 255, 300, 1, 80]];
        for runs in layouts {
            let n: u64 = runs.iter().sum();
            let population = Population::new(runs.iter().map(|&count| ([1.0], count)));
            let mut counts = Vec::new();
            for replicate in 0..300 {
                assert_eq!(population.sums(Stream::new(1, 1, replicate), &mut counts), [n as f64]);
            }
        }
    }
}

#[cfg(test)]
mod draw_table_tests {
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
