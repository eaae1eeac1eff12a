//! The lines of a file, in pieces that are parsed apart.

use std::io::{self, Seek};

use memchr::memrchr;

use crate::input::InputBytes;
use crate::{TableError, TableErrorKind, TableLimits};

/// How much is read at once. A piece and the rows that it makes stay in a core's cache.
const PIECE_BYTES: usize = 1 << 18;
/// A piece of this size holds a line that is far longer than others.
pub(super) const LONG_PIECE: usize = 4 * PIECE_BYTES;

/// Some lines of the file.
#[derive(Debug, Default)]
pub(super) struct LinePiece {
    pub(super) bytes: Vec<u8>,
    /// Which of the pieces it is, from 0.
    pub(super) number: usize,
    /// Where in the file it starts.
    pub(super) offset: u64,
    /// Keys that were unknown when it was parsed, and where the line is that has them.
    pub(super) new_keys: Vec<(String, u64)>,
}

impl LinePiece {
    /// The lines that are not blank, without their ends, and where they start.
    pub(super) fn lines(&self) -> impl Iterator<Item = (u64, &[u8])> {
        let mut offset = self.offset;
        self.bytes.split_inclusive(|byte| *byte == b'\n').filter_map(move |line| {
            let start = offset;
            offset += line.len() as u64;
            // A mark may stand at the start of a file.
            let line = if start == 0 { line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line) } else { line };
            let content = line.trim_ascii();
            (!content.is_empty()).then_some((start, content))
        })
    }
}

/// A file that is cut into pieces.
#[derive(Debug)]
pub(super) struct LineReader {
    file: InputBytes,
    piece_bytes: usize,
    limits: TableLimits,
    /// What was read of the piece after the last one.
    rest: Vec<u8>,
    number: usize,
    offset: u64,
    at_end: bool,
}

impl LineReader {
    pub(super) fn new(file: InputBytes, limits: TableLimits) -> Self {
        let (rest, piece_bytes) = (Vec::new(), PIECE_BYTES);
        LineReader { file, piece_bytes, limits, rest, number: 0, offset: 0, at_end: false }
    }

    /// How many pieces there are, about.
    pub(super) fn estimate(&self) -> usize {
        let bytes = self.file.size().unwrap_or(0);
        usize::try_from(bytes / self.piece_bytes as u64 + 1).unwrap_or(usize::MAX)
    }

    pub(super) fn file(&mut self) -> &mut InputBytes {
        &mut self.file
    }

    pub(super) fn rewind(&mut self) -> Result<(), TableErrorKind> {
        self.rest.clear();
        (self.number, self.offset, self.at_end) = (0, 0, false);
        self.file.rewind().map_err(TableErrorKind::Read)
    }

    /// Reads the next piece into the memory of another; false at the end of the file.
    pub(super) fn next(&mut self, piece: &mut LinePiece) -> Result<bool, TableError> {
        let limit = self.limits.max_line;
        let most = usize::try_from(limit).unwrap_or(usize::MAX);
        // Also for a piece that cannot be read: those before it may hold a problem that comes first.
        (piece.number, piece.offset) = (self.number, self.offset);
        self.number += 1;
        piece.new_keys.clear();
        piece.bytes.clear();
        piece.bytes.append(&mut self.rest);
        let mut wanted = self.piece_bytes.max(piece.bytes.len());
        let mut scanned = 0;
        let end = loop {
            self.read_up_to(wanted, &mut piece.bytes).map_err(TableErrorKind::Read)?;
            let end =
                memrchr(b'\n', piece.bytes.get(scanned..).unwrap_or_default()).map(|at| scanned + at + 1);
            scanned = piece.bytes.len();
            match end {
                _ if self.at_end => break piece.bytes.len(),
                Some(end) => break end,
                None if piece.bytes.len() > most => {
                    let kind = TableErrorKind::LineTooLong { limit, is_header: false, in_quote: false };
                    return Err(kind.at_offset(self.offset));
                }
                None => wanted = wanted.saturating_mul(2).min(most.saturating_add(1)),
            }
        };
        self.rest.extend_from_slice(piece.bytes.get(end..).unwrap_or_default());
        piece.bytes.truncate(end);
        self.offset += end as u64;
        // A piece has one long line at most, unless lines may not even be as long as a piece.
        if piece.bytes.len() > most
            && let Some((start, _)) = piece.lines().find(|(_, line)| line.len() > most)
        {
            let kind = TableErrorKind::LineTooLong { limit, is_header: false, in_quote: false };
            return Err(kind.at_offset(start));
        }
        Ok(end > 0)
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

    /// Where a row starts, counted from 1.
    pub(super) fn offset_of_row(&mut self, row: u64) -> Option<u64> {
        self.rewind().ok()?;
        let mut piece = LinePiece::default();
        let mut left = usize::try_from(row).ok()?;
        while self.next(&mut piece).ok()? {
            let rows = piece.lines().count();
            if rows >= left {
                return piece.lines().nth(left.checked_sub(1)?).map(|(offset, _)| offset);
            }
            left -= rows;
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_hold_the_lines_of_the_whole_whatever_their_size() {
        for content in ["a\nbb\n\nccc", "a\r\n  \r\nb\r\n", "\n\n", "", "\u{feff}a\nb\n", "x"] {
            let wanted: Vec<&str> = content
                .trim_start_matches('\u{feff}')
                .lines()
                .map(str::trim)
                .filter(|l| !l.is_empty())
                .collect();
            for piece_bytes in 1..=content.len() + 1 {
                let mut reader = LineReader::new(
                    InputBytes::from_memory(content.as_bytes().to_vec()),
                    TableLimits::default(),
                );
                reader.piece_bytes = piece_bytes;
                let (mut found, mut piece, mut pieces) = (Vec::new(), LinePiece::default(), 0);
                while reader.next(&mut piece).unwrap() {
                    assert_eq!(piece.number, pieces);
                    pieces += 1;
                    for (offset, line) in piece.lines() {
                        let line = std::str::from_utf8(line).unwrap().to_owned();
                        assert!(
                            content[offset as usize..]
                                .trim_start_matches('\u{feff}')
                                .trim_start()
                                .starts_with(&line)
                        );
                        found.push(line);
                    }
                }
                assert_eq!(found, wanted, "{content:?} in pieces of {piece_bytes}");
                for (row, line) in (1..).zip(&wanted) {
                    let offset = reader.offset_of_row(row).unwrap() as usize;
                    assert!(content[offset..].trim_start_matches('\u{feff}').trim_start().starts_with(line));
                }
                assert_eq!(reader.offset_of_row(wanted.len() as u64 + 1), None);
            }
        }
    }
}
