//! What the symbols of comparisons mean, how figures were computed, and what a reader should know.

use std::fmt;

use errorbar_core::Direction;
use errorbar_inference::{Comparison, ComparisonReport, Correction, Gate, GateOutcome, TestMethod};

use super::figures::{Verdict, alpha};
use super::{error_of, interval_of, why_no_interval};
use crate::figure::EstimateText;
use crate::notes::{IntervalName, most_frequent, unique};
use crate::text::{counted, plain, width};

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
            None if report.comparisons.iter().all(|c| interval_of(&c.difference).is_none()) => {
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
        let error = error_of(&c.difference)?;
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
        |c: &Comparison| Some(format!("[{}]", IntervalName::of(interval_of(&c.difference)?).text()));
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
#[derive(Debug, Clone, PartialEq)]
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
    let outcomes: Vec<GateOutcome> = gated.iter().map(|(_, outcome)| *outcome).collect();
    let worst = [GateOutcome::Failed, GateOutcome::Undecided, GateOutcome::Passed];
    let outcome = worst.into_iter().find(|worst| outcomes.contains(worst))?;
    let counts = worst.map(|wanted| (outcomes.iter().filter(|outcome| **outcome == wanted).count(), wanted));
    let counts: Vec<String> = counts
        .iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, outcome)| format!("{count} {}", outcome.name()))
        .collect();
    let reason = match gated.as_slice() {
        [(comparison, outcome)] => why(rule, *outcome, comparison, ""),
        _ => counts.join(", "),
    };
    Some(GateSummary { outcome, claim: claim(rule), reason })
}

/// What a reader should know, a sentence each.
pub(crate) fn warnings(report: &ComparisonReport) -> Vec<String> {
    report.warnings.iter().map(ToString::to_string).collect()
}

// What a gate demands and decides, in words.

/// The name of a gate in machine-readable output, and its margin.
pub(crate) fn rule(gate: Gate) -> (&'static str, Option<f64>) {
    match gate {
        Gate::NotWorse => ("not_worse", None),
        Gate::Margin(margin) => ("margin", Some(margin)),
        Gate::Equivalent(margin) => ("equivalent", Some(margin)),
        Gate::MinDifference(difference) => ("min_difference", Some(difference)),
        _ => ("other", None),
    }
}

/// What must hold: `not worse by 0.02 or more`.
pub(crate) fn claim(gate: Gate) -> String {
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
        claim(gate),
        outcome.name(),
        why(gate, outcome, comparison, &format!(" {ends}"))
    )
}

/// The same beside the interval, and where the gate is named elsewhere: `gate failed: the interval lies below 0`.
pub(super) fn short_reason(gate: Gate, outcome: GateOutcome, comparison: &Comparison) -> String {
    format!("gate {}: {}", outcome.name(), why(gate, outcome, comparison, ""))
}

/// `the interval lies below 0`.
pub(super) fn why(gate: Gate, outcome: GateOutcome, comparison: &Comparison, ends: &str) -> String {
    if interval_of(&comparison.difference).is_none() {
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
