//! A sample as bytes: all of it that a plan can see, so that samples with equal bytes have equal figures.
//!
//! ```text
//! record  = number of epochs · epoch…
//! epoch   = number · flags (errored, new metadata) · [metadata] · cell of each scorer, by name
//! cell    = tag (value, whether a label and details follow) · payload · [label] · [details]
//! ```
//!
//! Each thing has one way to be written: a record that is read and written again has the same bytes.

use serde_json::Value as Json;

use crate::columns::ScoreDetail;
use crate::error::{Error, Result};
use crate::inputs::ScoreParts;
use crate::metadata::Metadata;
use crate::value::{Leaf, LeafMap, LeafRef, Value, ValueRef};

/// What is before every epoch.
mod epoch_flags {
    pub(super) const ERRORED: u8 = 1;
    /// Metadata follows; without it, it is that of the epoch before, and the first has none.
    pub(super) const METADATA: u8 = 2;
}

/// What a value is; at the root of a cell two bits more.
mod tag {
    pub(super) const MISSING: u8 = 0;
    pub(super) const UNSCORED: u8 = 1;
    pub(super) const NULL: u8 = 2;
    pub(super) const FALSE: u8 = 3;
    pub(super) const TRUE: u8 = 4;
    pub(super) const INT: u8 = 5;
    /// A float that is a small integer.
    pub(super) const WHOLE: u8 = 6;
    pub(super) const FLOAT: u8 = 7;
    pub(super) const TEXT: u8 = 8;
    pub(super) const LIST: u8 = 9;
    pub(super) const MAP: u8 = 10;

    pub(super) const DETAILS: u8 = 0x40;
    pub(super) const LABEL: u8 = 0x80;
}

/// Which fields of a score's details follow.
mod detail_flags {
    pub(super) const ANSWER: u8 = 1;
    pub(super) const EXPLANATION: u8 = 2;
    pub(super) const REASON: u8 = 4;
    pub(super) const METADATA: u8 = 8;
    pub(super) const HISTORY: u8 = 16;
}

/// Beyond this a float that is an integer is as short as any other.
const MOST_WHOLE: f64 = (1_u64 << 40) as f64;

/// An epoch of a sample.
#[derive(Clone, Debug, Default)]
pub(super) struct EpochRecord {
    pub(super) epoch: u32,
    pub(super) is_errored: bool,
    /// The numbers of metadata keys, ascending, and the JSON of their values. None if it is that of the epoch before: a
    /// copy for each epoch could take any multiple of the bytes.
    pub(super) metadata: Option<Vec<(u32, String)>>,
    /// One for each scorer.
    pub(super) cells: Vec<CellRecord>,
}

/// What a scorer gave.
#[derive(Clone, Debug, Default)]
pub(super) struct CellRecord {
    pub(super) value: Option<Value>,
    /// What metrics of labels see, if it differs.
    pub(super) label: Option<Box<Option<Value>>>,
    pub(super) detail: Option<Box<ScoreDetail>>,
}

/// A sample taken apart.
#[derive(Clone, Debug, Default)]
pub(super) struct SampleRecord {
    pub(super) epochs: Vec<EpochRecord>,
}

/// Writes the start of an epoch; the cells follow. `metadata` is given if it is not that of the epoch before.
pub(super) fn put_epoch(
    epoch: u32,
    is_errored: bool,
    metadata: Option<&[(u32, impl AsRef<str>)]>,
    out: &mut Vec<u8>,
) {
    put_number(u64::from(epoch), out);
    let flags = if is_errored { epoch_flags::ERRORED } else { 0 };
    let Some(metadata) = metadata else { return out.push(flags) };
    out.push(flags | epoch_flags::METADATA);
    put_number(metadata.len() as u64, out);
    for (key, json) in metadata {
        put_number(u64::from(*key), out);
        put_text(json.as_ref(), out);
    }
}

/// Writes what a scorer gave.
pub(super) fn put_cell(
    value: Option<ValueRef<'_>>,
    label: Option<Option<ValueRef<'_>>>,
    detail: Option<&ScoreDetail>,
    parts: ScoreParts,
    out: &mut Vec<u8>,
) {
    let start = out.len();
    put_value(value, out);
    let fields = detail.map_or(0, |detail| fields_of(detail, parts));
    let label_flag = if label.is_some() { tag::LABEL } else { 0 };
    let details_flag = if fields == 0 { 0 } else { tag::DETAILS };
    if let Some(tag) = out.get_mut(start) {
        *tag |= label_flag | details_flag;
    }
    if let Some(label) = label {
        put_value(label, out);
    }
    if let Some(detail) = detail.filter(|_| fields != 0) {
        put_detail(detail, fields, out);
    }
}

