//! Where datasets are read from: Parquet, folders, patterns, compressed files, files without a header.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use errorbar_eval::{
    Dataset, DatasetError, Fields, FileFormat, Input, RecordPosition, RecordSource, Sample, dataset,
    parquet_dataset,
};
use serde_json::{Value as Json, json};
use tempfile::TempDir;

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/parquet").join(name)
}

/// A folder with these files.
fn folder(files: &[(&str, &str)]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    folder
}

fn inputs(dataset: &Dataset) -> Vec<String> {
    let samples = dataset.samples().unwrap_or_else(|error| panic!("{error}"));
    let text = |sample: &Sample| match &sample.input {
        Input::Text(text) => text.clone(),
        other => panic!("{other:?}"),
    };
    samples.iter().map(|(_, sample)| text(sample)).collect()
}

fn read(source: impl Into<RecordSource>) -> Dataset {
    source.into().fields(Fields::new())
}

/// The values of a column, as they are in records.
fn column(file: &str, name: &'static str) -> Vec<Json> {
    let dataset = parquet_dataset(fixture(file), move |row| {
        Sample::new("x").metadata("value", row.get(name).unwrap_or_else(|| panic!("{name}")).clone())
    });
    dataset.samples().unwrap().iter().map(|(_, sample)| sample.metadata["value"].clone()).collect()
}

#[test]
fn nested_columns_are_lists_and_objects() {
    let nested = |name| column("nested.parquet", name);
    assert_eq!(nested("question"), [json!("Which is red?"), json!("Which is a metal?"), Json::Null]);
    assert_eq!(
        nested("choices"),
        [
            json!({"text": ["blood", "grass"], "label": ["A", "B"]}),
            json!({"text": ["iron"], "label": ["1"]}),
            json!({"text": [], "label": []}),
        ]
    );
    assert_eq!(
        nested("answers"),
        [
            json!({"text": ["blood"], "answer_start": [3]}),
            json!({"text": ["iron", "Fe"], "answer_start": [0, 7]}),
            Json::Null,
        ]
    );
    let turns = json!([{"role": "user", "content": "Hi"}, {"role": "assistant", "content": null}]);
    assert_eq!(nested("turns"), [turns, json!([]), Json::Null]);
    assert_eq!(nested("lists"), [json!([[1, 2], []]), Json::Null, json!([[3], null])]);
    assert_eq!(nested("scores"), [json!({"a": 1.5, "b": 2.0}), json!({}), Json::Null]);
}

#[test]
fn types_of_columns() {
    let types = |name| column("types.parquet", name);
    assert_eq!(types("bool"), [json!(true), Json::Null]);
    assert_eq!(types("int8"), [json!(-1), json!(2)]);
    assert_eq!(types("uint64"), [json!(u64::MAX), json!(0)]);
    assert_eq!(types("float"), [json!(0.5), Json::Null]);
    assert_eq!(types("half"), [json!(1.5), json!(-2.0)]);
    assert_eq!(types("date"), [json!("2024-02-29"), Json::Null]);
    assert_eq!(types("decimal"), [json!("1.50"), Json::Null]);
    assert_eq!(types("category"), [json!("x"), json!("y")]);
    assert_eq!(types("large"), [json!("long"), json!("longer")]);
    assert_eq!(types("bytes"), [json!("text"), Json::Null], "an image that nobody asked for");
}

#[test]
fn a_column_of_bytes_that_is_named_must_be_text() {
    let dataset = RecordSource::new(fixture("types.parquet")).fields(Fields::new().input("bytes"));
    let Err(DatasetError::Read { problem, .. }) = dataset.samples() else { panic!("{dataset:?}") };
    assert_eq!(problem, "row 2: the string in column `bytes` is not valid UTF-8");
}

