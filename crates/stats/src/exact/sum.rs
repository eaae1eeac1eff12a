//! Sums without rounding.
//!
//! An [`ExactSum`] holds the exact value of any number of `f64`s and products of two `f64`s. Order, threads and sharding then
//! cannot change a result, and a huge offset costs no digits. The alternative, a compensated sum over fixed blocks, is a little
//! faster but makes the answer depend on where the data was cut.

use num_bigint::{BigInt, BigUint, Sign};

/// The bit position of `2^0`. Position 0 is `2^-2176`, below the smallest product of two subnormals, `2^-2148`.
const UNIT_POSITION: u32 = 2176;
/// The exponent of the last bit of a subnormal `f64`.
const SMALLEST_EXPONENT: i32 = -1074;
/// The bit position of the last place of a subnormal `f64`.
const SUBNORMAL_POSITION: u32 = UNIT_POSITION - 1074;

/// The bit position of the last place of [`Fixed`], `2^-160`.
const FIXED_POSITION: u32 = UNIT_POSITION - 160;

/// The exact sum of `f64`s: mergeable, and independent of the order and grouping of what was added.
///
/// Meant for finite numbers. One that is not finite makes the sum NaN for good; it never panics.
///
/// Numbers from 1e-8 to 1e9, and their squares, are added as integers of 256 bits; nothing is allocated for
/// them. A longer integer exists from the first number on that needs other bits.
///
/// ```
/// # use errorbar_stats::exact::ExactSum;
/// let mut sum = ExactSum::new();
/// sum.extend(&[1.0, 1e100, 1.0, -1e100]);
/// assert_eq!(sum.to_f64(), 2.0);
/// ```
#[derive(Clone, Debug, Default)]
pub struct ExactSum {
    fixed: Fixed,
    /// What does not fit there, in steps of `2^-2176`.
    rest: Option<Box<BigInt>>,
    non_finite: bool,
}

/// A signed number of 256 bits in steps of `2^-160`, in two's complement.
#[derive(Clone, Copy, Debug, Default)]
struct Fixed {
    high: i128,
    low: u128,
}

impl Fixed {
    /// Adds `± magnitude · 2^shift` steps; `sign` is −1 for minus, 0 for plus. Returns false, unchanged, if that is
    /// 2^254 or more, or the sum would be beyond 2^255.
    #[inline]
    fn add(&mut self, magnitude: u128, shift: u32, sign: i64) -> bool {
        // A number that is too small has a shift below 0, which has wrapped to a large one.
        if shift >= 126 + magnitude.leading_zeros() {
            return false;
        }
        // Shifting twice avoids a shift by 128.
        let (high, low) = match shift.checked_sub(128) {
            None => ((magnitude >> 1) >> (127 - shift), magnitude << shift),
            Some(shift) => (magnitude << shift, 0),
        };
        self.merge(Fixed { high: high.cast_signed(), low }.with_sign(sign))
    }

    /// The number itself, or its negative for a sign of −1.
    #[inline]
    fn with_sign(self, sign: i64) -> Self {
        let carry = i128::from(sign < 0 && self.low == 0);
        let sign = i128::from(sign);
        let low = (self.low ^ sign.cast_unsigned()).wrapping_sub(sign.cast_unsigned());
        Fixed { high: (self.high ^ sign).wrapping_add(carry), low }
    }

    /// Adds another; returns false, unchanged, if the sum is beyond 2^255.
    #[inline]
    fn merge(&mut self, other: Self) -> bool {
        let (low, carry) = self.low.overflowing_add(other.low);
        let high = self.high.checked_add(other.high).and_then(|high| high.checked_add(i128::from(carry)));
        let Some(high) = high else { return false };
        *self = Fixed { high, low };
        true
    }

    /// The number in steps of `2^-96`, if it is a multiple of those and below `2^31`.
    #[inline]
    fn coarse(self) -> Option<i128> {
        let high = i64::try_from(self.high).ok()?;
        let low = u64::try_from(self.low.rotate_left(64)).ok()?;
        Some(i128::from(high) << 64 | i128::from(low))
    }

    fn to_big(self) -> BigInt {
        (BigInt::from(self.high) << 128) + self.low
    }
}

/// The step of [`Fixed::coarse`].
const COARSE_STEP: f64 = 1.0 / (1_u128 << 96) as f64;

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
}

