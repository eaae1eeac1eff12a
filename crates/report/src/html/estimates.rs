//! The estimates over all samples: the headline in a large table, the others below.

use errorbar_core::{Estimate, Role};
use maud::{Markup, html};

use super::PageRun;
use super::cells::{Attributes, NumberColumn, axis_head, counted, drawing};
use super::figures::{Figure, FigureCell, GroupFigure};
use super::forest::{self, ForestBody, ForestTable};
use super::task::Task;
use crate::chance::ChanceLevel;
use crate::number::{grouped, percent};
use crate::svg::{IntervalSize, IntervalStyle, Scale, grid, interval};

/// The headline of the runs of a task: a row for each, the best first.
pub(super) fn table(task: &Task<'_>) -> Markup {
    let Some(figure) = &task.figures.headline else { return Markup::default() };
    let estimates = || figure.cells.iter().flatten().map(|cell| &cell.estimate);
    let scale = Scale::of(estimates());
    let reference = task.chance.map(ChanceLevel::reference);
    let (column, level) = (NumberColumn::of(estimates(), false), level_title(estimates()));
    let title = figure.key.title();
    let chance =
        task.chance.map(|chance| format!("; {}: {}", chance.label(), chance.meaning())).unwrap_or_default();
    let label = format!("{title} of each run with its standard error and {level}{chance}");
    let row = |at: usize| {
        let (name, run) = (task.name_of(at), task.runs.get(at));
        let Some(cell) = figure.cells.get(at).and_then(Option::as_ref) else {
            return html! {
                tr role="row" {
                    th scope="row" role="rowheader" { (name) }
                    td role="cell" class="num val" { span.undef { "not computed" } }
                    td role="cell" class="num c3" {}
                    td role="cell" class="pl" {}
                    td role="cell" class="num c5" {}
                }
            };
        };
        let estimate = &cell.estimate;
        let drawn = html! {
            (grid(&scale, reference.as_ref()))
            @if let Some((_, series)) = run {
                (interval(&scale, estimate, &IntervalStyle::new(*series, IntervalSize::Headline)))
            }
        };
        let cells = html! {
            th scope="row" role="rowheader" { (name) (remark(cell)) }
            td role="cell" class="num val" { (column.value(cell)) }
            td role="cell" class="num c3" data-l=(level.replace(" interval", "")) {
                (column.interval(estimate, false))
            }
            td role="cell" class="pl" { (drawing(&drawn)) }
            td role="cell" class="num c5" data-l="n" {
                (n_cell(estimate))
                @if let Some((run, _)) = run { (not_run(run)) }
            }
        };
        let of_row = Attributes::default().with("role", "row");
        row_data(of_row, task, at, figure, None).with_estimate(estimate).element("tr", &cells)
    };
    html! {
        table.t.est.bn[estimates().any(NumberColumn::is_wide)] data-scale=(scale.ends()) role="table"
            aria-label=(label) {
            thead role="rowgroup" {
                tr role="row" {
                    th role="columnheader" scope="col" { (run_word(task)) }
                    th role="columnheader" scope="col" class="num" { (title) " ± error" }
                    th role="columnheader" scope="col" class="num" { (level) }
                    th role="columnheader" scope="col" class="pl" {
                        span.vh { "drawn" } (axis_head(&scale, reference.as_ref()))
                    }
                    th role="columnheader" scope="col" class="num" { "n" }
                }
            }
            tbody role="rowgroup" { @for at in task.order() { (row(at)) } }
        }
    }
}

/// The other figures over all samples, if there are any: those on one scale in one plot.
pub(super) fn others(task: &Task<'_>) -> Markup {
    let (drawn, numbers): (Vec<&Figure>, Vec<&Figure>) =
        task.figures.others.iter().partition(|figure| figure.is_drawn());
    let (unit, wide): (Vec<&Figure>, Vec<&Figure>) = drawn
        .into_iter()
        .partition(|figure| Scale::of(estimates_of(figure)) == Scale::unit() && is_unit(figure));
    let mut tables = vec![(unit, true)];
    tables.extend(wide.into_iter().map(|figure| (vec![figure], true)));
    tables.push((numbers, false));
    tables.retain(|(figures, _)| !figures.is_empty());
    html! {
        @if !tables.is_empty() { h3.h3 { "Other figures" } }
        @for (figures, is_drawn) in tables { (other_table(task, &figures, is_drawn)) }
    }
}

