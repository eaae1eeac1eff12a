//! Results as a table for a terminal: value ± error, the interval and its bar, and what to know about it.

mod comparison;
mod comparison_columns;
pub(crate) mod layout;
mod listing;
mod matrix;
pub(crate) mod paint;
mod text_table;

use std::io;

use anstyle::Style;

use self::layout::{BlockLayout, GAP, INDENT, NOTES_BELOW, indent};
use self::paint::{BAR, BOLD, DIM, FAILED, UNKNOWN};
use crate::bar;
use crate::comparison::ComparisonView;
use crate::figure::EstimateText;
use crate::matrix::tables;
use crate::notes::CommonMethods;
use crate::table::{ReportTable, TableRow};
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
            let (common, tables) = tables(report, self.sort);
            let mut signs = LegendContent::default();
            for table in tables {
                writeln!(out)?;
                write!(out, "{}", self.report_table(table.cleaned(), &mut signs))?;
            }
            write!(out, "{}", self.legend(signs, &common))?;
        }
        Ok(())
    }

    fn listing(&self, listing: &Listing, out: &mut dyn io::Write) -> io::Result<()> {
        write!(out, "{}", self.listed(listing))
    }

    fn comparison(&self, view: &ComparisonView<'_>, out: &mut dyn io::Write) -> io::Result<()> {
        write!(out, "{}", self.compared(view))
    }
}

/// The symbols in a table that need an explanation.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct LegendContent {
    pub(crate) has_error: bool,
    pub(crate) has_interval: bool,
    /// A bar that is an interval.
    interval_bar: bool,
    /// A bar that is ± error, as there is no interval.
    error_bar: bool,
}

impl LegendContent {
    fn add(&mut self, layout: &BlockLayout, row: &TableRow, figure: &EstimateText) {
        let has_bar = layout.bar(row).is_some();
        let (has_error, has_interval) = (figure.stderr().is_some(), figure.ends().is_some());
        self.has_error |= has_error;
        self.has_interval |= has_interval;
        self.interval_bar |= has_bar && has_interval;
        self.error_bar |= has_bar && has_error && !has_interval;
    }
}

impl TerminalTable {
    /// What the symbols mean, below everything.
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

    /// The table; adds the symbols that it uses to the legend.
    pub(crate) fn report_table(&self, table: ReportTable, signs: &mut LegendContent) -> String {
        if !table.columns.is_empty() {
            return self.matrix(&table, signs);
        }
        let layout = BlockLayout::new(self, &table.rows);
        let mut text = self.titled((&table.name, BOLD), self.sign(" · ", ", "), &table.details);
        if let Some(header) = layout.header() {
            text += &self.line(&[(header, DIM)]);
        }
        for row in &table.rows {
            text += &match row.figure() {
                Some(figure) => {
                    signs.add(&layout, row, figure);
                    self.figure(&layout, row, figure)
                }
                None if row.failed => self.failure(&layout, row),
                None => {
                    let label = format!("{}{}", " ".repeat(INDENT), row.label);
                    self.titled((&label, Style::new()), "  ", &row.notes)
                }
            };
        }
        text
    }

    fn figure(&self, layout: &BlockLayout, row: &TableRow, figure: &EstimateText) -> String {
        let text = layout.figure(self, figure);
        let bar_column = if layout.bar == 0 { 0 } else { layout.bar + GAP };
        let (value, bar) = if figure.value().is_none() {
            // No bar, so the reason may take its place.
            ((pad(&clean(&text), layout.value + GAP + bar_column), UNKNOWN), String::new())
        } else {
            let pen = if self.ascii { bar::ASCII } else { bar::UNICODE };
            let bar = layout.bar(row).map(|(scale, span)| scale.draw(span, layout.bar, pen));
            let bar = pad(&bar.unwrap_or_default(), bar_column);
            ((pad(&text, layout.value + GAP), Style::new()), bar)
        };
        let fits_beside = layout.notes_beside && width(&text) <= layout.value + bar_column;
        let (beside, below) = self.placed_notes(layout, &row.all_notes(), fits_beside);
        let (mut text, label) = self.label(layout, row);
        text += &self.line(&[(label, Style::new()), value, (bar, BAR), (beside, DIM)]);
        text + &below
    }

    /// The notes of a line: what stands beside it, and the lines below.
    fn placed_notes(&self, layout: &BlockLayout, notes: &[String], fits_beside: bool) -> (String, String) {
        /// More lines than this in the narrow column go below the row, where they are fewer.
        const MOST_BESIDE: usize = 2;
        let beside = self.wrapped_notes(notes, layout.notes);
        if fits_beside && beside.len() <= MOST_BESIDE {
            let mut lines = beside.into_iter();
            return (lines.next().unwrap_or_default(), self.below(layout.before_notes, lines));
        }
        let below = self.wrapped_notes(notes, self.width.saturating_sub(NOTES_BELOW));
        (String::new(), self.below(NOTES_BELOW, below.into_iter().filter(|note| !note.is_empty())))
    }

    /// The label, padded; one that is too wide for its column gets its own lines before.
    fn label(&self, layout: &BlockLayout, row: &TableRow) -> (String, String) {
        let (indent, label) = (" ".repeat(indent(row)), &row.label);
        let full = layout.label + GAP;
        if width(&indent) + width(label) <= layout.label {
            return (String::new(), pad(&format!("{indent}{label}"), full));
        }
        let lines = wrap(label, self.width.saturating_sub(width(&indent)));
        let above = lines.iter().map(|line| format!("{indent}{line}\n")).collect();
        (above, " ".repeat(full))
    }

    fn failure(&self, layout: &BlockLayout, row: &TableRow) -> String {
        let (mut text, label) = self.label(layout, row);
        let before = " ".repeat(layout.label + GAP);
        let available = self.width.saturating_sub(width(&before));
        for (at, line) in wrap(&format!("failed: {}", row.notes.join(" ")), available).into_iter().enumerate()
        {
            let before = if at == 0 { label.clone() } else { before.clone() };
            text += &self.line(&[(before, Style::new()), (line, FAILED)]);
        }
        text
    }
}