#[test]
fn rows_and_columns_that_are_missing_are_named() {
    let dataset = RecordSource::new(fixture("groups.parquet")).fields(Fields::new().input("inputs"));
    match dataset.samples() {
        Err(DatasetError::MissingField { place, field, known, nearest }) => {
            assert_eq!(place.line, Some(RecordPosition::Row(1)));
            assert_eq!((field.as_str(), nearest.as_deref()), ("inputs", Some("input")));
            assert_eq!(known, ["input", "target", "unused"], "those that are not read too");
        }
        other => panic!("{other:?}"),
    }
    assert_eq!(read(fixture("groups.parquet")).fields(), ["input", "target", "unused"]);
}

/// The file with bytes of it replaced by 0xff, from `at` on, if that is wanted.
fn damaged(at: usize, count: usize) -> TempDir {
    let folder = folder(&[]);
    let mut bytes = fs::read(fixture("groups.parquet")).unwrap();
    bytes[at..at + count].fill(0xff);
    fs::write(folder.path().join("x.parquet"), bytes).unwrap();
    folder
}

#[test]
fn a_limit_reads_only_the_row_groups_that_it_needs() {
    let all = inputs(&read(fixture("groups.parquet")));
    assert_eq!(all.len(), 10);
    // The second row group and those behind it are damaged: nobody sees it before they are read.
    let bytes = fs::read(fixture("groups.parquet")).unwrap();
    let second = bytes.windows(10).position(|window| window == b"question 4").unwrap();
    let folder = damaged(second - 40, 60);
    let path = folder.path().join("x.parquet");
    assert_eq!(inputs(&read(&path).limit(3)), all[..3]);
    assert_eq!(inputs(&read(&path).shuffle_choices(1).limit(2)), all[..2]);
    assert!(matches!(read(&path).limit(4).samples(), Err(DatasetError::Read { .. })));
    assert!(matches!(read(&path).shuffle(1).limit(3).samples(), Err(DatasetError::Read { .. })));
    assert!(matches!(read(&path).samples(), Err(DatasetError::Read { .. })));
}

#[test]
fn damaged_parquet_is_refused() {
    let bytes = fs::read(fixture("groups.parquet")).unwrap();
    let folder = folder(&[("text.parquet", "input,target\na,b\n")]);
    fs::write(folder.path().join("cut.parquet"), &bytes[..bytes.len() / 2]).unwrap();
    fs::write(folder.path().join("empty.parquet"), b"").unwrap();
    for name in ["text.parquet", "cut.parquet", "empty.parquet", "missing.parquet"] {
        let dataset = read(folder.path().join(name));
        assert!(matches!(dataset.samples(), Err(DatasetError::Read { .. })), "{name}");
    }
    // Wherever a byte is wrong, there are samples or an error, and never a panic.
    for at in (0..bytes.len() - 1).step_by(7) {
        let folder = damaged(at, 1);
        let _ = dataset(folder.path().join("x.parquet"), |row| Sample::new(&row["input"])).samples();
    }
}

#[test]
fn a_limit_stops_reading_text_too() {
    let good = "input,target\na,1\nb,2\n";
    let json = "{\"input\": \"a\"}\n{\"input\": \"b\"}\n";
    let folder = folder(&[
        ("x.csv", &format!("{good}{}", "too,many,fields\n")),
        ("x.jsonl", &format!("{json}no JSON\n")),
        ("x.json", "[{\"input\": \"a\"}, {\"input\": \"b\"}, no JSON"),
    ]);
    for name in ["x.csv", "x.jsonl", "x.json"] {
        let dataset = read(folder.path().join(name));
        assert_eq!(inputs(&dataset.clone().limit(2)), ["a", "b"], "{name}");
        assert_eq!(inputs(&dataset.clone().limit(2).limit(1)), ["a"], "{name}");
        assert!(dataset.limit(3).samples().is_err(), "{name}");
    }
}

#[test]
fn records_that_are_skipped_do_not_count_for_a_limit() {
    let folder = folder(&[("x.csv", "input,lang\na,de\nb,en\nc,de\nd,en\ne,en\n")]);
    let english = |row: &errorbar_eval::Record| (&row["lang"] == "en").then(|| Sample::new(&row["input"]));
    let dataset = dataset(folder.path().join("x.csv"), english).limit(2);
    assert_eq!(inputs(&dataset), ["b", "d"]);
}

