//! Lines of a terminal: pieces in styles, notes in as many lines as they need.

use std::fmt::Write as _;

use anstyle::{AnsiColor, Style};

use super::TerminalTable;
use super::layout::{GAP, NOTES_BELOW};
use crate::text::{truncate, width, wrap};

pub(crate) const BOLD: Style = Style::new().bold();
pub(crate) const DIM: Style = Style::new().dimmed();
pub(crate) const BAR: Style = AnsiColor::Cyan.on_default();
pub(crate) const UNKNOWN: Style = AnsiColor::Yellow.on_default();
pub(crate) const FAILED: Style = AnsiColor::Red.on_default();

impl TerminalTable {
    pub(crate) fn paint(&self, text: &str, style: Style) -> String {
        if self.color && !text.is_empty() { format!("{style}{text}{style:#}") } else { text.to_owned() }
    }

    /// A Unicode symbol, or its replacement in ASCII.
    pub(crate) fn sign<'t>(&self, unicode: &'t str, ascii: &'t str) -> &'t str {
        if self.ascii { ascii } else { unicode }
    }

    /// The start of a text that fits.
    pub(crate) fn truncate(&self, text: &str, to: usize) -> String {
        truncate(text, to, self.sign("…", ".."))
    }

    /// Pieces side by side, without blanks at the end.
    pub(crate) fn line(&self, pieces: &[(String, Style)]) -> String {
        let last = pieces.iter().rposition(|(text, _)| !text.trim_end().is_empty()).unwrap_or(0);
        let mut line = String::new();
        for (at, (text, style)) in pieces.iter().enumerate().take(last + 1) {
            let text = if at == last { text.trim_end() } else { text };
            let blank = text.trim().is_empty();
            let _ = write!(line, "{}", if blank { text.to_owned() } else { self.paint(text, *style) });
        }
        line.push('\n');
        line
    }

    /// A label and the cells behind it, each behind a gap.
    pub(crate) fn row(&self, label: String, cells: impl IntoIterator<Item = (String, Style)>) -> String {
        let mut pieces = vec![(label, Style::new())];
        for cell in cells {
            pieces.extend([(" ".repeat(GAP), Style::new()), cell]);
        }
        self.line(&pieces)
    }

    /// Columns beside a label, in parts below each other if they are too wide for one line. `draw` gets the columns of a part, and
    /// whether it is the last one.
    pub(crate) fn in_parts<C>(
        &self,
        label: usize,
        columns: &[C],
        width: impl Fn(&C) -> usize,
        draw: impl Fn(&[C], bool) -> String,
    ) -> String {
        let mut parts = Vec::new();
        let mut rest = columns;
        while !rest.is_empty() {
            let mut used = label;
            let fitting = rest.iter().take_while(|column| {
                used += GAP + width(column);
                used <= self.width
            });
            let (now, later) = rest.split_at(fitting.count().max(1));
            parts.push(draw(now, later.is_empty()));
            rest = later;
        }
        parts.join("\n")
    }

    /// A title and its details: on one line, in a separate column, or below.
    pub(crate) fn titled(&self, title: (&str, Style), between: &str, details: &[String]) -> String {
        let joined =
            if details.is_empty() { String::new() } else { format!("{between}{}", self.notes(details)) };
        let (title, style) = title;
        if width(title) + width(&joined) <= self.width {
            return self.line(&[(title.to_owned(), style), (joined, DIM)]);
        }
        let indent = width(title) + width(between);
        if indent > self.width * 2 / 5 {
            let notes = self.wrapped_notes(details, self.width.saturating_sub(NOTES_BELOW));
            return self.line(&[(title.to_owned(), style)]) + &self.below(NOTES_BELOW, notes);
        }
        let mut notes = self.wrapped_notes(details, self.width.saturating_sub(indent)).into_iter();
        let beside = format!("{between}{}", notes.next().unwrap_or_default());
        self.line(&[(title.to_owned(), style), (beside, DIM)]) + &self.below(indent, notes)
    }

    /// Lines of notes below what they are about.
    pub(crate) fn below(&self, indent: usize, notes: impl IntoIterator<Item = String>) -> String {
        let indent = || (" ".repeat(indent), Style::new());
        notes.into_iter().map(|note| self.line(&[indent(), (note, DIM)])).collect()
    }

    pub(crate) fn notes(&self, notes: &[String]) -> String {
        self.in_our_signs(&notes.join(self.sign(" · ", ", ")))
    }

    /// The notes in lines, each note unbroken where it fits.
    pub(crate) fn wrapped_notes(&self, notes: &[String], limit: usize) -> Vec<String> {
        const TIED: &str = "\u{a0}";
        let whole = |note: &String| {
            let note = self.in_our_signs(note);
            if width(&note) + GAP > limit { note } else { note.replace(' ', TIED) }
        };
        let between = if self.ascii { ", " } else { "\u{a0}· " };
        let joined = notes.iter().map(whole).collect::<Vec<_>>().join(between);
        wrap(&joined, limit).iter().map(|line| line.replace(TIED, " ")).collect()
    }

    pub(crate) fn in_our_signs(&self, text: &str) -> String {
        if !self.ascii {
            return text.to_owned();
        }
        let signs = [
            ('±', "+/-"),
            ('…', ".."),
            ('×', "x"),
            ('≤', "<="),
            ('≥', ">="),
            ('−', "-"),
            ('–', "-"),
            ('→', "->"),
            ('·', "."),
        ];
        signs.iter().fold(text.replace(" · ", ", "), |text, (sign, ascii)| text.replace(*sign, ascii))
    }
}
