//! Sums without rounding.
//!
//! An [`ExactSum`] holds the exact value of any number of `f64`s and products of two `f64`s. Order, threads and sharding then
//! cannot change a result, and a huge offset costs no digits. The alternative, a compensated sum over fixed blocks, is a little
//! faster but makes the answer depend on where the data was cut.
//!
//! The layout is a long accumulator (Kulisch; Neal, "Fast exact summation using small and large superaccumulators",
//! arXiv:1505.05571): the number line is cut into chunks of 32 bits, each held in an `i64` so that about 2^30 additions pass before
//! a carry has to move. All chunks would be over a kilobyte; one sum lives per cluster of samples, so only the window of
//! chunks in use is kept, in place as long as it is short.

use super::magnitude::Magnitude;

/// Bits of a chunk's own; the rest of its `i64` collects carries.
const CHUNK_BITS: u32 = 32;
const CHUNK_MASK: u64 = (1 << CHUNK_BITS) - 1;

/// The bit position of `2^0`. Position 0 is `2^-2176`, below the smallest product of two subnormals, `2^-2148`.
const UNIT_POSITION: u32 = 68 * CHUNK_BITS;

/// The bit position of the last place of a subnormal `f64`, `2^-1074`.
const SUBNORMAL_POSITION: u32 = UNIT_POSITION - 1074;

/// Chunks held in place. Scores between a thousandth and a few thousands, and their squares, need no more.
const INLINE: usize = 6;

/// Chunks kept free at either end when a window outgrows its place.
const SLACK: usize = 4;

/// The number of additions after which carries must move: `2^30 · 2^32` leaves a spare bit in an `i64`.
const CARRY_LIMIT: u64 = 1 << 30;

/// The exact sum of `f64`s: mergeable, and independent of the order and grouping of what was added.
///
/// Meant for finite numbers. One that is not finite makes the sum NaN for good; it never panics.
///
/// ```
/// # use errorbar_core::stats::ExactSum;
/// let mut sum = ExactSum::new();
/// sum.extend(&[1.0, 1e100, 1.0, -1e100]);
/// assert_eq!(sum.to_f64(), 2.0);
/// ```
#[derive(Clone, Debug)]
pub struct ExactSum {
    chunks: Chunks,
    /// The index of the first chunk of the window; chunk `i` weighs `2^(32·i)` units of position 0.
    base: u16,
    non_finite: bool,
    /// Bounds the chunks: none exceeds `pending · 2^32` in absolute value.
    pending: u32,
}

#[derive(Clone, Debug)]
enum Chunks {
    Inline([i64; INLINE]),
    Heap(Vec<i64>),
}

impl Chunks {
    fn as_slice(&self) -> &[i64] {
        match self {
            Self::Inline(chunks) => chunks,
            Self::Heap(chunks) => chunks,
        }
    }

    fn as_mut_slice(&mut self) -> &mut [i64] {
        match self {
            Self::Inline(chunks) => chunks,
            Self::Heap(chunks) => chunks,
        }
    }
}

/// A finite `f64` as `± magnitude · 2^(position − UNIT_POSITION)`.
struct Parts {
    magnitude: u64,
    position: u32,
    /// −1 for a negative number, otherwise 0: `(x ^ sign) − sign` applies it without a branch.
    sign: i64,
}

impl Parts {
    /// `None` for an infinity or NaN.
    #[inline]
    fn of(x: f64) -> Option<Self> {
        let bits = x.to_bits();
        let exponent = (bits >> 52) & 0x7ff;
        if exponent == 0x7ff {
            return None;
        }
        let normal = u64::from(exponent != 0);
        Some(Self {
            magnitude: (bits & ((1 << 52) - 1)) | (normal << 52),
            position: (exponent - normal) as u32 + SUBNORMAL_POSITION,
            sign: (bits as i64) >> 63,
        })
    }

    /// The index of the lowest chunk that the number touches.
    #[inline]
    fn chunk(&self) -> usize {
        (self.position / CHUNK_BITS) as usize
    }
}