/// Numbers per block of [`dyadic_sums`].
const BLOCK: usize = 256;
/// Independent sums in a block, so that additions need not wait for each other.
const LANES: usize = 8;
/// The grid of the fast path: multiples of 2^-10.
const GRID: f64 = 1024.0;
/// Adding and subtracting 1.5·2^52 rounds to an integer whatever is below 2^51.
const ROUNDER: f64 = 1.5 * (1_u64 << 52) as f64;
/// Integers below this are exact in an `f64`.
const EXACT_INTEGERS: f64 = (1_u64 << 53) as f64;

/// Sum and sum of squares of a block of scores such as 0, 1, ½ or 4, for which plain `f64` arithmetic is exact already.
///
/// Every `y = 1024·x` must be an integer and `Σy²` below 2^53. Then no partial sum of squares was rounded, and as |y| ≤ y² for
/// integers, neither was a partial sum. NaN and infinity fail the comparison with 2^53.
fn dyadic_sums(block: &[f64]) -> Option<(f64, f64)> {
    let (mut sums, mut squares, mut off_grid) = ([0.0; LANES], [0.0; LANES], [0_u64; LANES]);
    let (groups, rest) = block.as_chunks::<LANES>();
    let mut last = [0.0; LANES];
    last.iter_mut().zip(rest).for_each(|(slot, x)| *slot = *x);
    for group in groups.iter().chain(std::iter::once(&last)) {
        for (((sum, square), off), x) in sums.iter_mut().zip(&mut squares).zip(&mut off_grid).zip(group) {
            let y = x * GRID;
            *off |= ((y + ROUNDER) - ROUNDER).to_bits() ^ y.to_bits();
            *sum += y;
            *square += y * y;
        }
    }
    let (sum, squares) = (sums.iter().sum::<f64>(), squares.iter().sum::<f64>());
    let on_grid = off_grid.iter().all(|&bits| bits == 0);
    (on_grid && squares < EXACT_INTEGERS).then_some((sum / GRID, squares / (GRID * GRID)))
}

/// The sum of values if plain additions give it exactly, as they do for grades and most numbers.
fn plain_sum(values: &[f64]) -> Option<f64> {
    let (mut sum, mut lost) = (0.0, 0.0);
    for &value in values {
        // Knuth's two-sum: `error` is exactly what the addition rounded away; NaN if the sum overflows.
        let next: f64 = sum + value;
        let back = next - sum;
        let error: f64 = (sum - (next - back)) + (value - back);
        lost += error.abs();
        sum = next;
    }
    (lost == 0.0).then_some(sum)
}

impl ExactSum {
    /// The mean of values, rounded once; NaN without values. Of infinities and NaN it is what plain arithmetic gives.
    ///
    /// For a few values at a time: a sum that plain additions give exactly needs no accumulator.
    pub fn mean(values: &[f64]) -> f64 {
        let n = values.len();
        if let Some(sum) = plain_sum(values) {
            return sum / n as f64;
        }
        let mut exact = ExactSum::new();
        exact.extend(values);
        if exact.non_finite { values.iter().sum::<f64>() / n as f64 } else { exact.divide(n as u64) }
    }

    /// The empty sum, zero. Does not allocate.
    pub const fn new() -> Self {
        Self { fixed: Fixed { high: 0, low: 0 }, rest: None, non_finite: false }
    }

    /// Adds `x`.
    #[inline]
    pub fn add(&mut self, x: f64) {
        self.add_times(x, 1);
    }

    /// Adds every value of a slice.
    pub fn extend(&mut self, values: &[f64]) {
        self.extend_with_squares(None, values);
    }

    /// Adds every value of a slice to one sum, and its exact square to another, if that is wanted.
    pub(super) fn extend_with_squares(&mut self, mut squares: Option<&mut ExactSum>, values: &[f64]) {
        for block in values.chunks(BLOCK) {
            let squares = squares.iter_mut();
            if let Some((sum, of_squares)) = dyadic_sums(block) {
                self.add(sum);
                squares.for_each(|squares| squares.add(of_squares));
            } else {
                block.iter().for_each(|x| self.add(*x));
                squares.for_each(|squares| block.iter().for_each(|x| squares.add_product(*x, *x)));
            }
        }
    }

    /// Adds `± magnitude · 2^(position − UNIT_POSITION)`; `sign` is −1 for minus, 0 for plus.
    #[inline]
    fn put(&mut self, magnitude: u128, position: u32, sign: i64) {
        if !self.fixed.add(magnitude, position.wrapping_sub(FIXED_POSITION), sign) && magnitude > 0 {
            let number = BigInt::from(magnitude) << position;
            self.add_rest(if sign < 0 { -number } else { number });
        }
    }

