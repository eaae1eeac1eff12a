//! Reading a file at offsets, from many threads, without a mapping: a log that shrinks while it is read
//! must give an error, not a signal.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use std::time::SystemTime;

use errorbar_files::{identity, is_named};

/// A file that is read at offsets.
#[derive(Debug)]
pub(in crate::eval) struct LogFile {
    file: File,
    len: u64,
    /// When it was last changed before it was opened.
    changed: Option<SystemTime>,
}

impl LogFile {
    pub(in crate::eval) fn new(file: File) -> io::Result<Self> {
        let metadata = file.metadata()?;
        Ok(LogFile { file, len: metadata.len(), changed: metadata.modified().ok() })
    }

    /// The file itself.
    pub(in crate::eval) fn file(&self) -> &File {
        &self.file
    }

    /// How long the file was when it was opened, and when it was last changed before.
    pub(in crate::eval) fn stamp(&self) -> (u64, Option<SystemTime>) {
        (self.len, self.changed)
    }

    /// Looks again how long the file is.
    pub(in crate::eval) fn refresh(&mut self) -> io::Result<()> {
        let metadata = self.file.metadata()?;
        (self.len, self.changed) = (metadata.len(), metadata.modified().ok());
        Ok(())
    }

    /// Whether another file is the one that was opened, and was not changed since.
    pub(in crate::eval) fn is_unchanged(&self, other: &File) -> io::Result<bool> {
        let metadata = other.metadata()?;
        let is_same = identity(&self.file.metadata()?) == identity(&metadata);
        Ok(is_same && metadata.len() == self.len && metadata.modified().ok() == self.changed)
    }

    /// Whether this is the file that has this name now.
    pub(in crate::eval) fn has_name(&self, path: &Path) -> io::Result<bool> {
        is_named(&self.file, path)
    }

    /// The length when the file was opened; what a writer appends later is not looked at.
    pub(in crate::eval) fn len(&self) -> u64 {
        self.len
    }

    /// Reads exactly this number of bytes at an offset. Never allocates more than the file holds.
    pub(in crate::eval) fn read(&self, offset: u64, len: u64, into: &mut Vec<u8>) -> io::Result<()> {
        self.read_up_to(offset, len, into)?;
        if into.len() as u64 == len { Ok(()) } else { Err(io::ErrorKind::UnexpectedEof.into()) }
    }

    /// Reads up to this number of bytes at an offset, fewer only at the end of the file, which may come earlier than
    /// it did: a writer cuts off the directory to append a member.
    pub(in crate::eval) fn read_up_to(&self, offset: u64, len: u64, into: &mut Vec<u8>) -> io::Result<()> {
        #[cfg(test)]
        tests::before_read(offset);
        let len = len.min(self.len.saturating_sub(offset));
        into.clear();
        into.resize(usize::try_from(len).map_err(|_| io::ErrorKind::OutOfMemory)?, 0);
        let mut filled = 0;
        while let Some(rest) = into.get_mut(filled..).filter(|rest| !rest.is_empty()) {
            match read_at(&self.file, rest, offset + filled as u64) {
                Ok(0) => break,
                Ok(read) => filled += read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        into.truncate(filled);
        Ok(())
    }
}

/// A part of a file, read from its start to its end.
#[derive(Debug)]
pub(in crate::eval) struct FileSection<'a> {
    source: &'a LogFile,
    at: u64,
    end: u64,
}

impl<'a> FileSection<'a> {
    pub(in crate::eval) fn new(source: &'a LogFile, at: u64, len: u64) -> Self {
        FileSection { source, at, end: at.saturating_add(len) }
    }

    /// Everything.
    pub(in crate::eval) fn whole(source: &'a LogFile) -> Self {
        FileSection { source, at: 0, end: source.len }
    }
}

impl Read for FileSection<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let left = usize::try_from(self.end.saturating_sub(self.at)).unwrap_or(usize::MAX);
        let wanted = buffer.len().min(left);
        let read = read_at(&self.source.file, buffer.get_mut(..wanted).unwrap_or_default(), self.at)?;
        self.at += read as u64;
        if read == 0 && wanted > 0 { Err(io::ErrorKind::UnexpectedEof.into()) } else { Ok(read) }
    }
}

#[cfg(unix)]
fn read_at(file: &File, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
    std::os::unix::fs::FileExt::read_at(file, buffer, offset)
}

#[cfg(windows)]
fn read_at(file: &File, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
    std::os::windows::fs::FileExt::seek_read(file, buffer, offset)
}

#[cfg(test)]
pub(in crate::eval) mod tests {
    use std::cell::RefCell;

    type Change = Box<dyn FnOnce()>;

    thread_local! {
        /// What another process does before the first read behind the start of a file.
        static CHANGE: RefCell<Option<Change>> = const { RefCell::new(None) };
    }

    pub(in crate::eval) fn change_before_read(change: impl FnOnce() + 'static) {
        CHANGE.set(Some(Box::new(change)));
    }

    pub(super) fn before_read(offset: u64) {
        let change = if offset > 0 { CHANGE.take() } else { None };
        change.into_iter().for_each(|change| change());
    }
}
