//! The container: a zip file whose members are compressed with zstd.
//!
//! Written by hand, because a log is not just a zip: it grows while others read it, must survive being
//! cut anywhere, and its members are made on many threads. General zip crates own the file they write and
//! know a directory or nothing. What is shared by all parts is the format ([`format`]); a member is made by
//! an [`Encoder`], found by [`directory`] or, where the directory is lost, by [`scan`], and decompressed by
//! [`decompress`]; [`local`] compares its local header with the directory.

pub(super) mod assemble;
pub(super) mod decompress;
pub(super) mod directory;
mod encoder;
mod format;
pub(super) mod local;
pub(super) mod scan;
pub(super) mod source;

pub(super) use encoder::StreamedMember;
pub use encoder::{Encoder, Member};
pub(super) use format::{ZSTD, ZipEntry, directory_bytes};
