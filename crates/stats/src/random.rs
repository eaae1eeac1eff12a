//! Random numbers that a seed, a purpose and a position decide, and nothing else.

/// What random numbers are for, in one list: figures of one seed must not share them by accident. Numbers below 1,000 are
/// reserved for it.
pub mod purpose {
    /// Resampled means of values.
    pub const MEANS: u32 = 1;
    /// Resampled means of whole clusters.
    pub const CLUSTERED_MEANS: u32 = 2;
    /// Studentised means of values.
    pub const STUDENTISED_MEANS: u32 = 3;
    /// Studentised means of whole clusters.
    pub const STUDENTISED_CLUSTERED_MEANS: u32 = 4;
    /// Weights of the wild bootstrap.
    pub const WILD_WEIGHTS: u32 = 5;
    /// Resamples of whole units.
    pub const UNITS: u32 = 6;
    /// Samples drawn from a population whose mean is known.
    pub const SIMULATIONS: u32 = 7;
    /// Seeds of the resamples within those simulations.
    pub const SIMULATED_RESAMPLES: u32 = 8;
    /// A random order of items.
    pub const SAMPLE_ORDER: u32 = 64;
}

// Randomness that depends on a seed and nothing else.
//
// Philox4x32-10 (Salmon, Moraes, Dror & Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC 2011) is a function from
// (key, counter) to 128 random bits. Nothing is carried from one call to the next, so each replicate of a resampling takes its own
// range of counters, and neither threads nor their order can matter.
//
// It is written out here rather than taken from a crate: results must keep their bits for years, the function is twenty lines
// that published known answers pin down, and the one maintained crate (`rand_philox` 0.2) is young and adds its own layout of
// seeds and streams, which would then be part of our results.

/// The multipliers and the key increments of the paper: the latter are the golden ratio and √3 − 1, as fractions of 2^32.
const MULTIPLIERS: [u32; 2] = [0xD251_1F53, 0xCD9E_8D57];
const WEYL: [u32; 2] = [0x9E37_79B9, 0xBB67_AE85];
const ROUNDS: u32 = 10;

/// The 128 random bits that belong to a key and a counter.
pub fn philox4x32_10(counter: [u32; 4], key: [u32; 2]) -> [u32; 4] {
    let [mut c0, mut c1, mut c2, mut c3] = counter;
    let [mut k0, mut k1] = key;
    let product = |a: u32, b: u32| {
        let wide = u64::from(a) * u64::from(b);
        ((wide >> 32) as u32, wide as u32)
    };
    for _ in 0..ROUNDS {
        let (high0, low0) = product(MULTIPLIERS[0], c0);
        let (high1, low1) = product(MULTIPLIERS[1], c2);
        (c0, c1, c2, c3) = (high1 ^ c1 ^ k0, low1, high0 ^ c3 ^ k1, low0);
        k0 = k0.wrapping_add(WEYL[0]);
        k1 = k1.wrapping_add(WEYL[1]);
    }
    [c0, c1, c2, c3]
}

/// An endless supply of random words for one replicate of one purpose.
///
/// The seed is the key; the counter is (block, purpose, replicate). Streams that differ in any of the three share no counter.
/// A stream repeats after 2^32 blocks of four words.
///
/// ```
/// # use errorbar_stats::random::Stream;
/// let first = Stream::new(7, 1, 0).next_u64();
/// assert_eq!(Stream::new(7, 1, 0).next_u64(), first);
/// assert_ne!(Stream::new(7, 1, 1).next_u64(), first);
/// ```
#[derive(Clone, Debug)]
pub struct Stream {
    key: [u32; 2],
    /// The counter of the next block.
    counter: [u32; 4],
    buffer: [u32; 4],
    used: usize,
}

impl Stream {
    /// The stream of `replicate` for `purpose` under `seed`.
    pub fn new(seed: u64, purpose: u32, replicate: u64) -> Self {
        let [low, high] = halves(replicate);
        Self { key: halves(seed), counter: [0, purpose, low, high], buffer: [0; 4], used: 4 }
    }

