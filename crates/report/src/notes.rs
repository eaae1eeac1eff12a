//! What is to be known about a figure, in few words; what most figures have in common is left to the legend.

use errorbar_core::spec::Arg;
use errorbar_core::{
    ErrorMethod, Estimate, EstimateRow, Interval, IntervalMethod, IntervalSide, Results, Role, ScoreResult,
    StdError, Undefined,
};
use serde_json::Value as Json;

use crate::figure::{shown_error, shown_interval};
use crate::text::{self, counted, joined, percent, plain};
use crate::{PartialRun, Report};

/// Fewer scores or clusters than this are marked.
const FEW: u64 = 10;
/// From this share on, the largest cluster is named.
const LARGE_CLUSTER: f64 = 0.5;

/// From this design effect on, clusters matter enough to be reported.
const LARGE_EFFECT: f64 = 1.5;
/// Below this design effect, that clusters make the error smaller is reported.
const SMALL_EFFECT: f64 = 0.95;

/// How most errors and intervals were computed. Reported once; a row reports only what differs.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct CommonMethods {
    error: Option<String>,
    /// The number of clusters, if it is the same everywhere.
    clusters: Option<String>,
    interval: Option<IntervalName>,
}

/// How an interval was computed.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct IntervalName {
    method: IntervalMethod,
    level: f64,
    side: IntervalSide,
}

impl IntervalName {
    pub(crate) fn of(interval: &Interval) -> Self {
        IntervalName { method: interval.method, level: interval.level, side: interval.side }
    }

    /// `95 % interval: wilson`.
    pub(crate) fn text(&self) -> String {
        match self.method {
            IntervalMethod::Custom => self.title(),
            method => format!("{}: {method}", self.title()),
        }
    }

    /// `95 % interval`, `95 % upper bound`.
    fn title(&self) -> String {
        let what = match self.side {
            IntervalSide::Lower => "lower bound",
            IntervalSide::Upper => "upper bound",
            _ => "interval",
        };
        format!("{} {what}", percent(self.level))
    }
}

impl CommonMethods {
    /// What the rows of a report have in common.
    pub(crate) fn of(results: &Results) -> Self {
        let rows = results.rows();
        CommonMethods::of_rows(rows.iter().map(|row| (row, keys_of(results, row))))
    }

    /// What rows have in common, each with what its errors are clustered by.
    pub(crate) fn of_rows<'a, 'r: 'a>(
        rows: impl IntoIterator<Item = (&'a EstimateRow<'r>, &'a [String])>,
    ) -> Self {
        let (mut errors, mut clusters, mut intervals) = (Vec::new(), Vec::new(), Vec::new());
        for (row, keys) in rows {
            intervals.extend(interval_name(row));
            errors.extend(error_name(row, keys));
            clusters.extend(shown_error(&row.estimate).map(clusters_of));
        }
        let same_clusters = clusters.first().cloned().flatten();
        let is_same = clusters.iter().all(|found| *found == same_clusters);
        CommonMethods {
            error: most_frequent(&errors),
            clusters: same_clusters.filter(|_| is_same && clusters.len() > 1),
            interval: most_frequent(&intervals),
        }
    }

    /// What `±` is.
    pub(crate) fn error_legend(&self) -> String {
        let method = self.error.clone().filter(|method| *method != ErrorMethod::Iid.name());
        match joined(method.into_iter().chain(self.clusters.clone()), ", ") {
            Some(how) => format!("± one standard error ({how})"),
            None => "± one standard error".to_owned(),
        }
    }

    /// What `[…]` is, if there is any.
    pub(crate) fn interval_legend(&self) -> Option<String> {
        let interval = self.interval.as_ref()?;
        let text = interval.text();
        Some(match interval.side {
            IntervalSide::Lower => format!("≥ the {text}"),
            IntervalSide::Upper => format!("≤ the {text}"),
            _ => format!("[{text}]"),
        })
    }

    /// What errors and intervals are, in one line, if there are any.
    pub(crate) fn legend(&self) -> Option<String> {
        let words = [self.error.is_some().then(|| self.error_legend()), self.interval_legend()];
        joined(words.into_iter().flatten(), " · ")
    }

