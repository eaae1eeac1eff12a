//! A damaged log never panics and never gives a wrong score without an error.

use std::fs;

use errorbar_core::{MetadataKeys, Score};
use errorbar_log::eval::*;
use errorbar_test_support::assert_matches;
use proptest::prelude::*;

use crate::eval::support::*;
use errorbar_test_support::zip::Zip;

fn samples() -> Vec<Sample> {
    (1..=3_i64).map(|id| Sample::new(id, 1, Score::new(id))).collect()
}

/// What a reader takes from a log, or `None` if an error is reported.
fn scores(path: &std::path::Path) -> Option<(Vec<StoredSample>, Option<f64>)> {
    let log = EvalLog::open(path).ok()?;
    let header = log.header().ok()?;
    let samples = log.samples().ok()?.collect::<Result<Vec<_>>>().ok()?;
    log.score_columns(&MetadataKeys::All).ok()?;
    Some((samples, header.results.map(|results| results.scores[0].metrics["accuracy"].value)))
}

#[test]
fn one_flipped_bit_anywhere() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log.eval");
    for finished in [true, false] {
        let whole = folder.path().join(format!("{finished}.eval"));
        match finished {
            false => write_unfinished(&whole, &samples()),
            true => write_finished(&whole, &samples()),
        }
        let bytes = fs::read(&whole).unwrap();
        let right = scores(&whole).unwrap();
        let last_member = right.0.len() - 1;
        for at in 0..bytes.len() {
            let mut damaged = bytes.clone();
            damaged[at] ^= 1 << (at % 8);
            fs::write(&path, &damaged).unwrap();
            let Some(found) = scores(&path) else { continue };
            // A run that was not ended may lose its last sample: that is how a torn one looks.
            let torn = !finished && found.0 == right.0[..last_member];
            let no_header = found.1.is_none() && EvalLog::open(&path).unwrap().was_recovered();
            assert!(
                found == right || torn || (found.0 == right.0 && no_header),
                "byte {at} of {}",
                bytes.len()
            );
        }
    }
}

#[test]
fn the_local_header_is_compared_with_the_directory_where_all_is_checked() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log.eval");
    write_finished(&path, &samples());
    let bytes = fs::read(&path).unwrap();
    EvalLog::open(&path).unwrap().check().unwrap();
    let name = b"samples/2_epoch_1.json";
    let header = bytes.windows(name.len()).position(|window| window == name).unwrap() - 30;
    // The checksum, both sizes, and the name.
    for (place, problem) in [(14, "checksum"), (17, "checksum"), (18, "size"), (25, "size"), (40, "name")] {
        let mut damaged = bytes.clone();
        damaged[header + place] ^= 1;
        fs::write(&path, &damaged).unwrap();
        let error = EvalLog::open(&path).unwrap().check().unwrap_err();
        let problem = format!("the {problem} in front of the entry is not the one in the directory");
        assert_damaged(&error, &path, Some("samples/2_epoch_1.json"), &problem);
    }
}

#[test]
fn sizes_of_an_entry_in_other_places_are_found_there() {
    let content: &[u8] =
        br#"{"eval":{"created":"x","task":"t","dataset":{},"model":"m","config":{}},"plan":{}}"#;
    let (crc, length) = (crc32fast::hash(content), content.len() as u32);
    let listed = [crc, length, length];
    let long = |numbers: [u64; 2]| numbers.map(u64::to_le_bytes).concat();
    let short = [crc.to_le_bytes(), length.to_le_bytes(), length.to_le_bytes()].concat();
    let wide = [&crc.to_le_bytes()[..], &long([length.into(); 2])].concat();
    let signed = |record: &[u8]| [b"PK\x07\x08", record].concat();
    let large = |numbers: [u64; 2]| [&[1, 0, 16, 0][..], &long(numbers)].concat();
    let whole = large([length.into(); 2]);
    const AFTER: u16 = 8;
    const ELSEWHERE: u32 = u32::MAX;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log.eval");
    let check = |flags: u16, local: [u32; 3], extra: &[u8], behind: &[u8]| {
        let name = "_journal/start.json";
        let zip = Zip::new().apart(name, [flags, 0], listed, (local, extra), content, behind);
        fs::write(&path, zip.bytes()).unwrap();
        EvalLog::open(&path).unwrap().check()
    };
    // Behind the data, with a sign or without, in 32 bits or in 64; in front all the same; in the extra field.
    for record in [&short, &signed(&short), &wide, &signed(&wide)] {
        check(AFTER, [0; 3], b"", record).unwrap();
        for at in [record.len() - 1, record.len() - short.len()] {
            let mut damaged = record.clone();
            damaged[at] ^= 1;
            let error = check(AFTER, [0; 3], b"", &damaged).unwrap_err();
            let problem = "the record behind the entry does not agree with the directory";
            assert_damaged(&error, &path, Some("_journal/start.json"), problem);
        }
    }
    check(AFTER, listed, b"", &short).unwrap();
    check(AFTER, [0, ELSEWHERE, ELSEWHERE], &large([0; 2]), &wide).unwrap();
    check(0, [crc, ELSEWHERE, ELSEWHERE], &whole, b"").unwrap();
    for (local, extra, problem) in [
        ([0; 3], &b""[..], "checksum"),
        ([crc ^ 1, ELSEWHERE, ELSEWHERE], &whole, "checksum"),
        ([crc, ELSEWHERE, ELSEWHERE], &large([length.into(), 1]), "size"),
        ([crc, ELSEWHERE, ELSEWHERE], b"", "header"),
    ] {
        let error = check(0, local, extra, b"").unwrap_err();
        let problem = format!("the {problem} in front of the entry is not the one in the directory");
        assert_damaged(&error, &path, Some("_journal/start.json"), &problem);
    }
}

