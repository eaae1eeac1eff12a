//! Which samples look the same, found by numbers: rows have few different scores, and to write the record of every sample
//! takes several times as long.

use std::collections::HashMap;

use foldhash::fast::RandomState;

use super::tally::{Names, Visible};
use crate::columns::{ScoreColumns, ValueColumn};

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
