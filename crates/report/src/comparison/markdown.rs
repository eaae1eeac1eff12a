//! Comparisons as Markdown: for a page, or brief enough for the comment of a pull request.

use super::ComparisonView;
use super::flip::{self, Flip};
use super::grid::Grid;
use super::legend;
use super::sentence::{Finding, finding};
use super::tables::{ComparedRow, ComparedTable, ComparisonTables, RowContent};
use crate::markdown::{escape, pipe_table};
use crate::number::counted;

/// The most samples and rows that a comment lists.
const MOST: usize = 20;

pub(crate) fn text(view: &ComparisonView<'_>, is_brief: bool) -> String {
    let tables = ComparisonTables::of(view.report);
    if is_brief { brief(view, &tables) } else { page(view, &tables) }
}

/// Everything, under a heading.
fn page(view: &ComparisonView<'_>, tables: &ComparisonTables) -> String {
    let report = view.report;
    let sides = match report.sides.as_slice() {
        [base, others @ ..] if tables.is_many => format!("{base} against {}", others.join(", ")),
        sides => sides.join(" → "),
    };
    let title: Vec<String> = std::iter::once(sides).chain(view.title.map(str::to_owned)).collect();
    let mut text = format!("### {}\n", escape(&title.join(" · ")));
    text += &headline(view);
    for table in &tables.compared {
        let (titles, rows) = cells(table, "– ", true);
        text += &format!("\n{}\n\n{}", heading(&table.name, &table.details), pipe_table(&titles, &rows));
    }
    text += &tables.grids.iter().map(grid).collect::<String>();
    text += &listed_flips(view, usize::MAX);
    text + &methods(view)
}

/// A sentence, one table, the gate; the rest is folded.
fn brief(view: &ComparisonView<'_>, tables: &ComparisonTables) -> String {
    let mut text = headline(view).trim_start().to_owned();
    let mut details = String::new();
    for table in &tables.compared {
        let (plain, grouped) = split(table);
        for (rows, out) in [(plain, &mut text), (grouped, &mut details)] {
            let (rows, left_out) = most_telling(rows);
            if rows.is_empty() {
                continue;
            }
            let of_tasks = rows.iter().all(|row| row.is_whole) && table.details.is_empty();
            let of_tasks = of_tasks.then(|| "mean over tasks".to_owned());
            let details: Vec<String> = table.details.iter().cloned().chain(of_tasks).collect();
            *out += &format!("\n{}\n", heading(&table.name, &details));
            let (titles, cells) = cells(&ComparedTable { rows, ..table.clone() }, "– ", false);
            *out += &format!("\n{}", pipe_table(&titles, &cells));
            if left_out > 0 {
                *out += &format!("\nand {}\n", counted(left_out as u64, "more row"));
            }
        }
        let notes = table.rows.iter().filter(|row| row.is_whole && !row.notes.is_empty()).take(MOST);
        details += &notes
            .map(|row| format!("\n- {}: {}", escape(&row.label), escape(&row.notes.join(" · "))))
            .collect::<String>();
        details.push('\n');
    }
    text += &gate(view);
    details += &tables.grids.iter().map(grid).collect::<String>();
    if view.flips.is_some_and(|flips| !flips.is_empty()) {
        details += &listed_flips(view, MOST);
    }
    details += &explanations(view);
    text + &format!("\n<details><summary>Details and methods</summary>\n{details}\n</details>\n")
}

/// As many rows as a comment lists, and the number of the others. Those with a shown difference stay, then those with the
/// largest ones; in their order, below their headings.
fn most_telling(rows: Vec<ComparedRow>) -> (Vec<ComparedRow>, usize) {
    let size = |row: &ComparedRow| {
        row.figures().and_then(|figures| figures.difference.value()).map_or(-1.0, f64::abs)
    };
    let is_decided = |row: &ComparedRow| row.figures().is_some_and(|figures| figures.verdict.is_decided());
    let mut order: Vec<usize> =
        rows.iter().enumerate().filter(|(_, row)| row.figures().is_some()).map(|(at, _)| at).collect();
    let left_out = order.len().saturating_sub(MOST);
    let key = |at: &usize| rows.get(*at).map_or((false, -1.0), |row| (is_decided(row), size(row)));
    order.sort_by(|a, b| {
        let ((decided_a, a), (decided_b, b)) = (key(a), key(b));
        decided_b.cmp(&decided_a).then(b.total_cmp(&a))
    });
    let kept: Vec<usize> = order.into_iter().take(MOST).collect();
    // A heading and the row of a base stay if a row below them does.
    let is_compared = |row: &ComparedRow| row.figures().is_some();
    let is_kept = |at: usize| {
        let below = rows.iter().enumerate().skip(at).skip_while(|(_, row)| !is_compared(row));
        let mut below = below.take_while(|(_, row)| is_compared(row));
        if rows.get(at).is_some_and(is_compared) {
            kept.contains(&at)
        } else {
            below.any(|(below, _)| kept.contains(&below))
        }
    };
    let flags: Vec<bool> = (0..rows.len()).map(is_kept).collect();
    let shown =
        rows.into_iter().zip(flags).filter(|(_, is_kept)| left_out == 0 || *is_kept).map(|(row, _)| row);
    (shown.collect(), left_out)
}

