//! Logs with something in them replaced: what is requested, and not a byte more.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

use errorbar_core::{MetadataKeys, Plan, Registry, Score, Value, metrics};
use errorbar_log::eval::*;
use errorbar_test_support::assert_matches;
use serde_json::{Value as Json, json};

use crate::eval::support::*;
use errorbar_test_support::zip::{Zip, deflated};

fn samples() -> Vec<Sample> {
    let mut samples = Vec::new();
    for epoch in [1, 2] {
        samples.push(Sample::new(1, epoch, Score::new("C")));
        samples.push(Sample::new("q/2", epoch, Score::new(if epoch == 1 { "I" } else { "C" })));
        samples.push(Sample::new(3, epoch, Score::unscored("refusal")));
    }
    samples
}

/// The header and the sample of a small log.
const HEADER: &[u8] = br#"{"version":2,"status":"success","eval":{"task":"t","config":{}},"plan":{}}"#;
const SAMPLE: &[u8] = br#"{"id":1,"epoch":1,"scores":{"s":{"value":1}}}"#;

/// A log as `.eval` and as `.json`.
fn logs(folder: &Path) -> [PathBuf; 2] {
    let (eval, json) = (folder.join("log.eval"), folder.join("log.json"));
    write_finished(&eval, &samples());
    convert(&EvalLog::open(&eval).unwrap(), &json).unwrap();
    [eval, json]
}

/// Computes the results anew and puts them in place.
fn rescore(path: &Path, reducer: Option<&str>) -> Result<()> {
    let log = EvalLog::open(path)?;
    let header = log.header()?;
    let registry = Registry::built_in();
    let (mut plan, _) = plan_from_header(&header, &registry)?;
    let mut revision = log.revise()?;
    if let Some(reducer) = reducer {
        let reducer = registry.reducer(&reducer.parse().unwrap()).unwrap();
        plan.reducers = errorbar_core::Reducers::explicit(vec![reducer]);
        revision.set_reducers(&plan.reducers)?;
    }
    let scores = log.scores(&header, &ScoreOptions::new(plan.metadata_keys()))?;
    revision.set_results(&plan.evaluate(&scores.columns).unwrap(), &scores.columns)?;
    revision.write_back().map(drop)
}

/// Whether the claims of a log agree with its samples.
fn holds(path: &Path) -> bool {
    let log = EvalLog::open(path).unwrap();
    let header = log.header().unwrap();
    let (plan, _) = plan_from_header(&header, &Registry::built_in()).unwrap();
    let columns = log.score_columns(&plan.metadata_keys()).unwrap();
    compare(header.results.as_ref().unwrap(), &plan.evaluate(&columns).unwrap().results).is_empty()
}

/// Every member as it stands in the file: header, name, extra field and data.
fn members(path: &Path) -> HashMap<String, Vec<u8>> {
    let bytes = fs::read(path).unwrap();
    let number = |at: usize| usize::from(u16::from_le_bytes([bytes[at], bytes[at + 1]]));
    let mut members = HashMap::new();
    let mut at = 0;
    while bytes[at..].starts_with(b"PK\x03\x04") {
        let compressed = number(at + 18) + (number(at + 20) << 16);
        let name_end = at + 30 + number(at + 26);
        let end = name_end + number(at + 28) + compressed;
        members
            .insert(String::from_utf8(bytes[at + 30..name_end].to_vec()).unwrap(), bytes[at..end].to_vec());
        at = end;
    }
    members
}

