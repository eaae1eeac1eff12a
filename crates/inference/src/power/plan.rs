//! What is measured, how it varies, and what follows for samples, difference, power and width.

use errorbar_stats::distributions::{normal_cdf, normal_quantile, t_quantile};

use super::methods::{
    LEAST_DF, McNemar, bonett_price_width, detectable_shift, newcombe_width, root, score_power, t_power,
    wilson_width,
};
use super::spread::Flips;
use super::spread::PowerError;
use super::spread::ScoreSpread;

/// The most samples that are planned for.
const MOST_SAMPLES: u64 = 1_000_000_000_000;

/// What is measured, and how it varies.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum PowerDesign {
    /// One number for each sample: the differences of pairs, or the scores of one model.
    Mean(ScoreSpread),
    /// The means of two models over different samples, as many of each.
    TwoMeans(ScoreSpread),
    /// Pairs of zeros and ones.
    Pairs(Flips),
    /// Zeros and ones of two models over the same samples, by their correlation. The share of the other model, and with it the
    /// variance, follows from the difference.
    PairedShares {
        /// The share of the base.
        base: f64,
        /// The correlation of the two models' zeros and ones over samples.
        correlation: f64,
    },
    /// Zeros and ones of two models over different samples; the share of the base.
    TwoShares(f64),
    /// Zeros and ones of one model: a share with an interval, and nothing to compare it with.
    Share(f64),
}

impl PowerDesign {
    fn name(self) -> &'static str {
        match self {
            PowerDesign::Mean(_) => "the mean of numbers",
            PowerDesign::TwoMeans(_) => "two means",
            PowerDesign::Pairs(_) => "pairs of zeros and ones",
            PowerDesign::PairedShares { .. } => "two paired shares",
            PowerDesign::TwoShares(_) => "two shares",
            PowerDesign::Share(_) => "one share",
        }
    }

    fn check(self) -> Result<(), PowerError> {
        match self {
            PowerDesign::Mean(spread) | PowerDesign::TwoMeans(spread) => {
                let is_variance = |variance: f64| variance.is_finite() && variance >= 0.0;
                if !is_variance(spread.between) || !is_variance(spread.within) {
                    let sd = if is_variance(spread.between) { spread.within } else { spread.between };
                    return Err(PowerError::Sd { what: "variance", sd, zero: true });
                }
                if spread.between + spread.within == 0.0 { Err(PowerError::NoSpread) } else { Ok(()) }
            }
            PowerDesign::Pairs(flips) => flips.check(),
            PowerDesign::PairedShares { base, correlation } => {
                ScoreSpread::of_paired_shares(base, base, correlation).map(drop)
            }
            PowerDesign::TwoShares(share) | PowerDesign::Share(share) => check_share("the share", share),
        }
    }
}

/// How power, or the width of an interval, is computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PowerMethod {
    /// Student's t: the noncentral t distribution for the power.
    T,
    /// The normal distribution, as if the variance were known: (z₁₋α⸝₂ + z_power)²·variance/difference².
    Normal,
    /// The exact power of McNemar's test with mid-p.
    McNemarMid,
    /// The exact power of McNemar's exact test.
    McNemarExact,
    /// The score test of two shares, by the normal distribution.
    Score,
    /// Wilson's interval.
    Wilson,
    /// The interval of Bonett and Price.
    BonettPrice,
    /// Newcombe's interval.
    Newcombe,
}

impl PowerMethod {
    /// Its name in machine-readable output.
    pub fn name(self) -> &'static str {
        match self {
            PowerMethod::T => "t",
            PowerMethod::Normal => "normal",
            PowerMethod::McNemarMid => "mcnemar_mid",
            PowerMethod::McNemarExact => "mcnemar_exact",
            PowerMethod::Score => "score",
            PowerMethod::Wilson => "wilson",
            PowerMethod::BonettPrice => "bonett_price",
            PowerMethod::Newcombe => "newcombe",
        }
    }

    /// The tests that can be asked for.
    pub const TESTS: [PowerMethod; 4] =
        [PowerMethod::T, PowerMethod::Normal, PowerMethod::McNemarMid, PowerMethod::McNemarExact];
}

