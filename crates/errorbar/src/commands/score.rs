//! `errorbar score`: metrics from the scores of tables.
//!
//! What was asked for is built and checked before any file is opened; then each table is read with only
//! the metadata that the metrics need. What can be computed is printed; everything that cannot is told on
//! stderr, and the exit code says so.

use std::path::PathBuf;

use clap::Args;
use errorbar_core::spec::nearest;
use errorbar_core::{Block, Error, Failure, Plan, Reducers, Results, results};
use errorbar_log::{TableOptions, read_table};
use errorbar_report::{Report, clean};

use super::common::{Format, GlobalArgs};
use super::{Context, Status, specs};
use crate::message;

const EXAMPLES: &str = "\
Examples:
  Accuracy and its standard error, from the columns `id` and `score`:
    errorbar score scores.csv

  An error that knows that questions on one passage belong together, and accuracy by category:
    errorbar score scores.csv --metric accuracy --metric 'stderr(cluster=\"passage\")' \\
      --metric 'grouped(accuracy(), \"category\")'

  Several epochs: did at least 2 of them succeed, and what would pass@1 be?
    errorbar score scores.csv --reducer at_least_2 --reducer pass_at_1

  Scores that are maps, metrics by key, as JSON:
    errorbar score graded.jsonl --metric '{\"*\": [mean(), ci()]}' --format json

A table has a row per sample and epoch: the columns `id`, `epoch` (optional, from 1), `score` or
`value` (or those named with --score-column), and any others as metadata. An empty score is
missing, NaN is unscored; grades (C, P, I, N), numbers and true/false are understood.

In a table of results, ± is one standard error, and ├─●─┤ shows the value ± its error, or the
interval. `0.70 … 0.80 with the 3 absent` is what the figure would be if each of the 3 samples
without a score had the worst score, or the best.

Exit code: 0 if all is well, 2 if something could not be read or computed.";

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct ScoreArgs {
    /// Tables of scores: .csv, .tsv or .jsonl
    #[arg(required = true, value_name = "TABLE")]
    tables: Vec<PathBuf>,
    /// A metric to compute, with its arguments; may be repeated [default: accuracy and stderr]
    #[arg(long = "metric", short, value_name = "SPEC")]
    metrics: Vec<String>,
    /// How to make one score of a sample's epochs; may be repeated [default: mean]
    #[arg(long = "reducer", short, value_name = "SPEC")]
    reducers: Vec<String>,
    /// Give every epoch to the metrics, unreduced
    #[arg(long, conflicts_with = "reducers")]
    no_reduce: bool,
    /// A column that holds scores; may be repeated [default: `score`, else `value`]
    #[arg(long = "score-column", value_name = "NAME")]
    score_columns: Vec<String>,
    /// Where random figures (bootstrap) start from
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
    /// How to write the results
    #[arg(long, short, value_enum, default_value_t)]
    format: Format,
}

pub(crate) fn run(args: &ScoreArgs, global: &GlobalArgs, context: &Context<'_>) -> anyhow::Result<Status> {
    let Some(plan) = plan(args, context) else { return Ok(Status::InputError) };
    let options = TableOptions::new().score_columns(&args.score_columns).metadata(plan.metadata_keys());
    let mut told = Told { quiet: global.quiet, ..Told::default() };
    let mut reports = Vec::new();
    for path in &args.tables {
        let log = path.display().to_string();
        match read_table(path, &options) {
            Err(error) => told.error(error.problem(), Some(error.hint())),
            Ok(table) => match results(&table.columns, &plan) {
                Err(error) => told.error(format!("{log}: {error}"), hint_for(&error)),
                Ok(mut results) => {
                    too_few_epochs(&log, &results, &plan, &mut told);
                    name_columns(&mut results.scores, &table.metadata_keys);
                    reports.push(Report::new(log, results));
                }
            },
        }
    }
    if !reports.is_empty() {
        args.format.write(&reports)?;
    }
    for report in &reports {
        findings(report, &mut told);
        if report.results.scores.iter().all(|block| block.metrics.is_empty() && block.failures.is_empty()) {
            let asked_for_none = plan.task_metrics.as_ref().is_some_and(|m| m.iter().next().is_none());
            let why = match asked_for_none {
                true => "--metric names no metric",
                false => "no metric that was asked for is about these scores",
            };
            told.warning(format!("{}: nothing was computed: {why}", report.log));
        }
    }
    Ok(told.say())
}

