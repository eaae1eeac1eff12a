//! The container: a zip file whose members are compressed with zstd.
//!
//! Written by hand, because a log is not just a zip: it grows while others read it, must survive being
//! cut anywhere, and its members are made on many threads. General zip crates own the file they write and
//! know a directory or nothing. What is shared by all parts is the format ([`format`]); a member is made by
//! an [`Encoder`], found by [`read_members`] or, where the directory is lost, by [`scan`], and decompressed by
//! [`decompress`]; [`check_entry`] compares its local header with the directory.

#[cfg(test)]
pub(super) use decompress::tests;
pub(super) use decompress::{Decompressor, FileSection, LogFile, collector};
pub(super) use encoder::StreamedMember;
pub use encoder::{Encoder, Member};
pub(super) use format::{
    Assembler, Directory, DirectoryRecord, FoundMember, Members, ZSTD, ZipEntry, check_entry,
    directory_bytes, read_members, read_records,
};
pub(super) use scan::{ScanResult, all_members, scan};

mod decompress;
mod encoder;
mod format;
mod scan;
