//! What a comparison must show, read off the interval of the difference that is shown.
//!
//! The interval has the level 1 − 2α, so that each of its ends is a one-sided bound at α: a gate that claims something
//! passes wrongly with a probability of at most α, and one that looks for a loss fails wrongly as rarely. No second
//! calculation stands behind the one that people see.

use super::paired::detectable_at;
use super::{Comparison, ComparisonReport};
use errorbar_core::{Defined, Direction, Estimate, IntervalSide};

/// What must hold for the difference, other minus base. It is read off the interval that is shown, whose level is
/// 1 − 2α ([`Gate::level`]).
///
/// | gate | passed | failed |
/// |---|---|---|
/// | not worse | lower ≥ 0 | upper < 0 |
/// | margin m | lower > −m | upper < −m |
/// | equivalent m | −m < lower and upper < m | upper < −m or lower > m |
/// | min difference d | lower > d | upper < d |
///
/// Everything else is undecided, and so is a difference that has no interval.
///
/// ```
/// use errorbar_core::Estimate;
/// use errorbar_inference::{Gate, GateOutcome};
///
/// let difference = Estimate::new(-0.01).with_interval(-0.03, 0.01, Gate::level(Gate::ALPHA));
/// assert_eq!(Gate::NotWorse.outcome(&difference), GateOutcome::Undecided);
/// assert_eq!(Gate::Margin(0.05).outcome(&difference), GateOutcome::Passed);
/// assert_eq!(Gate::MinDifference(0.02).outcome(&difference), GateOutcome::Failed);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Gate {
    /// Fails if the other side is worse: the upper end is below 0. It claims nothing, so an open result does no harm.
    NotWorse,
    /// Passes if the other side is not worse by a margin: the lower end is above −margin.
    Margin(f64),
    /// Passes if the difference is within ± this.
    Equivalent(f64),
    /// Passes if the other side is better by more than this: the lower end is above it.
    MinDifference(f64),
}

/// What a gate decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum GateOutcome {
    /// It holds.
    Passed,
    /// The contrary holds.
    Failed,
    /// The interval leaves both open, or there is none.
    Undecided,
}

impl GateOutcome {
    /// Its name in machine-readable output.
    pub fn name(self) -> &'static str {
        match self {
            GateOutcome::Passed => "passed",
            GateOutcome::Failed => "failed",
            GateOutcome::Undecided => "undecided",
        }
    }
}

impl Gate {
    /// The α that gates have by default.
    pub const ALPHA: f64 = 0.05;

    /// The level of the interval that a gate reads, for the probability α of a wrong decision.
    pub fn level(alpha: f64) -> f64 {
        1.0 - 2.0 * alpha
    }

    /// Checks that α and the gate's number make sense.
    ///
    /// # Errors
    /// What is wrong with them.
    pub fn check(self, alpha: f64) -> Result<(), String> {
        match self {
            _ if !(alpha > 0.0 && alpha < 0.5) => {
                Err(format!("α is a number above 0 and below 0.5, not {alpha}"))
            }
            Gate::Margin(margin) | Gate::Equivalent(margin) if !(margin > 0.0 && margin.is_finite()) => {
                Err(format!("a margin is a number above 0, not {margin}"))
            }
            Gate::MinDifference(least) if !(least >= 0.0 && least.is_finite()) => {
                Err(format!("the difference to exceed is a number of at least 0, not {least}"))
            }
            _ => Ok(()),
        }
    }

    /// What a comparison decides. Where lower figures are better, a lower one is a gain.
    pub fn decide(self, comparison: &Comparison) -> GateOutcome {
        let mut gain = comparison.difference.clone();
        if let (Direction::Lower, Ok(interval)) = (comparison.direction, &mut gain.interval) {
            (interval.lower, interval.upper) = (-interval.upper, -interval.lower);
        }
        self.outcome(&gain)
    }

    /// What the interval of a difference decides, if higher figures are better.
    pub fn outcome(self, difference: &Estimate) -> GateOutcome {
        let Ok(interval) = &difference.interval else { return GateOutcome::Undecided };
        let (lower, upper) = (interval.lower, interval.upper);
        let (holds, is_refuted) = match self {
            Gate::NotWorse => (lower >= 0.0, upper < 0.0),
            Gate::Margin(margin) => (lower > -margin, upper < -margin),
            Gate::Equivalent(margin) => {
                (lower > -margin && upper < margin, upper < -margin || lower > margin)
            }
            Gate::MinDifference(least) => (lower > least, upper < least),
        };
        match (holds, is_refuted) {
            (true, _) => GateOutcome::Passed,
            (_, true) => GateOutcome::Failed,
            _ => GateOutcome::Undecided,
        }
    }

