//! A list with titles, for every verb that prints one.

use anstyle::Style;
use serde_json::Value as Json;

use crate::layout::GAP;
use crate::paint::BOLD;
use crate::table::TerminalTable;
use crate::text::{clean, pad, truncate_middle, width};

/// The least width that a column is truncated to.
const LEAST: usize = 8;
/// The least width of a column before others are dropped.
const READABLE: usize = 14;

/// A list with titles: logs, cached answers, metrics. Every [`Render`](crate::Render) writes one with `listing`.
///
/// A terminal shows the titles as they are and the texts of the cells. What is too wide for it is cut in columns of
/// strings, those in the middle before the first, never in columns of other data and never in the last column: that is the
/// place for a path. If it is too wide even so, nothing is cut, unless the list says which columns it can do without
/// ([`Listing::droppable`]): then those are dropped, and no line is wider than the terminal. JSON and CSV have the data of the cells, under the titles in lower case with `_` for blanks.
///
/// ```
/// use errorbar_report::{ListingCell, Csv, Json, Listing, Markdown, Render, TerminalTable};
/// use serde_json::json;
///
/// let mut logs = Listing::new(["model", "samples", "figure", "log"]);
/// let figure = ListingCell::new("0.819 ± 0.034", json!({ "value": 0.8194, "stderr": 0.0342 }));
/// logs.push([ListingCell::from("openai/heron"), ListingCell::from(144_u64), figure, ListingCell::from("logs/a.eval")]);
///
/// assert_eq!(TerminalTable::default().listing_text(&logs), "\
/// model         samples  figure         log
/// openai/heron      144  0.819 ± 0.034  logs/a.eval
/// ");
/// let narrow = TerminalTable::default().width(46).listing_text(&logs);
/// assert_eq!(narrow.lines().nth(1), Some("openai/h…      144  0.819 ± 0.034  logs/a.eval"));
/// assert!(Markdown::default().listing_text(&logs).contains("| openai/heron | 144 | 0.819 ± 0.034 | logs/a.eval |"));
/// assert!(Csv.listing_text(&logs).starts_with("model,samples,figure,log\nopenai/heron,144,"));
/// assert!(Json.listing_text(&logs).contains("\"samples\": 144"));
/// ```
#[derive(Clone, Debug, Default)]
pub struct Listing {
    titles: Vec<String>,
    rows: Vec<Vec<ListingCell>>,
    /// The columns that a narrow terminal does without, the first of them first.
    droppable: Vec<usize>,
}

/// A cell of a [`Listing`]: a text for people, and the data behind it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ListingCell {
    text: String,
    data: Json,
    is_code: bool,
}

impl ListingCell {
    /// A text for people, and what JSON and CSV have in its place.
    pub fn new(text: impl Into<String>, data: Json) -> Self {
        ListingCell { text: text.into(), data, is_code: false }
    }

    /// The same as a word to copy into a command.
    #[must_use]
    pub fn code(self) -> Self {
        ListingCell { is_code: true, ..self }
    }

    /// Whether it is a word to copy.
    pub(crate) fn is_code(&self) -> bool {
        self.is_code
    }

    /// The text for people.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Whether the data is the text itself; a blank is as good.
    fn is_text(&self) -> bool {
        self.data.is_null() || self.data.is_string()
    }

    /// The data as one field of CSV.
    pub(crate) fn field(&self) -> String {
        csv_field(&self.data)
    }
}

/// Data as one field of CSV: strings as they are, other data as JSON.
pub(crate) fn csv_field(data: &Json) -> String {
    match data {
        Json::Null => String::new(),
        Json::String(text) => text.clone(),
        other => other.to_string(),
    }
}

impl From<&str> for ListingCell {
    fn from(text: &str) -> Self {
        ListingCell::new(text, Json::from(text))
    }
}
impl From<String> for ListingCell {
    fn from(text: String) -> Self {
        ListingCell::from(text.as_str())
    }
}
impl From<u64> for ListingCell {
    fn from(count: u64) -> Self {
        ListingCell::new(count.to_string(), Json::from(count))
    }
}
impl From<usize> for ListingCell {
    fn from(count: usize) -> Self {
        ListingCell::from(count as u64)
    }
}
/// As many digits as mean something.
impl From<f64> for ListingCell {
    fn from(number: f64) -> Self {
        ListingCell::new(crate::number::plain(number), Json::from(number))
    }
}
/// An absent one is blank, and null in JSON.
impl<T: Into<ListingCell>> From<Option<T>> for ListingCell {
    fn from(cell: Option<T>) -> Self {
        cell.map(Into::into).unwrap_or_default()
    }
}

