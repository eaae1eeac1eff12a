//! A sample that is in several members, put together: the record, its metadata, and its long lists in chunks.
//!
//! ```text
//! samples/ID_epoch_N/sample.json          the record; `message_refs` are ranges of the messages
//! samples/ID_epoch_N/metadata.json
//! samples/ID_epoch_N/messages/START.json  a list; START is the number of its first item
//! samples/ID_epoch_N/events/START.json
//! samples/ID_epoch_N/calls/START.json
//! samples/ID_epoch_N/attachments/START.json
//! ```
//!
//! In one record the same is `messages`, `events`, `events_data` (the messages and calls that events refer to) and
//! `attachments`, by number. Long strings are replaced by `attachment://NUMBER` everywhere; those in the record and
//! in its messages are put back, as a record of its own has them.

use std::ops::Range;

use super::container::{Container, SampleMember};
use super::error::{LogError, LogErrorKind, Result};
use super::json::{self, Descent, Outline, PartVisitor};
use super::zip::{Decompressor, Members, ZipEntry};

/// Where the bytes of a sample go.
type Sink<'a> = &'a mut dyn FnMut(&[u8]) -> Result<()>;

/// What the ranges of messages are called in the record.
const MESSAGE_REFS: &str = "message_refs";
const ATTACHMENT: &[u8] = b"\"attachment://";
/// What messages and attachments that are referred to several times may add up to: this many times their size, and
/// a little more.
const MAX_REPEATED: u64 = 100;
const SLACK: u64 = 1 << 20;

/// The long lists of a sample, which are in chunks.
const LISTS: [&str; 4] = ["messages", "events", "calls", "attachments"];

/// What a member in the folder of a sample is, by the rest of its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PartName<'a> {
    /// A chunk of a list, and the number of its first item.
    Chunk {
        list: &'a str,
        start: u64,
    },
    /// Something that follows from the others.
    Derived,
    Unknown,
}

/// What `rest`, behind the folder and its slash, names.
fn part_name(rest: &str) -> PartName<'_> {
    if matches!(rest, "metadata.json" | "skeleton.json" | "events/stats.json" | "events/uuids.json") {
        return PartName::Derived;
    }
    let chunk = rest.strip_suffix(".json").and_then(|rest| rest.split_once('/'));
    match chunk {
        Some((list, number)) if LISTS.contains(&list) && number.bytes().all(|byte| byte.is_ascii_digit()) => {
            number.parse().map_or(PartName::Unknown, |start| PartName::Chunk { list, start })
        }
        _ => PartName::Unknown,
    }
}

/// How much of a sample is put together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SampleExtent {
    /// The record alone, as it is.
    Record,
    /// The record with its metadata and messages.
    Conversation,
    /// All of it.
    Whole,
}

/// A chunk: a member, and the number of its first item.
#[derive(Clone, Copy, Debug)]
struct Chunk<'a> {
    start: u64,
    name: &'a str,
    entry: &'a ZipEntry,
}

/// The chunks of a sample, list by list.
fn chunks_of<'a>(members: &'a Members, sample: &SampleMember) -> Result<[Vec<Chunk<'a>>; LISTS.len()]> {
    let mut lists = [const { Vec::new() }; LISTS.len()];
    for (name, entry) in sample.parts.iter().filter_map(|member| members.get_index(*member)) {
        match part_name(name.get(sample.folder_len + 1..).unwrap_or_default()) {
            PartName::Chunk { list, start } => {
                let chunks = LISTS.iter().zip(&mut lists).find(|(name, _)| **name == list);
                chunks.into_iter().for_each(|(_, chunks)| chunks.push(Chunk { start, name, entry }));
            }
            PartName::Derived => {}
            PartName::Unknown => return Err(LogError::from(LogErrorKind::UnknownPart).in_member(name)),
        }
    }
    lists.iter_mut().for_each(|list| list.sort_unstable_by_key(|chunk| chunk.start));
    Ok(lists)
}

