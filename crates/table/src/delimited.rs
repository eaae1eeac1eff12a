//! Tables as CSV or TSV, read in pieces on all threads; column by column where all rows of a piece are whole.
//!
//! Whatever the number of threads, rows are in the order of the file, and of several errors the first one is
//! reported. Lines are counted here: those of the `csv` crate are wrong behind blank lines and CRLF.
//!
//! Most tables have no quotation mark in them, and then a row is what lies between line feeds and a field
//! what lies between delimiters. Looking for both at once, in long strides, takes a fifth of the time that
//! a reader of all of CSV takes.

use std::io::{self, Read};
use std::str;
use std::sync::Mutex;

use csv::ByteRecord;
use errorbar_core::engine::ColumnBlock;
use memchr::{memchr_iter, memchr2};
use serde_json::Value as Json;

use super::blocks::{RowSource, lock, read_blocks, text_column};
use super::builder::TableBuilder;
use super::error::TableError;
use super::input::InputBytes;
use super::layout::{ColumnRole, TableColumn, TableLayout, refuse_twice};
use super::limits::Budget;
use super::pieces::{LONG_PIECE, Piece, PieceReader, QuoteState};
use super::{ScoreTable, TableErrorKind, TableLocation, TableOptions, cell};

pub(super) fn read(
    file: InputBytes,
    delimiter: u8,
    options: &TableOptions,
) -> Result<Vec<ScoreTable>, TableError> {
    let mut pieces = PieceReader::new(file, Some(delimiter), options.limits);
    let mut first = Piece::default();
    if !pieces.next(&mut first)? {
        return Err(TableErrorKind::empty().into());
    }
    let budget = options.limits.budget(pieces.file(), 0);
    let (layout, header_bytes) = header(&first, delimiter, options)?;
    first.drop_start(header_bytes);
    pieces.put_back(first);
    let source = DelimitedSource { layout: &layout, delimiter, budget, pieces: Mutex::new(pieces) };
    read_blocks(&source, budget)?.finish(&layout)
}

/// What rows are read by.
struct DelimitedSource<'a> {
    layout: &'a TableLayout,
    delimiter: u8,
    budget: Budget,
    pieces: Mutex<PieceReader>,
}

impl RowSource for DelimitedSource<'_> {
    type Piece = Piece;

    fn estimate(&self) -> usize {
        lock(&self.pieces).estimate()
    }

    fn next(&self, piece: &mut Piece) -> Option<(usize, Result<(), TableError>)> {
        lock(&self.pieces).next_numbered(piece)
    }

    fn is_large(&self, piece: &Piece) -> bool {
        piece.bytes.len() >= LONG_PIECE
    }

    fn parse(&self, piece: &mut Piece, block: &mut ColumnBlock) -> Result<(), TableError> {
        block.widen(self.layout.scores.len(), self.layout.metadata.len());
        piece.lines.restart();
        let is_plain = !self.layout.is_numbered
            && piece.unclosed.is_none()
            && memchr2(b'"', b'\r', &piece.bytes).is_none();
        if is_plain && self.regular(piece, block).is_some() {
            piece.lines.push(0, TableLocation::Line(piece.line));
            return Ok(());
        }
        // The rows one by one, to report what is wrong and where, or to skip what is not a row.
        block.clear();
        let mut lines = std::mem::take(&mut piece.lines);
        let is_long = self.is_large(piece);
        let read = self.for_each_row(piece, |row| {
            lines.push(block.len() as u32, TableLocation::Line(row.line));
            self.row(row, block)?;
            // A long row can hold a structure that takes many times the bytes that it is written in.
            if is_long {
                self.budget.check(block.heap_bytes() as u64).map_err(|kind| row.error(kind))
            } else {
                Ok(())
            }
        });
        piece.lines = lines;
        read
    }

    fn append(
        &self,
        piece: &mut Piece,
        block: &mut ColumnBlock,
        builder: &mut TableBuilder,
    ) -> Result<(), TableError> {
        builder.append(self.layout, block, &piece.lines)
    }
}

