//! Results as a table for a terminal: value ± error, a bar for the interval, and what to know about it.

use std::fmt::Write as _;
use std::io;

use anstyle::{AnsiColor, Style};
use errorbar_core::Block;

use crate::bar::{self, Span};
use crate::layout::{GAP, INDENT, Layout, NOTES_BELOW};
use crate::rows::{self, Row, Shown};
use crate::text::{clean, pad, width, wrap};
use crate::{Render, Report};

/// A table for a terminal. By default 100 cells wide, in Unicode, without colour.
#[derive(Debug, Clone, Copy)]
pub struct Table {
    pub(crate) width: usize,
    color: bool,
    ascii: bool,
}

impl Default for Table {
    fn default() -> Self {
        Table { width: 100, color: false, ascii: false }
    }
}

const BOLD: Style = Style::new().bold();
const DIM: Style = Style::new().dimmed();
const BAR: Style = AnsiColor::Cyan.on_default();
const UNKNOWN: Style = AnsiColor::Yellow.on_default();
const FAILED: Style = AnsiColor::Red.on_default();

impl Table {
    /// How wide lines may be; at least 40 cells.
    #[must_use]
    pub fn width(mut self, cells: usize) -> Self {
        self.width = cells.max(40);
        self
    }

    /// Whether to write colours.
    #[must_use]
    pub fn color(mut self, color: bool) -> Self {
        self.color = color;
        self
    }

    /// Whether to keep to ASCII, for terminals that know nothing else. Names stay as they are.
    #[must_use]
    pub fn ascii(mut self, ascii: bool) -> Self {
        self.ascii = ascii;
        self
    }

    fn paint(&self, text: &str, style: Style) -> String {
        if self.color && !text.is_empty() { format!("{style}{text}{style:#}") } else { text.to_owned() }
    }

    /// A sign of our own, or what stands for it in ASCII.
    fn sign<'t>(&self, unicode: &'t str, ascii: &'t str) -> &'t str {
        if self.ascii { ascii } else { unicode }
    }

    pub(crate) fn shown(&self, shown: &Shown) -> String {
        match shown {
            Shown::Number(number) => number.clone(),
            Shown::WithError(value, error) => format!("{value} {} {error}", self.sign("±", "+/-")),
            Shown::Interval(lower, upper) => format!("{lower} {} {upper}", self.sign("…", "..")),
            Shown::Undefined(Some(reason)) => format!("undefined ({reason})"),
            Shown::Undefined(None) => "undefined".to_owned(),
        }
    }
}

impl Render for Table {
    fn render(&self, reports: &[Report], out: &mut dyn io::Write) -> io::Result<()> {
        let mut signs = Signs::default();
        for (at, report) in reports.iter().enumerate() {
            if at > 0 {
                writeln!(out)?;
            }
            let results = &report.results;
            let mut details: Vec<String> =
                [&report.task, &report.model].into_iter().flatten().cloned().collect();
            // A table has rows; a log has samples, each of which may have been run several times.
            let thing = match results.scores.iter().map(|block| block.epochs).max() {
                _ if report.task.is_none() => "row",
                Some(2..) => "sample run",
                _ => "sample",
            };
            let planned = report.unfinished.as_ref().and_then(|unfinished| unfinished.planned);
            details.push(match planned {
                Some(planned) => format!("{} of {planned} {thing}{}", results.total_samples, plural(planned)),
                None => format!("{} {thing}{}", results.total_samples, plural(results.total_samples)),
            });
            details.extend(report.unfinished.as_ref().map(|unfinished| unfinished.status.clone()));
            details.extend((report.skipped > 0).then(|| format!("{} unreadable, left out", report.skipped)));
            let errored = results.total_samples.saturating_sub(results.completed_samples);
            if errored > 0 {
                details.push(format!("{errored} errored"));
            }
            details.extend(report.limits_met());
            let (log, details) = (clean(&report.log), cleaned(&details));
            write!(out, "{}", self.titled((&log, BOLD), self.sign(" · ", ", "), &details))?;
            for block in rows::blocks(results) {
                write!(out, "\n{}", self.block(block, &mut signs))?;
            }
        }
        write!(out, "{}", self.legend(signs))
    }
}

/// The signs in a table that want a word.
#[derive(Debug, Clone, Copy, Default)]
struct Signs {
    error: bool,
    error_bar: bool,
    interval_bar: bool,
}

impl Signs {
    fn note(&mut self, layout: &Layout, row: &Row) {
        let Row::Figure { shown, span, .. } = row else { return };
        let has_bar = layout.bar > 0 && layout.scale.is_some() && span.is_some();
        match shown {
            Shown::WithError(..) => {
                self.error = true;
                self.error_bar |= has_bar;
            }
            Shown::Interval(..) => self.interval_bar |= has_bar,
            Shown::Number(_) | Shown::Undefined(_) => {}
        }
    }
}

