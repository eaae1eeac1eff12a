//! Running a task: checked first, then its samples concurrently, each written to the log when it is done.
//!
//! ```text
//!  prepare ──▶ workers ──(encoded sample)──▶ collector ──▶ log
//!              N at a time, on the runtime    one thread:   results, header
//!              solve, score, encode           write, count, report to the observer
//! ```
//!
//! A sample counts as done when its record has reached the file, and not before: only the collector counts.

mod collector;
mod conclude;
mod execute;
mod models;
mod options;
mod prepare;
mod record;
mod resume;
mod running;
mod stop;
mod stopping;

pub use conclude::FinishedRun;
pub(crate) use execute::within;
pub(crate) use models::{ModelOpener, check_prices};
pub use models::{ModelServer, RecordedServer};
pub use options::{LogFormat, RunOptions};
pub use prepare::{PrepareError, PreparedTask};
pub(crate) use prepare::{declared_range, scorer_plan};
pub(crate) use record::{now, since_epoch};
pub use resume::{EarlierRun, ResumableLog, open_earlier, open_resumable, open_resumable_with};
pub use running::{RunningFigure, RunningFigures};
pub use stop::{CancelToken, Observer, Progress, Quiet, StopReason, block_on, cancel_on_interrupt};
pub use stopping::SequenceProgress;
