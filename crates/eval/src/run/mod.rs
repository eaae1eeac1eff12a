//! Running a task: checked first, then its samples concurrently, each written to the log when it is done.
//!
//! ```text
//!  prepare ──▶ workers ──(encoded sample)──▶ collector ──▶ log
//!              N at a time, on the runtime    one thread:   results, header
//!              solve, score, encode           write, count, report to the observer
//! ```
//!
//! A sample counts as done when its record has reached the file, and not before: only the collector counts.

mod block;
mod collector;
mod conclude;
mod earlier;
mod execute;
mod models;
mod observer;
mod options;
mod prepare;
mod record;
mod recorded_limits;
mod resume;
mod running;
mod sample;
mod servers;
mod steps;
mod stop;
mod stop_rules;
mod stopping;

pub use block::{block_on, cancel_on_interrupt};
pub use conclude::FinishedRun;
pub use earlier::{EarlierRun, open_earlier};
pub(crate) use models::{check_prices, open_graders};
pub use observer::{Observer, Progress, Quiet};
pub use options::{LogFormat, RunOptions};
pub(crate) use prepare::declared_range;
pub use prepare::{PrepareError, PreparedTask};
pub(crate) use record::{now, options_of, since_epoch};
pub use resume::{ResumableLog, open_resumable, open_resumable_with};
pub use running::{RunningFigure, RunningFigures};
pub(crate) use sample::within;
pub use servers::{ModelServer, RecordedServer};
pub use stop::{CancelToken, StopReason};
pub use stopping::SequenceProgress;
