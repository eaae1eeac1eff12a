//! The estimates over all samples: the headline in a large table, the others below.

use std::fmt::Write as _;

use errorbar_core::{Estimate, Role};

use super::PageRun;
use super::cells::{NumberColumn, axis_head, count, data};
use super::figures::{Figure, FigureCell, GroupFigure};
use super::forest::{self, ForestTable};
use super::task::Task;
use crate::chance::ChanceLevel;
use crate::number::percent;
use crate::svg::{IntervalSize, IntervalStyle, Scale, escape, grid, interval};

/// The headline of the runs of a task: a row for each, the best first.
pub(super) fn table(task: &Task<'_>) -> String {
    let Some(figure) = &task.figures.headline else { return String::new() };
    let estimates = || figure.cells.iter().flatten().map(|cell| &cell.estimate);
    let scale = Scale::of(estimates());
    let column = NumberColumn::of(estimates(), false);
    let (title, level) = (escape(&figure.key.title()), level_title(estimates()));
    let reference = task.chance.map(ChanceLevel::reference);
    let reference = reference.as_ref();
    let mut html = format!(
        "<table class=\"t est{}\" data-scale=\"{}\" role=\"table\" aria-label=\"{title} of each run with its standard error and \
         {level}{}\"><thead role=\"rowgroup\"><tr role=\"row\"><th role=\"columnheader\" scope=\"col\">{}</th>\
         <th role=\"columnheader\" scope=\"col\" class=\"num\">{title} ± error</th><th role=\"columnheader\" scope=\"col\" \
         class=\"num\">{level}</th><th role=\"columnheader\" scope=\"col\" class=\"pl\"><span class=\"vh\">drawn</span>{}</th>\
         <th role=\"columnheader\" scope=\"col\" class=\"num\">n</th></tr></thead><tbody role=\"rowgroup\">",
        if estimates().any(NumberColumn::is_wide) { " bn" } else { "" },
        scale.ends(),
        task.chance.map(|chance| format!("; {}: {}", chance.label(), chance.meaning())).unwrap_or_default(),
        run_word(task),
        axis_head(&scale, reference),
    );
    for at in task.order() {
        let Some(cell) = figure.cells.get(at) else { continue };
        let (name, run) = (task.name_of(at), task.runs.get(at));
        let Some(cell) = cell else {
            let _ = write!(
                html,
                "<tr role=\"row\"><th scope=\"row\" role=\"rowheader\">{name}</th><td role=\"cell\" class=\"num val\"><span \
                 class=\"undef\">not computed</span></td><td role=\"cell\" class=\"num c3\"></td><td role=\"cell\" \
                 class=\"pl\"></td><td role=\"cell\" class=\"num c5\"></td></tr>"
            );
            continue;
        };
        let drawn = run.map(|(_, series)| {
            interval(&scale, &cell.estimate, &IntervalStyle::new(*series, IntervalSize::Headline))
        });
        let _ = write!(
            html,
            "<tr role=\"row\"{}{}><th scope=\"row\" role=\"rowheader\">{name}{}</th><td role=\"cell\" class=\"num val\">{}</td>\
             <td role=\"cell\" class=\"num c3\" data-l=\"{}\">{}</td><td role=\"cell\" class=\"pl\"><svg class=\"iv\" \
             width=\"100%\" aria-hidden=\"true\" focusable=\"false\">{}{}</svg></td><td role=\"cell\" class=\"num c5\" \
             data-l=\"n\">{}</td></tr>",
            row_data(task, at, figure, None),
            data(&cell.estimate),
            remark(cell),
            column.value(cell),
            level.replace(" interval", ""),
            column.interval(&cell.estimate, false),
            grid(&scale, reference),
            drawn.unwrap_or_default(),
            n_cell(&cell.estimate) + &run.map(|(run, _)| not_run(run)).unwrap_or_default(),
        );
    }
    html + "</tbody></table>"
}

