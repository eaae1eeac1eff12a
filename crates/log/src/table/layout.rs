//! Which column of a table is what.

use std::collections::HashSet;

use super::error::ReadError;
use super::{EPOCH, ID, TableErrorKind, TableOptions, no_score_column};

/// The score columns that are looked for when none is named: the first that is there.
pub(super) const DEFAULT_SCORES: [&str; 2] = ["score", "value"];
/// The same where scorers have rows of their own: exported logs say `value`.
pub(super) const LONG_SCORES: [&str; 2] = ["value", "score"];

/// The column that names the scorer; a table that has it has a row per sample, epoch and scorer.
pub(super) const SCORER: &str = "scorer";
/// What a table in the long form may record with a score.
pub(super) const ANSWER: &str = "answer";
pub(super) const EXPLANATION: &str = "explanation";
pub(super) const REASON: &str = "reason";
/// The column that says that the sample errored, in the long form.
pub(super) const ERROR: &str = "error";

/// A column and its place among all.
#[derive(Clone, Debug)]
pub(super) struct TableColumn {
    pub(super) name: String,
    pub(super) at: usize,
}

/// What each column of a table is.
#[derive(Debug)]
pub(super) struct TableLayout {
    pub(super) columns: usize,
    pub(super) id: usize,
    pub(super) epoch: Option<usize>,
    pub(super) form: Form,
    /// The metadata to fetch.
    pub(super) metadata: Vec<TableColumn>,
    /// All metadata, for messages.
    pub(super) metadata_keys: Vec<String>,
}

/// What a row of the table is.
#[derive(Debug)]
pub(super) enum Form {
    /// A sample and epoch, with a column per scorer.
    Wide(Vec<TableColumn>),
    /// A sample, epoch and scorer.
    Long(LongColumns),
}

/// The columns of the long form besides id, epoch and metadata.
#[derive(Debug)]
pub(super) struct LongColumns {
    pub(super) scorer: usize,
    pub(super) value: TableColumn,
    pub(super) answer: Option<usize>,
    pub(super) explanation: Option<usize>,
    /// Whether answers and explanations are held.
    pub(super) holds_details: bool,
    pub(super) reason: Option<usize>,
    pub(super) error: Option<usize>,
}

impl LongColumns {
    /// The columns of answers and explanations, if they are to be read.
    pub(super) fn details(&self) -> [Option<usize>; 2] {
        if self.holds_details { [self.answer, self.explanation] } else { [None, None] }
    }

    fn contains(&self, at: usize) -> bool {
        let named = [self.answer, self.explanation, self.reason, self.error];
        at == self.scorer || at == self.value.at || named.contains(&Some(at))
    }
}

impl TableLayout {
    /// What the columns of these names are.
    pub(super) fn new(names: &[&str], options: &TableOptions) -> Result<Self, ReadError> {
        let found = || names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        let place = |name: &str| names.iter().position(|other| *other == name);
        let column = |name: &str| place(name).map(|at| TableColumn { name: name.to_owned(), at });
        let first_of = |wanted: &[&str]| {
            wanted.iter().find_map(|name| column(name)).ok_or_else(|| no_score_column(wanted, found()))
        };
        let id = place(ID).ok_or_else(|| ReadError::from(TableErrorKind::NoIdColumn { found: found() }))?;
        let epoch = place(EPOCH);
        let form = match (place(SCORER), options.score_columns.as_slice()) {
            (Some(scorer), []) => Form::Long(LongColumns {
                scorer,
                value: first_of(&LONG_SCORES)?,
                answer: place(ANSWER),
                explanation: place(EXPLANATION),
                holds_details: options.details,
                reason: place(REASON),
                error: place(ERROR),
            }),
            (None, []) => Form::Wide(vec![first_of(&DEFAULT_SCORES)?]),
            (_, wanted) => {
                let scores = wanted.iter().map(|name| first_of(&[name]));
                Form::Wide(scores.collect::<Result<_, _>>()?)
            }
        };
        let is_score = |at: usize| match &form {
            Form::Wide(scores) => scores.iter().any(|score| score.at == at),
            Form::Long(long) => long.contains(at),
        };
        let is_metadata = |at: &usize| *at != id && Some(*at) != epoch && !is_score(*at);
        let all: Vec<TableColumn> = (0..names.len())
            .filter(is_metadata)
            .filter_map(|at| names.get(at).map(|name| TableColumn { name: (*name).to_owned(), at }))
            .collect();
        let metadata_keys = all.iter().map(|column| column.name.clone()).collect();
        let metadata = all.into_iter().filter(|column| options.metadata.contains(&column.name)).collect();
        Ok(TableLayout { columns: names.len(), id, epoch, form, metadata, metadata_keys })
    }
}

/// Refuses two columns of one name.
pub(super) fn refuse_twice(names: &[&str]) -> Result<(), TableErrorKind> {
    let mut seen = HashSet::with_capacity(names.len());
    match names.iter().find(|name| !seen.insert(**name)) {
        Some(name) => Err(TableErrorKind::DuplicateColumn { name: (*name).to_owned() }),
        None => Ok(()),
    }
}
