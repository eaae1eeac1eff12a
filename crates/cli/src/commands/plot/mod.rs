//! `errorbar plot`: one plot, as a file of its own.
//!
//! Inputs become runs (`runs.rs`), and a kind draws what it needs of them (`draw.rs`). What the data do not support is
//! an error with the way out.

mod draw;

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use clap::builder::NonEmptyStringValueParser;
use clap::{Args, ValueEnum};
use errorbar_analysis::files::{check_extension, check_new, save};
use errorbar_analysis::{
    Alignment, ErrorRequest, Files, Opt, PlanChanges, Provenance, ReadRequest, RunRequest, Side, SideRequest,
    Sides, TableRequest, cluster_failures, metric_failure, named_sides, partial_run, text,
};
use errorbar_core::chat::Targets;
use errorbar_core::metrics::{Ece, Prediction, ece, recall};
use errorbar_core::{
    Error, Failure, MetadataKeys, Metrics, Results, Role, SampleId, ScoreColumns, ScoreParts, ScoreResult,
    metrics,
};
use errorbar_files::FileAccess;
use errorbar_inference::{ComparisonOptions, ComparisonReport, Correction};
use errorbar_log::eval::{EvalLog, SampleFields};
use errorbar_report::plot::Plot;
use errorbar_report::{ChanceLevel, Csv, Markdown, Render};
use errorbar_table::MemoryTables;

use super::explain::ExplainArgs;
use super::{CommandOutcome, CommandResult, Context};
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::format::one_of;
use crate::output::{Output, Stream};

const EXAMPLES: &str = "\
Examples:
  The score of each log of a folder, with its interval:
    errorbar plot estimates logs -o estimates.svg

  By category, with errors clustered by passage:
    errorbar plot forest logs --group category --cluster passage -o forest.svg

  What a second attempt would bring:
    errorbar plot pass logs/run.eval -o pass.svg

  A table with a column that names the model:
    errorbar plot ranking scores.csv --by model -o ranking.svg

  How far the confidence of answers can be trusted:
    errorbar plot calibration answers.csv --confidence p_correct -o calibration.svg

  The same as numbers:
    errorbar plot estimates logs -o estimates.csv

A file is SVG, 720 pixels wide, with its own colours for light and dark, and the figures in words for those \
who cannot see it. A name that ends in .csv or .md gives the figures as a table.

Exit code: 0 if all is well, 2 if something could not be read, or the data do not support the plot.";

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct PlotArgs {
    /// What to draw
    #[arg(value_enum)]
    kind: Kind,
    /// Eval logs (.eval, .json), folders and patterns of them, handles (@1, latest), and tables of
    /// scores (.csv, .tsv, .jsonl, .parquet)
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Write the plot to this file, - for standard output; the same as numbers if the name ends in .csv or .md [default:
    /// standard output, unless that is a terminal]
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Replace the file of --output if it exists
    #[arg(long, requires = "output")]
    force: bool,
    /// The title [default: the task and what is drawn]
    #[arg(long, value_name = "TEXT")]
    title: Option<String>,
    /// The metadata key of the groups of `forest` [default: that of the first grouped metric]
    #[arg(long, value_name = "KEY", value_parser = NonEmptyStringValueParser::new())]
    group: Option<String>,
    /// The metadata key of the confidence of answers, for `calibration`
    #[arg(long, value_name = "KEY", default_value = "confidence", value_parser = NonEmptyStringValueParser::new())]
    confidence: String,
    /// The number of bins of `calibration`
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u16).range(1..=100))]
    bins: u16,
    /// The metadata key or scorer with the true labels, for `confusion`; a log has its targets as `target`
    #[arg(long, value_name = "KEY", default_value = "target", value_parser = NonEmptyStringValueParser::new())]
    target: String,
    /// Where the predicted label is, for `confusion`: the `value` of the score, or the `answer` [default: the answer
    /// if there is one, else the value]
    #[arg(long, value_name = "PART",
        value_parser = one_of([("value", Prediction::Value), ("answer", Prediction::Answer)]))]
    prediction: Option<Prediction>,
    /// The score from which on an epoch is a success, for `pass` [default: 1, unless there are higher scores]
    #[arg(long, value_name = "SCORE", allow_negative_numbers = true)]
    threshold: Option<f64>,
    /// The column or metadata key whose values tell the runs of one file apart, such as models
    #[arg(long, value_name = "COLUMN", value_parser = NonEmptyStringValueParser::new())]
    by: Option<String>,
    /// A metric to draw, with its arguments; may be repeated, and the first is drawn [default: as a log records; for a
    /// table accuracy, or mean if a score is outside of 0 to 1]
    #[arg(long = "metric", short, value_name = "SPEC")]
    metrics: Vec<String>,
    /// The reducer of a sample's epochs to one score [default: as a log records; mean for a table]
    #[arg(long = "reducer", short, value_name = "SPEC")]
    reducers: Vec<String>,
    /// Only this scorer; may be repeated
    #[arg(long = "scorer", value_name = "NAME")]
    scorers: Vec<String>,
    /// Seed for random numbers (bootstrap) [default: as a log records; 0 for a table]
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// Take the same id for the same sample, though input or target differ, for `pairs` and `ranking`
    #[arg(long)]
    trust_ids: bool,
    /// Skip samples that cannot be read; they are reported and counted
    #[arg(long)]
    skip_bad_samples: bool,
    #[command(flatten)]
    errors: ErrorRequest,
    #[command(flatten)]
    tables: TableRequest,
    #[command(flatten)]
    explain: ExplainArgs,
    #[command(flatten)]
    read: ReadRequest,
}

