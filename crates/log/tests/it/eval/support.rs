//! Logs to test with.

use std::path::{Path, PathBuf};

use errorbar_core::{Metadata, Score};
use errorbar_log::eval::*;
use errorbar_test_support::zip::Zip;
use errorbar_test_support::{TestFolder, assert_matches};
use indexmap::IndexMap;
use serde_json::json;

/// The file is damaged, and the error names it, the entry and the problem.
#[track_caller]
pub(crate) fn assert_damaged(error: &LogError, path: &Path, entry: Option<&str>, problem: &str) {
    assert_matches!(error.kind(), LogErrorKind::Damaged(found) if found == problem);
    assert_eq!((error.path(), error.member()), (Some(path), entry));
}

/// A sample that owns its parts, with an example of everything.
#[derive(Clone)]
pub(crate) struct Sample {
    pub(crate) id: SampleId,
    pub(crate) epoch: u32,
    pub(crate) input: Input,
    pub(crate) target: Targets,
    pub(crate) choices: Option<Vec<String>>,
    pub(crate) messages: Vec<Message>,
    pub(crate) output: ModelOutput,
    pub(crate) scores: Vec<(String, Score)>,
    pub(crate) metadata: Metadata,
    pub(crate) usage: IndexMap<String, Usage>,
    pub(crate) error: Option<EvalError>,
    pub(crate) limit: Option<SampleLimit>,
}

impl Sample {
    pub(crate) fn new(id: impl Into<SampleId>, epoch: u32, score: Score) -> Self {
        let usage = Usage::new(3, 2);
        let answer = format!("the answer, in epoch {epoch}");
        Sample {
            id: id.into(),
            epoch,
            input: Input::from("What is \"it\"?\n"),
            target: Targets::from("42"),
            choices: None,
            messages: vec![Message::user("What is \"it\"?\n"), Message::assistant(answer.as_str())],
            output: ModelOutput::from_text("mockllm/model", answer),
            scores: vec![("match".to_owned(), score)],
            metadata: Metadata::from_iter([("category".to_owned(), json!("physics"))]),
            usage: IndexMap::from([("mockllm/model".to_owned(), usage)]),
            error: None,
            limit: None,
        }
    }

    pub(crate) fn errored(id: impl Into<SampleId>, epoch: u32, message: &str) -> Self {
        let error = Some(EvalError::new(message));
        Sample { error, scores: Vec::new(), ..Sample::new(id, epoch, Score::new(0)) }
    }

