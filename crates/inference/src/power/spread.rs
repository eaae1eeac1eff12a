//! How scores vary, and what cannot be planned.

use super::plan::{ROUNDING, check_share};

/// Why there is no number of samples, no difference, no power and no width.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum PowerError {
    /// The chance of a false alarm is no probability.
    #[error("alpha is {0}; it must be above 0 and below 1")]
    Alpha(f64),
    /// The power is no probability.
    #[error("the power is {0}; it must be above 0 and below 1")]
    Power(f64),
    /// A test has a power of alpha without any difference.
    #[error("the power is {power}, and a test at alpha {alpha} has that much without any difference")]
    PowerWithinAlpha {
        /// The power.
        power: f64,
        /// The chance of a false alarm.
        alpha: f64,
    },
    /// Nothing detects a difference of 0.
    #[error("the difference is {0}; no number of samples detects that")]
    Difference(f64),
    /// The difference of two shares is beyond what they can differ by.
    #[error("the difference is {difference}; with these shares it is between {} and {}", tidy(*.least), tidy(*.most))]
    DifferenceOutside {
        /// The difference.
        difference: f64,
        /// The least that is possible.
        least: f64,
        /// The most that is possible.
        most: f64,
    },
    /// An interval has a width above 0.
    #[error("the width is {0}; it must be above 0")]
    Width(f64),
    /// A standard deviation that is negative or not a number.
    #[error("the {what} is {sd}; it must be {}", if *.zero { "0 or above" } else { "above 0" })]
    Sd {
        /// Which one.
        what: &'static str,
        /// Its value.
        sd: f64,
        /// Whether it may be 0.
        zero: bool,
    },
    /// Nothing varies.
    #[error("the standard deviation is 0, so that any number of samples shows any difference")]
    NoSpread,
    /// A share outside of 0 to 1.
    #[error("{what} is {share}; a share is from 0 to 1")]
    Share {
        /// Which one.
        what: &'static str,
        /// Its value.
        share: f64,
    },
    /// Two shares of the same samples that are more than all of them.
    #[error("p10 is {p10} and p01 is {p01}; together they are at most 1")]
    FlipShares {
        /// Only the base is right.
        p10: f64,
        /// Only the other side is right.
        p01: f64,
    },
    /// A correlation outside of −1 to 1.
    #[error("the correlation is {0}; it must be from -1 to 1")]
    Correlation(f64),
    /// The design effect multiplies a variance.
    #[error("the design effect is {0}; it must be above 0")]
    DesignEffect(f64),
    /// A sample is run at least once.
    #[error("the number of epochs is 0; a sample has at least one")]
    NoEpochs,
    /// There are no samples, or too few for the method.
    #[error("the number of samples is {samples}; it takes at least {least}")]
    TooFewSamples {
        /// The number of samples.
        samples: u64,
        /// The least number.
        least: u64,
    },
    /// More samples than a dataset has.
    #[error("it takes more than {most} samples")]
    TooManySamples {
        /// The most that are tried.
        most: u64,
    },
    /// No difference that the shares allow is detected.
    #[error("no difference is detected with a power of {power}: {samples} samples are too few")]
    NotDetected {
        /// The number of samples.
        samples: u64,
        /// The wanted power.
        power: f64,
    },
    /// One share alone: there is nothing that it is compared with.
    #[error("one share has an interval, and no difference from another")]
    NoComparison,
    /// Shares that are of one run of each sample.
    #[error("shares of zeros and ones are of one epoch, not of {0}")]
    EpochsOfShares(u32),
    /// A method for other data.
    #[error("the method `{method}` is not for {design}")]
    Method {
        /// The method.
        method: &'static str,
        /// What is planned.
        design: &'static str,
    },
    /// The scores of a pilot are not usable.
    #[error("{0}")]
    Pilot(String),
    /// A score that is not one number.
    #[error("the score of sample {sample:?} is a map or a list, and it takes one number for each sample")]
    NestedScore {
        /// The sample.
        sample: String,
    },
    /// Two runs without a sample in common.
    #[error("the two have no sample in common")]
    NoCommonSample,
    /// The scores cannot be read.
    #[error(transparent)]
    Scores(#[from] errorbar_core::Error),
    /// Runs that cannot be compared.
    #[error(transparent)]
    Comparison(#[from] crate::error::ComparisonError),
}

/// Without the rounding of sums of decimal numbers.
fn tidy(number: f64) -> f64 {
    format!("{number:.9e}").parse().unwrap_or(number)
}

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
