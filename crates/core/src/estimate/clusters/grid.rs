//! Sums of scores by the code of their cluster: as whole numbers of steps of a grid where they can be, on all threads.

use std::ops::AddAssign;

use rayon::prelude::*;

use crate::columns::Numbers;
use crate::stats::ExactSum;

/// Scores that are multiples of 2^-10 are summed as integers.
pub(super) const GRID: f64 = 1024.0;
/// The largest of them. Four billion rows of it, 2^52 steps, are still exact in an `f64`.
const LARGEST: f64 = 1024.0;

/// A score in steps of the grid, if it is on it.
#[inline]
pub(super) fn on_grid(value: f64) -> Option<i64> {
    if value.abs() > LARGEST {
        return None;
    }
    let steps = value * GRID;
    let whole = steps as i64;
    (whole as f64 == steps).then_some(whole)
}

/// A score in steps of 2^-64, as which every number from 2^-12 up to the largest can be written, and many
/// smaller ones. Four billion rows of the largest fit.
#[inline]
fn on_fine_grid(value: f64) -> Option<i128> {
    if value.is_nan() || value.abs() > LARGEST {
        return None;
    }
    let bits = value.to_bits();
    let exponent = (bits >> 52 & 0x7ff) as i32;
    let fraction = i128::from(bits & ((1 << 52) - 1));
    if exponent == 0 {
        return (fraction == 0).then_some(0);
    }
    let mantissa = fraction | 1 << 52;
    // The last bit of the mantissa counts 2^(exponent − 1075).
    let shift = exponent - 1075 + 64;
    let steps = if shift >= 0 {
        mantissa << shift
    } else if mantissa.trailing_zeros() >= shift.unsigned_abs() {
        mantissa >> -shift
    } else {
        return None;
    };
    Some(if value < 0.0 { -steps } else { steps })
}

/// The scores of one distinct metadata value: how many, their sum in steps of a grid, and the place of
/// the first.
#[derive(Clone, Copy, Debug)]
struct GridTotal<S> {
    steps: S,
    n: u32,
    first: u32,
}

/// How many scores a thread adds up at a time.
const PART: usize = 1 << 16;

/// What a thread has added up: a total per distinct metadata value, and the scores that are on no grid,
/// which those totals count but do not sum.
struct PartTotals<S, N> {
    totals: Vec<GridTotal<S>>,
    off_grid: Vec<(u32, N)>,
}

impl<S: AddAssign + Copy + Default, N: Copy> PartTotals<S, N> {
    fn none(distinct: usize) -> Self {
        let none = GridTotal { steps: S::default(), n: 0, first: u32::MAX };
        PartTotals { totals: vec![none; distinct], off_grid: Vec::new() }
    }

    /// Takes in scores, of which the first is at `start`; nothing if many of them are on no grid.
    fn add(
        mut self,
        start: usize,
        codes: &[u32],
        numbers: &[N],
        steps_of: impl Fn(N) -> Option<S>,
    ) -> Option<Self> {
        let most_off_grid = self.off_grid.len() + codes.len() / 16;
        for (at, (&code, &number)) in codes.iter().zip(numbers).enumerate() {
            let total = self.totals.get_mut(code as usize)?;
            if total.n == 0 {
                total.first = (start + at) as u32;
            }
            total.n += 1;
            match steps_of(number) {
                Some(steps) => total.steps += steps,
                None if self.off_grid.len() == most_off_grid => return None,
                None => self.off_grid.push((code, number)),
            }
        }
        Some(self)
    }

    fn merge(mut self, mut other: Self) -> Self {
        for (total, other) in self.totals.iter_mut().zip(&other.totals) {
            total.steps += other.steps;
            total.n += other.n;
            total.first = total.first.min(other.first);
        }
        self.off_grid.append(&mut other.off_grid);
        self
    }
}

/// The scores added up by distinct metadata value, on all threads. Nothing if many are on no grid.
fn grid_totals<N, S>(
    codes: &[u32],
    numbers: &[N],
    distinct: usize,
    steps_of: impl Fn(N) -> Option<S> + Sync,
) -> Option<PartTotals<S, N>>
where
    N: Copy + Send + Sync,
    S: AddAssign + Copy + Default + Send,
{
    let none = || PartTotals::none(distinct);
    if codes.len() <= PART {
        return none().add(0, codes, numbers, steps_of);
    }
    // A thread that takes few scores has as many totals as one that takes many.
    let least = (4 * distinct).div_ceil(PART).max(1);
    let parts = codes.par_chunks(PART).zip(numbers.par_chunks(PART)).enumerate().with_min_len(least);
    parts
        .try_fold(none, |totals, (part, (codes, numbers))| totals.add(part * PART, codes, numbers, &steps_of))
        .try_reduce(none, |totals, other| Some(totals.merge(other)))
}

/// The scores of one distinct metadata value: its code, how many there are, their sum, and the place of
/// the first.
pub(super) struct CodeTotal {
    pub(super) code: usize,
    pub(super) n: u64,
    pub(super) sum: ExactSum,
    pub(super) first: usize,
}

