//! `errorbar log list`: a line per log, from headers alone.

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use clap::Args;
use errorbar_core::{EstimateRow, Results, Undefined};
use errorbar_log::eval::{LogError, LogSummary, Status as RunStatus};
use errorbar_log::inspect::recorded_name;
use errorbar_report::{EstimateText, Listing, ListingCell};
use serde_json::{Value as Json, json};

use super::super::CommandOutcome;
use super::KnownValues;
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::format::counted;
use crate::format::{Format, is_ascii_locale, one_of};
use errorbar_analysis::ReadRequest;
use errorbar_analysis::{DEFAULT_LOG_DIR, LOG_DIR, expand, log_dir, newest_first};

const EXAMPLES: &str = "\
Examples:
  errorbar log list
  errorbar log list --task almanac --status error --limit 5
  errorbar log list logs/*.eval other/run.json --format csv

The newest run comes first. A folder stands for the logs in it and below it. Its logs have handles:
@1 is the newest, @2 the one before; every command that takes a log takes a handle of the default
folder (`log show @1`), or of another (`log show other/@1`). `latest` is @1. A file that is called so
is meant by `./latest`.

Only headers are read, never samples. SAMPLES are those without an error, of all; of a run without
results, those that it has saved, of those that were planned. The figure is the headline that the task
names, else the first estimate over all samples, or over all groups, ± one standard error if it has one. A narrow terminal does without some
columns; through a pipe, and in other formats, all are there.

Exit code: 0 if all is well, 2 if a log that is named could not be read; the others are listed all the
same. A log of a folder that cannot be read is skipped, and a warning names it.";

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct LogListArgs {
    /// Eval logs, or folders of them
    #[arg(value_name = "LOG", default_value = DEFAULT_LOG_DIR, env = LOG_DIR)]
    logs: Vec<PathBuf>,
    /// Only runs of tasks whose name contains this
    #[arg(long, value_name = "TEXT")]
    task: Option<String>,
    /// Only runs of models whose name contains this
    #[arg(long, value_name = "TEXT")]
    model: Option<String>,
    /// Only runs that ended so; `started` are in progress or were killed
    #[arg(long, value_name = "STATUS", value_parser = one_of(STATUSES.map(|status| (status_name(status), status))))]
    status: Option<RunStatus>,
    /// The first N of the list
    #[arg(long, value_name = "N")]
    limit: Option<NonZeroUsize>,
    /// The format of the list; `csv-safe` is CSV for spreadsheets, in which no cell is a formula
    #[arg(long, short, value_enum, default_value_t)]
    format: Format,
    #[command(flatten)]
    read: ReadRequest,
}

const STATUSES: [RunStatus; 4] =
    [RunStatus::Success, RunStatus::Error, RunStatus::Cancelled, RunStatus::Started];

/// A log in the list.
struct ListedLog {
    /// Its short name, if a folder is listed.
    handle: Option<String>,
    path: String,
    summary: LogSummary,
}

pub(crate) fn run(args: &LogListArgs) -> CommandOutcome {
    let mut input = expand(&args.logs);
    input.files = newest_first(input.files);
    let read = |path: &Path, _: &mut Diagnostics| Ok(ListedLog::read(path, &args.read)?);
    let (mut all, mut diagnostics) = input.map(read);
    // The number of a log is that among all of the folder that can be read, whatever the filters leave.
    if let Some(prefix) = handle_prefix(&args.logs) {
        for (number, log) in (1..).zip(&mut all) {
            log.handle = Some(format!("{prefix}@{number}"));
        }
    }
    let mut logs: Vec<&ListedLog> = all.iter().filter(|log| args.wants(log)).collect();
    if logs.is_empty() && !all.is_empty() {
        diagnostics.push(args.nothing_found(&all));
    }
    logs.truncate(args.limit.map_or(usize::MAX, NonZeroUsize::get));
    let listing = match args.format {
        _ if all.is_empty() => return diagnostics.into(),
        Format::Json | Format::Csv | Format::CsvSafe => for_programs(&logs, args.format == Format::Json),
        _ if logs.is_empty() => return diagnostics.into(),
        Format::Table => for_people(&logs, is_ascii_locale()),
        Format::Markdown | Format::Latex => for_people(&logs, false),
    };
    CommandOutcome { output: args.format.listing(listing), diagnostics, ..CommandOutcome::default() }
}

/// What stands before the handles of a folder, if that is what is listed: nothing for the one that bare handles are of.
fn handle_prefix(listed: &[PathBuf]) -> Option<String> {
    match listed {
        [folder] if *folder == log_dir() => Some(String::new()),
        [folder] if folder.is_dir() => {
            let folder = folder.display().to_string();
            Some(format!("{}/", folder.trim_end_matches('/')))
        }
        _ => None,
    }
}

impl LogListArgs {
    fn wants(&self, log: &ListedLog) -> bool {
        let contains = |name: &str, text: &Option<String>| {
            text.as_ref().is_none_or(|text| name.to_lowercase().contains(&text.to_lowercase()))
        };
        contains(&log.summary.task, &self.task)
            && contains(&log.summary.model, &self.model)
            && self.status.is_none_or(|status| status == log.summary.status)
    }

    /// That no log is what is looked for, and what there is.
    fn nothing_found(&self, logs: &[ListedLog]) -> Diagnostic {
        let known = |what: &str, name: &dyn Fn(&ListedLog) -> String| {
            let mut names = KnownValues::default();
            logs.iter().for_each(|log| names.add(name(log)));
            format!("{what}: {}", names.list())
        };
        let known = [
            self.task.as_ref().map(|_| known("tasks", &|log| log.summary.task.clone())),
            self.model.as_ref().map(|_| known("models", &|log| log.summary.model.clone())),
            self.status.map(|_| known("statuses", &|log| status_name(log.summary.status).to_owned())),
        ];
        let known: Vec<String> = known.into_iter().flatten().collect();
        Diagnostic::note(format!(
            "none of {} matches; {}",
            counted(logs.len() as u64, "log"),
            known.join("; ")
        ))
    }
}

fn status_name(status: RunStatus) -> &'static str {
    match status {
        RunStatus::Started => "started",
        RunStatus::Success => "success",
        RunStatus::Cancelled => "cancelled",
        RunStatus::Error => "error",
    }
}

impl ListedLog {
    fn read(path: &Path, read: &ReadRequest) -> Result<Self, LogError> {
        let summary = LogSummary::read(&read.open(path)?)?;
        Ok(ListedLog { handle: None, path: path.display().to_string(), summary })
    }

    /// Samples times epochs, those that a rule made superfluous among them.
    fn total(&self) -> Option<u64> {
        let LogSummary { status, total, stopped_early, .. } = &self.summary;
        stopped_early.filter(|_| *status == RunStatus::Success).or(*total)
    }

    /// The figure as data; null if there is none.
    fn headline(&self) -> Json {
        let headline = |results: &Results| {
            let row = results.headline_row().ok()?;
            let interval = row.estimate.interval.as_ref().ok();
            Some(json!({
                "scorer": row.scorer,
                "score": row.of.name(),
                "metric": row.estimate.notes.log_key,
                "reducer": row.reducer,
                "value": row.estimate.number(),
                "stderr": row.estimate.stderr(),
                "lower": interval.map(|interval| interval.lower),
                "upper": interval.map(|interval| interval.upper),
            }))
        };
        self.summary.results.as_ref().and_then(headline).unwrap_or_default()
    }

    fn samples(&self) -> String {
        let total = self.total().map_or("?".to_owned(), |total| total.to_string());
        format!("{}/{total}", self.summary.completed)
    }

    /// To the minute, as the log has it: `2026-11-15 02:39`.
    fn short_time(&self) -> String {
        const MINUTES: usize = "2026-11-15T02:39".len();
        match self.summary.created.get(..MINUTES) {
            Some(time) if time.as_bytes().get(10) == Some(&b'T') => time.replacen('T', " ", 1),
            _ => self.summary.created.clone(),
        }
    }

    fn figure(&self, is_ascii: bool) -> String {
        let row = match self.summary.results.as_ref().map(Results::headline_row) {
            None => return "-".to_owned(),
            Some(Err(reason)) => return reason.to_string(),
            Some(Ok(row)) => row,
        };
        let (error, interval) = (row.estimate.error.as_ref().ok(), row.estimate.interval.as_ref().ok());
        let text = EstimateText::from(row.estimate.as_ref());
        let figure = match (&row.estimate.value, interval) {
            (Ok(value), _) => match (error, interval) {
                (Some(error), _) if !error.degenerate => text.short(),
                // A run that was stopped early has an interval and no error.
                (None, Some(_)) => text.to_string(),
                _ => EstimateText::new(*value).short(),
            },
            // The ends of an interval of nothing that the log records.
            (Err(_), Some(interval)) => {
                format!("{} … {}", EstimateText::new(interval.lower), EstimateText::new(interval.upper))
            }
            (Err(Undefined::Other(reason)), None) => format!("undefined ({reason})"),
            (Err(_), None) => "undefined".to_owned(),
        };
        let figure = format!("{} {figure}", title(&row));
        if is_ascii { figure.replace('±', "+/-") } else { figure }
    }
}

/// What a figure is called: `accuracy`, `accuracy physics`, `frequency C`, `mean of f1`.
fn title(row: &EstimateRow<'_>) -> String {
    let name = recorded_name(row);
    let field = row.result.subject.as_ref().and_then(|subject| subject.field.as_ref());
    match (row.label.or(row.key), field) {
        (Some(part), _) => format!("{name} {part}"),
        (None, Some(field)) => format!("{name} of {field}"),
        (None, None) => name.to_owned(),
    }
}

/// The columns for people. A narrow terminal does without the file, which the handle names as well, and then without
/// what says least about the result.
fn for_people(logs: &[&ListedLog], is_ascii: bool) -> Listing {
    let titles = ["created", "task", "model", "status", "samples", "figure", "log"];
    let has_handles = logs.iter().any(|log| log.handle.is_some());
    let mut listing = Listing::new(has_handles.then_some("handle").into_iter().chain(titles));
    if has_handles {
        listing = listing.droppable(["log", "samples", "created", "status", "model"]);
    }
    for log in logs {
        // Numbers are cut short last, so they must not look like texts.
        let number = |text: String| ListingCell::new(text, json!({}));
        let handle = has_handles.then(|| number(log.handle.clone().unwrap_or_default()).code());
        let cells = [
            number(log.short_time()),
            log.summary.task.as_str().into(),
            log.summary.model.as_str().into(),
            number(status_name(log.summary.status).to_owned()),
            number(log.samples()),
            number(log.figure(is_ascii)),
            log.path.as_str().into(),
        ];
        listing.push(handle.into_iter().chain(cells));
    }
    listing
}

/// The columns for programs: the headline is an object in JSON, and CSV has its values in separate columns.
fn for_programs(logs: &[&ListedLog], is_json: bool) -> Listing {
    const HEADLINE: [&str; 8] = ["scorer", "score", "reducer", "metric", "value", "stderr", "lower", "upper"];
    let run = ["log", "created", "task", "model", "status"];
    let mut listing = match is_json {
        true => {
            let counts = ["completed_samples", "total_samples", "headline", "handle"];
            Listing::new(run.into_iter().chain(counts))
        }
        false => {
            let headline = HEADLINE.map(|key| if key == "score" { "name" } else { key });
            Listing::new(run.into_iter().chain(["completed", "total"]).chain(headline).chain(["handle"]))
        }
    };
    for log in logs {
        let headline = log.headline();
        let headline = match is_json {
            true => vec![headline],
            false => HEADLINE.map(|key| headline.get(key).cloned().unwrap_or_default()).to_vec(),
        };
        let LogSummary { created, task, model, status, completed, .. } = &log.summary;
        let run = [&log.path, created, task, model].map(|text| ListingCell::from(text.as_str()));
        let counts = [status_name(*status).into(), (*completed).into(), log.total().into()];
        let headline = headline.into_iter().map(|data| ListingCell::new("", data));
        let handle = ListingCell::from(log.handle.clone());
        listing.push(run.into_iter().chain(counts).chain(headline).chain([handle]));
    }
    listing
}
