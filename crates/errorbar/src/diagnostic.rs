//! What the program reports besides results: errors, warnings and notes, on standard error.
//!
//! Commands return diagnostics, or add them to those of their outcome, and never print them. [`Diagnostics::print`] is called
//! once, when the results are out; what cannot wait for that, because a run takes hours, goes the same way by
//! [`Diagnostic::print`].

use std::collections::HashSet;
use std::io;

use anstyle::{AnsiColor, Style};
use errorbar_core::spec::SpecError;
use errorbar_table::TableLocation;

use crate::commands::Status;
use crate::output::{self, Stream};
use crate::snippet::Snippet;

const ERROR: Style = AnsiColor::Red.on_default().bold();
const WARNING: Style = AnsiColor::Yellow.on_default().bold();
const HINT: Style = AnsiColor::Cyan.on_default().bold();

/// How bad it is, and with it the exit code. Diagnostics are printed in this order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// Something that was done.
    Note,
    /// Something that a reader of the results should know.
    Warning,
    /// The input is valid, and the answer is negative.
    Failure,
    /// Arguments or input that cannot be used.
    Error,
}

/// What a diagnostic is about, for programs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum DiagnosticKind {
    /// Options, or something that has no other kind.
    #[default]
    General,
    /// A metric, reducer or scorer that cannot be built.
    Spec,
    /// A table of scores.
    Table,
    /// An eval log.
    Log,
}

/// The file that a diagnostic is about, and where in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) path: String,
    pub(crate) location: Option<TableLocation>,
    pub(crate) sample: Option<String>,
}

/// One thing to report.
#[derive(Debug, Clone)]
pub struct Diagnostic {
    pub(crate) severity: Severity,
    pub(crate) text: String,
    /// What to do about it.
    pub(crate) hint: Option<String>,
    /// The place that it is about. Boxed, so that the results which carry it stay small.
    pub(crate) snippet: Option<Box<Snippet>>,
    pub(crate) kind: DiagnosticKind,
    pub(crate) place: Option<Box<Place>>,
}

/// What a diagnostic says, for programs that show it their own way.
impl Diagnostic {
    /// How bad it is.
    pub fn severity(&self) -> Severity {
        self.severity
    }

    /// What is wrong, in one line that names the file.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// What to do about it. Options have the names that they have on the command line.
    pub fn hint_text(&self) -> Option<&str> {
        self.hint.as_deref()
    }

    /// What it is about.
    pub fn kind(&self) -> DiagnosticKind {
        self.kind
    }

    /// The file that it is about, as it was given.
    pub fn path(&self) -> Option<&str> {
        self.place.as_ref().map(|place| place.path.as_str())
    }

    /// The line or the row of a table that it is about.
    pub fn location(&self) -> Option<TableLocation> {
        self.place.as_ref().and_then(|place| place.location)
    }

    /// The same of a table of this name, which the text names then.
    #[must_use]
    pub fn of_table(self, name: &str) -> Self {
        self.about(name).of_kind(DiagnosticKind::Table)
    }

    /// The id of the sample that it is about.
    pub fn sample(&self) -> Option<&str> {
        self.place.as_ref().and_then(|place| place.sample.as_deref())
    }
}

impl Diagnostic {
    fn new(severity: Severity, text: impl Into<String>) -> Self {
        let (kind, place) = (DiagnosticKind::General, None);
        Diagnostic { severity, text: text.into(), hint: None, snippet: None, kind, place }
    }

    pub(crate) fn note(text: impl Into<String>) -> Self {
        Diagnostic::new(Severity::Note, text)
    }

    pub(crate) fn warning(text: impl Into<String>) -> Self {
        Diagnostic::new(Severity::Warning, text)
    }

    pub(crate) fn failure(text: impl Into<String>) -> Self {
        Diagnostic::new(Severity::Failure, text)
    }

    pub(crate) fn error(text: impl Into<String>) -> Self {
        Diagnostic::new(Severity::Error, text)
    }