    /// The title of a column of intervals.
    pub(crate) fn interval_title(&self) -> String {
        match &self.interval {
            Some(interval) => interval.title(),
            None => "interval".to_owned(),
        }
    }
}

/// What errors of the plan are clustered by.
pub(crate) fn keys_of<'r>(results: &'r Results, row: &EstimateRow<'_>) -> &'r [String] {
    results.scores.get(row.score).map(|score| score.cluster.as_slice()).unwrap_or_default()
}

/// The different items, in the order in which they come.
pub(crate) fn unique<T: PartialEq>(items: impl IntoIterator<Item = T>) -> Vec<T> {
    let mut found: Vec<T> = Vec::new();
    for item in items {
        if !found.contains(&item) {
            found.push(item);
        }
    }
    found
}

/// The items by their keys, in the order in which those come.
pub(crate) fn by_key<K: PartialEq, T>(items: impl IntoIterator<Item = (K, T)>) -> Vec<(K, Vec<T>)> {
    let mut found: Vec<(K, Vec<T>)> = Vec::new();
    for (key, item) in items {
        match found.iter_mut().find(|(known, _)| *known == key) {
            Some((_, items)) => items.push(item),
            None => found.push((key, vec![item])),
        }
    }
    found
}

/// The first of those that are there most often.
pub fn most_frequent<T: Clone + PartialEq>(found: &[T]) -> Option<T> {
    let counts = by_key(found.iter().map(|item| (item, ())));
    let most = counts.iter().map(|(_, items)| items.len()).max()?;
    counts.into_iter().find(|(_, items)| items.len() == most).map(|(item, _)| item.clone())
}

/// The positions of numbers from the best to the worst; those without one are last, ties in their order.
pub(crate) fn best_first(
    numbers: impl IntoIterator<Item = Option<f64>>,
    lower_is_better: bool,
) -> Vec<usize> {
    let sign = if lower_is_better { -1.0 } else { 1.0 };
    let merit = |number: Option<f64>| number.filter(|n| !n.is_nan()).map_or(f64::NEG_INFINITY, |n| sign * n);
    let mut order: Vec<(usize, f64)> = numbers.into_iter().map(merit).enumerate().collect();
    order.sort_by(|(_, a), (_, b)| b.total_cmp(a));
    order.into_iter().map(|(at, _)| at).collect()
}

/// The mean of numbers, if there are any.
pub(crate) fn mean(numbers: impl IntoIterator<Item = f64>) -> Option<f64> {
    let numbers: Vec<f64> = numbers.into_iter().collect();
    (!numbers.is_empty()).then(|| numbers.iter().sum::<f64>() / numbers.len() as f64)
}

/// What all are, if they are one.
pub(crate) fn common<T: PartialEq>(mut values: impl Iterator<Item = T>) -> Option<T> {
    let first = values.next()?;
    values.all(|value| value == first).then_some(first)
}

/// How the error of a row was made: the method, and what samples are clustered by.
fn error_name(row: &EstimateRow<'_>, keys: &[String]) -> Option<String> {
    let error = shown_error(&row.estimate)?;
    match error.method {
        // A custom metric explains itself, and a mean of groups is marked as such.
        ErrorMethod::Custom | ErrorMethod::Macro => None,
        method @ ErrorMethod::Cluster(_) => Some(format!("{method} by {}", clustered_by(row, keys))),
        // Of samples, or of clusters.
        method if !error.clusters.is_empty() => Some(format!("{method} by {}", clustered_by(row, keys))),
        method => Some(method.to_string()),
    }
}

/// What the samples of a row are clustered by.
fn clustered_by(row: &EstimateRow<'_>, keys: &[String]) -> String {
    let own = row.error_metric.and_then(|metric| metric.cluster.as_ref());
    let keys = if row.error_metric.is_some() { own.map(std::slice::from_ref) } else { Some(keys) };
    let keys = keys.unwrap_or_default();
    if keys.is_empty() { "sample".to_owned() } else { keys.join(" and ") }
}

fn interval_name(row: &EstimateRow<'_>) -> Option<IntervalName> {
    shown_interval(&row.estimate).map(IntervalName::of)
}

