//! One of the tables that rows go into.

use errorbar_core::ScoreColumns;
use errorbar_core::engine::ColumnBlock;

use super::labels::PartLabel;
use super::pivot::Pivot;
use super::{BlockError, BlockRows};
use crate::layout::TableLayout;
use crate::limits::Budget;
use crate::{TableError, TableErrorKind, TableLocation};

/// The rows that memory is reserved for at the start, at most: the size of a file is only a hint.
const MOST_RESERVED: usize = 1 << 24;

/// The columns of one table, and where their rows come from.
#[derive(Debug, Default)]
pub(super) struct TablePart {
    pub(super) columns: ScoreColumns,
    pub(super) task: PartLabel,
    pub(super) model: PartLabel,
    /// The hash bucket of each row of the columns, where a column has it.
    pub(super) buckets: Vec<u16>,
    /// Where scorers have their own rows.
    pivot: Option<Pivot>,
    /// How many rows of the table came here.
    rows: u32,
    /// Where rows that follow each other begin: the number of the first among those that came here, and in the table. Empty
    /// if rows have no order: those of many groups come mixed, and each would be a run of its own.
    runs: Vec<(u32, u32)>,
}

impl TablePart {
    /// An empty part of a table.
    pub(super) fn new(layout: &TableLayout) -> Self {
        match layout.names_scorers {
            true => TablePart { pivot: Some(Pivot::default()), ..TablePart::default() },
            false => TablePart { columns: ScoreColumns::new(&layout.scores), ..TablePart::default() },
        }
    }

    /// About how many bytes are held.
    pub(super) fn heap_bytes(&self) -> u64 {
        let pivot = self.pivot.as_ref().map_or(0, Pivot::heap_bytes);
        (self.columns.heap_bytes() + pivot + self.runs.capacity() * 8 + self.buckets.capacity() * 2) as u64
    }

    /// Reserves memory, if no rows are there yet, for this many blocks like the first.
    pub(super) fn expect(&mut self, layout: &TableLayout, block: &ColumnBlock, blocks: usize) {
        if self.rows == 0 && blocks > 1 && self.pivot.is_none() {
            let rows = block.len().saturating_mul(blocks).min(MOST_RESERVED);
            self.columns.reserve(rows, layout.metadata());
        }
    }

    /// Adds rows of a block that starts with this row of the table, counted from 0.
    pub(super) fn append(
        &mut self,
        layout: &TableLayout,
        block: &mut ColumnBlock,
        rows: BlockRows<'_>,
        start: u32,
        budget: Budget,
    ) -> Result<(), BlockError> {
        for row in rows.starts().filter(|_| !layout.is_unordered) {
            let (own, table) = (self.rows + row.taken, start + row.row);
            // The difference is the same as long as rows follow each other.
            if self.runs.last().is_none_or(|(run, first)| table - first != own - run) {
                self.runs.push((own, table));
            }
        }
        self.rows += rows.len(block.len()) as u32;
        self.task.add(&block.labels.tasks, rows.iter(block.len()));
        self.model.add(&block.labels.models, rows.iter(block.len()));
        let Some(pivot) = &mut self.pivot else {
            self.add_buckets(&block.labels.buckets, rows);
            match rows {
                BlockRows::All => self.columns.append(layout.metadata(), block),
                BlockRows::Some(rows) => self.columns.append_rows(layout.metadata(), block, rows),
            }
            return Ok(());
        };
        let new_rows =
            pivot.append(&mut self.columns, layout, block, rows, budget).map_err(|mut error| {
                if let TableErrorKind::DuplicateScore { first: TableLocation::Row(row), .. } =
                    &mut *error.kind
                {
                    *row = self.row_in_table(*row);
                }
                error
            })?;
        self.add_buckets(&block.labels.buckets, BlockRows::Some(&new_rows));
        Ok(())
    }

    /// Adds the buckets of rows, given those of all rows of a block.
    fn add_buckets(&mut self, buckets: &[u16], rows: BlockRows<'_>) {
        match rows {
            BlockRows::All => self.buckets.extend_from_slice(buckets),
            BlockRows::Some(rows) => {
                self.buckets.extend(rows.iter().filter_map(|row| buckets.get(*row as usize)));
            }
        }
    }

    /// The row of the table, from 1, of one that came here, from 0.
    fn row_in_table(&self, row: u64) -> u64 {
        let run = self.runs.iter().rev().find(|(own, _)| u64::from(*own) <= row);
        1 + run.map_or(row, |(own, table)| u64::from(*table) + (row - u64::from(*own)))
    }

    /// The columns, if no sample has an epoch twice; else the row of the error as well.
    ///
    /// The engine refuses a repeated epoch too, but it cannot report where the two rows are.
    pub(super) fn finish(&mut self) -> Result<(), (u64, TableError)> {
        if let Some(pivot) = self.pivot.take() {
            pivot.finish(&mut self.columns);
        } else if let Some((row, first)) = self.columns.repeated_row() {
            let (number, first) = (self.row_in_table(row as u64), self.row_in_table(first as u64));
            let (epoch, first) = (self.columns.epoch(row), TableLocation::Row(first));
            let kind = TableErrorKind::DuplicateRow { epoch, first };
            return Err((number, kind.in_row(number).of_sample(self.columns.id(row))));
        }
        Ok(())
    }
}
