//! What can go wrong beyond scores that cannot be evaluated.

use crate::comparison::ComparisonError;

/// The result of anything in this crate that may fail.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why there is no comparison.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Scores that cannot be evaluated.
    #[error(transparent)]
    Core(#[from] errorbar_core::Error),
    /// Sides that cannot be compared.
    #[error(transparent)]
    Comparison(#[from] ComparisonError),
}

/// For programs whose functions return the result of the engine.
impl From<Error> for errorbar_core::Error {
    fn from(error: Error) -> Self {
        match error {
            Error::Core(error) => error,
            Error::Comparison(error) => errorbar_core::Error::Custom(error.to_string()),
        }
    }
}
