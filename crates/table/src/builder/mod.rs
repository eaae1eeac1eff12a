//! Blocks of rows become tables: the one way into the columns, whatever the format.
//!
//! Readers fill blocks and know nothing of what becomes of them. A block is appended as it is; or its rows, each of one
//! scorer, are put together by sample and epoch; or they are distributed over several tables.

mod labels;
mod part;
mod pivot;

use errorbar_core::ScoreColumns;
use errorbar_core::engine::{ColumnBlock, MetadataColumn};
use indexmap::IndexMap;

use self::labels::KnownLabels;
use self::part::TablePart;
use super::layout::{ColumnRole, TableLayout};
use super::limits::Budget;
#[cfg(feature = "arrow")]
use super::row_groups::RowGroup;
use super::{ScoreTable, TableError, TableErrorKind, TableLocation};

/// How many logs a table may be of: each has its own columns.
const MAX_LOGS: usize = 10_000;
/// What a log takes by itself.
const LOG_BYTES: u64 = 4 << 10;
/// The memory of the columns is checked after this many blocks, and at the end: adding up what is held takes a look at
/// all chunks of ids.
const CHECK_EVERY: usize = 16;

/// Tables that grow block by block.
#[derive(Debug)]
pub(super) struct TableBuilder {
    /// By the log or the value of the column that the table is split by, and in the latter case by task if tasks are apart.
    /// A table that is not split is one without a name.
    parts: IndexMap<(Option<String>, Option<String>), TablePart>,
    /// How many rows were appended.
    rows: u64,
    blocks: usize,
    /// How many blocks there will be, about.
    expected: usize,
    budget: Budget,
}

/// What is wrong with a row of a block, counted from 0, or with all.
#[derive(Debug)]
struct BlockError {
    row: Option<usize>,
    kind: Box<TableErrorKind>,
}

impl BlockError {
    fn in_row(row: usize, kind: TableErrorKind) -> Self {
        BlockError { row: Some(row), kind: Box::new(kind) }
    }
}

impl From<TableErrorKind> for BlockError {
    fn from(kind: TableErrorKind) -> Self {
        BlockError { row: None, kind: Box::new(kind) }
    }
}

/// Rows of a block, in order.
#[derive(Clone, Copy, Debug)]
enum BlockRows<'a> {
    All,
    Some(&'a [u32]),
}

/// A row of a block that does not follow the one before it, and how many rows of the block came before.
struct RunStart {
    taken: u32,
    row: u32,
}

impl<'a> BlockRows<'a> {
    fn len(self, all: usize) -> usize {
        match self {
            BlockRows::All => all,
            BlockRows::Some(rows) => rows.len(),
        }
    }

    fn iter(self, all: usize) -> impl Iterator<Item = usize> {
        (0..self.len(all)).map(move |at| match self {
            BlockRows::All => at,
            BlockRows::Some(rows) => rows.get(at).map_or(0, |row| *row as usize),
        })
    }

    fn starts(self) -> impl Iterator<Item = RunStart> {
        let rows = match self {
            BlockRows::All => &[0],
            BlockRows::Some(rows) => rows,
        };
        let mut expected = None;
        (0..).zip(rows.iter().copied()).filter_map(move |(taken, row)| {
            let follows = expected == Some(row);
            expected = Some(row + 1);
            (!follows).then_some(RunStart { taken, row })
        })
    }
}

impl TableBuilder {
    pub(super) fn new(budget: Budget) -> Self {
        TableBuilder { parts: IndexMap::new(), rows: 0, blocks: 0, expected: 1, budget }
    }

    /// A builder of about this many blocks.
    pub(super) fn of_blocks(budget: Budget, expected: usize) -> Self {
        TableBuilder { expected, ..TableBuilder::new(budget) }
    }

    /// How many rows were appended.
    pub(super) fn rows(&self) -> u64 {
        self.rows
    }

    /// About how many bytes are held.
    pub(super) fn heap_bytes(&self) -> u64 {
        self.parts.values().map(|part| LOG_BYTES + part.heap_bytes()).sum()
    }

