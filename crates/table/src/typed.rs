//! Cells that have a type, in files and in memory: what their columns may hold, what a cell means, and where it goes.

use std::fmt::Write;

use errorbar_core::Value;
use errorbar_core::engine::{BUCKETS, ColumnBlock, MetadataColumn, TextColumn, ValueColumn};
use errorbar_files::json_value;
use jiter::JiterError;
use serde_json::Value as Json;

use super::layout::{ColumnRole, TableColumn, TableLayout};
use super::limits::Budget;
use super::{TableErrorKind, cell};

/// The types that are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ValueKind {
    Bool,
    Int,
    /// Unsigned integers, which a file stores as the bits of signed ones.
    Unsigned,
    Float,
    /// Decimal numbers of up to 38 digits, with a fraction, which are read as floating-point numbers.
    Decimal,
    Text,
    /// Strings that hold JSON.
    Json,
    /// Lists and maps, which only columns in memory are read as.
    #[cfg(feature = "arrow")]
    Nested,
}

impl ValueKind {
    fn describe(self) -> &'static str {
        match self {
            ValueKind::Bool => "booleans",
            ValueKind::Int | ValueKind::Unsigned => "integers",
            ValueKind::Float => "floating-point numbers",
            ValueKind::Decimal => "decimals",
            ValueKind::Text => "strings",
            ValueKind::Json => "JSON",
            #[cfg(feature = "arrow")]
            ValueKind::Nested => "lists or maps",
        }
    }

    fn is_nested(self) -> bool {
        #[cfg(feature = "arrow")]
        return self == ValueKind::Nested;
        #[cfg(not(feature = "arrow"))]
        false
    }
}

/// A column to be read: what it holds, and where it is in the file or the batch.
#[derive(Clone, Copy, Debug)]
pub(super) struct TypedColumn<'a, P> {
    pub(super) column: &'a TableColumn,
    pub(super) place: P,
    pub(super) kind: ValueKind,
}

impl<'a, P> TypedColumn<'a, P> {
    /// A column, if its role takes what it holds; `found` is that, or the words for it if it cannot be read.
    pub(super) fn new(
        column: &'a TableColumn,
        place: P,
        found: Result<ValueKind, String>,
    ) -> Result<Self, TableErrorKind> {
        use ValueKind::{Bool, Decimal, Float, Int, Json, Text, Unsigned};
        const ANY: (&str, &[ValueKind]) =
            ("numbers, booleans, strings or JSON", &[Bool, Int, Unsigned, Float, Decimal, Text, Json]);
        let (role, takes, kinds): (_, _, &[ValueKind]) = match column.role {
            ColumnRole::Id => ("the id", "strings or integers", &[Int, Unsigned, Text]),
            ColumnRole::Epoch => ("the epoch", "integers", &[Int, Unsigned, Float]),
            ColumnRole::Bucket => ("the hash bucket", "integers", &[Int, Unsigned]),
            ColumnRole::Scorer => ("the scorer", "strings", &[Text]),
            ColumnRole::Score(_) => ("a score", ANY.0, ANY.1),
            ColumnRole::Metadata(_) | ColumnRole::Task | ColumnRole::Model => ("metadata", ANY.0, ANY.1),
            ColumnRole::Log => ("the log", "strings", &[Text]),
            _ => ("what is recorded with a score", "strings", &[Text, Json]),
        };
        let takes_nested = matches!(column.role, ColumnRole::Score(_) | ColumnRole::Metadata(_));
        let found = match found {
            Ok(kind) if kinds.contains(&kind) || takes_nested && kind.is_nested() => {
                return Ok(TypedColumn { column, place, kind });
            }
            Ok(kind) => kind.describe().to_owned(),
            Err(found) => found,
        };
        Err(TableErrorKind::column_type(&column.name, &found, (role, takes)))
    }

    pub(super) fn name(&self) -> &'a str {
        &self.column.name
    }
}

/// What is wrong with a row, counted from 0 within those that are read together.
pub(super) struct RowError {
    pub(super) row: usize,
    pub(super) kind: Box<TableErrorKind>,
}

impl RowError {
    /// The error of one of several columns: the one in the first row, and of those in one row that of the first column.
    pub(super) fn first(errors: impl IntoIterator<Item = RowError>) -> Result<(), RowError> {
        errors.into_iter().min_by_key(|error| error.row).map_or(Ok(()), Err)
    }
}

