//! Tasks and models, checked before the first of them runs.

use std::num::NonZeroUsize;
use std::sync::Arc;

use errorbar_eval::{ModelChoice, PreparedTask, Provider, RunOptions, Task, UsageLimits};

use super::{EvalArgs, PreparedRun, RunStart};
use crate::commands::tasks::{self, NamedTask};
use crate::commands::{Context, stop_rules};
use crate::diagnostic::{Diagnostic, Diagnostics, all};
use crate::progress::Watcher;
use errorbar_analysis::PlanChanges;

/// The options that the command line gives.
fn options(
    args: &EvalArgs,
    watcher: &Arc<Watcher>,
    context: &Context<'_>,
) -> Result<RunOptions, Diagnostics> {
    let overrides =
        PlanChanges::new(&args.metrics, &args.reducers, args.no_reduce, context.analysis(&()).specs())?;
    let mut options = RunOptions {
        stop_when: stop_rules::read(&args.stop_when, &args.log_dir)?,
        limit: args.limit,
        sample_ids: args.sample_ids.clone(),
        epochs: args.epochs,
        reducers: overrides.reducers,
        metrics: overrides.metrics,
        max_samples: args.max_samples.map(NonZeroUsize::get),
        seed: args.seed,
        log_dir: args.log_dir.clone(),
        log_format: args.log_format.unwrap_or_default(),
        log_events: !args.no_log_events,
        fail_on_error: args.fail_on_error,
        limits: UsageLimits { time: args.time_limit, ..UsageLimits::default() },
        ..RunOptions::default()
    };
    args.model_args.apply(&mut options, watcher)?;
    Ok(options)
}

/// Every task with each of the models, checked. Everything that is wrong is reported at once.
pub(super) fn prepare_all(
    args: &EvalArgs,
    watcher: &Arc<Watcher>,
    context: &Context<'_>,
) -> Result<Vec<Vec<PreparedRun>>, Diagnostics> {
    let mut diagnostics = Diagnostics::default();
    let options = diagnostics.collect(options(args, watcher, context));
    if let Some(list) = args.model_args.models.iter().find(|model| is_list(model, context)) {
        let problem = format!("--model names one model, and `{list}` is a list");
        diagnostics.push(Diagnostic::error(problem).hint("give --model once for each"));
        return Err(diagnostics);
    }
    let Some(models) = diagnostics.collect(args.model_args.choices(&args.log_dir)) else {
        return Err(diagnostics);
    };
    let models: Vec<Option<ModelChoice>> = match models.is_empty() {
        true => vec![None],
        false => models.into_iter().map(Some).collect(),
    };
    // All samples are read to find those that are named.
    let limit = args.limit.filter(|limit| *limit > 0 && args.sample_ids.is_empty());
    let Some(named) = diagnostics.collect(tasks::tasks(&args.tasks, &args.task_args, limit, context)) else {
        return Err(diagnostics);
    };
    let labels = labels(&named);
    let prepare_task = |(NamedTask { named, task }, label): (&NamedTask, &String)| {
        let Some(options) = &options else { return Ok(Vec::new()) };
        all(models.iter().map(|model| {
            let errors = Some(args.errors.over(task.error_plan()));
            let options = RunOptions { model: model.clone(), errors, ..options.clone() };
            let prepared = prepare(named, task, &options, context)?;
            Ok(PreparedRun { task: prepared, label: label.clone(), start: RunStart::New })
        }))
    };
    let runs = diagnostics.collect(all(named.iter().zip(&labels).map(prepare_task)));
    runs.filter(|_| options.is_some()).ok_or(diagnostics)
}

/// What tasks are called: by their names, or as on the command line where several have one name.
fn labels(named: &[NamedTask]) -> Vec<String> {
    let names: Vec<&str> = named.iter().map(|named| named.task.log_name()).collect();
    let is_alone = |name: &str| names.iter().filter(|other| **other == name).count() == 1;
    let label = |(named, name): (&NamedTask, &&str)| match is_alone(name) {
        true => (*name).to_owned(),
        false => named.named.clone(),
    };
    named.iter().zip(&names).map(label).collect()
}

/// Whether a model is a list of models, as some other programs take it. A script of `mock` may look like one.
fn is_list(model: &str, context: &Context<'_>) -> bool {
    let providers = || context.registry.list::<Provider>().map(|listing| listing.name.as_str());
    let is_model = |part: &str| {
        part.trim().split_once('/').is_some_and(|(provider, _)| providers().any(|known| known == provider))
    };
    !model.starts_with("mock/") && model.contains(',') && model.split(',').skip(1).any(is_model)
}

pub(super) fn prepare(
    named: &str,
    task: &Task,
    options: &RunOptions,
    context: &Context<'_>,
) -> Result<PreparedTask, Diagnostics> {
    task.prepare(options, context.registry).map_err(|error| {
        error.problems.into_iter().map(|problem| Diagnostic::from(problem).about(named)).collect()
    })
}
