//! `errorbar score`: metrics from the scores of logs and tables.
//!
//! What can be computed is printed; everything else is reported on standard error, and in the exit code.

use std::path::{Path, PathBuf};

use clap::Args;
use errorbar_analysis::files::check_new;
use errorbar_analysis::{InputFiles, ScoreRequest, WriteBack, expand, text};
use errorbar_report::Report;

use super::explain::ExplainArgs;
use super::models::GraderArgs;
use super::requirements::RequirementArgs;
use super::{CommandOutcome, CommandResult, Context, rescore};
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::format::OutputArgs;
use crate::output::Output;

const EXAMPLES: &str = "\
Examples:
  Recompute what a log records; or all logs of a folder:
    errorbar score logs/run.eval
    errorbar score logs

  With other error bars, written into the log: questions on one passage belong together
    errorbar score logs/run.eval --cluster passage --write

  Accuracy with its error and interval, from the columns `id` and `score`:
    errorbar score scores.csv

  The same by category, the best first, with errors clustered by passage:
    errorbar score scores.csv --metric accuracy --metric 'grouped(accuracy(), \"category\")' \\
      --cluster passage --sort value

  Scores from 0 to 10, with 90 % bootstrap intervals:
    errorbar score grades.csv --range 0 10 --interval bootstrap --level 0.9

  A table with other columns and cells; how it is read, and the same without options the next time:
    errorbar score results.csv --score-column verdict --correct good --incorrect bad --explain
    errorbar score results.csv --score-column verdict --correct good --incorrect bad --save-mapping m.toml
    errorbar score results.csv --mapping m.toml

  Several epochs: did at least 2 of them succeed, and what would pass@1 be?
    errorbar score scores.csv --reducer at_least_2 --reducer pass_at_1

  Score the outputs that a log holds with another scorer, and write the log with both:
    errorbar score logs/run.eval --with 'match(location=\"any\")' --append -o logs/rescored.eval
    errorbar score logs/run.eval --with 'model_graded_qa()' --model-role grader=openai/NAME --write

  Fail unless the figures are good enough, as a check of a build does:
    errorbar score logs/run.eval --require 'lower(accuracy) >= 0.75' --require 'n(accuracy) == 200'

  Scores that are maps, metrics by key, as JSON:
    errorbar score graded.jsonl --metric '{\"*\": [mean(), ci()]}' --format json

A table has a row per sample and epoch: the columns `id`, `epoch` (optional), `score` or `value`, or
common spellings of them, or those that options name; any others are metadata. --explain shows what
is read as what. An empty score or NA is missing, NaN is unscored; grades (C, P, I, N), numbers,
percentages, pass/fail, correct/incorrect, yes/no and true/false are understood; other strings are
an error unless a metric such as frequency takes them, or --correct, --incorrect, --scale, --na or
--unconvertible says what they mean.

In a table of results, ± is one standard error, […] the interval, and ├─●─┤ draws the interval. The
error of a metric (stderr, ci) is shown with its figure, unless an option for errors and intervals
is given. `with the 3 absent: 0.70 as wrong, 0.80 at best` is what the figure would be if each of
the 3 samples without a score counted as 0, or had the best score. `± 0.02 for the same samples
again` is the error over runs of these very samples, where ± beside the value is for samples like
these.

Exit code: 0 if all is well, 1 if no sample has a score or a requirement is not met, 2 if something
could not be read or computed.";