/// `48 clusters`; `only 8 clusters, df 7` of few.
pub(crate) fn clusters(error: &StdError) -> Option<String> {
    let clusters = clusters_of(error)?;
    if !has_few_clusters(error) {
        return Some(clusters);
    }
    let df = Some(error.df).filter(|df| df.is_finite());
    let df = df.map(|df| format!(", df {}", plain((df * 10.0).round() / 10.0))).unwrap_or_default();
    Some(format!("only {clusters}{df}"))
}

fn clusters_of(error: &StdError) -> Option<String> {
    match error.clusters.as_slice() {
        [] => None,
        [one] => Some(counted(*one, "cluster")),
        several => {
            let counts: Vec<String> = several.iter().map(u64::to_string).collect();
            Some(format!("{} clusters", counts.join(" × ")))
        }
    }
}

/// The arguments that were passed to the metric of a row.
pub(crate) fn arguments(row: &EstimateRow<'_>) -> Vec<String> {
    let spec = &row.result.inner;
    let text = |arg: &Arg| match arg {
        Arg::Str(text) => text.clone(),
        other => other.to_string(),
    };
    // `human=human` and `a=human` say no more than the string.
    let is_enough = |name: &str, arg: &Arg| arg.as_str().is_some_and(|text| text == name || name.len() == 1);
    let named = |(name, arg): (&String, &Arg)| match is_enough(name, arg) {
        true => text(arg),
        false => format!("{name}={}", text(arg)),
    };
    spec.args.iter().map(text).chain(spec.kwargs.iter().map(named)).collect()
}

/// Whether a figure is meant to have an error.
pub(crate) fn is_estimate(row: &EstimateRow<'_>) -> bool {
    let has_model = row.estimate.error.is_ok() || row.estimate.interval.is_ok();
    matches!(row.role, Role::Location | Role::Share) || has_model
}

/// How many scores a figure is of, if that is known: `36`, `34 of 36`.
pub(crate) fn n_text(estimate: &Estimate) -> Option<String> {
    let Estimate { n, absent, .. } = estimate;
    match (n, absent) {
        (0, 0) if estimate.value != Err(Undefined::NoScores) => None,
        (n, 0) => Some(n.to_string()),
        (n, absent) => Some(format!("{n} of {}", n + absent)),
    }
}

/// What the number of scores means for a figure: too few, or no spread in them. The absent ones are counted unless the
/// row has [bounds], which count them too.
pub(crate) fn few(row: &EstimateRow<'_>, has_bounds: bool) -> Option<String> {
    let estimate = &row.estimate;
    if estimate.value.is_err() || !is_estimate(row) {
        return None;
    }
    let n = estimate.n;
    let no_spread = has_no_spread(estimate);
    let what = match n {
        0 if no_spread => return Some(no_spread_in(estimate)),
        0 => return None,
        1 => "only 1 score".to_owned(),
        _ if no_spread => no_spread_in(estimate),
        _ if n < FEW => format!("only {n} scores"),
        _ => return None,
    };
    let degenerate = estimate.error.as_ref().ok().filter(|_| n > 1 && shown_error(estimate).is_none());
    let clusters = degenerate.filter(|error| has_few_clusters(error)).and_then(clusters_of);
    let says_absent = estimate.absent > 0 && !(has_bounds && bounds(estimate).is_some());
    let absent = says_absent.then(|| format!("{} absent", estimate.absent));
    joined([Some(what), clusters, absent].into_iter().flatten(), ", ")
}

/// Why an estimate has no error to show, in words; none if it has one, or if none is expected.
pub(crate) fn no_error(estimate: &Estimate) -> Option<String> {
    if estimate.value.is_err() || shown_error(estimate).is_some() {
        return None;
    }
    let n = estimate.n;
    match &estimate.error {
        _ if n == 1 => Some("only 1 score".to_owned()),
        Err(Undefined::TooFewClusters { clusters }) => {
            Some(format!("only {}", counted(*clusters, "cluster")))
        }
        Err(Undefined::NotAvailable) => None,
        Err(Undefined::StoppedEarly) => Some("stopped early".to_owned()),
        Err(reason @ (Undefined::Overflow | Undefined::Other(_))) => Some(format!("no error: {reason}")),
        _ => has_no_spread(estimate).then(|| no_spread_in(estimate)),
    }
}

