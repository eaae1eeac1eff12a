//! Comparisons on a terminal.

use anstyle::Style;
use errorbar_inference::GateOutcome;

use super::grid::{GridColumn, GridRow};
use super::{
    BAR, BOLD, DIM, FAILED, GAP, INDENT, NOTES_BELOW, NumberPadding, TerminalTable, UNKNOWN, indent,
};
use crate::comparison::figures::{Figures, NONE, Verdict};
use crate::comparison::tables::{self, ComparedRow, ComparedTable, ComparisonTables, RowContent};
use crate::comparison::{self, ComparisonView, Flip};
use crate::figure::{
    ASCII, BarScale, BarSpan, EstimateText, MOST_UNKNOWN, Pen, TextParts, UNICODE, power_of_ten,
};
use crate::text::{clean, hanging, joined, pad, plain, truncate_middle, width, wrap};

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
    joined(notes.into_iter().flatten(), ", ")
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
            shows_errors |= columns.shows_errors;
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
            return self.heading(&title, &details);
        }
        let lines: String =
            wrap(&title, self.width).into_iter().map(|line| self.line(&[(line, BOLD)])).collect();
        lines + &self.below(INDENT, details)
    }

    fn compared_table(&self, table: &ComparedTable, columns: &Columns) -> String {
        let row = |row: &ComparedRow| {
            let is_heading = row.content == RowContent::Heading;
            let label = clean(&row.label);
            let label = if is_heading { self.in_our_signs(&label) } else { label };
            let notes = if is_heading { Vec::new() } else { self.row_notes(table, columns, row) };
            GridRow { indent: indent(row.nested), label, is_heading, notes }
        };
        let rows: Vec<GridRow> = table.rows.iter().map(row).collect();
        self.heading(&self.in_our_signs(&table.name), &table.details)
            + &self.grid(columns.label, &columns.columns, &rows, true)
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
        let title = tables::flip_title(flips.len(), changed);
        let pairs = tables::flips_by_pair(flips);
        if let [(heading, flips)] = pairs.as_slice() {
            return self.heading(&title, &[self.in_our_signs(heading)]) + &self.flips_of_pair(flips);
        }
        let mut text = self.heading(&title, &[]);
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
        let scores =
            |flip: &Flip| cut(&self.in_our_signs(&clean(&tables::flip_scores(flip))), self.width / 3);
        let ids = flips.iter().map(|flip| width(&id(flip))).max().unwrap_or(0);
        let widest = flips.iter().map(|flip| width(&scores(flip))).max().unwrap_or(0);
        let mut text = String::new();
        for flip in flips {
            let input =
                flip.input.as_deref().map(|input| clean(&tables::one_line(input))).unwrap_or_default();
            let input = self.truncate(&input, self.width.saturating_sub(INDENT + ids + widest + 2 * GAP));
            let id = format!("{}{}", " ".repeat(INDENT), pad(&id(flip), ids));
            text += &self.row(id, [(pad(&scores(flip), widest), BOLD), (input, DIM)]);
            let [base, other] = [&flip.base, &flip.other].map(|side| cut(&clean(side), self.width / 4));
            // Names that were cut to the same text say nothing.
            let (base, other) =
                if base == other { ("base".to_owned(), "other".to_owned()) } else { (base, other) };
            for (side, answer) in [(base, &flip.base_answer), (other, &flip.other_answer)] {
                let Some(answer) = answer else { continue };
                let line = format!("{side}: {}", clean(&tables::one_line(answer)));
                let line = self.truncate(&line, self.width.saturating_sub(NOTES_BELOW));
                text += &self.line(&[(" ".repeat(NOTES_BELOW) + &line, Style::new())]);
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
            self.below(0, self.note_lines(&words, 0))
        };
        let legend = lines(comparison::legend(report, shows_errors)) + &lines(comparison::verdicts(report));
        if !legend.is_empty() && !report.comparisons.is_empty() {
            text += &format!("\n{legend}");
        }
        for warning in &report.warnings {
            let warning = self.in_our_signs(&clean(&format!("note: {warning}")));
            for line in hanging(&warning, self.width.saturating_sub(INDENT), INDENT) {
                text += &self.line(&[(line, UNKNOWN)]);
            }
        }
        if let Some(gate) = comparison::gates(report) {
            let style = match gate.outcome {
                GateOutcome::Failed => FAILED,
                GateOutcome::Undecided => UNKNOWN,
                _ => BOLD,
            };
            text.push('\n');
            for line in wrap(&self.in_our_signs(&gate.to_string()), self.width) {
                text += &self.line(&[(line, style)]);
            }
        }
        text
    }
}

