//! Lists on a terminal.

use anstyle::Style;

use super::TerminalTable;
use super::layout::GAP;
use super::paint::BOLD;
use crate::text::{clean, pad, truncate_middle, width};
use crate::{Listing, ListingCell};

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
