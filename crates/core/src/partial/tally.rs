//! Samples counted by what a plan can see of them.

use std::collections::{BTreeSet, HashMap};
use std::ops::Range;

use foldhash::fast::RandomState;

use super::record::{SampleRecord, differ, put_cell, put_epoch, put_number, read_json, take_number};
use crate::columns::{MetadataColumn, ScoreColumns, ScoreDetail, ScorerColumn, ValueColumn, first_bytes};
use crate::error::{Error, Result};
use crate::inputs::{MetadataKeys, ScoreParts};
use crate::plan::Plan;

/// The most bytes that a tally may take: it goes over the network, once for each partition.
pub(super) const MAX_BYTES: usize = 64 << 20;

/// The most rows that a tally may stand for when it is finished.
pub(super) const MAX_ROWS: u64 = 1 << 27;

/// The most scores and metadata values that these rows may have together: a few bytes may count any number of wide rows.
const MAX_CELLS: u64 = 1 << 29;

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
    fn of(columns: &ScoreColumns) -> Self {
        Names {
            scorers: distinct_names(columns.scorer_names()),
            keys: distinct_names(columns.metadata_keys()),
            has_labels: columns.labels().is_some(),
        }
    }

    /// The names of both.
    fn and(&self, other: &Names) -> Names {
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

/// Samples that look the same to a plan.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Entry {
    pub(super) record: Box<[u8]>,
    pub(super) count: u64,
    /// The smallest id of them.
    pub(super) id: Box<str>,
}

/// Samples counted by their records.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Tally {
    pub(super) names: Names,
    /// In the order of records.
    pub(super) entries: Vec<Entry>,
    /// All ids in order, each with the number of its entry; only if the plan depends on ids.
    pub(super) ids: Option<Vec<(Box<str>, u32)>>,
}

impl Tally {
    /// Counts the samples of columns.
    pub(super) fn of(columns: &ScoreColumns, visible: &Visible) -> Result<Self> {
        let index = columns.sample_index();
        if let Some(row) = index.duplicate() {
            return Err(columns.duplicate_error(row));
        }
        let names = Names::of(columns);
        let encoder = SampleEncoder::new(columns, &names, visible);
        let mut codes = SampleCodes::new(columns, &names, visible);
        let mut numbers: HashMap<Box<[u8]>, u32, foldhash::fast::RandomState> = HashMap::default();
        // By number: how many samples, and the row of the smallest id with its first bytes, which mostly decide.
        let mut found: Vec<(u64, u32, u64)> = Vec::new();
        let mut ids: Vec<(u32, u32)> = Vec::new();
        let (mut record, mut bytes, mut too_large) = (Vec::new(), 0, false);
        index.for_each(|rows| {
            // Samples come in the order of these rows, so that ids are read one behind the other.
            let Some(&first) = rows.iter().min().filter(|_| !too_large) else { return };
            let id = |row: u32| columns.id_bytes(row as usize);
            let own_id = id(first);
            let start = u64::from_be_bytes(first_bytes(own_id));
            let code = codes.as_ref().and_then(|codes| codes.of(rows));
            let known = code.and_then(|code| codes.as_ref()?.entry(code));
            let number = known.unwrap_or_else(|| {
                record.clear();
                encoder.put(rows, &mut record);
                let number = numbers.get(record.as_slice()).copied().unwrap_or_else(|| {
                    let number = found.len() as u32;
                    bytes += entry_bytes(&record, own_id.len());
                    numbers.insert(record.as_slice().into(), number);
                    found.push((0, first, start));
                    number
                });
                if let (Some(code), Some(codes)) = (code, &mut codes) {
                    codes.set_entry(code, number);
                }
                number
            });
            if let Some((count, smallest, smallest_start)) = found.get_mut(number as usize) {
                *count += 1;
                if start < *smallest_start || start == *smallest_start && own_id < id(*smallest) {
                    (*smallest, *smallest_start) = (first, start);
                }
            }
            if visible.ids {
                bytes += id_bytes(own_id.len());
                ids.push((first, number));
            }
            too_large = bytes > MAX_BYTES;
        });
        if too_large {
            return Err(too_many_bytes(visible.ids));
        }
        let entry = |(record, number): (Box<[u8]>, u32)| {
            let (count, row, _) = found.get(number as usize).copied().unwrap_or_default();
            (Entry { record, count, id: columns.id(row as usize).into() }, number)
        };
        let (entries, order) = sorted(numbers.into_iter().map(entry).collect());
        let ids = visible.ids.then(|| {
            ids.sort_unstable_by(|a, b| columns.id_bytes(a.0 as usize).cmp(columns.id_bytes(b.0 as usize)));
            let ids = ids.into_iter().map(|(row, number)| (columns.id(row as usize).into(), number));
            renumbered(ids.collect(), &order)
        });
        Ok(Tally { names, entries, ids })
    }

