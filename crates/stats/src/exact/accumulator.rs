//! A long fixed-point number that is cheap to add to.
//!
//! The number line is cut into chunks of 32 bits, each held in an `i64`, so that about 2^30 additions pass before a carry has to move
//! (Kulisch's long accumulator; Neal, "Fast exact summation using small and large superaccumulators", arXiv:1505.05571).
//! All chunks would be over a kilobyte, so only the window of chunks in use is stored.

use super::magnitude::Magnitude;

/// Bits of a chunk's own; the rest of its `i64` collects carries.
pub(super) const CHUNK_BITS: u32 = 32;
const CHUNK_MASK: u64 = (1 << CHUNK_BITS) - 1;

/// The bit position of `2^0`. Position 0 is `2^-2176`, below the smallest product of two subnormals, `2^-2148`.
pub(super) const UNIT_POSITION: u32 = 68 * CHUNK_BITS;

/// Chunks that the widest addend touches: 128 bits, shifted by up to 31.
const WIDE: usize = 5;

/// Free chunks at either end when a window outgrows its place.
const SLACK: usize = 4;

/// The number of additions after which carries must move: `2^30 · 2^32` leaves a spare bit in an `i64`.
const CARRY_LIMIT: u64 = 1 << 30;

/// A signed fixed-point number, `Σ chunk[i] · 2^(32·i − 2176)`.
#[derive(Clone, Debug, Default)]
pub(super) struct Accumulator {
    chunks: Vec<i64>,
    /// The index of the window's first chunk.
    base: u16,
    /// Bounds the chunks: none exceeds `pending · 2^32` in absolute value.
    pending: u32,
}

impl Accumulator {
    /// Adds `± magnitude · 2^(position − 2176)`; `sign` is −1 for minus, 0 for plus.
    pub(super) fn add(&mut self, magnitude: u128, position: u32, sign: i64) {
        if magnitude == 0 {
            return;
        }
        self.announce();
        let first = (position / CHUNK_BITS) as usize;
        self.cover(first, first + WIDE);
        let start = first - usize::from(self.base);
        let window = self.chunks.get_mut(start..start + WIDE).unwrap_or_default();
        for (chunk, part) in window.iter_mut().zip(spread(magnitude, position % CHUNK_BITS)) {
            *chunk += (part as i64 ^ sign) - sign;
        }
    }

    /// Adds another number.
    pub(super) fn merge(&mut self, other: &Self) {
        let Some((first, end)) = other.occupied() else {
            return;
        };
        if u64::from(self.pending) + u64::from(other.pending) > CARRY_LIMIT {
            self.move_carries();
            let mut other = other.clone();
            other.move_carries();
            return self.merge(&other);
        }
        self.cover(first, end);
        let source = other.chunks.iter().skip(first - usize::from(other.base)).take(end - first);
        for (chunk, part) in self.chunks.iter_mut().skip(first - usize::from(self.base)).zip(source) {
            *chunk += part;
        }
        self.pending += other.pending;
    }

    /// Must be called before an addition of less than `2^32` to any chunk.
    #[inline]
    fn announce(&mut self) {
        if u64::from(self.pending) >= CARRY_LIMIT {
            self.move_carries();
        }
        self.pending += 1;
    }

    /// Makes the window cover the chunks `first..end`.
    #[inline]
    fn cover(&mut self, first: usize, end: usize) {
        let base = usize::from(self.base);
        if first < base || end > base + self.chunks.len() {
            self.widen(first, end);
        }
    }

    #[cold]
    fn widen(&mut self, first: usize, end: usize) {
        let used = self.occupied();
        let (low, high) = used.map_or((first, end), |(a, b)| (a.min(first), b.max(end)));
        let base = low.saturating_sub(SLACK);
        let mut chunks = vec![0; high + SLACK - base];
        if let Some((a, b)) = used {
            let old = self.chunks.iter().skip(a - usize::from(self.base)).take(b - a);
            chunks.iter_mut().skip(a - base).zip(old).for_each(|(to, from)| *to = *from);
        }
        (self.chunks, self.base) = (chunks, base as u16);
    }

    /// The sign (true when negative) and absolute value.
    pub(super) fn magnitude(&self) -> (bool, Magnitude) {
        let mut limbs = Vec::with_capacity(self.chunks.len() + 2);
        let mut carry = 0_i64;
        for &chunk in &self.chunks {
            carry += chunk;
            limbs.push(carry as u32);
            carry >>= CHUNK_BITS;
        }
        // What is left of the carry is the top of a number in two's complement.
        limbs.extend([carry as u32, (carry >> CHUNK_BITS) as u32]);
        let negative = carry < 0;
        if negative {
            let mut one = true;
            for limb in &mut limbs {
                (*limb, one) = (!*limb).overflowing_add(u32::from(one));
            }
        }
        let scale = i32::from(self.base) - (UNIT_POSITION / CHUNK_BITS) as i32;
        (negative, Magnitude::new(limbs, scale))
    }

    /// The range of chunks that are not zero, as absolute indices.
    fn occupied(&self) -> Option<(usize, usize)> {
        let first = self.chunks.iter().position(|&chunk| chunk != 0)?;
        let last = self.chunks.iter().rposition(|&chunk| chunk != 0)?;
        let base = usize::from(self.base);
        Some((base + first, base + last + 1))
    }

    /// Brings every chunk back below `2^32` in absolute value.
    #[cold]
    fn move_carries(&mut self) {
        let mut carry = 0_i64;
        let top = usize::from(self.base) + self.chunks.len();
        for chunk in &mut self.chunks {
            carry += *chunk;
            *chunk = carry & CHUNK_MASK as i64;
            carry >>= CHUNK_BITS;
        }
        self.pending = 1;
        if carry != 0 {
            self.cover(top, top + 1);
            if let Some(chunk) = self.chunks.get_mut(top - usize::from(self.base)) {
                *chunk += carry;
            }
        }
    }
}

/// Spreads `magnitude · 2^shift` over chunks; `shift` is below 32.
#[inline]
fn spread(magnitude: u128, shift: u32) -> [u64; WIDE] {
    let (low, high) = (magnitude as u64, (magnitude >> 64) as u64);
    // Shifting twice avoids a shift by 64 when `shift` is 0.
    let low_carry = (low >> 1) >> (63 - shift);
    let high_carry = (high >> 1) >> (63 - shift);
    let (low, high) = (low << shift, (high << shift) | low_carry);
    [low & CHUNK_MASK, low >> CHUNK_BITS, high & CHUNK_MASK, high >> CHUNK_BITS, high_carry]
}
