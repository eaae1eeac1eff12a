//! Tables as Parquet: what is read, and what is refused with which words.
#![cfg(feature = "parquet")]

use crate::parquet_files::{Cells, simple, write};
use crate::table_support;
use errorbar_core::{Leaf, MetadataKeys, Score, ScoreColumns, Value};
use errorbar_table::{ScoreTable, TableError, TableErrorKind, TableLocation, TableOptions};
use errorbar_test_support::assert_matches;
use parquet::basic::{Compression, Encoding};
use parquet::file::properties::{WriterProperties, WriterVersion};
use serde_json::{Value as Json, json};

fn read_with(bytes: &[u8], options: &TableOptions) -> Result<ScoreTable, TableError> {
    table_support::read_with("t.parquet", bytes, options)
}

fn read(bytes: &[u8]) -> ScoreTable {
    read_with(bytes, &TableOptions::new()).unwrap()
}

fn refused(bytes: &[u8]) -> String {
    table_support::refused("t.parquet", bytes)
}

fn values(columns: &ScoreColumns, scorer: &str) -> Vec<Option<Value>> {
    (0..columns.len()).map(|row| columns.score(row, scorer).map(|score| score.value)).collect()
}

/// The metadata of each row that has a score.
fn metadata(columns: &ScoreColumns, scorer: &str) -> Vec<Json> {
    let set = errorbar_core::ScoreSet::unreduced(columns, scorer).unwrap();
    let scores = set.scores();
    (0..scores.len()).map(|at| scores.sample_metadata(at).into()).collect()
}

#[test]
fn rows_without_ids_are_numbered() {
    let scores = Cells::Doubles(vec![Some(1.0), None, Some(0.5)]);
    let bytes = write("optional double score;", &[scores], 2, WriterProperties::builder().build());
    let table = read_with(&bytes, &TableOptions::new().number_rows(true)).unwrap();
    let ids: Vec<&str> = (0..3).map(|row| table.columns.id(row)).collect();
    assert_eq!((ids.as_slice(), table.has_synthetic_ids), (["1", "2", "3"].as_slice(), true));
    assert_eq!(values(&table.columns, "score"), [Some(1.0.into()), None, Some(0.5.into())]);
    assert!(read_with(&bytes, &TableOptions::new()).is_err());
}

#[test]
fn decimals_without_fraction_are_integers() {
    let ids = ["12345678901234567890123456789012345678", "-7"];
    let cells = ids.map(|id| id.parse::<i128>().unwrap().to_be_bytes().to_vec()).to_vec();
    let table = read(&simple(
        "required fixed_len_byte_array(16) id (DECIMAL(38,0)); required double score;",
        &[Cells::Fixed(cells.clone()), Cells::doubles(&[1.0, 0.0])],
    ));
    assert_eq!([0, 1].map(|row| table.columns.id(row)), ids);
    let schema = "required int64 id (DECIMAL(18,0)); required double score;
         required fixed_len_byte_array(16) g (DECIMAL(38,0)); required int32 rate (DECIMAL(9,1));";
    let bytes = simple(
        schema,
        &[
            Cells::longs(&[1, -2]),
            Cells::doubles(&[1.0, 0.0]),
            Cells::Fixed(cells),
            Cells::Ints(vec![Some(15); 2]),
        ],
    );
    let table = read_with(&bytes, &TableOptions::new().metadata(MetadataKeys::All)).unwrap();
    assert_eq!([0, 1].map(|row| table.columns.id(row)), ["1", "-2"]);
    let expected = [json!({"g": ids[0], "rate": 1.5}), json!({"g": -7, "rate": 1.5})];
    assert_eq!(metadata(&table.columns, "score"), expected);
}

