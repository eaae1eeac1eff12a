//! What the examples share: the dataset, the prompt and the recorded answers. All of it is made up.

use std::path::Path;

use errorbar::eval::{Dataset, ModelChoice};
use errorbar::prelude::*;

/// The folder of this crate, in which the data is.
const FOLDER: &str = env!("CARGO_MANIFEST_DIR");

/// What every task on these questions tells the model first.
pub const SYSTEM_MESSAGE: &str = "You answer questions about physics, chemistry and biology.";

/// The questions of a file in this folder, with their category as metadata.
pub fn read_gpqa_dataset(file: &str) -> Dataset {
    csv_dataset(Path::new(FOLDER).join(file), |row| {
        Sample::new(&row["question"])
            .choices(["a", "b", "c", "d"].map(|column| &row[column]))
            .target(&row["answer"])
            .metadata("category", &row["category"])
    })
}

/// Answers that were recorded in a file in this folder, so that every example runs without a model.
pub fn recorded(file: &str) -> ModelChoice {
    ModelChoice::relative_to(Path::new(FOLDER), format!("replay/{file}"))
}