    #[cold]
    fn add_rest(&mut self, number: BigInt) {
        *self.rest.get_or_insert_default().as_mut() += number;
    }

    /// Adds `x · count`, exactly.
    #[inline]
    pub fn add_times(&mut self, x: f64, count: u64) {
        match FloatParts::of(x) {
            Some(FloatParts { magnitude, position, sign }) => {
                self.put(u128::from(magnitude) * u128::from(count), position, sign);
            }
            None => self.non_finite |= count > 0,
        }
    }

    /// Adds `x · y`, exactly, also where the product is beyond the range of `f64`.
    #[inline]
    pub fn add_product(&mut self, x: f64, y: f64) {
        match (FloatParts::of(x), FloatParts::of(y)) {
            (Some(x), Some(y)) => {
                let product = u128::from(x.magnitude) * u128::from(y.magnitude);
                self.put(product, x.position + y.position - UNIT_POSITION, x.sign ^ y.sign);
            }
            _ => self.non_finite = true,
        }
    }

    /// Adds `x² · count`, exactly.
    pub(super) fn add_square_times(&mut self, x: f64, count: u64) {
        let Some(FloatParts { magnitude, position, .. }) = FloatParts::of(x) else {
            self.non_finite |= count > 0;
            return;
        };
        // A square of 106 bits and a count of 64 exceed 128 bits together, so half of the square goes at a time.
        let square = u128::from(magnitude) * u128::from(magnitude);
        let position = 2 * position - UNIT_POSITION;
        self.put((square & u128::from(u64::MAX)) * u128::from(count), position, 0);
        self.put((square >> 64) * u128::from(count), position + 64, 0);
    }

    /// Adds all that `other` holds.
    pub fn merge(&mut self, other: &Self) {
        self.non_finite |= other.non_finite;
        if let Some(rest) = &other.rest {
            self.add_rest(rest.as_ref().clone());
        }
        if !self.fixed.merge(other.fixed) {
            self.add_rest(other.fixed.to_big() << FIXED_POSITION);
        }
    }

    /// Whether the sum is exactly zero.
    pub fn is_zero(&self) -> bool {
        !self.non_finite && self.magnitude().1.digits == BigUint::ZERO
    }

    /// The sum, rounded once to the nearest `f64` (ties to even); infinite when it is beyond the largest.
    pub fn to_f64(&self) -> f64 {
        match self.coarse() {
            // The conversion rounds as it should, and a power of two changes no digit.
            Some(steps) => steps as f64 * COARSE_STEP,
            None => self.finish(Magnitude::to_f64),
        }
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
        // A quotient of two floats is rounded once, as long as both are exact.
        if n < 1 << 53
            && let Some(steps) = self.coarse().filter(|steps| steps.unsigned_abs() < 1 << 126)
            && (steps as f64) as i128 == steps
        {
            return steps as f64 * COARSE_STEP / n as f64;
        }
        self.finish(|magnitude| magnitude.over(&[n]).to_f64())
    }

    /// The sum in steps of `2^-96`, if that is all of it.
    fn coarse(&self) -> Option<i128> {
        if self.rest.is_some() || self.non_finite { None } else { self.fixed.coarse() }
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
        let (all, position) = match &self.rest {
            None => (self.fixed.to_big(), FIXED_POSITION),
            Some(rest) => ((self.fixed.to_big() << FIXED_POSITION) + rest.as_ref(), 0),
        };
        let (sign, digits) = all.into_parts();
        (sign == Sign::Minus, Magnitude::new(digits, position as i32 - UNIT_POSITION as i32))
    }

    /// Whether something was added that is not a finite number.
    pub(super) fn is_poisoned(&self) -> bool {
        self.non_finite
    }
}

/// A non-negative number, digits · 2^exponent, and, if `sticky`, some part of a unit in the last place more.
///
/// Only division sets `sticky`; nothing is computed from a sticky number except its rounding, so every figure that leaves this
/// module has been rounded exactly once.
#[derive(Clone, Debug)]
pub(super) struct Magnitude {
    digits: BigUint,
    exponent: i32,
    sticky: bool,
}

impl Magnitude {
    /// Without zeros at the end, so that equal numbers have equal digits.
    fn new(digits: BigUint, exponent: i32) -> Self {
        let zeros = digits.trailing_zeros();
        let exponent = zeros.map_or(0, |zeros| exponent + zeros as i32);
        Self { digits: digits >> zeros.unwrap_or(0), exponent, sticky: false }
    }

