//! Samples of logs as tables, read back with other means.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that meets something unexpected should stop there"
)]

mod columns;

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use errorbar_analysis::DiagnosticKind;
use errorbar_analysis::export::*;
use errorbar_core::{Metadata, Score};
use errorbar_log::eval::*;
use serde_json::{Value as Json, json};

/// A `.json` log with these samples; texts, so that it can hold what no writer of ours would write.
pub(crate) fn json_log(folder: &Path, name: &str, samples: &[&str]) -> PathBuf {
    let path = folder.join(name);
    let eval = r#"{"created": "2026-11-15T02:39:22+00:00", "task": "quiz", "model": "mock/x", "dataset": {}, "config": {}}"#;
    let text = format!(
        r#"{{"version": 2, "status": "success", "eval": {eval}, "samples": [{}]}}"#,
        samples.join(",\n")
    );
    fs::write(&path, text).unwrap();
    path
}

/// Two epochs, two scorers, every kind of value, and samples that lack something.
pub(crate) const SAMPLES: [&str; 6] = [
    r#"{"id": 1, "epoch": 1, "scores": {"match": {"value": "C", "answer": "a, \"b\"\nc", "explanation": "é"}, "judge": {"value": 0.5}},
        "metadata": {"topic": "sums", "size": {"rows": 3, "tags": ["x", 1]}, "id": "own", "hard": true}, "messages": [{"x": NaN}]}"#,
    r#"{"id": "q,2", "epoch": 1, "scores": {"match": {"value": NaN, "reason": "no_answer"}, "judge": {"value": {"a": 1, "b": NaN, "c": null}}},
        "metadata": {"topic": null, "size": {"rows": 2.5}, "hard": false}}"#,
    r#"{"id": 3, "epoch": 1, "scores": {"judge": {"value": [true, "x"]}}, "metadata": {}, "limit": {"type": "token", "limit": 7}}"#,
    r#"{"id": 4, "epoch": 1, "scores": {}, "error": {"message": "boom\r\n\"here\"", "traceback": "", "traceback_ansi": ""}}"#,
    r#"{"id": 1, "epoch": 2, "scores": {"match": {"value": true}, "judge": {"value": -3}}, "metadata": {"topic": "sums"}}"#,
    r#"{"id": "q,2", "epoch": 2, "scores": {"match": {"value": ""}, "judge": {"value": Infinity}}}"#,
];

fn written(export: &Export, format: ExportFormat) -> (String, ExportCounts) {
    let mut bytes = Vec::new();
    let written = export.write(format, &mut bytes).unwrap();
    (String::from_utf8(bytes).unwrap(), written)
}

pub(crate) fn exported(
    paths: &[PathBuf],
    options: ExportOptions,
    format: ExportFormat,
) -> (String, ExportCounts) {
    written(&Export::of(paths, options).unwrap(), format)
}

pub(crate) fn csv_rows(text: &str) -> Vec<Vec<String>> {
    let mut reader = csv::ReaderBuilder::new().has_headers(false).from_reader(text.as_bytes());
    reader.records().map(|record| record.unwrap().iter().map(str::to_owned).collect()).collect()
}

/// The columns of scores, and all metadata.
const SCORES: [&str; 12] = [
    "task",
    "model",
    "id",
    "epoch",
    "scorer",
    "value",
    "answer",
    "explanation",
    "reason",
    "error",
    "limit",
    "metadata",
];

fn without_texts() -> ExportOptions {
    let is_text = |name: &&str| matches!(*name, "answer" | "explanation");
    ExportOptions::default().columns(SCORES.into_iter().filter(|name| !is_text(name)).collect::<Vec<_>>())
}