pub(crate) fn run(args: &PlotArgs, context: &Context<'_>) -> CommandResult {
    let changes = PlanChanges::new(&args.metrics, &args.reducers, false, context.analysis(&()).specs())?;
    let changes = changes.errors(&args.errors)?.seed(args.seed);
    // As elsewhere, `-` is standard output.
    let output = args.output.as_ref().filter(|output| output.as_os_str() != "-");
    match output {
        Some(output) => {
            check_extension(output, &["svg", "csv", "md", "markdown"])?;
            check_new(output, args.force)?;
        }
        None if Stream::Stdout.is_terminal() => {
            let hint =
                format!("name a file with -o {}.svg, or send it to a program with |", args.kind.name());
            return Err(Diagnostic::error("a plot is not for a terminal").hint(hint).into());
        }
        None => {}
    }
    if args.explain.explain {
        let problem = text!("{Explain} computes nothing, so there is nothing to draw");
        return Err(Diagnostic::error(problem).hint("give it to `errorbar score`").into());
    }
    let (data, mut diagnostics) = read(args, changes, context)?;
    let (plot, title) = draw::draw(args, &data)?;
    let written = content(&plot, &args.title.clone().unwrap_or(title), output.map(PathBuf::as_path));
    let Some(path) = output else {
        return Ok(CommandOutcome {
            output: Output::Data(written.into()),
            diagnostics,
            ..CommandOutcome::default()
        });
    };
    diagnostics.extend(save(path, written, FileAccess::Umask)?);
    diagnostics.push(Diagnostic::note(format!("the plot is in {}", path.display())));
    Ok(diagnostics.into())
}

/// What a file of this name holds.
fn content(plot: &Plot, title: &str, path: Option<&Path>) -> String {
    let extension = path.and_then(Path::extension).map(|extension| extension.to_ascii_lowercase());
    match extension.as_deref().and_then(std::ffi::OsStr::to_str) {
        Some("csv") => Csv::default().listing_text(&plot.data),
        Some("md" | "markdown") => Markdown::default().listing_text(&plot.table),
        _ => plot.standalone(title),
    }
}

/// What is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Kind {
    /// The headline of each run with its interval, the best first
    Estimates,
    /// The headline by group, one line for each run
    Forest,
    /// How many samples have which score, and the mean below
    Distribution,
    /// Every sample from the hardest to the easiest, shaded by the mean of its epochs
    Epochs,
    /// The chances that one, and that all, of k attempts succeed, with bands
    Pass,
    /// How accurate answers of each confidence are
    Calibration,
    /// Which labels are taken for which
    Confusion,
    /// The difference of every two runs, sample by sample, with its interval and p-value
    Pairs,
    /// The runs in order, with the places that the data support and what cannot be told apart
    Ranking,
    /// Cost, or tokens where no cost is known, against the headline
    Cost,
}

impl Kind {
    fn name(self) -> String {
        self.to_possible_value().map_or_else(String::new, |value| value.get_name().to_owned())
    }
}

/// The metadata key under which the targets of a log are put.
const TARGET: &str = "target";

/// The scores of a log, a table, or a part of one, with what they come to.
struct Run {
    name: String,
    /// Its name in comparisons, which is the same in every task.
    side: String,
    run: errorbar_analysis::Run,
    results: Results,
    /// The score of guessing, if every sample of the log has choices.
    chance: Option<ChanceLevel>,
}

/// What a plot is drawn of.
struct PlotData {
    runs: Vec<Run>,
    /// All pairs of runs, for the kinds that compare them.
    comparison: Option<ComparisonReport>,
}

