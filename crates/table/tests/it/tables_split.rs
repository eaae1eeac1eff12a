//! Tables that are split by a column, and those whose ids are in a column of another name.

use errorbar_core::MetadataKeys;
use errorbar_table::{ScoreTable, TableError, TableErrorKind, TableOptions, read_tables};
use errorbar_test_support::assert_matches;

fn split(name: &str, text: &str, options: &TableOptions) -> Result<Vec<ScoreTable>, TableError> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    std::fs::write(&path, text).unwrap();
    read_tables(&path, options)
}

/// The parts with their tasks and ids.
fn parts(tables: &[ScoreTable]) -> Vec<String> {
    let part = |table: &ScoreTable| {
        let ids: Vec<&str> = (0..table.columns.len()).map(|row| table.columns.id(row)).collect();
        format!(
            "{}/{}: {}",
            table.part.as_deref().unwrap_or("-"),
            table.task.as_deref().unwrap_or("-"),
            ids.join(" ")
        )
    };
    tables.iter().map(part).collect()
}

#[test]
fn a_table_for_each_value() {
    let by_model = TableOptions::new().metadata(MetadataKeys::NONE).split_by("model");
    let csv = "id,model,score\nx,wren,1\nx,owl,0\ny,wren,1\ny,owl,1\n";
    let expected = ["wren/-: x y", "owl/-: x y"];
    assert_eq!(parts(&split("t.csv", csv, &by_model).unwrap()), expected);
    let json: String = csv
        .lines()
        .skip(1)
        .map(|line| {
            let cells: Vec<&str> = line.split(',').collect();
            format!("{{\"id\": {:?}, \"model\": {:?}, \"score\": {}}}\n", cells[0], cells[1], cells[2])
        })
        .collect();
    assert_eq!(parts(&split("t.jsonl", &json, &by_model).unwrap()), expected);
    // Rows of scorers, and of several tasks with the same ids.
    let long = "id,model,task,scorer,value\nx,wren,a,m,1\nx,wren,b,m,0\nx,owl,b,m,1\nx,wren,a,n,1\n";
    let tables = split("t.csv", long, &by_model).unwrap();
    assert_eq!(parts(&tables), ["wren/a: x", "wren/b: x", "owl/b: x"]);
    assert_eq!(tables[0].columns.scorer_names().collect::<Vec<_>>(), ["m", "n"]);
    // A task that is fetched is metadata, and the ids of one part must differ.
    let grouped = by_model.clone().metadata(MetadataKeys::one("task"));
    assert_matches!(
        split("t.csv", long, &grouped).unwrap_err().kind(),
        TableErrorKind::DuplicateRow { scorer: Some(_), .. }
    );
}

/// A part lacks only the epochs that one of its own samples has.
#[test]
fn the_epochs_of_the_part_are_expected() {
    let by_model = TableOptions::new().split_by("model");
    let csv = "id,model,epoch,topic,score\nq,A,1,x,1\nq,A,2,x,0\nr,A,1,x,0\nq,B,1,y,1\n";
    let tables = split("t.csv", csv, &by_model).unwrap();
    let rows: Vec<_> = tables.iter().map(|table| (table.rows, table.columns.len())).collect();
    assert_eq!(rows, [(3, 4), (1, 1)]);
    let columns = &tables[0].columns;
    assert_eq!((columns.id(3), columns.epoch(3), columns.score(3, "score")), ("r", 2, None));
    // Logs are runs of their own, too.
    let csv = "log,id,scorer,epoch,value\na,q,m,1,1\na,q,m,2,0\nb,q,m,1,1\n";
    let tables = split("t.csv", csv, &TableOptions::new()).unwrap();
    assert_eq!(tables.iter().map(|table| table.columns.len()).collect::<Vec<_>>(), [2, 1]);
}

/// A task or model of all rows of a part is that of the part.
#[test]
fn a_label_is_constant_in_its_part() {
    let labels = |csv: &str, options: &TableOptions| -> Vec<(Option<String>, Option<String>)> {
        let options = options.clone().metadata(MetadataKeys::NONE);
        let tables = split("t.csv", csv, &options).unwrap();
        tables.into_iter().map(|table| (table.task, table.model)).collect()
    };
    let by_topic = TableOptions::new().split_by("topic");
    let some = |label: &str| Some(label.to_owned());
    let csv = "id,topic,task,model,score\n1,law,a,x,1\n2,law,a,y,1\n3,art,b,x,0\n4,art,,x,0\n";
    assert_eq!(labels(csv, &by_topic), [(some("a"), None), (None, some("x"))]);
    // Rows of scorers; and of logs, each of which has one task and model, or none.
    let csv = "id,topic,scorer,model,value\n1,law,s,x,1\n1,law,t,x,1\n2,art,s,y,0\n2,art,t,x,0\n";
    assert_eq!(labels(csv, &by_topic), [(None, some("x")), (None, None)]);
    assert_eq!(labels(csv, &TableOptions::new()), [(None, None)]);
    let csv = "log,id,task,model,score\na,1,s,x,1\nb,1,s,x,1\nb,2,t,x,0\n";
    assert_eq!(labels(csv, &TableOptions::new()), [(some("s"), some("x")), (None, some("x"))]);
    // Beyond the first block of rows.
    let rows: String = (0..70_000).map(|at| format!("{at},law,{},1\n", u8::from(at == 69_999))).collect();
    assert_eq!(labels(&format!("id,topic,model,score\n{rows}"), &by_topic), [(None, None)]);
}

