//! Files of text that may be compressed, read as a stream.

use std::fs::File;
use std::io::{self, Chain, Cursor, Read};
use std::path::Path;

use flate2::read::MultiGzDecoder;
use zstd::stream::read::Decoder as ZstdDecoder;

/// A file, decompressed while it is read if it is gzip or zstd. Its first bytes decide that, not its name.
///
/// What comes out is bounded: a few kilobytes can claim to be terabytes.
pub struct DecompressedFile {
    source: Source,
    read: u64,
    limit: u64,
}

type Bytes = Chain<Cursor<Vec<u8>>, File>;

enum Source {
    Plain(Bytes),
    Gzip(Box<MultiGzDecoder<Bytes>>),
    Zstd(Box<ZstdDecoder<'static, io::BufReader<Bytes>>>),
}

const GZIP: &[u8] = &[0x1f, 0x8b];
const ZSTD: &[u8] = &[0x28, 0xb5, 0x2f, 0xfd];

/// What a small file may decompress to, and how many times its size a large one may.
const LEAST_DECOMPRESSED: u64 = 256 << 20;
const DECOMPRESSED_PER_BYTE: u64 = 200;

impl DecompressedFile {
    /// Opens a file.
    ///
    /// # Errors
    /// Those of opening and of reading its first bytes.
    pub fn open(path: &Path) -> io::Result<Self> {
        let mut file = File::open(path)?;
        let mut start = Vec::new();
        (&mut file).take(ZSTD.len() as u64).read_to_end(&mut start)?;
        let size = file.metadata().map_or(0, |metadata| metadata.len());
        let (is_gzip, is_zstd) = (start.starts_with(GZIP), start.starts_with(ZSTD));
        let bytes = Cursor::new(start).chain(file);
        let (source, limit) = match (is_gzip, is_zstd) {
            (true, _) => (Source::Gzip(Box::new(MultiGzDecoder::new(bytes))), true),
            (_, true) => (Source::Zstd(Box::new(ZstdDecoder::new(bytes)?)), true),
            _ => (Source::Plain(bytes), false),
        };
        let most = size.saturating_mul(DECOMPRESSED_PER_BYTE).max(LEAST_DECOMPRESSED);
        Ok(DecompressedFile { source, read: 0, limit: if limit { most } else { u64::MAX } })
    }

    /// The endings of compressed files, which stand behind that of the format.
    pub const ENDINGS: [&'static str; 3] = ["gz", "zst", "zstd"];
}

impl Read for DecompressedFile {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let decompressed =
            |error: io::Error| io::Error::new(error.kind(), format!("it cannot be decompressed: {error}"));
        let count = match &mut self.source {
            Source::Plain(bytes) => bytes.read(buffer)?,
            Source::Gzip(bytes) => bytes.read(buffer).map_err(decompressed)?,
            Source::Zstd(bytes) => bytes.read(buffer).map_err(decompressed)?,
        };
        self.read = self.read.saturating_add(count as u64);
        if self.read > self.limit {
            let problem = format!(
                "it decompresses to more than {} MiB, far more than a file of its size should",
                self.limit >> 20
            );
            return Err(io::Error::new(io::ErrorKind::InvalidData, problem));
        }
        Ok(count)
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

    fn read(bytes: &[u8]) -> io::Result<Vec<u8>> {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), bytes).unwrap();
        let mut all = Vec::new();
        DecompressedFile::open(file.path())?.read_to_end(&mut all).map(|_| all)
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
        assert_eq!(
            read(&[gzip(&text), gzip(b"end")].concat()).unwrap(),
            [&text[..], b"end"].concat(),
            "two members"
        );
        assert_eq!(read(&zstd::encode_all(&text[..], 3).unwrap()).unwrap(), text);
        assert_eq!(read(b"").unwrap(), b"");
        let (cut, damaged) = (gzip(&text), [GZIP, b"\x08 no gzip at all"].concat());
        for bad in [&cut[..cut.len() - 9], &damaged] {
            let error = read(bad).unwrap_err();
            assert!(error.to_string().starts_with("it cannot be decompressed: "), "{error}");
        }
    }

    #[test]
    fn what_comes_out_is_bounded() {
        let bomb = zstd::encode_all(io::repeat(b' ').take(LEAST_DECOMPRESSED + (1 << 20)), 1).unwrap();
        assert!(bomb.len() < 1 << 20, "{}", bomb.len());
        let error = read(&bomb).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::InvalidData);
        assert_eq!(
            error.to_string(),
            "it decompresses to more than 256 MiB, far more than a file of its size should"
        );
    }
}