impl Listing {
    /// A list without rows.
    pub fn new<T: Into<String>>(titles: impl IntoIterator<Item = T>) -> Self {
        let titles = titles.into_iter().map(Into::into).collect();
        Listing { titles, rows: Vec::new(), droppable: Vec::new() }
    }

    /// Names the columns that a terminal which is too narrow does without, in the order in which they go. Other columns
    /// are cut, and if that does not suffice the lines are.
    ///
    /// ```
    /// use errorbar_report::{Listing, Render, TerminalTable};
    ///
    /// let mut logs = Listing::new(["handle", "task", "log"]).droppable(["log"]);
    /// logs.push(["@1", "almanac", "logs/2026-11-15T06-09-13+00-00_almanac_1f0c.eval"]);
    /// let narrow = TerminalTable::default().width(40).listing_text(&logs);
    /// assert_eq!(narrow, "handle  task\n@1      almanac\n");
    /// ```
    #[must_use]
    pub fn droppable<'t>(mut self, titles: impl IntoIterator<Item = &'t str>) -> Self {
        let column = |title: &str| self.titles.iter().position(|known| known == title);
        self.droppable = titles.into_iter().filter_map(column).collect();
        self
    }

    /// Adds a row: a cell for each title; those that are missing are blank, those that are too many are left out.
    pub fn push<C: Into<ListingCell>>(&mut self, cells: impl IntoIterator<Item = C>) {
        let mut row: Vec<ListingCell> = cells.into_iter().map(Into::into).collect();
        row.resize(self.titles.len(), ListingCell::default());
        self.rows.push(row);
    }

    /// Adds a column at the end, with a cell for each row.
    pub(crate) fn add_column<C: Into<ListingCell>>(
        &mut self,
        title: &str,
        cells: impl IntoIterator<Item = C>,
    ) {
        self.titles.push(title.to_owned());
        self.rows.iter_mut().zip(cells).for_each(|(row, cell)| row.push(cell.into()));
    }

    /// The titles.
    pub fn titles(&self) -> &[String] {
        &self.titles
    }

    /// The rows, each with a cell for each title.
    pub fn rows(&self) -> &[Vec<ListingCell>] {
        &self.rows
    }

    /// The rows as people read them.
    pub(crate) fn texts(&self) -> Vec<Vec<String>> {
        self.rows.iter().map(|row| row.iter().map(|cell| cell.text.clone()).collect()).collect()
    }

    /// The names of the columns in JSON and CSV.
    pub(crate) fn keys(&self) -> impl Iterator<Item = String> {
        self.titles.iter().map(|title| title.to_lowercase().replace(' ', "_"))
    }

    /// Whether all cells of a column are numbers.
    pub(crate) fn is_numeric(&self, column: usize) -> bool {
        let mut cells =
            self.rows.iter().filter_map(|row| row.get(column)).filter(|cell| !cell.data.is_null());
        let is_number = |cell: &ListingCell| cell.data.is_number();
        cells.next().is_some_and(is_number) && cells.all(is_number)
    }

    /// The rows as an array of objects.
    pub fn to_json(&self) -> Json {
        let object = |row: &Vec<ListingCell>| {
            Json::Object(self.keys().zip(row.iter().map(|cell| cell.data.clone())).collect())
        };
        self.rows.iter().map(object).collect()
    }
}

impl TerminalTable {
    /// A list, in lines of at most the width if cutting suffices for that.
    pub(crate) fn listed(&self, listing: &Listing) -> String {
        let titles: Vec<String> = listing.titles.iter().map(|title| clean(title)).collect();
        let rows: Vec<Vec<String>> =
            listing.rows.iter().map(|row| row.iter().map(|cell| clean(&cell.text)).collect()).collect();
        let widest = |at: usize| {
            let cells = rows.iter().chain([&titles]).filter_map(|row| row.get(at));
            cells.map(|cell| width(cell)).max().unwrap_or(0)
        };
        let is_text = |at: usize| listing.rows.iter().filter_map(|row| row.get(at)).all(ListingCell::is_text);
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
