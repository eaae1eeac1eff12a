//! What the sides of a comparison are called, of which task they are, and which one is the base.

use std::collections::HashSet;
use std::path::Path;

use errorbar_core::engine::ScorerEpochs;
use errorbar_core::spec::nearest;
use errorbar_core::{Conversion, IndexMap};
use errorbar_inference::{
    ComparedScores, ComparisonErrorKind, ComparisonOptions, ComparisonReport, Error, compare,
};

use super::SideRequest;
use crate::Analysis;
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::read;
use crate::run::{Identity, Run};
use crate::run::{RunIdentity, fitting_names, run_names};
use crate::text;
use crate::text::Opt;
use crate::text::short;

/// One side: of one task, if there are several.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Side {
    /// What it is called.
    pub name: String,
    /// The task, if there are several.
    pub task: Option<String>,
    /// Its scores.
    pub run: Run,
}

impl Side {
    /// What tells it apart from the others.
    pub fn key(&self) -> (&str, Option<&str>) {
        (&self.name, self.task.as_deref())
    }
}

/// The runs with their names and tasks, in order; the metrics of tables are chosen.
///
/// # Errors
/// Cells of tables that are no scores.
pub fn named_sides(
    mut runs: Vec<Run>,
    request: &SideRequest<'_>,
    analysis: &Analysis<'_>,
) -> Result<Vec<Side>, Diagnostics> {
    prepare_tables(&mut runs, request, analysis)?;
    let tasks = tasks(&runs, request);
    let names = fitting_names(names(&runs, &tasks, request.whole_names));
    let sides = runs.into_iter().zip(names).zip(tasks);
    Ok(sides.map(|((run, name), task)| Side { name, task, run }).collect())
}

/// What is compared: of each task the base first.
#[derive(Debug)]
#[non_exhaustive]
pub struct Sides {
    /// All sides, by task.
    pub sides: Vec<Side>,
    base: String,
}

impl Sides {
    /// Names the runs, and leaves out tasks that only one side has.
    ///
    /// # Errors
    /// Fewer than two sides, cells that are no scores, a base that there is none of.
    pub fn new(
        runs: Vec<Run>,
        request: &SideRequest<'_>,
        analysis: &Analysis<'_>,
        diagnostics: &mut Diagnostics,
    ) -> Result<Self, Diagnostics> {
        if let [only] = runs.as_slice() {
            return Err(alone(only, request.runs.split).into());
        }
        let mut sides = named_sides(runs, request, analysis)?;
        let base = base(&sides, request)?;
        let order: IndexMap<String, ()> = std::iter::once(base.clone())
            .chain(sides.iter().map(|side| side.name.clone()))
            .map(|name| (name, ()))
            .collect();
        let tasks: IndexMap<Option<String>, ()> = sides.iter().map(|side| (side.task.clone(), ())).collect();
        sides.sort_by_key(|side| (tasks.get_index_of(&side.task), order.get_index_of(&side.name)));
        let mut sides = Sides { sides, base };
        sides.drop_lonely_tasks(diagnostics)?;
        sides.report_scorers(diagnostics);
        sides.report_same_runs(diagnostics);
        if request.runs.changes.errors.score_range().is_none() {
            sides.report_scales(diagnostics);
        }
        Ok(sides)
    }

    /// Compares the sides.
    ///
    /// # Errors
    /// What they cannot be compared for.
    pub fn compare(&self, options: &ComparisonOptions) -> Result<ComparisonReport, Diagnostic> {
        let scores: Vec<ComparedScores<'_>> = self.scores().collect();
        compare(&scores, options).map_err(|error| self.explained(error))
    }

    /// The error of a comparison; why there is nothing in common, if a side has too few epochs for its reducer, or a metric
    /// that failed.
    fn explained(&self, error: errorbar_inference::Error) -> Diagnostic {
        use ComparisonErrorKind::{NoCommonMetric, TooFewPairs};
        // The error of a metric does not name the file.
        let may_be_of_side = match &error {
            Error::Comparison(error) => matches!(error.kind, NoCommonMetric { .. } | TooFewPairs),
            _ => true,
        };
        if may_be_of_side {
            for side in &self.sides {
                let Run { identity, scores: columns, plan, .. } = &side.run;
                let about = match identity.scorer.is_some() || identity.part.is_some() {
                    true => format!("`{}` in {}", side.name, identity.path.display()),
                    false => identity.path.display().to_string(),
                };
                let index = columns.sample_index();
                let check = |scorer: &str| {
                    let epochs = ScorerEpochs::of(columns, columns.scorer(scorer)?).most(columns, &index);
                    plan.reducers_of(scorer).check(u32::try_from(epochs).unwrap_or(u32::MAX)).err()
                };
                if let Some(error) = scorers(side).into_iter().find_map(check) {
                    return Diagnostic::from(error).about(about);
                }
                let Ok(evaluation) = plan.evaluate(columns) else { continue };
                let failures = evaluation.results.scores.into_iter().flat_map(|score| score.failures);
                if let Some(failure) = failures.into_iter().next() {
                    return Diagnostic::from(failure.error).about(about);
                }
            }
        }
        error.into()
    }

