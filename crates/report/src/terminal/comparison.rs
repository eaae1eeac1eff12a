//! Comparisons on a terminal.

use anstyle::Style;
use errorbar_inference::GateOutcome;

use super::TerminalTable;
use super::comparison_columns::{Columns, indent, side_titles};
use super::layout::{GAP, INDENT, NOTES_BELOW};
use super::paint::{BAR, BOLD, DIM, FAILED, UNKNOWN};
use crate::comparison::figures::{Figures, NONE};
use crate::comparison::tables::{ComparedRow, ComparedTable, ComparisonTables, RowContent};
use crate::comparison::verdict::Verdict;
use crate::comparison::{ComparisonView, Flip, flip, legend};
use crate::figure::{EstimateText, MOST_UNKNOWN};
use crate::text::{clean, pad, truncate_middle, width, wrap};

/// Why a figure is unknown.
fn reason(figure: &EstimateText) -> Option<String> {
    figure.value().is_none().then(|| figure.short())
}

/// The values that have no column, and why others are unknown, unless the difference has the reason.
fn values_note(table: &ComparedTable, figures: &Figures, is_shown: bool) -> Option<String> {
    let Figures { base, other, difference, .. } = figures;
    let has_base = table.base_title.is_some();
    if base.value().is_none() && other.value().is_none() && difference.value().is_none() {
        return None;
    }
    let (base_name, other_name) = match &table.base_title {
        Some(name) => side_titles(name, &table.other_title, &[], true),
        None => (String::new(), "value".to_owned()),
    };
    let note = |name: &str, figure: &EstimateText| match reason(figure) {
        Some(reason) => Some(format!("{name}: {reason}")),
        None => (!is_shown).then(|| format!("{name} {}", figure.short())),
    };
    let notes = [note(&base_name, base).filter(|_| has_base), note(&other_name, other)];
    let notes: Vec<String> = notes.into_iter().flatten().collect();
    (!notes.is_empty()).then(|| notes.join(", "))
}

