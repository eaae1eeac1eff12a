//! The runs of a plot: logs, tables, or parts of tables, with what they come to.

use std::collections::{HashMap, HashSet};
use std::path::PathBuf;

use errorbar_core::chat::Targets;
use errorbar_core::metrics::{Ece, Prediction, ece, recall};
use errorbar_core::{
    MetadataKeys, Metrics, Plan, Registry, Results, Role, SampleId, ScoreColumns, ScoreParts, metrics,
};
use errorbar_log::eval::{EvalLog, Header, SampleFields};

use super::PlotArgs;
use super::kind::Kind;
use crate::commands::Context;
use crate::commands::inputs::InputOptions;
use crate::commands::inputs::alignment::Alignment;
use crate::commands::inputs::read::{Files, Input};
use crate::commands::inputs::sides::{self, Side};
use crate::commands::logs;
use crate::commands::specs::PlanOverrides;
use crate::diagnostic::{Diagnostic, Diagnostics};

/// The metadata key under which the targets of a log are put.
const TARGET: &str = "target";

/// The scores of a log, a table, or a part of one, with what they come to.
pub(super) struct Run {
    pub(super) name: String,
    pub(super) path: PathBuf,
    pub(super) task: Option<String>,
    pub(super) is_log: bool,
    pub(super) columns: ScoreColumns,
    pub(super) plan: Plan,
    pub(super) results: Results,
    /// Tokens and dollars of all models, where they are recorded.
    pub(super) tokens: Option<u64>,
    pub(super) cost: Option<f64>,
}

/// Reads the runs as `compare` does, gives them names and evaluates them.
pub(super) fn read(
    args: &PlotArgs,
    mut overrides: PlanOverrides,
    context: &Context<'_>,
) -> Result<(Vec<Run>, Diagnostics), Diagnostics> {
    let files = Files::find(&args.files)?;
    let has_logs = files.paths().iter().any(|path| logs::is_log(path));
    if let Some(metrics) = needed(args, has_logs) {
        overrides.metrics = Some(metrics);
    }
    let is_compared = matches!(args.kind, Kind::Pairs | Kind::Ranking);
    let options = InputOptions {
        overrides: &overrides,
        seed: args.seed,
        errors: &args.errors,
        gates: None,
        scorers: &args.scorers,
        compared_scorers: &[],
        split: args.by.as_deref(),
        groups: args.group.as_slice(),
        groups_option: "--group",
        base: None,
        unpaired: !is_compared,
        requires_ids: is_compared,
        trust_ids: args.trust_ids,
        ignore_tasks: false,
        skip_bad_samples: args.skip_bad_samples,
        reads_answers: false,
        tables: &args.tables,
        read: &args.read,
    };
    let (inputs, mut diagnostics) = files.read(&options, context)?;
    let sides = sides::named(inputs, &options, context)?;
    if is_compared {
        Alignment::check(&sides, &options, &mut diagnostics)?;
    }
    let runs = sides.into_iter().map(|side| Run::new(side, args, context.registry));
    Ok((runs.collect::<Result<Vec<_>, _>>()?, diagnostics))
}

impl Run {
    /// Evaluates an input.
    fn new(side: Side, args: &PlotArgs, registry: &Registry) -> Result<Self, Diagnostics> {
        let Side { name, task, input } = side;
        let Input { path, mut columns, plan, record, log, is_table, task: full_task, .. } = input;
        let about = |diagnostic: Diagnostic| diagnostic.about(path.display());
        let has_target = columns.metadata_keys().any(|key| key == TARGET);
        if let Some(log) = &log
            && args.kind == Kind::Confusion
            && args.target == TARGET
            && !has_target
        {
            add_targets(log, &mut columns)?;
        }
        let scorers: Vec<String> = columns.scorer_names().map(str::to_owned).collect();
        let plan = grouped(plan, args, &scorers, registry).map_err(about)?;
        let results = plan.evaluate(&columns).map_err(|error| about(error.into()))?.results;
        let (tokens, cost) = record.as_ref().map_or((None, None), |record| paid(&record.header));
        // Runs of several tasks may have the same name in each.
        let name = task.as_ref().map_or(name.clone(), |task| format!("{task} {name}"));
        Ok(Run { name, path, task: full_task, is_log: !is_table, columns, plan, results, tokens, cost })
    }
}

/// The metrics that a kind needs in place of those of the plan, so that readers fetch what they read.
fn needed(args: &PlotArgs, is_log: bool) -> Option<Metrics> {
    match args.kind {
        Kind::Calibration => Some(metrics![calibration_metric(args)]),
        Kind::Confusion => Some(metrics![recall(args.target.as_str()).prediction(prediction(args, is_log))]),
        _ => None,
    }
}

/// The metric whose bins a calibration plot has.
pub(super) fn calibration_metric(args: &PlotArgs) -> Ece {
    ece().confidence(args.confidence.as_str()).bins(usize::from(args.bins))
}

/// Where predicted labels are.
pub(super) fn prediction(args: &PlotArgs, is_log: bool) -> Prediction {
    args.prediction.unwrap_or(if is_log { Prediction::Answer } else { Prediction::Value })
}

/// The plan with the figure by group that a forest plot needs.
fn grouped(
    mut plan: Plan,
    args: &PlotArgs,
    scorers: &[String],
    registry: &Registry,
) -> Result<Plan, Diagnostic> {
    let Some(key) = args.group.as_ref().filter(|_| args.kind == Kind::Forest) else { return Ok(plan) };
    let with_groups = |metrics: &Metrics| -> Result<Metrics, Diagnostic> {
        let location =
            metrics.iter().find(|metric| metric.role() == Role::Location && metric.group_key().is_none());
        let Some(location) = location else { return Ok(metrics.clone()) };
        let spec = format!("grouped({}, {key:?})", location.spec());
        let groups = registry.metrics(&spec.parse().map_err(errorbar_core::Error::from)?)?;
        let (Metrics::List(mut groups), Metrics::List(others)) = (groups, metrics.clone()) else {
            return Ok(metrics.clone());
        };
        // Other groups of the same figure would be drawn in their place.
        groups.extend(others);
        Ok(Metrics::List(groups))
    };
    let default = metrics![errorbar_core::metrics::accuracy(), errorbar_core::metrics::stderr()];
    match &plan.task_metrics {
        Some(metrics) => plan.task_metrics = Some(with_groups(metrics)?),
        None => {
            for scorer in &mut plan.scorers {
                scorer.metrics = with_groups(&scorer.metrics)?;
            }
            let planned: HashSet<String> = plan.scorers.iter().map(|scorer| scorer.name.clone()).collect();
            for scorer in scorers.iter().filter(|scorer| !planned.contains(*scorer)) {
                let own = with_groups(plan.default_metrics.get(scorer).unwrap_or(&default))?;
                plan.default_metrics.insert(scorer.clone(), own);
            }
        }
    }
    Ok(plan)
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
