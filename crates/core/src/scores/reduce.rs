//! From every epoch to one score per sample, column by column.

use std::borrow::Cow;

use rayon::prelude::*;

use super::{COPIES, RatingSource, RowSelection, ScoreSet, Scores};
use crate::columns::{
    RowLists, SampleIndex, ScoreColumns, ScoreDetail, ScoreDetails, ScorerColumn, ValueColumn, merge_details,
};
use crate::error::{Error, Result};
use crate::error_plan::{ErrorMethod, ErrorPlan, Estimation, IntervalChoice, IntervalMethod};
use crate::reducer::{EpochReducer, EpochValues, LiftedReducer, ReducedValue, Reducer};
use crate::score::Score;
use crate::value::Value;

/// The scores of one scorer, reduced.
#[derive(Debug)]
pub(crate) struct ReducedScores<'a> {
    pub(crate) set: ScoreSet<'a>,
    /// Values that the reducer's conversion had no meaning for: how many, and a row with one.
    pub(crate) unconvertible: Option<(usize, usize)>,
}

/// Reduces all scores of a scorer.
pub(crate) fn reduce<'a>(
    columns: &'a ScoreColumns,
    scorer: &'a ScorerColumn,
    index: &SampleIndex,
    reducer: &dyn Reducer,
    estimation: Estimation,
) -> Result<ReducedScores<'a>> {
    reducer.check()?;
    let mut reduction = Reduction::new(columns, scorer, index.len());
    match reducer.by_epoch() {
        Some(by_epoch) if scorer.values.is_flat() => {
            if !reduction.single_epochs(by_epoch, index) {
                reduction.scalars(by_epoch, index);
            }
        }
        Some(by_epoch) => reduction.nested(by_epoch, &reducer.log_name(), index)?,
        None => reduction.custom(reducer, index)?,
    }
    Ok(reduction.finish(estimation))
}

struct Reduction<'a> {
    columns: &'a ScoreColumns,
    scorer: &'a ScorerColumn,
    values: ValueColumn,
    details: ScoreDetails,
    sample_rows: Option<Vec<u32>>,
    unconvertible: Option<(usize, usize)>,
}

impl<'a> Reduction<'a> {
    fn new(columns: &'a ScoreColumns, scorer: &'a ScorerColumn, samples: usize) -> Self {
        Reduction {
            columns,
            scorer,
            values: ValueColumn::with_capacity(samples),
            details: ScoreDetails::default(),
            sample_rows: Some(Vec::with_capacity(samples)),
            unconvertible: None,
        }
    }

