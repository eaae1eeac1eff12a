//! Results as a table for a terminal: value ± error, the interval and its bar, and what to know about it.

mod comparison;
mod grid;

use std::fmt::Write as _;

use anstyle::{AnsiColor, Style};

use crate::comparison::ComparisonView;
use crate::figure::{self, BarScale, BarSpan, EstimateText, MOST_UNKNOWN, TextParts};
use crate::notes::{CommonMethods, header};
use crate::table::{ReportTable, TableRow, tables};
use crate::text::{clean, pad, plain, truncate, width, wrap};
use crate::{Listing, Render, Report, Sort};

/// A table for a terminal. By default 100 cells wide, in Unicode, without colour.
#[derive(Debug, Clone, Copy)]
pub struct TerminalTable {
    pub(crate) width: usize,
    pub(crate) color: bool,
    pub(crate) ascii: bool,
    sort: Sort,
}

impl Default for TerminalTable {
    fn default() -> Self {
        TerminalTable { width: 100, color: false, ascii: false, sort: Sort::None }
    }
}

impl TerminalTable {
    /// How wide lines may be; at least 40 cells.
    #[must_use]
    pub fn width(mut self, cells: usize) -> Self {
        self.width = cells.max(40);
        self
    }

    /// Whether to write colours.
    #[must_use]
    pub fn color(mut self, color: bool) -> Self {
        self.color = color;
        self
    }

    /// Whether to keep to ASCII, for terminals that know nothing else. Names stay as they are.
    #[must_use]
    pub fn ascii(mut self, ascii: bool) -> Self {
        self.ascii = ascii;
        self
    }

    /// The order of groups and shares below their heading.
    #[must_use]
    pub fn sort(mut self, sort: Sort) -> Self {
        self.sort = sort;
        self
    }
}

impl Render for TerminalTable {
    fn to_text(&self, reports: &[Report]) -> String {
        let of_report = |report: &Report| {
            let mut text = self.heading(&report.log, &header(report));
            let (common, tables) = tables(report, self.sort);
            let mut signs = LegendContent::default();
            for table in tables {
                text.push('\n');
                text += &self.report_table(table.cleaned(), &mut signs);
            }
            text + &self.legend(signs, &common)
        };
        reports.iter().map(of_report).collect::<Vec<_>>().join("\n")
    }

    fn listing_text(&self, listing: &Listing) -> String {
        self.listed(listing)
    }

    fn comparison_text(&self, view: &ComparisonView<'_>) -> String {
        self.compared(view)
    }
}

/// The symbols in a table that need an explanation.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct LegendContent {
    pub(crate) has_error: bool,
    pub(crate) has_interval: bool,
    /// A bar that is an interval.
    interval_bar: bool,
    /// A bar that is ± error, as there is no interval.
    error_bar: bool,
}

impl LegendContent {
    fn add(&mut self, layout: &BlockLayout, row: &TableRow, figure: &EstimateText) {
        let has_bar = layout.bar(row).is_some();
        let (has_error, has_interval) = (figure.stderr().is_some(), figure.ends().is_some());
        self.has_error |= has_error;
        self.has_interval |= has_interval;
        self.interval_bar |= has_bar && has_interval;
        self.error_bar |= has_bar && has_error && !has_interval;
    }
}

impl TerminalTable {
    /// What the symbols mean, below everything.
    pub(crate) fn legend(&self, signs: LegendContent, common: &CommonMethods) -> String {
        let bar = match (signs.interval_bar, signs.error_bar) {
            (true, true) => Some("the interval, or value ± error"),
            (true, false) => Some("the interval"),
            (false, true) => Some("value ± error"),
            (false, false) => None,
        };
        let bar = bar.map(|meaning| format!("{} {meaning}", self.sign("├─●─┤", "|-o-|")));
        let error = signs.has_error.then(|| common.error_legend());
        let interval = common.interval_legend().filter(|_| signs.has_interval);
        let words: Vec<String> =
            [error, interval, bar].into_iter().flatten().map(|word| clean(&word)).collect();
        if words.is_empty() {
            return String::new();
        }
        format!("\n{}", self.below(0, self.wrapped_notes(&words, self.width)))
    }

    /// The table; adds the symbols that it uses to the legend.
    pub(crate) fn report_table(&self, table: ReportTable, signs: &mut LegendContent) -> String {
        if !table.columns.is_empty() {
            return self.matrix(&table, signs);
        }
        let layout = BlockLayout::new(self, &table.rows);
        let mut text = self.heading(&table.name, &table.details);
        if let Some(header) = layout.header() {
            text += &self.line(&[(header, DIM)]);
        }
        for row in &table.rows {
            text += &match row.figure() {
                Some(figure) => {
                    signs.add(&layout, row, figure);
                    self.figure(&layout, row, figure)
                }
                None if row.failed => self.failure(&layout, row),
                None => {
                    let label = format!("{}{}", " ".repeat(INDENT), row.label);
                    self.titled((&label, Style::new()), "  ", &row.notes)
                }
            };
        }
        text
    }