    /// The samples of both.
    pub(super) fn merge(self, other: Tally, visible: &Visible) -> Result<Tally> {
        let names = self.names.and(&other.names);
        let (own, other) = (self.under(&names, visible)?, other.under(&names, visible)?);
        let (own_ids, other_ids) = (own.ids, other.ids);
        let (own_count, other_count) = (own.entries.len(), other.entries.len());
        let (mut own, mut other) = (own.entries.into_iter().peekable(), other.entries.into_iter().peekable());
        let mut entries: Vec<Entry> = Vec::with_capacity(own_count.max(other_count));
        let (mut own_numbers, mut other_numbers) =
            (Vec::with_capacity(own_count), Vec::with_capacity(other_count));
        loop {
            let (takes_own, takes_other) = match (own.peek(), other.peek()) {
                (None, None) => break,
                (Some(_), None) => (true, false),
                (None, Some(_)) => (false, true),
                (Some(a), Some(b)) => (a.record <= b.record, b.record <= a.record),
            };
            let number = entries.len() as u32;
            let from_own = own.next_if(|_| takes_own).inspect(|_| own_numbers.push(number));
            let from_other = other.next_if(|_| takes_other).inspect(|_| other_numbers.push(number));
            entries.extend(match (from_own, from_other) {
                (Some(own), Some(other)) => Some(own.and(other)?),
                (own, other) => own.or(other),
            });
        }
        let mut ids = None;
        if visible.ids {
            let mut all = renumbered(own_ids.unwrap_or_default(), &own_numbers);
            all.extend(renumbered(other_ids.unwrap_or_default(), &other_numbers));
            // Two runs that are in order.
            all.sort();
            if let Some(twice) = all.windows(2).find_map(|pair| match pair {
                [(a, _), (b, _)] if a == b => Some(a),
                _ => None,
            }) {
                return Err(Error::custom(format!(
                    "sample {twice:?} is in both partial results: one of them was merged already, or it has epochs in \
                     both; a partial result has all epochs of its samples"
                )));
            }
            ids = Some(all);
        }
        let merged = Tally { names, entries, ids };
        if merged.bytes() > MAX_BYTES {
            return Err(too_many_bytes(visible.ids));
        }
        Ok(merged)
    }

