//! `errorbar log edit-score`: a score changed or added by a person, with a record of it.

use std::env;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use clap::Args;
use errorbar_analysis::files::owner_warning;
use errorbar_analysis::{PlanChanges, ReadRequest, RunRequest, TableRequest, findings, read_log};
use errorbar_core::{Leaf, Metadata, Results, Value, ValueToFloat, Warning};
use errorbar_log::eval::{LogLock, ScoreEdit, score_value};
use errorbar_report::Report;
use jiff::Timestamp;
use serde_json::Value as Json;

use super::super::{CommandOutcome, CommandResult, Context};
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::format::{OutputArgs, seconds};
use crate::output::Output;

const EXAMPLES: &str = "\
Examples:
  errorbar log edit-score logs/run.eval --sample q17 --scorer match --value C \\
    --author ann --reason 'the target has a typo'
  errorbar log edit-score logs/run.eval --sample q17 --epoch 2 --scorer graded \\
    --value '{\"style\": 0.5, \"facts\": 1}' --explanation 'read again'
  errorbar log edit-score logs/run.eval --sample q17 --scorer human --add --value 0.5

A value is JSON (a number, true, a list, a map, NaN for unscored) or else a string such as C. What the
score was, the author, the time and the reason stay in its history; results and reduced scores of the
log are recomputed, with the metrics that it records; an added scorer has accuracy and stderr.
Everything else stays as it is. Edits by several processes wait for each other.

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
    /// Add a score by a scorer that the sample has none by
    #[arg(long, requires = "value")]
    add: bool,
    /// The new value
    #[arg(long, value_name = "VALUE", allow_hyphen_values = true)]
    value: Option<String>,
    /// The new answer
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    answer: Option<String>,
    /// The new explanation
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    explanation: Option<String>,
    /// The new metadata, a JSON object: it replaces all of the old one
    #[arg(long, value_name = "JSON")]
    metadata: Option<String>,
    /// Write a value that the metrics cannot convert to a number, and count as 0
    #[arg(long, requires = "value")]
    any_value: bool,
    /// The author of the change [default: the user of git, else the login]
    #[arg(long, value_name = "NAME")]
    author: Option<String>,
    /// The reason for the change
    #[arg(long, value_name = "TEXT")]
    reason: Option<String>,
    /// How long to wait for another process that changes the log
    #[arg(long, value_name = "SECONDS", default_value = "30", value_parser = seconds)]
    lock_timeout: Duration,
    #[command(flatten)]
    output: OutputArgs,
    #[command(flatten)]
    read: ReadRequest,
}

pub(crate) fn run(args: &EditScoreArgs, context: &Context<'_>) -> CommandResult {
    let mut diagnostics = Diagnostics::default();
    let report = edit(args, context, &mut diagnostics);
    let report = diagnostics.collect(report);
    let output = report.map_or(Output::Nothing, |report| args.output.reports(vec![report]));
    Ok(CommandOutcome { output, diagnostics, ..CommandOutcome::default() })
}

/// Changes the score, and gives the new results. What there is to report of them is added to `diagnostics`.
fn edit(
    args: &EditScoreArgs,
    context: &Context<'_>,
    diagnostics: &mut Diagnostics,
) -> Result<Report, Diagnostics> {
    let edit = score_edit(args)?;
    let path = errorbar_analysis::resolve(&args.log)?;
    // Before the log is read, so that the edit of another process is seen and not lost.
    let lock = LogLock::wait(&path, args.lock_timeout)?;
    let log = Arc::new(args.read.open(&path)?);
    let mut revision = log.revise()?;
    let edited = revision.edit_score(&edit)?;
    let (changes, tables) = (PlanChanges::default(), TableRequest::default());
    let request = RunRequest::new(&changes, &tables, &args.read);
    let request = RunRequest { edited: Some(&edited), all_parts: true, ..request };
    let run = context.reading(|analysis| read_log(Arc::clone(&log), &request, analysis))?;
    diagnostics.extend(run.warnings());
    let evaluation = run.plan.evaluate(&run.scores).map_err(|error| {
        Diagnostic::error(format!("nothing was written: {error}")).about(log.path().display())
    })?;
    if let Some(value) = edit.value.as_ref().filter(|_| !args.any_value) {
        let is_score = check_counts(value, &edit.scorer, &evaluation.results);
        is_score.map_err(|problem| problem.about(path.display()))?;
    }
    let is_writable = match run.log() {
        Some(source) => source.check_writable(&evaluation.results, "give a value that the metrics take"),
        None => Ok(()),
    };
    if is_writable.is_ok() {
        revision.set_results(&evaluation, &run.scores)?;
        diagnostics.extend(owner_warning(revision.write_back_locked(&lock)?, &path));
    }
    let report = run.report(evaluation.results);
    diagnostics.extend(findings(&report));
    is_writable?;
    diagnostics.push(Diagnostic::note(done(args, edited.epoch)));
    Ok(report)
}

