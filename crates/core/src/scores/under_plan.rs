//! The same scores under another plan.

use std::borrow::Cow;
use std::sync::PoisonError;

use super::{ConversionCache, RatingSource, ScoreSet, Scores};
use crate::columns::{ScoreColumns, ScoreDetails};
use crate::error_plan::{ErrorPlan, Estimation};

impl<'a> ScoreSet<'a> {
    /// The same scores, with estimates made in another way.
    pub(super) fn under(&'a self, estimation: Estimation) -> ScoreSet<'a> {
        ScoreSet {
            columns: self.columns,
            scorer: self.scorer,
            values: Cow::Borrowed(self.values.as_ref()),
            details: Cow::Borrowed(self.details.as_ref()),
            sample_rows: self.sample_rows.clone(),
            estimation,
            absent: self.absent.clone(),
            raters: RatingSource::within(self),
            epochs: self.epochs.clone(),
            converted: ConversionCache::default(),
            copy_ids: Default::default(),
        }
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
