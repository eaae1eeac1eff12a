//! Comparisons on a terminal.

use anstyle::Style;
use errorbar_core::GateOutcome;

use super::ComparisonView;
use super::columns::{Columns, indent};
use super::figures::Figures;
use super::flip;
use super::grid::Grid;
use super::legend;
use super::tables::{ComparedRow, ComparedTable, ComparisonTables, RowContent};
use super::verdict::Verdict;
use crate::layout::{GAP, INDENT, MOST_UNKNOWN, NOTES_BELOW};
use crate::paint::{BAR, BOLD, DIM, FAILED, UNKNOWN};
use crate::table::TerminalTable;
use crate::text::{clean, pad, truncate_middle, width, wrap};

impl TerminalTable {
    /// Comparisons: tables, what their symbols mean, and what a reader should know.
    pub(crate) fn compared(&self, view: &ComparisonView<'_>) -> String {
        let tables = ComparisonTables::of(view.report);
        let mut text = self.comparison_title(view, tables.is_many);
        for table in &tables.compared {
            text.push('\n');
            text += &self.compared_table(table);
        }
        for grid in &tables.grids {
            text.push('\n');
            text += &self.grid(grid);
        }
        if let Some(flips) = view.flips {
            text.push('\n');
            text += &self.flips(flips);
        }
        text + &self.comparison_notes(view)
    }

    fn comparison_title(&self, view: &ComparisonView<'_>, is_many: bool) -> String {
        let sides: Vec<String> = view.report.sides.iter().map(|side| clean(side)).collect();
        let title = match sides.as_slice() {
            [base, others @ ..] if is_many => {
                let text = format!("{base} against {}", others.join(", "));
                if width(&text) <= self.width {
                    text
                } else {
                    format!("{base} against {} others", others.len())
                }
            }
            sides => sides.join(self.sign(" → ", " -> ")),
        };
        let details: Vec<String> = view.title.map(clean).into_iter().collect();
        if width(&title) <= self.width {
            return self.titled((&title, BOLD), self.sign(" · ", ", "), &details);
        }
        let lines: String =
            wrap(&title, self.width).into_iter().map(|line| self.line(&[(line, BOLD)])).collect();
        lines + &self.below(INDENT, details)
    }

    fn compared_table(&self, table: &ComparedTable) -> String {
        let details: Vec<String> = table.details.iter().map(|detail| clean(detail)).collect();
        let mut text = self.titled((&clean(&table.name), BOLD), self.sign(" · ", ", "), &details);
        let columns = Columns::new(self, table);
        let mut titles = vec![(" ".repeat(columns.label), DIM)];
        for column in &columns.columns {
            titles.push((" ".repeat(GAP), DIM));
            titles.push((pad(&column.title, column.width), DIM));
        }
        text += &self.line(&titles);
        for (at, row) in table.rows.iter().enumerate() {
            text += &self.compared_row(table, &columns, at, row);
        }
        text
    }

    fn compared_row(&self, table: &ComparedTable, columns: &Columns, at: usize, row: &ComparedRow) -> String {
        let label = format!("{}{}", " ".repeat(indent(row)), clean(&row.label));
        if row.content == RowContent::Heading {
            return self.line(&[(self.truncate(&label, self.width), Style::new())]);
        }
        let mut text = String::new();
        let label = if width(&label) > columns.label {
            let lines = wrap(label.trim_start(), self.width.saturating_sub(indent(row)));
            text +=
                &lines.iter().map(|line| format!("{}{line}\n", " ".repeat(indent(row)))).collect::<String>();
            String::new()
        } else {
            label
        };
        let mut pieces = vec![(pad(&label, columns.label), Style::new())];
        let is_unknown = |figures: &Figures| figures.difference.value().is_none();
        for column in &columns.columns {
            let cell = column.cells.get(at).cloned().unwrap_or_default();
            let style = match column.is_bar {
                true => BAR,
                false if row.figures().is_some_and(is_unknown) => UNKNOWN,
                false => Style::new(),
            };
            pieces.push((" ".repeat(GAP), Style::new()));
            pieces.push((pad(&cell, column.width), style));
        }
        if let Some(figures) = row.figures() {
            let style = match figures.verdict {
                Verdict::Unknown => UNKNOWN,
                _ if figures.verdict.is_decided() => BOLD,
                _ => Style::new(),
            };
            pieces.push((" ".repeat(GAP), Style::new()));
            pieces.push((self.in_our_signs(&figures.verdict.to_string()), style));
        }
        text += &self.line(&pieces);
        let notes = self.row_notes(table, columns, row);
        text + &self.below(
            NOTES_BELOW,
            self.wrapped_notes(&notes, self.width.saturating_sub(NOTES_BELOW))
                .into_iter()
                .filter(|line| !line.is_empty()),
        )
    }

