//! Task files of any content: a task, or mistakes that all have a place in it.

use std::fs;
use std::sync::LazyLock;

use errorbar_core::Registry;
use errorbar_eval::{built_in_registry, load_task_file};

static REGISTRY: LazyLock<Registry> = LazyLock::new(built_in_registry);

const DATASET: &str = "id,question,answer,a,b\nq1,One?,A,x,y\nq2,Two?,B,x,y\n";
const OUTPUTS: &str = "{\"id\": \"q1\", \"output\": \"A\"}\n";

/// Reads these bytes as a task file, with a dataset and outputs beside it.
pub fn task(bytes: &[u8]) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("task.toml");
    for (name, content) in [("fine.csv", DATASET), ("outputs.jsonl", OUTPUTS)] {
        fs::write(folder.path().join(name), content).unwrap();
    }
    fs::write(&path, bytes).unwrap();
    let Err(error) = load_task_file(&path, &REGISTRY) else { return };
    assert!(!error.mistakes.is_empty(), "refused without a word");
    assert_eq!(error.path, path);
    for mistake in &error.mistakes {
        assert!(error.text.get(mistake.span.clone()).is_some(), "{mistake:?} has no place in the text");
        let before = error.text.get(..mistake.span.start).unwrap();
        assert_eq!(mistake.line, before.matches('\n').count() + 1, "{mistake:?}");
        assert!(mistake.column > 0 && !mistake.message.is_empty(), "{mistake:?}");
    }
}