    /// Whether it claims something that data must establish, so that an open result does not satisfy it.
    pub fn is_claim(self) -> bool {
        !matches!(self, Gate::NotWorse)
    }

    /// The margin of equivalence, if that is what is claimed.
    pub fn equivalence_margin(self) -> Option<f64> {
        match self {
            Gate::Equivalent(margin) => Some(margin),
            _ => None,
        }
    }

    /// How far from the line that it draws the truth must be for the gate to pass (or, for [`Gate::NotWorse`], to fail) in 8
    /// of 10 comparisons like this one: (z₁₋α + z₀.₈)·SE for one end of the interval, and (z₁₋α + z₀.₉)·SE for
    /// [`Gate::Equivalent`], where both ends must be within. Few degrees of freedom take the noncentral t distribution.
    ///
    /// # Errors
    /// There is no error to compute it from.
    pub fn detectable(self, comparison: &Comparison) -> Defined<f64> {
        let alpha = comparison.difference.interval.as_ref().map_or(Gate::ALPHA, |interval| {
            // An interval of another side or level was not computed for the gate.
            if interval.side == IntervalSide::TwoSided { 0.5 * (1.0 - interval.level) } else { Gate::ALPHA }
        });
        let power = if matches!(self, Gate::Equivalent(_)) { 0.9 } else { 0.8 };
        detectable_at(&comparison.difference, 2.0 * alpha, power)
    }

    /// What samples like these decide at best, if that is not enough: even where the gate's claim is true (and, for a
    /// margin, the sides are equal), it would be established in fewer than 80 of 100 comparisons.
    ///
    /// Where the claim is about sides that are equal, what is detectable ([`Gate::detectable`]) must be within the margin. A least
    /// difference and the search for a loss leave the true difference open; then it must be possible at all, which is
    /// known of scores with a range.
    pub fn shortfall(self, comparison: &Comparison) -> Option<GateShortfall> {
        let detectable = self.detectable(comparison).ok()?;
        let largest = comparison.largest_difference.unwrap_or(f64::INFINITY);
        let (needed, available) = match self {
            Gate::Margin(margin) | Gate::Equivalent(margin) => (detectable, margin),
            Gate::MinDifference(least) => (detectable + least, largest),
            Gate::NotWorse => (detectable, largest),
        };
        (needed > available).then_some(GateShortfall { needed, available })
    }
}

impl ComparisonReport {
    /// Holds every comparison that the gate of the options is about against it.
    ///
    /// These are the comparisons with the base, over all samples of each task, of metrics with a better direction. A
    /// group, and the mean over tasks, is about samples that have been decided on already; and the more intervals are
    /// read, the more of them are beyond 0 by chance.
    pub fn apply_gate(&mut self) {
        let base = self.sides.first();
        let has_tasks = self.comparisons.iter().any(|one| one.task.is_some());
        for comparison in &mut self.comparisons {
            let gate = self.options.gate.filter(|_| {
                base == Some(&comparison.base)
                    && comparison.group_key.is_none()
                    && comparison.task.is_some() == has_tasks
                    && comparison.direction != Direction::Neither
            });
            comparison.gate = gate.map(|gate| gate.decide(comparison));
        }
    }
}

