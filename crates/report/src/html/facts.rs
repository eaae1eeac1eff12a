//! What is to be known before the figures: samples, answers, scores, errors, the run, the files.

use std::collections::BTreeSet;

use errorbar_core::{ErrorMethod, Estimate, IntervalMethod, IntervalSide, Results, ScoreResult};
use maud::{Markup, html};

use super::PageRun;
use super::cells::{counted, date, inline, minus};
use super::task::{FigureCell, Task, TaskComparison, run_name};
use crate::comparison::{Pair, p_text, two_digits};
use crate::figure::shown_error;
use crate::notes::{CommonMethods, unique};
use crate::svg::{Series, breakable, name_length};
use crate::text::{grouped, joined, percent, plain};

/// The most scorers that are named.
const MOST_SCORERS: usize = 4;

/// A term, its text, and small print below.
type Fact = (&'static str, Markup, Markup);

/// The facts of the runs of a task.
pub(super) fn list(task: &Task<'_>) -> Markup {
    let facts = [samples(task), answers(task), score(task), error(task), interval(task), run(task)];
    html! {
        dl.facts {
            @for (term, text, small) in facts.into_iter().flatten() {
                div { dt { (term) } dd { (text) @if !small.0.is_empty() { small { (small) } } } }
            }
        }
    }
}

fn results<'t>(task: &'t Task<'_>) -> impl Iterator<Item = &'t Results> {
    task.runs.iter().map(|(run, _)| &run.report.results)
}

/// `144`, or `120 to 144` if the runs differ.
pub(super) fn range(numbers: impl Iterator<Item = u64>) -> Option<String> {
    let numbers: BTreeSet<u64> = numbers.collect();
    let (first, last) = (numbers.first()?, numbers.last()?);
    Some(if first == last { grouped(*first) } else { format!("{} to {}", grouped(*first), grouped(*last)) })
}

/// The number of samples of a run; of one without samples, as its log records it.
fn sample_count(run: &PageRun<'_>) -> u64 {
    if !run.report.recorded {
        return run.columns.first_rows().len() as u64;
    }
    let scores = run.report.results.scores.iter();
    scores.map(|score| (score.counts.scored + score.counts.unscored) as u64).max().unwrap_or(0)
}

/// Whether figures of a run are recorded and not computed.
fn has_recorded(task: &Task<'_>) -> bool {
    task.runs.iter().any(|(run, _)| run.report.recorded)
}

fn samples(task: &Task<'_>) -> Option<Fact> {
    let mut samples = range(task.runs.iter().map(|(run, _)| sample_count(run)))?;
    if samples.contains(" to ") {
        samples += " in a run";
    }
    let clusters = task
        .headline_cells()
        .find_map(|cell| cell.estimate.error.as_ref().ok().and_then(|error| error.clusters.first().copied()));
    let key = cluster_keys(task).into_iter().next();
    let groupings = task.figures.groupings.iter();
    let groups = unique(groupings.map(|grouping| (grouping.by.as_str(), grouping.count())));
    let text = html! {
        (samples)
        @if let Some((clusters, key)) = clusters.zip(key) { " in " (grouped(clusters)) " clusters by " (breakable(&key)) }
    };
    let small = html! {
        @for (at, (by, number)) in groups.into_iter().enumerate() {
            @if at > 0 { ", " }
            (breakable(by)) ": " (counted(number as u64, "group"))
        }
    };
    Some(("Samples", text, small))
}

/// What errors of the headline are clustered by.
fn cluster_keys(task: &Task<'_>) -> Vec<String> {
    let scores = results(task).flat_map(|results| &results.scores);
    scores.map(|score| &score.cluster).find(|keys| !keys.is_empty()).cloned().unwrap_or_default()
}

fn answers(task: &Task<'_>) -> Option<Fact> {
    let total: u64 = results(task).map(|results| results.total_samples as u64).sum();
    let epochs =
        results(task).flat_map(|r| &r.scores).map(|score| score.counts.epochs).max().unwrap_or(1).max(1)
            as u64;
    let (runs, word) = (task.runs.len() as u64, super::estimates::run_word(task));
    let samples = range(task.runs.iter().map(|(run, _)| sample_count(run)))?;
    let is_even =
        samples.replace(',', "").parse::<u64>().is_ok_and(|samples| runs * samples * epochs == total);
    let mut parts = Vec::new();
    parts.extend((runs > 1).then(|| counted(runs, word)));
    parts.extend((!samples.contains(" to ")).then_some(samples));
    parts.extend((epochs > 1).then(|| counted(epochs, "epoch")));
    let text = match parts.as_slice() {
        [_] if runs == 1 => grouped(total),
        parts if is_even => format!("{} = {}", parts.join(" × "), grouped(total)),
        parts => format!("{} in {}", grouped(total), parts.join(" × ")),
    };
    let completed: u64 = results(task).map(|results| results.completed_samples as u64).sum();
    let errored = total.saturating_sub(completed);
    let absent: Vec<(String, u64)> =
        task.figures.absences().into_iter().map(|(scorer, of_runs)| (scorer, of_runs.iter().sum())).collect();
    let unscored = unscored(task);
    let small = html! {
        @match (absent.as_slice(), errored) {
            ([], errored) if unscored > 0 => { (counted(unscored, "answer")) " not scored, " (grouped(errored)) " errored" }
            ([], 0) if total == 0 => {}
            ([], 0) => { "all scored; none absent, none errored" }
            ([], errored) => { "none absent, " (grouped(errored)) " errored" }
            (absent, errored) => {
                @for (at, (scorer, number)) in absent.iter().take(MOST_SCORERS).enumerate() {
                    @if at > 0 { ", " }
                    (counted(*number, "sample")) " absent"
                    @if task.figures.has_several_scorers() { " by " (breakable(scorer)) }
                }
                @if let more @ 1.. = absent.len().saturating_sub(MOST_SCORERS) {
                    " and by " (counted(more as u64, "other scorer"))
                }
                "; " (grouped(errored)) " errored"
            }
        }
    };
    let is_partial = task.runs.iter().any(|(run, _)| run.is_partial());
    Some(("Answers", html! { (text) @if is_partial { " so far" } }, small))
}

/// The answers without a score: of the scorer that lacks the most. Samples may have a figure nevertheless, by other epochs.
fn unscored(task: &Task<'_>) -> u64 {
    let of_score = |score: &ScoreResult| (score.counts.unscored + score.counts.missing) as u64;
    results(task).map(|results| results.scores.iter().map(of_score).max().unwrap_or(0)).sum()
}

fn score(task: &Task<'_>) -> Option<Fact> {
    let scorers =
        unique(results(task).flat_map(|results| &results.scores).map(|score| score.scorer.as_str()));
    let headline = task.figures.headline.as_ref()?;
    let of_headline = |score: &&ScoreResult| {
        score.scorer == headline.key.scorer && score.metrics.iter().any(|m| m.metric == headline.key.metric)
    };
    let first = results(task).flat_map(|results| &results.scores).find(of_headline);
    let small = match first.map(|score| (score.counts.epochs, score.reducer.as_deref(), score.unreduced)) {
        Some((epochs @ 2.., None, false)) => format!("a sample counts with the mean of its {epochs} epochs"),
        Some((2.., Some(reducer), _)) => format!("the epochs of a sample are reduced by {reducer}"),
        Some((2.., None, true)) => "every epoch counts".to_owned(),
        _ => format!("the headline is {}", headline.key.title()),
    };
    let text = html! {
        @for (at, name) in scorers.iter().take(MOST_SCORERS).enumerate() {
            @if at > 0 { ", " }
            code { (breakable(name)) }
        }
        @if scorers.len() > MOST_SCORERS { " and " (scorers.len() - MOST_SCORERS) " more" }
    };
    Some((if scorers.len() == 1 { "Scorer" } else { "Scorers" }, text, html! { (small) }))
}

fn error(task: &Task<'_>) -> Option<Fact> {
    let errors = || task.headline_cells().filter_map(|cell| Some((cell, cell.estimate.error.as_ref().ok()?)));
    let (cell, error) = errors().find(|(_, error)| !error.degenerate)?;
    let keys = cluster_keys(task);
    let text = html! {
        "one standard error"
        @match (error.clusters.is_empty(), keys.is_empty()) {
            (false, false) => { ", clustered by " (breakable(&keys.join(" and "))) }
            (false, true) => { ", clustered by sample" }
            _ => {}
        }
    };
    let effects: Vec<f64> =
        errors().filter_map(|(cell, _)| cell.estimate.notes.design_effect).map(f64::sqrt).collect();
    let ratio = |number: f64| format!("{number:.2}");
    let least = effects.iter().copied().fold(f64::INFINITY, f64::min);
    let most = effects.iter().copied().fold(0.0, f64::max);
    let small = match effects.len() {
        0 => {
            let method = match error.method {
                ErrorMethod::Custom if has_recorded(task) => "as recorded".to_owned(),
                method => method.to_string(),
            };
            if method == "iid" { "samples taken as independent".to_owned() } else { method }
        }
        _ if ratio(least) == ratio(most) => format!("{} times that of independent samples", ratio(least)),
        _ => format!("{} to {} times that of independent samples", ratio(least), ratio(most)),
    };
    let small = html! {
        (small)
        @if let Some(draws) = cell.estimate.draws { "; " (grouped(draws.count)) " resamples" }
    };
    Some(("Error", text, small))
}

fn interval(task: &Task<'_>) -> Option<Fact> {
    let interval = task.headline_cells().find_map(|cell| cell.estimate.interval.as_ref().ok())?;
    let method = interval.method.to_string();
    let text = match interval.method {
        IntervalMethod::Custom if has_recorded(task) => format!("{}, as recorded", percent(interval.level)),
        _ => format!("{}, by {method}", percent(interval.level)),
    };
    let df = interval.df.filter(|df| df.is_finite());
    let df = df.map(|df| format!("{} degrees of freedom", plain((df * 10.0).round() / 10.0)));
    let of_groups: BTreeSet<String> = task
        .group_cells()
        .filter_map(|cell| Some(cell.estimate.interval.as_ref().ok()?.method.to_string()))
        .collect();
    let other = joined(of_groups.into_iter().filter(|name| *name != method), ", ");
    let other = other.map(|other| format!("groups by {other}"));
    let small = joined(df.into_iter().chain(other), "; ").unwrap_or_default();
    Some(("Interval", html! { (text) }, html! { (small) }))
}

fn run(task: &Task<'_>) -> Option<Fact> {
    let mut dates: Vec<&str> = task.runs.iter().filter_map(|(run, _)| run.facts.created.as_deref()).collect();
    dates.sort_unstable();
    let (first, last) = (date(dates.first()?), date(dates.last()?));
    let text = if first == last { first } else { format!("{first} to {last}") };
    let runs = || task.runs.iter().map(|(run, _)| run);
    let versions: BTreeSet<&str> = runs().filter_map(|run| run.facts.version.as_deref()).collect();
    let tasks: BTreeSet<&str> = runs().filter_map(|run| run.facts.task_version.as_deref()).collect();
    let seeds: BTreeSet<u64> = runs().map(|run| run.plan.seed).collect();
    let mut small: Vec<String> = versions.into_iter().map(str::to_owned).collect();
    small.extend(seeds.into_iter().map(|seed| format!("seed {seed}")));
    small.extend(tasks.into_iter().map(|version| format!("task version {version}")));
    let tokens: u64 = runs().filter_map(|run| run.facts.tokens).sum();
    small.extend((tokens > 0).then(|| format!("{} tokens", grouped(tokens))));
    let cost: f64 = runs().filter_map(|run| run.facts.cost).sum();
    small.extend((cost > 0.0).then(|| format!("cost {}", plain(cost))));
    Some((if task.runs.len() == 1 { "Run" } else { "Runs" }, html! { (text) }, html! { (small.join(", ")) }))
}

/// How errors were computed, for the foot of the page.
pub(super) fn legend(task: &Task<'_>) -> Option<String> {
    // What differs for groups is among the facts.
    let of_run = |results: &Results| {
        let rows = results.rows();
        let has_whole = rows.iter().any(|row| row.group_key.is_none());
        let shown = rows.iter().filter(|row| !has_whole || row.group_key.is_none());
        CommonMethods::of_rows(shown.map(|row| (row, crate::notes::keys_of(results, row)))).legend()
    };
    let found: Vec<String> = results(task).filter_map(of_run).collect();
    crate::notes::most_frequent(&found)
}

/// Where a run was read from.
fn file<'r>(run: &'r PageRun<'_>) -> &'r str {
    if run.facts.file.is_empty() { &run.report.log } else { &run.facts.file }
}

/// The files, behind a summary line.
pub(super) fn files(tasks: &[Task<'_>]) -> Markup {
    let runs: Vec<_> = tasks.iter().flat_map(|task| &task.runs).collect();
    let is_logs = runs.iter().all(|(run, _)| run.facts.status.is_some());
    let files: BTreeSet<&str> = runs.iter().map(|(run, _)| file(run)).collect();
    let word = if is_logs { "log" } else { "file" };
    html! {
        details.more {
            summary { (counted(files.len() as u64, word)) }
            div.wide role="region" aria-label="table of files, scrolls sideways" tabindex="0" {
                table.t.logs {
                    thead {
                        tr {
                            th scope="col" { "name here" }
                            th scope="col" { "model" }
                            th scope="col" { (word) }
                            th scope="col" { "made" }
                            th.num scope="col" { "tokens" }
                        }
                    }
                    tbody { @for (run, series) in runs { (file_row(run, *series)) } }
                }
            }
        }
    }
}

fn file_row(run: &PageRun<'_>, series: Series) -> Markup {
    let made = run.facts.created.as_deref().map_or_else(|| "–".to_owned(), date);
    let tokens = run.facts.tokens.filter(|tokens| *tokens > 0).map_or_else(|| "–".to_owned(), grouped);
    let status = run.facts.status.as_deref().filter(|status| *status != "success");
    html! {
        tr {
            th scope="row" { (run_name(&run.name, series)) }
            td.mono { (breakable(run.report.model.as_deref().unwrap_or("–"))) }
            td.mono { (breakable(file(run))) @if let Some(status) = status { " " span.flag { (breakable(status)) } } }
            td.nw { (breakable(&made)) }
            td.num { (tokens) }
        }
    }
}

// The finding, in two sentences: the estimates, and what the corrected tests support. Never more than those.

/// What follows the first ± of a lead.
pub(super) const ERROR_NAME: &str = " (one standard error)";
/// The most runs that are named.
const MOST_NAMED: usize = 4;

/// What the runs of a task show.
pub(super) fn sentences(task: &Task<'_>) -> Markup {
    let Some(figure) = &task.figures.headline else {
        let none = task.runs.iter().find_map(|(run, _)| run.report.results.headline_row().err()?.in_words());
        return match none {
            Some(none) => html! { "There are figures " (none) "." },
            None => html! { "There is no figure to show." },
        };
    };
    // Figures of several scorers may have the same name.
    let has_several = task.figures.others.iter().any(|other| other.key.scorer != figure.key.scorer);
    let by = if has_several { format!(" by {}", figure.key.scorer) } else { String::new() };
    let title = format!("{}{by}", figure.key.title());
    let order = task.order();
    let cell_at = |at: &usize| figure.cells.get(*at).and_then(Option::as_ref);
    let has_error = |at: &usize| cell_at(at).is_some_and(|cell| shown_error(&cell.estimate).is_some());
    let first_error = order.iter().copied().find(has_error);
    let value = |at: usize, run: &PageRun<'_>, cell: Option<&FigureCell>| {
        let Some(cell) = cell else { return html! { "no figure" } };
        html! {
            (inline(&cell.estimate))
            @if first_error == Some(at) { (ERROR_NAME) }
            // A run without its end has no figure yet but that of the samples that it has.
            @if run.is_partial() && cell.estimate.value.is_ok() { " so far" }
        }
    };
    let cells: Vec<(Markup, Option<&FigureCell>, Markup)> = order
        .iter()
        .filter_map(|at| {
            let (run, _) = task.runs.get(*at)?;
            let cell = figure.cells.get(*at)?.as_ref();
            Some((bold(&run.name), cell, value(*at, run, cell)))
        })
        .collect();
    html! {
        @match cells.as_slice() {
            [] => {}
            [(name, Some(cell), value)] if cell.estimate.value.is_err() => { (name) " has no " (title) ": " (value) "." }
            [(name, cell, value)] => {
                (name) " has " (article(&title)) " " (title) " of " (value)
                @if let Some(cell) = cell { (single(&cell.estimate)) }
                "."
            }
            [(first, _, value), others @ ..] => {
                (first) " has " (article(&title)) " " (title) " of " (value)
                @for (name, _, value) in others.iter().take(MOST_NAMED - 1) { ", " (name) " " (value) }
                @if others.len() > MOST_NAMED - 1 { ", and " (others.len() - (MOST_NAMED - 1)) " more" }
                "."
            }
        }
        @if let Some(comparison) = task.comparison.as_ref().filter(|_| !cells.is_empty()) { " " (compared(comparison)) }
    }
}

/// What follows the only figure: its interval, and what it is over.
fn single(estimate: &Estimate) -> Markup {
    let text = crate::EstimateText::from(estimate).interval_text();
    let interval = estimate.interval.as_ref().ok();
    let interval = interval.filter(|_| !text.is_empty() && estimate.value.is_ok());
    let text = minus(&text).replace(['[', ']'], "").replace(", ", " to ");
    let clusters = estimate.error.as_ref().ok().and_then(|error| error.clusters.first().copied());
    html! {
        @if let Some(interval) = interval {
            @let (what, text) = match interval.side {
                IntervalSide::Lower => ("lower bound", text.trim_start_matches(['≥', ' '])),
                IntervalSide::Upper => ("upper bound", text.trim_start_matches(['≤', ' '])),
                _ => ("interval", text.as_str()),
            };
            "; the " (percent(interval.level)) " " (what) " is " span.nw { (text) }
        }
        @if estimate.n > 0 {
            ", over " (counted(estimate.n, "sample"))
            @if let Some(clusters) = clusters { " in " (counted(clusters, "cluster")) }
        }
    }
}

/// What the corrected tests of all pairs support.
pub(super) fn compared(comparison: &TaskComparison) -> Markup {
    let pairs: Vec<Pair<'_>> = comparison.pairs.comparisons.iter().map(Pair::of).collect();
    let is_paired = pairs.first().is_some_and(|pair| pair.comparison.is_paired);
    let is_unmatched = comparison.is_unmatched();
    let on = match (is_paired, is_unmatched, pairs.as_slice()) {
        (true, true, [pair]) => format!("On the {} that both have", counted(pair.comparison.n, "sample")),
        (true, true, _) => "On the samples that two runs share".to_owned(),
        (true, false, _) => "On the same samples".to_owned(),
        (false, ..) => "On different samples".to_owned(),
    };
    // What has no difference was not compared.
    let (pairs, undefined): (Vec<Pair<'_>>, Vec<Pair<'_>>) =
        pairs.into_iter().partition(|pair| pair.difference().value.is_ok());
    if let ([], [first, ..]) = (pairs.as_slice(), undefined.as_slice()) {
        return html! { "They are not compared: the difference is " (inline(&first.difference())) "." };
    }
    if let ([pair], []) = (pairs.as_slice(), undefined.as_slice()) {
        return one_pair(&on, pair);
    }
    html! {
        (several_pairs(&on, comparison, &pairs, undefined.is_empty()))
        @match undefined.len() {
            0 => {}
            1 => { " 1 pair is not compared, as its difference is undefined." }
            count => { " " (count) " pairs are not compared, as their differences are undefined." }
        }
    }
}

fn one_pair(on: &str, pair: &Pair<'_>) -> Markup {
    let p = pair.p().map_or_else(|| "unknown".to_owned(), p_text);
    let relation = if p.starts_with('<') { "" } else { "= " };
    html! {
        (on) " "
        @if pair.is_decided { (bold(pair.ahead)) " is ahead by " }
        @else { "they cannot be told apart: the difference is " }
        (inline(&pair.difference())) " (" span.nw { "p " (relation) (p) } ")"
        @if let (false, Ok(mde)) = (pair.is_decided, &pair.comparison.mde) {
            ", and " (two_digits(*mde)) " is the least that would have been found 4 times in 5"
        }
        "."
    }
}

fn several_pairs(on: &str, comparison: &TaskComparison, pairs: &[Pair<'_>], are_all: bool) -> Markup {
    const MOST: usize = 3;
    let decided: Vec<&Pair<'_>> = pairs.iter().filter(|pair| pair.is_decided).collect();
    let largest = decided.iter().filter_map(|pair| pair.p()).fold(0.0_f64, f64::max);
    let bound = p_text(largest);
    let bound = if bound.starts_with('<') { bound } else { format!("≤ {bound}") };
    let bound = html! { "(" span.nw { "Holm’s p " (bound) } ")" };
    let sides = &comparison.pairs.sides;
    let is_all = comparison.pairs.options.all_pairs;
    html! {
        (on) " "
        @match (decided.len(), pairs.len()) {
            (0, _) if is_all => { "no two of them can be told apart." }
            (0, _) => {
                "none of them can be told apart from " (sides.first().map(String::as_str).unwrap_or_default())
                ", with which they are compared."
            }
            (all, of) if all == of && is_all && are_all => {
                "all " @if sides.len() == 3 { "three" } @else { (sides.len()) } " can be told apart " (bound) "."
            }
            (some, of) => {
                (some) " of " (of) " pairs" @if !is_all { " that were compared" } " can be told apart: "
                @for (at, pair) in decided.iter().take(MOST).enumerate() {
                    @if at > 0 { ", " }
                    (unbroken(pair.ahead)) " from " (unbroken(pair.behind))
                }
                @if some > MOST { " and " (some - MOST) " more" }
                " " (bound) "."
            }
        }
    }
}

/// The name of a run; a long one may be broken.
fn bold(name: &str) -> Markup {
    html! { b { (unbroken(name)) } }
}

fn unbroken(name: &str) -> Markup {
    match name_length(name) {
        " long" => html! { (name) },
        _ => html! { span.nw { (name) } },
    }
}

fn article(word: &str) -> &'static str {
    if word.starts_with(['a', 'e', 'i', 'o', 'u', 'A', 'E', 'I', 'O', 'U']) { "an" } else { "a" }
}
