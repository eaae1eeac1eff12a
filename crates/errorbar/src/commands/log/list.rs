//! `errorbar log list`: a line per log, from headers alone.

use std::path::{Path, PathBuf};

use clap::Args;
use errorbar_core::{Block, Entry, Headline};
use errorbar_log::eval::{
    Header, LogError, RecordedBlock, RecordedMetric, RecordedResults, Status as RunStatus,
};
use errorbar_report::Figure;
use rayon::prelude::*;
use serde_json::json;

use super::super::Status;
use super::super::common::{self, Format, GlobalArgs};
use super::super::files::expand;
use super::super::logs::ReadArgs;
use super::super::output;
use super::super::told::Told;
use super::tell;

const EXAMPLES: &str = "\
Examples:
  errorbar log list
  errorbar log list logs/*.eval other/run.json --format csv

A folder stands for the logs in it and below it, by name; names begin with the time of the run, so
the newest comes last. Only headers are read, never samples. SAMPLES are those without an error, of
all; where a run has no results, those that it has saved, of those that it was to have. The figure
is the log's headline, or the first that it records, ± one standard error if it has one.

Exit code: 0 if all is well, 2 if a log could not be read; the others are listed all the same.";

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct ListArgs {
    /// Eval logs, or folders of them
    #[arg(value_name = "LOG", default_value = "logs", env = "ERRORBAR_LOG_DIR")]
    logs: Vec<PathBuf>,
    /// How to write the list
    #[arg(long, short, value_enum, default_value_t)]
    format: Format,
    #[command(flatten)]
    read: ReadArgs,
}

/// What is said of a log.
struct Listed {
    log: String,
    created: String,
    task: String,
    model: String,
    status: &'static str,
    completed: u64,
    total: Option<u64>,
    first: Option<First>,
}

/// The figure to show, and which it is.
struct First {
    headline: Headline,
    /// The metric, where the figure is one of several that it gives.
    group: Option<String>,
    figure: Figure,
}

pub(crate) fn run(args: &ListArgs, global: &GlobalArgs) -> anyhow::Result<Status> {
    let mut told = Told::new(global.quiet);
    let expanded = expand(&args.logs);
    for (problem, hint) in expanded.problems {
        told.error(problem, Some(hint));
    }
    let read: Vec<Result<Listed, LogError>> =
        expanded.files.par_iter().map(|path| Listed::read(path, &args.read)).collect();
    let mut logs = Vec::with_capacity(read.len());
    for listed in read {
        match listed {
            Ok(listed) => logs.push(listed),
            Err(error) => tell(&mut told, &error),
        }
    }
    if !logs.is_empty() {
        match args.format {
            Format::Table => common::show(|color| table(&logs, color))?,
            Format::Markdown => output::print(markdown(&logs).as_bytes())?,
            Format::Json => output::print(json(&logs)?.as_bytes())?,
            Format::Csv => output::print(&csv(&logs)?)?,
        }
    }
    Ok(told.say())
}

impl Listed {
    fn read(path: &Path, read: &ReadArgs) -> Result<Self, LogError> {
        let log = read.open(path)?;
        let Header { eval, status, results, .. } = log.short_header()?;
        let (completed, total) = match &results {
            Some(results) => (results.completed_samples, Some(results.total_samples)),
            None => {
                let samples = eval.dataset.sample_ids.as_ref().map(|ids| ids.len() as u64);
                let epochs = u64::from(eval.config.epochs.unwrap_or(1));
                let planned = samples.or(eval.dataset.samples).map(|samples| samples.saturating_mul(epochs));
                (log.sample_count() as u64, planned)
            }
        };
        Ok(Listed {
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
            first: results.and_then(first_figure),
        })
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

    fn figure(&self) -> String {
        match &self.first {
            Some(First { headline, group, figure }) => {
                let group = group.as_ref().map(|group| format!("{group} ")).unwrap_or_default();
                format!("{group}{} {figure}", headline.metric)
            }
            None => "-".to_owned(),
        }
    }

    /// The cells for people. The file comes last: it is the longest, and must be whole to be of use.
    fn cells(&self) -> [String; 7] {
        let (task, model, log) = (self.task.clone(), self.model.clone(), self.log.clone());
        [self.short_time(), task, model, self.status.to_owned(), self.samples(), self.figure(), log]
    }
}

/// The headline, or the first figure if there is none or it is not there.
fn first_figure(results: RecordedResults) -> Option<First> {
    let is_headline = |block: &RecordedBlock, headline: &Headline| {
        block.scorer == headline.scorer
            && block.name == headline.score
            && block.reducer == headline.reducer
            && block.metrics.contains_key(&headline.metric)
    };
    let RecordedResults { scores, headline, .. } = results;
    let claimed = headline.and_then(|headline| {
        scores.iter().position(|block| is_headline(block, &headline)).map(|at| (at, headline.metric))
    });
    let (at, metric) = claimed.or_else(|| {
        let at = scores.iter().position(|block| !block.metrics.is_empty())?;
        Some((at, scores.get(at)?.metrics.keys().next()?.clone()))
    })?;
    let block = as_block(scores.into_iter().nth(at)?);
    let figure = Figure::of(&block, &metric)?;
    let group = block.metrics.get(&metric).and_then(|entry| entry.group.clone());
    let Block { scorer, name: score, reducer, .. } = block;
    Some(First { headline: Headline { scorer, score, metric, reducer }, group, figure })
}

/// A recorded block as one that was computed, as far as its figures go.
fn as_block(recorded: RecordedBlock) -> Block {
    let entry = |(key, metric): (String, RecordedMetric)| {
        let RecordedMetric { name, group, value, params, metadata } = metric;
        (key, Entry { name, group, value, params, metadata })
    };
    Block {
        name: recorded.name,
        scorer: recorded.scorer,
        reducer: recorded.reducer,
        scored_samples: 0,
        unscored_samples: 0,
        missing_samples: 0,
        errored_samples: 0,
        epochs: 0,
        unreduced: false,
        unscored_epochs: 0,
        missing_epochs: 0,
        unconvertible: 0,
        params: recorded.params,
        metrics: recorded.metrics.into_iter().map(entry).collect(),
        failures: Vec::new(),
    }
}

const TITLES: [&str; 7] = ["created", "task", "model", "status", "samples", "figure", "log"];

fn table(logs: &[Listed], color: bool) -> String {
    let rows: Vec<[String; 7]> = logs.iter().map(Listed::cells).collect();
    let text = common::columns(TITLES, &rows, color);
    if common::speaks_only_ascii() { text.replace('±', "+/-") } else { text }
}

fn markdown(logs: &[Listed]) -> String {
    common::markdown(TITLES, &logs.iter().map(Listed::cells).collect::<Vec<_>>())
}

fn json(logs: &[Listed]) -> serde_json::Result<String> {
    let object = |log: &Listed| {
        let headline = log.first.as_ref().map(|First { headline, figure, .. }| {
            json!({
                "scorer": headline.scorer,
                "score": headline.score,
                "metric": headline.metric,
                "reducer": headline.reducer,
                "value": figure.value,
                "stderr": figure.error,
            })
        });
        json!({
            "log": log.log,
            "created": log.created,
            "task": log.task,
            "model": log.model,
            "status": log.status,
            "completed_samples": log.completed,
            "total_samples": log.total,
            "headline": headline,
        })
    };
    serde_json::to_string_pretty(&logs.iter().map(object).collect::<Vec<_>>()).map(|text| text + "\n")
}

fn csv(logs: &[Listed]) -> anyhow::Result<Vec<u8>> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.write_record([
        "log",
        "created",
        "task",
        "model",
        "status",
        "completed",
        "total",
        "scorer",
        "name",
        "reducer",
        "metric",
        "value",
        "stderr",
    ])?;
    let number = |value: Option<f64>| value.map(|value| value.to_string()).unwrap_or_default();
    for log in logs {
        let (completed, total) = (log.completed.to_string(), log.total.map(|total| total.to_string()));
        let about = [&log.log, &log.created, &log.task, &log.model, log.status, &completed];
        let headline = log.first.as_ref().map(|first| &first.headline);
        let named =
            headline.map(|h| [&h.scorer, &h.score, h.reducer.as_deref().unwrap_or_default(), &h.metric]);
        let figure = log.first.as_ref().map(|first| [number(first.figure.value), number(first.figure.error)]);
        let cells = about.into_iter().chain([total.as_deref().unwrap_or_default()]);
        let cells = cells.chain(named.unwrap_or_default());
        let figure = figure.unwrap_or_default();
        writer.write_record(cells.chain(figure.iter().map(String::as_str)))?;
    }
    Ok(writer.into_inner()?)
}
