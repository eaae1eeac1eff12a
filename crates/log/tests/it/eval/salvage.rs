//! Logs whose damaged samples are given up, so that their runs can be resumed.

use std::fs;
use std::path::Path;

use errorbar_log::eval::{EvalLog, LogErrorKind, LogLimits, LogWriter, remove_damaged_samples};

use errorbar_core::Score;

use super::support::{Sample, write_finished, write_unfinished};

fn samples() -> Vec<Sample> {
    (1..=3_i64).map(|id| Sample::new(id, 1, Score::new(id))).collect()
}

fn position(bytes: &[u8], text: &str) -> usize {
    bytes.windows(text.len()).position(|window| window == text.as_bytes()).unwrap()
}

/// Changes a byte of a sample's data.
fn damage(path: &Path, sample: &str) {
    let mut bytes = fs::read(path).unwrap();
    let at = position(&bytes, sample) + sample.len() + 20;
    bytes[at] ^= 1;
    fs::write(path, bytes).unwrap();
}

const SECOND: &str = "samples/2_epoch_1.json";

#[test]
fn a_damaged_sample_is_taken_out_and_the_run_can_go_on() {
    for is_finished in [true, false] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log.eval");
        if is_finished {
            write_finished(&path, &samples())
        } else {
            write_unfinished(&path, &samples())
        };
        let (_, before) = LogWriter::resume(&path).unwrap();
        damage(&path, SECOND);
        let damaged = fs::read(&path).unwrap();
        assert!(LogWriter::resume(&path).is_err());

        let removed = remove_damaged_samples(&path, LogLimits::default()).unwrap().unwrap();
        assert_eq!(removed.samples, [SECOND]);
        assert_eq!(fs::read(&removed.kept_as).unwrap(), damaged, "nothing is lost");
        EvalLog::open(&path).unwrap().check().unwrap();
        let (_, after) = LogWriter::resume(&path).unwrap();
        assert_eq!(after.samples.len() + 1, before.samples.len());
        assert!(after.samples.iter().all(|sample| before.samples.contains(sample)));
        // A log without damage is not touched.
        assert_eq!(remove_damaged_samples(&path, LogLimits::default()).unwrap(), None);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2);
    }
}

#[test]
fn a_header_that_is_damaged_hides_nothing_behind_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log.eval");
    write_finished(&path, &samples());
    let mut bytes = fs::read(&path).unwrap();
    // The signature in front of the name.
    let header = position(&bytes, SECOND) - 30;
    bytes[header] ^= 1;
    fs::write(&path, &bytes).unwrap();
    let removed = remove_damaged_samples(&path, LogLimits::default()).unwrap().unwrap();
    assert_eq!(removed.samples, [format!("byte {header}")]);
    assert_eq!(EvalLog::open(&path).unwrap().sample_count() + 1, samples().len());
}

#[test]
fn what_is_torn_at_the_end_is_no_damage() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log.eval");
    write_unfinished(&path, &samples());
    let bytes = fs::read(&path).unwrap();
    let last = position(&bytes, "samples/3_epoch_1.json");
    fs::write(&path, &bytes[..last + 60]).unwrap();
    assert_eq!(remove_damaged_samples(&path, LogLimits::default()).unwrap(), None);
}

#[test]
fn a_log_that_is_written_is_not_touched() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log.eval");
    write_unfinished(&path, &samples());
    let (_writer, _) = LogWriter::resume(&path).unwrap();
    let error = remove_damaged_samples(&path, LogLimits::default()).unwrap_err();
    assert!(matches!(error.kind(), LogErrorKind::Locked), "{error}");
    let error = remove_damaged_samples(&folder.path().join("none.eval"), LogLimits::default()).unwrap_err();
    assert!(matches!(error.kind(), LogErrorKind::Open(_)), "{error}");
}
