//! A delimited file in pieces that end where a row ends, so that they can be read apart.

use std::io;

use memchr::{memchr, memrchr2};

use crate::delimited::QuoteState;
use crate::input::InputBytes;
use crate::{TableError, TableErrorKind, TableLimits};

/// How much is read at once. A piece and the rows that it makes stay in a core's cache.
pub(super) const PIECE_BYTES: usize = 1 << 18;

/// Some rows of the file.
#[derive(Debug, Default)]
pub(super) struct Piece {
    pub(super) bytes: Vec<u8>,
    /// Which of the pieces it is, from 0.
    pub(super) number: usize,
    /// Where in the file it starts.
    pub(super) offset: u64,
    /// Where the row starts whose quote is never closed; it is not among the bytes.
    pub(super) unclosed: Option<u64>,
}

/// A file that is cut into pieces.
#[derive(Debug)]
pub(super) struct PieceReader {
    file: InputBytes,
    delimiter: u8,
    piece_bytes: usize,
    limits: TableLimits,
    /// What was read of the piece after the last one.
    rest: Vec<u8>,
    /// A piece that was given back.
    returned: Option<Piece>,
    number: usize,
    offset: u64,
    at_end: bool,
}

impl PieceReader {
    pub(super) fn new(file: InputBytes, delimiter: u8, limits: TableLimits) -> Self {
        PieceReader {
            file,
            delimiter,
            piece_bytes: PIECE_BYTES,
            limits,
            rest: Vec::new(),
            returned: None,
            number: 0,
            offset: 0,
            at_end: false,
        }
    }

    /// How many pieces there are, about.
    pub(super) fn estimate(&self) -> usize {
        let bytes = self.file.size().unwrap_or(0);
        usize::try_from(bytes / self.piece_bytes as u64 + 1).unwrap_or(usize::MAX)
    }

    pub(super) fn file(&mut self) -> &mut InputBytes {
        &mut self.file
    }

    /// Gives a piece back, to be the next one.
    pub(super) fn put_back(&mut self, piece: Piece) {
        self.returned = Some(piece);
    }

    /// Reads the next piece into the memory of another; false at the end of the file.
    pub(super) fn next(&mut self, piece: &mut Piece) -> Result<bool, TableError> {
        if let Some(returned) = self.returned.take() {
            *piece = returned;
            return Ok(true);
        }
        let is_header = self.number == 0;
        let most = if is_header { self.limits.max_header() } else { self.limits.max_line };
        let most = usize::try_from(most).unwrap_or(usize::MAX);
        // Also for a piece that cannot be read: those before it may hold a problem that comes first.
        (piece.number, piece.offset) = (self.number, self.offset);
        self.number += 1;
        piece.bytes.clear();
        piece.bytes.append(&mut self.rest);
        let mut scan = RowScanner::default();
        let mut wanted = self.piece_bytes;
        let end = loop {
            self.read_up_to(wanted, &mut piece.bytes).map_err(TableErrorKind::Read)?;
            scan.proceed(&piece.bytes, self.delimiter, self.offset == 0);
            match scan.last_row_end {
                0 if piece.bytes.len() > most => {
                    let in_quote = scan.state.is_quoted();
                    let kind = TableErrorKind::LineTooLong { limit: most as u64, is_header, in_quote };
                    return Err(kind.at_offset(self.offset));
                }
                _ if self.at_end && scan.state.is_quoted() => break scan.last_row_end,
                _ if self.at_end => break piece.bytes.len(),
                0 => wanted = wanted.saturating_mul(2).min(most.saturating_add(1)),
                end => break end,
            }
        };
        piece.unclosed = (self.at_end && scan.state.is_quoted()).then_some(self.offset + end as u64);
        self.rest.extend_from_slice(piece.bytes.get(end..).unwrap_or_default());
        if self.at_end {
            self.rest.clear();
        }
        piece.bytes.truncate(end);
        self.offset += end as u64;
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
#[derive(Default)]
struct RowScanner {
    /// How far the bytes are scanned.
    at: usize,
    state: QuoteState,
    last_row_end: usize,
}

impl RowScanner {
    /// Continues to the end of the bytes, which have grown.
    fn proceed(&mut self, bytes: &[u8], delimiter: u8, at_file_start: bool) {
        // A byte order mark is not a part of the first field.
        const ORDER_MARK: &[u8] = b"\xef\xbb\xbf";
        if at_file_start && ORDER_MARK.starts_with(bytes) {
            return;
        }
        if at_file_start && self.at == 0 && bytes.starts_with(ORDER_MARK) {
            self.at = ORDER_MARK.len();
        }
        let ahead = bytes.get(self.at..).unwrap_or_default();
        if !self.state.is_quoted() && self.state != QuoteState::Mark && memchr(b'"', ahead).is_none() {
            if let Some(end) = memrchr2(b'\n', b'\r', ahead) {
                self.last_row_end = self.at + end + 1;
            }
            ahead.last().into_iter().for_each(|byte| self.state.step(*byte, delimiter));
        } else {
            for (at, byte) in ahead.iter().enumerate() {
                if matches!(byte, b'\n' | b'\r') && !self.state.is_quoted() {
                    self.last_row_end = self.at + at + 1;
                }
                self.state.step(*byte, delimiter);
            }
        }
        self.at = bytes.len();
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Seek, Write};

    use super::*;

    /// The pieces of a file, read this number of bytes at a time.
    fn pieces(content: &str, piece_bytes: usize) -> Vec<Piece> {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(content.as_bytes()).unwrap();
        file.rewind().unwrap();
        let mut pieces = PieceReader::new(InputBytes::from_file(file), b',', TableLimits::default());
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
                let mut offset = 0;
                for (number, piece) in pieces(content, piece_bytes).iter().enumerate() {
                    assert_eq!((piece.number, piece.offset, piece.unclosed), (number, offset, None));
                    offset += piece.bytes.len() as u64;
                    found.extend(records(&piece.bytes));
                }
                assert_eq!(offset, content.len() as u64);
                assert_eq!(found, whole, "{content:?} in pieces of {piece_bytes}");
            }
        }
    }

    #[test]
    fn a_quote_that_stays_open_is_reported_with_the_start_of_its_row() {
        for piece_bytes in 1..20 {
            let found = pieces("a,b\n1,2\nx,\"y\n3,4\n", piece_bytes);
            let bytes: Vec<u8> = found.iter().flat_map(|piece| piece.bytes.clone()).collect();
            assert_eq!(bytes, b"a,b\n1,2\n");
            assert_eq!(found.last().unwrap().unclosed, Some(8));
        }
    }
}
