//! Logs that others wrote: other compression, other shapes of the same thing.

use errorbar_core::{MetadataKeys, Value};
use errorbar_log::eval::*;

use crate::eval::support::assert_damaged;
use errorbar_test_support::zip::{Zip, deflated};

/// Members as name, method, content as it is stored, content as it is meant.
fn zip(members: &[(&str, u16, Vec<u8>, &[u8])]) -> Vec<u8> {
    let add = |zip: Zip, (name, method, stored, content): &(&str, u16, Vec<u8>, &[u8])| {
        zip.member(name, *method, stored, content)
    };
    members.iter().fold(Zip::new(), add).bytes()
}

const START: &[u8] =
    br#"{"version":2,"eval":{"created":"x","task":"t","dataset":{},"model":"m","config":{}},"plan":{}}"#;
const STORED: &[u8] = br#"{"id":1,"epoch":1,"scores":{"s":{"value":null,"metadata":{"unscored_reason":"refusal"}}},"new":{"field":[NaN]}}"#;
const DEFLATED: &[u8] = br#"{"scores":{"s":{"value":{"a":NaN,"b":null}}},"epoch":1,"id":"q/2","error":"it broke","input":[{"role":"user","content":[{"type":"text","text":"a"},{"type":"image"},{"type":"text","text":"b"}]}]}"#;
const FRAMES: &[u8] =
    br#"{"id":3,"epoch":1,"metadata":null,"scores":null,"error":null,"limit":null,"model_usage":null}"#;

#[test]
fn every_compression_and_both_ways_to_find_members() {
    let (one, two) = FRAMES.split_at(20);
    let frames = [zstd::encode_all(one, 3).unwrap(), zstd::encode_all(two, 3).unwrap()].concat();
    let bytes = zip(&[
        ("_journal/start.json", 0, START.to_vec(), START),
        ("samples/1_epoch_1.json", 0, STORED.to_vec(), STORED),
        ("samples/q/2_epoch_1.json", 8, deflated(DEFLATED), DEFLATED),
        ("samples/3_epoch_1.json", 93, frames, FRAMES),
    ]);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log.eval");
    for cut in [0, 1] {
        std::fs::write(&path, &bytes[..bytes.len() - cut]).unwrap();
        let log = EvalLog::open(&path).unwrap();
        assert_eq!(log.was_recovered(), cut == 1);
        assert_eq!(log.header().unwrap().eval.task, "t");
        let samples = log.samples().unwrap().collect::<Result<Vec<_>>>().unwrap();
        let ids: Vec<String> = samples.iter().map(|sample| sample.id.to_string()).collect();
        assert_eq!(ids, ["1", "3", "q/2"]);
        let score = &samples[0].scores["s"];
        assert_eq!((&score.value, score.reason.as_deref()), (&Value::Unscored, Some("refusal")));
        assert_eq!(samples[2].error.as_deref(), Some("it broke"));
        let mut message = Message::user("a\nb");
        message.omitted = vec!["image".to_owned()];
        assert_eq!(samples[2].input, Input::Messages(vec![message]));
        assert_eq!(log.score_columns(&MetadataKeys::All).unwrap().len(), 3);
    }
}

/// As the reference writes ids that are integers in a dataset.
#[test]
fn ids_beyond_64_bits_are_the_text_of_their_digits() {
    const LONG: &str = "1234567890123456789012345678901";
    let start = br#"{"version":2,"eval":{"created":"x","task":"t","dataset":{"sample_ids":[7,12345678901234567890,1234567890123456789012345678901]},"model":"m","config":{}},"plan":{}}"#;
    let sample = |id: &str| {
        format!(
            r#"{{"id":{id},"epoch":1,"input":"?","metadata":{{"g":{id}}},"scores":{{"s":{{"value":1}}}}}}"#
        )
    };
    let samples = ["12345678901234567890", LONG].map(sample);
    let bytes = zip(&[
        ("_journal/start.json", 0, start.to_vec(), start),
        ("samples/a_epoch_1.json", 0, samples[0].clone().into_bytes(), samples[0].as_bytes()),
        ("samples/b_epoch_1.json", 0, samples[1].clone().into_bytes(), samples[1].as_bytes()),
    ]);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log.eval");
    std::fs::write(&path, bytes).unwrap();
    let log = EvalLog::open(&path).unwrap();
    let expected = [SampleId::from("12345678901234567890"), SampleId::from(LONG)];
    let recorded = log.header().unwrap().eval.dataset.sample_ids.unwrap();
    assert_eq!(recorded, [&[SampleId::from(7)][..], &expected[..]].concat());
    let read: Vec<SampleId> = log.samples().unwrap().map(|sample| sample.unwrap().id).collect();
    assert_eq!(read, expected);
    let columns = log.score_columns(&MetadataKeys::All).unwrap();
    assert_eq!([0, 1].map(|row| columns.sample_id(row)), expected);
    // So are groups: the reference has them as text, and those that differ stay apart.
    assert_eq!(columns.metadata_row(0)["g"], 12_345_678_901_234_567_890_u64);
    assert_eq!(columns.metadata_row(1)["g"], LONG);
    let only_one = log.score_columns(&MetadataKeys::one("g")).unwrap();
    assert_eq!(only_one.metadata_row(1)["g"], LONG);
}

