//! Logs that are too large, too clever or half wrong: refused by name, or read as far as they are right.

use std::fs;
use std::io::Write;

use errorbar_core::{MetadataKeys, Value};
use errorbar_log::eval::*;
use errorbar_test_support::assert_matches;

use crate::eval::support::{assert_damaged, written, zip};
use errorbar_test_support::zip::{Zip, deflated};

fn scores(log: &EvalLog, keys: MetadataKeys) -> Result<LogScores> {
    log.scores(&log.header()?, &ScoreOptions::new(keys))
}

/// A sample with a string of this number of bytes in a field, packed and its checksum.
fn long_sample(before: &str, bytes: usize, after: &str) -> (Vec<u8>, u32, u32) {
    let mut packed = zstd::stream::write::Encoder::new(Vec::new(), 1).unwrap();
    let mut crc = crc32fast::Hasher::new();
    let mut length = 0;
    let mut put = |part: &[u8]| {
        crc.update(part);
        length += part.len();
        packed.write_all(part).unwrap();
    };
    put(before.as_bytes());
    let piece = vec![b'x'; 1 << 20];
    let mut left = bytes;
    while left > 0 {
        let part = left.min(piece.len());
        put(&piece[..part]);
        left -= part;
    }
    put(after.as_bytes());
    (packed.finish().unwrap(), crc.finalize(), length as u32)
}

#[test]
fn a_string_of_a_hundred_megabytes_is_skipped() {
    let before = r#"{"id":1,"epoch":1,"messages":[{"content":""#;
    let after = r#""}],"scores":{"s":{"value":1}},"metadata":{"k":"v"}}"#;
    let (packed, crc, length) = long_sample(before, 100_000_000, after);
    let name = "samples/1_epoch_1.json";
    let (_folder, path) = written(&zip().claiming(name, 93, &packed, crc, length).bytes());

    let trusting = LogLimits { max_record: 1 << 20, ..LogLimits::default() };
    let log = EvalLog::open_with(&path, trusting).unwrap();
    let read = scores(&log, MetadataKeys::one("k")).unwrap();
    assert_eq!(read.columns.score(0, "s").unwrap().value, Value::Int(1));

    let error = scores(
        &EvalLog::open_with(&path, LogLimits { max_decompressed: 1 << 20, ..trusting }).unwrap(),
        MetadataKeys::NONE,
    );
    assert!(matches!(error.unwrap_err().kind(), LogErrorKind::TooLarge { limit: 0x10_0000, .. }));

    // The checksum is that of all the bytes, also of those that were not read.
    let (_folder, path) = written(&zip().claiming(name, 93, &packed, crc ^ 1, length).bytes());
    let error = scores(&EvalLog::open_with(&path, trusting).unwrap(), MetadataKeys::NONE).unwrap_err();
    assert_damaged(&error, &path, Some(name), "the content does not match its checksum");
}

