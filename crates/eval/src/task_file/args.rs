//! `args`: what a task can be given from outside, and `${name}` in the strings of the file.
//!
//! A name in templates is `{name}`, so `${name}` means something else in every string of the file. It is filled in only in
//! files that declare arguments; elsewhere a string is what it is.

use std::borrow::Cow;
use std::ops::Range;

use errorbar_core::Metadata;
use errorbar_core::spec::nearest;
use serde_json::Value as Json;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::mistake::TaskLoadError;
use super::section::{Keys, TASK_KEYS, TaskFile, TomlField, TomlString, did_you_mean, fields, integer};
use super::{few_shot, options};

/// The keys of an argument that is more than its default.
const KEYS: Keys = &["default", "choices", "doc"];

/// An argument that a task file declares.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct TaskArgument {
    /// Its name.
    pub name: String,
    /// Its value unless another one is given, which must be of the same type.
    pub default: Json,
    /// The values that it may have; any, if empty.
    pub choices: Vec<Json>,
    /// What it is for.
    pub doc: Option<String>,
}

/// The arguments of one task, with their values.
#[derive(Debug, Default)]
pub(super) struct TaskArguments<'t> {
    pub(super) declared: Vec<TaskArgument>,
    values: Vec<(String, DeValue<'t>)>,
    /// Those that were given.
    pub(super) passed: Metadata,
}

impl<'t> TaskArguments<'t> {
    /// The arguments that a table declares. One that was not understood is reported and left out.
    pub(super) fn declared<'d>(file: &'d TaskFile<'d>, declared: Option<&'d Spanned<DeValue<'t>>>) -> Self
    where
        't: 'd,
    {
        let mut arguments = TaskArguments::default();
        let Some(value) = declared else { return arguments };
        let DeValue::Table(table) = value.get_ref() else {
            let hint = "the name of each and its default: args = { subject = \"law\" }".to_owned();
            file.mistakes.add(value.span(), "`args`: expected a table", Some(hint));
            return arguments;
        };
        for field in fields(file, table) {
            let Some((argument, default)) = argument(field, table) else { continue };
            arguments.values.push((argument.name.clone(), default));
            arguments.declared.push(argument);
        }
        arguments
    }

    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.declared.iter().map(|argument| argument.name.as_str())
    }

    /// Gives arguments other values; what only other tasks of the file declare is left to them.
    pub(super) fn pass(&mut self, given: &'t [GivenArgument]) -> Result<(), TaskLoadError> {
        for given in given {
            let name = &given.name;
            let declared = self.declared.iter().find(|argument| argument.name == *name);
            let slot = self.values.iter_mut().find(|(known, _)| known == name);
            let (Some(declared), Some((_, slot))) = (declared, slot) else { continue };
            let refuse = |expected: String| TaskLoadError::ArgumentValue {
                name: name.clone(),
                value: given.text.clone(),
                expected,
            };
            let value = given.like(slot).and_then(|value| Some((recorded(&value)?, value)));
            let Some((json, value)) = value else { return Err(refuse(kind_in_words(slot).to_owned())) };
            if !declared.choices.is_empty() && !declared.choices.contains(&json) {
                let choices: Vec<String> = declared.choices.iter().map(text_of).collect();
                return Err(refuse(format!("one of {}", choices.join(", "))));
            }
            *slot = value;
            self.passed.insert(name.clone(), json);
        }
        Ok(())
    }

    /// All values, as logs record them.
    pub(super) fn all(&self) -> Metadata {
        let value = |argument: &TaskArgument| {
            let passed = self.passed.get(&argument.name).unwrap_or(&argument.default);
            (argument.name.clone(), passed.clone())
        };
        self.declared.iter().map(value).collect()
    }

    /// Fills the values into all strings of a table.
    pub(super) fn fill_in(&self, file: &TaskFile<'_>, table: &mut DeTable<'t>) {
        if self.declared.is_empty() {
            return;
        }
        for (_, value) in table.iter_mut() {
            self.fill_value(file, value);
        }
    }

    fn fill_value(&self, file: &TaskFile<'_>, value: &mut Spanned<DeValue<'t>>) {
        let span = value.span();
        let filled = match value.get_mut() {
            DeValue::Array(items) => {
                items.iter_mut().for_each(|item| self.fill_value(file, item));
                None
            }
            DeValue::Table(table) => {
                self.fill_in(file, table);
                None
            }
            DeValue::String(text) => self.filled(text, |part, message, hint| {
                let string = TomlString { value: text, span: span.clone(), file };
                file.mistakes.add(string.place(part), message, hint);
            }),
            _ => None,
        };
        if let Some(filled) = filled {
            *value = located(filled, &span);
        }
    }

    /// The string with its names filled in, if it has any; a name alone is the value itself, of whatever type.
    fn filled(
        &self,
        text: &str,
        report: impl Fn(Range<usize>, String, Option<String>),
    ) -> Option<DeValue<'t>> {
        let mut out = String::new();
        let mut has_changed = false;
        let mut at = 0;
        while let Some(found) = text.get(at..)?.find("${").map(|found| at + found) {
            // `$${` is a plain `${`.
            if text.get(..found)?.ends_with('$') {
                out.push_str(text.get(at..found - 1)?);
                out.push_str("${");
                (at, has_changed) = (found + 2, true);
                continue;
            }
            let behind = text.get(found + 2..)?;
            let name = behind.split_once('}').map(|(name, _)| name).filter(|name| is_name(name));
            let Some(name) = name else {
                out.push_str(text.get(at..found + 2)?);
                at = found + 2;
                continue;
            };
            let end = found + name.len() + 3;
            let place = found..end;
            match self.values.iter().find(|(known, _)| known == name).map(|(_, value)| value) {
                Some(value) if place == (0..text.len()) => return Some(value.clone()),
                Some(DeValue::Array(_)) => {
                    let hint = "leave out what stands around it, or give it as a string".to_owned();
                    report(place, format!("the argument `{name}` is a list"), Some(hint));
                }
                Some(value) => {
                    out.push_str(text.get(at..found)?);
                    out.push_str(&plain_text(value));
                    (at, has_changed) = (end, true);
                    continue;
                }
                None => {
                    let hint = did_you_mean(nearest(name, self.names())).unwrap_or_else(|| {
                        let names: Vec<&str> = self.names().collect();
                        format!("`args` has: {}; a plain `${{` is written `$${{`", names.join(", "))
                    });
                    report(place, format!("unknown argument `{name}`"), Some(hint));
                }
            }
            out.push_str(text.get(at..end)?);
            at = end;
        }
        out.push_str(text.get(at..)?);
        has_changed.then_some(DeValue::String(Cow::Owned(out)))
    }
}

