//! An estimate: a number with its standard error, its interval, and what must be known about them.
//!
//! A part that does not exist is [`Undefined`] with the reason, never a zero.

mod clusters;
mod intervals;
mod ratio;
mod resampled;
mod summary;

pub(crate) use clusters::{ClusterCorrection, ERRORS, WayError, check as check_clusters, is_cluster_id};
pub use clusters::{ClusteredScores, ErrorFigure, RowClusters};
pub use intervals::{SampleValue, wilson};
pub(crate) use ratio::{RatioScale, RatioTerm, RatioTotals, ShareVariances};
pub use resampled::{MAX_FIGURES, ResampledFigure, ScoreUnits, planned_draws};
pub(crate) use resampled::{ResampledFigures, resampled_estimate, resampled_estimates, times_of};
pub(crate) use summary::estimate_of_share;
pub use summary::{IndependentScores, Summary, UnitScores, error_across_groups, estimate_from, is_rounding};

#[cfg(test)]
mod tests;

pub use crate::scores::{GroupContext, ScoreKind};

use serde_json::Value as Json;

use crate::error_plan::{ErrorMethod, IntervalMethod, IntervalSide};
use crate::metadata::Metadata;

/// A part of an estimate: it is there, or there is a reason why not.
pub type Defined<T> = std::result::Result<T, Undefined>;

/// Why a value, an error or an interval does not exist.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Undefined {
    /// There is no score at all.
    #[error("n = 0")]
    NoScores,
    /// There are scores, and none has the field that it is of.
    #[error("n = 0")]
    NoField,
    /// It takes two scores.
    #[error("n < 2")]
    TooFewScores {
        /// The scores that there are.
        n: u64,
    },
    /// It takes two clusters.
    #[error("clusters < 2")]
    TooFewClusters {
        /// The clusters that there are.
        clusters: u64,
    },
    /// All scores are equal, so they have no information about their spread.
    #[error("no spread in {n} scores")]
    NoSpread {
        /// The number of scores.
        n: u64,
    },
    /// The number is beyond the largest that a float holds.
    #[error("overflow")]
    Overflow,
    /// The metric has no error model: a standard deviation, a custom metric that returns a number.
    #[error("no error model")]
    NotAvailable,
    /// The run was stopped early, depending on its scores: a confidence sequence has an interval, and no standard error.
    #[error("a run that was stopped early has an interval, not a standard error")]
    StoppedEarly,
    /// Another reason.
    #[error("{0}")]
    Other(String),
}

/// A number with its standard error and its interval.
///
/// ```
/// use errorbar_core::{Estimate, Undefined};
///
/// let share = Estimate::new(0.8).with_stderr(0.05).with_interval(0.69, 0.88, 0.95).with_n(60);
/// assert_eq!(share.stderr(), Some(0.05));
/// assert_eq!(Estimate::new(0.8).error, Err(Undefined::NotAvailable));
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Estimate {
    /// The number.
    pub value: Defined<f64>,
    /// Its standard error.
    pub error: Defined<StdError>,
    /// Its interval.
    pub interval: Defined<Interval>,
    /// What the number would be with the samples that have no score; only if there are any and the range of scores
    /// is known.
    pub bounds: Option<Bounds>,
    /// The number of scores.
    pub n: u64,
    /// The number of samples that have no score.
    pub absent: u64,
    /// What makes the number, its error or its interval random.
    pub draws: Option<Draws>,
    /// What else is to be known.
    pub notes: EstimateNotes,
}

impl Estimate {
    /// A number without an error model. One that is not a number is undefined.
    pub fn new(value: f64) -> Self {
        let value = if value.is_nan() { Err(Undefined::Other("not a number".to_owned())) } else { Ok(value) };
        Estimate::of(value)
    }

    /// No number, with the reason.
    pub fn undefined(reason: Undefined) -> Self {
        Estimate::of(Err(reason.clone())).without_error(&reason)
    }

    /// The number without an error and an interval, with the reason.
    pub(crate) fn without_error(mut self, reason: &Undefined) -> Self {
        (self.error, self.interval) = (Err(reason.clone()), Err(reason.clone()));
        self
    }

    /// With the numbers of scores that it is over and that are absent.
    pub(crate) fn counted(self, n: u64, absent: u64) -> Self {
        Estimate { n, absent, ..self }
    }

    pub(crate) fn of(value: Defined<f64>) -> Self {
        Estimate {
            value,
            error: Err(Undefined::NotAvailable),
            interval: Err(Undefined::NotAvailable),
            bounds: None,
            n: 0,
            absent: 0,
            draws: None,
            notes: EstimateNotes::default(),
        }
    }

