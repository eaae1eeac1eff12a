//! `errorbar view`: the logs of a folder in a browser.

use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Arc, mpsc};
use std::time::Duration;
use std::{env, io, thread};

use clap::Args;
use errorbar_analysis::{CONFIDENCE, DEFAULT_LOG_DIR, LOG_DIR, has_scored_confidence, report_of_run};
use errorbar_core::{Evaluation, MetadataKeys, Plan, Registry, ScoreColumns, ScoreParts};
use errorbar_eval::{CancelToken, cancel_on_interrupt};
use errorbar_files::{is_url, url_hint};
use errorbar_log::eval::{
    EvalLog, Header, LogError, LogScores, ReducerConversion, ScoreOptions, Status, compare, plan_from_header,
};
use errorbar_report::html::{Page, PageRun, PageSamples, RunFacts};
use errorbar_report::samples::whole_key_html;
use errorbar_report::{ChanceLevel, Report, RunIdentity, run_names};
use errorbar_view::{PageError, ReportPages, ViewError, ViewOptions, ViewServer};

use super::logs::run_facts;
use super::{CommandOutcome, CommandResult, Context};
use crate::diagnostic::{Diagnostic, Diagnostics, Print};
use crate::format::counted;
use crate::output;
use crate::output::Stream;

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
    if env::var_os("SSH_CONNECTION").is_some() && address.ip().is_loopback() {
        let port = address.port();
        let tunnel = format!("from your own machine, first: ssh -L {port}:127.0.0.1:{port} THIS-HOST");
        notes.push(Diagnostic::note(tunnel));
    }
    notes
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

/// A file with more bytes than this is not read as a whole if that can be avoided.
const LARGE: u64 = 4 << 20;

/// Makes report pages of logs.
struct LogPages {
    registry: Registry,
}

/// What a page shows of a log.
struct LoadedLog {
    path: PathBuf,
    /// A digest of what each row asks, where several logs are shown.
    digests: Vec<u64>,
    report: Report,
    columns: ScoreColumns,
    plan: Plan,
    facts: RunFacts,
}

impl LogPages {
    fn new(context: &Context<'_>) -> Self {
        LogPages { registry: context.registry.clone() }
    }

    fn load(&self, log: &EvalLog, is_compared: bool) -> Result<LoadedLog, PageError> {
        let path = log.path();
        let header = log.header().map_err(unusable)?;
        let (mut plan, _) = plan_from_header(&header, &self.registry).map_err(unusable)?;
        let is_large = log.file_stamp().0 > LARGE;
        // What samples ask is compared, and is not in the list.
        let summarized = if is_large && !is_compared { from_summaries(log, &header, &plan) } else { None };
        let (scores, evaluation) = match summarized {
            Some(found) => found,
            None => from_samples(log, &header, &mut plan, is_compared)?,
        };
        let mut facts = run_facts(path, &header);
        facts.chance = ChanceLevel::of_rows(&scores.columns, &scores.choice_counts);
        let name = path.file_name().unwrap_or(path.as_os_str()).display().to_string();
        let recorded = if scores.columns.is_empty() { header.recorded_figures() } else { None };
        let is_recorded = recorded.is_some();
        let results = recorded.unwrap_or(evaluation.results);
        let mut report = report_of_run(name, &header, results);
        report.recorded = is_recorded;
        (report.skipped, report.limits) = (scores.skipped.len(), scores.limits);
        Ok(LoadedLog {
            path: path.to_owned(),
            digests: scores.digests,
            report,
            columns: scores.columns,
            plan,
            facts,
        })
    }
}

/// The scores of the list of samples, if they are those that the log was computed from.
fn from_summaries(log: &EvalLog, header: &Header, plan: &Plan) -> Option<(LogScores, Evaluation)> {
    let recorded = header.results.as_ref().filter(|_| header.status == Status::Success)?;
    let scores = log.summary_scores(header, &shown_keys(plan)).ok().flatten()?;
    let evaluation = plan.evaluate(&scores.columns).ok()?;
    compare(recorded, &evaluation.results).is_empty().then_some((scores, evaluation))
}

/// The metadata that a page shows: what the plan needs, and the confidence of answers.
fn shown_keys(plan: &Plan) -> MetadataKeys {
    plan.metadata_keys().and(MetadataKeys::Only(vec![CONFIDENCE.to_owned()]))
}

fn from_samples(
    log: &EvalLog,
    header: &Header,
    plan: &mut Plan,
    digests: bool,
) -> Result<(LogScores, Evaluation), PageError> {
    let parts = match has_scored_confidence(log) {
        true => plan.score_parts().max(ScoreParts::Metadata),
        false => plan.score_parts(),
    };
    let options = ScoreOptions::new(shown_keys(plan)).score_parts(parts);
    let scores = log
        .scores(header, &options.skip_bad_samples(true).digests(digests).choices(true))
        .map_err(unusable)?;
    let conversions = ReducerConversion::find(log, header, plan, &scores.columns).map_err(unusable)?;
    ReducerConversion::undefine(conversions, header, plan, &scores.columns);
    let evaluation = plan.evaluate(&scores.columns);
    let evaluation = evaluation.map_err(|error| PageError::unusable(error.to_string()))?;
    Ok((scores, evaluation))
}

impl ReportPages for LogPages {
    fn page(&self, logs: &[EvalLog]) -> Result<String, PageError> {
        let loaded: Vec<LoadedLog> =
            logs.iter().map(|log| self.load(log, logs.len() > 1)).collect::<Result<_, _>>()?;
        let tasks: BTreeSet<Option<&str>> = loaded.iter().map(|log| log.report.task.as_deref()).collect();
        if tasks.len() > 1 {
            let text = "these logs are of several tasks; choose logs of one task to compare them";
            return Err(PageError::unusable(text));
        }
        let identities: Vec<RunIdentity<'_>> = loaded
            .iter()
            .map(|log| RunIdentity::new(log.report.model.as_deref().unwrap_or_default(), &log.path))
            .collect();
        let runs = loaded.iter().zip(run_names(&identities)).map(|(log, name)| PageRun {
            name,
            report: &log.report,
            columns: &log.columns,
            plan: &log.plan,
            facts: log.facts.clone(),
        });
        let mut page = Page::new(runs.collect());
        page.listed_in = Some(("../../".to_owned(), "logs".to_owned()));
        page.not_compared = not_compared(&loaded);
        page.samples = Some(PageSamples { key: whole_key_html(), data: None });
        Ok(page.to_html())
    }
}

/// Why logs must not be compared: samples of one id that are different ones.
fn not_compared(logs: &[LoadedLog]) -> Option<String> {
    let mut known: HashMap<(Option<&str>, String), u64> = HashMap::new();
    let mut differing: BTreeSet<String> = BTreeSet::new();
    for log in logs {
        for (row, digest) in log.digests.iter().enumerate() {
            let id = log.columns.sample_id(row).to_string();
            let first = *known.entry((log.report.task.as_deref(), id.clone())).or_insert(*digest);
            if first != *digest {
                differing.insert(id);
            }
        }
    }
    let example = differing.first()?;
    let count = counted(differing.len() as u64, "sample");
    Some(format!("the logs have other questions or targets under the same id: {count}, such as {example}"))
}

fn unusable(error: LogError) -> PageError {
    PageError::unusable(error.to_string())
}
