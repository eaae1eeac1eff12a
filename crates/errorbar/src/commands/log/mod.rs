//! `errorbar log`: what is in logs, one file per verb.

mod convert;
mod dump;
mod edit_score;
mod export;
mod list;

use clap::{Args, Subcommand};
use errorbar_log::eval::LogError;

use super::common::GlobalArgs;
use super::diagnostics::Diagnostics;
use super::{Context, Status};

#[derive(Debug, Args)]
pub(crate) struct LogArgs {
    #[command(subcommand)]
    verb: LogCommand,
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

pub(crate) fn run(args: &LogArgs, global: &GlobalArgs, context: &Context<'_>) -> anyhow::Result<Status> {
    match &args.verb {
        LogCommand::List(args) => list::run(args, global),
        LogCommand::Dump(args) => dump::run(args, global),
        LogCommand::Convert(args) => convert::run(args, global),
        LogCommand::EditScore(args) => edit_score::run(args, global, context),
        LogCommand::Export(args) => export::run(args, global, context),
    }
}

/// Tells that a log could not be read.
fn tell(diagnostics: &mut Diagnostics, error: &LogError) {
    diagnostics.log_error(error);
}