/// An argument and its default.
fn argument<'d, 't: 'd>(field: TomlField<'d>, table: &DeTable<'t>) -> Option<(TaskArgument, DeValue<'t>)> {
    let name = field.key();
    if !is_name(name) {
        let hint = "a name has letters, digits and `_`, and starts with no digit".to_owned();
        field.report(format!("`{name}` cannot be the name of an argument"), Some(hint));
        return None;
    }
    // What follows the header [args] belongs to its table, to the surprise of many.
    if TASK_KEYS.contains(&name) {
        let hint = "it is a key of the task and belongs above the table `args`".to_owned();
        field.report(format!("`{name}` cannot be the name of an argument"), Some(hint));
        return None;
    }
    let written = table.get(name)?.get_ref();
    let Some(section) = field.as_section(KEYS) else {
        let argument = TaskArgument {
            name: name.to_owned(),
            default: options::json(field)?,
            choices: Vec::new(),
            doc: None,
        };
        return Some((argument, written.clone()));
    };
    let default = section.get("default").or_else(|| {
        let hint = "its type is that of the default: { default = \"law\", choices = [\"law\", \"logic\"] }";
        field.report(format!("the argument `{name}` has no `default`"), Some(hint.to_owned()));
        None
    })?;
    if default.as_table().is_some() {
        return default.expected("a string, a number, a boolean or a list");
    }
    let choices = match section.get("choices") {
        None => Vec::new(),
        Some(choices) => match options::json(choices)? {
            Json::Array(choices) if !choices.is_empty() => choices,
            _ => return choices.expected("a list of the values that it may have"),
        },
    };
    let doc = section.get("doc").and_then(|doc| doc.string()).map(|doc| doc.value.to_owned());
    let argument = TaskArgument { name: name.to_owned(), default: options::json(default)?, choices, doc };
    if !argument.choices.is_empty() && !argument.choices.contains(&argument.default) {
        default.report(format!("the default of `{name}` is none of its choices"), None);
    }
    let written = written.as_table()?.get("default")?.get_ref().clone();
    Some((argument, written))
}

