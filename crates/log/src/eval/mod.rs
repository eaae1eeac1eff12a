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
//! let record = SampleRecord::new(&id, 1).input(&input).target(&target).messages(&messages);
//! writer.append_sample(&record.output(&output).scores(&scores))?;
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

mod answered;
mod chunks;
mod container;
mod convert;
mod early_stop;
mod edit;
mod error;
mod folder;
#[cfg(feature = "frames")]
pub mod frames;
mod header;
mod json;
mod json_log;
mod limits;
mod lock;
mod lock_file;
mod log_summary;
mod members;
mod memory_budget;
mod parallel;
mod plan;
mod raw;
mod reader;
mod reductions;
mod rescore;
mod rescore_write;
mod resume;
mod revision;
mod salvage;
mod sample;
mod score_events;
mod scores;
mod self_graded;
mod shards;
mod stored;
mod summary;
mod transcript;
mod verify;
mod wire;
mod writer;
mod zip;

/// The JSON schema of a log that is one JSON object; see `docs/logs.md`.
pub const LOG_SCHEMA: &str = include_str!("../../schema/log.schema.json");

pub use crate::recorded::{RecordedBlock, RecordedMetric, RecordedResults};
pub use errorbar_core::SampleId;
pub use errorbar_core::chat::{
    Input, Message, MessageRole, MessageSource, ModelOutput, OutputChoice, SampleEvents, Targets, Usage,
};

pub use answered::{AnswerReader, AnsweredSample};
pub use convert::convert;
pub use early_stop::{STOP_WHEN, STOPPED_EARLY, StoppedEarly, recorded_early_stop};
pub use edit::{ScoreEdit, score_value};
pub use error::{LogError, LogErrorKind, Result};
pub use errorbar_files::has_log_name;
pub use folder::{FoundLogs, find_logs, is_log_file, is_manifest};
pub use header::{
    DatasetInfo, EvalConfig, EvalError, EvalInfo, Header, PlanRecord, PlanStep, ScorerInfo, StartRecord,
    Stats, Status, VERSION,
};
pub(crate) use json::validate as validate_json;
pub use limits::LogLimits;
pub use lock::{LockHolder, LogLock};
pub use lock_file::FileHolder;
pub use log_summary::LogSummary;
pub use plan::{
    ERRORS, LogWarning, MAX_METRICS, ReducerConversion, metrics_to_log, plan_from_header, recorded_errors,
};
pub use reader::{EvalLog, Samples};
pub use reductions::Reductions;
pub use rescore::{NewScorer, NewScores, ScoreAction};
pub use resume::ResumedLog;
pub use revision::Revision;
pub use salvage::{DamagedSamples, remove_damaged_samples};
pub use sample::{SampleLimit, SampleRecord};
pub use wire::decode::MAX_SCORERS;
pub use wire::{Shape, Wire, timestamp};

pub use scores::{EditedScore, LogScores, ScoreOptions};
pub use self_graded::{GRADED_SCORERS, GRADER_ROLE, MODEL_ROLES, self_graded};
pub use stored::{SampleFields, StoredSample};
pub use transcript::{MessagePart, Transcript, TranscriptMessage, Transcripts};
pub use verify::{
    Check, CheckCounts, CheckOutcome, Difference, DifferenceKind, NotCheckable, Verification, Verifier,
    VerifyOutcome, compare,
};
pub use writer::{EncodedSample, LogWriter, encode_sample};
pub use zip::{Encoder, Member};
