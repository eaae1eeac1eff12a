//! Text files in pieces that end where a row ends, so that they can be read apart, and the lines that their rows are on.

use std::io::{self, Seek};

use memchr::{memchr, memchr_iter, memrchr, memrchr2};

use super::input::InputBytes;
use super::location::RowLocations;
use super::{TableError, TableErrorKind, TableLimits};

/// How much is read at once. A piece and the rows that it makes stay in a core's cache.
const PIECE_BYTES: usize = 1 << 18;
/// A piece of this size holds a row that is far longer than others.
pub(super) const LONG_PIECE: usize = 4 * PIECE_BYTES;
/// What may stand at the start of a file and is no part of it.
const ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// Some rows of the file.
#[derive(Debug, Default)]
pub(super) struct Piece {
    pub(super) bytes: Vec<u8>,
    /// Which of the pieces it is, from 0.
    pub(super) number: usize,
    /// The line that it starts on, from 1.
    pub(super) line: u64,
    /// The line of the row whose quote is never closed; it is not among the bytes.
    pub(super) unclosed: Option<u64>,
    /// The lines of its rows, once they are parsed.
    pub(super) lines: RowLocations,
    /// Where fields end, while rows are parsed.
    pub(super) ends: Vec<u32>,
    /// A column of digits, likewise.
    pub(super) digits: Vec<u8>,
}

impl Piece {
    /// The lines that are not blank, without their ends, and their numbers.
    pub(super) fn lines(&self) -> impl Iterator<Item = (u64, &[u8])> {
        (self.line..).zip(self.bytes.split_inclusive(|byte| *byte == b'\n')).filter_map(|(number, line)| {
            let is_first = self.number == 0 && number == 1;
            let line = if is_first { line.strip_prefix(ORDER_MARK).unwrap_or(line) } else { line };
            let content = line.trim_ascii();
            (!content.is_empty()).then_some((number, content))
        })
    }

    /// Takes bytes off its start.
    pub(super) fn drop_start(&mut self, bytes: usize) {
        let dropped = self.bytes.drain(..bytes.min(self.bytes.len()));
        self.line += dropped.filter(|byte| *byte == b'\n').count() as u64;
    }

    pub(super) fn line_counter(&self) -> LineCounter<'_> {
        LineCounter { bytes: &self.bytes, at: 0, line: self.line }
    }
}

/// Finds the lines of rows of a piece, one after the other.
pub(super) struct LineCounter<'p> {
    bytes: &'p [u8],
    at: usize,
    line: u64,
}

impl LineCounter<'_> {
    /// The line of the row that starts at or behind an offset, past the line ends that may lie before it.
    pub(super) fn line_at(&mut self, offset: usize) -> u64 {
        let ahead = self.bytes.get(offset..).unwrap_or_default();
        let start = offset + ahead.iter().take_while(|byte| matches!(byte, b'\r' | b'\n')).count();
        self.line += line_feeds(self.bytes.get(self.at..start).unwrap_or_default());
        self.at = start.max(self.at);
        self.line
    }
}

fn line_feeds(bytes: &[u8]) -> u64 {
    memchr_iter(b'\n', bytes).count() as u64
}

/// A file that is cut into pieces.
#[derive(Debug)]
pub(super) struct PieceReader {
    file: InputBytes,
    /// What is between the fields of rows, which may have quotes over several lines; none where each line is a row.
    delimiter: Option<u8>,
    piece_bytes: usize,
    limits: TableLimits,
    /// What was read of the piece after the last one.
    rest: Vec<u8>,
    /// A piece that was given back.
    returned: Option<Piece>,
    number: usize,
    line: u64,
    at_end: bool,
}

impl PieceReader {
    pub(super) fn new(file: InputBytes, delimiter: Option<u8>, limits: TableLimits) -> Self {
        PieceReader {
            file,
            delimiter,
            piece_bytes: PIECE_BYTES,
            limits,
            rest: Vec::new(),
            returned: None,
            number: 0,
            line: 1,
            at_end: false,
        }
    }

    /// How many pieces there are, about.
    pub(super) fn estimate(&self) -> usize {
        let bytes = self.file.size().unwrap_or(0);
        usize::try_from(bytes / self.piece_bytes as u64 + 1).unwrap_or(usize::MAX)
    }

    pub(super) fn file(&self) -> &InputBytes {
        &self.file
    }

    /// Gives a piece back, to be the next one.
    pub(super) fn put_back(&mut self, piece: Piece) {
        self.returned = Some(piece);
    }

    pub(super) fn rewind(&mut self) -> Result<(), TableErrorKind> {
        self.rest.clear();
        (self.number, self.line, self.at_end) = (0, 1, false);
        self.file.rewind().map_err(TableErrorKind::Read)
    }

