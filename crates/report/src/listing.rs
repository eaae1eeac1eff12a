//! A list with titles, for every verb that prints one.

use serde_json::Value as Json;

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
    pub(crate) droppable: Vec<usize>,
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
    pub(crate) fn is_text(&self) -> bool {
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
        ListingCell::new(crate::text::plain(number), Json::from(number))
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
