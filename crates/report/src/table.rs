//! The tables of a report, built once for every format for people: rows under a title. Formats that draw no bars write the
//! same as texts, results and comparisons alike.
//!
//! Names are as they are; a terminal shows a table [cleaned](ReportTable::cleaned).

use std::iter::once;

use errorbar_core::{EstimateRow, Undefined};

use crate::bar::BarSpan;
use crate::figure::EstimateText;
use crate::notes::{self, CommonMethods};
use crate::text::clean;

/// Rows under a title.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ReportTable {
    pub(crate) name: String,
    pub(crate) details: Vec<String>,
    /// The title of the column of labels; empty if the name describes the rows.
    pub(crate) label_title: &'static str,
    /// A column of figures for each of these metrics; empty if a row has one figure, whatever its metric is.
    pub(crate) columns: Vec<ColumnTitle>,
    pub(crate) rows: Vec<TableRow>,
}

/// The title of a column of figures.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ColumnTitle {
    pub(crate) title: String,
    /// Whether the metric is an interval, which is shown even if there is no space for other intervals.
    pub(crate) is_interval: bool,
}

/// One row of a [`ReportTable`]. Without figures it is a heading: what the nested rows below it have in common.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct TableRow {
    pub(crate) nested: bool,
    pub(crate) label: String,
    pub(crate) figures: Vec<Option<EstimateText>>,
    /// Whether the metric could not be computed; its only note is the error.
    pub(crate) failed: bool,
    pub(crate) span: Option<BarSpan>,
    /// The number of scores: `36`, `34 of 36`.
    pub(crate) n: Option<String>,
    /// Whether the number of scores differs from that in the title of the table.
    pub(crate) shows_n: bool,
    pub(crate) notes: Vec<String>,
}

impl TableRow {
    /// The figure of an estimate, without notes.
    pub(crate) fn of(row: &EstimateRow<'_>, label: String) -> Self {
        let figure = EstimateText::from(row.estimate.as_ref());
        let (span, n) = (BarSpan::of(&figure, row.role), notes::n_text(&row.estimate));
        TableRow { label, figures: vec![Some(figure)], span, n, ..TableRow::default() }
    }

    /// A row without an estimate.
    pub(crate) fn without_scores(label: String) -> Self {
        let figures = vec![Some(EstimateText::undefined(&Undefined::NoScores))];
        TableRow { label, figures, ..TableRow::default() }
    }

    /// The figure of a row that has one.
    pub(crate) fn figure(&self) -> Option<&EstimateText> {
        self.figures.first()?.as_ref()
    }

    /// The notes, the number of scores among them.
    pub(crate) fn all_notes(&self) -> Vec<String> {
        let n = self.n.as_ref().filter(|_| self.shows_n).map(|n| format!("n {n}"));
        n.into_iter().chain(self.notes.iter().cloned()).collect()
    }
}

impl ReportTable {
    /// The table as a terminal may show it.
    pub(crate) fn cleaned(mut self) -> Self {
        let titles = self.columns.iter_mut().map(|column| &mut column.title);
        let rows = self.rows.iter_mut().flat_map(|row| once(&mut row.label).chain(&mut row.notes));
        for text in once(&mut self.name).chain(&mut self.details).chain(titles).chain(rows) {
            *text = clean(text);
        }
        self
    }

    /// The titles and the rows as texts, for formats that draw no bars; `indent` marks nested rows, and the last column has
    /// notes.
    pub(crate) fn texts(&self, common: &CommonMethods, indent: &str) -> TextTable {
        TextTable {
            name: self.name.clone(),
            details: self.details.clone(),
            titles: self.titles(common),
            rows: self.cells(indent),
            ..TextTable::default()
        }
    }

    fn titles(&self, common: &CommonMethods) -> Vec<String> {
        let mut titles = vec![self.label_title.to_owned()];
        if self.columns.is_empty() {
            titles.extend(["value".to_owned(), common.interval_title(), "n".to_owned()]);
        }
        titles.extend(self.columns.iter().map(|column| column.title.clone()));
        titles.push("notes".to_owned());
        titles
    }

    fn cells(&self, indent: &str) -> Vec<Vec<String>> {
        let figures = if self.columns.is_empty() { 3 } else { self.columns.len() };
        let cells = |row: &TableRow| {
            let label = if row.nested { format!("{indent}{}", row.label) } else { row.label.clone() };
            let mut cells = vec![label];
            match row.figure().filter(|_| self.columns.is_empty()) {
                Some(figure) => {
                    cells.extend([figure.short(), figure.interval_text(), row.n.clone().unwrap_or_default()]);
                }
                None if row.failed => cells.push("failed".to_owned()),
                None => {
                    let text = |figure: &Option<EstimateText>| figure.as_ref().map(EstimateText::to_string);
                    cells.extend(row.figures.iter().map(|figure| text(figure).unwrap_or_default()));
                }
            }
            cells.resize(1 + figures, String::new());
            cells.push(row.notes.join(" · "));
            cells
        };
        self.rows.iter().map(cells).collect()
    }
}

/// Texts in rows under titles; the first column has the labels of the rows.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct TextTable {
    pub(crate) name: String,
    pub(crate) details: Vec<String>,
    pub(crate) titles: Vec<String>,
    pub(crate) rows: Vec<Vec<String>>,
    /// What the cells mean.
    pub(crate) legend: Option<String>,
    /// Whether a narrow terminal does without the last column.
    pub(crate) drops_last: bool,
}

impl TextTable {
    /// Rows with a label each, whose column has no title.
    pub(crate) fn labelled(
        name: String,
        columns: impl IntoIterator<Item = String>,
        rows: impl IntoIterator<Item = (String, Vec<String>)>,
    ) -> Self {
        let row = |(label, cells): (String, Vec<String>)| std::iter::once(label).chain(cells).collect();
        TextTable {
            name,
            titles: std::iter::once(String::new()).chain(columns).collect(),
            rows: rows.into_iter().map(row).collect(),
            ..TextTable::default()
        }
    }
}
