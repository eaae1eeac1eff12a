//! Why a model gave no answer, and whether a retry may help.

use std::time::Duration;

/// Why a model gave no answer.
///
/// The message is for people: it names the request and its address, the response and the way out, and holds no
/// secret. The kind is for the caller, who retries or does not.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct ModelError {
    kind: ModelErrorKind,
    message: String,
    /// Whether the server has answered, if only with an error.
    has_response: bool,
}

/// Whether a retry may help.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ModelErrorKind {
    /// Too many requests. A later retry helps, and so do fewer connections.
    RateLimited {
        /// How long to wait before a retry, if the server sets it.
        retry_after: Option<Duration>,
    },
    /// A transient error: a busy or failing server, a dropped connection, an answer that was cut off.
    Transient {
        /// How long to wait before a retry, if the server sets it.
        retry_after: Option<Duration>,
    },
    /// The server was not reached, or closed the connection before it answered. It may be starting; a run ends if it
    /// never answers.
    Unreachable,
    /// A retry would fail too.
    Permanent,
    /// Unauthorized or forbidden: the key is wrong, or may not do this. Every other request would fail too, so the run
    /// ends.
    AccessRefused,
    /// The certificate of the server is not trusted. Every other request would fail too, so the run ends.
    Untrusted,
}

impl ModelError {
    /// An error of this kind.
    pub fn new(kind: ModelErrorKind, message: impl Into<String>) -> Self {
        let is_silent = matches!(kind, ModelErrorKind::Unreachable | ModelErrorKind::Untrusted);
        ModelError { kind, message: message.into(), has_response: !is_silent }
    }

    /// An error that a retry would not help.
    pub fn permanent(message: impl Into<String>) -> Self {
        ModelError::new(ModelErrorKind::Permanent, message)
    }

    /// A transient error.
    pub fn transient(message: impl Into<String>) -> Self {
        ModelError::new(ModelErrorKind::Transient { retry_after: None }, message)
    }

    /// The server was not reached.
    pub fn unreachable(message: impl Into<String>) -> Self {
        ModelError::new(ModelErrorKind::Unreachable, message)
    }

    /// The same, of a request that the server has not answered.
    #[must_use]
    pub(crate) fn without_response(mut self) -> Self {
        self.has_response = false;
        self
    }

    /// The same in other words.
    #[must_use]
    pub(crate) fn with_message(mut self, message: impl FnOnce(&str) -> String) -> Self {
        self.message = message(&self.message);
        self
    }

    /// Whether the server has answered, if only with an error.
    pub(crate) fn has_response(&self) -> bool {
        self.has_response
    }

    /// Its kind.
    pub fn kind(&self) -> ModelErrorKind {
        self.kind
    }

    /// How long to wait before a retry, if the server sets it.
    pub fn retry_after(&self) -> Option<Duration> {
        match self.kind {
            ModelErrorKind::RateLimited { retry_after } | ModelErrorKind::Transient { retry_after } => {
                retry_after
            }
            ModelErrorKind::Unreachable
            | ModelErrorKind::Permanent
            | ModelErrorKind::AccessRefused
            | ModelErrorKind::Untrusted => None,
        }
    }

    /// Whether a retry may help.
    pub fn is_retryable(&self) -> bool {
        !matches!(self.kind, ModelErrorKind::Permanent) && !self.ends_run()
    }

    /// Whether every other request would fail too.
    pub(crate) fn ends_run(&self) -> bool {
        matches!(self.kind, ModelErrorKind::AccessRefused | ModelErrorKind::Untrusted)
    }
}

impl From<errorbar_core::Error> for ModelError {
    fn from(error: errorbar_core::Error) -> Self {
        ModelError::permanent(error.to_string())
    }
}

impl From<ModelError> for errorbar_core::Error {
    fn from(error: ModelError) -> Self {
        errorbar_core::Error::custom(error.message)
    }
}
