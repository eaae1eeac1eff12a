//! Which samples look the same, found by numbers: rows have few different scores, and to write the record of every sample
//! takes several times as long.

use std::collections::HashMap;

use super::tally::{Names, Visible};
use crate::columns::{MetadataColumn, ScoreColumns, ValueColumn};

/// The most steps that are remembered. Where almost every sample looks different, they would take memory for nothing. Tests
/// have few, so that they see what comes behind.
const MOST_STEPS: usize = if cfg!(test) { 1 << 5 } else { 1 << 16 };

/// What a row begins with, before any of its columns.
const ROW: u32 = u32::MAX;
/// What a sample begins with, before any of its rows.
const SAMPLE: u32 = u32::MAX - 1;
/// The kinds of steps that are no scores, which have smaller ones.
const METADATA: u64 = 254;
const NEXT_ROW: u64 = 255;
const ABSENT: u64 = u64::MAX;

/// Samples by what can be seen of them. A sample is a path: a step for each column of a row, and for each row a step that
/// tells which row it was. Samples whose paths end at the same place have the same record.
pub(super) struct SampleLooks<'c> {
    columns: &'c ScoreColumns,
    scorers: Vec<&'c ValueColumn>,
    keys: Vec<&'c MetadataColumn>,
    /// From a place, with the kind and the value of a step, to the next place.
    steps: HashMap<(u32, u64, u64), u32, foldhash::fast::RandomState>,
    /// The number of the entry of samples that end at a place; none if that is not known yet.
    entries: Vec<Option<u32>>,
}

impl<'c> SampleLooks<'c> {
    /// None if samples have more to them than scores and metadata.
    pub(super) fn new(columns: &'c ScoreColumns, names: &Names, visible: &Visible) -> Option<Self> {
        let scorers: Vec<_> = names.scorers.iter().filter_map(|name| columns.scorer(name)).collect();
        if columns.labels().is_some() || scorers.iter().any(|scorer| !scorer.details.is_empty()) {
            return None;
        }
        let seen = names.keys.iter().filter(|key| visible.keys.contains(key));
        Some(SampleLooks {
            columns,
            scorers: scorers.into_iter().map(|scorer| &scorer.values).collect(),
            keys: seen.filter_map(|key| columns.metadata_column(key)).collect(),
            steps: HashMap::default(),
            entries: Vec::new(),
        })
    }

    /// Where the path of a sample ends; none if there are too many steps.
    pub(super) fn of(&mut self, rows: &[u32]) -> Option<u32> {
        let mut sample = SAMPLE;
        for row in rows {
            let look = self.row(*row as usize)?;
            sample = self.step(sample, NEXT_ROW, u64::from(look))?;
        }
        Some(sample)
    }

    fn row(&mut self, row: usize) -> Option<u32> {
        let epoch = u64::from(self.columns.epoch(row)) << 1 | u64::from(self.columns.is_errored(row));
        // The epoch and the first score are one step.
        let mut look = ROW;
        for at in 0..self.scorers.len() {
            let (kind, value) = self.scorers.get(at).map_or((0, 0), |scorer| scorer.look(row));
            let before = if at == 0 { epoch << 8 } else { 0 };
            look = self.step(look, before | u64::from(kind), value)?;
        }
        if self.scorers.is_empty() {
            look = self.step(look, epoch << 8, 0)?;
        }
        for at in 0..self.keys.len() {
            let code = self.keys.get(at).and_then(|key| key.code(row));
            look = self.step(look, METADATA, code.map_or(ABSENT, u64::from))?;
        }
        Some(look)
    }

    #[inline]
    fn step(&mut self, from: u32, kind: u64, value: u64) -> Option<u32> {
        if let Some(place) = self.steps.get(&(from, kind, value)) {
            return Some(*place);
        }
        if self.steps.len() == MOST_STEPS {
            return None;
        }
        let place = self.steps.len() as u32;
        self.steps.insert((from, kind, value), place);
        self.entries.push(None);
        Some(place)
    }

    /// The entry of samples that end here.
    #[inline]
    pub(super) fn entry(&self, place: u32) -> Option<u32> {
        self.entries.get(place as usize).copied().flatten()
    }

    pub(super) fn set_entry(&mut self, place: u32, entry: u32) {
        if let Some(slot) = self.entries.get_mut(place as usize) {
            *slot = Some(entry);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tally::Tally;
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
        // There are more steps than are remembered here.
        let columns = columns(2);
        let mut looks = SampleLooks::new(&columns, &often.names, &visible).unwrap();
        let mut places = Vec::new();
        columns.sample_index().for_each(|rows| places.push(looks.of(rows)));
        let (first, second) = places.split_at(14);
        assert_eq!(first, second);
        let known: std::collections::HashSet<u32> = first.iter().copied().flatten().collect();
        let unknown = first.iter().filter(|place| place.is_none()).count();
        assert!(known.len() + unknown == 14 && unknown > 0 && !known.is_empty());
    }

    #[test]
    fn what_is_recorded_with_scores_is_left_to_records() {
        let plan = Plan::new().metrics(metrics![accuracy()]);
        let mut columns = ScoreColumns::new(["s"]);
        columns.push("q1", 1).score("s", Score::new(1).explanation("why")).unwrap();
        let names = Tally::of(&columns, &Visible::of(&plan)).unwrap().names;
        assert!(SampleLooks::new(&columns, &names, &Visible::of(&plan)).is_none());
    }
}
