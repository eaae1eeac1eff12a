//! A child with all processes that it starts: they end together.

use std::io;
use std::process::{Child, Command};
use std::sync::{Arc, Mutex, Weak};
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::lock;

/// A child and its group.
#[derive(Debug)]
pub(super) struct ProcessGroup {
    child: Mutex<GroupLeader>,
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
    lock(&ALIVE).drain(..).filter_map(|group| group.upgrade()).for_each(|group| group.kill());
}

/// Starts children in a group of their own: a Ctrl-C at the terminal is for us, and we end them.
pub(super) fn in_own_group(command: &mut Command) -> &mut Command {
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(command, 0);
    command
}

impl ProcessGroup {
    /// A child that was started [`in_own_group`].
    pub(super) fn new(child: Child) -> Arc<Self> {
        let group = Arc::new(ProcessGroup { child: Mutex::new(GroupLeader { child, status: None }) });
        let mut alive = lock(&ALIVE);
        alive.retain(|group| group.strong_count() > 0);
        alive.push(Arc::downgrade(&group));
        group
    }

    /// Ends the child and what it has started.
    pub(super) fn kill(&self) {
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
