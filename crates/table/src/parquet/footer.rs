//! Checks the footer of a file before the library reads it: its size, the shape of the schema, which the
//! library follows without a limit, and whether row groups name and type their columns as the schema does,
//! which the library does not check. No checksum covers the footer, so that is how damage is found.

use std::io::{Read, Seek, SeekFrom};

use super::thrift::{BINARY, I32, LIST, STRUCT, ThriftReader};
use crate::input::InputBytes;
use crate::{TableErrorKind, TableLimits};

/// How deep columns may be nested; those that are read are not nested at all.
const MAX_NESTING: usize = 64;
/// How many parts nested columns may have, for each column that there may be.
const PARTS_PER_COLUMN: u64 = 16;

/// The length of the footer and the magic bytes, at the end of a file.
const TAIL: usize = 8;
const MAGIC: &[u8; 4] = b"PAR1";

/// Refuses a footer that the library does not check. Other errors are left to the library.
pub(super) fn check(file: &mut InputBytes, limits: &TableLimits) -> Result<(), TableErrorKind> {
    let Some(length) = footer_length(file).map_err(TableErrorKind::Read)? else { return Ok(()) };
    let limit = limits.max_footer();
    if length > limit {
        return Err(TableErrorKind::FooterTooLarge { bytes: length, limit });
    }
    let mut footer = Vec::new();
    let start = SeekFrom::End(-(length as i64) - TAIL as i64);
    file.seek(start).map_err(TableErrorKind::Read)?;
    file.take(length).read_to_end(&mut footer).map_err(TableErrorKind::Read)?;
    let mut thrift = ThriftReader::new(&footer);
    let (mut last, mut leaves) = (0, None);
    while let Some((number, kind)) = thrift.field(&mut last).ok_or_else(no_sense)? {
        match (number, kind) {
            (2, LIST) => leaves = Some(read_schema(&mut thrift, limits)?),
            (4, LIST) => {
                let agree = groups_agree(&mut thrift, leaves.as_deref().unwrap_or_default());
                if !agree.ok_or_else(no_sense)? {
                    return Err(refused(
                        "a row group names or types its columns otherwise than the schema does",
                    ));
                }
                break;
            }
            _ => thrift.skip(kind).ok_or_else(no_sense)?,
        }
    }
    leaves.map(drop).ok_or_else(no_sense)
}

fn refused(problem: &str) -> TableErrorKind {
    TableErrorKind::Parquet(problem.to_owned())
}

fn no_sense() -> TableErrorKind {
    refused("its footer makes no sense")
}

/// The length of the footer; nothing if the file does not end as a Parquet file does, or is shorter than that.
fn footer_length(file: &mut InputBytes) -> std::io::Result<Option<u64>> {
    let size = file.size().unwrap_or(0);
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

/// A part of the schema that holds values: the number of its type, and its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct SchemaLeaf<'a> {
    kind: Option<i64>,
    name: &'a [u8],
}

/// The leaves of the schema, in order, if its shape is sound.
fn read_schema<'a>(
    thrift: &mut ThriftReader<'a>,
    limits: &TableLimits,
) -> Result<Vec<SchemaLeaf<'a>>, TableErrorKind> {
    let unsound = || refused("its schema makes no sense");
    let (count, kind) = thrift.list().ok_or_else(no_sense)?;
    if kind != STRUCT {
        return Err(no_sense());
    }
    let most_parts = (limits.max_columns as u64).saturating_mul(PARTS_PER_COLUMN);
    let mut leaves = Vec::new();
    // For each group that is open, how many of its children are still to come.
    let mut open: Vec<u64> = Vec::new();
    for at in 0..count {
        let (leaf, children) = part(thrift).ok_or_else(no_sense)?;
        match open.last_mut() {
            // The columns are the children of the first part, each with its own parts counted as one.
            _ if at == 0 && children > limits.max_columns as u64 => {
                return Err(TableErrorKind::TooManyColumns { limit: limits.max_columns });
            }
            Some(left) => *left -= 1,
            None if at > 0 => return Err(unsound()),
            None => {}
        }
        match children {
            0 => leaves.push(leaf),
            children => open.push(children),
        }
        while open.last() == Some(&0) {
            open.pop();
        }
        if open.len() > MAX_NESTING || at >= most_parts {
            return Err(unsound());
        }
    }
    if open.is_empty() { Ok(leaves) } else { Err(unsound()) }
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
fn groups_agree(thrift: &mut ThriftReader<'_>, leaves: &[SchemaLeaf<'_>]) -> Option<bool> {
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
            if columns != leaves.len() as u64 {
                return Some(false);
            }
            for leaf in leaves {
                if !column_agrees(thrift, leaf)? {
                    return Some(false);
                }
            }
        }
    }
    Some(true)
}

/// Whether a column of a row group is a leaf of the schema. A field that a column omits agrees.
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

    /// The leaves of a schema with a part for each number of children.
    fn leaves(children: &[u8]) -> Result<usize, TableErrorKind> {
        let mut bytes = vec![0xfc, children.len() as u8];
        for count in children {
            bytes.extend([0x55, count * 2, 0]);
        }
        read_schema(&mut ThriftReader::new(&bytes), &TableLimits::default()).map(|leaves| leaves.len())
    }

    #[test]
    fn the_shape_of_a_schema() {
        let is_unsound = |children: &[u8]| matches!(leaves(children), Err(TableErrorKind::Parquet(_)));
        assert_eq!(leaves(&[2, 0, 1, 0]).unwrap(), 2);
        assert_eq!(leaves(&[1, 0]).unwrap(), 1);
        assert_eq!(leaves(&[2, 1, 1, 0, 0]).unwrap(), 2);
        assert!(is_unsound(&[3, 0, 0]), "a part is missing");
        assert!(is_unsound(&[1, 0, 0]), "a part too many");
        assert!(is_unsound(&[60, 0]), "many parts are missing");
        assert!(is_unsound(&[1; 120]), "nested too deep");
    }
}