#[test]
fn new_results_change_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    let [eval, _] = logs(folder.path());
    let before = members(&eval);
    rescore(&eval, Some("max")).unwrap();
    assert!(holds(&eval));
    let after = members(&eval);
    for (name, member) in &before {
        let is_new = name == "header.json" || name == "reductions.json";
        assert_eq!(after[name] != *member, is_new, "{name}");
    }
    assert_eq!(before.len(), after.len());
    let header = EvalLog::open(&eval).unwrap().header().unwrap();
    assert_eq!(header.eval.config.epochs_reducer, Some(vec!["max".to_owned()]));
    let results = header.results.unwrap();
    assert_eq!(results.scores[0].reducer.as_deref(), Some("max"));
    assert_eq!(results.scores[0].metrics["accuracy"].value, 1.0);
    // Again and again: it does not grow.
    let length = fs::metadata(&eval).unwrap().len();
    for _ in 0..3 {
        rescore(&eval, Some("max")).unwrap();
    }
    assert_eq!(fs::metadata(&eval).unwrap().len(), length);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2, "nothing is left behind");
}

#[test]
fn a_json_log_keeps_every_other_byte() {
    let folder = tempfile::tempdir().unwrap();
    let [_, json] = logs(folder.path());
    // As people's tools leave it: unknown fields, blanks, numbers written in their own way.
    let text = fs::read_to_string(&json).unwrap();
    let text = text.replacen("{", "{ \"mine\" : [1e400, NaN,\t0.10] ,\n", 1);
    fs::write(&json, &text).unwrap();
    rescore(&json, Some("max")).unwrap();
    assert!(holds(&json));
    let new = fs::read_to_string(&json).unwrap();
    let parts = |text: &str| {
        let (before, rest) = text.split_once("\"results\":").unwrap();
        let (_, rest) = rest.split_once("\"stats\":").unwrap();
        let (between, _) = rest.split_once("\"reductions\":").unwrap();
        (before.replace("\"epochs_reducer\":[\"max\"]", "").replace(",}", "}"), between.to_owned())
    };
    assert_eq!(parts(&new), parts(&text));
    assert!(new.ends_with("]}") && new.contains("\"reducer\":\"max\""));
}

#[test]
fn what_else_the_results_hold_stays() {
    let folder = tempfile::tempdir().unwrap();
    let [_, json] = logs(folder.path());
    let text = fs::read_to_string(&json).unwrap();
    let text = text.replace("\"results\":{", "\"results\":{\"early_stopping\":{\"x\":NaN},");
    fs::write(&json, text).unwrap();
    rescore(&json, None).unwrap();
    assert!(fs::read_to_string(&json).unwrap().contains("\"results\":{\"early_stopping\":{\"x\":NaN},"));

    // The single block of a very old log would stand beside the new ones.
    let old = r#"{"version":1,"eval":{"task":"t","config":{}},"results":{"scorer":{"name":"includes"},"metrics":{"accuracy":{"name":"accuracy","value":0.5}}},"samples":[{"id":1,"epoch":1,"score":{"value":"C"}}]}"#;
    fs::write(&json, old).unwrap();
    rescore(&json, None).unwrap();
    let text = fs::read_to_string(&json).unwrap();
    assert!(!text.contains("\"scorer\":{"), "{text}");
    let header = EvalLog::open(&json).unwrap().header().unwrap();
    assert_eq!(header.results.unwrap().scores[0].scorer, "includes");
}

#[test]
fn the_method_of_a_member_stays() {
    // The header stands first: its old bytes stay where they are, and are not listed.
    let zip = Zip::new()
        .member("header.json", 8, &deflated(HEADER), HEADER)
        .member("_journal/start.json", 0, START, START)
        .member("samples/1_epoch_1.json", 8, &deflated(SAMPLE), SAMPLE)
        .member("reductions.json", 0, b"[]", b"[]");
    let (_folder, path) = written(&zip.comment(b"made by hand").bytes());
    rescore(&path, None).unwrap();
    assert!(holds(&path));
    let bytes = fs::read(&path).unwrap();
    let listed = |name: &str| {
        let at = bytes
            .windows(4)
            .enumerate()
            .filter(|(at, w)| *w == b"PK\x01\x02" && bytes[at + 46..].starts_with(name.as_bytes()));
        at.map(|(at, _)| bytes[at + 10]).collect::<Vec<u8>>()
    };
    assert_eq!(listed("header.json"), [8]);
    assert_eq!(listed("reductions.json"), [0]);
    assert!(bytes.windows(12).all(|window| window != b"made by hand"), "the comment is behind the directory");
}

