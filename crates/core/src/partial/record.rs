//! Samples as records: all of a sample that a plan can see, so that samples with equal records have equal figures.
//!
//! A record has one way to be written: one that is read and written again has the same bytes.

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::Arc;

use serde_json::Value as Json;

use super::wire::{Wire, encoded, invalid, put_count, put_text, take_array, take_byte};
use crate::columns::{MetadataColumn, ScoreColumns, ScorerColumn, ValueColumn};
use crate::error::{Error, Result};
use crate::inputs::{MetadataKeys, ScoreParts};
use crate::plan::Plan;
use crate::score::Score;
use crate::value::{Leaf, LeafMap, LeafRef, Value, ValueRef};

/// The most scores and metadata values that all rows may have together: a few bytes may count any number of wide rows.
const MAX_CELLS: u64 = 1 << 29;

pub(super) fn too_many(what: &str, most: u64) -> Error {
    Error::custom(format!(
        "the partial result stands for more than {most} {what}, which is the most that is finished at once; split the \
         scores into more groups, or compute them on one machine"
    ))
}

/// What a plan can see of a sample.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Visible {
    pub(super) keys: MetadataKeys,
    pub(super) parts: ScoreParts,
    /// Whether figures depend on ids, so that all are kept.
    pub(super) ids: bool,
}

impl Visible {
    pub(super) fn of(plan: &Plan) -> Self {
        Visible { keys: plan.visible_metadata(), parts: plan.visible_parts(), ids: plan.depends_on_ids() }
    }
}

/// What records refer to by number: scorers and metadata keys by name.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Names {
    pub(super) scorers: Vec<String>,
    /// All keys that there are, those without a value in any record included: errors list them.
    pub(super) keys: Vec<String>,
    pub(super) has_labels: bool,
}

impl Names {
    pub(super) fn of(columns: &ScoreColumns) -> Self {
        Names {
            scorers: distinct_names(columns.scorer_names()),
            keys: distinct_names(columns.metadata_keys()),
            has_labels: columns.labels().is_some(),
        }
    }

    /// The names of both.
    pub(super) fn and(&self, other: &Names) -> Names {
        let united =
            |own: &[String], others: &[String]| distinct_names(own.iter().chain(others).map(String::as_str));
        Names {
            scorers: united(&self.scorers, &other.scorers),
            keys: united(&self.keys, &other.keys),
            has_labels: self.has_labels || other.has_labels,
        }
    }
}

/// Names in order, each once.
fn distinct_names<'n>(names: impl Iterator<Item = &'n str>) -> Vec<String> {
    names.collect::<BTreeSet<&str>>().into_iter().map(str::to_owned).collect()
}

impl Wire for Names {
    fn put(&self, out: &mut Vec<u8>) {
        self.scorers.put(out);
        self.keys.put(out);
        self.has_labels.put(out);
    }

    fn take(bytes: &mut &[u8]) -> Result<Self> {
        let names =
            Names { scorers: Wire::take(bytes)?, keys: Wire::take(bytes)?, has_labels: Wire::take(bytes)? };
        let ascend = |names: &[String]| names.is_sorted_by(|a, b| a < b);
        match ascend(&names.scorers) && ascend(&names.keys) {
            true => Ok(names),
            false => Err(invalid("names that do not ascend")),
        }
    }
}

/// An epoch of a sample.
#[derive(Clone, Debug)]
pub(super) struct EpochRecord {
    epoch: u32,
    is_errored: bool,
    /// The numbers of metadata keys, ascending, and their values. None if it is that of the epoch before, and the first has
    /// none: a copy for each epoch could take any multiple of the bytes.
    metadata: Option<Vec<(u32, Json)>>,
    /// In the order of scorers; those that gave nothing are not among them.
    cells: Vec<CellRecord>,
}

/// What a scorer gave.
#[derive(Clone, Debug)]
struct CellRecord {
    scorer: u32,
    score: Option<Score>,
    /// What metrics of labels see, if it differs.
    label: Option<Option<Value>>,
}

