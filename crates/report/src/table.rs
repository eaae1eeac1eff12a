//! Results as a table for a terminal: value ± error, the interval and its bar, and what to know about it.

use std::io;

use anstyle::Style;

use crate::bar;
use crate::layout::{BlockLayout, GAP, INDENT, NOTES_BELOW};
use crate::matrix::{ReportPart, parts};
use crate::notes::CommonMethods;
use crate::paint::{BAR, BOLD, DIM, FAILED, UNKNOWN};
use crate::rows::{DisplayRow, EstimateLine, RowBuilder, ScoreBlock};
use crate::text::{clean, pad, width, wrap};
use crate::title::header;
use crate::{Listing, Render, Report, Sort};

/// A table for a terminal. By default 100 cells wide, in Unicode, without colour.
#[derive(Debug, Clone, Copy)]
pub struct TerminalTable {
    pub(crate) width: usize,
    pub(crate) color: bool,
    pub(crate) ascii: bool,
    sort: Sort,
}

impl Default for TerminalTable {
    fn default() -> Self {
        TerminalTable { width: 100, color: false, ascii: false, sort: Sort::None }
    }
}

impl TerminalTable {
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

    /// The order of groups and shares below their heading.
    #[must_use]
    pub fn sort(mut self, sort: Sort) -> Self {
        self.sort = sort;
        self
    }
}

impl Render for TerminalTable {
    fn render(&self, reports: &[Report], out: &mut dyn io::Write) -> io::Result<()> {
        for (at, report) in reports.iter().enumerate() {
            if at > 0 {
                writeln!(out)?;
            }
            let details: Vec<String> = header(report).iter().map(|detail| clean(detail)).collect();
            write!(out, "{}", self.titled((&clean(&report.log), BOLD), self.sign(" · ", ", "), &details))?;
            // Reports may be of other tasks, with other errors: each has its own legend.
            let common = CommonMethods::of(&report.results);
            let mut signs = LegendContent::default();
            let context = RowBuilder { results: &report.results, common: &common, sort: self.sort };
            for part in parts(&context) {
                writeln!(out)?;
                match part {
                    ReportPart::Block(block) => write!(out, "{}", self.block(block.cleaned(), &mut signs))?,
                    ReportPart::Matrix(matrix) => {
                        signs.has_error |= matrix.has_error();
                        let (text, has_intervals) = self.matrix(&matrix.cleaned());
                        signs.has_interval |= has_intervals;
                        write!(out, "{text}")?;
                    }
                }
            }
            write!(out, "{}", self.legend(signs, &common))?;
        }
        Ok(())
    }

    fn listing(&self, listing: &Listing, out: &mut dyn io::Write) -> io::Result<()> {
        write!(out, "{}", self.listed(listing))
    }
}

/// The signs in a table that need a word.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct LegendContent {
    has_error: bool,
    has_interval: bool,
    /// A bar that is an interval.
    interval_bar: bool,
    /// A bar that is ± error, as there is no interval.
    error_bar: bool,
}

impl LegendContent {
    fn note(&mut self, layout: &BlockLayout, line: &EstimateLine) {
        let drawn = line.span.zip(layout.scale).is_some_and(|(span, scale)| scale.holds(span));
        let has_bar = layout.bar > 0 && drawn;
        let (has_error, has_interval) = (line.figure.stderr().is_some(), line.figure.ends().is_some());
        self.has_error |= has_error;
        self.has_interval |= has_interval;
        self.interval_bar |= has_bar && has_interval;
        self.error_bar |= has_bar && has_error && !has_interval;
    }
}

impl TerminalTable {
    /// What the signs mean, below everything.
    pub(crate) fn legend(&self, signs: LegendContent, common: &CommonMethods) -> String {
        let bar = match (signs.interval_bar, signs.error_bar) {
            (true, true) => Some("the interval, or value ± error"),
            (true, false) => Some("the interval"),
            (false, true) => Some("value ± error"),
            (false, false) => None,
        };
        let bar = bar.map(|meaning| format!("{} {meaning}", self.sign("├─●─┤", "|-o-|")));
        let error = signs.has_error.then(|| common.error_legend());
        let interval = common.interval_legend().filter(|_| signs.has_interval);
        let words: Vec<String> =
            [error, interval, bar].into_iter().flatten().map(|word| clean(&word)).collect();
        if words.is_empty() {
            return String::new();
        }
        format!("\n{}", self.below(0, self.wrapped_notes(&words, self.width)))
    }

