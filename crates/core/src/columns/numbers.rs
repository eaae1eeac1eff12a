//! Numbers as metrics read them: floats, or small whole numbers that stand for floats.

use std::borrow::Cow;

use errorbar_stats::exact::Moments;

/// A number per row. Scores of 0 and 1 stay in a byte each, so that a million of them are summed in the
/// caches without memory for a million floats.
#[derive(Clone, Copy, Debug)]
pub enum Numbers<'a> {
    /// As they are.
    Floats(&'a [f64]),
    /// Small numbers, as bytes.
    Bytes(&'a [u8]),
}

impl<'a> Numbers<'a> {
    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        match self {
            Numbers::Floats(floats) => floats.len(),
            Numbers::Bytes(bytes) => bytes.len(),
        }
    }

    /// The number of a row; not-a-number beyond the end.
    #[inline]
    pub fn get(&self, row: usize) -> f64 {
        match self {
            Numbers::Floats(floats) => floats.get(row).copied().unwrap_or(f64::NAN),
            Numbers::Bytes(bytes) => bytes.get(row).map_or(f64::NAN, |byte| f64::from(*byte)),
        }
    }

    /// All of them as floats.
    pub fn to_floats(self) -> Cow<'a, [f64]> {
        match self {
            Numbers::Floats(floats) => Cow::Borrowed(floats),
            Numbers::Bytes(bytes) => bytes.iter().map(|byte| f64::from(*byte)).collect(),
        }
    }

    /// Adds all of them to the moments.
    pub fn add_to(&self, moments: &mut Moments) {
        match self {
            Numbers::Floats(floats) => moments.extend(floats),
            Numbers::Bytes(bytes) => moments.extend_bytes(bytes),
        }
    }

    /// Whether all are between 0 and 1.
    pub fn are_proportions(&self) -> bool {
        // Without an early end the loops run many numbers at a time.
        match self {
            Numbers::Floats(floats) => floats.iter().fold(true, |all, f| all & (*f >= 0.0) & (*f <= 1.0)),
            Numbers::Bytes(bytes) => bytes.iter().fold(true, |all, byte| all & (*byte <= 1)),
        }
    }

    /// Whether none is infinite or not-a-number.
    pub fn are_finite(&self) -> bool {
        match self {
            Numbers::Floats(floats) => floats.iter().fold(true, |all, f| all & f.is_finite()),
            Numbers::Bytes(_) => true,
        }
    }
}