impl EpochRecord {
    /// Refers to scorers and metadata keys by other numbers, which have the same order.
    pub(super) fn renumber(&mut self, scorers: &[u32], keys: &[u32]) {
        let new = |numbers: &[u32], number: u32| numbers.get(number as usize).copied().unwrap_or(u32::MAX);
        self.metadata.iter_mut().flatten().for_each(|(key, _)| *key = new(keys, *key));
        self.cells.iter_mut().for_each(|cell| cell.scorer = new(scorers, cell.scorer));
    }
}

impl Wire for EpochRecord {
    fn put(&self, out: &mut Vec<u8>) {
        self.epoch.put(out);
        self.is_errored.put(out);
        self.metadata.put(out);
        self.cells.put(out);
    }

    fn take(bytes: &mut &[u8]) -> Result<Self> {
        Ok(EpochRecord {
            epoch: Wire::take(bytes)?,
            is_errored: Wire::take(bytes)?,
            metadata: Wire::take(bytes)?,
            cells: Wire::take(bytes)?,
        })
    }
}

impl Wire for CellRecord {
    fn put(&self, out: &mut Vec<u8>) {
        self.scorer.put(out);
        self.score.put(out);
        self.label.put(out);
    }

    fn take(bytes: &mut &[u8]) -> Result<Self> {
        Ok(CellRecord { scorer: Wire::take(bytes)?, score: Wire::take(bytes)?, label: Wire::take(bytes)? })
    }
}

impl Wire for Score {
    fn put(&self, out: &mut Vec<u8>) {
        let Score { value, answer, explanation, reason, metadata, history } = self;
        value.put(out);
        let texts = [answer, explanation, reason];
        let has_details =
            texts.iter().any(|text| text.is_some()) || metadata.is_some() || !history.is_empty();
        has_details.put(out);
        if has_details {
            texts.iter().for_each(|text| text.put(out));
            metadata.put(out);
            history.put(out);
        }
    }

    fn take(bytes: &mut &[u8]) -> Result<Self> {
        let score = Score::new(Value::take(bytes)?);
        if !bool::take(bytes)? {
            return Ok(score);
        }
        Ok(Score {
            answer: Wire::take(bytes)?,
            explanation: Wire::take(bytes)?,
            reason: Wire::take(bytes)?,
            metadata: Wire::take(bytes)?,
            history: Wire::take(bytes)?,
            ..score
        })
    }
}

/// What a value is.
mod tag {
    pub(super) const UNSCORED: u8 = 0;
    pub(super) const NULL: u8 = 1;
    pub(super) const FALSE: u8 = 2;
    pub(super) const TRUE: u8 = 3;
    pub(super) const INT: u8 = 4;
    pub(super) const FLOAT: u8 = 5;
    pub(super) const TEXT: u8 = 6;
    pub(super) const LIST: u8 = 7;
    pub(super) const MAP: u8 = 8;
}

impl Wire for Value {
    fn put(&self, out: &mut Vec<u8>) {
        match self.view() {
            ValueRef::Leaf(leaf) => put_leaf(leaf, out),
            ValueRef::List(items) => {
                out.push(tag::LIST);
                put_count(items.len(), out);
                items.iter().for_each(|item| item.put(out));
            }
            ValueRef::Map(map) => {
                out.push(tag::MAP);
                put_count(map.len(), out);
                for (key, leaf) in map {
                    key.put(out);
                    leaf.put(out);
                }
            }
        }
    }

    fn take(bytes: &mut &[u8]) -> Result<Self> {
        match bytes.split_first() {
            Some((&tag::LIST, rest)) => {
                *bytes = rest;
                Ok(Value::List(Wire::take(bytes)?))
            }
            Some((&tag::MAP, rest)) => {
                *bytes = rest;
                let entries: Vec<(Arc<str>, Leaf)> = Wire::take(bytes)?;
                Ok(Value::Map(entries.into_iter().collect::<LeafMap>()))
            }
            _ => Leaf::take(bytes).map(Value::from),
        }
    }
}

