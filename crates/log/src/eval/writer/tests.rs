use super::super::header::{EvalInfo, PlanRecord};
use super::super::members::SUMMARIES;
use super::super::reader::EvalLog;
use super::super::zip::source::tests::change_before_read;
use super::*;

fn writer(folder: &Path) -> LogWriter {
    let start = StartRecord::new(EvalInfo::default(), PlanRecord::default());
    LogWriter::create(&folder.join("log.eval"), &start).unwrap()
}

fn sample(encoder: &mut Encoder, id: usize, padding: usize) -> EncodedSample {
    // Noise, as a string that repeats compresses to nothing.
    let noise: String =
        (0..padding).map(|at| char::from(b'a' + ((id * 31 + at) * 7919 % 26) as u8)).collect();
    let json = format!("{{\"id\":{id},\"epoch\":1,\"noise\":\"{noise}\"}}");
    let member = encoder.encode(&format!("samples/{id}_epoch_1.json"), json.as_bytes()).unwrap();
    EncodedSample { member, summary: format!("{{\"id\":{id}}}").into_bytes() }
}

#[test]
fn directories_cost_no_more_than_what_they_list() {
    for padding in [0, 400] {
        let folder = tempfile::tempdir().unwrap();
        let mut writer = writer(folder.path());
        let mut encoder = Encoder::new().unwrap();
        let mut directories = 0;
        for id in 0..3000 {
            writer.append_encoded(sample(&mut encoder, id, padding)).unwrap();
            directories += usize::from(writer.has_tail);
            let len = std::fs::metadata(&writer.path).unwrap().len();
            assert!(
                len >= writer.end && (len > writer.end) == writer.has_tail,
                "nothing stale is left behind"
            );
        }
        // Each directory is paid for by as many bytes of members; the factor holds at any length.
        assert!(writer.bytes_written < 3 * writer.end, "{} for {}", writer.bytes_written, writer.end);
        assert!(directories > 3, "{directories}");
        let pieces = writer.members.keys().filter(|name| name.starts_with("_journal/summaries/")).count();
        assert!((1..300).contains(&pieces), "{pieces}");
    }
}

#[test]
fn the_directory_is_right_whenever_there_is_one() {
    let folder = tempfile::tempdir().unwrap();
    let mut writer = writer(folder.path());
    let mut encoder = Encoder::new().unwrap();
    for id in 0..60 {
        // Some are appended a second time.
        writer.append_encoded(sample(&mut encoder, id / 2 * 2, 50)).unwrap();
        let log = EvalLog::open(&writer.path).unwrap();
        assert_eq!(log.was_recovered(), !writer.has_tail);
        assert_eq!(log.sample_count(), id / 2 + 1);
    }
}

#[test]
fn a_write_that_fails_leaves_what_was_there() {
    let folder = tempfile::tempdir().unwrap();
    let mut writer = writer(folder.path());
    let mut encoder = Encoder::new().unwrap();
    for id in 0..20 {
        writer.append_encoded(sample(&mut encoder, id, 10)).unwrap();
    }
    let path = writer.path.clone();
    // A file that is open for reading refuses to be written to.
    let good = std::mem::replace(&mut writer.file, File::open(&path).unwrap());
    let error = writer.append_encoded(sample(&mut encoder, 20, 10)).unwrap_err();
    assert!(matches!(error.kind(), LogErrorKind::Write(_)), "{error}");
    assert_eq!((error.path(), error.member()), (Some(path.as_path()), Some("samples/20_epoch_1.json")));
    assert_eq!(EvalLog::open(&path).unwrap().sample_count(), 20);
    writer.file = good;
    for id in 20..25 {
        writer.append_encoded(sample(&mut encoder, id, 10)).unwrap();
    }
    let start = StartRecord::new(EvalInfo::default(), PlanRecord::default());
    writer.finish(&Header::started(start), &Reductions::none()).unwrap();
    let log = EvalLog::open(&path).unwrap();
    assert!(!log.was_recovered());
    assert_eq!(log.sample_count(), 25);
    let summaries = log.raw(SUMMARIES).unwrap().unwrap();
    let summaries: Vec<serde_json::Value> = serde_json::from_slice(&summaries).unwrap();
    let ids: Vec<u64> = summaries.iter().map(|summary| summary["id"].as_u64().unwrap()).collect();
    assert_eq!(ids, (0..25).collect::<Vec<_>>());
}

#[test]
fn a_large_journal_goes_into_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let mut writer = writer(folder.path());
    let mut encoder = Encoder::new().unwrap();
    for id in 0..40 {
        let mut sample = sample(&mut encoder, id, 0);
        sample.summary = format!("{{\"id\":{id},\"text\":\"{}\"}}", "x".repeat(100_000)).into_bytes();
        writer.append_encoded(sample).unwrap();
    }
    assert!(writer.journal.is_due() || writer.members.contains_key("_journal/summaries/3.json"));
    assert!(!writer.journal.is_large(), "memory stays bounded");
}

#[cfg(unix)]
#[test]
fn new_logs_and_their_folders_are_for_their_owner_alone() {
    use std::os::unix::fs::PermissionsExt;
    let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().join("of/runs");
    writer(&place)
        .finish(
            &Header::started(StartRecord::new(EvalInfo::default(), PlanRecord::default())),
            &Reductions::none(),
        )
        .unwrap();
    let log = place.join("log.eval");
    assert_eq!([mode(&place), mode(place.parent().unwrap()), mode(&log)], [0o700, 0o700, 0o600]);
    let json = place.join("log.json");
    super::super::convert(&EvalLog::open(&log).unwrap(), &json).unwrap();
    assert_eq!(mode(&json), 0o600);
}

#[test]
fn a_log_whose_directory_goes_while_it_is_opened_is_read_again() {
    let folder = tempfile::tempdir().unwrap();
    let mut writer = writer(folder.path());
    let path = writer.path.clone();
    let mut encoder = Encoder::new().unwrap();
    let mut count = 0;
    while count < 300 || !writer.has_tail {
        count += 1;
        writer.append_encoded(sample(&mut encoder, count, 0)).unwrap();
    }
    let len = std::fs::metadata(&path).unwrap().len();
    let shorter = path.clone();
    change_before_read(move || {
        writer.append_encoded(sample(&mut encoder, count + 1, 0)).unwrap();
        assert!(std::fs::metadata(&shorter).unwrap().len() < len);
    });
    assert_eq!(EvalLog::open(&path).unwrap().sample_count(), count + 1);
}
