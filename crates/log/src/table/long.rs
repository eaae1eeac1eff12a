//! The long form: a row per sample, epoch and scorer, as logs are exported.

use std::collections::HashMap;
use std::hash::BuildHasher;

use errorbar_core::{Leaf, Score, ScoreColumns, Value};
use foldhash::fast::RandomState;
use hashbrown::HashTable;

use super::error::TableLocation;
use super::limits::Budget;
use super::row::TableRow;
use super::{ScoreTable, TableErrorKind};
use crate::json_value::MAP_ENTRY_BYTES;

/// How many scorers there may be. Every scorer has a slot in every row, so a column of distinct
/// values, taken for the scorer, would take memory by the square of its length.
const MAX_SCORERS: usize = 256;

/// The memory of an answer, explanation and reason, without their strings.
const DETAIL_BYTES: usize = 256;

/// About how many bytes a list or map holds; scalars are in the columns.
pub(super) fn value_bytes(value: &Value) -> u64 {
    let bytes = match value {
        Value::List(items) => items.len().saturating_mul(size_of::<Leaf>()),
        Value::Map(map) => map.len().saturating_mul(MAP_ENTRY_BYTES),
        _ => 0,
    };
    bytes as u64
}

/// What the cells of a row are called.
#[derive(Clone, Copy, Debug)]
pub(super) struct RowNames<'a> {
    /// The metadata.
    pub(super) metadata: &'a [String],
    /// The columns of scores.
    pub(super) scores: &'a [String],
    /// Whether the row names its scorer; else each column is one.
    pub(super) names_scorers: bool,
    /// The column that the table is split by, if every row must have a value there.
    pub(super) split: Option<&'a str>,
    /// Whether rows are numbered, because no column has their ids.
    pub(super) is_numbered: bool,
}

/// Columns that grow by one score at a time.
#[derive(Debug)]
pub(super) struct LongBuilder {
    columns: ScoreColumns,
    /// The row of each sample and epoch, looked up unless it is the one of the row before.
    rows: HashTable<u32>,
    /// Seeded per process, so that ids cannot be chosen to collide.
    hashes: RandomState,
    /// The scorers, in order of first appearance.
    scorers: HashMap<Box<str>, u32>,
    /// The scorer that rows without a score are counted under.
    seen_without: Vec<bool>,
    /// By scorer: whether it has had its row for a sample and epoch.
    seen: Vec<Vec<bool>>,
    /// For each row of the table, the sample and epoch, and the scorer; to find the first of two.
    origins: Vec<(u32, u32)>,
    budget: Budget,
    /// About how many bytes the values of lists and maps, and what is recorded beside scores, take.
    recorded: u64,
}

/// What a row takes for each scorer: a tag, a payload, and whether it is there.
const ROW_AND_SCORER: u64 = 3;
/// The memory of the columns is checked each time this many rows were pushed.
const CHECK_EVERY: usize = 1 << 14;

const NO_SCORER: u32 = u32::MAX;

impl LongBuilder {
    pub(super) fn new(budget: Budget) -> Self {
        LongBuilder {
            columns: ScoreColumns::default(),
            rows: HashTable::new(),
            hashes: RandomState::default(),
            scorers: HashMap::new(),
            seen_without: Vec::new(),
            seen: Vec::new(),
            origins: Vec::new(),
            budget,
            recorded: 0,
        }
    }

    /// How many rows of the table were pushed, the last one, that may have been refused, included.
    pub(super) fn rows(&self) -> u64 {
        self.origins.len() as u64
    }

    /// About how many bytes are held.
    pub(super) fn held(&self) -> u64 {
        let held = self.columns.heap_bytes() + self.rows.capacity() * 5 + self.origins.capacity() * 8;
        self.recorded.saturating_add(held as u64)
    }

    /// Adds a row: that of a scorer, or one in which each column is a scorer. The first row of a sample and epoch gives
    /// the metadata.
    pub(super) fn push(&mut self, row: &mut TableRow, names: RowNames<'_>) -> Result<(), TableErrorKind> {
        let RowNames { metadata, scores, names_scorers, is_numbered, .. } = names;
        if is_numbered {
            row.id = (self.rows() + 1).to_string();
        }
        if row.id.is_empty() {
            return Err(TableErrorKind::BadId("empty".to_owned()));
        }
        if names_scorers {
            let scorer = row.scorer.take().unwrap_or_default();
            let column = scores.first().map(String::as_str).unwrap_or_default();
            return self.push_score(row, metadata, 0, scorer.trim(), column);
        }
        scores.iter().enumerate().try_for_each(|(at, name)| self.push_score(row, metadata, at, name, name))
    }

