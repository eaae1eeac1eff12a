//! Everything that a user can do with a log, done with one that may be damaged.
//!
//! What must hold: nothing panics; an error names the file and the way out and is one line without control
//! characters; samples are counted as they are read; a file that was written from a log opens and gives what the log
//! gave. What a log *should* give only its writer knows: see `crates/log/tests/it/mutations`.

use std::fs;
use std::path::Path;
use std::sync::LazyLock;

use errorbar_core::{Evaluation, MetadataKeys, Plan, Reducers, Registry, Value};
use errorbar_log::eval::*;

use super::folder::folder;
use super::zip::Zip;

static REGISTRY: LazyLock<Registry> = LazyLock::new(Registry::built_in);

/// A score of a sample, or all that is known of a sample, as a text that can be compared: not-a-number equals itself.
pub type Row = (SampleId, u32, String);

/// What a log gave.
#[derive(Debug)]
pub struct Seen {
    /// Whether its directory was missing or wrong.
    pub was_recovered: bool,
    /// Whether every byte is in order.
    pub is_checked: bool,
    /// The scores, unless one of them cannot be read.
    pub scores: Option<Vec<Row>>,
    /// The samples, unless one of them cannot be read.
    pub samples: Option<Vec<Row>>,
}

/// A file of these bytes, used in every way.
pub fn any_log(name: &str, bytes: &[u8]) {
    let folder = folder();
    let path = folder.path().join(name);
    fs::write(&path, bytes).unwrap();
    exercise(&path, folder.path(), &WAYS);
}

const START: &str = r#"{"version":2,"eval":{"task":"t","model":"m","config":{"epochs":2},"scorers":[{"name":"match","metrics":[{"name":"inspect_ai/accuracy","options":{}}]}]},"plan":{}}"#;

/// A log around the JSON of a sample.
pub fn sample(json: &[u8]) {
    let other = br#"{"id":2,"epoch":1,"scores":{"match":{"value":"C"}},"metadata":{"topic":"x"}}"#;
    let zip = Zip::new()
        .stored("_journal/start.json", START.as_bytes())
        .stored("samples/1_epoch_1.json", json)
        .stored("samples/2_epoch_1.json", other);
    any_log("log.eval", &zip.bytes());
}

/// A log around the JSON of a header.
pub fn header(json: &[u8]) {
    let sample = br#"{"id":1,"epoch":1,"scores":{"match":{"value":"C"},"judge":{"value":{"a":1,"b":0.5}}}}"#;
    let zip = Zip::new()
        .stored("_journal/start.json", START.as_bytes())
        .stored("samples/1_epoch_1.json", sample)
        .stored(
            "samples/1_epoch_2.json",
            &String::from_utf8_lossy(sample).replace("h\":1", "h\":2").into_bytes(),
        )
        .stored("header.json", json);
    any_log("log.eval", &zip.bytes());
}

/// A way to make another file of a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// New results, metrics and reducers.
    Revise,
    /// Another score.
    Edit,
    /// One JSON object.
    ToJson,
    /// A zip.
    ToEval,
    /// A copy with which its run is resumed.
    Resume,
}

/// All of them.
pub const WAYS: [Way; 5] = [Way::Revise, Way::Edit, Way::ToJson, Way::ToEval, Way::Resume];

/// Reads all of a log and makes other files of it, in the folder. Nothing if it cannot be opened.
pub fn exercise(path: &Path, folder: &Path, ways: &[Way]) -> Option<Seen> {
    let opened = noted(EvalLog::open(path), path);
    let seen = opened.as_ref().map(|log| use_all(log, folder, ways));
    if ways.contains(&Way::Resume) {
        resume(path, folder, opened.is_some_and(|log| log.is_json()), seen.as_ref());
    }
    seen
}

/// Reads all samples as people do, with their conversations.
fn show(log: &EvalLog) {
    let path = log.path();
    let Some(mut transcripts) = noted(log.transcripts(|_, _| true), path) else { return };
    while let Some(read) = transcripts.next() {
        if let Some(mut transcript) = noted(read, path) {
            noted(transcripts.complete(&mut transcript, true), path);
        }
    }
}

/// Reads the log as frames, in both dialects. Of samples with the same UUID there is one row.
#[cfg(feature = "frames")]
fn frames(log: &EvalLog) {
    use errorbar_log::eval::frames::{Dialect, FrameOptions, eval_frame, message_frame, sample_frame};
    let (path, logs) = (log.path(), [log.path().to_owned()]);
    for dialect in [Dialect::Plain, Dialect::Inspect] {
        let options = FrameOptions::new().dialect(dialect);
        if let Some(frame) = noted(sample_frame(&logs, &options), path) {
            assert!(frame.num_rows() <= log.sample_count());
            assert_eq!(frame.num_rows() > 0, log.sample_count() > 0);
        }
        if let Some(frame) = noted(eval_frame(&logs, &options), path) {
            assert_eq!(frame.num_rows(), 1);
        }
        noted(message_frame(&logs, &options), path);
    }
}