/// A word that templates and TOML take for nothing else.
fn is_name(name: &str) -> bool {
    let mut chars = name.chars();
    let starts = chars.next().is_some_and(|c| c.is_ascii_alphabetic() || c == '_');
    starts && chars.all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// An argument as it was given: a value of the type of its default, or the text of one.
#[derive(Debug)]
pub(super) struct GivenArgument {
    pub(super) name: String,
    text: String,
    /// The same as TOML writes it, if it is such a number.
    integer: Option<String>,
    float: Option<String>,
}

impl GivenArgument {
    pub(super) fn new(name: &str, value: &Json) -> Self {
        let text = text_of(value);
        let integer = text.trim().parse::<i64>().ok().map(|number| number.to_string());
        let float = text.trim().parse::<f64>().ok().filter(|number| number.is_finite());
        // With a point or an exponent, whatever was given.
        let float = float.map(|number| format!("{number:?}"));
        GivenArgument { name: name.to_owned(), text, integer, float }
    }

    /// The value, if it is of the type of the default.
    fn like<'t>(&'t self, default: &DeValue<'_>) -> Option<DeValue<'t>> {
        let text = self.text.trim();
        match default {
            DeValue::String(_) => Some(DeValue::String(Cow::Borrowed(&self.text))),
            // `false` is none: no examples, no seed.
            DeValue::Integer(_) if matches!(text, "false" | "False") => Some(DeValue::Boolean(false)),
            DeValue::Integer(_) => literal(self.integer.as_ref()?),
            DeValue::Float(_) => literal(self.float.as_ref()?),
            DeValue::Array(items) => {
                let first = items.first().map(Spanned::get_ref);
                match literal(text) {
                    Some(DeValue::Array(list)) => {
                        let fits = |item: &Spanned<DeValue<'_>>| {
                            first.is_none_or(|first| are_alike(first, item.get_ref()))
                        };
                        list.iter().all(fits).then_some(DeValue::Array(list))
                    }
                    _ if text.starts_with('[') => None,
                    _ => {
                        let items = text.split(',').map(str::trim).filter(|_| !text.is_empty());
                        let items = items.map(|item| item_like(first, item));
                        let items: Option<Vec<DeValue<'t>>> = items.collect();
                        Some(DeValue::Array(
                            items?.into_iter().map(|item| Spanned::new(0..0, item)).collect(),
                        ))
                    }
                }
            }
            DeValue::Boolean(_) => match text {
                "true" | "True" => Some(DeValue::Boolean(true)),
                "false" | "False" => Some(DeValue::Boolean(false)),
                _ => None,
            },
            other => literal(text).filter(|value| are_alike(other, value)),
        }
    }
}

/// An item of a list that is written without brackets; strings need no quotes there.
fn item_like<'t>(first: Option<&DeValue<'_>>, item: &'t str) -> Option<DeValue<'t>> {
    match first {
        None | Some(DeValue::String(_)) => Some(DeValue::String(Cow::Borrowed(item))),
        Some(first) => literal(item).filter(|item| are_alike(first, item)),
    }
}

/// A value as TOML writes it.
fn literal(text: &str) -> Option<DeValue<'_>> {
    DeValue::parse(text).ok().map(Spanned::into_inner)
}

/// Whether a value may stand for one of this type.
fn are_alike(default: &DeValue<'_>, value: &DeValue<'_>) -> bool {
    default.same_type(value) || (default.is_float() && value.is_integer())
}

/// A value at the place of the string that it stands for.
fn located<'t>(value: DeValue<'t>, span: &Range<usize>) -> Spanned<DeValue<'t>> {
    let value = match value {
        DeValue::Array(items) => {
            let items = items.into_iter().map(|item| located(item.into_inner(), span));
            DeValue::Array(items.collect())
        }
        value => value,
    };
    Spanned::new(span.clone(), value)
}

