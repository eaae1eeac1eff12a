//! Where data goes: to a file or a pipe as it is, to a terminal without what could play with it.

use std::io::{self, BufWriter, IsTerminal, Write};

use errorbar_report::clean;

/// Standard output. Unlike that of the tables for people, it takes nothing away from data on its way to a pipe.
pub(super) fn stdout() -> Box<dyn Write + Send> {
    let stdout = io::stdout();
    let is_terminal = stdout.is_terminal();
    let buffered = BufWriter::with_capacity(64 << 10, stdout);
    if is_terminal { Box::new(Cleaned { inner: buffered, line: Vec::new() }) } else { Box::new(buffered) }
}

/// Writes data to standard output.
pub(super) fn print(data: &[u8]) -> io::Result<()> {
    let mut out = stdout();
    out.write_all(data)?;
    out.flush()
}

/// Lines without control characters; what is not yet a whole line is kept until a flush.
struct Cleaned<W> {
    inner: W,
    line: Vec<u8>,
}

impl<W: Write> Cleaned<W> {
    fn write_line(&mut self) -> io::Result<()> {
        let line = std::mem::take(&mut self.line);
        let text = String::from_utf8_lossy(&line);
        let mut pieces = text.split_inclusive(['\n', '\t']);
        pieces.try_for_each(|piece| {
            let text = piece.trim_end_matches(['\n', '\t']);
            let end = piece.get(text.len()..).unwrap_or_default();
            self.inner.write_all(clean(text).as_bytes())?;
            self.inner.write_all(end.as_bytes())
        })
    }
}

impl<W: Write> Write for Cleaned<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        for piece in bytes.split_inclusive(|byte| *byte == b'\n') {
            self.line.extend_from_slice(piece);
            if piece.ends_with(b"\n") {
                self.write_line()?;
            }
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.write_line()?;
        self.inner.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_terminal_gets_no_control_characters() {
        let mut out = Cleaned { inner: Vec::new(), line: Vec::new() };
        // An escape, a character cut in two by the buffer, a turn of direction, a tab that may stay.
        for piece in [&b"a\x1b[31m,\xc3"[..], b"\xa9\n\tb\xe2\x80", b"\xaec\n", b"\x9bend"] {
            out.write_all(piece).unwrap();
        }
        out.flush().unwrap();
        let text = String::from_utf8(out.inner).unwrap();
        assert_eq!(text, "a\u{fffd}[31m,é\n\tb\u{fffd}c\n\u{fffd}end");
    }
}
