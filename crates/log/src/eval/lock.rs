//! Locks on logs, so that changes by several processes follow one another.

use std::fmt;
use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use errorbar_files::is_named;

use super::error::{LogError, LogErrorKind, Result};
use super::lock_file::{self, FileHolder, LockFile, SystemLock};
use super::reader::EvalLog;

/// How often to try again.
const INTERVAL: Duration = Duration::from_millis(20);

/// A log that no other process changes as long as this exists.
///
/// Take it before the log is read: what is read without it may be out of date when it is written back.
#[derive(Debug)]
pub struct LogLock {
    path: PathBuf,
    pub(super) file: File,
    _lock: HeldLock,
}

/// What holds the lock of a log beside its open file: a file, which processes see to whom the system gives no locks.
#[derive(Debug)]
pub(super) struct HeldLock {
    _file: Option<LockFile>,
}

/// Locks the log for this process, as long as the file is open and what is returned is held.
///
/// Of two processes one may have locks of the system and the other none: Lustre has them by machine, and they may run
/// out. So each leaves its lock file first, and then looks for what the other has left.
pub(super) fn lock(file: &File, path: &Path) -> Result<HeldLock> {
    let lock_file = match system_lock(file) {
        Ok(()) => match LockFile::create(path, SystemLock::Held) {
            Ok(lock_file) => Some(lock_file),
            Err(error) if is_locked(&error) => return Err(error),
            // The folder cannot be written to, or the disk is full: the lock of the system has to do.
            Err(_) => None,
        },
        Err(TryLockError::WouldBlock) => return Err(LogErrorKind::Locked.into()),
        // The file system has no locks (ENOSYS, EOPNOTSUPP; FUSE and some network file systems answer EINVAL, EIO or EPERM),
        // or none at present (ENOLCK).
        Err(TryLockError::Error(_)) => {
            let lock_file = LockFile::create(path, SystemLock::None)?;
            if LockHolder::listed(file).is_some() {
                return Err(LogErrorKind::Locked.into());
            }
            Some(lock_file)
        }
    };
    Ok(HeldLock { _file: lock_file })
}

/// Locks the log that has this name for this process. Between opening and locking, another may have put a new
/// file there, and what is written to the old one would be lost.
pub(super) fn lock_named(file: &File, path: &Path) -> Result<HeldLock> {
    let lock = lock(file, path)?;
    match is_named(file, path).map_err(LogErrorKind::Open)? {
        true => Ok(lock),
        false => Err(LogErrorKind::Replaced.into()),
    }
}

#[cfg(not(test))]
fn system_lock(file: &File) -> std::result::Result<(), TryLockError> {
    file.try_lock()
}

#[cfg(test)]
use tests::system_lock;

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
                Ok(lock) => return Ok(LogLock { path: path.to_owned(), file, _lock: lock }),
                // A change that is complete has put a new file in place.
                Err(error) if matches!(error.kind(), LogErrorKind::Replaced) => continue,
                Err(error) if !is_locked(&error) => return Err(error),
                // A run may take days, and its log is not to be changed before it ends.
                Err(_) if !waits && EvalLog::open(path).is_ok_and(|log| !log.has_header()) => {
                    return Err(LogErrorKind::Unfinished.into());
                }
                Err(error) if started.elapsed() >= timeout => {
                    if !matches!(error.kind(), LogErrorKind::Locked) {
                        return Err(error);
                    }
                    let holder = LockHolder::of(&file, path, lock_file::open);
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

fn is_locked(error: &LogError) -> bool {
    matches!(error.kind(), LogErrorKind::Locked | LogErrorKind::LockedElsewhere { .. })
}

/// The process that has locked a log.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LockHolder {
    /// Its id.
    pub pid: u32,
    /// Its name, if it can be seen.
    pub name: Option<String>,
    /// Its machine, if only the file beside the log names it.
    pub host: Option<String>,
}

