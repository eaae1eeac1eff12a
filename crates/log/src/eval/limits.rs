//! How much of a log is believed before it is refused.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use errorbar_core::chat::{Event, EventKind, Message, ModelOutput, SampleEvents};
use errorbar_core::{Leaf, SampleId, Score, Value};
use rayon::prelude::*;
use serde_json::Value as Json;

use super::error::{LogErrorKind, Result};
use super::sample::StoredSample;
use super::zip::ZipEntry;

/// How large a log may be before it is refused: a few kilobytes can claim to hold terabytes.
///
/// Transcripts are skipped as a stream, so a large one costs time and no memory; what is loaded of a sample (id,
/// scores, requested metadata) is held as a whole.
///
/// ```
/// use errorbar_log::eval::LogLimits;
/// let limits = LogLimits { max_decompressed: 100 << 30, ..LogLimits::default() };
/// assert!(limits.max_ratio > 0);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LogLimits {
    /// The largest decompressed size of one entry.
    pub max_decompressed: u64,
    /// Entries that decompress to more than this many times their size are dense: a trap, or a very repetitive
    /// answer. Those of one log may have 192 MiB decompressed, all together.
    pub max_ratio: u64,
    /// The most bytes of one record that may be held in memory: the header, or what is loaded of a sample.
    pub max_record: u64,
    /// The most bytes of memory for what is held of a log. Unset, it is 256 MiB or four times the size of the file,
    /// whichever is more.
    pub max_memory: Option<u64>,
}

impl LogLimits {
    /// The decompressed size of all dense entries together: about a second of work, if every byte of it is checked.
    pub(super) const DENSE_BYTES: u64 = 192 << 20;
    /// What a log may hold in memory, however small its file is.
    const LEAST_MEMORY: u64 = 256 << 20;
    const MEMORY_PER_BYTE: u64 = 4;

    /// The most memory for what is held of a log whose file has this size.
    pub(super) fn memory_for(&self, file_size: u64) -> u64 {
        let by_size = file_size.saturating_mul(Self::MEMORY_PER_BYTE).max(Self::LEAST_MEMORY);
        self.max_memory.unwrap_or(by_size)
    }
}

impl Default for LogLimits {
    /// 16 GiB, a hundred times, 256 MiB.
    fn default() -> Self {
        LogLimits { max_decompressed: 16 << 30, max_ratio: 100, max_record: 256 << 20, max_memory: None }
    }
}

/// Adds up what the entries of a log claim, and refuses a log that claims too much.
#[derive(Debug)]
pub(super) struct ClaimedSizes {
    limits: LogLimits,
    file_size: u64,
    compressed: u64,
    dense: u64,
}

impl ClaimedSizes {
    pub(super) fn new(limits: LogLimits, file_size: u64) -> Self {
        ClaimedSizes { limits, file_size, compressed: 0, dense: 0 }
    }

    /// Takes one more entry into account.
    pub(super) fn add(&mut self, entry: &ZipEntry) -> Result<()> {
        // Entries that overlap can make a small file decompress to any size without being dense.
        self.compressed = self.compressed.saturating_add(entry.compressed);
        if self.compressed > self.file_size {
            return Err(LogErrorKind::Overlap.into());
        }
        let limit = self.limits.max_ratio;
        let ratio = entry.decompressed / entry.compressed.max(1);
        if ratio > limit {
            self.dense = self.dense.saturating_add(entry.decompressed);
        }
        if self.dense > LogLimits::DENSE_BYTES {
            return Err(LogErrorKind::TooDense { bytes: self.dense, ratio, limit }.into());
        }
        Ok(())
    }
}

// The memory that is held of a log, counted so that it has a bound.

/// A JSON value of one byte, as a tree: the value itself, the unused half of a list that has grown, and its share
/// of a map.
const NODE: u64 = 160;

/// A number of bytes that may be held, shared by all threads that read a log.
#[derive(Debug)]
pub(super) struct MemoryBudget {
    limit: u64,
    used: AtomicU64,
}

impl MemoryBudget {
    pub(super) fn new(limit: u64) -> Self {
        MemoryBudget { limit, used: AtomicU64::new(0) }
    }

    pub(super) fn limit(&self) -> u64 {
        self.limit
    }