#[test]
fn a_row_per_sample_epoch_and_scorer() {
    let folder = tempfile::tempdir().unwrap();
    let log = json_log(folder.path(), "a.json", &SAMPLES);
    let options = ExportOptions::default().columns(SCORES);
    let (text, written) = exported(&[log], options, ExportFormat::Csv);
    let rows = csv_rows(&text);
    let metadata = ["topic", "size.rows", "size.tags", "metadata.id", "hard"];
    let header = [&SCORES[..SCORES.len() - 1], &metadata].concat();
    assert_eq!(rows[0], header);
    assert_eq!((written.rows, written.nulled), (10, 0));
    let shown: Vec<[&str; 4]> =
        rows[1..].iter().map(|row| [2, 3, 4, 5].map(|at: usize| row[at].as_str())).collect();
    assert_eq!(
        shown,
        [
            ["1", "1", "match", "C"],
            ["1", "1", "judge", "0.5"],
            ["3", "1", "judge", "[true,\"x\"]"],
            ["4", "1", "", ""],
            ["q,2", "1", "match", "NaN"],
            ["q,2", "1", "judge", "{\"a\":1,\"b\":NaN,\"c\":null}"],
            ["1", "2", "match", "true"],
            ["1", "2", "judge", "-3"],
            ["q,2", "2", "match", ""],
            ["q,2", "2", "judge", "Infinity"],
        ]
    );
    assert_eq!(rows[1][6..], ["a, \"b\"\nc", "é", "", "", "", "sums", "3", "[\"x\",1]", "own", "true"]);
    assert_eq!(rows[3][9..], ["", "token", "", "", "", "", ""]);
    assert_eq!(rows[4][6..11], ["", "", "", "boom\r\n\"here\"", ""]);
    assert_eq!(rows[5][6..], ["", "", "no_answer", "", "", "", "2.5", "", "", "false"]);
}

#[test]
fn json_lines_are_strict_and_keep_types() {
    let folder = tempfile::tempdir().unwrap();
    let log = json_log(folder.path(), "a.json", &SAMPLES);
    let (text, written) = exported(&[log], without_texts(), ExportFormat::JsonLines);
    let rows: Vec<Json> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(written.rows, 10);
    assert_eq!(written.nulled, 1, "the NaN inside the map; an unscored one alone is null again");
    assert_eq!(
        rows[0],
        json!({
            "task": "quiz", "model": "mock/x", "id": 1, "epoch": 1, "scorer": "match", "value": "C", "reason": null,
            "error": null, "limit": null, "topic": "sums", "size.rows": 3, "size.tags": ["x", 1],
            "metadata.id": "own", "hard": true,
        })
    );
    assert!(rows[3].get("value").is_none(), "missing is not null, which is unscored: {}", rows[3]);
    assert_eq!(rows[3]["scorer"], Json::Null);
    assert_eq!(rows[4]["value"], Json::Null);
    assert_eq!(rows[4]["topic"], Json::Null);
    assert!(rows[4].as_object().unwrap().contains_key("value"));
    assert_eq!(rows[5]["value"], json!({"a": 1, "b": null, "c": null}));
    assert!(rows[6].get("hard").is_none(), "a key that the sample lacks is not there");
    assert_eq!(rows[8]["value"], "");
    assert_eq!(rows[9]["value"], Json::Null);
}