/// What the columns are, and the size of the header in bytes.
fn header(piece: &Piece, delimiter: u8, options: &TableOptions) -> Result<(TableLayout, usize), TableError> {
    let mut reader = records(piece.bytes.as_slice(), delimiter);
    let mut record = ByteRecord::new();
    if !reader.read_byte_record(&mut record).map_err(read_error)? {
        return Err(match piece.unclosed {
            Some(line) => TableErrorKind::unclosed_quote().on_line(line),
            None => TableErrorKind::empty().into(),
        });
    }
    let line = piece.line_counter().line_at(start_of(&record));
    if record.len() > options.limits.max_columns {
        let kind = TableErrorKind::TooManyColumns { limit: options.limits.max_columns };
        return Err(kind.on_line(line));
    }
    let names: Vec<&str> = record
        .iter()
        .map(|field| str::from_utf8(field).map(str::trim))
        .collect::<Result<_, _>>()
        .map_err(|_| TableErrorKind::not_utf8(None).on_line(line))?;
    refuse_twice(&names).map_err(|kind| kind.on_line(line))?;
    let bytes = usize::try_from(reader.position().byte()).unwrap_or(usize::MAX).min(piece.bytes.len());
    Ok((TableLayout::new(&names, options)?, bytes))
}

/// Where a record starts, or the line ends before it.
fn start_of(record: &ByteRecord) -> usize {
    record.position().map_or(0, csv::Position::byte) as usize
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
        let (mut record, mut lines) = (ByteRecord::new(), piece.line_counter());
        while reader.read_byte_record(&mut record).map_err(read_error)? {
            // Spreadsheets write rows without any cell as delimiters alone.
            if width > 1 && record.len() > 1 && record.iter().all(|field| field.trim_ascii().is_empty()) {
                continue;
            }
            let line = lines.line_at(start_of(&record).saturating_sub(AHEAD.len()));
            let mut row = DelimitedRow { record: &record, line, id: "" };
            let id = self.layout.columns.iter().find(|column| column.role == ColumnRole::Id);
            row.id = id.map_or(Ok(""), |column| row.text(column))?;
            if record.len() != width {
                return Err(row.error(TableErrorKind::field_count(width, record.len())));
            }
            each(&row)?;
        }
        match piece.unclosed {
            Some(line) => Err(TableErrorKind::unclosed_quote().on_line(line)),
            None => Ok(()),
        }
    }

    /// Rows that all have the right number of fields, column by column, which takes half the time.
    /// Nothing, and the block in any state, if there is something else or something wrong.
    fn regular(&self, piece: &mut Piece, block: &mut ColumnBlock) -> Option<()> {
        let Piece { bytes, ends, digits, .. } = piece;
        // A row that is far longer than others may have far more fields, and the places of all would be listed.
        if bytes.len() >= LONG_PIECE {
            return None;
        }
        let text = str::from_utf8(bytes).ok()?;
        ends.clear();
        append_separators(bytes, self.delimiter, ends);
        if bytes.last() != Some(&b'\n') {
            ends.push(bytes.len() as u32);
        }
        // As many line feeds as rows, each at the end of one: then there is none within a row.
        let feeds = memchr_iter(b'\n', bytes).count() + usize::from(bytes.last() != Some(&b'\n'));
        let rows = RegularRows { text, ends, columns: self.layout.width };
        if !rows.are_whole(feeds) {
            return None;
        }
        for column in &self.layout.columns {
            match column.role {
                ColumnRole::Epoch if rows.digits(column.at, digits) => {
                    block.epochs.extend(digits.iter().copied().map(u32::from));
                }
                ColumnRole::Score(number) if rows.digits(column.at, digits) => {
                    block.scores.get_mut(number)?.extend_bytes(digits);
                }
                _ => self.push_cells(column, 0, rows.texts(column.at), block).ok()?,
            }
        }
        Some(())
    }

    fn row(&self, row: &DelimitedRow<'_>, block: &mut ColumnBlock) -> Result<(), TableError> {
        let number = block.len();
        for column in &self.layout.columns {
            let text = row.text(column)?;
            match column.role {
                ColumnRole::Id if text.is_empty() => {
                    return Err(row.error(TableErrorKind::bad_id("empty")));
                }
                ColumnRole::Id => {}
                _ => self
                    .push_cells(column, number, std::iter::once(text), block)
                    .map_err(|kind| row.error(kind))?,
            }
        }
        // At the end, because it makes a row of the cells. A number is known when the rows of the pieces before are.
        block.ids.push(row.id);
        Ok(())
    }

    /// Appends cells of a column, the first of which is of the row of this number.
    #[inline]
    fn push_cells<'t>(
        &self,
        column: &TableColumn,
        first_row: usize,
        mut texts: impl Iterator<Item = &'t str>,
        block: &mut ColumnBlock,
    ) -> Result<(), TableErrorKind> {
        match column.role {
            ColumnRole::Id => texts.try_for_each(|id| {
                if id.is_empty() {
                    return Err(TableErrorKind::bad_id("empty"));
                }
                block.ids.push(id);
                Ok(())
            }),
            ColumnRole::Epoch => texts.try_for_each(|text| {
                block.epochs.push(cell::epoch(text)?);
                Ok(())
            }),
            ColumnRole::Score(number) => {
                let Some(values) = block.scores.get_mut(number) else { return Ok(()) };
                let name = column.name.as_str();
                let structures = self.layout.has_structured_text().then_some((name, self.budget));
                texts.try_for_each(|text| cell::push_score(values, text, structures))
            }
            ColumnRole::Error => {
                let errored = (first_row as u32..).zip(texts).filter(|(_, text)| !text.is_empty());
                block.errored.extend(errored.map(|(row, _)| row));
                Ok(())
            }
            ColumnRole::Metadata(number) => {
                let Some(values) = block.metadata.get_mut(number) else { return Ok(()) };
                // An empty cell is null.
                texts.for_each(|text| match text {
                    "" => values.push(&Json::Null),
                    text => values.push_text(text),
                });
                Ok(())
            }
            role => {
                let Some(values) = text_column(block, role) else { return Ok(()) };
                texts.for_each(|text| match text {
                    "" => values.push_absent(),
                    text => values.push_text(text),
                });
                Ok(())
            }
        }
    }
}