impl std::fmt::Display for PowerMethod {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

impl std::str::FromStr for PowerMethod {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        let known = PowerMethod::TESTS.into_iter().find(|method| method.name() == name);
        let names = || PowerMethod::TESTS.map(PowerMethod::name).join(", ");
        known.ok_or_else(|| format!("expected one of {}, found {name:?}", names()))
    }
}

/// What is planned: a two-sided test, or an interval, of scores that vary as the design says.
///
/// ```
/// use errorbar_inference::{PowerDesign, PowerMethod, PowerPlan, ScoreSpread};
///
/// // The published example: a variance of 1/9 between samples, a difference of 3 points.
/// let plan = PowerPlan::new(PowerDesign::Mean(ScoreSpread::new(1.0 / 9.0, 0.0)));
/// assert_eq!(plan.samples(1, 0.03, 0.8)?, 971);
/// assert_eq!(plan.method(PowerMethod::Normal).samples(1, 0.03, 0.8)?, 969);
/// # Ok::<(), errorbar_inference::PowerError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct PowerPlan {
    /// What is measured.
    pub design: PowerDesign,
    /// The chance of a false alarm; intervals have the level 1 − alpha.
    pub alpha: f64,
    /// By what clusters multiply the variance of what is measured.
    pub design_effect: f64,
    /// The method; if unset, the one that fits.
    pub method: Option<PowerMethod>,
}

impl PowerPlan {
    /// A test at 5 %, of independent samples.
    pub fn new(design: PowerDesign) -> Self {
        PowerPlan { design, alpha: 0.05, design_effect: 1.0, method: None }
    }

    /// The same at another chance of a false alarm.
    #[must_use]
    pub fn alpha(self, alpha: f64) -> Self {
        PowerPlan { alpha, ..self }
    }

    /// The same with clusters.
    #[must_use]
    pub fn design_effect(self, design_effect: f64) -> Self {
        PowerPlan { design_effect, ..self }
    }

    /// The same with this method.
    #[must_use]
    pub fn method(self, method: PowerMethod) -> Self {
        PowerPlan { method: Some(method), ..self }
    }

    /// The method of the test.
    pub fn test_method(&self) -> PowerMethod {
        self.method.unwrap_or(match self.design {
            PowerDesign::Pairs(_) => PowerMethod::McNemarMid,
            PowerDesign::TwoShares(_) => PowerMethod::Score,
            _ => PowerMethod::T,
        })
    }

    /// The method of the interval.
    pub fn interval_method(&self) -> PowerMethod {
        let chosen = self.method.filter(|method| matches!(method, PowerMethod::T | PowerMethod::Normal));
        chosen.unwrap_or(match self.design {
            PowerDesign::Pairs(_) => PowerMethod::BonettPrice,
            PowerDesign::TwoShares(_) => PowerMethod::Newcombe,
            PowerDesign::Share(_) => PowerMethod::Wilson,
            _ => PowerMethod::T,
        })
    }

    /// The power to detect a difference with this number of samples (of each side) and epochs.
    ///
    /// # Errors
    /// The plan or the numbers make no sense.
    pub fn power(&self, samples: u64, epochs: u32, difference: f64) -> Result<f64, PowerError> {
        self.check(epochs)?;
        self.check_difference(difference)?;
        self.power_at(samples, epochs, difference)
    }

    /// The least number of samples (of each side) that detects a difference with this power.
    ///
    /// # Errors
    /// The plan or the numbers make no sense, or no number of samples suffices.
    pub fn samples(&self, epochs: u32, difference: f64, power: f64) -> Result<u64, PowerError> {
        self.check(epochs)?;
        self.check_difference(difference)?;
        self.check_power(power)?;
        if let (PowerDesign::Pairs(flips), Some(test)) = (self.design, self.mcnemar()) {
            let (p10, p01) = flips.shares(difference);
            let pairs = test.pairs(p10, p01, power)? as f64 * self.design_effect;
            return Ok(rounded_up(pairs));
        }
        let shift = self.critical() + normal_quantile(power);
        let needed = shift / difference;
        let sides = self.sides();
        let guess = self.variance(epochs, difference) * sides * self.design_effect * needed * needed;
        if self.test_method() == PowerMethod::Normal && guess <= MOST_SAMPLES as f64 {
            // With a low power the normal distribution asks for less than one.
            return Ok(if shift > 0.0 { rounded_up(guess).max(1) } else { 1 });
        }
        let is_enough = |n: u64| Ok(self.power_at(n, epochs, difference)? >= power);
        least_samples(guess, self.fewest(), MOST_SAMPLES, &is_enough)
    }

