//! Where in a table something is.

use std::fmt;

/// Where in a table something is: the line of a text file, the row of a Parquet file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TableLocation {
    /// The line, from 1.
    Line(u64),
    /// The row, from 1.
    Row(u64),
    /// The byte where the row starts, from 0, if its line cannot be counted.
    Offset(u64),
    /// Somewhere among rows that have no order, because they are on several machines.
    Unordered,
}

impl fmt::Display for TableLocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TableLocation::Line(line) => write!(f, "on line {line}"),
            TableLocation::Row(row) => write!(f, "in row {row}"),
            TableLocation::Offset(offset) => write!(f, "at byte {offset}"),
            TableLocation::Unordered => f.write_str("there"),
        }
    }
}
