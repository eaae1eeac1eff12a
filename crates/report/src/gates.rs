//! What gates decide, and what an open result means for the outcome.

use std::fmt::Write as _;

use errorbar_analysis::{Diagnostic, Diagnostics, GateRequest, Opt, counted, significant, text};
use errorbar_core::Estimate;
use errorbar_inference::{Comparison, ComparisonReport, Gate, GateOutcome};

use crate::EstimateText;
use crate::comparison::{gate_claim, gate_reason, lines, subject};
use crate::text::is_unsafe;

/// What the gate of a comparison decided, and so the outcome: failures, and warnings where nothing is decided.
pub fn gate_diagnostics(report: &ComparisonReport, request: &GateRequest) -> Diagnostics {
    let Some(gate) = report.options.gate else { return Diagnostics::default() };
    let gated: Vec<(&Comparison, GateOutcome)> =
        report.comparisons.iter().filter_map(|one| Some((one, one.gate?))).collect();
    let mut diagnostics = Diagnostics::default();
    if gated.is_empty() {
        let problem =
            "the gate has nothing to decide: it is about metrics of which more is better, over all samples";
        let hint = text!("name one, such as {}", Opt::Metric.set("NAME"));
        diagnostics.push(Diagnostic::error(problem).hint(hint));
    }
    for (comparison, outcome) in &gated {
        diagnostics.extend(decision(request, gate, *outcome, comparison));
        diagnostics.extend(unscored(gate, *outcome, comparison));
    }
    diagnostics.extend(several(request, gate, gated.len()));
    diagnostics
}

/// What is to be reported of one comparison; nothing if it passed, unless the interval may be wrong because a run was
/// stopped early.
fn decision(
    request: &GateRequest,
    gate: Gate,
    outcome: GateOutcome,
    comparison: &Comparison,
) -> Option<Diagnostic> {
    let difference = EstimateText::from(&comparison.difference).signed();
    let reason = gate_reason(gate, outcome, comparison);
    let text = format!("{}: {}: {reason}", gate_subject(comparison), difference.short());
    match outcome {
        GateOutcome::Passed => {
            comparison.difference.notes.early_stop.is_some().then(|| Diagnostic::warning(text))
        }
        GateOutcome::Undecided => {
            let is_met = request.is_met(outcome);
            let diagnostic = if is_met { Diagnostic::warning(text) } else { Diagnostic::failure(text) };
            Some(diagnostic.hint_if(detectable(gate, comparison)))
        }
        _ => Some(Diagnostic::failure(text)),
    }
}

/// A search for a loss in several places finds one by chance more often.
fn several(request: &GateRequest, gate: Gate, count: usize) -> Option<Diagnostic> {
    if gate.is_claim() || count < 2 {
        return None;
    }
    let alpha = request.alpha_or_default();
    let any = (alpha * count as f64).min(1.0);
    let text = format!(
        "the gate reads {count} comparisons, each with α = {}: up to {} % of runs fail by chance",
        shown(alpha),
        significant(100.0 * any, 2),
    );
    let each = significant(alpha / count as f64, 2);
    Some(Diagnostic::warning(text).hint(text!(
        "{} keeps all of them together at {}",
        Opt::Alpha.set(each),
        shown(alpha)
    )))
}

/// A number as it was given: 1 − 2 · 0.05 is 0.9.
fn shown(number: f64) -> String {
    ((number * 1e9).round() / 1e9).to_string()
}

/// A number of samples, rounded up to two digits.
fn roughly(number: f64) -> String {
    let mut unit = 1.0;
    while number / unit >= 100.0 && unit < 1e15 {
        unit *= 10.0;
    }
    ((number / unit).ceil() * unit).to_string()
}

/// What samples like these can tell, if that explains why nothing was decided.
fn detectable(gate: Gate, comparison: &Comparison) -> Option<String> {
    let detectable = gate.detectable(comparison).ok().filter(|difference| *difference > 0.0)?;
    let (n, difference) = (comparison.n, significant(detectable, 2));
    let samples = counted(n, "sample");
    Some(match (gate, gate.shortfall(comparison)) {
        (Gate::Margin(margin) | Gate::Equivalent(margin), Some(_)) => {
            let ratio = detectable / margin;
            let needed = roughly(n as f64 * ratio * ratio);
            format!(
                "{samples} cannot decide this: if both sides are equal, they show it within {difference} in 8 of 10 \
                 cases; {} takes about {needed} such samples",
                shown(margin)
            )
        }
        (_, Some(_)) => format!(
            "{samples} cannot decide this: the smallest difference that they show in 8 of 10 cases is {difference}, and \
             there is none as large"
        ),
        (Gate::MinDifference(least), None) => {
            let needed = significant(least + detectable, 2);
            format!("{samples} show it in 8 of 10 cases if the difference is {needed} or more")
        }
        (_, None) => {
            // Equivalence reads both ends.
            let by = if matches!(gate, Gate::Equivalent(_)) { "" } else { " (one-sided, as the gate)" };
            format!(
                "the smallest difference that {samples} like these show in 8 of 10 cases is {difference}{by}"
            )
        }
    })
}

