//! Why a log could not be written or read: where and what.

use std::path::{Path, PathBuf};
use std::time::Duration;
use std::{fmt, io};

use super::lock::{FileHolder, LockHolder};
use super::revision::UNCHANGED;

/// The result of everything in this module.
pub type Result<T, E = LogError> = std::result::Result<T, E>;

/// Why a log could not be written or read.
///
/// Printed, it is one line: file, member, sample and problem.
// Boxed, so that the results which carry it stay small.
#[derive(Debug)]
pub struct LogError(Box<ErrorContext>);

#[derive(Debug)]
struct ErrorContext {
    path: Option<PathBuf>,
    member: Option<String>,
    sample: Option<String>,
    kind: LogErrorKind,
}

/// What is wrong with a log.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LogErrorKind {
    /// The folder of the log cannot be created.
    #[error("cannot create the folder of the log: {0}")]
    Folder(#[source] io::Error),
    /// The file cannot be opened.
    #[error("cannot open the file: {0}")]
    Open(#[source] io::Error),
    /// A new file cannot be created.
    #[error("cannot write the file: {0}")]
    Create(#[source] io::Error),
    /// The run has not ended, so that its log cannot be changed.
    #[error("the run of this log has not ended")]
    Unfinished,
    /// The log is another file than the one that was read.
    #[error("the log was replaced by another process while it was read")]
    Replaced,
    /// The file of the log was removed while it was written.
    #[error("the log was removed while it was written, and what it contained is lost")]
    Gone,
    /// Another file has replaced the log while it was written.
    #[error("another file replaced the log while it was written, and what the log contained is lost")]
    Displaced,
    /// A log would overwrite itself.
    #[error("this is the log itself")]
    Itself,
    /// A log is there already.
    #[error("a file of that name is there already")]
    Exists,
    /// Another process writes to the log.
    #[error("the log is being written by another process")]
    Locked,
    /// A file says that another process writes to the log, perhaps one of another machine.
    #[error("{}", match holder {
        Some(holder) => format!("the log is being written by {holder}, as {} says", lock.display()),
        None => {
            let lock = lock.display();
            format!("the log may be locked by an unknown process: {lock} is not a lock file that can be read")
        }
    })]
    LockedElsewhere {
        /// The lock file.
        lock: PathBuf,
        /// Which process it names; none if it cannot be read, or is no lock file.
        holder: Option<Box<FileHolder>>,
    },
    /// Another process has kept the log locked all the time that was waited for it.
    #[error(
        "the log is being written by another process{}, which has not ended it within {} s",
        holder.as_ref().map(|holder| format!(" ({holder})")).unwrap_or_default(),
        waited.as_secs_f64()
    )]
    LockTimeout {
        /// How long that was.
        waited: Duration,
        /// Which process it is, if the system tells.
        holder: Option<LockHolder>,
    },
    /// Writing failed, because the disk is full perhaps.
    #[error("cannot write to the log: {0}")]
    Write(#[source] io::Error),
    /// Reading failed.
    #[error("cannot read the file: {0}")]
    Read(#[source] io::Error),
    /// Compression failed.
    #[error("cannot compress: {0}")]
    Compress(#[source] io::Error),
    /// A record that the format cannot hold.
    #[error("{what} is too long for the format: {bytes} bytes, {limit} are possible")]
    TooLong {
        /// What is too long.
        what: &'static str,
        /// How long it is.
        bytes: u64,
        /// How long it may be.
        limit: u64,
    },
    /// No zip file.
    #[error("this is not an eval log")]
    NotALog,
    /// A file that the reference's sets of evaluations keep beside their logs.
    #[error("this is a manifest of Inspect's eval_set, not a log")]
    Manifest,
    /// Not one byte is in the file.
    #[error("the file is empty")]
    Empty,
    /// Neither a header nor the record of the start is in the file.
    #[error("there is no record of a run in the file")]
    NoStart,
    /// A member does not match its entry in the central directory.
    #[error("the file is damaged: {0}")]
    Damaged(String),
    /// The log of a run that has ended has no valid central directory.
    #[error("the central directory at the end of the file is cut off or damaged")]
    NoDirectory,
    /// A member is compressed in a way that this version does not know.
    #[error("compression method {0} is not supported")]
    Method(u16),
    /// A member is larger than is allowed.
    #[error("the decompressed size is {bytes} bytes, more than the {limit} allowed")]
    TooLarge {
        /// What the file claims.
        bytes: u64,
        /// What is allowed.
        limit: u64,
    },
    /// Entries are compressed so densely that they look like a trap.
    #[error(
        "entries that decompress to more than {limit} times their size have {bytes} bytes together, this one \
         {ratio} times its size; 192 MiB of such entries are allowed"
    )]
    TooDense {
        /// The decompressed size of the dense entries up to this one.
        bytes: u64,
        /// How many times its compressed size this one has.
        ratio: u64,
        /// From which ratio on an entry is dense.
        limit: u64,
    },
    /// Entries share bytes of the file, so that a small file decompresses to any size.
    #[error("the entries overlap: together they claim more bytes than the file has")]
    Overlap,
    /// The log needs more memory than is allowed.
    #[error("the log needs more than the {limit} bytes of memory allowed")]
    TooMuchMemory {
        /// What is allowed.
        limit: u64,
    },
    /// A record would take more memory than is allowed.
    #[error("the record takes more than the {limit} bytes of memory allowed")]
    TooLargeRecord {
        /// What is allowed.
        limit: u64,
    },
    /// The log records more of something than is computed.
    #[error("the log records more than {limit} {what}")]
    TooMany {
        /// What there is too much of.
        what: &'static str,
        /// The most that is allowed.
        limit: usize,
    },
    /// A member has a name that points out of the log.
    #[error("the name of the entry points out of the log")]
    OutsideName,
    /// A format of the future.
    #[error("the log has version {found} of the format, this program knows up to {known}")]
    Version {
        /// What the log has.
        found: u32,
        /// What is known.
        known: u32,
    },
    /// A member is not the JSON that it should be.
    #[error("this is not valid JSON: {problem} at byte {at}")]
    Json {
        /// What is wrong.
        problem: String,
        /// Where in the decompressed member.
        at: u64,
    },
    /// A field is not what it should be.
    #[error("`{field}` is {found}, but {expected} is required")]
    Field {
        /// The field.
        field: String,
        /// What is there.
        found: String,
        /// What should be.
        expected: &'static str,
    },
    /// A field is missing.
    #[error("`{0}` is missing")]
    Missing(&'static str),
    /// A part of the header is not what it should be.
    #[error("the part `{part}` cannot be read: {problem}")]
    Part {
        /// The part.
        part: &'static str,
        /// What is wrong.
        problem: String,
    },
    /// There is no such sample.
    #[error("there is no sample `{sample}` in the log{}", nearest.as_ref().map(|name| format!("; did you mean `{name}`?")).unwrap_or_default())]
    NoSample {
        /// The requested sample.
        sample: String,
        /// The id nearest to it.
        nearest: Option<String>,
    },
    /// There is no such epoch of a sample.
    #[error("the sample `{sample}` has no such epoch; it has {}", listed(epochs))]
    NoEpoch {
        /// The sample.
        sample: String,
        /// Those that it has.
        epochs: Vec<u32>,
    },
    /// A sample has several epochs, and the edit names none.
    #[error("the sample `{sample}` has the epochs {}", listed(epochs))]
    WhichEpoch {
        /// The sample.
        sample: String,
        /// Those that it has.
        epochs: Vec<u32>,
    },
    /// A sample has no score by this scorer.
    #[error("there is no score by `{scorer}`; the sample has {}", if known.is_empty() { "none".to_owned() } else { listed(known) })]
    NoScore {
        /// The requested scorer.
        scorer: String,
        /// The scorers that the sample has scores by.
        known: Vec<String>,
    },
    /// A score is to be added that the sample has already.
    #[error("the sample has a score by `{scorer}` already")]
    HasScore {
        /// The scorer.
        scorer: String,
    },
    /// An edit that changes nothing.
    #[error("the edit changes nothing of the score")]
    NoChange,
    /// A score without a value is to be added.
    #[error("a score needs a value")]
    NoValue,
    /// An edit contains the string that stands for no change.
    #[error("the {part} cannot be {UNCHANGED:?}: that stands for a part of a score that was not edited")]
    ReservedText {
        /// Which part of the score.
        part: &'static str,
    },
    /// A sample is in several members, and one of them is of a kind that this version does not know.
    #[error("the sample has a part of an unknown kind, which would be lost")]
    UnknownPart,
    /// Nearly all cells of a frame would be empty.
    #[error(
        "the frame has {columns} columns for {rows} rows, and nearly all cells are empty: keys of `metadata`, or \
         scorers, differ from sample to sample; read fewer logs at once"
    )]
    SparseFrame {
        /// How many columns there are.
        columns: usize,
        /// How many rows.
        rows: usize,
    },
    /// Columns do not make a frame.
    #[error("the columns do not make a frame: {0}")]
    Frame(String),
    /// The caller stopped it.
    #[error("interrupted")]
    Interrupted,
    /// The engine refuses what the log records.
    #[error(transparent)]
    Core(#[from] errorbar_core::Error),
}

