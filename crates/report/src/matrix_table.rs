//! A matrix of scores and metrics on a terminal.

use anstyle::Style;

use crate::figure::EstimateText;
use crate::layout::{Decimals, GAP, INDENT, NOTES_BELOW};
use crate::matrix::{MOST_UNKNOWN, Matrix, MatrixRow};
use crate::paint::{BOLD, DIM, UNKNOWN};
use crate::table::TerminalTable;
use crate::text::{clean, pad, width};

impl Matrix {
    pub(crate) fn has_error(&self) -> bool {
        self.rows.iter().flat_map(|row| &row.cells).flatten().any(|figure| figure.stderr().is_some())
    }
}

/// A column of a matrix, each cell as it is shown.
struct MatrixColumn {
    title: String,
    cells: Vec<(String, Style)>,
    /// That of the widest cell, and of the title once it is cut.
    width: usize,
}

impl TerminalTable {
    /// The matrix, and whether it shows intervals: it does if there is room for all columns with them.
    pub(crate) fn matrix(&self, matrix: &Matrix) -> (String, bool) {
        // A row without cells has the line to itself.
        let labelled = matrix.rows.iter().filter(|row| !row.cells.is_empty());
        let label = labelled.map(|row| indent(row) + width(&row.label)).max().unwrap_or(0);
        let label = label.min(self.width * 2 / 5);
        let is_interval = |at: usize| matrix.intervals.get(at).copied().unwrap_or(false);
        let columns = |intervals| -> Vec<MatrixColumn> {
            let column = |at| self.matrix_column(matrix, at, intervals || is_interval(at));
            self.titled_columns((0..matrix.titles.len()).map(column).collect(), label)
        };
        let has_intervals =
            matrix.rows.iter().flat_map(|row| &row.cells).flatten().any(|figure| figure.ends().is_some());
        let wide = columns(true);
        let needed = label + wide.iter().map(|column| GAP + column.width).sum::<usize>();
        let intervals = has_intervals && needed <= self.width;
        let columns = if intervals { wide } else { columns(false) };
        let mut text = self.titled((&matrix.name, BOLD), self.sign(" · ", ", "), &matrix.details);
        let mut rest = columns.as_slice();
        while !rest.is_empty() {
            let mut used = label;
            let fitting = rest.iter().take_while(|column| {
                used += GAP + column.width;
                used <= self.width
            });
            let (now, later) = rest.split_at(fitting.count().max(1));
            text += &self.matrix_part(matrix, label, now, later.is_empty());
            if !later.is_empty() {
                text.push('\n');
            }
            rest = later;
        }
        (text, intervals || matrix.intervals.contains(&true))
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

    fn matrix_column(&self, matrix: &Matrix, at: usize, intervals: bool) -> MatrixColumn {
        let figures: Vec<Option<&EstimateText>> =
            matrix.rows.iter().map(|row| row.cells.get(at).and_then(Option::as_ref)).collect();
        let texts: Vec<_> = figures.iter().map(|figure| figure.map(EstimateText::texts)).collect();
        let values = Decimals::of(texts.iter().flatten().map(|texts| texts.value.as_str()));
        let errors = Decimals::of(texts.iter().flatten().filter_map(|texts| texts.error.as_deref()));
        let short = |texts: &crate::figure::TextParts| match &texts.error {
            Some(error) => {
                format!("{} {} {}", values.pad(&texts.value), self.sign("±", "+/-"), errors.pad(error))
            }
            None => values.pad(&texts.value),
        };
        let widest = texts.iter().flatten().map(|texts| width(short(texts).trim_end())).max().unwrap_or(0);
        let cells: Vec<(String, Style)> = figures
            .iter()
            .zip(&texts)
            .map(|(figure, texts)| match (figure, texts) {
                (Some(figure), Some(texts)) if figure.value().is_none() => {
                    (self.truncate(&clean(&texts.value), MOST_UNKNOWN), UNKNOWN)
                }
                (_, Some(texts)) => match texts.interval.as_ref().filter(|_| intervals) {
                    Some((lower, upper)) => {
                        (format!("{} [{lower}, {upper}]", pad(short(texts).trim_end(), widest)), Style::new())
                    }
                    None => (short(texts).trim_end().to_owned(), Style::new()),
                },
                _ => (String::new(), Style::new()),
            })
            .collect();
        let title = matrix.titles.get(at).cloned().unwrap_or_default();
        let widest = cells.iter().map(|(cell, _)| width(cell)).max().unwrap_or(0);
        MatrixColumn { width: widest, title, cells }
    }

    /// Some of the columns; notes only below the last of them.
    fn matrix_part(
        &self,
        matrix: &Matrix,
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
            if row.cells.is_empty() {
                text += &self.line(&[(self.truncate(&name, self.width), Style::new())]);
                continue;
            }
            let mut pieces = vec![(pad(&self.truncate(&name, label), label), Style::new())];
            for column in columns {
                let (cell, style) = column.cells.get(at).cloned().unwrap_or_default();
                pieces.push((" ".repeat(GAP), Style::new()));
                pieces.push((pad(&cell, column.width), style));
            }
            text += &self.line(&pieces);
            if has_notes && !row.notes.is_empty() {
                let notes = self.wrapped_notes(&row.notes, self.width.saturating_sub(NOTES_BELOW));
                text += &self.below(NOTES_BELOW, notes);
            }
        }
        text
    }
}

fn indent(row: &MatrixRow) -> usize {
    INDENT + if row.nested { INDENT } else { 0 }
}