/// That scores have no spread, in words.
fn no_spread_in(estimate: &Estimate) -> String {
    match estimate.n {
        0 | 1 => "no spread".to_owned(),
        // The scores differ, and the sums of clusters do not.
        _ if estimate.notes.design_effect == Some(0.0) => "no spread between clusters".to_owned(),
        n => format!("no spread in {n} scores"),
    }
}

/// Whether all scores are equal, according to the error, else the interval.
fn has_no_spread(estimate: &Estimate) -> bool {
    match (&estimate.error, &estimate.interval) {
        (Ok(error), _) => error.degenerate || error.se == 0.0,
        (Err(Undefined::NoSpread { .. }), _) => true,
        (Err(_), Ok(interval)) => interval.lower == interval.upper,
        (Err(_), Err(_)) => false,
    }
}

pub(crate) fn has_few_clusters(error: &StdError) -> bool {
    error.clusters.iter().any(|clusters| *clusters < FEW)
}

/// How the error and the interval of a row were made, as far as it differs from the others.
pub(crate) fn methods(row: &EstimateRow<'_>, keys: &[String], common: &CommonMethods) -> Vec<String> {
    let estimate = &row.estimate;
    let mut notes = Vec::new();
    if let Some(error) = shown_error(estimate) {
        let name = error_name(row, keys).filter(|name| common.error.as_ref() != Some(name));
        let clusters = clusters(error).filter(|clusters| common.clusters.as_ref() != Some(clusters));
        notes.extend(joined(name.into_iter().chain(clusters), ", "));
    } else if let (Ok(_), Err(reason)) = (&estimate.value, &estimate.error) {
        notes.extend(missing_error(reason, estimate));
    }
    // The error already reports it if it has the same reason.
    if let (Ok(_), Ok(_), Err(reason @ (Undefined::Other(_) | Undefined::Overflow))) =
        (&estimate.value, &estimate.error, &estimate.interval)
    {
        notes.push(format!("no interval: {reason}"));
    }
    // Without an error above 0, it is that scores have no spread.
    if shown_error(estimate).is_some() && estimate.interval.is_ok() && shown_interval(estimate).is_none() {
        notes.push("no interval: its ends are equal".to_owned());
    }
    let common_title = common.interval.as_ref().map(IntervalName::title);
    let interval = interval_name(row).filter(|interval| common.interval.as_ref() != Some(interval));
    notes.extend(interval.and_then(|interval| {
        let (method, title) = (interval.method, interval.title());
        let what = title.replacen(&percent(interval.level), "", 1);
        match (method, common_title.as_ref() == Some(&title)) {
            (IntervalMethod::Custom, true) => None,
            (IntervalMethod::Custom, false) => Some(title),
            (method, true) => Some(format!("{method} {}", what.trim_start())),
            (method, false) => Some(format!("{method} {title}")),
        }
    }));
    let is_clustered = shown_error(estimate).is_some_and(|error| !error.clusters.is_empty());
    let design_effect = estimate.notes.design_effect.filter(|_| is_clustered);
    // One below 1 is possible: clusters may be more alike than their samples are. With few clusters it is chance.
    let is_noted = |effect: &f64| *effect >= LARGE_EFFECT || *effect < SMALL_EFFECT;
    notes.extend(design_effect.filter(is_noted).map(|effect| format!("design effect {effect:.1}")));
    // All of the scores: there is only one cluster.
    let is_large = |share: &f64| (LARGE_CLUSTER..1.0).contains(share);
    if let Some(share) = estimate.notes.largest_cluster_share.filter(is_large) {
        notes.push(format!(
            "the largest cluster has {} of the scores",
            percent((share * 100.0).round() / 100.0)
        ));
    }
    notes
}

/// Why there is no error, where the number of scores does not explain it.
fn missing_error(reason: &Undefined, estimate: &Estimate) -> Option<String> {
    match reason {
        Undefined::TooFewClusters { clusters } => Some(format!("only {}", counted(*clusters, "cluster"))),
        Undefined::Overflow | Undefined::Other(_) => Some(format!("no error: {reason}")),
        Undefined::TooFewScores { .. } if estimate.n == 0 => Some(format!("no error: {reason}")),
        _ => None,
    }
}