fn put_leaf(leaf: LeafRef<'_>, out: &mut Vec<u8>) {
    match leaf {
        LeafRef::Unscored => out.push(tag::UNSCORED),
        LeafRef::Null => out.push(tag::NULL),
        LeafRef::Bool(false) => out.push(tag::FALSE),
        LeafRef::Bool(true) => out.push(tag::TRUE),
        LeafRef::Int(int) => {
            out.push(tag::INT);
            int.put(out);
        }
        LeafRef::Float(float) => {
            out.push(tag::FLOAT);
            out.extend_from_slice(&float.to_bits().to_be_bytes());
        }
        LeafRef::Str(text) => {
            out.push(tag::TEXT);
            put_text(text, out);
        }
    }
}

impl Wire for Leaf {
    fn put(&self, out: &mut Vec<u8>) {
        put_leaf(self.view(), out);
    }

    fn take(bytes: &mut &[u8]) -> Result<Self> {
        Ok(match take_byte(bytes)? {
            tag::UNSCORED => Leaf::Unscored,
            tag::NULL => Leaf::Null,
            tag::FALSE => Leaf::Bool(false),
            tag::TRUE => Leaf::Bool(true),
            tag::INT => Leaf::Int(Wire::take(bytes)?),
            tag::FLOAT => Leaf::from(f64::from_bits(u64::from_be_bytes(take_array(bytes)?))),
            tag::TEXT => Leaf::Str(Wire::take(bytes)?),
            _ => return Err(invalid("an unknown type of value")),
        })
    }
}

/// Reads a sample of these scorers and metadata keys.
pub(super) fn read_sample(mut bytes: &[u8], names: &Names) -> Result<Vec<EpochRecord>> {
    let sample: Vec<EpochRecord> = Wire::take(&mut bytes)?;
    if sample.is_empty() || !bytes.is_empty() {
        return Err(invalid("a sample without an epoch, or with more than its epochs"));
    }
    if !sample.is_sorted_by(|a, b| a.epoch < b.epoch) {
        return Err(invalid("epochs that do not ascend"));
    }
    let none = Vec::new();
    let mut before = &none;
    for EpochRecord { metadata, cells, .. } in &sample {
        let keys: Vec<u32> = metadata.iter().flatten().map(|(key, _)| *key).collect();
        let scorers: Vec<u32> = cells.iter().map(|cell| cell.scorer).collect();
        if !are_of(&keys, &names.keys) || !are_of(&scorers, &names.scorers) {
            return Err(invalid("a scorer or a metadata key that there is not"));
        }
        if let Some(metadata) = metadata {
            if encoded(metadata) == encoded(before) {
                return Err(invalid("metadata that is that of the epoch before"));
            }
            before = metadata;
        }
        let is_needless = |cell: &CellRecord| match &cell.label {
            None => cell.score.is_none(),
            Some(label) => !differ(label.as_ref(), cell.score.as_ref().map(|score| &score.value)),
        };
        if cells.iter().any(is_needless) {
            return Err(invalid("a label that is its value, or a scorer that gave nothing"));
        }
    }
    Ok(sample)
}

/// Whether numbers ascend and are those of names.
fn are_of(numbers: &[u32], names: &[String]) -> bool {
    numbers.is_sorted_by(|a, b| a < b) && numbers.last().is_none_or(|last| (*last as usize) < names.len())
}

/// Whether two values have different bytes: equality is blind to the sign of a zero.
fn differ(a: Option<&Value>, b: Option<&Value>) -> bool {
    let bytes = |value: Option<&Value>| value.map(encoded);
    a != b || bytes(a) != bytes(b)
}

/// Makes records of the samples of columns.
pub(super) struct SampleEncoder<'c> {
    columns: &'c ScoreColumns,
    parts: ScoreParts,
    /// Each with what metrics of labels see of it.
    scorers: Vec<(u32, &'c ScorerColumn, Option<&'c ScorerColumn>)>,
    keys: Vec<(u32, &'c MetadataColumn)>,
}