    /// The smallest difference that this number of samples (of each side) detects with this power.
    ///
    /// # Errors
    /// The plan or the numbers make no sense, or no difference is large enough.
    pub fn difference(&self, samples: u64, epochs: u32, power: f64) -> Result<f64, PowerError> {
        self.check(epochs)?;
        self.check_power(power)?;
        let not_detected = PowerError::NotDetected { samples, power };
        let most = match self.design {
            PowerDesign::Mean(_) | PowerDesign::TwoMeans(_) => {
                let se = self.se(samples, epochs, 0.0);
                let shift = match self.test_method() {
                    PowerMethod::Normal => Some(self.critical() + normal_quantile(power)),
                    _ => detectable_shift(self.df(samples)?, self.alpha, power),
                };
                return shift.map(|shift| shift * se).ok_or(not_detected);
            }
            PowerDesign::Pairs(flips) => flips.range().1,
            // The variance falls and rises with the difference, and so may the power: up to the first step that suffices.
            PowerDesign::PairedShares { base, .. } => {
                let step = |at: u32| (1.0 - base) * f64::from(at) / f64::from(STEPS);
                let suffices = |difference: &f64| {
                    self.power_at(samples, epochs, *difference).is_ok_and(|at| at >= power)
                };
                // Too few samples are their own error.
                self.df(samples)?;
                (1..=STEPS).map(step).find(suffices).unwrap_or(0.0)
            }
            PowerDesign::TwoShares(share) => 1.0 - share,
            PowerDesign::Share(_) => return Err(PowerError::NoComparison),
        };
        if !(most > 0.0 && self.power_at(samples, epochs, most)? >= power) {
            return Err(not_detected);
        }
        // No power can be computed between these ends that could not at the upper one.
        let excess =
            |difference: f64| self.power_at(samples, epochs, difference).map_or(f64::NAN, |at| at - power);
        Ok(root(0.0, most, excess))
    }

    /// The width of the interval that this number of samples (of each side) gives. It depends on the difference only
    /// for shares.
    ///
    /// # Errors
    /// The plan or the numbers make no sense.
    pub fn width(&self, samples: u64, epochs: u32, difference: Option<f64>) -> Result<f64, PowerError> {
        self.check(epochs)?;
        self.check_spread(difference.unwrap_or_default())?;
        self.width_at(samples, epochs, difference)
    }

    /// The least number of samples (of each side) whose interval is no wider than this.
    ///
    /// # Errors
    /// The plan or the numbers make no sense, or no number of samples suffices.
    pub fn samples_for_width(
        &self,
        epochs: u32,
        width: f64,
        difference: Option<f64>,
    ) -> Result<u64, PowerError> {
        self.check(epochs)?;
        self.check_spread(difference.unwrap_or_default())?;
        if !(width > 0.0 && width.is_finite()) {
            return Err(PowerError::Width(width));
        }
        let halves = 2.0 * self.critical() / width;
        let variance = self.variance(epochs, difference.unwrap_or(self.known_difference()));
        let guess = variance * self.sides() * self.design_effect * halves * halves;
        // Ten decimals, so that a width that was printed leads back to its samples.
        let is_enough = |n: u64| Ok(self.width_at(n, epochs, difference)? <= width * (1.0 + ROUNDING));
        least_samples(guess, self.fewest_of_interval(), MOST_SAMPLES, &is_enough)
    }

    /// The standard deviation of what is measured of one sample: of the difference, if samples are paired.
    pub fn sd(&self, epochs: u32, difference: Option<f64>) -> f64 {
        self.variance(epochs.max(1), difference.unwrap_or(self.known_difference())).sqrt()
    }