#[test]
fn cells_become_values() {
    let table = read(&simple(
        "required binary id (UTF8); optional int32 epoch; optional double score; optional binary topic (UTF8);
         required boolean hard; optional int64 n; required float weight; optional binary extra (JSON);",
        &[
            Cells::texts(&["q1", "q1", "q2", "é", "q4"]),
            Cells::Ints([1, 2, 1, 1, 7].map(Some).to_vec()),
            Cells::Doubles(vec![Some(0.5), None, Some(f64::NAN), Some(1.0), Some(f64::INFINITY)]),
            Cells::Texts(vec![Some(b"a".to_vec()), None, Some(b"".to_vec()), Some(b"b, c".to_vec()), None]),
            Cells::Bools([true, false, true, true, false].map(Some).to_vec()),
            Cells::Longs(vec![Some(1), None, Some(-5), None, Some(i64::MAX)]),
            Cells::Floats([0.25, 1.0, 1.0, f32::NAN, 0.1].map(Some).to_vec()),
            Cells::Texts(vec![None, None, None, Some(b"{\"k\": [1, NaN]}".to_vec()), Some(b"\"text\"".to_vec())]),
        ],
    ));
    let columns = &table.columns;
    let rows: Vec<_> = (0..5).map(|row| (columns.id(row), columns.epoch(row))).collect();
    assert_eq!(rows, [("q1", 1), ("q1", 2), ("q2", 1), ("é", 1), ("q4", 7)]);
    assert_eq!(columns.len(), 4 * 3, "a row for each epoch of each sample");
    assert_eq!(
        values(columns, "score")[..5],
        [Some(0.5.into()), None, Some(Value::Unscored), Some(1.0.into()), Some(f64::INFINITY.into())],
        "a null is missing, a NaN unscored"
    );
    assert_eq!(
        metadata(columns, "score"),
        [
            json!({"topic": "a", "hard": true, "n": 1, "weight": 0.25, "extra": null}),
            json!({"topic": "b, c", "hard": true, "n": null, "weight": null, "extra": {"k": [1, null]}}),
            json!({"topic": null, "hard": false, "n": i64::MAX, "weight": f64::from(0.1f32), "extra": "text"}),
        ]
    );
    assert_eq!(table.metadata_keys, ["topic", "hard", "n", "weight", "extra"]);
}

#[test]
fn scores_of_every_type() {
    let map = Value::map([("a", 1)]);
    let cases = [
        ("optional boolean score;", Cells::Bools(vec![Some(true), None]), Some(Value::Bool(true))),
        ("optional int32 score;", Cells::Ints(vec![Some(-3), None]), Some(Value::Int(-3))),
        ("optional int32 score (INTEGER(8,true));", Cells::Ints(vec![Some(-3), None]), Some(Value::Int(-3))),
        (
            "optional int32 score (INTEGER(32,false));",
            Cells::Ints(vec![Some(-1), None]),
            Some(Value::Int(4294967295)),
        ),
        ("optional int64 score;", Cells::Longs(vec![Some(1 << 40), None]), Some(Value::Int(1 << 40))),
        ("optional int64 score (UINT_64);", Cells::Longs(vec![Some(7), None]), Some(Value::Int(7))),
        (
            "optional int64 score (UINT_64);",
            Cells::Longs(vec![Some(-1), None]),
            Some(Value::Float(u64::MAX as f64)),
        ),
        ("optional int32 score (DECIMAL(5,2));", Cells::Ints(vec![Some(75), None]), Some(Value::Float(0.75))),
        (
            "optional int64 score (DECIMAL(12,1));",
            Cells::Longs(vec![Some(-15), None]),
            Some(Value::Float(-1.5)),
        ),
        ("optional float score;", Cells::Floats(vec![Some(0.5), None]), Some(Value::Float(0.5))),
        ("optional double score;", Cells::Doubles(vec![Some(0.1), None]), Some(Value::Float(0.1))),
        (
            "optional binary score (UTF8);",
            Cells::Texts(vec![Some(b"C".to_vec()), None]),
            Some(Value::from("C")),
        ),
        (
            "optional binary score (STRING);",
            Cells::Texts(vec![Some(b"1".to_vec()), None]),
            Some(Value::from("1")),
        ),
        (
            "optional binary score (ENUM);",
            Cells::Texts(vec![Some(b"I".to_vec()), None]),
            Some(Value::from("I")),
        ),
        ("optional binary score;", Cells::Texts(vec![Some(b"C".to_vec()), None]), Some(Value::from("C"))),
        ("optional binary score (JSON);", Cells::Texts(vec![Some(b"{\"a\":1}".to_vec()), None]), Some(map)),
        (
            "optional binary score (JSON);",
            Cells::Texts(vec![Some(b"NaN".to_vec()), None]),
            Some(Value::Unscored),
        ),
    ];
    for (field, cells, wanted) in cases {
        let table = read(&simple(&format!("required int64 id; {field}"), &[Cells::longs(&[1, 2]), cells]));
        assert_eq!(values(&table.columns, "score"), [wanted, None], "{field}");
    }
}