fn gzip(text: &str) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(text.as_bytes()).unwrap();
    encoder.finish().unwrap()
}

#[test]
fn compressed_files() {
    let folder = folder(&[("plain.csv", "input\nplain\n")]);
    let write = |name: &str, bytes: Vec<u8>| fs::write(folder.path().join(name), bytes).unwrap();
    write("a.csv.gz", gzip("input,target\na,1\n"));
    write("a.jsonl.zst", zstd::encode_all(&b"{\"input\": \"b\"}\n"[..], 3).unwrap());
    write("a.json.gz", gzip("[{\"input\": \"c\"}]"));
    write("named.csv", gzip("input\nd\n"));
    write("cut.csv.gz", gzip(&"input\n".repeat(100))[..20].to_vec());
    for (name, input) in [("a.csv.gz", "a"), ("a.jsonl.zst", "b"), ("a.json.gz", "c"), ("named.csv", "d")] {
        let dataset = read(folder.path().join(name));
        assert_eq!(inputs(&dataset), [input], "{name}");
        assert_eq!(dataset.name(), Some(name.split('.').next().unwrap()));
    }
    let dataset = read(folder.path().join("cut.csv.gz"));
    let Err(DatasetError::Read { problem, .. }) = dataset.samples() else { panic!("{dataset:?}") };
    assert!(problem.starts_with("it cannot be decompressed: "), "{problem}");
}

#[test]
fn tables_without_a_header() {
    let folder = folder(&[("x.tsv", "Why?\tBecause.\nHow?\tSo.\n"), ("x.csv", "q,a\nWhy?,Because.\n")]);
    let tsv = || RecordSource::new(folder.path().join("x.tsv"));
    let csv = || RecordSource::new(folder.path().join("x.csv"));
    let named = tsv().columns(["input", "target"]).fields(Fields::new());
    assert_eq!(inputs(&named), ["Why?", "How?"]);
    assert_eq!(named.samples().unwrap()[1].1.target.text(), "So.");
    let numbered = tsv().header(false).fields(Fields::new().input("column_1").target("column_2"));
    assert_eq!(inputs(&numbered), ["Why?", "How?"]);
    // Other names for those of a header.
    assert_eq!(inputs(&csv().header(true).columns(["input", "target"]).fields(Fields::new())), ["Why?"]);

    let problem = |dataset: Dataset| match dataset.samples() {
        Err(DatasetError::Record { place, problem }) => (place.line, problem),
        other => panic!("{other:?}"),
    };
    let line = Some(RecordPosition::Line(1));
    assert_eq!(
        problem(tsv().columns(["input"]).fields(Fields::new())),
        (line, "2 fields where there are names for 1; quote tabs within a field".to_owned())
    );
    assert_eq!(
        problem(csv().header(true).columns(["input"]).fields(Fields::new())),
        (line, "the header has 2 columns, and 1 are named".to_owned())
    );
    assert_eq!(
        problem(tsv().columns(["input", "input"]).fields(Fields::new())),
        (line, "two columns are named `input`".to_owned())
    );
}

