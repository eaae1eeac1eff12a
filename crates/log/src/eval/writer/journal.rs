//! The summaries of samples on their way into the log.
//!
//! They go into the file in pieces and leave the memory; the member with all of them is made at the end by
//! reading the pieces back, so that a long run does not hold a hundred thousand summaries.

use std::collections::{HashMap, HashSet};

use super::super::error::{LogErrorKind, Result};
use super::super::limits::LogLimits;
use super::super::members::journal_summaries;
use super::super::summary::SummaryList;
use super::super::zip::decompress::Decompressor;
use super::super::zip::directory::Members;
use super::super::zip::source::LogFile;
use super::super::zip::{Encoder, Member};

/// A piece is written with a directory from this many summaries on.
const DUE: usize = 10;
/// A piece is written in any case from this many bytes on.
const LARGE: usize = 1 << 20;
/// Summaries are JSON on one line each, so a piece can be taken apart without parsing.
const BETWEEN: &[u8] = b",\n";

/// The summaries of a run.
#[derive(Debug, Default)]
pub(super) struct Journal {
    /// Summaries that are not in the file.
    pending: Vec<u8>,
    pending_count: usize,
    /// How many pieces are in the file.
    pieces: usize,
    /// How many summaries there are, and which of them belongs to a member.
    count: u32,
    numbers: HashMap<String, u32>,
    /// Summaries of samples that were run again.
    superseded: HashSet<u32>,
}

impl Journal {
    pub(super) fn push(&mut self, member: &str, summary: &[u8]) {
        if self.pending_count > 0 {
            self.pending.extend_from_slice(BETWEEN);
        }
        self.pending.extend_from_slice(summary);
        self.pending_count += 1;
        self.numbers.insert(member.to_owned(), self.count);
        self.count += 1;
    }

    /// A member was written again: its summary no longer counts.
    pub(super) fn supersede(&mut self, member: &str) {
        self.superseded.extend(self.numbers.remove(member));
    }

    /// Whether a piece is worth writing.
    pub(super) fn is_due(&self) -> bool {
        self.pending_count >= DUE
    }

    /// Whether a piece must be written.
    pub(super) fn is_large(&self) -> bool {
        self.pending.len() >= LARGE
    }

    /// What is pending as a member, if there is something.
    pub(super) fn encode(&self, encoder: &mut Encoder) -> Result<Option<Member>> {
        if self.pending_count == 0 {
            return Ok(None);
        }
        let json = [b"[", self.pending.as_slice(), b"]"].concat();
        encoder.encode(&journal_summaries(self.pieces + 1), &json).map(Some)
    }

    /// What was pending is in the file.
    pub(super) fn written(&mut self) {
        self.pending.clear();
        self.pending_count = 0;
        self.pieces += 1;
    }

    /// All summaries that count, as one list.
    pub(super) fn all(&self, source: &LogFile, members: &Members, encoder: &mut Encoder) -> Result<Member> {
        let (mut list, mut number) = (SummaryList::new(encoder), 0);
        let mut add = |summaries: &[u8]| -> Result<()> {
            // No JSON on one line holds a line end, so every one of them stands between two summaries.
            for summary in summaries.split(|byte| *byte == b'\n').filter(|summary| !summary.is_empty()) {
                if !self.superseded.contains(&number) {
                    list.push(summary.strip_suffix(b",").unwrap_or(summary))?;
                }
                number += 1;
            }
            Ok(())
        };
        let mut decompressor = Decompressor::new(LogLimits::default());
        for piece in 1..=self.pieces {
            let name = journal_summaries(piece);
            let missing = || LogErrorKind::damaged("a journal that was written is missing");
            let entry = members.get(&name).ok_or_else(missing)?;
            let json = decompressor.decompress(source, &name, entry)?;
            let inside = json.strip_prefix(b"[").and_then(|json| json.strip_suffix(b"]"));
            add(inside.ok_or_else(missing)?)?;
        }
        add(&self.pending)?;
        list.finish()
    }
}