/// One cell.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum TypedCell<'a> {
    Null,
    Bool(bool),
    Int(i64),
    /// An integer beyond `i64`, of a column of unsigned integers or of decimals.
    Wide(i128),
    Float(f64),
    Text(&'a str),
}

impl TypedCell<'_> {
    /// An integer.
    #[inline]
    pub(super) fn integer(int: i128) -> Self {
        i64::try_from(int).map_or(TypedCell::Wide(int), TypedCell::Int)
    }

    /// Writes a number or a boolean.
    fn write_number(self, to: &mut String) {
        // Writing to a string does not fail.
        let _ = match self {
            TypedCell::Null | TypedCell::Text(_) => Ok(()),
            TypedCell::Bool(bool) => write!(to, "{bool}"),
            TypedCell::Int(int) => write!(to, "{int}"),
            TypedCell::Wide(int) => write!(to, "{int}"),
            TypedCell::Float(float) => write!(to, "{float}"),
        };
    }

    /// A number or a boolean as text.
    fn number(self) -> String {
        let mut text = String::new();
        self.write_number(&mut text);
        text
    }

    #[inline]
    fn epoch(self) -> Result<u32, TableErrorKind> {
        let epoch = match self {
            TypedCell::Int(int) => u32::try_from(int).ok(),
            // As data frames write integers if some are missing.
            TypedCell::Float(float) => cell::whole_number(float).and_then(|int| u32::try_from(int).ok()),
            _ => None,
        };
        epoch.ok_or_else(|| match self {
            TypedCell::Null | TypedCell::Bool(_) | TypedCell::Text(_) => TableErrorKind::bad_epoch("empty"),
            TypedCell::Float(float) if float.is_nan() => TableErrorKind::bad_epoch("empty"),
            number => TableErrorKind::bad_epoch(&number.number()),
        })
    }

    /// A score that is no string; `None` for a null.
    fn score(self) -> Option<Value> {
        match self {
            TypedCell::Null => None,
            TypedCell::Bool(b) => Some(Value::Bool(b)),
            TypedCell::Int(int) => Some(Value::Int(int)),
            TypedCell::Wide(int) => Some(Value::Float(int as f64)),
            TypedCell::Float(float) => Some(Value::from(float)),
            TypedCell::Text(text) => Some(Value::from(text)),
        }
    }

    /// Any value, as the readers of JSON have it: a number that is not finite is null, and an integer beyond 64 bits the text
    /// of its digits.
    pub(super) fn json(self) -> Json {
        match self {
            TypedCell::Null => Json::Null,
            TypedCell::Bool(b) => Json::from(b),
            TypedCell::Int(int) => Json::from(int),
            TypedCell::Wide(int) => {
                u64::try_from(int).map_or_else(|_| Json::from(int.to_string()), Json::from)
            }
            TypedCell::Float(float) => Json::from(float),
            TypedCell::Text(text) => Json::from(text),
        }
    }
}

/// Some cells of a column.
pub(super) trait TypedCells {
    /// Gives the cells to `each` in order, and counts them in `row`.
    fn for_each(
        &self,
        row: &mut usize,
        each: impl FnMut(TypedCell<'_>) -> Result<(), TableErrorKind>,
    ) -> Result<(), TableErrorKind>;

    /// The integers as others, if none is null or negative and each is at most this, which is one less than a power of two:
    /// scores and epochs mostly fit a byte.
    fn narrowed<T>(&self, most: i64, narrow: impl Fn(i64) -> T) -> Option<Vec<T>>;

    /// The strings of a dictionary and the number of each cell's among them, if that is what they are, without nulls and
    /// with a dictionary that is not much longer than the cells: a look at all of it does not pay for a few cells.
    fn coded(&self) -> Option<(Vec<&str>, Vec<u32>)>;
}

/// Integers as others, if all are from 0 to this, which is one less than a power of two.
pub(super) fn narrowed<T>(
    ints: impl Iterator<Item = i64> + Clone,
    most: i64,
    narrow: impl Fn(i64) -> T,
) -> Option<Vec<T>> {
    // Without an early end, so that many are looked at in a step.
    let bits = ints.clone().fold(0, |bits, int| bits | int);
    (0..=most).contains(&bits).then(|| ints.map(narrow).collect())
}

/// Where the cells of a column go.
pub(super) struct CellSink<'a> {
    pub(super) target: Target<'a>,
    /// The name of the column.
    pub(super) name: &'a str,
    pub(super) kind: ValueKind,
    /// Whether a string that starts like a list or a map is one, if it is a score.
    has_structures: bool,
    budget: Budget,
    /// How many bytes ids may have: a cell of a dictionary can stand in any number of rows.
    left: u64,
}

