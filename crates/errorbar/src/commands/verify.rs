//! `errorbar verify`: are the results that a log records those of its samples?

use std::path::{Path, PathBuf};

use clap::Args;
use errorbar_log::eval::{Difference, compare};
use errorbar_report::clean;

use super::logs::{ReadArgs, ReadProgress, ScoreRequest};
use super::{CommandResult, Context, Outcome, Status, files, logs};
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::output::Output;

const EXAMPLES: &str = "\
Examples:
  errorbar verify logs/run.eval
  errorbar verify logs
  errorbar verify logs/*.eval --strict

Exit code: 0 if every recorded figure is the recomputed one, 1 if one differs, 2 if a log could not
be read.";

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct VerifyArgs {
    /// Eval logs, folders and patterns of them, or handles: @1, latest
    #[arg(required = true, value_name = "LOG")]
    logs: Vec<PathBuf>,
    #[command(flatten)]
    read: ReadArgs,
}

pub(crate) fn run(args: &VerifyArgs, context: &Context<'_>) -> CommandResult {
    let progress = ReadProgress::new(context.quiet);
    let input = files::expand(&args.logs);
    let (verified, diagnostics) =
        input.map(|path, warnings| verify(path, &args.read, &progress, context, warnings));
    drop(progress);
    let status = match verified.iter().all(|log| log.differences.is_empty()) {
        true => Status::Fine,
        false => Status::Negative,
    };
    let text: String = verified.iter().map(Verification::to_text).collect();
    Ok(Outcome { output: Output::text(move |_| text.clone()), diagnostics, status })
}

/// How many figures a log records, and which of them are different.
struct Verification {
    log: String,
    figures: usize,
    differences: Vec<Difference>,
}

impl Verification {
    fn to_text(&self) -> String {
        let log = clean(&self.log);
        match (self.differences.as_slice(), self.figures) {
            ([], 1) => format!("{log}: 1 figure agrees\n"),
            ([], figures) => format!("{log}: {figures} figures agree\n"),
            (differences, _) => {
                let lines = differences.iter().map(|one| format!("  {}\n", clean(&one.to_string())));
                format!("{log}: {} difference(s)\n{}", differences.len(), lines.collect::<String>())
            }
        }
    }
}

fn verify(
    path: &Path,
    read: &ReadArgs,
    progress: &ReadProgress,
    context: &Context<'_>,
    warnings: &mut Diagnostics,
) -> Result<Verification, Diagnostics> {
    let about = |diagnostic: Diagnostic| diagnostic.about(path.display());
    let log = read.open(path)?;
    let opened = logs::read(&log, &ScoreRequest::default(), progress, context, |plan| plan)?;
    warnings.extend(opened.warnings());
    let Some(recorded) = &opened.header.results else {
        let problem = Diagnostic::error("the log records no results to compare with");
        let hint = format!("`{} score {}` computes them", context.program, path.display());
        return Err(about(problem.hint(hint)).into());
    };
    let recomputed = opened.plan.evaluate(&opened.scores.columns).map_err(|error| about(error.into()))?;
    Ok(Verification {
        log: path.display().to_string(),
        figures: recorded.scores.iter().map(|block| block.metrics.len()).sum(),
        differences: compare(recorded, &recomputed.results),
    })
}
