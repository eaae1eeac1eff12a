//! Tables as CSV or TSV, read in pieces on all threads.
//!
//! Whatever the number of threads, rows are in the order of the file, and of several errors the first one is
//! reported. Locations of errors are byte offsets and row numbers until the end: the `csv` crate's own line
//! numbers are wrong behind blank lines and CRLF, and lines are needed only when something fails.

mod fields;
mod parse;
mod pieces;
mod quotes;

use std::io::{self, Read, Seek};
use std::str;
use std::sync::Mutex;

use csv::ByteRecord;
use errorbar_core::engine::ColumnBlock;

use self::parse::Scratch;
use self::pieces::{PIECE_BYTES, Piece, PieceReader};
pub use self::quotes::{BUFFER_BYTES, QuoteState, ends_in_quote, line_at};
use super::blocks::{RowSource, lock, read_blocks};
use super::builder::TableBuilder;
use super::error::{TableError, TableLocation};
use super::input::InputBytes;
use super::layout::{ColumnRole, TableColumn, TableLayout, refuse_twice};
use super::limits::Budget;
use super::{ScoreTable, TableErrorKind, TableOptions};

pub(super) fn read(
    file: InputBytes,
    delimiter: u8,
    options: &TableOptions,
) -> Result<Vec<ScoreTable>, TableError> {
    let mut pieces = PieceReader::new(file, delimiter, options.limits);
    rows(&mut pieces, delimiter, options).map_err(|error| {
        let file = pieces.file();
        error.locate(|location| {
            let offset = match location {
                TableLocation::Offset(offset) => Ok(offset),
                TableLocation::Row(row) => offset_of_row(file, delimiter, row),
                location => return location,
            };
            offset.and_then(|offset| line_at(&mut *file, offset)).map_or(location, TableLocation::Line)
        })
    })
}

fn rows(
    pieces: &mut PieceReader,
    delimiter: u8,
    options: &TableOptions,
) -> Result<Vec<ScoreTable>, TableError> {
    let mut first = Piece::default();
    if !pieces.next(&mut first)? {
        return Err(TableErrorKind::Empty.into());
    }
    let budget = options.limits.budget(pieces.file());
    let (layout, header_bytes) = header(&first, delimiter, options)?;
    first.bytes.drain(..header_bytes);
    first.offset += header_bytes as u64;
    pieces.put_back(first);
    let pieces = Mutex::new(pieces);
    let source = DelimitedSource { layout: &layout, delimiter, budget, pieces };
    read_blocks(&source, budget)?.finish(&layout)
}

/// What rows are read by.
struct DelimitedSource<'a> {
    layout: &'a TableLayout,
    delimiter: u8,
    budget: Budget,
    pieces: Mutex<&'a mut PieceReader>,
}

impl RowSource for DelimitedSource<'_> {
    type Piece = Piece;
    type Scratch = Scratch;

    fn estimate(&self) -> usize {
        lock(&self.pieces).estimate()
    }

    fn next(&self, piece: &mut Piece) -> Option<(usize, Result<(), TableError>)> {
        match lock(&self.pieces).next(piece) {
            Ok(true) => Some((piece.number, Ok(()))),
            Ok(false) => None,
            Err(error) => Some((piece.number, Err(error))),
        }
    }

    fn is_large(&self, piece: &Piece) -> bool {
        piece.bytes.len() >= LONG_PIECE
    }

    fn parse(
        &self,
        piece: &mut Piece,
        scratch: &mut Scratch,
        block: &mut ColumnBlock,
    ) -> Result<(), TableError> {
        self.parse_piece(piece, scratch, block)
    }

    fn append(
        &self,
        _: &mut Piece,
        _: &mut Scratch,
        block: &mut ColumnBlock,
        builder: &mut TableBuilder,
    ) -> Result<(), TableError> {
        builder.append(self.layout, block)
    }
}

/// What the columns are, and the size of the header in bytes.
fn header(piece: &Piece, delimiter: u8, options: &TableOptions) -> Result<(TableLayout, usize), TableError> {
    let mut reader = records(piece.bytes.as_slice(), delimiter);
    let mut record = ByteRecord::new();
    if !reader.read_byte_record(&mut record).map_err(read_error)? {
        return Err(match piece.unclosed {
            Some(row) => TableErrorKind::UnclosedQuote.at_offset(row),
            None => TableErrorKind::Empty.into(),
        });
    }
    let offset = record.position().map_or(0, csv::Position::byte);
    if record.len() > options.limits.max_columns {
        let kind = TableErrorKind::TooManyColumns { limit: options.limits.max_columns };
        return Err(kind.at_offset(offset));
    }
    let names: Vec<&str> = record
        .iter()
        .map(|field| str::from_utf8(field).map(str::trim))
        .collect::<Result<_, _>>()
        .map_err(|_| TableErrorKind::InvalidUtf8(None).at_offset(offset))?;
    refuse_twice(&names).map_err(|kind| kind.at_offset(offset))?;
    let bytes = usize::try_from(reader.position().byte()).unwrap_or(usize::MAX).min(piece.bytes.len());
    Ok((TableLayout::new(&names, options)?, bytes))
}

