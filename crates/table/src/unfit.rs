//! Columns that have names of scores, and cells that are none.

use super::error_text::excerpt;
use super::values::{GradeMeaning, ScoreWord};

/// How many distinct cells a message lists.
const LISTED: usize = 5;

/// The cells of a column that has a name of scores, in the first rows.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct UnfitCells {
    /// The distinct ones that are no scores, with their numbers, the most frequent first.
    pub values: Vec<(String, usize)>,
    /// The strings and booleans among the others, with their meaning.
    pub words: Vec<ScoreWord>,
    /// A few numbers among the others.
    pub numbers: Vec<f64>,
    /// What the letters among them are likely to mean, if they are ambiguous grades.
    pub grades: Option<Box<GradeMeaning>>,
}

/// Columns, each with a cell; or with all cells that are no scores.
pub(super) fn describe(columns: &[(String, String)], cells: Option<&UnfitCells>) -> String {
    if let (Some(cells), [(name, _)]) = (cells, columns) {
        let value = |(value, count): &(String, usize)| format!("{} ({count})", excerpt(value));
        let listed: Vec<String> = cells.values.iter().take(LISTED).map(value).collect();
        let more = match cells.values.len().saturating_sub(LISTED) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        return format!("`{name}` has cells that are none: {}{more}", listed.join(", "));
    }
    let cell = |(name, cell): &(String, String)| match cell.as_str() {
        "" => format!("`{name}` has none"),
        cell => format!("`{name}` has {}", excerpt(cell)),
    };
    columns.iter().take(4).map(cell).collect::<Vec<_>>().join(", ")
}
