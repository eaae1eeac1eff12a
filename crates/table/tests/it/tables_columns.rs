//! Which column of a table is what.

use errorbar_table::{TableErrorKind, TableOptions, WantedColumn, explain_table, read_table};

use crate::table_support::read_with;

fn options() -> TableOptions {
    TableOptions::new().number_rows(true)
}

#[test]
fn common_names_are_taken_if_their_cells_fit() {
    let text = "Question ID,attempt,passed,label\nq1,1,PASS,A\nq1,2,FAIL,A\nq2,1,PASS,B\nq2,2,NA,B\n";
    let table = read_with("t.csv", text, &options()).unwrap();
    assert_eq!(table.columns.scorer_names().collect::<Vec<_>>(), ["passed"]);
    assert_eq!((table.columns.id(1), table.columns.epoch(1)), ("q1", 2));
    assert!(!table.has_synthetic_ids);
    assert_eq!(table.mapping.id_columns, ["Question ID"]);
    assert_eq!(table.mapping.epoch_column.as_deref(), Some("attempt"));
    // The same in JSON lines.
    let lines = "{\"doc_id\": 1, \"acc\": 1.0}\n{\"doc_id\": 2, \"acc\": 0.0}\n";
    let table = read_with("t.jsonl", lines, &options()).unwrap();
    assert_eq!(table.columns.scorer_names().collect::<Vec<_>>(), ["acc"]);
    // A number of attempts is no epoch where no id repeats.
    let table = read_with("t.csv", "id,attempt,score\na,1,1\nb,3,0\n", &options()).unwrap();
    assert_eq!(table.mapping.epoch_column, None);
}

#[test]
fn the_id_is_what_tells_samples_apart() {
    let table = read_with("t.csv", "task_id,doc_id,score\n1,5,1\n1,6,0\n", &options()).unwrap();
    assert_eq!(table.mapping.id_columns, ["doc_id"]);
    let error = read_with("t.csv", "task_id,doc_id,score\n1,5,1\n2,6,0\n", &options()).unwrap_err();
    assert!(
        matches!(error.kind(), TableErrorKind::AmbiguousColumn { candidates, .. } if candidates.len() == 2)
    );
    // What a metric groups by is metadata.
    let grouped = options().metadata(errorbar_core::MetadataKeys::one("task_id"));
    let table = read_with("t.csv", "task_id,score\n1,1\n1,0\n", &grouped).unwrap();
    assert!(table.has_synthetic_ids);
}

/// As in Parquet.
#[test]
fn paths_lead_into_objects() {
    let lines = "{\"doc\": {\"id\": \"a\", \"run\": {\"n\": 1}, \"topic\": \"x\"}, \"scores\": {\"judge\": {\"value\": 0}, \"exact.1\": 1}}\n\
                 {\"doc\": {\"id\": \"b\", \"run\": {\"n\": 1}}, \"scores\": {\"judge\": {\"value\": 0.5}}}\n\
                 {\"doc\": {\"id\": \"a\", \"run\": {\"n\": 2}}, \"scores\": 7, \"late\": {\"x\": \"y\"}}\n";
    let options = TableOptions::new()
        .id_column("doc.id")
        .epoch_column("doc.run.n")
        .score_columns(["scores.judge.value", "scores.exact.1"])
        .metadata(errorbar_core::MetadataKeys::Only(vec!["doc.topic".to_owned(), "late.x".to_owned()]));
    let list = format!("[{}]", lines.trim_end().replace('\n', ","));
    for (name, text) in [("t.jsonl", lines), ("t.json", list.as_str())] {
        let columns = read_with(name, text, &options).unwrap().columns;
        let score = |row, scorer: &str| columns.score(row, scorer).map(|score| score.value);
        assert_eq!((columns.id(1), columns.epoch(2)), ("b", 2), "{name}");
        assert_eq!(score(0, "scores.judge.value"), Some(0.into()), "{name}");
        assert_eq!(score(1, "scores.judge.value"), Some(0.5.into()), "{name}");
        assert_eq!(score(2, "scores.judge.value"), None, "{name}");
        assert_eq!(score(0, "scores.exact.1"), Some(1.into()), "{name}");
        assert_eq!(columns.metadata_row(0)["doc.topic"], "x", "{name}");
        assert_eq!(columns.metadata_row(2)["late.x"], "y", "{name}");
    }
    // A value that is missing along the path.
    let error = read_with("t.jsonl", lines, &TableOptions::new().id_column("doc.uid")).unwrap_err();
    assert!(matches!(error.kind(), TableErrorKind::NoColumn { .. }));
    let twice = "{\"scores.a\": 1, \"scores\": {\"a\": 0}, \"id\": 1}\n";
    let error = read_with("t.jsonl", twice, &TableOptions::new().score_columns(["scores.a"])).unwrap_err();
    assert_eq!(error.kind().to_string(), "the column `scores.a` occurs twice");
}

#[test]
fn what_is_unclear_is_refused() {
    let refused = |text: &str| read_with("t.csv", text, &options()).unwrap_err();
    assert!(matches!(
        refused("id,resolved,acc\n1,true,1\n").kind(),
        TableErrorKind::AmbiguousColumn { role: WantedColumn::Score, .. }
    ));
    assert!(matches!(refused("id,correct\n1,A\n2,C\n").kind(), TableErrorKind::UnfitScoreColumns { .. }));
    assert!(matches!(refused("id,passed\n1,3\n").kind(), TableErrorKind::UnfitScoreColumns { .. }));
    assert!(matches!(
        refused("id,label\n1,1\n").kind(),
        TableErrorKind::NoColumn { role: WantedColumn::Score, .. }
    ));
    assert!(matches!(refused("x,epoch,score\n1,1,1\n").kind(), TableErrorKind::EpochsWithoutIds { .. }));
    assert!(matches!(
        refused("id,run,trial,score\n1,1,1,1\n1,2,1,0\n").kind(),
        TableErrorKind::AmbiguousColumn { role: WantedColumn::Epoch, .. }
    ));
}

#[test]
fn a_saved_mapping_reads_the_table_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.csv");
    std::fs::write(&path, "qid,run,model,passed\n1,0,x,yes\n1,1,x,no\n2,0,x,no\n2,1,x,no\n").unwrap();
    let first = read_table(&path, &options()).unwrap();
    let again = read_table(&path, &TableOptions::new().mapping(&first.mapping)).unwrap();
    assert_eq!(again.mapping, first.mapping);
    assert_eq!(again.columns.len(), first.columns.len());
    let found = explain_table(&path, &options()).unwrap();
    let roles: Vec<&str> = found.columns.iter().map(|column| column.role).collect();
    assert_eq!(roles, ["id", "epoch", "metadata", "score"]);
    assert_eq!(found.scores["passed"].values.len(), 2);
}