#[test]
fn of_two_members_with_one_name_the_last_counts() {
    let old = br#"{"id":1,"epoch":1,"scores":{"s":{"value":0}}}"#;
    let new = br#"{"id":1,"epoch":1,"scores":{"s":{"value":1}}}"#;
    let name = "samples/1_epoch_1.json";
    let bytes = zip(&[
        ("_journal/start.json", 0, START.to_vec(), START),
        (name, 0, old.to_vec(), old),
        (name, 0, new.to_vec(), new),
    ]);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log.eval");
    for cut in [0, 1] {
        std::fs::write(&path, &bytes[..bytes.len() - cut]).unwrap();
        let samples = EvalLog::open(&path).unwrap().samples().unwrap().collect::<Result<Vec<_>>>().unwrap();
        assert_eq!(samples.len(), 1);
        assert_eq!(samples[0].scores["s"].value, Value::Int(1));
    }
}

#[test]
fn a_bomb_is_not_decompressed() {
    let content = vec![b' '; 1 << 20];
    let packed = zstd::encode_all(content.as_slice(), 3).unwrap();
    // It claims to be short, so it is decompressed only that far.
    let bytes = zip(&[
        ("_journal/start.json", 0, START.to_vec(), START),
        ("samples/1_epoch_1.json", 93, packed, b"{}"),
    ]);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log.eval");
    std::fs::write(&path, bytes).unwrap();
    let log = EvalLog::open(&path).unwrap();
    let error =
        log.samples().map(|mut samples| samples.next().unwrap().unwrap_err()).unwrap_or_else(|error| error);
    let problem = "the content has not the 2 bytes that it should have";
    assert_damaged(&error, &path, Some("samples/1_epoch_1.json"), problem);

    let unknown = zip(&[
        ("_journal/start.json", 0, START.to_vec(), START),
        ("samples/1_epoch_1.json", 12, vec![1], b"{}"),
    ]);
    std::fs::write(&path, unknown).unwrap();
    let log = EvalLog::open(&path).unwrap();
    let error =
        log.samples().map(|mut samples| samples.next().unwrap().unwrap_err()).unwrap_or_else(|error| error);
    assert!(matches!(error.kind(), LogErrorKind::Method(12)), "{error}");
    assert_eq!(error.member(), Some("samples/1_epoch_1.json"));
}

#[test]
fn a_header_that_samples_follow_is_out_of_date() {
    let header = br#"{"version":2,"status":"success","eval":{"task":"old"}}"#;
    let sample = br#"{"id":1,"epoch":1,"scores":{"s":{"value":1}}}"#;
    let bytes = zip(&[
        ("_journal/start.json", 0, START.to_vec(), START),
        ("header.json", 0, header.to_vec(), header),
        ("samples/1_epoch_1.json", 0, sample.to_vec(), sample),
    ]);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log.eval");
    for (cut, status) in [(0, Status::Success), (1, Status::Started)] {
        std::fs::write(&path, &bytes[..bytes.len() - cut]).unwrap();
        assert_eq!(EvalLog::open(&path).unwrap().header().unwrap().status, status);
    }
}

#[test]
fn a_header_in_front_of_nothing_is_torn() {
    let sample = br#"{"id":1,"epoch":1,"scores":{"s":{"value":1}}}"#;
    for method in [0, 8, 93] {
        let mut bytes = zip(&[
            ("_journal/start.json", 0, START.to_vec(), START),
            ("samples/1_epoch_1.json", 0, sample.to_vec(), sample),
            // Length and checksum are to be filled in later: those of nothing are right for now.
            ("samples/2_epoch_1.json", method, Vec::new(), b""),
        ]);
        let directory = bytes.windows(4).position(|window| window == b"PK\x01\x02").unwrap();
        bytes.truncate(directory);
        bytes.extend_from_slice(b"half of the data");
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log.eval");
        std::fs::write(&path, &bytes).unwrap();
        let log = EvalLog::open(&path).unwrap();
        assert!(log.was_recovered());
        assert_eq!(log.samples().unwrap().collect::<Result<Vec<_>>>().unwrap().len(), 1, "method {method}");
    }
}
