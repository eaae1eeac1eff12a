//! Blocks of rows become tables: the one way into the columns, whatever the format.
//!
//! Readers fill blocks and know nothing of what becomes of them. A block is appended as it is; or its rows, each of one
//! scorer, are put together by sample and epoch; or they are distributed over several tables.

use std::collections::HashMap;
use std::hash::BuildHasher;

use errorbar_core::ScoreColumns;
use errorbar_core::engine::{ColumnBlock, MetadataColumn};
use foldhash::fast::RandomState;
use hashbrown::HashTable;
use indexmap::IndexMap;

use super::layout::{ColumnRole, TableLayout};
use super::limits::Budget;
use super::location::RowLocations;
use super::{ScoreTable, TableError, TableErrorKind, TableLocation};

#[cfg(feature = "arrow")]
use super::row_groups::RowGroup;

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
        // Rows of many groups come mixed, so that each is looked up.
        let mut known: HashMap<(Option<u32>, Option<u32>), usize, RandomState> = HashMap::default();
        for row in 0..block.len() {
            let task = tasks.and_then(|tasks| tasks.code(row));
            let next = known.len();
            let list = *known.entry((labels.parts.code(row), task)).or_insert(next);
            if list == next {
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
        let mut columns: Vec<_> = self.parts.values_mut().map(|part| &mut part.columns).collect();
        let is_zero_based = count_epochs_from_one(&mut columns)?;
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

/// How many scorers there may be. Every scorer has a slot in every row, so a column of distinct
/// values, taken for the scorer, would take memory by the square of its length.
const MAX_SCORERS: usize = 256;

/// What a row takes for each scorer: a tag, a payload, and whether it is there.
const ROW_AND_SCORER: u64 = 3;

/// The scorer of rows without a score.
const NO_SCORER: u32 = 0;
/// What is not looked up yet.
const UNKNOWN: u32 = u32::MAX;

/// Which rows of a table make which rows of columns.
#[derive(Debug)]
struct Pivot {
    /// The row of each sample and epoch, with bits of its hash: few strings are compared, and none when the table grows.
    rows: HashTable<(u32, u32)>,
    /// Seeded per process, so that ids cannot be chosen to collide.
    hashes: RandomState,
    /// The scorers, in order of first appearance, from 1 on.
    scorers: HashMap<Box<str>, u32>,
    /// By scorer: whether it has had its row for a sample and epoch.
    seen: Vec<Vec<bool>>,
    /// For each row of the table the row of the columns, and the scorer; to find the first of two.
    origins: Vec<(u32, u32)>,
    /// The rows of the columns whose sample errored, in any order.
    errored: Vec<u32>,
    /// The row that was filled last.
    last: u32,
}

impl Default for Pivot {
    fn default() -> Self {
        Pivot {
            rows: HashTable::new(),
            hashes: RandomState::default(),
            scorers: HashMap::new(),
            seen: vec![Vec::new()],
            origins: Vec::new(),
            errored: Vec::new(),
            last: 0,
        }
    }
}

/// Which row of the columns each row of a block goes to.
#[derive(Default)]
struct Targets {
    /// The rows of the block that begin a row of the columns.
    new_rows: Vec<u32>,
    /// By scorer, from which row of the block to which of the columns a score goes.
    cells: Vec<Vec<(u32, u32)>>,
}

impl Pivot {
    /// About how many bytes are held.
    fn heap_bytes(&self) -> usize {
        let seen: usize = self.seen.iter().map(Vec::capacity).sum();
        self.rows.capacity() * 9 + self.origins.capacity() * 8 + self.errored.capacity() * 4 + seen
    }

    /// The number of the first row of the table, among those that came here, with this scorer of a row.
    fn first_with(&self, origin: (u32, u32)) -> usize {
        self.origins.iter().position(|other| *other == origin).unwrap_or(0)
    }

    /// Adds rows of a block. The first row of a sample and epoch gives the metadata; returns these rows.
    fn append(
        &mut self,
        columns: &mut ScoreColumns,
        layout: &TableLayout,
        block: &mut ColumnBlock,
        rows: BlockRows<'_>,
        place: BlockPlace<'_>,
        budget: Budget,
    ) -> Result<Vec<u32>, TableError> {
        let mut targets = Targets::default();
        let mut numbers = vec![UNKNOWN; block.labels.scorers.distinct()];
        let mut errored = block.errored.iter().copied().peekable();
        for row in rows.iter(block.len()) {
            let scorer = self
                .scorer_of(row, block, &mut numbers, columns, budget)
                .map_err(|kind| place.error(kind, row, block))?;
            let is_scored = block.scores.first().and_then(|scores| scores.is_scored(row));
            if scorer == NO_SCORER && is_scored == Some(true) {
                let column = layout.scores.first().map(String::as_str).unwrap_or_default();
                let problem = format!("the row has a score in `{column}`, but its `scorer` is empty");
                let hint = "name the scorer in every row with a score, or remove the column `scorer`";
                return Err(place.error(TableErrorKind::invalid(problem, hint), row, block));
            }
            let target = self.target(row, block, columns, &mut targets);
            self.origins.push((target, scorer));
            if self.is_seen(target, scorer) {
                return Err(place.error(self.duplicate(row, block, columns, scorer), row, block));
            }
            // Those between are rows of other parts.
            while errored.next_if(|errored| (*errored as usize) < row).is_some() {}
            if errored.next_if(|errored| *errored as usize == row).is_some() {
                self.errored.push(target);
            }
            if scorer != NO_SCORER {
                let scorer = scorer as usize;
                targets.cells.resize_with(targets.cells.len().max(scorer), Vec::new);
                if let Some(cells) = targets.cells.get_mut(scorer - 1) {
                    cells.push((row as u32, target));
                }
            }
        }
        // Every scorer has a slot in every row, whether it has a score there or not.
        let all_rows = (columns.len() + targets.new_rows.len()) as u64;
        budget.check(all_rows.saturating_mul(self.scorers.len() as u64).saturating_mul(ROW_AND_SCORER))?;
        columns.append_samples(layout.metadata(), block, &targets.new_rows);
        for (scorer, cells) in targets.cells.iter().enumerate().filter(|(_, cells)| !cells.is_empty()) {
            columns.fill_details(scorer, block, 0, cells);
            columns.fill_scores(scorer, block, 0, cells);
        }
        Ok(targets.new_rows)
    }

    /// The scorer of a row of a block; each name of the block is looked up once.
    fn scorer_of(
        &mut self,
        row: usize,
        block: &ColumnBlock,
        numbers: &mut [u32],
        columns: &mut ScoreColumns,
        budget: Budget,
    ) -> Result<u32, TableErrorKind> {
        let names = &block.labels.scorers;
        let Some(code) = names.code(row) else { return Ok(NO_SCORER) };
        let Some(number) = numbers.get_mut(code as usize) else { return Ok(NO_SCORER) };
        if *number == UNKNOWN {
            let name = names.text(row).unwrap_or_default().trim();
            *number = match self.scorers.get(name) {
                _ if name.is_empty() => NO_SCORER,
                Some(number) => *number,
                None if self.scorers.len() >= MAX_SCORERS => {
                    return Err(TableErrorKind::TooManyScorers { limit: MAX_SCORERS });
                }
                None => {
                    let number = self.scorers.len() as u32 + 1;
                    let slots = (columns.len() as u64).saturating_mul(u64::from(number));
                    budget.check(slots.saturating_mul(ROW_AND_SCORER))?;
                    columns.add_scorer(name);
                    self.seen.push(Vec::new());
                    self.scorers.insert(name.into(), number);
                    number
                }
            };
        }
        Ok(*number)
    }

    /// The row of the columns for a row of a block, made when its sample and epoch are first met.
    #[inline]
    fn target(
        &mut self,
        row: usize,
        block: &ColumnBlock,
        columns: &ScoreColumns,
        targets: &mut Targets,
    ) -> u32 {
        let Targets { new_rows, .. } = targets;
        let known = columns.len();
        let epoch_of = |row: usize| block.epochs.get(row).copied().unwrap_or(1);
        let (id, epoch) = (block.ids.bytes_of(row), epoch_of(row));
        let is_same = |at: u32| match (at as usize).checked_sub(known) {
            None => columns.epoch(at as usize) == epoch && columns.id_bytes(at as usize) == id,
            Some(new) => new_rows.get(new).is_some_and(|other| {
                let other = *other as usize;
                epoch_of(other) == epoch && block.ids.bytes_of(other) == id
            }),
        };
        // The scores of a sample mostly follow each other; else all of one scorer come in the same order as those before.
        let next = (known + new_rows.len()) as u32;
        for guess in [self.last, self.last + 1] {
            if guess < next && is_same(guess) {
                self.last = guess;
                return guess;
            }
        }
        let bits = self.hashes.hash_one((id, epoch)) as u32;
        let found = self.rows.find(spread(bits), |(other, at)| *other == bits && is_same(*at));
        self.last = match found {
            Some((_, at)) => *at,
            None => {
                self.rows.insert_unique(spread(bits), (bits, next), |(bits, _)| spread(*bits));
                new_rows.push(row as u32);
                next
            }
        };
        self.last
    }

    /// Whether the scorer has had this row already; it has from now on.
    fn is_seen(&mut self, target: u32, scorer: u32) -> bool {
        let Some(seen) = self.seen.get_mut(scorer as usize) else { return false };
        let target = target as usize;
        if target >= seen.len() {
            seen.resize(target + 1, false);
        }
        seen.get_mut(target).is_some_and(|seen| std::mem::replace(seen, true))
    }

    /// The error of the row that came last, whose sample and epoch the scorer has scored before.
    fn duplicate(
        &self,
        row: usize,
        block: &ColumnBlock,
        columns: &ScoreColumns,
        scorer: u32,
    ) -> TableErrorKind {
        let name = (scorer as usize).checked_sub(1).and_then(|at| columns.scorer_names().nth(at));
        let origin = self.origins.last().copied().unwrap_or_default();
        let epoch = block.epochs.get(row).copied().unwrap_or(1);
        let first = TableLocation::Row(self.first_with(origin) as u64);
        TableErrorKind::DuplicateRow { epoch, scorer: Some(name.unwrap_or_default().to_owned()), first }
    }

    /// Marks the samples that errored.
    fn finish(mut self, columns: &mut ScoreColumns) {
        self.errored.sort_unstable();
        self.errored.dedup();
        columns.mark_errored(self.errored);
    }
}

/// A hash of which the high and the low bits are as good as each other.
fn spread(bits: u32) -> u64 {
    u64::from(bits).wrapping_mul(0x9E37_79B9_7F4A_7C15)
}

#[cfg(test)]
mod tests;
