//! Sums without rounding.
//!
//! An [`ExactSum`] holds the exact value of any number of `f64`s and products of two `f64`s. Order, threads and sharding then
//! cannot change a result, and a huge offset costs no digits. The alternative, a compensated sum over fixed blocks, is a little
//! faster but makes the answer depend on where the data was cut.

use super::accumulator::{Accumulator, CHUNK_BITS, CHUNK_MASK, UNIT_POSITION, WIDE, spread};
use super::magnitude::Magnitude;

/// The bit position of the last place of a subnormal `f64`, `2^-1074`.
const SUBNORMAL_POSITION: u32 = UNIT_POSITION - 1074;

/// Limbs that a sum can have: 2^64 squares of the largest number end below 2^2112, 66 limbs above the unit.
const MAX_LIMBS: usize = (UNIT_POSITION / CHUNK_BITS) as usize + 68;

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
    value: Accumulator,
    non_finite: bool,
}

/// A finite `f64` as `± magnitude · 2^(position − UNIT_POSITION)`.
struct FloatParts {
    magnitude: u64,
    position: u32,
    /// −1 for a negative number, otherwise 0: `(x ^ sign) − sign` applies it without a branch.
    sign: i64,
}

impl FloatParts {
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

    /// The square's magnitude and position.
    #[inline]
    fn squared(&self) -> (u128, u32) {
        let magnitude = u128::from(self.magnitude) * u128::from(self.magnitude);
        (magnitude, 2 * self.position - UNIT_POSITION)
    }
}

/// What became of a value that was offered to a window of chunks.
#[derive(Clone, Copy)]
enum Fit {
    Added,
    NonFinite,
    /// The window has to cover this many chunks from this index on.
    Needs(usize, usize),
}

impl ExactSum {
    /// The empty sum, zero. Does not allocate.
    pub const fn new() -> Self {
        Self { value: Accumulator::new(), non_finite: false }
    }

    /// Adds `x`.
    pub fn add(&mut self, x: f64) {
        self.extend(&[x]);
    }

    /// Adds every value of a slice.
    pub fn extend(&mut self, values: &[f64]) {
        self.feed(values, |value, window, base| {
            let Some(parts) = FloatParts::of(value) else {
                return Fit::NonFinite;
            };
            let chunk = (parts.position / CHUNK_BITS) as usize;
            // A zero belongs everywhere; without this it would drag the window down to the subnormals.
            let at = if parts.magnitude == 0 { 0 } else { chunk.wrapping_sub(base) };
            let Some([a, b, c]) = window.get_mut(at..at.wrapping_add(3)) else {
                return Fit::Needs(chunk, 3);
            };
            let shift = parts.position % CHUNK_BITS;
            let low = parts.magnitude << shift;
            let signed = |part: u64| (part as i64 ^ parts.sign) - parts.sign;
            *a += signed(low & CHUNK_MASK);
            *b += signed(low >> CHUNK_BITS);
            *c += signed((parts.magnitude >> 1) >> (63 - shift));
            Fit::Added
        });
    }

    /// Adds the exact square of every value of a slice.
    pub(super) fn extend_squares(&mut self, values: &[f64]) {
        self.feed(values, |value, window, base| {
            let Some(parts) = FloatParts::of(value) else {
                return Fit::NonFinite;
            };
            let (square, position) = parts.squared();
            let chunk = (position / CHUNK_BITS) as usize;
            let at = if square == 0 { 0 } else { chunk.wrapping_sub(base) };
            let Some(place) = window.get_mut(at..at.wrapping_add(WIDE)) else {
                return Fit::Needs(chunk, WIDE);
            };
            for (chunk, part) in place.iter_mut().zip(spread(square, position % CHUNK_BITS)) {
                *chunk += part as i64;
            }
            Fit::Added
        });
    }

    /// Runs `add` over the values, making room where it must. `add` gets a value, the window of chunks and its base.
    #[inline]
    fn feed(&mut self, values: &[f64], add: impl Fn(f64, &mut [i64], usize) -> Fit) {
        for part in values.chunks(1 << 20) {
            self.value.announce(part.len() as u64);
            let mut rest = part.iter();
            loop {
                let (window, base) = self.value.window();
                let mut stopped = None;
                for &value in rest.by_ref() {
                    match add(value, window, base) {
                        Fit::Added => {}
                        other => {
                            stopped = Some((value, other));
                            break;
                        }
                    }
                }
                // Room is made outside of the hot loop, and the value offered once more.
                match stopped {
                    None => break,
                    Some((value, Fit::Needs(first, length))) => {
                        self.value.cover(first, first + length);
                        let (window, base) = self.value.window();
                        add(value, window, base);
                    }
                    Some(_) => self.non_finite = true,
                }
            }
        }
    }

