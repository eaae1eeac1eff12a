//! Tables of many columns in the terminal: scores by metrics, texts, and listings.

use anstyle::Style;

use super::{
    BOLD, DIM, GAP, INDENT, LegendContent, NOTES_BELOW, NumberPadding, TerminalTable, UNKNOWN, indent,
};
use crate::figure::{EstimateText, MOST_UNKNOWN, TextParts};
use crate::table::{ReportTable, TableRow, TextTable};
use crate::text::{clean, pad, short_names, truncate_middle, width};
use crate::{Listing, ListingCell};

/// A column beside the labels, each cell as it is shown.
#[derive(Debug, Clone)]
pub(super) struct GridColumn {
    pub(super) title: String,
    pub(super) cells: Vec<(String, Style)>,
    pub(super) width: usize,
}

impl GridColumn {
    /// A column as wide as its cells and its title.
    pub(super) fn new(title: String, cells: Vec<(String, Style)>) -> Self {
        let widest = cells.iter().map(|(cell, _)| width(cell)).max().unwrap_or(0);
        GridColumn { width: widest.max(width(&title)), title, cells }
    }

    /// The cells that columns take behind a label.
    pub(super) fn total(columns: &[GridColumn]) -> usize {
        columns.iter().map(|column| GAP + column.width).sum()
    }

    fn cell(&self, at: usize) -> (String, Style) {
        let (cell, style) = self.cells.get(at).cloned().unwrap_or_default();
        (pad(&cell, self.width), style)
    }
}

/// What a row has besides its cells.
#[derive(Debug, Clone, Default)]
pub(super) struct GridRow {
    pub(super) indent: usize,
    pub(super) label: String,
    /// Whether it has the line to itself.
    pub(super) is_heading: bool,
    /// What stands below it.
    pub(super) notes: Vec<String>,
}

impl TerminalTable {
    /// Columns beside labels.
    pub(super) fn grid(
        &self,
        label: usize,
        columns: &[GridColumn],
        rows: &[GridRow],
        has_notes: bool,
    ) -> String {
        let titles = columns.iter().map(|column| (pad(&column.title, column.width), DIM));
        let mut text = self.row(" ".repeat(label), titles);
        for (at, row) in rows.iter().enumerate() {
            if row.is_heading {
                let heading = format!("{}{}", " ".repeat(row.indent), row.label);
                text += &self.line(&[(self.truncate(&heading, self.width), Style::new())]);
                continue;
            }
            let (above, beside) = self.label(row.indent, &row.label, label);
            text += &above;
            text += &self.row(beside, columns.iter().map(|column| column.cell(at)));
            if has_notes {
                text += &self.below(NOTES_BELOW, self.note_lines(&row.notes, NOTES_BELOW));
            }
        }
        text
    }

    /// The same in parts below each other if the columns are too wide for one line; notes only in the last of them.
    fn grid_in_parts(&self, label: usize, columns: &[GridColumn], rows: &[GridRow]) -> String {
        let mut parts = Vec::new();
        let mut rest = columns;
        while !rest.is_empty() {
            let mut used = label;
            let fitting = rest.iter().take_while(|column| {
                used += GAP + column.width;
                used <= self.width
            });
            let (now, later) = rest.split_at(fitting.count().max(1));
            parts.push(self.grid(label, now, rows, later.is_empty()));
            rest = later;
        }
        parts.join("\n")
    }

