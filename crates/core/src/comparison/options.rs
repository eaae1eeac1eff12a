//! How sides are compared, and what a gate decides.

/// How sides are compared. Level, clusters, draws and range are those of the plan's errors.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct ComparisonOptions {
    /// The metadata key to compare by, group for group.
    pub by: Option<String>,
    /// Whether samples are not matched, even if they could be.
    pub unpaired: bool,
    /// Whether every side is compared with every other, not only with the base.
    pub all_pairs: bool,
    /// How p-values of several comparisons are corrected.
    pub correction: Option<Correction>,
    /// What must hold.
    pub gate: Option<Gate>,
}

/// How p-values of several comparisons are corrected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Correction {
    /// Holm: the chance of any false alarm among all comparisons.
    Holm,
    /// Benjamini and Hochberg: the expected share of false alarms among those that are reported.
    Bh,
}

impl Correction {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Correction::Holm => "holm",
            Correction::Bh => "bh",
        }
    }
}

/// What must hold for the difference, other minus base. It is read off the interval that is shown, whose level is
/// 1 − 2α.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Gate {
    /// Fails if the other side is worse: the upper end is below 0.
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
    /// The interval leaves both open.
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
