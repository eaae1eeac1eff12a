//! Which tasks of a file are wanted and with which arguments, and what can be wrong with that.

use std::path::PathBuf;

use errorbar_core::spec::nearest;
use serde_json::Value as Json;

use super::args::TaskArgument;
use super::mistake::TaskFileError;

/// Which tasks of a file, and their arguments.
///
/// ```
/// use errorbar_eval::TaskSelection;
/// let selection = TaskSelection::new().task("law").arg("shots", "5");
/// assert_eq!(selection.name.as_deref(), Some("law"));
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
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

impl TaskSelection {
    /// All tasks of the file, with the defaults of their arguments.
    pub fn new() -> Self {
        TaskSelection::default()
    }

    /// Only the task of this name.
    #[must_use]
    pub fn task(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// With this value of an argument.
    #[must_use]
    pub fn arg(mut self, name: impl Into<String>, value: impl Into<Json>) -> Self {
        self.args.push((name.into(), value.into()));
        self
    }

    /// With this many samples at most.
    #[must_use]
    pub fn limit(mut self, count: usize) -> Self {
        self.limit = Some(count);
        self
    }
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
