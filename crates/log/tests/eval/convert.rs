//! A log as one JSON object.

use errorbar_core::Score;
use errorbar_log::eval::*;

use crate::support::*;

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

    let error =
        convert(&EvalLog::open(&path).unwrap(), &folder.path().join("no/such/folder.json")).unwrap_err();
    assert!(error.to_string().contains("folder.json"), "{error}");
}
