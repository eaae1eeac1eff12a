//! Tables of several sides on a terminal.

use anstyle::Style;

use super::grid::Grid;
use crate::layout::{GAP, INDENT};
use crate::paint::{BOLD, DIM};
use crate::table::TerminalTable;
use crate::text::{clean, pad, truncate_middle, width};

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

/// Titles that were cut to the same text are numbered.
fn numbered(mut columns: Vec<GridColumn>) -> Vec<GridColumn> {
    let titles: Vec<String> = columns.iter().map(|column| column.title.clone()).collect();
    for (at, column) in columns.iter_mut().enumerate() {
        if titles.iter().filter(|title| **title == column.title).count() > 1 {
            column.title += &format!(" ({})", at + 1);
            column.width = column.width.max(width(&column.title));
        }
    }
    columns
}

impl TerminalTable {
    /// A grid, in parts if it is too wide.
    pub(super) fn grid(&self, grid: &Grid) -> String {
        let details: Vec<String> = grid.details.iter().map(|detail| clean(detail)).collect();
        let mut text =
            self.titled((&self.in_our_signs(&clean(&grid.name)), BOLD), self.sign(" · ", ", "), &details);
        let GridLayout { label, columns } = self.grid_layout(grid);
        let mut rest = columns.as_slice();
        while !rest.is_empty() {
            let mut used = label;
            let fitting = rest.iter().take_while(|column| {
                used += GAP + column.width;
                used <= self.width
            });
            let (now, later) = rest.split_at(fitting.count().max(1));
            text += &self.grid_part(grid, label, now);
            if !later.is_empty() {
                text.push('\n');
            }
            rest = later;
        }
        let legend: Vec<String> = grid.legend.iter().cloned().collect();
        text + &self.below(INDENT, self.note_lines(&legend, INDENT))
    }

    fn grid_part(&self, grid: &Grid, label: usize, columns: &[GridColumn]) -> String {
        let gap = || (" ".repeat(GAP), Style::new());
        let titles = columns.iter().flat_map(|column| [gap(), (pad(&column.title, column.width), DIM)]);
        let mut text =
            self.line(&std::iter::once((" ".repeat(label), DIM)).chain(titles).collect::<Vec<_>>());
        for (at, (name, _)) in grid.rows.iter().enumerate() {
            let name = truncate_middle(&clean(name), label.saturating_sub(INDENT), self.sign("…", ".."));
            let name = (pad(&format!("{}{name}", " ".repeat(INDENT)), label), Style::new());
            let cells = columns.iter().flat_map(|column| {
                let cell = column.cells.get(at).map(String::as_str).unwrap_or_default();
                [gap(), (pad(cell, column.width), Style::new())]
            });
            text += &self.line(&std::iter::once(name).chain(cells).collect::<Vec<_>>());
        }
        text
    }

    /// Long names are cut if that keeps all columns side by side; else less.
    fn grid_layout(&self, grid: &Grid) -> GridLayout {
        let widest = grid.rows.iter().map(|(label, _)| INDENT + width(&clean(label))).max().unwrap_or(0);
        let layout = |columns: usize, label: usize, title: usize| {
            let columns = (0..columns).map(|at| self.grid_column(grid, at, title));
            GridLayout { label: widest.min(label), columns: numbered(columns.collect()) }
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

    fn grid_column(&self, grid: &Grid, at: usize, most: usize) -> GridColumn {
        let shown = |text: &str| self.in_our_signs(&clean(text));
        let cells =
            grid.rows.iter().map(|(_, cells)| cells.get(at).map(|cell| shown(cell)).unwrap_or_default());
        let cells: Vec<String> = cells.collect();
        let widest = cells.iter().map(|cell| width(cell)).max().unwrap_or(0);
        let title = grid.columns.get(at).map(|title| shown(title)).unwrap_or_default();
        let title = truncate_middle(&title, most.max(widest), self.sign("…", ".."));
        GridColumn { width: widest.max(width(&title)), title, cells }
    }
}