    pub(crate) fn block(&self, block: ScoreBlock, signs: &mut LegendContent) -> String {
        let ScoreBlock { name, details, rows, .. } = block;
        let layout = BlockLayout::new(self, &rows);
        let mut text = self.titled((&name, BOLD), self.sign(" · ", ", "), &details);
        if let Some(header) = layout.header() {
            text += &self.line(&[(header, DIM)]);
        }
        for row in &rows {
            match row {
                DisplayRow::Heading { label, notes } => {
                    let label = format!("{}{label}", " ".repeat(INDENT));
                    text += &self.titled((&label, Style::new()), "  ", notes);
                }
                DisplayRow::Estimate(line) => {
                    signs.note(&layout, line);
                    text += &self.figure(&layout, line);
                }
                DisplayRow::Failure { label, message } => text += &self.failure(&layout, label, message),
            }
        }
        text
    }

    fn figure(&self, layout: &BlockLayout, line: &EstimateLine) -> String {
        let text = layout.figure(self, line);
        let bar_column = if layout.bar == 0 { 0 } else { layout.bar + GAP };
        let drawn = line.span.zip(layout.scale).filter(|(span, scale)| layout.bar > 0 && scale.holds(*span));
        let (value, bar) = match drawn {
            // No bar, so the reason may take its place.
            _ if line.figure.value().is_none() => {
                ((pad(&clean(&text), layout.value + GAP + bar_column), UNKNOWN), String::new())
            }
            Some((span, scale)) => {
                let pen = if self.ascii { bar::ASCII } else { bar::UNICODE };
                let bar = pad(&scale.draw(span, layout.bar, pen), bar_column);
                ((pad(&text, layout.value + GAP), Style::new()), bar)
            }
            None => ((pad(&text, layout.value + GAP), Style::new()), " ".repeat(bar_column)),
        };
        let has_room = layout.notes_beside && width(&text) <= layout.value + bar_column;
        let (beside, below) = self.placed_notes(layout, &line.all_notes(), has_room);
        let (mut text, label) = self.label(layout, line.nested, &line.label);
        text += &self.line(&[(label, Style::new()), value, (bar, BAR), (beside, DIM)]);
        text + &below
    }

    /// The notes of a line: what stands beside it, and the lines below.
    fn placed_notes(&self, layout: &BlockLayout, notes: &[String], has_room: bool) -> (String, String) {
        /// More lines than this in the narrow column go below the row, where they are fewer.
        const MOST_BESIDE: usize = 2;
        let beside = self.wrapped_notes(notes, layout.notes);
        if has_room && beside.len() <= MOST_BESIDE {
            let mut lines = beside.into_iter();
            return (lines.next().unwrap_or_default(), self.below(layout.before_notes, lines));
        }
        let below = self.wrapped_notes(notes, self.width.saturating_sub(NOTES_BELOW));
        (String::new(), self.below(NOTES_BELOW, below.into_iter().filter(|note| !note.is_empty())))
    }

    /// The label, padded; one that is too wide for its column gets lines of its own before.
    fn label(&self, layout: &BlockLayout, nested: bool, label: &str) -> (String, String) {
        let indent = " ".repeat(INDENT + if nested { INDENT } else { 0 });
        let full = layout.label + GAP;
        if width(&indent) + width(label) <= layout.label {
            return (String::new(), pad(&format!("{indent}{label}"), full));
        }
        let lines = wrap(label, self.width.saturating_sub(width(&indent)));
        let above = lines.iter().map(|line| format!("{indent}{line}\n")).collect();
        (above, " ".repeat(full))
    }

    fn failure(&self, layout: &BlockLayout, label: &str, message: &str) -> String {
        let (mut text, label) = self.label(layout, false, label);
        let before = " ".repeat(layout.label + GAP);
        let room = self.width.saturating_sub(width(&before));
        for (at, line) in wrap(&format!("failed: {message}"), room).into_iter().enumerate() {
            let before = if at == 0 { label.clone() } else { before.clone() };
            text += &self.line(&[(before, Style::new()), (line, FAILED)]);
        }
        text
    }
}
