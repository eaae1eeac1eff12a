//! What is reported to the user besides the results: on standard error, with the kind of message in front.

use std::fmt::Display;

use anstyle::{AnsiColor, Style};

use crate::output::{self, Stream};

const ERROR: Style = AnsiColor::Red.on_default().bold();
const WARNING: Style = AnsiColor::Yellow.on_default().bold();
const HINT: Style = AnsiColor::Cyan.on_default().bold();

/// Something that made the run fail.
pub(crate) fn error(text: impl Display) {
    output::message(Some(("error", ERROR)), text);
}

/// Something that a reader of the results should know.
pub(crate) fn warning(text: impl Display) {
    output::message(Some(("warning", WARNING)), text);
}

/// Something that was done.
pub(crate) fn note(text: impl Display) {
    output::message(None, text);
}

/// The way out of the error before.
pub(crate) fn hint(text: impl Display) {
    output::message(Some(("hint", HINT)), text);
}

/// A line of a text, and marks under the part that is meant.
pub(crate) fn snippet(line: &str, marks: &str) {
    let style = |color: bool| if color { ERROR } else { Style::new() };
    let render = |color| format!("  {line}\n  {0}{marks}{0:#}\n", style(color));
    // If standard error cannot be written to, there is nowhere to report that.
    let _ = output::show(Stream::Stderr, render);
}

/// The width of the terminal that messages go to, if they go to one.
pub(crate) fn columns() -> Option<usize> {
    Stream::Stderr.columns()
}
