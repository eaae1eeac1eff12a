//! The words above figures: where they come from, what was scored how, and how many there were.

use errorbar_core::ScoreResult;

use crate::number::counted;
use crate::{PartialRun, Report};

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
pub(crate) fn remarks(report: &Report) -> Vec<String> {
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
    let mut epochs = match counts.samples_by_epochs.as_slice() {
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
    let remarks: Vec<String> =
        by_epochs.into_iter().chain((!ignored.is_empty()).then(|| ignored.join(", "))).collect();
    if !remarks.is_empty() {
        epochs += &format!(" ({})", remarks.join("; "));
    }
    Some(epochs)
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
