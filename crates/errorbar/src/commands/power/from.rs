//! Runs that show how scores vary: eval logs and tables.

use std::path::{Path, PathBuf};

use errorbar_core::{MetadataKeys, Plan, ScoreColumns};
use errorbar_inference::{PilotScores, PilotSide, PowerError};
use errorbar_log::eval::EvalLog;
use errorbar_table::{ScoreTable, TableErrorKind, read_tables};

use super::{FromArgs, SpreadArgs};
use crate::commands::inputs::alignment::MatchedRun;
use crate::commands::inputs::read::{QUESTION, Questions, questions};
use crate::commands::inputs::sides::short_task;
use crate::commands::logs::{self, ReadProgress, ScoreRequest};
use crate::commands::table_scores::CellContext;
use crate::commands::{Context, handles, table_scores};
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::hints;
use crate::shell;

/// How the scores of one run vary, or the difference of two.
pub(super) struct Runs {
    /// What they are called.
    pub(super) names: Vec<String>,
    pub(super) scorer: String,
    pub(super) pilot: PilotScores,
}

impl Runs {
    /// Whether there is one run only.
    pub(super) fn is_one(&self) -> bool {
        self.names.len() == 1
    }
}

/// One run.
struct Run {
    /// The file, and the part of it.
    name: String,
    path: PathBuf,
    model: Option<String>,
    task: Option<String>,
    columns: ScoreColumns,
    questions: Questions,
    /// None for a table.
    log: Option<EvalLog>,
    /// Whether the column of its ids is named by the user, or after what it identifies.
    has_named_ids: bool,
    /// The metadata keys that there are, for hints.
    keys: Vec<String>,
    /// Whether its samples have no ids, so that they cannot be matched.
    has_synthetic_ids: bool,
}

/// The runs that `--from` names, if any.
pub(super) fn read(
    args: &FromArgs,
    spread: &SpreadArgs,
    context: &Context<'_>,
    diagnostics: &mut Diagnostics,
) -> Result<Option<Runs>, Diagnostics> {
    if args.from.is_empty() {
        if let Some(option) = args.tables.first_given() {
            let problem = format!("{option} is about a table, and there is none");
            return Err(Diagnostic::error(problem).hint("name the table with --from").into());
        }
        return Ok(None);
    }
    check_options(args, spread)?;
    let mut plan = Plan::new();
    plan.errors.cluster.clone_from(&args.clusters);
    plan.errors.check().map_err(|problem| {
        Diagnostic::error(problem).about("--cluster").hint("give --cluster once, or twice with two keys")
    })?;
    if let [base, other] = args.from.as_slice()
        && handles::resolve(base)? == handles::resolve(other)?
    {
        let problem = "both runs are the same file, and a run does not differ from itself";
        return Err(Diagnostic::error(problem).about("--from").hint("name the log of another model").into());
    }
    let progress = ReadProgress::new(context.quiet);
    // Whether the same id is the same sample; a table may have two runs.
    let is_checked = !spread.unpaired && !args.trust_ids && (args.from.len() > 1 || args.by.is_some());
    let mut runs = Vec::new();
    for named in &args.from {
        let path = match args.tables.memory.contains(named) {
            true => named.clone(),
            false => handles::resolve(named)?,
        };
        match args.tables.is_log(&path) {
            true => runs.push(read_log(&path, args, (&plan, is_checked), context, &progress, diagnostics)?),
            false => runs.extend(read_table(&path, args, (&plan, is_checked), context, diagnostics)?),
        }
    }
    drop(progress);
    let names: Vec<String> = runs.iter().map(|run| run.name.clone()).collect();
    let [base, others @ ..] = runs.as_slice() else {
        return Err(Diagnostic::error("there is no run in --from").into());
    };
    let scorer = scorer(base, args.scorer.as_deref())?;
    let about = |error: PowerError| from_error(&error, base, args).about(names.join(", "));
    let side = |run: &Run| -> Result<(), Diagnostic> { self::scorer(run, Some(&scorer)).map(drop) };
    let base_side = PilotSide::new(&base.columns, &scorer);
    if !spread.unpaired
        && !others.is_empty()
        && let Some(run) = runs.iter().find(|run| run.has_synthetic_ids)
    {
        let problem = "no column identifies the samples, so those of the two runs cannot be paired";
        let hint = "name the column with --id-column, or plan for different samples with --unpaired";
        return Err(Diagnostic::error(problem).about(&run.name).hint(hint).into());
    }
    if let [other] = others
        && !spread.unpaired
    {
        check_samples(base, other, args, diagnostics)?;
    }
    let pilot = match others {
        [] => PilotScores::of_one(base_side, &args.clusters).map_err(about)?,
        [other] => {
            side(other)?;
            let other_side = PilotSide::new(&other.columns, &scorer);
            let pilot = match spread.unpaired {
                true => PilotScores::of_two(base_side, other_side, &args.clusters),
                false => PilotScores::of_pairs(base_side, other_side, &args.clusters),
            };
            pilot.map_err(about)?
        }
        _ => {
            let problem = format!("these are {} runs, and a difference is of two", names.len());
            let hint = match &args.by {
                Some(column) => format!(
                    "make a table with the rows of two of them, or look at all of them with `compare TABLE --by {column}`: \
                     {}",
                    names.join(", ")
                ),
                None => format!("give two files, or one for each of two runs: {}", names.join(", ")),
            };
            return Err(Diagnostic::error(problem).about("--from").hint(hint).into());
        }
    };
    if pilot.only_base + pilot.only_other > 0 {
        let text = format!(
            "{} and {} samples are in one of the two only, and left out",
            pilot.only_base, pilot.only_other
        );
        diagnostics.push(Diagnostic::warning(text).about(names.join(", ")));
    }
    Ok(Some(Runs { names: labels(&runs), scorer, pilot }))
}