    /// `self · factor`.
    pub(super) fn times(&self, factor: u64) -> Self {
        Self::new(&self.digits * factor, self.exponent)
    }

    /// `self²`.
    pub(super) fn squared(&self) -> Self {
        Self::new(&self.digits * &self.digits, 2 * self.exponent)
    }

    /// `self − other`, or zero where `other` is larger.
    pub(super) fn minus(&self, other: &Self) -> Self {
        let exponent = self.exponent.min(other.exponent);
        let aligned = |number: &Self| BigInt::from(&number.digits << (number.exponent - exponent));
        Self::new((aligned(self) - aligned(other)).to_biguint().unwrap_or_default(), exponent)
    }

    /// `self / (d₁·d₂·…)`, with a precision of at least 64 bits and the rest in `sticky`. No factor may be zero.
    pub(super) fn over(&self, divisors: &[u64]) -> Self {
        let divisor: BigUint = divisors.iter().map(|divisor| BigUint::from((*divisor).max(1))).product();
        let extra = divisor.bits() + 64;
        let dividend = &self.digits << extra;
        let quotient = &dividend / &divisor;
        let sticky = self.sticky || &quotient * divisor != dividend;
        Self { sticky, ..Self::new(quotient, self.exponent - extra as i32) }
    }

    /// The nearest `f64`, ties to even, subnormals included; infinite when beyond the largest.
    pub(super) fn to_f64(&self) -> f64 {
        let Some((significand, exponent)) = self.rounded(SMALLEST_EXPONENT) else {
            return 0.0;
        };
        // The significand ends at bit 52 unless the number is subnormal; a rounding up to 2^53 (or from subnormal to
        // normal) carries into the exponent field by itself.
        let infinity = f64::INFINITY.to_bits();
        let bits = if exponent == SMALLEST_EXPONENT {
            significand
        } else if exponent > 1023 - 52 {
            infinity
        } else {
            (((exponent + 1075) as u64) << 52) + (significand - (1 << 52))
        };
        f64::from_bits(bits.min(infinity))
    }

    /// The square root to within 0.75 units in the last place, also where the number itself is beyond the range of `f64`.
    pub(super) fn sqrt(&self) -> f64 {
        let Some((significand, exponent)) = self.rounded(i32::MIN) else {
            return 0.0;
        };
        let odd = exponent.rem_euclid(2);
        let root = ((significand << odd) as f64).sqrt();
        libm::ldexp(root, (exponent - odd) / 2)
    }

    /// `(m, e)` with `m · 2^e` nearest to the number, `m ≤ 2^53` and `e ≥ least_exponent`; `None` when it rounds to nothing.
    fn rounded(&self, least_exponent: i32) -> Option<(u64, i32)> {
        let bits = self.digits.bits() as i32;
        let exponent = (self.exponent + bits - 53).max(least_exponent);
        let dropped = exponent - self.exponent;
        if bits == 0 || dropped <= 0 {
            let significand = u64::try_from(&self.digits << -dropped.min(0)).unwrap_or(0);
            return (bits > 0).then_some((significand, exponent));
        }
        let dropped = dropped as u64;
        let mut significand = u64::try_from(&self.digits >> dropped).unwrap_or(0);
        let has_bits_below = self.sticky || self.digits.trailing_zeros() < Some(dropped - 1);
        if self.digits.bit(dropped - 1) && (significand & 1 == 1 || has_bits_below) {
            significand += 1;
        }
        (significand > 0).then_some((significand, exponent))
    }
}

/// Equal when the exact values are; two sums that met a number that is not finite are equal as well.
impl PartialEq for ExactSum {
    fn eq(&self, other: &Self) -> bool {
        if self.non_finite || other.non_finite {
            return self.non_finite == other.non_finite;
        }
        let ((sign, value), (other_sign, other_value)) = (self.magnitude(), other.magnitude());
        sign == other_sign && value.digits == other_value.digits && value.exponent == other_value.exponent
    }
}

/// The exponent of the largest of some numbers: divided by two to that power none is above 1, so that
/// squares neither overflow nor vanish all together.
pub fn common_exponent(values: impl Iterator<Item = f64>) -> i32 {
    let largest = values.map(f64::abs).fold(0.0, f64::max);
    if largest == 0.0 { 0 } else { libm::frexp(largest).1 }
}

