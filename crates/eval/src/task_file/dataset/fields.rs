//! Which field of a record is what: `input`, `target`, `choices`, `id` and `metadata`.

use errorbar_core::spec::nearest;

use crate::task_file::section::{TomlField, TomlSection, all, did_you_mean};
use crate::task_file::text::TomlString;
use crate::{Fields, OneOrMany};

/// The fields of the file that a task file names.
pub(super) struct FieldKeys<'d> {
    /// The fields.
    pub(super) fields: Fields,
    /// The same with their places in the task file.
    pub(super) named: Vec<TomlString<'d>>,
    /// Whether they are named without mistakes.
    pub(super) are_known: bool,
    /// The section that names them.
    field: TomlField<'d>,
}

impl<'d> FieldKeys<'d> {
    pub(super) fn read(field: TomlField<'d>, section: &TomlSection<'d>) -> Self {
        let before = field.file.mistakes.count();
        let (fields, named) = fields(section);
        let are_known = field.file.mistakes.count() == before;
        FieldKeys { fields, named, are_known, field }
    }

    /// Reports every field that is named and absent: the reader stops at the first.
    pub(super) fn report_missing(&self, first: &str, known: &[String], file: &str) {
        let advice = |name: &str| {
            let near = did_you_mean(nearest(name, known.iter().map(String::as_str)));
            near.unwrap_or_else(|| format!("there are: {}", known.join(", ")))
        };
        let mistakes = &self.field.file.mistakes;
        let is_missing = |name: &&TomlString<'_>| known.iter().all(|known| known != name.value);
        let missing: Vec<&TomlString<'_>> = self.named.iter().filter(is_missing).collect();
        for name in &missing {
            let message = format!("no field `{}` in {file}", name.value);
            mistakes.add(name.span.clone(), message, Some(advice(name.value)));
        }
        if missing.is_empty() && self.are_known {
            let hint = format!("name it, as in {first} = \"…\"; {}", advice(first));
            self.field.report(format!("no field `{first}` in {file}"), Some(hint));
        }
    }
}

/// The fields of the file that are named, and the same with their places.
fn fields<'d>(section: &TomlSection<'d>) -> (Fields, Vec<TomlString<'d>>) {
    let mut named = Vec::new();
    let mut several = |key: &str, wanted: &str| -> Option<OneOrMany> {
        let field = section.get(key)?;
        let strings = field.strings(wanted)?;
        named.extend(strings.iter().flatten().cloned());
        let mut names: Vec<String> = all(strings.into_iter().map(|string| Some(string?.value.to_owned())))?;
        Some(match field.as_string() {
            Some(_) => OneOrMany::One(names.pop()?),
            None => OneOrMany::Many(names),
        })
    };
    let target = several("target", "the name of a field, or a list of names");
    let choices =
        several("choices", "a list with the field of each choice, or the field that holds them all");
    let metadata = several("metadata", "a list of fields to keep").map(|names| match names {
        OneOrMany::One(name) => vec![name],
        OneOrMany::Many(names) => names,
    });
    let mut one = |key: &str| -> Option<String> {
        let string = section.get(key)?.string()?;
        named.push(string.clone());
        Some(string.value.to_owned())
    };
    let (input, id) = (one("input"), one("id"));
    (Fields { input, target, choices, id, metadata }, named)
}
