//! Which column of a table is what: by its exact name, by what options say, or by a common spelling and its cells.
//!
//! A column that has a common name is taken only if its cells are what the name says, and if it is the only one. Two
//! candidates are an error that names both. A table with the exact names is not looked at beyond its header.

mod doubts;

use std::collections::HashSet;

use errorbar_core::LeafRef;
use serde_json::Value as Json;

use super::input::{TableFormat, TableInput};
use super::layout::{DEFAULT_SCORES, SCORER, TASK};
use super::mapping::{DecimalMark, InputFormat, TableMapping};
use super::options::TableSplit;
use super::preview::{TablePreview, scalar, text_of};
use super::spellings::{self, ScoreNumbers};
use super::values::{CellMeaning, CellReader, NoScore};
use super::{TableErrorKind, TableOptions, WantedColumn, no_column};

/// Why a column is what it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ColumnReason {
    /// Its name is the one that errorbar looks for.
    Name,
    /// Its name is a common one, it is the only such column, and its cells fit.
    Spelling,
    /// An option, or the mapping, names it.
    Option,
    /// It is nothing else.
    Rest,
}

/// How a table is read.
#[derive(Clone, Debug)]
pub(super) struct Resolution {
    /// The options with the names of the columns.
    pub(super) options: TableOptions,
    /// Why the column of ids is one; none if rows are numbered.
    pub(super) id: Option<ColumnReason>,
    /// Why the column of epochs is one; none if there is none.
    pub(super) epoch: Option<ColumnReason>,
    /// Why the columns of scores are.
    pub(super) scores: ColumnReason,
    /// A column that has the name of one of epochs and was not needed, because no id repeats in the first rows.
    pub(super) spare_epoch: Option<String>,
    /// Whether the column `task` can tell rows of a part apart.
    pub(super) has_tasks: bool,
    /// A column of models or metrics whose rows count as samples together, and two of its values.
    pub(super) pooled: Option<(String, Vec<String>)>,
}

/// Finds out which column is what.
pub(super) fn resolve(input: &TableInput, options: &TableOptions) -> Result<Resolution, TableErrorKind> {
    let header = TablePreview::header(input, options)?;
    let is_text = matches!(input.format(), TableFormat::Delimited(_));
    let decimal = input.description().decimal;
    let finder = ColumnFinder { options, preview: header, is_text, decimal };
    if !finder.needs_rows() {
        return finder.resolve(input);
    }
    let preview = TablePreview::rows(input, options)?;
    ColumnFinder { options, preview, is_text, decimal }.resolve(input)
}

struct ColumnFinder<'a> {
    options: &'a TableOptions,
    preview: TablePreview,
    /// Whether cells are strings in the file.
    is_text: bool,
    /// The decimal mark of the file.
    decimal: Option<DecimalMark>,
}