/// A reader of records. Flexible, because its own complaint about a short row cannot name the sample.
fn records<R: Read>(source: R, delimiter: u8) -> csv::Reader<R> {
    csv::ReaderBuilder::new().delimiter(delimiter).has_headers(false).flexible(true).from_reader(source)
}

impl DelimitedSource<'_> {
    /// Calls `each` with the rows of a piece, all of which have the right number of fields.
    fn for_each_row(
        &self,
        piece: &Piece,
        mut each: impl FnMut(&DelimitedRow<'_>) -> Result<(), TableError>,
    ) -> Result<(), TableError> {
        let width = self.layout.width;
        refuse_many_fields(piece, self.delimiter, width)?;
        // A line feed more, so that the reader does not take a mark at the start of a piece for the one that
        // may stand at the start of a file.
        const AHEAD: &[u8] = b"\n";
        let mut reader = records(AHEAD.chain(piece.bytes.as_slice()), self.delimiter);
        let mut record = ByteRecord::new();
        while reader.read_byte_record(&mut record).map_err(read_error)? {
            // Spreadsheets write rows without any cell as delimiters alone.
            if width > 1 && record.len() > 1 && record.iter().all(|field| field.trim_ascii().is_empty()) {
                continue;
            }
            let within = record.position().map_or(0, csv::Position::byte).saturating_sub(AHEAD.len() as u64);
            let mut row = DelimitedRow { record: &record, offset: piece.offset + within, id: "" };
            let id = self.layout.columns.iter().find(|column| column.role == ColumnRole::Id);
            row.id = id.map_or(Ok(""), |column| row.text(column))?;
            if record.len() != width {
                return Err(row.error(TableErrorKind::FieldCount { expected: width, found: record.len() }));
            }
            each(&row)?;
        }
        match piece.unclosed {
            Some(row) => Err(TableErrorKind::UnclosedQuote.at_offset(row)),
            None => Ok(()),
        }
    }
}

/// A row, and where it starts.
struct DelimitedRow<'a> {
    record: &'a ByteRecord,
    offset: u64,
    id: &'a str,
}

impl<'a> DelimitedRow<'a> {
    /// The text of a cell; empty where the row is too short.
    fn text(&self, column: &TableColumn) -> Result<&'a str, TableError> {
        let invalid = || TableErrorKind::InvalidUtf8(Some(column.name.clone()));
        let text = str::from_utf8(self.record.get(column.at).unwrap_or_default());
        text.map_err(|_| invalid().at_offset(self.offset))
    }

    fn error(&self, kind: TableErrorKind) -> TableError {
        kind.at_offset(self.offset).of_sample(self.id)
    }
}

/// Refuses a row with a million fields, the list of which would fill the memory; other rows with too many are
/// refused one by one. Only a long row can have as many, and a piece is long if a row is.
fn refuse_many_fields(piece: &Piece, delimiter: u8, columns: usize) -> Result<(), TableError> {
    const MANY: usize = 1 << 20;
    if piece.bytes.len() < LONG_PIECE {
        return Ok(());
    }
    let refuse = |found: usize, start: usize| match found > MANY.max(columns) {
        true => {
            let kind = TableErrorKind::FieldCount { expected: columns, found };
            Err(kind.at_offset(piece.offset + start as u64))
        }
        false => Ok(()),
    };
    let (mut state, mut fields, mut start) = (QuoteState::default(), 1, 0);
    for (at, &byte) in piece.bytes.iter().enumerate() {
        if !state.is_quoted() {
            if byte == delimiter {
                fields += 1;
            } else if matches!(byte, b'\n' | b'\r') {
                refuse(fields, start)?;
                (fields, start) = (1, at + 1);
            }
        }
        state.step(byte, delimiter);
    }
    refuse(fields, start)
}

/// A piece of this size holds a row that is far longer than others.
const LONG_PIECE: usize = 4 * PIECE_BYTES;

fn read_error(error: csv::Error) -> TableError {
    let text = error.to_string();
    match error.into_kind() {
        csv::ErrorKind::Io(error) => TableErrorKind::Read(error).into(),
        _ => TableErrorKind::Read(io::Error::other(text)).into(),
    }
}

/// Where a row starts, counted from 1 without the header.
fn offset_of_row(file: &mut InputBytes, delimiter: u8, row: u64) -> io::Result<u64> {
    file.rewind()?;
    let mut reader = records(file, delimiter);
    let mut record = ByteRecord::new();
    for _ in 0..=row {
        reader.read_byte_record(&mut record).map_err(io::Error::other)?;
    }
    Ok(record.position().map_or(0, csv::Position::byte))
}
