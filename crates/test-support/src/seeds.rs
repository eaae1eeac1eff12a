//! What the fuzzer starts from and what it found, without a fuzzer: see `fuzz/README.md`.

use crate::{file_names, workspace};

/// Runs every seed of a fuzz target; there must be some.
pub fn run_seeds(target: &str, run: impl Fn(&[u8])) {
    let folder = workspace().join("fuzz/seeds").join(target);
    let names = file_names(&folder);
    assert!(!names.is_empty(), "no seeds in {}", folder.display());
    for name in names {
        let bytes = std::fs::read(folder.join(&name)).unwrap();
        let run = std::panic::AssertUnwindSafe(|| run(&bytes));
        assert!(std::panic::catch_unwind(run).is_ok(), "seed {target}/{name}");
    }
}