    /// The next 32 random bits.
    pub fn next_u32(&mut self) -> u32 {
        if let Some(&word) = self.buffer.get(self.used) {
            self.used += 1;
            return word;
        }
        self.buffer = philox4x32_10(self.counter, self.key);
        self.counter[0] = self.counter[0].wrapping_add(1);
        self.used = 1;
        self.buffer[0]
    }

    /// The next 64 random bits.
    pub fn next_u64(&mut self) -> u64 {
        let low = u64::from(self.next_u32());
        low | u64::from(self.next_u32()) << 32
    }
}

/// The low and the high half of a word.
fn halves(word: u64) -> [u32; 2] {
    [word as u32, (word >> 32) as u32]
}

// The fast generator for the millions of draws inside one replicate.
//
// xoshiro256++ (Blackman & Vigna, "Scrambled linear pseudorandom number generators", ACM TOMS 47, 2021) takes half of Philox's time
// per byte at the least, and no buffer. Each replicate starts its own from 256 bits of its Philox stream. That is sound:
// the starting points are as good as independent and uniform among 2^256 states of a single cycle, so two replicates out of
// 2^32, each drawing 2^40 words, overlap with a probability of about 2^-150.

/// The state of xoshiro256++.
#[derive(Clone, Debug)]
pub(crate) struct Xoshiro([u64; 4]);

impl Xoshiro {
    /// A generator that starts at the next 256 bits of a stream.
    pub(crate) fn from_stream(mut stream: Stream) -> Self {
        let state = std::array::from_fn(|_| stream.next_u64());
        // Zero is the one state that never leaves itself. It has a chance of 2^-256, and is cheaper excluded than discussed.
        Self(if state == [0; 4] { [1, 0, 0, 0] } else { state })
    }

    #[inline]
    pub(crate) fn next_u64(&mut self) -> u64 {
        let [a, b, c, d] = &mut self.0;
        let result = a.wrapping_add(*d).rotate_left(23).wrapping_add(*a);
        let shifted = *b << 17;
        *c ^= *a;
        *d ^= *b;
        *b ^= *c;
        *a ^= *d;
        *c ^= shifted;
        *d = d.rotate_left(45);
        result
    }
}

#[cfg(test)]
mod philox_tests {
    use super::{Stream, philox4x32_10};

    /// The known answers that come with Random123.
    #[test]
    fn known_answers() {
        let zero = philox4x32_10([0; 4], [0; 2]);
        assert_eq!(zero, [0x6627_e8d5, 0xe169_c58d, 0xbc57_ac4c, 0x9b00_dbd8]);
        let ones = philox4x32_10([u32::MAX; 4], [u32::MAX; 2]);
        assert_eq!(ones, [0x408f_276d, 0x41c8_3b0e, 0xa20b_c7c6, 0x6d54_51fd]);
        let pi =
            philox4x32_10([0x243f_6a88, 0x85a3_08d3, 0x1319_8a2e, 0x0370_7344], [0xa409_3822, 0x299f_31d0]);
        assert_eq!(pi, [0xd16c_fe09, 0x94fd_cceb, 0x5001_e420, 0x2412_6ea1]);
    }

    #[test]
    fn a_stream_is_the_blocks_of_its_counters() {
        let mut stream = Stream::new(0x0000_0002_0000_0001, 3, 0x0000_0005_0000_0004);
        let words: Vec<u32> = (0..8).map(|_| stream.next_u32()).collect();
        assert_eq!(words[..4], philox4x32_10([0, 3, 4, 5], [1, 2]));
        assert_eq!(words[4..], philox4x32_10([1, 3, 4, 5], [1, 2]));
    }
}

#[cfg(test)]
mod xoshiro_tests {
    use super::Xoshiro;

    /// The first outputs of the authors' C code from the state 1, 2, 3, 4. By hand, the first:
    /// rotl(1 + 4, 23) + 1 = 5·2^23 + 1 = 41943041.
    #[test]
    fn known_answers() {
        let mut generator = Xoshiro([1, 2, 3, 4]);
        let words: [u64; 6] = std::array::from_fn(|_| generator.next_u64());
        let expected = [
            41_943_041,
            58_720_359,
            3_588_806_011_781_223,
            3_591_011_842_654_386,
            9_228_616_714_210_784_205,
            9_973_669_472_204_895_162,
        ];
        assert_eq!(words, expected);
    }
}
