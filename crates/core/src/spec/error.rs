//! What can be wrong with a spec, and where in its text.

use std::fmt;
use std::ops::Range;

/// Why a text is not a spec, or a spec cannot be used.
///
/// Printing it gives one line with the column; `{:#}` adds the hint.
///
/// ```
/// use errorbar_core::spec::Spec;
///
/// let error = "mean(to_float]".parse::<Spec>().unwrap_err();
/// assert_eq!(error.to_string(), "expected ',' or ')' after an argument, found ']' at column 14");
/// ```
// Boxed, so that the results which carry it stay small.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub struct SpecError(Box<Inner>);

#[derive(Debug, Clone, PartialEq)]
struct Inner {
    kind: SpecErrorKind,
    place: Option<SpecLocation>,
    hint: Option<String>,
}

#[derive(Debug, Clone, PartialEq)]
struct SpecLocation {
    text: String,
    offset: usize,
}

impl SpecError {
    pub(super) fn at(kind: SpecErrorKind, text: &str, offset: usize) -> Self {
        let place = Some(SpecLocation { text: text.to_owned(), offset });
        Self(Box::new(Inner { kind, place, hint: None }))
    }

    /// Adds advice, replacing what was there.
    #[must_use]
    pub fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.0.hint = Some(hint.into());
        self
    }

    /// Adds the key of a log under which the error lies; to be called on the way out, so the last key comes first.
    pub(super) fn within(mut self, key: impl fmt::Display) -> Self {
        if let SpecErrorKind::Log { path, .. } = &mut self.0.kind {
            *path = if path.is_empty() { key.to_string() } else { format!("{key}.{path}") };
        }
        self
    }

    /// What is wrong.
    pub fn kind(&self) -> &SpecErrorKind {
        &self.0.kind
    }

    /// Advice, where there is some.
    pub fn hint(&self) -> Option<&str> {
        self.0.hint.as_deref()
    }

    /// The text that was parsed, if the error comes from parsing.
    pub fn text(&self) -> Option<&str> {
        self.0.place.as_ref().map(|place| place.text.as_str())
    }

    /// The byte of the text where the error lies.
    pub fn offset(&self) -> Option<usize> {
        self.0.place.as_ref().map(|place| place.offset)
    }

    /// The word, or whatever single character, where the error lies, in bytes.
    pub fn span(&self) -> Option<Range<usize>> {
        let place = self.0.place.as_ref()?;
        let rest = place.text.get(place.offset..).unwrap_or_default();
        let is_word = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.');
        let word = rest.find(|c| !is_word(c)).unwrap_or(rest.len());
        let single = rest.chars().next().map_or(0, char::len_utf8);
        Some(place.offset..place.offset + word.max(single))
    }
}

impl From<SpecErrorKind> for SpecError {
    fn from(kind: SpecErrorKind) -> Self {
        Self(Box::new(Inner { kind, place: None, hint: None }))
    }
}

impl fmt::Display for SpecError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0.kind)?;
        if let Some(SpecLocation { text, offset }) = &self.0.place {
            let before = text.get(..*offset).unwrap_or(text);
            let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
            match before.matches('\n').count() {
                0 => write!(f, " at column {column}")?,
                breaks => write!(f, " at line {}, column {column}", breaks + 1)?,
            }
        }
        match self.hint() {
            Some(hint) if f.alternate() => write!(f, " (hint: {hint})"),
            _ => Ok(()),
        }
    }
}

/// The kinds of [`SpecError`](super::SpecError).
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SpecErrorKind {
    /// A text that does not follow the grammar, or is nested deeper than [`MAX_DEPTH`](super::MAX_DEPTH).
    #[error("{0}")]
    Syntax(String),
    /// More positional arguments than there are parameters.
    #[error("{spec} takes {}, but got {given}", takes(parameters))]
    TooManyArguments {
        /// The spec's qualified name.
        spec: String,
        /// How many there were.
        given: usize,
        /// The valid names.
        parameters: Vec<String>,
    },
    /// A keyword that is no parameter.
    #[error("{spec} has no argument '{argument}' (it takes {})", listed(parameters))]
    UnknownArgument {
        /// The spec's qualified name.
        spec: String,
        /// The keyword.
        argument: String,
        /// The valid names.
        parameters: Vec<String>,
    },
    /// An argument given by position and by keyword, or by keyword twice.
    #[error("{spec}: the argument '{argument}' is given twice{}", among(parameters))]
    ArgumentGivenTwice {
        /// The spec's qualified name.
        spec: String,
        /// The argument.
        argument: String,
        /// The valid names, where they are known.
        parameters: Vec<String>,
    },
    /// JSON that no log would hold in this place, or more of it than [`MAX_ITEMS`](super::MAX_ITEMS).
    #[error("{}{problem}", located(path))]
    Log {
        /// Keys and indexes that lead to the place, joined by dots.
        path: String,
        /// What is wrong with it.
        problem: String,
    },
}

impl SpecErrorKind {
    /// The error of what is nested too deep.
    pub(super) fn too_deep() -> Self {
        SpecErrorKind::Syntax(format!("nested more than {} deep", super::MAX_DEPTH))
    }

    /// An error somewhere in the JSON of a log.
    pub(super) fn log(problem: String) -> Self {
        SpecErrorKind::Log { path: String::new(), problem }
    }
}

/// The error that one thing was expected and another found.
pub fn expected(expected: &str, found: impl fmt::Display) -> SpecErrorKind {
    SpecErrorKind::Syntax(format!("expected {expected}, found {found}"))
}

fn listed(names: &[String]) -> String {
    if names.is_empty() { "none".to_owned() } else { names.join(", ") }
}

fn takes(names: &[String]) -> String {
    match names {
        [] => "no arguments".to_owned(),
        [only] => format!("at most 1 argument ({only})"),
        _ => format!("at most {} arguments ({})", names.len(), names.join(", ")),
    }
}

fn among(names: &[String]) -> String {
    if names.is_empty() { String::new() } else { format!(" (it takes {})", names.join(", ")) }
}

fn located(path: &str) -> String {
    if path.is_empty() { String::new() } else { format!("{path}: ") }
}
