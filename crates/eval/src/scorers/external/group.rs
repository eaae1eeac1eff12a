//! A child with all processes that it starts: they end together.
//!
//! A process can leave its group (`setsid`), but it keeps the variable that marks the group unless it gets another
//! environment, and its parent until that ends: a daemon that has neither is not found. Making us the parent of orphans (`PR_SET_CHILD_SUBREAPER`) was rejected: we would adopt those of the program
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
    /// What the child had started when it was last looked at. When the child has ended, it is no longer known as its own.
    descendants: Mutex<Vec<Descendant>>,
}

/// A process that a child has started, and when that was: its number may belong to another process later.
#[derive(Debug, PartialEq, Eq)]
struct Descendant {
    pid: i32,
    started: String,
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
    groups.drain(..).filter_map(|group| group.upgrade()).for_each(|group| group.kill_tree());
    if has_groups {
        end_marked(&OUR_MARK);
    }
}

impl ProcessGroup {
    /// A child whose command has this mark.
    pub(super) fn new(child: Child, mark: GroupMark) -> Arc<Self> {
        let child = Mutex::new(GroupLeader { child, status: None });
        let group = Arc::new(ProcessGroup { child, mark, descendants: Mutex::default() });
        let mut alive = lock(&ALIVE);
        alive.retain(|group| group.strong_count() > 0);
        alive.push(Arc::downgrade(&group));
        group
    }

    /// Ends the child and what it has started.
    pub(super) fn kill(&self) {
        self.kill_tree();
        end_marked(&self.mark.0);
    }

    /// Ends the child, what has stayed in its group and what it is still the parent of.
    fn kill_tree(&self) {
        self.find_descendants();
        let leader = &mut *lock(&self.child);
        if leader.status.is_none() {
            kill_group(&mut leader.child);
        }
        self.end_descendants();
    }

    /// Looks at what the child has started, which is no longer possible when it has ended.
    pub(super) fn find_descendants(&self) {
        let leader = lock(&self.child);
        if leader.status.is_none() {
            let found = descendants(leader.child.id());
            let mut known = lock(&self.descendants);
            known.extend(found);
        }
    }

    fn end_descendants(&self) {
        lock(&self.descendants).drain(..).for_each(|descendant| descendant.end());
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
                lock(&self.descendants).extend(descendants(leader.child.id()));
                kill_group(&mut leader.child);
                let status = match leader.child.wait() {
                    Ok(status) => status.to_string(),
                    Err(error) => format!("an unknown status ({error})"),
                };
                leader.status = Some(status.clone());
                end_marked(&self.mark.0);
                self.end_descendants();
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
/// cannot be read from `/proc`, there are none.
fn end_marked(mark: &str) {
    /// One that starts others faster than they are ended is not followed for ever.
    const ROUNDS: usize = 8;
    let marked = || {
        let processes = std::fs::read_dir("/proc").into_iter().flatten().flatten();
        let pid = |entry: std::fs::DirEntry| entry.file_name().to_str()?.parse::<i32>().ok();
        let has_mark = |pid: &i32| {
            let environment = std::fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
            environment.split(|byte| *byte == 0).any(|variable| variable.starts_with(mark.as_bytes()))
        };
        processes.filter_map(pid).filter(has_mark).collect::<Vec<i32>>()
    };
    for _ in 0..ROUNDS {
        let marked = marked();
        if marked.is_empty() {
            return;
        }
        marked.into_iter().for_each(kill);
    }
}

/// The number of the parent of a process, and when the process was started, in ticks since the start of the system.
fn parent_and_start(pid: i32) -> Option<(u32, String)> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name of the program, in parentheses, may hold anything.
    let mut words = stat.rsplit_once(") ")?.1.split(' ').skip(1);
    Some((words.next()?.parse().ok()?, words.nth(17)?.to_owned()))
}

/// What a process has started, and what that has started.
fn descendants(of: u32) -> Vec<Descendant> {
    let process = |entry: std::fs::DirEntry| {
        let pid = entry.file_name().to_str()?.parse::<i32>().ok()?;
        let (parent, started) = parent_and_start(pid)?;
        Some((parent, Descendant { pid, started }))
    };
    let processes = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let mut others: Vec<(u32, Descendant)> = processes.filter_map(process).collect();
    let (mut found, mut parents) = (Vec::new(), vec![of]);
    while let Some(of) = parents.pop() {
        let (children, rest): (Vec<_>, Vec<_>) = others.into_iter().partition(|(parent, _)| *parent == of);
        others = rest;
        parents.extend(children.iter().filter_map(|(_, child)| u32::try_from(child.pid).ok()));
        found.extend(children.into_iter().map(|(_, child)| child));
    }
    found
}

impl Descendant {
    fn end(&self) {
        if parent_and_start(self.pid).is_some_and(|(_, started)| started == self.started) {
            kill(self.pid);
        }
    }
}

#[cfg(unix)]
fn kill(pid: i32) {
    use rustix::process::{Pid, Signal, kill_process};
    // One that has ended meanwhile needs no signal.
    let _ = Pid::from_raw(pid).map(|pid| kill_process(pid, Signal::KILL));
}

#[cfg(not(unix))]
fn kill(_: i32) {}

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