    /// Adds the score of this number by this scorer.
    fn push_score(
        &mut self,
        row: &mut TableRow,
        metadata: &[String],
        number: usize,
        name: &str,
        column: &str,
    ) -> Result<(), TableErrorKind> {
        let value = row.scores.get_mut(number).and_then(Option::take);
        let scorer = match name {
            "" if value.is_some() => {
                return Err(TableErrorKind::NoScorer(column.to_owned()));
            }
            "" => NO_SCORER,
            name => self.scorer(name)?,
        };
        let epoch = row.epoch.unwrap_or(1);
        let at = self.row(row, epoch, metadata)?;
        self.origins.push((at, scorer));
        if self.origins.len().is_multiple_of(CHECK_EVERY) {
            self.budget.check(self.held())?;
        }
        self.refuse_twice(epoch, name, at, scorer)?;
        let Some(mut filled) = self.columns.row_mut(at as usize) else { return Ok(()) };
        if row.errored {
            filled = filled.errored();
        }
        if let Some(value) = value {
            let texts = [&row.answer, &row.explanation, &row.reason];
            if texts.iter().any(|text| text.is_some()) {
                let lengths: usize = texts.into_iter().flatten().map(String::len).sum();
                self.recorded += (DETAIL_BYTES + lengths) as u64;
            }
            self.recorded += value_bytes(&value);
            self.budget.check(self.recorded)?;
            let mut score = Score::new(value);
            score.answer = row.answer.take();
            score.explanation = row.explanation.take();
            score.reason = row.reason.take();
            filled.score(name, score)?;
        }
        Ok(())
    }

    fn scorer(&mut self, name: &str) -> Result<u32, TableErrorKind> {
        if let Some(number) = self.scorers.get(name) {
            return Ok(*number);
        }
        let number = self.scorers.len();
        if number >= MAX_SCORERS {
            return Err(TableErrorKind::TooManyScorers { limit: MAX_SCORERS });
        }
        self.check_grid(self.columns.len(), number + 1)?;
        self.columns.add_scorer(name);
        self.seen.push(Vec::new());
        self.scorers.insert(name.into(), number as u32);
        Ok(number as u32)
    }

    /// The row of a sample and epoch, made when it is first met.
    fn row(&mut self, row: &TableRow, epoch: u32, metadata: &[String]) -> Result<u32, TableErrorKind> {
        let columns = &self.columns;
        let is_same = |at: usize| columns.epoch(at) == epoch && columns.id(at) == row.id;
        // The scores of a sample mostly follow each other.
        if let Some(last) = columns.len().checked_sub(1).filter(|last| is_same(*last)) {
            return Ok(last as u32);
        }
        let next = u32::try_from(columns.len()).map_err(|_| TableErrorKind::TooManyRows)?;
        let hashes = &self.hashes;
        let hash = hashes.hash_one((row.id.as_str(), epoch));
        if let Some(at) = self.rows.find(hash, |at| is_same(*at as usize)) {
            return Ok(*at);
        }
        let hash_of = |at: &u32| hashes.hash_one((columns.id(*at as usize), columns.epoch(*at as usize)));
        self.rows.insert_unique(hash, next, hash_of);
        self.check_grid(self.columns.len() + 1, self.scorers.len())?;
        self.columns.push(&row.id, epoch).metadata_all(row.named_metadata(metadata));
        Ok(next)
    }

    /// Every scorer has a slot in every row, whether it has a score there or not.
    fn check_grid(&self, rows: usize, scorers: usize) -> Result<(), TableErrorKind> {
        self.budget.check((rows as u64).saturating_mul(scorers as u64).saturating_mul(ROW_AND_SCORER))
    }

    fn refuse_twice(&mut self, epoch: u32, name: &str, at: u32, scorer: u32) -> Result<(), TableErrorKind> {
        let seen = self.seen.get_mut(scorer as usize).unwrap_or(&mut self.seen_without);
        let rows = seen.len().max(at as usize + 1);
        seen.resize(rows, false);
        if !seen.get_mut(at as usize).is_some_and(|seen| std::mem::replace(seen, true)) {
            return Ok(());
        }
        let first = self.origins.iter().position(|origin| *origin == (at, scorer)).unwrap_or(0);
        Err(TableErrorKind::DuplicateScore {
            epoch,
            scorer: name.to_owned(),
            first: TableLocation::Row(first as u64 + 1),
        })
    }

    pub(super) fn finish(self, metadata_keys: Vec<String>) -> ScoreTable {
        ScoreTable { columns: self.columns, metadata_keys, ..ScoreTable::default() }
    }
}
