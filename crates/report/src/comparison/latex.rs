//! Comparisons as LaTeX: a `tabular` with the rules of the package booktabs for each table, notes below it.

use super::ComparisonView;
use super::flip;
use super::grid::Grid;
use super::legend;
use super::markdown::cells;
use super::tables::{ComparedRow, ComparedTable, ComparisonTables};
use crate::latex::{INDENT, PACKAGES, comment, headed, tabular};

/// Needs the packages that results need.
pub(crate) fn text(view: &ComparisonView<'_>) -> String {
    let tables = ComparisonTables::of(view.report);
    let sides = view.report.sides.join(if tables.is_many { ", " } else { " → " });
    let about: Vec<String> = view.title.map(str::to_owned).into_iter().chain([sides.clone()]).collect();
    let mut text = format!("{PACKAGES}\n\n{}\n", comment(&about.join("; ")));
    for warning in legend::warnings(view.report) {
        text += &format!("{}\n", comment(&format!("note: {warning}")));
    }
    let words: Vec<String> =
        legend::legend(view.report, true).into_iter().chain(legend::verdicts(view.report)).collect();
    let legend = words.join(" · ");
    text += &tables.compared.iter().map(|table| compared(table, &about, &legend)).collect::<String>();
    text += &tables.grids.iter().map(|grid| gridded(grid, view.title)).collect::<String>();
    if let Some(flips) = view.flips.filter(|flips| !flips.is_empty()) {
        for (pair, flips) in flip::by_pair(flips) {
            let titles = ["id", "score", "input", "base", "other"].map(str::to_owned);
            let cut = |text: &Option<String>| text.as_deref().map(flip::shortened).unwrap_or_default();
            let row = |flip: &&super::Flip| {
                let (base, other) = (cut(&flip.base_answer), cut(&flip.other_answer));
                vec![flip.id.to_string(), flip.scores(), cut(&flip.input), base, other]
            };
            let rows: Vec<Vec<String>> = flips.iter().map(row).collect();
            let about = ["samples that changed".to_owned(), pair];
            // Texts are paragraphs: in one line they would not fit on a page.
            let columns = r"llp{0.3\linewidth}p{0.2\linewidth}p{0.2\linewidth}";
            text += &headed(&about, None, &tabular(columns, &titles, &rows), &[]);
        }
    }
    if let Some(gate) = legend::gates(view.report) {
        text += &format!("{}\n", comment(&gate.to_string()));
    }
    text
}

fn compared(table: &ComparedTable, about: &[String], legend: &str) -> String {
    let (mut titles, mut rows) = cells(table, INDENT, false);
    // A verdict is words, for which a column is too much: the text of an article is 345 pt wide.
    titles.pop();
    let verdicts = rows.iter_mut().map(|row| row.pop().unwrap_or_default());
    let note = |(row, verdict): (&ComparedRow, String)| {
        let parts = std::iter::once(verdict).chain(row.notes.iter().cloned());
        let parts: Vec<String> = parts.filter(|part| !part.is_empty()).collect();
        (!parts.is_empty()).then(|| format!("{}: {}.", row.label, parts.join(" · ")))
    };
    let notes: Vec<String> = table.rows.iter().zip(verdicts).filter_map(note).collect();
    let caption: Vec<String> =
        about.iter().cloned().chain([table.name.clone()]).chain(table.details.iter().cloned()).collect();
    let body = tabular(&"l".repeat(titles.len()), &titles, &rows);
    headed(&caption, Some(legend.to_owned()), &body, &notes)
}

pub(crate) fn gridded(grid: &Grid, title: Option<&str>) -> String {
    let titles: Vec<String> = std::iter::once(String::new()).chain(grid.columns.iter().cloned()).collect();
    let row = |(label, cells): &(String, Vec<String>)| -> Vec<String> {
        std::iter::once(label.clone()).chain(cells.iter().cloned()).collect()
    };
    let rows: Vec<Vec<String>> = grid.rows.iter().map(row).collect();
    let about: Vec<String> = title
        .map(str::to_owned)
        .into_iter()
        .chain([grid.name.clone()])
        .chain(grid.details.iter().cloned())
        .collect();
    headed(&about, grid.legend.clone(), &tabular(&"l".repeat(titles.len()), &titles, &rows), &[])
}
