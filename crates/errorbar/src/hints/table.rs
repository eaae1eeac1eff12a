//! Hints for errors of score tables, read and exported.

use std::io::ErrorKind;

use errorbar_log::export::ExportError;
use errorbar_log::{TableError, TableErrorKind};

use super::log;
use crate::shell;

/// What to do about a name that is neither that of a file nor of a log.
const NO_FILE: &str = "check the path; a log can be named by a handle, too: `latest`, @1";

/// What to do about it.
pub(crate) fn hint(error: &TableError) -> Option<String> {
    let hint = match error.kind() {
        TableErrorKind::NoScoreColumn { nearest: Some(nearest), .. } => {
            return Some(format!("did you mean --score-column {}?", shell::word(nearest)));
        }
        TableErrorKind::NoScoreColumn { .. } => "name the column that holds the scores with --score-column",
        TableErrorKind::Open(open)
            if open.kind() == ErrorKind::NotFound && error.path().extension().is_none() =>
        {
            NO_FILE
        }
        TableErrorKind::NoIdColumn { .. } => {
            "name the column that identifies the samples with --id; it may be repeated, and of each table the first \
             that it has is taken"
        }
        TableErrorKind::NoSplitColumn { nearest: Some(nearest), .. } => {
            return Some(format!("did you mean --by {}?", shell::word(nearest)));
        }
        TableErrorKind::NoSplitColumn { .. } | TableErrorKind::NotASplitColumn(_) => {
            "name the column whose values are to be compared with --by"
        }
        TableErrorKind::TooManyScorers { .. } => {
            "if the column is no scorer but metadata, rename it or use --score-column"
        }
        TableErrorKind::LineTooLong { in_quote: true, .. } => {
            "look for a quote that is never closed, or allow longer lines with --max-line"
        }
        TableErrorKind::LineTooLong { .. } => {
            "check that the file is what its name says, or allow longer lines with --max-line"
        }
        TableErrorKind::PageTooLarge { .. } => {
            "write the table with smaller pages, or allow larger ones with --max-line"
        }
        TableErrorKind::FooterTooLarge { .. } => {
            "write the table with fewer row groups, or allow a larger footer with --max-line"
        }
        TableErrorKind::TooManyColumns { .. } => {
            "remove columns that no metric needs, or allow more with --max-columns"
        }
        TableErrorKind::AmbiguousDelimiter { candidates } => {
            let option = |delimiter: &char| match delimiter {
                '\t' => "--delimiter tab".to_owned(),
                delimiter => format!("--delimiter {}", shell::word(&delimiter.to_string())),
            };
            return Some(candidates.iter().map(option).collect::<Vec<_>>().join(" or "));
        }
        TableErrorKind::UnknownFormat { .. } => {
            "if it is a table, say which kind with --input-format: csv, tsv, jsonl, json or parquet"
        }
        TableErrorKind::TooMuchMemory { .. }
        | TableErrorKind::TooDense { .. }
        | TableErrorKind::InputTooLarge { .. } => {
            "check that the file is what its name says, or allow more with --max-memory"
        }
        _ => error.hint(),
    };
    Some(hint.to_owned())
}

/// The same for a table that could not be written.
pub(crate) fn export_hint(error: &ExportError) -> Option<String> {
    match error {
        ExportError::Log(error) => log::hint(error),
        ExportError::UnknownScorer { nearest: Some(nearest), .. }
        | ExportError::UnknownColumn { nearest: Some(nearest), .. } => {
            Some(format!("did you mean `{nearest}`?"))
        }
        ExportError::TooManyColumns { .. } => Some(
            "export the logs one by one, or take the samples as they are: `log dump --samples`".to_owned(),
        ),
        error => Some(error.hint().to_owned()),
    }
}
