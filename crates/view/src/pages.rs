//! The pages of logs, which are made by whoever starts the server.

use std::path::{Path, PathBuf};

use axum::http::StatusCode;

/// Makes the report page of logs.
///
/// The page is that of a report, and what it takes to compute one (the registry of metrics, the alignment of samples) is
/// known where reports are made. So the server gets it as a value.
pub trait ReportPages: Send + Sync {
    /// The page of one log, or of several compared, as HTML whose sample browser fetches `samples.json` and `sample.json`
    /// from beside the page.
    ///
    /// # Errors
    /// Logs that cannot be read or compared.
    fn page(&self, logs: &[PathBuf]) -> Result<String, PageError>;
}

/// Why there is no page.
#[derive(Debug, Clone, thiserror::Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum PageError {
    /// What was requested does not exist.
    #[error("{0}")]
    NotFound(String),
    /// The logs cannot be read, or not be compared.
    #[error("{0}")]
    Unusable(String),
}

impl PageError {
    /// Logs that cannot be read, or not be compared, and why.
    pub fn unusable(reason: impl Into<String>) -> Self {
        PageError::Unusable(reason.into())
    }

    pub(crate) fn status(&self) -> StatusCode {
        match self {
            PageError::NotFound(_) => StatusCode::NOT_FOUND,
            PageError::Unusable(_) => StatusCode::UNPROCESSABLE_ENTITY,
        }
    }
}

/// What runs are called on a page: the last part of the model's name where that is enough, else the whole of it, else the
/// file.
///
/// ```
/// use std::path::Path;
///
/// let names = |runs: [(Option<&str>, &str); 2]| {
///     errorbar_view::run_names(runs.map(|(model, path)| (model, Path::new(path))).into_iter())
/// };
/// assert_eq!(names([(Some("openai/heron"), "1.eval"), (Some("openai/wren"), "2.eval")]), ["heron", "wren"]);
/// assert_eq!(names([(Some("a/heron"), "1.eval"), (Some("b/heron"), "2.eval")]), ["a/heron", "b/heron"]);
/// assert_eq!(names([(Some("heron"), "l/1.eval"), (Some("heron"), "l/2.eval")]), ["heron (1)", "heron (2)"]);
/// ```
pub fn run_names<'a>(runs: impl Iterator<Item = (Option<&'a str>, &'a Path)>) -> Vec<String> {
    let runs: Vec<(&str, &Path)> = runs.map(|(model, path)| (model.unwrap_or_default(), path)).collect();
    let stem = |path: &Path| path.file_stem().map(|stem| stem.display().to_string()).unwrap_or_default();
    let last = |model: &str| model.rsplit('/').next().unwrap_or(model).to_owned();
    let name = |kind: u8, (model, path): &(&str, &Path)| match kind {
        0 => last(model),
        1 => (*model).to_owned(),
        _ => format!("{} ({})", last(model), stem(path)),
    };
    let is_enough = |names: &Vec<String>| {
        let mut sorted: Vec<&String> = names.iter().collect();
        sorted.sort_unstable();
        sorted.dedup();
        sorted.len() == names.len() && names.iter().all(|name| !name.is_empty())
    };
    let of_kind = |kind| runs.iter().map(|run| name(kind, run)).collect::<Vec<String>>();
    let named = (0..3).map(of_kind).find(is_enough);
    // Files of one name in several folders.
    named.unwrap_or_else(|| runs.iter().map(|(_, path)| path.display().to_string()).collect())
}