    /// The same samples with records that refer to other names, which have all of the own among them.
    fn under(self, names: &Names, visible: &Visible) -> Result<Tally> {
        if self.names.scorers == names.scorers && self.names.keys == names.keys {
            return Ok(Tally { names: names.clone(), ..self });
        }
        let position = |all: &[String], name: &String| all.binary_search(name).unwrap_or(usize::MAX);
        let scorers: Vec<usize> =
            self.names.scorers.iter().map(|name| position(&names.scorers, name)).collect();
        let keys: Vec<u32> = self.names.keys.iter().map(|name| position(&names.keys, name) as u32).collect();
        let mut entries = Vec::with_capacity(self.entries.len());
        for (number, entry) in (0..).zip(self.entries) {
            let mut sample = SampleRecord::read(&entry.record, scorers.len(), keys.len())?;
            for epoch in &mut sample.epochs {
                for (key, _) in epoch.metadata.iter_mut().flatten() {
                    *key = keys.get(*key as usize).copied().unwrap_or(u32::MAX);
                }
                let cells = std::mem::take(&mut epoch.cells);
                epoch.cells.resize_with(names.scorers.len(), Default::default);
                for (at, cell) in scorers.iter().zip(cells) {
                    if let Some(slot) = epoch.cells.get_mut(*at) {
                        *slot = cell;
                    }
                }
            }
            let mut record = Vec::with_capacity(entry.record.len());
            sample.put(visible.parts, &mut record);
            entries.push((Entry { record: record.into(), ..entry }, number));
        }
        let (entries, order) = sorted(entries);
        let ids = self.ids.map(|ids| renumbered(ids, &order));
        Ok(Tally { names: names.clone(), entries, ids })
    }

    /// About how many bytes it takes.
    pub(super) fn bytes(&self) -> usize {
        let entries = self.entries.iter().map(|entry| entry_bytes(&entry.record, entry.id.len()));
        let ids = self.ids.iter().flatten().map(|(id, _)| id_bytes(id.len()));
        entries.chain(ids).sum()
    }

    /// The samples as columns in key order, those that look the same behind each other.
    pub(super) fn to_columns(&self) -> Result<ScoreColumns> {
        if self.rows() > MAX_ROWS {
            return Err(too_many("rows", MAX_ROWS));
        }
        let mut builder = ColumnBuilder::new(&self.names);
        match &self.ids {
            Some(ids) => {
                let mut known: Vec<Option<Range<usize>>> = vec![None; self.entries.len()];
                for (id, number) in ids {
                    let number = *number as usize;
                    let (Some(entry), Some(known)) = (self.entries.get(number), known.get_mut(number)) else {
                        continue;
                    };
                    match known {
                        Some(rows) => builder.repeat(rows.clone(), id),
                        None => *known = Some(builder.add(entry, id)?),
                    }
                }
            }
            None => {
                let mut order: Vec<&Entry> = self.entries.iter().collect();
                order.sort_by(|a, b| a.id.cmp(&b.id));
                let most = self.entries.iter().map(|entry| entry.count).max().unwrap_or(0);
                let mut copies = CopyIds::beside(order.iter().map(|entry| entry.id.as_ref()), most);
                for entry in order {
                    let rows = builder.add(entry, &entry.id)?;
                    for number in 1..entry.count {
                        builder.repeat(rows.clone(), copies.of(&entry.id, number));
                    }
                }
            }
        }
        Ok(builder.finish())
    }

    /// The number of rows; the highest number there is if there are more.
    pub(super) fn rows(&self) -> u64 {
        let of_entry = |entry: &Entry| {
            // The first number of a record is that of its epochs.
            let epochs = take_number(&mut entry.record.as_ref()).unwrap_or_default();
            epochs.saturating_mul(entry.count)
        };
        self.entries.iter().map(of_entry).fold(0, u64::saturating_add)
    }
}

impl Entry {
    /// The samples of both, whose record is the same.
    fn and(self, other: Entry) -> Result<Entry> {
        let count = self.count.checked_add(other.count);
        let count = count.ok_or_else(|| Error::custom("a partial result of more than 2^64 samples"))?;
        Ok(Entry { count, id: self.id.min(other.id), record: self.record })
    }
}

/// Ids with the new number of each entry.
fn renumbered(ids: Vec<(Box<str>, u32)>, numbers: &[u32]) -> Vec<(Box<str>, u32)> {
    let new = |number: u32| numbers.get(number as usize).copied().unwrap_or(u32::MAX);
    ids.into_iter().map(|(id, number)| (id, new(number))).collect()
}

/// What an entry takes: its record, an id, a count and the lengths of the two.
fn entry_bytes(record: &[u8], id: usize) -> usize {
    record.len() + id + 8
}

