//! Blocks of rows become tables: the one way into the columns, whatever the format.
//!
//! Readers fill blocks and know nothing of what becomes of them. A block is appended as it is; or its rows, each of one
//! scorer, are put together by sample and epoch; or they are distributed over several tables.

mod pivot;

use std::collections::HashMap;

use errorbar_core::ScoreColumns;
use errorbar_core::engine::{ColumnBlock, MetadataColumn};
use foldhash::fast::RandomState;
use indexmap::IndexMap;

use self::pivot::Pivot;
use super::layout::{ColumnRole, TableLayout};
use super::limits::Budget;
use super::location::RowLocations;
#[cfg(feature = "arrow")]
use super::row_groups::RowGroup;
use super::{ScoreTable, TableError, TableErrorKind, TableLocation};

/// The rows that memory is reserved for at the start, at most: the size of a file is only a hint.
const MOST_RESERVED: usize = 1 << 24;
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

/// Where the rows of a block are in the file.
#[derive(Clone, Copy)]
struct BlockPlace<'a> {
    /// How many rows were before.
    rows: u64,
    /// The lines of its rows, if they have lines.
    lines: &'a RowLocations,
}

impl BlockPlace<'_> {
    fn location(self, row: usize) -> TableLocation {
        self.lines.known(row).unwrap_or(TableLocation::Row(self.rows + row as u64 + 1))
    }

    /// What is wrong with a row of the block.
    fn error(self, kind: TableErrorKind, row: usize, block: &ColumnBlock) -> TableError {
        kind.at(self.location(row)).of_sample(block.ids.get(row)).of_part(block.labels.parts.text(row))
    }
}

/// Rows of a block, in order.
#[derive(Clone, Copy, Debug)]
enum BlockRows<'a> {
    All,
    Some(&'a [u32]),
}

