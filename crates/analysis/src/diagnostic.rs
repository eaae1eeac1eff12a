//! What there is to report besides results: errors, warnings and notes, as data. Each surface renders them in one place.

use std::io;
use std::ops::Range;
use std::process::ExitCode;

use errorbar_core::spec::SpecError;
use errorbar_table::TableLocation;

use crate::text;
use crate::text::{Opt, Surface, Text};

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
pub struct Place {
    /// The file, as it was given.
    pub path: String,
    /// The line or the row of a table.
    pub location: Option<TableLocation>,
    /// The id of the sample.
    pub sample: Option<String>,
}

impl Place {
    /// A file as a whole.
    pub fn of_file(path: impl Into<String>) -> Self {
        Place { path: path.into(), location: None, sample: None }
    }
}

/// A part of a text that is wrong, to be marked.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Snippet {
    /// Where the text is from.
    pub origin: SnippetOrigin,
    /// The text; of a file the lines from the one on that the part starts in.
    pub text: String,
    /// The bytes of the part.
    pub span: Range<usize>,
}

/// Where the text of a [`Snippet`] is from.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum SnippetOrigin {
    /// The value of an option.
    Option(Opt),
    /// A line of a file, from 1.
    File(String, usize),
}

impl Snippet {
    /// A part of the value of an option.
    pub fn of_option(option: Opt, text: &str, span: Range<usize>) -> Self {
        Snippet { origin: SnippetOrigin::Option(option), text: text.to_owned(), span }
    }

    /// A part of the text of a file, which starts in this line of it.
    pub fn of_file(path: &str, text: &str, span: &Range<usize>, line: usize) -> Self {
        let before = text.get(..span.start).unwrap_or(text);
        let start = before.rfind('\n').map_or(0, |at| at + 1);
        let end =
            text.get(span.start..).and_then(|rest| rest.find('\n')).map_or(text.len(), |at| span.start + at);
        let text = text.get(start..end).unwrap_or_default().to_owned();
        let span = span.start.saturating_sub(start)..span.end.saturating_sub(start);
        Snippet { origin: SnippetOrigin::File(path.to_owned(), line), text, span }
    }
}

/// One thing to report.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Diagnostic {
    /// How bad it is.
    pub severity: Severity,
    /// What is wrong, in one line that names the file.
    pub text: Text,
    /// What to do about it.
    pub hint: Option<Text>,
    /// The part of a text that it is about. Boxed, so that the results which carry it stay small.
    pub snippet: Option<Box<Snippet>>,
    /// What it is about.
    pub kind: DiagnosticKind,
    /// The file that it is about, as it was given, and where in it.
    pub place: Option<Box<Place>>,
}

/// How one is made.
impl Diagnostic {
    fn new(severity: Severity, text: impl Into<Text>) -> Self {
        let (kind, place) = (DiagnosticKind::General, None);
        Diagnostic { severity, text: text.into(), hint: None, snippet: None, kind, place }
    }

    /// The same of a table of this name, which the text names then.
    #[must_use]
    pub fn of_table(self, name: &str) -> Self {
        self.about(name).of_kind(DiagnosticKind::Table)
    }

    /// What it says and what to do about it, as users of a surface read it.
    pub fn on(&self, surface: Surface) -> (String, Option<String>) {
        (self.text.on(surface), self.hint.as_ref().map(|hint| hint.on(surface)))
    }

    /// Something that was done.
    pub fn note(text: impl Into<Text>) -> Self {
        Diagnostic::new(Severity::Note, text)
    }

    /// Something that a reader of the results should know.
    pub fn warning(text: impl Into<Text>) -> Self {
        Diagnostic::new(Severity::Warning, text)
    }

    /// A negative answer.
    pub fn failure(text: impl Into<Text>) -> Self {
        Diagnostic::new(Severity::Failure, text)
    }

    /// Something that cannot be used.
    pub fn error(text: impl Into<Text>) -> Self {
        Diagnostic::new(Severity::Error, text)
    }

    /// Two options that exclude each other.
    pub(crate) fn excluded(one: Opt, other: Opt) -> Self {
        let problem = text!("{} and {} do not go together", one, other);
        Diagnostic::error(problem).hint(text!("omit {} or {}", one, other))
    }

    /// The mistake in the text of an option.
    pub fn of_spec(option: Opt, text: &str, error: &SpecError) -> Self {
        let snippet = Snippet::of_option(option, text, error.span().unwrap_or(0..text.len()));
        Diagnostic::error(error.to_string()).marked(snippet).hint_if(error.hint())
    }

    /// Adds what to do about it.
    #[must_use]
    pub fn hint(self, hint: impl Into<Text>) -> Self {
        self.hint_if(Some(hint))
    }

