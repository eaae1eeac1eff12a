//! Field expressions in task files and in Rust.

use std::fs;
use std::path::PathBuf;

use crate::{
    Dataset, DatasetError, ExpressionErrorKind, Fields, Input, Sample, TaskFileError, built_in_registry,
    json_dataset, parse_task_file,
};
use serde::Deserialize;
use serde_json::{Value as Json, json};
use tempfile::TempDir;

fn write(name: &str, text: &str) -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    fs::write(&path, text).unwrap();
    (folder, path)
}

/// The samples of a task file whose `[dataset]` has these lines, over these records.
fn samples(fields: &str, records: &[Json]) -> Result<Vec<(String, Sample)>, TaskFileError> {
    let lines: String = records.iter().map(|record| format!("{record}\n")).collect();
    let (folder, _) = write("data.jsonl", &lines);
    let toml = format!("scorer = 'includes'\n[dataset]\npath = 'data.jsonl'\n{fields}\n");
    let task = parse_task_file(&toml, &folder.path().join("task.toml"), &built_in_registry())?;
    let samples = task.dataset.samples().unwrap().iter();
    Ok(samples.map(|(id, sample)| (id.to_string(), Sample::clone(sample))).collect())
}

/// The mistakes: place, message and hint, with the file's path as in the task file.
#[track_caller]
fn mistakes(fields: &str, records: &[Json]) -> Vec<String> {
    let error = samples(fields, records).expect_err(fields);
    let folder = error.path.parent().unwrap().display().to_string() + "/";
    error.to_string().replace(&folder, "").lines().map(|line| line.replacen("task.toml:", "", 1)).collect()
}

#[derive(Deserialize)]
struct Benchmark {
    name: String,
    fields: String,
    records: Vec<Json>,
    samples: Vec<ExpectedSample>,
}

#[derive(Deserialize)]
struct ExpectedSample {
    input: String,
    target: Json,
    choices: Option<Vec<String>>,
    id: String,
    metadata: Option<Json>,
}

/// Made-up records in the format of well-known datasets. The samples are those that the functions of inspect_evals 0.26.0
/// make of them; boolq has a prompt of ours.
#[test]
fn fields_of_benchmarks_give_the_samples_of_the_reference() {
    let benchmarks: Vec<Benchmark> =
        serde_json::from_str(include_str!("../../tests/data/benchmark_fields.json")).unwrap();
    assert_eq!(benchmarks.len(), 12);
    for Benchmark { name, fields, records, samples: expected } in benchmarks {
        let made = samples(&fields, &records).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(made.len(), expected.len(), "{name}");
        for ((id, sample), expected) in made.iter().zip(expected) {
            assert_eq!(sample.input, Input::Text(expected.input), "{name}");
            let targets: Vec<String> = match expected.target {
                Json::Array(targets) => serde_json::from_value(Json::Array(targets)).unwrap(),
                target => vec![target.as_str().unwrap().to_owned()],
            };
            assert_eq!(sample.target.as_slice(), targets, "{name}");
            assert_eq!(sample.choices, expected.choices.unwrap_or_default(), "{name}");
            assert_eq!(*id, expected.id, "{name}");
            let metadata = serde_json::to_value(&sample.metadata).unwrap();
            assert_eq!(metadata, expected.metadata.unwrap_or(json!({})), "{name}");
        }
    }
}

fn quiz() -> Vec<Json> {
    vec![
        json!({"question": "Q1", "lang": "en", "split": "test", "answer": 0, "options": "['a', 'b']", "yes": true}),
        json!({"question": "Q2", "lang": "de", "split": "test", "answer": 1, "options": "['a', 'b']", "yes": false}),
        json!({"question": "Q3", "lang": "en", "split": "train", "answer": 1, "options": "['a', 'b']", "yes": false}),
        json!({"question": "Q4", "lang": "en", "split": "test", "answer": 1, "options": "['c' 'd']", "yes": false}),
    ]
}

#[test]
fn records_are_kept_by_a_condition() {
    let fields = r#"
        input   = "question"
        target  = "letter(answer)"
        choices = "list(options)"
        id      = "{lang}-{lower(question)}"
        where   = "split == 'test' and lang == 'en'"
        metadata = { topic = "upper(lang)", constant = "'x'", number = "3", said = "words[yes]" }
        lookup  = { words = { true = "Yes", false = "No" } }
    "#;
    let samples = samples(fields, &quiz()).unwrap();
    let ids: Vec<&str> = samples.iter().map(|(id, _)| id.as_str()).collect();
    assert_eq!(ids, ["en-q1", "en-q4"]);
    let (_, last) = &samples[1];
    assert_eq!(
        (&*last.target.text(), last.choices.as_slice()),
        ("B", ["c".to_owned(), "d".to_owned()].as_slice())
    );
    let metadata = serde_json::to_value(&last.metadata).unwrap();
    assert_eq!(metadata, json!({"topic": "EN", "constant": "x", "number": 3, "said": "No"}));
}

