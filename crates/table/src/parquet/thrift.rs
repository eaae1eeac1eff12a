//! The little of Thrift's compact protocol that is needed to look at headers before the library trusts them.

/// Nested structures are skipped to this depth.
const MAX_DEPTH: u32 = 32;

/// The types of fields.
pub(super) const I32: u8 = 5;
const I64: u8 = 6;
pub(super) const BINARY: u8 = 8;
pub(super) const LIST: u8 = 9;
pub(super) const STRUCT: u8 = 12;

/// Reads values from bytes. `None` is what cannot be read: the bytes end, or make no sense.
#[derive(Clone, Debug)]
pub(super) struct ThriftReader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> ThriftReader<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        ThriftReader { bytes, at: 0 }
    }

    /// How many bytes were read.
    pub(super) fn position(&self) -> usize {
        self.at
    }

    pub(super) fn byte(&mut self) -> Option<u8> {
        let byte = *self.bytes.get(self.at)?;
        self.at += 1;
        Some(byte)
    }

    pub(super) fn skip_bytes(&mut self, count: u64) -> Option<()> {
        let end = self.at.checked_add(usize::try_from(count).ok()?)?;
        (end <= self.bytes.len()).then(|| self.at = end)
    }

    /// A string or other bytes, behind their length.
    pub(super) fn binary(&mut self) -> Option<&'a [u8]> {
        let length = self.varint()?;
        let start = self.at;
        self.skip_bytes(length)?;
        self.bytes.get(start..self.at)
    }

    pub(super) fn varint(&mut self) -> Option<u64> {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            value |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Some(value);
            }
        }
        None
    }

    pub(super) fn int(&mut self) -> Option<i64> {
        let value = self.varint()?;
        Some((value >> 1).cast_signed() ^ -(value & 1).cast_signed())
    }

    /// The next field of a structure: its number and type; nothing in it at the end. `last` is the number of
    /// the field before, 0 at the start.
    pub(super) fn field(&mut self, last: &mut i64) -> Option<Option<(i64, u8)>> {
        let byte = self.byte()?;
        if byte == 0 {
            return Some(None);
        }
        *last = match byte >> 4 {
            0 => self.int()?,
            delta => *last + i64::from(delta),
        };
        Some(Some((*last, byte & 0xf)))
    }

    /// How many elements a list has, and of which type.
    pub(super) fn list(&mut self) -> Option<(u64, u8)> {
        let byte = self.byte()?;
        let count = match byte >> 4 {
            15 => self.varint()?,
            count => u64::from(count),
        };
        Some((count, byte & 0xf))
    }

    pub(super) fn skip(&mut self, kind: u8) -> Option<()> {
        self.skip_within(kind, MAX_DEPTH)
    }

    fn skip_within(&mut self, kind: u8, depth: u32) -> Option<()> {
        let depth = depth.checked_sub(1)?;
        match kind {
            1 | 2 => {}
            3 => drop(self.byte()?),
            4 | I32 | I64 => drop(self.varint()?),
            7 => self.skip_bytes(8)?,
            BINARY => drop(self.binary()?),
            LIST | 10 => {
                let (count, kind) = self.list()?;
                for _ in 0..count {
                    // Within a list a boolean has a byte.
                    self.skip_within(if kind <= 2 { 3 } else { kind }, depth)?;
                }
            }
            STRUCT => {
                let mut last = 0;
                while let Some((_, kind)) = self.field(&mut last)? {
                    self.skip_within(kind, depth)?;
                }
            }
            _ => return None,
        }
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_read_and_skipped() {
        // 1: i32 = -3; 2: list of two structures; 40: binary; end.
        let bytes = [0x15, 5, 0x19, 0x2c, 0x15, 2, 0, 0x11, 0, 8, 80, 2, b'a', b'b', 0];
        let mut thrift = ThriftReader::new(&bytes);
        let mut last = 0;
        assert_eq!(thrift.field(&mut last), Some(Some((1, I32))));
        assert_eq!(thrift.int(), Some(-3));
        assert_eq!(thrift.field(&mut last), Some(Some((2, LIST))));
        thrift.skip(LIST).unwrap();
        assert_eq!(thrift.field(&mut last), Some(Some((40, 8))));
        thrift.skip(8).unwrap();
        assert_eq!(thrift.field(&mut last), Some(None));
        assert_eq!(thrift.position(), bytes.len());
        for length in 0..bytes.len() - 1 {
            let mut cut = ThriftReader::new(&bytes[..length]);
            assert_eq!(cut.skip(STRUCT), None, "{length}");
        }
    }

    #[test]
    fn nothing_is_skipped_without_end() {
        let deep = [0x1c; 100_000];
        assert_eq!(ThriftReader::new(&deep).skip(STRUCT), None);
        // Lists of lists of 2^60 elements.
        let lists = [0xf9, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x0f].repeat(40);
        assert_eq!(ThriftReader::new(&lists).skip(LIST), None);
        assert_eq!(ThriftReader::new(&[0xff; 20]).varint(), None);
    }
}