/// Two runs that are paired are of the same task and the same samples, as sides that are compared.
fn check_samples(
    base: &Run,
    other: &Run,
    args: &FromArgs,
    diagnostics: &mut Diagnostics,
) -> Result<(), Diagnostic> {
    let task = |run: &Run| run.task.as_deref().map(|task| short_task(task).to_owned());
    if let (Some(of_base), Some(of_other), false) = (task(base), task(other), args.ignore_tasks)
        && of_base != of_other
    {
        let problem = format!(
            "the runs are of different tasks: {} is of `{of_base}`, {} is of `{of_other}`",
            base.name, other.name
        );
        let hint = "give runs of the same task; if the tasks have the same samples, add --ignore-tasks; --unpaired plans for \
                    different samples";
        return Err(Diagnostic::error(problem).about("--from").hint(hint));
    }
    if args.trust_ids { Ok(()) } else { base.matched().check_questions(other.matched(), diagnostics) }
}

impl Run {
    fn matched(&self) -> MatchedRun<'_> {
        MatchedRun {
            name: &self.name,
            path: &self.path,
            columns: &self.columns,
            questions: &self.questions,
            is_table: self.log.is_none(),
            has_named_ids: self.has_named_ids,
            log: self.log.as_ref(),
        }
    }
}

/// What runs are called: their models, which are shorter than the names of logs, if those tell them apart.
fn labels(runs: &[Run]) -> Vec<String> {
    let models: Vec<String> = runs.iter().filter_map(|run| run.model.clone()).collect();
    let are_distinct = models.len() == runs.len() && models.first() != models.get(1);
    if are_distinct { models } else { runs.iter().map(|run| run.name.clone()).collect() }
}

/// Refuses what runs have and options give, too.
fn check_options(args: &FromArgs, spread: &SpreadArgs) -> Result<(), Diagnostic> {
    let given = [
        ("--sd", spread.sd.is_some()),
        ("--sd-within", spread.sd_within.is_some()),
        ("--share", spread.share.is_some()),
        ("--p10", spread.p10.is_some()),
        ("--p01", spread.p01.is_some()),
    ];
    if let Some((option, _)) = given.into_iter().find(|(_, is_given)| *is_given) {
        let problem = format!("{option} and --from both give how scores vary");
        return Err(Diagnostic::error(problem).hint(format!("omit {option} or --from")));
    }
    if spread.design_effect.is_some() && !args.clusters.is_empty() {
        let problem = "--design-effect and --cluster both give what clusters do";
        return Err(Diagnostic::error(problem).hint("omit --design-effect or --cluster"));
    }
    Ok(())
}

fn read_log(
    path: &Path,
    args: &FromArgs,
    (plan, is_checked): (&Plan, bool),
    context: &Context<'_>,
    progress: &ReadProgress,
    diagnostics: &mut Diagnostics,
) -> Result<Run, Diagnostics> {
    let log = args.read.open(path)?;
    let scorers: Vec<String> = args.scorer.iter().cloned().collect();
    let request = ScoreRequest { scorers: &scorers, digests: is_checked, ..ScoreRequest::default() };
    // Of the recorded plan nothing is needed: variances are those of the scores.
    let opened = logs::read(&log, &request, progress, context, |_| plan.clone())?;
    diagnostics.extend(opened.warnings());
    Ok(Run {
        name: path.display().to_string(),
        path: path.to_owned(),
        model: Some(opened.header.eval.model),
        task: Some(opened.header.eval.task),
        columns: opened.scores.columns,
        questions: Questions { columns: Vec::new(), digests: opened.scores.digests },
        log: Some(log),
        has_named_ids: false,
        keys: Vec::new(),
        has_synthetic_ids: false,
    })
}

