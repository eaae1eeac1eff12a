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
    /// Somewhere among rows that have no order, because they are on several machines.
    Unordered,
}

impl fmt::Display for TableLocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TableLocation::Line(line) => write!(f, "on line {line}"),
            TableLocation::Row(row) => write!(f, "in row {row}"),
            TableLocation::Unordered => f.write_str("there"),
        }
    }
}

/// Where rows are in their file.
#[derive(Clone, Debug, Default)]
pub struct RowLocations {
    /// A row and its line, or its number, where a run of rows that follow each other begins.
    runs: Vec<(u32, u32)>,
    kind: RowOrder,
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
enum RowOrder {
    Lines,
    #[default]
    Numbers,
    /// They were on several machines.
    None,
}

impl RowLocations {
    /// Those of rows without an order.
    pub(super) fn unordered() -> Self {
        RowLocations { runs: Vec::new(), kind: RowOrder::None }
    }

    /// Where a row is, from 0; none if rows have no order.
    pub fn get(&self, row: usize) -> Option<TableLocation> {
        let number = || self.known(row).unwrap_or(TableLocation::Row(row as u64 + 1));
        (self.kind != RowOrder::None).then(number)
    }

    /// Where a row is, if that was noted.
    pub(super) fn known(&self, row: usize) -> Option<TableLocation> {
        let runs = self.runs.partition_point(|(first, _)| *first as usize <= row);
        let (first, number) = self.runs.get(runs.checked_sub(1)?)?;
        let number = (*number as usize + row - *first as usize) as u64;
        Some(if self.are_lines() { TableLocation::Line(number) } else { TableLocation::Row(number) })
    }

    pub(super) fn are_lines(&self) -> bool {
        self.kind == RowOrder::Lines
    }

    /// Forgets all, to note the lines of other rows.
    pub(super) fn restart(&mut self) {
        self.runs.clear();
        self.kind = RowOrder::Lines;
    }

    /// Notes where a row is, which comes after those before. No table has rows beyond 32 bits.
    pub(super) fn push(&mut self, row: u32, at: TableLocation) {
        let (number, kind) = match at {
            TableLocation::Line(line) => (line, RowOrder::Lines),
            TableLocation::Row(row) => (row, RowOrder::Numbers),
            TableLocation::Unordered => return,
        };
        let number = u32::try_from(number).unwrap_or(u32::MAX);
        self.kind = kind;
        if self.runs.last().is_none_or(|(first, at)| number.wrapping_sub(*at) != row.wrapping_sub(*first)) {
            self.runs.push((row, number));
        }
    }

    /// Notes rows that come behind this number of others.
    pub(super) fn append(&mut self, rows: u32, more: &RowLocations) {
        for (row, _) in &more.runs {
            more.known(*row as usize).into_iter().for_each(|at| self.push(rows.saturating_add(*row), at));
        }
    }

    pub(super) fn heap_bytes(&self) -> u64 {
        (self.runs.capacity() * size_of::<(u32, u32)>()) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_know_their_lines() {
        let mut lines = RowLocations::default();
        for (row, line) in [(0, 2), (1, 3), (2, 7), (3, 8)] {
            lines.push(row, TableLocation::Line(line));
        }
        let mut more = RowLocations::default();
        more.push(0, TableLocation::Line(9));
        more.push(1, TableLocation::Line(11));
        lines.append(4, &more);
        let found: Vec<_> = (0..6).map(|row| lines.get(row).unwrap()).collect();
        assert_eq!(found, [2, 3, 7, 8, 9, 11].map(TableLocation::Line));
        assert_eq!(lines.runs.len(), 3);
        assert_eq!(RowLocations::default().get(3), Some(TableLocation::Row(4)));
        assert_eq!(RowLocations::unordered().get(3), None);
    }
}
