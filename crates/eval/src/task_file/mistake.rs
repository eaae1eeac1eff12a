//! What is wrong with a task file, where, and what would be right.

use std::cell::{Cell, RefCell};
use std::collections::HashSet;
use std::ops::Range;
use std::path::{Path, PathBuf};

use errorbar_core::Result;
use errorbar_core::spec::nearest;
use serde_json::Value as Json;
use toml::Spanned;
use toml::de::{DeTable, DeValue, Error};

use super::args::TaskArgument;
use super::section::TaskFile;
use crate::{NamedSample, Sample};

/// Everything that is wrong with a task file.
///
/// Printed, it is one line for each mistake: file, line, column, what is wrong and what would be right.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}", in_lines(path, text, mistakes))]
#[non_exhaustive]
pub struct TaskFileError {
    /// The file, as it was given.
    pub path: PathBuf,
    /// Its content; empty if it could not be read.
    pub text: String,
    /// At least one, in the order of their places.
    pub mistakes: Vec<Mistake>,
}

/// One mistake in a task file.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Mistake {
    /// Its place in the text, in bytes. Empty at 0 for what is about the file as a whole.
    pub span: Range<usize>,
    /// The line, from 1.
    pub line: usize,
    /// The column in that line, from 1, in characters.
    pub column: usize,
    /// What is wrong, on one line.
    pub message: String,
    /// What would be right, where that is known; on one line.
    pub hint: Option<String>,
    /// The file outside of the folder of the task file that it is about. A registry can
    /// [allow](errorbar_core::Registry::confined) it.
    pub outside: Option<PathBuf>,
}

impl Mistake {
    /// Whether it is about the file as a whole: something that is missing, or a file that cannot be read.
    pub fn is_about_the_file(&self) -> bool {
        self.span == (0..0)
    }
}

/// One line for each mistake.
fn in_lines(path: &Path, text: &str, mistakes: &[Mistake]) -> String {
    let in_line = |Mistake { line, column, message, hint, .. }: &Mistake| {
        // An empty file has no line 1 to look at.
        let place = if text.is_empty() { String::new() } else { format!("{line}:{column}:") };
        let hint = hint.as_ref().map(|hint| format!("; {hint}")).unwrap_or_default();
        format!("{}:{place} {message}{hint}", path.display())
    };
    mistakes.iter().map(in_line).collect::<Vec<_>>().join("\n")
}

/// The mistakes found so far.
#[derive(Debug, Default)]
pub(super) struct Mistakes {
    /// Without their lines.
    found: RefCell<Vec<Mistake>>,
    /// Whether parts of the text are no TOML: then what is missing may just not have been understood.
    pub(super) is_broken: Cell<bool>,
}

impl Mistakes {
    pub(super) fn add(&self, place: Range<usize>, message: impl Into<String>, hint: Option<String>) {
        self.push(place, message.into(), hint, None);
    }

    /// A file outside of the folder of the task file.
    pub(super) fn add_outside(&self, place: Range<usize>, message: impl Into<String>, path: &Path) {
        self.push(place, message.into(), None, Some(path.to_owned()));
    }

    fn push(&self, span: Range<usize>, message: String, hint: Option<String>, outside: Option<PathBuf>) {
        self.found.borrow_mut().push(Mistake { span, line: 0, column: 0, message, hint, outside });
    }

    /// A required key that is absent in the table at this place.
    pub(super) fn missing(&self, place: Range<usize>, message: &str, hint: &str) {
        if !self.is_broken.get() {
            self.add(place, message, Some(hint.to_owned()));
        }
    }

    pub(super) fn count(&self) -> usize {
        self.found.borrow().len()
    }

    /// What was read of the text, if nothing is wrong with it.
    pub(super) fn none_or<T>(self, read: T, path: &Path, text: &str) -> Result<T, TaskFileError> {
        match self.in_order(text) {
            mistakes if mistakes.is_empty() => Ok(read),
            mistakes => Err(TaskFileError { path: path.to_owned(), text: text.to_owned(), mistakes }),
        }
    }

    /// The mistakes in the order of their places, with lines and columns.
    pub(super) fn in_order(self, text: &str) -> Vec<Mistake> {
        let mut found = self.found.into_inner();
        found.sort_by_key(|mistake| (mistake.span.start, mistake.span.end));
        // What several tasks of a file share is wrong once.
        let mut seen = HashSet::new();
        found.retain(|mistake| seen.insert(mistake.clone()));
        let mut cursor = LineCursor { text, at: 0, line: 1, column: 1 };
        for Mistake { span, line, column, message, hint, .. } in &mut found {
            let start = text.floor_char_boundary(span.start);
            *span = start..text.ceil_char_boundary(span.end).max(start);
            (*line, *column) = cursor.at(start);
            *message = on_one_line(message);
            *hint = hint.as_deref().map(on_one_line);
        }
        found
    }
}