/// The scores added up by distinct metadata value, in the order in which those first occur. Nothing if many
/// are on no grid, or if most values occur but once or twice, where this does not pay.
pub(super) fn totals(codes: &[u32], numbers: Numbers<'_>, distinct: usize) -> Option<Vec<CodeTotal>> {
    fn exact<S>(found: Vec<GridTotal<S>>, sum: impl Fn(S) -> ExactSum) -> Vec<CodeTotal> {
        let exact = |(code, GridTotal { steps, n, first })| CodeTotal {
            code,
            n: u64::from(n),
            sum: sum(steps),
            first: first as usize,
        };
        found.into_iter().enumerate().map(exact).collect()
    }
    if distinct > codes.len() / 4 || u32::try_from(codes.len()).is_err() {
        return None;
    }
    let mut totals = match numbers {
        Numbers::Bytes(bytes) => {
            let found = grid_totals(codes, bytes, distinct, |byte| Some(i64::from(byte)))?;
            exact(found.totals, |whole| sum_of(whole as f64))
        }
        Numbers::Floats(floats) => {
            let found = grid_totals(codes, floats, distinct, on_fine_grid)?;
            let mut totals = exact(found.totals, of_fine_steps);
            for (code, float) in found.off_grid {
                if let Some(total) = totals.get_mut(code as usize) {
                    total.sum.add(float);
                }
            }
            totals
        }
    };
    totals.retain(|total| total.n > 0);
    totals.sort_unstable_by_key(|total| total.first);
    Some(totals)
}

fn sum_of(value: f64) -> ExactSum {
    let mut sum = ExactSum::new();
    sum.add(value);
    sum
}

/// A sum of steps of the fine grid, taken apart into pieces that a float holds.
fn of_fine_steps(steps: i128) -> ExactSum {
    let mut sum = ExactSum::new();
    let sign = if steps < 0 { -1.0 } else { 1.0 };
    let mut scale = sign / (1_u128 << 64) as f64;
    let mut rest = steps.unsigned_abs();
    while rest != 0 {
        sum.add((rest as u32) as f64 * scale);
        rest >>= 32;
        scale *= (1_u64 << 32) as f64;
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn totals_of_parts_are_those_of_the_whole_in_order_of_appearance() {
        let rows = 3 * PART + 5;
        // Code 0 is never met, and 6 only in the last part.
        let code = |row: usize| if row > 3 * PART { 6 } else { 5 - (row * row % 5) as u32 };
        let codes: Vec<u32> = (0..rows).map(code).collect();
        let floats: Vec<f64> = (0..rows).map(|row| (row % 9) as f64 / 8.0 - 0.5).collect();
        let mut expected: Vec<(usize, f64, u32, u32)> = Vec::new();
        for (row, (code, float)) in codes.iter().zip(&floats).enumerate() {
            match expected.iter_mut().find(|(known, ..)| *known == *code as usize) {
                Some((_, sum, n, _)) => (*sum, *n) = (*sum + float, *n + 1),
                None => expected.push((*code as usize, *float, 1, row as u32)),
            }
        }
        for rows in [rows, 40] {
            let found = totals(&codes[..rows], Numbers::Floats(&floats[..rows]), 7).unwrap();
            assert!(found.is_sorted_by_key(|total| total.first));
            assert_eq!(found.iter().map(|total| total.n as usize).sum::<usize>(), rows);
            if rows > PART {
                let found: Vec<_> =
                    found.iter().map(|t| (t.code, t.sum.to_f64(), t.n as u32, t.first as u32)).collect();
                assert_eq!(found, expected);
            }
        }
        assert!(totals(&codes[..20], Numbers::Floats(&floats[..20]), 7).is_none(), "too few rows");
    }

    #[test]
    fn every_grid_gives_the_exact_sum() {
        let bytes: Vec<u8> = (0..100).map(|row| (row * 7 % 256) as u8).collect();
        let coarse: Vec<f64> = bytes.iter().map(|byte| f64::from(*byte)).collect();
        let fine: Vec<f64> = (0..100).map(|row| f64::from(row - 50) / 5.0 + 1e-3).collect();
        let codes: Vec<u32> = (0..100).map(|row| row % 3).collect();
        let check = |numbers: Numbers<'_>, floats: &[f64]| {
            let found = totals(&codes, numbers, 3).unwrap();
            assert_eq!(found.len(), 3);
            for total in found {
                let mut sum = ExactSum::new();
                codes
                    .iter()
                    .zip(floats)
                    .filter(|(c, _)| **c as usize == total.code)
                    .for_each(|(_, f)| sum.add(*f));
                assert!(total.sum == sum, "code {}", total.code);
            }
        };
        check(Numbers::Bytes(&bytes), &coarse);
        check(Numbers::Floats(&coarse), &coarse);
        check(Numbers::Floats(&fine), &fine);
        // A few that are on no grid, and many.
        let off = [1e-30, 2000.0, f64::MIN_POSITIVE / 2.0, -1e300];
        let mut floats = fine.clone();
        floats[50..54].copy_from_slice(&off);
        check(Numbers::Floats(&floats), &floats);
        floats[60..64].copy_from_slice(&off);
        assert!(totals(&codes, Numbers::Floats(&floats), 3).is_none());
        assert_eq!(on_fine_grid(f64::NAN), None);
        let small = 2f64.powi(-60);
        assert_eq!(
            [0.0, -0.0, small, -small, 1024.0].map(on_fine_grid).map(Option::unwrap),
            [0, 0, 16, -16, 1 << 74]
        );
    }
}
