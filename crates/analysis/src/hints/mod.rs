//! Errors of the libraries as diagnostics, with what to do about them.
//!
//! Libraries report what is wrong, in typed errors that know nothing of options. What to do about it names options, as
//! data, so it is here, a file per library. Each function matches on the kind of the error.

pub mod core;
#[cfg(feature = "eval")]
pub mod eval;
pub mod log;
pub mod power;
pub(crate) mod table;

use errorbar_inference::{ComparisonError, PowerError};
use errorbar_log::eval::LogError;
use errorbar_table::TableError;

use crate::diagnostic::{Diagnostic, DiagnosticKind, Place};

impl From<errorbar_core::Error> for Diagnostic {
    fn from(error: errorbar_core::Error) -> Self {
        Diagnostic::error(error.to_string()).hint_if(core::hint(&error))
    }
}

impl From<ComparisonError> for Diagnostic {
    fn from(error: ComparisonError) -> Self {
        Diagnostic::error(error.to_string()).hint_if(core::comparison_hint(&error))
    }
}

impl From<errorbar_inference::Error> for Diagnostic {
    fn from(error: errorbar_inference::Error) -> Self {
        match error {
            errorbar_inference::Error::Core(error) => error.into(),
            errorbar_inference::Error::Comparison(error) => error.into(),
            error => Diagnostic::error(error.to_string()),
        }
    }
}

impl From<PowerError> for Diagnostic {
    fn from(error: PowerError) -> Self {
        Diagnostic::error(error.to_string()).hint_if(power::hint(&error))
    }
}

impl From<LogError> for Diagnostic {
    fn from(error: LogError) -> Self {
        let place = error.path().map(|path| Place {
            path: path.display().to_string(),
            location: None,
            sample: error.sample().map(str::to_owned),
        });
        let diagnostic = Diagnostic::error(error.to_string()).hint_if(log::hint(&error));
        let diagnostic = diagnostic.of_kind(DiagnosticKind::Log);
        match place {
            Some(place) => diagnostic.at(place),
            None => diagnostic,
        }
    }
}

impl From<TableError> for Diagnostic {
    fn from(error: TableError) -> Self {
        let place = Place {
            path: error.path().display().to_string(),
            location: error.location(),
            sample: error.sample().map(str::to_owned),
        };
        Diagnostic::error(error.problem()).hint(table::hint(&error)).of_kind(DiagnosticKind::Table).at(place)
    }
}

#[cfg(feature = "eval")]
mod of_eval {
    use std::path::PathBuf;

    use errorbar_eval::{RescoreError, TaskFileError};

    use super::eval;
    use crate::diagnostic::{Diagnostic, DiagnosticKind, Diagnostics, Snippet};
    use crate::shell;

    /// The number of mistakes of a task file that are shown; a file that is no task file at all has hundreds.
    const MISTAKES_SHOWN: usize = 20;

    impl From<errorbar_eval::Error> for Diagnostic {
        fn from(error: errorbar_eval::Error) -> Self {
            match error {
                errorbar_eval::Error::Log(error) => error.into(),
                error => Diagnostic::error(error.to_string()).hint_if(eval::hint(&error)),
            }
        }
    }

    impl From<RescoreError> for Diagnostic {
        fn from(error: RescoreError) -> Self {
            let text = error.to_string();
            let diagnostic = match &error {
                RescoreError::Cancelled { .. } => Diagnostic::failure(text),
                _ => Diagnostic::error(text),
            };
            let diagnostic = diagnostic.hint_if(eval::rescore_hint(&error));
            match error {
                RescoreError::NoSamples { .. } => diagnostic.of_kind(DiagnosticKind::Log),
                _ => diagnostic,
            }
        }
    }

    impl From<TaskFileError> for Diagnostics {
        fn from(error: TaskFileError) -> Self {
            let (path, count) = (error.path.display().to_string(), error.mistakes.len());
            let mistakes = error.mistakes.iter().take(MISTAKES_SHOWN).map(|mistake| {
                let allow =
                    |path: &PathBuf| format!("if you trust it, allow it: --allow-path {}", shell::path(path));
                let hint = mistake.hint.clone().or_else(|| mistake.outside.as_ref().map(allow));
                let diagnostic = Diagnostic::error(&mistake.message).hint_if(hint);
                if mistake.is_about_the_file() {
                    return diagnostic.about(&path);
                }
                diagnostic.marked(Snippet::of_file(&path, &error.text, &mistake.span, mistake.line))
            });
            let mut diagnostics: Diagnostics = mistakes.collect();
            if count > 1 {
                let more = count.saturating_sub(MISTAKES_SHOWN);
                let more = if more > 0 { format!(", {more} more than shown") } else { String::new() };
                diagnostics.push(Diagnostic::error(format!("{count} mistakes in {path}{more}")));
            }
            diagnostics
        }
    }
}