    /// Gives it a standard error from a custom method.
    #[must_use]
    pub fn with_stderr(self, se: f64) -> Self {
        self.with_error(StdError::new(se, ErrorMethod::Custom))
    }

    /// Gives it a standard error.
    #[must_use]
    pub fn with_error(mut self, error: StdError) -> Self {
        self.error = Ok(error);
        self
    }

    /// Gives it an interval from a custom method.
    #[must_use]
    pub fn with_interval(mut self, lower: f64, upper: f64, level: f64) -> Self {
        self.interval = Ok(Interval::new(lower, upper, level, IntervalMethod::Custom));
        self
    }

    /// Sets the number of scores.
    #[must_use]
    pub fn with_n(mut self, n: u64) -> Self {
        self.n = n;
        self
    }

    /// Adds a custom note, under a key.
    #[must_use]
    pub fn note(mut self, key: &str, value: impl Into<Json>) -> Self {
        self.notes.custom.insert(key.to_owned(), value.into());
        self
    }

    /// Adds a note if there is something to note.
    #[must_use]
    pub fn note_some(self, key: &str, value: Option<impl Into<Json>>) -> Self {
        match value {
            Some(value) => self.note(key, value),
            None => self,
        }
    }

    /// This error and interval on the number of another estimate.
    pub(crate) fn instead_of(self, mut other: Estimate) -> Estimate {
        (other.error, other.interval, other.draws) = (self.error, self.interval, self.draws);
        let mut custom = std::mem::take(&mut other.notes.custom);
        custom.extend(self.notes.custom);
        // The bounds are of the number, and stay.
        let partly_absent = other.notes.partly_absent;
        other.notes = EstimateNotes { custom, partly_absent, ..self.notes };
        other
    }

    /// The same with the other sign: A − B from B − A.
    ///
    /// ```
    /// use errorbar_core::Estimate;
    ///
    /// let difference = Estimate::new(-0.25).with_stderr(0.1).with_interval(-0.5, 0.0, 0.95).negated();
    /// let interval = difference.interval.unwrap();
    /// assert_eq!((difference.value, interval.lower, interval.upper), (Ok(0.25), 0.0, 0.5));
    /// ```
    #[must_use]
    pub fn negated(&self) -> Self {
        // Adding 0 takes the sign off a negative zero.
        let minus = |number: f64| 0.0 - number;
        let mut negated = self.clone();
        negated.value = self.value.clone().map(minus);
        if let Ok(interval) = &mut negated.interval {
            (interval.lower, interval.upper) = (minus(interval.upper), minus(interval.lower));
            interval.side = match interval.side {
                IntervalSide::Lower => IntervalSide::Upper,
                IntervalSide::Upper => IntervalSide::Lower,
                side => side,
            };
        }
        if let Some(bounds) = &mut negated.bounds {
            (bounds.worst, bounds.best) = (minus(bounds.best), minus(bounds.worst));
            bounds.absent_as_wrong = minus(bounds.absent_as_wrong);
        }
        negated
    }

    /// The number, if there is one.
    pub fn number(&self) -> Option<f64> {
        self.value.as_ref().ok().copied()
    }

    /// The standard error, if there is one; 0 if all scores are equal.
    pub fn stderr(&self) -> Option<f64> {
        self.error.as_ref().ok().map(|error| error.se)
    }
}

impl From<f64> for Estimate {
    fn from(value: f64) -> Self {
        Estimate::new(value)
    }
}

/// A standard error and how it was made.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct StdError {
    /// The standard error.
    pub se: f64,
    /// How it was made.
    pub method: ErrorMethod,
    /// Its degrees of freedom; infinite where it has none.
    pub df: f64,
    /// The number of clusters, for each way of clustering; empty for independent scores.
    pub clusters: Vec<u64>,
    /// All scores are equal: the number is 0 by its definition and carries no information.
    pub degenerate: bool,
}

impl StdError {
    /// A standard error of this method, without clusters and degrees of freedom.
    pub fn new(se: f64, method: ErrorMethod) -> Self {
        StdError { se, method, df: f64::INFINITY, clusters: Vec::new(), degenerate: se == 0.0 }
    }

    /// Sets its degrees of freedom.
    #[must_use]
    pub fn with_df(mut self, df: f64) -> Self {
        self.df = df;
        self
    }

    /// Sets the number of clusters, for each way of clustering.
    #[must_use]
    pub fn with_clusters(mut self, clusters: Vec<u64>) -> Self {
        self.clusters = clusters;
        self
    }
}