#[test]
fn a_run_that_goes_on_is_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log.eval");
    write_unfinished(&path, &samples());
    let before = fs::read(&path).unwrap();
    let error = rescore(&path, None).unwrap_err();
    assert!(matches!(error.kind(), LogErrorKind::Unfinished), "{error}");
    assert_eq!(fs::read(&path).unwrap(), before);

    // A copy is another matter.
    let log = EvalLog::open(&path).unwrap();
    let scores = log.scores(&log.header().unwrap(), &ScoreOptions::new(MetadataKeys::NONE)).unwrap();
    let computed = errorbar_core::Plan::new().evaluate(&scores.columns).unwrap();
    let mut revision = log.revise().unwrap();
    revision.set_results(&computed, &scores.columns).unwrap();
    let copy = folder.path().join("copy.eval");
    revision.write_to(&copy).unwrap();
    let copy = EvalLog::open(&copy).unwrap();
    assert!(!copy.was_recovered() && copy.header().unwrap().results.is_some());
    assert_eq!(copy.sample_count(), 6);
}

#[test]
fn two_writers_do_not_cross() {
    let folder = tempfile::tempdir().unwrap();
    let [eval, _] = logs(folder.path());
    let log = EvalLog::open(&eval).unwrap();
    let revision = log.revise().unwrap();
    // Another process was faster: what it wrote is not in what we read.
    rescore(&eval, None).unwrap();
    let after = fs::read(&eval).unwrap();
    let error = revision.write_back().unwrap_err();
    assert!(matches!(error.kind(), LogErrorKind::Replaced), "{error}");
    // Another process has it open.
    let held = fs::File::options().read(true).write(true).open(&eval).unwrap();
    held.try_lock().unwrap();
    let error = rescore(&eval, None).unwrap_err();
    assert!(matches!(error.kind(), LogErrorKind::Locked), "{error}");
    assert_eq!(fs::read(&eval).unwrap(), after);
}

fn edit(sample: &str, epoch: Option<u32>, scorer: &str) -> ScoreEdit {
    ScoreEdit {
        sample: sample.to_owned(),
        epoch,
        scorer: scorer.to_owned(),
        value: Some(Value::from("C")),
        author: "ann".to_owned(),
        reason: Some("the target was wrong".to_owned()),
        timestamp: "2026-11-15T10:00:00Z".to_owned(),
        ..ScoreEdit::default()
    }
}

#[test]
fn an_edit_is_in_the_score_its_history_the_summary_and_the_results() {
    let folder = tempfile::tempdir().unwrap();
    for path in logs(folder.path()) {
        let before = fs::read(&path).unwrap();
        let log = EvalLog::open(&path).unwrap();
        let header = log.header().unwrap();
        let mut revision = log.revise().unwrap();
        let edited = revision.edit_score(&edit("q/2", Some(1), "match")).unwrap();
        assert_eq!(fs::read(&path).unwrap(), before, "nothing is written yet");
        let (plan, _) = plan_from_header(&header, &Registry::built_in()).unwrap();
        let options = ScoreOptions::new(plan.metadata_keys()).edited(&edited);
        let scores = log.scores(&header, &options).unwrap();
        let computed = plan.evaluate(&scores.columns).unwrap();
        assert_eq!(computed.results.estimate("accuracy").unwrap().number(), Some(1.0));
        revision.set_results(&computed, &scores.columns).unwrap();
        revision.write_back().unwrap();

        assert!(holds(&path));
        let log = EvalLog::open(&path).unwrap();
        let samples: Vec<StoredSample> = log.samples().unwrap().collect::<Result<_>>().unwrap();
        for sample in &samples {
            let is_edited = sample.id == SampleId::from("q/2") && sample.epoch == 1;
            assert_eq!(!sample.scores["match"].history.is_empty(), is_edited, "{}", sample.id);
        }
        let score =
            &samples.iter().find(|sample| sample.id == SampleId::from("q/2")).unwrap().scores["match"];
        assert_eq!(score.value, Value::from("C"));
        assert_eq!(score.history[0]["value"], "I");
        assert_eq!(score.history[1]["provenance"]["author"], "ann");
        if !log.is_json() {
            let values: Vec<Json> =
                summaries(&path).iter().map(|s| s["scores"]["match"]["value"].clone()).collect();
            assert_eq!(values.iter().filter(|value| **value == json!("C")).count(), 4);
        }
    }
}

