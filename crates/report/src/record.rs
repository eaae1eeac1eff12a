//! A row of results as one flat record: an object of `estimates` in JSON, a row of CSV. Each column is declared once, with
//! its name, what it holds, and its value.

use errorbar_core::{Defined, Estimate, EstimateRow, Interval, IntervalSide, Results, StdError, Undefined};
use serde_json::Value as Json;

use crate::table::{groups, keys};
use crate::text::joined;

/// A row of results or of comparisons as data: a value for each column, in their order. What does not exist is null, and so
/// is a number that is not finite.
pub type Record = serde_json::Map<String, Json>;

/// A column: its name, what it holds, and its value in a row.
type EstimateColumn = (&'static str, ColumnType, fn(&EstimateRow<'_>) -> Json);

const COLUMNS: [EstimateColumn; 35] = {
    use ColumnType::{Bool, Float, Int, Ints, Json as Nested, Text, Unsigned};
    [
        ("scorer", Text, |row| row.scorer.into()),
        // Unless it is the implied mean or there is none.
        ("reducer", Text, |row| row.reducer.into()),
        // Whether every epoch counts by itself.
        ("unreduced", Bool, |row| row.unreduced.into()),
        ("field", Text, |row| row.field.into()),
        // The name of the innermost metric, then the metric with its arguments.
        ("metric", Text, |row| row.metric.into()),
        ("spec", Text, |row| row.result.spec.to_string().into()),
        // The group is null for all samples, and for the mean of the groups. Names of nested groups are joined.
        ("group_key", Text, |row| joined(keys(row), " / ").into()),
        ("group", Text, |row| joined(groups(row), " / ").into()),
        // Of a metric that returns a map, or a list: then the position from 1.
        ("key", Text, |row| row.key.into()),
        ("index", Int, |row| row.index.into()),
        ("value", Float, |row| number(row.estimate.number())),
        ("stderr", Float, |row| number(error(row).map(|error| error.se))),
        // The standard error over runs of the same samples; only of means over epochs.
        ("stderr_fixed", Float, |row| number(row.estimate.notes.stderr_fixed)),
        ("error_method", Text, |row| error(row).map(|error| error.method.name()).into()),
        ("df", Float, |row| number(degrees_of_freedom(error(row), interval(row)))),
        ("clusters", Ints, |row| match error(row) {
            None => row.estimate.notes.clusters.into(),
            Some(error) => cluster_counts(&error.clusters),
        }),
        // An end is null where a bound has no other end, as the range of scores is unknown.
        ("lower", Float, |row| number(interval(row).map(|interval| interval.lower))),
        ("upper", Float, |row| number(interval(row).map(|interval| interval.upper))),
        ("level", Float, |row| number(interval(row).map(|interval| interval.level))),
        ("method", Text, |row| interval(row).map(|interval| interval.method.to_string()).into()),
        ("side", Text, |row| interval(row).map(|interval| interval.side.name()).into()),
        ("n", Int, |row| row.estimate.n.into()),
        ("absent", Int, |row| row.estimate.absent.into()),
        // The samples of whose epochs some have no score, if the bounds count those.
        ("partly_absent", Int, |row| row.estimate.notes.partly_absent.into()),
        ("bound_worst", Float, |row| number(row.estimate.bounds.map(|bounds| bounds.worst))),
        ("bound_best", Float, |row| number(row.estimate.bounds.map(|bounds| bounds.best))),
        ("absent_as_wrong", Float, |row| number(row.estimate.bounds.map(|bounds| bounds.absent_as_wrong))),
        // The number of independent scores that would give this error.
        ("effective_n", Float, |row| number(row.estimate.notes.effective_n)),
        ("design_effect", Float, |row| number(row.estimate.notes.design_effect)),
        ("largest_cluster_share", Float, |row| number(row.estimate.notes.largest_cluster_share)),
        // Whether the error is 0 because all scores are equal.
        ("degenerate", Bool, |row| error(row).map(|error| error.degenerate).into()),
        ("seed", Unsigned, |row| row.estimate.draws.map(|draws| draws.seed).into()),
        ("draws", Int, |row| row.estimate.draws.map(|draws| draws.count).into()),
        ("undefined", Nested, |row| undefined(&row.estimate)),
        ("note", Text, |row| note(&row.estimate).into()),
    ]
};

/// The names of the columns of [`estimates`], in order, and what they hold.
pub fn estimate_columns() -> Vec<(&'static str, ColumnType)> {
    COLUMNS.iter().map(|(name, holds, _)| (*name, *holds)).collect()
}

/// All estimates of results as flat records.
pub fn estimates(results: &Results) -> Vec<Record> {
    results.rows().iter().map(record).collect()
}

/// The same with a record for each metric that failed, after the others of its scores: without a value, and with the error in
/// place of a reason.
pub fn all_estimates(results: &Results) -> Vec<Record> {
    let mut records = Vec::new();
    for (at, score) in results.scores.iter().enumerate() {
        records.extend(results.rows_of(at).iter().map(record));
        for failure in &score.failures {
            let mut record: Record =
                COLUMNS.iter().map(|(name, ..)| ((*name).to_owned(), Json::Null)).collect();
            let known = [
                ("scorer", score.scorer.clone().into()),
                ("reducer", score.reducer.clone().into()),
                ("unreduced", score.unreduced.into()),
                ("field", score.field.clone().into()),
                ("metric", failure.metric.clone().into()),
                ("undefined", reasons([("value", Some(failure.error.to_string()))])),
            ];
            record.extend(known.map(|(name, value)| (name.to_owned(), value)));
            records.push(record);
        }
    }
    records
}

