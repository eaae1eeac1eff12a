//! Several tasks on one page: model × task.

use errorbar_core::{Estimate, IndexMap};
use maud::{Markup, html};

use super::cells::{Attributes, NumberColumn, axis_head, counted, drawing, inline};
use super::estimates::{level_title, row_data};
use super::figures::FigureCell;
use super::finding::{ERROR_NAME, compared, has_error};
use super::forest::{common_n, forest_head, long_names, no_errors};
use super::section as page_section;
use super::task::{Task, TaskComparison, run_name};
use crate::chance::ChanceLevel;
use crate::comparison::Pair;
use crate::number::grouped;
use crate::svg::{IntervalSize, IntervalStyle, Reference, Scale, Series, Y, breakable, grid, interval};

/// The names of all runs, each once, in order.
pub(super) fn run_names(tasks: &[Task<'_>]) -> Vec<(String, Series)> {
    let mut names: IndexMap<&str, Series> = IndexMap::new();
    for (run, series) in tasks.iter().flat_map(|task| &task.runs) {
        names.entry(&run.name).or_insert(*series);
    }
    names.into_iter().map(|(name, series)| (name.to_owned(), series)).collect()
}

/// What the page is about, and in how many tasks which run is ahead for sure.
pub(super) fn overview(tasks: &[Task<'_>]) -> Markup {
    let names = run_names(tasks);
    let runs = counted(tasks.iter().map(|task| task.runs.len() as u64).sum(), "run");
    let of = (counted(tasks.len() as u64, "task"), counted(names.len() as u64, "model"));
    let first_task = tasks.first();
    let only = match names.as_slice() {
        [(name, _)] => first_task.and_then(|task| headline(task, 0)).map(|cell| (name, cell)),
        _ => None,
    };
    let comparisons: Vec<(&str, &TaskComparison)> = tasks
        .iter()
        .filter_map(|task| Some((task.name.as_deref().unwrap_or_default(), task.comparison.as_ref()?)))
        .collect();
    let has_decided = |task: &&Task<'_>| {
        let pairs = task.comparison.iter().flat_map(|comparison| &comparison.pairs.comparisons);
        pairs.map(Pair::of).any(|pair| pair.is_decided)
    };
    html! {
        (runs) " of " (of.0) " by " (of.1) "."
        @match (only, comparisons.as_slice()) {
            (Some((name, cell)), _) => {
                " " b { (name) } " has " (inline(&cell.estimate)) @if has_error(&cell.estimate) { (ERROR_NAME) }
                " on " (first_task.and_then(|task| task.name.as_deref()).unwrap_or_default()) "."
            }
            (None, []) => {}
            (None, [(task, comparison)]) => { " In " (task) ": " (compared(comparison)) }
            (None, compared) => {
                @match (tasks.iter().filter(has_decided).count(), compared.len()) {
                    (0, compared) => { " In none of " (compared) " tasks can two of them be told apart." }
                    (some, compared) if some == compared => {
                        " In each of " (compared) " tasks some of them can be told apart."
                    }
                    (some, compared) => { " In " (some) " of " (compared) " tasks some of them can be told apart." }
                }
            }
        }
    }
}

fn headline<'t>(task: &'t Task<'_>, at: usize) -> Option<&'t FigureCell> {
    task.figures.headline.as_ref()?.cells.get(at)?.as_ref()
}

/// The headline of every run of every task.
pub(super) fn section(tasks: &[Task<'_>], contents: &mut Vec<(String, String)>) -> Markup {
    contents.push(("tasks".to_owned(), "Tasks".to_owned()));
    let names = run_names(tasks);
    let estimates: Vec<&Estimate> = tasks
        .iter()
        .flat_map(|task| (0..task.runs.len()).filter_map(|at| headline(task, at)))
        .map(|cell| &cell.estimate)
        .collect();
    let unit = Scale::of(estimates.iter().copied()) == Scale::unit();
    let scale = Scale::unit();
    // Where few models ran most tasks, lines without a run would be most of the table.
    let runs: usize = tasks.iter().map(|task| task.runs.len()).sum();
    let is_sparse = 2 * runs < tasks.len() * names.len();
    let heading = html! {
        h2 id="h-tasks" { "Tasks" }
        // For narrow screens, which have no room for the names in the rows. Many runs have no marks of their own, and so the
        // rows have names.
        div.legend.only-narrow {
            @for (name, series) in names.iter().filter(|(_, series)| series.class != Series::NEUTRAL.class) {
                (run_name(name, *series))
            }
        }
    };
    let content = html! {
        table class={ "forest r" (names.len()) (long_names(names.iter().map(|(name, _)| name.as_str()))) }
            data-scale=(scale.ends()) role="table" aria-label="The headline of each task and model" {
            @let axis = html! { @if unit { (axis_head(&scale, None)) } };
            @let level = level_title(estimates.iter().copied());
            (forest_head("task", "model", &axis, &html! { "headline ± error" }, &level, false))
            @for (at, task) in tasks.iter().enumerate() {
                @let own = run_names(std::slice::from_ref(task));
                (body(task, at + 1, if is_sparse { &own } else { &names }, unit.then_some(&scale)))
            }
        }
    };
    page_section("tasks", &heading, &content)
}

/// The numbers of scores of the lines, from above, if they differ.
fn each_n(cells: &[&FigureCell]) -> Option<String> {
    let each: Vec<String> = cells.iter().map(|cell| grouped(cell.estimate.n)).collect();
    (!each.is_empty()).then(|| format!("n {}", each.join(", ")))
}

/// The lines of one task, one for each model, whether it has a run or not.
fn body(task: &Task<'_>, number: usize, names: &[(String, Series)], common: Option<&Scale>) -> Markup {
    let cells: Vec<Option<(usize, &FigureCell)>> = names
        .iter()
        .map(|(name, _)| {
            let at = task.runs.iter().position(|(run, _)| run.name == *name)?;
            Some((at, headline(task, at)?))
        })
        .collect();
    let estimates = || cells.iter().flatten().map(|(_, cell)| &cell.estimate);
    // Figures of different kinds have no common scale: each task has its own, with its ends.
    let own = Scale::of(estimates());
    let scale = common.unwrap_or(&own);
    let column = NumberColumn::of(estimates(), false);
    // Tasks differ in it, so each names its own.
    let reference = task.chance.map(ChanceLevel::reference);
    let drawn = html! {
        (grid(scale, reference.as_ref()))
        @for (line, ((_, series), cell)) in names.iter().zip(&cells).enumerate() {
            @if let Some((at, cell)) = cell && let Some((run, _)) = task.runs.get(*at) {
                @let series = Series { is_partial: run.is_partial(), ..*series };
                @let y = Y::Pixels(19.0 + 24.0 * line as f64);
                (interval(scale, &cell.estimate, &IntervalStyle::new(series, IntervalSize::Forest).at(y)))
            }
        }
    };
    let figure = task.figures.headline.as_ref();
    let shown: Vec<&FigureCell> = cells.iter().flatten().map(|(_, cell)| *cell).collect();
    let note = note(task, &shown, reference.as_ref(), common.is_none().then_some(&own));
    let name = task.title();
    let row = |line: usize, name_of_run: &str, series: Series, cell: Option<(usize, &FigureCell)>| {
        let has_run = task.runs.iter().any(|(run, _)| run.name == *name_of_run);
        let content = html! {
            @if line == 0 {
                th.c1 role="rowheader" scope="rowgroup" rowspan=(names.len()) {
                    a.any href={ "#t" (number) "-top" } { (breakable(name)) } " " small { (note) }
                }
            }
            td.c2 role="cell" { (run_name(name_of_run, series)) }
            @if line == 0 { td.pl role="presentation" rowspan=(names.len()) { (drawing(&drawn)) } }
            td.num.c4 role="cell" {
                @match cell {
                    Some((_, cell)) => (column.value(cell)),
                    None if has_run => { span.dim { "no figure over all samples" } }
                    None => { span.dim { "no run" } }
                }
            }
            td.num.c5 role="cell" { @if let Some((_, cell)) = cell { (column.interval(&cell.estimate, false)) } }
        };
        let of_task = Attributes::default().with("role", "row").with("data-task", name);
        let data = match (cell, figure) {
            (Some((at, cell)), Some(figure)) => {
                row_data(of_task, task, at, figure, None).with_estimate(&cell.estimate)
            }
            _ => of_task,
        };
        data.element("tr", &content)
    };
    html! {
        tbody role="rowgroup" class={ "r" (names.len()) } {
            @for (line, ((name, series), cell)) in names.iter().zip(&cells).enumerate() {
                (row(line, name, *series, *cell))
            }
        }
    }
}

/// What the lines of a task have in common: the metric, the number of scores, the level of guessing, why errors are missing,
/// the ends of the scale.
fn note(
    task: &Task<'_>,
    shown: &[&FigureCell],
    reference: Option<&Reference>,
    own: Option<&Scale>,
) -> String {
    let figure = task.figures.headline.as_ref();
    let all = figure.map(|figure| figure.cells.as_slice()).unwrap_or_default();
    let parts = [
        figure.map(|figure| figure.key.title()),
        common_n(shown.iter().copied()).or_else(|| each_n(shown)),
        reference.map(|reference| reference.label.clone()),
        Some(no_errors(task, all).join(", ")),
        own.map(|own| format!("{} to {}", own.label(own.lower()), own.label(own.upper()))),
    ];
    let known: Vec<String> = parts.into_iter().flatten().filter(|text| !text.is_empty()).collect();
    known.join(", ")
}
