//! `errorbar verify`: are the results that a log claims those of its samples?

use std::fmt::Write;
use std::path::{Path, PathBuf};

use clap::Args;
use errorbar_log::eval::{Difference, compare};
use errorbar_report::clean;
use rayon::prelude::*;

use super::common::{GlobalArgs, show};
use super::diagnostics::Diagnostics;
use super::logs::{ReadArgs, ReadProgress, ScoreRequest};
use super::{Context, Status, files, logs};
use crate::hints;

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
    /// Eval logs, folders and patterns of them
    #[arg(required = true, value_name = "LOG")]
    logs: Vec<PathBuf>,
    #[command(flatten)]
    read: ReadArgs,
}

pub(crate) fn run(args: &VerifyArgs, global: &GlobalArgs, context: &Context<'_>) -> anyhow::Result<Status> {
    let mut diagnostics = Diagnostics::new(global.quiet);
    let files::InputFiles { files, problems } = files::expand(&args.logs);
    problems.into_iter().for_each(|(problem, hint)| diagnostics.error(problem, Some(hint)));
    let progress = ReadProgress::new(global.quiet);
    let verify = |path: &PathBuf| {
        let mut diagnostics = Diagnostics::new(global.quiet);
        let outcome = verify(path, &args.read, &progress, context, &mut diagnostics);
        (outcome, diagnostics)
    };
    let verified: Vec<(Option<Verification>, Diagnostics)> = files.par_iter().map(verify).collect();
    drop(progress);
    let mut differs = false;
    let mut text = String::new();
    for (path, (outcome, about)) in files.iter().zip(verified) {
        diagnostics.append(about);
        let log = clean(&path.display().to_string());
        match outcome {
            None => {}
            Some(Verification { figures, differences }) if differences.is_empty() => {
                let agree = if figures == 1 { "figure agrees" } else { "figures agree" };
                writeln!(text, "{log}: {figures} {agree}")?;
            }
            Some(Verification { differences, .. }) => {
                differs = true;
                writeln!(text, "{log}: {} difference(s)", differences.len())?;
                for difference in differences {
                    writeln!(text, "  {}", clean(&difference.to_string()))?;
                }
            }
        }
    }
    show(|_| text.clone())?;
    Ok(match diagnostics.print() {
        Status::Fine if differs => Status::Negative,
        status => status,
    })
}

/// How many figures a log records, and which of them are different.
struct Verification {
    figures: usize,
    differences: Vec<Difference>,
}

fn verify(
    path: &Path,
    read: &ReadArgs,
    progress: &ReadProgress,
    context: &Context<'_>,
    diagnostics: &mut Diagnostics,
) -> Option<Verification> {
    let name = path.display();
    let log = match read.open(path) {
        Ok(log) => log,
        Err(error) => {
            diagnostics.log_error(&error);
            return None;
        }
    };
    let opened = match logs::read(&log, &ScoreRequest::default(), progress, context, |plan| plan) {
        Ok(opened) => opened,
        Err((problem, hint)) => {
            diagnostics.error(problem, hint);
            return None;
        }
    };
    opened.tell(diagnostics);
    let Some(recorded) = &opened.header.results else {
        let hint = format!("`{} score {name}` computes them", context.program);
        diagnostics.error(format!("{name}: the log records no results to compare with"), Some(hint));
        return None;
    };
    match opened.plan.evaluate(&opened.scores.columns) {
        Ok(recomputed) => Some(Verification {
            figures: recorded.scores.iter().map(|block| block.metrics.len()).sum(),
            differences: compare(recorded, &recomputed.results),
        }),
        Err(error) => {
            diagnostics.error(format!("{name}: {error}"), hints::core::hint(&error));
            None
        }
    }
}
