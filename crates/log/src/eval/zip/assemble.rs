//! A zip file put together from members, old and new.

use std::io::Write;

use super::directory::DirectoryRecord;
use super::encoder::Member;
use super::format::put_end;
use crate::eval::error::{LogErrorKind, Result};

/// Writes members one behind the other, and at last their directory.
#[derive(Debug)]
pub(in crate::eval) struct Assembler<W> {
    out: W,
    /// Where the next member goes.
    at: u64,
    listed: Vec<u8>,
    count: u64,
}

impl<W: Write> Assembler<W> {
    /// Appends to what is in `out` already, which ends at offset `at`.
    pub(in crate::eval) fn new(out: W, at: u64) -> Self {
        Assembler { out, at, listed: Vec::new(), count: 0 }
    }

    /// Lists a member that is there already, as the old directory did.
    pub(in crate::eval) fn keep(&mut self, record: &DirectoryRecord) {
        self.listed.extend_from_slice(&record.bytes);
        self.count += 1;
    }

    /// Appends a member.
    pub(in crate::eval) fn add(&mut self, mut member: Member) -> Result<()> {
        member.entry.offset = self.at;
        self.out.write_all(&member.bytes).map_err(LogErrorKind::Write)?;
        self.at += member.len() as u64;
        member.entry.put_central(&member.name, &mut self.listed);
        self.count += 1;
        Ok(())
    }

    /// Ends the file with the directory.
    pub(in crate::eval) fn finish(mut self) -> Result<()> {
        let directory = put_end(self.listed, self.count, self.at);
        Ok(self.out.write_all(&directory).map_err(LogErrorKind::Write)?)
    }
}