/// Spreads `magnitude · 2^shift` over chunks of 32 bits; `shift` is below 32.
#[inline]
fn spread(magnitude: u128, shift: u32) -> [u64; 5] {
    let (low, high) = (magnitude as u64, (magnitude >> 64) as u64);
    // Shifting twice avoids the undefined shift by 64 when `shift` is 0.
    let low_carry = (low >> 1) >> (63 - shift);
    let high_carry = (high >> 1) >> (63 - shift);
    let (low, high) = (low << shift, (high << shift) | low_carry);
    [low & CHUNK_MASK, low >> CHUNK_BITS, high & CHUNK_MASK, high >> CHUNK_BITS, high_carry]
}

impl ExactSum {
    /// The empty sum, zero. Does not allocate.
    pub const fn new() -> Self {
        Self { chunks: Chunks::Inline([0; INLINE]), base: 0, non_finite: false, pending: 0 }
    }

    /// Adds `x`.
    pub fn add(&mut self, x: f64) {
        self.extend(&[x]);
    }

    /// Adds every value of a slice.
    pub fn extend(&mut self, values: &[f64]) {
        self.feed(values, |value, window, base| {
            let Some(parts) = Parts::of(value) else {
                return Fit::NonFinite;
            };
            // A zero belongs everywhere; without this it would drag the window down to the subnormals.
            let at = if parts.magnitude == 0 { 0 } else { parts.chunk().wrapping_sub(base) };
            let Some([a, b, c]) = window.get_mut(at..at.wrapping_add(3)) else {
                return Fit::Needs(parts.chunk(), 3);
            };
            let shift = parts.position % CHUNK_BITS;
            let low = parts.magnitude << shift;
            let signed = |chunk: u64| (chunk as i64 ^ parts.sign) - parts.sign;
            *a += signed(low & CHUNK_MASK);
            *b += signed(low >> CHUNK_BITS);
            *c += signed((parts.magnitude >> 1) >> (63 - shift));
            Fit::Added
        });
    }

    /// Adds the exact square of every value of a slice.
    pub(super) fn extend_squares(&mut self, values: &[f64]) {
        self.feed(values, |value, window, base| {
            let Some(parts) = Parts::of(value) else {
                return Fit::NonFinite;
            };
            let position = 2 * parts.position - UNIT_POSITION;
            let chunk = (position / CHUNK_BITS) as usize;
            let at = if parts.magnitude == 0 { 0 } else { chunk.wrapping_sub(base) };
            let Some(place) = window.get_mut(at..at.wrapping_add(5)) else {
                return Fit::Needs(chunk, 5);
            };
            let square = u128::from(parts.magnitude) * u128::from(parts.magnitude);
            for (chunk, part) in place.iter_mut().zip(spread(square, position % CHUNK_BITS)) {
                *chunk += part as i64;
            }
            Fit::Added
        });
    }

    /// Adds `x · count`, exactly.
    pub fn add_times(&mut self, x: f64, count: u64) {
        match Parts::of(x) {
            Some(parts) => {
                self.add_wide(u128::from(parts.magnitude) * u128::from(count), parts.position, parts.sign)
            }
            None => self.non_finite |= count > 0,
        }
    }

    /// Adds `x · y`, exactly, also where the product is beyond the range of `f64`.
    pub fn add_product(&mut self, x: f64, y: f64) {
        match (Parts::of(x), Parts::of(y)) {
            (Some(x), Some(y)) => self.add_wide(
                u128::from(x.magnitude) * u128::from(y.magnitude),
                x.position + y.position - UNIT_POSITION,
                x.sign ^ y.sign,
            ),
            _ => self.non_finite = true,
        }
    }

