//! Several tasks on one page: model × task.

use errorbar_core::metrics::{Prediction, ece};
use errorbar_core::{Confusion, Estimate, IndexMap, ScoreName};
use maud::{Markup, html};

use super::cells::{Attributes, NumberColumn, axis_head, counted, drawing, drawn_table, inline};
use super::estimates::{common_n, forest_heads, level_title, long_names, no_errors, row_data};
use super::facts::{ERROR_NAME, compared};
use super::task::{FigureCell, Task, TaskComparison, run_name};
use super::{PageRun, section as page_section};
use crate::comparison::Pair;
use crate::figure::{ChanceLevel, shown_error};
use crate::plot::{self, CostAxis, CostPoint, Plot, RunMarks};
use crate::svg::{IntervalSize, IntervalStyle, Scale, Series, breakable, grid, interval, px};
use crate::text::{grouped, joined};

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
                " " b { (name) } " has " (inline(&cell.estimate)) @if shown_error(&cell.estimate).is_some() { (ERROR_NAME) }
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
    let axis = html! { @if unit { (axis_head(&scale, None)) } };
    let level = level_title(estimates.iter().copied());
    let heads = forest_heads("task", "model", &axis, &html! { "headline ± error" }, &level, false);
    let bodies = html! {
        @for (at, task) in tasks.iter().enumerate() {
            @let own = run_names(std::slice::from_ref(task));
            (body(task, at + 1, if is_sparse { &own } else { &names }, unit.then_some(&scale)))
        }
    };
    let class = format!("forest r{}{}", names.len(), long_names(names.iter().map(|(name, _)| name.as_str())));
    let content = drawn_table(&class, &scale, "The headline of each task and model", &heads, &bodies);
    page_section("tasks", &heading, &content)
}

