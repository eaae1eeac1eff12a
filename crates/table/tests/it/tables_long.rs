//! Tables with a row per sample, epoch and scorer, as logs are exported: CSV, TSV and JSON lines.

use errorbar_core::{Leaf, MetadataKeys, Score, ScoreColumns, ScoreSet, Value};
use errorbar_table::{ScoreTable, TableOptions};
use serde_json::json;

use crate::table_support::{self, read_with, refused};

fn read(name: &str, content: &str) -> ScoreTable {
    table_support::read(name, content).unwrap()
}

fn scores(columns: &ScoreColumns, scorer: &str) -> Vec<Option<Score>> {
    (0..columns.len()).map(|row| columns.score(row, scorer)).collect()
}

fn values(columns: &ScoreColumns, scorer: &str) -> Vec<Option<Value>> {
    scores(columns, scorer).into_iter().map(|score| score.map(|score| score.value)).collect()
}

fn rows(columns: &ScoreColumns) -> Vec<(String, u32)> {
    (0..columns.len()).map(|row| (columns.id(row).to_owned(), columns.epoch(row))).collect()
}

const CSV: &str = "\
id,epoch,scorer,value,answer,explanation,reason,error,limit,topic
q1,1,match,C,42,\"as
it is\",,,,a
q1,1,judge,\"{\"\"a\"\": 1, \"\"b\"\": NaN}\",,,,,,a
q1,2,match,0.5,,,,,,a
q2,1,judge,\"[1, \"\"C\"\", null]\",,,,,token,b
q2,1,match,nan,,,refusal,,,b
q3,1,,,,,,out of memory,,
q1,2,judge,,,,,,,other
";

const JSONL: &str = r#"{"id":"q1","epoch":1,"scorer":"match","value":"C","answer":"42","explanation":"as\nit is","topic":"a"}
{"scorer":"judge","value":{"a":1,"b":NaN},"id":"q1","topic":"a"}
{"id":"q1","epoch":2,"scorer":"match","value":0.5,"topic":"a","error":null}

{"id":"q2","scorer":"judge","value":[1,"C",null],"limit":"token","topic":"b","error":""}
{"id":"q2","scorer":"match","value":NaN,"reason":"refusal","topic":"b"}
{"id":"q3","scorer":null,"value":null,"error":{"message":"out of memory"},"topic":null}
{"id":"q1","epoch":2,"scorer":"judge","topic":"other"}
"#;

#[test]
fn rows_of_one_sample_and_epoch_become_one() {
    for (name, content) in [
        ("t.csv", CSV.to_owned()),
        ("t.tsv", CSV.replace(", ", "; ").replace(',', "\t").replace("; ", ", ")),
        ("t.jsonl", JSONL.to_owned()),
    ] {
        let table = read(name, &content);
        let columns = &table.columns;
        // Two samples lack the second epoch.
        let wanted = [("q1", 1), ("q1", 2), ("q2", 1), ("q3", 1), ("q2", 2), ("q3", 2)];
        assert_eq!(rows(columns), wanted.map(|(id, epoch)| (id.to_owned(), epoch)), "{name}");
        assert_eq!(columns.scorer_names().collect::<Vec<_>>(), ["match", "judge"], "{name}: as they appear");
        let found = scores(columns, "match");
        assert_eq!(
            found[0],
            Some(Score::new("C").answer("42").explanation("as\nit is")),
            "{name}: what is recorded with a score"
        );
        assert_eq!(found[1], Some(Score::new(0.5)), "{name}");
        assert_eq!(found[2].as_ref().unwrap().value, Value::Unscored, "{name}");
        assert_eq!(found[2].as_ref().unwrap().reason.as_deref(), Some("refusal"), "{name}");
        assert_eq!(found[3], None, "{name}");
        let judged = values(columns, "judge");
        let Some(Value::Map(map)) = &judged[0] else { panic!("{name}: a map") };
        assert_eq!((&map["a"], &map["b"]), (&Leaf::Int(1), &Leaf::Unscored), "{name}");
        assert_eq!(judged[1], None, "{name}: no value is no score");
        assert_eq!(judged[2], Some(Value::List(vec![1.into(), "C".into(), Leaf::Null])), "{name}");
        assert_eq!(columns.errored(), 1, "{name}");
        let mut keys = table.metadata_keys;
        keys.sort();
        assert_eq!(keys, ["limit", "topic"], "{name}: what is neither score nor error");
    }
}

#[test]
fn the_first_row_of_a_sample_and_epoch_gives_the_metadata() {
    for (name, content) in [("t.csv", CSV), ("t.jsonl", JSONL)] {
        let options = TableOptions::new().metadata(MetadataKeys::one("topic"));
        let table = read_with(name, content, &options).unwrap();
        assert_eq!(table.columns.metadata_keys().collect::<Vec<_>>(), ["topic"], "{name}");
        let set = ScoreSet::unreduced(&table.columns, "match").unwrap();
        let scores = set.scores();
        let topics: Vec<_> =
            (0..scores.len()).map(|at| scores.sample_metadata(at)["topic"].clone()).collect();
        assert_eq!(topics, [json!("a"), json!("a")], "{name}");
    }
}