/// A gate asks for more than these samples tell.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct GateShortfall {
    /// The smallest margin, or difference, that the samples would decide with a power of 80 %.
    pub needed: f64,
    /// The margin that is set, or the largest difference that there is.
    pub available: f64,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::comparison::ComparisonOptions;
    use errorbar_core::{ErrorMethod, StdError, Undefined};

    const ALL: [Gate; 4] =
        [Gate::NotWorse, Gate::Margin(0.1), Gate::Equivalent(0.1), Gate::MinDifference(0.1)];

    fn outcomes(lower: f64, upper: f64) -> [&'static str; 4] {
        let difference = Estimate::new(0.5 * (lower + upper)).with_interval(lower, upper, 0.9);
        ALL.map(|gate| gate.outcome(&difference).name())
    }

    #[test]
    fn the_interval_decides() {
        for (lower, upper, expected) in [
            (-0.5, -0.2, ["failed", "failed", "failed", "failed"]),
            (-0.2, -0.05, ["failed", "undecided", "undecided", "failed"]),
            (-0.05, -0.01, ["failed", "passed", "passed", "failed"]),
            (-0.05, 0.05, ["undecided", "passed", "passed", "failed"]),
            (0.0, 0.05, ["passed", "passed", "passed", "failed"]),
            (0.01, 0.2, ["passed", "passed", "undecided", "undecided"]),
            (0.2, 0.5, ["passed", "passed", "failed", "passed"]),
            (-0.5, 0.5, ["undecided"; 4]),
        ] {
            assert_eq!(outcomes(lower, upper), expected, "{lower} to {upper}");
        }
    }

    #[test]
    fn an_end_on_the_line_claims_nothing() {
        assert_eq!(outcomes(-0.1, 0.0), ["undecided", "undecided", "undecided", "failed"]);
        assert_eq!(outcomes(-0.05, 0.1), ["undecided", "passed", "undecided", "undecided"]);
        assert_eq!(outcomes(0.1, 0.2), ["passed", "passed", "undecided", "undecided"]);
        assert_eq!(outcomes(-0.2, -0.1), ["failed", "undecided", "undecided", "failed"]);
    }

    #[test]
    fn without_an_interval_nothing_is_decided() {
        let unknown = Estimate::undefined(Undefined::TooFewScores { n: 1 });
        for gate in ALL {
            assert_eq!(gate.outcome(&unknown), GateOutcome::Undecided);
            assert_eq!(gate.outcome(&Estimate::new(-1.0)), GateOutcome::Undecided);
            let nan = Estimate::new(0.0).with_interval(f64::NAN, f64::NAN, 0.9);
            assert_eq!(gate.outcome(&nan), GateOutcome::Undecided);
        }
    }

    #[test]
    fn numbers_without_meaning_are_refused() {
        for margin in [0.0, -0.1, f64::NAN, f64::INFINITY] {
            assert!(Gate::Margin(margin).check(0.05).unwrap_err().starts_with("a margin"), "{margin}");
            assert!(Gate::Equivalent(margin).check(0.05).unwrap_err().starts_with("a margin"), "{margin}");
        }
        for difference in [-0.1, f64::NAN, f64::INFINITY] {
            let gate = Gate::MinDifference(difference);
            assert!(gate.check(0.05).unwrap_err().starts_with("the difference to exceed"), "{difference}");
        }
        for alpha in [0.0, 0.5, -1.0, f64::NAN] {
            assert!(Gate::NotWorse.check(alpha).unwrap_err().starts_with("α is"), "{alpha}");
        }
        assert_eq!(ALL.map(|gate| gate.check(Gate::ALPHA)), [Ok(()), Ok(()), Ok(()), Ok(())]);
        assert_eq!(Gate::MinDifference(0.0).check(0.01), Ok(()));
        let text = Gate::Margin(-0.1).check(0.05).unwrap_err();
        assert_eq!(text, "a margin is a number above 0, not -0.1");
    }

    #[test]
    fn a_gate_is_about_all_samples_and_the_base() {
        let options = ComparisonOptions { gate: Some(Gate::NotWorse), ..ComparisonOptions::default() };
        let mut report = ComparisonReport::new(["a", "b", "c"], options);
        let worse = || Estimate::new(-0.2).with_interval(-0.3, -0.1, 0.9);
        let compare = |base: &str, other: &str, group: Option<&str>, direction: Direction| {
            let mut comparison = Comparison::new(base, other, "match", "accuracy");
            comparison.group_key = group.map(|_| "category".to_owned());
            comparison.group = group.map(str::to_owned);
            (comparison.direction, comparison.difference) = (direction, worse());
            comparison
        };
        report.comparisons = vec![
            compare("a", "b", None, Direction::Higher),
            compare("a", "b", Some("law"), Direction::Higher),
            compare("a", "c", None, Direction::Lower),
            compare("b", "c", None, Direction::Higher),
            compare("a", "b", None, Direction::Neither),
        ];
        report.apply_gate();
        let gates: Vec<_> = report.comparisons.iter().map(|one| one.gate).collect();
        let failed = Some(GateOutcome::Failed);
        // Lower by 0.2 is a gain of what is better if it is lower.
        assert_eq!(gates, [failed, None, Some(GateOutcome::Passed), None, None]);
        report.options.gate = None;
        report.apply_gate();
        assert!(report.comparisons.iter().all(|one| one.gate.is_none()));
    }

    /// Two tasks were three comparisons: their mean counted, too.
    #[test]
    fn of_several_tasks_each_is_decided_and_not_their_mean() {
        let options = ComparisonOptions { gate: Some(Gate::NotWorse), ..ComparisonOptions::default() };
        let mut report = ComparisonReport::new(["a", "b"], options);
        report.comparisons = [Some("quiz"), Some("almanac"), None]
            .map(|task| {
                let mut comparison = Comparison::new("a", "b", "match", "accuracy");
                comparison.task = task.map(str::to_owned);
                comparison.direction = Direction::Higher;
                comparison.difference = Estimate::new(-0.2).with_interval(-0.3, -0.1, 0.9);
                comparison
            })
            .into();
        report.apply_gate();
        let gates: Vec<_> = report.comparisons.iter().map(|one| one.gate).collect();
        assert_eq!(gates, [Some(GateOutcome::Failed), Some(GateOutcome::Failed), None]);
    }

    #[test]
    fn samples_that_cannot_decide_are_known() {
        let mut comparison = Comparison::new("a", "b", "match", "accuracy");
        assert_eq!(Gate::Margin(0.1).shortfall(&comparison), None);
        // (1.645 + 0.842) · 0.1 of one end, (1.645 + 1.282) · 0.1 of both.
        let with_error = |se: f64| Estimate::new(0.0).with_error(StdError::new(se, ErrorMethod::Iid));
        comparison.difference = with_error(0.1);
        for (gate, needed) in [(Gate::Margin(0.1), 0.2486), (Gate::Equivalent(0.1), 0.2926)] {
            let shortfall = gate.shortfall(&comparison).unwrap();
            assert_eq!(shortfall.available, 0.1);
            assert!((shortfall.needed - needed).abs() < 1e-4, "{shortfall:?}");
        }
        assert_eq!(Gate::Margin(0.25).shortfall(&comparison), None);
        assert!(Gate::Equivalent(0.25).shortfall(&comparison).is_some());
        // Nothing is known about the largest difference of scores that are not 0 or 1.
        let difference = Gate::MinDifference(0.9);
        assert_eq!(difference.shortfall(&comparison), None);
        comparison.largest_difference = Some(1.0);
        assert!(difference.shortfall(&comparison).is_some_and(|shortfall| shortfall.available == 1.0));
        assert_eq!(Gate::MinDifference(0.7).shortfall(&comparison), None);
        assert_eq!(Gate::NotWorse.shortfall(&comparison), None);
        comparison.difference = with_error(0.5);
        assert!(Gate::NotWorse.shortfall(&comparison).is_some());
    }

    /// 44 of 144 pairs are discordant and the margin is 0.05: some 756 samples for one end, 1,047 for both.
    #[test]
    fn samples_that_a_margin_takes() {
        let mut comparison = Comparison::new("a", "b", "match", "accuracy");
        let se = (44.0_f64 / 144.0 / 144.0).sqrt();
        let error = StdError::new(se, ErrorMethod::Iid);
        comparison.difference = Estimate::new(0.0).with_error(error).with_interval(-0.1, 0.1, 0.9);
        let needed = |gate: Gate, comparison: &Comparison| {
            let ratio = gate.detectable(comparison).unwrap() / 0.05;
            144.0 * ratio * ratio
        };
        assert_eq!(needed(Gate::Margin(0.05), &comparison).round(), 756.0);
        assert_eq!(needed(Gate::Equivalent(0.05), &comparison).round(), 1047.0);
        assert_eq!(needed(Gate::NotWorse, &comparison), needed(Gate::MinDifference(0.05), &comparison));
        // α = 0.01 takes more: (2.326 + 0.842)².
        comparison.difference = comparison.difference.with_interval(-0.1, 0.1, 0.98);
        assert_eq!(needed(Gate::Margin(0.05), &comparison).round(), 1227.0);
    }

    #[test]
    fn only_the_search_for_a_loss_claims_nothing() {
        assert_eq!(ALL.map(Gate::is_claim), [false, true, true, true]);
    }
}