fn record(row: &EstimateRow<'_>) -> Record {
    COLUMNS.iter().map(|(name, _, value)| ((*name).to_owned(), value(row))).collect()
}

fn error<'r>(row: &'r EstimateRow<'_>) -> Option<&'r StdError> {
    row.estimate.error.as_ref().ok()
}

fn interval<'r>(row: &'r EstimateRow<'_>) -> Option<&'r Interval> {
    row.estimate.interval.as_ref().ok()
}

/// A number, null if it is not finite. + 0.0 takes the sign off a negative zero.
pub(crate) fn number(number: Option<f64>) -> Json {
    number.map(|number| number + 0.0).into()
}

/// Those of the error; without one, those of the interval.
pub(crate) fn degrees_of_freedom(error: Option<&StdError>, interval: Option<&Interval>) -> Option<f64> {
    error.map_or_else(|| interval.and_then(|interval| interval.df), |error| Some(error.df))
}

/// The number of clusters, or one for each way of clustering; null for independent scores.
pub(crate) fn cluster_counts(clusters: &[u64]) -> Json {
    match clusters {
        [] => Json::Null,
        [one] => (*one).into(),
        several => several.into(),
    }
}

/// Why parts do not exist, by their names; null if all do.
pub(crate) fn reasons<const N: usize>(parts: [(&str, Option<String>); N]) -> Json {
    let known = parts.into_iter().filter_map(|(name, reason)| Some((name.to_owned(), reason?.into())));
    let reasons: Record = known.collect();
    if reasons.is_empty() { Json::Null } else { Json::Object(reasons) }
}

fn undefined(estimate: &Estimate) -> Json {
    reasons([
        ("value", why(&estimate.value, |value| value.is_finite())),
        ("stderr", why(&estimate.error, |error| error.se.is_finite())),
        ("interval", why(&estimate.interval, has_known_ends)),
    ])
}

/// Why a part does not exist, or is not finite.
pub(crate) fn why<T>(part: &Defined<T>, is_finite: impl Fn(&T) -> bool) -> Option<String> {
    match part {
        Ok(part) if is_finite(part) => None,
        Ok(_) => Some(Undefined::Overflow.to_string()),
        Err(reason) => Some(reason.to_string()),
    }
}

/// Whether the ends are finite. The end that is no bound is nowhere if the range of scores is unknown.
pub(crate) fn has_known_ends(interval: &Interval) -> bool {
    let is_known = |end: f64, open: IntervalSide| end.is_finite() || interval.side == open;
    is_known(interval.lower, IntervalSide::Upper) && is_known(interval.upper, IntervalSide::Lower)
}

/// What else is to be known. Lists and maps are data, which `results` has.
pub(crate) fn note(estimate: &Estimate) -> Option<String> {
    let notes = &estimate.notes;
    let custom = notes.custom.iter().filter(|(_, value)| !value.is_array() && !value.is_object());
    let custom = custom.map(|(key, value)| {
        format!("{key}: {}", value.as_str().map_or_else(|| value.to_string(), str::to_owned))
    });
    let spans = notes.clusters_span_groups.then(|| "clusters span groups".to_owned());
    let population = notes.population.map(|population| format!("of a population of {population}"));
    let stop_and_reason = [&notes.early_stop, &notes.reason].into_iter().flatten().cloned();
    joined(stop_and_reason.chain(population).chain(spans).chain(custom), "; ")
}

/// What a column of records holds, nulls apart: for those who make a table with types of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ColumnType {
    /// Strings.
    Text,
    /// Floating-point numbers.
    Float,
    /// Integers.
    Int,
    /// Integers up to 2^64, such as seeds.
    Unsigned,
    /// Booleans.
    Bool,
    /// A list of integers; one integer is a list of it.
    Ints,
    /// Lists and maps.
    Json,
}

impl ColumnType {
    /// Whether a column of this type has this value as it is.
    ///
    /// ```
    /// use errorbar_report::ColumnType;
    /// use serde_json::json;
    /// assert!(ColumnType::Int.holds(&json!(3)) && ColumnType::Int.holds(&json!(null)));
    /// assert!(!ColumnType::Int.holds(&json!(0.5)));
    /// ```
    pub fn holds(self, value: &Json) -> bool {
        value.is_null()
            || match self {
                ColumnType::Text => value.is_string(),
                ColumnType::Float => value.is_number(),
                ColumnType::Int => value.is_i64(),
                ColumnType::Unsigned => value.is_u64(),
                ColumnType::Bool => value.is_boolean(),
                ColumnType::Ints => {
                    value.is_i64() || value.as_array().is_some_and(|items| items.iter().all(Json::is_i64))
                }
                ColumnType::Json => value.is_array() || value.is_object(),
            }
    }
}

// A list with titles, for every verb that prints one.

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
/// assert!(Csv::default().listing_text(&logs).starts_with("model,samples,figure,log\nopenai/heron,144,"));
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
