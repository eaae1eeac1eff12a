//! What the `csv` crate does not report about a file: whether a quote was left open, and on which line a byte is.
//! Score tables and datasets both need it.

use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};

/// Reading in larger pieces than the default measurably helps on long tables.
pub const BUFFER_BYTES: usize = 1 << 18;

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

/// Whether a quote is open at the end of the file; `record` is where the last record starts.
pub fn ends_in_quote(mut file: impl Read + Seek, record: u64, delimiter: u8) -> io::Result<bool> {
    file.seek(SeekFrom::Start(record))?;
    let mut reader = BufReader::with_capacity(BUFFER_BYTES, file);
    let mut state = QuoteState::default();
    loop {
        let bytes = reader.fill_buf()?;
        if bytes.is_empty() {
            return Ok(state.is_quoted());
        }
        bytes.iter().for_each(|byte| state.step(*byte, delimiter));
        let read = bytes.len();
        reader.consume(read);
    }
}

/// The line of the record that starts at or after a byte, past the line ends that may lie before it.
pub fn line_at(mut file: impl Read + Seek, offset: u64) -> io::Result<u64> {
    file.rewind()?;
    let mut reader = BufReader::with_capacity(BUFFER_BYTES, file);
    let (mut line, mut at) = (1, 0);
    loop {
        let bytes = reader.fill_buf()?;
        if bytes.is_empty() {
            return Ok(line);
        }
        for &byte in bytes {
            if at >= offset && !matches!(byte, b'\r' | b'\n') {
                return Ok(line);
            }
            line += u64::from(byte == b'\n');
            at += 1;
        }
        let read = bytes.len();
        reader.consume(read);
    }
}