/// A value within a string.
fn plain_text(value: &DeValue<'_>) -> String {
    match value {
        DeValue::String(text) => text.to_string(),
        DeValue::Integer(number) => number.to_string(),
        DeValue::Float(number) => number.to_string(),
        DeValue::Boolean(boolean) => boolean.to_string(),
        DeValue::Datetime(date) => date.to_string(),
        DeValue::Array(_) | DeValue::Table(_) => String::new(),
    }
}

/// A value in JSON, as logs record it.
fn recorded(value: &DeValue<'_>) -> Option<Json> {
    Some(match value {
        DeValue::Integer(_) => Json::from(i64::try_from(integer(value)?).ok()?),
        DeValue::Float(number) => Json::from(number.as_str().parse::<f64>().ok()?),
        DeValue::Boolean(boolean) => Json::from(*boolean),
        DeValue::Array(items) => {
            let items = items.iter().map(|item| recorded(item.get_ref()));
            Json::Array(items.collect::<Option<_>>()?)
        }
        DeValue::Table(_) => return None,
        text => Json::from(plain_text(text)),
    })
}

/// A value as it is written where strings need no quotes.
pub(super) fn text_of(value: &Json) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// What is expected in place of the default, in words.
fn kind_in_words(default: &DeValue<'_>) -> &'static str {
    match default {
        DeValue::String(_) => "a string",
        DeValue::Integer(_) => "an integer, or false for none",
        DeValue::Float(_) => "a number",
        DeValue::Boolean(_) => "true or false",
        DeValue::Datetime(_) => "a date",
        DeValue::Array(_) => "a list like its default, as in a,b or [\"a\", \"b\"]",
        DeValue::Table(_) => "a table",
    }
}

/// The key of the tables of tasks.
const TASK: &str = "task";
const ARGS: &str = "args";

/// Tables of a task that complete those that it shares, key by key. Anything else replaces what is shared.
const MERGED: [&str; 8] =
    ["args", "dataset", "epochs", "errors", "few_shot", "generate", "headline", "metadata"];

/// A key and its value, at their places.
pub(super) type TableEntry<'t> = (Spanned<Cow<'t, str>>, Spanned<DeValue<'t>>);

/// One task of a file: its table, with what it shares with others, and arguments filled in.
#[derive(Debug)]
pub(super) struct TaskTable<'t> {
    /// Its name under `task`, if the file has several.
    pub(super) key: Option<String>,
    pub(super) table: DeTable<'t>,
    pub(super) arguments: TaskArguments<'t>,
    /// The dataset of examples, with what it shares with the dataset.
    pub(super) examples: Option<TableEntry<'t>>,
}

/// The tasks of a file, before arguments are filled in.
#[derive(Debug)]
pub(super) struct TaskTables<'t> {
    pub(super) tasks: Vec<TaskTable<'t>>,
}

impl<'t> TaskTables<'t> {
    /// The tasks in the order of the file. What is wrong with their tables is reported.
    pub(super) fn read(file: &TaskFile<'_>, mut shared: DeTable<'t>) -> Self {
        let entry = shared.remove_entry(TASK);
        let named = entry.and_then(|(key, value)| named(file, &key, value));
        let tables = match named {
            None => vec![(None, shared)],
            Some(named) => {
                refuse_shared_name(file, &mut shared);
                let merge = |(name, table)| (Some(name), merged(&shared, table));
                named.into_iter().map(merge).collect()
            }
        };
        let task = |(key, mut table): (Option<String>, DeTable<'t>)| {
            let declared = table.remove(ARGS);
            let arguments = TaskArguments::declared(file, declared.as_ref());
            TaskTable { key, table, arguments, examples: None }
        };
        TaskTables { tasks: tables.into_iter().map(task).collect() }
    }

    /// Leaves only the task of this name, if one is given.
    pub(super) fn select(&mut self, name: Option<&str>) -> Result<(), TaskLoadError> {
        let Some(name) = name else { return Ok(()) };
        let known: Vec<String> = self.tasks.iter().filter_map(|task| task.key.clone()).collect();
        if !known.iter().any(|known| known == name) {
            return Err(TaskLoadError::unknown_task(name, known));
        }
        self.tasks.retain(|task| task.key.as_deref() == Some(name));
        Ok(())
    }