fn other_table(task: &Task<'_>, figures: &[&Figure], is_drawn: bool) -> Markup {
    let groups: Vec<GroupFigure> = figures
        .iter()
        .map(|figure| GroupFigure { name: figure.key.title(), cells: figure.cells.clone(), is_mean: false })
        .collect();
    let scale = Scale::of(groups.iter().flat_map(GroupFigure::estimates));
    let table = ForestTable {
        task,
        scale: &scale,
        reference: None,
        what: "figure",
        value: "value",
        label: "Other figures of each run",
        has_n: groups.iter().any(forest::needs_n),
        is_drawn,
    };
    let bodies: Vec<ForestBody<'_>> = figures
        .iter()
        .zip(&groups)
        .map(|(figure, group)| ForestBody {
            figure,
            group,
            of: None,
            note: forest_note(figure, task),
            attributes: Attributes::default(),
        })
        .collect();
    table.to_html(&bodies)
}

/// Whether a figure from 0 to 1 is one of those that are shares or means, and not another number that happens to be small.
fn is_unit(figure: &Figure) -> bool {
    matches!(figure.role, Role::Location | Role::Share)
        || figure.cells.iter().flatten().any(|cell| cell.is_estimate)
}

fn estimates_of(figure: &Figure) -> impl Iterator<Item = &Estimate> {
    figure.cells.iter().flatten().map(|cell| &cell.estimate)
}

/// The scorer, and what all runs have in common.
fn forest_note(figure: &Figure, task: &Task<'_>) -> String {
    let headline = task.figures.headline.as_ref().map(|figure| figure.key.source());
    let source = Some(figure.key.source()).filter(|source| Some(source) != headline.as_ref());
    let n = forest::common_n(figure.cells.iter().flatten());
    let reasons = forest::no_errors(task, &figure.cells);
    source.into_iter().chain(figure.key.arguments()).chain(n).chain(reasons).collect::<Vec<_>>().join(", ")
}

/// `95 % interval`, by the level that most of them have.
pub(super) fn level_title<'a>(estimates: impl IntoIterator<Item = &'a Estimate>) -> String {
    let levels: Vec<f64> = estimates
        .into_iter()
        .filter_map(|e| e.interval.as_ref().ok().map(|interval| interval.level))
        .collect();
    crate::notes::most_frequent(&levels)
        .map_or_else(|| "interval".to_owned(), |level| format!("{} interval", percent(level)))
}

/// What a row is called: a model if all runs have one, else a run.
pub(super) fn run_word(task: &Task<'_>) -> &'static str {
    let has_model = task.runs.iter().all(|(run, _)| run.report.model.is_some());
    if has_model { "model" } else { "run" }
}

/// What is to be known about a figure, below the name.
fn remark(cell: &FigureCell) -> Markup {
    // The notes explain a missing error as a rule.
    let own = cell.no_error.iter().filter(|reason| !cell.notes.iter().any(|note| note.starts_with(*reason)));
    let all = own.chain(&cell.notes).map(String::as_str);
    // The facts of the page say what clusters do to the error of each run.
    let all: Vec<&str> = all.filter(|note| !note.starts_with("design effect")).collect();
    html! { @if !all.is_empty() { span.full { (all.join(" · ")) } } }
}

/// The number of scores; with what is absent in the colour of notices.
fn n_cell(estimate: &Estimate) -> Markup {
    html! {
        (forest::n_text(estimate))
        @if estimate.absent > 0 { br; span.flag { (grouped(estimate.absent)) " absent" } }
    }
}

/// How much of a run without its end has not run, if that is known.
fn not_run(run: &PageRun<'_>) -> Markup {
    let planned = run.report.partial_run.as_ref().and_then(|partial| partial.planned);
    let left = planned.map_or(0, |planned| planned.saturating_sub(run.report.results.total_samples));
    // Those that are counted beside it are samples, and how many epochs were planned is not known here.
    html! { @if left > 0 { br; span.flag { (counted(left as u64, "answer")) " not run" } } }
}

/// What a row is of, for programs.
pub(super) fn row_data(
    attributes: Attributes,
    task: &Task<'_>,
    at: usize,
    figure: &Figure,
    group: Option<(&str, &str)>,
) -> Attributes {
    let run = task.runs.get(at).map(|(run, _)| run.name.as_str()).unwrap_or_default();
    let of_run = attributes
        .with("data-run", run)
        .with("data-scorer", &figure.key.scorer)
        .with("data-metric", figure.key.title());
    match group {
        Some((by, group)) => of_run.with("data-group-key", by).with("data-group", group),
        None => of_run,
    }
}
