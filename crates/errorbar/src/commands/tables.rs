//! Options of verbs that read tables.

use clap::Args;
use errorbar_log::TableLimits;

use super::common::parse_bytes;

/// How much of a table is believed.
#[derive(Debug, Args)]
#[command(next_help_heading = "Reading tables")]
pub(super) struct TableArgs {
    /// The longest line of a table; for Parquet, the largest page decompressed
    #[arg(long, value_name = "SIZE", default_value = "64M", value_parser = parse_bytes)]
    max_line: u64,
    /// The most columns of a table
    #[arg(long, value_name = "N", default_value_t = TableLimits::default().max_columns)]
    max_columns: usize,
}

impl TableArgs {
    /// The limits, with that on memory, which logs have too.
    pub(super) fn limits(&self, max_memory: Option<u64>) -> TableLimits {
        let mut limits = TableLimits::default();
        (limits.max_line, limits.max_columns, limits.max_memory) =
            (self.max_line, self.max_columns, max_memory);
        limits
    }
}
