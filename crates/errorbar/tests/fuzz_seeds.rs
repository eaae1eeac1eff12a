//! The task files that the fuzzer starts from and those that it found, without a fuzzer: see `fuzz/README.md`.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::PathBuf;

#[path = "../../../fuzz/src/task.rs"]
#[allow(unreachable_pub, reason = "public in the crate of the fuzzer")]
mod task;

#[test]
fn task_files() {
    let folder: PathBuf =
        [env!("CARGO_MANIFEST_DIR"), "..", "..", "fuzz", "seeds", "task_file"].iter().collect();
    let mut paths: Vec<PathBuf> =
        std::fs::read_dir(&folder).unwrap().map(|file| file.unwrap().path()).collect();
    paths.sort();
    assert!(!paths.is_empty(), "no seeds in {}", folder.display());
    for path in paths {
        let bytes = std::fs::read(&path).unwrap();
        let run = std::panic::catch_unwind(|| task::task(&bytes));
        assert!(run.is_ok(), "{}", path.display());
    }
}