/// The runs of a table: one, or those that a column tells apart.
fn read_table(
    path: &Path,
    args: &FromArgs,
    (plan, is_checked): (&Plan, bool),
    context: &Context<'_>,
    diagnostics: &mut Diagnostics,
) -> Result<Vec<Run>, Diagnostics> {
    let about = |diagnostic: Diagnostic| diagnostic.about(path.display());
    let mut mapping = args.tables.mapping(args.by.as_deref())?;
    mapping.score_columns.extend(args.scorer.clone());
    let asked = if is_checked { QUESTION.map(str::to_owned).to_vec() } else { Vec::new() };
    let keys = plan.metadata_keys().and(MetadataKeys::Only(asked));
    let options = args.tables.options(&mapping, args.read.limits().max_memory).metadata(keys);
    let mut tables = read_tables(path, &options).map_err(|error| match error.kind() {
        TableErrorKind::DuplicateRow { .. } | TableErrorKind::DuplicateScore { .. } if args.by.is_none() => {
            let hint = "if the rows are of several models, name the column that tells them apart with --by";
            Diagnostic::from(error).hint(hint)
        }
        _ => Diagnostic::from(error),
    })?;
    if tables.iter().all(|table| table.columns.is_empty()) {
        let hint = "give it a row for each sample, below the names of the columns";
        return Err(about(Diagnostic::error("the table has no rows").hint(hint)).into());
    }
    table_scores::read_cells(&mut tables, path, plan, args.tables.unconvertible)?;
    if let Some(table) = tables.first() {
        diagnostics.extend(args.tables.save(&table.mapping)?);
    }
    let are_several = tables.len() > 1;
    let mut runs = Vec::new();
    for mut table in tables {
        let cells = CellContext {
            mode: args.tables.unconvertible,
            registry: context.registry,
            path,
            words: &table.words,
            is_unordered: table.is_unordered,
            has_no_reduce: false,
        };
        table_scores::check(&mut table.columns, &Plan::new(), cells).map_err(about)?;
        let part = table.part.as_ref().or(table.log.as_ref()).filter(|_| are_several);
        let name =
            part.map_or_else(|| path.display().to_string(), |part| format!("{}: {part}", path.display()));
        let has_named_ids = args.tables.names_ids()
            || table.mapping.id_columns.iter().any(|name| !name.eq_ignore_ascii_case("id"));
        let ScoreTable { model, task, columns, metadata_keys: keys, has_synthetic_ids, .. } = table;
        runs.push(Run {
            name,
            path: path.to_owned(),
            model,
            task,
            questions: questions(&columns),
            columns,
            log: None,
            has_named_ids,
            keys,
            has_synthetic_ids,
        });
    }
    Ok(runs)
}

/// The scorer to take: the named one, or the only one.
fn scorer(run: &Run, named: Option<&str>) -> Result<String, Diagnostic> {
    let scorers: Vec<String> = run.columns.scorer_names().map(str::to_owned).collect();
    match (named, scorers.as_slice()) {
        (Some(name), _) if scorers.iter().any(|scorer| scorer == name) => Ok(name.to_owned()),
        (Some(name), _) => Err(logs::unknown_scorer(name, &scorers).about(&run.name)),
        (None, [only]) => Ok(only.clone()),
        (None, []) => Err(Diagnostic::error("there is no score").about(&run.name)),
        (None, several) => {
            let problem = format!("there are scores by {}", several.join(", "));
            let hint = format!(
                "choose one with --scorer, such as --scorer {}",
                shell::word(several.first().map_or("", String::as_str))
            );
            Err(Diagnostic::error(problem).about(&run.name).hint(hint))
        }
    }
}

/// What is wrong with the scores, with the metadata keys that a table has.
fn from_error(error: &PowerError, base: &Run, args: &FromArgs) -> Diagnostic {
    let PowerError::Scores(error) = error else { return Diagnostic::from(error.clone()) };
    let mut error = error.clone();
    if let errorbar_core::Error::MissingKey { known, .. } = &mut error
        && !base.keys.is_empty()
    {
        *known = base.keys.iter().take(12).cloned().collect();
    }
    let hint = hints::core::cluster_hint(&error, &args.clusters).or_else(|| hints::core::hint(&error));
    Diagnostic::error(error.to_string()).hint_if(hint)
}