#[test]
fn an_edit_of_what_is_not_there_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let [eval, _] = logs(folder.path());
    let log = EvalLog::open(&eval).unwrap();
    let refused = |edit: &ScoreEdit| log.revise().unwrap().edit_score(edit).unwrap_err();
    assert_matches!(
        refused(&edit("q/3", Some(1), "match")).kind(),
        LogErrorKind::NoSample { sample, nearest: Some(nearest) } if sample == "q/3" && nearest == "q/2"
    );
    assert_matches!(
        refused(&edit("1", None, "match")).kind(),
        LogErrorKind::WhichEpoch { sample, epochs } if sample == "1" && *epochs == [1, 2]
    );
    assert_matches!(
        refused(&edit("1", Some(7), "match")).kind(),
        LogErrorKind::NoEpoch { sample, epochs } if sample == "1" && *epochs == [1, 2]
    );
    assert_matches!(
        refused(&edit("1", Some(1), "mtach")).kind(),
        LogErrorKind::NoScore { scorer, known } if scorer == "mtach" && *known == ["match"]
    );
}

/// The smallest log that can be scored, with these fields in front of its samples and behind them.
fn small_json(before: &str, after: &str) -> String {
    let eval = r#""eval":{"task":"t","config":{}}"#;
    let samples = r#""samples":[{"id":1,"epoch":1,"scores":{"s":{"value":1}}}]"#;
    format!("{{\"version\":2,{before}{eval},{samples}{after}}}")
}

#[test]
fn what_a_json_log_lacks_is_added_and_what_it_has_is_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log.json");
    let old =
        r#"{"total_samples":9,"completed_samples":9,"scores":[],"metadata":{"warnings":["old"],"mine":1}}"#;
    for (before, after) in [
        (String::new(), String::new()),
        // In another order than they are written in.
        (format!("\"reductions\":[],\"results\":{old},"), String::new()),
        (String::new(), format!(",\"results\":{old},\"reductions\":[]")),
        // Of two the last counts.
        ("\"results\":null,".to_owned(), format!(",\"results\":{old}")),
    ] {
        fs::write(&path, small_json(&before, &after)).unwrap();
        rescore(&path, Some("max")).unwrap();
        let text = fs::read_to_string(&path).unwrap();
        assert!(holds(&path), "{text}");
        EvalLog::open(&path).unwrap().check().unwrap();
        assert_eq!(text.matches("\"reductions\":[{").count(), 1, "{text}");
        assert_eq!(text.matches("\"reductions\":").count(), 1, "{text}");
        assert!(
            !text.contains("old") && text.contains("\"mine\"") == (before + &after).contains("mine"),
            "{text}"
        );
    }
}

