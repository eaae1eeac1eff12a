//! A column of epochs.

use std::ops::Range;

use super::payloads::Payloads;

/// The epoch of each row, in a byte as long as there are few.
#[derive(Clone, Debug, Default)]
pub struct EpochColumn(Payloads);

impl EpochColumn {
    /// Appends an epoch.
    #[inline]
    pub fn push(&mut self, epoch: u32) {
        self.0.push(u64::from(epoch));
    }

    /// Appends epochs that are in a byte each already.
    pub fn extend_bytes(&mut self, epochs: &[u8]) {
        self.0.extend_bytes(epochs);
    }

    /// The number of rows.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The epoch of a row; 0 beyond the end.
    #[inline]
    pub fn get(&self, row: usize) -> u32 {
        self.0.get(row).map_or(0, |epoch| epoch as u32)
    }

    /// The epochs that rows have, ascending.
    pub(super) fn distinct(&self) -> Vec<u32> {
        if let Some(bytes) = self.0.bytes() {
            let mut is_there = [false; 256];
            for bytes in bytes.chunks(1 << 10) {
                // Rows of one epoch mostly follow each other, and then many are looked at in a step.
                let first = bytes.first().copied().unwrap_or_default();
                let is_one = bytes.iter().fold(true, |all, byte| all & (*byte == first));
                for byte in if is_one { bytes.get(..1).unwrap_or_default() } else { bytes } {
                    if let Some(slot) = is_there.get_mut(usize::from(*byte)) {
                        *slot = true;
                    }
                }
            }
            return (0..).zip(is_there).filter_map(|(epoch, is_there)| is_there.then_some(epoch)).collect();
        }
        let mut epochs: Vec<u32> = (0..self.len()).map(|row| self.get(row)).collect();
        epochs.sort_unstable();
        epochs.dedup();
        epochs
    }

    /// Counts every epoch one higher, the highest one aside.
    pub(super) fn shift(&mut self) {
        let epochs: Vec<u64> =
            (0..self.len()).map(|row| u64::from(self.get(row).saturating_add(1))).collect();
        self.0.clear();
        self.0.extend(epochs);
    }

    /// The epoch that all of some rows have, if it is one and the same.
    pub(super) fn same_in(&self, rows: Range<usize>) -> Option<u64> {
        self.0.same_in(rows)
    }

    /// Sets the number of rows: first epochs are added, or rows cut off.
    pub(super) fn resize(&mut self, rows: usize) {
        self.0.truncate(rows);
        self.0.extend(std::iter::repeat_n(1, rows.saturating_sub(self.len())));
    }

    /// Takes all rows out of another column.
    pub(super) fn append(&mut self, other: &mut EpochColumn) {
        self.0.append(&other.0);
        other.clear();
    }

    /// Copies some rows of another column; those beyond its end are first epochs.
    pub(super) fn append_rows(&mut self, other: &EpochColumn, rows: &[u32]) {
        self.0.extend(rows.iter().map(|row| other.0.get(*row as usize).unwrap_or(1)));
    }

    /// Reserves memory for more rows.
    pub(super) fn reserve(&mut self, rows: usize) {
        self.0.reserve(rows);
    }

    pub(super) fn clear(&mut self) {
        self.0.clear();
    }

    /// The bytes that the epochs hold on the heap.
    pub fn heap_bytes(&self) -> usize {
        self.0.heap_bytes()
    }
}
