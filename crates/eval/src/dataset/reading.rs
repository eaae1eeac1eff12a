//! From records to samples: what all formats share.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use errorbar_core::Result;

use super::error::DatasetError;
use super::ids::LocatedSample;
use super::limits::{MemoryBudget, sample_bytes};
use super::record::Record;
use crate::Sample;

/// What makes a sample of a record; `None` is a record to skip.
pub(super) type ToSample = dyn Fn(&Record) -> Result<Option<Sample>> + Send + Sync;

/// Whether a reader goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stop {
    /// As long as there is something to read.
    AtTheEnd,
    /// Enough is read.
    Early,
}

/// Takes the records of all files of a dataset and keeps their samples.
pub(super) struct RecordSink<'s> {
    to_sample: &'s ToSample,
    at_most: usize,
    budget: MemoryBudget,
    samples: Vec<LocatedSample>,
    /// How many records were skipped.
    skipped: usize,
    /// The fields of the first record.
    fields: Option<Arc<[String]>>,
    /// The columns of the first file that has columns.
    columns: Option<(PathBuf, Vec<String>)>,
}

impl<'s> RecordSink<'s> {
    pub(super) fn new(to_sample: &'s ToSample, at_most: usize) -> Self {
        RecordSink {
            to_sample,
            at_most,
            budget: MemoryBudget::default(),
            samples: Vec::new(),
            skipped: 0,
            fields: None,
            columns: None,
        }
    }

    /// The samples, the number of records that were skipped, and the fields of the first record.
    pub(super) fn finish(self) -> (Vec<LocatedSample>, usize, Arc<[String]>) {
        (self.samples, self.skipped, self.fields.unwrap_or_default())
    }

    /// Checks that a file has the columns of those before it.
    pub(super) fn names(&mut self, path: &Path, names: &[String]) -> std::result::Result<(), DatasetError> {
        self.fields.get_or_insert_with(|| names.into());
        let Some((first, columns)) = &self.columns else {
            self.columns = Some((path.to_owned(), names.to_vec()));
            return Ok(());
        };
        let lacks = |all: &[String], some: &[String]| some.iter().find(|name| !all.contains(name)).cloned();
        // Tables of many columns are the same in most cases, in the same order.
        let difference = match columns == names {
            true => None,
            false => lacks(names, columns)
                .map(|column| (path, first.as_path(), column))
                .or_else(|| lacks(columns, names).map(|column| (first.as_path(), path, column))),
        };
        match difference {
            None => Ok(()),
            Some((lacks, has, column)) => {
                Err(DatasetError::MixedColumns { lacks: lacks.to_owned(), has: has.to_owned(), column })
            }
        }
    }

    /// Takes a record that was read from this many bytes.
    pub(super) fn take(&mut self, record: Record, bytes: u64) -> Result<Stop, DatasetError> {
        self.fields.get_or_insert_with(|| record.names().map(str::to_owned).collect());
        let sample = (self.to_sample)(&record);
        // A column that is not there explains whatever else went wrong with the record.
        if let Some(problem) = record.take_problem() {
            return Err(problem);
        }
        let wrong = |problem: String| DatasetError::Record { place: record.place().clone(), problem };
        let sample = sample.map_err(|problem| wrong(problem.to_string()))?;
        self.budget.allow(bytes);
        let Some(sample) = sample else {
            self.skipped += 1;
            return Ok(Stop::AtTheEnd);
        };
        self.budget.add(sample_bytes(&sample)).map_err(wrong)?;
        self.samples.push((record.place().clone(), Arc::new(sample)));
        Ok(if self.samples.len() < self.at_most { Stop::AtTheEnd } else { Stop::Early })
    }
}