#[test]
fn ids_are_strings_or_integers() {
    let ids = |field: &str, cells: Cells| {
        let table =
            read(&simple(&format!("{field} required double value;"), &[cells, Cells::doubles(&[1.0, 0.0])]));
        [table.columns.id(0).to_owned(), table.columns.id(1).to_owned()]
    };
    assert_eq!(ids("required int64 id;", Cells::longs(&[-1, 12])), ["-1", "12"]);
    assert_eq!(ids("required int64 id (UINT_64);", Cells::longs(&[-1, 12])), ["18446744073709551615", "12"]);
    assert_eq!(ids("optional int32 id;", Cells::Ints(vec![Some(5), Some(6)])), ["5", "6"]);
    assert_eq!(ids("required binary id (UTF8);", Cells::texts(&["1", "é,\n\""])), ["1", "é,\n\""]);
}

/// Five thousand rows with nulls, NaNs and repeats.
fn many() -> (&'static str, Vec<Cells>) {
    let rows = 5000;
    let text = |text: String| Some(text.into_bytes());
    let columns = vec![
        Cells::Texts((0..rows).map(|n| text(format!("sample {}", n % 2500))).collect()),
        Cells::Ints((0..rows).map(|n| Some(1 + n / 2500)).collect()),
        Cells::Doubles(
            (0..rows)
                .map(|n| (n % 7 != 0).then_some(if n % 11 == 0 { f64::NAN } else { f64::from(n % 3) / 3.0 }))
                .collect(),
        ),
        Cells::Longs((0..rows).map(|n| (n % 50 < 40).then_some(i64::from(n % 5))).collect()),
        Cells::Texts(
            (0..rows).map(|n| (n % 3 > 0).then(|| format!("doc {}", n % 37).into_bytes())).collect(),
        ),
        Cells::Bools((0..rows).map(|n| (n % 4 > 0).then_some(n % 8 == 1)).collect()),
    ];
    let fields =
        "required binary id (UTF8); required int32 epoch; optional double score; optional int64 marks;
                  optional binary topic (UTF8); optional boolean hard;";
    (fields, columns)
}

#[test]
fn however_a_file_is_written_the_table_is_the_same() {
    let (fields, columns) = many();
    let options = TableOptions::new().score_columns(["score", "marks"]);
    let read = |bytes: &[u8]| read_with(bytes, &options).unwrap().columns;
    let wanted = read(&write(
        fields,
        &columns,
        usize::MAX,
        WriterProperties::builder().set_dictionary_enabled(false).build(),
    ));
    assert_eq!(
        values(&wanted, "score")[1..3],
        [Some(Value::Float(1.0 / 3.0)), Some(Value::Float(2.0 / 3.0))]
    );
    assert_eq!(wanted.len(), 5000);
    let compressions = [
        Compression::UNCOMPRESSED,
        Compression::SNAPPY,
        Compression::GZIP(Default::default()),
        Compression::ZSTD(Default::default()),
        Compression::LZ4,
        Compression::LZ4_RAW,
    ];
    let encodings = [
        ("id", Encoding::DELTA_BYTE_ARRAY),
        ("id", Encoding::DELTA_LENGTH_BYTE_ARRAY),
        ("marks", Encoding::DELTA_BINARY_PACKED),
        ("score", Encoding::BYTE_STREAM_SPLIT),
        ("hard", Encoding::RLE),
    ];
    let mut files = Vec::new();
    for compression in compressions {
        for version in [WriterVersion::PARQUET_1_0, WriterVersion::PARQUET_2_0] {
            for dictionary in [true, false] {
                let properties = WriterProperties::builder()
                    .set_compression(compression)
                    .set_writer_version(version)
                    .set_dictionary_enabled(dictionary)
                    .set_data_page_row_count_limit(700)
                    .set_write_batch_size(100)
                    .build();
                files.push((
                    format!("{compression} {version:?} {dictionary}"),
                    write(fields, &columns, 1999, properties),
                ));
            }
        }
    }
    for (column, encoding) in encodings {
        let properties = WriterProperties::builder()
            .set_writer_version(WriterVersion::PARQUET_2_0)
            .set_dictionary_enabled(false)
            .set_column_encoding(column.into(), encoding)
            .build();
        files.push((format!("{column} {encoding}"), write(fields, &columns, usize::MAX, properties)));
    }
    // A dictionary that grows too large half-way: the pages after it are plain.
    let small_dictionary = WriterProperties::builder()
        .set_dictionary_page_size_limit(500)
        .set_data_page_row_count_limit(100)
        .set_write_batch_size(10);
    files.push((
        "a small dictionary".to_owned(),
        write(fields, &columns, usize::MAX, small_dictionary.build()),
    ));
    for (name, bytes) in files {
        let found = read(&bytes);
        assert_eq!(found.len(), wanted.len(), "{name}");
        for row in 0..wanted.len() {
            assert_eq!(
                (found.id(row), found.epoch(row)),
                (wanted.id(row), wanted.epoch(row)),
                "{name}, row {row}"
            );
        }
        for scorer in ["score", "marks"] {
            assert_eq!(values(&found, scorer), values(&wanted, scorer), "{name}");
            assert_eq!(metadata(&found, scorer), metadata(&wanted, scorer), "{name}");
        }
    }
}