#[test]
fn a_log_without_a_directory_that_is_damaged_in_the_middle_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log.eval");
    write_unfinished(&path, &samples());
    let mut bytes = fs::read(&path).unwrap();
    let find = |bytes: &[u8], text: &[u8]| bytes.windows(text.len()).position(|w| w == text).unwrap();
    let second = find(&bytes, b"samples/2_epoch_1.json") + 60;
    bytes[second] ^= 1;
    bytes.truncate(bytes.len() - 10);
    fs::write(&path, &bytes).unwrap();
    for error in [EvalLog::open(&path).unwrap_err(), LogWriter::resume(&path).unwrap_err()] {
        assert_damaged(&error, &path, None, &format!("the entry at byte {} is not whole", second - 90));
    }
    assert_eq!(fs::read(&path).unwrap(), bytes, "nothing was cut off");
}

#[test]
fn what_is_no_log() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log.eval");
    let opened = |content: &[u8]| {
        fs::write(&path, content).unwrap();
        EvalLog::open(&path).unwrap_err()
    };
    assert_matches!(opened(b"\x89PNG and so on").kind(), LogErrorKind::NotALog);
    assert_matches!(opened(b"").kind(), LogErrorKind::Empty);
    assert_matches!(opened(b"{\"t.eval\": {\"version\": 2, \"eval\": {}}}").kind(), LogErrorKind::Manifest);
    assert_matches!(opened(b"PK\x05\x06").kind(), LogErrorKind::NoStart);
    let missing = folder.path().join("no.eval");
    let error = EvalLog::open(&missing).unwrap_err();
    assert_matches!(error.kind(), LogErrorKind::Open(error) if error.kind() == std::io::ErrorKind::NotFound);
    assert_eq!(error.path(), Some(missing.as_path()));
}

#[test]
fn deep_json_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log.eval");
    for deep in ["metadata", "messages", "input", "events"] {
        let _ = fs::remove_file(&path);
        let mut writer = LogWriter::create(&path, &start()).unwrap();
        let nested = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
        let json = format!("{{\"id\":1,\"epoch\":1,\"{deep}\":{nested}}}");
        let member = Encoder::new().unwrap().encode("samples/1_epoch_1.json", json.as_bytes()).unwrap();
        writer.append(member).unwrap();
        let log = EvalLog::open(&path).unwrap();
        let sample = log.samples().unwrap().next().unwrap();
        if ["events", "messages"].contains(&deep) {
            // What is skipped or counted may have any depth.
            assert_eq!(sample.unwrap().id, SampleId::Int(1));
            continue;
        }
        let error = sample.unwrap_err();
        assert!(matches!(error.kind(), LogErrorKind::Json { .. }), "{deep}: {error}");
        assert_eq!((error.member(), error.sample()), (Some("samples/1_epoch_1.json"), Some("1")));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn random_bytes_anywhere(changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6), cut in any::<prop::sample::Index>()) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log.eval");
        write_finished(&path, &samples());
        let right = scores(&path).unwrap();
        let mut bytes = fs::read(&path).unwrap();
        for (at, byte) in changes {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        if cut.index(3) == 0 {
            bytes.truncate(cut.index(bytes.len()));
        }
        fs::write(&path, &bytes).unwrap();
        if let Some((samples, _)) = scores(&path) {
            prop_assert!(samples.iter().all(|sample| right.0.contains(sample)));
        }
        let _ = LogWriter::resume(&path);
    }

    #[test]
    fn random_json_in_a_sample(json in "(\\{\"(id|epoch|scores|metadata|messages)\":)?[\\[\\]{}\",:0-9aNInfty.eE+-]{0,40}") {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log.eval");
        let mut writer = LogWriter::create(&path, &start()).unwrap();
        writer.append(Encoder::new().unwrap().encode("samples/x", json.as_bytes()).unwrap()).unwrap();
        let _ = scores(&path);
    }
}