impl<'c> SampleEncoder<'c> {
    pub(super) fn new(columns: &'c ScoreColumns, names: &Names, visible: &Visible) -> Self {
        let labels = |name: &String| columns.labels().and_then(|labels| labels.scorer(name));
        let scorers = (0..).zip(&names.scorers);
        let keys = (0..).zip(&names.keys).filter(|(_, key)| visible.keys.contains(key));
        SampleEncoder {
            columns,
            parts: visible.parts,
            scorers: scorers
                .filter_map(|(at, name)| Some((at, columns.scorer(name)?, labels(name))))
                .collect(),
            keys: keys.filter_map(|(at, key)| Some((at, columns.metadata_column(key)?))).collect(),
        }
    }

    /// The record of a sample with these rows.
    pub(super) fn record(&self, rows: &[u32]) -> Vec<EpochRecord> {
        let mut before: Option<usize> = None;
        let epoch = |row: &u32| {
            let row = *row as usize;
            let last = before.replace(row);
            let is_new = |(_, column): &(u32, &MetadataColumn)| {
                column.code(row) != last.and_then(|row| column.code(row))
            };
            let value = |(key, column): &(u32, &MetadataColumn)| {
                Some((*key, column.value(column.code(row)? as usize)?.clone()))
            };
            EpochRecord {
                epoch: self.columns.epoch(row),
                is_errored: self.columns.is_errored(row),
                metadata: self.keys.iter().any(is_new).then(|| self.keys.iter().filter_map(value).collect()),
                cells: self.scorers.iter().filter_map(|scorer| self.cell(row, *scorer)).collect(),
            }
        };
        rows.iter().map(epoch).collect()
    }

    fn cell(
        &self,
        row: usize,
        (scorer, column, labels): (u32, &ScorerColumn, Option<&ScorerColumn>),
    ) -> Option<CellRecord> {
        let value = column.values.to_value(row);
        let label = labels.map(|labels| labels.values.to_value(row));
        let label = label.filter(|label| differ(label.as_ref(), value.as_ref()));
        let score = value.map(|value| match column.details.get(row) {
            Some(detail) => visible_score(detail, self.parts).with_value(value),
            None => Score::new(value),
        });
        (score.is_some() || label.is_some()).then_some(CellRecord { scorer, score, label })
    }
}

/// Those parts of a score that a plan can see.
fn visible_score(score: &Score, parts: ScoreParts) -> Score {
    if parts >= ScoreParts::All {
        return score.clone();
    }
    let metadata = score.metadata.as_ref().filter(|_| parts >= ScoreParts::Metadata);
    Score { reason: score.reason.clone(), metadata: metadata.cloned(), ..Score::new(Value::Unscored) }
}

/// Makes columns of records.
pub(super) struct ColumnBuilder<'n> {
    columns: ScoreColumns,
    names: &'n Names,
    labels: Vec<ValueColumn>,
    lengths: Vec<u32>,
    /// The number of scores and metadata values that may come.
    cells_left: u64,
}

impl<'n> ColumnBuilder<'n> {
    pub(super) fn new(names: &'n Names) -> Self {
        let columns = ScoreColumns::new(names.scorers.iter().map(String::as_str));
        let labels = if names.has_labels { names.scorers.len() } else { 0 };
        let labels = vec![ValueColumn::default(); labels];
        ColumnBuilder { columns, names, labels, lengths: Vec::new(), cells_left: MAX_CELLS }
    }

    /// Adds a sample, one of as many that look the same; its rows.
    pub(super) fn add(&mut self, record: &[u8], count: u64, id: &str) -> Result<Range<usize>> {
        let sample = read_sample(record, self.names)?;
        self.take_cells(&sample, count)?;
        let first = self.columns.len();
        for epoch in sample {
            let at = self.columns.len();
            if epoch.metadata.is_none() && at > first {
                self.columns.repeat_metadata(at, at - 1);
            }
            let mut row = self.columns.push(id, epoch.epoch);
            if epoch.is_errored {
                row = row.errored();
            }
            for (key, value) in epoch.metadata.into_iter().flatten() {
                row = row.metadata(self.names.keys.get(key as usize).map_or("", String::as_str), value);
            }
            for CellRecord { scorer, score, label } in epoch.cells {
                let label = label.unwrap_or_else(|| score.as_ref().map(|score| score.value.clone()));
                if let (Some(label), Some(labels)) = (label, self.labels.get_mut(scorer as usize)) {
                    labels.fill(at, label);
                }
                if let (Some(score), Some(name)) = (score, self.names.scorers.get(scorer as usize)) {
                    row = row.score(name, score)?;
                }
            }
        }
        self.lengths.push((self.columns.len() - first) as u32);
        Ok(first..self.columns.len())
    }

