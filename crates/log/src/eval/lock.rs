//! Locks on logs, so that changes by several processes follow one another.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, ErrorKind, Read, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};
use std::{fmt, thread};

use errorbar_files::is_named;
use serde::{Deserialize, Serialize};
#[cfg(test)]
use tests::system_lock;

use super::error::{LogError, LogErrorKind, Result};
use super::reader::EvalLog;
use super::wire::timestamp;

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
            let error = match LogLock::take(path) {
                // A change that is complete has put a new file in place.
                Err(error) if matches!(error.kind(), LogErrorKind::Replaced) => continue,
                Err(error) if is_locked(&error) => error,
                taken => return taken,
            };
            // A run may take days, and its log is not to be changed before it ends.
            if !waits && EvalLog::open(path).is_ok_and(|log| !log.has_header()) {
                return Err(LogErrorKind::Unfinished.into());
            }
            if started.elapsed() >= timeout {
                if !matches!(error.kind(), LogErrorKind::Locked) {
                    return Err(error);
                }
                let holder = File::open(path).ok().and_then(|file| LockHolder::of(&file, path, open));
                return Err(LogErrorKind::LockTimeout { waited: timeout, holder }.into());
            }
            waits = true;
            thread::sleep(INTERVAL.min(timeout));
        }
    }

    /// Locks a log, unless another process has locked it.
    pub(super) fn take(path: &Path) -> Result<Self> {
        let file = OpenOptions::new().read(true).write(true).open(path);
        let file = file.map_err(|error| match error.kind() {
            ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem => LogErrorKind::Create(error),
            _ => LogErrorKind::Open(error),
        })?;
        Ok(LogLock { path: path.to_owned(), _lock: lock_named(&file, path)?, file })
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
        self.lock_holder_with(open)
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

// The lock on a log that needs no locks of the system: a file beside it, with the process that holds it.
//
// Network file systems may lack `flock` (Lustre by default, NFS without its lock service), for all machines or for some.
// Creating a file that must not be there is a single step on all of them. The file of a process that was killed stays:
// another of the same machine sees that the process is gone and takes over, and so does one that gets the lock of the
// system which that process had. Anything else on another machine cannot be judged, and is reported.

/// How often, and how long apart, a file is looked at that changes hands.
const ROUNDS: usize = 100;
const PAUSE: Duration = Duration::from_millis(10);
/// More than a lock file has.
const MOST_BYTES: u64 = 64 << 10;

/// The lock file of this process; it is removed when this is dropped.
#[derive(Debug)]
struct LockFile {
    path: PathBuf,
    holder: FileHolder,
}

/// Whether a process has the lock of the system too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SystemLock {
    Held,
    None,
}

/// The process that a lock file names.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileHolder {
    /// Its id.
    pub pid: u32,
    /// The name of its machine.
    pub host: String,
    /// When it took the lock.
    pub since: String,
    /// What its id is of: the start of the system and the namespace of processes.
    #[serde(default)]
    machine: Option<String>,
    /// When it was started, so that another process of the same id is not taken for it.
    #[serde(default)]
    process: Option<String>,
    /// Whether it has the lock of the system too.
    #[serde(default)]
    has_system_lock: bool,
}

impl fmt::Display for FileHolder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "process {} on {}, since {}", self.pid, self.host, self.since)
    }
}

impl LockFile {
    /// Takes the lock of a log.
    ///
    /// # Errors
    /// A process that has it, or one of another machine that may have it; a folder that cannot be written to.
    pub(super) fn create(log: &Path, system: SystemLock) -> Result<Self> {
        let path = beside(log);
        let failed = |error: io::Error| LogError::from(LogErrorKind::Create(error)).at(&path);
        let has_system_lock = system == SystemLock::Held;
        let holder = FileHolder { has_system_lock, ..FileHolder::own() };
        for _ in 0..ROUNDS {
            match create_new(&path, &holder) {
                Ok(()) => return Ok(LockFile { path, holder }),
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
                Err(error) => return Err(failed(error)),
            }
            match read(&path) {
                // Only one process has the lock of the system.
                Found::Holder(found) if found.is_gone() || (has_system_lock && found.has_system_lock) => {
                    remove_stale(&path, &found).map_err(failed)?;
                }
                Found::Holder(found) if found.is_here() => return Err(LogErrorKind::Locked.into()),
                Found::Holder(found) => {
                    return Err(
                        LogErrorKind::LockedElsewhere { lock: path, holder: Some(Box::new(found)) }.into()
                    );
                }
                Found::Nothing => {}
                // It is being written, or taken over.
                Found::Unreadable => thread::sleep(PAUSE),
            }
        }
        // Whoever died while it took over has left the other file.
        let guard = guard_of(&path);
        let lock = if guard.exists() { guard } else { path };
        Err(LogErrorKind::LockedElsewhere { lock, holder: None }.into())
    }

    /// The process that holds the lock of a log, unless it is gone, or may be: of one on another machine that had the lock of
    /// the system, that lock alone would show it.
    ///
    /// The caller opens the file: it may lead out of a folder that is served.
    pub(super) fn holder(log: &Path, open: impl FnOnce(&Path) -> io::Result<File>) -> Option<FileHolder> {
        let is_known = |found: &FileHolder| found.is_here() || !found.has_system_lock;
        match read_opened(open(&beside(log))) {
            Found::Holder(holder) if !holder.is_gone() && is_known(&holder) => Some(holder),
            _ => None,
        }
    }
}

