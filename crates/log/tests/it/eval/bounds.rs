//! Small files that want much memory or time: read within bounds, or refused with the way out.

use std::fs;
use std::path::Path;

use errorbar_core::{Error, MetadataKeys, Registry, Score, ScoreColumns, ScoreParts};
use errorbar_log::eval::*;
use errorbar_test_support::assert_matches;

use crate::eval::support::{Sample, assert_damaged, start, written, zip};
use errorbar_test_support::zip::Zip;

fn values(path: &Path, limits: LogLimits) -> Result<LogScores> {
    let log = EvalLog::open_with(path, limits)?;
    log.scores(&log.header()?, &ScoreOptions::new(MetadataKeys::NONE).score_parts(ScoreParts::Value))
}

/// A sample around a long text, by zstd.
fn long_sample(id: usize, field: (&str, &str), bytes: usize) -> (String, Vec<u8>, Vec<u8>) {
    let (before, after) = field;
    let content = [before.as_bytes(), &vec![b'x'; bytes], after.as_bytes()].concat();
    let stored = zstd::bulk::compress(&content, 1).unwrap();
    (format!("samples/{id}_epoch_1.json"), stored, content)
}

/// A run whose model repeats the same letter thirteen million times, written as a run writes it.
fn repetitive(path: &Path, samples: usize) -> LogWriter {
    let answer = "a".repeat(13_000_000);
    let mut writer = LogWriter::create(path, &start()).unwrap();
    for id in 0..samples {
        let mut sample = Sample::new(id as i64, 1, Score::new("C").answer(&answer).explanation(&answer));
        sample.messages = vec![Message::user("?"), Message::assistant(answer.as_str())];
        sample.output = ModelOutput::from_text("mockllm/model", answer.as_str());
        sample.record(|record| writer.append_sample(record)).unwrap();
    }
    writer
}

#[test]
fn what_a_run_writes_can_be_read_and_resumed_however_repetitive_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log.eval");
    let writer = repetitive(&path, 2);
    // Five copies of the answer make it larger than what any guard against traps lets pass unseen.
    let strict = LogLimits { max_ratio: 64, ..LogLimits::default() };
    assert_eq!(values(&path, strict).unwrap().columns.len(), 2);
    drop(writer);

    let (writer, recovered) = LogWriter::resume_with(&path, strict).unwrap();
    assert_eq!(recovered.samples.len(), 2);
    assert_eq!(recovered.samples[0].scores["match"].answer.as_ref().map(String::len), Some(13_000_000));
    writer.finish(&Header::started(start()), &Reductions::none()).unwrap();
    assert_eq!(values(&path, strict).unwrap().columns.len(), 2);
    EvalLog::open_with(&path, strict).unwrap().check().unwrap();
    convert(&EvalLog::open(&path).unwrap(), &path.with_extension("json")).unwrap();
    convert(&EvalLog::open(path.with_extension("json")).unwrap(), &folder.path().join("b.eval")).unwrap();
    assert_eq!(values(&folder.path().join("b.eval"), strict).unwrap().columns.len(), 2);
}

/// A record that claims so much, without holding it.
fn claims(zip: Zip, id: usize, decompressed: u32) -> Zip {
    zip.claiming(&format!("samples/{id}_epoch_1.json"), 93, &[0; 100], 0, decompressed)
}

#[test]
fn dense_entries_have_a_limit_together() {
    // Each of them is small enough to be harmless.
    let many = (0..17).fold(zip(), |zip, id| claims(zip, id, 12 << 20));
    let (_folder, path) = written(&many.bytes());
    let error = EvalLog::open(&path).unwrap_err();
    assert!(matches!(error.kind(), LogErrorKind::TooDense { limit: 100, .. }), "{error}");
    assert_eq!((error.path(), error.member()), (Some(path.as_path()), Some("samples/16_epoch_1.json")));
    EvalLog::open_with(&path, LogLimits { max_ratio: u64::MAX, ..LogLimits::default() }).unwrap();
    let few = (0..15).fold(zip(), |zip, id| claims(zip, id, 12 << 20));
    let (_folder, path) = written(&few.bytes());
    EvalLog::open(&path).unwrap();
}