    /// What the engine compares.
    fn scores(&self) -> impl Iterator<Item = ComparedScores<'_>> {
        self.sides.iter().map(|Side { name, task, run }| {
            let scores = ComparedScores::new(name, &run.scores, &run.plan).of_task(task.as_deref());
            scores.recorded(run.recorded())
        })
    }

    /// The sides of each task.
    fn by_task(&self) -> impl Iterator<Item = &[Side]> {
        self.sides.chunk_by(|a, b| a.task == b.task)
    }

    /// The base of each task with each of the others.
    fn pairs(&self) -> impl Iterator<Item = (&Side, &Side)> {
        let with_base = self.by_task().filter_map(|sides| sides.split_first());
        with_base.flat_map(|(base, others)| others.iter().map(move |other| (base, other)))
    }

    /// The side of this name and task.
    pub fn get(&self, name: &str, task: Option<&str>) -> Option<&Side> {
        self.sides.iter().find(|side| side.key() == (name, task))
    }

    /// What all sides have in common: the task, or the file.
    pub fn title(&self) -> Option<String> {
        self.task().or_else(|| self.same(&|side| Some(side.run.identity.path.display().to_string())))
    }

    /// The task of all sides, if it is one.
    pub fn task(&self) -> Option<String> {
        self.same(&|side| side.run.identity.task.as_deref().map(|task| short_task(task).to_owned()))
    }

    /// What all sides have, if it is the same.
    fn same(&self, of: &dyn Fn(&Side) -> Option<String>) -> Option<String> {
        let first = of(self.sides.first()?)?;
        self.sides.iter().all(|side| of(side).as_ref() == Some(&first)).then_some(first)
    }

    /// Leaves out tasks that only one side has, or that the base does not have.
    fn drop_lonely_tasks(&mut self, diagnostics: &mut Diagnostics) -> Result<(), Diagnostic> {
        let is_comparable =
            |sides: &[Side]| sides.len() > 1 && sides.first().is_some_and(|side| side.name == self.base);
        let (comparable, lonely): (Vec<&[Side]>, Vec<&[Side]>) =
            self.by_task().partition(|sides| is_comparable(sides));
        let task = |sides: &&[Side]| sides.first().and_then(|side| side.task.clone()).unwrap_or_default();
        if comparable.is_empty() {
            return Err(other_tasks(&self.sides));
        }
        let comparable: HashSet<String> = comparable.iter().map(task).collect();
        for sides in lonely {
            let names: Vec<&str> = sides.iter().map(|side| side.name.as_str()).collect();
            let text = format!("task `{}` is left out: only {} has it", task(&sides), names.join(", "));
            diagnostics.push(Diagnostic::warning(text));
        }
        self.sides.retain(|side| comparable.contains(side.task.as_deref().unwrap_or_default()));
        Ok(())
    }

    /// Scorers that only some sides have are reported. Sides without a common one are the engine's error.
    fn report_scorers(&self, diagnostics: &mut Diagnostics) {
        for (base, other) in self.pairs() {
            let [of_base, of_other] = [base, other].map(scorers);
            if !of_base.iter().any(|name| of_other.contains(name)) {
                continue;
            }
            for (side, own, foreign) in [(base, &of_base, &of_other), (other, &of_other, &of_base)] {
                let only: Vec<&str> = own.iter().filter(|name| !foreign.contains(name)).copied().collect();
                if !only.is_empty() {
                    let only = only.join(", ");
                    let text = format!("only {} has scores by {only}, which are not compared", side.name);
                    diagnostics.push(Diagnostic::note(text));
                }
            }
        }
    }

    /// Shares beside percentages: a difference of both means nothing.
    fn report_scales(&self, diagnostics: &mut Diagnostics) {
        let is_unit = |side: &Side| !side.run.scores.has_number_outside(0.0, 1.0);
        for (base, other) in self.pairs().filter(|(base, other)| is_unit(base) != is_unit(other)) {
            let [of_base, of_other] = [base, other].map(score_range);
            let (Some(of_base), Some(of_other)) = (of_base, of_other) else { continue };
            let (unit, wide) = if is_unit(base) { (of_base, of_other) } else { (of_other, of_base) };
            // Ratings from 1 on may all be 1.
            if unit.0 >= 1.0 || wide.1 <= 1.0 {
                continue;
            }
            let text = |(low, high): (f64, f64)| format!("{} to {}", short(low, 6), short(high, 6));
            let text = format!(
                "the scores of {} are {}, those of {} {}: they seem to have different scales",
                base.name,
                text(of_base),
                other.name,
                text(of_other)
            );
            diagnostics.push(Diagnostic::warning(text).hint(text!(
                "bring both to one scale first, such as percentages divided by 100; if they have one, name it with \
                 {Range=LO HI}"
            )));
        }
    }

    /// Two logs of one run are compared, if that is what the user wants.
    fn report_same_runs(&self, diagnostics: &mut Diagnostics) {
        for (base, other) in self.pairs() {
            let [of_base, of_other] = [base, other].map(|side| &side.run.identity);
            if of_base.id.is_some() && of_base.id == of_other.id && of_base.path != of_other.path {
                let text = format!("{} and {} are logs of the same run", base.name, other.name);
                diagnostics.push(Diagnostic::warning(text));
            }
        }
    }
}