    /// The mistake in the text of an option.
    pub(crate) fn of_spec(option: &str, text: &str, error: &SpecError) -> Self {
        let snippet = Snippet::of_argument(option, text, error.span().unwrap_or(0..text.len()));
        Diagnostic::error(error.to_string()).snippet(snippet).hint_if(error.hint().map(str::to_owned))
    }

    /// Adds what to do about it.
    #[must_use]
    pub(crate) fn hint(self, hint: impl Into<String>) -> Self {
        self.hint_if(Some(hint.into()))
    }

    /// Adds what to do about it, if that is known.
    #[must_use]
    pub(crate) fn hint_if(self, hint: Option<String>) -> Self {
        Diagnostic { hint, ..self }
    }

    /// Adds the place that it is about.
    #[must_use]
    pub(crate) fn snippet(self, snippet: Snippet) -> Self {
        Diagnostic { snippet: Some(Box::new(snippet)), ..self }
    }

    /// The same, of this file, task or option.
    #[must_use]
    pub(crate) fn about(self, subject: impl std::fmt::Display) -> Self {
        let path = subject.to_string();
        let text = format!("{path}: {}", self.text);
        let place = self.place.or_else(|| {
            // The name of an option is none of a file.
            let is_file = !path.starts_with("--");
            is_file.then(|| Box::new(Place { path, location: None, sample: None }))
        });
        Diagnostic { text, place, ..self }
    }

    /// The same of this kind.
    #[must_use]
    pub(crate) fn of_kind(self, kind: DiagnosticKind) -> Self {
        Diagnostic { kind, ..self }
    }

    /// The same with the file that it is about, which the text names already.
    #[must_use]
    pub(crate) fn at(self, place: Place) -> Self {
        Diagnostic { place: Some(Box::new(place)), ..self }
    }

    /// Prints it now. Notes and warnings are skipped if `quiet`.
    pub(crate) fn print(&self, quiet: bool) {
        if !quiet || self.severity > Severity::Warning {
            // If standard error cannot be written to, there is nowhere to report that.
            let _ = output::show(Stream::Stderr, |color| self.render(color));
        }
    }

    fn render(&self, color: bool) -> String {
        let labeled = |label: &str, style: Style, text: &str| {
            let style = if color { style } else { Style::new() };
            format!("{style}{label}{style:#}: {}\n", output::paragraph(text))
        };
        let text = match self.severity {
            Severity::Note => format!("{}\n", output::paragraph(&self.text)),
            Severity::Warning => labeled("warning", WARNING, &self.text),
            Severity::Failure | Severity::Error => labeled("error", ERROR, &self.text),
        };
        let snippet = self.snippet.as_ref().map(|snippet| snippet.render(color)).unwrap_or_default();
        let hint = self.hint.as_ref().map(|hint| labeled("hint", HINT, hint)).unwrap_or_default();
        // Lines that belong together stand apart from others.
        text + &snippet + &hint + if self.snippet.is_some() { "\n" } else { "" }
    }
}

/// Everything that there is to report.
#[derive(Debug, Default)]
pub(crate) struct Diagnostics(Vec<Diagnostic>);

impl Diagnostics {
    pub(crate) fn push(&mut self, diagnostic: impl Into<Diagnostic>) {
        self.0.push(diagnostic.into());
    }

    /// The value of a result; its diagnostics are added to these.
    pub(crate) fn collect<T>(&mut self, result: Result<T, Diagnostics>) -> Option<T> {
        result.map_err(|diagnostics| self.extend(diagnostics)).ok()
    }

