//! A comparison as people read it: the better side first.

use errorbar_core::{Direction, Estimate};
use errorbar_inference::Comparison;

use super::verdict::is_significant;

/// A pair of runs with the better one first.
pub(crate) struct Pair<'c> {
    pub(crate) comparison: &'c Comparison,
    pub(crate) ahead: &'c str,
    pub(crate) behind: &'c str,
    /// Whether the first minus the second is other minus base.
    pub(crate) is_as_computed: bool,
    /// Whether the difference is shown by the corrected test.
    pub(crate) is_decided: bool,
}

impl<'c> Pair<'c> {
    pub(crate) fn of(comparison: &'c Comparison) -> Self {
        let difference = comparison.difference.number().unwrap_or(0.0);
        let is_other_better = match comparison.direction {
            Direction::Lower => difference < 0.0,
            _ => difference > 0.0,
        };
        let (ahead, behind) = match is_other_better {
            true => (&comparison.other, &comparison.base),
            false => (&comparison.base, &comparison.other),
        };
        let is_decided = difference != 0.0 && is_significant(comparison) == Some(true);
        Pair { comparison, ahead, behind, is_as_computed: is_other_better, is_decided }
    }

    /// Pairs in which the first is better, equal, worse.
    pub(crate) fn outcomes(&self) -> Option<(u64, u64, u64)> {
        let c = self.comparison;
        let (wins, ties, losses) = (c.wins?, c.ties?, c.losses?);
        Some(if self.is_as_computed { (wins, ties, losses) } else { (losses, ties, wins) })
    }

    /// The p-value that decides, and whether it is corrected.
    pub(crate) fn p(&self) -> Option<f64> {
        let raw = self.comparison.test.as_ref().ok().map(|test| test.p_value);
        self.comparison.p_adjusted.or(raw).filter(|p| !p.is_nan())
    }

    /// The difference of the first minus the second.
    pub(crate) fn difference(&self) -> Estimate {
        let estimate = &self.comparison.difference;
        if self.is_as_computed { estimate.clone() } else { estimate.negated() }
    }
}
