//! The same rows are the same columns, however they are written: CSV, JSON lines or Parquet, a row per sample or per
//! scorer, on any number of threads.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;

use errorbar_core::{MetadataKeys, ScoreColumns, Value};
use errorbar_table::{CellUse, TableOptions, read_table, read_tables};
use proptest::prelude::*;

/// The scores of a sample in an epoch, each of which may be missing.
#[derive(Clone, Debug)]
struct Row {
    id: String,
    epoch: u32,
    int: Option<i64>,
    float: Option<f64>,
    grade: Option<&'static str>,
    topic: &'static str,
}

impl Row {
    /// The scores as CSV has them, with their scorers.
    fn cells(&self) -> [(&'static str, Option<String>); 3] {
        [
            ("int", self.int.map(|int| int.to_string())),
            ("float", self.float.map(|float| format!("{float:?}"))),
            ("grade", self.grade.map(str::to_owned)),
        ]
    }
}

fn rows() -> impl Strategy<Value = Vec<Row>> {
    let cell = (
        prop::option::weighted(0.9, -300i64..300),
        prop::option::weighted(0.9, (0..64u8).prop_map(|n| f64::from(n) / 8.0)),
        prop::option::weighted(0.9, prop::sample::select(vec!["C", "I", "partly, so \"to say\""])),
        prop::sample::select(vec!["a", "b", "a, \"quoted\" topic"]),
    );
    let place = (0..12u8, 1..4u32);
    prop::collection::vec((place, cell), 1..40).prop_map(|found| {
        let mut rows = BTreeMap::new();
        let mut order = Vec::new();
        for ((sample, epoch), (int, float, grade, topic)) in found {
            let row = Row { id: format!("sample {sample}"), epoch, int, float, grade, topic };
            if rows.insert((sample, epoch), row).is_none() {
                order.push((sample, epoch));
            }
        }
        order.iter().map(|place| rows[place].clone()).collect()
    })
}

fn quoted(cell: &str) -> String {
    format!("\"{}\"", cell.replace('"', "\"\""))
}

fn wide_csv(rows: &[Row]) -> String {
    let mut text = "id,epoch,topic,int,float,grade\n".to_owned();
    for row in rows {
        let scores = row.cells().map(|(_, cell)| quoted(&cell.unwrap_or_default())).join(",");
        writeln!(text, "{},{},{},{scores}", row.id, row.epoch, quoted(row.topic)).unwrap();
    }
    text
}

fn long_csv(rows: &[Row]) -> String {
    let mut text = "scorer,id,epoch,value,topic\n".to_owned();
    for row in rows {
        for (scorer, cell) in row.cells() {
            let value = quoted(&cell.unwrap_or_default());
            writeln!(text, "{scorer},{},{},{value},{}", row.id, row.epoch, quoted(row.topic)).unwrap();
        }
    }
    text
}

fn json(row: &Row, scores: &[(&str, String)]) -> String {
    let mut text = format!("{{\"id\": {:?}, \"epoch\": {}, \"topic\": {:?}", row.id, row.epoch, row.topic);
    scores.iter().for_each(|(key, value)| write!(text, ", \"{key}\": {value}").unwrap());
    text + "}\n"
}

/// The scores as JSON has them.
fn json_cells(row: &Row) -> Vec<(&'static str, String)> {
    let cells = row.cells().into_iter().filter_map(|(scorer, cell)| Some((scorer, cell?)));
    cells.map(|(scorer, cell)| (scorer, if scorer == "grade" { format!("{cell:?}") } else { cell })).collect()
}

fn wide_json(rows: &[Row]) -> String {
    // All keys at once, so that the scorers are in the order of the others.
    rows.iter().map(|row| json(row, &json_cells(row))).collect()
}

fn long_json(rows: &[Row]) -> String {
    let mut text = String::new();
    for row in rows {
        let cells = json_cells(row);
        for (scorer, _) in row.cells() {
            let value = cells.iter().find(|(of, _)| *of == scorer).map(|(_, cell)| ("value", cell.clone()));
            let scores: Vec<_> = std::iter::once(("scorer", format!("{scorer:?}"))).chain(value).collect();
            text += &json(row, &scores);
        }
    }
    text
}

#[cfg(feature = "parquet")]
fn parquet(rows: &[Row], group: usize, is_long: bool) -> Vec<u8> {
    use crate::parquet_files::{Cells, write};
    use parquet::file::properties::WriterProperties;
    let text = |text: Option<String>| text.map(String::into_bytes);
    let scorers = if is_long { 3 } else { 1 };
    let each = || rows.iter().flat_map(|row| std::iter::repeat_n(row, scorers));
    let mut columns = vec![
        Cells::Texts(each().map(|row| text(Some(row.id.clone()))).collect()),
        Cells::Ints(each().map(|row| Some(row.epoch as i32)).collect()),
        Cells::Texts(each().map(|row| text(Some(row.topic.to_owned()))).collect()),
    ];
    let fields = "required binary id (UTF8); required int32 epoch; required binary topic (UTF8);".to_owned();
    let fields = if is_long {
        let cells: Vec<_> = rows.iter().flat_map(Row::cells).collect();
        columns
            .push(Cells::Texts(cells.iter().map(|(scorer, _)| text(Some((*scorer).to_owned()))).collect()));
        columns.push(Cells::Texts(cells.into_iter().map(|(_, cell)| text(cell)).collect()));
        fields + "required binary scorer (UTF8); optional binary value (UTF8);"
    } else {
        columns.push(Cells::Longs(rows.iter().map(|row| row.int).collect()));
        columns.push(Cells::Doubles(rows.iter().map(|row| row.float).collect()));
        columns.push(Cells::Texts(rows.iter().map(|row| text(row.grade.map(str::to_owned))).collect()));
        fields + "optional int64 int; optional double float; optional binary grade (UTF8);"
    };
    write(&fields, &columns, group, WriterProperties::builder().build())
}

/// All that columns hold, row by row.
fn content(columns: &ScoreColumns) -> Vec<(String, u32, Vec<Option<Value>>, errorbar_core::Metadata)> {
    let score = |row: usize, scorer: &str| columns.score(row, scorer).map(|score| score.value);
    let row = |row: usize| {
        let scores = ["int", "float", "grade"].map(|scorer| score(row, scorer)).to_vec();
        (columns.id(row).to_owned(), columns.epoch(row), scores, columns.metadata_row(row))
    };
    (0..columns.len()).map(row).collect()
}

fn read_on(threads: usize, folder: &Path, name: &str, bytes: &[u8], options: &TableOptions) -> ScoreColumns {
    let path = folder.join(name);
    std::fs::write(&path, bytes).unwrap();
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
    // Cells as they are written.
    let options = options.clone().cells(CellUse::Labels);
    pool.install(|| read_table(&path, &options)).unwrap().columns
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(40) })]

    #[test]
    fn the_same_rows_are_the_same_columns(rows in rows(), threads in 1..4usize, group in 1..50usize) {
        // A column that no line has is refused.
        prop_assume!(rows.iter().any(|row| row.cells().iter().any(|(_, cell)| cell.is_some())));
        let folder = tempfile::tempdir().unwrap();
        let long = TableOptions::new().metadata(MetadataKeys::one("topic"));
        let wide = long.clone().score_columns(["int", "float", "grade"]);
        let read = |name: &str, bytes: &[u8], options| content(&read_on(threads, folder.path(), name, bytes, options));
        let wanted = read("wide.csv", wide_csv(&rows).as_bytes(), &wide);
        // A row for each epoch that some sample has, with or without scores.
        let samples = rows.iter().map(|row| &row.id).collect::<std::collections::HashSet<_>>().len();
        let epochs = rows.iter().map(|row| row.epoch).collect::<std::collections::HashSet<_>>().len();
        prop_assert_eq!(wanted.len(), samples * epochs);
        prop_assert_eq!(&wanted[0].0, &rows[0].id);
        prop_assert_eq!(&wanted[0].2[0], &rows[0].int.map(Value::Int));
        prop_assert_eq!(&read("long.csv", long_csv(&rows).as_bytes(), &long), &wanted);
        prop_assert_eq!(&read("long.jsonl", long_json(&rows).as_bytes(), &long), &wanted);
        let has_all = |row: &Row| row.int.is_some() && row.float.is_some() && row.grade.is_some();
        if rows.iter().any(has_all) {
            prop_assert_eq!(&read("wide.jsonl", wide_json(&rows).as_bytes(), &wide), &wanted);
        }
        #[cfg(feature = "parquet")]
        {
            prop_assert_eq!(&read("wide.parquet", &parquet(&rows, group, false), &wide), &wanted);
            prop_assert_eq!(&read("long.parquet", &parquet(&rows, group * 3, true), &long), &wanted);
        }
        let _ = group;
    }
}

