//! How sides are compared.

use super::gate::Gate;

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

impl ComparisonOptions {
    /// The most sides of which every pair is tested, for a ranking or a matrix: the work and the memory grow with the square.
    pub const MOST_PAIRED: usize = 200;
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

impl std::fmt::Display for Correction {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

impl std::str::FromStr for Correction {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        let known =
            [Correction::Holm, Correction::Bh].into_iter().find(|correction| correction.name() == name);
        known.ok_or_else(|| format!("expected holm or bh, found {name:?}"))
    }
}
