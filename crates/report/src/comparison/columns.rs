//! How the columns of a table of comparisons share the width of a terminal.

use super::figures::Figures;
use super::tables::{ComparedRow, ComparedTable, RowContent};
use crate::bar::{ASCII, BarScale, BarSpan, UNICODE};
use crate::figure::{EstimateText, TextParts};
use crate::layout::{GAP, INDENT, MOST_UNKNOWN, NumberPadding};
use crate::number::plain;
use crate::table::TerminalTable;
use crate::text::{clean, pad, width};

/// What is shown of a row besides its label and its verdict. What is not shown in a column is among the notes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Choice {
    /// The values of both sides.
    pub(super) values: bool,
    /// Their errors.
    errors: bool,
    /// The error of the difference beside its interval.
    difference_error: bool,
    /// The width of the picture; 0 for none.
    bar: usize,
    /// The p-value.
    pub(super) p: bool,
}

impl Choice {
    const fn new(values: bool, errors: bool, difference_error: bool, bar: usize, p: bool) -> Self {
        Choice { values, errors, difference_error, bar, p }
    }
}

/// The choices for which labels are narrowed, the best one first.
const WIDE: [Choice; 8] = [
    Choice::new(true, true, true, 31, true),
    Choice::new(true, true, true, 21, true),
    Choice::new(true, true, false, 21, true),
    Choice::new(true, true, false, 15, true),
    Choice::new(true, false, false, 21, true),
    Choice::new(true, false, false, 15, true),
    Choice::new(true, false, false, 11, true),
    Choice::new(true, false, false, 0, true),
];
/// The choices of narrow terminals.
const NARROW: [Choice; 4] = [
    Choice::new(false, false, false, 11, true),
    Choice::new(false, false, false, 0, true),
    Choice::new(false, false, false, 11, false),
    Choice::new(false, false, false, 0, false),
];
/// The widths that the column of labels is narrowed to; longer labels get a line.
const NARROW_LABELS: [usize; 3] = [28, 20, 14];

/// The columns of a table: the width of the labels, and a text for each row and column.
#[derive(Debug)]
pub(super) struct Columns {
    pub(super) choice: Choice,
    pub(super) label: usize,
    pub(super) columns: Vec<Column>,
    /// The width of the verdicts, which come last.
    pub(super) verdict: usize,
}

/// A column, each cell as it is shown.
#[derive(Debug, Clone)]
pub(super) struct Column {
    pub(super) title: String,
    pub(super) cells: Vec<String>,
    pub(super) width: usize,
    pub(super) is_bar: bool,
}

impl Column {
    fn new(title: String, cells: Vec<String>) -> Self {
        let widest = cells.iter().chain([&title]).map(|cell| width(cell)).max().unwrap_or(0);
        Column { title, cells, width: widest, is_bar: false }
    }
}

/// The cells before the label of a row.
pub(super) fn indent(row: &ComparedRow) -> usize {
    if row.nested { 2 * INDENT } else { INDENT }
}

impl Columns {
    pub(super) fn new(terminal: &TerminalTable, table: &ComparedTable) -> Self {
        let rows = || table.rows.iter().filter(|row| row.content != RowContent::Heading);
        let widest = rows().map(|row| indent(row) + width(&row.label)).max().unwrap_or(0);
        let widest = widest.min(terminal.width * 2 / 5);
        let labels: Vec<usize> = std::iter::once(widest)
            .chain(NARROW_LABELS.into_iter().filter(|label| *label < widest))
            .collect();
        let verdict = rows().filter_map(ComparedRow::figures);
        let verdict = verdict.map(|figures| width(&figures.verdict.to_string())).max().unwrap_or(0);
        let columns = |choice: Choice| columns(terminal, table, choice);
        let needed = |label: usize, columns: &[Column]| {
            label + columns.iter().map(|column| GAP + column.width).sum::<usize>() + GAP + verdict
        };
        for choices in [WIDE.as_slice(), &NARROW] {
            for label in &labels {
                for choice in choices {
                    let columns = columns(*choice);
                    if needed(*label, &columns) <= terminal.width {
                        return Columns { choice: *choice, label: *label, columns, verdict };
                    }
                }
            }
        }
        let choice = Choice::new(false, false, false, 0, false);
        let label = labels.last().copied().unwrap_or(0);
        Columns { choice, label, columns: columns(choice), verdict }
    }
}

