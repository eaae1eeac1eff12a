//! Hints for errors of eval logs.

use errorbar_log::eval::LogError;

/// What to do about it.
pub(crate) fn hint(error: &LogError) -> Option<String> {
    Some(error.hint().to_owned())
}