    /// Adds `x² · count`, exactly.
    pub(super) fn add_square_times(&mut self, x: f64, count: u64) {
        let Some(parts) = Parts::of(x) else {
            self.non_finite |= count > 0;
            return;
        };
        // A square of 106 bits and a count of 64 exceed 128 bits together, so half of the square goes at a time.
        let square = u128::from(parts.magnitude) * u128::from(parts.magnitude);
        let position = 2 * parts.position - UNIT_POSITION;
        let count = u128::from(count);
        self.add_wide((square & u128::from(u64::MAX)) * count, position, 0);
        self.add_wide((square >> 64) * count, position + 64, 0);
    }

    /// Adds all that `other` holds.
    pub fn merge(&mut self, other: &Self) {
        self.non_finite |= other.non_finite;
        let Some((first, end)) = other.occupied() else {
            return;
        };
        if u64::from(self.pending) + u64::from(other.pending) > CARRY_LIMIT {
            self.move_carries();
            let mut other = other.clone();
            other.move_carries();
            return self.merge(&other);
        }
        self.make_room(first, end);
        let from = first - usize::from(other.base);
        let to = first - usize::from(self.base);
        let source = other.chunks.as_slice().iter().skip(from).take(end - first);
        for (chunk, part) in self.chunks.as_mut_slice().iter_mut().skip(to).zip(source) {
            *chunk += part;
        }
        self.pending += other.pending;
    }

    /// Whether the sum is exactly zero.
    pub fn is_zero(&self) -> bool {
        !self.non_finite && (self.occupied().is_none() || self.magnitude().1.is_zero())
    }

    /// The sum, rounded once to the nearest `f64` (ties to even); infinite when it is beyond the largest.
    pub fn to_f64(&self) -> f64 {
        self.finish(Magnitude::to_f64)
    }

    /// The sum as an unevaluated pair: the nearest `f64`, and the nearest `f64` to what that leaves.
    pub fn to_double_double(&self) -> (f64, f64) {
        let high = self.to_f64();
        if !high.is_finite() {
            return (high, 0.0);
        }
        let mut rest = self.clone();
        rest.add(-high);
        (high, rest.to_f64())
    }

    /// The sum divided by `n`, rounded once; NaN when `n` is zero.
    ///
    /// The mean of numbers whose sum is beyond the largest `f64` is right as well.
    pub fn divide(&self, n: u64) -> f64 {
        if n == 0 {
            return f64::NAN;
        }
        self.finish(|magnitude| magnitude.over(&[n]).to_f64())
    }

    /// Whether something was added that is not a finite number.
    pub(super) fn is_poisoned(&self) -> bool {
        self.non_finite
    }

