//! Which columns of a table to read as what.

use std::path::Path;

use errorbar_core::MetadataKeys;

use super::input::{MemoryTables, TableInput};
use super::layout::{EPOCH, ID, LOG, SCORER};
use super::mapping::TableMapping;
use super::values::{CellUse, NoScorePolicy};
use super::{TableError, TableErrorKind, TableLimits};

/// Which columns of a table to read as what.
///
/// ```
/// use errorbar_core::MetadataKeys;
/// use errorbar_table::TableOptions;
/// let options = TableOptions::new().score_columns(["judge", "human"]).metadata(MetadataKeys::one("topic"));
/// ```
#[derive(Clone, Debug)]
pub struct TableOptions {
    pub(super) score_columns: Vec<String>,
    pub(super) metadata: MetadataKeys,
    /// Whether other columns, which would be skipped, are metadata too.
    pub(super) rest: bool,
    pub(super) details: bool,
    /// What becomes of cells that are no scores.
    pub(super) no_scores: NoScorePolicy,
    /// What reads the cells of score columns.
    pub(super) cells: CellUse,
    /// What the user says about the table.
    pub(super) mapping: TableMapping,
    /// The column that names the sample.
    pub(super) id_column: String,
    /// Those to look for if there is none of that name.
    pub(super) other_id_columns: Vec<String>,
    /// Whether it, or they, are named by the caller.
    pub(super) is_id_named: bool,
    /// The column that numbers the epoch.
    pub(super) epoch_column: String,
    /// Whether it is named by the caller.
    pub(super) is_epoch_named: bool,
    /// Whether rows without a column of ids may be numbered.
    pub(super) number_rows: bool,
    /// Whether they are, because there is none.
    pub(super) is_numbered: bool,
    pub(super) split: TableSplit,
    /// The column of hash buckets.
    pub(super) bucket_column: Option<String>,
    /// Tables that are no files.
    pub(super) memory: MemoryTables,
    pub(super) limits: TableLimits,
}

/// What a table is split by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum TableSplit {
    /// It is one table.
    Whole,
    /// The log that rows are of, if a column names it.
    ByLog,
    /// This column, which must be there; and the task that the column `task` names, if tasks have the same ids.
    By { column: String, tasks: bool },
    /// This column, whose values tell tables apart that have nothing to do with each other.
    Groups(String),
}

impl Default for TableOptions {
    fn default() -> Self {
        TableOptions::new()
    }
}

impl TableOptions {
    /// The scores in the column `score`, else `value`, else the only one with a common name whose cells are scores; every
    /// other column is metadata.
    pub fn new() -> Self {
        TableOptions {
            score_columns: Vec::new(),
            metadata: MetadataKeys::All,
            rest: false,
            details: true,
            no_scores: NoScorePolicy::default(),
            cells: CellUse::default(),
            mapping: TableMapping::default(),
            id_column: ID.to_owned(),
            other_id_columns: Vec::new(),
            is_id_named: false,
            epoch_column: EPOCH.to_owned(),
            is_epoch_named: false,
            number_rows: false,
            is_numbered: false,
            split: TableSplit::Whole,
            bucket_column: None,
            memory: MemoryTables::default(),
            limits: TableLimits::default(),
        }
    }

    /// Reads these columns as scores, each as a separate scorer. None means the default.
    #[must_use]
    pub fn score_columns(mut self, names: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.score_columns = names.into_iter().map(Into::into).collect();
        self
    }

    /// Fetches only this metadata.
    #[must_use]
    pub fn metadata(mut self, keys: MetadataKeys) -> Self {
        self.metadata = keys;
        self
    }

    /// Whether columns that would be skipped are fetched as metadata, too. What the others are stays as it is.
    #[must_use]
    pub fn rest(mut self, rest: bool) -> Self {
        self.rest = rest;
        self
    }

    /// Whether a column is metadata that is fetched, if it is nothing else.
    pub(super) fn fetches(&self, name: &str) -> bool {
        self.rest || self.metadata.contains(name)
    }

    /// The metadata that is asked for by name.
    fn metadata_names(&self) -> &[String] {
        match &self.metadata {
            MetadataKeys::Only(keys) => keys,
            MetadataKeys::All => &[],
        }
    }

    /// Whether metadata of this name is asked for.
    pub(super) fn names_metadata(&self, name: &str) -> bool {
        self.metadata_names().iter().any(|key| key == name)
    }

    /// Whether answers and explanations in the long form are held; they are long, and few metrics read them.
    #[must_use]
    pub fn details(mut self, details: bool) -> Self {
        self.details = details;
        self
    }

    /// What becomes of cells that are no scores: the table is refused, unless this says otherwise.
    #[must_use]
    pub fn no_scores(mut self, policy: NoScorePolicy) -> Self {
        self.no_scores = policy;
        self
    }

