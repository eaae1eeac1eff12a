//! Runs that show how scores vary: eval logs and tables.

use errorbar_core::{ErrorPlan, Plan};
use errorbar_inference::{PilotScores, PilotSide, PowerError};

use super::{PilotRequest, SpreadRequest};
use crate::compare::{MatchedRun, short_task};
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::read::{Reader, RunRequest, unknown_scorer};
use crate::request::{ErrorRequest, PlanChanges};
use crate::run::Run;
use crate::source::handles;
use crate::text::Opt;
use crate::{Analysis, hints, text};

/// How the scores of one run vary, or the difference of two.
#[derive(Debug)]
pub(crate) struct PilotRuns {
    /// What they are called.
    pub(crate) names: Vec<String>,
    pub(crate) scorer: String,
    pub(crate) pilot: PilotScores,
}

impl PilotRuns {
    /// Whether there is one run only.
    pub(crate) fn is_one(&self) -> bool {
        self.names.len() == 1
    }
}

/// The runs that show how scores vary, if any are given.
pub(crate) fn read(
    request: &PilotRequest,
    spread: &SpreadRequest,
    analysis: &Analysis<'_>,
    diagnostics: &mut Diagnostics,
) -> Result<Option<PilotRuns>, Diagnostics> {
    if request.from.is_empty() {
        if let Some(option) = request.tables.first_given() {
            let problem = text!("{} is about a table, and there is none", option);
            return Err(Diagnostic::error(problem).hint(text!("name the table with {From}")).into());
        }
        return Ok(None);
    }
    check_options(request, spread)?;
    let mut clusters = ErrorPlan::new();
    clusters.cluster.clone_from(&request.clusters);
    clusters.check().map_err(|problem| {
        let hint = text!("give {Cluster} once, or twice with two keys");
        Diagnostic::error(problem).about_option(Opt::Cluster).hint(hint)
    })?;
    if let [base, other] = request.from.as_slice()
        && handles::resolve(base)? == handles::resolve(other)?
    {
        let problem = "both runs are the same file, and a run does not differ from itself";
        return Err(Diagnostic::error(problem)
            .about_option(Opt::From)
            .hint("name the log of another model")
            .into());
    }
    let runs = read_runs(request, spread, analysis, diagnostics)?;
    let names: Vec<String> = runs.iter().map(Run::title).collect();
    let [base, others @ ..] = runs.as_slice() else {
        return Err(Diagnostic::error(text!("there is no run in {From}")).into());
    };
    let scorer = scorer(base, request.scorer.as_deref())?;
    let about = |error: PowerError| from_error(&error, base, request).about(names.join(", "));
    let side = |run: &Run| -> Result<(), Diagnostic> { self::scorer(run, Some(&scorer)).map(drop) };
    let base_side = PilotSide::new(&base.scores, &scorer);
    if !spread.unpaired
        && !others.is_empty()
        && let Some(run) = runs.iter().find(|run| run.has_synthetic_ids())
    {
        let problem = "no column identifies the samples, so those of the two runs cannot be paired";
        let hint = text!("name the column with {IdColumn}, or plan for different samples with {Unpaired}");
        return Err(Diagnostic::error(problem).about(run.title()).hint(hint).into());
    }
    if let [other] = others
        && !spread.unpaired
    {
        check_samples(base, other, request, diagnostics)?;
    }
    let pilot = match others {
        [] => PilotScores::of_one(base_side, &request.clusters).map_err(about)?,
        [other] => {
            side(other)?;
            let other_side = PilotSide::new(&other.scores, &scorer);
            let pilot = match spread.unpaired {
                true => PilotScores::of_two(base_side, other_side, &request.clusters),
                false => PilotScores::of_pairs(base_side, other_side, &request.clusters),
            };
            pilot.map_err(about)?
        }
        _ => {
            let problem = format!("these are {} runs, and a difference is of two", names.len());
            let listed = names.join(", ");
            let hint = match &request.by {
                Some(column) => text!(
                    "make a table with the rows of two of them, or look at all of them with `compare TABLE --by {}`: {}",
                    column,
                    listed
                ),
                None => text!("give two files, or one for each of two runs: {}", listed),
            };
            return Err(Diagnostic::error(problem).about_option(Opt::From).hint(hint).into());
        }
    };
    if pilot.only_base + pilot.only_other > 0 {
        let text = format!(
            "{} and {} samples are in one of the two only, and left out",
            pilot.only_base, pilot.only_other
        );
        diagnostics.push(Diagnostic::warning(text).about(names.join(", ")));
    }
    Ok(Some(PilotRuns { names: labels(&runs), scorer, pilot }))
}

