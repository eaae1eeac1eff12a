//! What is said to the user besides the results: on stderr, one kind of word in front.

use std::fmt::Display;
use std::io::Write;

use anstyle::{AnsiColor, Style};

const ERROR: Style = AnsiColor::Red.on_default().bold();
const WARNING: Style = AnsiColor::Yellow.on_default().bold();
const HINT: Style = AnsiColor::Cyan.on_default().bold();

/// Something that made the run fail.
pub(crate) fn error(text: impl Display) {
    say("error", ERROR, text);
}

/// Something that a reader of the results should know.
pub(crate) fn warning(text: impl Display) {
    say("warning", WARNING, text);
}

/// Something that was done.
pub(crate) fn note(text: impl Display) {
    // A stderr that cannot be written to leaves nobody to tell.
    let _ = writeln!(anstream::stderr().lock(), "{text}");
}

/// The way out of the error before.
pub(crate) fn hint(text: impl Display) {
    say("hint", HINT, text);
}

/// A line of a text, and marks under the part that is meant.
pub(crate) fn snippet(line: &str, marks: &str) {
    let mut stderr = anstream::stderr().lock();
    let _ = writeln!(stderr, "  {line}\n  {ERROR}{marks}{ERROR:#}");
}

/// How wide the terminal is that messages go to, if they go to one.
pub(crate) fn columns() -> Option<usize> {
    terminal_size::terminal_size_of(std::io::stderr()).map(|(width, _)| usize::from(width.0))
}

fn say(kind: &str, style: Style, text: impl Display) {
    // A stderr that cannot be written to leaves nobody to tell.
    let _ = writeln!(anstream::stderr().lock(), "{style}{kind}{style:#}: {text}");
}