/// Names in messages come from the file and may hold anything, and as much of it as they like.
fn on_one_line(text: &str) -> String {
    const LONGEST: usize = 1000;
    let shown = |c: char| if c.is_control() { c.escape_default().to_string() } else { c.to_string() };
    let mut line: String = text.chars().take(LONGEST).map(shown).collect();
    line.extend(text.chars().nth(LONGEST).map(|_| '…'));
    line
}

/// The line and column of ever later bytes; counting from the start for each would be quadratic.
struct LineCursor<'t> {
    text: &'t str,
    at: usize,
    line: usize,
    column: usize,
}

impl LineCursor<'_> {
    fn at(&mut self, byte: usize) -> (usize, usize) {
        for c in self.text.get(self.at..byte).unwrap_or_default().chars() {
            (self.line, self.column) = match c {
                '\n' => (self.line + 1, 1),
                // The mark in front of some texts is nothing that an editor shows.
                '\u{feff}' if (self.line, self.column) == (1, 1) => (1, 1),
                _ => (self.line, self.column + 1),
            };
        }
        self.at = self.at.max(byte);
        (self.line, self.column)
    }
}

/// Which tasks of a file, and their arguments; all tasks with the defaults of their arguments, if nothing is given.
///
/// ```
/// use errorbar_eval::TaskSelection;
/// let args = vec![("shots".to_owned(), "5".into())];
/// let selection = TaskSelection { name: Some("law".to_owned()), args, ..TaskSelection::default() };
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TaskSelection {
    /// The task of this name under `[task]`; all of the file, if none is given.
    pub name: Option<String>,
    /// Arguments by name: values of the types of their defaults, or strings that are converted to them.
    pub args: Vec<(String, Json)>,
    /// How many samples of each task are wanted, at most: the rest of its dataset is neither read nor checked.
    pub limit: Option<usize>,
    /// The digest that the file must have, if only a log names it. Its datasets then have to be where its templates have to
    /// be: in its folder, or in the paths that the registry [allows](errorbar_core::Registry::confined).
    pub recorded_digest: Option<String>,
}

/// Why tasks of a file cannot be loaded.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TaskLoadError {
    /// Mistakes in the file.
    #[error(transparent)]
    File(#[from] TaskFileError),
    /// Another file than the one that a run was started with.
    #[error("the task file has changed since the run was started")]
    OtherDigest,
    /// A task that the file does not have.
    #[error("the file has no task `{name}`")]
    UnknownTask {
        /// The name.
        name: String,
        /// The name closest to it.
        nearest: Option<String>,
        /// The tasks of the file; none if it is one task without a name of its own.
        known: Vec<String>,
    },
    /// An argument that no task declares.
    #[error("unknown argument `{name}`")]
    UnknownArgument {
        /// The name.
        name: String,
        /// The name closest to it.
        nearest: Option<String>,
        /// The arguments that tasks of the file declare.
        known: Vec<String>,
    },
    /// An argument that cannot have this value.
    #[error("the argument `{name}`: expected {expected}, found {value:?}")]
    ArgumentValue {
        /// The argument.
        name: String,
        /// What was given.
        value: String,
        /// What it is, in words.
        expected: String,
    },
}

impl TaskLoadError {
    pub(super) fn unknown_task(name: &str, known: Vec<String>) -> Self {
        let nearest = nearest(name, known.iter().map(String::as_str)).map(str::to_owned);
        TaskLoadError::UnknownTask { name: name.to_owned(), nearest, known }
    }

    pub(super) fn unknown_argument(name: &str, known: Vec<String>) -> Self {
        let nearest = nearest(name, known.iter().map(String::as_str)).map(str::to_owned);
        TaskLoadError::UnknownArgument { name: name.to_owned(), nearest, known }
    }
}

/// What a task of a file is called, is about and can be given; nothing else of it has been checked.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct TaskOutline {
    /// The file.
    pub file: PathBuf,
    /// Its name under `[task]`, if the file has several.
    pub key: Option<String>,
    /// What logs call it.
    pub name: String,
    /// The file of its dataset, as it is written.
    pub dataset: Option<String>,
    /// Its scorers, as they are written.
    pub scorers: Vec<String>,
    /// What it can be given.
    pub args: Vec<TaskArgument>,
}

impl TaskOutline {
    /// How the task is named on its own: the file, and behind an `@` its name in there.
    pub fn address(&self) -> String {
        let file = self.file.display();
        self.key.as_ref().map_or_else(|| file.to_string(), |key| format!("{file}@{key}"))
    }
}

/// A check of one sample, and the place in the file of whatever makes it.
pub(super) type SampleCheck<'a> = (Range<usize>, Box<dyn Fn(&Sample) -> Result<()> + 'a>);

