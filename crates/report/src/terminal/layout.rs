//! How wide the columns of a block are.

use super::TerminalTable;
use crate::bar::{BarScale, BarSpan};
use crate::figure::{EstimateText, MOST_UNKNOWN, TextParts};
use crate::number::plain;
use crate::table::TableRow;
use crate::text::{pad, width};

/// Cells between two columns.
pub(crate) const GAP: usize = 2;
/// Cells before every row of a block.
pub(crate) const INDENT: usize = 2;
/// Cells before notes that do not fit beside their row.
pub(crate) const NOTES_BELOW: usize = 6;

/// The cells before the label of a row.
pub(crate) fn indent(row: &TableRow) -> usize {
    if row.nested { 2 * INDENT } else { INDENT }
}

/// The widths of bars to choose from; odd, so that the middle is a cell.
const BARS: [usize; 4] = [41, 31, 21, 11];
/// From this width on, a bar is only widened if all notes stay on one line.
const WIDE_BAR: usize = 31;
/// The least width that notes are squeezed into.
const LEAST_NOTES: usize = 22;
/// The same on a narrow terminal, beside a bar and without.
const NARROW_NOTES: usize = 18;
const LEAST_BESIDE: usize = 10;
/// The widths that the column of labels is narrowed to if bars and notes do not fit; longer labels get a line.
const NARROW_LABELS: [usize; 3] = [28, 20, 16];
/// The bar that labels are narrowed for.
const GOOD_BAR: usize = 21;
/// The most cells that decimal points are aligned in; numbers of very different sizes are not.
const MOST_ALIGNED: usize = 11;

/// How numbers of a column are padded so that their decimal points are below each other.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Decimals {
    before: usize,
    after: usize,
}

impl Decimals {
    pub(crate) fn of<'t>(numbers: impl Iterator<Item = &'t str>) -> Self {
        let mut widest = Decimals::default();
        for number in numbers.filter(|number| is_decimal(number)) {
            let (before, after) = split(number);
            widest.before = widest.before.max(before);
            widest.after = widest.after.max(after);
        }
        if widest.before + widest.after > MOST_ALIGNED { Decimals::default() } else { widest }
    }

    pub(crate) fn pad(self, number: &str) -> String {
        if !is_decimal(number) || (self.before, self.after) == (0, 0) {
            return number.to_owned();
        }
        let (before, after) = split(number);
        let blanks = |wanted: usize, found: usize| " ".repeat(wanted.saturating_sub(found));
        format!("{}{number}{}", blanks(self.before, before), blanks(self.after, after))
    }
}

/// Whether it is a number without an exponent.
fn is_decimal(number: &str) -> bool {
    number.bytes().any(|b| b.is_ascii_digit())
        && number.bytes().all(|b| matches!(b, b'0'..=b'9' | b'.' | b'-' | b'+'))
}

/// The characters before the decimal point, and from it on.
fn split(number: &str) -> (usize, usize) {
    let before = number.find('.').unwrap_or(number.len());
    (before, number.len() - before)
}

/// The widths of a block's columns, and the scale of its bars.
#[derive(Debug)]
pub(crate) struct BlockLayout {
    pub(crate) label: usize,
    pub(crate) value: usize,
    numbers: NumberPadding,
    /// 0 where there are no bars.
    pub(crate) bar: usize,
    pub(crate) notes: usize,
    pub(crate) before_notes: usize,
    /// Whether notes stand beside their row, or below it.
    pub(crate) notes_beside: bool,
    pub(crate) scale: Option<BarScale>,
}

/// How values, errors and intervals of a column are padded.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct NumberPadding {
    values: Decimals,
    errors: Decimals,
    /// The width of value and error together.
    both: usize,
}

impl NumberPadding {
    pub(crate) fn of(table: &TerminalTable, texts: &[TextParts]) -> Self {
        // Numbers alone have digits of their own, so they do not widen the column of those with errors.
        let has_parts = |texts: &&TextParts| texts.error.is_some() || texts.interval.is_some();
        let with_parts = Decimals::of(texts.iter().filter(has_parts).map(|texts| texts.value.as_str()));
        let all = Decimals::of(texts.iter().map(|texts| texts.value.as_str()));
        let values = if texts.iter().any(|texts| has_parts(&texts)) {
            Decimals { before: all.before.max(with_parts.before), ..with_parts }
        } else {
            all
        };
        let errors = Decimals::of(texts.iter().filter_map(|texts| texts.error.as_deref()));
        let numbers = NumberPadding { values, errors, both: 0 };
        let both = texts.iter().filter(|texts| texts.interval.is_some());
        let both = both.map(|texts| width(&numbers.text(table, texts, false))).max().unwrap_or(0);
        NumberPadding { both, ..numbers }
    }

    /// A figure, aligned with the others of its column.
    pub(crate) fn text(&self, table: &TerminalTable, texts: &TextParts, has_interval: bool) -> String {
        let mut text = self.values.pad(&texts.value);
        if let Some(error) = &texts.error {
            text += &format!(" {} {}", table.sign("±", "+/-"), self.errors.pad(error));
        }
        let text = text.trim_end();
        match texts.interval.as_ref().filter(|_| has_interval) {
            Some(interval) => {
                let sign =
                    |text: &str| text.replace('≤', table.sign("≤", "<=")).replace('≥', table.sign("≥", ">="));
                format!("{} {}", pad(text, self.both), sign(&interval.to_string()))
            }
            None => text.to_owned(),
        }
    }
}

