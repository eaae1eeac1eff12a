//! The lock on a log that needs no locks of the system: a file beside it, with the process that holds it.
//!
//! Network file systems may lack `flock` (Lustre by default, NFS without its lock service), for all machines or for some.
//! Creating a file that must not be there is a single step on all of them. The file of a process that was killed stays:
//! another of the same machine sees that the process is gone and takes over, and so does one that gets the lock of the
//! system which that process had. Anything else on another machine cannot be judged, and is reported.

use std::fmt;
use std::fs::{self, File};
use std::io::{self, ErrorKind, Read, Write};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};

use super::error::{LogError, LogErrorKind, Result};
use super::wire::timestamp;

/// How often, and how long apart, a file is looked at that changes hands.
const ROUNDS: usize = 100;
const PAUSE: Duration = Duration::from_millis(10);
/// More than a lock file has.
const MOST_BYTES: u64 = 64 << 10;

/// The lock file of this process; it is removed when this is dropped.
#[derive(Debug)]
pub(super) struct LockFile {
    path: PathBuf,
    holder: FileHolder,
}

/// Whether a process has the lock of the system too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SystemLock {
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