impl ColumnFinder<'_> {
    /// Whether names do not decide.
    fn needs_rows(&self) -> bool {
        let has_id = self.options.is_id_named || self.preview.has(&self.options.id_column);
        let has_score = !self.options.score_columns.is_empty() || self.exact_score().is_some();
        let has_epoch = self.options.is_epoch_named
            || self.preview.has(&self.options.epoch_column)
            || !self.preview.names.iter().any(|name| spellings::is_epoch(name));
        let is_clear = has_id && has_score && has_epoch;
        !is_clear
            || self.has_rivals()
            || self.may_be_confidence()
            || self.may_be_split()
            || self.may_be_pooled()
    }

    fn resolve(&self, input: &TableInput) -> Result<Resolution, TableErrorKind> {
        let mut options = self.options.clone();
        // Nothing is known of an empty file, or of one whose first line is no object: the reader reports it.
        if self.preview.names.is_empty() {
            return Ok(Resolution {
                id: Some(ColumnReason::Name),
                epoch: None,
                scores: ColumnReason::Name,
                spare_epoch: None,
                has_tasks: false,
                pooled: None,
                options,
            });
        }
        let scores = self.scores(&mut options)?;
        let epochs = self.epoch_candidates(&options);
        let id = self.id(&mut options, &epochs)?;
        let (epoch, spare_epoch) = self.epoch(&mut options, id.is_some(), epochs)?;
        if self.may_be_split() && !self.is_split(&options, id.is_some(), epoch.is_some()) {
            options.split = TableSplit::Whole;
        }
        if id.is_none() {
            options.is_numbered = true;
            if input.description().tool.is_none() {
                self.refuse_figures()?;
            }
            if epoch.is_some() {
                let (epoch, found) = (options.epoch_column, self.preview.names.clone());
                return Err(TableErrorKind::EpochsWithoutIds { epoch, found });
            }
        }
        options.mapping = self.mapping(&options, input, id.is_some(), epoch.is_some());
        let has_tasks = self.is_there(TASK) && self.is_free(TASK, &options);
        let pooled = self.pooled(&options);
        if let (Some((column, values)), Some(reason)) = (&pooled, epoch)
            && reason != ColumnReason::Option
            // The reader reports rows that repeat.
            && self.is_unique(&options.id_column, &self.row_columns(&options))
        {
            self.refuse_pooled_epochs(&options, column, values)?;
        }
        Ok(Resolution { options, id, epoch, scores, spare_epoch, has_tasks, pooled })
    }

    fn is_there(&self, name: &str) -> bool {
        self.preview.has(name)
    }

    /// The column of scores with the exact name.
    fn exact_score(&self) -> Option<&'static str> {
        DEFAULT_SCORES.into_iter().find(|name| self.is_there(name))
    }

    /// Whether a column is free: no option says what it is, and no metric groups or clusters by it.
    fn is_free(&self, name: &str, options: &TableOptions) -> bool {
        let is_named = name == options.id_column && (options.is_id_named || self.is_there(name))
            || name == options.epoch_column
            || options.split_column() == Some(name)
            || options.score_columns.iter().any(|score| score == name);
        !options.names_metadata(name) && !is_named && name != SCORER
    }

    fn free_names<'s>(
        &'s self,
        options: &'s TableOptions,
        is_wanted: impl Fn(&str) -> bool + 's,
    ) -> impl Iterator<Item = &'s String> {
        self.preview.names.iter().filter(move |name| is_wanted(name) && self.is_free(name, options))
    }

    fn scores(&self, options: &mut TableOptions) -> Result<ColumnReason, TableErrorKind> {
        if !options.score_columns.is_empty() {
            return Ok(ColumnReason::Option);
        }
        let mut mapping = options.mapping.clone();
        mapping.decimal = mapping.decimal.or(self.decimal);
        let cells = CellReader::new(&mapping);
        if let Some(exact) = self.exact_score() {
            self.refuse_rivals(options, &cells)?;
            self.refuse_confidence(exact, &cells)?;
            return Ok(ColumnReason::Name);
        }
        let (mut taken, mut refused) = (Vec::new(), Vec::new());
        for name in self.free_names(options, |name| spellings::scores(name).is_some()) {
            match self.unfit_score(name, &cells) {
                None => taken.push(name.clone()),
                Some(cell) => refused.push((name.clone(), cell)),
            }
        }
        match taken.as_slice() {
            // The reader says what it looked for.
            [] if refused.is_empty() => Ok(ColumnReason::Name),
            [] => {
                let cells = match refused.as_slice() {
                    [(only, _)] => self.unfit_cells(only, &cells),
                    _ => None,
                };
                Err(TableErrorKind::UnfitScoreColumns { columns: refused, cells })
            }
            // Where scorers have rows of their own, a named score column would make them metadata.
            [only] if self.is_there(SCORER) => Err(TableErrorKind::NoColumn {
                role: WantedColumn::Score,
                wanted: DEFAULT_SCORES.map(str::to_owned).to_vec(),
                found: self.preview.names.clone(),
                nearest: Some(only.clone()),
            }),
            [only] => {
                self.refuse_guess(only, options, &cells)?;
                options.score_columns = vec![only.clone()];
                Ok(ColumnReason::Spelling)
            }
            _ => Err(TableErrorKind::AmbiguousColumn { role: WantedColumn::Score, candidates: taken }),
        }
    }

    /// A cell of a column that is no score, as far as its name promises one; that there is none, if all are empty.
    fn unfit_score(&self, name: &str, cells: &CellReader) -> Option<String> {
        let numbers = spellings::scores(name)?;
        let mut has_score = false;
        for cell in self.preview.column(name).flatten() {
            let leaf = match (cell, scalar(cell, self.is_text)) {
                (_, Some(leaf)) => leaf,
                (Json::Array(_) | Json::Object(_), None) => return Some(cell.to_string()),
                _ => continue,
            };
            match cells.meaning(leaf.view()) {
                _ if leaf.view() == LeafRef::Unscored => {}
                CellMeaning::Missing => {}
                CellMeaning::Score(score) | CellMeaning::Word(score) => {
                    if numbers == ScoreNumbers::Shares && !(0.0..=1.0).contains(&score) {
                        return Some(text_of(cell));
                    }
                    // Words that are named tell which column is meant.
                    has_score |= cells.may_name(leaf.view());
                }
                // What becomes of them is not the question here.
                CellMeaning::NoScore(NoScore::Unnamed) => {}
                CellMeaning::NoScore(_) => return Some(text_of(cell)),
            }
        }
        (!has_score).then(String::new)
    }

    /// The columns with a name of epochs whose cells are numbers of epochs.
    fn epoch_candidates(&self, options: &TableOptions) -> Vec<String> {
        if options.is_epoch_named || self.is_there(&options.epoch_column) {
            return Vec::new();
        }
        let is_epoch = |cell: &Json| match cell {
            Json::Number(number) => number.as_f64().is_some_and(is_epoch_number),
            Json::String(text) => text.trim().parse().is_ok_and(is_epoch_number),
            _ => false,
        };
        let are_epochs = |name: &str| {
            self.preview.column(name).all(|cell| cell.is_some_and(is_epoch)) && !self.preview.rows.is_empty()
        };
        self.free_names(options, spellings::is_epoch).filter(|name| are_epochs(name)).cloned().collect()
    }

    fn id(
        &self,
        options: &mut TableOptions,
        epochs: &[String],
    ) -> Result<Option<ColumnReason>, TableErrorKind> {
        if options.is_id_named {
            let named = std::iter::once(&options.id_column).chain(&options.other_id_columns);
            if let Some(found) = named.clone().find(|name| self.is_there(name)).cloned() {
                options.id_column = found;
            }
            options.other_id_columns.clear();
            // The reader reports one that is not there.
            return Ok(Some(ColumnReason::Option));
        }
        if self.is_there(&options.id_column) {
            return Ok(Some(ColumnReason::Name));
        }
        let mut candidates: Vec<String> = self.free_names(options, spellings::is_id).cloned().collect();
        if candidates.len() > 1 {
            // Of an id of the task and one of the question, that of the question tells samples apart.
            let mut others = self.row_columns(options);
            others.extend(epochs.iter().map(String::as_str));
            let unique: Vec<String> =
                candidates.iter().filter(|name| self.is_unique(name, &others)).cloned().collect();
            if unique.len() == 1 {
                candidates = unique;
            }
        }
        match candidates.as_slice() {
            [] if options.number_rows => Ok(None),
            [] => Ok(Some(ColumnReason::Name)),
            [only] => {
                options.id_column = only.clone();
                Ok(Some(ColumnReason::Spelling))
            }
            _ => Err(TableErrorKind::AmbiguousColumn { role: WantedColumn::Id, candidates }),
        }
    }

    /// The columns that, with the id, tell rows apart: the scorer, the part and the epoch.
    fn row_columns<'s>(&'s self, options: &'s TableOptions) -> Vec<&'s str> {
        let scorer = options.score_columns.is_empty().then_some(SCORER);
        let columns = [scorer, options.split_column(), Some(options.epoch_column.as_str())];
        columns.into_iter().flatten().filter(|name| self.is_there(name)).collect()
    }

    /// Whether the cells of a column, with those of others, differ in all rows.
    fn is_unique(&self, column: &str, others: &[&str]) -> bool {
        let names: Vec<&str> = std::iter::once(column).chain(others.iter().copied()).collect();
        !has_repeats(&self.preview, &names)
    }

    fn epoch(
        &self,
        options: &mut TableOptions,
        has_ids: bool,
        candidates: Vec<String>,
    ) -> Result<(Option<ColumnReason>, Option<String>), TableErrorKind> {
        let name = &options.epoch_column;
        if self.is_there(name) {
            let reason = if options.is_epoch_named { ColumnReason::Option } else { ColumnReason::Name };
            return Ok((Some(reason), None));
        }
        if options.is_epoch_named {
            return Err(no_column(WantedColumn::Epoch, &[name], self.preview.names.clone()));
        }
        let id = options.id_column.clone();
        let candidates: Vec<String> = candidates.into_iter().filter(|name| *name != id).collect();
        // Without repeated ids the column may count attempts, and is no epoch.
        let is_needed = has_ids && !self.is_unique(&id, &self.row_columns(options));
        match candidates.as_slice() {
            [only] if is_needed => {
                options.epoch_column = only.clone();
                Ok((Some(ColumnReason::Spelling), None))
            }
            [only] => Ok((None, Some(only.clone()))),
            [_, ..] if is_needed => {
                Err(TableErrorKind::AmbiguousColumn { role: WantedColumn::Epoch, candidates })
            }
            _ => Ok((None, None)),
        }
    }

    /// What is known of the table: with this as its mapping it is read the same without any other option.
    fn mapping(
        &self,
        options: &TableOptions,
        input: &TableInput,
        has_ids: bool,
        has_epochs: bool,
    ) -> TableMapping {
        let mut mapping = options.mapping.clone();
        mapping.id_columns = if has_ids { vec![options.id_column.clone()] } else { Vec::new() };
        mapping.epoch_column = has_epochs.then(|| options.epoch_column.clone());
        mapping.score_columns = match options.score_columns.as_slice() {
            [] if self.is_there(SCORER) => Vec::new(),
            [] => self.exact_score().into_iter().map(str::to_owned).collect(),
            named => named.to_vec(),
        };
        mapping.by = options.required_column().map(str::to_owned);
        let description = input.description();
        mapping.decimal = mapping.decimal.or(description.decimal);
        match input.format() {
            TableFormat::Delimited(dialect) if !description.is_converted => {
                let is_tsv = dialect.delimiter == b'\t';
                mapping.format.get_or_insert(if is_tsv { InputFormat::Tsv } else { InputFormat::Csv });
                mapping.delimiter = Some(char::from(dialect.delimiter));
            }
            TableFormat::Parquet => mapping.format = Some(InputFormat::Parquet),
            TableFormat::JsonLines if !description.is_converted => {
                mapping.format.get_or_insert(InputFormat::Jsonl);
            }
            // Found out from what is in the file.
            _ => {}
        }
        mapping
    }
}

