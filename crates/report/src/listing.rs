//! A list with titles, for every verb that prints one.

use anstyle::Style;
use serde_json::Value as Json;

use crate::layout::GAP;
use crate::paint::BOLD;
use crate::table::TerminalTable;
use crate::text::{clean, pad, width};

/// The least width that a column is truncated to.
const LEAST: usize = 8;

/// A list with titles: logs, cached answers, metrics. Every [`Render`](crate::Render) writes one with `listing`.
///
/// A terminal shows the titles as they are and the texts of the cells. What is too wide for it is cut in columns of
/// strings, those in the middle before the first, never in columns of other data and never in the last column: that is the
/// place for a path. If it is too wide even so, nothing is cut. JSON and CSV have the data of the cells, under the titles in lower case with `_` for blanks.
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
}

/// A cell of a [`Listing`]: a text for people, and the data behind it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ListingCell {
    text: String,
    data: Json,
}

impl ListingCell {
    /// A text for people, and what JSON and CSV have in its place.
    pub fn new(text: impl Into<String>, data: Json) -> Self {
        ListingCell { text: text.into(), data }
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
        Listing { titles: titles.into_iter().map(Into::into).collect(), rows: Vec::new() }
    }

    /// Adds a row: a cell for each title; those that are missing are blank, those that are too many are left out.
    pub fn push<C: Into<ListingCell>>(&mut self, cells: impl IntoIterator<Item = C>) {
        let mut row: Vec<ListingCell> = cells.into_iter().map(Into::into).collect();
        row.resize(self.titles.len(), ListingCell::default());
        self.rows.push(row);
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
    pub(crate) fn to_json(&self) -> Json {
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
        let texts: Vec<bool> = (0..titles.len()).map(is_text).collect();
        let widths = fitted((0..titles.len()).map(widest).collect(), &texts, self.width);
        let numeric: Vec<bool> = (0..titles.len()).map(|at| listing.is_numeric(at)).collect();
        let line = |cells: &[String], style: Style| {
            let padded = cells.iter().zip(&widths).zip(&numeric).map(|((cell, to), is_numeric)| {
                let cell = self.truncate(cell, *to);
                let blanks = " ".repeat(if *is_numeric { to.saturating_sub(width(&cell)) } else { 0 });
                pad(&format!("{blanks}{cell}"), *to)
            });
            self.line(&[(padded.collect::<Vec<_>>().join(&" ".repeat(GAP)), style)])
        };
        let rows = rows.iter().map(|row| line(row, Style::new()));
        std::iter::once(line(&titles, BOLD)).chain(rows).collect()
    }
}

/// Widths that fit: the widest of the middle columns of strings give first, then the first column. Numbers are never cut,
/// and the last column is not either. If that does not suffice, nothing is cut: lines that are too long anyway lose
/// nothing.
fn fitted(whole: Vec<usize>, texts: &[bool], limit: usize) -> Vec<usize> {
    let mut widths = whole.clone();
    let last = widths.len().saturating_sub(1);
    let needed = widths.iter().sum::<usize>() + last * GAP;
    for _ in limit..needed {
        let width = |at: &usize| widths.get(*at).copied().unwrap_or(0);
        let gives = |at: &usize| *at < last && texts.get(*at) == Some(&true) && width(at) > LEAST;
        let middle = (1..last).filter(gives).max_by_key(width);
        let column = middle.or_else(|| Some(0).filter(gives)).and_then(|at| widths.get_mut(at));
        let Some(column) = column else { return whole };
        *column -= 1;
    }
    widths
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Render;

    #[test]
    fn the_last_column_stays_whole() {
        let texts = [true; 4];
        assert_eq!(fitted(vec![10, 40, 20, 30], &texts, 80), [10, 17, 17, 30]);
        assert_eq!(fitted(vec![10, 40, 20, 30], &[true, true, false, true], 80), [10, 14, 20, 30]);
        assert_eq!(
            fitted(vec![20, 8, 40, 30], &[true, true, false, true], 94),
            [10, 8, 40, 30],
            "figures are whole"
        );
        assert_eq!(fitted(vec![10, 10, 90], &texts, 40), [10, 10, 90], "cutting would not help");
        assert_eq!(fitted(vec![90], &texts, 40), [90]);
        assert!(fitted(vec![], &[], 40).is_empty());
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