    /// Appends the rows of a block, which is empty afterwards. An error has the number of the row in the table.
    pub(super) fn append(&mut self, layout: &TableLayout, block: &mut ColumnBlock) -> Result<(), TableError> {
        if block.is_empty() {
            return Ok(());
        }
        let start = self.rows;
        if start + block.len() as u64 > u64::from(u32::MAX) {
            return Err(TableErrorKind::TooManyRows.in_row(u64::from(u32::MAX) + 1));
        }
        self.rows += block.len() as u64;
        if layout.is_numbered {
            block.ids = Default::default();
            (start + 1..=self.rows).for_each(|number| block.ids.push(&number.to_string()));
        }
        let appended = match layout.columns.iter().any(|column| column.role == ColumnRole::Log) {
            true => self.append_split(layout, block, start as u32),
            false => {
                let expected = self.expected;
                let part = self.parts.entry((None, None)).or_insert_with(|| TablePart::new(layout));
                part.expect(layout, block, expected);
                part.append(layout, block, BlockRows::All, start as u32, self.budget)
            }
        };
        appended.map_err(|BlockError { row, kind }| match row {
            Some(row) => {
                let error = kind.in_row(start + row as u64 + 1).of_sample(block.ids.get(row));
                error.of_part(block.labels.parts.text(row))
            }
            None => (*kind).into(),
        })?;
        block.clear();
        self.blocks += 1;
        if self.blocks.is_multiple_of(CHECK_EVERY) {
            self.budget.check(self.heap_bytes())?;
        }
        Ok(())
    }

    /// Distributes the rows of a block over the parts that they name.
    fn append_split(
        &mut self,
        layout: &TableLayout,
        block: &mut ColumnBlock,
        start: u32,
    ) -> Result<(), BlockError> {
        let mut lists: Vec<(usize, Vec<u32>)> = Vec::new();
        // The errors of all parts; the first in the file is reported.
        let mut errors = Vec::new();
        let labels = &block.labels;
        let tasks = layout.splits_tasks.then_some(&labels.tasks);
        let mut known = KnownLabels::new(labels.parts.distinct(), tasks.map_or(0, MetadataColumn::distinct));
        for row in 0..block.len() {
            let task = tasks.and_then(|tasks| tasks.code(row));
            let Some((list, is_new)) = known.number(labels.parts.code(row), task) else {
                errors.push(BlockError::in_row(row, too_many_logs(layout)));
                break;
            };
            if is_new {
                match self.part(layout, block, row) {
                    Ok(part) => lists.push((part, Vec::new())),
                    Err(kind) => {
                        errors.push(BlockError::in_row(row, kind));
                        break;
                    }
                }
            }
            if let Some((_, rows)) = lists.get_mut(list) {
                rows.push(row as u32);
            }
        }
        let all = block.len();
        for (part, rows) in &lists {
            let rows = if rows.len() == all { BlockRows::All } else { BlockRows::Some(rows) };
            let Some((_, part)) = self.parts.get_index_mut(*part) else { continue };
            errors.extend(part.append(layout, block, rows, start, self.budget).err());
        }
        errors.into_iter().min_by_key(|error| error.row).map_or(Ok(()), Err)
    }

    /// The part of a row, made when it is first met.
    fn part(
        &mut self,
        layout: &TableLayout,
        block: &ColumnBlock,
        row: usize,
    ) -> Result<usize, TableErrorKind> {
        let labels = &block.labels;
        let name = text(&labels.parts, row).filter(|name| !name.is_empty());
        let task = if layout.splits_tasks { text(&labels.tasks, row) } else { None };
        let key = match (name, layout.split()) {
            (None, Some(column)) => return Err(TableErrorKind::EmptySplit(column.to_owned())),
            (name, _) => (name, task),
        };
        if let Some(part) = self.parts.get_index_of(&key) {
            return Ok(part);
        }
        if self.parts.len() == MAX_LOGS {
            return Err(too_many_logs(layout));
        }
        Ok(self.parts.insert_full(key, TablePart::new(layout)).0)
    }

    /// The tables, one for each part.
    pub(super) fn finish(mut self, layout: &TableLayout) -> Result<Vec<ScoreTable>, TableError> {
        if self.parts.is_empty() {
            self.parts.insert((None, None), TablePart::new(layout));
        }
        // With what was needed to put rows together, which goes now.
        self.budget.check(self.heap_bytes())?;
        let duplicates = self.parts.values_mut().filter_map(|part| part.finish().err());
        if let Some((_, error)) = duplicates.min_by_key(|(row, _)| *row) {
            return Err(error);
        }
        let is_zero_based = self.count_epochs_from_one()?;
        let mut others = self.heap_bytes();
        self.budget.check(others)?;
        let rows: Vec<usize> = self.parts.values().map(|part| part.columns.len()).collect();
        for part in self.parts.values_mut() {
            // Parts need not have been run as often as each other.
            let epochs = part.columns.distinct_epochs();
            others = complete(&mut part.columns, &epochs, others, self.budget)?;
        }
        let table = |(((log, _), part), rows): (((Option<String>, _), TablePart), usize)| ScoreTable {
            rows,
            columns: part.columns,
            metadata_keys: layout.metadata_keys.clone(),
            log,
            task: part.task.constant(),
            model: part.model.constant(),
            split_by_task: layout.splits_tasks,
            epochs_from_zero: is_zero_based,
            ..ScoreTable::default()
        };
        Ok(self.parts.into_iter().zip(rows).map(table).collect())
    }

