//! One process: its pipes, and the samples that it has.

use std::collections::{HashMap, VecDeque};
use std::io::{BufRead, BufReader, Read, Write};
use std::process::{ChildStderr, ChildStdout};
use std::sync::{Arc, Mutex, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use errorbar_core::Score;
use tokio::sync::{OwnedSemaphorePermit, oneshot};

use super::CommandError;
use super::group::ProcessGroup;
use super::program::Program;
use super::protocol::Answer;
use crate::lock;

/// The longest line of an answer.
const LONGEST: usize = 8 << 20;

/// How much of a line is shown that is no answer.
const SHOWN: usize = 200;

/// How long a process may take to end when its stdout has, and its stderr when it has.
const PATIENCE: Duration = Duration::from_secs(2);
const STDERR_PATIENCE: Duration = Duration::from_secs(2);
const POLL: Duration = Duration::from_millis(1);

/// What comes of a sample.
pub(super) type Reply = Result<Score, CommandError>;

/// A process that scores. The threads of its pipes share it.
#[derive(Debug)]
pub(super) struct Process {
    /// Lines for its stdin, which ends when this is dropped.
    lines: Mutex<Option<mpsc::Sender<Vec<u8>>>>,
    group: Arc<ProcessGroup>,
    state: Mutex<ProcessState>,
    stderr: Mutex<StderrTail>,
}

#[derive(Debug, Default)]
struct ProcessState {
    /// The samples that it has, by number.
    pending: HashMap<u64, Pending>,
    answers: u64,
    /// Why it takes no more samples.
    ended: Option<ProcessEnd>,
}

/// How a process has ended.
#[derive(Clone, Debug)]
pub(super) struct ProcessEnd {
    pub(super) error: CommandError,
    /// Whether it is about what was written to stdout, and no sample has failed by it.
    pub(super) is_stray: bool,
}

/// A sample that the process has.
#[derive(Debug)]
struct Pending {
    reply: oneshot::Sender<Reply>,
    /// Free for another sample when this one is answered.
    _slot: OwnedSemaphorePermit,
}

/// Waits for the reply to a sample. If it is dropped before, nothing waits for the answer any more.
#[derive(Debug)]
pub(super) struct PendingReply {
    reply: Option<oneshot::Receiver<Reply>>,
    process: Arc<Process>,
}

impl Process {
    /// Starts a program.
    pub(super) fn start(program: &Program) -> Result<Arc<Self>, CommandError> {
        let (mut child, mark) = program.start()?;
        let (stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let (lines, to_write) = mpsc::channel::<Vec<u8>>();
        let process = Arc::new(Process {
            lines: Mutex::new(Some(lines)),
            group: ProcessGroup::new(child, mark),
            state: Mutex::default(),
            stderr: Mutex::default(),
        });
        let spawn = |work: Box<dyn FnOnce() + Send>| {
            thread::Builder::new().name("scorer".to_owned()).spawn(work).map(drop).map_err(|error| {
                process.group.kill();
                process.group.wait(Duration::ZERO);
                CommandError::not_started(format!("there is no thread for its pipes: {error}"))
            })
        };
        if let (Some(mut stdin), Some(stdout), Some(stderr)) = (stdin, stdout, stderr) {
            let (reader, watcher) = (Arc::clone(&process), Arc::clone(&process));
            spawn(Box::new(move || {
                while let Ok(line) = to_write.recv()
                    && stdin.write_all(&line).and_then(|()| stdin.flush()).is_ok()
                {}
            }))?;
            spawn(Box::new(move || watcher.read_stderr(stderr)))?;
            spawn(Box::new(move || reader.read_answers(stdout)))?;
        }
        Ok(process)
    }

    /// The number of samples that it has; none if it takes no more.
    pub(super) fn load(&self) -> Option<usize> {
        let state = lock(&self.state);
        state.ended.is_none().then_some(state.pending.len())
    }

    /// Why it takes no more samples.
    pub(super) fn ended(&self) -> Option<ProcessEnd> {
        lock(&self.state).ended.clone()
    }

    /// Sends it a sample. The reply comes also if it has just ended.
    pub(super) fn send(
        self: &Arc<Self>,
        seq: u64,
        line: Vec<u8>,
        slot: OwnedSemaphorePermit,
    ) -> PendingReply {
        let (reply, receiver) = oneshot::channel();
        let mut state = lock(&self.state);
        match &mut state.ended {
            Some(end) => {
                end.is_stray = false;
                drop(reply.send(Err(end.error.clone())));
            }
            None => {
                state.pending.insert(seq, Pending { reply, _slot: slot });
                // A writer that is gone has seen the pipe close; the reader will report it.
                let _ = lock(&self.lines).as_ref().map(|lines| lines.send(line));
            }
        }
        PendingReply { reply: Some(receiver), process: Arc::clone(self) }
    }

    /// The last lines of its stderr.
    pub(super) fn stderr(&self) -> String {
        lock(&self.stderr).lines()
    }

    /// Ends its stdin, after which a program that reads lines ends by itself.
    pub(super) fn close(&self) {
        self.group.find_descendants();
        *lock(&self.lines) = None;
    }

    /// Waits until it has ended; one that has not by then, or that has samples, is killed.
    pub(super) fn end_by(&self, deadline: Instant) {
        while self.load() == Some(0) && Instant::now() < deadline {
            thread::sleep(POLL);
        }
        self.group.kill();
    }
}

impl PendingReply {
    /// The reply.
    pub(super) async fn get(&mut self) -> Reply {
        let gone = || Err(CommandError::not_started("the thread that reads its answers is gone".to_owned()));
        let Some(receiver) = &mut self.reply else { return gone() };
        let reply = receiver.await.unwrap_or_else(|_| gone());
        self.reply = None;
        reply
    }
}

impl Drop for PendingReply {
    /// A sample whose reply is not awaited keeps its slot until it is answered, and a process that has no other
    /// samples is killed: it may never answer.
    fn drop(&mut self) {
        if self.reply.take().is_none() {
            return;
        }
        let state = lock(&self.process.state);
        if !state.pending.is_empty() && state.pending.values().all(|pending| pending.reply.is_closed()) {
            drop(state);
            self.process.group.kill();
        }
    }
}

impl Process {
    fn read_stderr(&self, mut stderr: ChildStderr) {
        let mut buffer = [0; 4096];
        while let Ok(count @ 1..) = stderr.read(&mut buffer) {
            lock(&self.stderr).push(buffer.get(..count).unwrap_or_default());
        }
        lock(&self.stderr).is_complete = true;
    }

    /// Hands out answers until there are no more, or until one is none.
    fn read_answers(&self, stdout: ChildStdout) {
        let mut stdout = BufReader::new(stdout);
        let mut line = Vec::new();
        let problem = loop {
            line.clear();
            // What cannot be read any more has ended.
            let count = stdout.by_ref().take(LONGEST as u64 + 1).read_until(b'\n', &mut line).unwrap_or(0);
            if count == 0 {
                break None;
            }
            if line.len() > LONGEST {
                break Some(format!("wrote a line of more than {} MiB to stdout", LONGEST >> 20));
            }
            if line.iter().all(u8::is_ascii_whitespace) {
                continue;
            }
            match Answer::read(&line) {
                Ok(Answer { seq, score }) => {
                    let mut state = lock(&self.state);
                    let Some(pending) = state.pending.remove(&seq) else {
                        break Some(format!(
                            "answered with seq {seq}, which is none of the samples that it has; repeat the `seq` of the \
                             line that is answered, once"
                        ));
                    };
                    state.answers += 1;
                    drop(state);
                    // The receiver may be dropped.
                    let _ = pending.reply.send(score);
                }
                // The end of a process that died while it wrote.
                Err(_) if !line.ends_with(b"\n") => break None,
                Err(problem) => {
                    let line: String =
                        String::from_utf8_lossy(&line).trim_end().chars().take(SHOWN).collect();
                    break Some(format!(
                        "wrote a line to stdout that is no answer ({problem}): {line:?}; every line of stdout is the \
                         JSON of a score, so print everything else to stderr"
                    ));
                }
            }
        };
        self.end(problem);
    }

    /// The process has ended, or is to.
    fn end(&self, problem: Option<String>) {
        if problem.is_some() {
            self.group.kill();
        }
        let status = self.group.wait(PATIENCE);
        let stderr = self.complete_stderr();
        let mut state = lock(&self.state);
        let has_samples = !state.pending.is_empty();
        let is_stray = problem.is_some() && !has_samples;
        let message = problem.unwrap_or_else(|| match has_samples {
            true if status.ends_with(": 0") => format!(
                "ended with {status} before it answered; it must read lines until its stdin ends, and answer each"
            ),
            true => format!("ended with {status} before it answered"),
            false => format!(
                "ended with {status} after {} answer(s), while it had no sample; it must go on reading lines until its \
                 stdin ends",
                state.answers
            ),
        });
        let error = CommandError::with_stderr(message, &stderr);
        state.ended = Some(ProcessEnd { error: error.clone(), is_stray });
        let pending = std::mem::take(&mut state.pending);
        drop(state);
        for pending in pending.into_values() {
            let _ = pending.reply.send(Err(error.clone()));
        }
    }

    /// The last lines of stderr when all of it has come; another process may hold it open.
    fn complete_stderr(&self) -> String {
        let until = Instant::now() + STDERR_PATIENCE;
        while !lock(&self.stderr).is_complete && Instant::now() < until {
            thread::sleep(POLL);
        }
        lock(&self.stderr).lines()
    }
}

// The end of what a program writes to stderr.

/// How much is held.
const BYTES: usize = 8 << 10;

/// How many lines are shown, and how many characters of each.
const LINES: usize = 10;
const LINE: usize = 400;

/// The last bytes that were written.
#[derive(Debug, Default)]
pub(super) struct StderrTail {
    bytes: VecDeque<u8>,
    /// Whether there will be no more.
    pub(super) is_complete: bool,
}

impl StderrTail {
    pub(super) fn push(&mut self, bytes: &[u8]) {
        self.bytes.extend(bytes);
        let surplus = self.bytes.len().saturating_sub(BYTES);
        self.bytes.drain(..surplus);
    }

    /// The last lines, indented.
    pub(super) fn lines(&self) -> String {
        let (front, back) = self.bytes.as_slices();
        let bytes = [front, back].concat();
        let text = String::from_utf8_lossy(&bytes);
        let lines: Vec<&str> = text.lines().map(str::trim_end).filter(|line| !line.is_empty()).collect();
        let last = lines.get(lines.len().saturating_sub(LINES)..).unwrap_or_default();
        let shown = last.iter().map(|line| format!("  {}", line.chars().take(LINE).collect::<String>()));
        shown.collect::<Vec<_>>().join("\n")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_is_held() {
        let mut tail = StderrTail::default();
        assert_eq!(tail.lines(), "");
        for number in 0..100_000 {
            tail.push(format!("line {number}\n").as_bytes());
        }
        assert_eq!(tail.bytes.len(), BYTES);
        let lines = tail.lines();
        assert_eq!(lines.lines().count(), LINES);
        assert!(lines.ends_with("  line 99999") && lines.starts_with("  line 99990\n"), "{lines}");
        tail.push(&[b'x'; 3 * BYTES]);
        assert_eq!(tail.lines().chars().count(), LINE + 2);
    }
}