/// The other figures over all samples, if there are any: those on one scale in one plot.
pub(super) fn others(task: &Task<'_>) -> String {
    let shown: Vec<&Figure> = task.figures.others.iter().collect();
    let (drawn, numbers): (Vec<&Figure>, Vec<&Figure>) =
        shown.into_iter().partition(|figure| figure.is_drawn());
    let (unit, wide): (Vec<&Figure>, Vec<&Figure>) = drawn
        .into_iter()
        .partition(|figure| Scale::of(estimates_of(figure)) == Scale::unit() && is_unit(figure));
    let mut html = String::new();
    let mut push = |figures: Vec<&Figure>, is_drawn: bool| {
        if figures.is_empty() {
            return;
        }
        let groups: Vec<(&Figure, GroupFigure)> = figures
            .iter()
            .map(|figure| {
                let name = figure.key.title();
                (*figure, GroupFigure { name, cells: figure.cells.clone(), is_mean: false })
            })
            .collect();
        let scale = Scale::of(groups.iter().flat_map(|(_, group)| group.estimates()));
        let table = ForestTable {
            task,
            scale: &scale,
            reference: None,
            what: "figure",
            value: "value",
            label: "Other figures of each run",
            has_n: groups.iter().any(|(_, group)| forest::needs_n(group)),
            is_drawn,
        };
        let rows: Vec<String> = groups
            .iter()
            .map(|(figure, group)| {
                table.body(group, &forest_note(figure, task), &|at| row_data(task, at, figure, None), "")
            })
            .collect();
        html += &table.whole(&rows);
    };
    push(unit, true);
    wide.into_iter().for_each(|figure| push(vec![figure], true));
    push(numbers, false);
    match html.is_empty() {
        true => html,
        false => format!("<h3 class=\"h3\">Other figures</h3>{html}"),
    }
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
fn remark(cell: &FigureCell) -> String {
    // The notes explain a missing error as a rule.
    let own = cell.no_error.iter().filter(|reason| !cell.notes.iter().any(|note| note.starts_with(*reason)));
    let all = own.chain(&cell.notes).map(String::as_str);
    // The facts of the page say what clusters do to the error of each run.
    let all: Vec<&str> = all.filter(|note| !note.starts_with("design effect")).collect();
    match all.is_empty() {
        true => String::new(),
        false => format!("<span class=\"full\">{}</span>", escape(&all.join(" · "))),
    }
}

/// The number of scores; with what is absent in the colour of notices.
fn n_cell(estimate: &Estimate) -> String {
    match estimate.absent {
        0 => count(estimate.n),
        absent => format!(
            "{} of {}<br><span class=\"flag\">{} absent</span>",
            count(estimate.n),
            count(estimate.n + absent),
            count(absent)
        ),
    }
}

/// How much of a run without its end has not run, if that is known.
fn not_run(run: &PageRun<'_>) -> String {
    let planned = run.report.partial_run.as_ref().and_then(|partial| partial.planned);
    match planned.map(|planned| planned.saturating_sub(run.report.results.total_samples)) {
        None | Some(0) => String::new(),
        // Those that are counted beside it are samples, and how many epochs were planned is not known here.
        Some(left) => {
            format!(
                "<br><span class=\"flag\">{} not run</span>",
                super::cells::counted(left as u64, "answer")
            )
        }
    }
}

/// What a row is of, for programs.
pub(super) fn row_data(task: &Task<'_>, at: usize, figure: &Figure, group: Option<(&str, &str)>) -> String {
    let run = task.runs.get(at).map(|(run, _)| run.name.as_str()).unwrap_or_default();
    let mut attributes = format!(
        " data-run=\"{}\" data-scorer=\"{}\" data-metric=\"{}\"",
        escape(run),
        escape(&figure.key.scorer),
        escape(&figure.key.title())
    );
    if let Some((by, group)) = group {
        let _ = write!(attributes, " data-group-key=\"{}\" data-group=\"{}\"", escape(by), escape(group));
    }
    attributes
}
