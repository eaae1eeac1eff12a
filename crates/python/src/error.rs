//! Diagnostics as exceptions and warnings.

use errorbar::analysis::{Diagnostic, DiagnosticKind, Severity};
use errorbar::table::TableLocation;
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// The module with the classes.
const MODULE: &str = "errorbar._errors";

/// What there is to report, split by what becomes of it.
#[derive(Debug, Default)]
pub(crate) struct Messages {
    /// What makes a call raise.
    pub(crate) errors: Vec<Diagnostic>,
    /// What a reader of the results should know.
    pub(crate) warnings: Vec<Diagnostic>,
    /// What was done.
    pub(crate) notes: Vec<String>,
}

impl Messages {
    pub(crate) fn new(diagnostics: Vec<Diagnostic>) -> Self {
        let mut messages = Messages::default();
        for diagnostic in diagnostics {
            match diagnostic.severity() {
                Severity::Error => messages.errors.push(diagnostic),
                Severity::Warning | Severity::Failure => messages.warnings.push(diagnostic),
                Severity::Note => messages.notes.push(text(&diagnostic)),
            }
        }
        messages
    }

    /// The exception of what went wrong, if something did. The results of everything else are its `results`.
    pub(crate) fn raise<'py>(
        &self,
        py: Python<'py>,
        results: impl FnOnce() -> PyResult<Bound<'py, PyAny>>,
    ) -> PyResult<()> {
        let [first, others @ ..] = self.errors.as_slice() else { return Ok(()) };
        let error = exception(py, first)?;
        if !others.is_empty() {
            let others: Vec<_> = others.iter().map(|other| exception(py, other)).collect::<PyResult<_>>()?;
            error.setattr("others", others)?;
        }
        error.setattr("results", results()?)?;
        Err(PyErr::from_value(error))
    }

    /// Issues the warnings, from the line of Python that called the package.
    pub(crate) fn warn(&self, py: Python<'_>) -> PyResult<()> {
        if self.warnings.is_empty() {
            return Ok(());
        }
        let warn = py.import(MODULE)?.getattr("warn")?;
        self.warnings.iter().try_for_each(|warning| warn.call1((text(warning),)).map(drop))
    }

    /// The warnings as strings.
    pub(crate) fn warnings(&self) -> Vec<String> {
        self.warnings.iter().map(text).collect()
    }
}

/// A message with its hint.
fn text(diagnostic: &Diagnostic) -> String {
    match diagnostic.hint_text() {
        Some(hint) => format!("{} ({})", diagnostic.text(), keywords(hint)),
        None => diagnostic.text().to_owned(),
    }
}

fn exception<'py>(py: Python<'py>, diagnostic: &Diagnostic) -> PyResult<Bound<'py, PyAny>> {
    let class = match diagnostic.kind() {
        DiagnosticKind::Spec => "SpecError",
        DiagnosticKind::Table => "TableError",
        DiagnosticKind::Log => "LogError",
        _ => "InputError",
    };
    let fields = PyDict::new(py);
    fields.set_item("path", diagnostic.path())?;
    fields.set_item("sample", diagnostic.sample())?;
    match diagnostic.location() {
        Some(TableLocation::Line(line)) => fields.set_item("line", line)?,
        Some(TableLocation::Row(row)) => fields.set_item("row", row)?,
        _ => {}
    }
    fields.set_item("hint", diagnostic.hint_text().map(keywords))?;
    py.import(MODULE)?.getattr(class)?.call((keywords(diagnostic.text()),), Some(&fields))
}

/// The options of the command line that have another name in Python, besides that of the option with `_` for `-`.
const KEYWORDS: [(&str, &str); 9] = [
    ("--score-column", "score="),
    ("--id-column", "id="),
    ("--epoch-column", "epoch="),
    ("--metric", "metrics="),
    ("--reducer", "reducers="),
    ("--no-reduce", "reduce=False"),
    ("--scorers", "compare_scorers="),
    ("--scorer", "scorers="),
    ("--from", "runs="),
];

/// A text with the names of keyword arguments for those of options.
fn keywords(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("--") {
        let (before, option) = rest.split_at(at);
        out.push_str(before);
        let is_start =
            out.chars().next_back().is_none_or(|before| !before.is_alphanumeric() && before != '-');
        let end = option.find(|c: char| !c.is_ascii_lowercase() && c != '-').unwrap_or(option.len());
        let (name, after) = option.split_at(end);
        let known = KEYWORDS.iter().find(|(option, _)| *option == name);
        match known {
            _ if !is_start || name.len() < 4 => out.push_str(name),
            Some((_, keyword)) => out.push_str(keyword),
            None => {
                out.push_str(&name.trim_start_matches('-').replace('-', "_"));
                out.push('=');
            }
        }
        rest = match value(after).filter(|_| is_start && name.len() > 3) {
            Some((value, after)) => {
                out.push_str(&value);
                after
            }
            None => after,
        };
    }
    out.push_str(rest);
    out
}

/// Words that follow the name of an option in a sentence, and are no value of it.
const WORDS: [&str; 24] = [
    "and", "as", "by", "counts", "for", "if", "in", "is", "lists", "of", "once", "or", "reads", "say",
    "says", "shows", "skips", "such", "takes", "to", "twice", "where", "with", "writes",
];

/// The value of an option that stands before this text, and what follows it: ` judge?` starts with `"judge"`.
fn value(text: &str) -> Option<(String, &str)> {
    let text = text.strip_prefix(' ')?;
    let end = match text.strip_prefix('\'') {
        Some(quoted) => quoted.find('\'').map(|end| end + 2)?,
        None => text.find(|c: char| c.is_whitespace() || ";,?):".contains(c)).unwrap_or(text.len()),
    };
    let (value, rest) = text.split_at(end);
    match value.chars().next()? {
        '\'' | 'A'..='Z' | '0'..='9' => Some((value.to_owned(), rest)),
        'a'..='z' | '_' if !WORDS.contains(&value) => Some((format!("{value:?}"), rest)),
        _ => None,
    }
}
