//! Why a rule that stops a run early cannot be used.

use std::path::PathBuf;

use errorbar_inference::FigureProblem;
use errorbar_log::eval::LogError;

/// Why a run cannot be stopped by a rule.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StopRuleProblem {
    /// What it names is no mean that a confidence sequence can be about.
    #[error(transparent)]
    Figure(#[from] FigureProblem),
    /// The range of the scores is not known, without which there is no bound on what the other samples could change.
    #[error(
        "the range of the scores by `{scorer}` is not known, and a run can be stopped early only by the mean of scores \
         whose lowest and highest value are"
    )]
    UnknownRange {
        /// The scorer.
        scorer: String,
    },
    /// A value that no mean of such scores can have.
    #[error("{value} lies outside the range of the scores, {low} to {high}, so it is decided before the run")]
    Outside {
        /// The value.
        value: f64,
        /// The lowest score.
        low: f64,
        /// The highest.
        high: f64,
    },
    /// The log cannot be read.
    #[error("{0}")]
    Log(#[source] LogError),
    /// The range of scores is not 0 to 1, and the plan does not have it.
    #[error(
        "scores by `{scorer}` lie between {low} and {high}, and the plan of errors does not have that range"
    )]
    RangeNotPlanned {
        /// The scorer.
        scorer: String,
        /// The lowest score.
        low: f64,
        /// The highest score.
        high: f64,
    },
    /// The log has no scores by the scorer.
    #[error("{} has no scores by `{scorer}`; it has scores by: {}", log.display(), found.join(", "))]
    NoScorer {
        /// The log.
        log: PathBuf,
        /// The scorer.
        scorer: String,
        /// Those that it has.
        found: Vec<String>,
    },
    /// Samples that the log does not have.
    #[error("{} lacks {count} of the {planned} samples of the run, such as {sample:?}", log.display())]
    MissingSamples {
        /// The log.
        log: PathBuf,
        /// How many.
        count: usize,
        /// Of how many.
        planned: usize,
        /// One of them.
        sample: String,
    },
    /// A sample that is another question in the log.
    #[error("the sample {sample:?} has another input, other choices or another target in {}", log.display())]
    OtherQuestion {
        /// The log.
        log: PathBuf,
        /// The sample.
        sample: String,
    },
    /// The scores of the log cannot be reduced.
    #[error("{}: {error}", log.display())]
    Scores {
        /// The log.
        log: PathBuf,
        /// Why.
        error: Box<errorbar_core::Error>,
    },
    /// More samples than an order can have.
    #[error("there are more samples than a random order can have: {samples}")]
    TooManySamples {
        /// How many.
        samples: usize,
    },
}