/// The runs of the files; cells of tables are scores.
fn read_runs(
    request: &PilotRequest,
    spread: &SpreadRequest,
    analysis: &Analysis<'_>,
    diagnostics: &mut Diagnostics,
) -> Result<Vec<Run>, Diagnostics> {
    let mut errors = ErrorRequest::default();
    errors.clusters.clone_from(&request.clusters);
    // Variances are those of scores, and nothing else is computed.
    let metrics = Some(errorbar_core::metrics![]);
    let changes = PlanChanges { metrics, errors, ..PlanChanges::default() };
    // The scorer of a table is one of its columns.
    let mut tables = request.tables.clone();
    tables.score_columns.extend(request.scorer.clone());
    let repeated =
        text!("if the rows are of several models, name the column that tells them apart with {By}");
    let scorers: Vec<String> = request.scorer.iter().cloned().collect();
    let mut runs = Vec::new();
    for named in &request.from {
        let path = match analysis.memory().contains(named) {
            true => named.clone(),
            false => handles::resolve(named)?,
        };
        if path.is_dir() {
            let newest = format!("{}/@1", named.display().to_string().trim_end_matches('/'));
            let hint =
                text!("name one or two of its logs with {}, such as the newest: {}", Opt::From, newest);
            return Err(Diagnostic::error("this is a folder, and the spread is that of one run or two")
                .about(named.display())
                .hint(hint)
                .into());
        }
        let of_log = analysis.is_log(&path);
        let run_request = RunRequest {
            scorers: if of_log { &scorers } else { &[] },
            split: request.by.as_deref().filter(|_| !of_log),
            // Whether the same id is the same sample; a table may have two runs.
            questions: !spread.unpaired
                && !request.trust_ids
                && (request.from.len() > 1 || request.by.is_some()),
            repeated_hint: Some(&repeated),
            ..RunRequest::new(&changes, &tables, &request.read)
        };
        let reader = Reader::new(analysis, &run_request, &path);
        for mut run in reader.runs(diagnostics)? {
            let checked = run.check_cells(Plan::new(), request.tables.unconvertible, analysis.registry());
            checked.map_err(|problem| problem.about(path.display()))?;
            runs.push(run);
        }
    }
    Ok(runs)
}

/// Two runs that are paired are of the same task and the same samples, as sides that are compared.
fn check_samples(
    base: &Run,
    other: &Run,
    request: &PilotRequest,
    diagnostics: &mut Diagnostics,
) -> Result<(), Diagnostic> {
    let task = |run: &Run| run.identity.task.as_deref().map(|task| short_task(task).to_owned());
    if let (Some(of_base), Some(of_other), false) = (task(base), task(other), request.ignore_tasks)
        && of_base != of_other
    {
        let problem = format!(
            "the runs are of different tasks: {} is of `{of_base}`, {} is of `{of_other}`",
            base.title(),
            other.title()
        );
        let hint = text!(
            "give runs of the same task; if the tasks have the same samples, add {IgnoreTasks}; \
             {Unpaired} plans for different samples"
        );
        return Err(Diagnostic::error(problem).about_option(Opt::From).hint(hint));
    }
    if request.trust_ids {
        return Ok(());
    }
    let (base_name, other_name) = (base.title(), other.title());
    let other = MatchedRun::of(&other_name, other);
    MatchedRun::of(&base_name, base).check_questions(other, diagnostics)
}

/// What runs are called: their models, which are shorter than the names of logs, if those tell them apart.
fn labels(runs: &[Run]) -> Vec<String> {
    let models: Vec<String> = runs.iter().filter_map(|run| run.identity.model.clone()).collect();
    let are_distinct = models.len() == runs.len() && models.first() != models.get(1);
    if are_distinct { models } else { runs.iter().map(Run::title).collect() }
}

/// Refuses what runs have and options give, too.
fn check_options(request: &PilotRequest, spread: &SpreadRequest) -> Result<(), Diagnostic> {
    let given = [
        (Opt::Sd, spread.sd.is_some()),
        (Opt::SdWithin, spread.sd_within.is_some()),
        (Opt::Share, spread.share.is_some()),
        (Opt::P10, spread.p10.is_some()),
        (Opt::P01, spread.p01.is_some()),
    ];
    if let Some((option, _)) = given.into_iter().find(|(_, is_given)| *is_given) {
        let problem = text!("{} and {From} both give how scores vary", option);
        return Err(Diagnostic::error(problem).hint(text!("omit {} or {From}", option)));
    }
    if spread.design_effect.is_some() && !request.clusters.is_empty() {
        let problem = text!("{DesignEffect} and {Cluster} both give what clusters do");
        return Err(Diagnostic::error(problem).hint(text!("omit {DesignEffect} or {Cluster}")));
    }
    Ok(())
}

/// The scorer to take: the named one, or the only one.
fn scorer(run: &Run, named: Option<&str>) -> Result<String, Diagnostic> {
    let scorers: Vec<String> = run.scores.scorer_names().map(str::to_owned).collect();
    match (named, scorers.as_slice()) {
        (Some(name), _) if scorers.iter().any(|scorer| scorer == name) => Ok(name.to_owned()),
        (Some(name), _) => Err(unknown_scorer(name, &scorers).about(run.title())),
        (None, [only]) => Ok(only.clone()),
        (None, []) => Err(Diagnostic::error("there is no score").about(run.title())),
        (None, several) => {
            let problem = format!("there are scores by {}", several.join(", "));
            let first = several.first().map_or("", String::as_str);
            let hint = text!("choose one with {Scorer}, such as {}", Opt::Scorer.set(first));
            Err(Diagnostic::error(problem).about(run.title()).hint(hint))
        }
    }
}

/// What is wrong with the scores, with the metadata keys that a table has.
fn from_error(error: &PowerError, base: &Run, request: &PilotRequest) -> Diagnostic {
    let PowerError::Scores(error) = error else { return Diagnostic::from(error.clone()) };
    let mut error = error.clone();
    if let Some(table) = base.table() {
        error.name_metadata_keys(table.keys.iter().map(String::as_str));
    }
    let hint = hints::figure_hint(&error, &request.clusters);
    Diagnostic::error(error.to_string()).hint_if(hint)
}
