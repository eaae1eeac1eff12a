//! Long text for people: through a pager on a terminal, as it is elsewhere.

use std::env;
use std::io::{self, Write};
use std::process::{Child, Command, Stdio};

use crate::diagnostic::Diagnostic;
use crate::output::{self, Stream};

/// The exit codes of a shell that could not find or start a program.
const NOT_STARTED: [i32; 2] = [126, 127];

/// Where a long text goes, piece by piece, each cleaned as everything is that people read.
pub(crate) enum TextSink {
    Stdout,
    Pager(Box<Pager>),
}

/// A pager that is running.
pub(crate) struct Pager {
    command: String,
    child: Child,
}

impl TextSink {
    /// A pager if that is wanted, standard output is a terminal and there is one; else standard output.
    pub(crate) fn open(is_paged: bool) -> Self {
        let is_dumb = env::var("TERM").is_ok_and(|term| term == "dumb");
        let pager = match is_paged && !is_dumb && Stream::Stdout.is_terminal() {
            true => Pager::start(),
            false => None,
        };
        pager.map_or(TextSink::Stdout, |pager| TextSink::Pager(Box::new(pager)))
    }

    /// Writes a text. `render` gives it with styles (true) or without, and must not differ in anything else.
    ///
    /// # Errors
    /// [`io::ErrorKind::BrokenPipe`] if the reader has seen enough.
    pub(crate) fn show(&mut self, render: impl Fn(bool) -> String) -> io::Result<()> {
        match self {
            TextSink::Stdout => output::show(Stream::Stdout, render),
            TextSink::Pager(pager) => {
                let text = output::rendered(Stream::Stdout, render);
                let Some(input) = pager.child.stdin.as_mut() else {
                    return Err(io::ErrorKind::BrokenPipe.into());
                };
                input.write_all(text.as_bytes())?;
                input.flush()
            }
        }
    }

    /// Waits until the reader has closed the pager.
    ///
    /// # Errors
    /// The pager could not be started.
    pub(crate) fn finish(self) -> Result<(), Diagnostic> {
        let TextSink::Pager(mut pager) = self else { return Ok(()) };
        drop(pager.child.stdin.take());
        let ended = pager.child.wait().ok().and_then(|status| status.code());
        if ended.is_some_and(|code| NOT_STARTED.contains(&code)) {
            let problem = format!("the pager `{}` cannot be started", pager.command);
            return Err(Diagnostic::error(problem).hint("correct PAGER, or give --no-pager"));
        }
        Ok(())
    }
}

impl Pager {
    /// Starts what `ERRORBAR_PAGER` or `PAGER` names, else `less`; none if that is empty, `cat`, or not installed.
    fn start() -> Option<Self> {
        let named = ["ERRORBAR_PAGER", "PAGER"].into_iter().find_map(|name| env::var(name).ok());
        let named = named.as_deref().map(str::trim);
        let (name, mut command) = match named {
            Some("" | "cat") => return None,
            // Colours are escape sequences, which `less` shows as such by default.
            None | Some("less") => {
                let mut less = Command::new("less");
                less.arg("-R");
                ("less", less)
            }
            Some(line) => (line, shell(line)),
        };
        // As other programs set it: end if all fits on one screen, with colours, and leave the text there.
        if env::var_os("LESS").is_none() {
            command.env("LESS", "FRX");
        }
        let child = command.stdin(Stdio::piped()).spawn().ok()?;
        leave_interrupts_to_pager();
        Some(Pager { command: name.to_owned(), child })
    }
}

/// The command of a line that may have arguments.
#[cfg(unix)]
fn shell(line: &str) -> Command {
    let mut command = Command::new("sh");
    command.args(["-c", line]);
    command
}

#[cfg(not(unix))]
fn shell(line: &str) -> Command {
    let mut words = line.split_whitespace();
    let mut command = Command::new(words.next().unwrap_or_default());
    command.args(words);
    command
}

/// Ctrl-C reaches the pager too, where it ends a search; it must not end this process and leave the pager without a
/// parent on the same terminal. The handler stays in place when the runtime that installed it is gone.
fn leave_interrupts_to_pager() {
    #[cfg(unix)]
    if let Ok(runtime) = tokio::runtime::Builder::new_current_thread().enable_all().build() {
        use tokio::signal::unix::{SignalKind, signal};
        // Without the handler, Ctrl-C ends the program as usual.
        let _ = runtime.block_on(async { signal(SignalKind::interrupt()).map(drop) });
    }
}
