//! `errorbar log convert`: a log in the other format.

use std::path::PathBuf;

use clap::Args;
use errorbar_log::eval::convert;

use super::super::logs::{ReadArgs, check_new, is_log};
use super::super::{CommandResult, Outcome};
use crate::diagnostic::Diagnostic;

const EXAMPLES: &str = "\
Examples:
  errorbar log convert logs/run.eval -o run.json
  errorbar log convert run.json -o run.eval

  Recover a log whose run was killed:
    errorbar log convert logs/torn.eval -o whole.eval

The samples, the header and the reduced scores are copied as they are. The new file appears when it
is complete.

Exit code: 0 if all is well, 2 if something could not be read or written.";

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct ConvertArgs {
    /// An eval log, or a handle: @1, latest
    #[arg(value_name = "LOG")]
    log: PathBuf,
    /// The new file; its name ends in .json or .eval, which is its format
    #[arg(long, short, value_name = "FILE")]
    output: PathBuf,
    /// Replace the file if it exists
    #[arg(long)]
    force: bool,
    #[command(flatten)]
    read: ReadArgs,
}

pub(crate) fn run(args: &ConvertArgs) -> CommandResult {
    if !is_log(&args.output) {
        let problem = Diagnostic::error("the name does not say which format the log should have");
        let hint = "give it a name that ends in .eval or .json";
        return Err(problem.about(args.output.display()).hint(hint).into());
    }
    check_new(&args.output, args.force)?;
    convert(&args.read.open_named(&args.log)?, &args.output)?;
    Ok(Outcome::default())
}