#[test]
fn several_logs_are_distinguished_and_share_their_columns() {
    let folder = tempfile::tempdir().unwrap();
    let a = json_log(
        folder.path(),
        "a.json",
        &[r#"{"id": 1, "epoch": 1, "scores": {"s": {"value": 1}}, "metadata": {"a": 1}}"#],
    );
    let b = json_log(
        folder.path(),
        "b.json",
        &[r#"{"id": 1, "epoch": 1, "scores": {"s": {"value": 0}}, "metadata": {"b": "x", "log": 2}}"#],
    );
    let export = Export::of([&a, &b], ExportOptions::default().texts(false)).unwrap();
    let names: Vec<&str> = export.columns().collect();
    let fixed =
        ["log", "task", "model", "id", "epoch", "scorer", "value", "reason", "error", "limit", "number"];
    assert_eq!(names[..11], fixed);
    assert_eq!(names[18..], ["a", "b", "metadata.log"]);
    let rows = csv_rows(&written(&export, ExportFormat::Csv).0);
    assert_eq!(rows[1][0], a.display().to_string());
    assert_eq!(rows[2][0], b.display().to_string());
    assert_eq!(rows[1][18..], ["1", "", ""]);
    assert_eq!(rows[2][18..], ["", "x", "2"]);
}

#[test]
fn only_some_scorers_but_every_sample() {
    let folder = tempfile::tempdir().unwrap();
    let log = json_log(folder.path(), "a.json", &SAMPLES);
    let options = ExportOptions::default().scorers(["match"]).texts(false);
    let rows = csv_rows(&exported(std::slice::from_ref(&log), options, ExportFormat::Csv).0);
    let shown: Vec<[&str; 2]> = rows[1..].iter().map(|row| [row[2].as_str(), row[4].as_str()]).collect();
    let wanted = [["1", "match"], ["3", ""], ["4", ""], ["q,2", "match"], ["1", "match"], ["q,2", "match"]];
    assert_eq!(shown, wanted, "a sample without the scorer is not dropped");

    let options = ExportOptions::default().scorers(["judge", "mach"]);
    let error = Export::of([&log], options).unwrap_err();
    assert_eq!(error.to_string(), "no sample has a score by `mach`; there are scores by `match`, `judge`");
    assert_eq!(error.hint().unwrap().to_string(), "did you mean `match`?");
}

#[test]
fn a_log_without_samples_gives_the_header_alone() {
    let folder = tempfile::tempdir().unwrap();
    let log = json_log(folder.path(), "a.json", &[]);
    let export = Export::of([&log], ExportOptions::default()).unwrap();
    let header = "task,model,id,epoch,scorer,value,answer,explanation,reason,error,limit,number,input,target,output,\
        started_at,completed_at,total_time,working_time,input_tokens,output_tokens,total_tokens\n";
    assert_eq!(written(&export, ExportFormat::Csv), (header.to_owned(), ExportCounts::default()));
    assert_eq!(written(&export, ExportFormat::JsonLines).0, "");
}

fn sample<R>(
    id: &SampleId,
    scores: &[(String, Score)],
    message: &str,
    use_it: impl FnOnce(&SampleRecord<'_>) -> R,
) -> R {
    let (input, target, messages) = (Input::from("?"), Targets::from("!"), [Message::user(message)]);
    let output = ModelOutput::from_text("mock/x", "!");
    let metadata = Metadata::from_iter([("topic".to_owned(), json!("sums"))]);
    use_it(&SampleRecord {
        input: Some(&input),
        target: Some(&target),
        messages: &messages,
        output: Some(&output),
        scores,
        metadata: Some(&metadata),
        ..SampleRecord::new(id, 1)
    })
}

/// An archive of a run that has not ended.
fn started_log(path: &Path) -> LogWriter {
    let eval = EvalInfo::new("quiz", "mock/x");
    let mut writer = LogWriter::create(path, &StartRecord::new(eval, PlanRecord::default())).unwrap();
    for id in ["q1", "q/2"] {
        let scores = [("match".to_owned(), Score::new("C"))];
        sample(&SampleId::from(id), &scores, "hello", |record| writer.append_sample(record)).unwrap();
    }
    writer
}

#[test]
fn an_archive_is_exported_also_while_it_grows() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.eval");
    let mut writer = started_log(&path);
    let export = Export::of([&path], without_texts()).unwrap();
    assert_eq!(written(&export, ExportFormat::Csv).1.rows, 2);
    // It is exported as it was when its columns were found: later samples may have others.
    let metadata = Metadata::from_iter([("new".to_owned(), json!(1))]);
    let scores = [("judge".to_owned(), Score::new(1))];
    sample(&SampleId::from("q3"), &scores, "", |record| {
        writer.append_sample(&SampleRecord { metadata: Some(&metadata), ..record.clone() })
    })
    .unwrap();
    assert_eq!(written(&export, ExportFormat::Csv).1.rows, 2);
    assert_eq!(written(&Export::of([&path], without_texts()).unwrap(), ExportFormat::Csv).1.rows, 3);
}

#[test]
fn a_log_that_was_replaced_while_it_is_exported_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let [path, other] = ["a.eval", "b.eval"].map(|name| folder.path().join(name));
    let finish = |writer: LogWriter| {
        let start = StartRecord::new(EvalInfo::new("quiz", "mock/x"), PlanRecord::default());
        writer.finish(&Header::started(start), &Reductions::none()).unwrap();
    };
    finish(started_log(&path));
    let export = Export::of([&path], without_texts()).unwrap();
    let mut writer = started_log(&other);
    let scores = [("judge".to_owned(), Score::new(1))];
    sample(&SampleId::from("q3"), &scores, "", |record| writer.append_sample(record)).unwrap();
    finish(writer);
    std::fs::rename(&other, &path).unwrap();
    let error = export.write(ExportFormat::Csv, &mut Vec::new()).unwrap_err();
    assert!(error.to_string().ends_with(": the log changed while it was read"), "{error}");
}

#[test]
fn a_file_is_whole_or_not_there() {
    let folder = tempfile::tempdir().unwrap();
    let log = json_log(folder.path(), "a.json", &SAMPLES);
    let export = Export::of([&log], ExportOptions::default()).unwrap();
    let out = folder.path().join("out.csv");
    export.save(ExportFormat::Csv, &out).unwrap();
    assert_eq!(fs::read_to_string(&out).unwrap(), written(&export, ExportFormat::Csv).0);

    // The log is damaged after its columns were found: the old file stays, and nothing else is left.
    let old = fs::read(&out).unwrap();
    fs::write(&log, fs::read_to_string(&log).unwrap().replace("\"value\": true", "\"value\": {\"x\": [1]}"))
        .unwrap();
    let error = export.save(ExportFormat::Csv, &out).unwrap_err();
    let ExportError::Other(error) = error else { panic!("{error}") };
    let place = error.place.unwrap();
    assert_eq!((Some(&*place.path), place.sample.as_deref()), (log.to_str(), Some("1")));
    assert_eq!(fs::read(&out).unwrap(), old);
    let mut names: Vec<_> = fs::read_dir(folder.path()).unwrap().map(|e| e.unwrap().file_name()).collect();
    names.sort();
    assert_eq!(names, ["a.json", "out.csv"]);
}

#[test]
fn outputs_that_cannot_be_written_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let log = json_log(folder.path(), "a.json", &SAMPLES);
    let export = Export::of([&log], ExportOptions::default()).unwrap();
    let missing = folder.path().join("no/such/out.csv");
    let error = export.save(ExportFormat::Csv, &missing).unwrap_err();
    assert!(
        matches!(&error, ExportError::Write { path: Some(path), error } if *path == missing && error.kind() == ErrorKind::NotFound),
        "{error}"
    );
    assert_eq!(error.hint().unwrap().to_string(), "make the folder first");
    let error = export.save(ExportFormat::Csv, folder.path()).unwrap_err();
    assert_eq!(error.hint().unwrap().to_string(), "give the name of a file in it");
    let before = fs::read(&log).unwrap();
    let error = export.save(ExportFormat::Csv, &folder.path().join("./a.json")).unwrap_err();
    assert!(error.to_string().ends_with(": the output would replace the log that is read"), "{error}");
    assert_eq!(fs::read(&log).unwrap(), before);
}

