//! `errorbar log edit-score`: a score changed by a person, on the record.

use std::path::PathBuf;

use clap::Args;
use errorbar_log::eval::{LogError, ScoreEdit, score_value};
use errorbar_report::Report;
use jiff::Timestamp;

use super::super::common::{GlobalArgs, OutputArgs};
use super::super::diagnostics::{Diagnostics, findings};
use super::super::logs::{self, ReadArgs, ReadProgress, ScoreRequest};
use super::super::{Context, Status};
use super::tell;

const EXAMPLES: &str = "\
Examples:
  errorbar log edit-score logs/run.eval --sample q17 --scorer match --value C \\
    --author ann --reason 'the target has a typo'
  errorbar log edit-score logs/run.eval --sample q17 --epoch 2 --scorer graded \\
    --value '{\"style\": 0.5, \"facts\": 1}' --author ann --reason 'read again'

A value is JSON (a number, true, a list, a map, NaN for unscored) or else a text such as C. The old
value, who changed it, when and why stay in the history of the score; results and reduced scores of
the log are computed again, as it records. Everything else in the log stays as it is.

Exit code: 0 if all is well, 2 if the score is not there or the log could not be read or written.";

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct EditScoreArgs {
    /// An eval log
    #[arg(value_name = "LOG")]
    log: PathBuf,
    /// The sample
    #[arg(long, value_name = "ID", allow_hyphen_values = true)]
    sample: String,
    /// Its epoch; may be left out where the sample has only one
    #[arg(long, value_name = "N")]
    epoch: Option<u32>,
    /// The scorer
    #[arg(long, value_name = "NAME")]
    scorer: String,
    /// The new value
    #[arg(long, value_name = "VALUE", allow_hyphen_values = true)]
    value: String,
    /// Who changes it
    #[arg(long, value_name = "NAME")]
    author: String,
    /// Why
    #[arg(long, value_name = "TEXT")]
    reason: String,
    #[command(flatten)]
    output: OutputArgs,
    #[command(flatten)]
    read: ReadArgs,
}

pub(crate) fn run(
    args: &EditScoreArgs,
    global: &GlobalArgs,
    context: &Context<'_>,
) -> anyhow::Result<Status> {
    let mut diagnostics = Diagnostics::new(global.quiet);
    if let Some(report) = edit(args, global, context, &mut diagnostics) {
        args.output.write(&[report])?;
    }
    Ok(diagnostics.print())
}

fn edit(
    args: &EditScoreArgs,
    global: &GlobalArgs,
    context: &Context<'_>,
    diagnostics: &mut Diagnostics,
) -> Option<Report> {
    let name = args.log.display().to_string();
    let log_error = |diagnostics: &mut Diagnostics, error: LogError| {
        tell(diagnostics, &error);
        None
    };
    for (option, text) in [("--author", &args.author), ("--reason", &args.reason)] {
        if text.trim().is_empty() {
            let hint = "say it: it is for those who read the log".to_owned();
            diagnostics.error(format!("{option} is empty"), Some(hint));
            return None;
        }
    }
    let value = match score_value(&args.value) {
        Ok(value) => value,
        Err(problem) => {
            let hint = "give a number, a text, or a list or map of them".to_owned();
            diagnostics.error(format!("--value: {problem}"), Some(hint));
            return None;
        }
    };
    let edit = ScoreEdit {
        sample: args.sample.clone(),
        epoch: args.epoch,
        scorer: args.scorer.clone(),
        value,
        author: args.author.clone(),
        reason: Some(args.reason.clone()),
        timestamp: Timestamp::now().to_string(),
    };
    let log = match args.read.open(&args.log) {
        Ok(log) => log,
        Err(error) => return log_error(diagnostics, error),
    };
    let prepared = log.revise().and_then(|mut revision| {
        let edited = revision.edit_score(&edit)?;
        Ok((revision, edited))
    });
    let (mut revision, edited) = match prepared {
        Ok(prepared) => prepared,
        Err(error) => return log_error(diagnostics, error),
    };
    let request = ScoreRequest { edited: Some(&edited), records_scores: true, ..ScoreRequest::default() };
    let progress = ReadProgress::new(global.quiet);
    let opened = match logs::read(&log, &request, &progress, context, |plan| plan) {
        Ok(opened) => opened,
        Err((problem, hint)) => {
            diagnostics.error(problem, hint);
            return None;
        }
    };
    drop(progress);
    opened.tell(diagnostics);
    let evaluation = match opened.plan.evaluate(&opened.scores.columns) {
        Ok(evaluation) => evaluation,
        Err(error) => {
            diagnostics.error(format!("{name}: nothing was written: {error}"), None);
            return None;
        }
    };
    if let Some(why) = opened.cannot_write(&evaluation.results) {
        findings(&Report::new(name.clone(), evaluation.results), diagnostics);
        let hint = "give a value that the metrics take".to_owned();
        diagnostics.error(format!("{name}: nothing was written: {why}"), Some(hint));
        return None;
    }
    let written =
        revision.set_results(&evaluation, &opened.scores.columns).and_then(|()| revision.write_back());
    if let Err(error) = written {
        return log_error(diagnostics, error);
    }
    let report = opened.report(evaluation.results);
    findings(&report, diagnostics);
    diagnostics.note(format!(
        "sample {}, epoch {}: {} is now {}",
        args.sample, edited.epoch, args.scorer, args.value
    ));
    Some(report)
}
