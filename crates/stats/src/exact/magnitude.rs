//! Just enough big-number arithmetic to finish an exact sum: square, scale, subtract, divide, and round once at the end.

/// A non-negative binary number, `Σ limbs[i] · 2^(32·(i + scale))`, plus, when `sticky`, some part of a unit in the last place.
///
/// Only division sets `sticky`; nothing is computed from a sticky number except its rounding, so every figure that leaves this
/// module has been rounded exactly once.
#[derive(Clone, Debug)]
pub(super) struct Magnitude {
    limbs: Vec<u32>,
    scale: i32,
    sticky: bool,
}

/// Bits in a limb.
const LIMB: i32 = 32;

/// The exponent of the last bit of a subnormal `f64`.
const SMALLEST_EXPONENT: i32 = -1074;

impl Magnitude {
    /// The number whose little-endian limbs are given, the lowest one weighing `2^(32·scale)`.
    pub(super) fn new(limbs: Vec<u32>, scale: i32) -> Self {
        Self { limbs, scale, sticky: false }.trimmed()
    }

    /// Drops zero limbs at either end, so that equal numbers have equal limbs.
    fn trimmed(mut self) -> Self {
        let used = self.limbs.iter().rposition(|&limb| limb != 0).map_or(0, |last| last + 1);
        self.limbs.truncate(used);
        let low = self.limbs.iter().take_while(|&&limb| limb == 0).count();
        self.limbs.drain(..low);
        self.scale = if self.limbs.is_empty() { 0 } else { self.scale + low as i32 };
        self
    }

    /// The limbs, lowest first, and the scale of the lowest.
    pub(super) fn into_limbs(self) -> (Vec<u32>, i32) {
        (self.limbs, self.scale)
    }

    /// Whether the number is zero.
    pub(super) fn is_zero(&self) -> bool {
        self.limbs.is_empty() && !self.sticky
    }

    /// Whether two exact numbers are equal.
    pub(super) fn same_value(&self, other: &Self) -> bool {
        self.scale == other.scale && self.limbs == other.limbs
    }

    /// `self · factor`.
    pub(super) fn times(&self, factor: u64) -> Self {
        let factor_limbs = [factor as u32, (factor >> LIMB) as u32];
        self.product(&factor_limbs, 0)
    }

    /// `self²`.
    pub(super) fn squared(&self) -> Self {
        self.product(&self.limbs, self.scale)
    }

    /// Schoolbook multiplication: ordinary scores fill a handful of limbs, where nothing cleverer pays.
    fn product(&self, other: &[u32], other_scale: i32) -> Self {
        let mut limbs = vec![0_u32; self.limbs.len() + other.len()];
        for (offset, &a) in self.limbs.iter().enumerate() {
            let mut carry = 0_u64;
            let row = limbs.iter_mut().skip(offset);
            for (limb, b) in row.zip(other.iter().copied().chain(std::iter::once(0))) {
                // (2^32−1)² + 2(2^32−1) = 2^64−1: the three terms cannot overflow.
                carry += u64::from(a) * u64::from(b) + u64::from(*limb);
                *limb = carry as u32;
                carry >>= LIMB;
            }
        }
        Self::new(limbs, self.scale + other_scale)
    }

    /// `self − other`, or zero where `other` is larger.
    pub(super) fn minus(&self, other: &Self) -> Self {
        let scale = match (self.limbs.is_empty(), other.limbs.is_empty()) {
            (_, true) => return self.clone(),
            (true, false) => return Self::new(Vec::new(), 0),
            (false, false) => self.scale.min(other.scale),
        };
        let aligned = |number: &Self| {
            let padding = (number.scale - scale) as usize;
            std::iter::repeat_n(0, padding).chain(number.limbs.iter().copied()).collect::<Vec<u32>>()
        };
        let mut limbs = aligned(self);
        let subtrahend = aligned(other);
        if subtrahend.len() > limbs.len() {
            return Self::new(Vec::new(), 0);
        }
        let mut borrow = 0_i64;
        for (limb, b) in limbs.iter_mut().zip(subtrahend.iter().copied().chain(std::iter::repeat(0))) {
            borrow += i64::from(*limb) - i64::from(b);
            *limb = borrow as u32;
            borrow >>= LIMB;
        }
        if borrow < 0 {
            return Self::new(Vec::new(), 0);
        }
        Self::new(limbs, scale)
    }