/// A gate that passes may not, if samples without a score counted.
fn unscored(gate: Gate, outcome: GateOutcome, comparison: &Comparison) -> Option<Diagnostic> {
    let bounds = comparison.difference.bounds.filter(|_| outcome == GateOutcome::Passed)?;
    let (worst, best) = (bounds.worst, bounds.best);
    let with_them = Estimate::new(0.0).with_interval(worst, best, 0.95);
    (gate.outcome(&with_them) != GateOutcome::Passed).then(|| {
        let ends = format!("{} to {}", significant(worst, 3), significant(best, 3));
        let absent = counted(comparison.difference.absent, "sample");
        Diagnostic::warning(format!(
            "{} passed without the {absent} that a side has no score for; with them the difference may be {ends}",
            gate_name(comparison, gate)
        ))
    })
}

// Test suites as JUnit XML, for CI systems that show what passed and what failed.

/// A suite of test cases: what gates and requirements decided.
///
/// ```
/// use errorbar_report::{CaseOutcome, JUnitCase, TestSuite};
///
/// let case = |name: &str, outcome, details| {
///     JUnitCase { name: name.to_owned(), class_name: "almanac.choice".to_owned(), outcome, details }
/// };
/// let failed = CaseOutcome::Failed("0.819 < 0.9".to_owned());
/// let cases = vec![
///     case("accuracy >= 0.7", CaseOutcome::Passed, None),
///     case("accuracy >= 0.9", failed, Some("accuracy 0.819 ± 0.034".to_owned())),
/// ];
/// let suite = TestSuite { name: "errorbar compare".to_owned(), cases };
/// assert_eq!(suite.failures(), 1);
/// assert!(suite.to_xml().contains("<failure message=\"0.819 &lt; 0.9\""));
/// ```
#[derive(Debug, Clone, Default, PartialEq)]
pub struct TestSuite {
    /// What the suite is called.
    pub name: String,
    /// Its cases.
    pub cases: Vec<JUnitCase>,
}

/// One test case.
#[derive(Debug, Clone, PartialEq)]
pub struct JUnitCase {
    /// What is claimed: `accuracy >= 0.8`.
    pub name: String,
    /// What it is claimed about; CI systems group cases by it.
    pub class_name: String,
    /// What was decided.
    pub outcome: CaseOutcome,
    /// The figures, and what else a reader of a log wants to see.
    pub details: Option<String>,
}

/// What was decided about a test case.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum CaseOutcome {
    /// The claim holds.
    Passed,
    /// It does not, or must be shown and is not; with the reason.
    Failed(String),
    /// It is open and need not be shown; with the reason.
    Skipped(String),
}

impl TestSuite {
    /// How many cases failed.
    pub fn failures(&self) -> usize {
        self.cases.iter().filter(|case| matches!(case.outcome, CaseOutcome::Failed(_))).count()
    }

    /// How many cases were not decided.
    pub fn skipped(&self) -> usize {
        self.cases.iter().filter(|case| matches!(case.outcome, CaseOutcome::Skipped(_))).count()
    }

    /// The suite as an XML document. It has no times: they would differ from run to run and are not about the gates.
    pub fn to_xml(&self) -> String {
        let counts = format!(
            "tests=\"{}\" failures=\"{}\" errors=\"0\" skipped=\"{}\"",
            self.cases.len(),
            self.failures(),
            self.skipped()
        );
        let name = escaped(&self.name, true);
        let mut xml = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
        let _ =
            writeln!(xml, "<testsuites name=\"{name}\" {counts}>\n  <testsuite name=\"{name}\" {counts}>");
        self.cases.iter().for_each(|case| xml += &case.to_xml());
        xml + "  </testsuite>\n</testsuites>\n"
    }
}

