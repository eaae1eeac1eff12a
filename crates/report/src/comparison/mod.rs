//! What comparisons show: formats for people write the tables of `tables.rs`, those for machines the records of `record.rs`.
//!
//! Nothing here decides whether sides differ in another way than the figures that are shown: a verdict reads the interval
//! beside it, or the corrected p-value if there is a correction.

pub(crate) mod figures;
pub(crate) mod tables;

use std::fmt;

use errorbar_analysis::Comparisons;
use errorbar_core::{Defined, Direction, Estimate, Undefined};
use errorbar_inference::{
    Comparison, ComparisonReport, Correction, Gate, GateOutcome, Rank, Ranking, TestMethod,
};
use figures::{Verdict, alpha};
use serde_json::{Value as Json, json};

use crate::figure::{EstimateText, shown_error, shown_interval};
use crate::notes::{IntervalName, most_frequent, unique};
use crate::record::{
    ColumnType, Record, cluster_counts, degrees_of_freedom, has_known_ends, note, number, reasons, why,
};
use crate::text::{counted, joined, plain, width};

pub use errorbar_analysis::Flip;
pub(crate) use figures::{Finding, Pair, finding, lines, p_text, subject, two_digits};

/// The JSON schema of comparisons; see `docs/output.md`.
pub const COMPARISON_SCHEMA: &str = include_str!("../../schema/compare.schema.json");

/// Comparisons as they are to be shown: every [`Render`](crate::Render) writes them with `comparison`.
#[derive(Debug, Clone, Copy)]
pub struct ComparisonView<'a> {
    /// What was compared.
    pub report: &'a ComparisonReport,
    /// The samples that changed, if they were asked for.
    pub flips: Option<&'a [Flip]>,
    /// The number of samples that changed, if not all are listed.
    pub changed: Option<usize>,
    /// The title: the task, or the table that the scores are from.
    pub title: Option<&'a str>,
    /// The name of the only task, for JSON and CSV. Of several tasks each comparison has its own, and the mean over them has
    /// none.
    pub task: Option<&'a str>,
}

impl<'a> ComparisonView<'a> {
    /// Comparisons without a list of the samples that changed.
    pub fn new(report: &'a ComparisonReport) -> Self {
        ComparisonView { report, flips: None, changed: None, title: None, task: None }
    }

    /// A record for each comparison, as in JSON.
    pub fn records(&self) -> Vec<Record> {
        self.report.comparisons.iter().map(|one| record(one, self)).collect()
    }

    /// The comparisons of an answer, with what is shown beside them.
    pub fn of(comparisons: &'a Comparisons) -> Self {
        ComparisonView {
            report: &comparisons.report,
            flips: comparisons.flips.as_ref().map(|found| found.flips.as_slice()),
            changed: comparisons.flips.as_ref().map(|found| found.changed),
            title: comparisons.title.as_deref(),
            task: comparisons.task.as_deref(),
        }
    }

    /// The number of samples that changed, listed or not.
    pub(crate) fn changed_count(&self) -> Option<usize> {
        self.flips.map(|flips| self.changed.unwrap_or(flips.len()).max(flips.len()))
    }

    /// The task that comparisons without one are of.
    pub(crate) fn only_task(&self) -> Option<&'a str> {
        let has_tasks = self.report.comparisons.iter().any(|comparison| comparison.task.is_some());
        self.task.filter(|_| !has_tasks)
    }
}

// A comparison as one flat record: an object of `comparisons` in JSON, a row of CSV.

/// A column: its name, what it holds, and its value for a comparison.
type ComparisonColumn = (&'static str, ColumnType, fn(&Comparison, &ComparisonView<'_>) -> Json);