#[test]
fn mistakes_have_their_place_in_the_task_file() {
    // Lines are counted from the first of the file, of which there are three above.
    assert_eq!(
        mistakes(
            "input = \"{qestion} ({lang})\"\ntarget = \"leter(answer, 1)\"\nwhere = 'split = 1'\nid = 'letter(answer, 1, 2, 3)'",
            &quiz()
        ),
        [
            "4:11: no field `qestion` in data.jsonl, line 1; did you mean `question`?",
            "5:11: no function `leter`; did you mean `letter`?",
            "6:16: expected ==, found '='; two values are compared with ==",
            "7:28: `letter` takes 3 arguments, found 4; it is letter(value, [choices], [start])",
        ]
    );
    assert_eq!(
        mistakes(
            "input = 'question'\nmetadata = { a = 'lang', b = 'langg + 1' }\nchoices = ['yes', 'lst(options)']",
            &quiz()
        ),
        [
            "5:31: no field `langg` in data.jsonl, line 1; did you mean `lang`?",
            "6:20: no function `lst`; did you mean `list`?",
        ]
    );
    assert_eq!(
        mistakes("input = 'question'\ntarget = 'A'", &quiz()),
        [
            "5:10: no field `A` in data.jsonl, line 1; there are: answer, lang, options, question, split, yes; constants are written in quotes: 'A'"
        ]
    );
}

#[test]
fn a_record_without_a_value_is_named() {
    assert_eq!(
        mistakes("input = 'question'\ntarget = \"['a'][answer]\"", &quiz()),
        ["5:11: data.jsonl, line 2: `target`: there is no item 1 in `['a']`, which has 1"]
    );
    assert_eq!(
        mistakes("input = 'question'\nwhere = 'answer == \"1\"'", &quiz())[0].split("; ").next().unwrap(),
        "5:10: data.jsonl, line 1: `where`: 0 is a number, and '1' is a string"
    );
    assert_eq!(
        mistakes("input = 'question'\nwhere = 'answer'", &quiz()),
        [
            "5:10: data.jsonl, line 1: `where`: the condition gives 0, not true or false; compare it with something, as in answer == 0"
        ]
    );
    assert_eq!(
        mistakes("input = 'question'\nwhere = 'answer > 1'", &quiz()),
        ["5:9: none of the 4 records of data.jsonl is used: the condition is false for all of them"]
    );
    assert_eq!(
        mistakes("input = 'question'\nchoices = 'options'", &quiz()),
        [
            "5:12: data.jsonl, line 1: `choices`: `options` is no list, but a string that holds one; read it: choices = \"list(options)\""
        ]
    );
}

#[test]
fn lookup_tables_are_tables_of_other_names_than_columns() {
    assert_eq!(
        mistakes("input = 'question'\nlookup = { lang = { en = 'English' } }", &quiz()),
        ["5:19: the file has a column `lang`, so no table can be called so; give the table another name"]
    );
    assert_eq!(
        mistakes("input = 'question'\nlookup = { names = 'x' }", &quiz()),
        [
            "5:20: `names`: expected a table of tables, such as { yes_no = { true = \"Yes\", false = \"No\" } }, found the string \"x\""
        ]
    );
    assert_eq!(
        mistakes(
            "input = 'question'\ntarget = 'name[lang]'\nlookup = { names = { en = 'English' } }",
            &quiz()
        ),
        ["5:11: no field `name` in data.jsonl, line 1; did you mean `names`?"]
    );
    assert_eq!(
        mistakes(
            "input = 'question'\ntarget = 'names[lang]'\nlookup = { names = { en = 'English' } }",
            &quiz()
        ),
        ["5:11: data.jsonl, line 2: `target`: there is no key `de` in `names`; there are: en"]
    );
}

/// The dataset of these fields over the quiz.
fn dataset(fields: Fields) -> Dataset {
    let lines: String = quiz().iter().map(|record| format!("{record}\n")).collect();
    let (folder, path) = write("data.jsonl", &lines);
    let dataset = json_dataset(path, fields.reader());
    dataset.samples().ok();
    drop(folder);
    dataset
}

