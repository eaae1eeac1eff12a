//! Samples of logs as tables, read back with other means.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use errorbar_core::{Metadata, Score};
use errorbar_log::eval::*;
use errorbar_log::export::*;
use errorbar_log::{TableErrorKind, TableLocation, TableOptions, read_table, read_tables};
use serde_json::{Value as Json, json};

/// A `.json` log with these samples; texts, so that it can hold what no writer of ours would write.
fn json_log(folder: &Path, name: &str, samples: &[&str]) -> PathBuf {
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
const SAMPLES: [&str; 6] = [
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

fn exported(paths: &[PathBuf], options: ExportOptions, format: ExportFormat) -> (String, ExportCounts) {
    written(&Export::of(paths, options).unwrap(), format)
}

fn csv_rows(text: &str) -> Vec<Vec<String>> {
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
    ExportOptions::default().columns(SCORES.into_iter().filter(|name| !is_text(name)))
}

#[test]
fn a_row_per_sample_epoch_and_scorer() {
    let folder = tempfile::tempdir().unwrap();
    let log = json_log(folder.path(), "a.json", &SAMPLES);
    let options = ExportOptions::default().columns(SCORES);
    let (text, written) = exported(&[log], options, ExportFormat::Csv);
    let rows = csv_rows(&text);
    let header = [
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
        "topic",
        "size.rows",
        "size.tags",
        "metadata.id",
        "hard",
    ];
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
    let ExportError::UnknownScorer { nearest, .. } = error else { panic!("{error}") };
    assert_eq!(nearest.as_deref(), Some("match"));
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
    let record = SampleRecord::new(id, 1).input(&input).target(&target).messages(&messages);
    use_it(&record.output(&output).scores(scores).metadata(&metadata))
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
    // More samples with the same columns are welcome; an unknown column is not.
    let scores = [("match".to_owned(), Score::new("I"))];
    sample(&SampleId::from("q3"), &scores, "", |record| writer.append_sample(record)).unwrap();
    assert_eq!(written(&export, ExportFormat::Csv).1.rows, 3);
    let metadata = Metadata::from_iter([("new".to_owned(), json!(1))]);
    sample(&SampleId::from("q4"), &scores, "", |record| writer.append_sample(&record.metadata(&metadata)))
        .unwrap();
    let error = export.write(ExportFormat::Csv, &mut Vec::new()).unwrap_err();
    assert!(matches!(error, ExportError::Changed { .. }), "{error}");
    // Nor is an unknown scorer, whose scores would be lost.
    let export = Export::of([&path], without_texts()).unwrap();
    let scores = [("judge".to_owned(), Score::new(1))];
    sample(&SampleId::from("q5"), &scores, "", |record| writer.append_sample(record)).unwrap();
    let error = export.write(ExportFormat::Csv, &mut Vec::new()).unwrap_err();
    assert!(matches!(error, ExportError::Changed { .. }), "{error}");
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
    let ExportError::Log(error) = error else { panic!("{error}") };
    assert_eq!((error.path(), error.sample()), (Some(log.as_path()), Some("1")));
    assert!(matches!(error.kind(), LogErrorKind::Field { .. }), "{error}");
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
    assert_eq!(error.hint(), "make the folder first");
    let error = export.save(ExportFormat::Csv, folder.path()).unwrap_err();
    assert_eq!(error.hint(), "give the name of a file in it");
    let before = fs::read(&log).unwrap();
    let error = export.save(ExportFormat::Csv, &folder.path().join("./a.json")).unwrap_err();
    assert!(matches!(error, ExportError::OutputIsInput { .. }), "{error}");
    assert_eq!(fs::read(&log).unwrap(), before);
}

#[test]
fn what_is_no_log_is_reported() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.eval");
    fs::write(&path, "not a log").unwrap();
    let error = Export::of([&path], ExportOptions::default()).unwrap_err();
    let ExportError::Log(error) = error else { panic!("{error}") };
    assert_eq!(error.path(), Some(path.as_path()));
    assert!(matches!(error.kind(), LogErrorKind::NotALog), "{error}");
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
        assert!(
            matches!(&error, ExportError::Epoch { path, sample, epoch: 3_000_000_000 } if *path == log && sample == "q"),
            "{error}"
        );
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
    use errorbar_log::{TableOptions, read_table};
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

/// A sample with everything that is not a score.
const DETAILED: &str = r#"{"id": "d", "epoch": 1, "input": "6 × 7?", "target": ["42", "forty-two"],
    "output": {"model": "m", "choices": [{"message": {"role": "assistant", "content": "It is 42."}, "stop_reason": "stop"}],
        "completion": "It is 42."},
    "scores": {"match": {"value": "P", "answer": "42"}, "judge": {"value": "excellent"}},
    "model_usage": {"m": {"input_tokens": 5, "output_tokens": 3, "total_tokens": 8}, "g": {"input_tokens": 1, "output_tokens": 1, "total_tokens": 2}},
    "started_at": "2026-11-15T02:39:22+00:00", "completed_at": "2026-11-15T02:39:24+00:00",
    "total_time": 2.0, "working_time": 1.5, "limit": {"type": "time", "limit": 2}, "metadata": {"input": "own"}}"#;

#[test]
fn a_sample_is_exported_with_all_that_is_known_of_it() {
    let folder = tempfile::tempdir().unwrap();
    let bare = r#"{"id": "e", "epoch": 1, "input": [{"role": "user", "content": "?"}], "target": "x", "scores": {}}"#;
    let old = r#"{"id": "f", "epoch": 1, "scores": {}, "output": {"choices": [{"message": {"role": "assistant", "content": "old"}}]}}"#;
    let log = json_log(folder.path(), "a.json", &[DETAILED, bare, old]);
    let (text, _) = exported(&[log], ExportOptions::default(), ExportFormat::JsonLines);
    let rows: Vec<Json> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(
        rows[0],
        json!({
            "task": "quiz", "model": "mock/x", "id": "d", "epoch": 1, "scorer": "match", "value": "P", "answer": "42",
            "explanation": null, "reason": null, "error": null, "limit": "time", "number": 0.5, "input": "6 × 7?",
            "target": ["42", "forty-two"], "output": "It is 42.", "started_at": "2026-11-15T02:39:22+00:00",
            "completed_at": "2026-11-15T02:39:24+00:00", "total_time": 2.0, "working_time": 1.5, "input_tokens": 6,
            "output_tokens": 4, "total_tokens": 10, "metadata.input": "own",
        })
    );
    // What metrics count as 0, because it has no meaning as a number, is no 0 here.
    assert!(rows[1].get("number").is_none() && rows[1]["value"] == "excellent");
    assert_eq!(rows[2]["input"], json!([{"content": "?", "role": "user"}]));
    assert_eq!((&rows[2]["output"], &rows[2]["total_tokens"]), (&Json::Null, &Json::Null));
    assert_eq!(rows[3]["output"], "old");
}

#[test]
fn numbers_are_those_of_the_metrics() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.json");
    let metrics = r#"[{"name": "accuracy", "options": {"to_float": {"type": "value_to_float", "name": "value_to_float",
        "params": {"correct": "right", "incorrect": "wrong"}}}}]"#;
    fs::write(
        &path,
        format!(
            r#"{{"version": 2, "status": "success", "eval": {{"task": "t", "model": "m", "dataset": {{}}, "config": {{}},
            "scorers": [{{"name": "match", "metrics": {metrics}}}]}},
            "samples": [{{"id": 1, "epoch": 1, "scores": {{"match": {{"value": "right"}}}}}},
                        {{"id": 2, "epoch": 1, "scores": {{"match": {{"value": NaN}}}}}}]}}"#
        ),
    )
    .unwrap();
    let header = EvalLog::open(&path).unwrap().header().unwrap();
    let (plan, _) = plan_from_header(&header, &errorbar_core::Registry::built_in()).unwrap();
    let is_built = plan.scorers[0].metrics.iter().next().is_some();
    let options = ExportOptions::default().columns(["number"]);
    let (text, _) = exported(&[path], options, ExportFormat::Csv);
    assert_eq!(text, if is_built { "number\n1.0\nNaN\n" } else { "number\n\"\"\nNaN\n" });
}

