//! Several tasks on one page: model × task.

use std::fmt::Write as _;

use errorbar_core::{Estimate, IndexMap};

use super::cells::{NumberColumn, axis_head, counted, data, inline};
use super::figures::FigureCell;
use super::lead::{ERROR_NAME, compared, has_error};
use super::task::{Task, TaskComparison, run_name};
use crate::chance::ChanceLevel;
use crate::svg::{IntervalSize, IntervalStyle, Scale, Series, Y, breakable, escape, grid, interval};

/// The names of all runs, each once, in order.
pub(super) fn run_names(tasks: &[Task<'_>]) -> Vec<(String, Series)> {
    let mut names: IndexMap<&str, Series> = IndexMap::new();
    for (run, series) in tasks.iter().flat_map(|task| &task.runs) {
        names.entry(&run.name).or_insert(*series);
    }
    names.into_iter().map(|(name, series)| (name.to_owned(), series)).collect()
}

/// What the page is about, and in how many tasks which run is ahead for sure.
pub(super) fn lead(tasks: &[Task<'_>]) -> String {
    let names = run_names(tasks);
    let runs = counted(tasks.iter().map(|task| task.runs.len() as u64).sum(), "run");
    let first = format!(
        "{runs} of {} by {}.",
        counted(tasks.len() as u64, "task"),
        counted(names.len() as u64, "model")
    );
    if let ([(name, _)], Some(cell)) = (names.as_slice(), tasks.first().and_then(|task| headline(task, 0))) {
        let task = tasks.first().and_then(|task| task.name.as_deref()).unwrap_or_default();
        let what = if has_error(&cell.estimate) { ERROR_NAME } else { "" };
        return format!(
            "{first} <b>{}</b> has {}{what} on {}.",
            escape(name),
            inline(&cell.estimate),
            escape(task)
        );
    }
    let comparisons: Vec<(&str, &TaskComparison)> = tasks
        .iter()
        .filter_map(|task| Some((task.name.as_deref().unwrap_or_default(), task.comparison.as_ref()?)))
        .collect();
    if let [(task, comparison)] = comparisons.as_slice() {
        return format!("{first} In {}: {}", escape(task), compared(comparison));
    }
    let decided = |task: &&Task<'_>| {
        let pairs = task.comparison.iter().flat_map(|comparison| &comparison.pairs.comparisons);
        pairs.map(super::task::Pair::of).any(|pair| pair.is_decided)
    };
    match comparisons.len() {
        0 => first,
        compared => {
            let some = tasks.iter().filter(decided).count();
            let within = match (some, compared) {
                (0, compared) => format!("In none of {compared} tasks can two of them be told apart."),
                (some, compared) if some == compared => {
                    format!("In each of {compared} tasks some of them can be told apart.")
                }
                (some, compared) => format!("In {some} of {compared} tasks some of them can be told apart."),
            };
            format!("{first} {within}")
        }
    }
}

fn headline<'t>(task: &'t Task<'_>, at: usize) -> Option<&'t FigureCell> {
    task.figures.headline.as_ref()?.cells.get(at)?.as_ref()
}

/// The headline of every run of every task.
pub(super) fn section(tasks: &[Task<'_>], contents: &mut Vec<(String, String)>) -> String {
    contents.push(("tasks".to_owned(), "Tasks".to_owned()));
    let names = run_names(tasks);
    let estimates: Vec<&Estimate> = tasks
        .iter()
        .flat_map(|task| (0..task.runs.len()).filter_map(|at| headline(task, at)))
        .map(|cell| &cell.estimate)
        .collect();
    let unit = Scale::of(estimates.iter().copied()) == Scale::unit();
    let level = super::estimates::level_title(estimates.iter().copied());
    let scale = Scale::unit();
    let head = if unit { axis_head(&scale, None) } else { String::new() };
    let mut html = format!(
        "<section id=\"tasks\" aria-labelledby=\"h-tasks\"><div class=\"head\"><h2 id=\"h-tasks\">Tasks</h2>{}</div><table \
         class=\"forest r{}{}\" data-scale=\"{}\" role=\"table\" aria-label=\"The headline of each task and model\"><thead \
         role=\"rowgroup\"><tr role=\"row\"><th class=\"c1\" role=\"columnheader\" scope=\"col\">task</th><th class=\"c2\" \
         role=\"columnheader\" scope=\"col\"><span>model</span></th><th class=\"pl\" role=\"columnheader\" scope=\"col\"><span \
         class=\"vh\">drawn</span>{head}</th><th class=\"num c4\" role=\"columnheader\" scope=\"col\">headline ± error</th><th \
         class=\"num c5\" role=\"columnheader\" scope=\"col\">{level}</th></tr></thead>",
        legend(&names),
        names.len(),
        super::forest::long_names(names.iter().map(|(name, _)| name.as_str())),
        scale.ends(),
    );
    // Where few models ran most tasks, lines without a run would be most of the table.
    let runs: usize = tasks.iter().map(|task| task.runs.len()).sum();
    let is_sparse = 2 * runs < tasks.len() * names.len();
    for (number, task) in tasks.iter().enumerate() {
        let own = run_names(std::slice::from_ref(task));
        let names = if is_sparse { &own } else { &names };
        html += &body(task, number + 1, names, unit.then_some(&scale));
    }
    html + "</table></section>"
}

/// The runs with their marks, for narrow screens: they have no room for the names in the rows.
fn legend(names: &[(String, Series)]) -> String {
    // Many runs have no marks of their own, and so the rows have names.
    let marked = names.iter().filter(|(_, series)| series.class != Series::NEUTRAL.class);
    let runs: String = marked.map(|(name, series)| run_name(name, *series)).collect();
    format!("<div class=\"legend only-narrow\">{runs}</div>")
}

/// The numbers of scores of the lines, from above, if they differ.
fn each_n(cells: &[&FigureCell]) -> Option<String> {
    let each: Vec<String> = cells.iter().map(|cell| super::cells::count(cell.estimate.n)).collect();
    (!each.is_empty()).then(|| format!("n {}", each.join(", ")))
}

/// The lines of one task, one for each model, whether it has a run or not.
fn body(task: &Task<'_>, number: usize, names: &[(String, Series)], common: Option<&Scale>) -> String {
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
    let mut drawn = grid(scale, reference.as_ref());
    for (line, ((_, series), cell)) in names.iter().zip(&cells).enumerate() {
        if let Some((at, cell)) = cell
            && let Some((run, _)) = task.runs.get(*at)
        {
            let y = Y::Pixels(19.0 + 24.0 * line as f64);
            let series = Series { is_partial: run.is_partial(), ..*series };
            let style = IntervalStyle::new(series, IntervalSize::Forest).at(y);
            drawn += &interval(scale, &cell.estimate, &style);
        }
    }
    let figure = task.figures.headline.as_ref();
    let metric = figure.map(|figure| figure.key.title()).unwrap_or_default();
    let shown: Vec<&FigureCell> = cells.iter().flatten().map(|(_, cell)| *cell).collect();
    let n = super::forest::common_n(shown.iter().copied()).or_else(|| each_n(&shown));
    let all = figure.map(|figure| figure.cells.as_slice()).unwrap_or_default();
    let reasons = super::forest::no_errors(task, all).join(", ");
    let range = common.is_none().then(|| format!("{} to {}", own.label(own.lower()), own.label(own.upper())));
    let chance = reference.map(|reference| reference.label);
    let note: Vec<String> = [Some(metric), n, chance, Some(reasons), range]
        .into_iter()
        .flatten()
        .filter(|text| !text.is_empty())
        .collect();
    let name = task.title();
    let mut html = format!("<tbody role=\"rowgroup\" class=\"r{}\">", names.len());
    for (line, ((name_of_run, series), cell)) in names.iter().zip(&cells).enumerate() {
        let attributes = match (cell, figure) {
            (Some((at, cell)), Some(figure)) => {
                super::estimates::row_data(task, *at, figure, None) + &data(&cell.estimate)
            }
            _ => String::new(),
        };
        let _ = write!(html, "<tr role=\"row\" data-task=\"{}\"{attributes}>", escape(name));
        if line == 0 {
            let _ = write!(
                html,
                "<th class=\"c1\" role=\"rowheader\" scope=\"rowgroup\" rowspan=\"{}\"><a class=\"any\" \
                 href=\"#t{number}-top\">{}</a> <small>{}</small></th>",
                names.len(),
                breakable(name),
                escape(&note.join(", "))
            );
        }
        let _ = write!(html, "<td class=\"c2\" role=\"cell\">{}</td>", run_name(name_of_run, *series));
        if line == 0 {
            let _ = write!(
                html,
                "<td class=\"pl\" role=\"presentation\" rowspan=\"{}\"><svg class=\"iv\" width=\"100%\" aria-hidden=\"true\" \
                 focusable=\"false\">{drawn}</svg></td>",
                names.len()
            );
        }
        let has_run = task.runs.iter().any(|(run, _)| run.name == *name_of_run);
        let (value, ends) = match cell {
            Some((_, cell)) => (column.value(cell), column.interval(&cell.estimate, false)),
            None if has_run => {
                ("<span class=\"dim\">no figure over all samples</span>".to_owned(), String::new())
            }
            None => ("<span class=\"dim\">no run</span>".to_owned(), String::new()),
        };
        let _ = write!(
            html,
            "<td class=\"num c4\" role=\"cell\">{value}</td><td class=\"num c5\" role=\"cell\">{ends}</td></tr>"
        );
    }
    html + "</tbody>"
}
