//! Where targets put the files that they read.

use std::path::Path;

/// A folder that goes away, in memory where there is one that is: what is written is brought to the disk.
pub fn folder() -> tempfile::TempDir {
    let memory = Path::new("/dev/shm");
    match memory.is_dir() {
        true => tempfile::tempdir_in(memory).unwrap(),
        false => tempfile::tempdir().unwrap(),
    }
}
