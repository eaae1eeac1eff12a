//! What a gate demands and decides, in words.

use errorbar_core::Direction;
use errorbar_inference::{Comparison, Gate, GateOutcome};

use super::record::{interval_of, why_no_interval};
use crate::figure::EstimateText;
use crate::number::plain;

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
