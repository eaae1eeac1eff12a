//! Reading a file at a place, from many threads, without a mapping: a log that shrinks while it is read
//! must give an error, not a signal.

use std::fs::File;
use std::io;

/// A file that is read by place.
#[derive(Debug)]
pub(in crate::eval) struct Source {
    file: File,
    len: u64,
}

impl Source {
    pub(in crate::eval) fn new(file: File) -> io::Result<Self> {
        let len = file.metadata()?.len();
        Ok(Source { file, len })
    }

    /// The file itself.
    pub(in crate::eval) fn into_file(self) -> File {
        self.file
    }

    /// The length when the file was opened; what a writer appends later is not looked at.
    pub(in crate::eval) fn len(&self) -> u64 {
        self.len
    }

    /// Reads exactly so many bytes at a place. Never asks for memory beyond what the file holds.
    pub(in crate::eval) fn read(&self, offset: u64, len: u64, into: &mut Vec<u8>) -> io::Result<()> {
        self.read_up_to(offset, len, into)?;
        if into.len() as u64 == len { Ok(()) } else { Err(io::ErrorKind::UnexpectedEof.into()) }
    }

    /// Reads up to so many bytes at a place, fewer only at the end of the file, which may come earlier than
    /// it did: a writer cuts off the directory to append a member.
    pub(in crate::eval) fn read_up_to(&self, offset: u64, len: u64, into: &mut Vec<u8>) -> io::Result<()> {
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

#[cfg(unix)]
fn read_at(file: &File, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
    std::os::unix::fs::FileExt::read_at(file, buffer, offset)
}

#[cfg(windows)]
fn read_at(file: &File, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
    std::os::windows::fs::FileExt::seek_read(file, buffer, offset)
}
