//! What makes a guess about columns doubtful.

use std::collections::{HashMap, HashSet};

use errorbar_core::{Leaf, LeafRef};
use indexmap::IndexMap;
use serde_json::Value as Json;

use super::{ColumnFinder, has_repeats};
use crate::error::TableDoubt;
use crate::layout::{LOG, SCORER};
use crate::options::TableSplit;
use crate::preview::{scalar, text_of};
use crate::values::{CellMeaning, CellReader, NoScore, ScoreWord};
use crate::{TableErrorKind, TableOptions, UnfitCells, WantedColumn, spellings};

/// What cells of a column that is no header say, where its first line is `q1,PASS`.
const FAILURES: [&str; 8] =
    ["fail", "failed", "failure", "incorrect", "wrong", "unresolved", "unsolved", "unsuccessful"];

impl ColumnFinder<'_> {
    /// The score column of the exact name that another one, whose name says so too, may have to stand back for.
    pub(super) fn has_rivals(&self) -> bool {
        self.options.score_columns.is_empty()
            && self.exact_score().is_some()
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
        let Some(exact) = self.exact_score() else { return Ok(()) };
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
        let candidates = std::iter::once(exact.to_owned()).chain(rivals).collect();
        Err(TableErrorKind::AmbiguousColumn { role: WantedColumn::Score, candidates })
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
        self.preview.column(name).flatten().filter_map(lower_case).collect()
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

/// How many columns of answers are compared with each other.
const MOST_LABELS: usize = 8;
/// A column with more distinct words than this holds something else than grades.
const MOST_WORDS: usize = 12;
/// Scores that differ by less are the same.
const TOLERANCE: f64 = 1e-6;
/// A table with fewer rows may lack answers that others have.
const FEW_ROWS: usize = 10;

impl ColumnFinder<'_> {
    /// Whether there are columns of answers that tell a score of the exact name from a confidence.
    pub(super) fn may_be_confidence(&self) -> bool {
        self.options.score_columns.is_empty()
            && self.exact_score().is_some()
            && !self.is_there(SCORER)
            && self.pairs("").next().is_some()
    }

    /// A column of the model's answers that has the cells of this one: both are answers, then. Not so if the cells of this
    /// one say in which rows two others are equal.
    pub(super) fn answers_beside(&self, name: &str, cells: &CellReader) -> Option<String> {
        let own: HashSet<String> = self.keys(name).into_iter().flatten().collect();
        let is_answer = |other: &&String| *other != name && spellings::is_answer(other);
        let mut others = self.preview.names.iter().filter(is_answer);
        let answers = others.find(|other| shares_cells(&own, &self.preview_cells(other)))?;
        let is_verdict = self.pairs(name).any(|(gold, answer)| self.is_equality(name, gold, answer, cells));
        (!is_verdict).then(|| answers.clone())
    }

    /// Refuses a score that two columns, the right answers and the model's, contradict.
    pub(super) fn refuse_confidence(&self, name: &str, cells: &CellReader) -> Result<(), TableErrorKind> {
        let scores: Vec<Option<f64>> = self.numbers(name, cells).collect();
        // A verdict may be more lenient than a comparison of strings.
        if self.is_there(SCORER) || scores.iter().flatten().all(|score| *score == 0.0 || *score == 1.0) {
            return Ok(());
        }
        match self.pairs(name).find(|(a, b)| self.contradicts(&scores, a, b)) {
            Some((a, b)) => {
                Err(TableDoubt::Confidence { column: name.to_owned(), answers: [a.to_owned(), b.to_owned()] }
                    .into())
            }
            None => Ok(()),
        }
    }

    /// Whether the cells of a column are 1 where two others are equal, and less elsewhere.
    pub(super) fn is_equality(&self, name: &str, a: &str, b: &str, cells: &CellReader) -> bool {
        let (mut has_equal, mut is_same) = (false, true);
        for ((a, b), score) in self.keys(a).iter().zip(self.keys(b)).zip(self.numbers(name, cells)) {
            let (Some(a), Some(b), Some(score)) = (a, b, score) else { continue };
            let is_equal = *a == b || spoken(a) == b || *a == spoken(&b);
            has_equal |= is_equal;
            is_same &= is_equal == (score == 1.0);
        }
        has_equal && is_same
    }

    /// Pairs of columns that may be the right answers and the model's; none of them is `name`.
    fn pairs<'s>(&'s self, name: &str) -> impl Iterator<Item = (&'s str, &'s str)> {
        let is_label =
            |other: &&str| *other != name && (spellings::is_answer(other) || spellings::is_gold(other));
        let names = self.preview.names.iter().map(String::as_str);
        let labels: Vec<&str> = names.filter(is_label).take(MOST_LABELS).collect();
        let pairs = (0..labels.len()).flat_map(move |at| {
            let first = labels.get(at).copied();
            let others: Vec<&str> = labels.iter().skip(at + 1).copied().collect();
            others.into_iter().filter_map(move |other| Some((first?, other)))
        });
        // A plain `answer` beside another of the model is the right one in most tables of questions.
        let may_be_gold = |name: &str| spellings::is_gold(name) || name.eq_ignore_ascii_case("answer");
        pairs.filter(move |(a, b)| may_be_gold(a) || may_be_gold(b))
    }

    /// Whether scores are no scores of the equality of two columns: a comparison that finds no difference gives the
    /// full score, a whole number, and nothing gets more.
    fn contradicts(&self, scores: &[Option<f64>], a: &str, b: &str) -> bool {
        let (first, second) = (self.keys(a), self.keys(b));
        let distinct: HashSet<&String> = first.iter().flatten().collect();
        if !second.iter().flatten().any(|key| distinct.contains(key)) {
            return false;
        }
        let (mut equal, mut unequal) = (Vec::new(), Vec::new());
        for ((a, b), score) in first.iter().zip(&second).zip(scores) {
            match (a, b, score) {
                (Some(a), Some(b), Some(score)) if a == b => equal.push(*score),
                (Some(_), Some(_), Some(score)) => unequal.push(*score),
                _ => {}
            }
        }
        // Twice the right answers, or twice the model's.
        if unequal.is_empty() && spellings::is_gold(a) == spellings::is_gold(b) {
            return false;
        }
        if equal.is_empty() {
            return unequal.iter().sum::<f64>() > 0.5 * unequal.len() as f64
                && unequal.iter().all(|score| *score <= 1.0);
        }
        let lowest = equal.iter().copied().fold(f64::INFINITY, f64::min);
        let highest = equal.iter().chain(&unequal).copied().fold(f64::NEG_INFINITY, f64::max);
        let is_whole = |score: &f64| (score - score.round()).abs() < TOLERANCE;
        lowest < 0.0 || highest > lowest + TOLERANCE || !equal.iter().all(is_whole)
    }

    /// The cells of the only column with a name of scores, for a message about those that are none. None if they are not
    /// likely to be meant as scores.
    pub(super) fn unfit_cells(&self, name: &str, cells: &CellReader) -> Option<UnfitCells> {
        let mut unfit: IndexMap<String, usize> = IndexMap::new();
        let (mut words, mut numbers): (Vec<ScoreWord>, Vec<f64>) = (Vec::new(), Vec::new());
        let texts = self.preview_cells(name).into_iter().filter_map(Json::as_str);
        let is_graded = cells.are_ambiguous_grades(texts);
        let grades = is_graded.then(|| {
            let leaves = self.preview_cells(name).into_iter().filter_map(|cell| scalar(cell, self.is_text));
            let leaves: Vec<Leaf> = leaves.collect();
            Box::new(cells.grade_meaning(leaves.iter().map(Leaf::view)))
        });
        for cell in self.preview_cells(name) {
            let leaf = match (cell, scalar(cell, self.is_text)) {
                (_, Some(leaf)) => leaf,
                (Json::Array(_) | Json::Object(_), None) => return None,
                _ => continue,
            };
            let meaning = match cells.meaning(leaf.view()) {
                known if is_graded && known != CellMeaning::Missing => {
                    CellMeaning::NoScore(NoScore::SchoolGrade)
                }
                meaning => meaning,
            };
            let score = match meaning {
                _ if leaf.view() == LeafRef::Unscored => continue,
                CellMeaning::NoScore(_) => {
                    *unfit.entry(leaf.view().text()).or_default() += 1;
                    continue;
                }
                // A count of something.
                CellMeaning::Score(score) | CellMeaning::Word(score) if !(0.0..=1.0).contains(&score) => {
                    return None;
                }
                CellMeaning::Score(score) | CellMeaning::Word(score) => Some(score),
                CellMeaning::Missing => None,
            };
            let word = match leaf.view() {
                LeafRef::Str(word) => Some(word.to_owned()),
                LeafRef::Bool(_) => Some(leaf.view().text()),
                _ => None,
            };
            match (word, score) {
                (Some(word), score) if !words.iter().any(|known| known.word == word) => {
                    words.push(ScoreWord { scorer: name.to_owned(), word, score });
                }
                (None, Some(score)) if !numbers.contains(&score) => numbers.push(score),
                _ => {}
            }
        }
        let is_option = |text: &String| matches!(text.as_bytes(), [b'A'..=b'E']);
        let is_text = words.is_empty() && numbers.is_empty() && unfit.len() > MOST_WORDS;
        if unfit.is_empty()
            || is_text
            || unfit.keys().all(is_option)
            || self.answers_beside(name, cells).is_some()
        {
            return None;
        }
        let mut values: Vec<(String, usize)> = unfit.into_iter().collect();
        values.sort_by(|(_, a), (_, b)| b.cmp(a));
        Some(UnfitCells { values, words, numbers, grades })
    }

    fn preview_cells(&self, name: &str) -> Vec<&Json> {
        self.preview.column(name).flatten().collect()
    }

    /// The cells of a column, to be compared with those of another.
    fn keys(&self, name: &str) -> Vec<Option<String>> {
        self.preview.column(name).map(|cell| key(cell?)).collect()
    }
}