    fn finish(self, estimation: Estimation) -> ReducedScores<'a> {
        let (columns, name) = (self.columns, &self.scorer.name);
        let values = Cow::Owned(self.values);
        let mut set = ScoreSet::derived(columns, name, values, self.sample_rows, estimation);
        set.details = Cow::Owned(self.details);
        ReducedScores { set, unconvertible: self.unconvertible }
    }

    fn push(&mut self, value: Value, first_row: u32) {
        self.values.push(Some(value));
        if let Some(rows) = &mut self.sample_rows {
            rows.push(first_row);
        }
    }

    fn count_unconvertible(&mut self, rows: &[u32]) {
        if let Some(first) = rows.first() {
            self.unconvertible = Some((rows.len(), *first as usize));
        }
    }

    /// One epoch each, all present, nothing recorded besides the value, and a reducer that keeps a
    /// single number as it is: the converted column is the result.
    fn single_epochs(&mut self, reducer: &dyn EpochReducer, index: &SampleIndex) -> bool {
        let simple = !index.has_repeats() && reducer.keeps_single() && self.scorer.details.is_empty();
        let Some(conversion) = reducer.conversion().filter(|_| simple) else { return false };
        if self.scorer.values.len() != index.len() || self.scorer.values.has_missing() {
            return false;
        }
        self.sample_rows = None;
        let converted = self.scorer.values.convert(conversion);
        self.count_unconvertible(&converted.unconvertible);
        // A mean of one is the value, but for the sign of a zero, which no sum keeps.
        converted.values.iter().for_each(|value| self.values.push_float(value + 0.0));
        true
    }

    /// Scalars only: no score is built, no value copied.
    fn scalars(&mut self, reducer: &dyn EpochReducer, index: &SampleIndex) {
        let scorer = self.scorer;
        let converted = reducer.conversion().map(|conversion| scorer.values.convert(conversion));
        if let Some(converted) = &converted {
            self.count_unconvertible(&converted.unconvertible);
        }
        let numbers = converted.as_ref().map(|converted| converted.values.as_slice());
        let reduce = |scored: &[u32], floats: &mut Vec<f64>, present: usize| {
            floats.clear();
            if let Some(numbers) = numbers {
                floats.extend(scored.iter().filter_map(|row| numbers.get(*row as usize)));
            }
            reducer.reduce_epochs(&EpochValues::of_column(&scorer.values, scored, floats, present))
        };
        let all_scored = scorer.values.is_all_scored() && scorer.values.len() == index.rows();
        if all_scored && scorer.details.is_empty() && !reducer.is_vote() {
            return self.in_parts(index, reduce);
        }
        let (mut scored, mut floats) = (Vec::new(), Vec::new());
        for_each_sample(index, &scorer.values, |rows| {
            let is_scored = |row: &u32| scorer.values.is_scored(*row as usize);
            let present = rows.iter().filter(|row| is_scored(row).is_some());
            let Some(first) = present.clone().next() else { return };
            scored.clear();
            scored.extend(present.clone().filter(|row| is_scored(row) == Some(true)));
            let value = match scored.is_empty() {
                true => Value::Unscored,
                false => reduce(&scored, &mut floats, present.clone().count()).into(),
            };
            if reducer.is_vote() {
                self.details.push_panel(rows);
            }
            if !scorer.details.is_empty() {
                let views = present.map(|row| scorer.details.get(*row as usize));
                self.details.set(self.values.len(), merge_details(views));
            }
            self.push(value, *first);
        });
    }

    /// Samples with nothing but scored values, on all threads.
    fn in_parts(
        &mut self,
        index: &SampleIndex,
        reduce: impl Fn(&[u32], &mut Vec<f64>, usize) -> ReducedValue + Sync,
    ) {
        const PART: usize = 1 << 13;
        let part = |part: usize| {
            let samples = part * PART..index.len().min((part + 1) * PART);
            let mut reduced = Vec::with_capacity(samples.len());
            let mut floats = Vec::new();
            index.for_each_of(samples, |rows| {
                let Some(first) = rows.first() else { return };
                reduced.push((reduce(rows, &mut floats, rows.len()), *first));
            });
            reduced
        };
        let parts: Vec<_> = (0..index.len().div_ceil(PART)).into_par_iter().map(part).collect();
        parts.into_iter().flatten().for_each(|(value, first)| self.push(value.into(), first));
    }

    /// Lists or maps among the values: whole scores, lifted.
    fn nested(&mut self, reducer: &dyn EpochReducer, name: &str, index: &SampleIndex) -> Result<()> {
        self.each_sample(index, |columns, scores, first| {
            let sample = columns.id(first as usize);
            let mut lifting = LiftedReducer { reducer, name, sample, unconvertible: 0 };
            let score = lifting.reduce(scores)?;
            Ok((score, lifting.unconvertible))
        })
    }

    /// A custom reducer: whole scores in, a whole score out.
    fn custom(&mut self, reducer: &dyn Reducer, index: &SampleIndex) -> Result<()> {
        self.each_sample(index, |columns, scores, first| {
            let score = reducer.reduce(scores).map_err(|error| {
                let sample = columns.id(first as usize);
                Error::undefined(reducer.log_name(), format!("sample {sample:?}: {error}"))
            })?;
            Ok((score, 0))
        })
    }

    fn each_sample(
        &mut self,
        index: &SampleIndex,
        mut reduce: impl FnMut(&ScoreColumns, &[Score], u32) -> Result<(Score, usize)>,
    ) -> Result<()> {
        let mut failed = None;
        let scorer = self.scorer;
        let mut scores: Vec<Score> = Vec::new();
        for_each_sample(index, &scorer.values, |rows| {
            if failed.is_some() {
                return;
            }
            scores.clear();
            let mut first = None;
            for &row in rows {
                if let Some(value) = scorer.values.to_value(row as usize) {
                    first.get_or_insert(row);
                    let detail =
                        scorer.details.get(row as usize).cloned().unwrap_or_else(ScoreDetail::no_detail);
                    scores.push(detail.with_value(value));
                }
            }
            let Some(first) = first else { return };
            match reduce(self.columns, &scores, first) {
                Ok((score, unconvertible)) => {
                    if unconvertible > 0 {
                        let (count, _) = self.unconvertible.get_or_insert((0, first as usize));
                        *count += unconvertible;
                    }
                    let (value, detail) = score.into_parts();
                    self.details.set(self.values.len(), detail);
                    self.push(value, first);
                }
                Err(error) => failed = Some(error),
            }
        });
        failed.map_or(Ok(()), Err)
    }
}

