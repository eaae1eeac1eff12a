//! The same scores under another plan, and with samples that occur several times or not at all.

use std::borrow::Cow;
use std::sync::PoisonError;

use super::{COPIES, RatingSource, RowSelection, ScoreSet, Scores};
use crate::columns::{ScoreColumns, ScoreDetails};
use crate::error_plan::{ErrorMethod, ErrorPlan, Estimation, IntervalChoice, IntervalMethod};

/// What resamples of scores have in common: values are converted once for all of them, and metrics compute nothing but
/// the number.
pub struct Resampler<'a> {
    set: ScoreSet<'a>,
    scores: Scores<'a>,
}

/// The rows of each unit, unit after unit.
pub struct UnitRows {
    rows: Vec<u32>,
    lengths: Vec<u32>,
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
        let Scores { rows, absent_of_part, copies, .. } = self.scores.clone();
        let result = read(&Scores { set: &self.set, rows, absent_of_part, copies });
        self.scores.set.note_unconvertible_of(&self.set);
        result
    }

    /// The rows of units, each given by the positions of its scores.
    pub fn rows_of<'u>(&self, units: impl Iterator<Item = &'u [u32]>) -> UnitRows {
        let mut of_units = UnitRows { rows: Vec::new(), lengths: Vec::new() };
        for unit in units {
            of_units.rows.extend(unit.iter().map(|at| self.scores.row(*at as usize) as u32));
            of_units.lengths.push(unit.len() as u32);
        }
        of_units
    }

    /// A resample: each unit as often as counted.
    pub fn resample<T>(&self, units: &UnitRows, counts: &[u32], read: impl FnOnce(&Scores<'_>) -> T) -> T {
        let size =
            units.lengths.iter().zip(counts).map(|(length, count)| *length as usize * *count as usize).sum();
        let (mut rows, mut copies) = (Vec::with_capacity(size), Vec::with_capacity(size));
        let mut rest = units.rows.as_slice();
        for (length, count) in units.lengths.iter().zip(counts) {
            let (unit, after) = rest.split_at_checked(*length as usize).unwrap_or_default();
            rest = after;
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
        let (values, details) = (Cow::Borrowed(self.values.as_ref()), Cow::Borrowed(self.details.as_ref()));
        let rows = self.sample_rows.clone();
        let mut set = ScoreSet::of_values(self.columns, self.scorer, values, details, rows, estimation);
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
        let details = if with_details { self.details.as_ref().clone() } else { ScoreDetails::default() };
        let (values, sample_rows) = (self.values.as_ref().clone(), self.sample_rows.clone());
        let mut set =
            ScoreSet::derived(columns, scorer, values, details, sample_rows, self.estimation.clone());
        set.absent = self.absent.clone();
        set.epochs = self.epochs.clone();
        set
    }

    /// Remembers the values without a meaning as a number that a copy of these scores met.
    pub(super) fn note_unconvertible_of(&self, copy: &ScoreSet<'_>) {
        let mut met = self.converted.met_elsewhere.lock().unwrap_or_else(PoisonError::into_inner);
        met.extend(copy.unconvertible());
    }
}

impl Scores<'_> {
    /// The same scores, with intervals at this level.
    pub(crate) fn at_level<T>(&self, level: f64, read: impl FnOnce(&Scores<'_>) -> T) -> T {
        let estimation = self.estimation();
        let errors = ErrorPlan { level: Some(level), ..estimation.errors.clone() };
        let set = self.set.under(Estimation { errors, ..estimation.clone() });
        let Scores { rows, absent_of_part, copies, .. } = self.clone();
        let result = read(&Scores { set: &set, rows, absent_of_part, copies });
        self.set.note_unconvertible_of(&set);
        result
    }
}
