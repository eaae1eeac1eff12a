//! The runs of a plot: logs, tables, or parts of tables, with what they come to.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;

use errorbar_analysis::{
    Alignment, Files, Opt, PlanChanges, Provenance, RunRequest, Side, SideRequest, Sides, cluster_failures,
    metric_failure, named_sides, partial_run, text,
};
use errorbar_core::chat::Targets;
use errorbar_core::metrics::{Ece, Prediction, ece, recall};
use errorbar_core::{
    Error, Failure, MetadataKeys, Metrics, Plan, Results, Role, SampleId, ScoreColumns, ScoreParts,
    ScoreResult, metrics,
};
use errorbar_inference::{ComparedScores, ComparisonOptions, ComparisonReport, Correction, compare};
use errorbar_log::eval::{EvalLog, Header, SampleFields};
use errorbar_report::ChanceLevel;

use super::PlotArgs;
use super::kind::Kind;
use crate::commands::Context;
use crate::commands::logs::ReadProgress;
use crate::diagnostic::{Diagnostic, Diagnostics};

/// The metadata key under which the targets of a log are put.
const TARGET: &str = "target";

/// The scores of a log, a table, or a part of one, with what they come to.
pub(super) struct Run {
    pub(super) name: String,
    /// Its name in comparisons, which is the same in every task.
    pub(super) side: String,
    pub(super) path: PathBuf,
    pub(super) task: Option<String>,
    pub(super) is_log: bool,
    pub(super) columns: ScoreColumns,
    pub(super) plan: Plan,
    pub(super) results: Results,
    /// The score of guessing, if every sample of the log has choices.
    pub(super) chance: Option<ChanceLevel>,
    /// Whether it is in progress or ended before its end.
    pub(super) is_partial: bool,
    /// Tokens and dollars of all models, where they are recorded.
    pub(super) tokens: Option<u64>,
    pub(super) cost: Option<f64>,
}

/// What a plot is drawn of.
pub(super) struct PlotData {
    pub(super) runs: Vec<Run>,
    /// All pairs of runs, for the kinds that compare them.
    pub(super) comparison: Option<ComparisonReport>,
}

/// Reads the runs as `compare` does, gives them names, compares them if the kind does, and evaluates them.
pub(super) fn read(
    args: &PlotArgs,
    mut changes: PlanChanges,
    context: &Context<'_>,
) -> Result<(PlotData, Diagnostics), Diagnostics> {
    let progress = ReadProgress::new(context.quiet);
    let analysis = context.analysis(&progress);
    let files = Files::find(&args.files, analysis.memory())?;
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
    let (read, mut diagnostics) = files.read(&options.runs, &analysis)?;
    drop(progress);
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
    Alignment::check(sides.all(), options, diagnostics)?;
    let mut comparison = ComparisonOptions::default();
    (comparison.all_pairs, comparison.correction) = (true, Some(Correction::Holm));
    let scores: Vec<ComparedScores<'_>> = sides.scores().collect();
    let report = compare(&scores, &comparison).map_err(|error| sides.explained(error))?;
    diagnostics.extend(report.warnings.iter().map(|warning| Diagnostic::warning(warning.to_string())));
    drop(scores);
    Ok((sides.into_all(), Some(report)))
}

impl Run {
    /// Evaluates an input.
    fn new(side: Side, args: &PlotArgs) -> Result<Self, Diagnostics> {
        let Side { name, task, run, .. } = side;
        let is_needed = needed(args).is_some() || !args.errors.clusters.is_empty();
        let (title, known) = (run.title(), if is_needed { run.known_keys() } else { Vec::new() });
        let known_keys = needed(args).map(|_| &known);
        let chance = ChanceLevel::of_rows(&run.scores, &run.choice_counts());
        let is_log = run.table().is_none();
        let source = match &run.provenance {
            Provenance::Log(source) => Some(Arc::clone(source)),
            _ => None,
        };
        let (path, full_task) = (run.identity.path, run.identity.task);
        let (mut columns, plan) = (run.scores, run.plan);
        let about = |diagnostic: Diagnostic| diagnostic.about(path.display());
        let has_target = columns.metadata_keys().any(|key| key == TARGET);
        if let Some(source) = &source
            && args.kind == Kind::Confusion
            && args.target == TARGET
            && !has_target
        {
            add_targets(&source.log, &mut columns)?;
        }
        let mut plan = match args.group.as_ref().filter(|_| args.kind == Kind::Forest) {
            Some(key) => plan.with_groups(&columns, key, |metric| metric.role() == Role::Location),
            None => plan,
        };
        if args.kind == Kind::Confusion && args.prediction.is_none() && !columns.has_answers() {
            plan = plan.metrics(metrics![recall(args.target.as_str()).prediction(Prediction::Value)]);
        }
        let mut results = plan.evaluate(&columns).map_err(|error| about(error.into()))?.results;
        if let Some(keys) = known_keys {
            results.name_metadata_keys(keys.iter().map(String::as_str));
            let failures = failures(&title, &results);
            if !failures.is_empty() {
                return Err(failures);
            }
        }
        let unclustered = cluster_failures(&title, &known, &mut results, &args.errors);
        if !unclustered.is_empty() {
            return Err(unclustered);
        }
        let is_partial = source.as_ref().is_some_and(|source| partial_run(&source.header).is_some());
        let (tokens, cost) = source.as_ref().map_or((None, None), |source| paid(&source.header));
        // Runs of several tasks may have the same name in each.
        let side = name.clone();
        let name = task.map_or(name, |task| format!("{task} {side}"));
        Ok(Run {
            name,
            side,
            path,
            task: full_task,
            is_log,
            columns,
            plan,
            results,
            chance,
            is_partial,
            tokens,
            cost,
        })
    }
}

/// The metrics that failed, as `score` reports them; hints name the options of plots.
pub(super) fn failures(title: &str, results: &Results) -> Diagnostics {
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
pub(super) fn calibration_metric(args: &PlotArgs) -> Ece {
    ece().confidence(args.confidence.as_str()).bins(usize::from(args.bins))
}

/// Where predicted labels are: as asked for, else in the answers if there are any.
pub(super) fn prediction(args: &PlotArgs, columns: &ScoreColumns) -> Prediction {
    args.prediction.unwrap_or(if columns.has_answers() { Prediction::Answer } else { Prediction::Value })
}

/// Tokens and dollars of all models of a run, where they are recorded.
fn paid(header: &Header) -> (Option<u64>, Option<f64>) {
    let usages = || header.stats.model_usage.values();
    let tokens: u64 = usages().map(|usage| usage.total_tokens).sum();
    // What only some models record is not what the run cost.
    let cost = usages().map(|usage| usage.total_cost).sum::<Option<f64>>();
    (Some(tokens).filter(|tokens| *tokens > 0), cost.filter(|cost| *cost > 0.0))
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
