//! What the sides of a comparison are called, of which task they are, and which one is the base.

use std::collections::HashSet;
use std::path::Path;

use errorbar_core::engine::ScorerEpochs;
use errorbar_core::spec::nearest;
use errorbar_core::{Conversion, IndexMap};
use errorbar_inference::{ComparedScores, ComparisonError, Error};
use errorbar_report::{RunIdentity, fitting_names, run_names};

use super::InputOptions;
use super::read::Input;
use crate::commands::common::short;
use crate::commands::table_scores::CellContext;
use crate::commands::{Context, table_scores};
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::shell;

/// One side: of one task, if there are several.
pub(crate) struct Side {
    pub(crate) name: String,
    pub(crate) task: Option<String>,
    pub(crate) input: Input,
}

impl Side {
    /// What tells it apart from the others.
    pub(crate) fn key(&self) -> (&str, Option<&str>) {
        (&self.name, self.task.as_deref())
    }
}

/// The inputs with their names and tasks, in order; the metrics of tables are chosen.
pub(crate) fn named(
    mut inputs: Vec<Input>,
    options: &InputOptions<'_>,
    context: &Context<'_>,
) -> Result<Vec<Side>, Diagnostics> {
    prepare_tables(&mut inputs, options, context)?;
    let tasks = tasks(&inputs, options);
    let names = fitting_names(names(&inputs, &tasks, options.whole_names));
    let sides = inputs.into_iter().zip(names).zip(tasks);
    Ok(sides.map(|((input, name), task)| Side { name, task, input }).collect())
}

/// What is compared: of each task the base first.
pub(crate) struct Sides {
    sides: Vec<Side>,
    base: String,
}

impl Sides {
    pub(crate) fn new(
        inputs: Vec<Input>,
        options: &InputOptions<'_>,
        context: &Context<'_>,
        diagnostics: &mut Diagnostics,
    ) -> Result<Self, Diagnostics> {
        if let [only] = inputs.as_slice() {
            return Err(alone(only, options.split).into());
        }
        let mut sides = named(inputs, options, context)?;
        let base = base(&sides, options)?;
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
        if options.errors.range().is_none() {
            sides.report_scales(diagnostics);
        }
        Ok(sides)
    }

    /// The error of a comparison; why there is nothing in common, if a side has too few epochs for its reducer, or a metric
    /// that failed.
    pub(crate) fn explained(&self, error: errorbar_inference::Error) -> Diagnostic {
        use ComparisonError::{NoCommonMetric, TooFewPairs};
        // The error of a metric does not name the file.
        let is_of_side = !matches!(error, Error::Comparison(_));
        if is_of_side || matches!(error, Error::Comparison(NoCommonMetric { .. } | TooFewPairs { .. })) {
            for side in &self.sides {
                let (input, columns) = (&side.input, &side.input.columns);
                let about = match input.scorer.is_some() || input.part.is_some() {
                    true => format!("`{}` in {}", side.name, input.path.display()),
                    false => input.path.display().to_string(),
                };
                let index = columns.sample_index();
                let check = |scorer: &str| {
                    let epochs = ScorerEpochs::of(columns, columns.scorer(scorer)?).most(columns, &index);
                    input.plan.reducers_of(scorer).check(u32::try_from(epochs).unwrap_or(u32::MAX)).err()
                };
                if let Some(error) = scorers(side).into_iter().find_map(check) {
                    return Diagnostic::from(error).about(about);
                }
                let Ok(evaluation) = input.plan.evaluate(&input.columns) else { continue };
                let failures = evaluation.results.scores.into_iter().flat_map(|score| score.failures);
                if let Some(failure) = failures.into_iter().next() {
                    return Diagnostic::from(failure.error).about(about);
                }
            }
        }
        error.into()
    }