    /// `self / (d₁·d₂·…)`, with a precision of at least 64 bits and the rest in `sticky`.
    ///
    /// Dividing by one factor after the other loses nothing, for ⌊⌊x/a⌋/b⌋ = ⌊x/(ab)⌋ when x, a and b are integers; all the
    /// limbs that the quotient needs are therefore added at the start. No factor may be zero.
    pub(super) fn over(&self, divisors: &[u64]) -> Self {
        // A divisor below 2^64 shortens the number by at most two limbs; two more keep 64 bits of quotient.
        let extra = 4 * divisors.len();
        let mut limbs: Vec<u32> = std::iter::repeat_n(0, extra).chain(self.limbs.iter().copied()).collect();
        let mut sticky = self.sticky;
        for &divisor in divisors {
            let divisor = u128::from(divisor.max(1));
            let mut remainder = 0_u128;
            for limb in limbs.iter_mut().rev() {
                let dividend = (remainder << LIMB) | u128::from(*limb);
                *limb = (dividend / divisor) as u32;
                remainder = dividend % divisor;
            }
            sticky |= remainder != 0;
        }
        let mut quotient = Self::new(limbs, self.scale - extra as i32);
        quotient.sticky = sticky;
        quotient
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
        let top_limb = self.limbs.last()?;
        let lowest = self.scale * LIMB;
        let bits = self.limbs.len() as i32 * LIMB - top_limb.leading_zeros() as i32;
        let exponent = (lowest + bits - 53).max(least_exponent);
        let dropped = exponent - lowest;
        let mut significand = self.bits_from(dropped);
        let half = self.bits_from(dropped - 1) & 1 == 1;
        if half && (significand & 1 == 1 || self.has_bits_below(dropped - 1)) {
            significand += 1;
        }
        (significand > 0).then_some((significand, exponent))
    }

    /// The low 64 bits of `⌊limbs / 2^start⌋`; `start` may lie outside of the number on either side.
    fn bits_from(&self, start: i32) -> u64 {
        let first = start.div_euclid(LIMB);
        let shift = start.rem_euclid(LIMB);
        let limb = |index: i32| {
            let found = usize::try_from(index).ok().and_then(|i| self.limbs.get(i));
            u128::from(found.copied().unwrap_or(0))
        };
        let window = limb(first) | limb(first + 1) << 32 | limb(first + 2) << 64;
        (window >> shift) as u64
    }

    /// Whether anything is left below bit `end`.
    fn has_bits_below(&self, end: i32) -> bool {
        if self.sticky {
            return true;
        }
        let Ok(end) = usize::try_from(end) else {
            return false;
        };
        let (whole, rest) = (end / 32, end % 32);
        self.limbs.iter().take(whole).any(|&limb| limb != 0)
            || self.limbs.get(whole).is_some_and(|&limb| limb & ((1 << rest) - 1) != 0)
    }
}

#[cfg(test)]
mod tests {
    use super::Magnitude;

    #[test]
    fn rounds_half_to_even() {
        // 2^53 + 1 lies halfway between 2^53 and 2^53 + 2; 2^53 + 3 halfway between 2^53 + 2 and 2^53 + 4.
        let two_53 = 1_u32 << 21;
        let value = |low| Magnitude::new(vec![low, two_53], 0).to_f64();
        assert_eq!(value(1), 9_007_199_254_740_992.0);
        assert_eq!(value(3), 9_007_199_254_740_996.0);
        // One bit far below the half tips it upwards: 2^53 + 1 + 2^-64.
        let above_half = Magnitude::new(vec![1, 0, 1, two_53], -2);
        assert_eq!(above_half.to_f64(), 9_007_199_254_740_994.0);
    }

    #[test]
    fn rounds_into_and_out_of_the_subnormals() {
        // 2^-1088 is below half of the smallest subnormal 2^-1074; 3 · 2^-1076 is ¾ of it.
        assert_eq!(Magnitude::new(vec![1], -34).to_f64(), 0.0);
        let three_quarters = Magnitude::new(vec![3 << 12], -34);
        assert_eq!(three_quarters.to_f64(), f64::from_bits(1));
        // 2^-1022 − 2^-1088 is subnormal before rounding and the smallest normal number after it.
        let mut limbs = vec![u32::MAX; 3];
        limbs[2] = 3;
        assert_eq!(Magnitude::new(limbs, -34).to_f64(), f64::MIN_POSITIVE);
    }

    #[test]
    fn overflow_is_infinite_only_from_half_a_step_beyond_the_largest() {
        // f64::MAX = 2^1024 − 2^971: the next step would be 2^1024, so 2^1024 − 2^970 is the halfway point, which goes up.
        let below = |low: u32| {
            let mut limbs = vec![0; 32];
            limbs[30] = low;
            limbs[31] = u32::MAX;
            Magnitude::new(limbs, 0).to_f64()
        };
        // Bits 1023..971 set, then bit 970 (limb 30, bit 10).
        assert_eq!(below(0xFFFF_F800), f64::MAX);
        assert_eq!(below(0xFFFF_FC00), f64::INFINITY);
        assert_eq!(below(0xFFFF_FBFF), f64::MAX);
    }

    #[test]
    fn division_keeps_the_remainder_for_rounding() {
        // 1 / 3 and (1 / 7) / 7 = 1 / 49 as f64 rounds them.
        let one = Magnitude::new(vec![1], 0);
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
        let x = Magnitude::new(vec![5, 0, 1], 0);
        let ten_two_64 = Magnitude::new(vec![0, 0, 1], 0).times(10);
        let left = x.squared().minus(&Magnitude::new(vec![25], 0)).minus(&ten_two_64);
        assert!(left.same_value(&Magnitude::new(vec![1], 4)));
        assert!(Magnitude::new(vec![1], 0).minus(&x).is_zero());
    }
}
