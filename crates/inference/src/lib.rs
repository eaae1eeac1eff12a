//! What results support: is one model better than another, how many samples would show it, how far intervals can be trusted.
//!
//! Everything here decides from scores and estimates of [`errorbar_core`]; nothing reads a file. The key decision: **a pair is
//! a sample**. Each side is reduced by its own plan, samples are matched by id, and the differences are estimated as scores
//! are, clusters included. Comparing two intervals by eye was rejected: it ignores what the sides have in common.
//!
//! | module | contents |
//! |---|---|
//! | [`comparison`] | differences, rankings, gates |
//! | [`power`] | samples and epochs that a difference needs |
//! | [`coverage`] | how often intervals of scores like these contain the truth |
//! | [`sequence`] | rules that end a run early, and the means that they are about |
//! | [`requirement`] | what results must show: `lower(accuracy) >= 0.8` |
#![forbid(unsafe_code)]

mod agreement;
pub mod comparison;
pub mod coverage;
mod error;
pub mod power;
pub mod requirement;
pub mod sequence;

pub use comparison::{
    ComparedScores, Comparison, ComparisonOptions, ComparisonReport, ComparisonTest, ComparisonWarning,
    Correction, CrossTable, FlipTable, Gate, GateOutcome, GateShortfall, Rank, Ranking, TestMethod, compare,
};
pub use coverage::{
    Coverage, CoverageFigures, CoverageOptions, CoverageReport, MethodCoverage, NoCoverage, ScoreCoverage,
    simulate_coverage,
};
pub use error::{ComparisonError, ComparisonErrorKind, Error, Result};
pub use power::{
    Flips, PilotScores, PilotSide, PowerDesign, PowerError, PowerMethod, PowerPlan, ScoreSpread,
};
pub use requirement::{EstimatePart, Requirement, RequirementOutcome};
pub use sequence::{FigureProblem, MeanFigure, RuleMeasure, StopRule};
