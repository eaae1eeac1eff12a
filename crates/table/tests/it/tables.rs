//! Tables as people write them: what is read, and what is refused with which words.

use errorbar_core::{MetadataKeys, Metric, ScoreColumns, ScoreSet, Value, metric_fn};
use errorbar_table::{ScoreTable, TableErrorKind, TableLocation, TableOptions, read_table};
use errorbar_test_support::assert_matches;
use serde_json::json;

use crate::table_support::{message, read, read_with, refused, refused_with};

/// The values of a scorer with their samples, the missing ones left out.
fn values(columns: &ScoreColumns, scorer: &str) -> Vec<(String, Value)> {
    let mut found = Vec::new();
    let set = ScoreSet::unreduced(columns, scorer).unwrap();
    let scores = set.scores();
    for at in 0..scores.len() {
        found.push((scores.sample_id(at).to_owned(), scores.value(at).to_value()));
    }
    found
}

fn metadata(columns: &ScoreColumns, scorer: &str) -> Vec<serde_json::Value> {
    let set = ScoreSet::unreduced(columns, scorer).unwrap();
    let scores = set.scores();
    (0..scores.len()).map(|at| scores.sample_metadata(at).into()).collect()
}

fn counts(table: &ScoreTable) -> (usize, usize, usize) {
    let metric = metric_fn("n", |scores: &errorbar_core::Scores<'_>| Ok(scores.len()));
    let plan = errorbar_core::Plan::new()
        .metrics([metric].into_iter().collect())
        .reducers(errorbar_core::Reducers::Disabled);
    let results = plan.evaluate(&table.columns).unwrap().results;
    let counts = &results.scores[0].counts;
    (counts.scored, counts.unscored, counts.missing)
}

#[test]
fn csv_cells_become_values() {
    let table = read("t.csv", "id,score,topic\nq1,C,a\nq2,0.5,\nq3,1,\"b, c\"\nq4,true,a\nq5,,a\nq6,nan,a\n")
        .unwrap();
    assert_eq!(
        values(&table.columns, "score"),
        [
            ("q1".to_owned(), Value::from("C")),
            ("q2".to_owned(), Value::from(0.5)),
            ("q3".to_owned(), Value::from(1)),
            ("q4".to_owned(), Value::from(true)),
        ]
    );
    assert_eq!(
        metadata(&table.columns, "score"),
        [json!({"topic": "a"}), json!({"topic": null}), json!({"topic": "b, c"}), json!({"topic": "a"})]
    );
    assert_eq!(counts(&table), (4, 1, 1), "an empty cell is missing, a NaN unscored");
    assert_eq!(table.metadata_keys, ["topic"]);
}

#[test]
fn json_lines_become_values() {
    let table = read(
        "t.jsonl",
        r#"{"id": 7, "score": {"a": 1, "b": NaN, "c": null, "d": "x"}, "n": 1.5}
{"score": [true, 2], "id": "q2", "n": {"deep": [1, NaN]}}

{"id": "q3", "score": NaN}
{"id": "q4", "score": null}
{"id": "q5"}
{"id": "q6", "score": 123456789012345678901234567890, "epoch": 2}
"#,
    )
    .unwrap();
    let found = values(&table.columns, "score");
    let map = json!({"a": 1, "b": null, "c": null, "d": "x"});
    assert_eq!(found[0].0, "7");
    assert_eq!(found[0].1.to_json(), map);
    assert_eq!(found[1], ("q2".to_owned(), Value::List(vec![true.into(), 2.into()])));
    assert_eq!(found[2], ("q6".to_owned(), Value::Float(1.2345678901234568e29)));
    assert_eq!(
        metadata(&table.columns, "score"),
        [json!({"n": 1.5}), json!({"n": {"deep": [1, null]}}), json!({})]
    );
    // One score is not there, and each sample lacks the first or the second epoch.
    assert_eq!(counts(&table), (3, 2, 1 + 6));
    assert_eq!(table.columns.epoch(5), 2);
    let Value::Map(leaves) = &found[0].1 else { panic!("a map") };
    assert_eq!(leaves["b"], errorbar_core::Leaf::Unscored, "a NaN leaf is unscored, a null one is not");
    assert_eq!(leaves["c"], errorbar_core::Leaf::Null);
}

#[test]
fn ids_beyond_64_bits_are_the_text_of_their_digits() {
    let ids = ["12345678901234567890", "-1234567890123456789012345678901", "12345678901234567891"];
    for name in ["t.jsonl", "t.json"] {
        let rows = ids.map(|id| format!("{{\"id\": {id}, \"score\": 1}}"));
        let text = if name == "t.json" { format!("[{}]", rows.join(",")) } else { rows.join("\n") };
        let found = values(&read(name, text).unwrap().columns, "score");
        assert_eq!(found.iter().map(|(id, _)| id.as_str()).collect::<Vec<_>>(), ids, "{name}");
    }
}

#[test]
fn groups_beyond_64_bits_are_the_text_of_their_digits() {
    let groups = ["99999999999999999999", "99999999999999999998", "99999999999999999999"];
    let row = |(id, group)| format!("{{\"id\": {id}, \"g\": {group}, \"score\": 1}}");
    let rows: Vec<String> = groups.iter().enumerate().map(row).collect();
    for name in ["t.jsonl", "t.json"] {
        let text = if name == "t.json" { format!("[{}]", rows.join(",")) } else { rows.join("\n") };
        let options = TableOptions::new().metadata(MetadataKeys::All);
        let columns = read_with(name, text, &options).unwrap().columns;
        let found = [0, 1, 2].map(|row| columns.metadata_row(row)["g"].clone());
        assert_eq!(found, groups.map(serde_json::Value::from), "{name}");
    }
}

#[test]
fn marks_line_ends_and_tabs_do_not_matter() {
    for (name, content) in [
        ("t.csv", "\u{feff}id,epoch,score\r\nq1,1,0.5\r\nq1,2,1\r\n"),
        ("t.CSV", "id , epoch, score\n\nq1,1,0.5\n\n\nq1,2,1"),
        ("t.tsv", "id\tepoch\tscore\nq1\t1\t0.5\nq1\t2\t1\n"),
        (
            "t.jsonl",
            "\u{feff}{\"id\":\"q1\",\"epoch\":1,\"score\":0.5}\r\n\r\n{\"id\":\"q1\",\"epoch\":2,\"score\":1}",
        ),
        ("t.ndjson", "  {\"score\":0.5,\"id\":\"q1\"}\n{\"id\":\"q1\",\"epoch\":2,\"score\":1}\n"),
    ] {
        let table = read(name, content).unwrap();
        assert_eq!(
            values(&table.columns, "score"),
            [("q1".to_owned(), 0.5.into()), ("q1".to_owned(), 1.into())]
        );
        assert_eq!((table.columns.epoch(0), table.columns.epoch(1)), (1, 2), "{name}");
    }
}

#[test]
fn the_score_column_is_score_then_value_then_the_requested_one() {
    let both = "id,value,score\nq1,1,2\n";
    assert_eq!(values(&read("t.csv", both).unwrap().columns, "score")[0].1, Value::Int(2));
    assert_eq!(read("t.csv", both).unwrap().metadata_keys, ["value"]);
    assert_eq!(values(&read("t.csv", "id,value\nq1,1\n").unwrap().columns, "value")[0].1, Value::Int(1));
    let late = "{\"id\":1,\"value\":1}\n{\"id\":2,\"value\":5,\"score\":2}\n";
    assert_eq!(values(&read("t.jsonl", late).unwrap().columns, "score"), [("2".to_owned(), 2.into())]);
    let only = "{\"id\":1}\n{\"id\":2,\"value\":5}\n";
    assert_eq!(values(&read("t.jsonl", only).unwrap().columns, "value"), [("2".to_owned(), 5.into())]);

    let options = TableOptions::new().score_columns(["b", "a"]);
    let table = read_with("t.csv", "id,a,score,b\nq1,1,2,3\n", &options).unwrap();
    assert_eq!(table.columns.scorer_names().collect::<Vec<_>>(), ["b", "a"]);
    assert_eq!(values(&table.columns, "b")[0].1, Value::Int(3));
    assert_eq!(table.metadata_keys, ["score"]);
}

#[test]
fn only_the_requested_metadata_is_fetched() {
    let options = TableOptions::new().metadata(MetadataKeys::one("b"));
    for (name, content) in [
        ("t.csv", "id,score,a,b,c\nq1,1,x,y,z\n"),
        ("t.jsonl", r#"{"id":"q1","score":1,"a":[{}],"b":"y","c":99999999999999999999}"#),
    ] {
        let table = read_with(name, content, &options).unwrap();
        assert_eq!(metadata(&table.columns, "score"), [json!({"b": "y"})], "{name}");
        assert_eq!(table.metadata_keys, ["a", "b", "c"], "{name}: messages still know the others");
    }
}

#[test]
fn a_metric_sees_what_was_read() {
    let table = read("t.csv", "id,score\nq1,C\nq2,I\n").unwrap();
    let set = ScoreSet::unreduced(&table.columns, "score").unwrap();
    assert_eq!(errorbar_core::metrics::accuracy().compute(&set.scores()).unwrap().number(), Some(0.5));
}

#[test]
fn every_error_names_the_place_the_problem_and_the_way_out() {
    let long = TableOptions::new().score_columns(["scor"]);
    let twice = TableOptions::new().score_columns(["a", "a"]);
    let id = TableOptions::new().score_columns(["id"]);
    let cases = [
        (refused("t.csv", ""), "t.csv the file is empty"),
        (refused("t.jsonl", "\n \n"), "t.jsonl the file is empty"),
        (refused("t.eval", ""), "t.eval this is an eval log, not a score table"),
        (refused("t.json", "{\"version\": 2, \"eval\": {}"), "t.json this is an eval log, not a score table"),
        (refused("t.json", "[]"), "t.json the file is empty"),
        (refused("t.xlsx", ""), "t.xlsx unknown kind of table `.xlsx`"),
        (refused("t", ""), "t neither the name nor the content says what kind of table this is"),
        (
            refused("t.csv", "name,score\na,1\n"),
            r#"t.csv there is no column `id`; columns found: `name`, `score`"#,
        ),
        (
            refused("t.csv", "id,length\na,1\n"),
            r#"t.csv there is no score column `score` or `value`; columns found: `id`, `length`"#,
        ),
        (
            refused("t.jsonl", "{\"id\": 1, \"length\": 2}"),
            r#"t.jsonl there is no score column `score` or `value`; columns found: `id`, `length`"#,
        ),
        (
            refused_with("t.csv", "id,score\na,1\n", &long),
            r#"t.csv there is no score column `scor`; columns found: `id`, `score`"#,
        ),
        (
            refused_with("t.jsonl", "{\"id\":1,\"score\":1}", &long),
            r#"t.jsonl there is no score column `scor`; columns found: `id`, `score`"#,
        ),
        (refused_with("t.csv", "id,a\na,1\n", &twice), r#"t.csv the score column `a` is named twice"#),
        (
            refused_with("t.csv", "id,a\na,1\n", &id),
            r#"t.csv the column `id` cannot be a score: it identifies the rows"#,
        ),
        (
            refused("t.csv", "id,score,topic\nq1,1,a\nq2,1\n"),
            r#"t.csv:3 "q2" the row has 2 field(s), the header has 3"#,
        ),
        (refused("t.csv", "id,score\nq1,1,9\n"), r#"t.csv:2 "q1" the row has 3 field(s), the header has 2"#),
        // Together the two rows have as many fields as one should have.
        (
            refused("t.csv", "id,score,a\nq1\nq2,1\n"),
            r#"t.csv:2 "q1" the row has 1 field(s), the header has 3"#,
        ),
        (refused("t.csv", "id,score\n,1\n"), r#"t.csv:2 the id is empty"#),
        (refused("t.jsonl", "{\"id\": \"\", \"score\": 1}"), r#"t.jsonl:1 the id is empty"#),
        (refused("t.jsonl", "{\"score\": 1}"), r#"t.jsonl there is no column `id`; columns found: `score`"#),
        (refused("t.jsonl", "{\"score\": 1}\n{\"id\": 1, \"score\": 1}"), r#"t.jsonl:1 the id is missing"#),
        // What is wrong with a row comes before what is wrong with one behind it, whoever finds it.
        (
            refused("t.csv", "id,scorer,value\nq,s,1\nq,s,0\nr,s\n"),
            r#"t.csv:3 "q" epoch 1 of this sample by the scorer "s" is already on line 2"#,
        ),
        (refused("t.jsonl", "{\"id\": 1.5, \"score\": 1}"), r#"t.jsonl:1 the id is the number 1.5"#),
        (
            // Digits that a float does not have.
            refused("t.jsonl", "{\"id\": 12345678901234567890.0, \"score\": 1}"),
            r#"t.jsonl:1 the id is the number 12345678901234567890.0, a float, which may be rounded"#,
        ),
        (refused("t.jsonl", "{\"id\": [1], \"score\": 1}"), r#"t.jsonl:1 the id is a list"#),
        (refused("t.csv", "id,epoch,score\nq1,first,1\n"), r#"t.csv:2 "q1" the epoch is "first""#),
        (refused("t.csv", "id,epoch,score\nq1,-1,1\n"), r#"t.csv:2 "q1" the epoch is "-1""#),
        (refused("t.csv", "id,epoch,score\nq1,0,1\nq1,4294967295,1\n"), r#"t.csv the epoch is 4294967295"#),
        (
            refused("t.jsonl", "{\"id\":1,\"score\":1}\n{\"id\":1,\"epoch\":0,\"score\":1}"),
            r#"t.jsonl:1 the epoch is missing"#,
        ),
        (refused("t.csv", "id,epoch,score\nq1,,1\n"), r#"t.csv:2 "q1" the epoch is empty"#),
        (
            refused("t.jsonl", "{\"id\": \"q\", \"epoch\": 1.5, \"score\": 1}"),
            r#"t.jsonl:1 "q" the epoch is the number 1.5"#,
        ),
        (
            refused("t.jsonl", "{\"id\": \"q\", \"epoch\": -1, \"score\": 1}"),
            r#"t.jsonl:1 "q" the epoch is "-1""#,
        ),
        (
            refused("t.csv", "id,score\n\"q\n1\",1\nq2,1\n\"q\n1\",0\n"),
            r#"t.csv:5 "q\n1" epoch 1 of this sample is already on line 2"#,
        ),
        (
            refused("t.jsonl", "{\"id\":\"1\",\"score\":1}\n\n{\"id\":1,\"score\":1}"),
            r#"t.jsonl:3 "1" epoch 1 of this sample is already on line 1"#,
        ),
        (refused("t.csv", "id,score,a,a\n"), r#"t.csv:1 the column `a` occurs twice"#),
        (
            refused("t.jsonl", "{\"id\":1,\"score\":1,\"score\":2}"),
            r#"t.jsonl:1 "1" the column `score` occurs twice"#,
        ),
        (refused("t.csv", b"id,score\nq\xff,1\n"), r#"t.csv:2 the string in column `id` is not valid UTF-8"#),
        // UTF-16 is read, too.
        (
            refused("t.csv", b"\xff\xfei\0d\0"),
            r#"t.csv there is no score column `score` or `value`; columns found: `id`"#,
        ),
        (
            refused("t.jsonl", b"{\"id\":1,\"score\":1}\n{\"id\":\"\xff\"}"),
            "t.jsonl:2 the text is not valid UTF-8",
        ),
        (
            refused("t.jsonl", "{\"id\":1,\"score\":1}\n{\"id\":2,\"score\" 1}"),
            r#"t.jsonl:2 "2" this is not valid JSON: expected `:` at column 17"#,
        ),
        (
            refused("t.jsonl", "{\"id\":1,\"score\":1} x"),
            r#"t.jsonl:1 "1" this is not valid JSON: trailing characters at column 20"#,
        ),
        (
            refused("t.jsonl", "[1, 2]"),
            r#"t.jsonl:1 a line of the table is a JSON object, this one is a list"#,
        ),
        (refused("t.jsonl", "id,score\n"), r#"t.jsonl:1 this is not valid JSON: expected value at column 1"#),
        (
            refused("t.jsonl", "{\"score\":{\"a\":[1]},\"id\":\"q9\"}"),
            r#"t.jsonl:1 "q9" the score in `score` holds a list inside a list or map"#,
        ),
    ];
    for (found, wanted) in cases {
        assert_eq!(found, wanted);
    }
    let absent = read_table("no/such/file.csv", &TableOptions::new()).unwrap_err();
    assert_matches!(absent.kind(), TableErrorKind::Open(error) if error.kind() == std::io::ErrorKind::NotFound);
    // The words, once.
    let row = read("t.csv", "id,score,topic\nq1,1,a\nq2,1\n").unwrap_err();
    assert_eq!(
        message(&row),
        "t.csv:3: sample \"q2\": the row has 2 field(s), the header has 3; look for a missing or unquoted delimiter, or \
         a quote that is never closed"
    );
}

#[test]
fn names_from_a_file_cannot_play_with_a_terminal() {
    for (name, content) in [
        ("t.csv", "id,score,\u{1b}[31m,\u{1b}[31m\n1,1,,\n"),
        ("t.csv", "\u{1b}[31m,score\n1,1\n"),
        ("t.csv", "id,\u{1b}[31m\n1,1\n"),
        ("t.csv", "id,scorer,value\n1,\u{1b}[31m,1\n1,\u{1b}[31m,1\n"),
    ] {
        let message = message(&read(name, content).unwrap_err());
        assert!(!message.chars().any(char::is_control), "{message:?}");
    }
}

#[test]
fn line_numbers_count_every_line() {
    // Blank lines, quoted line breaks and both line ends lie before the row that is refused.
    for end in ["\n", "\r\n"] {
        let rows = ["id,score", "q1,1", "", "\"q", "2\",1", "", "", "q3,1", "", "q4"];
        assert_eq!(read("t.csv", rows.join(end)).unwrap_err().line(), Some(10), "{end:?}");
        let rows = ["id,score", "", "q1,1", "", "", "q1,0"];
        let error = read("t.csv", rows.join(end)).unwrap_err();
        assert_eq!(error.line(), Some(6), "{end:?}");
        assert_matches!(error.kind(), TableErrorKind::DuplicateRow { first: TableLocation::Line(3), .. });
        let json = ["{\"id\":1,\"score\":1}", "", " ", "{}"].join(end);
        assert_eq!(read("t.jsonl", json).unwrap_err().line(), Some(4), "{end:?}");
    }
}

#[test]
fn a_quote_that_is_never_closed_swallows_no_rows() {
    for (name, content) in [
        ("t.csv", "id,score,note\na,1,x\nb,0,\"open\nc,1,y\n"),
        ("t.csv", "id,score,note\na,1,x\nb,0,\"twice \"\" and open"),
        ("t.tsv", "id\tscore\na\t1\nb\t\"0\nc\t1\n"),
    ] {
        let error = read(name, content).unwrap_err();
        assert_eq!(error.line(), Some(3));
        assert_eq!(error.kind().to_string(), "a quote that opens in this row is never closed");
    }
    // Marks within a bare field are characters like any other, and closed quotes end where they end.
    let inches = read("t.csv", "id,score,note\na,1,\"said \"\"x\"\"\"\nb,0,5\" disk\n").unwrap();
    assert_eq!(metadata(&inches.columns, "score")[1], json!({"note": "5\" disk"}));
    assert_eq!(read("t.csv", "id,score\na,\"1\"").unwrap().columns.len(), 1);
}

#[cfg(not(feature = "parquet"))]
#[test]
fn parquet_needs_its_feature() {
    assert_matches!(read("t.parquet", "").unwrap_err().kind(), TableErrorKind::NoParquet);
}
