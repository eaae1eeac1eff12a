//! Gates of `errorbar compare`: what the difference must show, and the exit code.
//!
//! A gate reads the interval that is shown, so it sets its level: 1 − 2α. What it decides is core's
//! [`Gate::outcome`]; here is what an open result means for the exit code, and what to do about it.

use std::path::PathBuf;

use clap::{ArgGroup, Args};
use errorbar_core::{ErrorPlan, Side};
use errorbar_inference::{Comparison, ComparisonReport, Gate, GateOutcome};
use errorbar_report::{EstimateText, gate_cases, gate_name, gate_reason, gate_subject};

use super::common::{counted, significant};
use super::error_args::ErrorArgs;
use super::junit;
use crate::diagnostic::{Diagnostic, Diagnostics};

/// What the difference must show, else the exit code is 1.
#[derive(Debug, Args)]
#[command(next_help_heading = "Gates", group = ArgGroup::new("gate").multiple(false))]
pub(crate) struct GateArgs {
    /// Fail if the other side is worse: the interval of the difference lies below 0. If it contains 0, this
    /// is a warning
    #[arg(long, group = "gate")]
    fail_if_worse: bool,
    /// Fail unless the other side is not worse by M or more: the interval must lie above −M
    #[arg(long, value_name = "M", group = "gate", allow_negative_numbers = true)]
    margin: Option<f64>,
    /// Fail unless both sides are the same within ± M: the interval must lie within
    #[arg(long, value_name = "M", group = "gate", allow_negative_numbers = true)]
    equivalent: Option<f64>,
    /// Fail unless the other side is better by more than D: the interval must lie above D
    #[arg(long, value_name = "D", group = "gate", allow_negative_numbers = true)]
    min_difference: Option<f64>,
    /// The probability of a wrong decision; the interval has the level 1 − 2α [default: 0.05]
    #[arg(long, value_name = "P", requires = "gate", allow_negative_numbers = true)]
    alpha: Option<f64>,
    /// Fail if the interval leaves open what --fail-if-worse asks, too
    #[arg(long, requires = "gate")]
    decisive: bool,
    /// Write what the gate decides to this file, as JUnit XML
    #[arg(long, value_name = "FILE", requires = "gate")]
    junit: Option<PathBuf>,
}

impl GateArgs {
    /// What must hold, if anything must.
    pub(crate) fn gate(&self) -> Option<Gate> {
        let worse = self.fail_if_worse.then_some(Gate::NotWorse);
        worse
            .or(self.margin.map(Gate::Margin))
            .or(self.equivalent.map(Gate::Equivalent))
            .or(self.min_difference.map(Gate::MinDifference))
    }

    fn alpha(&self) -> f64 {
        self.alpha.unwrap_or(Gate::ALPHA)
    }

    /// Checks the options before anything is read.
    pub(crate) fn check(&self, errors: &ErrorArgs) -> Result<(), Diagnostic> {
        let Some(gate) = self.gate() else { return Ok(()) };
        gate.check(self.alpha())
            .map_err(|error| Diagnostic::error(error.to_string()).hint(self.example()))?;
        let level = Gate::level(self.alpha());
        if let Some(given) = errors.level().filter(|given| (given - level).abs() > 1e-9) {
            let (alpha, level) = (shown(self.alpha()), shown(level));
            let problem = format!(
                "--level {given} contradicts the gate: it reads the interval that is shown, whose level is \
                 1 − 2α = {level} for α = {alpha}"
            );
            let same = shown((1.0 - given) / 2.0);
            return Err(Diagnostic::error(problem).hint(format!("omit --level, or give --alpha {same}")));
        }
        if errors.side().is_some_and(|side| side != Side::TwoSided) {
            let problem = "a gate reads both ends of the interval: each is a bound at α";
            return Err(Diagnostic::error(problem).about("--side").hint("omit --side"));
        }
        self.junit.as_deref().map_or(Ok(()), junit::check)
    }

    /// What a number of the gate looks like.
    fn example(&self) -> &'static str {
        match self.gate() {
            Some(Gate::Equivalent(_)) => "such as --equivalent 0.02",
            Some(Gate::MinDifference(_)) => {
                "such as --min-difference 0.01; that it is not worse by more is --margin 0.01"
            }
            _ => "such as --margin 0.02 and --alpha 0.05",
        }
    }

    /// Sets how intervals are computed: the gate reads those that are shown.
    pub(crate) fn apply(&self, errors: &mut ErrorPlan) {
        if self.gate().is_some() {
            (errors.level, errors.side) = (Some(Gate::level(self.alpha())), None);
        }
    }

    /// What the gate decided, and so the exit code; also as a file of test results.
    pub(crate) fn verdict(&self, report: &ComparisonReport) -> Diagnostics {
        let Some(gate) = report.options.gate else { return Diagnostics::default() };
        let gated: Vec<(&Comparison, GateOutcome)> =
            report.comparisons.iter().filter_map(|one| Some((one, one.gate?))).collect();
        let mut diagnostics = Diagnostics::default();
        if gated.is_empty() {
            let problem = "the gate has nothing to decide: it is about metrics of which more is better, over all samples";
            diagnostics.push(Diagnostic::error(problem).hint("name one, such as --metric accuracy"));
        }
        for (comparison, outcome) in &gated {
            diagnostics.extend(self.decision(gate, *outcome, comparison));
            diagnostics.extend(unscored(gate, *outcome, comparison));
        }
        diagnostics.extend(self.several(gate, gated.len()));
        if let Some(path) = &self.junit {
            diagnostics.extend(junit::write(path, &gate_cases(report, self.decisive)).err());
        }
        diagnostics
    }

    /// What is to be reported of one comparison; nothing if it passed, unless the interval may be wrong because a run was
    /// stopped early.
    fn decision(&self, gate: Gate, outcome: GateOutcome, comparison: &Comparison) -> Option<Diagnostic> {
        let difference = EstimateText::from(&comparison.difference).signed();
        let reason = gate_reason(gate, outcome, comparison);
        let text = format!("{}: {}: {reason}", gate_subject(comparison), difference.short());
        match outcome {
            GateOutcome::Passed => {
                comparison.difference.notes.early_stop.is_some().then(|| Diagnostic::warning(text))
            }
            GateOutcome::Undecided => {
                let is_needed = self.decisive || gate.is_claim();
                let diagnostic =
                    if is_needed { Diagnostic::failure(text) } else { Diagnostic::warning(text) };
                Some(diagnostic.hint_if(detectable(gate, comparison)))
            }
            _ => Some(Diagnostic::failure(text)),
        }
    }

    /// A search for a loss in several places finds one by chance more often.
    fn several(&self, gate: Gate, count: usize) -> Option<Diagnostic> {
        if gate.is_claim() || count < 2 {
            return None;
        }
        let alpha = self.alpha();
        let any = (alpha * count as f64).min(1.0);
        let text = format!(
            "the gate reads {count} comparisons, each with α = {}: up to {} % of runs fail by chance",
            shown(alpha),
            significant(100.0 * any, 2),
        );
        let each = significant(alpha / count as f64, 2);
        Some(
            Diagnostic::warning(text)
                .hint(format!("--alpha {each} keeps all of them together at {}", shown(alpha))),
        )
    }
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
