//! How much memory the columns of a row group take while threads read them.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::table::TableErrorKind;
use crate::table::limits::Budget;

/// What is held of a table, added up over all columns.
#[derive(Debug)]
pub(super) struct MemoryUse {
    bytes: AtomicU64,
    budget: Budget,
}

impl MemoryUse {
    pub(super) fn new(budget: Budget) -> Self {
        MemoryUse { bytes: AtomicU64::new(0), budget }
    }

    /// Starts over with what is held of the row groups before, if that is not too much already.
    pub(super) fn restart(&self, bytes: u64) -> Result<(), TableErrorKind> {
        self.bytes.store(bytes, Ordering::Relaxed);
        self.budget.check(bytes)
    }

    /// The share of a column that is about to be read.
    pub(super) fn column(&self) -> ColumnMemory<'_> {
        ColumnMemory { held: self, bytes: AtomicU64::new(0) }
    }
}

/// What is held of one column.
#[derive(Debug)]
pub(super) struct ColumnMemory<'a> {
    held: &'a MemoryUse,
    bytes: AtomicU64,
}

impl ColumnMemory<'_> {
    /// Takes note of how much the column holds by now.
    pub(super) fn grow(&self, bytes: u64) -> Result<(), TableErrorKind> {
        let more = bytes.saturating_sub(self.bytes.swap(bytes, Ordering::Relaxed));
        let all = self.held.bytes.fetch_add(more, Ordering::Relaxed).saturating_add(more);
        self.held.budget.check(all)
    }

    /// How much more the column may hold.
    pub(super) fn left(&self) -> u64 {
        self.held.budget.limit().saturating_sub(self.held.bytes.load(Ordering::Relaxed))
    }
}
