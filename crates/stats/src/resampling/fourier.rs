//! The discrete Fourier transform, for powers of distributions on a lattice.

use std::f64::consts::PI;

/// A complex number.
pub(super) type Complex = (f64, f64);

pub(super) fn times(a: Complex, b: Complex) -> Complex {
    (a.0 * b.0 - a.1 * b.1, a.0 * b.1 + a.1 * b.0)
}

/// A power by repeated squaring.
pub(super) fn power(mut base: Complex, mut exponent: u64) -> Complex {
    let mut result = (1.0, 0.0);
    while exponent > 0 {
        if exponent % 2 == 1 {
            result = times(result, base);
        }
        base = times(base, base);
        exponent /= 2;
    }
    result
}

/// Σ_j x_j e^(−2πijk/N) for each k, in place; with `inverse` e^(+2πijk/N) and divided by N. N must be a power of two.
///
/// Cooley and Tukey, 1965. Sines come from libm, so the result has the same bits on every platform.
#[expect(clippy::indexing_slicing, reason = "all indices are below the length, a power of two")]
pub(super) fn transform(values: &mut [Complex], inverse: bool) {
    let n = values.len();
    if n < 2 {
        return;
    }
    let bits = n.trailing_zeros();
    for at in 0..n {
        let reversed = at.reverse_bits() >> (usize::BITS - bits);
        if at < reversed {
            values.swap(at, reversed);
        }
    }
    let sign = if inverse { 1.0 } else { -1.0 };
    let roots: Vec<Complex> = (0..n / 2)
        .map(|k| {
            let (sin, cos) = libm::sincos(2.0 * PI * k as f64 / n as f64);
            (cos, sign * sin)
        })
        .collect();
    let mut half = 1;
    while half < n {
        let stride = n / (2 * half);
        for block in values.chunks_exact_mut(2 * half) {
            let (low, high) = block.split_at_mut(half);
            for (k, (a, b)) in low.iter_mut().zip(high).enumerate() {
                let turned = times(*b, roots[k * stride]);
                *b = (a.0 - turned.0, a.1 - turned.1);
                *a = (a.0 + turned.0, a.1 + turned.1);
            }
        }
        half *= 2;
    }
    if inverse {
        for value in values {
            *value = (value.0 / n as f64, value.1 / n as f64);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_transform_is_the_sum_that_it_stands_for_and_comes_back() {
        let values: Vec<Complex> = (0..16).map(|at| (f64::from(at * at % 7), f64::from(at % 3))).collect();
        let mut transformed = values.clone();
        transform(&mut transformed, false);
        for (k, found) in transformed.iter().enumerate() {
            let mut sum = (0.0, 0.0);
            for (j, value) in values.iter().enumerate() {
                let angle = -2.0 * PI * (j * k) as f64 / 16.0;
                let term = times(*value, (angle.cos(), angle.sin()));
                sum = (sum.0 + term.0, sum.1 + term.1);
            }
            assert!((sum.0 - found.0).abs() < 1e-12 && (sum.1 - found.1).abs() < 1e-12, "{k}");
        }
        transform(&mut transformed, true);
        for (before, after) in values.iter().zip(&transformed) {
            assert!((before.0 - after.0).abs() < 1e-14 && (before.1 - after.1).abs() < 1e-14);
        }
        let mut one = [(3.0, 4.0)];
        transform(&mut one, false);
        assert_eq!(
            (one[0], power((0.0, 1.0), 3), power((2.0, 0.0), 10)),
            ((3.0, 4.0), (0.0, -1.0), (1024.0, 0.0))
        );
    }
}
