//! Everything that can be wrong with a spec.

/// The kinds of [`SpecError`](super::SpecError).
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SpecErrorKind {
    /// The grammar wants something else here.
    #[error("expected {expected}, found {found}")]
    Expected {
        /// What could have stood here.
        expected: String,
        /// What does.
        found: String,
    },
    /// A string or a backquoted name without an end.
    #[error("this {what} is never closed")]
    Unclosed {
        /// "string" or "name".
        what: &'static str,
    },
    /// An escape that stands for no character.
    #[error("'{escape}' is not an escape sequence")]
    Escape {
        /// The escape as written.
        escape: String,
    },
    /// Something that starts like a number and is none.
    #[error("'{literal}' is not a number")]
    Number {
        /// The number as written.
        literal: String,
    },
    /// A number too large to hold.
    #[error("{literal} does not fit {range}")]
    NumberRange {
        /// The number as written.
        literal: String,
        /// What it does not fit.
        range: &'static str,
    },
    /// A positional argument behind a keyword one.
    #[error("positional argument after keyword argument '{keyword}'")]
    PositionalAfterKeyword {
        /// The keyword argument before it.
        keyword: String,
    },
    /// A key that is already in the map.
    #[error("the key '{key}' is given twice")]
    KeyGivenTwice {
        /// The key.
        key: String,
    },
    /// Nested deeper than [`MAX_DEPTH`](super::MAX_DEPTH).
    #[error("nested more than {limit} deep")]
    TooDeep {
        /// The limit.
        limit: usize,
    },
    /// Lists and maps of a log with more items than [`MAX_ITEMS`](super::MAX_ITEMS) together.
    #[error("{}{found} items, more than the limit of {limit}", located(path))]
    TooManyItems {
        /// Keys and indexes that lead to the place, joined by dots.
        path: String,
        /// How many there are up to this place.
        found: usize,
        /// The limit.
        limit: usize,
    },
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
    /// JSON that no log would hold in this place.
    #[error("{}expected {expected}, found {found}", located(path))]
    Log {
        /// Keys and indexes that lead to the place, joined by dots.
        path: String,
        /// What a log would hold.
        expected: &'static str,
        /// What is there.
        found: String,
    },
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
