//! The bytes of a table: a file, or what was decompressed or converted.

use std::fs::{File, Metadata};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use errorbar_files::open_error;

/// Bytes that can be read from any offset, whatever they came from.
#[derive(Debug)]
pub struct InputBytes {
    source: Source,
    /// The position, which is also that of the file.
    at: u64,
    /// Bytes before this offset are no part of the table: they are read as carriage returns, but for line feeds. So
    /// they are blank lines to every reader, and offsets and numbers of lines are those of the file.
    blank: u64,
    /// Whether they were decompressed, so that there may be any number of them.
    is_expanded: bool,
}

#[derive(Debug)]
enum Source {
    File(File, FileOrigin),
    Memory(Arc<Vec<u8>>),
}

#[derive(Clone, Debug)]
enum FileOrigin {
    Path(PathBuf),
    /// A temporary file without a name.
    Spool,
}

/// What is spooled beyond this goes to a temporary file.
const MEMORY_BYTES: usize = 64 << 20;

impl InputBytes {
    /// Opens a file.
    ///
    /// # Errors
    /// Those of opening it.
    pub fn open(path: &Path) -> io::Result<Self> {
        let file = File::open(path).map_err(|error| open_error(path, error))?;
        Ok(InputBytes::new(Source::File(file, FileOrigin::Path(path.to_owned()))))
    }

    /// An open file that has no path, at its start.
    pub fn from_file(file: File) -> Self {
        InputBytes::new(Source::File(file, FileOrigin::Spool))
    }

    /// Bytes in memory.
    pub fn from_memory(bytes: Vec<u8>) -> Self {
        InputBytes::new(Source::Memory(Arc::new(bytes)))
    }

    /// All bytes of a reader: in memory if there are few, else in a temporary file. None if there are more than
    /// `limit`.
    ///
    /// # Errors
    /// Those of reading, and of writing the temporary file.
    pub fn spool(mut reader: impl Read, limit: u64) -> io::Result<Option<Self>> {
        let mut bytes = Vec::new();
        let in_memory = limit.min(MEMORY_BYTES as u64);
        (&mut reader).take(in_memory.saturating_add(1)).read_to_end(&mut bytes)?;
        if bytes.len() as u64 <= in_memory {
            return Ok(Some(InputBytes::from_memory(bytes)));
        }
        if bytes.len() as u64 > limit {
            return Ok(None);
        }
        let mut file = tempfile::tempfile()?;
        file.write_all(&bytes)?;
        let left = limit.saturating_sub(bytes.len() as u64);
        drop(bytes);
        if io::copy(&mut reader.take(left.saturating_add(1)), &mut file)? > left {
            return Ok(None);
        }
        file.rewind()?;
        Ok(Some(InputBytes::from_file(file)))
    }

    fn new(source: Source) -> Self {
        InputBytes { source, at: 0, blank: 0, is_expanded: false }
    }

    /// The same bytes, of which those before an offset are no part of the table.
    #[must_use]
    pub fn blank_before(mut self, offset: u64) -> Self {
        self.blank = offset;
        self
    }

    /// The same bytes, which were decompressed.
    #[must_use]
    pub fn expanded(mut self) -> Self {
        self.is_expanded = true;
        self
    }

    /// Whether they were decompressed.
    pub fn is_expanded(&self) -> bool {
        self.is_expanded
    }

    /// The number of bytes; none of a pipe.
    pub fn size(&self) -> Option<u64> {
        match &self.source {
            Source::File(file, _) => file.metadata().ok().filter(Metadata::is_file).map(|found| found.len()),
            Source::Memory(bytes) => Some(bytes.len() as u64),
        }
    }

    /// The same bytes with a position of their own, at the start; only those of a temporary file share theirs.
    ///
    /// # Errors
    /// Those of opening the file again.
    pub fn reopen(&self) -> io::Result<Self> {
        let source = match &self.source {
            Source::File(_, FileOrigin::Path(path)) => {
                Source::File(File::open(path)?, FileOrigin::Path(path.clone()))
            }
            Source::File(file, FileOrigin::Spool) => {
                let mut file = file.try_clone()?;
                file.rewind()?;
                Source::File(file, FileOrigin::Spool)
            }
            Source::Memory(bytes) => Source::Memory(bytes.clone()),
        };
        Ok(InputBytes { source, at: 0, blank: self.blank, is_expanded: self.is_expanded })
    }

    /// Whether those that are reopened have the same position.
    pub fn shares_position(&self) -> bool {
        matches!(self.source, Source::File(_, FileOrigin::Spool))
    }

    /// Appends at most this many of the next bytes, without filling memory that is about to be written to.
    ///
    /// # Errors
    /// Those of reading.
    pub fn append_to(&mut self, bytes: &mut Vec<u8>, most: u64) -> io::Result<usize> {
        let before = bytes.len();
        let read = match &mut self.source {
            Source::File(file, _) => file.take(most).read_to_end(bytes)?,
            Source::Memory(source) => rest(source, self.at).take(most).read_to_end(bytes)?,
        };
        self.proceed(bytes.get_mut(before..).unwrap_or_default());
        Ok(read)
    }

    /// The first bytes, at most this many; the position is at the start afterwards.
    ///
    /// # Errors
    /// Those of reading.
    pub fn head(&mut self, most: u64) -> io::Result<Vec<u8>> {
        let mut head = Vec::new();
        self.rewind()?;
        self.append_to(&mut head, most)?;
        self.rewind()?;
        Ok(head)
    }