fn put_value(value: Option<ValueRef<'_>>, out: &mut Vec<u8>) {
    match value {
        None => out.push(tag::MISSING),
        Some(ValueRef::Leaf(leaf)) => put_leaf(leaf, out),
        Some(ValueRef::List(items)) => {
            out.push(tag::LIST);
            put_number(items.len() as u64, out);
            items.iter().for_each(|item| put_leaf(item.view(), out));
        }
        Some(ValueRef::Map(map)) => {
            out.push(tag::MAP);
            put_number(map.len() as u64, out);
            for (key, leaf) in map {
                put_text(key, out);
                put_leaf(leaf.view(), out);
            }
        }
    }
}

fn put_leaf(leaf: LeafRef<'_>, out: &mut Vec<u8>) {
    match leaf {
        LeafRef::Unscored => out.push(tag::UNSCORED),
        LeafRef::Null => out.push(tag::NULL),
        LeafRef::Bool(false) => out.push(tag::FALSE),
        LeafRef::Bool(true) => out.push(tag::TRUE),
        LeafRef::Int(int) => {
            out.push(tag::INT);
            put_integer(int, out);
        }
        LeafRef::Float(float) if float.is_nan() => out.push(tag::UNSCORED),
        LeafRef::Float(float) => match whole(float) {
            Some(int) => {
                out.push(tag::WHOLE);
                put_integer(int, out);
            }
            None => {
                out.push(tag::FLOAT);
                out.extend_from_slice(&float.to_bits().to_be_bytes());
            }
        },
        LeafRef::Str(text) => {
            out.push(tag::TEXT);
            put_text(text, out);
        }
    }
}

/// Whether two values have different bytes: equality is blind to the sign of a zero.
pub(super) fn differ(a: Option<ValueRef<'_>>, b: Option<ValueRef<'_>>) -> bool {
    let bytes = |value| {
        let mut bytes = Vec::new();
        put_value(value, &mut bytes);
        bytes
    };
    a != b || bytes(a) != bytes(b)
}

/// A float as an integer, if it is a small one; the negative zero is none.
fn whole(float: f64) -> Option<i64> {
    let is_whole =
        float.fract() == 0.0 && float.abs() < MOST_WHOLE && !(float == 0.0 && float.is_sign_negative());
    is_whole.then_some(float as i64)
}

/// The fields of details that a plan can see.
fn fields_of(detail: &ScoreDetail, parts: ScoreParts) -> u8 {
    let has = |has: bool, flag: u8| if has { flag } else { 0 };
    let mut fields = has(detail.reason.is_some(), detail_flags::REASON);
    if parts >= ScoreParts::Metadata {
        fields |= has(detail.metadata.is_some(), detail_flags::METADATA);
    }
    if parts >= ScoreParts::All {
        fields |= has(detail.answer.is_some(), detail_flags::ANSWER)
            | has(detail.explanation.is_some(), detail_flags::EXPLANATION)
            | has(!detail.history.is_empty(), detail_flags::HISTORY);
    }
    fields
}

fn put_detail(detail: &ScoreDetail, fields: u8, out: &mut Vec<u8>) {
    out.push(fields);
    let texts = [
        (detail_flags::ANSWER, &detail.answer),
        (detail_flags::EXPLANATION, &detail.explanation),
        (detail_flags::REASON, &detail.reason),
    ];
    for (_, text) in texts.into_iter().filter(|(flag, _)| fields & flag != 0) {
        put_text(text.as_deref().unwrap_or_default(), out);
    }
    if fields & detail_flags::METADATA != 0 {
        let json = detail.metadata.as_ref().map(|metadata| Json::from(metadata.clone()));
        put_text(&json.unwrap_or_default().to_string(), out);
    }
    if fields & detail_flags::HISTORY != 0 {
        put_text(&Json::from(detail.history.clone()).to_string(), out);
    }
}

