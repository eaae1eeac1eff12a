//! Hints for errors of tasks and runs.

use errorbar_eval::Error;

use super::core;

/// What to do about it, if the error itself does not say.
pub(crate) fn hint(error: &Error) -> Option<String> {
    match error {
        Error::Core(error) => core::hint(error),
        _ => None,
    }
}
