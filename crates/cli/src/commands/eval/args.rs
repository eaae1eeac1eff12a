//! The options of `errorbar eval`.

use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use clap::builder::TypedValueParser;
use errorbar_eval::{FailOnError, LogFormat};

use crate::commands::models::ModelArgs;
use crate::commands::requirements::RequirementArgs;
use crate::format::{OutputArgs, one_of, seconds};
use errorbar_analysis::ErrorRequest;
use errorbar_analysis::LimitRequest;
use errorbar_analysis::{DEFAULT_LOG_DIR, LOG_DIR};

const EXAMPLES: &str = "\
Examples:
  A task file, with the model that it names:
    errorbar eval almanac.toml

  The same with recorded outputs of another model, 20 samples, 3 epochs each:
    errorbar eval almanac.toml --model replay/outputs/wren.jsonl --limit 20 --epochs 3 --reducer mode

  One sample, to see what the model is sent and what it answers:
    errorbar eval almanac.toml --limit 1 --show

  One of the tasks of a file, with an argument that the file declares:
    errorbar eval mmlu.toml@law -T shots=5

  A task of this program, with arguments:
    errorbar eval gpqa -T subset=main

  Fail unless the figures are good enough, as a check of a build does:
    errorbar eval almanac.toml --require 'lower(accuracy) >= 0.75' --junit results.xml

  Stop when the 95 % interval of the accuracy is narrower than 4 points:
    errorbar eval almanac.toml --stop-when 'width(accuracy) < 0.04'

  A set of evaluations: every task of a folder with two models; what an earlier call has completed is
  not run again, and what it has begun is continued:
    errorbar eval tasks/ --model openai/a --model openai/b --skip-complete

  Resume a run that was interrupted or stopped early; without TASK, its file must be in this folder, unchanged:
    errorbar eval almanac.toml --resume logs/2026-11-15T06-09-13+00-00_almanac_1f0c….eval
    errorbar eval --resume latest

Every sample is in the log before it is counted. Ctrl-C ends the run and computes the results over
the samples that are done; a second one ends it at once.

