//! A look at the footer of a file before the library reads it: its size, the shape of the schema, which the
//! library follows without a limit, and whether row groups name and type their columns as the schema does,
//! which the library does not look at. No checksum covers the footer, so that is how a damaged one shows.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};

use super::thrift::{BINARY, I32, LIST, STRUCT, ThriftReader};
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
    let refused = |problem: &str| Err(TableErrorKind::Parquet { problem: problem.to_owned() });
    let Some(outline) = FooterOutline::read(&footer, limits) else {
        return refused("its footer makes no sense");
    };
    let schema = &outline.schema;
    if schema.columns > limits.max_columns as u64 {
        return Err(TableErrorKind::TooManyColumns { limit: limits.max_columns });
    }
    if !schema.is_sound(limits) {
        return refused("its schema makes no sense");
    }
    match outline.agrees {
        true => Ok(()),
        false => refused("a row group names or types its columns otherwise than the schema does"),
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

/// What a footer says, as far as it is looked at.
#[derive(Debug)]
struct FooterOutline<'a> {
    schema: SchemaShape<'a>,
    /// Whether all row groups have the columns of the schema.
    agrees: bool,
}

/// What the schema is like.
#[derive(Debug, Default)]
struct SchemaShape<'a> {
    /// The columns, each with its parts counted as one.
    columns: u64,
    parts: usize,
    nesting: usize,
    /// Whether every part that is announced is there.
    is_whole: bool,
    /// The parts that hold values, in order.
    leaves: Vec<SchemaLeaf<'a>>,
}

/// What holds values: the number of its type, and its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct SchemaLeaf<'a> {
    kind: Option<i64>,
    name: &'a [u8],
}

impl<'a> FooterOutline<'a> {
    /// Nothing if the footer cannot be read.
    fn read(footer: &'a [u8], limits: &TableLimits) -> Option<Self> {
        let mut thrift = ThriftReader::new(footer);
        let (mut last, mut schema, mut agrees) = (0, None, true);
        while let Some((number, kind)) = thrift.field(&mut last)? {
            match (number, kind) {
                (2, LIST) => schema = Some(SchemaShape::read(&mut thrift)?),
                (4, LIST) => {
                    // What is wrong with the schema itself is said first.
                    let schema = schema.as_ref().filter(|schema| schema.is_sound(limits));
                    if let Some(schema) = schema {
                        agrees = groups_agree(&mut thrift, schema)?;
                    }
                    break;
                }
                _ => thrift.skip(kind)?,
            }
        }
        Some(FooterOutline { schema: schema?, agrees })
    }
}

impl<'a> SchemaShape<'a> {
    fn is_sound(&self, limits: &TableLimits) -> bool {
        self.is_whole
            && self.nesting <= MAX_NESTING
            && self.parts <= limits.max_columns.saturating_mul(PARTS_PER_COLUMN)
    }

    fn read(thrift: &mut ThriftReader<'a>) -> Option<Self> {
        let (count, kind) = thrift.list()?;
        if kind != STRUCT {
            return None;
        }
        let mut schema = SchemaShape::default();
        // For each group that is open, how many of its children are still to come.
        let mut open: Vec<u64> = Vec::new();
        for at in 0..count {
            let (leaf, children) = part(thrift)?;
            schema.parts += 1;
            if at == 0 {
                schema.columns = children;
            } else if let Some(left) = open.last_mut() {
                *left -= 1;
            } else {
                // More parts than there are places for.
                return Some(schema);
            }
            match children {
                0 => schema.leaves.push(leaf),
                children => open.push(children),
            }
            while open.last() == Some(&0) {
                open.pop();
            }
            schema.nesting = schema.nesting.max(open.len());
            if schema.nesting > MAX_NESTING {
                return Some(schema);
            }
        }
        schema.is_whole = open.is_empty();
        Some(schema)
    }
}

/// A part of the schema, and how many children it has.
fn part<'a>(thrift: &mut ThriftReader<'a>) -> Option<(SchemaLeaf<'a>, u64)> {
    let (mut last, mut children) = (0, 0);
    let mut leaf = SchemaLeaf { kind: None, name: &[] };
    while let Some((number, kind)) = thrift.field(&mut last)? {
        match (number, kind) {
            (1, I32) => leaf.kind = Some(thrift.int()?),
            (4, BINARY) => leaf.name = thrift.binary()?,
            (5, I32) => children = u64::try_from(thrift.int()?).ok()?,
            _ => thrift.skip(kind)?,
        }
    }
    Some((leaf, children))
}

/// Whether all row groups have the leaves of the schema; nothing if they cannot be read.
fn groups_agree(thrift: &mut ThriftReader<'_>, schema: &SchemaShape<'_>) -> Option<bool> {
    let (groups, kind) = thrift.list()?;
    if kind != STRUCT {
        return None;
    }
    for _ in 0..groups {
        let mut last = 0;
        while let Some((number, kind)) = thrift.field(&mut last)? {
            if (number, kind) != (1, LIST) {
                thrift.skip(kind)?;
                continue;
            }
            let (columns, _) = thrift.list()?;
            if columns != schema.leaves.len() as u64 {
                return Some(false);
            }
            for leaf in &schema.leaves {
                if !column_agrees(thrift, leaf)? {
                    return Some(false);
                }
            }
        }
    }
    Some(true)
}

/// Whether a column of a row group is a leaf of the schema. What a column does not say agrees.
fn column_agrees(thrift: &mut ThriftReader<'_>, leaf: &SchemaLeaf<'_>) -> Option<bool> {
    let (mut last, mut agrees) = (0, true);
    while let Some((number, kind)) = thrift.field(&mut last)? {
        if (number, kind) != (3, STRUCT) {
            thrift.skip(kind)?;
            continue;
        }
        let mut last = 0;
        while let Some((number, kind)) = thrift.field(&mut last)? {
            match (number, kind) {
                (1, I32) => agrees &= Some(thrift.int()?) == leaf.kind,
                (3, LIST) => {
                    let (parts, _) = thrift.list()?;
                    let mut name = leaf.name;
                    for _ in 0..parts {
                        name = thrift.binary()?;
                    }
                    agrees &= name == leaf.name;
                }
                _ => thrift.skip(kind)?,
            }
        }
    }
    Some(agrees)
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
        let limits = TableLimits::default();
        let sound = |children: &[u8]| {
            FooterOutline::read(&footer(children), &limits)
                .is_some_and(|outline| outline.schema.is_sound(&limits))
        };
        let bytes = footer(&[2, 0, 1, 0]);
        let FooterOutline { schema, agrees } = FooterOutline::read(&bytes, &limits).unwrap();
        assert_eq!((schema.columns, schema.parts, schema.nesting, schema.leaves.len()), (2, 4, 2, 2));
        assert!(schema.is_whole && agrees);
        assert!(sound(&[1, 0]) && sound(&[2, 1, 1, 0, 0]));
        assert!(!sound(&[3, 0, 0]), "a part is missing");
        assert!(!sound(&[1, 0, 0]), "a part too many");
        assert!(!sound(&[60, 0]), "many parts are missing");
        assert!(!sound(&[1; 120]), "nested too deep");
    }
}
