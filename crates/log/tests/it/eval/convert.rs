//! A log as one JSON object.

use errorbar_core::Score;
use errorbar_log::eval::*;
use errorbar_test_support::assert_matches;

use crate::eval::support::*;
use errorbar_test_support::zip::Zip;

#[test]
fn samples_pass_through_as_they_are() {
    let folder = tempfile::tempdir().unwrap();
    let (path, json_path) = (folder.path().join("log.eval"), folder.path().join("log.json"));
    let samples = [Sample::new(2, 1, Score::unscored("refusal")), Sample::new(1, 1, Score::new("C"))];
    write_finished(&path, &samples);
    std::fs::write(&json_path, "an older one").unwrap();
    convert(&EvalLog::open(&path).unwrap(), &json_path).unwrap();
    let json = std::fs::read_to_string(&json_path).unwrap();
    for sample in &samples {
        let verbatim = sample.record(|record| String::from_utf8(record.to_json()).unwrap());
        assert!(json.contains(&verbatim));
    }
    let strict: serde_json::Value = serde_json::from_str(&json.replace("NaN", "null")).unwrap();
    assert_eq!(strict["status"], "success");
    assert_eq!(strict["samples"][0]["id"], 1);
    assert_eq!(strict["reductions"][0]["samples"][0]["sample_id"], 1);
    let left: Vec<_> = std::fs::read_dir(folder.path()).unwrap().collect();
    assert_eq!(left.len(), 2, "nothing is left behind");

    let nowhere = folder.path().join("no/such/folder.json");
    let error = convert(&EvalLog::open(&path).unwrap(), &nowhere).unwrap_err();
    assert_matches!(error.kind(), LogErrorKind::Create(_));
    assert_eq!(error.path(), Some(nowhere.as_path()));
}

/// The names of the members, as the directory lists them.
fn names(path: &std::path::Path) -> Vec<String> {
    let bytes = std::fs::read(path).unwrap();
    let entries = bytes.windows(4).enumerate().filter(|(_, window)| *window == b"PK\x01\x02");
    let name = |at: usize| {
        let length = usize::from(u16::from_le_bytes([bytes[at + 28], bytes[at + 29]]));
        String::from_utf8(bytes[at + 46..at + 46 + length].to_vec()).unwrap()
    };
    entries.map(|(at, _)| name(at)).collect()
}

#[test]
fn an_archive_is_put_in_order_and_keeps_all_it_has() {
    let folder = tempfile::tempdir().unwrap();
    let (path, copy) = (folder.path().join("log.eval"), folder.path().join("copy.eval"));
    let start = br#"{"version":2,"eval":{"task":"t","config":{}},"plan":{"name":"p"},"mine":1}"#;
    let header = br#"{"version":2,"status":"success","eval":{"task":"t","config":{}},"plan":{"name":"p"}}"#;
    let sample = |id: u32| format!(r#"{{"id":{id},"epoch":1,"scores":{{"s":{{"value":1}}}}}}"#);
    let zip = Zip::new()
        .stored("_journal/start.json", start)
        .stored("_journal/config_updates/1.json", b"{\"x\":1}")
        .stored("samples/2_epoch_1.json", sample(2).as_bytes())
        .stored("_journal/summaries/1.json", b"[]")
        .stored("samples/1_epoch_1.json", sample(1).as_bytes())
        .stored("summaries.json", b"[{\"id\":2}]")
        .stored("reductions.json", b"[{\"scorer\":\"s\"}]")
        .stored("header.json", header);
    std::fs::write(&path, zip.bytes()).unwrap();
    convert(&EvalLog::open(&path).unwrap(), &copy).unwrap();
    let expected = [
        "_journal/start.json",
        "_journal/config_updates/1.json",
        "samples/1_epoch_1.json",
        "samples/2_epoch_1.json",
        "summaries.json",
        "reductions.json",
        "header.json",
    ];
    assert_eq!(names(&copy), expected);
    assert_eq!(read_member(&copy, "_journal/start.json"), start);
    assert_eq!(read_member(&copy, "summaries.json"), b"[{\"id\":2}]");
    assert_eq!(read_member(&copy, "reductions.json"), b"[{\"scorer\":\"s\"}]");
    assert_eq!(read_member(&copy, "header.json"), header);

    // A log that has no record of its start gets one out of its header.
    let json = folder.path().join("log.json");
    convert(&EvalLog::open(&path).unwrap(), &json).unwrap();
    convert(&EvalLog::open(&json).unwrap(), &copy).unwrap();
    let start = read_member(&copy, "_journal/start.json");
    assert_eq!(start, br#"{"version":2,"eval":{"task":"t","config":{}},"plan":{"name":"p"}}"#);
}
