//! `errorbar log convert`: a log in the other form.

use std::path::PathBuf;

use clap::Args;
use errorbar_log::eval::convert;

use super::super::Status;
use super::super::common::GlobalArgs;
use super::super::diagnostics::Diagnostics;
use super::super::logs::ReadArgs;
use super::tell;

const EXAMPLES: &str = "\
Examples:
  errorbar log convert logs/run.eval -o run.json
  errorbar log convert run.json -o run.eval

  A log that was torn when its run was killed, made whole:
    errorbar log convert logs/torn.eval -o whole.eval

The samples, the header and the reduced scores pass through as they are. The new file appears when it
is whole.

Exit code: 0 if all is well, 2 if something could not be read or written.";

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct ConvertArgs {
    /// An eval log
    #[arg(value_name = "LOG")]
    log: PathBuf,
    /// The new file; its name ends in .json or .eval, which says what it is
    #[arg(long, short, value_name = "FILE")]
    output: PathBuf,
    /// Replace a file of that name
    #[arg(long)]
    force: bool,
    #[command(flatten)]
    read: ReadArgs,
}

pub(crate) fn run(args: &ConvertArgs, global: &GlobalArgs) -> anyhow::Result<Status> {
    let mut diagnostics = Diagnostics::new(global.quiet);
    let output = args.output.display();
    if !super::super::logs::is_log(&args.output) {
        let hint = "give it a name that ends in .eval or .json".to_owned();
        diagnostics
            .error(format!("{output}: the name does not say what form the log should have"), Some(hint));
    } else if args.output.exists() && !args.force {
        diagnostics.error(
            format!("{output}: a file of that name is there already"),
            Some("replace it with --force".to_owned()),
        );
    } else if let Err(error) = args.read.open(&args.log).and_then(|log| convert(&log, &args.output)) {
        tell(&mut diagnostics, &error);
    }
    Ok(diagnostics.print())
}
