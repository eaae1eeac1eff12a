//! Parquet tables with checksums, one byte of which was changed: the same scores, or an error.
#![cfg(feature = "parquet")]

use std::path::Path;

use crate::parquet_files::{Cells, write_with};
use errorbar_core::{Plan, ScoreColumns};
use errorbar_table::{TableOptions, read_table};
use parquet::basic::{Compression, Encoding};
use parquet::file::properties::{WriterProperties, WriterVersion};

const ROWS: i64 = 400;

/// A wide table with the kinds of columns that tables have, and a score of each of several types.
fn tables(checksums: bool) -> Vec<(&'static str, Vec<u8>)> {
    let text = |text: String| Some(text.into_bytes());
    let ids = Cells::Texts((0..ROWS).map(|n| text(format!("sample-{n:05}"))).collect());
    let epochs = Cells::Ints((0..ROWS).map(|_| Some(1)).collect());
    let topics = Cells::Texts((0..ROWS).map(|n| text(format!("topic {}", n % 7))).collect());
    let doubles = Cells::Doubles((0..ROWS).map(|n| (n % 9 > 0).then(|| n as f64 / 8.0)).collect());
    let grades = Cells::Texts((0..ROWS).map(|n| text(["C", "I", "P"][n as usize % 3].to_owned())).collect());
    let ints = Cells::Longs((0..ROWS).map(|n| Some(n % 5)).collect());
    let fields = |score: &str| {
        format!("required binary id (UTF8); optional int32 epoch; {score}; optional binary topic (UTF8);")
    };
    let builder = WriterProperties::builder;
    let zstd = builder().set_compression(Compression::ZSTD(Default::default()));
    let plain = builder().set_dictionary_enabled(false).set_data_page_row_count_limit(100);
    let second =
        builder().set_writer_version(WriterVersion::PARQUET_2_0).set_compression(Compression::SNAPPY);
    let delta =
        builder().set_dictionary_enabled(false).set_column_encoding("id".into(), Encoding::DELTA_BYTE_ARRAY);
    let table = |score: &str, cells: &Cells, properties: WriterProperties| {
        let columns = [ids.clone(), epochs.clone(), cells.clone(), topics.clone()];
        write_with(&fields(score), &columns, 250, properties, checksums)
    };
    vec![
        ("zstd", table("optional double score", &doubles, zstd.build())),
        ("plain", table("optional double score", &doubles, plain.build())),
        ("second version", table("required binary score (UTF8)", &grades, second.build())),
        ("delta", table("required int64 score", &ints, delta.build())),
    ]
}

/// All that figures are made of.
fn digest(columns: &ScoreColumns) -> String {
    let rows = (0..columns.len()).map(|row| {
        let scores: Vec<_> = columns.scorer_names().map(|name| columns.score(row, name)).collect();
        format!("{} {} {scores:?}\n", columns.id(row), columns.epoch(row))
    });
    let figures =
        Plan::new().evaluate(columns).map(|evaluation| format!("{:?}", evaluation.results.scores[0].metrics));
    rows.collect::<String>() + &format!("{figures:?}")
}

fn read(path: &Path, bytes: &[u8]) -> Result<String, String> {
    std::fs::write(path, bytes).unwrap();
    read_table(path, &TableOptions::new())
        .map(|table| digest(&table.columns))
        .map_err(|error| error.to_string())
}

/// How many of the changed bytes give other scores without an error.
fn silent_changes(bytes: &[u8], path: &Path, places: impl Iterator<Item = usize>, xor: u8) -> Vec<usize> {
    let whole = read(path, bytes).unwrap();
    let changes = |at: &usize| {
        let mut changed = bytes.to_vec();
        changed[*at] ^= xor;
        read(path, &changed).is_ok_and(|digest| digest != whole)
    };
    places.filter(changes).collect()
}

/// Every how many bytes one is changed; `ERRORBAR_FLIPS=1` changes each.
fn step(bytes: &[u8]) -> usize {
    let wanted = std::env::var("ERRORBAR_FLIPS").ok().and_then(|step| step.parse().ok());
    wanted.unwrap_or(1 + bytes.len() / 200)
}

#[test]
fn a_changed_byte_of_a_table_with_checksums_is_an_error_or_changes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.parquet");
    let (mut silent, mut tried) = (Vec::new(), 0);
    for (name, bytes) in tables(true) {
        // Every single bit, and bytes that become others altogether.
        for (start, xor) in [1, 2, 4, 8, 16, 32, 64, 128, 0xff, 0x0e, 0x16].into_iter().enumerate() {
            let places = (start..bytes.len()).step_by(step(&bytes) * 4);
            tried += places.clone().count();
            let found = silent_changes(&bytes, &path, places, xor);
            silent.extend(found.into_iter().map(|at| (name, at, xor)));
        }
    }
    assert!(tried > 1000, "{tried}");
    assert!(silent.is_empty(), "{} of {tried}: {silent:?}", silent.len());
}

#[test]
fn without_checksums_changes_go_unnoticed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.parquet");
    let (name, bytes) = tables(false).swap_remove(1);
    let silent = silent_changes(&bytes, &path, (4..bytes.len()).step_by(97), 1);
    assert!(!silent.is_empty(), "{name}: nothing can be verified there, so this test sees nothing");
}