    /// What reads the cells of score columns. For labels, which metrics such as `cohen_kappa()` compare, cells stay as they are
    /// written.
    ///
    /// ```
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("raters.csv");
    /// use errorbar_table::{CellUse, TableOptions, read_table};
    /// std::fs::write(&path, "id,score\nq1,polite\nq2,rude\n")?;
    /// assert!(read_table(&path, &TableOptions::new()).is_err());
    /// assert!(read_table(&path, &TableOptions::new().cells(CellUse::Labels)).is_ok());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn cells(mut self, used: CellUse) -> Self {
        self.cells = used;
        self
    }

    /// The samples are named in this column; by default in `id`, else in one with a common name.
    #[must_use]
    pub fn id_column(self, name: impl Into<String>) -> Self {
        self.id_columns([name])
    }

    /// The samples are named in the first of these columns that a table has. None means the default.
    #[must_use]
    pub fn id_columns(mut self, names: impl IntoIterator<Item = impl Into<String>>) -> Self {
        let mut names = names.into_iter().map(Into::into);
        let first = names.next();
        self.is_id_named = first.is_some();
        self.id_column = first.unwrap_or_else(|| ID.to_owned());
        self.other_id_columns = names.collect();
        self
    }

    /// The epochs are numbered in this column; by default in `epoch`, else in one with a common name.
    #[must_use]
    pub fn epoch_column(mut self, name: impl Into<String>) -> Self {
        (self.epoch_column, self.is_epoch_named) = (name.into(), true);
        self
    }

    /// The same with this column as the one of epochs, which was found out.
    pub(super) fn with_epochs(mut self, column: &str) -> Self {
        self.epoch_column = column.to_owned();
        self.mapping.epoch_column = Some(column.to_owned());
        self
    }

    /// Reads the table as a mapping says: its columns, its parts and its format.
    #[must_use]
    pub fn mapping(mut self, mapping: &TableMapping) -> Self {
        self = self.id_columns(&mapping.id_columns).score_columns(&mapping.score_columns);
        self.is_epoch_named = mapping.epoch_column.is_some();
        self.epoch_column = mapping.epoch_column.clone().unwrap_or_else(|| EPOCH.to_owned());
        if let Some(column) = &mapping.by {
            self = self.split_by(column);
        }
        self.mapping = mapping.clone();
        self
    }

    /// Numbers the rows of a table that has no column of ids: each is then a sample. By default that is an error,
    /// because the same number is not the same sample in another table.
    #[must_use]
    pub fn number_rows(mut self, number_rows: bool) -> Self {
        self.number_rows = number_rows;
        self
    }

    /// [`read_tables`](super::read_tables) gives a table for each value of this column; by default for each value of the
    /// column `log`. If samples of one part would repeat, and a column `task` that is not fetched as metadata tells them
    /// apart, there is a table for each task of the part.
    #[must_use]
    pub fn split_by(mut self, column: impl Into<String>) -> Self {
        self.split = TableSplit::By { column: column.into(), tasks: false };
        self
    }

    /// These options with tasks that are tables of their own, if the table is split by a column.
    pub(super) fn by_task(&self) -> Option<Self> {
        let TableSplit::By { column, .. } = &self.split else { return None };
        let split = TableSplit::By { column: column.clone(), tasks: true };
        Some(TableOptions { split, ..self.clone() })
    }

    /// Whether tasks are tables of their own.
    pub(super) fn splits_tasks(&self) -> bool {
        matches!(self.split, TableSplit::By { tasks: true, .. })
    }

    /// The column that the table is split by.
    pub(super) fn split_column(&self) -> Option<&str> {
        match &self.split {
            TableSplit::Whole => None,
            TableSplit::ByLog => Some(LOG),
            TableSplit::By { column, .. } | TableSplit::Groups(column) => Some(column),
        }
    }

    /// The column whose values tell tables apart that have nothing to do with each other.
    pub(super) fn group_column(&self) -> Option<&str> {
        self.split_column().filter(|_| matches!(self.split, TableSplit::Groups(_)))
    }

    /// The column that the table is split by, which it must have.
    pub(super) fn required_column(&self) -> Option<&str> {
        self.split_column().filter(|_| self.split != TableSplit::ByLog)
    }

    /// The names that may be paths into objects, such as `scores.judge.value`.
    pub(super) fn paths(&self) -> Vec<String> {
        let columns = [Some(self.id_column.as_str()), Some(&self.epoch_column), self.split_column()];
        let named = self.other_id_columns.iter().chain(&self.score_columns).map(String::as_str);
        let metadata = self.metadata_names().iter().map(AsRef::as_ref);
        let all = columns.into_iter().flatten().chain(named).chain(metadata);
        all.filter(|name| name.contains('.')).map(str::to_owned).collect()
    }

    /// Reads what these tables are called from memory, and everything else from files.
    #[must_use]
    pub fn memory(mut self, tables: &MemoryTables) -> Self {
        self.memory = tables.clone();
        self
    }

    /// Opens the table of this name.
    pub(super) fn open(&self, path: &Path) -> Result<TableInput, TableError> {
        match self.memory.open(path) {
            Some(input) => Ok(input),
            None => TableInput::open(path, &self.mapping, &self.limits),
        }
    }

    /// Refuses a table that goes beyond these limits.
    #[must_use]
    pub fn limits(mut self, limits: TableLimits) -> Self {
        self.limits = limits;
        self
    }

    /// Refuses names that cannot all be scores, before any file is opened.
    pub(super) fn check(&self) -> Result<(), TableErrorKind> {
        for (at, name) in self.score_columns.iter().enumerate() {
            if *name == self.id_column || *name == self.epoch_column || self.required_column() == Some(name) {
                return Err(TableErrorKind::invalid(
                    format!("the column `{name}` cannot be a score: it identifies the rows"),
                    "name a column that holds scores",
                ));
            }
            if self.score_columns.iter().skip(at + 1).any(|other| other == name) {
                return Err(TableErrorKind::invalid(
                    format!("the score column `{name}` is named twice"),
                    "name each column once",
                ));
            }
        }
        match self.required_column() {
            Some(name) if name == self.id_column || name == self.epoch_column => {
                Err(TableErrorKind::NotASplitColumn(name.to_owned()))
            }
            // It makes a column of each scorer, unless columns of scores are named.
            Some(name) if name == SCORER && self.score_columns.is_empty() => {
                Err(TableErrorKind::NotASplitColumn(name.to_owned()))
            }
            _ => Ok(()),
        }
    }
}
