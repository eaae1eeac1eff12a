//! `errorbar verify`: are the results that a log claims those of its samples?

use std::io::Write;
use std::path::PathBuf;

use clap::Args;
use errorbar_core::results;
use errorbar_log::eval::compare;

use super::common::GlobalArgs;
use super::told::Told;
use super::{Context, Status, logs};

const EXAMPLES: &str = "\
Examples:
  errorbar verify logs/run.eval
  errorbar verify logs/*.eval

Exit code: 0 if every recorded figure is the recomputed one, 1 if one differs, 2 if a log could not
be read.";

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct VerifyArgs {
    /// Eval logs
    #[arg(required = true, value_name = "LOG")]
    logs: Vec<PathBuf>,
}

pub(crate) fn run(args: &VerifyArgs, global: &GlobalArgs, context: &Context<'_>) -> anyhow::Result<Status> {
    let mut told = Told::new(global.quiet);
    let mut differs = false;
    let mut out = anstream::stdout().lock();
    for path in &args.logs {
        let log = path.display();
        let opened = match logs::open(path, context, |plan| plan) {
            Ok(opened) => opened,
            Err(problem) => {
                told.error(problem, None);
                continue;
            }
        };
        for warning in &opened.warnings {
            told.warning(format!("{log}: {warning}"));
        }
        let Some(recorded) = &opened.header.results else {
            told.error(
                format!("{log}: the log records no results to compare with"),
                Some(format!("`{} score {log}` computes them", context.program)),
            );
            continue;
        };
        let recomputed = match results(&opened.columns, &opened.plan) {
            Ok(recomputed) => recomputed,
            Err(error) => {
                told.error(format!("{log}: {error}"), None);
                continue;
            }
        };
        let differences = compare(recorded, &recomputed);
        if differences.is_empty() {
            let figures: usize = recorded.scores.iter().map(|block| block.metrics.len()).sum();
            writeln!(out, "{log}: {figures} figures agree")?;
        } else {
            differs = true;
            writeln!(out, "{log}: {} difference(s)", differences.len())?;
            for difference in differences {
                writeln!(out, "  {difference}")?;
            }
        }
    }
    out.flush()?;
    drop(out);
    Ok(match told.say() {
        Status::Fine if differs => Status::Negative,
        status => status,
    })
}