    /// The shares of pairs in which only the base and only the other side is right.
    pub fn flips(&self, difference: Option<f64>) -> Option<(f64, f64)> {
        match self.design {
            PowerDesign::Pairs(flips) => Some(flips.shares(difference.unwrap_or(self.known_difference()))),
            _ => None,
        }
    }

    /// The difference that the design has, or none.
    fn known_difference(&self) -> f64 {
        match self.design {
            PowerDesign::Pairs(Flips::Shares { p10, p01 }) => p01 - p10,
            _ => 0.0,
        }
    }

    fn check(&self, epochs: u32) -> Result<(), PowerError> {
        if !(self.alpha > 0.0 && self.alpha < 1.0) {
            return Err(PowerError::Alpha(self.alpha));
        }
        if !(self.design_effect > 0.0 && self.design_effect.is_finite()) {
            return Err(PowerError::DesignEffect(self.design_effect));
        }
        self.design.check()?;
        let is_of_shares = !matches!(self.design, PowerDesign::Mean(_) | PowerDesign::TwoMeans(_));
        match (epochs, self.method) {
            (0, _) => Err(PowerError::NoEpochs),
            (2.., _) if is_of_shares => Err(PowerError::EpochsOfShares(epochs)),
            (_, None | Some(PowerMethod::T | PowerMethod::Normal)) => Ok(()),
            (_, Some(PowerMethod::McNemarMid | PowerMethod::McNemarExact))
                if matches!(self.design, PowerDesign::Pairs(_)) =>
            {
                Ok(())
            }
            (_, Some(PowerMethod::Score)) if matches!(self.design, PowerDesign::TwoShares(_)) => Ok(()),
            (_, Some(method)) => {
                Err(PowerError::Method { method: method.name(), design: self.design.name() })
            }
        }
    }

    fn check_power(&self, power: f64) -> Result<(), PowerError> {
        match power > 0.0 && power < 1.0 {
            false => Err(PowerError::Power(power)),
            true if power <= self.alpha => Err(PowerError::PowerWithinAlpha { power, alpha: self.alpha }),
            true => Ok(()),
        }
    }

    fn check_difference(&self, difference: f64) -> Result<(), PowerError> {
        if difference == 0.0 || !difference.is_finite() {
            return Err(PowerError::Difference(difference));
        }
        let (least, most) = match self.design {
            PowerDesign::Mean(_) | PowerDesign::TwoMeans(_) => return Ok(()),
            PowerDesign::Pairs(flips) => flips.range(),
            PowerDesign::PairedShares { base: share, .. } | PowerDesign::TwoShares(share) => {
                (-share, 1.0 - share)
            }
            PowerDesign::Share(_) => return Err(PowerError::NoComparison),
        };
        match (least - ROUNDING..=most + ROUNDING).contains(&difference) {
            true => self.check_spread(difference),
            false => Err(PowerError::DifferenceOutside { difference, least, most }),
        }
    }

    /// Paired shares may vary alike.
    fn check_spread(&self, difference: f64) -> Result<(), PowerError> {
        let is_paired = matches!(self.design, PowerDesign::PairedShares { .. });
        if is_paired && self.variance(1, difference) == 0.0 { Err(PowerError::NoSpread) } else { Ok(()) }
    }

    /// How many variances make that of the difference.
    fn sides(&self) -> f64 {
        if matches!(self.design, PowerDesign::TwoMeans(_) | PowerDesign::TwoShares(_)) { 2.0 } else { 1.0 }
    }

