//! Partial results as bytes: canonical, so that equal ones have equal bytes, and checked at every step.
//!
//! ```text
//! magic and version · fingerprint of the plan · flags (receipt, labels, ids) · [receipt, buckets]
//! scorers · metadata keys
//! records, ascending: length shared with the one before · rest · [number of samples · smallest id]
//! [ids, ascending: length shared with the one before · rest · number of the record]
//! checksum
//! ```

use super::receipt::Stamp;
use super::record::SampleRecord;
use super::record::{
    invalid, put_number, put_text, take, take_array, take_byte, take_count, take_number, take_text,
};
use super::tally::{Entry, MAX_BYTES, Names, Tally, Visible, too_many_bytes};
use super::{Partial, Samples};
use crate::error::{Error, Result};
use crate::plan::Plan;
use std::borrow::Cow;

/// What the bytes begin with; the last one is the version.
const MAGIC: [u8; 8] = *b"ebpart\0\x01";
const CHECKSUM: usize = 8;

mod flags {
    pub(super) const RECEIPT: u8 = 1;
    pub(super) const LABELS: u8 = 2;
    pub(super) const IDS: u8 = 4;
}

impl Partial<'_> {
    /// The partial result as bytes, the same for equal ones, however they came about.
    ///
    /// # Errors
    /// A sample that has an epoch twice; more than 64 MB; a plan that has no [text](Plan::to_text).
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        let tally = match &self.samples {
            Samples::Tally(tally) => Cow::Borrowed(tally),
            Samples::Columns(columns) => Cow::Owned(Tally::of(columns, &Visible::of(&self.plan))?),
        };
        let mut out = MAGIC.to_vec();
        out.extend_from_slice(&self.plan.fingerprint()?);
        let flag = |is_set: bool, flag: u8| if is_set { flag } else { 0 };
        out.push(
            flag(self.stamp.is_some(), flags::RECEIPT)
                | flag(tally.names.has_labels, flags::LABELS)
                | flag(tally.ids.is_some(), flags::IDS),
        );
        if let Some(stamp) = &self.stamp {
            stamp.put(&mut out);
        }
        tally.put(&mut out);
        let checksum = checksum(&out);
        out.extend_from_slice(&checksum);
        Ok(out)
    }
}

impl Partial<'static> {
    /// The partial result of bytes.
    ///
    /// # Errors
    /// Bytes of another plan or version, and bytes that are damaged or no partial result.
    pub fn from_bytes(bytes: &[u8], plan: &Plan) -> Result<Self> {
        let body = bytes.strip_prefix(&MAGIC).ok_or_else(|| match bytes.starts_with(b"ebpart\0") {
            true => Error::custom(
                "the partial result is of another version; compute all of them with one version",
            ),
            false => invalid("they do not begin like one"),
        })?;
        let (body, found) = body.split_last_chunk::<CHECKSUM>().ok_or_else(|| invalid("they end early"))?;
        let sealed = bytes.get(..bytes.len() - CHECKSUM).unwrap_or_default();
        if *found != checksum(sealed) {
            return Err(invalid("they are damaged, the checksum is another one"));
        }
        let mut rest = body;
        if take_array::<16>(&mut rest)? != plan.fingerprint()? {
            return Err(Error::custom(
                "the partial result is of another plan; metrics, reducers, errors and seed must be the same on all \
                 machines, so send the text of the plan",
            ));
        }
        let flags = take_byte(&mut rest)?;
        let visible = Visible::of(plan);
        if (flags & flags::IDS != 0) != visible.ids || flags >= flags::IDS * 2 {
            return Err(invalid("its flags do not fit the plan"));
        }
        let stamp = (flags & flags::RECEIPT != 0).then(|| Stamp::read(&mut rest)).transpose()?;
        let tally = Tally::read(&mut rest, flags & flags::LABELS != 0, &visible)?;
        if !rest.is_empty() {
            return Err(invalid("there is more behind it"));
        }
        if let Some(stamp) = &stamp
            && tally.rows() != stamp.receipt.rows()
        {
            return Err(invalid("it has another number of rows than its receipt"));
        }
        let claimed = tally.rows();
        let partial =
            Partial { plan: Cow::Owned(plan.clone()), samples: Samples::Tally(tally), stamp, claimed };
        // Whatever could be written in two ways is found here.
        if partial.to_bytes()? != bytes {
            return Err(invalid("they are not written in the canonical way"));
        }
        Ok(partial)
    }
}

fn checksum(bytes: &[u8]) -> [u8; CHECKSUM] {
    let mut checksum = [0; CHECKSUM];
    checksum.iter_mut().zip(blake3::hash(bytes).as_bytes()).for_each(|(own, byte)| *own = *byte);
    checksum
}