/// What was done, in words.
fn done(args: &EditScoreArgs, epoch: u32) -> String {
    let EditScoreArgs { sample, scorer, .. } = args;
    let parts = [("answer", &args.answer), ("explanation", &args.explanation), ("metadata", &args.metadata)];
    let new: Vec<&str> = parts.iter().filter(|(_, new)| new.is_some()).map(|(part, _)| *part).collect();
    let done = match (&args.value, new.is_empty()) {
        (Some(value), _) if args.add => format!("is added with the value {value}"),
        (Some(value), true) => format!("is now {value}"),
        (Some(value), false) => format!("is now {value}, with a new {}", new.join(" and ")),
        (None, _) => format!("has a new {}", new.join(" and ")),
    };
    format!("sample {sample}, epoch {epoch}: {scorer} {done}")
}

/// Refuses a value that has no meaning as a number to the metrics: it would count as 0, and look like a score.
fn check_counts(value: &Value, scorer: &str, results: &Results) -> Result<(), Diagnostic> {
    let conversion = ValueToFloat::default();
    let counts = |leaf: &Leaf| conversion.convert_leaf(leaf.view()).convertible;
    let is_met = |by_key: bool| {
        let is_of_scorer = |warning: &Warning| match warning {
            Warning::Unconvertible { scorer: of, key, .. } => of == scorer && (by_key || key.is_none()),
            _ => false,
        };
        results.warnings.iter().any(is_of_scorer)
    };
    // Metrics that take lists and maps have nothing to convert.
    let is_fine = match value {
        Value::List(items) => !is_met(false) && (!is_met(true) || items.iter().all(counts)),
        Value::Map(map) => !is_met(false) && (!is_met(true) || map.iter().all(|(_, leaf)| counts(leaf))),
        value => value.is_unscored() || conversion.convert(value.view()).convertible || !is_met(true),
    };
    if is_fine {
        return Ok(());
    }
    let shown = value.view().describe();
    let problem = format!("nothing was written: {shown} has no meaning as a number, and would count as 0");
    let hint = "give what the metrics of the scorer take, such as a number, C, I or NaN; --any-value writes it anyway";
    Err(Diagnostic::error(problem).hint(hint))
}

/// The change that the options describe.
fn score_edit(args: &EditScoreArgs) -> Result<ScoreEdit, Diagnostic> {
    let texts = [
        ("--author", args.author.as_ref()),
        ("--reason", args.reason.as_ref()),
        ("--scorer", Some(&args.scorer)),
    ];
    for (option, text) in texts {
        if text.is_some_and(|text| text.trim().is_empty()) {
            let problem = Diagnostic::error(format!("{option} is empty"));
            return Err(problem.hint("fill it in, or leave it out"));
        }
    }
    let value = args.value.as_deref().map(score_value).transpose().map_err(|problem| {
        let hint = "give a number, a string, or a list or map of them";
        Diagnostic::error(problem).about("--value").hint(hint)
    })?;
    let metadata = args.metadata.as_deref().map(metadata).transpose()?;
    let author = args.author.clone().or_else(default_author).ok_or_else(|| {
        Diagnostic::error("it is unknown who makes the change").hint("name the author with --author")
    })?;
    Ok(ScoreEdit {
        sample: args.sample.clone(),
        epoch: args.epoch,
        scorer: args.scorer.clone(),
        is_new: args.add,
        value,
        answer: args.answer.clone(),
        explanation: args.explanation.clone(),
        metadata,
        author,
        reason: args.reason.clone(),
        timestamp: Timestamp::now().to_string(),
    })
}

fn metadata(text: &str) -> Result<Metadata, Diagnostic> {
    let refuse = |problem: String| {
        Diagnostic::error(problem).about("--metadata").hint("give an object, such as '{\"checked\": true}'")
    };
    match serde_json::from_str(text) {
        Ok(Json::Object(fields)) => Ok(fields.into()),
        Ok(_) => Err(refuse("metadata is a JSON object".to_owned())),
        Err(error) => Err(refuse(format!("this is not valid JSON: {error}"))),
    }
}

/// The part of git's `user.email` before the at sign, else its `user.name`, else the name of the login.
fn default_author() -> Option<String> {
    let email = git_config("user.email");
    let handle = email.and_then(|email| Some(email.split_once('@')?.0.trim().to_owned()));
    let handle = handle.filter(|handle| !handle.is_empty());
    handle.or_else(|| git_config("user.name")).or_else(login)
}

fn git_config(key: &str) -> Option<String> {
    let git = Command::new("git").args(["config", "--get", key]).stdin(Stdio::null()).output().ok()?;
    let value = String::from_utf8(git.stdout).ok()?.trim().to_owned();
    (git.status.success() && !value.is_empty()).then_some(value)
}

fn login() -> Option<String> {
    let named = |name: &&str| env::var(name).ok().filter(|value| !value.trim().is_empty());
    ["LOGNAME", "USER", "LNAME", "USERNAME"].iter().find_map(named)
}
