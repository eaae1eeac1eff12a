//! A matrix of scores and metrics on a terminal.

use anstyle::Style;

use super::layout::{GAP, NOTES_BELOW, NumberPadding, indent};
use super::paint::{BOLD, DIM, UNKNOWN};
use super::{LegendContent, TerminalTable};
use crate::figure::{EstimateText, MOST_UNKNOWN, TextParts};
use crate::table::ReportTable;
use crate::text::{clean, pad, width};

/// A column of a matrix, each cell as it is shown.
struct MatrixColumn {
    title: String,
    cells: Vec<(String, Style)>,
    /// That of the widest cell, and of the title once it is cut.
    width: usize,
}

impl TerminalTable {
    /// The matrix, with intervals if there is space for all columns with them.
    pub(crate) fn matrix(&self, matrix: &ReportTable, signs: &mut LegendContent) -> String {
        // A heading has the line to itself.
        let labelled = matrix.rows.iter().filter(|row| !row.figures.is_empty());
        let label = labelled.map(|row| indent(row) + width(&row.label)).max().unwrap_or(0);
        let label = label.min(self.width * 2 / 5);
        let columns = |intervals: bool| -> Vec<MatrixColumn> {
            let columns = (0..matrix.columns.len()).map(|at| self.matrix_column(matrix, at, intervals));
            self.titled_columns(columns.collect(), label)
        };
        let figures = || matrix.rows.iter().flat_map(|row| &row.figures).flatten();
        let wide = columns(true);
        let needed = label + wide.iter().map(|column| GAP + column.width).sum::<usize>();
        let intervals = figures().any(|figure| figure.ends().is_some()) && needed <= self.width;
        let columns = if intervals { wide } else { columns(false) };
        signs.has_error |= figures().any(|figure| figure.stderr().is_some());
        signs.has_interval |= intervals || matrix.columns.iter().any(|column| column.is_interval);
        let mut text = self.titled((&matrix.name, BOLD), self.sign(" · ", ", "), &matrix.details);
        text += &self.in_parts(
            label,
            &columns,
            |column| column.width,
            |now, is_last| self.matrix_part(matrix, label, now, is_last),
        );
        text
    }

    /// The columns with titles that are cut to what a column should be wide, unless that would make two of them equal; if
    /// they are equal on a whole line too, they are numbered.
    fn titled_columns(&self, mut columns: Vec<MatrixColumn>, label: usize) -> Vec<MatrixColumn> {
        let cut = |column: &MatrixColumn| self.truncate(&column.title, column.width.max(self.width / 4));
        let short: Vec<String> = columns.iter().map(cut).collect();
        let most = self.width.saturating_sub(label + GAP);
        let mut known: Vec<String> = Vec::new();
        for (at, (column, title)) in columns.iter_mut().zip(&short).enumerate() {
            let is_unique = short.iter().filter(|other| *other == title).count() == 1;
            let mut title = if is_unique { title.clone() } else { self.truncate(&column.title, most) };
            if known.contains(&title) {
                let number = format!(" ({})", at + 1);
                title = self.truncate(&column.title, most.saturating_sub(width(&number))) + &number;
            }
            known.push(title.clone());
            column.title = title;
            column.width = column.width.max(width(&column.title));
        }
        columns
    }

    fn matrix_column(&self, matrix: &ReportTable, at: usize, intervals: bool) -> MatrixColumn {
        let column = matrix.columns.get(at);
        let has_interval = intervals || column.is_some_and(|column| column.is_interval);
        let figures = || matrix.rows.iter().map(|row| row.figures.get(at).and_then(Option::as_ref));
        let texts: Vec<TextParts> = figures().flatten().map(EstimateText::texts).collect();
        let numbers = NumberPadding::of(self, &texts);
        let cell = |figure: Option<&EstimateText>| match figure {
            Some(figure) if figure.value().is_none() => {
                (self.truncate(&clean(&figure.short()), MOST_UNKNOWN), UNKNOWN)
            }
            Some(figure) => (numbers.text(self, &figure.texts(), has_interval), Style::new()),
            None => (String::new(), Style::new()),
        };
        let cells: Vec<(String, Style)> = figures().map(cell).collect();
        let title = column.map(|column| column.title.clone()).unwrap_or_default();
        let widest = cells.iter().map(|(cell, _)| width(cell)).max().unwrap_or(0);
        MatrixColumn { width: widest, title, cells }
    }

    /// Some of the columns; notes only below the last of them.
    fn matrix_part(
        &self,
        matrix: &ReportTable,
        label: usize,
        columns: &[MatrixColumn],
        has_notes: bool,
    ) -> String {
        let mut titles = vec![(" ".repeat(label), DIM)];
        for column in columns {
            titles.push((format!("{}{}", " ".repeat(GAP), pad(&column.title, column.width)), DIM));
        }
        let mut text = self.line(&titles);
        for (at, row) in matrix.rows.iter().enumerate() {
            let name = format!("{}{}", " ".repeat(indent(row)), row.label);
            if row.figures.is_empty() {
                text += &self.line(&[(self.truncate(&name, self.width), Style::new())]);
                continue;
            }
            let cells = columns.iter().map(|column| {
                let (cell, style) = column.cells.get(at).cloned().unwrap_or_default();
                (pad(&cell, column.width), style)
            });
            text += &self.row(pad(&self.truncate(&name, label), label), cells);
            if has_notes && !row.notes.is_empty() {
                let notes = self.wrapped_notes(&row.notes, self.width.saturating_sub(NOTES_BELOW));
                text += &self.below(NOTES_BELOW, notes);
            }
        }
        text
    }
}
