//! Rows as cells of text, for formats that draw no bars.

use crate::figure::EstimateText;
use crate::matrix::Matrix;
use crate::notes::CommonMethods;
use crate::rows::{DisplayRow, ScoreBlock};

/// The columns of a block.
pub(crate) fn block_titles(block: &ScoreBlock, common: &CommonMethods) -> Vec<String> {
    let titles = [block.column.to_owned(), "value".to_owned(), common.interval_title(), "n".to_owned()];
    titles.into_iter().chain(["notes".to_owned()]).collect()
}

/// The cells of a block; `before` marks rows that are below a heading.
pub(crate) fn block_cells(block: &ScoreBlock, before: &str) -> Vec<Vec<String>> {
    let blank = String::new;
    let cells = |row: &DisplayRow| match row {
        DisplayRow::Heading { label, notes } => {
            vec![label.clone(), blank(), blank(), blank(), notes.join(" · ")]
        }
        DisplayRow::Estimate(line) => {
            let label = if line.nested { format!("{before}{}", line.label) } else { line.label.clone() };
            let n = line.n.clone().unwrap_or_default();
            vec![label, line.figure.short(), interval(&line.figure), n, line.notes.join(" · ")]
        }
        DisplayRow::Failure { label, message } => {
            vec![label.clone(), "failed".to_owned(), blank(), blank(), message.clone()]
        }
    };
    block.rows.iter().map(cells).collect()
}

/// The interval as it is written: `[0.750, 0.888]`.
pub(crate) fn interval(figure: &EstimateText) -> String {
    figure.texts().interval.map(|(lower, upper)| format!("[{lower}, {upper}]")).unwrap_or_default()
}

/// The columns of a matrix.
pub(crate) fn matrix_titles(matrix: &Matrix) -> Vec<String> {
    let titles = std::iter::once(String::new()).chain(matrix.titles.iter().cloned());
    titles.chain(["notes".to_owned()]).collect()
}

/// The cells of a matrix.
pub(crate) fn matrix_cells(matrix: &Matrix, before: &str) -> Vec<Vec<String>> {
    let rows = matrix.rows.iter().map(|row| {
        let label = if row.nested { format!("{before}{}", row.label) } else { row.label.clone() };
        let cell = |at: usize| row.cells.get(at).and_then(Option::as_ref).map(EstimateText::to_string);
        let cells = (0..matrix.titles.len()).map(|at| cell(at).unwrap_or_default());
        std::iter::once(label).chain(cells).chain([row.notes.join(" · ")]).collect()
    });
    rows.collect()
}
