//! Why samples could not be exported: the problem and a hint.

use std::io;
use std::path::{Path, PathBuf};

use errorbar_core::spec::nearest;
use errorbar_log::eval::LogError;
use errorbar_table::error_text::list;
use errorbar_table::write::WriteError;

use crate::diagnostic::Diagnostic;
use crate::text::Text;

/// Why an export failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ExportError {
    /// The output cannot be written.
    #[error("{}cannot write: {error}", path.as_ref().map(|path| format!("{}: ", path.display())).unwrap_or_default())]
    Write {
        /// The output, where it is a file.
        path: Option<PathBuf>,
        /// Why not.
        #[source]
        error: io::Error,
    },
    /// Anything else, with what to do about it.
    #[error("{}", .0.text())]
    Other(Box<Diagnostic>),
}

impl From<Diagnostic> for ExportError {
    fn from(problem: Diagnostic) -> Self {
        ExportError::Other(Box::new(problem))
    }
}

impl From<LogError> for ExportError {
    fn from(error: LogError) -> Self {
        Diagnostic::from(error).into()
    }
}

impl From<io::Error> for ExportError {
    fn from(error: io::Error) -> Self {
        ExportError::Write { path: None, error }
    }
}

impl From<WriteError> for ExportError {
    fn from(error: WriteError) -> Self {
        let problem = Diagnostic::error(error.to_string());
        match error {
            WriteError::Io(error) => return error.into(),
            WriteError::NoParquet => {
                problem.hint("build with the feature `parquet`, or export to CSV or JSON lines")
            }
            WriteError::Parquet(_) | WriteError::CellKind => problem.hint("export to CSV or JSON lines"),
        }
        .into()
    }
}

impl From<ExportError> for Diagnostic {
    fn from(error: ExportError) -> Self {
        match error {
            ExportError::Other(problem) => *problem,
            error => Diagnostic::error(error.to_string()).hint_if(error.hint()),
        }
    }
}

impl ExportError {
    /// The error of a log that is not what it was when its columns were found.
    pub(super) fn changed(log: &Path) -> Self {
        let problem = Diagnostic::error("the log changed while it was read").about(log.display());
        problem.hint("wait until the run has ended, or copy the log first").into()
    }

    /// The error of a name that is none of these.
    pub(super) fn unknown(problem: String, name: &str, known: &[String], hint: &str) -> Self {
        let hint = match nearest(name, known.iter().map(String::as_str)) {
            Some(nearest) => format!("did you mean `{nearest}`?"),
            None => hint.to_owned(),
        };
        Diagnostic::error(problem).hint(hint).into()
    }

    /// The error of a row of this log: a cell that is not of the kind of its column was not there when the columns were
    /// found.
    pub(super) fn of_row(error: WriteError, log: &Path) -> Self {
        match error {
            WriteError::CellKind => ExportError::changed(log),
            other => other.into(),
        }
    }

    /// The same about an output file.
    pub(super) fn at(mut self, output: &Path) -> Self {
        if let ExportError::Write { path, .. } = &mut self {
            path.get_or_insert_with(|| output.to_owned());
        }
        self
    }

    /// What to do about it.
    pub fn hint(&self) -> Option<Text> {
        match self {
            ExportError::Other(problem) => problem.hint_text().cloned(),
            ExportError::Write { error, .. } => Some(match error.kind() {
                io::ErrorKind::NotFound => "make the folder first".into(),
                io::ErrorKind::IsADirectory => "give the name of a file in it".into(),
                io::ErrorKind::StorageFull => "free some space".into(),
                _ => "choose a file that you may write to".into(),
            }),
        }
    }
}

/// The scorers that there are, in words.
pub(super) fn known_scorers(known: &[String]) -> String {
    match known.is_empty() {
        true => "there are no scores".to_owned(),
        false => format!("there are scores by {}", list(known)),
    }
}
