//! The pages of logs, which are made by whoever starts the server.

use axum::http::StatusCode;
use errorbar_log::eval::EvalLog;

/// Makes the report page of logs.
///
/// The page is that of a report, and what it takes to compute one (the registry of metrics, the alignment of samples) is
/// known where reports are made. So the server gets it as a value. Logs are opened by the server, which checks that they
/// are inside of its folder.
pub trait ReportPages: Send + Sync {
    /// The page of one log, or of several compared, as HTML whose sample browser fetches `samples.json` and `sample.json`
    /// from beside the page.
    ///
    /// # Errors
    /// Logs that cannot be read or compared.
    fn page(&self, logs: &[EvalLog]) -> Result<String, PageError>;
}

/// Why there is no page.
#[derive(Debug, Clone, thiserror::Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum PageError {
    /// What was requested does not exist.
    #[error("{0}")]
    NotFound(String),
    /// The logs cannot be read, or not be compared.
    #[error("{0}")]
    Unusable(String),
}

impl PageError {
    /// Logs that cannot be read, or not be compared, and why.
    pub fn unusable(reason: impl Into<String>) -> Self {
        PageError::Unusable(reason.into())
    }

    pub(crate) fn status(&self) -> StatusCode {
        match self {
            PageError::NotFound(_) => StatusCode::NOT_FOUND,
            PageError::Unusable(_) => StatusCode::UNPROCESSABLE_ENTITY,
        }
    }
}
