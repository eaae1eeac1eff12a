//! `errorbar verify`: are the results that a log records those of its samples?

mod render;

use std::path::{Path, PathBuf};

use clap::Args;
use errorbar_core::Raters;
use errorbar_log::eval::{LogWarning, ReducerConversion, Verification, Verifier, VerifyOutcome};

pub(crate) use self::render::{LogVerification, records, to_json, to_text};
use super::common::one_of;
use super::logs::{ReadArgs, ReadProgress, ScoreRequest};
use super::{CommandResult, Context, Outcome, Status, files, logs};
use crate::diagnostic::{Diagnostic, Diagnostics};
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
    /// Fail, with exit code 1, also if a figure or a log is not checkable
    #[arg(long)]
    require_checked: bool,
    /// The format of the report
    #[arg(long, short, value_name = "FORMAT", default_value = "text",
        value_parser = one_of([("text", VerifyFormat::Text), ("json", VerifyFormat::Json)]))]
    format: VerifyFormat,
    #[command(flatten)]
    read: ReadArgs,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum VerifyFormat {
    Text,
    Json,
}

pub(crate) fn run(args: &VerifyArgs, context: &Context<'_>) -> CommandResult {
    let (verified, diagnostics) = results(args, context);
    let status = status(args, &verified);
    let output = match args.format {
        VerifyFormat::Text => {
            let text = to_text(&verified);
            Output::text(move |_| text.clone())
        }
        VerifyFormat::Json => to_json(&verified).into(),
    };
    Ok(Outcome { output, diagnostics, status, ..Outcome::default() })
}

/// What came of each log, with everything that there is to report.
pub(crate) fn results(args: &VerifyArgs, context: &Context<'_>) -> (Vec<LogVerification>, Diagnostics) {
    let progress = ReadProgress::new(context.quiet);
    let mut input = files::expand(&args.logs);
    if args.require_checked {
        input = input.all_named();
    }
    let verified = input.map(|path, warnings| verify(path, &args.read, &progress, context, warnings));
    drop(progress);
    verified
}

/// Whether all is well: nothing differs, and everything is checked if that is required.
pub(crate) fn status(args: &VerifyArgs, verified: &[LogVerification]) -> Status {
    let is_fine = |log: &LogVerification| {
        let verification = &log.verification;
        match verification.outcome() {
            VerifyOutcome::Differs => false,
            VerifyOutcome::NotCheckable(_) => !args.require_checked,
            VerifyOutcome::Agrees => !args.require_checked || verification.counts().not_checkable == 0,
        }
    };
    if verified.iter().all(is_fine) { Status::Fine } else { Status::Negative }
}

fn verify(
    path: &Path,
    read: &ReadArgs,
    progress: &ReadProgress,
    context: &Context<'_>,
    warnings: &mut Diagnostics,
) -> Result<LogVerification, Diagnostics> {
    let log = read.open(path)?;
    let header = log.header()?;
    let verifier = Verifier::new(&header, context.registry).map_err(|error| error.at(path))?;
    let (keys, parts) = (verifier.plan().metadata_keys(), verifier.plan().score_parts());
    let scores = logs::read_scores(
        &log,
        &header,
        keys,
        parts,
        &ScoreRequest::default(),
        &Raters::default(),
        progress,
    )?;
    if log.was_recovered() {
        warnings.push(logs::recovered(path));
    }
    // What else cannot be built is the reason of a figure that is not checkable.
    let of_errors = verifier
        .warnings()
        .iter()
        .filter(|warning| matches!(warning, LogWarning::ErrorPlan { .. } | LogWarning::EarlyStop { .. }));
    warnings.extend(of_errors.map(|warning| Diagnostic::warning(warning.to_string()).about(path.display())));
    let conversions = ReducerConversion::find(&log, &header, verifier.plan(), &scores.columns)?;
    let verifier = verifier.conversions(conversions);
    let verification: Verification = verifier.verify(&scores.columns).map_err(|error| error.at(path))?;
    Ok(LogVerification { log: path.display().to_string(), verification })
}
