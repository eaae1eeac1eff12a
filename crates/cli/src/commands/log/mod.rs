//! `errorbar log`: work with logs, one file per command.

mod author;
mod convert;
mod dump;
mod edit_score;
mod export;
mod list;
mod schema;
mod show;

use clap::{Args, Subcommand};

use super::{CommandResult, Context};

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
    Schema(schema::SchemaArgs),
}

pub(crate) fn run(args: &LogArgs, context: &Context<'_>) -> CommandResult {
    match &args.command {
        LogCommand::List(args) => Ok(list::run(args)),
        LogCommand::Show(args) => show::run(args),
        LogCommand::Dump(args) => dump::run(args),
        LogCommand::Convert(args) => convert::run(args),
        LogCommand::EditScore(args) => edit_score::run(args, context),
        LogCommand::Export(args) => export::run(args, context),
        LogCommand::Schema(args) => Ok(schema::run(args)),
    }
}