#[test]
fn the_score_is_value_then_score() {
    let both = "id,scorer,score,value\nq1,s,1,2\n";
    assert_eq!(values(&read("t.csv", both).columns, "s"), [Some(Value::Int(2))]);
    assert_eq!(read("t.csv", both).metadata_keys, ["score"]);
    assert_eq!(values(&read("t.csv", "id,scorer,score\nq1,s,1\n").columns, "s"), [Some(Value::Int(1))]);
    let json =
        "{\"id\":1,\"scorer\":\"s\",\"score\":1}\n{\"id\":2,\"scorer\":\"s\",\"value\":2,\"score\":3}\n";
    assert_eq!(values(&read("t.jsonl", json).columns, "s"), [None, Some(Value::Int(2))]);
}

#[test]
fn a_key_scorer_in_a_later_line_makes_the_table_long() {
    let json = "{\"id\":1,\"value\":null}\n{\"id\":2,\"value\":1,\"scorer\":\"s\"}\n";
    let table = read("t.jsonl", json);
    assert_eq!(table.columns.scorer_names().collect::<Vec<_>>(), ["s"]);
    assert_eq!(values(&table.columns, "s"), [None, Some(Value::Int(1))]);
}

#[test]
fn named_score_columns_make_the_scorer_metadata() {
    let options = TableOptions::new().score_columns(["points"]);
    for (name, content) in [
        ("t.csv", "id,scorer,points\nq1,me,3\n"),
        ("t.jsonl", "{\"id\":\"q1\",\"scorer\":\"me\",\"points\":3}\n"),
    ] {
        let table = read_with(name, content, &options).unwrap();
        assert_eq!(values(&table.columns, "points"), [Some(Value::Int(3))], "{name}");
        assert_eq!(table.metadata_keys, ["scorer"], "{name}");
    }
}

#[test]
fn scorers_and_samples_may_come_in_any_order() {
    let mut content = "id,scorer,value\n".to_owned();
    for scorer in ["b", "a"] {
        for id in [3, 1, 2] {
            content += &format!("{id},{scorer},{id}\n");
        }
    }
    let table = read("t.csv", &content);
    assert_eq!(rows(&table.columns).iter().map(|(id, _)| id.as_str()).collect::<Vec<_>>(), ["3", "1", "2"]);
    for scorer in ["b", "a"] {
        assert_eq!(values(&table.columns, scorer), [3, 1, 2].map(|n| Some(Value::Int(n))));
    }
}

#[test]
fn every_error_names_the_place_the_problem_and_the_way_out() {
    let many: String = (0..300).map(|n| format!("q,{n},1,s{n}\n")).collect();
    let cases = [
        (
            refused("t.csv", "id,scorer,value\nq1,s,1\n\nq2,s,1\nq1,s,\n"),
            r#"t.csv:5 "q1" epoch 1 of this sample by the scorer "s" is already on line 2"#,
        ),
        (
            refused(
                "t.jsonl",
                "{\"id\":1,\"scorer\":\"s\",\"value\":1}\n\n{\"id\":1,\"scorer\":\"s\",\"value\":2}",
            ),
            r#"t.jsonl:3 "1" epoch 1 of this sample by the scorer "s" is already on line 1"#,
        ),
        (
            refused("t.csv", "id,scorer,value\nq1,,\nq1,,\n"),
            r#"t.csv:3 "q1" epoch 1 of this sample by the scorer "" is already on line 2"#,
        ),
        (
            refused("t.csv", "id,scorer,value\nq1,,1\n"),
            r#"t.csv:2 "q1" the row has a score in `value`, but its `scorer` is empty"#,
        ),
        (
            refused("t.jsonl", "{\"id\":1,\"scorer\":null,\"value\":1}"),
            r#"t.jsonl:1 "1" the row has a score in `value`, but its `scorer` is empty"#,
        ),
        (refused("t.jsonl", "{\"id\":1,\"scorer\":5,\"value\":1}"), r#"t.jsonl:1 "1" the scorer is 5"#),
        (refused("t.jsonl", "{\"id\":1,\"scorer\":[],\"value\":1}"), r#"t.jsonl:1 "1" the scorer is a list"#),
        (
            refused("t.csv", "id,scorer,value\nq1,s,1\nq2,s,\"{\"\"a\"\": }\"\n"),
            r#"t.csv:3 "q2" the score in `value` starts like a list or map, but is not valid JSON: expected value at character 7"#,
        ),
        (
            refused("t.csv", "id,scorer,value\nq1,s,[[1]]\n"),
            r#"t.csv:2 "q1" the score in `value` holds a list inside a list or map"#,
        ),
        (
            refused("t.csv", "id,scorer\nq1,s\n"),
            r#"t.csv there is no score column `value` or `score`; columns found: `id`, `scorer`"#,
        ),
        (
            refused("t.csv", format!("id,epoch,value,scorer\n{}", many.replace("q,0,", "q,300,"))),
            r#"t.csv:258 "q" the column `scorer` names more than 256 scorers"#,
        ),
        (refused("t.csv", "id,scorer,value\n,s,1\n"), r#"t.csv:2 the id is empty"#),
        (refused("t.csv", "id,scorer,value,epoch\nq,s,1,x\n"), r#"t.csv:2 "q" the epoch is "x""#),
        (
            refused("t.csv", "id,scorer,value\nq,s\n"),
            r#"t.csv:2 "q" the row has 2 field(s), the header has 3"#,
        ),
        (
            refused("t.csv", "id,scorer,value\nq,s,\"1\nr,s,1\n"),
            "t.csv:2 a quote that opens in this row is never closed",
        ),
    ];
    for (found, wanted) in cases {
        assert_eq!(found, wanted);
    }
}