/// The rows over all samples, and the others. If there are only the latter, they are the table.
fn split(table: &ComparedTable) -> (Vec<ComparedRow>, Vec<ComparedRow>) {
    let (mut whole, mut parts): (Vec<_>, Vec<_>) = table.rows.iter().cloned().partition(|row| row.is_whole);
    if whole.is_empty() {
        return (parts, Vec::new());
    }
    whole.iter_mut().for_each(|row| row.nested = false);
    // Headings of rows that are not here.
    let is_empty = |at: usize, parts: &[ComparedRow]| {
        let is_heading = |at: usize| parts.get(at).is_none_or(|row| row.content == RowContent::Heading);
        is_heading(at) && is_heading(at + 1)
    };
    let empty: Vec<bool> = (0..parts.len()).map(|at| is_empty(at, &parts)).collect();
    let mut empty = empty.into_iter();
    parts.retain(|_| !empty.next().unwrap_or(false));
    (whole, parts)
}

/// What the gate decided.
fn gate(view: &ComparisonView<'_>) -> String {
    let Some(gate) = legend::gates(view.report) else { return String::new() };
    let claim = escape(&gate.claim);
    format!("\n**Gate \"{claim}\" {}**: {}\n", gate.outcome.name(), escape(&gate.reason))
}

/// The finding, in bold what was found.
fn headline(view: &ComparisonView<'_>) -> String {
    let Some(Finding { claim, figures }) = finding(view.report) else {
        return "\nNothing was compared.\n".to_owned();
    };
    format!("\n**{}**: {}.\n", escape(&claim), escape(&figures))
}

fn heading(name: &str, details: &[String]) -> String {
    let details = details.iter().map(|detail| escape(detail));
    std::iter::once(format!("**{}**", escape(name))).chain(details).collect::<Vec<_>>().join(" · ")
}

pub(crate) fn grid(grid: &Grid) -> String {
    let titles: Vec<String> = std::iter::once(String::new()).chain(grid.columns.iter().cloned()).collect();
    let row = |(label, cells): &(String, Vec<String>)| -> Vec<String> {
        std::iter::once(label.clone()).chain(cells.iter().cloned()).collect()
    };
    let rows: Vec<Vec<String>> = grid.rows.iter().map(row).collect();
    let legend = grid.legend.as_ref().map(|legend| format!("\n{}\n", escape(legend))).unwrap_or_default();
    format!("\n{}\n\n{}{legend}", heading(&grid.name, &grid.details), pipe_table(&titles, &rows))
}

/// The samples that changed, up to a limit for each pair of sides.
fn listed_flips(view: &ComparisonView<'_>, most: usize) -> String {
    let Some((flips, changed)) = view.flips.zip(view.changed_count()) else { return String::new() };
    let pairs = flip::by_pair(flips);
    let listed = pairs.iter().map(|(_, flips)| flips.len().min(most)).sum();
    let mut text = format!("\n**{}**\n", escape(&flip::title(listed, changed)));
    for (pair, flips) in pairs {
        let titles = ["id", "score", "input", "base", "other"].map(str::to_owned);
        let cut = |text: &Option<String>| text.as_deref().map(flip::shortened).unwrap_or_default();
        let row = |flip: &&Flip| {
            let (base, other) = (cut(&flip.base_answer), cut(&flip.other_answer));
            vec![flip.id.to_string(), flip.scores(), cut(&flip.input), base, other]
        };
        let rows: Vec<Vec<String>> = flips.iter().take(most).map(row).collect();
        text += &format!("\n{}\n\n{}", escape(&pair), pipe_table(&titles, &rows));
    }
    text
}

/// Methods, warnings and the gate.
fn methods(view: &ComparisonView<'_>) -> String {
    explanations(view) + &gate(view)
}

fn explanations(view: &ComparisonView<'_>) -> String {
    let words: Vec<String> =
        legend::legend(view.report, true).into_iter().chain(legend::verdicts(view.report)).collect();
    let mut text = format!("\n{}\n", escape(&words.join(" · ")));
    for warning in legend::warnings(view.report) {
        text += &format!("\n> {}\n", escape(&format!("note: {warning}")));
    }
    text
}

/// The titles and the cells of a table.
pub(super) fn cells(table: &ComparedTable, indent: &str, has_notes: bool) -> (Vec<String>, Vec<Vec<String>>) {
    let mut titles = vec![table.label_title.to_owned()];
    titles.extend(table.base_title.clone());
    titles.extend([table.other_title.clone(), "difference".to_owned()]);
    titles.push(table.correction.map_or_else(|| "p".to_owned(), |correction| format!("p ({correction})")));
    titles.push("verdict".to_owned());
    let figures = titles.len();
    titles.extend(has_notes.then(|| "notes".to_owned()));
    let row = |row: &ComparedRow| {
        let label = if row.nested { format!("{indent}{}", row.label) } else { row.label.clone() };
        let mut cells = vec![label];
        match &row.content {
            RowContent::Heading => {}
            RowContent::Base(value) => cells.push(value.short()),
            RowContent::Compared(figures) => {
                cells.extend(table.base_title.as_ref().map(|_| figures.base.short()));
                cells.extend([figures.other.short(), figures.difference.to_string()]);
                cells.extend([figures.p.clone(), figures.verdict.to_string()]);
            }
        }
        cells.resize(figures, String::new());
        cells.extend(has_notes.then(|| row.notes.join(" · ")));
        cells
    };
    let rows = table.rows.iter().map(row).collect();
    (titles, rows)
}
