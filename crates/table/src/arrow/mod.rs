//! Tables in memory, as Arrow: what data frames of any library hand over.
//!
//! Batches are a format like any other: the same columns are found in the same way, and the same blocks are filled. What a
//! cell means is what it means in Parquet; lists and maps are those of JSON lines. Batches are taken from the stream one
//! after the other and dropped once they are read, so that memory is that of the columns and of a few batches.

mod cells;

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayReader, ArrayRef, RecordBatch, RecordBatchOptions, RecordBatchReader};
use arrow_buffer::NullBuffer;
use arrow_schema::{ArrowError, DataType, Fields, Schema, SchemaRef};
use errorbar_core::engine::ColumnBlock;
use serde_json::Value as Json;

use self::cells::{ArrowColumn, is_ascii, kind_of};
use super::blocks::{RowSource, lock, read_blocks};
use super::builder::TableBuilder;
use super::layout::{DEFAULT_SCORES, TableLayout, refuse_twice};
use super::limits::Budget;
use super::location::RowLocations;
use super::preview::TablePreview;
use super::row_groups::{self, RowGroup, RowGroupError, RowLabels};
use super::typed::{CellSink, RowError, Target, TypedColumn, ValueKind};
use super::{ScoreTable, TableError, TableErrorKind, TableOptions};

/// A table in memory, as a stream of Arrow batches.
///
/// It is read once, unless it is [kept](ArrowTable::kept).
pub struct ArrowTable {
    fields: Fields,
    /// About how many rows there are, if that is known.
    rows: Option<usize>,
    stream: Mutex<BatchStream>,
}

impl fmt::Debug for ArrowTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = self.fields.iter().map(|field| field.name().as_str()).collect();
        f.debug_struct("ArrowTable")
            .field("columns", &names)
            .field("rows", &self.rows)
            .finish_non_exhaustive()
    }
}

impl ArrowTable {
    /// The table of a stream.
    pub fn new(reader: Box<dyn RecordBatchReader + Send>) -> Self {
        let fields = reader.schema().fields().clone();
        ArrowTable { fields, rows: None, stream: Mutex::new(BatchStream::new(batches_of_reader(reader))) }
    }

    /// The table of a stream of structures, which is how libraries hand over rows. Such a row may be null as a whole; then
    /// it has none of its fields, whatever they hold, and the table cannot be read. A batch cannot hold such a row, so a
    /// stream that was read as batches has lost it.
    ///
    /// # Errors
    /// Arrays that are no structures.
    pub fn from_arrays(reader: Box<dyn ArrayReader + Send>) -> Result<Self, TableError> {
        let DataType::Struct(fields) = reader.field().data_type() else {
            let found = format!("it holds {} and no rows", reader.field().data_type());
            return Err(stream_problem(&found).into());
        };
        let fields = fields.clone();
        let stream = Mutex::new(BatchStream::new(batches_of_arrays(reader, &fields)));
        Ok(ArrowTable { fields, rows: None, stream })
    }

    /// The same with about this number of rows, so that memory is reserved once.
    #[must_use]
    pub fn expect_rows(mut self, rows: usize) -> Self {
        self.rows = Some(rows);
        self
    }

    /// The same, with its batches kept so that it can be read several times.
    #[must_use]
    pub fn kept(self) -> Self {
        self.keep();
        self
    }