Exit code: 0 if all is well, 1 if a run did not reach its end, no sample succeeded, no answer could
be scored or a requirement is not met, 2 if something could not be read, run or computed.";

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct EvalArgs {
    /// Task files (.toml; FILE@NAME for one of several tasks), folders of them, or tasks of this program
    #[arg(required_unless_present = "resume", value_name = "TASK")]
    pub(super) tasks: Vec<String>,
    /// An argument of the task; may be repeated; of several tasks, those get it that have it; with --resume required again
    /// where it is a string, which may name a file or a program
    #[arg(short = 'T', value_name = "KEY=VALUE")]
    pub(super) task_args: Vec<String>,
    /// A file or folder outside of the folder of the task file that its templates may be read from, such as that of
    /// system_message("../prompts/brief.txt"); may be repeated. Of a task that only a log names (--resume), datasets too
    #[arg(long = "allow-path", value_name = "PATH")]
    pub(super) allowed_paths: Vec<PathBuf>,
    /// Run the first N samples only
    #[arg(long, value_name = "N")]
    pub(super) limit: Option<usize>,
    /// Run the samples of these ids only; may be repeated, or a list with commas
    #[arg(long = "sample-id", value_name = "ID", value_delimiter = ',')]
    pub(super) sample_ids: Vec<String>,
    /// How often to run each sample [default: that of the task, else 1]
    #[arg(long, value_name = "N")]
    pub(super) epochs: Option<u32>,
    /// The reducer of a sample's epochs to one score; may be repeated [default: that of the task, else mean]
    #[arg(long = "reducer", short, value_name = "SPEC")]
    pub(super) reducers: Vec<String>,
    /// Do not reduce epochs: metrics get every score
    #[arg(long, conflicts_with = "reducers")]
    pub(super) no_reduce: bool,
    /// A metric to compute in place of those of the task; may be repeated
    #[arg(long = "metric", short, value_name = "SPEC")]
    pub(super) metrics: Vec<String>,
    /// The maximum number of concurrent samples
    #[arg(long, value_name = "N")]
    pub(super) max_samples: Option<NonZeroUsize>,
    /// Seed for random numbers (bootstrap) [default: 0]
    #[arg(long, value_name = "N")]
    pub(super) seed: Option<u64>,
    /// The folder of the log
    #[arg(long, value_name = "DIR", default_value = DEFAULT_LOG_DIR, env = LOG_DIR)]
    pub(super) log_dir: PathBuf,
    /// The format of the log: an archive that grows while the task runs, or JSON converted from it at the end [default: eval; with --resume that of the log]
    #[arg(long, value_name = "FORMAT", value_parser = log_formats())]
    pub(super) log_format: Option<LogFormat>,
    /// Leave events out of the log: the steps of each sample, its model calls with their times, its scores
    #[arg(long)]
    pub(super) no_log_events: bool,
    /// End the run when a sample fails, or when a share (0.1) or a number (5) of samples have failed
    #[arg(long, value_name = "WHEN", num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    pub(super) fail_on_error: Option<FailOnError>,
    /// The time limit of one sample; then it is scored as it is, and its scorers have half of that time or what is left
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub(super) time_limit: Option<Duration>,
    /// Stop early, as soon as this is certain: 'width(accuracy) < 0.04', 'decided(accuracy, 0.5)', 'better_than(LOG)' or
    /// 'worse_than(LOG)'; may be repeated, then the first that holds stops the run. Samples are taken in a random order
    /// (--seed), and the interval is valid however often it is looked at. `never` leaves out the rules of the task
    #[arg(long, value_name = "RULE")]
    pub(super) stop_when: Vec<String>,
    /// Print the conversation and the verdicts of every sample when it is done, before the results
    #[arg(long)]
    pub(super) show: bool,
    /// Serve the folder of logs while the run lasts and after it, until Ctrl-C, and print the address to look at it in a
    /// browser; see `view --help`
    #[cfg(feature = "view")]
    #[arg(long)]
    pub(super) view: bool,
    /// Do not run again what has a complete log in the folder of logs: the same task, version, arguments, model, samples,
    /// solvers, scorers and epochs; its results are shown with the others. What is not complete there is resumed
    #[arg(long, conflicts_with = "resume")]
    pub(super) skip_complete: bool,
    /// Resume the run of this log (a path, @1 or latest): keep its samples, run those that are missing or failed;
    /// several logs of a task are resumed side by side. Name the TASK too, unless its file is in this folder and has not
    /// changed since the run was started: a log may come from anywhere, and a task runs programs
    #[arg(long, value_name = "LOG", num_args = 1.., conflicts_with_all = [
        "limit", "sample_ids", "epochs", "reducers", "no_reduce", "metrics", "seed", "roles",
    ])]
    pub(super) resume: Vec<PathBuf>,
    /// With --resume: run samples again whose records are damaged; the damaged log is kept beside the new one
    #[arg(long, requires = "resume")]
    pub(super) skip_bad_samples: bool,
    /// The interval of progress lines, if standard error is not a terminal, or TERM is dumb
    #[arg(long, value_name = "SECONDS", default_value = "10", value_parser = seconds)]
    pub(super) progress_every: Duration,
    #[command(flatten)]
    pub(super) output: OutputArgs,
    #[command(flatten)]
    pub(super) errors: ErrorRequest,
    #[command(flatten)]
    pub(super) model_args: ModelArgs,
    #[command(flatten)]
    pub(super) read_limits: LimitRequest,
    #[command(flatten)]
    pub(super) requirements: RequirementArgs,
}

fn log_formats() -> impl TypedValueParser<Value = LogFormat> {
    one_of([("eval", LogFormat::Eval), ("json", LogFormat::Json)])
}
