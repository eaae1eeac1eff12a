//! A look at the footer of a file before the library reads it: its size, and the shape of the schema, which
//! the library follows without a limit.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};

use super::compact::{Compact, I32, LIST, STRUCT};
use crate::table::{TableErrorKind, TableLimits};

/// How deep columns may be nested; those that are read are not nested at all.
const MAX_NESTING: usize = 64;
/// How many parts nested columns may have, for each column that there may be.
const PARTS_PER_COLUMN: usize = 16;

/// The length of the footer and the magic bytes, at the end of a file.
const TAIL: usize = 8;
const MAGIC: &[u8; 4] = b"PAR1";

/// Refuses a footer that the library would choke on. Whatever else is wrong with a file is for the library to
/// say.
pub(super) fn check(file: &mut File, limits: &TableLimits) -> Result<(), TableErrorKind> {
    let Some(length) = footer_length(file).map_err(TableErrorKind::Read)? else { return Ok(()) };
    let limit = limits.max_footer();
    if length > limit {
        return Err(TableErrorKind::FooterTooLarge { bytes: length, limit });
    }
    let mut footer = Vec::new();
    let start = SeekFrom::End(-(length as i64) - TAIL as i64);
    file.seek(start).map_err(TableErrorKind::Read)?;
    file.take(length).read_to_end(&mut footer).map_err(TableErrorKind::Read)?;
    match shape(&footer) {
        Some(shape) if shape.columns > limits.max_columns as u64 => {
            Err(TableErrorKind::TooManyColumns { limit: limits.max_columns })
        }
        Some(shape) if shape.is_sound(limits) => Ok(()),
        _ => Err(TableErrorKind::Parquet { problem: "its schema makes no sense".to_owned() }),
    }
}

/// The length of the footer; nothing if the file does not end as a Parquet file does, or is shorter than that.
fn footer_length(file: &mut File) -> std::io::Result<Option<u64>> {
    let size = file.metadata()?.len();
    if size < TAIL as u64 {
        return Ok(None);
    }
    let mut tail = [0; TAIL];
    file.seek(SeekFrom::End(-(TAIL as i64)))?;
    file.read_exact(&mut tail)?;
    let (length, magic) = tail.split_at(TAIL / 2);
    let length = length.iter().rev().fold(0, |length, byte| length << 8 | u64::from(*byte));
    Ok((magic == MAGIC && length <= size - TAIL as u64).then_some(length))
}

/// What the schema is like.
#[derive(Debug, PartialEq, Eq)]
struct Shape {
    /// The columns, each with its parts counted as one.
    columns: u64,
    parts: usize,
    nesting: usize,
    /// Whether every part that is announced is there.
    is_whole: bool,
}

impl Shape {
    fn is_sound(&self, limits: &TableLimits) -> bool {
        self.is_whole
            && self.nesting <= MAX_NESTING
            && self.parts <= limits.max_columns.saturating_mul(PARTS_PER_COLUMN)
    }
}

/// The shape of the schema in a footer; nothing if it cannot be read.
fn shape(footer: &[u8]) -> Option<Shape> {
    let mut compact = Compact::new(footer);
    let mut last = 0;
    while let Some((number, kind)) = compact.field(&mut last)? {
        if (number, kind) == (2, LIST) {
            return schema(&mut compact);
        }
        compact.skip(kind)?;
    }
    None
}

fn schema(compact: &mut Compact<'_>) -> Option<Shape> {
    let (count, kind) = compact.list()?;
    if kind != STRUCT {
        return None;
    }
    let mut shape = Shape { columns: 0, parts: 0, nesting: 0, is_whole: false };
    // For each group that is open, how many of its children are still to come.
    let mut open: Vec<u64> = Vec::new();
    for at in 0..count {
        let children = children(compact)?;
        shape.parts += 1;
        if at == 0 {
            shape.columns = children;
        } else {
            *open.last_mut()? -= 1;
        }
        if children > 0 {
            open.push(children);
        }
        while open.last() == Some(&0) {
            open.pop();
        }
        shape.nesting = shape.nesting.max(open.len());
        if shape.nesting > MAX_NESTING {
            break;
        }
    }
    shape.is_whole = open.is_empty();
    Some(shape)
}

/// How many children a part of the schema has.
fn children(compact: &mut Compact<'_>) -> Option<u64> {
    let (mut last, mut children) = (0, 0);
    while let Some((number, kind)) = compact.field(&mut last)? {
        if (number, kind) == (5, I32) {
            children = u64::try_from(compact.int()?).ok()?;
        } else {
            compact.skip(kind)?;
        }
    }
    Some(children)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A footer with a part of the schema for each number of children.
    fn footer(children: &[u8]) -> Vec<u8> {
        let mut bytes = vec![0x15, 2, 0x19, 0xfc, children.len() as u8];
        for count in children {
            bytes.extend([0x55, count * 2, 0]);
        }
        bytes.push(0);
        bytes
    }

    #[test]
    fn the_shape_of_a_schema() {
        let sound =
            |children: &[u8]| shape(&footer(children)).is_some_and(|s| s.is_sound(&Default::default()));
        assert_eq!(
            shape(&footer(&[2, 0, 1, 0])),
            Some(Shape { columns: 2, parts: 4, nesting: 2, is_whole: true })
        );
        assert!(sound(&[0]) && sound(&[1, 0]) && sound(&[2, 1, 1, 0, 0]));
        assert!(!sound(&[3, 0, 0]), "a part is missing");
        assert!(!sound(&[1, 0, 0]), "a part too many");
        assert!(!sound(&[60, 0]), "many parts are missing");
        assert!(!sound(&[1; 120]), "nested too deep");
    }
}
