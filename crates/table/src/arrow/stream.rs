//! Batches of a stream, one after the other, and those that are kept of them.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayReader, ArrayRef, RecordBatch, RecordBatchOptions, RecordBatchReader};
use arrow_schema::{ArrowError, Fields, Schema, SchemaRef};

use crate::TableErrorKind;

/// What a stream gives.
pub(super) type Batches = Box<dyn Iterator<Item = Result<RecordBatch, StreamError>> + Send>;

/// Why a stream could not be read to its end.
#[derive(Clone, Debug)]
pub(super) enum StreamError {
    /// The library that makes it failed, in words.
    Failed(String),
    /// This row, from 1, is null as a whole.
    NullRow(u64),
}

impl From<ArrowError> for StreamError {
    fn from(error: ArrowError) -> Self {
        // What follows is where in a program it was raised.
        StreamError::Failed(error.to_string().lines().next().unwrap_or_default().to_owned())
    }
}

impl From<StreamError> for TableErrorKind {
    fn from(error: StreamError) -> Self {
        match error {
            StreamError::Failed(problem) => TableErrorKind::Stream(problem),
            StreamError::NullRow(row) => TableErrorKind::NullRow(row),
        }
    }
}

pub(super) fn batches_of_reader(reader: Box<dyn RecordBatchReader + Send>) -> Batches {
    Box::new(reader.map(|batch| Ok(batch?)))
}

/// The batches of structures with these fields.
pub(super) fn batches_of_arrays(reader: Box<dyn ArrayReader + Send>, fields: &Fields) -> Batches {
    let schema = Arc::new(Schema::new(fields.clone()));
    let mut rows = 0;
    Box::new(reader.map(move |array| {
        let array = array?;
        let batch = batch_of_array(&array, Arc::clone(&schema), rows);
        rows += array.len() as u64;
        batch
    }))
}

/// The batch of a structure behind this number of rows. A batch drops which rows are null, so that it would have what
/// happens to be in their fields.
fn batch_of_array(array: &ArrayRef, schema: SchemaRef, before: u64) -> Result<RecordBatch, StreamError> {
    let Some(structure) = array.as_struct_opt() else {
        return Err(StreamError::Failed(format!("it holds {} and no rows", array.data_type())));
    };
    let nulls = structure.nulls().filter(|nulls| nulls.null_count() > 0);
    let null = nulls.and_then(|nulls| (0..nulls.len()).find(|row| nulls.is_null(*row)));
    if let Some(row) = null {
        return Err(StreamError::NullRow(before + row as u64 + 1));
    }
    let options = RecordBatchOptions::new().with_row_count(Some(structure.len()));
    Ok(RecordBatch::try_new_with_options(schema, structure.columns().to_vec(), &options)?)
}

/// Batches that were read from a stream, and the rest of it.
pub(super) struct BatchStream {
    reader: Option<Batches>,
    /// Those that were read, in order; none for one that was handed on.
    pub(super) batches: Vec<Option<RecordBatch>>,
    /// The first rows, which are looked at several times.
    first: Vec<RecordBatch>,
    first_rows: usize,
    pub(super) is_kept: bool,
    /// Why it could not be read to its end. Each reader fails, not only the first.
    failed: Option<StreamError>,
}

impl BatchStream {
    pub(super) fn new(reader: Batches) -> Self {
        BatchStream {
            reader: Some(reader),
            batches: Vec::new(),
            first: Vec::new(),
            first_rows: 0,
            is_kept: false,
            failed: None,
        }
    }

    /// The batch at this position; none behind the last.
    pub(super) fn batch(&mut self, at: usize) -> Result<Option<RecordBatch>, TableErrorKind> {
        if at >= self.batches.len() && !self.pull()? {
            return Ok(None);
        }
        let batch = match self.batches.get_mut(at) {
            Some(batch) if self.is_kept => batch.clone(),
            Some(batch) => batch.take(),
            None => None,
        };
        batch.map(Some).ok_or_else(|| TableErrorKind::Stream("they were read already".to_owned()))
    }

    /// Reads a batch; false at the end.
    fn pull(&mut self) -> Result<bool, TableErrorKind> {
        if let Some(error) = &self.failed {
            return Err(error.clone().into());
        }
        let next = self.reader.as_mut().and_then(Iterator::next);
        match next.transpose() {
            Ok(Some(batch)) => {
                self.batches.push(Some(batch));
                Ok(true)
            }
            Ok(None) => {
                self.reader = None;
                Ok(false)
            }
            Err(error) => {
                self.reader = None;
                self.failed = Some(error.clone());
                Err(error.into())
            }
        }
    }

    /// The first rows, at least this many if there are.
    pub(super) fn first(&mut self, rows: usize) -> Result<Vec<RecordBatch>, TableErrorKind> {
        while self.first_rows < rows {
            if self.first.len() == self.batches.len() && !self.pull()? {
                break;
            }
            let Some(Some(batch)) = self.batches.get(self.first.len()) else { break };
            let part = batch.slice(0, batch.num_rows().min(rows - self.first_rows));
            self.first_rows += part.num_rows();
            self.first.push(part);
        }
        Ok(self.first.clone())
    }
}