/// The lowest and the highest score of a side.
fn score_range(side: &Side) -> Option<(f64, f64)> {
    let (columns, conversion) = (&side.run.scores, Conversion::default());
    let mut range: Option<(f64, f64)> = None;
    for scorer in scorers(side) {
        for row in 0..columns.len() {
            let Some(score) = columns.score(row, scorer) else { continue };
            let number = conversion.convert(score.value.view());
            if number.convertible && number.value.is_finite() {
                let (low, high) = range.unwrap_or((number.value, number.value));
                range = Some((low.min(number.value), high.max(number.value)));
            }
        }
    }
    range
}

/// The scorers of a side.
fn scorers(side: &Side) -> Vec<&str> {
    let only = &side.run.plan.only;
    let names = side.run.scores.scorer_names();
    names.filter(|name| only.is_empty() || only.iter().any(|wanted| wanted == name)).collect()
}

/// The error of a side that has no other.
fn alone(run: &Run, split: Option<&str>) -> Diagnostic {
    let problem = match (split, &run.identity.part) {
        (Some(key), Some(value)) => {
            format!("`{key}` has one value only, {value:?}: there is nothing to compare it with")
        }
        _ => "there is nothing to compare it with".to_owned(),
    };
    let hint = match (run.log(), split) {
        (Some(_), _) => text!("give a second log; {ComparedScorers=A B} compares two scorers of one log"),
        (None, None) => {
            text!("give a second table, or name the column whose values are compared with {By}")
        }
        (None, Some(_)) => text!("name a column with several values with {By}"),
    };
    Diagnostic::error(problem).about(run.identity.path.display()).hint(hint)
}

/// The error of logs of different tasks.
fn other_tasks(sides: &[Side]) -> Diagnostic {
    let of_tasks: IndexMap<&str, &Side> =
        sides.iter().rev().map(|side| (side.task.as_deref().unwrap_or_default(), side)).collect();
    let listed: Vec<String> = of_tasks
        .iter()
        .rev()
        .take(4)
        .map(|(task, side)| format!("{} is of `{task}`", side.run.title()))
        .collect();
    Diagnostic::error(format!("no task has two sides to compare: {}", listed.join(", "))).hint(text!(
        "give logs of the same task; if the tasks have the same samples, {IgnoreTasks} compares them \
         as one"
    ))
}

/// The metrics of tables are the same on all sides, and their cells are scores.
fn prepare_tables(
    runs: &mut [Run],
    request: &SideRequest<'_>,
    analysis: &Analysis<'_>,
) -> Result<(), Diagnostics> {
    let has_means = runs.iter().any(|run| run.table().is_some() && run.scores.has_number_outside(0.0, 1.0));
    for run in runs.iter_mut().filter(|run| run.table().is_some()) {
        if has_means {
            read::choose_means(&mut run.plan, &run.scores);
        }
        let checked = run.compute(request.runs.tables.unconvertible, analysis.registry, false);
        checked.map_err(|error| error.about(run.identity.path.display()))?;
    }
    Ok(())
}