/// What an id takes beside its entry.
fn id_bytes(id: usize) -> usize {
    id + 8
}

pub(super) fn too_many(what: &str, most: u64) -> Error {
    Error::custom(format!(
        "the partial result stands for more than {most} {what}, which is the most that is finished at once; split the \
         scores into more groups, or compute them on one machine"
    ))
}

pub(super) fn too_many_bytes(has_ids: bool) -> Error {
    let way_out = match has_ids {
        true => {
            "the plan draws or clusters samples by their ids, so that all of them are kept; leave out the metrics and \
             intervals that do, split the scores into more groups"
        }
        false => {
            "samples with the same scores and metadata are counted together, and these have too many different ones; \
             use fewer metadata keys, round the scores, split them into more groups"
        }
    };
    Error::custom(format!(
        "the partial result takes more than {} MB: {way_out}, or compute them on one machine",
        MAX_BYTES >> 20
    ))
}

/// Entries in the order of their records, and the new number of each.
fn sorted(entries: Vec<(Entry, u32)>) -> (Vec<Entry>, Vec<u32>) {
    // The first bytes beside each other: records of a score are short, and looking for each in memory takes longest.
    let start = |record: &[u8]| u128::from_be_bytes(first_bytes(record));
    let mut entries: Vec<(u128, Entry, u32)> =
        entries.into_iter().map(|(entry, number)| (start(&entry.record), entry, number)).collect();
    entries
        .sort_unstable_by(|(a, one, _), (b, other, _)| a.cmp(b).then_with(|| one.record.cmp(&other.record)));
    let mut numbers = vec![0; entries.len()];
    let mut in_order = Vec::with_capacity(entries.len());
    for (number, (_, entry, before)) in (0..).zip(entries) {
        if let Some(slot) = numbers.get_mut(before as usize) {
            *slot = number;
        }
        in_order.push(entry);
    }
    (in_order, numbers)
}

/// Writes the samples of columns as records.
struct SampleEncoder<'c> {
    columns: &'c ScoreColumns,
    parts: ScoreParts,
    scorers: Vec<(&'c ScorerColumn, Option<&'c ScorerColumn>)>,
    keys: Vec<EncodedKey<'c>>,
}

/// A metadata key with the JSON of each of its values.
struct EncodedKey<'c> {
    number: u32,
    column: &'c MetadataColumn,
    texts: Vec<String>,
}

impl<'c> SampleEncoder<'c> {
    fn new(columns: &'c ScoreColumns, names: &Names, visible: &Visible) -> Self {
        let scorer = |name: &String| {
            let label = columns.labels().and_then(|labels| labels.scorer(name));
            columns.scorer(name).map(|scorer| (scorer, label))
        };
        let mut keys = Vec::new();
        for (number, key) in (0..).zip(&names.keys).filter(|(_, key)| visible.keys.contains(key)) {
            let Some(column) = columns.metadata_column(key) else { continue };
            let text = |code: usize| column.value(code).map(ToString::to_string).unwrap_or_default();
            keys.push(EncodedKey { number, column, texts: (0..column.distinct()).map(text).collect() });
        }
        let scorers = names.scorers.iter().filter_map(scorer).collect();
        SampleEncoder { columns, parts: visible.parts, scorers, keys }
    }

    fn put(&self, rows: &[u32], out: &mut Vec<u8>) {
        put_number(rows.len() as u64, out);
        let mut before: Option<usize> = None;
        for row in rows.iter().map(|row| *row as usize) {
            let is_same = |key: &EncodedKey<'_>| {
                key.column.code(row) == before.and_then(|before| key.column.code(before))
            };
            let metadata: Option<Vec<(u32, &str)>> = if self.keys.iter().all(is_same) {
                None
            } else {
                Some(self.keys.iter().filter_map(|key| key.of_row(row)).collect())
            };
            put_epoch(self.columns.epoch(row), self.columns.is_errored(row), metadata.as_deref(), out);
            before = Some(row);
            for (scorer, label) in &self.scorers {
                let value = scorer.values.get(row);
                let label = label.map(|label| label.values.get(row)).filter(|label| differ(*label, value));
                put_cell(value, label, scorer.details.get(row), self.parts, out);
            }
        }
    }
}