impl Table {
    /// A title, and what else is to be known: on one line, in a column of its own, or below.
    fn titled(&self, title: (&str, Style), between: &str, details: &[String]) -> String {
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

    fn below(&self, indent: usize, notes: impl IntoIterator<Item = String>) -> String {
        let indent = || (" ".repeat(indent), Style::new());
        notes.into_iter().map(|note| self.line(&[indent(), (note, DIM)])).collect()
    }

    /// What the signs mean, below everything.
    fn legend(&self, signs: Signs) -> String {
        let bar = match (signs.error_bar, signs.interval_bar) {
            (true, true) => Some("value ± error, or the interval"),
            (true, false) => Some("value ± error"),
            (false, true) => Some("the interval"),
            (false, false) => None,
        };
        let bar = bar.map(|meaning| format!("{} {meaning}", self.sign("├─●─┤", "|-o-|")));
        let error = signs.error.then(|| "± one standard error".to_owned());
        let words: Vec<String> = error.into_iter().chain(bar).collect();
        if words.is_empty() {
            return String::new();
        }
        format!("\n{}", self.below(0, self.wrapped_notes(&words, self.width)))
    }

    fn block(&self, block: &Block, signs: &mut Signs) -> String {
        let (name, details) = rows::title(block);
        let (name, details) = (clean(&name), cleaned(&details));
        let rows: Vec<Row> = rows::rows(block).into_iter().map(Row::cleaned).collect();
        let layout = Layout::new(self, &rows);
        let mut text = self.titled((&name, BOLD), self.sign(" · ", ", "), &details);
        if let Some(header) = layout.header() {
            text += &self.line(&[(header, DIM)]);
        }
        for row in &rows {
            signs.note(&layout, row);
            match row {
                Row::Heading { label, notes } => {
                    let label = format!("{}{label}", " ".repeat(INDENT));
                    text += &self.titled((&label, Style::new()), "  ", notes);
                }
                Row::Figure { nested, label, shown, span, notes } => {
                    text += &self.figure(&layout, *nested, label, shown, *span, notes);
                }
                Row::Failure { label, message } => text += &self.failure(&layout, label, message),
            }
        }
        text
    }

    fn figure(
        &self,
        layout: &Layout,
        nested: bool,
        label: &str,
        shown: &Shown,
        span: Option<Span>,
        notes: &[String],
    ) -> String {
        let text = self.shown(shown);
        let bar_column = if layout.bar == 0 { 0 } else { layout.bar + GAP };
        let (value, bar) = match (shown, layout.scale, span) {
            // No bar, so the reason may take its place.
            (Shown::Undefined(_), ..) => {
                ((pad(&text, layout.value + GAP + bar_column), UNKNOWN), String::new())
            }
            (_, Some(scale), Some(span)) if layout.bar > 0 => {
                let bar = pad(&scale.draw(span, layout.bar, self.pen()), bar_column);
                ((pad(&text, layout.value + GAP), Style::new()), bar)
            }
            _ => ((pad(&text, layout.value + GAP), Style::new()), " ".repeat(bar_column)),
        };
        let mut notes = self.wrapped_notes(notes, layout.notes).into_iter();
        let has_room = width(&text) <= layout.value + bar_column;
        let beside =
            if layout.notes_beside && has_room { notes.next().unwrap_or_default() } else { String::new() };
        let (mut text, label) = self.label(layout, nested, label);
        text += &self.line(&[(label, Style::new()), value, (bar, BAR), (beside, DIM)]);
        text += &self.below(layout.before_notes, notes.filter(|note| !note.is_empty()));
        text
    }

    /// The label, padded; one that is too wide for its column gets lines of its own before.
    fn label(&self, layout: &Layout, nested: bool, label: &str) -> (String, String) {
        let indent = " ".repeat(INDENT + if nested { INDENT } else { 0 });
        let full = layout.label + GAP;
        if width(&indent) + width(label) <= layout.label {
            return (String::new(), pad(&format!("{indent}{label}"), full));
        }
        let lines = wrap(label, self.width.saturating_sub(width(&indent)));
        let above = lines.iter().map(|line| format!("{indent}{line}\n")).collect();
        (above, " ".repeat(full))
    }

    fn failure(&self, layout: &Layout, label: &str, message: &str) -> String {
        let (mut text, label) = self.label(layout, false, label);
        let before = " ".repeat(layout.label + GAP);
        let room = self.width.saturating_sub(width(&before));
        for (at, line) in wrap(&format!("failed: {message}"), room).into_iter().enumerate() {
            let before = if at == 0 { label.clone() } else { before.clone() };
            text += &self.line(&[(before, Style::new()), (line, FAILED)]);
        }
        text
    }

    /// Pieces side by side, without blanks at the end.
    fn line(&self, pieces: &[(String, Style)]) -> String {
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

    pub(crate) fn notes(&self, notes: &[String]) -> String {
        self.in_our_signs(&notes.join(self.sign(" · ", ", ")))
    }

    /// The notes in lines, each note kept whole where it fits.
    fn wrapped_notes(&self, notes: &[String], limit: usize) -> Vec<String> {
        const TIED: &str = "\u{a0}";
        let whole = |note: &String| {
            let note = self.in_our_signs(note);
            if width(&note) + GAP > limit { note } else { note.replace(' ', TIED) }
        };
        let between = if self.ascii { ", " } else { "\u{a0}· " };
        let joined = notes.iter().map(whole).collect::<Vec<_>>().join(between);
        wrap(&joined, limit).iter().map(|line| line.replace(TIED, " ")).collect()
    }

    fn in_our_signs(&self, text: &str) -> String {
        if self.ascii { text.replace('±', "+/-").replace('…', "..") } else { text.to_owned() }
    }

    fn pen(&self) -> bar::Pen {
        if self.ascii { bar::ASCII } else { bar::UNICODE }
    }
}

fn cleaned(texts: &[String]) -> Vec<String> {
    texts.iter().map(|text| clean(text)).collect()
}

fn plural(count: usize) -> &'static str {
    if count == 1 { "" } else { "s" }
}