    /// Takes bytes out of the budget.
    ///
    /// # Errors
    /// There are not as many left.
    pub(super) fn take(&self, bytes: u64) -> Result<()> {
        let before = self.used.fetch_add(bytes, Ordering::Relaxed);
        if before.saturating_add(bytes) > self.limit {
            self.give_back(bytes);
            return Err(LogErrorKind::TooMuchMemory { limit: self.limit }.into());
        }
        Ok(())
    }

    /// Returns bytes that [`MemoryBudget::take`] took.
    pub(super) fn give_back(&self, bytes: u64) {
        self.used.fetch_sub(bytes, Ordering::Relaxed);
    }

    /// Refuses a JSON document that would take more memory as a tree than is left. A document of many tiny values takes
    /// fifty times its size.
    pub(super) fn check_tree(&self, json: &[u8]) -> Result<()> {
        const SMALL: usize = 1 << 20;
        if json.len() < SMALL {
            return Ok(());
        }
        let bytes = (json.len() as u64).saturating_add(values_in(json).saturating_mul(NODE));
        self.take(bytes)?;
        self.give_back(bytes);
        Ok(())
    }
}

/// The number of values in a JSON document, at least.
fn values_in(json: &[u8]) -> u64 {
    let (mut count, mut rest) = (1, json);
    let count_between =
        |bytes: &[u8]| bytes.iter().filter(|b| matches!(b, b',' | b'[' | b'{')).count() as u64;
    while let Some(quote) = memchr::memchr(b'"', rest) {
        let (between, text) = rest.split_at(quote);
        count += count_between(between);
        rest = after_text(text.get(1..).unwrap_or_default());
    }
    count + count_between(rest)
}

/// What follows the quote that ends a string.
fn after_text(mut rest: &[u8]) -> &[u8] {
    while let Some(at) = memchr::memchr2(b'"', b'\\', rest) {
        let is_end = rest.get(at) == Some(&b'"');
        rest = rest.get(at + if is_end { 1 } else { 2 }..).unwrap_or_default();
        if is_end {
            return rest;
        }
    }
    &[]
}

/// The memory of a sample, about.
pub(super) fn of_sample(sample: &StoredSample) -> u64 {
    let error = sample.error.as_ref().map_or(0, |error| error.len() as u64);
    size_of::<StoredSample>() as u64 + behind_sample(sample) + error
}

/// The memory behind id, metadata and scores of a sample, about.
pub(super) fn behind_sample(sample: &StoredSample) -> u64 {
    let metadata = sample.metadata.iter().map(of_field).sum::<u64>();
    let score = |(scorer, score): (&String, &Score)| scorer.len() as u64 + NODE + of_score(score);
    let scores = sample.scores.iter().map(score).sum::<u64>();
    let id = match &sample.id {
        SampleId::Int(_) => 0,
        SampleId::Str(id) => id.len() as u64,
    };
    id + metadata + scores
}

/// The memory behind a score, about.
pub(super) fn of_score(score: &Score) -> u64 {
    let text = |text: &Option<String>| text.as_ref().map_or(0, |text| text.len() as u64);
    let metadata = score.metadata.iter().flatten().map(of_field).sum::<u64>();
    let history = score.history.iter().map(of_json).sum::<u64>();
    of_value(&score.value)
        + text(&score.answer)
        + text(&score.explanation)
        + text(&score.reason)
        + metadata
        + history
}

/// The memory of what happened while a sample was scored, about.
pub(super) fn of_events(events: &SampleEvents) -> u64 {
    let message = |message: &Message| (size_of::<Message>() + message.content.len()) as u64;
    let output = |output: &ModelOutput| {
        let choices = output.choices.iter().map(|choice| message(&choice.message)).sum::<u64>();
        let metadata = output.metadata.iter().flatten().map(of_field).sum::<u64>();
        choices + output.completion.len() as u64 + metadata
    };
    let event = |event: &Event| {
        size_of::<Event>() as u64
            + match &event.kind {
                EventKind::ModelCall(call) => {
                    NODE + match &call.answer {
                        Ok(answer) => output(answer),
                        Err(problem) => problem.len() as u64,
                    }
                }
                _ => 0,
            }
    };
    events.messages.iter().map(message).sum::<u64>() + events.events.iter().map(event).sum::<u64>()
}