    /// The notes of a row, what had no space in a column first.
    fn row_notes(&self, table: &ComparedTable, columns: &Columns, row: &ComparedRow) -> Vec<String> {
        let mut notes = Vec::new();
        if let Some(figures) = row.figures() {
            let value = |name: &str, figure: &crate::EstimateText| format!("{name} {}", figure.short());
            if !columns.choice.values {
                let base = table.base_title.as_ref().map(|_| value("base", &figures.base));
                let name = if base.is_some() { "other" } else { "value" };
                notes.push(
                    base.into_iter().chain([value(name, &figures.other)]).collect::<Vec<_>>().join(", "),
                );
            }
            if !columns.choice.p && figures.p != super::figures::NONE {
                notes.push(match table.correction {
                    Some(correction) => format!("p ({correction}) {}", figures.p),
                    None => format!("p {}", figures.p),
                });
            }
            // A cell has space for the start of a reason.
            let reason = Some(figures.difference.short()).filter(|_| figures.difference.value().is_none());
            notes.extend(
                reason
                    .filter(|reason| width(reason) > MOST_UNKNOWN)
                    .map(|reason| format!("difference {reason}")),
            );
        } else if let (RowContent::Base(figure), false) = (&row.content, columns.choice.values) {
            notes.push(figure.short());
        }
        notes.into_iter().chain(row.notes.iter().cloned()).map(|note| clean(&note)).collect()
    }

    /// A grid, in parts if it is too wide.
    fn grid(&self, grid: &Grid) -> String {
        let details: Vec<String> = grid.details.iter().map(|detail| clean(detail)).collect();
        let mut text = self.titled((&clean(&grid.name), BOLD), self.sign(" · ", ", "), &details);
        let label = grid.rows.iter().map(|(label, _)| INDENT + width(&clean(label))).max().unwrap_or(0);
        let label = label.min(self.width * 2 / 5);
        let most = self.width.saturating_sub(label + GAP).min(24);
        let shown = |text: &str| self.in_our_signs(&clean(text));
        let mut columns: Vec<(String, Vec<String>, usize)> = Vec::new();
        for (at, title) in grid.columns.iter().enumerate() {
            let cells: Vec<String> = grid
                .rows
                .iter()
                .map(|(_, cells)| cells.get(at).map(|cell| shown(cell)).unwrap_or_default())
                .collect();
            let widest = cells.iter().map(|cell| width(cell)).max().unwrap_or(0);
            let mut title = truncate_middle(&shown(title), most.max(widest), self.sign("…", ".."));
            if columns.iter().any(|(known, ..)| *known == title) {
                title = format!("{title} ({})", at + 1);
            }
            let widest = widest.max(width(&title));
            columns.push((title, cells, widest));
        }
        let mut rest = columns.as_slice();
        let mut is_first = true;
        while !rest.is_empty() {
            let mut used = label;
            let fitting = rest.iter().take_while(|(.., cells)| {
                used += GAP + cells;
                used <= self.width
            });
            let (now, later) = rest.split_at(fitting.count().max(1));
            if !std::mem::take(&mut is_first) {
                text.push('\n');
            }
            let mut titles = vec![(" ".repeat(label), DIM)];
            titles.extend(
                now.iter()
                    .map(|(title, _, cells)| (format!("{}{}", " ".repeat(GAP), pad(title, *cells)), DIM)),
            );
            text += &self.line(&titles);
            for (at, (name, _)) in grid.rows.iter().enumerate() {
                let name = truncate_middle(&clean(name), label.saturating_sub(INDENT), self.sign("…", ".."));
                let mut pieces = vec![(pad(&format!("{}{name}", " ".repeat(INDENT)), label), Style::new())];
                for (_, cells, wide) in now {
                    let cell = cells.get(at).cloned().unwrap_or_default();
                    pieces.push((format!("{}{}", " ".repeat(GAP), pad(&cell, *wide)), Style::new()));
                }
                text += &self.line(&pieces);
            }
            rest = later;
        }
        let legend: Vec<String> = grid.legend.iter().cloned().collect();
        text + &self.below(
            INDENT,
            self.wrapped_notes(&legend, self.width.saturating_sub(INDENT))
                .into_iter()
                .filter(|line| !line.is_empty()),
        )
    }