/// A row, and the line where it starts.
struct DelimitedRow<'a> {
    record: &'a ByteRecord,
    line: u64,
    id: &'a str,
}

impl<'a> DelimitedRow<'a> {
    /// The text of a cell; empty where the row is too short.
    fn text(&self, column: &TableColumn) -> Result<&'a str, TableError> {
        let text = str::from_utf8(self.record.get(column.at).unwrap_or_default());
        text.map_err(|_| TableErrorKind::not_utf8(Some(&column.name)).on_line(self.line))
    }

    fn error(&self, kind: TableErrorKind) -> TableError {
        kind.on_line(self.line).of_sample(self.id)
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
            let kind = TableErrorKind::field_count(columns, found);
            Err(kind.on_line(piece.line_counter().line_at(start)))
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

fn read_error(error: csv::Error) -> TableError {
    let text = error.to_string();
    match error.into_kind() {
        csv::ErrorKind::Io(error) => TableErrorKind::Read(error).into(),
        _ => TableErrorKind::Read(io::Error::other(text)).into(),
    }
}

/// Rows of a text that have all their fields.
#[derive(Clone, Copy)]
struct RegularRows<'a> {
    text: &'a str,
    /// Where the fields end, one row after the other.
    ends: &'a [u32],
    columns: usize,
}

impl<'a> RegularRows<'a> {
    /// Whether each row has its number of fields and ends with one of the line feeds, or with the text.
    fn are_whole(&self, feeds: usize) -> bool {
        let bytes = self.text.as_bytes();
        let ends_row = |end: &u32| bytes.get(*end as usize).is_none_or(|byte| *byte == b'\n');
        self.ends.len() == feeds * self.columns
            && self.ends.iter().skip(self.columns - 1).step_by(self.columns).all(ends_row)
    }