/// √(factor · Σ x²), finite wherever the result is.
pub fn root_of_squares(values: &[f64], factor: f64) -> f64 {
    let exponent = common_exponent(values.iter().copied());
    let mut squares = ExactSum::new();
    for value in values {
        let scaled = libm::scalbn(*value, -exponent);
        squares.add_product(scaled, scaled);
    }
    libm::scalbn((squares.to_f64() * factor).sqrt(), exponent)
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    /// The mean by long integers alone, without any fast path.
    fn slow_mean(values: &[f64]) -> f64 {
        let mut all = BigInt::ZERO;
        for value in values {
            let FloatParts { magnitude, position, sign } = FloatParts::of(*value).unwrap();
            let number = BigInt::from(magnitude) << position;
            all += if sign < 0 { -number } else { number };
        }
        let (sign, digits) = all.into_parts();
        let mean = Magnitude::new(digits, -(UNIT_POSITION as i32)).over(&[values.len() as u64]).to_f64();
        if sign == Sign::Minus { -mean } else { mean }
    }

    fn assert_means(values: &[f64]) {
        let slow = slow_mean(values).to_bits();
        assert_eq!(ExactSum::mean(values).to_bits(), slow, "{values:?}");
        let mut sum = ExactSum::new();
        sum.extend(values);
        assert_eq!(sum.divide(values.len() as u64).to_bits(), slow, "{values:?}");
    }

    /// Numbers that add up exactly, that almost do, and that cancel, underflow or overflow.
    fn number() -> impl Strategy<Value = f64> {
        let finite = any::<u64>().prop_map(f64::from_bits).prop_filter("finite", |x| x.is_finite());
        let edges = [
            0.0,
            -0.0,
            1.0,
            -1.0,
            0.5,
            0.1,
            -0.1,
            1.0 / 3.0,
            1e16,
            -1e16,
            1e-16,
            f64::MAX,
            f64::MIN,
            f64::MIN_POSITIVE,
            5e-324,
            -5e-324,
            f64::EPSILON,
            9_007_199_254_740_993.0,
            1.0 + f64::EPSILON,
            1.0 - f64::EPSILON,
        ];
        prop_oneof![
            (-2000_i32..2000).prop_map(|x| f64::from(x) / 8.0),
            (-1.0..1.0_f64),
            prop::sample::select(edges.to_vec()),
            finite,
        ]
    }

    proptest! {
        #[test]
        fn fast_means_are_those_of_long_integers(values in vec(number(), 1..12), copies in 1..4_usize) {
            assert_means(&values.repeat(copies));
            let opposite: Vec<f64> = values.iter().flat_map(|x| [*x, -x]).chain([0.1]).collect();
            assert_means(&opposite);
        }
    }

    #[test]
    fn a_mean_of_plain_values() {
        assert_eq!(ExactSum::mean(&[0.1; 10]), 0.1);
        assert_eq!(ExactSum::mean(&[1.0, 0.0, 0.0]), 1.0 / 3.0);
        // The sum overflows, the mean does not.
        assert_eq!(ExactSum::mean(&[1e308; 4]), 1e308);
        assert_eq!(ExactSum::mean(&[f64::INFINITY, 1.0]), f64::INFINITY);
        assert!(ExactSum::mean(&[]).is_nan());
        assert!(ExactSum::mean(&[f64::INFINITY, f64::NEG_INFINITY]).is_nan());
    }

    #[test]
    fn ordinary_scores_take_no_memory() {
        let mut sum = ExactSum::new();
        (0..1000).for_each(|i| sum.add(f64::from(i % 7) * 0.3 - 0.3));
        sum.extend(&[0.0, -0.0, 1000.1, 1e-8, 1e12]);
        sum.add_product(1e-8, -1e-8);
        assert!(sum.rest.is_none());
        sum.add(1e-300);
        assert!(sum.rest.is_some());
    }

    #[test]
    fn integers_that_overflow_continue_in_longer_ones() {
        // 2^93 is 2^253 steps: the fourth one is beyond 2^255.
        let large = 2_f64.powi(93);
        let mut sum = ExactSum::new();
        (0..5).for_each(|_| sum.add(large));
        assert!(sum.rest.is_some());
        assert_eq!(sum.to_f64(), 5.0 * large);
        assert_eq!(sum.divide(5), large);
        (0..5).for_each(|_| sum.add(-large));
        assert!(sum.is_zero() && sum == ExactSum::new());
    }

    #[test]
    fn a_mean_is_rounded_once_on_either_path() {
        for values in [vec![0.1; 10], vec![1.0, 0.0, 0.0], vec![1e-9, 0.1, 3.0], vec![1e308; 4]] {
            let mut sum = ExactSum::new();
            sum.extend(&values);
            let (negative, magnitude) = sum.magnitude();
            let expected = magnitude.over(&[values.len() as u64]).to_f64();
            assert!(!negative);
            assert_eq!(sum.divide(values.len() as u64), expected, "{values:?}");
        }
    }
}