/// Samples in the order in which this scorer first scored them: gaps may make that another order than
/// the one they appear in.
fn for_each_sample(index: &SampleIndex, values: &ValueColumn, each: impl FnMut(&[u32])) {
    if values.has_missing() {
        index.for_each_present(|row| values.is_scored(row as usize).is_some(), each);
    } else {
        index.for_each(each);
    }
}

// The same scores under another plan, and with samples that occur several times or not at all.

/// What resamples of scores have in common: values are converted once for all of them, and metrics compute nothing but
/// the number.
pub struct Resampler<'a> {
    set: ScoreSet<'a>,
    scores: Scores<'a>,
}

impl<'a> Resampler<'a> {
    /// Resamples of these scores.
    pub fn new(scores: &Scores<'a>) -> Self {
        let of: &'a ScoreSet<'a> = scores.set;
        // The cheapest error and interval: they are not used.
        let errors = ErrorPlan {
            cluster: Vec::new(),
            method: Some(ErrorMethod::Iid),
            interval: IntervalChoice::Method(IntervalMethod::T),
            ..of.estimation.errors.clone()
        };
        // What is computed over all scores has absent epochs in its bounds; resamples do not look at them.
        let set =
            of.under(Estimation { errors, by_sample: false, value_only: true, ..of.estimation.clone() });
        Resampler { set, scores: scores.clone() }
    }

    /// All scores, each once.
    pub fn whole<T>(&self, read: impl FnOnce(&Scores<'_>) -> T) -> T {
        self.scores.among(&self.set, read)
    }

    /// The rows of units, each given by the positions of its scores.
    pub fn rows_of<'u>(&self, units: impl Iterator<Item = &'u [u32]>) -> RowLists {
        let mut of_units = RowLists::default();
        units.for_each(|unit| of_units.push(unit.iter().map(|at| self.scores.row(*at as usize) as u32)));
        of_units
    }

