//! `errorbar log`: work with logs, one file per command.

mod convert;
mod dump;
mod edit_score;
mod export;
mod list;
mod show;

use clap::{Args, Subcommand, ValueEnum};
use errorbar_core::spec::nearest;
use errorbar_log::eval::LOG_SCHEMA;
use errorbar_report::{COMPARISON_SCHEMA, RESULTS_SCHEMA};
use indexmap::IndexMap;

use super::{CommandOutcome, CommandResult, Context};
use crate::output::Output;

#[derive(Debug, Args)]
pub(crate) struct LogArgs {
    #[command(subcommand)]
    command: LogCommand,
}

#[derive(Debug, Subcommand)]
enum LogCommand {
    /// List logs: task, model, time, status and headline
    List(list::LogListArgs),
    /// Show samples: question, target, answer, verdicts and why
    Show(show::ShowArgs),
    /// Print the header or samples of a log as JSON
    Dump(dump::DumpArgs),
    /// Convert logs to the other format, .eval or .json
    Convert(convert::ConvertArgs),
    /// Change a score; the old one, the author and the reason are recorded in its history
    EditScore(edit_score::EditScoreArgs),
    /// Export the scores of logs as a table: CSV, JSON lines or Parquet
    Export(export::ExportArgs),
    /// Print the JSON schema of logs, samples or results
    Schema(SchemaArgs),
}

pub(crate) fn run(args: &LogArgs, context: &Context<'_>) -> CommandResult {
    match &args.command {
        LogCommand::List(args) => Ok(list::run(args)),
        LogCommand::Show(args) => show::run(args),
        LogCommand::Dump(args) => dump::run(args),
        LogCommand::Convert(args) => convert::run(args),
        LogCommand::EditScore(args) => edit_score::run(args, context),
        LogCommand::Export(args) => export::run(args, context),
        LogCommand::Schema(args) => Ok(schema(args)),
    }
}

/// How many values or names a message has.
const NAMED: usize = 8;

/// Values and how often each was seen, for messages.
#[derive(Debug, Default)]
struct KnownValues(IndexMap<String, usize>);

impl KnownValues {
    /// How many are remembered; a key may have a value for each sample.
    const MOST: usize = 1000;

    fn add(&mut self, value: String) {
        if let Some(count) = self.0.get_mut(&value) {
            *count += 1;
        } else if self.0.len() < KnownValues::MOST {
            self.0.insert(value, 1);
        }
    }

    fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The most frequent ones, with their counts.
    fn list(&self) -> String {
        let mut known: Vec<(&String, &usize)> = self.0.iter().collect();
        known.sort_by_key(|(_, count)| std::cmp::Reverse(**count));
        let named = known.iter().take(NAMED).map(|(value, count)| format!("{value} ({count})"));
        let more = if known.len() > NAMED { ", …" } else { "" };
        named.collect::<Vec<_>>().join(", ") + more
    }

    fn nearest(&self, wanted: &str) -> Option<String> {
        let near = nearest(wanted, self.0.keys().map(String::as_str))?;
        Some(format!("did you mean `{near}`?"))
    }
}

const POWER_SCHEMA: &str = include_str!("../../../schema/power.schema.json");
const VERIFY_SCHEMA: &str = include_str!("../../../schema/verify.schema.json");

const SCHEMA_EXAMPLES: &str = "\
Examples:
  errorbar log schema > log.schema.json
  errorbar log schema --of sample
  errorbar log schema --of results

It is JSON Schema, draft 2020-12. Logs of other programs and versions are valid too: fields that are
not described are allowed, and most of those that are described may be absent.";

#[derive(Debug, Args)]
#[command(after_help = SCHEMA_EXAMPLES)]
pub(crate) struct SchemaArgs {
    /// What to describe: a log as one JSON object, one sample (as `log dump --sample` prints it), or
    /// what `score` and `eval` (results), `compare`, `verify` and `power` print with --format json
    #[arg(long, value_enum, value_name = "WHAT", default_value_t)]
    of: SchemaSubject,
}

#[derive(Debug, Clone, Copy, Default, ValueEnum)]
enum SchemaSubject {
    #[default]
    Log,
    Sample,
    Results,
    Compare,
    Verify,
    Power,
}

fn schema(args: &SchemaArgs) -> CommandOutcome {
    let schema = match args.of {
        SchemaSubject::Log => LOG_SCHEMA.to_owned(),
        SchemaSubject::Sample => sample_schema(),
        SchemaSubject::Results => RESULTS_SCHEMA.to_owned(),
        SchemaSubject::Compare => COMPARISON_SCHEMA.to_owned(),
        SchemaSubject::Verify => VERIFY_SCHEMA.to_owned(),
        SchemaSubject::Power => POWER_SCHEMA.to_owned(),
    };
    Output::from(schema).into()
}

/// The part of the schema of logs that is about samples.
fn sample_schema() -> String {
    // It is ours and valid, as tests see; nothing is better than half of it.
    let Ok(mut all) = serde_json::from_str::<serde_json::Value>(LOG_SCHEMA) else { return String::new() };
    let definitions = all.get_mut("$defs").map(serde_json::Value::take).unwrap_or_default();
    let sample = serde_json::json!({
        "$schema": all.get("$schema"),
        "title": "sample of an eval log",
        "$ref": "#/$defs/sample",
        "$defs": definitions,
    });
    format!("{sample:#}\n")
}