impl fmt::Display for LockHolder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.name, &self.host) {
            (Some(name), _) => write!(f, "{name}, process {}", self.pid),
            (None, Some(host)) => write!(f, "process {} on {host}", self.pid),
            (None, None) => write!(f, "process {}", self.pid),
        }
    }
}

impl EvalLog {
    /// The process that writes to the log at present, as the system or the file beside the log names it.
    pub fn lock_holder(&self) -> Option<LockHolder> {
        self.lock_holder_with(lock_file::open)
    }

    /// The same, where the file beside the log is opened by the caller: a server does so inside its folder only. What is no
    /// small regular file names no process.
    pub fn lock_holder_with(&self, open: impl FnOnce(&Path) -> io::Result<File>) -> Option<LockHolder> {
        LockHolder::of(self.container.source.file(), self.path(), open)
    }
}

impl LockHolder {
    fn of(file: &File, path: &Path, open: impl FnOnce(&Path) -> io::Result<File>) -> Option<Self> {
        LockHolder::listed(file).or_else(|| {
            let FileHolder { pid, host, .. } = LockFile::holder(path, open)?;
            Some(LockHolder { pid, name: None, host: Some(host) })
        })
    }

    /// The process that has locked this file, where the system lists locks.
    #[cfg(target_os = "linux")]
    fn listed(file: &File) -> Option<Self> {
        use std::fs::read_to_string;
        use std::os::unix::fs::MetadataExt;

        let inode = file.metadata().ok()?.ino();
        let pid = holder_in(&read_to_string("/proc/locks").ok()?, inode)?;
        let name = read_to_string(format!("/proc/{pid}/comm")).ok().map(|name| name.trim().to_owned());
        Some(LockHolder { pid, name, host: None })
    }