    /// The variance of what is measured of one sample of one side.
    fn variance(&self, epochs: u32, difference: f64) -> f64 {
        match self.design {
            PowerDesign::Mean(spread) | PowerDesign::TwoMeans(spread) => spread.variance(epochs),
            PowerDesign::Pairs(flips) => {
                let (p10, p01) = flips.shares(difference);
                let difference = p01 - p10;
                (p10 + p01 - difference * difference).max(0.0)
            }
            PowerDesign::PairedShares { base, correlation } => {
                let other = (base + difference).clamp(0.0, 1.0);
                ScoreSpread::of_paired_shares(base, other, correlation)
                    .map_or(f64::NAN, |spread| spread.variance(1))
            }
            PowerDesign::TwoShares(base) => {
                let other = (base + difference).clamp(0.0, 1.0);
                0.5 * (base * (1.0 - base) + other * (1.0 - other))
            }
            PowerDesign::Share(share) => share * (1.0 - share),
        }
    }

    /// The number of independent samples that have as much information.
    fn effective(&self, samples: u64) -> f64 {
        samples as f64 / self.design_effect
    }

    fn se(&self, samples: u64, epochs: u32, difference: f64) -> f64 {
        (self.variance(epochs, difference) * self.sides() / self.effective(samples)).sqrt()
    }

    /// Of the variance, as if there were as many independent samples as have the same information, and no more than
    /// there are.
    fn df(&self, samples: u64) -> Result<f64, PowerError> {
        let df = self.sides() * (self.effective(samples).min(samples as f64) - 1.0);
        if df >= LEAST_DF { Ok(df) } else { Err(PowerError::TooFewSamples { samples, least: self.fewest() }) }
    }

    /// The fewest samples that there is a power with.
    fn fewest(&self) -> u64 {
        match self.test_method() {
            PowerMethod::T => self.fewest_for_t(),
            _ => 1,
        }
    }

    fn fewest_of_interval(&self) -> u64 {
        match self.interval_method() {
            PowerMethod::T => self.fewest_for_t(),
            _ => 1,
        }
    }

    fn fewest_for_t(&self) -> u64 {
        rounded_up((1.0 + LEAST_DF / self.sides()) * self.design_effect.max(1.0)).max(2)
    }

    /// The quantile of the normal distribution that a test at alpha takes.
    fn critical(&self) -> f64 {
        normal_quantile(1.0 - 0.5 * self.alpha)
    }

    fn mcnemar(&self) -> Option<McNemar> {
        let is_mid = match self.test_method() {
            PowerMethod::McNemarMid => true,
            PowerMethod::McNemarExact => false,
            _ => return None,
        };
        Some(McNemar { alpha: self.alpha, is_mid })
    }

    fn power_at(&self, samples: u64, epochs: u32, difference: f64) -> Result<f64, PowerError> {
        if samples == 0 {
            return Err(PowerError::TooFewSamples { samples, least: self.fewest() });
        }
        match self.design {
            PowerDesign::Share(_) => return Err(PowerError::NoComparison),
            PowerDesign::Pairs(flips) => {
                if let Some(test) = self.mcnemar() {
                    let (p10, p01) = flips.shares(difference);
                    // 66 samples at a design effect of 1.1 are 60 pairs, not 59.99….
                    let pairs = self.effective(samples) * (1.0 + ROUNDING);
                    return test.power(pairs as u64, p10, p01);
                }
            }
            PowerDesign::TwoShares(base) if self.test_method() == PowerMethod::Score => {
                let other = (base + difference).clamp(0.0, 1.0);
                return Ok(score_power(base, other, self.effective(samples), self.critical()));
            }
            _ => {}
        }
        let shift = difference.abs() / self.se(samples, epochs, difference);
        match self.test_method() {
            PowerMethod::Normal => Ok(normal_cdf(shift - self.critical())),
            _ => Ok(t_power(shift, self.df(samples)?, self.alpha)),
        }
    }

    fn width_at(&self, samples: u64, epochs: u32, difference: Option<f64>) -> Result<f64, PowerError> {
        let fewest = self.fewest_of_interval();
        if samples < fewest {
            return Err(PowerError::TooFewSamples { samples, least: fewest });
        }
        let (n, z) = (self.effective(samples), self.critical());
        let difference = difference.unwrap_or(self.known_difference());
        Ok(match (self.interval_method(), self.design) {
            (PowerMethod::Wilson, PowerDesign::Share(share)) => wilson_width(share, n, z),
            (PowerMethod::BonettPrice, PowerDesign::Pairs(flips)) => {
                let (p10, p01) = flips.shares(difference);
                bonett_price_width(p10, p01, n, z)
            }
            (PowerMethod::Newcombe, PowerDesign::TwoShares(base)) => {
                newcombe_width(base, (base + difference).clamp(0.0, 1.0), n, z)
            }
            (method, _) => {
                let quantile = match method {
                    PowerMethod::T => -t_quantile(0.5 * self.alpha, self.df(samples)?),
                    _ => z,
                };
                2.0 * quantile * self.se(samples, epochs, difference)
            }
        })
    }
}