    /// What the first one says, without its subject and its hint.
    pub(crate) fn first_text(&self) -> Option<&str> {
        self.0.first().map(|diagnostic| diagnostic.text.as_str())
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether all say that an eval log cannot be used.
    pub(crate) fn are_of_a_log(&self) -> bool {
        self.0.iter().all(|diagnostic| diagnostic.kind == DiagnosticKind::Log)
    }

    /// Each diagnostic of these, about the same file, task or option.
    #[must_use]
    pub(crate) fn about(self, subject: impl std::fmt::Display) -> Self {
        Diagnostics(self.0.into_iter().map(|diagnostic| diagnostic.about(&subject)).collect())
    }

    /// How a command with these ends.
    pub(crate) fn status(&self) -> Status {
        match self.0.iter().map(|diagnostic| diagnostic.severity).max() {
            Some(Severity::Error) => Status::InputError,
            Some(Severity::Failure) => Status::Negative,
            _ => Status::Fine,
        }
    }

    /// Prints them, each once. Notes and warnings are skipped if `quiet`.
    pub(crate) fn print(mut self, quiet: bool) {
        self.0.sort_by_key(|diagnostic| diagnostic.severity);
        let mut printed = HashSet::new();
        for diagnostic in &self.0 {
            if printed.insert((diagnostic.severity, &diagnostic.text, &diagnostic.snippet)) {
                diagnostic.print(quiet);
            }
        }
    }
}

impl<D: Into<Diagnostic>> From<D> for Diagnostics {
    fn from(diagnostic: D) -> Self {
        Diagnostics(vec![diagnostic.into()])
    }
}

/// Standard output cannot be written to. If its reader has seen enough, as in `errorbar list | head`, all is well.
impl From<io::Error> for Diagnostics {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::BrokenPipe => Diagnostics::default(),
            _ => Diagnostics(vec![Diagnostic::error(error.to_string()).about("standard output")]),
        }
    }
}

impl IntoIterator for Diagnostics {
    type Item = Diagnostic;
    type IntoIter = std::vec::IntoIter<Diagnostic>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

impl Extend<Diagnostic> for Diagnostics {
    fn extend<T: IntoIterator<Item = Diagnostic>>(&mut self, diagnostics: T) {
        self.0.extend(diagnostics);
    }
}

impl FromIterator<Diagnostic> for Diagnostics {
    fn from_iter<T: IntoIterator<Item = Diagnostic>>(diagnostics: T) -> Self {
        Diagnostics(diagnostics.into_iter().collect())
    }
}

/// All values, or the diagnostics of everything that failed. Unlike `collect`, it does not stop at the first failure.
pub(crate) fn all<T>(
    results: impl IntoIterator<Item = Result<T, Diagnostics>>,
) -> Result<Vec<T>, Diagnostics> {
    let mut diagnostics = Diagnostics::default();
    let values = results.into_iter().filter_map(|result| diagnostics.collect(result)).collect();
    if diagnostics.is_empty() { Ok(values) } else { Err(diagnostics) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_diagnostic_is_its_text_the_place_and_the_hint() {
        let diagnostic = Diagnostic::error("unknown metric `acc`\nof two lines").hint("try `mean`");
        let diagnostic = diagnostic.snippet(Snippet::of_argument("--metric", "acc", 0..3));
        assert_eq!(
            diagnostic.render(false),
            "error: unknown metric `acc`\n  of two lines\n |\n | --metric acc\n |          ^^^\nhint: try `mean`\n\n"
        );
        assert!(diagnostic.render(true).starts_with("\u{1b}[1m\u{1b}[31merror\u{1b}[0m: unknown"));
        assert_eq!(Diagnostic::note("done").about("a.eval").render(true), "a.eval: done\n");
    }

    #[test]
    fn the_worst_decides_the_status() {
        let status =
            |diagnostics: &[Diagnostic]| diagnostics.iter().cloned().collect::<Diagnostics>().status();
        let (note, failure, error) = (Diagnostic::note(""), Diagnostic::failure(""), Diagnostic::error(""));
        assert_eq!(status(&[note.clone(), Diagnostic::warning("")]), Status::Fine);
        assert_eq!(status(&[failure.clone(), note]), Status::Negative);
        assert_eq!(status(&[error, failure]), Status::InputError);
    }

    #[test]
    fn all_failures_are_collected() {
        let results = [Ok(1), Err(Diagnostic::error("a").into()), Ok(2), Err(Diagnostic::error("b").into())];
        let texts: Vec<String> = all(results).unwrap_err().into_iter().map(|one| one.text).collect();
        assert_eq!(texts, ["a", "b"]);
        assert_eq!(all([Ok(1), Ok(2)]).unwrap(), [1, 2]);
    }
}