    /// What the engine compares.
    pub(crate) fn scores(&self) -> impl Iterator<Item = ComparedScores<'_>> {
        self.sides.iter().map(|Side { name, task, input }| {
            let scores = ComparedScores::new(name, &input.columns, &input.plan).of_task(task.as_deref());
            scores.recorded(input.recorded.as_ref())
        })
    }

    /// All sides, by task, to be kept.
    pub(crate) fn into_all(self) -> Vec<Side> {
        self.sides
    }

    /// All sides, by task.
    pub(crate) fn all(&self) -> &[Side] {
        &self.sides
    }

    /// The sides of each task.
    pub(crate) fn by_task(&self) -> impl Iterator<Item = &[Side]> {
        self.sides.chunk_by(|a, b| a.task == b.task)
    }

    /// The side of this name and task.
    pub(crate) fn get(&self, name: &str, task: Option<&str>) -> Option<&Side> {
        self.sides.iter().find(|side| side.key() == (name, task))
    }

    /// What all sides have in common: the task, or the file.
    pub(crate) fn title(&self) -> Option<String> {
        self.task().or_else(|| self.same(&|side| Some(side.input.path.display().to_string())))
    }

    /// The task of all sides, if it is one.
    pub(crate) fn task(&self) -> Option<String> {
        self.same(&|side| side.input.task.as_deref().map(|task| short_task(task).to_owned()))
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
        for sides in self.by_task() {
            let Some((base, others)) = sides.split_first() else { continue };
            for other in others {
                let [of_base, of_other] = [base, other].map(scorers);
                if !of_base.iter().any(|name| of_other.contains(name)) {
                    continue;
                }
                for (side, own, foreign) in [(base, &of_base, &of_other), (other, &of_other, &of_base)] {
                    let only: Vec<&str> =
                        own.iter().filter(|name| !foreign.contains(name)).copied().collect();
                    if !only.is_empty() {
                        let only = only.join(", ");
                        let text = format!("only {} has scores by {only}, which are not compared", side.name);
                        diagnostics.push(Diagnostic::note(text));
                    }
                }
            }
        }
    }

    /// Shares beside percentages: a difference of both means nothing.
    fn report_scales(&self, diagnostics: &mut Diagnostics) {
        let is_unit = |side: &Side| !side.input.columns.has_number_outside(0.0, 1.0);
        for sides in self.by_task() {
            let Some((base, others)) = sides.split_first() else { continue };
            for other in others.iter().filter(|other| is_unit(base) != is_unit(other)) {
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
                diagnostics.push(Diagnostic::warning(text).hint(
                    "bring both to one scale first, such as percentages divided by 100; if they have one, name it with \
                     --range LO HI",
                ));
            }
        }
    }

    /// Two logs of one run are compared, if that is what the user wants.
    fn report_same_runs(&self, diagnostics: &mut Diagnostics) {
        for sides in self.by_task() {
            let Some((base, others)) = sides.split_first() else { continue };
            for other in others {
                let is_same = base.input.run.is_some() && base.input.run == other.input.run;
                if is_same && base.input.path != other.input.path {
                    let text = format!("{} and {} are logs of the same run", base.name, other.name);
                    diagnostics.push(Diagnostic::warning(text));
                }
            }
        }
    }
}

/// The lowest and the highest score of a side.
fn score_range(side: &Side) -> Option<(f64, f64)> {
    let (columns, conversion) = (&side.input.columns, Conversion::default());
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
    let only = &side.input.plan.only;
    let names = side.input.columns.scorer_names();
    names.filter(|name| only.is_empty() || only.iter().any(|wanted| wanted == name)).collect()
}

/// The error of a side that has no other.
fn alone(input: &Input, split: Option<&str>) -> Diagnostic {
    let problem = match (split, &input.part) {
        (Some(key), Some(value)) => {
            format!("`{key}` has one value only, {value:?}: there is nothing to compare it with")
        }
        _ => "there is nothing to compare it with".to_owned(),
    };
    let hint = match (&input.log, split) {
        (Some(_), _) => "give a second log; --scorers A B compares two scorers of one log",
        (None, None) => "give a second table, or name the column whose values are compared with --by",
        (None, Some(_)) => "name a column with several values with --by",
    };
    Diagnostic::error(problem).about(input.path.display()).hint(hint)
}

/// The error of logs of different tasks.
fn other_tasks(sides: &[Side]) -> Diagnostic {
    let of_tasks: IndexMap<&str, &Side> =
        sides.iter().rev().map(|side| (side.task.as_deref().unwrap_or_default(), side)).collect();
    let listed: Vec<String> = of_tasks
        .iter()
        .rev()
        .take(4)
        .map(|(task, side)| format!("{} is of `{task}`", side.input.title()))
        .collect();
    Diagnostic::error(format!("no task has two sides to compare: {}", listed.join(", "))).hint(
        "give logs of the same task; if the tasks have the same samples, --ignore-tasks compares them as one",
    )
}

/// The metrics of tables are the same on all sides, and their cells are scores.
fn prepare_tables(
    inputs: &mut [Input],
    options: &InputOptions<'_>,
    context: &Context<'_>,
) -> Result<(), Diagnostics> {
    let has_means = inputs.iter().any(|input| input.is_table && input.columns.has_number_outside(0.0, 1.0));
    for input in inputs.iter_mut().filter(|input| input.is_table) {
        if has_means {
            table_scores::choose_means(&mut input.plan, &input.columns);
        }
        let cells = CellContext {
            mode: options.tables.unconvertible,
            registry: context.registry,
            path: &input.path,
            words: &input.words,
            is_unordered: false,
            has_no_reduce: false,
        };
        let checked = table_scores::compute(&mut input.columns, &input.plan, cells);
        checked.map_err(|error| error.about(input.path.display()))?;
    }
    Ok(())
}

