//! What gates decide, and what an open result means for the outcome.

use errorbar_analysis::{Diagnostic, Diagnostics, GateRequest, Opt, counted, significant, text};
use errorbar_inference::{Comparison, ComparisonReport, Gate, GateOutcome};

use crate::{EstimateText, gate_name, gate_reason, gate_subject};

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
    let alpha = request.alpha();
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
    let holds = match gate {
        Gate::NotWorse => worst >= 0.0,
        Gate::Margin(margin) => worst > -margin,
        Gate::Equivalent(margin) => worst > -margin && best < margin,
        Gate::MinDifference(least) => worst > least,
        _ => true,
    };
    (!holds).then(|| {
        let ends = format!("{} to {}", significant(worst, 3), significant(best, 3));
        let absent = counted(comparison.difference.absent, "sample");
        Diagnostic::warning(format!(
            "{} passed without the {absent} that a side has no score for; with them the difference may be {ends}",
            gate_name(comparison, gate)
        ))
    })
}

#[cfg(test)]
mod tests {
    use super::roughly;

    #[test]
    fn numbers_of_samples_are_rough() {
        let rough = [1.2, 99.0, 99.5, 664.2, 2659.0, 123_456.0].map(roughly);
        assert_eq!(rough, ["2", "99", "100", "670", "2700", "130000"]);
    }
}