    /// Keeps the batches from now on, for another time.
    pub(super) fn keep(&self) {
        self.lock().is_kept = true;
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, BatchStream> {
        self.stream.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The names of the columns, as they are read with these options.
    pub fn column_names(&self, options: &TableOptions) -> Vec<String> {
        self.columns(options).into_iter().map(|(name, _)| name).collect()
    }

    /// The columns: the fields of a structure are columns of their own, `scores.accuracy`, as in Parquet; but a structure
    /// that is named as a whole is one column.
    fn columns(&self, options: &TableOptions) -> Vec<(String, ColumnPath)> {
        let mut columns = Vec::new();
        let mut path = Vec::new();
        named_columns(&self.fields, "", &mut path, options, &mut columns);
        columns
    }

    /// The first rows.
    ///
    /// # Errors
    /// A stream that fails: what it would have given is unknown.
    pub(super) fn preview(
        &self,
        options: &TableOptions,
        rows: usize,
    ) -> Result<TablePreview, TableErrorKind> {
        let columns = self.columns(options);
        let mut preview =
            TablePreview { names: columns.iter().map(|(name, _)| name.clone()).collect(), rows: Vec::new() };
        if columns.len() > options.limits.max_columns {
            return Ok(TablePreview::default());
        }
        // The names alone take no row.
        let batches = self.lock().first(if rows <= 1 { 0 } else { rows })?;
        for batch in &batches {
            // A column that is invalid is refused if it is read.
            let valid = |path: &ColumnPath| path.check(batch).ok().and_then(|()| path.column(batch));
            let arrays: Vec<Option<ArrowColumn>> = columns.iter().map(|(_, path)| valid(path)).collect();
            let cell = |column: &Option<ArrowColumn>, row: usize| {
                column.as_ref().map_or(NO_CELL, |column| column.json(row))
            };
            for row in 0..batch.num_rows().min(rows.saturating_sub(preview.rows.len())) {
                preview.rows.push(arrays.iter().map(|column| Some(cell(column, row))).collect());
            }
        }
        Ok(preview)
    }
}

/// The position of a column: in the batch, then in the structure that is there, and so on.
#[derive(Clone, Debug)]
struct ColumnPath(Vec<usize>);

impl ColumnPath {
    /// The array of a batch, with the nulls of the structures that it is in.
    fn array(&self, batch: &RecordBatch) -> Option<(ArrayRef, Option<NullBuffer>)> {
        let [root, fields @ ..] = self.0.as_slice() else { return None };
        let mut array: ArrayRef = Arc::clone(batch.columns().get(*root)?);
        let mut nulls = None;
        for field in fields {
            let structure = array.as_any().downcast_ref::<arrow_array::StructArray>()?;
            nulls = NullBuffer::union(nulls.as_ref(), structure.nulls());
            array = Arc::clone(structure.columns().get(*field)?);
        }
        Some((array, nulls))
    }

    /// The column of a batch, which must be valid. A field of a structure that is null is null.
    fn column(&self, batch: &RecordBatch) -> Option<ArrowColumn> {
        let (array, nulls) = self.array(batch)?;
        Some(ArrowColumn::new(array, nulls.as_ref()))
    }

    /// Whether the column is as Arrow has its type; else what is wrong with it. Nobody checked what another library hands
    /// over, and some make arrays without a check: of strings that are not UTF-8, of numbers beyond a dictionary.
    fn check(&self, batch: &RecordBatch) -> Result<(), String> {
        let Some((array, _)) = self.array(batch) else { return Ok(()) };
        let data = array.to_data();
        let checked = match is_ascii(array.as_ref()) {
            // Offsets and UTF-8 are checked; these are the other steps of the full check.
            true => data.validate().and_then(|()| data.validate_nulls()),
            false => data.validate_full(),
        };
        checked.map_err(|error| error.to_string())
    }

    fn data_type<'f>(&self, fields: &'f Fields) -> Option<&'f DataType> {
        let [root, path @ ..] = self.0.as_slice() else { return None };
        let mut found = fields.get(*root)?.data_type();
        for field in path {
            let DataType::Struct(fields) = found else { return None };
            found = fields.get(*field)?.data_type();
        }
        Some(found)
    }
}

fn named_columns(
    fields: &Fields,
    prefix: &str,
    path: &mut Vec<usize>,
    options: &TableOptions,
    columns: &mut Vec<(String, ColumnPath)>,
) {
    for (at, field) in fields.iter().enumerate() {
        let name =
            if prefix.is_empty() { field.name().clone() } else { format!("{prefix}.{}", field.name()) };
        path.push(at);
        match field.data_type() {
            DataType::Struct(fields) if !fields.is_empty() && !is_named(&name, options) => {
                named_columns(fields, &name, path, options, columns);
            }
            _ => columns.push((name, ColumnPath(path.clone()))),
        }
        path.pop();
    }
}

