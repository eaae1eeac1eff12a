//! One writer at a time, and places that cannot be written to.

use errorbar_core::Score;
use errorbar_log::eval::*;

use crate::eval::support::*;

#[test]
fn two_writers_are_one_too_many() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log.eval");
    let mut writer = LogWriter::create(&path, &start()).unwrap();
    let exists = LogWriter::create(&path, &start()).unwrap_err();
    assert!(matches!(exists.kind(), LogErrorKind::Exists), "{exists}");
    let locked = LogWriter::resume(&path).unwrap_err();
    assert!(matches!(locked.kind(), LogErrorKind::Locked), "{locked}");
    assert_eq!(locked.path(), Some(path.as_path()));
    Sample::new(1, 1, Score::new("C")).record(|record| writer.append_sample(record)).unwrap();
    assert_eq!(keys(&EvalLog::open(&path).unwrap()).len(), 1, "reading is free");
    drop(writer);
    LogWriter::resume(&path).unwrap();
}

#[test]
fn a_folder_that_cannot_be_made() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    std::fs::write(&file, "").unwrap();
    let path = file.join("log.eval");
    let error = LogWriter::create(&path, &start()).unwrap_err();
    assert_eq!(error.path(), Some(path.as_path()));
    assert!(matches!(error.kind(), LogErrorKind::Folder(_)), "{error}");
}

#[test]
fn a_name_that_does_not_fit() {
    let folder = tempfile::tempdir().unwrap();
    let mut writer = LogWriter::create(&folder.path().join("log.eval"), &start()).unwrap();
    let sample = Sample::new("i".repeat(70_000), 1, Score::new("C"));
    let error = sample.record(|record| writer.append_sample(record)).unwrap_err();
    assert!(matches!(error.kind(), LogErrorKind::TooLong { .. }), "{error}");
    assert!(error.to_string().len() < 1000, "{error}");
    Sample::new(1, 1, Score::new("C")).record(|record| writer.append_sample(record)).unwrap();
}
