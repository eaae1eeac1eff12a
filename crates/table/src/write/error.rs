//! Why rows could not be written.

use std::io;

/// Why rows could not be written.
#[derive(Debug, thiserror::Error)]
pub enum WriteError {
    /// The output cannot be written.
    #[error("cannot write: {0}")]
    Io(#[from] io::Error),
    /// Parquet refuses what it was given.
    #[error("cannot write Parquet: {0}")]
    Parquet(String),
    /// The program was built without Parquet.
    #[error("Parquet is not in this build")]
    NoParquet,
    /// A cell is not of the kind of its column.
    #[error("a cell is not of the kind of its column")]
    CellKind,
}
