//! What a comparison says, in words for a reader in a hurry.

use std::fmt;

use errorbar_core::{Direction, IntervalSide};
use errorbar_inference::{Comparison, ComparisonReport, Gate, GateOutcome};

use super::record::interval_of;
use crate::number::plain;

/// What a comparison says.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Verdict {
    /// The other side is better.
    Better,
    /// It is worse.
    Worse,
    /// It has the higher figure, and neither is better.
    Higher,
    /// It has the lower figure.
    Lower,
    /// The data do not show which is ahead.
    NotShown,
    /// The gate of equivalence shows that they are the same, within this.
    Equivalent(f64),
    /// No sample has another score.
    Identical,
    /// There is nothing to judge by.
    Unknown,
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Verdict::Better => f.write_str("better"),
            Verdict::Worse => f.write_str("worse"),
            Verdict::Higher => f.write_str("higher"),
            Verdict::Lower => f.write_str("lower"),
            Verdict::NotShown => f.write_str("no difference shown"),
            Verdict::Equivalent(margin) => write!(f, "same within ± {}", plain(*margin)),
            Verdict::Identical => f.write_str("no sample differs"),
            Verdict::Unknown => f.write_str("unknown"),
        }
    }
}

impl Verdict {
    /// What a comparison says: by the corrected p-value if there is one, else by the interval that is shown, else by the
    /// p-value.
    pub(crate) fn of(comparison: &Comparison, report: &ComparisonReport) -> Self {
        let Some(difference) = comparison.difference.number() else { return Verdict::Unknown };
        if is_identical(comparison) {
            return Verdict::Identical;
        }
        match is_significant(comparison) {
            Some(true) if difference != 0.0 => match (comparison.direction, difference > 0.0) {
                (Direction::Higher, true) | (Direction::Lower, false) => Verdict::Better,
                (Direction::Higher, false) | (Direction::Lower, true) => Verdict::Worse,
                (_, true) => Verdict::Higher,
                (_, false) => Verdict::Lower,
            },
            Some(_) => match (report.options.gate, comparison.gate) {
                (Some(Gate::Equivalent(margin)), Some(GateOutcome::Passed)) => Verdict::Equivalent(margin),
                _ => Verdict::NotShown,
            },
            None => Verdict::Unknown,
        }
    }

    /// Whether it says which side is ahead.
    pub(crate) fn is_decided(&self) -> bool {
        matches!(self, Verdict::Better | Verdict::Worse | Verdict::Higher | Verdict::Lower)
    }
}

/// Whether no sample has another score on the other side.
pub(super) fn is_identical(comparison: &Comparison) -> bool {
    (comparison.wins, comparison.losses) == (Some(0), Some(0)) && comparison.ties.is_some_and(|ties| ties > 0)
}

/// The share of false alarms that the level of the interval allows.
pub(super) fn alpha(comparison: &Comparison) -> f64 {
    let level = comparison.difference.interval.as_ref().map_or(0.95, |interval| interval.level);
    // 1 − 0.95 is not 0.05 to the last bit.
    ((1.0 - level) * 1e9).round() / 1e9
}

/// Whether a difference is shown; none if there is nothing to judge by.
pub(super) fn is_significant(comparison: &Comparison) -> Option<bool> {
    if let Some(p) = comparison.p_adjusted.filter(|p| !p.is_nan()) {
        return Some(p < alpha(comparison));
    }
    excludes_zero(comparison).or_else(|| has_small_p(comparison))
}

/// Whether the interval excludes 0.
fn excludes_zero(comparison: &Comparison) -> Option<bool> {
    let interval = interval_of(&comparison.difference)?;
    Some(match interval.side {
        IntervalSide::Lower => interval.lower > 0.0,
        IntervalSide::Upper => interval.upper < 0.0,
        _ => interval.lower > 0.0 || interval.upper < 0.0,
    })
}

/// Whether the p-value is below what the level allows.
fn has_small_p(comparison: &Comparison) -> Option<bool> {
    let test = comparison.test.as_ref().ok().filter(|test| !test.p_value.is_nan())?;
    Some(test.p_value < alpha(comparison))
}

/// Whether interval and p-value say different things: the case is close, and a reader should know which of them the verdict
/// is from.
pub(super) fn is_borderline(comparison: &Comparison) -> bool {
    let two_sided =
        interval_of(&comparison.difference).is_some_and(|interval| interval.side == IntervalSide::TwoSided);
    let both = excludes_zero(comparison).zip(has_small_p(comparison)).filter(|_| two_sided);
    comparison.p_adjusted.is_none() && both.is_some_and(|(excludes, small)| excludes != small)
}
