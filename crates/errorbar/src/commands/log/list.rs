//! `errorbar log list`: a line per log, from headers alone.

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use clap::Args;
use clap::builder::TypedValueParser;
use errorbar_log::eval::{Header, LogError, Status as RunStatus, StoppedEarly};
use errorbar_log::inspect::{NoHeadline, RecordedRow, headline_of};
use errorbar_report::{EstimateText, Listing, ListingCell};
use indexmap::IndexMap;
use serde_json::{Value as Json, json};

use super::super::common::{Format, is_ascii_locale, one_of};
use super::super::files::expand;
use super::super::handles::{DEFAULT_LOG_DIR, LOG_DIR, log_dir, newest_first};
use super::super::logs::ReadArgs;
use super::super::{Outcome, counted};
use crate::diagnostic::{Diagnostic, Diagnostics};

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
    #[arg(long, value_name = "STATUS", value_parser = statuses())]
    status: Option<RunStatus>,
    /// The first N of the list
    #[arg(long, value_name = "N")]
    limit: Option<NonZeroUsize>,
    /// The format of the list; `csv-safe` is CSV for spreadsheets, in which no cell is a formula
    #[arg(long, short, value_enum, default_value_t)]
    format: Format,
    #[command(flatten)]
    read: ReadArgs,
}

fn statuses() -> impl TypedValueParser<Value = RunStatus> {
    one_of([
        ("success", RunStatus::Success),
        ("error", RunStatus::Error),
        ("cancelled", RunStatus::Cancelled),
        ("started", RunStatus::Started),
    ])
}

/// A log in the list.
struct LogSummary {
    /// Its short name, if a folder is listed.
    handle: Option<String>,
    log: String,
    created: String,
    task: String,
    model: String,
    status: RunStatus,
    completed: u64,
    total: Option<u64>,
    /// The figure to show, or why there is none; none without results.
    first: Option<Result<RecordedRow, NoHeadline>>,
}

