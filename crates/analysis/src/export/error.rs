//! Why samples could not be exported: the problem and a hint.

use std::io;
use std::path::{Path, PathBuf};

use errorbar_log::eval::LogError;
use errorbar_table::error_text::list;
use errorbar_table::write::WriteError;

use crate::diagnostic::Diagnostic;
use crate::text::Text;

/// Why an export failed. Its `Display` is the problem with the file, the sample or the name in it;
/// [`ExportError::hint`] is what to do about it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ExportError {
    /// A log cannot be read.
    #[error(transparent)]
    Log(#[from] LogError),
    /// No log has scores by a scorer that the options name.
    #[error("no sample has a score by `{scorer}`; {}", known_scorers(.known))]
    UnknownScorer {
        /// The scorer.
        scorer: String,
        /// The scorers that there are.
        known: Vec<String>,
        /// The one that may have been meant.
        nearest: Option<String>,
    },
    /// The options choose a column that the export does not have.
    #[error("there is no column `{column}`; the columns are {}", list(.known))]
    UnknownColumn {
        /// The column.
        column: String,
        /// The columns that there are.
        known: Vec<String>,
        /// The one that may have been meant.
        nearest: Option<String>,
    },
    /// The samples have more metadata keys than a table should have columns.
    #[error("{}: the metadata of the samples has more than {limit} different keys", log.display())]
    TooManyColumns {
        /// The log.
        log: PathBuf,
        /// How many there may be.
        limit: usize,
    },
    /// A log is not what it was when its columns were found.
    #[error("{}: the log changed while it was read", .path.display())]
    Changed {
        /// The log.
        path: PathBuf,
    },
    /// An epoch that does not fit the type of the column.
    #[error("{}: sample {sample:?}: the epoch {epoch} does not fit the 32 bits of a Parquet column", .path.display())]
    Epoch {
        /// The log.
        path: PathBuf,
        /// The sample.
        sample: String,
        /// The epoch.
        epoch: u32,
    },
    /// The output would take the place of a log.
    #[error("{}: the output would replace the log that is read", .path.display())]
    OutputIsInput {
        /// The output.
        path: PathBuf,
    },
    /// The program was built without Parquet.
    #[error("Parquet is not in this build")]
    NoParquet,
    /// Parquet refuses what it was given.
    #[error("cannot write Parquet: {0}")]
    Parquet(String),
    /// The output cannot be written.
    #[error("{}cannot write: {error}", of_file(.path.as_deref()))]
    Write {
        /// The output, where it is a file.
        path: Option<PathBuf>,
        /// Why not.
        #[source]
        error: io::Error,
    },
}

impl From<io::Error> for ExportError {
    fn from(error: io::Error) -> Self {
        ExportError::Write { path: None, error }
    }
}

impl From<WriteError> for ExportError {
    fn from(error: WriteError) -> Self {
        match error {
            WriteError::Io(error) => error.into(),
            WriteError::NoParquet => ExportError::NoParquet,
            WriteError::Parquet(problem) => ExportError::Parquet(problem),
            other @ WriteError::CellKind => ExportError::Parquet(other.to_string()),
        }
    }
}

impl ExportError {
    /// The error of a row of this log: a cell that is not of the kind of its column was not there when the columns were
    /// found.
    pub(super) fn of_row(error: WriteError, log: &Path) -> Self {
        match error {
            WriteError::CellKind => ExportError::Changed { path: log.to_owned() },
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
        let hint = match self {
            ExportError::Log(error) => return crate::hints::log::hint(error),
            ExportError::UnknownScorer { nearest: Some(nearest), .. }
            | ExportError::UnknownColumn { nearest: Some(nearest), .. } => {
                return Some(format!("did you mean `{nearest}`?").into());
            }
            ExportError::UnknownScorer { .. } => "name one of them, or none for all",
            ExportError::UnknownColumn { .. } => "name some of them, or none for all",
            ExportError::TooManyColumns { .. } => {
                "export the logs one by one, or take the samples as they are: `log dump --samples`"
            }
            ExportError::Changed { .. } => "wait until the run has ended, or copy the log first",
            ExportError::OutputIsInput { .. } => "choose another name for the output",
            ExportError::NoParquet => "build with the feature `parquet`, or export to CSV or JSON lines",
            ExportError::Epoch { .. } | ExportError::Parquet(_) => "export to CSV or JSON lines",
            ExportError::Write { error, .. } => match error.kind() {
                io::ErrorKind::NotFound => "make the folder first",
                io::ErrorKind::IsADirectory => "give the name of a file in it",
                io::ErrorKind::StorageFull => "free some space",
                _ => "choose a file that you may write to",
            },
        };
        Some(hint.into())
    }
}

impl From<ExportError> for Diagnostic {
    fn from(error: ExportError) -> Self {
        Diagnostic::error(error.to_string()).hint_if(error.hint())
    }
}

fn of_file(path: Option<&Path>) -> String {
    path.map(|path| format!("{}: ", path.display())).unwrap_or_default()
}

fn known_scorers(known: &[String]) -> String {
    if known.is_empty() {
        "there are no scores".to_owned()
    } else {
        format!("there are scores by {}", list(known))
    }
}