#[test]
fn what_is_no_log_is_reported() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.eval");
    fs::write(&path, "not a log").unwrap();
    let error = Export::of([&path], ExportOptions::default()).unwrap_err();
    let ExportError::Other(error) = error else { panic!("{error}") };
    let place = error.place.as_ref().unwrap();
    assert_eq!((Some(&*place.path), error.kind), (path.to_str(), DiagnosticKind::Log));
    let hint = "give a file that ends in .eval and was written as an eval log";
    assert_eq!(error.hint.unwrap().to_string(), hint);
}

fn copied(log: &EvalLog, id: &str, epoch: u32) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    log.copy_sample(id, epoch, &mut bytes).unwrap().then_some(bytes)
}

#[test]
fn the_records_as_they_are() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.eval");
    let _writer = started_log(&path);
    let log = EvalLog::open(&path).unwrap();
    let mut header = Vec::new();
    log.copy_header(&mut header).unwrap();
    let start: Json = serde_json::from_slice(&header).unwrap();
    assert_eq!(start["eval"]["task"], "quiz");
    // The name of the member holds a slash; the sample is found all the same.
    let sample: Json = serde_json::from_slice(&copied(&log, "q/2", 1).unwrap()).unwrap();
    assert_eq!(sample["messages"][0]["content"], "hello");
    assert!(copied(&log, "q/2", 2).is_none() && copied(&log, "q", 1).is_none());

    let json = json_log(folder.path(), "b.json", &SAMPLES);
    let log = EvalLog::open(&json).unwrap();
    let raw = copied(&log, "1", 1).unwrap();
    assert_eq!(String::from_utf8(raw.clone()).unwrap(), SAMPLES[0], "the very bytes");
    let strict: Json = serde_json::from_str(&strict_json(&raw, JsonLayout::Pretty).unwrap()).unwrap();
    assert_eq!(strict["messages"], json!([{"x": null}]));
}

