//! Which field of a record is what: `input`, `target`, `choices`, `id`, `metadata`, `where` and `lookup`.

use std::collections::HashSet;

use errorbar_core::IndexMap;
use errorbar_core::spec::nearest;
use serde_json::Value as Json;

use crate::expression::{Expression, ExpressionError, ExpressionErrorKind};
use crate::task_file::options;
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
    /// The lookup tables, whose names must not be those of columns.
    tables: Vec<TomlField<'d>>,
}

impl<'d> FieldKeys<'d> {
    pub(super) fn read(field: TomlField<'d>, section: &TomlSection<'d>) -> Self {
        let before = field.file.mistakes.count();
        let (mut fields, named) = fields(section);
        let tables = section.get("lookup").and_then(tables).unwrap_or_default();
        fields.lookup =
            tables.iter().filter_map(|table| Some((table.key().to_owned(), entries(*table)?))).collect();
        let are_known = field.file.mistakes.count() == before;
        FieldKeys { fields, named, are_known, field, tables }
    }

    /// Reports everything that is wrong with the fields if the file has these columns: the reader stops at the first.
    /// `first` is what it found, `file` where.
    pub(super) fn report_missing(&self, first: &str, known: &[String], file: &str) {
        let before = self.field.file.mistakes.count();
        let columns: HashSet<&str> = known.iter().map(String::as_str).collect();
        for string in &self.named {
            let invalid = Expression::parse_with(string.value, &columns, &self.fields.lookup).err();
            for problem in invalid.into_iter().flat_map(|invalid| invalid.problems) {
                report(string, problem, file);
            }
        }
        if self.field.file.mistakes.count() == before && self.are_known {
            let near = did_you_mean(nearest(first, known.iter().map(String::as_str)));
            let advice = near.unwrap_or_else(|| format!("there are: {}", known.join(", ")));
            let hint = format!("name it, as in {first} = \"…\"; {advice}");
            self.field.report(format!("no field `{first}` in {file}"), Some(hint));
        }
    }

    /// Reports that an expression has no value for a record, at the part of it that has none.
    pub(super) fn report_value(&self, text: &str, error: &ExpressionError, message: String) {
        match self.named.iter().find(|string| string.value == text) {
            Some(string) => string.report(error.span.clone(), message, error.hint.clone()),
            None => self.field.report(message, error.hint.clone()),
        }
    }

    /// Reports lookup tables that are called as columns are.
    pub(super) fn check_tables(&self, columns: &[String]) -> bool {
        let taken: Vec<_> =
            self.tables.iter().filter(|table| columns.iter().any(|name| name == table.key())).collect();
        for table in &taken {
            let message = format!("the file has a column `{}`, so no table can be called so", table.key());
            table.report(message, Some("give the table another name".to_owned()));
        }
        taken.is_empty()
    }
}

fn report(string: &TomlString<'_>, problem: ExpressionError, file: &str) {
    let message = match &problem.kind {
        ExpressionErrorKind::UnknownColumn { name } => format!("no field `{name}` in {file}"),
        kind => kind.to_string(),
    };
    match problem.span == (0..string.value.len()) {
        true => string.file.mistakes.add(string.span.clone(), message, problem.hint),
        false => string.report(problem.span, message, problem.hint),
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
    let metadata = section.get("metadata").and_then(|field| match field.as_table() {
        Some(entries) => {
            let entry = |entry: TomlField<'d>| {
                let string = entry.string()?;
                named.push(string.clone());
                Some((entry.key().to_owned(), string.value.to_owned()))
            };
            all(entries.into_iter().map(entry))
        }
        None => {
            let strings = field.strings("a list of fields to keep, or a table of them")?;
            named.extend(strings.iter().flatten().cloned());
            let names = strings.into_iter().map(|string| string.map(|string| string.value.to_owned()));
            let names: Vec<String> = all(names)?;
            Some(names.into_iter().map(|name| (name.clone(), name)).collect::<IndexMap<_, _>>())
        }
    });
    let mut one = |key: &str| -> Option<String> {
        let string = section.get(key)?.string()?;
        named.push(string.clone());
        Some(string.value.to_owned())
    };
    let (input, id, filter) = (one("input"), one("id"), one("where"));
    (Fields { input, target, choices, id, metadata, filter, lookup: IndexMap::default() }, named)
}

const TABLES: &str = "a table of tables, such as { yes_no = { true = \"Yes\", false = \"No\" } }";

fn tables(field: TomlField<'_>) -> Option<Vec<TomlField<'_>>> {
    field.as_table().or_else(|| field.expected(TABLES))
}

/// The entries of a lookup table.
fn entries(table: TomlField<'_>) -> Option<Json> {
    let entries = table.as_table().or_else(|| table.expected(TABLES))?;
    let entries = entries.into_iter().map(|entry| Some((entry.key().to_owned(), options::json(entry)?)));
    all(entries).map(Json::Object)
}