#[test]
fn fields_of_structures_are_columns() {
    let fields = "required int64 id; required group scores { optional double judge; required group by { required double human; } }";
    let columns = [Cells::longs(&[1, 2]), Cells::Doubles(vec![Some(0.5), None]), Cells::doubles(&[1.0, 0.0])];
    let bytes = write(fields, &columns, usize::MAX, WriterProperties::builder().build());
    let options = TableOptions::new().score_columns(["scores.judge", "scores.by.human"]);
    let table = read_with(&bytes, &options).unwrap();
    let value = |row: usize, scorer: &str| table.columns.score(row, scorer).map(|score| score.value);
    assert_eq!(value(0, "scores.judge"), Some(0.5.into()));
    assert_eq!(value(1, "scores.judge"), None, "null");
    assert_eq!(
        [value(0, "scores.by.human"), value(1, "scores.by.human")],
        [Some(1.0.into()), Some(0.0.into())]
    );
}

#[test]
fn only_the_columns_that_are_needed_are_read() {
    let fields =
        "required int64 id; required double score; optional binary a (UTF8); optional binary b (UTF8);
                  optional group tags (LIST) { repeated group list { optional binary element (UTF8); } }
                  required fixed_len_byte_array(4) c; required int64 day (TIMESTAMP(MILLIS,true));";
    let marker = "where the bytes of a are";
    let columns = [
        Cells::longs(&[1]),
        Cells::doubles(&[0.5]),
        Cells::texts(&[marker]),
        Cells::texts(&["y"]),
        Cells::Lists(1),
        Cells::Fixed(vec![vec![1, 2, 3, 4]]),
        Cells::longs(&[0]),
    ];
    let properties = WriterProperties::builder()
        .set_dictionary_enabled(false)
        .set_statistics_enabled(parquet::file::properties::EnabledStatistics::None);
    let mut bytes = write(fields, &columns, usize::MAX, properties.build());
    let at = bytes.windows(marker.len()).position(|window| window == marker.as_bytes()).unwrap();
    // The length in front of the text: whoever reads `a` fails.
    bytes[at - 4..at].copy_from_slice(&[0xff; 4]);
    let only = |key| TableOptions::new().metadata(MetadataKeys::one(key));
    let table = read_with(&bytes, &only("b")).unwrap();
    assert_eq!(metadata(&table.columns, "score"), [json!({"b": "y"})]);
    assert_eq!(table.metadata_keys, ["a", "b", "tags", "c", "day"], "messages still know the others");
    let wants = |key| read_with(&bytes, &only(key)).unwrap_err();
    assert_matches!(wants("a").kind(), TableErrorKind::Parquet { column: Some(column), .. } if column == "a");
    for (key, holds) in
        [("tags", "lists or maps"), ("c", "values of the type FIXED_LEN_BYTE_ARRAY"), ("day", "times")]
    {
        let problem = format!("the column `{key}` holds {holds}; it is read as metadata");
        assert!(wants(key).kind().to_string().starts_with(&problem), "{}", wants(key));
    }
}