/// What is to be computed; nothing if an option is wrong, which then was told.
fn plan(args: &ScoreArgs, context: &Context<'_>) -> Option<Plan> {
    // Both before either is given up, so that one run tells everything.
    let metrics = specs::metrics(&args.metrics, context);
    let reducers = specs::reducers(&args.reducers, context);
    let (metrics, reducers) = (metrics?, reducers?);
    let mut plan = Plan::new().seed(args.seed);
    if !args.metrics.is_empty() {
        plan = plan.metrics(metrics);
    }
    plan = plan.reducers(match reducers {
        _ if args.no_reduce => Reducers::Disabled,
        _ if args.reducers.is_empty() => Reducers::Implicit,
        explicit => explicit,
    });
    Some(plan)
}

/// A table has the epochs it has, so a k beyond them is no error; but its figures say nothing.
fn too_few_epochs(log: &str, results: &Results, plan: &Plan, told: &mut Told) {
    let Reducers::Explicit(reducers) = &plan.reducers else { return };
    let epochs = results.scores.iter().map(|block| block.epochs).max().unwrap_or(0);
    for reducer in reducers {
        let Some(k) = reducer.needs_epochs().filter(|k| *k > epochs as u64) else { continue };
        let outcome = match reducer.spec().name.as_str() {
            "at_least" => "every sample counts 0",
            _ => "every sample is unscored",
        };
        told.warning(format!(
            "{log}: {} asks for {k} epochs, the table has {epochs}; {outcome}",
            reducer.log_name()
        ));
    }
}

/// The reader fetched only the metadata that was asked for, so an error about a key that is not there
/// knows of no other; the table does.
fn name_columns(blocks: &mut [Block], metadata_keys: &[String]) {
    for failure in blocks.iter_mut().flat_map(|block| &mut block.failures) {
        if let Error::MissingKey { known, .. } = &mut failure.error {
            *known = metadata_keys.iter().take(12).map(|key| clean(key)).collect();
        }
    }
}

/// Tells the warnings and failures that results carry.
fn findings(report: &Report, told: &mut Told) {
    for warning in &report.results.warnings {
        told.warning(format!("{}: {warning}", report.log));
    }
    for block in &report.results.scores {
        for Failure { metric, error } in &block.failures {
            let mut place = format!("{}: {}", report.log, clean(&block.scorer));
            if block.name != block.scorer {
                place += &format!(": {}", clean(&block.name));
            }
            let text = error.to_string();
            let text = text.strip_prefix(&format!("{metric}: ")).unwrap_or(&text);
            told.error(format!("{place}: {metric} failed: {text}"), hint_for(error));
        }
    }
}

/// The way out, where the error itself does not say it: it depends on how the scores came here.
fn hint_for(error: &Error) -> Option<String> {
    match error {
        Error::MissingKey { key, known, .. } if !known.contains(key) => {
            let nearest = nearest(key, known.iter().map(String::as_str));
            nearest.map(|nearest| format!("did you mean `{nearest}`?"))
        }
        Error::MissingKey { key, .. } => Some(format!("give every sample the key `{key}`")),
        Error::ClusterId { key, .. } => Some(format!("fill in `{key}` for every sample")),
        _ => None,
    }
}

/// What is to be told once the results are out, each thing once.
#[derive(Default)]
struct Told {
    quiet: bool,
    warnings: Vec<String>,
    errors: Vec<(String, Option<String>)>,
}

impl Told {
    fn warning(&mut self, text: String) {
        if !self.warnings.contains(&text) {
            self.warnings.push(text);
        }
    }

    fn error(&mut self, text: String, hint: Option<String>) {
        if !self.errors.iter().any(|(told, _)| *told == text) {
            self.errors.push((text, hint));
        }
    }

    fn say(self) -> Status {
        for warning in self.warnings.iter().filter(|_| !self.quiet) {
            message::warning(warning);
        }
        for (error, hint) in &self.errors {
            message::error(error);
            if let Some(hint) = hint {
                message::hint(hint);
            }
        }
        if self.errors.is_empty() { Status::Fine } else { Status::InputError }
    }
}