/// A megabyte of rows of one scorer each, of three models.
fn large(scorer_major: bool) -> (String, String) {
    let (mut csv, mut json) = ("id,model,scorer,epoch,value,topic,answer,error\n".to_owned(), String::new());
    let (outer, inner) = if scorer_major { (2, 4000) } else { (4000, 2) };
    for (a, b) in (0..outer).flat_map(|a| (0..inner).map(move |b| (a, b))) {
        let (n, scorer) = if scorer_major { (b, a) } else { (a, b) };
        for model in ["wren", "owl", "crow"] {
            let value = ["1", "0.25", "0"][(n + scorer) % 3];
            let (epoch, topic) = (1 + n % 2, format!("topic {}", n % 7));
            let (answer, error) = (format!("answer {n}"), if n % 50 == 7 { "stopped" } else { "" });
            writeln!(csv, "s{},{model},k{scorer},{epoch},{value},{topic},{answer},{error}", n / 2).unwrap();
            writeln!(
                json,
                "{{\"id\":\"s{}\",\"model\":{model:?},\"scorer\":\"k{scorer}\",\"epoch\":{epoch},\"value\":{value},\
                 \"topic\":{topic:?},\"answer\":{answer:?},\"error\":{error:?}}}",
                n / 2
            )
            .unwrap();
        }
    }
    (csv, json)
}