#[test]
fn the_long_form() {
    let text = |cells: &[Option<&str>]| {
        Cells::Texts(cells.iter().map(|c| c.map(|c| c.as_bytes().to_vec())).collect())
    };
    let fields = "required binary id (UTF8); required int64 epoch; optional binary scorer (UTF8); optional binary value (UTF8);
                  optional binary answer (UTF8); optional binary error (UTF8); optional binary topic (UTF8); required int32 n;";
    let columns = [
        text(&[Some("q1"), Some("q1"), Some("q2"), Some("q3"), Some("q2"), Some("q4")]),
        Cells::longs(&[1, 1, 1, 1, 1, 2]),
        text(&[Some("match"), Some("judge"), Some("match"), None, Some("judge"), Some("match")]),
        text(&[Some("C"), Some("{\"a\": 1, \"b\": NaN}"), Some("0.5"), None, Some("[1, 2]"), None]),
        text(&[Some("42"), None, Some(""), None, None, None]),
        text(&[None, None, None, Some("out of memory"), Some(""), None]),
        text(&[Some("a"), Some("other"), Some("b"), None, Some("b"), None]),
        Cells::Ints((1..=6).map(Some).collect()),
    ];
    for group in [2, usize::MAX] {
        let table = read(&write(fields, &columns, group, WriterProperties::builder().build()));
        let columns = &table.columns;
        assert_eq!(
            (0..columns.len()).map(|row| columns.id(row)).collect::<Vec<_>>(),
            ["q1", "q2", "q3", "q4", "q1", "q2", "q3", "q4"]
        );
        assert_eq!(columns.epoch(3), 2);
        assert_eq!(columns.scorer_names().collect::<Vec<_>>(), ["match", "judge"]);
        assert_eq!(columns.score(0, "match"), Some(Score::new("C").answer("42")));
        assert_eq!(values(columns, "match")[..4], [Some("C".into()), Some(0.5.into()), None, None]);
        let judged = values(columns, "judge");
        let Some(Value::Map(map)) = &judged[0] else { panic!("a map") };
        assert_eq!((&map["a"], &map["b"]), (&Leaf::Int(1), &Leaf::Unscored));
        assert_eq!(judged[1..4], [Some(Value::list([1, 2])), None, None]);
        assert_eq!(columns.errored(), 1);
        assert_eq!(
            metadata(columns, "match"),
            [json!({"topic": "a", "n": 1}), json!({"topic": "b", "n": 3})]
        );
    }
    let numbers = read(&simple(
        "required int64 id; required binary scorer (UTF8); optional double value;",
        &[Cells::longs(&[1, 1]), Cells::texts(&["a", "b"]), Cells::Doubles(vec![Some(0.5), None])],
    ));
    assert_eq!(
        (values(&numbers.columns, "a"), values(&numbers.columns, "b")),
        (vec![Some(0.5.into())], vec![None])
    );
}

