//! `errorbar log`: what is in logs, one file per verb.

mod convert;
mod dump;
mod edit_score;
mod export;
mod list;

use clap::{Args, Subcommand};

use super::{CommandResult, Context};

#[derive(Debug, Args)]
pub(crate) struct LogArgs {
    #[command(subcommand)]
    command: LogCommand,
}

#[derive(Debug, Subcommand)]
enum LogCommand {
    /// List logs: what was run when, how it ended and what came out
    List(list::LogListArgs),
    /// Print what a log holds as JSON: its header, or samples
    Dump(dump::DumpArgs),
    /// Write a log in its other form, .eval or .json
    Convert(convert::ConvertArgs),
    /// Change a score, with the old one, who changed it and why kept in its history
    EditScore(edit_score::EditScoreArgs),
    /// Write the scores of logs as a table: CSV, JSON lines or Parquet
    Export(export::ExportArgs),
}

pub(crate) fn run(args: &LogArgs, context: &Context<'_>) -> CommandResult {
    match &args.command {
        LogCommand::List(args) => Ok(list::run(args)),
        LogCommand::Dump(args) => dump::run(args),
        LogCommand::Convert(args) => convert::run(args),
        LogCommand::EditScore(args) => edit_score::run(args, context),
        LogCommand::Export(args) => export::run(args, context),
    }
}
