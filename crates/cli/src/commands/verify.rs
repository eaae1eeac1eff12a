//! `errorbar verify`: are the results that a log records those of its samples?

use std::path::PathBuf;

use clap::Args;
use errorbar_analysis::VerifyRequest;
use errorbar_report::verification::{to_json, to_text};

use super::{CommandOutcome, CommandResult, Context};
use crate::format::one_of;
use crate::output::Output;

const EXAMPLES: &str = "\
Examples:
  errorbar verify logs/run.eval
  errorbar verify logs
  errorbar verify logs/*.eval --strict
  errorbar verify logs --require-checked --format json

A figure agrees, differs, or is not checkable: the log has no samples, its samples are not scored, \
the metric or the reducer is custom. A log agrees if every figure that is checkable agrees and there is one.

A log of a folder that cannot be read is skipped and named, unless --require-checked is given.

Exit code: 0 if no figure differs, 1 if one differs (or, with --require-checked, is not checkable), \
2 if a log could not be read.";

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct VerifyArgs {
    /// Eval logs, folders and patterns of them, or handles: @1, latest
    #[arg(required = true, value_name = "LOG")]
    logs: Vec<PathBuf>,
    /// The format of the report
    #[arg(long, short, value_name = "FORMAT", default_value = "text",
        value_parser = one_of([("text", VerifyFormat::Text), ("json", VerifyFormat::Json)]))]
    format: VerifyFormat,
    #[command(flatten)]
    request: VerifyRequest,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum VerifyFormat {
    Text,
    Json,
}

pub(crate) fn run(args: &VerifyArgs, context: &Context<'_>) -> CommandResult {
    let answer = context.reading(|analysis| analysis.verify(&args.logs, &args.request));
    let verified = answer.value.unwrap_or_default();
    let output = match args.format {
        VerifyFormat::Text => {
            let text = to_text(&verified);
            Output::text(move |_| text.clone())
        }
        VerifyFormat::Json => to_json(&verified).into(),
    };
    let (diagnostics, status) = (answer.diagnostics, answer.outcome);
    Ok(CommandOutcome { output, diagnostics, status, ..CommandOutcome::default() })
}