/// A difference is the other side's value minus the base's. What does not exist is null; a reason is in `undefined` if there
/// should be one.
const COLUMNS: [ComparisonColumn; 57] = {
    use ColumnType::{Bool, Float, Int, Ints, Json as Nested, Text, Unsigned};
    [
        ("base", Text, |c, _| c.base.as_str().into()),
        ("other", Text, |c, _| c.other.as_str().into()),
        ("scorer", Text, |c, _| c.scorer.as_str().into()),
        ("metric", Text, |c, _| c.metric.as_str().into()),
        // The group is null for all samples, and for the mean over groups.
        ("group_key", Text, |c, _| c.group_key.as_deref().into()),
        ("group", Text, |c, _| c.group.as_deref().into()),
        // Pairs; scores of both sides, if unpaired.
        ("n", Int, |c, _| c.n.into()),
        ("only_base", Int, |c, _| c.only_base.into()),
        ("only_other", Int, |c, _| c.only_other.into()),
        ("base_value", Float, |c, _| number(c.base_estimate.number())),
        ("other_value", Float, |c, _| number(c.other_estimate.number())),
        ("difference", Float, |c, _| number(c.difference.number())),
        ("stderr", Float, |c, _| se(&c.difference)),
        ("df", Float, |c, _| {
            number(degrees_of_freedom(shown_error(&c.difference), shown_interval(&c.difference)))
        }),
        ("lower", Float, |c, _| lower(&c.difference)),
        ("upper", Float, |c, _| upper(&c.difference)),
        ("level", Float, |c, _| number(shown_interval(&c.difference).map(|interval| interval.level))),
        ("method", Text, |c, _| method(&c.difference)),
        // Of the test of no difference, two-sided.
        ("p_value", Float, |c, _| number(c.test.as_ref().ok().map(|test| test.p_value))),
        ("test", Text, |c, _| c.test.as_ref().ok().map(|test| test.method.name()).into()),
        ("p_adjusted", Float, |c, _| number(c.p_adjusted)),
        ("correction", Text, |c, view| {
            let is_corrected = c.p_adjusted.is_some_and(f64::is_finite);
            view.report.options.correction.filter(|_| is_corrected).map(|correction| correction.name()).into()
        }),
        // Only for pairs of zeros and ones, as are `both_right` and `both_wrong`.
        ("p_mcnemar_exact", Float, |c, _| number(c.flips.map(|flips| flips.p_exact))),
        ("p_mcnemar_mid", Float, |c, _| number(c.flips.map(|flips| flips.p_mid))),
        ("p_sign_flip", Float, |c, _| number(c.p_sign_flip)),
        ("p_tost", Float, |c, _| number(c.p_tost)),
        // Pairs in which the other side is better, worse, the same.
        ("wins", Int, |c, _| c.wins.into()),
        ("losses", Int, |c, _| c.losses.into()),
        ("ties", Int, |c, _| c.ties.into()),
        ("correlation", Float, |c, _| number(c.correlation.as_ref().ok().copied())),
        // The share of the variance of an unpaired difference that pairing removed.
        ("variance_removed", Float, |c, _| number(c.variance_removed.as_ref().ok().copied())),
        // The smallest difference that these samples detect with a power of 80 %.
        ("mde", Float, |c, _| number(c.mde.as_ref().ok().copied())),
        ("gate", Text, |c, _| c.gate.map(|gate| gate.name()).into()),
        // Null for the mean over tasks.
        ("task", Text, |c, view| c.task.as_deref().or(view.only_task()).into()),
        ("reducer", Text, |c, _| c.reducer.as_deref().into()),
        ("field", Text, |c, _| c.field.as_deref().into()),
        ("direction", Text, |c, _| c.direction.name().into()),
        ("paired", Bool, |c, _| c.is_paired.into()),
        ("base_stderr", Float, |c, _| se(&c.base_estimate)),
        ("base_lower", Float, |c, _| lower(&c.base_estimate)),
        ("base_upper", Float, |c, _| upper(&c.base_estimate)),
        ("other_stderr", Float, |c, _| se(&c.other_estimate)),
        ("other_lower", Float, |c, _| lower(&c.other_estimate)),
        ("other_upper", Float, |c, _| upper(&c.other_estimate)),
        ("error_method", Text, |c, _| shown_error(&c.difference).map(|error| error.method.name()).into()),
        ("cluster", Nested, |c, _| (!c.cluster.is_empty()).then(|| c.cluster.clone()).into()),
        ("clusters", Ints, |c, _| {
            cluster_counts(shown_error(&c.difference).map_or(&[], |error| &error.clusters))
        }),
        ("side", Text, |c, _| shown_interval(&c.difference).map(|interval| interval.side.name()).into()),
        ("both_right", Int, |c, _| c.flips.map(|flips| flips.both_right).into()),
        ("both_wrong", Int, |c, _| c.flips.map(|flips| flips.both_wrong).into()),
        // Samples without a score on a side, and the difference if every one were the worst, or the best, for the other side.
        ("absent", Int, |c, _| c.difference.absent.into()),
        ("bound_worst", Float, |c, _| number(c.difference.bounds.map(|bounds| bounds.worst))),
        ("bound_best", Float, |c, _| number(c.difference.bounds.map(|bounds| bounds.best))),
        ("seed", Unsigned, |c, _| c.difference.draws.map(|draws| draws.seed).into()),
        ("draws", Int, |c, _| c.difference.draws.map(|draws| draws.count).into()),
        ("undefined", Nested, |c, _| undefined(c)),
        ("note", Text, |c, _| note(&c.difference).into()),
    ]
};