impl EncodedKey<'_> {
    fn of_row(&self, row: usize) -> Option<(u32, &str)> {
        let code = self.column.code(row)?;
        Some((self.number, self.texts.get(code as usize)?.as_str()))
    }
}

/// Makes columns of samples.
struct ColumnBuilder {
    columns: ScoreColumns,
    names: Names,
    labels: Vec<ValueColumn>,
    lengths: Vec<u32>,
    /// The number of scores and metadata values that may come.
    cells_left: u64,
}

impl ColumnBuilder {
    fn new(names: &Names) -> Self {
        let columns = ScoreColumns::new(names.scorers.iter().map(String::as_str));
        let labels = if names.has_labels { names.scorers.len() } else { 0 };
        let labels = (0..labels).map(|_| ValueColumn::default()).collect();
        ColumnBuilder { columns, names: names.clone(), labels, lengths: Vec::new(), cells_left: MAX_CELLS }
    }

    /// Adds a sample of an entry; its rows.
    fn add(&mut self, entry: &Entry, id: &str) -> Result<Range<usize>> {
        let sample = SampleRecord::read(&entry.record, self.names.scorers.len(), self.names.keys.len())?;
        self.take_cells(&sample, entry.count)?;
        let first = self.columns.len();
        for epoch in &sample.epochs {
            let row = self.columns.len();
            if epoch.metadata.is_none() && row > first {
                self.columns.repeat_metadata(row, row - 1);
            }
            let mut row = self.columns.push(id, epoch.epoch);
            if epoch.is_errored {
                row = row.errored();
            }
            for (key, json) in epoch.metadata.iter().flatten() {
                let key = self.names.keys.get(*key as usize).map_or("", String::as_str);
                row = row.metadata(key, read_json(json)?);
            }
            for (name, cell) in self.names.scorers.iter().zip(&epoch.cells) {
                if let Some(value) = &cell.value {
                    let detail = cell.detail.as_deref().cloned().unwrap_or_else(ScoreDetail::no_detail);
                    row = row.score(name, detail.with_value(value.clone()))?;
                }
            }
            for (column, cell) in self.labels.iter_mut().zip(&epoch.cells) {
                column.push(cell.label.as_deref().cloned().unwrap_or_else(|| cell.value.clone()));
            }
        }
        self.lengths.push(sample.epochs.len() as u32);
        Ok(first..first + sample.epochs.len())
    }

    /// Counts what samples like this one take, before any of them is added.
    fn take_cells(&mut self, sample: &SampleRecord, samples: u64) -> Result<()> {
        let (mut cells, mut metadata) = (0_u64, 0);
        for epoch in &sample.epochs {
            metadata = epoch.metadata.as_ref().map_or(metadata, Vec::len);
            cells += (epoch.cells.len() + metadata) as u64;
        }
        let left = cells.checked_mul(samples).and_then(|cells| self.cells_left.checked_sub(cells));
        self.cells_left = left.ok_or_else(|| too_many("scores and metadata values", MAX_CELLS))?;
        Ok(())
    }

    /// Adds a sample once more, under another id.
    fn repeat(&mut self, rows: Range<usize>, id: &str) {
        self.lengths.push(rows.len() as u32);
        for column in &mut self.labels {
            for row in rows.clone() {
                column.push(column.to_value(row));
            }
        }
        self.columns.repeat_sample(rows, id);
    }

    fn finish(mut self) -> ScoreColumns {
        // Only now: each row that is repeated looks at all columns, and there may be many keys that no record has.
        self.columns.add_metadata_keys(&self.names.keys);
        self.columns.set_sample_lengths(self.lengths.into_iter());
        if self.names.has_labels {
            self.columns.set_labels(self.labels);
        }
        self.columns
    }
}

