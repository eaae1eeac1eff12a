//! A metadata key of the samples, as metrics group and cluster by it.

use std::borrow::Cow;

use super::{RowSelection, ScoreSet, Scores};
use crate::columns::MetadataColumn;
use crate::error::{Error, Result};

impl<'a> Scores<'a> {
    /// A metadata key of the samples.
    pub fn key<'k>(&self, metric: &'k str, key: &'k str) -> KeyColumn<'a, 'k> {
        KeyColumn { set: self.set, column: self.set.columns.metadata_column(key), metric, key }
    }

    /// The code of the metadata value at each position; an error names the first sample without the key.
    pub fn codes<'k>(&self, key: &KeyColumn<'k, '_>) -> Result<Cow<'k, [u32]>> {
        // All rows as they are: their codes are there already.
        if let (RowSelection::All(rows), None, Some(column)) = (&self.rows, &self.set.sample_rows, key.column)
            && let Some(codes) = column.codes_of_all(*rows)
        {
            return Ok(Cow::Borrowed(codes));
        }
        let mut codes = Vec::with_capacity(self.len());
        for at in 0..self.len() {
            codes.push(key.code(self.row(at), || self.sample_id(at).to_owned())?);
        }
        Ok(Cow::Owned(codes))
    }
}

/// One metadata key, as a metric requests it.
pub struct KeyColumn<'a, 'k> {
    set: &'a ScoreSet<'a>,
    column: Option<&'a MetadataColumn>,
    pub(crate) metric: &'k str,
    pub(crate) key: &'k str,
}

impl<'a> KeyColumn<'a, '_> {
    #[inline]
    fn code(&self, row: usize, sample: impl FnOnce() -> String) -> Result<u32> {
        let code = self.column.and_then(|column| column.code(self.set.sample_row(row)));
        code.ok_or_else(|| Error::MissingKey {
            metric: self.metric.to_owned(),
            key: self.key.to_owned(),
            sample: sample(),
            known: self.set.columns.metadata_keys().take(12).map(str::to_owned).collect(),
        })
    }

    /// The code of a row of the score columns; none without the key.
    pub(crate) fn code_of_row(&self, row: u32) -> Option<u32> {
        self.column.and_then(|column| column.code(row as usize))
    }

    /// The number of distinct values.
    pub(crate) fn distinct(&self) -> usize {
        self.column.map_or(0, MetadataColumn::distinct)
    }

    /// The value of a code.
    pub(crate) fn value(&self, code: usize) -> Option<&'a serde_json::Value> {
        self.column?.value(code)
    }
}