fn use_all(log: &EvalLog, folder: &Path, ways: &[Way]) -> Seen {
    let path = log.path();
    let is_checked = noted(log.check(), path).is_some();
    let samples = samples(log);
    show(log);
    #[cfg(feature = "frames")]
    frames(log);
    let header = noted(log.header(), path);
    let read = |header: &Header, skip| {
        let options = ScoreOptions::new(MetadataKeys::All).skip_bad_samples(skip);
        noted(log.scores(header, &options), path)
    };
    let strict = header.as_ref().and_then(|header| read(header, false));
    let lenient = header.as_ref().and_then(|header| read(header, true));
    if let Some(lenient) = &lenient {
        lenient.skipped.iter().for_each(|error| check_error(error, path));
        assert_eq!(
            lenient.columns.len() + lenient.skipped.len(),
            log.sample_count(),
            "every sample is counted"
        );
        if let Some(strict) = &strict {
            assert!(lenient.skipped.is_empty(), "{:?}", lenient.skipped);
            assert_eq!(rows(strict), rows(lenient));
        }
    }
    let scores = strict.as_ref().map(rows);
    let seen = Seen { was_recovered: log.was_recovered(), is_checked, scores, samples };
    let extension = if log.is_json() { "json" } else { "eval" };

    let computed = header.as_ref().zip(lenient.as_ref()).and_then(|(header, scores)| {
        let evaluation = compute(header, scores, path)?;
        if let Some(recorded) = &header.results {
            compare(recorded, &evaluation.results).iter().for_each(|difference| drop(difference.to_string()));
        }
        Some((scores, evaluation))
    });
    for way in ways {
        let to = folder.join("new").with_extension(match way {
            Way::Revise | Way::Edit => extension,
            Way::ToJson => "json",
            Way::ToEval | Way::Resume => "eval",
        });
        match (way, &computed, &header, &seen.scores) {
            (Way::Revise, Some((scores, evaluation)), ..) => revise(log, &seen, scores, evaluation, &to),
            (Way::Edit, _, Some(header), Some(rows)) => edit(log, header, rows, &to),
            (Way::ToJson | Way::ToEval, ..) => {
                written(convert(log, &to), path, &to).map(|()| same(&seen, &to))
            }
            _ => None,
        };
        let _ = fs::remove_file(&to);
    }
    seen
}

/// All that is known of the samples.
fn samples(log: &EvalLog) -> Option<Vec<Row>> {
    let mut samples = noted(log.samples(), log.path())?;
    assert_eq!(samples.len(), log.sample_count());
    let read: Vec<Result<StoredSample>> = samples.by_ref().collect();
    let row = |sample: StoredSample| (sample.id.clone(), sample.epoch, format!("{sample:?}"));
    let read: Vec<Option<Row>> = read.into_iter().map(|sample| noted(sample, log.path()).map(row)).collect();
    let mut rows: Vec<Row> = read.into_iter().collect::<Option<_>>()?;
    // Their order follows from the header, which is another one after a resumption.
    rows.sort_by_cached_key(|(id, epoch, text)| (*epoch, id.sort_key(), text.clone()));
    Some(rows)
}

/// The scores of each row.
fn rows(scores: &LogScores) -> Vec<Row> {
    let columns = &scores.columns;
    let row = |at: usize| {
        let id = columns.sample_id(at);
        assert_eq!(columns.id(at), id.to_string());
        let scores: Vec<_> =
            scores.scorers.iter().map(|scorer| (scorer, columns.score(at, scorer))).collect();
        (id, columns.epoch(at), format!("{scores:?}"))
    };
    (0..columns.len()).map(row).collect()
}

fn compute(header: &Header, scores: &LogScores, path: &Path) -> Option<Evaluation> {
    let recorded = plan_from_header(header, &REGISTRY).map_err(|error| error.at(path));
    let plan = match noted(recorded, path) {
        Some((plan, warnings)) => {
            warnings.iter().for_each(|warning| drop(warning.to_string()));
            plan
        }
        None => Plan::new(),
    };
    plan.evaluate(&scores.columns).or_else(|_| Plan::new().evaluate(&scores.columns)).ok()
}

/// Puts results in the log, as a new file that must hold them.
fn revise(log: &EvalLog, seen: &Seen, scores: &LogScores, evaluation: &Evaluation, to: &Path) -> Option<()> {
    let path = log.path();
    let mut revision = noted(log.revise(), path)?;
    noted(revision.set_results(evaluation, &scores.columns), path)?;
    written(revision.write_to(to), path, to)?;
    same(seen, to);
    let recorded = EvalLog::open(to).unwrap().header().unwrap().results.unwrap();
    let differences = compare(&recorded, &evaluation.results);
    assert!(differences.is_empty(), "the results are not those that were written: {differences:?}");

    noted(revision.set_reducers(&Reducers::Disabled), path)?;
    noted(revision.set_metrics(&serde_json::json!([{"name": "inspect_ai/mean", "options": {}}])), path)?;
    written(revision.write_to(to), path, to)?;
    let revised = EvalLog::open(to).unwrap().header().unwrap().eval;
    assert_eq!(revised.config.epochs_reducer, Some(Vec::new()));
    assert!(revised.metrics.is_some());
    Some(())
}