#[test]
fn every_error_names_the_place_the_problem_and_the_way_out() {
    let of_ids = |field: &str, cells: Cells| {
        refused(&simple(
            &format!("{field} required double score;"),
            &[cells, Cells::doubles(&[1.0, 0.0, 1.0])],
        ))
    };
    let of_epochs = |field: &str, cells: Cells| {
        refused(&simple(
            &format!("required int64 id; required double score; {field}"),
            &[Cells::longs(&[7, 8, 9]), Cells::doubles(&[1.0; 3]), cells],
        ))
    };
    let of_scores = |field: &str, cells: Cells| {
        refused(&simple(&format!("required int64 id; {field}"), &[Cells::longs(&[7, 8, 9]), cells]))
    };
    let long = |scorer: Cells, value: Cells| {
        let fields = "required int64 id; optional binary scorer (UTF8); optional binary value (UTF8);";
        refused(&simple(fields, &[Cells::longs(&[7, 8, 7]), scorer, value]))
    };
    let cases = [
        (
            refused(b""),
            r#"t.parquet this is not a Parquet file that can be read: EOF: Parquet file too small. Size is 0 but need 8"#,
        ),
        (
            refused(b"id,score\nq1,1\n"),
            r#"t.parquet this is not a Parquet file that can be read: Invalid Parquet file. Corrupt footer"#,
        ),
        (
            refused(b"PAR1PAR1"),
            r#"t.parquet this is not a Parquet file that can be read: EOF: Parquet file too small. Size is 8 but need 827474264"#,
        ),
        (
            refused(&simple(
                "required int64 sample; required double score;",
                &[Cells::longs(&[1]), Cells::doubles(&[1.0])],
            )),
            r#"t.parquet there is no column `id`; columns found: `sample`, `score`"#,
        ),
        (
            refused(&simple(
                "required int64 id; required double length;",
                &[Cells::longs(&[1]), Cells::doubles(&[1.0])],
            )),
            r#"t.parquet there is no score column `score` or `value`; columns found: `id`, `length`"#,
        ),
        (
            refused(&simple(
                "required int64 id; required double score; required int64 id;",
                &[Cells::longs(&[1]), Cells::doubles(&[1.0]), Cells::longs(&[1])],
            )),
            r#"t.parquet the column `id` occurs twice"#,
        ),
        (
            of_ids("required double id;", Cells::doubles(&[1.0, 2.0, 3.0])),
            r#"t.parquet the column `id` holds floating-point numbers; it is read as the id, which takes strings or integers"#,
        ),
        (
            of_ids("required int64 id (DECIMAL(18,2));", Cells::longs(&[1, 2, 3])),
            r#"t.parquet the column `id` holds decimals; it is read as the id, which takes strings or integers"#,
        ),
        (
            of_ids("required boolean id;", Cells::Bools(vec![Some(true); 3])),
            r#"t.parquet the column `id` holds booleans; it is read as the id, which takes strings or integers"#,
        ),
        (
            of_ids("required int64 id (TIMESTAMP(MICROS,false));", Cells::longs(&[1, 2, 3])),
            r#"t.parquet the column `id` holds times; it is read as the id, which takes strings or integers"#,
        ),
        (
            of_ids("optional int64 id;", Cells::Longs(vec![Some(1), Some(2), None])),
            r#"t.parquet Row(3) the id is empty"#,
        ),
        (
            of_ids("required binary id (UTF8);", Cells::texts(&["a", "", "b"])),
            r#"t.parquet Row(2) the id is empty"#,
        ),
        (
            of_ids("required int64 id;", Cells::longs(&[5, 6, 5])),
            r#"t.parquet Row(3) "5" epoch 1 of this sample is already in row 1"#,
        ),
        (
            of_ids(
                "optional binary id (UTF8);",
                Cells::Texts(vec![Some(b"a".to_vec()), Some(vec![0xff]), None]),
            ),
            r#"t.parquet Row(2) the string in column `id` is not valid UTF-8"#,
        ),
        (
            // A data frame writes integers as floats if some are missing; this is none.
            of_epochs("required double epoch;", Cells::doubles(&[1.0, 1.5, 1.0])),
            r#"t.parquet Row(2) "8" the epoch is 1.5"#,
        ),
        (
            of_epochs("required int64 epoch;", Cells::longs(&[1, -1, 1])),
            r#"t.parquet Row(2) "8" the epoch is -1"#,
        ),
        (
            of_epochs("required int64 epoch;", Cells::longs(&[1, 1, 1 << 32])),
            r#"t.parquet Row(3) "9" the epoch is 4294967296"#,
        ),
        (
            of_epochs("optional int64 epoch;", Cells::Longs(vec![None, Some(1), Some(1)])),
            r#"t.parquet Row(1) "7" the epoch is empty"#,
        ),
        (
            of_scores(
                "required fixed_len_byte_array(17) score (DECIMAL(40,2));",
                Cells::Fixed(vec![vec![0; 17]; 3]),
            ),
            r#"t.parquet the column `score` holds decimals of more than 38 digits; it is read as a score, which takes numbers, booleans, strings or JSON"#,
        ),
        (
            of_scores("required int32 score (DATE);", Cells::Ints(vec![Some(1); 3])),
            r#"t.parquet the column `score` holds dates; it is read as a score, which takes numbers, booleans, strings or JSON"#,
        ),
        (
            of_scores("required fixed_len_byte_array(2) score (FLOAT16);", Cells::Fixed(vec![vec![0, 0]; 3])),
            r#"t.parquet the column `score` holds values of the type FIXED_LEN_BYTE_ARRAY; it is read as a score, which takes numbers, booleans, strings or JSON"#,
        ),
        (
            of_scores("required group score { required double a; }", Cells::doubles(&[1.0; 3])),
            r#"t.parquet there is no score column `score` or `value`; columns found: `id`, `score.a`"#,
        ),
        (
            of_scores("required binary score (JSON);", Cells::texts(&["1", "{\"a\"", "2"])),
            r#"t.parquet Row(2) "8" the score in `score` starts like a list or map, but is not valid JSON: EOF while parsing an object at character 5"#,
        ),
        (
            of_scores(
                "optional binary score (UTF8);",
                Cells::Texts(vec![None, Some(b"C".to_vec()), Some(vec![0xc0])]),
            ),
            r#"t.parquet Row(3) "9" the string in column `score` is not valid UTF-8"#,
        ),
        (
            refused(&simple(
                "required int64 id; required double score; required binary k (JSON);",
                &[Cells::longs(&[4]), Cells::doubles(&[1.0]), Cells::texts(&["{"])],
            )),
            r#"t.parquet Row(1) "4" the string in column `k` is not valid JSON: EOF while parsing an object"#,
        ),
        (
            long(Cells::texts(&["s", "s", "s"]), Cells::texts(&["1", "1", "0"])),
            r#"t.parquet Row(3) "7" epoch 1 of this sample by the scorer "s" is already in row 1"#,
        ),
        (
            long(Cells::Texts(vec![None; 3]), Cells::texts(&["1", "1", "0"])),
            r#"t.parquet Row(1) "7" the row has a score in `value`, but its `scorer` is empty"#,
        ),
        (
            long(Cells::texts(&["s", "t", "u"]), Cells::texts(&["1", "[1", "0"])),
            r#"t.parquet Row(2) "8" the score in `value` starts like a list or map, but is not valid JSON: EOF while parsing a list at character 3"#,
        ),
        (
            refused(&simple(
                "required int64 id; required int64 scorer; required double value;",
                &[Cells::longs(&[1]), Cells::longs(&[1]), Cells::doubles(&[1.0])],
            )),
            r#"t.parquet the column `scorer` holds integers; it is read as the scorer, which takes strings"#,
        ),
    ];
    for (found, wanted) in cases {
        assert_eq!(found, wanted);
    }
    let twice = simple(
        "required int64 id; required double score;",
        &[Cells::longs(&[5, 5]), Cells::doubles(&[1.0, 0.0])],
    );
    let error = read_with(&twice, &TableOptions::new()).unwrap_err();
    assert_eq!(
        (error.location(), error.line(), error.sample()),
        (Some(TableLocation::Row(2)), None, Some("5"))
    );
}

