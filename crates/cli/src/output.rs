//! Everything that the program writes to standard output and standard error goes through this module.
//! Text from files, servers and arguments may hold characters that a terminal obeys: escape sequences that change its
//! title or hide what follows, overrides of the direction of text ([`is_unsafe`]). **What is for people** (tables,
//! messages, progress, help) is always cleaned, each such character replaced with U+FFFD: even through a pipe it may end
//! on a terminal, by way of `less -R`, `tee` or the log of a CI run. So are Markdown and LaTeX, where they are made
//! (errorbar-report), since pages show them to people. **What is data** (CSV, JSON, records) is
//! cleaned on a terminal and nowhere else: in a pipe or a file every byte stays as it is. **Colours are the program's own**:
//! whoever styles a text hands over a function that renders it with styles and without. The text without styles is what
//! is looked at, and the styled one is written only if there is nothing to clean in the other, so that every escape
//! sequence in it is known to be ours. Letting through those sequences that look like styles was rejected: data could
//! hide text (`ESC [8m`) as well as we could colour it.
//!
//! `clippy.toml` refuses other ways to these streams.
#![allow(
    clippy::disallowed_methods,
    reason = "this is the one module that may write to the standard streams"
)]

use std::backtrace::{Backtrace, BacktraceStatus};
use std::borrow::Cow;
use std::io::{self, BufWriter, IsTerminal, Write};
use std::panic::PanicHookInfo;

use anstream::{AutoStream, ColorChoice};
use errorbar_report::{REPLACEMENT, clean, clean_lines};
use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};

/// A stream for people to read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stream {
    Stdout,
    Stderr,
}

impl Stream {
    pub(crate) fn is_terminal(self) -> bool {
        match self {
            Stream::Stdout => io::stdout().is_terminal(),
            Stream::Stderr => io::stderr().is_terminal(),
        }
    }

    /// Whether a line can be drawn again in its place. A terminal that calls itself dumb can only add lines.
    pub(crate) fn can_redraw(self) -> bool {
        self.is_terminal() && std::env::var_os("TERM").is_none_or(|term| term != "dumb")
    }

    /// The width of the terminal, if the stream goes to one.
    pub(crate) fn columns(self) -> Option<usize> {
        let size = match self {
            Stream::Stdout => terminal_size::terminal_size_of(io::stdout()),
            Stream::Stderr => terminal_size::terminal_size_of(io::stderr()),
        };
        size.map(|(width, _)| usize::from(width.0))
    }

    /// Whether colours are wanted.
    fn has_colors(self) -> bool {
        let choice = match self {
            Stream::Stdout => AutoStream::choice(&io::stdout()),
            Stream::Stderr => AutoStream::choice(&io::stderr()),
        };
        choice != ColorChoice::Never
    }

    fn write(self, text: &str) -> io::Result<()> {
        fn write(mut out: impl Write, text: &str) -> io::Result<()> {
            out.write_all(text.as_bytes())?;
            out.flush()
        }
        match self {
            Stream::Stdout => write(anstream::stdout().lock(), text),
            Stream::Stderr => write(anstream::stderr().lock(), text),
        }
    }
}

/// Makes this the choice of colours for everything that is written.
pub(crate) fn set_colors(choice: ColorChoice) {
    choice.write_global();
}

/// Writes a text for people. `render` gives it with styles (true) or without, and must not differ in anything else.
pub(crate) fn show(stream: Stream, render: impl Fn(bool) -> String) -> io::Result<()> {
    stream.write(&safe(stream.has_colors(), render))
}

/// A text for people as it would be written to the stream, for a program that writes it there.
pub(crate) fn rendered(stream: Stream, render: impl Fn(bool) -> String) -> String {
    safe(stream.has_colors(), render)
}

/// The text with styles if they are wanted and all escape sequences in it are those of the styles.
fn safe(has_colors: bool, render: impl Fn(bool) -> String) -> String {
    let plain = render(false);
    match clean_lines(&plain) {
        Cow::Owned(clean) => clean,
        Cow::Borrowed(_) if has_colors => render(true),
        Cow::Borrowed(_) => plain,
    }
}

/// The text of a message, cleaned and not too long. The lines after the first are indented, so that none of them can
/// be mistaken for another message.
pub(crate) fn paragraph(text: &str) -> String {
    clean_lines(shortened(text)).trim_end().replace('\n', "\n  ")
}

/// As much of a message as people read: a name in a file may have megabytes.
fn shortened(text: &str) -> &str {
    const MOST: usize = 16 << 10;
    text.get(..text.floor_char_boundary(MOST)).unwrap_or(text)
}

