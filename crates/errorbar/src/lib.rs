//! Scoring metrics for language-model evaluations, with honest error bars.
//!
//! Scores go in, estimates come out, each with its standard error and its interval:
//!
//! ```
//! use errorbar::prelude::*;
//!
//! let mut scores = ScoreColumns::new(["match"]);
//! for (id, grade) in [("q1", "C"), ("q2", "I"), ("q3", "C"), ("q4", "C")] {
//!     scores.push(id, 1).score("match", Score::new(grade))?;
//! }
//! let results = Plan::new().metrics(metrics![accuracy()]).evaluate(&scores)?.results;
//! let accuracy = results.estimate("accuracy")?;
//! let (error, interval) = (accuracy.error?, accuracy.interval?);
//! assert_eq!(accuracy.value, Ok(0.75));
//! assert_eq!(format!("± {:.2} [{:.2}, {:.2}]", error.se, interval.lower, interval.upper), "± 0.25 [0.30, 0.95]");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! | module | what it is for |
//! |---|---|
//! | the root, [`mod@metrics`], [`mod@reducers`] | what everybody needs: scores, plans, estimates, results |
//! | [`prelude`] | what a file of metrics and tasks usually needs |
//! | [`core`] | the engine as a whole: specs, the registry, partial results |
//! | [`stats`] | exact sums, quantiles, intervals, tests, resampling: numbers without any type of errorbar |
//! | [`inference`] | comparison, ranking, gates, power, simulated coverage, requirements |
//! | [`table`], [`log`] | score tables (CSV, TSV, JSONL, Parquet) and eval logs, read and written |
//! | [`analysis`] | what the commands compute: requests in, answers out |
//! | [`report`] | results as terminal table, Markdown, LaTeX, CSV, JSON, HTML |
//! | `eval` | datasets, models, solvers, scorers, tasks, the runner |
//!
//! The attributes [`macro@metric`], [`macro@reducer`], [`macro@solver`], [`macro@scorer`] and [`macro@task`] define custom
//! ones. A program that ends in [`main()`] *is* the command line, with everything that it defines:
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
//! Features that are on by default: `cli` (the command line; with it `eval`), `eval` (the module `eval`, its attributes and
//! their async runtime), `parquet` (score tables in Parquet), `view` (the local server over a folder of logs). Features that
//! are off: `arrow` (tables in memory, as data frames have them), `providers` (models of other providers than OpenAI).
//! `default-features = false` leaves a library without async code and without a network.
//!
//! Errors about one score, sample or spec are an [`Error`]; those of a comparison an [`inference::Error`], and those about a
//! whole task or run an `eval::Error`.
#![forbid(unsafe_code)]

pub mod prelude;

pub use errorbar_analysis as analysis;
#[cfg(feature = "cli")]
/// ```no_run
/// use errorbar::prelude::*;
///
/// fn main() -> std::process::ExitCode {
///     let best = metric_fn("best", |scores: &Scores<'_>| {
///         Ok(scores.floats().into_iter().fold(f64::NEG_INFINITY, f64::max))
///     });
///     let sums = Task::new([Sample::new("1 + 1").target("2")]).solver(generate()).scorer(includes());
///     App::new()
///         .metric(best, "The highest score.")
///         .task("sums", sums, "One sum.")
///         .run(std::env::args_os())
/// }
/// ```
pub use errorbar_cli::App;
#[cfg(feature = "cli")]
pub use errorbar_cli::main;
pub use errorbar_core as core;
pub use errorbar_core::{
    Conversion, Error, Estimate, IndexMap, Interval, Metric, MetricValue, Metrics, Plan, Reducer, Registry,
    Result, Results, SampleId, Score, ScoreColumns, Scores, Undefined, Value, metric_fn, metrics, reducer_fn,
    reducers,
};
#[cfg(feature = "eval")]
pub use errorbar_eval as eval;
pub use errorbar_inference as inference;
pub use errorbar_macros::{metric, reducer};
#[cfg(feature = "eval")]
pub use errorbar_macros::{scorer, solver, task};
pub use errorbar_report as report;
pub use errorbar_stats as stats;

/// What the code that attributes generate is made of. Not for users of the library: it changes without notice.
#[doc(hidden)]
pub mod generated {
    pub use errorbar_core::*;
    #[cfg(feature = "eval")]
    pub use errorbar_eval as eval;
}

/// Eval logs (`.eval`, `.json`): read, verified, revised and written.
///
/// ```no_run
/// use errorbar::log::{EvalLog, ScoreOptions, plan_from_header};
/// use errorbar::prelude::*;
///
/// let log = EvalLog::open("logs/run.eval")?;
/// let header = log.header()?;
/// let (plan, _warnings) = plan_from_header(&header, &Registry::built_in())?;
/// let scores = log.scores(&header, &ScoreOptions::new(plan.metadata_keys()))?;
/// let results = plan.evaluate(&scores.columns)?.results;
/// println!("{}: {:?}", header.eval.task, results.estimate("accuracy")?.value);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub mod log {
    pub use errorbar_log::eval::{
        EvalConfig, EvalError, EvalInfo, EvalLog, Header, LOG_SCHEMA, LogError, LogErrorKind, LogLimits,
        LogScores, LogSummary, LogWarning, LogWriter, NewScores, Revision, SampleRecord, Samples, ScoreEdit,
        ScoreOptions, ScorerInfo, StartRecord, Stats, Status, Transcripts, Verification, Verifier, convert,
        find_logs, is_log_file, plan_from_header,
    };
    pub use errorbar_log::inspect;
}

/// Score tables: CSV, TSV, JSONL and Parquet, read into columns; the scores of logs, written as tables.
///
/// ```
/// use errorbar::prelude::*;
/// use errorbar::table::{TableOptions, read_table};
///
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("scores.csv");
/// std::fs::write(&path, "id,score\nq1,1\nq2,0\nq3,1\n")?;
/// let table = read_table(&path, &TableOptions::new())?;
/// let results = Plan::new().metrics(metrics![mean()]).evaluate(&table.columns)?.results;
/// assert_eq!(results.estimate("mean")?.n, 3);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub mod table {
    pub use errorbar_analysis::export;
    pub use errorbar_table::{
        ScoreTable, TableError, TableErrorKind, TableLimits, TableLocation, TableOptions, read_table,
        read_tables,
    };
}

/// The snippets of the README and of the book run with the doc tests.
#[cfg(all(doctest, feature = "cli"))]
mod book {
    #[doc = include_str!("../../../README.md")]
    struct Readme;
    #[doc = include_str!("../../../docs/rust.md")]
    struct Rust;
    #[doc = include_str!("../../../docs/planning.md")]
    struct Planning;
    #[doc = include_str!("../../../docs/from-inspect-code.md")]
    struct FromInspect;
}
