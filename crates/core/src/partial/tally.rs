//! Samples counted by what a plan can see of them.

use std::collections::{HashMap, HashSet, hash_map};
use std::hash::Hash;
use std::ops::Range;

use foldhash::fast::RandomState;
use indexmap::IndexMap;

use super::record::{ColumnBuilder, Names, SampleEncoder, Visible, read_sample, too_many};
use super::wire::{Wire, encoded, invalid, put_count, put_text, take_count};
use crate::columns::ScoreColumns;
use crate::error::{Error, Result};

/// The most bytes that a tally may take: it goes over the network, once for each partition.
const MAX_BYTES: usize = 64 << 20;
/// The most rows that a tally may stand for when it is finished.
pub(super) const MAX_ROWS: u64 = 1 << 27;

/// Samples that look the same to a plan.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Entry {
    record: Box<[u8]>,
    count: u64,
    /// All of them in order if the plan depends on ids, else the smallest.
    ids: Vec<Box<str>>,
}

/// Samples counted by their records.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Tally {
    pub(super) names: Names,
    /// In the order of records.
    entries: Vec<Entry>,
    /// Whether all ids are kept.
    has_ids: bool,
}

/// How many samples there are of a record, the row of the smallest id, and the ids if all are kept.
type Found = (u64, u32, Vec<Box<str>>);

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
        let mut found: IndexMap<Box<[u8]>, Found, RandomState> = IndexMap::default();
        let (mut bytes, mut too_large) = (0, false);
        index.for_each(|rows| {
            // Samples come in the order of these rows, so that ids are read one behind the other.
            let Some(&first) = rows.iter().min().filter(|_| !too_large) else { return };
            let id = |row: u32| columns.id_bytes(row as usize);
            let own_id = id(first);
            let code = codes.as_ref().and_then(|codes| codes.of(rows));
            let known = code.and_then(|code| codes.as_ref()?.entries.get(&code).copied());
            let number = known.unwrap_or_else(|| {
                let record = encoded(&encoder.record(rows));
                let number = found.get_index_of(record.as_slice()).unwrap_or_else(|| {
                    bytes += record.len() + own_id.len() + LENGTHS;
                    found.insert_full(record.into(), (0, first, Vec::new())).0
                });
                if let (Some(code), Some(codes)) = (code, &mut codes) {
                    codes.entries.insert(code, number);
                }
                number
            });
            if let Some((_, (count, smallest, ids))) = found.get_index_mut(number) {
                *count += 1;
                if own_id < id(*smallest) {
                    *smallest = first;
                }
                if visible.ids {
                    bytes += own_id.len() + LENGTHS;
                    ids.push(columns.id(first as usize).into());
                }
            }
            too_large = bytes > MAX_BYTES;
        });
        if too_large {
            return Err(too_many_bytes(visible.ids));
        }
        let entry = |(record, (count, row, mut ids)): (Box<[u8]>, Found)| {
            match visible.ids {
                true => ids.sort_unstable(),
                false => ids.push(columns.id(row as usize).into()),
            }
            Entry { record, count, ids }
        };
        let entries = found.into_iter().map(entry).collect();
        Ok(Tally { names, entries: in_order(entries, visible.ids), has_ids: visible.ids })
    }

    /// The samples of both.
    pub(super) fn merge(self, other: Tally) -> Result<Tally> {
        let names = self.names.and(&other.names);
        let (own, other) = (self.under(&names)?, other.under(&names)?);
        let has_ids = own.has_ids;
        if has_ids {
            let known: HashSet<&str, RandomState> = own.ids().collect();
            if let Some(twice) = other.ids().filter(|id| known.contains(id)).min() {
                return Err(Error::custom(format!(
                    "sample {twice:?} is in both partial results: one of them was merged already, or it has epochs in \
                     both; a partial result has all epochs of its samples"
                )));
            }
        }
        let entries = own.entries.into_iter().chain(other.entries).collect();
        let merged = Tally { names, entries: in_order(entries, has_ids), has_ids };
        merged.check_size()?;
        Ok(merged)
    }

    /// The same samples with records that refer to other names, which have all of the own among them.
    fn under(mut self, names: &Names) -> Result<Tally> {
        if self.names.scorers != names.scorers || self.names.keys != names.keys {
            let positions = |own: &[String], all: &[String]| {
                let position = |name: &String| all.binary_search(name).map_or(u32::MAX, |at| at as u32);
                own.iter().map(position).collect::<Vec<u32>>()
            };
            let scorers = positions(&self.names.scorers, &names.scorers);
            let keys = positions(&self.names.keys, &names.keys);
            for entry in &mut self.entries {
                let mut sample = read_sample(&entry.record, &self.names)?;
                sample.iter_mut().for_each(|epoch| epoch.renumber(&scorers, &keys));
                entry.record = encoded(&sample).into();
            }
            self.entries = in_order(self.entries, self.has_ids);
        }
        Ok(Tally { names: names.clone(), ..self })
    }

    fn ids(&self) -> impl Iterator<Item = &str> {
        self.entries.iter().flat_map(|entry| &entry.ids).map(AsRef::as_ref)
    }

    fn check_size(&self) -> Result<()> {
        let records = self.entries.iter().map(|entry| entry.record.len() + LENGTHS);
        let bytes: usize = records.chain(self.ids().map(|id| id.len() + LENGTHS)).sum();
        if bytes > MAX_BYTES { Err(too_many_bytes(self.has_ids)) } else { Ok(()) }
    }

    /// The samples as columns in key order, those that look the same behind each other.
    pub(super) fn to_columns(&self) -> Result<ScoreColumns> {
        if self.rows() > MAX_ROWS {
            return Err(too_many("rows", MAX_ROWS));
        }
        // Of samples that look the same the first is added, and the others repeat its rows.
        let mut order: Vec<(&str, usize)> = Vec::new();
        for (number, entry) in self.entries.iter().enumerate() {
            order.extend(entry.ids.iter().map(|id| (id.as_ref(), number)));
        }
        order.sort_unstable();
        let most = self.entries.iter().map(|entry| entry.count).max().unwrap_or(0);
        let copies = CopyIds::beside(self.ids(), most);
        let mut builder = ColumnBuilder::new(&self.names);
        let mut known: Vec<Option<Range<usize>>> = vec![None; self.entries.len()];
        for (id, number) in order {
            let (Some(entry), Some(known)) = (self.entries.get(number), known.get_mut(number)) else {
                continue;
            };
            let Some(rows) = known else {
                let rows = builder.add(&entry.record, entry.count, id)?;
                for copy in 1..=entry.count - entry.ids.len() as u64 {
                    builder.repeat(rows.clone(), &copies.of(id, copy));
                }
                *known = Some(rows);
                continue;
            };
            builder.repeat(rows.clone(), id);
        }
        Ok(builder.finish())
    }

    /// The number of rows; the highest number there is if there are more.
    pub(super) fn rows(&self) -> u64 {
        let of_entry = |entry: &Entry| {
            // The first number of a record is that of its epochs.
            let epochs = u64::take(&mut entry.record.as_ref()).unwrap_or_default();
            epochs.saturating_mul(entry.count)
        };
        self.entries.iter().map(of_entry).fold(0, u64::saturating_add)
    }

    pub(super) fn put(&self, out: &mut Vec<u8>) {
        self.names.put(out);
        put_count(self.entries.len(), out);
        for Entry { record, count, ids } in &self.entries {
            record.put(out);
            count.put(out);
            ids.iter().for_each(|id| put_text(id, out));
        }
    }

    pub(super) fn read(bytes: &mut &[u8], has_ids: bool) -> Result<Self> {
        let names = Names::take(bytes)?;
        let count = take_count(bytes)?;
        let entry = |_| Entry::read(bytes, &names, has_ids);
        let entries = (0..count).map(entry).collect::<Result<Vec<Entry>>>()?;
        let tally = Tally { names, entries: in_order(entries, has_ids), has_ids };
        tally.check_size()?;
        let mut known: HashSet<&str, RandomState> = HashSet::default();
        if !has_ids || tally.ids().all(|id| known.insert(id)) {
            drop(known);
            return Ok(tally);
        }
        Err(invalid("a sample with two records"))
    }
}

