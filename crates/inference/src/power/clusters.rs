//! Clusters and epochs.

use super::plan::{PowerDesign, PowerPlan};
use super::spread::ScoreSpread;

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
