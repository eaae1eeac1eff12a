//! What scores are: zeros and ones, proportions, or any numbers.

use rayon::prelude::*;

use super::bytes::{Encode, byte, invalid};
use crate::error::Result;
use errorbar_stats::exact::Moments;

/// What scores are, over the whole scorer and reducer: decides which interval fits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum ScoreKind {
    /// All are 0 or 1.
    Binary,
    /// All are within [0, 1].
    Unit,
    /// Anything else.
    Unbounded,
}

impl ScoreKind {
    /// The weaker of two: what holds for both.
    #[must_use]
    pub fn and(self, other: ScoreKind) -> ScoreKind {
        self.max(other)
    }
}

/// What a state has seen a part of: a group of all scores.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct GroupContext {
    /// What all scores are; those of the state itself if unset.
    pub kind: Option<ScoreKind>,
    /// The number of all scores; those of the state itself if unset.
    pub n: Option<u64>,
    /// The number of estimates that share what may be drawn at random; one if unset.
    pub estimates: usize,
    /// The level of intervals, if it is not that of the plan: that of several which are to hold all at once is higher.
    pub level: Option<f64>,
    /// Whether it is a group, even if it holds all scores so far: scores to come may be of other groups.
    pub is_group: bool,
}

/// Whether numbers from `least` to `greatest` are equal but for rounding, if they come from numbers of up to `largest`.
pub fn is_rounding(least: f64, greatest: f64, largest: f64) -> bool {
    // A few units in the last place: a reducer and a subtraction round once or twice each.
    greatest - least <= 8.0 * f64::EPSILON * largest && largest.is_finite()
}

/// The smallest and the largest of some scores, and whether all are 0 or 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Extent {
    pub(super) least: f64,
    pub(super) greatest: f64,
    pub(super) binary: bool,
}

/// Integers up to this number, 2⁵³, are exact.
const MAX_INTEGER: f64 = 9_007_199_254_740_992.0;
/// Scores that a thread takes at once.
const PART: usize = 1 << 15;
/// Independent comparisons, so that one need not wait for another.
const LANES: usize = 8;

impl Extent {
    /// Whether the scores are equal but for rounding. Integers are not rounded.
    pub(super) fn is_point(self) -> bool {
        let largest = self.least.abs().max(self.greatest.abs());
        let are_integers =
            largest <= MAX_INTEGER && self.least.fract() == 0.0 && self.greatest.fract() == 0.0;
        if are_integers {
            self.least == self.greatest
        } else {
            is_rounding(self.least, self.greatest, largest)
        }
    }

    /// That of no score.
    pub(super) const NONE: Extent =
        Extent { least: f64::INFINITY, greatest: f64::NEG_INFINITY, binary: true };

    pub(super) fn of(numbers: &[f64]) -> Extent {
        match numbers.len() < 2 * PART {
            true => Extent::of_part(numbers),
            false => numbers.par_chunks(PART).map(Extent::of_part).reduce(|| Extent::NONE, Extent::and),
        }
    }

    fn of_part(numbers: &[f64]) -> Extent {
        let (mut least, mut greatest) = ([f64::INFINITY; LANES], [f64::NEG_INFINITY; LANES]);
        let mut others = [false; LANES];
        for part in numbers.chunks(LANES) {
            let lanes = least.iter_mut().zip(&mut greatest).zip(&mut others);
            for (((least, greatest), other), &x) in lanes.zip(part) {
                *least = if x < *least { x } else { *least };
                *greatest = if x > *greatest { x } else { *greatest };
                *other |= x != 0.0 && x != 1.0;
            }
        }
        let least = least.into_iter().fold(f64::INFINITY, f64::min);
        let greatest = greatest.into_iter().fold(f64::NEG_INFINITY, f64::max);
        // Of the two zeros one, whichever came first.
        Extent { least: least + 0.0, greatest: greatest + 0.0, binary: others == [false; LANES] }
    }

    /// That of the scores of both.
    pub(super) fn and(self, other: Extent) -> Extent {
        Extent {
            least: if other.least < self.least { other.least } else { self.least },
            greatest: if other.greatest > self.greatest { other.greatest } else { self.greatest },
            binary: self.binary & other.binary,
        }
    }

    /// Whether moments can be those of scores with these ends.
    pub(super) fn fits(&self, moments: &Moments) -> bool {
        match moments.mean() {
            None => *self == Extent::NONE && *moments == Moments::new(),
            Some(mean) => self.least <= mean && mean <= self.greatest,
        }
    }

    pub(super) fn kind(&self) -> ScoreKind {
        if self.binary {
            ScoreKind::Binary
        } else if self.least >= 0.0 && self.greatest <= 1.0 {
            ScoreKind::Unit
        } else {
            ScoreKind::Unbounded
        }
    }
}

impl Encode for Extent {
    fn put(&self, out: &mut Vec<u8>) {
        self.least.put(out);
        self.greatest.put(out);
        out.push(u8::from(self.binary));
    }

    fn get(bytes: &mut &[u8]) -> Result<Self> {
        let (least, greatest) = (f64::get(bytes)?, f64::get(bytes)?);
        let binary = match byte(bytes)? {
            0 => false,
            1 => true,
            _ => return Err(invalid("a flag that is neither 0 nor 1")),
        };
        let ordered = least.is_finite() && greatest.is_finite() && least <= greatest;
        let ends = |x: f64| x == 0.0 || x == 1.0;
        let extent = Extent { least, greatest, binary };
        let negative_zero = |x: f64| x == 0.0 && x.is_sign_negative();
        // Scores that all are 0, or all are 1, are binary.
        let is_one = least == greatest && ends(least);
        let consistent = if binary { ends(least) && ends(greatest) } else { !is_one };
        if extent == Extent::NONE
            || ordered && consistent && !negative_zero(least) && !negative_zero(greatest)
        {
            return Ok(extent);
        }
        Err(invalid("a smallest and a largest score that do not fit"))
    }
}
