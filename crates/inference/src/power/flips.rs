//! The discordant pairs that a design expects.

use super::error::PowerError;
use super::plan::{ROUNDING, check_share};

/// The discordant pairs of zeros and ones: how often which side alone is right.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Flips {
    /// Both shares, and with them the difference.
    Shares {
        /// Only the base is right.
        p10: f64,
        /// Only the other side is right.
        p01: f64,
    },
    /// Their sum, whatever the difference; a larger difference has only wins, or only losses.
    Discordant(f64),
    /// Only the base is right this often; the rest follows from the difference.
    P10(f64),
    /// Only the other side is right this often; the rest follows from the difference.
    P01(f64),
}

impl Flips {
    /// The least and the most that the sides can differ by.
    pub(super) fn range(self) -> (f64, f64) {
        match self {
            Flips::Shares { p10, p01 } => (p01 - p10, p01 - p10),
            Flips::Discordant(_) => (-1.0, 1.0),
            Flips::P10(p10) => (-p10, 1.0 - 2.0 * p10),
            Flips::P01(p01) => (2.0 * p01 - 1.0, p01),
        }
    }

    /// The shares of losses and wins with this difference, other minus base.
    pub(super) fn shares(self, difference: f64) -> (f64, f64) {
        match self {
            Flips::Shares { p10, p01 } => (p10, p01),
            Flips::Discordant(share) if difference.abs() > share => {
                ((-difference).max(0.0), difference.max(0.0))
            }
            Flips::Discordant(share) => (0.5 * (share - difference), 0.5 * (share + difference)),
            Flips::P10(p10) => (p10, (p10 + difference).max(0.0)),
            Flips::P01(p01) => ((p01 - difference).max(0.0), p01),
        }
    }

    pub(super) fn check(self) -> Result<(), PowerError> {
        match self {
            Flips::Shares { p10, p01 } => {
                check_share("p10", p10)?;
                check_share("p01", p01)?;
                if p10 + p01 > 1.0 + ROUNDING { Err(PowerError::FlipShares { p10, p01 }) } else { Ok(()) }
            }
            Flips::Discordant(share) => check_share("the share of discordant pairs", share),
            Flips::P10(share) => check_share("p10", share),
            Flips::P01(share) => check_share("p01", share),
        }
    }
}
