//! However rows are cut into blocks, what is built of them is the same.

use proptest::prelude::*;
use serde_json::Value as Json;

use super::*;
use crate::input::InputBytes;
use crate::{TableLimits, TableOptions};

/// A row of a table in the long form.
#[derive(Clone, Debug)]
struct Row {
    part: u8,
    scorer: Option<u8>,
    id: u8,
    epoch: u32,
    value: Option<Value>,
    topic: Option<u8>,
    answer: Option<u8>,
    errored: bool,
}

use errorbar_core::Value;

fn rows() -> impl Strategy<Value = Vec<Row>> {
    let value = prop_oneof![
        Just(None),
        (0..3i64).prop_map(|int| Some(Value::Int(int))),
        Just(Some(Value::Float(0.5))),
        Just(Some(Value::Unscored)),
        prop::sample::select(vec!["C", "I", "P"]).prop_map(|grade| Some(Value::from(grade))),
        (0..3u8).prop_map(|key| Some(Value::map([(format!("k{key}"), 1)]))),
    ];
    let option = || prop::option::of(0..4u8);
    let row = (
        0..3u8,
        prop::option::weighted(0.9, 0..3u8),
        0..9u8,
        0..4u32,
        value,
        option(),
        option(),
        any::<bool>(),
    );
    let row = row.prop_map(|(part, scorer, id, epoch, value, topic, answer, errored)| {
        let value = value.filter(|_| scorer.is_some());
        Row { part, scorer, id, epoch, value, topic, answer, errored }
    });
    prop::collection::vec(row, 1..60)
}

fn block(rows: &[Row]) -> ColumnBlock {
    let mut block = ColumnBlock::new(1, 1);
    for (at, row) in rows.iter().enumerate() {
        block.ids.push(&format!("sample {}", row.id));
        block.epochs.push(row.epoch);
        block.labels.parts.push_text(&format!("part {}", row.part));
        match row.scorer {
            Some(scorer) => block.labels.scorers.push_text(&format!("scorer {scorer}")),
            None => block.labels.scorers.push_absent(),
        }
        match row.topic {
            Some(topic) => block.metadata[0].push_text(&format!("topic {topic}")),
            None => block.metadata[0].push(&Json::Null),
        }
        match row.answer {
            Some(answer) => block.details.answers.push_text(&format!("answer {answer}")),
            None => block.details.answers.push_absent(),
        }
        block.scores[0].push(row.value.clone());
        if row.errored {
            block.errored.push(at as u32);
        }
    }
    block
}

/// All that tables hold; of an error, what and where it is.
fn built(layout: &TableLayout, rows: &[Row], cuts: &[usize]) -> Result<Vec<String>, String> {
    let budget = TableLimits::default().budget(&InputBytes::from_memory(Vec::new()), 0);
    let mut builder = TableBuilder::of_blocks(budget, cuts.len());
    let mut start = 0;
    for cut in cuts.iter().copied().chain([rows.len()]) {
        let end = (start + cut).min(rows.len());
        let error =
            |error: TableError| format!("{:?} {:?} {:?}", error.location(), error.sample(), error.kind());
        builder.append(layout, &mut block(&rows[start..end]), &RowLocations::default()).map_err(error)?;
        start = end;
    }
    let tables =
        builder.finish(layout).map_err(|e| format!("{:?} {:?} {:?}", e.location(), e.sample(), e.kind()))?;
    let mut found = Vec::new();
    for table in &tables {
        let columns = &table.columns;
        let scorers: Vec<&str> = columns.scorer_names().collect();
        found.push(format!("{:?} {scorers:?} {} {}", table.log, columns.errored(), table.epochs_from_zero));
        for row in 0..columns.len() {
            let scores: Vec<_> = scorers.iter().map(|scorer| columns.score(row, scorer)).collect();
            found.push(format!(
                "{} {} {:?} {scores:?}",
                columns.id(row),
                columns.epoch(row),
                columns.metadata_row(row)
            ));
        }
    }
    Ok(found)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(300) })]

    #[test]
    fn any_cut_into_blocks_gives_what_one_block_gives(
        rows in rows(),
        cuts in prop::collection::vec(0..9usize, 0..20),
        unique in any::<bool>(),
    ) {
        let mut rows = rows;
        if unique {
            // Mostly some row is there twice, and then all that is compared is the error.
            let mut seen = std::collections::HashSet::new();
            rows.retain(|row| seen.insert((row.part, row.scorer, row.id, row.epoch)));
        }
        for (names, split) in [
            (vec!["log", "id", "epoch", "scorer", "value", "topic", "answer", "error"], true),
            (vec!["id", "epoch", "scorer", "value", "topic", "answer", "error"], false),
            (vec!["log", "id", "epoch", "score", "topic", "answer", "error"], true),
            (vec!["id", "epoch", "score", "topic"], false),
        ] {
            let mut options = TableOptions::new();
            if split {
                options = options.split_by("log");
            }
            let layout = TableLayout::new(&names, &options).unwrap();
            let whole = built(&layout, &rows, &[]);
            prop_assert_eq!(&built(&layout, &rows, &cuts), &whole, "{:?}", names);
            if unique && split && names.contains(&"scorer") {
                prop_assert!(whole.is_ok(), "{:?}", whole);
            }
        }
    }
}