/// Whether a name is that of a score, or of metadata that is asked for.
fn is_named(name: &str, options: &TableOptions) -> bool {
    let is_score = match options.score_columns.as_slice() {
        [] => DEFAULT_SCORES.contains(&name),
        named => named.iter().any(|score| score == name),
    };
    is_score || options.names_metadata(name)
}

/// A column, and its position in a batch.
type ReadColumn<'a> = TypedColumn<'a, &'a ColumnPath>;

pub(super) fn read(table: &ArrowTable, options: &TableOptions) -> Result<Vec<ScoreTable>, TableError> {
    let columns = table.columns(options);
    let layout = TableLayout::new(&names(&columns, options)?, options)?;
    blocks(table, &columns, &layout, options)?.finish(&layout)
}

/// Reads the rows that a machine has of tables that are on several: what depends on all rows of a table is not done. All
/// rows are read before the first group comes.
///
/// # Errors
/// Rows that cannot be read, and more memory than the options allow; of a group, an epoch that a sample has twice.
pub fn read_row_groups(
    table: &ArrowTable,
    options: &TableOptions,
    labels: &RowLabels,
) -> Result<impl Iterator<Item = Result<RowGroup, RowGroupError>> + use<>, RowGroupError> {
    let columns = table.columns(options);
    let names = names(&columns, options).map_err(TableError::from)?;
    let options = row_groups::resolved(&names, options, labels).map_err(TableError::from)?;
    let layout = TableLayout::new(&names, &options)?;
    let rows = blocks(table, &columns, &layout, &options)?;
    Ok(rows.finish_groups(labels.bucket.is_some())?.map(|group| Ok(group?)))
}

/// The names of the columns, if they can be told apart.
fn names<'c>(
    columns: &'c [(String, ColumnPath)],
    options: &TableOptions,
) -> Result<Vec<&'c str>, TableErrorKind> {
    if columns.is_empty() {
        let hint = "give the table a column of ids, `id`, and one of scores, `score`";
        return Err(TableErrorKind::invalid("there are no columns", hint));
    }
    if columns.len() > options.limits.max_columns {
        return Err(TableErrorKind::TooManyColumns { limit: options.limits.max_columns });
    }
    let names: Vec<&str> = columns.iter().map(|(name, _)| name.as_str()).collect();
    refuse_twice(&names)?;
    Ok(names)
}

/// All rows.
fn blocks(
    table: &ArrowTable,
    columns: &[(String, ColumnPath)],
    layout: &TableLayout,
    options: &TableOptions,
) -> Result<TableBuilder, TableError> {
    let read: Vec<ReadColumn<'_>> = layout
        .columns
        .iter()
        .filter_map(|column| columns.get(column.at).map(|(_, path)| (column, path)))
        .map(|(column, path)| {
            let found = path.data_type(&table.fields).map_or(Err("nothing".to_owned()), kind_of);
            TypedColumn::new(column, path, found)
        })
        .collect::<Result<_, _>>()?;
    let budget = options.limits.budget_of_memory();
    let source = ArrowSource { table, layout, columns: read, budget, position: Mutex::default() };
    read_blocks(&source, budget)
}

/// A cell that does not exist.
const NO_CELL: Json = Json::Null;

/// A stream of rows in memory that could not be read to its end.
fn stream_problem(problem: &str) -> TableErrorKind {
    let hint = "check what the rows come from, and give a stream that was not read before";
    TableErrorKind::invalid(format!("its rows could not be read: {problem}"), hint)
}

/// What a stream gives.
type Batches = Box<dyn Iterator<Item = Result<RecordBatch, StreamError>> + Send>;

/// Why a stream could not be read to its end.
#[derive(Clone, Debug)]
enum StreamError {
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
            StreamError::Failed(problem) => stream_problem(&problem),
            StreamError::NullRow(row) => TableErrorKind::NullRow(row),
        }
    }
}

