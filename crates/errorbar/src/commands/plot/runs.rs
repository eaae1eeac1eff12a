//! The runs of a plot, as they are read: logs, tables, or parts of tables.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

use errorbar_core::chat::Targets;
use errorbar_core::metrics::{Prediction, ece, recall};
use errorbar_core::{
    MetadataKeys, Metrics, Plan, Registry, Results, Role, SampleId, ScoreColumns, ScoreParts, metrics,
};
use errorbar_log::eval::{EvalLog, Header, SampleFields, scorer_metrics};

use super::PlotArgs;
use super::kind::Kind;
use crate::commands::error_args::check_clusters;
use crate::commands::files;
use crate::commands::handles::time_in_name;
use crate::commands::logs::{self, OpenedLog, ReadProgress, ScoreRequest};
use crate::commands::specs::PlanOverrides;
use crate::commands::table_scores::CellContext;
use crate::commands::{Context, Status, table_scores};
use crate::diagnostic::{Diagnostic, Diagnostics};

/// The metadata key under which the targets of a log are put.
const TARGET: &str = "target";

/// The scores of a log, a table, or a part of one, with what they come to.
pub(super) struct Run {
    pub(super) name: String,
    pub(super) path: PathBuf,
    pub(super) task: Option<String>,
    model: Option<String>,
    part: Option<String>,
    pub(super) is_log: bool,
    pub(super) columns: ScoreColumns,
    pub(super) plan: Plan,
    pub(super) results: Results,
    /// Tokens of the evaluated model, and what all models cost in dollars, where that is recorded.
    pub(super) tokens: Option<u64>,
    pub(super) cost: Option<f64>,
}