    /// Other systems do not list them.
    #[cfg(not(target_os = "linux"))]
    fn listed(_file: &File) -> Option<Self> {
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
    use std::cell::Cell;
    use std::fs;
    use std::io::Write;
    use std::process::{Command, Stdio};

    use errorbar_test_support::wait_until;
    use serde_json::{Value as Json, json};

    use super::*;
    use crate::eval::{EvalInfo, LogWriter, PlanRecord, StartRecord};

    thread_local! {
        /// What the system answers in place of a lock.
        static REFUSAL: Cell<Option<i32>> = const { Cell::new(None) };
    }

    pub(super) fn system_lock(file: &File) -> std::result::Result<(), TryLockError> {
        match REFUSAL.get() {
            Some(code) => Err(TryLockError::Error(io::Error::from_raw_os_error(code))),
            None => file.try_lock(),
        }
    }

    /// The codes of Linux.
    const EPERM: i32 = 1;
    const EIO: i32 = 5;
    const EINVAL: i32 = 22;
    const ENOLCK: i32 = 37;
    const ENOSYS: i32 = 38;
    const EOPNOTSUPP: i32 = 95;

    fn create(path: &Path) -> Result<LogWriter> {
        LogWriter::create(path, &StartRecord::new(EvalInfo::default(), PlanRecord::default()))
    }

    fn lock_of(log: &Path) -> PathBuf {
        PathBuf::from(format!("{}.lock", log.display()))
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn without_locks_of_the_system_a_file_beside_the_log_is_one() {
        let folder = tempfile::tempdir().unwrap();
        for code in [ENOLCK, ENOSYS, EOPNOTSUPP, EPERM, EIO, EINVAL] {
            REFUSAL.set(Some(code));
            let log = folder.path().join(format!("{code}.eval"));
            let writer = create(&log).unwrap();
            let holder: Json = serde_json::from_slice(&fs::read(lock_of(&log)).unwrap()).unwrap();
            assert_eq!(holder["pid"], std::process::id());
            let locked = LogWriter::resume(&log).unwrap_err();
            assert!(matches!(locked.kind(), LogErrorKind::Locked), "{locked}");
            let waited = LogLock::wait(&log, Duration::ZERO).unwrap_err();
            assert!(matches!(waited.kind(), LogErrorKind::Unfinished), "{waited}");
            let seen = EvalLog::open(&log).unwrap().lock_holder().unwrap();
            assert_eq!((seen.pid, seen.host.is_some()), (std::process::id(), true));
            drop(writer);
            assert!(!lock_of(&log).exists());
            drop(LogWriter::resume(&log).unwrap());
            assert!(!lock_of(&log).exists());
        }
    }

    /// Both orders damaged the log.
    #[test]
    #[cfg(target_os = "linux")]
    fn one_process_has_locks_of_the_system_and_the_other_none() {
        let folder = tempfile::tempdir().unwrap();
        let log = folder.path().join("log.eval");
        let refused = |code| {
            REFUSAL.set(code);
            let locked = LogWriter::resume(&log).unwrap_err();
            assert!(matches!(locked.kind(), LogErrorKind::Locked), "{locked}");
        };
        let writer = create(&log).unwrap();
        refused(Some(ENOLCK));
        // The list of the kernel has it, too.
        fs::remove_file(lock_of(&log)).unwrap();
        refused(Some(ENOLCK));
        drop(writer);
        let writer = LogWriter::resume(&log).unwrap().0;
        refused(None);
        drop(writer);
        assert_eq!(errorbar_test_support::file_names(folder.path()), ["log.eval"]);
        drop(LogWriter::resume(&log).unwrap());
    }

    /// A process that had the lock of the system has ended if this one gets it; of one that had none, nothing is known.
    #[test]
    fn a_lock_of_the_system_shows_which_lock_files_are_stale() {
        let folder = tempfile::tempdir().unwrap();
        let log = folder.path().join("log.eval");
        drop(create(&log).unwrap());
        let mut foreign = own_record(&log);
        foreign["host"] = json!("node7");
        for (has_system_lock, is_taken_over) in [(json!(false), false), (json!(true), true)] {
            foreign["has_system_lock"] = has_system_lock;
            fs::write(lock_of(&log), foreign.to_string()).unwrap();
            let holder = EvalLog::open(&log).unwrap().lock_holder();
            assert_eq!(holder.is_none(), is_taken_over, "a list would show it as running");
            assert_eq!(LogWriter::resume(&log).is_ok(), is_taken_over, "{foreign}");
            assert_eq!(lock_of(&log).exists(), !is_taken_over);
        }
    }

    const FOLDER: &str = "ERRORBAR_TEST_LOCK_FOLDER";

    #[test]
    #[cfg(target_os = "linux")]
    fn the_lock_of_a_process_that_was_killed_is_taken_over() {
        const NAME: &str = "eval::lock::tests::the_lock_of_a_process_that_was_killed_is_taken_over";
        REFUSAL.set(Some(ENOSYS));
        if let Some(folder) = std::env::var_os(FOLDER) {
            let _writer = create(&Path::new(&folder).join("log.eval")).unwrap();
            thread::sleep(Duration::from_secs(600));
            return;
        }
        let folder = tempfile::tempdir().unwrap();
        let log = folder.path().join("log.eval");
        let mut other = Command::new(std::env::current_exe().unwrap());
        other.args([NAME, "--exact"]).env(FOLDER, folder.path()).stdout(Stdio::null());
        let mut other = other.spawn().unwrap();
        wait_until("the other process has the lock", || EvalLog::open(&log).ok());
        let locked = LogWriter::resume(&log).unwrap_err();
        assert!(matches!(locked.kind(), LogErrorKind::Locked), "{locked}");
        other.kill().unwrap();
        other.wait().unwrap();
        assert!(lock_of(&log).exists(), "it was left behind");
        assert_eq!(EvalLog::open(&log).unwrap().lock_holder(), None);
        let writer = LogWriter::resume(&log).unwrap().0;
        assert!(LogWriter::resume(&log).is_err());
        drop(writer);
        assert_eq!(errorbar_test_support::file_names(folder.path()), ["log.eval"]);
    }

    #[test]
    fn of_many_that_take_over_one_does() {
        let folder = tempfile::tempdir().unwrap();
        let log = folder.path().join("log.eval");
        drop(create(&log).unwrap());
        for _ in 0..20 {
            let mut stale = own_record(&log);
            stale["process"] = json!("1");
            fs::write(lock_of(&log), stale.to_string()).unwrap();
            let taken: Vec<Result<LockFile>> = thread::scope(|scope| {
                let takers: Vec<_> =
                    (0..8).map(|_| scope.spawn(|| LockFile::create(&log, SystemLock::None))).collect();
                takers.into_iter().map(|taker| taker.join().unwrap()).collect()
            });
            assert_eq!(taken.iter().filter(|taken| taken.is_ok()).count(), 1, "{taken:?}");
        }
        assert!(!lock_of(&log).exists());
    }

    /// What this process would write.
    fn own_record(log: &Path) -> Json {
        let _lock = LockFile::create(log, SystemLock::None).unwrap();
        serde_json::from_slice(&fs::read(lock_of(log)).unwrap()).unwrap()
    }

    #[test]
    fn a_lock_of_another_machine_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let log = folder.path().join("log.eval");
        drop(create(&log).unwrap());
        REFUSAL.set(Some(EOPNOTSUPP));
        let mut foreign = own_record(&log);
        foreign["host"] = json!("node7");
        foreign["pid"] = json!(4242);
        foreign["since"] = json!("2026-11-18T09:00:00+00:00");
        fs::write(lock_of(&log), foreign.to_string()).unwrap();
        let error = if cfg!(target_os = "linux") {
            LogWriter::resume(&log).unwrap_err()
        } else {
            LockFile::create(&log, SystemLock::None).unwrap_err()
        };
        let text = error.to_string();
        let expected = format!(
            "the log is being written by process 4242 on node7, since 2026-11-18T09:00:00+00:00, as {} says",
            lock_of(&log).canonicalize().unwrap().display()
        );
        assert!(text.contains(&expected), "{text}");
        assert!(lock_of(&log).exists(), "it is not ours to remove");
        fs::write(lock_of(&log), "").unwrap();
        let error = LockFile::create(&log, SystemLock::None).unwrap_err();
        assert!(error.to_string().contains("by an unknown process"), "{error}");
    }

    /// Anybody who may write to the folder can put anything there: it was read to its end, which a device and a pipe lack.
    #[test]
    #[cfg(unix)]
    fn only_small_regular_files_are_read_as_locks() {
        use std::os::unix::fs::symlink;
        let folder = tempfile::tempdir().unwrap();
        let log = folder.path().join("log.eval");
        drop(create(&log).unwrap());
        let (lock, elsewhere) = (lock_of(&log), folder.path().join("elsewhere"));
        let record = own_record(&log).to_string();
        let put: [(&str, &dyn Fn()); 5] = [
            ("a link", &|| {
                fs::write(&elsewhere, &record).unwrap();
                symlink(&elsewhere, &lock).unwrap();
            }),
            ("a large file", &|| {
                fs::write(&lock, &record).unwrap();
                File::options().append(true).open(&lock).unwrap().write_all(&[b' '; 100_000]).unwrap();
            }),
            ("a pipe", &|| assert!(Command::new("mkfifo").arg(&lock).status().unwrap().success())),
            ("a device", &|| symlink("/dev/zero", &lock).unwrap()),
            ("a sparse file", &|| File::create(&lock).unwrap().set_len(5 << 30).unwrap()),
        ];
        for (what, put) in put {
            put();
            let error = LogWriter::resume(&log).unwrap_err();
            assert!(
                matches!(error.kind(), LogErrorKind::LockedElsewhere { holder: None, .. }),
                "{what}: {error}"
            );
            let new = folder.path().join("new.eval");
            fs::rename(&lock, lock_of(&new)).unwrap();
            assert!(create(&new).is_err(), "{what}");
            assert!(!new.exists(), "{what}: a log that is not locked is not left behind, empty");
            fs::rename(lock_of(&new), &lock).unwrap();
            let log = EvalLog::open(&log).unwrap();
            assert_eq!(log.lock_holder(), None, "{what}");
            fs::remove_file(&lock).unwrap();
        }
    }

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