fn batches_of_reader(reader: Box<dyn RecordBatchReader + Send>) -> Batches {
    Box::new(reader.map(|batch| Ok(batch?)))
}

/// The batches of structures with these fields.
fn batches_of_arrays(reader: Box<dyn ArrayReader + Send>, fields: &Fields) -> Batches {
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
#[derive(Default)]
struct BatchStream {
    reader: Option<Batches>,
    /// Those that were read, in order; none for one that was handed on.
    batches: Vec<Option<RecordBatch>>,
    /// The first rows, which are looked at several times.
    first: Vec<RecordBatch>,
    first_rows: usize,
    is_kept: bool,
    /// Why it could not be read to its end. Each reader fails, not only the first.
    failed: Option<StreamError>,
}

impl BatchStream {
    fn new(reader: Batches) -> Self {
        BatchStream { reader: Some(reader), ..BatchStream::default() }
    }

    /// The batch at this position; none behind the last.
    fn batch(&mut self, at: usize) -> Result<Option<RecordBatch>, TableErrorKind> {
        if at >= self.batches.len() && !self.pull()? {
            return Ok(None);
        }
        let batch = match self.batches.get_mut(at) {
            Some(batch) if self.is_kept => batch.clone(),
            Some(batch) => batch.take(),
            None => None,
        };
        batch.map(Some).ok_or_else(|| stream_problem("they were read already"))
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
    fn first(&mut self, rows: usize) -> Result<Vec<RecordBatch>, TableErrorKind> {
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

/// How many rows a piece has, at most; small batches are put together.
const PIECE_ROWS: usize = 1 << 16;

struct ArrowSource<'a> {
    table: &'a ArrowTable,
    layout: &'a TableLayout,
    columns: Vec<ReadColumn<'a>>,
    budget: Budget,
    position: Mutex<Position>,
}

/// How far the stream has been read.
#[derive(Default)]
struct Position {
    batch: usize,
    /// What is left of a batch that is larger than a piece.
    rest: Option<RecordBatch>,
    rows: u64,
    pieces: usize,
    is_end: bool,
}

/// Some rows.
#[derive(Default)]
struct Piece {
    batches: Vec<RecordBatch>,
    /// The number of rows before them.
    start: u64,
}

impl ArrowSource<'_> {
    /// The next batches; false at the end.
    fn fill(&self, position: &mut Position, piece: &mut Piece) -> Result<bool, TableErrorKind> {
        let mut rows = 0;
        while rows < PIECE_ROWS && !position.is_end {
            let batch = match position.rest.take() {
                Some(rest) => rest,
                None => match self.table.lock().batch(position.batch)? {
                    Some(batch) => {
                        position.batch += 1;
                        // Once for all of it: pieces of it share dictionaries and the items of lists.
                        self.check(&batch)?;
                        batch
                    }
                    None => {
                        position.is_end = true;
                        break;
                    }
                },
            };
            let taken = batch.num_rows().min(PIECE_ROWS - rows);
            if taken < batch.num_rows() {
                position.rest = Some(batch.slice(taken, batch.num_rows() - taken));
            }
            if taken > 0 {
                piece.batches.push(batch.slice(0, taken));
            }
            rows += taken;
        }
        position.rows += rows as u64;
        Ok(rows > 0)
    }

    /// Refuses a batch with a column that is read and invalid.
    fn check(&self, batch: &RecordBatch) -> Result<(), TableErrorKind> {
        self.columns.iter().try_for_each(|column| {
            let invalid = |problem: String| {
                let problem = format!("the column `{}` is no valid Arrow array: {problem}", column.name());
                TableErrorKind::invalid(problem, "make the column anew; strings must be UTF-8")
            };
            column.place.check(batch).map_err(invalid)
        })
    }

    /// Reads the first rows of a piece into an empty block, all of them or as many as are good.
    fn parse_rows(&self, piece: &Piece, most: usize, block: &mut ColumnBlock) -> Result<(), RowError> {
        block.widen(self.layout.scores.len(), self.layout.metadata.len());
        let mut start = 0;
        for batch in &piece.batches {
            let batch = batch.slice(0, batch.num_rows().min(most - start));
            let sinks = CellSink::all(block, self.layout, &self.columns, self.budget, u64::MAX);
            let read = |(column, mut sink): (&ReadColumn<'_>, CellSink<'_>)| {
                let mut row = start;
                let read = append(&column.place.column(&batch)?, &mut sink, &mut row);
                read.err().map(|kind| RowError { row, kind: Box::new(kind) })
            };
            RowError::first(self.columns.iter().zip(sinks).filter_map(read))?;
            start += batch.num_rows();
            if self.layout.is_numbered {
                // The builder numbers them.
                (0..batch.num_rows()).for_each(|_| block.ids.push(""));
            }
            if start >= most {
                break;
            }
        }
        Ok(())
    }
}

/// Appends the cells of a column, and counts them.
fn append(cells: &ArrowColumn, sink: &mut CellSink<'_>, row: &mut usize) -> Result<(), TableErrorKind> {
    if let Target::Ids(ids) = &mut sink.target
        && cells.extend_ids(ids)
    {
        *row += cells.len();
        return Ok(());
    }
    let is_nested = sink.kind == ValueKind::Nested;
    match &mut sink.target {
        Target::Metadata(values) if is_nested => {
            (0..cells.len()).for_each(|at| values.push(&cells.json(at)));
            *row += cells.len();
        }
        Target::Scores(values) if is_nested => {
            for at in 0..cells.len() {
                let nested = |found| TableErrorKind::nested_score(sink.name, found);
                values.push(cells.structure(at).map_err(nested)?);
                *row += 1;
            }
        }
        _ => sink.append(cells, row)?,
    }
    Ok(())
}

impl RowSource for ArrowSource<'_> {
    type Piece = Piece;

    fn estimate(&self) -> usize {
        let first = || {
            let mut stream = self.table.lock();
            // A table of one batch is known as a whole; of others at least the first.
            stream.first(1).ok();
            stream.batches.iter().flatten().map(RecordBatch::num_rows).sum()
        };
        self.table.rows.unwrap_or_else(first).div_ceil(PIECE_ROWS).max(1)
    }

    fn next(&self, piece: &mut Piece) -> Option<(usize, Result<(), TableError>)> {
        piece.batches.clear();
        let position = &mut *lock(&self.position);
        piece.start = position.rows;
        let filled = self.fill(position, piece);
        let number = position.pieces;
        position.pieces += 1;
        match filled {
            Ok(true) => Some((number, Ok(()))),
            Ok(false) => None,
            Err(kind) => {
                position.is_end = true;
                Some((number, Err(kind.into())))
            }
        }
    }

    fn is_large(&self, _: &Piece) -> bool {
        false
    }

    fn parse(&self, piece: &mut Piece, block: &mut ColumnBlock) -> Result<(), TableError> {
        let parsed = self.parse_rows(piece, usize::MAX, block);
        let parsed = parsed.map_err(|RowError { row, kind }| {
            let has_id = row < block.ids.len() && !self.layout.is_numbered;
            let sample = if has_id { block.ids.get(row).to_owned() } else { String::new() };
            let part = block.labels.parts.text(row).map(str::to_owned);
            // The rows before it may hold an error that comes first.
            block.clear();
            let _ = self.parse_rows(piece, row, block);
            kind.in_row(piece.start + row as u64 + 1).of_sample(&sample).of_part(part.as_deref())
        });
        // Not needed any more, and perhaps large.
        piece.batches.clear();
        parsed
    }

    fn append(
        &self,
        _: &mut Piece,
        block: &mut ColumnBlock,
        builder: &mut TableBuilder,
    ) -> Result<(), TableError> {
        builder.append(self.layout, block, &RowLocations::default())
    }
}
