//! Mistakes in task files, shown with their place.

use errorbar_eval::TaskFileError;

/// Shows every mistake.
pub(crate) fn show(error: &TaskFileError) {
    crate::message::error(error);
}