/// An interval and how it was made.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Interval {
    /// The lower end. If only the upper one is a bound, the end of the range of scores; −∞ if that is unknown.
    pub lower: f64,
    /// The upper end. If only the lower one is a bound, the end of the range of scores; ∞ if that is unknown.
    pub upper: f64,
    /// Which of the ends are bounds.
    pub side: IntervalSide,
    /// The confidence level.
    pub level: f64,
    /// How it was made.
    pub method: IntervalMethod,
    /// The degrees of freedom of its quantile, where it has any.
    pub df: Option<f64>,
}

impl Interval {
    /// A two-sided interval of this method; its quantile has no degrees of freedom.
    pub fn new(lower: f64, upper: f64, level: f64, method: IntervalMethod) -> Self {
        Interval { lower, upper, side: IntervalSide::TwoSided, level, method, df: None }
    }

    /// Sets the degrees of freedom of its quantile.
    #[must_use]
    pub fn with_df(mut self, df: Option<f64>) -> Self {
        self.df = df;
        self
    }

    /// One bound in place of two ends: the other end is that of the range of scores, or infinite.
    #[must_use]
    pub fn one_sided(mut self, side: IntervalSide, range: Option<(f64, f64)>) -> Self {
        self.side = side;
        match side {
            IntervalSide::TwoSided => {}
            IntervalSide::Lower => self.upper = range.map_or(f64::INFINITY, |(_, high)| high),
            IntervalSide::Upper => self.lower = range.map_or(f64::NEG_INFINITY, |(low, _)| low),
        }
        self
    }
}

/// What a number would be with the samples that have no score.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Bounds {
    /// If each of them had the lowest score of the range.
    pub worst: f64,
    /// If each of them had the highest.
    pub best: f64,
    /// If each of them counted as wrong: 0.
    pub absent_as_wrong: f64,
}

impl Bounds {
    /// The worst case, the best case, and what follows if absent samples are wrong.
    pub fn new(worst: f64, best: f64, absent_as_wrong: f64) -> Self {
        Bounds { worst, best, absent_as_wrong }
    }
}

/// What makes a figure random.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Draws {
    /// The seed.
    pub seed: u64,
    /// The number of resamples.
    pub count: u64,
}

impl Draws {
    /// As many resamples from this seed.
    pub fn new(seed: u64, count: u64) -> Self {
        Draws { seed, count }
    }
}

/// What else is to be known about an estimate.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct EstimateNotes {
    /// The number of independent scores that would give this error: n over the design effect where there are clusters.
    /// Without one, the number of independent zeros and ones that an interval of a share is computed from, if it is not n.
    pub effective_n: Option<f64>,
    /// The variance with clusters over the variance without.
    pub design_effect: Option<f64>,
    /// The standard error if scores were independent, where the error is another: what logs record of a mean of groups,
    /// whatever the plan is.
    pub iid_stderr: Option<f64>,
    /// The standard error over runs of the same samples, where the value is a mean over epochs: the error for these same
    /// questions again, where that of the estimate is for questions like these.
    pub stderr_fixed: Option<f64>,
    /// The number of samples with a score of whose epochs some have none; the bounds count those epochs.
    pub partly_absent: Option<u64>,
    /// The number of clusters of an interval that has no error beside it.
    pub clusters: Option<u64>,
    /// The share of the scores that the largest cluster has.
    pub largest_cluster_share: Option<f64>,
    /// The number of samples of the whole benchmark that error and interval are about.
    pub population: Option<u64>,
    /// Whether it is a mean over groups that clusters span, so that groups are not independent.
    pub clusters_span_groups: bool,
    /// What the early stop of the run means for the interval, in words; every reader should see it.
    pub early_stop: Option<String>,
    /// Why the interval is of this method, and what else a reader should know.
    pub reason: Option<String>,
    /// Whether the reason is something that every reader should see: the interval is not the one that was wanted.
    pub is_caution: bool,
    /// The key of the figure in the log that it was read from, if it was.
    pub log_key: Option<String>,
    /// Notes of the metric, by key.
    pub custom: Metadata,
}

impl EstimateNotes {
    /// Adds to what a reader should know.
    pub(crate) fn add_reason(&mut self, note: &str) {
        let reason = self.reason.take();
        self.reason = Some(reason.map_or_else(|| note.to_owned(), |reason| format!("{reason}; {note}")));
    }

    /// Adds what every reader should see.
    pub(crate) fn add_caution(&mut self, note: &str) {
        self.add_reason(note);
        self.is_caution = true;
    }
}