#[cfg(feature = "parquet")]
mod parquet {
    use super::*;
    use ::parquet::basic::{Compression, Type as Physical};
    use ::parquet::file::reader::{FileReader, SerializedFileReader};
    use ::parquet::record::Field;

    fn saved(folder: &Path, samples: &[&str]) -> SerializedFileReader<fs::File> {
        let log = json_log(folder, "a.json", samples);
        let export = Export::of([&log], ExportOptions::default().columns(SCORES)).unwrap();
        let path = folder.join("out.parquet");
        export.save(ExportFormat::Parquet, &path).unwrap();
        SerializedFileReader::new(fs::File::open(path).unwrap()).unwrap()
    }

    fn types(reader: &SerializedFileReader<fs::File>) -> Vec<(String, Physical)> {
        let schema = reader.metadata().file_metadata().schema_descr();
        let columns = schema.columns().iter();
        columns.map(|column| (column.name().to_owned(), column.physical_type())).collect()
    }

    fn rows(reader: &SerializedFileReader<fs::File>) -> Vec<Vec<(String, Field)>> {
        let rows = reader.get_row_iter(None).unwrap();
        rows.map(|row| row.unwrap().into_columns()).collect()
    }

    fn column(reader: &SerializedFileReader<fs::File>, name: &str) -> Vec<Field> {
        let of_row = |row: Vec<(String, Field)>| row.into_iter().find(|(n, _)| n == name).unwrap().1;
        rows(reader).into_iter().map(of_row).collect()
    }