/// What the number would be with the samples that have no score.
pub(crate) fn bounds(estimate: &Estimate) -> Option<String> {
    // Nothing to report if what is absent makes no difference.
    let bounds = estimate.bounds.filter(|bounds| estimate.value.is_ok() && bounds.worst < bounds.best)?;
    let of_epochs = |samples: u64| format!("absent epochs of {}", counted(samples, "sample"));
    let with = match (estimate.absent, estimate.notes.partly_absent) {
        (0, None) => return None,
        (absent, None) => format!("{absent} absent"),
        (0, Some(partly)) => of_epochs(partly),
        (absent, Some(partly)) => format!("{absent} absent, and {}", of_epochs(partly)),
    };
    let decimals = text::decimals((bounds.best - bounds.worst) / 2.0);
    let text = |value: f64| decimals.map_or_else(|| plain(value), |decimals| text::fixed(value, decimals));
    let (worst, best, wrong) = (text(bounds.worst), text(bounds.best), text(bounds.absent_as_wrong));
    let worst = if worst == wrong { String::new() } else { format!("{worst} at worst, ") };
    Some(format!("with the {with}: {wrong} as wrong, {worst}{best} at best"))
}

/// The error for the same samples again, beside that for samples like these.
pub(crate) fn fixed_error(estimate: &Estimate) -> Option<String> {
    let se = estimate.notes.stderr_fixed.filter(|se| *se > 0.0 && estimate.value.is_ok())?;
    let se = text::decimals(se).map_or_else(|| plain(se), |decimals| text::fixed(se, decimals));
    Some(format!("± {se} for the same samples again"))
}

/// What the metric itself notes. Lists and maps are data, such as the points of a curve, and not for people to read.
pub(crate) fn remarks(estimate: &Estimate) -> Vec<String> {
    let notes = estimate.notes.custom.iter().filter(|(_, value)| !value.is_array() && !value.is_object());
    let custom = notes.map(|(key, value)| remark(&key.replace('_', " "), value));
    let caution = estimate.notes.reason.clone().filter(|_| estimate.notes.is_caution);
    let spans = estimate.notes.clusters_span_groups.then(|| "clusters span groups".to_owned());
    let population = estimate.notes.population.map(|population| format!("of a population of {population}"));
    let early_stop = estimate.notes.early_stop.clone();
    early_stop.into_iter().chain(caution).chain(population).chain(spans).chain(custom).collect()
}

/// A note as words: `12 units`, `mean length 11`.
fn remark(words: &str, value: &Json) -> String {
    let text = match value {
        Json::String(text) => text.clone(),
        other => other.as_f64().map_or_else(|| other.to_string(), plain),
    };
    match value.as_u64() {
        Some(1) if words.ends_with('s') => format!("1 {}", words.strip_suffix('s').unwrap_or(words)),
        Some(_) if words.ends_with('s') => format!("{text} {words}"),
        _ => format!("{words} {text}"),
    }
}

// The words above figures: where they come from, what was scored how, and how many there were.

/// What is to be known about a report, besides its file: task, model, how many samples, and what became of them.
pub(crate) fn header(report: &Report) -> Vec<String> {
    let mut details: Vec<String> = [&report.task, &report.model].into_iter().flatten().cloned().collect();
    details.extend(facts(report));
    details
}

/// The same without task and model.
pub(crate) fn facts(report: &Report) -> Vec<String> {
    let results = &report.results;
    // A table has rows; a log has samples, each of which may have been run several times.
    let thing = match results.scores.iter().map(|score| score.counts.epochs).max() {
        _ if report.task.is_none() => "row",
        Some(2..) => "sample run",
        _ => "sample",
    };
    let total = results.total_samples;
    let mut facts = Vec::new();
    match &report.partial_run {
        Some(PartialRun { status, planned }) => {
            facts.push(match planned {
                Some(planned) => format!("{total} of {}", counted(*planned as u64, thing)),
                None => counted(total as u64, thing),
            });
            facts.push(status.clone());
            facts.push(format!("figures are of the {thing}s finished first"));
        }
        None => facts.push(counted(report.rows.unwrap_or(total) as u64, thing)),
    }
    facts.extend((report.skipped > 0).then(|| format!("{} unreadable, left out", report.skipped)));
    let errored = total.saturating_sub(results.completed_samples);
    facts.extend((errored > 0).then(|| format!("{errored} errored")));
    facts.extend(report.limits.iter().map(|(kind, count)| format!("{count} reached the {kind} limit")));
    facts.extend(report.self_graded.as_ref().map(|model| format!("graded by the model itself ({model})")));
    facts.extend(report.recorded.then(|| "figures are recorded: the log has no samples".to_owned()));
    facts.extend(report.earlier_run.then(|| "complete before".to_owned()));
    facts
}

