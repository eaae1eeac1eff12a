//! The kinds of plots.

use clap::ValueEnum;

/// What is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Kind {
    /// The headline of each run with its interval, the best first
    Estimates,
    /// The headline by group, one line for each run
    Forest,
    /// How many samples have which score, and the mean below
    Distribution,
    /// Every sample from the hardest to the easiest, shaded by the mean of its epochs
    Epochs,
    /// The chances that one, and that all, of k attempts succeed, with bands
    Pass,
    /// How accurate answers of each confidence are
    Calibration,
    /// Which labels are taken for which
    Confusion,
    /// The difference of every two runs, sample by sample, with its interval and p-value
    Pairs,
    /// The runs in order, with the places that the data support and what cannot be told apart
    Ranking,
    /// Cost, or tokens where no cost is known, against the headline
    Cost,
}

impl Kind {
    pub(super) fn name(self) -> &'static str {
        match self {
            Kind::Estimates => "estimates",
            Kind::Forest => "forest",
            Kind::Distribution => "distribution",
            Kind::Epochs => "epochs",
            Kind::Pass => "pass",
            Kind::Calibration => "calibration",
            Kind::Confusion => "confusion",
            Kind::Pairs => "pairs",
            Kind::Ranking => "ranking",
            Kind::Cost => "cost",
        }
    }
}
