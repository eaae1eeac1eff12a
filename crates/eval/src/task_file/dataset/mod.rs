//! `dataset`: where samples come from, which field of a record is what, how many samples and in which order.
//!
//! `source.rs` has the keys of the files and of the order, `fields.rs` those of the fields of a sample.

mod fields;
mod source;

use super::section::{Keys, TomlField, TomlSection};
use crate::Dataset;

pub(super) const KEYS: Keys = &[
    "path",
    "format",
    "input",
    "target",
    "choices",
    "id",
    "metadata",
    "where",
    "lookup",
    "limit",
    "shuffle",
    "shuffle_choices",
];

/// The dataset, if there is one whose samples can be used. A mistake in one key keeps none of the others from being
/// checked, nor the file.
pub(super) fn read(field: TomlField<'_>) -> Option<Dataset> {
    let mistakes = &field.file.mistakes;
    let (section, path) = match field.as_string() {
        Some(path) => (TomlSection::default(), Some(path)),
        None => {
            let section = field.section(KEYS, "{ path = \"questions.csv\", input = \"question\" }")?;
            let path = section.get("path");
            if path.is_none() {
                let hint = "set where it is, relative to the task file: path = \"questions.csv\"";
                mistakes.missing(field.place(), "`dataset` has no `path`", hint);
            }
            (section, path.and_then(|path| path.string()))
        }
    };
    let keys = source::SourceKeys::read(&section);
    let fields = fields::FieldKeys::read(field, &section);
    let are_known = fields.are_known;
    let source = source::DatasetSource { path: path?, fields, field, section };
    source.read(&keys).filter(|_| are_known)
}