/// Changes a score, in a new file which must hold it and all the others.
fn edit(log: &EvalLog, header: &Header, rows: &[Row], to: &Path) -> Option<()> {
    let path = log.path();
    let options = ScoreOptions::new(MetadataKeys::NONE);
    let scores = noted(log.scores(header, &options), path)?;
    let has_score = |(at, scorer): &(usize, &String)| scores.columns.score(*at, scorer).is_some();
    let cells = (0..rows.len()).rev().flat_map(|at| scores.scorers.iter().map(move |scorer| (at, scorer)));
    let (at, scorer) = { cells }.find(has_score)?;
    let (id, epoch, _) = rows.get(at)?;
    let edit = ScoreEdit {
        sample: id.to_string(),
        epoch: Some(*epoch),
        scorer: scorer.clone(),
        value: Some(Value::from(0.125)),
        author: "ann".to_owned(),
        reason: None,
        timestamp: "2026-11-15T09:20:38Z".to_owned(),
        ..ScoreEdit::default()
    };
    let mut revision = noted(log.revise(), path)?;
    let edited = noted(revision.edit_score(&edit), path)?;
    written(revision.write_to(to), path, to)?;
    // Two samples of one name are not distinguished.
    let is_unique =
        rows.iter().filter(|row| row.0.to_string() == edit.sample && row.1 == *epoch).count() == 1;
    let foreseen = noted(log.scores(header, &ScoreOptions::new(MetadataKeys::NONE).edited(&edited)), path)?;
    let new = EvalLog::open(to).unwrap();
    let new = new.scores(&new.header().unwrap(), &ScoreOptions::new(MetadataKeys::NONE)).unwrap();
    if is_unique {
        assert_eq!(self::rows(&foreseen), self::rows(&new), "the edit is not what was foreseen");
        assert_eq!(new.columns.score(at, scorer).unwrap().value, Value::from(0.125));
    }
    assert_eq!(new.columns.len(), rows.len());
    Some(())
}

/// Resumes a copy of the log, which loses no sample by that.
fn resume(path: &Path, folder: &Path, is_json: bool, seen: Option<&Seen>) -> Option<()> {
    let copy = folder.join("resumed.eval");
    fs::copy(path, &copy).unwrap();
    let resumed = noted(LogWriter::resume(&copy), &copy);
    if let Some((writer, recovered)) = resumed {
        assert!(!is_json, "one JSON object cannot be resumed");
        drop(writer);
        let log = EvalLog::open(&copy).unwrap();
        assert_eq!(log.sample_count(), recovered.samples.len());
        assert!(!log.has_header());
        if let Some(samples) = seen.and_then(|seen| seen.samples.as_ref()) {
            assert_eq!(self::samples(&log).as_ref(), Some(samples), "other samples after a resumption");
        }
    }
    fs::remove_file(&copy).unwrap();
    Some(())
}

/// A file that was written from a log opens and gives what the log gave.
fn same(seen: &Seen, to: &Path) {
    let log = EvalLog::open(to).unwrap_or_else(|error| panic!("what was written does not open: {error}"));
    assert!(!log.was_recovered(), "{}: no directory", to.display());
    if let Some(scores) = &seen.scores {
        let new = log.scores(&log.header().unwrap(), &ScoreOptions::new(MetadataKeys::All)).unwrap();
        assert_eq!(rows(&new), *scores, "other scores in {}", to.display());
    }
    if let Some(old) = &seen.samples {
        assert_eq!(samples(&log).as_ref(), Some(old), "other samples in {}", to.display());
    }
    if seen.is_checked {
        log.check().unwrap_or_else(|error| panic!("what was written is not in order: {error}"));
    }
}

/// The value, or nothing if there is an error, which must name this file.
fn noted<T>(result: Result<T>, path: &Path) -> Option<T> {
    result.map_err(|error| check_error(&error, path)).ok()
}

/// The same for what writes to another file: whichever of the two is at fault must be named.
fn written<T>(result: Result<T>, path: &Path, to: &Path) -> Option<()> {
    let error = match result {
        Ok(_) => return Some(()),
        Err(error) => error,
    };
    use LogErrorKind as Kind;
    let is_of_new =
        matches!(error.kind(), Kind::Create(_) | Kind::Write(_) | Kind::Folder(_) | Kind::TooLong { .. });
    check_error(&error, if is_of_new { to } else { path });
    assert!(!to.exists(), "half a file is left behind");
    None
}

fn check_error(error: &LogError, path: &Path) {
    let text = error.to_string();
    assert_eq!(error.path(), Some(path), "the file is not named: {text}");
    assert!(text.chars().all(|c| !c.is_control()), "control characters in an error: {text:?}");
}
