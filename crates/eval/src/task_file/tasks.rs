//! The tasks of a file: one, or those under `[task.NAME]`, each with what they share.

use std::borrow::Cow;

use errorbar_core::Metadata;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::args::{GivenArgument, TaskArguments};
use super::few_shot;
use super::load::TaskLoadError;
use super::section::TaskFile;

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