    /// Adds `x · count`, exactly.
    pub fn add_times(&mut self, x: f64, count: u64) {
        match FloatParts::of(x) {
            Some(FloatParts { magnitude, position, sign }) => {
                let product = u128::from(magnitude) * u128::from(count);
                self.value.add(product, position, sign);
            }
            None => self.non_finite |= count > 0,
        }
    }

    /// Adds `x · y`, exactly, also where the product is beyond the range of `f64`.
    pub fn add_product(&mut self, x: f64, y: f64) {
        match (FloatParts::of(x), FloatParts::of(y)) {
            (Some(x), Some(y)) => {
                let product = u128::from(x.magnitude) * u128::from(y.magnitude);
                self.value.add(product, x.position + y.position - UNIT_POSITION, x.sign ^ y.sign);
            }
            _ => self.non_finite = true,
        }
    }

    /// Adds `x² · count`, exactly.
    pub(super) fn add_square_times(&mut self, x: f64, count: u64) {
        let Some(parts) = FloatParts::of(x) else {
            self.non_finite |= count > 0;
            return;
        };
        // A square of 106 bits and a count of 64 exceed 128 bits together, so half of the square goes at a time.
        let (square, position) = parts.squared();
        let (low, high) = (square & u128::from(u64::MAX), square >> 64);
        self.value.add(low * u128::from(count), position, 0);
        self.value.add(high * u128::from(count), position + 64, 0);
    }

    /// Adds all that `other` holds.
    pub fn merge(&mut self, other: &Self) {
        self.non_finite |= other.non_finite;
        self.value.merge(&other.value);
    }

    /// Whether the sum is exactly zero.
    pub fn is_zero(&self) -> bool {
        !self.non_finite && self.magnitude().1.is_zero()
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

    fn finish(&self, round: impl FnOnce(&Magnitude) -> f64) -> f64 {
        if self.non_finite {
            return f64::NAN;
        }
        let (negative, magnitude) = self.magnitude();
        let rounded = round(&magnitude);
        if negative { -rounded } else { rounded }
    }

    /// The sign (true when negative) and absolute value of what was finite.
    pub(super) fn magnitude(&self) -> (bool, Magnitude) {
        self.value.magnitude()
    }

    /// The sum as a sign (true when negative), the limbs of its absolute value, lowest first, and the position of the lowest:
    /// the same for the same value. `None` if something was added that is not a finite number.
    pub(crate) fn limbs(&self) -> Option<(bool, Vec<u32>, u32)> {
        if self.non_finite {
            return None;
        }
        let (negative, magnitude) = self.magnitude();
        let (limbs, scale) = magnitude.into_limbs();
        let at = scale + (UNIT_POSITION / CHUNK_BITS) as i32;
        Some(if limbs.is_empty() { (false, limbs, 0) } else { (negative, limbs, at.max(0) as u32) })
    }

    /// The sum of the parts that [`ExactSum::limbs`] gives; `None` for others.
    pub(crate) fn from_limbs(negative: bool, limbs: &[u32], at: u8) -> Option<Self> {
        let mut sum = ExactSum::new();
        if limbs.is_empty() {
            return (!negative && at == 0).then_some(sum);
        }
        let fits = usize::from(at) + limbs.len() <= MAX_LIMBS;
        if !fits || limbs.first() == Some(&0) || limbs.last() == Some(&0) {
            return None;
        }
        for (position, limb) in (u32::from(at)..).zip(limbs) {
            sum.value.add(u128::from(*limb), position * CHUNK_BITS, -i64::from(negative));
        }
        Some(sum)
    }

    /// A sum that something was added to that is not a finite number.
    pub(crate) fn not_finite() -> Self {
        Self { value: Accumulator::new(), non_finite: true }
    }

    /// Whether something was added that is not a finite number.
    pub(super) fn is_poisoned(&self) -> bool {
        self.non_finite
    }
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

#[cfg(test)]
mod tests {
    use super::ExactSum;

    #[test]
    fn ordinary_scores_and_their_squares_stay_in_place() {
        let scores: Vec<f64> = (0..1000).map(|i| f64::from(i % 7) * 0.3 - 0.3).collect();
        let (mut sum, mut squares) = (ExactSum::new(), ExactSum::new());
        sum.extend(&scores);
        squares.extend_squares(&scores);
        sum.extend(&[0.0, 1000.1, 1e-3]);
        squares.extend_squares(&[0.0, 1000.1, 1e-3]);
        assert!(sum.value.is_in_place() && squares.value.is_in_place());
        sum.add(1e-300);
        assert!(!sum.value.is_in_place());
    }
}
