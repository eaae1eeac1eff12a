//! How much memory the columns of a row group take while threads read them.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::TableErrorKind;
use crate::limits::Budget;

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

    /// Counts a column that holds `bytes` by now, and held `before`.
    pub(super) fn grow(&self, before: &mut u64, bytes: u64) -> Result<(), TableErrorKind> {
        let more = bytes.saturating_sub(std::mem::replace(before, bytes));
        let all = self.bytes.fetch_add(more, Ordering::Relaxed).saturating_add(more);
        self.budget.check(all)
    }

    /// How much more may be held.
    pub(super) fn left(&self) -> u64 {
        self.budget.limit().saturating_sub(self.bytes.load(Ordering::Relaxed))
    }
}
