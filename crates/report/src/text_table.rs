//! A table of texts under a title: what Markdown and LaTeX write of results and comparisons, and what a terminal shows of
//! several sides.

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
