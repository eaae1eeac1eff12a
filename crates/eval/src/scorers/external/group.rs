//! A child with all processes that it starts: they end together.
//!
//! A process can leave its group (`setsid`), but it keeps the variable that marks the group unless it gets another
//! environment. Making us the parent of orphans (`PR_SET_CHILD_SUBREAPER`) was rejected: we would adopt those of the program
//! that we are a part of, too, and could not tell them apart.

use std::io;
use std::process::{Child, Command};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, LazyLock, Mutex, Weak};
use std::thread::sleep;
use std::time::{Duration, Instant};

use uuid::Uuid;

use crate::lock;

/// The variable that marks the processes of a group.
const MARK: &str = "ERRORBAR_SCORER";

/// What all our groups are marked with.
static OUR_MARK: LazyLock<String> = LazyLock::new(|| format!("{MARK}={}-", Uuid::new_v4().simple()));

/// What the processes of one group are marked with: `NAME=VALUE`.
#[derive(Debug)]
pub(super) struct GroupMark(String);

impl GroupMark {
    /// Lets a command start in a group of its own, marked: a Ctrl-C at the terminal is for us, and we end the group.
    pub(super) fn new(command: &mut Command) -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(command, 0);
        let mark = format!("{}{};", *OUR_MARK, NEXT.fetch_add(1, Ordering::Relaxed));
        if let Some((name, value)) = mark.split_once('=') {
            command.env(name, value);
        }
        GroupMark(mark)
    }
}

/// A child and its group.
#[derive(Debug)]
pub(super) struct ProcessGroup {
    child: Mutex<GroupLeader>,
    mark: GroupMark,
}

#[derive(Debug)]
struct GroupLeader {
    child: Child,
    /// How it ended. Its number may belong to another process from then on.
    status: Option<String>,
}

/// The groups that are alive, for a program that ends at once.
static ALIVE: Mutex<Vec<Weak<ProcessGroup>>> = Mutex::new(Vec::new());

/// Ends all programs that score, for a process that ends without dropping anything.
pub(crate) fn end_all() {
    let mut groups = lock(&ALIVE);
    let has_groups = !groups.is_empty();
    groups.drain(..).filter_map(|group| group.upgrade()).for_each(|group| group.kill_leader());
    if has_groups {
        end_marked(&OUR_MARK);
    }
}

impl ProcessGroup {
    /// A child whose command has this mark.
    pub(super) fn new(child: Child, mark: GroupMark) -> Arc<Self> {
        let group = Arc::new(ProcessGroup { child: Mutex::new(GroupLeader { child, status: None }), mark });
        let mut alive = lock(&ALIVE);
        alive.retain(|group| group.strong_count() > 0);
        alive.push(Arc::downgrade(&group));
        group
    }

    /// Ends the child and what it has started.
    pub(super) fn kill(&self) {
        self.kill_leader();
        end_marked(&self.mark.0);
    }

    /// Ends the child and what has stayed in its group.
    fn kill_leader(&self) {
        let leader = &mut *lock(&self.child);
        if leader.status.is_none() {
            kill_group(&mut leader.child);
        }
    }

    /// How the child ended. One that does not end within a time is killed, and what it has started and left behind too.
    pub(super) fn wait(&self, patience: Duration) -> String {
        let started = Instant::now();
        let mut pause = Duration::from_micros(200);
        loop {
            let leader = &mut *lock(&self.child);
            if let Some(status) = &leader.status {
                return status.clone();
            }
            let has_ended = has_ended(&mut leader.child);
            if has_ended || started.elapsed() >= patience {
                kill_group(&mut leader.child);
                let status = match leader.child.wait() {
                    Ok(status) => status.to_string(),
                    Err(error) => format!("an unknown status ({error})"),
                };
                leader.status = Some(status.clone());
                end_marked(&self.mark.0);
                return status;
            }
            sleep(pause);
            pause = (pause * 2).min(Duration::from_millis(20));
        }
    }
}

/// Whether the child has ended; its number stays its own until it is waited for.
#[cfg(unix)]
fn has_ended(child: &mut Child) -> bool {
    use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    !matches!(waitid(WaitId::Pid(Pid::from_child(child)), options), Ok(None))
}

#[cfg(not(unix))]
fn has_ended(child: &mut Child) -> bool {
    !matches!(child.try_wait(), Ok(None))
}

#[cfg(unix)]
fn kill_group(child: &mut Child) {
    use rustix::process::{Pid, Signal, kill_process_group};
    // A group that is gone needs no signal.
    let _ = kill_process_group(Pid::from_child(child), Signal::KILL);
}

#[cfg(not(unix))]
fn kill_group(child: &mut Child) {
    let _ = child.kill();
}

/// Ends the processes whose environment has this mark: those that have left the group of a child. Where environments
/// cannot be read, there are none.
#[cfg(any(target_os = "linux", target_os = "android"))]
fn end_marked(mark: &str) {
    use rustix::process::{Pid, Signal, kill_process};
    /// One that starts others faster than they are ended is not followed for ever.
    const ROUNDS: usize = 8;
    let marked = || {
        let processes = std::fs::read_dir("/proc").into_iter().flatten().flatten();
        let pid = |entry: std::fs::DirEntry| entry.file_name().to_str()?.parse::<i32>().ok();
        let has_mark = |pid: &i32| {
            let environment = std::fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
            environment.split(|byte| *byte == 0).any(|variable| variable.starts_with(mark.as_bytes()))
        };
        processes.filter_map(pid).filter(has_mark).filter_map(Pid::from_raw).collect::<Vec<Pid>>()
    };
    for _ in 0..ROUNDS {
        let marked = marked();
        if marked.is_empty() {
            return;
        }
        for pid in marked {
            // One that has ended meanwhile needs no signal.
            let _ = kill_process(pid, Signal::KILL);
        }
    }
}

#[cfg(not(any(target_os = "linux", target_os = "android")))]
fn end_marked(_: &str) {}

/// Limits the memory of a child, and of each process that it starts.
///
/// # Errors
/// A platform without such limits, or a system that refuses.
#[cfg(any(target_os = "linux", target_os = "android"))]
pub(super) fn limit_memory(child: &Child, bytes: u64) -> io::Result<()> {
    use rustix::process::{Pid, Resource, Rlimit, prlimit};
    // Data, not address space: runtimes reserve addresses that they never use.
    let limit = Rlimit { current: Some(bytes), maximum: Some(bytes) };
    prlimit(Some(Pid::from_child(child)), Resource::Data, limit)?;
    Ok(())
}

#[cfg(not(any(target_os = "linux", target_os = "android")))]
pub(super) fn limit_memory(_: &Child, _: u64) -> io::Result<()> {
    let problem = "the memory of another process can be limited on Linux only; leave `memory` out";
    Err(io::Error::new(io::ErrorKind::Unsupported, problem))
}
