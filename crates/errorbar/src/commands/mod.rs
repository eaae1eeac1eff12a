//! The verbs of the command line, one file each.

mod common;
mod completions;
mod list;
mod score;
mod specs;

use std::process::ExitCode;

use clap::{Parser, Subcommand};
use errorbar_core::Registry;

use common::GlobalArgs;

/// How a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Status {
    /// All is well.
    Fine,
    /// Something in the arguments or the input could not be used.
    InputError,
}

impl From<Status> for ExitCode {
    fn from(status: Status) -> Self {
        // 1 is kept for a negative answer: a verification that found a difference.
        match status {
            Status::Fine => ExitCode::SUCCESS,
            Status::InputError => ExitCode::from(2),
        }
    }
}

const EXAMPLES: &str = "\
Examples:
  errorbar score scores.csv
  errorbar score scores.csv --metric accuracy --metric 'stderr(cluster=\"passage\")'
  errorbar list metrics

`errorbar help <COMMAND>` shows more.";

/// Scoring metrics for language-model evaluations, with honest error bars.
#[derive(Debug, Parser)]
#[command(name = "errorbar", version, about, after_help = EXAMPLES, max_term_width = 100)]
pub(crate) struct Cli {
    #[command(subcommand)]
    command: Command,
    #[command(flatten)]
    pub(crate) global: GlobalArgs,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Compute metrics, with their error bars, from tables of scores
    Score(score::ScoreArgs),
    /// List metrics and reducers with their arguments
    List(list::ListArgs),
    /// Print a script that completes commands and options in a shell
    Completions(completions::CompletionsArgs),
}

impl Cli {
    pub(crate) fn run(self, registry: &Registry) -> anyhow::Result<Status> {
        match self.command {
            Command::Score(args) => score::run(&args, &self.global, registry),
            Command::List(args) => list::run(&args, registry),
            Command::Completions(args) => completions::run(&args),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_definitions_hold_together() {
        Cli::command().debug_assert();
    }
}
