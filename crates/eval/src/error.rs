//! Why a task cannot run, or a run cannot go on.

use errorbar_log::eval::LogError;

use crate::DatasetError;

/// The result of anything in this room that is about a whole task or run.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why a task cannot run, or a run cannot go on.
// Boxed within, so that the results which carry it stay small.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The dataset.
    #[error(transparent)]
    Dataset(Box<DatasetError>),
    /// A spec, an argument, a metric, a reducer.
    #[error(transparent)]
    Core(Box<errorbar_core::Error>),
    /// The log.
    #[error(transparent)]
    Log(#[from] LogError),
    /// Something else, in words that name it and the way out.
    #[error("{0}")]
    Refused(String),
}

impl Error {
    /// An error with a message of its own.
    pub fn refused(message: impl Into<String>) -> Self {
        Error::Refused(message.into())
    }
}

impl From<DatasetError> for Error {
    fn from(error: DatasetError) -> Self {
        Error::Dataset(Box::new(error))
    }
}

impl From<errorbar_core::Error> for Error {
    fn from(error: errorbar_core::Error) -> Self {
        Error::Core(Box::new(error))
    }
}
