//! Limits for logs, which may be hostile, and how logs are read.

use std::path::Path;

use errorbar_log::eval::{EvalLog, LogLimits};
use serde::{Deserialize, Serialize};

use super::ByteSize;
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::source::handles;

/// How logs are read.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
#[cfg_attr(feature = "clap", derive(clap::Args), command(next_help_heading = "Reading logs"))]
pub struct ReadRequest {
    /// Check all of a log: all checksums, that local headers of entries agree with the central
    /// directory, and that all of it is JSON. By default that is checked for what is computed with;
    /// messages and events are skipped by their quotes and brackets
    #[cfg_attr(feature = "clap", arg(long))]
    pub strict: bool,
    /// Limits for logs.
    #[serde(flatten)]
    #[cfg_attr(feature = "clap", command(flatten))]
    pub limits: LimitRequest,
}

/// Limits for logs, which may be hostile.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
#[cfg_attr(feature = "clap", derive(clap::Args), command(next_help_heading = "Limits for logs"))]
pub struct LimitRequest {
    /// The maximum decompressed size of one entry of a log
    #[cfg_attr(
        feature = "clap",
        arg(long, alias = "max-unpacked", value_name = "SIZE", default_value = "16G")
    )]
    pub max_decompressed: ByteSize,
    /// Entries of a log that decompress to more than N times their size count as dense; a log may
    /// have 192 MiB of them, decompressed
    #[cfg_attr(feature = "clap", arg(long, value_name = "N", default_value_t = LogLimits::default().max_ratio))]
    pub max_ratio: u64,
    /// The maximum size of a header, and of what is read of one sample (scores and metadata)
    #[cfg_attr(feature = "clap", arg(long, value_name = "SIZE", default_value = "256M"))]
    pub max_record: ByteSize,
    /// The maximum memory for what is held of a log or a table [default: 256M or four times the size
    /// of the file, whichever is more; for rows of a table a quarter of the memory of the machine, at
    /// least 1G, but 256 times the size of the file or 128 bytes for each cell of Parquet at most]
    #[cfg_attr(feature = "clap", arg(long, value_name = "SIZE"))]
    pub max_memory: Option<ByteSize>,
}

impl Default for LimitRequest {
    fn default() -> Self {
        let LogLimits { max_decompressed, max_ratio, max_record, max_memory } = LogLimits::default();
        LimitRequest {
            max_decompressed: ByteSize(max_decompressed),
            max_ratio,
            max_record: ByteSize(max_record),
            max_memory: max_memory.map(ByteSize),
        }
    }
}

impl LimitRequest {
    /// As the reader of logs takes them.
    pub fn limits(&self) -> LogLimits {
        LogLimits {
            max_decompressed: self.max_decompressed.0,
            max_ratio: self.max_ratio,
            max_record: self.max_record.0,
            max_memory: self.max_memory.map(|size| size.0),
        }
    }
}

impl ReadRequest {
    /// Opens a log, and checks all of it if that is asked for.
    ///
    /// # Errors
    /// A file that is not a log, or that is damaged.
    pub fn open(&self, path: &Path) -> errorbar_log::eval::Result<EvalLog> {
        let log = EvalLog::open_with(path, self.limits())?;
        if self.strict {
            log.check()?;
        }
        Ok(log)
    }

    /// Opens the log that a path or a handle names.
    ///
    /// # Errors
    /// A folder, a handle without a log, or a file that is not a log.
    pub fn open_named(&self, named: &Path) -> Result<EvalLog, Diagnostics> {
        let path = handles::resolve(named)?;
        if path.is_dir() {
            let hint = format!("name a log in it: {} is the newest", path.join("latest").display());
            let problem = Diagnostic::error("this is a folder, and one log is needed").about(path.display());
            return Err(problem.hint(hint).into());
        }
        Ok(self.open(&path)?)
    }

    /// The limits.
    pub fn limits(&self) -> LogLimits {
        self.limits.limits()
    }
}
