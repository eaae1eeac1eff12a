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

/// An argument of a task, with its value.
#[derive(Debug)]
pub(super) struct ArgumentValue<'t> {
    pub(super) declared: TaskArgument,
    value: DeValue<'t>,
    /// What was given, if anything was.
    passed: Option<Json>,
}

/// The arguments that a table declares. One that was not understood is reported and left out.
fn declared<'d, 't: 'd>(
    file: &'d TaskFile<'d>,
    declared: Option<&'d Spanned<DeValue<'t>>>,
) -> Vec<ArgumentValue<'t>> {
    let Some(value) = declared else { return Vec::new() };
    let DeValue::Table(table) = value.get_ref() else {
        let hint = "the name of each and its default: args = { subject = \"law\" }".to_owned();
        file.mistakes.add(value.span(), "`args`: expected a table", Some(hint));
        return Vec::new();
    };
    fields(file, table).into_iter().filter_map(|field| argument(field, table)).collect()
}

/// An argument with its default.
fn argument<'d, 't: 'd>(field: TomlField<'d>, table: &DeTable<'t>) -> Option<ArgumentValue<'t>> {
    let name = field.key();
    let refuse = |hint: &str| {
        field.report(format!("`{name}` cannot be the name of an argument"), Some(hint.to_owned()));
        None
    };
    if !is_name(name) {
        return refuse("a name has letters, digits and `_`, and starts with no digit");
    }
    // What follows the header [args] belongs to its table, to the surprise of many.
    if TASK_KEYS.contains(&name) {
        return refuse("it is a key of the task and belongs above the table `args`");
    }
    let written = table.get(name)?.get_ref();
    let argument = |default: TomlField<'_>, choices: Vec<Json>, doc: Option<String>, value: &DeValue<'t>| {
        let declared = TaskArgument { name: name.to_owned(), default: options::json(default)?, choices, doc };
        Some(ArgumentValue { declared, value: value.clone(), passed: None })
    };
    let Some(section) = field.as_section(KEYS) else { return argument(field, Vec::new(), None, written) };
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
    let argument = argument(default, choices, doc, written.as_table()?.get("default")?.get_ref())?;
    let TaskArgument { choices, default: value, .. } = &argument.declared;
    if !choices.is_empty() && !choices.contains(value) {
        default.report(format!("the default of `{name}` is none of its choices"), None);
    }
    Some(argument)
}

impl<'t> TaskTable<'t> {
    /// All arguments with their values, as logs record them.
    pub(super) fn args(&self) -> Metadata {
        let value = |argument: &ArgumentValue<'_>| {
            let TaskArgument { name, default, .. } = &argument.declared;
            (name.clone(), argument.passed.as_ref().unwrap_or(default).clone())
        };
        self.arguments.iter().map(value).collect()
    }

    /// Those that were given.
    pub(super) fn passed_args(&self) -> Metadata {
        let passed =
            |argument: &ArgumentValue<'_>| Some((argument.declared.name.clone(), argument.passed.clone()?));
        self.arguments.iter().filter_map(passed).collect()
    }

    /// Gives an argument another value, if the task has it: what only other tasks of the file declare is left to them.
    fn pass(&mut self, given: &'t GivenArgument) -> Result<(), TaskLoadError> {
        let is_it = |argument: &&mut ArgumentValue<'_>| argument.declared.name == given.name;
        let Some(argument) = self.arguments.iter_mut().find(is_it) else { return Ok(()) };
        let refuse = |expected: String| TaskLoadError::ArgumentValue {
            name: given.name.clone(),
            value: given.text.clone(),
            expected,
        };
        let value = given.like(&argument.value).and_then(|value| Some((recorded(&value)?, value)));
        let Some((json, value)) = value else {
            return Err(refuse(kind_in_words(&argument.value).to_owned()));
        };
        let choices = &argument.declared.choices;
        if !choices.is_empty() && !choices.contains(&json) {
            let choices: Vec<String> = choices.iter().map(text_of).collect();
            return Err(refuse(format!("one of {}", choices.join(", "))));
        }
        (argument.value, argument.passed) = (value, Some(json));
        Ok(())
    }
}

