//! The engine of errorbar: scores in, results out.
//!
//! One pure function is the heart, [`results()`]: scores and a [`Plan`] go in, [`Results`] come out. No
//! files, no network, no clock; randomness only from a seed. Two decisions carry the rest:
//!
//! - Scores are **columns** ([`ScoreColumns`]), not a heap of boxed scores; metrics run over plain arrays.
//! - Sums are **exact** ([`stats::ExactSum`]), so order, threads and sharding cannot change a bit of a
//!   result, and merging partial states equals computing the whole. Compensated sums were rejected:
//!   they are accurate, but still depend on the order.
//!
//! ```
//! use errorbar_core::metrics::{accuracy, stderr};
//! use errorbar_core::{Plan, Score, ScoreColumns, metrics, results};
//!
//! let mut columns = ScoreColumns::new(["match"]);
//! for (id, grade) in [("q1", "C"), ("q2", "I"), ("q3", "C"), ("q4", "C")] {
//!     columns.push(id, 1).score("match", Score::new(grade))?;
//! }
//! let plan = Plan::new().scorer("match", metrics![accuracy(), stderr()]);
//! let results = results(&columns, &plan)?;
//! assert_eq!(results.scores[0].metrics["accuracy"].value, 0.75);
//! assert_eq!(results.scores[0].metrics["stderr"].value, 0.25);
//! # Ok::<(), errorbar_core::Error>(())
//! ```
#![forbid(unsafe_code)]

mod args;
mod columns;
mod error;
mod estimate;
pub mod evaluation;
mod metric;
pub mod metrics;
mod naming;
mod packaged;
mod plan;
pub mod python_text;
mod random;
mod reducer;
pub mod reducers;
pub mod registry;
mod results;
mod sample_id;
mod score;
mod scores;
pub mod spec;
pub mod stats;
mod value;

pub use args::{ArgProblem, ArgType, Args};
pub use columns::{ColumnBlock, EpochColumn, MetadataColumn, Row, ScoreColumns, TextColumn, ValueColumn};
pub use error::{Error, Result};
pub use estimate::{
    Bounds, Cr, Draws, ErrorMethod, ErrorPlan, Estimate, Interval, IntervalChoice, IntervalMethod, Maybe,
    Notes, StdError, Undefined,
};
pub use metric::{
    Figure, FnMetric, MetadataKeys, Metric, MetricState, MetricValue, ScoreParts, Wants, metric_fn,
};
pub use naming::{TakenNames, unique_names};
pub use plan::{
    Epochs, HeadlineRequest, IntoReducers, MetricItem, MetricMap, Metrics, Plan, ReducerChoice, Reducers,
    ScorerPlan,
};
pub use reducer::{EpochReducer, EpochValues, FnReducer, Panel, Reduced, Reducer, reducer_fn};
pub use registry::Registry;
pub use results::{Block, Entry, Failure, Headline, Reduction, Results, Warning, results};
pub use sample_id::SampleId;
pub use score::{Metadata, SampleScore, Score};
pub use scores::{Iter, ScoreSet, Scores};
pub use spec::Spec;
pub use value::{
    Conversion, Converted, Leaf, LeafMap, LeafRef, Value, ValueRef, ValueToFloat, value_to_float,
};

/// The map that metrics with several named figures return, in order.
pub use indexmap::IndexMap;
#[doc(hidden)]
pub use inventory;