    #[test]
    fn values_of_every_kind_are_strings() {
        let folder = tempfile::tempdir().unwrap();
        let reader = saved(folder.path(), &SAMPLES);
        let types = types(&reader);
        let of = |name: &str| types.iter().find(|(n, _)| n == name).unwrap().1;
        for name in ["task", "model", "id", "scorer", "value", "error", "topic", "size.tags", "metadata.id"] {
            assert_eq!(of(name), Physical::BYTE_ARRAY, "{name}");
        }
        assert_eq!(of("epoch"), Physical::INT32);
        assert_eq!(of("size.rows"), Physical::DOUBLE, "3 and 2.5");
        assert_eq!(of("hard"), Physical::BOOLEAN);
        let text = |text: &str| Field::Str(text.to_owned());
        let values = column(&reader, "value");
        let wanted = [
            "C",
            "0.5",
            "[true,\"x\"]",
            "",
            "NaN",
            "{\"a\":1,\"b\":NaN,\"c\":null}",
            "true",
            "-3",
            "",
            "Infinity",
        ];
        let wanted: Vec<Field> =
            wanted.iter().enumerate().map(|(at, t)| if at == 3 { Field::Null } else { text(t) }).collect();
        assert_eq!(values, wanted, "an empty text is one, no score is null");
        assert_eq!(column(&reader, "epoch")[..7], [1, 1, 1, 1, 1, 1, 2].map(Field::Int));
        assert_eq!(
            column(&reader, "size.rows")[..5],
            [Field::Double(3.0), Field::Double(3.0), Field::Null, Field::Null, Field::Double(2.5),]
        );
        let compression = reader.metadata().row_group(0).column(0).compression();
        assert!(matches!(compression, Compression::ZSTD(_)), "{compression:?}");
    }

    #[test]
    fn numbers_alone_are_numbers() {
        let folder = tempfile::tempdir().unwrap();
        let samples = [
            r#"{"id": 1, "epoch": 1, "scores": {"s": {"value": 1}}, "metadata": {"n": 9007199254740993}}"#,
            r#"{"id": 2, "epoch": 1, "scores": {"s": {"value": NaN}}, "metadata": {"n": -1}}"#,
            r#"{"id": 3, "epoch": 1, "scores": {"s": {"value": 0.5}}}"#,
            r#"{"id": 4, "epoch": 1}"#,
        ];
        let reader = saved(folder.path(), &samples);
        let values = column(&reader, "value");
        assert!(matches!(values[1], Field::Double(nan) if nan.is_nan()), "{values:?}");
        assert_eq!(values[0], Field::Double(1.0));
        assert_eq!(values[2], Field::Double(0.5));
        assert_eq!(values[3], Field::Null);
        let n = column(&reader, "n");
        assert_eq!(n, [Field::Long(9007199254740993), Field::Long(-1), Field::Null, Field::Null]);
    }

