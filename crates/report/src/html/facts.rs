//! What is to be known before the figures: samples, answers, scores, errors, the run.

use std::collections::BTreeSet;

use errorbar_core::{ErrorMethod, Estimate, IntervalMethod, Results, ScoreResult};

use super::PageRun;
use super::cells::{count, counted, date};
use super::figures::FigureCell;
use super::task::Task;
use crate::notes::CommonMethods;
use crate::number::{percent, plain};
use crate::svg::{breakable, escape};

/// A term, what it is, and what follows in small print; both are markup.
struct Fact {
    term: &'static str,
    text: String,
    small: String,
}

/// The facts of the runs of a task.
pub(super) fn list(task: &Task<'_>) -> String {
    let facts = [samples(task), answers(task), score(task), error(task), interval(task), run(task)];
    let mut html = "<dl class=\"facts\">".to_owned();
    for Fact { term, text, small } in facts.into_iter().flatten() {
        let small = if small.is_empty() { small } else { format!("<small>{small}</small>") };
        html += &format!("<div><dt>{term}</dt><dd>{text}{small}</dd></div>");
    }
    html + "</dl>"
}

fn results<'t>(task: &'t Task<'_>) -> impl Iterator<Item = &'t Results> {
    task.runs.iter().map(|(run, _)| &run.report.results)
}

/// `144`, or `120 to 144` if the runs differ.
fn range(numbers: impl Iterator<Item = u64>) -> Option<String> {
    let numbers: BTreeSet<u64> = numbers.collect();
    let (first, last) = (numbers.first()?, numbers.last()?);
    Some(if first == last { count(*first) } else { format!("{} to {}", count(*first), count(*last)) })
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
    let headline = task.figures.headline.as_ref();
    let clusters = headline
        .into_iter()
        .flat_map(|figure| figure.cells.iter().flatten())
        .find_map(|cell| cell.estimate.error.as_ref().ok().and_then(|error| error.clusters.first().copied()));
    let key = cluster_keys(task).into_iter().next();
    let clusters = clusters
        .zip(key)
        .map(|(clusters, key)| format!(" in {} clusters by {}", count(clusters), breakable(&key)));
    let mut groups: Vec<String> = Vec::new();
    for grouping in &task.figures.groupings {
        let text = format!("{}: {}", breakable(&grouping.by), counted(grouping.count() as u64, "group"));
        if !groups.contains(&text) {
            groups.push(text);
        }
    }
    Some(Fact {
        term: "Samples",
        text: format!("{samples}{}", clusters.unwrap_or_default()),
        small: groups.join(", "),
    })
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
        [_] if runs == 1 => count(total),
        parts if is_even => format!("{} = {}", parts.join(" × "), count(total)),
        parts => format!("{} in {}", count(total), parts.join(" × ")),
    };
    let so_far = if task.runs.iter().any(|(run, _)| run.is_partial()) { " so far" } else { "" };
    let text = text + so_far;
    let completed: u64 = results(task).map(|results| results.completed_samples as u64).sum();
    let errored = total.saturating_sub(completed);
    let absent: Vec<(String, u64)> =
        task.figures.absences().into_iter().map(|(scorer, of_runs)| (scorer, of_runs.iter().sum())).collect();
    let unscored = unscored(task);
    let small = match (absent.as_slice(), errored) {
        ([], errored) if unscored > 0 => {
            format!("{} not scored, {} errored", counted(unscored, "answer"), count(errored))
        }
        ([], 0) if total == 0 => String::new(),
        ([], 0) => "all scored; none absent, none errored".to_owned(),
        ([], errored) => format!("none absent, {} errored", count(errored)),
        (absent, errored) => {
            let of_scorer = |(scorer, number): &(String, u64)| match task.figures.has_several_scorers() {
                true => format!("{} absent by {}", counted(*number, "sample"), breakable(scorer)),
                false => format!("{} absent", counted(*number, "sample")),
            };
            let shown: Vec<String> = absent.iter().take(4).map(of_scorer).collect();
            let more = absent.len().saturating_sub(4);
            let more = if more > 0 {
                format!(" and by {}", counted(more as u64, "other scorer"))
            } else {
                String::new()
            };
            format!("{}{more}; {} errored", shown.join(", "), count(errored))
        }
    };
    Some(Fact { term: "Answers", text, small })
}

/// The answers without a score: of the scorer that lacks the most. Samples may have a figure nevertheless, by other epochs.
fn unscored(task: &Task<'_>) -> u64 {
    let of_score = |score: &ScoreResult| (score.counts.unscored + score.counts.missing) as u64;
    results(task).map(|results| results.scores.iter().map(of_score).max().unwrap_or(0)).sum()
}

fn headline_cells<'t>(task: &'t Task<'_>) -> impl Iterator<Item = &'t FigureCell> {
    task.figures.headline.iter().flat_map(|figure| figure.cells.iter().flatten())
}