/// The names of the columns of [`ComparisonView::records`], in order, and what they hold.
pub fn comparison_columns() -> Vec<(&'static str, ColumnType)> {
    COLUMNS.iter().map(|(name, holds, _)| (*name, *holds)).collect()
}

/// A comparison as it is shown: with the name of the only task.
pub(super) fn record(comparison: &Comparison, view: &ComparisonView<'_>) -> Record {
    COLUMNS.iter().map(|(name, _, value)| ((*name).to_owned(), value(comparison, view))).collect()
}

fn se(estimate: &Estimate) -> Json {
    number(shown_error(estimate).map(|error| error.se))
}

fn lower(estimate: &Estimate) -> Json {
    number(shown_interval(estimate).map(|interval| interval.lower))
}

fn upper(estimate: &Estimate) -> Json {
    number(shown_interval(estimate).map(|interval| interval.upper))
}

fn method(estimate: &Estimate) -> Json {
    shown_interval(estimate).map(|interval| interval.method.to_string()).into()
}

fn undefined(c: &Comparison) -> Json {
    let p_value = c.test.as_ref().map(|test| test.p_value).map_err(Clone::clone);
    reasons([
        ("base_value", why_no_number(&c.base_estimate.value)),
        ("other_value", why_no_number(&c.other_estimate.value)),
        ("difference", why_no_number(&c.difference.value)),
        ("stderr", why_no_error(&c.difference)),
        ("interval", why_no_interval(&c.difference)),
        ("p_value", why_no_number(&p_value)),
        ("correlation", why_no_pairing(&c.correlation)),
        ("variance_removed", why_no_pairing(&c.variance_removed)),
        ("mde", why_no_number(&c.mde)),
    ])
}

fn why_no_number(part: &Defined<f64>) -> Option<String> {
    why(part, |number| number.is_finite())
}

/// Why a number about pairs does not exist: a figure that is no mean of per-sample numbers has none.
fn why_no_pairing(part: &Defined<f64>) -> Option<String> {
    match part {
        Err(Undefined::NotAvailable) => Some("not defined for this figure".to_owned()),
        part => why_no_number(part),
    }
}

/// Why an estimate shows no error.
pub(super) fn why_no_error(estimate: &Estimate) -> Option<String> {
    let is_shown = shown_error(estimate).is_some_and(|error| error.se.is_finite());
    why_not_shown(estimate, &estimate.error, is_shown, |error| error.se.is_finite())
}

/// Why an estimate shows no interval.
pub(super) fn why_no_interval(estimate: &Estimate) -> Option<String> {
    let is_shown = shown_interval(estimate).is_some_and(has_known_ends);
    why_not_shown(estimate, &estimate.interval, is_shown, |interval| interval.lower == interval.upper)
}

