//! The logs that are changed.

use std::fs;
use std::path::Path;

use errorbar_core::Score;
use errorbar_log::eval::*;
use serde_json::json;

use crate::eval::support::{self, Sample};
use errorbar_test_support::zip::{Zip, deflated};

/// The sample that is in several members, where one is.
pub(crate) const CHUNKED: &str = "x";

/// A log and what it is made of.
pub(crate) struct Base {
    pub(crate) name: &'static str,
    /// `log.eval` or `log.json`.
    pub(crate) file: &'static str,
    pub(crate) bytes: Vec<u8>,
    /// The members with their content; a JSON log is its only member.
    pub(crate) members: Vec<(String, Vec<u8>)>,
}

fn samples() -> Vec<Sample> {
    let judged = |id: SampleId, epoch, value: &str, map: serde_json::Value| {
        let mut sample =
            Sample::new(id, epoch, Score::new(value).answer("A\n").explanation("so \"it\" is é"));
        let value: errorbar_core::Value = serde_json::from_value(map).unwrap();
        sample.scores.push(("judge".to_owned(), Score::new(value).metadata("model", "m")));
        sample.metadata.insert("tags".to_owned(), json!({"deep": [1, null, {"x": "y"}], "😀": -0.5}));
        sample
    };
    let mut samples = Vec::new();
    for epoch in [1, 2] {
        samples.push(judged(1.into(), epoch, "C", json!({"a": 1, "b": 0.25})));
        samples.push(judged("q/2".into(), epoch, "I", json!({"a": null, "b": true})));
        samples.push(Sample::new("ü 3", epoch, Score::unscored("refusal")));
    }
    samples[3].scores[1].1.value = errorbar_core::Value::from(f64::NAN);
    samples.push(Sample::errored(4, 1, "no network"));
    samples[0].choices = Some(vec!["x".to_owned(), "y".to_owned()]);
    samples
}

fn start() -> StartRecord {
    let mut start = support::start();
    let metrics = json!([
        {"name": "inspect_ai/accuracy", "options": {}},
        {"name": "inspect_ai/bootstrap_stderr", "options": {"num_samples": 20}},
        {"name": "inspect_ai/grouped", "options": {"metric": {"type": "metric", "name": "mean", "params": {}}, "group_key": "category"}},
        {"name": "inspect_ai/stderr", "options": {"cluster": "category"}},
    ]);
    let mut scorers = start.eval.scorers.take().unwrap();
    scorers[0].metrics = Some(metrics);
    let by_key = json!({"a*": [{"name": "inspect_ai/mean", "options": {}}], "b": [{"name": "inspect_ai/std", "options": {}}]});
    let mut judge = ScorerInfo::new("judge");
    judge.metrics = Some(by_key);
    scorers.push(judge);
    start.eval.scorers = Some(scorers);
    start.eval.config.epochs_reducer = Some(vec!["mean".to_owned(), "at_least_1".to_owned()]);
    start.eval.dataset.sample_ids = Some(vec![1.into(), "q/2".into(), "ü 3".into(), 4.into()]);
    start
}

/// All of them.
pub(crate) fn bases(folder: &Path) -> Vec<Base> {
    let path = folder.join("base.eval");
    let mut writer = LogWriter::create(&path, &start()).unwrap();
    for sample in samples() {
        sample.record(|record| writer.append_sample(record)).unwrap();
    }
    let unfinished = fs::read(&path).unwrap();
    support::finish(writer);
    let finished = fs::read(&path).unwrap();
    let json = folder.join("base.json");
    convert(&EvalLog::open(&path).unwrap(), &json).unwrap();
    let json = fs::read(&json).unwrap();

    let members = members(&finished);
    let mut chunked = members.clone();
    let shell = br#"{"id":"x","epoch":1,"input":"?","target":"!","scores":{"match":{"value":"C"}},"message_refs":[[0,1]]}"#;
    chunked.insert(3, ("samples/x_epoch_1/sample.json".to_owned(), shell.to_vec()));
    chunked.insert(4, ("samples/x_epoch_1/metadata.json".to_owned(), br#"{"category":"x"}"#.to_vec()));
    chunked.insert(5, ("samples/x_epoch_1/messages/0.json".to_owned(), b"[{}]".to_vec()));
    let eval = |name, bytes, members: &[(String, Vec<u8>)]| Base {
        name,
        file: "log.eval",
        bytes,
        members: members.to_vec(),
    };
    vec![
        eval("zstd", finished, &members),
        eval("stored and deflate", zipped(&members, &[0, 8]).bytes(), &members),
        eval("chunked", zipped(&chunked, &[0, 8]).comment(b"by hand").bytes(), &chunked),
        eval("sizes of 64 bits", zipped(&members, &[0, 93]).bytes_64(), &members),
        eval("unfinished", unfinished.clone(), &self::members(&unfinished)),
        Base { name: "json", file: "log.json", members: vec![(String::new(), json.clone())], bytes: json },
    ]
}

/// A zip of these members, packed by one method after the other.
pub(crate) fn zipped(members: &[(String, Vec<u8>)], methods: &[u16]) -> Zip {
    let add = |zip: Zip, (at, (name, content)): (usize, &(String, Vec<u8>))| {
        let method = methods[at % methods.len()];
        let packed = match method {
            8 => deflated(content),
            93 => zstd::bulk::compress(content, 1).unwrap(),
            _ => content.clone(),
        };
        zip.member(name, method, &packed, content)
    };
    members.iter().enumerate().fold(Zip::new(), add)
}

/// Every member of a log that our writer wrote, found and decompressed without any of the code that is tested.
fn members(bytes: &[u8]) -> Vec<(String, Vec<u8>)> {
    let number = |at: usize| usize::from(u16::from_le_bytes([bytes[at], bytes[at + 1]]));
    let mut members = Vec::new();
    let mut at = 0;
    while bytes[at..].starts_with(b"PK\x03\x04") {
        let packed = number(at + 18) + (number(at + 20) << 16);
        let name_end = at + 30 + number(at + 26);
        let name = String::from_utf8(bytes[at + 30..name_end].to_vec()).unwrap();
        let start = name_end + number(at + 28);
        members.push((name, zstd::decode_all(&bytes[start..start + packed]).unwrap()));
        at = start + packed;
    }
    members
}