/// `--by topic` is not `--by task`: tasks are tables of their own only if their ids would repeat.
#[test]
fn tasks_split_a_part_only_if_they_share_ids() {
    let by_topic = TableOptions::new().metadata(MetadataKeys::NONE).split_by("topic");
    let unique = "id,topic,task,score\n1,law,a,1\n2,law,b,1\n3,art,a,0\n";
    let tables = split("t.csv", unique, &by_topic).unwrap();
    assert_eq!(parts(&tables), ["law/-: 1 2", "art/a: 3"]);
    assert!(tables.iter().all(|table| !table.split_by_task));
    for (name, shared) in [
        ("t.csv", "id,topic,task,score\n1,law,a,1\n1,law,b,1\n3,art,a,0\n".to_owned()),
        (
            "t.jsonl",
            "{\"id\": 1, \"topic\": \"law\", \"task\": \"a\", \"score\": 1}\n\
                     {\"id\": 1, \"topic\": \"law\", \"task\": \"b\", \"score\": 1}\n\
                     {\"id\": 3, \"topic\": \"art\", \"task\": \"a\", \"score\": 1}\n"
                .to_owned(),
        ),
    ] {
        let tables = split(name, &shared, &by_topic).unwrap();
        assert_eq!(parts(&tables), ["law/a: 1", "law/b: 1", "art/a: 3"], "{name}");
        assert!(tables.iter().all(|table| table.split_by_task));
    }
    // Rows that repeat within a task are an error of the whole.
    let repeated = "id,topic,task,score\n1,law,a,1\n1,law,a,1\n3,art,a,0\n";
    assert_matches!(
        split("t.csv", repeated, &by_topic).unwrap_err().kind(),
        TableErrorKind::DuplicateRow { .. }
    );
}

#[test]
fn what_it_cannot_be_split_by() {
    let by = |column: &str| TableOptions::new().split_by(column);
    let csv = "id,model,score\nx,wren,1\nx,,0\n";
    assert_matches!(
        split("t.csv", csv, &by("modle")).unwrap_err().kind(),
        TableErrorKind::NoColumn { nearest: Some(_), .. }
    );
    let empty = split("t.csv", csv, &by("model")).unwrap_err();
    assert!(empty.kind().to_string().starts_with("the row has no value in the column `model`"), "{empty}");
    assert_matches!(split("t.csv", csv, &by("id")).unwrap_err().kind(), TableErrorKind::NotASplitColumn(_));
    let scores = by("model").score_columns(["model"]);
    let problem = "the column `model` cannot be a score: it identifies the rows";
    assert_eq!(split("t.csv", csv, &scores).unwrap_err().kind().to_string(), problem);
    let json = "{\"id\": \"x\", \"score\": 1}\n";
    assert_matches!(
        split("t.jsonl", json, &by("model")).unwrap_err().kind(),
        TableErrorKind::NoColumn { .. }
    );
}

/// The error names the column that the table is split by.
#[test]
fn too_many_parts() {
    let rows: String = (0..=10_000).map(|run| format!("q,m{run},1\n")).collect();
    for column in ["model", "log"] {
        let table = format!("id,{column},score\n{rows}");
        let error = split("t.csv", &table, &TableOptions::new().split_by(column)).unwrap_err();
        let text = format!(
            "the column `{column}` has more than 10000 different values, each of which would be a run"
        );
        assert_eq!(error.kind().to_string(), text);
    }
}

#[test]
fn ids_in_another_column() {
    let named = TableOptions::new().id_column("question");
    let ids = |name: &str, text: &str| parts(&split(name, text, &named).unwrap());
    assert_eq!(ids("t.csv", "question,id,score\nwho,7,1\nwhy,7,0\n"), ["-/-: who why"]);
    assert_eq!(ids("t.jsonl", "{\"question\": 3, \"score\": 1}\n"), ["-/-: 3"]);
    let missing = split("t.csv", "id,score\nx,1\n", &named);
    assert_matches!(missing.unwrap_err().kind(), TableErrorKind::NoColumn { wanted, .. } if *wanted == ["question"]);
}