impl Tally {
    fn put(&self, out: &mut Vec<u8>) {
        for names in [&self.names.scorers, &self.names.keys] {
            put_number(names.len() as u64, out);
            names.iter().for_each(|name| put_text(name, out));
        }
        put_number(self.entries.len() as u64, out);
        let mut before: &[u8] = &[];
        for entry in &self.entries {
            put_after(before, &entry.record, out);
            before = &entry.record;
            if self.ids.is_none() {
                put_number(entry.count, out);
                put_text(&entry.id, out);
            }
        }
        if let Some(ids) = &self.ids {
            put_number(ids.len() as u64, out);
            let mut before: &[u8] = &[];
            for (id, number) in ids {
                put_after(before, id.as_bytes(), out);
                before = id.as_bytes();
                put_number(u64::from(*number), out);
            }
        }
    }

    fn read(bytes: &mut &[u8], has_labels: bool, visible: &Visible) -> Result<Self> {
        let names = Names { scorers: read_names(bytes)?, keys: read_names(bytes)?, has_labels };
        let mut size = Size { left: MAX_BYTES, has_ids: visible.ids };
        let count = take_count(bytes)?;
        let mut entries: Vec<Entry> = Vec::new();
        for _ in 0..count {
            let before = entries.last().map_or(&[][..], |entry| &entry.record);
            let record = read_after(before, bytes, &mut size)?;
            if !entries.is_empty() && record.as_slice() <= before {
                return Err(invalid("records that do not ascend"));
            }
            let sample = SampleRecord::read(&record, names.scorers.len(), names.keys.len())?;
            let mut canonical = Vec::with_capacity(record.len());
            sample.put(visible.parts, &mut canonical);
            if canonical != record {
                return Err(invalid("a sample that is not written in the canonical way"));
            }
            let (count, id) = match visible.ids {
                true => (0, ""),
                false => (take_number(bytes)?, take_text(bytes)?),
            };
            if count == 0 && !visible.ids {
                return Err(invalid("a record of no sample"));
            }
            size.take(id.len() + 8)?;
            entries.push(Entry { record: record.into(), count, id: id.into() });
        }
        let ids = visible.ids.then(|| read_ids(bytes, &mut entries, &mut size)).transpose()?;
        Ok(Tally { names, entries, ids })
    }
}

/// The ids of all samples; entries get their number of samples and the smallest id.
fn read_ids(bytes: &mut &[u8], entries: &mut [Entry], size: &mut Size) -> Result<Vec<(Box<str>, u32)>> {
    let count = take_count(bytes)?;
    let mut ids: Vec<(Box<str>, u32)> = Vec::new();
    for _ in 0..count {
        let before = ids.last().map_or(&[][..], |(id, _)| id.as_bytes());
        let id = read_after(before, bytes, size)?;
        if !ids.is_empty() && id.as_slice() <= before {
            return Err(invalid("ids that do not ascend"));
        }
        let id = String::from_utf8(id).map_err(|_| invalid("an id that is not UTF-8"))?;
        size.take(8)?;
        let number = u32::try_from(take_number(bytes)?).unwrap_or(u32::MAX);
        let entry = entries.get_mut(number as usize).ok_or_else(|| invalid("a sample without a record"))?;
        if entry.count == 0 {
            size.take(id.len())?;
            entry.id = id.as_str().into();
        }
        entry.count += 1;
        ids.push((id.into(), number));
    }
    match entries.iter().all(|entry| entry.count > 0) {
        true => Ok(ids),
        false => Err(invalid("a record of no sample")),
    }
}

/// Appends what differs from the bytes before: the length that is shared, and the rest.
fn put_after(before: &[u8], bytes: &[u8], out: &mut Vec<u8>) {
    let shared = before.iter().zip(bytes).take_while(|(a, b)| a == b).count();
    let rest = bytes.get(shared..).unwrap_or_default();
    put_number(shared as u64, out);
    put_number(rest.len() as u64, out);
    out.extend_from_slice(rest);
}

fn read_after(before: &[u8], bytes: &mut &[u8], size: &mut Size) -> Result<Vec<u8>> {
    let shared = usize::try_from(take_number(bytes)?).ok().and_then(|shared| before.get(..shared));
    let shared = shared.ok_or_else(|| invalid("they end early"))?;
    let length = take_count(bytes)?;
    let rest = take(bytes, length)?;
    // A few bytes could stand for long ones again and again.
    size.take(shared.len() + rest.len())?;
    Ok([shared, rest].concat())
}

/// What a tally may still take.
struct Size {
    left: usize,
    has_ids: bool,
}

impl Size {
    fn take(&mut self, bytes: usize) -> Result<()> {
        self.left = self.left.checked_sub(bytes).ok_or_else(|| too_many_bytes(self.has_ids))?;
        Ok(())
    }
}

fn read_names(bytes: &mut &[u8]) -> Result<Vec<String>> {
    let count = take_count(bytes)?;
    let mut names: Vec<String> = Vec::new();
    for _ in 0..count {
        let name = take_text(bytes)?;
        if names.last().is_some_and(|before| before.as_str() >= name) {
            return Err(invalid("names that do not ascend"));
        }
        names.push(name.to_owned());
    }
    Ok(names)
}
