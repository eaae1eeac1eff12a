//! How often intervals hold the truth: exact sums where outcomes can be enumerated, simulations with a fixed seed elsewhere.
//!
//! The tables of `docs/coverage.md` are these figures. `UPDATE_COVERAGE=1 cargo test -p errorbar-core --test it
//! coverage` writes them.

mod binary;
mod clusters;
mod graded;
mod page;
mod pairs;
mod simulated;

use errorbar_core::engine::UnitScores;
use errorbar_core::{ErrorPlan, Random, ScoreKind, Summary};

/// The ends of an interval; `None` if there is none, which holds nothing.
type Ends = Option<(f64, f64)>;

/// The interval of a summary under a plan.
fn ends(summary: &Summary, plan: &ErrorPlan, whole: ScoreKind) -> Ends {
    let interval = summary.estimate(plan, whole, &Random::default()).interval.ok()?;
    Some((interval.lower, interval.upper))
}

/// Scores by cluster, each cluster given as values with how often each occurs in it.
fn of_clusters(clusters: &[Vec<(f64, u64)>]) -> Summary {
    let units: Vec<UnitScores> = clusters.iter().map(|cluster| UnitScores::new(cluster)).collect();
    Summary::of_units(units.iter())
}

/// Whether an interval holds a number. An end that is the number in exact arithmetic may be off by its rounding.
fn holds(ends: Ends, truth: f64) -> bool {
    ends.is_some_and(|(lower, upper)| lower <= truth + 1e-12 && truth - 1e-12 <= upper)
}

/// ln k! for k from 0 to n.
fn log_factorials(n: usize) -> Vec<f64> {
    let mut sum = 0.0;
    std::iter::once(0.0)
        .chain((1..=n).map(|k| {
            sum += (k as f64).ln();
            sum
        }))
        .collect()
}
