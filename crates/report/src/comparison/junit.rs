//! Gates as test cases.

use errorbar_inference::{Comparison, ComparisonReport, Gate, GateOutcome};

use super::{figures, gate};
use crate::{JUnitCase, TestSuite};

/// A test case for each comparison with a gate. A gate that is not decided is a failure if it claims something, or if
/// `decisive` asks for a decision; else it is skipped.
pub fn gate_cases(report: &ComparisonReport, decisive: bool) -> TestSuite {
    let mut suite = TestSuite::new("errorbar compare");
    let Some(rule) = report.options.gate else { return suite };
    for comparison in &report.comparisons {
        let Some(outcome) = comparison.gate else { continue };
        let (name, class) = (gate_name(comparison, rule), class_name(comparison));
        let reason = gate::gate_reason(rule, outcome, comparison);
        let must_hold = decisive || rule != Gate::NotWorse;
        let case = match outcome {
            GateOutcome::Passed => JUnitCase::passed(name, class),
            GateOutcome::Undecided if !must_hold => JUnitCase::skipped(name, class, reason),
            _ => JUnitCase::failed(name, class, reason),
        };
        suite.push(case.details(figures::lines(comparison, report).join("\n")));
    }
    suite
}

/// What a gate is about: `magpie: accuracy`, `magpie: accuracy (almanac)` of a task.
pub fn gate_subject(comparison: &Comparison) -> String {
    format!("{}: {}", comparison.other, figures::subject(comparison))
}

/// A gate with what it is about: `magpie: accuracy (almanac): gate "not worse by 0.02 or more"`.
pub fn gate_name(comparison: &Comparison, rule: Gate) -> String {
    format!("{}: gate \"{}\"", gate_subject(comparison), gate::claim(rule))
}

/// The task if there are several, then the base and the scorer.
fn class_name(comparison: &Comparison) -> String {
    let parts =
        [comparison.task.as_deref(), Some(comparison.base.as_str()), Some(comparison.scorer.as_str())];
    parts.into_iter().flatten().collect::<Vec<_>>().join(".")
}