    pub(crate) fn record<R>(&self, use_it: impl FnOnce(&SampleRecord<'_>) -> R) -> R {
        let record = SampleRecord {
            input: Some(&self.input),
            choices: self.choices.as_deref(),
            target: Some(&self.target),
            messages: &self.messages,
            output: Some(&self.output),
            scores: &self.scores,
            metadata: Some(&self.metadata),
            model_usage: Some(&self.usage),
            started_at: Some("2026-11-15T02:39:22.876004+00:00"),
            completed_at: Some("2026-11-15T02:39:23.419387+00:00"),
            total_time: Some(0.5),
            working_time: Some(0.25),
            uuid: Some("fKHgN4TvfSmZErx5QU363A"),
            error: self.error.as_ref(),
            limit: self.limit.as_ref(),
            ..SampleRecord::new(&self.id, self.epoch)
        };
        use_it(&record)
    }
}

pub(crate) fn start() -> StartRecord {
    let mut scorer = ScorerInfo::new("match");
    scorer.options = Some(Metadata::new());
    scorer.metrics = Some(json!([
        {"name": "inspect_ai/accuracy", "options": {}},
        {"name": "inspect_ai/stderr", "options": {}},
    ]));
    scorer.metadata = Some(Metadata::new());
    let mut eval = EvalInfo::new("quiz", "mockllm/model");
    eval.eval_id = "hRKLCUjhiqQfkQkdXFTceA".to_owned();
    eval.run_id = "LQQEZqUTFX9oPtXxwapog8".to_owned();
    eval.created = "2026-11-15T02:39:22+00:00".to_owned();
    eval.task_id = "AQtBE2bZz2KnFWx5EwiD7u".to_owned();
    eval.task_version = json!(0);
    eval.config.epochs = Some(2);
    eval.config.fail_on_error = Some(json!(0.1));
    eval.packages = IndexMap::from([("errorbar".to_owned(), "0.1.0".to_owned())]);
    eval.scorers = Some(vec![scorer]);
    StartRecord::new(eval, PlanRecord::new(vec![PlanStep::new("generate", Metadata::new())]))
}

/// Appends samples to a new log and leaves it as a killed process would.
pub(crate) fn write_unfinished(path: &Path, samples: &[Sample]) {
    let mut writer = LogWriter::create(path, &start()).unwrap();
    for sample in samples {
        sample.record(|record| writer.append_sample(record)).unwrap();
    }
}

/// Writes a whole log, with the results of its own samples.
pub(crate) fn write_finished(path: &Path, samples: &[Sample]) {
    let mut writer = LogWriter::create(path, &start()).unwrap();
    for sample in samples {
        sample.record(|record| writer.append_sample(record)).unwrap();
    }
    finish(writer);
}

/// Computes the results and ends the log.
pub(crate) fn finish(writer: LogWriter) {
    let log = EvalLog::open(writer.path()).unwrap();
    let header = log.header().unwrap();
    let (plan, _) = plan_from_header(&header, &errorbar_core::Registry::built_in()).unwrap();
    let columns = log.score_columns(&plan.metadata_keys()).unwrap();
    let evaluation = plan.evaluate(&columns).unwrap();
    let mut stats = Stats::default();
    stats.started_at = "2026-11-15T02:39:22+00:00".to_owned();
    stats.completed_at = "2026-11-15T02:39:24+00:00".to_owned();
    let results = RecordedResults::from(&evaluation.results);
    let header = header.status(Status::Success).results(results).stats(stats);
    writer.finish(&header, &Reductions::of(&evaluation.reductions, &columns)).unwrap();
}

/// Id and epoch of all samples, in the order in which the log gives them.
pub(crate) fn keys(log: &EvalLog) -> Vec<(String, u32)> {
    let key = |sample: Result<StoredSample>| {
        let sample = sample.unwrap();
        (sample.id.to_string(), sample.epoch)
    };
    log.samples().unwrap().map(key).collect()
}

/// The summaries in a log, in order.
pub(crate) fn summaries(path: &Path) -> Vec<serde_json::Value> {
    let json_path = path.with_extension("member.json");
    let bytes = read_member(path, "summaries.json");
    std::fs::write(json_path, &bytes).unwrap();
    serde_json::from_str(&String::from_utf8(bytes).unwrap().replace("NaN", "null")).unwrap()
}

/// A member, found and decompressed without any of the code that is tested. Of several the last.
pub(crate) fn read_member(path: &Path, name: &str) -> Vec<u8> {
    let bytes = std::fs::read(path).unwrap();
    let at = (0..bytes.len() - 30)
        .rev()
        .find(|at| bytes[*at..].starts_with(b"PK\x03\x04") && bytes[at + 30..].starts_with(name.as_bytes()))
        .unwrap_or_else(|| panic!("no member {name}"));
    let u16_at = |at: usize| usize::from(u16::from_le_bytes([bytes[at], bytes[at + 1]]));
    let compressed = u16_at(at + 18) + (u16_at(at + 20) << 16);
    let start = at + 30 + u16_at(at + 26) + u16_at(at + 28);
    zstd::decode_all(&bytes[start..start + compressed]).unwrap()
}

/// The record of the start of a run.
pub(crate) const START: &[u8] = br#"{"version":2,"eval":{"task":"t","model":"m","config":{}},"plan":{}}"#;

/// A log whose run has started.
pub(crate) fn zip() -> Zip {
    Zip::new().stored("_journal/start.json", START)
}

/// A log in its own folder.
pub(crate) fn written(bytes: &[u8]) -> (TestFolder, PathBuf) {
    TestFolder::of_file("log.eval", bytes)
}
