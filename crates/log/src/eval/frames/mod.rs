//! Logs as frames: typed columns of samples, evaluations or messages, in Arrow.
//!
//! Columns, their order and their types are those of the data frames of the reference, so that what is written for one
//! can be used with the other; `conformance/check_frames.py` compares them value by value. Samples are read whole, not
//! from the summaries of a log, in which long strings are cut; transcripts are skipped where no column needs them.
//!
//! ```
//! use errorbar_log::eval::frames::{FrameOptions, sample_frame};
//! # use errorbar_log::eval::*;
//! # let folder = tempfile::tempdir()?;
//! # let path = folder.path().join("quiz.eval");
//! # let start = StartRecord::new(EvalInfo::default(), PlanRecord::default());
//! # let mut writer = LogWriter::create(&path, &start)?;
//! # let (id, scores) = (SampleId::from("q1"), [("match".to_owned(), errorbar_core::Score::new("C"))]);
//! # writer.append_sample(&SampleRecord { scores: &scores, ..SampleRecord::new(&id, 1) })?;
//! # writer.finish(&Header::started(start), &Reductions::none())?;
//! let frame = sample_frame(&[path], &FrameOptions::new())?;
//! assert_eq!(frame.num_rows(), 1);
//! assert!(frame.column_by_name("score_match").is_some());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::collections::HashSet;
use std::path::{Component, Path, PathBuf};

use arrow_array::RecordBatch;
use blake2::Blake2s;
use blake2::digest::Digest;
use blake2::digest::consts::U16;
use md5::Md5;
use rayon::prelude::*;

use super::error::{LogError, LogErrorKind, Result};
use super::folder::find_logs;
use super::header::NEWEST;
use super::limits::LogLimits;
use super::reader::EvalLog;
use evals::Times;
use frame::{FrameBuilder, FramePart};
use node::Node;
use samples::RowReader;

mod evals;
mod frame;
mod messages;
mod node;
mod samples;

/// How many samples a thread reads at a time.
const SAMPLES: usize = 64;
/// How many headers a thread reads at a time: a part of a frame takes far more memory than a row of it.
const LOGS: usize = 8;
/// How many times that each thread reads before what it has is put into the frame.
const ROUNDS: usize = 4;

/// Which nulls and types a frame has where a column has no values, or values of several types.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Dialect {
    /// What is missing is null, and a column without values is one of strings.
    #[default]
    Plain,
    /// As in the data frames of the reference: in a column of several types what is missing is the string `nan`, and a
    /// column without values is one of floats if the field is missing in some rows.
    Inspect,
}

/// How to read frames.
#[derive(Clone, Copy, Default)]
pub struct FrameOptions<'a> {
    dialect: Dialect,
    limits: LogLimits,
    interrupted: Option<&'a (dyn Fn() -> bool + Sync)>,
}

impl<'a> FrameOptions<'a> {
    /// The default.
    pub fn new() -> Self {
        FrameOptions::default()
    }

    setters! {
        /// Which nulls and types the frame has.
        dialect: Dialect => dialect;
        /// How large a log may be.
        limits: LogLimits => limits;
        /// Asked now and then whether to stop, on the thread that reads the frame.
        interrupted: &'a (dyn Fn() -> bool + Sync) => interrupted;
    }

    fn check(&self) -> Result<()> {
        match self.interrupted.is_some_and(|interrupted| interrupted()) {
            true => Err(LogErrorKind::Interrupted.into()),
            false => Ok(()),
        }
    }
}

/// The logs at these paths: files, and those in folders and their folders.
///
/// # Errors
/// A path at which there is nothing, or a folder that cannot be read.
pub fn log_paths<P: AsRef<Path>>(paths: &[P]) -> Result<Vec<PathBuf>> {
    let mut logs = Vec::new();
    for path in paths.iter().map(AsRef::as_ref) {
        let metadata = path.metadata().map_err(|error| LogError::from(LogErrorKind::Open(error)).at(path))?;
        if !metadata.is_dir() {
            logs.push(path.to_owned());
            continue;
        }
        let mut found = find_logs(path);
        if let Some((folder, error)) = found.unreadable.pop() {
            return Err(LogError::from(LogErrorKind::Open(error)).at(&folder));
        }
        logs.append(&mut found.logs);
    }
    Ok(logs)
}

