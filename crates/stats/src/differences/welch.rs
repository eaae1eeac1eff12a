//! The difference of two independent means whose errors need not be equal.
//!
//! Welch, "The generalization of 'Student's' problem when several different population variances are involved", 1947;
//! Satterthwaite, "An approximate distribution of estimates of variance components", 1946.

use crate::distributions::{t_quantile, t_survival};

/// A mean with its standard error and the degrees of freedom of that error: n − 1, or those of the clusters.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct MeanError {
    /// The mean.
    pub mean: f64,
    /// Its standard error.
    pub stderr: f64,
    /// The degrees of freedom.
    pub df: f64,
}

impl MeanError {
    /// A mean with its standard error and the degrees of freedom of that.
    pub fn new(mean: f64, stderr: f64, df: f64) -> Self {
        MeanError { mean, stderr, df }
    }
}

/// The difference of two means, and Welch's test of it.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Welch {
    /// First minus second.
    pub difference: f64,
    /// Its standard error.
    pub stderr: f64,
    /// The degrees of freedom of Welch and Satterthwaite.
    pub df: f64,
    /// The two-sided p-value of no difference.
    pub p_value: f64,
}

impl Welch {
    /// First minus second. None if neither mean has an error, or a number is not finite.
    ///
    /// ```
    /// # use errorbar_stats::differences::{MeanError, Welch};
    /// let first = MeanError::new(0.70, 0.03, 9.0);
    /// let second = MeanError::new(0.60, 0.04, 19.0);
    /// let test = Welch::new(first, second).unwrap();
    /// assert!((test.stderr - 0.05).abs() < 1e-15 && (test.df - 27.8).abs() < 0.1);
    /// ```
    pub fn new(first: MeanError, second: MeanError) -> Option<Self> {
        let difference = first.mean - second.mean;
        let stderr = libm::hypot(first.stderr, second.stderr);
        if !(stderr > 0.0 && stderr.is_finite() && difference.is_finite()) {
            return None;
        }
        let df = satterthwaite(&[(first.stderr, first.df), (second.stderr, second.df)], stderr);
        let p_value = two_sided(difference / stderr, df);
        (p_value.is_finite()).then_some(Welch { difference, stderr, df, p_value })
    }

    /// The interval at a level such as 0.95.
    pub fn interval(&self, level: f64) -> (f64, f64) {
        let margin = t_quantile(0.5 + level / 2.0, self.df) * self.stderr;
        (self.difference - margin, self.difference + margin)
    }
}

/// Satterthwaite's degrees of freedom of the error of a sum of independent figures, each with its standard error and degrees of
/// freedom; `total` is the error of the sum, above 0.
///
/// From shares of the variance, whose squares cannot overflow. A figure without error adds no uncertainty of the variance.
pub fn satterthwaite(parts: &[(f64, f64)], total: f64) -> f64 {
    let part = |(stderr, df): &(f64, f64)| {
        let share = (stderr / total) * (stderr / total);
        if share == 0.0 { 0.0 } else { share * share / df }
    };
    let rest: f64 = parts.iter().map(part).sum();
    if rest > 0.0 { 1.0 / rest } else { f64::INFINITY }
}

/// The p-value of a t test of no difference, two-sided.
pub fn two_sided(t: f64, df: f64) -> f64 {
    (2.0 * t_survival(t.abs(), df)).min(1.0)
}