impl BlockRows<'_> {
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

    /// Where the first row is, if there is one.
    pub(super) fn first_row(&self) -> Option<TableLocation> {
        self.parts.first().and_then(|(_, part)| part.locations.known(0))
    }

    /// Appends the rows of a block, which is empty afterwards. `lines` are theirs, if they have lines.
    pub(super) fn append(
        &mut self,
        layout: &TableLayout,
        block: &mut ColumnBlock,
        lines: &RowLocations,
    ) -> Result<(), TableError> {
        if block.is_empty() {
            return Ok(());
        }
        let place = BlockPlace { rows: self.rows, lines };
        if self.rows + block.len() as u64 > u64::from(u32::MAX) {
            let row = u64::from(u32::MAX) - self.rows;
            return Err(TableErrorKind::too_many_rows().at(place.location(row as usize)));
        }
        self.rows += block.len() as u64;
        if layout.is_numbered {
            block.ids = Default::default();
            (place.rows + 1..=self.rows).for_each(|number| block.ids.push(&number.to_string()));
        }
        if layout.columns.iter().any(|column| column.role == ColumnRole::Log) {
            self.append_split(layout, block, place)?;
        } else {
            let expected = self.expected;
            let part = self.parts.entry((None, None)).or_insert_with(|| TablePart::new(layout));
            part.expect(layout, block, expected);
            part.append(layout, block, BlockRows::All, place, self.budget)?;
        }
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
        place: BlockPlace<'_>,
    ) -> Result<(), TableError> {
        let mut lists: Vec<(usize, Vec<u32>)> = Vec::new();
        // The errors of all parts; the first in the file is reported.
        let mut errors = Vec::new();
        let labels = &block.labels;
        let tasks = layout.splits_tasks.then_some(&labels.tasks);
        let mut known = KnownLabels::new(labels.parts.distinct(), tasks.map_or(0, MetadataColumn::distinct));
        for row in 0..block.len() {
            let task = tasks.and_then(|tasks| tasks.code(row));
            let Some((list, is_new)) = known.number(labels.parts.code(row), task) else {
                errors.push(place.error(too_many_logs(layout), row, block));
                break;
            };
            if is_new {
                match self.part(layout, block, row) {
                    Ok(part) => lists.push((part, Vec::new())),
                    Err(kind) => {
                        errors.push(place.error(kind, row, block));
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
            errors.extend(part.append(layout, block, rows, place, self.budget).err());
        }
        errors.into_iter().min_by_key(TableError::number).map_or(Ok(()), Err)
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
            (None, Some(column)) => {
                let problem =
                    format!("the row has no value in the column `{column}`, by which the table is split");
                return Err(TableErrorKind::invalid(problem, "fill it in, or remove the row"));
            }
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
        duplicates.min_by_key(TableError::number).map_or(Ok(()), Err)?;
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
            task: part.task.flatten(),
            model: part.model.flatten(),
            split_by_task: layout.splits_tasks,
            epochs_from_zero: is_zero_based,
            locations: part.locations,
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
            part.finish().map_err(|error| error.of_part(group.as_deref()))?;
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
            return Err(TableErrorKind::bad_epoch(&u32::MAX.to_string()));
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
        let problem = format!(
            "{} rows have {} different epochs, so nearly every sample lacks nearly every epoch",
            columns.len(),
            epochs.len()
        );
        let hint = "number the runs of each sample 1, 2, …, or leave the column out if there is only one";
        return Err(TableErrorKind::invalid(problem, hint));
    }
    columns.add_absent_epochs_of(epochs);
    if !columns.unite_map_keys(budget.limit().saturating_sub(held)) {
        return Err(budget.refusal());
    }
    Ok(held)
}

/// The error of a table of too many logs, or of too many parts.
fn too_many_logs(layout: &TableLayout) -> TableErrorKind {
    let column = layout.split().unwrap_or("log");
    let hint = match column {
        "log" => "if the column is no log but metadata, rename it",
        _ => "name a column with fewer values, or split the table into several files",
    };
    let values = format!("more than {MAX_LOGS} different values, each of which would be a run");
    TableErrorKind::invalid(format!("the column `{column}` has {values}"), hint)
}

/// The columns of one table, and where their rows come from.
#[derive(Debug, Default)]
struct TablePart {
    columns: ScoreColumns,
    /// The task and the model that all of its rows have; none within if rows differ or have none.
    task: Option<Option<String>>,
    model: Option<Option<String>>,
    /// The hash bucket of each row of the columns, where a column has it.
    buckets: Vec<u16>,
    /// Where scorers have their own rows.
    pivot: Option<Pivot>,
    /// How many rows of the table came here.
    rows: u32,
    /// Where those that came here are. Unknown if rows have no order: those of many groups come mixed, and each would be a run
    /// of its own.
    locations: RowLocations,
}

impl TablePart {
    /// An empty part of a table.
    fn new(layout: &TableLayout) -> Self {
        match layout.names_scorers {
            true => TablePart { pivot: Some(Pivot::default()), ..TablePart::default() },
            false => TablePart { columns: ScoreColumns::new(&layout.scores), ..TablePart::default() },
        }
    }

    /// About how many bytes are held.
    fn heap_bytes(&self) -> u64 {
        let pivot = self.pivot.as_ref().map_or(0, Pivot::heap_bytes);
        (self.columns.heap_bytes() + pivot + self.buckets.capacity() * 2) as u64 + self.locations.heap_bytes()
    }

    /// Reserves memory, if no rows are there yet, for this many blocks like the first.
    fn expect(&mut self, layout: &TableLayout, block: &ColumnBlock, blocks: usize) {
        if self.rows == 0 && blocks > 1 && self.pivot.is_none() {
            let rows = block.len().saturating_mul(blocks).min(MOST_RESERVED);
            self.columns.reserve(rows, layout.metadata());
        }
    }

    /// Adds rows of a block.
    fn append(
        &mut self,
        layout: &TableLayout,
        block: &mut ColumnBlock,
        rows: BlockRows<'_>,
        place: BlockPlace<'_>,
        budget: Budget,
    ) -> Result<(), TableError> {
        match rows {
            _ if layout.is_unordered => {}
            BlockRows::All if place.lines.are_lines() => self.locations.append(self.rows, place.lines),
            BlockRows::All => self.locations.push(self.rows, place.location(0)),
            BlockRows::Some(rows) => (self.rows..).zip(rows).for_each(|(own, row)| {
                self.locations.push(own, place.location(*row as usize));
            }),
        }
        self.rows += rows.len(block.len()) as u32;
        note_label(&mut self.task, &block.labels.tasks, rows.iter(block.len()));
        note_label(&mut self.model, &block.labels.models, rows.iter(block.len()));
        let Some(pivot) = &mut self.pivot else {
            self.add_buckets(&block.labels.buckets, rows);
            match rows {
                BlockRows::All => self.columns.append(layout.metadata(), block),
                BlockRows::Some(rows) => self.columns.append_rows(layout.metadata(), block, rows),
            }
            return Ok(());
        };
        let new_rows = pivot
            .append(&mut self.columns, layout, block, rows, place, budget)
            .map_err(|error| error.locate_first(|row| self.location(row)))?;
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

    /// Where a row is that came here, from 0.
    fn location(&self, row: usize) -> TableLocation {
        self.locations.get(row).unwrap_or(TableLocation::Unordered)
    }

    /// The columns, if no sample has an epoch twice.
    ///
    /// The engine refuses a repeated epoch too, but it cannot report where the two rows are.
    fn finish(&mut self) -> Result<(), TableError> {
        if let Some(pivot) = self.pivot.take() {
            // Rows of the columns have lines only if each is one of the table.
            if self.rows as usize != self.columns.len() {
                self.locations = RowLocations::default();
            }
            pivot.finish(&mut self.columns);
        } else if let Some((row, first)) = self.columns.repeated_row() {
            let (epoch, first) = (self.columns.epoch(row), self.location(first));
            let kind = TableErrorKind::DuplicateRow { epoch, scorer: None, first };
            return Err(kind.at(self.location(row)).of_sample(self.columns.id(row)));
        }
        Ok(())
    }
}

/// Looks at the labels of rows that come to a part: the label that all rows have so far, or none within once they differ.
fn note_label(
    label: &mut Option<Option<String>>,
    labels: &MetadataColumn,
    rows: impl Iterator<Item = usize>,
) {
    let mut last = None;
    for row in rows {
        if *label == Some(None) {
            return;
        }
        let code = labels.code(row);
        if last == Some(code) {
            continue;
        }
        last = Some(code);
        let text = labels.text(row).filter(|text| !text.is_empty());
        match label {
            None => *label = Some(text.map(str::to_owned)),
            Some(known) if known.as_deref() == text => {}
            Some(known) => *known = None,
        }
    }
}

/// Pairs of labels, numbered as they come. Rows of many groups come mixed, so that each is looked up.
enum KnownLabels {
    /// By both codes, with one more for rows without a label: the number, from 1 on.
    Table { numbers: Vec<u32>, parts: usize, known: u32 },
    /// There may be too many pairs for a table.
    Map(HashMap<(Option<u32>, Option<u32>), u32, RandomState>),
}

impl KnownLabels {
    /// Tests have few labels, and see both.
    const MOST_IN_TABLE: usize = if cfg!(test) { 3 } else { 1 << 16 };

    /// For this many different parts and tasks.
    fn new(parts: usize, tasks: usize) -> Self {
        match (parts + 1).saturating_mul(tasks + 1) {
            size @ ..=Self::MOST_IN_TABLE => KnownLabels::Table { numbers: vec![0; size], parts, known: 0 },
            _ => KnownLabels::Map(HashMap::default()),
        }
    }

    /// The number of a pair, from 0 on, and whether it is new; none for codes beyond those that there are.
    #[inline]
    fn number(&mut self, part: Option<u32>, task: Option<u32>) -> Option<(usize, bool)> {
        match self {
            KnownLabels::Table { numbers, parts, known } => {
                let code = |label: Option<u32>| label.map_or(0, |code| code as usize + 1);
                let number = numbers.get_mut(code(task) * (*parts + 1) + code(part))?;
                let is_new = *number == 0;
                if is_new {
                    *known += 1;
                    *number = *known;
                }
                Some((*number as usize - 1, is_new))
            }
            KnownLabels::Map(map) => {
                let next = map.len() as u32;
                let number = *map.entry((part, task)).or_insert(next);
                Some((number as usize, number == next))
            }
        }
    }
}

#[cfg(test)]
mod tests;
