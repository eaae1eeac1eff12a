//! Everything that a file of metrics, reducers, scorers, solvers and tasks usually needs.
//!
//! Reducers come as the module `reducers`, because the metric `mean` and the reducer `mean` would
//! otherwise collide: `mean()` is the metric, `reducers::mean()` the reducer. The scorer that
//! specs call `match`, a word of Rust, is `matches()`.
//!
//! ```
//! use errorbar::prelude::*;
//!
//! let plan = Plan::new()
//!     .metrics(metrics![
//!         grouped(accuracy(), "category").all(All::Groups),
//!         stderr().cluster("category"),
//!         ci().level(0.9),
//!     ])
//!     .reducers(reducers![reducers::at_least(2), reducers::mode()]);
//! assert_eq!(plan.metadata_keys(), errorbar::core::MetadataKeys::one("category"));
//! ```

pub use errorbar_core::chat::{Message, ModelOutput};
pub use errorbar_core::metrics::{All, accuracy, bootstrap_stderr, ci, grouped, mean, std, stderr};
pub use errorbar_core::{
    Conversion, Epochs, Error, Estimate, IndexMap, Metric, MetricValue, Metrics, Plan, Reducer, Registry,
    Result, Results, SampleScore, Score, ScoreColumns, Scores, ToSpec, Undefined, Value, metric_fn, metrics,
    reducer_fn, reducers,
};
#[cfg(feature = "eval")]
pub use errorbar_eval::scorers::{choice, exact, includes, matches, pattern};
#[cfg(feature = "eval")]
pub use errorbar_eval::solvers::{generate, multiple_choice, system_message};
#[cfg(feature = "eval")]
pub use errorbar_eval::{
    Fields, Generate, RecordSource, Sample, Target, Task, TaskState, chain, collected_registry, csv_dataset,
    dataset, json_dataset,
};
pub use errorbar_macros::{metric, reducer};
#[cfg(feature = "eval")]
pub use errorbar_macros::{scorer, solver, task};

#[cfg(feature = "cli")]
pub use crate::App;
