//! Rows that are put together from records of a tool.

use std::borrow::Cow;

use indexmap::{IndexMap, IndexSet};
use jiter::JsonValue;

use crate::input::json::{Records, write_row};
use crate::{TableErrorKind, TableLocation};

/// Which row it is.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct RowKey {
    /// The run that it is of, if there are several.
    pub(super) log: Option<String>,
    pub(super) id: String,
    pub(super) epoch: u32,
}

#[derive(Debug, Default)]
struct ToolRow {
    scores: IndexMap<String, JsonValue<'static>>,
    metadata: IndexMap<String, JsonValue<'static>>,
    /// The record that it was made of first.
    record: usize,
}

/// Rows by their keys, in the order in which they come.
#[derive(Debug, Default)]
pub(super) struct ToolRows {
    rows: IndexMap<RowKey, ToolRow>,
    scores: IndexSet<String>,
    /// Columns that are numbers, but no scores.
    other: IndexSet<String>,
    pub(super) unread: IndexSet<String>,
    /// The name of the column of ids, if a user names one.
    id_name: Option<String>,
}

/// Names that columns of scores cannot have, because they mean something else.
const RESERVED: [&str; 6] = ["id", "epoch", "log", "model", "scorer", "task"];

impl ToolRows {
    /// No rows yet; their ids are in a column of this name, or in `id`.
    pub(super) fn named(id_name: Option<String>) -> Self {
        ToolRows { id_name, ..ToolRows::default() }
    }

    /// The row of a key, there even if no score comes.
    pub(super) fn touch(&mut self, key: &RowKey, record: usize) {
        self.row(key, record);
    }

    fn row(&mut self, key: &RowKey, record: usize) -> &mut ToolRow {
        if !self.rows.contains_key(key) {
            self.rows.insert(key.clone(), ToolRow { record, ..ToolRow::default() });
        }
        self.rows.entry(key.clone()).or_default()
    }

    /// Adds a score.
    pub(super) fn score(
        &mut self,
        key: &RowKey,
        record: usize,
        name: &str,
        value: &JsonValue<'_>,
    ) -> Result<(), TableErrorKind> {
        let name = column(name);
        self.other.shift_remove(&name);
        self.scores.insert(name.clone());
        self.cell(key, record, name, value)
    }

    /// Adds a number that is no score unless a user says so.
    pub(super) fn figure(
        &mut self,
        key: &RowKey,
        record: usize,
        name: &str,
        value: &JsonValue<'_>,
    ) -> Result<(), TableErrorKind> {
        let name = column(name);
        if !self.scores.contains(&name) {
            self.other.insert(name.clone());
        }
        self.cell(key, record, name, value)
    }

    fn cell(
        &mut self,
        key: &RowKey,
        record: usize,
        name: String,
        value: &JsonValue<'_>,
    ) -> Result<(), TableErrorKind> {
        let row = self.row(key, record);
        let first = row.record;
        match row.scores.insert(name.clone(), value.to_static()) {
            None => Ok(()),
            Some(_) => Err(TableErrorKind::DuplicateScore {
                epoch: key.epoch,
                scorer: name,
                first: TableLocation::Row(first as u64 + 1),
            }),
        }
    }

    /// Adds a value that is known of a sample; long ones are left out.
    pub(super) fn metadata(&mut self, key: &RowKey, record: usize, name: String, value: &JsonValue<'_>) {
        const LONGEST: usize = 200;
        let is_short = match value {
            JsonValue::Str(text) => text.len() <= LONGEST,
            JsonValue::Array(_) | JsonValue::Object(_) | JsonValue::Null => false,
            _ => true,
        };
        if is_short {
            let value = value.to_static();
            self.row(key, record).metadata.entry(name).or_insert(value);
        }
    }

    /// Whether no record has a score.
    pub(super) fn has_no_scores(&self) -> bool {
        self.scores.is_empty()
    }

    pub(super) fn finish(self, tool: &'static str) -> Records {
        let mut records = Records { tool: Some(tool), ..Records::default() };
        let id_name = self.id_name.as_deref().unwrap_or("id");
        let has_epochs = self.rows.keys().any(|key| key.epoch > 1);
        for (key, row) in &self.rows {
            let (id, epoch) = (JsonValue::Str(key.id.as_str().into()), JsonValue::Int(i64::from(key.epoch)));
            let log = key.log.as_deref().map(|log| JsonValue::Str(log.into()));
            let log = log.iter().flat_map(|log| [(Cow::from("log"), log), (Cow::from("model"), log)]);
            let own = log
                .chain([(Cow::from(id_name), &id)])
                .chain(has_epochs.then_some((Cow::from("epoch"), &epoch)));
            let scores = row.scores.iter().map(|(name, value)| (Cow::from(name.as_str()), value));
            let is_free = |name: &str| {
                name != id_name
                    && !RESERVED.contains(&name)
                    && !self.scores.contains(name)
                    && !self.other.contains(name)
            };
            let metadata = row
                .metadata
                .iter()
                .filter(|(name, _)| is_free(name))
                .map(|(name, value)| (Cow::from(name.as_str()), value));
            write_row(&mut records.lines, own.chain(scores).chain(metadata));
        }
        records.score_columns = self.scores.into_iter().collect();
        records.unread = self.unread.into_iter().collect();
        records
    }
}

fn column(name: &str) -> String {
    if RESERVED.contains(&name) { format!("{name} (score)") } else { name.to_owned() }
}

/// Tells repeats of the same sample from different samples. Tools that repeat a run mark the repeats nowhere, but they
/// repeat all of it: if every sample comes as often as every other, and more than once, those are its epochs.
pub(super) fn repeats<'k>(samples: impl Iterator<Item = &'k str>) -> Option<Vec<u32>> {
    let samples: Vec<&str> = samples.collect();
    let mut counts: IndexMap<&str, u32> = IndexMap::new();
    samples.iter().for_each(|sample| *counts.entry(sample).or_default() += 1);
    let epochs = occurrences(samples.into_iter());
    let first = counts.values().next().copied().filter(|first| *first > 1)?;
    counts.values().all(|count| *count == first).then_some(epochs)
}

/// The how-manieth of its sample each row is, from 1.
pub(super) fn occurrences<'k>(samples: impl Iterator<Item = &'k str>) -> Vec<u32> {
    let mut counts: IndexMap<&str, u32> = IndexMap::new();
    let mut number = |sample| {
        let count = counts.entry(sample).or_default();
        *count += 1;
        *count
    };
    samples.map(&mut number).collect()
}

/// Whether no sample comes twice.
pub(super) fn are_unique<'k>(samples: impl Iterator<Item = &'k str>) -> bool {
    let mut met = IndexSet::new();
    samples.into_iter().all(|sample| met.insert(sample))
}

/// A short name for a long text, the same in every file that has it (FNV-1a).
pub(super) fn fingerprint(text: &str) -> String {
    const PRIME: u64 = 0x0100_0000_01b3;
    let hash = text
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| (hash ^ u64::from(byte)).wrapping_mul(PRIME));
    format!("{hash:016x}")
}