#[test]
fn too_dense_is_not_torn() {
    // Without a directory, a record beyond a limit looks as one that was cut off. To take it for that loses it.
    let (name, stored, content) =
        long_sample(1, (r#"{"id":1,"epoch":1,"x":""#, r#"","scores":{"s":{"value":1}}}"#), 1 << 20);
    let zip = zip().member(&name, 93, &stored, &content);
    let last = zip.stored("samples/2_epoch_1.json", br#"{"id":2,"epoch":1,"scores":{"s":{"value":1}}}"#);
    let bytes = last.without_directory();
    let small = LogLimits { max_decompressed: 1 << 10, ..LogLimits::default() };
    let (_folder, path) = written(&bytes);
    for error in [
        EvalLog::open_with(&path, small).unwrap_err(),
        LogWriter::resume_with(&path, small).map(|_| ()).unwrap_err(),
    ] {
        assert!(matches!(error.kind(), LogErrorKind::TooLarge { .. }), "{error}");
        assert_eq!(error.member(), Some(name.as_str()));
    }
    assert_eq!(fs::read(&path).unwrap(), bytes);
    assert_eq!(values(&path, LogLimits::default()).unwrap().columns.len(), 2);
}

#[test]
fn entries_that_overlap_are_refused() {
    // Each stored entry holds all that follow it: as many bytes as there are, squared.
    let inner = (0..50).rev().fold(Vec::new(), |behind: Vec<u8>, id| {
        let zip = Zip::new().stored(&format!("samples/{id}_epoch_1.json"), &behind);
        zip.without_directory()
    });
    let mut zip = zip();
    let base = zip.without_directory().len();
    zip = zip.raw(&inner);
    let mut at = base;
    for id in 0..50 {
        let name = format!("samples/{id}_epoch_1.json");
        let header = 30 + name.len() + 8;
        let length = inner.len() - (at - base) - header;
        zip = zip.listed(&name, at, length);
        at += header;
    }
    let (_folder, path) = written(&zip.bytes());
    let error = EvalLog::open(&path).unwrap_err();
    assert!(matches!(error.kind(), LogErrorKind::Overlap), "{error}");
}

#[test]
fn junk_behind_the_start_is_refused_without_looking_at_all_of_it() {
    // Every 38 bytes a sample begins that is not whole. Looking at each costs more than reading the file.
    let fake = Zip::new().claiming("samples/", 0, b"", 1, 0).without_directory();
    let mut bytes = zip().without_directory();
    let start_len = bytes.len();
    while bytes.len() < 20 << 20 {
        bytes.extend_from_slice(&fake);
    }
    let (_folder, path) = written(&bytes);
    let error = EvalLog::open(&path).unwrap_err();
    assert_damaged(&error, &path, None, &format!("the entry at byte {start_len} is not whole"));
    // What a killed process leaves has none.
    bytes.truncate(start_len);
    bytes.extend_from_slice(&vec![7; 20 << 20]);
    let (_folder, path) = written(&bytes);
    assert_eq!(EvalLog::open(&path).unwrap().sample_count(), 0);
}

#[test]
fn answers_that_no_metric_reads_are_not_held() {
    let answer = (r#"{"id":1,"epoch":1,"scores":{"s":{"answer":""#, r#"","value":1}}}"#);
    let (name, stored, content) = long_sample(1, answer, 8 << 20);
    let (_folder, path) = written(&zip().member(&name, 93, &stored, &content).bytes());
    let limits = LogLimits { max_memory: Some(4 << 20), ..LogLimits::default() };
    assert_eq!(values(&path, limits).unwrap().columns.len(), 1);
    let log = EvalLog::open_with(&path, limits).unwrap();
    let error = log.scores(&log.header().unwrap(), &ScoreOptions::new(MetadataKeys::NONE)).unwrap_err();
    assert!(matches!(error.kind(), LogErrorKind::TooMuchMemory { .. }), "{error}");
}

#[test]
fn what_is_held_of_all_samples_has_a_limit_together() {
    // No one of them is large; and a sample too many is no bad sample.
    for field in [
        (r#"{"epoch":1,"scores":{},"id":""#, r#""}"#),
        (r#"{"id":1,"epoch":1,"scores":{"s":{"value":""#, r#""}}}"#),
        (r#"{"id":1,"epoch":1,"error":{"message":""#, r#""},"metadata":{"k":1}}"#),
        (r#"{"id":1,"epoch":1,"scores":{},"metadata":{"k":""#, r#""}}"#),
    ] {
        let mut zip = zip();
        for id in 0..12 {
            let (name, stored, content) = long_sample(id, field, 1 << 20);
            zip = zip.member(&name, 93, &stored, &content);
        }
        let (_folder, path) = written(&zip.bytes());
        let limits = |bytes| LogLimits { max_memory: Some(bytes), ..LogLimits::default() };
        let read = |bytes| {
            let log = EvalLog::open_with(&path, limits(bytes)).unwrap();
            let options = ScoreOptions::new(MetadataKeys::one("k")).skip_bad_samples(true);
            log.scores(&log.header().unwrap(), &options).map(|scores| scores.skipped.len())
        };
        assert_eq!(read(64 << 20).unwrap(), 0, "{field:?}");
        if field.0.contains("error") {
            // The text of an error is not held at all.
            continue;
        }
        let error = read(8 << 20).unwrap_err();
        assert!(matches!(error.kind(), LogErrorKind::TooMuchMemory { .. }), "{error}");
        assert!(error.member().is_some_and(|name| name.starts_with("samples/")), "{error}");
    }
}

#[test]
fn a_header_of_tiny_values_is_refused_before_it_is_a_tree() {
    let header = format!(r#"{{"version":2,"eval":{{"task":"t","x":[{}0]}}}}"#, "[],".repeat(1 << 19));
    let limits = LogLimits { max_memory: Some(32 << 20), ..LogLimits::default() };
    let json = format!(r#"{},"samples":[]}}"#, header.strip_suffix('}').unwrap());
    let zip = Zip::new().stored("header.json", header.as_bytes()).bytes();
    for bytes in [zip.as_slice(), json.as_bytes()] {
        let (_folder, path) = written(bytes);
        let error = EvalLog::open_with(&path, limits).unwrap().header().unwrap_err();
        assert!(matches!(error.kind(), LogErrorKind::TooMuchMemory { .. }), "{error}");
        EvalLog::open(&path).unwrap().header().unwrap();
    }
}

/// A log whose header records these metrics of its scorer.
fn recording(metrics: &str) -> Vec<u8> {
    let eval = format!(
        r#"{{"task":"t","model":"m","config":{{}},"scorers":[{{"name":"s","metrics":[{metrics}]}}]}}"#
    );
    let header = format!(r#"{{"version":2,"status":"success","eval":{eval},"plan":{{}}}}"#);
    Zip::new().stored("header.json", header.as_bytes()).bytes()
}

#[test]
fn a_header_does_not_decide_how_much_is_computed() {
    let plan = |bytes: &[u8]| {
        let (_folder, path) = written(bytes);
        let header = EvalLog::open(&path).unwrap().header().unwrap();
        plan_from_header(&header, &Registry::built_in())
    };
    let metric = r#"{"name":"inspect_ai/mean","options":{}}"#;
    plan(&recording(&vec![metric; 1_000].join(","))).unwrap();
    let error = plan(&recording(&vec![metric; 10_001].join(","))).unwrap_err();
    assert!(matches!(error.kind(), LogErrorKind::TooMany { what: "metrics", .. }), "{error}");

    let nested = (0..16).fold(metric.to_owned(), |inner, _| {
        let inner = inner.replacen("options", "params", 1).replacen('{', r#"{"type":"metric","#, 1);
        format!(r#"{{"name":"inspect_ai/grouped","options":{{"metric":{inner},"group_key":"k"}}}}"#)
    });
    let (found, warnings) = plan(&recording(&nested)).unwrap();
    // It has its place, so that others keep their names, and no figure.
    let metrics: Vec<String> = found.scorers[0].metrics.iter().map(|metric| format!("{metric:?}")).collect();
    assert!(matches!(&metrics[..], [metric] if metric.contains("built: None")), "{metrics:?}");
    assert_matches!(
        warnings[0],
        LogWarning::Unusable { error: Error::Argument { argument, .. }, .. } if argument == "metric"
    );
}

/// What a resample costs, not only how many values it draws: few scores make many resamples no cheaper, and a median
/// takes longer than a sum.
#[test]
fn random_figures_of_a_log_have_a_budget() {
    let failures = |metrics: &str, (samples, groups): (i64, i64), budget: Option<u64>| {
        let (_folder, path) = written(&recording(metrics));
        let header = EvalLog::open(&path).unwrap().header().unwrap();
        let (mut plan, _) = plan_from_header(&header, &Registry::built_in()).unwrap();
        plan.max_draws = budget.or(plan.max_draws);
        let mut columns = ScoreColumns::new(["s"]);
        for id in 0..samples {
            let row = columns.push(id.to_string(), 1).metadata("k", (id % groups).to_string());
            row.score("s", Score::new(id % 3)).unwrap();
        }
        let scores = plan.evaluate(&columns).unwrap().results.scores;
        scores.into_iter().flat_map(|score| score.failures).map(|failure| failure.error).collect::<Vec<_>>()
    };
    let stderr = |resamples: u64| {
        format!(r#"{{"name":"inspect_ai/bootstrap_stderr","options":{{"num_samples":{resamples}}}}}"#)
    };
    let ten = stderr(100_000_000);
    for metrics in [ten.clone(), format!("{ten},{ten}")] {
        let found = failures(&metrics, (10, 1), None);
        assert_eq!(found.len(), metrics.matches("bootstrap").count());
        for error in found {
            assert_matches!(error, Error::TooManyDraws { draws: 10_000_000_000, .. });
        }
    }
    let median = |resamples: u64| {
        let inner = r#"{"type":"metric","name":"errorbar/median","params":{}}"#;
        let inner = format!(
            r#"{{"type":"metric","name":"errorbar/bootstrap","params":{{"metric":{inner},"num_samples":{resamples}}}}}"#
        );
        format!(r#"{{"name":"inspect_ai/grouped","options":{{"metric":{inner},"group_key":"k"}}}}"#)
    };
    // 20 times 1,000 resamples of 2 scores: as long as drawing 12.8 million values, not 2 million or 40,000.
    let found = failures(&median(1_000), (40, 20), Some(12_000_000));
    assert!(found.first().is_some_and(|error| error.to_string().contains("random draws")), "{found:?}");
    // What people record is computed.
    for metrics in [stderr(1_000), stderr(100_000), median(200)] {
        assert_eq!(failures(&metrics, (200, 4), None), [], "{metrics}");
    }
}

#[test]
fn counts_of_tokens_beyond_any_can_be_read_again() {
    // A server may claim any number, and a run records it.
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log.eval");
    let mut writer = LogWriter::create(&path, &start()).unwrap();
    let huge = Usage::new(u64::MAX, 0);
    let mut sample = Sample::new(1, 1, Score::new("C"));
    sample.usage = [("m".to_owned(), huge.clone())].into_iter().collect();
    sample.record(|record| writer.append_sample(record)).unwrap();
    let mut header = Header::started(start());
    header.stats.model_usage = [("m".to_owned(), huge.clone())].into_iter().collect();
    writer.finish(&header, &Reductions::none()).unwrap();
    let log = EvalLog::open(&path).unwrap();
    assert_eq!(log.header().unwrap().stats.model_usage["m"], huge);
    assert_eq!(log.samples().unwrap().next().unwrap().unwrap().model_usage["m"], huge);
}

#[test]
fn scorers_have_a_limit() {
    let scores: Vec<String> = (0..1_001).map(|n| format!(r#""s{n}":{{"value":1}}"#)).collect();
    let sample = format!(r#"{{"id":1,"epoch":1,"scores":{{{}}}}}"#, scores.join(","));
    let (_folder, path) = written(&zip().stored("samples/1_epoch_1.json", sample.as_bytes()).bytes());
    let error = values(&path, LogLimits::default()).unwrap_err();
    assert!(matches!(error.kind(), LogErrorKind::TooMany { what: "scorers", .. }), "{error}");
}