/// Reports the first sample that each check refuses, and how many more it does.
pub(super) fn refuse<'a>(
    samples: &[NamedSample],
    checks: impl IntoIterator<Item = SampleCheck<'a>>,
    mistakes: &Mistakes,
) {
    let mut reported: Vec<String> = Vec::new();
    for (place, check) in checks {
        let mut refusals = samples.iter().filter_map(|(id, sample)| Some((id, check(sample).err()?)));
        let Some((id, problem)) = refusals.next() else { continue };
        let more = match refusals.count() {
            0 => String::new(),
            1 => " (and 1 more sample)".to_owned(),
            more => format!(" (and {more} more samples)"),
        };
        let message = format!("sample {:?}: {problem}{more}", id.to_string());
        // A solver and a scorer may refuse a sample for the same reason.
        if !reported.contains(&message) {
            reported.push(message.clone());
            mistakes.add(place, message, None);
        }
    }
}

/// Reads the text as far as it is TOML. Returns the places where it is not, besides reporting them.
pub(super) fn parse<'t>(file: &TaskFile<'t>) -> (DeTable<'t>, Vec<Range<usize>>) {
    let text = file.text;
    let (table, mut errors) = DeTable::parse_recoverable(text);
    let table = table.into_inner();
    errors.sort_by_key(|error| place(error).start);
    file.mistakes.is_broken.set(!errors.is_empty());

    // A bracket that is never closed is reported once, and not at every line behind it.
    let mut reported = None;
    for error in &errors {
        let within = Some(entry_around(text, &table, &place(error)));
        if within == reported {
            continue;
        }
        // After a bare word the parser continues as if it had quotes.
        if unquoted(text, error).is_none() {
            reported = within;
        }
        report(file, error);
    }
    (table, errors.iter().map(place).collect())
}

fn place(error: &Error) -> Range<usize> {
    error.span().unwrap_or_default()
}

/// Where the entry of the file starts that this place is in, or right behind; else its line.
fn entry_around(text: &str, table: &DeTable<'_>, place: &Range<usize>) -> usize {
    let start = |(key, value): (&Spanned<_>, &Spanned<DeValue<'_>>)| {
        let start = key.span().start;
        (start <= place.start && place.start <= value.span().end).then_some(start)
    };
    let line = || text.get(..place.start).and_then(|before| before.rfind('\n')).map_or(0, |at| at + 1);
    table.iter().find_map(start).unwrap_or_else(line)
}

/// The bare word that stands where only a string in quotes could.
fn unquoted<'t>(text: &'t str, error: &Error) -> Option<&'t str> {
    let word = text.get(place(error)).filter(|word| !word.is_empty())?;
    // A word that starts like `true`, `false`, `inf` or `nan` is taken for one of them.
    let is_guess =
        error.message().starts_with("invalid boolean") || error.message().starts_with("invalid float");
    let is_word = word.starts_with(char::is_alphabetic) && boolean(word).is_none();
    (error.message().starts_with("string values must be quoted") || is_guess && is_word).then_some(word)
}

/// `True` and the like.
fn boolean(word: &str) -> Option<&'static str> {
    ["true", "false"].into_iter().find(|boolean| word.eq_ignore_ascii_case(boolean))
}

/// Words it so that it fits a task file, where the parser's own are about grammar.
fn report(file: &TaskFile<'_>, error: &Error) {
    let text = file.text;
    let place = place(error);
    let written = text.get(place.clone()).unwrap_or_default();
    let next = text.get(place.start..).and_then(|rest| rest.chars().next());
    let message = error.message();
    let with_hint = |message: &str, hint: &str| (message.to_owned(), Some(hint.to_owned()));
    let (message, hint) = match (unquoted(text, error), boolean(written), next) {
        (Some(word), ..) => with_hint("a string must stand in quotes", &format!("write {}", quoted(word))),
        (None, Some(boolean), _) => {
            with_hint(&format!("`{written}` is no value"), &format!("write {boolean}"))
        }
        _ if message.starts_with("string values must be quoted") => ("there is no value".to_owned(), None),
        _ if message == "duplicate key" => (format!("the key `{written}` is given twice"), None),
        _ if message.ends_with("string, expected `\"`") || message.ends_with("string, expected `'`") => {
            ("a string in quotes is not closed".to_owned(), None)
        }
        (.., Some(c)) if message.starts_with("missing escaped value") => with_hint(
            &format!("`\\{c}` is an invalid escape sequence"),
            "write a backslash as \\\\, or the string in single quotes",
        ),
        // It is often not the comma that is missing.
        _ if message.starts_with("missing comma") && starts_line(text, place.start) => {
            with_hint(message, "or the bracket that was opened above is not closed")
        }
        _ if written == ":" => with_hint(message, "between a key and its value stands `=`"),
        _ => (message.to_owned(), None),
    };
    file.mistakes.add(place, message, hint);
}

/// Whether there are only blanks before this byte of its line.
fn starts_line(text: &str, at: usize) -> bool {
    let line = text.get(..at).and_then(|before| before.rsplit('\n').next());
    line.is_some_and(|line| line.trim().is_empty())
}

/// The string in quotes that it needs no escapes in, if there are such.
pub(super) fn quoted(text: &str) -> String {
    if text.contains('"') { format!("'{text}'") } else { format!("\"{text}\"") }
}