/// Fills the values of arguments into all strings of a value.
fn fill_in<'t>(arguments: &[ArgumentValue<'t>], file: &TaskFile<'_>, value: &mut Spanned<DeValue<'t>>) {
    let span = value.span();
    match value.get_mut() {
        DeValue::Array(items) => items.iter_mut().for_each(|item| fill_in(arguments, file, item)),
        DeValue::Table(table) => table.iter_mut().for_each(|(_, value)| fill_in(arguments, file, value)),
        DeValue::String(text) => {
            let string = TomlString { value: text, span: span.clone(), file };
            if let Some(filled) = filled(arguments, &string) {
                *value = located(filled, &span);
            }
        }
        _ => {}
    }
}

/// The string with its names filled in, if it has any; a name alone is the value itself, of whatever type.
fn filled<'t>(arguments: &[ArgumentValue<'t>], string: &TomlString<'_>) -> Option<DeValue<'t>> {
    let names = || arguments.iter().map(|argument| argument.declared.name.as_str());
    let text = string.value;
    let (mut out, mut rest) = (String::new(), text);
    while let Some((before, behind)) = rest.split_once("${") {
        out.push_str(before);
        rest = behind;
        // `$${` is a plain `${`.
        let is_escaped = before.ends_with('$');
        if is_escaped {
            out.pop();
        }
        let name = behind.split_once('}').map(|(name, _)| name);
        let Some(name) = name.filter(|name| !is_escaped && is_name(name)) else {
            out.push_str("${");
            continue;
        };
        let start = text.len() - behind.len() - 2;
        let place = start..start + name.len() + 3;
        rest = text.get(place.end..).unwrap_or_default();
        match arguments.iter().find(|argument| argument.declared.name == name).map(|known| &known.value) {
            Some(value) if place == (0..text.len()) => return Some(value.clone()),
            Some(DeValue::Array(_)) => {
                let hint = "leave out what stands around it, or give it as a string".to_owned();
                string.report(place, format!("the argument `{name}` is a list"), Some(hint));
            }
            Some(value) => out.push_str(&plain_text(value)),
            None => {
                let hint = did_you_mean(nearest(name, names())).unwrap_or_else(|| {
                    let names: Vec<&str> = names().collect();
                    format!("`args` has: {}; a plain `${{` is written `$${{`", names.join(", "))
                });
                string.report(place, format!("unknown argument `{name}`"), Some(hint));
            }
        }
    }
    out.push_str(rest);
    (out != text).then_some(DeValue::String(Cow::Owned(out)))
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
        match (default, text) {
            (DeValue::String(_), _) => Some(DeValue::String(Cow::Borrowed(&self.text))),
            // `false` is none: no examples, no seed.
            (DeValue::Integer(_) | DeValue::Boolean(_), "false" | "False") => Some(DeValue::Boolean(false)),
            (DeValue::Boolean(_), "true" | "True") => Some(DeValue::Boolean(true)),
            (DeValue::Integer(_), _) => literal(self.integer.as_ref()?),
            (DeValue::Float(_), _) => literal(self.float.as_ref()?),
            // A list without brackets; strings need no quotes there.
            (DeValue::Array(items), text) if !text.starts_with('[') => {
                let first = items.first().map(Spanned::get_ref);
                let item = |item: &'t str| match first {
                    None | Some(DeValue::String(_)) => Some(DeValue::String(Cow::Borrowed(item))),
                    Some(first) => literal(item).filter(|item| are_alike(first, item)),
                };
                let items = text.split(',').map(str::trim).filter(|_| !text.is_empty());
                items
                    .map(|text| Some(Spanned::new(0..0, item(text)?)))
                    .collect::<Option<_>>()
                    .map(DeValue::Array)
            }
            (default, text) => literal(text).filter(|value| are_alike(default, value)),
        }
    }
}

/// A value as TOML writes it.
fn literal(text: &str) -> Option<DeValue<'_>> {
    DeValue::parse(text).ok().map(Spanned::into_inner)
}

