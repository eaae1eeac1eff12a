//! The bytes of a table: a file, or what was decompressed or converted, in memory.

use std::fs::{File, Metadata};
use std::io::{self, Cursor, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Bytes that can be read from any offset, whatever they came from.
#[derive(Debug)]
pub struct InputBytes(Source);

#[derive(Debug)]
enum Source {
    /// A file, and its path where it has one.
    File(File, Option<PathBuf>),
    Memory(Cursor<Arc<[u8]>>),
}

impl InputBytes {
    /// Opens a file.
    ///
    /// # Errors
    /// Those of opening it.
    pub fn open(path: &Path) -> io::Result<Self> {
        File::open(path).map(|file| InputBytes(Source::File(file, Some(path.to_owned()))))
    }

    /// An open file that has no path.
    pub fn from_file(file: File) -> Self {
        InputBytes(Source::File(file, None))
    }

    /// Bytes in memory.
    pub fn from_memory(bytes: impl Into<Arc<[u8]>>) -> Self {
        InputBytes(Source::Memory(Cursor::new(bytes.into())))
    }

    /// All of the bytes, in memory.
    ///
    /// # Errors
    /// Those of reading.
    pub fn spool(mut self) -> io::Result<Self> {
        let mut bytes = Vec::new();
        self.read_to_end(&mut bytes)?;
        Ok(InputBytes::from_memory(bytes))
    }

    /// The number of bytes; none of a pipe.
    pub fn size(&self) -> Option<u64> {
        match &self.0 {
            Source::File(file, _) => file.metadata().ok().filter(Metadata::is_file).map(|found| found.len()),
            Source::Memory(bytes) => Some(bytes.get_ref().len() as u64),
        }
    }

    /// The same bytes with a position of their own, at the start.
    ///
    /// # Errors
    /// Those of opening the file again. A file without a path cannot be opened again.
    pub fn reopen(&self) -> io::Result<Self> {
        match &self.0 {
            Source::File(_, Some(path)) => InputBytes::open(path),
            Source::File(_, None) => Err(io::Error::from(io::ErrorKind::Unsupported)),
            Source::Memory(bytes) => Ok(InputBytes::from_memory(bytes.get_ref().clone())),
        }
    }
}

impl Read for InputBytes {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match &mut self.0 {
            Source::File(file, _) => file.read(buffer),
            Source::Memory(bytes) => bytes.read(buffer),
        }
    }
}

impl InputBytes {
    /// Appends at most this many of the next bytes, without filling memory that is about to be written to.
    ///
    /// # Errors
    /// Those of reading.
    pub fn append_to(&mut self, bytes: &mut Vec<u8>, most: u64) -> io::Result<usize> {
        match &mut self.0 {
            Source::File(file, _) => file.take(most).read_to_end(bytes),
            Source::Memory(source) => source.take(most).read_to_end(bytes),
        }
    }
}

impl Seek for InputBytes {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        match &mut self.0 {
            Source::File(file, _) => file.seek(to),
            Source::Memory(bytes) => bytes.seek(to),
        }
    }
}

#[cfg(feature = "parquet")]
mod chunks {
    use std::io::{BufReader, Seek, SeekFrom};

    use bytes::Bytes;
    use parquet::errors::{ParquetError, Result};
    use parquet::file::reader::{ChunkReader, Length};

    use super::InputBytes;

    impl Length for InputBytes {
        fn len(&self) -> u64 {
            self.size().unwrap_or(0)
        }
    }

    impl ChunkReader for InputBytes {
        type T = BufReader<InputBytes>;

        fn get_read(&self, start: u64) -> Result<Self::T> {
            let mut bytes = self.share()?;
            bytes.seek(SeekFrom::Start(start))?;
            Ok(BufReader::new(bytes))
        }

        fn get_bytes(&self, start: u64, length: usize) -> Result<Bytes> {
            let mut bytes = self.share()?;
            bytes.seek(SeekFrom::Start(start))?;
            let mut buffer = Vec::with_capacity(length.min(1 << 20));
            let read = bytes.append_to(&mut buffer, length as u64)?;
            match read == length {
                true => Ok(buffer.into()),
                false => Err(ParquetError::EOF(format!("{read} of {length} bytes at {start}"))),
            }
        }
    }
}

impl InputBytes {
    /// The same bytes with the same position, which for a file they share.
    #[cfg(feature = "parquet")]
    fn share(&self) -> io::Result<Self> {
        Ok(InputBytes(match &self.0 {
            Source::File(file, path) => Source::File(file.try_clone()?, path.clone()),
            Source::Memory(bytes) => Source::Memory(bytes.clone()),
        }))
    }
}