    /// Counts what samples like this one take, before any of them is added.
    fn take_cells(&mut self, sample: &[EpochRecord], samples: u64) -> Result<()> {
        let (mut cells, mut metadata) = (0, 0);
        for epoch in sample {
            metadata = epoch.metadata.as_ref().map_or(metadata, Vec::len);
            cells += (self.names.scorers.len() + metadata) as u64;
        }
        let left = samples.checked_mul(cells).and_then(|cells| self.cells_left.checked_sub(cells));
        self.cells_left = left.ok_or_else(|| too_many("scores and metadata values", MAX_CELLS))?;
        Ok(())
    }

    /// Adds a sample once more, under another id.
    pub(super) fn repeat(&mut self, rows: Range<usize>, id: &str) {
        self.lengths.push(rows.len() as u32);
        for column in &mut self.labels {
            for (at, row) in (self.columns.len()..).zip(rows.clone()) {
                if let Some(label) = column.to_value(row) {
                    column.fill(at, label);
                }
            }
        }
        self.columns.repeat_sample(rows, id);
    }

    pub(super) fn finish(mut self) -> ScoreColumns {
        // Only now: each row that is repeated looks at all columns, and there may be many keys that no record has.
        self.columns.add_metadata_keys(&self.names.keys);
        self.columns.set_sample_lengths(self.lengths.into_iter());
        if self.names.has_labels {
            self.labels.iter_mut().for_each(|labels| labels.pad(self.columns.len()));
            self.columns.set_labels(self.labels);
        }
        self.columns
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn epoch(epoch: u32, metadata: Option<Vec<(u32, Json)>>) -> EpochRecord {
        EpochRecord { epoch, is_errored: false, metadata, cells: Vec::new() }
    }

    fn names(keys: &[&str]) -> Names {
        Names { keys: keys.iter().map(|key| (*key).to_owned()).collect(), ..Names::default() }
    }

    /// With a copy for each epoch these would be 800 GB.
    #[test]
    fn epochs_share_their_metadata() {
        let json = Json::from("x".repeat(4 << 20));
        let epochs = (0..200_000).map(|at| epoch(at, (at == 0).then(|| vec![(0, json.clone())])));
        let bytes = encoded(&epochs.collect::<Vec<_>>());
        let sample = read_sample(&bytes, &names(&["a"])).unwrap();
        assert_eq!(sample.iter().filter(|epoch| epoch.metadata.is_some()).count(), 1);
        let again = encoded(&sample);
        assert_eq!(again.len(), bytes.len());
        assert!(again == bytes, "written in another way");
    }

    #[test]
    fn metadata_is_written_only_where_it_is_new() {
        let read = |metadata: [Option<&[(u32, Json)]>; 3]| {
            let epochs = (1..).zip(metadata).map(|(at, of_epoch)| epoch(at, of_epoch.map(<[_]>::to_vec)));
            let bytes = encoded(&epochs.collect::<Vec<_>>());
            read_sample(&bytes, &names(&["a", "b"])).map(|sample| sample.len())
        };
        let a: &[(u32, Json)] = &[(0, 1.into())];
        let b: &[(u32, Json)] = &[(0, 1.into()), (1, 2.into())];
        assert!(read([Some(a), Some(b), Some(a)]).is_ok());
        let none: &[(u32, Json)] = &[];
        assert!(read([None, Some(a), Some(none)]).is_ok());
        for twice in [[Some(a), Some(a), None], [Some(a), None, Some(a)], [Some(none), None, None]] {
            assert!(read(twice).unwrap_err().to_string().contains("that of the epoch before"));
        }
    }
}
