//! Which column of a table is what.

use std::collections::HashSet;

use super::error::TableError;
use super::{TableErrorKind, TableOptions, WantedColumn, no_column};

/// The column that names the sample.
pub(super) const ID: &str = "id";
/// The column that numbers the epoch.
pub(super) const EPOCH: &str = "epoch";
/// The column that names the scorer; a table that has it has a row per sample, epoch and scorer.
pub(super) const SCORER: &str = "scorer";

/// The column that names the log, where a table is made of several.
pub(super) const LOG: &str = "log";
/// The column that names the task of a log or part.
pub(super) const TASK: &str = "task";

/// The score columns that are looked for when none is named: the first that is there.
pub(super) const DEFAULT_SCORES: [&str; 2] = ["score", "value"];
/// The same where scorers have their own rows: exported logs use `value`.
pub(super) const LONG_SCORES: [&str; 2] = ["value", "score"];

/// What a column is read as, in the order in which columns are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum ColumnRole {
    Id,
    Epoch,
    /// Metadata to fetch, by its number.
    Metadata(usize),
    /// A score, by its number among the score columns.
    Score(usize),
    /// This only where scorers have their own rows.
    Scorer,
    /// These where a row has one score.
    Answer,
    Explanation,
    /// These only where scorers have their own rows.
    Reason,
    Error,
    /// These only where a table is split into those of its logs.
    Log,
    Task,
    Model,
    /// The hash bucket, only where rows are on several machines.
    Bucket,
    /// Metadata that is not fetched.
    Skipped,
    /// Not read, and no metadata either.
    Unread,
}

impl ColumnRole {
    /// The role of a column of this name; `number` is what it gets if it is metadata.
    pub(super) fn of(
        name: &str,
        scores: &[String],
        is_long: bool,
        options: &TableOptions,
        number: usize,
    ) -> Self {
        let is_split = options.split_column().is_some() && options.group_column().is_none();
        // Of one score the row has the answer; of several it is not known which, and it stays metadata.
        let is_detail = |name: &str| {
            let is_free = !options.metadata.contains(name) && !scores.iter().any(|score| score == name);
            options.details && is_free
        };
        let has_details = |name: &str| is_detail(name) && scores.len() == 1;
        match name {
            // Other columns of a spreadsheet, or the index of a data frame.
            "" => ColumnRole::Unread,
            name if name == options.id_column => ColumnRole::Id,
            name if name == options.epoch_column => ColumnRole::Epoch,
            name if is_long && options.split_column() == Some(name) => ColumnRole::Log,
            name if options.group_column() == Some(name) => ColumnRole::Log,
            name if options.bucket_column.as_deref() == Some(name) => ColumnRole::Bucket,
            SCORER if is_long => ColumnRole::Scorer,
            "answer" | "explanation" if is_long && !options.details => ColumnRole::Unread,
            "answer" if is_long || has_details(name) => ColumnRole::Answer,
            "explanation" if is_long || has_details(name) => ColumnRole::Explanation,
            "reason" if is_long => ColumnRole::Reason,
            "error" if is_long => ColumnRole::Error,
            // What is grouped by is metadata.
            TASK if is_long && is_split && !options.metadata.contains(name) => ColumnRole::Task,
            "model" if is_long && is_split && !options.metadata.contains(name) => ColumnRole::Model,
            _ => match scores.iter().position(|score| score == name) {
                Some(at) => ColumnRole::Score(at),
                None if options.metadata.contains(name) => ColumnRole::Metadata(number),
                None if matches!(name, "answer" | "explanation") && is_detail(name) => {
                    ColumnRole::Metadata(number)
                }
                None if options.rest => ColumnRole::Metadata(number),
                None => ColumnRole::Skipped,
            },
        }
    }

    pub(super) fn is_metadata(self) -> bool {
        matches!(self, ColumnRole::Metadata(_) | ColumnRole::Skipped)
    }
}

/// A column to be read, and its place among all.
#[derive(Clone, Debug)]
pub(super) struct TableColumn {
    pub(super) name: String,
    pub(super) at: usize,
    pub(super) role: ColumnRole,
}