    /// The next piece for a thread, and its number.
    pub(super) fn next_numbered(&mut self, piece: &mut Piece) -> Option<(usize, Result<(), TableError>)> {
        match self.next(piece) {
            Ok(true) => Some((piece.number, Ok(()))),
            Ok(false) => None,
            Err(error) => Some((piece.number, Err(error))),
        }
    }

    /// Reads the next piece into the memory of another; false at the end of the file.
    pub(super) fn next(&mut self, piece: &mut Piece) -> Result<bool, TableError> {
        if let Some(returned) = self.returned.take() {
            *piece = returned;
            return Ok(true);
        }
        let is_header = self.delimiter.is_some() && self.number == 0;
        let most = if is_header { self.limits.max_header() } else { self.limits.max_line };
        let most = usize::try_from(most).unwrap_or(usize::MAX);
        let too_long = |in_quote| TableErrorKind::LineTooLong { limit: most as u64, is_header, in_quote };
        // Also for a piece that cannot be read: those before it may hold a problem that comes first.
        (piece.number, piece.line) = (self.number, self.line);
        self.number += 1;
        piece.bytes.clear();
        piece.bytes.append(&mut self.rest);
        let mut scan = RowScanner::new(self.delimiter, piece.number == 0);
        let mut wanted = self.piece_bytes.max(piece.bytes.len());
        let end = loop {
            self.read_up_to(wanted, &mut piece.bytes).map_err(TableErrorKind::Read)?;
            scan.proceed(&piece.bytes);
            let is_quoted = scan.state.is_quoted();
            match scan.last_row_end {
                0 if piece.bytes.len() > most => return Err(too_long(is_quoted).on_line(self.line)),
                end if self.at_end && is_quoted => break end,
                _ if self.at_end => break piece.bytes.len(),
                0 => wanted = wanted.saturating_mul(2).min(most.saturating_add(1)),
                end => break end,
            }
        };
        self.line += line_feeds(piece.bytes.get(..end).unwrap_or_default());
        piece.unclosed = (self.at_end && scan.state.is_quoted()).then_some(self.line);
        self.rest.extend_from_slice(piece.bytes.get(end..).unwrap_or_default());
        if self.at_end {
            self.rest.clear();
        }
        piece.bytes.truncate(end);
        // A piece has one long line at most, unless lines may not even be as long as a piece.
        if self.delimiter.is_none()
            && piece.bytes.len() > most
            && let Some((line, _)) = piece.lines().find(|(_, line)| line.len() > most)
        {
            return Err(too_long(false).on_line(line));
        }
        Ok(end > 0 || piece.unclosed.is_some())
    }

    fn read_up_to(&mut self, length: usize, bytes: &mut Vec<u8>) -> io::Result<()> {
        if self.at_end {
            return Ok(());
        }
        let missing = length.saturating_sub(bytes.len());
        bytes.reserve(missing);
        let read = self.file.append_to(bytes, missing as u64)?;
        self.at_end = read < missing;
        Ok(())
    }
}

/// Looks for the last row end outside quotes.
struct RowScanner {
    delimiter: Option<u8>,
    /// Whether an order mark may be ahead.
    is_start: bool,
    /// How far the bytes are scanned.
    at: usize,
    state: QuoteState,
    last_row_end: usize,
}

impl RowScanner {
    fn new(delimiter: Option<u8>, is_start: bool) -> Self {
        RowScanner { delimiter, is_start, at: 0, state: QuoteState::default(), last_row_end: 0 }
    }

    /// Continues to the end of the bytes, which have grown.
    fn proceed(&mut self, bytes: &[u8]) {
        // A byte order mark is not a part of the first field.
        if self.is_start && ORDER_MARK.starts_with(bytes) {
            return;
        }
        if self.is_start && self.at == 0 && bytes.starts_with(ORDER_MARK) {
            self.at = ORDER_MARK.len();
        }
        let ahead = bytes.get(self.at..).unwrap_or_default();
        let is_plain =
            !self.state.is_quoted() && self.state != QuoteState::Mark && memchr(b'"', ahead).is_none();
        let end = match self.delimiter {
            None => memrchr(b'\n', ahead),
            Some(delimiter) if is_plain => {
                ahead.last().into_iter().for_each(|byte| self.state.step(*byte, delimiter));
                memrchr2(b'\n', b'\r', ahead)
            }
            Some(delimiter) => {
                let mut end = None;
                for (at, byte) in ahead.iter().enumerate() {
                    if matches!(byte, b'\n' | b'\r') && !self.state.is_quoted() {
                        end = Some(at);
                    }
                    self.state.step(*byte, delimiter);
                }
                end
            }
        };
        self.last_row_end = end.map_or(self.last_row_end, |end| self.at + end + 1);
        self.at = bytes.len();
    }
}

/// Where in a field a byte is, by the rules of the `csv` crate: a quotation mark opens a quote only at the
/// start of a field, and two of them within a quote are one that is meant.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum QuoteState {
    /// Where a field starts.
    #[default]
    FieldStart,
    /// Within a field that is not quoted.
    Bare,
    /// Within a quote.
    Quoted,
    /// Behind a quotation mark within a quote: the end of it, or half of a doubled mark.
    Mark,
}

