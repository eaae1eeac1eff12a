//! Score tables of any bytes: read, or refused with the file, a line that it has and the way out.

use std::fs;

use errorbar_core::Plan;
use errorbar_table::{TableOptions, read_table};

use super::folder::folder;

/// Reads these bytes as a table; the extension of the name is that of their format.
pub fn table(name: &str, bytes: &[u8]) {
    let folder = folder();
    let path = folder.path().join(name);
    fs::write(&path, bytes).unwrap();
    let lines = bytes.iter().filter(|byte| **byte == b'\n').count() as u64 + 1;
    let is_text = !name.ends_with("parquet");
    for options in [TableOptions::new(), TableOptions::new().score_columns(["score", "topic"])] {
        match read_table(&path, &options) {
            Ok(table) => {
                let _ = Plan::new().evaluate(&table.columns);
            }
            Err(error) => {
                let text = error.to_string();
                assert_eq!(error.path(), path);
                assert!(!error.hint().is_empty(), "{text}");
                assert!(text.chars().all(|c| !c.is_control()), "control characters in an error: {text:?}");
                let is_line = |line: u64| !is_text || (1..=lines).contains(&line);
                assert!(error.line().is_none_or(is_line), "there is no such line: {text}");
            }
        }
    }
}