// How the columns of a table of comparisons share the width of a terminal.

/// What is shown of a row besides its label. What is not shown in a column is among the notes.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Choice {
    /// The values of both sides.
    values: bool,
    /// Their errors.
    errors: bool,
    /// The error of the difference beside its interval.
    difference_error: bool,
    /// The width of the picture; 0 for none.
    bar: usize,
    /// The p-value.
    p: bool,
    /// The verdict.
    verdict: bool,
}

impl Choice {
    const fn new(values: bool, errors: bool, difference_error: bool, bar: usize, p: bool) -> Self {
        Choice { values, errors, difference_error, bar, p, verdict: true }
    }
}

/// The choices for which labels are narrowed only if few are longer, the best one first.
const WIDE: [Choice; 10] = [
    Choice::new(true, true, true, 31, true),
    Choice::new(true, true, true, 21, true),
    Choice::new(true, true, true, 15, true),
    Choice::new(true, false, true, 21, true),
    Choice::new(true, false, true, 15, true),
    Choice::new(true, false, true, 11, true),
    Choice::new(true, true, true, 0, true),
    Choice::new(true, false, true, 0, true),
    Choice::new(true, false, false, 11, true),
    Choice::new(true, false, false, 0, true),
];
/// The choices of narrow terminals.
const NARROW: [Choice; 9] = [
    Choice::new(true, false, true, 0, false),
    Choice::new(true, false, false, 11, false),
    Choice::new(true, false, false, 0, false),
    Choice::new(false, false, true, 0, true),
    Choice::new(false, false, false, 11, true),
    Choice::new(false, false, false, 0, true),
    Choice::new(false, false, false, 11, false),
    Choice::new(false, false, false, 0, false),
    LEAST,
];
/// What is shown even if it does not fit.
const LEAST: Choice = Choice { verdict: false, ..Choice::new(false, false, false, 0, false) };
/// The widths that the column of labels is narrowed to; longer labels get a line.
const NARROW_LABELS: [usize; 3] = [28, 20, 14];
/// The least number of cells that a line for a label must gain for the others.
const LEAST_GAIN: usize = 8;

/// The columns of a table, and the width of the labels.
struct Columns {
    choice: Choice,
    label: usize,
    columns: Vec<GridColumn>,
    /// Whether a cell has a standard error; values without a column have theirs in the notes.
    shows_errors: bool,
}

impl Columns {
    fn new(terminal: &TerminalTable, table: &ComparedTable) -> Self {
        let rows = || table.rows.iter().filter(|row| row.content != RowContent::Heading);
        let label = |row: &ComparedRow| indent(row.nested) + width(&clean(&row.label));
        let widest = rows().map(label).max().unwrap_or(0).min(terminal.width * 2 / 5);
        // A few long labels may have lines of their own for the sake of the others, if that gains enough.
        let has_few_longer = |limit: &usize| {
            let longer = rows().filter(|row| label(row) > *limit).count();
            3 * longer <= rows().count() && widest >= limit + LEAST_GAIN
        };
        let narrower = || NARROW_LABELS.into_iter().filter(|limit| *limit < widest);
        let few_longer: Vec<usize> =
            std::iter::once(widest).chain(narrower().filter(has_few_longer)).collect();
        let all: Vec<usize> = std::iter::once(widest).chain(narrower()).collect();
        let choices = WIDE.iter().map(|choice| (choice, &few_longer));
        let mut choices = choices.chain(NARROW.iter().map(|choice| (choice, &all)));
        let fitting = choices.find_map(|(choice, labels)| {
            let columns = Columns::of(terminal, table, *choice);
            let needed = GridColumn::total(&columns.columns);
            let label = *labels.iter().find(|label| **label + needed <= terminal.width)?;
            Some(Columns { label, ..columns })
        });
        fitting.unwrap_or_else(|| Columns::of(terminal, table, LEAST))
    }

