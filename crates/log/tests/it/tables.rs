//! Tables as people write them: what is read, and what is refused with which words.

use std::path::PathBuf;

use errorbar_core::{MetadataKeys, Metric, ScoreColumns, ScoreSet, Value, metric_fn};
use errorbar_log::{ScoreTable, TableError, TableOptions, read_table};
use serde_json::json;
use tempfile::TempDir;

/// A file with this content; it lives as long as the folder.
fn file(name: &str, content: impl AsRef<[u8]>) -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    std::fs::write(&path, content).unwrap();
    (folder, path)
}

fn read(name: &str, content: impl AsRef<[u8]>) -> Result<ScoreTable, TableError> {
    read_with(name, content, &TableOptions::new())
}

fn read_with(
    name: &str,
    content: impl AsRef<[u8]>,
    options: &TableOptions,
) -> Result<ScoreTable, TableError> {
    let (_folder, path) = file(name, content);
    read_table(&path, options)
}

/// The message, without the folder.
fn refused(name: &str, content: impl AsRef<[u8]>) -> String {
    refused_with(name, content, &TableOptions::new())
}

fn refused_with(name: &str, content: impl AsRef<[u8]>, options: &TableOptions) -> String {
    let (folder, path) = file(name, content);
    let message = read_table(&path, options).unwrap_err().to_string();
    message.replace(&format!("{}/", folder.path().display()), "")
}

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
    assert_eq!(counts(&table), (3, 2, 1));
    assert_eq!(table.columns.epoch(5), 2);
    let Value::Map(leaves) = &found[0].1 else { panic!("a map") };
    assert_eq!(leaves["b"], errorbar_core::Leaf::Unscored, "a NaN leaf is unscored, a null one is not");
    assert_eq!(leaves["c"], errorbar_core::Leaf::Null);
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
fn the_score_column_is_score_then_value_then_what_was_asked_for() {
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
fn only_the_metadata_asked_for_is_fetched() {
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
fn every_refusal_says_where_what_and_the_way_out() {
    let long = TableOptions::new().score_columns(["scor"]);
    let twice = TableOptions::new().score_columns(["a", "a"]);
    let id = TableOptions::new().score_columns(["id"]);
    let cases = [
        (refused("t.csv", ""), "t.csv: the file is empty; a table starts with a header"),
        (refused("t.jsonl", "\n \n"), "t.jsonl: the file is empty; "),
        (refused("t.eval", ""), "t.eval: this is an eval log, not a score table; "),
        (refused("t.json", "[]"), "t.json: this is an eval log, not a score table; "),
        (
            refused("t.xlsx", ""),
            "t.xlsx: unknown kind of table `.xlsx`; name it .csv, .tsv, .jsonl or .parquet",
        ),
        (refused("t", ""), "t: a table without an extension; name it .csv"),
        (
            refused("t.csv", "name,score\na,1\n"),
            "t.csv: there is no column `id`; columns found: `name`, `score`; ",
        ),
        (
            refused("t.csv", "id,points\na,1\n"),
            "t.csv: there is no score column `score` or `value`; columns found: `id`, `points`; name the column that holds the scores",
        ),
        (
            refused("t.jsonl", "{\"id\": 1, \"points\": 2}"),
            "t.jsonl: there is no score column `score` or `value`; columns found: `id`, `points`; ",
        ),
        (
            refused_with("t.csv", "id,score\na,1\n", &long),
            "t.csv: there is no score column `scor`; columns found: `id`, `score`; name the column that holds the scores",
        ),
        (
            refused_with("t.jsonl", "{\"id\":1,\"score\":1}", &long),
            "there is no score column `scor`; columns found: `id`, `score`; ",
        ),
        (refused_with("t.csv", "id,a\na,1\n", &twice), "the score column `a` is named twice; "),
        (refused_with("t.csv", "id,a\na,1\n", &id), "the column `id` cannot be a score: "),
        (
            refused("t.csv", "id,score,topic\nq1,1,a\nq2,1\n"),
            "t.csv:3: sample \"q2\": the row has 2 field(s), the header has 3; look for",
        ),
        (
            refused("t.csv", "id,score\nq1,1,9\n"),
            "t.csv:2: sample \"q1\": the row has 3 field(s), the header has 2; ",
        ),
        // Together the two rows have as many fields as one should have.
        (refused("t.csv", "id,score,a\nq1\nq2,1\n"), "t.csv:2: sample \"q1\": the row has 1 field(s)"),
        (refused("t.csv", "id,score\n,1\n"), "t.csv:2: the id is empty; "),
        (refused("t.jsonl", "{\"id\": \"\", \"score\": 1}"), "t.jsonl:1: the id is empty; "),
        (refused("t.jsonl", "{\"score\": 1}"), "t.jsonl:1: the id is missing; "),
        (refused("t.jsonl", "{\"id\": 1.5, \"score\": 1}"), "t.jsonl:1: the id is the number 1.5; "),
        (refused("t.jsonl", "{\"id\": [1], \"score\": 1}"), "t.jsonl:1: the id is a list; "),
        (
            refused("t.csv", "id,epoch,score\nq1,first,1\n"),
            "t.csv:2: sample \"q1\": the epoch is \"first\"; epochs are counted 1, 2, …",
        ),
        (refused("t.csv", "id,epoch,score\nq1,0,1\n"), "t.csv:2: sample \"q1\": the epoch is \"0\"; "),
        (refused("t.csv", "id,epoch,score\nq1,,1\n"), "t.csv:2: sample \"q1\": the epoch is empty; "),
        (
            refused("t.jsonl", "{\"id\": \"q\", \"epoch\": 1.5, \"score\": 1}"),
            "t.jsonl:1: sample \"q\": the epoch is the number 1.5; ",
        ),
        (refused("t.jsonl", "{\"id\": \"q\", \"epoch\": -1, \"score\": 1}"), "the epoch is \"-1\"; "),
        (
            refused("t.csv", "id,score\n\"q\n1\",1\nq2,1\n\"q\n1\",0\n"),
            "t.csv:5: sample \"q\\n1\": epoch 1 of this sample is already on line 2; number the runs",
        ),
        (
            refused("t.jsonl", "{\"id\":\"1\",\"score\":1}\n\n{\"id\":1,\"score\":1}"),
            "t.jsonl:3: sample \"1\": epoch 1 of this sample is already on line 1; ",
        ),
        (refused("t.csv", "id,score,a,a\n"), "t.csv:1: the column `a` occurs twice; rename or remove"),
        (
            refused("t.jsonl", "{\"id\":1,\"score\":1,\"score\":2}"),
            "t.jsonl:1: sample \"1\": the column `score` occurs twice; ",
        ),
        (
            refused("t.csv", b"id,score\nq\xff,1\n"),
            "t.csv:2: the text in column `id` is not valid UTF-8; save the table as UTF-8",
        ),
        (refused("t.csv", b"\xff\xfei\0d\0"), "t.csv:1: the text is not valid UTF-8; "),
        (
            refused("t.jsonl", b"{\"id\":1,\"score\":1}\n{\"id\":\"\xff\"}"),
            "t.jsonl:2: the text is not valid UTF-8; ",
        ),
        (
            refused("t.jsonl", "{\"id\":1,\"score\":1}\n{\"id\":2,\"score\" 1}"),
            "t.jsonl:2: sample \"2\": this is not valid JSON: expected `:` at column 17; write one object a line",
        ),
        (refused("t.jsonl", "{\"id\":1,\"score\":1} x"), "not valid JSON: trailing characters at column 20"),
        (
            refused("t.jsonl", "[1, 2]"),
            "t.jsonl:1: a line of the table is a JSON object, this one is a list; ",
        ),
        (refused("t.jsonl", "id,score\n"), "t.jsonl:1: this is not valid JSON"),
        (
            refused("t.jsonl", "{\"score\":{\"a\":[1]},\"id\":\"q9\"}"),
            "t.jsonl:1: sample \"q9\": the score in `score` holds a list inside a list or map; a score is a scalar",
        ),
    ];
    for (message, wanted) in cases {
        assert!(message.contains(wanted), "\n  said   {message}\n  wanted {wanted}");
    }
    let absent = read_table("no/such/file.csv", &TableOptions::new()).unwrap_err().to_string();
    assert!(absent.starts_with("no/such/file.csv: cannot open the file: "), "{absent}");
    assert!(absent.ends_with("; check the path"), "{absent}");
}

#[test]
fn names_from_a_file_cannot_play_with_a_terminal() {
    for (name, content) in [
        ("t.csv", "id,score,\u{1b}[31m,\u{1b}[31m\n1,1,,\n"),
        ("t.csv", "\u{1b}[31m,score\n1,1\n"),
        ("t.csv", "id,\u{1b}[31m\n1,1\n"),
        ("t.csv", "id,scorer,value\n1,\u{1b}[31m,1\n1,\u{1b}[31m,1\n"),
    ] {
        let message = refused(name, content);
        assert!(!message.chars().any(char::is_control), "{message:?}");
    }
}

#[test]
fn line_numbers_count_every_line() {
    // Blank lines, quoted line breaks and both line ends lie before the row that is refused.
    for end in ["\n", "\r\n"] {
        let rows = ["id,score", "q1,1", "", "\"q", "2\",1", "", "", "q3,1", "", "q4"];
        let message = refused("t.csv", rows.join(end));
        assert!(message.starts_with("t.csv:10: "), "{end:?}: {message}");
        let rows = ["id,score", "", "q1,1", "", "", "q1,0"];
        let message = refused("t.csv", rows.join(end));
        assert!(message.starts_with("t.csv:6: ") && message.contains("on line 3;"), "{end:?}: {message}");
        let json = ["{\"id\":1,\"score\":1}", "", " ", "{}"].join(end);
        let message = refused("t.jsonl", json);
        assert!(message.starts_with("t.jsonl:4: "), "{end:?}: {message}");
    }
}

#[test]
fn a_quote_that_is_never_closed_swallows_no_rows() {
    for (name, content) in [
        ("t.csv", "id,score,note\na,1,x\nb,0,\"open\nc,1,y\n"),
        ("t.csv", "id,score,note\na,1,x\nb,0,\"twice \"\" and open"),
        ("t.tsv", "id\tscore\na\t1\nb\t\"0\nc\t1\n"),
    ] {
        let message = refused(name, content);
        assert!(message.contains(":3:") && message.contains("never closed"), "{message}");
    }
    // Marks within a bare field are characters like any other, and closed quotes end where they end.
    let inches = read("t.csv", "id,score,note\na,1,\"said \"\"x\"\"\"\nb,0,5\" disk\n").unwrap();
    assert_eq!(metadata(&inches.columns, "score")[1], json!({"note": "5\" disk"}));
    assert_eq!(read("t.csv", "id,score\na,\"1\"").unwrap().columns.len(), 1);
}

#[cfg(not(feature = "parquet"))]
#[test]
fn parquet_needs_its_feature() {
    let message = refused("t.parquet", "");
    assert!(
        message.starts_with("t.parquet: this build of errorbar does not read Parquet; build it with"),
        "{message}"
    );
}