    /// A resample: each unit as often as counted.
    pub fn resample<T>(&self, units: &RowLists, counts: &[u32], read: impl FnOnce(&Scores<'_>) -> T) -> T {
        let drawn = || units.iter().zip(counts);
        let size = drawn().map(|(unit, count)| unit.len() * *count as usize).sum();
        let (mut rows, mut copies) = (Vec::with_capacity(size), Vec::with_capacity(size));
        for (unit, count) in drawn() {
            for copy in 0..*count {
                rows.extend_from_slice(unit);
                copies.resize(rows.len(), copy.min(u32::from(u8::MAX)) as u8);
            }
        }
        read(&Scores {
            set: &self.set,
            rows: RowSelection::Some(rows),
            absent_of_part: Some(Vec::new()),
            copies: Some(copies),
            context: self.scores.context,
        })
    }
}

/// The id of a copy of a sample.
pub(super) fn copy_id(id: &str, copy: usize) -> String {
    format!("{id} (copy {copy})")
}

impl ScoreSet<'_> {
    /// The id of a copy of the sample of a row.
    pub(super) fn copy_id(&self, row: usize, copy: usize) -> &str {
        let Some(ids) = self.copy_ids.get(copy.min(COPIES).saturating_sub(1)) else { return self.id(row) };
        let all = || (0..self.values.len()).map(|row| copy_id(self.id(row), copy)).collect();
        ids.get_or_init(all).get(row).map_or("", String::as_str)
    }
}

impl<'a> ScoreSet<'a> {
    /// The same scores, with estimates made in another way.
    pub(super) fn under(&'a self, estimation: Estimation) -> ScoreSet<'a> {
        let (values, rows) = (Cow::Borrowed(self.values.as_ref()), self.sample_rows.clone());
        let mut set = ScoreSet::derived(self.columns, self.scorer, values, rows, estimation);
        set.details = Cow::Borrowed(self.details.as_ref());
        (set.absent, set.epochs) = (self.absent.clone(), self.epochs.clone());
        set.raters = RatingSource::within(self);
        set
    }

    /// A copy that depends on nothing but the score columns.
    pub fn detached<'c>(
        &self,
        columns: &'c ScoreColumns,
        scorer: &'c str,
        with_details: bool,
    ) -> ScoreSet<'c> {
        let (values, rows) = (self.values.as_ref().clone(), self.sample_rows.clone());
        let mut set = ScoreSet::derived(columns, scorer, Cow::Owned(values), rows, self.estimation.clone());
        if with_details {
            set.details = Cow::Owned(self.details.as_ref().clone());
        }
        set.absent = self.absent.clone();
        set.epochs = self.epochs.clone();
        set
    }
}

impl Scores<'_> {
    /// The same scores, with estimates made in another way.
    pub fn under<T>(&self, estimation: Estimation, read: impl FnOnce(&Scores<'_>) -> T) -> T {
        self.among(&self.set.under(estimation), read)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use crate::reducers::{max, mean};
    use crate::{Plan, Reducers, Score, ScoreColumns, Value};

    /// Enough samples for several threads, each with three epochs: in passes, and mixed.
    #[test]
    fn many_samples_are_reduced_as_few_are() {
        let samples = 40_000;
        let score = |sample: usize, epoch: usize| ((sample * 31 + epoch * 7) % 11) as i64;
        for step in [1, 7919] {
            let mut columns = ScoreColumns::new(["s"]);
            for row in 0..3 * samples {
                let (sample, epoch) = (row * step % samples, row / samples);
                let value = Score::new(score(sample, epoch));
                columns.push(sample.to_string(), epoch as u32 + 1).score("s", value).unwrap();
            }
            let reducers = Reducers::explicit(vec![Arc::new(mean()), Arc::new(max())]);
            let evaluation = Plan::new().reducers(reducers).evaluate(&columns).unwrap();
            let expected = |row: usize| {
                let sample: usize = columns.id(row).parse().unwrap();
                let scores = [0, 1, 2].map(|epoch| score(sample, epoch));
                let mean = scores.iter().sum::<i64>() as f64 / 3.0;
                [Value::Float(mean), Value::Int(scores.into_iter().max().unwrap())]
            };
            for (at, reduction) in evaluation.reductions.iter().enumerate() {
                assert_eq!(reduction.len(), samples);
                for (row, (id, reduced)) in reduction.iter(&columns).enumerate() {
                    assert_eq!(
                        (id.to_string(), &reduced.value),
                        (columns.id(row).to_owned(), &expected(row)[at])
                    );
                }
            }
        }
    }
}
