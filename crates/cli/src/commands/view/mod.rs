//! `errorbar view`: the logs of a folder in a browser.

mod pages;

use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Arc, mpsc};
use std::time::Duration;
use std::{env, io, thread};

use clap::Args;
use errorbar_eval::{CancelToken, cancel_on_interrupt};
use errorbar_files::{is_url, url_hint};
use errorbar_view::{ViewError, ViewOptions, ViewServer};

use super::{CommandOutcome, CommandResult, Context};
use crate::diagnostic::{Diagnostic, Diagnostics, Print};
use crate::output::{self, Stream};
use errorbar_analysis::{DEFAULT_LOG_DIR, LOG_DIR};
use pages::LogPages;

const EXAMPLES: &str = "\
Examples:
  The logs of the default folder, or of another:
    errorbar view
    errorbar view other/logs --open

  Always at the same port:
    errorbar view --port 8080

  Beside a run, to see its estimate while it grows:
    errorbar eval task.toml --view

The address that is printed has a token in it: whoever has the address can read the logs of the
folder, and nobody else can. The server listens on this machine only, unless --host names another
address; it reads files, and writes none. Ctrl-C ends it.

The list shows the headline of each log with its error. A run in progress is at the top, with its
estimate so far: that of the samples that finished first, which may be easier than the rest.

Exit code: 0 when Ctrl-C ends it, 2 if it cannot start.";

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct ViewArgs {
    /// The folder of logs; those in folders below it are shown, too
    #[arg(value_name = "DIR", default_value = DEFAULT_LOG_DIR, env = LOG_DIR)]
    folder: PathBuf,
    /// The address to listen on; with another than the default, other machines can connect
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1")]
    host: String,
    /// The port to listen on; 0 for a free one
    #[arg(long, value_name = "N", default_value_t = 0)]
    port: u16,
    /// Open the address in a browser
    #[arg(long)]
    open: bool,
}

pub(crate) fn run(args: &ViewArgs, context: &Context<'_>) -> CommandResult {
    if !args.folder.is_dir() {
        let (problem, hint) = match &args.folder {
            folder if is_url(folder) => {
                ("this is an address, and not the path of a folder", url_hint(folder))
            }
            folder => (
                if folder.exists() { "this is no folder" } else { "there is no such folder" },
                format!("name a folder of logs, or run a task first: `{} eval`", context.program),
            ),
        };
        return Err(Diagnostic::error(problem).about(args.folder.display()).hint(hint).into());
    }
    let server = start(&args.folder, &args.host, args.port, context)?;
    let (ended, end) = mpsc::channel();
    cancel_on_interrupt(CancelToken::new(), move || {
        // Nobody waits only if the server has ended.
        let _ = ended.send(());
    });
    notes(args, &server).print(context.quiet);
    output::show(Stream::Stdout, |_| format!("{}\n", server.url())).or_else(closed_pipe)?;
    if args.open {
        let opened = open(server.url());
        opened.map_err(|problem| Diagnostic::warning(problem).print(context.quiet)).unwrap_or_default();
    }
    // Whoever sends is alive as long as this process.
    let _ = end.recv();
    server.stop();
    Ok(CommandOutcome::default())
}

/// Whoever reads the address may stop reading.
fn closed_pipe(error: io::Error) -> Result<(), Diagnostics> {
    match error.kind() {
        io::ErrorKind::BrokenPipe => Ok(()),
        _ => Err(error.into()),
    }
}

/// What to know before the address.
fn notes(args: &ViewArgs, server: &ViewServer) -> Diagnostics {
    let mut notes = Diagnostics::default();
    let address = server.address();
    if !address.ip().is_loopback() {
        let text =
            "other machines can connect, without encryption: whoever sees the address can read the logs";
        notes.push(Diagnostic::warning(text).hint("leave out --host and use a tunnel: ssh -L"));
    }
    let how = if args.open { "" } else { "open this address in a browser (--open does); " };
    notes.push(Diagnostic::note(format!("{how}Ctrl-C ends the server")));
    if env::var_os("SSH_CONNECTION").is_some() && is_local(address.ip()) {
        let port = address.port();
        let tunnel = format!("from your own machine, first: ssh -L {port}:127.0.0.1:{port} THIS-HOST");
        notes.push(Diagnostic::note(tunnel));
    }
    notes
}

fn is_local(address: IpAddr) -> bool {
    address.is_loopback()
}

fn start(folder: &Path, host: &str, port: u16, context: &Context<'_>) -> Result<ViewServer, Diagnostics> {
    let pages = Arc::new(LogPages::new(context));
    let mut options = ViewOptions::new(folder, context.registry.clone(), pages);
    (options.host, options.port) = (host.to_owned(), port);
    options.command = format!("{} eval task.toml --model openai/NAME", context.program);
    ViewServer::start(options).map_err(|error| {
        let hint = match &error {
            ViewError::Listen { source, .. } if source.kind() == io::ErrorKind::AddrInUse => {
                "choose another port, or 0 for a free one"
            }
            ViewError::Listen { .. } => "name an address of this machine: 127.0.0.1, ::1 or 0.0.0.0 for all",
            _ => "try again",
        };
        Diagnostic::error(error.to_string()).hint(hint).into()
    })
}

/// Serves the folder of a run, whose data stay by themselves on standard output.
pub(super) fn start_beside(folder: &Path, context: &Context<'_>) -> Result<ViewServer, Diagnostics> {
    let server = start(folder, "127.0.0.1", 0, context)?;
    // The address is what was asked for, so `--quiet` does not hide it.
    Diagnostic::note(format!("look at the run in a browser: {}", server.url())).print(false);
    Ok(server)
}

/// Serves on when a run is over, until the user ends it.
pub(super) fn stay(server: ViewServer, cancel: CancelToken, quiet: bool) -> impl FnOnce() {
    const LOOK: Duration = Duration::from_millis(50);
    move || {
        Diagnostic::note(format!("still serving {} (Ctrl-C ends it)", server.url())).print(quiet);
        while !cancel.is_stopped() {
            thread::sleep(LOOK);
        }
        server.stop();
    }
}

/// Opens an address in a browser.
fn open(url: &str) -> Result<(), String> {
    let (program, arguments): (&str, &[&str]) = match env::consts::OS {
        "macos" => ("open", &[]),
        "windows" => ("rundll32", &["url.dll,FileProtocolHandler"]),
        _ => ("xdg-open", &[]),
    };
    let mut command = Command::new(program);
    command.args(arguments).arg(url).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = command.spawn().map_err(|error| {
        format!("cannot open a browser with {program} ({error}); open the address yourself")
    })?;
    // It may run as long as the browser, and is nobody's concern then.
    thread::spawn(move || child.wait());
    Ok(())
}