impl Entry {
    fn read(bytes: &mut &[u8], names: &Names, has_ids: bool) -> Result<Self> {
        let record = Box::<[u8]>::take(bytes)?;
        if encoded(&read_sample(&record, names)?) != *record {
            return Err(invalid("a sample that is not written in the canonical way"));
        }
        let count = u64::take(bytes)?;
        let ids = if has_ids { count } else { 1 };
        let ids = (0..ids).map(|_| String::take(bytes).map(Box::from)).collect::<Result<Vec<Box<str>>>>()?;
        match count > 0 && ids.is_sorted_by(|a, b| a < b) {
            true => Ok(Entry { record, count, ids }),
            false => Err(invalid("a record of no sample, or ids that do not ascend")),
        }
    }
}

/// Entries in the order of their records, those of one record as one.
fn in_order(mut entries: Vec<Entry>, has_ids: bool) -> Vec<Entry> {
    // Two runs that are in order are found to be so.
    entries.sort_by(|a, b| a.record.cmp(&b.record));
    entries.dedup_by(|next, kept| {
        let is_same = next.record == kept.record;
        if is_same {
            kept.count = kept.count.saturating_add(next.count);
            kept.ids.append(&mut next.ids);
            kept.ids.sort();
            kept.ids.truncate(if has_ids { usize::MAX } else { 1 });
        }
        is_same
    });
    entries
}

