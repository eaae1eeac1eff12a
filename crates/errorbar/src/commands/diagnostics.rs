//! What is to be told on stderr once the results are out, each thing once.

use errorbar_core::{Failure, IndexMap};
use errorbar_log::eval::LogError;
use errorbar_log::inspect::Projection;
use errorbar_report::Report;

use super::Status;
use crate::{hints, message};

/// Tells the warnings and failures that results carry.
pub(super) fn findings(report: &Report, diagnostics: &mut Diagnostics) {
    for warning in Projection::new(&report.results).warnings() {
        diagnostics.warning(format!("{}: {warning}", report.log));
    }
    for block in &report.results.scores {
        for Failure { metric, error } in &block.failures {
            let mut place = format!("{}: {}", report.log, block.scorer);
            if let Some(field) = &block.field {
                place += &format!(": {field}");
            }
            let text = error.to_string();
            let text = text.strip_prefix(&format!("{metric}: ")).unwrap_or(&text);
            let hint = hints::core::cluster_hint(error, &report.results.errors.cluster)
                .or_else(|| hints::core::hint(error));
            diagnostics.error(format!("{place}: {metric} failed: {text}"), hint);
        }
    }
}

/// What is to be told once the results are out, each thing once.
#[derive(Default)]
pub(super) struct Diagnostics {
    quiet: bool,
    notes: Vec<String>,
    warnings: IndexMap<String, ()>,
    errors: IndexMap<String, Option<String>>,
    /// The same, of what was asked for rightly and did not come about.
    failures: Vec<(String, Option<String>)>,
}

impl Diagnostics {
    /// Nothing yet; warnings are kept back if `quiet`.
    pub(super) fn new(quiet: bool) -> Self {
        Diagnostics { quiet, ..Diagnostics::default() }
    }

    /// Something that went as it was asked for.
    pub(super) fn note(&mut self, text: String) {
        self.notes.push(text);
    }

    pub(super) fn warning(&mut self, text: String) {
        self.warnings.insert(text, ());
    }

    pub(super) fn error(&mut self, text: String, hint: Option<String>) {
        self.errors.entry(text).or_insert(hint);
    }

    /// What was asked for rightly and did not come about: a negative answer, not one to the input.
    pub(super) fn failure(&mut self, text: String, hint: Option<String>) {
        self.failures.push((text, hint));
    }

    /// A log that cannot be read or written.
    pub(super) fn log_error(&mut self, error: &LogError) {
        self.error(error.problem(), hints::log::hint(error));
    }

    /// Takes over what another has to tell.
    pub(super) fn append(&mut self, other: Diagnostics) {
        self.notes.extend(other.notes);
        other.warnings.into_keys().for_each(|text| self.warning(text));
        other.errors.into_iter().for_each(|(text, hint)| self.error(text, hint));
        self.failures.extend(other.failures);
    }

    pub(super) fn print(self) -> Status {
        for note in self.notes.iter().filter(|_| !self.quiet) {
            message::note(note);
        }
        for warning in self.warnings.keys().filter(|_| !self.quiet) {
            message::warning(warning);
        }
        for (error, hint) in self.failures.iter().map(|(error, hint)| (error, hint)).chain(&self.errors) {
            message::error(error);
            if let Some(hint) = hint {
                message::hint(hint);
            }
        }
        match (self.errors.is_empty(), self.failures.is_empty()) {
            (false, _) => Status::InputError,
            (true, false) => Status::Negative,
            (true, true) => Status::Fine,
        }
    }
}