impl LogErrorKind {
    pub(super) fn damaged(problem: impl Into<String>) -> Self {
        LogErrorKind::Damaged(problem.into())
    }
}

impl From<LogErrorKind> for LogError {
    fn from(kind: LogErrorKind) -> Self {
        LogError(Box::new(ErrorContext { path: None, member: None, sample: None, kind }))
    }
}

impl LogError {
    /// The file, where one is concerned.
    pub fn path(&self) -> Option<&Path> {
        self.0.path.as_deref()
    }

    /// The member of the file.
    pub fn member(&self) -> Option<&str> {
        self.0.member.as_deref()
    }

    /// The sample, where it is known.
    pub fn sample(&self) -> Option<&str> {
        self.0.sample.as_deref()
    }

    /// What is wrong.
    pub fn kind(&self) -> &LogErrorKind {
        &self.0.kind
    }

    /// Whether the log as a whole takes more memory than is allowed.
    pub(super) fn is_of_memory(&self) -> bool {
        matches!(self.kind(), LogErrorKind::TooMuchMemory { .. })
    }

    /// The same problem, with the offset in the JSON corrected.
    pub(super) fn map_offset(mut self, map: impl FnOnce(u64) -> u64) -> Self {
        if let LogErrorKind::Json { at, .. } = &mut self.0.kind {
            *at = map(*at);
        }
        self
    }