#[derive(Debug, Args)]
// What a request asks for comes first.
#[command(after_help = EXAMPLES, next_display_order = 500)]
pub(crate) struct ScoreArgs {
    /// Eval logs (.eval, .json), folders and patterns of them, handles (@1, latest), and tables of
    /// scores (.csv, .tsv, .jsonl, .parquet)
    #[arg(required = true, value_name = "FILE")]
    pub(super) files: Vec<PathBuf>,
    /// Score the outputs that the logs hold with this scorer; may be repeated. The model that was evaluated is not
    /// called. The results of the new scores are shown, and written with --write or --output
    #[arg(long, value_name = "SPEC", conflicts_with_all = ["skip_bad_samples", "score_columns", "scorers", "by"])]
    pub(super) with: Vec<String>,
    /// Put new scores beside those that a log has (the default); one of the same name gets a number
    #[arg(long, requires = "with")]
    pub(super) append: bool,
    /// Replace the scores that a log has with new ones
    #[arg(long, requires = "with", conflicts_with = "append")]
    pub(super) overwrite: bool,
    #[command(flatten)]
    pub(super) output_as: OutputArgs,
    /// Write results and reduced scores into the logs, replacing those that they have; everything else
    /// in them stays as it is. With --with, new scores too
    #[arg(long, conflicts_with_all = ["scorers", "skip_bad_samples"])]
    pub(super) write: bool,
    /// Write the log with its new results to this file
    #[arg(long, short, value_name = "LOG", conflicts_with_all = ["write", "scorers", "skip_bad_samples"])]
    pub(super) output: Option<PathBuf>,
    /// Replace the file of --output if it exists
    #[arg(long, requires = "output")]
    force: bool,
    #[command(flatten)]
    pub(super) request: ScoreRequest,
    #[command(flatten)]
    pub(super) explain: ExplainArgs,
    #[command(flatten)]
    pub(super) graders: GraderArgs,
    #[command(flatten)]
    requirements: RequirementArgs,
}

pub(crate) fn run(args: &ScoreArgs, context: &Context<'_>) -> CommandResult {
    let ScoreArgs { request, .. } = args;
    let (changes, requirements) = (request.changes(&context.analysis(&()))?, args.requirements.parse()?);
    let input = args.input()?;
    if !args.with.is_empty() {
        return rescore::run(args, &changes, &requirements, input, context);
    }
    if args.explain.explain {
        return args.explain.run(
            &input.files,
            (&request.tables, request.by.as_deref(), request.read.limits().max_memory),
            args.output_as.format,
            input.diagnostics,
        );
    }
    let write = WriteBack { in_place: args.write, output: args.output.as_deref() };
    let (reports, mut diagnostics) =
        context.reading(|analysis| analysis.score_files(input, request, &changes, write));
    diagnostics.extend(requirements.check("score", &reports));
    Ok(shown(reports, diagnostics, args))
}

/// The results as they are printed.
pub(super) fn shown(reports: Vec<Report>, diagnostics: Diagnostics, args: &ScoreArgs) -> CommandOutcome {
    let output = if reports.is_empty() { Output::Nothing } else { args.output_as.reports(reports) };
    CommandOutcome { output, diagnostics, ..CommandOutcome::default() }
}

impl ScoreArgs {
    /// The files that the arguments mean, if the log can be written where it should.
    fn input(&self) -> Result<InputFiles, Diagnostics> {
        let mut input = expand(&self.files);
        match check_output(self, &input.files) {
            Ok(()) => Ok(input),
            Err(error) => {
                input.diagnostics.push(error);
                Err(input.diagnostics)
            }
        }
    }
}

/// Checks that a log can be written to `--output`.
fn check_output(args: &ScoreArgs, files: &[PathBuf]) -> Result<(), Diagnostic> {
    let Some(output) = &args.output else { return Ok(()) };
    let [log] = files else {
        return Err(
            Diagnostic::error(text!("{Output} is for one log")).hint(text!("give one log, or {Write}"))
        );
    };
    let form = |path: &Path| path.extension().map(|extension| extension.to_ascii_lowercase());
    let Some(wanted) = form(log) else { return Ok(()) };
    if form(output).as_ref() != Some(&wanted) {
        let hint =
            format!("end the name in .{}, or use `log convert` for the other format", wanted.display());
        let problem = "the copy of a log has its format, and its name must end like that of the log";
        return Err(Diagnostic::error(problem).about(output.display()).hint(hint));
    }
    check_new(output, args.force)
}