    /// All that a choice shows, beside the narrowest column of labels.
    fn of(terminal: &TerminalTable, table: &ComparedTable, choice: Choice) -> Self {
        let style = |row: &ComparedRow| match row.figures() {
            Some(figures) if figures.difference.value().is_none() => UNKNOWN,
            _ => Style::new(),
        };
        let styled = |title: String, cells: Vec<String>| {
            GridColumn::new(title, cells.into_iter().zip(table.rows.iter().map(style)).collect())
        };
        let mut columns = Vec::new();
        let figures = |part: fn(&Figures) -> &EstimateText| -> Vec<Option<&EstimateText>> {
            table.rows.iter().map(|row| row.figures().map(part)).collect()
        };
        if choice.values {
            let other: Vec<Option<&EstimateText>> = table.rows.iter().map(ComparedRow::value).collect();
            let others = value_cells(terminal, &other, choice.errors, false);
            let mut title = table.other_title.clone();
            if let Some(base) = &table.base_title {
                let values = value_cells(terminal, &figures(|figures| &figures.base), choice.errors, false);
                let (base, other) = side_titles(base, &title, &values, choice.errors);
                columns.push(styled(base, values));
                title = other;
            }
            columns.push(styled(title, others));
        }
        let differences = figures(|figures| &figures.difference);
        // Without an interval, the error is all that there is.
        let is_error_alone = |figure: &&EstimateText| figure.ends().is_none() && figure.stderr().is_some();
        let has_error = choice.difference_error || differences.iter().flatten().any(is_error_alone);
        let mut differences = value_cells(terminal, &differences, has_error, true);
        for (cell, row) in differences.iter_mut().zip(&table.rows).filter(|_| !choice.values) {
            if let RowContent::Base(value) = &row.content {
                *cell = terminal.in_our_signs(&clean(&value.short()));
            }
        }
        columns.push(styled("difference".to_owned(), differences));
        columns.extend(bar_column(terminal, table, choice.bar));
        let p = |row: &ComparedRow| row.figures().map(|figures| terminal.in_our_signs(&figures.p));
        let p = || aligned(&table.rows.iter().map(|row| p(row).unwrap_or_default()).collect::<Vec<_>>());
        columns.extend(choice.p.then(|| styled(table.p_title(), p())));
        let is_error = |(cell, _): &(String, Style)| cell.contains('±') || cell.contains("+/-");
        let shows_errors = !choice.values || columns.iter().flat_map(|column| &column.cells).any(is_error);
        columns.extend(choice.verdict.then(|| verdict_column(terminal, table)));
        Columns { choice, label: 2 * INDENT, columns, shows_errors }
    }
}

fn verdict_column(terminal: &TerminalTable, table: &ComparedTable) -> GridColumn {
    let cell = |row: &ComparedRow| {
        let Some(Figures { verdict, .. }) = row.figures() else { return Default::default() };
        let style = match verdict {
            Verdict::Unknown => UNKNOWN,
            verdict if verdict.is_decided() => BOLD,
            _ => Style::new(),
        };
        (verdict.to_string(), style)
    };
    let mut column = GridColumn::new(String::new(), table.rows.iter().map(cell).collect());
    column.cells.iter_mut().for_each(|(cell, _)| *cell = terminal.in_our_signs(cell));
    column
}

