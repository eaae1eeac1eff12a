//! What the `csv` crate does not say about a file: whether a quote was left open, and on which line a byte is.
//! Score tables and datasets both need it.

use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};

/// Reading in larger pieces than the default measurably helps on long tables.
pub const BUFFER_BYTES: usize = 1 << 18;

/// Whether a quote is open at the end of the file; `record` is where the last record starts.
pub fn ends_in_quote(mut file: impl Read + Seek, record: u64, delimiter: u8) -> io::Result<bool> {
    enum At {
        FieldStart,
        Bare,
        Quoted,
        /// Behind a quotation mark within a quote: the end of it, or half of a doubled mark.
        Mark,
    }
    file.seek(SeekFrom::Start(record))?;
    let mut reader = BufReader::with_capacity(BUFFER_BYTES, file);
    let mut at = At::FieldStart;
    loop {
        let bytes = reader.fill_buf()?;
        if bytes.is_empty() {
            return Ok(matches!(at, At::Quoted));
        }
        for &byte in bytes {
            at = match (at, byte) {
                (At::FieldStart | At::Mark, b'"') => At::Quoted,
                (At::Quoted, b'"') => At::Mark,
                (At::Quoted, _) => At::Quoted,
                (_, byte) if byte == delimiter || matches!(byte, b'\r' | b'\n') => At::FieldStart,
                _ => At::Bare,
            };
        }
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
