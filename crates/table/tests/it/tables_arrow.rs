//! Tables in memory: of each type of Arrow the numbers that the same data gives as CSV or JSON lines, or a clear refusal.

mod nested;
mod numbers;
mod streams;

use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch, RecordBatchIterator};
use arrow_schema::{ArrowError, Field, Schema, SchemaRef};
use errorbar_core::{MetadataKeys, Plan, Registry, Results};
use errorbar_table::{ArrowTable, MemoryTables, ScoreTable, TableError, TableOptions, read_table};

/// A batch of these columns.
fn batch(columns: &[(&str, ArrayRef)]) -> RecordBatch {
    let fields: Vec<Field> =
        columns.iter().map(|(name, array)| Field::new(*name, array.data_type().clone(), true)).collect();
    let arrays = columns.iter().map(|(_, array)| Arc::clone(array)).collect();
    RecordBatch::try_new(Arc::new(Schema::new(fields)), arrays).unwrap()
}

/// A table of what a stream gives.
fn table(schema: SchemaRef, batches: Vec<Result<RecordBatch, ArrowError>>) -> ArrowTable {
    ArrowTable::new(Box::new(RecordBatchIterator::new(batches, schema)))
}

fn read_batches(batches: Vec<RecordBatch>, options: &TableOptions) -> Result<ScoreTable, TableError> {
    let schema = batches[0].schema();
    read_arrow(table(schema, batches.into_iter().map(Ok).collect()), options)
}

fn read_arrow(table: ArrowTable, options: &TableOptions) -> Result<ScoreTable, TableError> {
    let tables: MemoryTables = [("data", table)].into_iter().collect();
    read_table("data", &options.clone().memory(&tables))
}

/// Reads these columns.
fn read(columns: &[(&str, ArrayRef)]) -> Result<ScoreTable, TableError> {
    read_batches(vec![batch(columns)], &TableOptions::new())
}

fn refused(columns: &[(&str, ArrayRef)]) -> String {
    read(columns).unwrap_err().to_string()
}

/// The figures of a table.
fn figures(table: &ScoreTable) -> errorbar_core::Result<Results> {
    let mut plan = Plan::new();
    let metrics = "[mean(), count(), std()]".parse().unwrap();
    plan.task_metrics = Some(Registry::built_in().metrics(&metrics).unwrap());
    plan.evaluate(&table.columns).map(|evaluation| evaluation.results)
}

/// The same as text, to the last bit.
fn shown(table: &ScoreTable) -> String {
    format!("{:#?}", figures(table))
}

/// All rows of a table: id, epoch, whether it errored, scores and metadata.
fn rows(table: &ScoreTable) -> Vec<String> {
    let columns = &table.columns;
    let row = |row: usize| {
        let scores: Vec<_> = columns.scorer_names().map(|name| (name, columns.score(row, name))).collect();
        let (id, epoch) = (columns.id(row), columns.epoch(row));
        format!("{id} {epoch} {} {scores:?} {:?}", columns.is_errored(row), columns.metadata_row(row))
    };
    (0..columns.len()).map(row).collect()
}

fn with_metadata(keys: &[&str]) -> TableOptions {
    TableOptions::new().metadata(MetadataKeys::Only(keys.iter().map(|key| (*key).into()).collect()))
}
