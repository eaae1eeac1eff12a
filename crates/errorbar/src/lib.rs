//! Scoring metrics for language-model evaluations, with honest error bars.
//!
//! This is the crate to depend on: the engine ([`errorbar_core`], re-exported here), what runs evaluations
//! ([`eval`]), the attributes [`macro@metric`], [`macro@reducer`], [`macro@solver`], [`macro@scorer`] and
//! [`macro@task`], a [`prelude`], and the whole command line as a function. A program that ends in [`main()`]
//! *is* the command line, with everything of its own in it:
//!
//! ```no_run,standalone_crate
//! use errorbar::prelude::*;
//!
//! /// Proportion of samples scoring at or above `threshold`.
//! #[metric]
//! fn pass_rate(scores: &Scores<'_>, #[default(0.5)] threshold: f64) -> Result<f64> {
//!     let mut passed = 0;
//!     for sample in scores {
//!         if sample.score.as_f64()? >= threshold {
//!             passed += 1;
//!         }
//!     }
//!     Ok(f64::from(passed) / scores.len().max(1) as f64)
//! }
//!
//! /// The share of the target's words that the answer has.
//! #[scorer(metrics = [mean(), stderr(), pass_rate()])]
//! async fn word_overlap(state: &TaskState, target: &Target) -> Result<Score> {
//!     let output = state.output.completion.to_lowercase();
//!     let words: Vec<String> = target.text().split_whitespace().map(str::to_lowercase).collect();
//!     let hits = words.iter().filter(|word| output.contains(*word)).count();
//!     Ok(Score::new(hits as f64 / words.len().max(1) as f64))
//! }
//!
//! /// Three colours.
//! #[task]
//! fn colors() -> Task {
//!     Task::new([Sample::new("Name three primary colors.").target("red green blue")])
//!         .solver(generate())
//!         .scorer(word_overlap())
//! }
//!
//! fn main() -> std::process::ExitCode {
//!     // cargo run -- eval colors --model 'mock/Red and green.'
//!     // cargo run -- score table.csv --metric 'pass_rate(0.8)'
//!     errorbar::main()
//! }
//! ```
//!
//! What is about one score, sample or spec fails with [`Error`]; what is about a whole task or run, with
//! [`eval::Error`].
#![forbid(unsafe_code)]

mod app;
mod commands;
mod diagnostic;
mod hints;
mod output;
pub mod prelude;
mod progress;
mod shell;
mod snippet;

pub use app::{App, main};
/// What kind of figure a metric gives; [`MessageRole`] is that of a message.
pub use errorbar_core::Role as MetricRole;
pub use errorbar_core::*;
pub use errorbar_eval as eval;
pub use errorbar_eval::{
    AnyModel, AnyScorer, AnySolver, BoxFuture, Chain, Choice, Dataset, DatasetError, FailOnError, Fields,
    Generate, Input, IntoSample, Message, MessageRole, Mock, Model, ModelChoice, ModelOutput, Record, Replay,
    Request, Sample, SampleId, Scorer, ScorerEntry, Solver, SolverEntry, Target, Task, TaskEntry, TaskState,
    Usage, chain, collected_registry, csv_dataset, json_dataset, model_fn, scorers, solvers,
};
pub use errorbar_macros::{metric, reducer, scorer, solver, task};

/// The README's snippet runs with the doc tests.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;
