//! Scores from files, read into the columns of errorbar; and eval logs, written during a run.
//!
//! Readers stream: a piece of the file goes into [`ScoreColumns`](errorbar_core::ScoreColumns) and is
//! forgotten, so memory is that of the columns and of a few pieces, the longest row at least. Mapping whole
//! files and slicing them was rejected: it would be faster by a little, but a table that is being written
//! to would take the process down. Only the metadata that the plan needs is fetched ([`TableOptions::metadata`]).
//!
//! [`read_table`] reads score tables; [`eval`] writes eval logs and reads them.
//!
//! ```
//! use errorbar_core::Plan;
//! use errorbar_log::{TableOptions, read_table};
//!
//! # let folder = tempfile::tempdir()?;
//! # let path = folder.path().join("quiz.csv");
//! std::fs::write(&path, "id,score\nq1,C\nq2,I\nq3,C\nq4,C\n")?;
//! let table = read_table(&path, &TableOptions::new())?;
//! let results = Plan::new().evaluate(&table.columns)?.results;
//! assert_eq!(results.estimate("accuracy")?.number(), Some(0.75));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![forbid(unsafe_code)]

mod atomic_file;
mod decompress;
pub mod delimited;
pub mod eval;
pub mod export;
pub mod inspect;
mod json_value;
mod machine;
mod score_records;
mod small_file;
mod table;
mod url;

pub use atomic_file::{FileAccess, WrittenFile, write_file};
pub use decompress::DecompressedFile;
pub use machine::machine_memory;
pub use score_records::{ScoreRecord, read_score_records};
pub use small_file::read_small;
#[cfg(feature = "parquet")]
pub use table::ParquetRecords;
#[doc(hidden)]
pub use table::input;
#[cfg(feature = "arrow")]
pub use table::{ArrowTable, read_row_groups};
pub use table::{
    CellMeaning, CellReader, ColumnReason, DecimalMark, ExplainedColumn, ExplainedScores, InputFormat,
    MISSING_SPELLINGS, MappingError, MappingProblem, MemoryTables, NoScore, NoScorePolicy, NoScores,
    RowColumns, RowGroup, RowGroupError, RowLabels, ScoreScale, ScoreTable, ScoreWord, TableDoubt,
    TableError, TableErrorKind, TableExplanation, TableLimits, TableLocation, TableMapping, TableOptions,
    UnfitCells, explain_table, outline_table, read_table, read_tables,
};
pub use url::{URL_HINT, is_url};