    /// Moves past bytes that were read.
    fn proceed(&mut self, read: &mut [u8]) {
        let blank = usize::try_from(self.blank.saturating_sub(self.at)).unwrap_or(usize::MAX);
        read.iter_mut().take(blank).filter(|byte| **byte != b'\n').for_each(|byte| *byte = b'\r');
        self.at += read.len() as u64;
    }
}

fn rest(bytes: &[u8], at: u64) -> &[u8] {
    usize::try_from(at).ok().and_then(|at| bytes.get(at..)).unwrap_or_default()
}

impl Read for InputBytes {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = match &mut self.source {
            Source::File(file, _) => file.read(buffer)?,
            Source::Memory(bytes) => rest(bytes, self.at).read(buffer)?,
        };
        self.proceed(buffer.get_mut(..read).unwrap_or_default());
        Ok(read)
    }
}

impl Seek for InputBytes {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.at = match (&mut self.source, to) {
            (Source::File(file, _), to) => file.seek(to)?,
            (Source::Memory(_), SeekFrom::Start(at)) => at,
            (Source::Memory(bytes), SeekFrom::End(by)) => moved(bytes.len() as u64, by)?,
            (Source::Memory(_), SeekFrom::Current(by)) => moved(self.at, by)?,
        };
        Ok(self.at)
    }
}

fn moved(from: u64, by: i64) -> io::Result<u64> {
    from.checked_add_signed(by).ok_or_else(|| io::Error::from(io::ErrorKind::InvalidInput))
}

#[cfg(feature = "parquet")]
mod chunks {
    use std::io::{self, BufReader, Seek, SeekFrom};

    use bytes::Bytes;
    use parquet::errors::{ParquetError, Result};
    use parquet::file::reader::{ChunkReader, Length};

    use super::{InputBytes, Source};

    impl InputBytes {
        /// The same bytes from this offset, with a position that a file shares.
        fn share(&self, start: u64) -> io::Result<Self> {
            let mut shared = InputBytes::new(match &self.source {
                Source::File(file, origin) => Source::File(file.try_clone()?, origin.clone()),
                Source::Memory(bytes) => Source::Memory(bytes.clone()),
            });
            shared.seek(SeekFrom::Start(start))?;
            Ok(shared)
        }
    }

    impl Length for InputBytes {
        fn len(&self) -> u64 {
            self.size().unwrap_or(0)
        }
    }

    impl ChunkReader for InputBytes {
        type T = BufReader<InputBytes>;

        fn get_read(&self, start: u64) -> Result<Self::T> {
            Ok(BufReader::new(self.share(start)?))
        }

        fn get_bytes(&self, start: u64, length: usize) -> Result<Bytes> {
            let mut buffer = Vec::with_capacity(length.min(1 << 20));
            let read = self.share(start)?.append_to(&mut buffer, length as u64)?;
            match read == length {
                true => Ok(buffer.into()),
                false => Err(ParquetError::EOF(format!("{read} of {length} bytes at {start}"))),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The same bytes in memory and in a file, spooled.
    fn sources(content: &[u8]) -> [InputBytes; 2] {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(content).unwrap();
        file.rewind().unwrap();
        [InputBytes::from_memory(content.to_vec()), InputBytes::from_file(file)]
    }

    #[test]
    fn memory_and_files_read_the_same() {
        for mut bytes in sources(b"0123456789") {
            let mut text = String::new();
            assert_eq!(bytes.seek(SeekFrom::End(-4)).unwrap(), 6);
            bytes.read_to_string(&mut text).unwrap();
            assert_eq!(text, "6789");
            assert_eq!(bytes.seek(SeekFrom::Current(-2)).unwrap(), 8);
            assert!(bytes.seek(SeekFrom::Current(-9)).is_err());
            let mut again = bytes.reopen().unwrap();
            let mut few = b"x".to_vec();
            assert_eq!(again.append_to(&mut few, 3).unwrap(), 3);
            assert_eq!((few.as_slice(), again.size()), (b"x012".as_slice(), Some(10)));
            assert_eq!(again.head(2).unwrap(), b"01");
        }
    }

    #[test]
    fn what_comes_before_the_table_is_blank() {
        for bytes in sources(b"# a\nb,c\nid\n") {
            let mut bytes = bytes.blank_before(8);
            for most in [1, 3, 100] {
                let mut found = Vec::new();
                bytes.rewind().unwrap();
                while bytes.append_to(&mut found, most).unwrap() > 0 {}
                assert_eq!(found, b"\r\r\r\n\r\r\r\nid\n");
            }
            let mut found = Vec::new();
            bytes.reopen().unwrap().read_to_end(&mut found).unwrap();
            assert_eq!(found, b"\r\r\r\n\r\r\r\nid\n");
        }
    }

    #[test]
    fn a_spool_has_a_limit() {
        assert!(InputBytes::spool(io::repeat(1), 1000).unwrap().is_none());
        let mut bytes = InputBytes::spool(io::repeat(1).take(1000), 1000).unwrap().unwrap();
        assert_eq!((bytes.size(), bytes.head(5000).unwrap().len()), (Some(1000), 1000));
        let size = MEMORY_BYTES as u64 + 5;
        assert!(InputBytes::spool(io::repeat(1), size).unwrap().is_none());
        let bytes = InputBytes::spool(io::repeat(1).take(size), size).unwrap().unwrap();
        assert!(matches!(bytes.source, Source::File(..)) && bytes.size() == Some(size));
    }
}