impl SampleRecord {
    /// Writes all of it.
    pub(super) fn put(&self, parts: ScoreParts, out: &mut Vec<u8>) {
        put_number(self.epochs.len() as u64, out);
        for epoch in &self.epochs {
            put_epoch(epoch.epoch, epoch.is_errored, epoch.metadata.as_deref(), out);
            for cell in &epoch.cells {
                let value = cell.value.as_ref().map(Value::view);
                let label = cell.label.as_ref().map(|label| label.as_ref().as_ref().map(Value::view));
                put_cell(value, label, cell.detail.as_deref(), parts, out);
            }
        }
    }

    /// Reads a record, of which nothing may be left over.
    pub(super) fn read(mut bytes: &[u8], scorers: usize, keys: usize) -> Result<Self> {
        let count = take_count(&mut bytes)?;
        let mut epochs: Vec<EpochRecord> = Vec::with_capacity(count.min(1 << 10));
        // Where the metadata is that the next epoch has, too.
        let mut new_at: Option<usize> = None;
        for _ in 0..count {
            let before = new_at.and_then(|at| epochs.get(at)?.metadata.as_deref()).unwrap_or_default();
            let epoch = EpochRecord::read(&mut bytes, scorers, keys, before)?;
            if epochs.last().is_some_and(|before| before.epoch >= epoch.epoch) {
                return Err(invalid("epochs that do not ascend"));
            }
            new_at = epoch.metadata.as_ref().map_or(new_at, |_| Some(epochs.len()));
            epochs.push(epoch);
        }
        match (epochs.is_empty(), bytes) {
            (false, []) => Ok(SampleRecord { epochs }),
            (true, _) => Err(invalid("a sample without an epoch")),
            (false, _) => Err(invalid("a sample has more than its epochs")),
        }
    }
}

impl EpochRecord {
    /// Reads an epoch; the one before has this metadata.
    fn read(bytes: &mut &[u8], scorers: usize, keys: usize, before: &[(u32, String)]) -> Result<Self> {
        let epoch = u32::try_from(take_number(bytes)?).map_err(|_| invalid("an epoch beyond 32 bits"))?;
        let flags = take_byte(bytes)?;
        let is_new = flags & epoch_flags::METADATA != 0;
        let metadata = is_new.then(|| read_metadata(bytes, keys)).transpose()?;
        if metadata.as_deref().is_some_and(|metadata| metadata == before) {
            return Err(invalid("metadata that is that of the epoch before"));
        }
        let cells = (0..scorers).map(|_| CellRecord::read(bytes)).collect::<Result<_>>()?;
        Ok(EpochRecord { epoch, is_errored: flags & epoch_flags::ERRORED != 0, metadata, cells })
    }
}

fn read_metadata(bytes: &mut &[u8], keys: usize) -> Result<Vec<(u32, String)>> {
    let count = take_count(bytes)?;
    let mut metadata: Vec<(u32, String)> = Vec::new();
    for _ in 0..count {
        let key = take_number(bytes)?;
        let is_next = metadata.last().is_none_or(|(before, _)| u64::from(*before) < key);
        let key = u32::try_from(key).ok().filter(|key| is_next && (*key as usize) < keys);
        let key = key.ok_or_else(|| invalid("a metadata key that there is not"))?;
        let json = take_text(bytes)?;
        // As it would be written.
        metadata.push((key, read_json(json)?.to_string()));
    }
    Ok(metadata)
}

pub(super) fn read_json(text: &str) -> Result<Json> {
    serde_json::from_str(text).map_err(|_| invalid("metadata that is not JSON or nested too deeply"))
}

impl CellRecord {
    fn read(bytes: &mut &[u8]) -> Result<Self> {
        let tag = take_byte(bytes)?;
        let value = read_value(tag & !(tag::LABEL | tag::DETAILS), bytes)?;
        let label = match tag & tag::LABEL {
            0 => None,
            _ => {
                let tag = take_byte(bytes)?;
                let label = read_value(tag, bytes)?;
                if differ(value.as_ref().map(Value::view), label.as_ref().map(Value::view)) {
                    Some(Box::new(label))
                } else {
                    return Err(invalid("a label that is its value"));
                }
            }
        };
        let detail = (tag & tag::DETAILS != 0).then(|| read_detail(bytes).map(Box::new)).transpose()?;
        Ok(CellRecord { value, label, detail })
    }
}