    /// The same problem, in this file.
    #[must_use]
    pub fn at(mut self, path: &Path) -> Self {
        self.0.path.get_or_insert_with(|| path.to_owned());
        self
    }

    pub(super) fn in_member(mut self, member: &str) -> Self {
        self.0.member.get_or_insert_with(|| member.to_owned());
        self
    }

    pub(super) fn of_sample(mut self, sample: impl fmt::Display) -> Self {
        self.0.sample.get_or_insert_with(|| sample.to_string());
        self
    }
}

/// Some names or numbers, and how many more there are.
fn listed<T: fmt::Display>(items: &[T]) -> String {
    const SHOWN: usize = 12;
    let mut text = items.iter().take(SHOWN).map(ToString::to_string).collect::<Vec<_>>().join(", ");
    if let Some(more) = items.len().checked_sub(SHOWN).filter(|more| *more > 0) {
        text += &format!(" and {more} more");
    }
    text
}

/// A name from a file, without control characters and truncated.
pub(super) fn visible(name: &str) -> String {
    const SHOWN: usize = 120;
    let clean = |c: char| if c.is_control() { '\u{fffd}' } else { c };
    let short: String = name.chars().take(SHOWN).map(clean).collect();
    format!("`{short}{}`", if name.chars().nth(SHOWN).is_some() { "…" } else { "" })
}

impl fmt::Display for LogError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(path) = self.path() {
            write!(f, "{}: ", path.display())?;
        }
        if let Some(member) = self.member() {
            write!(f, "{}: ", visible(member))?;
        }
        if let Some(sample) = self.sample() {
            write!(f, "sample {}: ", visible(sample))?;
        }
        // What is from the file could contain control sequences of a terminal.
        f.write_str(&self.kind().to_string().replace(char::is_control, "\u{fffd}"))
    }
}

impl std::error::Error for LogError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        std::error::Error::source(self.kind())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_names_file_member_sample_and_problem() {
        let error = LogError::from(LogErrorKind::Missing("value"))
            .of_sample("q\n1")
            .in_member("samples/q_epoch_1.json");
        let expected = "a/b.eval: `samples/q_epoch_1.json`: sample `q\u{fffd}1`: `value` is missing";
        assert_eq!(error.at(Path::new("a/b.eval")).to_string(), expected);
    }
}
