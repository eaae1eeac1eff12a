//! How large the parts of a table may be.

use errorbar_files::machine_memory;

use super::input::InputBytes;

use super::TableErrorKind;

/// How large the parts of a table may be before it is refused.
///
/// A table of any number of rows is read; what is bounded is one line, the number of columns, and what is
/// held in memory: the ids, the scores and the metadata that is fetched.
///
/// ```
/// use errorbar_table::{TableLimits, TableOptions};
/// let mut limits = TableLimits::default();
/// limits.max_line = 1 << 30;
/// let options = TableOptions::new().limits(limits);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TableLimits {
    /// The most bytes of one line of CSV, TSV or JSON lines; of one decompressed page of Parquet. The header
    /// of a CSV and the footer of a Parquet file may have a fraction of it.
    pub max_line: u64,
    /// The most columns of a table, read or not.
    pub max_columns: usize,
    /// The most bytes of memory for what is held of a table. Unset, it is a quarter of the memory of the machine, at
    /// least 1 GiB, but no more than 256 times the size of the file or, in Parquet, 128 bytes for each cell that is read,
    /// whichever is more: a few kilobytes of Parquet can claim gigabytes of scores. It is never less than 256 MiB or four
    /// times the size of the file, and no more for a compressed table and for a pipe, by what was decompressed.
    pub max_memory: Option<u64>,
}

impl TableLimits {
    /// The memory limit of a small file, and of a pipe.
    const LEAST_MEMORY: u64 = 256 << 20;
    const MEMORY_PER_BYTE: u64 = 4;
    /// Rows that a file has may take this for each byte of it.
    const ROWS_PER_BYTE: u64 = 256;
    /// What an ordinary cell may take, however small the file is: ten million ids of 45 characters fit into 0.7 MB of
    /// Parquet. A few rows that claim a megabyte each get none of it.
    const MEMORY_PER_CELL: u64 = 128;
    /// What rows may take on a machine with little memory.
    const LEAST_FOR_ROWS: u64 = 1 << 30;
    const SHARE_OF_MACHINE: u64 = 4;
    /// The header is held several times while columns are found.
    const HEADER_SHARE: u64 = 16;
    /// The footer of a Parquet file takes many times its size once it is parsed.
    #[cfg(feature = "parquet")]
    const FOOTER_SHARE: u64 = 8;

    /// The most bytes of the header of a CSV.
    pub(super) fn max_header(&self) -> u64 {
        self.max_line / Self::HEADER_SHARE
    }

    /// The most bytes of the footer of a Parquet file.
    #[cfg(feature = "parquet")]
    pub(super) fn max_footer(&self) -> u64 {
        self.max_line / Self::FOOTER_SHARE
    }

    /// What may be held of a table that is in memory already.
    #[cfg(feature = "arrow")]
    pub(super) fn budget_of_memory(&self) -> Budget {
        Budget { limit: self.max_memory.unwrap_or(u64::MAX) }
    }

    /// What may be held of a file of which this number of cells is read, where that is known before.
    pub(super) fn budget(&self, file: &InputBytes, cells: u64) -> Budget {
        let size = file.size().unwrap_or(0);
        let Budget { limit } = self.budget_of(size);
        if self.max_memory.is_some() || file.is_expanded() {
            return Budget { limit };
        }
        let rows = size.saturating_mul(Self::ROWS_PER_BYTE).max(cells.saturating_mul(Self::MEMORY_PER_CELL));
        let of_machine = machine_memory().unwrap_or(0) / Self::SHARE_OF_MACHINE;
        Budget { limit: limit.max(rows.min(of_machine.max(Self::LEAST_FOR_ROWS))) }
    }

    /// What may be held of a table of this many bytes.
    pub(super) fn budget_of(&self, size: u64) -> Budget {
        let by_size = size.saturating_mul(Self::MEMORY_PER_BYTE).max(Self::LEAST_MEMORY);
        Budget { limit: self.max_memory.unwrap_or(by_size) }
    }
}

impl Default for TableLimits {
    /// 64 MiB a line, 10,000 columns, memory by the size of the file.
    fn default() -> Self {
        TableLimits { max_line: 64 << 20, max_columns: 10_000, max_memory: None }
    }
}

/// How many bytes may be held of one table.
#[derive(Clone, Copy, Debug)]
pub(super) struct Budget {
    limit: u64,
}

impl Budget {
    /// Refuses a table of which this many bytes are held.
    pub(super) fn check(self, held: u64) -> Result<(), TableErrorKind> {
        if held > self.limit { Err(self.refusal()) } else { Ok(()) }
    }

    pub(super) fn refusal(self) -> TableErrorKind {
        TableErrorKind::TooMuchMemory { limit: self.limit }
    }

    pub(super) fn limit(self) -> u64 {
        self.limit
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_that_are_there_may_take_what_the_machine_has() {
        let limits = TableLimits::default();
        let held = |size: usize| limits.budget(&InputBytes::from_memory(vec![0; size]), 0).limit();
        assert_eq!(held(1000), 256 << 20, "what it has may be anything");
        assert_eq!(held(2 << 20), 512 << 20);
        assert!(held(32 << 20) >= 1 << 30);
        let expanded = InputBytes::from_memory(vec![0; 6 << 20]).expanded();
        assert_eq!(limits.budget(&expanded, 0).limit(), 256 << 20);
        let small = InputBytes::from_memory(vec![0; 1000]);
        let of_machine = (machine_memory().unwrap_or(0) / 4).max(1 << 30);
        let of_cells = |cells: u64| (128 * cells).min(of_machine);
        let held = |cells| limits.budget(&small, cells).limit();
        assert_eq!(held(10_000_000), of_cells(10_000_000));
        assert_eq!(held(30_000_000), of_cells(30_000_000));
        assert_eq!(held(u64::MAX), of_machine);
        assert_eq!(held(6_000), 256 << 20);
        assert_eq!(limits.budget(&expanded, 30_000_000).limit(), 256 << 20);
        let named = TableLimits { max_memory: Some(5), ..limits };
        assert_eq!(named.budget(&InputBytes::from_memory(vec![0; 6 << 20]), 0).limit(), 5);
    }
}