fn read_value(tag: u8, bytes: &mut &[u8]) -> Result<Option<Value>> {
    let leaf = |bytes: &mut &[u8]| {
        let tag = take_byte(bytes)?;
        read_leaf(tag, bytes)
    };
    Ok(Some(match tag {
        tag::MISSING => return Ok(None),
        tag::NULL => return Err(invalid("a null for a score")),
        tag::LIST => {
            let count = take_count(bytes)?;
            Value::List((0..count).map(|_| leaf(bytes)).collect::<Result<_>>()?)
        }
        tag::MAP => {
            let count = take_count(bytes)?;
            let mut map = LeafMap::new();
            for _ in 0..count {
                let key = take_text(bytes)?;
                if map.insert(key.into(), leaf(bytes)?).is_some() {
                    return Err(invalid("a map with a key twice"));
                }
            }
            Value::Map(map)
        }
        scalar => Value::from(read_leaf(scalar, bytes)?),
    }))
}

fn read_leaf(tag: u8, bytes: &mut &[u8]) -> Result<Leaf> {
    Ok(match tag {
        tag::UNSCORED => Leaf::Unscored,
        tag::NULL => Leaf::Null,
        tag::FALSE => Leaf::Bool(false),
        tag::TRUE => Leaf::Bool(true),
        tag::INT => Leaf::Int(take_integer(bytes)?),
        tag::WHOLE => Leaf::Float(take_integer(bytes)? as f64),
        tag::FLOAT => Leaf::from(f64::from_bits(u64::from_be_bytes(take_array(bytes)?))),
        tag::TEXT => Leaf::Str(take_text(bytes)?.into()),
        _ => return Err(invalid("an unknown type of value")),
    })
}

fn read_detail(bytes: &mut &[u8]) -> Result<ScoreDetail> {
    let fields = take_byte(bytes)?;
    let mut text = |flag: u8| -> Result<Option<String>> {
        (fields & flag != 0).then(|| take_text(bytes).map(str::to_owned)).transpose()
    };
    let answer = text(detail_flags::ANSWER)?;
    let explanation = text(detail_flags::EXPLANATION)?;
    let reason = text(detail_flags::REASON)?;
    let metadata = match text(detail_flags::METADATA)?.map(|text| read_json(&text)).transpose()? {
        None => None,
        Some(Json::Object(object)) => Some(Metadata::from(object)),
        Some(_) => return Err(invalid("metadata that is not a map")),
    };
    let history = match text(detail_flags::HISTORY)?.map(|text| read_json(&text)).transpose()? {
        None => Vec::new(),
        Some(Json::Array(items)) => items,
        Some(_) => return Err(invalid("a history that is not a list")),
    };
    Ok(ScoreDetail { value: Value::Unscored, answer, explanation, reason, metadata, history })
}

// Numbers and strings as bytes: short, one way to write each, and read with a check at every step.

/// The error of bytes that are no partial result.
pub(super) fn invalid(problem: &str) -> Error {
    Error::custom(format!("these bytes are no partial result: {problem}"))
}

fn ends_early() -> Error {
    invalid("they end early")
}

/// Appends a number, seven bits a byte, the lowest first.
pub(super) fn put_number(mut number: u64, out: &mut Vec<u8>) {
    while number > 0x7f {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

/// Appends an integer: small ones of either sign are short.
pub(super) fn put_integer(integer: i64, out: &mut Vec<u8>) {
    put_number(((integer << 1) ^ (integer >> 63)).cast_unsigned(), out);
}

/// Appends a string with its length.
pub(super) fn put_text(text: &str, out: &mut Vec<u8>) {
    put_number(text.len() as u64, out);
    out.extend_from_slice(text.as_bytes());
}

/// Takes this number of bytes off the front.
pub(super) fn take<'b>(bytes: &mut &'b [u8], length: usize) -> Result<&'b [u8]> {
    let (front, rest) = bytes.split_at_checked(length).ok_or_else(ends_early)?;
    *bytes = rest;
    Ok(front)
}

pub(super) fn take_byte(bytes: &mut &[u8]) -> Result<u8> {
    take(bytes, 1)?.first().copied().ok_or_else(ends_early)
}

pub(super) fn take_array<const N: usize>(bytes: &mut &[u8]) -> Result<[u8; N]> {
    take(bytes, N)?.try_into().map_err(|_| ends_early())
}