    /// The matrix, with intervals if there is space for all columns with them.
    pub(crate) fn matrix(&self, matrix: &ReportTable, signs: &mut LegendContent) -> String {
        // A heading has the line to itself.
        let labelled = matrix.rows.iter().filter(|row| !row.figures.is_empty());
        let label = labelled.map(|row| indent(row.nested) + width(&row.label)).max().unwrap_or(0);
        let label = label.min(self.width * 2 / 5);
        let columns = |intervals: bool| -> Vec<GridColumn> {
            let columns = (0..matrix.columns.len()).map(|at| self.matrix_column(matrix, at, intervals));
            self.titled_columns(columns.collect(), label)
        };
        let figures = || matrix.rows.iter().flat_map(|row| &row.figures).flatten();
        let wide = columns(true);
        let fits = label + GridColumn::total(&wide) <= self.width;
        let intervals = figures().any(|figure| figure.ends().is_some()) && fits;
        let columns = if intervals { wide } else { columns(false) };
        signs.has_error |= figures().any(|figure| figure.stderr().is_some());
        signs.has_interval |= intervals || matrix.columns.iter().any(|column| column.is_interval);
        let row = |row: &TableRow| {
            let (indent, is_heading) = (indent(row.nested), row.figures.is_empty());
            let room = if is_heading { usize::MAX } else { label.saturating_sub(indent) };
            GridRow { indent, label: self.truncate(&row.label, room), is_heading, notes: row.notes.clone() }
        };
        let rows: Vec<GridRow> = matrix.rows.iter().map(row).collect();
        self.heading(&matrix.name, &matrix.details) + &self.grid_in_parts(label, &columns, &rows)
    }

    /// The columns with titles that are cut to what a column should be wide, unless that would make two of them equal; if
    /// they are equal on a whole line too, they are numbered.
    fn titled_columns(&self, mut columns: Vec<GridColumn>, label: usize) -> Vec<GridColumn> {
        let cut = |column: &GridColumn| self.truncate(&column.title, column.width.max(self.width / 4));
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

    fn matrix_column(&self, matrix: &ReportTable, at: usize, intervals: bool) -> GridColumn {
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
        let title = column.map(|column| column.title.clone()).unwrap_or_default();
        GridColumn { title, ..GridColumn::new(String::new(), figures().map(cell).collect()) }
    }
}

// Tables of texts on a terminal, such as those of several sides.

impl TerminalTable {
    /// A table of texts, in parts if it is too wide; names of rows are cut in the middle.
    pub(crate) fn text_table(&self, table: &TextTable) -> String {
        let (label, columns) = self.text_layout(table);
        let most = label.saturating_sub(INDENT);
        let names: Vec<(String, usize)> = labels(table).map(|name| (clean(name), most)).collect();
        let row = |label: String| GridRow { indent: INDENT, label, ..GridRow::default() };
        let rows: Vec<GridRow> = short_names(&names, self.sign("…", "..")).into_iter().map(row).collect();
        let legend: Vec<String> = table.legend.iter().cloned().collect();
        self.heading(&self.in_our_signs(&table.name), &table.details)
            + &self.grid_in_parts(label, &columns, &rows)
            + &self.below(INDENT, self.note_lines(&legend, INDENT))
    }

    /// Long names are cut if that keeps all columns side by side; else less.
    fn text_layout(&self, table: &TextTable) -> (usize, Vec<GridColumn>) {
        let widest = labels(table).map(|label| INDENT + width(&clean(label))).max().unwrap_or(0);
        let layout = |columns: usize, label: usize, title: usize| {
            (widest.min(label), self.text_columns(table, columns, title))
        };
        let count = table.titles.len().saturating_sub(1);
        let limits = [(self.width * 2 / 5, 24), (30, 16), (20, 12), (14, 9)];
        let whole = limits.iter().map(|(label, title)| layout(count, *label, *title));
        let without_last = limits.iter().filter(|_| table.drops_last);
        let without_last = without_last.map(|(label, title)| layout(count.saturating_sub(1), *label, *title));
        let fits =
            |(label, columns): &(usize, Vec<GridColumn>)| label + GridColumn::total(columns) <= self.width;
        whole.chain(without_last).find(fits).unwrap_or_else(|| layout(count, 20, 16))
    }