/// Gives the JSON of a sample that is in several members, in pieces.
pub(super) fn assemble(
    container: &Container,
    members: &Members,
    sample: &SampleMember,
    extent: SampleExtent,
    decompressor: &mut Decompressor,
    each: Sink<'_>,
) -> Result<()> {
    let [message_chunks, event_chunks, call_chunks, attachment_chunks] = chunks_of(members, sample)?;
    let Some((name, entry)) = members.get_index(sample.at) else { return Ok(()) };
    let stored = [&message_chunks, &attachment_chunks].into_iter().flatten();
    let stored = stored.map(|chunk| chunk.entry.decompressed).sum::<u64>();
    let left = stored.saturating_mul(MAX_REPEATED).saturating_add(SLACK);
    let mut parts = PartReader { container, decompressor, left };
    let record = parts.read(name, entry)?;
    let fields = json::fields(&record)?;
    let refs = match fields.iter().rev().find(|(name, _)| name == MESSAGE_REFS) {
        Some((_, range)) => message_refs(record.get(range.clone()).unwrap_or_default())?,
        None if message_chunks.is_empty() => Vec::new(),
        None => return Err(LogErrorKind::Missing(MESSAGE_REFS).into()),
    };
    let mut attachments = ItemPool::new(&attachment_chunks);

    let mut before = "{";
    for (name, range) in fields.iter().filter(|(name, _)| name != MESSAGE_REFS) {
        each(format!("{before}{}:", serde_json::Value::from(name.as_str())).as_bytes())?;
        let value = record.get(range.clone()).unwrap_or_default();
        put_resolved(value, &mut attachments, &mut parts, each)?;
        before = ",";
    }
    let is_new = |field: &str| !fields.iter().any(|(name, _)| name == field);
    let metadata = sample.metadata.filter(|_| is_new("metadata")).and_then(|at| members.get_index(at));
    if let Some((name, entry)) = metadata {
        each(format!("{before}\"metadata\":").as_bytes())?;
        parts.pieces(name, entry, each)?;
        before = ",";
    }
    if is_new("messages") {
        each(format!("{before}\"messages\":[").as_bytes())?;
        put_messages(&refs, &message_chunks, &mut attachments, &mut parts, each)?;
        each(b"]")?;
    }
    if extent == SampleExtent::Whole {
        each(b",\"events\":[")?;
        parts.list(&event_chunks, ListForm::Items, each)?;
        each(b"],\"events_data\":{\"messages\":[")?;
        parts.list(&message_chunks, ListForm::Items, each)?;
        each(b"],\"calls\":[")?;
        parts.list(&call_chunks, ListForm::Items, each)?;
        each(b"]},\"attachments\":{")?;
        parts.list(&attachment_chunks, ListForm::Fields, each)?;
        each(b"}")?;
    }
    each(b"}")
}

/// The messages of the conversation, which are ranges of all that there are.
fn put_messages(
    refs: &[(u64, u64)],
    chunks: &[Chunk<'_>],
    attachments: &mut ItemPool<'_>,
    parts: &mut PartReader<'_>,
    each: Sink<'_>,
) -> Result<()> {
    let mut messages = ItemPool::new(chunks);
    let mut comma: &[u8] = b"";
    for number in refs.iter().flat_map(|(start, end)| *start..*end) {
        let Some(message) = messages.item(number, parts)? else {
            let problem = format!("`{MESSAGE_REFS}` names message {number}, which does not exist");
            return Err(LogErrorKind::Damaged(problem).into());
        };
        each(comma)?;
        parts.spend(message.len())?;
        put_resolved(message, attachments, parts, each)?;
        comma = b",";
    }
    Ok(())
}

/// A JSON value with the strings put back that are attachments.
fn put_resolved(
    json: &[u8],
    attachments: &mut ItemPool<'_>,
    parts: &mut PartReader<'_>,
    each: Sink<'_>,
) -> Result<()> {
    let mut copied = 0;
    if !attachments.chunks.is_empty() {
        for at in memchr::memmem::find_iter(json, ATTACHMENT) {
            let Some((number, end)) = reference(json, at) else { continue };
            // A string of this form that is no reference stays what it is.
            let Some(content) = attachments.item(number, parts)? else { continue };
            each(json.get(copied..at).unwrap_or_default())?;
            parts.spend(content.len())?;
            each(content)?;
            copied = end;
        }
    }
    each(json.get(copied..).unwrap_or_default())
}

/// The number of the attachment that a string at an offset is, and where the string ends.
fn reference(json: &[u8], at: usize) -> Option<(u64, usize)> {
    const MAX_DIGITS: usize = 18;
    // Within another string.
    if at.checked_sub(1).and_then(|before| json.get(before)) == Some(&b'\\') {
        return None;
    }
    let digits = json.get(at + ATTACHMENT.len()..)?;
    let count = digits.iter().take(MAX_DIGITS).take_while(|byte| byte.is_ascii_digit()).count();
    let number = str::from_utf8(digits.get(..count)?).ok()?.parse().ok()?;
    let rest = digits.get(count..)?.strip_prefix(b"\"")?;
    // A key is no value.
    let is_key = rest.trim_ascii_start().first() == Some(&b':');
    (!is_key).then_some((number, at + ATTACHMENT.len() + count + 1))
}

/// Ranges, each up to a number that it does not include.
fn message_refs(json: &[u8]) -> Result<Vec<(u64, u64)>> {
    serde_json::from_slice::<Option<Vec<(u64, u64)>>>(json).map(Option::unwrap_or_default).map_err(|_| {
        LogErrorKind::Field {
            field: MESSAGE_REFS.to_owned(),
            found: "something else".to_owned(),
            expected: "a list of ranges",
        }
        .into()
    })
}

/// Reads the members of a sample.
struct PartReader<'a> {
    container: &'a Container,
    decompressor: &'a mut Decompressor,
    /// How many bytes of what is referred to may still be read and written: a few references can stand for terabytes.
    left: u64,
}

