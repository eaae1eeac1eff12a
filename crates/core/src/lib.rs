//! The engine of errorbar: scores in, results out.
//!
//! One pure function is the heart, [`Plan::evaluate`]: scores go in, [`Results`] come out, every one of them an
//! [`Estimate`]: a number with its error and its interval. No files, no network, no clock; randomness only from a
//! seed. Two decisions carry the rest:
//!
//! - Scores are **columns** ([`ScoreColumns`]), not a heap of boxed scores; metrics run over plain arrays.
//! - Sums are **exact** ([`errorbar_stats::exact::ExactSum`]), so order, threads and sharding cannot change a bit of a
//!   result, and merging partial states equals computing the whole. Compensated sums were rejected:
//!   they are accurate, but still depend on the order.
//!
//! ```
//! use errorbar_core::metrics::accuracy;
//! use errorbar_core::{Plan, Score, ScoreColumns, metrics};
//!
//! let mut columns = ScoreColumns::new(["match"]);
//! for (id, grade) in [("q1", "C"), ("q2", "I"), ("q3", "C"), ("q4", "C")] {
//!     columns.push(id, 1).score("match", Score::new(grade))?;
//! }
//! let plan = Plan::new().scorer("match", metrics![accuracy()]);
//! let accuracy = plan.evaluate(&columns)?.results.estimate("accuracy")?;
//! assert_eq!(accuracy.number(), Some(0.75));
//! assert_eq!(accuracy.stderr(), Some(0.25));
//! let interval = accuracy.interval.map_err(|reason| reason.to_string()).unwrap();
//! assert_eq!(format!("[{:.2}, {:.2}]", interval.lower, interval.upper), "[0.30, 0.95]");
//! # Ok::<(), errorbar_core::Error>(())
//! ```
#![forbid(unsafe_code)]

mod breakdown;
mod built_in;
pub mod chat;
mod columns;
mod condition;
mod error;
mod error_plan;
mod estimate;
mod evaluation;
mod inputs;
mod metadata;
mod metric;
pub mod metrics;
mod naming;
mod partial;
mod plan;
pub mod python_text;
mod random;
mod reducer;
pub mod reducers;
pub mod registry;
mod results;
mod scalars;
mod score;
mod scores;
pub mod spec;
mod value;

pub use breakdown::{
    CalibrationBin, CalibrationCurve, Confusion, ConfusionLabel, Distribution, DistributionBin, EpochSpread,
    EpochStrip, PassCurve, PassPoint, SampleSpread, ScoreName, StripColumn,
};
pub use columns::{RowWriter, ScoreColumns};
pub use condition::Condition;
pub use condition::Relation;
pub use error::{Error, Result};
pub use error_plan::{
    BetaPrior, ClusterVariance, EarlyStop, ErrorMethod, ErrorPlan, Estimation, IntervalChoice,
    IntervalMethod, IntervalSide, WildWeights,
};
pub use estimate::{
    Bounds, Defined, Draws, Estimate, EstimateNotes, GroupContext, Interval, SampleValue, ScoreKind,
    StdError, Summary, Undefined,
};
pub use evaluation::{
    AggregateBasis, Counts, Direction, EstimateRow, Evaluation, Failure, FigurePath, Group, GroupAggregate,
    Groups, MetricResult, MetricValue, NoHeadline, Reduction, Results, Role, Scope, ScoreResult, Subject,
    Warning,
};
pub use inputs::{FigureNames, KeyUsage, MetadataKeys, Raters, RequiredKey, ScoreParts, Wants};
pub use metadata::Metadata;
pub use metric::{FnMetric, Metric, MetricItem, MetricMap, Metrics, metric_fn};
pub use naming::Order;
pub use partial::{Partial, Receipt, bucket_of};
pub use plan::{Epochs, HeadlineRequest, IntoReducers, Plan, ReducerChoice, Reducers, ScorerPlan};
pub use random::Random;
pub use reducer::{EpochReducer, EpochValues, FnReducer, ReducedValue, Reducer, reducer_fn};
pub use registry::{ArgProblem, ArgType, ArgWord, Args, DocSections, KeywordArgs, Params, Registry};
pub use results::{Headline, UnusedCluster};
pub use score::SampleId;
pub use score::{SampleScore, Score};
pub use scores::{Ratings, ScoreSet, Scores};
pub use spec::{Spec, ToSpec};
pub use value::{
    Conversion, ConvertedNumber, Leaf, LeafMap, LeafRef, Value, ValueRef, ValueToFloat, value_to_float,
};

/// What the crates above are built of: columns as readers fill them, numbers by sample, units of resampling, estimates of
/// sums. Not for users of the library: it changes without notice.
#[doc(hidden)]
pub mod engine {
    pub use crate::columns::{
        ColumnBlock, DetailColumns, DistinctScores, LabelColumns, MetadataColumn, Panel, Recoded,
        RecodedKinds, RowLists, SampleIndex, ScorerColumn, ScorerEpochs, TextColumn, ValueColumn,
    };
    pub use crate::error::thousands;
    pub use crate::error_plan::SummaryKey;
    pub use crate::estimate::{
        ClusteredScores, ErrorFigure, IndependentScores, MAX_FIGURES, ResampledFigure, RowClusters,
        ScoreUnits, UnitScores, error_across_groups, estimate_from, is_rounding, planned_draws, wilson,
    };
    pub use crate::evaluation::unknown;
    pub use crate::metrics::{Components, SampleEpochs};
    pub use crate::naming::Interner;
    pub use crate::naming::{TakenNames, unique_names};
    pub use crate::partial::BUCKETS;
    pub use crate::random::resample_cost;
    pub use crate::results::{VisitedBlock, evaluate_metric, innermost};
    pub use crate::scores::{EpochInfo, KeyColumn, Resampler, RowSelection};
}

/// What kind of figure a metric gives, by the name that `#[metric]` knows it by in every crate.
#[doc(hidden)]
pub use evaluation::Role as MetricRole;
/// The map that metrics with several named figures return, in order.
pub use indexmap::IndexMap;
#[doc(hidden)]
pub use inventory;

/// What the code that attributes generate is made of, as `errorbar` has it too.
#[doc(hidden)]
pub mod generated {
    pub use crate::*;
}