/// The differences of paired shares that are tried before the smallest one is searched.
const STEPS: u32 = 64;

/// Sums and products of decimal numbers are off by this much.
pub(super) const ROUNDING: f64 = 1e-10;

/// The next integer, unless the number is one up to rounding.
fn rounded_up(number: f64) -> u64 {
    (number * (1.0 - ROUNDING)).ceil() as u64
}

pub(super) fn check_share(what: &'static str, share: f64) -> Result<(), PowerError> {
    if (0.0..=1.0).contains(&share) { Ok(()) } else { Err(PowerError::Share { what, share }) }
}

/// The least number from `fewest` to `most` that is enough, if all above it are: doubling steps away from a guess, then
/// bisection.
///
/// # Errors
/// No number is enough, or what `is_enough` fails with.
pub fn least_samples(
    guess: f64,
    fewest: u64,
    most: u64,
    is_enough: &dyn Fn(u64) -> Result<bool, PowerError>,
) -> Result<u64, PowerError> {
    let guess = if guess < most as f64 { (guess as u64).max(fewest) } else { most };
    let (mut low, mut high, mut step) = (guess, guess, 1_u64);
    if is_enough(guess)? {
        loop {
            if high == fewest {
                return Ok(fewest);
            }
            low = high.saturating_sub(step).max(fewest);
            if !is_enough(low)? {
                break;
            }
            (high, step) = (low, 2 * step);
        }
    } else {
        loop {
            if low == most {
                return Err(PowerError::TooManySamples { most });
            }
            high = low.saturating_add(step).min(most);
            if is_enough(high)? {
                break;
            }
            (low, step) = (high, 2 * step);
        }
    }
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        if is_enough(middle)? {
            high = middle;
        } else {
            low = middle;
        }
    }
    Ok(high)
}

impl PowerDesign {
    /// The variance in its parts, if epochs matter.
    pub fn spread(self) -> Option<ScoreSpread> {
        match self {
            PowerDesign::Mean(spread) | PowerDesign::TwoMeans(spread) => {
                Some(spread).filter(|spread| spread.within > 0.0)
            }
            _ => None,
        }
    }
}

impl PowerPlan {
    /// The plan for a number of epochs, if its design effect is that of runs in which the means of samples had this variance.
    ///
    /// Clusters multiply the variance between samples; the noise of epochs is not clustered. So what clusters add to the
    /// variance stays what it is in the runs, and the design effect grows as that noise shrinks.
    ///
    /// ```
    /// use errorbar_inference::{PowerDesign, PowerPlan, ScoreSpread};
    ///
    /// // Of one epoch the variance is 0.1 + 0.3, and clusters add as much again; of three it is 0.2.
    /// let plan = PowerPlan::new(PowerDesign::Mean(ScoreSpread::new(0.1, 0.3))).design_effect(2.0);
    /// assert!((plan.with_epochs_of_runs(3, 0.4).design_effect - 3.0).abs() < 1e-12);
    /// assert!((plan.with_epochs_of_runs(1, 0.4).design_effect - 2.0).abs() < 1e-12);
    /// ```
    #[must_use]
    pub fn with_epochs_of_runs(self, epochs: u32, variance_of_runs: f64) -> Self {
        if self.design.spread().is_none() {
            return self;
        }
        let sd = self.sd(epochs, None);
        let effect = 1.0 + (self.design_effect - 1.0) * variance_of_runs / (sd * sd);
        if effect > 0.0 && effect.is_finite() { self.design_effect(effect) } else { self }
    }
}

#[cfg(test)]
mod tests;