/// What the columns of a table are.
#[derive(Debug)]
pub(super) struct TableLayout {
    /// The number of columns, read or not.
    pub(super) width: usize,
    /// Whether rows are read one by one, because one is a sample, epoch and scorer, or because a column says of which log
    /// it is; else it is a sample and epoch, with a column per scorer.
    pub(super) is_long: bool,
    /// Whether a column names the scorer.
    pub(super) names_scorers: bool,
    /// The columns to read, by role.
    pub(super) columns: Vec<TableColumn>,
    /// The score columns.
    pub(super) scores: Vec<String>,
    /// The metadata to fetch, by number.
    pub(super) metadata: Vec<String>,
    /// All metadata, for messages.
    pub(super) metadata_keys: Vec<String>,
    /// The column that the table is split by, if every row must have a value there.
    split: Option<String>,
    /// Whether tasks are tables of their own.
    pub(super) splits_tasks: bool,
    /// Whether rows are numbered, because no column has their ids.
    pub(super) is_numbered: bool,
    /// Whether rows have no order, so that it is of no use to know where they were.
    pub(super) is_unordered: bool,
}

impl TableLayout {
    /// The column that the table is split by, if every row must have a value there.
    pub(super) fn split(&self) -> Option<&str> {
        self.split.as_deref()
    }

    /// Whether a string that starts like a list or a map is one, if it is a score.
    pub(super) fn has_structured_text(&self) -> bool {
        self.is_long
    }

    /// What the columns of these names are.
    pub(super) fn new(names: &[&str], options: &TableOptions) -> Result<Self, TableError> {
        let found = || names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        let first_of = |wanted: &[&str]| match wanted.iter().find(|name| names.contains(name)) {
            Some(name) => Ok((*name).to_owned()),
            None => Err(no_column(WantedColumn::Score, wanted, found())),
        };
        if !names.contains(&options.id_column.as_str()) && !options.is_numbered {
            let wanted = vec![options.id_column.clone()];
            let (role, nearest) = (WantedColumn::Id, None);
            return Err(TableErrorKind::NoColumn { role, wanted, found: found(), nearest }.into());
        }
        if let Some(column) = options.required_column().filter(|column| !names.contains(column)) {
            return Err(no_column(WantedColumn::Split, &[column], found()).into());
        }
        let names_scorers = names.contains(&SCORER) && options.score_columns.is_empty();
        let parts = options.split_column().filter(|_| options.group_column().is_none());
        let is_split = parts.is_some_and(|column| names.contains(&column));
        let is_long = names_scorers || is_split;
        let scores = match options.score_columns.as_slice() {
            [] if names_scorers => vec![first_of(&LONG_SCORES)?],
            [] => vec![first_of(&DEFAULT_SCORES)?],
            wanted => wanted.iter().map(|name| first_of(&[name])).collect::<Result<_, _>>()?,
        };
        let (mut columns, mut metadata, mut metadata_keys) = (Vec::new(), Vec::new(), Vec::new());
        for (at, name) in names.iter().enumerate() {
            let role = ColumnRole::of(name, &scores, is_long, options, metadata.len());
            let name = (*name).to_owned();
            // What is a part of the score here is metadata to those who ask for it.
            if role.is_metadata() || !is_long && matches!(role, ColumnRole::Answer | ColumnRole::Explanation)
            {
                metadata_keys.push(name.clone());
            }
            if let ColumnRole::Metadata(_) = role {
                metadata.push(name.clone());
            }
            if !matches!(role, ColumnRole::Skipped | ColumnRole::Unread) {
                columns.push(TableColumn { name, at, role });
            }
        }
        columns.sort_by_key(|column| column.role);
        Ok(TableLayout {
            width: names.len(),
            is_long,
            names_scorers,
            columns,
            scores,
            metadata,
            metadata_keys,
            split: options.required_column().map(str::to_owned),
            splits_tasks: options.splits_tasks(),
            is_numbered: options.is_numbered,
            is_unordered: options.group_column().is_some(),
        })
    }

    pub(super) fn metadata(&self) -> impl Iterator<Item = &str> {
        self.metadata.iter().map(String::as_str)
    }
}

/// Refuses two columns of one name.
pub(super) fn refuse_twice(names: &[&str]) -> Result<(), TableErrorKind> {
    let mut seen = HashSet::with_capacity(names.len());
    // Spreadsheets have any number of columns without a name; they are not read.
    match names.iter().find(|name| !name.is_empty() && !seen.insert(**name)) {
        Some(name) => Err(TableErrorKind::duplicate_column(name)),
        None => Ok(()),
    }
}