#[test]
fn rows_of_later_row_groups_keep_their_numbers() {
    let ids: Vec<i64> = (0..100).chain([37]).collect();
    let bytes = write(
        "required int64 id; required double score;",
        &[Cells::longs(&ids), Cells::doubles(&[1.0; 101])],
        30,
        WriterProperties::builder().build(),
    );
    assert_eq!(refused(&bytes), "t.parquet Row(101) \"37\" epoch 1 of this sample is already in row 38");
    let ids: Vec<i64> = (0..100).collect();
    let epochs: Vec<i64> = (1..=100).map(|row| if row == 75 { -1 } else { 1 }).collect();
    let bytes = write(
        "required int64 id; required double score; required int64 epoch;",
        &[Cells::longs(&ids), Cells::doubles(&[1.0; 100]), Cells::longs(&epochs)],
        30,
        WriterProperties::builder().build(),
    );
    assert_eq!(refused(&bytes), "t.parquet Row(75) \"74\" the epoch is -1");
}

#[test]
fn more_rows_than_a_file_can_hold_are_refused() {
    // All cells the same: they take no space, and a hostile file could claim billions.
    let rows = 1_000_000;
    let properties =
        WriterProperties::builder().set_data_page_row_count_limit(rows).set_data_page_size_limit(1 << 30);
    let columns = [Cells::longs(&vec![1; rows]), Cells::Ints(vec![Some(1); rows])];
    let bytes = write("required int64 id; required int32 score;", &columns, usize::MAX, properties.build());
    assert!((bytes.len() as u64) * 256 < rows as u64, "{} bytes", bytes.len());
    assert_matches!(
        read_with(&bytes, &TableOptions::new()).unwrap_err().kind(),
        TableErrorKind::Parquet { problem, .. }
            if *problem == format!("it claims 1000000 rows, in {} bytes", bytes.len())
    );
}