    fn figure(&self, layout: &BlockLayout, row: &TableRow, figure: &EstimateText) -> String {
        let text = layout.figure(self, figure);
        let bar_column = if layout.bar == 0 { 0 } else { layout.bar + GAP };
        let (value, bar) = if figure.value().is_none() {
            // No bar, so the reason may take its place.
            ((pad(&clean(&text), layout.value + GAP + bar_column), UNKNOWN), String::new())
        } else {
            let pen = if self.ascii { figure::ASCII } else { figure::UNICODE };
            let bar = layout.bar(row).map(|(scale, span)| scale.draw(span, layout.bar, pen));
            let bar = pad(&bar.unwrap_or_default(), bar_column);
            ((pad(&text, layout.value + GAP), Style::new()), bar)
        };
        let fits_beside = layout.notes_beside && width(&text) <= layout.value + bar_column;
        let (beside, below) = self.placed_notes(layout, &row.all_notes(), fits_beside);
        let (above, label) = self.label(indent(row.nested), &row.label, layout.label);
        let label = pad(&label, layout.label + GAP);
        above + &self.line(&[(label, Style::new()), value, (bar, BAR), (beside, DIM)]) + &below
    }

    /// The notes of a line: what stands beside it, and the lines below.
    fn placed_notes(&self, layout: &BlockLayout, notes: &[String], fits_beside: bool) -> (String, String) {
        /// More lines than this in the narrow column go below the row, where they are fewer.
        const MOST_BESIDE: usize = 2;
        let beside = self.wrapped_notes(notes, layout.notes);
        if fits_beside && beside.len() <= MOST_BESIDE {
            let mut lines = beside.into_iter();
            return (lines.next().unwrap_or_default(), self.below(layout.before_notes, lines));
        }
        (String::new(), self.below(NOTES_BELOW, self.note_lines(notes, NOTES_BELOW)))
    }

    /// The lines above of a label that is too wide for its column, and what stands in the column.
    fn label(&self, indent: usize, label: &str, column: usize) -> (String, String) {
        let indented = |line: &str| format!("{}{line}", " ".repeat(indent));
        if indent + width(label) <= column {
            return (String::new(), pad(&indented(label), column));
        }
        let lines = wrap(label, self.width.saturating_sub(indent));
        (lines.iter().map(|line| indented(line) + "\n").collect(), " ".repeat(column))
    }

    fn failure(&self, layout: &BlockLayout, row: &TableRow) -> String {
        let (mut text, mut label) = self.label(indent(row.nested), &row.label, layout.label);
        let available = self.width.saturating_sub(layout.label + GAP);
        for line in wrap(&format!("failed: {}", row.notes.join(" ")), available) {
            text += &self.row(std::mem::replace(&mut label, " ".repeat(layout.label)), [(line, FAILED)]);
        }
        text
    }
}

// Lines of a terminal: pieces in styles, notes in as many lines as they need.

pub(crate) const BOLD: Style = Style::new().bold();
pub(crate) const DIM: Style = Style::new().dimmed();
pub(crate) const BAR: Style = AnsiColor::Cyan.on_default();
pub(crate) const UNKNOWN: Style = AnsiColor::Yellow.on_default();
pub(crate) const FAILED: Style = AnsiColor::Red.on_default();

impl TerminalTable {
    pub(crate) fn paint(&self, text: &str, style: Style) -> String {
        if self.color && !text.is_empty() { format!("{style}{text}{style:#}") } else { text.to_owned() }
    }

    /// A Unicode symbol, or its replacement in ASCII.
    pub(crate) fn sign<'t>(&self, unicode: &'t str, ascii: &'t str) -> &'t str {
        if self.ascii { ascii } else { unicode }
    }

    /// The start of a text that fits.
    pub(crate) fn truncate(&self, text: &str, to: usize) -> String {
        truncate(text, to, self.sign("…", ".."))
    }

    /// Pieces side by side, without blanks at the end.
    pub(crate) fn line(&self, pieces: &[(String, Style)]) -> String {
        let last = pieces.iter().rposition(|(text, _)| !text.trim_end().is_empty()).unwrap_or(0);
        let mut line = String::new();
        for (at, (text, style)) in pieces.iter().enumerate().take(last + 1) {
            let text = if at == last { text.trim_end() } else { text };
            let blank = text.trim().is_empty();
            let _ = write!(line, "{}", if blank { text.to_owned() } else { self.paint(text, *style) });
        }
        line.push('\n');
        line
    }

    /// A label and the cells behind it, each behind a gap.
    pub(crate) fn row(&self, label: String, cells: impl IntoIterator<Item = (String, Style)>) -> String {
        let mut pieces = vec![(label, Style::new())];
        for cell in cells {
            pieces.extend([(" ".repeat(GAP), Style::new()), cell]);
        }
        self.line(&pieces)
    }

    /// A title for what follows, with details behind or below it.
    pub fn heading(&self, title: &str, details: &[String]) -> String {
        let details: Vec<String> = details.iter().map(|detail| clean(detail)).collect();
        self.titled((&clean(title), BOLD), self.sign(" · ", ", "), &details)
    }