#[test]
fn the_number_of_threads_does_not_show_in_tables_that_are_long_and_split() {
    let options = TableOptions::new().metadata(MetadataKeys::one("topic")).split_by("model");
    let folder = tempfile::tempdir().unwrap();
    for scorer_major in [false, true] {
        let (csv, json) = large(scorer_major);
        let mut wanted: Option<Vec<_>> = None;
        for (name, text) in [("t.csv", &csv), ("t.jsonl", &json)] {
            let path = folder.path().join(name);
            std::fs::write(&path, text).unwrap();
            for threads in [1, 2, 5] {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
                let tables = pool.install(|| read_tables(&path, &options)).unwrap();
                let parts: Vec<_> = tables.iter().map(|table| table.part.clone().unwrap()).collect();
                assert_eq!(parts, ["wren", "owl", "crow"]);
                let found: Vec<_> = tables
                    .iter()
                    .map(|table| {
                        let columns = &table.columns;
                        assert_eq!((columns.len(), columns.errored()), (4000, 80));
                        let scores = |row: usize| ["k0", "k1"].map(|scorer| columns.score(row, scorer));
                        let row = |row: usize| {
                            (
                                columns.id(row).to_owned(),
                                columns.epoch(row),
                                scores(row),
                                columns.metadata_row(row),
                            )
                        };
                        (0..columns.len()).map(row).collect::<Vec<_>>()
                    })
                    .collect();
                assert_eq!(found[0][3].2[1].as_ref().unwrap().answer.as_deref(), Some("answer 3"));
                assert!(wanted.get_or_insert_with(|| found.clone()) == &found, "{name} on {threads} threads");
            }
        }
    }
}

#[test]
fn keys_that_come_late() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.jsonl");
    let mut text: String = (0..20_000).map(|n| format!("{{\"id\":{n},\"value\":{}}}\n", n % 2)).collect();
    let read = |text: &str| {
        std::fs::write(&path, text).unwrap();
        read_table(&path, &TableOptions::new()).unwrap()
    };
    // Metadata is fetched from where it is first met.
    text += "{\"id\":\"a\",\"value\":1,\"topic\":\"x\"}\n{\"id\":\"b\",\"value\":0}\n{\"topic\":\"y\",\"id\":\"c\"}\n";
    let table = read(&text);
    assert_eq!(table.metadata_keys, ["topic"]);
    let topics: Vec<_> =
        [0, 20_000, 20_001, 20_002].map(|row| table.columns.metadata_row(row).get("topic").cloned()).to_vec();
    assert_eq!(topics, [None, Some("x".into()), None, Some("y".into())]);
    // A key `score` makes the value metadata, and a scorer makes the table long.
    let scored = format!("{text}{{\"id\":\"d\",\"score\":5}}\n");
    let table = read(&scored);
    assert_eq!(table.columns.scorer_names().collect::<Vec<_>>(), ["score"]);
    assert_eq!(table.columns.score(20_003, "score").unwrap().value, Value::Int(5));
    assert_eq!(table.columns.metadata_row(1).get("value"), Some(&1.into()));
    let long = text.replace("\"value\":1", "\"value\":null").replace("\"value\":0", "\"value\":null");
    let table = read(&format!("{long}{{\"id\":\"d\",\"scorer\":\"s\",\"value\":5}}\n"));
    assert_eq!(table.columns.scorer_names().collect::<Vec<_>>(), ["s"]);
    assert_eq!(table.columns.score(20_003, "s").unwrap().value, Value::Int(5));
}

