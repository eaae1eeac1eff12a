//! Eval logs (`.eval`): written while an evaluation runs, read to compute its results again.
//!
//! Only this module knows the format. A log is a zip file that grows by whole members; a sample is
//! in the file, by a single write of the process, before it is reported as done. The directory of the
//! zip is a convenience that is rewritten now and then, never something that reading depends on: where it is
//! missing or wrong, the members are found one after the other ([`EvalLog::was_recovered`]). Rewriting the
//! directory with every sample was rejected, as it makes long runs quadratic; a second journal file beside the
//! log, because two files can be separated.
//!
//! ```
//! use errorbar_core::{MetadataKeys, Plan, Score};
//! use errorbar_log::eval::*;
//!
//! # let folder = tempfile::tempdir()?;
//! # let path = folder.path().join("quiz.eval");
//! let start = StartRecord::new(EvalInfo::new("quiz", "mockllm/model"), PlanRecord::default());
//! let mut writer = LogWriter::create(&path, &start)?;
//! let (id, input, target) = (SampleId::from("q1"), Input::from("6 × 7?"), Targets::from("42"));
//! let messages = [Message::user("6 × 7?"), Message::assistant("42")];
//! let output = ModelOutput::from_text("mockllm/model", "42");
//! let scores = [("match".to_owned(), Score::new("C"))];
//! let record = SampleRecord {
//!     input: Some(&input),
//!     target: Some(&target),
//!     messages: &messages,
//!     output: Some(&output),
//!     scores: &scores,
//!     ..SampleRecord::new(&id, 1)
//! };
//! writer.append_sample(&record)?;
//!
//! // From here on the sample survives whatever happens to the process.
//! let columns = EvalLog::open(&path)?.score_columns(&MetadataKeys::All)?;
//! let evaluation = Plan::new().evaluate(&columns)?;
//! let results = &evaluation.results;
//! let header = Header::started(start).status(Status::Success).results(RecordedResults::from(results));
//! writer.finish(&header, &Reductions::of(&evaluation.reductions, &columns))?;
//! assert!(compare(EvalLog::open(&path)?.header()?.results.as_ref().unwrap(), results).is_empty());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub use errorbar_core::SampleId;
pub use errorbar_core::chat::{
    Input, Message, MessageRole, MessageSource, ModelOutput, OutputChoice, SampleEvents, Targets, Usage,
};
pub use errorbar_files::has_log_name;

pub use crate::recorded::{RecordedBlock, RecordedMetric, RecordedResults};
pub use convert::{DamagedSamples, ResumedLog, convert, remove_damaged_samples};
pub use error::{LogError, LogErrorKind, Result};
pub use folder::{FoundLogs, find_logs, is_log_file, is_manifest};
pub use header::{
    DatasetInfo, EvalConfig, EvalError, EvalInfo, Header, PlanRecord, PlanStep, ScorerInfo, StartRecord,
    Stats, Status, VERSION,
};
pub(crate) use json::validate as validate_json;
pub use limits::LogLimits;
pub use lock::{FileHolder, LockHolder, LogLock};
pub use log_summary::{
    GRADED_SCORERS, GRADER_ROLE, LogSummary, MODEL_ROLES, STOP_WHEN, STOPPED_EARLY, StoppedEarly,
    recorded_early_stop, self_graded,
};
pub use outcome::{
    Check, CheckCounts, CheckOutcome, DifferenceKind, NotCheckable, Verification, VerifyOutcome,
};
pub use plan::{
    ERRORS, LogWarning, MAX_METRICS, NamedConversion, metrics_to_log, plan_from_header, recorded_errors,
};
pub use reader::{EvalLog, SampleReader, Samples};
pub use rescore::{NewScorer, NewScores, ScoreAction};
pub use revision::{Revision, ScoreEdit, score_value};
pub use sample::{SampleFields, SampleLimit, SampleRecord, StoredSample};
pub use scores::{EditedScore, LogScores, Reductions, ScoreOptions};
pub use transcript::{MessagePart, Transcript, TranscriptMessage, Transcripts};
pub use unavailable::ReducerConversion;
pub use verify::{Verifier, compare};
pub use wire::{MAX_SCORERS, timestamp};
pub use writer::{EncodedSample, LogWriter, encode_sample};
pub use zip::{Encoder, Member};

/// Setters of fields, some of them optional.
macro_rules! setters {
    ($($(#[$doc:meta])* $name:ident: $type:ty => $($field:ident).+;)+) => {$(
        $(#[$doc])*
        #[must_use]
        pub fn $name(mut self, $name: $type) -> Self {
            self.$($field).+ = $name.into();
            self
        }
    )+};
}

mod chunks;
mod container;
mod convert;
mod error;
mod events;
mod folder;
#[cfg(feature = "frames")]
pub mod frames;
mod header;
mod json;
mod limits;
mod lock;
mod log_summary;
mod outcome;
mod plan;
mod reader;
mod rescore;
mod revision;
mod rewrite;
mod sample;
mod scores;
mod transcript;
mod unavailable;
mod verify;
mod wire;
mod writer;
mod zip;

/// The JSON schema of a log that is one JSON object; see `docs/logs.md`.
pub const LOG_SCHEMA: &str = include_str!("../../schema/log.schema.json");
