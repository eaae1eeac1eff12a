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
//!         ci().method(CiMethod::Bootstrap),
//!     ])
//!     .reducers(reducers![reducers::at_least(2), reducers::mode()]);
//! assert_eq!(plan.metadata_keys(), MetadataKeys::one("category"));
//! ```

pub use errorbar_core::chat::{Input, Message, MessageRole, ModelOutput};
pub use errorbar_core::metrics::{
    All, Average, CiMethod, Level, OnMissing, Prediction, accuracy, aggregate, bootstrap, bootstrap_stderr,
    ci, ci_wilson, count, f1_score, filtered, frequency, geometric_mean, grouped, krippendorff_alpha, max,
    mean, median, min, perplexity_per_seq, perplexity_per_token, precision, quantile, recall, std, stderr,
    sum, var, weighted_mean,
};
pub use errorbar_core::{
    Conversion, Epochs, Error, ErrorPlan, Estimate, Evaluation, IndexMap, MetadataKeys, Metric, MetricValue,
    Metrics, Plan, Reducer, Reducers, Registry, Result, Results, SampleId, SampleScore, Score, ScoreColumns,
    ScoreSet, Scores, Spec, ToSpec, Undefined, Value, Wants, metric_fn, metrics, reducer_fn, reducers,
    value_to_float,
};
#[cfg(feature = "eval")]
pub use errorbar_eval::scorers::{
    answer, choice, command, exact, f1, includes, matches, multi_scorer, pattern, precomputed,
};
#[cfg(feature = "eval")]
pub use errorbar_eval::solvers::{
    assistant_message, chain_of_thought, generate, multiple_choice, prompt_template, self_critique,
    system_message, user_message,
};
#[cfg(feature = "eval")]
pub use errorbar_eval::{
    AnyScorer, AnySolver, Choice, Dataset, FailOnError, Fields, Generate, ModelChoice, Record, RecordSource,
    Sample, Scorer, Solver, Target, Task, TaskState, chain, collected_registry, csv_dataset, dataset,
    json_dataset, model_fn, parquet_dataset,
};
pub use errorbar_macros::{metric, reducer};
#[cfg(feature = "eval")]
pub use errorbar_macros::{scorer, solver, task};

#[cfg(feature = "cli")]
pub use crate::App;
