//! `errorbar log edit-score`: a score changed by a person, with a record of it.

use std::path::PathBuf;

use clap::Args;
use errorbar_log::eval::{ScoreEdit, score_value};
use errorbar_report::Report;
use jiff::Timestamp;

use super::super::common::OutputArgs;
use super::super::findings::findings;
use super::super::logs::{self, ReadArgs, ReadProgress, ScoreRequest};
use super::super::{CommandResult, Context, Outcome};
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::output::Output;

const EXAMPLES: &str = "\
Examples:
  errorbar log edit-score logs/run.eval --sample q17 --scorer match --value C \\
    --author ann --reason 'the target has a typo'
  errorbar log edit-score logs/run.eval --sample q17 --epoch 2 --scorer graded \\
    --value '{\"style\": 0.5, \"facts\": 1}' --author ann --reason 'read again'

A value is JSON (a number, true, a list, a map, NaN for unscored) or else a string such as C. The old
value, the author, the time and the reason stay in the history of the score; results and reduced
scores of the log are recomputed, with the metrics that it records. Everything else stays as it is.

Exit code: 0 if all is well, 2 if the score does not exist or the log could not be read or written.";

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct EditScoreArgs {
    /// An eval log, or a handle: @1, latest
    #[arg(value_name = "LOG")]
    log: PathBuf,
    /// The sample
    #[arg(long, value_name = "ID", allow_hyphen_values = true)]
    sample: String,
    /// Its epoch; optional if the sample has only one
    #[arg(long, value_name = "N")]
    epoch: Option<u32>,
    /// The scorer
    #[arg(long, value_name = "NAME")]
    scorer: String,
    /// The new value
    #[arg(long, value_name = "VALUE", allow_hyphen_values = true)]
    value: String,
    /// The author of the change
    #[arg(long, value_name = "NAME")]
    author: String,
    /// The reason for the change
    #[arg(long, value_name = "TEXT")]
    reason: String,
    #[command(flatten)]
    output: OutputArgs,
    #[command(flatten)]
    read: ReadArgs,
}

pub(crate) fn run(args: &EditScoreArgs, context: &Context<'_>) -> CommandResult {
    let mut diagnostics = Diagnostics::default();
    let report = edit(args, context, &mut diagnostics);
    let report = diagnostics.collect(report);
    let output = report.map_or(Output::Nothing, |report| args.output.reports(vec![report]));
    Ok(Outcome { output, diagnostics, ..Outcome::default() })
}

/// Changes the score, and gives the new results. What there is to report of them is added to `diagnostics`.
fn edit(
    args: &EditScoreArgs,
    context: &Context<'_>,
    diagnostics: &mut Diagnostics,
) -> Result<Report, Diagnostics> {
    let edit = score_edit(args)?;
    let log = args.read.open_named(&args.log)?;
    let mut revision = log.revise()?;
    let edited = revision.edit_score(&edit)?;
    let request = ScoreRequest { edited: Some(&edited), records_scores: true, ..ScoreRequest::default() };
    let opened = logs::read(&log, &request, &ReadProgress::new(context.quiet), context, |plan| plan)?;
    diagnostics.extend(opened.warnings());
    let evaluation = opened.plan.evaluate(&opened.scores.columns).map_err(|error| {
        Diagnostic::error(format!("nothing was written: {error}")).about(log.path().display())
    })?;
    let is_writable = opened.check_writable(&evaluation.results, "give a value that the metrics take");
    if is_writable.is_ok() {
        revision.set_results(&evaluation, &opened.scores.columns)?;
        diagnostics.extend(logs::owner_warning(revision.write_back()?, &args.log));
    }
    let report = opened.report(evaluation.results);
    diagnostics.extend(findings(&report));
    is_writable?;
    let EditScoreArgs { sample, scorer, value, .. } = args;
    let epoch = edited.epoch;
    diagnostics.push(Diagnostic::note(format!("sample {sample}, epoch {epoch}: {scorer} is now {value}")));
    Ok(report)
}

/// The change that the options describe.
fn score_edit(args: &EditScoreArgs) -> Result<ScoreEdit, Diagnostic> {
    for (option, text) in [("--author", &args.author), ("--reason", &args.reason)] {
        if text.trim().is_empty() {
            let problem = Diagnostic::error(format!("{option} is empty"));
            return Err(problem.hint("fill it in: it is for those who read the log"));
        }
    }
    let value = score_value(&args.value).map_err(|problem| {
        let hint = "give a number, a string, or a list or map of them";
        Diagnostic::error(problem.to_string()).about("--value").hint(hint)
    })?;
    Ok(ScoreEdit {
        sample: args.sample.clone(),
        epoch: args.epoch,
        scorer: args.scorer.clone(),
        value,
        author: args.author.clone(),
        reason: Some(args.reason.clone()),
        timestamp: Timestamp::now().to_string(),
    })
}