/// The name of a task without the package that registers it.
pub fn short_task(task: &str) -> &str {
    task.rsplit('/').next().unwrap_or(task)
}

/// The task of each run, if there are several.
fn tasks(runs: &[Run], request: &SideRequest<'_>) -> Vec<Option<String>> {
    let task = |run: &Run| run.identity.task.as_deref().map(|task| short_task(task).to_owned());
    let distinct: HashSet<String> = runs.iter().filter_map(task).collect();
    let are_several = distinct.len() > 1 && !request.ignore_tasks;
    runs.iter().map(|run| task(run).filter(|_| are_several)).collect()
}

/// What parts of files could be called, the best first.
const NAMINGS: [fn(&Identity) -> Option<String>; 2] = [|run| run.scorer.clone(), |run| run.part.clone()];

/// A name for each run: the scorer or the value that it was split by, if no two of one task have the same, else what runs
/// are called everywhere. A table has no model; it is called as it was given.
fn names(runs: &[Run], tasks: &[Option<String>], whole: bool) -> Vec<String> {
    let runs: Vec<&Identity> = runs.iter().map(|run| &run.identity).collect();
    let are_unique = |names: &[String]| {
        let cells: HashSet<_> = names.iter().zip(tasks).collect();
        let distinct: HashSet<&String> = names.iter().collect();
        cells.len() == runs.len() && (distinct.len() > 1 || runs.len() == 1)
    };
    let mut named = NAMINGS
        .iter()
        .filter_map(|naming| runs.iter().map(|run| naming(run)).collect::<Option<Vec<String>>>());
    if let Some(names) = named.find(|names| are_unique(names)) {
        return names;
    }
    let model = |run: &&Identity| run.model.as_deref().map(whole_model);
    let models: Option<Vec<String>> = runs.iter().map(model).collect();
    if let Some(names) = models.filter(|names| whole && are_unique(names)) {
        return names;
    }
    let arguments: Vec<String> = runs.iter().map(|run| run.argument.clone()).collect();
    // So are folders that each hold a log of one model.
    let is_folder = |run: &&Identity| run.path.file_stem().is_none_or(|stem| *stem != *run.argument);
    let models: HashSet<Option<&str>> = runs.iter().map(|run| run.model.as_deref()).collect();
    let is_given = models.contains(&None) || runs.iter().any(is_folder);
    if models.len() == 1 && is_given && are_unique(&arguments) {
        return arguments;
    }
    let mut identities: Vec<RunIdentity<'_>> = Vec::new();
    for (run, task) in runs.iter().zip(tasks) {
        let model = run.model.as_deref().unwrap_or(&run.argument);
        identities.push(RunIdentity::new(model, &run.path).of_task(task.as_deref()));
    }
    run_names(&identities)
}

/// The name of a model; of recorded outputs that of their file, without folder and extension.
fn whole_model(model: &str) -> String {
    let file = model.strip_prefix("replay/").and_then(|file| Path::new(file).file_stem());
    file.map_or_else(|| model.to_owned(), |stem| stem.display().to_string())
}

/// The name of the base.
fn base(sides: &[Side], request: &SideRequest<'_>) -> Result<String, Diagnostic> {
    let names: IndexMap<&str, ()> = sides.iter().map(|side| (side.name.as_str(), ())).collect();
    let Some(wanted) = request.base else {
        return Ok(names.first().map(|(name, ())| (*name).to_owned()).unwrap_or_default());
    };
    let by_name = names.keys().find(|name| **name == wanted);
    let ends: Vec<&&str> = names.keys().filter(|name| short_task(name) == wanted).collect();
    let by_end = || if let [only] = ends.as_slice() { Some(*only) } else { None };
    // The whole name of a model, where a shorter one is shown.
    let by_model = || sides.iter().find(|side| side.run.identity.model.as_deref() == Some(wanted));
    let by_path = || sides.iter().find(|side| side.run.identity.path.as_os_str() == wanted);
    if let Some(name) = by_name.or_else(by_end) {
        return Ok((*name).to_owned());
    }
    if let Some(side) = by_model().or_else(by_path) {
        return Ok(side.name.clone());
    }
    let hint = match nearest(wanted, names.keys().copied()) {
        Some(nearest) => text!("did you mean {}?", Opt::Base.set(nearest)),
        None => text!("the sides are {}", names.keys().copied().collect::<Vec<_>>().join(", ")),
    };
    Err(Diagnostic::error(format!("there is no side {wanted:?}")).about_option(Opt::Base).hint(hint))
}