#[test]
fn a_wide_table_has_columns_for_each_scorer() {
    let folder = tempfile::tempdir().unwrap();
    let log = json_log(folder.path(), "a.json", &SAMPLES);
    let options = ExportOptions::default().wide(true).columns([
        "id",
        "epoch",
        "value",
        "match.answer",
        "number",
        "topic",
    ]);
    let (text, written) = exported(std::slice::from_ref(&log), options, ExportFormat::Csv);
    assert_eq!(written.rows, 6);
    let rows = csv_rows(&text);
    assert_eq!(
        rows[0],
        ["id", "epoch", "match", "judge", "match.answer", "match.number", "judge.number", "topic"]
    );
    assert_eq!(rows[1], ["1", "1", "C", "0.5", "a, \"b\"\nc", "1.0", "0.5", "sums"]);
    assert_eq!(rows[3], ["4", "1", "", "", "", "", "", ""]);
    // Everything, and of one scorer alone.
    let options = ExportOptions::default().wide(true).scorers(["judge"]).texts(false);
    let export = Export::of([&log], options).unwrap();
    let names: Vec<&str> = export.columns().collect();
    assert_eq!(
        names[..8],
        ["task", "model", "id", "epoch", "judge", "judge.reason", "judge.number", "error"]
    );
}