/// A part of a block.
pub(super) enum Target<'a> {
    Ids(&'a mut TextColumn),
    Epochs(&'a mut Vec<u32>),
    Metadata(&'a mut MetadataColumn),
    Scores(&'a mut ValueColumn),
    /// The rows with an error.
    Errored(&'a mut Vec<u32>),
    /// Strings that are neither scores nor metadata; an empty one is absent.
    Texts(&'a mut MetadataColumn),
    Buckets(&'a mut Vec<u16>),
}

/// Memory is checked each time this many bytes of scores that may be lists or maps were parsed.
const CHECK_EVERY: usize = 1 << 16;

impl<'a> CellSink<'a> {
    /// The parts of a block that columns, in the order of their roles, go to. Ids may have `left` bytes.
    pub(super) fn all<P>(
        block: &'a mut ColumnBlock,
        layout: &TableLayout,
        columns: &[TypedColumn<'a, P>],
        budget: Budget,
        left: u64,
    ) -> Vec<Self> {
        let ColumnBlock { ids, epochs, metadata, scores, errored, details, labels, .. } = block;
        let metadata = metadata.iter_mut().map(Target::Metadata);
        let scores = scores.iter_mut().map(Target::Scores);
        // In the order of roles, in which columns are, too.
        let mut targets = [(ColumnRole::Id, Target::Ids(ids)), (ColumnRole::Epoch, Target::Epochs(epochs))]
            .into_iter()
            .chain((0..).map(ColumnRole::Metadata).zip(metadata))
            .chain((0..).map(ColumnRole::Score).zip(scores))
            .chain([
                (ColumnRole::Scorer, Target::Texts(&mut labels.scorers)),
                (ColumnRole::Answer, Target::Texts(&mut details.answers)),
                (ColumnRole::Explanation, Target::Texts(&mut details.explanations)),
                (ColumnRole::Reason, Target::Texts(&mut details.reasons)),
                (ColumnRole::Error, Target::Errored(errored)),
                (ColumnRole::Log, Target::Texts(&mut labels.parts)),
                (ColumnRole::Task, Target::Texts(&mut labels.tasks)),
                (ColumnRole::Model, Target::Texts(&mut labels.models)),
                (ColumnRole::Bucket, Target::Buckets(&mut labels.buckets)),
            ]);
        let sink = |column: &TypedColumn<'a, P>| {
            let (_, target) = targets.find(|(role, _)| *role == column.column.role)?;
            let (name, kind, has_structures) = (column.name(), column.kind, layout.has_structured_text());
            Some(CellSink { target, name, kind, has_structures, budget, left })
        };
        columns.iter().filter_map(sink).collect()
    }

    /// About how many bytes are held there.
    #[cfg(feature = "parquet")]
    pub(super) fn heap_bytes(&self) -> u64 {
        let bytes = match &self.target {
            Target::Ids(ids) => ids.heap_bytes(),
            Target::Epochs(epochs) => epochs.capacity() * 4,
            Target::Metadata(values) | Target::Texts(values) => values.heap_bytes(),
            Target::Scores(values) => values.heap_bytes(),
            Target::Errored(rows) => rows.capacity() * 4,
            Target::Buckets(buckets) => buckets.capacity() * 2,
        };
        bytes as u64
    }

    /// Appends cells, and counts them in `row`.
    pub(super) fn append(&mut self, cells: &impl TypedCells, row: &mut usize) -> Result<(), TableErrorKind> {
        let (name, budget) = (self.name, self.budget);
        let is_text = self.kind == ValueKind::Text;
        match &mut self.target {
            Target::Ids(ids) => {
                let (left, mut digits) = (&mut self.left, String::new());
                cells.for_each(row, |cell| {
                    digits.clear();
                    let id = match cell {
                        TypedCell::Text(id) if !id.is_empty() => {
                            *left = left.checked_sub(id.len() as u64).ok_or_else(|| budget.refusal())?;
                            id
                        }
                        TypedCell::Int(_) | TypedCell::Wide(_) => {
                            cell.write_number(&mut digits);
                            digits.as_str()
                        }
                        _ => return Err(TableErrorKind::bad_id("empty")),
                    };
                    ids.push(id);
                    Ok(())
                })
            }
            Target::Epochs(epochs) => match cells.narrowed(u32::MAX.into(), |int| int as u32) {
                Some(narrowed) => {
                    *row += narrowed.len();
                    epochs.extend(narrowed);
                    Ok(())
                }
                None => cells.for_each(row, |cell| cell.epoch().map(|epoch| epochs.push(epoch))),
            },
            Target::Metadata(values) => {
                if let Some((texts, codes)) = cells.coded().filter(|_| is_text) {
                    values.extend_coded(&texts, &codes);
                    *row += codes.len();
                    return Ok(());
                }
                cells.for_each(row, |cell| {
                    match cell {
                        TypedCell::Text(text) if is_text => values.push_text(text),
                        TypedCell::Text(text) => values.push(&json_of(text, name, budget)?),
                        cell => values.push(&cell.json()),
                    }
                    Ok(())
                })
            }
            Target::Texts(texts) => {
                if let Some((known, codes)) = cells.coded().filter(|(known, _)| !known.contains(&"")) {
                    texts.extend_coded(&known, &codes);
                    *row += codes.len();
                    return Ok(());
                }
                cells.for_each(row, |cell| {
                    match cell {
                        TypedCell::Null | TypedCell::Text("") => texts.push_absent(),
                        TypedCell::Text(text) => texts.push_text(text),
                        number => texts.push_text(&number.number()),
                    }
                    Ok(())
                })
            }
            Target::Errored(errored) => {
                let mut number = *row as u32;
                cells.for_each(row, |cell| {
                    if !matches!(cell, TypedCell::Null | TypedCell::Text("")) {
                        errored.push(number);
                    }
                    number += 1;
                    Ok(())
                })
            }
            Target::Buckets(buckets) => {
                if let Some(narrowed) = cells.narrowed(i64::from(BUCKETS) - 1, |int| int as u16) {
                    buckets.extend_from_slice(&narrowed);
                    *row += narrowed.len();
                    return Ok(());
                }
                cells.for_each(row, |cell| {
                    let bucket = if let TypedCell::Int(int) = cell { u16::try_from(int).ok() } else { None };
                    let bucket = bucket.filter(|bucket| *bucket < BUCKETS).ok_or_else(|| {
                        let problem =
                            format!("a hash bucket in the column `{name}` is no number from 0 to 4095");
                        let hint = "compute the bucket of every row from group and id alone";
                        TableErrorKind::invalid(problem, hint)
                    })?;
                    buckets.push(bucket);
                    Ok(())
                })
            }
            // A column that holds grades or maps beside numbers may hold them all as strings, as a CSV does.
            Target::Scores(values) => {
                if let Some(bytes) = cells.narrowed(u8::MAX.into(), |int| int as u8) {
                    values.extend_bytes(&bytes);
                    *row += bytes.len();
                    return Ok(());
                }
                let structures = self.has_structures.then_some((name, budget));
                // What is nested takes many times the bytes that it is written in.
                let mut unchecked = 0_usize;
                cells.for_each(row, |cell| {
                    match cell {
                        TypedCell::Int(int) => values.push_int(int),
                        TypedCell::Float(float) => values.push_float(float),
                        TypedCell::Text(text) if is_text && structures.is_none() => values.push_text(text),
                        TypedCell::Text(text) => {
                            unchecked += text.len();
                            match is_text {
                                true => cell::push_score(values, text, structures)?,
                                false => values.push(Some(cell::structure(text, name, budget)?)),
                            }
                        }
                        cell => values.push(cell.score()),
                    }
                    if unchecked > CHECK_EVERY {
                        unchecked = 0;
                        budget.check(values.heap_bytes() as u64)?;
                    }
                    Ok(())
                })
            }
        }
    }
}

/// Metadata of a column that holds JSON.
fn json_of(text: &str, column: &str, budget: Budget) -> Result<Json, TableErrorKind> {
    let invalid = |error: JiterError| {
        let problem = format!("the string in column `{column}` is not valid JSON: {}", error.error_type);
        TableErrorKind::invalid(problem, "write JSON, or make it a column of strings")
    };
    cell::parse_json(text, budget, json_value::any_within, invalid)
}