    /// The first columns, their titles cut to their cells or to a width.
    fn text_columns(&self, table: &TextTable, count: usize, most: usize) -> Vec<GridColumn> {
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
        let plain = |cells: Vec<String>| cells.into_iter().map(|cell| (cell, Style::new())).collect();
        titles.into_iter().zip(columns).map(|(title, cells)| GridColumn::new(title, plain(cells))).collect()
    }
}

fn labels(table: &TextTable) -> impl Iterator<Item = &str> {
    table.rows.iter().filter_map(|row| row.first()).map(String::as_str)
}

// Lists on a terminal.

/// The least width that a column is truncated to.
const LEAST: usize = 8;
/// The least width of a column before others are dropped.
const READABLE: usize = 14;

impl TerminalTable {
    /// A list, in lines of at most the width if cutting suffices for that.
    pub(crate) fn listed(&self, listing: &Listing) -> String {
        let titles: Vec<String> = listing.titles().iter().map(|title| clean(title)).collect();
        let rows: Vec<Vec<String>> =
            listing.rows().iter().map(|row| row.iter().map(|cell| clean(cell.text())).collect()).collect();
        let widest = |at: usize| {
            let cells = rows.iter().chain([&titles]).filter_map(|row| row.get(at));
            cells.map(|cell| width(cell)).max().unwrap_or(0)
        };
        let is_text =
            |at: usize| listing.rows().iter().filter_map(|row| row.get(at)).all(ListingCell::is_text);
        let mut columns: Vec<ListingColumn> = (0..titles.len())
            .map(|at| ListingColumn {
                at,
                width: widest(at),
                is_text: is_text(at),
                is_numeric: listing.is_numeric(at),
            })
            .collect();
        let must_fit = !listing.droppable.is_empty();
        let mut dropped = listing.droppable.iter();
        let mut least = if must_fit { READABLE } else { LEAST };
        // The first of those that can go is not worth cutting the others.
        let mut is_whole = must_fit;
        while !fit(&mut columns, self.width, if is_whole { usize::MAX } else { least }, must_fit) {
            is_whole = false;
            match dropped.next() {
                Some(next) => columns.retain(|column| column.at != *next),
                None if least > LEAST => least = LEAST,
                None => break,
            }
        }
        let line = |cells: &[String], style: Style| {
            let padded = columns.iter().map(|column| {
                let cell = cells.get(column.at).map(String::as_str).unwrap_or_default();
                let cell = match must_fit {
                    true => truncate_middle(cell, column.width, self.sign("…", "..")),
                    false => self.truncate(cell, column.width),
                };
                let left = column.width.saturating_sub(width(&cell));
                let blanks = " ".repeat(if column.is_numeric { left } else { 0 });
                pad(&format!("{blanks}{cell}"), column.width)
            });
            let line = padded.collect::<Vec<_>>().join(&" ".repeat(GAP));
            let line = if must_fit { self.truncate(line.trim_end(), self.width) } else { line };
            self.line(&[(line, style)])
        };
        let rows = rows.iter().map(|row| line(row, Style::new()));
        std::iter::once(line(&titles, BOLD)).chain(rows).collect()
    }
}

/// A column on its way to a width that fits.
#[derive(Clone, Copy, Debug)]
struct ListingColumn {
    at: usize,
    width: usize,
    is_text: bool,
    is_numeric: bool,
}

/// Makes columns fit: the widest of the middle columns of strings give first, then the first column. Numbers are never
/// cut, and the last column is cut only if the lines have to fit. If that does not suffice, nothing is cut, and it
/// returns false: lines that are too long anyway lose nothing.
fn fit(columns: &mut [ListingColumn], limit: usize, least: usize, must_fit: bool) -> bool {
    let whole: Vec<usize> = columns.iter().map(|column| column.width).collect();
    let last = columns.len().saturating_sub(1);
    let needed = whole.iter().sum::<usize>() + last * GAP;
    for _ in limit..needed {
        let gives = |(at, column): &(usize, &mut ListingColumn)| {
            (*at < last || must_fit) && column.is_text && column.width > least
        };
        let widest =
            columns.iter_mut().enumerate().filter(gives).max_by_key(|(at, column)| (*at > 0, column.width));
        let Some((_, column)) = widest else {
            columns.iter_mut().zip(whole).for_each(|(column, width)| column.width = width);
            return false;
        };
        column.width -= 1;
    }
    true
}

#[cfg(test)]
mod tests {
    use serde_json::Value as Json;