/// Reads the runs as `compare` does, gives them names, compares them if the kind does, and evaluates them.
fn read(
    args: &PlotArgs,
    mut changes: PlanChanges,
    context: &Context<'_>,
) -> Result<(PlotData, Diagnostics), Diagnostics> {
    let files = Files::find(&args.files, &MemoryTables::default())?;
    if let Some(metrics) = needed(args) {
        changes.metrics = Some(metrics);
    }
    let is_compared = matches!(args.kind, Kind::Pairs | Kind::Ranking);
    let runs = RunRequest {
        scorers: &args.scorers,
        split: args.by.as_deref(),
        groups: (args.group.as_slice(), Opt::Group),
        skip_bad_samples: args.skip_bad_samples,
        questions: is_compared && !args.trust_ids,
        choices: matches!(args.kind, Kind::Estimates | Kind::Forest),
        needs_ids: is_compared,
        takes_unscored: !is_compared,
        ..RunRequest::new(&changes, &args.tables, &args.read)
    };
    let options =
        SideRequest { runs, base: None, trust_ids: args.trust_ids, ignore_tasks: false, whole_names: false };
    let (read, mut diagnostics) = context.reading(|analysis| files.read(&options.runs, analysis))?;
    let sides = match is_compared {
        true => compared(args, read, &options, context, &mut diagnostics),
        false => named_sides(read, &options, &context.analysis(&())).map(|sides| (sides, None)),
    };
    let (sides, comparison) = match sides {
        Ok(sides) => sides,
        // What was skipped may be the reason.
        Err(problems) => {
            diagnostics.extend(problems);
            return Err(diagnostics);
        }
    };
    let (mut runs, mut failed) = (Vec::new(), Diagnostics::default());
    for side in sides {
        match Run::new(side, args) {
            Ok(run) => runs.push(run),
            Err(problems) => failed.extend(problems),
        }
    }
    if !failed.is_empty() {
        return Err(failed);
    }
    Ok((PlotData { runs, comparison }, diagnostics))
}

/// The sides of a comparison and all pairs of them, checked and explained as `compare` does.
fn compared(
    args: &PlotArgs,
    runs: Vec<errorbar_analysis::Run>,
    options: &SideRequest<'_>,
    context: &Context<'_>,
    diagnostics: &mut Diagnostics,
) -> Result<(Vec<Side>, Option<ComparisonReport>), Diagnostics> {
    let count = runs.len();
    let (least, word) = if args.kind == Kind::Ranking { (3, "three") } else { (2, "two") };
    if count < least {
        let hint = match (least, count) {
            (3, 2) => "`errorbar plot pairs` draws the difference of two".into(),
            _ => text!(
                "give more logs, or name the column of a table that tells models apart with {}",
                Opt::By
            ),
        };
        let count = if count == 1 { "one".to_owned() } else { count.to_string() };
        let problem = format!("{}: it takes {word} runs, and there is {count}", args.kind.name());
        let problem = Diagnostic::error(problem).hint(hint);
        let is_same = |one: &errorbar_analysis::Run, other: &errorbar_analysis::Run| {
            one.identity.path == other.identity.path
        };
        let only = runs.first().filter(|first| runs.iter().all(|run| is_same(run, first)));
        return Err(match only {
            Some(only) => problem.about(only.identity.path.display()),
            None => problem,
        }
        .into());
    }
    let sides = Sides::new(runs, options, &context.analysis(&()), diagnostics)?;
    Alignment::check(&sides.sides, options, diagnostics)?;
    let mut comparison = ComparisonOptions::default();
    (comparison.all_pairs, comparison.correction) = (true, Some(Correction::Holm));
    let report = sides.compare(&comparison)?;
    diagnostics.extend(report.warnings.iter().map(|warning| Diagnostic::warning(warning.to_string())));
    Ok((sides.sides, Some(report)))
}

