//! From dataset to log: datasets, models, solvers, scorers, tasks and the runner. The only async crate.
//!
//! A [`Task`] is checked as a whole before anything runs ([`Task::prepare`]), so that no mistake shows up after
//! an hour; then its samples run concurrently, each is written to the log when it is done, and the results are
//! computed by the one function of `errorbar-core`. They are put into dataset order first: what a run reports does
//! not depend on which sample came back first.
#![forbid(unsafe_code)]

mod allowed_paths;
mod dataset;
mod error;
mod expression;
mod few_shot;
mod macros;
mod model;
mod prompts;
mod registry;
mod rescore;
mod run;
mod sample;
pub mod scorers;
pub mod solvers;
mod task;
mod task_check;
mod task_file;
mod template;
pub mod text;
mod traits;

use std::future::Future;
use std::pin::Pin;
use std::sync::{Mutex, MutexGuard, PoisonError};

pub use dataset::{
    Dataset, DatasetError, Fields, FileFormat, HubDataset, IntoSample, InvalidField, NamedSample, OneOrMany,
    Record, RecordLocation, RecordPosition, RecordSource, csv_dataset, dataset, json_dataset,
    parquet_dataset,
};
pub use error::{Error, Result, StopRuleProblem};
pub use errorbar_log::eval::{
    Input, Message, MessageRole, ModelOutput, OutputChoice, SampleId, Targets, Usage,
};
pub use expression::{ExpressionError, ExpressionErrorKind, InvalidExpression};
pub use model::{
    AnyModel, Cache, CacheKey, CacheRemoval, CachedAnswer, CallCounts, Calls, Choice, FnModel, Generate,
    GenerateConfig, MAX_CONNECTIONS, Mock, Model, ModelAnswers, ModelClient, ModelError, ModelErrorKind,
    Models, OpenModel, OpenOptions, Price, Prices, Provider, ProviderEntry, Replay, Request, RetryPolicy,
    TaskState, UsageLimits, allow_connections, max_open_files, model_fn, open_model, shown_cost,
};
pub use prompts::TemplateText;
pub use registry::{SubmittedEntry, built_in_registry, collected_registry};
pub use rescore::{PreparedRescore, Rescore, RescoreError, RescoredLog};
pub use run::{
    CancelToken, EarlierRun, FinishedRun, LogFormat, ModelServer, Observer, PrepareError, PreparedTask,
    Progress, Quiet, RecordedServer, ResumableLog, RunOptions, RunningFigure, RunningFigures,
    SequenceProgress, StopReason, block_on, cancel_on_interrupt, open_earlier, open_resumable,
    open_resumable_with,
};
pub use sample::{Sample, Target};
pub use task::{FailOnError, ModelChoice, Task, TaskEntry};
pub use task_check::TaskProblem;
pub use task_file::{
    Mistake, TaskArgument, TaskFileError, TaskLoadError, TaskOutline, TaskSelection, load_task_file,
    load_tasks, outline_task_file, parse_task_file,
};

pub use traits::{
    AnyScorer, AnySolver, Chain, IntoScore, Scorer, ScorerEntry, ScorerNeeds, Solver, SolverEffects,
    SolverEntry, Template,
};

/// The names that `#[scorer]` and `#[solver]` refer to, laid out as in the crate `errorbar`.
mod facade {
    pub(crate) use errorbar_core::*;

    pub(crate) use crate as eval;
}

#[doc(hidden)]
pub use inventory;

/// Locks a mutex, also one that a panic has poisoned: what these guard is whole after every statement.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A future on the heap, as solvers, scorers and models return it.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;
