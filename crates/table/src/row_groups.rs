//! Tables whose rows are on several machines.
//!
//! A machine has some rows of some tables, in any order. What of a table depends on all of its rows (what cells mean,
//! which epochs are absent, whether they are counted from 0) waits until they are together: [`RowGroup`]s hold rows as they
//! are, and [`ScoreTable::of_rows`] does the rest.

use std::path::Path;

use errorbar_core::ScoreColumns;

use super::builder;
use super::layout::{TableLayout, refuse_twice};
use super::mapping::TableMapping;
use super::options::TableSplit;
use super::{
    RowLocations, ScoreTable, TableError, TableErrorKind, TableLocation, TableOptions, WantedColumn,
};
use super::{give_meaning, no_column};

/// Which columns say where rows of distributed tables belong.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct RowLabels {
    /// The column that names the group; without it all rows are of one.
    pub group: Option<String>,
    /// The column of hash buckets: numbers below [`BUCKETS`](errorbar_core::engine::BUCKETS) that depend on group and id alone.
    pub bucket: Option<String>,
}

impl RowLabels {
    /// These columns.
    pub fn new(group: Option<String>, bucket: Option<String>) -> Self {
        RowLabels { group, bucket }
    }
}

/// The rows of one group that a machine has.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct RowGroup {
    /// The group, if a column names it.
    pub group: Option<String>,
    /// The rows, with cells as they are written.
    pub columns: ScoreColumns,
    /// The hash bucket of each row, if a column has it.
    pub buckets: Option<Vec<u16>>,
}

/// What is wrong with the rows of a group.
#[derive(Debug)]
#[non_exhaustive]
pub struct RowGroupError {
    /// The group, if the problem is with one.
    pub group: Option<String>,
    /// The problem. It has no location, because rows have no order.
    pub error: TableError,
}

impl From<TableError> for RowGroupError {
    fn from(error: TableError) -> Self {
        let group = error.part().map(str::to_owned);
        RowGroupError { group, error: error.locate(|_| TableLocation::Unordered) }
    }
}

/// What the columns of a table are whose rows are on several machines.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RowColumns {
    /// The columns that are read.
    pub read: Vec<String>,
    /// The columns that are metadata, read or not.
    pub metadata_keys: Vec<String>,
    /// The column that identifies the samples.
    pub id: String,
}

impl RowColumns {
    /// What columns of these names are.
    ///
    /// # Errors
    /// Columns that are missing or there twice.
    pub fn new(names: &[&str], options: &TableOptions) -> Result<Self, TableError> {
        let options = resolved(names, options, &RowLabels::default())?;
        let layout = TableLayout::new(names, &options)?;
        Ok(RowColumns {
            read: layout.columns.into_iter().map(|column| column.name).collect(),
            metadata_keys: layout.metadata_keys,
            id: options.id_column,
        })
    }
}

/// The options for columns of these names. Names alone decide what a column is, because every machine must decide the same.
pub(super) fn resolved(
    names: &[&str],
    options: &TableOptions,
    labels: &RowLabels,
) -> Result<TableOptions, TableErrorKind> {
    let mut options = options.clone();
    options.split = labels.group.clone().map_or(TableSplit::Whole, TableSplit::Groups);
    options.bucket_column = labels.bucket.clone();
    let has = |name: &String| names.contains(&name.as_str());
    if !has(&options.id_column) {
        let other = options.other_id_columns.iter().find(|name| has(name));
        options.id_column = other.unwrap_or(&options.id_column).clone();
    }
    options.check()?;
    refuse_twice(names)?;
    if options.is_epoch_named && !has(&options.epoch_column) {
        let found = names.iter().map(|name| (*name).to_owned()).collect();
        return Err(no_column(WantedColumn::Epoch, &[&options.epoch_column], found));
    }
    Ok(options)
}

impl ScoreTable {
    /// A table of all of its rows, which were read in parts. `metadata_keys` are the columns of the table that are metadata,
    /// fetched or not, and the mapping is how it was read; `path` names it in errors.
    ///
    /// # Errors
    /// Epochs that cannot be completed, cells that are no scores, and more memory than the options allow.
    pub fn of_rows(
        columns: ScoreColumns,
        metadata_keys: Vec<String>,
        options: &TableOptions,
        path: impl AsRef<Path>,
    ) -> Result<Self, TableError> {
        let budget = options.limits.budget_of(columns.heap_bytes() as u64);
        let table = builder::table_of(columns, budget).map_err(|error| error.at_path(path.as_ref()))?;
        let mapping = TableMapping { by: None, ..options.mapping.clone() };
        let mut table = ScoreTable { metadata_keys, mapping, locations: RowLocations::unordered(), ..table };
        give_meaning(std::slice::from_mut(&mut table), options)
            .map_err(|kind| TableError::from(kind).at_path(path.as_ref()))?;
        Ok(table)
    }
}
