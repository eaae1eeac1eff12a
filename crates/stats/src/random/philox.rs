//! Randomness that depends on a seed and nothing else.
//!
//! Philox4x32-10 (Salmon, Moraes, Dror & Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC 2011) is a function from
//! (key, counter) to 128 random bits. Nothing is carried from one call to the next, so each replicate of a resampling takes its own
//! range of counters, and neither threads nor their order can matter.
//!
//! It is written out here rather than taken from a crate: results must keep their bits for years, the function is twenty lines
//! that published known answers pin down, and the one maintained crate (`rand_philox` 0.2) is young and adds its own layout of
//! seeds and streams, which would then be part of our results.

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

#[cfg(test)]
mod tests {
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
