//! The reduced scores behind estimates.

use crate::columns::{ScoreColumns, ScoreDetails, ValueColumn};
use crate::score::SampleId;
use crate::score::Score;
use crate::value::Value;

/// The reduced scores of one scorer under one reducer.
#[derive(Debug, Clone)]
pub struct Reduction {
    /// The scorer.
    pub scorer: String,
    /// The reducer, unless it is the implied mean.
    pub reducer: Option<String>,
    pub(crate) samples: ReducedSamples,
}

impl Reduction {
    /// The number of samples.
    pub fn len(&self) -> usize {
        self.samples.values.len()
    }

    /// Whether there is no sample.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Sample id and reduced score, in order; `columns` are those that were reduced.
    pub fn iter<'a>(
        &'a self,
        columns: &'a ScoreColumns,
    ) -> impl Iterator<Item = (SampleId, Score)> + use<'a> {
        (0..self.len()).map(self.sample(columns))
    }

    /// The same in the order of [`SampleId::sort_key`].
    pub fn iter_by_key<'a>(
        &'a self,
        columns: &'a ScoreColumns,
    ) -> impl Iterator<Item = (SampleId, Score)> + use<'a> {
        let mut order: Vec<usize> = (0..self.len()).collect();
        order.sort_by_cached_key(|at| columns.sample_id(self.row(*at)).sort_key());
        order.into_iter().map(self.sample(columns))
    }

    fn row(&self, at: usize) -> usize {
        self.samples.rows.get(at).map_or(at, |row| *row as usize)
    }

    /// The samples among columns in another order, in which each row was one of these.
    pub(crate) fn map_rows(&mut self, row_of: &[u32]) {
        let row = |at: usize| row_of.get(self.row(at)).copied().unwrap_or(u32::MAX);
        self.samples.rows = (0..self.len()).map(row).collect();
        self.samples.details.map_panel_rows(row_of);
    }

    fn sample<'a>(&'a self, columns: &'a ScoreColumns) -> impl Fn(usize) -> (SampleId, Score) + use<'a> {
        let voters = columns.scorer(&self.scorer);
        move |at| {
            let value = self.samples.values.to_value(at).unwrap_or(Value::Unscored);
            let score = self.samples.details.to_detail(at, voters).with_value(value);
            (columns.sample_id(self.row(at)), score)
        }
    }
}

/// Reduced scores, stored as columns.
#[derive(Debug, Clone, Default)]
pub(crate) struct ReducedSamples {
    pub(crate) rows: Vec<u32>,
    pub(crate) values: ValueColumn,
    pub(crate) details: ScoreDetails,
}
