//! A log put together anew as another zip: its samples as they come out of a change, and all that goes with them.

use std::collections::HashSet;
use std::io::Write;
use std::sync::{Mutex, PoisonError};

use rayon::prelude::*;

use super::container::{
    HEADER, LogLayout, REDUCTIONS, START, SUMMARIES, SampleName, is_derived, is_journal_summaries,
    sample_name,
};
use super::error::{LogError, LogErrorKind, Result};
use super::json;
use super::reader::{EvalLog, SampleReader};
use super::sample::{SampleFields, SummaryList};
use super::zip::{Assembler, Encoder, Member, Members, ZSTD};

/// The number of samples for each thread that are processed at once.
const BATCH: usize = 8;

/// The records of the new log that are not those of single samples.
pub(super) struct NewRecords<'a> {
    pub(super) header: &'a [u8],
    /// Made of the samples, if there are none.
    pub(super) summaries: Option<&'a [u8]>,
    pub(super) reductions: Option<&'a [u8]>,
    /// The members whose methods of compression are kept; without them, it is zstd.
    pub(super) methods: Option<&'a Members>,
}

impl NewRecords<'_> {
    /// How a member is compressed.
    pub(super) fn method(&self, name: &str) -> u16 {
        let old = self.methods.and_then(|members| members.get(name).or(members.get(HEADER)));
        old.map_or(ZSTD, |entry| entry.method)
    }
}

/// What a thread needs to rewrite samples. Compressors are expensive to make, and are used again.
pub(super) struct SampleTools<'a> {
    pub(super) reader: SampleReader<'a>,
    pub(super) encoder: Encoder,
}

impl EvalLog {
    /// Does work on samples, some at a time on all threads, and gives what comes of each in their order.
    pub(super) fn each_rewritten<T: Send>(
        &self,
        order: &[usize],
        work: impl Fn(&mut SampleTools<'_>, usize) -> Result<T> + Sync,
        mut each: impl FnMut(usize, T) -> Result<()>,
    ) -> Result<()> {
        let free: Mutex<Vec<SampleTools<'_>>> = Mutex::default();
        let free = || free.lock().unwrap_or_else(PoisonError::into_inner);
        let rewrite = |at: usize| {
            let used = free().pop();
            let new = || -> Result<_> {
                let (reader, encoder) = (SampleReader::new(self, SampleFields::all()), Encoder::new()?);
                Ok(SampleTools { reader, encoder })
            };
            let mut tools = used.map_or_else(new, Ok)?;
            let done = work(&mut tools, at)?;
            free().push(tools);
            Ok(done)
        };
        for batch in order.chunks(BATCH * rayon::current_num_threads().max(1)) {
            let done: Vec<Result<T>> = batch.par_iter().map(|at| rewrite(*at)).collect();
            for (at, done) in batch.iter().zip(done) {
                let located =
                    |error: LogError| error.in_member(&self.container.sample_name(*at)).at(self.path());
                each(*at, done.map_err(located)?)?;
            }
        }
        Ok(())
    }

    /// Writes a zip of the samples in this order, as `encode` makes members and summaries of them, of these records, and of
    /// what else the log holds. The journal of summaries is left out: it would show samples as they were.
    pub(super) fn write_anew(
        &self,
        records: &NewRecords<'_>,
        order: &[usize],
        out: &mut impl Write,
        encode: impl Fn(&mut SampleTools<'_>, usize) -> Result<(Member, Vec<u8>)> + Sync,
    ) -> Result<()> {
        let mut encoder = Encoder::new()?;
        let mut encoded = |name: &str, json: &[u8]| encoder.encode_by(records.method(name), name, json);
        let mut zip = Assembler::new(out, 0);
        zip.add(encoded(START, &self.start_of(records.header)?)?)?;
        if let LogLayout::Zip { members, .. } = &self.container.layout {
            let is_copied = |name: &&String| {
                sample_name(name) == SampleName::No
                    && !name.ends_with('/')
                    && *name != START
                    && !is_derived(name)
                    && !is_journal_summaries(name)
            };
            for name in members.keys().filter(is_copied) {
                zip.add(encoded(name, &self.raw(name)?.unwrap_or_default())?)?;
            }
        }
        let mut for_summaries = Encoder::new()?;
        let mut summaries = SummaryList::new(&mut for_summaries);
        let mut names = HashSet::new();
        self.each_rewritten(order, encode, |_, (member, summary)| {
            if !names.insert(member.name().to_owned()) {
                let kind = LogErrorKind::damaged("two samples have one id and epoch");
                return Err(LogError::from(kind).in_member(member.name()).at(self.path()));
            }
            zip.add(member)?;
            summaries.push(&summary)
        })?;
        zip.add(match records.summaries {
            Some(json) => encoded(SUMMARIES, json)?,
            None => summaries.finish()?,
        })?;
        if let Some(json) = records.reductions {
            zip.add(encoded(REDUCTIONS, json)?)?;
        }
        zip.add(encoded(HEADER, records.header)?)?;
        zip.finish()
    }

    /// The record of the start, out of the header where there is none.
    fn start_of(&self, header: &[u8]) -> Result<Vec<u8>> {
        if let Some(json) = self.raw(START)? {
            return Ok(json);
        }
        let mut start = b"{}".to_vec();
        for field in ["version", "eval", "plan"] {
            if let Some(json) = json::value(header, field)? {
                start = json::set(&start, &[field], json)?;
            }
        }
        Ok(start)
    }
}