/// Whether a value may stand for one of this type; the items of a list for its first one.
fn are_alike(default: &DeValue<'_>, value: &DeValue<'_>) -> bool {
    match (default, value) {
        (DeValue::Array(wanted), DeValue::Array(items)) => wanted
            .first()
            .is_none_or(|first| items.iter().all(|item| are_alike(first.get_ref(), item.get_ref()))),
        _ => default.same_type(value) || (default.is_float() && value.is_integer()),
    }
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
    pub(super) arguments: Vec<ArgumentValue<'t>>,
    /// The dataset of examples, with what it shares with the dataset.
    pub(super) examples: Option<TableEntry<'t>>,
}

/// The tasks of a file in its order, before arguments are filled in. What is wrong with their tables is reported.
pub(super) fn tasks<'t>(file: &TaskFile<'_>, mut shared: DeTable<'t>) -> Vec<TaskTable<'t>> {
    let entry = shared.remove_entry(TASK);
    let tables = match entry.and_then(|(key, value)| named(file, &key, value)) {
        None => vec![(None, shared)],
        Some(named) => {
            refuse_shared_name(file, &mut shared);
            let merge = |(name, table)| (Some(name), merged(&shared, table));
            named.into_iter().map(merge).collect()
        }
    };
    let task = |(key, mut table): (Option<String>, DeTable<'t>)| {
        let arguments = declared(file, table.remove(ARGS).as_ref());
        TaskTable { key, table, arguments, examples: None }
    };
    tables.into_iter().map(task).collect()
}

/// Leaves only the task of this name.
pub(super) fn select(tasks: &mut Vec<TaskTable<'_>>, name: &str) -> Result<(), TaskLoadError> {
    let known: Vec<String> = tasks.iter().filter_map(|task| task.key.clone()).collect();
    if !known.iter().any(|known| known == name) {
        return Err(TaskLoadError::unknown_task(name, known));
    }
    tasks.retain(|task| task.key.as_deref() == Some(name));
    Ok(())
}

/// Gives arguments other values than their defaults. One that no task declares is an error.
pub(super) fn pass<'t>(tasks: &mut [TaskTable<'t>], given: &'t [GivenArgument]) -> Result<(), TaskLoadError> {
    let mut known: Vec<String> = Vec::new();
    for argument in tasks.iter().flat_map(|task| &task.arguments) {
        let name = &argument.declared.name;
        if !known.contains(name) {
            known.push(name.clone());
        }
    }
    if let Some(unknown) = given.iter().find(|given| !known.contains(&given.name)) {
        return Err(TaskLoadError::unknown_argument(&unknown.name, known));
    }
    tasks.iter_mut().try_for_each(|task| given.iter().try_for_each(|given| task.pass(given)))
}

/// Fills the arguments in. False if one of them is unknown.
pub(super) fn fill_all(tasks: &mut [TaskTable<'_>], file: &TaskFile<'_>) -> bool {
    let before = file.mistakes.count();
    for TaskTable { table, arguments, examples, .. } in tasks {
        if !arguments.is_empty() {
            table.iter_mut().for_each(|(_, value)| fill_in(arguments, file, value));
        }
        *examples = few_shot::dataset_entry(table);
    }
    file.mistakes.count() == before
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
        let problem = match value.into_inner() {
            DeValue::Table(table) if !name.get_ref().is_empty() => {
                tasks.push((name.into_inner().into_owned(), table));
                continue;
            }
            DeValue::Table(_) => "a task needs a name".to_owned(),
            _ => format!("`{}` in `task` is no task", name.get_ref()),
        };
        file.mistakes.add(name.span(), problem, hint());
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
    for (key, mut value) in own {
        let name = key.get_ref().as_ref();
        let before = merged.remove(name).map(Spanned::into_inner).filter(|_| MERGED.contains(&name));
        if let (Some(DeValue::Table(before)), DeValue::Table(own)) = (before, value.get_mut()) {
            *own = over(before, std::mem::take(own));
        }
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