    /// Adds what to do about it, if that is known.
    #[must_use]
    pub fn hint_if(self, hint: Option<impl Into<Text>>) -> Self {
        Diagnostic { hint: hint.map(Into::into), ..self }
    }

    /// Adds the part of a text that it is about.
    #[must_use]
    pub fn marked(self, snippet: Snippet) -> Self {
        Diagnostic { snippet: Some(Box::new(snippet)), ..self }
    }

    /// The same, of this file or task.
    #[must_use]
    pub fn about(self, subject: impl std::fmt::Display) -> Self {
        let path = subject.to_string();
        let text = self.text.about(Text::from(&path));
        let place = self.place.or_else(|| Some(Box::new(Place::of_file(path))));
        Diagnostic { text, place, ..self }
    }

    /// The same, of this option, with its value or without.
    #[must_use]
    pub fn about_option(self, option: impl Into<Text>) -> Self {
        Diagnostic { text: self.text.about(option.into()), ..self }
    }

    /// The same of this kind.
    #[must_use]
    pub fn of_kind(self, kind: DiagnosticKind) -> Self {
        Diagnostic { kind, ..self }
    }

    /// The same with the file that it is about, which the text names already.
    #[must_use]
    pub fn at(self, place: Place) -> Self {
        Diagnostic { place: Some(Box::new(place)), ..self }
    }
}

/// How something came out, as exit codes say it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Outcome {
    /// Done.
    #[default]
    Done,
    /// The input is valid, and the answer is negative.
    Negative,
    /// The arguments or the input cannot be used.
    InputError,
}

impl Outcome {
    /// The exit code.
    pub fn code(self) -> u8 {
        match self {
            Outcome::Done => 0,
            Outcome::Negative => 1,
            Outcome::InputError => 2,
        }
    }
}

/// Everything that there is to report.
#[derive(Debug, Default)]
pub struct Diagnostics(Vec<Diagnostic>);

impl Diagnostics {
    /// Adds one.
    pub fn push(&mut self, diagnostic: impl Into<Diagnostic>) {
        self.0.push(diagnostic.into());
    }

    /// The value of a result; its diagnostics are added to these.
    pub fn collect<T>(&mut self, result: Result<T, Diagnostics>) -> Option<T> {
        result.map_err(|diagnostics| self.extend(diagnostics)).ok()
    }

    /// Each of them.
    pub fn iter(&self) -> std::slice::Iter<'_, Diagnostic> {
        self.0.iter()
    }

    /// Whether there is nothing to report.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether all say that an eval log cannot be used.
    pub(crate) fn are_of_a_log(&self) -> bool {
        self.0.iter().all(|diagnostic| diagnostic.kind == DiagnosticKind::Log)
    }

    /// Each diagnostic of these, about the same file or task.
    #[must_use]
    pub fn about(self, subject: impl std::fmt::Display) -> Self {
        Diagnostics(self.0.into_iter().map(|diagnostic| diagnostic.about(&subject)).collect())
    }

    /// How something with these came out.
    pub fn outcome(&self) -> Outcome {
        match self.0.iter().map(|diagnostic| diagnostic.severity).max() {
            Some(Severity::Error) => Outcome::InputError,
            Some(Severity::Failure) => Outcome::Negative,
            _ => Outcome::Done,
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

impl From<Outcome> for ExitCode {
    fn from(outcome: Outcome) -> Self {
        ExitCode::from(outcome.code())
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
///
/// # Errors
/// Everything that failed.
pub fn all<T>(results: impl IntoIterator<Item = Result<T, Diagnostics>>) -> Result<Vec<T>, Diagnostics> {
    let mut diagnostics = Diagnostics::default();
    let values = results.into_iter().filter_map(|result| diagnostics.collect(result)).collect();
    if diagnostics.is_empty() { Ok(values) } else { Err(diagnostics) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_worst_decides_the_outcome() {
        let status =
            |diagnostics: &[Diagnostic]| diagnostics.iter().cloned().collect::<Diagnostics>().outcome();
        let (note, failure, error) = (Diagnostic::note(""), Diagnostic::failure(""), Diagnostic::error(""));
        assert_eq!(status(&[note.clone(), Diagnostic::warning("")]), Outcome::Done);
        assert_eq!(status(&[failure.clone(), note]), Outcome::Negative);
        assert_eq!(status(&[error, failure]), Outcome::InputError);
    }

    #[test]
    fn all_failures_are_collected() {
        let results = [Ok(1), Err(Diagnostic::error("a").into()), Ok(2), Err(Diagnostic::error("b").into())];
        let texts: Vec<String> =
            all(results).unwrap_err().into_iter().map(|one| one.text.to_string()).collect();
        assert_eq!(texts, ["a", "b"]);
        assert_eq!(all([Ok(1), Ok(2)]).unwrap(), [1, 2]);
    }
}
