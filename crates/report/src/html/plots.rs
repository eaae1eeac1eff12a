//! The sections of plots: epochs, scores, calibration, labels, cost. A section is there if the data support it.

use errorbar_core::metrics::{Prediction, ece};
use errorbar_core::{Confusion, ScoreName};
use maud::{Markup, html};

use super::task::Task;
use super::{PageRun, section};
use crate::plot::{self, CostAxis, CostPoint, Plot, RunMarks};

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
        let markup = section(&id, &html! { h2 id={ "h-" (id) } { (title) } }, &content);
        (!plots.is_empty()).then(|| (id, title.to_owned(), markup))
    };
    [
        of_plots("epochs", "Epochs", epochs(task)),
        of_plots("distribution", "Distribution of scores", distribution(task)),
        of_plots("calibration", "Calibration", calibration(task)),
        of_plots("labels", "Labels", if has_samples { confusion(task) } else { Vec::new() }),
        of_plots("cost", "Cost and tokens", cost(task)),
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

fn distribution(task: &Task<'_>) -> Vec<(Option<&'static str>, Plot)> {
    let found =
        of_runs(task, |run| run.plan.distributions(run.columns, &run.report.results), |one| &one.name);
    if found.iter().all(|(_, one)| one.counts.is_empty()) {
        return Vec::new();
    }
    vec![(None, plot::distribution(&found, &marks(task)))]
}

fn calibration(task: &Task<'_>) -> Vec<(Option<&'static str>, Plot)> {
    let found = of_runs(task, |run| run.plan.calibration(run.columns, &ece()), |one| &one.name);
    if found.iter().all(|(_, curve)| curve.bins.is_empty()) {
        return Vec::new();
    }
    vec![(None, plot::calibration(&found, &marks(task)))]
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

fn confusion(task: &Task<'_>) -> Vec<(Option<&'static str>, Plot)> {
    // Only metrics of labels read the true ones.
    let has_labels = |(run, _): &(&PageRun<'_>, _)| run.columns.metadata_keys().any(|key| key == TARGET);
    if !task.runs.iter().all(has_labels) {
        return Vec::new();
    }
    let prediction = |run: &PageRun<'_>| match run.columns.has_answers() {
        true => Prediction::Answer,
        false => Prediction::Value,
    };
    let found =
        of_runs(task, |run| run.plan.confusions(run.columns, TARGET, prediction(run)), |one| &one.name);
    if found.is_empty() || !found.iter().all(|(_, confusion)| is_of_labels(confusion)) {
        return Vec::new();
    }
    let found: Vec<_> = found.into_iter().map(|(name, one)| (name, one.with_most(MOST_LABELS))).collect();
    vec![(None, plot::confusion(&found, &marks(task)))]
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
fn cost(task: &Task<'_>) -> Vec<(Option<&'static str>, Plot)> {
    let Some(figure) = task.figures.headline.as_ref().filter(|_| task.runs.len() > 1) else {
        return Vec::new();
    };
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
    if points.len() < task.runs.len() || points.iter().filter(|point| point.cost.is_some()).count() < 2 {
        return Vec::new();
    }
    vec![(None, plot::cost(&figure.key.title(), axis, &points, &marks(task)))]
}