/// One row for each sample in each epoch: what was asked, its metadata and scores, tokens, times and how it ended.
///
/// Logs of the same evaluation, and samples that are in several logs, are read once.
pub fn sample_frame(logs: &[PathBuf], options: &FrameOptions<'_>) -> Result<RecordBatch> {
    let frame = of_samples(logs, options, |opened, samples, part| {
        let mut reader = RowReader::new(&opened.log, &opened.run);
        samples.iter().try_for_each(|at| reader.read(*at, part))
    })?;
    frame.finish(unknown(|part, run| samples::row(&UNKNOWN, ("", ""), run, &|| "", part)), options.dialect)
}

/// One row for each message that a model was sent or returned.
pub fn message_frame(logs: &[PathBuf], options: &FrameOptions<'_>) -> Result<RecordBatch> {
    let frame = of_samples(logs, options, |opened, samples, part| {
        let mut reader = RowReader::with(&opened.log, &opened.run, messages::wanted());
        samples.iter().try_for_each(|at| reader.read_messages(*at, part))
    })?;
    frame.finish(unknown(|part, run| messages::row(&UNKNOWN, 0, "", run, part)), options.dialect)
}

/// One row for each log: what was run, how, and what came out. Only headers are read.
pub fn eval_frame(logs: &[PathBuf], options: &FrameOptions<'_>) -> Result<RecordBatch> {
    let mut frame = FrameBuilder::default();
    for logs in logs.chunks(window(ROUNDS * LOGS)) {
        options.check()?;
        let part = |paths: &[PathBuf]| {
            let mut part = FramePart::default();
            for path in paths {
                let (_, header, run) = open(path, options.limits)?;
                evals::row(&header, &run, &mut part);
            }
            Ok(part)
        };
        let parts: Vec<Result<FramePart>> = logs.par_chunks(LOGS).map(part).collect();
        for part in parts {
            frame.append(part?)?;
        }
    }
    frame.finish(unknown(|part, run| evals::row(&UNKNOWN, run, part)), options.dialect)
}

/// How much is done before it is put into the frame.
fn window(each: usize) -> usize {
    rayon::current_num_threads().max(1) * each
}

/// A record of which nothing is known.
const UNKNOWN: Node = Node::Null;

/// The columns of a frame without rows.
fn unknown(row: impl FnOnce(&mut FramePart, &RunIds)) -> FramePart {
    let mut part = FramePart::default();
    row(&mut part, &RunIds::default());
    part
}

/// What identifies a log and its evaluation.
#[derive(Debug, Default)]
struct RunIds {
    eval_id: String,
    log: String,
}

impl RunIds {
    fn of(path: &Path, header: &Node) -> RunIds {
        let text = |name: &str| header.at(&["eval", name]).and_then(Node::as_text).unwrap_or_default();
        let created =
            Times::of(text("created")).map_or_else(|| text("created").to_owned(), |times| times.text);
        let eval_id = match text("eval_id") {
            "" => id_of_eval(text("run_id"), text("task_id"), &created),
            id => id.to_owned(),
        };
        RunIds { eval_id, log: absolute(path).to_string_lossy().into_owned() }
    }
}

/// The path from the root, without `.` and `..`.
fn absolute(path: &Path) -> PathBuf {
    let mut clean = PathBuf::new();
    for part in std::path::absolute(path).unwrap_or_else(|_| path.to_owned()).components() {
        match part {
            Component::ParentDir => {
                clean.pop();
            }
            part => clean.push(part),
        }
    }
    clean
}