/// Ids of samples that look like others, whose own ids are not kept. Nothing shows them: the first of samples that look the
/// same has its id, and the others come right behind it in key order, so that nothing sorts millions of them again.
struct CopyIds {
    prefix: String,
    /// As many digits as any of them needs: numbers of one length have the order of their digits.
    digits: u32,
    id: String,
}

impl CopyIds {
    /// The digits are the printable characters, so that ids are short.
    const BASE: u64 = 94;

    /// Ids that are not among these, for at most this many copies of each: they have more of a control character in a row.
    fn beside<'i>(ids: impl Iterator<Item = &'i str>, most: u64) -> Self {
        let longest = |id: &str| id.split(|c: char| c != '\u{1}').map(str::len).max().unwrap_or(0);
        let run = ids.map(longest).max().unwrap_or(0);
        let digits = most.checked_ilog(Self::BASE).unwrap_or(0) + 1;
        CopyIds { prefix: "\u{1}".repeat(run + 1), digits, id: String::new() }
    }

    /// The id of a copy with this number of the sample with this id.
    fn of(&mut self, first: &str, number: u64) -> &str {
        self.id.clear();
        self.id.push_str(first);
        self.id.push_str(&self.prefix);
        for at in (0..self.digits).rev() {
            let digit = number / Self::BASE.pow(at) % Self::BASE;
            self.id.push(char::from(b'!' + digit as u8));
        }
        &self.id
    }
}

// Which samples look the same, found by numbers: rows have few different scores, and to write the record of every sample
// takes several times as long.

/// The most epochs of a sample: their codes are the bytes of a number.
const MOST_EPOCHS: usize = size_of::<u128>();
/// With fewer rows the tables take longer than the records. Tests have few rows.
const FEW_ROWS: usize = if cfg!(test) { 1 } else { 1 << 10 };
/// More than there are kinds of scores.
const KINDS: usize = 16;
/// The payloads of most scores are below this, as those of all grades are.
const FEW: usize = 1 << 8;

/// Samples by what can be seen of them. Each row has a code, the same for rows that look the same, and the codes of a
/// sample's rows together are that of the sample.
pub(super) struct SampleCodes {
    /// From 1 to 255.
    codes: Vec<u8>,
    /// The number of the entry of samples that look like this.
    entries: HashMap<u128, u32, RandomState>,
}

impl SampleCodes {
    /// None if there are few rows, if samples have more to them than scores and metadata, or if there are more than 255
    /// different rows.
    pub(super) fn new(columns: &ScoreColumns, names: &Names, visible: &Visible) -> Option<Self> {
        if columns.len() < FEW_ROWS {
            return None;
        }
        let scorers: Vec<_> = names.scorers.iter().filter_map(|name| columns.scorer(name)).collect();
        if columns.labels().is_some() || scorers.iter().any(|scorer| !scorer.details.is_empty()) {
            return None;
        }
        let mut samples = SampleCodes { codes: vec![0; columns.len()], entries: HashMap::default() };
        samples.refine(|row| u8::try_from(columns.epoch(row)).ok())?;
        if columns.errored() > 0 {
            samples.refine(|row| Some(columns.is_errored(row).into()))?;
        }
        for scorer in scorers {
            let mut values = ValueCodes::new(&scorer.values);
            samples.refine(|row| values.of(row))?;
        }
        for key in names.keys.iter().filter(|key| visible.keys.contains(key)) {
            let Some(column) = columns.metadata_column(key) else { continue };
            samples.refine(|row| column.code(row).map_or(Some(0), |code| u8::try_from(code + 1).ok()))?;
        }
        Some(samples)
    }

    /// Gives rows other codes where a column has other values; none if there are too many.
    fn refine(&mut self, mut value: impl FnMut(usize) -> Option<u8>) -> Option<()> {
        // The new code for each pair of an old code and a value.
        let mut pairs = vec![0; 1 << 16];
        let mut last = 0_u8;
        for (row, code) in self.codes.iter_mut().enumerate() {
            let pair = pairs.get_mut(usize::from(*code) << 8 | usize::from(value(row)?))?;
            if *pair == 0 {
                last = last.checked_add(1)?;
                *pair = last;
            }
            *code = *pair;
        }
        Some(())
    }

