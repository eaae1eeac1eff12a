//! Locks on logs, so that changes by several processes follow one another.

use std::fmt;
use std::fs::{File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use super::error::{LogError, LogErrorKind, Result};
use super::reader::EvalLog;
use super::writer::lock_named;

/// How often to try again.
const INTERVAL: Duration = Duration::from_millis(20);

/// A log that no other process changes as long as this exists.
///
/// Take it before the log is read: what is read without it may be out of date when it is written back.
#[derive(Debug)]
pub struct LogLock {
    path: PathBuf,
    pub(super) file: File,
}

impl LogLock {
    /// Locks a log, and waits for the process that has it, at most this long.
    ///
    /// ```
    /// # use std::time::Duration;
    /// # use errorbar_log::eval::*;
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("quiz.eval");
    /// # let start = StartRecord::new(EvalInfo::default(), PlanRecord::default());
    /// # LogWriter::create(&path, &start)?.finish(&Header::started(start), &Reductions::none())?;
    /// let lock = LogLock::wait(&path, Duration::from_secs(10))?;
    /// let log = EvalLog::open(&path)?;
    /// let revision = log.revise()?;
    /// revision.write_back_locked(&lock)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// A file that cannot be opened for writing, one that is still locked in the end, and at once the log of a run that
    /// is in progress.
    pub fn wait(path: &Path, timeout: Duration) -> Result<Self> {
        Self::wait_unplaced(path, timeout).map_err(|error| error.at(path))
    }

    fn wait_unplaced(path: &Path, timeout: Duration) -> Result<Self> {
        let (started, mut waits) = (Instant::now(), false);
        loop {
            let file = OpenOptions::new().read(true).write(true).open(path);
            let file = file.map_err(|error| match error.kind() {
                io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
                    LogErrorKind::Create(error)
                }
                _ => LogErrorKind::Open(error),
            })?;
            match lock_named(&file, path) {
                Ok(()) => return Ok(LogLock { path: path.to_owned(), file }),
                // A change that is complete has put a new file in place.
                Err(error) if matches!(error.kind(), LogErrorKind::Replaced) => continue,
                Err(error) if !matches!(error.kind(), LogErrorKind::Locked) => return Err(error),
                // A run may take days, and its log is not to be changed before it ends.
                Err(_) if !waits && EvalLog::open(path).is_ok_and(|log| !log.has_header()) => {
                    return Err(LogErrorKind::Unfinished.into());
                }
                Err(_) if started.elapsed() >= timeout => {
                    let holder = LockHolder::of(&file);
                    return Err(LogErrorKind::LockTimeout { waited: timeout, holder }.into());
                }
                Err(_) => {
                    waits = true;
                    thread::sleep(INTERVAL.min(timeout));
                }
            }
        }
    }

    /// Refuses another log than the one that is locked.
    pub(super) fn check(&self, path: &Path) -> Result<()> {
        match self.path == path {
            true => Ok(()),
            false => Err(LogError::from(LogErrorKind::Replaced)),
        }
    }
}

/// The process that has locked a log.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LockHolder {
    /// Its id.
    pub pid: u32,
    /// Its name, if it can be seen.
    pub name: Option<String>,
}

impl fmt::Display for LockHolder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.name {
            Some(name) => write!(f, "{name}, process {}", self.pid),
            None => write!(f, "process {}", self.pid),
        }
    }
}

impl EvalLog {
    /// The process that writes to the log at present, where the system lists locks.
    pub fn lock_holder(&self) -> Option<LockHolder> {
        LockHolder::of(self.container.source.file())
    }
}

impl LockHolder {
    /// The process that has locked this file, where the system lists locks.
    #[cfg(target_os = "linux")]
    fn of(file: &File) -> Option<Self> {
        use std::fs::read_to_string;
        use std::os::unix::fs::MetadataExt;

        let inode = file.metadata().ok()?.ino();
        let pid = holder_in(&read_to_string("/proc/locks").ok()?, inode)?;
        let name = read_to_string(format!("/proc/{pid}/comm")).ok().map(|name| name.trim().to_owned());
        Some(LockHolder { pid, name })
    }

    /// Other systems do not list them.
    #[cfg(not(target_os = "linux"))]
    fn of(_file: &File) -> Option<Self> {
        None
    }
}

/// The process that holds a lock on this inode, by the list of the kernel. Which disk it is on is not compared: some
/// file systems report another device there. Lines with an arrow are processes that wait.
#[cfg(any(target_os = "linux", test))]
fn holder_in(locks: &str, inode: u64) -> Option<u32> {
    let holder = |line: &str| {
        let mut words = line.split_whitespace().skip(1);
        (words.next() == Some("FLOCK")).then_some(())?;
        let (pid, place) = (words.nth(2)?, words.next()?);
        (place.rsplit(':').next()?.parse() == Ok(inode)).then(|| pid.parse().ok()).flatten()
    };
    // A process of another namespace has the number 0 or -1.
    locks.lines().find_map(holder).filter(|pid| *pid > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_holder_is_found_in_the_list_of_the_kernel() {
        let locks = "1: POSIX  ADVISORY  WRITE 7 fe:01:77 0 EOF\n\
                     2: FLOCK  ADVISORY  WRITE 812 fe:01:770 0 EOF\n\
                     2: -> FLOCK  ADVISORY  WRITE 999 fe:01:77 0 EOF\n\
                     3: FLOCK  ADVISORY  WRITE 813 fe:01:77 0 EOF\n\
                     4: FLOCK  ADVISORY  WRITE -1 fe:01:78 0 EOF\n4: FLOCK\n";
        assert_eq!(holder_in(locks, 77), Some(813));
        assert_eq!(holder_in(locks, 770), Some(812));
        assert_eq!((holder_in(locks, 78), holder_in(locks, 79)), (None, None));
    }
}
