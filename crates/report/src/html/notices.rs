//! What a reader must know before trusting a figure.

use std::collections::BTreeMap;
use std::hash::Hash;

use errorbar_core::{Counts, Failure, IndexMap, ScoreResult};
use maud::{Markup, Render, html};

use super::PageRun;
use super::cells::counted;
use super::task::Task;
use crate::Verdict;
use crate::notes::{by_key, unique};
use crate::svg::{Series, breakable};
use crate::text::{grouped, joined, truncate};

/// A notice: the claim, and what follows from it.
struct Notice {
    is_warning: bool,
    claim: Markup,
    rest: Markup,
}

impl Notice {
    fn warning(claim: impl Render, rest: impl Render) -> Self {
        Notice { is_warning: true, claim: claim.render(), rest: rest.render() }
    }
}

/// Clusters below this number are few.
const FEW_CLUSTERS: u64 = 10;
/// The most of the reason of a run that failed, in columns: a log may hold pages of it.
const MOST_OF_ERROR: usize = 400;
/// The most notices of a list.
const MOST_NOTICES: usize = 100;

/// The notices of the runs of a task, as a list; empty if there are none.
pub(super) fn list(task: &Task<'_>, label: &str, has_samples: bool) -> Markup {
    as_list(&all(task, has_samples), label)
}

