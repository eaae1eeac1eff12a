//! Comparisons as LaTeX: a `tabular` with the rules of the package booktabs for each table, notes below it.

use super::ComparisonView;
use super::flip;
use super::grid::Grid;
use super::legend;
use super::markdown::cells;
use super::tables::{ComparedTable, ComparisonTables};
use crate::latex::{INDENT, comment, escape, headed, tabular};

/// Needs booktabs and nothing else, as results do.
pub(crate) fn text(view: &ComparisonView<'_>) -> String {
    let tables = ComparisonTables::of(view.report);
    let sides = view.report.sides.join(if tables.is_many { ", " } else { " → " });
    let about: Vec<String> = view.title.map(str::to_owned).into_iter().chain([sides.clone()]).collect();
    let mut text = format!("% Needs \\usepackage{{booktabs}}.\n\n{}\n", comment(&about.join("; ")));
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
            let titles = ["id", "base", "other"].map(str::to_owned);
            let row = |flip: &&super::Flip| {
                vec![flip.id.to_string(), flip::score(&flip.base_score), flip::score(&flip.other_score)]
            };
            let rows: Vec<Vec<String>> = flips.iter().map(row).collect();
            let about = ["samples that changed".to_owned(), pair];
            text += &headed(&about, None, &tabular("lll", &titles, &rows));
        }
    }
    if let Some(gate) = legend::gates(view.report) {
        text += &format!("{}\n", comment(&gate.to_string()));
    }
    text
}

fn compared(table: &ComparedTable, about: &[String], legend: &str) -> String {
    let (titles, rows) = cells(table, INDENT, false);
    let caption: Vec<String> =
        about.iter().cloned().chain([table.name.clone()]).chain(table.details.iter().cloned()).collect();
    let mut body = tabular(&"l".repeat(titles.len()), &titles, &rows);
    let notes = table.rows.iter().filter(|row| !row.notes.is_empty());
    let notes: Vec<String> =
        notes.map(|row| escape(&format!("{}: {}.", row.label, row.notes.join(" · ")))).collect();
    if !notes.is_empty() {
        body += &format!(
            "\n\\medskip\n\\begin{{minipage}}{{\\linewidth}}\\footnotesize\n{}\n\\end{{minipage}}\n",
            notes.join("\\\\\n")
        );
    }
    headed(&caption, Some(legend.to_owned()), &body)
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
    headed(&about, grid.legend.clone(), &tabular(&"l".repeat(titles.len()), &titles, &rows))
}