    use super::*;
    use crate::Render;

    fn fitted(widths: &[usize], texts: &[bool], limit: usize, must_fit: bool) -> Option<Vec<usize>> {
        let column = |(at, (width, is_text)): (usize, (&usize, &bool))| ListingColumn {
            at,
            width: *width,
            is_text: *is_text,
            is_numeric: false,
        };
        let mut columns: Vec<ListingColumn> = widths.iter().zip(texts).enumerate().map(column).collect();
        let fits = fit(&mut columns, limit, LEAST, must_fit);
        let widths: Vec<usize> = columns.iter().map(|column| column.width).collect();
        fits.then_some(widths)
    }

    #[test]
    fn the_last_column_stays_whole() {
        let texts = [true; 4];
        assert_eq!(fitted(&[10, 40, 20, 30], &texts, 80, false).unwrap(), [10, 17, 17, 30]);
        let numbers = [true, true, false, true];
        assert_eq!(fitted(&[10, 40, 20, 30], &numbers, 80, false).unwrap(), [10, 14, 20, 30]);
        assert_eq!(
            fitted(&[20, 8, 40, 30], &numbers, 94, false).unwrap(),
            [10, 8, 40, 30],
            "figures are whole"
        );
        assert_eq!(fitted(&[10, 10, 90], &texts, 40, false), None, "cutting would not help");
        assert_eq!(fitted(&[10, 10, 90], &texts, 40, true).unwrap(), [10, 10, 16]);
        assert_eq!(fitted(&[90], &texts, 40, false), None);
        assert_eq!(fitted(&[], &[], 40, false).unwrap(), [0; 0]);
    }

    #[test]
    fn a_narrow_terminal_does_without_some_columns() {
        let mut logs =
            Listing::new(["handle", "task", "samples", "figure", "log"]).droppable(["log", "samples"]);
        let number = |text: &str| ListingCell::new(text, Json::from(0));
        logs.push([
            ListingCell::from("@1"),
            ListingCell::from("a task with a long name"),
            number("144/144"),
            number("accuracy 0.819 ± 0.034"),
            ListingCell::from("a/path/that/is/rather/long.eval"),
        ]);
        let whole = TerminalTable::default().width(200).listing_text(&logs);
        assert!(whole.contains("long.eval"), "{whole}");
        for limit in 40..120 {
            let text = TerminalTable::default().width(limit).listing_text(&logs);
            assert!(text.lines().all(|line| width(line) <= limit), "{limit}:\n{text}");
            assert!(text.contains("@1") && text.contains("accuracy 0"), "{limit}:\n{text}");
        }
        let narrow = TerminalTable::default().width(46).listing_text(&logs);
        assert_eq!(narrow.lines().nth(1), Some("@1      a task…ng name  accuracy 0.819 ± 0.034"));
    }

    #[test]
    fn lists_are_clean_and_numbers_are_aligned() {
        let mut list = Listing::new(["name", "number of tokens"]);
        list.push([ListingCell::from("a\u{1b}[31m|b"), ListingCell::from(7_u64)]);
        list.push([ListingCell::from("c"), ListingCell::from(1234.5)]);
        list.push([ListingCell::from("d"), ListingCell::from(None::<u64>)]);
        let text = TerminalTable::default().listing_text(&list);
        assert_eq!(
            text,
            "name      number of tokens\na\u{fffd}[31m|b                 7\nc                     1234\nd\n"
        );
        assert_eq!(TerminalTable::default().ascii(true).width(40).listing_text(&list).lines().count(), 4);
        let json: Json = serde_json::from_str(&crate::Json.listing_text(&list)).unwrap();
        assert_eq!(json[1]["number_of_tokens"], 1234.5);
        assert_eq!(
            (&json[0]["name"], &json[2]["number_of_tokens"]),
            (&Json::from("a\u{1b}[31m|b"), &Json::Null)
        );
        let bold = TerminalTable::default().color(true).listing_text(&list);
        assert!(bold.starts_with("\u{1b}[1mname"), "{bold:?}");
    }
}