impl JUnitCase {
    fn to_xml(&self) -> String {
        let (name, class) = (escaped(&self.name, true), escaped(&self.class_name, true));
        let details = self.details.as_deref().unwrap_or_default();
        let inner = match &self.outcome {
            CaseOutcome::Passed => String::new(),
            CaseOutcome::Failed(reason) => {
                let body = if details.is_empty() { reason } else { details };
                let message = escaped(reason, true);
                format!(
                    "      <failure message=\"{message}\" type=\"gate\">{}</failure>\n",
                    escaped(body, false)
                )
            }
            CaseOutcome::Skipped(reason) => {
                format!("      <skipped message=\"{}\"/>\n", escaped(reason, true))
            }
        };
        // A failure shows its details itself.
        let is_failure = matches!(self.outcome, CaseOutcome::Failed(_));
        let output = Some(details).filter(|details| !details.is_empty() && !is_failure);
        let output =
            output.map(|details| format!("      <system-out>{}</system-out>\n", escaped(details, false)));
        let inner = inner + &output.unwrap_or_default();
        let head = format!("    <testcase name=\"{name}\" classname=\"{class}\"");
        if inner.is_empty() { format!("{head}/>\n") } else { format!("{head}>\n{inner}    </testcase>\n") }
    }
}

/// A test case for each comparison with a gate. A gate that is not decided is a failure if it claims something, or if
/// `decisive` asks for a decision; else it is skipped.
pub fn gate_cases(report: &ComparisonReport, decisive: bool) -> TestSuite {
    let mut suite = TestSuite { name: "errorbar compare".to_owned(), cases: Vec::new() };
    let Some(rule) = report.options.gate else { return suite };
    for comparison in &report.comparisons {
        let Some(outcome) = comparison.gate else { continue };
        let reason = gate_reason(rule, outcome, comparison);
        let must_hold = decisive || rule != Gate::NotWorse;
        let outcome = match outcome {
            GateOutcome::Passed => CaseOutcome::Passed,
            GateOutcome::Undecided if !must_hold => CaseOutcome::Skipped(reason),
            _ => CaseOutcome::Failed(reason),
        };
        let details = Some(lines(comparison, report).join("\n"));
        let (name, class_name) = (gate_name(comparison, rule), class_name(comparison));
        suite.cases.push(JUnitCase { name, class_name, outcome, details });
    }
    suite
}

/// What a gate is about: `magpie: accuracy`, `magpie: accuracy (almanac)` of a task.
pub fn gate_subject(comparison: &Comparison) -> String {
    format!("{}: {}", comparison.other, subject(comparison))
}

/// A gate with what it is about: `magpie: accuracy (almanac): gate "not worse by 0.02 or more"`.
pub fn gate_name(comparison: &Comparison, rule: Gate) -> String {
    format!("{}: gate \"{}\"", gate_subject(comparison), gate_claim(rule))
}

/// The task if there are several, then the base and the scorer.
fn class_name(comparison: &Comparison) -> String {
    let parts =
        [comparison.task.as_deref(), Some(comparison.base.as_str()), Some(comparison.scorer.as_str())];
    parts.into_iter().flatten().collect::<Vec<_>>().join(".")
}

fn escaped(value: &str, is_attribute: bool) -> String {
    let mut escaped = String::with_capacity(value.len());
    for c in value.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            // `]]>` must not be in a text.
            '>' => escaped.push_str("&gt;"),
            '"' if is_attribute => escaped.push_str("&quot;"),
            // Parsers turn it into a line break, and line breaks of attributes into blanks.
            '\r' => escaped.push_str("&#13;"),
            '\n' if is_attribute => escaped.push_str("&#10;"),
            '\t' if is_attribute => escaped.push_str("&#9;"),
            '\n' | '\t' => escaped.push(c),
            // Those that XML does not have are among them.
            c if is_unsafe(c) => escaped.push(crate::REPLACEMENT),
            c => escaped.push(c),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::{escaped, roughly};

    fn text(value: &str) -> String {
        escaped(value, false)
    }

    #[test]
    fn numbers_of_samples_are_rough() {
        let rough = [1.2, 99.0, 99.5, 664.2, 2659.0, 123_456.0].map(roughly);
        assert_eq!(rough, ["2", "99", "100", "670", "2700", "130000"]);
    }

    #[test]
    fn no_character_turns_or_hides_a_text() {
        let unsafe_ones = "a\u{202e}b\u{9b}c\u{7f}d\u{0}e\u{fffe}f\u{200b}";
        assert_eq!(text(unsafe_ones), "a\u{fffd}b\u{fffd}c\u{fffd}d\u{fffd}e\u{fffd}f\u{fffd}");
        assert_eq!(escaped(unsafe_ones, true), text(unsafe_ones));
        assert_eq!(
            (text("a\tb\nc"), escaped("a\tb\nc", true)),
            ("a\tb\nc".to_owned(), "a&#9;b&#10;c".to_owned())
        );
    }
}
