//! Which rows of a block have the same labels, and which label all rows of a part have.

use std::collections::HashMap;

use errorbar_core::engine::MetadataColumn;
use foldhash::fast::RandomState;

/// The label of a part, such as its model: what all of its rows have.
#[derive(Debug, Default)]
pub(super) enum PartLabel {
    /// There are no rows yet.
    #[default]
    Unknown,
    /// All rows have this one.
    Constant(String),
    /// Rows differ, or have none.
    Varying,
}

impl PartLabel {
    /// Looks at the labels of rows that come to the part.
    pub(super) fn add(&mut self, labels: &MetadataColumn, rows: impl Iterator<Item = usize>) {
        let mut last = None;
        for row in rows {
            if matches!(self, PartLabel::Varying) {
                return;
            }
            let code = labels.code(row);
            if last == Some(code) {
                continue;
            }
            last = Some(code);
            *self = match (std::mem::take(self), labels.text(row).filter(|text| !text.is_empty())) {
                (PartLabel::Unknown, Some(text)) => PartLabel::Constant(text.to_owned()),
                (PartLabel::Constant(known), Some(text)) if known == text => PartLabel::Constant(known),
                _ => PartLabel::Varying,
            };
        }
    }

    /// The label, if all rows have it.
    pub(super) fn constant(self) -> Option<String> {
        match self {
            PartLabel::Constant(label) => Some(label),
            PartLabel::Unknown | PartLabel::Varying => None,
        }
    }
}

/// Pairs of labels, numbered as they come. Rows of many groups come mixed, so that each is looked up.
pub(super) enum KnownLabels {
    /// By both codes, with one more for rows without a label: the number, from 1 on.
    Table { numbers: Vec<u32>, parts: usize, known: u32 },
    /// There may be too many pairs for a table.
    Map(HashMap<(Option<u32>, Option<u32>), u32, RandomState>),
}

impl KnownLabels {
    /// Tests have few labels, and see both.
    const MOST_IN_TABLE: usize = if cfg!(test) { 3 } else { 1 << 16 };

    /// For this many different parts and tasks.
    pub(super) fn new(parts: usize, tasks: usize) -> Self {
        match (parts + 1).saturating_mul(tasks + 1) {
            size @ ..=Self::MOST_IN_TABLE => KnownLabels::Table { numbers: vec![0; size], parts, known: 0 },
            _ => KnownLabels::Map(HashMap::default()),
        }
    }

    /// The number of a pair, from 0 on, and whether it is new; none for codes beyond those that there are.
    #[inline]
    pub(super) fn number(&mut self, part: Option<u32>, task: Option<u32>) -> Option<(usize, bool)> {
        match self {
            KnownLabels::Table { numbers, parts, known } => {
                let code = |label: Option<u32>| label.map_or(0, |code| code as usize + 1);
                let number = numbers.get_mut(code(task) * (*parts + 1) + code(part))?;
                let is_new = *number == 0;
                if is_new {
                    *known += 1;
                    *number = *known;
                }
                Some((*number as usize - 1, is_new))
            }
            KnownLabels::Map(map) => {
                let next = map.len() as u32;
                let number = *map.entry((part, task)).or_insert(next);
                Some((number as usize, number == next))
            }
        }
    }
}