    /// A title and its details: on one line, in a separate column, or below.
    pub(crate) fn titled(&self, title: (&str, Style), between: &str, details: &[String]) -> String {
        let joined =
            if details.is_empty() { String::new() } else { format!("{between}{}", self.notes(details)) };
        let (title, style) = title;
        if width(title) + width(&joined) <= self.width {
            return self.line(&[(title.to_owned(), style), (joined, DIM)]);
        }
        let indent = width(title) + width(between);
        if indent > self.width * 2 / 5 {
            let notes = self.wrapped_notes(details, self.width.saturating_sub(NOTES_BELOW));
            return self.line(&[(title.to_owned(), style)]) + &self.below(NOTES_BELOW, notes);
        }
        let mut notes = self.wrapped_notes(details, self.width.saturating_sub(indent)).into_iter();
        let beside = format!("{between}{}", notes.next().unwrap_or_default());
        self.line(&[(title.to_owned(), style), (beside, DIM)]) + &self.below(indent, notes)
    }

    /// Lines of notes below what they are about.
    pub(crate) fn below(&self, indent: usize, notes: impl IntoIterator<Item = String>) -> String {
        let indent = || (" ".repeat(indent), Style::new());
        notes.into_iter().map(|note| self.line(&[indent(), (note, DIM)])).collect()
    }

    pub(crate) fn notes(&self, notes: &[String]) -> String {
        self.in_our_signs(&notes.join(self.sign(" · ", ", ")))
    }

    /// The notes in lines, each note unbroken where it fits.
    pub(crate) fn wrapped_notes(&self, notes: &[String], limit: usize) -> Vec<String> {
        const TIED: &str = "\u{a0}";
        let whole = |note: &String| {
            let note = self.in_our_signs(note);
            if width(&note) + GAP > limit { note } else { note.replace(' ', TIED) }
        };
        let between = if self.ascii { ", " } else { "\u{a0}· " };
        let joined = notes.iter().map(whole).collect::<Vec<_>>().join(between);
        wrap(&joined, limit).iter().map(|line| line.replace(TIED, " ")).collect()
    }

    /// Notes in lines behind an indent.
    pub(crate) fn note_lines(&self, notes: &[String], indent: usize) -> Vec<String> {
        let lines = self.wrapped_notes(notes, self.width.saturating_sub(indent));
        lines.into_iter().filter(|line| !line.is_empty()).collect()
    }

    pub(crate) fn in_our_signs(&self, text: &str) -> String {
        if !self.ascii {
            return text.to_owned();
        }
        let signs = [
            ('±', "+/-"),
            ('…', ".."),
            ('×', "x"),
            ('≤', "<="),
            ('≥', ">="),
            ('−', "-"),
            ('–', "-"),
            ('→', "->"),
            ('·', "."),
        ];
        signs.iter().fold(text.replace(" · ", ", "), |text, (sign, ascii)| text.replace(*sign, ascii))
    }
}

// How wide the columns of a block are.

/// Cells between two columns.
pub(crate) const GAP: usize = 2;
/// Cells before every row of a block.
pub(crate) const INDENT: usize = 2;
/// Cells before notes that do not fit beside their row.
pub(crate) const NOTES_BELOW: usize = 6;

/// The cells before the label of a row.
pub(crate) fn indent(is_nested: bool) -> usize {
    if is_nested { 2 * INDENT } else { INDENT }
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

/// The widths of labels and bars, and the least that notes need to stand beside their row. Bars and notes stand beside each
/// other if possible, else what there is more of; labels are narrowed for it.
fn fitted(
    width: usize,
    widest_label: usize,
    wanted_notes: usize,
    has_bars: bool,
    mostly_notes: bool,
) -> (usize, usize, usize) {
    let narrower = NARROW_LABELS.into_iter().filter(|label| *label < widest_label);
    let labels: Vec<usize> = std::iter::once(widest_label).chain(narrower).collect();
    let bars: &[usize] = if has_bars { &BARS } else { &[0] };
    let least_beside = wanted_notes.min(LEAST_BESIDE);
    // Wide bars are worth no broken notes, and none of them a narrow column of labels.
    let wide = bars.iter().filter(|bar| **bar >= WIDE_BAR);
    let mut choices: Vec<(usize, usize, usize)> =
        wide.map(|bar| (widest_label, *bar, wanted_notes)).collect();
    let mut add = |bar: usize, notes: usize| choices.extend(labels.iter().map(|label| (*label, bar, notes)));
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
    (label, bar, if notes == 0 { least_beside } else { notes })
}

impl BlockLayout {
    pub(crate) fn new(table: &TerminalTable, rows: &[TableRow]) -> Self {
        let lines: Vec<(&TableRow, &EstimateText)> =
            rows.iter().filter_map(|row| Some(row).zip(row.figure())).collect();
        let labelled = rows.iter().filter(|row| row.failed || !row.figures.is_empty());
        let label = labelled.map(|row| indent(row.nested) + width(&row.label));
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
        let (label, bar, least_notes) =
            fitted(width, widest_label, wanted_notes, scale.is_some(), mostly_notes);
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