fn score(task: &Task<'_>) -> Option<Fact> {
    let mut scorers: Vec<&str> = Vec::new();
    for score in results(task).flat_map(|results| &results.scores) {
        if !scorers.contains(&score.scorer.as_str()) {
            scorers.push(&score.scorer);
        }
    }
    let named: Vec<String> =
        scorers.iter().take(4).map(|name| format!("<code>{}</code>", breakable(name))).collect();
    let more = scorers.len().saturating_sub(4);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    let headline = task.figures.headline.as_ref()?;
    let of_headline = |score: &&ScoreResult| {
        score.scorer == headline.key.scorer && score.metrics.iter().any(|m| m.metric == headline.key.metric)
    };
    let first = results(task).flat_map(|results| &results.scores).find(of_headline);
    let small = match first.map(|score| (score.counts.epochs, score.reducer.as_deref(), score.unreduced)) {
        Some((epochs @ 2.., None, false)) => format!("a sample counts with the mean of its {epochs} epochs"),
        Some((2.., Some(reducer), _)) => format!("the epochs of a sample are reduced by {}", escape(reducer)),
        Some((2.., None, true)) => "every epoch counts".to_owned(),
        _ => format!("the headline is {}", escape(&headline.key.title())),
    };
    Some(Fact {
        term: if scorers.len() == 1 { "Scorer" } else { "Scorers" },
        text: named.join(", ") + &more,
        small,
    })
}

fn error(task: &Task<'_>) -> Option<Fact> {
    let errors = || headline_cells(task).filter_map(|cell| Some((cell, cell.estimate.error.as_ref().ok()?)));
    let (cell, error) = errors().find(|(_, error)| !error.degenerate)?;
    let keys = cluster_keys(task);
    let text = match (error.clusters.is_empty(), keys.is_empty()) {
        (false, false) => format!("one standard error, clustered by {}", breakable(&keys.join(" and "))),
        (false, true) => "one standard error, clustered by sample".to_owned(),
        _ => "one standard error".to_owned(),
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
            escape(if method == "iid" { "samples taken as independent" } else { &method })
        }
        _ if ratio(least) == ratio(most) => format!("{} times that of independent samples", ratio(least)),
        _ => format!("{} to {} times that of independent samples", ratio(least), ratio(most)),
    };
    let drawn = cell.estimate.draws.map(|draws| format!("; {} resamples", count(draws.count)));
    Some(Fact { term: "Error", text, small: small + &drawn.unwrap_or_default() })
}

fn interval(task: &Task<'_>) -> Option<Fact> {
    let (_, interval) =
        headline_cells(task).find_map(|cell| Some((cell, cell.estimate.interval.as_ref().ok()?)))?;
    let method = escape(&interval.method.to_string());
    let text = match interval.method {
        IntervalMethod::Custom if has_recorded(task) => format!("{}, as recorded", percent(interval.level)),
        _ => format!("{}, by {method}", percent(interval.level)),
    };
    let df = interval.df.filter(|df| df.is_finite());
    let df = df.map(|df| format!("{} degrees of freedom", plain((df * 10.0).round() / 10.0)));
    let of_groups: BTreeSet<String> = task
        .figures
        .groupings
        .iter()
        .flat_map(|grouping| grouping.groups.iter().flat_map(|group| group.estimates()))
        .filter_map(|estimate: &Estimate| Some(estimate.interval.as_ref().ok()?.method.to_string()))
        .collect();
    let other: Vec<String> = of_groups.into_iter().filter(|name| escape(name) != method).collect();
    let other = (!other.is_empty()).then(|| format!("groups by {}", escape(&other.join(", "))));
    Some(Fact { term: "Interval", text, small: df.into_iter().chain(other).collect::<Vec<_>>().join("; ") })
}

fn run(task: &Task<'_>) -> Option<Fact> {
    let mut dates: Vec<&str> = task.runs.iter().filter_map(|(run, _)| run.facts.created.as_deref()).collect();
    dates.sort_unstable();
    let first = dates.first().map(|created| date(created));
    let last = dates.last().map(|created| date(created));
    let text = match (first, last) {
        (Some(first), Some(last)) if first == last => first,
        (Some(first), Some(last)) => format!("{first} to {last}"),
        _ => return None,
    };
    let versions: BTreeSet<&str> =
        task.runs.iter().filter_map(|(run, _)| run.facts.version.as_deref()).collect();
    let tasks: BTreeSet<&str> =
        task.runs.iter().filter_map(|(run, _)| run.facts.task_version.as_deref()).collect();
    let seeds: BTreeSet<u64> = task.runs.iter().map(|(run, _)| run.plan.seed).collect();
    let mut small: Vec<String> = versions.into_iter().map(escape).collect();
    small.extend(seeds.into_iter().map(|seed| format!("seed {seed}")));
    small.extend(tasks.into_iter().map(|version| format!("task version {}", escape(version))));
    let tokens: u64 = task.runs.iter().filter_map(|(run, _)| run.facts.tokens).sum();
    small.extend((tokens > 0).then(|| format!("{} tokens", count(tokens))));
    let cost: f64 = task.runs.iter().filter_map(|(run, _)| run.facts.cost).sum();
    small.extend((cost > 0.0).then(|| format!("cost {}", plain(cost))));
    Some(Fact {
        term: if task.runs.len() == 1 { "Run" } else { "Runs" },
        text: escape(&text),
        small: small.join(", "),
    })
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