impl TerminalTable {
    /// Comparisons: tables, what their symbols mean, and what a reader should know.
    pub(crate) fn compared(&self, view: &ComparisonView<'_>) -> String {
        let tables = ComparisonTables::of(view.report);
        let mut text = self.comparison_title(view, tables.is_many);
        // Names are no errors.
        let is_error = |cells: &Vec<String>| cells.iter().skip(1).any(|cell| cell.contains('±'));
        let mut shows_errors = tables.grids.iter().any(|table| table.rows.iter().any(is_error));
        for table in &tables.compared {
            let columns = Columns::new(self, table);
            shows_errors |= columns.shows_errors();
            text.push('\n');
            text += &self.compared_table(table, &columns);
        }
        for table in &tables.grids {
            text.push('\n');
            text += &self.text_table(table);
        }
        if let Some((flips, changed)) = view.flips.zip(view.changed_count()) {
            text.push('\n');
            text += &self.flips(flips, changed);
        }
        text + &self.comparison_notes(view, shows_errors)
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

    fn compared_table(&self, table: &ComparedTable, columns: &Columns) -> String {
        let details: Vec<String> = table.details.iter().map(|detail| clean(detail)).collect();
        let mut text =
            self.titled((&self.in_our_signs(&clean(&table.name)), BOLD), self.sign(" · ", ", "), &details);
        let titles = columns.columns.iter().map(|column| (pad(&column.title, column.width), DIM));
        text += &self.row(" ".repeat(columns.label), titles);
        for (at, row) in table.rows.iter().enumerate() {
            text += &self.compared_row(table, columns, at, row);
        }
        text
    }

    fn compared_row(&self, table: &ComparedTable, columns: &Columns, at: usize, row: &ComparedRow) -> String {
        let label = format!("{}{}", " ".repeat(indent(row)), clean(&row.label));
        if row.content == RowContent::Heading {
            let label = self.truncate(&self.in_our_signs(&label), self.width);
            return self.line(&[(label, Style::new())]);
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
        let mut cells = Vec::new();
        let is_unknown = |figures: &Figures| figures.difference.value().is_none();
        for column in &columns.columns {
            let cell = column.cells.get(at).cloned().unwrap_or_default();
            let style = match column.is_bar {
                true => BAR,
                false if row.figures().is_some_and(is_unknown) => UNKNOWN,
                false => Style::new(),
            };
            cells.push((pad(&cell, column.width), style));
        }
        if let Some(figures) = row.figures().filter(|_| columns.choice.verdict) {
            let style = match figures.verdict {
                Verdict::Unknown => UNKNOWN,
                _ if figures.verdict.is_decided() => BOLD,
                _ => Style::new(),
            };
            cells.push((self.in_our_signs(&figures.verdict.to_string()), style));
        }
        text += &self.row(pad(&label, columns.label), cells);
        let notes = self.row_notes(table, columns, row);
        text + &self.below(NOTES_BELOW, self.note_lines(&notes, NOTES_BELOW))
    }

    /// Notes in lines behind an indent.
    pub(super) fn note_lines(&self, notes: &[String], indent: usize) -> Vec<String> {
        let lines = self.wrapped_notes(notes, self.width.saturating_sub(indent));
        lines.into_iter().filter(|line| !line.is_empty()).collect()
    }

    /// The notes of a row, what had no space in a column first.
    fn row_notes(&self, table: &ComparedTable, columns: &Columns, row: &ComparedRow) -> Vec<String> {
        let mut notes = Vec::new();
        if let Some(figures) = row.figures() {
            notes.extend((!columns.choice.verdict).then(|| figures.verdict.to_string()));
            notes.extend(values_note(table, figures, columns.choice.values));
            if !columns.choice.p && figures.p != NONE {
                notes.push(match table.correction {
                    Some(correction) => format!("p ({correction}) {}", figures.p),
                    None => format!("p {}", figures.p),
                });
            }
            // A cell has space for the start of a reason.
            let reason = reason(&figures.difference).filter(|reason| width(reason) > MOST_UNKNOWN);
            notes.extend(reason.map(|reason| format!("difference {reason}")));
        }
        notes.into_iter().chain(row.notes.iter().cloned()).map(|note| clean(&note)).collect()
    }

    /// The samples that changed: both scores, the start of the input, and both answers below.
    fn flips(&self, flips: &[Flip], changed: usize) -> String {
        let title = flip::title(flips.len(), changed);
        let pairs = flip::by_pair(flips);
        let between = self.sign(" · ", ", ");
        if let [(heading, flips)] = pairs.as_slice() {
            let details = [self.in_our_signs(&clean(heading))];
            return self.titled((&title, BOLD), between, &details) + &self.flips_of_pair(flips);
        }
        let mut text = self.titled((&title, BOLD), between, &[]);
        for (heading, flips) in pairs {
            let lines = wrap(&self.in_our_signs(&clean(&heading)), self.width);
            text += &lines.into_iter().map(|line| self.line(&[(line, DIM)])).collect::<String>();
            text += &self.flips_of_pair(&flips);
        }
        text
    }

    fn flips_of_pair(&self, flips: &[&Flip]) -> String {
        let cut = |text: &str, to: usize| truncate_middle(text, to, self.sign("…", ".."));
        let id = |flip: &Flip| cut(&clean(&flip.id.to_string()), self.width / 3);
        let scores = |flip: &Flip| cut(&self.in_our_signs(&clean(&flip::scores(flip))), self.width / 3);
        let ids = flips.iter().map(|flip| width(&id(flip))).max().unwrap_or(0);
        let widest = flips.iter().map(|flip| width(&scores(flip))).max().unwrap_or(0);
        let blanks = |cells: usize| (" ".repeat(cells), Style::new());
        let mut text = String::new();
        for flip in flips {
            let input = flip.input.as_deref().map(|input| clean(&flip::one_line(input))).unwrap_or_default();
            let input = self.truncate(&input, self.width.saturating_sub(INDENT + ids + widest + 2 * GAP));
            let (id, scores) = ((pad(&id(flip), ids), Style::new()), (pad(&scores(flip), widest), BOLD));
            text += &self.line(&[blanks(INDENT), id, blanks(GAP), scores, blanks(GAP), (input, DIM)]);
            let [base, other] = [&flip.base, &flip.other].map(|side| cut(&clean(side), self.width / 4));
            // Names that were cut to the same text say nothing.
            let (base, other) =
                if base == other { ("base".to_owned(), "other".to_owned()) } else { (base, other) };
            for (side, answer) in [(base, &flip.base_answer), (other, &flip.other_answer)] {
                let Some(answer) = answer else { continue };
                let line = format!("{side}: {}", clean(&flip::one_line(answer)));
                let line = self.truncate(&line, self.width.saturating_sub(NOTES_BELOW));
                text += &self.line(&[blanks(NOTES_BELOW), (line, Style::new())]);
            }
        }
        text
    }

    /// What symbols mean, what a reader should know, and what the gate decided.
    fn comparison_notes(&self, view: &ComparisonView<'_>, shows_errors: bool) -> String {
        let report = view.report;
        let mut text = String::new();
        let lines = |words: Vec<String>| {
            let words: Vec<String> = words.iter().map(|word| clean(word)).collect();
            self.below(0, self.wrapped_notes(&words, self.width).into_iter().filter(|line| !line.is_empty()))
        };
        let legend = lines(legend::legend(report, shows_errors)) + &lines(legend::verdicts(report));
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
        if let Some(gate) = legend::gates(report) {
            let style = match gate.outcome {
                GateOutcome::Failed => FAILED,
                GateOutcome::Undecided => UNKNOWN,
                _ => BOLD,
            };
            let lines = wrap(&self.in_our_signs(&gate.to_string()), self.width);
            text += &format!(
                "\n{}",
                lines.into_iter().map(|line| self.line(&[(line, style)])).collect::<String>()
            );
        }
        text
    }
}
