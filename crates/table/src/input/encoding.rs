//! Text in other encodings than UTF-8.
//!
//! UTF-16 is recognised and converted: spreadsheets write it. Latin-1 and Windows-1252 are refused by the readers as
//! text that is not UTF-8: nothing in a file tells them apart from a dozen others, and a wrong guess makes wrong ids.

use std::io::{self, Read};

use super::bytes::InputBytes;
use crate::TableErrorKind;

/// UTF-16 of either byte order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Utf16 {
    /// Little endian, as on Windows.
    Little,
    /// Big endian.
    Big,
}

impl Utf16 {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Utf16::Little => "UTF-16LE",
            Utf16::Big => "UTF-16BE",
        }
    }

    /// Whether a file starts with text in UTF-16: by its byte order mark, or because every second byte is zero, as
    /// those of ASCII characters are, and no other.
    pub fn of(head: &[u8]) -> Option<Self> {
        match head {
            [0xff, 0xfe, ..] => return Some(Utf16::Little),
            [0xfe, 0xff, ..] => return Some(Utf16::Big),
            _ => {}
        }
        let pairs: Vec<&[u8; 2]> = head.as_chunks().0.iter().take(256).collect();
        let zeros = |at: usize| pairs.iter().filter(|pair| pair.get(at) == Some(&0)).count();
        match (zeros(0), zeros(1)) {
            // A few characters may be beyond ASCII.
            (0, zeros) if pairs.len() >= 4 && zeros * 4 >= pairs.len() * 3 => Some(Utf16::Little),
            (zeros, 0) if pairs.len() >= 4 && zeros * 4 >= pairs.len() * 3 => Some(Utf16::Big),
            _ => None,
        }
    }

    fn unit(self, bytes: [u8; 2]) -> u16 {
        match self {
            Utf16::Little => u16::from_le_bytes(bytes),
            Utf16::Big => u16::from_be_bytes(bytes),
        }
    }
}

/// The text as UTF-8, without its byte order mark.
pub(super) fn to_utf8(bytes: InputBytes, encoding: Utf16) -> Result<InputBytes, TableErrorKind> {
    // Three bytes of UTF-8 for two of UTF-16, at most.
    let limit = bytes.size().unwrap_or(u64::MAX / 4).saturating_mul(2).saturating_add(4);
    let reader = Utf8Reader { bytes, encoding, ready: Vec::new(), at: 0 };
    match InputBytes::spool(reader, limit) {
        Ok(Some(bytes)) => Ok(bytes),
        Ok(None) => Err(TableErrorKind::InputTooLarge { limit }),
        Err(error) if error.kind() == io::ErrorKind::InvalidData => Err(TableErrorKind::InvalidUtf16),
        Err(error) => Err(TableErrorKind::Read(error)),
    }
}

struct Utf8Reader<R> {
    bytes: R,
    encoding: Utf16,
    ready: Vec<u8>,
    at: usize,
}

impl<R: Read> Utf8Reader<R> {
    /// Converts some more.
    fn fill(&mut self) -> io::Result<()> {
        const BATCH: u64 = 1 << 15;
        let mut units = Vec::new();
        self.append_units(BATCH, &mut units)?;
        // The second half of a character that takes two.
        if units.last().is_some_and(|unit| (0xd800..0xdc00).contains(unit)) {
            self.append_units(2, &mut units)?;
        }
        (self.at, self.ready) = (0, Vec::with_capacity(units.len() * 3));
        for character in char::decode_utf16(units) {
            match character {
                Ok('\u{feff}') => {}
                Ok(character) => {
                    self.ready.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
                }
                Err(_) => return Err(io::Error::from(io::ErrorKind::InvalidData)),
            }
        }
        Ok(())
    }

    fn append_units(&mut self, bytes: u64, units: &mut Vec<u16>) -> io::Result<()> {
        let mut batch = Vec::new();
        (&mut self.bytes).take(bytes).read_to_end(&mut batch)?;
        let (pairs, []) = batch.as_chunks() else { return Err(io::Error::from(io::ErrorKind::InvalidData)) };
        units.extend(pairs.iter().map(|pair| self.encoding.unit(*pair)));
        Ok(())
    }
}

impl<R: Read> Read for Utf8Reader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.at >= self.ready.len() {
            self.fill()?;
        }
        let read = self.ready.get(self.at..).unwrap_or_default().read(buffer)?;
        self.at += read;
        Ok(read)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn encoded(text: &str, encoding: Utf16) -> Vec<u8> {
        let bytes = |unit: u16| match encoding {
            Utf16::Little => unit.to_le_bytes(),
            Utf16::Big => unit.to_be_bytes(),
        };
        text.encode_utf16().flat_map(bytes).collect()
    }

    #[test]
    fn utf_16_becomes_utf_8() {
        let text = format!("id,score\n{}ä€😀,1\n{}", "ab,1\n".repeat(100), "x😀".repeat(30_000));
        for encoding in [Utf16::Little, Utf16::Big] {
            for mark in ["\u{feff}", ""] {
                let bytes = encoded(&format!("{mark}{text}"), encoding);
                assert_eq!(Utf16::of(&bytes), Some(encoding), "{mark:?}");
                let mut found = String::new();
                to_utf8(InputBytes::from_memory(bytes), encoding)
                    .unwrap()
                    .read_to_string(&mut found)
                    .unwrap();
                assert!(found == text);
            }
        }
    }

    #[test]
    fn other_bytes_are_no_utf_16() {
        for head in ["id,score\n1,2\n".as_bytes(), &[0; 64], b"", b"ab", b"a\0", "äöü".as_bytes()] {
            assert_eq!(Utf16::of(head), None, "{head:?}");
        }
        for damaged in [vec![0xff, 0xfe, b'a', 0, b'b'], vec![0xff, 0xfe, 0, 0xd8, b'a', 0]] {
            let error = to_utf8(InputBytes::from_memory(damaged), Utf16::Little).unwrap_err();
            assert!(matches!(error, TableErrorKind::InvalidUtf16), "{error}");
        }
    }
}