/// The columns that share the width besides values.
struct ColumnWidths {
    label: usize,
    bar: usize,
    /// The least that notes need to stand beside their row.
    least_notes: usize,
}

impl ColumnWidths {
    /// Bars and notes stand beside each other if possible, else what there is more of; labels are narrowed for it.
    fn fitted(
        width: usize,
        widest_label: usize,
        wanted_notes: usize,
        has_bars: bool,
        mostly_notes: bool,
    ) -> Self {
        let narrower = NARROW_LABELS.into_iter().filter(|label| *label < widest_label);
        let labels: Vec<usize> = std::iter::once(widest_label).chain(narrower).collect();
        let bars: &[usize] = if has_bars { &BARS } else { &[0] };
        let least_beside = wanted_notes.min(LEAST_BESIDE);
        // Wide bars are worth no broken notes, and none of them a narrow column of labels.
        let wide = bars.iter().filter(|bar| **bar >= WIDE_BAR);
        let mut choices: Vec<(usize, usize, usize)> =
            wide.map(|bar| (widest_label, *bar, wanted_notes)).collect();
        let mut add =
            |bar: usize, notes: usize| choices.extend(labels.iter().map(|label| (*label, bar, notes)));
        for (least_bar, least_notes) in [(GOOD_BAR, LEAST_NOTES), (0, NARROW_NOTES)] {
            let bars = bars.iter().filter(|bar| (least_bar..WIDE_BAR).contains(bar));
            bars.for_each(|bar| add(*bar, wanted_notes.min(least_notes)));
        }
        if mostly_notes {
            add(0, least_beside);
        }
        bars.last().into_iter().for_each(|bar| add(*bar, 0));
        let fits = |(label, bar, notes): &(usize, usize, usize)| {
            let gap = if *bar == 0 || *notes == 0 { 0 } else { GAP };
            label + bar + gap + notes <= width
        };
        let (label, bar, notes) = choices.into_iter().find(fits).unwrap_or((widest_label, 0, 0));
        ColumnWidths { label, bar, least_notes: if notes == 0 { least_beside } else { notes } }
    }
}

impl BlockLayout {
    pub(crate) fn new(table: &TerminalTable, rows: &[TableRow]) -> Self {
        let lines: Vec<(&TableRow, &EstimateText)> =
            rows.iter().filter_map(|row| Some(row).zip(row.figure())).collect();
        let labelled = rows.iter().filter(|row| row.failed || !row.figures.is_empty());
        let label = labelled.map(|row| indent(row) + width(&row.label));
        let texts: Vec<TextParts> = lines.iter().map(|(_, figure)| figure.texts()).collect();
        let numbers = NumberPadding::of(table, &texts);
        let value = lines.iter().zip(&texts).map(|((_, figure), texts)| {
            let cells = width(&numbers.text(table, texts, true));
            // A long reason may run on into the column of the bars, which its row has no use for.
            if figure.value().is_none() { cells.min(MOST_UNKNOWN) } else { cells }
        });
        let wanted_notes =
            lines.iter().map(|(row, _)| width(&table.notes(&row.all_notes()))).max().unwrap_or(0);
        let spans: Vec<BarSpan> = lines.iter().filter_map(|(row, _)| row.span).collect();
        let scale = BarScale::of(&spans);

        let value = value.max().unwrap_or(0);
        // A label that does not fit gets its own line.
        let most_label = table.width.saturating_sub(GAP + value).min(table.width * 2 / 5);
        let widest_label = label.max().unwrap_or(0).min(most_label);
        let has_notes = lines.iter().filter(|(row, _)| !row.all_notes().is_empty()).count();
        let width = table.width.saturating_sub(value + 2 * GAP);
        let mostly_notes = has_notes * 2 > lines.len();
        let ColumnWidths { label, bar, least_notes } =
            ColumnWidths::fitted(width, widest_label, wanted_notes, scale.is_some(), mostly_notes);
        let available = table.width.saturating_sub(label + value + 2 * GAP);
        let used = if bar == 0 { 0 } else { bar + GAP };
        let left = available.saturating_sub(used);
        let notes_beside = left >= least_notes;
        let (before_notes, notes) = if notes_beside {
            (label + GAP + value + GAP + used, left)
        } else {
            (NOTES_BELOW, table.width.saturating_sub(NOTES_BELOW))
        };
        BlockLayout { label, value, numbers, bar, notes, before_notes, notes_beside, scale }
    }

    /// The figure of a row, aligned with the others.
    pub(crate) fn figure(&self, table: &TerminalTable, figure: &EstimateText) -> String {
        self.numbers.text(table, &figure.texts(), true)
    }

    /// The bar of a row, if there is space for bars and it fits on their scale.
    pub(crate) fn bar(&self, row: &TableRow) -> Option<(BarScale, BarSpan)> {
        self.scale.zip(row.span).filter(|(scale, span)| self.bar > 0 && scale.holds(*span))
    }

    /// The ends of the scale, above the bars, if both fit.
    pub(crate) fn header(&self) -> Option<String> {
        let scale = self.scale.filter(|_| self.bar > 0)?;
        let (from, to) = (plain(scale.from), plain(scale.to));
        let before = " ".repeat(self.label + GAP + self.value + GAP);
        // Two long numbers would read as one.
        let between = self.bar.checked_sub(width(&from) + width(&to)).filter(|blanks| *blanks >= GAP)?;
        Some(format!("{before}{from}{}{to}", " ".repeat(between)))
    }
}