#[test]
fn what_must_be_held_has_a_limit() {
    for (field, keys) in [("answer", MetadataKeys::NONE), ("metadata", MetadataKeys::All)] {
        let before = match field {
            "answer" => r#"{"id":1,"epoch":1,"scores":{"s":{"value":1,"answer":""#,
            _ => r#"{"id":1,"epoch":1,"metadata":{"a":{"b":""#,
        };
        let (packed, crc, length) = long_sample(before, 8 << 20, r#""}}}"#);
        let (_folder, path) =
            written(&zip().claiming("samples/1_epoch_1.json", 93, &packed, crc, length).bytes());
        let limits = LogLimits { max_record: 1 << 20, ..LogLimits::default() };
        let error = scores(&EvalLog::open_with(&path, limits).unwrap(), keys.clone()).unwrap_err();
        assert!(matches!(error.kind(), LogErrorKind::TooLargeRecord { .. }), "{field}: {error}");
        assert_eq!(error.member(), Some("samples/1_epoch_1.json"));
        assert!(scores(&EvalLog::open(&path).unwrap(), keys).is_ok(), "{field}");
    }
}

#[test]
fn a_name_that_leads_out_of_the_log_is_refused() {
    for name in [
        "../evil.json",
        "/etc/cron.d/evil",
        "a/../../b.json",
        "C:\\evil.json",
        "samples/../../x.json",
        "a\\..\\..\\b",
    ] {
        let (_folder, path) = written(&zip().stored(name, b"{}").bytes());
        let error = EvalLog::open(&path).unwrap_err();
        assert!(matches!(error.kind(), LogErrorKind::OutsideName), "{name}: {error}");
        assert!(error.path().is_some() && error.member() == Some(name), "{error}");
    }
    // An id is whatever it is.
    let sample = br#"{"id":"../../etc/x","epoch":1,"scores":{"s":{"value":1}}}"#;
    let (_folder, path) = written(&zip().stored("samples/../../etc/x_epoch_1.json", sample).bytes());
    assert_eq!(
        scores(&EvalLog::open(&path).unwrap(), MetadataKeys::NONE).unwrap().columns.id(0),
        "../../etc/x"
    );
}

#[test]
fn what_is_skipped_is_checked_on_request() {
    let wrong = br#"{"id":1,"epoch":1,"events":[1,2,}],"scores":{"s":{"value":1}}}"#;
    let (_folder, path) = written(&zip().stored("samples/1_epoch_1.json", wrong).bytes());
    let log = EvalLog::open(&path).unwrap();
    let error = log.check().unwrap_err();
    assert_eq!(error.member(), Some("samples/1_epoch_1.json"));
    assert_matches!(error.kind(), LogErrorKind::Json { at: 32, .. });

    // The summaries are not requested.
    let zip = zip().stored("samples/1_epoch_1.json", br#"{"id":1,"epoch":1,"scores":{"s":{"value":1}}}"#);
    let (_folder, path) = written(&zip.claiming("summaries.json", 0, b"[]", 7, 2).bytes());
    let log = EvalLog::open(&path).unwrap();
    assert_eq!(scores(&log, MetadataKeys::NONE).unwrap().columns.len(), 1);
    let error = log.check().unwrap_err();
    assert_damaged(&error, &path, Some("summaries.json"), "the content does not match its checksum");

    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log.json");
    fs::write(&path, br#"{"eval":{"task":"t"},"samples":[{"id":1,"epoch":1,"events":[1 2],"scores":{}}]}"#)
        .unwrap();
    let log = EvalLog::open(&path).unwrap();
    assert_eq!(scores(&log, MetadataKeys::NONE).unwrap().columns.len(), 1);
    assert!(log.check().is_err());
}

#[test]
fn a_bad_sample_is_named_or_skipped() {
    let good = |id: u32| format!(r#"{{"id":{id},"epoch":1,"scores":{{"s":{{"value":1}}}}}}"#);
    type Is = fn(&LogErrorKind) -> bool;
    let cases: [(&str, Is); 7] = [
        (
            r#"{"id":2,"epoch":1,"messages":[{},"scores":{"s":{"value":1}}}"#,
            |kind| matches!(kind, LogErrorKind::Json { problem, .. } if problem == "it ends within `messages`"),
        ),
        (r#"{"id":2,"epoch":1,"scores":{"s":{"value":1,}}}"#, |kind| {
            matches!(kind, LogErrorKind::Json { at: 43, .. })
        }),
        (r#"{"id":2,"epoch":1,"messages":[{}],"scores":{"s":{"value":1,}}}"#, |kind| {
            matches!(kind, LogErrorKind::Json { at: 59, .. })
        }),
        (r#"{"id":2,"epoch":1,"scores":{"s":{"valeu":1}}}"#, |kind| {
            matches!(kind, LogErrorKind::Missing("value"))
        }),
        (r#"{"id":2,"scores":{}}"#, |kind| matches!(kind, LogErrorKind::Missing("epoch"))),
        (
            r#"{"id":[2],"epoch":1}"#,
            |kind| matches!(kind, LogErrorKind::Field { field, found, .. } if field == "id" && found == "a list"),
        ),
        ("", |kind| matches!(kind, LogErrorKind::Json { at: 0, .. })),
    ];
    for (bad, is_problem) in cases {
        let zip = zip()
            .stored("samples/1_epoch_1.json", good(1).as_bytes())
            .stored("samples/2_epoch_1.json", bad.as_bytes())
            .stored("samples/3_epoch_1.json", good(3).as_bytes());
        let (_folder, path) = written(&zip.bytes());
        let log = EvalLog::open(&path).unwrap();
        let error = scores(&log, MetadataKeys::NONE).unwrap_err();
        assert_eq!((error.path(), error.member()), (Some(path.as_path()), Some("samples/2_epoch_1.json")));
        assert!(is_problem(error.kind()), "{bad}: {error:?}");
        let options = ScoreOptions::new(MetadataKeys::NONE).skip_bad_samples(true);
        let read = log.scores(&log.header().unwrap(), &options).unwrap();
        assert_eq!((read.columns.len(), read.skipped.len()), (2, 1));
        assert_eq!(read.skipped[0].to_string(), error.to_string());
    }
}

#[test]
fn samples_without_scores_are_samples() {
    let zip = zip()
        .stored("samples/1_epoch_1.json", br#"{"id":1,"epoch":1}"#)
        .stored("samples/2_epoch_1.json", br#"{"id":2,"epoch":1,"scores":{"s":{"value":1}}}"#)
        .stored("samples/3_epoch_1.json", br#"{"id":3,"epoch":1,"scores":{},"error":{"message":"x"}}"#);
    let (_folder, path) = written(&zip.bytes());
    let columns = EvalLog::open(&path).unwrap().score_columns(&MetadataKeys::NONE).unwrap();
    let results = errorbar_core::Plan::new().evaluate(&columns).unwrap().results;
    assert_eq!((results.total_samples, results.completed_samples), (3, 2));
    assert_eq!((results.scores[0].counts.scored, results.scores[0].counts.missing), (1, 2));
}

#[test]
fn a_sample_in_several_members() {
    let shell = br#"{"id":"a/b","epoch":1,"scores":{"s":{"value":"C"}},"message_refs":[[0,2]]}"#;
    let metadata = br#"{"cat":"x","n":1}"#;
    let zip = zip()
        .member("samples/a/b_epoch_1/sample.json", 8, &deflated(shell), shell)
        .stored("samples/a/b_epoch_1/metadata.json", metadata)
        .stored("samples/a/b_epoch_1/messages/0.json", b"[{},{}]")
        .stored("samples/a/b_epoch_1/events/stats.json", b"{}")
        .stored(
            "samples/c_epoch_1.json",
            br#"{"id":"c","epoch":1,"scores":{"s":{"value":"I"}},"metadata":{"cat":"y"}}"#,
        );
    let (folder, path) = written(&zip.bytes());
    let log = EvalLog::open(&path).unwrap();
    assert_eq!(log.sample_count(), 2);
    let samples: Vec<StoredSample> = log.samples().unwrap().collect::<Result<_>>().unwrap();
    assert_eq!(samples[0].metadata["n"], 1);
    let only = SampleFields::scores(MetadataKeys::one("cat"));
    let samples: Vec<StoredSample> = log.samples_with(only).unwrap().collect::<Result<_>>().unwrap();
    assert_eq!(samples[0].metadata, errorbar_core::Metadata::from_iter([("cat".to_owned(), "x".into())]));
    assert_eq!(samples[1].metadata["cat"], "y");
    convert(&log, &folder.path().join("log.json")).unwrap();
    let json: serde_json::Value =
        serde_json::from_slice(&std::fs::read(folder.path().join("log.json")).unwrap()).unwrap();
    assert_eq!(json["samples"][0]["messages"], serde_json::json!([{}, {}]));
    assert_eq!(json["samples"][0]["metadata"]["n"], 1);

    // What is in no sample's folder is not skipped.
    let (_folder, path) = written(&zip.stored("samples/lost.json", b"{}").bytes());
    let error = scores(&EvalLog::open(&path).unwrap(), MetadataKeys::NONE).unwrap_err();
    assert_eq!(error.member(), Some("samples/lost.json"));
}

#[test]
fn a_format_of_the_future_is_refused() {
    let start = br#"{"version":4,"eval":{"task":"t"},"plan":{}}"#;
    let (_folder, path) = written(&Zip::new().stored("_journal/start.json", start).bytes());
    let error = EvalLog::open(&path).unwrap().header().unwrap_err();
    assert_matches!(error.kind(), LogErrorKind::Version { found: 4, known: 3 });
}

#[test]
fn very_old_logs() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log.json");
    let old = r#"{"version":1,"status":"success","eval":{"task":"t","config":{}},
        "results":{"scorer":{"name":"includes"},"metrics":{"accuracy":{"name":"accuracy","value":0.5}}},
        "samples":[{"id":1,"epoch":1,"score":{"value":"C"}},{"id":2,"epoch":1,"score":{"value":"I"}}]}"#;
    for (text, scorer) in [(old.to_owned(), "includes"), (old.replace("results", "nothing"), "score")] {
        fs::write(&path, text).unwrap();
        let log = EvalLog::open(&path).unwrap();
        let columns = log.score_columns(&MetadataKeys::NONE).unwrap();
        let results = errorbar_core::Plan::new().evaluate(&columns).unwrap().results;
        assert_eq!(results.scores[0].scorer, scorer);
        assert_eq!(results.estimate("accuracy").unwrap().number(), Some(0.5));
    }
}

#[test]
fn sizes_in_the_extension_for_large_files() {
    let sample = br#"{"id":1,"epoch":1,"scores":{"s":{"value":1}}}"#;
    let (_folder, path) = written(&zip().stored("samples/1_epoch_1.json", sample).bytes_64());
    let log = EvalLog::open(&path).unwrap();
    assert!(!log.was_recovered());
    assert_eq!(scores(&log, MetadataKeys::NONE).unwrap().columns.len(), 1);
    let mut revision = log.revise().unwrap();
    revision.set_reducers(&errorbar_core::Reducers::Disabled).unwrap();
    let copy = path.with_extension("copy.eval");
    revision.write_to(&copy).unwrap();
    assert_eq!(EvalLog::open(&copy).unwrap().sample_count(), 1);
}

const SAMPLE: &[u8] = br#"{"id":1,"epoch":1,"scores":{"s":{"value":1}}}"#;

#[test]
fn a_directory_that_lists_too_little_is_not_believed() {
    let two = br#"{"id":2,"epoch":1,"scores":{"s":{"value":1}}}"#;
    let whole = zip().stored("samples/1_epoch_1.json", SAMPLE).stored("samples/2_epoch_1.json", two).bytes();
    let end = whole.len() - 22;
    let entry = 46 + "samples/2_epoch_1.json".len();
    let entries: Vec<usize> = (0..end).filter(|at| whole[*at..].starts_with(b"PK\x01\x02")).collect();
    type Damage<'a> = &'a dyn Fn(&mut Vec<u8>);
    let damages: [Damage<'_>; 4] = [
        // One entry less is counted.
        &|bytes| (bytes[end + 8], bytes[end + 10]) = (2, 2),
        // And the last is left out of the length too.
        &|bytes| {
            (bytes[end + 8], bytes[end + 10]) = (2, 2);
            let size = u32::from_le_bytes(bytes[end + 12..end + 16].try_into().unwrap()) - entry as u32;
            bytes[end + 12..end + 16].copy_from_slice(&size.to_le_bytes());
        },
        // An entry claims to be another one, which comes after it.
        &|bytes| bytes[entries[1] + 46 + "samples/".len()] = b'2',
        // A member would reach into the directory.
        &|bytes| bytes[entries[2] + 44] = 1,
    ];
    for (number, damage) in damages.iter().enumerate() {
        let mut bytes = whole.clone();
        damage(&mut bytes);
        let (_folder, path) = written(&bytes);
        let log = EvalLog::open(&path).unwrap();
        assert!(log.was_recovered(), "{number}");
        assert_eq!(scores(&log, MetadataKeys::NONE).unwrap().columns.len(), 2, "{number}");
    }
}

#[test]
fn an_entry_that_differs_from_the_directory_is_refused() {
    let name = "samples/1_epoch_1.json";
    let whole = zip().stored(name, SAMPLE).bytes();
    let local = whole.windows(name.len()).position(|window| window == name.as_bytes()).unwrap() - 30;
    let listed = whole.windows(name.len()).rposition(|window| window == name.as_bytes()).unwrap() - 46;
    let other = "another entry is at the offset in the directory";
    for (at, value, listed_name, problem) in [
        (local + 8, 8, name, other),
        (listed + 46 + "samples/".len(), b'5', "samples/5_epoch_1.json", other),
        (listed + 8, 1, name, "it is encrypted"),
    ] {
        let mut bytes = whole.clone();
        bytes[at] = value;
        let (_folder, path) = written(&bytes);
        let error = scores(&EvalLog::open(&path).unwrap(), MetadataKeys::NONE).unwrap_err();
        assert_damaged(&error, &path, Some(listed_name), problem);
    }
}

#[test]
fn an_entry_that_is_longer_than_its_size_is_refused() {
    // The checksum is that of the part that it admits to, which is a whole record.
    for blanks in [0, 5 << 20] {
        let part = [SAMPLE, &vec![b' '; blanks]].concat();
        let more = [part.as_slice(), b" \n "].concat();
        for (method, packed) in
            [(0, more.clone()), (8, deflated(&more)), (93, zstd::encode_all(&*more, 1).unwrap())]
        {
            let name = "samples/1_epoch_1.json";
            let zip = zip().claiming(name, method, &packed, crc32fast::hash(&part), part.len() as u32);
            let (_folder, path) = written(&zip.bytes());
            let error = scores(&EvalLog::open(&path).unwrap(), MetadataKeys::NONE).unwrap_err();
            let problem = format!("the content has not the {} bytes that it should have", part.len());
            assert_damaged(&error, &path, Some(name), &problem);
        }
    }
}

#[test]
fn large_samples_are_read_one_after_the_other() {
    // Whose first bytes do not give the id, so that the decompressor stops in the middle and starts again.
    let before = r#"{"messages":[""#;
    let after = r#""],"id":1,"epoch":1,"scores":{"s":{"value":1}}}"#;
    let (packed, crc, length) = long_sample(before, 5 << 20, after);
    let zip = zip().claiming("samples/1_epoch_1.json", 93, &packed, crc, length);
    let (_folder, path) = written(&zip.bytes());
    let samples: Vec<StoredSample> =
        EvalLog::open(&path).unwrap().samples().unwrap().collect::<Result<_>>().unwrap();
    assert_eq!(samples[0].id, SampleId::Int(1));
}

#[test]
fn a_header_in_an_archive_has_a_limit() {
    let header = format!(r#"{{"version":2,"eval":{{"task":"{}"}}}}"#, "x".repeat(1000));
    let (_folder, path) = written(&zip().stored("header.json", header.as_bytes()).bytes());
    let log = EvalLog::open_with(&path, LogLimits { max_record: 500, ..LogLimits::default() }).unwrap();
    let error = log.header().unwrap_err();
    assert!(matches!(error.kind(), LogErrorKind::TooLargeRecord { limit: 500 }), "{error}");
}

#[test]
fn an_archive_that_is_no_log_is_refused_when_it_is_opened() {
    let (_folder, path) = written(&Zip::new().stored("word/document.xml", b"<x/>").bytes());
    assert!(matches!(EvalLog::open(&path).unwrap_err().kind(), LogErrorKind::NoStart));
}

#[test]
fn a_json_log_may_begin_with_blanks_and_name_a_part_twice() {
    let sample = |id: u32| format!(r#"{{"id":{id},"epoch":1,"scores":{{"s":{{"value":1}}}}}}"#);
    let (one, two) = (sample(1), sample(2));
    let (_folder, path) = written(
        format!(
            "\r\n\t {{\"eval\":{{\"task\":\"t\"}},\"samples\":[{one},{two}],\"samples\":[{two}],\
             \"reductions\":[1],\"reductions\":[2]}}"
        )
        .as_bytes(),
    );
    let log = EvalLog::open(&path).unwrap();
    assert_eq!(log.sample_count(), 1);
    assert_eq!(scores(&log, MetadataKeys::NONE).unwrap().columns.id(0), "2");
    convert(&log, &path.with_extension("json")).unwrap();
    let text = fs::read_to_string(path.with_extension("json")).unwrap();
    assert!(text.ends_with("\"reductions\":[2]}"), "{text}");
}

#[test]
fn the_score_of_a_very_old_log_is_by_its_only_scorer() {
    let (_folder, path) = written(
        br#"{"eval":{"task":"t","scorers":[{"name":"includes"}]},
            "results":{"scores":[{"name":"includes","scorer":"includes","metrics":{}}]},
            "samples":[{"id":1,"epoch":1,"score":{"value":1}},{"id":2,"epoch":1,"score":{"value":0}}]}"#,
    );
    let read = scores(&EvalLog::open(&path).unwrap(), MetadataKeys::NONE).unwrap();
    assert_eq!(read.scorers, ["includes"]);
    assert_eq!(read.columns.score(0, "includes").unwrap().value, Value::Int(1));
}

#[test]
fn a_member_with_a_long_extra_field_is_read() {
    let name = "samples/1_epoch_1.json";
    let mut bytes = zip().stored(name, SAMPLE).bytes();
    let local = bytes.windows(name.len()).position(|window| window == name.as_bytes()).unwrap() - 30;
    let more = [&b"YY\xc4\x00"[..], &[0; 196]].concat();
    let at = local + 30 + name.len() + 8;
    bytes[local + 28] += more.len() as u8;
    bytes.splice(at..at, more.iter().copied());
    let end = bytes.len() - 22;
    let offset = u32::from_le_bytes(bytes[end + 16..end + 20].try_into().unwrap()) + more.len() as u32;
    bytes[end + 16..end + 20].copy_from_slice(&offset.to_le_bytes());
    let (_folder, path) = written(&bytes);
    let log = EvalLog::open(&path).unwrap();
    assert!(!log.was_recovered());
    assert_eq!(scores(&log, MetadataKeys::NONE).unwrap().columns.len(), 1);
}