fn why_not_shown<T>(
    estimate: &Estimate,
    part: &Defined<T>,
    is_shown: bool,
    has_no_spread: impl Fn(&T) -> bool,
) -> Option<String> {
    let reason = || match (&estimate.value, part) {
        (Err(reason), _) | (Ok(_), Err(reason)) => reason.to_string(),
        (Ok(_), Ok(part)) if has_no_spread(part) => "no spread".to_owned(),
        (Ok(_), Ok(_)) => Undefined::Overflow.to_string(),
    };
    (!is_shown).then(reason)
}

/// A ranking as JSON has it: with the name of the only task.
pub(crate) fn ranking_record(ranking: &Ranking, view: &ComparisonView<'_>) -> Json {
    let rank = |rank: &Rank| {
        json!({
            "side": rank.side,
            "rank": rank.rank,
            "rank_best": rank.interval.0,
            "rank_worst": rank.interval.1,
            "tie_groups": rank.tie_groups,
            "value": number(rank.estimate.number()),
            "stderr": se(&rank.estimate),
            "lower": lower(&rank.estimate),
            "upper": upper(&rank.estimate),
            "method": method(&rank.estimate),
            "undefined": why_no_number(&rank.estimate.value),
        })
    };
    json!({
        "scorer": ranking.scorer,
        "reducer": ranking.reducer,
        "field": ranking.field,
        "metric": ranking.metric,
        "task": ranking.task.as_deref().or(view.only_task()),
        "n": ranking.n,
        "level": ranking.level,
        "ranks": ranking.ranks.iter().map(rank).collect::<Vec<_>>(),
    })
}

// What the symbols of comparisons mean, how figures were computed, and what a reader should know.

/// The name of a test for people.
pub(crate) fn test_title(method: TestMethod) -> &'static str {
    match method {
        TestMethod::T => "paired t test",
        TestMethod::McNemarMid => "McNemar's test, mid-p",
        TestMethod::McNemarExact => "McNemar's exact test",
        TestMethod::SignFlip => "exact sign-flip permutation",
        TestMethod::Bootstrap => "paired bootstrap",
        TestMethod::Welch => "Welch's t test",
        TestMethod::Newcombe => "Newcombe's interval, inverted",
        other => other.name(),
    }
}

/// What differences, errors (if any is shown), intervals and p-values are, each in a few words.
pub(crate) fn legend(report: &ComparisonReport, shows_errors: bool) -> Vec<String> {
    // The title has the names, whatever their length.
    const MOST: usize = 20;
    let is_short = report.sides.iter().all(|side| width(side) <= MOST);
    let mut words = vec![match report.sides.as_slice() {
        [base, other] if is_short => format!("difference = {other} − {base}"),
        [base, _, ..] if is_short => format!("difference = side − {base}"),
        [_, _, _, ..] => "difference = side − base".to_owned(),
        _ => "difference = other − base".to_owned(),
    }];
    words.extend(errors(report, shows_errors));
    words.extend(intervals(report));
    words.extend(tests(report));
    words
}

/// What symbols mean and what decides a verdict, for formats that show all errors.
pub(crate) fn explanation(report: &ComparisonReport) -> String {
    let words: Vec<String> = legend(report, true).into_iter().chain(verdicts(report)).collect();
    words.join(" · ")
}