/// The numbers of scores of the lines, from above, if they differ.
fn each_n(cells: &[&FigureCell]) -> Option<String> {
    joined(cells.iter().map(|cell| grouped(cell.estimate.n)), ", ").map(|each| format!("n {each}"))
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
    let drawn = html! {
        (grid(scale, task.chance))
        @for (line, ((_, series), cell)) in names.iter().zip(&cells).enumerate() {
            @if let Some((at, cell)) = cell && let Some((run, _)) = task.runs.get(*at) {
                @let series = Series { is_partial: run.is_partial(), ..*series };
                @let y = px(19.0 + 24.0 * line as f64);
                (interval(scale, &cell.estimate, &IntervalStyle::new(series, IntervalSize::Forest).at(y)))
            }
        }
    };
    let figure = task.figures.headline.as_ref();
    let shown: Vec<&FigureCell> = cells.iter().flatten().map(|(_, cell)| *cell).collect();
    let note = note(task, &shown, common.is_none().then_some(&own));
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
                row_data(of_task, task, at, &figure.key, None).with_estimate(&cell.estimate)
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
fn note(task: &Task<'_>, shown: &[&FigureCell], own: Option<&Scale>) -> String {
    let figure = task.figures.headline.as_ref();
    let all = figure.map(|figure| figure.cells.as_slice()).unwrap_or_default();
    let parts = [
        figure.map(|figure| figure.key.title()),
        common_n(shown.iter().copied()).or_else(|| each_n(shown)),
        // Tasks differ in it, so each names its own.
        task.chance.map(ChanceLevel::label),
        Some(no_errors(task, all).join(", ")),
        own.map(|own| format!("{} to {}", own.label(own.lower), own.label(own.upper))),
    ];
    joined(parts.into_iter().flatten().filter(|text| !text.is_empty()), ", ").unwrap_or_default()
}

// The sections of plots: epochs, scores, calibration, labels, cost. A section is there if the data support it.

/// The most runs that have a panel each.
const MOST_PANELS: usize = 12;
/// The most samples × epochs of runs that are put in the order of their means.
const MOST_SPREAD: usize = 500_000;
/// An epoch is a success from this score on.
const SUCCESS: f64 = 1.0;
/// The metadata key of the confidence of answers.
const CONFIDENCE: &str = "confidence";
/// The metadata key of the true labels.
const TARGET: &str = "target";
/// The most labels that are shown one by one.
const MOST_LABELS: usize = 12;
/// More different labels than this are free text.
const MOST_DISTINCT: u64 = 50;

/// The sections of a task: the anchor, title and markup of each. Labels are texts of samples, so a page without samples has
/// none.
pub(super) fn sections(task: &Task<'_>, prefix: &str, has_samples: bool) -> Vec<(String, String, Markup)> {
    if task.runs.len() > MOST_PANELS {
        return Vec::new();
    }
    let of_plots = |name: &str, title: &str, plots: Vec<(Option<&str>, Plot)>| {
        let id = format!("{prefix}{name}");
        let content = html! {
            @for (title, plot) in &plots {
                @if let Some(title) = title { h3.h3 { (title) } }
                @if !plot.caption.is_empty() { p.note { (plot.caption.replace('\n', " · ")) } }
                (plot.to_html())
            }
        };
        let markup = page_section(&id, &html! { h2 id={ "h-" (id) } { (title) } }, &content);
        (!plots.is_empty()).then(|| (id, title.to_owned(), markup))
    };
    [
        of_plots("epochs", "Epochs", epochs(task)),
        of_plots("distribution", "Distribution of scores", untitled(distribution(task))),
        of_plots("calibration", "Calibration", untitled(calibration(task))),
        of_plots("labels", "Labels", untitled(confusion(task).filter(|_| has_samples))),
        of_plots("cost", "Cost and tokens", untitled(cost(task))),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// What core breaks down of each run, of the scores of the headline; runs that it cannot be computed for are left out.
fn of_runs<T>(
    task: &Task<'_>,
    breakdowns: impl Fn(&PageRun<'_>) -> errorbar_core::Result<Vec<T>>,
    name: impl Fn(&T) -> &ScoreName,
) -> Vec<(String, T)> {
    let headline = task.figures.headline.as_ref().map(|figure| &figure.key);
    let is_main = |one: &T| headline.is_some_and(|key| key.is_of(name(one)));
    let of_run = |(run, _): &(&PageRun<'_>, _)| {
        let mut found = breakdowns(run).ok().filter(|found| !found.is_empty())?;
        let at = found.iter().position(is_main).unwrap_or(0);
        Some((run.name.clone(), found.swap_remove(at)))
    };
    let found: Vec<(String, T)> = task.runs.iter().filter_map(of_run).collect();
    // A plot of some runs would look like one of all.
    if found.len() == task.runs.len() { found } else { Vec::new() }
}

/// The marks of the runs, which are the same on the whole page.
fn marks(task: &Task<'_>) -> RunMarks {
    RunMarks::new(task.runs.iter().map(|(run, series)| (run.name.clone(), *series)))
}

fn epochs(task: &Task<'_>) -> Vec<(Option<&'static str>, Plot)> {
    let mut plots = Vec::new();
    // Every rating would be a success.
    let has_ratings =
        |run: &PageRun<'_>| run.columns.highest_number().is_some_and(|highest| highest > SUCCESS);
    let curves = match task.runs.iter().any(|(run, _)| has_ratings(run)) {
        true => Vec::new(),
        false => of_runs(task, |run| run.plan.pass_curves(run.columns, SUCCESS), |one| &one.name),
    };
    if !curves.is_empty() {
        plots.push((None, plot::pass(&curves, &marks(task))));
    }
    let epochs = |run: &PageRun<'_>| run.columns.sample_index().max_rows();
    let rows: usize = task.runs.iter().map(|(run, _)| run.columns.len()).sum();
    let spreads = match rows <= MOST_SPREAD && task.runs.iter().any(|(run, _)| epochs(run) > 1) {
        true => of_runs(task, |run| run.plan.epoch_spreads(run.columns), |one| &one.name),
        false => Vec::new(),
    };
    if spreads.iter().any(|(_, spread)| spread.epochs() > 1) {
        plots.push((Some("Every sample, from the hardest"), plot::epochs(&spreads, &marks(task))));
    }
    plots
}

fn untitled(plot: Option<Plot>) -> Vec<(Option<&'static str>, Plot)> {
    plot.into_iter().map(|plot| (None, plot)).collect()
}

fn distribution(task: &Task<'_>) -> Option<Plot> {
    let found =
        of_runs(task, |run| run.plan.distributions(run.columns, &run.report.results), |one| &one.name);
    let has_counts = found.iter().any(|(_, one)| !one.counts.is_empty());
    has_counts.then(|| plot::distribution(&found, &marks(task)))
}

fn calibration(task: &Task<'_>) -> Option<Plot> {
    let found = of_runs(task, |run| run.plan.calibration(run.columns, &ece()), |one| &one.name);
    let has_bins = found.iter().any(|(_, curve)| !curve.bins.is_empty());
    has_bins.then(|| plot::calibration(&found, &marks(task)))
}

/// Why there is no calibration, though answers have a confidence.
pub(super) fn no_calibration(task: &Task<'_>) -> Option<String> {
    let has_confidence = |run: &PageRun<'_>| run.columns.metadata_keys().any(|key| key == CONFIDENCE);
    if !task.runs.iter().any(|(run, _)| has_confidence(run)) {
        return None;
    }
    let problem = |(run, _): &(&PageRun<'_>, _)| run.plan.calibration(run.columns, &ece()).err();
    task.runs.iter().find_map(problem).map(|error| error.to_string())
}

fn confusion(task: &Task<'_>) -> Option<Plot> {
    let has_labels = |(run, _): &(&PageRun<'_>, _)| run.columns.metadata_keys().any(|key| key == TARGET);
    if !task.runs.iter().all(has_labels) {
        return None;
    }
    let prediction = |run: &PageRun<'_>| match run.columns.has_answers() {
        true => Prediction::Answer,
        false => Prediction::Value,
    };
    let found =
        of_runs(task, |run| run.plan.confusions(run.columns, TARGET, prediction(run)), |one| &one.name);
    if found.is_empty() || !found.iter().all(|(_, confusion)| is_of_labels(confusion)) {
        return None;
    }
    let found: Vec<_> = found.into_iter().map(|(name, one)| (name, one.with_most(MOST_LABELS))).collect();
    Some(plot::confusion(&found, &marks(task)))
}

/// Whether it is of a few labels that come again and again: free text and verdicts are none.
fn is_of_labels(confusion: &Confusion) -> bool {
    let labels = confusion.labels.len() as u64;
    let answers: u64 = confusion.counts.iter().flatten().sum();
    (2..=MOST_DISTINCT).contains(&labels)
        && 2 * labels <= answers
        && !confusion.is_of_verdicts()
        && confusion.has_common_labels()
}

/// Cost against score if costs are known, else tokens; one run alone has nothing to be compared with.
fn cost(task: &Task<'_>) -> Option<Plot> {
    let figure = task.figures.headline.as_ref().filter(|_| task.runs.len() > 1)?;
    let has_cost = task.runs.iter().any(|(run, _)| run.facts.cost.is_some_and(|cost| cost > 0.0));
    let tokens =
        |run: &PageRun<'_>| run.facts.tokens.filter(|tokens| *tokens > 0).map(|tokens| tokens as f64);
    let axis = if has_cost { CostAxis::Dollars } else { CostAxis::Tokens };
    let points: Vec<CostPoint> = task
        .runs
        .iter()
        .zip(&figure.cells)
        .filter_map(|((run, _), cell)| {
            let x = if has_cost { run.facts.cost } else { tokens(run) };
            Some(CostPoint { name: run.name.clone(), cost: x, estimate: cell.as_ref()?.estimate.clone() })
        })
        .collect();
    let has_costs = points.iter().filter(|point| point.cost.is_some()).count() >= 2;
    let is_drawn = points.len() == task.runs.len() && has_costs;
    is_drawn.then(|| plot::cost(&figure.key.title(), axis, &points, &marks(task)))
}
