//! What is wrong with a task file, where, and what would be right.

use std::cell::{Cell, RefCell};
use std::collections::HashSet;
use std::ops::Range;
use std::path::{Path, PathBuf};

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
#[derive(Clone, Debug, PartialEq, Eq)]
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

/// A mistake before its line is known: its span, message, hint and the file outside of the folder.
type UnlocatedMistake = (Range<usize>, String, Option<String>, Option<PathBuf>);

/// The mistakes found so far.
#[derive(Debug, Default)]
pub(super) struct Mistakes {
    found: RefCell<Vec<UnlocatedMistake>>,
    /// Whether parts of the text are no TOML: then what is missing may just not have been understood.
    pub(super) is_broken: Cell<bool>,
}

impl Mistakes {
    pub(super) fn add(&self, place: Range<usize>, message: impl Into<String>, hint: Option<String>) {
        self.found.borrow_mut().push((place, message.into(), hint, None));
    }

    /// A file outside of the folder of the task file.
    pub(super) fn add_outside(&self, place: Range<usize>, message: impl Into<String>, path: &Path) {
        self.found.borrow_mut().push((place, message.into(), None, Some(path.to_owned())));
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

    /// The mistakes in the order of their places, with lines and columns.
    pub(super) fn in_order(self, text: &str) -> Vec<Mistake> {
        let mut found = self.found.into_inner();
        found.sort_by_key(|(place, ..)| (place.start, place.end));
        // What several tasks of a file share is wrong once.
        let mut seen = HashSet::new();
        found.retain(|mistake| seen.insert(mistake.clone()));
        let mut cursor = LineCursor { text, at: 0, line: 1, column: 1 };
        let located = found.into_iter().map(|(place, message, hint, outside)| {
            let start = text.floor_char_boundary(place.start);
            let end = text.ceil_char_boundary(place.end).max(start);
            let (line, column) = cursor.at(start);
            let hint = hint.map(|hint| on_one_line(&hint));
            Mistake { span: start..end, line, column, message: on_one_line(&message), hint, outside }
        });
        located.collect()
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