/// What decides a verdict, and what could have been detected.
pub(crate) fn verdicts(report: &ComparisonReport) -> Vec<String> {
    let verdicts: Vec<Verdict> = report.comparisons.iter().map(|c| Verdict::of(c, report)).collect();
    let mut words = Vec::new();
    if let Some(first) =
        report.comparisons.first().filter(|_| verdicts.iter().any(|v| *v != Verdict::Unknown))
    {
        let is_ordered = |c: &Comparison| c.direction != Direction::Neither;
        let name = if report.comparisons.iter().any(is_ordered) { "better, worse" } else { "higher, lower" };
        let tests = report.comparisons.iter().filter(|c| c.p_adjusted.is_some()).count();
        words.push(match report.options.correction.filter(|_| tests > 0) {
            Some(correction) => {
                let by = correction_title(correction);
                format!(
                    "{name}: p < {}, corrected by {by} over {}",
                    plain(alpha(first)),
                    counted(tests as u64, "comparison")
                )
            }
            None if report.comparisons.iter().all(|c| shown_interval(&c.difference).is_none()) => {
                format!("{name}: p < {}", plain(alpha(first)))
            }
            None => format!("{name}: the interval excludes 0"),
        });
    }
    if report.comparisons.iter().any(|c| c.correlation.is_ok() || c.variance_removed.is_ok()) {
        words.push("r: correlation of the sides over pairs".to_owned());
        words.push("variance: what pairing did to it".to_owned());
    }
    if report.comparisons.iter().any(|c| c.mde.is_ok()) {
        words.push("detects: the smallest difference that is found with a power of 80 %".to_owned());
    }
    words
}

pub(super) fn correction_title(correction: Correction) -> &'static str {
    match correction {
        Correction::Holm => "Holm",
        Correction::Bh => "Benjamini–Hochberg",
        other => other.name(),
    }
}

/// `± one standard error (CR2 by passage)`; without a `±` to explain, what errors and intervals allow for.
fn errors(report: &ComparisonReport, shows_errors: bool) -> Option<String> {
    let error = |c: &Comparison| {
        let error = shown_error(&c.difference)?;
        if error.clusters.is_empty() {
            return Some(String::new());
        }
        let by = if c.cluster.is_empty() { "sample".to_owned() } else { c.cluster.join(" and ") };
        Some(format!("{} by {by}", error.method))
    };
    let found: Vec<String> = report.comparisons.iter().filter_map(error).collect();
    let how = most_frequent(&found)?;
    match (shows_errors, how.is_empty()) {
        (true, true) => Some("± one standard error".to_owned()),
        (true, false) => Some(format!("± one standard error ({how})")),
        (false, true) => None,
        (false, false) => Some(format!("errors: {how}")),
    }
}

/// `[95 % interval: bonett_price]`.
fn intervals(report: &ComparisonReport) -> Option<String> {
    let interval =
        |c: &Comparison| Some(format!("[{}]", IntervalName::of(shown_interval(&c.difference)?).text()));
    let found: Vec<String> = report.comparisons.iter().filter_map(interval).collect();
    alternatives(&found)
}

/// `p: McNemar's test, mid-p (two-sided)`.
fn tests(report: &ComparisonReport) -> Option<String> {
    let found = report.comparisons.iter().filter_map(|c| c.test.as_ref().ok());
    let found: Vec<String> = found.map(|test| test_title(test.method).to_owned()).collect();
    alternatives(&found).map(|names| format!("p: {names}, two-sided"))
}

/// The different ones, the most frequent first.
fn alternatives(found: &[String]) -> Option<String> {
    let most = most_frequent(found)?;
    Some(
        unique(std::iter::once(&most).chain(found))
            .into_iter()
            .map(String::as_str)
            .collect::<Vec<_>>()
            .join(" or "),
    )
}

/// What the gate demands, and what was decided.
pub(crate) struct GateSummary {
    /// The worst outcome of all.
    pub(crate) outcome: GateOutcome,
    /// What must hold.
    pub(crate) claim: String,
    /// Why; of several comparisons, how many had which outcome.
    pub(crate) reason: String,
}

impl fmt::Display for GateSummary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "gate \"{}\" {}: {}", self.claim, self.outcome.name(), self.reason)
    }
}

/// What the gate decided, if there is one.
pub(crate) fn gates(report: &ComparisonReport) -> Option<GateSummary> {
    let rule = report.options.gate?;
    let gated: Vec<(&Comparison, GateOutcome)> =
        report.comparisons.iter().filter_map(|c| Some((c, c.gate?))).collect();
    let counts = [GateOutcome::Failed, GateOutcome::Undecided, GateOutcome::Passed]
        .map(|wanted| (gated.iter().filter(|(_, outcome)| *outcome == wanted).count(), wanted));
    let mut counts = counts.into_iter().filter(|(count, _)| *count > 0).peekable();
    let outcome = counts.peek()?.1;
    let reason = match gated.as_slice() {
        [(comparison, outcome)] => gate_why(rule, *outcome, comparison, ""),
        _ => joined(counts.map(|(count, outcome)| format!("{count} {}", outcome.name())), ", ")?,
    };
    Some(GateSummary { outcome, claim: gate_claim(rule), reason })
}