fn open(path: &Path, limits: LogLimits) -> Result<(EvalLog, Node, RunIds)> {
    let log = EvalLog::open_with(path, limits)?;
    let header = log.json_of_header()?;
    let header = Node::parse(&header).map_err(|error| error.at(path))?;
    if let Some(&Node::Int(found)) = header.get("version")
        && found > i64::from(NEWEST)
    {
        let found = u32::try_from(found).unwrap_or(u32::MAX);
        return Err(LogError::from(LogErrorKind::Version { found, known: NEWEST }).at(path));
    }
    let run = RunIds::of(path, &header);
    Ok((log, header, run))
}

/// An open log and its samples, in the order of the frame.
struct OpenLog {
    log: EvalLog,
    run: RunIds,
    order: Vec<usize>,
}

impl OpenLog {
    fn open(path: &Path, limits: LogLimits) -> Result<Self> {
        let (log, _, run) = open(path, limits)?;
        // Samples of an object are in their order.
        let order = if log.is_json() { (0..log.sample_count()).collect() } else { log.key_order()? };
        Ok(OpenLog { log, run, order })
    }
}

/// Reads samples of all logs, on all threads of the current pool, some at a time.
fn of_samples(
    logs: &[PathBuf],
    options: &FrameOptions<'_>,
    read: impl Fn(&OpenLog, &[usize], &mut FramePart) -> Result<()> + Sync,
) -> Result<FrameBuilder> {
    let mut frame = FrameBuilder::default();
    let mut evals = HashSet::new();
    for logs in logs.chunks(window(ROUNDS)) {
        options.check()?;
        let opened: Vec<Result<OpenLog>> =
            logs.par_iter().map(|path| OpenLog::open(path, options.limits)).collect();
        let mut some = Vec::with_capacity(opened.len());
        for opened in opened {
            let opened = opened?;
            if evals.insert(opened.run.eval_id.clone()) {
                some.push(opened);
            }
        }
        let work: Vec<(&OpenLog, &[usize])> = some
            .iter()
            .flat_map(|opened| opened.order.chunks(SAMPLES).map(move |part| (opened, part)))
            .collect();
        for work in work.chunks(window(ROUNDS)) {
            options.check()?;
            let parts: Vec<Result<FramePart>> = work
                .par_iter()
                .map(|(opened, samples)| {
                    let mut part = FramePart::default();
                    read(opened, samples, &mut part)?;
                    // What is held of a log counts until the log is read.
                    opened
                        .log
                        .container
                        .memory
                        .take(part.bytes())
                        .map_err(|error| error.at(opened.log.path()))?;
                    Ok(part)
                })
                .collect();
            for part in parts {
                frame.append(part?)?;
            }
        }
    }
    Ok(frame)
}

// Ids of samples, runs and messages that a log does not record, as the reference makes them up.

/// The digits of shortuuid: no two look alike.
const DIGITS: &[u8; 57] = b"23456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";
/// How many of them 128 bits take.
const LENGTH: usize = 22;

/// An id of a part, from that of the whole.
pub(super) fn derived_id(base: &str, part: &str) -> String {
    in_digits(Md5::digest(format!("{base}_{part}")).into())
}

/// The id of the evaluation in a log that records none.
fn id_of_eval(run: &str, task: &str, created: &str) -> String {
    in_digits(Blake2s::<U16>::digest(format!("{run}{task}{created}")).into())
}

fn in_digits(bytes: [u8; 16]) -> String {
    let mut number = u128::from_be_bytes(bytes);
    let mut text = Vec::with_capacity(LENGTH);
    for _ in 0..LENGTH {
        text.extend(DIGITS.get((number % 57) as usize));
        number /= 57;
    }
    text.reverse();
    String::from_utf8_lossy(&text).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    // What the reference answers.
    #[test]
    fn ids_are_those_of_the_reference() {
        assert_eq!(derived_id("enoscore", "1_1"), "iejPDMn4qnmfW2pQaxAttp");
        assert_eq!(id_of_eval("r", "ti", "2025-12-31T22:00:00.123000+00:00"), "Xy2sHj7E7E98S8cC2UHtfC");
        assert_eq!(in_digits([0; 16]), "2".repeat(22));
    }
}