/// Makes the messages of panics on a terminal go this way too: those of a custom scorer or metric may hold the answer of a
/// model. Elsewhere they stay as Rust writes them.
pub(crate) fn clean_panics() {
    if Stream::Stderr.is_terminal() {
        std::panic::set_hook(Box::new(|panic| {
            let text = panic_text(panic, &Backtrace::capture());
            // If standard error cannot be written to, there is nowhere to report that.
            let _ = show(Stream::Stderr, |_| paragraph(&text) + "\n");
        }));
    }
}

fn panic_text(panic: &PanicHookInfo<'_>, backtrace: &Backtrace) -> String {
    let thread = std::thread::current();
    let place = panic.location().map(|place| format!(" at {place}")).unwrap_or_default();
    let text = panic.payload_as_str().unwrap_or("without a message");
    let text = format!("thread '{}' panicked{place}:\n{text}", thread.name().unwrap_or("<unnamed>"));
    match backtrace.status() {
        BacktraceStatus::Captured => format!("{text}\nstack backtrace:\n{backtrace}"),
        _ => text,
    }
}

/// What a command writes to standard output.
#[derive(Default)]
pub(crate) enum Output {
    #[default]
    Nothing,
    /// For people. It is rendered with styles (true) or without, and must not differ in anything else.
    Text(Box<dyn Fn(bool) -> String>),
    Data(Vec<u8>),
}

impl Output {
    pub(crate) fn text(render: impl Fn(bool) -> String + 'static) -> Self {
        Output::Text(Box::new(render))
    }

    /// What would be written to a file.
    pub(crate) fn into_bytes(self) -> Vec<u8> {
        match self {
            Output::Nothing => Vec::new(),
            Output::Text(render) => clean_lines(&render(false)).into_owned().into_bytes(),
            Output::Data(data) => data,
        }
    }

    pub(crate) fn write(self) -> io::Result<()> {
        match self {
            Output::Nothing => Ok(()),
            Output::Text(render) => show(Stream::Stdout, render),
            Output::Data(data) => {
                let mut out = stdout();
                out.write_all(&data)?;
                out.flush()
            }
        }
    }
}

impl From<String> for Output {
    fn from(data: String) -> Self {
        Output::Data(data.into_bytes())
    }
}

/// Standard output for data.
pub(crate) fn stdout() -> Box<dyn Write + Send> {
    let stdout = io::stdout();
    let is_terminal = stdout.is_terminal();
    let buffered = BufWriter::with_capacity(64 << 10, stdout);
    if is_terminal { Box::new(CleaningWriter::new(buffered)) } else { Box::new(buffered) }
}

/// Data on its way to a terminal, cleaned.
struct CleaningWriter<W> {
    inner: W,
    /// The first bytes of a character whose others are still to come.
    cut: Vec<u8>,
}

impl<W: Write> CleaningWriter<W> {
    fn new(inner: W) -> Self {
        CleaningWriter { inner, cut: Vec::new() }
    }

    fn write_cleaned(&mut self, bytes: &[u8], is_end: bool) -> io::Result<()> {
        let mut chunks = bytes.utf8_chunks().peekable();
        while let Some(chunk) = chunks.next() {
            self.inner.write_all(clean_lines(chunk.valid()).as_bytes())?;
            let invalid = chunk.invalid();
            if invalid.is_empty() {
                continue;
            }
            if chunks.peek().is_none() && !is_end && is_cut_character(invalid) {
                self.cut.extend_from_slice(invalid);
            } else {
                write!(self.inner, "{REPLACEMENT}")?;
            }
        }
        Ok(())
    }
}

/// Whether more bytes could make a character of these.
fn is_cut_character(bytes: &[u8]) -> bool {
    std::str::from_utf8(bytes).is_err_and(|error| error.error_len().is_none())
}

impl<W: Write> Write for CleaningWriter<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.cut.is_empty() {
            self.write_cleaned(bytes, false)?;
        } else {
            let mut whole = std::mem::take(&mut self.cut);
            whole.extend_from_slice(bytes);
            self.write_cleaned(&whole, false)?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        let cut = std::mem::take(&mut self.cut);
        self.write_cleaned(&cut, true)?;
        self.inner.flush()
    }
}

/// A line of `total` steps on the terminal of standard error, which shows how far something is; hidden if `quiet`, or if the
/// terminal cannot redraw it. Its only text is the template, which must be the program's own (`clippy.toml`).
pub(crate) fn progress_line(quiet: bool, total: u64, template: &str) -> ProgressBar {
    if quiet || !Stream::Stderr.can_redraw() {
        return ProgressBar::hidden();
    }
    ProgressBar::with_draw_target(Some(total), ProgressDrawTarget::stderr()).with_style(style(template))
}

/// A template of ours is well-formed; a plain bar would do too.
fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar())
}