/// What lengths and a count take beside what they are of.
const LENGTHS: usize = 8;

fn too_many_bytes(has_ids: bool) -> Error {
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

/// Ids of samples that look like others, whose own ids are not kept. Nothing shows them: the first of samples that look the
/// same has its id, and the others come right behind it in key order, so that nothing sorts millions of them again.
struct CopyIds {
    infix: String,
    /// As many digits as any of them needs: numbers of one length have the order of their digits.
    digits: usize,
}

impl CopyIds {
    /// Ids that are not among these, for at most this many copies of each: they have more of a control character in a row.
    fn beside<'i>(ids: impl Iterator<Item = &'i str>, most: u64) -> Self {
        let longest = |id: &str| id.split(|c: char| c != '\u{1}').map(str::len).max().unwrap_or(0);
        let run = ids.map(longest).max().unwrap_or(0);
        CopyIds { infix: "\u{1}".repeat(run + 1), digits: most.to_string().len() }
    }

    /// The id of a copy with this number of the sample with this id.
    fn of(&self, first: &str, number: u64) -> String {
        let CopyIds { infix, digits } = self;
        format!("{first}{infix}{number:0digits$}")
    }
}

// Which samples look the same, found by numbers: rows have few different scores, and to write the record of every sample
// takes several times as long.

/// The most epochs of a sample: their codes are the bytes of a number.
const MOST_EPOCHS: usize = size_of::<u128>();
/// With fewer rows the tables take longer than the records. Tests have few rows.
const FEW_ROWS: usize = if cfg!(test) { 1 } else { 1 << 10 };

/// Samples by what can be seen of them. Each row has a code, the same for rows that look the same, and the codes of a
/// sample's rows together are that of the sample.
struct SampleCodes {
    /// From 1 to 255.
    codes: Vec<u8>,
    /// The number of the entry of samples that look like this.
    entries: HashMap<u128, usize, RandomState>,
}

impl SampleCodes {
    /// None if there are few rows, if samples have more to them than scores and metadata, or if there are more than 255
    /// different rows.
    fn new(columns: &ScoreColumns, names: &Names, visible: &Visible) -> Option<Self> {
        if columns.len() < FEW_ROWS {
            return None;
        }
        let scorers: Vec<_> = names.scorers.iter().filter_map(|name| columns.scorer(name)).collect();
        if columns.labels().is_some() || scorers.iter().any(|scorer| !scorer.details.is_empty()) {
            return None;
        }
        let mut samples = SampleCodes { codes: vec![0; columns.len()], entries: HashMap::default() };
        samples.refine(|row| (columns.epoch(row), columns.is_errored(row)))?;
        for scorer in scorers {
            samples.refine(|row| scorer.values.cell(row))?;
        }
        for key in names.keys.iter().filter(|key| visible.keys.contains(key)) {
            let Some(column) = columns.metadata_column(key) else { continue };
            samples.refine(|row| column.code(row))?;
        }
        Some(samples)
    }

    /// Gives rows other codes where a column has other values; none if there are too many.
    fn refine<T: Copy + Eq + Hash>(&mut self, value: impl Fn(usize) -> T) -> Option<()> {
        // The new code for each pair of an old code and a value.
        let mut pairs: HashMap<(u8, T), u8, RandomState> = HashMap::default();
        for (row, code) in self.codes.iter_mut().enumerate() {
            let next = u8::try_from(pairs.len() + 1);
            *code = match pairs.entry((*code, value(row))) {
                hash_map::Entry::Occupied(known) => *known.get(),
                hash_map::Entry::Vacant(new) => *new.insert(next.ok()?),
            };
        }
        Some(())
    }

    /// The code of a sample; none if it has too many epochs.
    #[inline]
    fn of(&self, rows: &[u32]) -> Option<u128> {
        let code = |row: &u32| self.codes.get(*row as usize).map_or(0, |code| u128::from(*code));
        (rows.len() <= MOST_EPOCHS).then(|| rows.iter().fold(0, |of_sample, row| of_sample << 8 | code(row)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::accuracy;
    use crate::{Plan, Score};

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
                let kept: Vec<&str> = tally.entries.iter().map(|entry| entry.ids[0].as_ref()).collect();
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
