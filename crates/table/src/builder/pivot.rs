//! Rows of one scorer each become rows of a sample and epoch.

use std::collections::HashMap;
use std::hash::BuildHasher;

use errorbar_core::ScoreColumns;
use errorbar_core::engine::ColumnBlock;
use foldhash::fast::RandomState;
use hashbrown::HashTable;

use super::{BlockPlace, BlockRows};
use crate::layout::TableLayout;
use crate::limits::Budget;
use crate::{TableError, TableErrorKind, TableLocation};

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
pub(super) struct Pivot {
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
    pub(super) fn heap_bytes(&self) -> usize {
        let seen: usize = self.seen.iter().map(Vec::capacity).sum();
        self.rows.capacity() * 9 + self.origins.capacity() * 8 + self.errored.capacity() * 4 + seen
    }

    /// The number of the first row of the table, among those that came here, with this scorer of a row.
    pub(super) fn first_with(&self, origin: (u32, u32)) -> usize {
        self.origins.iter().position(|other| *other == origin).unwrap_or(0)
    }

    /// Adds rows of a block. The first row of a sample and epoch gives the metadata; returns these rows.
    pub(super) fn append(
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
        let epoch_of = |row: usize| if row < block.epochs.len() { block.epochs.get(row) } else { 1 };
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
        let epoch = if row < block.epochs.len() { block.epochs.get(row) } else { 1 };
        let first = TableLocation::Row(self.first_with(origin) as u64);
        TableErrorKind::DuplicateRow { epoch, scorer: Some(name.unwrap_or_default().to_owned()), first }
    }

    /// Marks the samples that errored.
    pub(super) fn finish(mut self, columns: &mut ScoreColumns) {
        self.errored.sort_unstable();
        self.errored.dedup();
        columns.mark_errored(self.errored);
    }
}

/// A hash of which the high and the low bits are as good as each other.
fn spread(bits: u32) -> u64 {
    u64::from(bits).wrapping_mul(0x9E37_79B9_7F4A_7C15)
}