pub(crate) fn run(args: &LogListArgs) -> Outcome {
    let mut input = expand(&args.logs);
    input.files = newest_first(input.files);
    let read = |path: &Path, _: &mut Diagnostics| Ok(LogSummary::read(path, &args.read)?);
    let (mut all, mut diagnostics) = input.map(read);
    // The number of a log is that among all of the folder that can be read, whatever the filters leave.
    if let Some(prefix) = handle_prefix(&args.logs) {
        for (number, log) in (1..).zip(&mut all) {
            log.handle = Some(format!("{prefix}@{number}"));
        }
    }
    let mut logs: Vec<&LogSummary> = all.iter().filter(|log| args.wants(log)).collect();
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
    Outcome { output: args.format.listing(listing), diagnostics, ..Outcome::default() }
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
    fn wants(&self, log: &LogSummary) -> bool {
        let contains = |name: &str, text: &Option<String>| {
            text.as_ref().is_none_or(|text| name.to_lowercase().contains(&text.to_lowercase()))
        };
        contains(&log.task, &self.task)
            && contains(&log.model, &self.model)
            && self.status.is_none_or(|status| status == log.status)
    }

    /// That no log is what is looked for, and what there is.
    fn nothing_found(&self, logs: &[LogSummary]) -> Diagnostic {
        /// How many names are listed.
        const NAMED: usize = 8;
        let known = |what: &str, name: &dyn Fn(&LogSummary) -> String| {
            let mut names: IndexMap<String, usize> = IndexMap::new();
            logs.iter().for_each(|log| *names.entry(name(log)).or_default() += 1);
            names.sort_by(|_, count, _, other| other.cmp(count));
            let more = if names.len() > NAMED { ", …" } else { "" };
            let names = names.iter().take(NAMED).map(|(name, count)| format!("{name} ({count})"));
            format!("{what}: {}{more}", names.collect::<Vec<_>>().join(", "))
        };
        let known = [
            self.task.as_ref().map(|_| known("tasks", &|log| log.task.clone())),
            self.model.as_ref().map(|_| known("models", &|log| log.model.clone())),
            self.status.map(|_| known("statuses", &|log| status_name(log.status).to_owned())),
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

impl LogSummary {
    fn read(path: &Path, read: &ReadArgs) -> Result<Self, LogError> {
        let log = read.open(path)?;
        let header = log.short_header()?;
        let first = headline_of(&header);
        let Header { eval, status, results, .. } = header;
        let epochs = u64::from(eval.config.epochs.unwrap_or(1));
        let stopped = StoppedEarly::recorded(&eval).ok().flatten();
        let (completed, total) = match &results {
            Some(results) if status == RunStatus::Success => {
                let planned = stopped.map(|stopped| stopped.planned.saturating_mul(epochs));
                (results.completed_samples, Some(planned.unwrap_or(results.total_samples)))
            }
            // A run that did not reach its end was to have more samples.
            results => {
                let samples = eval.dataset.sample_ids.as_ref().map(|ids| ids.len() as u64);
                let planned = samples.or(eval.dataset.samples).map(|samples| samples.saturating_mul(epochs));
                let saved =
                    results.as_ref().map_or(log.sample_count() as u64, |found| found.completed_samples);
                (saved, planned.or(results.as_ref().map(|found| found.total_samples)))
            }
        };
        Ok(LogSummary {
            handle: None,
            log: path.display().to_string(),
            created: eval.created,
            task: eval.task,
            model: eval.model,
            status,
            completed,
            total,
            first,
        })
    }

    /// The figure as data; null if there is none.
    fn headline(&self) -> Json {
        let headline = |row: &RecordedRow| {
            let interval = row.interval.as_ref();
            json!({
                "scorer": row.scorer,
                "score": row.score,
                "metric": row.key,
                "reducer": row.reducer,
                "value": row.value,
                "stderr": row.stderr,
                "lower": interval.map(|interval| interval.lower),
                "upper": interval.map(|interval| interval.upper),
            })
        };
        self.first.as_ref().and_then(|first| first.as_ref().ok()).map(headline).unwrap_or_default()
    }

    fn samples(&self) -> String {
        let total = self.total.map_or("?".to_owned(), |total| total.to_string());
        format!("{}/{total}", self.completed)
    }

    /// To the minute, as the log has it: `2026-11-15 02:39`.
    fn short_time(&self) -> String {
        const MINUTES: usize = "2026-11-15T02:39".len();
        match self.created.get(..MINUTES) {
            Some(time) if time.as_bytes().get(10) == Some(&b'T') => time.replacen('T', " ", 1),
            _ => self.created.clone(),
        }
    }

    fn figure(&self, is_ascii: bool) -> String {
        let row = match &self.first {
            None => return "-".to_owned(),
            Some(Err(reason)) => return reason.to_string(),
            Some(Ok(row)) => row,
        };
        let figure = match (row.value, &row.interval, &row.undefined) {
            (Some(value), ..) => {
                let error = row.stderr.filter(|_| !row.degenerate);
                match (error, &row.interval) {
                    (Some(error), _) => EstimateText::new(value).error(error).short(),
                    // A run that was stopped early has an interval and no error.
                    (None, Some(interval)) if row.stderr.is_none() => {
                        let text = EstimateText::new(value).interval(interval.lower, interval.upper);
                        text.side(interval.side).to_string()
                    }
                    (None, _) => EstimateText::new(value).short(),
                }
            }
            // The ends of an interval of nothing that the log records.
            (None, Some(interval), _) => {
                format!("{} … {}", EstimateText::new(interval.lower), EstimateText::new(interval.upper))
            }
            (None, None, Some(reason)) => format!("undefined ({reason})"),
            (None, None, None) => "undefined".to_owned(),
        };
        let figure = format!("{} {figure}", row.title());
        if is_ascii { figure.replace('±', "+/-") } else { figure }
    }
}

/// The columns for people. A narrow terminal does without the file, which the handle names as well, and then without
/// what says least about the result.
fn for_people(logs: &[&LogSummary], is_ascii: bool) -> Listing {
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
            log.task.as_str().into(),
            log.model.as_str().into(),
            number(status_name(log.status).to_owned()),
            number(log.samples()),
            number(log.figure(is_ascii)),
            log.log.as_str().into(),
        ];
        listing.push(handle.into_iter().chain(cells));
    }
    listing
}

/// The columns for programs: the headline is an object in JSON, and CSV has its values in separate columns.
fn for_programs(logs: &[&LogSummary], is_json: bool) -> Listing {
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
        let run =
            [&log.log, &log.created, &log.task, &log.model].map(|text| ListingCell::from(text.as_str()));
        let counts = [status_name(log.status).into(), log.completed.into(), log.total.into()];
        let headline = headline.into_iter().map(|data| ListingCell::new("", data));
        let handle = ListingCell::from(log.handle.clone());
        listing.push(run.into_iter().chain(counts).chain(headline).chain([handle]));
    }
    listing
}