    /// The code of a sample; none if it has too many epochs.
    #[inline]
    pub(super) fn of(&self, rows: &[u32]) -> Option<u128> {
        let code = |row: &u32| self.codes.get(*row as usize).map_or(0, |code| u128::from(*code));
        (rows.len() <= MOST_EPOCHS).then(|| rows.iter().fold(0, |of_sample, row| of_sample << 8 | code(row)))
    }

    /// The entry of samples that look like this.
    #[inline]
    pub(super) fn entry(&self, code: u128) -> Option<u32> {
        self.entries.get(&code).copied()
    }

    pub(super) fn set_entry(&mut self, code: u128, entry: u32) {
        self.entries.insert(code, entry);
    }
}

/// The different scores of a scorer, as numbers from 1 on.
struct ValueCodes<'c> {
    values: &'c ValueColumn,
    /// By kind and payload; 0 for what has not come yet.
    few: Vec<u8>,
    others: HashMap<(u8, u64), u8, RandomState>,
    last: u8,
}

impl<'c> ValueCodes<'c> {
    fn new(values: &'c ValueColumn) -> Self {
        ValueCodes { values, few: vec![0; KINDS * FEW], others: HashMap::default(), last: 0 }
    }

    /// The number of a row's score; none if there are too many.
    #[inline]
    fn of(&mut self, row: usize) -> Option<u8> {
        let (kind, payload) = self.values.look(row);
        let code = match usize::try_from(payload) {
            Ok(payload) if payload < FEW => self.few.get_mut(usize::from(kind) * FEW + payload)?,
            _ => self.others.entry((kind, payload)).or_insert(0),
        };
        if *code == 0 {
            self.last = self.last.checked_add(1)?;
            *code = self.last;
        }
        Some(*code)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Score;
    use crate::metrics::accuracy;

    /// Otherwise all of them would be sorted when they are finished.
    #[test]
    fn samples_that_are_counted_together_come_back_in_key_order() {
        let mut columns = ScoreColumns::new(["s"]);
        for at in 0..30_000 {
            columns
                .push(format!("q{at}"), 1)
                .score("s", Score::new(if at % 3 == 0 { "C" } else { "I" }))
                .unwrap();
        }
        let plan = Plan::new().metrics(crate::metrics![accuracy()]);
        let tally = Tally::of(&columns, &Visible::of(&plan)).unwrap();
        assert_eq!(tally.entries.len(), 2);
        let columns = tally.to_columns().unwrap();
        assert_eq!(columns.len(), 30_000);
        assert!(columns.in_key_order().is_none());
        assert!((1..columns.len()).all(|row| columns.id(row - 1) < columns.id(row)));
    }

    #[test]
    fn the_smallest_id_is_kept_whatever_ids_begin_with() {
        for ids in [
            ["question-2", "question-10", "question-3"],
            ["q2", "q10", "q"],
            ["b", "", "a"],
            ["é", "e\0", "e"],
        ] {
            for first in 0..ids.len() {
                let mut columns = ScoreColumns::new(["s"]);
                for id in ids.iter().cycle().skip(first).take(ids.len()) {
                    columns.push(*id, 1).score("s", Score::new(1)).unwrap();
                }
                let plan = Plan::new().metrics(crate::metrics![accuracy()]);
                let tally = Tally::of(&columns, &Visible::of(&plan)).unwrap();
                let kept: Vec<&str> = tally.entries.iter().map(|entry| entry.id.as_ref()).collect();
                assert_eq!(kept, [*ids.iter().min().unwrap()]);
            }
        }
    }
}

#[cfg(test)]
mod sample_codes_tests {
    use super::Tally;
    use super::*;
    use crate::metrics::{accuracy, grouped};
    use crate::{Plan, Score, Value, metrics};