    /// Where the cells of a column start and end.
    #[inline]
    fn cells(self, at: usize) -> impl Iterator<Item = (u32, u32)> {
        // A row starts behind the end of the one before.
        let mut row_start = 0;
        self.ends.chunks_exact(self.columns).map(move |row| {
            let start = if at == 0 { row_start } else { row.get(at - 1).map_or(0, |end| end + 1) };
            row_start = row.last().map_or(0, |end| end + 1);
            (start, row.get(at).copied().unwrap_or(start))
        })
    }

    #[inline]
    fn texts(self, at: usize) -> impl Iterator<Item = &'a str> {
        self.cells(at).map(move |cell| self.text(cell))
    }

    #[inline]
    fn text(self, (start, end): (u32, u32)) -> &'a str {
        self.text.get(start as usize..end as usize).unwrap_or_default()
    }

    /// The cells of a column as numbers, if each is of one digit; false if not, and then they are anything.
    /// Scores and epochs mostly are, and then nothing is decided cell by cell.
    fn digits(self, at: usize, digits: &mut Vec<u8>) -> bool {
        let bytes = self.text.as_bytes();
        let mut all = true;
        digits.clear();
        digits.extend(self.cells(at).map(|(start, end)| {
            let digit = bytes.get(start as usize).map_or(u8::MAX, |byte| byte.wrapping_sub(b'0'));
            all &= (end == start + 1) & (digit <= 9);
            digit
        }));
        all
    }
}

/// How many bytes are compared before the separators among them are listed.
const STEP: usize = 64;

/// Appends the places of all delimiters and line feeds to a list. Places beyond 32 bits wrap.
fn append_separators(bytes: &[u8], delimiter: u8, places: &mut Vec<u32>) {
    let (steps, tail) = bytes.as_chunks();
    // What is left behind the last whole step, filled up with zeros, which are no separators.
    let mut padded = [0; STEP];
    padded.iter_mut().zip(tail).for_each(|(to, from)| *to = *from);
    let mut found = [0; STEP];
    let mut base = 0u32;
    for step in steps.iter().chain([&padded]) {
        let mut bits = separator_bits(step, delimiter);
        let count = bits.count_ones() as usize;
        for place in found.iter_mut().take(count) {
            *place = base.wrapping_add(bits.trailing_zeros());
            bits &= bits - 1;
        }
        places.extend_from_slice(found.get(..count).unwrap_or_default());
        base = base.wrapping_add(STEP as u32);
    }
}

/// A bit for each byte that is a separator.
#[inline]
fn separator_bits(step: &[u8; STEP], delimiter: u8) -> u64 {
    // Comparing byte by byte is what compilers turn into vector instructions.
    let mut found = [0; STEP];
    for (found, byte) in found.iter_mut().zip(step) {
        *found = u8::from(*byte == delimiter) | u8::from(*byte == b'\n');
    }
    let (words, _) = found.as_chunks::<8>();
    // The low bits of eight bytes, side by side.
    let packed = |word: &[u8; 8]| u64::from_le_bytes(*word).wrapping_mul(0x0102_0408_1020_4080) >> 56;
    words.iter().rev().fold(0, |bits, word| bits << 8 | packed(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_separator_is_listed_and_nothing_else() {
        // Bytes that differ from a separator by one bit or a carry, at all places of a word, and lengths
        // around whole steps.
        let mut bytes: Vec<u8> = (0..=255).collect();
        bytes.extend(
            (0..2000u32).map(|i| [b',', b',' + 1, b',' | 0x80, b'\n', 0, 0xff, b'x'][(i * i % 7) as usize]),
        );
        for delimiter in [b',', b'\t', b';'] {
            for length in (0..70).chain(120..140).chain([bytes.len()]) {
                let bytes = &bytes[..length];
                let is_separator = |at: &usize| bytes[*at] == delimiter || bytes[*at] == b'\n';
                let mut places = Vec::new();
                append_separators(bytes, delimiter, &mut places);
                assert!(places.iter().map(|place| *place as usize).eq((0..length).filter(is_separator)));
            }
        }
    }
}