#[test]
fn epochs_are_counted_from_zero_or_one() {
    let folder = tempfile::tempdir().unwrap();
    let rows = [("a", 0), ("b", 0), ("a", 1), ("a", 2)];
    let csv = rows
        .iter()
        .fold("id,epoch,score\n".to_owned(), |text, (id, epoch)| text + &format!("{id},{epoch},1\n"));
    let json: String =
        rows.iter().map(|(id, epoch)| format!("{{\"id\":{id:?},\"epoch\":{epoch},\"score\":1}}\n")).collect();
    for (name, text) in [("t.csv", csv), ("t.jsonl", json)] {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        let table = read_table(&path, &TableOptions::new()).unwrap();
        assert!(table.epochs_from_zero);
        let found: Vec<_> =
            (0..table.columns.len()).map(|row| (table.columns.id(row), table.columns.epoch(row))).collect();
        assert_eq!(found, [("a", 1), ("b", 1), ("a", 2), ("a", 3), ("b", 2), ("b", 3)]);
        assert_eq!(table.columns.score(4, "score"), None, "an epoch that is absent is missing");
    }
    std::fs::write(folder.path().join("one.csv"), "id,epoch,score\na,1,1\nb,2,1\n").unwrap();
    let table = read_table(folder.path().join("one.csv"), &TableOptions::new()).unwrap();
    assert_eq!((table.epochs_from_zero, table.columns.len()), (false, 4));
}

#[test]
fn epochs_that_no_two_samples_share_do_not_fill_the_memory() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.csv");
    let text = (1..100_000).fold("id,epoch,score\n".to_owned(), |text, n| text + &format!("{n},{n},1\n"));
    std::fs::write(&path, text).unwrap();
    let error = read_table(&path, &TableOptions::new()).unwrap_err();
    assert!(error.kind().to_string().starts_with("99999 rows have 99999 different epochs, so "), "{error}");
}

#[test]
fn maps_have_the_keys_of_all() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.jsonl");
    std::fs::write(
        &path,
        "{\"id\":1,\"score\":{\"b\":1}}\n{\"id\":2,\"score\":{\"a\":0,\"b\":2}}\n{\"id\":3,\"score\":7}\n{\"id\":4,\"score\":{}}\n",
    )
    .unwrap();
    let table = read_table(&path, &TableOptions::new()).unwrap();
    let keys = |row: usize| match table.columns.score(row, "score").unwrap().value {
        Value::Map(map) => map.iter().map(|(key, leaf)| format!("{key}={leaf:?}")).collect::<Vec<_>>(),
        other => vec![format!("{other:?}")],
    };
    assert_eq!(keys(0), ["b=Int(1)", "a=Unscored"]);
    assert_eq!(keys(1), ["a=Int(0)", "b=Int(2)"]);
    assert_eq!(keys(2), ["Int(7)"]);
    assert_eq!(keys(3), ["b=Unscored", "a=Unscored"]);
    // As many keys as maps would take memory by the square of their number.
    let many: String = (0..20_000).map(|n| format!("{{\"id\":{n},\"score\":{{\"k{n}\":1}}}}\n")).collect();
    std::fs::write(&path, many).unwrap();
    let error = read_table(&path, &TableOptions::new()).unwrap_err();
    errorbar_test_support::assert_matches!(
        error.kind(),
        errorbar_table::TableErrorKind::TooMuchMemory { .. }
    );
}