impl PartReader<'_> {
    fn spend(&mut self, bytes: usize) -> Result<()> {
        let Some(left) = self.left.checked_sub(bytes as u64) else {
            let problem = "its messages and attachments are repeated more than a hundred times";
            return Err(LogErrorKind::damaged(problem).into());
        };
        self.left = left;
        Ok(())
    }

    /// All of a member.
    fn read(&mut self, name: &str, entry: &ZipEntry) -> Result<Vec<u8>> {
        let json = self.decompressor.decompress(&self.container.source, name, entry)?;
        self.container.memory.check_tree(&json).map_err(|error| error.in_member(name))?;
        Ok(json)
    }

    fn pieces(&mut self, name: &str, entry: &ZipEntry, each: Sink<'_>) -> Result<()> {
        self.decompressor.pieces(&self.container.source, name, entry, each)
    }

    /// The items of a list, out of all its chunks.
    fn list(&mut self, chunks: &[Chunk<'_>], form: ListForm, each: Sink<'_>) -> Result<()> {
        let mut items = ItemCopier { each, count: 0, form };
        for Chunk { start, name, entry } in chunks {
            // Chunks follow each other; one that is missing is not skipped.
            if *start != items.count {
                let problem =
                    format!("it starts with item {start}, but {} items come before it", items.count);
                return Err(LogError::from(LogErrorKind::Damaged(problem)).in_member(name));
            }
            let mut outline = Outline::of_list();
            self.pieces(name, entry, &mut |piece| outline.push(piece, &mut items))?;
            outline.finish().map_err(|error| error.in_member(name))?;
        }
        Ok(())
    }
}

/// Copies the items of lists, one after the other.
struct ItemCopier<'a> {
    each: Sink<'a>,
    count: u64,
    form: ListForm,
}

/// What the items of a list become.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ListForm {
    Items,
    /// Fields of an object, named by their numbers.
    Fields,
}

impl PartVisitor for ItemCopier<'_> {
    fn begin(&mut self, _: &[u8], _: u8, _: u64) -> Result<Descent> {
        let comma = if self.count > 0 { "," } else { "" };
        match self.form {
            ListForm::Fields => (self.each)(format!("{comma}\"{}\":", self.count).as_bytes())?,
            ListForm::Items => (self.each)(comma.as_bytes())?,
        }
        Ok(Descent::Whole)
    }

    fn bytes(&mut self, bytes: &[u8]) -> Result<()> {
        (self.each)(bytes)
    }

    fn end(&mut self, _: u64) -> Result<()> {
        self.count += 1;
        Ok(())
    }
}

/// The items of a list by number. The chunk that was used last is held, as the next item is mostly in it too.
struct ItemPool<'a> {
    chunks: &'a [Chunk<'a>],
    held: Option<HeldChunk>,
}

struct HeldChunk {
    start: u64,
    json: Vec<u8>,
    items: Vec<Range<usize>>,
}

impl<'a> ItemPool<'a> {
    fn new(chunks: &'a [Chunk<'a>]) -> Self {
        ItemPool { chunks, held: None }
    }

    /// The JSON of an item; none if there is no item of that number.
    fn item(&mut self, number: u64, parts: &mut PartReader<'_>) -> Result<Option<&[u8]>> {
        let behind = self.chunks.partition_point(|chunk| chunk.start <= number);
        let Some(chunk) = behind.checked_sub(1).and_then(|at| self.chunks.get(at)) else { return Ok(None) };
        let held = match self.held.take().filter(|held| held.start == chunk.start) {
            Some(held) => held,
            None => {
                let json = parts.read(chunk.name, chunk.entry)?;
                parts.spend(json.len())?;
                let items = json::items(&json).map_err(|error| error.in_member(chunk.name))?;
                HeldChunk { start: chunk.start, json, items }
            }
        };
        let held = self.held.insert(held);
        let range = usize::try_from(number - held.start).ok().and_then(|at| held.items.get(at)).cloned();
        Ok(range.and_then(|range| held.json.get(range)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_parts() {
        assert_eq!(part_name("messages/0.json"), PartName::Chunk { list: "messages", start: 0 });
        assert_eq!(part_name("attachments/1000.json"), PartName::Chunk { list: "attachments", start: 1000 });
        for derived in ["metadata.json", "skeleton.json", "events/stats.json", "events/uuids.json"] {
            assert_eq!(part_name(derived), PartName::Derived);
        }
        for unknown in
            ["events/more.json", "store/0.json", "messages/0", "messages/99999999999999999999.json"]
        {
            assert_eq!(part_name(unknown), PartName::Unknown, "{unknown}");
        }
    }

    #[test]
    fn references_are_whole_strings_and_no_keys() {
        let found = |json: &'static str| {
            let at = memchr::memmem::find(json.as_bytes(), ATTACHMENT)?;
            let (number, end) = reference(json.as_bytes(), at)?;
            Some((number, &json[at..end]))
        };
        assert_eq!(found(r#"["attachment://12"]"#), Some((12, r#""attachment://12""#)));
        for other in [
            r#"["attachment://12 and more"]"#,
            r#"["attachment://"]"#,
            r#"["attachment://0a3"]"#,
            r#"{"attachment://1" : 2}"#,
            r#"["\"attachment://1\""]"#,
        ] {
            assert_eq!(found(other), None, "{other}");
        }
    }
}
