//! Tables of several sides on a terminal.

use anstyle::Style;

use super::grid::Grid;
use crate::layout::{GAP, INDENT};
use crate::paint::{BOLD, DIM};
use crate::table::TerminalTable;
use crate::text::{clean, pad, short_names, width};

/// A grid as it fits a terminal.
struct GridLayout {
    label: usize,
    columns: Vec<GridColumn>,
}

struct GridColumn {
    title: String,
    cells: Vec<String>,
    width: usize,
}

impl TerminalTable {
    /// A grid, in parts if it is too wide.
    pub(crate) fn grid(&self, grid: &Grid) -> String {
        let details: Vec<String> = grid.details.iter().map(|detail| clean(detail)).collect();
        let mut text =
            self.titled((&self.in_our_signs(&clean(&grid.name)), BOLD), self.sign(" · ", ", "), &details);
        let GridLayout { label, columns } = self.grid_layout(grid);
        text +=
            &self.in_parts(label, &columns, |column| column.width, |now, _| self.grid_part(grid, label, now));
        let legend: Vec<String> = grid.legend.iter().cloned().collect();
        text + &self.below(INDENT, self.note_lines(&legend, INDENT))
    }

    fn grid_part(&self, grid: &Grid, label: usize, columns: &[GridColumn]) -> String {
        let gap = || (" ".repeat(GAP), Style::new());
        let titles = columns.iter().flat_map(|column| [gap(), (pad(&column.title, column.width), DIM)]);
        let mut text =
            self.line(&std::iter::once((" ".repeat(label), DIM)).chain(titles).collect::<Vec<_>>());
        for (at, name) in self.row_names(grid, label.saturating_sub(INDENT)).into_iter().enumerate() {
            let name = (pad(&format!("{}{name}", " ".repeat(INDENT)), label), Style::new());
            let cells = columns.iter().flat_map(|column| {
                let cell = column.cells.get(at).map(String::as_str).unwrap_or_default();
                [gap(), (pad(cell, column.width), Style::new())]
            });
            text += &self.line(&std::iter::once(name).chain(cells).collect::<Vec<_>>());
        }
        text
    }

    /// The names of the rows, cut in the middle.
    fn row_names(&self, grid: &Grid, most: usize) -> Vec<String> {
        let names: Vec<(String, usize)> = grid.rows.iter().map(|(name, _)| (clean(name), most)).collect();
        short_names(&names, self.sign("…", ".."))
    }

    /// Long names are cut if that keeps all columns side by side; else less.
    fn grid_layout(&self, grid: &Grid) -> GridLayout {
        let widest = grid.rows.iter().map(|(label, _)| INDENT + width(&clean(label))).max().unwrap_or(0);
        let layout = |columns: usize, label: usize, title: usize| GridLayout {
            label: widest.min(label),
            columns: self.grid_columns(grid, columns, title),
        };
        let count = grid.columns.len();
        let limits = [(self.width * 2 / 5, 24), (30, 16), (20, 12), (14, 9)];
        let whole = limits.iter().map(|(label, title)| layout(count, *label, *title));
        let without_last = limits.iter().filter(|_| grid.drops_last);
        let without_last = without_last.map(|(label, title)| layout(count.saturating_sub(1), *label, *title));
        let fits = |layout: &GridLayout| {
            layout.label + layout.columns.iter().map(|column| GAP + column.width).sum::<usize>() <= self.width
        };
        whole.chain(without_last).find(fits).unwrap_or_else(|| layout(count, 20, 16))
    }

    /// The first columns, their titles cut to their cells or to a width.
    fn grid_columns(&self, grid: &Grid, count: usize, most: usize) -> Vec<GridColumn> {
        let shown = |text: &str| self.in_our_signs(&clean(text));
        let cells = |at: usize| -> Vec<String> {
            let cell = |cells: &Vec<String>| cells.get(at).map(|cell| shown(cell)).unwrap_or_default();
            grid.rows.iter().map(|(_, cells)| cell(cells)).collect()
        };
        let columns: Vec<Vec<String>> = (0..count).map(cells).collect();
        let widest = |cells: &Vec<String>| cells.iter().map(|cell| width(cell)).max().unwrap_or(0);
        let titles = grid.columns.iter().zip(&columns);
        let titles: Vec<(String, usize)> =
            titles.map(|(title, cells)| (shown(title), most.max(widest(cells)))).collect();
        let titles = short_names(&titles, self.sign("…", ".."));
        let column = |(title, cells): (String, Vec<String>)| GridColumn {
            width: widest(&cells).max(width(&title)),
            title,
            cells,
        };
        titles.into_iter().zip(columns).map(column).collect()
    }
}
