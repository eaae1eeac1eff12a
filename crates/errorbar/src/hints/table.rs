//! Hints for errors of score tables, read and exported.

use errorbar_log::TableError;
use errorbar_log::export::ExportError;

use super::log;

/// What to do about it.
pub(crate) fn hint(error: &TableError) -> Option<String> {
    Some(error.hint())
}

/// The same for a table that could not be written.
pub(crate) fn export_hint(error: &ExportError) -> Option<String> {
    match error {
        ExportError::Log(error) => log::hint(error),
        error => Some(error.hint()),
    }
}
