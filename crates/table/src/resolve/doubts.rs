//! What makes a guess about columns doubtful.

use std::collections::{HashMap, HashSet};

use serde_json::Value as Json;

use super::{ColumnFinder, has_repeats};
use crate::doubt::TableDoubt;
use crate::layout::{DEFAULT_SCORES, LOG, SCORER};
use crate::options::TableSplit;
use crate::preview::scalar;
use crate::spellings;
use crate::values::{CellMeaning, CellReader};
use crate::{TableErrorKind, TableOptions};

/// What cells of a column that is no header say, where its first line is `q1,PASS`.
const FAILURES: [&str; 8] =
    ["fail", "failed", "failure", "incorrect", "wrong", "unresolved", "unsolved", "unsuccessful"];

impl ColumnFinder<'_> {
    /// The score column of the exact name that another one, whose name says so too, may have to stand back for.
    pub(super) fn has_rivals(&self) -> bool {
        let is_exact = DEFAULT_SCORES.iter().any(|name| self.is_there(name));
        self.options.score_columns.is_empty()
            && is_exact
            && !self.is_there(SCORER)
            && self.free_names(self.options, spellings::is_verdict).next().is_some()
    }

    /// Whether it takes rows to know if the column `log` names logs.
    pub(super) fn may_be_split(&self) -> bool {
        self.options.split == TableSplit::ByLog
            && self.is_there(LOG)
            && !["scorer", "task", "model"].iter().any(|name| self.is_there(name))
    }

    /// Whether the column `log` names logs: ids repeat, and each log has several rows.
    pub(super) fn is_split(&self, options: &TableOptions, has_ids: bool, has_epochs: bool) -> bool {
        let mut names = vec![options.id_column.as_str()];
        names.extend(has_epochs.then_some(options.epoch_column.as_str()));
        has_ids && has_repeats(&self.preview, &names) && has_repeats(&self.preview, &[LOG])
    }

    /// Refuses `score` or `value` beside a verdict that says something else: `score` may be the model's confidence.
    pub(super) fn refuse_rivals(
        &self,
        options: &TableOptions,
        cells: &CellReader,
    ) -> Result<(), TableErrorKind> {
        let Some(exact) = DEFAULT_SCORES.iter().find(|name| self.is_there(name)) else { return Ok(()) };
        if !self.has_rivals() {
            return Ok(());
        }
        let is_rival = |name: &&String| {
            self.unfit_score(name, cells).is_none()
                && self.numbers(name, cells).flatten().all(|score| score == 0.0 || score == 1.0)
                // The right answer, if the score says whether the model's is the same.
                && !self
                    .answers_beside(name, cells)
                    .is_some_and(|answers| self.is_equality(exact, name, &answers, cells))
                && self
                    .numbers(name, cells)
                    .zip(self.numbers(exact, cells))
                    .any(|(verdict, score)| verdict != score)
        };
        let rivals: Vec<String> =
            self.free_names(options, spellings::is_verdict).filter(is_rival).cloned().collect();
        if rivals.is_empty() {
            return Ok(());
        }
        let candidates = std::iter::once((*exact).to_owned()).chain(rivals).collect();
        Err(TableErrorKind::AmbiguousScoreColumn { candidates })
    }

    /// The cells of a column as scores.
    pub(super) fn numbers(&self, name: &str, cells: &CellReader) -> impl Iterator<Item = Option<f64>> {
        self.preview.column(name).map(|cell| {
            let leaf = scalar(cell?, self.is_text)?;
            match cells.meaning(leaf.view()) {
                CellMeaning::Score(score) | CellMeaning::Word(score) => Some(score),
                _ => None,
            }
        })
    }

    /// Refuses to guess that a column of this name holds scores.
    pub(super) fn refuse_guess(
        &self,
        name: &str,
        options: &TableOptions,
        reader: &CellReader,
    ) -> Result<(), TableErrorKind> {
        let has_ids = options.is_id_named
            || self.is_there(&options.id_column)
            || self.preview.names.iter().any(|name| spellings::is_id(name));
        let cells = self.texts(name);
        let is_cell = cells.contains(&name.trim().to_lowercase());
        let is_opposite = FAILURES.iter().any(|failure| cells.contains(*failure));
        if self.is_text && !has_ids && (is_cell || (is_opposite && is_verdict_word(name))) {
            return Err(TableDoubt::NoHeader { column: name.to_owned() }.into());
        }
        match self.answers_beside(name, reader) {
            Some(answers) => Err(TableDoubt::Answers { column: name.to_owned(), answers }.into()),
            None => self.refuse_confidence(name, reader),
        }
    }

    /// The distinct cells of a column, without case and those that are empty.
    fn texts(&self, name: &str) -> HashSet<String> {
        let text = |cell: &Json| match cell {
            Json::Null => String::new(),
            Json::String(text) => text.trim().to_lowercase(),
            cell => cell.to_string(),
        };
        self.preview.column(name).flatten().map(text).filter(|text| !text.is_empty()).collect()
    }

    /// Refuses figures of whole runs: accuracies with standard errors or counts, and no ids.
    pub(super) fn refuse_figures(&self) -> Result<(), TableErrorKind> {
        let mut columns: Vec<String> =
            self.preview.names.iter().filter(|name| spellings::is_figure(name)).cloned().collect();
        if columns.is_empty() {
            // What `describe()` of a data frame prints.
            let is_description = |name: &&String| {
                let cells = self.texts(name);
                ["count", "mean", "std"].iter().all(|figure| cells.contains(*figure))
            };
            columns.extend(self.preview.names.iter().find(is_description).map(|_| "mean, std".to_owned()));
        }
        if columns.is_empty() { Ok(()) } else { Err(TableDoubt::Figures { columns }.into()) }
    }

    /// A column that names models or metrics, with two of its values within a part: rows of all of them count as samples.
    pub(super) fn pooled(&self, options: &TableOptions) -> Option<(String, Vec<String>)> {
        self.free_names(options, spellings::is_pooled).find_map(|name| {
            let mut first: HashMap<String, &str> = HashMap::new();
            let mut cells = self.parts(options).into_iter().zip(self.preview.column(name));
            cells.find_map(|(part, cell)| {
                let cell = cell.and_then(Json::as_str).map(str::trim).filter(|cell| !cell.is_empty())?;
                let first = *first.entry(part).or_insert(cell);
                (first != cell).then(|| (name.clone(), vec![first.to_owned(), cell.to_owned()]))
            })
        })
    }

    /// The part that each row is of; the same for all if the table has none.
    fn parts(&self, options: &TableOptions) -> Vec<String> {
        match options.split_column().filter(|column| self.is_there(column)) {
            Some(column) => self.preview.column(column).map(|cell| format!("{cell:?}")).collect(),
            None => vec![String::new(); self.preview.rows.len()],
        }
    }

    /// Refuses rows of several models with the same id: they would be averaged as epochs of a sample.
    pub(super) fn refuse_pooled_epochs(
        &self,
        options: &TableOptions,
        column: &str,
        values: &[String],
    ) -> Result<(), TableErrorKind> {
        let mut values_of: HashMap<(String, String), String> = HashMap::new();
        let ids = self.parts(options).into_iter().zip(self.preview.column(&options.id_column));
        for ((part, id), value) in ids.zip(self.preview.column(column)) {
            let (Some(id), Some(value)) = (id, value) else { continue };
            let (sample, value) = ((part, id.to_string()), value.to_string());
            if *values_of.entry(sample).or_insert_with(|| value.clone()) != value {
                let (column, epoch) = (column.to_owned(), options.epoch_column.clone());
                return Err(TableDoubt::PooledEpochs { column, values: values.to_vec(), epoch }.into());
            }
        }
        Ok(())
    }

    /// Whether there is a column that [`Self::pooled`] has to look at.
    pub(super) fn may_be_pooled(&self) -> bool {
        self.free_names(self.options, spellings::is_pooled).next().is_some()
    }
}

/// Whether a name is a verdict that a cell can be, not only the name of a column.
fn is_verdict_word(name: &str) -> bool {
    const WORDS: [&str; 6] = ["pass", "passed", "correct", "success", "resolved", "solved"];
    WORDS.contains(&spellings::normal(name).as_str())
}