/// The facts without the number of samples of a run that reached its end: what a figure must not be shown without.
pub(crate) fn run_remarks(report: &Report) -> Vec<String> {
    let is_whole = report.partial_run.is_none();
    facts(report).into_iter().skip(usize::from(is_whole)).collect()
}

/// The title of a block: what was scored how, and how many there were.
pub(crate) fn title(score: &ScoreResult) -> (String, Vec<String>) {
    let name = match &score.field {
        Some(field) => format!("{}: {field}", score.scorer),
        None => score.scorer.clone(),
    };
    let reducer = score.reducer.as_ref().map(|reducer| format!("reduced by {reducer}"));
    let is_implied_mean = score.reducer.is_none() && !score.unreduced && score.counts.epochs > 1;
    let mut counts = counts(score);
    if let Some(epochs) = counts.first_mut().filter(|_| is_implied_mean) {
        *epochs = format!("mean of {epochs}");
    }
    (name, reducer.into_iter().chain(counts).collect())
}

/// How many epochs and scores there were, and what became of the others.
pub(crate) fn counts(score: &ScoreResult) -> Vec<String> {
    let counts = &score.counts;
    let total = counts.scored + counts.unscored + counts.missing;
    let scored = if total > counts.scored {
        format!("{} of {total} scored", counts.scored)
    } else {
        format!("{total} scored")
    };
    let others = [
        (counts.unscored, "unscored"),
        (counts.missing, "missing"),
        (counts.errored, "errored"),
        (counts.unconvertible, "unconvertible (count as 0)"),
    ];
    epochs(score).into_iter().chain([scored]).chain(nonzero(&others)).collect()
}

/// What was done with the epochs of a sample, and which of them reduction ignored: those are epochs, where the other
/// counts of a reduced block are samples.
fn epochs(score: &ScoreResult) -> Option<String> {
    let counts = &score.counts;
    if counts.epochs <= 1 {
        return None;
    }
    let epochs = match counts.samples_by_epochs.as_slice() {
        [(fewest, _), .., (most, _)] => format!("{fewest} to {most} epochs"),
        _ => format!("{} epochs", counts.epochs),
    };
    if score.unreduced {
        return Some(epochs + ", not reduced");
    }
    let unscored = if counts.unscored_epochs == 1 { "epoch score unscored" } else { "epoch scores unscored" };
    let missing = match counts.missing_epochs {
        _ if counts.unscored_epochs > 0 => "missing",
        1 => "epoch score missing",
        _ => "epoch scores missing",
    };
    let ignored = nonzero(&[(counts.unscored_epochs, unscored), (counts.missing_epochs, missing)]);
    let by_epochs = samples_by_epochs(&counts.samples_by_epochs);
    let remarks = joined(by_epochs.into_iter().chain(joined(ignored, ", ")), "; ");
    Some(epochs + &remarks.map(|remarks| format!(" ({remarks})")).unwrap_or_default())
}

/// How many samples have how many epochs: `3 samples × 2, 47 × 4`; of more than a few numbers of epochs, nothing.
fn samples_by_epochs(counts: &[(usize, usize)]) -> Option<String> {
    const MOST: usize = 4;
    let [(epochs, samples), others @ ..] = counts else { return None };
    let first = format!("{} × {epochs}", counted(*samples as u64, "sample"));
    let others = others.iter().map(|(epochs, samples)| format!("{samples} × {epochs}"));
    let all: Vec<String> = std::iter::once(first).chain(others).collect();
    (all.len() <= MOST).then(|| all.join(", "))
}

/// Counts in words, where there is something to count.
fn nonzero(counts: &[(usize, &str)]) -> Vec<String> {
    counts.iter().filter(|(count, _)| *count > 0).map(|(count, what)| format!("{count} {what}")).collect()
}