#[test]
fn folders_and_patterns_in_the_order_of_names() {
    let csv = |input: &str| format!("input,target\n{input},x\n");
    let folder = folder(&[
        ("data/b.csv", &csv("b")),
        ("data/a.csv", &csv("a")),
        ("data/.hidden.csv", "x"),
        ("data/_SUCCESS", ""),
        ("data/README.md", "About the data."),
        ("parts/test-1.csv", &csv("1")),
        ("parts/test-0.csv", &csv("0")),
        ("parts/train-0.csv", &csv("t")),
        ("mixed/a.csv", &csv("a")),
        ("mixed/a.jsonl", "{\"input\": \"a\"}\n"),
        ("no/data.txt", "x"),
        ("odd[1].csv", &csv("odd")),
    ]);
    let source = |path: &str| RecordSource::new(path).folder(folder.path());
    let of_folder = read(source("data"));
    assert_eq!(inputs(&of_folder), ["a", "b"]);
    assert_eq!(of_folder.name(), Some("data"));
    assert_eq!(of_folder.location(), Some(folder.path().join("data").to_str().unwrap()));
    let ids: Vec<String> = of_folder.samples().unwrap().iter().map(|(id, _)| id.to_string()).collect();
    assert_eq!(ids, ["1", "2"], "numbered over all files");
    let matching = read(source("parts/test-*.csv"));
    assert_eq!(inputs(&matching), ["0", "1"]);
    assert_eq!(matching.name(), Some("test"));
    assert_eq!(inputs(&read(source("*/test-?.csv").format(FileFormat::Csv))), ["0", "1"]);
    assert_eq!(inputs(&read(source("parts").split("train"))), ["t"]);
    assert_eq!(inputs(&read(source("mixed").format(FileFormat::Json))), ["a"]);
    assert_eq!(inputs(&read(source("odd[1].csv"))), ["odd"], "a file of that name goes first");
    let several = RecordSource::several(["parts/train-0.csv", "data"]).folder(folder.path());
    assert_eq!(inputs(&read(several)), ["t", "a", "b"]);

    let error = |path: &str| read(source(path)).samples().unwrap_err();
    let is_about = |path: &str, message: &str| error(path).to_string().contains(message);
    assert!(is_about("mixed", "files of several formats: CSV, JSON;"));
    assert!(is_about("no", "it has data.txt"));
    assert!(matches!(error("parts/tset-?.csv"), DatasetError::Other { hint: Some(hint), .. }
        if hint == "did you mean `test-0.csv`?"));
    assert!(matches!(error("no/data.txt"), DatasetError::UnknownFormat { .. }));
}

#[test]
fn numbered_files_that_are_missing_are_noticed() {
    let line = r#"{"input": "a"}"#;
    let some = folder(&[("test-00000-of-00003.jsonl", line), ("test-00002-of-00003.jsonl", line)]);
    for path in [some.path(), &some.path().join("*.jsonl")] {
        let problem = read(path).samples().unwrap_err().to_string();
        assert!(problem.contains("only 2 of the 3 files of the split are there"), "{problem}");
    }
    // One of them, and a part that a pattern names, is what the user wants.
    assert_eq!(inputs(&read(some.path().join("test-00002-of-00003.jsonl"))), ["a"]);
    fs::write(some.path().join("test-00001-of-00003.jsonl"), line).unwrap();
    assert_eq!(inputs(&read(some.path())).len(), 3);
    assert_eq!(inputs(&read(some.path().join("test-0000[01]*"))).len(), 2);
}

#[test]
fn a_folder_with_several_splits_asks_for_one() {
    let both = folder(&[("train.jsonl", r#"{"input": "a"}"#), ("test.jsonl", r#"{"input": "b"}"#)]);
    let problem = read(both.path()).samples().unwrap_err().to_string();
    assert!(problem.ends_with("it has several splits; name one: split = \"test\" or \"train\""), "{problem}");
    assert_eq!(inputs(&read(RecordSource::new(both.path()).split("test"))), ["b"]);
    assert_eq!(inputs(&read(both.path().join("t*.jsonl"))), ["b", "a"]);
}

#[test]
fn files_of_one_dataset_have_the_same_columns() {
    let shards = read(fixture("test-*.parquet"));
    assert_eq!(inputs(&shards), ["shard 0", "shard 1"]);
    let mixed =
        read(RecordSource::several([fixture("test-00000-of-00002.parquet"), fixture("other.parquet")]));
    let problem = mixed.samples().unwrap_err().to_string();
    let (lacks, has) = (fixture("other.parquet"), fixture("test-00000-of-00002.parquet"));
    let message = format!("{} has no column `input`, which {} has", lacks.display(), has.display());
    assert!(problem.starts_with(&message), "{problem}");
}