#[cfg(test)]
mod magnitude_tests {
    use super::*;

    /// The number of these limbs, lowest first, the lowest one weighing `2^(32·scale)`.
    fn number(limbs: Vec<u32>, scale: i32) -> Magnitude {
        Magnitude::new(BigUint::new(limbs), 32 * scale)
    }

    #[test]
    fn rounds_half_to_even() {
        // 2^53 + 1 lies halfway between 2^53 and 2^53 + 2; 2^53 + 3 halfway between 2^53 + 2 and 2^53 + 4.
        let two_53 = 1_u32 << 21;
        let value = |low| number(vec![low, two_53], 0).to_f64();
        assert_eq!(value(1), 9_007_199_254_740_992.0);
        assert_eq!(value(3), 9_007_199_254_740_996.0);
        // One bit far below the half tips it upwards: 2^53 + 1 + 2^-64.
        let above_half = number(vec![1, 0, 1, two_53], -2);
        assert_eq!(above_half.to_f64(), 9_007_199_254_740_994.0);
    }

    #[test]
    fn rounds_into_and_out_of_the_subnormals() {
        // 2^-1088 is below half of the smallest subnormal 2^-1074; 3 · 2^-1076 is ¾ of it.
        assert_eq!(number(vec![1], -34).to_f64(), 0.0);
        let three_quarters = number(vec![3 << 12], -34);
        assert_eq!(three_quarters.to_f64(), f64::from_bits(1));
        // 2^-1022 − 2^-1088 is subnormal before rounding and the smallest normal number after it.
        let mut limbs = vec![u32::MAX; 3];
        limbs[2] = 3;
        assert_eq!(number(limbs, -34).to_f64(), f64::MIN_POSITIVE);
    }

    #[test]
    fn overflow_is_infinite_only_from_half_a_step_beyond_the_largest() {
        // f64::MAX = 2^1024 − 2^971: the next step would be 2^1024, so 2^1024 − 2^970 is the halfway point, which goes up.
        let below = |low: u32| {
            let mut limbs = vec![0; 32];
            limbs[30] = low;
            limbs[31] = u32::MAX;
            number(limbs, 0).to_f64()
        };
        // Bits 1023..971 set, then bit 970 (limb 30, bit 10).
        assert_eq!(below(0xFFFF_F800), f64::MAX);
        assert_eq!(below(0xFFFF_FC00), f64::INFINITY);
        assert_eq!(below(0xFFFF_FBFF), f64::MAX);
    }

    #[test]
    fn division_keeps_the_remainder_for_rounding() {
        // 1 / 3 and (1 / 7) / 7 = 1 / 49 as f64 rounds them.
        let one = number(vec![1], 0);
        assert_eq!(one.over(&[3]).to_f64(), 1.0 / 3.0);
        assert_eq!(one.over(&[7, 7]).to_f64(), 1.0 / 49.0);
        assert_eq!(one.over(&[u64::MAX, u64::MAX]).to_f64(), 2_f64.powi(-128));
        // 2^117 = q·d + r with q = 2^53 + 1, halfway between two f64s: 1/d is q·2^-117 and r/d < 2^-11 of a unit more, which
        // only the remainder shows. It decides against the tie's even neighbour 2^53 and for 2^53 + 2.
        let q = (1_u128 << 53) + 1;
        let (d, r) = ((1 << 117) / q, (1 << 117) % q);
        assert!(r > 0 && r << 11 < d);
        let expected = ((1_u64 << 53) + 2) as f64 * 2_f64.powi(-117);
        assert_eq!(one.over(&[d as u64]).to_f64(), expected);
    }

    #[test]
    fn difference_and_product() {
        // (2^64 + 5)² − 25 − 10·2^64 = 2^128.
        let x = number(vec![5, 0, 1], 0);
        let ten_two_64 = number(vec![0, 0, 1], 0).times(10);
        let left = x.squared().minus(&number(vec![25], 0)).minus(&ten_two_64);
        assert_eq!((left.digits, left.exponent), (BigUint::from(1_u32), 128));
        assert_eq!(number(vec![1], 0).minus(&x).digits, BigUint::ZERO);
    }
}
