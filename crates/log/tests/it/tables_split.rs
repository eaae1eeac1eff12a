//! Tables that are split by a column, and those whose ids are in a column of another name.

use errorbar_core::MetadataKeys;
use errorbar_log::{ScoreTable, TableError, TableErrorKind, TableOptions, read_tables};
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
        TableErrorKind::DuplicateScore { .. }
    );
}

/// A part lacks the epochs that only others have.
#[test]
fn the_epochs_of_all_parts_are_expected() {
    let by_model = TableOptions::new().split_by("model");
    let csv = "id,model,epoch,topic,score\nq,A,1,x,1\nq,A,2,x,0\nq,B,1,y,1\n";
    let tables = split("t.csv", csv, &by_model).unwrap();
    let rows: Vec<_> = tables.iter().map(|table| (table.rows, table.columns.len())).collect();
    assert_eq!(rows, [(2, 2), (1, 2)]);
    let columns = &tables[1].columns;
    assert_eq!((columns.epoch(1), columns.score(1, "score")), (2, None));
    // Logs are runs of their own.
    let csv = "log,id,scorer,epoch,value\na,q,m,1,1\na,q,m,2,0\nb,q,m,1,1\n";
    let tables = split("t.csv", csv, &TableOptions::new()).unwrap();
    assert_eq!(tables.iter().map(|table| table.columns.len()).collect::<Vec<_>>(), [2, 1]);
}

#[test]
fn what_it_cannot_be_split_by() {
    let by = |column: &str| TableOptions::new().split_by(column);
    let csv = "id,model,score\nx,wren,1\nx,,0\n";
    assert_matches!(
        split("t.csv", csv, &by("modle")).unwrap_err().kind(),
        TableErrorKind::NoSplitColumn { nearest: Some(_), .. }
    );
    assert_matches!(split("t.csv", csv, &by("model")).unwrap_err().kind(), TableErrorKind::EmptySplit(_));
    assert_matches!(split("t.csv", csv, &by("id")).unwrap_err().kind(), TableErrorKind::NotASplitColumn(_));
    let scores = by("model").score_columns(["model"]);
    assert_matches!(split("t.csv", csv, &scores).unwrap_err().kind(), TableErrorKind::NotAScoreColumn(_));
    let json = "{\"id\": \"x\", \"score\": 1}\n";
    assert_matches!(
        split("t.jsonl", json, &by("model")).unwrap_err().kind(),
        TableErrorKind::NoSplitColumn { .. }
    );
}

#[test]
fn ids_in_another_column() {
    let named = TableOptions::new().id_column("question");
    let ids = |name: &str, text: &str| parts(&split(name, text, &named).unwrap());
    assert_eq!(ids("t.csv", "question,id,score\nwho,7,1\nwhy,7,0\n"), ["-/-: who why"]);
    assert_eq!(ids("t.jsonl", "{\"question\": 3, \"score\": 1}\n"), ["-/-: 3"]);
    let missing = split("t.csv", "id,score\nx,1\n", &named);
    assert_matches!(missing.unwrap_err().kind(), TableErrorKind::NoIdColumn { name, .. } if name == "question");
}