// What a gate demands and decides, in words.

/// The name of a gate in machine-readable output, and its margin.
pub(crate) fn gate_rule(gate: Gate) -> (&'static str, Option<f64>) {
    match gate {
        Gate::NotWorse => ("not_worse", None),
        Gate::Margin(margin) => ("margin", Some(margin)),
        Gate::Equivalent(margin) => ("equivalent", Some(margin)),
        Gate::MinDifference(difference) => ("min_difference", Some(difference)),
        _ => ("other", None),
    }
}

/// What must hold: `not worse by 0.02 or more`.
pub(crate) fn gate_claim(gate: Gate) -> String {
    match gate {
        Gate::NotWorse => "not worse".to_owned(),
        Gate::Margin(margin) => format!("not worse by {} or more", plain(margin)),
        Gate::Equivalent(margin) => format!("the same within ± {}", plain(margin)),
        Gate::MinDifference(difference) => format!("better by more than {}", plain(difference)),
        _ => "a gate".to_owned(),
    }
}

/// What was decided and why: `gate "not worse" failed: the interval [-0.042, -0.012] lies below 0`. Of a run that was stopped
/// early, also that the interval does not allow for it.
pub fn gate_reason(gate: Gate, outcome: GateOutcome, comparison: &Comparison) -> String {
    let ends = EstimateText::from(&comparison.difference).interval_text();
    let stop = &comparison.difference.notes.early_stop;
    let caution = stop.as_ref().map(|stop| format!("; {stop}")).unwrap_or_default();
    format!(
        "gate \"{}\" {}: {}{caution}",
        gate_claim(gate),
        outcome.name(),
        gate_why(gate, outcome, comparison, &format!(" {ends}"))
    )
}

/// The same beside the interval, and where the gate is named elsewhere: `gate failed: the interval lies below 0`.
pub(super) fn short_reason(gate: Gate, outcome: GateOutcome, comparison: &Comparison) -> String {
    format!("gate {}: {}", outcome.name(), gate_why(gate, outcome, comparison, ""))
}

/// `the interval lies below 0`.
pub(super) fn gate_why(gate: Gate, outcome: GateOutcome, comparison: &Comparison, ends: &str) -> String {
    if shown_interval(&comparison.difference).is_none() {
        let why = why_no_interval(&comparison.difference).map(|reason| format!(" ({reason})"));
        return format!("there is no interval{}", why.unwrap_or_default());
    }
    // A loss is better if it is lower.
    let (sign, worse, better) = match comparison.direction {
        Direction::Lower => (-1.0, "above", "below"),
        _ => (1.0, "below", "above"),
    };
    let limit = match gate {
        Gate::NotWorse => "0".to_owned(),
        Gate::Margin(margin) => plain(-sign * margin),
        Gate::Equivalent(margin) => format!("± {}", plain(margin)),
        Gate::MinDifference(difference) => plain(sign * difference),
        _ => return "by a rule that is not known".to_owned(),
    };
    let how = match (outcome, gate) {
        (GateOutcome::Passed, Gate::Equivalent(_)) => "lies within",
        (GateOutcome::Passed, Gate::NotWorse) => &format!("is not {worse}"),
        (GateOutcome::Passed, _) => &format!("lies {better}"),
        (GateOutcome::Failed, Gate::Equivalent(_)) => "lies outside",
        (GateOutcome::Failed, _) => &format!("lies {worse}"),
        (_, Gate::Equivalent(_)) => "reaches beyond",
        _ => "contains",
    };
    format!("the interval{ends} {how} {limit}")
}
