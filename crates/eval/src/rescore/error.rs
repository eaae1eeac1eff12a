//! Why a log could not be scored again.

use std::path::PathBuf;

use errorbar_log::eval::LogError;

/// Why a log could not be scored again.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RescoreError {
    /// There is no scorer.
    #[error("there is no scorer to score the log with")]
    NoScorer,
    /// There is nothing to score.
    #[error("{}: the log has no samples to score", log.display())]
    NoSamples {
        /// The log.
        log: PathBuf,
    },
    /// A scorer that calls a model in a role, and no model has it: the evaluated model is not called.
    #[error(
        "the scorer `{scorer}` asks a model in the role `{role}`, and none has it; the model that was evaluated is not \
         called{}",
        recorded.as_ref().map(|model| format!(" (in the log, the role had {model})")).unwrap_or_default()
    )]
    NoGrader {
        /// The scorer.
        scorer: String,
        /// The role.
        role: String,
        /// The model that had the role when the log was made.
        recorded: Option<String>,
    },
    /// A sample that could not be scored.
    #[error("{}: sample {sample:?}, epoch {epoch}: the scorer `{scorer}` {problem}", log.display())]
    Sample {
        /// The log.
        log: PathBuf,
        /// The sample.
        sample: String,
        /// Its epoch.
        epoch: u32,
        /// The scorer.
        scorer: String,
        /// What went wrong.
        problem: String,
    },
    /// It was cancelled.
    #[error("{}: cancelled when {done} of {total} samples were scored; nothing was written", log.display())]
    Cancelled {
        /// The log.
        log: PathBuf,
        /// The number of samples that were scored.
        done: usize,
        /// Of how many.
        total: usize,
    },
    /// A limit on what graders may use was passed.
    #[error("{}: {limit} to score it, when {done} of {total} samples were scored; nothing was written", log.display())]
    LimitReached {
        /// The log.
        log: PathBuf,
        /// Which, in words.
        limit: String,
        /// The number of samples that were scored.
        done: usize,
        /// Of how many.
        total: usize,
    },
    /// The log.
    #[error(transparent)]
    Log(#[from] LogError),
    /// The models of graders.
    #[error(transparent)]
    Models(#[from] crate::Error),
    /// The results of the new scores.
    #[error(transparent)]
    Results(errorbar_core::Error),
}
