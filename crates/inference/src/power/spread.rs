//! How scores vary.

use super::error::PowerError;
use super::plan::check_share;

/// The variance of a score, or of the difference of two paired scores, in its two parts.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct ScoreSpread {
    /// Between samples: the variance of their true means.
    pub between: f64,
    /// Within a sample: the variance of one epoch; of a difference, the sum over both sides.
    pub within: f64,
}

impl ScoreSpread {
    /// The variance between samples and that of one epoch.
    pub fn new(between: f64, within: f64) -> Self {
        ScoreSpread { between, within }
    }

    /// Of the paired difference of two shares with this correlation of their zeros and ones: v₁ + v₂ − 2ρ√(v₁v₂).
    ///
    /// # Errors
    /// A share is not from 0 to 1, or the correlation not from −1 to 1.
    pub fn of_paired_shares(base: f64, other: f64, correlation: f64) -> Result<Self, PowerError> {
        check_share("the share", base)?;
        check_share("the share of the other side", other)?;
        if !(-1.0..=1.0).contains(&correlation) {
            return Err(PowerError::Correlation(correlation));
        }
        let (base, other) = (base * (1.0 - base), other * (1.0 - other));
        let between = (base + other - 2.0 * correlation * (base * other).sqrt()).max(0.0);
        Ok(ScoreSpread::new(between, 0.0))
    }

    /// The variance of the mean of this number of epochs of one sample.
    pub fn variance(&self, epochs: u32) -> f64 {
        self.between + self.within / f64::from(epochs)
    }
}