/// An epoch beyond this is an id of something.
const MOST_EPOCHS: f64 = 10_000.0;

/// Whether a number may be an epoch: a data frame may have written 1 as 1.0.
fn is_epoch_number(number: f64) -> bool {
    number.fract() == 0.0 && (0.0..=MOST_EPOCHS).contains(&number)
}

/// Whether two rows have the same cells in all of these columns.
fn has_repeats(preview: &TablePreview, names: &[&str]) -> bool {
    let places: Vec<usize> =
        names.iter().filter_map(|name| preview.names.iter().position(|found| found == name)).collect();
    let mut seen = HashSet::new();
    preview.rows.iter().any(|row| {
        let cells: Vec<String> =
            places.iter().map(|at| row.get(*at).map_or(String::new(), |cell| format!("{cell:?}"))).collect();
        !seen.insert(cells)
    })
}

/// The column that tells rows of the same id apart, and whether it holds integers: what a table with repeated rows
/// should have been split or numbered by.
pub(super) fn apart(input: &TableInput, options: &TableOptions) -> Option<(String, bool)> {
    let preview = TablePreview::rows(input, options).ok()?;
    let is_text = matches!(input.format(), TableFormat::Delimited(_));
    let finder = ColumnFinder { options, preview, is_text, decimal: None };
    let mut known = finder.row_columns(options);
    known.push(&options.id_column);
    if !has_repeats(&finder.preview, &known) {
        return None;
    }
    // Another id may be that of the question, and this one that of the task.
    let is_other_id = |name: &&String| {
        **name != options.id_column
            && spellings::is_id(name)
            && !has_repeats(&finder.preview, &[name.as_str()])
    };
    if let Some(other) = finder.preview.names.iter().find(is_other_id) {
        return Some((other.clone(), false));
    }
    let tells_apart = |name: &&String| {
        let is_score = options.score_columns.iter().any(|score| score == *name)
            || DEFAULT_SCORES.contains(&name.as_str())
            || spellings::scores(name).is_some();
        !is_score && !known.contains(&name.as_str()) && {
            let names: Vec<&str> = known.iter().copied().chain([name.as_str()]).collect();
            !has_repeats(&finder.preview, &names)
        }
    };
    let distinct = |name: &&String| {
        finder.preview.column(name).map(|cell| format!("{cell:?}")).collect::<HashSet<_>>().len()
    };
    // A model is one of a few; an answer or a time differs everywhere.
    let found = finder.preview.names.iter().filter(tells_apart).min_by_key(distinct)?;
    let is_integer = |cell: Option<&Json>| match cell {
        Some(Json::String(text)) => text.trim().parse::<u32>().is_ok(),
        Some(Json::Number(number)) => number.as_u64().is_some(),
        _ => false,
    };
    let are_integers = finder.preview.column(found).all(is_integer);
    Some((found.clone(), are_integers))
}