#[test]
fn columns_of_scorers_and_metadata_do_not_share_a_name() {
    let folder = tempfile::tempdir().unwrap();
    let sample = r#"{"id": 1, "epoch": 1, "scores": {"id": {"value": 1}, "s": {"value": 0}}, "metadata": {"s": "x", "s.answer": "y"}}"#;
    let log = json_log(folder.path(), "a.json", &[sample]);
    let export = Export::of([&log], ExportOptions::default().wide(true)).unwrap();
    let mut names: Vec<&str> = export.columns().collect();
    for name in ["id", "id_2", "s", "metadata.s", "s.answer", "metadata.s.answer"] {
        assert!(names.contains(&name), "{name}: {names:?}");
    }
    let count = names.len();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), count);
}

#[test]
fn a_column_that_does_not_exist_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let log = json_log(folder.path(), "a.json", &SAMPLES);
    let error = Export::of([&log], ExportOptions::default().columns(["id", "topc"])).unwrap_err();
    let ExportError::UnknownColumn { column, nearest, .. } = &error else { panic!("{error}") };
    assert_eq!((column.as_str(), nearest.as_deref()), ("topc", Some("topic")));
    // All of the metadata, also where there is none; nothing twice.
    let none = json_log(folder.path(), "b.json", &[r#"{"id": 1, "epoch": 1, "scores": {}}"#]);
    let export = Export::of([&none], ExportOptions::default().columns(["id", "metadata", "id"])).unwrap();
    assert_eq!(export.columns().collect::<Vec<_>>(), ["id"]);
}

#[test]
fn tables_of_several_logs_are_read_as_several() {
    let folder = tempfile::tempdir().unwrap();
    let logs =
        [json_log(folder.path(), "a.json", &SAMPLES), json_log(folder.path(), "b.json", &SAMPLES[3..])];
    let formats = [
        ("t.csv", ExportFormat::Csv),
        ("t.jsonl", ExportFormat::JsonLines),
        #[cfg(feature = "parquet")]
        ("t.parquet", ExportFormat::Parquet),
    ];
    for (name, format) in formats {
        let path = folder.path().join(name);
        let options = TableOptions::new().metadata(errorbar_core::MetadataKeys::NONE);
        for wide in [false, true] {
            let export = Export::of(&logs, ExportOptions::default().wide(wide)).unwrap();
            export.save(format, &path).unwrap();
            let options = if wide { options.clone().score_columns(["match"]) } else { options.clone() };
            let tables = read_tables(&path, &options).unwrap();
            let read: Vec<(Option<&str>, Option<&str>, usize)> = tables
                .iter()
                .map(|table| {
                    let log = table.log.as_deref().and_then(|log| log.rsplit('/').next());
                    (log, table.model.as_deref(), table.columns.len())
                })
                .collect();
            let expected = [(Some("a.json"), Some("mock/x"), 6), (Some("b.json"), Some("mock/x"), 3)];
            assert_eq!(read, expected, "{name}, wide: {wide}");
            assert!(tables[0].columns.score(0, "match").is_some(), "{name}, wide: {wide}");
        }
        // One log is one table, which knows its task.
        Export::of(&logs[..1], ExportOptions::default()).unwrap().save(format, &path).unwrap();
        let tables = read_tables(&path, &options).unwrap();
        assert_eq!(tables.len(), 1);
        assert_eq!((tables[0].log.as_deref(), tables[0].task.as_deref()), (None, Some("quiz")));
    }
}

#[test]
fn a_score_that_comes_twice_is_found_in_its_log() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.csv");
    let rows = ["a,1,s,C", "b,1,s,C", "a,2,s,C", "b,2,s,C", "b,1,s,I"];
    fs::write(&path, format!("log,id,scorer,value\n{}\n", rows.join("\n"))).unwrap();
    let error = read_tables(&path, &TableOptions::new()).unwrap_err();
    let TableErrorKind::DuplicateScore { first: TableLocation::Line(first), .. } = error.kind() else {
        panic!("{error}")
    };
    assert_eq!(*first, 3, "the second row, below the header");
    // Read as one table, the logs are metadata, and a sample comes twice.
    assert!(read_table(&path, &TableOptions::new()).is_err());
}
