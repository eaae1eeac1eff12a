//! Files read and written safely: what score tables and eval logs both need of them, and neither is about.
//!
//! A file that is written replaces the old one only when it is complete and on the disk ([`write_file`], [`AtomicFile`]);
//! files that people write by hand are read within a limit ([`read_small`]); JSON is read with the bare `NaN` of Python and
//! within a limit of memory ([`json_value`]). A crate of its own, because tables know nothing of logs, nor logs of tables.
//!
//! ```
//! use errorbar_files::{FileAccess, read_small, write_file};
//!
//! # let folder = tempfile::tempdir()?;
//! # let path = folder.path().join("task.toml");
//! write_file(&path, b"epochs = 3", FileAccess::Umask)?;
//! assert_eq!(read_small(&path)?, b"epochs = 3");
//! # Ok::<(), std::io::Error>(())
//! ```

#![forbid(unsafe_code)]

pub use atomic_file::{AtomicFile, FileAccess, WrittenFile, identity, is_named, write_file};
pub use reading::{
    LOG_HEAD_BYTES, begins_as_log, begins_as_manifest, has_log_name, has_run_name, is_cut_off, is_url,
    machine_memory, open_error, read_small, url_hint,
};

mod atomic_file;
pub mod json_value;
mod reading;