/// Lines that are redrawn together, one for each of several runs, perhaps below a title. What is written of files and models
/// is cleaned.
#[derive(Debug, Clone)]
pub(crate) struct ProgressLines {
    all: MultiProgress,
    title: Option<ProgressBar>,
    lines: Vec<ProgressBar>,
}

impl ProgressLines {
    /// No lines.
    pub(crate) fn hidden() -> Self {
        let all = MultiProgress::with_draw_target(ProgressDrawTarget::hidden());
        ProgressLines { all, title: None, lines: Vec::new() }
    }

    /// This number of lines, if standard error is a terminal that can redraw them.
    pub(crate) fn new(count: usize, has_title: bool, template: &str) -> Self {
        if !Stream::Stderr.can_redraw() {
            return ProgressLines::hidden();
        }
        let all = MultiProgress::with_draw_target(ProgressDrawTarget::stderr());
        // A bar of no length would be a full one.
        let line = |template: &str| all.add(ProgressBar::new(1).with_style(style(template)));
        let title = has_title.then(|| line("{wide_msg}"));
        let lines = (0..count).map(|_| line(template)).collect();
        ProgressLines { all, title, lines }
    }

    pub(crate) fn set_title(&self, text: &str) {
        self.title.iter().for_each(|title| title.set_message(clean(text)));
    }

    /// What stands at the beginning of a line.
    pub(crate) fn set_prefix(&self, at: usize, text: &str) {
        self.lines.get(at).into_iter().for_each(|line| line.set_prefix(clean(text)));
    }

    /// How far a line is, and what it says.
    pub(crate) fn set(&self, at: usize, total: u64, done: u64, text: &str) {
        if let Some(line) = self.lines.get(at) {
            line.set_length(total);
            line.set_position(done);
            line.set_message(clean(text));
        }
    }

    /// Writes messages above the lines.
    pub(crate) fn suspend(&self, write: impl FnOnce()) {
        self.all.suspend(write);
    }

    /// Removes the lines.
    pub(crate) fn clear(&self) {
        self.title.iter().chain(&self.lines).for_each(ProgressBar::finish_and_clear);
    }
}

#[cfg(test)]
mod tests {
    use anstyle::Style;
    use errorbar_report::is_unsafe;

    use super::*;

    #[test]
    fn data_on_a_terminal_has_no_unsafe_characters() {
        let mut out = CleaningWriter::new(Vec::new());
        // An escape, a character cut in two by the buffer, a turn of direction, a tab that may stay.
        for piece in [&b"a\x1b[31m,\xc3"[..], b"\xa9\n\tb\xe2\x80", b"\xaec\n", b"\x9bend\xe2"] {
            out.write_all(piece).unwrap();
        }
        out.flush().unwrap();
        let text = String::from_utf8(out.inner).unwrap();
        assert_eq!(text, "a\u{fffd}[31m,é\n\tb\u{fffd}c\n\u{fffd}end\u{fffd}");
    }

    #[test]
    fn data_is_cleaned_alike_wherever_it_is_cut() {
        let data = "a\u{1b}]0;t\u{7}é数\u{9b}31m\u{202e}😀\u{e0041}\n\t\r".as_bytes();
        let data = [data, b"\xff\xf0\x9f\x98", b"x\xe2\x80"].concat();
        let written = |pieces: &[&[u8]]| {
            let mut out = CleaningWriter::new(Vec::new());
            pieces.iter().for_each(|piece| out.write_all(piece).unwrap());
            out.flush().unwrap();
            String::from_utf8(out.inner).unwrap()
        };
        let whole = written(&[&data]);
        assert!(!whole.contains(|c| is_unsafe(c) && c != '\n' && c != '\t'), "{whole:?}");
        assert!(whole.contains("é数") && whole.contains("😀"));
        for at in 0..data.len() {
            let (before, behind) = data.split_at(at);
            assert_eq!(written(&[before, behind]), whole, "cut at {at}");
        }
        assert_eq!(written(&data.chunks(1).collect::<Vec<_>>()), whole);
    }

    #[test]
    fn styles_are_written_only_around_text_that_is_safe() {
        const BOLD: Style = Style::new().bold();
        let titled = |text: &'static str| {
            move |color: bool| {
                if color { format!("{BOLD}title{BOLD:#} {text}") } else { format!("title {text}") }
            }
        };
        assert_eq!(safe(true, titled("x\n\ty")), "\u{1b}[1mtitle\u{1b}[0m x\n\ty");
        assert_eq!(safe(false, titled("x")), "title x");
        for color in [true, false] {
            assert_eq!(safe(color, titled("\u{1b}[8mx")), "title \u{fffd}[8mx");
            assert_eq!(safe(color, titled("x\r\u{85}")), "title x\u{fffd}\u{fffd}");
        }
    }
}
