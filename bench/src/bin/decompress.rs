//! The floor under `bench/log_speed.py`: decompresses every entry of a log into buffers, looks at none of it.
//!
//! What a reader of logs takes beyond this is its own doing. Each thread has one buffer and one decompressor, and
//! takes the next member when it is done; there are as many threads as rayon has for errorbar
//! (`RAYON_NUM_THREADS`). Checksums are not verified, because a floor should be low.
//!
//! usage: `decompress LOG`

use std::error::Error;
use std::fs;
use std::io::Write;
use std::sync::atomic::{AtomicUsize, Ordering};

use flate2::{Decompress, FlushDecompress};
use rawzip::{CompressionMethod, ZipArchive, ZipArchiveEntryWayfinder, ZipSliceArchive};

type Result<T> = std::result::Result<T, Box<dyn Error + Send + Sync>>;

fn main() -> Result<()> {
    let path = std::env::args_os().nth(1).ok_or("usage: decompress LOG")?;
    let archive = ZipArchive::from_slice(fs::read(path)?)?;
    let members = archive.entries().map(|entry| Ok(Packed::from(&entry?))).collect::<Result<Vec<_>>>()?;
    let next = AtomicUsize::new(0);
    let decompressed = rayon::broadcast(|_| decompress_rest(&archive, &members, &next));
    let bytes = decompressed.into_iter().sum::<Result<usize>>()?;
    let threads = rayon::current_num_threads();
    #[allow(clippy::disallowed_methods, reason = "counts alone")]
    let mut out = std::io::stdout();
    writeln!(out, "{} members, {bytes} bytes, {threads} threads", members.len())?;
    Ok(())
}

/// A member as the directory has it.
struct Packed {
    place: ZipArchiveEntryWayfinder,
    method: CompressionMethod,
    bytes: usize,
}

impl From<&rawzip::ZipFileHeaderRecord<'_>> for Packed {
    fn from(entry: &rawzip::ZipFileHeaderRecord<'_>) -> Packed {
        let bytes = usize::try_from(entry.uncompressed_size_hint()).unwrap_or(usize::MAX);
        Packed { place: entry.wayfinder(), method: entry.compression_method(), bytes }
    }
}

/// Takes members until none is left; the bytes that they became.
fn decompress_rest(
    archive: &ZipSliceArchive<Vec<u8>>,
    members: &[Packed],
    next: &AtomicUsize,
) -> Result<usize> {
    let mut zstd = zstd::bulk::Decompressor::new()?;
    let mut deflate = Decompress::new(false);
    let mut buffer = Vec::new();
    let mut bytes = 0;
    while let Some(member) = members.get(next.fetch_add(1, Ordering::Relaxed)) {
        let packed = archive.get_entry(member.place)?.data();
        buffer.clear();
        buffer.reserve(member.bytes);
        match member.method {
            CompressionMethod::STORE => buffer.extend_from_slice(packed),
            CompressionMethod::DEFLATE => {
                deflate.reset(false);
                deflate.decompress_vec(packed, &mut buffer, FlushDecompress::Finish)?;
            }
            CompressionMethod::ZSTD => {
                zstd.decompress_to_buffer(packed, &mut buffer)?;
            }
            other => return Err(format!("no way to decompress {other:?}").into()),
        }
        bytes += std::hint::black_box(&buffer).len();
    }
    Ok(bytes)
}