/// The names of the sides if both are short enough; else `base` and `other`, as the title has the names.
fn side_titles(base: &str, other: &str, values: &[String], is_wide: bool) -> (String, String) {
    let widest = values.iter().map(|cell| width(cell)).max().unwrap_or(0);
    let most = widest.max(if is_wide { 14 } else { 8 });
    let fits = width(base) <= most && width(other) <= most;
    if fits { (clean(base), clean(other)) } else { ("base".to_owned(), "other".to_owned()) }
}

/// Figures below each other, decimal points aligned.
fn value_cells(
    terminal: &TerminalTable,
    figures: &[Option<&EstimateText>],
    has_error: bool,
    has_interval: bool,
) -> Vec<String> {
    let parts = |figure: &EstimateText| {
        let texts = figure.texts();
        TextParts {
            error: texts.error.filter(|_| has_error),
            interval: texts.interval.filter(|_| has_interval),
            ..texts
        }
    };
    let texts: Vec<TextParts> = figures.iter().flatten().map(|figure| parts(figure)).collect();
    let padding = NumberPadding::of(terminal, &texts);
    let cell = |figure: &Option<&EstimateText>| match figure {
        // Beside a difference, which has a reason of its own.
        Some(figure) if figure.value().is_none() && !has_interval => terminal.in_our_signs(NONE),
        Some(figure) if figure.value().is_none() => terminal.truncate(&clean(&figure.short()), MOST_UNKNOWN),
        Some(figure) => padding.text(terminal, &parts(figure), has_interval),
        None => String::new(),
    };
    figures.iter().map(cell).collect()
}

/// Numbers with their decimal points below each other; `< 0.0001` is wider than the others.
fn aligned(numbers: &[String]) -> Vec<String> {
    let before = |number: &String| width(number.split('.').next().unwrap_or_default());
    let most = numbers.iter().map(before).max().unwrap_or(0);
    numbers
        .iter()
        .map(|number| format!("{}{number}", " ".repeat(most.saturating_sub(before(number)))))
        .collect()
}

/// Pictures of intervals around 0, which is in the middle.
fn bar_column(terminal: &TerminalTable, table: &ComparedTable, cells: usize) -> Option<GridColumn> {
    let spans: Vec<Option<BarSpan>> =
        table.rows.iter().map(|row| row.figures().and_then(|figures| figures.span)).collect();
    let scale = around_zero(&spans.iter().flatten().copied().collect::<Vec<_>>()).filter(|_| cells > 0)?;
    let pen = if terminal.ascii { ASCII } else { UNICODE };
    let (zero, crossed) = if terminal.ascii { (':', '+') } else { ('┊', '┼') };
    let draw = |span: &Option<BarSpan>| {
        // One that lies elsewhere is not drawn; one that reaches beyond runs to the edge.
        let Some(span) = span.filter(|span| span.point.abs() <= scale.to) else { return String::new() };
        let mut drawn: Vec<char> = scale.draw(span, cells, pen).chars().collect();
        let at = cells / 2;
        keep_side_of_zero(&mut drawn, span, pen);
        if let Some(middle) = drawn.get_mut(at) {
            *middle = match *middle {
                ' ' => zero,
                '─' | '-' => crossed,
                other => other,
            };
        }
        drawn.into_iter().collect()
    };
    let (from, to) = (plain(scale.from), format!("+{}", plain(scale.to)));
    let middle = cells / 2;
    let fits = width(&from) < middle && width(&to) < middle;
    let title = match fits {
        true => {
            format!(
                "{}0{}{to}",
                pad(&from, middle),
                " ".repeat(cells.saturating_sub(middle + 1 + width(&to)))
            )
        }
        false => format!("{}0", " ".repeat(middle)),
    };
    let cells_of_rows = spans.iter().map(|span| (draw(span), BAR)).collect();
    Some(GridColumn { width: cells, title, cells: cells_of_rows })
}

