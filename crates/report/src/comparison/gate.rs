//! What a gate demands and decides, in words.

use errorbar_core::{Comparison, Gate, GateOutcome};

use crate::figure::EstimateText;
use crate::number::{counted, plain};

/// The name of a gate in machine-readable output, and its margin.
pub(super) fn rule(gate: Gate) -> (&'static str, Option<f64>) {
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

/// What was decided and why: `gate failed: [-0.042, -0.012] lies below 0`.
pub fn gate_reason(gate: Gate, outcome: GateOutcome, comparison: &Comparison) -> String {
    let word = outcome.name();
    let figure = EstimateText::from(&comparison.difference).signed();
    let Some(ends) = Some(figure.interval_text()).filter(|text| !text.is_empty()) else {
        let why = comparison.difference.interval.as_ref().err().map(|reason| format!(" ({reason})"));
        return format!("gate {word}: there is no interval{}", why.unwrap_or_default());
    };
    let (lower, upper) = match gate {
        Gate::NotWorse => (f64::NEG_INFINITY, 0.0),
        Gate::Margin(margin) => (-margin, f64::INFINITY),
        Gate::Equivalent(margin) => (-margin, margin),
        Gate::MinDifference(difference) => (difference, f64::INFINITY),
        _ => return format!("gate {word}"),
    };
    let is_claim = gate != Gate::NotWorse;
    let limit = match gate {
        Gate::Equivalent(_) => format!("± {}", plain(upper)),
        _ if lower.is_finite() => plain(lower),
        _ => plain(upper),
    };
    let how = match (outcome, gate) {
        (GateOutcome::Passed, Gate::Equivalent(_)) => format!("lies within {limit}"),
        (GateOutcome::Passed, Gate::NotWorse) => "is not below 0".to_owned(),
        (GateOutcome::Passed, _) => format!("lies above {limit}"),
        (GateOutcome::Failed, Gate::Equivalent(_)) => format!("lies outside {limit}"),
        (GateOutcome::Failed, _) => format!("lies below {limit}"),
        _ if is_claim => format!("does not show it: it reaches beyond {limit}"),
        _ => format!("contains {limit}"),
    };
    format!("gate {word}: {ends} {how}")
}

/// What all gates together decided: `2 passed, 1 undecided`.
pub(crate) fn summary(outcomes: &[GateOutcome]) -> String {
    let count = |wanted: GateOutcome| outcomes.iter().filter(|outcome| **outcome == wanted).count();
    let parts = [GateOutcome::Failed, GateOutcome::Undecided, GateOutcome::Passed].map(|outcome| {
        let count = count(outcome);
        (count > 0).then(|| {
            if outcomes.len() == 1 {
                outcome.name().to_owned()
            } else {
                format!("{count} {}", outcome.name())
            }
        })
    });
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    if parts.is_empty() {
        format!("nothing to decide in {}", counted(outcomes.len() as u64, "comparison"))
    } else {
        parts.join(", ")
    }
}
