//! How wide the columns of a block are.

use crate::bar::{Scale, Span};
use crate::number::plain;
use crate::rows::{Row, Shown};
use crate::table::Table;
use crate::text::width;

/// Cells between two columns.
pub(crate) const GAP: usize = 2;
/// Cells before every row of a block.
pub(crate) const INDENT: usize = 2;
/// Cells before notes that have no room beside their row.
pub(crate) const NOTES_BELOW: usize = 6;

/// The widths of bars to choose from; odd, so that the middle is a cell.
const BARS: [usize; 4] = [41, 31, 21, 11];
/// From this width on, a bar is only widened if all notes stay on one line.
const WIDE_BAR: usize = 31;
/// The most that a reason for an unknown figure widens the column of values: `undefined (n < 2)`.
const UNKNOWN: usize = 17;
/// The least width that notes are squeezed into.
const LEAST_NOTES: usize = 18;

/// The widths of a block's columns, and the scale of its bars.
#[derive(Debug)]
pub(crate) struct Layout {
    pub(crate) label: usize,
    pub(crate) value: usize,
    /// 0 where there are no bars.
    pub(crate) bar: usize,
    pub(crate) notes: usize,
    pub(crate) before_notes: usize,
    /// Whether notes stand beside their row, or below it.
    pub(crate) notes_beside: bool,
    pub(crate) scale: Option<Scale>,
}

impl Layout {
    pub(crate) fn new(table: &Table, rows: &[Row]) -> Self {
        let widest = |of: &dyn Fn(&Row) -> usize| rows.iter().map(of).max().unwrap_or(0);
        let label = widest(&|row| match row {
            Row::Figure { nested, label, .. } => INDENT + if *nested { INDENT } else { 0 } + width(label),
            Row::Failure { label, .. } => INDENT + width(label),
            Row::Heading { .. } => 0,
        });
        let value = widest(&|row| match row {
            // A long reason may run on into the column of the bars, which its row has no use for.
            Row::Figure { shown: unknown @ Shown::Undefined(_), .. } => {
                width(&table.shown(unknown)).min(UNKNOWN)
            }
            Row::Figure { shown, .. } => width(&table.shown(shown)),
            _ => 0,
        });
        let wanted_notes = widest(&|row| match row {
            Row::Figure { notes, .. } => width(&table.notes(notes)),
            _ => 0,
        });
        let spans: Vec<Span> = rows
            .iter()
            .filter_map(|row| if let Row::Figure { span, .. } = row { *span } else { None })
            .collect();
        let scale = Scale::of(&spans);

        let label = label.min(table.width * 2 / 5);
        let room = table.width.saturating_sub(label + GAP + value + GAP);
        let least_notes = wanted_notes.min(LEAST_NOTES);
        let fits = |bar: &usize| {
            let notes = if *bar >= WIDE_BAR { wanted_notes } else { least_notes };
            bar + GAP + notes <= room
        };
        let bar = scale.and_then(|_| BARS.into_iter().find(fits)).unwrap_or(0);
        let used = if bar == 0 { 0 } else { bar + GAP };
        let left = room.saturating_sub(used);
        let notes_beside = left >= least_notes;
        let (before_notes, notes) = if notes_beside {
            (label + GAP + value + GAP + used, left)
        } else {
            (NOTES_BELOW, table.width.saturating_sub(NOTES_BELOW))
        };
        Layout { label, value, bar, notes, before_notes, notes_beside, scale }
    }

    /// The ends of the scale, above the bars.
    pub(crate) fn header(&self) -> Option<String> {
        let scale = self.scale.filter(|_| self.bar > 0)?;
        let (from, to) = (plain(scale.from), plain(scale.to));
        let before = " ".repeat(self.label + GAP + self.value + GAP);
        let between = self.bar.saturating_sub(width(&from) + width(&to));
        Some(format!("{before}{from}{}{to}", " ".repeat(between)))
    }
}
