//! Files of text that may be compressed, read as a stream.

use std::fs::File;
use std::io::{self, Cursor, Read};
use std::path::Path;

use crate::input::Compression;

/// Reading in larger pieces than the default measurably helps on long files.
pub const BUFFER_BYTES: usize = 1 << 18;

/// A file, decompressed while it is read if it is gzip or zstd. Its first bytes decide that, not its name.
///
/// What comes out is bounded: a few kilobytes can claim to be terabytes.
pub struct DecompressedFile {
    source: Box<dyn Read>,
    read: u64,
    /// How much may come out, if it is compressed.
    limit: Option<u64>,
}

impl DecompressedFile {
    /// Opens a file.
    ///
    /// # Errors
    /// Those of opening and of reading its first bytes.
    pub fn open(path: &Path) -> io::Result<Self> {
        /// As many bytes as tell compressed files.
        const HEAD: u64 = 4;
        let mut file = File::open(path)?;
        let mut head = Vec::new();
        (&mut file).take(HEAD).read_to_end(&mut head)?;
        let size = file.metadata().map_or(0, |metadata| metadata.len());
        let compression = Compression::of(&head);
        let bytes = Cursor::new(head).chain(file);
        let source = match compression {
            Some(compression) => compression.reader(bytes)?,
            None => Box::new(bytes),
        };
        Ok(DecompressedFile { source, read: 0, limit: compression.map(|_| Compression::limit(size)) })
    }
}

impl Read for DecompressedFile {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let Some(limit) = self.limit else { return self.source.read(buffer) };
        let count = self
            .source
            .read(buffer)
            .map_err(|error| io::Error::new(error.kind(), format!("it cannot be decompressed: {error}")))?;
        self.read = self.read.saturating_add(count as u64);
        match self.read > limit {
            true => {
                let problem = format!(
                    "it decompresses to more than {} MiB, far more than a file of its size should",
                    limit >> 20
                );
                Err(io::Error::new(io::ErrorKind::InvalidData, problem))
            }
            false => Ok(count),
        }
    }
}

impl std::fmt::Debug for DecompressedFile {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("DecompressedFile").field("read", &self.read).field("limit", &self.limit).finish()
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    fn open(bytes: &[u8]) -> DecompressedFile {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), bytes).unwrap();
        DecompressedFile::open(file.path()).unwrap()
    }

    fn read(bytes: &[u8]) -> io::Result<Vec<u8>> {
        let mut all = Vec::new();
        open(bytes).read_to_end(&mut all).map(|_| all)
    }

    fn gzip(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    #[test]
    fn the_first_bytes_decide() {
        let text = b"a,b\n1,2\n".repeat(100);
        assert_eq!(read(&text).unwrap(), text);
        assert_eq!(read(&gzip(&text)).unwrap(), text);
        let members = [gzip(&text), gzip(b"end")].concat();
        assert_eq!(read(&members).unwrap(), [&text[..], b"end"].concat(), "two members");
        assert_eq!(read(&zstd::encode_all(&text[..], 3).unwrap()).unwrap(), text);
        assert_eq!(read(b"").unwrap(), b"");
        let (cut, damaged) = (gzip(&text), b"\x1f\x8b\x08 no gzip at all");
        for bad in [&cut[..cut.len() - 9], damaged] {
            let error = read(bad).unwrap_err();
            assert!(error.to_string().starts_with("it cannot be decompressed: "), "{error}");
        }
    }

    #[test]
    fn what_comes_out_is_bounded() {
        let limit = Compression::limit(0);
        let bomb = zstd::encode_all(io::repeat(b' ').take(limit + (1 << 20)), 1).unwrap();
        assert!(bomb.len() < 1 << 20, "{}", bomb.len());
        let error = io::copy(&mut open(&bomb), &mut io::sink()).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::InvalidData);
        let problem = "it decompresses to more than 1024 MiB, far more than a file of its size should";
        assert_eq!(error.to_string(), problem);
    }
}