    #[test]
    fn whole_numbers_are_numbers_unless_a_float_would_change_them() {
        let folder = tempfile::tempdir().unwrap();
        let sample = |value: &str| {
            let sample = format!(r#"{{"id": 1, "epoch": 1, "scores": {{"s": {{"value": {value}}}}}}}"#);
            column(&saved(folder.path(), &[&sample]), "value")
        };
        assert_eq!(sample("3"), [Field::Double(3.0)]);
        assert_eq!(sample("9007199254740993"), [Field::Str("9007199254740993".to_owned())]);
    }

    #[test]
    fn an_epoch_beyond_the_column_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let log = json_log(
            folder.path(),
            "a.json",
            &[r#"{"id": "q", "epoch": 3000000000, "scores": {"s": {"value": 1}}}"#],
        );
        let export = Export::of([&log], ExportOptions::default()).unwrap();
        let error = export.save(ExportFormat::Parquet, &folder.path().join("o.parquet")).unwrap_err();
        let text = ": sample \"q\": the epoch 3000000000 does not fit the 32 bits of a Parquet column";
        assert_eq!(error.to_string(), format!("{}{text}", log.display()));
        export.save(ExportFormat::Csv, &folder.path().join("o.csv")).unwrap();
    }

    #[test]
    fn an_empty_table_is_a_table() {
        let folder = tempfile::tempdir().unwrap();
        let reader = saved(folder.path(), &[]);
        assert_eq!(types(&reader).len(), 11);
        assert!(rows(&reader).is_empty());
    }
}

#[cfg(not(feature = "parquet"))]
#[test]
fn parquet_reports_that_it_is_not_there() {
    let folder = tempfile::tempdir().unwrap();
    let log = json_log(folder.path(), "a.json", &SAMPLES);
    let export = Export::of([&log], ExportOptions::default()).unwrap();
    let error = export.save(ExportFormat::Parquet, &folder.path().join("out.parquet")).unwrap_err();
    assert_eq!(error.to_string(), "Parquet is not in this build");
    assert!(!folder.path().join("out.parquet").exists());
}

/// What the metrics of a scorer are over these columns.
fn figures(columns: &errorbar_core::ScoreColumns) -> Vec<(String, f64)> {
    use errorbar_core::{Plan, metrics, metrics::*};
    let metrics = metrics![accuracy(), stderr().cluster("topic"), grouped(mean(), "topic"), std()];
    let plan = Plan { task_metrics: Some(metrics), ..Plan::new() };
    let results = plan.evaluate(columns).unwrap().results;
    assert!(results.scores.iter().all(|score| score.failures.is_empty()), "{:?}", results.scores);
    let mut figures = Vec::new();
    for (score, block) in results.scores.iter().zip(&errorbar_log::inspect::project(&results).scores) {
        let counts = &score.counts;
        let counted = [
            ("scored", counts.scored),
            ("unscored", counts.unscored),
            ("missing", counts.missing),
            ("missing epochs", counts.missing_epochs),
            ("epochs", counts.epochs),
        ];
        figures.extend(counted.map(|(name, count)| (name.to_owned(), count as f64)));
        figures.extend(block.metrics.iter().map(|(key, metric)| (key.clone(), metric.value)));
    }
    figures
}

#[test]
fn a_table_of_one_scorer_has_the_figures_of_the_log() {
    use errorbar_core::MetadataKeys;
    use errorbar_table::{TableOptions, read_table};
    let folder = tempfile::tempdir().unwrap();
    let samples: Vec<String> = (0..40)
        .flat_map(|id| (1..=3).map(move |epoch| (id, epoch)))
        .map(|(id, epoch)| {
            let grade = ["\"C\"", "\"I\"", "\"P\"", "NaN", "0.25", "true"][(id * 7 + epoch * 5) % 6];
            let judge = if id == 5 { String::new() } else { format!(r#", "judge": {{"value": {}}}"#, (id * epoch) as f64 / 7.0) };
            format!(
                r#"{{"id": "q{id}", "epoch": {epoch}, "scores": {{"match": {{"value": {grade}}}{judge}}}, "metadata": {{"topic": "t{}"}}}}"#,
                id % 4
            )
        })
        .collect();
    let samples: Vec<&str> = samples.iter().map(String::as_str).collect();
    let log = json_log(folder.path(), "a.json", &samples);
    for scorer in ["match", "judge"] {
        let options = ExportOptions::default().scorers([scorer]);
        let export = Export::of([&log], options).unwrap();
        let columns = EvalLog::open(&log).unwrap().score_columns(&MetadataKeys::All).unwrap();
        let mut wanted = errorbar_core::ScoreColumns::new(["value"]);
        // The columns of this scorer alone.
        for sample in EvalLog::open(&log).unwrap().samples().unwrap() {
            let sample = sample.unwrap();
            let topic = sample.metadata["topic"].as_str().unwrap().to_owned();
            let row = wanted.push(sample.id.to_string(), sample.epoch).metadata("topic", topic);
            if let Some(score) = sample.scores.get(scorer) {
                row.score("value", score.clone()).unwrap();
            }
        }
        assert_eq!(columns.len(), wanted.len());
        let wanted = figures(&wanted);
        assert!(wanted.iter().any(|(key, value)| key == "accuracy" && *value > 0.0), "{wanted:?}");
        for (name, format) in [("t.csv", ExportFormat::Csv), ("t.jsonl", ExportFormat::JsonLines)] {
            let path = folder.path().join(name);
            export.save(format, &path).unwrap();
            let table = read_table(&path, &TableOptions::new().score_columns(["value"])).unwrap();
            assert_eq!(figures(&table.columns), wanted, "{scorer} in {name}");
        }
    }
}