    /// Samples that differ in one thing each, all of them this often.
    fn columns(times: usize) -> ScoreColumns {
        let mut columns = ScoreColumns::new(["s", "t"]);
        let mut number = 0;
        let mut id = || {
            number += 1;
            format!("q{number}")
        };
        for _ in 0..times {
            for value in
                [Value::Int(1), Value::Bool(true), Value::Float(0.5), Value::from("1"), Value::Unscored]
            {
                columns.push(id(), 1).score("s", Score::new(value)).unwrap();
            }
            columns.push(id(), 1);
            columns.push(id(), 2).score("s", Score::new(1)).unwrap();
            columns.push(id(), 1).score("t", Score::new(1)).unwrap();
            columns.push(id(), 1).errored().score("s", Score::new(1)).unwrap();
            columns.push(id(), 1).metadata("topic", "a").score("s", Score::new(1)).unwrap();
            columns.push(id(), 1).metadata("topic", "b").score("s", Score::new(1)).unwrap();
            for values in [[0, 1], [1, 0], [1, 1]] {
                let id = id();
                for (epoch, value) in (1..).zip(values) {
                    columns.push(&id, epoch).score("s", Score::new(value)).unwrap();
                }
            }
        }
        columns
    }

    #[test]
    fn samples_are_counted_together_exactly_if_they_look_the_same() {
        let plan = Plan::new().metrics(metrics![grouped(accuracy(), "topic")]);
        let visible = Visible::of(&plan);
        let once = Tally::of(&columns(1), &visible).unwrap();
        assert_eq!(once.entries.len(), 14);
        assert!(once.entries.iter().all(|entry| entry.count == 1));
        let often = Tally::of(&columns(40), &visible).unwrap();
        assert_eq!(often.entries.len(), 14);
        assert!(often.entries.iter().all(|entry| entry.count == 40));
    }

    #[test]
    fn what_is_too_much_for_codes_is_counted_by_records() {
        let plan = Plan::new().metrics(metrics![accuracy()]);
        let visible = Visible::of(&plan);
        let tally = |columns: &ScoreColumns| {
            let tally = Tally::of(columns, &visible).unwrap();
            let has_codes = SampleCodes::new(columns, &tally.names, &visible).is_some();
            (tally.entries.iter().map(|entry| entry.count).collect::<Vec<_>>(), has_codes)
        };
        // As many different scores as there are codes, one more, and each of them twice.
        for different in [255, 256, 300] {
            let mut columns = ScoreColumns::new(["s"]);
            for number in 0..2 * different {
                let score = Score::new(0.001 * f64::from(number % different));
                columns.push(format!("q{number}"), 1).score("s", score).unwrap();
            }
            assert_eq!(tally(&columns), (vec![2; different as usize], different == 255));
        }
        // Samples of 16 epochs have codes, those of 17 have none; they differ in the first one.
        for epochs in [16, 17] {
            let mut columns = ScoreColumns::new(["s"]);
            for (id, first) in [("a", 0), ("b", 1), ("c", 0)] {
                for epoch in 1..=epochs {
                    let score = Score::new(if epoch == 1 { first } else { 1 });
                    columns.push(id, epoch).score("s", score).unwrap();
                }
            }
            let (mut counts, has_codes) = tally(&columns);
            counts.sort_unstable();
            assert_eq!((counts, has_codes), (vec![1, 2], true));
        }
    }

    #[test]
    fn what_is_recorded_with_scores_is_left_to_records() {
        let plan = Plan::new().metrics(metrics![accuracy()]);
        let mut columns = ScoreColumns::new(["s"]);
        columns.push("q1", 1).score("s", Score::new(1).explanation("why")).unwrap();
        let names = Tally::of(&columns, &Visible::of(&plan)).unwrap().names;
        assert!(SampleCodes::new(&columns, &names, &Visible::of(&plan)).is_none());
    }
}