/// Whether answers are in these cells so often that the cells are answers, too.
fn shares_cells(own: &HashSet<String>, answers: &[&Json]) -> bool {
    let answers: Vec<String> = answers.iter().filter_map(|cell| key(cell)).collect();
    let is_number = |key: &str| key.parse::<f64>().is_ok();
    let are_numbers = own.iter().all(|key| is_number(key));
    let is_shared = |key: &&String| own.contains(*key) || (!are_numbers && own.contains(spoken(key)));
    let shared = answers.iter().filter(is_shared).count();
    if are_numbers {
        // Among the right answers to questions about numbers there would be others than 0 and 1.
        let others = answers.iter().filter(|key| is_number(key)).count().saturating_sub(shared);
        return shared > others * if answers.len() < FEW_ROWS { 1 } else { 20 };
    }
    // `C` is a grade and an option; `I` is hardly ever an option.
    let are_grades = own.contains("i") && own.iter().all(|key| ["c", "i", "p", "n"].contains(&key.as_str()));
    if are_grades && !answers.iter().any(|key| key == "i") {
        return false;
    }
    shared > 0 && shared * 10 >= answers.len()
}

/// A cell without case and blanks around it; none if it is empty.
fn lower_case(cell: &Json) -> Option<String> {
    let text = text_of(cell).trim().to_lowercase();
    (!cell.is_null() && !text.is_empty()).then_some(text)
}

/// The same, a number by its value.
fn key(cell: &Json) -> Option<String> {
    let text = lower_case(cell)?;
    match text.parse::<f64>() {
        Ok(number) if number.is_finite() => Some(number.to_string()),
        _ => Some(text),
    }
}

/// The first word of an answer: `yes` of `yes, it is.`
fn spoken(key: &str) -> &str {
    key.split_whitespace().next().unwrap_or_default().trim_matches(|c: char| !c.is_alphanumeric())
}
