//! `errorbar log list`: a line per log, from headers alone.

use std::path::{Path, PathBuf};

use clap::Args;
use errorbar_log::eval::{Header, LogError, Status as RunStatus};
use errorbar_log::inspect::{RecordedRow, recovered_headline};
use errorbar_report::{EstimateText, Listing, ListingCell};
use serde_json::{Value as Json, json};

use super::super::Outcome;
use super::super::common::{Format, is_ascii_locale};
use super::super::files::expand;
use super::super::logs::ReadArgs;

const EXAMPLES: &str = "\
Examples:
  errorbar log list
  errorbar log list logs/*.eval other/run.json --format csv

A folder stands for the logs in it and below it, by name; names begin with the time of the run, so
the newest comes last. Only headers are read, never samples. SAMPLES are those without an error, of
all; of a run without results, those that it has saved, of those that were planned. The figure is the
log's headline, or the first that it records, ± one standard error if it has one.

Exit code: 0 if all is well, 2 if a log could not be read; the others are listed all the same.";

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct LogListArgs {
    /// Eval logs, or folders of them
    #[arg(value_name = "LOG", default_value = "logs", env = "ERRORBAR_LOG_DIR")]
    logs: Vec<PathBuf>,
    /// The format of the list
    #[arg(long, short, value_enum, default_value_t)]
    format: Format,
    #[command(flatten)]
    read: ReadArgs,
}

/// A log in the list.
struct LogSummary {
    log: String,
    created: String,
    task: String,
    model: String,
    status: &'static str,
    completed: u64,
    total: Option<u64>,
    /// The figure to show.
    first: Option<RecordedRow>,
}

pub(crate) fn run(args: &LogListArgs) -> Outcome {
    let (logs, diagnostics) = expand(&args.logs).map(|path, _| Ok(LogSummary::read(path, &args.read)?));
    let listing = match args.format {
        _ if logs.is_empty() => return diagnostics.into(),
        Format::Json | Format::Csv => for_programs(&logs, args.format == Format::Json),
        Format::Table => for_people(&logs, is_ascii_locale()),
        Format::Markdown | Format::Latex => for_people(&logs, false),
    };
    Outcome { output: args.format.listing(listing), diagnostics, ..Outcome::default() }
}

impl LogSummary {
    fn read(path: &Path, read: &ReadArgs) -> Result<Self, LogError> {
        let log = read.open(path)?;
        let Header { eval, status, results, .. } = log.short_header()?;
        let (completed, total) = match &results {
            Some(results) if status == RunStatus::Success => {
                (results.completed_samples, Some(results.total_samples))
            }
            // A run that did not reach its end was to have more samples.
            results => {
                let samples = eval.dataset.sample_ids.as_ref().map(|ids| ids.len() as u64);
                let epochs = u64::from(eval.config.epochs.unwrap_or(1));
                let planned = samples.or(eval.dataset.samples).map(|samples| samples.saturating_mul(epochs));
                let saved =
                    results.as_ref().map_or(log.sample_count() as u64, |found| found.completed_samples);
                (saved, planned.or(results.as_ref().map(|found| found.total_samples)))
            }
        };
        Ok(LogSummary {
            log: path.display().to_string(),
            created: eval.created,
            task: eval.task,
            model: eval.model,
            status: match status {
                RunStatus::Started => "started",
                RunStatus::Success => "success",
                RunStatus::Cancelled => "cancelled",
                RunStatus::Error => "error",
            },
            completed,
            total,
            first: results.as_ref().and_then(recovered_headline),
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
        self.first.as_ref().map(headline).unwrap_or_default()
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
        let Some(row) = &self.first else { return "-".to_owned() };
        let figure = match (row.value, &row.interval, &row.undefined) {
            (Some(value), ..) => {
                let error = row.stderr.filter(|_| !row.degenerate);
                error
                    .map_or_else(|| EstimateText::new(value), |error| EstimateText::new(value).error(error))
                    .short()
            }
            // The ends of an interval of nothing that the log records.
            (None, Some(interval), _) => {
                format!("{} … {}", EstimateText::new(interval.lower), EstimateText::new(interval.upper))
            }
            (None, None, Some(reason)) => format!("undefined ({reason})"),
            (None, None, None) => "undefined".to_owned(),
        };
        let name = match (&row.group, row.value.is_none() && row.interval.is_some()) {
            (Some(group), true) => group.clone(),
            (Some(group), false) => format!("{group} {}", row.key),
            (None, _) => row.key.clone(),
        };
        let figure = format!("{name} {figure}");
        if is_ascii { figure.replace('±', "+/-") } else { figure }
    }
}

/// The columns for people. The file comes last: it is the longest, and must be whole to be of use.
fn for_people(logs: &[LogSummary], is_ascii: bool) -> Listing {
    let mut listing = Listing::new(["created", "task", "model", "status", "samples", "figure", "log"]);
    for log in logs {
        // Numbers are cut short last, so they must not look like texts.
        let number = |text: String| ListingCell::new(text, json!({}));
        listing.push([
            ListingCell::from(log.short_time()),
            log.task.as_str().into(),
            log.model.as_str().into(),
            log.status.into(),
            number(log.samples()),
            number(log.figure(is_ascii)),
            log.log.as_str().into(),
        ]);
    }
    listing
}

/// The columns for programs: the headline is an object in JSON, and CSV has its values in separate columns.
fn for_programs(logs: &[LogSummary], is_json: bool) -> Listing {
    const HEADLINE: [&str; 8] = ["scorer", "score", "reducer", "metric", "value", "stderr", "lower", "upper"];
    let run = ["log", "created", "task", "model", "status"];
    let mut listing = match is_json {
        true => Listing::new(run.into_iter().chain(["completed_samples", "total_samples", "headline"])),
        false => {
            let headline = HEADLINE.map(|key| if key == "score" { "name" } else { key });
            Listing::new(run.into_iter().chain(["completed", "total"]).chain(headline))
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
        let run = run.into_iter().chain([log.status.into(), log.completed.into(), log.total.into()]);
        listing.push(run.chain(headline.into_iter().map(|data| ListingCell::new("", data))));
    }
    listing
}