/// What there is to know about each of several tasks, in one notice with a link to it; empty if there is nothing.
pub(super) fn summary(tasks: &[Task<'_>]) -> Markup {
    let of_task = |(at, task): (usize, &Task<'_>)| {
        let warnings: Vec<_> = all(task, false).into_iter().filter(|notice| notice.is_warning).collect();
        let claim = html! { a.any href={ "#t" (at + 1) "-top" } { (breakable(task.title())) } ":" };
        let claims = html! {
            @for (at, notice) in warnings.iter().enumerate() { @if at > 0 { " " } (notice.claim) }
        };
        (!warnings.is_empty()).then(|| Notice::warning(claim, claims))
    };
    let notices: Vec<Notice> = tasks.iter().enumerate().filter_map(of_task).collect();
    as_list(&notices, "Notices of all tasks")
}

fn all(task: &Task<'_>, has_samples: bool) -> Vec<Notice> {
    let mut notices = runs(task, has_samples);
    notices.extend(absent(task));
    notices.extend(reasons(task, has_samples));
    notices.extend(warnings(task));
    notices.extend(unconvertible(task));
    notices.extend(few_clusters(task));
    notices.extend(failed_groups(task));
    notices.extend(guessing(task));
    notices.extend(beyond(task));
    notices.extend(comparison(task));
    notices.extend(
        super::tasks::no_calibration(task)
            .map(|reason| Notice::warning("Calibration is not shown.", capital(&sentence(&reason)))),
    );
    notices
}

fn as_list(notices: &[Notice], label: &str) -> Markup {
    if notices.is_empty() {
        return Markup::default();
    }
    html! {
        ul.notices aria-label=(label) {
            @for Notice { is_warning, claim, rest } in notices.iter().take(MOST_NOTICES) {
                li {
                    svg viewBox="0 0 14 14" aria-hidden="true" focusable="false" {
                        use href=(if *is_warning { "#warn" } else { "#info" }) {}
                    }
                    span { strong { (claim) } " " (rest) }
                }
            }
            @if let more @ 1.. = notices.len().saturating_sub(MOST_NOTICES) {
                li { "and " (counted(more as u64, "more notice")) }
            }
        }
    }
}

/// What happened to runs: they ended early, were graded by themselves, reached limits.
fn runs(task: &Task<'_>, has_samples: bool) -> Vec<Notice> {
    let is_one = task.runs.len() == 1;
    let of_run = |(run, _): &(&PageRun<'_>, Series)| of_run(run, is_one, has_samples);
    task.runs.iter().flat_map(of_run).collect()
}

fn of_run(run: &PageRun<'_>, is_one: bool, has_samples: bool) -> Vec<Notice> {
    let PageRun { report, name, .. } = run;
    let about = |what: &str| if is_one { first_upper(what) } else { format!("{name}: {what}") };
    let stopped = report.early_stop.as_ref().map(|stop| {
        let (samples, planned) = (grouped(stop.samples), grouped(stop.planned));
        let rest = html! {
            "The rule was " code { (stop.rule) } ": " (stop.reason)
            ". The interval allows for that; there is no standard error."
        };
        Notice::warning(about(&format!("stopped early after {samples} of {planned} samples.")), rest)
    });
    let recorded = report.recorded.then(|| {
        let rest = "The log has no samples, so nothing is computed and nothing is compared.";
        Notice::warning(about("figures are recorded."), rest)
    });
    let self_graded = report.self_graded.as_ref().map(|model| {
        let claim = about(&format!("graded by the model itself ({model})."));
        Notice::warning(claim, "Models tend to prefer their own answers.")
    });
    let skipped = (report.skipped > 0).then(|| {
        let claim = about(&format!("{} could not be read.", counted(report.skipped as u64, "answer")));
        Notice::warning(claim, "They are in no figure.")
    });
    let kinds = report.limits.iter();
    let kinds = kinds.map(|(kind, number)| format!("{} reached the {kind} limit", grouped(*number as u64)));
    let limits = joined(kinds, ", ")
        .map(|kinds| Notice::warning(about(&format!("{kinds}.")), "These answers were judged as they were."));
    let earlier = report.earlier_run.then(|| {
        let notice = Notice::warning(about("complete before, and not run again."), "");
        Notice { is_warning: false, ..notice }
    });
    let of_metric = |failure: &Failure| {
        let claim = html! { @if !is_one { (name) ": " } code { (failure.metric) } " could not be computed." };
        Notice::warning(claim, first_upper(&sentence(&failure.error.to_string())))
    };
    let failures = report.results.scores.iter().flat_map(|score| &score.failures).map(of_metric);
    let of_run =
        [partial(run, &about, has_samples), recorded, stopped, self_graded, skipped, limits, earlier];
    of_run.into_iter().flatten().chain(failures).collect()
}

/// That a run did not reach its end.
fn partial(run: &PageRun<'_>, about: &dyn Fn(&str) -> String, has_samples: bool) -> Option<Notice> {
    let partial = run.report.partial_run.as_ref()?;
    let total = run.report.results.total_samples;
    let done = match partial.planned {
        Some(planned) => format!("{} of {} answers", grouped(total as u64), grouped(planned as u64)),
        None => format!("{} answers", grouped(total as u64)),
    };
    let claim = match partial.status.as_str() {
        // Whether it goes on is not known from the log.
        "started" => format!("not finished, {done} so far."),
        status => format!("the run did not reach its end ({status}), {done}."),
    };
    // A page without samples may be published, and an error may quote one.
    let error = run.facts.error.as_ref().filter(|_| has_samples);
    let error = error.map(|error| sentence(&truncate(error, MOST_OF_ERROR, "…")));
    let rest = html! {
        @if let Some(error) = error { "The reason: " span dir="auto" { (error) } " " }
        @if total > 0 { "The figures are of those that finished first, which may be easier than the rest." }
    };
    Some(Notice::warning(about(&claim), rest))
}

/// Samples without a score, by scorer.
fn absent(task: &Task<'_>) -> Vec<Notice> {
    let has_several = task.figures.has_several_scorers();
    let has_bounds = task.cells().any(|cell| cell.estimate.bounds.is_some() && cell.estimate.value.is_ok());
    let mut notices = Vec::new();
    for (scorer, by_run) in task.figures.absences() {
        let total: u64 = by_run.iter().sum();
        let named = names(task, by_run.iter().copied().enumerate().filter(|(_, absent)| *absent > 0));
        let (verb, pronoun, are) = if total == 1 { ("has", "It", "is") } else { ("have", "They", "are") };
        let claim = html! {
            (counted(total, "sample")) " " (verb) " no score"
            @if has_several { " by " code { (scorer) } }
            "."
        };
        let why = why_absent(task, &scorer, total == 1);
        let rest = html! {
            (pronoun) " " (why) ", and " (are) " in no mean" (named) "."
            @if has_bounds && notices.is_empty() {
                " The dotted bracket in a plot goes from the worst to the best that they could have been."
            }
        };
        notices.push(Notice::warning(claim, rest));
    }
    notices
}

/// What became of the samples that a scorer has no score of.
fn why_absent(task: &Task<'_>, scorer: &str, is_one: bool) -> String {
    let is_of_scorer = |score: &&ScoreResult| {
        let field = score.field.as_ref().map(|field| format!(", {field}")).unwrap_or_default();
        format!("{}{field}", score.scorer) == scorer
    };
    let any = |count: fn(&Counts) -> usize| {
        let scores = task.runs.iter().flat_map(|(run, _)| &run.report.results.scores);
        scores.filter(is_of_scorer).any(|score| count(&score.counts) > 0)
    };
    let (not_scored, no_entry) =
        if is_one { ("was not scored", "has no entry") } else { ("were not scored", "have no entry") };
    let parts = [
        (any(|counts| counts.errored), "errored"),
        (any(|counts| counts.unscored), not_scored),
        (any(|counts| counts.missing), no_entry),
    ];
    let known = joined(parts.into_iter().filter(|(any, _)| *any).map(|(_, what)| what), " or ");
    known.unwrap_or_else(|| format!("errored or {not_scored}"))
}

/// Values that have no meaning as a number and count as 0, by scorer, where the engine does not warn of them.
fn unconvertible(task: &Task<'_>) -> Vec<Notice> {
    let found = most_by_run(task, |run| {
        let is_warned = |scorer: &str| {
            run.report.results.warnings.iter().any(
                |warning| matches!(warning, errorbar_core::Warning::Unconvertible { scorer: of, .. } if of == scorer),
            )
        };
        let scores = run.report.results.scores.iter().filter(|score| !is_warned(&score.scorer));
        scores.map(|score| (score.scorer.clone(), score.counts.unconvertible)).collect()
    });
    let notice = |(scorer, of_runs): (&String, &BTreeMap<usize, u64>)| {
        let total: u64 = of_runs.values().sum();
        let named = names(task, of_runs.iter().map(|(at, number)| (*at, *number)));
        let claim = html! { (counted(total, "value")) " by " code { (scorer) } " are no scores." };
        Notice::warning(claim, format!("They count as 0{named}."))
    };
    found.iter().map(notice).collect()
}

/// Numbers by what they are of and by run, without zeros. Several reducers of a scorer see the same scores, so the most counts.
fn most_by_run<K: Hash + Eq>(
    task: &Task<'_>,
    numbers: impl Fn(&PageRun<'_>) -> Vec<(K, usize)>,
) -> IndexMap<K, BTreeMap<usize, u64>> {
    let mut found: IndexMap<K, BTreeMap<usize, u64>> = IndexMap::new();
    for (at, (run, _)) in task.runs.iter().enumerate() {
        for (of, number) in numbers(run).into_iter().filter(|(_, number)| *number > 0) {
            let slot = found.entry(of).or_default().entry(at).or_default();
            *slot = (*slot).max(number as u64);
        }
    }
    found
}

/// `: heron 6, magpie 8`, if there are several runs.
fn names(task: &Task<'_>, numbers: impl Iterator<Item = (usize, u64)>) -> String {
    if task.runs.len() < 2 {
        return String::new();
    }
    let named =
        |(at, number): (usize, u64)| Some(format!("{} {}", task.runs.get(at)?.0.name, grouped(number)));
    format!(": {}", joined(numbers.filter_map(named), ", ").unwrap_or_default())
}

/// Scores with a reason, such as an answer that could not be parsed, by reason.
fn reasons(task: &Task<'_>, has_samples: bool) -> Vec<Notice> {
    let by_reason = most_by_run(task, |run| {
        let of_score = |score: &ScoreResult| {
            let reasons = score.counts.reasons.iter();
            let named = reasons.map(|(reason, number)| ((score.scorer.clone(), reason.clone()), *number));
            named.collect::<Vec<_>>()
        };
        run.report.results.scores.iter().flat_map(of_score).collect()
    });
    let total: u64 = task.runs.iter().map(|(run, _)| run.report.results.total_samples as u64).sum();
    let notice = |((scorer, reason), of_runs): (&(String, String), &BTreeMap<usize, u64>)| {
        let number: u64 = of_runs.values().sum();
        let claim = html! { (grouped(number)) " of " (grouped(total)) " answers: " code { (reason) } "." };
        let rest = html! {
            (reason_words(reason, scorer, number == 1))
            (consequence(task, scorer, reason, of_runs.keys(), number == 1))
            (names(task, of_runs.iter().map(|(at, number)| (*at, *number)))) "."
            @if has_samples { " " a href={ "#samples?reason=" (super::pairs::encode(reason)) } { "Show them" } }
        };
        Notice::warning(claim, rest)
    };
    by_reason.iter().map(notice).collect()
}

/// What a reason means, in words.
fn reason_words(reason: &str, scorer: &str, is_one: bool) -> String {
    match reason {
        "invalid_response_format" if is_one => "No answer could be read from it".to_owned(),
        "invalid_response_format" => "No answer could be read from them".to_owned(),
        "no_response" if is_one => "It is empty".to_owned(),
        "no_response" => "They are empty".to_owned(),
        "refusal" => "The model refused to answer".to_owned(),
        _ => format!("The reason that {scorer} gives"),
    }
}

/// What answers with a reason count as, if that is the same for all of them.
fn consequence<'r>(
    task: &Task<'_>,
    scorer: &str,
    reason: &str,
    runs: impl Iterator<Item = &'r usize>,
    is_one: bool,
) -> &'static str {
    let (mut is_wrong, mut is_unscored) = (true, true);
    for (run, _) in runs.filter_map(|at| task.runs.get(*at)) {
        for row in 0..run.columns.len() {
            let score = run.columns.score(row, scorer);
            let Some(score) = score.filter(|score| score.reason.as_deref() == Some(reason)) else { continue };
            let verdicts = Verdict::all_of(&score.value);
            is_wrong &= verdicts.iter().all(|verdict| *verdict == Verdict::Wrong);
            is_unscored &= verdicts.iter().all(|verdict| *verdict == Verdict::Unscored);
        }
    }
    match (is_wrong, is_unscored) {
        (true, false) if is_one => "; it counts as wrong",
        (true, false) => "; they count as wrong",
        (false, true) if is_one => "; it has no score",
        (false, true) => "; they have no score",
        _ => "",
    }
}

/// Runs whose interval holds the level of guessing.
fn guessing(task: &Task<'_>) -> Option<Notice> {
    let chance = task.chance?;
    let cells = &task.figures.headline.as_ref()?.cells;
    let is_guess = |cell: &super::task::FigureCell| {
        let interval = cell.estimate.interval.as_ref().ok();
        interval.is_some_and(|interval| (interval.lower..=interval.upper).contains(&chance.value))
    };
    let guessing = task.runs.iter().zip(cells).filter(|(_, cell)| cell.iter().any(is_guess));
    let names: Vec<&str> = guessing.map(|((run, _), _)| run.name.as_str()).collect();
    let of = if task.runs.len() > 1 { format!("{}: ", names.join(", ")) } else { String::new() };
    let claim = capital(&format!("{of}not told apart from guessing."));
    (!names.is_empty())
        .then(|| Notice::warning(claim, format!("{} is in the interval.", capital(&chance.label()))))
}

/// What the engine warns of, each once.
fn warnings(task: &Task<'_>) -> Vec<Notice> {
    let of_run = |(run, _): &(&'_ PageRun<'_>, Series)| {
        let name = run.name.clone();
        let warnings = run.report.results.warnings.iter();
        warnings.map(|warning| (warning.to_string(), name.clone())).collect::<Vec<_>>()
    };
    let found = by_key(task.runs.iter().flat_map(of_run));
    let notice = |(text, runs): &(String, Vec<String>)| {
        let (claim, rest) = match text.split_once("; ") {
            Some((claim, rest)) => (claim.to_owned() + ".", capital(rest) + "."),
            None => (text.clone() + ".", String::new()),
        };
        let of = if runs.len() < task.runs.len() { format!("{}: ", runs.join(", ")) } else { String::new() };
        Notice::warning(capital(&format!("{of}{claim}")), rest)
    };
    found.iter().map(notice).collect()
}

/// Errors that rest on few clusters, over all samples or by group.
fn few_clusters(task: &Task<'_>) -> Vec<Notice> {
    let clusters = |cell: &super::task::FigureCell| {
        let error = cell.estimate.error.as_ref().ok()?;
        let few = error.clusters.iter().copied().min().filter(|clusters| *clusters < FEW_CLUSTERS)?;
        Some((few, error.df))
    };
    let mut notices = Vec::new();
    if let Some((few, df)) = task.headline_cells().filter_map(clusters).min_by_key(|(few, _)| *few) {
        let df = if df.is_finite() { format!(", {df:.1} degrees of freedom") } else { String::new() };
        notices.push(Notice::warning(
            "Few clusters.",
            format!("The error rests on {}{df}: it may be much too small.", counted(few, "cluster")),
        ));
    }
    let mut seen: Vec<&str> = Vec::new();
    for grouping in &task.figures.groupings {
        if seen.contains(&grouping.by.as_str()) {
            continue;
        }
        let cells = || grouping.groups.iter().flat_map(|group| group.cells.iter().flatten());
        let few: Vec<u64> = cells().filter_map(clusters).map(|(few, _)| few).collect();
        let (Some(least), Some(most)) = (few.iter().min(), few.iter().max()) else { continue };
        seen.push(&grouping.by);
        let number =
            if least == most { counted(*most, "cluster") } else { format!("{least} to {most} clusters") };
        let all = cells().count();
        let which = if few.len() == all {
            "Each group".to_owned()
        } else {
            format!("{} of {all} figures", few.len())
        };
        let rest = if few.len() == all { "rests" } else { "rest" };
        notices.push(Notice::warning(
            format!("Few clusters by {}.", grouping.by),
            format!("{which} {rest} on {number}, so errors by {} are rough.", grouping.by),
        ));
    }
    notices
}

/// The keys that there are no figures by, though they were asked for.
fn failed_groups(task: &Task<'_>) -> Vec<Notice> {
    let found = unique(task.figures.failed_groups.iter().map(|(_, key, problem)| (key, problem)));
    let notice = |(key, problem): (&String, &String)| {
        let claim = html! { "There are no figures by " code { (key) } "." };
        Notice::warning(claim, capital(&sentence(problem)))
    };
    found.into_iter().map(notice).collect()
}

/// Intervals that reach beyond what a share can be.
fn beyond(task: &Task<'_>) -> Option<Notice> {
    use crate::svg::Scale;
    let estimates: Vec<_> =
        task.headline_cells().chain(task.group_cells()).map(|cell| &cell.estimate).collect();
    if Scale::of(estimates.iter().copied()) != Scale::unit() {
        return None;
    }
    let is_beyond = |lower: f64, upper: f64| {
        lower.is_finite() && lower < -1e-9 || upper.is_finite() && upper > 1.0 + 1e-9
    };
    let beyond =
        estimates.iter().filter(|e| e.interval.as_ref().is_ok_and(|i| is_beyond(i.lower, i.upper))).count();
    let of = estimates.iter().filter(|e| e.interval.is_ok()).count();
    (beyond > 0).then(|| {
        Notice::warning(
            format!("{} of {} intervals reach beyond 0 to 1.", grouped(beyond as u64), grouped(of as u64)),
            "No figure can be there. They are drawn open at the edge, with a chevron.",
        )
    })
}

/// What the comparison warns of, or why there is none.
fn comparison(task: &Task<'_>) -> Vec<Notice> {
    let failed = task
        .not_compared
        .iter()
        .map(|reason| Notice::warning("The runs are not compared.", capital(&sentence(reason))));
    let warnings = task.comparison.iter().flat_map(|comparison| &comparison.pairs.warnings);
    let warned = unique(warnings.map(ToString::to_string));
    let warned = warned.iter().map(|text| Notice::warning("Comparison.", capital(&sentence(text))));
    failed.chain(warned).collect()
}

fn sentence(text: &str) -> String {
    if text.ends_with(['.', '?', '!', '…']) { text.to_owned() } else { format!("{text}.") }
}

/// A text of ours that starts a sentence.
fn first_upper(text: &str) -> String {
    let mut characters = text.chars();
    characters.next().map(|first| first.to_uppercase().chain(characters).collect()).unwrap_or_default()
}

fn capital(text: &str) -> String {
    // Names keep their case: only a word of ours starts a sentence, and names of runs come with a colon.
    let starts_with_name = text.contains(": ") && text.starts_with(char::is_lowercase);
    if starts_with_name { text.to_owned() } else { first_upper(text) }
}
