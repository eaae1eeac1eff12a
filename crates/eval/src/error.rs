//! Why a task cannot run, or a run cannot continue.

use std::path::PathBuf;

use errorbar_inference::FigureProblem;
use errorbar_log::eval::LogError;

use crate::{DatasetError, TaskProblem};

/// The result of anything in this crate that is about a whole task or run.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why a task cannot run, or a run cannot continue.
// Boxed within, so that the results which carry it stay small.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A spec, an argument, a metric, a reducer.
    #[error(transparent)]
    Core(Box<errorbar_core::Error>),
    /// The log.
    #[error(transparent)]
    Log(#[from] LogError),
    /// Parts of the task that do not fit together.
    #[error(transparent)]
    Task(Box<TaskProblem>),
    /// Neither the task nor the run names a model.
    #[error("the task names no model")]
    NoModel,
    /// A provider that needs a key, and no key.
    #[error("`{model}` needs a key: set {variable}, or name a file that holds the key")]
    MissingKey {
        /// The model.
        model: String,
        /// The environment variable.
        variable: String,
    },
    /// A key for a provider that takes none.
    #[error(
        "`{model}` takes no key, and a file that holds one is given; leave it out, or call a server that wants a key \
         as openai/NAME"
    )]
    UnwantedKey {
        /// The model.
        model: String,
    },
    /// What is wrong with the model in a role.
    #[error("the role `{role}`: {error}")]
    Role {
        /// The role.
        role: String,
        /// What is wrong.
        error: Box<Error>,
    },
    /// A setting for a role that no model has.
    #[error("a {setting} is given for the role `{role}`, which no model has")]
    UnknownRole {
        /// The role.
        role: String,
        /// What is given for it: a base URL, a key file.
        setting: &'static str,
    },
    /// A limit on the cost, and models of unknown price.
    #[error(
        "a limit on the cost needs the price of every model, and that of {} is not known",
        models.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
    )]
    UnknownPrice {
        /// The models without a price.
        models: Vec<String>,
    },
    /// A log that is not of the task as it is now.
    #[error("{} cannot be resumed: {change}", path.display())]
    ChangedTask {
        /// The log.
        path: PathBuf,
        /// How they differ.
        change: String,
    },
    /// A rule by which the run cannot be stopped early.
    #[error("the run cannot be stopped by `{rule}`: {problem}")]
    StopRule {
        /// The rule.
        rule: String,
        /// Why not.
        problem: Box<StopRuleProblem>,
    },
    /// A log whose samples were taken in the order of the dataset, so that no rule can stop the rest early.
    #[error("{} was run without a rule to stop by, so that its samples are not in a random order", path.display())]
    NotInRandomOrder {
        /// The log.
        path: PathBuf,
    },
    /// A log of another program, whose runs cannot be resumed here.
    #[error("{} was written by {program}, whose runs cannot be resumed here", path.display())]
    ForeignLog {
        /// The log.
        path: PathBuf,
        /// The program and its version.
        program: String,
    },
    /// A JSON log, which is written as a whole and cannot be resumed.
    #[error("{} is a JSON log, which is written as a whole and cannot be resumed", path.display())]
    JsonLog {
        /// The log.
        path: PathBuf,
        /// The archive beside it that can be, if there is one.
        archive: Option<PathBuf>,
    },
    /// A cache folder that cannot be used.
    #[error("cannot use the cache folder{}: {problem}", path.as_ref().map(|path| format!(" {}", path.display())).unwrap_or_default())]
    CacheFolder {
        /// The folder, if there is one.
        path: Option<PathBuf>,
        /// Why.
        problem: String,
    },
    /// Any other, which nothing has to tell from the others.
    #[error("{0}")]
    Other(String),
}

impl Error {
    pub(crate) fn other(message: impl Into<String>) -> Self {
        Error::Other(message.into())
    }
}

impl From<DatasetError> for Error {
    fn from(error: DatasetError) -> Self {
        Error::Other(error.to_string())
    }
}

impl From<TaskProblem> for Error {
    fn from(problem: TaskProblem) -> Self {
        Error::Task(Box::new(problem))
    }
}

impl From<errorbar_core::Error> for Error {
    fn from(error: errorbar_core::Error) -> Self {
        Error::Core(Box::new(error))
    }
}

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
    /// The log cannot be read.
    #[error("{0}")]
    Log(#[from] LogError),
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
    /// Samples that the log does not have.
    #[error("{0}")]
    MissingSamples(String),
    /// A sample that is another question in the log.
    #[error("{0}")]
    OtherQuestion(String),
    /// Any other, which nothing has to tell from the others.
    #[error("{0}")]
    Other(String),
}