fn of_value(value: &Value) -> u64 {
    let leaf = |leaf: &Leaf| 64 + if let Leaf::Str(text) = leaf { text.len() as u64 } else { 0 };
    match value {
        Value::List(items) => items.iter().map(leaf).sum(),
        Value::Map(map) => map.iter().map(|(key, value)| key.len() as u64 + leaf(value)).sum(),
        Value::Str(text) => text.len() as u64,
        _ => 0,
    }
}

/// The memory of a field of a JSON object, about.
fn of_field((key, value): (&String, &Json)) -> u64 {
    key.len() as u64 + of_json(value)
}

fn of_json(value: &Json) -> u64 {
    NODE + match value {
        Json::String(text) => text.len() as u64,
        Json::Array(items) => items.iter().map(of_json).sum(),
        Json::Object(map) => map.iter().map(of_field).sum(),
        _ => 0,
    }
}

// Work on all samples of a log at once, which ends with the first one that fails.

/// Calls `each` for every index, on all threads of the current pool, with a tool for each thread.
///
/// # Errors
/// That of the first index that fails, whichever thread gets there first. Later ones are skipped: a log may
/// have millions of samples that cannot be read, and each error takes more memory than the sample.
pub(super) fn for_all<T: Send, I>(
    count: usize,
    tool: impl Fn() -> I + Sync + Send,
    each: impl Fn(&mut I, usize) -> Result<T> + Sync + Send,
) -> Result<Vec<T>> {
    let first_failed = AtomicUsize::new(usize::MAX);
    let done: Vec<Option<Result<T>>> = (0..count)
        .into_par_iter()
        .map_init(tool, |tool, at| {
            if at > first_failed.load(Ordering::Relaxed) {
                return None;
            }
            let done = each(tool, at);
            if done.is_err() {
                first_failed.fetch_min(at, Ordering::Relaxed);
            }
            Some(done)
        })
        .collect();
    done.into_iter().flatten().collect()
}

#[cfg(test)]
mod memory_budget_tests {
    use super::*;

    #[test]
    fn values_are_counted_outside_of_strings() {
        for (json, count) in [
            ("1", 1),
            ("[]", 2),
            ("[1,2]", 3),
            (r#"{"a":1,"b":[{}]}"#, 5),
            (r#"["[,{\",[","\\",",]"]"#, 4),
            (r#"["unfinished,\"#, 2),
        ] {
            assert_eq!(values_in(json.as_bytes()), count, "{json}");
        }
    }

    #[test]
    fn a_budget_is_shared_and_never_passed() {
        let memory = MemoryBudget::new(100);
        memory.take(60).unwrap();
        assert!(matches!(memory.take(41).unwrap_err().kind(), LogErrorKind::TooMuchMemory { limit: 100 }));
        memory.take(40).unwrap();
        memory.give_back(100);
        memory.take(100).unwrap();
    }

    #[test]
    fn a_tree_of_tiny_values_is_refused_before_it_is_built() {
        let memory = MemoryBudget::new(64 << 20);
        let lists = format!("[{}[]]", "[],".repeat(1 << 20));
        assert!(memory.check_tree(lists.as_bytes()).is_err());
        // A string of the same length is cheap.
        memory.check_tree(format!("[\"{}\"]", "[],".repeat(1 << 20)).as_bytes()).unwrap();
        memory.take(64 << 20).unwrap();
    }
}

#[cfg(test)]
mod parallel_tests {
    use super::super::error::LogErrorKind;
    use super::*;

    #[test]
    fn the_first_error_counts_and_ends_the_rest() {
        assert_eq!(for_all(5, || (), |(), at| Ok(at * at)).unwrap(), [0, 1, 4, 9, 16]);
        for _ in 0..20 {
            let tried = AtomicUsize::new(0);
            let failed = for_all(
                100_000,
                || (),
                |(), at| {
                    tried.fetch_add(1, Ordering::Relaxed);
                    match at {
                        0..7 => Ok(()),
                        _ => Err(LogErrorKind::Damaged(format!("{at}")).into()),
                    }
                },
            );
            assert!(matches!(failed.unwrap_err().kind(), LogErrorKind::Damaged(at) if at == "7"));
            // Other threads may be ahead, each by what it fails at first.
            assert!(tried.into_inner() < 10_000);
        }
    }
}