impl QuoteState {
    /// Whether the next byte is within a quote.
    pub fn is_quoted(self) -> bool {
        self == QuoteState::Quoted
    }

    /// Goes past a byte.
    #[inline]
    pub fn step(&mut self, byte: u8, delimiter: u8) {
        *self = match (*self, byte) {
            (QuoteState::FieldStart | QuoteState::Mark, b'"') => QuoteState::Quoted,
            (QuoteState::Quoted, b'"') => QuoteState::Mark,
            (QuoteState::Quoted, _) => QuoteState::Quoted,
            (_, byte) if byte == delimiter || matches!(byte, b'\r' | b'\n') => QuoteState::FieldStart,
            _ => QuoteState::Bare,
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The pieces of a file, read this number of bytes at a time.
    fn pieces(content: &str, delimiter: Option<u8>, piece_bytes: usize) -> Vec<Piece> {
        let file = InputBytes::from_memory(content.as_bytes().to_vec());
        let mut pieces = PieceReader::new(file, delimiter, TableLimits::default());
        pieces.piece_bytes = piece_bytes;
        let mut found = Vec::new();
        loop {
            let mut piece = Piece::default();
            if !pieces.next(&mut piece).unwrap() {
                return found;
            }
            found.push(piece);
        }
    }

    fn records(bytes: &[u8]) -> Vec<csv::ByteRecord> {
        let reader = csv::ReaderBuilder::new().has_headers(false).flexible(true).from_reader(bytes);
        reader
            .into_byte_records()
            .map(Result::unwrap)
            .map(|mut r| {
                r.set_position(None);
                r
            })
            .collect()
    }

    #[test]
    fn pieces_hold_the_records_of_the_whole_whatever_their_size() {
        let cases = [
            "a,b\n1,2\n3,4\n",
            "a,b\r\n1,\"x\r\ny\"\r\n\r\n3,4",
            "a,b\r1,2\r3,\"4\r\"\r",
            "\u{feff}\"a\n\",b\n5\" disk,\"say \"\"\n\"\"\"\n\n\n\"\"\"\",\"\"\n",
            "a,\"b\"c\nd\",\"e\n\"\n",
            "\n\n\na,b\n",
            "",
        ];
        for content in cases {
            let whole = records(content.as_bytes());
            for piece_bytes in 1..=content.len() + 1 {
                let mut found = Vec::new();
                let mut line = 1;
                for (number, piece) in pieces(content, Some(b','), piece_bytes).iter().enumerate() {
                    assert_eq!((piece.number, piece.line, piece.unclosed), (number, line, None));
                    line += line_feeds(&piece.bytes);
                    found.extend(records(&piece.bytes));
                }
                assert_eq!(line, 1 + line_feeds(content.as_bytes()));
                assert_eq!(found, whole, "{content:?} in pieces of {piece_bytes}");
            }
        }
    }

    #[test]
    fn a_quote_that_stays_open_is_reported_with_the_start_of_its_row() {
        for piece_bytes in 1..20 {
            let found = pieces("a,b\n1,2\nx,\"y\n3,4\n", Some(b','), piece_bytes);
            let bytes: Vec<u8> = found.iter().flat_map(|piece| piece.bytes.clone()).collect();
            assert_eq!(bytes, b"a,b\n1,2\n");
            assert_eq!(found.last().unwrap().unclosed, Some(3));
        }
    }

    #[test]
    fn pieces_hold_the_lines_of_the_whole_whatever_their_size() {
        for content in ["a\nbb\n\nccc", "a\r\n  \r\nb\r\n", "\n\n", "", "\u{feff}a\nb\n", "x"] {
            let wanted: Vec<(u64, &str)> = (1..)
                .zip(content.trim_start_matches('\u{feff}').lines().map(str::trim))
                .filter(|(_, line)| !line.is_empty())
                .collect();
            for piece_bytes in 1..=content.len() + 1 {
                let pieces = pieces(content, None, piece_bytes);
                assert!((0..).zip(&pieces).all(|(number, piece)| piece.number == number));
                let found = pieces.iter().flat_map(Piece::lines);
                let found: Vec<_> =
                    found.map(|(number, line)| (number, str::from_utf8(line).unwrap())).collect();
                assert_eq!(found, wanted, "{content:?} in pieces of {piece_bytes}");
            }
        }
    }

    #[test]
    fn lines_are_counted_past_line_ends() {
        let piece = Piece { bytes: b"a\r\n\r\nb\n\"c\nd\"\ne".to_vec(), line: 5, ..Piece::default() };
        let mut counter = piece.line_counter();
        assert_eq!([0, 3, 7, 13].map(|at| counter.line_at(at)), [5, 7, 8, 10]);
    }
}