/// The name of a task without the package that registers it.
pub(crate) fn short_task(task: &str) -> &str {
    task.rsplit('/').next().unwrap_or(task)
}

/// The task of each input, if there are several.
fn tasks(inputs: &[Input], options: &InputOptions<'_>) -> Vec<Option<String>> {
    let task = |input: &Input| input.task.as_deref().map(|task| short_task(task).to_owned());
    let distinct: HashSet<String> = inputs.iter().filter_map(task).collect();
    let are_several = distinct.len() > 1 && !options.ignore_tasks;
    inputs.iter().map(|input| task(input).filter(|_| are_several)).collect()
}

/// What parts of inputs could be called, the best first.
const NAMINGS: [fn(&Input) -> Option<String>; 2] = [|input| input.scorer.clone(), |input| input.part.clone()];

/// A name for each input: the scorer or the value that it was split by, if no two of one task have the same, else what runs
/// are called everywhere. A table has no model; it is called as it was given.
fn names(inputs: &[Input], tasks: &[Option<String>], whole: bool) -> Vec<String> {
    let are_unique = |names: &[String]| {
        let cells: HashSet<_> = names.iter().zip(tasks).collect();
        let distinct: HashSet<&String> = names.iter().collect();
        cells.len() == inputs.len() && (distinct.len() > 1 || inputs.len() == 1)
    };
    let mut named =
        NAMINGS.iter().filter_map(|naming| inputs.iter().map(naming).collect::<Option<Vec<String>>>());
    if let Some(names) = named.find(|names| are_unique(names)) {
        return names;
    }
    let model = |input: &Input| input.model.as_deref().map(whole_model);
    let models: Option<Vec<String>> = inputs.iter().map(model).collect();
    if let Some(names) = models.filter(|names| whole && are_unique(names)) {
        return names;
    }
    let arguments: Vec<String> = inputs.iter().map(|input| input.argument.clone()).collect();
    // So are folders that each hold a log of one model.
    let is_folder = |input: &Input| input.path.file_stem().is_none_or(|stem| *stem != *input.argument);
    let models: HashSet<Option<&str>> = inputs.iter().map(|input| input.model.as_deref()).collect();
    let is_given = models.contains(&None) || inputs.iter().any(is_folder);
    if models.len() == 1 && is_given && are_unique(&arguments) {
        return arguments;
    }
    let mut identities: Vec<RunIdentity<'_>> = Vec::new();
    for (input, task) in inputs.iter().zip(tasks) {
        let model = input.model.as_deref().unwrap_or(&input.argument);
        identities.push(RunIdentity::new(model, &input.path).of_task(task.as_deref()));
    }
    run_names(&identities)
}

/// The name of a model; of recorded outputs that of their file, without folder and extension.
fn whole_model(model: &str) -> String {
    let file = model.strip_prefix("replay/").and_then(|file| Path::new(file).file_stem());
    file.map_or_else(|| model.to_owned(), |stem| stem.display().to_string())
}

/// The name of the base.
fn base(sides: &[Side], options: &InputOptions<'_>) -> Result<String, Diagnostic> {
    let names: IndexMap<&str, ()> = sides.iter().map(|side| (side.name.as_str(), ())).collect();
    let Some(wanted) = options.base else {
        return Ok(names.first().map(|(name, ())| (*name).to_owned()).unwrap_or_default());
    };
    let by_name = names.keys().find(|name| **name == wanted);
    let ends: Vec<&&str> = names.keys().filter(|name| short_task(name) == wanted).collect();
    let by_end = || if let [only] = ends.as_slice() { Some(*only) } else { None };
    // The whole name of a model, where a shorter one is shown.
    let by_model = || sides.iter().find(|side| side.input.model.as_deref() == Some(wanted));
    let by_path = || sides.iter().find(|side| side.input.path.as_os_str() == wanted);
    if let Some(name) = by_name.or_else(by_end) {
        return Ok((*name).to_owned());
    }
    if let Some(side) = by_model().or_else(by_path) {
        return Ok(side.name.clone());
    }
    let hint = match nearest(wanted, names.keys().copied()) {
        Some(nearest) => format!("did you mean --base {}?", shell::word(nearest)),
        None => format!("the sides are {}", names.keys().copied().collect::<Vec<_>>().join(", ")),
    };
    Err(Diagnostic::error(format!("there is no side {wanted:?}")).about("--base").hint(hint))
}
