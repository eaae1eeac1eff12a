//! Eval logs: written during a run, read into the columns of errorbar, revised and converted.
//!
//! A log is append-only while it is written, and what is replaced later is spliced into a copy ([`eval`]). Samples are
//! skimmed for the fields that are needed and never parsed completely, so memory is that of the scores. Mapping whole
//! files and slicing them was rejected: it would be faster by a little, but a log that is being written to would take the
//! process down. The names and numbers under which the reference records results are in [`inspect`].
//!
//! ```
//! use errorbar_core::{MetadataKeys, Plan, Score};
//! use errorbar_log::eval::*;
//!
//! # let folder = tempfile::tempdir()?;
//! # let path = folder.path().join("quiz.eval");
//! let eval = EvalInfo::new("quiz", "mock/x");
//! let mut writer = LogWriter::create(&path, &StartRecord::new(eval, PlanRecord::default()))?;
//! for (id, grade) in [("q1", "C"), ("q2", "I"), ("q3", "C"), ("q4", "C")] {
//!     let (id, scores) = (SampleId::from(id), [("match".to_owned(), Score::new(grade))]);
//!     writer.append_sample(&SampleRecord { scores: &scores, ..SampleRecord::new(&id, 1) })?;
//! }
//! drop(writer);
//! let columns = EvalLog::open(&path)?.score_columns(&MetadataKeys::NONE)?;
//! let results = Plan::new().evaluate(&columns)?.results;
//! assert_eq!(results.estimate("accuracy")?.number(), Some(0.75));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![forbid(unsafe_code)]

pub use strict_json::{JsonLayout, StrictWriter, strict_json};

pub mod eval;
pub mod inspect;
mod recorded;
mod strict_json;