#[test]
fn a_log_of_which_nothing_is_computed_says_as_before_what_its_scores_are() {
    let folder = tempfile::tempdir().unwrap();
    let (from, to) = (folder.path().join("log.json"), folder.path().join("new.json"));
    // A very old log, whose samples do not name their scorer; and one whose blocks would have other reducers.
    let old = r#""results":{"scorer":{"name":"includes"},"metrics":{"accuracy":{"name":"accuracy","value":1}}},
        "samples":[{"id":1,"epoch":1,"score":{"value":"C"}}]"#;
    let block =
        |reducer: &str| format!(r#"{{"name":"m","scorer":"m","reducer":"{reducer}","metrics":{{}}}}"#);
    let plain = format!(
        r#""results":{{"scores":[{},{}]}},"samples":[{{"id":1,"epoch":1,"scores":{{"m":{{"value":"C"}}}}}}]"#,
        block("max"),
        block("mode")
    );
    for (rest, scorer, blocks) in [(old, "includes", 1), (plain.as_str(), "m", 0)] {
        let eval = r#"{"task":"t","config":{"epochs":2,"epochs_reducer":["max"]}}"#;
        fs::write(&from, format!(r#"{{"version":2,"status":"success","eval":{eval},{rest}}}"#)).unwrap();
        let log = EvalLog::open(&from).unwrap();
        let scores = |log: &EvalLog| {
            log.scores(&log.header().unwrap(), &ScoreOptions::new(MetadataKeys::NONE)).unwrap().columns
        };
        let columns = scores(&log);
        let nothing = Plan::new().metrics(metrics![]).evaluate(&columns).unwrap();
        assert!(nothing.results.scores.is_empty());
        let mut revision = log.revise().unwrap();
        revision.set_results(&nothing, &columns).unwrap();
        revision.write_to(&to).unwrap();
        let new = EvalLog::open(&to).unwrap();
        assert!(scores(&new).scorer_names().eq([scorer]), "{scorer}");
        let results = new.header().unwrap().results.unwrap();
        assert_eq!(results.scores.len(), blocks, "{scorer}");
        assert!(compare(&results, &nothing.results).is_empty(), "{scorer}");
    }
}

#[test]
fn a_headline_that_is_no_longer_there_is_taken_out() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log.json");
    let results = r#""results":{"scores":[],"headline":{"scorer":"s","score":"s","metric":"mean"}},"#;
    let text = small_json(results, "").replace(r#","scores":{"s":{"value":1}}"#, "");
    fs::write(&path, text).unwrap();
    rescore(&path, None).unwrap();
    assert_eq!(EvalLog::open(&path).unwrap().header().unwrap().results.unwrap().headline, None);
}

#[test]
fn metrics_are_recorded_with_every_scorer() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log.json");
    let scorers =
        r#""config":{},"scorers":[{"name":"s","metrics":[{"name":"accuracy"}]},{"name":"a longer one"}]"#;
    fs::write(&path, small_json("", "").replace("\"config\":{}", scorers)).unwrap();
    let log = EvalLog::open(&path).unwrap();
    let mut revision = log.revise().unwrap();
    let metrics = json!([{"name": "inspect_ai/mean", "options": {}}]);
    revision.set_metrics(&metrics).unwrap();
    revision.write_back().unwrap();
    let eval = EvalLog::open(&path).unwrap().header().unwrap().eval;
    assert_eq!(eval.metrics.as_ref(), Some(&metrics));
    for scorer in eval.scorers.unwrap() {
        assert_eq!(scorer.metrics.as_ref(), Some(&metrics), "{}", scorer.name);
    }
}

#[test]
fn a_directory_in_another_order_than_the_members() {
    // The header stands first in the file and last in the directory.
    let zip = Zip::new()
        .stored("header.json", HEADER)
        .stored("_journal/start.json", START)
        .stored("samples/1_epoch_1.json", SAMPLE);
    let (_folder, path) = written(&zip.listed_from(1).bytes());
    rescore(&path, None).unwrap();
    assert!(holds(&path));
    EvalLog::open(&path).unwrap().check().unwrap();
}

#[test]
fn a_record_that_is_replaced_twice_is_written_once() {
    let folder = tempfile::tempdir().unwrap();
    let [eval, _] = logs(folder.path());
    let log = EvalLog::open(&eval).unwrap();
    let header = log.header().unwrap();
    let scores = log.scores(&header, &ScoreOptions::new(MetadataKeys::NONE)).unwrap();
    let computed = errorbar_core::Plan::new().evaluate(&scores.columns).unwrap();
    let mut revision = log.revise().unwrap();
    for _ in 0..2 {
        revision.set_results(&computed, &scores.columns).unwrap();
    }
    revision.write_back().unwrap();
    let bytes = fs::read(&eval).unwrap();
    let name = b"reductions.json";
    assert_eq!(bytes.windows(name.len()).filter(|window| window == name).count(), 2, "a header and an entry");
}

#[test]
fn the_copy_of_a_torn_log_is_whole() {
    let folder = tempfile::tempdir().unwrap();
    let (path, copy) = (folder.path().join("log.eval"), folder.path().join("copy.eval"));
    write_unfinished(&path, &samples());
    let bytes = fs::read(&path).unwrap();
    let last = bytes.windows(4).rposition(|window| window == b"PK\x03\x04").unwrap();
    fs::write(&path, &bytes[..last + 60]).unwrap();
    let log = EvalLog::open(&path).unwrap();
    assert!(log.was_recovered());
    log.revise().unwrap().write_to(&copy).unwrap();
    let read = EvalLog::open(&copy).unwrap();
    assert_eq!((read.was_recovered(), read.sample_count()), (false, log.sample_count()));
    // Also by those who walk the file: nothing is left of the torn member.
    let walked = members(&copy);
    assert_eq!(walked.keys().filter(|name| name.starts_with("samples/")).count(), log.sample_count());
    assert!(walked.contains_key("header.json"));
}

#[test]
fn an_edit_changes_one_score_of_one_epoch_by_one_scorer() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log.eval");
    let mut samples = Vec::new();
    for epoch in [1, 2] {
        for id in ["a", "b"] {
            let mut sample = Sample::new(id, epoch, Score::new("I"));
            sample.scores.push(("other".to_owned(), Score::new("I")));
            samples.push(sample);
        }
    }
    write_finished(&path, &samples);
    let log = EvalLog::open(&path).unwrap();
    let mut revision = log.revise().unwrap();
    let edited = revision.edit_score(&edit("a", Some(2), "match")).unwrap();
    let header = log.header().unwrap();
    let scores = log.scores(&header, &ScoreOptions::new(MetadataKeys::NONE).edited(&edited)).unwrap();
    let computed = errorbar_core::Plan::new().evaluate(&scores.columns).unwrap();
    let accuracy: Vec<f64> = RecordedResults::from(&computed.results)
        .scores
        .iter()
        .map(|block| block.metrics["accuracy"].value)
        .collect();
    assert_eq!(accuracy, [0.25, 0.0]);
    revision.set_results(&computed, &scores.columns).unwrap();
    revision.write_back().unwrap();
    let log = EvalLog::open(&path).unwrap();
    let mut json = Vec::new();
    assert!(log.copy_sample("a", 2, &mut json).unwrap());
    let sample: Json = serde_json::from_slice(&json).unwrap();
    assert_eq!((&sample["epoch"], &sample["scores"]["match"]["value"]), (&json!(2), &json!("C")));
    let event = sample["events"].as_array().unwrap().last().unwrap();
    assert_eq!((&event["event"], &event["score_name"]), (&json!("score_edit"), &json!("match")));
}

#[test]
fn a_sample_that_is_too_large_to_be_edited_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let [eval, _] = logs(folder.path());
    let log = EvalLog::open_with(&eval, LogLimits { max_record: 300, ..LogLimits::default() });
    // The header alone is larger.
    assert!(matches!(log.unwrap().revise().unwrap_err().kind(), LogErrorKind::TooLargeRecord { limit: 300 }));
    let path = folder.path().join("long.json");
    let long = format!(r#"{{"id":1,"x":"{}","#, "x".repeat(1000));
    fs::write(&path, small_json("", "").replace("{\"id\":1,", &long)).unwrap();
    let log = EvalLog::open_with(&path, LogLimits { max_record: 500, ..LogLimits::default() }).unwrap();
    let error = log.revise().unwrap().edit_score(&edit("1", None, "s")).unwrap_err();
    assert!(matches!(error.kind(), LogErrorKind::TooLargeRecord { limit: 500 }), "{error}");
}
