//! `dataset`: where samples come from, which field of a record is what, how many samples and in which order.
//!
//! `source.rs` has the keys of the files and of the order, `fields.rs` those of the fields of a sample.

mod fields;
mod source;

use super::section::{Keys, TomlField, TomlSection, all};
use super::text::TomlString;
use crate::Dataset;

pub(super) const KEYS: Keys = &[
    "path",
    "format",
    "header",
    "columns",
    "delimiter",
    "subset",
    "split",
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
///
/// No more samples are read than `at_most`, if it is given.
pub(super) fn read(field: TomlField<'_>, at_most: Option<usize>) -> Option<Dataset> {
    let mistakes = &field.file.mistakes;
    let (section, paths) = match field.as_string() {
        Some(path) => (TomlSection::default(), Some(vec![path])),
        None => {
            let section = field.section(KEYS, "{ path = \"questions.csv\", input = \"question\" }")?;
            let path = section.get("path");
            if path.is_none() {
                let hint = "set where it is, relative to the task file: path = \"questions.csv\"";
                mistakes.missing(field.place(), "`dataset` has no `path`", hint);
            }
            (section, path.and_then(paths))
        }
    };
    let keys = source::SourceKeys::read(&section);
    let fields = fields::FieldKeys::read(field, &section);
    let are_known = fields.are_known;
    let source = source::DatasetSource { paths: paths?, fields, field, section };
    source.read(&keys, at_most).filter(|_| are_known)
}

/// One path or several.
fn paths(field: TomlField<'_>) -> Option<Vec<TomlString<'_>>> {
    let wanted = "a path in quotes, or a list of paths";
    let paths = field.strings(wanted)?;
    if paths.is_empty() { field.expected(wanted) } else { all(paths.into_iter()) }
}