#[test]
fn expressions_work_from_rust() {
    let fields = Fields::new()
        .input("{question} ({names[lang]})")
        .target("letter(answer)")
        .choices("list(options)")
        .lookup("names", [("en", "English"), ("de", "German")])
        .metadata(["lang"])
        .metadata_field("first", "question[0]")
        .filter("lang in names");
    let mut columns = fields.columns().unwrap();
    columns.sort();
    let possible =
        ["answer", "id", "lang", "lang in names", "letter(answer)", "list(options)", "options", "question"];
    assert_eq!(columns[..8], possible);
    let dataset = dataset(fields);
    let samples = dataset.samples().unwrap();
    assert_eq!(samples[1].1.input, Input::Text("Q2 (German)".to_owned()));
    assert_eq!(samples[1].1.metadata["first"], "Q");

    let wrong = self::dataset(Fields::new().input("question + 1").target("upper(answer)"));
    match wrong.samples() {
        Err(DatasetError::Expression { field, error, .. }) => {
            assert_eq!(field, "input");
            assert!(matches!(error.kind, ExpressionErrorKind::Other(_)), "{error}");
        }
        other => panic!("{other:?}"),
    }
    match self::dataset(Fields::new().input("questoin + 'x'").target("uper(answer)")).samples() {
        Err(DatasetError::Fields { invalid, known, .. }) => {
            assert_eq!(
                invalid.iter().map(|field| field.field.as_str()).collect::<Vec<_>>(),
                ["input", "target"]
            );
            assert_eq!(known.len(), 6);
        }
        other => panic!("{other:?}"),
    }
}

/// Records of JSON need not have the same fields.
#[test]
fn a_field_of_some_records_needs_a_default() {
    let records = [json!({"q": "a", "hint": "x"}), json!({"q": "b"}), json!({"q": "c", "hint": null})];
    let hints = |fields: &str| -> Vec<String> {
        samples(fields, &records)
            .unwrap()
            .iter()
            .map(|(_, sample)| sample.target.text().into_owned())
            .collect()
    };
    assert_eq!(hints("input = 'q'\ntarget = \"default(hint, '-')\""), ["x", "-", "-"]);
    assert_eq!(
        mistakes("input = 'q'\ntarget = \"hint + '!'\"", &records),
        ["5:11: data.jsonl, line 2: `target`: there is no field `hint` in this record"]
    );
    assert_eq!(
        mistakes("input = 'q {hint}'", &records[..2]),
        ["4:13: data.jsonl, line 2: `input`: there is no field `hint` in this record"]
    );
}

/// Values of the wrong kind are reported at the field that names them, with the way out.
#[test]
fn values_of_the_wrong_kind_have_their_place() {
    let squad = [
        json!({"question": "Q", "answers": {"text": ["a"], "start": [1]}, "choices": ["x", "y"], "none": null, "ok": "True"}),
    ];
    for (fields, expected) in [
        (
            "input = 'question'\ntarget = 'answers'",
            "5:11: data.jsonl, line 1: `target`: `answers` is a map with the keys text, start, and not a string; did you mean answers.text?",
        ),
        (
            "input = 'answers'",
            "4:10: data.jsonl, line 1: `input`: `answers` is a map with the keys text, start, and not a string; did you mean answers.text?",
        ),
        (
            "input = 'question'\nchoices = ['choices']",
            "5:13: data.jsonl, line 1: `choices`: `choices` holds a list, and each field here is one string; write choices = \"choices\"",
        ),
        (
            "input = 'none'",
            "4:10: data.jsonl, line 1: `input`: `none` is null; default(none, '') gives another value in place of it",
        ),
        (
            "input = 'question'\nid = 'none'",
            "5:7: data.jsonl, line 1: `id`: `none` is null; default(none, '…') gives another value in place of it",
        ),
        (
            "input = 'question'\nwhere = 'ok'",
            "5:10: data.jsonl, line 1: `where`: the condition gives 'True', not true or false; compare it with something, as in ok == 'True'",
        ),
    ] {
        assert_eq!(mistakes(fields, &squad), [expected], "{fields}");
    }
}

/// A split of one file would be all of it: the examples would be questions of the test.
#[test]
fn a_split_of_one_file_and_a_folder_that_is_not_there() {
    let (folder, _) =
        write("test.jsonl", "{\"input\": \"a\", \"target\": \"b\"}\n{\"input\": \"c\", \"target\": \"d\"}\n");
    fs::create_dir(folder.path().join("data")).unwrap();
    for (lines, expected) in [
        (
            "dataset = 'test.jsonl'\nfew_shot = { split = 'train', count = 1 }\nscorer = 'includes'",
            "2:22: `split` chooses among the files of a folder or a pattern, and test.jsonl is one file; remove `split`, or name the file or folder that has it as `path`",
        ),
        (
            "dataset = 'dataa'\nscorer = 'includes'",
            "1:11: cannot read the dataset dataa: No such file or directory (os error 2); did you mean `data`?",
        ),
    ] {
        let path = folder.path().join("task.toml");
        let error = parse_task_file(lines, &path, &built_in_registry()).unwrap_err().to_string();
        let error = error.replace(&(folder.path().display().to_string() + "/"), "");
        assert_eq!(error, format!("task.toml:{expected}"));
    }
}
