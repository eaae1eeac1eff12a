//! What the symbols of comparisons mean, how figures were computed, and what a reader should know.

use std::fmt;

use errorbar_core::Direction;
use errorbar_inference::{Comparison, ComparisonReport, Correction, GateOutcome, TestMethod};

use super::gate;
use super::record::{error_of, interval_of};
use super::verdict::{Verdict, alpha};
use crate::notes::{IntervalName, most_frequent, unique};
use crate::number::{counted, plain};
use crate::text::width;

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
        [(comparison, outcome)] => gate::why(rule, *outcome, comparison, ""),
        _ => counts.join(", "),
    };
    Some(GateSummary { outcome, claim: gate::claim(rule), reason })
}

/// What a reader should know, a sentence each.
pub(crate) fn warnings(report: &ComparisonReport) -> Vec<String> {
    report.warnings.iter().map(ToString::to_string).collect()
}