/// Reads the runs, and gives them names.
pub(super) fn read(
    args: &PlotArgs,
    overrides: &PlanOverrides,
    context: &Context<'_>,
) -> Result<(Vec<Run>, Diagnostics), Diagnostics> {
    let input = files::expand(&args.files);
    let named: HashSet<PathBuf> = args.files.iter().cloned().collect();
    let progress = ReadProgress::new(context.quiet);
    let (runs, diagnostics) = input.map(|path, warnings| match logs::is_log(path) {
        true => log(path, args, overrides, &progress, context, warnings).map(|run| vec![run]),
        false => table(path, args, overrides, context, warnings).map_err(Diagnostics::from),
    });
    drop(progress);
    if diagnostics.status() != Status::Fine {
        return Err(diagnostics);
    }
    let mut runs: Vec<Run> = runs.into_iter().flatten().collect();
    order(&mut runs, &named);
    name(&mut runs);
    Ok((runs, diagnostics))
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
pub(super) fn calibration_metric(args: &PlotArgs) -> errorbar_core::metrics::Ece {
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

fn log(
    path: &Path,
    args: &PlotArgs,
    overrides: &PlanOverrides,
    progress: &ReadProgress,
    context: &Context<'_>,
    warnings: &mut Diagnostics,
) -> Result<Run, Diagnostics> {
    let about = |diagnostic: Diagnostic| diagnostic.about(path.display());
    if args.by.is_some() {
        let problem = "--by is about tables, and this is an eval log";
        return Err(
            about(Diagnostic::error(problem).hint("omit it; --group names the groups of `forest`")).into()
        );
    }
    let keys: Vec<String> = args.group.iter().cloned().collect();
    let request = ScoreRequest {
        scorers: &args.scorers,
        skip_bad_samples: args.skip_bad_samples,
        keys: &keys,
        ..ScoreRequest::default()
    };
    let log = args.read.open(path)?;
    let change = |plan: Plan| {
        let mut plan = overrides.apply(plan, args.seed, &args.errors);
        if let Some(metrics) = needed(args, true) {
            plan.task_metrics = Some(metrics);
        }
        plan
    };
    let mut opened = logs::read(&log, &request, progress, context, change)?;
    opened.replace_metrics(overrides);
    check_clusters(&opened.plan).map_err(about)?;
    warnings.extend(opened.warnings());
    if let Some(run) = opened.partial_run() {
        warnings.push(about(Diagnostic::warning(format!("the run did not reach its end ({})", run.status))));
    }
    let OpenedLog { header, plan, scores, .. } = opened;
    let mut columns = scores.columns;
    if columns.is_empty() {
        let hint = "a log that was written without its samples cannot be drawn";
        return Err(about(Diagnostic::error("the log has no samples").hint(hint)).into());
    }
    let has_target = columns.metadata_keys().any(|key| key == TARGET);
    if args.kind == Kind::Confusion && args.target == TARGET && !has_target {
        add_targets(&log, &mut columns)?;
    }
    let scorers: Vec<String> = columns.scorer_names().map(str::to_owned).collect();
    let plan = grouped(plan, args, &scorers, context.registry).map_err(about)?;
    let results = plan.evaluate(&columns).map_err(|error| about(error.into()))?.results;
    let (tokens, cost) = paid(&header);
    Ok(Run {
        name: String::new(),
        path: path.to_owned(),
        task: Some(header.eval.task),
        model: Some(header.eval.model),
        part: None,
        is_log: true,
        columns,
        plan,
        results,
        tokens,
        cost,
    })
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
            _ => continue,
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

fn table(
    path: &Path,
    args: &PlotArgs,
    overrides: &PlanOverrides,
    context: &Context<'_>,
    warnings: &mut Diagnostics,
) -> Result<Vec<Run>, Diagnostic> {
    let about = |diagnostic: Diagnostic| diagnostic.about(path.display());
    let mut plan = Plan::new();
    plan.default_metrics = scorer_metrics();
    let mut plan = overrides.apply(plan, args.seed, &args.errors);
    if let Some(metrics) = needed(args, false) {
        plan.task_metrics = Some(metrics);
    }
    plan.only = args.scorers.clone();
    check_clusters(&plan).map_err(about)?;
    let mapping = args.tables.mapping(args.by.as_deref())?;
    let keys = MetadataKeys::Only(args.group.iter().cloned().collect());
    let options = args
        .tables
        .options(&mapping, args.read.limits().max_memory)
        .metadata(plan.metadata_keys().and(keys))
        .details(plan.score_parts() == ScoreParts::All);
    let tables = table_scores::read(path, &options, &plan, args.tables.unconvertible)?;
    warnings.extend(table_scores::numbered_rows(&tables, path));
    warnings.extend(table_scores::pooled_rows(&tables, path));
    if let Some(table) = tables.first() {
        warnings.extend(args.tables.save(&table.mapping)?);
    }
    let has_means = tables.iter().any(|table| table.columns.has_number_outside(0.0, 1.0));
    let mut runs = Vec::new();
    for mut table in tables {
        let mut plan = plan.clone();
        // All parts have the same figure.
        if has_means {
            table_scores::choose_means(&mut plan, &table.columns);
        }
        let scorers: Vec<String> = table.columns.scorer_names().map(str::to_owned).collect();
        if let Some(name) = args.scorers.iter().find(|name| !scorers.contains(name)) {
            return Err(about(logs::unknown_scorer(name, &scorers)));
        }
        let plan = grouped(plan, args, &scorers, context.registry).map_err(about)?;
        let (registry, words) = (context.registry, &table.words);
        let cells = CellContext { mode: args.tables.unconvertible, registry, path, words };
        let mut results = table_scores::compute(&mut table.columns, &plan, cells).map_err(about)?;
        results.name_metadata_keys(table.metadata_keys.iter().map(String::as_str));
        runs.push(Run {
            name: String::new(),
            path: path.to_owned(),
            task: table.task,
            model: table.model,
            part: table.part.or(table.log),
            is_log: false,
            columns: table.columns,
            plan,
            results,
            tokens: None,
            cost: None,
        });
    }
    Ok(runs)
}

/// Puts logs of a folder that began in the same second in the order of their tasks and models: their names end in random
/// ids, which would choose the colours.
fn order(runs: &mut [Run], named: &HashSet<PathBuf>) {
    let second = |run: &Run| {
        let name = run.path.file_name()?.to_str()?;
        (!named.contains(&run.path)).then(|| time_in_name(name)).flatten()
    };
    for runs in runs.chunk_by_mut(|a, b| second(a).is_some() && second(a) == second(b)) {
        runs.sort_by(|a, b| (&a.task, &a.model, &a.path).cmp(&(&b.task, &b.model, &b.path)));
    }
}

/// The name of a model; of recorded outputs that of their file.
fn short_model(model: &str) -> String {
    let file = model.strip_prefix("replay/").and_then(|file| Path::new(file).file_stem());
    file.map_or_else(|| model.to_owned(), |stem| stem.display().to_string())
}

/// Gives runs the shortest names that tell them apart; of several tasks with the task.
fn name(runs: &mut [Run]) {
    let tasks: HashSet<&Option<String>> = runs.iter().map(|run| &run.task).collect();
    let are_several = tasks.len() > 1;
    let task = |run: &Run| match &run.task {
        Some(task) if are_several => format!("{} ", task.rsplit('/').next().unwrap_or(task)),
        _ => String::new(),
    };
    let stem = |run: &Run| run.path.file_stem().map(|stem| stem.display().to_string());
    let namings: [&dyn Fn(&Run) -> Option<String>; 5] = [
        &|run| run.part.clone(),
        &|run| run.model.as_deref().map(short_model),
        &|run| run.model.clone(),
        &stem,
        &|run| Some(run.path.display().to_string()),
    ];
    let named = namings.iter().filter_map(|naming| {
        let names: Option<Vec<String>> = runs.iter().map(|run| Some(task(run) + &naming(run)?)).collect();
        names.filter(|names| names.iter().collect::<HashSet<_>>().len() == names.len())
    });
    let numbered = || (0..runs.len()).map(|at| format!("run {}", at + 1)).collect();
    let names: Vec<String> = named.into_iter().next().unwrap_or_else(numbered);
    runs.iter_mut().zip(names).for_each(|(run, name)| run.name = name);
}
