//! Why a model gave no answer, and whether asking again may help.

use std::fmt;
use std::time::Duration;

/// Why a model gave no answer.
///
/// The message is for people: it names what was asked of whom, what came back and the way out, and holds no
/// secret. The kind is for the caller, who asks again or does not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelError {
    kind: ModelErrorKind,
    message: String,
    /// Whether the server has answered, if only with an error.
    has_response: bool,
}

/// Whether asking again may help.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ModelErrorKind {
    /// The server has had too many requests. Asking again helps, later, and so do fewer connections.
    RateLimited {
        /// How long it wants to be left alone, if it says so.
        retry_after: Option<Duration>,
    },
    /// Something that passes: a busy or failing server, a dropped connection, an answer that was cut off.
    Transient {
        /// How long the server wants to be left alone, if it says so.
        retry_after: Option<Duration>,
    },
    /// The server was not reached, or closed the connection before it answered. It may be starting; a run ends if it
    /// never answers.
    Unreachable,
    /// It would go wrong again.
    Permanent,
    /// Whoever asks is not let in: the key is wrong, or may not do this. So it would be with every other question, and
    /// a run ends there.
    AccessRefused,
}

impl ModelError {
    /// An error of this kind.
    pub fn new(kind: ModelErrorKind, message: impl Into<String>) -> Self {
        ModelError { kind, message: message.into(), has_response: kind != ModelErrorKind::Unreachable }
    }

    /// What would go wrong again.
    pub fn permanent(message: impl Into<String>) -> Self {
        ModelError::new(ModelErrorKind::Permanent, message)
    }

    /// What passes.
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

    /// How long the server wants to be left alone, if it says so.
    pub fn retry_after(&self) -> Option<Duration> {
        match self.kind {
            ModelErrorKind::RateLimited { retry_after } | ModelErrorKind::Transient { retry_after } => {
                retry_after
            }
            ModelErrorKind::Unreachable | ModelErrorKind::Permanent | ModelErrorKind::AccessRefused => None,
        }
    }

    /// Whether asking again may help.
    pub fn is_retryable(&self) -> bool {
        !matches!(self.kind, ModelErrorKind::Permanent | ModelErrorKind::AccessRefused)
    }
}

impl fmt::Display for ModelError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for ModelError {}

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