impl Drop for LockFile {
    fn drop(&mut self) {
        // Somebody may have removed it by hand, and another process has the lock now.
        if matches!(read(&self.path), Found::Holder(found) if found == self.holder) {
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// What is in a lock file.
enum Found {
    Holder(FileHolder),
    /// It is gone again.
    Nothing,
    Unreadable,
}

fn read(path: &Path) -> Found {
    read_opened(open(path))
}

/// Opens a file that is no link. A pipe must not wait for its writer.
pub(super) fn open(path: &Path) -> io::Result<File> {
    let mut options = File::options();
    options.read(true);
    #[cfg(unix)]
    {
        use rustix::fs::OFlags;
        let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits().cast_signed();
        std::os::unix::fs::OpenOptionsExt::custom_flags(&mut options, flags);
    }
    options.open(path)
}

/// What is in the place of a lock file may be anything: a device or a pipe has no end.
fn read_opened(opened: io::Result<File>) -> Found {
    let read = |file: File| -> io::Result<Vec<u8>> {
        if !file.metadata()?.is_file() {
            return Err(ErrorKind::InvalidInput.into());
        }
        let mut bytes = Vec::new();
        file.take(MOST_BYTES + 1).read_to_end(&mut bytes)?;
        if bytes.len() as u64 > MOST_BYTES { Err(ErrorKind::FileTooLarge.into()) } else { Ok(bytes) }
    };
    match opened.and_then(read) {
        Ok(bytes) => serde_json::from_slice(&bytes).map_or(Found::Unreadable, Found::Holder),
        Err(error) if error.kind() == ErrorKind::NotFound => Found::Nothing,
        Err(_) => Found::Unreadable,
    }
}

/// `NAME.lock`, beside the file that a link leads to.
fn beside(log: &Path) -> PathBuf {
    with_end(&log.canonicalize().unwrap_or_else(|_| log.to_owned()), ".lock")
}

fn guard_of(path: &Path) -> PathBuf {
    with_end(path, ".new")
}

fn with_end(path: &Path, end: &str) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(end);
    path.with_file_name(name)
}

/// Writes a file that must not be there.
fn create_new(path: &Path, holder: &FileHolder) -> io::Result<()> {
    let mut file = File::options().write(true).create_new(true).open(path)?;
    let written = serde_json::to_vec(holder).map_err(io::Error::from).and_then(|json| file.write_all(&json));
    written.inspect_err(|_| drop(fs::remove_file(path)))
}

/// Removes the lock of a process that is gone. Only one process at a time does, and looks again before: else two could take
/// over, the second from the first.
fn remove_stale(path: &Path, stale: &FileHolder) -> io::Result<()> {
    let guard = guard_of(path);
    match create_new(&guard, &FileHolder::own()) {
        Ok(()) => {}
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {
            thread::sleep(PAUSE);
            return Ok(());
        }
        Err(error) => return Err(error),
    }
    let removed = match read(path) {
        Found::Holder(found) if found == *stale => fs::remove_file(path),
        _ => Ok(()),
    };
    fs::remove_file(&guard).and(removed)
}

impl FileHolder {
    fn own() -> Self {
        let pid = std::process::id();
        let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        FileHolder {
            pid,
            host: host(),
            since: timestamp(since),
            machine: machine(),
            process: start_of(pid),
            has_system_lock: false,
        }
    }

    /// Whether its id is one of this machine.
    fn is_here(&self) -> bool {
        self.host == host() && self.machine == machine()
    }

    /// Whether it is known to have ended.
    fn is_gone(&self) -> bool {
        self.is_here() && !is_alive(self.pid, self.process.as_deref())
    }
}

#[cfg(unix)]
fn host() -> String {
    rustix::system::uname().nodename().to_string_lossy().into_owned()
}

#[cfg(not(unix))]
fn host() -> String {
    std::env::var("COMPUTERNAME").unwrap_or_default()
}

/// The start of the system and the namespace of processes: machines may share a name, and containers do.
#[cfg(target_os = "linux")]
fn machine() -> Option<String> {
    let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
    let namespace = fs::read_link("/proc/self/ns/pid").ok()?;
    Some(format!("{} {}", boot.trim(), namespace.display()))
}

#[cfg(not(target_os = "linux"))]
fn machine() -> Option<String> {
    None
}

/// When a process was started, in ticks since the start of the system; none if it has ended.
#[cfg(target_os = "linux")]
fn start_of(pid: u32) -> Option<String> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name of the program, in parentheses, may hold anything.
    let mut words = stat.rsplit_once(") ")?.1.split(' ');
    let state = words.next()?;
    (!matches!(state, "Z" | "X")).then(|| words.nth(18).map(str::to_owned)).flatten()
}

#[cfg(not(target_os = "linux"))]
fn start_of(_: u32) -> Option<String> {
    None
}

#[cfg(target_os = "linux")]
fn is_alive(pid: u32, start: Option<&str>) -> bool {
    start_of(pid).is_some_and(|found| start.is_none_or(|start| start == found))
}

#[cfg(all(unix, not(target_os = "linux")))]
fn is_alive(pid: u32, _: Option<&str>) -> bool {
    use rustix::process::{Pid, test_kill_process};
    let pid = i32::try_from(pid).ok().and_then(Pid::from_raw);
    // A process of another user may not be signalled, and is alive.
    pid.is_some_and(|pid| test_kill_process(pid) != Err(rustix::io::Errno::SRCH))
}

/// Elsewhere it is not known.
#[cfg(not(unix))]
fn is_alive(_: u32, _: Option<&str>) -> bool {
    true
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