/// A scale as wide on both sides of 0, to a round number, for the rows that set it.
fn around_zero(spans: &[BarSpan]) -> Option<BarScale> {
    let main: Vec<&BarSpan> = spans.iter().filter(|span| span.sets_scale).collect();
    let spans = if main.is_empty() { spans.iter().collect() } else { main };
    let ends = spans.iter().flat_map(|span| [span.lower.abs(), span.upper.abs(), span.point.abs()]);
    let most = ends.reduce(f64::max).filter(|most| *most > 0.0 && most.is_finite())?;
    let step = power_of_ten(most)?;
    let rounded = [1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0].into_iter().map(|factor| factor * step);
    let to = rounded.into_iter().find(|end| *end >= most * (1.0 - 1e-9))?;
    to.is_finite().then_some(BarScale { from: -to, to })
}

/// Rounding to cells must not move an end across 0: whether the interval holds 0 is what a reader looks for.
fn keep_side_of_zero(drawn: &mut [char], span: BarSpan, pen: Pen) {
    // Seen from the left; what lies on the right is turned around.
    let is_right = span.lower > 0.0 || (span.upper >= 0.0 && span.point > 0.0);
    if is_right {
        drawn.reverse();
    }
    let cap = if is_right { pen.left } else { pen.right };
    let middle = drawn.len() / 2;
    let (left, rest) = drawn.split_at_mut(middle);
    let last = left.iter().rposition(|c| *c != ' ');
    if span.lower > 0.0 || span.upper < 0.0 {
        let has_point = rest.contains(&pen.point);
        if rest.iter().any(|c| *c != ' ')
            && let Some(end) = left.last_mut()
        {
            if has_point {
                *end = pen.point;
            } else if *end != pen.point {
                *end = cap;
            }
        }
        rest.fill(' ');
    } else if let (Some(last), Some(zero)) = (last, rest.first_mut().filter(|zero| **zero == ' ')) {
        // It ends at 0 or beyond, and was drawn a cell short of it.
        left.iter_mut().skip(last).filter(|c| **c != pen.point).for_each(|c| *c = pen.line);
        *zero = cap;
    }
    if is_right {
        drawn.reverse();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn(point: f64, lower: f64, upper: f64) -> String {
        let span = BarSpan { point, lower, upper, sets_scale: true };
        let mut drawn: Vec<char> = BarScale { from: -1.0, to: 1.0 }.draw(span, 11, UNICODE).chars().collect();
        keep_side_of_zero(&mut drawn, span, UNICODE);
        drawn.into_iter().collect()
    }

    #[test]
    fn an_interval_is_drawn_on_its_side_of_zero() {
        assert_eq!(drawn(-0.4, -0.8, -0.01), " ├─●┤      ", "the end was at 0");
        assert_eq!(drawn(0.4, 0.01, 0.8), "      ├●─┤ ");
        assert_eq!(drawn(-0.04, -0.07, -0.01), "    ●      ", "the point was at 0");
        assert_eq!(drawn(0.04, 0.01, 0.07), "      ●    ");
        assert_eq!(drawn(-0.29, -0.6, 0.001), "  ├─●┤     ", "a cell short of 0");
    }

    #[test]
    fn scales_are_round_and_hold_the_rows_that_set_them() {
        let span = |end: f64, sets_scale| BarSpan { point: 0.0, lower: -end, upper: end, sets_scale };
        let to = |spans: &[BarSpan]| around_zero(spans).map(|scale| plain(scale.to));
        assert_eq!(to(&[span(0.13, true), span(7.0, false)]).as_deref(), Some("0.15"));
        assert_eq!(to(&[span(7.0, false)]).as_deref(), Some("8"));
        assert_eq!(to(&[span(0.1, true)]).as_deref(), Some("0.1"), "not 0.15 for the sake of a bit");
        assert_eq!(to(&[span(0.0, true)]), None);
        assert_eq!(to(&[]), None);
    }
}
