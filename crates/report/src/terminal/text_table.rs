//! Tables of texts on a terminal, such as those of several sides.

use anstyle::Style;

use super::TerminalTable;
use super::layout::{GAP, INDENT};
use super::paint::{BOLD, DIM};
use crate::table::TextTable;
use crate::text::{clean, pad, short_names, width};

/// A table as it fits a terminal.
struct TextLayout {
    label: usize,
    columns: Vec<TextColumn>,
}

struct TextColumn {
    title: String,
    cells: Vec<String>,
    width: usize,
}

impl TerminalTable {
    /// A table of texts, in parts if it is too wide.
    pub(crate) fn text_table(&self, table: &TextTable) -> String {
        let details: Vec<String> = table.details.iter().map(|detail| clean(detail)).collect();
        let mut text =
            self.titled((&self.in_our_signs(&clean(&table.name)), BOLD), self.sign(" · ", ", "), &details);
        let TextLayout { label, columns } = self.text_layout(table);
        text += &self.in_parts(
            label,
            &columns,
            |column| column.width,
            |now, _| self.text_part(table, label, now),
        );
        let legend: Vec<String> = table.legend.iter().cloned().collect();
        text + &self.below(INDENT, self.note_lines(&legend, INDENT))
    }

    fn text_part(&self, table: &TextTable, label: usize, columns: &[TextColumn]) -> String {
        let titles = columns.iter().map(|column| (pad(&column.title, column.width), DIM));
        let mut text = self.row(" ".repeat(label), titles);
        for (at, name) in self.row_names(table, label.saturating_sub(INDENT)).into_iter().enumerate() {
            let cells = columns.iter().map(|column| {
                let cell = column.cells.get(at).map(String::as_str).unwrap_or_default();
                (pad(cell, column.width), Style::new())
            });
            text += &self.row(pad(&format!("{}{name}", " ".repeat(INDENT)), label), cells);
        }
        text
    }

    /// The names of the rows, cut in the middle.
    fn row_names(&self, table: &TextTable, most: usize) -> Vec<String> {
        let names: Vec<(String, usize)> = labels(table).map(|name| (clean(name), most)).collect();
        short_names(&names, self.sign("…", ".."))
    }

    /// Long names are cut if that keeps all columns side by side; else less.
    fn text_layout(&self, table: &TextTable) -> TextLayout {
        let widest = labels(table).map(|label| INDENT + width(&clean(label))).max().unwrap_or(0);
        let layout = |columns: usize, label: usize, title: usize| TextLayout {
            label: widest.min(label),
            columns: self.text_columns(table, columns, title),
        };
        let count = table.titles.len().saturating_sub(1);
        let limits = [(self.width * 2 / 5, 24), (30, 16), (20, 12), (14, 9)];
        let whole = limits.iter().map(|(label, title)| layout(count, *label, *title));
        let without_last = limits.iter().filter(|_| table.drops_last);
        let without_last = without_last.map(|(label, title)| layout(count.saturating_sub(1), *label, *title));
        let fits = |layout: &TextLayout| {
            layout.label + layout.columns.iter().map(|column| GAP + column.width).sum::<usize>() <= self.width
        };
        whole.chain(without_last).find(fits).unwrap_or_else(|| layout(count, 20, 16))
    }

    /// The first columns, their titles cut to their cells or to a width.
    fn text_columns(&self, table: &TextTable, count: usize, most: usize) -> Vec<TextColumn> {
        let shown = |text: &str| self.in_our_signs(&clean(text));
        let cells = |at: usize| -> Vec<String> {
            let cell = |cells: &Vec<String>| cells.get(at + 1).map(|cell| shown(cell)).unwrap_or_default();
            table.rows.iter().map(cell).collect()
        };
        let columns: Vec<Vec<String>> = (0..count).map(cells).collect();
        let widest = |cells: &Vec<String>| cells.iter().map(|cell| width(cell)).max().unwrap_or(0);
        let titles = table.titles.iter().skip(1).zip(&columns);
        let titles: Vec<(String, usize)> =
            titles.map(|(title, cells)| (shown(title), most.max(widest(cells)))).collect();
        let titles = short_names(&titles, self.sign("…", ".."));
        let column = |(title, cells): (String, Vec<String>)| TextColumn {
            width: widest(&cells).max(width(&title)),
            title,
            cells,
        };
        titles.into_iter().zip(columns).map(column).collect()
    }
}

fn labels(table: &TextTable) -> impl Iterator<Item = &str> {
    table.rows.iter().filter_map(|row| row.first()).map(String::as_str)
}