impl Run {
    /// Evaluates an input.
    fn new(side: Side, args: &PlotArgs) -> Result<Self, Diagnostics> {
        let Side { name: side, task, mut run, .. } = side;
        let is_needed = needed(args).is_some() || !args.errors.clusters.is_empty();
        let (title, known) = (run.title(), if is_needed { run.known_keys() } else { Vec::new() });
        let chance = ChanceLevel::of_rows(&run.scores, &run.choice_counts());
        if let Provenance::Log(source) = &run.provenance
            && args.kind == Kind::Confusion
            && args.target == TARGET
            && !run.scores.metadata_keys().any(|key| key == TARGET)
        {
            add_targets(&source.log, &mut run.scores)?;
        }
        if let Some(key) = args.group.as_ref().filter(|_| args.kind == Kind::Forest) {
            run.plan = run.plan.with_groups(&run.scores, key, |metric| metric.role() == Role::Location);
        }
        if args.kind == Kind::Confusion && args.prediction.is_none() && !run.scores.has_answers() {
            let metrics = metrics![recall(args.target.as_str()).prediction(Prediction::Value)];
            run.plan = run.plan.metrics(metrics);
        }
        let evaluation = run.plan.evaluate(&run.scores);
        let about = |error| Diagnostic::from(error).about(run.identity.path.display());
        let mut results = evaluation.map_err(about)?.results;
        if needed(args).is_some() {
            results.name_metadata_keys(known.iter().map(String::as_str));
            let failures = failures(&title, &results);
            if !failures.is_empty() {
                return Err(failures);
            }
        }
        let unclustered = cluster_failures(&title, &known, &mut results, &args.errors);
        if !unclustered.is_empty() {
            return Err(unclustered);
        }
        // Runs of several tasks may have the same name in each.
        let name = task.map_or_else(|| side.clone(), |task| format!("{task} {side}"));
        Ok(Run { name, side, run, results, chance })
    }

    fn path(&self) -> &Path {
        &self.run.identity.path
    }

    fn is_log(&self) -> bool {
        self.run.table().is_none()
    }

    /// Whether it is in progress or ended before its end.
    fn is_partial(&self) -> bool {
        self.run.log().is_some_and(|source| partial_run(&source.header).is_some())
    }

    /// Tokens and dollars of all models, where they are recorded.
    fn paid(&self) -> (Option<u64>, Option<f64>) {
        let Some(source) = self.run.log() else { return (None, None) };
        let usages = || source.header.stats.model_usage.values();
        let tokens: u64 = usages().map(|usage| usage.total_tokens).sum();
        // What only some models record is not what the run cost.
        let cost = usages().map(|usage| usage.total_cost).sum::<Option<f64>>();
        (Some(tokens).filter(|tokens| *tokens > 0), cost.filter(|cost| *cost > 0.0))
    }
}

/// The metrics that failed, as `score` reports them; hints name the options of plots.
fn failures(title: &str, results: &Results) -> Diagnostics {
    let of_block = |block: &ScoreResult| {
        let diagnostic = |failure: &Failure| {
            let problem = metric_failure(title, block, failure, &results.errors.cluster);
            match &failure.error {
                Error::MissingConfidence { key, known, .. } if !known.contains(key) => {
                    problem.hint("name the metadata key of the confidence with --confidence KEY")
                }
                Error::UnknownRater { .. } => {
                    problem.hint("name the metadata key or scorer with the true labels with --target KEY")
                }
                _ => problem,
            }
        };
        block.failures.iter().map(diagnostic).collect::<Vec<_>>()
    };
    results.scores.iter().flat_map(of_block).collect()
}

/// The metrics that a kind needs in place of those of the plan, so that readers fetch what they read.
fn needed(args: &PlotArgs) -> Option<Metrics> {
    match args.kind {
        Kind::Calibration => Some(metrics![calibration_metric(args)]),
        // Answers are read if they may be the labels.
        Kind::Confusion => {
            let prediction = args.prediction.unwrap_or(Prediction::Answer);
            Some(metrics![recall(args.target.as_str()).prediction(prediction)])
        }
        _ => None,
    }
}

/// The metric whose bins a calibration plot has.
fn calibration_metric(args: &PlotArgs) -> Ece {
    ece().confidence(args.confidence.as_str()).bins(usize::from(args.bins))
}

/// Where predicted labels are: as asked for, else in the answers if there are any.
fn prediction(args: &PlotArgs, columns: &ScoreColumns) -> Prediction {
    args.prediction.unwrap_or(if columns.has_answers() { Prediction::Answer } else { Prediction::Value })
}

/// Puts the targets of samples beside their metadata.
fn add_targets(log: &EvalLog, columns: &mut ScoreColumns) -> Result<(), Diagnostics> {
    let mut fields = SampleFields::scores(MetadataKeys::NONE).score_parts(ScoreParts::Value);
    fields.texts = true;
    let mut targets: HashMap<(SampleId, u32), String> = HashMap::new();
    for sample in log.samples_with(fields)? {
        let sample = sample?;
        let target = match sample.target {
            Targets::One(target) => target,
            Targets::Many(targets) => targets.join(", "),
        };
        targets.insert((sample.id, sample.epoch), target);
    }
    for row in 0..columns.len() {
        let key = (columns.sample_id(row), columns.epoch(row));
        if let (Some(target), Some(writer)) = (targets.remove(&key), columns.row_mut(row)) {
            writer.metadata(TARGET, target);
        }
    }
    Ok(())
}