    /// The sign (true when negative) and absolute value.
    pub(super) fn magnitude(&self) -> (bool, Magnitude) {
        let mut limbs = Vec::with_capacity(self.chunks.as_slice().len() + 2);
        let mut carry = 0_i64;
        for &chunk in self.chunks.as_slice() {
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

    fn finish(&self, round: impl FnOnce(&Magnitude) -> f64) -> f64 {
        if self.non_finite {
            return f64::NAN;
        }
        let (negative, magnitude) = self.magnitude();
        let rounded = round(&magnitude);
        if negative { -rounded } else { rounded }
    }

    /// Runs `add` over the values, making room and moving carries where it must. `add` gets a value, the window and its base.
    #[inline]
    fn feed(&mut self, values: &[f64], add: impl Fn(f64, &mut [i64], usize) -> Fit) {
        for part in values.chunks(1 << 20) {
            self.note_additions(part.len() as u64);
            let mut rest = part.iter();
            loop {
                let base = usize::from(self.base);
                let window = self.chunks.as_mut_slice();
                let mut stopped = Fit::Added;
                for value in rest.by_ref() {
                    stopped = add(*value, window, base);
                    if !matches!(stopped, Fit::Added) {
                        // Room is made outside of the hot loop, and the value offered once more.
                        if let Fit::Needs(first, length) = stopped {
                            self.make_room(first, first + length);
                            add(*value, self.chunks.as_mut_slice(), usize::from(self.base));
                        }
                        break;
                    }
                }
                match stopped {
                    Fit::Added => break,
                    Fit::NonFinite => self.non_finite = true,
                    Fit::Needs(..) => {}
                }
            }
        }
    }

    fn add_wide(&mut self, magnitude: u128, position: u32, sign: i64) {
        if magnitude == 0 {
            return;
        }
        self.note_additions(1);
        let first = (position / CHUNK_BITS) as usize;
        self.make_room(first, first + 5);
        let at = first - usize::from(self.base);
        let place = self.chunks.as_mut_slice().iter_mut().skip(at);
        for (chunk, part) in place.zip(spread(magnitude, position % CHUNK_BITS)) {
            *chunk += (part as i64 ^ sign) - sign;
        }
    }

    /// The range of chunks that are not zero, as absolute indices.
    fn occupied(&self) -> Option<(usize, usize)> {
        let chunks = self.chunks.as_slice();
        let first = chunks.iter().position(|&chunk| chunk != 0)?;
        let last = chunks.iter().rposition(|&chunk| chunk != 0)?;
        let base = usize::from(self.base);
        Some((base + first, base + last + 1))
    }

    /// Makes the window cover the chunks `first..end`.
    fn make_room(&mut self, first: usize, end: usize) {
        let base = usize::from(self.base);
        if first >= base && end <= base + self.chunks.as_slice().len() {
            return;
        }
        let used = self.occupied();
        let (low, high) = used.map_or((first, end), |(a, b)| (a.min(first), b.max(end)));
        let span = high - low;
        let in_place = span <= INLINE;
        // Spare chunks go below first: the squares of small scores reach further down than sums of them reach up.
        let new_base = low.saturating_sub(if in_place { (INLINE - span).div_ceil(2) } else { SLACK });
        let mut chunks = if in_place {
            Chunks::Inline([0; INLINE])
        } else {
            Chunks::Heap(vec![0; high + SLACK - new_base])
        };
        if let Some((a, b)) = used {
            let old = self.chunks.as_slice().iter().skip(a - base).take(b - a);
            let new = chunks.as_mut_slice().iter_mut().skip(a - new_base);
            for (to, from) in new.zip(old) {
                *to = *from;
            }
        }
        self.chunks = chunks;
        self.base = new_base as u16;
    }

    /// Accounts for additions to come, each of less than `2^32` to any chunk; `count` is at most `2^20`.
    #[inline]
    fn note_additions(&mut self, count: u64) {
        if u64::from(self.pending) + count > CARRY_LIMIT {
            self.move_carries();
        }
        self.pending += count as u32;
    }

    /// Brings every chunk back below `2^32` in absolute value.
    #[cold]
    fn move_carries(&mut self) {
        let mut carry = 0_i64;
        for chunk in self.chunks.as_mut_slice() {
            carry += *chunk;
            *chunk = carry & CHUNK_MASK as i64;
            carry >>= CHUNK_BITS;
        }
        self.pending = 1;
        if carry != 0 {
            let top = usize::from(self.base) + self.chunks.as_slice().len();
            self.make_room(top, top + 1);
            let at = top - usize::from(self.base);
            if let Some(chunk) = self.chunks.as_mut_slice().get_mut(at) {
                *chunk += carry;
            }
        }
    }
}

/// What became of a value that was offered to a window.
#[derive(Clone, Copy)]
enum Fit {
    Added,
    NonFinite,
    /// The window has to cover this many chunks from this index on.
    Needs(usize, usize),
}

impl Default for ExactSum {
    fn default() -> Self {
        Self::new()
    }
}

/// Equal when the exact values are; two sums that met a number that is not finite are equal as well.
impl PartialEq for ExactSum {
    fn eq(&self, other: &Self) -> bool {
        if self.non_finite || other.non_finite {
            return self.non_finite == other.non_finite;
        }
        let ((sign, value), (other_sign, other_value)) = (self.magnitude(), other.magnitude());
        sign == other_sign && value.same_value(&other_value)
    }
}