fn columns(terminal: &TerminalTable, table: &ComparedTable, choice: Choice) -> Vec<Column> {
    let mut columns = Vec::new();
    let figures = |part: fn(&Figures) -> &EstimateText| -> Vec<Option<&EstimateText>> {
        table.rows.iter().map(|row| row.figures().map(part)).collect()
    };
    let base = table.base_title.as_deref().filter(|_| choice.values);
    let other: Vec<Option<&EstimateText>> = table.rows.iter().map(ComparedRow::value).collect();
    if let Some(base) = base {
        let values = value_cells(terminal, &figures(|figures| &figures.base), choice.errors, false);
        let others = value_cells(terminal, &other, choice.errors, false);
        let (base, other) = side_titles(base, &table.other_title, &values, &others);
        columns.push(Column::new(base, values));
        columns.push(Column::new(other, others));
    } else if table.base_title.is_none() && choice.values {
        columns.push(Column::new(
            table.other_title.clone(),
            value_cells(terminal, &other, choice.errors, false),
        ));
    }
    let differences = figures(|figures| &figures.difference);
    // Without an interval, the error is all that there is.
    let has_error = choice.difference_error
        || differences.iter().flatten().any(|figure| figure.ends().is_none() && figure.stderr().is_some());
    let differences = value_cells(terminal, &differences, has_error, true);
    columns.push(Column::new("difference".to_owned(), differences));
    columns.extend(bar_column(terminal, table, choice.bar));
    if choice.p {
        let title = table.correction.map_or_else(|| "p".to_owned(), |correction| format!("p ({correction})"));
        let p = |row: &ComparedRow| {
            row.figures().map(|figures| terminal.in_our_signs(&figures.p)).unwrap_or_default()
        };
        columns.push(Column::new(title, aligned(&table.rows.iter().map(p).collect::<Vec<_>>())));
    }
    columns
}

/// The names of the sides if both are short enough; else `base` and `other`, as the title has the names.
fn side_titles(base: &str, other: &str, values: &[String], others: &[String]) -> (String, String) {
    const MOST: usize = 14;
    let widest = |cells: &[String]| cells.iter().map(|cell| width(cell)).max().unwrap_or(0).max(MOST);
    let fits = width(base) <= widest(values) && width(other) <= widest(others);
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
fn bar_column(terminal: &TerminalTable, table: &ComparedTable, cells: usize) -> Option<Column> {
    let spans: Vec<Option<BarSpan>> =
        table.rows.iter().map(|row| row.figures().and_then(|figures| figures.span)).collect();
    let scale = around_zero(&spans.iter().flatten().copied().collect::<Vec<_>>()).filter(|_| cells > 0)?;
    let pen = if terminal.ascii { ASCII } else { UNICODE };
    let (zero, crossed) = if terminal.ascii { (':', '+') } else { ('┊', '┼') };
    let draw = |span: &Option<BarSpan>| {
        let Some(span) = span else { return String::new() };
        let drawn = scale.draw(*span, cells, pen);
        let cell = |(at, c): (usize, char)| match c {
            ' ' if at == cells / 2 => zero,
            '─' | '-' if at == cells / 2 => crossed,
            c => c,
        };
        drawn.chars().enumerate().map(cell).collect()
    };
    let (from, to) = (plain(scale.from), plain(scale.to));
    let to = format!("+{to}");
    let middle = cells / 2;
    let fits = width(&from) + 1 <= middle && width(&to) + 1 <= middle;
    let title = if fits {
        let left = pad(&from, middle);
        format!("{left}0{}{to}", " ".repeat(cells.saturating_sub(middle + 1 + width(&to))))
    } else {
        format!("{}0", " ".repeat(middle))
    };
    Some(Column { is_bar: true, width: cells, ..Column::new(title, spans.iter().map(draw).collect()) })
}

/// A scale as wide on both sides of 0, to a round number.
fn around_zero(spans: &[BarSpan]) -> Option<BarScale> {
    let ends = spans.iter().flat_map(|span| [span.lower.abs(), span.upper.abs(), span.point.abs()]);
    let most = ends.reduce(f64::max).filter(|most| *most > 0.0 && most.is_finite())?;
    let step = 10f64.powi(most.log10().floor() as i32);
    let rounded = [1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0].into_iter().map(|factor| factor * step);
    let to = rounded.into_iter().find(|end| *end >= most * (1.0 - 1e-9))?;
    to.is_finite().then_some(BarScale { from: -to, to })
}