pub(super) fn take_number(bytes: &mut &[u8]) -> Result<u64> {
    let mut number = 0_u64;
    for shift in (0..64).step_by(7) {
        let byte = take_byte(bytes)?;
        let bits = u64::from(byte & 0x7f);
        if bits > u64::MAX >> shift {
            break;
        }
        number |= bits << shift;
        if byte & 0x80 == 0 {
            return Ok(number);
        }
    }
    Err(invalid("a number beyond 64 bits"))
}

pub(super) fn take_integer(bytes: &mut &[u8]) -> Result<i64> {
    let number = take_number(bytes)?;
    Ok((number >> 1).cast_signed() ^ -(number & 1).cast_signed())
}

/// A number of things that take a byte each at least, so that nothing is allocated for more than there are.
pub(super) fn take_count(bytes: &mut &[u8]) -> Result<usize> {
    let count = take_number(bytes)?;
    usize::try_from(count).ok().filter(|count| *count <= bytes.len()).ok_or_else(ends_early)
}

pub(super) fn take_text<'b>(bytes: &mut &'b [u8]) -> Result<&'b str> {
    let length = take_count(bytes)?;
    std::str::from_utf8(take(bytes, length)?).map_err(|_| invalid("a string that is not UTF-8"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// With a copy for each epoch these would be 800 GB.
    #[test]
    fn epochs_share_their_metadata() {
        let json = Json::from("x".repeat(4 << 20)).to_string();
        let mut bytes = Vec::new();
        put_number(200_000, &mut bytes);
        for epoch in 0..200_000 {
            put_epoch(epoch, false, (epoch == 0).then_some(&[(0, json.as_str())]), &mut bytes);
        }
        let sample = SampleRecord::read(&bytes, 0, 1).unwrap();
        assert_eq!(sample.epochs.iter().filter(|epoch| epoch.metadata.is_some()).count(), 1);
        let mut again = Vec::new();
        sample.put(ScoreParts::Value, &mut again);
        assert_eq!(again.len(), bytes.len());
        assert!(again == bytes, "written in another way");
    }

    #[test]
    fn metadata_is_written_only_where_it_is_new() {
        let read = |metadata: [Option<&[(u32, &str)]>; 3]| {
            let mut bytes = vec![3];
            for (epoch, metadata) in (1..).zip(metadata) {
                put_epoch(epoch, false, metadata, &mut bytes);
            }
            SampleRecord::read(&bytes, 0, 2).map(|sample| sample.epochs.len())
        };
        let a: &[(u32, &str)] = &[(0, "1")];
        let b: &[(u32, &str)] = &[(0, "1"), (1, "2")];
        assert!(read([Some(a), Some(b), Some(a)]).is_ok());
        let none: &[(u32, &str)] = &[];
        assert!(read([None, Some(a), Some(none)]).is_ok());
        for twice in [[Some(a), Some(a), None], [Some(a), None, Some(a)], [Some(none), None, None]] {
            assert!(read(twice).unwrap_err().to_string().contains("that of the epoch before"));
        }
    }
}

#[cfg(test)]
mod wire_tests {
    use super::*;

    #[test]
    fn numbers_come_back() {
        for number in [0, 1, 127, 128, 300, 1 << 35, u64::MAX - 1, u64::MAX] {
            let mut bytes = Vec::new();
            put_number(number, &mut bytes);
            assert_eq!(take_number(&mut bytes.as_slice()).unwrap(), number);
            assert!(take_number(&mut bytes.get(..bytes.len() - 1).unwrap()).is_err());
        }
        for integer in [0, 1, -1, 63, -64, i64::MAX, i64::MIN] {
            let mut bytes = Vec::new();
            put_integer(integer, &mut bytes);
            assert_eq!(take_integer(&mut bytes.as_slice()).unwrap(), integer);
            assert!(!(-64..64).contains(&integer) || bytes.len() == 1);
        }
        assert!(take_number(&mut [0xff; 10].as_slice()).is_err());
    }

    #[test]
    fn a_length_beyond_the_bytes_is_refused_before_anything_is_allocated() {
        let mut bytes = Vec::new();
        put_number(1 << 60, &mut bytes);
        bytes.extend([b'x'; 9]);
        assert!(take_text(&mut bytes.as_slice()).is_err());
        assert!(take_text(&mut [2, 0xff, 0xff].as_slice()).is_err());
    }
}