    /// Gives arguments other values than their defaults. One that no task declares is an error.
    pub(super) fn pass(&mut self, given: &'t [GivenArgument]) -> Result<(), TaskLoadError> {
        let is_known = |given: &GivenArgument| {
            self.tasks.iter().any(|task| task.arguments.names().any(|known| known == given.name))
        };
        if let Some(unknown) = given.iter().find(|given| !is_known(given)) {
            let mut known: Vec<String> = Vec::new();
            for name in self.tasks.iter().flat_map(|task| task.arguments.names()) {
                if !known.iter().any(|known| known == name) {
                    known.push(name.to_owned());
                }
            }
            return Err(TaskLoadError::unknown_argument(&unknown.name, known));
        }
        self.tasks.iter_mut().try_for_each(|task| task.arguments.pass(given))
    }

    /// Fills the arguments in.
    pub(super) fn fill_in(&mut self, file: &TaskFile<'_>) {
        for TaskTable { table, arguments, examples, .. } in &mut self.tasks {
            arguments.fill_in(file, table);
            *examples = few_shot::dataset_entry(table);
        }
    }
}

impl TaskTable<'_> {
    /// All arguments with their values, and those that were given.
    pub(super) fn recorded_args(&self) -> (Metadata, Metadata) {
        (self.arguments.all(), self.arguments.passed.clone())
    }
}

/// The tables under `task`, by name; `None` if that is no such table, which is reported.
fn named<'t>(
    file: &TaskFile<'_>,
    key: &Spanned<Cow<'t, str>>,
    value: Spanned<DeValue<'t>>,
) -> Option<Vec<(String, DeTable<'t>)>> {
    let hint = || Some("each task has a table that is called after it: [task.NAME]".to_owned());
    let place = value.span();
    let DeValue::Table(table) = value.into_inner() else {
        file.mistakes.add(key.span(), "`task`: expected a table of tasks", hint());
        return None;
    };
    if table.is_empty() {
        file.mistakes.add(place, "`task` has no task", hint());
        return None;
    }
    let mut entries: Vec<TableEntry<'t>> = table.into_iter().collect();
    entries.sort_by_key(|(key, _)| key.span().start);
    let mut tasks = Vec::new();
    for (name, value) in entries {
        match value.into_inner() {
            DeValue::Table(_) if name.get_ref().is_empty() => {
                file.mistakes.add(name.span(), "a task needs a name", hint());
            }
            DeValue::Table(table) => tasks.push((name.into_inner().into_owned(), table)),
            _ => {
                let message = format!("`{}` in `task` is no task", name.get_ref());
                file.mistakes.add(name.span(), message, hint());
            }
        }
    }
    Some(tasks)
}

/// Several tasks cannot have one name.
fn refuse_shared_name(file: &TaskFile<'_>, shared: &mut DeTable<'_>) {
    if let Some((key, _)) = shared.remove_entry("name") {
        let hint = "leave it out: each task is called after its table, [task.NAME]".to_owned();
        file.mistakes.add(key.span(), "`name`: the tasks of this file have names of their own", Some(hint));
    }
}

/// A table of a task over what all share.
fn merged<'t>(shared: &DeTable<'t>, own: DeTable<'t>) -> DeTable<'t> {
    let mut merged = shared.clone();
    for (key, value) in own {
        let is_merged = MERGED.contains(&key.get_ref().as_ref());
        let before = merged.remove(key.get_ref().as_ref());
        let value = match (before.map(Spanned::into_inner), value) {
            (Some(DeValue::Table(before)), value) if is_merged && value.get_ref().is_table() => {
                let span = value.span();
                let DeValue::Table(own) = value.into_inner() else { continue };
                Spanned::new(span, DeValue::Table(over(before, own)))
            }
            (_, value) => value,
        };
        merged.insert(key, value);
    }
    merged
}

/// The entries of a table over those of another.
fn over<'t>(mut before: DeTable<'t>, own: DeTable<'t>) -> DeTable<'t> {
    for (key, value) in own {
        // The key too has the place of its own table.
        before.remove(key.get_ref().as_ref());
        before.insert(key, value);
    }
    before
}