    /// The rows of each group as they are, where others are on other machines: what depends on all rows of a table is not
    /// done. A group is made when it is its turn, because what is done with it next finds its rows in the caches then.
    #[cfg(feature = "arrow")]
    pub(super) fn finish_groups(
        self,
        has_buckets: bool,
    ) -> Result<impl Iterator<Item = Result<RowGroup, TableError>>, TableError> {
        self.budget.check(self.heap_bytes())?;
        Ok(self.parts.into_iter().map(move |((group, _), mut part)| {
            part.finish().map_err(|(_, error)| error.of_part(group.as_deref()))?;
            let TablePart { columns, buckets, .. } = part;
            Ok(RowGroup { group, columns, buckets: has_buckets.then_some(buckets) })
        }))
    }

    /// Counts the epochs of a table that starts at 0 one higher; whether it does.
    fn count_epochs_from_one(&mut self) -> Result<bool, TableErrorKind> {
        let mut columns: Vec<&mut ScoreColumns> =
            self.parts.values_mut().map(|part| &mut part.columns).collect();
        count_epochs_from_one(&mut columns)
    }
}

/// Counts the epochs of columns of which some start at 0 one higher; whether they do.
fn count_epochs_from_one(columns: &mut [&mut ScoreColumns]) -> Result<bool, TableErrorKind> {
    let epochs: Vec<Vec<u32>> = columns.iter().map(|columns| columns.distinct_epochs()).collect();
    let is_zero_based = epochs.iter().any(|epochs| epochs.first() == Some(&0));
    if is_zero_based {
        if epochs.iter().any(|epochs| epochs.last() == Some(&u32::MAX)) {
            return Err(TableErrorKind::BadEpoch(u32::MAX.to_string()));
        }
        columns.iter_mut().for_each(|columns| columns.shift_epochs());
    }
    Ok(is_zero_based)
}

/// A table of rows that were read in parts: does what depends on all of them.
pub(super) fn table_of(mut columns: ScoreColumns, budget: Budget) -> Result<ScoreTable, TableError> {
    let rows = columns.len();
    let epochs_from_zero = count_epochs_from_one(&mut [&mut columns])?;
    let epochs = columns.distinct_epochs();
    let held = columns.heap_bytes() as u64;
    complete(&mut columns, &epochs, held, budget)?;
    Ok(ScoreTable { rows, columns, epochs_from_zero, ..ScoreTable::default() })
}

/// The label of a row.
fn text(labels: &MetadataColumn, row: usize) -> Option<String> {
    labels.text(row).map(str::to_owned)
}

/// Adds what samples lack: those of these epochs that they do not have, without a score, and keys of maps. `held` is what all
/// tables hold before; returns what they hold afterwards.
fn complete(
    columns: &mut ScoreColumns,
    epochs: &[u32],
    held: u64,
    budget: Budget,
) -> Result<u64, TableErrorKind> {
    let absent = columns.absent_epochs_of(epochs);
    let rows = columns.len() as u64;
    // They take what the other rows take, about.
    let bytes = (columns.heap_bytes() as u64 / rows.max(1) + 1).saturating_mul(absent);
    let held = held.saturating_add(bytes);
    if absent > 0 && (held > budget.limit() || rows + absent > u64::from(u32::MAX)) {
        let (epochs, rows) = (epochs.len(), columns.len());
        return Err(TableErrorKind::ScatteredEpochs { epochs, rows });
    }
    columns.add_absent_epochs_of(epochs);
    if !columns.unite_map_keys(budget.limit().saturating_sub(held)) {
        return Err(budget.refusal());
    }
    Ok(held)
}

#[cfg(test)]
mod tests;

/// The error of a table of too many logs, or of too many parts.
fn too_many_logs(layout: &TableLayout) -> TableErrorKind {
    TableErrorKind::TooManyLogs { column: layout.split().unwrap_or("log").to_owned(), limit: MAX_LOGS }
}
