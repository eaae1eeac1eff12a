//! A log as one JSON object (`.json`).

use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use super::error::{LogError, LogErrorKind, Result};
use super::members::{HEADER, REDUCTIONS};
use super::reader::EvalLog;

/// Writes an `.eval` log again as a `.json` log. The samples pass through as they are, one at a time. The new
/// file takes the place of one of that name only when it is whole and on the disk.
///
/// ```
/// # use errorbar_log::eval::*;
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("quiz.eval");
/// # let start = StartRecord::new(EvalInfo::default(), PlanRecord::default());
/// # let writer = LogWriter::create(&path, &start)?;
/// # writer.finish(&Header::started(start), &Reductions::none())?;
/// convert_to_json(&path, &path.with_extension("json"))?;
/// let json: serde_json::Value = serde_json::from_slice(&std::fs::read(path.with_extension("json"))?)?;
/// assert_eq!(json["samples"], serde_json::json!([]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn convert_to_json(eval_path: &Path, json_path: &Path) -> Result<()> {
    let log = EvalLog::open(eval_path)?;
    let new = beside(json_path);
    let written = write_json(&log, &new).and_then(|()| {
        fs::rename(&new, json_path).map_err(|error| LogError::from(LogErrorKind::Write(error)).at(json_path))
    });
    if written.is_err() {
        // It is of no use to anybody; that it cannot be removed is not worth a second error.
        let _ = fs::remove_file(&new);
    }
    written
}

/// A name in the same folder, as only there a rename is a single step.
fn beside(path: &Path) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}.new", std::process::id()));
    path.with_file_name(name)
}

fn write_json(log: &EvalLog, path: &Path) -> Result<()> {
    let header = match log.raw(HEADER)? {
        Some(json) => json,
        None => log.header()?.to_json(),
    };
    let reductions = log.raw(REDUCTIONS)?;
    let io_error = |error| LogError::from(LogErrorKind::Write(error)).at(path);
    let no_object = || LogError::from(LogErrorKind::damaged("the header is no object")).at(log.path());
    let header = header.trim_ascii_end().strip_suffix(b"}").ok_or_else(no_object)?;

    let file = File::create(path).map_err(|error| LogError::from(LogErrorKind::Open(error)).at(path))?;
    let mut out = BufWriter::new(file);
    out.write_all(header).and_then(|()| out.write_all(b",\"samples\":[")).map_err(io_error)?;
    let mut samples = log.samples()?;
    let mut is_first = true;
    while samples.len() > 0 {
        out.write_all(if is_first { b"" } else { b"," }).map_err(io_error)?;
        samples.copy_next(&mut out)?;
        is_first = false;
    }
    out.write_all(b"]").map_err(io_error)?;
    if let Some(reductions) = reductions {
        out.write_all(b",\"reductions\":").and_then(|()| out.write_all(&reductions)).map_err(io_error)?;
    }
    out.write_all(b"}").map_err(io_error)?;
    let file = out.into_inner().map_err(|error| io_error(error.into_error()))?;
    file.sync_all().map_err(io_error)
}