    /// The samples that changed.
    fn flips(&self, flips: &[super::Flip]) -> String {
        let mut text = self.titled((flip::title(flips).as_str(), BOLD), self.sign(" · ", ", "), &[]);
        for (heading, flips) in flip::by_pair(flips) {
            text += &self.line(&[(self.in_our_signs(&self.truncate(&clean(&heading), self.width)), DIM)]);
            let id = |flip: &super::Flip| clean(&flip.id.to_string());
            let widest = flips.iter().map(|flip| width(&id(flip))).max().unwrap_or(0).min(self.width / 3);
            for flip in flips {
                let scores = self.in_our_signs(&clean(&flip.scores()));
                let id = pad(&truncate_middle(&id(flip), widest, self.sign("…", "..")), widest);
                let input =
                    flip.input.as_deref().map(|input| clean(&flip::one_line(input))).unwrap_or_default();
                let before = INDENT + width(&id) + 2 * GAP + width(&scores);
                let input = self.truncate(&input, self.width.saturating_sub(before));
                let blanks = |cells: usize| (" ".repeat(cells), Style::new());
                text += &self.line(&[
                    blanks(INDENT),
                    (id, Style::new()),
                    blanks(GAP),
                    (scores, BOLD),
                    blanks(GAP),
                    (input, DIM),
                ]);
                for (side, answer) in [(&flip.base, &flip.base_answer), (&flip.other, &flip.other_answer)] {
                    let Some(answer) = answer else { continue };
                    let side = truncate_middle(&clean(side), self.width / 4, self.sign("…", ".."));
                    let line = format!("{side}: {}", clean(&flip::one_line(answer)));
                    let line = self.truncate(&line, self.width.saturating_sub(NOTES_BELOW));
                    text += &self.line(&[blanks(NOTES_BELOW), (line, Style::new())]);
                }
            }
        }
        text
    }

    /// What symbols mean, what a reader should know, and what the gate decided.
    fn comparison_notes(&self, view: &ComparisonView<'_>) -> String {
        let report = view.report;
        let mut text = String::new();
        let lines = |words: Vec<String>| {
            let words: Vec<String> = words.iter().map(|word| clean(word)).collect();
            self.below(0, self.wrapped_notes(&words, self.width).into_iter().filter(|line| !line.is_empty()))
        };
        let legend = lines(legend::legend(report)) + &lines(legend::verdicts(report));
        if !legend.is_empty() && !report.comparisons.is_empty() {
            text += &format!("\n{legend}");
        }
        for warning in legend::warnings(report) {
            for (at, line) in wrap(
                &self.in_our_signs(&clean(&format!("note: {warning}"))),
                self.width.saturating_sub(INDENT),
            )
            .into_iter()
            .enumerate()
            {
                let before = if at == 0 { 0 } else { INDENT };
                text += &self.line(&[(" ".repeat(before), Style::new()), (line, UNKNOWN)]);
            }
        }
        if let Some((gate, outcome)) = legend::gates(report) {
            let style = match outcome {
                GateOutcome::Failed => FAILED,
                GateOutcome::Undecided => UNKNOWN,
                _ => BOLD,
            };
            text += &format!("\n{}", self.line(&[(self.in_our_signs(&gate), style)]));
        }
        text
    }
}
